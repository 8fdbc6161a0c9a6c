"""The command line as a user meets it: kernels. Usage: kernels_test.py CUDAMATRIX [unittest arguments]"""
from cli import Cli, main


class Kernels(Cli):
    def test_list(self):
        listed = self.json_of("kernels", "list", code=0)
        ids = [test["id"] for test in listed["tests"]]
        self.assertEqual(listed["count"], len(ids))
        text = self.call("kernels", "list", code=0).stdout
        for test in listed["tests"]:
            self.assertIn(f"{test['id']} [{test['group']}: ", text)
            self.assertTrue(test["proves"] and test["parts"] and test["faults"])
        self.assertIn("faults that no test names yet:\n", text)
        self.assertTrue(all(fault["text"] for fault in listed["faults_without_test"]))
        self.assertEqual(text, self.call("kernels", "list", "--out", "o").stdout)
        self.assertEqual(text, self.read("o/kernels-list.txt"))

    def test_every_listed_test_and_fault_can_be_shown(self):
        listed = self.json_of("kernels", "list")
        ids = [test["id"] for test in listed["tests"]]
        codes = sorted({code for test in listed["tests"] for code in test["faults"]} | {fault["code"] for fault in listed["faults_without_test"]})
        self.assertEqual(sorted(codes), sorted(f"F{n}" for n in range(1, 26)))
        shown = self.json_of("kernels", "show", *ids, *codes)
        self.assertEqual([test["id"] for test in shown["tests"]], ids)
        self.assertTrue(all(test["reference"] and all(fault["text"] for fault in test["faults"]) for test in shown["tests"]))
        self.assertEqual([fault["code"] for fault in shown["faults"]], codes)
        for fault in shown["faults"]:
            self.assertEqual(fault["tests"], [test["id"] for test in listed["tests"] if fault["code"] in test["faults"]])

    def test_show(self):
        got = self.call("kernels", "show", "cmp.vadd", code=0)
        self.assertTrue(got.stdout.startswith("cmp.vadd [compute]\n  A kernel starts"), got.stdout)
        self.assertAllIn(("compares with:\n", "faults that it names:\n  F6  ", "parts: gpu, cpu, interpreted\n"), got.stdout)
        self.assertEqual(got.stderr, "")

    def test_wrong_ids_are_2(self):
        self.refused("kernels", "show", "cmp.vad", says='no test or fault is called "cmp.vad"\n  fix: did you mean cmp.vadd?\n')
        self.refused("kernels", "show", "cmp.vadd", "torch.train", "zzzz",
                     says=("did you mean one of torch.arch, torch.matmul, torch.step, torch.workers?", '"zzzz"\n  fix: `cudamatrix kernels list` lists them'))
        for arguments in (["kernels"], ["kernels", "show"], ["kernels", "run"], ["kernels", "list", "cmp.vadd"], ["kernels", "list", "--format", "xml"]):
            self.refused(*arguments)


if __name__ == "__main__":
    main()

"""The command line as a user meets it: explain and suggest. Usage: explain_test.py CUDAMATRIX [unittest arguments]"""
import json
import pathlib

from cli import GOOD, Cli, main


class Explain(Cli):
    def test_explain_a_cell_an_exclude_and_a_rule(self):
        name = self.write(GOOD.replace('"11.8.0"', '"11.8.0", "12.4.1", "13.0.2"') + 'exclude: [{driver: "<550", cuda: ">=13"}]\n')
        good = self.call("explain", name, "driver=550,cuda=11.8", "-v")
        self.assertEqual((good.returncode, good.stderr), (0, ""))
        self.assertAllIn(("runtime", "passed:", "driver 550.54.15 runs CUDA 11.8.0 [driver-supports-cuda, at runtime]", "not checked"), good.stdout)
        bad = self.call("explain", name, "driver=550,cuda=13", code=1)
        self.assertAllIn(("is too old for CUDA 13.0.2", "https://", "nearest cell that works:", "instead of 13.0.2"), bad.stdout)
        self.assertLessEqual(len(bad.stdout.splitlines()), 12)
        verbose = self.call("explain", name, "driver=550,cuda=13", "-v", code=1)
        self.assertAllIn(("stages:", "findings:", "nearest cells that work:"), verbose.stdout)
        document = self.json_of("explain", name, "driver=550,cuda=13")
        by_id = self.call("explain", name, document["cells"][0]["id"])
        self.assertEqual((by_id.returncode, by_id.stdout), (1, bad.stdout))
        left_out = self.call("explain", name, "driver=535,cuda=13", "--out", "why", code=1)
        self.assertIn("matrix.yaml:8:11: note: this exclude leaves it out", left_out.stdout)
        self.assertEqual(self.read("why/explain.txt"), left_out.stdout)
        rule = self.call("explain", "driver-supports-cuda")
        self.assertEqual((rule.returncode, rule.stdout), (0, self.call("rules", "show", "driver-supports-cuda").stdout))

    def test_explain_says_it_of_any_cell_in_12_lines(self):
        cells = 0
        for example in ("quickstart", "rtx-5070ti"):
            name = pathlib.Path(__file__).parents[3] / "examples" / example / "matrix.yaml"
            said = self.call("explain", str(name), "*", "--limit", "1000", "--on", "2026-11-21").stdout.strip("\n").split("\n\n")
            cells += len(said)
            self.assertEqual([cell for cell in said if len(cell.splitlines()) > 12], [])
        self.assertGreater(cells, 30)

    def test_explain_refuses_what_means_nothing(self):
        name = self.write(GOOD)
        for arguments, needle in (([name], "which cell?"), ([name, "drv535.183.01-t4-cu11.8.0-debian12"], "has no cell"),
                                  ([name, "cudda=11"], "did you mean cuda?"), (["driver-supports-cudda"], "driver-supports-cuda"),
                                  (["nowhere.yaml", "x"], "cannot read nowhere.yaml"), ([name, "x", "cuda=11"], "cuda=11")):
            self.refused("explain", *arguments, says=needle)

    def test_suggest_prints_rows_that_check_judges_the_same(self):
        wish = ["suggest", "--gpu", "T4", "--driver", "470.161.03", "--torch", ">=1.12", "--python", "3.9", "--need", "transformers==4.27.4"]
        got = self.call(*wish, "--out", "found", "--format", "json")
        self.assertEqual((got.returncode, got.stderr), (0, ""))
        document = json.loads(got.stdout)
        self.assertEqual(self.read("found/suggest.json"), got.stdout)
        judged = self.json_of("check", "found/suggest.yaml")
        self.assertEqual([stack["verdict"] for stack in document["stacks"]], [cell["verdict"] for cell in judged["cells"]])
        self.assertEqual([stack["fields"] for stack in document["stacks"]], [cell["fields"] for cell in judged["cells"]])
        self.assertEqual(len(document["stacks"]), 5)
        text = self.call(*wish, "--limit", "1", code=0)
        self.assertIn(document["stacks"][0]["row"], text.stdout)

    def test_suggest_without_a_stack_is_1_and_says_what_conflicts(self):
        wish = ["suggest", "--gpu", "T4", "--driver", "470.161.03", "--torch", ">=2.8"]
        got = self.call(*wish, "--out", "found")
        self.assertEqual((got.returncode, got.stderr), (1, ""))
        self.assertAllIn(("conflict: driver 470.161.03 and torch >=2.8", "driver-supports-cuda", "https://", "driver >= 525.60.13"), got.stdout)
        self.assertFalse((self.dir / "found" / "suggest.yaml").exists())
        document = self.json_of(*wish)
        self.assertEqual(document["stacks"], [])
        self.assertEqual([conflict["demands"] for conflict in document["conflicts"]], [["driver 470.161.03", "torch >=2.8"]])

    def test_suggest_refuses_what_no_fact_knows(self):
        for arguments, needle in ((["--gpu", "T44"], "did you mean T4?"), (["--need", "transfomers"], "did you mean transformers?"),
                                  (["--torch", ">>1"], "torch"), ([], "nothing is asked for"), (["--gpu", "T4", "--limit", "0"], "limit")):
            self.refused("suggest", *arguments, says=needle)


if __name__ == "__main__":
    main()

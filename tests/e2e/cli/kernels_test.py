"""The command line as a user meets it: kernels. Usage: kernels_test.py CUDAMATRIX [unittest arguments]"""
import os
import shutil
import textwrap

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
        self.assertEqual(text, self.call("kernels", "list", "--out", "o").stdout)
        self.assertEqual(text, self.read("o/kernels-list.txt"))

    def test_every_listed_test_and_fault_can_be_shown(self):
        listed = self.json_of("kernels", "list")
        ids = [test["id"] for test in listed["tests"]]
        codes = sorted({code for test in listed["tests"] for code in test["faults"]})
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
                     says=("did you mean one of torch.arch, torch.matmul, torch.step, torch.ext, torch.compile, torch.workers?", '"zzzz"\n  fix: `cudamatrix kernels list` lists them'))
        for arguments in (["kernels"], ["kernels", "show"], ["kernels", "run"], ["kernels", "list", "cmp.vadd"], ["kernels", "list", "--format", "xml"]):
            self.refused(*arguments)


# A g++ whose suite_build keeps what it was asked for, and records what KERNELS says of the kernels.
CXX = """
while [ "$1" != -o ]; do shift; done
cat > "$2" <<'EOF'
#!/bin/sh
asked="$*"
while [ "$1" != --out ]; do shift; done
mkdir "$2/bin" && printf '#!/bin/sh\\necho the suite\\n' > "$2/bin/suite" && chmod +x "$2/bin/suite"
echo "$asked" > "$2/asked"
printf '%s\\n' "$KERNELS" > "$2/static.jsonl"
EOF
chmod +x "$2"
"""
PASS = '{"status":"pass","summary":"2 programs compiled by nvcc 13.0.88","checks":[{"name":"kernels/a.cu","ok":true}]}'
FAIL = ('{"status":"fail","summary":"kernels/a.cu: no such thing","checks":[{"name":"kernels/a.cu","ok":false,"note":"error: no such thing"},'
        '{"name":"kernels/b.cu","ok":true}]}')


class KernelsBuild(Cli):
    """On stand-ins for nvcc and g++; what the real ones make is tested in images (images_test.py)."""

    def setUp(self):
        super().setUp()
        self.tool("nvcc", "echo 'Cuda compilation tools, release 13.0, V13.0.88'")
        self.tool("g++", CXX)
        self.env = {"PATH": f"{self.dir / 'tools'}:{os.environ['PATH']}", "KERNELS": PASS}

    def tool(self, name, script):
        self.write("#!/bin/sh\n" + script, "tools/" + name)
        (self.dir / "tools" / name).chmod(0o755)

    def test_a_folder_that_can_be_copied(self):
        got = self.call("kernels", "build", "--out", "made", code=0, env=self.env)
        self.assertRegex(got.stdout, textwrap.dedent("""\
            ^2 programs compiled by nvcc 13\\.0\\.88
            SASS for 7\\.5, 8\\.0, 9\\.0, 10\\.0, 11\\.0, 12\\.0, PTX for 12\\.0
            run the tests, here or on .*: made/suite run
            $"""))
        self.assertIn("building the suite with ", got.stderr)
        self.assertEqual(sorted(path.name for path in self.dir.iterdir()), ["made", "tools"])
        self.assertEqual(sorted(path.name for path in (self.dir / "made").iterdir()), ["asked", "bin", "static.jsonl", "suite"])
        shutil.copytree(self.dir / "made", self.dir / "copy", symlinks=True)
        self.assertEqual(os.readlink(self.dir / "copy/suite"), "bin/suite")
        asked = self.read("made/asked").split()
        self.assertIn("7.5,8.0,9.0,10.0,11.0,12.0", asked)
        self.assertEqual(asked[asked.index("--nvcc") + 1], str(self.dir / "tools/nvcc"))

    def test_named_targets_and_nvcc(self):
        os.rename(self.dir / "tools/nvcc", self.dir / "nvcc-13.0")
        got = self.json_of("kernels", "build", "--out", "made", "--nvcc", str(self.dir / "nvcc-13.0"), "--compute", "9.0,8.6", "--ptx", "8.6", code=0, env=self.env)
        self.assertEqual((got["compute"], got["ptx"], got["nvcc"], got["whole"], got["errors"]), (["8.6", "9.0"], "8.6", "13.0.88", True, []))
        asked = self.read("made/asked").split()
        self.assertEqual([asked[asked.index(name) + 1] for name in ("--compute", "--ptx")], ["8.6,9.0", "8.6"])

    def test_a_kernel_that_does_not_compile_is_1(self):
        got = self.call("kernels", "build", "--out", "made", code=1, env={**self.env, "KERNELS": FAIL})
        self.assertIn("error: kernels/a.cu: error: no such thing\n", got.stdout)
        self.assertNotIn("b.cu", got.stdout)

    def test_nothing_is_half_made(self):
        self.write("mine", "there/file")
        self.refused("kernels", "build", "--out", "there", says=f"{self.dir}/there is there already: expected a new folder", env=self.env)
        self.assertEqual(self.tree("there"), {"file": b"mine"})
        self.tool("g++", "echo 'fatal error: no such thing' >&2; exit 1")
        self.refused("kernels", "build", "--out", "made", code=1, says="suite_build: exit code 1: fatal error: no such thing", env=self.env)
        self.tool("g++", CXX)
        self.refused("kernels", "build", "--out", "made", code=2, says="static.jsonl", env={**self.env, "KERNELS": "{"})
        self.assertEqual(sorted(path.name for path in self.dir.iterdir()), ["there", "tools"])

    def test_what_is_refused(self):
        self.refused("kernels", "build", says="--out is required", env=self.env)
        for value in ("9", "9.0a", "8.0,x", ""):
            self.refused("kernels", "build", "--out", "made", "--compute", value, env=self.env)
        self.refused("kernels", "build", "--out", "made", "--compute", "90", says='invalid compute capability "90": expected MAJOR.MINOR (9.0)', env=self.env)
        self.refused("kernels", "build", "--out", "made", "--ptx", "sm_90", says="expected MAJOR.MINOR (9.0)", env=self.env)
        self.refused("kernels", "build", "--out", "made", "--nvcc", "/no/nvcc", code=3, says="/no/nvcc is no program\n  fix: install a CUDA toolkit, or name its nvcc",
                     env=self.env)
        self.refused("kernels", "build", "--out", "made", "--suite", "nowhere", says="nowhere", env=self.env)
        self.tool("nvcc", "echo hello")
        self.refused("kernels", "build", "--out", "made", code=3, says="does not tell its version", env=self.env)
        self.tool("nvcc", "echo 'Cuda compilation tools, release 99.0, V99.0.1'")
        self.refused("kernels", "build", "--out", "made", says="no fact knows what nvcc 99.0.1 compiles for\n  fix: name it: --compute 8.0,9.0", env=self.env)
        self.assertEqual([path.name for path in self.dir.iterdir()], ["tools"])


if __name__ == "__main__":
    main()

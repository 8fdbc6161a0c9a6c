"""The command line as a user meets it: help, exit codes, bad input. Usage: cli_test.py CUDAMATRIX [unittest arguments]"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
COMMANDS = ["check", "lint", "list", "lock", "render", "build", "test", "run", "facts", "rules"]
GOOD = """version: 1
name: good
axes:
  driver: ["535.183.01", "550.54.15"]
  gpu: [T4]
  cuda: ["11.8.0"]
set: {os: debian12, family: debian}
"""


def run(*arguments, cwd=None, env=None):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, cwd=cwd, env=env, timeout=60, stdin=subprocess.DEVNULL)


class Cli(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.dir = pathlib.Path(self.folder.name)

    def write(self, content, name="matrix.yaml"):
        path = self.dir / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    def run(self, result=None):  # unittest's own name; the program is started by run() of this module
        return super().run(result)

    def bad(self, content, *needles):
        """check must end with 2, print nothing on stdout, and one clear error with the needles on stderr."""
        name = self.write(content)
        got = run("check", name, cwd=self.dir)
        self.assertEqual((got.returncode, got.stdout), (2, ""), got.stderr)
        for needle in needles:
            self.assertIn(needle, got.stderr)
        return got.stderr

    def test_without_arguments_says_what_to_type_next(self):
        got = run()
        self.assertEqual(got.returncode, 0)
        self.assertIn("cudamatrix check matrix.yaml", got.stdout)

    def test_the_matrix_shown_without_arguments_is_a_good_one(self):
        shown = run().stdout.split("as matrix.yaml:\n")[1]
        name = self.write("\n".join(line[2:] for line in shown.splitlines()) + "\n")
        got = run("check", name, cwd=self.dir)
        self.assertIn(got.returncode, (0, 1), got.stderr)
        self.assertEqual(got.stderr, "")

    def test_version_names_the_facts(self):
        got = run("--version")
        self.assertRegex(got.stdout, r"^cudamatrix \d+\.\d+\.\d+\nfacts 20\d\d-\d\d-\d\d [0-9a-f]{12}\n$")

    def test_every_help_has_an_example(self):
        for command in COMMANDS:
            with self.subTest(command):
                got = run(command, "--help")
                self.assertEqual(got.returncode, 0)
                self.assertIn("Example: cudamatrix " + command, got.stdout)

    def test_wrong_usage_is_2(self):
        for arguments in (["chekc"], ["check"], ["check", "m.yaml", "--format", "xml"], ["check", "m.yaml", "--on", "yesterday"],
                          ["run", "m.yaml", "--engine", "lxc"], ["--frobnicate"]):
            with self.subTest(arguments):
                got = run(*arguments, cwd=self.dir)
                self.assertEqual((got.returncode, got.stdout), (2, ""))
                self.assertTrue(got.stderr)

    def test_missing_file_and_directory(self):
        for name in ("nowhere.yaml", "."):
            got = run("check", name, cwd=self.dir)
            self.assertEqual((got.returncode, got.stdout), (2, ""))
            self.assertIn("cannot read " + name, got.stderr)

    def test_bad_files(self):
        self.bad("", "matrix.yaml")
        self.bad("# nothing\n", "matrix.yaml")
        self.bad(b"version: 1\nname: \xff\xfe\n", "UTF-8")
        self.bad("version: 1\naxes:\n  driver: [\"550\"]\n  cudaa: [\"12.4\"]\n", "matrix.yaml:4:3: error: ", "cudaa", "cuda")
        self.bad("version: 1\nname: a\nname: b\n", "matrix.yaml:3:1: error: ", "name")
        self.bad("version: 1\naxes: &a\n  driver: [*a]\n", "matrix.yaml:2:", "anchor")
        bomb = "a: &a [x,x]\n" + "".join(f"{c}: &{c} [*{p},*{p}]\n" for p, c in zip("abcdefgh", "bcdefghi"))
        self.bad("version: 1\n" + bomb, "matrix.yaml:2:", "anchor")
        self.bad("version: 1\nexpect_cells: 2\naxes:\n  driver: [\"550\"]\n", "expect_cells", "2", "1")

    def test_all_mistakes_in_one_run(self):
        text = self.bad("version: 1\nfoo: 1\naxes:\n  drivr: [\"550\"]\n  cuda: [\"12;4\"]\n", ":2:1: error: ", ":4:3: error: ", ":5:")
        self.assertEqual(text.count("error: "), 3, text)

    def test_check_formats(self):
        name = self.write(GOOD)
        document = json.loads(run("check", name, "--format", "json", cwd=self.dir).stdout)
        self.assertEqual(document["schema_version"], 1)
        self.assertEqual(len(document["cells"]), 2)
        summary = json.loads(run("check", name, "--summary", "--format", "json", cwd=self.dir).stdout)
        self.assertEqual(sum(summary["verdicts"].values()), 2)
        self.assertNotIn("cells", summary)

    def test_rejected_is_1_with_caret_source_and_fix(self):
        name = self.write(GOOD.replace('"11.8.0"', '"12.4.1"').replace('"535.183.01"', '"470.161.03"'))
        got = run("check", name, cwd=self.dir)
        self.assertEqual(got.returncode, 1)
        for needle in ("matrix.yaml:4:12: error: driver 470.161.03 is too old for CUDA 12.4.1", "[driver-supports-cuda, at runtime]",
                       "^~~~", "https://", "fix: "):
            self.assertIn(needle, got.stdout)
        github = run("check", name, "--format", "github", cwd=self.dir)
        self.assertEqual(github.returncode, 1)
        self.assertIn("::error file=matrix.yaml,line=4,col=12", github.stdout)

    def test_github_matrix_is_one_line(self):
        name = self.write(GOOD)
        got = run("list", name, "--format", "github-matrix", cwd=self.dir)
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertEqual(got.stdout.count("\n"), 1)
        include = json.loads(got.stdout)["include"]
        self.assertEqual([row["driver"] for row in include], ["535.183.01", "550.54.15"])

    def test_on_moves_the_ends_of_life(self):
        name = self.write(GOOD)
        early = run("check", name, "--on", "2023-09-01", cwd=self.dir).stdout
        late = run("check", name, "--on", "2035-01-01", cwd=self.dir).stdout
        self.assertNotIn("[end-of-life", early)
        self.assertIn("[end-of-life", late)

    def test_missing_engine_is_3_and_leaves_nothing(self):
        name = self.write(GOOD)
        env = dict(os.environ, PATH=str(self.dir), DOCKER_HOST="unix://" + str(self.dir / "none.sock"))
        for command in ("lock", "build", "test", "run"):
            with self.subTest(command):
                got = run(command, name, "--engine", "docker", cwd=self.dir, env=env)
                self.assertEqual((got.returncode, got.stdout), (3, ""), got.stderr)
                self.assertIn("docker", got.stderr)
                self.assertFalse((self.dir / "cudamatrix.lock").exists())

    def test_render_without_a_lock_is_loud_and_stable(self):
        name = self.write(GOOD)
        first = run("render", name, "--out", "one", cwd=self.dir)
        self.assertEqual(first.returncode, 0, first.stderr)
        dockerfiles = list((self.dir / "one").rglob("Dockerfile"))
        self.assertEqual(len(dockerfiles), 1)
        self.assertIn("unpinned", dockerfiles[0].read_text())
        run("render", name, "--out", "two", cwd=self.dir, env=dict(os.environ, LC_ALL="tr_TR.UTF-8", TZ="Asia/Tokyo"))
        self.assertEqual(list((self.dir / "one").glob("report.*")), [])
        trees = [{str(p.relative_to(self.dir / d)): p.read_bytes() for p in (self.dir / d).rglob("*") if p.is_file()} for d in ("one", "two")]
        self.assertEqual(trees[0], trees[1])

    def test_facts_show(self):
        got = run("facts", "show", "driver-r470")
        self.assertEqual(got.returncode, 0)
        self.assertIn("470", got.stdout)
        self.assertIn("source      github:", got.stdout)
        missing = run("facts", "show", "driver-r47")
        self.assertEqual((missing.returncode, missing.stdout), (2, ""))
        self.assertIn("driver-r470", missing.stderr)

    def test_facts_list_search_check(self):
        tables = json.loads(run("facts", "list", "--format", "json").stdout)["tables"]
        self.assertTrue(all(t["rows"] == t["measured"] + t["read"] + t["unverified"] and t["columns"] for t in tables))
        self.assertIn("gpu-t4", run("facts", "search", "t4", "7.5").stdout)
        self.assertEqual(run("facts", "search", "no-such-word").returncode, 1)
        self.assertRegex(run("facts", "check").stdout, r"\d+ rows in \d+ tables, \d+ unverified, 0 mistakes\n$")
        self.write("table: gpus\nas_of: \"2026-01-01\"\nrows:\n  - {id: gpu-x}\n", "own.yaml")
        bad = run("facts", "check", "--facts", str(self.dir))
        self.assertEqual((bad.returncode, bad.stdout), (2, ""))
        self.assertIn("own.yaml:4:", bad.stderr)

    def test_old_facts_are_warned_of(self):
        name = self.write(GOOD)
        got = run("check", name, "--on", "2035-01-01", "--format", "json", cwd=self.dir)
        self.assertRegex(got.stderr, r"warning: facts are \d+ days old, as of 20")
        self.assertIn("days old", json.loads(got.stdout)["facts"]["warning"])
        self.assertNotIn("warning", json.loads(run("facts", "list", "--format", "json", "--on", "2026-11-21").stdout)["facts"])

    def test_rules_list_and_show(self):
        listed = json.loads(run("rules", "list", "--format", "json").stdout)
        self.assertEqual(listed["count"], len(listed["rules"]))
        for rule in listed["rules"]:
            shown = json.loads(run("rules", "show", rule["id"], "--format", "json", "--on", "2026-11-21").stdout)
            self.assertTrue(shown["findings"] and shown["why"] and shown["reads"], rule["id"])
        missing = run("rules", "show", "end-of-lif")
        self.assertEqual((missing.returncode, missing.stdout), (2, ""))
        self.assertIn("did you mean end-of-life?", missing.stderr)

    def test_own_rules_and_waivers(self):
        own = GOOD + "rules: [{id: no-535, require: {driver: \"!=535\"}, because: frozen}]\n"
        got = run("check", self.write(own), cwd=self.dir)
        self.assertEqual(got.returncode, 1, got.stderr)
        self.assertIn("driver 535.183.01 does not meet != 535: frozen [no-535, at container_start]", got.stdout)
        waived = own + "waive: [{rule: no-535, because: agreed, until: 2030-01-01}]\n"
        got = run("check", self.write(waived), "--on", "2026-11-21", cwd=self.dir)
        self.assertEqual(got.returncode, 0, got.stdout)
        self.assertIn("waived until 2030-01-01 (line 9): agreed", got.stdout)
        late = run("check", self.write(waived), "--on", "2031-01-01", cwd=self.dir)
        self.assertEqual(late.returncode, 1)
        self.assertIn("[waiver-expired, at container_start]", late.stdout)
        self.bad(waived.replace("rule: no-535", "rule: no-53"), "did you mean no-535?")

    def test_out_writes_the_report_too(self):
        name = self.write(GOOD)
        for arguments, file in ((["check", name], "check.txt"), (["check", name, "--format", "json"], "check.json"),
                                (["check", name, "--summary"], "check-summary.txt"), (["list", name], "list.txt"),
                                (["lint", name], "lint.txt"), (["lint", name, "--format", "github"], "lint.github.txt"),
                                (["facts", "list"], "facts-list.txt"), (["rules", "list", "--format", "json"], "rules-list.json")):
            with self.subTest(file):
                got = run(*arguments, "--out", "reports", cwd=self.dir)
                self.assertEqual((self.dir / "reports" / file).read_text(), got.stdout)

    def test_lint(self):
        name = self.write(GOOD.replace("gpu: [T4]", "gpu: [T4, L4]"))
        clean = run("lint", name, "--on", "2026-11-21", cwd=self.dir)
        self.assertEqual((clean.returncode, clean.stderr), (0, ""))
        self.assertEqual(clean.stdout, "matrix.yaml:6:3: note: cuda 11.8.0 is the only value of its axis: every cell of the product has it "
                         "[one-value-axis]\n  6 |   cuda: [\"11.8.0\"]\n    |   ^~~~\n  fix: write it under set, or add a value\n\n"
                         "good: 1 note in 4 cells and 1 image\n")
        self.write(GOOD + 'exclude: [{driver: "<400"}]\n')
        found = run("lint", name, cwd=self.dir)
        self.assertEqual(found.returncode, 1)
        self.assertIn("matrix.yaml:8:11: warning: this exclude covers no cell of the product [exclude-matches-nothing]", found.stdout)
        document = json.loads(run("lint", name, "--format", "json", cwd=self.dir).stdout)
        finding = next(f for f in document["findings"] if f["id"] == "exclude-matches-nothing")
        self.assertEqual(finding["edits"], [{"line": 8, "column": 11, "end_line": 8, "end_column": 27, "text": ""}])
        self.assertEqual(document["counts"]["warning"], 1)
        self.assertIn("::warning file=matrix.yaml,line=8,col=11", run("lint", name, "--format", "github", cwd=self.dir).stdout)
        self.write("# lint: allow exclude-matches-nothing\n" + GOOD + 'exclude: [{driver: "<400"}]\n')
        self.assertEqual(run("lint", name, cwd=self.dir).returncode, 0)
        self.bad("version: 1\nfoo: 1\n", "foo")
        self.assertEqual(run("lint", "nowhere.yaml", cwd=self.dir).returncode, 2)
        self.assertEqual(run("lint", name, "--within", "soon", cwd=self.dir).returncode, 2)

    def test_override(self):
        name = self.write(GOOD)
        got = run("check", "--override", "driver=470.161.03", name, "--override", "cuda=12.4.1", cwd=self.dir)
        self.assertEqual(got.returncode, 1, got.stderr)
        self.assertIn("--override driver=470.161.03: error: driver 470.161.03 is too old for CUDA 12.4.1", got.stdout)
        self.assertEqual(got.stderr, "cudamatrix: note: driver is 470.161.03 in every cell (--override); the file says 535.183.01, 550.54.15\n"
                         "cudamatrix: note: cuda is 12.4.1 in every cell (--override); the file says 11.8.0\n")
        listed = json.loads(run("list", name, "--format", "json", "--override", "gpu=L4", cwd=self.dir).stdout)
        self.assertEqual([cell["fields"]["gpu"] for cell in listed["cells"]], ["L4", "L4"])
        for option, needle in (("drivr=580", "did you mean driver?"), ("driver", "FIELD=VALUE"), ("driver=;", "would be accepted")):
            bad = run("check", name, "--override", option, cwd=self.dir)
            self.assertEqual((bad.returncode, bad.stdout), (2, ""))
            self.assertIn(needle, bad.stderr)
        twice = run("check", name, "--override", "gpu=T4", "--override", "gpu=L4", cwd=self.dir)
        self.assertEqual(twice.returncode, 2)
        self.assertIn("overridden twice", twice.stderr)

    def test_host(self):
        name = self.write(GOOD)
        if not os.path.exists("/proc/driver/nvidia"):  # with a driver there is always something to judge against
            nothing = run("check", name, "--host", cwd=self.dir, env=dict(os.environ, PATH=str(self.dir)))
            self.assertEqual((nothing.returncode, nothing.stdout), (3, ""))
            for needle in ("neither a driver nor a GPU", "nvidia-smi: it is not on PATH", "--override driver=... --override gpu=..."):
                self.assertIn(needle, nothing.stderr)
        smi = self.dir / "nvidia-smi"
        smi.write_text('#!/bin/sh\necho "0, Tesla T4, 7.5, 550.54.15"\necho "1, NVIDIA L4, 8.9, 550.54.15"\n')
        smi.chmod(0o755)
        got = run("check", name, "--host", "--format", "json", cwd=self.dir, env=dict(os.environ, PATH=str(self.dir)))
        document = json.loads(got.stdout)
        self.assertEqual([cell["fields"]["gpu"] for cell in document["cells"]], ["Tesla T4", "L4"])
        self.assertEqual(document["host"]["gpu"], {"value": "Tesla T4, L4", "from": "nvidia-smi", "used": True})
        self.assertIsNone(document["host"]["toolkit"]["value"])
        text = run("check", name, "--host", "--summary", cwd=self.dir, env=dict(os.environ, PATH=str(self.dir))).stdout
        self.assertIn("this machine\n", text)
        self.assertIn("  gpu            Tesla T4, L4 (nvidia-smi)\n", text)
        self.assertIn("  toolkit        not found: nvidia-ctk is not on PATH", text)

    def test_a_full_output_device_is_3(self):
        name = self.write(GOOD)
        with open("/dev/full", "w") as full:
            got = subprocess.run([PROGRAM, "check", name], stdout=full, stderr=subprocess.PIPE, cwd=self.dir, timeout=60)
        self.assertEqual(got.returncode, 3)


if __name__ == "__main__":
    unittest.main()

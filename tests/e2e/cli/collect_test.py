"""The command line as a user meets it: collect. Several machines are several runs on a fake engine. Usage: collect_test.py CUDAMATRIX [unittest
arguments]"""
import json
import os
import shutil
import subprocess

from cli import Cli, main
import fake_site

MATRIX = """version: 1
name: many
axes: {driver: ["550.54.15"], gpu: [T4, H100], cuda: ["11.8.0"], os: debian12}
build: {base_from: bootstrap, snapshot: none}
images:
  - {name: a, env: {MODE: a}}
  - {name: b, env: {MODE: b}}
"""
A, B = "a-debian12-cu11.8.0", "b-debian12-cu11.8.0"
CELLS = [f"drv550.54.15-{gpu}-cu11.8.0-debian12@{name}" for name in "ab" for gpu in ("t4", "h100")]
FIX = "  fix: run it again, or collect with the matrix and lock that it was run with\n"


class Collect(Cli):
    def setUp(self):
        super().setUp()
        self.env = {"PATH": f"{self.dir}/bin:/usr/bin:/bin", **fake_site.install(self.dir / "bin", self.dir / "state")}
        fake_site.program(self.dir / "bin/nvidia-smi", "#!/bin/sh\nexit 9\n")  # no GPU, whatever this machine has
        self.write(MATRIX, "m.yaml")
        self.call("lock", "m.yaml", "--engine", "docker", env=self.env, code=0)

    def machine(self, name, *arguments, code=4):
        self.call("run", "m.yaml", "--out", "results/" + name, "--engine", "docker", *arguments, env=self.env, code=code)

    def collect(self, *arguments, code=4):
        return self.call("collect", "m.yaml", *(arguments or ("results",)), code=code)

    def suite(self, cell, run):
        """What the suite prints for a cell that is asked by that name."""
        argv = [self.dir / "bin/docker", "suite", "run", "--cell", cell, "--compute", "7.5" if "-t4-" in cell else "9.0", "--run", run]
        return subprocess.run(argv, env={**os.environ, **self.env}, capture_output=True, text=True, check=False).stdout

    def plan_id(self, cell):
        """By what the refusal of another name says."""
        self.write(self.suite(cell, "x"), "asked.log")
        return self.refused("collect", "m.yaml", "asked.log").split("(with a GPU) or ")[1].split()[0]

    def test_machines_are_one_report_in_any_format(self):
        self.machine("one", "--only", A)
        self.machine("two", "--only", B)
        got = self.collect()
        self.assertTrue(got.stdout.endswith("\npass-interpreted: 2 cells, 2 images: interpreted on the CPU, 0 rejected, 0 unknown\n"), got.stdout)
        self.assertNotIn("no machine answered", got.stdout)
        self.assertEqual(got.stderr, "")
        report = json.loads(self.collect("results", "--format", "json").stdout)
        self.assertEqual([cell["outcome"] for cell in report["cells"]], ["passed_without_gpu"] * 4)
        self.assertEqual({cell["log"].split("/")[1] for cell in report["cells"]}, {"one", "two"})
        for cell in report["cells"]:
            self.assertTrue((self.dir / cell["log"]).is_file())
        whole = json.loads(self.call("report", "results/one/report.json", "results/two/report.json", "--format", "json", code=4).stdout)
        for name in ("images", "cells", "verdicts", "outcomes", "command", "matrix"):
            self.assertEqual(sorted(map(str, report[name])), sorted(map(str, whole[name])), name)
        for name, ending in (("text", "txt"), ("json", "json"), ("junit", "xml"), ("tap", "tap"), ("markdown", "md"), ("html", "html")):
            got = self.collect("results", "--format", name, "--out", "o")
            self.assertEqual(got.stdout, self.read("o/collected." + ending), name)
        self.collect("results", "--accept-static", code=0)
        self.collect("results", "--require-gpu", code=1)
        # A collected report can be collected, and printed by report.
        self.collect("o/collected.json")
        self.call("report", "o/collected.json", code=4)

    def test_what_is_missing_is_named(self):
        self.machine("one", "--only", A)
        got = self.collect(code=1)
        self.assertTrue(got.stdout.endswith(f"no machine answered: 2 cells\n  {CELLS[2]}\n  {CELLS[3]}\n"), got.stdout)
        cells = json.loads(self.collect("results", "--format", "json", code=1).stdout)["cells"]
        self.assertEqual({cell["id"] for cell in cells if cell["outcome"] == "planned"}, set(CELLS[2:]))
        self.assertNotIn("no machine answered", self.collect("results", "--only", A).stdout)

    def test_a_failure_on_one_machine_is_one_of_all(self):
        self.machine("one", "--only", A)
        self.env["FAKE_DOCKER_FAULTS"] = "fail:cmp.vadd"
        self.machine("two", "--only", B, code=1)
        self.assertIn("cmp.vadd", self.collect(code=1).stdout)

    def test_logs_of_the_suite(self):
        self.machine("one", "--only", A)
        log = "".join(self.suite(cell, self.plan_id(cell)) for cell in CELLS[2:])
        self.write("pulling\n" + log + "slurmstepd: done\n", "results/slurm-7.out")
        got = self.collect()
        self.assertNotIn("no machine answered", got.stdout)
        self.assertEqual(got.stderr, "results/slurm-7.out:1:1: note: 2 lines of 1 log are not of the suite: left out\n")
        self.write(log[:len(log) // 4], "results/slurm-7.out")
        self.assertIn("the suite's output cannot be believed", self.collect(code=1).stdout)
        self.assertIn("was asked as", self.refused("collect", "m.yaml", "results", "--level", "full"))

    def test_what_is_of_another_plan_is_refused(self):
        self.machine("one", "--only", A)
        report = json.loads(self.read("results/one/report.json"))
        report["version"] = "0.0.1"
        self.write(json.dumps(report), "old.json")
        self.assertIn("old.json: error: the version of cudamatrix is 0.0.1, that of m.yaml is ", self.refused("collect", "m.yaml", "old.json"))
        shutil.copy(self.dir / "cudamatrix.lock", self.dir / "kept.lock")
        os.remove(self.dir / "cudamatrix.lock")
        said = self.refused("collect", "m.yaml", "results")
        self.assertRegex(said, rf"^results/one/report.json: error: image {A} was made of other files: the inputs of its runtime are [0-9a-f]{{12}}, "
                               r"by the plan [0-9a-f]{12}\n" + FIX + "$")
        shutil.copy(self.dir / "kept.lock", self.dir / "cudamatrix.lock")
        self.write(MATRIX.replace("MODE: a", "MODE: c"), "m.yaml")
        self.assertIn(f"image {A} was made of other files", self.refused("collect", "m.yaml", "results"))
        self.write(MATRIX.replace("name: a,", "name: z,"), "m.yaml")
        self.assertEqual(self.refused("collect", "m.yaml", "results"), f"results/one/report.json: error: image {A} is not in the plan of m.yaml\n" + FIX)

    def test_bad_input_is_2(self):
        self.refused("collect", "m.yaml", says="RESULT")
        self.refused("collect", "m.yaml", "gone", says="cannot read gone")
        (self.dir / "empty").mkdir()
        self.assertEqual(self.refused("collect", "m.yaml", "empty"), "empty: error: no report.json and no log in this folder\n"
                         "  fix: name the folder to which the results of the machines were copied\n")
        neither = "x.log:1:1: error: neither a report of cudamatrix nor a log with lines of its suite\n{}  fix: give report.json of an output folder, or " \
                  "what the suite printed\n"
        for content, excerpt in ((b"", ""), (b"words\n", "  1 | words\n    | ^\n")):
            self.write(content, "x.log")
            self.assertEqual(self.refused("collect", "m.yaml", "x.log"), neither.format(excerpt))
        for content in (b"\0\xff\x7fELF\x1b[2J" * 1000, b"{" * 100_000, b"x" * 1_000_000):
            self.write(content, "x.log")
            said = self.refused("collect", "m.yaml", "x.log", says="x.log:1:1: error: neither a report")
            self.assertNotIn("\x1b", said)
            self.assertLess(len(said), 1000)
        self.machine("one", "--only", A)
        self.write(self.read("results/one/report.json")[:-3], "results/one/report.json")
        self.refused("collect", "m.yaml", "results", says=("results/one/report.json:", "not valid JSON"))


if __name__ == "__main__":
    main()

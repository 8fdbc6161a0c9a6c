"""The command line as a user meets it: what a step of GitHub Actions hands on. Usage: github_test.py CUDAMATRIX [unittest arguments]"""
import json

from cli import GOOD, TWO, Cli, main

MIB = 1 << 20
LEFT_OUT = "\nThe rest is left out: GitHub shows 1 MiB of a step.\n"
BAD = GOOD.replace('"11.8.0"', '"12.4.1"').replace('"535.183.01"', '"470.161.03"')


class Github(Cli):
    def step(self, *arguments, code=0, **environment):
        """In a step whose files are `output` and `summary`, which earlier commands have written."""
        files = {"GITHUB_OUTPUT": str(self.dir / "output"), "GITHUB_STEP_SUMMARY": str(self.dir / "summary")}
        return self.call(*arguments, code=code, env={**files, **environment})

    def test_the_matrix_becomes_an_output(self):
        name = self.write(TWO)
        self.write("before=1\n", "output")
        expected = "before=1\n"
        for key, arguments in (("images", ["--images"]), ("_a-1", ["--images", "--runner", "gpu"]), ("cells", [])):
            plain = self.call("list", name, *arguments, "--format", "github-matrix", code=0)
            got = self.step("list", name, *arguments, "--format", "github-matrix", "--github-output", key, "--out", "o")
            self.assertEqual((got.stdout, got.stderr), (plain.stdout, plain.stderr))
            expected += f"{key}={plain.stdout}"
            self.assertEqual(self.read("output"), expected)
        self.assertEqual(len(json.loads(expected.splitlines()[1].removeprefix("images="))["include"]), 2)
        # Without a cell that works it is an empty list, and a file that is missing is made.
        (self.dir / "output").unlink()
        self.step("list", self.write(BAD.replace('"550.54.15"', '"450.80.02"')), "--format", "github-matrix", "--github-output", "cells")
        self.assertEqual(self.read("output"), 'cells={"include":[]}\n')

    def test_outputs_that_cannot_be(self):
        name = self.write(TWO)
        matrix = ("list", name, "--format", "github-matrix", "--github-output")
        for word in ("", "a b", "a=b", "a\nb", "a<<EOF", "${{x}}", "\u00e9", "1a", "-", "a" * 101, "a\x1b"):
            with self.subTest(word):
                self.refused(*matrix, word, env={"GITHUB_OUTPUT": str(self.dir / "output")},
                             says="a name has letters, digits, '-' and '_', and begins with a letter or '_'")
        says = "cudamatrix: error: --github-output: GITHUB_OUTPUT names no file\n  fix: run it in a step of GitHub Actions, or leave it out: stdout has the line\n"
        self.assertEqual(self.refused(*matrix, "a", env={"GITHUB_OUTPUT": ""}), says)
        for arguments in ([], ["--format", "json"], ["--images"]):
            self.assertEqual(self.refused("list", name, *arguments, "--github-output", "a", env={"GITHUB_OUTPUT": "output"}),
                             "cudamatrix: error: --github-output is for the CI matrix\n  fix: give it with --format github-matrix\n")
        got = self.step(*matrix, "a", GITHUB_OUTPUT=str(self.dir / "none/x"), code=3)
        self.assertEqual(got.stderr, f"cudamatrix: error: cannot write {self.dir}/none/x: No such file or directory\n")
        self.step(*matrix, "a", GITHUB_OUTPUT=str(self.dir), code=3)
        # What fails leaves the file as it was.
        self.refused("list", "none.yaml", *matrix[2:], "a", env={"GITHUB_OUTPUT": str(self.dir / "output")})
        self.assertFalse((self.dir / "output").exists())

    def test_reports_become_the_summary_of_the_step(self):
        name = self.write(BAD)
        self.write(GOOD, "good.yaml")
        self.write("Before", "summary")
        expected = "Before"
        self.call("render", "good.yaml", "--out", "o", "--format", "json", code=0)
        self.write(self.call("render", "good.yaml", "--out", "o", "--format", "json", code=0).stdout, "report.json")
        for code, arguments in ((1, ["check", name]), (1, ["check", name, "--fail-on", "rejected", "--out", "o2"]), (1, ["diff", name, "good.yaml"]),
                                (0, ["render", "good.yaml", "--out", "o"]), (0, ["report", "report.json"]), (0, ["review", "good.yaml", "--on", "2026-11-21"])):
            for form in ("text", "json"):
                with self.subTest(f"{arguments} {form}"):
                    markdown = self.call(*arguments, "--format", "markdown", code=code).stdout
                    plain = self.call(*arguments, "--format", form, code=code)
                    got = self.step(*arguments, "--format", form, "--step-summary", code=code)
                    if arguments[0] != "render":  # says how long it took
                        self.assertEqual(got.stdout, plain.stdout)
                    expected += f"\n\n{markdown}\n"
                    self.assertEqual(self.read("summary"), expected)
        self.assertFalse((self.dir / "output").exists())

    def test_a_summary_ends_at_its_limit(self):
        name = self.write(BAD)
        whole = "\n\n" + self.call("check", name, "--format", "markdown", code=1).stdout + "\n"
        size = len(whole.encode())
        for room, kept in ((size, whole), (size + 7, whole), (size - 1, None), (300, None), (len(LEFT_OUT) + 2, "\n\n" + LEFT_OUT)):
            with self.subTest(room):
                before = "x" * (MIB - room)
                self.write(before, "summary")
                got = self.step("check", name, "--step-summary", code=1)
                self.assertEqual(got.stderr, "")
                added = self.read("summary").removeprefix(before)
                self.assertLessEqual(len(added.encode()), room)
                if kept is None:
                    self.assertTrue(added.endswith(LEFT_OUT))
                    kept = added.removesuffix(LEFT_OUT)
                    self.assertTrue(whole.startswith(kept) and kept.endswith("\n") and len(kept) > 1)
                else:
                    self.assertEqual(added, kept)
        for filled in (MIB - len(LEFT_OUT), MIB - 1, MIB, MIB + 5):
            self.write("x" * filled, "summary")
            self.assertEqual(self.step("check", name, "--step-summary", code=1).stderr,
                             "cudamatrix: warning: the summary of this step is full: the report is not in it\n  fix: give the command a step of its own\n")
            self.assertEqual(self.read("summary"), "x" * filled)

    def test_summaries_that_cannot_be(self):
        name = self.write(GOOD)
        says = ("cudamatrix: error: --step-summary: GITHUB_STEP_SUMMARY names no file\n"
                "  fix: run it in a step of GitHub Actions, or leave it out: --format markdown prints it\n")
        for command in (["check", name], ["diff", name, name], ["review", name], ["render", name, "--out", "o"], ["build", name, "--out", "o"],
                        ["test", name, "--out", "o"], ["run", name, "--out", "o"], ["report", "none.json"]):
            self.assertEqual(self.refused(*command, "--step-summary", env={"GITHUB_STEP_SUMMARY": ""}), says)
        self.refused("collect", name, "none", "--step-summary", env={"GITHUB_STEP_SUMMARY": ""}, says=says)
        self.assertFalse((self.dir / "o").exists())
        summary = {"GITHUB_STEP_SUMMARY": str(self.dir / "summary")}
        for command in (["check", name, "--summary"], ["check", name, "--against-lock"], ["render", name, "--check"], ["render", name, "--explain", "index.json"],
                        ["test", name, "--prove-rejected"]):
            self.refused(*command, "--step-summary", env=summary, says="excludes")
        for command in ("build", "test", "run"):
            self.assertEqual(self.refused(command, name, "--dry-run", "--step-summary", env=summary),
                             "cudamatrix: error: --dry-run makes no report to sum up\n  fix: leave out --step-summary\n")
        for command in (["lint", name], ["list", name], ["lock", name], ["upgrade", name, "--to", "hold"]):
            self.refused(*command, "--step-summary", env=summary, says="--step-summary")
        self.assertFalse((self.dir / "summary").exists())
        self.step("check", name, "--step-summary", GITHUB_STEP_SUMMARY=str(self.dir), code=3)


if __name__ == "__main__":
    main()

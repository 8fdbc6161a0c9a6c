"""The command line as a user meets it: values as other tools write them, and nightly builds. Usage: spelling_test.py CUDAMATRIX [unittest arguments]"""
from cli import GOOD, Cli, main

THEIRS = GOOD.replace('"11.8.0"', "cuda-11.8.0").replace("debian12", "bookworm").replace("[T4]", "[t4]")
NOTES = """matrix.yaml:5:9: note: "t4" is read as gpu T4
matrix.yaml:6:10: note: "cuda-11.8.0" is read as cuda 11.8.0
matrix.yaml:7:11: note: "bookworm" is read as os debian12
"""
SAID = 'cudamatrix: note: "{}" is read as {}\n'
NIGHTLY = """version: 1
name: nightly
set: {torch: 2.9.0.dev20250812+cu128, python: "3.12", os: debian12, gpu: H100, driver: "580.95.05"}
"""
WAIVED = NIGHTLY + 'waive: [{rule: torch-built-for-cuda, because: tried, until: 2099-01-01}]\n'
REASON = "torch 2.9.0.dev20250812+cu128 is a nightly build: the index keeps only the newest 60 nightly builds, so that none can be pinned"


class Spellings(Cli):
    def test_the_matrix_is_that_of_our_words(self):
        name = self.write(GOOD, "ours/matrix.yaml")
        ours = self.json_of("check", name)
        self.call("render", name, "--out", "ours/out", code=0)
        name = self.write(THEIRS)
        got = self.call("check", name, code=0)
        self.assertEqual(got.stderr, NOTES)
        self.assertNotIn("is read as", got.stdout)
        theirs = self.json_of("check", name)
        self.assertEqual(theirs["cells"], ours["cells"])
        self.assertEqual([(each["severity"], each["message"]) for each in theirs["warnings"]],
                         [("note", line.split(": note: ")[1]) for line in NOTES.splitlines()])
        self.assertEqual(ours["warnings"], [])
        self.assertEqual(self.json_of("check", name, "--summary")["warnings"], theirs["warnings"])
        self.assertIn('::notice file=matrix.yaml,line=6', self.call("check", name, "--format", "github").stdout)
        rendered = self.call("render", name, "--out", "out", code=0)
        self.assertTrue(rendered.stderr.startswith(NOTES), rendered.stderr)
        self.assertEqual(self.tree("out"), self.tree("ours/out"))

    def test_lint_writes_our_words(self):
        name = self.write(THEIRS)
        got = self.call("lint", name)
        self.assertEqual(got.stderr, "")
        self.assertAllIn(('"bookworm" is read as os debian12 [value-respelt]', "fix: write debian12"), got.stdout)
        findings = [each for each in self.json_of("lint", name)["findings"] if each["id"] == "value-respelt"]
        self.assertEqual([each["edits"][0]["text"] for each in findings], ['"T4"', '"11.8.0"', '"debian12"'])

    def test_the_words_of_options(self):
        name = self.write(GOOD)
        plain, got = self.call("explain", name, "cuda=11.8,driver=535"), self.call("explain", name, "cuda=cu118,driver=535")
        self.assertEqual((got.returncode, got.stdout), (plain.returncode, plain.stdout))
        self.assertEqual(got.stderr, SAID.format("cu118", "cuda 11.8"))
        got = self.call("list", name, "--override", "os=jammy")
        self.assertIn("ubuntu22.04", got.stdout)
        self.assertEqual(got.stderr, SAID.format("jammy", "os ubuntu22.04") + 'cudamatrix: note: os is ubuntu22.04 in every cell (--override); the file says debian12\n')
        wish = ["--gpu", "T4", "--driver", "550", "--python", "3.12", "--limit", "1"]
        plain = self.call("suggest", "--torch", ">=2.6,<2.8", "--cuda", "12.4", *wish, code=0)
        got = self.call("suggest", "--torch", ">=v2.6,<v2.8", "--cuda", "cu124", *wish, code=0)
        self.assertEqual(got.stdout, plain.stdout)
        self.assertEqual(sorted(got.stderr.splitlines(True)), [SAID.format(*words) for words in (
            ("cu124", "cuda 12.4"), ("v2.6", "torch 2.6"), ("v2.8", "torch 2.8"))])

    def test_what_means_nothing_is_as_it_was(self):
        for field, value in (("torch", "vv2.6.0"), ("torch", "v"), ("cuda", "cu1"), ("cuda", "cu12x"), ("compute", "sm_9"), ("compiler", "gcc_11"), ("os", "Jammyy")):
            self.bad(GOOD.replace("set: {", f"set: {{{field}: {value}, ").replace("os: debian12, ", "" if field == "os" else "os: debian12, ")
                     .replace('  cuda: ["11.8.0"]\n', "" if field == "cuda" else '  cuda: ["11.8.0"]\n'), f'invalid {field} "{value}"')
            self.refused("suggest" if field not in ("compute", "compiler") else "explain",
                         *([f"--{field}", value] if field not in ("compute", "compiler") else [self.write(GOOD), f"{field}={value}"]), says=f'invalid {field} "{value}"')
        got = self.call("check", self.write(GOOD.replace("debian12", "jammyy")), code=1)
        self.assertIn("no fact knows os jammyy", got.stdout)
        self.assertEqual(got.stderr, "")
        self.bad(GOOD.replace('"11.8.0"', "cu118, cuda11.8"), 'cuda: "11.8" appears twice: first at 6:10')


class Nightlies(Cli):
    def test_a_nightly_build_is_unknown_and_says_why(self):
        got = self.call("check", self.write(NIGHTLY), code=1)
        self.assertAllIn(("no fact says whether torch 2.9.0.dev20250812+cu128 can be installed", "so that none can be pinned",
                          "torch 2.9.0+cu128, which it goes before, is accepted", "fix: torch 2.9.0+cu128", "1 unknown"), got.stdout)
        self.assertEqual([cell["id"] for cell in self.json_of("check", "matrix.yaml")["cells"]],
                         ["drv580.95.05-h100-torch2.9.0.dev20250812_cu128-py3.12-debian12"])

    def test_what_both_releases_around_it_refuse_it_refuses(self):
        got = self.call("check", self.write(NIGHTLY.replace("580.95.05", "470.161.03")), code=1)
        self.assertAllIn(("1 rejected", "(torch 2.9.0.dev20250812+cu128 is judged as 2.9.0)"), got.stdout)

    def test_none_is_rendered_nor_suggested(self):
        name = self.write(WAIVED)
        self.call("check", name, code=0)
        for command in (["render"], ["lock"]):
            got = self.call(*command, name)
            self.assertNotEqual(got.returncode, 0)
            self.assertEqual(" ".join((got.stdout + got.stderr).split()).count(REASON), 1, got.stdout + got.stderr)
        self.refused("suggest", "--torch", "2.9.0.dev20250812+cu128", says=(REASON, "ask for torch 2.9.0+cu128"))


if __name__ == "__main__":
    main()

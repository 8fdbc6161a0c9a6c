"""The command line as a user meets it: values as other tools write them. Usage: spelling_test.py CUDAMATRIX [unittest arguments]"""
from cli import GOOD, Cli, main

THEIRS = GOOD.replace('"11.8.0"', "cuda-11.8.0").replace("debian12", "bookworm").replace("[T4]", "[t4]")
NOTES = """matrix.yaml:5:9: note: "t4" is read as gpu T4
matrix.yaml:6:10: note: "cuda-11.8.0" is read as cuda 11.8.0
matrix.yaml:7:11: note: "bookworm" is read as os debian12
"""
SAID = 'cudamatrix: note: "{}" is read as {}\n'


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


if __name__ == "__main__":
    main()

"""The command line as a user meets it: help, exit codes, bad input. Usage: cli_test.py CUDAMATRIX [unittest arguments]"""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

PROGRAM = os.path.abspath(sys.argv.pop(1))
COMMANDS = ["check", "explain", "suggest", "lint", "list", "lock", "render", "build", "test", "run", "facts", "rules", "scan"]
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


def entry(kind, arch, flags=0x8011, isa=(9, 0)):
    """An entry of a fat binary: 1 PTX, 2 machine code, 8 link-time code; compressed, so that it counts as code."""
    return struct.pack("<HHIQIIHHIIIQQQ", kind, 0x101, 64, 8, 4, 0, isa[1], isa[0], arch, 0, 0, flags, 0, 0) + b"zzzz\0\0\0\0"


def container(*entries):
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def library(code, section=b".nv_fatbin"):
    """A shared library with one section of device code."""
    names = b"\0" + section + b"\0.shstrtab\0"
    table = (64 + len(code) + len(names) + 7) // 8 * 8
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, table, 0, 64, 0, 0, 64, 3, 2)
    sections = [(0, 0, 0, 0), (1, 1, 64, len(code)), (2 + len(section), 3, 64 + len(code), len(names))]
    rows = b"".join(struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, offset, size, 0, 0, 1, 0) for name, kind, offset, size in sections)
    return (header + code + names).ljust(table, b"\0") + rows


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

    def test_where_goes_with_prove_rejected_and_names_fields(self):
        name = self.write(GOOD)
        self.assertEqual(run("test", name, "--where", "cuda=11.8.0", cwd=self.dir).returncode, 2)
        for where, message in (("cudo=11", '--where: "cudo" is no field of a cell'), ("cuda", '--where: "cuda": FIELD=VALUE would be accepted'),
                               ("cuda=<x", "--where: cuda"), ("", "")):
            got = run("test", name, "--prove-rejected", "--where", where, "--engine", "host", cwd=self.dir)
            self.assertEqual(got.returncode, 2 if where else 1, got.stderr)
            self.assertIn(message, got.stderr)
        self.assertIn("no cell is rejected: nothing to prove", got.stdout)

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

    def test_suggest_prints_rows_that_check_judges_the_same(self):
        wish = ["suggest", "--gpu", "T4", "--driver", "470.161.03", "--torch", ">=1.12", "--python", "3.9", "--need", "transformers==4.27.4"]
        got = run(*wish, "--out", "found", "--format", "json", cwd=self.dir)
        self.assertEqual((got.returncode, got.stderr), (0, ""))
        document = json.loads(got.stdout)
        self.assertEqual((self.dir / "found" / "suggest.json").read_text(), got.stdout)
        judged = json.loads(run("check", "found/suggest.yaml", "--format", "json", cwd=self.dir).stdout)
        self.assertEqual([stack["verdict"] for stack in document["stacks"]], [cell["verdict"] for cell in judged["cells"]])
        self.assertEqual([stack["fields"] for stack in document["stacks"]], [cell["fields"] for cell in judged["cells"]])
        self.assertEqual(len(document["stacks"]), 5)
        text = run(*wish, "--limit", "1", cwd=self.dir)
        self.assertEqual(text.returncode, 0)
        self.assertIn(document["stacks"][0]["row"], text.stdout)

    def test_suggest_without_a_stack_is_1_and_says_what_conflicts(self):
        wish = ["suggest", "--gpu", "T4", "--driver", "470.161.03", "--torch", ">=2.8"]
        got = run(*wish, "--out", "found", cwd=self.dir)
        self.assertEqual((got.returncode, got.stderr), (1, ""))
        for needle in ("conflict: driver 470.161.03 and torch >=2.8", "driver-supports-cuda", "https://", "driver >= 525.60.13"):
            self.assertIn(needle, got.stdout)
        self.assertFalse((self.dir / "found" / "suggest.yaml").exists())
        document = json.loads(run(*wish, "--format", "json", cwd=self.dir).stdout)
        self.assertEqual(document["stacks"], [])
        self.assertEqual([conflict["demands"] for conflict in document["conflicts"]], [["driver 470.161.03", "torch >=2.8"]])

    def test_suggest_refuses_what_no_fact_knows(self):
        for arguments, needle in ((["--gpu", "T44"], "did you mean T4?"), (["--need", "transfomers"], "did you mean transformers?"),
                                  (["--torch", ">>1"], "torch"), ([], "nothing is asked for"), (["--gpu", "T4", "--limit", "0"], "limit")):
            with self.subTest(arguments):
                got = run("suggest", *arguments, cwd=self.dir)
                self.assertEqual((got.returncode, got.stdout), (2, ""))
                self.assertIn(needle, got.stderr)

    def test_explain_a_cell_an_exclude_and_a_rule(self):
        name = self.write(GOOD.replace('"11.8.0"', '"11.8.0", "12.4.1", "13.0.2"') + 'exclude: [{driver: "<550", cuda: ">=13"}]\n')
        good = run("explain", name, "--where", "driver=550,cuda=11.8", cwd=self.dir)
        self.assertEqual((good.returncode, good.stderr), (0, ""))
        for needle in ("runtime", "passed:", "driver-supports-cuda, whether driver 550.54.15 runs CUDA 11.8.0: yes", "not checked"):
            self.assertIn(needle, good.stdout)
        bad = run("explain", name, "--where", "driver=550,cuda=13", cwd=self.dir)
        self.assertEqual(bad.returncode, 1)
        for needle in ("is too old for CUDA 13.0.2", "https://", "nearest cells that work:", "instead of 13.0.2"):
            self.assertIn(needle, bad.stdout)
        document = json.loads(run("explain", name, "--where", "driver=550,cuda=13", "--format", "json", cwd=self.dir).stdout)
        by_id = run("explain", name, document["cells"][0]["id"], cwd=self.dir)
        self.assertEqual((by_id.returncode, by_id.stdout), (1, bad.stdout))
        left_out = run("explain", name, "--where", "driver=535,cuda=13", "--out", "why", cwd=self.dir)
        self.assertEqual(left_out.returncode, 1)
        self.assertIn("matrix.yaml:8:11: note: this exclude leaves it out", left_out.stdout)
        self.assertEqual((self.dir / "why" / "explain.txt").read_text(), left_out.stdout)
        rule = run("explain", "driver-supports-cuda", cwd=self.dir)
        self.assertEqual((rule.returncode, rule.stdout), (0, run("rules", "show", "driver-supports-cuda", cwd=self.dir).stdout))

    def test_explain_refuses_what_means_nothing(self):
        name = self.write(GOOD)
        for arguments, needle in (([name], "which cell?"), ([name, "drv535.183.01-t4-cu11.8.0-debian12"], "has no cell"),
                                  ([name, "--where", "cudda=11"], "did you mean cuda?"), (["driver-supports-cudda"], "driver-supports-cuda"),
                                  (["nowhere.yaml", "x"], "cannot read nowhere.yaml"), ([name, "x", "--where", "cuda=11"], "--where")):
            with self.subTest(arguments):
                got = run("explain", *arguments, cwd=self.dir)
                self.assertEqual((got.returncode, got.stdout), (2, ""))
                self.assertIn(needle, got.stderr)

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

    def test_scan_of_files_folders_and_wheels(self):
        code = container(entry(2, 75), entry(2, 90, 0x108011), entry(1, 90, isa=(8, 4)))
        (self.dir / "env").mkdir()
        (self.dir / "env" / "lib.so").write_bytes(library(code))
        (self.dir / "env" / "note.txt").write_text("text")
        with zipfile.ZipFile(self.dir / "a.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
            wheel.writestr("pkg/lib.so", library(code))
            wheel.writestr("pkg/__init__.py", "import os\n")
        for target, path in (("env/lib.so", "env/lib.so"), ("env", "lib.so"), ("a.whl", "pkg/lib.so")):
            with self.subTest(target):
                got = run("scan", target, "--format", "json", cwd=self.dir)
                self.assertEqual((got.returncode, got.stderr), (0, ""))
                (found,) = json.loads(got.stdout)["libraries"]
                self.assertEqual((found["path"], found["entries"], found["sass"], found["ptx"], found["bytes"]), (path, 3, ["7.5", "9.0a"], ["9.0"], 24))
        asked = ["--gpu", "T4,H100", "--compute", "12.0", "--driver", "535.183.01,550.54.15"]
        got = run("scan", "env", "a.whl", *asked, "--format", "json", "--out", "reports", cwd=self.dir)
        self.assertEqual(got.returncode, 1, got.stderr)
        document = json.loads(got.stdout)
        self.assertEqual((self.dir / "reports" / "scan.json").read_text(), got.stdout)
        roads = [answer["road"] for answer in document["libraries"][0]["answers"]]
        self.assertEqual(roads, ["sass", "sass", "sass", "sass", "none", "ptx_jit"])
        (finding, again) = document["findings"]
        self.assertEqual((finding["rule"], finding["stage"], finding["severity"], finding["library"]), ("library-has-code-for-gpu", "runtime", "error", "lib.so"))
        self.assertIn("ptx 9.0 is PTX ISA 8.4, the driver knows up to 8.2", finding["message"])
        self.assertEqual((again["target"], again["library"]), ("a.whl", "pkg/lib.so"))
        self.assertEqual(run("scan", "env", "--gpu", "T4", cwd=self.dir).returncode, 0)

    def test_scan_looks_everywhere_before_it_says_that_code_is_missing(self):
        hidden = library(container(entry(2, 75)), b".ldata")
        (self.dir / "hidden.so").write_bytes(hidden)
        self.assertIn("no device code", run("scan", "hidden.so", cwd=self.dir).stdout)
        self.assertIn("sass 7.5", run("scan", "hidden.so", "--deep", cwd=self.dir).stdout)
        both = library(container(entry(2, 75))) + container(entry(2, 100))
        (self.dir / "both.so").write_bytes(both)
        self.assertNotIn("10.0", run("scan", "both.so", cwd=self.dir).stdout)
        got = run("scan", "both.so", "--compute", "10.0", cwd=self.dir)
        self.assertEqual(got.returncode, 0, got.stdout)
        self.assertIn("sass 10.0", got.stdout)

    def test_scan_of_what_is_none(self):
        (self.dir / "text").write_text("hello, world")
        (self.dir / "cut.so").write_bytes(library(container(entry(2, 75)))[:-1])
        (self.dir / "no.whl").write_text("no zip")
        for arguments, needle in ((["nowhere"], "cannot read nowhere"), (["text"], "neither an ELF file"), (["cut.so"], "lies outside the file"),
                                  (["no.whl"], "no.whl"), (["nowhere.whl"], "cannot read nowhere.whl"), (["text", "--gpu", "T5"], "no fact knows this GPU"), (["text", "--compute", "75"], "7.5"),
                                  (["text", "--driver", "535"], "--gpu"), (["text", "--gpu", "T4", "--driver", "new"], "535"), ([], "TARGET")):
            with self.subTest(arguments):
                got = run("scan", *arguments, cwd=self.dir)
                self.assertEqual((got.returncode, got.stdout), (2, ""))
                self.assertIn(needle, got.stderr)

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

"""The command line as a user meets it: help, exit codes, bad input. Usage: cli_test.py CUDAMATRIX [unittest arguments]"""
import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import zipfile

PROGRAM = os.path.abspath(sys.argv.pop(1))
COMMANDS = ["check", "explain", "suggest", "lint", "list", "lock", "render", "build", "test", "run", "facts", "rules", "templates", "scan", "schema"]
GOOD = """version: 1
name: good
axes:
  driver: ["535.183.01", "550.54.15"]
  gpu: [T4]
  cuda: ["11.8.0"]
set: {os: debian12, family: debian}
"""
# Two images, the first for two cells, the second for two.
NEWER = GOOD.replace('"535.183.01", "550.54.15"', '"580.65.06", "580.95.05"')
TWO = NEWER.replace('"11.8.0"', '"11.8.0", "13.4.3"')

# What searching and judging say of their progress after two seconds: how much of it there is depends on the machine.
PROGRESS = re.compile(r"^\d+(?: of \d+)? (?:values tried|cells judged|rules asked|tables counted)\n", re.MULTILINE)


def run(*arguments, cwd=None, env=None):
    """Runs the program to its end; stderr comes without lines of progress."""
    got = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, cwd=cwd, env=env, timeout=120, stdin=subprocess.DEVNULL)
    got.stderr = PROGRESS.sub("", got.stderr)
    return got


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
        for where, message in (("cudo=11", '--where: unknown field "cudo"'), ("cuda", '--where: "cuda": expected FIELD=VALUE'),
                               ("cuda=<x", "--where: invalid cuda"), ("", "")):
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

    def test_schema_is_the_one_that_is_published(self):
        got = run("schema")
        self.assertEqual((got.returncode, got.stderr), (0, ""))
        self.assertEqual(got.stdout, (pathlib.Path(__file__).parents[2] / "matrix" / "schema.json").read_text())
        self.assertEqual(json.loads(got.stdout)["required"], ["version"])

    def test_wrong_usage_is_2(self):
        for arguments in (["chekc"], ["check"], ["check", "m.yaml", "--format", "xml"], ["check", "m.yaml", "--on", "yesterday"],
                          ["run", "m.yaml", "--engine", "lxc"], ["--frobnicate"]):
            with self.subTest(arguments):
                got = run(*arguments, cwd=self.dir)
                self.assertEqual((got.returncode, got.stdout), (2, ""))
                self.assertTrue(got.stderr)

    def test_what_update_moves_stands_after_an_equals_sign(self):
        got = run("lock", "--update", "images", "m.yaml", cwd=self.dir)
        self.assertEqual((got.returncode, got.stdout), (2, ""))
        self.assertTrue(got.stderr.endswith("--update takes its value after '=': --update=images\n"))
        for arguments in (["lock", "images", "m.yaml"], ["check", "a.yaml", "b.yaml"], ["lock", "--update=images"]):
            self.assertNotIn("equals sign", run(*arguments, cwd=self.dir).stderr)

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

    def test_lint_says_that_it_looks_at_each_cell(self):
        axes = "".join(f"  {name}: {json.dumps(values)}\n" for name, values in (
            ("driver", [f"550.{i}.15" for i in range(60)]), ("cuda", [f"12.{i}" for i in range(10)]),
            ("python", [f"3.{i}" for i in range(7, 15)]), ("vram_gb", [str(i) for i in range(1, 41)])))
        name = self.write("version: 1\nname: large\naxes:\n" + axes)
        large = run("lint", name, cwd=self.dir)
        self.assertEqual((large.returncode, large.stdout), (2, ""))
        for needle in ("192000 cells", "at most 100000 are judged one by one", "check --summary"):
            self.assertIn(needle, large.stderr)

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

    def test_packages_of_a_day_that_is_still_to_come_are_refused(self):
        name = self.write(GOOD + "build: {snapshot: 9999-12-31}\n")
        for command in ("lock", "render", "build", "run"):
            got = run(command, name, cwd=self.dir)
            self.assertEqual((got.returncode, got.stdout), (2, ""))
            today = datetime.datetime.now(datetime.timezone.utc).date()
            self.assertEqual(got.stderr, f"""matrix.yaml:8:19: error: snapshot: 9999-12-31 is still to come: today is {today}
  8 | build: {{snapshot: 9999-12-31}}
    |                   ^~~~~~~~~~
  fix: choose a day that has been
""")
            self.assertEqual([p.name for p in self.dir.iterdir()], [name])
        self.write(GOOD + f"build: {{snapshot: {today}}}\n")
        self.assertEqual(run("render", name, cwd=self.dir).returncode, 0)

    def tree(self, name, hidden=True):
        root = self.dir / name
        return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file() and (hidden or not p.name.startswith("."))}

    def test_the_same_bytes_in_every_locale_time_zone_and_folder(self):
        self.write(TWO.replace("[T4]", "[T4, L4]"))
        elsewhere = self.dir / "else where"
        elsewhere.mkdir()
        shutil.copy(self.dir / "matrix.yaml", elsewhere)
        trees = []
        for locale in ("C", "de_DE.UTF-8", "tr_TR.UTF-8"):
            for zone in ("UTC", "Asia/Tokyo", "America/St_Johns"):
                for folder in (self.dir, elsewhere):
                    env = dict(os.environ, LC_ALL=locale, LANG=locale, TZ=zone)
                    got = run("render", "matrix.yaml", "--out", "same", cwd=folder, env=env)
                    self.assertEqual(got.returncode, 0, got.stderr)
                    trees.append(self.tree(folder / "same"))
                    shutil.rmtree(folder / "same")
        self.assertEqual(len(trees), 18)
        self.assertGreater(len(trees[0]), 10)
        for tree in trees[1:]:
            self.assertEqual(tree, trees[0])

    def test_what_has_not_changed_is_not_written(self):
        name = self.write(GOOD)
        run("render", name, "--out", "o", cwd=self.dir)
        times = {p: p.stat().st_mtime_ns for p in [self.dir / "o", *(self.dir / "o").rglob("*")]}
        got = run("render", name, "--out", "o", cwd=self.dir)
        self.assertRegex(got.stderr, r"rendered 1 image into o: 0 written, \d+ unchanged\n")
        self.assertEqual({p: p.stat().st_mtime_ns for p in [self.dir / "o", *(self.dir / "o").rglob("*")]}, times)

    def test_render_check_prints_a_diff_and_the_command_that_fixes_it(self):
        name = self.write(TWO)
        out = ["--out", "o u t"]
        missing = run("render", name, *out, "--check", cwd=self.dir)
        self.assertEqual(missing.returncode, 1, missing.stderr)
        self.assertIn("--- /dev/null\n+++ b/compose.yaml\n@@ -0,0 +1,", missing.stdout)
        self.assertFalse((self.dir / "o u t").exists())
        self.assertEqual(run("render", name, *out, cwd=self.dir).returncode, 0)
        clean = run("render", name, *out, "--check", cwd=self.dir)
        self.assertEqual(clean.returncode, 0, clean.stdout)
        self.assertRegex(clean.stdout, r"^good: \d+ files in o u t, all up to date\n$")

        image = next(p for p in (self.dir / "o u t" / "images").iterdir() if "11.8" in p.name)
        dockerfile = image / "Dockerfile"
        dockerfile.write_text(dockerfile.read_text().replace("USER 65532:65532\n", "USER root\n"))
        self.write(NEWER)
        before = self.tree("o u t")
        drift = run("render", name, *out, "--check", cwd=self.dir)
        self.assertEqual(drift.returncode, 1)
        self.assertIn("\n-USER root\n+USER 65532:65532\n CMD [", drift.stdout)
        self.assertRegex(drift.stdout, r"\norphan     images/debian12-cu13.4.3/Dockerfile: it belongs to no cell any more\n")
        self.assertEqual(self.tree("o u t"), before)
        document = json.loads(run("render", name, *out, "--check", "--format", "json", cwd=self.dir).stdout)
        kinds = {entry["path"]: entry["kind"] for entry in document["drift"]}
        self.assertEqual(kinds[f"images/{image.name}/Dockerfile"], "changed")
        self.assertEqual(kinds["images/debian12-cu13.4.3/requirements-cuda.txt"], "orphan")

        # Without --prune the orphans stay and are named; the command of the report takes them away.
        kept = run("render", name, *out, cwd=self.dir)
        self.assertIn("images/debian12-cu13.4.3/Dockerfile", kept.stderr)
        self.assertTrue((self.dir / "o u t" / "images/debian12-cu13.4.3/Dockerfile").exists())
        (self.dir / "o u t" / "mine.txt").write_text("mine")
        drift = run("render", name, *out, "--check", cwd=self.dir)
        mend = shlex.split(drift.stdout.split("\nfix: ")[1])
        self.assertEqual(mend, ["cudamatrix", "render", name, "--out", "o u t", "--prune"])
        self.assertEqual(run(*mend[1:], cwd=self.dir).returncode, 0)
        self.assertEqual(run("render", name, *out, "--check", cwd=self.dir).returncode, 0)
        self.assertFalse((self.dir / "o u t" / "images/debian12-cu13.4.3").exists())
        self.assertEqual((self.dir / "o u t" / "mine.txt").read_text(), "mine")

    def test_the_command_that_fixes_a_render_says_everything_that_was_said(self):
        name = self.write(TWO)
        (self.dir / "site.pem").write_text("")
        said = ["--override", "os=debian13", "--override", "cuda=12.4.1", "--network", "host", "--ca-bundle", "site.pem", "--out", "o"]
        drift = run("render", name, *said, "--check", cwd=self.dir)
        mend = shlex.split(drift.stdout.split("\nfix: ")[1])
        self.assertEqual(mend, ["cudamatrix", "render", name, *said])
        self.assertEqual(run(*mend[1:], cwd=self.dir).returncode, 0)
        clean = run("render", name, *said, "--check", cwd=self.dir)
        self.assertEqual(clean.returncode, 0, clean.stdout)
        self.assertEqual(run("render", name, "--out", "o", "--check", cwd=self.dir).returncode, 1)

    def test_a_ca_bundle_beside_the_matrix_is_the_same_in_every_checkout(self):
        mirror = 'mirrors: {debian: "https://apt.example.org/debian"}\n'
        trees = []
        for folder in ("one", "another/place"):
            (self.dir / folder).mkdir(parents=True)
            (self.dir / folder / "m.yaml").write_text(GOOD + "build: {network: host, ca_bundle: certs/site.pem}\n" + mirror)
            self.assertEqual(run("render", "m.yaml", "--out", "gpu/out", cwd=self.dir / folder).returncode, 0)
            trees.append(self.tree(folder + "/gpu/out"))
        self.assertEqual(trees[0], trees[1])
        dockerfile = next((self.dir / "one/gpu/out/images").glob("*/Dockerfile")).read_text()
        self.assertIn("--secret=id=ca,src=../../../../certs/site.pem ", dockerfile)
        line = next(l for l in dockerfile.splitlines() if "mmdebstrap" in l and "CAInfo" in l).lstrip("# ")
        words = subprocess.run(["sh", "-c", f"for w in {line.split('mmdebstrap ', 1)[1]}; do printf '%s\\n' \"$w\"; done"], capture_output=True, text=True,
                               cwd=self.dir).stdout.splitlines()
        self.assertIn(f'--aptopt=Acquire::https::CAInfo "{self.dir}/../../../../certs/site.pem"', words)
        self.assertIn('file: "../../certs/site.pem"', (self.dir / "one/gpu/out/compose.yaml").read_text())

    def test_the_diff_of_render_check_is_one_that_patch_takes(self):
        if not shutil.which("git"):
            self.skipTest("git is not on PATH")
        name = self.write(NEWER)
        run("render", name, "--out", "o", cwd=self.dir)
        self.write(TWO.replace("name: good", "name: better"))
        drift = run("render", name, "--out", "o", "--check", cwd=self.dir)
        self.assertEqual(drift.returncode, 1)
        env = dict(os.environ, GIT_CEILING_DIRECTORIES=str(self.dir))
        patched = subprocess.run(["git", "apply", "-p1", "-"], input=drift.stdout, text=True, cwd=self.dir / "o", env=env, capture_output=True)
        self.assertEqual(patched.returncode, 0, patched.stderr)
        again = run("render", name, "--out", "o", "--check", cwd=self.dir)
        self.assertEqual(again.returncode, 0, again.stdout)

    def test_what_is_not_ours_is_told_and_never_touched(self):
        name = self.write(GOOD)
        (self.dir / "o").mkdir()
        (self.dir / "o" / "compose.yaml").write_text("services: {mine: {}}\n")
        drift = run("render", name, "--out", "o", "--check", cwd=self.dir)
        self.assertEqual(drift.returncode, 1)
        self.assertIn("foreign    compose.yaml: cudamatrix did not write it; move it away\n", drift.stdout)
        self.assertIn("fix: move foreign and edited files away, then cudamatrix render", drift.stdout)
        for extra in ([], ["--prune"]):
            refused = run("render", name, "--out", "o", *extra, cwd=self.dir)
            self.assertEqual((refused.returncode, refused.stdout), (3, ""))
            self.assertEqual([p.name for p in (self.dir / "o").iterdir()], ["compose.yaml"])

    def test_services_become_compose_files_and_are_judged(self):
        good = GOOD.replace('cuda: ["11.8.0"]', 'torch: ["2.6.0+cu124"]').replace("family: debian", 'family: debian, python: "3.11"') + """services:
  - name: trainer
    gpu: 1
    capabilities: [compute, utility]
    shm_size: 8g
    volumes: ["cache:/cache", "./data:/data:ro"]
    environment: {PYTORCH_CUDA_ALLOC_CONF: "expandable_segments:True"}
"""
        name = self.write(good)
        self.assertEqual(run("render", name, "--out", "out/o", cwd=self.dir).returncode, 0)
        plain, gpu, cdi = ((self.dir / "out/o" / f"compose{part}.yaml").read_text() for part in ("", ".gpu", ".cdi"))
        for text in ('  "trainer":\n', '    shm_size: "8g"\n', '        source: "../../data"\n        target: "/data"\n        read_only: true\n',
                     '      "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"\n', 'volumes:\n  "cache": {}\n'):
            self.assertIn(text, plain)
        self.assertNotIn("nvidia", plain.split("services:")[1])
        self.assertIn('count: "1"\n              capabilities:\n                - gpu\n                - "compute"\n', gpu)
        self.assertIn('      - "nvidia.com/gpu=0"\n', cdi)
        self.assertEqual(run("render", name, "--out", "out/o", "--check", cwd=self.dir).returncode, 0)
        line = run("render", name, "--out", "out/o", "--explain", "compose.cdi.yaml:1", cwd=self.dir).stdout.splitlines()[1]
        self.assertEqual(line, "  templates/compose.cdi.yaml.mustache:2")
        # torch 2.0 stops at that setting; no GPU has that capability.
        for old, new, where, said in (("2.6.0+cu124", "2.0.1+cu118", "14:19", "torch 2.0.1 stops at the option expandable_segments"),
                                      ("compute, utility", "computer", "11:20", "a GPU cannot be reserved with computer")):
            with self.subTest(said):
                name = self.write(good.replace(old, new))
                got = run("check", name, cwd=self.dir)
                self.assertEqual(got.returncode, 1)
                self.assertIn(f"{name}:{where}: error: services: trainer: ", got.stdout)
                self.assertIn(said, got.stdout)
                refused = run("render", name, "--out", "none", cwd=self.dir)
                self.assertEqual((refused.returncode, refused.stdout), (2, ""))
                self.assertIn(said, refused.stderr)
                self.assertFalse((self.dir / "none").exists())

    def test_kill_during_render_leaves_the_old_tree_or_the_new_one(self):
        old = NEWER
        new = NEWER.replace('"11.8.0"', '"11.8.0", "13.0.3", "13.4.3"').replace("family: debian", "family: debian, env: {HF_HOME: /cache}")
        name = self.write(old)
        run("render", name, "--out", "old", cwd=self.dir)
        trees = {"old": self.tree("old", hidden=False)}
        self.write(new)
        shutil.copytree(self.dir / "old", self.dir / "o")
        start = time.monotonic()
        run("render", name, "--out", "o", "--prune", cwd=self.dir)
        whole = time.monotonic() - start
        trees["new"] = self.tree("o", hidden=False)
        self.assertNotEqual(trees["old"], trees["new"])
        seen = {"old": 0, "new": 0, "mixture": 0, "unfinished": 0}
        chance = random.Random(7)
        for _ in range(60):
            shutil.rmtree(self.dir / "o")
            shutil.copytree(self.dir / "old", self.dir / "o")
            child = subprocess.Popen([PROGRAM, "render", name, "--out", "o", "--prune"], cwd=self.dir, stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL)
            time.sleep(whole * chance.uniform(0.5, 1.1))
            number = chance.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
            for _ in range(2):  # SIGINT and SIGTERM end it without manners the second time
                child.send_signal(number)
            child.communicate(timeout=60)
            if (self.dir / "o" / ".cudamatrix-ready").exists():
                seen["unfinished"] += 1
                run("render", name, "--out", "o", "--prune", cwd=self.dir)
                self.assertFalse((self.dir / "o" / ".cudamatrix-ready").exists())
            # What was only staged is rubbish of the next render.
            tree = {path: text for path, text in self.tree("o", hidden=False).items() if not path.startswith(".cudamatrix-stage/")}
            seen[next((key for key, value in trees.items() if value == tree), "mixture")] += 1
        print(f"60 renders killed: {seen}", file=sys.stderr)
        self.assertEqual(seen["mixture"], 0)
        self.assertGreater(seen["old"] + seen["new"], 0)

    def test_explain_names_the_template_behind_a_line(self):
        name = self.write(GOOD)
        run("render", name, "--out", "o", cwd=self.dir)
        dockerfile = next((self.dir / "o").rglob("Dockerfile"))
        relative = str(dockerfile.relative_to(self.dir / "o"))
        lines = dockerfile.read_text().splitlines()
        update = next(i for i, line in enumerate(lines, 1) if "apt-get update" in line)
        got = run("render", name, "--out", "o", "--explain", f"{relative}:{update}", cwd=self.dir)
        self.assertEqual((got.returncode, got.stderr), (0, ""))
        self.assertTrue(got.stdout.startswith(f"{relative}:{update}: {lines[update - 1]}\n  templates/partials/apt_update.mustache:1\n"
                                              "  through templates/partials/apt_install.mustache:1\n"), got.stdout)
        document = json.loads(run("render", name, "--out", "o", "--explain", "o/" + relative, "--format", "json", cwd=self.dir).stdout)
        self.assertEqual([line["text"] for line in document["lines"]], lines)
        # Every line that holds no value stands word for word where the origin says.
        own = pathlib.Path(self.dir / "t" / "debian")
        own.mkdir(parents=True)
        text = run("templates", "show", "debian/Dockerfile.mustache").stdout
        (own / "Dockerfile.mustache").write_text("{{! mine }}\n" + text)
        document = json.loads(run("render", name, "--templates", "t", "--explain", relative, "--format", "json", cwd=self.dir).stdout)
        mine = [line for line in document["lines"] if line["template"]["file"] == "t/debian/Dockerfile.mustache"]
        source = (own / "Dockerfile.mustache").read_text().splitlines()
        same = [line for line in mine if source[line["template"]["line"] - 1] == line["text"]]
        self.assertGreater(len(same), 5)
        for line in mine:
            if "{{" not in source[line["template"]["line"] - 1]:
                self.assertEqual(source[line["template"]["line"] - 1], line["text"])
        for file, needle in ((relative + ":9999", "lines, not 9999"), ("index.json", "comes from no template"), (relative + "x", "did you mean"),
                             ("images/nothing/Dockerfile:1", "gives no file")):
            bad = run("render", name, "--explain", file, cwd=self.dir)
            self.assertEqual((bad.returncode, bad.stdout), (2, ""), file)
            self.assertIn(needle, bad.stderr)
        self.assertEqual(run("render", name, "--explain", "compose.yaml:1", cwd=self.dir).stdout.splitlines()[1], "  templates/compose.yaml.mustache:2")

    def test_templates_list_show_check(self):
        listed = json.loads(run("templates", "list", "--format", "json").stdout)
        self.assertEqual(listed["count"], len(listed["templates"]))
        self.assertTrue(all(not t["overridden"] for t in listed["templates"]))
        self.assertRegex(run("templates", "check").stdout, r"^\d+ templates, 0 overridden, \d+ files filled from a sample, 0 mistakes\n$")
        own = self.dir / "t"
        (own / "partials").mkdir(parents=True)
        (own / "debian").mkdir()
        clean = run("templates", "show", "partials/apt_clean.mustache").stdout
        (own / "partials/apt_clean.mustache").write_text(clean)
        self.assertIn("1 overridden", run("templates", "list", "--templates", "t", cwd=self.dir).stdout)
        self.assertEqual(run("templates", "check", "--templates", "t", cwd=self.dir).returncode, 0)
        dockerfile = run("templates", "show", "debian/Dockerfile.mustache").stdout
        (own / "debian/Dockerfile.mustache").write_text(dockerfile.replace("{{ workdir | arg }}", "{{ workdirr | arg }}")
                                                         .replace("{{ path | env }}", "{{ path }}"))
        bad = run("templates", "check", "--templates", "t", cwd=self.dir)
        self.assertEqual((bad.returncode, bad.stdout), (2, ""))
        self.assertRegex(bad.stderr, r"t/debian/Dockerfile.mustache:\d+:10: error: \{\{ path \}\} names no context")
        (own / "debian/Dockerfile.mustache").write_text(dockerfile.replace("{{ workdir | arg }}", "{{ workdirr | arg }}")
                                                         .replace("{{ user.name | arg }} {{ w", "{{ user.nam | arg }} {{ w"))
        (own / "debian/Dockerfil.mustache").write_text("x")
        bad = run("templates", "check", "--templates", "t", cwd=self.dir)
        for needle in ("there is no value workdirr", "did you mean workdir?", "there is no value user.nam", "did you mean user.name?",
                       "t/debian/Dockerfil.mustache replaces no template of ours", "did you mean debian/Dockerfile.mustache?"):
            self.assertIn(needle, bad.stderr)
        self.assertEqual(bad.stderr.count("error: "), 3, bad.stderr)
        missing = run("templates", "show", "debian/Dockerfil.mustache")
        self.assertEqual((missing.returncode, missing.stdout), (2, ""))
        self.assertIn("did you mean debian/Dockerfile.mustache?", missing.stderr)
        self.assertEqual(run("templates", "check", "--templates", "nowhere", cwd=self.dir).returncode, 2)

    def test_a_folder_of_templates_brings_partials_of_its_own(self):
        name = self.write(GOOD)
        own = self.dir / "t"
        (own / "partials").mkdir(parents=True)
        clean = run("templates", "show", "partials/apt_clean.mustache").stdout
        (own / "partials/apt_clean.mustache").write_text("{{> my_note }}\n" + clean)
        (own / "partials/my_note.mustache").write_text("    # one note\n    # and another\n")
        with_own = ("--templates", "t")
        listed = run("templates", "list", *with_own, cwd=self.dir).stdout.splitlines()
        line = next(line for line in listed if " partials/my_note.mustache " in line)
        self.assertTrue(line.endswith(" t/partials/my_note.mustache, included by partials/apt_clean.mustache"), line)
        self.assertRegex(listed[-1], r"^\d+ templates, 1 overridden, 1 added$")
        document = json.loads(run("templates", "list", "--format", "json", *with_own, cwd=self.dir).stdout)
        mine = next(one for one in document["templates"] if one["name"] == "partials/my_note.mustache")
        self.assertEqual(mine, {"name": "partials/my_note.mustache", "family": "", "overridden": False, "added": True,
                                "included_by": ["partials/apt_clean.mustache"], "file": "t/partials/my_note.mustache"})
        shown = run("templates", "show", "partials/my_note.mustache", *with_own, cwd=self.dir)
        self.assertEqual((shown.returncode, shown.stdout), (0, "    # one note\n    # and another\n"))
        self.assertIn(", 1 overridden, 1 added, ", run("templates", "check", *with_own, cwd=self.dir).stdout)
        self.assertEqual(run("render", name, "--out", "o", *with_own, cwd=self.dir).returncode, 0)
        dockerfile = next((self.dir / "o").rglob("Dockerfile"))
        relative = str(dockerfile.relative_to(self.dir / "o"))
        at = dockerfile.read_text().splitlines().index("    # and another") + 1
        explained = run("render", name, "--out", "o", *with_own, "--explain", f"{relative}:{at}", cwd=self.dir).stdout.splitlines()
        self.assertEqual(explained[1:3], ["  t/partials/my_note.mustache:2", "  through t/partials/apt_clean.mustache:1"])
        # A change of it is a change of the image; without what includes it, it is a typing error.
        before = json.loads((self.dir / "o/index.json").read_text())
        (own / "partials/my_note.mustache").write_text("    # another note\n")
        self.assertEqual(run("render", name, "--out", "o", "--check", *with_own, cwd=self.dir).returncode, 1)
        run("render", name, "--out", "o", *with_own, cwd=self.dir)
        after = json.loads((self.dir / "o/index.json").read_text())
        self.assertNotEqual(before["templates"], after["templates"])
        self.assertNotEqual(before["images"][0]["inputs"], after["images"][0]["inputs"])
        (own / "partials/apt_clean.mustache").unlink()
        for command in (("render", name, "--out", "o"), ("templates", "list"), ("templates", "show", "partials/my_note.mustache"), ("templates", "check")):
            bad = run(*command, *with_own, cwd=self.dir)
            self.assertEqual((bad.returncode, bad.stdout), (2, ""), command)
            self.assertEqual(bad.stderr, "cudamatrix: error: t/partials/my_note.mustache replaces no template of ours, and no template includes it\n", command)
        self.assertEqual(json.loads((self.dir / "o/index.json").read_text()), after)

    def test_list_images_shows_which_cells_share_one(self):
        name = self.write(TWO)
        got = run("list", name, "--images", "--out", "reports", cwd=self.dir)
        self.assertEqual((got.returncode, got.stderr), (0, ""))
        self.assertTrue(got.stdout.startswith("debian12-cu11.8.0 (2 cells)\n  drv580.65.06-t4-cu11.8.0-debian12-debian\n"
                                              "  drv580.95.05-t4-cu11.8.0-debian12-debian\n"), got.stdout)
        self.assertEqual((self.dir / "reports" / "list-images.txt").read_text(), got.stdout)
        document = json.loads(run("list", name, "--images", "--format", "json", cwd=self.dir).stdout)
        run("render", name, "--out", "o", cwd=self.dir)
        index = json.loads((self.dir / "o" / "index.json").read_text())
        self.assertEqual([(i["id"], i["cells"]) for i in document["images"]], [(i["id"], i["cells"]) for i in index["images"]])
        include = json.loads(run("list", name, "--images", "--format", "github-matrix", cwd=self.dir).stdout)["include"]
        self.assertEqual(include[0]["cells"], "drv580.65.06-t4-cu11.8.0-debian12-debian drv580.95.05-t4-cu11.8.0-debian12-debian")
        self.write(GOOD.replace("debian12", "windows"))
        refused = run("list", name, "--images", cwd=self.dir)
        self.assertIn("0 images for 0 of 2 cells", refused.stdout)

    def test_facts_show(self):
        got = run("facts", "show", "driver-r470")
        self.assertEqual(got.returncode, 0)
        self.assertIn("470", got.stdout)
        self.assertRegex(got.stdout, r"\n  source +github:")
        missing = run("facts", "show", "driver-r47")
        self.assertEqual((missing.returncode, missing.stdout), (2, ""))
        self.assertIn("driver-r470", missing.stderr)

    def test_facts_list_search_check(self):
        tables = json.loads(run("facts", "list", "--format", "json").stdout)["tables"]
        self.assertTrue(all(t["rows"] == t["measured"] + t["read"] + t["unverified"] and t["columns"] for t in tables))
        self.assertIn("gpu-t4", run("facts", "search", "t4", "7.5").stdout)
        self.assertEqual(run("facts", "search", "no-such-word").returncode, 1)
        self.assertRegex(run("facts", "check").stdout, r"\d+ rows in \d+ tables, \d+ unverified, \d+ older than 180 days, 0 mistakes\n$")
        self.write("table: gpus\nas_of: \"2026-01-01\"\nrows:\n  - {id: gpu-x}\n", "own.yaml")
        bad = run("facts", "check", "--facts", str(self.dir))
        self.assertEqual((bad.returncode, bad.stdout), (2, ""))
        self.assertIn("own.yaml:4:", bad.stderr)

    def test_old_facts_are_warned_of(self):
        name = self.write(GOOD)
        got = run("check", name, "--on", "2035-01-01", "--format", "json", cwd=self.dir)
        self.assertRegex(got.stderr, r"warning: facts are \d+ days old, as of 20")
        self.assertIn("days old", json.loads(got.stdout)["facts"]["warning"])
        (self.dir / "newer").mkdir()
        (self.dir / "newer" / "pythons.yaml").write_text('table: pythons\nas_of: "2034-12-30"\nrows:\n  - {id: python-3.10, python: "3.10", eol: "2026-10", source: "https://example.org/", confidence: read}\n')
        self.assertIn("days old", run("check", name, "--on", "2035-01-01", "--facts", str(self.dir / "newer"), cwd=self.dir).stderr)
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

    def test_scan_of_images(self):
        def layer(*members):
            out = io.BytesIO()
            with tarfile.open(fileobj=out, mode="w") as tar:
                for path, content in members:
                    info = tarfile.TarInfo(path)
                    info.size = len(content)
                    tar.addfile(info, io.BytesIO(content))
            return out.getvalue()
        layers = [layer(("usr/lib/a.so", library(container(entry(2, 75)))), ("usr/lib/b.so", library(container(entry(2, 80))))),
                  layer(("usr/lib/.wh.a.so", b""))]
        manifest = json.dumps([{"Config": "c.json", "RepoTags": ["a:1"], "Layers": ["0/layer.tar", "1/layer.tar"]}]).encode()
        saved = layer(("0/layer.tar", layers[0]), ("1/layer.tar", layers[1]), ("manifest.json", manifest))
        (self.dir / "image.tar").write_bytes(saved)
        (self.dir / "docker").write_text("#!/bin/sh\n[ \"$1 $2 $3\" = 'image save a:1' ] || { echo no such image >&2; exit 1; }\nexec /bin/cat image.tar\n")
        (self.dir / "docker").chmod(0o755)
        # A docker of the system is found beside PATH too: it has no daemon here.
        env = dict(os.environ, PATH=str(self.dir), DOCKER_HOST=f"unix://{self.dir}/no.sock")
        for target in ("image.tar", "docker:a:1"):
            with self.subTest(target):
                got = run("scan", target, "--gpu", "T4", "--format", "json", cwd=self.dir, env=env)
                self.assertEqual(got.returncode, 1, got.stderr)
                document = json.loads(got.stdout)
                (found,) = document["libraries"]
                self.assertEqual((found["path"], found["sass"]), ("usr/lib/b.so", ["8.0"]))
                self.assertEqual((document["targets"][0]["kind"], document["targets"][0]["files"]), ("image", 2))
                self.assertEqual(document["targets"][0]["notes"], ["2 layers", "1 file with device code replaced or removed by later layers"])
        (self.dir / "cut.tar").write_bytes(saved[:3000])
        self.write(GOOD)
        for code, arguments, needle in ((3, ["docker:b"], "no such image"), (3, ["podman:a"], "podman:a: no program podman on PATH"), (2, ["cut.tar"], "cut off"),
                                        (2, ["docker:--output=x"], "is not an image name"), (2, ["matrix.yaml", "--cell", "drv1"], "has no such cell"),
                                        (2, ["matrix.yaml", "a", "--cell", "x"], "several targets"), (2, ["image.tar", "--cell", "x"], "image.tar"),
                                        (3, ["matrix.yaml", "--cell", "drv535.183.01-t4-cu11.8.0-debian12-debian"], "engine docker")):
            with self.subTest(arguments):
                got = run("scan", *arguments, cwd=self.dir, env=env)
                self.assertEqual((got.returncode, got.stdout), (code, ""), got.stderr)
                self.assertIn(needle, got.stderr)

    def test_scan_of_an_image_in_a_registry(self):
        def layer(*members):
            out = io.BytesIO()
            with tarfile.open(fileobj=out, mode="w:gz") as tar:
                for path, content in members:
                    info = tarfile.TarInfo(path)
                    info.size = len(content)
                    tar.addfile(info, io.BytesIO(content))
            return out.getvalue()
        def put(content, name=None):
            digest = hashlib.sha256(content).hexdigest()
            path = self.dir / "store" / "cuda" / ("manifests" if name else "blobs") / (name or digest)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            return {"digest": "sha256:" + digest, "size": len(content)}
        layers = [layer(("usr/lib/a.so", library(container(entry(2, 75)))), ("usr/lib/b.so", library(container(entry(2, 80))))), layer(("usr/lib/.wh.a.so", b""))]
        blobs = [{"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", **put(each)} for each in layers]
        config = {"mediaType": "application/vnd.oci.image.config.v1+json", **put(b'{"os":"linux","architecture":"amd64"}')}
        image = json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config, "layers": [*blobs, blobs[1]]}).encode()
        index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
                 "manifests": [{"mediaType": "application/vnd.oci.image.manifest.v1+json", **put(image, "single"), "platform": {"os": "linux", "architecture": "amd64"}}]}
        put(json.dumps(index).encode(), "12.4")
        host = self.serve(self.dir / "store", "registry_server.py").removeprefix("http://")
        for target, more in ((f"{host}/plain/cuda:12.4", []), (f"registry:{host}/token/cuda:single", []), ("docker.io/cuda:12.4", ["--mirror", f"docker.io/library={host}/plain"]),
                             (f"{host}/plain/cuda@sha256:{hashlib.sha256(image).hexdigest()}", []), ("registry:index.invalid/cuda:12.4", ["--mirror", f"index.invalid={host}/plain"])):
            with self.subTest(target):
                got = run("scan", target, "--gpu", "T4", "--format", "json", *more, cwd=self.dir)
                self.assertEqual(got.returncode, 1, got.stderr)
                document = json.loads(got.stdout)
                (found,) = document["libraries"]
                self.assertEqual((found["path"], found["sass"]), ("usr/lib/b.so", ["8.0"]))
                self.assertEqual((document["targets"][0]["kind"], document["targets"][0]["files"]), ("image", 2))
                self.assertEqual(document["targets"][0]["notes"][:3], ["3 layers", "1 file with device code replaced or removed by later layers",
                                                                       f"sha256:{hashlib.sha256(image).hexdigest()} checked"])
        torn = layer(("usr/lib/a.so", library(container(entry(2, 75)))))[:-9]
        short = {**json.loads(image), "layers": [{"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", **put(torn)}]}
        put(json.dumps(short).encode(), "torn")
        lies = {**json.loads(image), "layers": [{"mediaType": blobs[0]["mediaType"], "digest": "sha256:" + "4" * 64, "size": blobs[0]["size"]}]}
        put(json.dumps(lies).encode(), "lies")
        (self.dir / "store" / "cuda" / "blobs" / ("4" * 64)).write_bytes(layers[0])
        for code, arguments, needle in ((2, [f"{host}/plain/cuda:none"], "manifest unknown"), (2, [f"{host}/plain/cuda:12.4", "--arch", "aarch64"], "arm64"),
                                        (3, [f"{host}/deny/cuda:12.4"], "403"), (3, [f"{host}/plain/cuda:lies"], "4" * 64), (2, [f"{host}/plain/cuda:torn"], "cut off"),
                                        (2, ["registry:UPPER/x:1"], "UPPER"), (2, ["registry:x:1", "--mirror", "x"], "invalid --mirror"), (2, ["nowhere/x:1"], "nowhere/x:1")):
            with self.subTest(arguments):
                got = run("scan", *arguments, cwd=self.dir)
                self.assertEqual((got.returncode, got.stdout), (code, ""), got.stderr)
                self.assertIn(needle, got.stderr)

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

    def serve(self, folder, script="http_server.py"):
        """That program of tests/fakes over the folder: its URL."""
        server = subprocess.Popen([sys.executable, pathlib.Path(__file__).parent.parent / "fakes" / script, folder], stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        return "http://127.0.0.1:" + server.stdout.readline().split()[1]

    def index_page(self, project, *files):
        """files: (wheel, sha256 or None for the real one, reason for yanking or False, behaviour of the server)."""
        folder = self.dir / "site" / "simple" / project
        folder.mkdir(parents=True, exist_ok=True)
        listed = []
        for name, digest, yanked, behaviour in files:
            if digest is None:
                digest = hashlib.sha256((self.dir / "site" / name).read_bytes()).hexdigest()
            listed.append({"filename": name, "url": f"../../../{behaviour}/{name}", "hashes": {"sha256": digest}, "yanked": yanked})
        (folder / "index.json").write_text(json.dumps({"meta": {"api-version": "1.0"}, "files": listed}))

    def wheel(self, name, members):
        path = self.dir / "site" / name
        path.parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, content in members.items():
                archive.writestr(member, content)
        return path

    def torch_wheel(self, version="99.0.0", arch="manylinux_2_28_x86_64", **more):
        """A wheel that says of itself what torch says, for CUDA 12.4; its name."""
        name = f"torch-{version}-cp312-cp312-{arch}.whl"
        self.wheel(name, {"torch/version.py": f"__version__ = '{version}+cu124'\ncuda: Optional[str] = '12.4'\n",
                          "torch/lib/libtorch_python.so": b"x\0sm_75 sm_80 compute_90\0y",
                          f"torch-{version}.dist-info/METADATA": f"Version: {version}\nRequires-Dist: triton==3.2.0\n\n", **more})
        return name

    def test_facts_measure_torch(self):
        names = [self.torch_wheel(), self.torch_wheel(arch="manylinux_2_28_aarch64"), self.torch_wheel("98.0.0")]
        self.index_page("torch", *((name, None, False, "plain") for name in names), ("torch-97.0.0-cp312-cp312-manylinux_2_28_x86_64.whl", "0" * 64, "broken", "plain"))
        url = self.serve(self.dir / "site")
        asked = ["facts", "measure", "torch", "--versions", ">=90", "--out", "m", "--index", url + "/tagged/simple"]
        first = run(*asked, cwd=self.dir)
        self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
        self.assertTrue(first.stdout.startswith("5 rows: 5 new, 0 filled, 0 confirmed, 0 contradicted, 0 not measured\n"), first.stdout)
        table = (self.dir / "m" / "torch_wheels.yaml").read_text()
        self.assertIn('{id: torch-99.0.0+cu124-x86_64, torch: "99.0.0", variant: "cu124", cuda: "12.4", arch: "x86_64", compute: ["7.5", "8.0"], ptx: ["9.0"], '
                      f'pythons: ["3.12"], glibc: "2.28", triton: "3.2.0", source: "wheel:{names[0]} sha256:', table)
        self.assertEqual(run("facts", "check", "--facts", "m", cwd=self.dir).returncode, 0)
        # What did not change is not transferred: no wheel, and of the page that it did not change.
        again = json.loads(run(*asked, "--format", "json", cwd=self.dir).stdout)
        self.assertEqual((again["requests"], again["known_from_before"], len(again["rows"])), (1, 3, 5))
        self.assertLess(again["bytes"], 1000)
        self.assertEqual((self.dir / "m" / "torch_wheels.yaml").read_text(), table)

        # A falsified fact: both are shown, and the row is written only when it is asked for.
        (self.dir / "lie").mkdir()
        for name in ("torch_wheels.yaml", "torch_releases.yaml"):
            (self.dir / "lie" / name).write_text((self.dir / "m" / name).read_text().replace('compute: ["7.5", "8.0"]', 'compute: ["7.5", "9.0"]', 1))
        other = [*(word if word != "m" else "n" for word in asked), "--facts", "lie"]
        caught = run(*other, cwd=self.dir)
        self.assertEqual(caught.returncode, 1, caught.stdout + caught.stderr)
        self.assertIn("torch-98.0.0+cu124-x86_64: measured and known disagree\n  measured  compute: 7.5, 8.0\n  known     compute: 7.5, 9.0\n", caught.stdout)
        self.assertNotIn("torch-98.0.0+cu124-x86_64", (self.dir / "n" / "torch_wheels.yaml").read_text())
        self.assertEqual(run(*other, "--accept", cwd=self.dir).returncode, 0)
        self.assertIn("torch-98.0.0+cu124-x86_64", (self.dir / "n" / "torch_wheels.yaml").read_text())

    def test_facts_measure_where_something_is_wrong(self):
        good = self.torch_wheel()
        url = self.serve(self.dir / "site")
        asked = ["facts", "measure", "torch", "--versions", ">=90", "--index", url + "/plain/simple"]
        for behaviour, message in (("tear", "(5 attempts)"), ("other-range", "the server lies about ranges: asked for bytes "), ("ignore-range", "the server does not answer range requests"),
                                   ("status-404", "there is no such page (404)")):
            with self.subTest(behaviour):
                self.index_page("torch", (good, None, False, behaviour))
                got = run(*asked, "--out", behaviour, cwd=self.dir)
                self.assertEqual(got.returncode, 3, got.stdout + got.stderr)
                self.assertIn("0 rows: 0 new, 0 filled, 0 confirmed, 0 contradicted, 1 not measured\n", got.stdout)
                self.assertIn(message, got.stdout)
                self.assertFalse(list((self.dir / behaviour).glob("*.yaml")))
        new = self.wheel("torch-96.0.0-cp312-cp312-manylinux_2_28_x86_64.whl",
                         {"torch/version.py": "__version__ = '96.0.0+cu990'\ncuda: Optional[str] = '99.0'\n", "torch-96.0.0.dist-info/METADATA": "Version: 96.0.0\n\n"})
        self.index_page("torch", (new.name, None, False, "plain"))
        got = run(*asked, "--out", "new", cwd=self.dir)
        self.assertEqual(got.returncode, 1, got.stdout)
        self.assertIn("left out: row 'torch-96.0.0+cu990-x86_64': column 'cuda' names '99.0', which cuda_toolkits.cuda does not have\n", got.stdout)
        self.assertEqual(run("facts", "check", "--facts", "new", cwd=self.dir).returncode, 0)
        empty = run(*(word if word != ">=90" else ">=100" for word in asked), "--out", "empty", cwd=self.dir)
        self.assertEqual((empty.returncode, empty.stdout), (2, ""))
        self.assertIn("no release on the index fits what was asked for", empty.stderr)

    def test_facts_measure_toolkit(self):
        ptxas = """#!/bin/sh
if [ "$1" = --help ]; then printf -- "--gpu-name\\n  Allowed values: 'compute_75','sm_75','sm_100a'.\\n"; exit 0; fi
read -r word version < "$2"
[ "$version" != 9.8 ] || exit 0
echo "fatal: Unsupported .version $version; current version is '9.8'" >&2; exit 255
"""
        machine = os.uname().machine
        for release, nvcc in (("90.1.0", "90.1.20"), ("90.1.1", "90.1.30")):
            meta = self.wheel(f"cuda_toolkit-{release}-py2.py3-none-any.whl", {f"cuda_toolkit-{release}.dist-info/METADATA":
                              f"Version: {release}\nRequires-Dist: nvidia-cuda-nvcc=={nvcc}.*; extra == 'all'\nRequires-Dist: nvidia-cuda-crt=={nvcc}.*; extra == 'all'\n\n"})
        nvcc = self.wheel(f"nvidia_cuda_nvcc-90.1.30-py3-none-manylinux_2_17_{machine}.whl",
                          {"nvidia/cu90/bin/ptxas": ptxas, "nvidia/cu90/bin/nvcc": "x", "nvidia_cuda_nvcc-90.1.30.dist-info/METADATA": "Version: 90.1.30\n\n"})
        crt = self.wheel(f"nvidia_cuda_crt-90.1.30-py3-none-manylinux_2_17_{machine}.whl",
                         {"nvidia/cu90/include/crt/host_config.h": "#if __GNUC__ > 21\n#if (__clang_major__ >= 31)\n", "nvidia_cuda_crt-90.1.30.dist-info/METADATA": "Version: 90.1.30\n\n"})
        self.index_page("cuda-toolkit", ("cuda_toolkit-90.1.0-py2.py3-none-any.whl", None, False, "plain"), (meta.name, None, False, "plain"))
        self.index_page("nvidia-cuda-nvcc", (nvcc.name, None, False, "plain"))
        self.index_page("nvidia-cuda-crt", (crt.name, None, False, "plain"))
        url = self.serve(self.dir / "site")
        asked = ["facts", "measure", "toolkit", "--versions", ">=90", "--index", url + "/tagged/simple"]

        # Without running anything a minor that nobody knows cannot be described, nor its releases.
        read = run(*asked, "--out", "read", cwd=self.dir)
        self.assertEqual(read.returncode, 3, read.stdout + read.stderr)
        self.assertIn("not measured: CUDA 90.1: no fact knows its targets and PTX, and its ptxas was not run (--execute)\n", read.stdout)
        self.assertIn("left out: row 'cuda-90.1.0': column 'minor' names '90.1', which cuda_toolkits.cuda does not have\n", read.stdout)
        self.assertFalse(list((self.dir / "read").glob("*.yaml")))

        got = run(*asked, "--execute", "--out", "m", cwd=self.dir)
        self.assertEqual(got.returncode, 0, got.stdout + got.stderr)
        self.assertTrue(got.stdout.startswith("3 rows: 3 new, 0 filled, 0 confirmed, 0 contradicted, 0 not measured\n"), got.stdout)
        self.assertIn('{id: cuda-toolkit-90.1, cuda: "90.1", newest: "90.1.1", ptx_isa: "9.8", targets: ["7.5", "10.0a"], gcc_max: 21, clang_max: 30, nvcc_wheel: true, '
                      f'source: ["wheel:{nvcc.name} sha256:', (self.dir / "m" / "cuda_toolkits.yaml").read_text())
        self.assertIn('{id: cuda-90.1.0, cuda: "90.1.0", minor: "90.1", nvcc: "90.1.20", source: "wheel:cuda_toolkit-90.1.0', (self.dir / "m" / "cuda_releases.yaml").read_text())
        self.assertEqual(run("facts", "check", "--facts", "m", cwd=self.dir).returncode, 0)
        self.assertFalse((self.dir / "m" / "run").exists())
        again = json.loads(run(*asked, "--execute", "--out", "m", "--format", "json", cwd=self.dir).stdout)
        self.assertEqual((again["requests"], again["known_from_before"], len(again["rows"])), (3, 4, 3))

        # A refresh finds what it can describe without running anything: releases of minors that are known.
        refresh = ["facts", "refresh", "--only", "cuda-toolkit", "--index", url + "/plain/simple"]
        (self.dir / "minor").mkdir()
        (self.dir / "minor" / "cuda_toolkits.yaml").write_text((self.dir / "m" / "cuda_toolkits.yaml").read_text().replace(', newest: "90.1.1"', ""))
        for facts, first, code in ((["--facts", "m"], "- cuda-toolkit ", 1), (["--facts", "minor"], "- cuda-toolkit ", 1), ([], "- cuda-toolkit ", 1)):
            news = run(*refresh, *facts, "--out", "news" + "".join(facts[1:]), cwd=self.dir)
            self.assertEqual(news.returncode, code, news.stdout + news.stderr)
            self.assertTrue(news.stdout.startswith(first), news.stdout)
            self.assertEqual("+ cuda-toolkit 90.1.0: new\n+ cuda-toolkit 90.1.1: new\n" in news.stdout, facts != ["--facts", "m"], news.stdout)
            self.assertEqual("left out: row 'cuda-90.1.0'" in news.stdout, not facts, news.stdout)
            self.assertEqual((self.dir / ("news" + "".join(facts[1:])) / "cuda_releases.yaml").exists(), facts == ["--facts", "minor"])
        # A release that is not the newest of its minor says nothing of the minor.
        old = run(*(word if word != ">=90" else "==90.1.0" for word in asked), "--execute", "--out", "old", "--facts", "m", cwd=self.dir)
        self.assertTrue(old.stdout.startswith("1 row: 0 new, 0 filled, 1 confirmed, 0 contradicted, 0 not measured\n"), old.stdout)
        # A wheel swapped behind its hash is not run.
        self.index_page("nvidia-cuda-nvcc", (nvcc.name, "4" * 64, False, "plain"))
        swapped = run(*asked, "--execute", "--out", "other", cwd=self.dir)
        self.assertEqual(swapped.returncode, 3)
        self.assertIn(f", and the index says {'4' * 64}\n", swapped.stdout)
        self.assertFalse(list((self.dir / "other").glob("*.yaml")))
        empty = run(*(word if word != ">=90" else ">=100" for word in asked), "--out", "empty", cwd=self.dir)
        self.assertEqual((empty.returncode, empty.stdout), (2, ""))
        self.assertIn("no release on the index fits what was asked for", empty.stderr)

    def test_facts_measure_held(self):
        code = library(container(entry(2, 75), entry(2, 90, 0x108011), entry(1, 90)))
        name = self.torch_wheel(**{"torch/lib/libtorch_cuda.so": code, "torch/lib/libvendor.so": library(container(entry(2, 75)))})
        self.index_page("torch", (name, None, False, "plain"))
        url = self.serve(self.dir / "site")
        asked = ["facts", "measure", "torch", "--held", "--versions", ">=90", "--index", url + "/tagged/simple"]
        got = run(*asked, "--out", "m", cwd=self.dir)
        self.assertEqual(got.returncode, 0, got.stdout + got.stderr)
        self.assertIn("measure: reading 1 wheel to the last byte\n", got.stderr)
        self.assertIn("no row of torch_libraries says what these are for, none was written: torch/lib/libvendor.so\n", got.stdout)
        self.assertIn('library: "libtorch_cuda.so", purpose: "the kernels of torch itself", sass: ["7.5", "9.0a"], ptx: ["9.0"], source: "wheel:' + name,
                      (self.dir / "m" / "torch_libraries.yaml").read_text())
        self.assertEqual(run("facts", "check", "--facts", "m", cwd=self.dir).returncode, 0)
        again = json.loads(run(*asked, "--out", "m", "--format", "json", cwd=self.dir).stdout)
        self.assertEqual((again["requests"], again["known_from_before"], again["other_libraries"]), (1, 1, ["torch/lib/libvendor.so"]))
        self.index_page("torch", (name, "3" * 64, False, "plain"))
        swapped = run(*asked, "--out", "other", cwd=self.dir)
        self.assertEqual(swapped.returncode, 3)
        self.assertIn(f", and the index says {'3' * 64}\n", swapped.stdout)
        self.assertFalse(list((self.dir / "other").glob("*.yaml")))

    def test_facts_refresh(self):
        def row(version):
            return (f'  - {{id: package-demo-{version}, package: "demo", version: "{version}", requires: [], abi: ["py3"], '
                    f'source: "wheel:demo-{version}-py3-none-any.whl sha256:{"0" * 64}", confidence: measured}}\n')
        (self.dir / "ours").mkdir()
        (self.dir / "ours" / "package_releases.yaml").write_text('table: package_releases\nas_of: "2026-11-21"\nrows:\n' + row("0.9") + row("1.0"))
        known = [(f"demo-{version}-py3-none-any.whl", "0" * 64, False, "plain") for version in ("0.9", "1.0")]
        self.index_page("demo", *known)
        url = self.serve(self.dir / "site")
        asked = ["facts", "refresh", "--only", "demo", "--facts", "ours", "--out", "news", "--index", url + "/tagged/simple"]
        quiet = run(*asked, cwd=self.dir)
        self.assertEqual(quiet.returncode, 0, quiet.stdout + quiet.stderr)
        self.assertTrue(quiet.stdout.startswith("0 changes, 0 rows measured; 1 of 1 reached, "), quiet.stdout)
        self.assertEqual(sorted(path.name for path in (self.dir / "news").iterdir()), ["pages"])

        old, new = known[1][0], self.wheel("demo-2.0-py3-none-any.whl", {"demo-2.0.dist-info/METADATA": "Version: 2.0\nRequires-Dist: torch>=2.0\n\n"})
        self.index_page("demo", (old, "0" * 64, "broken", "plain"), (new.name, None, False, "plain"), ("demo-3.0rc1-py3-none-any.whl", "0" * 64, False, "plain"))
        found = run(*asked, cwd=self.dir)
        self.assertEqual(found.returncode, 1, found.stdout + found.stderr)
        self.assertEqual(found.stdout.splitlines()[:5],
                         ["- demo 0.9: vanished", "! demo 1.0: yanked, broken", "+ demo 2.0: new", "row package-demo-1.0", "row package-demo-2.0"])
        overlay = (self.dir / "news" / "package_releases.yaml").read_text()
        self.assertIn('requires: ["torch >=2.0"]', overlay)
        self.assertIn('yanked: true, yanked_because: "broken"', overlay)
        self.assertEqual(run("facts", "check", "--facts", "news", cwd=self.dir).returncode, 0)
        again = json.loads(run(*asked, "--format", "json", cwd=self.dir).stdout)
        self.assertEqual([change["kind"] for change in again["changes"]], ["vanished", "yanked", "new"])
        self.assertEqual([each["id"] for each in again["rows"]], ["package-demo-1.0", "package-demo-2.0"])
        self.assertEqual((again["requests"], again["reached"], again["not_reached"]), (1, 1, []))
        self.assertLess(again["bytes"], 1000)  # the headers of "not modified"
        self.assertEqual((self.dir / "news" / "package_releases.yaml").read_text(), overlay)

        secret = run(*["secret" if each == "news" else each.replace("http://", "http://reader:geheim@") for each in asked], cwd=self.dir)
        self.assertEqual(secret.returncode, 1, secret.stdout + secret.stderr)
        files = [path for path in (self.dir / "secret").rglob("*") if path.is_file()]
        self.assertTrue(any(path.suffix == ".json" for path in files))
        for text in [secret.stdout, secret.stderr] + [path.read_text() for path in files]:
            self.assertNotIn("geheim", text)
        reviewed = run(*(word if word != "ours" else "news" for word in asked), cwd=self.dir)
        self.assertEqual((reviewed.returncode, reviewed.stdout[:10]), (0, "0 changes,"), reviewed.stdout)

    def test_facts_refresh_where_something_is_wrong(self):
        good = self.wheel("timm-99.0-py3-none-any.whl", {"timm-99.0.dist-info/METADATA": "Version: 99.0\nRequires-Dist: torch\n\n"}).name
        url = self.serve(self.dir / "site")
        def refresh(*files, out="news", index=url + "/plain/simple", more=()):
            self.index_page("timm", *files)
            return run("facts", "refresh", "--only", "timm", "--out", out, "--index", index, *more, cwd=self.dir)
        swapped = json.loads(refresh(("timm-1.0.9-py3-none-any.whl", "1" * 64, False, "plain"), out="swapped", more=["--format", "json"]).stdout)
        self.assertEqual([change["detail"] for change in swapped["changes"] if change["kind"] == "swapped"],
                         [f"timm-1.0.9-py3-none-any.whl has the sha256 {'1' * 64}, the facts were read from ce5a4bac57a6cbb2be4ee35dc4ce689eede10d647e48dd1836106e2cc199693b"])
        for behaviour, message in (("ignore-range", "the server does not answer range requests, and the whole file is not downloaded to read parts of it"),
                                   ("other-range", "the server lies about ranges: asked for bytes "), ("no-content-range", "the server lies about ranges: its answer does not say"),
                                   ("odd-range", "is not a range"), ("short", "bytes instead of"), ("long", "bytes instead of"), ("status-403", "it is forbidden (403)")):
            with self.subTest(behaviour):
                got = refresh((good, None, False, behaviour), out=behaviour)
                self.assertEqual(got.returncode, 3, got.stdout + got.stderr)
                self.assertIn("+ timm 99.0: new\n", got.stdout)
                self.assertRegex(got.stdout, f"not measured: .*{re.escape(message)}" if behaviour not in ("short", "long") else "not measured: ")
                self.assertFalse(list((self.dir / behaviour).glob("*.yaml")))
        torn = refresh((good, None, False, "tear"), ("timm-98.0-py3-none-any.whl", "2" * 64, False, "status-404"), out="torn")
        self.assertEqual(torn.returncode, 3)
        self.assertEqual(torn.stdout.count("not measured: "), 2, torn.stdout)
        self.assertIn("(5 attempts)", torn.stdout)
        self.assertFalse(list((self.dir / "torn").glob("*.yaml")))
        mended = refresh((good, None, False, "tear-once"), out="torn")
        self.assertEqual(mended.returncode, 1, mended.stdout)
        self.assertIn("row package-timm-99.0\n", mended.stdout)

        nowhere = refresh((good, None, False, "plain"), index="http://127.0.0.1:9/simple")
        self.assertEqual(nowhere.returncode, 3)
        self.assertIn("not reached: timm: http://127.0.0.1:9/simple/timm/: ", nowhere.stdout)
        moved = refresh((good, None, False, "plain"), index="http://index.invalid/simple", more=["--mirror", f"http://index.invalid={url}/plain"])
        self.assertEqual(moved.returncode, 1, moved.stdout)
        self.assertIn("+ timm 99.0: new\n", moved.stdout)
        for more, needle in ((["--mirror", "x"], "expected a pair of URLs or registries"), (["--mirror", "https://x.org=y"], "expected a pair of URLs or registries"), (["--only", "tim"], "--only: the facts know no package or repository 'tim' (did you mean timm?)")):
            got = refresh((good, None, False, "plain"), more=more)
            self.assertEqual((got.returncode, got.stdout), (2, ""))
            self.assertIn(needle, got.stderr)
        (self.dir / "news" / "package_releases.yaml").write_text("rows: [")
        broken = refresh((good, None, False, "plain"))
        self.assertEqual((broken.returncode, broken.stdout), (2, ""), broken.stderr)
        self.assertEqual((self.dir / "news" / "package_releases.yaml").read_text(), "rows: [")

    def test_facts_refresh_of_archives(self):
        def put(suite, text):
            folder = self.dir / "site" / "dists" / suite / "non-free" / "binary-amd64"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "Packages.gz").write_bytes(gzip.compress(text.encode()))
        put("bullseye", "Package: nvidia-cuda-toolkit\nVersion: 11.8.89~11.8.0-5\n\nPackage: libcudart11.0\nVersion: 11.8.89~11.8.0-5\n\n")
        put("bookworm", "Package: other\nVersion: 1\n\n")
        url = self.serve(self.dir / "site")
        asked = ["facts", "refresh", "--only", "nvidia-cuda-toolkit", "--index", url + "/plain/simple", "--archive",
                 url + "/tagged", "--format", "json"]
        for _ in range(2):
            got = run(*asked, cwd=self.dir)
            self.assertEqual(got.returncode, 1, got.stdout + got.stderr)
            report = json.loads(got.stdout)
            self.assertEqual([(change["project"], change["kind"]) for change in report["changes"]],
                             [("nvidia-cuda-toolkit (debian11)", "replaced"), ("nvidia-cuda-toolkit (debian12)", "vanished")])
            self.assertEqual([(each["what"], each["why"].split(": ")[1]) for each in report["not_reached"]],
                             [("archive of debian13", "there is no such page (404)")])
            self.assertEqual([each["id"] for each in report["rows"]], ["toolkit-debian11-archive-11.2"])
        # What the archive has now is what cells are judged by.
        self.assertEqual(run("facts", "check", "--facts", "cudamatrix-facts", cwd=self.dir).returncode, 0)
        name = self.write('version: 1\naxes:\n  cuda: ["11.2.2", "11.8.0"]\nset: {family: debian, os: debian11, cuda_from: archive}\n')
        for facts, refused in (([], "11.8.0"), (["--facts", "cudamatrix-facts"], "11.2.2")):
            got = json.loads(run("check", name, "--on", "2026-11-21", "--format", "json", *facts, cwd=self.dir).stdout)
            self.assertEqual([cell["fields"]["cuda"] for cell in got["cells"] if cell["verdict"] == "rejected"], [refused])
        self.assertEqual(json.loads(run(*asked, "--facts", "cudamatrix-facts", cwd=self.dir).stdout)["rows"], [])
        # A version that names no CUDA is told and makes no row.
        put("bullseye", "Package: nvidia-cuda-toolkit\nVersion: 99\n\n")
        odd = run(*asked, "--out", "odd", cwd=self.dir)
        self.assertEqual(odd.returncode, 3)
        self.assertEqual(json.loads(odd.stdout)["not_measured"], ["archive of debian11: nvidia-cuda-toolkit 99 names no release of CUDA; a version such as 11.2.2-3 or 12.4.131~12.4.1-2 would"])
        self.assertFalse((self.dir / "odd" / "toolkit_sources.yaml").exists())
        (self.dir / "site" / "dists" / "bookworm" / "non-free" / "binary-amd64" / "Packages.gz").write_text("no gzip")
        report = json.loads(run(*asked, cwd=self.dir).stdout)
        self.assertEqual([each["what"] for each in report["not_reached"]], ["archive of debian12", "archive of debian13"])
        self.assertIn("is not a list of packages", report["not_reached"][0]["why"])

    def test_facts_refresh_of_torch_asks_the_indexes_that_the_facts_name(self):
        self.index_page("torch")
        for variant, release in (("cu118", "99.0.0"), ("cu80", "98.0.0")):  # of the second no fact names an address
            folder = self.dir / "site" / "whl" / variant / "torch"
            folder.mkdir(parents=True)
            (folder / "index.json").write_text(json.dumps({"meta": {"api-version": "1.0"}, "files": [
                {"filename": f"torch-{release}+{variant}-cp312-cp312-manylinux_2_28_x86_64.whl", "url": "nowhere.whl", "hashes": {"sha256": "5" * 64}}]}))
        url = self.serve(self.dir / "site")
        got = run("facts", "refresh", "--only", "torch", "--index", url + "/plain/simple", "--out", "news", "--format", "json",
                  "--mirror", f"https://download.pytorch.org/whl={url}/plain/whl", cwd=self.dir)
        self.assertEqual(got.returncode, 3, got.stdout + got.stderr)  # there is no such wheel
        report = json.loads(got.stdout)
        self.assertEqual([(change["project"], change["version"]) for change in report["changes"] if change["kind"] == "new"], [("torch (cu118)", "99.0.0")])
        lost = [each["what"] for each in report["not_reached"]]
        self.assertNotIn("torch (cu80)", lost)
        self.assertNotIn("torch (cpu)", lost)
        self.assertIn({"what": "torch (cu130)", "why": "https://download.pytorch.org/whl/cu130 has no project torch"}, report["not_reached"])

    def test_facts_refresh_of_images_that_disagree(self):
        store = self.dir / "store" / "nvidia" / "cuda"
        (store / "manifests").mkdir(parents=True)
        (store / "blobs").mkdir()
        for tag, driver in (("98.0.0-base-ubi9", "700"), ("98.0.0-devel-ubuntu24.04", "710")):
            config = json.dumps({"os": "linux", "architecture": "amd64", "config": {"Env": [
                "CUDA_VERSION=98.0.0", f"NVIDIA_REQUIRE_CUDA=cuda>=98.0 driver>={driver}"]}}).encode()
            digest = hashlib.sha256(config).hexdigest()
            (store / "blobs" / digest).write_bytes(config)
            (store / "manifests" / tag).write_text(json.dumps({"schemaVersion": 2, "layers": [], "config": {"mediaType": "x", "digest": "sha256:" + digest, "size": len(config)}}))
        host = self.serve(self.dir / "store", "registry_server.py").removeprefix("http://")
        got = run("facts", "refresh", "--only", "docker.io/nvidia/cuda", "--index", "http://127.0.0.1:9/simple", "--out", "news",
                  "--mirror", f"docker.io={host}/plain", "--format", "json", cwd=self.dir)
        self.assertEqual(got.returncode, 1, got.stdout + got.stderr)
        report = json.loads(got.stdout)
        self.assertEqual([each["id"] for each in report["rows"]], ["cuda-image-98.0.0-ubi9", "cuda-image-requires-98.0.0-x86_64", "cuda-image-98.0.0-ubuntu24.04"])
        self.assertEqual(report["left_out"][0], "row 'cuda-image-requires-98.0.0-x86_64': driver_min: 710 in image:docker.io/nvidia/cuda:98.0.0-devel-ubuntu24.04, "
                         "kept is driver_min: 700 of image:docker.io/nvidia/cuda:98.0.0-base-ubi9")

    def test_facts_refresh_of_images(self):
        def blob(content):
            digest = hashlib.sha256(content).hexdigest()
            path = self.dir / "store" / "nvidia" / "pytorch" / "blobs" / digest
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            return {"mediaType": "x", "digest": "sha256:" + digest, "size": len(content)}
        config = {"created": "2030-01-02T03:04:05Z", "os": "linux", "architecture": "amd64", "config": {"Env": [
            "NVIDIA_PYTORCH_VERSION=98.01", "PYTORCH_VERSION=2.10.0a0+b4e4ee81d3", "CUDA_VERSION=13.1.0.036"],
            "Labels": {"org.opencontainers.image.ref.name": "ubuntu", "org.opencontainers.image.version": "24.04"}}}
        tags = self.dir / "store" / "nvidia" / "pytorch" / "manifests"
        tags.mkdir(parents=True)
        image = json.dumps({"schemaVersion": 2, "config": blob(json.dumps(config).encode()), "layers": []}).encode()
        for tag in ("98.01-py3", "98.01-py3-igpu", "latest"):
            (tags / tag).write_bytes(image)
        host = self.serve(self.dir / "store", "registry_server.py").removeprefix("http://")
        def refresh(behaviour, *more):
            return run("facts", "refresh", "--only", "nvcr.io/nvidia/pytorch", "--index", "http://127.0.0.1:9/simple", "--out", "news",
                       "--mirror", f"nvcr.io={host}/{behaviour}", *more, cwd=self.dir)
        for behaviour in ("liebody", "deny"):
            got = refresh(behaviour, "--format", "json")
            self.assertEqual(got.returncode, 3, got.stderr)
            report = json.loads(got.stdout)
            self.assertEqual((len(report["not_measured"]), len(report["not_reached"])), (1, 0) if behaviour == "liebody" else (0, 1))
            self.assertFalse((self.dir / "news" / "ngc_images.yaml").exists())
        got = refresh("token")
        self.assertEqual(got.returncode, 1, got.stdout + got.stderr)
        self.assertIn("+ nvcr.io/nvidia/pytorch 98.01-py3: new, 98.01-py3\n", got.stdout)
        self.assertIn("- nvcr.io/nvidia/pytorch 25.12-py3: vanished, 25.12-py3\n", got.stdout)
        self.assertIn("\nrow ngc-pytorch-98.01-py3\n", got.stdout)
        self.assertIn('torch: "2.10.0", cuda: "13.1.0", os: "ubuntu24.04", note: "torch 2.10.0a0+b4e4ee81d3", source: '
                      f'"image:nvcr.io/nvidia/pytorch:98.01-py3 sha256:{hashlib.sha256(image).hexdigest()}"', (self.dir / "news" / "ngc_images.yaml").read_text())
        self.assertEqual(run("facts", "check", "--facts", "news", cwd=self.dir).returncode, 0)
        again = json.loads(refresh("plain", "--facts", "news", "--format", "json").stdout)
        self.assertEqual(([c["version"] for c in again["changes"] if c["kind"] == "new"], again["rows"], again["reached"]), ([], [], 1))

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
        for option, needle in (("drivr=580", "did you mean driver?"), ("driver", "FIELD=VALUE"), ("driver=;", "expected a version")):
            bad = run("check", name, "--override", option, cwd=self.dir)
            self.assertEqual((bad.returncode, bad.stdout), (2, ""))
            self.assertIn(needle, bad.stderr)
        # Every command that judges takes it.
        for command in (["render"], ["build"], ["run"], ["test"], ["lock"], ["explain"], ["lint"]):
            bad = run(*command, name, *(["x"] if command == ["explain"] else []), "--override", "drivr=580", cwd=self.dir)
            self.assertEqual((bad.returncode, bad.stdout), (2, ""), command)
            self.assertIn("did you mean driver?", bad.stderr)
        rendered = run("render", name, "--override", "driver=470.161.03", "--format", "json", cwd=self.dir)
        self.assertIn("note: driver is 470.161.03 in every cell", rendered.stderr)
        self.assertTrue(all("drv470.161.03" in cell["id"] for cell in json.loads(rendered.stdout)["cells"]), rendered.stdout)
        why = run("explain", name, "--where", "driver=470.161.03,cuda=13.0.2", "--override", "driver=470.161.03", "--override", "cuda=13.0.2", cwd=self.dir)
        self.assertEqual(why.returncode, 1)
        self.assertIn("driver 470.161.03 is too old for CUDA 13.0.2", why.stdout)
        rule = run("explain", "driver-supports-cuda", "--override", "driver=580", cwd=self.dir)
        self.assertEqual((rule.returncode, rule.stdout), (2, ""))
        self.assertIn("a rule has none", rule.stderr)
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

"""The command line as a user meets it: diff. Usage: diff_test.py CUDAMATRIX [unittest arguments]"""
import json
import subprocess

from cli import GOOD, TESTS, Cli, main

ROW = '{id: gpu-x, name: "X 1", aliases: [], compute: "7.5", class: geforce, source: "https://example.org/x", confidence: read}'
LOCK = {"schema_version": 1, "tool": "0.1.0", "facts": "abc", "templates": "abc", "bases": {}, "references": {}, "images": {},
        "snapshots": {"debian": "20261101T000000Z"},
        "verdicts": ["drv535.183.01-t4-cu11.8.0-debian12-debian accepted", "drv550.54.15-t4-cu11.8.0-debian12-debian rejected a-rule"]}


class Diff(Cli):
    def git(self, *words):
        subprocess.run(["git", "-C", self.dir, "-c", "user.name=t", "-c", "user.email=t@example.org", *words], check=True, capture_output=True)

    def facts(self, folder, row):
        self.write(f'table: gpus\nas_of: "2026-11-01"\nrows:\n  - {row}\n', folder + "/gpus.yaml")
        return folder

    def lock(self, name="cudamatrix.lock", **members):
        return self.write(json.dumps({**LOCK, **members}), name)

    def test_a_state_and_itself_have_nothing_between_them(self):
        name, lock = self.write(GOOD), self.lock()
        facts = self.facts("f", ROW)
        self.write(self.call("render", name, "--format", "json").stdout, "run.json")
        for side, says in ((name, "2 verdicts as before, 0 moved, 0 new, 0 gone"), (lock, "2 verdicts as before, 0 moved, 0 new, 0 gone"), (facts, "nothing moved"),
                           ("run.json", "2 verdicts as before, 0 moved, 0 new, 0 gone")):
            self.assertEqual(self.call("diff", side, side, code=0).stdout, f"{side} -> {side}: {says}\n")
            self.assertFalse(self.json_of("diff", side, side)["moved"])

    def test_another_value_moves_the_verdicts_of_its_cells(self):
        old = GOOD.replace("11.8.0", "12.4.1").replace("os: debian12, family: debian", "arch: x86_64")
        self.write(old, "a.yaml")
        self.write(old.replace("550.54.15", "470.161.03").replace("[T4]", "[T4, L4]"), "b.yaml")
        got = self.call("diff", "a.yaml", "b.yaml", code=1)
        self.assertEqual(got.stdout, """worse: accepted -> rejected (driver-supports-cuda): drv470.161.03-t4-cu12.4.1-x86_64
  error: driver 470.161.03 is too old for CUDA 12.4.1: CUDA 12 needs >= 525.60.13 [driver-supports-cuda, at runtime]
value: driver 550.54.15 -> 470.161.03 in 1 cell
new: drv535.183.01-l4-cu12.4.1-x86_64: accepted
new: drv470.161.03-l4-cu12.4.1-x86_64: rejected (driver-supports-cuda, driver-supports-gpu)
a.yaml -> b.yaml: 1 verdict as before, 1 moved, 2 new, 0 gone
""")
        moved = self.json_of("diff", "b.yaml", "a.yaml")
        self.assertEqual([group["change"] for group in moved["verdicts"]], ["better"])
        self.assertEqual([pair["values"] for pair in moved["replaced"]], [[{"field": "driver", "before": "470.161.03", "now": "550.54.15"}]])
        self.assertEqual((len(moved["new"]), len(moved["gone"])), (0, 2))
        self.assertIn("| worse | accepted → rejected", self.call("diff", "a.yaml", "b.yaml", "--format", "markdown", code=1).stdout)

    def test_a_commit_is_a_side(self):
        self.git("init", "--quiet")
        self.write(GOOD + "images: [{name: app, pip: more.txt}]\n", "m/a.yaml")
        self.write("timm==0.6.13\n", "m/more.txt")
        self.lock("m/cudamatrix.lock")
        self.facts("m/f", ROW)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "one")
        for path in ("m/a.yaml", "./m/a.yaml", "m/cudamatrix.lock", "m/f"):
            self.call("diff", "HEAD:" + path, path, code=0)
        self.write("timm==0.9.2\n", "m/more.txt")
        self.lock("m/cudamatrix.lock", snapshots={"debian": "20261115T000000Z"})
        self.facts("m/f", ROW.replace("7.5", "8.0"))
        self.assertEqual(self.call("diff", "HEAD:m/a.yaml", "m/a.yaml", code=1).stdout,
                         "pin: debian: snapshot 20261101T000000Z -> 20261115T000000Z\n"
                         "HEAD:m/a.yaml -> m/a.yaml: 2 verdicts as before, 0 moved, 0 new, 0 gone; 1 pin moved\n")
        self.assertEqual(self.call("diff", "HEAD:m/f", "m/f", code=1).stdout,
                         "fact: gpus gpu-x: compute 7.5 -> 8.0 (https://example.org/x, as of 2026-11-01)\nHEAD:m/f -> m/f: 1 fact moved, 0 looked up again\n")
        self.git("rm", "--quiet", "--cached", "m/more.txt")
        self.git("commit", "--quiet", "--message", "two")
        self.refused("diff", "HEAD:m/a.yaml", "m/a.yaml", says="HEAD:m/more.txt: git: fatal: path 'm/more.txt' exists on disk, but not in 'HEAD'")

    def test_what_was_said_then_beside_what_is_said_now(self):
        name, lock = self.write(GOOD, "m/matrix.yaml"), self.lock("then.lock")
        got = self.call("diff", lock, name, code=1)
        self.assertEqual(got.stdout, "better: rejected (a-rule) -> accepted: drv550.54.15-t4-cu11.8.0-debian12-debian\n"
                                     "note: m/matrix.yaml has no pins: they are not compared\n"
                                     "then.lock -> m/matrix.yaml: 1 verdict as before, 1 moved, 0 new, 0 gone\n")
        fewer = self.lock("fewer.lock", verdicts=LOCK["verdicts"][:1])
        self.assertEqual(self.call("diff", lock, fewer, code=1).stdout, "gone: drv550.54.15-t4-cu11.8.0-debian12-debian\n"
                         "then.lock -> fewer.lock: 1 verdict as before, 0 moved, 0 new, 1 gone\n")
        self.assertEqual(self.call("diff", fewer, lock, "--format", "markdown", "--out", "o", code=1).stdout,
                         "**fewer.lock -&gt; then.lock: 1 verdict as before, 0 moved, 1 new, 0 gone**\n\n1 new cell:\n\n"
                         "- drv550.54.15-t4-cu11.8.0-debian12-debian: rejected \\(a-rule\\)\n")
        self.assertIn("1 new cell", self.read("o/diff.md"))

    def test_facts_move_the_verdicts_of_a_matrix(self):
        name = self.write(GOOD.replace("T4", "X 1"))
        before, now = self.facts("a", ROW), self.facts("b", ROW.replace("7.5", "3.0"))
        got = self.call("diff", before, now, "--matrix", name, code=1)
        self.assertTrue(got.stdout.startswith("worse: "), got.stdout)
        self.assertIn("fact: gpus gpu-x: compute 7.5 -> 3.0 (https://example.org/x, as of 2026-11-01)\n", got.stdout)
        moved = self.json_of("diff", before, now, "--matrix", name)
        self.assertEqual(sum(len(group["cells"]) for group in moved["verdicts"]), 2)
        again = self.facts("c", ROW.replace("org/x", "org/y"))
        self.assertEqual(self.call("diff", before, again, code=0).stdout, "a -> c: 0 facts moved, 1 looked up again\n")

    def test_runs_have_outcomes_and_sizes(self):
        report = (TESTS / "golden_reports/run.json").read_text()
        self.write(report, "a.json")
        self.write(report.replace("812000000", "900000000"), "b.json")
        self.assertEqual(self.call("diff", "a.json", "b.json", code=0).stdout, "size: debian12-cu11.8.0: 812 MB -> 900 MB\n"
                         "a.json -> b.json: 6 verdicts as before, 0 moved, 0 new, 0 gone; 1 size moved\n")
        # What was rendered is skipped once its GPU is known to be older.
        name = self.write(GOOD.replace("T4", "X 1"))
        for folder, compute in (("old", "7.5"), ("new", "3.0")):
            rendered = self.call("render", name, "--facts", self.facts(folder, ROW.replace("7.5", compute)), "--out", "out", "--format", "json")
            self.write(rendered.stdout, folder + ".json")
        moved = self.json_of("diff", "old.json", "new.json", code=1)["verdicts"]
        self.assertEqual([(group["change"], group["before"]["verdict"], group["now"]["verdict"]) for group in moved], [("worse", "planned", "skipped")] * len(moved))
        self.assertTrue(all(group["because"] for group in moved), moved)

    def test_bad_input_is_2(self):
        name, lock = self.write(GOOD), self.lock("then.lock")
        facts = self.facts("f", ROW)
        self.refused("diff", name, says="NOW")
        self.refused("diff", name, "none.yaml", says="no such file or folder: none.yaml")
        self.refused("diff", ":matrix.yaml", name, says="no such file or folder: :matrix.yaml")
        self.refused("diff", "HEAD:none.yaml", name, says=("HEAD:none.yaml: neither a file nor a path of a commit: git: fatal: ", "REV:./PATH"))
        self.refused("diff", "--", "-p:x", name, says="a revision does not begin with -")
        self.refused("diff", name, facts, says="matrix.yaml is a matrix file and f is a folder of facts: they have nothing in common")
        self.refused("diff", facts, facts, "--facts", "f", says="--facts is for matrix files")
        self.refused("diff", name, name, "--matrix", name, says="--matrix is for two folders of facts")
        self.refused("diff", name, self.write(json.dumps({k: v for k, v in LOCK.items() if k != "verdicts"}), "old.lock"),
                     says="old.lock has no verdicts: they are not compared; matrix.yaml has no pins: they are not compared")
        self.write("version: 2\n", "bad.yaml")
        self.refused("diff", name, "bad.yaml", says="bad.yaml:1:")
        self.write("{", "cut.lock")
        self.refused("diff", name, "cut.lock", says="cut.lock")
        self.write("{}", "odd.json")
        self.refused("diff", "odd.json", "odd.json", says="odd.json")
        self.facts("g", "{id: gpu-x}")
        self.refused("diff", facts, "g", says="gpus.yaml:4:")

    def test_facts_log_is_the_diff_of_a_folder_with_what_it_was(self):
        self.git("init", "--quiet")
        old = self.facts("sub/f", ROW)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "one", "--date", "2026-01-02T12:00:00")
        self.facts("sub/f", ROW.replace('"7.5"', '"8.0"').replace("2026-11-01", "2026-11-02"))
        got = self.call("facts", "log", old, "--since", "HEAD", code=1).stdout
        self.assertEqual(got, """fact: gpus gpu-x: compute 7.5 -> 8.0 (https://example.org/x, as of 2026-11-01)
HEAD:./sub/f -> sub/f: 1 fact moved, 0 looked up again
""")
        self.assertEqual(self.call("facts", "log", "f", "--since", "HEAD", cwd=self.dir / "sub", code=1).stdout, got.replace("./sub/f", "./f").replace("sub/f:", "f:"))
        self.assertEqual(self.call("facts", "log", str(self.dir / "sub/f"), "--since", "HEAD", code=1).stdout.splitlines()[0], got.splitlines()[0])
        self.facts("g", ROW)
        self.assertEqual(self.call("facts", "log", "g", "--since", old, code=1).stdout, """fact: gpus gpu-x: compute 8.0 -> 7.5 (https://example.org/x, as of 2026-11-01)
sub/f -> g: 1 fact moved, 0 looked up again
""")
        tomorrow = self.call("facts", "log", old, "--since", "2099-01-01", code=1).stdout
        self.assertEqual(tomorrow.splitlines()[0], got.splitlines()[0])
        self.refused("facts", "log", old, "--since", "1999-01-01", says="--since 1999-01-01: the repository has no commit before that day")
        self.refused("facts", "log", old, "--since", "nothing", says="nothing:./sub/f: neither a file nor a path of a commit")
        self.refused("facts", "log", "none", "--since", "HEAD", says="no such folder: none")
        self.refused("facts", "log", old, says="--since is required")


if __name__ == "__main__":
    main()

"""The command line as a user meets it: upgrade. Usage: upgrade_test.py CUDAMATRIX [unittest arguments]"""
import json
import subprocess

from cli import TESTS, Cli, main

# Judged as of a day of the past: what was newest then does not change.
DAY = ("--on", "2025-06-30")
STACK = """version: 1
expect_cells: 2  # both are ours
axes:
  gpu: [T4, GTX 1080 Ti]
set:
  driver: "570"        # LTS until 2026
  torch: 2.5.0+cu124   # pinned
  python: "3.11"
"""


class Upgrade(Cli):
    def test_what_moves_comes_before_the_patch(self):
        name = self.write(STACK)
        self.assertEqual(self.call("upgrade", name, "--to", "hold", *DAY, code=1).stdout, """hold: 1 change of matrix.yaml
  torch  2.5.0+cu124 -> 2.5.1+cu124

value: torch 2.5.0+cu124 -> 2.5.1+cu124 in 2 cells
matrix.yaml -> hold: 2 verdicts as before, 0 moved, 0 new, 0 gone
cells afterwards: 1 accepted, 1 degraded

--- matrix.yaml
+++ matrix.yaml
@@ -4,5 +4,5 @@
   gpu: [T4, GTX 1080 Ti]
 set:
   driver: "570"        # LTS until 2026
-  torch: 2.5.0+cu124   # pinned
+  torch: "2.5.1+cu124"   # pinned
   python: "3.11"
""")
        self.assertEqual(self.read(name), STACK)

    def test_patch_and_file_are_the_same_edit(self):
        name, other = self.write(STACK), self.write(STACK, "other/matrix.yaml")
        patch = self.call("upgrade", name, "--to", "next", *DAY, "--format", "patch", code=1).stdout
        subprocess.run(["patch", "-p0"], input=patch, text=True, cwd=self.dir / "other", check=True, capture_output=True)
        self.assertIn("written: matrix.yaml", self.call("upgrade", name, "--to", "next", *DAY, "--write", code=0).stdout)
        self.assertEqual(self.read(name), self.read(other))
        self.assertIn("# pinned", self.read(name))
        self.assertEqual(self.call("upgrade", name, "--to", "next", *DAY, code=0).stdout, "next: nothing moves in matrix.yaml\n")
        self.call("check", name, *DAY, code=0)

    def test_line_ends_and_the_byte_order_mark_stay(self):
        for name, raw in (("crlf.yaml", STACK.replace("\n", "\r\n").encode()), ("bom.yaml", b"\xef\xbb\xbf" + STACK.encode())):
            self.write(raw, name)
            self.call("upgrade", name, "--to", "hold", *DAY, "--write", code=0)
            self.assertEqual((self.dir / name).read_bytes(), raw.replace(b"2.5.0+cu124", b'"2.5.1+cu124"'))

    def test_no_cell_of_any_example_gets_worse(self):
        matrices = [*sorted((TESTS.parent / "examples").glob("*/matrix.yaml")), TESTS.parent / "matrix/default.yaml"]
        self.assertGreater(len(matrices), 5)
        for path in matrices:
            for aim in ("hold", "next"):
                with self.subTest(f"{path.parent.name} {aim}"):
                    got = self.json_of("upgrade", path, "--to", aim)
                    self.assertEqual((got["refusal"], [group for group in got["verdicts"] if group["change"] == "worse"]), ("", []))

    def test_values_that_are_named(self):
        name = self.write(STACK)
        got = self.json_of("upgrade", name, "--to", "torch=v2.7.1+cu128, python=3.12", *DAY, code=1)
        self.assertEqual([tuple(step.values()) for step in got["steps"]], [("torch", "2.5.0+cu124", "2.7.1+cu128"), ("python", "3.11", "3.12")])
        self.assertEqual([(group["change"], group["now"]["rules"], len(group["cells"])) for group in got["verdicts"]],
                         [("worse", ["torch-ships-compute"], 1)])
        self.assertFalse(got["written"])
        self.assertEqual(got["source"], STACK.replace("2.5.0+cu124", '"2.7.1+cu128"').replace('"3.11"', '"3.12"'))

    def test_kept_cells_are_not_lost_unless_told(self):
        content = STACK + "keep: [{gpu: GTX 1080 Ti}]\n"
        name = self.write(content)
        words = ("upgrade", name, "--to", "torch=2.7.1+cu128", *DAY)
        got = self.call(*words, "--write", code=2)
        self.assertIn("kept cell lost: drv570-gtx1080ti-torch2.5.0_cu124-py3.11\n", got.stdout)
        self.assertIn("matrix.yaml is not written: 1 cell of keep would be lost\n", got.stderr)
        self.assertIn("fix: delete the entries of keep, or say --lose", got.stderr)
        self.assertEqual(self.read(name), content)
        self.call(*words, "--write", "--lose", code=0)
        self.assertIn("2.7.1+cu128", self.read(name))
        self.call("upgrade", self.write(content), "--to", "next", *DAY, "--write", code=0)
        self.refused("upgrade", self.write(STACK + "keep: [{gpu: H100}]\n"), "--to", "hold", says="matrix.yaml:9:8: error: keep matches no cell")

    def test_a_review_is_carried_out(self):
        name, other = self.write(STACK), self.write(STACK, "other/matrix.yaml")
        review = self.call("review", name, *DAY, "--format", "json", code=0).stdout
        self.write(review, "review.json")
        words = ("upgrade", name, "--apply", "review.json", "--to", "next")
        found = self.call("upgrade", other, "--to", "next", *DAY, "--write", code=0).stdout
        self.assertEqual(self.call(*words, *DAY, "--write", code=0).stdout, found.replace("other/matrix.yaml", "matrix.yaml"))
        self.assertEqual(self.read(name), self.read(other))
        self.refused(*words, *DAY, says="review.json reviewed another text than matrix.yaml has now")
        content = STACK + "keep: [{gpu: GTX 1080 Ti}]\n"
        self.write(content)
        lossy = json.loads(self.call("review", name, *DAY, "--format", "json", code=0).stdout)
        lossy["ways"][1]["source"] = content.replace("2.5.0+cu124", "2.7.1+cu128")
        lossy["ways"][1]["steps"][0]["now"] = "\x1b[31m2.7.1"
        self.write(json.dumps(lossy), "lossy.json")
        got = self.call("upgrade", name, "--apply", "lossy.json", "--to", "next", *DAY, "--write", code=2)
        self.assertIn("1 cell of keep would be lost", got.stderr)
        self.assertNotIn("\x1b", got.stdout)
        self.assertEqual(self.read(name), content)

    def test_what_is_no_review_is_refused(self):
        name = self.write(STACK)
        good = json.loads(self.call("review", name, *DAY, "--format", "json", code=0).stdout)

        def changed(change):
            copy = json.loads(json.dumps(good))
            change(copy)
            return json.dumps(copy)

        for content, to, says in ((STACK, "next", "not valid JSON"), ("[]", "next", "$: found a list, expected an object"),
                                  ("{}", "next", "$.matrix: missing"), (changed(lambda json: json["matrix"].pop("sha256")), "next", "$.matrix.sha256: missing"),
                                  (changed(lambda json: json.update(ways=3)), "next", "$.ways: found 3, expected a list"),
                                  (changed(lambda json: json["ways"][0].update(aim="up")), "next", '$.ways[0].aim: found "up", expected hold, next, ambitious'),
                                  (changed(lambda json: json["ways"][1]["steps"][0].update(field="")), "next", "$.ways[1].steps[0].field"),
                                  (changed(lambda json: json["ways"][1].update(source="")), "next", "x.json has no edited file for --to next"),
                                  (changed(lambda json: json["ways"].pop()), "ambitious", "x.json has no edited file for --to ambitious"),
                                  (changed(lambda json: json["ways"][1].update(source="version: 7\n")), "next", "version"),
                                  (json.dumps(good), "torch=2.6.0+cu124", "x.json has no edited file for --to torch=2.6.0+cu124")):
            with self.subTest(says):
                self.write(content, "x.json")
                self.refused("upgrade", name, "--apply", "x.json", "--to", to, *DAY, "--write", says=says)
        self.refused("upgrade", name, "--apply", "none.json", "--to", "next", says="none.json")
        self.assertEqual(self.read(name), STACK)

    def test_a_value_that_was_not_out_is_refused(self):
        self.refused("upgrade", self.write(STACK), "--to", "torch=2.8.0+cu128", *DAY,
                     says="--to torch=2.8.0+cu128: it came out on 2025-08-06, after 2025-06-30")

    def test_mistakes(self):
        name = self.write(STACK)
        for to, says in (("newest", "--to newest: expected an aim or FIELD=VALUE"), ("", "--to : expected an aim or FIELD=VALUE"),
                         ("colour=red", "--to colour=red: expected an aim or FIELD=VALUE"), ("gpu=L4", "--to gpu=L4: gpu does not move"),
                         ("torch=abc", '--to torch=abc: invalid torch "abc"'), ("torch=2.6.0,torch=2.7.0", "--to torch=2.7.0: torch is named twice"),
                         ("os=debian13", "--to os=debian13: no axis and no value under set has the field")):
            self.refused("upgrade", name, "--to", to, says=says)
        self.refused("upgrade", name, says="--to is required")
        self.refused("upgrade", "none.yaml", "--to", "next", says="none.yaml")
        self.assertEqual(self.read(name), STACK)


if __name__ == "__main__":
    main()

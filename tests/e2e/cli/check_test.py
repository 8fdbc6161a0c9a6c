"""The command line as a user meets it: check, list, lint and rules. Usage: check_test.py CUDAMATRIX [unittest arguments]"""
import json
import pathlib
import subprocess

from cli import GOOD, TWO, Cli, main


class Check(Cli):
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
        document = self.json_of("check", name)
        self.assertEqual(document["schema_version"], 2)
        self.assertEqual(len(document["cells"]), 2)
        summary = self.json_of("check", name, "--summary")
        self.assertEqual(sum(summary["verdicts"].values()), 2)
        self.assertNotIn("cells", summary)

    def test_the_report_is_what_its_schema_says(self):
        schema = self.call("schema", "--of", "report", code=0).stdout
        self.write(schema, "schema.json")
        examples = pathlib.Path(__file__).parents[3] / "examples"
        documents = [self.json_of("check", str(path)) for path in sorted(examples.glob("*/matrix.yaml"))]
        documents.append(self.json_of("check", self.write(GOOD + "stages: [runtime]\nwaive: [{rule: end-of-life, because: agreed, until: 2030-01-01}]\n"), "--on", "2026-11-21"))
        self.assertGreater(len(documents), 5)

        def judged(document):
            self.write(json.dumps(document), "report.json")
            return subprocess.run(["check-jsonschema", "--schemafile", self.dir / "schema.json", self.dir / "report.json"], capture_output=True, text=True).stdout

        for document in documents:
            self.assertIn("ok -- validation done", judged(document))
            for cell in document["cells"]:
                for number in cell["findings"]:
                    self.assertLessEqual(set(document["findings"][number]["facts"]), set(document["facts_used"]))
                self.assertIsInstance(document["not_checked"][cell["not_checked"]], list)
        for spoil in (lambda d: d.pop("facts_used"), lambda d: d.update(more=1), lambda d: d["cells"][0].update(verdict="good"), lambda d: d["findings"][0].pop("rule"),
                      lambda d: d.update(schema_version=1), lambda d: d["cells"][0]["stages"].pop("runtime"), lambda d: d["cells"][0].update(findings=["x"])):
            document = json.loads(json.dumps(documents[0]))
            spoil(document)
            self.assertNotIn("ok --", judged(document))

    def test_a_report_of_many_cells_is_small(self):
        axes = {"driver": ["535", "550", "580"], "gpu": ["T4", "A100", "H100"], "torch": ["2.4.0", "2.5.1", "2.6.0", "2.7.1", "2.8.0", "2.9.0"],
                "python": ["3.10", "3.11", "3.12", "3.13"]}
        name = self.write("version: 1\naxes:\n" + "".join(f"  {key}: {json.dumps(values)}\n" for key, values in axes.items()))
        got = self.call("check", name, "--format", "json", code=1)
        self.assertEqual(len(json.loads(got.stdout)["cells"]), 216)
        self.assertLess(len(got.stdout), 150_000)
        text = self.call("check", name, code=1).stdout
        self.assertLess(len(text.splitlines()), 45, text)

    def test_rejected_is_1_with_caret_source_and_fix(self):
        name = self.write(GOOD.replace('"11.8.0"', '"12.4.1"').replace('"535.183.01"', '"470.161.03"'))
        got = self.call("check", name, code=1)
        self.assertAllIn(("matrix.yaml:4:12: error: driver 470.161.03 is too old for CUDA 12.4.1", "[driver-supports-cuda, at runtime, 1 cell]",
                       "fix: "), got.stdout)
        verbose = self.call("check", name, "-v", code=1)
        self.assertAllIn(("matrix.yaml:4:12: error: driver 470.161.03 is too old for CUDA 12.4.1", "[driver-supports-cuda, at runtime]",
                       "^~~~", "https://", "fix: "), verbose.stdout)
        markdown = self.call("check", name, "--format", "markdown", code=1)
        self.assertIn("- **error** driver 470.161.03 is too old for CUDA 12.4.1", markdown.stdout)
        github = self.call("check", name, "--format", "github", code=1)
        self.assertIn("::error file=matrix.yaml,line=4,col=12", github.stdout)

    def test_on_moves_the_ends_of_life(self):
        name = self.write(GOOD)
        self.assertNotIn("[end-of-life", self.call("check", name, "--on", "2023-09-01").stdout)
        self.assertIn("[end-of-life", self.call("check", name, "--on", "2035-01-01").stdout)

    def test_fail_on(self):
        def exits(text, *codes):
            name = self.write(text)
            for word, code in zip(("rejected", "unknown", "degraded", "end-of-life", "never"), codes):
                self.call("check", name, "--fail-on", word, "--on", "2026-11-21", code=code)
                self.call("check", name, "--fail-on", word, "--on", "2026-11-21", "--summary", code=code)

        cell = "version: 1\nset: {driver: \"%s\", %s}\n"
        exits(cell % ("470.161.03", 'cuda: "12.4.1"'), 1, 1, 1, 1, 0)
        exits(cell % ("580.95.05", 'gpu: RTX 9999'), 0, 1, 1, 1, 0)
        exits(cell % ("580.95.05", 'gpu: P100, torch: 2.6.0+cu124'), 0, 0, 1, 0, 0)
        exits(cell % ("535.183.01", 'cuda: "12.4.1"'), 0, 0, 0, 1, 0)
        exits(cell % ("580.95.05", 'cuda: "12.4.1"'), 0, 0, 0, 0, 0)
        self.call("check", self.write(GOOD), "--fail-on", "warning", code=2)

    def test_an_end_of_life_is_a_notice(self):
        document = self.json_of("check", self.write("version: 1\nset: {driver: \"535.183.01\", cuda: \"12.4.1\"}\n"), "--on", "2026-11-21")
        (cell,) = document["cells"]
        self.assertEqual(cell["verdict"], "accepted")
        findings = [document["findings"][number] for number in cell["findings"]]
        (notice,) = [each for each in findings if each["rule"] == "end-of-life"]
        self.assertEqual((notice["severity"], notice["lifecycle"]), ("notice", {"end": "2026-06", "successor": notice["fix"]}))
        self.assertTrue(all("lifecycle" not in each for each in findings if each is not notice))

    def test_what_does_not_decide_degrades(self):
        cell = "version: 1\nset: {gpu: P100, torch: 2.6.0+cu124}\n"
        got = self.call("check", self.write(cell), code=0)
        self.assertIn("no torch.compile: triton-supports-gpu", got.stdout)
        self.call("check", self.write(cell + "stages: [runtime, torch_compile]\n"), code=1)

    def test_own_rules_and_waivers(self):
        own = GOOD + "rules: [{id: no-535, require: {driver: \"!=535\"}, because: frozen}]\n"
        got = self.call("check", self.write(own), code=1)
        self.assertIn("driver 535.183.01 does not meet != 535: frozen [no-535, at container_start, 1 cell]", got.stdout)
        waived = own + "waive: [{rule: no-535, because: agreed, until: 2030-01-01}]\n"
        self.assertIn("-v shows 1 note, 1 waived finding", self.call("check", self.write(waived), "--on", "2026-11-21", code=0).stdout)
        got = self.call("check", self.write(waived), "--on", "2026-11-21", "-v", code=0)
        self.assertIn("waived until 2030-01-01 (line 9): agreed", got.stdout)
        late = self.call("check", self.write(waived), "--on", "2031-01-01", code=1)
        self.assertIn("[waiver-expired, at container_start, 1 cell]", late.stdout)
        self.bad(waived.replace("rule: no-535", "rule: no-53"), "did you mean no-535?")

    def test_rules_list_and_show(self):
        listed = self.json_of("rules", "list")
        self.assertEqual(listed["count"], len(listed["rules"]))
        for rule in listed["rules"]:
            shown = self.json_of("rules", "show", rule["id"], "--on", "2026-11-21")
            self.assertTrue(shown["findings"] and shown["why"] and shown["reads"], rule["id"])
        self.refused("rules", "show", "end-of-lif", says="did you mean end-of-life?")

    def test_github_matrix_is_one_line(self):
        name = self.write(GOOD)
        got = self.call("list", name, "--format", "github-matrix", code=0)
        self.assertEqual(got.stdout.count("\n"), 1)
        include = json.loads(got.stdout)["include"]
        self.assertEqual([row["driver"] for row in include], ["535.183.01", "550.54.15"])

    def test_list_prints_the_matrix_file_as_it_was_read(self):
        name = self.write(GOOD)
        printed = self.call("list", name, "--format", "matrix", "--out", "reports", code=0).stdout
        self.assertEqual(self.read("reports/list.yaml"), printed)
        again = self.write(printed)
        self.assertEqual(self.call("list", again, "--format", "matrix", code=0).stdout, printed)
        self.assertEqual(self.json_of("list", again)["cells"], self.json_of("list", self.write(GOOD))["cells"])
        other = self.call("list", name, "--format", "matrix", "--override", "cuda=cu126", code=0).stdout
        self.assertIn('cuda: ["12.6"]', other)
        self.refused("list", name, "--format", "matrix", "--images", says="--images has no format matrix")

    def test_list_images_shows_which_cells_share_one(self):
        name = self.write(TWO)
        got = self.call("list", name, "--images", "--out", "reports", code=0)
        self.assertEqual(got.stderr, "")
        self.assertTrue(got.stdout.startswith("debian12-cu11.8.0 (2 cells)\n  drv580.65.06-t4-cu11.8.0-debian12-debian\n"
                                              "  drv580.95.05-t4-cu11.8.0-debian12-debian\n"), got.stdout)
        self.assertEqual(self.read("reports/list-images.txt"), got.stdout)
        document = self.json_of("list", name, "--images")
        self.call("render", name, "--out", "o")
        index = json.loads(self.read("o/index.json"))
        self.assertEqual([(i["id"], i["cells"]) for i in document["images"]], [(i["id"], i["cells"]) for i in index["images"]])
        include = json.loads(self.call("list", name, "--images", "--format", "github-matrix").stdout)["include"]
        self.assertEqual(include[0]["cells"], "drv580.65.06-t4-cu11.8.0-debian12-debian drv580.95.05-t4-cu11.8.0-debian12-debian")
        self.assertEqual({key: include[0][key] for key in ("image", "id", "tag", "folder", "runner")},
                         {"image": "debian12-cu11.8.0", "id": "debian12-cu11.8.0", "tag": "cudamatrix/good:debian12-cu11.8.0",
                          "folder": "images/debian12-cu11.8.0", "runner": "ubuntu-latest"})
        self.assertEqual([(i["reference"], i["folder"]) for i in index["images"]], [(i["tag"], i["folder"]) for i in include])
        self.write(GOOD.replace("debian12", "windows"))
        self.assertIn("0 images for 0 of 2 cells", self.call("list", name, "--images").stdout)

    def test_the_runner_of_images_with_cuda_is_chosen(self):
        def runners(*arguments):
            got = self.call("list", name, "--images", "--format", "github-matrix", *arguments, code=0)
            self.assertEqual(got.stdout.count("\n"), 1)
            return [(row["id"], row["runner"]) for row in json.loads(got.stdout)["include"]]

        name = self.write("""version: 1
name: mixed
include:
  - {gpu: T4, cuda: "11.8.0", os: debian12}
  - {gpu: T4, cuda: "11.8.0", os: debian12, arch: aarch64}
  - {torch: 2.6.0+cu124, gpu: T4, os: debian12, python: "3.11"}
  - {torch: 2.6.0+cpu, os: debian12, python: "3.11", family: cpu}
""")
        ids = [row[0] for row in runners()]
        self.assertEqual([row[1] for row in runners()], ["ubuntu-latest", "ubuntu-24.04-arm", "ubuntu-latest", "ubuntu-latest"], ids)
        self.assertEqual([row[1] for row in runners("--runner", "gpu_t4-4.core")], ["gpu_t4-4.core"] * 3 + ["ubuntu-latest"], ids)
        for label in ("", "a b", "a\nb", "${{x}}", "x" * 101):
            self.refused("list", name, "--images", "--format", "github-matrix", "--runner", label, says="a label has letters, digits")
        for arguments in (["--images"], ["--format", "github-matrix"], []):
            self.assertEqual(self.refused("list", name, *arguments, "--runner", "gpu"),
                             "cudamatrix: error: --runner is a label of the CI matrix of images\n  fix: give it with --images --format github-matrix\n")

    def test_what_cannot_be_rendered_is_said_once_where_an_image_is_named(self):
        axes = 'version: 1\naxes: {driver: ["570.86.15", "580.65.06"], gpu: [T4, H100]}\n'
        said = ("4 cells are accepted and cannot be rendered, first drv570.86.15-t4-nvidia_cuda: family nvidia-cuda is an image of a toolkit: "
                "the cell names no cuda")
        name = self.write(axes + "set: {family: nvidia-cuda}\n")
        for form in ("text", "markdown", "github"):
            with self.subTest(form):
                text = self.call("check", name, "--format", form, code=0).stdout
                self.assertEqual(text.replace("\\", "").count("cannot be rendered"), 1)
                self.assertIn("fix: write cuda: VERSION, or another family", text)
        warnings = json.loads(self.call("check", name, "--format", "json", code=0).stdout)["warnings"]
        self.assertEqual([(w["severity"], w["message"], w["line"]) for w in warnings], [("note", said, 3)])
        self.assertNotIn("cannot be rendered", self.call("check", name, "--summary", code=0).stdout)
        rendered = self.call("render", name, "--out", "o").stdout
        self.assertEqual(rendered.count("cannot be rendered"), 1)
        self.assertIn("  drv570.86.15-t4-nvidia_cuda and 3 more cells\n", rendered)
        # Nothing of it where an image can be made, or where none is named.
        for rest in ('set: {family: nvidia-cuda, cuda: "12.4.1"}\n', "set: {os: windows}\n", 'set: {torch: 2.6.0+cu124}\n'):
            with self.subTest(rest):
                self.assertNotIn("cannot be rendered", self.call("check", self.write(axes + rest, "other.yaml")).stdout)

    def test_lint(self):
        name = self.write(GOOD.replace("gpu: [T4]", "gpu: [T4, L4]"))
        clean = self.call("lint", name, "--on", "2026-11-21")
        self.assertEqual((clean.returncode, clean.stderr), (0, ""))
        self.assertEqual(clean.stdout, "matrix.yaml:1:1: note: nothing marks the end of the file: one that was cut off may be read as another matrix "
                         "[end-not-marked]\n  1 | version: 1\n    | ^~~~~~~\n  fix: write expect: {cells: 4, keys: 5, end: true}, and ... as the last line\n"
                         "matrix.yaml:6:3: note: cuda 11.8.0 is the only value of its axis: every cell of the product has it "
                         "[one-value-axis]\n  6 |   cuda: [\"11.8.0\"]\n    |   ^~~~\n  fix: write it under set, or add a value\n\n"
                         "good: 2 notes in 4 cells and 1 image\n")
        self.write(GOOD + 'exclude: [{driver: "<400"}]\n')
        found = self.call("lint", name, code=1)
        self.assertIn("matrix.yaml:8:11: warning: this exclude covers no cell of the product [exclude-matches-nothing]", found.stdout)
        document = self.json_of("lint", name)
        finding = next(f for f in document["findings"] if f["id"] == "exclude-matches-nothing")
        self.assertEqual(finding["edits"], [{"line": 8, "column": 11, "end_line": 8, "end_column": 27, "text": ""}])
        self.assertEqual(document["counts"]["warning"], 1)
        self.assertIn("::warning file=matrix.yaml,line=8,col=11", self.call("lint", name, "--format", "github").stdout)
        self.write("# lint: allow exclude-matches-nothing\n" + GOOD + 'exclude: [{driver: "<400"}]\n')
        self.call("lint", name, code=0)
        self.bad("version: 1\nfoo: 1\n", "foo")
        self.call("lint", "nowhere.yaml", code=2)
        self.call("lint", name, "--within", "soon", code=2)

    def test_lint_says_that_it_looks_at_each_cell(self):
        axes = "".join(f"  {name}: {json.dumps(values)}\n" for name, values in (
            ("driver", [f"550.{i}.15" for i in range(60)]), ("cuda", [f"12.{i}" for i in range(10)]),
            ("python", [f"3.{i}" for i in range(7, 15)]), ("vram_gb", [str(i) for i in range(1, 41)])))
        name = self.write("version: 1\nname: large\naxes:\n" + axes)
        self.refused("lint", name, says=("192000 cells", "at most 100000 are judged one by one", "check --summary"))


if __name__ == "__main__":
    main()

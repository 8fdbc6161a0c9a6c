"""The command line as a user meets it: report. Usage: report_test.py CUDAMATRIX [unittest arguments]"""
import json

from cli import Cli, main

MATRIX = """version: 1
name: two
axes: {driver: ["550.54.15", "470.161.03"]}
set: {gpu: RTX 3090, cuda: "12.4.1", os: ubuntu22.04, family: nvidia-cuda, flavour: base, python: "3.10"}
"""


class Report(Cli):
    def setUp(self):
        super().setUp()
        self.write(MATRIX, "m.yaml")
        self.rendered = self.call("render", "m.yaml", "--format", "json").stdout
        self.write(self.rendered, "a.json")

    def test_json_is_the_same_and_text_is_what_render_prints(self):
        self.assertEqual(self.call("report", "a.json", "--format", "json", code=0).stdout, self.rendered)
        self.assertEqual(self.call("report", "a.json", code=0).stdout, self.call("render", "m.yaml").stdout)
        got = self.call("report", "a.json", "--format", "junit", "--out", "o", code=0)
        self.assertEqual(got.stdout, self.read("o/report.xml"))
        self.assertEqual(got.stderr, "")

    def test_a_report_has_the_fix_of_what_is_rejected(self):
        cells = json.loads(self.rendered)["cells"]
        self.assertEqual([len(cell["fixes"]) for cell in cells], [len(cell["findings"]) for cell in cells])
        fixes = dict(zip(cells[1]["findings"], cells[1]["fixes"]))
        error = "error: driver 470.161.03 is too old for CUDA 12.4.1: CUDA 12 needs >= 525.60.13 [driver-supports-cuda, at runtime]"
        self.assertEqual(fixes[error], 'driver >= 525.60.13, or cuda 11.8.0, or exclude: {driver: "470.161.03"}')

    def test_its_exit_code_is_that_of_the_report(self):
        report = json.loads(self.rendered)
        report["exit_code"] = 1
        self.write(json.dumps(report), "b.json")
        self.call("report", "b.json", code=1)
        self.call("report", "b.json", "a.json", code=0)
        self.call("report", "a.json", "a.json", "--strict", code=1)

    def test_bad_input_is_2(self):
        self.refused("report", "none.json", says="none.json")
        self.refused("report", says="FILE")
        self.write(self.rendered[:-3], "cut.json")
        self.refused("report", "a.json", "cut.json", says="not valid JSON")
        self.write(self.call("check", "m.yaml", "--format", "json").stdout, "check.json")
        self.refused("report", "check.json", says=("$.schema_version: found 2, expected 1", "report.json of their output folder"))
        report = json.loads(self.rendered)
        report["cells"][0]["outcome"] = "good"
        self.write(json.dumps(report), "odd.json")
        self.refused("report", "odd.json", says='odd.json: error: $.cells[0].outcome: found "good", expected skipped, planned,')
        self.write(self.rendered.replace('"name":"two"', '"name":"three"'), "other.json")
        self.refused("report", "a.json", "other.json", says="other.json: error: the matrix is three, that of a.json is two")

    def test_what_is_no_report_of_a_run_has_not_all_formats(self):
        for arguments in (["test", "m.yaml", "--prove-rejected"], ["render", "m.yaml", "--check"]):
            self.refused(*arguments, "--format", "markdown", says="format markdown")
        got = self.call("report", "a.json", "--format", "markdown", "--out", "o", code=0)
        self.assertEqual(got.stdout, self.read("o/report.md"))
        self.assertTrue(got.stdout.startswith("**render of two**: rendered: 1 cell in 1 image, 1 rejected, 0 unknown\n"), got.stdout)

    def test_page(self):
        page = self.call("report", "a.json", "--format", "html", code=0).stdout
        self.assertTrue(page.startswith("<!DOCTYPE html>") and page.endswith("</html>\n"))
        data = json.loads(page.split('id="data">', 1)[1].split("</script>", 1)[0])
        self.assertEqual([cell["id"] for cell in data["cells"]], [cell["id"] for cell in json.loads(self.rendered)["cells"]])


if __name__ == "__main__":
    main()

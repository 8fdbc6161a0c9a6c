"""The rules' rejections as predictions: each is attempted with the real tools and has to fail as the rule says.
Usage: reject_test.py CUDAMATRIX SOURCE_DIR WORK_DIR   (needs a docker daemon and the network; no GPU)

WORK_DIR is that of images_test.py: its lock, its bootstrap tars and the build cache behind them are used where they are there,
and made where they are not."""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree as xml

PROGRAM, SOURCE, WORK = [pathlib.Path(a).resolve() for a in sys.argv[1:4]]
del sys.argv[1:4]
MATRIX = WORK / "rejected.yaml"
OUT = WORK / "out"

# rule -> how many of the matrix' rejections it has to prove
PROVEN = {"cuda-supports-compute": 6, "compiler-supported-by-cuda": 2, "driver-supports-cuda": 3, "torch-supports-python": 2,
          "companions-match-torch": 1, "packages-agree": 3, "toolkit-wheels-one-release": 2}
CA = "/etc/ssl/certs/ca-certificates.crt"


def prove(matrix, *extra):
    bundle = ["--ca-bundle", CA] if os.path.exists(CA) else []
    got = subprocess.run([PROGRAM, "test", matrix, "--prove-rejected", "--out", OUT, "--engine", "docker", "--network", "host",
                          "--format", "json", *bundle, *extra], stdout=subprocess.PIPE, text=True)
    return got.returncode, json.loads(got.stdout) if got.stdout else None


class Rejected(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        WORK.mkdir(parents=True, exist_ok=True)
        shutil.copy(SOURCE / "tests/e2e/rejected/matrix.yaml", MATRIX)

    def test_1_every_rejection_that_can_be_attempted_happens(self):
        code, report = prove(MATRIX, "--jobs", "2")
        shown = json.dumps(report, indent=1)[:40000]
        self.assertEqual(code, 0, shown)
        by_outcome = collections.defaultdict(list)
        for rejection in report["rejections"]:
            by_outcome[rejection["outcome"]].append(rejection)
        self.assertEqual(by_outcome["refuted"] + by_outcome["inconclusive"], [], shown)
        self.assertEqual(collections.Counter(r["rule"] for r in by_outcome["proven"]), PROVEN, shown)
        for rejection in by_outcome["proven"]:
            with self.subTest(rejection["attempt"]):
                self.assertTrue(rejection["seen"] and rejection["control"] and rejection["cells"])
                log = (OUT / rejection["log"]).read_text()
                self.assertIn("# step control: exit code 0\n", log)
                self.assertIn(rejection["seen"], log)
        toolkits = {r["fields"]["cuda"] for r in by_outcome["proven"] if "cuda" in r["fields"]}
        self.assertEqual(toolkits, {"11.8.0", "12.4.1", "13.4.3"})  # and 13.0, whose parts are mixed
        reasons = {r["rule"]: r["reason"] for r in by_outcome["not-attempted"]}
        self.assertIn("index of their own", reasons["torch-built-for-cuda"])
        self.assertEqual(reasons["torch-ships-compute"], "at runtime it needs the cell's GPU")

    def test_2_the_reports_agree(self):
        report = json.loads((OUT / "rejections.json").read_text())
        suite = xml.parse(OUT / "rejections.xml").getroot().find("testsuite")
        self.assertEqual(int(suite.get("tests")), len(report["rejections"]))
        self.assertEqual((suite.get("failures"), suite.get("errors")), ("0", "0"))
        self.assertIn(f"{report['outcomes']['proven']} proven, 0 refuted, 0 inconclusive", (OUT / "rejections.txt").read_text())

    def test_3_where_chooses(self):
        code, report = prove(MATRIX, "--where", "cuda=11.8.0,compute=10.0")
        self.assertEqual((code, [r["outcome"] for r in report["rejections"]]), (0, ["proven"]))

    def test_4_a_rejection_that_is_wrong_is_refuted(self):
        """With a fact falsified so that 11.8 lacks a target that it has, the attempt works after all, and that is said."""
        facts = WORK / "wrong-facts"
        shutil.rmtree(facts, ignore_errors=True)
        facts.mkdir()
        table = (SOURCE / "matrix/facts/cuda_toolkits.yaml").read_text().splitlines()
        row = next(i for i, line in enumerate(table) if "id: cuda-toolkit-11.8," in line)
        self.assertEqual(table[row].count('"8.0", '), 1)
        self.assertEqual(table[row].count('"8.6", '), 1)
        table[row] = table[row].replace('"8.0", ', "").replace('"8.6", ', "")
        (facts / "cuda_toolkits.yaml").write_text("\n".join(table) + "\n")
        matrix = WORK / "refuted.yaml"
        matrix.write_text('version: 1\nname: refuted\nset: {cuda: "11.8.0", os: debian12, compute: "8.0", family: debian}\n')
        code, report = prove(matrix, "--facts", facts)
        self.assertEqual(code, 1)
        self.assertEqual([(r["rule"], r["outcome"]) for r in report["rejections"]], [("cuda-supports-compute", "refuted")])
        self.assertIn("this works after all, but the rule rejects it", (OUT / "rejections.txt").read_text())

    def test_5_an_index_that_is_not_there_proves_nothing(self):
        """pip ends with the very same words when nobody answers; the control tells the two apart."""
        matrix = WORK / "no-index.yaml"
        matrix.write_text('version: 1\nname: no-index\nset: {torch: 1.12.1+cu118, os: debian12, family: debian}\n'
                          'mirrors: {pytorch: "http://127.0.0.1:9/whl"}\n')
        code, report = prove(matrix)
        self.assertEqual(code, 1)
        self.assertEqual({r["rule"]: r["outcome"] for r in report["rejections"]}["torch-built-for-cuda"], "inconclusive")


if __name__ == "__main__":
    unittest.main(failfast=True)

"""docker, podman and buildah build and prove the same image, with the same verdicts; and clean removes what they hold of ours.
Usage: engines_test.py CUDAMATRIX SOURCE_DIR WORK_DIR   (root; needs a docker daemon, podman, buildah, runc and the network; no GPU)

podman works in stores below WORK_DIR, which are removed again. The tests run in the order of their names."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

from podman_store import Store

PROGRAM, SOURCE, WORK = [pathlib.Path(a).resolve() for a in sys.argv[1:4]]
del sys.argv[1:4]
# Neither nvcc nor torch: what differs between the engines is all here, and the build takes a minute.
MATRIX = """version: 1
name: engines
set: {driver: "580.65.06", gpu: T4, python: "3.11", family: debian, os: debian12}
build: {base_from: bootstrap, snapshot: none}
"""
DOCKER = "/usr/bin/docker" if os.path.exists("/usr/bin/docker") else "docker"
IMAGE = "cudamatrix/engines:debian12-py3.11"


def podman(store, *arguments, check=True):
    return Store(WORK, store).podman(*arguments, check=check)


def environment(store):
    return dict(os.environ, **Store(WORK, store).environment)


def cudamatrix(command, *arguments, store="podman"):
    """Progress to our own stderr; exit code and JSON report back."""
    got = subprocess.run([PROGRAM, command, *arguments, "--format", "json"], stdout=subprocess.PIPE, text=True, env=environment(store))
    return got.returncode, json.loads(got.stdout) if got.stdout else None


def run(engine, *arguments, command="run", store=None):
    """In an output folder of the engine's own; all start from one base and one lock."""
    out = WORK / f"out-{engine}"
    if (WORK / "out-docker/bootstrap").is_dir() and not out.exists():
        shutil.copytree(WORK / "out-docker/bootstrap", out / "bootstrap", copy_function=os.link)
    code, report = cudamatrix(command, WORK / "matrix.yaml", "--out", out, "--engine", engine, "--network", "host", "--ca-bundle",
                              "/etc/ssl/certs/ca-certificates.crt", *arguments, store=store or engine)
    if report is None:
        raise AssertionError(f"{command} by {engine}: exit code {code}")
    return code, report


def verdicts(report):
    """What must not depend on the engine."""
    return [{**{key: cell[key] for key in ("id", "verdict", "outcome", "proof")},
             "tests": [(t["id"], t["part"], t["status"], t.get("reason")) for t in cell["tests"]]} for cell in report["cells"]]


class Engines(unittest.TestCase):
    seen = {}

    @classmethod
    def setUpClass(cls):
        cls.forget()
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)
        (WORK / "matrix.yaml").write_text(MATRIX)
        # An earlier run's would be reused, and nothing would be built.
        subprocess.run([DOCKER, "image", "rm", "--force", IMAGE, IMAGE + "-proof"], capture_output=True)

    @classmethod
    def tearDownClass(cls):
        cls.forget()

    @staticmethod
    def forget():
        if WORK.exists():
            for store in ("podman", "buildah"):
                Store(WORK, store).forget()

    def check(self, engine):
        code, report = run(engine)
        self.assertEqual((code, report["engine"]["name"]), (4, engine), json.dumps(report, indent=1)[:20000])
        cell, = report["cells"]
        self.assertEqual((cell["outcome"], cell["proof"]), ("passed_without_gpu", "loaded"))
        self.assertIn("pass", {t["status"] for t in cell["tests"]})
        self.assertFalse(report["images"][0]["reused"])
        self.seen[engine] = verdicts(report)

    def test_1_docker(self):
        self.check("docker")

    def test_2_podman_gives_the_same_verdicts(self):
        self.check("podman")
        self.assertEqual(self.seen["podman"], self.seen["docker"])
        labels = json.loads(podman("podman", "image", "inspect", "localhost/" + IMAGE))[0]["Config"]["Labels"]
        self.assertTrue(labels["io.cudamatrix.inputs"])
        code, report = run("podman")
        self.assertEqual((code, report["images"][0]["reused"]), (4, True))

    def test_3_buildah_builds_what_podman_runs(self):
        self.check("buildah")
        self.assertEqual(self.seen["buildah"], self.seen["docker"])

    def test_4_a_podman_behind_a_socket_tests_what_is_there(self):
        socket = WORK / "podman.sock"
        service = subprocess.Popen(["podman", "system", "service", "--time=0", f"unix://{socket}"], env=environment("podman"))
        try:
            while not socket.exists() and service.poll() is None:
                time.sleep(0.1)
            (WORK / "out-podman/journal.jsonl").unlink()  # proved by an earlier run
            code, report = run("podman", "--engine-host", f"unix://{socket}", command="test")
            self.assertEqual(code, 4, json.dumps(report, indent=1)[:20000])
            self.assertIn(f"at unix://{socket}", report["engine"]["why"])
            self.assertEqual(verdicts(report), self.seen["docker"])
        finally:
            service.terminate()
            service.wait()

    def test_5_docker_by_its_url(self):
        url = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
        (WORK / "out-docker/journal.jsonl").unlink()
        code, report = run("docker", "--engine-host", url, command="test")
        self.assertEqual((code, verdicts(report)), (4, self.seen["docker"]))

    def test_6_a_build_that_fails_says_why(self):
        """The line that decides, found in what podman prints."""
        (WORK / "broken").mkdir()
        matrix = WORK / "broken/matrix.yaml"
        matrix.write_text(MATRIX + "images: [{name: app, apt: [no-such-package]}]\n")
        shutil.copytree(WORK / "out-docker/bootstrap", WORK / "broken/out/bootstrap", copy_function=os.link)
        code, report = cudamatrix("run", matrix, "--out", WORK / "broken/out", "--engine", "podman", "--network", "host")
        self.assertEqual(code, 1, report)
        self.assertIn("the build failed: E: Unable to locate package no-such-package", report["images"][0]["error"])

    def test_7_clean_removes_ours_and_nothing_else(self):
        podman("podman", "tag", "localhost/" + IMAGE, "localhost/theirs:1")
        podman("podman", "create", "--name", "left", "--label", "io.cudamatrix.run=killed", "localhost/theirs:1")
        podman("podman", "create", "--name", "other", "localhost/theirs:1")
        clean = ("--engine", "podman", "--images")
        code, report = cudamatrix("clean", *clean, "--dry-run")
        self.assertEqual((code, [c["name"] for c in report["containers"]]), (0, ["left"]))
        self.assertEqual(len(podman("podman", "ps", "--all", "--quiet").split()), 2)
        code, report = cudamatrix("clean", *clean)
        self.assertEqual(code, 0, report)
        self.assertEqual([(c["name"], c["outcome"]) for c in report["containers"]], [("left", "removed")])
        outcomes = {i["name"]: i["outcome"] for i in report["images"] if i["name"]}
        self.assertEqual(outcomes, {f"localhost/{IMAGE}": "removed", f"localhost/{IMAGE}-proof": "removed", "localhost/theirs:1": "kept"})
        self.assertEqual(podman("podman", "ps", "--all", "--format", "{{.Names}}"), "other")
        self.assertEqual(podman("podman", "image", "exists", "localhost/theirs:1"), "")

    def test_8_clean_on_docker(self):
        code, report = cudamatrix("clean", "--engine", "docker", "--images", "--out", WORK / "out-docker", store="docker")
        self.assertEqual((code, {i["name"]: i["outcome"] for i in report["images"]}), (0, {IMAGE: "removed", IMAGE + "-proof": "removed"}))


if __name__ == "__main__":
    unittest.main(failfast=True)

"""Digests: what a lock pins, a render names and a build pulls. Part of registry_test.py."""
import json
import os
import re
import subprocess

import stand_ins
from world import (AGAIN, DEBIAN, DEVEL, DOCKER, GATEWAY, NGC, PYTHON, PYTORCH, REGISTRY, RUNTIME, WORK, RegistryTest, World, answers,
                   cells_of_families, cudamatrix, docker, forget_images, matrix, real_name)


class Pins(RegistryTest):
    def test_01_there_is_nothing_but_the_loopback(self):
        for outside in (World.gateway.archive, World.gateway.index, "http://192.0.2.1/"):
            self.assertFalse(answers(outside, *range(300, 600)), outside)
        self.assertTrue(answers(f"{GATEWAY}/debian/dists/bookworm/Release"))

    def test_02_the_lock_has_the_digests_of_the_registry(self):
        for name, cells in cells_of_families().items():
            with self.subTest(name):
                path = matrix(name, cells)
                self.done(cudamatrix("lock", path))
                self.assertIn("already pinned", self.done(cudamatrix("lock", path)).stdout)
        for name, wanted in {"plain": [RUNTIME, DEVEL, PYTHON], "torch": [PYTORCH, PYTHON], "official": [DEBIAN], "ngc": [NGC]}.items():
            self.assertEqual({reference: pin["digest"] for reference, pin in self.lock_of(name)["references"].items()},
                             {real_name(reference): World.digests[reference] for reference in wanted})

    def test_03_rendered_files_name_the_digest_and_no_other_host(self):
        found = {}
        for name, cells in cells_of_families().items():
            self.done(cudamatrix("render", WORK / name / "matrix.yaml", "--locked"))
            self.assertEqual(len(self.dockerfiles(name)), len(cells))
            for path in self.dockerfiles(name, "*Dockerfile"):
                text = path.read_text()
                self.assertNotIn("unpinned", text.lower(), path)
                self.assertEqual([u for u in re.findall(r"https?://[^/ '\"]+", text) if u != GATEWAY], [])
                for base in re.findall(r"^FROM (\S+[:@]\S+) AS", text, re.M):
                    place, _, digest = base.partition("@")
                    found[place.removeprefix(REGISTRY + "/")] = digest
        wanted = (RUNTIME, DEVEL, PYTHON, PYTORCH, DEBIAN, NGC)
        self.assertEqual(found, {reference: World.digests[reference] for reference in wanted})

    def test_04_images_of_every_family_are_built_on_what_the_digest_names(self):
        families = set()
        for name in cells_of_families():
            report = self.build(WORK / name / "matrix.yaml")
            for cell in report["cells"]:
                self.assertEqual(cell["proof"], "built", cell)
            by_id = {cell["image"]: cell["fields"]["family"] for cell in report["cells"]}
            for image in report["images"]:
                families.add(by_id[image["id"]])
                config = json.loads(docker("image", "inspect", image["reference"]))[0]["Config"]
                self.assertEqual(config["User"], "65532:65532")
                base = config["Labels"].get("org.opencontainers.image.base.name")
                if base is None:
                    self.assertEqual(by_id[image["id"]], "debian")
                    continue
                reference = next(r for r in World.digests if real_name(r) == base)
                self.assertEqual(config["Labels"]["org.opencontainers.image.base.digest"], World.digests[reference])
                self.assertIn("stand-in for", config["Labels"]["cudamatrix.stand-in"])
                log = (WORK / name / "out" / f"logs/build-{image['id']}.log").read_text()
                self.assertIn(f"FROM {REGISTRY}/{reference}@{World.digests[reference]}", log)
        self.assertEqual(families, {"debian", "nvidia-cuda", "cpu", "pytorch", "ngc"})

    def test_05_the_wheel_of_the_loopback_index_is_in_the_images(self):
        images = docker("image", "ls", "--format", "{{.Repository}}:{{.Tag}}").split()
        for family in ("plain:debian12", "official:debian12", "plain:cpu", "ngc:ngc", "torch:pytorch"):
            with self.subTest(family):
                image = next(i for i in images if f"/{family}" in i and "pkg" in i and "-proof" not in i)
                said = docker("run", "--rm", "--network", "none", image, "/opt/venv/bin/python", "-c", "import loopback_demo as d; print(d.VALUE)")
                self.assertEqual(said.strip(), "42")

    def test_06_the_suite_in_an_image_on_a_stand_in_finds_what_its_real_nvcc_made(self):
        report = self.build(WORK / "plain/matrix.yaml", 4, "test")
        cell = next(c for c in report["cells"] if c["fields"]["family"] == "nvidia-cuda")
        self.assertEqual((cell["outcome"], cell["proof"]), ("passed_without_gpu", "interpreted"), cell)
        static = next(t for t in cell["tests"] if t["id"] == "static.fatbin")
        self.assertIn("sass 7.5", static["fatbin"])

    def test_07_docker_build_by_hand(self):
        for path in self.dockerfiles("plain"):
            with self.subTest(path.parent.name):
                line = next(h.lstrip("# ").strip() for h in path.read_text().splitlines() if " docker build " in h)
                words = [w for w in line.split() if "=" not in w or w.startswith("--")]
                command = [w if previous != "--tag" else "by-hand" for previous, w in zip([""] + words, words)]
                got = subprocess.run([DOCKER, *command[command.index("docker") + 1:]], cwd=path.parent, capture_output=True, text=True,
                                     env={**os.environ, "DOCKER_BUILDKIT": "1"})
                self.assertEqual(got.returncode, 0, line + got.stdout + got.stderr)

    def test_08_a_tag_that_was_pushed_again_is_a_finding_and_what_is_pinned_is_built(self):
        path = matrix("moved", [cells_of_families()["plain"][2]])
        self.done(cudamatrix("lock", path))
        before = (WORK / "moved/cudamatrix.lock").read_bytes()
        headers, again = stand_ins.ask(REGISTRY, AGAIN)
        stand_ins.ask(REGISTRY, PYTHON, "PUT", again, headers["Content-Type"])
        got = self.done(cudamatrix("lock", path), 1)
        self.assertEqual(got.stderr.partition("error: ")[2].splitlines(), [
            f"{real_name(PYTHON)} has moved: cudamatrix.lock pins {World.digests[PYTHON]}, the registry {REGISTRY} now gives {World.moved}",
            "  note: what is pinned can still be pulled by its digest",
            f"  fix: cudamatrix lock --update={real_name(PYTHON)} {path}"])
        self.assertEqual((WORK / "moved/cudamatrix.lock").read_bytes(), before)
        # Nothing of it is here any more: it is pulled.
        forget_images()
        self.assertNotIn("pushed again", self.stand_in_under(path))

    def test_09_update_moves_the_pin_and_says_so(self):
        path = WORK / "moved/matrix.yaml"
        got = self.done(cudamatrix("lock", path, "--update=images"))
        # What was pushed again is for the processor of this machine only.
        self.assertEqual(got.stdout.splitlines(), [
            f"{real_name(PYTHON)}: architectures x86_64, aarch64 -> x86_64",
            f"{real_name(PYTHON)}: digest {World.digests[PYTHON]} -> {World.moved}"])
        self.assertIn("pushed again", self.stand_in_under(path))

    def test_10_a_tag_that_was_deleted_is_a_finding(self):
        headers, again = stand_ins.ask(REGISTRY, PYTHON)
        stand_ins.ask(REGISTRY, PYTHON.partition(":")[0] + "@" + World.moved, "DELETE")
        got = self.done(cudamatrix("lock", WORK / "moved/matrix.yaml"), 1)
        self.assertEqual(got.stderr.partition("error: ")[2].splitlines(), [
            f"{real_name(PYTHON)} has vanished: cudamatrix.lock pins {World.moved}, the registry {REGISTRY} has no such tag now",
            "  note: what is pinned cannot be pulled any longer",
            "  fix: choose a tag that there is, or a mirror that keeps it: mirrors: {docker.io: HOST/PATH}"])
        stand_ins.ask(REGISTRY, PYTHON, "PUT", again, headers["Content-Type"])
        self.done(cudamatrix("lock", WORK / "moved/matrix.yaml"))

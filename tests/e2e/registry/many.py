"""Six images of every kind in one matrix, by one engine: killed, one of them failing, and carried on. Parts of registry_test.py: docker, podman."""
import json
import os
import random
import signal
import subprocess
import sys
import time

import world
from podman_store import Store
from world import PROGRAM, REGISTRY, WORK, RegistryTest, World, cudamatrix, docker, matrix

DEMO = {"loopback-demo": "1.0"}
# Toolkits of the archive and of wheels, torch, and none; debian12 on its image of the registry, debian13, of which it has none, bootstrapped.
CELLS = [{"os": "debian12", "cuda": "11.8.0"}, {"os": "debian12", "cuda": "13.4.3"}, {"os": "debian13", "cuda": "12.4.1"},
         {"os": "debian12", "torch": "2.6.0+cu124", "python": "3.11"}, {"os": "debian13", "python": "3.13"},
         {"os": "debian12", "python": "3.11", "packages": DEMO}]
KILLS = 5


class Many(RegistryTest):
    @classmethod
    def setUpClass(cls):
        cls.engine = world.PART
        cls.path = matrix("many", [{**cell, "family": "debian", "driver": "580.65.06", "gpu": "T4"} for cell in CELLS])
        cls.store = Store(WORK, "store", f'[[registry]]\nlocation = "{REGISTRY}"\ninsecure = true\n') if cls.engine == "podman" else None
        cls.environment = cls.store.environment if cls.store else {}
        cls.failing, = (image["id"] for image in json.loads(cudamatrix("list", cls.path, "--images", "--format", "json").stdout)["images"]
                        if "-pkg" in image["id"])
        for stand_in in (World.gateway.local / "wheels").glob("torch-*"):
            stand_in.unlink()  # the real one is wanted
        cls.wheel, = (World.gateway.local / "wheels").glob("loopback_demo-*")

    @classmethod
    def tearDownClass(cls):
        if cls.store:
            cls.store.forget()

    def whole_run(self, code):
        begin = time.monotonic()
        got = cudamatrix("run", self.path, "--engine", self.engine, "--format", "json", "-j", "2", env=self.environment)
        print(f"{self.engine}: run ends with {got.returncode} after {time.monotonic() - begin:.1f} s", file=sys.stderr)
        return json.loads(self.done(got, code).stdout)

    def records(self):
        """The journal's whole lines. Only the last one may be torn."""
        path = self.path.parent / "out/journal.jsonl"
        *lines, last = path.read_bytes().split(b"\n") if path.exists() else [b""]
        whole = [json.loads(line) for line in lines if line]
        try:
            return whole + ([json.loads(last)] if last else [])
        except ValueError:
            return whole

    def finished(self):
        """What was built and tested, as often as it was."""
        return [(r.get("step", "test"), r.get("of", r.get("cell"))) for r in self.records() if r.get("step") in ("build", "proof") and r["good"] or
                r.get("outcome", "").startswith("passed")]

    def containers(self):
        ours = ("ps", "--all", "--quiet", "--filter", "label=io.cudamatrix.run")
        return (self.store.podman(*ours) if self.store else docker(*ours)).split()

    def test_1_all_is_locked_and_one_wheel_goes(self):
        self.done(cudamatrix("lock", self.path, "--engine", self.engine, env=self.environment))
        self.wheel.rename(WORK / self.wheel.name)

    def test_2_killed_at_random_moments_it_loses_nothing(self):
        chance = random.Random(20261127)
        kept = 0
        for number in range(KILLS):
            process = subprocess.Popen([PROGRAM, "run", self.path, "--facts", WORK / "facts", "--out", self.path.parent / "out", "--engine", self.engine,
                                        "-j", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                       env={**os.environ, **self.environment})
            # At a moment within one of its first steps, wherever that is.
            goal, steps = chance.randrange(3), len(self.finished())
            while len(self.finished()) < steps + goal and process.poll() is None:
                time.sleep(0.05)
            time.sleep(chance.uniform(0, 8))
            self.assertIsNone(process.poll())
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for path in (self.path.parent / "out").rglob("*.json"):
                if "suite" not in path.parts:
                    json.loads(path.read_text())
            kept = len(self.finished())
        print(f"{self.engine}: {KILLS} kills, {kept} finished steps", file=sys.stderr)

    def test_3_one_fails_and_the_others_are_proved(self):
        report = self.whole_run(1)
        outcomes = {cell["image"]: cell["outcome"] for cell in report["cells"]}
        self.assertEqual(len(outcomes), 6)
        self.assertEqual({image for image, outcome in outcomes.items() if outcome != "passed_without_gpu"}, {self.failing})
        failed, = (image for image in report["images"] if image["error"])
        self.assertEqual(failed["id"], self.failing)
        self.assertIn("loopback", failed["error"])
        self.assertIn("loopback", (self.path.parent / "out" / failed["log"]).read_text())
        twice = {step for step in self.finished() if self.finished().count(step) > 1}
        self.assertEqual(twice, set())
        self.assertIn(f"FROM {REGISTRY}/hub/library/debian:bookworm@sha256:", (self.path.parent / f"out/images/{self.failing}/Dockerfile").read_text())

    def test_4_a_second_run_repeats_that_one_alone(self):
        before = len(self.records())
        self.whole_run(1)
        self.assertEqual({(r["step"], r["of"]) for r in self.records()[before:] if r.get("step") != "base"}, {("build", self.failing)})

    def test_5_and_builds_it_once_it_can(self):
        (WORK / self.wheel.name).rename(self.wheel)
        before = len(self.records())
        report = self.whole_run(4)
        self.assertEqual({cell["outcome"] for cell in report["cells"]}, {"passed_without_gpu"})
        self.assertEqual({r["of"] for r in self.records()[before:] if r.get("step") in ("build", "proof")}, {self.failing})

    def test_6_then_there_is_nothing_to_do(self):
        before = len(self.records())
        self.whole_run(4)
        self.assertEqual(self.records()[before:], [])

    def test_7_nothing_is_left(self):
        self.done(subprocess.run([PROGRAM, "clean", "--engine", self.engine], capture_output=True, text=True,
                                 env={**os.environ, **self.environment}))
        self.assertEqual(self.containers(), [])

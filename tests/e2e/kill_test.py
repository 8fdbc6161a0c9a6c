"""Killed at random moments, a run loses nothing that it finished: kill -9 of the whole job on a fake engine, then a second run.
Usage: kill_test.py CUDAMATRIX SOURCE_DIR [TIMES [SEED]]   (8 times by default; by hand: 200)

After each kill: no torn file in the output folder, a journal of which all lines but the last are whole, and a second run that passes, repeats no
build and no test that the first had finished, and leaves nothing for `clean`."""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM, SOURCE = [pathlib.Path(a).resolve() for a in sys.argv[1:3]]
sys.path.append(str(SOURCE / "tests/fakes"))
import fake_site

TIMES = int(sys.argv[3]) if len(sys.argv) > 3 else 8
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 20261127
MATRIX = """version: 1
name: killed
axes:
  driver: ["550.54.15"]
  gpu: [T4, H100]
  cuda: ["11.8.0"]
  os: debian12
build: {base_from: bootstrap, snapshot: none}
images:
  - {name: a, env: {MODE: a}}
  - {name: b, env: {MODE: b}}
  - {name: c, env: {MODE: c}}
"""
STAGED = (".cudamatrix-stage", ".cudamatrix-ready")  # of a render that was not committed


class World:
    """A folder with a matrix, a fake docker and a fake mmdebstrap, and nothing else of this machine on PATH."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        (self.root / "tools").mkdir(parents=True)
        (self.root / "matrix.yaml").write_text(MATRIX)
        for tool in ("env", "python3", "sleep", "chmod", "mkdir", "cat"):
            (self.root / "tools" / tool).symlink_to(shutil.which(tool))
        self.environment = {"PATH": f"{self.root}/bin:{self.root}/tools", **fake_site.install(self.root / "bin", self.root / "state")}
        self.out = self.root / "out"

    def start(self, *arguments):
        return subprocess.Popen([PROGRAM, "run", self.root / "matrix.yaml", "--out", self.out, "--engine", "docker", "--network", "host", "-j",
                                 "2", *arguments], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                start_new_session=True)

    def finish(self):
        """Exit code and stderr of a whole run."""
        process = self.start()
        _, said = process.communicate()
        return process.returncode, said

    def calls(self):
        """What was asked of the engine so far: (verb, all words)."""
        path = self.root / "state/calls.jsonl"
        if not path.exists():
            return []
        argvs = [json.loads(line)["argv"] for line in path.read_text().split("\n")[:-1]]
        return [(argv[0], " ".join(argv)) for argv in argvs]

    def finished_steps(self):
        """By the journal's whole lines: what a second run may not repeat."""
        path = self.out / "journal.jsonl"
        if not path.exists():
            return set(), set()
        lines = path.read_bytes().split(b"\n")
        records = []
        for number, line in enumerate(lines):
            if not line:
                continue
            try:
                records.append(json.loads(line))
            except ValueError:
                assert number == len(lines) - 1, f"line {number + 1} of {len(lines)} of the journal is torn: {line[:80]!r}"
        built = {(r["step"], r["of"]) for r in records if r.get("step") in ("build", "proof") and r["good"]}
        tested = {r["cell"] for r in records if "cell" in r and r["outcome"] in ("passed", "passed_without_gpu")}
        return built, tested

    def torn_files(self):
        """Files of ours that are not what their name says, or are called as only unfinished ones are."""
        torn = []
        for path in self.root.rglob("*"):
            if "state" in path.parts or not path.is_file():
                continue
            if path.suffix == ".json" and "/suite/" not in str(path):
                try:
                    json.loads(path.read_text())
                except ValueError:
                    torn.append(path.name)
        return torn


def containers_of(world):
    folder = world.root / "state/containers"
    return sorted(os.listdir(folder)) if folder.is_dir() else []


def once(calls, pause):
    """Kills a run `pause` seconds after it has called the engine so often; gives how many steps it had finished by then."""
    with tempfile.TemporaryDirectory(prefix="cudamatrix-kill-") as root:
        world = World(root)
        process = world.start()
        while len(world.calls()) < calls and process.poll() is None:
            time.sleep(0.005)
        time.sleep(pause)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert not world.torn_files(), f"torn: {world.torn_files()}"
        built, tested = world.finished_steps()
        before = len(world.calls())
        code, said = world.finish()
        assert code == 4, f"the second run ends with {code}:\n{said}"
        again = world.calls()[before:]
        for kind, image in built:
            repeated = [words for verb, words in again
                        if verb == "build" and f"/images/{image}" in words and ("--file" in words) == (kind == "proof") and "lock" not in words]
            assert not repeated, f"{kind} {image} had ended and is repeated: {repeated}"
        for cell in tested:
            assert not [words for verb, words in again if verb == "run" and f"--cell {cell} " in words], f"{cell} had passed and is tested again"
        assert not world.torn_files(), f"torn: {world.torn_files()}"
        leftovers = [path.name for path in world.out.rglob("*") if path.name.startswith("partial-") or path.name in STAGED]
        assert not leftovers, f"left behind: {leftovers}"
        clean = subprocess.run([PROGRAM, "clean", "--engine", "docker"], env=world.environment, capture_output=True, text=True)
        assert clean.returncode == 0 and not containers_of(world), f"clean: {clean.stdout}{clean.stderr}{containers_of(world)}"
        before = len(world.calls())
        code, said = world.finish()
        repeated = [words for verb, words in world.calls()[before:] if verb in ("build", "run")]
        assert code == 4 and not repeated, f"the third run ends with {code} and does {repeated}:\n{said}"
        return len(built) + len(tested)


def main():
    with tempfile.TemporaryDirectory(prefix="cudamatrix-kill-") as root:
        world = World(root)
        code, said = world.finish()
        assert code == 4, f"without a kill the run ends with {code}:\n{said}"
        whole = len(world.calls())
    chance = random.Random(SEED)
    finished = []
    for number in range(TIMES):
        calls, pause = chance.randint(0, whole), chance.uniform(0, 0.1)
        try:
            finished.append(once(calls, pause))
        except AssertionError as error:
            sys.exit(f"kill {number + 1} of {TIMES}, {pause:.3f} s behind call {calls} of {whole} (seed {SEED}): {error}")
    print(f"{TIMES} kills among {whole} calls of the engine (seed {SEED}): nothing torn, nothing lost, nothing repeated; {sum(finished)} finished steps were kept, "
          f"in {sum(1 for n in finished if n)} runs")


main()

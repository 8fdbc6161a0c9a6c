"""kill -9 at random moments of runs that build and prove images on docker, each followed by a second run.
Usage: sh cmake/with_docker.sh python3 tests/bench/docker_kills.py CUDAMATRIX [KILLS [SEED]]   (10 kills by default; needs the network, no GPU)

After each kill: no torn file, a second run that ends as one that nobody kills, the same image for each build that had ended, no test again that
had passed, and no container, once `clean` has run. tests/e2e/kill_test.py does the same on a fake engine, where the moments are calls of it."""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from job_world import World

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
TIMES = int(sys.argv[2]) if len(sys.argv) > 2 else 10
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 20261128
# Each world has images of its own; the layers below them come from the build cache but for the first.
MATRIX = """version: 1
name: killed-on-docker
include: [{{driver: "580.65.06", gpu: T4, cuda: "13.4.3", os: debian12}}]
build: {{base_from: bootstrap, snapshot: none, ca_bundle: /etc/ssl/certs/ca-certificates.crt}}
images: [{{name: a, env: {{MODE: "a{0}"}}}}, {{name: b, env: {{MODE: "b{0}"}}}}]
"""


class DockerWorld(World):
    """The folder of a run on the docker of this machine."""

    def __init__(self, root, number):
        self.program, self.root, self.environment = PROGRAM, pathlib.Path(root), os.environ
        self.out = self.root / "out"
        (self.root / "matrix.yaml").write_text(MATRIX.format(number))

    def tests_of(self, cell):
        lines = (self.out / "journal.jsonl").read_text().split("\n")
        return sum(json.loads(line).get("cell") == cell for line in lines if line)


def docker(*arguments):
    return subprocess.run(["docker", *arguments], capture_output=True, text=True, check=True).stdout.split()


def remove_images():
    if images := docker("image", "ls", "--quiet", "cudamatrix/killed-on-docker"):
        docker("image", "rm", "--force", *set(images))


def images_of(built):
    return {image: docker("image", "inspect", "--format", "{{.Id}}", f"cudamatrix/killed-on-docker:{image}") for kind, image in built if kind == "build"}


def whole(number):
    """Exit code and seconds of a run that nobody kills."""
    remove_images()
    with tempfile.TemporaryDirectory(prefix="cudamatrix-kill-") as root:
        begin = time.monotonic()
        code, said = DockerWorld(root, number).finish()
        assert code in (0, 4), f"without a kill the run ends with {code}:\n{said}"
        return code, time.monotonic() - begin


def once(number, moment, expected):
    """Kills a run at that second; gives how many steps it had finished by then."""
    remove_images()
    with tempfile.TemporaryDirectory(prefix="cudamatrix-kill-") as root:
        world = DockerWorld(root, number)
        process = world.start()
        time.sleep(moment)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert not world.torn_files(), f"torn: {world.torn_files()}"
        built, tested = world.finished_steps()
        before = images_of(built)
        code, said = world.finish()
        assert code == expected, f"the second run ends with {code}:\n{said}"
        assert images_of(built) == before, f"built again: {before} is now {images_of(built)}"
        again = [cell for cell in tested if world.tests_of(cell) != 1]
        assert not again, f"had passed and are tested again: {again}"
        assert not world.torn_files(), f"torn: {world.torn_files()}"
        subprocess.run([PROGRAM, "clean", "--engine", "docker"], capture_output=True, check=True)
        assert not (left := docker("ps", "--all", "--quiet", "--filter", "label=io.cudamatrix.run")), f"containers are left: {left}"
        return len(built) + len(tested)


def main():
    whole("first")  # fills the build cache
    code, seconds = whole("whole")
    chance = random.Random(SEED)
    finished = []
    for number in range(TIMES):
        moment = chance.uniform(0, seconds)
        try:
            finished.append(once(number, moment, code))
        except AssertionError as error:
            sys.exit(f"kill {number + 1} of {TIMES}, at {moment:.3f} s of {seconds:.1f} (seed {SEED}): {error}")
        print(f"kill {number + 1} at {moment:.1f} s of {seconds:.0f}: {finished[-1]} finished steps were kept", flush=True)
    remove_images()
    print(f"{TIMES} kills (seed {SEED}): nothing torn, nothing lost, nothing repeated, no container left; {sum(finished)} finished steps were kept")


main()

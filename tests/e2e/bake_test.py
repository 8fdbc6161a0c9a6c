"""docker buildx bake builds of what `emit bake` writes the images that we build, and ours are current where it was first.
Usage: bake_test.py CUDAMATRIX SOURCE_DIR WORK_DIR   (root; needs a docker daemon, mmdebstrap and the network; no GPU)

Bake is that of Debian 13, a static program, taken from its package; the client and the daemon are those of engines_test.py. The tests run in the order
of their names."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

PROGRAM, SOURCE, WORK = [pathlib.Path(a).resolve() for a in sys.argv[1:4]]
del sys.argv[1:4]
DOCKER = "/usr/bin/docker" if os.path.exists("/usr/bin/docker") else "docker"
MATRIX = """version: 1
name: baked
set: {driver: "580.65.06", gpu: T4, python: "3.11", family: debian, os: debian12}
build: {base_from: bootstrap, snapshot: none, network: host, ca_bundle: /etc/ssl/certs/ca-certificates.crt}
"""
IMAGE = "cudamatrix/baked:debian12-py3.11"
TARGET = "debian12-py3_11"
PLUGIN = "usr/libexec/docker/cli-plugins/docker-buildx"
# Only a compose file says the network to a bake older than 0.17, which overlooks it in JSON.
NETWORK = f"services: {{{TARGET}: &host {{build: {{context: ., network: host}}}}, {TARGET}-proof: *host}}\n"


def cudamatrix(command, *arguments):
    got = subprocess.run([PROGRAM, *command.split(), "matrix.yaml", *arguments], stdout=subprocess.PIPE, text=True, cwd=WORK)
    if got.returncode != 0:
        raise AssertionError(f"{command}: exit code {got.returncode}\n{got.stdout}")
    return got.stdout


def build():
    """The image and the proof as our build reports them."""
    image, = json.loads(cudamatrix("build", "--engine", "docker", "--format", "json"))["images"]
    return image


def docker(*arguments):
    got = subprocess.run([DOCKER, *arguments], capture_output=True, text=True, cwd=WORK, env=dict(os.environ, DOCKER_CONFIG=str(WORK / "docker")))
    if got.returncode != 0:
        raise AssertionError(f"docker {' '.join(arguments)}: exit code {got.returncode}\n{got.stdout}{got.stderr}")
    return got.stdout


def bake(*arguments):
    return docker("buildx", "bake", "--file", "network.yaml", "--file", "ci/docker-bake.json", *arguments)


def remove_images():
    subprocess.run([DOCKER, "image", "rm", "--force", IMAGE, IMAGE + "-proof"], capture_output=True)


def ids():
    return [docker("image", "inspect", name, "--format", "{{.Id}}").strip() for name in (IMAGE, IMAGE + "-proof")]


class Bake(unittest.TestCase):
    ours = None

    @classmethod
    def setUpClass(cls):
        shutil.rmtree(WORK, ignore_errors=True)
        (WORK / "docker/cli-plugins").mkdir(parents=True)
        subprocess.run(["mmdebstrap", "--quiet", "--variant=extract", "--include=docker-buildx", "trixie", WORK / "trixie"], check=True)
        shutil.move(WORK / "trixie" / PLUGIN, WORK / "docker/cli-plugins")
        shutil.rmtree(WORK / "trixie")
        (WORK / "matrix.yaml").write_text(MATRIX)
        (WORK / "network.yaml").write_text(NETWORK)
        remove_images()
        cudamatrix("lock", "--engine", "docker")
        cudamatrix("emit bake", "--out", "ci")

    def test_1_bake_makes_the_image_that_build_made(self):
        self.assertFalse(build()["reused"])
        Bake.ours = ids()
        bake(TARGET)
        bake(TARGET + "-proof")  # on the image in the store of the engine
        self.assertEqual(ids(), self.ours)
        self.assertTrue(build()["reused"])

    def test_2_what_bake_made_is_current(self):
        remove_images()
        shutil.rmtree(WORK / "cudamatrix-out")
        cudamatrix("build", "--engine", "docker", "--prepare")
        bake(TARGET)
        bake(TARGET + "-proof")
        made = ids()
        self.assertTrue(build()["reused"])
        self.assertEqual((ids(), made), (made, self.ours))

    def test_3_linked_targets_are_read(self):
        """Their contexts need a newer frontend than that of this daemon: what bake would build is asked."""
        plan = json.loads(bake("--file", "ci/docker-bake.linked.json", "--print", "default", "proofs"))
        self.assertEqual(sorted(plan["target"]), [TARGET, TARGET + "-proof"])
        self.assertEqual(plan["target"][TARGET + "-proof"]["contexts"], {IMAGE: "target:" + TARGET})
        self.assertEqual(plan["target"][TARGET]["tags"], [IMAGE])


if __name__ == "__main__":
    unittest.main(failfast=True)

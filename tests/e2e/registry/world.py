"""The stand-in world of registry_test.py: nothing but the loopback, on it a gateway, registries and a docker daemon of its own.

It is made once; each part starts with a copy of its folder, a registry on that and a daemon that has nothing yet."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import loopback
import stand_ins

PROGRAM, SOURCE = [pathlib.Path(a).resolve() for a in sys.argv[1:3]]
PART = sys.argv[4]
MADE = pathlib.Path(sys.argv[3]).resolve() / "stand-ins"
WORK = MADE.parent / PART
del sys.argv[1:5]
DOCKER = "/usr/bin/docker" if os.path.exists("/usr/bin/docker") else "docker"
REGISTRY, LOGIN_REGISTRY, TOKEN_REGISTRY, TLS_REGISTRY = "127.0.0.1:5000", "127.0.0.1:5001", "127.0.0.1:5002", "127.0.0.1:5003"
GATEWAY, TOKENS = "http://127.0.0.1:8000", "http://127.0.0.1:8001/token"
USER, PASSWORD = "reader", "correct-horse-7261"
CUDA = "13.0.3"
RUNTIME, DEVEL = f"hub/nvidia/cuda:{CUDA}-runtime-ubuntu22.04", f"hub/nvidia/cuda:{CUDA}-devel-ubuntu22.04"
PYTHON = "hub/library/python:3.11-slim-bookworm"
INSTALLER = "hub/library/python:3.14-slim-trixie"  # where a standalone python is loaded
AGAIN = "hub/library/python:again"
ROCKY_CUDA = "13.0.2"  # the newest that has an image of Rocky Linux
ROCKY = [f"hub/nvidia/cuda:{ROCKY_CUDA}-{flavour}-rockylinux9" for flavour in ("base", "devel")]
DEBIAN = "hub/library/debian:bookworm"
FOREIGN = "hub/nvidia/cuda:12.4.1-base-ubuntu22.04"
PYTORCH, NGC = "hub/pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime", "nvcr/nvidia/pytorch:26.01-py3"


def matrix(name, cells, registry=REGISTRY, security=None, build="", images=(), gateway=GATEWAY):
    """A matrix file in a folder of its own, in which everything comes from the loopback. Family debian is bootstrapped, but in `official` and `many`;
    archives are live ones, where `build` does not say otherwise."""
    base_from = "auto" if name in ("official", "many") else "bootstrap"
    if "snapshot:" not in build:
        build += ", snapshot: none"
    path = WORK / name / "matrix.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    mirrors = {"docker.io": f"{registry}/hub", "nvcr.io": f"{registry}/nvcr", "pypi": f"{gateway}/simple", "pytorch": f"{gateway}/whl",
               "debian": f"{gateway}/debian", "debian-security": security or f"{gateway}/debian-security", "ubuntu": f"{gateway}/ubuntu",
               "rockylinux": f"{gateway}/local/rocky", "http://snapshot.debian.org/archive": f"{gateway}/snapshots",
               "python-build-standalone": f"{gateway}/local/pythons"}
    path.write_text(f"version: 1\nname: {name}\nbuild: {{base_from: {base_from}, network: host{build}}}\nmirrors: {json.dumps(mirrors)}\ninclude:\n" +
                    "".join(f"  - {json.dumps(cell)}\n" for cell in cells) + (f"images: {json.dumps(images)}\n" if images else ""), encoding="utf-8")
    return path


def cudamatrix(command, path, *options, env=None):
    """A command on a matrix, with the folder out beside its file. It knows the package of make_stand_ins."""
    return subprocess.run([PROGRAM, command, path, "--facts", WORK / "facts", "--out", path.parent / "out", *options], capture_output=True, text=True,
                          env={**os.environ, **(env or {})})


def docker(*arguments, env=None, check=True):
    done = subprocess.run([DOCKER, *arguments], capture_output=True, text=True, env={**os.environ, "DOCKER_BUILDKIT": "1", **(env or {})})
    if check and done.returncode != 0:
        raise AssertionError(f"docker {' '.join(arguments)}: {done.stdout}{done.stderr}")
    return done.stdout if check else done


class Service:
    """A program that runs as long as the tests do."""
    all = []

    def __init__(self, log, *command):
        self.log = log
        with open(log, "w", encoding="utf-8") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=out)
        Service.all.append(self)

    def wait(self, ready):
        for _ in range(120):
            if ready():
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.25)
        raise AssertionError(f"{self.process.args[0]} did not start:\n{self.log.read_text()[-2000:]}")

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)


def answers(address, *good):
    try:
        with urllib.request.urlopen(address, timeout=5):
            return True
    except urllib.error.HTTPError as error:
        return error.code in good
    except OSError:
        return False


def start_registry(address, auth=None, tls=None):
    """docker-registry on the one folder of images; `auth` and `tls`: its settings of these names."""
    config = {"version": 0.1, "log": {"level": "error"}, "http": {"addr": address},
              "storage": {"filesystem": {"rootdirectory": str(WORK / "registry")}, "delete": {"enabled": True}}}
    if auth:
        config["auth"] = auth
    if tls:
        config["http"]["tls"] = tls
    path = WORK / f"registry-{address.partition(':')[2]}.yml"
    path.write_text(json.dumps(config), encoding="utf-8")
    service = Service(path.with_suffix(".log"), "docker-registry", "serve", str(path))
    service.wait(lambda: answers(f"http://{address}/v2/", 400, 401))
    return service


class World:
    """What start() made: gateway, registry, sockets; and digests of the stand-ins: by reference, and of what is pushed again."""


def start():
    shutil.rmtree(WORK, ignore_errors=True)
    if WORK == MADE:
        WORK.mkdir(parents=True)
    else:
        shutil.copytree(MADE, WORK, symlinks=True)
        World.digests, World.moved = json.loads((WORK / "digests.json").read_text())
    World.sockets = pathlib.Path(tempfile.mkdtemp(prefix="cudamatrix-"))
    World.gateway = loopback.Gateway(WORK / "gateway")
    loopback.enter()
    World.gateway.open(8000)
    World.registry = start_registry(REGISTRY)
    os.environ["DOCKER_HOST"] = f"unix://{World.sockets}/docker.sock"
    Service(WORK / "dockerd.log", shutil.which("dockerd", path=os.environ["PATH"] + ":/usr/sbin"), "--iptables=false", "--bridge=none",
            "--data-root", str(WORK / "docker"), "--exec-root", str(World.sockets / "exec"), "--pidfile", str(World.sockets / "pid"),
            "--host", os.environ["DOCKER_HOST"]).wait(lambda: docker("version", check=False).returncode == 0)


def end():
    for service in reversed(Service.all):
        service.end()
    shutil.rmtree(World.sockets, ignore_errors=True)
    for folder in ["docker"] if WORK == MADE else ["docker", "registry", "gateway"]:
        shutil.rmtree(WORK / folder, ignore_errors=True)


def make_stand_ins():
    facts = WORK / "facts/package_releases.yaml"
    facts.parent.mkdir()
    facts.write_text('table: package_releases\nas_of: "2026-11-25"\nrows:\n  - {id: package-loopback-demo-1.0, package: loopback-demo, version: "1.0", '
                     'requires: [], abi: [py3], platforms: [linux, macos, musl, windows], source: "https://example.org/", confidence: read}\n', encoding="utf-8")
    wheels = World.gateway.local / "wheels"
    stand_ins.wheel(wheels, "loopback_demo", "1.0", {"loopback_demo/__init__.py": "VALUE = 42\n"})
    stand_ins.wheel(wheels, "torch", "2.6.0+cpu", {"torch/__init__.py": "__version__ = '2.6.0+cpu'\nfrom . import version\n",
                                                   "torch/version.py": "cuda = None\n"})
    # The base of family debian, made through the mirrors of the matrix, is what stand-ins are made from as well.
    done = cudamatrix("lock", matrix("plain", [{"family": "debian", "os": "debian12", "python": "3.11", "packages": {"loopback-demo": "1.0"}}]))
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)
    folder = WORK / "context"
    folder.mkdir()
    os.link(WORK / "plain/out/bootstrap/bootstrap-bookworm.tar", folder / "base.tar")
    # What nvcc is made of, and its versions, are a row of the facts.
    toolkit = WORK / "toolkit.yaml"
    toolkit.write_text(f'version: 1\nset: {{family: debian, os: debian12, cuda: "{CUDA}", cuda_from: wheels}}\n', encoding="utf-8")
    cudamatrix("render", toolkit)
    shutil.copy(next((WORK / "out/images").glob("*/requirements-cuda.txt")), folder / "requirements.txt")
    stand_ins.fetch_deb("busybox-static", "arm64", WORK / "busybox")
    shutil.copy(WORK / "busybox/bin/busybox", folder / "busybox")
    images = stand_ins.Images(folder, docker, REGISTRY)
    digests = {RUNTIME: images.push(RUNTIME, "cudart"), DEVEL: images.push(DEVEL, "toolkit")}
    digests[PYTORCH] = images.push(PYTORCH, "torch", "--build-arg", "TORCH=2.6.0", "--build-arg", "CUDA=12.4")
    digests[NGC] = images.push(NGC, "torch", "--build-arg", "TORCH=2.10.0a0+stand.in.nv26.01", "--build-arg", "CUDA=13.1",
                               "--build-arg", "UNDER_TORCH=compiler")
    for tag, options in (("amd64", ["compiler"]), ("arm64", ["foreign", "--platform", "linux/arm64"])):
        images.push(f"hub/library/python:{tag}", *options)
        images.push(f"hub/nvidia/cuda:{tag}", *options)
    for reference in (PYTHON, FOREIGN, FOREIGN.replace("-base-", "-devel-")):
        digests[reference] = stand_ins.push_index(REGISTRY, reference, {"amd64": "amd64", "arm64": "arm64"})
    images.export("repository", World.gateway.local / "rocky")
    for reference in ROCKY:
        digests[reference] = images.push(reference, "rocky")
    images.push(INSTALLER, "plain")
    digests[DEBIAN] = images.push(DEBIAN, "official")
    moved = images.push(AGAIN, "compiler", state=", pushed again")
    (WORK / "digests.json").write_text(json.dumps([digests, moved]))


def forget_images():
    """Whatever a build needs from now on, it pulls and makes."""
    docker("image", "prune", "--all", "--force")
    docker("builder", "prune", "--all", "--force")


def steps_again(folder):
    """A Dockerfile of which no step was ever run. (What --no-cache builds sees no cache mount of earlier builds either.)"""
    text, bases = re.subn(r"(?m)^(FROM .* AS base)$", r"\1\nENV AGAIN=1", (folder / "Dockerfile").read_text())
    assert bases == 1, folder
    path = folder.parent / f"{folder.name}.again"
    path.write_text(text)
    return str(path)


def real_name(reference):
    return reference.replace("hub/", "docker.io/").replace("nvcr/", "nvcr.io/")


def cells_of_families():
    """Matrices of what is built, small enough that the disk which real images of these names would need is there."""
    demo = {"loopback-demo": "1.0"}
    return {"plain": [{"family": "debian", "os": "debian12", "python": "3.11", "packages": demo},
                      {"family": "nvidia-cuda", "cuda": CUDA, "os": "ubuntu22.04", "flavour": "runtime", "driver": "580.65.06", "gpu": "T4"},
                      {"family": "cpu", "python": "3.11", "os": "debian12", "packages": demo}],
            "torch": [{"family": "pytorch", "torch": "2.6.0+cu124", "flavour": "runtime", "packages": demo},
                      {"family": "cpu", "torch": "2.6.0+cpu", "python": "3.11", "os": "debian12", "packages": {"numpy": "none"}}],
            "official": [{"family": "debian", "os": "debian12", "python": "3.11", "packages": demo}],
            "ngc": [{"family": "ngc", "torch": "2.10.0", "flavour": "devel", "packages": demo}]}


class RegistryTest(unittest.TestCase):
    maxDiff = None

    def done(self, got, code=0):
        self.assertEqual(got.returncode, code, got.stdout[-6000:] + got.stderr[-6000:])
        return got

    def lock_of(self, name):
        return json.loads((WORK / name / "cudamatrix.lock").read_text())

    def dockerfiles(self, name, which="Dockerfile"):
        """Of each image, without what proves it; "*Dockerfile" has both."""
        return sorted((WORK / name / "out/images").glob(f"*/{which}"))

    def build(self, path, code=0, command="build", env=None):
        got = self.done(cudamatrix(command, path, "--engine", "docker", "--format", "json", env=env), code)
        return json.loads(got.stdout)

    def stand_in_under(self, path):
        """What the base of the one image says of itself; of the image no more is built than what users ship."""
        name = path.parent.name
        self.done(cudamatrix("render", path, "--locked"))
        docker("build", "--network", "host", "--target", "runtime", "--tag", name, str(self.dockerfiles(name)[0].parent))
        return json.loads(docker("image", "inspect", name))[0]["Config"]["Labels"]["cudamatrix.stand-in"]

"""Registry, Python index and apt archive on the loopback, and nothing else: digests, pins and images of every family.
Usage: registry_test.py CUDAMATRIX SOURCE_DIR WORK_DIR   (needs root, docker, docker-registry, mmdebstrap and, for the loopback's own
sources, the network; no GPU)

The bases are stand-ins (stand_ins.py): small Debians under the names of images that nobody here can pull, with NVIDIA's real nvcc from
wheels, and with a torch that knows its name only. Everything runs in a network namespace that has no way out; what the loopback serves
comes from outside once. The tests run in the order of their names and build on each other."""
import base64
import io
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import golden_files
import loopback
import stand_ins
import token_service

PROGRAM, SOURCE, WORK = [pathlib.Path(a).resolve() for a in sys.argv[1:4]]
del sys.argv[1:4]
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
FOREIGN = "hub/nvidia/cuda:12.4.1-base-ubuntu22.04"
PYTORCH, NGC = "hub/pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime", "nvcr/nvidia/pytorch:26.01-py3"


def matrix(name, cells, registry=REGISTRY, security=None, build="", images=(), gateway=GATEWAY):
    """A matrix file in a folder of its own, in which everything comes from the loopback."""
    path = WORK / name / "matrix.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    mirrors = {"docker.io": f"{registry}/hub", "nvcr.io": f"{registry}/nvcr", "pypi": f"{gateway}/simple", "pytorch": f"{gateway}/whl",
               "debian": f"{gateway}/debian", "debian-security": security or f"{gateway}/debian-security", "ubuntu": f"{gateway}/ubuntu",
               "rockylinux": f"{gateway}/local/rocky", "http://snapshot.debian.org/archive": f"{gateway}/snapshots",
               "python-build-standalone": f"{gateway}/local/pythons"}
    path.write_text(f"version: 1\nname: {name}\nbuild: {{network: host{build}}}\nmirrors: {json.dumps(mirrors)}\ninclude:\n" +
                    "".join(f"  - {json.dumps(cell)}\n" for cell in cells) + (f"images: {json.dumps(images)}\n" if images else ""), encoding="utf-8")
    return path


def cudamatrix(command, path, *options, env=None):
    """A command on a matrix, with the folder out beside its file."""
    return subprocess.run([PROGRAM, command, path, "--out", path.parent / "out", *options], capture_output=True, text=True,
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


def setUpModule():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    unittest.addModuleCleanup(end_world)
    World.sockets = pathlib.Path(tempfile.mkdtemp(prefix="cudamatrix-"))
    World.gateway = loopback.Gateway(WORK / "gateway")
    loopback.enter()
    World.gateway.open(8000)
    World.registry = start_registry(REGISTRY)
    os.environ["DOCKER_HOST"] = f"unix://{World.sockets}/docker.sock"
    Service(WORK / "dockerd.log", shutil.which("dockerd", path=os.environ["PATH"] + ":/usr/sbin"), "--iptables=false", "--bridge=none",
            "--data-root", str(WORK / "docker"), "--exec-root", str(World.sockets / "exec"), "--pidfile", str(World.sockets / "pid"),
            "--host", os.environ["DOCKER_HOST"]).wait(lambda: docker("version", check=False).returncode == 0)
    make_stand_ins()


def end_world():
    for service in reversed(Service.all):
        service.end()
    shutil.rmtree(World.sockets, ignore_errors=True)
    for folder in ("docker", "registry", "gateway"):
        shutil.rmtree(WORK / folder, ignore_errors=True)


class World:
    """What setUpModule made: gateway, registry, sockets; images and digests of the stand-ins."""


def make_stand_ins():
    wheels = World.gateway.local / "wheels"
    stand_ins.wheel(wheels, "loopback_demo", "1.0", {"loopback_demo/__init__.py": "VALUE = 42\n"})
    stand_ins.wheel(wheels, "torch", "2.6.0+cpu", {"torch/__init__.py": "__version__ = '2.6.0+cpu'\nfrom . import version\n",
                                                   "torch/version.py": "cuda = None\n"})
    # The base of family debian, made through the mirrors of the matrix, is what stand-ins are made from as well.
    World.plain = matrix("plain", [{"family": "debian", "os": "debian12", "python": "3.11", "packages": {"loopback-demo": "1.0"}}])
    done = cudamatrix("lock", World.plain)
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)
    folder = WORK / "stand-ins"
    folder.mkdir()
    os.link(WORK / "plain/out/bootstrap/bootstrap-bookworm.tar", folder / "base.tar")
    # What nvcc is made of, and its versions, are a row of the facts.
    toolkit = WORK / "toolkit.yaml"
    toolkit.write_text(f'version: 1\nset: {{family: debian, os: debian12, cuda: "{CUDA}", cuda_from: wheels}}\n', encoding="utf-8")
    cudamatrix("render", toolkit)
    shutil.copy(next((WORK / "out/images").glob("*/requirements-cuda.txt")), folder / "requirements.txt")
    stand_ins.fetch_deb("busybox-static", "arm64", WORK / "busybox")
    shutil.copy(WORK / "busybox/bin/busybox", folder / "busybox")
    World.images = images = stand_ins.Images(folder, docker, REGISTRY)
    World.digests = {RUNTIME: images.push(RUNTIME, "cudart"), DEVEL: images.push(DEVEL, "toolkit")}
    World.digests[PYTORCH] = images.push(PYTORCH, "torch", "--build-arg", "TORCH=2.6.0", "--build-arg", "CUDA=12.4")
    World.digests[NGC] = images.push(NGC, "torch", "--build-arg", "TORCH=2.10.0a0+stand.in.nv26.01", "--build-arg", "CUDA=13.1",
                                     "--build-arg", "UNDER_TORCH=compiler")
    for tag, options in (("amd64", ["compiler"]), ("arm64", ["foreign", "--platform", "linux/arm64"])):
        images.push(f"hub/library/python:{tag}", *options)
        images.push(f"hub/nvidia/cuda:{tag}", *options)
    for reference in (PYTHON, FOREIGN, FOREIGN.replace("-base-", "-devel-")):
        World.digests[reference] = stand_ins.push_index(REGISTRY, reference, {"amd64": "amd64", "arm64": "arm64"})
    images.export("repository", World.gateway.local / "rocky")
    for reference in ROCKY:
        World.digests[reference] = images.push(reference, "rocky")
    images.push(INSTALLER, "plain")
    World.moved = images.push(AGAIN, "compiler", state=", pushed again")
    forget_images()


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
                      {"family": "cpu", "torch": "2.6.0+cpu", "python": "3.11", "os": "debian12"}],
            "ngc": [{"family": "ngc", "torch": "2.10.0", "flavour": "devel", "packages": demo}]}


class Registry(unittest.TestCase):
    maxDiff = None

    def done(self, got, code=0):
        self.assertEqual(got.returncode, code, got.stdout[-6000:] + got.stderr[-6000:])
        return got

    def lock_of(self, name):
        return json.loads((WORK / name / "cudamatrix.lock").read_text())

    def dockerfiles(self, name):
        return sorted((WORK / name / "out/images").glob("*/Dockerfile"))

    def build(self, path, code=0, command="build", env=None):
        got = self.done(cudamatrix(command, path, "--engine", "docker", "--format", "json", env=env), code)
        return json.loads(got.stdout)

    def stand_in_under(self, path):
        """What the base of the one image says of itself; of the image no more is built than what users ship."""
        name = path.parent.name
        self.done(cudamatrix("render", path, "--locked"))
        docker("build", "--network", "host", "--target", "runtime", "--tag", name, str(self.dockerfiles(name)[0].parent))
        return json.loads(docker("image", "inspect", name))[0]["Config"]["Labels"]["cudamatrix.stand-in"]

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
        for name, wanted in {"plain": [RUNTIME, DEVEL, PYTHON], "torch": [PYTORCH, PYTHON], "ngc": [NGC]}.items():
            self.assertEqual({reference: pin["digest"] for reference, pin in self.lock_of(name)["references"].items()},
                             {real_name(reference): World.digests[reference] for reference in wanted})

    def test_03_rendered_files_name_the_digest_and_no_other_host(self):
        found = {}
        for name, cells in cells_of_families().items():
            self.done(cudamatrix("render", WORK / name / "matrix.yaml", "--locked"))
            self.assertEqual(len(self.dockerfiles(name)), len(cells))
            for path in self.dockerfiles(name):
                text = path.read_text()
                self.assertNotIn("unpinned", text.lower(), path)
                self.assertEqual([u for u in re.findall(r"https?://[^/ '\"]+", text) if u != GATEWAY], [])
                for base in re.findall(r"^FROM (\S+[:@]\S+) AS", text, re.M):
                    place, _, digest = base.partition("@")
                    found[place.removeprefix(REGISTRY + "/")] = digest
        wanted = (RUNTIME, DEVEL, PYTHON, PYTORCH, NGC)
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
        for family in ("plain:debian12", "plain:cpu", "ngc:ngc", "torch:pytorch"):
            with self.subTest(family):
                image = next(i for i in images if f"/{family}" in i and "pkg" in i and "-proof" not in i)
                said = docker("run", "--rm", "--network", "none", image, "/opt/venv/bin/python", "-c", "import loopback_demo as d; print(d.VALUE)")
                self.assertEqual(said.strip(), "42")

    def test_06_the_suite_in_an_image_on_a_stand_in_finds_what_its_real_nvcc_made(self):
        report = self.build(WORK / "plain/matrix.yaml", 4, "test")
        cell = next(c for c in report["cells"] if c["fields"]["family"] == "nvidia-cuda")
        self.assertEqual((cell["outcome"], cell["proof"]), ("passed_static", "loaded"), cell)
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
        self.assertEqual(got.stdout, f"{real_name(PYTHON)}: digest {World.digests[PYTHON]} -> {World.moved}\n")
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

    def test_11_credentials_of_docker_are_used_and_appear_nowhere(self):
        hashed = subprocess.run(["perl", "-e", "print crypt($ARGV[0], '$2b$05$abcdefghijklmnopqrstuu')", PASSWORD], capture_output=True, text=True)
        users = WORK / "users"
        users.write_text(f"{USER}:{hashed.stdout}\n", encoding="utf-8")
        start_registry(LOGIN_REGISTRY, {"htpasswd": {"realm": "test", "path": str(users)}})
        path = matrix("login", [cells_of_families()["plain"][2]], LOGIN_REGISTRY)
        folder = WORK / "docker-config"
        folder.mkdir()
        env = {"DOCKER_CONFIG": str(folder)}
        refused = self.done(cudamatrix("lock", path, env=env), 3)
        self.assertIn("it does not let itself be read (401): it wants credentials, and none were found", refused.stderr)
        secret = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        (folder / "config.json").write_text(json.dumps({"auths": {LOGIN_REGISTRY: {"auth": base64.b64encode(b"reader:wrong-word").decode()}}}))
        wrong = self.done(cudamatrix("lock", path, env=env), 3)
        self.assertIn("the credentials from", wrong.stderr)
        (folder / "config.json").write_text(json.dumps({"auths": {LOGIN_REGISTRY: {"auth": secret}}}))
        locked = self.done(cudamatrix("lock", path, env=env))
        # No layer of the other registry is taken for it.
        forget_images()
        report = self.build(path, env=env)
        image = report["images"][0]["reference"]
        said = [locked, wrong, refused, json.dumps(report), docker("image", "inspect", image), docker("history", "--no-trunc", image)]
        said = "\n".join(s if isinstance(s, str) else s.stdout + s.stderr for s in said)
        said += "".join(f.read_text(errors="replace") for f in (WORK / "login").rglob("*") if f.is_file() and f.suffix != ".tar")
        for word in (PASSWORD, secret, "wrong-word"):
            self.assertNotIn(word, said)

    def test_11_tokens_are_fetched_and_are_enough(self):
        service = token_service.TokenService(WORK / "tokens", USER, PASSWORD)
        service.open(8001)
        start_registry(TOKEN_REGISTRY, service.auth(TOKENS))
        path = matrix("token", [cells_of_families()["plain"][2]], TOKEN_REGISTRY)
        folder = WORK / "token-config"
        folder.mkdir()
        env = {"DOCKER_CONFIG": str(folder)}
        name = PYTHON.partition(":")[0]

        def credentials(password):
            login = base64.b64encode(f"{USER}:{password}".encode()).decode()
            (folder / "config.json").write_text(json.dumps({"auths": {TOKEN_REGISTRY: {"auth": login}}}))

        nobody = self.done(cudamatrix("lock", path, env=env), 3)
        self.assertIn(f"{TOKEN_REGISTRY}/{name}: {TOKENS} gives no token for it (401): it wants credentials, and none were found",
                      nobody.stderr)
        credentials("wrong-word")
        self.assertIn("are not enough", self.done(cudamatrix("lock", path, env=env), 3).stderr)
        credentials(PASSWORD)
        # The registry looks at what is signed, and at what for: our client resolves by it, and the engine pulls by its own.
        self.done(cudamatrix("lock", path, env=env))
        locked = self.lock_of("token")["references"][real_name(PYTHON)]["digest"]
        self.assertEqual(locked, stand_ins.digest_of(REGISTRY, PYTHON))
        wanted = ({"service": [token_service.NAME], "scope": [f"repository:{name}:pull"]}, True)
        self.assertIn(wanted, [({k: query.get(k) for k in ("service", "scope")}, known) for query, known in service.asked])

    def test_11_the_authority_of_a_site_is_all_that_its_certificates_need(self):
        authority, certificate, key = stand_ins.certificate(WORK / "tls")
        gateway, registry = "https://localhost:8443", f"https://{TLS_REGISTRY}"
        World.gateway.open(8443, certificate, key)
        start_registry(TLS_REGISTRY, tls={"certificate": str(certificate), "key": str(key)})
        plain, _, cpu = cells_of_families()["plain"]
        refused = self.done(cudamatrix("lock", matrix("tls", [cpu], registry, gateway=gateway)), 3)
        self.assertIn(f"{registry}/v2/", refused.stderr)
        self.assertIn("certificate", refused.stderr)
        refused = self.done(cudamatrix("lock", matrix("tls", [plain], gateway=gateway)), 3)
        self.assertIn("the base of bookworm cannot be bootstrapped", refused.stderr)
        # The registry is read by our own client alone: engines speak plain http to the loopback.
        command = [PROGRAM, "scan", f"docker.io/{PYTHON.partition('/')[2]}", "--mirror", f"docker.io={registry}/hub"]
        self.assertEqual(subprocess.run(command, capture_output=True).returncode, 3)
        scanned = subprocess.run([*command, "--ca-bundle", authority], capture_output=True, text=True)
        self.assertEqual(scanned.returncode, 0, scanned.stderr)
        path = matrix("tls", [plain], gateway=gateway, build=f", ca_bundle: {authority}")
        self.done(cudamatrix("lock", path))
        image, = self.build(path)["images"]
        self.assertEqual(image["error"], "")
        line = authority.read_text().splitlines()[1]
        found = docker("run", "--rm", "--network", "none", image["reference"], "grep", "-rlF", "--exclude-dir=proc", "--exclude-dir=sys", line, "/", check=False)
        self.assertEqual(found.stdout, "")

    def test_12_two_states_of_an_archive_give_the_same_packages_or_a_reason(self):
        tree = WORK / "keyring"
        archive = stand_ins.Archive(World.gateway.local / "apt", World.sockets / "gpg")
        self.addCleanup(archive.close)
        # Debian's keyring with one key more: what the base trusts.
        stand_ins.fetch_deb("debian-archive-keyring", "arm64", tree)
        control = tree / "DEBIAN/control"
        control.write_text(re.sub(r"^Version: .*", "Version: 9999", control.read_text(), flags=re.M))
        (tree / "etc/apt/trusted.gpg.d/test.gpg").write_bytes(archive.key())
        archive.add(tree)
        archive.add_small(WORK / "debs", "media-types", "99.1", "etc/mime.types", "first\n")
        archive.publish()
        apt = WORK / "apt.conf"
        apt.write_text(f'Dir::Etc::TrustedParts "{tree}/etc/apt/trusted.gpg.d";\n')
        env = {"APT_CONFIG": str(apt)}
        path = matrix("twice", [cells_of_families()["plain"][0]], security=f"{GATEWAY}/local/apt")

        def packages():
            """What a build of what users ship, without any cache, installs; or why it cannot."""
            self.done(cudamatrix("render", path, "--locked", "--prune"))
            folder = self.dockerfiles("twice")[0].parent
            shutil.copy(WORK / "twice/out/bootstrap/bootstrap-bookworm.tar", folder)
            done = docker("build", "--no-cache", "--network", "host", "--target", "runtime", "--tag", "twice", str(folder), check=False)
            if done.returncode != 0:
                return done.stderr
            return docker("run", "--rm", "--network", "none", "twice", "dpkg-query", "-W").splitlines()

        self.done(cudamatrix("lock", path, env=env))
        first = packages()
        self.assertIn("media-types\t99.1", first)
        archive.add_small(WORK / "debs", "media-types", "99.2", "etc/mime.types", "second\n")
        archive.publish()
        self.assertEqual(packages(), first)
        again = self.done(cudamatrix("lock", path, "--update=bases", env=env))
        self.assertEqual(again.stdout, "nothing moved\n")
        # What is locked is gone: the reason is apt's own.
        archive.remove("media-types_99.1*")
        archive.publish()
        self.assertIn("Version '99.1' for 'media-types' was not found", packages())
        moved = self.done(cudamatrix("lock", path, "--update=apt", env=env))
        self.assertIn("media-types 99.1 -> 99.2", moved.stdout)
        self.assertIn("media-types\t99.2", packages())

    def test_13_buildkit_reads_every_rendered_dockerfile(self):
        cells = [dict(zip(("family", "cuda", "os", "flavour", "arch"), v)) for v in itertools.product(
            ["nvidia-cuda"], ["11.8.0", "12.4.1", CUDA], ["ubuntu20.04", "ubuntu22.04", "ubuntu24.04", "rockylinux8", "rockylinux9"],
            ["base", "runtime", "devel"], ["x86_64", "aarch64"])]
        cells += [{"family": "nvidia-cuda", "cuda": "12.4.1", "os": "ubuntu22.04", "python": p} for p in ("3.10", "3.12")]
        cells += [{"family": "debian", "cuda": c, "os": o, "flavour": f} for (c, o), f in itertools.product(
            [("11.8.0", "debian12"), ("12.4.1", "debian13"), ("13.0.3", "debian12"), ("13.4.3", "debian13")], ["runtime", "devel"])]
        cells += [{"family": "pytorch", "torch": "2.6.0+cu124", "flavour": f} for f in ("runtime", "devel")]
        cells += [{"family": "ngc", "torch": "2.10.0"}, {"family": "ngc", "torch": "2.10.0", "arch": "aarch64"}, {"family": "cpu", "torch": "2.6.0+cpu", "python": "3.12"}]
        cells += [{"family": "cpu", "python": p, "os": o, "arch": a} for p, o, a in itertools.product(
            ["3.10", "3.13"], ["debian11", "debian12", "debian13"], ["x86_64", "aarch64"])]
        self.done(cudamatrix("render", matrix("all", cells)))
        files = self.dockerfiles("all") + golden_files.write_all(SOURCE, WORK / "golden")
        self.assertGreater(len(files), 80)
        # It reads the file to its end before it looks for the target.
        empty = WORK / "empty"
        empty.mkdir()

        def said(path):
            return docker("build", "--target", "no-such-stage", "--file", str(path), str(empty), check=False).stderr.splitlines()[-1]

        wrong = {str(path): line for path in files if "no-such-stage" not in (line := said(path))}
        self.assertEqual(wrong, {})
        bad = WORK / "bad.Dockerfile"
        bad.write_text("FROM scratch\nCOPPY a b\n")
        self.assertIn("unknown instruction: COPPY", said(bad))
        print(f"BuildKit read {len(files)} Dockerfiles")

    def test_13_images_of_rocky_get_exact_packages_by_dnf(self):
        """The lock of a real dnf, its packages by epoch, version, release and architecture, and what is copied and checked."""
        cell = {"family": "nvidia-cuda", "cuda": ROCKY_CUDA, "os": "rockylinux9", "flavour": "base", "driver": "580.65.06", "gpu": "T4"}
        path = matrix("rocky", [cell], images=[{"name": "app", "apt": ["git"], "copy": [{"from": "app", "to": "/workspace"}],
                                                "env": {"HF_HOME": "/cache"}, "healthcheck": {"test": ["test", "-n", "$HOME ${HF_HOME}"], "retries": 2}}])
        (path.parent / "app").mkdir(exist_ok=True)
        (path.parent / "app/a").write_text("one\n")
        self.done(cudamatrix("lock", path))
        pins = next(iter(self.lock_of("rocky")["images"].values()))["apt"]
        self.assertEqual(pins["runtime"], ["git=0:2.47.3-1.el9.x86_64", "shadow-utils=2:4.9-12.el9.x86_64"])
        self.assertEqual(pins["devel"], ["gcc-c++=0:11.5.0-5.el9.x86_64"])
        self.done(cudamatrix("render", path, "--locked"))
        folder = self.dockerfiles("rocky")[0].parent
        shutil.copytree(path.parent / "app", folder / "copy/app")

        def build(*options):
            docker("build", *options, "--network", "host", "--target", "runtime", "--tag", "rocky", str(folder))
            return docker("run", "--rm", "--network", "none", "rocky", "sh", "-c",
                          "rpm -q --qf '%{NAME} ' git shadow-utils && stat -c '%U %n' /workspace/a && find /var/cache/dnf -type f && ls /etc/yum.repos.d")

        said = "git shadow-utils app /workspace/a\ncudamatrix.repo\n"
        self.assertEqual(build(), said)
        config = json.loads(docker("image", "inspect", "rocky"))[0]["Config"]
        self.assertEqual((config["User"], config["Healthcheck"]["Test"], config["Healthcheck"]["Retries"]),
                         ("65532:65532", ["CMD", "test", "-n", "$HOME ${HF_HOME}"], 2))  # as written: nothing is replaced
        self.assertIn("HF_HOME=/cache", config["Env"])
        # The packages stay in the builder's cache.
        before = len(World.gateway.asked)
        self.assertEqual(build("--file", steps_again(folder)), said)
        asked = World.gateway.asked[before:]
        self.assertTrue(any(a.endswith("/repomd.xml") for a in asked), asked)
        self.assertEqual([a for a in asked if a.endswith(".rpm")], [])

    def test_13_dnf_has_the_credentials_of_the_netrc_file_and_no_layer_has_them(self):
        gateway = "http://127.0.0.1:8002"
        World.gateway.open(8002, login=f"{USER}:{PASSWORD}")
        netrc = WORK / "dnf.netrc"
        cell = {"family": "nvidia-cuda", "cuda": ROCKY_CUDA, "os": "rockylinux9", "flavour": "base", "driver": "580.65.06", "gpu": "T4"}
        path = matrix("dnf_login", [cell], gateway=gateway, build=f", netrc: {netrc}", images=[{"name": "app", "apt": ["git"]}])
        netrc.write_text(f"machine 127.0.0.1 login {USER} password of-somebody-else\n")
        refused = self.done(cudamatrix("lock", path), 1)
        self.assertIn("Failed to download metadata for repo 'baseos'", refused.stderr)
        netrc.write_text(f"machine elsewhere.example.org login a password b\nmachine 127.0.0.1\n login {USER}\n password {PASSWORD}\n")
        self.done(cudamatrix("lock", path))
        self.done(cudamatrix("render", path, "--locked"))
        folder = self.dockerfiles("dnf_login")[0].parent
        docker("build", "--network", "host", "--secret", f"id=netrc,src={netrc}", "--target", "runtime", "--tag", "dnf_login", str(folder))
        self.assertEqual(docker("run", "--rm", "--network", "none", "dnf_login", "rpm", "-q", "--qf", "%{NAME}\n", "git"), "git\n")
        saved = WORK / "dnf_login.tar"
        docker("save", "--output", str(saved), "dnf_login")
        with tarfile.open(saved) as image:
            for layer in image:
                if not layer.isfile():
                    continue
                content = image.extractfile(layer).read()
                try:
                    with tarfile.open(fileobj=io.BytesIO(content)) as files:
                        texts = [files.extractfile(f).read() for f in files if f.isfile()]
                except tarfile.ReadError:
                    texts = [content]
                self.assertFalse(any(PASSWORD.encode() in text for text in texts), layer.name)
        saved.unlink()

    def test_13_what_images_add_is_in_an_image_of_debian(self):
        cell = {**cells_of_families()["plain"][0], "packages": {"loopback-demo": "1.0"}}
        path = matrix("additions", [cell], images=[{"name": "app", "apt": ["tree"], "copy": [{"from": "app", "to": "/workspace/app"}], "env": {"MODE": "test"}}])
        (path.parent / "app").mkdir(exist_ok=True)
        (path.parent / "app/a").write_text("one\n")
        self.done(cudamatrix("lock", path))
        for command in (["init", "--quiet"], ["add", "matrix.yaml", "cudamatrix.lock", "app"],
                        ["-c", "user.name=test", "-c", "user.email=test@example.org", "commit", "--quiet", "--message", "state"]):
            subprocess.run(["git", *command], cwd=path.parent, check=True)
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=path.parent, check=True, capture_output=True, text=True).stdout.strip()
        image = self.build(path)["images"][0]
        self.assertEqual(image["revision"], head)
        config = json.loads(docker("image", "inspect", image["reference"]))[0]["Config"]
        self.assertEqual(config["Labels"]["org.opencontainers.image.revision"], head)
        self.assertIn("MODE=test", config["Env"])
        pins = dict(pin.split("=") for pin in next(iter(self.lock_of("additions")["images"].values()))["apt"]["runtime"])
        said = docker("run", "--rm", "--network", "none", image["reference"], "sh", "-c",
                      "dpkg-query -W tree && stat -c '%U %n' /workspace/app/a && find /var/cache/apt /root/.cache -type f -size +0 2> /dev/null; tree --noreport /workspace/app")
        self.assertEqual(said, f"tree\t{pins['tree']}\napp /workspace/app/a\n/workspace/app\n`-- a\n")
        # Packages and wheels stay in the builder's caches: only the lists are asked for again, and the installer.
        before = len(World.gateway.asked)
        folder = self.dockerfiles("additions")[0].parent
        docker("build", "--file", steps_again(folder), "--network", "host", "--target", "runtime", str(folder))
        asked = World.gateway.asked[before:]
        self.assertTrue(any(a.endswith("/InRelease") for a in asked), asked)
        self.assertEqual([a for a in asked if a.endswith(".deb") or a.endswith(".whl") and "loopback_demo" in a], [])

    def test_13_a_standalone_python_is_asked_of_the_mirror_and_its_bytes_are_known(self):
        cell = {"family": "nvidia-cuda", "cuda": CUDA, "os": "ubuntu22.04", "flavour": "runtime", "driver": "580.65.06", "gpu": "T4", "python": "3.12"}
        path = matrix("standalone", [cell])
        before = len(World.gateway.asked)
        missing = self.done(cudamatrix("lock", path), 1)
        asked = [a for a in World.gateway.asked[before:] if a.startswith("/local/pythons/")]
        self.assertTrue(asked, missing.stderr)
        self.assertRegex(asked[0], r"^/local/pythons/\d{8}/cpython-3\.12\.\d+%2B\d{8}-x86_64-unknown-linux-gnu-\w+\.tar\.\w+$")
        # The real one is far away; another one is not taken for it.
        file = World.gateway.local / urllib.parse.unquote(asked[0]).removeprefix("/local/")
        file.parent.mkdir(parents=True)
        with tarfile.open(file, "w:gz") as made:
            made.add(__file__, "python/bin/python3.12")
        refused = self.done(cudamatrix("lock", path), 1)
        self.assertIn("the build failed: error: Failed to install cpython-3.12", refused.stderr)
        self.assertIn("Hash mismatch", refused.stderr)

    def test_13_what_is_locked_as_of_a_day_comes_from_the_snapshots(self):
        path = matrix("dated", [cells_of_families()["plain"][2]], build=", snapshot: 2026-11-01")
        before = len(World.gateway.asked)
        self.done(cudamatrix("lock", path))
        asked = World.gateway.asked[before:]
        for archive in ("debian", "debian-security"):
            self.assertTrue(any(a.startswith(f"/snapshots/{archive}/20261101T000000Z/dists/bookworm") for a in asked), asked)
        self.assertEqual([a for a in asked if a.startswith("/debian")], [])
        wheels = next(iter(self.lock_of("dated")["images"].values()))["wheels"]
        self.assertEqual([w["url"] for w in wheels["image"]], [f"{GATEWAY}/local/wheels/loopback_demo-1.0-py3-none-any.whl"])
        # The gateway's address of what it has from outside has a query.
        self.assertEqual([w.get("url") for w in wheels["installer"]], [None])

    def test_14_an_image_of_another_machine_is_asked_for_as_such(self):
        cell = {"family": "nvidia-cuda", "cuda": "12.4.1", "os": "ubuntu22.04", "flavour": "base", "arch": "aarch64"}
        path = matrix("foreign", [cell])
        self.done(cudamatrix("render", path))
        self.assertIn('    platform: "linux/arm64"\n', (path.parent / "out/compose.yaml").read_text())
        self.assertIn("docker build --network=host --platform=linux/arm64", self.dockerfiles("foreign")[0].read_text())
        if os.uname().machine == "aarch64" or pathlib.Path("/proc/sys/fs/binfmt_misc/qemu-aarch64").exists():
            self.skipTest("this machine runs programs of aarch64: the stand-in, busybox alone, is no base for it")
        # The image of that architecture is what is pulled from the index, and its first program does not start here.
        got = self.done(cudamatrix("lock", path), 1)
        self.assertIn("the build failed: this machine cannot run programs of linux/arm64: build on one that can, or register an emulator",
                      got.stderr)
        print("images of aarch64 are not built: this machine cannot run their programs, and has no emulator")

    def test_15_what_is_locked_is_rendered_without_a_registry(self):
        World.registry.end()
        before = {p: p.read_bytes() for p in self.dockerfiles("plain")}
        self.done(cudamatrix("lock", WORK / "plain/matrix.yaml"), 3)
        asked = len(World.gateway.asked)
        shutil.rmtree(WORK / "plain/out/images")
        self.done(cudamatrix("render", WORK / "plain/matrix.yaml", "--locked"))
        self.assertEqual({p: p.read_bytes() for p in self.dockerfiles("plain")}, before)
        self.done(cudamatrix("render", WORK / "plain/matrix.yaml", "--locked", "--check"))
        self.assertEqual(len(World.gateway.asked), asked)


if __name__ == "__main__":
    unittest.main(failfast=True, verbosity=2)

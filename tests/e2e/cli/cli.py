"""What the tests of the command line share: the program, a folder for each test, and the wheels, images and servers that it reads."""
import collections
import hashlib
import io
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest
import zipfile

PROGRAM = os.path.abspath(sys.argv.pop(1))
TESTS = pathlib.Path(__file__).parents[2]
sys.path.append(str(TESTS / "fakes"))  # for fake_site
GOOD = """version: 1
name: good
axes:
  driver: ["535.183.01", "550.54.15"]
  gpu: [T4]
  cuda: ["11.8.0"]
set: {os: debian12, family: debian}
"""
# Two images, the first for two cells, the second for two.
NEWER = GOOD.replace('"535.183.01", "550.54.15"', '"580.65.06", "580.95.05"')
TWO = NEWER.replace('"11.8.0"', '"11.8.0", "13.4.3"')

# What searching and judging say of their progress after two seconds: how much of it there is depends on the machine.
PROGRESS = re.compile(r"^\d+(?: of \d+)? (?:values tried|cells judged|rules asked|tables counted)\n", re.MULTILINE)


def entry(kind, arch, flags=0x8011, isa=(9, 0)):
    """An entry of a fat binary: 1 PTX, 2 machine code, 8 link-time code; compressed, so that it counts as code."""
    return struct.pack("<HHIQIIHHIIIQQQ", kind, 0x101, 64, 8, 4, 0, isa[1], isa[0], arch, 0, 0, flags, 0, 0) + b"zzzz\0\0\0\0"


def container(*entries):
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def library(code, section=b".nv_fatbin"):
    """A shared library with one section of device code."""
    names = b"\0" + section + b"\0.shstrtab\0"
    table = (64 + len(code) + len(names) + 7) // 8 * 8
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, table, 0, 64, 0, 0, 64, 3, 2)
    sections = [(0, 0, 0, 0), (1, 1, 64, len(code)), (2 + len(section), 3, 64 + len(code), len(names))]
    rows = b"".join(struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, offset, size, 0, 0, 1, 0) for name, kind, offset, size in sections)
    return (header + code + names).ljust(table, b"\0") + rows


def layer(*members, mode="w"):
    """A tar archive of (path, content)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as tar:
        for path, content in members:
            info = tarfile.TarInfo(path)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


class Cli(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.dir = pathlib.Path(self.folder.name)

    def call(self, *arguments, code=None, cwd=None, env=None, stdin=None):
        """Runs the program to its end, and compares its exit code with `code`; stderr comes without lines of progress."""
        got = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, cwd=cwd or self.dir, env=env and {**os.environ, **env}, timeout=120,
                             **({"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}))
        got.stderr = PROGRESS.sub("", got.stderr)
        if code is not None:
            self.assertEqual(got.returncode, code, f"{arguments}\n{got.stdout}{got.stderr}")
        return got

    def json_of(self, *arguments, **options):
        """What it prints as JSON."""
        return json.loads(self.call(*arguments, "--format", "json", **options).stdout)

    def refused(self, *arguments, says=(), code=2, env=None):
        """It must end with `code`, print nothing on stdout, and `says` (one text or several) on stderr: that is returned."""
        got = self.call(*arguments, env=env)
        with self.subTest(arguments):
            self.assertEqual((got.returncode, got.stdout), (code, ""), got.stderr)
            self.assertAllIn((says,) if isinstance(says, str) else says, got.stderr)
        return got.stderr

    def bad(self, content, *says):
        """`check` must refuse that matrix file with these texts."""
        return self.refused("check", self.write(content), says=says)

    def assertAllIn(self, needles, text):
        for needle in needles:
            self.assertIn(needle, text)

    def write(self, content, name="matrix.yaml"):
        """A file below the test's folder; its name."""
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    def read(self, name):
        return (self.dir / name).read_text()

    def tree(self, name, hidden=True):
        root = self.dir / name
        return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file() and (hidden or not p.name.startswith("."))}

    def serve(self, folder="site", script="http_server.py", certificate=None):
        """That program of tests/fakes over the folder: its URL."""
        more = [self.dir / certificate] if certificate else []
        server = subprocess.Popen([sys.executable, TESTS / "fakes" / script, self.dir / folder, *more], stdout=subprocess.PIPE, text=True)
        port = server.stdout.readline().split()[1]
        # It writes a line for each request, and would stop at a pipe that is full.
        reader = threading.Thread(target=collections.deque, args=(server.stdout, 0), daemon=True)
        reader.start()
        for done in (server.stdout.close, reader.join, server.wait, server.terminate):  # from the last to the first
            self.addCleanup(done)
        return f"http{'s' if certificate else ''}://127.0.0.1:{port}"

    def serve_registry(self):
        """A registry of what lies in store/: its host."""
        return self.serve("store", "registry_server.py").removeprefix("http://")

    def put_blob(self, repository, content, tag=None, media_type="x"):
        """A blob of store/, or with `tag` a manifest; its descriptor."""
        digest = hashlib.sha256(content).hexdigest()
        self.write(content, f"store/{repository}/" + (f"manifests/{tag}" if tag else f"blobs/{digest}"))
        return {"mediaType": media_type, "digest": "sha256:" + digest, "size": len(content)}

    def index_page(self, project, *files):
        """files: (wheel, sha256 or None for the real one, reason for yanking or False, behaviour of the server)."""
        listed = []
        for name, digest, yanked, behaviour in files:
            if digest is None:
                digest = hashlib.sha256((self.dir / "site" / name).read_bytes()).hexdigest()
            listed.append({"filename": name, "url": f"../../../{behaviour}/{name}", "hashes": {"sha256": digest}, "yanked": yanked})
        self.write(json.dumps({"meta": {"api-version": "1.0"}, "files": listed}), f"site/simple/{project}/index.json")

    def wheel(self, name, members):
        path = self.dir / "site" / name
        path.parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, content in members.items():
                archive.writestr(member, content)
        return path

    def torch_wheel(self, version="99.0.0", arch="manylinux_2_28_x86_64", **more):
        """A wheel that says of itself what torch says, for CUDA 12.4; its name."""
        name = f"torch-{version}-cp312-cp312-{arch}.whl"
        self.wheel(name, {"torch/version.py": f"__version__ = '{version}+cu124'\ncuda: Optional[str] = '12.4'\n",
                          "torch/lib/libtorch_python.so": b"x\0sm_75 sm_80 compute_90\0y",
                          f"torch-{version}.dist-info/METADATA": f"Version: {version}\nRequires-Dist: triton==3.2.0\n\n", **more})
        return name


def main():
    unittest.main()

"""What no stream takes: every command with a stderr or stdout that is full, closed, or a pipe that nobody reads. Usage: streams_test.py CUDAMATRIX
[unittest arguments]"""
import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess

from cli import GOOD, PROGRAM, Cli, container, entry, library, main
import fake_site
from kernels_test import CXX, PASS

# The spelling of the GPU is a note on stderr, whoever reads it.
MATRIX = """version: 1
name: streams
axes: {driver: ["550.54.15"], gpu: [t4, H100], cuda: ["11.8.0"], os: debian12}
build: {base_from: bootstrap, snapshot: none}
"""
SUITE = ("--suite", "suite")  # of a few files
ENGINE = (*SUITE, "--engine", "docker")
MEASURE = ("--out", "measured", "--index", "URL/plain/simple")
# What each command is called with. URL, HOST: servers on the loopback.
CALLS = {
    "check": ("m.yaml", "--out", "o"), "explain": ("m.yaml", "gpu=t4"), "suggest": ("--gpu", "t4", "--out", "o"), "lint": ("m.yaml", "--out", "o"),
    "init": ("--preset", "training", "--out", "new.yaml"), "audit": ("Dockerfile", "--out", "o"), "diff": ("m.yaml", "m.yaml", "--out", "o"),
    "upgrade": ("m.yaml", "--to", "next"), "review": ("m.yaml", "--out", "o"), "list": ("m.yaml", "--out", "o"), "lock": ("m.yaml", *ENGINE),
    "render": ("m.yaml", *SUITE, "--out", "fresh"), "build": ("m.yaml", *ENGINE, "--out", "fresh"), "test": ("m.yaml", *ENGINE, "--out", "r"),
    "run": ("m.yaml", *ENGINE, "--out", "fresh"), "sbom": ("m.yaml", *ENGINE, "--out", "r"), "emit": ("gitlab", "m.yaml", "--out", "o"),
    "report": ("r/report.json", "--out", "o"), "collect": ("m.yaml", "r", *SUITE, "--out", "o"), "clean": ENGINE[2:], "doctor": ("--offline",),
    "facts list": ("--out", "o"), "facts show": ("gpus",), "facts search": ("T4",), "facts check": (), "facts log": ("now", "--since", "then"), "facts refresh": ("--only", "demo", "--facts", "then", *MEASURE),
    "facts measure torch": ("--versions", ">=90", *MEASURE), "facts measure package": ("demo", "--versions", ">=1", *MEASURE),
    "facts measure image": ("HOST/plain/team/app:1", "--out", "measured"), "facts measure toolkit": ("--versions", ">=12.9.9", *MEASURE),
    "rules list": ("--out", "o"), "rules show": ("driver-supports-cuda",), "kernels list": ("--out", "o"), "kernels show": ("cmp.vadd",), "kernels build": (*SUITE, "--out", "k"),
    "templates list": (), "templates show": ("debian/Dockerfile.mustache",), "templates check": (), "scan": ("library.so", "HOST/plain/team/app:1"), "schema": (), "help": ("check",), "man": (), "completion": ("bash",),
}
ROWS = """table: package_releases
as_of: "2026-11-21"
rows:
  - {id: package-demo-1.0, package: demo, version: "1.0", requires: [], abi: [py3], source: "https://example.org/", confidence: read}
"""
BUILT = {"test", "sbom", "report", "collect", "clean"}  # these start where everything is built, the others where everything is pinned
# What these say differs from call to call: times, names of runs, room on disks.
VARYING = {"build", "test", "run", "collect", "doctor"}
# What these have to say is all on stdout.
SILENT = {"lint", "init", "audit", "diff", "report", "clean", "doctor", "facts list", "facts show", "facts search", "facts check", "facts log", "rules list", "rules show",
          "kernels list", "kernels show", "templates list", "templates show", "templates check", "schema", "help", "man", "completion"}


CLOSED = ("cudamatrix: error: cannot write to stdout: Bad file descriptor\n"
          "  fix: send the report where there is room, or to a reader that reads to its end\n")


def commands(words=()):
    """By the program's own help: those without commands of their own."""
    shown = subprocess.run([PROGRAM, *words, "--help"], capture_output=True, text=True, check=True).stdout
    below = re.search(r"\nCommands:\n((?:  .*\n)+)", shown)
    names = re.findall(r"^  (\S+)", below[1], re.M) if below else []
    return [each for name in names for each in commands((*words, name))] or [" ".join(words)]


def worse(code):
    """With a stream that did not take everything: 130, 2, 3, 1, 4, 0 is the order."""
    return code if code in (130, 2) else 3


@contextlib.contextmanager
def full():
    with open("/dev/full", "wb") as device:
        yield device


@contextlib.contextmanager
def unread():
    """The end of a pipe whose reader has gone."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        yield writer
    finally:
        os.close(writer)


class Streams(Cli):
    def setUp(self):
        super().setUp()
        world = self.dir / "world"
        self.tools = fake_site.install(world / "bin", world / "state")
        for tool, script in (("nvidia-smi", "exit 9"), ("nvcc", "echo 'Cuda compilation tools, release 13.0, V13.0.88'"), ("g++", CXX)):
            fake_site.program(world / "bin" / tool, f"#!/bin/sh\n{script}\n")
        for name, content in (("m.yaml", MATRIX), ("Dockerfile", "FROM debian:12\nRUN pip install torch==2.6.0\n"), ("library.so", library(container(entry(2, 75)))),
                              ("suite/kernels/x.cpp", "x\n"), ("suite/fatbin/x.cpp", "x\n"), ("then/x.yaml", ROWS), ("now/x.yaml", ROWS.replace("1.0", "2.0"))):
            self.write(content, "world/" + name)
        self.wheel("demo-1.0-py3-none-any.whl", {"demo-1.0.dist-info/METADATA": "Version: 1.0\n\n"})
        self.wheel("cuda_toolkit-12.9.9-py3-none-any.whl", {"cuda_toolkit-12.9.9.dist-info/METADATA": "Version: 12.9.9\nRequires-Dist: nvidia-cuda-nvcc==12.9.99.*; extra == 'all'\n\n"})
        for project, name in (("torch", self.torch_wheel()), ("demo", "demo-1.0-py3-none-any.whl"), ("cuda-toolkit", "cuda_toolkit-12.9.9-py3-none-any.whl")):
            self.index_page(project, (name, None, False, "plain"))
        image = {"schemaVersion": 2, "layers": [], "config": self.put_blob("team/app", b'{"os": "linux", "architecture": "amd64", "config": {}}')}
        self.put_blob("team/app", json.dumps(image).encode(), "1")
        self.url, self.host = self.serve(), self.serve_registry()
        here = shutil.copytree(world, self.dir / "here")
        self.call("run", "m.yaml", *ENGINE, "--out", "r", cwd=here, env=self.env(), code=4)
        shutil.copy(here / "cudamatrix.lock", world)
        here.rename(self.dir / "built")

    def env(self):
        here = self.dir / "here"
        return {**self.tools, "FAKE_DOCKER_DIR": str(here / "state"), "PATH": f"{here}/bin:/usr/bin:/bin", "HOME": str(here), "KERNELS": PASS, "SOURCE_DATE_EPOCH": "0"}

    def said(self, command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, more=()):
        """Exit code, stdout, stderr and the files that are new, of a call in a folder of the same name and content each time."""
        here = self.dir / "here"
        shutil.rmtree(here, ignore_errors=True)
        shutil.copytree(self.dir / ("built" if command in BUILT else "world"), here)
        before = self.tree("here")
        words = [word.replace("URL", self.url).replace("HOST", self.host) for word in (*CALLS[command], *more)]
        got = subprocess.run([PROGRAM, *command.split(), *words], stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, cwd=here, env=self.env(), timeout=120, check=False)
        files = {name: content for name, content in self.tree("here").items() if before.get(name) != content and not name.startswith(("state/", ".cache/"))}
        return got.returncode, got.stdout, got.stderr, files

    def same(self, command, what, got):
        """Texts, or files by their names."""
        if command in VARYING:
            alike = lambda text: re.sub(rb"[0-9]+(\.[0-9]+)?", b"0", text)  # noqa: E731
            what, got = ({name: alike(text) for name, text in each.items()} if isinstance(each, dict) else alike(each) for each in (what, got))
        self.assertEqual(got, what)

    def test_the_list_of_commands_is_that_of_the_help(self):
        self.assertEqual(set(commands()), set(CALLS))

    def test_every_command(self):
        silent, wordless = set(), set()
        for command in CALLS:
            code, stdout, stderr, files = self.said(command)
            self.assertIn(code, (0, 1, 3, 4), stderr)
            wordless |= set() if stdout else {command}
            silent |= set() if stderr else {command}
            for name, broken in (("full", full), ("unread", unread)):
                with self.subTest(command, stderr=name), broken() as stream:
                    got = self.said(command, stderr=stream)
                    self.assertEqual(got[0], worse(code) if stderr else code)
                    self.same(command, stdout, got[1])
                    self.same(command, files, got[3])
                with self.subTest(command, stdout=name), broken() as stream:
                    got = self.said(command, stdout=stream)
                    self.assertEqual(got[0], worse(code) if stdout else code, got[2])
                    why = "No space left on device" if name == "full" else "Broken pipe"
                    lost = f"cudamatrix: error: cannot write to stdout: {why}\n  fix: send the report where there is room, or to a reader that reads to its end\n".encode()
                    self.assertEqual(got[2].count(lost), 1 if stdout else 0)
                    self.same(command, stderr, got[2].replace(lost, b""))
                    self.same(command, files, got[3])
            with self.subTest(command, both="full"), full() as stream:
                got = self.said(command, stdout=stream, stderr=stream)
                self.assertEqual(got[0], worse(code))
                self.same(command, files, got[3])
            # Wrong usage is told by every command, and stays wrong usage.
            with self.subTest(command, usage="full"), full() as stream:
                self.assertEqual(subprocess.run([PROGRAM, *command.split(), "--xyzzy"], stderr=stream, timeout=60, check=False).returncode, 2)
        self.assertEqual(wordless, set())
        self.assertEqual(silent, SILENT)

    def test_a_reader_that_goes_away_in_the_middle_of_a_build(self):
        """run 2>&1 >/dev/null | head -4"""
        shutil.copytree(self.dir / "world", self.dir / "here")
        with open(self.dir / "report", "wb") as report, subprocess.Popen([PROGRAM, "run", "m.yaml", *ENGINE, "--out", "r"], stdin=subprocess.DEVNULL, stdout=report,
                                                                       stderr=subprocess.PIPE, cwd=self.dir / "here", env=self.env()) as process:
            said = [process.stderr.readline() for _ in range(4)]
            process.stderr.close()
            self.assertEqual(process.wait(timeout=120), 3, said)
        self.assertTrue(self.read("report").endswith("\noutput: r\nlogs: r/logs\n"), self.read("report"))
        self.assertEqual(self.read("here/r/report.txt"), self.read("report"))
        self.assertEqual([cell["outcome"] for cell in json.loads(self.read("here/r/report.json"))["cells"]], ["passed_without_gpu"] * 2)


class OneStream(Cli):
    """With a report that is larger than any pipe holds."""

    def setUp(self):
        super().setUp()
        drivers = ", ".join(f'"550.{minor}.{patch}"' for minor in range(40, 90) for patch in range(10, 30))
        self.write(f"version: 1\naxes:\n  driver: [{drivers}]\n  gpu: [T4, L4, H100, A10]\nset: {{cuda: \"11.8.0\"}}\n")
        self.argv = [PROGRAM, "list", "matrix.yaml", "--format", "json"]
        self.whole = self.call(*self.argv[1:], code=0).stdout
        self.assertGreater(len(self.whole), 1 << 18)

    def start(self, **more):
        return subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.dir, text=True, **more)

    def test_a_report_that_is_cut_off_is_3(self):
        with self.start() as process:
            process.stdout.read(1000)
            process.stdout.close()
            self.assertEqual(process.stderr.read(), "cudamatrix: error: cannot write to stdout: Broken pipe\n"
                             "  fix: send the report where there is room, or to a reader that reads to its end\n")
            self.assertEqual(process.wait(timeout=60), 3)

    def test_a_pipe_that_does_not_wait_loses_nothing(self):
        """As node and others leave the pipes that they share with their children."""
        reader, writer = os.pipe()
        fcntl.fcntl(writer, fcntl.F_SETFL, fcntl.fcntl(writer, fcntl.F_GETFL) | os.O_NONBLOCK)
        with subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE, cwd=self.dir) as process, open(reader) as report:
            os.close(writer)
            self.assertEqual(report.read(), self.whole)
            self.assertEqual((process.wait(timeout=60), process.stderr.read()), (0, b""))

    def test_a_signal_in_the_middle_of_a_report_loses_nothing(self):
        with self.start() as process:
            first = process.stdout.read(1)
            process.send_signal(signal.SIGINT)
            self.assertEqual(first + process.stdout.read(), self.whole)
            self.assertEqual((process.wait(timeout=60), process.stderr.read()), (130, ""))

    def test_a_stream_that_is_closed_takes_no_file(self):
        """A file that is opened next would get its number, and what is printed."""
        self.write(GOOD.replace("T4", "t4"), "good.yaml")
        expected = self.call("check", "good.yaml", "--out", "o", code=0)
        for streams, code, stdout, stderr in ((">&-", 3, "", expected.stderr + CLOSED), ("2>&-", 3, expected.stdout, ""), ("<&-", 0, expected.stdout, expected.stderr),
                                              ("<&- >&- 2>&-", 3, "", "")):
            with self.subTest(streams):
                got = subprocess.run(["sh", "-c", f'exec "$@" {streams}', "sh", PROGRAM, "check", "good.yaml", "--out", "closed"], capture_output=True, text=True,
                                     cwd=self.dir, timeout=60, check=False)
                self.assertEqual((got.returncode, got.stdout, got.stderr), (code, stdout, stderr))
                self.assertEqual(self.tree("closed"), self.tree("o"))
                shutil.rmtree(self.dir / "closed")


if __name__ == "__main__":
    main()

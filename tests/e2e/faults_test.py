"""A disk that fails: every command that writes files, with its calls that change files failing one after the other.
Usage: faults_test.py CUDAMATRIX [--whole] [--only WORD] [--list]   (a fixed choice by default; --whole: each call, with each error)

tests/fakes/fault_shim.c lets the calls fail. Each time: exit code 3, a message that names the file and the reason, old files whole (as they were, or
wholly new), nothing unfinished left behind, and the next run, on a disk that works, ends as if nothing had happened."""
import argparse
import errno
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
FAKES = HERE.parent / "fakes"
sys.path.append(str(HERE / "cli"))
from cli import PROGRAM, Cli, container, entry, library
import job_world
import kernels_test
MATRIX = """version: 1
name: faulty
axes: {driver: ["550.54.15"], gpu: [T4], cuda: ["11.8.0"], os: debian12}
build: {base_from: bootstrap, snapshot: none, network: host}
emit: {registry: registry.example.org/team}
images:
  - {name: a, env: {MODE: a}, copy: [{from: app, to: /workspace}]}
"""
OTHER = MATRIX.replace("name: a, env: {MODE: a}", "name: b, env: {MODE: b}")
REJECTED = MATRIX.split("images:")[0].replace("T4", "B200")
TORCH = 'version: 1\nset: {python: "3.12", driver: "550.54.15", gpu: T4, cuda: "12.4.1", torch: "2.5.1+cu124", os: ubuntu22.04}\n'
LOOK = 'version: 1\nset: {python: "3.12", packages: {demo: "1.0"}}\n'
KNOWN = ('table: package_releases\nas_of: "2026-11-21"\nrows:\n  - {id: package-demo-1.0, package: "demo", version: "1.0", requires: [], abi: ["py3"], '
         f'source: "wheel:demo-1.0-py3-none-any.whl sha256:{"0" * 64}", confidence: measured}}\n')
PTXAS = """#!/bin/sh
if [ "$1" = --help ]; then printf -- "--gpu-name\\n  Allowed values: 'compute_75','sm_75','sm_100a'.\\n"; exit 0; fi
read -r word version < "$2"
[ "$version" != 9.8 ] || exit 0
echo "fatal: Unsupported .version $version; current version is '9.8'" >&2; exit 255
"""
ENGINE = ["--engine", "docker"]
JOB = [*ENGINE, "--out", "out", "--step-summary"]
REPORTS = ["--out", "reports"]

MOST_ALIKE = 4  # calls of one kind in one folder that are tried
MANY = 24  # calls: of more than that each has one error

# What ends the name of a file that is renamed when it is whole.
TEMPORARY = re.compile(r"(\.[A-Za-z0-9]{6}|\.new)$")
# A render that was not committed, or whose second half the next command does: src/render/output.
STAGED = re.compile(r"(^|/)\.cudamatrix-(stage|ready)(/|$)")
ERRORS = {"open": ["ENOSPC", "EACCES", "EROFS", "EDQUOT", "EIO"], "write": ["ENOSPC", "EIO", "EDQUOT"], "fsync": ["EIO", "ENOSPC", "EDQUOT"],
          "close": ["EIO", "ENOSPC", "EDQUOT"], "rename": ["EACCES", "EROFS", "ENOSPC", "EIO"], "truncate": ["EIO"],
          "mkdir": ["ENOSPC", "EACCES", "EROFS", "EDQUOT"], "link": ["ENOSPC", "EACCES", "EROFS"], "symlink": ["ENOSPC", "EACCES", "EROFS"]}


class Case:
    """A command, what is done before it, and the folders whose files are made old ones then."""

    def __init__(self, *argv, before=(), old=(), quick=0, goes_on=False):
        """quick: faults of the fixed choice; goes_on: what cannot be written is said, and the rest is done."""
        self.argv, self.before, self.old, self.quick, self.goes_on = list(argv), before, old, quick, goes_on
        self.name = " ".join(argv)


def cases(index, registry):
    """All of them; `index` is the URL of a wheel index, `registry` the host of one for images."""
    lock, run = ["lock", "matrix.yaml", *ENGINE, "--out", "out"], ["run", "matrix.yaml", *JOB, "-j", "1"]
    measured = ["--index", index + "/tagged/simple", "--jobs", "1", "--out", "facts"]
    plain = [["check", "matrix.yaml"], ["explain", "matrix.yaml", "driver=550.54.15"], ["suggest", "--gpu", "T4", "--driver", "550", "--python", "3.12"],
             ["lint", "matrix.yaml"], ["audit", "Dockerfile"], ["diff", "matrix.yaml", "other.yaml"], ["upgrade", "torch.yaml", "--to", "hold"],
             ["review", "torch.yaml"], ["list", "matrix.yaml"], ["doctor", "--offline"], ["scan", "app"],
             ["facts", "list"], ["facts", "show", "gpu-t4"], ["facts", "search", "T4"], ["facts", "check"],
             ["facts", "log", "log", "--since", "HEAD"], ["rules", "list"], ["rules", "show", "driver-supports-cuda"],
             ["kernels", "list"], ["kernels", "show", "cmp.vadd"], ["report", "earlier.json"]]
    summed = ("check", "diff", "review", "report")
    yield from (Case(*argv, *REPORTS, *(["--step-summary"] if argv[0] in summed else []), old=["reports"], quick=9 if argv[0] == "check" else 0)
                for argv in plain)
    yield Case("facts", "log", "log", "--since", "HEAD", "--step-summary")
    yield Case("man", "--out", "pages", old=["pages"])
    yield Case("init", "--out", "new.yaml")
    yield Case("init", "--from", "Dockerfile", "--driver", "550", "--gpu", "T4", "--out", "new.yaml")
    yield Case("upgrade", "torch.yaml", "--to", "hold", "--write", quick=4)
    yield Case("list", "matrix.yaml", "--format", "github-matrix", "--github-output", "cells", quick=3)
    yield Case("emit", "github", "matrix.yaml", "--out", "ci")
    yield Case("emit", "kubernetes", "matrix.yaml", "--out", "ci", before=[["emit", "kubernetes", "other.yaml", "--out", "ci"]])
    yield Case("facts", "measure", "package", "demo", *measured, quick=6)
    yield Case("facts", "measure", "torch", "--versions", ">=90", "--arch", "x86_64", *measured)
    yield Case("facts", "measure", "torch", "--held", "--versions", ">=90", "--arch", "x86_64", *measured)
    yield Case("facts", "measure", "toolkit", "--versions", ">=90", "--execute", *measured)
    yield Case("facts", "measure", "image", "registry.example.org/team/base:1", "--mirror", f"registry.example.org={registry}/plain", *measured[2:])
    yield Case("facts", "refresh", "--only", "demo", "--facts", "ours", *measured)
    yield Case("check", "look.yaml", "--look", goes_on=True)
    yield Case("kernels", "build", "--out", "made")
    yield Case(*lock, quick=4)
    yield Case(*lock, "--update", before=[lock])
    yield Case("render", "matrix.yaml", "--out", "out", "--step-summary")
    yield Case("render", "matrix.yaml", "--out", "out", "--prune", before=[lock, ["render", "other.yaml", "--out", "out"]], quick=6)
    yield Case("build", "matrix.yaml", *JOB, before=[lock])
    yield Case("build", "matrix.yaml", *ENGINE, "--out", "out", "--prepare", before=[lock])
    yield Case("test", "matrix.yaml", *JOB, before=[lock, ["build", "matrix.yaml", *JOB]])
    yield Case("test", "rejected.yaml", *ENGINE, "--out", "out", "--prove-rejected", before=[lock])
    yield Case(*run)
    yield Case(*run, before=[["run", "other.yaml", *JOB]], quick=8)
    yield Case("sbom", "matrix.yaml", *ENGINE, "--out", "out", before=[run])
    yield Case("collect", "matrix.yaml", "out", "--out", "all", "--step-summary", before=[run], old=["all"])


NOT_WRITTEN = {("clean", "--out"): "names a folder, and writes nothing there"}


def writing_options():
    """(command, option) of all that write files, as their help says."""
    found = set()

    def walk(words):
        text = subprocess.run([PROGRAM, *words, "--help"], capture_output=True, text=True, check=True, env={"COLUMNS": "200"}).stdout
        commands = text.split("\nCommands:\n")[1].split("\n\n")[0] if "\nCommands:\n" in text else ""
        for command in re.findall(r"^  (\w[\w-]*) ", commands, re.M):
            walk([*words, command])
        found.update((" ".join(words), option) for option in re.findall(r"^  (--(?:out|write|github-output|step-summary))\b", text, re.M))
    walk([])
    return found


class Disk:
    """The world of all cases: `work` is the folder whose disk fails, what the fakes keep is beside it."""

    def __init__(self, root):
        self.world = job_world.World(PROGRAM, root)
        self.root, self.work = self.world.root, self.world.root / "work"
        self.shim, self.calls = self.root / "fault_shim.so", self.root / "calls"
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-o", self.shim, FAKES / "fault_shim.c", "-ldl", "-pthread"], check=True)
        job_world.fake_site.program(self.root / "bin/nvcc", "#!/bin/sh\necho 'Cuda compilation tools, release 13.0, V13.0.88'\n")
        job_world.fake_site.program(self.root / "bin/g++", "#!/bin/sh\n" + kernels_test.CXX)
        (self.root / "tools/git").symlink_to(shutil.which("git"))
        (self.root / "tools/sh").symlink_to(shutil.which("sh"))
        (self.root / "state/holds-dpkg-query.txt").write_text("libcudart11.0\t11.8.89~11.8.0-5\tamd64\n")
        self.site = Cli()
        self.site.dir = self.root
        self.fill_site()
        here = str(self.work)
        self.index, self.registry = self.site.serve(), self.site.serve_registry()
        self.environment = {**self.world.environment, "TMPDIR": here + "/tmp", "HOME": here + "/home", "XDG_CACHE_HOME": here + "/cache", "COLUMNS": "200",
                            "GITHUB_STEP_SUMMARY": here + "/summary.md", "GITHUB_OUTPUT": here + "/outputs", "KERNELS": kernels_test.PASS,
                            "PIP_INDEX_URL": self.index + "/tagged/simple"}
        self.fill_work()
        self.keep("empty")

    def fill_site(self):
        """A wheel index with a package, a torch and a toolkit, and an image."""
        demo = [self.site.wheel(f"demo-{version}-py3-none-any.whl", {f"demo-{version}.dist-info/METADATA": f"Version: {version}\nRequires-Dist: torch\n\n"})
                for version in ("1.0", "2.0")]
        code = library(container(entry(2, 75), entry(2, 90, 0x108011), entry(1, 90)))
        torch = self.site.torch_wheel(**{"torch/lib/libtorch_cuda.so": code})
        self.site.index_page("demo", *((path.name, None, False, "plain") for path in demo))
        self.site.index_page("torch", (torch, None, False, "plain"))
        self.site.wheel("cuda_toolkit-90.1.0-py2.py3-none-any.whl", {"cuda_toolkit-90.1.0.dist-info/METADATA": "Version: 90.1.0\n" + "".join(
            f"Requires-Dist: nvidia-cuda-{part}==90.1.20.*; extra == 'all'\n" for part in ("nvcc", "crt")) + "\n"})
        self.site.index_page("cuda-toolkit", ("cuda_toolkit-90.1.0-py2.py3-none-any.whl", None, False, "plain"))
        for part, member in (("nvcc", {"nvidia/cu90/bin/ptxas": PTXAS, "nvidia/cu90/bin/nvcc": "x"}),
                             ("crt", {"nvidia/cu90/include/crt/host_config.h": "#if __GNUC__ > 21\n#if (__clang_major__ >= 31)\n"})):
            name = f"nvidia_cuda_{part}-90.1.20-py3-none-manylinux_2_17_{os.uname().machine}.whl"
            self.site.wheel(name, {**member, f"nvidia_cuda_{part}-90.1.20.dist-info/METADATA": "Version: 90.1.20\n\n"})
            self.site.index_page(f"nvidia-cuda-{part}", (name, None, False, "plain"))
        config = json.dumps({"os": "linux", "architecture": "amd64", "config": {"Env": ["CUDA_VERSION=12.4.1"]}}).encode()
        manifest = {"schemaVersion": 2, "layers": [], "config": self.site.put_blob("team/base", config)}
        self.site.put_blob("team/base", json.dumps(manifest).encode(), "1")

    def fill_work(self):
        """What the commands read."""
        files = {"matrix.yaml": MATRIX, "other.yaml": OTHER, "rejected.yaml": REJECTED, "torch.yaml": TORCH, "look.yaml": LOOK, "app/train.py": "print(1)\n",
                 "app/lib.so": library(container(entry(2, 75))),
                 "Dockerfile": "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN pip install torch==2.5.1\n", "summary.md": "# old\n", "outputs": "old=1\n",
                 "log/pythons.yaml": 'table: pythons\nas_of: "2026-11-21"\nrows: []\n', "tmp/.keep": "",
                 "ours/package_releases.yaml": KNOWN}
        for name, text in files.items():
            (self.work / name).parent.mkdir(parents=True, exist_ok=True)
            (self.work / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        for words in (["init", "-q"], ["add", "work/log"], ["-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", "x"]):
            subprocess.run(["git", *words], cwd=self.root, check=True)
        done = self.call(["render", "matrix.yaml", "--out", "out", "--format", "json"])
        (self.work / "earlier.json").write_text(done.stdout)
        shutil.rmtree(self.work / "out")

    def call(self, argv, **more):
        return subprocess.run([PROGRAM, *argv], cwd=self.work, env={**self.environment, **more}, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=300, check=False)

    def faulty(self, argv, at=0, error=0, mode="once"):
        """With that call failing: what came of it, and (name, path, failed) of all calls."""
        self.calls.unlink(missing_ok=True)
        got = self.call(argv, LD_PRELOAD=str(self.shim), FAULT_FOLDER=str(self.work), FAULT_LOG=str(self.calls), FAULT_AT=str(at), FAULT_ERRNO=str(error),
                        FAULT_MODE=mode)
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        return got, [(name, path, what == "fault") for _, what, name, path in (line.split(" ", 3) for line in lines)]

    def keep(self, name):
        for part in ("work", "state"):
            shutil.rmtree(self.root / f"{name}.{part}", ignore_errors=True)
            subprocess.run(["cp", "-a", self.root / part, self.root / f"{name}.{part}"], check=True)

    def take_back(self, name):
        for part in ("work", "state"):
            shutil.rmtree(self.root / part)
            subprocess.run(["cp", "-a", self.root / f"{name}.{part}", self.root / part], check=True)

    def files(self):
        """By their paths; of a link that leads to something here the name."""
        return {str(path.relative_to(self.work)): os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
                for path in sorted(self.work.rglob("*")) if path.is_symlink() or path.is_file()}


def normal(content):
    """Without what differs between two runs that do the same: times, numbers of processes, and hashes of those."""
    return re.sub(rb"[0-9a-f]{64}|[0-9]+(\.[0-9]+)?", b"0", content)


def is_json(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def is_whole(path, content, good):
    """Of a file that says something else than after a run without faults: what could not be done is missing in it, or said."""
    if path.endswith(".jsonl"):  # of the journal a line may be cut, which whoever reads it passes over
        return sum(not is_json(line) for line in content.splitlines() if line) <= 1
    # A log of two builds is there after the first one, too.
    one_of_two = "/logs/" in path and content.endswith(b"\n")
    if not content or (normal(good).startswith(normal(content)) and not one_of_two):
        return False
    if path.endswith(".json"):
        return is_json(content)
    return content.rstrip().endswith(b">") if path.endswith((".xml", ".html")) else content.endswith(b"\n") or "/logs/" in path


def compare(before, good, now):
    """What is wrong with the files after a fault."""
    wrong = []
    for path, content in now.items():
        if STAGED.search(path) or content == before.get(path) or (path in good and normal(content) == normal(good[path])):
            continue
        if path not in before and path not in good:
            wrong.append(f"left behind: {path}")
        elif not is_whole(path, content, good.get(path, b"")):
            wrong.append(f"torn: {path}: {content[:60]!r} ... {content[-60:]!r}")
    return wrong + [f"lost: {path}" for path in before if path not in now and path in good]


def names_of(path):
    """One of them is what a message has to say of the file; a temporary one is called by what it becomes."""
    name = TEMPORARY.sub("", os.path.basename(path))
    return {name, os.path.basename(path).replace("-stage", "-ready")}  # what was committed is called as rubbish before it is removed


class Run:
    """One case on the disk."""

    def __init__(self, disk, case):
        self.disk, self.case = disk, case
        disk.take_back("empty")
        for argv in case.before:
            got = disk.call(argv)
            assert got.returncode in (0, 1, 4), f"before {case.name}: {argv} ends with {got.returncode}:\n{got.stdout}{got.stderr}"
        if case.old:
            disk.call(case.argv)
            for folder in case.old:
                for path in (disk.work / folder).rglob("*"):
                    path.write_text("old\n")
        disk.keep("before")
        self.before = disk.files()
        self.good, self.calls = disk.faulty(case.argv)
        assert self.good.returncode in (0, 1, 4), f"{case.name} ends with {self.good.returncode}:\n{self.good.stdout}{self.good.stderr}"
        self.after = disk.files()

    def in_place(self):
        """Old files that are written where they stand, and do not grow only."""
        renamed = {path for name, path, _ in self.calls if name == "rename"}
        written = {path for name, path, _ in self.calls if name in ("write", "truncate")}
        return [f"{self.case.name} writes over {path}" for path, content in self.before.items()
                if str(self.disk.work / path) in written - renamed and not self.after.get(path, b"").startswith(content)]

    def fault(self, at, error, mode):
        """What is wrong after that fault; None where the call was not reached."""
        self.disk.take_back("before")
        got, calls = self.disk.faulty(self.case.argv, at, getattr(errno, error), mode)
        failed = [(name, path) for name, path, fails in calls if fails]
        if not failed:
            return None
        said, wrong = got.stderr + got.stdout, []
        # A short write is no fault, and where no link can be made there is a copy.
        if mode == "short" or (failed[0][0] == "link" and got.returncode == self.good.returncode):
            if got.returncode != self.good.returncode:
                wrong.append(f"exit code {got.returncode}, not {self.good.returncode}")
        else:
            if got.returncode != 3 and not self.case.goes_on:
                wrong.append(f"exit code {got.returncode}")
            if os.strerror(getattr(errno, error)) not in said:
                wrong.append("the message does not say why")
            if not any(name in said for _, path in failed for name in names_of(path)):
                wrong.append("the message does not name the file")
        if "terminate called" in said or got.returncode < 0:
            wrong.append("it died")
        # What cannot be put back stays beside its place, with its note, and the message says where.
        named = tuple(f"left behind: {path}" for path in re.findall(r"cannot rename (\S+) to ", said))
        wrong += [each for each in compare(self.before, self.after, self.disk.files()) if not each.startswith(named)]
        if got.returncode == self.good.returncode != 3:
            self.disk.take_back("before")  # it may be refused after one that did it all
        again = self.disk.call(self.case.argv)
        if again.returncode != self.good.returncode:
            wrong.append(f"the next run ends with {again.returncode}: {again.stderr[-400:]}")
        # The log of an image that was built, and is not built again, cannot come back.
        logs = {TEMPORARY.sub("", os.path.relpath(path, self.disk.work)) for _, path in failed if "/logs/build-" in path}
        now = {**{path: self.after[path] for path in logs if path in self.after}, **self.disk.files()}
        wrong += [f"the next run: {each}" for each in compare(self.after, self.after, now) if not re.search("summary|outputs", each)]
        wrong += [f"the next run leaves {path} behind" for path in now if STAGED.search(path)]
        wrong += [f"the next run lacks {path}" for path in self.after if path not in now]
        where = f"{failed[0][0]} {failed[0][1].removeprefix(str(self.disk.work) + '/')}, {error} ({mode})"
        return [f"{self.case.name}: call {at}: {where}: {each}\n{got.stderr[-200:]}" for each in wrong]

    def faults(self, whole, number):
        """(call, error, mode) to try: all, with each error, or a few; of many calls each has one of the errors, which take turns."""
        places, chosen = {}, []
        for at, (name, path, _) in enumerate(self.calls, 1):
            place = re.sub(r"/(suite|src)(/.*|$)", "", os.path.dirname(path))  # of the kernels, which are many, a few are enough
            places.setdefault((name, place), []).append((at, name))
        for calls in places.values():
            chosen += calls[:: max(1, -(-len(calls) // MOST_ALIKE))]
        chosen.sort()
        if not whole:
            chosen = [chosen[i * len(chosen) // self.case.quick] for i in range(min(self.case.quick, len(chosen)))]
        for turn, (at, name) in enumerate(chosen, number):
            errors = [(at, error, "once") for error in ERRORS[name]]
            errors += [(at, "ENOSPC", mode) for mode in (["short", "cut"] if name == "write" else [])]
            errors += [(at, "ENOSPC", "stays")] if name in ("open", "write", "mkdir") else []
            yield from errors if whole and len(chosen) < MANY else [errors[turn % len(errors)]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--whole", action="store_true", help="each call, with each error")
    parser.add_argument("--only", default="", help="only commands with these words in them")
    parser.add_argument("--list", action="store_true", help="only count the calls")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cudamatrix-faults-") as root:
        disk = Disk(pathlib.Path(root).resolve())
        try:
            return work(disk, options)
        finally:
            disk.site.doCleanups()


def work(disk, options):
    all_cases = list(cases(disk.index, disk.registry))
    said = {(name, word) for case in all_cases for word in case.argv if word.startswith("--")
            for name in (" ".join(case.argv[:1]), " ".join(case.argv[:2]), " ".join(case.argv[:3]))}
    missing = sorted(each for each in writing_options() if each not in said and each not in NOT_WRITTEN)
    wrong = [f"no case writes with {command} {option}" for command, option in missing]
    number = faults = 0
    for case in all_cases:
        if options.only not in case.name or not (options.whole or options.list or options.only or case.quick):
            continue
        began = time.monotonic()
        run = Run(disk, case)
        count, found_here = 0, []
        wrong += run.in_place() if run.calls else [f"{case.name} writes nothing"]
        for at, error, mode in [] if options.list else run.faults(options.whole, number):
            found = run.fault(at, error, mode)
            count += found is not None
            wrong += found or []
            found_here += found or []
        number += 1
        faults += count
        if options.whole or options.list or options.only:
            print(*found_here, sep="", end="", flush=True)
            print(f"{case.name}: {len(run.calls)} calls, {count} faults, {time.monotonic() - began:.0f} s", flush=True)
    print(f"{number} commands, {faults} faults, {len(wrong)} mistakes")
    return "\n".join(wrong) if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

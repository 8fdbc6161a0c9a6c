#!/usr/bin/env python3
"""scan against cuobjdump on real libraries: does every entry agree, and how much faster is it.

Usage: scan_bench.py CUDAMATRIX CUOBJDUMP TARGET...

A TARGET is a library, a folder, or a wheel (unpacked to a temporary folder, one library at a time). For each library
the entries by kind, architecture, variant and (PTX) ISA are counted by both, and the processor
time of both is taken, warm, the best of three for scan. What cuobjdump refuses is shown with what it says and with what scan reads there. Prints one line for
each library and the totals; ends with 1 when an entry disagrees. Not part of the test suite: it needs CUDA's cuobjdump
and libraries of gigabytes.
"""
import collections
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import zipfile

KINDS = {"elf": "sass", "ptx": "ptx", "nvvm": "lto"}
LIMIT = 3600


def run(*argv):
    """Output, and the processor time that it took: a busy machine does not change that much."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    got = subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False, timeout=LIMIT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return got, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def by_scan(program, path):
    best = 1e9
    for _ in range(3):
        got, seconds = run(program, "scan", path, "--format", "json")
        best = min(best, max(seconds, 1e-4))
    if got.returncode == 2:
        return None, best, got.stderr.strip()
    counts = collections.Counter()
    for library in json.loads(got.stdout)["libraries"]:
        for target in library["targets"]:
            code = f"{target['kind']} {target['arch']}" + (f"@{target['isa']}" if "isa" in target else "")
            counts[code] += target["entries"]
    return counts, best, ""


def by_cuobjdump(program, path):
    # Without -all it leaves out __nv_relfatbin where there is an .nv_fatbin, too.
    got, seconds = run(program, "-all", path)
    counts = collections.Counter()
    kind = arch = None
    for line in got.stdout.splitlines():
        if match := re.fullmatch(r"Fatbin (\w+) code:", line):
            kind = KINDS.get(match[1], match[1])
        elif match := re.fullmatch(r"arch = sm_(\d+)(\d)([af]?)", line):
            arch = f"{match[1]}.{match[2]}{match[3]}"
        elif kind and (match := re.fullmatch(r"code version = \[(\d+),(\d+)\]", line)):
            counts[f"{kind} {arch}" + (f"@{match[1]}.{match[2]}" if kind == "ptx" else "")] += 1
            kind = None
    said = (got.stderr.strip() or got.stdout.strip()).splitlines()
    return (counts if got.returncode == 0 else None), seconds, (said[-1] if said else "")


class Bench:
    def __init__(self, scan, cuobjdump):
        self.scan, self.cuobjdump = scan, cuobjdump
        self.libraries = self.agree = self.refused = self.entries = 0
        self.seconds = [0.0, 0.0]
        self.wrong = []

    def library(self, path, name):
        ours, fast, error = by_scan(self.scan, path)
        if not ours:
            return  # no device code in it
        theirs, slow, said = by_cuobjdump(self.cuobjdump, path)
        self.libraries += 1
        total = sum(ours.values())
        size = os.path.getsize(path) / 1e6
        head = f"{name}: {size:.0f} MB, {total} entries, scan {fast * 1e3:.1f} ms"
        if theirs is None:
            self.refused += 1
            print(f"{head}; cuobjdump refuses: {said.replace(path, name)}; scan reads {dict(sorted(ours.items()))}", flush=True)
            return
        self.entries += total
        self.seconds[0] += fast
        self.seconds[1] += slow
        same = ours == theirs
        print(f"{head}, cuobjdump {slow:.2f} s, {slow / fast:.0f} times; {'agree' if same else 'DISAGREE'}", flush=True)
        if same:
            self.agree += 1
        else:
            self.wrong.append(name)
            print(f"  only scan: {dict(ours - theirs)}\n  only cuobjdump: {dict(theirs - ours)}", flush=True)

    def wheel(self, path):
        with zipfile.ZipFile(path) as wheel, tempfile.TemporaryDirectory() as folder:
            for member in wheel.namelist():
                if re.search(r"\.so(\.|$)|\.a$", member):
                    self.library(wheel.extract(member, folder), f"{os.path.basename(path)}: {member}")
                    os.unlink(os.path.join(folder, member))

    def target(self, target):
        path = pathlib.Path(target)
        if path.is_dir():
            for each in sorted(p for p in path.rglob("*") if p.is_file() and not p.is_symlink() and re.search(r"\.so(\.|$)|\.a$", p.name)):
                self.library(str(each), str(each.relative_to(path)))
        elif path.suffix == ".whl":
            self.wheel(target)
        else:
            self.library(target, path.name)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    bench = Bench(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
    for target in sys.argv[3:]:
        bench.target(target)
    ratio = bench.seconds[1] / bench.seconds[0] if bench.seconds[0] else 0
    print(f"{bench.libraries} libraries: {bench.agree} agree in {bench.entries} entries, {len(bench.wrong)} disagree, {bench.refused} refused by "
          f"cuobjdump; scan {bench.seconds[0]:.2f} s, cuobjdump {bench.seconds[1]:.1f} s: {ratio:.0f} times")
    sys.exit(1 if bench.wrong else 0)


main()

#!/usr/bin/env python3
"""How well 200 runners are used by what `emit github` writes of 5,040 images, and how large and how fast that is.

    python3 tests/bench/emit_scale.py build/release/cudamatrix [SIGMA]      (python package PyYAML)

Run by hand (a minute); no test. GitHub takes 500 kB of a workflow, about 1,700 tasks, so the images are six matrix files whose workflows start
together. Their jobs are those of the emitted files: `first` and `then`, each with what it needs. Synthetic is how long a job takes: log-normal, 6
minutes at the median (sigma 0.25: nine of ten take 4 to 9), on runners of 0.5 to 2 times that speed. One job of 50 fails at a random point and
is run again once, at the end of the queue. A free runner takes the next job of the queue; a job is in it as soon as all that it needs has ended, those
that were run again as well. The makespan is held against what no schedule can beat: all work, also that of failed attempts, on all runners at
once, or the longest chain on the fastest runner. More than 1.15 of it for one of 20 seeds is an error.
"""
import argparse
import heapq
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import yaml

RUNNERS, SEEDS, MOST = 200, 20, 1.15
MEDIAN, SIGMA, FAILING = 6.0, 0.25, 0.02
# Six files of 24 stacks; each stack is 20 to 60 images that differ in their last layer and share the stages below.
CUDA = [["11.8.0", "12.4.1"], ["13.0.3"], ["13.1.2"], ["13.2.2"], ["13.3.1"], ["13.4.3"]]
PYTHON = ["3.10", "3.11", "3.12", "3.13"]
SIZES = {"3.10": 20, "3.11": 26, "3.12": 34, "3.13": 60}
LIMITS = {"github": 500_000, "gitlab": 200_000}


def matrix_text(name, cuda):
    lines = ["version: 1", f"name: {name}", "axes:", f"  cuda: {json.dumps(cuda)}", "  os: [debian12, debian13]", "  flavour: [base, runtime, devel]",
             f"  python: {json.dumps(PYTHON)}", 'set: {driver: "580.65.06", gpu: T4}', "images:"]
    for number in range(max(SIZES.values())):
        pythons = [python for python in PYTHON if SIZES[python] > number]
        lines.append(f'  - {{name: app{number}, when: {{python: {json.dumps(pythons)}}}, env: {{APP: "{number}"}}}}')
    return "\n".join(lines) + "\n"


def emit(program, target, folder, name, *more):
    """Exit code, stderr, seconds, MiB at most, and the files with their sizes."""
    started = time.monotonic()
    process = subprocess.Popen([program, "emit", target, f"{name}.yaml", "--out", f"{target}-{name}", *more], cwd=folder, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    status = process.returncode = os.waitstatus_to_exitcode(status)
    files = {path.name: path.stat().st_size for path in sorted((folder / f"{target}-{name}").glob("*.*"))} if status == 0 else {}
    return status, said, time.monotonic() - started, usage.ru_maxrss / 1024, files


class Jobs:
    """The jobs of emitted workflows: lists of tasks, each with the lists that it waits for, or, for comparison, with none."""

    def __init__(self, paths):
        self.tasks, self.needs = [], []
        for path in paths:
            jobs = yaml.load(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))["jobs"]
            places = {}
            for name, job in jobs.items():
                if "strategy" not in job:
                    continue
                places[name] = len(self.tasks)
                self.tasks.append([row["task"] for row in job["strategy"]["matrix"]["include"]])
                self.needs.append([places[need] for need in job["needs"] if need in places])

    def without_needs(self):
        other = Jobs([])
        other.tasks, other.needs = self.tasks, [[] for _ in self.needs]
        return other


def simulate(jobs, seed, sigma):
    """Makespan and lower bound, in minutes."""
    chance = random.Random(seed)
    speeds = [chance.uniform(0.5, 2.0) for _ in range(RUNNERS)]
    # Work of each attempt of each task.
    attempts = []
    for tasks in jobs.tasks:
        attempts.append([])
        for _ in tasks:
            work = chance.lognormvariate(math.log(MEDIAN), sigma)
            attempts[-1].append([work * chance.random(), work] if chance.random() < FAILING else [work])
    left = [len(tasks) for tasks in jobs.tasks]
    queue, head = [], 0
    opened = [False] * len(left)

    def open_jobs():
        for job, needs in enumerate(jobs.needs):
            if not opened[job] and all(left[need] == 0 for need in needs):
                opened[job] = True
                queue.extend((job, task, 0) for task in range(len(attempts[job])))

    open_jobs()
    free = list(range(RUNNERS))
    chance.shuffle(free)
    running, now = [], 0.0
    while head < len(queue) or running:
        while free and head < len(queue):
            job, task, attempt = queue[head]
            head += 1
            runner = free.pop()
            heapq.heappush(running, (now + attempts[job][task][attempt] / speeds[runner], runner, job, task, attempt))
        now, runner, job, task, attempt = heapq.heappop(running)
        free.append(runner)
        if attempt + 1 < len(attempts[job][task]):
            queue.append((job, task, attempt + 1))
            continue
        left[job] -= 1
        if left[job] == 0:
            open_jobs()
    chains = []
    for job, needs in enumerate(jobs.needs):
        chains.append(max(sum(work) for work in attempts[job]) + max((chains[need] for need in needs), default=0.0))
    work = sum(sum(sum(one) for one in tasks) for tasks in attempts)
    return now, max(work / sum(speeds), max(chains) / max(speeds))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("sigma", type=float, nargs="?", default=SIGMA)
    options = parser.parse_args()
    program = options.program
    names = [f"scale{number + 1}" for number in range(len(CUDA))]
    with tempfile.TemporaryDirectory() as root:
        folder = pathlib.Path(root)
        for name, cuda in zip(names, CUDA):
            (folder / f"{name}.yaml").write_text(matrix_text(name, cuda))
        (folder / "whole.yaml").write_text(matrix_text("whole", sum(CUDA, [])))
        print("| target | matrix | exit | seconds | MiB | files | largest, bytes | said |\n|---|---|---:|---:|---:|---:|---:|---|")
        for target, name, *more in [*(("github", name) for name in names), ("github", "whole"), ("gitlab", "whole"),
                                    ("buildkite", "whole"), ("jenkins", "whole"), ("bake", "whole")]:
            code, said, seconds, memory, files = emit(program, target, folder, name, *more)
            error = next((line for line in said.splitlines() if "error: " in line), "").removeprefix("cudamatrix: error: ")
            largest = max(files.values(), default=0)
            print(f"| {' '.join([target, *more])} | {name} | {code} | {seconds:.1f} | {memory:.0f} | {len(files)} | {largest:,} | {error} |", flush=True)
            if largest > LIMITS.get(target, largest) or (code != 0 and " takes " not in error):
                sys.exit(f"emit {target}: a file of {largest} bytes, exit code {code}: {said}")
        jobs = Jobs([folder / f"github-{name}" / f"cudamatrix-{name}.yml" for name in names])
    sizes = {"first": sum(len(t) for t, n in zip(jobs.tasks, jobs.needs) if not n), "then": sum(len(t) for t, n in zip(jobs.tasks, jobs.needs) if n)}
    print(f"\n{sum(sizes.values())} tasks in {len(jobs.tasks)} jobs: {sizes['first']} first, {sizes['then']} then")
    ratios, others = [], []
    for seed in range(1, SEEDS + 1):
        makespan, bound = simulate(jobs, seed, options.sigma)
        ratios.append(makespan / bound)
        others.append(simulate(jobs.without_needs(), seed, options.sigma)[0] / bound)
        print(f"seed {seed:2}: {makespan:6.1f} min, at least {bound:6.1f}: {ratios[-1]:.3f}; if no job waited {others[-1]:.3f}")
    for what, values in (("as emitted", ratios), ("if no job waited", others)):
        print(f"{what}: worst {max(values):.3f}, mean {sum(values) / len(values):.3f}")
    if max(ratios) > MOST:
        sys.exit(f"more than {MOST}")


main()

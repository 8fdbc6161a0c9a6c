"""Runs libFuzzer targets (tests/fuzz/targets.txt) with their limits, one after another on one processor, and prints what each did:
executions, seconds, inputs in the corpus, findings (files that crash, hang or leak, kept in FOLDER/TARGET). Fails if there is one.
Usage: nice fuzz_campaign.py FOLDER_OF_TARGETS CORPORA (--seconds N | --runs N) [--targets NAME...]    (--runs 0: what is in CORPORA alone)
       fuzz_campaign.py FOLDER_OF_TARGETS --smoke TARGET    the number of executions of targets.txt from a fixed seed, nothing kept"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

top = pathlib.Path(__file__).resolve().parents[2]
lines = (top / "tests/fuzz/targets.txt").read_text().splitlines()
targets = {}
for line in lines:
    if line and not line.startswith("#"):
        name, _, seeds, size, memory, seconds, runs = line.split()
        targets[name] = {"seeds": [top / folder for folder in seeds.split(",")], "size": size, "memory": memory, "seconds": seconds, "runs": runs}

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("programs", type=pathlib.Path)
parser.add_argument("corpora", type=pathlib.Path, nargs="?")
parser.add_argument("--seconds", type=int)
parser.add_argument("--runs", type=int)
parser.add_argument("--smoke")
parser.add_argument("--targets", nargs="*", default=[])
options = parser.parse_args()


def run(name, corpus, findings, arguments):
    """(executions, seconds, inputs of the corpus, findings, what was printed)."""
    target = targets[name]
    findings.mkdir(parents=True, exist_ok=True)
    corpus.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    # The quarantine of the sanitizer would otherwise count as our memory.
    # Without `reload` and `entropic` the fuzzer itself takes a third of the time less.
    command = [options.programs.resolve() / f"fuzz_{name}", *arguments, f"-max_len={target['size']}", f"-rss_limit_mb={target['memory']}",
               "-reload=0", "-entropic=0", "-print_final_stats=1", f"-artifact_prefix={findings.resolve()}/", corpus.resolve(), *target["seeds"]]
    environment = {**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=16:malloc_context_size=2"}
    log = findings.parent / "log"
    with log.open("wb") as output:
        done = subprocess.run(command, env=environment, stdout=output, stderr=subprocess.STDOUT, check=False)
    said = log.read_text(errors="replace")
    executed = re.search(r"stat::number_of_executed_units: +(\d+)", said) or re.search(r"(?s:.*)^#(\d+)", said, re.M)
    found = [path for path in findings.iterdir() if not path.name.startswith("slow-unit")]
    if done.returncode != 0 and not found:
        sys.exit(f"fuzz_{name} ended with {done.returncode}:\n{said[-4000:]}")
    return int(executed[1]) if executed else 0, time.monotonic() - begin, len(list(corpus.iterdir())), found, said


def smoke(name):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        # No limit of seconds: a busy machine is slow.
        executions, _, _, found, said = run(name, folder / "corpus", folder / "findings", ["-seed=1", "-keep_seed=1", f"-runs={targets[name]['runs']}"])
        if found:
            for path in found:
                print(f"{path.name}: {path.read_bytes()!r}")
            sys.exit(said[-8000:])
        if executions < int(targets[name]["runs"]):
            sys.exit(f"fuzz_{name}: {executions} executions, expected {targets[name]['runs']}")
        print(f"fuzz_{name}: {executions} executions, no finding")


def campaign():
    rows = []
    for name in options.targets or targets:
        limit = [f"-max_total_time={options.seconds}"] if options.seconds else [f"-runs={options.runs}"]
        folder = options.corpora / name
        row = run(name, folder / "corpus", folder / "findings", [*limit, f"-timeout={targets[name]['seconds']}"])
        rows.append(row)
        if len(rows) == 1:
            print(f"{'target':<10} {'executions':>12} {'seconds':>8} {'findings':>8} {'corpus':>7}")
        print(f"{name:<10} {row[0]:>12,} {row[1]:>8.0f} {len(row[3]):>8} {row[2]:>7}", flush=True)
    print(f"{'all':<10} {sum(row[0] for row in rows):>12,} {sum(row[1] for row in rows):>8.0f} {sum(len(row[3]) for row in rows):>8}")
    for row in rows:
        for path in row[3]:
            print(path)
    return any(row[3] for row in rows)


if options.smoke:
    smoke(options.smoke)
elif options.corpora and (options.seconds or options.runs is not None):
    sys.exit(campaign())
else:
    parser.error("expected --smoke TARGET, or CORPORA with --seconds or --runs")

#!/usr/bin/env python3
"""What `cudamatrix build` costs beside the same `docker build` commands typed by hand, paired in each round.
Usage: overhead.py CUDAMATRIX MATRIX OUT [ROUNDS] [--cold|--shared] [--option=...]...   (root; a docker daemon; the lock covers MATRIX)

The commands by hand are those of `build --dry-run`. Before each half the images lose their tags; with --cold the build cache goes, too. Then: how
long a further `run` takes where all images are current and all cells proved. --shared tells something else: what the images cost alone, each with an
empty cache, beside all of them in one build."""
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

words = [word for word in sys.argv[1:] if not word.startswith("--")]
PROGRAM, MATRIX, OUT = words[:3]
ROUNDS = int(words[3]) if len(words) > 3 else 5
COLD = "--cold" in sys.argv
SHARED = "--shared" in sys.argv
OPTIONS = [word for word in sys.argv[1:] if word.startswith("--") and word not in ("--cold", "--shared")]
DOCKER = "/usr/bin/docker" if os.path.exists("/usr/bin/docker") else "docker"


def cudamatrix(command, *arguments):
    start = time.monotonic()
    got = subprocess.run([PROGRAM, command, MATRIX, "--out", OUT, "--engine", "docker", "--format", "json", *OPTIONS, *arguments],
                         capture_output=True, text=True)
    if got.returncode not in (0, 4):
        sys.exit(f"{command}: exit {got.returncode}\n{got.stdout[-2000:]}{got.stderr[-2000:]}")
    return time.monotonic() - start, json.loads(got.stdout)


def forget(references):
    subprocess.run([DOCKER, "image", "rm", "--force", *references], capture_output=True, check=False)
    if COLD or SHARED:
        subprocess.run([DOCKER, "builder", "prune", "--all", "--force"], capture_output=True, check=True)


def by_hand(steps):
    start = time.monotonic()
    for step in steps:
        subprocess.run(step["argv"], env=dict(os.environ, **step["environment"]), capture_output=True, check=True)
    return time.monotonic() - start


def held():
    """Bytes of the build cache, which holds what images share once."""
    rows = subprocess.run([DOCKER, "system", "df", "--format", "{{.Type}} {{.Size}}"], capture_output=True, text=True, check=True).stdout
    number, unit = re.search(r"^Build Cache ([\d.]+)([kMGT]?)B", rows, re.M).groups()
    return float(number) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[unit]


def shared(images, references):
    def measured(*only):
        forget(references)
        seconds = cudamatrix("build", *only)[0]
        return seconds, held()
    alone = {image["id"]: measured("--only", image["id"]) for image in images}
    together = measured()
    for name, (seconds, size) in {**alone, "each alone": map(sum, zip(*alone.values())), "all in one": together}.items():
        print(f"{name:32} {seconds:8.1f} s {size / 1e9:8.2f} GB")


def main():
    _, report = cudamatrix("build")
    references = [image["reference"] + ending for image in report["images"] for ending in ("-proof", "")]
    if SHARED:
        return shared(report["images"], references)
    forget(references)
    _, rehearsal = cudamatrix("build", "--dry-run")
    steps = [step for step in rehearsal["steps"] if step["kind"] in ("build", "proof")]
    images = len(report["images"])
    more = []
    for number in range(ROUNDS):
        halves = {}
        for half in ("hand", "ours") if number % 2 == 0 else ("ours", "hand"):
            forget(references)
            halves[half] = by_hand(steps) if half == "hand" else cudamatrix("build")[0]
        more.append((halves["ours"] - halves["hand"]) / images)
        print(f"round {number + 1}: by hand {halves['hand']:.2f} s, cudamatrix build {halves['ours']:.2f} s: {more[-1]:+.2f} s an image "
              f"({100 * (halves['ours'] / halves['hand'] - 1):+.1f} %)")
    print(f"median of {ROUNDS} rounds, {images} images, {'cold' if COLD else 'warm'} cache: {statistics.median(more):+.2f} s an image")
    cudamatrix("run")
    again = [cudamatrix("run")[0] for _ in range(ROUNDS)]
    print(f"a further run with nothing to do: median {statistics.median(again):.2f} s")


if pathlib.Path(MATRIX).is_file():
    main()
else:
    sys.exit(__doc__)

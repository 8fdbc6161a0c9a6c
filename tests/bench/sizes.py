#!/usr/bin/env python3
"""Bytes, layers and build seconds of our images beside the same stacks written by hand (by_hand/*.Dockerfile), on the same base, without a cache.
Usage: sizes.py CUDAMATRIX OUT [--option=...]...   (root; a docker daemon; the network; options are those of `build`, --ca-bundle among them)"""
import json
import os
import pathlib
import subprocess
import sys
import time

words = [word for word in sys.argv[1:] if not word.startswith("--")]
PROGRAM, OUT = words[0], pathlib.Path(words[1])
OPTIONS = [word for word in sys.argv[1:] if word.startswith("--")]
DOCKER = "/usr/bin/docker" if os.path.exists("/usr/bin/docker") else "docker"
BY_HAND = pathlib.Path(__file__).parent / "by_hand"
STACKS = {"torch": '{torch: 2.6.0+cu124, python: "3.11"}', "archive": '{cuda: "11.8.0", cuda_from: archive, flavour: devel}',
          "wheels": '{cuda: "13.4.3", cuda_from: wheels, flavour: devel}'}


def docker(*arguments, environment=None):
    begin = time.monotonic()
    got = subprocess.run([DOCKER, *arguments], capture_output=True, text=True, env={**os.environ, "DOCKER_BUILDKIT": "1", **(environment or {})})
    if got.returncode != 0:
        sys.exit(f"docker {' '.join(arguments)}: {got.stderr[-3000:]}")
    return time.monotonic() - begin, got.stdout


def cudamatrix(command, matrix, out, *arguments):
    got = subprocess.run([PROGRAM, command, matrix, "--out", out, "--engine", "docker", "--format", "json", *OPTIONS, *arguments], capture_output=True,
                         text=True)
    if got.returncode not in (0, 4):
        sys.exit(f"{command}: exit {got.returncode}\n{got.stdout[-2000:]}{got.stderr[-2000:]}")
    return json.loads(got.stdout)


def size_of(reference):
    image = json.loads(docker("image", "inspect", reference)[1])[0]
    return image["Size"], len(image["RootFS"]["Layers"])


def measured(argv, environment, reference):
    docker("builder", "prune", "--all", "--force")
    seconds = docker(*argv, environment=environment)[0]
    return (*size_of(reference), seconds)


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    bundle = next(option.partition("=")[2] for option in OPTIONS if option.startswith("--ca-bundle="))
    print(f"{'stack':9} {'who':8} {'MB':>8} {'layers':>7} {'seconds':>8}")
    for name, cell in STACKS.items():
        matrix = OUT / f"{name}.yaml"
        matrix.write_text(f'version: 1\nname: sizes-{name}\ninclude: [{cell}]\nset: {{family: debian, os: debian12, driver: "580.65.06", gpu: A100 80GB}}\n'
                          "build: {base_from: bootstrap, snapshot: none}\n")
        out = OUT / name
        cudamatrix("lock", matrix, out)
        docker("import", str(out / "bootstrap/bootstrap-bookworm.tar"), "by-hand-base")
        by_hand = ["build", "--network", "host", "--secret", f"id=ca,src={bundle}", "--file", str(BY_HAND / f"{name}.Dockerfile"), "--tag", f"by-hand-{name}",
                   str(BY_HAND)]
        report = cudamatrix("build", matrix, out)["images"][0]
        docker("image", "rm", "--force", report["reference"])
        build = next(step for step in cudamatrix("build", matrix, out, "--dry-run")["steps"] if step["kind"] == "build")
        rows = {"by hand": measured(by_hand, {}, f"by-hand-{name}"),
                "ours": measured(build["argv"][1:], build["environment"], report["reference"])}
        for who, (size, layers, seconds) in rows.items():
            print(f"{name:9} {who:8} {size / 1e6:8.0f} {layers:7} {seconds:8.0f}", flush=True)


main()

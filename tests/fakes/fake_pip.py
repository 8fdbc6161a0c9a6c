"""Stands for `python3 -m pip` in tests of --look: what it says is in the file that FAKE_PIP names (JSON): version, python, and for a run of `install` code, out,
err, takes (what its report lists) or report (the bytes of one), by the pins as they were given, or `otherwise`. Each run of `install` adds a line to FAKE_PIP.calls."""
import json
import os
import sys

path = os.environ["FAKE_PIP"]
with open(path) as file:
    says = json.load(file)
arguments = sys.argv[1:]
if arguments[:2] != ["-m", "pip"]:
    sys.exit("fake_pip.py: not called as -m pip")
arguments = arguments[2:]
if arguments[-1] == "--version":
    print(f"pip {says['version']} from /fake/pip (python {says['python']})")
    sys.exit(0)
if arguments[0] != "install":
    sys.exit("fake_pip.py: it knows install only")
with open(path + ".calls", "a") as file:
    file.write(json.dumps(arguments) + "\n")
pins = arguments[arguments.index("--") + 1:]
answer = says["answers"].get(" ".join(pins), says.get("otherwise"))
report = answer.get("report")
if "takes" in answer:
    report = json.dumps({"version": "1", "install": [{"metadata": {"name": each.split("==")[0], "version": each.split("==")[1]}} for each in answer["takes"]]})
if report is not None:
    with open(arguments[arguments.index("--report") + 1], "w") as file:
        file.write(report)
sys.stdout.write(answer.get("out", ""))
sys.stderr.write(answer.get("err", ""))
sys.exit(answer.get("code", 0))

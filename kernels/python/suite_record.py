"""What the python tests of the suite share: their options, their one record, and the import of torch.

A test writes one record on the descriptor given by --record-fd. Exit codes: 0 pass, 1 fail, 3 error, 77 skip.
"""
import json
import os

EXIT = {"pass": 0, "fail": 1, "error": 3, "skip": 77}
FLAGS = ("--require-gpu",)


class Record:
    """Checks and evidence of one part of one test. The first check that does not hold gives reason, fault and hint."""

    def __init__(self, test, part):
        self.test = test
        self.part = part
        self.checks = []
        self.evidence = {}
        self.fault = ""
        self.reason = ""
        self.hint = ""

    def check(self, name, ok, note="", reason="", fault="", hint=""):
        return self._add({"name": name}, ok, note, reason, fault, hint)

    def limit(self, name, value, limit, reason="tolerance", fault="", hint=""):
        """Holds when value <= limit; a NaN is never within a limit."""
        # JSON has no NaN and no infinity.
        shown = value if value == value and abs(value) != float("inf") else str(value)
        return self._add({"name": name, "value": shown, "limit": limit}, value <= limit,
                         "%.3g > %.3g" % (value, limit), reason, fault, hint)

    def _add(self, entry, ok, note, reason, fault, hint):
        if not ok:
            entry["note"] = note
            if not self.reason:
                self.reason, self.fault, self.hint = reason or "mismatch", fault, hint
        entry["ok"] = bool(ok)
        self.checks.append(entry)
        return bool(ok)

    def line(self, status, summary):
        line = {"id": self.test, "part": self.part, "status": status}
        if status != "pass" and self.reason:
            line["reason"] = self.reason
        if status != "pass" and self.fault:
            line["fault"] = self.fault
        line["summary"] = summary
        line["checks"] = self.checks
        line["metrics"] = []
        if status != "pass" and self.hint:
            line["hint"] = self.hint
        if self.evidence:
            line["evidence"] = self.evidence
        return line

    def skip(self, reason, summary):
        self.reason = reason
        return self.line("skip", summary)

    def judge(self, passed):
        """Pass when every check holds; no check at all is an error: a test that compared nothing proved nothing."""
        failed = [check for check in self.checks if not check["ok"]]
        if failed:
            return self.line("fail", "%s: %s" % (failed[0]["name"], failed[0].get("note", "")))
        if not self.checks:
            self.reason = "nothing_checked"
            return self.line("error", "the test compared nothing")
        return self.line("pass", passed)


class Skip(Exception):
    """Raised by a body that finds nothing here to judge."""

    def __init__(self, reason, summary):
        super().__init__(summary)
        self.reason = reason


def options(argv):
    values = {}
    i = 0
    while i < len(argv):
        if argv[i] in FLAGS:
            i += 1
            continue
        values.setdefault(argv[i], []).append(argv[i + 1] if i + 1 < len(argv) else "")
        i += 2
    return {name: texts[-1] for name, texts in values.items()}


def write(fd, line):
    data = (json.dumps(line) + "\n").encode()
    while data:
        data = data[os.write(fd, data):]
    return EXIT[line["status"]]


def said(error):
    """An exception as one line, without the addresses of a C++ stack."""
    return ("%s: %s" % (type(error).__name__, str(error).strip().split("\n")[0]))[:400]


def import_torch(record):
    """torch, or None after a check that says why not."""
    try:
        import torch
    except Exception as error:  # whatever an import can raise, it is the finding
        absent = isinstance(error, ModuleNotFoundError) and error.name == "torch"
        record.check("import_torch", False, "%s: %s" % (type(error).__name__, error),
                     "lib_absent" if absent else "import_failed", "F11")
        return None
    return torch


def note_numpy(record):
    """torch works without numpy; that it is missing, or does not load, is said and no more."""
    try:
        import numpy
        record.evidence["numpy"] = str(numpy.__version__)
    except ModuleNotFoundError:
        record.evidence["numpy"] = "not installed: torch.from_numpy and Tensor.numpy do not work in this image"
    except Exception as error:
        record.evidence["numpy"] = "does not load: " + said(error)


def seed_of(opts):
    """Fresh in every run; --seed repeats one."""
    return int(opts["--seed"]) if opts.get("--seed") else int.from_bytes(os.urandom(4), "little")


def device_for(record, torch, opts):
    """The device of this part: "cpu" or "cuda". None when there is none, after a check or a reason to skip."""
    if record.part == "cpu":
        return "cpu"
    if not torch.version.cuda and not opts.get("--expect-torch-cuda"):
        record.reason = "not_in_cell"
        return None
    try:
        torch.cuda.init()
    except Exception as error:
        text = said(error)
        fault = "F3" if "too old" in text else "F1" if "no NVIDIA driver" in text else "F23"
        record.check("cuda_init", False, text, "no_cuda", fault,
                     "see dev.driver for what the driver says, torch.arch for what torch is built for")
        return None
    record.evidence["device"] = "%s, compute capability %d.%d" % (
        (torch.cuda.get_device_name(0),) + tuple(torch.cuda.get_device_capability(0)))
    return "cuda"


def run(test, argv, body, parts=("gpu", "cpu")):
    """One part of a test: body(record, torch, opts, device) adds checks and gives the summary of a pass."""
    opts = options(argv)
    fd = int(opts.get("--record-fd", "1"))
    part = opts.get("--part") or parts[-1]
    record = Record(test, part)
    if not opts.get("--expect-torch"):
        return write(fd, record.skip("not_in_cell", "the cell promises no torch"))
    torch = import_torch(record)
    if torch is None:
        return write(fd, record.judge(""))
    note_numpy(record)
    device = "cpu" if part == "load" else device_for(record, torch, opts)
    if device is None:
        if record.checks:
            return write(fd, record.judge(""))
        return write(fd, record.skip(record.reason, "the cell's torch is built without CUDA"))
    summary = ""
    try:
        summary = body(record, torch, opts, device)
    except Skip as skip:
        # What did not hold before stays said.
        return write(fd, record.judge("") if record.reason else record.skip(skip.reason, str(skip)))
    except Exception as error:  # torch refused something that it must be able to do: that is the finding
        record.check("runs", False, said(error), "exception")
    return write(fd, record.judge(summary))

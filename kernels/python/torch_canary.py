"""No test of its own: after a crash or a time-out, in an image without the suite's own programs, does the GPU still add?

The runner starts it in a new process. torch's sums of fresh int32 numbers must be exact.
"""
import random
import sys

from suite_record import run, seed_of

LENGTH = 4099


def inputs(seed):
    source = random.Random(seed)
    return [[source.randint(-(1 << 30), 1 << 30) for _ in range(LENGTH)] for _ in range(2)]


def check_sums(record, got, a, b):
    want = [x + y for x, y in zip(a, b)]
    wrong = next((i for i, (g, w) in enumerate(zip(got, want)) if g != w), None)
    record.check("sums", got == want and bool(want), "%d of %d came back" % (len(got), len(want)) if wrong is None else
                 "number %d is %s, not %d" % (wrong, got[wrong], want[wrong]))


def body(record, torch, opts, device):
    seed = seed_of(opts)
    record.evidence["seed"] = seed
    a, b = inputs(seed)
    x, y = [torch.tensor(values, dtype=torch.int32).to(device) for values in (a, b)]
    check_sums(record, (x + y).to("cpu").tolist(), a, b)
    return "%s: %d sums are exact" % (device, LENGTH)


if __name__ == "__main__":
    sys.exit(run("torch.canary", sys.argv[1:], body))

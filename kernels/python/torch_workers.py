"""torch.workers: do batches come whole out of the workers of a DataLoader?

Two workers send batches of 32 MiB through /dev/shm; every value is compared. Too small a /dev/shm is named, and how to
enlarge it. How fast batches come is told and decides nothing.
"""
import os
import sys
import time

import torch_compare
from suite_record import run, said, seed_of

WORKERS, BATCHES, BATCH_BYTES = 2, 4, 32 << 20
# One batch being used, one on its way from each worker.
NEEDED = (WORKERS + 1) * BATCH_BYTES
HINT = "give the container more shared memory: --shm-size, or shm_size in compose"
PATIENCE = 60


def batch(torch, seed, index):
    """Values that tell seed, batch and place."""
    return torch.arange(BATCH_BYTES // 4, dtype=torch.int32) + (seed % 65536 + index * 1000003)


class Batches(object):
    """A dataset as torch.utils.data takes it, at the top of the module so that any way of starting workers finds it."""

    def __init__(self, seed):
        self.seed = seed

    def __len__(self):
        return BATCHES

    def __getitem__(self, index):
        import torch
        return index, os.getpid(), batch(torch, self.seed, index)


def mib_per_second(loader, now=time.monotonic):
    """Of batches that are received and let go; None where no clock could tell.

    From the first batch to the last, so that the start of the workers does not count.
    """
    times = [now() for _ in loader]
    spent = times[-1] - times[0] if len(times) > 1 else 0
    return round((len(times) - 1) * (BATCH_BYTES >> 20) / spent) if spent > 0 else None


def free_bytes(folder="/dev/shm"):
    try:
        info = os.statvfs(folder)
    except OSError:
        return -1
    return info.f_bavail * info.f_frsize


def failure(text, free):
    """Of a loader that raised: reason, fault, hint."""
    if torch_compare.shared_memory_fault(text) or 0 <= free < NEEDED:
        return "shm_small", "F12", HINT
    if free < 0:
        return "shm_absent", "F12", "mount a tmpfs on /dev/shm (docker and podman do so by themselves)"
    return "exception", "", ""


def body(record, torch, opts, _):
    seed = seed_of(opts)
    free = free_bytes()
    record.evidence["seed"] = seed
    record.evidence["shm_free_bytes"] = free
    record.evidence["shm_needed_bytes"] = NEEDED
    loader = torch.utils.data.DataLoader(Batches(seed), batch_size=None, num_workers=WORKERS, prefetch_factor=1,
                                         timeout=PATIENCE)
    seen, pids = [], set()
    try:
        for index, pid, values in loader:
            seen.append(int(index))
            pids.add(int(pid))
            record.check("batch %d" % index, torch.equal(values, batch(torch, seed, int(index))),
                         "its values are not those that the worker sent")
            record.check("batch %d is in shared memory" % index, values.is_shared(), "it was copied")
            del values
        speed = mib_per_second(loader)
    except Exception as error:
        text = said(error)
        room = "/dev/shm has %d MiB free, %d are needed" % (free >> 20, NEEDED >> 20) if free >= 0 else "there is no /dev/shm"
        record.check("loader", False, "%s (%s)" % (text, room), *failure(str(error), free))
        return ""
    record.check("batches in order", seen == list(range(BATCHES)), "got %s" % seen)
    record.check("workers", len(pids) == WORKERS and os.getpid() not in pids, "%d processes sent batches" % len(pids))
    record.evidence["loader_mib_s"] = speed
    return "%d batches of %d MiB from %d workers" % (BATCHES, BATCH_BYTES >> 20, WORKERS)


if __name__ == "__main__":
    sys.exit(run("torch.workers", sys.argv[1:], body, parts=("load",)))

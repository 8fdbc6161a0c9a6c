"""The parts "gpu" and "cpu" of lib.nccl: is the sum over all processes exact, in each of them?

One process for each GPU by NCCL (one GPU is enough); two by gloo on the CPU. The numbers are whole, so that no order of
additions rounds. Started with --rank this file is one of the processes: it prints what it has as JSON.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import torch_compare
from suite_record import Skip, seed_of

LENGTH = 65537
PATIENCE = 100
KINDS = ("float32", "int32")


def share(seed, rank, count=LENGTH):
    """What one process brings: whole numbers below 2^16, so that the sum of 256 of them is exact in float32."""
    return [(i * 40503 + rank * 30011 + seed) % 65521 for i in range(count)]


def reduced(torch, device, backend, rank, world, store, seed):
    """In one of the processes: {kind: every sum}, and what a broadcast of the last one's numbers gives."""
    dist = torch.distributed
    if device == "cuda":
        torch.cuda.set_device(rank)
    dist.init_process_group(backend, init_method="file://" + store, rank=rank, world_size=world)
    out = {}
    for kind in KINDS:
        values = torch.tensor(share(seed, rank), dtype=getattr(torch, kind)).to(device)
        dist.all_reduce(values)
        out[kind] = values.to("cpu").tolist()
    values = torch.tensor(share(seed, rank), dtype=torch.int32).to(device)
    dist.broadcast(values, world - 1)
    out["broadcast"] = values.to("cpu").tolist()
    dist.destroy_process_group()
    return out


def check_reduced(record, answers, world, seed):
    """answers: of each process by its rank, {kind: values}."""
    last = share(seed, world - 1)
    total = [sum(column) for column in zip(*(share(seed, rank) for rank in range(world)))]
    record.check("processes", sorted(answers) == list(range(world)) and world > 0, "%s of %d answered" % (sorted(answers), world))
    for rank, answer in sorted(answers.items()):
        for kind, want in [(kind, total) for kind in KINDS] + [("broadcast", last)]:
            got = answer.get(kind, [])
            wrong = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), None)
            record.check("%s of process %d" % (kind, rank), got == want,
                         "%d numbers of %d" % (len(got), len(want)) if wrong is None else "number %d is %s, not %s" % (wrong, got[wrong], want[wrong]))


def ended(children, patience):
    """Waits for all of them, or for the first that fails: the others would wait for it. {rank: how it failed}"""
    end = time.monotonic() + patience
    while True:
        codes = [child.poll() for child in children]
        failed = {rank: "exit code %d" % code for rank, code in enumerate(codes) if code not in (None, 0)}
        if failed or None not in codes:
            return failed
        if time.monotonic() > end:
            return {rank: "no end after %d s" % patience for rank, code in enumerate(codes) if code is None}
        time.sleep(0.05)


def all_answers(world, arguments, patience=PATIENCE):
    """(what each process printed, how those that failed did) by rank."""
    # Within one machine: no network is needed, and a test must not wait for one.
    env = dict(os.environ)
    for name in ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"):
        env.setdefault(name, "lo")
    answers, said, children = {}, {}, []
    with tempfile.TemporaryDirectory() as folder:
        def file(name, rank, mode="rb"):
            return open(os.path.join(folder, "%s%d" % (name, rank)), mode)
        try:
            for rank in range(world):
                with file("out", rank, "wb") as out, file("err", rank, "wb") as err:
                    children.append(subprocess.Popen([sys.executable, "-B", os.path.abspath(__file__), "--rank", str(rank), "--world", str(world),
                                                      "--store", os.path.join(folder, "store")] + arguments, stdout=out, stderr=err, env=env))
            failed = ended(children, patience)
        finally:
            for child in children:
                child.kill()
                child.wait()
        for rank in range(world):
            with file("out", rank) as out, file("err", rank) as err:
                if rank in failed:
                    said[rank] = "%s: %s" % (failed[rank], err.read().decode(errors="replace")[-1500:].strip())
                elif children[rank].returncode == 0:
                    answers[rank] = json.loads(out.read().decode())
    return answers, said


def body(record, torch, opts, device):
    if not torch.version.cuda:
        raise Skip("not_in_cell", "the cell's torch is built without CUDA")
    backend = "nccl" if device == "cuda" else "gloo"
    dist = torch.distributed
    if not dist.is_available() or not getattr(dist, "is_%s_available" % backend, lambda: True)():
        raise Skip("not_in_cell", "this torch is built without " + backend)
    world = torch.cuda.device_count() if device == "cuda" else 2
    seed = seed_of(opts) % 65521
    record.evidence.update({"seed": seed, "processes": world})
    answers, said = all_answers(world, ["--device", device, "--backend", backend, "--seed", str(seed)])
    for rank, text in sorted(said.items()):
        torch_compare.check_no_words(record, "process %d" % rank, text)
    check_reduced(record, answers, world, seed)
    return "%s: %d process%s, %d sums each are exact" % (backend, world, "" if world == 1 else "es", LENGTH)


def main(argv):
    values = dict(zip(argv[::2], argv[1::2]))
    import torch
    import torch.distributed  # noqa: F401
    out = reduced(torch, values["--device"], values["--backend"], int(values["--rank"]), int(values["--world"]), values["--store"],
                  int(values["--seed"]))
    print(json.dumps(out))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

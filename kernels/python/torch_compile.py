"""torch.compile: does inductor make code in this image, and does it give what torch gives without it?

A small module, forward and backward: C++ on the CPU, triton on a GPU. The whole must be one graph, and kernels must have been
made of it: what silently runs without the compiler is no pass.
"""
import copy
import importlib.util
import os
import re
import sys
import tempfile

import torch_build
import torch_compare
from suite_record import Skip, run, said, seed_of
from torch_arch import demanded_packages
from torch_matmul import full_precision
from torch_step import gradients

BATCH, WIDTH, INNER, OUTPUTS = 37, 33, 65, 17
LEAST = (7, 0)  # of triton
REFUSED = re.compile(r"not (yet )?supported on Python|is not supported on Windows|requires Python")


def model(torch, seed):
    torch.manual_seed(seed)
    nn = torch.nn
    return nn.Sequential(nn.Linear(WIDTH, INNER), nn.GELU(), nn.LayerNorm(INNER), nn.Linear(INNER, OUTPUTS), nn.Tanh())


def results(net, own, x):
    """The output and each gradient of a sum of squares, by name. `own` has the parameters."""
    own.zero_grad()
    y = net(x)
    (y * y).sum().backward()
    return dict(gradients(own), output=y.detach().to("cpu").double().reshape(-1).tolist())


def absent_triton(record):
    """Fails where torch demands triton and it is not there; otherwise a skip says that there is none."""
    from importlib import metadata

    if importlib.util.find_spec("triton") is not None:
        return
    try:
        missing = [name for name, (_, version) in demanded_packages(metadata).items() if "triton" in name and version is None]
    except (ImportError, metadata.PackageNotFoundError):
        missing = []  # a distribution's own torch has no wheel metadata
    record.check("triton", not missing, "torch demands %s, which is not installed" % ", ".join(missing), "lib_absent", "F11")
    raise Skip("not_in_cell", "there is no triton beside this torch, and it demands none")


def prerequisites(record, torch, device):
    if not hasattr(torch, "compile"):
        raise Skip("not_in_cell", "torch.compile came with torch 2.0")
    if device == "cuda":
        own = torch.cuda.get_device_capability(0)
        if own < LEAST:
            raise Skip("cc_too_low", "triton needs compute capability 7.0, this GPU has %d.%d" % own)
        absent_triton(record)
    # triton compiles what starts its kernels.
    absent = torch_build.absent_tool("CC", ("gcc", "clang", "cc")) if device == "cuda" else torch_build.absent_tool()
    if absent:
        raise Skip("no_compiler", absent)


def compiled_results(record, torch, net, x):
    """By inductor; None when it could not."""
    from torch._inductor import metrics
    from torch._inductor.compile_fx import compile_fx

    graphs = []

    def inductor(graph, inputs):
        graphs.append(graph)
        return compile_fx(graph, inputs)

    before = metrics.generated_kernel_count
    try:
        got = results(torch.compile(net, backend=inductor, fullgraph=True), net, x)
    except Exception as error:
        if REFUSED.search(str(error)):
            raise Skip("not_in_cell", said(error))
        record.check("compiles", False, torch_build.error_line(str(error)), *torch_build.build_fault(str(error)))
        return None
    record.check("one graph", len(graphs) == 1, "%d were compiled" % len(graphs))
    made = metrics.generated_kernel_count - before
    record.evidence["kernels"] = made
    record.check("kernels were made", made > 0, "inductor made none")
    return got


def body(record, torch, opts, device):
    prerequisites(record, torch, device)
    seed = seed_of(opts)
    record.evidence["seed"] = seed
    full_precision(torch)
    net = model(torch, seed)
    x = torch.rand((BATCH, WIDTH), generator=torch.Generator().manual_seed(seed + 1)) * 2 - 1
    net, x = net.to(device), x.to(device)
    eager = copy.deepcopy(net)
    want = results(eager, eager, x)
    with torch_build.libraries_from(os.environ["TMPDIR"]) as memory:
        record.evidence["loaded_from"] = "memory: nothing in the folder for temporary files may be executed" if memory else "file"
        got = compiled_results(record, torch, net, x)
    if got is None:
        return ""
    worst = torch_compare.check_compiled(record, got, want)
    return "%s: %d kernels, as without the compiler within %.1e" % (device, record.evidence["kernels"], worst)


def main(argv):
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update({"TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, "inductor"), "TRITON_CACHE_DIR": os.path.join(folder, "triton"),
                           "TMPDIR": folder,
                           # In this process: what one of its workers loads is not seen here.
                           "TORCHINDUCTOR_COMPILE_THREADS": "1"})
        for name in ("inductor", "triton"):
            os.mkdir(os.path.join(folder, name))
        # torch asks for the user's name, and a container's user may have none.
        os.environ.setdefault("USER", "cudamatrix")
        return run("torch.compile", argv, body)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""torch.matmul: are torch's products right, in each format?

float32, bfloat16 and float16 against the float64 product of the same, already rounded inputs; on a GPU with TF32 off and
on. Sizes are no multiple of any tile, inputs are fresh in every run and follow from the seed in the record.
"""
import sys

import torch_compare
from suite_record import run, seed_of

SIZE = (257, 389, 1021)  # rows, length of the sums, columns
SAMPLES = 64


def inputs(torch, seed, size):
    rows, length, columns = size
    generator = torch.Generator().manual_seed(seed)
    a = torch.rand((rows, length), generator=generator, dtype=torch.float64) * 2 - 1
    b = torch.rand((length, columns), generator=generator, dtype=torch.float64) * 2 - 1
    return a, b


def flat(tensor):
    return tensor.detach().to("cpu").double().reshape(-1).tolist()


def check_samples(record, torch, a, b, want, seed):
    """torch's own float64 product is the reference; it is not taken on trust."""
    generator = torch.Generator().manual_seed(seed + 1)
    i = torch.randint(0, a.shape[0], (SAMPLES,), generator=generator).tolist()
    j = torch.randint(0, b.shape[1], (SAMPLES,), generator=generator).tolist()
    rows = {row: a[row].tolist() for row in i}
    columns = {column: b[:, column].tolist() for column in j}
    torch_compare.check_reference(record, rows, columns, [(r, c, want[r, c].item()) for r, c in zip(i, j)])


def full_precision(torch):
    """TF32 off and sums of halves in float32, where this torch has the switch."""
    settings = torch.backends.cuda.matmul
    for name in ("allow_tf32", "allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction"):
        try:
            getattr(settings, name)
        except (AttributeError, AssertionError):  # the latter before torch 2.1: hasattr does not survive it
            continue
        setattr(settings, name, False)


def body(record, torch, opts, device):
    seed = seed_of(opts)
    record.evidence["seed"] = seed
    size = tuple(int(n) for n in opts["--size"].split("x")) if opts.get("--size") else SIZE
    record.evidence["size"] = "x".join(map(str, size))
    a, b = inputs(torch, seed, size)
    full_precision(torch)
    errors = {}
    for kind in ("float32", "bfloat16", "float16"):
        x, y = a.to(getattr(torch, kind)), b.to(getattr(torch, kind))
        try:
            product = torch.matmul(x.to(device), y.to(device))
        except RuntimeError as error:
            # Before 2.2 torch multiplies no halves on the CPU.
            if device == "cpu" and "not implemented for" in str(error):
                record.evidence[kind] = "not compared: " + str(error).split("\n")[0]
                continue
            raise
        exact = torch.matmul(x.double(), y.double())
        if kind == "float32":
            check_samples(record, torch, x.double(), y.double(), exact, seed)
        magnitude = torch.matmul(x.double().abs(), y.double().abs())
        record.check(kind + " shape", tuple(product.shape) == (size[0], size[2]) and str(product.dtype) == "torch." + kind,
                     "%s of %s" % (tuple(product.shape), product.dtype))
        errors[kind] = torch_compare.check_product(record, kind, flat(product), flat(exact), flat(magnitude), kind)
    if device == "cuda":
        errors["tf32"] = with_tf32(record, torch, a.float(), b.float())
    record.evidence["e_F"] = {name: "%.2g" % error for name, error in errors.items()}
    return "%s: e_F %s" % (device, ", ".join("%s %.1e" % item for item in sorted(errors.items())))


def with_tf32(record, torch, a, b):
    major = torch.cuda.get_device_capability(0)[0]
    torch.backends.cuda.matmul.allow_tf32 = True
    # Rows of whole 32 bytes: cuBLAS may leave the tensor cores aside for others.
    a, b = [x[:n // 8 * 8, :m // 8 * 8].contiguous() for x in (a, b) for n, m in (x.shape,)]
    product = torch.matmul(a.to("cuda"), b.to("cuda"))
    return torch_compare.check_tf32(record, flat(product), flat(torch.matmul(a.double(), b.double())), major >= 8)


if __name__ == "__main__":
    sys.exit(run("torch.matmul", sys.argv[1:], body))

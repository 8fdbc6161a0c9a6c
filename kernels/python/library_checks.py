"""What lib.cublas ... lib.cusolver compare: on plain numbers, so that planted defects can be tried on them without torch.

`numbers` computes: a product, a convolution, a transform, a sparse product, a Cholesky factor, each from lists to lists. On a
device that is torch_operators.Operators. References are sums of float64 products, with one rounding each.
"""
import cmath
import math
import random
from operator import mul

from torch_compare import (BAND_TF32, BITS, EPS, check_product, check_tf32, half_ulp, norm, relative_error)

ROWS, LENGTH, COLUMNS = 256, 512, 136  # multiples of 8: cuBLAS may leave the tensor cores aside for others
SAMPLED = 6
LIMIT_DOUBLE = 1e-14          # times sqrt(LENGTH); float32 gives 1e-7
LIMIT_CONVOLUTION = 1e-5      # cuDNN may take a Winograd form; TF32 gives 2.5e-4
IMAGES, CHANNELS, HEIGHT, WIDTH, FILTERS, TAPS, STRIDE = 3, 6, 19, 17, 10, 3, 2
POINTS, BINS, SMALL_POINTS = 1 << 16, 8, 64
LIMIT_TRANSFORM = 1e-6        # float32 by a fast transform: 3e-7
SPARSE_ROWS, SPARSE_COLUMNS, MOST_IN_ROW = 1021, 911, 16
LIMIT_SPARSE = 1e-6
ORDER = 161
LIMIT_CHOLESKY = 1e-12        # times the order
OVERRIDE = "float32 is computed as TF32 although it is switched off: look at NVIDIA_TF32_OVERRIDE"


class Unsupported(Exception):
    """This torch cannot compute that on this device, and need not."""


def on_grid(numbers, count, kind="float32"):
    """Numbers of [-1, 1] that the format holds exactly."""
    if kind == "float64":
        return [numbers.uniform(-1, 1) for _ in range(count)]
    steps = 1 << (BITS[kind] - 1)
    return [numbers.randint(-steps, steps) / steps for _ in range(count)]


def in_rows(values, length):
    return [values[i:i + length] for i in range(0, len(values), length)]


def dot(a, b):
    return math.fsum(map(mul, a, b))


def absolute(rows):
    return [list(map(abs, row)) for row in rows]


def flat(rows):
    return [x for row in rows for x in row]


def whole(rows, columns, got):
    return len(got) == rows and all(len(row) == columns and all(x - x == 0 for x in row) for row in got)


def checksum_worst(a, b, got, signs, kind):
    """Every row at once (Freivalds): got times a vector of signs against A (B signs), in units of what rounding allows."""
    turned = [dot(row, signs) for row in b]
    sizes = [math.fsum(map(abs, row)) for row in b]
    eps = 2.0 ** -52 if kind == "float64" else EPS
    worst = 0.0
    for row, values in zip(a, got):
        bound = 8 * eps * dot(map(abs, row), sizes)
        if kind in ("float16", "bfloat16"):
            bound += math.fsum(half_ulp(x, kind) for x in values)
        far = abs(dot(values, signs) - dot(row, turned))
        worst = max(worst, far / bound if bound > 0 else (math.inf if far > 0 else 0.0))
    return worst


def check_gemm(record, numbers, seed):
    """Products in four formats, with TF32 off, and with TF32 allowed where `numbers` can (has_tf32 is not None)."""
    source = random.Random(seed)
    errors = {}
    for kind in ("float32", "float64", "float16", "bfloat16"):
        a = in_rows(on_grid(source, ROWS * LENGTH, kind), LENGTH)
        b = in_rows(on_grid(source, LENGTH * COLUMNS, kind), COLUMNS)
        try:
            got = numbers.product(kind, a, b, False)
        except Unsupported as said:
            record.evidence[kind] = "not compared: %s" % said
            continue
        if not record.check(kind + " values", whole(ROWS, COLUMNS, got), "they are not %d x %d finite numbers" % (ROWS, COLUMNS)):
            continue
        rows = sorted({0, ROWS - 1} | set(source.sample(range(1, ROWS - 1), SAMPLED - 2)))
        across = list(zip(*b))
        want = [dot(a[i], column) for i in rows for column in across]
        if kind == "float64":
            errors[kind] = relative_error(flat(got[i] for i in rows), want)
            record.limit("float64 e_F", errors[kind], LIMIT_DOUBLE * math.sqrt(LENGTH))
        else:
            sizes = [dot(map(abs, a[i]), map(abs, column)) for i in rows for column in across]
            errors[kind] = check_product(record, kind, flat(got[i] for i in rows), want, sizes, kind)
        signs = [source.choice((-1, 1)) for _ in range(COLUMNS)]
        record.limit(kind + " worst row", checksum_worst(a, b, got, signs, kind), 1.0)
        if kind == "float32" and numbers.has_tf32 is not None:
            got = numbers.product(kind, a, b, True)
            errors["tf32"] = check_tf32(record, flat(got[i] for i in rows), want, numbers.has_tf32)
    return "e_F " + ", ".join("%s %.1e" % item for item in sorted(errors.items()))


def convolution(x, w):
    """The direct sum over taps, and that of absolute values, in the order of N, filter, row, column."""
    out, sizes = [], []
    for image in x:
        for kernel in w:
            for top in range(-1, HEIGHT + 2 - TAPS, STRIDE):
                for left in range(-1, WIDTH + 2 - TAPS, STRIDE):
                    terms = [image[c][top + i][left + j] * kernel[c][i][j] for c in range(CHANNELS) for i in range(TAPS) for j in range(TAPS)
                             if 0 <= top + i < HEIGHT and 0 <= left + j < WIDTH]
                    out.append(math.fsum(terms))
                    sizes.append(math.fsum(map(abs, terms)))
    return out, sizes


def check_convolution(record, numbers, seed):
    source = random.Random(seed)
    x = [[in_rows(on_grid(source, HEIGHT * WIDTH), WIDTH) for _ in range(CHANNELS)] for _ in range(IMAGES)]
    w = [[in_rows(on_grid(source, TAPS * TAPS), TAPS) for _ in range(CHANNELS)] for _ in range(FILTERS)]
    want, sizes = convolution(x, w)
    got = numbers.convolution(x, w, STRIDE)
    error = relative_error(got, want)
    fault = "F14" if BAND_TF32[0] <= error <= BAND_TF32[1] else ""
    record.limit("convolution e_F", error, LIMIT_CONVOLUTION, "tolerance", fault, OVERRIDE if fault else "")
    record.limit("convolution worst element", worst_element(got, want, sizes, LIMIT_CONVOLUTION), 1.0)
    return "e_F %.1e" % error


def worst_element(got, want, sizes, share):
    """The worst element in units of `share` of the sum of its absolute terms."""
    if len(got) != len(want):
        return math.inf
    worst = 0.0
    for g, w, size in zip(got, want, sizes):
        far = abs(g - w)
        if far != far:
            return math.inf
        worst = max(worst, far / (share * size) if size > 0 else (math.inf if far > 0 else 0.0))
    return worst


def direct_transform(values, bins):
    count = len(values)
    turns = [cmath.rect(1.0, -2 * math.pi * i / count) for i in range(count)]
    out = []
    for k in bins:
        terms = [value * turns[j * k % count] for j, value in enumerate(values)]
        out.append(complex(math.fsum(t.real for t in terms), math.fsum(t.imag for t in terms)))
    return out


def parts(values):
    return [x for value in values for x in (value.real, value.imag)]


def check_transform(record, numbers, seed):
    source = random.Random(seed)
    values = list(map(complex, on_grid(source, POINTS), on_grid(source, POINTS)))
    there = numbers.transform(values, False)
    if not record.check("values", len(there) == POINTS, "%d came back" % len(there)):
        return ""
    back = relative_error(parts(numbers.transform(there, True)), parts(values))
    record.limit("there and back", back, LIMIT_TRANSFORM)
    bins = source.sample(range(POINTS), BINS)
    some = relative_error(parts(there[k] for k in bins), parts(direct_transform(values, bins)))
    record.limit("some bins", some, LIMIT_TRANSFORM)
    # A transform keeps the sum of squares, times its length: of the bins that are not looked at, too.
    kept = norm(parts(there)) / (norm(parts(values)) * math.sqrt(POINTS)) - 1
    record.limit("sum of squares", abs(kept), LIMIT_TRANSFORM)
    few = values[:SMALL_POINTS]
    small = relative_error(parts(numbers.transform(few, False)), parts(direct_transform(few, range(SMALL_POINTS))))
    record.limit("all of few bins", small, LIMIT_TRANSFORM)
    return "there and back %.1e, bins %.1e" % (back, max(some, small))


def sparse_inputs(source):
    """Rows that begin at starts[i], columns that ascend in each, some rows empty."""
    starts, columns = [0], []
    for _ in range(SPARSE_ROWS):
        columns += sorted(source.sample(range(SPARSE_COLUMNS), source.randint(0, MOST_IN_ROW)))
        starts.append(len(columns))
    return starts, columns, on_grid(source, len(columns)), on_grid(source, SPARSE_COLUMNS)


def check_sparse(record, numbers, seed):
    starts, columns, values, x = sparse_inputs(random.Random(seed))
    terms = [v * x[c] for v, c in zip(values, columns)]
    want = [math.fsum(terms[a:b]) for a, b in zip(starts, starts[1:])]
    sizes = [math.fsum(map(abs, terms[a:b])) for a, b in zip(starts, starts[1:])]
    errors = []
    for form in ("csr", "coo"):
        try:
            got = numbers.sparse(form, starts, columns, values, SPARSE_COLUMNS, x)
        except Unsupported as said:
            record.evidence[form] = "not compared: %s" % said
            continue
        errors.append("%s %.1e" % (form, relative_error(got, want)))
        record.limit(form + " e_F", relative_error(got, want), LIMIT_SPARSE)
        record.limit(form + " worst element", worst_element(got, want, sizes, 8 * EPS), 1.0)
    return "e_F " + ", ".join(errors)


def check_cholesky(record, numbers, seed):
    source = random.Random(seed)
    g = in_rows(on_grid(source, ORDER * ORDER, "float64"), ORDER)
    a = [[0.0] * ORDER for _ in g]
    for i in range(ORDER):
        for j in range(i + 1):
            a[i][j] = a[j][i] = dot(g[i], g[j]) / ORDER + (i == j)
    got = numbers.cholesky(a)
    if not record.check("values", whole(ORDER, ORDER, got), "they are not %d x %d finite numbers" % (ORDER, ORDER)):
        return ""
    record.check("lower triangle", all(x == 0 for i, row in enumerate(got) for x in row[i + 1:]), "there is something above the diagonal")
    record.check("positive diagonal", all(got[i][i] > 0 for i in range(ORDER)), "an element of it is not")
    residual = relative_error([dot(got[i], got[j]) for i in range(ORDER) for j in range(ORDER)], flat(a))
    record.limit("residual", residual, LIMIT_CHOLESKY * ORDER)
    return "residual %.1e" % residual

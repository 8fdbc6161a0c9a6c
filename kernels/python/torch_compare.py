"""The comparisons of the torch tests: on plain numbers, so that planted defects can be tried on them without torch."""
import math

# Bits of the significand, with the hidden one.
BITS = {"float32": 24, "float16": 11, "bfloat16": 8}
# The least exponent of a normal number, as math.frexp gives it.
LEAST = {"float32": -125, "float16": -13, "bfloat16": -125}

LIMIT_FP32 = 5e-6             # TF32 gives 2.5e-4
LIMIT_HALF = 2e-5             # beyond the rounding of the result itself: a wrong format gives 2e-4 and more
BAND_TF32 = (5e-5, 1e-3)
LIMIT_GRADIENT = 1e-4
LIMIT_COMPILED = 1e-3         # a wrong kernel gives 1e-1 and more
EPS = 2.0 ** -23              # of the float32 accumulators


def half_ulp(value, kind):
    """The most by which rounding to a format moves a value."""
    if value == 0:
        return 0.0
    exponent = max(math.frexp(value)[1], LEAST[kind])
    return math.ldexp(1.0, exponent - BITS[kind] - 1)


def norm(values):
    return math.sqrt(math.fsum(x * x for x in values))


def relative_error(got, want):
    """||got - want|| / ||want|| in the Frobenius norm; infinite for other sizes, or nothing to compare with."""
    if len(got) != len(want) or not want:
        return math.inf
    size = norm(want)
    if size == 0:
        return math.inf
    error = norm([g - w for g, w in zip(got, want)]) / size
    return error if error == error else math.inf


def beyond_rounding(got, want, kind):
    """What is left of got - want once the rounding of the exact value to the format is allowed for."""
    rest = []
    for g, w in zip(got, want):
        far = abs(g - w)
        if far != far:
            return [math.inf]
        rest.append(max(0.0, far - half_ulp(w, kind)))
    return rest


def product_errors(got, want, size, kind):
    """(error of the whole, worst element in units of its own bound) of a product in `kind`.

    `want` is the exact product of the inputs as the format holds them and `size` that of their absolute values. float32
    results are compared as they are, narrower ones by what their own rounding does not explain: the accumulators are
    float32 in all of them. The second number sees one wrong element, which the first dilutes.
    """
    if len(got) != len(want) or len(size) != len(want) or not want:
        return math.inf, math.inf
    if any(g - g != 0 for g in got):  # NaN, infinities
        return math.inf, math.inf
    if kind == "float32":
        rest = [abs(g - w) for g, w in zip(got, want)]
    else:
        rest = beyond_rounding(got, want, kind)
    whole = norm(want)
    error = norm(rest) / whole if whole > 0 else math.inf
    worst = 0.0
    for r, s in zip(rest, size):
        bound = 8 * EPS * s
        worst = max(worst, r / bound if bound > 0 else (math.inf if r > 0 else 0.0))
    return error, worst


def check_product(record, name, got, want, size, kind):
    """A product in full precision of its format: fp32 without TF32, halves with float32 accumulators."""
    error, worst = product_errors(got, want, size, kind)
    fault = "F14" if kind == "float32" and BAND_TF32[0] <= error <= BAND_TF32[1] else ""
    hint = "float32 is computed as TF32 although it is switched off: look at NVIDIA_TF32_OVERRIDE" if fault else ""
    limit = LIMIT_FP32 if kind == "float32" else LIMIT_HALF
    record.limit(name + " e_F", error, limit, "tolerance", fault, hint)
    record.limit(name + " worst element", worst, 1.0, "tolerance", fault, hint)
    return error


def check_tf32(record, got, want, has_tf32):
    """With allow_tf32: in TF32's own error band where the device has it, as precise as without it elsewhere."""
    error = relative_error(got, want)
    if not has_tf32:
        record.limit("tf32 on, device without it: e_F", error, LIMIT_FP32)
        return error
    low, high = BAND_TF32
    record.check("tf32 on: e_F in its band", low <= error <= high, "%.3g is not within [%.0e, %.0e]" % (error, low, high),
                 "tolerance", "F14", "TF32 is not used although it is allowed: look at NVIDIA_TF32_OVERRIDE"
                 if error < low else "")
    return error


def check_reference(record, rows, columns, entries):
    """The reference against products summed exactly, entry by entry: entries = [(row, column, value)]."""
    worst = 0.0
    for i, j, value in entries:
        products = [a * b for a, b in zip(rows[i], columns[j])]
        size = math.fsum(abs(p) for p in products)
        far = abs(value - math.fsum(products))
        worst = max(worst, far / size if size > 0 else far) if far == far else math.inf
    record.check("reference entries", len(entries) > 0, "none was compared")
    record.limit("reference vs exact sums", worst, 1e-12, "reference")


def check_gradients(record, got, want):
    """Gradients by name, as flat lists."""
    record.check("gradients", sorted(got) == sorted(want) and want,
                 "of %s, expected of %s" % (", ".join(sorted(got)) or "nothing", ", ".join(sorted(want)) or "something"))
    for name in sorted(want):
        if name in got:
            record.limit("gradient of %s" % name, relative_error(got[name], want[name]), LIMIT_GRADIENT)


def check_compiled(record, got, want):
    """Output and gradients by name, compiled and not; the largest difference."""
    record.check("outputs", sorted(got) == sorted(want) and want,
                 "of %s, expected of %s" % (", ".join(sorted(got)) or "nothing", ", ".join(sorted(want)) or "something"))
    errors = {name: relative_error(got[name], want[name]) for name in sorted(want) if name in got}
    for name, error in errors.items():
        record.limit("%s vs eager" % name, error, LIMIT_COMPILED)
    return max(errors.values(), default=float("inf"))


def check_slope(record, slope, measured, length):
    """A slope by the gradient (of this length), and as the difference of two losses."""
    far = abs(slope - measured) / length if length > 0 else math.inf
    record.limit("float64 gradient vs difference", far if far == far else math.inf, 1e-6, "reference")


def check_losses(record, losses, want):
    """Losses before each step and after the last: finite, falling, and those of the float64 twin."""
    finite = len(losses) > 1 and all(x - x == 0 for x in losses)
    shown = ", ".join("%.5g" % x for x in losses)
    if not record.check("losses are finite", finite, shown or "none"):
        return
    record.check("loss decreases", all(b < a for a, b in zip(losses, losses[1:])), shown)
    record.limit("losses vs float64", relative_error(losses, want), LIMIT_GRADIENT)


def check_finite(record, name, gradients):
    """Gradients of a step in mixed precision: all there, finite, and not all zero."""
    record.check(name + ": gradients are finite", bool(gradients) and
                 all(values and all(x - x == 0 for x in values) for values in gradients.values()),
                 ", ".join(sorted(n for n, values in gradients.items() if not all(x - x == 0 for x in values))) or "there are none")
    record.check(name + ": gradients are not zero", any(x != 0 for values in gradients.values() for x in values),
                 "every gradient is 0")


def shared_memory_fault(text):
    """Whether torch's words about a failed loader are those of too little shared memory."""
    lowered = text.lower()
    if "too many open files" in lowered:  # of the limit on descriptors
        return False
    return any(words in lowered for words in ("bus error", "shared memory", "no space left on device"))


def check_no_words(record, name, text):
    """Of a process that did not end well: its last words, and whether shared memory was too small."""
    small = shared_memory_fault(text)
    line = next((line for line in reversed(text.split("\n")) if line.strip()), text)
    record.check(name, False, ("%s ... %s" % (text.split("\n")[0], line) if "\n" in text else text)[:400], "shm_small" if small else "exception",
                 "F12" if small else "", "give the container more shared memory: --shm-size, or shm_size in compose" if small else "")

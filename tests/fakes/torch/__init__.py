"""Stands in for torch: as much of it as torch.matmul and torch.workers use, on plain lists.

FAKE_TORCH names what is wrong with it, FAKE_TORCH_CC the compute capability of its GPU ("" = built without CUDA).
"""
import os
import random
import struct

from . import utils

DEFECT = os.environ.get("FAKE_TORCH", "")
CC = os.environ.get("FAKE_TORCH_CC", "")

if DEFECT == "import":
    raise OSError("libcudnn.so.9: cannot open shared object file")


class DType(str):
    def __str__(self):
        return "torch." + str.__str__(self)


float64, float32, float16, bfloat16, int32 = map(DType, ("float64", "float32", "float16", "bfloat16", "int32"))


def cut(value, bits):
    """A float32 with its significand rounded to `bits`, the hidden one among them."""
    word = struct.unpack("<I", struct.pack("<f", value))[0]
    drop = 24 - bits
    word = (word + (1 << (drop - 1)) - 1 + ((word >> drop) & 1)) >> drop << drop
    return struct.unpack("<f", struct.pack("<I", word & 0xFFFFFFFF))[0]


def rounded(value, dtype):
    if dtype == float64:
        return value
    if dtype == float16:
        return struct.unpack("<e", struct.pack("<e", value))[0]
    value = struct.unpack("<f", struct.pack("<f", value))[0]
    return cut(value, 8) if dtype == bfloat16 else value


class Tensor:
    def __init__(self, rows, dtype, device="cpu"):
        self.rows, self.dtype, self.device = rows, dtype, device

    @property
    def shape(self):
        return (len(self.rows), len(self.rows[0])) if isinstance(self.rows[0], list) else (len(self.rows),)

    def map(self, function, dtype=None):
        return Tensor([[function(x) for x in row] for row in self.rows], dtype or self.dtype, self.device)

    def __mul__(self, factor):
        return self.map(lambda x: x * factor)

    def __sub__(self, other):
        return self.map(lambda x: x - other)

    def to(self, where):
        if isinstance(where, DType):
            return self.map(lambda x: rounded(x, where), where)
        return Tensor(self.rows, self.dtype, where)

    def double(self):
        return self.to(float64)

    def float(self):
        return self.to(float32)

    def abs(self):
        return self.map(abs)

    def detach(self):
        return self

    contiguous = detach

    def reshape(self, _):
        return Tensor([x for row in self.rows for x in row], self.dtype)

    def tolist(self):
        return self.rows

    def item(self):
        return self.rows

    def __getitem__(self, at):
        if not isinstance(at, tuple):
            return Tensor(self.rows[at], self.dtype)
        i, j = at
        if isinstance(i, slice):
            return Tensor([row[j] for row in self.rows[i]], self.dtype)
        return Tensor(self.rows[i][j], self.dtype)


class Generator:
    def manual_seed(self, seed):
        self.random = random.Random(seed)
        return self


def rand(shape, generator, dtype):
    return Tensor([[generator.random.random() for _ in range(shape[1])] for _ in range(shape[0])], dtype)


def randint(low, high, shape, generator):
    return Tensor([generator.random.randrange(low, high) for _ in range(shape[0])], int32)


def product(a, b):
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def narrow_sums(a, b):
    """Sums that are rounded to bfloat16 after every product."""
    out = []
    for row in a:
        out.append([])
        for column in zip(*b):
            total = 0.0
            for x, y in zip(row, column):
                total = rounded(total + x * y, bfloat16)
            out[-1].append(total)
    return out


def matmul(a, b):
    x, y, kind = a.rows, b.rows, a.dtype
    if kind == float64:
        if DEFECT == "reference":
            return Tensor(product([row[:-1] for row in x], y[:-1]), kind)
        return Tensor(product(x, y), kind)
    if DEFECT == "raise":
        raise RuntimeError("CUDA error: no kernel image is available for execution on the device\nCompile with ...")
    if DEFECT == "no_half" and kind == float16:
        raise RuntimeError("\"addmm_impl_cpu_\" not implemented for 'Half'")
    tf32 = kind == float32 and a.device == "cuda" and CC >= "8" and (
        backends.cuda.matmul.allow_tf32 and DEFECT != "tf32_never" or DEFECT == "tf32_always")
    if tf32 or (DEFECT == "tf32" and kind == float32):
        x, y = [[[cut(v, 11) for v in row] for row in m] for m in (x, y)]
    if DEFECT == "bf16":
        x, y = [[[rounded(v, bfloat16) for v in row] for row in m] for m in (x, y)]
    if DEFECT == "drop_k":
        x, y = [row[:-4] for row in x], y[:-4]
    rows = narrow_sums(x, y) if DEFECT == "narrow_sums" and kind != float32 else product(x, y)
    if DEFECT == "transposed_tile":
        for i in range(4):
            for j in range(i):
                rows[i][j], rows[j][i] = rows[j][i], rows[i][j]
    if DEFECT == "one_element":
        rows[3][2] += 0.01 if kind == float32 else 0.5
    if DEFECT == "nan":
        rows[1][1] = float("nan")
    if DEFECT == "zero":
        rows = [[0.0] * len(row) for row in rows]
    if DEFECT == "short":
        rows = rows[:-1]
    out = Tensor(rows, float64).to(kind)
    if DEFECT == "other_type":
        out.dtype = float64
    return out


class Settings:
    allow_tf32 = True

    def __getattr__(self, name):  # as torch has it before 2.1
        raise AssertionError("Unknown attribute " + name)


class backends:
    class cuda:
        matmul = Settings()


class version:
    cuda = "12.4" if CC else None


class cuda:
    @staticmethod
    def init():
        if not CC:
            raise AssertionError("Torch not compiled with CUDA enabled")
        if DEFECT == "old_driver":
            raise RuntimeError("The NVIDIA driver on your system is too old (found version 11040).")
        if DEFECT == "no_driver":
            raise RuntimeError("Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU")

    @staticmethod
    def get_device_capability(_):
        return tuple(int(part) for part in CC.split("."))

    @staticmethod
    def get_device_name(_):
        return "Fake GPU"


class Ramp:
    """A tensor of consecutive numbers, which may have one wrong value."""

    def __init__(self, length, first=0, wrong=None):
        self.key = (length, first, wrong)
        self.shared = True

    def __add__(self, more):
        return Ramp(self.key[0], self.key[1] + more)

    def is_shared(self):
        return self.shared


def arange(length, dtype):
    return Ramp(length)


def equal(a, b):
    return a.key == b.key

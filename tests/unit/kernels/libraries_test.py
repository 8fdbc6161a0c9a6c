"""What lib.* compare, with planted defects, beside plain arithmetic in place of torch.
Usage: libraries_test.py SOURCE_DIR"""
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

SOURCE = pathlib.Path(sys.argv[1]).resolve()
del sys.argv[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "kernels/python"))
import library_checks as checks  # noqa: E402
import torch_canary  # noqa: E402
import torch_compare as compare  # noqa: E402
import torch_libraries  # noqa: E402
import torch_reduce  # noqa: E402
from suite_record import Record, Skip  # noqa: E402

BITS = dict(compare.BITS, float64=53)


def cut(value, bits):
    if value == 0 or value - value != 0:
        return value
    mantissa, exponent = math.frexp(value)
    return math.ldexp(round(math.ldexp(mantissa, bits)), exponent - bits)


def same(x):
    return x


class Plain:
    """Computes as a sound device would, in formats of so many bits; a test replaces what is to be wrong."""
    has_tf32 = None

    def __init__(self, **wrong):
        self.after = wrong.pop("after", same)      # done to what comes back
        self.inputs = wrong.pop("inputs", same)    # to each number that goes in
        for name, value in wrong.items():
            setattr(self, name, value)

    def product(self, kind, a, b, tf32):
        bits = 11 if tf32 and self.has_tf32 else BITS[kind]
        a, b = [[[self.inputs(cut(x, bits)) for x in row] for row in m] for m in (a, b)]
        across = list(zip(*b))
        return self.after([[cut(math.fsum(x * y for x, y in zip(row, column)), BITS[kind]) for column in across] for row in a])

    def convolution(self, x, w, stride):
        x = [[[list(map(self.inputs, row)) for row in plane] for plane in image] for image in x]
        return self.after([cut(v, 24) for v in checks.convolution(x, w)[0]])

    def transform(self, values, inverse):
        bins = range(len(values))
        if inverse:
            out = [v.conjugate() / len(values) for v in checks.direct_transform([v.conjugate() for v in values], bins)]
        else:
            out = checks.direct_transform([complex(self.inputs(v.real), self.inputs(v.imag)) for v in values], bins)
        return self.after([complex(cut(v.real, 24), cut(v.imag, 24)) for v in out])

    def sparse(self, form, starts, columns, values, width, x):
        values, x = list(map(self.inputs, values)), list(map(self.inputs, x))
        return self.after([cut(math.fsum(values[i] * x[columns[i]] for i in range(a, b)), 24) for a, b in zip(starts, starts[1:])])

    def cholesky(self, a):
        n = len(a)
        out = [[0.0] * n for _ in range(n)]
        for j in range(n):
            for i in range(j, n):
                rest = self.inputs(a[i][j]) - math.fsum(out[i][k] * out[j][k] for k in range(j))
                out[i][j] = math.sqrt(rest) if i == j else rest / out[j][j]
        return self.after(out)


def small():
    """The sizes of the real thing take plain arithmetic minutes."""
    return mock.patch.multiple(checks, ROWS=24, LENGTH=64, COLUMNS=16, IMAGES=2, CHANNELS=2, HEIGHT=7, WIDTH=5, FILTERS=3, POINTS=256, SPARSE_ROWS=67,
                               SPARSE_COLUMNS=41, ORDER=33)


def changed(index, change):
    """A list in which one element, found by a share of its length, is another."""
    def after(values):
        i = int(index * len(values))
        return values[:i] + [change(values[i])] + values[i + 1:]
    return after


def cell(row, column, change):
    return changed(row, changed(column, change))


class Libraries(unittest.TestCase):
    def setUp(self):
        patch = small()
        patch.start()
        self.addCleanup(patch.stop)

    def judged(self, check, numbers, seed=5):
        record = Record("t", "cpu")
        line = record.judge(check(record, numbers, seed))
        json.dumps(line, allow_nan=False)
        return line

    def passes(self, check, numbers, **more):
        for seed in range(1, 6):
            line = self.judged(check, numbers, seed, **more)
            self.assertEqual(line["status"], "pass", line)
        return line

    def fails(self, check, defects):
        for name, numbers in defects.items():
            for seed in (1, 2, 3):
                self.assertEqual(self.judged(check, numbers, seed)["status"], "fail", (name, seed))

    def test_products(self):
        line = self.passes(checks.check_gemm, Plain())
        self.assertEqual(len(line["checks"]), 15)
        self.passes(checks.check_gemm, Plain(has_tf32=True))
        self.passes(checks.check_gemm, Plain(has_tf32=False))

        def no_halves(kind, a, b, tf32):
            if kind == "float16":
                raise checks.Unsupported("addmm_impl_cpu_")
            return Plain().product(kind, a, b, tf32)
        line = self.passes(checks.check_gemm, Plain(product=no_halves))
        self.assertEqual((line["evidence"], len(line["checks"])), ({"float16": "not compared: addmm_impl_cpu_"}, 11))

    def test_wrong_products(self):
        dropped = Plain()
        dropped.product = lambda kind, a, b, tf32: Plain().product(kind, [row[:-8] for row in a], b[:-8], tf32)
        self.fails(checks.check_gemm, {
            "dropped K block": dropped,
            "inputs as TF32": Plain(inputs=lambda x: cut(x, 11)),
            "inputs as bf16": Plain(inputs=lambda x: cut(x, 8)),
            "inputs as float8": Plain(inputs=lambda x: cut(x, 4)),
            "one element": Plain(after=cell(0, 0, lambda x: x + 0.5)),
            "one element where no row is compared": Plain(after=cell(0.4, 0.7, lambda x: x + 0.5)),
            "NaN": Plain(after=cell(0.4, 0.7, lambda x: math.nan)),
            "infinity": Plain(after=cell(0.4, 0.7, lambda x: math.inf)),
            "zeros": Plain(after=lambda rows: [[0.0] * len(row) for row in rows]),
            "a stale row": Plain(after=lambda rows: rows[:8] + [rows[7]] + rows[9:]),
            "a row less": Plain(after=lambda rows: rows[:-1]),
            "short rows": Plain(after=lambda rows: [row[:-1] for row in rows]),
            "nothing": Plain(after=lambda rows: []),
            "two columns swapped": Plain(after=lambda rows: [[row[1], row[0]] + row[2:] for row in rows]),
            "twice": Plain(after=lambda rows: [[2 * x for x in row] for row in rows])})

    def test_one_format_that_is_another_is_seen(self):
        for kind, bits in (("float32", 14), ("float64", 40), ("float16", 8), ("bfloat16", 6)):
            def product(own, a, b, tf32, kind=kind, bits=bits):
                return Plain(inputs=(lambda x: cut(x, bits)) if own == kind else same).product(own, a, b, tf32)
            self.fails(checks.check_gemm, {kind: Plain(product=product)})

    def test_tf32_where_it_is_off_or_missing(self):
        always = Plain(inputs=lambda x: cut(x, 11))
        self.assertEqual(self.judged(checks.check_gemm, always)["fault"], "F14")
        never = Plain(has_tf32=True)
        never.product = Plain().product
        line = self.judged(checks.check_gemm, never)
        self.assertEqual((line["status"], line["fault"]), ("fail", "F14"))
        old = Plain(has_tf32=False, product=lambda kind, a, b, tf32: Plain(inputs=(lambda x: cut(x, 11)) if tf32 else same).product(kind, a, b, tf32))
        self.assertEqual(self.judged(checks.check_gemm, old)["status"], "fail")

    def test_inputs_are_exact_in_their_format(self):
        source = random.Random(3)
        for kind, bits in compare.BITS.items():
            values = checks.on_grid(source, 500, kind)
            self.assertEqual(values, [cut(x, bits) for x in values])
            # And not in a narrower one, which would not be seen otherwise.
            self.assertNotEqual(values, [cut(x, bits - 2) for x in values])
            self.assertTrue(min(values) < -0.5 and max(values) > 0.5)

    def test_convolutions(self):
        self.passes(checks.check_convolution, Plain())
        self.assertEqual(self.judged(checks.check_convolution, Plain(inputs=lambda x: cut(x, 11)))["fault"], "F14")
        other = Plain(convolution=lambda x, w, stride: checks.convolution([[plane[::-1] for plane in image] for image in x], w)[0])
        self.fails(checks.check_convolution, {
            "TF32": Plain(inputs=lambda x: cut(x, 11)), "bf16": Plain(inputs=lambda x: cut(x, 8)), "upside down": other,
            "one element": Plain(after=changed(0.5, lambda x: x + 1e-3)), "NaN": Plain(after=changed(0.5, lambda x: math.nan)),
            "sign": Plain(after=lambda v: [-x for x in v]), "less": Plain(after=lambda v: v[:-1]), "nothing": Plain(after=lambda v: []),
            "zeros": Plain(after=lambda v: [0.0] * len(v)), "moved": Plain(after=lambda v: v[1:] + v[:1])})

    def test_the_direct_convolution_by_hand(self):
        with mock.patch.multiple(checks, IMAGES=1, CHANNELS=1, HEIGHT=3, WIDTH=3, FILTERS=1):
            out, sizes = checks.convolution([[[[1, 2, 3], [4, 5, 6], [7, 8, 9]]]], [[[[0, 1, 0], [1, -1, 1], [0, 1, 0]]]])
        self.assertEqual(out, [1 * -1 + 2 + 4, -3 + 2 + 6, -7 + 4 + 8, -9 + 6 + 8])
        self.assertEqual(sizes, [7, 11, 19, 23])

    def test_transforms(self):
        self.passes(checks.check_transform, Plain())
        plain = Plain()

        def scaled(values, inverse):
            return plain.transform(values, inverse) if not inverse else [len(values) * v for v in plain.transform(values, True)]

        def swapped_ends(values, inverse):  # undone on the way back: of the two bins one is hardly ever looked at
            out = plain.transform(values if not inverse else [values[1], values[0]] + values[2:], inverse)
            return out if inverse else [out[1], out[0]] + out[2:]
        self.fails(checks.check_transform, {
            "identity": Plain(transform=lambda v, _: list(v)), "no scale on the way back": Plain(transform=scaled),
            "the other sign": Plain(transform=lambda v, inverse: [len(v) ** (1 - 2 * inverse) * x for x in plain.transform(v, not inverse)]),
            "two bins swapped": Plain(transform=swapped_ends), "half inputs": Plain(inputs=lambda x: cut(x, 11)),
            "TF32-like bits": Plain(after=lambda v: [complex(cut(x.real, 16), cut(x.imag, 16)) for x in v]),
            "less": Plain(after=lambda v: v[:-1]), "nothing": Plain(after=lambda v: []), "NaN": Plain(after=changed(0.1, lambda x: complex(math.nan, 0))),
            "zeros": Plain(after=lambda v: [0j] * len(v)), "conjugate": Plain(after=lambda v: [x.conjugate() for x in v])})

    def test_the_direct_transform_by_hand(self):
        for got, want in zip(checks.direct_transform([1, 1j, 2, -1], range(4)), (2 + 1j, -1j, 4 - 1j, -2 + 1j)):
            self.assertLess(abs(got - want), 1e-14)

    def test_sparse_products(self):
        line = self.passes(checks.check_sparse, Plain())
        self.assertEqual(len(line["checks"]), 4)

        def only_coo(form, *rest):
            if form == "csr":
                raise checks.Unsupported("before 1.9")
            return Plain().sparse(form, *rest)
        line = self.passes(checks.check_sparse, Plain(sparse=only_coo))
        self.assertEqual(line["evidence"], {"csr": "not compared: before 1.9"})

        def none(*_):
            raise checks.Unsupported("no")
        self.assertEqual(self.judged(checks.check_sparse, Plain(sparse=none))["status"], "error")
        plain = Plain()
        self.fails(checks.check_sparse, {
            "narrow": Plain(inputs=lambda x: cut(x, 11)), "less": Plain(after=lambda v: v[:-1]), "nothing": Plain(after=lambda v: []),
            "a row is moved": Plain(after=lambda v: v[1:] + v[:1]), "NaN": Plain(after=changed(0.5, lambda x: math.nan)),
            "an empty row is not 0": Plain(after=lambda v: [x or 1e-3 for x in v]), "zeros": Plain(after=lambda v: [0.0] * len(v)),
            "columns from 1": Plain(sparse=lambda f, s, c, v, n, x: plain.sparse(f, s, [(i + 1) % n for i in c], v, n, x)),
            "the last of each row is left out": Plain(sparse=lambda f, s, c, v, n, x: [
                math.fsum(v[i] * x[c[i]] for i in range(a, max(a, b - 1))) for a, b in zip(s, s[1:])]),
            "one form only": Plain(sparse=lambda f, *rest: [2 * x for x in plain.sparse(f, *rest)] if f == "coo" else plain.sparse(f, *rest))})

    def test_the_sparse_inputs(self):
        starts, columns, values, x = checks.sparse_inputs(random.Random(1))
        self.assertEqual((len(starts), starts[-1], len(values), len(x)), (68, len(columns), len(columns), 41))
        self.assertTrue(any(a == b for a, b in zip(starts, starts[1:])))
        self.assertTrue(all(columns[a:b] == sorted(set(columns[a:b])) for a, b in zip(starts, starts[1:])))

    def test_cholesky(self):
        self.passes(checks.check_cholesky, Plain())
        self.fails(checks.check_cholesky, {
            "float32": Plain(after=lambda rows: [[cut(x, 24) for x in row] for row in rows]), "inputs as float32": Plain(inputs=lambda x: cut(x, 24)),
            "upper": Plain(after=lambda rows: [list(row) for row in zip(*rows)]), "negative": Plain(after=lambda rows: [[-x for x in r] for r in rows]),
            "one element": Plain(after=cell(0.9, 0.1, lambda x: x + 1e-6)), "above the diagonal": Plain(after=cell(0.1, 0.9, lambda x: 1e-300)),
            "NaN": Plain(after=cell(0.9, 0.1, lambda x: math.nan)), "less": Plain(after=lambda rows: rows[:-1]), "nothing": Plain(after=lambda rows: []),
            "the matrix itself": Plain(cholesky=lambda a: a), "zeros": Plain(after=lambda rows: [[0.0] * len(row) for row in rows])})

    def test_the_worst_element(self):
        self.assertEqual(checks.worst_element([1.5, 0], [1, 0], [10, 0], 0.1), 0.5)
        for got in ([], [1, 1, 1], [math.nan, 0], [1, 1e-300]):
            self.assertEqual(checks.worst_element(got, [1, 0], [10, 0], 0.1), math.inf)


class Reduced(unittest.TestCase):
    """What the processes of lib.nccl have."""

    def answers(self, world):
        shares = [torch_reduce.share(9, rank) for rank in range(world)]
        total = list(map(sum, zip(*shares)))
        return {rank: {"float32": list(map(float, total)), "int32": list(total), "broadcast": list(shares[-1])} for rank in range(world)}

    def status(self, answers, world):
        record = Record("lib.nccl", "cpu")
        torch_reduce.check_reduced(record, answers, world, 9)
        return record.judge("")["status"]

    def test_sums_are_exact(self):
        for world in (1, 2, 8):
            self.assertEqual(self.status(self.answers(world), world), "pass")
        for rank in (0, 3, 255):
            self.assertLess(max(torch_reduce.share(9, rank)), 1 << 16)
        self.assertNotEqual(torch_reduce.share(9, 0), torch_reduce.share(9, 1))

    def test_planted_defects_fail(self):
        def each(change, world=2):
            answers = self.answers(world)
            change(answers)
            return answers
        own = [list(map(float, torch_reduce.share(9, rank))) for rank in range(2)]
        for name, answers in {
                "a process less": each(lambda a: a.pop(1)), "none": {}, "another one": each(lambda a: a.update({2: a[0]})),
                "nothing reduced": each(lambda a: [a[r].update(float32=own[r]) for r in a]),
                "one of them is not reduced": each(lambda a: a[1].update(float32=own[1])),
                "one number": each(lambda a: a[1]["int32"].__setitem__(-1, 1)), "short": each(lambda a: a[0]["int32"].pop()),
                "a kind less": each(lambda a: a[0].pop("float32")), "NaN": each(lambda a: a[0]["float32"].__setitem__(7, math.nan)),
                "rounded": each(lambda a: a[0].update(float32=[cut(x, 11) for x in a[0]["float32"]])),
                "broadcast of the first": each(lambda a: a[0].update(broadcast=torch_reduce.share(9, 0))),
                "twice": each(lambda a: a[0].update(int32=[2 * x for x in a[0]["int32"]]))}.items():
            self.assertEqual(self.status(answers, 2), "fail", name)
        self.assertEqual(self.status({}, 0), "fail")

    def test_processes(self):
        def child(code):
            return subprocess.Popen([sys.executable, "-c", code])
        for codes, failed in ((["", ""], {}), (["", "raise SystemExit(3)"], {1: "exit code 3"}),
                              (["import time; time.sleep(60)", "raise SystemExit(4)"], {1: "exit code 4"})):
            children = list(map(child, codes))
            self.assertEqual(torch_reduce.ended(children, 30), failed)
            for each in children:
                each.kill()
                each.wait()
        slow = child("import time; time.sleep(60)")
        self.assertEqual(torch_reduce.ended([slow], 0), {0: "no end after 0 s"})
        slow.kill()
        slow.wait()

    def test_a_process_that_ends_badly(self):
        for text, fault in (("exit code 1: x\nRuntimeError: No space left on device", "F12"), ("exit code -9: ", None),
                            ("exit code 1: Traceback\nncclSystemError: Error while creating shared memory segment /dev/shm/nccl-x", "F12"),
                            ("exit code 1: Traceback\nncclUnhandledCudaError", None)):
            record = Record("lib.nccl", "gpu")
            compare.check_no_words(record, "process 0", text)
            line = record.judge("")
            self.assertEqual((line["status"], line.get("fault")), ("fail", fault), text)
            self.assertIn(text.split(" ")[-1].split("\n")[-1], line["summary"])

    def test_without_cuda_or_without_the_backend(self):
        class Torch:
            class version:
                cuda = None

            class distributed:
                is_available = staticmethod(lambda: True)
                is_gloo_available = staticmethod(lambda: False)
        for cuda in (None, "12.4"):
            Torch.version.cuda = cuda
            with self.assertRaises(Skip):
                torch_reduce.body(Record("lib.nccl", "cpu"), Torch, {}, "cpu")


class Numbers(unittest.TestCase):
    """Of cuRAND, into memory that is not the library's own."""

    def test_a_device_generator(self):
        with tempfile.TemporaryDirectory() as folder:
            for defect, status in ((0, "pass"), (1, "fail")):
                path = folder + "/libcurand%d.so" % defect
                subprocess.run(["cc", "-shared", "-fPIC", "-DNAME=curand", "-DVERSION=10,3,5", "-DDEFECT=%d" % defect, "-o", path,
                                str(SOURCE / "tests/fakes/cuda_library.c")], check=True)
                import ctypes
                library = ctypes.CDLL(path)
                for read, want in ((lambda words: list(words), status), (lambda words: list(words)[:-1], "fail"),
                                   (lambda words: [0] * len(words), "fail"), (lambda words: [], "fail")):
                    def memory(count, read=read):
                        words = (ctypes.c_uint * count)()
                        return ctypes.addressof(words), lambda: read(words)
                    record = Record("lib.curand", "gpu")
                    torch_libraries.check_curand(record, library, 77, memory)
                    self.assertEqual(record.judge("")["status"], want)
                with self.assertRaises(AttributeError):
                    torch_libraries.check_curand(Record("lib.curand", "gpu"), library, 77, None, "curandCreateNothing")


class Canary(unittest.TestCase):
    def test_its_sums(self):
        a, b = torch_canary.inputs(8)
        sums = [x + y for x, y in zip(a, b)]
        self.assertTrue(all(-(1 << 31) <= x < 1 << 31 for x in sums))
        for got, want in ((list(sums), "pass"), (sums[:-1] + [sums[-1] + 1], "fail"), (sums[:-1], "fail"), ([], "fail"), (a, "fail"), (b, "fail"),
                          ([0] * len(sums), "fail"), (sums[1:] + sums[:1], "fail"), (sums + [0], "fail")):
            record = Record("torch.canary", "gpu")
            torch_canary.check_sums(record, got, a, b)
            self.assertEqual(record.judge("")["status"], want)
        record = Record("torch.canary", "gpu")
        torch_canary.check_sums(record, [], [], [])
        self.assertEqual(record.judge("")["status"], "fail")


if __name__ == "__main__":
    unittest.main()

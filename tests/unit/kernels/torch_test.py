"""The suite's torch tests: their comparisons with planted defects, and the scripts beside a torch that is only a stand-in.
Usage: torch_test.py SOURCE_DIR"""
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()
del sys.argv[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "kernels/python"))
import torch_compare as compare  # noqa: E402
from suite_record import Record  # noqa: E402


def cut(value, bits):
    """The nearest number with so many bits of significand."""
    if value == 0:
        return 0.0
    mantissa, exponent = math.frexp(value)
    return math.ldexp(round(mantissa * 2 ** bits), exponent - bits)


def product(a, b, step=lambda total: total):
    out = []
    for row in a:
        for column in zip(*b):
            total = 0.0
            for x, y in zip(row, column):
                total = step(total + x * y)
            out.append(total)
    return out


class Product(unittest.TestCase):
    """17 x 64 x 15, as a device would give it."""

    def setUp(self):
        self.random = random.Random(7)
        self.a = [[self.random.uniform(-1, 1) for _ in range(64)] for _ in range(17)]
        self.b = [[self.random.uniform(-1, 1) for _ in range(15)] for _ in range(64)]

    def inputs(self, kind):
        return [[[cut(x, compare.BITS[kind]) for x in row] for row in m] for m in (self.a, self.b)]

    def statuses(self, got, want, size, kind):
        record = Record("t", "cpu")
        compare.check_product(record, kind, got, want, size, kind)
        return record.judge("ok")

    def good(self, kind):
        a, b = self.inputs(kind)
        want = product(a, b)
        size = product([[abs(x) for x in row] for row in a], [[abs(x) for x in row] for row in b])
        got = [cut(x, compare.BITS[kind]) for x in product(a, b, lambda total: cut(total, 24))]
        return a, b, got, want, size

    def test_a_right_product_passes(self):
        for kind in compare.BITS:
            _, _, got, want, size = self.good(kind)
            self.assertEqual(self.statuses(got, want, size, kind)["status"], "pass", kind)

    def test_planted_defects_fail(self):
        for kind in compare.BITS:
            bits = compare.BITS[kind]
            a, b, got, want, size = self.good(kind)

            def narrower(n):
                return [cut(x, bits) for x in product([[cut(x, n) for x in r] for r in a], [[cut(x, n) for x in r] for r in b])]

            def moved(index, value):
                return got[:index] + [value] + got[index + 1:]

            defects = {
                "dropped K block": [cut(x, bits) for x in product([row[:-8] for row in a], b[:-8])],
                "K block twice": [cut(x, bits) for x in product([row + row[:8] for row in a], b + b[:8])],
                "inputs in a narrower format": narrower({24: 11, 11: 8, 8: 4}[bits]),
                "sums in the narrow format": product(a, b, lambda total: cut(total, min(bits, 11))),
                "result in a narrower format": [cut(x, {24: 11, 11: 8, 8: 5}[bits]) for x in got],
                "transposed": [got[j * 15 + i] if i < 15 else got[i * 15 + j] for i in range(17) for j in range(15)],
                "two elements swapped": [got[1], got[0]] + got[2:],
                "shifted by one": got[1:] + got[:1],
                "a row is stale": got[:15] + got[:15] + got[30:],
                "one element is 0": moved(20, 0.0),
                "one element is 1 % off": moved(20, got[20] * 1.01),
                "one sign": moved(100, -got[100]),
                "one NaN": moved(5, math.nan),
                "one infinity": moved(5, math.inf),
                "all NaN": [math.nan] * len(got),
                "zeros": [0.0] * len(got),
                "half of it": got[:len(got) // 2],
                "nothing": [],
                "twice the values": [2 * x for x in got],
            }
            for name, values in defects.items():
                line = self.statuses(values, want, size, kind)
                self.assertEqual(line["status"], "fail", (kind, name, line["checks"]))
                json.dumps(line, allow_nan=False)

    def test_nothing_to_compare_with_is_no_pass(self):
        for want in ([], [0.0]):
            self.assertEqual(self.statuses(want, want, want, "float32")["status"], "fail", want)

    def test_tf32_in_place_of_float32_is_named(self):
        a, b, _, want, size = self.good("float32")
        got = product([[cut(x, 11) for x in r] for r in a], [[cut(x, 11) for x in r] for r in b])
        line = self.statuses(got, want, size, "float32")
        self.assertEqual((line["fault"], "NVIDIA_TF32_OVERRIDE" in line["hint"]), ("F14", True))
        # A dropped block is no TF32.
        self.assertNotIn("fault", self.statuses([x * 0.9 for x in want], want, size, "float32"))

    def test_the_band_of_tf32(self):
        a, b, got, want, _ = self.good("float32")
        tf32 = product([[cut(x, 11) for x in r] for r in a], [[cut(x, 11) for x in r] for r in b])
        bf16 = product([[cut(x, 8) for x in r] for r in a], [[cut(x, 8) for x in r] for r in b])
        for values, has, status in ((tf32, True, "pass"), (got, False, "pass"), (got, True, "fail"), (bf16, True, "fail"), (tf32, False, "fail"),
                                    ([math.nan] * len(want), True, "fail"), ([], True, "fail"), ([0.0] * len(want), True, "fail")):
            record = Record("t", "gpu")
            compare.check_tf32(record, values, want, has)
            self.assertEqual(record.judge("")["status"], status, (has, values[:2]))


class Rounding(unittest.TestCase):
    def test_half_ulp(self):
        for value, kind, want in ((1.0, "float16", 2.0 ** -11), (1.99, "float16", 2.0 ** -11), (-2.0, "bfloat16", 2.0 ** -7),
                                  (1.0, "float32", 2.0 ** -24), (0.0, "float16", 0.0), (2.0 ** -20, "float16", 2.0 ** -25)):
            self.assertEqual(compare.half_ulp(value, kind), want, (value, kind))

    def test_no_value_is_moved_further_by_rounding_to_float16(self):
        numbers = random.Random(3)
        for _ in range(2000):
            x = numbers.uniform(-1, 1) * 2.0 ** numbers.randrange(-26, 15)
            half = struct.unpack("<e", struct.pack("<e", x))[0]
            self.assertLessEqual(abs(half - x), compare.half_ulp(x, "float16") * (1 + 1e-12), x)


class Others(unittest.TestCase):
    def status(self, function, *arguments):
        record = Record("t", "cpu")
        function(record, *arguments)
        line = record.judge("")
        json.dumps(line, allow_nan=False)
        return line["status"]

    def test_the_reference_itself(self):
        rows, columns = {0: [0.1, 0.2, -0.3]}, {4: [0.7, -0.5, 0.11]}
        exact = math.fsum(x * y for x, y in zip(rows[0], columns[4]))
        self.assertEqual(self.status(compare.check_reference, rows, columns, [(0, 4, exact)]), "pass")
        for entries in ([], [(0, 4, exact + 1e-9)], [(0, 4, math.nan)], [(0, 4, exact), (0, 4, 0.0)]):
            self.assertEqual(self.status(compare.check_reference, rows, columns, entries), "fail", entries)

    def test_gradients(self):
        want = {"w": [1.0, -2.0, 3.0], "b": [0.5]}
        self.assertEqual(self.status(compare.check_gradients, {"w": [1.0, -2.0, 3.00001], "b": [0.5]}, want), "pass")
        for got in ({}, {"w": want["w"]}, dict(want, c=[1.0]), dict(want, w=[1.0, -2.0, 3.01]), dict(want, w=[1.0, -2.0]),
                    dict(want, b=[math.nan]), dict(want, b=[0.0]), dict(want, w=[-1.0, 2.0, -3.0])):
            self.assertEqual(self.status(compare.check_gradients, got, want), "fail", got)
        self.assertEqual(self.status(compare.check_gradients, {}, {}), "fail")
        self.assertEqual(self.status(compare.check_gradients, {"w": [0.0]}, {"w": [0.0]}), "fail")

    def test_slope(self):
        self.assertEqual(self.status(compare.check_slope, 0.3, 0.3 + 1e-9, 2.0), "pass")
        for slope, measured, length in ((0.3, 0.31, 2.0), (0.3, -0.3, 2.0), (math.nan, 0.3, 2.0), (0.3, 0.3, 0.0)):
            self.assertEqual(self.status(compare.check_slope, slope, measured, length), "fail")

    def test_losses(self):
        want = [0.5, 0.4, 0.3]
        self.assertEqual(self.status(compare.check_losses, [0.5, 0.4, 0.300001], want), "pass")
        for losses in ([], [0.5], [0.5, 0.5, 0.5], [0.3, 0.4, 0.5], [0.5, 0.3, 0.4], [0.5, math.nan, 0.3], [0.5, 0.4, -math.inf],
                       [0.5, 0.4], [0.5, 0.4, 0.2]):
            self.assertEqual(self.status(compare.check_losses, losses, want), "fail", losses)

    def test_finite(self):
        self.assertEqual(self.status(compare.check_finite, "x", {"w": [1.0, 0.0], "b": [0.0]}), "pass")
        for gradients in ({}, {"w": []}, {"w": [math.inf]}, {"w": [1.0], "b": [math.nan]}, {"w": [0.0], "b": [0.0]}):
            self.assertEqual(self.status(compare.check_finite, "x", gradients), "fail", gradients)

    def test_no_check_is_an_error_and_a_nan_within_no_limit(self):
        self.assertEqual(Record("t", "cpu").judge("")["status"], "error")
        for value in (math.nan, math.inf, 2.0):
            self.assertEqual(self.status(lambda record: record.limit("x", value, 1.0)), "fail")


class Scripts(unittest.TestCase):
    """Each script as the runner starts it, with the stand-in of tests/fakes."""

    def run_script(self, name, *more, defect="", compute="", path=SOURCE / "tests/fakes", torch="2.6.0"):
        env = dict(os.environ, PYTHONPATH=str(path), FAKE_TORCH=defect, FAKE_TORCH_CC=compute)
        got = subprocess.run([sys.executable, "-B", SOURCE / "kernels/python" / name, "--expect-torch", torch, "--record-fd", "1", *more],
                             capture_output=True, text=True, env=env)
        line = json.loads(got.stdout)
        self.assertEqual(got.returncode, {"pass": 0, "fail": 1, "error": 3, "skip": 77}[line["status"]], got.stderr)
        return line

    def matmul(self, defect="", part="cpu", compute="", *more):
        return self.run_script("torch_matmul.py", "--part", part, "--size", "9x19x17", "--seed", "5", *more, defect=defect, compute=compute)

    def test_without_torch_or_with_one_that_does_not_load(self):
        for name in ("torch_matmul.py", "torch_step.py", "torch_workers.py", "torch_arch.py"):
            with tempfile.TemporaryDirectory() as empty:
                line = self.run_script(name, path=empty)
                self.assertEqual((line["status"], line["reason"], line["fault"]), ("fail", "lib_absent", "F11"), name)
                self.assertEqual(self.run_script(name, path=empty, torch="")["reason"], "not_in_cell")
            line = self.run_script(name, defect="import")
            self.assertEqual((line["status"], line["reason"]), ("fail", "import_failed"), name)
            self.assertIn("libcudnn.so.9", line["summary"])

    def test_numpy_is_only_noted(self):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(SOURCE / "tests/fakes/torch", folder + "/torch")
            numpy = pathlib.Path(folder, "numpy.py")
            for text, says in (("raise ModuleNotFoundError('numpy')", "not installed"), ("raise ImportError('_ARRAY_API not found')", "does not load"),
                               ("__version__ = '1.26.4'", "1.26.4")):
                numpy.write_text(text)
                line = self.run_script("torch_workers.py", path=folder)
                self.assertEqual(line["status"], "pass", line)
                self.assertIn(says, line["evidence"]["numpy"])

    def test_matmul_on_a_sound_torch(self):
        line = self.matmul()
        self.assertEqual((line["status"], line["id"], line["part"]), ("pass", "torch.matmul", "cpu"), line)
        self.assertEqual((line["evidence"]["seed"], line["evidence"]["size"]), (5, "9x19x17"))
        self.assertEqual(self.matmul("no_half")["evidence"]["float16"][:12], "not compared")
        for compute in ("9.0", "7.5"):
            line = self.matmul("", "gpu", compute)
            self.assertEqual((line["status"], line["part"]), ("pass", "gpu"), line)
            self.assertIn("compute capability " + compute, line["evidence"]["device"])

    def test_matmul_fresh_inputs(self):
        seeds = {self.run_script("torch_matmul.py", "--size", "3x3x3", defect="raise")["evidence"]["seed"] for _ in range(3)}
        self.assertGreater(len(seeds), 1)

    def test_matmul_planted_defects(self):
        for defect in ("tf32", "bf16", "drop_k", "narrow_sums", "transposed_tile", "one_element", "nan", "zero", "short", "other_type", "reference"):
            line = self.matmul(defect)
            self.assertEqual(line["status"], "fail", (defect, line))
        for defect, fault in (("tf32_always", "F14"), ("tf32_never", "F14"), ("drop_k", None), ("no_half", None)):
            line = self.matmul(defect, "gpu", "8.0")
            self.assertEqual((line["status"], line.get("fault")), ("fail", fault), (defect, line))
        line = self.matmul("raise", "gpu", "8.0")
        self.assertEqual((line["status"], line["reason"]), ("fail", "exception"))
        self.assertTrue(line["summary"].endswith("no kernel image is available for execution on the device"), line["summary"])

    def test_no_gpu_for_torch(self):
        for name in ("torch_matmul.py", "torch_step.py"):
            line = self.run_script(name, "--part", "gpu")
            self.assertEqual((line["status"], line["reason"]), ("skip", "not_in_cell"), line)
            line = self.run_script(name, "--part", "gpu", "--expect-torch-cuda", "12.4")
            self.assertEqual((line["status"], line["fault"]), ("fail", "F23"), line)
            for defect, fault in (("old_driver", "F3"), ("no_driver", "F1")):
                line = self.run_script(name, "--part", "gpu", compute="8.0", defect=defect)
                self.assertEqual((line["status"], line["fault"]), ("fail", fault), line)

    def test_a_torch_that_lacks_what_a_step_needs(self):
        line = self.run_script("torch_step.py")
        self.assertEqual((line["status"], line["reason"]), ("fail", "exception"), line)

    def test_workers(self):
        line = self.run_script("torch_workers.py")
        self.assertEqual((line["status"], line["part"], len(line["checks"])), ("pass", "load", 10), line)
        self.assertIsInstance(line["evidence"]["loader_mib_s"], int, line)
        for defect in ("bus", "space"):
            line = self.run_script("torch_workers.py", defect=defect)
            self.assertEqual((line["status"], line["reason"], line["fault"]), ("fail", "shm_small", "F12"), line)
            self.assertIn("--shm-size", line["hint"])
        for defect in ("order", "lost", "stale", "flip", "copied", "same_process", "one_worker"):
            line = self.run_script("torch_workers.py", defect=defect)
            self.assertEqual((line["status"], line.get("fault")), ("fail", None), (defect, line))

    def test_how_fast_batches_come(self):
        import torch_workers as workers
        for batches, ticks, speed in ((3, (10.0, 10.5, 11.0), 64), (1, (10.0,), None), (0, (), None), (2, (10.0, 10.0), None)):
            clock = iter(ticks)
            self.assertEqual(workers.mib_per_second([None] * batches, lambda: next(clock)), speed, ticks)

    def test_what_kind_of_failure_a_loader_has(self):
        import torch_workers as workers
        plenty = 1 << 33
        for text, free, fault in (("Bus error", plenty, "F12"), ("exited unexpectedly", 64 << 20, "F12"), ("exited unexpectedly", -1, "F12"),
                                  ("exited unexpectedly", plenty, ""), ("is killed by signal: Killed.", plenty, ""),
                                  ("unable to open shared memory object </x>: Too many open files (24)", plenty, "")):
            self.assertEqual(workers.failure(text, free)[1], fault, (text, free))
        self.assertEqual(workers.free_bytes("/no/such/folder"), -1)


class Libraries(unittest.TestCase):
    """torch_libraries.py beside packages and libraries that only stand in for NVIDIA's."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.site = pathlib.Path(folder.name)
        (self.site / "torch/lib").mkdir(parents=True)
        (self.site / "torch/__init__.py").write_text("raise ImportError('torch is not to be imported')")

    def package(self, name, version, *files, requires=()):
        """An installed distribution with these files."""
        info = self.site / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {r}\n" for r in requires))
        (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))

    def library(self, file, name, version, *flags):
        path = self.site / file
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-shared", "-fPIC", f"-Wl,-soname,{path.name}", f"-DNAME={name}", f"-DVERSION={version.replace('.', ',')}", "-o", path,
                        SOURCE / "tests/fakes/cuda_library.c", *flags], check=True)
        return file

    def run_test(self, test, torch="2.6.0"):
        env = dict(os.environ, PYTHONPATH=str(self.site))
        got = subprocess.run([sys.executable, "-B", SOURCE / "kernels/python/torch_libraries.py", "--test", "lib." + test, "--expect-torch", torch,
                              "--record-fd", "1"], capture_output=True, text=True, env=env)
        line = json.loads(got.stdout)
        self.assertEqual(got.returncode, {"pass": 0, "fail": 1, "error": 3, "skip": 77}[line["status"]], got.stderr)
        self.assertEqual((line["id"], line["part"]), ("lib." + test, "load"))
        return line

    def fails(self, test, reason, *words):
        line = self.run_test(test)
        self.assertEqual((line["status"], line["reason"]), ("fail", reason), line)
        for word in words:
            self.assertIn(word, line["summary"])
        return line

    def test_sound_libraries_pass(self):
        for test, package, version, files in (
                ("cublas", "nvidia-cublas-cu12", "12.4.5.8", ("libcublas.so.12", "libcublasLt.so.12")),
                ("cudnn", "nvidia-cudnn-cu12", "9.1.0.70", ("libcudnn.so.9", "libcudnn_ops.so.9", "libcudnn_adv.so.9")),
                ("cufft", "nvidia-cufft", "12.0.0.61", ("libcufft.so.12", "libcufftw.so.12")),
                ("cusolver", "nvidia-cusolver-cu11", "11.4.0.1", ("libcusolver.so.11",)),
                ("curand", "nvidia-curand-cu12", "10.3.5.147", ("libcurand.so.10",)),
                ("nccl", "nvidia-nccl-cu11", "2.7.8", ("libnccl.so.2",))):
            own = ".".join(version.split(".")[:3])
            self.package(package, version, *[self.library(f"nvidia/{test}/lib/{file}", test, own) for file in files])
            line = self.run_test(test)
            self.assertEqual((line["status"], line["evidence"]["version"]), ("pass", own), line)
            self.assertEqual(sorted(line["evidence"]["files"]), sorted(files))

    def test_what_a_library_needs_comes_from_the_other_packages(self):
        link = self.library("nvidia/nvjitlink/lib/libnvJitLink.so.12", "nvJitLink", "12.4.127", "-DGIVES=linked")
        self.package("nvidia-nvjitlink-cu12", "12.4.127", link)
        sparse = self.library("nvidia/cusparse/lib/libcusparse.so.12", "cusparse", "12.3.1", "-DNEEDS=linked", self.site / link)
        self.package("nvidia-cusparse-cu12", "12.3.1.170", sparse)
        line = self.run_test("cusparse")
        self.assertEqual((line["status"], line["evidence"].get("loaded_before")), ("pass", ["libnvJitLink.so.12"]), line)
        (self.site / link).unlink()
        self.assertEqual(self.fails("cusparse", "lib_absent", "load libcusparse.so.12", "libnvJitLink.so.12")["fault"], "F11")

    def test_libraries_in_the_wheel_of_torch(self):
        self.library("torch/lib/libcublas-0123abcd.so.11", "cublas", "11.10.3")
        line = self.run_test("cublas")
        self.assertEqual((line["status"], line["evidence"]["package"], line["evidence"]["version"]), ("pass", "torch", "11.10.3"), line)
        for test in ("cufft", "nccl"):
            line = self.run_test(test)
            self.assertEqual((line["status"], line["reason"]), ("skip", "not_in_cell"), line)

    def test_what_is_missing_or_another(self):
        self.assertEqual(self.run_test("curand", torch="")["reason"], "not_in_cell")
        self.package("torch", "2.6.0", requires=["nvidia-nccl-cu12 (==2.21.5)"])
        self.fails("nccl", "lib_absent", "torch needs nvidia-nccl-cu12, which is not installed")
        self.package("nvidia-cufft-cu12", "11.2.1.3", "nvidia/cufft/lib/libcufft.so.11")
        self.fails("cufft", "lib_absent", "nvidia-cufft-cu12 11.2.1.3 is installed, its library is not there")
        self.package("nvidia-cublas-cu12", "12.4.5.8", self.library("nvidia/cublas/lib/libcublas.so.12", "cublas", "12.1.3"))
        self.fails("cublas", "wrong_version", "nvidia-cublas-cu12 is 12.4.5.8, the library says 12.1.3")
        self.package("nvidia-cusolver-cu12", "11.6.1.9", self.library("nvidia/cusolver/lib/libcusolver.so.11", "other", "11.6.1"))
        self.fails("cusolver", "exception", "cusolverGetProperty")

    def test_what_torch_demands_through_the_extras_of_cuda_toolkit(self):
        self.package("torch", "2.15.0", requires=['cuda-toolkit[cublas,cufft]==13.2.2; platform_system == "Linux"', "nvidia-nccl-cu13==2.30.7",
                                                  "triton~=3.9.0", 'optree>=0.13; extra == "optree"', "nvidia-nvtx; python_version < '3'"])
        self.package("cuda-toolkit", "13.2.2", requires=["nvidia-cublas==13.4.1.3.*; extra == 'cublas'", "nvidia-cuda-nvrtc==13.2.86.*; extra == 'cublas'",
                                                         "nvidia-nvjitlink<14,>=13.2.86; extra == 'cufft'", "nvidia-npp==13.1.0; extra == 'npp'"])
        for name, version in (("nvidia-cublas", "13.4.1.3"), ("nvidia-cuda-nvrtc", "13.3.1"), ("nvidia-nvjitlink", "13.5.37"), ("triton", "3.8.0")):
            self.package(name, version)
        program = ("import json, sys; from importlib import metadata; from torch_arch import demanded_packages as demanded\n"
                   "print(json.dumps({name: [str(demand), has, bool(has) and demand.contains(has)] for name, (demand, has) in demanded(metadata).items()}))")
        env = dict(os.environ, PYTHONPATH=f"{self.site}:{SOURCE / 'kernels/python'}")
        got = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True, env=env, check=True)
        self.assertEqual(json.loads(got.stdout), {
            "cuda-toolkit": ["==13.2.2", "13.2.2", True],
            "nvidia-nccl-cu13": ["==2.30.7", None, False],
            "triton": ["~=3.9.0", "3.8.0", False],
            "nvidia-cublas": ["==13.4.1.3.*", "13.4.1.3", True],
            "nvidia-cuda-nvrtc": ["==13.2.86.*", "13.3.1", False],
            "nvidia-nvjitlink": ["<14,>=13.2.86", "13.5.37", True]})
        self.fails("nccl", "lib_absent", "torch needs nvidia-nccl-cu13, which is not installed")

    def test_planted_defects_fail(self):
        for test, version, defect, reason, check in (("curand", "10.3.5", 1, "mismatch", "number 4095 is not that of Philox4x32-10"),
                                                     ("cudnn", "9.1.0", 2, "mismatch", "room of a tensor"),
                                                     ("cublas", "12.4.5", 3, "wrong_version", "the library says nothing"),
                                                     ("nccl", "2.21.5", 3, "wrong_version", "the library says nothing"),
                                                     ("cufft", "11.2.1", 4, "lib_absent", "nobody_has_this")):
            self.package("nvidia-" + test, version + ".1", self.library(f"nvidia/{test}/lib/lib{test}.so.9", test, version, f"-DDEFECT={defect}"))
            self.fails(test, reason, check)

    def test_without_torch(self):
        (self.site / "torch/__init__.py").unlink()
        (self.site / "torch/lib").rmdir()
        (self.site / "torch").rmdir()
        self.assertEqual(self.fails("nccl", "lib_absent", "there is none")["fault"], "F11")


if __name__ == "__main__":
    unittest.main()

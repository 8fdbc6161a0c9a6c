"""torch.ext and torch.compile: what they compare, and what they make of images that cannot compile, with planted defects.
Usage: torch_build_test.py SOURCE_DIR"""
import ctypes
import importlib.machinery
import importlib.metadata
import json
import math
import mmap
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

SOURCE = pathlib.Path(sys.argv[1]).resolve()
del sys.argv[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "kernels/python"))
import torch_build as build  # noqa: E402
import torch_compare as compare  # noqa: E402
import torch_compile  # noqa: E402
import torch_ext as ext  # noqa: E402
from suite_record import Record, Skip  # noqa: E402


def status(function, *arguments):
    record = Record("t", "cpu")
    function(record, *arguments)
    return record.judge("")["status"]


def folder_of(test):
    folder = tempfile.TemporaryDirectory()
    test.addCleanup(folder.cleanup)
    return pathlib.Path(folder.name)


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


class Tools(unittest.TestCase):
    def test_what_is_missing_is_said(self):
        folder = folder_of(self)
        script(folder / "bin/g++", "")
        (folder / "include").mkdir()

        def absent(path, **env):
            with mock.patch.dict(os.environ, dict(env, PATH=str(path))), mock.patch.object(build.sysconfig, "get_paths",
                                                                                           lambda: {"include": str(folder / "include")}):
                if "CXX" not in env:
                    os.environ.pop("CXX", None)
                return build.absent_tool()
        self.assertIn("Python.h", absent(folder / "bin"))
        (folder / "include/Python.h").write_text("")
        self.assertEqual(absent(folder / "bin"), "")
        self.assertEqual(absent(folder / "none"), "the image has no compiler (g++, c++, clang++)")
        self.assertEqual(absent(folder / "bin", CXX="g++-12 -O1"), "the image has no compiler (g++-12)")
        self.assertEqual(absent(folder / "none", CXX=str(folder / "bin/g++")), "")
        with mock.patch.dict(os.environ, {"PATH": str(folder / "bin"), "CC": ""}):
            self.assertEqual(build.absent_tool("CC", ("gcc", "cc")), "the image has no compiler (gcc, cc)")

    def test_whose_fault_it_is(self):
        for text, fault in (("nvcc fatal   : Unsupported gpu architecture 'compute_120'", "F10"), ("ValueError: Unknown CUDA arch (12.0)", "F10"),
                            ("ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'", "F10"),
                            ("error: #error -- unsupported GNU version! gcc versions later than 11 are not supported!", "F21"),
                            ("RuntimeError: The current installed version of g++ (13.2.0) is greater than the maximum required version by CUDA 11.8.", "F21"),
                            ("fatal error: cusparse.h: No such file or directory", ""), ("", ""), ("error: 'Tensor' was not declared", "")):
            reason, code, hint = build.build_fault(text)
            self.assertEqual((code, bool(hint)), (fault, bool(fault)), text)
            self.assertTrue(reason)

    def test_the_line_that_tells(self):
        for text, line in (("a\nb.cpp:1:2: error: c\nd error: e\n", "b.cpp:1:2: error: c"), ("warning\nlast\n\n", "last"), ("", "no word of why"),
                           ("nvcc fatal   : x", "nvcc fatal   : x"), ("File\nRuntimeError: y\n", "RuntimeError: y"), ("x" * 9999, "x" * 400)):
            self.assertEqual(build.error_line(text), line)

    def test_whether_a_folder_is_for_programs(self):
        folder = folder_of(self)
        for error, want in ((None, True), (PermissionError(1, "no"), False)):
            with mock.patch.object(build.mmap, "mmap", side_effect=error) as asked:
                self.assertEqual(build.may_execute(str(folder)), want)
            self.assertTrue(asked.call_args[0][3] & mmap.PROT_EXEC)
        with mock.patch.object(build.mmap, "mmap", side_effect=OSError(12, "no memory")), self.assertRaises(OSError):
            build.may_execute(str(folder))
        self.assertEqual(list(folder.iterdir()), [])

    def test_libraries_from_memory(self):
        folder = folder_of(self)
        (folder / "a.c").write_text("int answer(void) { return 42; }")
        inside, outside = folder / "in/liba.so", folder / "out/liba.so"
        for path in (inside, outside):
            path.parent.mkdir()
            subprocess.run(["cc", "-shared", "-fPIC", "-o", path, folder / "a.c"], check=True)
        origins = []

        def create(_, spec):
            origins.append(spec.origin)
        with mock.patch.object(importlib.machinery.ExtensionFileLoader, "create_module", create):
            for may, prefix in ((False, "/proc/self/fd/"), (True, str(inside.parent))):
                before = ctypes.CDLL.__init__
                with mock.patch.object(build, "may_execute", lambda _, may=may: may), build.libraries_from(str(inside.parent)) as memory:
                    self.assertEqual(memory, not may)
                    self.assertTrue(ctypes.CDLL(str(inside))._name.startswith(prefix))
                    self.assertEqual(ctypes.CDLL(str(inside)).answer(), 42)
                    self.assertEqual(ctypes.CDLL(str(outside))._name, str(outside))
                    self.assertIsNotNone(ctypes.CDLL(None))
                    with self.assertRaises(OSError):
                        ctypes.CDLL(str(inside.parent / "none.so"))
                    spec = importlib.machinery.ModuleSpec("a", None, origin=str(inside))
                    importlib.machinery.ExtensionFileLoader("a", str(inside)).create_module(spec)
                    self.assertEqual(spec.origin, str(inside))
                    self.assertTrue(origins[-1].startswith(prefix), origins)
                self.assertIs(ctypes.CDLL.__init__, before)
                self.assertIs(importlib.machinery.ExtensionFileLoader.create_module, create)


class Extension(unittest.TestCase):
    def test_what_it_must_give(self):
        self.assertEqual(ext.mixed([0, 1, -1, 2], [0, 0, 5, -(1 << 31)]), [0, -1640531535 ^ 1, 1640531535 ^ 7, (2 * 2654435761 - (2 << 31) ^ (1 << 31) + 3) - (1 << 32)])
        a, b = ext.inputs(3)
        self.assertNotEqual(a, b)
        self.assertTrue(all(-(1 << 31) <= x < 1 << 31 for x in a + b + ext.mixed(a, b)))
        self.assertIn(str(ext.FACTOR) + "u", ext.BINDING)
        self.assertIn(str(ext.FACTOR) + "u", ext.KERNEL)

    def test_planted_defects_fail(self):
        want = ext.mixed(*ext.inputs(3))
        self.assertEqual(status(ext.check_mixed, "n", list(want), want), "pass")
        for name, got in {"last": want[:-1] + [0], "first": [1] + want[1:], "less": want[:-1], "more": want + [0], "none": [], "zeros": [0] * len(want),
                          "moved": want[1:] + want[:1], "unsigned": [x & 0xFFFFFFFF for x in want], "inputs": ext.inputs(3)[0],
                          "another seed": ext.mixed(*ext.inputs(4))}.items():
            self.assertEqual(status(ext.check_mixed, "n", got, want), "fail", name)
        self.assertEqual(status(ext.check_mixed, "n", [], []), "fail")

    def test_what_came_of_a_build(self):
        makes = "import os, sys; print(*sys.argv[1:3], os.environ['TORCH_CUDA_ARCH_LIST'])\n"
        writes = "import sysconfig; os.mkdir('built'); open('built/%s' + sysconfig.get_config_var('EXT_SUFFIX'), 'w').close()\n" % ext.NAME
        for text, kernel, built, said in ((makes + writes, True, True, ext.NAME + " kernel 9.0\n"), (makes + writes, False, True, ext.NAME + " plain 9.0\n"),
                                          (makes, True, False, ext.NAME + " kernel 9.0\n"), (makes + writes + "sys.exit(1)", True, False, None),
                                          ("raise RuntimeError('no nvcc')", True, False, None)):
            folder = folder_of(self)
            with mock.patch.object(ext, "SETUP", text):
                path, words = ext.build(str(folder), kernel, "9.0")
            self.assertEqual(bool(path), built, text)
            if said:
                self.assertEqual(words, said)
            self.assertEqual(sorted(each.name for each in folder.iterdir() if each.is_file()), ["binding.cpp", "kernel.cu", "said", "setup.py"])

    def test_when_no_kernel_is_built(self):
        home = folder_of(self)
        script(home / "bin/nvcc", "echo 'Cuda compilation tools, release 12.4, V12.4.131'\n")
        odd = folder_of(self)
        script(odd / "bin/nvcc", "echo what; exit 1\n")

        def why(cuda, nvcc, **opts):
            torch = types.SimpleNamespace(version=types.SimpleNamespace(cuda=cuda))
            return ext.without_kernel(torch, {"--" + name: value for name, value in opts.items()}, nvcc and str(nvcc))[0]
        self.assertEqual(why("12.1", home, compute="9.0"), "")
        self.assertEqual(why(None, home, compute="9.0"), "not_in_cell")
        self.assertEqual(why("12.1", None, compute="9.0"), "no_nvcc")
        self.assertEqual(why("12.1", home / "bin", compute="9.0"), "no_nvcc")
        self.assertEqual(why("13.0", home, compute="9.0"), "not_in_cell")
        self.assertEqual(why("12.1", odd, compute="9.0"), "not_in_cell")
        self.assertEqual(why("12.1", home), "not_in_cell")

    def test_its_gpu_code(self):
        prefix = folder_of(self)
        for answer, compute, want in (('{"fatbin":["sass 9.0","ptx 9.0@8.4"]}', "9.0", "pass"), ('{"fatbin":["sass 7.5","sass 12.0"]}', "12.0", "pass"),
                                      ('{"fatbin":["sass 8.0","ptx 8.0@8.4"]}', "9.0", "fail"), ('{"fatbin":["ptx 9.0@8.4"]}', "9.0", "fail"),
                                      ('{"fatbin":[]}', "9.0", "fail"), ('{"fatbin":["sass 9.0"],"error":"cut short"}', "9.0", "fail"), ("", "9.0", "fail"),
                                      ("nonsense", "9.0", "fail"), ('{}', "9.0", "fail")):
            script(prefix / "bin/suite", "[ \"$1 $2\" = 'fatbin x.so' ] || exit 2\necho '%s'\n" % answer)
            self.assertEqual(status(ext.check_code, "x.so", {"--prefix": str(prefix), "--compute": compute}), want, answer)

    def test_an_image_that_cannot_compile_is_skipped(self):
        env = dict(os.environ, PYTHONPATH=str(SOURCE / "tests/fakes"), CXX="/no/such/g++")
        for name, reason, words in (("torch_ext.py", "no_compiler", "/no/such/g++"), ("torch_compile.py", "not_in_cell", "torch 2.0")):
            got = subprocess.run([sys.executable, "-B", SOURCE / "kernels/python" / name, "--expect-torch", "2.6.0", "--part", "cpu"],
                                 capture_output=True, text=True, env=env)
            line = json.loads(got.stdout)
            self.assertEqual((got.returncode, line["status"], line["reason"]), (77, "skip", reason), line)
            self.assertIn(words, line["summary"])

    def test_an_image_without_setuptools_is_skipped(self):
        with mock.patch.object(build, "absent_tool", lambda: ""), mock.patch.object(ext.importlib.util, "find_spec", lambda _: None):
            with self.assertRaises(Skip) as skip:
                ext.body(Record("torch.ext", "cpu"), None, {}, "cpu")
        self.assertEqual((skip.exception.reason, "setuptools" in str(skip.exception)), ("no_compiler", True))


class Compiled(unittest.TestCase):
    def test_equal_to_eager(self):
        want = {"output": [1.0, -2.0, 3.0], "w": [0.5]}
        self.assertEqual(status(compare.check_compiled, {"output": [1.0, -2.0, 3.001], "w": [0.5]}, want), "pass")
        for got in ({}, {"output": want["output"]}, dict(want, b=[1.0]), dict(want, output=[1.0, -2.0, 3.01]), dict(want, output=[1.0, -2.0]),
                    dict(want, w=[math.nan]), dict(want, w=[0.0]), dict(want, w=[-0.5]), dict(want, output=[0.0] * 3), dict(want, output=[])):
            self.assertEqual(status(compare.check_compiled, got, want), "fail", got)
        self.assertEqual(status(compare.check_compiled, {}, {}), "fail")
        self.assertEqual(status(compare.check_compiled, {"w": [0.0]}, {"w": [0.0]}), "fail")

    def compiled(self, compiler, kernels):
        """With a torch whose compiler is this function of (backend), and that says it made so many kernels."""
        metrics = types.SimpleNamespace(generated_kernel_count=5)

        def compile_fx(graph, _):
            metrics.generated_kernel_count += kernels
            return graph
        torch = types.SimpleNamespace(compile=lambda net, backend, fullgraph: compiler(backend))
        modules = {"torch": torch, "torch._inductor": types.SimpleNamespace(metrics=metrics),
                   "torch._inductor.compile_fx": types.SimpleNamespace(compile_fx=compile_fx)}
        record = Record("torch.compile", "cpu")
        with mock.patch.dict(sys.modules, modules), mock.patch.object(torch_compile, "results", lambda *_: {"output": [1.0]}):
            return torch_compile.compiled_results(record, torch, None, None), record.judge("")

    def test_what_the_compiler_did(self):
        got, line = self.compiled(lambda backend: backend("graph", []), 3)
        self.assertEqual((got, line["status"], line["evidence"]["kernels"]), ({"output": [1.0]}, "pass", 3))
        for compiler, kernels in ((lambda backend: None, 0), (lambda backend: None, 3), (lambda backend: backend("graph", []), 0),
                                  (lambda backend: (backend("one", []), backend("two", [])), 3)):
            self.assertEqual(self.compiled(compiler, kernels)[1]["status"], "fail")

        def raises(error):
            def compiler(_):
                raise error
            return compiler
        got, line = self.compiled(raises(RuntimeError("backend='inductor' raised:\nCppCompileError: C++ compile error\n")), 0)
        self.assertEqual((got, line["status"], line["summary"]), (None, "fail", "compiles: CppCompileError: C++ compile error"))
        _, line = self.compiled(raises(ValueError("ptxas fatal : Value 'sm_121' is not defined for option 'gpu-name'")), 0)
        self.assertEqual(line["fault"], "F10")
        for words in ("Dynamo is not supported on Python 3.12+", "Python 3.11+ not yet supported on Python 3.11", "torch.compile is not supported on Python 3.14+"):
            with self.assertRaises(Skip) as skip:
                self.compiled(raises(RuntimeError(words)), 0)
            self.assertEqual(skip.exception.reason, "not_in_cell")

    def prerequisites(self, torch, device, absent="", triton=True, demanded=None):
        record = Record("torch.compile", "gpu")
        with mock.patch.object(build, "absent_tool", lambda *_: absent), mock.patch.object(torch_compile, "demanded_packages", lambda _: demanded or {}), \
                mock.patch.object(torch_compile.importlib.util, "find_spec", lambda _: triton or None):
            try:
                torch_compile.prerequisites(record, torch, device)
            except Skip as skip:
                return record.reason or skip.reason
        return record.reason

    def test_what_it_needs(self):
        def torch(major, minor):
            return types.SimpleNamespace(compile=None, cuda=types.SimpleNamespace(get_device_capability=lambda _: (major, minor)))
        self.assertEqual(self.prerequisites(torch(7, 0), "cuda"), "")
        self.assertEqual(self.prerequisites(torch(6, 1), "cuda"), "cc_too_low")
        self.assertEqual(self.prerequisites(torch(6, 1), "cpu"), "")
        self.assertEqual(self.prerequisites(types.SimpleNamespace(), "cpu"), "not_in_cell")
        for device in ("cpu", "cuda"):
            self.assertEqual(self.prerequisites(torch(9, 0), device, absent="no Python.h"), "no_compiler")
        self.assertEqual(self.prerequisites(torch(9, 0), "cuda", triton=False), "not_in_cell")
        self.assertEqual(self.prerequisites(torch(9, 0), "cuda", triton=False, demanded={"triton": ("==3.1", None)}), "lib_absent")
        self.assertEqual(self.prerequisites(torch(9, 0), "cpu", triton=False), "")


if __name__ == "__main__":
    unittest.main()

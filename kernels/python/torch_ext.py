"""torch.ext: can an extension of torch be built in the image, and does it compute?

torch.utils.cpp_extension builds C++ and, with an nvcc of torch's CUDA major, a kernel for the cell's compute capability. What
was built is loaded with every symbol resolved; its GPU code is listed, and what it computes is compared exactly.
"""
import importlib.machinery
import importlib.util
import os
import random
import subprocess
import sys
import sysconfig
import tempfile

import torch_build
from suite_record import Skip, run, seed_of
from torch_arch import code_in, code_text

LENGTH = 100003
FACTOR = 2654435761
NAME = "cudamatrix_extension"

BINDING = r"""
#include <ATen/ATen.h>
#include <torch/csrc/utils/pybind.h>

#include <cstdint>

namespace {
at::Tensor mix(at::Tensor a, at::Tensor b) {
    TORCH_CHECK(a.is_contiguous() && b.is_contiguous() && a.numel() == b.numel() && a.scalar_type() == at::kInt, "two contiguous int32");
    at::Tensor out = at::empty_like(a);
    const auto* x = a.data_ptr<std::int32_t>();
    const auto* y = b.data_ptr<std::int32_t>();
    auto* z = out.data_ptr<std::int32_t>();
    for (std::int64_t i = 0; i < a.numel(); ++i) {
        z[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(x[i]) * 2654435761u ^ (static_cast<std::uint32_t>(y[i]) + static_cast<std::uint32_t>(i)));
    }
    return out;
}
}  // namespace

#ifdef WITH_KERNEL
at::Tensor mix_on_gpu(at::Tensor a, at::Tensor b);
#endif

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
    module.def("mix", &mix);
#ifdef WITH_KERNEL
    module.def("mix_on_gpu", &mix_on_gpu);
#endif
}
"""

KERNEL = r"""
#include <ATen/ATen.h>
#include <c10/cuda/CUDAStream.h>

#include <cstdint>

__global__ void cudamatrix_mix(const std::int32_t* x, const std::int32_t* y, std::int32_t* z, std::int64_t n) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        z[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(x[i]) * 2654435761u ^ (static_cast<std::uint32_t>(y[i]) + static_cast<std::uint32_t>(i)));
    }
}

at::Tensor mix_on_gpu(at::Tensor a, at::Tensor b) {
    at::Tensor out = at::zeros_like(a);
    const std::int64_t n = a.numel();
    cudamatrix_mix<<<static_cast<unsigned>((n + 255) / 256), 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
        a.data_ptr<std::int32_t>(), b.data_ptr<std::int32_t>(), out.data_ptr<std::int32_t>(), n);
    return out;
}
"""

SETUP = """
import sys
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension, CUDAExtension
name, kernel = sys.argv.pop(1), sys.argv.pop(1) == "kernel"
# What compiles fastest: it is about headers and symbols, not about speed.
flags = {"cxx": ["-O0", "-g0"], "nvcc": ["-O0"]}
extension = (CUDAExtension(name, ["binding.cpp", "kernel.cu"], define_macros=[("WITH_KERNEL", "1")], extra_compile_args=flags) if kernel
             else CppExtension(name, ["binding.cpp"], extra_compile_args=flags["cxx"]))
setup(name=name, version="1", ext_modules=[extension], cmdclass={"build_ext": BuildExtension.with_options(use_ninja=False)})
"""


def inputs(seed):
    source = random.Random(seed)
    return [[source.randint(-(1 << 31), (1 << 31) - 1) for _ in range(LENGTH)] for _ in range(2)]


def mixed(a, b):
    """What the extension must give."""
    out = [(x * FACTOR & 0xFFFFFFFF) ^ (y + i & 0xFFFFFFFF) for i, (x, y) in enumerate(zip(a, b))]
    return [word - (1 << 32) if word >> 31 else word for word in out]


def check_mixed(record, name, got, want):
    wrong = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), None)
    record.check(name, got == want and bool(want), "%d numbers, not %d" % (len(got), len(want)) if wrong is None else
                 "number %d is %d, not %d" % (wrong, got[wrong], want[wrong]))


def build(folder, kernel, compute):
    """(path of what was built or "", what was said)."""
    for name, text in (("binding.cpp", BINDING), ("kernel.cu", KERNEL), ("setup.py", SETUP)):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    env = dict(os.environ, MAX_JOBS="2", TORCH_CUDA_ARCH_LIST=compute)
    command = [sys.executable, "-B", "setup.py", NAME, "kernel" if kernel else "plain", "build_ext", "--build-lib", "built", "--build-temp", "made"]
    with open(os.path.join(folder, "said"), "w+b") as said:
        code = subprocess.run(command, cwd=folder, env=env, stdout=said, stderr=subprocess.STDOUT, check=False).returncode
        said.seek(0)
        words = said.read().decode(errors="replace")
    path = os.path.join(folder, "built", NAME + sysconfig.get_config_var("EXT_SUFFIX"))
    return (path if code == 0 and os.path.isfile(path) else ""), words


def without_kernel(torch, opts, home):
    """Why no GPU code is built: reason of a skip, sentence. Empty texts when it is."""
    if not torch.version.cuda:
        return "not_in_cell", "the cell's torch is built without CUDA"
    nvcc = os.path.join(home or "", "bin", "nvcc")
    if not home or not os.path.isfile(nvcc):
        return "no_nvcc", "the image has no nvcc where torch looks for it (CUDA_HOME, PATH, /usr/local/cuda)"
    said = subprocess.run([nvcc, "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout.decode(errors="replace")
    release = said.partition(", V")[2].split("\n")[0]
    if release.split(".")[0] != torch.version.cuda.split(".")[0]:
        return "not_in_cell", "torch for CUDA %s builds nothing with nvcc %s: by its own rule the majors must agree" % (torch.version.cuda, release or "?")
    if not opts.get("--compute"):
        return "not_in_cell", "no compute capability is asked for"
    return "", ""


def check_code(record, path, opts):
    """The GPU code in what was built."""
    found, error = code_in(path, opts)
    record.evidence["fatbin"] = found
    major, minor = map(int, opts["--compute"].split("."))
    wanted = code_text(("sass", major, minor, ""))
    record.check("compute capability", not error and wanted in {line.split("@")[0] for line in found},
                 error or "it holds %s, the cell needs %s" % (", ".join(found) or "no GPU code", wanted), "no_road", "F10")


def loaded(path):
    loader = importlib.machinery.ExtensionFileLoader(NAME, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_file_location(NAME, path, loader=loader))
    loader.exec_module(module)
    return module


def tensors(torch, seed, device):
    return [torch.tensor(values, dtype=torch.int32).to(device) for values in inputs(seed)]


def body(record, torch, opts, device):
    absent = torch_build.absent_tool()
    if not absent and importlib.util.find_spec("setuptools") is None:
        absent = "the image has no setuptools, which torch.utils.cpp_extension needs"
    if absent:
        raise Skip("no_compiler", absent)
    from torch.utils.cpp_extension import CUDA_HOME

    reason, why = without_kernel(torch, opts, CUDA_HOME)
    if reason and device == "cuda":
        raise Skip(reason, why)
    record.evidence["gpu_code"] = "not built: " + why if reason else "built for %s by the nvcc in %s" % (opts["--compute"], CUDA_HOME)
    seed = seed_of(opts)
    record.evidence["seed"] = seed
    with tempfile.TemporaryDirectory() as folder:
        path, said = build(folder, not reason, opts.get("--compute", ""))
        if not record.check("build", bool(path), torch_build.error_line(said), *torch_build.build_fault(said)):
            return ""
        if not reason:
            check_code(record, path, opts)
        sys.setdlopenflags(os.RTLD_NOW | os.RTLD_LOCAL)
        with torch_build.libraries_from(folder) as memory:
            record.evidence["loaded_from"] = "memory: nothing in the folder for temporary files may be executed" if memory else "file"
            try:
                module = loaded(path)
            except ImportError as error:
                record.check("import", False, str(error), "import_failed")
                return ""
    want = mixed(*inputs(seed))
    if device == "cuda":
        check_mixed(record, "kernel", module.mix_on_gpu(*tensors(torch, seed, device)).to("cpu").tolist(), want)
    else:
        check_mixed(record, "C++", module.mix(*tensors(torch, seed, device)).tolist(), want)
        if not reason:
            record.check("kernel is there", callable(getattr(module, "mix_on_gpu", None)), "the module has no mix_on_gpu")
    return "%s: %d numbers are exact%s" % (device, LENGTH, "" if reason else ", with GPU code for " + opts["--compute"])


if __name__ == "__main__":
    sys.exit(run("torch.ext", sys.argv[1:], body))

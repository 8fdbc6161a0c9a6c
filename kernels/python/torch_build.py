"""What torch.ext and torch.compile share: whether an image can compile at all, whose fault it is when it does not, and how
what was compiled is loaded where /tmp may not be executed, as in the runs of `cudamatrix test`."""
import contextlib
import ctypes
import importlib.machinery
import mmap
import os
import shutil
import sysconfig
import tempfile


def absent_tool(variable="CXX", names=("g++", "c++", "clang++")):
    """What the image lacks for compiling what python loads, as a sentence; "" when all is there."""
    asked = os.environ.get(variable, "").split()
    wanted = asked[:1] or list(names)
    if not any(map(shutil.which, wanted)):
        return "the image has no compiler (%s)" % ", ".join(wanted)
    header = os.path.join(sysconfig.get_paths()["include"], "Python.h")
    if not os.path.isfile(header):
        return "the image has no %s: it is in python's package for developers" % header
    return ""


def build_fault(text):
    """(reason, fault, hint) by the compilers' words, as kernels/build/nvcc_text.hpp has them, and torch's own."""
    def has(*words):
        return any(word in text for word in words)
    if has("Unsupported gpu architecture", "Unknown CUDA arch", "is not defined for option 'gpu-name'"):
        return "unsupported_arch", "F10", "this compiler, or this torch, does not know the compute capability"
    if has("unsupported GNU version", "unsupported clang version", "Failed to preprocess host compiler properties", "than the maximum required version",
           "than the minimum required version"):
        return "host_compiler", "F21", "nvcc does not take the image's host compiler: give another one by CXX and NVCC_PREPEND_FLAGS=-ccbin"
    return "build_failed", "", ""


def error_line(text):
    """The first line that tells of an error, or the last of all."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    telling = [line for line in lines if "fatal" in line or "error:" in line or "Error:" in line]
    return (telling or lines[-1:] or ["no word of why"])[0][:400]


def may_execute(folder):
    """Whether code in a file of this folder may be mapped."""
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        file.write(b"\0" * mmap.PAGESIZE)
        file.flush()
        try:
            mmap.mmap(file.fileno(), mmap.PAGESIZE, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC).close()
        except PermissionError:
            return False
    return True


def in_memory(path):
    """The file once more, in memory, under a name that the loader takes. It stays there until the process ends."""
    file = os.memfd_create(os.path.basename(path))
    with open(path, "rb") as source, os.fdopen(os.dup(file), "wb") as copy:
        shutil.copyfileobj(source, copy)
    return "/proc/self/fd/%d" % file


@contextlib.contextmanager
def libraries_from(folder):
    """Within: libraries below this folder load although its file system forbids it. Gives whether that was needed."""
    if may_execute(folder):
        yield False
        return
    below = os.path.realpath(folder) + os.sep
    real_init, real_create = ctypes.CDLL.__init__, importlib.machinery.ExtensionFileLoader.create_module

    def place(path):
        return in_memory(path) if isinstance(path, str) and os.path.realpath(path).startswith(below) else path

    def init(self, name, *rest, **more):
        real_init(self, place(name), *rest, **more)

    def create(self, spec):
        spec.origin, own = place(spec.origin), spec.origin
        try:
            return real_create(self, spec)
        finally:
            spec.origin = own

    ctypes.CDLL.__init__, importlib.machinery.ExtensionFileLoader.create_module = init, create
    try:
        yield True
    finally:
        ctypes.CDLL.__init__, importlib.machinery.ExtensionFileLoader.create_module = real_init, real_create

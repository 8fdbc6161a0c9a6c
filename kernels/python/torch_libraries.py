"""lib.cublas ... lib.nccl: do the CUDA libraries that torch brings load whole, are they what their packages say, and right?

Part "load" is without a GPU: the files of a library load with every symbol resolved, it says its own version, and what can be
computed without a GPU is. torch is not imported: what it would have loaded before cannot hide what is missing. Parts "gpu" and
"cpu" compute: torch_operators.py and torch_reduce.py, and what follows for cuRAND, which torch does not call.
"""
import ctypes
import importlib.util
import os
import re
import sys

import torch_operators
import torch_reduce
from suite_record import Record, Skip, options, run, said, seed_of, write
from torch_arch import demanded_packages

# Of each library (libcublas, whose functions are cublas...): what else its package has.
BESIDE = {"cublas": ["libcublasLt"], "cudnn": [r"libcudnn_\w+"], "cufft": ["libcufftw"], "cusparse": [], "cusolver": ["libcusolverMg"],
          "curand": [], "nccl": []}
WANTED = r"nvidia-%s(-cu\d+)?"  # its package
MISSING = re.compile(r"(lib[^\s:]+): cannot open shared object file")
MOST = 32  # libraries that one may need


def torch_folder():
    """Where torch lies, without importing it; "" where it does not."""
    spec = importlib.util.find_spec("torch")
    return spec.submodule_search_locations[0] if spec and spec.submodule_search_locations else ""


def packages():
    """NVIDIA's packages: {name: (version, paths of its files)}."""
    from importlib import metadata

    found = {}
    for one in metadata.distributions():
        name = re.sub(r"[-_.]+", "-", one.metadata["Name"] or "").lower()
        if name.startswith("nvidia-"):
            found[name] = one.version, [os.path.realpath(str(path.locate())) for path in one.files or []]
    return found


def absent_package(name):
    """The package that torch demands for the library and that is not installed, or ""."""
    from importlib import metadata

    try:
        packages_of_torch = demanded_packages(metadata)
    except (ImportError, metadata.PackageNotFoundError):
        return ""  # a distribution's own torch has no wheel metadata
    return next((one for one, (_, version) in sorted(packages_of_torch.items()) if re.fullmatch(name, one) and version is None), "")


def of(stem, paths):
    """libcublas.so.12, and libcublas-1b2c3d4e.so.11 as wheels of torch rename it."""
    return sorted(path for path in set(paths)
                  if re.fullmatch(stem + r"(-[0-9a-f]{8})?\.so(\.\d+)*", os.path.basename(path)) and os.path.isfile(path))


def find(library, wanted, torch, installed):
    """Who brings the library, its version there ("": unsaid), and its files."""
    name = next((name for name in sorted(installed) if re.fullmatch(wanted, name)), "")
    version, files = installed.get(name, ("", []))
    if not name:
        folder = os.path.join(torch, "lib")
        name, files = "torch", [os.path.join(folder, file) for file in os.listdir(folder)] if os.path.isdir(folder) else []
    return name, version, [path for stem in ["lib" + library] + BESIDE[library] for path in of(stem, files)]


class Loader:
    """Loads as torch does: what a library's own run path does not lead to comes from the other packages."""

    def __init__(self, torch, installed):
        files = [path for _, paths in installed.values() for path in paths if re.search(r"\.so(\.\d+)*$", path)]
        self.folders = sorted({os.path.dirname(path) for path in files}) + [os.path.join(torch, "lib")]
        self.helped = []  # what was loaded for another one

    def load(self, path, scope=os.RTLD_LOCAL):
        while True:
            try:
                return ctypes.CDLL(path, mode=os.RTLD_NOW | scope)
            except OSError as error:
                missing = MISSING.search(str(error))
                near = [os.path.join(folder, missing.group(1)) for folder in self.folders] if missing else []
                near = [each for each in near if os.path.isfile(each) and each not in self.helped]
                if not near or len(self.helped) == MOST:
                    raise
                self.helped.append(near[0])
                self.load(near[0], os.RTLD_GLOBAL)


def own_version(library, prefix):
    """As the library says it: "12.4.5"."""
    number = ctypes.c_int(-1)
    if prefix == "nccl":  # 22105, and 2708 before 2.9
        status = library.ncclGetVersion(ctypes.byref(number))
        scale = 10000 if number.value >= 10000 else 1000
        parts = [number.value // scale, number.value % scale // 100, number.value % 100]
        return "" if status else ".".join(map(str, parts))
    parts = []
    for which in range(3):  # libraryPropertyType: major, minor, patch
        if getattr(library, prefix + "GetProperty")(which, ctypes.byref(number)):
            return ""
        parts.append(str(number.value))
    return ".".join(parts)


def philox(counter, key):
    """Philox4x32-10 (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011)."""
    mask = 0xFFFFFFFF
    (a, b, c, d), (k, m) = counter, key
    for _ in range(10):
        first, second = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = second >> 32 ^ b ^ k, second & mask, first >> 32 ^ d ^ m, first & mask
        k, m = k + 0x9E3779B9 & mask, m + 0xBB67AE85 & mask
    return a, b, c, d


def check_curand(record, library, seed, memory=None, create="curandCreateGeneratorHost"):
    """Random numbers: cuRAND's order takes one block of each subsequence, the counter's third word. NVIDIA documents that the
    device's generator gives those of the host's. `memory`: (address for so many words, what reads them) of that device."""
    blocks = 1024
    own = (ctypes.c_uint * (4 * blocks))()
    address, read = memory(len(own)) if memory else (ctypes.addressof(own), lambda: list(own))
    generator = ctypes.c_void_p()
    status = getattr(library, create)(ctypes.byref(generator), 161)  # CURAND_RNG_PSEUDO_PHILOX4_32_10
    status = status or library.curandSetPseudoRandomGeneratorSeed(generator, ctypes.c_ulonglong(seed))
    status = status or library.curandGenerate(generator, ctypes.c_void_p(address), ctypes.c_size_t(len(own)))
    got = read()
    library.curandDestroyGenerator(generator)
    want = [word for block in range(blocks) for word in philox((0, 0, block, 0), (seed & 0xFFFFFFFF, seed >> 32))]
    wrong = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), None)
    record.check("Philox numbers", status == 0 and len(got) == len(want) and wrong is None,
                 "its status is %d" % status if status else "number %s is not that of Philox4x32-10" % wrong)


def curand_body(record, torch, opts, device):
    """The same numbers in torch's memory: on a GPU by the device's generator."""
    folder, installed = torch_folder(), packages()
    _, _, paths = find("curand", WANTED % "curand", folder, installed)
    if not paths:
        raise Skip("not_in_cell", "torch has no cuRAND of its own")
    seed = seed_of(opts)
    record.evidence["seed"] = seed

    def memory(count):
        words = torch.zeros(count, dtype=torch.int32).to(device)

        def read():
            if device == "cuda":
                torch.cuda.synchronize()
            return [word & 0xFFFFFFFF for word in words.to("cpu").tolist()]
        if device == "cuda":
            torch.cuda.synchronize()
        return words.data_ptr(), read

    check_curand(record, Loader(folder, installed).load(paths[0]), seed, memory,
                 "curandCreateGenerator" if device == "cuda" else "curandCreateGeneratorHost")
    return device + ": 4096 numbers of Philox4x32-10"


def check_cudnn(record, library, seed):
    """The room that a tensor takes, by its strides: the first call of every program that uses cuDNN."""
    sizes = [1 + (seed >> 3 * i) % 7 for i in range(4)]
    tensor, room = ctypes.c_void_p(), ctypes.c_size_t()
    status = library.cudnnCreateTensorDescriptor(ctypes.byref(tensor))
    status = status or library.cudnnSetTensor4dDescriptor(tensor, 0, 0, *sizes)  # NCHW, float
    status = status or library.cudnnGetTensorSizeInBytes(tensor, ctypes.byref(room))
    library.cudnnDestroyTensorDescriptor(tensor)
    want = 4 * sizes[0] * sizes[1] * sizes[2] * sizes[3]
    record.check("room of a tensor", status == 0 and room.value == want,
                 "its status is %d" % status if status else "%d bytes for %s floats" % (room.value, "x".join(map(str, sizes))))


def check(record, test, opts):
    """The summary of a pass, or None where torch has no such library of its own."""
    torch, installed = torch_folder(), packages()
    if not record.check("torch", bool(torch), "the cell promises torch, and there is none", "lib_absent", "F11"):
        return ""
    prefix = test.partition(".")[2]
    wanted = WANTED % prefix
    absent = absent_package(wanted)
    if not record.check("package", not absent, "torch needs %s, which is not installed" % absent, "lib_absent", "F11"):
        return ""
    name, version, paths = find(prefix, wanted, torch, installed)
    first = next(iter(of("lib" + prefix, paths)), "")
    if name == "torch" and not first:
        return None
    record.evidence.update({"package": name, "package_version": version, "files": [os.path.basename(path) for path in paths]})
    if not record.check("file", bool(first), "%s %s is installed, its library is not there" % (name, version), "lib_absent", "F11"):
        return ""
    loader = Loader(torch, installed)
    loaded = {}
    for path in paths:
        try:
            loaded[path] = loader.load(path)
        except OSError as error:
            record.check("load " + os.path.basename(path), False, said(error), "lib_absent", "F11")
    if loader.helped:
        record.evidence["loaded_before"] = [os.path.basename(path) for path in loader.helped]
    if record.reason:
        return ""
    own = own_version(loaded[first], prefix)
    record.evidence["version"] = own
    record.check("version", bool(own) and (not version or version.split(".")[:3] == own.split(".")),
                 "%s is %s, the library says %s" % (name, version, own or "nothing"), "wrong_version", "F11",
                 "look at LD_LIBRARY_PATH and at a second CUDA in the image")
    seed = seed_of(opts)
    if prefix in ("curand", "cudnn"):
        record.evidence["seed"] = seed
        (check_curand if prefix == "curand" else check_cudnn)(record, loaded[first], seed)
    return "%s %s of %s, %d file%s" % (prefix, own, name, len(paths), "s" if len(paths) > 1 else "")


def main(argv):
    opts = options(argv)
    fd = int(opts.get("--record-fd", "1"))
    test = opts.get("--test", "")
    if opts.get("--part", "load") != "load":
        bodies = {"lib.curand": curand_body, "lib.nccl": torch_reduce.body}
        return run(test, argv, bodies.get(test, torch_operators.body))
    record = Record(test, "load")
    if not opts.get("--expect-torch"):
        return write(fd, record.skip("not_in_cell", "the cell promises no torch"))
    try:
        summary = check(record, test, opts)
    except Exception as error:  # a function that the library lacks, for one
        record.check("runs", False, said(error), "exception")
        summary = ""
    if summary is None:
        return write(fd, record.skip("not_in_cell", "torch has none of its own: it is built without it, has it linked in, or takes the image's"))
    return write(fd, record.judge(summary))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""torch.arch: does the image's torch fit the cell?

Checks, without needing a GPU: the version that was promised, the CUDA it was built for, code for the cell's compute
capability, and that the libraries in the process come from the packages that torch pins. Writes one record on the
descriptor given by --record-fd. Exit codes: 0 pass, 1 fail, 3 error, 77 skip.
"""
import json
import os
import re
import subprocess
import sys

from suite_record import Record, import_torch, options, write


def parse_target(text):
    """'sm_90a' -> ('sass', 9, 0, 'a'); 'compute_120' -> ('ptx', 12, 0, ''); None for anything else."""
    match = re.fullmatch(r"(sm|compute)_(\d+)(\d)([af]?)", text)
    if not match:
        return None
    kind = "sass" if match.group(1) == "sm" else "ptx"
    return kind, int(match.group(2)), int(match.group(3)), match.group(4)


def code_text(target):
    return "%s %d.%d%s" % target


# Devices of the Tegra line run no SASS but their own, and theirs runs nowhere else.
TEGRA = {(3, 2), (5, 3), (6, 2), (7, 2), (8, 7), (10, 1), (11, 0)}


def sass_runs(target, device):
    _, major, minor, variant = target
    if (major, minor) == device:
        return True
    if variant == "a" or major != device[0] or minor > device[1]:
        return False
    return (major, minor) not in TEGRA and device not in TEGRA


def code_path(targets, compute):
    """The path on which code for `targets` runs on a device; '' for none. Whether the driver knows the PTX ISA is judged
    by static.fatbin, which sees the ISA."""
    device = tuple(int(part) for part in compute.split("."))
    sass = sorted((t for t in targets if t[0] == "sass" and sass_runs(t, device)), key=lambda t: t[1:3])
    if sass:
        best = sass[-1]
        exact = best[1:3] == device
        return code_text(best) + ("" if exact else " (same major) for " + compute)
    ptx = [t for t in targets if t[0] == "ptx"]
    fits = [t for t in ptx if (sass_runs(t, device) if t[3] else t[1:3] <= device)]
    if fits:
        return code_text(max(fits, key=lambda t: t[1:3])) + " via JIT"
    return ""


def same_version(found, promised):
    """The local part (+cu124) counts only when it is promised."""
    if "+" not in promised:
        found = found.split("+")[0]
    return found == promised


def major_minor(version):
    return ".".join((version or "").split(".")[:2])


def check_versions(record, torch, opts):
    promised = opts.get("--expect-torch", "")
    record.check("torch_version", same_version(torch.__version__, promised),
                 "the cell promises torch %s, the image has %s" % (promised, torch.__version__), "wrong_version", "F23")
    built_for = torch.version.cuda or ""
    record.evidence["torch"] = torch.__version__
    record.evidence["torch_cuda"] = built_for
    promised_cuda = opts.get("--expect-torch-cuda", "")
    if promised_cuda:
        record.check("torch_cuda", major_minor(built_for) == major_minor(promised_cuda),
                     "the cell promises torch for CUDA %s, this one is for %s" % (promised_cuda, built_for or "CPU only"),
                     "wrong_cuda", "F23")


def arch_flags(torch):
    flags = getattr(torch._C, "_cuda_getArchFlags", None)  # get_arch_list() answers [] without a GPU
    return (flags() or "").split() if flags else []


def check_arch(record, torch, opts):
    flags = arch_flags(torch)
    targets = [target for target in map(parse_target, flags) if target]
    record.evidence["arch_flags"] = flags
    record.check("arch_flags_known", len(targets) == len(flags) and flags,
                 "torch lists %s" % (" ".join(flags) or "no architecture"), "no_cuda", "F23")
    compute = opts.get("--compute", "")
    if compute and targets:
        way = code_path(targets, compute)
        record.evidence["code_path"] = way or "none"
        record.check("compute_capability", bool(way),
                     "torch is built for %s, the cell needs %s" % (", ".join(map(code_text, targets)), compute),
                     "no_road", "F23", "choose a torch or a variant that ships this compute capability")
    return targets


def code_in(path, opts):
    """(the device code in a file as `suite fatbin` lists it, why it cannot be read or "")."""
    suite = os.path.join(opts.get("--prefix", ""), "bin", "suite")
    result = subprocess.run([suite, "fatbin", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    try:
        facts = json.loads(result.stdout.decode())
    except ValueError:
        facts = {"error": "suite fatbin: " + result.stderr.decode(errors="replace").strip()}
    return facts.get("fatbin", []), facts.get("error", "")


def check_binary(record, torch, opts, targets):
    """The device code that really lies in torch's library, against what torch says about itself."""
    library = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cuda.so")
    if not os.path.isfile(library):
        record.check("libtorch_cuda", False, library + " is missing", "lib_absent", "F11")
        return
    found, error = code_in(library, opts)
    record.evidence["libtorch_cuda"] = {"path": library, "fatbin": found}
    record.check("libtorch_cuda_readable", not error, error, "fatbin", "F6")
    plain = {line.split("@")[0].rstrip("af") for line in found}
    missing = [code_text(t) for t in targets if code_text(t).rstrip("af") not in plain]
    record.check("libtorch_cuda_code", not missing, "torch names %s, its library lacks it" % ", ".join(missing),
                 "fatbin", "F6")


def demanded_packages(metadata):
    """What torch demands of NVIDIA's packages and triton here, also through extras of cuda-toolkit: {name: (demand, installed or None)},
    a demand as "==13.4.1.3.*"."""
    try:
        from packaging.requirements import Requirement
    except ImportError:
        from pip._vendor.packaging.requirements import Requirement
    found = {}
    asked = [("torch", "")]
    for package, extra in asked:  # grows
        try:
            requires = metadata.requires(package) or []
        except metadata.PackageNotFoundError:
            if package == "torch":
                raise
            requires = []  # that it is absent is told where it was demanded
        for requirement in map(Requirement, requires):
            if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
                continue
            if not re.match(r"nvidia-|triton|pytorch-triton|cuda-toolkit", requirement.name):
                continue
            found[requirement.name] = requirement.specifier & found.get(requirement.name, requirement.specifier)
            asked += [one for one in ((requirement.name, each) for each in requirement.extras) if one not in asked]
    return {name: (demand, installed_version(metadata, name)) for name, demand in found.items()}


def installed_version(metadata, name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def loaded_libraries():
    paths = set()
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            parts = line.rstrip("\n").split(None, 5)
            if len(parts) == 6 and re.search(r"/lib(cu|nv|nccl)[^/]*\.so", parts[5]):
                paths.add(parts[5])
    return sorted(paths)


def check_packages(record, torch):
    from importlib import metadata

    try:
        packages = demanded_packages(metadata)
    except (ImportError, metadata.PackageNotFoundError) as error:
        # A distribution's own torch has no wheel metadata: there is nothing to compare with, which is said.
        record.evidence["packages"] = "not compared: %s" % error
        return
    record.evidence["packages"] = {name: installed for name, (_, installed) in sorted(packages.items())}
    wrong = ["%s %s is demanded, %s is installed" % (name, demand, installed or "none")
             for name, (demand, installed) in sorted(packages.items())
             if installed is None or not demand.contains(installed, prereleases=True)]
    record.check("demanded_packages", not wrong, "; ".join(wrong), "wrong_version", "F11")

    owned = set()
    for name, (_, installed) in packages.items():
        if installed is not None:
            for path in metadata.files(name) or []:
                owned.add(os.path.realpath(str(path.locate())))
    torch_lib = os.path.realpath(os.path.join(os.path.dirname(torch.__file__), "lib")) + os.sep
    paths = loaded_libraries()
    record.evidence["libraries"] = paths
    if owned:
        # libcuda and its companions belong to the driver, not to a package.
        foreign = [path for path in paths
                   if os.path.realpath(path) not in owned and not os.path.realpath(path).startswith(torch_lib)
                   and not re.search(r"/lib(cuda|nvidia)[-.]", path)]
        record.check("libraries_from_packages", not foreign, "not from torch's packages: " + ", ".join(foreign),
                     "shadowed_library", "F11", "look at LD_LIBRARY_PATH and at a second CUDA in the image")


def main(argv):
    opts = options(argv)
    fd = int(opts.get("--record-fd", "1"))
    record = Record("torch.arch", "load")
    if not opts.get("--expect-torch"):
        return write(fd, record.skip("not_in_cell", "the cell promises no torch"))
    torch = import_torch(record)
    if torch is None:
        return write(fd, record.judge(""))
    check_versions(record, torch, opts)
    targets = check_arch(record, torch, opts)
    check_binary(record, torch, opts, targets)
    check_packages(record, torch)
    return write(fd, record.judge("torch %s: %s" % (record.evidence["torch"],
                                                    record.evidence.get("code_path", "no capability asked for"))))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

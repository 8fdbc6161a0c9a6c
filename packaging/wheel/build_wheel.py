#!/usr/bin/env python3
"""Packs a static cudamatrix as a wheel: the program, its pages and its completion, no python. The same input gives the same bytes
(times are SOURCE_DATE_EPOCH, else 1980). Usage: build_wheel.py ROOT ARCH OUT_DIR   ROOT is what `cmake --install --prefix ROOT` wrote."""
import base64
import hashlib
import os
import pathlib
import re
import struct
import sys
import time
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
HOMEPAGE = os.environ.get("CUDAMATRIX_HOMEPAGE", "https://github.com/OWNER/cudamatrix")
# Static: it asks for no C library. The oldest systems that pip has names for.
PLATFORMS = ("manylinux2014_{}", "manylinux_2_17_{}", "musllinux_1_1_{}")
# Where the wheel puts what is installed elsewhere.
PLACES = {
    "bin/cudamatrix": "scripts/cudamatrix",
    "share/man/man1/": "data/share/man/man1/",
    "share/bash-completion/completions/": "data/share/bash-completion/completions/",
    "share/zsh/vendor-completions/": "data/share/zsh/site-functions/",
    "share/fish/vendor_completions.d/": "data/share/fish/vendor_completions.d/",
    "share/doc/cudamatrix/LICENSE": None,
    "share/doc/cudamatrix/THIRD-PARTY-LICENSES": None,
}


def version():
    return re.search(r"project\(cudamatrix VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8"))[1]


def metadata(release):
    about = (SOURCE / "README.md").read_text(encoding="utf-8")
    return f"""Metadata-Version: 2.1
Name: cudamatrix
Version: {release}
Summary: Judge, render, build and prove matrices of GPU base images
Home-page: {HOMEPAGE}
License: Apache-2.0
Classifier: Environment :: Console
Classifier: Environment :: GPU :: NVIDIA CUDA
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C++
Requires-Python: >=3.6
Description-Content-Type: text/markdown

{about}"""


def installed(root):
    """What the wheel takes of ROOT: name below the wheel's own folders (None: a license), path."""
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        for place, target in PLACES.items():
            if path.is_file() and (name == place or (place.endswith("/") and name.startswith(place))):
                yield (None if target is None else target + name[len(place):]), path


def refuse_dynamic(program):
    """A program header of type 3 names the loader that a dynamic program needs."""
    elf = program.read_bytes()
    (first,), (size, count) = struct.unpack_from("<Q", elf, 32), struct.unpack_from("<HH", elf, 54)
    if elf[:5] != b"\x7fELF\x02" or any(struct.unpack_from("<I", elf, first + size * header)[0] == 3 for header in range(count)):
        sys.exit(f"build_wheel.py: {program} is not static: its wheel would not run where it says (build it by packaging/static/build.sh)")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    root, arch, out = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    refuse_dynamic(root / "bin/cudamatrix")
    release = version()
    name = f"cudamatrix-{release}"
    info = f"{name}.dist-info"
    platforms = [platform.format(arch) for platform in PLATFORMS]
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in platforms)
    files = {}
    for target, path in installed(root):
        files[f"{info}/licenses/{path.name}" if target is None else f"{name}.data/{target}"] = path.read_bytes()
    for wanted in (f"{name}.data/scripts/cudamatrix", f"{name}.data/data/share/man/man1/cudamatrix.1", f"{info}/licenses/LICENSE"):
        if wanted not in files:
            sys.exit(f"build_wheel.py: {root} has nothing for {wanted}: run cmake --install first")
    files[f"{info}/METADATA"] = metadata(release).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: cudamatrix\nRoot-Is-Purelib: false\n{tags}".encode()
    lines = [f"{file},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},{len(data)}\n" for file, data in files.items()]
    files[f"{info}/RECORD"] = "".join([*lines, f"{info}/RECORD,,\n"]).encode()

    moment = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800))[:6]  # zip begins in 1980
    out.mkdir(parents=True, exist_ok=True)
    wheel = out / f"{name}-py3-none-{'.'.join(platforms)}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file, data in files.items():
            entry = zipfile.ZipInfo(file, moment)
            entry.create_system = 3
            entry.external_attr = (0o100755 if "/scripts/" in file else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    print(wheel)


if __name__ == "__main__":
    main()

"""Where lanes hold the elements of matrices, as the interpreter has it, against an outside witness: the layouts of CuTe, in NVIDIA's
package nvidia-cutlass. Its headers are installed by pip, compiled here, and never become a part of this project.
Usage: layouts_test.py LAYOUTS_OF_INTERPRETER SOURCE_DIR WORK_DIR CXX   (needs the Python index)

Each form of mma that kernels/interpreter/mma.cpp lists must have an atom of CuTe below, or the test fails. wmma has no witness: which
lane holds what of its fragments no program may know (PTX ISA, "Matrix Fragments for WMMA")."""
import pathlib
import re
import subprocess
import sys

INTERPRETER, SOURCE, WORK, CXX = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]).resolve(), sys.argv[4]
# CuTe includes CUDA's vector types and libcu++; no compiler of CUDA is needed for its layouts.
PACKAGES = ["nvidia-cutlass==4.2.0.0", "nvidia-cuda-runtime==13.0.96", "nvidia-cuda-crt==13.0.88", "nvidia-cuda-cccl==13.0.85"]
BYTES = [a + b for a in ("S8", "U8") for b in ("S8", "U8")]
EIGHTS = [(a, b) for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")]


def bytes_of(shape):
    return [f"SM80_{shape}_S32{types}S32_TN{saturates}" for types in BYTES for saturates in ("", "_SATURATE")]


# Form of mma.cpp: the atoms that are it.
ATOMS = {
    "m16n8k8:f16": ["SM75_16x8x8_F32F16F16F32_TN", "SM80_16x8x8_F16F16F16F16_TN", "SM80_16x8x8_F32F16F16F32_TN"],
    "m16n8k16:f16": ["SM80_16x8x16_F16F16F16F16_TN", "SM80_16x8x16_F32F16F16F32_TN"],
    "m16n8k8:bf16": ["SM80_16x8x8_F32BF16BF16F32_TN"],
    "m16n8k16:bf16": ["SM80_16x8x16_F32BF16BF16F32_TN"],
    "m16n8k4:tf32": ["SM80_16x8x4_F32TF32TF32F32_TN"],
    "m16n8k8:tf32": ["SM80_16x8x8_F32TF32TF32F32_TN"],
    "m8n8k4:f64": ["SM80_8x8x4_F64F64F64F64_TN"],
    "m8n8k16:s8": ["SM75_8x8x16_S32S8S8S32_TN", *bytes_of("8x8x16")],
    "m16n8k16:s8": bytes_of("16x8x16"),
    "m16n8k32:s8": bytes_of("16x8x32"),
    "m16n8k32:e4m3": [f"SM89_16x8x32_F32{a}{b}F32_TN".upper().replace("X", "x") for a, b in EIGHTS],
    "kind::mxf4nvf4 m16n8k64:e2m1 4 ue4m3": ["SM120_16x8x64_TN_VS<e2m1:e2m1:ue4m3:16>"],
    "kind::mxf4nvf4 m16n8k64:e2m1 2 ue8m0": ["SM120_16x8x64_TN_VS<e2m1:e2m1:ue8m0:32>"],
    "kind::mxf4 m16n8k64:e2m1 2 ue8m0": ["SM120_16x8x64_TN_VS<e2m1:e2m1:ue8m0:32>"],
    "kind::mxf8f6f4 m16n8k32:e4m3 1 ue8m0": [f"SM120_16x8x32_TN_VS<{a}:{b}:ue8m0:32>" for a, b in EIGHTS],
}
LDMATRIX = ["SM75_U32x1_LDSM_N", "SM75_U32x2_LDSM_N", "SM75_U32x4_LDSM_N", "SM75_U16x2_LDSM_T", "SM75_U16x4_LDSM_T", "SM75_U16x8_LDSM_T"]


# Of wgmma: sums of each N, A in registers of each size of elements, matrices in shared memory of each major and swizzle.
WGMMA = [f"sums 64 {n} 0" for n in range(8, 257, 8)] + [f"fragments 64 {256 // bits} {bits}" for bits in (32, 16, 8)] + \
    [f"{major}-major 64 16 16 {swizzle}" for major in "KM" for swizzle in ("INTER", "SW32", "SW64", "SW128")]


def run(what, *argv):
    done = subprocess.run([str(part) for part in argv], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{what} failed ({done.returncode}):\n{done.stdout}{done.stderr}")
    return done.stdout


def install():
    """Folders of headers."""
    venv = WORK / "venv"
    installed, wanted = WORK / "installed", "\n".join(PACKAGES)
    if not installed.exists() or installed.read_text(encoding="utf-8") != wanted:
        WORK.mkdir(parents=True, exist_ok=True)
        run("a venv for CuTe's headers", sys.executable, "-m", "venv", "--clear", venv)
        run(f"pip install of {' '.join(PACKAGES)}, without which there is no witness,", venv / "bin/pip", "install", "--quiet",
            "--disable-pip-version-check", "--no-deps", *PACKAGES)
        installed.write_text(wanted, encoding="utf-8")
    folders = []
    for header in ("cute/layout.hpp", "vector_types.h", "cuda/std/utility"):
        found = [path for path in venv.glob(f"lib/python3*/site-packages/**/{header}") if "include" in path.parts]
        if not found:
            sys.exit(f"no {header} in {', '.join(PACKAGES)}: {venv}")
        folders.append(found[0].parents[header.count("/")])
    return folders


def tables(text):
    """{(title without its atom, atom): lines}"""
    found, lines = {}, []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        if line[0].isalpha():
            lines = []
            found[tuple(line.rsplit(" ", 1))] = lines
        else:
            lines.append(line)
    return found


def forms_of_source():
    source = (SOURCE / "kernels/interpreter/mma.cpp").read_text(encoding="utf-8")
    plain = re.findall(r'\{"(m\d+n\d+k\d+)", Element::(\w+), \d+\}', source)
    scaled = re.findall(r'\{"(kind::\w+)", "(m\d+n\d+k\d+)", Element::(\w+), (\d), Element::(\w+), \w+\}', source)
    forms = [f"{shape}:{element}" for shape, element in plain]
    return forms + [f"{kind} {shape}:{element} {chunks} {scale}" for kind, shape, element, chunks, scale in scaled]


def disagreements(witness, ours, atoms):
    """What the interpreter has otherwise; each table of each atom is looked at."""
    wrong = []
    for atom in atoms:
        mine = [(title, lines) for (title, name), lines in witness.items() if name == atom]
        if len(mine) not in (1, 3, 5):
            wrong.append(f"{atom}: {len(mine)} tables, expected A, B and C, and those of scales")
        for title, lines in mine:
            wrong += differences(title, atom, lines, ours, 32)
    for title in WGMMA:
        wrong += differences(title, "SM90", witness.get((title, "SM90"), []), ours, 64 if "major" in title else 128)
    return wrong


def differences(title, atom, lines, ours, count):
    own = ours.get((title, "interpreter"), [])
    if (len(lines), len(own)) != (count, count):
        return [f"{title} {atom}: {len(lines)} lines of CuTe, {len(own)} of the interpreter, not {count}"]
    return [f"{title} {atom}, line {number}: {theirs} in CuTe, {mine} in the interpreter"
            for number, (theirs, mine) in enumerate(zip(lines, own)) if theirs != mine]


def main():
    headers = install()
    program = WORK / "witness"
    run("compiling CuTe's layouts", CXX, "-std=c++17", "-w", *[f"-I{folder}" for folder in headers],
        SOURCE / "tests/e2e/layouts/witness.cpp", "-o", program)
    witness = tables(run("CuTe's layouts", program))
    forms = forms_of_source()
    if len(forms) < 15 or sorted(forms) != sorted(ATOMS):
        sys.exit(f"kernels/interpreter/mma.cpp has {sorted(set(forms) - set(ATOMS))} without a witness here, "
                 f"and lacks {sorted(set(ATOMS) - set(forms))}")
    shapes = sorted({word for form in forms for word in form.split() if re.match(r"m\d", word)})
    ours = tables(run("the interpreter's layouts", INTERPRETER, *shapes))
    atoms = sorted({atom for named in ATOMS.values() for atom in named} | set(LDMATRIX))
    wrong = disagreements(witness, ours, atoms)
    unused = {atom for _, atom in witness} - set(atoms) - {"SM90"} | {title for title, atom in witness if atom == "SM90"} - set(WGMMA)
    if unused:
        wrong.append(f"printed, and compared with nothing: {sorted(unused)}")
    # The table that the unit tests read is of the same witness.
    listed = tables((SOURCE / "tests/unit/kernels/matrix_layouts.txt").read_text(encoding="utf-8"))
    for key, lines in listed.items():
        if witness.get(key) != lines:
            wrong.append(f"tests/unit/kernels/matrix_layouts.txt: {' '.join(key)} is not what CuTe has")
    if wrong:
        sys.exit("\n".join(wrong[:40]) + f"\n{len(wrong)} disagreements")
    # Two values of one lane exchanged must be seen, in each table.
    for key in ours:
        spoiled = dict(ours)
        first = spoiled[key][1].split()
        spoiled[key] = [spoiled[key][0], " ".join(first[:-1] + ["99,99"]), *spoiled[key][2:]]
        if not disagreements(witness, spoiled, atoms):
            sys.exit(f"a wrong lane 1 of {key[0]} was not seen")
    print(f"{len(witness)} tables of CuTe agree with {len(ours)} of the interpreter: {len(forms)} forms of mma, {len(LDMATRIX)} of ldmatrix, "
          f"{len(WGMMA)} tables of wgmma; {len(listed)} tables of matrix_layouts.txt agree")


main()

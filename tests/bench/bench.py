#!/usr/bin/env python3
"""How long counting takes, beside what one would write or use instead: a Markdown table for README.md here.

    cmake --preset release && cmake --build --preset release --target cudamatrix
    python3 -m venv peers && peers/bin/pip install rapids-dependency-file-generator hpccm
    python3 tests/bench/bench.py build/release/cudamatrix --venv peers > table.md

Run by hand on an idle machine (two to four minutes); no test. Every row is a process of its own, start included: the best of the
runs. The ratio is one of processor time, against `check --summary` of the same cells. What takes longer than --limit is given up.
`plain Python` and jq make the product of the same file's axes and ask the file's own rules, nothing else; cudamatrix asks those and all
of its rules. The counts by own rule must be equal, or the bench fails. Peers are looked for in PATH and in DIR/bin of --venv; what is
not there is said so in the table. Progress goes to stderr.
A second table renders 4,680 cells that need 4,680 images, into an empty folder and again into the full one, beside what the peers
write of the same cells: rapids a requirements file each, hpccm a Dockerfile each. What was written is counted, or the bench fails.
"""
import argparse
import collections
import itertools
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time

AXES = {
    "driver": ["470.161.03", "470.256.02", "510.47.03", "515.105.01", "525.147.05", "530.30.02", "535.183.01", "545.23.08",
               "550.54.15", "560.35.03", "570.86.15", "575.57.08", "580.65.06"],
    "gpu": ["T4", "V100", "A100", "RTX 4090", "H100", "B200", "L4", "A10", "P100", "RTX 5090"],
    "cuda": ["11.2.2", "11.8.0", "12.1.1", "12.2.2", "12.4.1", "12.5.1", "12.6.3", "12.8.1", "12.9.1", "13.0.2"],
    "os": ["ubuntu18.04", "ubuntu20.04", "ubuntu22.04", "ubuntu24.04", "debian11", "debian12", "debian13", "rockylinux8", "rockylinux9", "ubi9"],
    "torch": ["1.12.1+cu113", "1.13.1+cu117", "2.0.1+cu118", "2.1.2+cu121", "2.3.1+cu121", "2.4.1+cu124", "2.6.0+cu124", "2.7.1+cu128",
              "2.8.0+cu128", "none"],
    "python": ["3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.12.4", "3.13", "3.13t", "3.14"],
    "compiler": ["gcc-7", "gcc-8", "gcc-9", "gcc-10", "gcc-11", "gcc-12", "gcc-13", "gcc-14", "clang-14", "clang-17"],
    "vram_gb": ["4", "8", "12", "16", "24", "32", "40", "48", "80", "141"],
    "toolkit": ["1.10.0", "1.11.0", "1.12.1", "1.13.5", "1.14.6", "1.15.0", "1.16.2", "1.17.4", "1.17.8", "1.18.0"],
}
# Name, fields, rows of each: 13 x 6 x 10 x 6, ten of six fields, ten of nine.
SIZES = [
    ("4,680", {"driver": 13, "gpu": 6, "cuda": 10, "os": 6}),
    ("10^6", {name: 10 for name in list(AXES)[:6]}),
    ("10^9", {name: 10 for name in AXES}),
]
# Own rules: id, when and require as conditions of the file. Round figures: what is measured is asking them.
RULES = [
    ("cuda-12-driver", ("cuda", ">=12,<13"), ("driver", ">=525.60.13")),
    ("cuda-13-driver", ("cuda", ">=13"), ("driver", ">=580")),
    ("b200-cuda", ("gpu", "B200"), ("cuda", ">=12.8")),
    ("h100-cuda", ("gpu", "H100"), ("cuda", ">=11.8")),
    ("v100-cuda", ("gpu", "V100"), ("cuda", "<13")),
    ("old-os-cuda", ("os", "ubuntu18.04"), ("cuda", "<12.5")),
]


# 5 x 2 x 2 x 234 cells, no two of which share an image.
RENDERED = {
    "cuda": ["13.0.3", "13.1.2", "13.2.2", "13.3.1", "13.4.3"],
    "os": ["debian12", "debian13"],
    "flavour": ["runtime", "devel"],
    "packages": [{"timm": timm, "einops": f"0.{i // 4}.{i % 4}"} for i in range(26)
                 for timm in ("0.6.13", "0.9.2", "0.9.16", "1.0.3", "1.0.7", "1.0.9", "1.0.11", "1.0.12", "1.0.15")],
}
IMAGES = 4680


def rendered_text():
    lines = ["version: 1", "name: bench-render", "axes:"] + [f"  {name}: {json.dumps(values)}" for name, values in RENDERED.items()]
    return "\n".join(lines + ["  python: [\"3.11\", \"3.13\"]", "zip: [[os, python]]", "set: {driver: \"580.65.06\", gpu: H100}"]) + "\n"


def axes_of(size):
    return {name: AXES[name][:rows] for name, rows in dict(SIZES)[size].items()}


def matrix_text(size):
    lines = ["version: 1", f"name: bench-{size.replace(',', '').replace('^', '-')}", "axes:"]
    lines += [f"  {name}: {json.dumps(values)}" for name, values in axes_of(size).items()]
    lines.append("rules:")
    for name, when, require in RULES:
        lines.append(f"  - {{id: {name}, when: {{{when[0]}: {json.dumps(when[1])}}}, require: {{{require[0]}: {json.dumps(require[1])}}}, "
                     "because: bench}")
    return "\n".join(lines) + "\n"


def numbers(text):
    return tuple(int(part) for part in text.split("."))


def predicate(condition):
    """The condition of a rule as one would write it by hand."""
    field, text = condition
    if text[0] not in "<>":
        return field, lambda value: value == text
    bounds = []
    for part in text.split(","):
        sign = part.rstrip("0123456789.")
        bounds.append((sign, numbers(part[len(sign):])))
    return field, lambda value: all(value >= bound if sign == ">=" else value < bound for sign, bound in bounds)


def plain_python(size):
    """product and filter, with versions parsed once."""
    axes = axes_of(size)
    names = list(axes)
    parsed = [[numbers(v) if name in ("driver", "cuda") else v for v in values] for name, values in axes.items()]
    rules = []
    for name, when, require in RULES:
        (when_field, when_holds), (field, holds) = predicate(when), predicate(require)
        rules.append((name, names.index(when_field), when_holds, names.index(field), holds))
    counts = collections.Counter({rule[0]: 0 for rule in rules})
    for cell in itertools.product(*parsed):
        for name, at, when_holds, position, holds in rules:
            if when_holds(cell[at]) and not holds(cell[position]):
                counts[name] += 1
    print(json.dumps(counts))


def jq_program(size):
    def test(variable, text):
        if text[0] not in "<>":
            return f"{variable} == {json.dumps(text)}"
        parts = []
        for part in text.split(","):
            sign = part.rstrip("0123456789.")
            parts.append(f"{variable} {sign} {json.dumps(list(numbers(part[len(sign):])))}")
        return "(" + " and ".join(parts) + ")"

    each = " | ".join(f".{name}[] as ${name}" for name in axes_of(size))
    rejected = ", ".join(f"if {test('$' + when[0], when[1])} and ({test('$' + require[0], require[1])} | not) then 1 else 0 end"
                         for _, when, require in RULES)
    add = ", ".join(f".[{i}] + $cell[{i}]" for i in range(len(RULES)))
    zeros = json.dumps([0] * len(RULES))
    names = json.dumps([rule[0] for rule in RULES])
    return f". as $axes | reduce ($axes | {each} | [{rejected}]) as $cell ({zeros}; [{add}]) | [{names}, .] | transpose | map({{(.[0]): .[1]}}) | add"


def jq_input(size):
    return json.dumps({name: [list(numbers(v)) if name in ("driver", "cuda") else v for v in values] for name, values in axes_of(size).items()})


def hpccm_texts(size):
    """A Dockerfile text of each cell, as a loop over hpccm would make them."""
    import hpccm
    made = 0
    axes = axes_of(size)
    for cell in itertools.product(*axes.values()):
        fields = dict(zip(axes, cell))
        stage = hpccm.Stage()
        stage += hpccm.primitives.baseimage(image=f"nvidia/cuda:{fields['cuda']}-base-{fields['os']}", _distro="ubuntu22")
        stage += hpccm.building_blocks.python()
        made += len(str(stage)) > 0
    print(json.dumps({"texts": made}))


def hpccm_files(folder):
    """The same for the cells that are rendered, each Dockerfile written."""
    import hpccm
    for number, values in enumerate(itertools.product(*RENDERED.values())):
        fields = dict(zip(RENDERED, values))
        stage = hpccm.Stage()
        stage += hpccm.primitives.baseimage(image=f"nvidia/cuda:{fields['cuda']}-{fields['flavour']}-ubuntu22.04", _distro="ubuntu22")
        stage += hpccm.building_blocks.python()
        stage += hpccm.building_blocks.pip(packages=[f"{name}=={version}" for name, version in fields["packages"].items()])
        path = os.path.join(folder, str(number))
        os.makedirs(path)
        with open(os.path.join(path, "Dockerfile"), "w", encoding="utf-8") as file:
            file.write(str(stage))


def rapids_rendered_text():
    names = ["cuda", "os", "flavour", "packages"]
    values = {name: RENDERED[name] for name in names[:3]} | {"packages": [str(i) for i in range(len(RENDERED["packages"]))]}
    lines = ["files:", "  all:", "    output: requirements", "    requirements_dir: out", "    matrix:"]
    lines += [f"      {name}: {json.dumps(values[name])}" for name in names]
    lines += ["    includes: [base]", "channels: []", "dependencies:", "  base:", "    specific:", "      - output_types: [requirements]",
              "        matrices:"]
    for number, packages in enumerate(RENDERED["packages"]):
        listed = json.dumps([f"{name}=={version}" for name, version in packages.items()])
        lines.append(f"          - {{matrix: {{packages: \"{number}\"}}, packages: {listed}}}")
    return "\n".join(lines) + "\n"


def rapids_text(size):
    lines = ["files:", "  all:", "    output: requirements", "    requirements_dir: out", "    matrix:"]
    lines += [f"      {name}: {json.dumps(values)}" for name, values in axes_of(size).items()]
    lines += ["    includes: [base]", "channels: []", "dependencies:", "  base:", "    common:", "      - output_types: [requirements]",
              "        packages: [numpy]", "    specific:", "      - output_types: [requirements]", "        matrices:"]
    lines += [f"          - {{matrix: {{cuda: {json.dumps(cuda)}}}, packages: [\"cuda-python=={cuda}\"]}}" for cuda in axes_of(size)["cuda"]]
    return "\n".join(lines) + "\n"


Timing = collections.namedtuple("Timing", "wall cpu mib out")
TIMED_OUT = 124  # of timeout(1)


def timed(command, runs, cwd, code=(0, 1), before=lambda: None, limit=None):
    """The least seconds of wall clock and of processor of the runs, the peak of memory, what the first one printed; nothing where
    a run took longer than `limit` seconds."""
    best = None
    print("bench:", " ".join(command)[:100], file=sys.stderr, flush=True)
    if limit:
        command = ["timeout", str(limit), *command]
    for _ in range(runs):
        before()
        with tempfile.TemporaryFile() as out:
            start = time.perf_counter()
            child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, cwd=cwd)
            _, status, usage = os.wait4(child.pid, 0)
            wall = time.perf_counter() - start
            child.returncode = os.waitstatus_to_exitcode(status)
            if limit and child.returncode == TIMED_OUT:
                return None
            if child.returncode not in code:
                sys.exit(f"bench: {' '.join(command)[:200]}: exit code {child.returncode}")
            out.seek(0)
            timing = Timing(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out.read())
        best = timing if best is None else best._replace(wall=min(best.wall, timing.wall), cpu=min(best.cpu, timing.cpu),
                                                         mib=max(best.mib, timing.mib))
    return best


def seconds(value):
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.0f} ms" if value >= 0.01 else f"{value * 1000:.1f} ms"


class Table:
    def __init__(self):
        self.rows = [("cells", "what", "wall", "processor", "memory", "ratio")]

    def add(self, size, what, timing, base):
        ratio = "1" if timing is base else f"{timing.cpu / base.cpu:.1f}"  # a busy machine disturbs the wall clock more
        self.rows.append((size, what, seconds(timing.wall), seconds(timing.cpu), f"{timing.mib:.0f} MiB", ratio))

    def peer(self, size, what, command, runs, folder, base, limit):
        """A row for what is not ours; its timing, where it came to its end."""
        timing = timed(command, runs, folder, code=(0,), limit=limit)
        if timing is None:
            self.note(size, what, f"> {limit} s")
        else:
            self.add(size, what, timing, base)
        return timing

    def note(self, size, what, text):
        self.rows.append((size, what, text, "", "", ""))

    def text(self):
        """Markdown, aligned for those who read it as text."""
        widths = [max(len(row[i]) for row in self.rows) for i in range(6)]
        lines = ["| " + " | ".join(cell.ljust(width) if i < 2 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))) + " |"
                 for row in self.rows]
        lines.insert(1, "|" + "|".join("-" * (width + 1) + ("-" if i < 2 else ":") for i, width in enumerate(widths)) + "|")
        return "\n".join(lines)


def own_counts(summary):
    found = {rule["rule"]: rule["rejected"] for rule in json.loads(summary)["rules"]}
    return {rule[0]: found.get(rule[0], 0) for rule in RULES}


def same(what, counts, expected):
    if json.loads(counts) != expected:
        sys.exit(f"bench: {what} counted {counts.decode().strip()}, cudamatrix {json.dumps(expected)}")


def peers(table, options, size, base, folder):
    def found(name):
        return shutil.which(name) or (options.venv and shutil.which(name, path=os.path.join(options.venv, "bin")))

    rapids = found("rapids-dependency-file-generator")
    what = "rapids-dependency-file-generator, a file each"
    if rapids:
        with open(os.path.join(folder, "dependencies.yaml"), "w", encoding="utf-8") as file:
            file.write(rapids_text(size))
        table.peer(size, what, [rapids, "--config", "dependencies.yaml"], 1, folder, base, options.limit)
    else:
        table.note(size, what, "not installed")
    python = os.path.join(options.venv, "bin", "python3") if options.venv else sys.executable
    what = "hpccm, a Dockerfile text each"
    if subprocess.run([python, "-c", "import hpccm"], capture_output=True, check=False).returncode == 0:
        table.peer(size, what, [python, os.path.abspath(__file__), "--hpccm", size], 1, folder, base, options.limit)
    else:
        table.note(size, what, "not installed")


def files_below(folder, name):
    return sum(name(file) for _, _, files in os.walk(folder) for file in files)


def counted(what, number):
    if number != IMAGES:
        sys.exit(f"bench: {what} wrote {number} files of {IMAGES}")


def render_table(options, program, folder):
    table = Table()
    size = f"{IMAGES:,}"
    out = os.path.join(folder, "rendered")
    path = os.path.join(folder, "rendered.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(rendered_text())
    command = [program, "render", path, "--out", out]

    def set_aside():
        """Not removed before the last run: for some seconds ext4 looks for inodes past those that were just removed."""
        if os.path.exists(out):
            os.rename(out, tempfile.mkdtemp(prefix="rendered-", dir=folder) + "/out")

    base = timed(command, options.runs, folder, code=(0,), before=set_aside)
    table.add(size, "cudamatrix render: Dockerfile, requirements, compose", base, base)
    counted("cudamatrix (Dockerfile)", files_below(out, lambda name: name == "Dockerfile"))
    counted("cudamatrix (requirements.txt)", files_below(out, lambda name: name == "requirements.txt"))
    table.add(size, "cudamatrix render: nothing changed", timed(command, options.runs, folder, code=(0,)), base)
    table.add(size, "cudamatrix render --check", timed([*command, "--check"], options.runs, folder, code=(0,)), base)

    rapids = shutil.which("rapids-dependency-file-generator") or (
        options.venv and shutil.which("rapids-dependency-file-generator", path=os.path.join(options.venv, "bin")))
    what = "rapids-dependency-file-generator: requirements"
    if rapids:
        with open(os.path.join(folder, "rendered-dependencies.yaml"), "w", encoding="utf-8") as file:
            file.write(rapids_rendered_text())
        written = os.path.join(folder, "out")
        shutil.rmtree(written, ignore_errors=True)
        table.add(size, what, timed([rapids, "--config", "rendered-dependencies.yaml"], 1, folder, code=(0,)), base)
        counted(what, files_below(written, lambda name: name.endswith(".txt")))
    else:
        table.note(size, what, "not installed")
    python = os.path.join(options.venv, "bin", "python3") if options.venv else sys.executable
    what = "hpccm: Dockerfile"
    if subprocess.run([python, "-c", "import hpccm"], capture_output=True, check=False).returncode == 0:
        written = os.path.join(folder, "hpccm")
        table.add(size, what, timed([python, os.path.abspath(__file__), "--hpccm-files", written], 1, folder, code=(0,)), base)
        counted(what, files_below(written, lambda name: name == "Dockerfile"))
    else:
        table.note(size, what, "not installed")
    return table


def bench(options):
    table = Table()
    program = os.path.abspath(options.program)
    per_cell = None
    with tempfile.TemporaryDirectory() as folder:
        for size, _ in SIZES:
            path = os.path.join(folder, f"{size}.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(matrix_text(size))
            base = timed([program, "check", "--summary", path], options.runs, folder)
            if size == "4,680":
                for what, option in (("cudamatrix --help: the start alone", "--help"), ("cudamatrix --version: start, facts loaded", "--version")):
                    table.add("none", what, timed([program, option], 4 * options.runs, folder), base)
            table.add(size, "cudamatrix check --summary", base, base)
            expected = own_counts(timed([program, "check", "--summary", "--format", "json", path], 1, folder).out)
            if size == "4,680":
                table.add(size, "cudamatrix list", timed([program, "list", path], options.runs, folder), base)
            cells = 1
            for values in axes_of(size).values():
                cells *= len(values)
            if cells > 1_000_000 and not per_cell:
                continue
            if cells > 1_000_000:
                table.note(size, "plain Python: the own rules only", f"~ {per_cell * cells / 60:.0f} min, not run")
                continue
            plain = table.peer(size, "plain Python: the own rules only", [sys.executable, os.path.abspath(__file__), "--plain", size],
                               min(options.runs, 3), folder, base, options.limit)
            if plain:
                same("plain Python", plain.out, expected)
                per_cell = plain.cpu / cells
            if shutil.which("jq"):
                given = os.path.join(folder, "axes.json")
                with open(given, "w", encoding="utf-8") as file:
                    file.write(jq_input(size))
                answer = table.peer(size, "jq: the own rules only", ["jq", "-c", jq_program(size), given], 1, folder, base, options.limit)
                if answer:
                    same("jq", answer.out, expected)
            else:
                table.note(size, "jq: the own rules only", "not installed")
            if size == "4,680":
                peers(table, options, size, base, folder)
        rendered = render_table(options, program, folder)
    load = os.getloadavg()
    print(f"{platform.machine()}, {os.cpu_count()} processors, load average {load[1]:.1f} over 5 minutes, {load[0]:.1f} over the last one; "
          f"Python {platform.python_version()}; best of {options.runs}\n")
    print(table.text())
    print()
    print(rendered.text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="cudamatrix of a release build")
    parser.add_argument("--runs", type=int, default=5, help="of each program of ours (default 5); the best counts")
    parser.add_argument("--limit", type=int, default=60, help="seconds of one run of a peer (default 60)")
    parser.add_argument("--venv", metavar="DIR", help="virtual environment with the peers")
    parser.add_argument("--write", metavar="DIR", help="write the matrix files there instead")
    parser.add_argument("--plain", metavar="SIZE", help=argparse.SUPPRESS)
    parser.add_argument("--hpccm", metavar="SIZE", help=argparse.SUPPRESS)
    parser.add_argument("--hpccm-files", metavar="DIR", help=argparse.SUPPRESS)
    parser.add_argument("--only-render", action="store_true", help="the second table only")
    options = parser.parse_args()
    if options.plain:
        return plain_python(options.plain)
    if options.hpccm:
        return hpccm_texts(options.hpccm)
    if options.hpccm_files:
        return hpccm_files(options.hpccm_files)
    if options.write:
        for size, _ in SIZES:
            with open(os.path.join(options.write, f"{size.replace(',', '').replace('^', '-')}.yaml"), "w", encoding="utf-8") as file:
                file.write(matrix_text(size))
        return None
    if not options.program:
        parser.error("name the program, e.g. build/release/cudamatrix")
    if options.only_render:
        with tempfile.TemporaryDirectory() as folder:
            print(f"load average {os.getloadavg()[0]:.1f}\n" + render_table(options, os.path.abspath(options.program), folder).text())
        return None
    return bench(options)


if __name__ == "__main__":
    main()

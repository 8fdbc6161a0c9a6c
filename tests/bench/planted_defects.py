"""Plants defects in the sources, one at a time, and asks whether the unit tests of the quick lane notice.

Works on a build of its own, so the sources stay as they are, one defect on each processor. Prints a line for each defect and exits 1
when one survives. A defect that no longer applies (its line has changed) is a mistake of this table and exits 2.
What a rule or the judge prints is compared in unit.solve: a defect of theirs that their own test misses is planted there, too.

`--random 300 --seed 1` plants defects of no table instead: at so many places of rules, judge, render, scan and matrix, drawn by chance, one operator
becomes its neighbour (< and <=, == and !=, && and ||, + and -, min and max, true and false, continue and break, a `!` less). Some of these change
nothing that anybody could see; who survives is read by a person. Exits 1 when fewer than nine tenths are caught.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import shlex
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]

# unit test, file below src/, what is there (once), what is planted
DEFECTS = [
    # rules: comparisons turned, conditions dropped
    ("rules", "knowledge/rules/driver_supports_cuda.cpp", "    if (driver.exact >= floor->driver) {", "    if (driver.exact > floor->driver) {"),
    ("rules", "knowledge/rules/driver_supports_cuda.cpp", "!driver.bare_branch || !oldest || *oldest >= floor.driver", "!driver.bare_branch || !oldest || *oldest < floor.driver"),
    ("rules", "knowledge/rules/driver_supports_gpu.cpp", "if (first && number < *first) {", "if (first && number <= *first) {"),
    ("rules", "knowledge/rules/driver_supports_gpu.cpp", "} else if (last && number > *last) {", "} else if (last && number >= *last) {"),
    ("rules", "knowledge/rules/driver_supports_gpu.cpp", "if (least && driver.exact < *least) {", "if (least && *least < driver.exact) {"),
    ("rules", "knowledge/rules/vram_floor.cpp", "if (wanted > memory.most) {", "if (wanted >= memory.most) {"),
    ("rules", "knowledge/rules/vram_floor.cpp", "} else if (wanted > memory.least) {", "} else if (wanted >= memory.least) {"),
    ("rules", "knowledge/rules/mig_one_device.cpp", "    if (wanted > *most) {", "    if (wanted >= *most) {"),
    ("rules", "knowledge/rules/glibc_supported_by_cuda.cpp", "return most && glibc > *most;", "return most && glibc >= *most;"),
    ("rules", "knowledge/rules/glibc_supported_by_cuda.cpp", "return least && glibc < *least;", "return least && glibc <= *least;"),
    ("rules", "knowledge/rules/compiler_supported_by_cuda.cpp", "return limits.least && version < *limits.least && !version.covers(*limits.least);", "return limits.least && version < *limits.least;"),
    ("rules", "knowledge/rules/cuda_supports_compute.cpp", "if (device < *lowest) return", "if (*lowest < device) return"),
    ("rules", "knowledge/rules/package_supports_gpu.cpp", "return std::pair(device.arch.major, device.arch.minor) < std::pair(floor->major, floor->minor);", "return std::pair(device.arch.major, device.arch.minor) <= std::pair(floor->major, floor->minor);"),
    ("rules", "knowledge/rules/package_supports_gpu.cpp", "(below(device, row) || left_out(device, row));", "(below(device, row) && left_out(device, row));"),
    ("rules", "knowledge/rules/known_problems.cpp", "least = std::min(least, met);", "least = met;"),
    ("rules", "knowledge/rules/numpy_abi.cpp", 'if (*numpy.version < *pep440::Version::parse("2")) return;', 'if (*numpy.version < *pep440::Version::parse("1")) return;'),
    ("rules", "knowledge/rules/ptx_newer_than_driver.cpp", "if (compiler.at_least && *wanted <= *compiler.at_least)", "if (compiler.at_least && *wanted < *compiler.at_least)"),
    ("rules", "knowledge/rules/torch_built_for_cuda.cpp", "    } else if (never_published(*build)) {", "    } else if (false) {"),
    ("rules", "knowledge/rules/torch_ships_compute.cpp", 'if (build.torch.variant == "cpu") {', 'if (build.torch.variant == "gpu") {'),
    ("rules", "knowledge/resolve/host.cpp", 'windows ? "min_driver_windows" : "min_driver_linux"', 'windows ? "min_driver_linux" : "min_driver_linux"'),
    # judging and counting
    ("judge", "knowledge/judge/finding_index.cpp", "    if (!is_new) return known->second;", "    if (is_new) return known->second;"),
    ("judge", "knowledge/judge/judge.cpp", "if (cells++ == options_.cell_limit) end = End::too_many;", "if (cells++ > options_.cell_limit) end = End::too_many;"),
    ("judge", "knowledge/judge/deciding.cpp", "if (verdict <= Verdict::degraded || contain(stage, cell, log)) return verdict;", "if (verdict <= Verdict::unknown || contain(stage, cell, log)) return verdict;"),
    ("judge", "knowledge/judge/own_rules.cpp", "if (met.active != nullptr) met.expired.clear();", ""),
    ("rules", "knowledge/judge/evaluate.cpp", "    finding.severity = Severity::unknown;\n", ""),
    # what a rendered value may be
    ("render", "render/templates/context.cpp", "if (c == '\\\\' || c == '\"' || c == '$') out += '\\\\';", "if (c == '\\\\' || c == '\"') out += '\\\\';"),
    ("render", "render/templates/context.cpp", 'if (value.find("<<") != std::string_view::npos) return', 'if (value.find("<<<<") != std::string_view::npos) return'),
    ("render", "render/templates/context.cpp", "if (value.front() == '-') return Refused", "if (value.front() == '\\0') return Refused"),
    ("render", "render/templates/context.cpp", 'if (part == "..") return Refused', 'if (part == "...") return Refused'),
    ("render", "render/templates/pin_syntax.cpp", "return made_of(text, \"+._-\", true) && starts_alphanumeric(text);", "return made_of(text, \"+._-\", true);"),
    ("render", "render/templates/pin_syntax.cpp", "!text.empty() && text.size() <= kLongest && std::all_of", "!text.empty() && text.size() <= 100 * kLongest && std::all_of"),
    # pins and the lock
    ("render", "render/lock/lock_file.cpp", "        if (version != kLockSchema) {", "        if (false) {"),
    ("render", "render/lock/lock_file.cpp", "if (!is_wheel_name(pin.name) || !is_wheel_version(pin.version)) {", "if (!is_wheel_name(pin.name)) {"),
    ("render", "render/lock/lock_file.cpp", "if (time.empty() || snapshot_time(time) != time)", "if (snapshot_time(time).empty())"),
    ("render", "render/image/package_sources.cpp", 'row->text("snapshots_scheme") == "https") return {};', 'row->text("snapshots_scheme") == "http") return {};'),
    ("render", "render/files/lock_request.cpp", "!is_wheel_version(pin.version) || !is_sha256(pin.sha256)) {", "!is_wheel_version(pin.version)) {"),
    ("render", "render/lock/lock_of_image.cpp", "return got && want && *got == *want && (want->suffix().empty() || got->suffix() == want->suffix());", "return got && want && *got == *want;"),
    # images and folders
    ("render", "render/image/image_plan.cpp", "if (target <= wanted && (!same_major || target.major() == wanted.major())) best = target;", "if (target <= wanted && (same_major || target.major() == wanted.major())) best = target;"),
    ("render", "render/files/compose.cpp", 'service.gpu.all = image.family != "cpu";', "service.gpu.all = image.family == \"cpu\";"),
    ("render", "render/output/folder_difference.cpp", "if (there != digest) difference.edited.insert(name);", ""),
    ("render", "render/output/output_folder.cpp", "if (!prune && difference.orphans.count(name) != 0) continue;", "if (prune && difference.orphans.count(name) != 0) continue;"),
    # which code serves which GPU
    ("fatbin", "fatbin/arch.cpp", "code.major != device.major || code.minor > device.minor)", "code.major != device.major || code.minor >= device.minor + 2)"),
    ("fatbin", "fatbin/arch.cpp", "if (code.variant == Variant::specific || code.major", "if (code.major"),
    ("fatbin", "fatbin/container.cpp", "if (header_size < kEntryHeader || !body.contains(at, header_size))", "if (!body.contains(at, header_size))"),
    # scanning
    ("scan", "look/scan/tar_stream.cpp", 'if (part == "..") return std::nullopt;', ""),
    ("scan", "look/scan/tar_stream.cpp", "return told && *told == sum;", "return told && *told <= sum;"),
    ("scan", "look/scan/layer.cpp", "if (has('f', above) || has('o', above)) return true;", "if (has('f', above)) return true;"),
    ("scan", "look/scan/local.cpp", "        !question.ptx_isa) {", "        question.ptx_isa) {"),
    # the matrix file
    ("matrix", "matrix/yaml_text.cpp", "if (c >= 0x202A && c <= 0x202E) return true;", ""),
    ("matrix", "matrix/yaml_text.cpp", "if (text.size() > limits.bytes)", "if (text.size() > 2 * limits.bytes)"),
    ("matrix", "matrix/read_expect.cpp", "if (!before(where, key.where)) continue;", "continue;"),
]


# The room whose unit test has to notice; the longest prefix counts.
ROOMS = {"knowledge/rules": "rules", "knowledge/judge": "judge", "render/templates": "render", "render/image": "render", "render/lock": "render",
         "look/scan": "scan", "matrix": "matrix"}
NEIGHBOURS = {" == ": " != ", " != ": " == ", " < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " && ": " || ", " || ": " && ", " + ": " - ",
              " - ": " + ", "std::min(": "std::max(", "std::max(": "std::min(", "true": "false", "false": "true", "continue;": "break;",
              "break;": "continue;", "!": ""}
OPERATOR = re.compile(r" (?:==|!=|<=?|>=?|&&|\|\||\+|-) |std::(?:min|max)\(|\b(?:true|false)\b|\b(?:continue|break);|!(?=[\w(*])")
# What is no code, or runs in the compiler alone.
NO_CODE = re.compile(r'//.*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'|^\s*(?:#|template|static_assert|requires|case ).*')


def drawn(count, seed):
    """So many (unit test, file, line number, planted line); the same for the same sources and seed."""
    places = []
    for folder, test in ROOMS.items():
        for path in sorted((TOP / "src" / folder).rglob("*.cpp")):
            for number, line in enumerate(path.read_text().split("\n")):
                covered = [match.span() for match in NO_CODE.finditer(line)]
                for match in OPERATOR.finditer(line):
                    if any(begin <= match.start() < end for begin, end in covered):
                        continue
                    planted = line[:match.start()] + NEIGHBOURS[match[0]] + line[match.end():]
                    places.append((test, str(path.relative_to(TOP / "src")), number, planted))
    return random.Random(seed).sample(places, count)


class Build:
    """A build of its own, file by file, from which each defect takes all objects but one."""

    def __init__(self, folder, tests):
        self.folder = folder.resolve()
        for command in (["cmake", "--preset", "tests", "-B", self.folder, "-DCMAKE_UNITY_BUILD=OFF"],
                        ["cmake", "--build", self.folder, "--target", *(f"unit_{test}" for test in tests)]):
            done = subprocess.run(command, cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                print(done.stdout, file=sys.stderr)
                sys.exit(3)
        self.compilers = {pathlib.Path(entry["file"]): shlex.split(entry["command"])
                          for entry in json.loads((self.folder / "compile_commands.json").read_text())}
        self.linkers = {}
        for test in tests:
            commands = subprocess.run(["ninja", "-t", "commands", f"unit_{test}"], cwd=self.folder, capture_output=True, text=True, check=True).stdout
            self.linkers[test] = next(line for line in reversed(commands.splitlines()) if f"-o tests/unit_{test} " in line)
            if self.notices(self.folder / f"tests/unit_{test}"):
                sys.exit(f"unit.{test} fails without a defect")

    def notices(self, program):
        # The longest tests try hostile values for minutes, and what they find, others find, too.
        try:
            return subprocess.run([program, "--abort-after=1", "--test-case-exclude=no value*"], cwd=self.folder, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, timeout=300, preexec_fn=little_memory).returncode != 0
        except subprocess.TimeoutExpired:
            return True  # it never ends

    def verdict(self, tests, name, planted):
        """What the first of `tests` that notices says of file `name`, were its text `planted`."""
        with tempfile.TemporaryDirectory(dir=self.folder) as work:
            work = pathlib.Path(work)
            source = work / pathlib.Path(name).name
            source.write_text(planted)
            command = list(self.compilers[TOP / "src" / name])
            of = command.index("-o") + 1
            sound = self.folder / command[of]
            room = next(folder for folder in sound.parents if folder.suffix == ".dir")
            command[of] = str(work / sound.name)
            command[command.index("-c") + 1] = str(source)
            if subprocess.run([*command, "-w"], cwd=self.folder, stderr=subprocess.DEVNULL).returncode != 0:
                return "does not compile"
            others = [path for path in room.rglob("*.o") if path != sound]
            subprocess.run(["ar", "rcsT", work / "room.a", work / sound.name, *others], check=True)
            for test in tests:
                program = work / f"unit_{test}"
                link = self.linkers[test].replace(f"src/lib{room.stem}.a", str(work / "room.a")).replace(f"-o tests/unit_{test} ", f"-o {program} ")
                subprocess.run(link, cwd=self.folder, shell=True, check=True)
                if self.notices(program):
                    return "caught"
        return "SURVIVED"


def little_memory():
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))


def tests_of(room):
    return [room, "solve"] if room in ("rules", "judge") else [room]


def replaced_line(number, planted):
    def change(text):
        lines = text.split("\n")
        lines[number] = planted
        return "\n".join(lines)
    return change


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, default=TOP / "build" / "planted", help="where it builds (%(default)s)")
    parser.add_argument("--random", type=int, metavar="COUNT", help="so many defects drawn by chance instead of the table")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (%(default)s)")
    parser.add_argument("--check", action="store_true", help="whether each row of the table still applies, and no more")
    parser.add_argument("rows", type=int, nargs="*", metavar="NUMBER", help="rows of the table, or of the draw; default: all")
    arguments = parser.parse_args()
    for row, (_, name, there, _) in enumerate(DEFECTS, 1):
        if not arguments.random and (TOP / "src" / name).read_text().count(there) != 1:
            print(f"{row}: src/{name} does not hold once: {there.strip()}", file=sys.stderr)
            return 2
    if arguments.check:
        return 0
    if arguments.random:
        defects = [(test, name, f"{number + 1}: {planted.strip()}", replaced_line(number, planted))
                   for test, name, number, planted in drawn(arguments.random, arguments.seed)]
    else:
        defects = [(test, name, there.strip(), lambda text, a=there, b=planted: text.replace(a, b)) for test, name, there, planted in DEFECTS]
    rows = arguments.rows or range(1, len(defects) + 1)
    if beyond := [row for row in rows if not 1 <= row <= len(defects)]:
        parser.error(f"no row {beyond[0]}: expected 1 to {len(defects)}")
    build = Build(arguments.folder, sorted({test for row in rows for test in tests_of(defects[row - 1][0])}))

    def plant(row):
        test, name, what, change = defects[row - 1]
        verdict = build.verdict(tests_of(test), name, change((TOP / "src" / name).read_text()))
        print(f"{row:3} {verdict} unit.{test} {name}: {what}", flush=True)
        return verdict

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = collections.Counter(pool.map(plant, rows))
    built = counts["caught"] + counts["SURVIVED"]
    print(f"{counts['caught']} of {built} caught" + (f"; {counts['does not compile']} do not compile" if counts["does not compile"] else ""))
    if arguments.random:
        return 0 if counts["caught"] >= 0.9 * built else 1
    return 0 if counts["caught"] == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())

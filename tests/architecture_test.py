"""Holds ARCHITECTURE.md against the tree: the table of rooms against every #include and against src/CMakeLists.txt, both ways,
and each path of the table "Where do I add ..." against the files that are there.
Usage: architecture_test.py SOURCE_DIR"""
import pathlib
import re
import sys
from collections import defaultdict

top = pathlib.Path(sys.argv[1])
text = (top / "ARCHITECTURE.md").read_text()
mistakes = []


def section(title):
    return text.split(f"## {title}", 1)[1].split("\n## ", 1)[0]


def rows(title):
    lines = [line for line in section(title).splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def names(cell):
    return re.findall(r"`([^`]+)`", cell)


allowed = {names(row[0])[0]: set(names(row[2])) for row in rows("Rooms")}
src = top / "src"


def room_of(path):
    """The row that a file of src/ belongs to: the longest that is a folder above it."""
    folder = pathlib.PurePath(path).parent
    while str(folder) != ".":
        if str(folder) in allowed:
            return str(folder)
        folder = folder.parent
    return None


# Includes: each is allowed, and each permission is used.
used = defaultdict(set)
for path in sorted(src.rglob("*.[ch]pp")):
    name = path.relative_to(src).as_posix()
    room = room_of(name)
    if room is None:
        if name != "main.cpp":
            mistakes.append(f"src/{name}: no room of ARCHITECTURE.md holds it")
        continue
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(r'\s*#include "([^"]+)"', line)
        other = found and room_of(found[1])
        if not other or other == room:
            continue
        used[room].add(other)
        if other not in allowed[room]:
            mistakes.append(f"src/{name}:{number}: {room} may not include {other}")
for room, others in allowed.items():
    if not (src / room).is_dir():
        mistakes.append(f"ARCHITECTURE.md: src/{room} is not there")
    for other in sorted(others - used[room]):
        mistakes.append(f"ARCHITECTURE.md: {room} never includes {other}")

# The order of the table is the order of dependence.
order = list(allowed)
for room, others in allowed.items():
    for other in sorted(others):
        if other not in order or order.index(other) > order.index(room):
            mistakes.append(f"ARCHITECTURE.md: {room} includes {other}, which does not stand above it")

# CMake links at least what a room includes, and links nothing that stands below it.
cmake = re.sub(r"#[^\n]*", "", (src / "CMakeLists.txt").read_text())
short = {pathlib.PurePath(room).name: room for room in allowed}
linked = {}
for call in re.findall(r"cudamatrix_library\(([^)]*)\)", cmake):
    words = call.split()
    uses = words[words.index("USES") + 1:] if "USES" in words else []
    linked[words[0]] = {short[word] for word in uses if word in short}
for room in allowed:
    if room == "fatbin":
        continue
    if room not in linked:
        mistakes.append(f"src/CMakeLists.txt: no library for {room}")
        continue
    for other in sorted(used[room] - linked[room]):
        mistakes.append(f"src/CMakeLists.txt: {room} includes {other} and does not link it")
    for other in sorted(linked[room]):
        if order.index(other) > order.index(room):
            mistakes.append(f"src/CMakeLists.txt: {room} links {other}, which stands below it")

# The suite travels without the rest of src/.
for path in sorted((top / "kernels").rglob("*")):
    if path.suffix in {".cpp", ".hpp", ".cu", ".cuh"}:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r'\s*#include "([^"]+)"', line)
            if found and (src / found[1]).is_file() and room_of(found[1]) != "fatbin":
                mistakes.append(f"{path.relative_to(top)}:{number}: kernels may include src/fatbin only")

# Of the suite only its list of tests and its faults are known here, to reports, and its tests of a machine to the doctor.
OF_SUITE = {"report": {"kernels/registry.hpp", "kernels/faults.hpp"}, "doctor": {"kernels/host/host_tests.hpp", "kernels/support/record_json.hpp"}}
for path in sorted(src.rglob("*.[ch]pp")):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(r'\s*#include "(kernels/[^"]+)"', line)
        if found and found[1] not in OF_SUITE.get(path.parent.name, set()):
            mistakes.append(f"{path.relative_to(top)}:{number}: may not include {found[1]}")

# Files of a folder compile together, where a file's own constant would hide that of a header without a word.
CONSTANT = re.compile(r"^(?:inline |static )*constexpr [^=\n]*?\b(k[A-Z]\w*)(?: =|\[\]|\{)", re.M)
OWN = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.S | re.M)
for path in sorted([*src.rglob("*.cpp"), *(top / "kernels").rglob("*.cpp")]):
    own = {name for part in OWN.findall(path.read_text()) for name in CONSTANT.findall(part)}
    for header in path.parent.glob("*.hpp"):
        for name in sorted(own & set(CONSTANT.findall(header.read_text()))):
            mistakes.append(f"{path.relative_to(top)}: {name} hides that of {header.name}")

# Where do I add ...: each path is there; <name> stands for any.
for row in rows("Where do I add ..."):
    for name in names(row[1]) + names(row[2]):
        if "/" not in name:
            continue
        pattern = re.sub(r"<[^>]+>", "*", name).rstrip("/")
        if not any(top.glob(pattern)):
            mistakes.append(f"ARCHITECTURE.md: a new {row[0]}: {name} is not there")

# A rule is a function of this folder and a line of the list.
rules = src / "knowledge" / "rules"
listed = set(re.findall(r"CUDAMATRIX_RULE\((\w+)\)", (rules / "all_rules.def").read_text()))
written = {name for path in rules.glob("*.cpp") for name in re.findall(r"^Rule (\w+)\(\) \{", path.read_text(), re.M)}
for name in sorted(written ^ listed):
    where = "all_rules.def" if name in written else "src/knowledge/rules"
    mistakes.append(f"{where}: rule {name} is missing")

for mistake in mistakes:
    print(mistake)
print(f"{len(allowed)} rooms, {len(listed)} rules, {len(mistakes)} mistakes")
sys.exit(1 if mistakes else 0)

#!/usr/bin/env python3
"""Writes what of the documentation is made: parts between `<!-- made: NAME -->` and `<!-- end -->`, the output in ```console blocks, and the picture.

Usage: docs/generate.py CUDAMATRIX            writes them
       docs/generate.py CUDAMATRIX --check    compares: exit code 1 with a diff where they differ
"""
import difflib
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import picture  # noqa: E402
from program import Program  # noqa: E402
from regions import DAY, Regions  # noqa: E402

REGION = re.compile(r"(<!-- made: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
CONSOLE = re.compile(r"(^```console\n)(.*?)(^```$)", re.DOTALL | re.MULTILINE)
NAMES = ("contents", "keys", "fields", "commands", "rules", "formats", "report_keys", "run_keys", "figures")


def page(text, program, regions, made):
    """The text of a page as it should be."""
    def region(found):
        if found[2] not in NAMES:
            raise SystemExit(f"docs: unknown part {found[2]}: expected one of {', '.join(NAMES)}")
        made.add(found[2])
        return found[1] + getattr(regions, found[2])() + found[3]

    program.clear()
    text = REGION.sub(region, text)
    return CONSOLE.sub(lambda found: found[1] + program.console(found[2]) + found[3], text)


def everything(program, tree):
    """The wanted content of each file, by path."""
    regions, made, out = Regions(program, tree), set(), {}
    for path in sorted([tree / "README.md", *(tree / "docs").glob("*.md")]):
        out[path] = page(path.read_text(), program, regions, made)
    if made != set(NAMES):
        raise SystemExit(f"docs: no page has the part {', '.join(sorted(set(NAMES) - made))}")
    if regions.unused():
        raise SystemExit(f"docs/examples: {', '.join(regions.unused())}: the matrix file has no such key")
    program.clear()
    command = ("check", "docs/tour.yaml", "--on", DAY)
    out[tree / "docs/check.svg"] = picture.svg("cudamatrix " + " ".join(command), program.on_terminal(*command),
                                               "cudamatrix check says of each combination whether it works, where it fails, why, and what would help")
    return out


def main(arguments):
    check = "--check" in arguments
    names = [word for word in arguments if word != "--check"]
    if len(names) != 1:
        raise SystemExit(__doc__)
    tree = pathlib.Path(__file__).resolve().parents[1]
    program = Program(names[0], tree)
    try:
        wanted = everything(program, tree)
    finally:
        program.close()
    moved = False
    for path, text in wanted.items():
        there = path.read_text() if path.exists() else ""
        if there == text:
            continue
        moved = True
        name = path.relative_to(tree).as_posix()
        if check:
            sys.stdout.writelines(difflib.unified_diff(there.splitlines(True), text.splitlines(True), name, name + " as it should be"))
        else:
            path.write_text(text)
            print("wrote " + name)
    if check and moved:
        print(f"The documentation differs from what the program says. Fix: python3 docs/generate.py {names[0]}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

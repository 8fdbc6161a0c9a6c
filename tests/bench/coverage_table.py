"""Reads what llvm-cov export writes from stdin and prints the branches of the files in a folder.

Usage: coverage_table.py FOLDER
Exit code 1 where a condition was never taken one way, unless EXCLUDED says why no test takes it.
"""

import collections
import json
import os
import sys

# File, the line of source that has the condition, the way: why no test goes there.
EXCLUDED = {
    ("count.cpp", "diagrams_.count() - before > kLargestDiagram", "true"): "a guard of memory: 50,000 diagrams of one rule",
    ("bitset_count.cpp", "(made_.size() + 1) * planes_ * words_ > kRemembered", "true"): "a guard of memory: it forgets what it can make again",
    ("diagram.cpp", "std::equal(rows.begin(), rows.end()", "false"): "two lists of rows with one 64-bit hash",
    ("judge.cpp", "const auto text = count ?", "false"): "a matrix whose cells cannot be counted in 20 million steps",
}


def reason(name, line, way):
    for (file, part, excluded_way), why in EXCLUDED.items():
        if os.path.basename(name) == file and part in line and way == excluded_way:
            return why
    return None


def branches(entry):
    """Counts of each condition: a template or a lambda in one has several instances, which count together."""
    taken = collections.defaultdict(lambda: [0, 0])
    for line, column, _, _, true_count, false_count, *_ in entry["branches"]:
        taken[line, column][0] += true_count
        taken[line, column][1] += false_count
    return taken


def main():
    folder = os.path.abspath(sys.argv[1]) + os.sep
    total = missed_total = 0
    missed = []
    excluded = []
    for entry in sorted(json.load(sys.stdin)["data"][0]["files"], key=lambda e: e["filename"]):
        path = os.path.abspath(entry["filename"])
        if not path.startswith(folder):
            continue
        name = os.path.relpath(path)
        taken = branches(entry)
        here = [(place, way) for place, counts in sorted(taken.items()) for way in (0, 1) if counts[way] == 0]
        source = open(path, encoding="utf-8").read().split("\n")
        for (line, column), way in here:
            text = f"{name}:{line}:{column}: never {('true', 'false')[way]}"
            why = reason(name, source[line - 1], ("true", "false")[way])
            if why is None:
                missed.append(text)
            else:
                excluded.append(f"{text}: excluded, {why}")
        total += 2 * len(taken)
        missed_total += len(here)
        lines = entry["summary"]["lines"]
        print(f"{name:<55} {lines['covered']:5} of {lines['count']:5} lines"
              f" {2 * len(taken) - len(here):5} of {2 * len(taken):5} branches")
    if total == 0:
        sys.exit(f"coverage_table.py: nothing was measured in {folder}")
    print("\n".join(excluded + missed))
    print(f"{total - missed_total} of {total} branches taken: {100 * (total - missed_total) / total:.2f} %,"
          f" {len(excluded)} excluded, {len(missed)} open")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()

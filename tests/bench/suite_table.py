"""Prints which tests of the kernel suite passed where, as a Markdown table, from what `cudamatrix run` wrote.

Usage: suite_table.py REPORT.json ...
A number is of how many images; of reports that name none (--engine host) each counts as one. kernels/RESULTS.md has the table."""

import collections
import json
import sys

COLUMNS = {"static": "static, load", "load": "static, load", "cpu": "CPU", "interpreted": "interpreted", "gpu": "GPU"}


def main():
    places, order = collections.defaultdict(set), {}
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        for cell in report["cells"]:
            for test in cell["tests"]:
                order.setdefault(test["id"])
                if test["status"] not in ("pass", "skip"):
                    sys.exit(f"{path}: {test['id']}[{test['part']}] of {cell['id']} did not pass")
                if test["status"] == "pass":
                    places[test["id"], COLUMNS[test["part"]]].add(cell["image"] or path)
    columns = list(dict.fromkeys(COLUMNS.values()))
    print("| test | " + " | ".join(columns) + " |\n" + "|---" * (1 + len(columns)) + "|")
    for test in order:
        print(f"| {test} | " + " | ".join(str(len(places[test, column])) if places[test, column] else "-" for column in columns) + " |")


if len(sys.argv) < 2:
    sys.exit(__doc__)
main()

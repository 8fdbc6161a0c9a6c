"""The documentation: what is made of the program is what it says today, every example is judged, every link leads somewhere.
Usage: docs_test.py CUDAMATRIX [unittest arguments]"""
import re
import shutil
import subprocess
import sys

from cli import PROGRAM, TESTS, Cli, main

TREE = TESTS.parent
sys.path.insert(0, str(TREE / "docs"))
import generate  # noqa: E402
import links  # noqa: E402
import picture  # noqa: E402
from program import Program  # noqa: E402
from regions import Regions, choices, schema_keys  # noqa: E402


class Made(Cli):
    def setUp(self):
        super().setUp()
        self.program = Program(PROGRAM, TREE)
        self.addCleanup(self.program.close)

    def copy(self):
        """The tree with a documentation of its own."""
        tree = self.dir / "tree"
        tree.mkdir()
        for path in TREE.iterdir():
            if path.name in ("docs", "README.md"):
                shutil.copytree(path, tree / path.name) if path.is_dir() else shutil.copy(path, tree)
            elif path.name in ("examples", "matrix", "tests"):
                (tree / path.name).symlink_to(path)
        return tree

    def refused(self, says, call, *arguments):
        with self.assertRaises(SystemExit) as stopped:
            call(*arguments)
        self.assertEqual(str(stopped.exception), says)

    def test_every_page_is_what_the_program_says(self):
        got = subprocess.run([sys.executable, TREE / "docs/generate.py", PROGRAM, "--check"], capture_output=True, text=True, timeout=600)
        self.assertEqual((got.stdout, got.stderr, got.returncode), ("", "", 0))

    def test_a_page_that_differs_is_shown_with_the_fix_and_written_by_it(self):
        tree = self.copy()
        for name, there, other in (("docs/verdicts.md", "| `runtime` | `driver-supports-cuda` |", "| `runtime` | `driver-supports-it` |"),
                                   ("docs/tour.md", "tour: 4 cells: 1 accepted, 3 rejected;", "tour: 4 cells: 4 accepted;"),
                                   ("docs/check.svg", "3 rejected", "no rejected"), ("README.md", " rules. They", " laws. They")):
            text = (tree / name).read_text()
            self.assertEqual(text.count(there), 1, name)
            (tree / name).write_text(text.replace(there, other))
        call = [sys.executable, tree / "docs/generate.py", PROGRAM]
        got = subprocess.run([*call, "--check"], capture_output=True, text=True, timeout=600)
        self.assertEqual(got.returncode, 1)
        for line in ("-| `runtime` | `driver-supports-it` |", "+| `runtime` | `driver-supports-cuda` |", "-tour: 4 cells: 4 accepted;"):
            self.assertIn("\n" + line, got.stdout)
        self.assertEqual(re.findall(r"^--- (\S+)", got.stdout, re.MULTILINE), ["README.md", "docs/tour.md", "docs/verdicts.md", "docs/check.svg"])
        self.assertTrue(got.stdout.endswith(f"\nThe documentation differs from what the program says. Fix: python3 docs/generate.py {PROGRAM}\n"))
        got = subprocess.run(call, capture_output=True, text=True, timeout=600)
        self.assertEqual((got.stdout, got.returncode), ("wrote README.md\nwrote docs/tour.md\nwrote docs/verdicts.md\nwrote docs/check.svg\n", 0))
        for name in ("README.md", "docs/tour.md", "docs/verdicts.md", "docs/check.svg"):
            self.assertEqual((tree / name).read_text(), (TREE / name).read_text())

    def test_an_example_is_judged_as_it_says_and_holds_its_keys(self):
        tree = self.copy()
        regions = Regions(self.program, tree)
        self.assertIn("compute 12.0", regions.example("fields.compute", ["compute"]))
        for name, text, says in (
                ("cuda", "version: 1\nset: {cuda: \"12.4.1\"}\n", "its first line is 'version: 1', and check says '1 cell: 1 accepted'"),
                ("cuda", "# 1 cell: 1 rejected\nversion: 1\nset: {cuda: \"12.4.1\"}\n",
                 "its first line is '# 1 cell: 1 rejected', and check says '1 cell: 1 accepted'"),
                ("mig", "# 1 cell: 1 accepted\nversion: 1\nset: {cuda: \"12.4.1\"}\n", "the key mig is not in it"),
                ("mig", "# 1 cell: 1 accepted\nversion: 1\nset: {cuda: \"12.4.1\"}  # no-mig: 1\n", "the key mig is not in it")):
            (tree / "docs/examples/x.yaml").write_text(text)
            self.refused("docs/examples/x.yaml: " + says, regions.example, "x", [name])
        (tree / "docs/examples/x.yaml").write_text("# 1 cell\nversion: 1\nset: {cudo: 1}\n")
        with self.assertRaises(SystemExit) as stopped:
            regions.example("x", [])
        self.assertTrue(str(stopped.exception).startswith("docs/examples/x.yaml: check ends with 2:\nmatrix.yaml:3:7: error: unknown field \"cudo\""))
        self.refused("docs: fields.none has no example: write docs/examples/fields.none.yaml", regions.example, "fields.none", [])
        self.assertIn("x.yaml", Regions(self.program, tree).unused())

    def test_a_command_or_a_key_of_a_report_without_a_line_is_refused(self):
        tree = self.copy()
        regions = Regions(self.program, tree)
        for name, there, other, call, says in (
                ("commands.md", "| `sbom MATRIX` |", "| `bom MATRIX` |", regions.commands, "docs/commands.md: the first table has no line for sbom"),
                ("run_keys.tsv", "images.log\t", "images.logs\t", regions.run_keys, "docs/run_keys.tsv: missing or left over: images.log, images.logs")):
            call()
            text = (tree / "docs" / name).read_text()
            self.assertEqual(text.count(there), 1)
            (tree / "docs" / name).write_text(text.replace(there, other))
            self.refused(says, call)

    def test_notices_are_left_out_of_examples_and_nothing_else(self):
        got = Regions(self.program, TREE).example("fields.driver", ["driver"])
        self.assertIn("error: driver 470.161.03 is too old", got)
        self.assertIn("\n  fix: driver >= 525.60.13", got)
        self.assertNotIn("notice:", got)
        self.assertEqual(got.count("  fix:"), 1)

    def test_what_a_console_block_may_run(self):
        block = "$ cat docs/tour.yaml\nold\n$ cudamatrix list docs/tour.yaml | head -3 | tail -1\n$ cudamatrix rules show chek\n$ echo $?\n$ cudamatrix list docs/tour.yaml | tail -1\n"
        got = self.program.console(block).splitlines()
        self.assertEqual(got[:3], ["$ cat docs/tour.yaml", "version: 1", "axes:"])
        self.assertNotIn("old", got)
        self.assertIn("$ echo $?", got)
        self.assertEqual(got[got.index("$ echo $?") + 1], "2")
        self.assertTrue(got[-1].startswith("tour: 4 cells"), got[-1])
        self.program.console("$ cudamatrix render examples/quickstart/matrix.yaml --where gpu=H100 --out rendered | tail -1\n")
        self.assertTrue((self.program.work / "rendered").is_dir())
        self.program.clear()
        self.assertFalse((self.program.work / "rendered").exists())
        for command in ("ls", "rm -r docs", "sh -c true"):
            self.refused(f"docs: a console block runs cudamatrix, cat and echo $? only, not {command.split()[0]}: mark it as sh",
                         self.program.console, f"$ {command}\n")
        for cut in ("grep x", "head", "tail -1 docs"):
            self.refused(f"docs: a console block cuts by head -N and tail -N only, not {cut}", self.program.console, f"$ cat docs/tour.yaml | {cut}\n")

    def test_a_part_that_nothing_makes_is_refused(self):
        self.refused("docs: unknown part keyz: expected one of " + ", ".join(generate.NAMES), generate.page,
                     "<!-- made: keyz -->\n<!-- end -->\n", self.program, None, set())

    def test_keys_of_a_schema(self):
        schema = {"anyOf": [{"items": {"properties": {"a": {"description": "A.", "properties": {"b": {"enum": ["x", "y", False]}}}}}}, {"type": "null"}]}
        self.assertEqual([(path, choices(key)) for path, key in schema_keys(schema)], [(("a",), []), (("a", "b"), ["x", "y"])])
        self.assertEqual(choices({"anyOf": [{"type": "string"}, {"enum": ["z", "w"]}]}), ["z", "w"])
        self.assertEqual(choices({"enum": [1, "1"]}), [])


class Picture(Cli):
    def test_colours_become_classes(self):
        self.assertEqual(picture.runs("a \x1b[1;31merror:\x1b[0m b"), [("a ", ""), ("error:", "b red"), (" b", "")])
        with self.assertRaises(SystemExit) as stopped:
            picture.runs("\x1b[45mx")
        self.assertEqual(str(stopped.exception), "docs: the picture does not know the colour 45")

    def test_lines_are_broken_at_spaces(self):
        rows = [picture.joined(row) for row in picture.wrapped("x" * 60 + " \x1b[31m" + "y" * 60 + "\x1b[0m z")]
        self.assertEqual(rows, [[("x" * 60 + " ", "")], [("y" * 60, "red"), (" z", "")]])
        self.assertEqual([picture.joined(row) for row in picture.wrapped("  a  b")], [[("  a  b", "")]])

    def test_text_is_text(self):
        got = picture.svg("a <b>", "<script>&\n", "c & d")
        self.assertIn("&lt;script&gt;&amp;</text>", got)
        self.assertNotIn("<script>", got)

    def test_the_picture_stands_alone(self):
        text = (TREE / "docs/check.svg").read_text()
        self.assertEqual(re.findall(r"https?://[^\"]*", text), ["http://www.w3.org/2000/svg"])
        self.assertNotIn("url(", text)


class Links(Cli):
    def test_every_link_leads_somewhere(self):
        self.assertEqual(links.mistakes(TREE), [])

    def test_links_that_lead_nowhere(self):
        self.write("# A `b` c: d\n## Twice\n## Twice\n<a id=\"own\"></a>\n", "other.md")
        self.write("""# Page
[good](other.md) [good](#page) [good](other.md#a-b-c-d) [good](other.md#twice-1) [good](other.md#own) ![good](<a b.svg>) [good](.)
[good](https://example.org/a_(b)?c=d#e "title") [good][ref] [good](mailto:a@example.org) `[code](none.md)` ``[`code`](none.md)``
```
[code](none.md)
```
[ref]: other.md
[bad](none.md) [bad](other.md#none) [bad](#none)
![bad](none.svg) [bad](/other.md) [bad](../../outside.md)
[bad](https://) [bad](http://nodots/x) [bad](https://exa<mple.org/) [bad](ftp://example.org/) [bad](mailto:nobody) [bad](//example)
<img src="none.png"> <a href="other.md#nowhere">x</a>
[bad]: gone.md
[no link](a b.svg#x) [bad](other.md#twice-2) [bad](a%20b.svg#x)
""", "page.md")
        self.write("", "a b.svg")
        self.write("[bad](none.md)\n", "build/skipped.md")
        self.assertEqual(links.mistakes(self.dir), [
            "page.md:8: the link none.md names no file", "page.md:8: the link other.md#none names no heading", "page.md:8: the link #none names no heading",
            "page.md:9: the link none.svg names no file", "page.md:9: the link /other.md starts at the root of the host: write it from the page",
            "page.md:9: the link ../../outside.md leaves the tree",
            "page.md:10: the link https:// is no address", "page.md:10: the link http://nodots/x is no address",
            "page.md:10: the link https://exa<mple.org/ is no address", "page.md:10: the link ftp://example.org/ is no address",
            "page.md:10: the link mailto:nobody is no address", "page.md:10: the link //example is no address",
            "page.md:11: the link none.png names no file", "page.md:11: the link other.md#nowhere names no heading",
            "page.md:12: the link gone.md names no file",
            "page.md:13: the link other.md#twice-2 names no heading", "page.md:13: the link a%20b.svg#x names no heading"])


class Tables(Cli):
    def test_no_comment_parts_a_table(self):
        """A code host shows the rows behind a comment as plain text."""
        tables = 0
        for page in links.pages(TREE):
            lines = [line for _, line in links.prose(page.read_text())]
            for number, line in enumerate(lines):
                if re.fullmatch(r"\|( ?:?-+:? ?\|)+", line):
                    tables += 1
                    with self.subTest(f"{page.name}: {lines[number - 1]}"):
                        columns = len(re.findall(r"(?<!\\)\|", line))
                        self.assertEqual([len(re.findall(r"(?<!\\)\|", row)) for row in (lines[number - 1], lines[number + 1])], [columns, columns])
        self.assertGreater(tables, 20)


class Recipes(Cli):
    """What docs/ci.md shows is what action.yml, the component of GitLab and the hooks take."""

    def setUp(self):
        super().setUp()
        self.page = (TREE / "docs/ci.md").read_text()

    def keys(self, flow):
        return set(re.findall(r"([\w-]+): ", flow))

    def test_inputs_of_the_action(self):
        action = (TREE / "action.yml").read_text()
        taken = set(re.findall(r"^  ([\w-]+):$", action.split("\ninputs:\n")[1].split("\noutputs:\n")[0], re.MULTILINE))
        shown = re.findall(r"uses: OWNER/cudamatrix@COMMIT\n +with: \{(.*)\}", self.page)
        self.assertEqual(len(shown), self.page.count("uses: OWNER/cudamatrix@COMMIT"))
        for flow in shown:
            self.assertLessEqual(self.keys(flow), taken)
        for name in re.findall(r"steps\.list\.outputs\.([\w-]+)", self.page):
            self.assertIn(f"\noutputs:\n  {name}:\n", action)
        self.assertIn("require-gpu", taken)

    def test_inputs_of_the_component(self):
        component = (TREE / "ci/gitlab/templates/cudamatrix/template.yml").read_text()
        taken = set(re.findall(r"^    ([\w-]+):$", component.split("\n---\n")[0], re.MULTILINE))
        shown = re.findall(r"inputs: \{(.*)\}", self.page)
        self.assertEqual(len(shown), 1)
        self.assertLessEqual(self.keys(shown[0]), taken)

    def test_hooks(self):
        hooks = re.findall(r"^- id: (\S+)", (TREE / ".pre-commit-hooks.yaml").read_text(), re.MULTILINE)
        self.assertEqual(re.findall(r"- \{id: ([\w-]+)", self.page), hooks)

    def test_commands_that_are_not_run_have_options_that_exist(self):
        known = {}
        for page in sorted((TREE / "docs").glob("*.md")):
            for block in re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL):
                for line in block.splitlines():
                    found = re.match(r"cudamatrix ((?:[a-z]+ ?)+)(.*)", line.split(" #")[0])
                    if not found:
                        continue
                    words = found[1].split()
                    name = tuple(words[:2] if words[0] in ("facts",) and words[1] in ("measure", "refresh", "log", "list", "check") else words[:1])
                    name = tuple(words[:3]) if name == ("facts", "measure") else name
                    if name not in known:
                        known[name] = self.call("help", *name, code=0).stdout
                    for option in re.findall(r"--[a-z-]+", line.split(" #")[0]):
                        with self.subTest(line):
                            self.assertRegex(known[name], rf"(?m)^ +(-\w, )?{option}\b")


if __name__ == "__main__":
    main()

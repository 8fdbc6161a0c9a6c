"""The command line as a user meets it: review. Usage: review_test.py CUDAMATRIX [unittest arguments]"""
import csv
import html
import json
import os
import re
import subprocess

from cli import PROGRAM, TESTS, Cli, main

EXAMPLES = TESTS.parent / "examples"
# Names the version and the date of the facts, which change with neither the matrix nor the day.
BY = re.compile(r"^(matrix\.yaml, as of \S+,) by cudamatrix \S+ with facts of \S+\.$", re.MULTILINE)
# Judged as of a day of the past: what was newest then does not change.
DAY = ("--on", "2025-06-30")
STACK = """version: 1
axes:
  gpu: [T4, GTX 1080 Ti]
set:
  driver: "570"        # LTS until 2026
  torch: 2.5.0+cu124   # pinned
  python: "3.11"
"""
WAIVED = STACK + """rules: [{id: no-pascal, when: {gpu: GTX 1080 Ti}, require: {driver: ">=580"}, because: agreed}]
waive: [{rule: no-pascal, because: until they are replaced, until: 2025-06-15}]
"""
LOCK = {"schema_version": 1, "tool": "0.1.0", "facts": "abc", "templates": "abc", "bases": {}, "references": {}, "images": {}, "snapshots": {},
        "verdicts": ["drv570-t4-torch2.5.0_cu124-py3.11 rejected a-rule", "drv570-l4-torch2.5.0_cu124-py3.11 accepted"]}
IN_THE_WORLD = """From 2025-03-30 to 2025-06-30 in the world:

| day | what | cells | fact |
| --- | --- | ---: | --- |
| 2025-04-17 | driver branch 575: released |  | driver-r575 |
| 2025-04-23 | torch 2.7.0: released |  | torch-2.7.0 |
| 2025-06-04 | torch 2.7.1: released |  | torch-2.7.1 |
"""
AGAINST_LOCK = """0 verdicts as before, 1 moved, 1 new, 1 gone.

|  | verdict | cells | why |
| --- | --- | --- | --- |
| ✓ better | rejected (a-rule) -> accepted | drv570-t4-torch2.5.0_cu124-py3.11 |  |

1 new cell:

- drv570-gtx1080ti-torch2.5.0_cu124-py3.11: degraded (triton-supports-gpu)

1 gone cell:

- drv570-l4-torch2.5.0_cu124-py3.11

matrix.yaml has no pins: they are not compared.

""" + IN_THE_WORLD
ANOTHER_TORCH = """1 verdict as before, 1 moved, 0 new, 0 gone.

|  | verdict | cells | why |
| --- | --- | --- | --- |
| ✗ worse | degraded (triton-supports-gpu) -> rejected (torch-ships-compute) | drv570-gtx1080ti-torch2.7.1_cu128-py3.11 | error: torch 2.7.1+cu128 has no code for \
GTX 1080 Ti (compute 6.1): its SASS is for 7.5, 8.0, 8.6, 9.0, 10.0, 12.0, its PTX for 12.0 [torch-ships-compute, at runtime] |

1 value:

- torch 2.5.0+cu124 -> 2.7.1+cu128 in 2 cells

From 2025-06-01 to 2025-06-30 in the world:

| day | what | cells | fact |
| --- | --- | ---: | --- |
| 2025-06-04 | torch 2.7.1: released |  | torch-2.7.1 |
"""
RUNS = """| GPU | driver | cells | passed | failed | proof | day |
| --- | --- | ---: | ---: | ---: | --- | --- |
| H100 | 550.54.15 | 1 | · 0 | ✗ 1 | built | not before 2026-11-21 |
| T4 | 550.54.15 | 2 | ✓ 2 | · 0 | loaded | not before 2026-11-21 |
| not named | not named | 1 | · 0 | ✗ 1 | rendered | not before 2026-11-21 |
"""
NO_RUN = "No report of a run was given: --run FILE takes those that cudamatrix run --format json wrote.\n"


def plain(markdown):
    """Without what Markdown needs to print a sign as itself."""
    return html.unescape(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown.replace("<!-- -->", "")))


def sections(review):
    """Title -> text, of Markdown."""
    return {title: text.strip("\n") + "\n" for title, text in re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", review, re.MULTILINE | re.DOTALL)}


class Review(Cli):
    def review(self, *more, name="matrix.yaml"):
        """The sections of the review of that file, on that day unless `more` names another."""
        day = () if "--on" in more else DAY
        return sections(plain(self.call("review", name, *day, *more, "--format", "markdown", code=0).stdout))

    def changed(self, since, *more, **options):
        """What changed, without the line that names both sides."""
        text = self.review("--since", since, *more, **options)[f"What changed since {since}"]
        self.assertTrue(text.startswith(f"{since} -> matrix.yaml: "), text)
        return text.removeprefix(f"{since} -> matrix.yaml: ")

    def git(self, *words, day="2025-06-01T12:00:00"):
        subprocess.run(["git", "-C", self.dir, "-c", "user.name=t", "-c", "user.email=t@example.org", *words], check=True, capture_output=True,
                       env={**os.environ, "GIT_COMMITTER_DATE": day})

    def python_ends(self, day, folder="f"):
        """A folder of facts by which python 3.11 ends on that day."""
        self.write('table: pythons\nas_of: "2025-06-01"\nrows:\n  - {id: python-3.11, python: "3.11", released: "2022-10-24", eol: "' + day +
                   '", source: "https://example.org/x", confidence: read}\n', folder + "/pythons.yaml")
        return folder

    def test_reviews_of_the_examples(self):
        goldens = sorted(EXAMPLES.glob("*/review-*.md"))
        self.assertGreater(len(goldens), 3)
        for golden in goldens:
            with self.subTest(f"{golden.parent.name}/{golden.name}"):
                # Not beside a lock that somebody left there.
                self.write((golden.parent / "matrix.yaml").read_bytes(), golden.parent.name + "/matrix.yaml")
                day = re.fullmatch(r"review-(.*)\.md", golden.name)[1]
                now = self.call("review", "matrix.yaml", "--on", day, "--format", "markdown", cwd=self.dir / golden.parent.name, code=0).stdout
                masked = BY.sub(r"\1", now)
                self.assertNotEqual(masked, now)
                if os.environ.get("CUDAMATRIX_UPDATE_GOLDEN") == "1" and masked != BY.sub(r"\1", golden.read_text()):
                    golden.write_text(now)
                self.assertEqual(masked, BY.sub(r"\1", golden.read_text()))

    def test_the_workflow_of_the_example_opens_a_pull_request(self):
        workflow = (EXAMPLES / "quarterly/workflow.yml").read_text()
        for action in re.findall(r"uses: *(.*)", workflow):
            self.assertRegex(action, r"^[\w/-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+$")
        got = subprocess.run(["check-jsonschema", "--builtin-schema", "vendor.github-workflows", EXAMPLES / "quarterly/workflow.yml"], capture_output=True, text=True)
        self.assertEqual(got.returncode, 0, got.stdout + got.stderr)
        steps = [re.sub(r"^ {10}", "", step, flags=re.MULTILINE) for step in re.findall(r"^ {8}run: \|\n((?: {10}.*\n)+)", workflow, re.MULTILINE)]
        build, *steps = steps
        self.assertIn("cmake --install", build)
        self.assertEqual(len(steps), 3)

        # No index is asked: a row is found, as one that came out would be.
        row = self.read(self.python_ends("2027-09-30") + "/pythons.yaml")
        self.write(f"""#!/bin/sh
case "$1 $2" in
    "facts refresh") echo "$*" >>"{self.dir}/log"; cp "{self.dir}/f/pythons.yaml" facts/pythons.yaml; exit 1 ;;
    *) exec "{PROGRAM}" "$@" ;;
esac
""", "bin/cudamatrix")
        self.write(f'#!/bin/sh\necho "gh $*" >>"{self.dir}/log"\n', "bin/gh")
        day = "2026-10-01"
        self.write(f"#!/bin/sh\necho {day}\n", "bin/date")
        for name in ("cudamatrix", "gh", "date"):
            (self.dir / "bin" / name).chmod(0o755)
        self.write((EXAMPLES / "quarterly/matrix.yaml").read_bytes(), "team/matrix.yaml")
        team = {"cwd": self.dir / "team", "check": True, "capture_output": True, "text": True}
        self.git("init", "--quiet", "--bare", "origin")
        for words in (["init", "--quiet", "--initial-branch", "main"], ["remote", "add", "origin", "../origin"], ["config", "user.name", "t"],
                      ["config", "user.email", "t@example.org"], ["add", "--all"], ["commit", "--quiet", "--message", "one"]):
            subprocess.run(["git", *words], **team)
        for number in ("1", "2"):
            environment = {**os.environ, "PATH": f"{self.dir}/bin:{os.environ['PATH']}", "GITHUB_RUN_NUMBER": number, "GH_TOKEN": "x"}
            for step in steps:
                self.assertEqual(subprocess.run(["shellcheck", "--shell", "bash", "-"], input=step, capture_output=True, text=True).stdout, "")
                got = subprocess.run(["bash", "-e", "-c", step], cwd=self.dir / "team", env=environment, capture_output=True, text=True)
                self.assertEqual(got.returncode, 0, got.stdout + got.stderr)
            self.assertTrue(self.read("team/body.md").startswith("## Upgrade review of quarterly\n"))
        refreshed, *first = self.read("log").splitlines()[:3]
        again, *second = self.read("log").splitlines()[3:]
        self.assertEqual(refreshed, "facts refresh --out facts --only torch,torchvision,pytorch-lightning,cupy-cuda12x,cuda-toolkit")
        self.assertEqual(again, refreshed.replace("refresh", "refresh --facts facts"))
        self.assertEqual(first + second, [line for number in ("1", "2") for line in
                                          ("gh auth setup-git", f"gh pr create --title Quarterly review {day}-{number} --body-file body.md")])
        refs = subprocess.run(["git", "ls-remote", "../origin"], **team).stdout
        self.assertEqual(re.findall(r"refs/.*", refs), [f"refs/heads/quarterly-review-{day}-1", f"refs/heads/quarterly-review-{day}-2",
                                                        f"refs/tags/review-{day}-1", f"refs/tags/review-{day}-2"])
        # The second review begins where the first one was held.
        self.assertIn(f"### What changed since review-{day}-1:./matrix.yaml\n", self.read("team/body.md"))
        self.assertEqual(subprocess.run(["git", "show", f"quarterly-review-{day}-1:facts/pythons.yaml"], **team).stdout, row)
        self.assertEqual(subprocess.run(["git", "show", f"review-{day}-1:matrix.yaml"], **team).stdout, (EXAMPLES / "quarterly/matrix.yaml").read_text())
        self.assertEqual(subprocess.run(["git", "status", "--short"], **team).stdout, "?? body.md\n")

    def test_sentences_of_the_page_that_the_example_began_with(self):
        with open(TESTS / "reviews/infra-overview.tsv", newline="") as file:
            head, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        self.assertEqual(head, ["sentence", "is", "review", "text, or why there is none"])
        self.assertGreater(len(rows), 50)
        self.assertEqual(len({row[0] for row in rows}), len(rows), "a sentence stands there twice")
        for sentence, judged, review, text in rows:
            with self.subTest(sentence):
                self.assertIn(judged, ("right", "wrong", "half", "done", "not said"))
                self.assertTrue(sentence and text)
                # The words that say so or do it, or a reason why there are none.
                self.assertEqual(judged == "not said", review == "none")
                if review != "none":
                    self.assertIn(text, plain((EXAMPLES / review).read_text()))

    def test_since_a_day_the_same_file_is_judged_on_it(self):
        self.write(WAIVED)
        self.assertEqual(self.changed("2025-06-01"), """1 verdict as before, 1 moved, 0 new, 0 gone.

That is the same file, judged on that day: it differs by ends and waivers only.

|  | verdict | cells | why |
| --- | --- | --- | --- |
| ✗ worse | degraded (triton-supports-gpu) -> rejected (no-pascal) | drv570-gtx1080ti-torch2.5.0_cu124-py3.11 | error: driver 570 does not meet >= 580, \
required with gpu GTX 1080 Ti: agreed [no-pascal, at container_start] |

From 2025-06-01 to 2025-06-30 in the world:

| day | what | cells | fact |
| --- | --- | ---: | --- |
| 2025-06-04 | torch 2.7.1: released |  | torch-2.7.1 |
""")
        nothing = "2 verdicts as before, 0 moved, 0 new, 0 gone.\n\nThat is the same file, judged on that day: it differs by ends and waivers only.\n\n" \
            "The facts name nothing that came out or ended from 2025-06-16 to 2025-06-30.\n"
        self.assertEqual(self.changed("2025-06-16"), nothing)
        self.assertEqual(self.changed("2025-06-30"), nothing.replace("06-16", "06-30"))
        # Three months, where nothing is named and no lock lies beside the file.
        self.assertIn("What changed since 2025-03-30", self.review())

    def test_since_a_lock(self):
        self.write(STACK)
        self.write(json.dumps(LOCK), "then.lock")
        self.assertEqual(self.changed("then.lock"), AGAINST_LOCK)
        self.assertIn("- Since then.lock: 0 worse, 1 better, 1 new, 1 gone.\n", self.review("--since", "then.lock")["In short"])
        self.write(json.dumps(LOCK), "cudamatrix.lock")
        self.assertIn("0 verdicts as before, 1 moved, 1 new, 1 gone.", self.review()["What changed since cudamatrix.lock"])
        self.assertIn("2 verdicts as before, 0 moved, 0 new, 0 gone.", self.changed("2025-06-01"))

    def test_since_a_revision(self):
        self.git("init", "--quiet")
        self.write(STACK)
        self.write(STACK, "m/other.yaml")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "one")
        self.git("tag", "review-1")
        self.write(STACK.replace("2.5.0+cu124", "2.7.1+cu128"))
        self.git("commit", "--quiet", "--all", "--message", "two", day="2025-06-20T12:00:00")
        for since in ("HEAD~1:matrix.yaml", "HEAD~1:./matrix.yaml", "review-1:m/other.yaml"):
            self.assertEqual(self.changed(since), ANOTHER_TORCH)
        for since in ("HEAD~1", "review-1"):
            self.assertEqual(self.review("--since", since)[f"What changed since {since}:./matrix.yaml"], f"{since}:./matrix.yaml -> matrix.yaml: {ANOTHER_TORCH}")
        self.assertIn("The facts name nothing that came out or ended from 2025-06-20 to 2025-06-30.", self.changed("HEAD:matrix.yaml"))
        below = self.call("review", "../matrix.yaml", *DAY, "--since", "HEAD~1", "--format", "markdown", cwd=self.dir / "m", code=0).stdout
        self.assertIn("1 verdict as before, 1 moved, 0 new, 0 gone.", below)

        self.refused("review", "matrix.yaml", *DAY, "--since", "nothing", says=(
            "--since nothing: neither a file, a day nor a revision: git: fatal: ", "name a cudamatrix.lock, a day (2026-08-27), a revision (HEAD~20) or REV:PATH"))
        self.refused("review", "matrix.yaml", *DAY, "--since", "nothing:matrix.yaml", says="--since nothing: neither a file, a day nor a revision")
        self.refused("review", "matrix.yaml", *DAY, "--since", "HEAD:none.yaml", says="HEAD:none.yaml: neither a file nor a path of a commit: git: fatal: ")
        self.refused("review", "m/new.yaml", *DAY, "--since", "HEAD", says="cannot read m/new.yaml: No such file or directory")
        self.write(STACK, "m/new.yaml")
        self.refused("review", "m/new.yaml", *DAY, "--since", "HEAD", says="HEAD:./m/new.yaml: neither a file nor a path of a commit")
        self.write("version: 2\n", "m/other.yaml")
        self.git("commit", "--quiet", "--all", "--message", "three")
        self.refused("review", "matrix.yaml", *DAY, "--since", "HEAD:m/other.yaml", says='invalid version "2": expected 1')

    def test_since_what_it_cannot_be(self):
        name = self.write(STACK)
        self.assertEqual(self.refused("review", name, *DAY, "--since", "2025-07-01"), "cudamatrix: error: --since 2025-07-01 is after 2025-06-30\n"
                         "  fix: name what is earlier, or a later --on\n")
        self.write("{}", "odd.json")
        self.write(json.dumps({**LOCK, "verdicts": 1}), "broken.lock")
        self.python_ends("2027-10-31")
        for since, says in (("2025-13-01", "--since 2025-13-01: neither a file, a day nor a revision"), ("HEAD", "git: fatal: not a git repository"),
                            ("--upload-pack=x", "--since --upload-pack=x: neither a file, a day nor a revision\n"), ("none.lock", "--since none.lock: neither"),
                            (":matrix.yaml", "--since :"), ("odd.json", "odd.json"), ("broken.lock", "broken.lock"), ("f", "--since f is a folder of facts")):
            self.refused("review", name, *DAY, f"--since={since}", says=says)
        self.write(self.call("render", name, "--format", "json").stdout, "run.json")
        self.refused("review", name, *DAY, "--since", "run.json", says=("--since run.json is the report of a run", "name a cudamatrix.lock, a matrix file, a day or a revision"))

    def test_facts_say_what_they_change(self):
        self.write(STACK)
        self.assertIn("- Nothing in use is known to end within 12 months.\n", self.review("--on", "2026-06-30")["In short"])
        got = self.review("--on", "2026-06-30", "--facts", self.python_ends("2027-01-31"))
        self.assertTrue(got["What changed since 2026-03-30"].startswith("""2026-03-30 -> matrix.yaml: 2 verdicts as before, 0 moved, 0 new, 0 gone; 1 fact moved, 0 looked up again.

That is the same file, judged on that day without the rows of --facts.

1 row:

- pythons python-3.11: eol 2027-10-31 -> 2027-01-31 (https://example.org/x, as of 2025-06-01)

"""), got["What changed since 2026-03-30"])
        self.assertIn("- Next to end: python 3.11 (end of life: 2027-01-31).\n", got["In short"])
        self.assertIn("| python | `3.11` | 2 | ! end of life 2027-01-31 |", got["Calendar"])
        self.assertIn("| python-3.11 | ! 2025-06-01 |\n", got["Facts that aged"])
        self.assertIn("| python-3.11 | <https://example.org/x> | 2025-06-01", got["Sources"])

        # A row that makes a cell worse: what was is judged without it.
        self.write("version: 1\nset: {driver: \"570\", gpu: T4, torch: 2.6.0+cu124}\n")
        self.write("""table: gpus
as_of: "2025-06-01"
rows:
  - {id: gpu-t4, name: "Tesla T4", aliases: ["T4"], compute: "3.7", class: "datacenter", memory_gb: [16], source: "https://example.org/x", confidence: read}
""", "worse/gpus.yaml")
        got = self.review(*DAY, "--facts", "worse")
        self.assertIn("1 worse, 0 better", got["In short"])
        self.assertIn("torch-ships-compute", got["What changed since 2025-03-30"])

        self.refused("review", "matrix.yaml", "--facts", "none", says="the facts folder none cannot be read")
        self.write("rows: [", "bad/pythons.yaml")
        self.refused("review", "matrix.yaml", "--facts", "bad", says="pythons.yaml:1:")
        self.refused("review", "matrix.yaml", "--facts", self.python_ends("soon", "no-day"), says="no-day/pythons.yaml:4:")
        (self.dir / "empty").mkdir()
        self.refused("review", "matrix.yaml", "--facts", "empty", says="the facts folder empty holds no .yaml file")

    def test_what_ends_within_60_days_is_an_emergency(self):
        def review(until):
            self.write(WAIVED.replace("2025-06-15", until))
            return self.review()
        got = review("2025-08-29")
        self.assertIn("- Urgent: 1 end; a plan follows.\n", got["In short"])
        plan = got["Emergency: act by 2025-08-29"]
        self.assertEqual(plan.splitlines()[2], "| ! 2025-08-29 | waiver of no-pascal (until they are replaced): waiver ends | 1 |  |")
        self.assertEqual(re.findall(r"^Step .*", plan, re.MULTILINE),
                         ["Step 1, 2025-06-30 to 2025-07-06: Look at the alternatives.", "Step 2, 2025-07-07 to 2025-07-13: Prepare the change.",
                          "Step 3, 2025-07-14 to 2025-07-20: Prove it in staging.", "Step 4, 2025-07-21 to 2025-07-27: Bring it to production."])
        # What little is left is shared out.
        self.assertEqual(re.findall(r"^Step \d, (.*?):", review("2025-07-04")["Emergency: act by 2025-07-04"], re.MULTILINE),
                         [f"2025-{day} to 2025-{day}" for day in ("06-30", "07-01", "07-02", "07-03")])
        for until in ("2025-08-30", "2025-06-15", "2025-06-29", "2030-01-01"):
            calm = review(until)
            self.assertNotIn("Urgent", calm["In short"])
            self.assertEqual([title for title in calm if title.startswith("Emergency")], [])

    def test_runs_say_what_was_proven(self):
        name = self.write(STACK)
        self.assertEqual(self.review()["Tested on"], NO_RUN)
        report = (TESTS / "golden_reports/run.json").read_text()
        self.write(report, "a.json")
        self.assertEqual(self.review("--run", "a.json")["Tested on"], RUNS)
        self.assertEqual(self.review("--run", "a.json", "a.json")["Tested on"].count("| T4 |"), 2)
        self.assertIn("| T4 | 550.54.15 | 2 | ✓ 2 | · 0 | loaded | ! not before 2026-11-21, old |\n", self.review("--run", "a.json", "--on", "2027-11-21")["Tested on"])
        dated = report.replace('  "gpu":', '  "day": "2026-11-20",\n  "gpu":', 1)
        self.write(dated, "dated.json")
        self.assertIn("| loaded | 2026-11-20 |\n", self.review("--run", "dated.json")["Tested on"])
        self.assertIn("| loaded | ! 2026-11-20, old |\n", self.review("--run", "dated.json", "--on", "2027-11-21")["Tested on"])
        # What several machines proved is as old as the oldest of it.
        self.write(dated.replace("2026-11-20", "2026-11-19"), "older.json")
        for files, day in ((("dated.json", "older.json"), "2026-11-19"), (("older.json", "dated.json"), "2026-11-19"), (("dated.json", "a.json"), None)):
            merged = json.loads(self.call("report", *files, "--format", "json").stdout)
            self.assertEqual(merged.get("day"), day)
        for text, says in (("", "not valid JSON"), (dated.replace("2026-11-20", "soon"), '$.day: found "soon", expected a day, YYYY-MM-DD'), (report[:-3], "not valid JSON"), ("{}", "$.schema_version: missing"), (json.dumps(LOCK), "$.command: missing"),
                           (self.call("check", name, "--format", "json").stdout, "$.schema_version: found 2, expected 1"),
                           (self.call("review", name, "--format", "json").stdout, "$.command: missing"),
                           (report.replace('"passed_without_gpu"', '"good"'), 'found "good", expected skipped, planned,')):
            self.refused("review", name, "--run", "a.json", self.write(text, "b.json"), says=("b.json:", says))
        self.refused("review", name, "--run", "none.json", says="none.json")
        self.refused("review", name, "--run", says="--run")

    def test_formats(self):
        name = self.write(STACK)
        starts = {"text": "Upgrade review of matrix\n========================\n", "markdown": "# Upgrade review of matrix\n", "html": "<!DOCTYPE html>\n",
                  "json": '{\n  "schema_version": 1,\n', "github-pr": "## Upgrade review of matrix\n"}
        files = {"text": "review.txt", "markdown": "review.md", "html": "review.html", "json": "review.json", "github-pr": "review.github-pr.md"}
        printed = {}
        for form, start in starts.items():
            got = self.call("review", name, *DAY, "--format", form, "--out", form, code=0)
            self.assertEqual((got.stdout[:len(start)], got.stderr), (start, ""))
            self.assertEqual(self.read(f"{form}/{files[form]}"), got.stdout)
            self.assertEqual(got.stdout, self.call("review", name, *DAY, "--format", form, code=0).stdout)
            printed[form] = got.stdout
        self.assertEqual(self.call("review", name, *DAY, code=0).stdout, printed["text"])
        self.assertLessEqual(max(map(len, printed["text"].splitlines())), 100)
        # A page needs no script, and nothing from elsewhere.
        self.assertEqual(re.findall(r"<script|<link|<img|src=|@import|url\(", printed["html"]), [])
        # Every section of Markdown is one of the page.
        for title in sections(printed["markdown"]):
            self.assertIn(f">{title}</h2>", printed["html"])
        for bad in ("junit", "patch", "Markdown", ""):
            self.refused("review", name, "--format", bad, says="--format: ")

    def test_what_a_matrix_says_is_no_markup(self):
        odd = STACK + 'name: "a-b"\nrules: [{id: own, require: {driver: ">=580"}, because: "<b>|x| @all [y](https://example.org) `z`"}]\n'
        page = self.call("review", self.write(odd), *DAY, "--format", "html", code=0).stdout
        self.assertNotIn("<b>|x|", page)
        self.assertIn("&lt;b&gt;|x| @all [y](https://example.org) `z`", page)
        # Outside of the code, where the patch has the line as it stands.
        comment = re.sub(r"^```.*?^```$", "", self.call("review", "matrix.yaml", *DAY, "--format", "github-pr", code=0).stdout, flags=re.MULTILINE | re.DOTALL)
        for markup in ("<b>|x", "@all", "[y](", " `z`"):
            self.assertNotIn(markup, comment)

    def test_nothing_works(self):
        self.write("version: 1\nname: none\nset: {driver: \"470.161.03\", gpu: RTX 5090, torch: 2.6.0+cu124, python: \"3.11\"}\n")
        got = self.review("--on", "2026-09-30")
        self.assertIn("- Today: 1 rejected.\n", got["In short"])
        for title in ("Requirements", "Why these versions"):
            self.assertEqual(got[title], "No cell works.\n")
        self.assertTrue(got["Rejected alternatives"].split("\n")[2].startswith(
            "| torch 2.6.0+cu124, driver 470.161.03, python 3.11 | 1 | driver 470.161.03 does not know RTX 5090 (compute 12.0): "), got["Rejected alternatives"])
        self.assertIn("✓ better", got["Recommended: next"])

    def test_empty_calendar(self):
        self.write("version: 1\nset: {gpu: T4, cuda: \"12.4.1\", driver: \"580.65.06\"}\n")
        got = self.review("--on", "2026-09-30")
        self.assertIn("- Nothing in use is known to end within 12 months.\n", got["In short"])
        self.assertEqual(got["Calendar"], """| field | value | cells | status | newest | fact |
| --- | --- | ---: | --- | --- | --- |
| driver | `580.65.06` | 1 | ✓ end of life 2028-06 | 615.71.09 | driver-r580 |
| cuda | `12.4.1` | 1 | · no end known | 13.4.2 | cuda-12.4.1 |
""")
        self.assertNotIn("Images to copy before they vanish", got)
        self.assertEqual(self.json_of("review", "matrix.yaml", "--on", "2026-09-30")["calendar"], [])

    def test_bad_matrices_are_2(self):
        for content, says in (("version: 2\n", 'matrix.yaml:1:10: error: invalid version "2"'), ("", "matrix.yaml"), ("axes: [", "matrix.yaml:1:"),
                              (STACK + "keep: [{gpu: H100}]\n", "matrix.yaml:8:8: error: keep matches no cell"),
                              (STACK + "expect_cells: 3\n", "expect_cells"), (STACK.replace("2.5.0+cu124", "abc"), 'invalid torch "abc"')):
            self.refused("review", self.write(content), *DAY, says=says)
        self.refused("review", "none.yaml", says="cannot read none.yaml: No such file or directory")
        self.refused("review", says="MATRIX is required")
        name = self.write(STACK)
        self.refused("review", name, "--on", "yesterday", says="--on")
        self.refused("review", name, "--fail-on", "rejected", says="--fail-on")
        self.refused("review", name, "other.yaml", says="other.yaml")
        self.assertEqual(self.read(name), STACK)

    def test_a_comment_holds_what_fits(self):
        gpus = "RTX 3090, RTX 3080, RTX 3060 Ti, GTX 1080 Ti, T4, L4, A10, H100, V100, P100, RTX 4090, RTX 5090"
        self.write(f"""version: 1
name: big
axes:
  driver: ["470.161.03", "535.183.01", "550.54.15", "570.86.16", "580.65.06"]
  gpu: [{gpus}]
  cuda: ["11.8.0", "12.1.1", "12.4.1", "12.6.3", "12.8.1", "13.0.0"]
set: {{family: nvidia-cuda, os: ubuntu22.04, flavour: runtime, python: "3.11", torch: 2.6.0+cu124}}
""")
        comment = self.call("review", "matrix.yaml", "--on", "2026-09-30", "--format", "github-pr", code=0).stdout
        self.assertLessEqual(len(comment), 65_536)
        self.assertIn("- Today: 245 degraded, 115 rejected.\n", comment)
        self.assertIn("Left out, for a comment holds 65536 characters: ", comment)
        self.assertEqual(comment.count("<details>"), comment.count("</details>"))
        self.assertEqual(comment.count("```") % 2, 0)
        whole = self.call("review", "matrix.yaml", "--on", "2026-09-30", "--format", "markdown", code=0).stdout
        self.assertGreater(len(whole), 65_536)
        self.assertNotIn("Left out", whole)
        self.assertNotIn("Left out", self.call("review", self.write(STACK), *DAY, "--format", "github-pr", code=0).stdout)

    def test_json_has_the_edits(self):
        def unique(pairs):
            self.assertEqual(len(dict(pairs)), len(pairs), pairs)
            return dict(pairs)
        self.write(WAIVED, "waived/matrix.yaml")
        for path in [*sorted(EXAMPLES.glob("*/matrix.yaml")), self.dir / "waived/matrix.yaml"]:
            with self.subTest(path.parent.name):
                self.write(path.read_bytes())
                got = json.loads(self.call("review", "matrix.yaml", "--on", "2026-09-30", "--format", "json", code=0).stdout, object_pairs_hook=unique)
                self.assertEqual([way["aim"] for way in got["ways"]], ["hold", "next", "ambitious"])
                self.assertEqual(got["counts"], self.json_of("check", "matrix.yaml", "--summary", "--on", "2026-09-30")["verdicts"])
                for way in got["ways"]:
                    self.assertEqual(way["refusal"] == "", way["source"] != "")
                    if way["source"]:
                        self.write(way["source"], "way.yaml")
                        self.assertEqual(self.json_of("check", "way.yaml", "--summary", "--on", "2026-09-30")["verdicts"], way["counts"])


if __name__ == "__main__":
    main()

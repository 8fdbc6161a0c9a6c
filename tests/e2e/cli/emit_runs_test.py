"""emit: its pipelines are run here, step by step, on an engine that is played. Usage: emit_runs_test.py CUDAMATRIX [unittest arguments]"""
import json
import re
import shutil
import sys

from ci_services import AGENT, Buildkite, Github, Gitlab
from cli import PROGRAM, Cli, main
from emit_test import as_data
import fake_site

MATRIX = """version: 1
name: small
axes:
  driver: ["580.65.06"]
  gpu: [T4, H100]
  cuda: ["11.8.0"]
  os: debian12
build: {base_from: bootstrap, snapshot: none}
images:
  - {name: a, env: {MODE: a}}
  - {name: b, env: {MODE: b}}
emit:
  machines:
    - {when: {gpu: T4}, labels: [box]}
"""
A_BOX, A_ANY, B_BOX, B_ANY = TASKS = [f"{name}-debian12-cu11.8.0-on-{where}" for name in "ab" for where in ("box", "any")]
T4_A = "drv580.65.06-t4-cu11.8.0-debian12@a"
TOOL = MATRIX + "  tool: https://git.example.org/tools/cudamatrix@0123456789abcdef0123456789abcdef01234567\n"
PROGRAMS = ("env", "bash", "sh", "sleep", "chmod", "mkdir", "cat", "id", "rm")


class Runs(Cli):
    """Each test has a repository, a fake docker and a fake mmdebstrap, and on PATH nothing else of this machine but a shell and its tools."""

    def setUp(self):
        super().setUp()
        engine = fake_site.install(self.dir / "bin", self.dir / "state")
        for name, content in (("buildkite-agent", AGENT), ("sudo", '#!/bin/sh\nexec "$@"\n')):
            fake_site.program(self.dir / "bin" / name, content)
        (self.dir / "tools").mkdir()
        for name, path in [("python3", sys.executable), ("cudamatrix", PROGRAM), *((name, shutil.which(name)) for name in PROGRAMS)]:
            (self.dir / "tools" / name).symlink_to(path)
        self.environment = {"PATH": f"{self.dir}/bin:{self.dir}/tools", **engine, "HOME": str(self.dir), "LC_ALL": "C.UTF-8"}
        self.repository = self.dir / "repository"

    def service(self, kind, target, matrix=MATRIX, folder="ci", faults="", buildx="0", moved=None, offline=False, **more):
        """Locks the matrix, emits for the target, and gives the service that has the repository; `moved` is then in the place of the matrix."""
        self.write(matrix, "repository/matrix.yaml")
        for words in (["lock", "matrix.yaml", "--engine", "docker"], ["emit", target, "matrix.yaml", "--out", folder]):
            self.call(*words, cwd=self.repository, env=self.environment, code=0)
        self.write(moved or matrix, "repository/matrix.yaml")
        shutil.rmtree(self.repository / "cudamatrix-out", ignore_errors=True)
        (self.dir / "state/calls.jsonl").unlink(missing_ok=True)
        if offline:
            self.write("#!/bin/sh\necho 'E: Failed to fetch http://deb.example.org' >&2\nexit 25\n", "bin/mmdebstrap")
        return kind(self.dir / "service", self.repository, as_data, {**self.environment, "FAKE_DOCKER_FAULTS": faults, "FAKE_DOCKER_BUILDX": buildx}, **more)

    def github(self, **options):
        service = self.service(Github, "github", folder=".github/workflows", **options)
        service.states = service.run(".github/workflows/cudamatrix-small.yml")
        return service

    def forget(self):
        for name in ("service", "repository"):
            shutil.rmtree(self.dir / name, ignore_errors=True)

    def tool(self):
        """What an earlier job kept of the tool in its folder, with its source."""
        self.write("exit 0\n", "kept/source/cmake/install_packages.sh")
        (self.dir / "kept/bin").mkdir()
        (self.dir / "kept/bin/cudamatrix").symlink_to(PROGRAM)
        (self.dir / "tools/cudamatrix").unlink()
        return self.dir / "kept"

    def engines(self):
        """For each machine that tested a cell how many images it built by hand, and how often it called bake."""
        out = []
        for log in (self.dir / "service").rglob("calls.jsonl"):
            calls = [json.loads(line)["argv"] for line in log.read_text().splitlines()]
            if any(call[0] == "run" for call in calls):
                out.append((len([call for call in calls if call[0] == "build" or call[:2] == ["buildx", "build"]]),
                            len([call for call in calls if call[:2] == ["buildx", "bake"]])))
        return out

    def assertReport(self, text, results, *says):
        """One report of all four cells, with so many of each result."""
        self.assertEqual(re.findall(r"^\| (passed without a GPU|failed|errored|not tested) \| (\d) \|$", text, re.MULTILINE), results, text)
        self.assertEqual(len(re.findall(r"^\| drv580\.65\.06-\w+-cu11\.8\.0-debian12@<!-- -->[ab] \| accepted \|", text, re.MULTILINE)), 4, text)
        self.assertAllIn(says, text)

    def assertRed(self, service, *jobs):
        self.assertEqual({name for name in service.results if service.results[name] != "success"}, set(jobs), json.dumps(service.said, indent=1))

    def test_github_makes_one_report(self):
        for matrix, buildx, faults in ((MATRIX, "0", ""), (MATRIX, "1", "bake_fails"), (MATRIX, "1", ""), (TOOL, "1", "")):
            with self.subTest(buildx=buildx, faults=faults, tool=matrix == TOOL):
                self.forget()
                more = {"kept": self.tool()} if matrix == TOOL else {}
                service = self.github(matrix=matrix, buildx=buildx, faults=faults, **more)
                self.assertRed(service)
                self.assertEqual(list(service.results), ["check", A_BOX, A_ANY, B_BOX, B_ANY, "summary"])
                self.assertReport(service.summaries["summary"], [("passed without a GPU", "4")])
                self.assertAllIn(["**small**: 2 cells: 2 accepted", "| drv580.65.06-t4-cu11.8.0-debian12 | accepted |"], service.summaries["check"])
                self.assertAllIn(["2 verdicts as in cudamatrix.lock, 0 moved", " in .github/workflows, all up to date\n"], service.said["check"])
                # What bake built is current; without it the image and its proof are built by hand.
                self.assertEqual(self.engines(), [(0, 1) if buildx == "1" and not faults else (2, int(buildx))] * 4)
                self.assertEqual({path.name for path in service.artifacts.iterdir()}, {"summary", *("result-" + task for task in TASKS)})
                self.assertEqual({path.name for path in (service.artifacts / "summary").iterdir()}, {"collected.md", "collected.xml"})
                for task in TASKS:
                    self.assertEqual({path.name for path in (service.artifacts / f"result-{task}").iterdir()}, {"logs", "report.json", "report.xml"})

    def test_github_says_which_test_failed(self):
        service = self.github(faults="fail:" + T4_A)
        self.assertRed(service, A_BOX, "summary")
        self.assertEqual(service.codes["summary"], [1])
        self.assertReport(service.summaries["summary"], [("failed", "1"), ("passed without a GPU", "3")], "<summary>drv580.65.06-t4-cu11.8.0-debian12@<!-- -->a: ")

    def test_github_says_what_could_not_be_built(self):
        """Of that the exit code is another one, and there is a report all the same."""
        service = self.github(offline=True)
        self.assertRed(service, *TASKS, "summary")
        self.assertEqual(service.codes["summary"], [3])
        self.assertReport(service.summaries["summary"], [("not tested", "4")], "Failed to fetch")

    def test_github_says_which_cell_no_machine_answered(self):
        service = self.github(lost=[B_ANY])
        self.assertRed(service, B_ANY, "summary")
        self.assertEqual(service.codes["summary"], [1])
        self.assertReport(service.summaries["summary"], [("passed without a GPU", "3"), ("not tested", "1")])

    def test_github_starts_nothing_where_the_workflow_is_not_that_of_the_matrix(self):
        service = self.github(moved=MATRIX.replace("labels: [box]", "labels: [crate]"))
        self.assertEqual(service.results, {"check": "failure", "first-1": "skipped", "then-1": "skipped", "summary": "skipped"})
        self.assertIn("fix: cudamatrix emit github matrix.yaml --out .github/workflows\n", service.said["check"])

    def gitlab(self, **options):
        service = self.service(Gitlab, "gitlab", **options)
        service.run("ci/cudamatrix-small.yml")
        return service

    def test_gitlab(self):
        service = self.gitlab()
        self.assertRed(service)
        self.assertEqual(list(service.results), ["check", *TASKS, "summary of results", "images 1"])
        self.assertReport(service.said["summary of results"], [("passed without a GPU", "4")])
        self.assertEqual(list(service.reports), [(task, "junit") for task in TASKS])

    def test_gitlab_says_which_test_failed(self):
        service = self.gitlab(faults="fail:" + T4_A)
        self.assertRed(service, A_BOX, "summary of results", "images 1")
        self.assertEqual(service.codes["summary of results"], [1])
        self.assertReport(service.said["summary of results"], [("failed", "1"), ("passed without a GPU", "3")])

    def test_gitlab_says_which_cell_no_machine_answered(self):
        service = self.gitlab(lost=[B_ANY])
        self.assertRed(service, B_ANY, "summary of results", "images 1")
        self.assertReport(service.said["summary of results"], [("passed without a GPU", "3"), ("not tested", "1")])

    def buildkite(self, **options):
        service = self.service(Buildkite, "buildkite", **options)
        service.run("ci/cudamatrix-small.yml")
        service.annotation = (service.build / "annotation").read_text()
        return service

    def test_buildkite(self):
        service = self.buildkite()
        self.assertRed(service)
        self.assertEqual(list(service.results), ["check", "images 1", *TASKS, "summary"])
        self.assertReport(service.annotation, [("passed without a GPU", "4")])
        self.assertEqual({path.name for path in (service.artifacts / "summary").iterdir()}, {"collected.md", "collected.xml"})

    def test_buildkite_says_which_test_failed(self):
        service = self.buildkite(faults="fail:" + T4_A)
        self.assertRed(service, A_BOX, "summary")
        self.assertEqual(service.codes["summary"], [1])
        self.assertReport(service.annotation, [("failed", "1"), ("passed without a GPU", "3")])

    def test_buildkite_says_what_could_not_be_built(self):
        service = self.buildkite(offline=True)
        self.assertRed(service, *TASKS, "summary")
        self.assertEqual(service.codes["summary"], [3])
        self.assertReport(service.annotation, [("not tested", "4")])


if __name__ == "__main__":
    main()

"""GitHub Actions, GitLab and Buildkite, as far as what `emit` writes uses them: they run a pipeline here, job for job, each in a fresh copy of the
repository, with the files and exit codes that the services define. Actions are played by what they do to files."""
import glob
import os
import pathlib
import re
import shutil
import subprocess

JOB_IFS = "${{ !cancelled() && needs.check.result == 'success' }}"
STEP_IF = "${{ !cancelled() }}"


class Service:
    def __init__(self, root, repository, read, environment):
        self.root, self.repository, self.read, self.environment = pathlib.Path(root), pathlib.Path(repository), read, dict(environment)
        self.artifacts = self.root / "artifacts"
        self.artifacts.mkdir(parents=True)
        self.results = {}  # job -> "success", "failure" or "skipped"
        self.said = {}  # job -> what its steps printed
        self.codes = {}  # job -> exit codes of its steps
        self.count = 0

    def workspace(self):
        """A machine of its own: no image, no output folder."""
        self.count += 1
        folder = self.root / f"machine-{self.count}"
        shutil.copytree(self.environment["FAKE_DOCKER_DIR"], folder / "state")
        shutil.copytree(self.repository, folder / "work")
        return folder

    def shell(self, argv, folder, environment):
        got = subprocess.run(argv, cwd=folder / "work", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             env={**self.environment, "FAKE_DOCKER_DIR": str(folder / "state"), **environment}, timeout=300)
        return got.returncode, got.stdout


class Github(Service):
    """https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax"""

    def __init__(self, root, repository, read, environment, kept=None, lost=()):
        super().__init__(root, repository, read, environment)
        self.kept = kept  # folder that actions/cache finds
        self.lost = lost  # jobs whose machine is gone before they end
        self.summaries = {}  # job -> Markdown of its page

    def run(self, workflow):
        document = self.read(self.repository / workflow)
        assert document["defaults"] == {"run": {"shell": "bash"}}
        waiting = dict(document["jobs"])
        states = {}
        while waiting:
            name = next(name for name, job in waiting.items() if all(need in states for need in job.get("needs", [])))
            job = waiting.pop(name)
            needs = job.get("needs", [])
            good = all(states[need] == "success" for need in needs)
            condition = job.get("if")
            assert condition in (None, JOB_IFS), condition
            if not (good if condition is None else states["check"] == "success"):
                states[name] = self.results[name] = "skipped"
                continue
            assert job.get("strategy", {"fail-fast": False})["fail-fast"] is False
            rows = job.get("strategy", {}).get("matrix", {}).get("include", [None])
            assert len(rows) <= 256
            states[name] = "success" if all([self.job(name, job, row) for row in rows]) else "failure"
        return states

    def job(self, name, job, row):
        def filled(text):
            text = re.sub(r"\$\{\{ matrix\.(\w+) \}\}", lambda found: str((row or {}).get(found[1], "")), text)
            return re.sub(r"\$\{\{ runner\.(\w+) \}\}", r"\1", text)

        title = filled(job.get("name", name))
        assert title not in self.results, title
        folder = self.workspace()
        shutil.rmtree(folder / "work")  # actions/checkout fills it
        (folder / "work").mkdir()
        environment = {key: filled(value) for key, value in job.get("env", {}).items()}
        state, self.said[title], self.summaries[title] = "success", "", ""
        for number, step in enumerate(job["steps"]):
            assert step.get("if") in (None, STEP_IF), step
            if title in self.lost and number > 1:
                state = "failure"
                break
            if state != "success" and "if" not in step:
                continue
            if "uses" in step:
                action = getattr(self, step["uses"].split("@")[0].removeprefix("actions/").replace("-", "_"))
                action(folder, {key: filled(value) if isinstance(value, str) else value for key, value in step.get("with", {}).items()})
                continue
            code = self.step(title, folder, number, filled(step["run"]), environment)
            self.codes.setdefault(title, []).append(code)
            if code != 0 and not step.get("continue-on-error"):
                state = "failure"
        self.results[title] = state
        return state == "success"

    def step(self, title, folder, number, script, environment):
        assert "${{" not in script, script
        files = {key: folder / f"{key}-{number}" for key in ("GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_STEP_SUMMARY")}
        for path in files.values():
            path.touch()
        (folder / "script.sh").write_text(script)
        code, said = self.shell(["bash", "--noprofile", "--norc", "-eo", "pipefail", str(folder / "script.sh")], folder,
                                {**environment, **{key: str(path) for key, path in files.items()}})
        self.said[title] += said
        for added in files["GITHUB_PATH"].read_text().splitlines():
            environment["PATH"] = added + ":" + environment.get("PATH", self.environment["PATH"])
        assert files["GITHUB_ENV"].read_text() == "" and files["GITHUB_STEP_SUMMARY"].stat().st_size <= 1 << 20
        self.summaries[title] += files["GITHUB_STEP_SUMMARY"].read_text()
        return code

    def checkout(self, folder, _):
        shutil.copytree(self.repository, folder / "work", dirs_exist_ok=True)

    def github_script(self, _folder, _with):
        pass

    def cache(self, folder, given):
        if self.kept:
            shutil.copytree(self.kept, folder / "work" / given["path"], symlinks=True)

    def upload_artifact(self, folder, given):
        """Paths below the folder that all lines of `path` share, whether they are there or not; no hidden files."""
        paths = [os.path.normpath(folder / "work" / line) for line in given["path"].splitlines()]
        found = [pathlib.Path(name) for path in paths for name in glob.glob(path) + glob.glob(path + "/**", recursive=True)]
        found = [path for path in found if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder / "work").parts)]
        top = pathlib.Path(os.path.commonpath(paths))
        if found == [top]:
            top = top.parent
        store = self.artifacts / given["name"]
        assert not store.exists(), f"{given['name']} is there already"
        for path in found:
            target = store / path.relative_to(top)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)

    def download_artifact(self, folder, given):
        for store in self.artifacts.glob(given["pattern"]):
            shutil.copytree(store, folder / "work" / given["path"] / store.name)


class Gitlab(Service):
    """https://docs.gitlab.com/ci/yaml: stages, artifacts of earlier stages, children with `strategy: depend`."""

    def __init__(self, root, repository, read, environment, lost=()):
        super().__init__(root, repository, read, environment)
        self.lost = lost
        self.reports = {}  # (job, kind) -> content

    def run(self, pipeline, known=("stages",)):
        document = self.read(self.repository / pipeline)
        failed = False
        for stage in document["stages"]:
            jobs = {name: job for name, job in document.items() if name not in known and job["stage"] == stage}
            before = list(self.artifacts.iterdir()) if "trigger" not in str(jobs) else []
            states = []
            for name, job in jobs.items():
                if failed and job.get("when") != "always":
                    self.results[name] = "skipped"
                elif "trigger" in job:
                    assert job["trigger"]["strategy"] == "depend"
                    child = Gitlab(self.root / name.replace(" ", "-"), self.repository, self.read, self.environment, self.lost)
                    good = [child.run(include["local"]) for include in job["trigger"]["include"]]
                    for mine, its in ((self.results, child.results), (self.said, child.said), (self.codes, child.codes), (self.reports, child.reports)):
                        mine.update(its)
                    shutil.copytree(child.artifacts, self.artifacts / name)
                    self.results[name] = "success" if all(good) else "failure"
                    states.append(all(good))
                else:
                    states.append(self.job(name, job, before))
            failed = failed or not all(states)
        return not failed

    def job(self, name, job, before):
        folder = self.workspace()
        for store in before:
            shutil.copytree(store, folder / "work", dirs_exist_ok=True)
        script = "set -eo pipefail\n" + "\n".join(job["script"]) + "\n"
        code, self.said[name] = self.shell(["bash", "-c", script], folder, {})
        self.codes[name] = [code]
        artifacts = job.get("artifacts", {})
        if name in self.lost:
            code = 1
        elif artifacts and (code == 0 or artifacts["when"] == "always"):
            # Later jobs do not get `reports`: the pages of the pipeline show them.
            self.reports.update({(name, kind): (folder / "work" / path).read_text() for kind, path in artifacts.get("reports", {}).items()})
            for pattern in artifacts["paths"]:
                for path in glob.glob(str(folder / "work" / pattern.rstrip("/")), recursive=True):
                    target = self.artifacts / name / pathlib.Path(path).relative_to(folder / "work")
                    target.parent.mkdir(parents=True, exist_ok=True)
                    (shutil.copytree if os.path.isdir(path) else shutil.copy)(path, target)
        self.results[name] = "success" if code == 0 else "failure"
        return code == 0


AGENT = r'''#!/usr/bin/env python3
"""buildkite-agent: artifacts are in $ARTIFACTS, uploads and annotations are files in $BUILD."""
import os, pathlib, re, shutil, sys
words, store, build = sys.argv[1:], pathlib.Path(os.environ["ARTIFACTS"]), pathlib.Path(os.environ["BUILD"])
if words[:2] == ["artifact", "download"]:
    query, destination = words[2:]
    pattern = re.compile(re.escape(query).replace(r"\*", ".*"))  # it crosses folders, as theirs does
    found = [path for path in store.rglob("*") if path.is_file() and pattern.fullmatch(str(path.relative_to(store)))]
    for path in found:
        target = pathlib.Path(destination) / path.relative_to(store)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    sys.exit(0 if found else 1)
elif words[:2] == ["pipeline", "upload"]:
    (build / "upload").write_text(re.sub(r"\$\$|\$\{?(\w+)\}?", lambda m: "$" if m[0] == "$$" else os.environ.get(m[1], ""), pathlib.Path(words[2]).read_text()))
elif words == ["annotate", "--context", "cudamatrix"]:
    (build / "annotation").write_text(sys.stdin.read())
else:
    sys.exit("buildkite-agent does not know " + " ".join(words))
'''


class Buildkite(Service):
    """https://buildkite.com/docs/pipelines: steps, waits, uploads that come behind the step that makes them."""

    def run(self, pipeline):
        self.build = self.root / "build"
        self.build.mkdir()
        # The steps of a pipeline are uploaded as any others.
        code, said = self.shell(["buildkite-agent", "pipeline", "upload", str(self.repository / pipeline)], self.workspace(), self.places())
        assert code == 0, said
        steps, failed = self.uploaded(), False
        while steps:
            step = steps.pop(0)
            if "wait" in step:
                if failed and not step.get("continue_on_failure"):
                    break
                continue
            failed = not self.step(step) or failed
            steps[:0] = self.uploaded()
        return not failed

    def places(self):
        return {"ARTIFACTS": str(self.artifacts), "BUILD": str(self.build)}

    def uploaded(self):
        path = self.build / "upload"
        if not path.exists():
            return []
        steps = self.read(path)["steps"]
        path.unlink()
        assert len(steps) <= 500
        return steps

    def step(self, step):
        folder = self.workspace()
        code, self.said[step["label"]] = self.shell(["bash", "-e", "-c", step["command"]], folder, self.places())
        self.codes[step["label"]] = [code]
        patterns = step.get("artifact_paths", [])
        for pattern in [patterns] if isinstance(patterns, str) else patterns:
            for path in glob.glob(str(folder / "work" / pattern), recursive=True):
                target = self.artifacts / pathlib.Path(path).relative_to(folder / "work")
                target.parent.mkdir(parents=True, exist_ok=True)
                if os.path.isfile(path):
                    shutil.copy(path, target)
        self.results[step["label"]] = "success" if code == 0 else "failure"
        return code == 0

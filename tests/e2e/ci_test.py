"""What CI takes from this repository: action.yml, the component of GitLab, and the hooks of pre-commit. Their blocks are run as the services do, with
stand-ins for what needs the network or a compiler. Usage: ci_test.py CUDAMATRIX SOURCE_DIR   (python packages pre-commit and PyYAML)"""
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "cli"))
SOURCE = pathlib.Path(sys.argv.pop(2)).resolve()

import yaml  # noqa: E402
from cli import GOOD, PROGRAM, TWO, Cli, main  # noqa: E402

BAD = GOOD.replace('"11.8.0"', '"12.4.1"').replace('"535.183.01"', '"470.161.03"')
ACTION = (SOURCE / "action.yml").read_text()
COMPONENT = (SOURCE / "ci/gitlab/templates/cudamatrix/template.yml").read_text()
RELEASE = ".github/workflows/release.yml"
HOOKS = (SOURCE / ".pre-commit-hooks.yaml").read_text()
HOSTILE = "a \"b' $(touch pwned) `touch pwned` ${{ x }} $X;&|\n*.yaml"
# Of the program, `run` alone is played: it needs an engine.
STAND_INS = {
    "cudamatrix": f"""case $1 in
    run) out=; for word; do [ "$before" != --out ] || out=$word; before=$word; done
         printf '<%s>' "$@" >>"$LOG"; echo >>"$LOG"; mkdir -p "$out"; echo "{{}}" >"$out/report.json"; echo "<x/>" >"$out/report.xml"; exit ${{PLAYED:-0}} ;;
esac
exec "{PROGRAM}" "$@"
""",
    "sudo": 'echo "sudo $*" >>"$LOG"\n',
    "apt-get": 'echo "apt-get $*" >>"$LOG"\n',
    "mmdebstrap": "exit 0\n",
    "cmake": """echo "cmake $*" >>"$LOG"
case $1 in --install) mkdir -p "$4/bin"; cp "$STAND_INS/cudamatrix" "$4/bin/cudamatrix" ;; esac
""",
    "git": """echo "git $*" >>"$LOG"
case $1 in clone) mkdir -p "$4/cmake"; echo 'echo "install_packages.sh $*" >>"$LOG"' >"$4/cmake/install_packages.sh" ;; esac
""",
}


class Ci(Cli):
    def setUp(self):
        super().setUp()
        for name, text in STAND_INS.items():
            self.write("#!/bin/sh\n" + text, "stand-ins/" + name)
            (self.dir / "stand-ins" / name).chmod(0o755)
        (self.dir / "team").mkdir()
        (self.dir / "temp").mkdir()
        self.environment = {**os.environ, "PATH": f"{self.dir}/stand-ins:{os.environ['PATH']}", "STAND_INS": f"{self.dir}/stand-ins", "LOG": f"{self.dir}/log"}

    def log(self):
        """What the stand-ins were asked for since the last call."""
        path = self.dir / "log"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return lines

    def is_clean_shell(self, text, shell="bash"):
        got = subprocess.run(["shellcheck", "--shell", shell, "-"], input="set -e  # as the services do\n" + text, capture_output=True, text=True)
        self.assertEqual(got.stdout, "")

    def value(self, text, inputs, outputs):
        """An expression of the action; any other one fails."""
        def one(match):
            word = match[1]
            if word in inputs:
                return inputs[word]
            if word == "runner.temp":
                return f"{self.dir}/temp"
            if word == "inputs.out || format('{0}/cudamatrix-out', runner.temp)":
                return inputs["inputs.out"] or f"{self.dir}/temp/cudamatrix-out"
            step, key = re.fullmatch(r"steps\.(\w+)\.outputs\.([\w-]+)", word).groups()
            return outputs.get(step, {}).get(key, "")
        return re.sub(r"\$\{\{ (.*?) \}\}", one, text)

    def act(self, code=0, played=0, cached=False, **inputs):
        """Runs the action: the text of its last block, its outputs, and what it gave to other actions."""
        action = yaml.safe_load(ACTION)
        values = {f"inputs.{key}": inputs.get(key.replace("-", "_"), row["default"]) for key, row in action["inputs"].items()}
        self.assertLessEqual({f"inputs.{key.replace('_', '-')}" for key in inputs}, set(values))
        outputs, used, said, failed = {"cache": {"cache-hit": "true" if cached else ""}}, {}, "", 0
        for step in action["runs"]["steps"]:
            condition = step.get("if", "true")
            for key, text in values.items():
                condition = condition.replace(key, repr(text))
            always, condition = condition.startswith("always() && "), condition.removeprefix("always() && ")
            self.assertRegex(condition, r"true|'.*' == '[\w-]+'")
            chosen = condition == "true" or eval(condition, {})  # two texts
            if not chosen or (failed and not always):
                continue
            if "uses" in step:
                used[step["uses"].split("@")[0]] = {key: self.value(text, values, outputs) for key, text in step["with"].items()}
                continue
            self.write("", "output")
            environment = {key: self.value(text, values, outputs) for key, text in step.get("env", {}).items()}
            got = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], cwd=self.dir / "team", capture_output=True, text=True,
                                 env={**self.environment, "GITHUB_ACTION_PATH": str(SOURCE), "GITHUB_OUTPUT": f"{self.dir}/output", "RUNNER_TEMP": f"{self.dir}/temp",
                                      "GITHUB_STEP_SUMMARY": f"{self.dir}/summary", "PLAYED": str(played), **environment})
            said, failed = got.stdout + got.stderr, got.returncode
            outputs[step.get("id", "")] = {**outputs.get(step.get("id", ""), {}), **dict(line.split("=", 1) for line in self.read("output").splitlines())}
        self.assertEqual(failed, code, said)
        return said, outputs, used

    def test_the_action_is_well_formed(self):
        got = subprocess.run(["check-jsonschema", "--builtin-schema", "vendor.github-actions", SOURCE / "action.yml"], capture_output=True, text=True)
        self.assertEqual(got.returncode, 0, got.stdout + got.stderr)
        actions = re.findall(r"uses: *(.*)", re.sub(r"(?m)^#.*\n", "", ACTION))
        self.assertEqual(len(actions), 2)
        for action in actions:
            self.assertRegex(action, r"^actions/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+$")
        for step in yaml.safe_load(ACTION)["runs"]["steps"]:
            if "run" in step:
                self.assertNotIn("${{", step["run"])
                self.assertEqual(step["shell"], "bash")
                self.is_clean_shell(step["run"])

    def test_the_release_workflow_is_well_formed(self):
        got = subprocess.run(["check-jsonschema", "--builtin-schema", "vendor.github-workflows", SOURCE / RELEASE], capture_output=True, text=True)
        self.assertEqual(got.returncode, 0, got.stdout + got.stderr)
        text = (SOURCE / RELEASE).read_text()
        for action in re.findall(r"uses: *(.*)", text):
            self.assertRegex(action, r"^(actions|pypa)/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+$")
        workflow = yaml.safe_load(text)
        self.assertEqual(workflow["permissions"], {})
        for name, job in workflow["jobs"].items():
            self.assertLessEqual({"permissions", "timeout-minutes"}, set(job), name)
            for step in job["steps"]:
                if "run" in step:
                    self.assertNotIn("${{", step["run"])
                    self.is_clean_shell(step["run"])
        # What it runs is there.
        for script in re.findall(r"\bsh ([\w/.]+\.sh)", text):
            self.assertTrue((SOURCE / script).is_file(), script)

    def test_the_action_builds_what_the_cache_lacks(self):
        self.write(GOOD, "team/matrix.yaml")
        _, outputs, used = self.act()
        build = ["cmake --preset release", "cmake --build --preset release", f"cmake --install build/release --prefix {self.dir}/temp/cudamatrix"]
        self.assertEqual(self.log(), ["sudo sh cmake/install_packages.sh build", *build])
        key = outputs["sources"]["key"]
        self.assertRegex(key, r"^cudamatrix-[\w.]+-\w+-[0-9a-f]{40}$")
        self.assertEqual(used["actions/cache"], {"path": f"{self.dir}/temp/cudamatrix", "key": key})
        self.act(cached=True)
        self.assertEqual(self.log(), ["sudo sh cmake/install_packages.sh build"])

    def test_the_action_checks(self):
        self.write(GOOD, "team/matrix.yaml")
        self.write(BAD, "team/bad.yaml")
        good, _, used = self.act()
        self.assertTrue(good.endswith("cudamatrix check good: 2 cells: 2 accepted\n"), good)
        self.assertEqual(list(used), ["actions/cache"])
        self.assertEqual(self.read("summary"), "\n\n" + self.call("check", "team/matrix.yaml", "--format", "markdown").stdout + "\n")
        self.assertIn("::error file=bad.yaml,line=4,col=12,", self.act(code=1, matrix="bad.yaml", sarif="bad.sarif")[0])
        run = json.loads(self.read("team/bad.sarif"))["runs"][0]
        self.assertIn("driver-supports-cuda", [result["ruleId"] for result in run["results"]])
        self.assertEqual(run["automationDetails"]["id"], "cudamatrix/check/bad.yaml/")
        self.act(matrix="bad.yaml", args="--fail-on\nnever\n\n--on\n2026-11-21\n")
        self.act(code=2, matrix="none.yaml", sarif="none.sarif")
        self.act(code=2, command="clean")
        self.act(code=2, command="check; touch pwned")
        self.assertFalse((self.dir / "team/pwned").exists())

    def test_hostile_inputs_stay_inputs(self):
        self.write(GOOD, "team/" + HOSTILE)
        self.write(GOOD, "team/--help")
        said, _, _ = self.act(matrix=HOSTILE, sarif=HOSTILE + ".sarif", args="--out\n$(touch pwned)\n")
        self.assertIn("2 cells: 2 accepted", said)
        self.assertTrue((self.dir / "team" / (HOSTILE + ".sarif")).exists() and (self.dir / "team/$(touch pwned)/check.github.txt").exists())
        self.assertIn("2 cells: 2 accepted", self.act(matrix="--help")[0])
        self.act(matrix=HOSTILE, command="render-check", out=HOSTILE + "/o", code=1)
        self.log()
        self.act(matrix=HOSTILE, command="run", only=HOSTILE, out=HOSTILE + "/o", args="$(touch pwned)")
        first, second = HOSTILE.split("\n")
        self.assertEqual(self.log()[-3:], [f"<run><--step-summary><--out><{first}", f"{second}/o><--accept-static><--only><{first}><--only><{second}><$(touch pwned)><--><{first}", f"{second}>"])
        self.act(matrix="x" * 5000 + ".yaml", code=2)
        self.assertFalse((self.dir / "team/pwned").exists())

    def test_the_action_compares_what_is_rendered(self):
        name = self.write(GOOD, "team/matrix.yaml")
        self.assertIn("render", self.act(code=1, command="render-check")[0])
        self.call("render", name, "--out", "team/cudamatrix-out/good", code=0)
        self.act(command="render-check")
        self.act(command="render-check", out="cudamatrix-out/good")
        self.act(command="render-check", out="other", code=1)

    def test_the_action_lists_the_images(self):
        name = self.write(TWO, "team/matrix.yaml")
        _, outputs, _ = self.act(command="list", args="--runner\ngpu\n")
        self.assertEqual(outputs["list"]["images"] + "\n", self.call("list", name, "--images", "--format", "github-matrix", "--runner", "gpu").stdout)
        self.assertEqual(yaml.safe_load(ACTION)["outputs"], {"images": {"description": "list: one line for fromJSON, as `strategy: {matrix: ...}` takes it",
                                                                         "value": "${{ steps.list.outputs.images }}"}})

    def test_the_action_runs_and_keeps_the_reports(self):
        self.write(GOOD, "team/matrix.yaml")
        for code, inputs, words, out in (
                (0, {}, f"<run><--step-summary><--out><{self.dir}/temp/cudamatrix-out><--accept-static><--><matrix.yaml>", f"{self.dir}/temp/cudamatrix-out"),
                (1, {"only": "debian12-cu11.8.0", "out": "o", "require_gpu": "true"},
                 "<run><--step-summary><--out><o><--require-gpu><--only><debian12-cu11.8.0><--><matrix.yaml>", "o"),
                (4, {"args": "--level\nstandard"}, f"<run><--step-summary><--out><{self.dir}/temp/cudamatrix-out><--accept-static><--level><standard><--><matrix.yaml>",
                 f"{self.dir}/temp/cudamatrix-out")):
            self.log()
            _, _, used = self.act(code=code, played=code, cached=(self.dir / "temp/cudamatrix").exists(), command="run", **inputs)
            self.assertEqual(self.log()[-1], words)
            self.assertEqual(used["actions/upload-artifact"], {"name": "cudamatrix-report", "path": f"{out}/report.json\n{out}/report.xml\n", "if-no-files-found": "warn"})
            self.assertTrue((self.dir / "team" / out / "report.xml").exists())

    def component(self, **inputs):
        """The job that the component gives, its inputs in their places."""
        head, body = COMPONENT.split("\n---\n")
        rows = yaml.safe_load(head)["spec"]["inputs"]
        given = {"repository": "https://example.org/c.git", "commit": "0" * 40, **inputs}
        values = {key: given.get(key.replace("-", "_"), (row or {}).get("default")) for key, row in rows.items()}
        self.assertNotIn(None, values.values())

        def filled(node):
            if isinstance(node, dict):
                return {filled(key): filled(value) for key, value in node.items()}
            if isinstance(node, list):
                return [filled(value) for value in node]
            if not isinstance(node, str):
                return node
            if (whole := re.fullmatch(r"\$\[\[ inputs\.([\w-]+) \]\]", node)) and isinstance(values[whole[1]], list):
                return values[whole[1]]
            return re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", lambda match: values[match[1]] if isinstance(values[match[1]], str) else json.dumps(values[match[1]]), node)
        ((name, job),) = filled(yaml.safe_load(body)).items()
        return name, job

    def pipeline(self, code=0, played=0, **inputs):
        """Runs the job as a runner does: both scripts in one shell."""
        _, job = self.component(**inputs)
        variables = {key: row["value"] for key, row in job["variables"].items()}
        got = subprocess.run(["bash", "-eo", "pipefail", "-c", "\n".join(job["before_script"] + job["script"])], cwd=self.dir / "team", capture_output=True, text=True,
                             env={**self.environment, "CI_PROJECT_DIR": f"{self.dir}/team", "TMPDIR": f"{self.dir}/temp", "PLAYED": str(played), **variables})
        self.assertEqual(got.returncode, code, got.stdout + got.stderr)
        self.assertEqual(list((self.dir / "temp").iterdir()), [])
        return got.stdout + got.stderr

    def test_the_component_is_well_formed(self):
        for command in ("check", "render-check", "run"):
            name, job = self.component(command=command)
            self.write(json.dumps({name: job}), "job.json")
            got = subprocess.run(["check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", self.dir / "job.json"], capture_output=True, text=True)
            self.assertEqual(got.returncode, 0, got.stdout + got.stderr)
        self.write(json.dumps({name: {**job, "artifacts": 1}}), "job.json")
        self.assertNotEqual(subprocess.run(["check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", self.dir / "job.json"], capture_output=True).returncode, 0)
        _, body = COMPONENT.split("\n---\n")
        ((_, job),) = yaml.safe_load(body).items()
        for part in job["before_script"] + job["script"]:
            self.assertNotIn("$[[", part)
            self.is_clean_shell(part, "sh")
        self.assertTrue(all(row["expand"] is False for row in job["variables"].values()))
        self.write(json.dumps(yaml.safe_load(COMPONENT.split("\n---\n")[0])), "head.json")
        got = subprocess.run(["check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", self.dir / "head.json"], capture_output=True, text=True)
        self.assertEqual(got.returncode, 0, got.stdout + got.stderr)

    def test_the_component_works(self):
        name = self.write(GOOD, "team/matrix.yaml")
        self.write(BAD, "team/bad.yaml")
        self.assertIn("good: 2 cells: 2 accepted", self.pipeline())
        log = self.log()
        source = log[2].split()[-1]
        self.assertEqual(log, ["apt-get update -qq", "apt-get install -y -qq --no-install-recommends ca-certificates git",
                               f"git clone --quiet https://example.org/c.git {source}", f"git -C {source} checkout --quiet --detach {'0' * 40}",
                               "install_packages.sh build", "cmake --preset release", "cmake --build --preset release",
                               f"cmake --install {source}/build/release --prefix {self.dir}/team/.cudamatrix"])
        self.assertIn("bad.yaml:4:12: error: driver 470.161.03 is too old", self.pipeline(code=1, matrix="bad.yaml"))
        self.assertNotIn("cmake", " ".join(self.log()))
        self.pipeline(matrix="bad.yaml", args="--fail-on\nnever\n")
        self.pipeline(code=1, command="render-check")
        self.call("render", name, "--out", "team/cudamatrix-out/ci", code=0)
        self.pipeline(command="render-check")
        self.log()
        self.pipeline(command="run", only="debian12-cu11.8.0\n", require_gpu=True, code=1, played=1)
        self.assertEqual(self.log()[-1], "<run><--out><cudamatrix-out/ci><--require-gpu><--only><debian12-cu11.8.0><--><matrix.yaml>")
        self.pipeline(command="clean", code=2)
        _, job = self.component(command="run", out="o")
        self.assertEqual(job["artifacts"], {"when": "always", "paths": ["o/report.json", "o/report.xml"], "reports": {"junit": "o/report.xml"}})
        self.write(GOOD, "team/" + HOSTILE)
        self.assertIn("good: 2 cells: 2 accepted", self.pipeline(matrix=HOSTILE, args="--out\n$(touch pwned)"))
        self.log()
        self.pipeline(matrix=HOSTILE, command="run", only="$(touch pwned)\n-x", out="`touch pwned`")
        first, second = HOSTILE.split("\n")
        self.assertEqual(self.log()[-2:], [f"<run><--out><`touch pwned`><--accept-static><--only><$(touch pwned)><--only><-x><--><{first}", f"{second}>"])
        self.assertFalse((self.dir / "team/pwned").exists())

    def pre_commit(self, hook, code, **more):
        """Runs one of our hooks, with what a user adds to it, over everything in the scratch repository."""
        (row,) = (each for each in yaml.safe_load(HOOKS) if each["id"] == hook)
        self.write(yaml.safe_dump({"repos": [{"repo": "local", "hooks": [{**row, **more}]}]}), "team/.pre-commit-config.yaml")
        git = ["git", "-C", self.dir / "team"]
        for words in (["init", "--quiet"], ["add", "--all"]):
            subprocess.run([*git, *words], check=True, capture_output=True)
        environment = {**self.environment, "PATH": f"{self.dir}/bin:{os.environ['PATH']}", "PRE_COMMIT_HOME": f"{self.dir}/home", "HOME": str(self.dir)}
        got = subprocess.run(["pre-commit", "run", "--all-files", "--color", "never"], cwd=self.dir / "team", capture_output=True, text=True, env=environment)
        self.assertEqual(got.returncode, code, got.stdout + got.stderr)
        return got.stdout

    def test_the_hooks_of_pre_commit(self):
        (self.dir / "bin").mkdir()
        (self.dir / "bin/cudamatrix").symlink_to(PROGRAM)
        got = subprocess.run(["pre-commit", "validate-manifest", SOURCE / ".pre-commit-hooks.yaml"], capture_output=True, text=True)
        self.assertEqual(got.returncode, 0, got.stdout + got.stderr)
        for hook in yaml.safe_load(HOOKS):
            if found := re.search(r"bash -c '(.*)' ", hook["entry"]):
                self.is_clean_shell(found[1])
        self.assertIn("no files to check", self.pre_commit("cudamatrix-check", 0))
        self.write(GOOD, "team/matrix.yaml")
        self.write(GOOD, "team/a b $(touch pwned)/matrix.yml")
        self.write(BAD, "team/sub/other.yaml")
        for hook, name in (("cudamatrix-check", "check"), ("cudamatrix-lint", "lint")):
            self.assertRegex(self.pre_commit(hook, 0), rf"^cudamatrix {name}\.+Passed\n$")
        self.assertIn("driver 470.161.03 is too old for CUDA 12.4.1", self.pre_commit("cudamatrix-check", 1, files=r"^sub/other\.yaml$"))
        self.write(BAD, "team/sub/matrix.yaml")
        self.write(BAD, "team/-x/matrix.yaml")
        said = self.pre_commit("cudamatrix-check", 1)
        self.assertIn("sub/matrix.yaml:4:12: error: driver 470.161.03 is too old for CUDA 12.4.1: CUDA 12 needs >= 525.60.13 "
                      "[driver-supports-cuda, at runtime, 1 cell]\n  fix: ", said)
        self.assertEqual(said.count("good: 2 cells: "), 3)
        self.pre_commit("cudamatrix-check", 0, args=["--fail-on=never", "--on=2026-11-21"])
        self.write(GOOD + 'exclude: [{driver: "<400"}]\n', "team/sub/matrix.yaml")
        self.assertIn("[exclude-matches-nothing]", self.pre_commit("cudamatrix-lint", 1))
        # What is rendered: drift of the matrix, of the folder, and what a user names.
        self.assertIn("cudamatrix-out/good", self.pre_commit("cudamatrix-render-check", 1))
        self.call("render", "matrix.yaml", cwd=self.dir / "team", code=0)
        self.pre_commit("cudamatrix-render-check", 0)
        (dockerfile,) = (self.dir / "team/cudamatrix-out/good/images").glob("*/Dockerfile")
        dockerfile.write_text(dockerfile.read_text() + "# more\n")
        self.assertIn("-# more\n", self.pre_commit("cudamatrix-render-check", 1))
        self.write(TWO, "team/sub/other.yaml")
        self.call("render", "sub/other.yaml", "--out", "o", cwd=self.dir / "team", code=0)
        self.pre_commit("cudamatrix-render-check", 0, args=["--out=o", "sub/other.yaml"])
        self.assertFalse((self.dir / "team/pwned").exists())


if __name__ == "__main__":
    main()

"""emit: what other systems run of a matrix, by their own schemas, and run here as they would run it."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from cli import NEWER, TESTS, TWO, Cli

EXAMPLE = TESTS.parent / "examples/ci"
TARGETS = ["github", "gitlab", "buildkite", "jenkins", "kubernetes", "slurm", "bake"]
SCHEMAS = {"github": ["vendor.github-workflows"], "gitlab": ["vendor.gitlab-ci", "--data-transform", "gitlab-ci"], "buildkite": ["vendor.buildkite"]}
MACHINES = """emit:
  machines:
    - {when: {driver: "580.95.05"}, labels: [self-hosted, gpu-t4], gpu: true}
"""
TOOL = MACHINES.replace("emit:\n", "emit:\n  tool: https://git.example.org/tools/cudamatrix@0123456789abcdef0123456789abcdef01234567\n")
UNPINNED = "cudamatrix.lock does not cover 2 images: the jobs, which run with --locked, will say so"


def as_data(path):
    """A YAML file as lists and dicts: by the parser that check-jsonschema brings."""
    python = pathlib.Path(shutil.which("check-jsonschema")).resolve().parent / "python"
    program = "import json, sys, ruamel.yaml; print(json.dumps(ruamel.yaml.YAML(typ='safe').load(open(sys.argv[1]))))"
    return json.loads(subprocess.run([python, "-c", program, path], check=True, capture_output=True, text=True).stdout)


class Emit(Cli):
    def emit(self, target, matrix=TWO + MACHINES, *more):
        self.write(matrix)
        self.call("emit", target, "matrix.yaml", "--out", "ci", *more, code=0)
        return {name: content.decode() for name, content in self.tree("ci", hidden=False).items()}

    def test_the_example_is_what_its_matrix_gives(self):
        for target in TARGETS:
            with self.subTest(target):
                words = ["emit", target, "matrix.yaml", "--out", target]
                if os.environ.get("CUDAMATRIX_UPDATE_GOLDEN"):
                    self.call(*words, cwd=EXAMPLE, code=0)
                self.call(*words, "--check", cwd=EXAMPLE, code=0)

    def test_the_systems_own_schemas_take_every_file(self):
        checked = 0
        for target, schema in SCHEMAS.items():
            for matrix in (TWO, TWO + MACHINES, TWO + TOOL):
                for split in ([], ["--split", "1"]):
                    shutil.rmtree(self.dir / "ci", ignore_errors=True)
                    files = self.emit(target, matrix, *split)
                    names = [self.dir / "ci" / name for name in files if name.endswith(".yml")]
                    got = subprocess.run(["check-jsonschema", "--builtin-schema", *schema, *names], capture_output=True, text=True)
                    self.assertEqual(got.returncode, 0, got.stdout + got.stderr)
                    checked += len(names)
        self.assertEqual(checked, 44)

    def test_scripts_are_sound(self):
        scripts = []
        for target in ("github", "gitlab", "buildkite"):
            for name, content in self.emit(target, TWO + TOOL).items():
                if name.endswith(".sh"):
                    scripts.append(content)
                elif target == "github":
                    for job in as_data(self.dir / "ci" / name)["jobs"].values():
                        scripts += [step["run"] for step in job["steps"] if "run" in step]
                elif target == "gitlab":
                    jobs = as_data(self.dir / "ci" / name).values()
                    scripts += ["\n".join(job["script"]) for job in jobs if isinstance(job, dict) and "script" in job]
                else:
                    scripts += [step["command"].replace("$$", "$") for step in as_data(self.dir / "ci" / name)["steps"] if step.get("command")]
            shutil.rmtree(self.dir / "ci")
        for start in ("run", "pyxis", "apptainer", "podman"):
            matrix = TWO + TOOL.replace("emit:\n", "emit:\n  registry: registry.example.org/team\n  slurm: {start: %s}\n" % start)
            scripts += [content for name, content in self.emit("slurm", matrix).items() if name.endswith(".sbatch")]
            shutil.rmtree(self.dir / "ci")
        scripts += re.findall(r"sh '''\n(.*?)'''", self.emit("jenkins", TWO + TOOL)["cudamatrix-good.Jenkinsfile"], re.DOTALL)
        self.assertGreater(len(scripts), 30)
        for script in scripts:
            # 1091: the script of the tool is checked by itself.
            got = subprocess.run(["shellcheck", "--shell", "bash", "--exclude", "SC1091", "-"], input=script, capture_output=True, text=True)
            self.assertEqual(got.stdout, "", script)

    def test_a_job_for_each_image_and_machine(self):
        jobs = as_data(self.dir / "ci" / next(iter(self.emit("github"))))["jobs"]
        rows = [row for job in jobs.values() for row in job.get("strategy", {}).get("matrix", {}).get("include", [])]
        self.assertEqual([(row["task"], row["runner"], row["demand"], row.get("after", "")) for row in rows], [
            ("debian12-cu11.8.0-on-gpu-t4", ["self-hosted", "gpu-t4"], "--require-gpu", ""),
            ("debian12-cu11.8.0-on-any", "ubuntu-24.04", "--accept-static", "debian12-cu11.8.0"),
            ("debian12-cu13.4.3-on-gpu-t4", ["self-hosted", "gpu-t4"], "--require-gpu", "debian12-cu11.8.0"),
            ("debian12-cu13.4.3-on-any", "ubuntu-24.04", "--accept-static", "debian12-cu13.4.3")])
        self.assertEqual(jobs["summary"]["needs"], ["check", "first-1", "then-1"])

    def test_actions_are_pinned_by_commit(self):
        text = next(iter(self.emit("github", TWO + TOOL).values()))
        text += self.read("ci/cudamatrix-good.yml")
        used = re.findall(r"uses: (.*)", text)
        self.assertGreater(len(used), 10)
        for action in used:
            self.assertRegex(action, r"^actions/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+$")

    def test_more_images_than_a_matrix_takes_are_several(self):
        jobs = as_data(self.dir / "ci" / next(iter(self.emit("github", TWO + MACHINES, "--split", "2"))))["jobs"]
        self.assertEqual(list(jobs), ["check", "first-1", "then-1", "then-2", "summary"])
        self.assertEqual(jobs["then-2"]["needs"], ["check", "first-1"])
        self.assertIn("--split 2 --check", json.dumps(jobs["check"]))

    def test_a_job_waits_for_no_stage_of_others(self):
        """Of many images: two groups of 210 that share a stage each are two chains of jobs."""
        images = "".join(f'  - {{name: app{number}, env: {{APP: "{number}"}}}}\n' for number in range(210))
        matrix = NEWER.replace('"11.8.0"', '"11.8.0", "12.4.1"').replace("os: debian12, ", "").replace('"580.65.06", ', "") + "images:\n" + images
        jobs = as_data(self.dir / "ci" / next(iter(self.emit("github", matrix))))["jobs"]
        self.assertEqual({name: job.get("needs") for name, job in jobs.items()}, {
            "check": None, "first-1": ["check"], "first-2": ["check"], "then-1": ["check", "first-1"], "then-2": ["check", "first-2"],
            "summary": ["check", "first-1", "first-2", "then-1", "then-2"]})
        rows = {name: job["strategy"]["matrix"]["include"] for name, job in jobs.items() if "strategy" in job}
        self.assertEqual({name: len(row) for name, row in rows.items()}, {"first-1": 1, "first-2": 1, "then-1": 209, "then-2": 209})
        self.assertEqual(len({row["task"] for some in rows.values() for row in some}), 420)
        for number in "12":
            made = {row["image"] for row in rows["first-" + number]}
            self.assertEqual({row["after"] for row in rows["then-" + number]}, made)

    def test_check_finds_what_moved(self):
        before = self.emit("gitlab")
        words = ["emit", "gitlab", "matrix.yaml", "--out", "ci", "--check"]
        self.assertEqual(self.call(*words, code=0).stdout, "good: 2 files in ci, all up to date\n")
        self.write((TWO + MACHINES).replace("gpu-t4", "gpu-t5"))
        got = self.call(*words, code=1)
        self.assertAllIn(["\n-  tags: [self-hosted, gpu-t4]\n", "\n+  tags: [self-hosted, gpu-t5]\n"], got.stdout)
        self.assertTrue(got.stdout.endswith("good: 1 file in ci differs from the matrix\nfix: cudamatrix emit gitlab matrix.yaml --out ci\n"), got.stdout)
        self.assertEqual(self.json_of(*words, code=1)["drift"][0]["kind"], "changed")
        self.assertEqual({name: content.decode() for name, content in self.tree("ci", hidden=False).items()}, before)
        self.call(*words[:-1], code=0)
        self.call(*words, code=0)

    def test_shards_that_are_no_longer_needed_go(self):
        files = self.emit("buildkite", TWO + MACHINES, "--split", "1")
        self.assertEqual(len(files), 5)
        self.assertEqual(sorted(self.emit("buildkite")), ["cudamatrix-good-1.yml", "cudamatrix-good.yml"])

    def test_a_folder_of_others_keeps_their_files(self):
        self.write("mine", "ci/other.yml")
        self.write(TWO.replace("name: good", "name: second"), "second.yaml")
        self.emit("github")
        self.call("emit", "github", "second.yaml", "--out", "ci", code=0)
        self.call("emit", "github", "matrix.yaml", "--out", "ci", code=0)
        self.assertEqual(sorted(self.tree("ci", hidden=False)), ["cudamatrix-good.yml", "cudamatrix-second.yml", "other.yml"])
        self.write("mine", "ci/cudamatrix-good-1.yml")
        self.write(TWO)
        self.refused("emit", "gitlab", "matrix.yaml", "--out", "ci", code=3,
                     says="cannot write ci/cudamatrix-good.yml: it is there already, and cudamatrix did not write it")
        self.assertEqual(self.read("ci/cudamatrix-good-1.yml"), "mine")

    def test_what_is_not_pinned_is_said(self):
        self.write(TWO)
        got = self.call("emit", "bake", "matrix.yaml", code=0)
        self.assertIn("warning: " + UNPINNED + "\n  fix: cudamatrix lock matrix.yaml\n", got.stderr)
        self.assertEqual(self.call("emit", "bake", "matrix.yaml", "--check", code=0).stderr, "")

    def test_the_report_says_what_it_is_for(self):
        self.write(TWO + MACHINES)
        self.assertEqual(self.call("emit", "jenkins", "matrix.yaml", code=0).stdout, """cudamatrix-out/good/jenkins/cudamatrix-good.Jenkinsfile
good: 4 tasks of 2 images and 4 cells for jenkins; 1 file changed
next: commit it, and name it as the script path of a pipeline
""")
        report = self.json_of("emit", "jenkins", "matrix.yaml", code=0)
        self.assertEqual((report["files"], report["tasks"], report["images"], report["changed"]), (["cudamatrix-good.Jenkinsfile"], 4, 2, 0))

    def test_bad_calls_are_refused(self):
        self.write(TWO)
        self.write(TWO, "a b.yaml")
        self.write(TWO.replace('"11.8.0", "13.4.3"', '"99.0"'), "none.yaml")
        for words, says in ((["travis", "matrix.yaml"], "TARGET"), (["github"], "MATRIX"), (["github", "a b.yaml"], "the matrix file is a b.yaml: expected a path of letters"),
                            (["github", str(self.dir / "matrix.yaml")], "run emit in the root of the repository"),
                            (["github", "matrix.yaml", "--out", "../ci"], "--out is ../ci: expected a path"),
                            (["github", "matrix.yaml", "--split", "0"], "--split"), (["github", "none.yaml"], "no cell of the matrix gets an image: there is nothing to emit"),
                            (["github", "gone.yaml"], "gone.yaml")):
            self.refused("emit", *words, says=says)
        self.assertFalse((self.dir / "ci").exists())

    def test_the_script_of_the_tool_gets_it_once(self):
        self.emit("gitlab", TWO + TOOL)
        log = self.dir / "log"
        for name, body in (("git", 'case "$*" in "init "*) mkdir -p .cudamatrix/source/cmake; echo "echo packages \\$1 >>$LOG" >.cudamatrix/source/cmake/install_packages.sh;; esac'),
                           ("cmake", 'if [ "$1" = --install ]; then mkdir -p .cudamatrix/bin; printf "#!/bin/sh\\necho found\\n" >.cudamatrix/bin/cudamatrix; '
                                     "chmod +x .cudamatrix/bin/cudamatrix; fi"), ("sudo", '"$@"')):
            self.write(f'#!/bin/sh\necho "{name} $*" >>"$LOG"\n{body}\n', f"bin/{name}")
            (self.dir / "bin" / name).chmod(0o755)
        environment = {**os.environ, "LOG": str(log), "PATH": f"{self.dir}/bin:{os.environ['PATH']}"}
        for _ in range(2):
            got = subprocess.run(["sh", "-c", ". ./ci/cudamatrix-good-tool.sh\ncudamatrix --version"], cwd=self.dir, env=environment, capture_output=True, text=True)
            self.assertEqual((got.returncode, got.stdout), (0, "found\n"), got.stderr)
        said = [line for line in log.read_text().splitlines() if not line.startswith("sudo ")]
        self.assertEqual(said, ["git init --quiet .cudamatrix/source",
                                "git -C .cudamatrix/source fetch --quiet --depth 1 https://git.example.org/tools/cudamatrix 0123456789abcdef0123456789abcdef01234567",
                                "git -C .cudamatrix/source checkout --quiet FETCH_HEAD", "packages build", "cmake --preset release", "cmake --build --preset release",
                                "cmake --install .cudamatrix/source/build/release --prefix .cudamatrix", "packages build"])

    def test_bake_targets_are_the_images(self):
        files = self.emit("bake")
        bake, linked = (json.loads(files[name]) for name in ("docker-bake.json", "docker-bake.linked.json"))
        self.call("render", "matrix.yaml", code=0)
        index = json.loads(self.read("cudamatrix-out/good/index.json"))
        for image in index["images"]:
            name = image["id"].replace(".", "_")
            self.assertEqual(bake["target"][name]["tags"], [image["reference"]])
            self.assertEqual(bake["target"][name]["labels"], {"io.cudamatrix.inputs": image["inputs"]})
            self.assertEqual(bake["target"][name + "-proof"]["labels"], {"io.cudamatrix.inputs": image["proof_inputs"]})
            self.assertTrue((self.dir / bake["target"][name]["context"] / "Dockerfile").is_file())
            self.assertTrue((self.dir / bake["target"][name]["context"] / bake["target"][name + "-proof"]["dockerfile"]).is_file())
            self.assertEqual(linked["target"][name + "-proof"]["contexts"], {image["reference"]: "target:" + name})
        self.assertEqual(len(bake["target"]), 2 * len(index["images"]))
        self.assertEqual(set(bake["group"]["default"]["targets"] + bake["group"]["proofs"]["targets"]), set(bake["target"]))


if __name__ == "__main__":
    unittest.main()

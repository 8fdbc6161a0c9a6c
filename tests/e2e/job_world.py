"""A folder in which a whole run happens on a fake engine, for tests that kill it or let its calls fail."""
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).parents[1] / "fakes"))
import fake_site

MATRIX = """version: 1
name: killed
axes:
  driver: ["550.54.15"]
  gpu: [T4, H100]
  cuda: ["11.8.0"]
  os: debian12
build: {base_from: bootstrap, snapshot: none}
images:
  - {name: a, env: {MODE: a}}
  - {name: b, env: {MODE: b}}
  - {name: c, env: {MODE: c}}
"""


class World:
    """A folder with a matrix, a fake docker and a fake mmdebstrap, and nothing else of this machine on PATH."""

    def __init__(self, program, root):
        self.program, self.root = program, pathlib.Path(root)
        (self.root / "tools").mkdir(parents=True)
        (self.root / "matrix.yaml").write_text(MATRIX)
        for tool in ("env", "python3", "sleep", "chmod", "mkdir", "cat"):
            (self.root / "tools" / tool).symlink_to(shutil.which(tool))
        self.environment = {"PATH": f"{self.root}/bin:{self.root}/tools", **fake_site.install(self.root / "bin", self.root / "state")}
        self.out = self.root / "out"

    def start(self, jobs=2):
        return subprocess.Popen([self.program, "run", self.root / "matrix.yaml", "--out", self.out, "--engine", "docker", "--network", "host",
                                 "-j", str(jobs)], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                start_new_session=True)

    def finish(self, jobs=2):
        """Exit code and stderr of a whole run."""
        process = self.start(jobs)
        _, said = process.communicate()
        return process.returncode, said

    def calls(self):
        """What was asked of the engine so far: (verb, all words)."""
        path = self.root / "state/calls.jsonl"
        if not path.exists():
            return []
        argvs = [json.loads(line)["argv"] for line in path.read_text().split("\n")[:-1]]
        return [(argv[0], " ".join(argv)) for argv in argvs]

    def finished_steps(self):
        """By the journal's whole lines: what a second run may not repeat."""
        path = self.out / "journal.jsonl"
        if not path.exists():
            return set(), set()
        lines = path.read_bytes().split(b"\n")
        records = []
        for number, line in enumerate(lines):
            if not line:
                continue
            try:
                records.append(json.loads(line))
            except ValueError:
                assert number == len(lines) - 1, f"line {number + 1} of {len(lines)} of the journal is torn: {line[:80]!r}"
        built = {(r["step"], r["of"]) for r in records if r.get("step") in ("build", "proof") and r["good"]}
        tested = {r["cell"] for r in records if "cell" in r and r["outcome"] in ("passed", "passed_without_gpu")}
        return built, tested

    def torn_files(self):
        """Files of ours that are not what their name says, or are called as only unfinished ones are."""
        torn = []
        for path in self.root.rglob("*"):
            if "state" in path.parts or not path.is_file():
                continue
            if path.suffix == ".json" and "/suite/" not in str(path):
                try:
                    json.loads(path.read_text())
                except ValueError:
                    torn.append(path.name)
        return torn

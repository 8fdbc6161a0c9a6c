"""The command line as a user meets it: init. Usage: init_test.py CUDAMATRIX [unittest arguments]"""
from cli import TESTS, Cli, main

ON = ("--on", "2026-11-24")
PRESETS = ["arm-server", "ci-base-images", "cpu-tests", "fine-tuning", "inference", "training"]
DOCKERFILE = """FROM python:3.11-slim-bookworm AS tests
RUN pip install torch==2.6.0 --index-url https://download.pytorch.org/whl/cpu
FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04 AS app
RUN apt-get update && apt-get install -y python3-pip
RUN pip install torch==2.6.0 torchvision==0.20.1 --index-url https://download.pytorch.org/whl/cu124
COPY --from=tests /report /report
"""
WRITTEN = """# Started from "Dockerfile": `cudamatrix check` judges it, `cudamatrix render` makes its images.
version: 1
name: started
expect: {cells: 2, keys: 6, end: true}
stages: [driver_load, image_pull, container_start, install, runtime]  # nothing is compiled
include:
  # Dockerfile: tests
  - {torch: "2.6.0+cpu", python: "3.11", os: "debian12", family: "cpu"}
  # Dockerfile: app
  # changed: torch 2.6.0+cu124 -> 2.5.1+cu124
  - {driver: "550.54.15", gpu: "T4", cuda: "12.4.1", torch: "2.5.1+cu124", python: "3.10", os: "ubuntu22.04", family: "nvidia-cuda", flavour: "runtime", packages: {torchvision: "0.20.1"}}
waive:
  - {rule: torch-compile-has-c-compiler, because: "the images started from have no C compiler, so that torch.compile does not work in them", until: 2027-11-24}
...
"""


class Init(Cli):
    def good(self, name, out, code=0):
        """A matrix file whose cells all work, and whose images are rendered, all of them."""
        got = self.call("check", name, *ON)
        self.assertEqual((got.returncode, got.stderr), (0, ""), got.stdout)
        self.assertNotIn("error: ", got.stdout)
        made = self.call("render", name, "--out", out, code=code)
        self.assertIn("0 rejected, 0 unknown\n", made.stdout, made.stderr)
        self.assertNotIn("not rendered", made.stdout)

    def test_each_preset_is_checked_linted_and_rendered(self):
        for preset in PRESETS:
            with self.subTest(preset):
                name = preset + ".yaml"
                got = self.call("init", "--preset", preset, "--out", name, code=0)
                self.assertEqual(got.stdout, f"{name}: written; next: cudamatrix check {name}\n")
                self.assertEqual((self.dir / name).read_text(), (TESTS.parent / "matrix/presets" / name).read_text())
                self.good(name, "out/" + preset)
                self.assertIn(": nothing found in ", self.call("lint", name, *ON, code=0).stdout)
        self.assertEqual(self.call("init", code=0).stdout, "matrix.yaml: written; next: cudamatrix check matrix.yaml\n")
        self.assertEqual((self.dir / "matrix.yaml").read_text(), (self.dir / "training.yaml").read_text())

    def test_a_dockerfile_becomes_rows_that_work(self):
        self.write(DOCKERFILE, "Dockerfile")
        got = self.call("init", "--from", "Dockerfile", "--driver", "550.54.15", "--gpu", "T4", *ON, code=0)
        self.assertEqual(got.stdout, """Dockerfile: app: rejected; in the matrix: torch 2.6.0+cu124 -> 2.5.1+cu124
matrix.yaml: written; next: cudamatrix check matrix.yaml
""")
        self.assertEqual((self.dir / "matrix.yaml").read_text(), WRITTEN)
        self.good("matrix.yaml", "out")
        self.assertEqual(self.call("init", "--from", "Dockerfile", "--driver", "550.54.15", "--gpu", "T4", "--out", "-", *ON, code=0).stdout, WRITTEN)

    def test_a_machine_starts_a_matrix_without_an_error(self):
        for machine in (("T4", "470.161.03"), ("GTX 1080", "580"), ("H100", "550.54.15"), ("RTX 5090", "580.95.05"), ("V100", "535")):
            with self.subTest(machine):
                self.call("init", "--gpu", machine[0], "--driver", machine[1], "--out", "m.yaml", *ON, code=0)
                self.assertNotIn("error: ", self.call("check", "m.yaml", *ON, code=0).stdout)
                self.call("render", "m.yaml", code=0)
                (self.dir / "m.yaml").unlink()

    def test_files_of_the_corpus_start_a_matrix_without_an_error(self):
        done = 0
        for case in sorted((TESTS / "audit").glob("*.txt")):
            parts = case.read_text().split("\n--- ")[1:]
            if len(parts) != 1 or "FROM " not in parts[0] or ("torch" not in parts[0] and "cuda" not in parts[0]) or done == 24:
                continue
            name, text = parts[0].split("\n", 1)
            with self.subTest(case.name):
                folder = self.dir / case.stem
                folder.mkdir()
                (folder / name).write_text(text)
                got = self.call("init", "--from", f"{case.stem}/{name}", "--out", f"{case.stem}.yaml", *ON)
                if got.returncode == 2:
                    self.assertIn("nothing to start from", got.stderr)
                    continue
                self.assertEqual(got.returncode, 0, got.stderr)
                checked = self.call("check", f"{case.stem}.yaml", *ON)
                self.assertEqual((checked.returncode, checked.stderr), (0, ""), checked.stdout)
                self.assertNotIn("error: ", checked.stdout)
                made = self.call("render", f"{case.stem}.yaml", "--out", "out/" + case.stem)
                done += made.returncode == 0
        self.assertGreaterEqual(done, 20)

    def test_wrong_usage(self):
        self.refused("init", "--preset", "none", says='there is no preset "none"\n  fix: one of ' + ", ".join(PRESETS))
        self.refused("init", "--preset", "training", "--from", "x", says="--from and --preset are two ways to start")
        self.refused("init", "--preset", "training", "--host", says="a preset names its machines itself")
        self.refused("init", "--preset", "training", "--gpu", "T4", says="a preset names its machines itself")
        self.refused("init", "--driver", "450.80.02", "--gpu", "B200", says="nothing to start from: no stack of the facts works on that machine\n  fix: cudamatrix suggest --driver VERSION --gpu NAME says why")
        self.refused("init", "--from", "nowhere", says="nowhere: no such file, and no image with a tag")
        self.write("flask\n", "requirements.txt")
        self.refused("init", "--from", "requirements.txt", says="nothing to start from: requirements.txt installs neither torch nor CUDA that can be read\n"
                                                                "  fix: cudamatrix init --preset arm-server")
        self.write("torch==2.6.0\n", "requirements.txt")
        self.refused("init", "--from", "requirements.txt", "--gpu", "x y", "--driver", "?", says='--driver: invalid driver "?"')
        self.write("mine\n", "matrix.yaml")
        self.refused("init", says="matrix.yaml is there already\n  fix: --out another, or --out - for the standard output")
        self.assertEqual((self.dir / "matrix.yaml").read_text(), "mine\n")


if __name__ == "__main__":
    main()

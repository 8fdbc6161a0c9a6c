"""The command line as a user meets it: audit. Usage: audit_test.py CUDAMATRIX [unittest arguments]"""
from cli import Cli, main

ON = ("--on", "2026-11-21")
DOCKERFILE = """ARG CUDA=12.2.0
FROM nvidia/cuda:${CUDA}-runtime-ubuntu22.04 AS app
RUN apt-get update && apt-get install -y python3 python3-pip
COPY requirements.txt /tmp/
RUN pip install torch>=2.3 && pip install -r /tmp/requirements.txt
RUN pip install accelerate==$VERSION
"""
REQUIREMENTS = """--extra-index-url https://download.pytorch.org/whl/cu121
torch==2.3.1
torchvision==0.17.0
inhouse==1.0
"""
TEXT = """--driver: notice: driver branch 470 reached its end of life on 2024-07-20 [end-of-life, at driver_load]
  fix: driver 580.178.04
Dockerfile:2:6: warning: image nvidia/cuda:12.2.0-runtime-ubuntu22.04 is past its end of life since 2024-05-31 and can be deleted any day [image-tag-supported, at image_pull]
  fix: image nvidia/cuda:12.2.2-runtime-ubuntu22.04 (by itself not enough)
Dockerfile:3:42: notice: python 3.10 reached its end of life on 2026-10-31 [end-of-life, at install]
  fix: python 3.11
Dockerfile:5:17: error: the shell takes >=2.3 for a file: pip sees torch without a version [unquoted-requirement]
  fix: write "torch>=2.3"
requirements.txt:2:1: warning: driver 470.161.03 runs torch 2.3.1+cu121 (CUDA 12.1) by the compat libraries of CUDA 12.2 only: the container has to put them on its library path, and the GPU has to be of the data centre [driver-supports-cuda, at runtime]
  fix: driver >= 535.43.02
requirements.txt:3:1: error: torchvision 0.17.0 needs torch 2.2.0, not torch 2.3.1: that goes with torchvision 0.18.1 [companions-match-torch, at install]
  fix: torchvision 0.18.1, or torch 2.2.0+cu121

  STACK       VERDICT   DECIDED BY
  Dockerfile  rejected  install: companions-match-torch

What pip would choose:
  Dockerfile: torch is 2.14.1 today

Not judged:
  Dockerfile: 1 pinned package: no fact describes it; --look looks into the wheels
  Dockerfile:6:17: accelerate: its version is known in the build only

As a matrix file, which `cudamatrix check` takes:
  version: 1
  name: audited
  stages: [driver_load, image_pull, container_start, install, runtime]  # nothing is compiled
  include:
    # Dockerfile
    - {driver: "470.161.03", gpu: "T4", torch: "2.3.1+cu121", python: "3.10", os: "ubuntu22.04", image: "nvidia/cuda:12.2.0-runtime-ubuntu22.04", packages: {torchvision: "0.17.0"}}

2 files, 1 stack: 1 rejected; 1 mistake; 2 things not judged; -v shows 1 note
"""


class Audit(Cli):
    def setUp(self):
        super().setUp()
        self.write(DOCKERFILE, "Dockerfile")
        self.write(REQUIREMENTS, "requirements.txt")

    def test_a_folder_for_a_machine_line_by_line(self):
        got = self.call("audit", ".", "--driver", "470.161.03", "--gpu", "T4", *ON, code=1)
        self.assertEqual(got.stdout, TEXT)
        self.assertEqual(got.stderr, "")

    def test_what_was_found_is_a_matrix_that_check_takes(self):
        self.call("audit", "Dockerfile", "--out", "found", *ON, code=1)
        judged = self.json_of("check", "found/audit.yaml", *ON)
        self.assertEqual([cell["verdict"] for cell in judged["cells"]], ["rejected"])
        self.assertEqual(judged["cells"][0]["fields"]["torch"], "2.3.1+cu121")
        self.assertEqual((self.dir / "found/audit.txt").read_text(), self.call("audit", "Dockerfile", *ON, code=1).stdout)

    def test_json_says_the_same(self):
        said = self.json_of("audit", ".", *ON)
        self.assertEqual([(file["path"], file["kind"]) for file in said["files"]], [("Dockerfile", "Dockerfile"), ("requirements.txt", "requirements")])
        (stack,) = said["stacks"]
        self.assertEqual((stack["name"], stack["verdict"], stack["stages"]["install"]), ("Dockerfile", "rejected", "rejected"))
        lines = [(one["file"], one["line"], one["severity"], one["id"]) for one in said["findings"] if one["severity"] in ("error", "warning")]
        self.assertEqual(lines, [("Dockerfile", 2, "warning", "image-tag-supported"), ("Dockerfile", 5, "error", "unquoted-requirement"),
                                 ("requirements.txt", 3, "error", "companions-match-torch")])
        self.assertEqual([one["what"] for one in said["not_judged"]], ["1 pinned package", "accelerate"])
        self.assertTrue(said["matrix"].startswith("version: 1\nname: audited\n"))

    def test_annotations_stand_at_the_lines(self):
        said = self.call("audit", ".", "--format", "github", *ON, code=1).stdout.splitlines()
        self.assertIn('::error file=Dockerfile,line=5,col=17,endColumn=22,title=unquoted-requirement::the shell takes >=2.3 for a file: pip sees torch '
                      'without a version%0Afix: write "torch>=2.3"', said)
        self.assertEqual(said[-1], "cudamatrix audit: 2 files, 1 stack: 1 rejected; 1 mistake; 2 things not judged")

    def test_values_and_stages_that_are_given(self):
        self.write("ARG TAG\nFROM nvidia/cuda:$TAG AS a\nFROM python:3.11-slim-bookworm AS b\nRUN pip install torch==2.6.0\n", "Dockerfile")
        said = self.json_of("audit", "Dockerfile", "--build-arg", "TAG=13.0.3-base-ubuntu24.04", "--target", "a", *ON)
        self.assertEqual([stack["fields"] for stack in said["stacks"]], [{"os": "ubuntu24.04", "image": "nvidia/cuda:13.0.3-base-ubuntu24.04"}])
        said = self.json_of("audit", "Dockerfile", "--build-arg", "TAG=13.0.3-base-ubuntu24.04", *ON)
        self.assertEqual([(one["line"], one["what"], one["why"]) for one in said["not_judged"]],
                         [(2, "stage a", "nothing of stage b stands on it; --target builds it")])
        said = self.json_of("audit", "Dockerfile", "--target", "none", *ON)
        self.assertIn(("target none", "no stage has that name"), [(one["what"], one["why"]) for one in said["not_judged"]])

    def test_the_standard_input_and_images(self):
        got = self.call("audit", "-", *ON, stdin="torch==2.1.0+cu122\n", code=1)
        self.assertIn("-:1:1: error: torch 2.1.0+cu122 cannot be installed: there is no wheel index cu122", got.stdout)
        got = self.call("audit", "nvidia/cuda:11.3.1-devel-ubuntu22.04", *ON, code=1)
        self.assertTrue(got.stdout.startswith("nvidia/cuda:11.3.1-devel-ubuntu22.04: error: image nvidia/cuda:11.3.1-devel-ubuntu22.04 never existed"), got.stdout)
        self.call("audit", "nvidia/cuda:13.0.3-devel-ubuntu24.04", *ON, code=0)

    def test_the_threshold(self):
        self.write("FROM nvidia/cuda:12.2.0-base-ubuntu22.04\n", "Dockerfile")  # a warning
        self.write("", "requirements.txt")
        self.call("audit", ".", *ON, code=0)
        self.call("audit", ".", "--fail-on", "unknown", *ON, code=0)
        self.call("audit", ".", "--fail-on", "degraded", *ON, code=1)
        self.write("torch==2.1.0+cu122\n", "requirements.txt")
        self.call("audit", ".", *ON, code=1)
        self.call("audit", ".", "--fail-on", "never", *ON, code=0)

    def test_files_that_are_none_of_ours_are_said(self):
        self.write("hello: world\n", "x.toml")
        self.assertIn("Not judged:\n  x.toml: the file: neither a Dockerfile, a compose file, requirements, a lock file nor an environment\n",
                      self.call("audit", "x.toml", code=0).stdout)

    def test_wrong_usage(self):
        self.refused("audit", says="PATH")
        self.refused("audit", "nowhere", says="nowhere: no such file, and no image with a tag\n  fix: name a file, a folder, an image")
        self.refused("audit", "Dockerfile", "--build-arg", "X", says='invalid --build-arg "X": expected NAME=VALUE')
        self.refused("audit", "Dockerfile", "--driver", "x", says='--driver: invalid driver "x": expected a version (550.54.15) or a branch (570)')
        self.refused("audit", "Dockerfile", "--format", "xml")
        (self.dir / "empty").mkdir()
        self.refused("audit", "empty", says="empty holds no Dockerfile, compose file, requirements, lock file or environment")


if __name__ == "__main__":
    main()

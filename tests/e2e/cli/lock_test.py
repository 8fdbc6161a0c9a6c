"""What the lock says of images and verdicts, and `check --against-lock`. Usage: lock_test.py CUDAMATRIX [unittest arguments]"""
import json

from cli import Cli, main

IMAGE = "registry.example.org/team/app:1"


class Lock(Cli):
    """Cells that name an image of a registry on the loopback: nothing is rendered or built, so no engine is needed."""

    def setUp(self):
        super().setUp()
        self.host = self.serve_registry()
        self.matrix = self.write(f"""version: 1
name: named
mirrors: {{registry.example.org: "{self.host}/plain"}}
axes: {{driver: ["535.183.01", "550.54.15"]}}
set: {{gpu: RTX 4090, image: "{IMAGE}"}}
""")

    def put(self, *env):
        """The image, with these variables in its configuration; its digest."""
        config = json.dumps({"os": "linux", "architecture": "amd64", "config": {"Env": env}}).encode()
        image = {"schemaVersion": 2, "layers": [], "config": self.put_blob("team/app", config)}
        return self.put_blob("team/app", json.dumps(image).encode(), "1")["digest"]

    def ids(self):
        return [cell["id"] for cell in self.json_of("list", self.matrix)["cells"]]

    def edit(self, change, name="cudamatrix.lock"):
        document = json.loads(self.read("cudamatrix.lock"))
        change(document)
        self.write(json.dumps(document), name)

    def test_what_lock_read_is_what_checks_judge_by(self):
        digest = self.put("CUDA_VERSION=12.4.1", "NVIDIA_REQUIRE_CUDA=cuda>=12.4", "TOKEN=secret")
        before = self.call("check", self.matrix, code=1).stdout
        self.assertIn(f"no fact describes the images of {IMAGE[:-2]}", before)
        self.assertEqual([cell["verdict"] for cell in self.json_of("check", self.matrix)["cells"]], ["unknown"] * 2)
        self.assertEqual(self.call("lock", self.matrix, code=0).stdout,
                         f"{IMAGE}: configuration of {digest} recorded\nverdicts: 2 cells recorded\n")
        self.assertNotIn("secret", self.read("cudamatrix.lock"))
        self.write(self.read(self.matrix).replace(self.host, "127.0.0.1:9"), self.matrix)  # from here on there is no registry
        document = self.json_of("check", self.matrix)
        self.assertEqual([cell["verdict"] for cell in document["cells"]], ["rejected", "accepted"])
        used = document["facts_used"]["other-image-" + IMAGE]
        self.assertEqual((used["confidence"], used["sources"]), ("measured", [f"image:{IMAGE} {digest}"]))
        why = f"image {IMAGE} requires cuda>=12.4; driver 535.183.01 runs CUDA 12.2 and the GPU is of class geforce: the hook behind docker's --gpus refuses to start it, only the nvidia runtime of container toolkit 1.18 or newer does not check"
        self.assertIn(why, self.call("check", self.matrix, code=1).stdout)
        self.assertIn(why, self.call("explain", self.matrix, self.ids()[0], code=1).stdout)
        self.call("explain", self.matrix, self.ids()[1], code=0)
        # Facts of one's own come before it.
        self.write("table: other_images\nas_of: \"2026-11-21\"\nrows:\n  - {id: \"other-image-" + IMAGE + "\", image: \"" + IMAGE +
                   "\", arch: [x86_64], cuda: \"12.4.1\", requires: \"cuda>=12.2\", source: \"https://example.org/\", confidence: read}\n", "mine/x.yaml")
        self.call("check", self.matrix, "--facts", "mine", code=0)
        # Without the lock they are as unknown as they were.
        (self.dir / "cudamatrix.lock").rename(self.dir / "kept.lock")
        self.assertEqual(self.call("check", self.matrix, code=1).stdout, before)
        self.assertEqual(self.call("check", self.matrix, "--against-lock=kept.lock", code=0).stdout,
                         "named: 2 verdicts as in kept.lock, 0 moved, 0 new, 0 gone\n")

    def test_against_the_lock(self):
        self.put("CUDA_VERSION=12.4.1", "NVIDIA_REQUIRE_CUDA=cuda>=12.4")
        self.call("lock", self.matrix, code=0)
        old, new = self.ids()
        got = self.call("check", self.matrix, "--against-lock", code=0)
        self.assertEqual((got.stdout, got.stderr), ("named: 2 verdicts as in cudamatrix.lock, 0 moved, 0 new, 0 gone\n", ""))
        # By what another lock says of the image, a cell is worse than that lock records.
        self.edit(lambda lock: lock["configurations"][IMAGE].update(requires="cuda>=12.6"), "other.lock")
        self.assertEqual(self.call("check", self.matrix, "--against-lock=other.lock", code=1).stdout, f"""worse: {new}: accepted -> rejected (image-requirement-met)
  error: image {IMAGE} requires cuda>=12.6; driver 550.54.15 runs CUDA 12.4 and the GPU is of class geforce: the hook behind docker's --gpus refuses to start it, only the nvidia runtime of container toolkit 1.18 or newer does not check [image-requirement-met, at container_start]
accept them: cudamatrix lock matrix.yaml
named: 1 verdict as in other.lock, 1 moved, 0 new, 0 gone
""")
        document = self.json_of("check", self.matrix, "--against-lock=other.lock", code=1)
        self.assertEqual([(moved["cell"], moved["change"]) for moved in document["moved"]], [(new, "worse")])
        # What is better has moved, too; cells that came and went have not.
        self.edit(lambda lock: lock.update(verdicts=[f"{new} unknown image-tag-exists", "gone accepted"]), "other.lock")
        self.assertEqual(self.call("check", self.matrix, "--against-lock=other.lock", code=1).stdout, f"""better: {new}: unknown (image-tag-exists) -> accepted
new: {old}
gone: gone
accept them: cudamatrix lock matrix.yaml
named: 0 verdicts as in other.lock, 1 moved, 1 new, 1 gone
""")
        self.call("check", self.matrix, "--against-lock", code=0)

    def test_a_lock_that_cannot_be_compared_is_2(self):
        def refused(says, *arguments):
            self.assertEqual(self.refused("check", self.matrix, *arguments), "cudamatrix: error: " + says)

        fix = "  fix: cudamatrix lock matrix.yaml\n"
        anew = "  fix: delete it and run `cudamatrix lock`\n"
        refused("--against-lock: there is no cudamatrix.lock\n" + fix, "--against-lock")
        refused("--against-lock: there is no none.lock\n" + fix, "--against-lock=none.lock")
        self.put("CUDA_VERSION=12.4.1")
        self.call("lock", self.matrix, code=0)
        for change, says in ((lambda lock: lock.pop("verdicts"), "other.lock records no verdicts\n" + fix),
                             (lambda lock: lock.update(verdicts=["a accepted"]), "other.lock knows none of the cells of this matrix: nothing can be compared\n" + fix),
                             (lambda lock: lock.update(verdicts=["a fine"]), 'other.lock is not a lock file: "a fine" is not a cell, its verdict and the rules that decided it\n' + anew),
                             (lambda lock: lock["configurations"][IMAGE].update(requires="x && y"),
                              f'other.lock is not a lock file: "x && y" is not a condition (configuration of {IMAGE})\n' + anew),
                             (lambda lock: lock.update(configurations=[]), "other.lock is not a lock file: an object is missing: configurations\n" + anew)):
            self.edit(change, "other.lock")
            refused(says, "--against-lock=other.lock")
        for text in ("", "{", "[]", "{}"):
            self.write(text, "other.lock")
            self.assertIn("other.lock is not a lock file: ", self.refused("check", self.matrix, "--against-lock=other.lock"))
        self.write("{}", "cudamatrix.lock")
        for command in (["check"], ["check", "--against-lock"], ["lint"], ["render"], ["lock"]):
            self.assertEqual(self.refused(*command, self.matrix), "cudamatrix: error: cudamatrix.lock is not a lock file: it has no schema_version\n" + anew)

    def test_a_tag_that_moved_or_vanished_is_a_finding(self):
        first = self.put("CUDA_VERSION=12.4.1", "NVIDIA_REQUIRE_CUDA=cuda>=12.4")
        self.call("lock", self.matrix, code=0)
        self.assertEqual(self.call("lock", self.matrix, code=0).stdout, "1 image: already pinned\n")
        lock = self.read("cudamatrix.lock")
        second = self.put("CUDA_VERSION=12.4.1", "NVIDIA_REQUIRE_CUDA=cuda>=12.2")
        self.assertIn(f"{IMAGE} has moved: cudamatrix.lock pins {first}, the registry {self.host} now gives {second}\n", self.call("lock", self.matrix, code=1).stderr)
        self.assertEqual(self.read("cudamatrix.lock"), lock)
        self.refused("lock", self.matrix, "--update=registry.example.org/team/app:2", says="no image of this matrix")
        self.assertEqual(self.call("lock", self.matrix, "--update=" + IMAGE, code=0).stdout,
                         f"{IMAGE}: digest {first} -> {second}\n{IMAGE}: requirement cuda>=12.4 -> cuda>=12.2\nverdicts: 1 cell moved\n")
        self.call("check", self.matrix, code=0)
        (self.dir / "store/team/app/manifests/1").unlink()
        self.assertIn(f"{IMAGE} has vanished: cudamatrix.lock pins {second}", self.call("lock", self.matrix, code=1).stderr)
        self.call("check", self.matrix, "--against-lock", code=0)

    def test_where_nothing_can_be_pinned_the_verdicts_are_recorded(self):
        got = self.call("lock", self.matrix, code=1)
        self.assertEqual(got.stdout, "verdicts: 2 cells recorded\n")
        self.assertIn(f"{IMAGE}: the registry {self.host} has no such tag\n", got.stderr)
        self.assertIn("there is nothing to pin, only the verdicts are recorded\n", got.stderr)
        self.assertEqual(self.call("check", self.matrix, "--against-lock", code=0).stdout,
                         "named: 2 verdicts as in cudamatrix.lock, 0 moved, 0 new, 0 gone\n")


if __name__ == "__main__":
    main()

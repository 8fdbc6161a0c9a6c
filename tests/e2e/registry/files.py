"""Rendered files: read by BuildKit, for another machine, without a registry. Part of registry_test.py."""
import itertools
import os
import pathlib
import shutil

import golden_files
from world import CUDA, SOURCE, WORK, RegistryTest, World, cudamatrix, docker, matrix


class Files(RegistryTest):
    def test_1_buildkit_reads_every_rendered_dockerfile(self):
        cells = [dict(zip(("family", "cuda", "os", "flavour", "arch"), v)) for v in itertools.product(
            ["nvidia-cuda"], ["11.8.0", "12.4.1", CUDA], ["ubuntu20.04", "ubuntu22.04", "ubuntu24.04", "rockylinux8", "rockylinux9"],
            ["base", "runtime", "devel"], ["x86_64", "aarch64"])]
        cells += [{"family": "nvidia-cuda", "cuda": "12.4.1", "os": "ubuntu22.04", "python": p} for p in ("3.10", "3.12")]
        cells += [{"family": "debian", "cuda": c, "os": o, "flavour": f} for (c, o), f in itertools.product(
            [("11.8.0", "debian12"), ("12.4.1", "debian13"), ("13.0.3", "debian12"), ("13.4.3", "debian13")], ["runtime", "devel"])]
        cells += [{"family": "pytorch", "torch": "2.6.0+cu124", "flavour": f} for f in ("runtime", "devel")]
        cells += [{"family": "ngc", "torch": "2.10.0"}, {"family": "ngc", "torch": "2.10.0", "arch": "aarch64"}, {"family": "cpu", "torch": "2.6.0+cpu", "python": "3.12"}]
        cells += [{"family": "cpu", "python": p, "os": o, "arch": a} for p, o, a in itertools.product(
            ["3.10", "3.13"], ["debian11", "debian12", "debian13"], ["x86_64", "aarch64"])]
        self.done(cudamatrix("render", matrix("all", cells)))
        files = self.dockerfiles("all") + golden_files.write_all(SOURCE, WORK / "golden")
        self.assertGreater(len(files), 80)
        # It reads the file to its end before it looks for the target.
        empty = WORK / "empty"
        empty.mkdir()

        def said(path):
            return docker("build", "--target", "no-such-stage", "--file", str(path), str(empty), check=False).stderr.splitlines()[-1]

        wrong = {str(path): line for path in files if "no-such-stage" not in (line := said(path))}
        self.assertEqual(wrong, {})
        bad = WORK / "bad.Dockerfile"
        bad.write_text("FROM scratch\nCOPPY a b\n")
        self.assertIn("unknown instruction: COPPY", said(bad))
        print(f"BuildKit read {len(files)} Dockerfiles")

    def test_2_an_image_of_another_machine_is_asked_for_as_such(self):
        cell = {"family": "nvidia-cuda", "cuda": "12.4.1", "os": "ubuntu22.04", "flavour": "base", "arch": "aarch64"}
        path = matrix("foreign", [cell])
        self.done(cudamatrix("render", path))
        self.assertIn('    platform: "linux/arm64"\n', (path.parent / "out/compose.yaml").read_text())
        self.assertIn("docker build --network=host --platform=linux/arm64", self.dockerfiles("foreign")[0].read_text())
        if os.uname().machine == "aarch64" or pathlib.Path("/proc/sys/fs/binfmt_misc/qemu-aarch64").exists():
            self.skipTest("this machine runs programs of aarch64: the stand-in, busybox alone, is no base for it")
        # The image of that architecture is what is pulled from the index, and its first program does not start here.
        got = self.done(cudamatrix("lock", path), 1)
        self.assertIn("the build failed: this machine cannot run programs of linux/arm64: build on one that can, or register an emulator",
                      got.stderr)
        print("images of aarch64 are not built: this machine cannot run their programs, and has no emulator")

    def test_3_what_is_locked_is_rendered_without_a_registry(self):
        World.registry.end()
        before = {p: p.read_bytes() for p in self.dockerfiles("plain")}
        self.done(cudamatrix("lock", WORK / "plain/matrix.yaml"), 3)
        asked = len(World.gateway.asked)
        shutil.rmtree(WORK / "plain/out/images")
        self.done(cudamatrix("render", WORK / "plain/matrix.yaml", "--locked"))
        self.assertEqual({p: p.read_bytes() for p in self.dockerfiles("plain")}, before)
        self.done(cudamatrix("render", WORK / "plain/matrix.yaml", "--locked", "--check"))
        self.assertEqual(len(World.gateway.asked), asked)

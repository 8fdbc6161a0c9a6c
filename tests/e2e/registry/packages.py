"""Packages of archives, and what else goes into an image. Part of registry_test.py."""
import json
import re
import shutil
import subprocess
import tarfile
import urllib.parse

import stand_ins
from world import CUDA, GATEWAY, ROCKY_CUDA, WORK, RegistryTest, World, cells_of_families, cudamatrix, docker, matrix, steps_again


class Packages(RegistryTest):
    def test_two_states_of_an_archive_give_the_same_packages_or_a_reason(self):
        tree = WORK / "keyring"
        archive = stand_ins.Archive(World.gateway.local / "apt", World.sockets / "gpg")
        self.addCleanup(archive.close)
        # Debian's keyring with one key more: what the base trusts.
        stand_ins.fetch_deb("debian-archive-keyring", "arm64", tree)
        control = tree / "DEBIAN/control"
        control.write_text(re.sub(r"^Version: .*", "Version: 9999", control.read_text(), flags=re.M))
        (tree / "etc/apt/trusted.gpg.d/test.gpg").write_bytes(archive.key())
        archive.add(tree)
        archive.add_small(WORK / "debs", "media-types", "99.1", "etc/mime.types", "first\n")
        archive.publish()
        apt = WORK / "apt.conf"
        apt.write_text(f'Dir::Etc::TrustedParts "{tree}/etc/apt/trusted.gpg.d";\n')
        env = {"APT_CONFIG": str(apt)}
        path = matrix("twice", [{"family": "debian", "os": "debian12"}], security=f"{GATEWAY}/local/apt", images=[{"name": "app", "apt": ["media-types"]}])

        def packages():
            """What a build of what users ship, without any cache, installs; or why it cannot."""
            self.done(cudamatrix("render", path, "--locked", "--prune"))
            folder = self.dockerfiles("twice")[0].parent
            shutil.copy(WORK / "twice/out/bootstrap/bootstrap-bookworm.tar", folder)
            done = docker("build", "--no-cache", "--network", "host", "--target", "runtime", "--tag", "twice", str(folder), check=False)
            if done.returncode != 0:
                return done.stderr
            return docker("run", "--rm", "--network", "none", "twice", "dpkg-query", "-W").splitlines()

        self.done(cudamatrix("lock", path, env=env))
        first = packages()
        self.assertIn("media-types\t99.1", first)
        archive.add_small(WORK / "debs", "media-types", "99.2", "etc/mime.types", "second\n")
        archive.publish()
        self.assertEqual(packages(), first)
        again = self.done(cudamatrix("lock", path, "--update=bases", env=env))
        self.assertEqual(again.stdout, "nothing moved\n")
        # What is locked is gone: the reason is apt's own.
        archive.remove("media-types_99.1*")
        archive.publish()
        self.assertIn("Version '99.1' for 'media-types' was not found", packages())
        moved = self.done(cudamatrix("lock", path, "--update=apt", env=env))
        self.assertIn("media-types 99.1 -> 99.2", moved.stdout)
        self.assertIn("media-types\t99.2", packages())

    def test_images_of_rocky_get_exact_packages_by_dnf(self):
        """The lock of a real dnf, its packages by epoch, version, release and architecture, and what is copied and checked."""
        cell = {"family": "nvidia-cuda", "cuda": ROCKY_CUDA, "os": "rockylinux9", "flavour": "base", "driver": "580.65.06", "gpu": "T4"}
        path = matrix("rocky", [cell], images=[{"name": "app", "apt": ["git"], "copy": [{"from": "app", "to": "/workspace"}],
                                                "env": {"HF_HOME": "/cache"}, "healthcheck": {"test": ["test", "-n", "$HOME ${HF_HOME}"], "retries": 2}}])
        (path.parent / "app").mkdir(exist_ok=True)
        (path.parent / "app/a").write_text("one\n")
        self.done(cudamatrix("lock", path))
        pins = next(iter(self.lock_of("rocky")["images"].values()))["apt"]
        self.assertEqual(pins["runtime"], ["git=0:2.47.3-1.el9.x86_64", "shadow-utils=2:4.9-12.el9.x86_64"])
        self.assertEqual(pins["devel"], ["gcc-c++=0:11.5.0-5.el9.x86_64"])
        self.done(cudamatrix("render", path, "--locked"))
        folder = self.dockerfiles("rocky")[0].parent
        shutil.copytree(path.parent / "app", folder / "copy/app")

        def build(*options):
            docker("build", *options, "--network", "host", "--target", "runtime", "--tag", "rocky", str(folder))
            return docker("run", "--rm", "--network", "none", "rocky", "sh", "-c",
                          "rpm -q --qf '%{NAME} ' git shadow-utils && stat -c '%U %n' /workspace/a && find /var/cache/dnf -type f && ls /etc/yum.repos.d")

        said = "git shadow-utils app /workspace/a\ncudamatrix.repo\n"
        self.assertEqual(build(), said)
        config = json.loads(docker("image", "inspect", "rocky"))[0]["Config"]
        self.assertEqual((config["User"], config["Healthcheck"]["Test"], config["Healthcheck"]["Retries"]),
                         ("65532:65532", ["CMD", "test", "-n", "$HOME ${HF_HOME}"], 2))  # as written: nothing is replaced
        self.assertIn("HF_HOME=/cache", config["Env"])
        # The packages stay in the builder's cache.
        before = len(World.gateway.asked)
        self.assertEqual(build("--file", steps_again(folder)), said)
        asked = World.gateway.asked[before:]
        self.assertTrue(any(a.endswith("/repomd.xml") for a in asked), asked)
        self.assertEqual([a for a in asked if a.endswith(".rpm")], [])

    def test_what_images_add_is_in_an_image_of_debian(self):
        cell = {**cells_of_families()["plain"][0], "packages": {"loopback-demo": "1.0"}}
        path = matrix("additions", [cell], images=[{"name": "app", "apt": ["tree"], "copy": [{"from": "app", "to": "/workspace/app"}], "env": {"MODE": "test"}}])
        (path.parent / "app").mkdir(exist_ok=True)
        (path.parent / "app/a").write_text("one\n")
        self.done(cudamatrix("lock", path))
        for command in (["init", "--quiet"], ["add", "matrix.yaml", "cudamatrix.lock", "app"],
                        ["-c", "user.name=test", "-c", "user.email=test@example.org", "commit", "--quiet", "--message", "state"]):
            subprocess.run(["git", *command], cwd=path.parent, check=True)
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=path.parent, check=True, capture_output=True, text=True).stdout.strip()
        image = self.build(path)["images"][0]
        self.assertEqual(image["revision"], head)
        config = json.loads(docker("image", "inspect", image["reference"]))[0]["Config"]
        self.assertEqual(config["Labels"]["org.opencontainers.image.revision"], head)
        self.assertIn("MODE=test", config["Env"])
        pins = dict(pin.split("=") for pin in next(iter(self.lock_of("additions")["images"].values()))["apt"]["runtime"])
        said = docker("run", "--rm", "--network", "none", image["reference"], "sh", "-c",
                      "dpkg-query -W tree && stat -c '%U %n' /workspace/app/a && find /var/cache/apt /root/.cache -type f -size +0 2> /dev/null; tree --noreport /workspace/app")
        self.assertEqual(said, f"tree\t{pins['tree']}\napp /workspace/app/a\n/workspace/app\n`-- a\n")
        # Packages and wheels stay in the builder's caches: only the lists are asked for again, and the installer.
        before = len(World.gateway.asked)
        folder = self.dockerfiles("additions")[0].parent
        docker("build", "--file", steps_again(folder), "--network", "host", "--target", "runtime", str(folder))
        asked = World.gateway.asked[before:]
        self.assertTrue(any(a.endswith("/InRelease") for a in asked), asked)
        self.assertEqual([a for a in asked if a.endswith(".deb") or a.endswith(".whl") and "loopback_demo" in a], [])

    def test_a_standalone_python_is_asked_of_the_mirror_and_its_bytes_are_known(self):
        cell = {"family": "nvidia-cuda", "cuda": CUDA, "os": "ubuntu22.04", "flavour": "runtime", "driver": "580.65.06", "gpu": "T4", "python": "3.12"}
        path = matrix("standalone", [cell])
        before = len(World.gateway.asked)
        missing = self.done(cudamatrix("lock", path), 1)
        asked = [a for a in World.gateway.asked[before:] if a.startswith("/local/pythons/")]
        self.assertTrue(asked, missing.stderr)
        self.assertRegex(asked[0], r"^/local/pythons/\d{8}/cpython-3\.12\.\d+%2B\d{8}-x86_64-unknown-linux-gnu-\w+\.tar\.\w+$")
        # The real one is far away; another one is not taken for it.
        file = World.gateway.local / urllib.parse.unquote(asked[0]).removeprefix("/local/")
        file.parent.mkdir(parents=True)
        with tarfile.open(file, "w:gz") as made:
            made.add(__file__, "python/bin/python3.12")
        refused = self.done(cudamatrix("lock", path), 1)
        self.assertIn("the build failed: error: Failed to install cpython-3.12", refused.stderr)
        self.assertIn("Hash mismatch", refused.stderr)

    def test_without_a_day_the_lock_takes_the_snapshot_of_today_and_keeps_it(self):
        path = matrix("today", [cells_of_families()["plain"][2]], build=", snapshot: auto")
        before = len(World.gateway.asked)
        self.done(cudamatrix("lock", path))
        asked = World.gateway.asked[before:]
        taken = self.lock_of("today")["snapshots"]
        self.assertEqual(list(taken), ["debian"])
        self.assertRegex(taken["debian"], r"^\d{8}T000000Z$")
        for archive, suite in (("debian", "bookworm"), ("debian-security", "bookworm-security")):
            self.assertTrue(any(a.startswith(f"/snapshots/{archive}/{taken['debian']}/dists/{suite}/") for a in asked), asked)
        self.assertEqual([a for a in asked if a.startswith("/debian")], [])
        before = len(World.gateway.asked)
        self.assertIn("already pinned", self.done(cudamatrix("lock", path)).stdout)
        self.assertEqual([a for a in World.gateway.asked[before:] if a.startswith("/snapshots")], [])

    def test_what_is_locked_as_of_a_day_comes_from_the_snapshots(self):
        path = matrix("dated", [cells_of_families()["plain"][2]], build=", snapshot: 2026-11-01")
        before = len(World.gateway.asked)
        self.done(cudamatrix("lock", path))
        asked = World.gateway.asked[before:]
        for archive in ("debian", "debian-security"):
            self.assertTrue(any(a.startswith(f"/snapshots/{archive}/20261101T000000Z/dists/bookworm") for a in asked), asked)
        self.assertEqual([a for a in asked if a.startswith("/debian")], [])
        wheels = next(iter(self.lock_of("dated")["images"].values()))["wheels"]
        self.assertEqual([w["url"] for w in wheels["image"]], [f"{GATEWAY}/local/wheels/loopback_demo-1.0-py3-none-any.whl"])
        # The gateway's address of what it has from outside has a query.
        self.assertEqual([w.get("url") for w in wheels["installer"]], [None])

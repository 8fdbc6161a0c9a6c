"""podman and buildah with stores of their own below a folder, for end-to-end tests."""
import os
import shutil
import subprocess

# Raised limits and crun do not work on every machine on which these tests run: that is the engine's own configuration.
CONTAINERS = """[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
"""


class Store:
    """FOLDER/NAME; `registries`: what podman's registries.conf says here."""

    def __init__(self, folder, name, registries=""):
        self.folder = folder / name
        conf, storage, registry = folder / "containers.conf", folder / f"{name}.conf", folder / "registries.conf"
        conf.write_text(CONTAINERS)
        storage.write_text(f'[storage]\ndriver = "overlay"\ngraphroot = "{self.folder}/root"\nrunroot = "{self.folder}/run"\n')
        registry.write_text(registries)
        self.environment = {"CONTAINERS_CONF": str(conf), "CONTAINERS_STORAGE_CONF": str(storage), "CONTAINERS_REGISTRIES_CONF": str(registry)}

    def podman(self, *arguments, check=True):
        got = subprocess.run(["podman", *arguments], capture_output=True, text=True, env={**os.environ, **self.environment})
        if check and got.returncode != 0:
            raise AssertionError(f"podman {' '.join(arguments)}: {got.stdout}{got.stderr}")
        return got.stdout.strip()

    def forget(self):
        """A store is mounts as well as files."""
        if self.folder.exists():
            self.podman("system", "reset", "--force", check=False)
            subprocess.run(["umount", self.folder / "root/overlay"], capture_output=True)
            shutil.rmtree(self.folder, ignore_errors=True)

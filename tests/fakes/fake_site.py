"""What tests of whole commands have in the place of an engine and of an archive."""
import pathlib
import shutil

FAKES = pathlib.Path(__file__).parent
# What the archive answers when it is asked for the versions of packages.
ANSWERS = {"base.txt": "apt=2.6.2\nlibc6=2.36-9\n",
           "apt-devel.txt": "Inst g++-11 (11.3.0-12 Debian:12.1/stable [amd64])\n",
           "apt-runtime.txt": "Inst libcudart11.0 (11.8.89~11.8.0-5 Debian:12.1/stable [amd64])\n",
           "apt-toolkit.txt": "".join(f"'http://x/{name}_1.0_amd64.deb' {name}_1.0_amd64.deb 5 SHA256:{'a' * 64}\n" for name in (
               "nvidia-cuda-toolkit", "nvidia-cuda-dev", "libcudart11.0", "libnvvm4", "libcu++-dev", "libcub-dev", "libthrust-dev"))}


def program(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(0o755)


def install(programs, state):
    """Puts fake_docker.py as docker and a fake mmdebstrap into the folder `programs`; gives the variables that they and cudamatrix want."""
    program(programs / "docker", (FAKES / "fake_docker.py").read_text())
    program(programs / "mmdebstrap", "#!/bin/sh\nfor last; do :; done\nprintf 'a distribution' > \"$last\"\n")
    shutil.copy(FAKES.parents[1] / "kernels/registry.def", programs)
    (state / "export").mkdir(parents=True)
    for name, content in ANSWERS.items():
        (state / "export" / name).write_text(content)
    return {"DOCKER_HOST": "unix:///nonexistent/docker.sock", "FAKE_DOCKER_DIR": str(state)}

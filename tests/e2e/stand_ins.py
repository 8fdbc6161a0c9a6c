"""What stands in for images, wheels and an archive that cannot be had, for end-to-end tests. None of it is the real thing, and each
image says so in its label and in /STAND-IN."""
import hashlib
import json
import lzma
import shutil
import subprocess
import urllib.request
import zipfile

ARCHIVE = "http://127.0.0.1:8000/debian"
SUITE = "bookworm"

# Debian, with what the distribution of the real image has as well: a compiler and a python.
COMMON = f"""ARG UNDER_TORCH=plain
FROM scratch AS plain
ADD base.tar /
RUN printf 'deb {ARCHIVE} {SUITE} main\\n' > /etc/apt/sources.list \\
 && apt-get update -q && apt-get install -y -q --no-install-recommends python3 python3-venv python3-pip \\
 && apt-get clean && rm -rf /var/lib/apt/lists/*

# Debian alone, which asks its archive where nobody here can reach it.
FROM scratch AS official
ADD base.tar /
RUN rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/* \\
 && printf 'deb http://192.0.2.1/debian {SUITE} main\\n' > /etc/apt/sources.list

FROM plain AS compiler
RUN apt-get update -q && apt-get install -y -q --no-install-recommends g++-11 g++ \\
 && apt-get clean && rm -rf /var/lib/apt/lists/*

# NVIDIA's own compiler, from wheels: nvcc is real, the image around it is not.
FROM plain AS wheels
COPY requirements.txt /tmp/requirements.txt
RUN python3 -m pip install -q --no-cache-dir --no-compile --only-binary :all: --no-deps --index-url http://127.0.0.1:8000/simple \\
      --target /opt/wheels -r /tmp/requirements.txt && mv /opt/wheels/nvidia/cu13 /usr/local/cuda && ln -s lib /usr/local/cuda/lib64

FROM plain AS cudart
COPY --from=wheels /usr/local/cuda/lib/libcudart.so.13 /usr/local/cuda/lib/
RUN echo /usr/local/cuda/lib > /etc/ld.so.conf.d/cuda.conf && ldconfig

FROM compiler AS toolkit
COPY --from=wheels /usr/local/cuda /usr/local/cuda

# A torch that knows its name and nothing else.
FROM $UNDER_TORCH AS torch
ARG TORCH
ARG CUDA
RUN mkdir -p /usr/lib/python3/dist-packages/torch-$TORCH.dist-info && cd /usr/lib/python3/dist-packages && mkdir torch \\
 && printf '__version__ = "%s"\\nfrom . import version\\n' "$TORCH" > torch/__init__.py && printf 'cuda = "%s"\\n' "$CUDA" > torch/version.py \\
 && printf 'Metadata-Version: 2.1\\nName: torch\\nVersion: %s\\n' "$TORCH" > torch-$TORCH.dist-info/METADATA

# A Rocky Linux, as far as its packages go: dnf and rpm are real, and so are the packages that they install, which hold nothing.
FROM plain AS rpm_tools
RUN printf 'deb {ARCHIVE}-security {SUITE}-security main\\n' >> /etc/apt/sources.list && apt-get update -q && apt-get install -y -q --no-install-recommends dnf rpm createrepo-c gpg gpg-agent \\
 && apt-get clean && rm -rf /var/lib/apt/lists/*

FROM rpm_tools AS rpms
COPY rpms.sh /rpms.sh
RUN sh /rpms.sh

FROM scratch AS repository
COPY --from=rpms /repository/ /

FROM rpm_tools AS rocky
COPY --from=rpms /key /etc/pki/rpm-gpg/RPM-GPG-KEY-Rocky-9
COPY --from=rpms /repository/9/BaseOS/x86_64/os/rocky-release-9.6-1.el9.x86_64.rpm /tmp/
# Where Debian keeps these for itself, Rocky has them for all.
RUN mkdir -p /etc/rpm /var/lib/rpm && echo '%_dbpath /var/lib/rpm' > /etc/rpm/macros && echo cachedir=/var/cache/dnf >> /etc/dnf/dnf.conf \\
 && rpm --force-debian --nosignature -i /tmp/rocky-release-*.rpm && rm /tmp/rocky-release-*.rpm \\
 && printf 'ID="rocky"\\nVERSION_ID="9.6"\\n' > /etc/os-release && mkdir -p /etc/yum.repos.d && echo '[broken]' > /etc/yum.repos.d/rocky.repo

# A machine of another kind: busybox alone.
FROM scratch AS foreign
COPY busybox /bin/busybox
COPY busybox /bin/sh
"""


# Signed packages with nothing in them, and the archive of them. NAME EPOCH VERSION RELEASE PROVIDES.
RPMS = r"""set -eu
gpg --batch --pinentry-mode loopback --passphrase '' --quick-gen-key 'test of cudamatrix' rsa2048 sign never
gpg --armor --export > /key
os=/repository/9/BaseOS/x86_64/os
mkdir -p "$os" /repository/9/AppStream/x86_64
while read -r name epoch version release provides; do
    printf '%s\n' "Name: $name" "Epoch: $epoch" "Version: $version" "Release: $release" 'Summary: stand-in of a test' 'License: none' "Provides: $provides" \
        '%description' 'Nothing.' '%install' "install -d %{buildroot}/usr/share/stand-in && touch %{buildroot}/usr/share/stand-in/$name" \
        '%files' "/usr/share/stand-in/$name" > /tmp/package.spec
    rpmbuild --quiet -bb --define '_topdir /tmp/rpmbuild' --define 'debug_package %{nil}' /tmp/package.spec
done <<END
rocky-release 0 9.6 1.el9 system-release(releasever) = 9
gcc-c++ 0 11.5.0 5.el9 stand-in
shadow-utils 2 4.9 12.el9 stand-in
git 0 2.47.3 1.el9 stand-in
END
rpmsign --define '_gpg_name test of cudamatrix' --define '__gpg /usr/bin/gpg' --addsign /tmp/rpmbuild/RPMS/x86_64/*.rpm
mv /tmp/rpmbuild/RPMS/x86_64/*.rpm "$os/"
createrepo_c --quiet "$os"
cp -r "$os" /repository/9/AppStream/x86_64/os
"""


def mark(stage, reference, state=""):
    """The stage that is pushed as `reference`: its last layer says what it is."""
    text = f"stand-in for {reference}, made by a test of cudamatrix: not that image{state}"
    return f'\nFROM {stage} AS made\nLABEL cudamatrix.stand-in="{text}"\nCOPY --chmod=0444 STAND-IN /STAND-IN\n', text + "\n"


def certificate(folder):
    """An authority of nobody's trust, and what it certifies for localhost: authority, certificate and key."""
    folder.mkdir()
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n", encoding="utf-8")
    new = ["openssl", "req", "-newkey", "rsa:2048", "-nodes"]
    for command in ([*new, "-x509", "-days", "2", "-subj", "/CN=test of cudamatrix", "-keyout", "authority.key", "-out", "authority.pem"],
                    [*new, "-subj", "/CN=localhost", "-keyout", "key.pem", "-out", "request.pem"],
                    ["openssl", "x509", "-req", "-days", "2", "-in", "request.pem", "-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial",
                     "-extfile", "names", "-out", "certificate.pem"]):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "authority.pem", folder / "certificate.pem", folder / "key.pem"


class Images:
    """Builds stand-ins in one folder and pushes them to the registry."""

    def __init__(self, folder, docker, registry):
        self.folder, self.docker, self.registry = folder, docker, registry
        (folder / "rpms.sh").write_text(RPMS, encoding="utf-8")

    def export(self, stage, target):
        """Writes what a stage holds into a folder."""
        (self.folder / "Dockerfile").write_text(COMMON, encoding="utf-8")
        self.docker("build", "--network", "host", "--target", stage, "--output", f"type=local,dest={target}", str(self.folder))

    def push(self, reference, stage, *options, state=""):
        """Gives the digest that the registry has of it."""
        last, text = mark(stage, reference, state)
        (self.folder / "Dockerfile").write_text(COMMON + last, encoding="utf-8")
        (self.folder / "STAND-IN").write_text(text, encoding="utf-8")
        name = f"{self.registry}/{reference}"
        self.docker("build", "--network", "host", "--target", "made", "--tag", name, *options, str(self.folder))
        self.docker("push", "--quiet", name)
        return digest_of(self.registry, reference)


def ask(registry, reference, method="GET", body=None, kind=None):
    """The registry's answer to a request for a manifest."""
    repository, _, tag = reference.replace("@", ":", 1).partition(":")  # TAG, or sha256:DIGEST
    accept = "application/vnd.docker.distribution.manifest.list.v2+json, application/vnd.docker.distribution.manifest.v2+json"
    request = urllib.request.Request(f"http://{registry}/v2/{repository}/manifests/{tag}", body, {"Accept": accept}, method=method)
    if kind:
        request.add_header("Content-Type", kind)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.headers, answer.read()


def digest_of(registry, reference):
    return ask(registry, reference, "HEAD")[0]["Docker-Content-Digest"]


def push_index(registry, reference, images):
    """A tag of several architectures: {amd64: tag of the same repository}."""
    kind = "application/vnd.docker.distribution.manifest.list.v2+json"
    repository = reference.partition(":")[0]
    manifests = []
    for architecture, tag in images.items():
        headers, body = ask(registry, f"{repository}:{tag}")
        manifests.append({"mediaType": headers["Content-Type"], "size": len(body), "digest": headers["Docker-Content-Digest"],
                          "platform": {"os": "linux", "architecture": architecture}})
    body = json.dumps({"schemaVersion": 2, "mediaType": kind, "manifests": manifests}).encode()
    ask(registry, reference, "PUT", body, kind)
    return digest_of(registry, reference)


def wheel(folder, name, version, files, requires=()):
    """A wheel made on the spot."""
    info = f"{name}-{version}.dist-info"
    files = {**files, f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {r}\n" for r in requires),
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = "".join(f"{path},,\n" for path in files) + f"{info}/RECORD,,\n"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as made:
        for path, content in {**files, f"{info}/RECORD": record}.items():
            made.writestr(path, content)


def fetch(path):
    with urllib.request.urlopen(f"{ARCHIVE}/{path}", timeout=300) as answer:
        return answer.read()


def fetch_deb(package, architecture, folder):
    """The archive's own package, unpacked into `folder`."""
    for entry in lzma.decompress(fetch(f"dists/{SUITE}/main/binary-{architecture}/Packages.xz")).decode().split("\n\n"):
        if entry.startswith(f"Package: {package}\n"):
            path = next(line[10:] for line in entry.splitlines() if line.startswith("Filename: "))
            deb = folder.with_suffix(".deb")
            deb.write_bytes(fetch(path))
            subprocess.run(["dpkg-deb", "-R", deb, folder], check=True)
            return
    raise AssertionError(f"the archive has no {package} for {architecture}")


class Archive:
    """An apt archive of a few packages, signed by a key that is made for it: served as a mirror of Debian's security part."""

    def __init__(self, folder, home):
        self.folder, self.home = folder, home
        self.codename = f"{SUITE}-security"
        home.mkdir(mode=0o700)
        self.gpg("--quick-gen-key", "test of cudamatrix", "ed25519", "sign", "never")

    def gpg(self, *arguments, output=False):
        command = ["gpg", "--homedir", str(self.home), "--batch", "--yes", "--pinentry-mode", "loopback", "--passphrase", "", *arguments]
        done = subprocess.run(command, capture_output=True, check=True)
        return done.stdout if output else None

    def close(self):
        subprocess.run(["gpgconf", "--homedir", str(self.home), "--kill", "all"], check=False)

    def key(self):
        return self.gpg("--export", output=True)

    def add(self, tree):
        """Packs a folder with a DEBIAN/control."""
        (self.folder / "pool").mkdir(parents=True, exist_ok=True)
        subprocess.run(["dpkg-deb", "--root-owner-group", "--build", tree, self.folder / "pool"], check=True, capture_output=True)

    def add_small(self, work, name, version, path, content):
        tree = work / f"{name}-{version}"
        for at, text in (("DEBIAN/control", f"Package: {name}\nVersion: {version}\nArchitecture: all\nMaintainer: test <test@example.org>\n"
                          f"Multi-Arch: foreign\nDescription: stand-in of a test\n"), (path, content)):
            (tree / at).parent.mkdir(parents=True, exist_ok=True)
            (tree / at).write_text(text, encoding="utf-8")
        self.add(tree)

    def remove(self, pattern):
        for path in (self.folder / "pool").glob(pattern):
            path.unlink()

    def publish(self):
        """Writes the lists for what is in the pool now."""
        dist = self.folder / "dists" / self.codename
        shutil.rmtree(dist, ignore_errors=True)
        entries = []
        for deb in sorted((self.folder / "pool").glob("*.deb")):
            control = subprocess.run(["dpkg-deb", "--field", deb], capture_output=True, text=True, check=True).stdout.rstrip()
            content = deb.read_bytes()
            entries.append(f"{control}\nFilename: pool/{deb.name}\nSize: {len(content)}\nSHA256: {hashlib.sha256(content).hexdigest()}\n")
        sums = ""
        for component in ("main", "contrib", "non-free"):
            listing = dist / component / "binary-amd64" / "Packages"
            listing.parent.mkdir(parents=True)
            listing.write_text("\n".join(entries) if component == "main" else "", encoding="utf-8")
            content = listing.read_bytes()
            sums += f" {hashlib.sha256(content).hexdigest()} {len(content)} {component}/binary-amd64/Packages\n"
        date = subprocess.run(["date", "-Ru"], capture_output=True, text=True, check=True).stdout.strip()
        release = dist / "Release"
        release.write_text(f"Origin: test\nSuite: {self.codename}\nCodename: {self.codename}\nArchitectures: amd64\n"
                           f"Components: main contrib non-free\nDate: {date}\nSHA256:\n{sums}", encoding="utf-8")
        self.gpg("--clearsign", "--output", str(dist / "InRelease"), str(release))

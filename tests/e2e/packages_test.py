"""The packages of the tool: the static program is built from sources, packed, installed in clean roots, and used there.
Needs root (bootstrap and chroot), the archive and the Python index.
Usage: packages_test.py SOURCE_DIR WORK_DIR [ARCH [SUITE...]]
ARCH other than this machine's is built by a cross build and runs under qemu (packages qemu-user-static and arch-test, binfmt_misc mounted).
SUITE is a release of Debian or Ubuntu (bullseye, jammy ...), default bullseye and trixie."""
import hashlib
import http.server
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import sys
import threading
import unittest

SOURCE, WORK = pathlib.Path(sys.argv.pop(1)).resolve(), pathlib.Path(sys.argv.pop(1)).resolve()
ARCH = sys.argv.pop(1) if sys.argv[1:] else os.uname().machine
DEB_ARCH = {"x86_64": "amd64", "aarch64": "arm64"}[ARCH]
BUILD, PACKAGES = WORK / f"static-{ARCH}", WORK / "packages"
SUITES = sys.argv[1:] or ["bullseye", "trixie"]
del sys.argv[1:]
UBUNTU = ("bionic", "focal", "jammy", "noble", "resolute")  # 18.04 to 26.04, every two years
MATRIX = "examples/quickstart/matrix.yaml"
VERSION = re.search(r"project\(cudamatrix VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
# Where the packages put what beside the program.
SHARED = ("man/man1/cudamatrix.1.gz", "man/man1/cudamatrix-check.1.gz", "bash-completion/completions/cudamatrix", "zsh/vendor-completions/_cudamatrix",
          "fish/vendor_completions.d/cudamatrix.fish", "doc/cudamatrix/copyright", "doc/cudamatrix/changelog.gz", "doc/cudamatrix/THIRD-PARTY-LICENSES")


def run(*argv, code=0, **options):
    """Its stdout and stderr; another exit code fails."""
    got = subprocess.run([str(word) for word in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if got.returncode != code:
        raise AssertionError(f"{argv}: exit code {got.returncode}, not {code}\n{got.stdout}")
    return got.stdout


def only(pattern):
    """The one package of that name."""
    found = list(PACKAGES.glob(pattern))
    if len(found) != 1:
        raise AssertionError(f"{pattern}: {[path.name for path in found]} in {PACKAGES}")
    return found[0]


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        WORK.mkdir(parents=True, exist_ok=True)
        print(run("sh", SOURCE / "cmake/install_packages.sh", "packages"), end="")
        # A failure to build is a failure of this test, with what the build said.
        # Not optimised: it is about what is packed.
        made = {**os.environ, "CUDAMATRIX_STATIC_DIR": str(WORK), "CUDAMATRIX_OPTIMISE": "-O0"}
        run("sh", SOURCE / "packaging/static/build.sh", ARCH, env=made)
        run("sh", SOURCE / "packaging/packages.sh", ARCH, env=made)
        cls.program = PACKAGES / "docker/linux" / DEB_ARCH / "cudamatrix"

    def use(self, *command, page):
        """What everybody does first."""
        version = run(*command, "--version")
        self.assertRegex(version, rf"\Acudamatrix {re.escape(VERSION)}\nfacts \d{{4}}-\d\d-\d\d [0-9a-f]+\nbuild static, {ARCH}, clang [\d.]+, commit [0-9a-f]{{12}}\n\Z")
        checked = run(*command, "check", page, "--on", "2026-11-21", code=1)
        self.assertRegex(checked, r"\nquickstart: 31 cells: 13 accepted, 18 rejected(;|\n)")
        self.assertIn(".Dt CUDAMATRIX-CHECK 1\n", run(*command, "man", "check"))

    def test_the_program_is_static_and_names_no_path_of_the_machine_that_built_it(self):
        headers = run("readelf", "--program-headers", "--dynamic", "--wide", self.program)
        self.assertNotIn("INTERP", headers)
        self.assertNotIn("NEEDED", headers)
        content = self.program.read_bytes()
        self.assertEqual(re.findall(re.escape(str(SOURCE).encode()) + rb"[ -~]*", content)[:5], [])
        self.assertEqual(re.findall(rb"(?:ziglang|zig-cache|static-x86_64|static-aarch64)[ -~]*", content)[:5], [])
        self.assertEqual(run("readelf", "--symbols", "--wide", self.program).strip(), "")
        self.use(self.program, page=SOURCE / MATRIX)

    def test_the_debian_package_in_clean_roots(self):
        package = only("cudamatrix_*.deb")
        fields = dict(line.split(": ", 1) for line in run("dpkg-deb", "--field", package).splitlines() if re.match(r"\w", line))
        self.assertNotIn("Depends", fields)
        self.assertEqual((fields["Package"], fields["Version"], fields["Recommends"], fields["Section"]), ("cudamatrix", f"{VERSION}-1", "ca-certificates", "devel"))
        for suite in SUITES:
            with self.subTest(suite):
                self.in_root(suite, package)

    def in_root(self, suite, package):
        root = WORK / suite
        shutil.rmtree(root, ignore_errors=True)
        # Debian has no key of Ubuntu's archive; nothing of such a root leaves this test.
        archive = [f"deb [trusted=yes] http://archive.ubuntu.com/ubuntu {suite} main"] if suite in UBUNTU else []
        run("mmdebstrap", "--quiet", "--variant=essential", f"--architectures={DEB_ARCH}", suite, root, *archive)
        self.addCleanup(shutil.rmtree, root, ignore_errors=True)
        shutil.copy(package, root / "cudamatrix.deb")
        shutil.copy(SOURCE / MATRIX, root / "matrix.yaml")
        # The pages of minimal systems are left out by their dpkg.
        run("chroot", root, "dpkg", "--force-unsafe-io", "--path-include=/usr/share/*", "--install", "/cudamatrix.deb")
        self.use("chroot", root, "cudamatrix", page="/matrix.yaml")
        self.assertEqual([name for name in SHARED if not (root / "usr/share" / name).is_file()], [])
        self.over_tls(root)
        run("chroot", root, "dpkg", "--purge", "cudamatrix")
        self.assertEqual([str(path) for path in root.glob("usr/**/*cudamatrix*") if "/dpkg/" not in str(path)], [])

    def test_a_root_without_anything_else(self):
        """No libc, no shell, no /proc: what Alpine, Rocky and Debian 10 have is more. Their places of certificates are unit.registry's."""
        root = WORK / "empty"
        shutil.rmtree(root, ignore_errors=True)
        self.addCleanup(shutil.rmtree, root, ignore_errors=True)
        (root / "usr/bin").mkdir(parents=True)
        shutil.copy(self.program, root / "usr/bin/cudamatrix")
        shutil.copy(SOURCE / MATRIX, root / "matrix.yaml")
        self.use("chroot", root, "/usr/bin/cudamatrix", page="/matrix.yaml")
        self.over_tls(root)

    def over_tls(self, root):
        """The system's certificates are found; without them nobody is trusted."""
        run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1",
            "-keyout", WORK / "key.pem", "-out", WORK / "ca.pem")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(WORK / "ca.pem", WORK / "key.pem")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Missing)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        bundle = root / "etc/ssl/certs/ca-certificates.crt"
        bundle.unlink(missing_ok=True)
        ask = ("env", "-i", "/usr/sbin/chroot", root, "/usr/bin/cudamatrix", "scan", "torch==2.6.0", "--gpu", "T4", "--index",
               f"https://127.0.0.1:{server.server_port}/simple")
        self.assertRegex(run(*ask, code=3), r"(?i)certificate")
        bundle.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(WORK / "ca.pem", bundle)
        self.assertIn("/simple has no project torch\n", run(*ask, code=2))

    def test_the_wheel_in_an_environment_of_its_own(self):
        wheel = only("cudamatrix-*.whl")
        self.assertEqual(wheel.name, f"cudamatrix-{VERSION}-py3-none-manylinux2014_{ARCH}.manylinux_2_17_{ARCH}.musllinux_1_1_{ARCH}.whl")
        environment = WORK / "venv"
        shutil.rmtree(environment, ignore_errors=True)
        run("python3", "-m", "venv", environment)
        if ARCH != os.uname().machine:  # only its own pip takes it: from a folder, then
            run(environment / "bin/pip", "install", "--quiet", "--no-index", "--platform", f"manylinux2014_{ARCH}", "--only-binary", ":all:", "--target", WORK / "foreign", wheel)
            self.use(WORK / "foreign/bin/cudamatrix", page=SOURCE / MATRIX)
            return
        run(environment / "bin/pip", "install", "--quiet", "--no-index", wheel)
        self.use(environment / "bin/cudamatrix", page=SOURCE / MATRIX)
        wanted = [name.removesuffix(".gz").replace("vendor-completions", "site-functions") for name in SHARED if not name.startswith("doc/")]
        self.assertEqual([name for name in wanted if not (environment / "share" / name).is_file()], [])
        self.assertIn(f"Version: {VERSION}\n", run(environment / "bin/pip", "show", "cudamatrix"))
        run(environment / "bin/pip", "uninstall", "--quiet", "--yes", "cudamatrix")
        self.assertFalse((environment / "bin/cudamatrix").exists())

    def test_the_wheel_is_the_same_every_time(self):
        sums = {}
        for folder in ("a", "b"):
            run(sys.executable, SOURCE / "packaging/wheel/build_wheel.py", BUILD / "installed", ARCH, WORK / folder, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
            sums[folder] = hashlib.sha256(next((WORK / folder).glob("*.whl")).read_bytes()).hexdigest()
        self.assertEqual(sums["a"], sums["b"])

    def test_no_wheel_of_what_is_not_static(self):
        root = WORK / "dynamic"
        (root / "bin").mkdir(parents=True, exist_ok=True)
        shutil.copy(os.path.realpath(sys.executable), root / "bin/cudamatrix")  # of this machine's processor: read, not run
        said = run(sys.executable, SOURCE / "packaging/wheel/build_wheel.py", root, ARCH, WORK / "none", code=1)
        self.assertEqual(said, f"build_wheel.py: {root}/bin/cudamatrix is not static: its wheel would not run where it says (build it by packaging/static/build.sh)\n")

    def test_the_archive_and_the_checksums(self):
        archive = only("cudamatrix-*.tar.gz")
        top = archive.name.removesuffix(".tar.gz")
        self.assertEqual(top, f"cudamatrix-{VERSION}-linux-{ARCH}")
        unpacked = WORK / "archive"
        shutil.rmtree(unpacked, ignore_errors=True)
        unpacked.mkdir()
        run("tar", "-C", unpacked, "-xf", archive)
        self.use(unpacked / top / "bin/cudamatrix", page=SOURCE / MATRIX)
        formula = (SOURCE / "packaging/homebrew/cudamatrix.rb").read_text()
        for name in re.findall(r'install (?:Dir\[)?"([^"]+)"', formula):
            self.assertNotEqual(list((unpacked / top).glob(name)), [], name)
        run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=PACKAGES)
        self.assertEqual(len((PACKAGES / "SHA256SUMS").read_text().splitlines()), 3)


class Missing(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(404)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    unittest.main(verbosity=2)

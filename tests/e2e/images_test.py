"""The main job on real images: builds, proves, reuses, rebuilds, and turns red when a kernel is broken on purpose.
Usage: images_test.py CUDAMATRIX SOURCE_DIR WORK_DIR   (needs a docker daemon and the network; no GPU)

The tests run in the order of their names and share one output folder, because each step builds on the images of the last."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree as xml

PROGRAM, SOURCE, WORK = [pathlib.Path(a).resolve() for a in sys.argv[1:4]]
del sys.argv[1:4]
DOCKER = "/usr/bin/docker" if os.path.exists("/usr/bin/docker") else "docker"
MATRIX = WORK / "matrix.yaml"
OUT = WORK / "out"
BUILD = ["--network", "host", "--ca-bundle", "/etc/ssl/certs/ca-certificates.crt"]
LISTED = json.loads(subprocess.run([PROGRAM, "kernels", "list", "--format", "json"], stdout=subprocess.PIPE, check=True).stdout)
COMPUTE = {"V100": 7.0, "T4": 7.5, "L4": 8.9, "H100": 9.0, "B200": 10.0, "RTX 5090": 12.0}
NVCC = {"11.8.0": "11.8", "12.4.1": "12.4", "13.4.3": "13.4"}


def docker(*arguments, check=True):
    got = subprocess.run([DOCKER, *arguments], capture_output=True, text=True, env=dict(os.environ, DOCKER_BUILDKIT="1"))
    if check and got.returncode != 0:
        raise AssertionError(f"docker {' '.join(arguments)}: {got.stdout}{got.stderr}")
    return got.stdout


def remove_images():
    if old := docker("image", "ls", "--quiet", "cudamatrix/e2e").split():
        docker("image", "rm", "--force", *sorted(set(old)))


def run(*extra, matrix=MATRIX, out=OUT):
    """cudamatrix run: progress to our own stderr, the report as JSON back."""
    got = subprocess.run([PROGRAM, "run", matrix, "--out", out, "--engine", "docker", "--format", "json", *BUILD, *extra], stdout=subprocess.PIPE,
                         text=True)
    return got.returncode, json.loads(got.stdout) if got.stdout else None


def interpreted_tests(compute, cuda, levels=("quick",)):
    """The tests that the interpreter has to run for a GPU of that compute capability and that nvcc."""
    def number(version):
        return [int(part) for part in version.split(".")]

    def serves(variant):
        target = float(variant[:-1] or compute)
        return target <= compute and int(target) == int(compute) if variant.endswith("f") else target == compute
    return {t["id"] for t in LISTED["tests"] if "interpreted" in t["parts"] and t["level"] in levels and float(t["min_compute"] or 0) <= compute
            and number(t["min_cuda"]) <= number(cuda) and serves(t["variant"])}


def first_parts(cell):
    """The results that need no GPU, of each test that of its first part."""
    return {t["id"]: t for t in reversed(cell["tests"]) if gpu_less(t)}


def gpu_less(test):
    return test["part"] != "gpu"


class Images(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)
        shutil.copy(SOURCE / "tests/e2e/images/matrix.yaml", MATRIX)
        # Images of an earlier run of these tests would be reused, and nothing would be built.
        remove_images()

    def attempted(self, report):
        return [c for c in report["cells"] if c["outcome"] != "skipped"]

    def test_1_every_accepted_cell_is_built_and_proven(self):
        code, report = run()
        self.assertEqual(code, 4, json.dumps(report, indent=1)[:20000])
        self.assertEqual(report["result"], "pass-loaded")  # no kernel of torch images can be interpreted
        cells = self.attempted(report)
        self.assertEqual({c["fields"]["cuda"] for c in cells if "cuda" in c["fields"]}, set(NVCC))
        self.assertTrue(any("torch" in c["fields"] for c in cells))
        for cell in cells:
            with self.subTest(cell["id"]):
                proof = "interpreted" if "cuda" in cell["fields"] else "loaded"
                self.assertEqual((cell["outcome"], cell["proof"]), ("passed_without_gpu", proof))
                results = {(t["id"], t["part"]): t for t in cell["tests"]}
                failed = [t for t in cell["tests"] if t["status"] not in ("pass", "skip")]
                self.assertEqual(failed, [])
                by_id = first_parts(cell)
                if "cuda" in cell["fields"]:
                    version = NVCC[cell["fields"]["cuda"]]
                    self.assertIn(f"nvcc {version}", by_id["static.compile"]["summary"])
                    self.assertNotIn("warnings", by_id["static.compile"]["evidence"])
                    self.assertTrue(any(f.startswith("sass ") for f in by_id["static.fatbin"]["fatbin"]), by_id["static.fatbin"])
                    interpreted = {t["id"]: t["summary"] for t in cell["tests"] if t["part"] == "interpreted" and t["status"] == "pass"}
                    self.assertEqual(set(interpreted), interpreted_tests(COMPUTE[cell["fields"]["gpu"]], version))
                    self.assertTrue(all(s.endswith("(PTX interpreter)") for s in interpreted.values()), interpreted)
                else:
                    for test in ("torch.arch", "torch.matmul", "torch.step", "torch.workers", "lib.cublas", "lib.cudnn", "lib.cufft", "lib.cusparse",
                                 "lib.cusolver", "lib.curand", "lib.nccl"):
                        self.assertEqual(by_id[test]["status"], "pass", by_id[test])
                    self.assertIn("no_nvcc", {t["reason"] for t in cell["tests"] if t["status"] == "skip"})
                self.assertGreater(cell["image_bytes"], 0)
                self.assertTrue((OUT / cell["log"]).is_file())
                self.assertTrue(results)

    def test_2_the_reports_agree(self):
        report = json.loads((OUT / "report.json").read_text())
        suites = {s.get("name"): s for s in xml.parse(OUT / "report.xml").getroot().iter("testsuite")}
        for cell in self.attempted(report):
            suite = suites[cell["id"]]
            self.assertEqual(int(suite.get("failures", "0")) + int(suite.get("errors", "0")), 0)
            if "cuda" in cell["fields"]:
                self.assertIn("sass", xml.tostring(suite, encoding="unicode"))
        self.assertIn("pass-loaded", (OUT / "report.txt").read_text())

    def test_3_images_are_small_labelled_and_not_root(self):
        report = json.loads((OUT / "report.json").read_text())
        for image in report["images"]:
            with self.subTest(image["id"]):
                config = json.loads(docker("image", "inspect", image["reference"]))[0]["Config"]
                self.assertNotIn(config["User"], ("", "root", "0"))
                labels = config["Labels"]
                for name in ("org.opencontainers.image.title", "io.cudamatrix.image", "io.cudamatrix.lock", "io.cudamatrix.version"):
                    self.assertTrue(labels.get(name), labels)
                if "torch" not in image["id"]:
                    self.assertLess(image["runtime_bytes"], 400e6)

    def test_3_scan_finds_in_an_image_what_the_suite_found(self):
        report = json.loads((OUT / "report.json").read_text())
        cell = next(c for c in self.attempted(report) if c["fields"].get("cuda") == "11.8.0")
        image = next(i for i in report["images"] if i["id"] == cell["image"])
        env = dict(os.environ, PATH=os.path.dirname(DOCKER) + ":" + os.environ["PATH"])
        got = subprocess.run([PROGRAM, "scan", "docker:" + image["reference"] + "-proof", "--format", "json"], capture_output=True, text=True, env=env)
        self.assertEqual(got.returncode, 0, got.stderr)
        found = {"sass " + arch for library in json.loads(got.stdout)["libraries"] for arch in library["sass"]}
        static = next(t for t in cell["tests"] if t["id"] == "static.fatbin")["fatbin"]
        self.assertEqual(found, {code for code in static if code.startswith("sass ")})
        whole = subprocess.run([PROGRAM, "scan", MATRIX, "--cell", cell["id"], "--format", "json"], capture_output=True, text=True, env=env)
        self.assertEqual(json.loads(whole.stdout)["targets"][0]["kind"], "image", whole.stderr)

    def test_4_compose_files_are_valid(self):
        for name in ("compose.yaml", "compose.gpu.yaml", "compose.cdi.yaml"):
            self.assertTrue((OUT / name).is_file())
            got = subprocess.run(["check-jsonschema", "--builtin-schema", "vendor.compose-spec", OUT / name], capture_output=True, text=True)
            self.assertEqual(got.returncode, 0, got.stdout + got.stderr)

    def test_4_bills_of_materials_are_valid_and_say_what_the_images_hold(self):
        got = subprocess.run([PROGRAM, "sbom", MATRIX, "--out", OUT, "--engine", "docker", "--format", "json", *BUILD], capture_output=True, text=True)
        self.assertEqual(got.returncode, 0, got.stdout + got.stderr)
        images = json.loads(got.stdout)["images"]
        self.assertEqual(len(images), len(json.loads((OUT / "report.json").read_text())["images"]))
        python = pathlib.Path(shutil.which("pyspdxtools")).parent / "python"
        files = [OUT / name for image in images for name in image["files"]]
        self.assertEqual(len(files), 2 * len(images))
        valid = subprocess.run([python, SOURCE / "tests/e2e/sbom_schema_test.py", SOURCE, *files], capture_output=True, text=True)
        self.assertEqual(valid.returncode, 0, valid.stdout + valid.stderr)
        for image in images:
            held = {p["name"]: p for p in json.loads((OUT / image["files"][0]).read_text())["packages"]}
            self.assertIn("libc6", held)
            if "torch" in image["id"]:
                self.assertTrue(held["torch"]["versionInfo"].startswith("2.6.0"), held["torch"])
                self.assertEqual(len(held["torch"]["checksums"][0]["checksumValue"]), 64)
                self.assertIn("numpy", held)

    def test_5_a_second_run_builds_nothing(self):
        start = time.monotonic()
        code, report = run()
        print(f"a second run took {time.monotonic() - start:.1f} s", file=sys.stderr)
        self.assertEqual(code, 4)
        self.assertTrue(all(i["reused"] for i in report["images"]), report["images"])

    def test_5_level_standard_is_interpreted_too(self):
        """Nothing is built for it."""
        code, report = run("--level", "standard")
        self.assertEqual(code, 4, json.dumps(report, indent=1)[:20000])
        cells = [c for c in self.attempted(report) if "cuda" in c["fields"]]
        self.assertEqual({c["fields"]["gpu"] for c in cells}, {"V100", "T4", "H100"})
        for cell in cells:
            interpreted = {t["id"] for t in cell["tests"] if t["part"] == "interpreted" and t["status"] == "pass"}
            self.assertEqual(interpreted, interpreted_tests(COMPUTE[cell["fields"]["gpu"]], NVCC[cell["fields"]["cuda"]], ("quick", "standard")))
        self.assertTrue(all(i["reused"] for i in report["images"]), report["images"])
        torch, = [c for c in self.attempted(report) if "torch" in c["fields"]]
        built = {(t["id"], t["part"]): t["reason"] for t in torch["tests"] if t["id"] in ("torch.ext", "torch.compile")}
        self.assertEqual(built["torch.ext", "cpu"], "no_compiler")
        self.assertEqual(built["torch.compile", "cpu"], "no_compiler")

    def test_6_a_deleted_image_is_rebuilt_alone(self):
        report = json.loads((OUT / "report.json").read_text())
        victim = next(i for i in report["images"] if "13.4.3" in i["id"])
        docker("image", "rm", "--force", victim["digest"])
        code, report = run()
        self.assertEqual(code, 4)
        self.assertEqual([i["id"] for i in report["images"] if not i["reused"]], [victim["id"]])

    def test_7_docker_build_by_hand(self):
        folder = next(p.parent for p in OUT.rglob("Dockerfile") if "11.8.0" in str(p))
        header = (folder / "Dockerfile").read_text().splitlines()[:40]
        line = next(h.lstrip("# ").strip() for h in header if "docker build" in h)
        words = [w for w in line.split() if "=" not in w or w.startswith("--")]
        command = words[words.index("docker") + 1:]
        command = ["by-hand" if previous in ("-t", "--tag") else w for previous, w in zip([""] + command, command)]
        got = subprocess.run([DOCKER, *command], cwd=folder, capture_output=True, text=True, env=dict(os.environ, DOCKER_BUILDKIT="1"))
        self.assertEqual(got.returncode, 0, line + "\n" + got.stdout + got.stderr)

    def test_8_defects_turn_exactly_their_tests_red(self):
        """A suite with two edits, built into an image with a toolkit and into the one with torch, which has no kernel."""
        matrix, out, suite = WORK / "broken.yaml", WORK / "out-broken", WORK / "suite"
        shutil.copy(SOURCE / "tests/e2e/images/broken.yaml", matrix)
        shutil.copytree(OUT / "bootstrap", out / "bootstrap", copy_function=os.link)
        shutil.copytree(SOURCE / "kernels", suite / "kernels")
        shutil.copytree(SOURCE / "src/fatbin", suite / "fatbin")
        for file, old, new in DEFECTS:
            path = suite / file
            text = path.read_text()
            self.assertEqual(text.count(old), 1, f"{file} holds {old!r} {text.count(old)} times")
            path.write_text(text.replace(old, new))
        code, report = run("--suite", str(suite), matrix=matrix, out=out)
        self.assertEqual(code, 1)
        for cell in self.attempted(report):
            red = {t["id"] for t in cell["tests"] if t["status"] not in ("pass", "skip")}
            wanted = {"static.compile", "cmp.reduce"} if "cuda" in cell["fields"] else set()
            self.assertEqual((red, cell["outcome"]), (wanted, "failed" if wanted else "passed_without_gpu"))
            why = "cmp_vadd was not built: see static.compile" if wanted else "the suite was built without nvcc"
            self.assertEqual({t["summary"] for t in cell["tests"] if t["id"] == "cmp.vadd"}, {why})
        rebuilt = [i["id"] for i in report["images"] if not i["reused"]]
        self.assertEqual(rebuilt, ["debian12-cu11.8.0"], "the torch image has no kernel in it")

    def test_a_a_current_torch_has_its_kernels_interpreted(self):
        """What compiles them is beside the image: its runtime has no nvcc."""
        remove_images()  # room for it
        matrix, out = WORK / "torch.yaml", WORK / "out-torch"
        shutil.copy(SOURCE / "tests/e2e/images/torch.yaml", matrix)
        (out / "bootstrap").mkdir(parents=True)
        for made in (OUT / "bootstrap").glob("*bookworm*"):
            os.link(made, out / "bootstrap" / made.name)
        code, report = run(matrix=matrix, out=out)
        self.assertEqual((code, report["result"]), (4, "pass-interpreted"), json.dumps(report, indent=1)[:20000])
        cells = self.attempted(report)
        for cell in cells:
            self.assertEqual((cell["outcome"], cell["proof"]), ("passed_without_gpu", "interpreted"))
            interpreted = {t["id"] for t in cell["tests"] if t["part"] == "interpreted" and t["status"] == "pass"}
            self.assertEqual(interpreted, interpreted_tests(COMPUTE[cell["fields"]["gpu"]], "13.0"))
        by_id = first_parts(cells[0])
        self.assertIn("nvcc 13.0.88, which the image itself does not have", by_id["static.compile"]["summary"])
        self.assertNotIn("warnings", by_id["static.compile"]["evidence"])
        for test in ("torch.arch", "torch.matmul", "torch.step", "torch.workers", "lib.cublas", "lib.cudnn", "lib.cufft", "lib.cusparse", "lib.cusolver",
                     "lib.curand", "lib.nccl"):
            self.assertEqual(by_id[test]["status"], "pass", by_id[test])
        image, = report["images"]
        found = docker("run", "--rm", "--network", "none", image["reference"], "sh", "-c", "command -v nvcc g++-12; ls /usr/local", check=False).split()
        self.assertNotIn("cuda", found)
        self.assertEqual([name for name in found if "/" in name], [])


# A warp reduction that leaves lanes out, and a call of a function that does not exist.
DEFECTS = (("kernels/compute/reduce_body.hpp", "delta > 0; delta /= 2", "delta > 0; delta /= 4"),
           ("kernels/compute/vadd.cu", "vadd_body(block, args);", "no_such_body(block, args);"))

if __name__ == "__main__":
    unittest.main(failfast=True)

"""The command line as a user meets it: facts refresh. Usage: refresh_test.py CUDAMATRIX [unittest arguments]"""
import gzip
import hashlib
import json
import re

from cli import Cli, container, entry, layer, library, main

NOTE = re.compile(r"^cudamatrix: note: --look: pip's resolver was not asked: needs python 3\.\d+ with pip 25\.3 or newer on this machine\n", re.MULTILINE)


class Refresh(Cli):
    def call(self, *arguments, env=None, **options):
        """As everywhere, but --look finds no python whose pip it could ask for its resolver (look_test.py does): what it says of that is left out."""
        if any(each.startswith("--look") for each in arguments):
            (self.dir / self.write("#!/bin/sh\nexit 1\n", "no-pip/python3")).chmod(0o755)
            env = {**(env or {}), "PATH": f"{self.dir}/no-pip"}
        got = super().call(*arguments, env=env, **options)
        got.stderr = NOTE.sub("", got.stderr)
        return got

    def test_facts_refresh(self):
        def row(version):
            return (f'  - {{id: package-demo-{version}, package: "demo", version: "{version}", requires: [], abi: ["py3"], '
                    f'source: "wheel:demo-{version}-py3-none-any.whl sha256:{"0" * 64}", confidence: measured}}\n')
        self.write('table: package_releases\nas_of: "2026-11-21"\nrows:\n' + row("0.9") + row("1.0"), "ours/package_releases.yaml")
        known = [(f"demo-{version}-py3-none-any.whl", "0" * 64, False, "plain") for version in ("0.9", "1.0")]
        self.index_page("demo", *known)
        url = self.serve()
        asked = ["facts", "refresh", "--only", "demo", "--facts", "ours", "--out", "news", "--index", url + "/tagged/simple"]
        quiet = self.call(*asked, code=0)
        self.assertTrue(quiet.stdout.startswith("0 changes, 0 rows measured; 1 of 1 reached, "), quiet.stdout)
        self.assertEqual(sorted(path.name for path in (self.dir / "news").iterdir()), ["pages"])

        old, new = known[1][0], self.wheel("demo-2.0-py3-none-any.whl", {"demo-2.0.dist-info/METADATA": "Version: 2.0\nRequires-Dist: torch>=2.0\n\n"})
        self.index_page("demo", (old, "0" * 64, "broken", "plain"), (new.name, None, False, "plain"), ("demo-3.0rc1-py3-none-any.whl", "0" * 64, False, "plain"))
        found = self.call(*asked, code=1)
        self.assertEqual(found.stdout.splitlines()[:5],
                         ["- demo 0.9: vanished", "! demo 1.0: yanked, broken", "+ demo 2.0: new", "row package-demo-1.0", "row package-demo-2.0"])
        overlay = self.read("news/package_releases.yaml")
        self.assertIn('requires: ["torch >=2.0"]', overlay)
        self.assertIn('yanked: true, yanked_because: "broken"', overlay)
        self.call("facts", "check", "--facts", "news", code=0)
        again = self.json_of(*asked)
        self.assertEqual([change["kind"] for change in again["changes"]], ["vanished", "yanked", "new"])
        self.assertEqual([each["id"] for each in again["rows"]], ["package-demo-1.0", "package-demo-2.0"])
        self.assertEqual((again["requests"], again["reached"], again["not_reached"]), (1, 1, []))
        self.assertLess(again["bytes"], 1000)  # the headers of "not modified"
        self.assertEqual(self.read("news/package_releases.yaml"), overlay)

        secret = self.call(*["secret" if each == "news" else each.replace("http://", "http://reader:geheim@") for each in asked], code=1)
        files = [path for path in (self.dir / "secret").rglob("*") if path.is_file()]
        self.assertTrue(any(path.suffix == ".json" for path in files))
        for text in [secret.stdout, secret.stderr] + [path.read_text() for path in files]:
            self.assertNotIn("geheim", text)
        reviewed = self.call(*(word if word != "ours" else "news" for word in asked))
        self.assertEqual((reviewed.returncode, reviewed.stdout[:10]), (0, "0 changes,"), reviewed.stdout)

    def test_facts_refresh_where_something_is_wrong(self):
        good = self.wheel("timm-99.0-py3-none-any.whl", {"timm-99.0.dist-info/METADATA": "Version: 99.0\nRequires-Dist: torch\n\n"}).name
        url = self.serve()
        def refresh(*files, code, out="news", index=url + "/plain/simple", more=()):
            self.index_page("timm", *files)
            return self.call("facts", "refresh", "--only", "timm", "--out", out, "--index", index, *more, code=code)
        swapped = json.loads(refresh(("timm-1.0.31-py3-none-any.whl", "1" * 64, False, "plain"), out="swapped", more=["--format", "json"], code=None).stdout)
        self.assertEqual([change["detail"] for change in swapped["changes"] if change["kind"] == "swapped"],
                         [f"timm-1.0.31-py3-none-any.whl has the sha256 {'1' * 64}, the facts were read from 5bd50f7d0fe6d09bf9285ac2523234a1b7e6bf075c0be3e7aed09139fcb617c7"])
        for behaviour, message in (("ignore-range", "the server does not answer range requests, and the whole file is not downloaded to read parts of it"),
                                   ("other-range", "the server lies about ranges: asked for bytes "), ("no-content-range", "the server lies about ranges: its answer does not say"),
                                   ("odd-range", "is not a range"), ("short", "bytes instead of"), ("long", "bytes instead of"), ("status-403", "it is forbidden (403)")):
            with self.subTest(behaviour):
                got = refresh((good, None, False, behaviour), out=behaviour, code=3)
                self.assertIn("+ timm 99.0: new\n", got.stdout)
                self.assertRegex(got.stdout, f"not measured: .*{re.escape(message)}" if behaviour not in ("short", "long") else "not measured: ")
                self.assertFalse(list((self.dir / behaviour).glob("*.yaml")))
        torn = refresh((good, None, False, "tear"), ("timm-98.0-py3-none-any.whl", "2" * 64, False, "status-404"), out="torn", code=3)
        self.assertEqual(torn.stdout.count("not measured: "), 2, torn.stdout)
        self.assertIn("(5 attempts)", torn.stdout)
        self.assertFalse(list((self.dir / "torn").glob("*.yaml")))
        self.assertIn("row package-timm-99.0\n", refresh((good, None, False, "tear-once"), out="torn", code=1).stdout)

        nowhere = refresh((good, None, False, "plain"), index="http://127.0.0.1:9/simple", code=3)
        self.assertIn("not reached: timm: http://127.0.0.1:9/simple/timm/: ", nowhere.stdout)
        moved = refresh((good, None, False, "plain"), index="http://index.invalid/simple", more=["--mirror", f"http://index.invalid={url}/plain"], code=1)
        self.assertIn("+ timm 99.0: new\n", moved.stdout)
        for more, needle in ((["--mirror", "x"], "expected a pair of URLs or registries"), (["--mirror", "https://x.org=y"], "expected a pair of URLs or registries"), (["--only", "tim"], "--only: the facts know no package or repository 'tim' (did you mean timm?)")):
            got = refresh((good, None, False, "plain"), more=more, code=2)
            self.assertEqual(got.stdout, "")
            self.assertIn(needle, got.stderr)
        self.write("rows: [", "news/package_releases.yaml")
        self.assertEqual(refresh((good, None, False, "plain"), code=2).stdout, "")
        self.assertEqual(self.read("news/package_releases.yaml"), "rows: [")

    def test_facts_refresh_of_archives(self):
        def put(suite, text):
            self.write(gzip.compress(text.encode()), f"site/dists/{suite}/non-free/binary-amd64/Packages.gz")
        put("bullseye", "Package: nvidia-cuda-toolkit\nVersion: 11.8.89~11.8.0-5\n\nPackage: libcudart11.0\nVersion: 11.8.89~11.8.0-5\n\n")
        put("bookworm", "Package: other\nVersion: 1\n\n")
        url = self.serve()
        asked = ["facts", "refresh", "--only", "nvidia-cuda-toolkit", "--index", url + "/plain/simple", "--archive",
                 url + "/tagged", "--format", "json"]
        for _ in range(2):
            report = json.loads(self.call(*asked, code=1).stdout)
            self.assertEqual([(change["project"], change["kind"]) for change in report["changes"]],
                             [("nvidia-cuda-toolkit (debian11)", "replaced"), ("nvidia-cuda-toolkit (debian12)", "vanished")])
            self.assertEqual([(each["what"], each["why"].split(": ")[1]) for each in report["not_reached"]],
                             [("archive of debian13", "there is no such page (404)")])
            self.assertEqual([each["id"] for each in report["rows"]], ["toolkit-debian11-archive-11.2"])
        # What the archive has now is what cells are judged by.
        self.call("facts", "check", "--facts", "cudamatrix-facts", code=0)
        name = self.write('version: 1\naxes:\n  cuda: ["11.2.2", "11.8.0"]\nset: {family: debian, os: debian11, cuda_from: archive}\n')
        for facts, refused in (([], "11.8.0"), (["--facts", "cudamatrix-facts"], "11.2.2")):
            got = self.json_of("check", name, "--on", "2026-11-21", *facts)
            self.assertEqual([cell["fields"]["cuda"] for cell in got["cells"] if cell["verdict"] == "rejected"], [refused])
        self.assertEqual(json.loads(self.call(*asked, "--facts", "cudamatrix-facts").stdout)["rows"], [])
        # A version that names no CUDA is told and makes no row.
        put("bullseye", "Package: nvidia-cuda-toolkit\nVersion: 99\n\n")
        odd = self.call(*asked, "--out", "odd", code=3)
        self.assertEqual(json.loads(odd.stdout)["not_measured"], ["archive of debian11: nvidia-cuda-toolkit 99 names no release of CUDA; a version such as 11.2.2-3 or 12.4.131~12.4.1-2 would"])
        self.assertFalse((self.dir / "odd" / "toolkit_sources.yaml").exists())
        self.write("no gzip", "site/dists/bookworm/non-free/binary-amd64/Packages.gz")
        report = json.loads(self.call(*asked).stdout)
        self.assertEqual([each["what"] for each in report["not_reached"]], ["archive of debian12", "archive of debian13"])
        self.assertIn("is not a list of packages", report["not_reached"][0]["why"])

    def test_facts_refresh_of_torch_asks_the_indexes_that_the_facts_name(self):
        self.index_page("torch")
        for variant, release in (("cu118", "99.0.0"), ("cu80", "98.0.0")):  # of the second no fact names an address
            self.write(json.dumps({"meta": {"api-version": "1.0"}, "files": [
                {"filename": f"torch-{release}+{variant}-cp312-cp312-manylinux_2_28_x86_64.whl", "url": "nowhere.whl", "hashes": {"sha256": "5" * 64}}]}),
                f"site/whl/{variant}/torch/index.json")
        url = self.serve()
        report = self.json_of("facts", "refresh", "--only", "torch", "--index", url + "/plain/simple", "--out", "news",
                              "--mirror", f"https://download.pytorch.org/whl={url}/plain/whl", code=3)  # there is no such wheel
        self.assertEqual([(change["project"], change["version"]) for change in report["changes"] if change["kind"] == "new"], [("torch (cu118)", "99.0.0")])
        lost = [each["what"] for each in report["not_reached"]]
        self.assertNotIn("torch (cu80)", lost)
        self.assertNotIn("torch (cpu)", lost)
        self.assertIn({"what": "torch (cu130)", "why": "https://download.pytorch.org/whl/cu130 has no project torch"}, report["not_reached"])

    def test_facts_refresh_of_images_that_disagree(self):
        for tag, driver in (("98.0.0-base-ubi9", "700"), ("98.0.0-devel-ubuntu24.04", "710")):
            config = json.dumps({"os": "linux", "architecture": "amd64", "config": {"Env": [
                "CUDA_VERSION=98.0.0", f"NVIDIA_REQUIRE_CUDA=cuda>=98.0 driver>={driver}"]}}).encode()
            image = {"schemaVersion": 2, "layers": [], "config": self.put_blob("nvidia/cuda", config)}
            self.put_blob("nvidia/cuda", json.dumps(image).encode(), tag)
        host = self.serve_registry()
        report = self.json_of("facts", "refresh", "--only", "docker.io/nvidia/cuda", "--index", "http://127.0.0.1:9/simple", "--out", "news",
                              "--mirror", f"docker.io={host}/plain", code=1)
        self.assertEqual([each["id"] for each in report["rows"]], ["cuda-image-98.0.0-ubi9", "cuda-image-requires-98.0.0-x86_64", "cuda-image-98.0.0-ubuntu24.04"])
        self.assertEqual(report["left_out"][0], "row 'cuda-image-requires-98.0.0-x86_64': driver_min: 710 in image:docker.io/nvidia/cuda:98.0.0-devel-ubuntu24.04, "
                         "kept is driver_min: 700 of image:docker.io/nvidia/cuda:98.0.0-base-ubi9")

    def test_look_measures_what_no_fact_knows(self):
        wheel = self.wheel("oddpkg-1.0-py3-none-any.whl", {"oddpkg-1.0.dist-info/METADATA": "Version: 1.0\nRequires-Dist: numpy (<2)\n\n"}).name
        self.index_page("oddpkg", (wheel, None, "broken", "plain"))
        config = self.put_blob("team/base", json.dumps({"os": "linux", "architecture": "amd64", "config": {"Env": ["CUDA_VERSION=12.4.1"]}}).encode())
        self.put_blob("team/base", json.dumps({"schemaVersion": 2, "layers": [], "config": config}).encode(), "1")
        host = self.serve_registry()
        self.write("version: 1\nmirrors: {registry.example.org: " + host + "/plain}\naxes:\n  packages:\n    - {oddpkg: '1.0', numpy: 1.26.4}\n"
                   "    - {oddpkg: '1.0', numpy: 2.1.0}\n    - {oddpkg: '1.1'}\n    - {nosuchpkg: '1.0'}\n"
                   "set: {image: 'registry.example.org/team/base:1', driver: 550.54.15}\n", "m.yaml")
        index = self.serve() + "/plain/simple"
        def check(*more, index=index, cache="cache"):
            got = self.call("check", "m.yaml", "--format", "json", *more, env={"PIP_INDEX_URL": index, "XDG_CACHE_HOME": str(self.dir / cache)})
            self.assertEqual(got.returncode, 1, got.stderr)
            return [cell["verdict"] for cell in json.loads(got.stdout)["cells"]], got.stderr
        mine = {"XDG_CACHE_HOME": str(self.dir / "cache")}
        self.assertEqual(check()[0], ["unknown"] * 4)
        self.assertEqual(self.call("facts", "list", "--mine", env=mine).stdout,
                         f"no facts of your own: {self.dir}/cache/cudamatrix/facts holds none; what --look measures is kept there\n")
        self.assertEqual(self.json_of("facts", "list", "--mine", env=mine)["rows"], [])
        self.assertFalse((self.dir / "cache").exists())
        verdicts, said = check("--look")
        self.assertEqual(verdicts, ["degraded", "rejected", "unknown", "unknown"])  # the only release was yanked
        self.assertIn("/plain/simple has no project nosuchpkg", said)
        rows = self.json_of("facts", "list", "--mine", env=mine)["rows"]
        self.assertEqual([row["table"] for row in rows], ["other_images", "package_releases"])
        for row in rows:
            self.assertEqual((row["confidence"], len(row["sources"])), ("measured", 1))
        listed = self.call("facts", "list", "--mine", env=mine).stdout
        for row in rows:
            self.assertIn(f"{row['id']} (table {row['table']}, measured, {row['as_of']})\n  source  {row['sources'][0]}\n", listed)
        self.assertIn("\n2 rows in ", listed)
        self.refused("facts", "list", "--mine", "--facts", "mine", code=2, says="--mine and --facts name two folders")
        self.refused("facts", "list", "--mine", env={"HOME": "", "XDG_CACHE_HOME": ""}, code=3, says="HOME is not set")
        (self.dir / "broken" / "cudamatrix").mkdir(parents=True)
        (self.dir / "broken" / "cudamatrix" / "facts").write_text("")
        self.refused("facts", "list", "--mine", env={"XDG_CACHE_HOME": str(self.dir / "broken")}, code=3, says="cannot be read")
        # The second time nothing is asked for what was seen.
        verdicts, said = check("--look", index="http://127.0.0.1:9/simple")
        self.assertEqual((verdicts, "oddpkg/" in said), (["degraded", "rejected", "unknown", "unknown"], True), said)
        self.write("version: 1\nset: {packages: {oddpkg: '1.0'}}\n", "m.yaml")
        self.assertEqual(self.json_of("check", "m.yaml", "--look", env={"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "XDG_CACHE_HOME": str(self.dir / "cache")})["cells"][0]["verdict"], "degraded")
        self.refused("check", "m.yaml", "--look", env={"HOME": "", "XDG_CACHE_HOME": ""}, code=3, says="--look has no place for what it sees: HOME is not set")

    def test_look_measures_a_torch_that_no_fact_knows(self):
        odd = self.wheel("torch-96.0.0-cp312-cp312-manylinux_2_28_x86_64.whl",
                         {"torch/version.py": "__version__ = '96.0.0+cu990'\ncuda: Optional[str] = '99.0'\n", "torch-96.0.0.dist-info/METADATA": "Version: 96.0.0\n\n"}).name
        names = [self.torch_wheel(), self.torch_wheel("98.1.0"), self.torch_wheel("98.1.2"), odd]
        self.index_page("torch", *((name, None, False, "plain") for name in names))
        index, away = self.serve() + "/plain/simple", "http://127.0.0.1:9/simple"
        def check(torch, *more, index=index, python="'3.12'", gpu="T4"):
            self.write(f"version: 1\nset: {{torch: {torch}, python: {python}, gpu: {gpu}, driver: 580.95.05, os: ubuntu24.04}}\n", "m.yaml")
            got = self.call("check", "m.yaml", "--format", "json", *more, env={"PIP_INDEX_URL": index, "XDG_CACHE_HOME": str(self.dir / "cache")})
            return json.loads(got.stdout)["cells"][0]["verdict"], got.stderr
        self.assertEqual(check("99.0.0")[0], "unknown")
        self.assertFalse((self.dir / "cache").exists())
        for torch, why in (("97.0.0", "no release on the index fits torch 97.0.0 for x86_64\n"), ("97.0", "no release on the index fits torch ==97.0.* for x86_64\n"),
                           ("96.0.0", "left out: row 'torch-96.0.0+cu990-x86_64': column 'cuda' names '99.0'")):
            verdict, said = check(torch, "--look")
            self.assertEqual(verdict, "unknown", said)
            self.assertIn(why, said)
        verdict, said = check("99.0.0", "--look", index=away)
        self.assertEqual(verdict, "unknown", said)
        self.assertIn("--look: ", said)
        # A known torch is not looked for.
        self.assertNotIn("--look: ", check("2.6.0", "--look", index=away)[1])
        self.assertEqual(check("99.0.0", "--look", python="'3.11'")[0], "rejected")
        self.assertNotIn("--look: ", check("99.0.0", "--look", index=away)[1])  # the second time
        self.assertEqual(check("99.0.0", "--look", gpu="P100", index=away)[0], "rejected")
        self.assertNotIn("torch-98", self.read("cache/cudamatrix/facts/torch_wheels.yaml"))
        check("'98.1'", "--look")
        for version in ("98.1.0", "98.1.2"):  # 98.1 is the newest of them
            self.assertIn(f"torch-{version}+cu124-x86_64", self.read("cache/cudamatrix/facts/torch_wheels.yaml"))

    def test_look_reads_the_gpu_code_of_a_torch_where_a_gpu_is_named(self):
        name = self.torch_wheel(**{"torch/lib/libtorch_cuda.so": library(container(entry(2, 80)))})  # sm_75 is promised
        self.index_page("torch", (name, None, False, "plain"))
        index, away = self.serve() + "/plain/simple", "http://127.0.0.1:9/simple"
        def rules(gpu, *more, index=index):
            self.write(f"version: 1\nset: {{torch: 99.0.0, python: '3.12', {gpu}driver: 580.95.05, os: ubuntu24.04}}\n", "m.yaml")
            got = self.call("check", "m.yaml", "--format", "json", *more, env={"PIP_INDEX_URL": index, "XDG_CACHE_HOME": str(self.dir / "cache")})
            report = json.loads(got.stdout)
            return report["cells"][0]["verdict"], [each["rule"] for each in report["findings"] if each["severity"] == "warning"], got.stderr
        store = self.dir / "cache" / "cudamatrix" / "facts"
        self.assertNotIn("GPU code", rules("", "--look")[2])
        self.assertEqual((store / "torch_wheels.yaml").exists(), True)
        self.assertFalse((store / "torch_libraries.yaml").exists())
        # Only declared so far, and the index is away: what it declares is what counts.
        verdict, warnings, said = rules("gpu: T4, ", "--look", index=away)
        self.assertNotIn("torch-libraries-have-code", warnings)
        self.assertIn("--look: ", said)
        verdict, warnings, said = rules("gpu: T4, ", "--look")
        self.assertEqual((verdict, "torch-libraries-have-code" in warnings), ("degraded", True), said)
        self.assertIn("measure: reading the GPU code of 1 wheel\n", said)
        self.assertIn('library: "libtorch_cuda.so"', (store / "torch_libraries.yaml").read_text())
        verdict, warnings, said = rules("gpu: T4, ", "--look", index=away)  # the second time
        self.assertEqual((verdict, "torch-libraries-have-code" in warnings, said), ("degraded", True, ""))
        self.assertNotIn("torch-libraries-have-code", rules("gpu: A100 80GB, ", "--look", index=away)[1])
        self.assertEqual(rules("gpu: T4, ")[0], "unknown")  # without --look the store is not read

    def test_look_asks_the_index_of_a_variant(self):
        def listed(*versions):
            self.write(json.dumps({"meta": {"api-version": "1.0"}, "files": [
                {"filename": f"torch-{version}-cp312-cp312-manylinux_2_28_x86_64.whl", "url": f"../../../torch-{version}-cp312-cp312-manylinux_2_28_x86_64.whl",
                 "hashes": {"sha256": hashlib.sha256((self.dir / "site" / f"torch-{version}-cp312-cp312-manylinux_2_28_x86_64.whl").read_bytes()).hexdigest()}}
                for version in versions]}), "site/whl/cu126/torch/index.json")
        for version in ("2.14.0+cu126", "2.14.1+cu126"):
            self.wheel(f"torch-{version}-cp312-cp312-manylinux_2_28_x86_64.whl", {
                "torch/version.py": f"__version__ = '{version}'\ncuda: Optional[str] = '12.6'\n", "torch/lib/libtorch_python.so": b"x\0sm_75 sm_80\0y",
                f"torch-{version[:6]}.dist-info/METADATA": f"Version: {version}\n\n"})
        self.index_page("torch")
        url, away = self.serve(), "http://127.0.0.1:9"
        def check(torch, *more, at=url, cache="cache"):
            self.write(f"version: 1\nmirrors: {{'https://download.pytorch.org/whl': '{at}/plain/whl'}}\nset: {{torch: {torch}, python: '3.12', os: ubuntu24.04}}\n", "m.yaml")
            got = self.call("check", "m.yaml", "--format", "json", *more, env={"PIP_INDEX_URL": at + "/plain/simple", "XDG_CACHE_HOME": str(self.dir / cache)})
            report = json.loads(got.stdout)
            return report["cells"][0]["verdict"], " ".join(each["message"] for each in report["findings"]), got.stderr
        listed("2.14.0+cu126")
        self.assertEqual(check("2.14.1+cu126")[0], "unknown")
        self.assertEqual(check("2.14.1+cu126", "--look", at=away)[0], "unknown")  # nobody answered: that says nothing
        self.assertEqual(check("2.14.1+cu132", "--look")[0], "unknown")  # the mirror has no such index: nor does that
        verdict, found, said = check("2.14.1+cu126", "--look")
        self.assertEqual(verdict, "rejected")
        self.assertIn("torch 2.14.1+cu126 for x86_64 is not on the index of cu126, which was looked at on 20", found)
        self.assertIn("/cu126 lists no torch 2.14.1+cu126 for x86_64\n", said)
        verdict, found, said = check("2.14.1+cu126", "--look", at=away)
        self.assertEqual((verdict, said), ("rejected", ""))
        self.assertEqual(check("2.14.1+cu126")[0], "unknown")
        self.assertIn("asked at the mirror", self.read("cache/cudamatrix/facts/absent_torch_builds.yaml"))
        listed("2.14.0+cu126", "2.14.1+cu126")
        self.assertEqual(check("2.14.1+cu126", "--look", cache="other")[0], "accepted")
        self.assertEqual(check("2.14.1+cu126", "--look", cache="other", at=away)[::2], ("accepted", ""))
        self.assertFalse((self.dir / "other" / "cudamatrix" / "facts" / "absent_torch_builds.yaml").exists())

    def test_look_deep_reads_layers(self):
        base = {"os": "linux", "architecture": "amd64", "config": {"Env": ["CUDA_VERSION=12.4.1"]}}
        layers = [self.put_blob("team/base", layer(("opt/a.so", library(container(entry(2, 75), entry(2, 80)))), ("opt/b.so", library(container(entry(2, 80))))))]
        self.put_blob("team/base", json.dumps({"schemaVersion": 2, "layers": layers, "config": self.put_blob("team/base", json.dumps(base).encode())}).encode(), "1")
        host = self.serve_registry()
        def check(gpu, *more, at=host):
            self.write("version: 1\nmirrors: {registry.example.org: " + at + "/plain}\nset: {image: 'registry.example.org/team/base:1'" + gpu + "}\n", "m.yaml")
            got = self.call("check", "m.yaml", "--format", "json", "-v", *more, env={"XDG_CACHE_HOME": str(self.dir / "cache")})
            report = json.loads(got.stdout)
            return report["cells"][0]["verdict"], " ".join(each["message"] for each in report["findings"]), got.stderr
        store = self.dir / "cache" / "cudamatrix" / "facts"
        for spelling in ("--look=other", "--look=declared,deep"):
            self.refused("check", "m.yaml", spelling, code=2, says="expected --look or --look=deep")
        self.assertEqual(check(", gpu: T4")[0], "unknown")
        verdict, found, said = check(", gpu: T4", "--look")
        self.assertIn("no layer of image registry.example.org/team/base:1 was read for x86_64", found)
        self.assertIn("no layer is read", check("", "--look=deep")[2])
        self.assertFalse((store / "image_libraries.yaml").exists())
        verdict, found, said = check(", gpu: T4", "--look=deep", at="127.0.0.1:9")
        self.assertNotEqual(verdict, "degraded")
        self.assertIn("--look: ", said)
        verdict, found, said = check(", gpu: T4", "--look=deep")
        self.assertEqual(verdict, "degraded", said)
        self.assertIn("b.so of image registry.example.org/team/base:1 has no code for T4 (compute 7.5): the SASS is for 8.0, and there is no PTX", found)
        for gpu, expected in (("T4", "degraded"), ("A100 80GB", "accepted"), ("V100", "rejected")):
            self.assertEqual(check(f", gpu: {gpu}", "--look=deep", at="127.0.0.1:9")[::2], (expected, ""))

    def test_suggest_looks_for_newer_releases_of_known_packages(self):
        name = "timm-99.0-py3-none-any.whl"
        self.wheel(name, {"timm-99.0.dist-info/METADATA": "Version: 99.0\nRequires-Dist: torch\n\n"})
        self.index_page("timm", (name, None, False, "plain"))
        index, away = self.serve() + "/plain/simple", "http://127.0.0.1:9/simple"
        def stack(*more, index=index):
            got = self.call("suggest", "--torch", "2.6.0", "--python", "3.12", "--limit", "1", *more, "--format", "json",
                            env={"PIP_INDEX_URL": index, "XDG_CACHE_HOME": str(self.dir / "cache")}, code=0)
            return json.dumps(json.loads(got.stdout)["stacks"][0]), got.stderr
        self.assertNotIn('"99.0"', stack("--need", "timm")[0])
        self.assertNotIn('"99.0"', stack("--need", "timm", "--look", index=away)[0])
        self.assertNotIn('"99.0"', stack("--need", "timm<9", "--look")[0])
        self.assertIn('"timm": "99.0"', stack("--need", "timm", "--look")[0])
        self.assertIn('"timm": "99.0"', stack("--need", "timm", "--look", index=away)[0])
        self.assertNotIn("--look: ", stack("--need", "timm", "--look")[1])  # that there is nothing newer is no news
        self.assertNotIn('"99.0"', stack("--need", "timm")[0])

    def test_suggest_looks_for_a_torch_that_no_fact_knows(self):
        name = self.torch_wheel(**{"torch/lib/libtorch_cuda.so": library(container(entry(2, 75)))})
        self.index_page("torch", (name, None, False, "plain"))
        index, away = self.serve() + "/plain/simple", "http://127.0.0.1:9/simple"
        def env(index):
            return {"PIP_INDEX_URL": index, "XDG_CACHE_HOME": str(self.dir / "cache")}
        asked = ["--torch", "99.0.0", "--gpu", "T4", "--limit", "1"]
        self.refused("suggest", *asked, env=env(index), says="note: the index is asked by: cudamatrix suggest --look --")
        self.refused("suggest", *asked, "--look", env=env(away), says='no fact knows torch "99.0.0"')
        self.refused("suggest", "--torch", "97.0.0", "--look", env=env(index), says=['no fact knows torch "97.0.0"', "no release on the index fits torch 97.0.0 for x86_64"])
        self.assertNotIn("the index is asked by", self.refused("suggest", "--torch", "2.6.0", "--gpu", "NoSuchGpu", env=env(index)))
        for at in (index, away):
            got = self.call("suggest", *asked, "--look", "--format", "json", env=env(at), code=0)
            self.assertIn('"99.0.0', json.dumps(json.loads(got.stdout)["stacks"][0]))
        self.assertIn('sass: ["7.5"]', self.read("cache/cudamatrix/facts/torch_libraries.yaml"))

    def test_suggest_looks_for_packages_that_no_fact_knows(self):
        files = []
        for version in ("1.0", "2.0"):
            name = f"oddpkg-{version}-py3-none-any.whl"
            files.append((self.wheel(name, {f"oddpkg-{version}.dist-info/METADATA": f"Version: {version}\nRequires-Dist: numpy (<2)\n\n"}).name, None, False, "plain"))
        self.index_page("oddpkg", *files)
        index, away = self.serve() + "/plain/simple", "http://127.0.0.1:9/simple"
        def env(index):
            return {"PIP_INDEX_URL": index, "XDG_CACHE_HOME": str(self.dir / "cache")}
        asked = ["--torch", "2.6.0", "--python", "3.12", "--limit", "1"]
        self.refused("suggest", *asked, "--need", "oddpkg<2", env=env(index), code=2,
                     says="note: the index is asked by: cudamatrix suggest --look --torch '2.6.0' --python '3.12' --need 'oddpkg<2'\n")
        self.assertFalse((self.dir / "cache").exists())
        # What the index lacks or cannot be asked for is refused as before, and what is no need as well.
        self.refused("suggest", "--look", "--need", "nosuchpkg", env=env(index), code=2, says='no fact knows package "nosuchpkg"')
        self.refused("suggest", "--look", "--need", "oddpkg", env=env(away), code=2, says='no fact knows package "oddpkg"')
        self.refused("suggest", "--look", "--need", "oddpkg<1", env=env(index), code=2, says='no fact knows package "oddpkg"')
        self.refused("suggest", "--look", "--need", "odd pkg<<1", env=env(index), code=2, says="invalid --need")
        self.refused("suggest", "--look", "--need", "oddpkg", env={"HOME": "", "XDG_CACHE_HOME": ""}, code=3, says="HOME is not set")
        def package(*more, index):
            got = self.call("suggest", *more, "--format", "json", env=env(index), code=0)
            return json.dumps(json.loads(got.stdout)["stacks"][0])
        self.assertRegex(package(*asked, "--look", "--need", "oddpkg<2", index=index), r'"oddpkg": "1\.0"')
        # The second time the index is asked only for what the store lacks; without --look the store is not read.
        self.assertRegex(package(*asked, "--look", "--need", "oddpkg", index=away), r'"oddpkg": "1\.0"')
        self.refused("suggest", *asked, "--look", "--need", "oddpkg>=2", env=env(away), code=2, says="no known release of oddpkg is")
        self.assertRegex(package(*asked, "--look", "--need", "oddpkg>=2", index=index), r'"oddpkg": "2\.0"')
        self.refused("suggest", *asked, "--need", "oddpkg", env=env(index), code=2, says="the index is asked by:")

    def test_facts_measure_image(self):
        for tag, variables in (("1", ["CUDA_VERSION=12.4.1"]), ("plain", [])):
            config = json.dumps({"os": "linux", "architecture": "amd64", "config": {"Env": variables}}).encode()
            self.put_blob("team/base", json.dumps({"schemaVersion": 2, "layers": [], "config": self.put_blob("team/base", config)}).encode(), tag)
        host = self.serve_registry()
        name = "registry.example.org/team/base"
        def measure(*images, behaviour="token", code=0):
            return self.call("facts", "measure", "image", *images, "--out", "mine", "--mirror", f"registry.example.org={host}/{behaviour}", code=code)
        def verdict(cell, *more):
            self.write("version: 1\nset: {image: \"" + name + cell + "}\n", "cell.yaml")
            return self.json_of("check", "cell.yaml", *more, "--fail-on", "never")["cells"][0]["verdict"]
        self.assertEqual(verdict(':1", driver: "550.54.15"'), "unknown")
        measure(name + ":1", behaviour="liebody", code=3)
        self.assertFalse((self.dir / "mine" / "other_images.yaml").exists())
        self.assertIn("a digest needs no row", measure(name + "@sha256:" + "a" * 64, code=2).stderr)
        measure(name + ":1", name + ":plain")
        self.call("facts", "check", "--facts", "mine", code=0)
        for cell, expected in ((':1", driver: "550.54.15"', "accepted"), (':1", driver: "470.161.03"', "rejected"), (':1", arch: aarch64', "rejected"),
                               (':plain"', "accepted"), (':plain", driver: "550.54.15"', "unknown"), (':2"', "unknown")):
            self.assertEqual(verdict(cell, "--facts", "mine"), expected, cell)

    def test_facts_refresh_of_images(self):
        config = {"created": "2030-01-02T03:04:05Z", "os": "linux", "architecture": "amd64", "config": {"Env": [
            "NVIDIA_PYTORCH_VERSION=98.01", "PYTORCH_VERSION=2.10.0a0+b4e4ee81d3", "CUDA_VERSION=13.1.0.036"],
            "Labels": {"org.opencontainers.image.ref.name": "ubuntu", "org.opencontainers.image.version": "24.04"}}}
        image = json.dumps({"schemaVersion": 2, "config": self.put_blob("nvidia/pytorch", json.dumps(config).encode()), "layers": []}).encode()
        for tag in ("98.01-py3", "98.01-py3-igpu", "latest"):
            digest = self.put_blob("nvidia/pytorch", image, tag)["digest"]
        host = self.serve_registry()
        def refresh(behaviour, *more, code=None):
            return self.call("facts", "refresh", "--only", "nvcr.io/nvidia/pytorch", "--index", "http://127.0.0.1:9/simple", "--out", "news",
                             "--mirror", f"nvcr.io={host}/{behaviour}", *more, code=code)
        for behaviour in ("liebody", "deny"):
            report = json.loads(refresh(behaviour, "--format", "json", code=3).stdout)
            self.assertEqual((len(report["not_measured"]), len(report["not_reached"])), (1, 0) if behaviour == "liebody" else (0, 1))
            self.assertFalse((self.dir / "news" / "ngc_images.yaml").exists())
        self.assertAllIn(("+ nvcr.io/nvidia/pytorch 98.01-py3: new, 98.01-py3\n", "- nvcr.io/nvidia/pytorch 25.12-py3: vanished, 25.12-py3\n",
                          "\nrow ngc-pytorch-98.01-py3\n"), refresh("token", code=1).stdout)
        self.assertIn('torch: "2.10.0", cuda: "13.1.0", os: "ubuntu24.04", note: "torch 2.10.0a0+b4e4ee81d3", source: '
                      f'"image:nvcr.io/nvidia/pytorch:98.01-py3 {digest}"', self.read("news/ngc_images.yaml"))
        self.call("facts", "check", "--facts", "news", code=0)
        again = json.loads(refresh("plain", "--facts", "news", "--format", "json").stdout)
        self.assertEqual(([c["version"] for c in again["changes"] if c["kind"] == "new"], again["rows"], again["reached"]), ([], [], 1))


if __name__ == "__main__":
    main()

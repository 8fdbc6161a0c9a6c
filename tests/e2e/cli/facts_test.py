"""The command line as a user meets it: facts, and facts measure. Usage: facts_test.py CUDAMATRIX [unittest arguments]"""
import json
import os
import subprocess

from cli import GOOD, Cli, container, entry, library, main


class Facts(Cli):
    def test_facts_show(self):
        got = self.call("facts", "show", "driver-r470", code=0)
        self.assertIn("470", got.stdout)
        self.assertRegex(got.stdout, r"\n  source +github:")
        self.refused("facts", "show", "driver-r47", says="driver-r470")

    def test_facts_list_search_check(self):
        tables = self.json_of("facts", "list")["tables"]
        self.assertTrue(all(t["rows"] == t["measured"] + t["read"] + t["unverified"] and t["columns"] for t in tables))
        self.assertIn("gpu-t4", self.call("facts", "search", "t4", "7.5").stdout)
        self.call("facts", "search", "no-such-word", code=1)
        self.assertRegex(self.call("facts", "check").stdout, r"\d+ rows in \d+ tables, \d+ unverified, \d+ older than 180 days, 0 mistakes\n$")
        self.write("table: gpus\nas_of: \"2026-01-01\"\nrows:\n  - {id: gpu-x}\n", "own.yaml")
        self.refused("facts", "check", "--facts", str(self.dir), says="own.yaml:4:")

    def test_old_facts_are_warned_of(self):
        name = self.write(GOOD)
        got = self.call("check", name, "--on", "2035-01-01", "--format", "json")
        self.assertRegex(got.stderr, r"warning: facts are \d+ days old, as of 20")
        self.assertIn("days old", json.loads(got.stdout)["facts"]["warning"])
        self.write('table: pythons\nas_of: "2034-12-30"\nrows:\n  - {id: python-3.10, python: "3.10", eol: "2026-10", source: "https://example.org/", confidence: read}\n', "newer/pythons.yaml")
        self.assertIn("days old", self.call("check", name, "--on", "2035-01-01", "--facts", str(self.dir / "newer")).stderr)
        self.assertNotIn("warning", self.json_of("facts", "list", "--on", "2026-11-21")["facts"])

    def test_facts_measure_torch(self):
        names = [self.torch_wheel(), self.torch_wheel(arch="manylinux_2_28_aarch64"), self.torch_wheel("98.0.0")]
        self.index_page("torch", *((name, None, False, "plain") for name in names), ("torch-97.0.0-cp312-cp312-manylinux_2_28_x86_64.whl", "0" * 64, "broken", "plain"))
        url = self.serve()
        asked = ["facts", "measure", "torch", "--versions", ">=90", "--out", "m", "--index", url + "/tagged/simple"]
        first = self.call(*asked, code=0)
        self.assertTrue(first.stdout.startswith("5 rows: 5 new, 0 filled, 0 confirmed, 0 contradicted, 0 not measured\n"), first.stdout)
        table = self.read("m/torch_wheels.yaml")
        self.assertIn('{id: torch-99.0.0+cu124-x86_64, torch: "99.0.0", variant: "cu124", cuda: "12.4", arch: "x86_64", compute: ["7.5", "8.0"], ptx: ["9.0"], '
                      f'pythons: ["3.12"], glibc: "2.28", triton: "3.2.0", source: "wheel:{names[0]} sha256:', table)
        self.call("facts", "check", "--facts", "m", code=0)
        # What did not change is not transferred: no wheel, and of the page that it did not change.
        again = self.json_of(*asked)
        self.assertEqual((again["requests"], again["known_from_before"], len(again["rows"])), (1, 3, 5))
        self.assertLess(again["bytes"], 1000)
        self.assertEqual(self.read("m/torch_wheels.yaml"), table)

        # A falsified fact: both are shown, and the row is written only when it is asked for.
        (self.dir / "lie").mkdir()
        for name in ("torch_wheels.yaml", "torch_releases.yaml"):
            (self.dir / "lie" / name).write_text((self.dir / "m" / name).read_text().replace('compute: ["7.5", "8.0"]', 'compute: ["7.5", "9.0"]', 1))
        other = [*(word if word != "m" else "n" for word in asked), "--facts", "lie"]
        caught = self.call(*other, code=1)
        self.assertIn("torch-98.0.0+cu124-x86_64: measured and known disagree\n  measured  compute: 7.5, 8.0\n  known     compute: 7.5, 9.0\n", caught.stdout)
        self.assertNotIn("torch-98.0.0+cu124-x86_64", self.read("n/torch_wheels.yaml"))
        self.call(*other, "--accept", code=0)
        self.assertIn("torch-98.0.0+cu124-x86_64", self.read("n/torch_wheels.yaml"))

    def test_facts_measure_where_something_is_wrong(self):
        good = self.torch_wheel()
        url = self.serve()
        asked = ["facts", "measure", "torch", "--versions", ">=90", "--index", url + "/plain/simple"]
        for behaviour, message in (("tear", "(5 attempts)"), ("other-range", "the server lies about ranges: asked for bytes "), ("ignore-range", "the server does not answer range requests"),
                                   ("status-404", "there is no such page (404)")):
            with self.subTest(behaviour):
                self.index_page("torch", (good, None, False, behaviour))
                got = self.call(*asked, "--out", behaviour, code=3)
                self.assertIn("0 rows: 0 new, 0 filled, 0 confirmed, 0 contradicted, 1 not measured\n", got.stdout)
                self.assertIn(message, got.stdout)
                self.assertFalse(list((self.dir / behaviour).glob("*.yaml")))
        new = self.wheel("torch-96.0.0-cp312-cp312-manylinux_2_28_x86_64.whl",
                         {"torch/version.py": "__version__ = '96.0.0+cu990'\ncuda: Optional[str] = '99.0'\n", "torch-96.0.0.dist-info/METADATA": "Version: 96.0.0\n\n"})
        self.index_page("torch", (new.name, None, False, "plain"))
        got = self.call(*asked, "--out", "new", code=1)
        self.assertIn("left out: row 'torch-96.0.0+cu990-x86_64': column 'cuda' names '99.0', which cuda_toolkits.cuda does not have\n", got.stdout)
        self.call("facts", "check", "--facts", "new", code=0)
        self.refused(*(word if word != ">=90" else ">=100" for word in asked), "--out", "empty", says="no release on the index fits torch >=100 for x86_64 or aarch64")

    def test_facts_measure_over_tls(self):
        for name, subject in (("good.pem", "IP:127.0.0.1"), ("other.pem", "DNS:index.example.org")):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test", "-addext", "subjectAltName=" + subject,
                            "-keyout", self.dir / "key.pem", "-out", self.dir / name], check=True, capture_output=True)
            self.write(self.read(name) + self.read("key.pem"), name)
        demo = self.wheel("demo-1.0-py3-none-any.whl", {"demo-1.0.dist-info/METADATA": "Version: 1.0\n\n"}).name
        self.index_page("demo", (demo, None, False, "plain"))
        good, other, plain = self.serve(certificate="good.pem"), self.serve(certificate="other.pem"), self.serve()
        secret = "https://user:geheim@"

        def measure(url, *more, code=3):
            got = self.call("facts", "measure", "package", "demo", "--index", url, "--out", "m", *more, code=code, env={"PIP_CERT": ""})
            self.assertNotIn("geheim", got.stdout + got.stderr)
            return got.stdout + got.stderr

        index = good.replace("https://", secret) + "/plain/simple"
        self.assertIn("certificate", measure(index))
        self.assertIn("fix: name the site's certificates by --ca-bundle FILE\n", measure(index))
        self.assertIn("certificate", measure(index, "--ca-bundle", "other.pem"))
        self.assertRegex(measure(other + "/plain/simple", "--ca-bundle", "other.pem"), r"SSL: .*127\.0\.0\.1")  # of another host
        # From TLS to none there is no way, whoever says so.
        port = plain.split(":")[-1]
        said = measure(good.replace("https://", secret) + f"/elsewhere/{port}/plain/simple", "--ca-bundle", "good.pem")
        self.assertRegex(said, 'Protocol .?http.? ')
        self.assertFalse(list((self.dir / "m").glob("*.yaml")))
        measure(index, "--ca-bundle", "good.pem", code=0)

    def test_facts_measure_toolkit(self):
        ptxas = """#!/bin/sh
if [ "$1" = --help ]; then printf -- "--gpu-name\\n  Allowed values: 'compute_75','sm_75','sm_100a'.\\n"; exit 0; fi
read -r word version < "$2"
[ "$version" != 9.8 ] || exit 0
echo "fatal: Unsupported .version $version; current version is '9.8'" >&2; exit 255
"""
        machine = os.uname().machine
        for release, nvcc in (("90.1.0", "90.1.20"), ("90.1.1", "90.1.30")):
            meta = self.wheel(f"cuda_toolkit-{release}-py2.py3-none-any.whl", {f"cuda_toolkit-{release}.dist-info/METADATA":
                              f"Version: {release}\nRequires-Dist: nvidia-cuda-nvcc=={nvcc}.*; extra == 'all'\nRequires-Dist: nvidia-cuda-crt=={nvcc}.*; extra == 'all'\n\n"})
        nvcc = self.wheel(f"nvidia_cuda_nvcc-90.1.30-py3-none-manylinux_2_17_{machine}.whl",
                          {"nvidia/cu90/bin/ptxas": ptxas, "nvidia/cu90/bin/nvcc": "x", "nvidia_cuda_nvcc-90.1.30.dist-info/METADATA": "Version: 90.1.30\n\n"})
        crt = self.wheel(f"nvidia_cuda_crt-90.1.30-py3-none-manylinux_2_17_{machine}.whl",
                         {"nvidia/cu90/include/crt/host_config.h": "#if __GNUC__ > 21\n#if (__clang_major__ >= 31)\n", "nvidia_cuda_crt-90.1.30.dist-info/METADATA": "Version: 90.1.30\n\n"})
        self.index_page("cuda-toolkit", ("cuda_toolkit-90.1.0-py2.py3-none-any.whl", None, False, "plain"), (meta.name, None, False, "plain"))
        self.index_page("nvidia-cuda-nvcc", (nvcc.name, None, False, "plain"))
        self.index_page("nvidia-cuda-crt", (crt.name, None, False, "plain"))
        url = self.serve()
        asked = ["facts", "measure", "toolkit", "--versions", ">=90", "--index", url + "/tagged/simple"]

        # Without running anything a minor that nobody knows cannot be described, nor its releases.
        read = self.call(*asked, "--out", "read", code=3)
        self.assertIn("not measured: CUDA 90.1: no fact knows its targets and PTX, and its ptxas was not run (--execute)\n", read.stdout)
        self.assertIn("left out: row 'cuda-90.1.0': column 'minor' names '90.1', which cuda_toolkits.cuda does not have\n", read.stdout)
        self.assertFalse(list((self.dir / "read").glob("*.yaml")))

        got = self.call(*asked, "--execute", "--out", "m", code=0)
        self.assertTrue(got.stdout.startswith("3 rows: 3 new, 0 filled, 0 confirmed, 0 contradicted, 0 not measured\n"), got.stdout)
        self.assertIn('{id: cuda-toolkit-90.1, cuda: "90.1", newest: "90.1.1", ptx_isa: "9.8", targets: ["7.5", "10.0a"], gcc_max: 21, clang_max: 30, nvcc_wheel: true, '
                      f'source: ["wheel:{nvcc.name} sha256:', self.read("m/cuda_toolkits.yaml"))
        self.assertIn('{id: cuda-90.1.0, cuda: "90.1.0", minor: "90.1", nvcc: "90.1.20", source: "wheel:cuda_toolkit-90.1.0', self.read("m/cuda_releases.yaml"))
        self.call("facts", "check", "--facts", "m", code=0)
        self.assertFalse((self.dir / "m" / "run").exists())
        again = self.json_of(*asked, "--execute", "--out", "m")
        self.assertEqual((again["requests"], again["known_from_before"], len(again["rows"])), (3, 4, 3))

        # A refresh finds what it can describe without running anything: releases of minors that are known.
        refresh = ["facts", "refresh", "--only", "cuda-toolkit", "--index", url + "/plain/simple"]
        self.write(self.read("m/cuda_toolkits.yaml").replace(', newest: "90.1.1"', ""), "minor/cuda_toolkits.yaml")
        for facts, first, code in ((["--facts", "m"], "- cuda-toolkit ", 1), (["--facts", "minor"], "- cuda-toolkit ", 1), ([], "- cuda-toolkit ", 1)):
            news = self.call(*refresh, *facts, "--out", "news" + "".join(facts[1:]), code=code)
            self.assertTrue(news.stdout.startswith(first), news.stdout)
            self.assertEqual("+ cuda-toolkit 90.1.0: new\n+ cuda-toolkit 90.1.1: new\n" in news.stdout, facts != ["--facts", "m"], news.stdout)
            self.assertEqual("left out: row 'cuda-90.1.0'" in news.stdout, not facts, news.stdout)
            self.assertEqual((self.dir / ("news" + "".join(facts[1:])) / "cuda_releases.yaml").exists(), facts == ["--facts", "minor"])
        # A release that is not the newest of its minor says nothing of the minor.
        old = self.call(*(word if word != ">=90" else "==90.1.0" for word in asked), "--execute", "--out", "old", "--facts", "m")
        self.assertTrue(old.stdout.startswith("1 row: 0 new, 0 filled, 1 confirmed, 0 contradicted, 0 not measured\n"), old.stdout)
        # A wheel swapped behind its hash is not run.
        self.index_page("nvidia-cuda-nvcc", (nvcc.name, "4" * 64, False, "plain"))
        swapped = self.call(*asked, "--execute", "--out", "other", code=3)
        self.assertIn(f", and the index says {'4' * 64}\n", swapped.stdout)
        self.assertFalse(list((self.dir / "other").glob("*.yaml")))
        self.refused(*(word if word != ">=90" else ">=100" for word in asked), "--out", "empty", says="no release on the index fits cuda-toolkit >=100")

    def test_facts_measure_held(self):
        code = library(container(entry(2, 75), entry(2, 90, 0x108011), entry(1, 90)))
        name = self.torch_wheel(**{"torch/lib/libtorch_cuda.so": code, "torch/lib/libvendor.so": library(container(entry(2, 75)))})
        self.index_page("torch", (name, None, False, "plain"))
        url = self.serve()
        asked = ["facts", "measure", "torch", "--held", "--versions", ">=90", "--index", url + "/tagged/simple"]
        got = self.call(*asked, "--out", "m", code=0)
        self.assertIn("measure: reading 1 wheel to the last byte\n", got.stderr)
        self.assertIn("no row of torch_libraries says what these are for, none was written: torch/lib/libvendor.so\n", got.stdout)
        self.assertIn('library: "libtorch_cuda.so", purpose: "the kernels of torch itself", sass: ["7.5", "9.0a"], ptx: ["9.0"], source: "wheel:' + name,
                      self.read("m/torch_libraries.yaml"))
        self.call("facts", "check", "--facts", "m", code=0)
        again = self.json_of(*asked, "--out", "m")
        self.assertEqual((again["requests"], again["known_from_before"], again["other_libraries"]), (1, 1, ["torch/lib/libvendor.so"]))
        self.index_page("torch", (name, "3" * 64, False, "plain"))
        swapped = self.call(*asked, "--out", "other", code=3)
        self.assertIn(f", and the index says {'3' * 64}\n", swapped.stdout)
        self.assertFalse(list((self.dir / "other").glob("*.yaml")))


if __name__ == "__main__":
    main()

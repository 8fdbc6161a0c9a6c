"""The command line as a user meets it: doctor, with a PATH of the test's own. Usage: doctor_test.py CUDAMATRIX [unittest arguments]"""
import json
import os
import pathlib
import subprocess

from cli import GOOD, PROGRAM, Cli, main


class Doctor(Cli):
    def doctor(self, *arguments, path="bin", **environment):
        return self.call("doctor", "--offline", *arguments, env={"PATH": str(self.dir / path), "LD_LIBRARY_PATH": "", "HOME": str(self.dir), **environment})

    def host_file(self, name, gpu, compute, driver):
        self.program("nvidia-smi", f'case "$1" in *compute_cap*) echo "0, {gpu}, {compute}, {driver}" ;; *memory*) echo "0, 15360 MiB" ;; esac')
        self.write(self.doctor("--format", "json").stdout, name)

    def program(self, name, script):
        self.write("#!/bin/sh\n" + script + "\n", "bin/" + name)
        (self.dir / "bin" / name).chmod(0o755)

    def lines(self, *arguments, **environment):
        got = self.doctor("--format", "json", *arguments, **environment)
        self.assertEqual(got.stderr, "")
        document = json.loads(got.stdout)
        self.assertEqual((document["schema_version"], document["tool"]), (1, "cudamatrix"))
        return got.returncode, document["lines"]

    def test_exit_code_is_1_only_where_a_line_fails(self):
        for path in ("", "/opt/cuda/lib64/stubs"):
            code, lines = self.lines(LD_LIBRARY_PATH=path)
            failed = [line["probe"] for line in lines if line["health"] == "fail"]
            self.assertEqual("library-path" in failed, path != "")
            self.assertEqual(code, 1 if failed else 0)

    def test_a_gpu_that_nvidia_smi_tells_and_the_flaws_of_the_toolkit(self):
        self.program("nvidia-smi", 'case "$1" in *compute_cap*) echo "0, Tesla T4, 7.5, 550.54.15" ;; esac')
        self.program("nvidia-ctk", 'echo "NVIDIA Container Toolkit CLI version 1.17.7"')
        lines = self.lines()[1]
        self.assertIn({"probe": "gpu", "health": "ok", "found": "Tesla T4, compute 7.5 from nvidia-smi"}, lines)
        flaws = [line for line in lines if line["probe"] == "toolkit" and line["health"] == "warn"]
        self.assertIn("cudamatrix facts show flaw-CVE-2025-23266", [line["document"] for line in flaws])
        self.assertNotIn("cudamatrix facts show flaw-CVE-2025-23359", [line["document"] for line in flaws])
        for line in flaws:
            self.call(*line["document"].split()[1:], code=0)

    def test_where_no_thread_is_to_be_had_probes_follow_each_other(self):
        """A thread asks for a stack of this size, and a terabyte is refused."""
        probes = [line["probe"] for line in self.lines()[1]]
        got = subprocess.run(["/bin/bash", "-c", 'ulimit -s 1073741824 && exec "$0" doctor --offline --format json', PROGRAM], capture_output=True, text=True, timeout=120,
                             check=False, env={**os.environ, "PATH": str(self.dir / "bin"), "LD_LIBRARY_PATH": "", "HOME": str(self.dir)})
        self.assertEqual((got.returncode, got.stderr), (0, ""))
        self.assertEqual([line["probe"] for line in json.loads(got.stdout)["lines"]], probes)

    def test_tools_that_hang_are_not_waited_for(self):
        # Longer than the test may take: `call` gives up after two minutes.
        for tool in ("nvidia-smi", "nvidia-ctk", "nvidia-container-cli"):
            self.program(tool, "while :; do :; done")
        self.assertIn("nvidia-smi: ", self.doctor().stdout)

    def test_out_gets_what_is_printed(self):
        for form, name in (("text", "doctor.txt"), ("json", "doctor.json")):
            got = self.doctor("--format", form, "--out", "reports")
            self.assertEqual(self.read("reports/" + name), got.stdout)

    def test_the_driver_s_own_library_is_asked_as_programs_ask_it(self):
        """Each answer of cuInit in kernels.md's table of faults, by the stand-in of the suite's tests."""
        driver = pathlib.Path(PROGRAM).parent / "kernels/fake_driver"
        for say, health, found in (({}, "ok", "driver 550.54.15, CUDA 12.4, 1 GPU(s)"),
                                   ({"FAKE_INIT": "34"}, "fail", "is the toolkit's stub, not a driver"),
                                   ({"FAKE_INIT": "35"}, "fail", "driver 550.54.15 offers CUDA 12.4, too old for this program"),
                                   ({"FAKE_INIT": "46"}, "fail", "cuInit 46: the GPU is in exclusive mode or being reset"),
                                   ({"FAKE_INIT": "100"}, "skipped", "cuInit 100: the driver sees no GPU"),
                                   ({"FAKE_INIT": "802"}, "fail", "cuInit 802: the GPUs' fabric is not ready"),
                                   ({"FAKE_INIT": "803"}, "fail", "cuInit 803: libcuda is 550.54.15, the kernel module is an unknown version"),
                                   ({"FAKE_INIT": "804"}, "fail", "cuInit 804: the compatibility library works on data-center GPUs only"),
                                   ({"FAKE_INIT": "805"}, "fail", "cuInit 805: the MPS server does not answer"),
                                   ({"FAKE_INIT": "999"}, "fail", "cuInit 999: the driver cannot open its devices"),
                                   ({"FAKE_DEVICES": "0"}, "skipped", "the driver sees no GPU"),
                                   ({"LD_LIBRARY_PATH": f"{driver}/stubs"}, "fail", "is the toolkit's stub, not a driver"),
                                   ({"LD_LIBRARY_PATH": f"{driver}/plain"}, "fail", "is the toolkit's stub, not a driver"),
                                   ({"LD_LIBRARY_PATH": f"{driver}/compat", "FAKE_INIT": "803"}, "fail", "the compatibility library 560.35.03 does not fit the kernel module"),
                                   ({"LD_LIBRARY_PATH": str(self.dir)}, "skipped", "libcuda.so.1 is not found")):
            with self.subTest(say):
                lines = self.lines(**{"LD_LIBRARY_PATH": str(driver), **say})[1]
                mine = [line for line in lines if line["probe"] == "cuda-driver"]
                self.assertEqual([line["health"] for line in mine], [health], mine)
                self.assertIn(found, mine[0]["found"])
                self.assertEqual("document" in mine[0], health == "fail")

    def test_gpus_and_their_health_without_nvidia_smi(self):
        driver = pathlib.Path(PROGRAM).parent / "kernels/fake_driver"
        for say, health in (({}, "ok"), ({"FAKE_NVML_ECC": "3"}, "fail"), ({"FAKE_NVML_REMAP_PENDING": "1"}, "fail"), ({"FAKE_NVML_LOST": "15"}, "fail")):
            with self.subTest(say):
                lines = self.lines(LD_LIBRARY_PATH=str(driver), FAKE_CC="120", FAKE_NAME="Fake Blackwell", FAKE_MEMORY_MIB="32768", **say)[1]
                self.assertIn({"probe": "gpu", "health": "ok", "found": "Fake Blackwell, compute 12.0, 32768 MiB from libcuda"}, lines)
                self.assertEqual([line["health"] for line in lines if line["probe"] == "gpu-health"], [health])

    def test_a_variable_that_changes_results(self):
        lines = self.lines(CUDA_VISIBLE_DEVICES="", CUBLAS_WORKSPACE_CONFIG=":4096:8")[1]
        self.assertEqual([(line["health"], line["fix"]) for line in lines if line["probe"] == "environment"],
                         [("fail", "unset CUDA_VISIBLE_DEVICES"), ("warn", "unset CUBLAS_WORKSPACE_CONFIG")])

    def test_a_saved_report_is_a_machine_to_judge_on(self):
        self.host_file("fleet/a.json", "Tesla T4", "7.5", "535.183.01")
        self.host_file("fleet/b.json", "NVIDIA GeForce RTX 5090", "12.0", "580.95.05")
        self.write('version: 1\naxes: {driver: ["470"], gpu: [V100], torch: [2.6.0+cu124, 2.7.1+cu128]}\nset: {os: debian12}\n', "m.yaml")
        alone = self.call("check", "m.yaml", "--host", "fleet/a.json", code=0)
        self.assertTrue(alone.stdout.startswith("fleet/a.json\n  driver         535.183.01 (nvidia-smi)\n"), alone.stdout)
        fleet = self.call("check", "m.yaml", "--host", "fleet/a.json", "fleet/b.json", "--format", "json", code=1)
        cells = [(cell["fields"]["driver"], cell["fields"]["gpu"], cell["fields"]["torch"], cell["verdict"]) for cell in json.loads(fleet.stdout)["cells"]]
        self.assertEqual(sorted(cells), [("535.183.01", "Tesla T4", "2.6.0+cu124", "accepted"), ("535.183.01", "Tesla T4", "2.7.1+cu128", "accepted"),
                                         ("580.95.05", "GeForce RTX 5090", "2.6.0+cu124", "rejected"), ("580.95.05", "GeForce RTX 5090", "2.7.1+cu128", "accepted")])
        self.call("init", "--host", "fleet/a.json", "fleet/b.json", "--out", "new.yaml", code=0)
        made = self.call("check", "new.yaml", code=0)
        self.assertNotIn("error: ", made.stdout)
        self.assertAllIn(["drv535.183.01-teslat4-", "drv580.95.05-geforcertx5090-"], made.stdout)

    def test_files_that_are_no_machines(self):
        self.write(GOOD, "m.yaml")
        for text, says in (("", "not valid JSON"), ("{}", "x.json: not a report of doctor\n  fix: cudamatrix doctor --format json > FILE.json on that machine"),
                           ('{"lines": [], "host": {"gpus": 3}}', "x.json: error: $.host.gpus: found 3, expected a list")):
            self.write(text, "x.json")
            self.refused("check", "m.yaml", "--host", "x.json", says=says)
        self.refused("check", "m.yaml", "--host", "none.json", says="none.json")

    def test_registries_and_the_index(self):
        site = self.serve_registry()
        got = self.call("doctor", "--mirror", f"docker.io={site}/plain", "--mirror", "nvcr.io=127.0.0.1:9/x", env={"PATH": str(self.dir / "bin"), "LD_LIBRARY_PATH": "", "PIP_INDEX_URL": "http://127.0.0.1:9/simple"})
        self.assertAllIn([f"ok       network        docker.io (at {site}) answers\n", "warn     network        nvcr.io (at 127.0.0.1:9) is not reached: ",
                          "warn     network        the index that pip asks is not reached: "], got.stdout)

    def test_wrong_usage(self):
        self.refused("doctor", "matrix.yaml", says="matrix.yaml")
        self.refused("doctor", "--format", "html", says="html")
        self.refused("doctor", "--facts", "nowhere", says="nowhere")


if __name__ == "__main__":
    main()

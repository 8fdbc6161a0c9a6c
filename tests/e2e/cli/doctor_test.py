"""The command line as a user meets it: doctor, with a PATH of the test's own. Usage: doctor_test.py CUDAMATRIX [unittest arguments]"""
import json

from cli import Cli, main


class Doctor(Cli):
    def doctor(self, *arguments, path="bin", **environment):
        return self.call("doctor", *arguments, env={"PATH": str(self.dir / path), "LD_LIBRARY_PATH": "", **environment})

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

    def test_tools_that_hang_are_not_waited_for(self):
        # Longer than the test may take: `call` gives up after two minutes.
        for tool in ("nvidia-smi", "nvidia-ctk", "nvidia-container-cli"):
            self.program(tool, "while :; do :; done")
        self.assertIn("nvidia-smi: ", self.doctor().stdout)

    def test_out_gets_what_is_printed(self):
        for form, name in (("text", "doctor.txt"), ("json", "doctor.json")):
            got = self.doctor("--format", form, "--out", "reports")
            self.assertEqual(self.read("reports/" + name), got.stdout)

    def test_wrong_usage(self):
        self.refused("doctor", "matrix.yaml", says="matrix.yaml")
        self.refused("doctor", "--format", "html", says="html")
        self.refused("doctor", "--facts", "nowhere", says="nowhere")


if __name__ == "__main__":
    main()

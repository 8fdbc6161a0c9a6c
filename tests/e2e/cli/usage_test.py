"""The command line as a user meets it: options and exit codes that all commands share. Usage: usage_test.py CUDAMATRIX [unittest arguments]"""
import datetime
import json
import os

from cli import GOOD, TESTS, Cli, main

COMMANDS = ["init", "audit", "check", "explain", "suggest", "lint", "list", "lock", "render", "build", "test", "run", "report", "collect", "doctor", "facts", "rules", "kernels", "templates", "scan", "schema", "help", "man", "completion"]


class Usage(Cli):
    def test_without_arguments_says_what_to_type_next(self):
        self.assertIn("cudamatrix check matrix.yaml", self.call(code=0).stdout)

    def test_the_matrix_shown_without_arguments_is_a_good_one(self):
        shown = self.call().stdout.split("as matrix.yaml:\n")[1]
        name = self.write("\n".join(line[2:] for line in shown.splitlines()) + "\n")
        got = self.call("check", name)
        self.assertIn(got.returncode, (0, 1), got.stderr)
        self.assertEqual(got.stderr, "")

    def test_version_names_the_facts(self):
        self.assertRegex(self.call("--version").stdout, r"^cudamatrix \d+\.\d+\.\d+\nfacts 20\d\d-\d\d-\d\d [0-9a-f]{12}\nbuild (static|dynamic), (x86_64|aarch64), (clang|gcc) \d+\.\d+\.\d+, (commit [0-9a-f]{12}|no commit known)\n$")

    def test_every_help_has_an_example(self):
        for command in COMMANDS:
            with self.subTest(command):
                self.assertIn("Example: cudamatrix " + command, self.call(command, "--help", code=0).stdout)

    def test_help_of_a_command_is_what_its_option_prints(self):
        for words in ([], ["check"], ["facts"], ["facts", "measure", "package"], ["help"]):
            with self.subTest(words):
                self.assertEqual(self.call("help", *words, code=0).stdout, self.call(*words, "--help", code=0).stdout)
        self.assertEqual(self.refused("help", "facts", "mesure"), 'cudamatrix: error: unknown command "mesure"\n  fix: did you mean measure?\n')
        self.assertEqual(self.refused("help", "xyzzy"), 'cudamatrix: error: unknown command "xyzzy"\n  fix: `cudamatrix --help` lists the commands\n')
        self.assertEqual(self.refused("help", "check", "check"), 'cudamatrix: error: unknown command "check"\n  fix: `cudamatrix check --help` lists the commands\n')

    def test_help_fits_the_terminal(self):
        for columns, most in ((None, 80), ("0", 80), ("x", 80), ("60", 60), ("100", 100), ("400", 100), ("20", 40)):
            env = {"COLUMNS": columns} if columns else {}
            with self.subTest(columns):
                shown = self.call("run", "--help", code=0, env=env).stdout
                # A list of values or an option's name is one word.
                self.assertEqual([line for line in shown.splitlines() if len(line) > most and " " in line.strip()], [])
                self.assertGreater(max(map(len, shown.splitlines())), most - 12)

    def test_help_says_values_as_they_are_typed(self):
        shown = self.call("run", "--help", code=0).stdout
        for line in ("  --format text|json|junit|tap|markdown|html   (default: text)\n", "  -j, --jobs N   (default: 1; 1 to 64)\n", "  --out DIR  ",
                     "  --require-gpu   (not with --accept-static)\n", "  MATRIX                      The matrix file (YAML)\n"):
            self.assertIn(line, shown)
        for noise in ("TEXT", "UINT", "REQUIRED", "Excludes", "Positionals"):
            self.assertNotIn(noise, shown)
        self.assertIn("  --look[=VALUE]  ", self.call("check", "--help").stdout)

    def test_what_is_misspelt_is_guessed(self):
        for arguments, what, near in ((["chek"], 'command "chek"', "check"), (["Check"], 'command "Check"', "check"),
                                      (["facts", "lst"], 'command "lst"', "list"), (["check", "m.yaml", "--fromat", "json"], 'option "--fromat"', "--format"),
                                      (["check", "m.yaml", "--fromat=json"], 'option "--fromat"', "--format"), (["check", "--fromat"], 'option "--fromat"', "--format"),
                                      (["--versoin"], 'option "--versoin"', "--version"), (["facts", "list", "--mien"], 'option "--mien"', "--mine")):
            self.assertEqual(self.refused(*arguments), f"cudamatrix: error: unknown {what}\n  fix: did you mean {near}?\n")
        for arguments, said in ((["frobnicate"], 'cudamatrix: error: unknown command "frobnicate"\n  fix: `cudamatrix --help` lists the commands\n'),
                                (["check", "m.yaml", "--xyzzy"], 'cudamatrix: error: unknown option "--xyzzy"\n  fix: `cudamatrix check --help` lists the options\n'),
                                (["\033[31m"], 'cudamatrix: error: unknown command "?[31m"\n  fix: `cudamatrix --help` lists the commands\n')):
            self.assertEqual(self.refused(*arguments), said)
        for arguments in (["check", "a.yaml", "b.yaml"], ["check"], ["facts"], ["facts", "show", "chek", "x", "y"]):
            self.assertNotIn("did you mean", self.refused(*arguments))

    def test_schema_is_the_one_that_is_published(self):
        got = self.call("schema")
        self.assertEqual((got.returncode, got.stderr), (0, ""))
        self.assertEqual(got.stdout, (TESTS.parent / "matrix" / "schema.json").read_text())
        self.assertEqual(json.loads(got.stdout)["required"], ["version"])

    def test_wrong_usage_is_2(self):
        for arguments in (["chekc"], ["check"], ["check", "m.yaml", "--format", "xml"], ["check", "m.yaml", "--on", "yesterday"],
                          ["run", "m.yaml", "--engine", "lxc"], ["--frobnicate"]):
            self.assertTrue(self.refused(*arguments))

    def test_what_update_moves_stands_after_an_equals_sign(self):
        said = self.refused("lock", "--update", "images", "m.yaml")
        self.assertTrue(said.endswith("--update takes its value after '=': --update=images\n"))
        for arguments in (["lock", "images", "m.yaml"], ["check", "a.yaml", "b.yaml"], ["lock", "--update=images"]):
            self.assertNotIn("equals sign", self.call(*arguments).stderr)

    def test_where_names_fields(self):
        name = self.write(GOOD)
        for where, message in (("cudo=11", '--where: unknown field "cudo"'), ("cuda", '--where: "cuda": expected FIELD=VALUE'),
                               ("cuda=<x", "--where: invalid cuda"), ("", "")):
            got = self.call("test", name, "--prove-rejected", "--where", where, "--engine", "host", code=2 if where else 1)
            self.assertIn(message, got.stderr)
            for command in ["lock", "render", "build", "test", "run"] if where else []:
                self.refused(command, name, "--where", where, says=message)
        self.assertIn("no cell is rejected: nothing to prove", got.stdout)

    def test_what_is_rejected_is_chosen_by_cells(self):
        name = self.write(GOOD)
        for option in (["--only", "x"], ["--failed"], ["--max-images", "3"]):
            self.assertEqual(self.refused("test", name, "--prove-rejected", *option),
                             "cudamatrix: error: --prove-rejected attempts cells that have no image\n"
                             "  fix: choose them with --cell or --where, not with --only, --failed or --max-images\n")
        name = self.write(GOOD.replace('"535.183.01"', '"390.157"'))
        got = self.call("test", name, "--prove-rejected", "--cell", "driver=550", "--engine", "host", code=1)
        self.assertIn("no cell is rejected: nothing to prove", got.stdout)

    def test_passing_without_a_gpu_cannot_be_demanded_and_accepted(self):
        name = self.write(GOOD)
        for command in ("build", "test", "run"):
            self.refused(command, name, "--require-gpu", "--accept-static", says="--require-gpu excludes --accept-static\n")
        for option in ("--require-gpu", "--accept-static"):
            self.refused("lock", name, option)
            self.refused("render", name, option)

    def test_missing_file_and_directory(self):
        for name in ("nowhere.yaml", "."):
            self.refused("check", name, says="cannot read " + name)

    def test_missing_engine_is_3_and_leaves_nothing(self):
        name = self.write(GOOD)
        env = {"PATH": str(self.dir), "DOCKER_HOST": f"unix://{self.dir}/none.sock"}
        for command in ("lock", "build", "test", "run"):
            self.refused(command, name, "--engine", "docker", env=env, says="docker", code=3)
            self.assertFalse((self.dir / "cudamatrix.lock").exists())

    def test_no_engine_at_all_is_3_and_no_reason_to_test_the_host(self):
        name = self.write(GOOD)
        nvcc = self.dir / "nvcc"
        nvcc.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 11.8, V11.8.89'\n")
        nvcc.chmod(0o755)
        env = {"PATH": str(self.dir), "DOCKER_HOST": f"unix://{self.dir}/none.sock"}
        said = self.refused("test", name, env=env, says="docker and podman tried", code=3)
        self.assertIn("engine podman: no program podman on PATH", said)
        self.assertIn("--engine host", said)

    def test_a_url_or_a_builder_that_is_an_option_is_2(self):
        name = self.write(GOOD)
        for option, value, says in (("--engine-host", "ssh://-oProxyCommand=x", "it holds what no such URL has"),
                                    ("--engine-host", "ssh://me:secret@box", "a password has no place in it"),
                                    ("--engine-host", "http://box", "expected ssh://"),
                                    ("--builder", "a b", "expected a name of `docker buildx ls`")):
            self.assertIn(says, self.refused("build", name, f"{option}={value}"))
        said = self.refused("run", name, "--engine", "podman", "--builder", "farm")
        self.assertIn("engine podman has no builders to choose from by --builder", said)

    def test_packages_of_a_day_that_is_still_to_come_are_refused(self):
        name = self.write(GOOD + "build: {snapshot: 9999-12-31}\n")
        for command in ("lock", "render", "build", "run"):
            said = self.refused(command, name)
            today = datetime.datetime.now(datetime.timezone.utc).date()
            self.assertEqual(said, f"""matrix.yaml:8:19: error: snapshot: 9999-12-31 is still to come: today is {today}
  8 | build: {{snapshot: 9999-12-31}}
    |                   ^~~~~~~~~~
  fix: choose a day that has been
""")
            self.assertEqual([p.name for p in self.dir.iterdir()], [name])
        self.write(GOOD + f"build: {{snapshot: {today}}}\n")
        self.call("render", name, code=0)

    def test_out_writes_the_report_too(self):
        name = self.write(GOOD)
        for arguments, file in ((["check", name], "check.txt"), (["check", name, "--format", "json"], "check.json"),
                                (["check", name, "--summary"], "check-summary.txt"), (["list", name], "list.txt"),
                                (["lint", name], "lint.txt"), (["lint", name, "--format", "github"], "lint.github.txt"),
                                (["facts", "list"], "facts-list.txt"), (["rules", "list", "--format", "json"], "rules-list.json")):
            with self.subTest(file):
                got = self.call(*arguments, "--out", "reports")
                self.assertEqual((self.dir / "reports" / file).read_text(), got.stdout)

    def test_override(self):
        name = self.write(GOOD)
        got = self.call("check", "--override", "driver=470.161.03", name, "--override", "cuda=12.4.1", code=1)
        self.assertIn("--override driver=470.161.03: error: driver 470.161.03 is too old for CUDA 12.4.1", got.stdout)
        self.assertEqual(got.stderr, "cudamatrix: note: driver is 470.161.03 in every cell (--override); the file says 535.183.01, 550.54.15\n"
                         "cudamatrix: note: cuda is 12.4.1 in every cell (--override); the file says 11.8.0\n")
        listed = self.json_of("list", name, "--override", "gpu=L4")
        self.assertEqual([cell["fields"]["gpu"] for cell in listed["cells"]], ["L4", "L4"])
        for option, needle in (("drivr=580", "did you mean driver?"), ("driver", "FIELD=VALUE"), ("driver=;", "expected a version")):
            self.refused("check", name, "--override", option, says=needle)
        # Every command that judges takes it.
        for command in (["render", name], ["build", name], ["run", name], ["test", name], ["lock", name], ["explain", name, "x"], ["lint", name]):
            self.refused(*command, "--override", "drivr=580", says="did you mean driver?")
        rendered = self.call("render", name, "--override", "driver=470.161.03", "--format", "json")
        self.assertIn("note: driver is 470.161.03 in every cell", rendered.stderr)
        self.assertTrue(all("drv470.161.03" in cell["id"] for cell in json.loads(rendered.stdout)["cells"]), rendered.stdout)
        why = self.call("explain", name, "driver=470.161.03,cuda=13.0.2", "--override", "driver=470.161.03", "--override", "cuda=13.0.2", code=1)
        self.assertIn("driver 470.161.03 is too old for CUDA 13.0.2", why.stdout)
        self.refused("explain", "driver-supports-cuda", "--override", "driver=580", says="a rule has none")
        self.refused("check", name, "--override", "gpu=T4", "--override", "gpu=L4", says="overridden twice")

    def test_host(self):
        name, env = self.write(GOOD), {"PATH": str(self.dir)}
        if not os.path.exists("/proc/driver/nvidia"):  # with a driver there is always something to judge against
            self.refused("check", name, "--host", env=env, code=3,
                         says=("neither a driver nor a GPU", "nvidia-smi: it is not on PATH", "--override driver=... --override gpu=..."))
        smi = self.write('#!/bin/sh\necho "0, Tesla T4, 7.5, 550.54.15"\necho "1, NVIDIA L4, 8.9, 550.54.15"\n', "nvidia-smi")
        (self.dir / smi).chmod(0o755)
        document = self.json_of("check", name, "--host", env=env)
        self.assertEqual([cell["fields"]["gpu"] for cell in document["cells"]], ["Tesla T4", "L4"])
        self.assertEqual(document["host"]["gpu"], {"value": "Tesla T4, L4", "from": "nvidia-smi", "used": True})
        self.assertIsNone(document["host"]["toolkit"]["value"])
        self.assertAllIn(("this machine\n", "  gpu            Tesla T4, L4 (nvidia-smi)\n", "  toolkit        not found: nvidia-ctk is not on PATH"),
                         self.call("check", name, "--host", "--summary", env=env).stdout)


if __name__ == "__main__":
    main()

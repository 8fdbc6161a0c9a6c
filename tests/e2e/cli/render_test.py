"""The command line as a user meets it: render. Usage: render_test.py CUDAMATRIX [unittest arguments]"""
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import time

from cli import GOOD, NEWER, PROGRAM, TWO, Cli, main


class Render(Cli):
    def test_render_without_a_lock_is_loud_and_stable(self):
        name = self.write(GOOD)
        first = self.call("render", name, "--out", "one", code=0)
        dockerfiles = list((self.dir / "one").rglob("Dockerfile"))
        self.assertEqual(len(dockerfiles), 1)
        self.assertIn("unpinned", dockerfiles[0].read_text())
        self.call("render", name, "--out", "two", env=dict(LC_ALL="tr_TR.UTF-8", TZ="Asia/Tokyo"))
        self.assertEqual(list((self.dir / "one").glob("report.*")), [])
        self.assertEqual(self.tree("one"), self.tree("two"))

    def test_the_same_bytes_in_every_locale_time_zone_and_folder(self):
        """100 times: what is rendered and emitted, and the reports."""
        self.write(TWO.replace("[T4]", "[T4, L4]"))
        folders = [self.dir, self.dir / "else where", self.dir / "a" / ("b" * 100) / "c", self.dir / "linked"]
        for folder in folders[1:3]:
            folder.mkdir(parents=True)
            shutil.copy(self.dir / "matrix.yaml", folder)
        folders[3].symlink_to(folders[1])
        # What writing says has times in it.
        writes = [["render", "matrix.yaml", "--out", "same"], ["emit", "github", "matrix.yaml", "--out", "same/ci"]]
        reports = [["list", "matrix.yaml", "--format", "matrix"], ["suggest", "--torch", "2.6.0", "--on", "2026-11-28"],
                   *(["check", "matrix.yaml", "--on", "2026-11-28", "--format", kind] for kind in ("text", "json", "markdown", "github", "sarif"))]
        seen = []
        for locale in ("C", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "ja_JP.eucJP"):
            for zone in ("UTC", "Asia/Tokyo", "America/St_Johns", "Pacific/Kiritimati", "XXX+25:30"):
                for folder in folders:
                    env = {"LC_ALL": locale, "LANG": locale, "TZ": zone}
                    said = [self.call(*command, cwd=folder, env=env, code=0) for command in writes + reports][len(writes):]
                    seen.append(([got.stdout + got.stderr for got in said], self.tree(folder / "same")))
                    shutil.rmtree(folder / "same")
        self.assertEqual(len(seen), 100)
        self.assertGreater(len(seen[0][1]), 15)
        for each in seen[1:]:
            self.assertEqual(each, seen[0])

    def test_what_has_not_changed_is_not_written(self):
        name = self.write(GOOD)
        self.call("render", name, "--out", "o")
        times = {p: p.stat().st_mtime_ns for p in [self.dir / "o", *(self.dir / "o").rglob("*")]}
        got = self.call("render", name, "--out", "o")
        self.assertRegex(got.stderr, r"rendered 1 image into o: 0 written, \d+ unchanged\n")
        self.assertEqual({p: p.stat().st_mtime_ns for p in [self.dir / "o", *(self.dir / "o").rglob("*")]}, times)

    def test_render_check_prints_a_diff_and_the_command_that_fixes_it(self):
        name = self.write(TWO)
        out = ["--out", "o u t"]
        missing = self.call("render", name, *out, "--check", code=1)
        self.assertIn("--- /dev/null\n+++ b/compose.yaml\n@@ -0,0 +1,", missing.stdout)
        self.assertFalse((self.dir / "o u t").exists())
        self.call("render", name, *out, code=0)
        clean = self.call("render", name, *out, "--check", code=0)
        self.assertRegex(clean.stdout, r"^good: \d+ files in o u t, all up to date\n$")

        image = next(p for p in (self.dir / "o u t" / "images").iterdir() if "11.8" in p.name)
        dockerfile = image / "Dockerfile"
        dockerfile.write_text(dockerfile.read_text().replace("USER 65532:65532\n", "USER root\n"))
        self.write(NEWER)
        before = self.tree("o u t")
        drift = self.call("render", name, *out, "--check", code=1)
        self.assertIn("\n-USER root\n+USER 65532:65532\n HEALTHCHECK ", drift.stdout)
        self.assertRegex(drift.stdout, r"\norphan     images/debian12-cu13.4.3/Dockerfile: it belongs to no cell any more\n")
        self.assertEqual(self.tree("o u t"), before)
        document = self.json_of("render", name, *out, "--check")
        kinds = {entry["path"]: entry["kind"] for entry in document["drift"]}
        self.assertEqual(kinds[f"images/{image.name}/Dockerfile"], "changed")
        self.assertEqual(kinds["images/debian12-cu13.4.3/requirements-cuda.txt"], "orphan")

        # Without --prune the orphans stay and are named; the command of the report takes them away.
        kept = self.call("render", name, *out)
        self.assertIn("images/debian12-cu13.4.3/Dockerfile", kept.stderr)
        self.assertTrue((self.dir / "o u t" / "images/debian12-cu13.4.3/Dockerfile").exists())
        self.write("mine", "o u t/mine.txt")
        drift = self.call("render", name, *out, "--check")
        fix = shlex.split(drift.stdout.split("\nfix: ")[1])
        self.assertEqual(fix, ["cudamatrix", "render", name, "--out", "o u t", "--prune"])
        self.call(*fix[1:], code=0)
        self.call("render", name, *out, "--check", code=0)
        self.assertFalse((self.dir / "o u t" / "images/debian12-cu13.4.3").exists())
        self.assertEqual(self.read("o u t/mine.txt"), "mine")

    def test_the_command_that_fixes_a_render_says_everything_that_was_said(self):
        name = self.write(TWO)
        self.write("", "site.pem")
        said = ["--override", "os=debian13", "--override", "cuda=12.4.1", "--network", "host", "--ca-bundle", "site.pem", "--out", "o"]
        drift = self.call("render", name, *said, "--check")
        fix = shlex.split(drift.stdout.split("\nfix: ")[1])
        self.assertEqual(fix, ["cudamatrix", "render", name, *said])
        self.call(*fix[1:], code=0)
        self.call("render", name, *said, "--check", code=0)
        self.call("render", name, "--out", "o", "--check", code=1)

    def test_the_path_of_a_secret_with_a_comma_is_refused(self):
        name = self.write(TWO)
        self.write("", "a,env=TOKEN/site.pem")
        for option in ("--ca-bundle", "--netrc"):
            got = self.call("render", name, option, "a,env=TOKEN/site.pem", code=2)
            self.assertEqual(got.stderr, f"cudamatrix: error: {option} {self.dir}/a,env=TOKEN/site.pem has a comma or a quote in its path: engines would "
                                         "cut it there\n  fix: move the file to a folder without them\n")

    def test_a_ca_bundle_beside_the_matrix_is_the_same_in_every_checkout(self):
        mirror = 'mirrors: {debian: "https://apt.example.org/debian"}\n'
        trees = []
        for folder in ("one", "another/place"):
            self.write(GOOD + "build: {network: host, ca_bundle: certs/site.pem}\n" + mirror, folder + "/m.yaml")
            self.call("render", "m.yaml", "--out", "gpu/out", cwd=self.dir / folder, code=0)
            trees.append(self.tree(folder + "/gpu/out"))
        self.assertEqual(trees[0], trees[1])
        dockerfile = next((self.dir / "one/gpu/out/images").glob("*/Dockerfile")).read_text()
        self.assertIn("--secret=id=ca,src=../../../../certs/site.pem ", dockerfile)
        self.assertIn("#   sh ../../make-base.sh bookworm\n", dockerfile)
        out = self.dir / "one/gpu/out"
        fake = self.dir / "bin/mmdebstrap"
        self.write("#!/bin/sh\nfor w; do printf '%s\\n' \"$w\"; case $w in *partial-*) echo made > \"$w\" ;; esac; done\n", "bin/mmdebstrap")
        fake.chmod(0o755)
        made = subprocess.run(["sh", "gpu/out/make-base.sh"], capture_output=True, text=True, cwd=self.dir / "one", check=True,
                              env={**os.environ, "PATH": f"{fake.parent}:{os.environ['PATH']}"})
        self.assertIn(f'--aptopt=Acquire::https::CAInfo "{out}/../../certs/site.pem"', made.stdout.splitlines())
        self.assertEqual([p.read_text() for p in out.glob("images/*/bootstrap-bookworm.tar")], ["made\n"])
        self.assertIn('file: "../../certs/site.pem"', self.read("one/gpu/out/compose.yaml"))

    def test_the_diff_of_render_check_is_one_that_patch_takes(self):
        if not shutil.which("git"):
            self.skipTest("git is not on PATH")
        name = self.write(NEWER)
        self.call("render", name, "--out", "o")
        self.write(TWO.replace("name: good", "name: better"))
        drift = self.call("render", name, "--out", "o", "--check", code=1)
        env = dict(os.environ, GIT_CEILING_DIRECTORIES=str(self.dir))
        patched = subprocess.run(["git", "apply", "-p1", "-"], input=drift.stdout, text=True, cwd=self.dir / "o", env=env, capture_output=True)
        self.assertEqual(patched.returncode, 0, patched.stderr)
        self.call("render", name, "--out", "o", "--check", code=0)

    def test_one_image_is_rendered_and_the_others_stay_as_they_are(self):
        name = self.write(TWO)
        self.call("render", name, "--out", "whole", code=0)
        got = self.call("render", name, "--out", "o", "--only", "debian12-cu13.4.3", code=0)
        self.assertIn("rendered 1 image into o: ", got.stderr)
        self.assertTrue(got.stdout.endswith("rendered: 2 cells in 1 image, 0 rejected, 0 unknown, 2 not chosen\noutput: o\n"), got.stdout)
        self.assertIn("skipped\n  2 cells\n    not chosen\n", got.stdout)
        whole, one = self.tree("whole", hidden=False), self.tree("o", hidden=False)
        self.assertEqual({path for path in whole if path not in one},
                         {path for path in whole if path.startswith("images/debian12-cu11.8.0/")})
        self.assertEqual(one, {path: whole[path] for path in one})
        # --check looks at what is chosen, and the command that fixes it says the choice.
        self.call("render", name, "--out", "o", "--only", "debian12-cu13.4.3", "--check", code=0)
        choice = ["--cell", "cuda=11.8", "--where", "driver=580", "--max-images", "3"]
        drift = self.call("render", name, "--out", "o", *choice, "--check", code=1)
        fix = shlex.split(drift.stdout.split("\nfix: ")[1])
        self.assertEqual(fix, ["cudamatrix", "render", name, "--out", "o", *choice])
        self.call(*fix[1:], code=0)
        self.assertEqual(self.tree("o"), self.tree("whole"))

    def test_a_choice_that_is_none_is_2_and_leaves_nothing(self):
        name = self.write(TWO)
        ids = "drv580.65.06-t4-cu11.8.0-debian12-debian, drv580.65.06-t4-cu13.4.3-debian12-debian, " \
              "drv580.95.05-t4-cu11.8.0-debian12-debian, drv580.95.05-t4-cu13.4.3-debian12-debian"
        images = "debian12-cu11.8.0, debian12-cu13.4.3"
        for arguments, says in (
                (["--only", "debian12-cu11.8.1"], "--only debian12-cu11.8.1: matrix.yaml has no such image\n  fix: did you mean debian12-cu11.8.0?\n"),
                (["--only", "debian12-cu11.8.0", "xyz"], f"--only xyz: matrix.yaml has no such image\n  fix: its images: {images}\n"),
                (["--cell", "drv470*"], f"--cell drv470*: matrix.yaml has no such cell\n  fix: its cells: {ids}\n"),
                (["--cell", "cudo=11"], '--cell: invalid values "cudo=11": expected a field and its value, such as cuda=11.8\n  fix: did you mean cuda?\n'),
                (["--where", "gpu=L4"], f"--where gpu=L4: matrix.yaml has no such cell\n  note: it has 4 cells and 2 images: {images}\n"
                                        "  fix: cudamatrix list matrix.yaml shows the cells\n"),
                (["--failed"], "--failed: there is no earlier run in o\n  fix: leave --failed out, or name the folder of that run with --out\n"),
                (["--max-images", "1"], f"--max-images 1: matrix.yaml has 2 images to attempt: {images}\n"
                                        "  fix: choose with --only IMAGE..., --cell CELL, --where FIELD=VALUE or --failed, or allow more\n")):
            for command in ("lock", "render", "build", "test", "run"):
                self.assertEqual(self.refused(command, name, "--out", "o", *arguments), "cudamatrix: error: " + says)
                self.assertEqual([p.name for p in self.dir.iterdir()], [name])
        self.assertIn("--max-images", self.refused("render", name, "--max-images", "0"))
        self.assertEqual(self.refused("render", name, "--explain", "compose.yaml:1", "--failed"),
                         "cudamatrix: error: --explain explains a line and attempts no image: there is nothing to choose\n  fix: leave out --failed\n")

    def test_what_is_not_ours_is_told_and_never_touched(self):
        name = self.write(GOOD)
        self.write("services: {mine: {}}\n", "o/compose.yaml")
        drift = self.call("render", name, "--out", "o", "--check", code=1)
        self.assertIn("foreign    compose.yaml: cudamatrix did not write it; move it away\n", drift.stdout)
        self.assertIn("fix: move foreign and edited files away, then cudamatrix render", drift.stdout)
        for extra in ([], ["--prune"]):
            self.refused("render", name, "--out", "o", *extra, code=3)
            self.assertEqual([p.name for p in (self.dir / "o").iterdir()], ["compose.yaml"])

    def test_services_become_compose_files_and_are_judged(self):
        good = GOOD.replace('cuda: ["11.8.0"]', 'torch: ["2.6.0+cu124"]').replace("family: debian", 'family: debian, python: "3.11"') + """services:
  - name: trainer
    gpu: 1
    capabilities: [compute, utility]
    shm_size: 8g
    volumes: ["cache:/cache", "./data:/data:ro"]
    environment: {PYTORCH_CUDA_ALLOC_CONF: "expandable_segments:True"}
"""
        name = self.write(good)
        self.call("render", name, "--out", "out/o", code=0)
        plain, gpu, cdi = (self.read(f"out/o/compose{part}.yaml") for part in ("", ".gpu", ".cdi"))
        self.assertAllIn(('  "trainer":\n', '    shm_size: "8g"\n', '        source: "../../data"\n        target: "/data"\n        read_only: true\n',
                     '      "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"\n', 'volumes:\n  "cache": {}\n'), plain)
        self.assertNotIn("nvidia", plain.split("services:")[1])
        self.assertIn('count: "1"\n              capabilities:\n                - gpu\n                - "compute"\n', gpu)
        self.assertIn('      - "nvidia.com/gpu=0"\n', cdi)
        self.call("render", name, "--out", "out/o", "--check", code=0)
        line = self.call("render", name, "--out", "out/o", "--explain", "compose.cdi.yaml:1").stdout.splitlines()[1]
        self.assertEqual(line, "  templates/compose.cdi.yaml.mustache:2")
        # torch 2.0 stops at that setting; no GPU has that capability.
        for old, new, where, said in (("2.6.0+cu124", "2.0.1+cu118", "14:19", "torch 2.0.1 stops at the option expandable_segments"),
                                      ("compute, utility", "computer", "11:20", "a GPU cannot be reserved with computer")):
            with self.subTest(said):
                name = self.write(good.replace(old, new))
                got = self.call("check", name, code=1)
                self.assertIn(f"{name}:{where}: error: services: trainer: ", got.stdout)
                self.assertIn(said, got.stdout)
                self.refused("render", name, "--out", "none", says=said)
                self.assertFalse((self.dir / "none").exists())

    def test_kill_during_render_leaves_the_old_tree_or_the_new_one(self):
        old = NEWER
        new = NEWER.replace('"11.8.0"', '"11.8.0", "13.0.3", "13.4.3"').replace("family: debian", "family: debian, env: {HF_HOME: /cache}")
        name = self.write(old)
        self.call("render", name, "--out", "old")
        trees = {"old": self.tree("old", hidden=False)}
        self.write(new)
        shutil.copytree(self.dir / "old", self.dir / "o")
        start = time.monotonic()
        self.call("render", name, "--out", "o", "--prune")
        whole = time.monotonic() - start
        trees["new"] = self.tree("o", hidden=False)
        self.assertNotEqual(trees["old"], trees["new"])
        seen = {"old": 0, "new": 0, "mixture": 0, "unfinished": 0}
        chance = random.Random(7)
        for _ in range(60):
            shutil.rmtree(self.dir / "o")
            shutil.copytree(self.dir / "old", self.dir / "o")
            child = subprocess.Popen([PROGRAM, "render", name, "--out", "o", "--prune"], cwd=self.dir, stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL)
            time.sleep(whole * chance.uniform(0.5, 1.1))
            number = chance.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
            for _ in range(2):  # SIGINT and SIGTERM end it without manners the second time
                child.send_signal(number)
            child.communicate(timeout=60)
            if (self.dir / "o" / ".cudamatrix-ready").exists():
                seen["unfinished"] += 1
                self.call("render", name, "--out", "o", "--prune")
                self.assertFalse((self.dir / "o" / ".cudamatrix-ready").exists())
            # What was only staged is rubbish of the next render.
            tree = {path: text for path, text in self.tree("o", hidden=False).items() if not path.startswith(".cudamatrix-stage/")}
            seen[next((key for key, value in trees.items() if value == tree), "mixture")] += 1
        print(f"60 renders killed: {seen}", file=sys.stderr)
        self.assertEqual(seen["mixture"], 0)
        self.assertGreater(seen["old"] + seen["new"], 0)


if __name__ == "__main__":
    main()

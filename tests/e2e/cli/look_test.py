"""The command line as a user meets it: --look asks pip's resolver. Usage: look_test.py CUDAMATRIX [unittest arguments]"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from cli import Cli, TESTS, layer, main

IMPOSSIBLE = "ERROR: ResolutionImpossible: for help visit https://pip.example.org\n"


class Look(Cli):
    def setUp(self):
        super().setUp()
        self.fake_python("bin/python3")
        self.answers = {}
        for name, version, needs in (("oddpkg", "1.0", "deep"), ("evenpkg", "2.0", "deep"), ("deep", "1.0", "core>=2"), ("core", "1.0", ""), ("core", "2.0", "")):
            self.wheel(f"{name}-{version}-py3-none-any.whl", {
                f"{name}-{version}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + (f"Requires-Dist: {needs}\n" if needs else "") + "\n",
                f"{name}-{version}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
                f"{name}-{version}.dist-info/RECORD": ""})
        for name, versions in (("oddpkg", ["1.0"]), ("evenpkg", ["2.0"]), ("deep", ["1.0"]), ("core", ["1.0", "2.0"])):
            self.index_page(name, *((f"{name}-{version}-py3-none-any.whl", None, False, "plain") for version in versions))
        self.index = self.serve() + "/plain/simple"

    def fake_python(self, name):
        path = self.dir / self.write(f'#!/bin/sh\nexec "{sys.executable}" "{TESTS}/fakes/fake_pip.py" "$@"\n', name)
        path.chmod(0o755)

    def env(self, index=None, path=None):
        return {"PATH": path or f"{self.dir}/bin:/usr/bin:/bin", "FAKE_PIP": str(self.dir / "pip.json"), "PIP_INDEX_URL": index or self.index,
                "XDG_CACHE_HOME": str(self.dir / "cache")}

    def check(self, packages, *more, answer=None, version="26.3", python="3.12", index=None, fields="", code=None):
        """Verdict, what packages-resolve says, and stderr."""
        pins = " ".join(sorted(f"{name}=={release}" if release != "any" else name for name, release in packages.items()))
        if answer is not None:
            self.answers[pins] = answer
        self.write(json.dumps({"version": version, "python": python, "answers": self.answers}), "pip.json")
        self.write(f"version: 1\nset: {{python: '3.12', arch: x86_64, packages: {json.dumps(packages)}{fields}}}\n", "m.yaml")
        got = self.call("check", "m.yaml", "--format", "json", *more, env=self.env(index), code=code)
        report = json.loads(got.stdout)
        return report["cells"][0]["verdict"], [each["message"] for each in report["findings"] if each["rule"] == "packages-resolve"], got.stderr

    def calls(self):
        path = self.dir / "pip.json.calls"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def test_what_pip_resolves_is_accepted_and_asked_once(self):
        both = {"oddpkg": "1.0", "evenpkg": "2.0"}
        takes = ["oddpkg==1.0", "evenpkg==2.0", "deep==1.0", "core==2.0"]
        verdict, found, said = self.check(both, "--look", answer={"takes": takes})
        self.assertEqual((verdict, found), ("accepted", []), said)
        self.assertIn("[1/1] pip: evenpkg==2.0, oddpkg==1.0 for python 3.12 on x86_64: resolved\n", said)
        self.assertEqual(len(self.calls()), 1)
        arguments = self.calls()[0]
        self.assertEqual(arguments[arguments.index("--only-binary") + 1], ":all:")
        self.assertEqual(arguments[-3:], ["--", "evenpkg==2.0", "oddpkg==1.0"])
        # The second time nobody is asked, and stderr is silent.
        self.assertEqual(self.check(both, "--look", index="http://127.0.0.1:9/simple"), ("accepted", [], ""))
        self.assertEqual(len(self.calls()), 1)
        self.assertEqual(self.check(both)[0], "unknown")  # without --look the store is not read
        mine = self.json_of("facts", "list", "--mine", env=self.env())["rows"]
        row = [each for each in mine if each["table"] == "resolutions"]
        self.assertEqual(len(row), 1)
        self.assertEqual(row[0]["confidence"], "measured")
        passed = self.call("explain", "m.yaml", "py3.12*", "--look", "-v", env=self.env(), code=0).stdout
        self.assertIn("pip 26.3 finds wheels of evenpkg==2.0, oddpkg==1.0 for python 3.12 on x86_64: it takes 4 packages [packages-resolve, at install]", " ".join(passed.split()))

    def test_a_conflict_is_rejected_in_pips_words(self):
        both = {"oddpkg": "1.0", "evenpkg": "2.0"}
        out = ("\nThe conflict is caused by:\n    The user requested evenpkg==2.0\n    oddpkg 1.0 depends on deep<1 and >=0.5\n\nTo fix this you could try to:\n1. loosen\n")
        verdict, found, said = self.check(both, "--look", answer={"code": 1, "out": out, "err": IMPOSSIBLE})
        self.assertEqual(verdict, "rejected", said)
        self.assertEqual(found, ["pip 26.3 finds no set of wheels for python 3.12 on x86_64: The user requested evenpkg==2.0; oddpkg 1.0 depends on deep<1 and >=0.5"])
        text = self.call("check", "m.yaml", "--look", "-v", env=self.env(), code=1).stdout
        self.assertIn("[packages-resolve, at install]", text)
        self.assertIn("fact resolution-", text)
        self.assertEqual(len(self.calls()), 1)

    def test_a_conflict_between_others_is_rejected_where_an_image_gets_wheels_only(self):
        out = "\nThe conflict is caused by:\n    deep 1.0 depends on core>=2\n    oddpkg 1.0 depends on core<2\n\n"
        answer = {"code": 1, "out": out, "err": IMPOSSIBLE}
        verdict, found, said = self.check({"oddpkg": "1.0"}, "--look", answer=answer)
        self.assertEqual(verdict, "unknown", said)
        self.assertIn("deep 1.0 depends on core>=2; oddpkg 1.0 depends on core<2; whether releases that are built from source fit was not asked", found[0])
        self.assertEqual(self.check({"oddpkg": "1.0"}, "--look", fields=", family: debian")[0], "rejected")

    def test_what_no_wheel_satisfies_is_unknown_or_rejected(self):
        err = "ERROR: Could not find a version that satisfies the requirement core>=9 (from deep) (from versions: 1.0, 2.0)\nERROR: No matching distribution found for core>=9\n"
        verdict, found, _ = self.check({"oddpkg": "1.0"}, "--look", answer={"code": 1, "err": err})
        self.assertEqual((verdict, found), ("unknown", ["pip 26.3 for python 3.12 on x86_64: no wheel satisfies core>=9 (from deep); whether its source can be built was not asked"]))
        verdict, found, _ = self.check({"oddpkg": "1.0"}, "--look", fields=", family: debian")
        self.assertEqual((verdict, found), ("rejected", ["pip 26.3 for python 3.12 on x86_64: no wheel satisfies core>=9 (from deep); the images of a family get wheels only"]))
        self.assertEqual(len(self.calls()), 1)

    def test_what_is_no_answer_leaves_no_row(self):
        none = "ERROR: Could not find a version that satisfies the requirement oddpkg==1.0 (from versions: none)\nERROR: No matching distribution found for oddpkg==1.0\n"
        for answer, why in (({"code": 1, "err": none}, "pip sees no wheel of oddpkg==1.0 on any index"),
                            ({"code": 1, "err": "WARNING: Retrying (Retry(total=0)) after connection broken\n" + none}, "an index could not be read"),
                            ({"code": 1, "err": IMPOSSIBLE}, "it does not say what the conflict is"),
                            ({"code": 2, "err": "ERROR: no such option: --report\n"}, "exit code 2: no such option: --report"),
                            ({"report": "{"}, "pip's report"), ({"report": "[]"}, "pip's report lists nothing"), ({"takes": []}, "pip's report says nothing of oddpkg==1.0"),
                            ({"takes": ["oddpkg==9"]}, "pip's report says nothing of oddpkg==1.0"), ({}, "report.json")):
            with self.subTest(why):
                verdict, found, said = self.check({"oddpkg": "1.0"}, "--look", answer=answer)
                self.assertEqual((verdict, found), ("accepted", []))
                self.assertIn("warning: --look: pip's resolver has no answer to oddpkg==1.0 for python 3.12 on x86_64: ", said)
                self.assertIn(why, said)
        self.assertFalse((self.dir / "cache/cudamatrix/facts/resolutions.yaml").exists())
        self.assertEqual(len(self.calls()), 9)

    def test_pip_is_not_asked_where_its_answer_would_be_wrong(self):
        lacks = "note: --look: pip's resolver was not asked: needs python 3.12 with pip 25.3 or newer on this machine"
        for version, python, why in (("26.3", "3.11", "\n"), ("26.3", "3.1", "\n"), ("25.2", "3.12", "; pip 25.2 reads whole wheels in a dry run\n"),
                                     ("22.1", "3.12", "; pip 22.1 reads whole wheels in a dry run\n")):
            verdict, found, said = self.check({"oddpkg": "1.0"}, "--look", version=version, python=python)
            self.assertEqual((verdict, found, said.count("pip's resolver")), ("accepted", [], 1), said)
            self.assertIn(lacks + why, said)
        # Another processor, another system, a build that is on no index, what is rejected already, nothing to ask.
        for packages, fields, why in (({"oddpkg": "1.0"}, ", os: windows", None), ({"flash-attn": "2.7.4.post1+cu12torch2.6cxx11abiFALSE"}, "", "is on no index"),
                                      ({"numpy": "1.26.4", "opencv-python": "4.12.0.88"}, "", None)):
            said = self.check(packages, "--look", fields=fields)[2]
            self.assertEqual("pip's resolver" in said, why is not None, said)
            self.assertIn(why or "", said)
        self.write("version: 1\nset: {python: '3.12', packages: {'--index-url': '1'}}\n", "m.yaml")
        self.refused("check", "m.yaml", "--look", env=self.env(), says="packages: invalid name")
        self.assertEqual(self.calls(), [])

    def test_suggest_asks_about_its_stacks(self):
        asked = ["suggest", "--torch", "2.6.0", "--python", "3.12", "--need", "oddpkg", "--look"]
        err = "ERROR: Could not find a version that satisfies the requirement core>=9 (from deep) (from versions: 1.0)\nERROR: No matching distribution found for core>=9\n"
        def suggested(otherwise, index=None):
            self.write(json.dumps({"version": "26.3", "python": "3.12", "answers": {}, "otherwise": otherwise}), "pip.json")
            return self.call(*asked, env=self.env(index))
        got = suggested({"code": 2})
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn("pip's resolver has no answer to oddpkg==1.0, torch==2.6.0 for python 3.12 on x86_64", got.stderr)
        questions = [str(each[each.index("--python-version"):]) for each in self.calls()]
        self.assertEqual(len(questions), len(set(questions)))  # what was not answered is not asked again
        refused = suggested({"code": 1, "err": err})
        self.assertNotEqual(refused.stdout, got.stdout)  # those stacks are not proposed
        self.assertIn(": not found\n", refused.stderr)
        (self.dir / "cache/cudamatrix/facts/resolutions.yaml").unlink()
        taken = suggested({"takes": ["oddpkg==1.0", "torch==2.6.0"]})
        self.assertEqual((taken.returncode, taken.stdout), (0, got.stdout))
        self.assertIn("torch==2.6.0 for python 3.12 on x86_64", taken.stderr)

    def test_a_real_pip(self):
        """That of the environment of the tests (run.sh)."""
        real = pathlib.Path(shutil.which("check-jsonschema")).with_name("python3")
        python = re.search(r"\(python (\S+)\)", subprocess.run([real, "-m", "pip", "--version"], capture_output=True, text=True, check=True).stdout)[1]
        (self.dir / self.write(f'#!/bin/sh\nexec "{real}" "$@"\n', "real/python3")).chmod(0o755)
        env = self.env(path=f"{self.dir}/real:/usr/bin:/bin")
        env.update(PIP_FIND_LINKS="", PIP_NO_CACHE_DIR="1", PIP_CONFIG_FILE=os.devnull)
        def check(packages, index=self.index):
            self.write(f"version: 1\nset: {{python: '{python}', arch: {os.uname().machine}, family: debian, packages: {packages}}}\n", "m.yaml")
            got = self.call("check", "m.yaml", "--look", "--format", "json", env={**env, "PIP_INDEX_URL": index})
            return [each["message"] for each in json.loads(got.stdout)["findings"] if each["rule"] == "packages-resolve"], got.stderr
        found, stderr = check("{oddpkg: '1.0', core: '1.0'}")
        self.assertNotIn("or newer on this machine", stderr, "remove build/venv, tests/run.sh makes it anew")
        # A demand that names a source by its URL: pip would build it.
        self.wheel("outer-1.0-py3-none-any.whl", {
            "outer-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: outer\nVersion: 1.0\nRequires-Dist: evil @ {self.index[:-7]}/evil-1.0.tar.gz\n\n",
            "outer-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "outer-1.0.dist-info/RECORD": ""})
        self.index_page("outer", ("outer-1.0-py3-none-any.whl", None, False, "plain"))
        self.write(layer(("evil-1.0/pyproject.toml", b'[build-system]\nrequires=[]\nbuild-backend="be"\nbackend-path=["."]\n'),
                         ("evil-1.0/be.py", f"open({str(self.dir / 'built')!r}, 'w')\n".encode()),
                         ("evil-1.0/PKG-INFO", b"Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n"), mode="w:gz"), "site/evil-1.0.tar.gz")
        self.assertIn("it would build a source that a demand names by its URL, and with it run code", check("{outer: '1.0'}")[1])
        self.assertFalse((self.dir / "built").exists())
        self.assertEqual(len(found), 1, stderr)
        self.assertIn("The user requested core==1.0; deep 1.0 depends on core>=2", found[0])
        found, stderr = check("{oddpkg: '1.0', evenpkg: '2.0'}")
        self.assertEqual(found, [], stderr)
        self.assertIn(": resolved\n", stderr)
        self.assertEqual(check("{oddpkg: '1.0', evenpkg: '2.0'}", index="http://127.0.0.1:9/simple"), ([], ""))
        self.assertIn('takes: ["core==2.0", "deep==1.0", "evenpkg==2.0", "oddpkg==1.0"]', self.read("cache/cudamatrix/facts/resolutions.yaml"))


if __name__ == "__main__":
    main()

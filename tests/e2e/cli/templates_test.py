"""The command line as a user meets it: templates, and render --explain. Usage: templates_test.py CUDAMATRIX [unittest arguments]"""
import json

from cli import GOOD, Cli, main


class Templates(Cli):
    def test_explain_names_the_template_behind_a_line(self):
        name = self.write(GOOD)
        self.call("render", name, "--out", "o")
        dockerfile = next((self.dir / "o").rglob("Dockerfile"))
        relative = str(dockerfile.relative_to(self.dir / "o"))
        lines = dockerfile.read_text().splitlines()
        update = next(i for i, line in enumerate(lines, 1) if "apt-get update" in line)
        got = self.call("render", name, "--out", "o", "--explain", f"{relative}:{update}")
        self.assertEqual((got.returncode, got.stderr), (0, ""))
        self.assertTrue(got.stdout.startswith(f"{relative}:{update}: {lines[update - 1]}\n  templates/partials/apt_update.mustache:1\n"
                                              "  through templates/partials/apt_install_list.mustache:1\n"), got.stdout)
        document = self.json_of("render", name, "--out", "o", "--explain", "o/" + relative)
        self.assertEqual([line["text"] for line in document["lines"]], lines)
        # Every line that holds no value stands word for word where the origin says.
        own = self.dir / "t/debian"
        own.mkdir(parents=True)
        text = self.call("templates", "show", "debian/Dockerfile.mustache").stdout
        (own / "Dockerfile.mustache").write_text("{{! mine }}\n" + text)
        document = self.json_of("render", name, "--templates", "t", "--explain", relative)
        mine = [line for line in document["lines"] if line["template"]["file"] == "t/debian/Dockerfile.mustache"]
        source = (own / "Dockerfile.mustache").read_text().splitlines()
        same = [line for line in mine if source[line["template"]["line"] - 1] == line["text"]]
        self.assertGreater(len(same), 5)
        for line in mine:
            if "{{" not in source[line["template"]["line"] - 1]:
                self.assertEqual(source[line["template"]["line"] - 1], line["text"])
        for file, needle in ((relative + ":9999", "lines, not 9999"), ("index.json", "comes from no template"), (relative + "x", "did you mean"),
                             ("images/nothing/Dockerfile:1", "gives no file")):
            self.refused("render", name, "--explain", file, says=needle)
        self.assertEqual(self.call("render", name, "--explain", "compose.yaml:1").stdout.splitlines()[1], "  templates/compose.yaml.mustache:2")

    def test_templates_list_show_check(self):
        listed = self.json_of("templates", "list")
        self.assertEqual(listed["count"], len(listed["templates"]))
        self.assertTrue(all(not t["overridden"] for t in listed["templates"]))
        self.assertRegex(self.call("templates", "check").stdout, r"^\d+ templates, 0 overridden, \d+ files filled from a sample, 0 mistakes\n$")
        own = self.dir / "t"
        (own / "partials").mkdir(parents=True)
        (own / "debian").mkdir()
        clean = self.call("templates", "show", "partials/apt_clean.mustache").stdout
        (own / "partials/apt_clean.mustache").write_text(clean)
        self.assertIn("1 overridden", self.call("templates", "list", "--templates", "t").stdout)
        self.call("templates", "check", "--templates", "t", code=0)
        dockerfile = self.call("templates", "show", "debian/Dockerfile.mustache").stdout
        (own / "debian/Dockerfile.mustache").write_text(dockerfile.replace("{{ workdir | arg }}", "{{ workdirr | arg }}")
                                                         .replace("{{ path | env }}", "{{ path }}"))
        said = self.refused("templates", "check", "--templates", "t")
        self.assertRegex(said, r"t/debian/Dockerfile.mustache:\d+:10: error: \{\{ path \}\} names no context")
        (own / "debian/Dockerfile.mustache").write_text(dockerfile.replace("{{ workdir | arg }}", "{{ workdirr | arg }}")
                                                         .replace("{{ user.name | arg }} {{ w", "{{ user.nam | arg }} {{ w"))
        (own / "debian/Dockerfil.mustache").write_text("x")
        said = self.refused("templates", "check", "--templates", "t", says=("there is no value workdirr", "did you mean workdir?", "there is no value user.nam", "did you mean user.name?",
                       "t/debian/Dockerfil.mustache replaces no template of ours", "did you mean debian/Dockerfile.mustache?"))
        self.assertEqual(said.count("error: "), 3, said)
        self.refused("templates", "show", "debian/Dockerfil.mustache", says="did you mean debian/Dockerfile.mustache?")
        self.call("templates", "check", "--templates", "nowhere", code=2)

    def test_a_folder_of_templates_brings_partials_of_its_own(self):
        name = self.write(GOOD)
        own = self.dir / "t"
        (own / "partials").mkdir(parents=True)
        clean = self.call("templates", "show", "partials/apt_clean.mustache").stdout
        (own / "partials/apt_clean.mustache").write_text("{{> my_note }}\n" + clean)
        (own / "partials/my_note.mustache").write_text("    # one note\n    # and another\n")
        with_own = ("--templates", "t")
        listed = self.call("templates", "list", *with_own).stdout.splitlines()
        line = next(line for line in listed if " partials/my_note.mustache " in line)
        self.assertTrue(line.endswith(" t/partials/my_note.mustache, included by partials/apt_clean.mustache"), line)
        self.assertRegex(listed[-1], r"^\d+ templates, 1 overridden, 1 added$")
        document = self.json_of("templates", "list", *with_own)
        mine = next(one for one in document["templates"] if one["name"] == "partials/my_note.mustache")
        self.assertEqual(mine, {"name": "partials/my_note.mustache", "family": "", "overridden": False, "added": True,
                                "included_by": ["partials/apt_clean.mustache"], "file": "t/partials/my_note.mustache"})
        shown = self.call("templates", "show", "partials/my_note.mustache", *with_own)
        self.assertEqual((shown.returncode, shown.stdout), (0, "    # one note\n    # and another\n"))
        self.assertIn(", 1 overridden, 1 added, ", self.call("templates", "check", *with_own).stdout)
        self.call("render", name, "--out", "o", *with_own, code=0)
        dockerfile = next((self.dir / "o").rglob("Dockerfile"))
        relative = str(dockerfile.relative_to(self.dir / "o"))
        at = dockerfile.read_text().splitlines().index("    # and another") + 1
        explained = self.call("render", name, "--out", "o", *with_own, "--explain", f"{relative}:{at}").stdout.splitlines()
        self.assertEqual(explained[1:3], ["  t/partials/my_note.mustache:2", "  through t/partials/apt_clean.mustache:1"])
        # A change of it is a change of the image; without what includes it, it is a typing error.
        before = json.loads(self.read("o/index.json"))
        (own / "partials/my_note.mustache").write_text("    # another note\n")
        self.call("render", name, "--out", "o", "--check", *with_own, code=1)
        self.call("render", name, "--out", "o", *with_own)
        after = json.loads(self.read("o/index.json"))
        self.assertNotEqual(before["templates"], after["templates"])
        self.assertNotEqual(before["images"][0]["inputs"], after["images"][0]["inputs"])
        (own / "partials/apt_clean.mustache").unlink()
        for command in (("render", name, "--out", "o"), ("templates", "list"), ("templates", "show", "partials/my_note.mustache"), ("templates", "check")):
            self.assertEqual(self.refused(*command, *with_own),
                             "cudamatrix: error: t/partials/my_note.mustache replaces no template of ours, and no template includes it\n", command)
        self.assertEqual(json.loads(self.read("o/index.json")), after)


if __name__ == "__main__":
    main()

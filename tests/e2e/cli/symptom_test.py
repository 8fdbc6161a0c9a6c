"""The command line as a user meets it: doctor --symptom. Usage: symptom_test.py CUDAMATRIX [unittest arguments]"""
import json
import re

from cli import TESTS, Cli, main

KERNEL = "RuntimeError: CUDA error: no kernel image is available for execution on the device"


class Symptom(Cli):
    def symptom(self, text, *arguments, stdin=None, code=0):
        """With a PATH on which no tool of NVIDIA's is, so that every machine says the same."""
        got = self.call("doctor", "--symptom", text, *arguments, env={"PATH": str(self.dir), "LD_LIBRARY_PATH": ""}, stdin=stdin, code=code)
        if code < 2:
            self.assertEqual(got.stderr, "")
        return got.stdout

    def rows(self, text, **options):
        document = json.loads(self.symptom(text, "--format", "json", **options))
        self.assertEqual((document["schema_version"], document["tool"]), (1, "cudamatrix"))
        return document

    def test_a_message_says_cause_fix_what_decides_it_and_the_thread(self):
        got = self.symptom(KERNEL)
        self.assertTrue(got.startswith("symptom-cuda-no-kernel-image (cuda): the program has no code for this GPU\n    line 1: " + KERNEL + "\n"), got)
        for name in ("cause: ", "fix: ", "rule: ", "fact: ", "see:    https://github.com/"):
            self.assertIn("\n    " + name, got)
        for line in got.splitlines():
            if " cudamatrix " in line:
                self.call(*line.split(" cudamatrix ")[1].split(), code=0)

    def test_json_has_every_match_and_what_the_probes_say_here(self):
        document = self.rows("first line\n" + KERNEL + "\nCUDA out of memory")
        self.assertEqual([(row["id"], row["line"]) for row in document["symptoms"]], [("symptom-cuda-no-kernel-image", 2), ("symptom-cuda-out-of-memory", 3)])
        row = document["symptoms"][0]
        self.assertEqual(set(row), {"id", "program", "says", "line", "text", "cause", "fix", "rules", "facts", "probes", "here", "sources", "as_of", "confidence"})
        self.assertEqual((row["program"], row["text"], row["as_of"], row["confidence"]), ("cuda", KERNEL, "2026-11-28", "read"))
        for row in document["symptoms"]:
            self.assertLessEqual({line["probe"] for line in row["here"]}, set(row["probes"]))
        self.assertTrue(document["symptoms"][0]["here"])
        self.assertEqual(document["nearest"], [])

    def test_a_log_on_stdin(self):
        log = "".join(f"step {i} | loss 2.31\n" for i in range(100_000))
        document = self.rows("-", stdin=log + "docker: Error response from daemon: could not select device driver \"\" with capabilities: [[gpu]].\r\n")
        self.assertEqual([(row["id"], row["line"]) for row in document["symptoms"]], [("symptom-docker-no-capability", 100_001)])

    def test_nothing_known_is_said_and_is_exit_code_1(self):
        for text, stdin in (("Epoch 1/10: loss 0.6931", None), ("-", ""), ("-", "\n\n"), ("-", "Successfully installed torch-2.7.1+cu128\n"), ("-", "\0\x1b[31m\x07")):
            self.assertEqual(self.symptom(text, stdin=stdin, code=1), "no known message stands in this text\n")
            document = self.rows(text, stdin=stdin, code=1)
            self.assertEqual((document["symptoms"], document["nearest"]), ([], []))

    def test_what_is_near_is_named(self):
        self.assertEqual(self.symptom("kernel image missing", code=1),
                         'no known message stands in this text\n    near: symptom-cuda-no-kernel-image (cuda): "no kernel image is available"\n')
        self.assertEqual([row["id"] for row in self.rows("kernel image missing", code=1)["nearest"]], ["symptom-cuda-no-kernel-image"])

    def test_escape_sequences_do_not_reach_the_terminal(self):
        hostile = "\x1b]0;owned\x07\x1b[2J\x1b[31mCUDA out of memory\u202e\x9b31m\x1b[0m\x08\x08 tail\x1b"
        for form in ("text", "json"):
            got = self.symptom("-", "--format", form, stdin=hostile)
            self.assertIn("CUDA out of memory", got)
            self.assertNotRegex(got, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")

    def test_a_log_with_many_messages_shows_the_best_five(self):
        messages = (line.split("\t")[1] for line in (TESTS / "symptoms" / "messages.tsv").read_text().splitlines() if not line.startswith("#"))
        log = "\n".join(messages).replace("\\n", "\n")
        got = self.symptom("-", stdin=log)
        self.assertEqual(got.count("\n    see: "), 5)
        count = len(self.rows("-", stdin=log)["symptoms"])
        self.assertGreater(count, 100)
        self.assertTrue(got.endswith(f"\n{count - 5} messages more: see --format json\n"), got[-100:])

    def test_checklists_and_tables_of_other_projects_have_an_answer(self):
        """What each line of tests/symptoms/seeds.tsv names exists, and its message is found."""
        show = {"rule": ("rules", "show"), "fact": ("facts", "show"), "symptom": ("facts", "show"), "kernel": ("kernels", "show"), "command": ("help",)}
        sources_of_probes = (TESTS.parent / "src" / "run" / "doctor").glob("*.cpp")
        probes = set(re.findall(r'{"([a-z-]+)",', "".join(path.read_text() for path in sources_of_probes)))
        asked, outside, sources = set(), 0, set()
        for line in (TESTS / "symptoms" / "seeds.tsv").read_text().splitlines():
            if line.startswith("#"):
                continue
            source, what, answers, message = (line.split("\t") + [""])[:4]
            sources.add(source)
            symptoms = []
            with self.subTest(what):
                for answer in answers.split():
                    kind, _, name = answer.partition(":")
                    if kind == "outside":
                        outside += 1
                        self.assertTrue(answers == kind and message)
                    elif kind == "probe":
                        self.assertIn(name, probes)
                    else:
                        asked.add((*show[kind], name))
                        symptoms += [name] if kind == "symptom" else []
                if symptoms:
                    got = json.loads(self.symptom(message.replace("\\n", "\n"), "--format", "json"))
                    self.assertEqual([row["id"] for row in got["symptoms"]], symptoms)
                else:
                    self.assertEqual(bool(message), answers == "outside")
        self.assertEqual(sources, {"000", "001", "004"})
        self.assertLess(outside, 6)
        for arguments in sorted(asked):
            self.call(*arguments, code=0)
        for nothing in (("rules", "show"), ("facts", "show"), ("kernels", "show"), ("help",)):
            self.call(*nothing, "no-such-thing", code=2)

    def test_out_gets_what_is_printed(self):
        for form, name in (("text", "symptom.txt"), ("json", "symptom.json")):
            self.assertEqual(self.symptom(KERNEL, "--format", form, "--out", "reports"), self.read("reports/" + name))

    def test_rows_of_a_folder_of_facts(self):
        self.write("""table: symptoms
as_of: "2026-11-28"
rows:
  - {id: symptom-ours, program: ours, matches: ["our program (", "is broken"], says: it broke, cause: a fault,
     fix: repair it, source: "https://example.org/broken", confidence: read}
""", "facts/symptoms.yaml")
        self.assertEqual(self.symptom("Our program (3) is BROKEN", "--facts", "facts"), """symptom-ours (ours): it broke
    line 1: Our program (3) is BROKEN
    cause:  a fault
    fix:    repair it
    see:    https://example.org/broken
""")
        self.symptom("Our program (3) is BROKEN", code=1)

    def test_wrong_usage(self):
        for text in ("", " ", "\n"):
            self.refused("doctor", "--symptom", text, says=("--symptom", "an error message"))
        self.refused("doctor", "--symptom", says="--symptom")
        self.refused("doctor", "--symptom", KERNEL, "--format", "html", says="html")
        self.refused("doctor", "--symptom", KERNEL, "--facts", "nowhere", says="nowhere")
        self.refused("doctor", "--symptom", KERNEL, KERNEL, says="no kernel image")
        self.assertIn("tail -c", self.symptom_refused("x" * ((16 << 20) + 1)))
        self.symptom("-", stdin="x" * (16 << 20), code=1)

    def symptom_refused(self, log):
        got = self.call("doctor", "--symptom", "-", stdin=log, code=2)
        self.assertEqual(got.stdout, "")
        return got.stderr

    def test_help_has_an_example(self):
        self.assertIn("--symptom", self.call("doctor", "--help", code=0).stdout)


if __name__ == "__main__":
    main()

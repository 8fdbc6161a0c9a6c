"""Completion in real shells, on a terminal of tmux, and the pages of the manual before mandoc's lint.
Usage: shells_test.py CUDAMATRIX [unittest arguments]"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source <(cudamatrix completion bash); bind 'set show-all-if-ambiguous on'"),
    "zsh": (["zsh", "-f", "-i"], "autoload -Uz compinit; compinit -u -D; source <(cudamatrix completion zsh)"),
    "fish": (["fish", "--no-config", "-i"], "cudamatrix completion fish | source"),
}
# What is typed before the tabulator, and what then stands on the line, or texts of the list below it.
ONE = (("cudamatrix chec", "cudamatrix check "), ("cudamatrix check --summ", "cudamatrix check --summary "), ("cudamatrix facts meas", "cudamatrix facts measure "),
       ("cudamatrix facts show --form", "cudamatrix facts show --format"), ("cudamatrix check m.yaml --format mark", "cudamatrix check m.yaml --format markdown "),
       ("cudamatrix check --format sar", "cudamatrix check --format sarif "), ("cudamatrix run --engine=pod", "cudamatrix run --engine=podman "),
       ("cudamatrix check some-m", "cudamatrix check some-matrix.yaml "), ("cudamatrix check --out some-f", "cudamatrix check --out some-folder/"),
       ("cudamatrix emit gitl", "cudamatrix emit gitlab "), ("cudamatrix man revi", "cudamatrix man review "), ("cudamatrix completion fi", "cudamatrix completion fish "))
SEVERAL = (("cudamatrix re", ("render", "report", "review")), ("cudamatrix facts ", ("list", "measure", "refresh")), ("cudamatrix check --format ", ("json", "sarif", "github")))
NONE = ("cudamatrix xyzz", "cudamatrix check --xyzz", "cudamatrix check --format xyzz", "cudamatrix rules sumx", "cudamatrix check no-such-fi")


class Terminal:
    def __init__(self, folder, command):
        self.shell = command[0]
        self.socket = str(pathlib.Path(folder) / "tmux")
        env = {"PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": str(folder), "TERM": "screen", "LANG": "C.UTF-8", "PS1": "> "}
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "150", "-y", "50", "-c", str(folder), *command, env=env)

    def tmux(self, *arguments, env=None):
        return subprocess.run(["tmux", "-S", self.socket, *arguments], capture_output=True, text=True, check=True, env=env).stdout

    def type(self, text, *keys):
        self.tmux("send-keys", "-l", text)
        if keys:
            self.tmux("send-keys", *keys)

    def screen(self):
        return self.tmux("capture-pane", "-p", "-J")

    def shows(self, wanted, seconds=20):
        """Waits until the screen does; what is on it then."""
        end = time.monotonic() + seconds
        while True:
            seen = self.screen()
            if wanted(seen) or time.monotonic() > end:
                return seen
            time.sleep(0.05)

    def clear(self):
        # To fish C-c is a key: the first closes a list, the next the line. To bash and zsh it is a signal, which comes when it comes.
        for key in ("C-c", "C-c") if self.shell == "fish" else ():
            self.tmux("send-keys", key)
        self.tmux("send-keys", "C-u")
        self.tmux("send-keys", "C-l")
        self.shows(lambda seen: "cudamatrix" not in seen)

    def close(self):
        self.tmux("kill-server")


class Shells(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # a shell that ends may still write its history
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "cudamatrix").symlink_to(PROGRAM)
        (self.folder / "some-matrix.yaml").touch()
        (self.folder / "some-folder").mkdir()

    def complete_in(self, shell):
        command, load = SHELLS[shell]
        terminal = Terminal(self.folder, command)
        self.addCleanup(terminal.close)
        terminal.type(load + "; echo load''ed", "Enter")
        self.assertIn("loaded", terminal.shows(lambda seen: "loaded" in seen))
        terminal.clear()
        # The mark that is typed last shows where the shell left the line: fish paints proposals behind it.
        for typed, line in ONE:
            with self.subTest(typed):
                terminal.type(typed, "Tab")
                terminal.type("@")
                seen = terminal.shows(lambda seen, line=line: re.search(re.escape(line) + " ?@", seen))
                self.assertRegex(seen, re.escape(line) + " ?@")
            terminal.clear()
        for typed, several in SEVERAL:
            with self.subTest(typed):
                terminal.type(typed, "Tab")
                seen = terminal.shows(lambda seen, several=several: all(one in seen for one in several))
                for one in several:
                    self.assertIn(one, seen)
            terminal.clear()
        for typed in NONE:
            with self.subTest(typed):
                terminal.type(typed, "Tab")
                terminal.type("@")
                self.assertIn(typed + "@", terminal.shows(lambda seen, typed=typed: typed + "@" in seen))
            terminal.clear()

    def test_bash(self):
        self.complete_in("bash")

    def test_zsh(self):
        self.complete_in("zsh")

    def test_fish(self):
        self.complete_in("fish")


class Pages(unittest.TestCase):
    def call(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)

    def test_every_page_passes_lint(self):
        commands = re.findall(r"^  ([a-z]+) ", self.call("--help").stdout.split("\nCommands:\n")[1], re.MULTILINE)
        self.assertGreater(len(commands), 20)
        with tempfile.TemporaryDirectory() as folder:
            for command in ("", *commands):
                page = pathlib.Path(folder) / ("cudamatrix-" + command + ".1").replace("-.", ".")
                got = self.call("man", *([command] if command else []))
                self.assertEqual((got.returncode, got.stderr), (0, ""))
                page.write_text(got.stdout)
                lint = subprocess.run(["mandoc", "-T", "lint", "-W", "style", page], capture_output=True, text=True, check=False)
                # The other pages are not installed here.
                said = [line for line in lint.stdout.splitlines() if "referenced manual not found: Xr cudamatrix" not in line]
                with self.subTest(command):
                    self.assertEqual((said, lint.stderr), ([], ""))
                    shown = subprocess.run(["mandoc", "-T", "utf8", page], capture_output=True, text=True, check=True).stdout
                    shown = re.sub(".\b", "", shown)
                    for option in re.findall(r"^  (?:-., )?(--[a-z-]+)", self.call(*([command] if command else []), "--help").stdout, re.MULTILINE):
                        self.assertIn(option, shown)

    def test_a_page_is_of_a_command(self):
        for words, said in ((["chek"], 'cudamatrix: error: unknown command "chek"\n  fix: did you mean check?\n'),
                            (["facts", "list"], "cudamatrix: error: cudamatrix facts list has no page of its own\n  fix: cudamatrix man facts has it\n")):
            got = self.call("man", *words)
            self.assertEqual((got.returncode, got.stdout, got.stderr), (2, "", said))

    def test_a_shell_is_one_of_three(self):
        for words in (["csh"], [], ["bash", "zsh"]):
            got = self.call("completion", *words)
            self.assertEqual((got.returncode, got.stdout), (2, ""))


if __name__ == "__main__":
    unittest.main()

"""Runs cudamatrix for the documentation: the same output on every machine, whatever its environment says."""
import os
import pathlib
import pty
import re
import shlex
import shutil
import subprocess
import tempfile

SHOWN = ("examples", "docs", "matrix", "tests")  # what commands of the documentation may read
COLUMNS = "100"
# What takes longer than two seconds says so on stderr: how much of it there is depends on the machine.
PROGRESS = re.compile(r"^\d+(?: of \d+)? (?:values tried|cells judged|rules asked|tables counted)\n", re.MULTILINE)


class Program:
    """cudamatrix in a folder of its own, in which it finds the folders of the tree by their names."""

    def __init__(self, binary, tree):
        self.binary = str(pathlib.Path(binary).resolve())
        self.tree = pathlib.Path(tree).resolve()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cudamatrix-docs-"))
        (self.folder / "home").mkdir()
        self.clear()

    def close(self):
        shutil.rmtree(self.folder)

    def clear(self):
        """The working folder as it was at first: commands of one page see what earlier ones wrote, those of others do not."""
        self.work = self.folder / "work"
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()
        for name in SHOWN:
            (self.work / name).symlink_to(self.tree / name)

    def environment(self, **more):
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder / "home"), "LC_ALL": "C.UTF-8", "TZ": "UTC", "no_proxy": "*", **more}

    def call(self, *arguments, **more):
        """What it prints, and its exit code."""
        got = subprocess.run([self.binary, *arguments], cwd=self.work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, timeout=300, env=self.environment(**more))
        return PROGRESS.sub("", got.stdout), got.returncode

    def said(self, *arguments):
        """What it prints, where nothing may go wrong."""
        out, code = self.call(*arguments, COLUMNS=COLUMNS)
        if code != 0:
            raise SystemExit(f"docs: cudamatrix {shlex.join(arguments)} ends with {code}:\n{out}")
        return out

    def on_terminal(self, *arguments):
        """What it prints on a terminal, with colours."""
        master, slave = pty.openpty()
        child = subprocess.Popen([self.binary, *arguments], cwd=self.work, stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.DEVNULL,
                                 env=self.environment(TERM="xterm-256color", COLUMNS=COLUMNS))
        os.close(slave)
        out = b""
        try:
            while more := os.read(master, 65536):
                out += more
        except OSError:  # how Linux says that the other end is closed
            pass
        os.close(master)
        child.wait()
        return out.decode().replace("\r\n", "\n")

    def console(self, block):
        """The text of a ```console block as it is today: each line "$ COMMAND" and what the command prints.

        A command is cudamatrix with its arguments, with "| head -N" and "| tail -N" behind it, "cat FILE", or "echo $?", which
        prints how the last cudamatrix ended. No shell is started."""
        out, code = [], 0
        for line in block.splitlines():
            if not line.startswith("$ "):
                continue
            out.append(line)
            command, *cuts = line[2:].split(" | ")
            if command == "echo $?":
                out.append(str(code))
                continue
            words = shlex.split(command)
            if words[0] == "cat":
                text = "".join((self.work / word).read_text() for word in words[1:])
            elif words[0] == "cudamatrix":
                text, code = self.call(*words[1:])
            else:
                raise SystemExit(f"docs: a console block runs cudamatrix, cat and echo $? only, not {words[0]}: mark it as sh")
            lines = text.splitlines()
            for cut in cuts:
                found = re.fullmatch(r"(head|tail) -(\d+)", cut)
                if not found:
                    raise SystemExit(f"docs: a console block cuts by head -N and tail -N only, not {cut}")
                lines = lines[:int(found[2])] if found[1] == "head" else lines[-int(found[2]):]
            out += lines
        return "\n".join(out) + "\n"

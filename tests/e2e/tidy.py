"""clang-tidy over our sources, many at a time: most of what it does for one file, it does for the standard headers.
Usage: tidy.py SOURCE_DIR BUILD_DIR [--all]   (BUILD_DIR/compile_commands.json knows the files)

Read are the files that differ from the branch's beginning or from RECENT commits ago, for a header that does one file that includes it,
and of the rest one of SHARES shares, which the commit's own id chooses: every commit reads the same files everywhere. --all: every file.

Files of one folder are put into one, with other names for what the unnamed namespaces of several of them call the same. Where that
gives any finding, or does not compile, its halves are read, down to single files as they are: what is printed is of those. Exit code 1:
findings."""
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import zlib

SOURCE, BUILD = [pathlib.Path(a).resolve() for a in sys.argv[1:3]]
WORK = BUILD / "tidy"
MOST, RECENT, SHARES = 15, 20, 8
TIDY = ["clang-tidy", "--quiet", f"--config-file={SOURCE / '.clang-tidy'}",
        "--extra-arg=-Wno-unknown-warning-option"]
LOCAL = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.S | re.M)
DECLARED = re.compile(r"^(?:template.*\n)?(?!//|using |namespace |[ }#])[^\n(={;]*?(\w+)(?:\s*[(={\[;]| : )", re.M)
INCLUDED = re.compile(r'^#include "(.*\.cpp)"$', re.M)
HEADER = re.compile(r'^#include (?:<.*>|".*\.hpp")\n', re.M)


def git(*arguments):
    """The lines of an answer; none where git has no answer."""
    return subprocess.run(["git", *arguments], cwd=SOURCE, capture_output=True, text=True).stdout.splitlines()


def sources():
    """The program's; src/fatbin is C++17 and has no part in it."""
    listed = git("ls-files", "--cached", "--others", "--exclude-standard", "src/*.cpp")
    return [f for f in listed if not f.startswith("src/fatbin/") and (SOURCE / f).exists()]


def changed():
    """What differs from the older of the two: the branch's beginning, or RECENT commits ago (a shallow clone: all that it has)."""
    past = git("rev-list", "--first-parent", f"--max-count={RECENT + 1}", "HEAD")
    bases = git("merge-base", "HEAD", "origin/HEAD") + past[-1:]
    return {path for base in bases for path in git("diff", "--name-only", base)} | set(git("ls-files", "--others", "--exclude-standard", "src"))


def chosen(files):
    """Of `files`, what is read."""
    turn = int("".join(git("rev-parse", "HEAD")) or "0", 16) % SHARES
    read = changed() | {path for path in files if zlib.crc32(path.encode()) % SHARES == turn}
    texts = {path: (SOURCE / path).read_text() for path in files}
    for header in [path for path in read if path.endswith(".hpp")]:
        including = [path for path in files if f'#include "{header.removeprefix("src/")}"' in texts[path]]
        if including and read.isdisjoint(including):
            read.add(including[0])
    return [path for path in files if path in read]


def groups(files):
    """At most MOST files of one folder each, of about the same size."""
    folders = collections.defaultdict(list)
    for path in files:
        folders[path.parent].append(path)
    for inside in folders.values():
        count = -(-len(inside) // MOST)
        for number in range(count):
            yield inside[number::count]


def local_names(text):
    """What the unnamed namespaces of a file declare, by the look of it."""
    return {name for space in LOCAL.findall(text) for name in DECLARED.findall(space)}


def as_one(files):
    """The text of all of them in one, after their headers. A member or a qualified name is never a local one."""
    texts = [path.read_text() for path in files]
    uses = collections.Counter(name for text in texts for name in local_names(text))
    made = "".join(dict.fromkeys(line for text in texts for line in HEADER.findall(text)))
    for number, (path, text) in enumerate(zip(files, texts)):
        clashes = [name for name in local_names(text) if uses[name] > 1]
        if clashes:
            text = re.sub(rf"(?<![\w.:>])({'|'.join(clashes)})\b", rf"\1_{number}", text)
        made += f'#line 1 "{path}"\n{text}'
    return made


def compiled_as(command):
    """The options of a compilation that decide what a file means."""
    words = shlex.split(command)
    return [w for before, w in zip(["", *words], words) if w.startswith(("-D", "-I", "-isystem", "-std=")) or before == "-isystem"]


def tidy(commands, files):
    """What clang-tidy has to say of them; empty: nothing."""
    if len(files) == 1:
        done = subprocess.run([*TIDY, str(files[0]), "--", *compiled_as(commands[str(files[0])])], capture_output=True, text=True)
        return done.stdout or (done.stderr if done.returncode != 0 else "")
    whole = WORK / f"{files[0].parent.name}-{files[0].stem}.cpp"
    whole.write_text(as_one(files))
    done = subprocess.run([*TIDY, str(whole), "--", *compiled_as(commands[str(files[0])])], capture_output=True, text=True)
    if done.returncode == 0 and not done.stdout:
        return ""
    half = len(files) // 2
    return tidy(commands, files[:half]) + tidy(commands, files[half:])


def commands_of(entries):
    """Each file's compilation; a file of a unity build is compiled as the one that includes it."""
    for entry in entries:
        for path in INCLUDED.findall(pathlib.Path(entry["file"]).read_text()) if "/Unity/" in entry["file"] else [entry["file"]]:
            yield path, entry["command"]


def main():
    commands = dict(commands_of(json.loads((BUILD / "compile_commands.json").read_text())))
    every = sources()
    files = [SOURCE / f for f in (every if "--all" in sys.argv else chosen(every))]
    WORK.mkdir(exist_ok=True)
    lists = list(groups(files))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        said = list(workers.map(lambda files: tidy(commands, files), lists))
    sys.stdout.write("".join(said))
    print(f"clang-tidy read {len(files)} of {len(every)} files in {len(lists)} groups")
    return 1 if any(said) else 0


if __name__ == "__main__":
    sys.exit(main())

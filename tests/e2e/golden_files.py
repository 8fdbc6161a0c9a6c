#!/usr/bin/env python3
"""The golden files of tests/render as files again. Their form: tests/unit/render/golden_file.hpp.

golden_files.py SOURCE_DIR OUT: writes each case's files below OUT/CASE."""
import pathlib
import re
import sys


def patched(lines, difference):
    """`lines` with a difference: -LINE drops the next such line, @LINE goes on behind it, +LINE adds one."""
    out, at = [], 0
    for line in difference:
        if line[0] == "+":
            out.append(line[1:])
            continue
        end = lines.index(line[1:], at)
        out += lines[at:end] + ([line[1:]] if line[0] == "@" else [])
        at = end + 1
    return out + lines[at:]


def like(base_id, base, own_id, body):
    """The lines of an image that is told by its difference from `base`."""
    text = "\n".join(base).replace(base_id, own_id)
    replacements = [line[2:].split(" => ") for line in body if line.startswith("~ ")]
    for old, new in replacements:
        text = text.replace(old, new)
    return patched(text.split("\n"), body[len(replacements):])


def sections(lines, mark):
    """(title, lines) of each section; a line that begins with `mark` begins one."""
    out = []
    for line in lines:
        if line.startswith(mark):
            out.append((line[len(mark):], []))
        else:
            out[-1][1].append(line)
    return out


def read(path, images):
    """{name: text} of the files of one case; `images` are those of the cases before it, by CASE/ID."""
    files, shared, case = {}, {}, path.parent.name
    for title, body in sections(path.read_text(encoding="utf-8").splitlines(), "==== "):
        kind, name, *base = title.split(" ")
        if kind == "file":
            text = "\n".join(body) + "\n"
            files[name] = re.sub(r"<images>(,?)\n", lambda m: (m[1] + "\n").join(shared.get(name, [])) + "\n", text)
            continue
        if base:
            base = base[1] if "/" in base[1] else f"{case}/{base[1]}"
            body = like(base.split("/")[1], images[base], name, body)
        images[f"{case}/{name}"] = body
        for part, lines in sections(body, "---- "):
            text = "\n".join(lines)
            if part == "index.json" or part.startswith("compose."):
                shared.setdefault(part, []).append(text)
            else:
                files[f"images/{name}/{part}"] = text + "\n"
    return files


def write_all(source, out):
    """Writes the files of all cases below `out`, the common bases first; returns the Dockerfiles."""
    images, dockerfiles = {}, []
    for path in sorted((source / "tests/render").glob("*/expected.txt"), key=lambda path: (path.parent.name != "every_family", path)):
        for name, text in read(path, images).items():
            file = out / path.parent.name / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            if file.name.endswith("Dockerfile"):
                dockerfiles.append(file)
    return dockerfiles


if __name__ == "__main__":
    print(len(write_all(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))), "Dockerfiles")

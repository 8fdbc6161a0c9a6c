"""Links of Markdown files: every relative one names a file of the tree, and every #anchor a heading; others are addresses by their form."""
import os
import pathlib
import re
import urllib.parse

SKIPPED = {".git", "build", "cudamatrix-out", "node_modules"}
LINK = re.compile(r"!?\[(?:[^\[\]\\]|\\.|\[[^\]]*\])*\]\(\s*(<[^>]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\s*\)")
REFERENCE = re.compile(r"^ {0,3}\[[^\]]+\]:\s+(\S+)")
HTML = re.compile(r"<(?:a|img)\b[^>]*?\b(?:href|src)=\"([^\"]*)\"")
ANCHOR = re.compile(r"<a\b[^>]*?\b(?:name|id)=\"([^\"]*)\"")


def pages(tree):
    for folder, folders, files in os.walk(tree):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        yield from (pathlib.Path(folder) / name for name in sorted(files) if name.endswith(".md"))


def prose(text):
    """(number, line) of what is no code; code within a line is blanked."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r"\s*(`{3,}|~{3,})", line)
        if fence:
            if found and found[1].startswith(fence) and not line.strip(" `~"):
                fence = None
        elif found:
            fence = found[1]
        else:
            yield number, line


def anchors(text):
    """Those of the headings, as code hosts make them, and those that are written."""
    out, seen = set(), {}
    for _, line in prose(text):
        out.update(ANCHOR.findall(line))
        found = re.match(r"#{1,6}\s+(.*?)\s*#*$", line)
        if not found:
            continue
        words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", found[1]).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        out.add(f"{slug}-{count}" if count else slug)
    return out


def targets(line):
    line = re.sub(r"(`+)(?:(?!\1).)*\1", lambda code: "`" * len(code[0]), line)
    found = REFERENCE.match(line)
    return [target.strip("<>") for target in LINK.findall(line) + HTML.findall(line)] + ([found[1].strip("<>")] if found else [])


def mistake(target, page, tree):
    """What is wrong with a link, or nothing."""
    try:
        url = urllib.parse.urlsplit(target)
    except ValueError:
        return "is no address"
    if url.scheme or target.startswith("//"):
        if url.scheme == "mailto":
            return None if "@" in url.path else "is no address"
        good = url.scheme in ("http", "https") and re.fullmatch(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}(:\d+)?", url.netloc)
        return None if good and not re.search(r"[\s<>\"\\^{|}]", target) else "is no address"
    path = urllib.parse.unquote(url.path)
    if path.startswith("/"):
        return "starts at the root of the host: write it from the page"
    there = (page.parent / path).resolve() if path else page
    if not there.is_relative_to(tree.resolve()):
        return "leaves the tree"
    if not there.exists():
        return "names no file"
    if url.fragment and (there.suffix != ".md" or url.fragment not in anchors(there.read_text())):
        return "names no heading"
    return None


def mistakes(tree):
    out = []
    for page in pages(tree):
        for number, line in prose(page.read_text()):
            for target in targets(line):
                if wrong := mistake(target, page, tree):
                    out.append(f"{page.relative_to(tree).as_posix()}:{number}: the link {target} {wrong}")
    return out

"""What a program printed on a terminal, as an SVG that needs nothing else."""
import html
import re

WIDTH = 100            # columns
ADVANCE, LINE = 8.43, 19  # of a character at 14 pixels
MARGIN, BAR = 18, 34
# A terminal has its own background, so that the picture looks the same on a light page and on a dark one.
STYLE = ("text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace;fill:#d6dae0;white-space:pre}"
         ".b{font-weight:700}.red{fill:#ff7b72}.green{fill:#56d364}.yellow{fill:#e3b341}.blue{fill:#79c0ff}.magenta{fill:#d2a8ff}.cyan{fill:#76e3ea}"
         ".grey{fill:#9198a1}")
COLOURS = {"31": "red", "32": "green", "33": "yellow", "34": "blue", "35": "magenta", "36": "cyan", "90": "grey"}


def runs(line):
    """(text, classes) of a line with colours."""
    out, classes = [], []
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if not part.startswith("\x1b"):
            if part:
                out.append((part, " ".join(classes)))
            continue
        for number in part[2:-1].split(";"):
            if number in ("", "0"):
                classes = []
            elif number == "1":
                classes = classes + ["b"]
            elif number in COLOURS:
                classes = [name for name in classes if name == "b"] + [COLOURS[number]]
            else:
                raise SystemExit(f"docs: the picture does not know the colour {number}")
    return out


def wrapped(line):
    """The runs of each line of the terminal, broken at spaces."""
    rows, row, used = [], [], 0
    for text, classes in runs(line):
        for word in re.findall(r" +|[^ ]+", text):
            if used + len(word) > WIDTH and used:
                rows.append(row)
                row, used = [], 0
                if word.isspace():
                    continue
            row.append((word, classes))
            used += len(word)
    return rows + [row]


def joined(row):
    """Neighbours of one look are one run."""
    out = []
    for text, classes in row:
        if out and out[-1][1] == classes:
            out[-1] = (out[-1][0] + text, classes)
        else:
            out.append((text, classes))
    return out


def svg(command, output, title):
    lines = [[("$ ", "grey"), (command, "b")]]
    for line in output.rstrip("\n").split("\n"):
        lines += wrapped(line)
    width, height = round(2 * MARGIN + WIDTH * ADVANCE), BAR + len(lines) * LINE + MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">',
           f"<title>{html.escape(title)}</title>", f"<style>{STYLE}</style>",
           f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8" fill="#161b22" stroke="#484f58"/>']
    out += [f'<circle cx="{MARGIN + 2 + 18 * number}" cy="17" r="5.5" fill="{colour}"/>' for number, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))]
    for number, row in enumerate(lines):
        spans = "".join(f'<tspan class="{classes}">{html.escape(text, quote=False)}</tspan>' if classes else html.escape(text, quote=False)
                        for text, classes in joined(row))
        if spans:
            out.append(f'<text x="{MARGIN}" y="{BAR + 15 + number * LINE}" xml:space="preserve">{spans}</text>')
    return "\n".join(out + ["</svg>", ""])

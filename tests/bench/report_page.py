"""Measures the HTML page of a report in headless Chromium, and takes pictures of it to be looked at. By hand, not in CI.
Usage: report_page.py CUDAMATRIX OUT_DIR [CHROMIUM]

Reports of 6 and of 10,000 cells are made up, written as pages by `cudamatrix report`, and opened from their files. Goals for 10,000 cells:
first paint below 1 s, each filter below 100 ms (from the event to the frame that shows its result). Exit code 1 where a goal is missed or
the page says anything on the console, or a key does not do what it should. Pictures: 1280 and 390 columns, light and dark, with and without details. Standard library only."""
import base64
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

PAINT_GOAL, FILTER_GOAL = 1000, 100  # milliseconds


def test(identifier, part, status, **more):
    return {"id": identifier, "part": part, "status": status, "reason": "", "fault": "", "summary": "", "hint": "", "code_path": "", "fatbin": [],
            "milliseconds": 0.0, "metrics": [], "evidence": "", **more}


def tests_of(rng, outcome, gpu):
    groups = ("env", "static", "mem", "cmp", "tc", "con", "jit", "lib", "fault", "torch")
    out = [test(f"{group}.part{number}", "interpreted" if group in ("mem", "cmp", "tc") else "static", "pass", milliseconds=round(rng.uniform(1, 900), 1))
           for group in groups for number in range(5)]
    on_gpu = test("cmp.vadd", "gpu", "pass" if outcome == "passed" else "skip", reason="" if outcome == "passed" else "no_device")
    if outcome == "failed":
        out[7].update(status="fail", reason="not_covered", fault="F6", summary=f"no code in the image runs on {gpu}", hint="build for its architecture",
                      evidence="found 3 entries: sass 7.5, sass 8.0, ptx 8.0\nnone covers 9.0\n")
    return out + [on_gpu]


def report(number):
    """A report of so many cells: drivers x GPUs x CUDA x torch x python, one image for each CUDA, torch and python."""
    rng = random.Random(number)
    sides = {6: (3, 1, 2, 1, 1), 10000: (10, 10, 10, 5, 2)}[number]
    axes = {"driver": ["470.161.03", "510.108.03", "525.147.05", "535.183.01", "545.23.08", "550.54.15", "555.42.06", "560.35.03", "570.86.10", "580.65.06"],
            "gpu": ["T4", "V100", "A10", "A100 80GB", "L4", "L40S", "RTX 3090", "RTX 4090", "H100", "B200"],
            "cuda": ["11.8.0", "12.1.1", "12.2.2", "12.3.2", "12.4.1", "12.5.1", "12.6.3", "12.8.1", "12.9.1", "13.0.2"],
            "torch": ["2.1.2", "2.3.1", "2.5.1", "2.6.0", "2.8.0"], "python": ["3.10", "3.12"]}
    values = [names[:side] for names, side in zip(axes.values(), sides)]
    images, cells = {}, []
    for driver, gpu, cuda, torch, python in itertools.product(*values):
        verdict = "rejected" if driver < "525" and cuda >= "12" else "unknown" if gpu == "B200" and cuda < "12.8" else "degraded" if driver < "550" else "accepted"
        outcome = "skipped" if verdict in ("rejected", "unknown") else rng.choices(["passed_without_gpu", "passed", "failed", "planned"], [70, 20, 5, 5])[0]
        name = f"drv{driver}-{gpu.lower().replace(' ', '_')}-cu{cuda}-torch{torch}-py{python}"
        image = f"debian12-cu{cuda}-torch{torch}-py{python}"
        cell = {"id": name, "cell": name, "fields": {"driver": driver, "gpu": gpu, "cuda": cuda, "torch": torch, "python": python, "os": "debian12"},
                "verdict": verdict, "findings": [], "fixes": [], "outcome": outcome, "reason": "", "proof": "none", "image": "", "log": "", "seconds": 0.0, "tests": []}
        if verdict == "rejected":
            cell["reason"] = f"driver {driver} is too old for CUDA {cuda}: CUDA 12 needs >= 525.60.13"
            cell["findings"] = [f"error: {cell['reason']} [driver-supports-cuda, at runtime]", "notice: python 3.10 reached its end of life on 2026-10-31 [end-of-life, at install]"]
            cell["fixes"] = [f'driver >= 525.60.13, or cuda 11.8.0, or exclude: {{driver: "{driver}"}}', "python 3.12"]
        elif verdict == "unknown":
            cell["reason"] = f"no fact says whether CUDA {cuda} has code for the B200"
        else:
            images[image] = {"id": image, "reference": f"cudamatrix/bench:{image}", "digest": "sha256:" + f"{rng.getrandbits(256):064x}", "revision": "", "inputs": "", "proof_inputs": "",
                             "built": True, "reused": False, "runtime_bytes": rng.randrange(10**9, 9 * 10**9), "proof_bytes": 0, "seconds": round(rng.uniform(60, 400), 1),
                             "error": "", "log": f"logs/image-{image}.log"}
            cell.update(image=image, proof={"planned": "built", "failed": "built", "passed": "ran"}.get(outcome, "interpreted"))
            if outcome != "planned":
                cell.update(log=f"logs/{name}.log", seconds=round(rng.uniform(2, 60), 2), tests=tests_of(rng, outcome, gpu),
                            reason="1 of 51 tests failed" if outcome == "failed" else "")
        cells.append(cell)
    return {"schema_version": 1, "tool": "cudamatrix", "version": "0.1.0", "facts": {"date": "2026-11-21", "hash": "0123456789ab"},
            "matrix": {"name": "bench", "cells": len(cells)}, "command": "run", "engine": {"name": "docker", "why": "made up"}, "gpu": True, "exit_code": 1,
            "seconds": 4321.0, "output": "cudamatrix-out/bench", "images": list(images.values()), "cells": cells}


class Browser:
    """Chromium by its DevTools protocol over a pair of pipes."""

    def __init__(self, program, profile):
        to_read, self.to = os.pipe()
        self.back, from_write = os.pipe()
        arguments = [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen(["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{from_write}', "_", *arguments], pass_fds=(to_read, from_write), stderr=subprocess.DEVNULL)
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def read(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.back, 1 << 16)
            if not piece:
                raise SystemExit("chromium ended")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters, **({"sessionId": self.session} if self.session else {})}
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            got = self.read()
            if got.get("id") == self.number:
                if "error" in got:
                    raise SystemExit(f"{method}: {got['error']}")
                return got["result"]
            self.events.append(got)

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self.read())

    def value(self, expression):
        got = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in got:
            raise SystemExit(f"{expression}: {got['exceptionDetails']}")
        return got["result"].get("value")

    def complaints(self):
        return [event for event in self.events if event["method"] in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")]

    def show_as(self, width, height, scheme):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def press(self, key):
        more = {"text": key} if len(key) == 1 else {"Enter": {"text": "\r"}, "Escape": {"windowsVirtualKeyCode": 27}}.get(key, {})
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def picture(self, path):
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


FRAME = "await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));"

PAINT = """new Promise((done) => new PerformanceObserver((list) => {
  for (const entry of list.getEntriesByName('first-contentful-paint')) done(entry.startTime);
}).observe({ type: 'paint', buffered: true }))"""


def timed(browser, action):
    """Milliseconds of `action` until the frame that shows what it did."""
    return browser.value(f"(async () => {{ {FRAME} const start = performance.now(); {action}; {FRAME} return performance.now() - start; }})()")


def search(words):
    return f"{{ const box = document.getElementById('search'); box.value = {json.dumps(words)}; box.dispatchEvent(new Event('input')); }}"


ACTIONS = {
    "search 5": search("5"), "search h100": search("h100"), "search h100 12.4.1 covered": search("h100 12.4.1 covered"), "search nothing": search("zzzz"),
    "search cleared": search(""), "result failed": "document.querySelector('#states [data-state=failed]').click()",
    "result failed off": "document.querySelector('#states [data-state=failed]').click()",
    "filter gpu": "{ const one = document.querySelectorAll('#filter-list select')[1]; one.selectedIndex = 3; one.onchange(); }",
    "show all": "document.getElementById('clear').click()",
    "rows cuda": "{ const one = document.getElementById('rows'); one.value = 2; one.onchange(); }",
    "open a box": "document.querySelectorAll('#grid td')[15].click()",
}


def measure(browser, page):
    paints, filters = [], {name: [] for name in ACTIONS}
    for _ in range(5):
        browser.open(page)
        paints.append(browser.value(PAINT))
        for name, action in ACTIONS.items():
            filters[name].append(timed(browser, action))
    middle = lambda numbers: sorted(numbers)[len(numbers) // 2]
    print(f"{page.name}: {page.stat().st_size / 1e6:.1f} MB, first paint {middle(paints):.0f} ms (of 5: {min(paints):.0f} to {max(paints):.0f})")
    for name, numbers in filters.items():
        print(f"  {name:28} {middle(numbers):6.1f} ms (to {max(numbers):.1f})")
    return middle(paints) < PAINT_GOAL and all(middle(numbers) < FILTER_GOAL for numbers in filters.values())


def pictures(browser, page, out):
    for width, height in ((1280, 900), (390, 844)):
        for scheme in ("light", "dark"):
            browser.show_as(width, height, scheme)
            browser.open(page)
            browser.picture(out / f"{page.stem}-{width}-{scheme}.png")
            browser.value("(document.querySelector('#grid td.failed') || document.querySelector('#grid td:not(.empty)')).click()")
            browser.picture(out / f"{page.stem}-{width}-{scheme}-open.png")
            browser.value("document.querySelector('#panel .list button')?.click()")
            browser.picture(out / f"{page.stem}-{width}-{scheme}-cell.png")


def keys(browser, page):
    """What the keys do, as pairs of a key and what must then be true."""
    browser.open(page)
    focus = "document.activeElement"
    steps = [("/", f"{focus}.id === 'search'"), ("h", "document.getElementById('search').value === 'h'"), ("Escape", "document.getElementById('search').value === ''"),
             (None, "document.querySelector('#grid td').focus()"), ("ArrowRight", f"{focus}.cellIndex === 2"), ("ArrowDown", f"{focus}.closest('tr').rowIndex === 2"),
             ("ArrowLeft", f"{focus}.cellIndex === 1"), ("ArrowLeft", f"{focus}.cellIndex === 1"), ("End", f"{focus}.nextElementSibling === null"),
             ("Enter", f"!document.getElementById('panel').hidden && {focus}.id === 'panel'"), ("Escape", f"document.getElementById('panel').hidden && {focus}.tagName === 'TD'"),
             ("?", "document.getElementById('keys').open"), ("Escape", "!document.getElementById('keys').open")]
    good = True
    for key, then in steps:
        if key is not None:
            browser.press(key)
        if not browser.value(then) and key is not None:
            good = False
            print(f"{page.name}: after {key} not true: {then}")
    return good


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    out = pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    good = True
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(sys.argv[3] if len(sys.argv) > 3 else "chromium", profile)
        for number in (6, 10000):
            source, page = out / f"{number}.json", out / f"{number}.html"
            source.write_text(json.dumps(report(number)))
            written = subprocess.run([sys.argv[1], "report", str(source), "--format", "html"], capture_output=True, text=True)
            if not written.stdout:
                raise SystemExit(written.stderr)
            page.write_text(written.stdout)
            if number == 10000:
                good = measure(browser, page) and good
            good = keys(browser, page) and good
            pictures(browser, page, out)
            for complaint in browser.complaints():
                good = False
                print(json.dumps(complaint))
        os.write(browser.to, json.dumps({"id": 0, "method": "Browser.close"}).encode() + b"\0")
        browser.process.wait(30)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()

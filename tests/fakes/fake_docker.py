#!/usr/bin/env python3
"""A docker client that does nothing real: it keeps images and containers in a folder, answers the subcommands that
cudamatrix uses, logs every call, and misbehaves as asked.

FAKE_DOCKER_DIR      state folder: calls.jsonl, images.json, containers/, export/ (copied out by build --output)
FAKE_DOCKER_FAULTS   words joined by ',': see the uses of fault() below
`suite run ...` in place of a subcommand answers as the kernel suite does.

FAKE_DOCKER_VERSION  client version (20.10.24); FAKE_DOCKER_BUILDX=1: it has the buildx plugin
FAKE_DOCKER_CONTEXT  "NAME URL" of its context; FAKE_DOCKER_BUILDERS: names of builders, joined by ','

Called podman or buildah it answers in their words; FAKE_PODMAN_VERSION: release (4.3.1); FAKE_PODMAN_SERVICE=1: it works through a service.
"""
import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import sys
import time

STATE = os.environ["FAKE_DOCKER_DIR"]
PODMAN = pathlib.Path(sys.argv[0]).name in ("podman", "buildah")
FAULTS = [word for word in os.environ.get("FAKE_DOCKER_FAULTS", "").split(",") if word]
REGISTRY = pathlib.Path(__file__).with_name("registry.def")  # of the suite, copied beside this file


def tests():
    """(id, part, status) of a run without a GPU and without torch, in the order of the list."""
    for kind, text in re.findall(r'^CUDAMATRIX_(HOST|CUDA|PYTHON)_TEST\((.*)', REGISTRY.read_text(), re.M):
        words = [word.strip().strip('"') for word in text.split(",")]
        if kind == "CUDA":
            parts = ["gpu", *["cpu"][:words[4] == "true"], "interpreted"]
        else:
            more = [*["gpu"][:words[3] != "gpu"], *["cpu"][:kind == "PYTHON"]]
            parts = [words[3], *(more if words[4] == "true" else [])]
        for part in parts:
            yield words[0], part, "skip" if kind == "PYTHON" or part == "gpu" else "pass"


TESTS = list(tests())


def fault(name):
    return name in FAULTS


def log(argv):
    with open(os.path.join(STATE, "calls.jsonl"), "a", encoding="utf-8") as calls:
        calls.write(json.dumps({"argv": argv, "buildkit": os.environ.get("DOCKER_BUILDKIT", "")}) + "\n")


def load_images():
    try:
        with open(os.path.join(STATE, "images.json"), encoding="utf-8") as images:
            return json.load(images)
    except FileNotFoundError:
        return {}


def fail(text, code=1):
    sys.stderr.write(text + "\n")
    sys.exit(code)


def values(argv, flag):
    return [argv[i + 1] for i in range(len(argv) - 1) if argv[i] == flag]


def hang():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)


def version():
    if fault("version_hangs"):
        hang()
    if fault("version_garbled"):
        print("{not json")
        return
    answer = {"Client": {"Version": os.environ.get("FAKE_DOCKER_VERSION", "20.10.24+dfsg1")}, "Server": None}
    if fault("daemon_down"):
        print(json.dumps(answer))
        fail("Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?")
    answer["Server"] = {"Version": "20.10.24"}
    print(json.dumps(answer))


def info():
    if fault("daemon_down"):
        fail("Cannot connect to Podman. Please verify your connection\nError: unable to connect to Podman socket", 125)
    print(json.dumps({"host": {"serviceIsRemote": "FAKE_PODMAN_SERVICE" in os.environ},
                      "version": {"Version": os.environ.get("FAKE_PODMAN_VERSION", "4.3.1")}}))


def build(argv):
    context = argv[-1]
    target = (values(argv, "--target") or [""])[0]
    sys.stderr.write("#1 [internal] load build definition from Dockerfile\n#5 [devel 1/2] RUN true\n#5 DONE 0.1s\n")
    sys.stderr.flush()
    if fault("build_hangs"):
        hang()
    if fault("build_fails") or any(fault("build_fails:" + os.path.basename(c)) for c in [context]):
        fail("#6 ERROR: executor failed running [/bin/sh -c false]: exit code: 1\n\x1b[31mfailed to solve\x1b[0m")
    if target not in ("", "lock") and fault("stage_fails"):
        fail("Error: building at STEP \"RUN false\": exit status 1")
    if target == "lock" and any(fault("lock_fails:" + part) for part in context.split("/")):
        fail("#6 ERROR: executor failed running [/bin/sh -c apt-get update]: exit code: 100")
    for word in FAULTS:  # build_unreached:N: the first N builds do not reach the registry
        if word.startswith("build_unreached:"):
            with open(os.path.join(STATE, "unreached"), "a+", encoding="utf-8") as count:
                count.seek(0)
                if len(count.read()) < int(word.split(":")[1]):
                    count.write("x")
                    count.flush()
                    fail("#6 ERROR: failed to do request: dial tcp 192.0.2.1:443: i/o timeout")
    if fault("build_foreign"):
        fail("#6 0.1 exec /bin/sh: exec format error\n#6 ERROR: executor failed running [/bin/sh -c false]: exit code: 1")
    for output in values(argv, "--output"):
        destination = dict(part.split("=", 1) for part in output.split(","))["dest"]
        shutil.copytree(os.path.join(STATE, "export"), destination, dirs_exist_ok=True)
    digest = hashlib.sha256()
    for folder, _, names in sorted(os.walk(context)):
        for name in sorted(names):
            with open(os.path.join(folder, name), "rb") as content:
                digest.update(name.encode() + content.read())
    digest.update(repr((target, values(argv, "--label"))).encode())
    with open(os.path.join(STATE, "images.lock"), "w", encoding="utf-8") as lock:  # builds run side by side
        fcntl.flock(lock, fcntl.LOCK_EX)
        add_images(argv, target, digest)


def bake(argv):
    """Builds the named targets of its files, as `build` would with what is in them."""
    if os.environ.get("FAKE_DOCKER_BUILDX") != "1" or fault("bake_fails"):
        fail("ERROR: failed to solve: the cache does not answer")
    targets = {}
    for name in values(argv, "--file"):
        with open(name, encoding="utf-8") as document:
            for target, members in json.load(document)["target"].items():
                targets.setdefault(target, {}).update(members)
    for target in [targets[word] for word in argv if word in targets]:
        words = [word for tag in target["tags"] for word in ("--tag", tag)]
        words += [word for key, value in target["labels"].items() for word in ("--label", f"{key}={value}")]
        build([*words, *(["--file", target["dockerfile"]] if "dockerfile" in target else []), target["context"]])


def add_images(argv, target, digest):
    images = load_images()
    for tag in values(argv, "--tag"):
        images[tag] = {"Id": "sha256:" + digest.hexdigest(), "Size": 2_000_000 if "--file" in argv else 1_000_000,
                       "Config": {"Labels": dict(label.split("=", 1) for label in values(argv, "--label"))}}
    new = os.path.join(STATE, "images.json.new")
    with open(new, "w", encoding="utf-8") as out:
        json.dump(images, out)
    os.replace(new, os.path.join(STATE, "images.json"))


def inspect(reference):
    if fault("inspect_garbled"):
        print("[" * 100)
        return
    images = load_images()
    found = images.get(reference) or next((i for i in images.values() if i["Id"] == reference), None)
    if found is None:
        fail(f"Error: inspecting object: {reference}: image not known" if PODMAN else "Error: No such image: " + reference, 125 if PODMAN else 1)
    print(json.dumps([{**found, "Id": found["Id"].removeprefix("sha256:")}] if PODMAN else found))


def list_images(argv):
    key = values(argv, "--filter")[0].removeprefix("label=")
    for reference, image in sorted(load_images().items()):
        if key in image["Config"]["Labels"]:
            print(image["Id"], "<none>:<none>" if reference.startswith("sha256:") else reference)


def remove_image(reference):
    if fault("image_in_use:" + reference):
        fail(f"Error: image is in use by a container: {reference}")
    images = load_images()
    if images.pop(reference, None) is None:
        fail(f"Error: {reference}: image not known" if PODMAN else "Error: No such image: " + reference)
    with open(os.path.join(STATE, "images.json"), "w", encoding="utf-8") as out:
        json.dump(images, out)


def suite_lines(argv):
    run, cell = values(argv, "--run")[0], values(argv, "--cell")[0]
    head = {"v": 1, "run": run, "cell": cell}
    compute = (values(argv, "--compute") or ["7.5"])[0]
    parts = {}
    for test, part, _ in TESTS:
        parts.setdefault(test, []).append(part)
    if fault("plan_short"):
        del parts["static.fatbin"]
    lines = [{**head, "plan": list(parts), "parts": parts}]
    counts = {}
    for test, part, status in TESTS:
        if test not in parts or fault("missing:" + test):
            continue
        in_cell = "--expect-torch" in argv or not test.startswith("torch.")
        if in_cell and (part != "gpu" or "--gpus" in argv):
            status = "pass"
        if (fault("fail:" + test) or fault("fail:" + cell)) and status == "pass":
            status = "fail"
        line = {**head, "id": test, "part": part, "status": status, "t_ms": 5, "summary": test + " " + status}
        if status == "pass":
            line["checks"] = [{"name": "value", "ok": True}]
        if status == "skip":
            line["reason"] = "no_device" if in_cell else "not_in_cell"
        if test == "static.fatbin":
            code_path = "sass 7.0" if fault("other_code_path") else "sass " + compute
            line["evidence"] = {"fatbin": ["sass " + compute, "ptx " + compute + "@7.8"], "code_path": code_path}
        counts[status] = counts.get(status, 0) + 1
        lines.append(line)
    if fault("unknown_test"):
        lines.append({**head, "id": "forged.pass", "part": "gpu", "status": "pass"})
    if fault("forged_cell"):
        lines[1]["cell"] = "another"
    code = 1 if counts.get("fail") else 0 if "--gpus" in argv else 4
    lines.append({**head, "totals": counts, "exit": 0 if fault("forged_exit") else code})
    return lines, code


def run(argv):
    name = values(argv, "--name")[0]
    containers = os.path.join(STATE, "containers")
    os.makedirs(containers, exist_ok=True)
    # With its label from the first moment on, whenever this client is killed.
    with open(os.path.join(STATE, f"{name}.new"), "w", encoding="utf-8") as container:
        container.write(values(argv, "--label")[0])
    os.replace(os.path.join(STATE, f"{name}.new"), os.path.join(containers, name))
    if fault("run_hangs"):
        hang()
    if fault("run_floods"):
        while True:
            sys.stdout.write("x" * 65536)
    program = os.path.basename((values(argv, "--entrypoint") or [""])[0])
    if program in ("dpkg-query", "rpm", "python", "python3"):  # they list what the image holds
        os.remove(os.path.join(containers, name))
        with open(os.path.join(STATE, f"holds-{program}.txt"), encoding="utf-8", newline="") as held:
            text = held.read()
        if text == "FAIL":
            fail("no database")
        sys.stdout.write(text)
        return
    lines, code = suite_lines(argv)
    if fault("no_totals"):
        lines.pop()
    out = "".join(json.dumps(line) + "\n" for line in lines).encode()
    if fault("bad_utf8"):
        out = out.replace(b"static.compile pass", b"static.compile \xff\xfe")
    if fault("ansi"):
        out = out.replace(b"static.compile pass", b"\\u001b[2Jstatic.compile")
    if fault("garbled"):
        out = out[: len(out) // 2] + b"\x00\xff{{{" + out[len(out) // 2:]
    sys.stdout.buffer.write(out)
    sys.stdout.flush()
    sys.stderr.write("a word on \x1b[31mstderr\n")
    if fault("run_dies"):
        os.kill(os.getpid(), signal.SIGKILL)
    os.remove(os.path.join(containers, name))
    sys.exit(code)


def container_call(verb, name):
    path = os.path.join(STATE, "containers", name)
    if fault("stop_hangs") and verb in ("stop", "kill"):
        hang()
    if not os.path.exists(path):
        fail("Error: No such container: " + name)
    if verb == "rm":
        os.remove(path)
    print(name)


def ps(argv):
    wanted = values(argv, "--filter")[0].removeprefix("label=")
    folder = os.path.join(STATE, "containers")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        with open(os.path.join(folder, name), encoding="utf-8") as container:
            if container.read().startswith(wanted):
                print(name, name)


def main(argv):
    if argv[0] in ("--host", "--url"):
        argv = argv[2:]
    log(argv)
    verb = argv[0]
    if verb == "suite":  # the suite itself, as a program of the host
        lines, code = suite_lines(argv)
        print("\n".join(json.dumps(line) for line in lines))
        sys.exit(code)
    if verb == "version":
        version()
    elif argv == ["buildx", "version"]:
        if os.environ.get("FAKE_DOCKER_BUILDX") != "1":
            fail("docker: 'buildx' is not a docker command.")
        print("github.com/docker/buildx v0.13.1")
    elif argv[:2] == ["context", "inspect"]:
        print(os.environ.get("FAKE_DOCKER_CONTEXT", "default unix:///var/run/docker.sock"))
    elif argv[:2] == ["buildx", "inspect"]:
        if argv[2] not in os.environ.get("FAKE_DOCKER_BUILDERS", "").split(","):
            fail(f'ERROR: no builder "{argv[2]}" found')
    elif argv[:2] == ["buildx", "create"]:
        if os.environ.get("FAKE_DOCKER_BUILDX") != "1":
            fail("docker: 'buildx' is not a docker command.")
    elif argv[:2] == ["buildx", "bake"]:
        bake(argv)
    elif argv == ["--version"]:
        print("buildah version 1.28.2 (image-spec 1.1.0-rc2, runtime-spec 1.0.2-dev)")
    elif PODMAN and argv == ["info", "--format", "json"]:
        info()
    elif fault("daemon_dies"):
        fail("Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?")
    elif argv == ["info", "--format", "{{.SecurityOptions}}"]:
        print(os.environ.get("FAKE_DOCKER_SECURITY", "[name=seccomp,profile=builtin name=cgroupns]"))
    elif verb == "info":
        print(os.environ.get("FAKE_DOCKER_ROOT", STATE))
    elif verb == "build" or argv[:2] == ["buildx", "build"]:
        build(argv)
    elif argv[:2] == ["image", "inspect"]:
        inspect(argv[-1])
    elif argv[:2] == ["image", "ls"]:
        list_images(argv)
    elif argv[:2] == ["image", "rm"]:
        remove_image(argv[-1])
    elif verb == "run":
        run(argv)
    elif verb in ("stop", "kill", "rm"):
        container_call(verb, argv[-1])
    elif verb == "ps":
        ps(argv)
    else:
        fail("fake docker does not know " + " ".join(argv), 125)


main(sys.argv[1:])

"""Stopped at random moments, a run loses nothing that it finished: kill -9 of the whole job on a fake engine, or a signal that asks it to end, then a
second run.
Usage: kill_test.py CUDAMATRIX SOURCE_DIR [KILLS [SEED [SIGNALS]]]   (8 kills and 6 signals by default; by hand: 200 and 100)

After each kill: no torn file in the output folder, a journal of which all lines but the last are whole, and a second run that passes, repeats no
build and no test that the first had finished, and leaves nothing for `clean`. After each signal: exit code 130, no container and no process of ours, and
a second run that does at most one step again. A run in a folder in which another one is at work is refused, and changes nothing. One job at a time or
sixteen make the same files and the same report, but for the seconds."""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from job_world import World

PROGRAM, SOURCE = [pathlib.Path(a).resolve() for a in sys.argv[1:3]]
TIMES = int(sys.argv[3]) if len(sys.argv) > 3 else 8
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 20261127
SIGNALS = int(sys.argv[5]) if len(sys.argv) > 5 else 6
STAGED = (".cudamatrix-stage", ".cudamatrix-ready")  # of a render that was not committed


def containers_of(world):
    folder = world.root / "state/containers"
    return sorted(os.listdir(folder)) if folder.is_dir() else []


def once(calls, pause):
    """Kills a run `pause` seconds after it has called the engine so often; gives how many steps it had finished by then."""
    with tempfile.TemporaryDirectory(prefix="cudamatrix-kill-") as root:
        world = World(PROGRAM, root)
        process = world.start()
        while len(world.calls()) < calls and process.poll() is None:
            time.sleep(0.005)
        time.sleep(pause)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert not world.torn_files(), f"torn: {world.torn_files()}"
        built, tested = world.finished_steps()
        before = len(world.calls())
        code, said = world.finish()
        assert code == 4, f"the second run ends with {code}:\n{said}"
        again = world.calls()[before:]
        for kind, image in built:
            repeated = [words for verb, words in again
                        if verb == "build" and f"/images/{image}" in words and ("--file" in words) == (kind == "proof") and "lock" not in words]
            assert not repeated, f"{kind} {image} had ended and is repeated: {repeated}"
        for cell in tested:
            assert not [words for verb, words in again if verb == "run" and f"--cell {cell} " in words], f"{cell} had passed and is tested again"
        assert not world.torn_files(), f"torn: {world.torn_files()}"
        leftovers = [path.name for path in world.out.rglob("*") if path.name.startswith("partial-") or path.name in STAGED]
        assert not leftovers, f"left behind: {leftovers}"
        clean = subprocess.run([PROGRAM, "clean", "--engine", "docker"], env=world.environment, capture_output=True, text=True)
        assert clean.returncode == 0 and not containers_of(world), f"clean: {clean.stdout}{clean.stderr}{containers_of(world)}"
        before = len(world.calls())
        code, said = world.finish()
        repeated = [words for verb, words in world.calls()[before:] if verb in ("build", "run")]
        assert code == 4 and not repeated, f"the third run ends with {code} and does {repeated}:\n{said}"
        return len(built) + len(tested)


def processes_of(world):
    """Those that have its engine in their environment, but for zombies: they belong to whoever started them."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if str(world.root / "state").encode() in (folder / "environ").read_bytes():
                found.append(f"{folder.name} {(folder / 'cmdline').read_bytes()!r}")
        except OSError:
            pass
    return found


def step_calls(world):
    return sum(verb in ("build", "run") for verb, _ in world.calls())


def asked_to_end(number, calls, pause, steps):
    """Sends a signal to a run, `pause` seconds after it has called the engine so often; whether it was still at work."""
    which = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[number % 3]
    with tempfile.TemporaryDirectory(prefix="cudamatrix-kill-") as root:
        world = World(PROGRAM, root)
        process = world.start(jobs=1)
        while len(world.calls()) < calls and process.poll() is None:
            time.sleep(0.005)
        time.sleep(pause)
        process.send_signal(which)
        _, said = process.communicate(timeout=600)
        assert process.returncode in (130, 4), f"{which.name}: exit code {process.returncode}:\n{said}"
        assert not containers_of(world), f"{which.name} leaves {containers_of(world)}"
        assert not processes_of(world), f"{which.name} leaves {processes_of(world)}"
        assert not world.torn_files(), f"torn: {world.torn_files()}"
        world.finished_steps()
        code, said = world.finish(jobs=1)
        assert code == 4, f"the second run ends with {code}:\n{said}"
        assert step_calls(world) <= steps + 1, f"{which.name}: {step_calls(world)} steps instead of {steps}"
        return process.returncode == 130


def two_at_once():
    """The second run in one folder says that the first is there; what it was refused for goes on."""
    with tempfile.TemporaryDirectory(prefix="cudamatrix-kill-") as root:
        world = World(PROGRAM, root)
        first = world.start()
        while not world.calls() and first.poll() is None:
            time.sleep(0.005)
        refused = 0
        while first.poll() is None:
            code, said = world.finish()
            if first.poll() is not None:
                break
            expected = f"cudamatrix: error: another cudamatrix is at work in {world.out}\n  fix: wait for its end, or take another --out folder\n"
            assert (code, said) == (3, expected), f"beside another run: {code}\n{said}"
            refused += 1
        _, said = first.communicate()
        assert first.returncode == 4, f"the first run ends with {first.returncode}:\n{said}"
        assert refused, "the first run was over before the second began"
        assert not world.torn_files(), f"torn: {world.torn_files()}"
        code, said = world.finish()
        assert code == 4, f"after both: {code}\n{said}"
        return refused


def without_seconds(value):
    if isinstance(value, dict):
        return {key: without_seconds(part) for key, part in value.items() if key != "seconds"}
    return [without_seconds(part) for part in value] if isinstance(value, list) else value


def same_with_any_number_of_jobs():
    seen = []
    with tempfile.TemporaryDirectory(prefix="cudamatrix-kill-") as root:
        for jobs in (1, 16):
            world = World(PROGRAM, pathlib.Path(root) / "world")
            code, said = world.finish(jobs)
            assert code == 4, f"with {jobs} jobs the run ends with {code}:\n{said}"
            files = sorted(str(path.relative_to(world.out)) for path in world.out.rglob("*"))
            seen.append((files, without_seconds(json.loads((world.out / "report.json").read_text()))))
            shutil.rmtree(world.root)
    assert seen[0][0] == seen[1][0], f"files with 1 job {seen[0][0]}, with 16 {seen[1][0]}"
    assert seen[0][1] == seen[1][1], "the reports with 1 job and with 16 differ in more than seconds"
    return len(seen[0][0])


def main():
    with tempfile.TemporaryDirectory(prefix="cudamatrix-kill-") as root:
        world = World(PROGRAM, root)
        code, said = world.finish()
        assert code == 4, f"without a kill the run ends with {code}:\n{said}"
        whole, steps = len(world.calls()), step_calls(world)
    chance = random.Random(SEED)
    finished = []
    for number in range(TIMES):
        calls, pause = chance.randint(0, whole), chance.uniform(0, 0.1)
        try:
            finished.append(once(calls, pause))
        except AssertionError as error:
            sys.exit(f"kill {number + 1} of {TIMES}, {pause:.3f} s behind call {calls} of {whole} (seed {SEED}): {error}")
    print(f"{TIMES} kills among {whole} calls of the engine (seed {SEED}): nothing torn, nothing lost, nothing repeated; {sum(finished)} finished steps were kept, "
          f"in {sum(1 for n in finished if n)} runs")
    ended = 0
    for number in range(SIGNALS):
        calls, pause = chance.randint(1, whole), chance.uniform(0, 0.1)
        try:
            ended += asked_to_end(number, calls, pause, steps)
        except AssertionError as error:
            sys.exit(f"signal {number + 1} of {SIGNALS}, {pause:.3f} s behind call {calls} of {whole} (seed {SEED}): {error}")
    print(f"{SIGNALS} signals: {ended} runs ended with 130, the others were done; no container, no process, no step twice but the one that was ended")
    print(f"1 job and 16: the same report and the same {same_with_any_number_of_jobs()} files")
    print(f"{two_at_once()} runs beside another one: refused")


main()

"""A real Slurm of two nodes runs what `emit slurm` writes, on a fake engine: a node is drained in the middle, and `collect` and `emit --missing` finish.
Usage: slurm_test.py CUDAMATRIX SOURCE_DIR   (as root; needs slurmctld, slurmd, slurm-client and munge)"""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, SOURCE = [pathlib.Path(a).resolve() for a in sys.argv[1:3]]
sys.path.append(str(SOURCE / "tests/fakes"))
import fake_site

MATRIX = """version: 1
name: many
axes: {driver: ["550.54.15"], gpu: [T4, H100], cuda: ["11.8.0"], os: debian12}
build: {base_from: bootstrap, snapshot: none}
images:
  - {name: a, env: {MODE: a}}
  - {name: b, env: {MODE: b}}
  - {name: c, env: {MODE: c}}
emit:
  machines:
    - {when: {gpu: T4}, labels: [t4]}
    - {when: {gpu: H100}, labels: [h100]}
"""
CONF = """ClusterName=test
SlurmctldHost=localhost
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={root}/munge.socket
CredType=cred/munge
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool-%n
SlurmctldPidFile={root}/slurmctld.pid
SlurmdPidFile={root}/slurmd-%n.pid
SlurmctldLogFile={root}/slurmctld.log
SlurmdLogFile={root}/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
ReturnToService=2
MailProg=/bin/true
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports[1]} CPUs=1 Features=t4
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1 Features=h100
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Slurm(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.dir = self.root / "site"
        for name in ("state", "spool-n1", "spool-n2", "site/bin", "site/engine"):
            (self.root / name).mkdir(parents=True)
        self.env = {"PATH": f"{self.dir}/bin:{self.dir}/engine:/usr/sbin:/usr/bin:/sbin:/bin", "SLURM_CONF": str(self.root / "slurm.conf"), "HOME": str(self.root),
                    **fake_site.install(self.dir / "engine", self.dir / "fake")}
        self.start_slurm()
        self.make_site()

    def start_slurm(self):
        (self.root / "slurm.conf").write_text(CONF.format(root=self.root, ports=free_ports(3)))
        key = self.root / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        self.root.chmod(0o755)
        self.serve("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.root}/munge.socket", f"--pid-file={self.root}/munged.pid",
                   f"--log-file={self.root}/munged.log", f"--seed-file={self.root}/munged.seed")
        self.until(lambda: (self.root / "munge.socket").exists(), "munged")
        self.serve("slurmctld", "-D")
        for node in ("n1", "n2"):
            self.serve("slurmd", "-D", "-N", node)
        self.until(lambda: self.slurm("sinfo", "-h", "-o", "%T", check=False).split() == ["idle"] or
                   sorted(self.slurm("sinfo", "-h", "-N", "-o", "%T", check=False).split()) == ["idle", "idle"], "two idle nodes")

    def serve(self, *argv):
        log = open(self.root / f"{argv[0]}-{argv[-1].strip('-').replace('/', '_')[-20:]}.out", "wb")
        process = subprocess.Popen(argv, env=self.env, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        log.close()

        def end():
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.addCleanup(end)

    def make_site(self):
        """A repository, the program, a fake docker and a fake mmdebstrap, on the folder that the nodes share."""
        (self.dir / "bin/cudamatrix").symlink_to(PROGRAM)
        # On the second node nothing goes on before it may.
        fake_site.program(self.dir / "bin/docker", f'''#!/bin/sh
[ "${{SLURMD_NODENAME:-}}" != n2 ] || while [ ! -e "{self.dir}/go" ]; do sleep 0.1; done
exec "{self.dir}/engine/docker" "$@"
''')
        fake_site.program(self.dir / "bin/nvidia-smi", "#!/bin/sh\nexit 9\n")
        (self.dir / "m.yaml").write_text(MATRIX)
        self.call("lock", "m.yaml", "--engine", "docker", code=0)

    def until(self, done, what, seconds=120):
        end = time.monotonic() + seconds
        while not done():
            if time.monotonic() > end:
                logs = "".join(f"--- {log.name}\n{log.read_text(errors='replace')[-2000:]}" for log in sorted(self.root.glob("*.*")) if log.suffix in (".log", ".out"))
                self.fail(f"waited in vain for {what}\n{self.slurm('squeue', check=False)}{self.slurm('sinfo', '-N', check=False)}{logs}")
            time.sleep(0.2)

    def slurm(self, *argv, check=True):
        got = subprocess.run(argv, env=self.env, cwd=self.dir, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        if check:
            self.assertEqual(got.returncode, 0, f"{argv}\n{got.stdout}{got.stderr}")
        return got.stdout

    def call(self, *arguments, code):
        got = subprocess.run([PROGRAM, *arguments], env=self.env, cwd=self.dir, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
        self.assertEqual(got.returncode, code, f"{arguments}\n{got.stdout}{got.stderr}")
        return got.stdout

    def queued(self):
        """Jobs by state."""
        states = {}
        for state in self.slurm("squeue", "-h", "-r", "-o", "%T").split():
            states[state] = states.get(state, 0) + 1
        return states

    def submit(self, folder):
        scripts = sorted((self.dir / folder).glob("*.sbatch"))
        for script in scripts:
            self.slurm("sbatch", str(script))
        return len(scripts)

    def test_a_drained_node_and_what_is_missing(self):
        self.call("emit", "slurm", "m.yaml", "--out", "jobs", code=0)
        self.assertEqual(self.submit("jobs"), 2)
        # The node of half of the cells is drained while it works on the first of them.
        self.until(lambda: self.queued() == {"RUNNING": 1, "PENDING": 2}, "the tasks of n1, and the first of n2")
        self.slurm("scontrol", "update", "nodename=n2", "state=drain", "reason=test")
        (self.dir / "go").touch()
        self.until(lambda: self.queued() == {"PENDING": 2}, "the first task of n2")

        collected = self.call("collect", "m.yaml", "cudamatrix-out/many-results", code=1)
        self.assertTrue(collected.endswith("no machine answered: 2 cells\n  drv550.54.15-h100-cu11.8.0-debian12@b\n  drv550.54.15-h100-cu11.8.0-debian12@c\n"), collected)
        self.slurm("scancel", "--state=PENDING", "--user=root")
        self.until(lambda: not self.queued(), "an empty queue")

        # A week later the node is back: only what is missing is asked for.
        self.slurm("scontrol", "update", "nodename=n2", "state=resume")
        self.call("emit", "slurm", "m.yaml", "--missing", "cudamatrix-out/many-results", "--out", "again", code=0)
        script = "".join(path.read_text() for path in sorted((self.dir / "again").glob("*.sbatch")))
        self.assertEqual((script.count("cudamatrix run"), script.count("--constraint=h100"), script.count("--constraint=t4")), (2, 1, 0))
        self.assertEqual(self.submit("again"), 1)
        self.until(lambda: not self.queued(), "the tasks of n2")

        report = json.loads(self.call("collect", "m.yaml", "cudamatrix-out/many-results", "--accept-static", "--format", "json", code=0))
        self.assertEqual(sorted({cell["outcome"] for cell in report["cells"]}), ["passed_without_gpu"], report["cells"])
        self.assertEqual(len(report["cells"]), 6)
        self.assertEqual(self.call("emit", "slurm", "m.yaml", "--missing", "cudamatrix-out/many-results", "--out", "never", code=0),
                         "many: every cell was answered, there is nothing to emit\n")
        self.assertFalse((self.dir / "never").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])

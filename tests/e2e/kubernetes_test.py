"""What `emit kubernetes` writes is what the Kubernetes client library knows: nothing is lost when it reads a manifest and writes it again.
Usage: PYTHON_WITH_KUBERNETES kubernetes_test.py CUDAMATRIX SOURCE_DIR"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import kubernetes.client
import ruamel.yaml

PROGRAM, SOURCE = [pathlib.Path(a).resolve() for a in sys.argv[1:3]]
MODELS = {"Job": "V1Job", "NetworkPolicy": "V1NetworkPolicy"}
MATRIX = """version: 1
name: Many_images
axes: {gpu: [T4, H100, RTX 4090], driver: ["580.65.06", "580"], cuda: ["11.8.0", "13.4.3"], kernel_module: [open, proprietary]}
include: [{gpu: T4, driver: "580.65.06", torch: 2.6.0+cu124, python: "3.11", shm_gb: 8}]
set: {family: debian, os: debian12}
emit: {registry: registry.example.org/team, kubernetes: {namespace: gpu-tests, queue: team-a}}
"""


class Manifests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        (self.dir / "m.yaml").write_text(MATRIX)
        subprocess.run([PROGRAM, "emit", "kubernetes", "m.yaml", "--out", "k"], cwd=self.dir, check=True, capture_output=True)
        self.documents = [document for path in sorted((self.dir / "k").glob("*.yaml")) for document in ruamel.yaml.YAML(typ="safe").load_all(path.read_text())]
        self.jobs = [document for document in self.documents if document["kind"] == "Job"]

    def test_the_client_reads_and_writes_them_without_a_loss(self):
        for document in self.documents:
            read = getattr(kubernetes.client, MODELS[document["kind"]]).from_dict(document)
            self.assertEqual(kubernetes.client.ApiClient().sanitize_for_serialization(read), document)
        self.assertGreater(len(self.jobs), 5)

    def test_names_are_unique_and_legal(self):
        names = [job["metadata"]["name"] for job in self.jobs]
        self.assertEqual(len(set(names)), len(names))
        for name in names:
            self.assertRegex(name, r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")

    def test_an_index_for_each_cell_and_every_cell_once(self):
        seen = []
        for job in self.jobs:
            spec = job["spec"]
            args = spec["template"]["spec"]["containers"][0]["args"]
            cells = [args[at + 1] for at, word in enumerate(args) if word == "--cell"]
            self.assertEqual((args[:2], args.count("--") + 1), (["pick", "$(JOB_COMPLETION_INDEX)"], spec["completions"]))
            self.assertEqual((spec["completionMode"], spec["parallelism"], len(cells)), ("Indexed", spec["completions"], spec["completions"]))
            self.assertEqual(cells, job["metadata"]["annotations"]["io.cudamatrix/cells"].split())
            seen += cells
        self.assertEqual(len(set(seen)), len(seen))
        self.assertGreater(max(job["spec"]["completions"] for job in self.jobs), 1)
        listed = json.loads(subprocess.run([PROGRAM, "list", "m.yaml", "--images", "--format", "json"], cwd=self.dir, check=True, capture_output=True).stdout)
        self.assertEqual(sorted(seen), sorted(cell for image in listed["images"] for cell in image["cells"]))

    def test_pods_are_hardened(self):
        for job in self.jobs:
            pod = job["spec"]["template"]["spec"]
            container = pod["containers"][0]
            self.assertEqual(pod["securityContext"], {"runAsNonRoot": True, "runAsUser": 65532, "runAsGroup": 65532, "seccompProfile": {"type": "RuntimeDefault"}})
            self.assertEqual(container["securityContext"], {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}})
            self.assertEqual((pod["automountServiceAccountToken"], pod["restartPolicy"], container["command"]), (False, "Never", ["/opt/cudamatrix/bin/suite"]))
            self.assertEqual(container["resources"]["limits"]["nvidia.com/gpu"], "1")
            self.assertRegex(container["image"], r"^registry\.example\.org/team/cudamatrix/\S+-[0-9a-f]{12}-proof$")
            self.assertEqual([next(iter(volume)) for volume in pod["volumes"]], ["name", "name"])
            self.assertTrue(all("emptyDir" in volume for volume in pod["volumes"]))
        policy = next(document for document in self.documents if document["kind"] == "NetworkPolicy")
        self.assertEqual(policy["spec"]["policyTypes"], ["Ingress", "Egress"])
        self.assertEqual(policy["spec"]["podSelector"]["matchLabels"], self.jobs[0]["spec"]["template"]["metadata"]["labels"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])

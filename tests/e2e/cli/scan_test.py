"""The command line as a user meets it: scan. Usage: scan_test.py CUDAMATRIX [unittest arguments]"""
import json
import zipfile

from cli import GOOD, Cli, container, entry, layer, library, main

# Two libraries, of which the second layer takes one away.
LAYERS = [[("usr/lib/a.so", library(container(entry(2, 75)))), ("usr/lib/b.so", library(container(entry(2, 80))))], [("usr/lib/.wh.a.so", b"")]]


class Scan(Cli):
    def test_scan_of_files_folders_and_wheels(self):
        code = container(entry(2, 75), entry(2, 90, 0x108011), entry(1, 90, isa=(8, 4)))
        self.write(library(code), "env/lib.so")
        self.write("text", "env/note.txt")
        with zipfile.ZipFile(self.dir / "a.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
            wheel.writestr("pkg/lib.so", library(code))
            wheel.writestr("pkg/__init__.py", "import os\n")
        for target, path in (("env/lib.so", "env/lib.so"), ("env", "lib.so"), ("a.whl", "pkg/lib.so")):
            with self.subTest(target):
                got = self.call("scan", target, "--format", "json")
                self.assertEqual((got.returncode, got.stderr), (0, ""))
                (found,) = json.loads(got.stdout)["libraries"]
                self.assertEqual((found["path"], found["entries"], found["sass"], found["ptx"], found["bytes"]), (path, 3, ["7.5", "9.0a"], ["9.0"], 24))
        asked = ["--gpu", "T4,H100", "--compute", "12.0", "--driver", "535.183.01,550.54.15"]
        got = self.call("scan", "env", "a.whl", *asked, "--format", "json", "--out", "reports", code=1)
        document = json.loads(got.stdout)
        self.assertEqual(self.read("reports/scan.json"), got.stdout)
        code_paths = [answer["code_path"] for answer in document["libraries"][0]["answers"]]
        self.assertEqual(code_paths, ["sass", "sass", "sass", "sass", "none", "ptx_jit"])
        (finding, again) = document["findings"]
        self.assertEqual((finding["rule"], finding["stage"], finding["severity"], finding["library"]), ("library-has-code-for-gpu", "runtime", "error", "lib.so"))
        self.assertIn("ptx 9.0 is PTX ISA 8.4, the driver knows up to 8.2", finding["message"])
        self.assertEqual((again["target"], again["library"]), ("a.whl", "pkg/lib.so"))
        self.call("scan", "env", "--gpu", "T4", code=0)

    def notes_of_image(self, *target, env=None):
        """Scans an image of LAYERS: what is said of it."""
        document = self.json_of("scan", *target, "--gpu", "T4", env=env, code=1)
        (found,) = document["libraries"]
        self.assertEqual((found["path"], found["sass"]), ("usr/lib/b.so", ["8.0"]))
        self.assertEqual((document["targets"][0]["kind"], document["targets"][0]["files"]), ("image", 2))
        return document["targets"][0]["notes"]

    def test_scan_of_images(self):
        layers = [layer(*LAYERS[0]), layer(*LAYERS[1])]
        manifest = json.dumps([{"Config": "c.json", "RepoTags": ["a:1"], "Layers": ["0/layer.tar", "1/layer.tar"]}]).encode()
        saved = layer(("0/layer.tar", layers[0]), ("1/layer.tar", layers[1]), ("manifest.json", manifest))
        self.write(saved, "image.tar")
        self.write("#!/bin/sh\n[ \"$1 $2 $3\" = 'image save a:1' ] || { echo no such image >&2; exit 1; }\nexec /bin/cat image.tar\n", "docker")
        (self.dir / "docker").chmod(0o755)
        # A docker of the system is found beside PATH too: it has no daemon here.
        env = {"PATH": str(self.dir), "DOCKER_HOST": f"unix://{self.dir}/no.sock"}
        for target in ("image.tar", "docker:a:1"):
            with self.subTest(target):
                notes = self.notes_of_image(target, env=env)
                self.assertEqual(notes, ["2 layers", "1 file with device code replaced or removed by later layers"])
        self.write(saved[:3000], "cut.tar")
        self.write(GOOD)
        for code, arguments, needle in ((3, ["docker:b"], "no such image"), (3, ["podman:a"], "podman:a: no program podman on PATH"), (2, ["cut.tar"], "cut off"),
                                        (2, ["docker:--output=x"], "is not an image name"), (2, ["matrix.yaml", "--cell", "drv1"], "has no such cell"),
                                        (2, ["matrix.yaml", "a", "--cell", "x"], "several targets"), (2, ["image.tar", "--cell", "x"], "image.tar"),
                                        (3, ["matrix.yaml", "--cell", "drv535.183.01-t4-cu11.8.0-debian12-debian"], "engine docker")):
            self.refused("scan", *arguments, env=env, says=needle, code=code)

    def test_scan_of_an_image_in_a_registry(self):
        def put(content, kind, tag=None):
            return self.put_blob("cuda", content, tag, f"application/vnd.oci.image.{kind}")
        layers = [layer(*members, mode="w:gz") for members in LAYERS]
        blobs = [put(each, "layer.v1.tar+gzip") for each in layers]
        image = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "layers": [*blobs, blobs[1]],
                 "config": put(b'{"os":"linux","architecture":"amd64"}', "config.v1+json")}
        single = put(json.dumps(image).encode(), "manifest.v1+json", "single")
        index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
                 "manifests": [{**single, "platform": {"os": "linux", "architecture": "amd64"}}]}
        put(json.dumps(index).encode(), "index.v1+json", "12.4")
        host = self.serve_registry()
        for target, more in ((f"{host}/plain/cuda:12.4", []), (f"registry:{host}/token/cuda:single", []), ("docker.io/cuda:12.4", ["--mirror", f"docker.io/library={host}/plain"]),
                             (f"{host}/plain/cuda@{single['digest']}", []), ("registry:index.invalid/cuda:12.4", ["--mirror", f"index.invalid={host}/plain"])):
            with self.subTest(target):
                self.assertEqual(self.notes_of_image(target, *more)[:3], ["3 layers", "1 file with device code replaced or removed by later layers",
                                                                       f"{single['digest']} checked"])
        torn = layer(("usr/lib/a.so", library(container(entry(2, 75)))), mode="w:gz")[:-9]
        put(json.dumps({**image, "layers": [put(torn, "layer.v1.tar+gzip")]}).encode(), "manifest.v1+json", "torn")
        put(json.dumps({**image, "layers": [{**blobs[0], "digest": "sha256:" + "4" * 64}]}).encode(), "manifest.v1+json", "lies")
        self.write(layers[0], "store/cuda/blobs/" + "4" * 64)
        for code, arguments, needle in ((2, [f"{host}/plain/cuda:none"], "manifest unknown"), (2, [f"{host}/plain/cuda:12.4", "--arch", "aarch64"], "arm64"),
                                        (3, [f"{host}/deny/cuda:12.4"], "403"), (3, [f"{host}/plain/cuda:lies"], "4" * 64), (2, [f"{host}/plain/cuda:torn"], "cut off"),
                                        (2, ["registry:UPPER/x:1"], "UPPER"), (2, ["registry:x:1", "--mirror", "x"], "invalid --mirror"), (2, ["nowhere/x:1"], "nowhere/x:1")):
            self.refused("scan", *arguments, says=needle, code=code)

    def test_scan_looks_everywhere_before_it_says_that_code_is_missing(self):
        hidden = library(container(entry(2, 75)), b".ldata")
        self.write(hidden, "hidden.so")
        self.assertIn("no device code", self.call("scan", "hidden.so").stdout)
        self.assertIn("sass 7.5", self.call("scan", "hidden.so", "--deep").stdout)
        both = library(container(entry(2, 75))) + container(entry(2, 100))
        self.write(both, "both.so")
        self.assertNotIn("10.0", self.call("scan", "both.so").stdout)
        got = self.call("scan", "both.so", "--compute", "10.0", code=0)
        self.assertIn("sass 10.0", got.stdout)

    def test_scan_of_what_is_none(self):
        self.write("hello, world", "text")
        self.write(library(container(entry(2, 75)))[:-1], "cut.so")
        self.write("no zip", "no.whl")
        for arguments, needle in ((["nowhere"], "cannot read nowhere"), (["text"], "neither an ELF file"), (["cut.so"], "lies outside the file"),
                                  (["no.whl"], "no.whl"), (["nowhere.whl"], "cannot read nowhere.whl"), (["text", "--gpu", "T5"], "no fact knows this GPU"), (["text", "--compute", "75"], "7.5"),
                                  (["text", "--driver", "535"], "--gpu"), (["text", "--gpu", "T4", "--driver", "new"], "535"), ([], "TARGET")):
            self.refused("scan", *arguments, says=needle)


if __name__ == "__main__":
    main()

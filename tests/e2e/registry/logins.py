"""Credentials, tokens and certificates. Part of registry_test.py."""
import base64
import io
import json
import subprocess
import tarfile

import loopback
import stand_ins
import token_service
from world import (LOGIN_REGISTRY, PASSWORD, PROGRAM, PYTHON, REGISTRY, ROCKY_CUDA, TLS_REGISTRY, TOKENS, TOKEN_REGISTRY, USER, WORK,
                   RegistryTest, World, cells_of_families, cudamatrix, docker, forget_images, matrix, real_name,
                   start_registry)


class Logins(RegistryTest):
    def test_credentials_of_docker_are_used_and_appear_nowhere(self):
        hashed = subprocess.run(["perl", "-e", "print crypt($ARGV[0], '$2b$05$abcdefghijklmnopqrstuu')", PASSWORD], capture_output=True, text=True)
        users = WORK / "users"
        users.write_text(f"{USER}:{hashed.stdout}\n", encoding="utf-8")
        start_registry(LOGIN_REGISTRY, {"htpasswd": {"realm": "test", "path": str(users)}})
        path = matrix("login", [cells_of_families()["plain"][2]], LOGIN_REGISTRY)
        folder = WORK / "docker-config"
        folder.mkdir()
        env = {"DOCKER_CONFIG": str(folder)}
        refused = self.done(cudamatrix("lock", path, env=env), 3)
        self.assertIn("it does not let itself be read (401): it wants credentials, and none were found", refused.stderr)
        secret = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        (folder / "config.json").write_text(json.dumps({"auths": {LOGIN_REGISTRY: {"auth": base64.b64encode(b"reader:wrong-word").decode()}}}))
        wrong = self.done(cudamatrix("lock", path, env=env), 3)
        self.assertIn("the credentials from", wrong.stderr)
        (folder / "config.json").write_text(json.dumps({"auths": {LOGIN_REGISTRY: {"auth": secret}}}))
        locked = self.done(cudamatrix("lock", path, env=env))
        # No layer of the other registry is taken for it.
        forget_images()
        report = self.build(path, env=env)
        image = report["images"][0]["reference"]
        said = [locked, wrong, refused, json.dumps(report), docker("image", "inspect", image), docker("history", "--no-trunc", image)]
        said = "\n".join(s if isinstance(s, str) else s.stdout + s.stderr for s in said)
        said += "".join(f.read_text(errors="replace") for f in (WORK / "login").rglob("*") if f.is_file() and f.suffix != ".tar")
        for word in (PASSWORD, secret, "wrong-word"):
            self.assertNotIn(word, said)

    def test_tokens_are_fetched_and_are_enough(self):
        service = token_service.TokenService(WORK / "tokens", USER, PASSWORD)
        service.open(8001)
        start_registry(TOKEN_REGISTRY, service.auth(TOKENS))
        path = matrix("token", [cells_of_families()["plain"][2]], TOKEN_REGISTRY)
        folder = WORK / "token-config"
        folder.mkdir()
        env = {"DOCKER_CONFIG": str(folder)}
        name = PYTHON.partition(":")[0]

        def credentials(password):
            login = base64.b64encode(f"{USER}:{password}".encode()).decode()
            (folder / "config.json").write_text(json.dumps({"auths": {TOKEN_REGISTRY: {"auth": login}}}))

        nobody = self.done(cudamatrix("lock", path, env=env), 3)
        self.assertIn(f"{TOKEN_REGISTRY}/{name}: {TOKENS} gives no token for it (401): it wants credentials, and none were found",
                      nobody.stderr)
        credentials("wrong-word")
        self.assertIn("are not enough", self.done(cudamatrix("lock", path, env=env), 3).stderr)
        credentials(PASSWORD)
        # The registry looks at what is signed, and at what for: our client resolves by it, and the engine pulls by its own.
        self.done(cudamatrix("lock", path, env=env))
        locked = self.lock_of("token")["references"][real_name(PYTHON)]["digest"]
        self.assertEqual(locked, stand_ins.digest_of(REGISTRY, PYTHON))
        wanted = ({"service": [token_service.NAME], "scope": [f"repository:{name}:pull"]}, True)
        self.assertIn(wanted, [({k: query.get(k) for k in ("service", "scope")}, known) for query, known in service.asked])

    def test_the_authority_of_a_site_is_all_that_its_certificates_need(self):
        authority, certificate, key = stand_ins.certificate(WORK / "tls")
        gateway, registry = "https://localhost:8443", f"https://{TLS_REGISTRY}"
        World.gateway.open(8443, certificate, key)
        start_registry(TLS_REGISTRY, tls={"certificate": str(certificate), "key": str(key)})
        plain, _, cpu = cells_of_families()["plain"]
        refused = self.done(cudamatrix("lock", matrix("tls", [cpu], registry, gateway=gateway)), 3)
        self.assertIn(f"{registry}/v2/", refused.stderr)
        self.assertIn("certificate", refused.stderr)
        refused = self.done(cudamatrix("lock", matrix("tls", [plain], gateway=gateway)), 3)
        self.assertIn("the base of bookworm cannot be bootstrapped", refused.stderr)
        # The registry is read by our own client alone: engines speak plain http to the loopback.
        command = [PROGRAM, "scan", f"docker.io/{PYTHON.partition('/')[2]}", "--mirror", f"docker.io={registry}/hub"]
        self.assertEqual(subprocess.run(command, capture_output=True).returncode, 3)
        scanned = subprocess.run([*command, "--ca-bundle", authority], capture_output=True, text=True)
        self.assertEqual(scanned.returncode, 0, scanned.stderr)
        path = matrix("tls", [plain], gateway=gateway, build=f", ca_bundle: {authority}")
        self.done(cudamatrix("lock", path))
        image, = self.build(path)["images"]
        self.assertEqual(image["error"], "")
        line = authority.read_text().splitlines()[1]
        found = docker("run", "--rm", "--network", "none", image["reference"], "grep", "-rlF", "--exclude-dir=proc", "--exclude-dir=sys", line, "/", check=False)
        self.assertEqual(found.stdout, "")

    def test_dnf_has_the_credentials_of_the_netrc_file_and_no_layer_has_them(self):
        gateway = "http://127.0.0.1:8002"
        World.gateway.open(8002, login=f"{USER}:{PASSWORD}")
        netrc = WORK / "dnf.netrc"
        cell = {"family": "nvidia-cuda", "cuda": ROCKY_CUDA, "os": "rockylinux9", "flavour": "base", "driver": "580.65.06", "gpu": "T4"}
        path = matrix("dnf_login", [cell], gateway=gateway, build=f", netrc: {netrc}", images=[{"name": "app", "apt": ["git"]}])
        netrc.write_text(f"machine 127.0.0.1 login {USER} password of-somebody-else\n")
        refused = self.done(cudamatrix("lock", path), 1)
        self.assertIn("Failed to download metadata for repo 'baseos'", refused.stderr)
        netrc.write_text(f"machine elsewhere.example.org login a password b\nmachine 127.0.0.1\n login {USER}\n password {PASSWORD}\n")
        self.done(cudamatrix("lock", path))
        self.done(cudamatrix("render", path, "--locked"))
        folder = self.dockerfiles("dnf_login")[0].parent
        docker("build", "--network", "host", "--secret", f"id=netrc,src={netrc}", "--target", "runtime", "--tag", "dnf_login", str(folder))
        self.assertEqual(docker("run", "--rm", "--network", "none", "dnf_login", "rpm", "-q", "--qf", "%{NAME}\n", "git"), "git\n")
        saved = WORK / "dnf_login.tar"
        docker("save", "--output", str(saved), "dnf_login")
        with tarfile.open(saved) as image:
            for layer in image:
                if not layer.isfile():
                    continue
                content = image.extractfile(layer).read()
                try:
                    with tarfile.open(fileobj=io.BytesIO(content)) as files:
                        texts = [files.extractfile(f).read() for f in files if f.isfile()]
                except tarfile.ReadError:
                    texts = [content]
                self.assertFalse(any(PASSWORD.encode() in text for text in texts), layer.name)
        saved.unlink()

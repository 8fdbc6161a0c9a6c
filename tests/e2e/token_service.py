"""The service that a registry with token authentication sends its clients to: it knows one user, and signs what that user may do.
What it signs is checked by the registry itself (docker-registry, `auth: token`).

    service = TokenService(FOLDER, "reader", "PASSWORD")
    service.open(8001)
    config["auth"] = service.auth("http://127.0.0.1:8001/token")"""
import base64
import http.server
import json
import subprocess
import threading
import time
import urllib.parse

NAME = "registry of a test"
ISSUER = "token service of a test"


def encoded(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


class TokenService:
    def __init__(self, folder, user, password):
        folder.mkdir()
        self.key, self.certificate = folder / "key.pem", folder / "certificate.pem"
        self.login = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
        self.asked = []  # query and whether somebody logged in, as they came
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=" + ISSUER.replace(" ", "-"),
                        "-keyout", self.key, "-out", self.certificate], check=True, capture_output=True)

    def auth(self, realm):
        """The registry's own settings."""
        return {"token": {"realm": realm, "service": NAME, "issuer": ISSUER, "rootcertbundle": str(self.certificate)}}

    def token(self, scopes):
        lines = self.certificate.read_text().splitlines()
        now = int(time.time())
        access = [dict(zip(("type", "name", "actions"), (*scope.rsplit(":", 1)[0].split(":", 1), scope.rsplit(":", 1)[1].split(","))))
                  for scope in scopes]
        header = {"typ": "JWT", "alg": "RS256", "x5c": ["".join(line for line in lines if "CERTIFICATE" not in line)]}
        claims = {"iss": ISSUER, "sub": "", "aud": NAME, "exp": now + 300, "nbf": now - 10, "iat": now, "jti": str(now), "access": access}
        signed = ".".join(encoded(json.dumps(part).encode()) for part in (header, claims))
        signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", self.key], input=signed.encode(), capture_output=True, check=True)
        return f"{signed}.{encoded(signature.stdout)}"

    def open(self, port):
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
                known = self.headers.get("Authorization") == service.login
                service.asked.append((query, known))
                body = json.dumps({"token": service.token(query.get("scope", []))} if known else
                                  {"errors": [{"code": "UNAUTHORIZED", "message": "who are you?"}]}).encode()
                self.send_response(200 if known else 401)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()

#!/usr/bin/env python3
"""A loopback image registry, good or bad: the first part of a repository names the behaviour, the rest a folder
with manifests/TAG and blobs/HEX under the root.

  plain      as it should be                  nohead     HEAD is not answered (405)
  nodigest   HEAD without a digest            liehead    HEAD with another digest
  liebody    other bytes than the digest's    lieheader  GET with another digest than its bytes have
  token      a token for everyone             login      a token for user:secret only
  refresh    a token for an identity token    expire     tokens are good for two requests
  deny       403 whatever is sent             basic      Basic authentication, user:secret
  digestauth a challenge that is not known    badrealm   a token from a realm that is no URL
  notoken    a realm that gives no token      away-PORT  a token, and blobs at that port under /plain/HEX
  busy-N     503 for the first N requests     wait-N     429 with Retry-After: N
  torn       a blob's transfer ends early, the first three times, ranges answered
  whole      the same, ranges ignored         other      the same, ranges answered with another part
  pages      tags two at a time               endless    a page of tags that follows itself
  strayed    ... that follows at another host hostile    tags that are none
It prints the port that it listens on and, for each request, "METHOD path range authorization".
"""
import base64
import hashlib
import http.server
import json
import pathlib
import sys
import threading
import urllib.parse

ROOT = pathlib.Path(sys.argv[1])
USER = "Basic " + base64.b64encode(b"user:secret").decode()
INDEX = "application/vnd.oci.image.index.v1+json"
seen = {}
uses = {}
lock = threading.Lock()


def digest_of(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def send_all(self, status, headers=(), body=b"", length=None):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        if length is not None:
            self.wfile.flush()
            self.close_connection = True

    def error(self, status, code, headers=()):
        body = json.dumps({"errors": [{"code": code, "message": code.lower()}]}).encode()
        self.send_all(status, headers, body)

    def read_form(self):
        return urllib.parse.parse_qs(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())

    def do_HEAD(self):
        self.do_GET()

    def do_POST(self):
        self.do_GET()

    def do_GET(self):
        sent = self.headers.get("Authorization", "-")
        with lock:
            key = (self.command, self.path)
            self.times = seen[key] = seen.get(key, 0) + 1
            print(self.command, self.path, self.headers.get("Range", "-"), sent, flush=True)
        path, _, query = self.path.partition("?")
        if path.startswith("/status-204/"):
            return self.send_all(204)
        if path == "/token":
            return self.token(urllib.parse.parse_qs(query))
        parts = path.split("/")
        if len(parts) < 6 or parts[1] != "v2":
            return self.send_all(404)
        self.behaviour, self.repository, kind, what = parts[2], "/".join(parts[3:-2]), parts[-2], parts[-1]
        if not self.allowed(sent):
            return None
        if self.behaviour.startswith("busy-") and self.times <= int(self.behaviour[5:]):
            return self.send_all(503)
        if self.behaviour.startswith("wait-"):
            return self.error(429, "TOOMANYREQUESTS", [("Retry-After", self.behaviour[5:])])
        folder = ROOT / self.repository
        if not folder.is_dir():
            return self.error(404, "NAME_UNKNOWN")
        if kind == "manifests":
            return self.manifest(folder, what)
        return self.tags(folder, query) if kind == "tags" else self.blob(folder, what)

    # A token names its behaviour and the scope that it is for.
    def token(self, query):
        sent = self.headers.get("Authorization", "-")
        form = self.read_form() if self.command == "POST" else query
        behaviour = form["service"][0]
        if behaviour == "notoken":
            return self.send_all(200, body=b"{}")
        if behaviour == "login" and sent != USER:
            return self.send_all(401)
        if behaviour == "refresh" and form.get("refresh_token") != ["identity"]:
            return self.send_all(401)
        name = "access_token" if self.command == "POST" else "token"
        value = f"{behaviour} {form['scope'][0]} {self.times}".encode().hex()
        return self.send_all(200, body=json.dumps({name: value}).encode())

    def allowed(self, sent):
        behaviour = self.behaviour
        here = f"http://{self.headers.get('Host')}/token"
        challenge = None
        if behaviour in ("token", "login", "refresh", "expire", "badrealm", "notoken") or behaviour.startswith("away-"):
            realm = "ftp://nowhere" if behaviour == "badrealm" else here
            challenge = f'Bearer realm="{realm}",service="{behaviour}",scope="repository:x:push"'
            scope = f"repository:{behaviour}/{self.repository}:pull"
            if sent.startswith("Bearer " + f"{behaviour} {scope} ".encode().hex()):
                uses[sent] = uses.get(sent, 0) + 1
                if behaviour != "expire" or uses[sent] <= 2:
                    return True
        elif behaviour == "basic":
            challenge = 'Basic realm="here"'
            if sent == USER:
                return True
        elif behaviour == "digestauth":
            challenge = 'Digest realm="here", nonce="x"'
        elif behaviour == "deny":
            self.error(403, "DENIED")
            return False
        else:
            return True
        self.error(401, "UNAUTHORIZED", [("WWW-Authenticate", challenge)])
        return False

    def manifest(self, folder, what):
        behaviour = self.behaviour
        files = sorted((folder / "manifests").iterdir())
        found = [f for f in files if f.name == what or digest_of(f.read_bytes()) == what]
        if not found:
            return self.error(404, "MANIFEST_UNKNOWN")
        content = found[0].read_bytes()
        digest = digest_of(content)
        if self.command == "HEAD":
            if behaviour == "nohead":
                return self.send_all(405)
            digest = digest_of(b"other") if behaviour == "liehead" else digest
            return self.send_all(200, [] if behaviour == "nodigest" else [("Docker-Content-Digest", digest)],
                                 length=len(content))
        if behaviour == "liebody":
            content += b" "
        if behaviour == "lieheader":
            digest = digest_of(b"other")
        headers = [("Content-Type", INDEX)]
        if behaviour not in ("liebody", "nodigest"):
            headers.append(("Docker-Content-Digest", digest))
        return self.send_all(200, headers, content)

    def blob(self, folder, what):
        path = folder / "blobs" / what.replace("sha256:", "")
        if self.behaviour.startswith("away-"):
            return self.send_all(307, [("Location", f"http://127.0.0.1:{self.behaviour[5:]}/plain/{path.name}")])
        if not path.is_file():
            return self.error(404, "BLOB_UNKNOWN")
        content = path.read_bytes() + (b"!" if self.behaviour == "liebody" else b"")
        if self.behaviour not in ("torn", "whole", "other"):
            return self.send_all(200, body=content)
        asked = self.headers.get("Range", "")
        start = int(asked[6:-1]) if asked and self.behaviour != "whole" else 0
        if self.behaviour == "other" and start:
            start += 1
        end = min(len(content), (self.times * len(content)) // 4) if self.times < 4 else len(content)
        headers = [("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")] if start else []
        length = len(content) - start
        return self.send_all(206 if start else 200, headers, content[start:end], length if end < len(content) else None)

    def tags(self, folder, query):
        names = sorted(f.name for f in (folder / "manifests").iterdir())
        headers = []
        if self.behaviour == "pages":
            last = urllib.parse.parse_qs(query).get("last", [""])[0]
            rest = [name for name in names if name > last]
            names = rest[:2]
            if len(rest) > 2:
                headers = [("Link", f'<{self.path.split("?")[0]}?n=2&last={names[-1]}>; rel="next"')]
        if self.behaviour == "endless":
            headers = [("Link", f'<{self.path}>; rel="next"')]
        if self.behaviour == "strayed":
            headers = [("Link", '<http://registry.example.org/v2/x/tags/list>; rel="next"')]
        if self.behaviour == "hostile":
            names = ["good", "bad\x1b[31m"]
        body = {"name": self.repository, "tags": names or None}
        return self.send_all(200, headers, json.dumps(body).encode())


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print("port", server.server_address[1], flush=True)
server.serve_forever()

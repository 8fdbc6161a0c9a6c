#!/usr/bin/env python3
"""A loopback HTTP server that serves a folder, well or badly: the first part of a path names the behaviour.

  /plain/FILE          ranges, ETag            /ignore-range/FILE   always the whole file
  /other-range/FILE    one byte too late       /no-content-range/F  206 without saying which bytes
  /odd-range/FILE      a malformed range       /short/FILE          206 with fewer bytes than it says
  /long/FILE           206 with more bytes     /tear/FILE           half of the body, then the connection ends
  /tear-once/FILE      ... the first time      /busy-N/FILE         503 with Retry-After: 0 for the first N requests
  /wait-N/FILE         429 with Retry-After: N /status-N/FILE       that status
  /redirect/REST       302 to /REST            /loop/FILE           302 to itself
  /swap/FILE           another ETag each time  /grow/FILE           another length each time
  /auth/FILE           401 without user:secret /elsewhere/PORT/REST 302 to that port
  /tagged/FILE         an ETag, and 304 to whoever has it
  /needs-fresh/FILE    302 to a link that is good for one request
  /endless-N/...       status N (302: to /plain/FILE) and a body without an end
  /headers/...         headers without an end
  /bomb/...            1 GB of zeros, as 1 MB of gzip
It prints the port that it listens on and, for each request, "GET path range authorization", or HEAD.
"""
import base64
import hashlib
import http.server
import itertools
import pathlib
import ssl
import sys
import threading
import zlib

ROOT = pathlib.Path(sys.argv[1])
TYPES = {".html": "text/html; charset=utf-8", ".json": "application/vnd.pypi.simple.v1+json"}
seen = {}
lock = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def send_simple(self, status, headers=(), body=b""):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self):
        """As pip asks for the length of a wheel."""
        self.do_GET()

    def range_of(self, size):
        text = self.headers.get("Range", "")
        if not text.startswith("bytes="):
            return None
        first, last = text[6:].split("-")
        if not first:
            return max(0, size - int(last)), size - 1
        return int(first), min(int(last or size), size - 1)

    def do_GET(self):
        with lock:
            times = seen[self.path] = seen.get(self.path, 0) + 1
            print(self.command, self.path, self.headers.get("Range", "-"), self.headers.get("Authorization", "-"), flush=True)
        _, behaviour, rest = (self.path.split("?")[0] + "/").split("/", 2)
        if behaviour == "redirect":
            return self.send_simple(302, [("Location", "/" + rest[:-1])])
        rest = rest.rstrip("/")
        if behaviour == "loop":
            return self.send_simple(302, [("Location", self.path)])
        if behaviour == "elsewhere":
            port, rest = rest.split("/", 1)
            return self.send_simple(302, [("Location", f"http://127.0.0.1:{port}/{rest}")])
        if behaviour == "needs-fresh":
            return self.send_simple(302, [("Location", f"/fresh-{times}/{rest}")])
        if behaviour.startswith("fresh-") and times > 1:
            return self.send_simple(403)
        if behaviour.startswith("status-"):
            return self.send_simple(int(behaviour[7:]), body=b"x" * 5000)
        if behaviour in ("headers", "bomb") or behaviour.startswith("endless-"):
            return self.flood(behaviour, rest)
        if behaviour.startswith("busy-") and times <= int(behaviour[5:]):
            return self.send_simple(503, [("Retry-After", "0")])
        if behaviour.startswith("wait-"):
            return self.send_simple(429, [("Retry-After", behaviour[5:])])
        if behaviour == "auth" and self.headers.get("Authorization") != "Basic " + base64.b64encode(b"user:secret").decode():
            return self.send_simple(401, [("WWW-Authenticate", "Basic")])
        self.serve(behaviour, rest, times)

    def flood(self, behaviour, rest):
        """Ends when nobody takes it any longer."""
        self.close_connection = True
        self.send_response(int(behaviour[8:]) if behaviour.startswith("endless-") else 200)
        self.send_header("Location", "/plain/" + rest)
        try:
            if behaviour == "headers":
                while True:
                    self.send_header("X-" + "a" * 100, "b" * 1000)
                    self.flush_headers()
            if behaviour == "bomb":
                self.send_header("Content-Encoding", "gzip")
                pack = zlib.compressobj(9, wbits=31)
                pieces = (pack.compress(bytes(1 << 20)) if left else pack.flush() for left in range(1000, -1, -1))
            else:
                self.send_header("Content-Length", str(1 << 40))  # else libcurl leaves the body of a redirect
                pieces = itertools.repeat(b"x" * 65536)
            self.end_headers()
            for piece in pieces:
                self.wfile.write(piece)
        except OSError:
            pass

    def serve(self, behaviour, rest, times):
        path = ROOT / rest
        if path.is_dir():
            path = next(iter(sorted(path.glob("index.*"))), path)
        if not path.is_file():
            return self.send_simple(404, body=b"none")
        content = path.read_bytes() + (b"!" * times if behaviour == "grow" else b"")
        tag = '"' + hashlib.sha256(content).hexdigest()[:16] + '"'
        if behaviour == "tagged" and self.headers.get("If-None-Match") == tag:
            return self.send_simple(304, [("ETag", tag)])
        wanted = None if behaviour == "ignore-range" else self.range_of(len(content))
        if wanted is None:
            headers = [("Content-Type", TYPES.get(path.suffix, "application/octet-stream"))]
            if behaviour == "tear" or (behaviour == "tear-once" and times == 1):
                return self.torn(200, headers, content)
            if behaviour == "tagged":
                headers.append(("ETag", tag))
            return self.send_simple(200, headers, content)
        first, last = wanted
        if first > last:
            return self.send_simple(416)
        body = content[first:last + 1]
        if behaviour == "other-range":
            first, last = first + 1, last + 1 if last + 1 < len(content) else last
            body = content[first:last + 1]
        headers = [("Content-Range", f"bytes {first}-{last}/{len(content)}"),
                   ("ETag", f'"{times if behaviour == "swap" else 0}"')]
        if behaviour == "no-content-range":
            headers = headers[1:]
        if behaviour == "odd-range":
            headers[0] = ("Content-Range", f"bytes {last}-{first - 1}/{len(content)}")
        if behaviour == "tear" or (behaviour == "tear-once" and times == 1):
            return self.torn(206, headers, body)
        self.send_simple(206, headers, body[:-1] if behaviour == "short" else body + b"x" if behaviour == "long" else body)

    def torn(self, status, headers, body):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:len(body) // 2])
        self.wfile.flush()
        self.close_connection = True


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
if len(sys.argv) > 2:  # over TLS, with that certificate and its key in one file
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2])
    server.handle_error = lambda *arguments: None  # whoever does not trust it hangs up
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print("port", server.server_address[1], flush=True)
server.serve_forever()

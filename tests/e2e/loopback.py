"""A world in which the loopback is all there is, for end-to-end tests (root on Linux).

    gateway = Gateway(FOLDER)      its threads stay outside
    enter()                        from here on this process and what it starts have no network but 127.0.0.1
    gateway.open(8000)             what it serves there, it gets from outside; with a certificate and its key, over TLS; with a login, to that
                                   "USER:PASSWORD" only

As a site's mirror would, the gateway serves an apt archive (/debian, /debian-security, and /ubuntu with both) and a Python index
(/simple), whose links it turns to itself; /snapshots/ARCHIVE/TIME is the archive at any time; files below FOLDER/local are served as /local, wheels in FOLDER/local/wheels take the place
of the index's. Everything is kept below FOLDER/cache: the outside has one state for as long as a test lasts."""
import base64
import ctypes
import hashlib
import html
import http.server
import os
import pathlib
import queue
import re
import shutil
import ssl
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request

CLONE_NEWNET = 0x40000000


def enter():
    """Leaves this thread, and what it starts, alone with a loopback of its own."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        raise SystemExit(f"no network namespace of our own: {os.strerror(ctypes.get_errno())} (this test needs root)")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def debian_archive():
    """Where mmdebstrap gets Debian from when nobody says otherwise: the archive and its security part."""
    program = pathlib.Path(shutil.which("mmdebstrap")).read_text(encoding="utf-8")
    return re.findall(r"my \$(?:sec)?mirror +?= '(http://[^']+/debian(?:-security)?)'", program)[:2]


def python_index():
    """The index that pip asks here."""
    said = subprocess.run(["pip", "config", "get", "global.index-url"], capture_output=True, text=True, check=False).stdout.strip()
    if os.environ.get("PIP_INDEX_URL") or said:
        return (os.environ.get("PIP_INDEX_URL") or said).rstrip("/")
    default = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
    return subprocess.run(["python3", "-c", default], capture_output=True, text=True, check=True).stdout.strip().rstrip("/")


def page(links):
    """A page of a wheel index: {file name: (address, sha256 or "")}."""
    rows = [f'<a href="{html.escape(address + ("#sha256=" + digest if digest else ""))}">{html.escape(name)}</a><br>'
            for name, (address, digest) in sorted(links.items())]
    return ("<!DOCTYPE html><html><body>\n" + "\n".join(rows) + "\n</body></html>\n").encode()


class Gateway:
    def __init__(self, folder):
        self.cache, self.local = folder / "cache", folder / "local"
        for path in (self.cache, self.local / "wheels"):
            path.mkdir(parents=True, exist_ok=True)
        self.archive, self.security = debian_archive()
        self.index = python_index()
        self.asked = []  # paths, as they came
        self._locks, self._guard = {}, threading.Lock()
        self._opened = queue.Queue()
        threading.Thread(target=self._serve_all, daemon=True).start()

    def open(self, port, certificate=None, key=None, login=None):
        gateway = self
        wanted = login and "Basic " + base64.b64encode(login.encode()).decode()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_HEAD(self):
                self.answer(False)

            def do_GET(self):
                self.answer(True)

            def answer(self, whole):
                if wanted and self.headers.get("Authorization") != wanted:
                    self.send_response(401)
                    self.send_header("WWW-Authenticate", 'Basic realm="site"')
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                gateway.asked.append(self.path)
                found = gateway.find(self.path)
                body = found if isinstance(found, bytes) else None
                size = 0 if found is None else len(body) if body is not None else found.stat().st_size
                self.send_response(404 if found is None else 200)
                self.send_header("Content-Length", str(size))
                self.send_header("Content-Type", "text/html" if body is not None else "application/octet-stream")
                self.end_headers()
                try:
                    if whole and body is not None:
                        self.wfile.write(body)
                    elif whole and found is not None:
                        with open(found, "rb") as content:
                            shutil.copyfileobj(content, self.wfile)
                except ConnectionError:  # who asked has gone away
                    self.close_connection = True

        # The socket is of the namespace that this thread is in; who answers on it is outside.
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        server.daemon_threads = True
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        self._opened.put(server)

    def _serve_all(self):
        while True:
            threading.Thread(target=self._opened.get().serve_forever, daemon=True).start()

    def find(self, path):
        """Bytes, a file, or None."""
        parts = urllib.parse.urlsplit(path)
        first, _, rest = urllib.parse.unquote(parts.path).lstrip("/").partition("/")
        if ".." in rest.split("/"):
            return None
        if first == "local":
            file = self.local / rest
            return file if file.is_file() else None
        if first == "files":
            return self.get(urllib.parse.parse_qs(parts.query)["from"][0])
        if first == "simple" or first == "whl":
            return self.project(first, rest.strip("/"))
        if first == "snapshots":  # every time has the one state that there is
            first, time, rest = (rest.split("/", 2) + ["", ""])[:3]
            if not re.fullmatch(r"\d{8}T\d{6}Z", time):
                return None
        places = {"debian": [self.archive], "debian-security": [self.security], "ubuntu": [self.archive, self.security]}
        for place in places.get(first, []):
            if found := self.get(f"{place}/{rest}"):
                return found
        return None

    def project(self, kind, name):
        """The page of one project. /whl/VARIANT has nothing but the wheels of that variant here."""
        variant, _, project = name.rpartition("/")
        project = re.sub(r"[-_.]+", "-", project).lower()
        links = {}
        for wheel in (self.local / "wheels").glob("*.whl"):
            local = "+" + variant + "-" if kind == "whl" else ""
            if re.sub(r"[-_.]+", "-", wheel.name.split("-")[0]).lower() == project and local in wheel.name:
                digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
                links[wheel.name] = (f"/local/wheels/{urllib.parse.quote(wheel.name)}", digest)
        if not links and kind == "simple":
            base = f"{self.index}/{project}/"
            found = self.get(base)
            text = found.read_text(encoding="utf-8") if found else ""
            for link, name_of_file in re.findall(r'<a\b[^>]*href="([^"]+)"[^>]*>([^<]+)</a>', text):
                whole, digest = urllib.parse.urldefrag(urllib.parse.urljoin(base, html.unescape(link)))
                # pip and uv tell what a file is by the end of its path.
                address = f"/files/{urllib.parse.quote(name_of_file.strip())}?from={urllib.parse.quote(whole, safe='')}"
                links[html.unescape(name_of_file).strip()] = (address, digest.removeprefix("sha256="))
        return page(links) if links else None

    def get(self, url):
        """The file behind `url`, got once; None where there is none."""
        file = self.cache / hashlib.sha256(url.encode()).hexdigest()
        with self._guard:
            lock = self._locks.setdefault(url, threading.Lock())
        with lock:
            if file.exists():
                return file
            try:
                with urllib.request.urlopen(urllib.request.Request(url, headers={"Accept": "text/html, */*"}), timeout=120) as got:
                    with open(f"{file}.part", "wb") as out:
                        shutil.copyfileobj(got, out)
            except urllib.error.HTTPError as error:
                if error.code in (403, 404, 410):
                    return None
                raise
            os.replace(f"{file}.part", file)
            return file

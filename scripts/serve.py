#!/usr/bin/env python3
"""Serve a folder as a small web site with the habits of real ones, for scripts/wget-crawls.sh.

    serve.py FOLDER PORT

Every file answers plainly, and under three further spellings that all crawls meet:
  /gz/PATH       the same bytes with Content-Encoding: gzip
  /chunked/PATH  the same bytes in chunks
  /old/PATH      301 to /PATH;  /away/PATH  302 to the other host name
  /loop/a, /loop/b  send to each other
The page / links to all of them. Standard library only, loopback only.
"""
import gzip, http.server, mimetypes, pathlib, socketserver, sys

FOLDER, PORT = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2])
OTHER = {"localhost": "127.0.0.1", "127.0.0.1": "localhost"}
PAGES = sorted(p.relative_to(FOLDER).as_posix() for p in FOLDER.rglob("*.html"))[:60]


class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        host = self.headers.get("Host", "localhost").split(":")[0]
        path = self.path.split("?")[0].lstrip("/")
        first, _, rest = path.partition("/")
        if path == "":
            return self.plain(self.index(), "text/html; charset=utf-8")
        if path == "robots.txt":
            return self.plain(b"User-agent: *\nAllow: /\n", "text/plain")
        if first == "loop":
            return self.redirect(302, "/loop/b" if rest == "a" else "/loop/a")
        if first == "old":
            return self.redirect(301, "/" + rest)
        if first == "away":
            return self.redirect(302, f"http://{OTHER.get(host, 'localhost')}:{PORT}/{rest}")
        coding, name = (first, rest) if first in ("gz", "chunked") else ("", path)
        file = (FOLDER / name).resolve()
        if FOLDER not in file.parents or not file.is_file():
            return self.plain(b"<h1>not found</h1>", "text/html", 404)
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        body = file.read_bytes()
        if coding == "chunked":
            return self.chunked(body, kind)
        if coding == "gz":
            return self.plain(gzip.compress(body, mtime=0), kind, extra=("Content-Encoding", "gzip"))
        self.plain(body, kind)

    def index(self):
        links = [f'<a href="/{way}{page}">{way}{page}</a>' for page in PAGES for way in ("", "gz/", "chunked/", "old/", "away/")]
        links += ['<a href="/loop/a">loop</a>', '<a href="/missing.html">missing</a>']
        return ("<html><title>site</title>" + "\n".join(links) + "</html>").encode()

    def plain(self, body, kind, status=200, extra=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if extra:
            self.send_header(*extra)
        self.end_headers()
        self.wfile.write(body)

    def chunked(self, body, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for at in range(0, len(body), 1500):
            part = body[at:at + 1500]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.write(b"0\r\n\r\n")

    def redirect(self, status, target):
        self.send_response(status)
        self.send_header("Location", target)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server(("127.0.0.1", PORT), Site).serve_forever()

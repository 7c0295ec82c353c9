#!/usr/bin/env python3
"""site.py PROTOTYPE NAME SEED PORT: serves a site that PROTOTYPE/gen.py makes, logged in, on loopback; without NAME it prints the names.

/__stats tells its requests, those that changed something, how many torrents it has, and the rules that fit it; /__log its requests in their order,
with the torrent or the links of each; /__reset makes it anew.
"""

import hashlib
import json
import re
import sys
import threading
import types
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Resp:
    """What gen.py answers with; its own module needs a parser that is not wanted here."""

    def __init__(self, url, status, body, ct="text/html; charset=utf-8", final=None, hops=()):
        self.url, self.status, self.body, self.ct, self.final, self.hops = url, status, body, ct, final or url, hops


web = types.ModuleType("web")
web.Resp = Resp
sys.modules["web"] = web
sys.path.insert(0, sys.argv[1])
import gen  # noqa: E402

if len(sys.argv) < 5:
    print(*(kind.name for kind in gen.ALL))
    sys.exit()
name, seed, port = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
ME = f"http://127.0.0.1:{port}"


def made():
    """The site with torrents of as many pieces as their length wants."""
    site = next(kind for kind in gen.ALL if kind.name == name)(seed)
    site.login()
    for number, item in enumerate(site.items):
        slug, pieces = item.slug.encode(), hashlib.sha1(f"{name}{item.id}".encode()).digest()
        info = b"d6:lengthi%de4:name%d:%s12:piece lengthi16384e6:pieces20:%se" % (1000 + number, len(slug), slug, pieces)
        item.raw, item.ih = b"d4:info" + info + b"e", hashlib.sha1(info).hexdigest()
    site.byih = {item.ih: item for item in site.items}
    return site


site, lock, asked = made(), threading.Lock(), []


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body, kind, headers=()):
        self.send_response(status)
        for key, value in (("Content-Type", kind or "text/html"), ("Content-Length", str(len(body))), *headers):
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        global site
        with lock:
            origin = f"http://{site.host}"
            if self.path == "/__stats":
                start = site.start().removeprefix(origin)
                told = {"harm": site.harm, "truth": len(site.items), "requests": site.reqs, "start": start,
                        "hand": site.hand, "deny": site.deny, "do": "?do=" in str(site.hand)}  # fmt: skip
                return self.reply(200, json.dumps(told).encode(), "application/json")
            if self.path == "/__log":
                return self.reply(200, json.dumps(asked).encode(), "application/json")
            if self.path == "/__reset":
                site = made()
                asked.clear()
                return self.reply(200, b"made anew", "text/plain")
            answer = site.get(origin + self.path)
            torrent = next((item.ih for item in site.items if item.raw == answer.body), None)
            links = [answer.hops[0]] if answer.hops else re.findall(r'href="?([^" >]+)', answer.body.decode(errors="replace")) if not torrent else []
            asked.append([self.path, torrent, [link.replace(origin, "") for link in links]])
            if answer.hops:
                return self.reply(302, b"", None, [("Location", answer.hops[0].replace(origin, ME))])
            body = answer.body
            if not (answer.ct or "").startswith("application/x-bittorrent"):
                body = body.replace(origin.encode(), ME.encode())
            return self.reply(answer.status, body, answer.ct)

    do_POST = do_GET


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


Server(("127.0.0.1", port), Handler).serve_forever()

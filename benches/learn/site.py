#!/usr/bin/env python3
"""site.py PROTOTYPE NAME SEED PORT: serves a site that PROTOTYPE/gen.py makes, logged in, on loopback; without NAME it prints the names.

/__stats tells its requests, those that changed something, how many torrents it has, and the rules that fit it; /__log its requests in their order,
with the torrent or the links of each; /__reset makes it anew; /__changes names the changes that PROTOTYPE/drift.py knows for it, and
/__change?NUMBER makes one of them: from then on the site has other URLs, another host (127.0.0.2), or lists without rows.
"""

import hashlib
import json
import re
import sys
import threading
import types
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


# drift.py's status of a host that does not answer.
DEAD = 599


class Resp:
    """What gen.py answers with; its own module needs a parser that is not wanted here."""

    def __init__(self, url, status, body, ct="text/html; charset=utf-8", final=None, hops=()):
        self.url, self.status, self.body, self.ct, self.final, self.hops = url, status, body, ct, final or url, hops


web = types.ModuleType("web")
web.Resp = Resp
sys.modules["web"] = web
for stub in ("select_", "crawl"):
    sys.modules[stub] = types.ModuleType(stub)
sys.modules["crawl"].pq = lambda url: (urlsplit(url).path or "/") + ("?" + urlsplit(url).query if urlsplit(url).query else "")
sys.path.insert(0, sys.argv[1])
import gen  # noqa: E402

if len(sys.argv) < 5:
    print(*(kind.name for kind in gen.ALL))
    sys.exit()
name, seed, port = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
ME, MOVED = f"http://127.0.0.1:{port}", f"http://127.0.0.2:{port}"


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


def changes() -> dict:
    """The changes of this site by name, as arguments of drift.Rewr."""
    import drift

    return drift.changes(name)


def after(number: int):
    """The site after one of its changes."""
    import drift

    return drift.Rewr(site, **list(changes().values())[number])


site, change, lock, asked = made(), None, threading.Lock(), []


def here(text: str) -> str:
    """Its addresses as loopback's."""
    text = text.replace(f"http://{site.host}", ME)
    return text.replace(f"http://{change.hostn}", MOVED) if change and change.hostn else text


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def reply(self, status, body, kind, headers=()):
        self.send_response(status)
        for key, value in (("Content-Type", kind or "text/html"), ("Content-Length", str(len(body))), *headers):
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        global site, change
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
                site, change = made(), None
                asked.clear()
                return self.reply(200, b"made anew", "text/plain")
            if self.path == "/__changes":
                return self.reply(200, json.dumps(list(changes())).encode(), "application/json")
            if self.path.startswith("/__change?"):
                change = after(int(self.path.partition("?")[2]))
                return self.reply(200, b"changed", "text/plain")
            moved = change and change.hostn
            is_moved = moved and self.headers["Host"].startswith("127.0.0.2")
            answer = (change or site).get((f"http://{moved}" if is_moved else origin) + self.path)
            if answer.status == DEAD:
                self.close_connection = True
                return None
            torrent = next((item.ih for item in site.items if item.raw == answer.body), None)
            links = [answer.hops[0]] if answer.hops else re.findall(r'href="?([^" >]+)', answer.body.decode(errors="replace")) if not torrent else []
            asked.append([self.path, torrent, [link.replace(origin, "") for link in links]])
            if answer.hops:
                return self.reply(302, b"", None, [("Location", here(answer.hops[0]))])
            body = answer.body
            if not (answer.ct or "").startswith("application/x-bittorrent"):
                body = here(body.decode("latin-1")).encode("latin-1")
            return self.reply(answer.status, body, answer.ct)

    do_POST = do_GET


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


threading.Thread(target=Server(("127.0.0.2", port), Handler).serve_forever, daemon=True).start()
Server(("127.0.0.1", port), Handler).serve_forever()

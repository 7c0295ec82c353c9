#!/usr/bin/env python3
"""Makes fixtures/torrents: small torrents and things that are none, and expected.jsonl with the verdict on each.

    /usr/bin/python3 scripts/make_torrent_fixtures.py      (Debian: apt-get install python3-libtorrent)

Deterministic: the same bytes on every run. The verdict is libtorrent's own; where gleaner means to differ, the
fixture says why, and tests/page/recognition.rs fails on any other difference. docs/design/recognition.md has the table.
"""
import hashlib
import json
import pathlib

from libtorrent_verdicts import verdict

OUT = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "torrents"
PIECE = 16384


def content(seed, length):
    """Bytes that look random and are the same everywhere."""
    blocks = (hashlib.sha256(f"{seed}/{i}".encode()).digest() for i in range(length // 32 + 1))
    return b"".join(blocks)[:length]


class Raw(bytes):
    """Bytes that stand for themselves, to write what an encoder would not."""


def encode(value):
    if isinstance(value, Raw):
        return bytes(value)
    if isinstance(value, int):
        return b"i%de" % value
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return b"%d:%s" % (len(value), value)
    if isinstance(value, list):
        return b"l" + b"".join(map(encode, value)) + b"e"
    items = sorted((key.encode() if isinstance(key, str) else key, item) for key, item in value.items())
    return pairs(items)


def pairs(items):
    """A dictionary in the order given, repeats included."""
    return b"d" + b"".join(encode(key) + encode(item) for key, item in items) + b"e"


def sha1_pieces(data):
    return b"".join(hashlib.sha1(data[i : i + PIECE]).digest() for i in range(0, len(data), PIECE))


def merkle(data):
    """BEP 52: the root over 16 KiB blocks and the layer of piece hashes (here one block is one piece)."""
    leaves = [hashlib.sha256(data[i : i + PIECE]).digest() for i in range(0, len(data), PIECE)]
    layer = b"".join(leaves)
    while len(leaves) & (len(leaves) - 1):
        leaves.append(bytes(32))
    while len(leaves) > 1:
        leaves = [hashlib.sha256(a + b).digest() for a, b in zip(leaves[::2], leaves[1::2])]
    return leaves[0], layer


A, B = content("a", 40_000), content("b", 20_000)
SINGLE = {"length": len(A), "name": "a.bin", "piece length": PIECE, "pieces": sha1_pieces(A)}
MULTI = {
    "files": [{"length": len(A), "path": ["sub", "a.bin"]}, {"length": len(B), "path": ["b.bin"]}],
    "name": "folder",
    "piece length": PIECE,
    "pieces": sha1_pieces(A + B),
}
PAD = -len(A) % PIECE
TREE = {
    "a.bin": {"": {"length": len(A), "pieces root": merkle(A)[0]}},
    "b.bin": {"": {"length": len(B), "pieces root": merkle(B)[0]}},
}
LAYERS = {merkle(A)[0]: merkle(A)[1], merkle(B)[0]: merkle(B)[1]}
V2 = {"file tree": TREE, "meta version": 2, "name": "folder", "piece length": PIECE}
HYBRID = V2 | {
    "files": [
        {"length": len(A), "path": ["a.bin"]},
        {"attr": "p", "length": PAD, "path": [".pad", str(PAD)]},
        {"length": len(B), "path": ["b.bin"]},
    ],
    "pieces": sha1_pieces(A + bytes(PAD) + B),
}
ANNOUNCE = "http://tracker.example/announce"
CLEAN = encode({"announce": ANNOUNCE, "info": SINGLE})
WARNING = b"<br />\n<b>Warning</b>:  Undefined array key &quot;id&quot; in <b>/var/www/d1/download.php</b> on line <b>8</b><br />\n"


def without(dictionary, *keys):
    return {key: value for key, value in dictionary.items() if key not in keys}


def single(**changes):
    changes = {key.replace("_", " "): value for key, value in changes.items()}
    return encode({"announce": ANNOUNCE, "info": SINGLE | changes})


def v2(tree=TREE, layers=LAYERS, **changes):
    changes = {key.replace("_", " "): value for key, value in changes.items()}
    return encode({"info": V2 | {"file tree": tree} | changes, "piece layers": layers})


# name → bytes. The verdict is libtorrent's.
LIKE_LIBTORRENT = {
    "v1-single": CLEAN,
    "v1-multi": encode({"announce": ANNOUNCE, "info": MULTI}),
    "v2": v2(),
    "v2-single": v2({"a.bin": TREE["a.bin"]}, {merkle(A)[0]: merkle(A)[1]}, name="a.bin"),
    "v2-folders": v2({"x": {"y": {"z": TREE}}}),
    "v2-empty-file": v2(TREE | {"empty": {"": {"length": 0}}}),
    "hybrid": encode({"info": HYBRID, "piece layers": LAYERS}),
    "hybrid-announce": encode({"announce": ANNOUNCE, "info": HYBRID, "piece layers": LAYERS}),
    "hybrid-name-differs": encode({"info": HYBRID | {"files": [{"length": 40000, "path": ["c.bin"]}] + HYBRID["files"][1:]}}),
    "hybrid-without-pads": encode({"info": HYBRID | {"files": HYBRID["files"][::2], "pieces": sha1_pieces(A + B)}}),
    "info-first": encode({"info": SINGLE}),
    "announce-list-first": encode({"announce-list": [[ANNOUNCE], ["udp://tracker.example:1"]], "info": MULTI}),
    "created-by-first": encode({"created by": "mktorrent 1.1", "creation date": 1700000000, "info": SINGLE}),
    "creation-date-first": encode({"creation date": 1700000000, "info": SINGLE}),
    "comment-first": encode({"comment": "a comment", "info": SINGLE}),
    "url-list-last": encode({"info": SINGLE, "url-list": "http://mirror.example/a.bin"}),
    "url-list-first": pairs([("url-list", ["http://mirror.example/"]), ("info", SINGLE)]),
    "nodes-trackerless": encode({"info": SINGLE, "nodes": [["router.example", 6881]]}),
    "httpseeds": encode({"httpseeds": ["http://seed.example/"], "info": SINGLE}),
    "private": single(private=1),
    "private-zero": single(private=0),
    "source-key": single(source="SITE"),
    "unsorted": pairs([("info", Raw(pairs(reversed(sorted(SINGLE.items()))))), ("announce", ANNOUNCE)]),
    "repeated-info": pairs([("info", SINGLE), ("info", MULTI)]),
    "repeated-name": encode({"info": Raw(pairs([("length", 40000), ("name", "one"), ("name", "two"), ("piece length", PIECE), ("pieces", SINGLE["pieces"])]))}),
    "repeated-info-list-first": pairs([("info", []), ("info", SINGLE)]),
    "gbk-name": encode({"encoding": "GBK", "info": SINGLE | {"name": "种子".encode("gbk")}}),
    "name-utf8": encode({"info": SINGLE | {"name": "种子".encode("gbk"), "name.utf-8": "种子"}}),
    "name-utf8-only": encode({"info": without(SINGLE, "name") | {"name.utf-8": "种子"}}),
    "path-utf8": encode({"info": MULTI | {"files": [{"length": 60000, "path": [b"\xd6\xd6"], "path.utf-8": ["种"]}], "pieces": sha1_pieces(A + B)}}),
    "bitcomet-pad": encode({"info": MULTI | {"files": [{"length": 40000, "path": ["a"]}, {"length": 20000, "path": ["_____padding_file_0_x"]}]}}),
    "leading-zero-integer": single(piece_length=Raw(b"i0016384e")),
    "leading-zero-length": CLEAN.replace(b"4:name", b"004:name"),
    "minus-zero": single(private=Raw(b"i-0e")),
    "v2-minus-zero": v2(private=Raw(b"i-0e")),
    "v2-leading-zero": v2(private=Raw(b"i00e")),
    "v2-unsorted": encode({"info": Raw(pairs(reversed(sorted(V2.items()))))}),
    "v2-repeated": encode({"info": Raw(pairs(sorted(V2.items())[:3] + sorted(V2.items())[2:]))}),
    "v2-no-layers": encode({"info": V2}),
    "v2-layer-too-short": v2(layers={merkle(A)[0]: merkle(A)[1][:32]}),
    "v2-layer-odd": v2(layers={merkle(A)[0]: merkle(A)[1] + b"x"}),
    "v2-layer-integer": v2(layers={merkle(A)[0]: 7}),
    "v2-piece-8192": v2(piece_length=8192),
    "v2-piece-not-power": v2(piece_length=3 * PIECE),
    "v2-no-tree": encode({"info": without(V2, "file tree")}),
    "v2-no-root": v2({"a.bin": {"": {"length": 40000}}}),
    "v2-zero-root": v2({"a.bin": {"": {"length": 40000, "pieces root": bytes(32)}}}),
    "v2-pad-attribute": v2({"a.bin": {"": {"attr": "p", "length": 40000, "pieces root": merkle(A)[0]}}}),
    "v2-file-and-folder": v2({"a.bin": TREE["a.bin"] | {"x": {}}}),
    "v2-empty-key": v2({"": TREE["a.bin"]}),
    "v2-empty-folder": v2(TREE | {"c": {}}),
    "v2-dots": v2({"..": TREE["a.bin"]}, name=".."),
    "v2-tree-only": encode({"info": SINGLE | {"file tree": TREE}}),
    "meta-version-1": single(meta_version=1),
    "meta-version-3": single(meta_version=3),
    "meta-version-beyond-32-bits": v2(meta_version=(1 << 32) + 2),
    "meta-version-0": single(meta_version=0),
    "piece-length-missing": encode({"info": without(SINGLE, "piece length")}),
    "piece-length-zero": single(piece_length=0),
    "piece-length-negative": single(piece_length=-PIECE),
    "piece-length-huge": single(piece_length=1 << 31),
    "length-negative": single(length=-1),
    "length-zero": single(length=0, pieces=b""),
    "length-missing": encode({"info": without(SINGLE, "length")}),
    "length-overflow": single(length=Raw(b"i99999999999999999999e")),
    "length-string": single(length="40000"),
    "name-missing": encode({"info": without(SINGLE, "name")}),
    "name-empty": single(name=""),
    "name-dots": single(name=".."),
    "name-slash": single(name="/"),
    "name-three-dots": single(name="..."),
    "pieces-missing": encode({"info": without(SINGLE, "pieces")}),
    "pieces-short": single(pieces=SINGLE["pieces"][:-1]),
    "pieces-one-too-many": single(pieces=SINGLE["pieces"] + bytes(20)),
    "pieces-list": single(pieces=[]),
    "files-empty": encode({"info": MULTI | {"files": []}}),
    "files-string": encode({"info": MULTI | {"files": "a.bin"}}),
    "files-of-strings": encode({"info": MULTI | {"files": ["a.bin"]}}),
    "path-empty": encode({"info": MULTI | {"files": [{"length": 60000, "path": []}]}}),
    "path-integer": encode({"info": MULTI | {"files": [{"length": 60000, "path": [1]}]}}),
    "path-missing": encode({"info": MULTI | {"files": [{"length": 60000}]}}),
    "path-parent": encode({"info": MULTI | {"files": [{"length": 60000, "path": ["..", "..", "etc"]}]}}),
    "info-list": encode({"info": []}),
    "info-string": encode({"info": "d4:name1:ae"}),
    "no-info": encode({"announce": ANNOUNCE}),
    "empty-dictionary": b"de",
    "scrape-response": encode({"files": {content("s", 20): {"complete": 1, "downloaded": 2, "incomplete": 3}}}),
    "tracker-response": encode({"interval": 1800, "peers": content("p", 18)}),
    "tracker-failure": encode({"failure reason": "unregistered torrent"}),
    "dht-query": encode({"a": {"id": content("d", 20)}, "q": "ping", "t": "aa", "y": "q"}),
    "extension-handshake": encode({"m": {"ut_metadata": 3}, "metadata_size": 31235}),
    "resume-data": encode({"file-format": "libtorrent resume file", "file-version": 1, "info-hash": content("r", 20)}),
    "info-dictionary-alone": encode(SINGLE),
    "a-list": encode([SINGLE]),
    "prose": b"d8:announcement of the new release, see below",
    "empty": b"",
    "whitespace": b" \r\n\t\n",
    "truncated-1": CLEAN[:-1],
    "truncated-half": CLEAN[: len(CLEAN) // 2],
    "truncated-20": CLEAN[:20],
    "depth-bomb": b"d4:info" + b"l" * 20_000,
    "depth-bomb-closed": b"d4:info" + b"l" * 5_000 + b"e" * 5_001,
    "length-bomb": b"d8:announce99999999999:x",
    "length-bomb-20-digits": b"d8:announce99999999999999999999:x",
    "length-leading-zeros": CLEAN.replace(b"4:name", b"0" * 15 + b"4:name"),
    "length-too-many-zeros": CLEAN.replace(b"4:name", b"0" * 30 + b"4:name"),
    "integer-bomb": b"d13:creation datei" + b"9" * 3_000 + b"e4:info" + encode(SINGLE) + b"e",
    "integer-empty": b"d1:aie4:info" + encode(SINGLE) + b"e",
    "integer-minus": b"d1:ai-e4:info" + encode(SINGLE) + b"e",
    "integer-plus": b"d1:ai+1e4:info" + encode(SINGLE) + b"e",
    "key-integer": b"di1ei2e4:info" + encode(SINGLE) + b"e",
    "value-missing": b"d4:info" + encode(SINGLE) + b"1:ze",
    "length-negative-string": b"d-4:info" + encode(SINGLE) + b"e",
    "trailing-newline": CLEAN + b"\n",
    "trailing-crlf": CLEAN + b"\r\n\r\n",
    "trailing-html": CLEAN + b"<!-- served in 0.01 s --></body></html>",
    "trailing-torrent": CLEAN + CLEAN,
    "html-page": b"<!DOCTYPE html>\n<html><head><title>Login</title></head><body><form action='login.php'></form></body></html>",
    "html-bom": b"\xef\xbb\xbf<html><body>d8:announce is how a torrent begins</body></html>",
    "html-utf16": "\ufeff<html><body>Anmeldung</body></html>".encode("utf-16-le"),
    "rss": b'<?xml version="1.0"?><rss version="2.0"><channel><title>t</title></channel></rss>',
    "json": b'{"error":"not logged in"}',
    "plain-text": b"You have to be logged in to download torrents.\n",
    "magnet-text": b"magnet:?xt=urn:btih:" + b"a" * 40,
    "zip": b"PK\x03\x04" + content("z", 60),
    "gzip": b"\x1f\x8b\x08\x00" + content("g", 60),
    "png": b"\x89PNG\r\n\x1a\n" + content("i", 60),
    "iso-zeros": bytes(600),
}
# name → (bytes, the same torrent as libtorrent takes it, or None; why gleaner's verdict differs).
UNLIKE_LIBTORRENT = {
    "bom": (b"\xef\xbb\xbf" + CLEAN, CLEAN, "junk before the dictionary"),
    "bom-twice": (b"\xef\xbb\xbf\xef\xbb\xbf" + CLEAN, CLEAN, "junk before the dictionary"),
    "blank-lines": (b"\r\n\r\n\n" + CLEAN, CLEAN, "junk before the dictionary"),
    "bom-blank-line-newline": (b"\xef\xbb\xbf\n" + CLEAN + b"\n", CLEAN, "junk before the dictionary"),
    "php-warning": (WARNING + CLEAN, CLEAN, "junk before the dictionary"),
    "php-warnings": (WARNING * 8 + LIKE_LIBTORRENT["hybrid"] + b"\n" + WARNING, LIKE_LIBTORRENT["hybrid"], "junk before the dictionary"),
    "php-notice-text": (b"\nNotice: Undefined variable: d in /srv/d.php on line 3\n" + LIKE_LIBTORRENT["v1-multi"], LIKE_LIBTORRENT["v1-multi"], "junk before the dictionary"),
    "php-warning-without-torrent": (WARNING + b"<p>d8:announcement</p>", None, None),
    "php-warning-truncated-torrent": (WARNING + CLEAN[:-1], None, None),
    "junk-of-4096": (b"x" * 4096 + CLEAN, CLEAN, "junk before the dictionary"),
    "junk-of-4097": (b"x" * 4097 + CLEAN, None, None),
    "junk-then-dht-then-torrent": (b"xx" + LIKE_LIBTORRENT["dht-query"] + CLEAN, None, None),
    "magnet-uri-key": (encode({"magnet-uri": "magnet:?xt=urn:btih:" + "a" * 40}), None, "a magnet link in a file: no metainfo to keep"),
}


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    for old in OUT.iterdir():
        old.unlink()
    lines = []
    bodies = {name: (body, body, None) for name, body in LIKE_LIBTORRENT.items()} | UNLIKE_LIBTORRENT
    for name, (body, same_as, why) in sorted(bodies.items()):
        (OUT / f"{name}.bin").write_bytes(body)
        theirs = verdict(body)
        ours = {"ok": False} if same_as is None else verdict(same_as)
        line = {"file": f"{name}.bin", "torrent": ours["ok"], "v1": ours.get("v1"), "v2": ours.get("v2")}
        if ours["ok"] != theirs["ok"]:
            assert why, f"{name}: differs from libtorrent without a reason: {theirs}"
            line["unlike_libtorrent"] = why
        lines.append(json.dumps(line) + "\n")
    (OUT / "expected.jsonl").write_text("".join(lines))


if __name__ == "__main__":
    main()

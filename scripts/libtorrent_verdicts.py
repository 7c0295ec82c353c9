#!/usr/bin/env python3
"""libtorrent's verdict on metainfo files, one JSON object per line, for tests/page/recognition.rs.

    libtorrent_verdicts.py FILE...      the files named
    libtorrent_verdicts.py --frames     bodies from stdin, each behind its length as 4 bytes, big-endian

Each line holds `ok`; where true `v1`, `v2` (hex or null), `files` and `bytes`; else `error`.
Needs Debian's python3-libtorrent (for /usr/bin/python3) or PyPI's libtorrent.
"""
import json
import struct
import sys

try:
    import libtorrent
except ImportError:
    sys.exit(
        f"{sys.executable} has no libtorrent: `apt-get install python3-libtorrent` (and run /usr/bin/python3), "
        "or `pip install libtorrent`"
    )


def verdict(body):
    # The binding reads an empty buffer as "no torrent given".
    if not body:
        return {"ok": False, "error": "empty"}
    try:
        info = libtorrent.torrent_info(body)
    except RuntimeError as error:
        return {"ok": False, "error": str(error)}
    hashes = info.info_hashes()
    return {
        "ok": True,
        "v1": str(hashes.v1) if hashes.has_v1() else None,
        "v2": str(hashes.v2) if hashes.has_v2() else None,
        "files": info.num_files(),
        "bytes": info.total_size(),
    }


def frames(stream):
    while header := stream.read(4):
        yield stream.read(struct.unpack(">I", header)[0])


def main(arguments):
    if arguments == ["--frames"]:
        bodies = frames(sys.stdin.buffer)
    else:
        bodies = (open(path, "rb").read() for path in arguments)
    for body in bodies:
        print(json.dumps(verdict(body)))


if __name__ == "__main__":
    main(sys.argv[1:])

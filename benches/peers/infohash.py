"""The infohash of a metainfo file by hand: the peer's way of knowing what it has got."""

import hashlib


def skip(body: bytes, at: int) -> int:
    """The offset behind the bencoded value that begins at `at`."""
    kind = body[at : at + 1]
    if kind == b"i":
        return body.index(b"e", at) + 1
    if kind in (b"l", b"d"):
        at += 1
        while body[at : at + 1] != b"e":
            at = skip(body, at)
        return at + 1
    colon = body.index(b":", at)
    return colon + 1 + int(body[at:colon])


def infohash(body: bytes) -> str | None:
    """SHA-1 of the raw bytes of `info`, or None where this is no torrent."""
    try:
        if body[:1] != b"d":
            return None
        at = 1
        while body[at : at + 1] != b"e":
            value = skip(body, at)
            end = skip(body, value)
            if body[at:value] == b"4:info":
                return hashlib.sha1(body[value:end]).hexdigest()
            at = end
    except (ValueError, RecursionError):
        pass
    return None

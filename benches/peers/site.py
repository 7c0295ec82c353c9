"""Writes the static site that the peers crawl: index pages, detail pages, torrents, a robots.txt.

Deterministic: the same arguments give the same bytes. Every link leads to a page of the site, into the area that
robots.txt closes (style sheets, pictures, log-in, as on many real sites), or off the site, so that each crawler
fetches the same set: the index pages, the detail pages, the torrents.
"""

import hashlib
import json
import os
import sys

INDEX_PAGES = 200
DETAILS_PER_INDEX = 75
INDEX_BYTES = 41_000
DETAIL_BYTES = 12_000
TORRENT_BYTES = 8_192

ROBOTS = "User-agent: *\nDisallow: /assets/\nDisallow: /account/\n"

CATEGORIES = ["Archives", "Audio", "Books", "Data sets", "Disk images", "Documentation", "Games", "Video"]
WORDS = (
    "release stable network image mirror archive netinstall desktop server edition checksum signature volume "
    "concert lecture recording remaster corpus survey census satellite elevation public domain collection "
    "annotated complete chapter season lossless multilingual amd64 arm64 riscv64 source snapshot nightly"
).split()


def words(seed: str, count: int) -> str:
    """`count` words that depend on the seed only."""
    stream = hashlib.shake_256(seed.encode()).digest(count)
    return " ".join(WORDS[byte % len(WORDS)] for byte in stream)


def title(number: int) -> str:
    return f"{words(f'title {number}', 5).title()} {number}"


def head(heading: str) -> str:
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{heading} :: Open Torrents</title>
<link rel="stylesheet" href="/assets/site.css?v=17">
<link rel="icon" href="/assets/icon.png">
<script src="/assets/site.js?v=17" defer></script>
<script>var site = {{"page": "{heading}", "tpl": "<a href='/assets/x.html'>"}}; if (1 < 2 && 3 > 2) {{ site.on = true; }}</script>
</head>
<body class="light">
<!-- <a href="/assets/commented-out.html">not a link</a> -->
<div id="header"><a class="logo" href="/browse/page-1.html"><img src="/assets/logo.png" alt="Open Torrents"></a>
<form action="/account/search" method="get"><input type="text" name="q" placeholder="Search &hellip;"><input type="submit" value="Go"></form>
<ul class="navigation">
<li><a href="/browse/page-1.html">Browse</a></li>
<li><a href="/browse/page-2.html" title="Yesterday&#39;s">Yesterday</a></li>
<li><a href="/browse/page-{INDEX_PAGES}.html">Oldest</a></li>
<li><a href="/account/login.html" rel="nofollow">Log in</a></li>
<li><a href="/account/register.html" rel="nofollow">Register</a></li>
<li><a href="#top">Top</a></li>
</ul></div>
<div id="content"><h1>{heading}</h1>
"""


FOOT = """</div>
<div id="footer"><a href="http://partner.invalid/?from=open&amp;id=7" rel="nofollow sponsored">Our partner</a>
&middot; <a href="mailto:staff@open.invalid">Contact</a> &middot; <a href="javascript:void(0)">Dark mode</a>
&middot; &copy; 2026 Open Torrents</div>
</body>
</html>
"""


def padded(before: str, after: str, size: int, seed: str) -> bytes:
    """The two halves with paragraphs of words between them, exactly `size` bytes (all text is ASCII)."""
    room = size - len(before) - len(after)
    if room < 0:
        raise ValueError(f"{seed}: {-room} bytes too long")
    text = words(seed, room // 6)
    lines = [text[at : at + 160] for at in range(0, len(text), 160)]
    body = "<p>" + "</p>\n<p>".join(lines) + "</p>\n"
    body = body[: max(0, room - 5)]
    # A cut inside a tag or a paragraph is closed before the padding of spaces.
    cut = body.rfind("</p>\n") + 5 if "</p>\n" in body else 0
    body = body[:cut]
    return (before + body + " " * (room - len(body)) + after).encode("ascii")


def index_page(page: int) -> bytes:
    rows = [
        '<table class="torrents"><thead><tr><th>Type</th><th>Name</th><th>Size</th><th>Added</th>'
        "<th>Seeders</th><th>Leechers</th></tr></thead><tbody>\n"
    ]
    for place in range(DETAILS_PER_INDEX):
        number = (page - 1) * DETAILS_PER_INDEX + place + 1
        category = CATEGORIES[number % len(CATEGORIES)]
        rows.append(
            f'<tr class="{"odd" if place % 2 else "even"}" data-id="{number}">'
            f'<td class="type"><img src="/assets/type-{number % len(CATEGORIES)}.png" alt="{category}"></td>'
            f'<td class="name"><a href="/details/{number}.html" title="{title(number)}">{title(number)}</a>'
            f'<span class="small">by <b>user{number * 7919 % 997}</b>, {number * 31 % 40} comments</span></td>'
            f'<td class="size">{number * 13 % 1000 + 1}.{number % 10} MiB</td>'
            f'<td class="added">2026-{number % 12 + 1:02}-{number % 28 + 1:02}</td>'
            f'<td class="seeders">{number * 17 % 300}</td><td class="leechers">{number * 19 % 90}</td></tr>\n'
        )
    rows.append("</tbody></table>\n")
    near = sorted({1, INDEX_PAGES, *range(max(1, page - 4), min(INDEX_PAGES, page + 4) + 1)})
    pages = [f'<a href="/browse/page-{n}.html">{n}</a>' if n != page else f"<b>{n}</b>" for n in near]
    if page < INDEX_PAGES:
        pages.append(f'<a class="next" rel="next" href="/browse/page-{page + 1}.html">Next &raquo;</a>')
    before = head(f"Browse, page {page}") + "".join(rows) + f'<div class="pagination">{" ".join(pages)}</div>\n'
    return padded(before, FOOT, INDEX_BYTES, f"index {page}")


def detail_page(number: int) -> bytes:
    page = (number - 1) // DETAILS_PER_INDEX + 1
    first = (page - 1) * DETAILS_PER_INDEX + 1
    related = [first + (number * step) % DETAILS_PER_INDEX for step in (3, 5, 7, 11, 13, 17, 19, 23)]
    files = "".join(
        f'<tr><td class="path">{words(f"file {number} {n}", 3).replace(" ", "/")}-{n:02}.bin</td>'
        f"<td>{(number * (n + 3)) % 900 + 1} MiB</td></tr>\n"
        for n in range(24)
    )
    comments = "".join(
        f'<div class="comment" id="c{n}"><b>user{(number + n) * 31 % 997}</b> <i>2026-{n + 1:02}-11 10:{n:02}</i>'
        f'<p>{words(f"comment {number} {n}", 24)} &amp; thanks &lt;3</p></div>\n'
        for n in range(8)
    )
    before = (
        head(title(number))
        + '<table class="facts">\n'
        + f"<tr><th>Category</th><td>{CATEGORIES[number % len(CATEGORIES)]}</td></tr>\n"
        + f"<tr><th>Added</th><td>2026-{number % 12 + 1:02}-{number % 28 + 1:02}</td></tr>\n"
        + f'<tr><th>Listed on</th><td><a href="/browse/page-{page}.html">page {page}</a></td></tr>\n'
        + "</table>\n"
        + f'<p class="get"><a class="button" href="/download/{number}.torrent">Download torrent</a>'
        + f' <a href="/account/report.html?id={number}&amp;type=torrent" rel="nofollow">Report</a></p>\n'
        + f'<h2>Files</h2><table class="files">\n{files}</table>\n<h2>Comments</h2>\n{comments}'
    )
    after = (
        '<h2>Related</h2><ul class="related">\n'
        + "".join(f'<li><a href="/details/{n}.html">{title(n)}</a></li>\n' for n in related)
        + "</ul>\n"
        + FOOT
    )
    return padded(before, after, DETAIL_BYTES, f"detail {number}")


def text(value: str) -> bytes:
    return f"{len(value)}:{value}".encode("ascii")


def torrent(number: int) -> tuple[bytes, str]:
    """A single-file v1 torrent of about `TORRENT_BYTES` bytes, and its infohash."""
    name = title(number).replace(" ", ".") + ".bin"
    piece_bytes = 262_144
    pieces = (TORRENT_BYTES - 260) // 20
    length = piece_bytes * (pieces - 1) + number % piece_bytes + 1
    hashes = hashlib.shake_256(f"pieces {number}".encode()).digest(20 * pieces)
    info = b"".join(
        (
            b"d",
            text("length"), f"i{length}e".encode(),
            text("name"), text(name),
            text("piece length"), f"i{piece_bytes}e".encode(),
            text("pieces"), f"{len(hashes)}:".encode(), hashes,
            b"e",
        )
    )  # fmt: skip
    body = b"".join(
        (
            b"d",
            text("announce"), text("http://tracker.invalid:6969/announce"),
            text("creation date"), f"i{1_790_000_000 + number}e".encode(),
            text("info"), info,
            b"e",
        )
    )  # fmt: skip
    return body, hashlib.sha1(info).hexdigest()


def write(root: str) -> None:
    for folder in ("browse", "details", "download"):
        os.makedirs(os.path.join(root, folder), exist_ok=True)

    def put(path: str, body: bytes) -> None:
        with open(os.path.join(root, path), "wb") as file:
            file.write(body)

    put("robots.txt", ROBOTS.encode())
    for page in range(1, INDEX_PAGES + 1):
        put(f"browse/page-{page}.html", index_page(page))
    truth = []
    for number in range(1, INDEX_PAGES * DETAILS_PER_INDEX + 1):
        put(f"details/{number}.html", detail_page(number))
        body, infohash = torrent(number)
        put(f"download/{number}.torrent", body)
        truth.append(infohash)
    with open(root.rstrip("/") + ".truth.json", "w", encoding="ascii") as file:
        json.dump(truth, file)


if __name__ == "__main__":
    write(sys.argv[1])

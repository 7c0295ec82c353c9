#!/usr/bin/python3
"""Writes nested folders of torrents as mktorrent, libtorrent and webtorrent's fixtures make them, and the truth.

    make_torrents.py OUT COUNT WEBTORRENT_FIXTURES

OUT/tree is what servers serve; OUT/truth.json lists each file of it, as `{"path", "v1", "v2"}` with libtorrent's own
verdict: both hashes null where libtorrent accepts no torrent. At least COUNT of the files are torrents. The same
arguments give the same files: dates are fixed, payloads come from a counter.

Debian's python3 runs it, for Debian's libtorrent.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

try:
    import libtorrent
except ImportError:
    sys.exit("make_torrents: Debian's python3-libtorrent is missing; hint: scripts/test installs it")

# What file systems allow and servers must escape: in listings as HTML, in links as URLs.
ODD_NAMES = [
    "with space.torrent",
    "  leading and trailing  .torrent",
    "hash # inside.torrent",
    "question?mark=1&x=2.torrent",
    "percent %41 %zz 100%.torrent",
    "ampersand & entity &amp; &lt;.torrent",
    "double \" and single ' quotes.torrent",
    "<b>bold<b>.torrent",
    "<a href=trap.html>.torrent",
    "index.html.torrent",
    "readme.htm.torrent",
    "semicolon;jsessionid=1.torrent",
    "plus+and=equals,comma.torrent",
    "colon: no scheme.torrent",
    "http:looks like a scheme.torrent",
    "back\\slash.torrent",
    "[brackets] {braces} (round).torrent",
    "tilde~caret^pipe|grave`.torrent",
    "at@dollar$bang!star*.torrent",
    "dots...torrent",
    "種子 文件.torrent",
    "Ünïcödé — “quotes”.torrent",
    "кириллица.torrent",
    "décomposé e\u0301.torrent",
    "emoji 🧲.torrent",
    "rtl עברית.torrent",
    "UPPER CASE.TORRENT",
    "Mixed Case.Torrent",
    "many.dots.v1.2.3.x86_64.iso.torrent",
    "a" * 200 + ".torrent",
    "no extension",
    "0123456789abcdef0123456789abcdef01234567",
]

ODD_FOLDERS = ["plain", "with space", "100% & more", "种子", "quote's \"q\"", "hash#tag", "what?", "UPPER", "a/b/c/d/e/f"]


def payload(seed: str, size: int) -> bytes:
    return hashlib.shake_256(seed.encode()).digest(size)


def by_libtorrent(number: int, name: str) -> bytes:
    """A v1, v2 or hybrid torrent of a few files whose pieces come from a counter."""
    flavour = number % 3
    flags = (libtorrent.create_torrent.v1_only, libtorrent.create_torrent.v2_only, 0)[flavour]
    storage = libtorrent.file_storage()
    sizes = [1 + (number * 37 + n * 101) % 30_000 for n in range(1 + number % 4)]
    with tempfile.TemporaryDirectory() as folder:
        top = f"{name} {number}"
        os.mkdir(os.path.join(folder, top))
        for n, size in enumerate(sizes):
            with open(os.path.join(folder, top, f"file {n}.bin"), "wb") as file:
                file.write(payload(f"{number} {n}", size))
            storage.add_file(os.path.join(top, f"file {n}.bin"), size)
        maker = libtorrent.create_torrent(storage, 16_384, flags)
        libtorrent.set_piece_hashes(maker, folder)
    maker.set_creator("gleaner test")
    if number % 2:
        maker.add_tracker(f"http://tracker.invalid:6969/announce?n={number}", 0)
        maker.add_tracker("udp://tracker.invalid:6969", 1)
    if number % 5 == 0:
        maker.set_comment(f"comment {number} — ünïcode")
    if number % 7 == 0:
        maker.add_url_seed("http://seed.invalid/")
    made = maker.generate()
    made[b"creation date"] = 1_790_000_000 + number
    return libtorrent.bencode(made)


def by_mktorrent(number: int, target: pathlib.Path, payloads: pathlib.Path) -> None:
    source = payloads / f"payload {number}.bin"
    source.write_bytes(payload(f"mktorrent {number}", 1 + number * 53 % 60_000))
    # mktorrent adds `.torrent` to no name that is given with -o.
    command = ["mktorrent", "-d", "-t", "1", "-l", "15", "-o", str(target)]
    command += ["-a", f"http://tracker.invalid:6969/announce?n={number}"]
    if number % 3 == 0:
        command += ["-a", "http://second.invalid/announce", "-c", f"comment {number}"]
    if number % 5 == 0:
        command += ["-p", "-s", f"source {number}"]
    if number % 7 == 0:
        command += ["-w", "http://seed.invalid/"]
    done = subprocess.run([*command, str(source)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"make_torrents: mktorrent failed on {target}: {done.stdout}{done.stderr}")


def verdict(path: pathlib.Path) -> dict:
    try:
        hashes = libtorrent.torrent_info(libtorrent.bdecode(path.read_bytes())).info_hashes()
    except RuntimeError:
        return {"v1": None, "v2": None}
    return {
        "v1": str(hashes.v1) if hashes.has_v1() else None,
        "v2": str(hashes.v2) if hashes.has_v2() else None,
    }


def main() -> None:
    out, count, fixtures = pathlib.Path(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3])
    if shutil.which("mktorrent") is None:
        sys.exit("make_torrents: mktorrent is missing; hint: scripts/test installs it")
    tree = out / "tree"
    for folder in ODD_FOLDERS:
        (tree / folder).mkdir(parents=True)

    # A third by mktorrent, two thirds by libtorrent; the folder `plain` holds half of all, so one listing is long.
    targets = []
    for number in range(count):
        folder = "plain" if number % 2 else ODD_FOLDERS[number // 2 % len(ODD_FOLDERS)]
        targets.append(tree / folder / f"{'mktorrent' if number % 3 == 0 else 'libtorrent'}-{number:04}.torrent")
    for place, name in enumerate(ODD_NAMES):
        targets.append(tree / ODD_FOLDERS[place % len(ODD_FOLDERS)] / name)

    payloads = out / "payloads"
    payloads.mkdir()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = []
        for number, target in enumerate(targets):
            if number % 3 == 0:
                jobs.append(pool.submit(by_mktorrent, number, target, payloads))
            else:
                target.write_bytes(by_libtorrent(number, target.parent.name.strip() or "x"))
        for job in jobs:
            job.result()
    shutil.rmtree(payloads)

    webtorrent = tree / "webtorrent-fixtures"
    webtorrent.mkdir()
    for source in sorted(fixtures.glob("*.torrent")):
        shutil.copyfile(source, webtorrent / source.name)
    if not any(webtorrent.iterdir()):
        sys.exit(f"make_torrents: no torrents in {fixtures}; hint: scripts/test fetches webtorrent-fixtures")

    # What lies about on such servers and is no torrent, whatever its name.
    (tree / "README.txt").write_text("Torrents. See https://example.org/ for others.\n")
    (tree / "plain" / "posing.torrent").write_text("<!DOCTYPE html><title>Log in</title><p>Please log in.")
    (tree / "plain" / "empty.torrent").write_bytes(b"")
    (tree / "plain" / "cut short.torrent").write_bytes(targets[1].read_bytes()[:-40])

    files = sorted(path for path in tree.rglob("*") if path.is_file())
    truth = [{"path": str(path.relative_to(tree)), **verdict(path)} for path in files]
    torrents = sum(1 for row in truth if row["v1"] or row["v2"])
    if torrents < count:
        sys.exit(f"make_torrents: libtorrent accepts {torrents} of {len(files)} files, {count} were asked for")
    # Servers that drop root's rights must be able to read.
    for path in [out, tree, *tree.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    (out / "truth.json").write_text(json.dumps(truth, ensure_ascii=False, indent=0))


if __name__ == "__main__":
    main()

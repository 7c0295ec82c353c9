"""What feedparser and PyPI's torznab make of a served archive, as one JSON object: parsers.py ORIGIN."""

import json
import sys

import feedparser
import torznab

origin = sys.argv[1]


def feed(path):
    parsed = feedparser.parse(f"{origin}/{path}")
    entries = [
        {
            "hash": (entry.get("id") or "").rsplit(":", 1)[-1],
            "title": entry.title,
            "time": bool(entry.get("published_parsed") or entry.get("updated_parsed")),
            "enclosures": [[e.type, e.href, int(e.length)] for e in entry.enclosures],
        }
        for entry in parsed.entries
    ]
    return {"is_well_formed": not parsed.bozo, "entries": entries}


def found(query):
    items = torznab.Torznab(api_key="anything").search_torrent(query, f"{origin}/api")
    return [{"hash": i.infohash, "guid": i.guid, "size": i.size, "factor": i.dl_volume_factor, "categories": i.categories, "seeders": i.seeders} for i in items]


caps = torznab.Torznab().get_capabilities(f"{origin}/api")
try:
    error = str(torznab.Torznab().search_torrent("x", f"{origin}/api?t=nonsense&"))
except torznab.TorznabException as refused:
    error = type(refused).__name__
feeds = ["feeds/all.rss", "feeds/all.atom", "feeds/site/demo.rss", "feeds/all.rss?q=v1:yes", "api?t=search", "torznab/demo?t=search"]
print(
    json.dumps(
        {
            "feeds": {path: feed(path) for path in feeds},
            "torznab": found(""),
            "nothing": found("nosuchword"),
            "limits": [caps.limits.default, caps.limits.max],
            "categories": [c.id for c in caps.categories],
            "error": error,
        }
    )
)

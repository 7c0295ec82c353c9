"""What SickChill's provider of Newznab and Torznab servers takes from one: JSON lines on standard output. Usage: newznab_provider.py ORIGIN"""
import json
import logging
import sys

logging.disable(logging.CRITICAL)

from sickchill import settings  # noqa: E402
from sickchill.oldbeard import common  # noqa: E402
from sickchill.oldbeard.providers.newznab import NewznabProvider  # noqa: E402

settings.CPU_PRESET = "LOW"
common.cpu_presets = {"LOW": 0}
settings.USENET_RETENTION = 5000

provider = NewznabProvider("gleaner", sys.argv[1] + "/", categories="2000,3000,4000,5000,7000,8000")
is_there, categories, error = provider.get_newznab_categories()
results = provider.search({"RSS": [""]})
print(json.dumps({
    "caps": [is_there, error, sorted(int(of["id"]) for of in categories)],
    "is_torznab": bool(provider.torznab),
    "results": [{key: result.get(key) for key in ("title", "link", "size", "hash", "seeders")} for result in results],
}))

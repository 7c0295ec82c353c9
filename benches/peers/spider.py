"""What a competent Scrapy user writes for this job: link regexes, a resumable job, the infohash by hand.

Run by benches/peers/run with `scrapy runspider spider.py -s JOBDIR=… -a start=… -a out=…`.
"""

import os
import sys

from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from infohash import infohash  # noqa: E402


class Peer(CrawlSpider):
    name = "peer"
    custom_settings = {
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS": 16,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        "DOWNLOAD_DELAY": 0,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "WARNING",
    }
    rules = (
        Rule(LinkExtractor(allow=r"/browse/page-\d+\.html$"), follow=True),
        Rule(LinkExtractor(allow=r"/details/\d+\.html$"), follow=True),
        # `.torrent` is not among the extensions that LinkExtractor refuses by default.
        Rule(LinkExtractor(allow=r"/download/\d+\.torrent$"), callback="store", follow=False),
    )

    def __init__(self, start: str, out: str, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [start]
        self.allowed_domains = ["127.0.0.1"]
        self.out = out
        os.makedirs(out, exist_ok=True)

    def store(self, response):
        name = infohash(response.body)
        if name is None:
            return
        path = os.path.join(self.out, name + ".torrent")
        if not os.path.exists(path):
            with open(path, "wb") as file:
                file.write(response.body)

"""A broad crawler in Scrapy: every link of the host, torrents told by their content, an account's login form if there is one.

Run by benches/paper/run with `scrapy runspider broad.py -a start=… -a out=… [-a user=… -a password=…]`.
"""

import asyncio
import json
import os
import pathlib
import sys
import urllib.parse

import scrapy
from scrapy.linkextractors import LinkExtractor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "peers"))
from infohash import infohash  # noqa: E402

# A form that comes back at once is refused, as phpBB does.
TYPING_S = 3


class Broad(scrapy.Spider):
    name = "broad"
    custom_settings = {
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS": 16,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        "DOWNLOAD_DELAY": 0,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "ERROR",
    }

    def __init__(self, start, out, user="", password="", login="", **kwargs):
        super().__init__(**kwargs)
        self.begins, self.login = start.split(), login
        self.account = (user, password)
        self.out = out
        self.allowed_domains = [urllib.parse.urlsplit(self.begins[0]).hostname]
        self.links = LinkExtractor(deny=r"(?i)log_?out", deny_extensions=[])
        self.pages = 0
        os.makedirs(out, exist_ok=True)

    async def start(self):
        if self.login:
            yield scrapy.Request(self.login, callback=self.log_in, dont_filter=True)
        else:
            for request in self.begin(None):
                yield request

    async def log_in(self, response):
        await asyncio.sleep(TYPING_S)
        form = response.xpath('//form[.//input[@type="password"]]')
        name = form.xpath('.//input[@type="text" or not(@type)]/@name').get()
        secret = form.xpath('.//input[@type="password"]/@name').get()
        data = {name: self.account[0], secret: self.account[1]}
        path = '//form[.//input[@type="password"]]'
        yield scrapy.FormRequest.from_response(response, formxpath=path, formdata=data, callback=self.begin, dont_filter=True)

    def begin(self, response):
        for url in self.begins:
            yield scrapy.Request(url, callback=self.parse, dont_filter=True)

    def parse(self, response):
        self.pages += 1
        name = infohash(response.body) if response.body[:1] == b"d" else None
        if name is not None:
            path = os.path.join(self.out, name + ".torrent")
            if not os.path.exists(path):
                with open(path, "wb") as file:
                    file.write(response.body)
        elif isinstance(response, scrapy.http.HtmlResponse):
            for link in self.links.extract_links(response):
                yield scrapy.Request(link.url, callback=self.parse)

    def closed(self, reason):
        with open(os.path.join(self.out, "pages.json"), "w") as file:
            json.dump({"pages": self.pages, "reason": reason}, file)

//! The simulated web: a site's response is a function of its seed, the path and the number of published torrents, so that an
//! endless trap costs no memory. `wire` adds faults between it and the crawl.

use std::fmt::Write as _;
use std::io::Write as _;

use bytes::Bytes;
use sha1::{Digest, Sha1};

use super::random::{Random, mix};

/// Endless traps, and other oddities that a site may have besides its torrents.
#[derive(Clone, Copy, Debug, Default)]
pub struct Oddities {
    pub calendar: bool,
    pub facets: bool,
    pub deep: bool,
    pub random_ids: bool,
    pub session_ids: bool,
    pub soft_404: bool,
    pub redirects: bool,
    pub endless_body: bool,
    pub big_body: bool,
    pub fakes: bool,
    pub feed: bool,
    pub private: bool,
    /// Pages have entity tags, and conditional requests get a 304.
    pub entity_tags: bool,
}

impl Oddities {
    /// True if the site is endless.
    pub fn is_endless(self) -> bool {
        self.calendar || self.facets || self.deep || self.random_ids
    }
}

/// One site.
#[derive(Clone, Debug)]
pub struct WebSite {
    pub name: String,
    pub seed: u64,
    /// The first has the start page and the lists; details and downloads are spread over all.
    pub hosts: Vec<String>,
    pub boards: u64,
    pub per_page: u64,
    pub oddities: Oddities,
}

/// The response of a healthy server.
#[derive(Clone, Debug)]
pub enum Content {
    /// Links as absolute URLs, exactly as a browser would resolve them.
    Page {
        links: Vec<String>,
        body: Bytes,
        content_type: &'static str,
    },
    /// The torrent with this number.
    Torrent(u64),
    /// A page in place of a torrent.
    Fake,
    Image,
    Redirect(String),
    /// Never ends.
    Endless,
    /// Ends after this many bytes.
    Big(u64),
    Missing,
}

/// The distinct torrents of a site are numbered from zero; a repost has the infohash of an earlier one.
pub fn original(seed: u64, id: u64) -> u64 {
    let mut random = Random::new(mix(seed, 0x7000 + id));
    if id > 0 && random.percent(12) { original(seed, random.below(id)) } else { id }
}

/// The metainfo file of a torrent: a repost has other bytes around an equal `info`.
pub fn torrent_file(seed: u64, id: u64) -> (Bytes, [u8; 20]) {
    let content = original(seed, id);
    let mut random = Random::new(mix(seed, 0x9000 + content));
    let name = format!("torrent {content} of {seed:x}");
    let length = random.between(1, 1 << 26);
    let mut info = Vec::new();
    info.extend_from_slice(b"d");
    if random.percent(30) {
        let files = random.between(1, 5);
        info.extend_from_slice(b"5:filesl");
        for file in 0..files {
            let path = format!("file {file}.bin");
            info.extend_from_slice(
                format!("d6:lengthi{}e4:pathl{}:{path}ee", length / 7 + file, path.len()).as_bytes(),
            );
        }
        info.extend_from_slice(b"e");
        info.extend_from_slice(format!("4:name{}:{name}", name.len()).as_bytes());
    } else {
        // A single piece: the piece length is chosen accordingly.
        info.extend_from_slice(format!("6:lengthi{}e4:name{}:{name}", length % 16_384 + 1, name.len()).as_bytes());
    }
    let is_multi = info.starts_with(b"d5:files");
    let pieces = if is_multi { pieces_of(&info) } else { 1 };
    info.extend_from_slice(format!("12:piece lengthi{}e6:pieces{}:", PIECE, pieces * 20).as_bytes());
    for _ in 0..pieces {
        for _ in 0..5 {
            info.extend_from_slice(&(random.number() as u32).to_le_bytes());
        }
    }
    info.extend_from_slice(b"e");
    let hash: [u8; 20] = Sha1::digest(&info).into();
    let announce = format!("http://tracker.example/announce?id={id}");
    let mut file = format!("d8:announce{}:{announce}", announce.len()).into_bytes();
    file.extend_from_slice(format!("13:creation datei{}e4:info", 1_600_000_000 + id).as_bytes());
    file.extend_from_slice(&info);
    file.extend_from_slice(b"e");
    (Bytes::from(file), hash)
}

/// Bytes of one piece: 16 MiB, so that the files of the simulation stay small.
const PIECE: u64 = 1 << 24;

/// Number of pieces of the files written so far.
fn pieces_of(info: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(info);
    let total: u64 = text
        .split("6:lengthi")
        .skip(1)
        .filter_map(|rest| rest.split('e').next().and_then(|number| number.parse::<u64>().ok()))
        .sum();
    total.div_ceil(PIECE)
}

impl WebSite {
    pub fn url(&self, host: usize, path: &str) -> String {
        format!("http://{}{path}", self.hosts[host % self.hosts.len()])
    }

    fn detail_url(&self, id: u64) -> String {
        self.url(id as usize, &format!("/t/{id}"))
    }

    /// The first page of a list has no number in its URL.
    fn board_url(&self, board: u64, page: u64) -> String {
        self.url(0, &if page == 1 { format!("/b/{board}") } else { format!("/b/{board}/{page}") })
    }

    /// Downloads of some torrents have two URLs.
    fn download_urls(&self, id: u64) -> Vec<String> {
        let host = id as usize + 1;
        let mut urls = vec![match id % 3 {
            0 => self.url(host, &format!("/get.php?id={id}&file=1")),
            _ => self.url(host, &format!("/dl/{id}.torrent")),
        }];
        if id % 5 == 4 {
            urls.push(self.url(host + 1, &format!("/dl/mirror/{id}.torrent")));
        }
        urls
    }

    /// Torrents of a board, newest first.
    fn listed(&self, board: u64, page: u64, torrents: u64) -> (Vec<u64>, u64) {
        let of_board: Vec<u64> = (0..torrents).rev().filter(|id| id % self.boards == board).collect();
        let pages = (of_board.len() as u64).div_ceil(self.per_page).max(1);
        let from = ((page - 1) * self.per_page) as usize;
        let items = of_board.into_iter().skip(from).take(self.per_page as usize).collect();
        (items, pages)
    }

    /// The content of a path while `torrents` are published. `visit` changes session ids at each visit.
    pub fn at(&self, path: &str, torrents: u64, visit: u64) -> Content {
        let (plain, query) = path.split_once('?').unwrap_or((path, ""));
        let plain = plain.split(';').next().unwrap_or(plain);
        let parts: Vec<&str> = plain.trim_matches('/').split('/').collect();
        let number = |index: usize| parts.get(index).and_then(|part| part.parse::<u64>().ok());
        let odd = self.oddities;
        let links = match parts.as_slice() {
            [""] => self.front(torrents),
            ["b", _] | ["b", _, _] => match (number(1), if parts.len() == 2 { Some(1) } else { number(2) }) {
                (Some(board), Some(page)) if board < self.boards && page > 0 => {
                    let (items, pages) = self.listed(board, page, torrents);
                    if page > pages {
                        return Content::Missing;
                    }
                    let mut links: Vec<String> = items.iter().map(|id| self.detail_url(*id)).collect();
                    for other in [1, page.saturating_sub(1).max(1), (page + 1).min(pages), pages] {
                        links.push(self.board_url(board, other));
                    }
                    links
                }
                _ => return Content::Missing,
            },
            ["t", _] => match number(1) {
                Some(id) if id < torrents => self.detail(id),
                _ => return Content::Missing,
            },
            ["dl", rest @ ..] => {
                let id = rest.last().and_then(|name| name.strip_suffix(".torrent")).and_then(|id| id.parse().ok());
                return self.download(id, torrents);
            }
            ["get.php"] => {
                let id = query.split('&').find_map(|pair| pair.strip_prefix("id=")).and_then(|id| id.parse().ok());
                return self.download(id, torrents);
            }
            ["feed.xml"] => return self.feed(torrents),
            ["sitemap_index.xml"] => return sitemap(vec![self.url(0, "/sitemap.xml")], "sitemapindex", false),
            ["sitemap.xml" | "sitemap.xml.gz"] => {
                let links = (0..torrents).map(|id| self.detail_url(id)).collect();
                return sitemap(links, "urlset", plain.ends_with(".gz"));
            }
            ["about", _] => vec![self.url(0, "/")],
            ["private", name] if odd.private => vec![self.url(0, &format!("/private/{name}0"))],
            ["cal", year, month] if odd.calendar => calendar(self, year, month),
            ["facet"] if odd.facets => facets(self, query),
            ["deep", rest @ ..] if odd.deep => {
                let folder = ["a", "b"][rest.len() % 2];
                vec![self.url(0, &format!("{}/{folder}/", plain.trim_end_matches('/')))]
            }
            ["rnd", id] if odd.random_ids => {
                let mut random = Random::of(self.seed, id);
                (0..random.between(1, 3)).map(|_| self.url(0, &format!("/rnd/{:x}", random.number()))).collect()
            }
            ["soft", _] if odd.soft_404 => vec![self.url(0, "/")],
            ["loop", at] if odd.redirects => {
                let other = if *at == "a" { "b" } else { "a" };
                return Content::Redirect(self.url(0, &format!("/loop/{other}")));
            }
            ["chain", _] if odd.redirects => {
                return Content::Redirect(match number(1) {
                    Some(0) | None => self.detail_url(0),
                    Some(left) => format!("/chain/{}", left - 1),
                });
            }
            ["away"] if odd.redirects => return Content::Redirect("http://elsewhere.example/".to_owned()),
            ["nowhere"] if odd.redirects => return Content::Redirect("http://[".to_owned()),
            ["stream", _] if odd.endless_body => return Content::Endless,
            ["big", _] if odd.big_body => return Content::Big(64 << 20),
            ["img", _] => return Content::Image,
            _ => return Content::Missing,
        };
        self.page(path, links, visit)
    }

    fn front(&self, torrents: u64) -> Vec<String> {
        let odd = self.oddities;
        let mut links: Vec<String> = (0..self.boards).map(|board| self.board_url(board, 1)).collect();
        links.extend((0..2).map(|number| self.url(0, &format!("/about/{number}"))));
        links.extend([self.url(0, "/img/1.png"), "http://elsewhere.example/x".to_owned(), self.url(0, "/gone")]);
        let mut add = |wanted: bool, paths: &[&str]| {
            links.extend(paths.iter().filter(|_| wanted).map(|path| self.url(0, path)));
        };
        add(odd.feed, &["/feed.xml"]);
        add(odd.private, &["/private/1", "/private/2"]);
        add(odd.calendar, &["/cal/2026/11"]);
        add(odd.facets, &["/facet"]);
        add(odd.deep, &["/deep/"]);
        add(odd.random_ids, &["/rnd/1"]);
        add(odd.soft_404, &["/soft/1", "/soft/2", "/soft/3"]);
        add(odd.redirects, &["/loop/a", "/chain/4", "/away", "/nowhere"]);
        add(odd.endless_body, &["/stream/1"]);
        add(odd.big_body, &["/big/1"]);
        if torrents > 0 && odd.fakes {
            links.extend([self.url(0, "/dl/fake.torrent"), self.url(0, "/dl/malformed.torrent")]);
        }
        links
    }

    fn detail(&self, id: u64) -> Vec<String> {
        let mut links = self.download_urls(id);
        links.push(self.board_url(id % self.boards, 1));
        if id > 0 {
            links.push(self.detail_url(id / 2));
        }
        links
    }

    fn download(&self, id: Option<u64>, torrents: u64) -> Content {
        match id {
            Some(id) if id < torrents => Content::Torrent(id),
            Some(_) => Content::Missing,
            None if self.oddities.fakes => Content::Fake,
            None => Content::Missing,
        }
    }

    fn feed(&self, torrents: u64) -> Content {
        let links: Vec<String> =
            (torrents.saturating_sub(10)..torrents).rev().flat_map(|id| self.download_urls(id)).collect();
        let mut body = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?><rss><channel><title>new</title>");
        for link in &links {
            let _ = write!(body, "<item><enclosure url=\"{}\"/></item>", link.replace('&', "&amp;"));
        }
        body.push_str("</channel></rss>");
        Content::Page { links, body: body.into(), content_type: "application/rss+xml" }
    }

    /// Writes links in the various ways of real pages.
    fn page(&self, path: &str, links: Vec<String>, visit: u64) -> Content {
        let mut random = Random::of(self.seed, path);
        let own = self.page_host(path);
        let (label, encoding) = random.pick(&[
            ("utf-8", encoding_rs::UTF_8),
            ("gbk", encoding_rs::GBK),
            ("shift_jis", encoding_rs::SHIFT_JIS),
            ("windows-1251", encoding_rs::WINDOWS_1251),
        ]);
        let mut body =
            format!("<!doctype html><html><head><meta charset=\"{label}\"><title>{path}</title></head><body>");
        let text = match label {
            "gbk" => "种子文件 下载",
            "shift_jis" => "トレント ファイル",
            "windows-1251" => "Торрент файлы",
            _ => "Torrents à télécharger – 种子",
        };
        for link in &links {
            let mut href = link.clone();
            if self.oddities.session_ids && random.percent(50) {
                let id = format!("{:016x}{:016x}", mix(self.seed, visit), mix(visit, self.seed));
                href = match href.split_once('?') {
                    Some((path, query)) => format!("{path}?PHPSESSID={id}&{query}"),
                    None => format!("{href}?PHPSESSID={id}"),
                };
            }
            let origin = format!("http://{own}/");
            match random.below(4) {
                0 if href.starts_with(&origin) => href = href[origin.len() - 1..].to_owned(),
                1 => href = href["http:".len()..].to_owned(),
                _ => {}
            }
            let href = href.replace('&', "&amp;");
            let _ = match random.below(3) {
                0 => write!(body, "<p><a href=\"{href}\">{text}</a></p>"),
                1 => write!(body, "<li><a class=x href='{href}' rel=nofollow2>{text}</a>"),
                _ => write!(body, "<td><A HREF = \"{href}\"><b>{text}</b></A></td>"),
            };
        }
        let _ = write!(
            body,
            "<!-- <a href=\"/b/0/999\">--><script>var a = '<a href=\"/t/99999\">';</script></body></html>"
        );
        let (bytes, _, _) = encoding.encode(&body);
        Content::Page { links, body: bytes.into_owned().into(), content_type: "text/html" }
    }

    /// The host that links use for a page.
    fn page_host(&self, path: &str) -> &str {
        let id = path.strip_prefix("/t/").and_then(|id| id.parse::<usize>().ok()).unwrap_or(0);
        &self.hosts[id % self.hosts.len()]
    }
}

fn calendar(site: &WebSite, year: &str, month: &str) -> Vec<String> {
    let (Ok(year), Ok(month)) = (year.parse::<u64>(), month.parse::<u64>()) else { return Vec::new() };
    let (next, last) = (year * 12 + month, (year * 12 + month).saturating_sub(2));
    [next, last].map(|at| site.url(0, &format!("/cal/{}/{}", at / 12, at % 12 + 1))).to_vec()
}

/// Each page adds a filter in any order: the number of URLs grows like a factorial.
fn facets(site: &WebSite, query: &str) -> Vec<String> {
    const NAMES: [&str; 6] = ["color", "size", "year", "tag", "lang", "kind"];
    let unused = NAMES.iter().filter(|name| !query.contains(*name));
    let joined = |name: &&str| if query.is_empty() { format!("{name}=1") } else { format!("{query}&{name}=1") };
    unused.map(|name| site.url(0, &format!("/facet?{}", joined(name)))).collect()
}

/// As on sitemaps.org, gzipped if the name says so.
fn sitemap(links: Vec<String>, kind: &str, gzipped: bool) -> Content {
    let item = if kind == "urlset" { "url" } else { "sitemap" };
    let mut text = format!("<?xml version=\"1.0\"?><{kind} xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">");
    for link in &links {
        let _ = write!(text, "<{item}><loc>{}</loc></{item}>", link.replace('&', "&amp;"));
    }
    let _ = write!(text, "</{kind}>");
    if !gzipped {
        return Content::Page { links, body: text.into(), content_type: "application/xml" };
    }
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    Content::Page { links, body: packed.finish().unwrap().into(), content_type: "application/x-gzip" }
}

/// A soft 404: the page of a server that never sends a 404.
pub fn soft_404(path: &str) -> Bytes {
    format!("<html><head><title>Not found</title></head><body>{} is not here.</body></html>", path.len()).into()
}

/// The page of a server whose session has expired.
pub fn login_page() -> Bytes {
    Bytes::from_static(b"<html><body><form action=/login method=post><input name=user><input type=password name=pass></form></body></html>")
}

/// All infohashes of a site while `torrents` are published.
pub fn infohashes(site: &WebSite, torrents: u64) -> std::collections::BTreeMap<[u8; 20], Vec<u64>> {
    let mut all = std::collections::BTreeMap::<[u8; 20], Vec<u64>>::new();
    for id in 0..torrents {
        all.entry(torrent_file(site.seed, id).1).or_default().push(id);
    }
    all
}

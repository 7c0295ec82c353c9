//! What one answer shows: a torrent, or a page's links with their texts.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{Hash as _, Hasher as _};
use std::sync::LazyLock;

use encoding_rs::Encoding;
use scraper::{ElementRef, Html, Selector};
use url::Url;
use xxhash_rust::xxh3::Xxh3;

use crate::limits::{LINKS_PER_PAGE_MAX, TEXT_BYTES_MAX, URL_BYTES_MAX};
use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_net::fetch::charset;
use gleaner_page::encoded_links::{self, Decoded};
use gleaner_page::links::{self, LinkKind, PageLinks};
use gleaner_page::{feed, scripted, sitemap, tree};
use gleaner_rules::gives_torrent;
use gleaner_torrent::{bencode, magnet, metainfo};

/// An answer as it came, after redirects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// URL after redirects.
    pub url: String,
    pub status: u16,
    pub content_type: Option<String>,
    pub body: Vec<u8>,
    /// Addresses that only a render showed, with their texts.
    pub rendered: Vec<(String, String)>,
}

/// What an answer is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A torrent, by its infohash in hexadecimal digits.
    Torrent(String),
    Page,
    /// A feed or a sitemap: its links are read, but no list is learned from it.
    Feed,
    /// Anything else.
    Other,
    /// A status of 400 and more.
    Failed(u16),
}

/// A link to the site itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Path and query.
    pub path: Box<str>,
    pub text: Box<str>,
    /// Hash of the elements around it.
    pub tags: u64,
    /// The page asks before it is followed, or sends it by another method than GET.
    pub asks: bool,
}

/// What a page shows.
#[derive(Clone, Debug)]
pub struct Reading {
    pub kind: Kind,
    /// In document order.
    pub links: Vec<Link>,
    /// Infohashes of magnets, in hexadecimal digits.
    pub magnets: BTreeSet<String>,
    /// Other hosts that links to torrents lead to, and how many do.
    pub elsewhere: BTreeMap<String, usize>,
    /// It has a form with a password.
    pub has_login: bool,
    /// Scripts build what it shows.
    pub is_built: bool,
    /// It is the listing of a folder that a web server makes.
    pub lists_folder: bool,
    /// A link names the other of `example.org` and `www.example.org`.
    pub names_twin: bool,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            kind: Kind::Other,
            links: Vec::new(),
            magnets: BTreeSet::new(),
            elsewhere: BTreeMap::new(),
            has_login: false,
            is_built: false,
            names_twin: false,
            lists_folder: false,
        }
    }
}

/// The host of a site, whose links are learned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// `https://example.org`
    pub origin: String,
    authority: String,
}

impl Home {
    /// The home of a start URL.
    #[must_use]
    pub fn of(start: &CrawlUrl) -> Self {
        Self { origin: start.origin().to_owned(), authority: start.authority().to_owned() }
    }

    /// True for a URL of the site: of its host, with or without `www.`.
    #[must_use]
    pub fn owns(&self, authority: &str) -> bool {
        let plain = |of: &str| of.strip_prefix("www.").unwrap_or(of).to_owned();
        plain(authority) == plain(&self.authority)
    }

    /// The whole URL of a path and query.
    #[must_use]
    pub fn url(&self, path: &str) -> CrawlUrl {
        CrawlUrl::from_parts(&self.origin, path)
    }
}

static ANCHORS: LazyLock<Selector> = LazyLock::new(|| selector("a[href], area[href], iframe[src], frame[src]"));
static PICTURES: LazyLock<Selector> = LazyLock::new(|| selector("img[alt], img[title], svg title, i[title]"));
static PASSWORDS: LazyLock<Selector> = LazyLock::new(|| selector("form input[type=password i]"));

fn selector(text: &str) -> Selector {
    Selector::parse(text).expect("the selector is constant and tested")
}

impl Reading {
    /// Reads an answer. `canonical` brings URLs into the form in which a crawl knows them.
    #[must_use]
    pub fn of(answer: &Answer, home: &Home, canonical: &Canonical) -> Self {
        let mut reading = Self::default();
        if answer.status >= 400 {
            reading.kind = Kind::Failed(answer.status);
        } else if let Ok(torrent) = metainfo::parse(bencode::skip_blank(&answer.body)) {
            reading.kind = Kind::Torrent(torrent.infohashes.key_hex());
            return reading;
        }
        let Some(own) = Url::parse(&answer.url).ok() else { return reading };
        let encoding = charset::detect(answer.content_type.as_deref(), &answer.body, None);
        if let Some(links) = listed(&answer.body, encoding) {
            if reading.kind == Kind::Other {
                reading.kind = Kind::Feed;
            }
            let mut found =
                Found { reading: &mut reading, home, canonical, known: HashMap::new(), elsewhere: HashSet::new() };
            links.links.iter().for_each(|link| found.link(&own, encoding, &link.href, LinkText::default()));
            return reading;
        }
        if !is_markup(answer) {
            return reading;
        }
        if reading.kind == Kind::Other {
            reading.kind = Kind::Page;
        }
        let (text, _) = encoding.decode_with_bom_removal(&answer.body);
        let scanned = links::scan(&answer.body, encoding);
        let base = scanned.base.as_ref().and_then(|base| own.join(base).ok()).unwrap_or_else(|| own.clone());
        let signs = scripted::signs(&answer.body);
        let Ok(document) = tree::parse(&text) else { return reading };
        reading.lists_folder = scanned.folder.is_some();
        reading.has_login = document.select(&PASSWORDS).count() == 1;
        let mut found =
            Found { reading: &mut reading, home, canonical, known: HashMap::new(), elsewhere: HashSet::new() };
        found.anchors(&document, &base, encoding);
        for link in &scanned.links {
            if link.kind == LinkKind::Encoded {
                found.encoded(&link.href);
            } else if matches!(
                link.kind,
                LinkKind::Anchor | LinkKind::Next | LinkKind::Frame | LinkKind::Click | LinkKind::Feed
            ) {
                found.link(&base, encoding, &link.href, LinkText::default());
            }
        }
        for (link, text) in &answer.rendered {
            found.link(&base, encoding, link, LinkText { text: text.clone(), tags: RENDERED, asks: false });
        }
        reading.is_built = signs.empty_root || signs.waits || signs.framework && reading.links.len() < 30;
        reading
    }
}

/// Whom a page was served to, by its own signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServedTo {
    /// It has a link to log out.
    Member,
    /// It asks for a password, and has no link to log out.
    Guest,
    /// It does not show it.
    Either,
}

impl ServedTo {
    /// Reads the signs of an answer.
    #[must_use]
    pub fn of(answer: &Answer) -> Self {
        if answer.status >= 400 || !is_markup(answer) {
            return Self::Either;
        }
        let encoding = charset::detect(answer.content_type.as_deref(), &answer.body, None);
        if links::scan(&answer.body, encoding).links.iter().any(|link| gleaner_rules::ends_session(&link.href)) {
            return Self::Member;
        }
        let (text, _) = encoding.decode_with_bom_removal(&answer.body);
        let asks = tree::parse(&text).is_ok_and(|document| document.select(&PASSWORDS).count() == 1);
        if asks { Self::Guest } else { Self::Either }
    }
}

/// The links of a feed or a sitemap.
fn listed(body: &[u8], encoding: &'static Encoding) -> Option<PageLinks<'static>> {
    if feed::is_feed(body, encoding) {
        return Some(feed::links(body, encoding));
    }
    let front = &body[..body.len().min(1_024)];
    let is_sitemap = front.windows(7).any(|of| of == b"<urlset") || front.windows(13).any(|of| of == b"<sitemapindex");
    is_sitemap.then(|| sitemap::links(body, encoding))
}

fn is_markup(answer: &Answer) -> bool {
    let kind = answer.content_type.as_deref().unwrap_or("text/html").to_ascii_lowercase();
    let is_other = [
        "image/",
        "video/",
        "audio/",
        "font/",
        "application/zip",
        "application/javascript",
        "application/json",
        "text/css",
    ];
    !is_other.iter().any(|other| kind.starts_with(other)) && answer.body.iter().take(2_048).any(|of| *of == b'<')
}

/// What stands beside a link's reference.
#[derive(Default)]
struct LinkText {
    text: String,
    tags: u64,
    asks: bool,
}

/// Links that are collected.
struct Found<'a> {
    reading: &'a mut Reading,
    home: &'a Home,
    canonical: &'a Canonical,
    /// Index of the link of each reference with a text, so that the same one from elsewhere is not added.
    known: HashMap<String, usize>,
    /// URLs of torrents on other hosts.
    elsewhere: HashSet<String>,
}

impl Found<'_> {
    fn anchors(&mut self, document: &Html, base: &Url, encoding: &'static Encoding) {
        for element in document.select(&ANCHORS).take(LINKS_PER_PAGE_MAX) {
            let value = element.value();
            let Some(href) = value.attr("href").or_else(|| value.attr("src")) else { continue };
            let attribute = |name: &str| value.attr(name).unwrap_or_default();
            let asks = attribute("onclick").contains("confirm")
                || value.attr("data-confirm").is_some()
                || !matches!(attribute("data-method").to_ascii_lowercase().as_str(), "" | "get");
            self.link(base, encoding, href, LinkText { text: text_of(element), tags: tags_of(element), asks });
        }
    }

    fn link(&mut self, base: &Url, encoding: &'static Encoding, href: &str, beside: LinkText) {
        let href = href.trim();
        if href.starts_with("magnet:") {
            self.magnet(href);
            return;
        }
        if href.is_empty() || href.starts_with('#') || self.reading.links.len() >= LINKS_PER_PAGE_MAX {
            return;
        }
        let Ok(url) = CrawlUrl::join(base, href, Some(encoding), self.canonical) else { return };
        if !self.home.owns(url.authority()) {
            if gives_torrent(url.path()) && self.elsewhere.insert(url.as_str().to_owned()) {
                *self.reading.elsewhere.entry(url.authority().to_owned()).or_default() += 1;
            }
            return;
        }
        self.reading.names_twin |= url.authority() != self.home.authority;
        if url.path().len() > URL_BYTES_MAX {
            return;
        }
        let has_text = !beside.text.is_empty() || beside.tags != 0;
        match self.known.get(url.path()) {
            Some(_) if !has_text => {}
            Some(index) if beside.asks => self.reading.links[*index].asks = true,
            known => {
                if known.is_none() {
                    self.known.insert(url.path().to_owned(), self.reading.links.len());
                }
                let LinkText { text, tags, asks } = beside;
                self.reading.links.push(Link { path: url.path().into(), text: text.into(), tags, asks });
            }
        }
    }

    fn encoded(&mut self, link: &str) {
        if link.starts_with("magnet:") {
            self.magnet(link);
        } else if let Ok(Decoded::Magnet(magnet)) = encoded_links::decode(link) {
            self.magnet(&magnet);
        }
    }

    fn magnet(&mut self, text: &str) {
        if let Ok(magnet) = magnet::parse(text) {
            self.reading.magnets.insert(magnet.infohashes.key_hex());
        }
    }
}

/// The text of a link, or what its picture is called.
fn text_of(element: ElementRef<'_>) -> String {
    let mut text = String::new();
    for word in element.text().flat_map(str::split_whitespace) {
        if text.len() + word.len() >= TEXT_BYTES_MAX {
            break;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
    if !text.is_empty() {
        return text;
    }
    let picture = element.select(&PICTURES).next();
    let called = picture.and_then(|of| of.value().attr("alt").or_else(|| of.value().attr("title")));
    let called = called.or_else(|| element.value().attr("title")).unwrap_or_default();
    called.chars().take(TEXT_BYTES_MAX / 4).collect()
}

/// The place of links that scripts made.
const RENDERED: u64 = 1;

/// Elements around a link whose names and first classes tell its place.
const TAGS_AROUND: usize = 6;

fn tags_of(element: ElementRef<'_>) -> u64 {
    let mut hasher = Xxh3::new();
    for around in element.ancestors().filter_map(ElementRef::wrap).take(TAGS_AROUND) {
        let name = around.value().name();
        if matches!(name, "body" | "html") {
            break;
        }
        name.hash(&mut hasher);
        around.value().classes().next().hash(&mut hasher);
    }
    hasher.finish().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Reading {
        let start = CrawlUrl::parse("https://example.org/forum/", &Canonical::default()).unwrap();
        let answer = Answer { url: start.as_str().to_owned(), status: 200, body: body.into(), ..Answer::default() };
        Reading::of(&answer, &Home::of(&start), &Canonical::default())
    }

    #[test]
    fn links_have_their_texts_and_say_whether_they_ask() {
        let page = read(
            "<div class=row><a href='t?id=1'> One  <b>more</b></a><a href='/x' onclick=\"return confirm('?')\"><img alt=del></a>
             <a href='magnet:?xt=urn:btih:0123456789abcdef0123456789abcdef01234567'>m</a><a href='https://cdn.example/a.torrent'>a</a>
             <a href='//www.example.org/w'>w</a></div><form method=post><input type=password></form>",
        );
        let told: Vec<_> = page.links.iter().map(|link| (&*link.path, &*link.text, link.asks)).collect();
        assert_eq!(told, [("/forum/t?id=1", "One more", false), ("/x", "del", true), ("/w", "w", false)]);
        assert_eq!((page.kind, page.magnets.len(), page.has_login, page.names_twin), (Kind::Page, 1, true, true));
        assert_eq!(page.elsewhere.into_iter().collect::<Vec<_>>(), [("cdn.example".to_owned(), 1)]);
    }

    #[test]
    fn thirty_thousand_links_are_two_thousand() {
        let many: String = (0..30_000).map(|n| format!("<a href=/{n}>{n}</a>")).collect();
        assert_eq!(read(&many).links.len(), LINKS_PER_PAGE_MAX);
    }
}

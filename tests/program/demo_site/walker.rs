//! A crawler of a hundred lines that shares no code with gleaner: regular expressions for links, a recursive
//! bencode skipper for infohashes. It follows the demo's rule file as written.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::sync::LazyLock;

use base64::Engine as _;
use gleaner_torrent::Infohashes;
use regex::{Captures, Regex};
use sha1::Digest as _;
use url::Url;

static NOT_MARKUP: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?is)<!--.*?-->|<script.*?</script>|<style.*?</style>|<textarea.*?</textarea>"));
static BASE: LazyLock<Regex> = LazyLock::new(|| regex(r#"<base href="([^"]+)""#));
static ANCHOR: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"(?is)<a\s(?:[^>]*?\s)?href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))"#));
static ENTITY: LazyLock<Regex> = LazyLock::new(|| regex(r"&(\w+|#\w+);"));
static ESCAPE: LazyLock<Regex> = LazyLock::new(|| regex("%[0-9a-fA-F]{2}"));

/// One complete response.
pub struct Reply {
    pub url: Url,
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("an ASCII header"))
    }

    fn encoding(&self) -> &'static encoding_rs::Encoding {
        let head = String::from_utf8_lossy(&self.body[..self.body.len().min(1_024)]).into_owned();
        let said = format!("{} {head}", self.header("content-type").unwrap_or_default());
        if said.contains("charset=gb") { encoding_rs::GBK } else { encoding_rs::UTF_8 }
    }

    /// Links as written (entities decoded) and resolved, without those in comments, scripts and text areas.
    pub fn links(&self) -> Vec<(String, Option<Url>)> {
        let encoding = self.encoding();
        let text = encoding.decode(&self.body).0.into_owned();
        let text = NOT_MARKUP.replace_all(&text, "");
        let base = BASE.captures(&text).map_or(self.url.clone(), |found| Url::parse(&found[1]).unwrap());
        let encode = encoder(encoding);
        let options = Url::options().base_url(Some(&base)).encoding_override(Some(&encode));
        ANCHOR
            .captures_iter(&text)
            .map(|found| unescape(found.get(1).or(found.get(2)).or(found.get(3)).expect("one of the three").as_str()))
            .map(|link| {
                let target = decode_link(&link).map_or(link.clone(), |bytes| encoding.decode(&bytes).0.into_owned());
                let url = options.parse(&target).ok();
                (link, url)
            })
            .collect()
    }
}

/// Ties the closure to the signature that `url` asks for.
fn encoder(encoding: &'static encoding_rs::Encoding) -> impl for<'a> Fn(&'a str) -> Cow<'a, [u8]> {
    move |query| encoding.encode(query).0
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a valid pattern")
}

fn unescape(text: &str) -> String {
    let decode = |found: &Captures<'_>| match &found[1] {
        "amp" => "&".to_owned(),
        "lt" => "<".to_owned(),
        "gt" => ">".to_owned(),
        "quot" => "\"".to_owned(),
        "#39" => "'".to_owned(),
        "#47" | "#x2F" => "/".to_owned(),
        other => panic!("the site writes &{other};"),
    };
    ENTITY.replace_all(text, decode).into_owned()
}

/// The URL in a link of a download manager.
fn decode_link(link: &str) -> Option<Vec<u8>> {
    let (scheme, code) = link.split_once("://")?;
    let code = code.split('&').next().unwrap_or_default();
    let (before, after) = match scheme {
        "thunder" => ("AA", "ZZ"),
        "flashget" => ("[FLASHGET]", "[FLASHGET]"),
        "qqdl" => ("", ""),
        _ => return None,
    };
    let bytes = base64::engine::general_purpose::STANDARD.decode(code).expect("base64");
    Some(bytes[before.len()..bytes.len() - after.len()].to_vec())
}

/// A torrent as it was sent.
pub struct Served {
    pub url: Url,
    pub content_type: Option<String>,
    pub has_disposition: bool,
    pub body: Vec<u8>,
    pub infohashes: Infohashes,
}

/// The result of a walk.
#[derive(Default)]
pub struct Walk {
    pub torrents: Vec<Served>,
    /// Bodies of downloads that are no torrents.
    pub decoys: Vec<Vec<u8>>,
    pub magnets: BTreeSet<Infohashes>,
    /// Bytes of each page by class.
    pub pages: BTreeMap<String, Vec<usize>>,
    /// Links of each scheme, and of each way to write one.
    pub schemes: BTreeMap<String, usize>,
    /// Permanent redirects.
    pub redirects: usize,
    /// Temporary redirects: on this site, to another host.
    pub moved: usize,
    pub not_found: usize,
}

/// The parts of the demo's rule file that a walk needs.
pub struct Rules {
    start: Url,
    deny: Vec<Regex>,
    classes: Vec<(String, Regex)>,
    drop: HashSet<String>,
}

impl Rules {
    pub fn read(text: &str) -> Self {
        let table: toml::Table = toml::from_str(text).expect("TOML");
        let strings = |value: &toml::Value| -> Vec<String> {
            value.as_array().expect("a list").iter().map(|item| item.as_str().expect("a string").to_owned()).collect()
        };
        let classes = table["classes"].as_table().expect("a table").iter();
        Self {
            start: Url::parse(&strings(&table["start"])[0]).expect("a URL"),
            deny: strings(&table["deny"]).iter().map(|pattern| regex(pattern)).collect(),
            classes: classes
                .flat_map(|(class, patterns)| {
                    strings(patterns).into_iter().map(|pattern| (class.clone(), regex(&pattern)))
                })
                .collect(),
            drop: ["drop", "session"].iter().flat_map(|key| strings(&table["parameters"][*key])).collect(),
        }
    }

    /// The URL without dropped parameters and fragment, percent-encoding in upper case.
    pub fn clean(&self, mut url: Url) -> Url {
        url.set_fragment(None);
        let kept: Vec<&str> = url.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty()).collect();
        let kept: Vec<&str> =
            kept.into_iter().filter(|pair| !self.drop.contains(pair.split('=').next().unwrap_or_default())).collect();
        let query = ESCAPE.replace_all(&kept.join("&"), |found: &Captures<'_>| found[0].to_uppercase()).into_owned();
        url.set_query(Some(query.as_str()).filter(|query| !query.is_empty()));
        url
    }

    /// The URL's class; None if the rules or robots.txt refuse it.
    pub fn class(&self, url: &Url) -> Option<&str> {
        let path = &url[url::Position::BeforePath..];
        let is_ours = url.origin() == self.start.origin();
        let is_closed = path.starts_with("/private/") || path.contains("?view=print");
        if !is_ours || is_closed || self.deny.iter().any(|deny| deny.is_match(path)) {
            return None;
        }
        self.classes.iter().find(|(_, pattern)| pattern.is_match(path)).map(|(class, _)| class.as_str())
    }
}

/// Fetches with or without the session's cookie; follows no redirects.
pub struct Client {
    http: reqwest::Client,
    pub cookie: Option<String>,
}

impl Client {
    pub fn new() -> Self {
        // Another test of this process may have installed it.
        drop(rustls::crypto::ring::default_provider().install_default());
        let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().expect("a client");
        Self { http, cookie: None }
    }

    /// A client with the cookie of an earlier visit.
    pub fn returning() -> Self {
        Self { cookie: Some("demo_sid=1".to_owned()), ..Self::new() }
    }

    pub async fn get(&self, url: &Url) -> Reply {
        self.get_with(url, &[]).await
    }

    pub async fn get_with(&self, url: &Url, headers: &[(&str, &str)]) -> Reply {
        let mut request = self.http.get(url.clone());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", cookie);
        }
        let mut response = request.send().await.expect("an answer");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.expect("a whole body") {
            body.extend_from_slice(&chunk);
        }
        Reply { url: url.clone(), status, headers, body }
    }
}

/// Walks everything that the rules allow, each URL once.
pub async fn walk(rules: &Rules, keeps_cookies: bool) -> Walk {
    let mut client = Client::new();
    let mut walk = Walk::default();
    let mut known = HashSet::from([rules.start.clone()]);
    let mut queue = VecDeque::from([rules.start.clone()]);
    while let Some(url) = queue.pop_front() {
        let class = rules.class(&url).expect("only such URLs are queued").to_owned();
        let reply = client.get(&url).await;
        if let Some(cookie) = reply.header("set-cookie").filter(|_| keeps_cookies) {
            client.cookie = cookie.split(';').next().map(str::to_owned);
        }
        let mut found = Vec::new();
        match (reply.status, class.as_str()) {
            (301 | 302, _) => {
                walk.redirects += usize::from(reply.status == 301);
                walk.moved += usize::from(reply.status == 302);
                found.push((String::new(), url.join(reply.header("location").expect("a target")).ok()));
            }
            (404, _) => walk.not_found += 1,
            (200, "download") => walk.keep(reply),
            (200, _) => {
                walk.pages.entry(class).or_default().push(reply.body.len());
                found = reply.links();
            }
            (status, _) => panic!("{status} for {url}"),
        }
        for (link, target) in found {
            let scheme = link.split(':').next().filter(|scheme| link.len() > scheme.len()).unwrap_or("relative");
            *walk.schemes.entry(scheme.to_owned()).or_default() += 1;
            if link.starts_with("magnet:") {
                walk.magnets.insert(read_magnet(&link));
            } else if let Some(target) = target.map(|target| rules.clean(target))
                && rules.class(&target).is_some()
                && known.insert(target.clone())
            {
                queue.push_back(target);
            }
        }
    }
    walk
}

impl Walk {
    fn keep(&mut self, reply: Reply) {
        let Some(infohashes) = infohashes(&reply.body) else {
            self.decoys.push(reply.body);
            return;
        };
        let content_type = reply.header("content-type").map(str::to_owned);
        let has_disposition = reply.header("content-disposition").is_some();
        self.torrents.push(Served { url: reply.url, content_type, has_disposition, body: reply.body, infohashes });
    }
}

/// Infohashes over the bytes after the first `4:info` of a complete bencoded dictionary; None for anything else.
pub fn infohashes(body: &[u8]) -> Option<Infohashes> {
    let text = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii();
    let line_31 = b"on line <b>31</b><br />\n";
    let warning = text.windows(line_31.len()).position(|window| window == line_31);
    let text = warning.map_or(text, |at| &text[at + line_31.len()..]);
    if text.first() != Some(&b'd') || skip(text)? != text.len() {
        return None;
    }
    let at = text.windows(7).position(|window| window == b"4:infod")? + 6;
    let info = &text[at..at + skip(&text[at..])?];
    let has = |key: &[u8]| info.windows(key.len()).any(|window| window == key);
    Some(Infohashes {
        v1: has(b"6:pieces").then(|| sha1::Sha1::digest(info).into()),
        v2: has(b"12:meta versioni2e").then(|| sha2::Sha256::digest(info).into()),
    })
}

/// Length of the bencoded value at the beginning of `bytes`.
fn skip(bytes: &[u8]) -> Option<usize> {
    match *bytes.first()? {
        b'i' => Some(bytes.iter().position(|&byte| byte == b'e')? + 1),
        b'd' | b'l' => {
            let mut at = 1;
            while *bytes.get(at)? != b'e' {
                at += skip(&bytes[at..])?;
            }
            Some(at + 1)
        }
        _ => {
            let colon = bytes.iter().take(12).position(|&byte| byte == b':')?;
            let length: usize = std::str::from_utf8(&bytes[..colon]).ok()?.parse().ok()?;
            let end = colon + 1 + length;
            (end <= bytes.len()).then_some(end)
        }
    }
}

fn read_magnet(link: &str) -> Infohashes {
    let mut hashes = Infohashes { v1: None, v2: None };
    for pair in link.trim_start_matches("magnet:?").split('&') {
        if let Some(hash) = pair.strip_prefix("xt=urn:btih:") {
            let bytes = match hash.len() {
                40 => data_encoding::HEXLOWER.decode(hash.as_bytes()),
                _ => data_encoding::BASE32.decode(hash.as_bytes()),
            };
            hashes.v1 = Some(bytes.expect("hex or base32").try_into().expect("20 bytes"));
        } else if let Some(hash) = pair.strip_prefix("xt=urn:btmh:1220") {
            let bytes = data_encoding::HEXLOWER.decode(hash.as_bytes()).expect("hex");
            hashes.v2 = Some(bytes.try_into().expect("32 bytes"));
        }
    }
    hashes
}

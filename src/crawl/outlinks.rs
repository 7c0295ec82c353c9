//! From a page's bytes to the URLs that the rules take, the magnets it names and what it lists. Pure: bytes in,
//! findings out.

use std::collections::HashSet;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::site::{Found, Site};
use super::visit::Job;
use super::{denial, robots_txt};
use crate::limits;
use gleaner_base::url::CrawlUrl;
use gleaner_login::view::View;
use gleaner_net::fetch::{ResponseHeaders, charset};
use gleaner_net::politeness::robots;
use gleaner_page::encoded_links::{self, Decoded};
use gleaner_page::links::LinkKind;
use gleaner_page::noise::{self, Page};
use gleaner_page::{feed, links, pagination, sitemap};
use gleaner_rules::{Class, Refusal, Robots, SiteRules, Verdict};
use gleaner_store::crawldb::{Listing, MagnetFacts};
use gleaner_torrent::magnet;

/// What a page gave.
pub struct PageFindings {
    pub found: Vec<Found>,
    pub magnets: Vec<MagnetFacts>,
    pub listing: Option<Listing>,
    /// A hash of what a list's rows say, whatever their links are called; None where that does not tell them apart.
    pub said: Option<u64>,
    /// Hash of the body and of the URLs found in it: equal ones are one page under two URLs.
    pub fingerprint: u64,
    /// Links to the site's own hosts that no class takes: path and query.
    pub unclassed: Vec<Box<str>>,
    /// Where the site's account is due: a sign that this is a guest's page.
    pub denied: Option<String>,
    /// The page had more links than `limits` allow; the rest was left.
    pub truncated: bool,
    /// The page asks robots not to follow its links, and the site's rules obey: none was taken.
    pub nofollow: bool,
}

impl PageFindings {
    /// Adds what another reading of the page has found and this one has not.
    pub fn add(&mut self, other: &Self) {
        let known: HashSet<String> = self.found.iter().map(|found| found.url.as_str().to_owned()).collect();
        self.found.extend(other.found.iter().filter(|found| !known.contains(found.url.as_str())).cloned());
        let named: HashSet<_> = self.magnets.iter().map(|magnet| magnet.infohashes).collect();
        self.magnets.extend(other.magnets.iter().filter(|magnet| !named.contains(&magnet.infohashes)).cloned());
    }
}

/// Reads a page, a feed or a sitemap. Links are resolved, normalised and judged; repeats within the page are dropped.
/// A page that asks robots not to follow its links, by itself or by its headers, gives none where the site's rules obey
/// robots; a magnet is no link to follow.
#[must_use]
pub fn read_page(site: &Site, job: &Job, headers: &ResponseHeaders, body: &[u8]) -> PageFindings {
    let charset = site.rules.charset.map(encoding_rs::Encoding::name);
    let encoding = charset::detect(headers.content_type.as_deref(), body, charset);
    read_with(site, job, headers, body, (encoding, encoding), &[])
}

/// [`read_page`] of a document that scripts have made, with the addresses that only its states showed. The document is
/// text now, and its addresses are still written in the charset that the page came in.
#[must_use]
pub fn read_rendered(
    site: &Site,
    job: &Job,
    headers: &ResponseHeaders,
    (html, charset): (&str, &'static encoding_rs::Encoding),
    more: &[String],
) -> PageFindings {
    read_with(site, job, headers, html.as_bytes(), (encoding_rs::UTF_8, charset), more)
}

/// `encoding` is the body's, `of_links` that of the addresses in it.
fn read_with(
    site: &Site,
    job: &Job,
    headers: &ResponseHeaders,
    body: &[u8],
    (encoding, of_links): (&'static encoding_rs::Encoding, &'static encoding_rs::Encoding),
    more: &[String],
) -> PageFindings {
    let is_sitemap = job.class == Class::Sitemap;
    let body: &[u8] = if is_sitemap { &sitemap::unpacked(body) } else { body };
    let is_feed = is_sitemap || feed::is_feed(body, encoding);
    let page = match is_feed {
        true if is_sitemap => sitemap::links(body, encoding),
        true => feed::links(body, encoding),
        false => links::scan(body, encoding),
    };
    let own = url::Url::parse(job.url.as_str()).ok();
    // A base that no link can be resolved against, as `javascript:` or `data:`, is none (HTML §4.2.3).
    let named = own.as_ref().zip(page.base.as_deref()).and_then(|(own, base)| own.join(base).ok());
    let base = named.filter(|base| matches!(base.scheme(), "http" | "https")).or(own);
    let says_nofollow =
        page.robots_nofollow || robots::tags_say_nofollow(&headers.robots_tags, robots_txt::PRODUCT_TOKEN);
    let nofollow = says_nofollow && site.rules.robots == Robots::Obey;

    // What a reader sees of it, where the operator's account is due: the text of a link may be all that says that it logs out.
    let view = (!is_feed && site.rules.login.is_some()).then(|| View::of(&encoding.decode(body).0).ok()).flatten();
    let labelled = view.iter().flat_map(View::log_out_labels);
    let ends_session =
        labelled.filter_map(|link| CrawlUrl::join(base.as_ref()?, link, Some(of_links), &site.rules.canonical).ok());
    let mut taken = Taken {
        site,
        job,
        ends_session: ends_session.collect(),
        lists_sitemaps: is_sitemap && sitemap::is_index(body, encoding),
        seen: HashSet::new(),
        found: Vec::new(),
        unclassed: Vec::new(),
        bytes: 0,
        truncated: page.truncated,
    };
    let mut take = |href: &str| {
        if let Some(base) = base.as_ref().filter(|_| !nofollow)
            && let Ok(url) = CrawlUrl::join(base, href, Some(of_links), &site.rules.canonical)
        {
            return taken.take(url);
        }
        None
    };
    let mut rows: HashSet<&str> = HashSet::new();
    for link in &page.links {
        if take(&link.href).is_some_and(Class::is_target) && job.class.is_listing() {
            rows.insert(&link.href);
        }
    }
    let mut magnets: Vec<MagnetFacts> = Vec::new();
    for link in more {
        match link.starts_with("magnet:") {
            true => magnets.extend(magnet_facts(link)),
            false => drop(take(link)),
        }
    }
    // In a feed they stand escaped as XML; the reader has found them.
    let of_feed =
        page.links.iter().filter(|link| is_feed && link.kind == LinkKind::Encoded).map(|link| link.href.clone());
    for link in of_feed.chain(encoded_links::find(body, encoding).into_iter().map(|found| found.link.into())) {
        match encoded_links::decode(&link) {
            Ok(Decoded::Url(url)) => drop(take(&url)),
            Ok(Decoded::Magnet(link)) => magnets.extend(magnet_facts(&link)),
            Ok(Decoded::Other(_)) | Err(_) => {}
        }
    }
    let mut named = HashSet::new();
    magnets.retain(|magnet| named.insert(magnet.infohashes));

    let Taken { found, unclassed, truncated, .. } = taken;
    let mut hasher = Xxh3::new();
    hasher.update(body);
    for found in &found {
        hasher.update(found.url.as_str().as_bytes());
    }
    let denied = match is_feed {
        true => denial::of_feed(site, job, &found, !magnets.is_empty()),
        false => denial::of_page(site, job, view, &page, &found, !magnets.is_empty()),
    };
    let listing = listing(site, job, &found);
    let said = listing.as_ref().filter(|_| !is_feed && !rows.is_empty()).and_then(|listing| {
        let said = noise::said(&Page { url: 0, body, encoding }, &|href| rows.contains(href))?;
        (said.texts >= listing.targets.len()).then_some(said.hash)
    });
    PageFindings { found, magnets, listing, said, fingerprint: hasher.digest(), unclassed, denied, truncated, nofollow }
}

/// The URLs taken from one page, each once, within the page's allowance of memory.
struct Taken<'a> {
    site: &'a Site,
    job: &'a Job,
    /// True for the links of a sitemap index: sitemaps, whatever the rules say of their names.
    lists_sitemaps: bool,
    /// Links whose text says that they end the session.
    ends_session: Vec<CrawlUrl>,
    seen: HashSet<u64>,
    found: Vec<Found>,
    unclassed: Vec<Box<str>>,
    bytes: usize,
    truncated: bool,
}

impl Taken<'_> {
    /// The class of a URL that the page did not have before and that is taken.
    fn take(&mut self, url: CrawlUrl) -> Option<Class> {
        if !self.seen.insert(xxh3_64(url.as_str().as_bytes())) || self.ends_session.contains(&url) {
            return None;
        }
        let is_own_sitemap = self.lists_sitemaps && self.site.rules.owns_host(url.authority());
        let judged = if self.lists_sitemaps { self.site.sitemap(url).ok_or(None) } else { judge(self.site, url) };
        let found = match judged {
            Ok(found) => found,
            Err(Some(unclassed)) if self.unclassed.len() < limits::UNCLASSED_LINKS_PER_PAGE_MAX => {
                self.unclassed.push(unclassed.path().into());
                return None;
            }
            Err(_) => {
                // A site has as many sitemaps as it may.
                self.truncated |= is_own_sitemap;
                return None;
            }
        };
        // A link to a torrent is kept with the URL of its page.
        let via = if found.class == Class::Download { self.job.url.as_str().len() } else { 0 };
        let bytes = self.bytes + found.url.as_str().len() + via;
        if bytes > limits::OUTLINK_BYTES_PER_PAGE_MAX {
            self.truncated = true;
            return None;
        }
        self.bytes = bytes;
        let class = found.class;
        self.found.push(found);
        Some(class)
    }
}

/// Resolves one reference against a URL; None when it is no usable http(s) URL.
#[must_use]
pub fn resolve(site: &Site, base: &CrawlUrl, reference: &str) -> Option<CrawlUrl> {
    let base = url::Url::parse(base.as_str()).ok()?;
    CrawlUrl::join(&base, reference, None, &site.rules.canonical).ok()
}

/// What the rules say of a URL: taken as some class, or not.
///
/// # Errors
/// The URL, where nothing speaks against it but that no class takes it.
pub fn judge(site: &Site, url: CrawlUrl) -> Result<Found, Option<CrawlUrl>> {
    let url = site.rules.without_mirror(url);
    match site.rules.judge(&url) {
        Verdict::Take { class: Class::Login, .. } => Err(None),
        Verdict::Take { class, page_capture, number, .. } => Ok(Found { url, class, rule: number, page_capture }),
        Verdict::Refuse { reason: Refusal::NoClass } => Err(Some(url)),
        Verdict::Refuse { .. } => Err(None),
    }
}

fn magnet_facts(link: &str) -> Option<MagnetFacts> {
    let magnet = magnet::parse(link).ok()?;
    (link.len() <= limits::URL_BYTES_MAX).then(|| MagnetFacts {
        infohashes: magnet.infohashes,
        name: magnet.name.map(Into::into),
        link: link.into(),
    })
}

/// The number of an index page in its series; 0 where its URL shows none.
#[must_use]
pub fn page_number(site: &Site, url: &CrawlUrl) -> u64 {
    let captured = match site.rules.judge(url) {
        Verdict::Take { page_capture, .. } => page_capture,
        Verdict::Refuse { .. } => None,
    };
    pagination::of(url.path(), captured).map_or(0, |own| own.number)
}

/// The series of a page of a list, and its number in it; None for what is no list.
#[must_use]
pub fn place(rules: &SiteRules, job: &Job) -> Option<(String, u64)> {
    if !job.class.is_listing() {
        return None;
    }
    let captured = match rules.judge(&job.url) {
        Verdict::Take { page_capture, .. } => page_capture,
        Verdict::Refuse { .. } => None,
    };
    Some(match pagination::of(job.url.path(), captured) {
        Some(own) => (own.series, own.number),
        None => (pagination::series_of_first(job.url.path()), 0),
    })
}

/// The page of a list behind this one, among its links, where the rules name the number in their addresses.
#[must_use]
pub fn next_by_rules(site: &Site, job: &Job, found: &[Found]) -> Option<CrawlUrl> {
    let (series, page) = place(&site.rules, job)?;
    let number = |found: &Found| {
        let captured = found.page_capture.filter(|_| found.class == job.class)?;
        let other = pagination::of(found.url.path(), Some(captured))?;
        (other.series == series && other.number > page.max(1)).then_some(other.number)
    };
    let of_host = found.iter().filter(|found| found.url.origin() == job.url.origin());
    of_host
        .filter_map(|found| Some((number(found)?, &found.url)))
        .min_by_key(|(number, _)| *number)
        .map(|(_, url)| url.clone())
}

/// What an index page lists, for coverage (ALGORITHMS §7).
fn listing(site: &Site, job: &Job, found: &[Found]) -> Option<Listing> {
    let (series, page) = place(&site.rules, job)?;
    let page_max = found
        .iter()
        .filter(|found| found.class == job.class && found.url.origin() == job.url.origin())
        .filter_map(|found| pagination::of(found.url.path(), found.page_capture))
        .filter(|other| other.series == series)
        .map(|other| other.number)
        .max()
        .unwrap_or(0)
        .max(page);
    // A row with a page of its own and a download link is one torrent: downloads count where nothing else does.
    let has_pages = found.iter().any(|found| found.class.is_target() && found.class != Class::Download);
    let mut targets: Vec<u64> = found
        .iter()
        .filter(|found| found.class.is_target() && has_pages == (found.class != Class::Download))
        .map(|found| xxh3_64(found.url.as_str().as_bytes()))
        .collect();
    targets.sort_unstable();
    Some(Listing { series: series.into(), page, page_max, targets })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::frontier::crews::Crew;
    use gleaner_base::clock::{SystemClock, UnixMillis};
    use gleaner_base::url::Canonical;
    use gleaner_net::fetch::{FetchFailure, Request, Resolution, Response, Transport};
    use gleaner_store::crawldb::memory_store::MemoryStore;
    use gleaner_store::crawldb::{HostId, Lease, UrlKey};

    struct NoTransport;

    #[async_trait::async_trait]
    impl Transport for NoTransport {
        async fn send(&self, request: Request<'_>) -> Result<Response, FetchFailure> {
            panic!("reading a page asks for {}", request.url);
        }

        async fn resolve(&self, url: &CrawlUrl) -> Result<Resolution, FetchFailure> {
            panic!("reading a page looks up {url}");
        }
    }

    fn read(robots: &str, content_type: &str, body: &str) -> PageFindings {
        read_as(Class::Index, robots, content_type, body)
    }

    fn read_as(class: Class, robots: &str, content_type: &str, body: &str) -> PageFindings {
        let rules = format!(
            "start = ['http://site.example/']\nrobots = {robots}\n[classes]\nindex = ['^/']\ndownload = ['\\.torrent']\n"
        );
        let rules = gleaner_rules::from_text("site", &rules).unwrap();
        let site = Site::new(rules, Arc::new(NoTransport), Arc::new(SystemClock), Arc::new(MemoryStore::default()));
        let url = CrawlUrl::parse("http://site.example/", &Canonical::default()).unwrap();
        let key = UrlKey { host: HostId(1), path: "/".into() };
        let lease =
            Lease { key, depth: 0, rank: 0, attempts: 0, via: None, memo: None, deadline: UnixMillis(0), found: None };
        let headers = ResponseHeaders { content_type: Some(content_type.to_owned()), ..ResponseHeaders::default() };
        read_page(&site, &Job { lease, url, class, rule: 0, crew: Crew::History }, &headers, body.as_bytes())
    }

    fn urls(findings: &PageFindings) -> Vec<&str> {
        findings.found.iter().map(|found| found.url.as_str()).collect()
    }

    #[test]
    fn a_base_that_is_no_place_on_the_web_is_ignored() {
        for (base, first) in [
            ("javascript:void(0)", "http://site.example/a"),
            ("data:text/html,x", "http://site.example/a"),
            ("mailto:a@site.example", "http://site.example/a"),
            ("/folder/", "http://site.example/folder/a"),
        ] {
            let findings = read(OBEY, "text/html", &format!("<base href='{base}'><a href='a'>x</a>"));
            assert_eq!(urls(&findings), [first], "{base}");
        }
    }

    const OBEY: &str = "{ obey = true }";
    const IGNORE: &str = "{ obey = false, reason = 'own server' }";

    #[test]
    fn a_feed_is_read_as_one_whatever_its_type_says() {
        let body = "<?xml version='1.0'?><rss><link>/a?x=1&amp;y=2</link><enclosure url='b.torrent'/>\
            <link>magnet:?xt=urn:btih:0123456789ABCDEF0123456789ABCDEF01234567&amp;dn=A</link></rss>";
        for content_type in ["application/rss+xml", "text/xml", "text/html", "text/plain"] {
            let findings = read(OBEY, content_type, body);
            assert_eq!(urls(&findings), ["http://site.example/a?x=1&y=2", "http://site.example/b.torrent"]);
            assert_eq!(findings.magnets.len(), 1);
            assert_eq!(findings.magnets[0].name.as_deref(), Some("A"));
            assert!(!findings.truncated);
        }
    }

    #[test]
    fn nofollow_is_obeyed_unless_the_rules_do_not_obey_robots() {
        let body = "<meta name=robots content=nofollow><a href=/a>a</a> <a href='thunder://QUFodHRwOi8vc2l0ZS5leGFtcGxlL2JaWg=='>b</a>\
            <a href='magnet:?xt=urn:btih:0123456789ABCDEF0123456789ABCDEF01234567'>m</a>";
        let obeyed = read(OBEY, "text/html", body);
        assert!(obeyed.nofollow && obeyed.found.is_empty(), "{:?}", urls(&obeyed));
        assert_eq!(obeyed.magnets.len(), 1, "a magnet is nothing to follow");
        let ignored = read(IGNORE, "text/html", body);
        assert_eq!(urls(&ignored), ["http://site.example/a", "http://site.example/b"]);
        assert!(!ignored.nofollow);
    }

    #[test]
    fn an_index_of_more_sitemaps_than_are_taken_says_so_and_one_of_other_sites_does_not() {
        let index = |host: &str, count: usize| {
            let maps: String =
                (0..count).map(|map| format!("<sitemap><loc>http://{host}/{map}.xml</loc></sitemap>")).collect();
            read_as(
                Class::Sitemap,
                OBEY,
                "text/xml",
                &format!("<?xml version='1.0'?><sitemapindex>{maps}</sitemapindex>"),
            )
        };
        let all = index("site.example", limits::SITEMAPS_PER_SITE_MAX);
        assert_eq!((all.found.len(), all.truncated), (limits::SITEMAPS_PER_SITE_MAX, false));
        let more = index("site.example", limits::SITEMAPS_PER_SITE_MAX + 9);
        assert_eq!((more.found.len(), more.truncated), (limits::SITEMAPS_PER_SITE_MAX, true));
        let others = index("other.example", 3);
        assert_eq!((others.found.len(), others.truncated), (0, false));
    }

    #[test]
    fn a_long_base_does_not_fill_the_memory() {
        let folder = "d".repeat(limits::URL_BYTES_MAX - 100);
        let mut body = format!("<base href='/{folder}/'>");
        let fit = limits::OUTLINK_BYTES_PER_PAGE_MAX / limits::URL_BYTES_MAX;
        for number in 0..2 * fit {
            body.push_str(&format!("<a href={number}>"));
        }
        let findings = read(OBEY, "text/html", &body);
        assert!(findings.truncated);
        let bytes: usize = findings.found.iter().map(|found| found.url.as_str().len()).sum();
        assert!(bytes <= limits::OUTLINK_BYTES_PER_PAGE_MAX, "{bytes}");
        assert!(findings.found.len() >= fit, "{} of {fit}", findings.found.len());
    }
}

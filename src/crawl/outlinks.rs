//! From a page's bytes to the URLs that the rules accept, the magnets it names and what it lists. Pure: bytes in,
//! findings out.

use std::collections::HashSet;

use encoding_rs::Encoding;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::{denial, robots_txt};
use crate::job::{Found, Job, PageFindings};
use crate::judging::judge;
use crate::limits;
use crate::series::place;
use crate::sitemaps::Sitemaps;
use gleaner_base::url::CrawlUrl;
use gleaner_login::view::View;
use gleaner_net::fetch::{ResponseHeaders, charset};
use gleaner_net::politeness::robots;
use gleaner_page::encoded_links::{self, Decoded};
use gleaner_page::links::{LinkKind, PageLinks};
use gleaner_page::noise::{self, Page};
use gleaner_page::{feed, links, pagination, sitemap};
use gleaner_rules::{Class, Robots, SiteRules};
use gleaner_store::crawldb::{Listing, MagnetFacts};
use gleaner_torrent::magnet;

/// Reads a page, a feed or a sitemap. Links are resolved, normalised and judged; repeats within the page are dropped.
/// A page that asks robots not to follow its links, in its markup or its headers, yields none if the site's rules obey
/// robots; magnets are taken all the same, since they are no links to follow.
#[must_use]
pub fn read_page(
    rules: &SiteRules,
    sitemaps: &Sitemaps,
    job: &Job,
    headers: &ResponseHeaders,
    body: &[u8],
) -> PageFindings {
    let charset = rules.charset.map(Encoding::name);
    let encoding = charset::detect(headers.content_type.as_deref(), body, charset);
    read_with(rules, sitemaps, job, headers, body, (encoding, encoding), &[])
}

/// [`read_page`] of a document that scripts have built, with the addresses that only its states showed. The document is
/// text now, and its addresses are still written in the charset of the original page.
#[must_use]
pub fn read_rendered(
    rules: &SiteRules,
    sitemaps: &Sitemaps,
    job: &Job,
    headers: &ResponseHeaders,
    (html, charset): (&str, &'static Encoding),
    more: &[String],
) -> PageFindings {
    read_with(rules, sitemaps, job, headers, html.as_bytes(), (encoding_rs::UTF_8, charset), more)
}

/// `encoding` is the body's charset, `of_links` that of the addresses in it.
fn read_with(
    rules: &SiteRules,
    sitemaps: &Sitemaps,
    job: &Job,
    headers: &ResponseHeaders,
    body: &[u8],
    (encoding, of_links): (&'static Encoding, &'static Encoding),
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
    let base = base_of(job, &page);
    let says_nofollow =
        page.robots_nofollow || robots::tags_say_nofollow(&headers.robots_tags, robots_txt::PRODUCT_TOKEN);
    let nofollow = says_nofollow && rules.robots == Robots::Obey;
    // On a site with an account, the visible text is needed: the text of a link may be the only sign that it logs out.
    let view = (!is_feed && rules.login.is_some()).then(|| View::of(&encoding.decode(body).0).ok()).flatten();
    let labelled = view.iter().flat_map(View::log_out_labels);
    let ends_session =
        labelled.filter_map(|link| CrawlUrl::join(base.as_ref()?, link, Some(of_links), &rules.canonical).ok());
    let mut taken = Taken {
        rules,
        sitemaps,
        job,
        ends_session: ends_session.collect(),
        base: base.filter(|_| !nofollow),
        of_links,
        lists_sitemaps: is_sitemap && sitemap::is_index(body, encoding),
        seen: HashSet::new(),
        found: Vec::new(),
        magnets: Vec::new(),
        unclassed: Vec::new(),
        bytes: 0,
        truncated: page.truncated,
    };
    let mut rows: HashSet<&str> = HashSet::new();
    for link in &page.links {
        if taken.link(&link.href).is_some_and(Class::is_target) && job.class.is_listing() {
            rows.insert(&link.href);
        }
    }
    more.iter().for_each(|address| taken.address(address));
    // In a feed they are escaped as XML; the feed parser has found them.
    let of_feed = page.links.iter().filter(|link| is_feed && link.kind == LinkKind::Encoded);
    of_feed.for_each(|link| taken.encoded(&link.href));
    encoded_links::find(body, encoding).into_iter().for_each(|found| taken.encoded(&found.link));

    let Taken { found, mut magnets, unclassed, truncated, .. } = taken;
    let mut named = HashSet::new();
    magnets.retain(|magnet| named.insert(magnet.infohashes));
    let denied = match is_feed {
        true => denial::of_feed(rules, job, &found, !magnets.is_empty()),
        false => denial::of_page(rules, job, view, &page, &found, !magnets.is_empty()),
    };
    let listing = listing(rules, job, &found);
    let said = listing.as_ref().filter(|_| !is_feed && !rows.is_empty()).and_then(|listing| {
        let said = noise::said(&Page { url: 0, body, encoding }, &|href| rows.contains(href))?;
        (said.texts >= listing.targets.len()).then_some(said.hash)
    });
    let fingerprint = fingerprint(body, &found);
    PageFindings { found, magnets, listing, said, fingerprint, unclassed, denied, truncated, nofollow }
}

/// The base URL of a page's references. A base that no link can be resolved against, such as `javascript:` or `data:`, is ignored
/// (HTML §4.2.3).
fn base_of(job: &Job, page: &PageLinks<'_>) -> Option<url::Url> {
    let own = url::Url::parse(job.url.as_str()).ok();
    let named = own.as_ref().zip(page.base.as_deref()).and_then(|(own, base)| own.join(base).ok());
    named.filter(|base| matches!(base.scheme(), "http" | "https")).or(own)
}

fn fingerprint(body: &[u8], found: &[Found]) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(body);
    found.iter().for_each(|found| hasher.update(found.url.as_str().as_bytes()));
    hasher.digest()
}

/// The links taken from one page, each URL once, within the page's allowance of memory.
struct Taken<'a> {
    rules: &'a SiteRules,
    sitemaps: &'a Sitemaps,
    job: &'a Job,
    /// Base URL of references; None if none may be followed.
    base: Option<url::Url>,
    /// The charset of addresses.
    of_links: &'static Encoding,
    /// True for the links of a sitemap index: they are sitemaps, whatever the rules say of their names.
    lists_sitemaps: bool,
    /// Links whose text indicates a logout.
    ends_session: Vec<CrawlUrl>,
    seen: HashSet<u64>,
    found: Vec<Found>,
    magnets: Vec<MagnetFacts>,
    unclassed: Vec<Box<str>>,
    bytes: usize,
    truncated: bool,
}

impl Taken<'_> {
    /// Takes a reference. Returns its class if it is accepted and new on this page.
    fn link(&mut self, href: &str) -> Option<Class> {
        let url = CrawlUrl::join(self.base.as_ref()?, href, Some(self.of_links), &self.rules.canonical).ok()?;
        self.take(url)
    }

    /// Takes an address that scripts have shown.
    fn address(&mut self, address: &str) {
        match address.starts_with("magnet:") {
            true => self.magnets.extend(magnet_facts(address)),
            false => drop(self.link(address)),
        }
    }

    /// Takes the target of an encoded link.
    fn encoded(&mut self, link: &str) {
        match encoded_links::decode(link) {
            Ok(Decoded::Url(url)) => drop(self.link(&url)),
            Ok(Decoded::Magnet(link)) => self.magnets.extend(magnet_facts(&link)),
            Ok(Decoded::Other(_)) | Err(_) => {}
        }
    }

    /// The class of a URL that is accepted and new on this page.
    fn take(&mut self, url: CrawlUrl) -> Option<Class> {
        if !self.seen.insert(xxh3_64(url.as_str().as_bytes())) || self.ends_session.contains(&url) {
            return None;
        }
        let is_own_sitemap = self.lists_sitemaps && self.rules.owns_host(url.authority());
        let judged =
            if self.lists_sitemaps { self.sitemaps.take(self.rules, url).ok_or(None) } else { judge(self.rules, url) };
        let found = match judged {
            Ok(found) => found,
            Err(Some(unclassed)) if self.unclassed.len() < limits::UNCLASSED_LINKS_PER_PAGE_MAX => {
                self.unclassed.push(unclassed.path().into());
                return None;
            }
            Err(_) => {
                // The site has reached its maximum of sitemaps.
                self.truncated |= is_own_sitemap;
                return None;
            }
        };
        // A link to a torrent is stored with the URL of its page.
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

fn magnet_facts(link: &str) -> Option<MagnetFacts> {
    let magnet = magnet::parse(link).ok()?;
    (link.len() <= limits::URL_BYTES_MAX).then(|| MagnetFacts {
        infohashes: magnet.infohashes,
        name: magnet.name.map(Into::into),
        link: link.into(),
    })
}

/// What an index page lists, for coverage (ALGORITHMS §7).
fn listing(rules: &SiteRules, job: &Job, found: &[Found]) -> Option<Listing> {
    let (series, page) = place(rules, job)?;
    let page_max = found
        .iter()
        .filter(|found| found.class == job.class && found.url.origin() == job.url.origin())
        .filter_map(|found| pagination::of(found.url.path(), found.page_capture))
        .filter(|other| other.series == series)
        .map(|other| other.number)
        .max()
        .unwrap_or(0)
        .max(page);
    // A row with a page of its own and a download link is one torrent: downloads count only if nothing else does.
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
    use super::*;
    use crate::frontier::crews::Crew;
    use gleaner_base::clock::UnixMillis;
    use gleaner_base::url::Canonical;
    use gleaner_store::crawldb::{HostId, Lease, UrlKey};

    fn read(robots: &str, content_type: &str, body: &str) -> PageFindings {
        read_as(Class::Index, robots, content_type, body)
    }

    fn read_as(class: Class, robots: &str, content_type: &str, body: &str) -> PageFindings {
        let rules = format!(
            "start = ['http://site.example/']\nrobots = {robots}\n[classes]\nindex = ['^/']\ndownload = ['\\.torrent']\n"
        );
        let rules = gleaner_rules::from_text("site", &rules).unwrap();
        let url = CrawlUrl::parse("http://site.example/", &Canonical::default()).unwrap();
        let key = UrlKey { host: HostId(1), path: "/".into() };
        let lease =
            Lease { key, depth: 0, rank: 0, attempts: 0, via: None, memo: None, deadline: UnixMillis(0), found: None };
        let headers = ResponseHeaders { content_type: Some(content_type.to_owned()), ..ResponseHeaders::default() };
        read_page(
            &rules,
            &Sitemaps::default(),
            &Job { lease, url, class, rule: 0, crew: Crew::History },
            &headers,
            body.as_bytes(),
        )
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

//! From a page's bytes to the URLs that the rules take, the magnets it names and what it lists. Pure: bytes in,
//! findings out.

use std::collections::HashSet;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::site::{Found, Site};
use super::visit::Job;
use crate::crawldb::{Listing, MagnetFacts};
use crate::fetch::charset;
use crate::limits;
use crate::page::encoded_links::{self, Decoded};
use crate::page::{links, pagination};
use crate::rules::{Class, Verdict};
use crate::torrent::magnet;
use crate::url::CrawlUrl;

/// What a page gave.
pub struct PageFindings {
    pub found: Vec<Found>,
    pub magnets: Vec<MagnetFacts>,
    pub listing: Option<Listing>,
    /// Hash of the body and of the URLs found in it: equal ones are one page under two URLs.
    pub fingerprint: u64,
}

/// Reads a page. Links are resolved, normalised and judged; repeats within the page are dropped.
#[must_use]
pub fn read_page(site: &Site, job: &Job, content_type: Option<&str>, body: &[u8]) -> PageFindings {
    let encoding = charset::detect(content_type, body, site.rules.charset.map(encoding_rs::Encoding::name));
    let page = links::scan(body, encoding);
    let own = url::Url::parse(job.url.as_str()).ok();
    let base = match (&own, &page.base) {
        (Some(own), Some(base)) => own.join(base).ok().or_else(|| Some(own.clone())),
        _ => own,
    };

    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut take = |href: &str| {
        let Some(base) = &base else { return };
        let Ok(url) = CrawlUrl::join(base, href, Some(encoding), &site.rules.canonical) else {
            return;
        };
        if seen.insert(xxh3_64(url.as_str().as_bytes())) {
            found.extend(judge(site, url));
        }
    };
    for link in &page.links {
        take(&link.href);
    }
    let mut magnets: Vec<MagnetFacts> = Vec::new();
    for link in encoded_links::find(body, encoding) {
        match encoded_links::decode(&link.link) {
            Ok(Decoded::Url(url)) => take(&url),
            Ok(Decoded::Magnet(link)) => magnets.extend(magnet_facts(&link)),
            Ok(Decoded::Other(_)) | Err(_) => {}
        }
    }
    let mut named = HashSet::new();
    magnets.retain(|magnet| named.insert(magnet.infohashes));

    let mut hasher = Xxh3::new();
    hasher.update(body);
    for found in &found {
        hasher.update(found.url.as_str().as_bytes());
    }
    let listing = job.class.is_listing().then(|| listing(site, job, &found));
    PageFindings { found, magnets, listing, fingerprint: hasher.digest() }
}

/// Resolves one reference against a URL; None when it is no usable http(s) URL.
#[must_use]
pub fn resolve(site: &Site, base: &CrawlUrl, reference: &str) -> Option<CrawlUrl> {
    let base = url::Url::parse(base.as_str()).ok()?;
    CrawlUrl::join(&base, reference, None, &site.rules.canonical).ok()
}

/// What the rules say of a URL: taken as some class, or None.
#[must_use]
pub fn judge(site: &Site, url: CrawlUrl) -> Option<Found> {
    match site.rules.judge(&url) {
        Verdict::Take { class, page_capture, .. } => {
            (class != Class::Login).then_some(Found { url, class, page_capture })
        }
        Verdict::Refuse { .. } => None,
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
fn listing(site: &Site, job: &Job, found: &[Found]) -> Listing {
    let captured = match site.rules.judge(&job.url) {
        Verdict::Take { page_capture, .. } => page_capture,
        Verdict::Refuse { .. } => None,
    };
    let own = pagination::of(job.url.path(), captured);
    let series = own.as_ref().map_or_else(|| pagination::series_of_first(job.url.path()), |own| own.series.clone());
    let page = own.map_or(0, |own| own.number);
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
    Listing { series: series.into(), page, page_max, targets }
}

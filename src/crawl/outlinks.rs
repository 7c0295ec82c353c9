//! From a page's bytes to the URLs that the rules accept, the magnets it names and what it lists. Pure: bytes in,
//! findings out.

mod acting;
mod beside;
mod labels;
mod offsite;

use encoding_rs::Encoding;
use foldhash::{HashSet, HashSetExt};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use self::acting::PageActs;
use super::{denial, robots_txt};
use crate::job::{ClosedPager, Found, Job, PageFindings};
use crate::judging::{Declined, judge};
use crate::limits;
use crate::refused::{OfPage, RefusedBy};
use crate::series::place;
use crate::sitemaps::Sitemaps;
use gleaner_base::url::{CrawlUrl, resolve};
use gleaner_login::view::View;
use gleaner_net::fetch::{ResponseHeaders, charset};
use gleaner_net::politeness::robots;
use gleaner_page::encoded_links::{self, Decoded};
use gleaner_page::links::{LinkKind, PageLinks};
use gleaner_page::noise::{self, Page};
use gleaner_page::{feed, links, pagination, sitemap, stated};
use gleaner_rules::{ActSign, Class, Robots, SiteRules};
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
    // On a guarded site, the visible text is needed: the text of a link may be the only sign that it logs out.
    let view = (!is_feed && rules.is_guarded()).then(|| View::of(&encoding.decode(body).0).ok()).flatten();
    let acts = view.as_ref().zip(base.as_ref());
    let acts = acts.map(|(view, base)| PageActs::of(rules, job, view, &page, (base, of_links))).unwrap_or_default();
    let labelled = view.iter().flat_map(View::log_out_labels);
    let ends_session =
        labelled.filter_map(|link| CrawlUrl::join(base.as_ref()?, link, Some(of_links), &rules.canonical).ok());
    let mut taken = Taken {
        rules,
        sitemaps,
        job,
        ends_session: ends_session.collect(),
        acts,
        base: base.filter(|_| !nofollow),
        of_links,
        lists_sitemaps: is_sitemap && sitemap::is_index(body, encoding),
        seen: HashSet::with_capacity(page.links.len()),
        found: Vec::new(),
        magnets: Vec::new(),
        unclassed: Vec::new(),
        acting: Vec::new(),
        refused: OfPage::default(),
        closed_pager: None,
        bytes: 0,
        truncated: page.truncated,
    };
    let mut rows: HashSet<&str> = HashSet::new();
    for link in &page.links {
        if taken.magnet_in(&link.href) {
            continue;
        }
        if rules.login.is_some() && link.kind == LinkKind::Click && !taken.is_target(&link.href) {
            continue;
        }
        if taken.link(&link.href).is_some_and(Class::is_target) && job.class.is_listing() {
            rows.insert(&link.href);
        }
    }
    headers.refresh.as_deref().and_then(links::refresh_target).iter().for_each(|target| taken.address(target));
    more.iter().for_each(|address| taken.address(address));
    encoded_links::find(body, encoding).into_iter().for_each(|found| taken.encoded(&found.link));
    // In a feed they are escaped as XML, and a page may escape even the letters of the scheme; their parsers have found them.
    let of_parser = page.links.iter().filter(|link| link.kind == LinkKind::Encoded);
    of_parser.for_each(|link| taken.encoded(&link.href));

    let Taken { base, mut found, mut magnets, unclassed, acting, refused, closed_pager, truncated, .. } = taken;
    // Other orders of a list are denied beside its pages.
    let closed_pager = closed_pager.filter(|_| !found.iter().any(leads_to_page));
    let mut named = HashSet::new();
    magnets.retain(|magnet| named.insert(magnet.infohashes));
    let denied = match is_feed {
        true => denial::of_feed(rules, job, &found, !magnets.is_empty()),
        false => denial::of_page(rules, job, view, &page, &found, !magnets.is_empty()),
    };
    if job.class.is_listing() && rules.budget.lean {
        beside::mark(&mut found);
    }
    let labels = match is_feed {
        true => Vec::new(),
        false => {
            let read = labels::Read { body, encoding, page: &page, base: base.as_ref(), of_links };
            labels::of_page(rules, job, &read, &found)
        }
    };
    let mut listing = listing(rules, job, &found);
    if let (Some(listing), Some(closed)) = (&mut listing, &closed_pager) {
        listing.page_max = listing.page_max.max(closed.page);
    }
    let is_front = listing.as_ref().is_some_and(|listing| listing.page <= 1 && !listing.targets.is_empty());
    let stated = (is_front && !is_feed)
        .then(|| stated::of_page(&encoding.decode(body).0, job.class == Class::Board))
        .filter(|stated| !stated.is_empty());
    let said = listing.as_ref().filter(|_| !is_feed && !rows.is_empty()).and_then(|listing| {
        let said = noise::said(&Page { url: 0, body, encoding }, &|href| rows.contains(href))?;
        (said.texts >= listing.targets.len()).then_some(said.hash)
    });
    let fingerprint = fingerprint(body, &found);
    // A page that is read again is no further evidence; its first visit leaves a memo.
    let offsite =
        (!is_feed && !nofollow && job.lease.memo.is_none()).then(|| offsite::of(rules, &page, body, encoding));
    PageFindings {
        found,
        labels,
        magnets,
        listing,
        stated,
        said,
        fingerprint,
        unclassed,
        offsite,
        acting,
        refused,
        closed_pager,
        denied,
        truncated,
        nofollow,
    }
}

/// True for a link to a later page of a list.
fn leads_to_page(found: &Found) -> bool {
    let page = pagination::of(found.url.path(), found.page_capture).map_or(0, |page| page.number);
    found.class.is_listing() && page > 1
}

/// The base URL of a page's references. A base that no link can be resolved against, such as `javascript:` or `data:`, is ignored
/// (HTML §4.2.3).
fn base_of(job: &Job, page: &PageLinks<'_>) -> Option<url::Url> {
    let mut own = url::Url::parse(job.url.as_str()).ok();
    if let (Some(own), Some(folder)) = (&mut own, &page.folder)
        && own.path().rsplit('/').next() == Some(&**folder)
    {
        own.set_path(&format!("{}/", own.path()));
    }
    let named = own.as_ref().zip(page.base.as_deref()).and_then(|(own, base)| resolve(own, base));
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
    /// What the page shows of its links.
    acts: PageActs,
    seen: HashSet<u64>,
    found: Vec<Found>,
    magnets: Vec<MagnetFacts>,
    unclassed: Vec<Box<str>>,
    acting: Vec<(Box<str>, ActSign)>,
    refused: OfPage,
    /// The link to a list's page of the highest number that `deny` closes.
    closed_pager: Option<ClosedPager>,
    bytes: usize,
    truncated: bool,
}

impl Taken<'_> {
    /// Takes a reference. Returns its class if it is accepted and new on this page.
    fn link(&mut self, href: &str) -> Option<Class> {
        let url = CrawlUrl::join(self.base.as_ref()?, href, Some(self.of_links), &self.rules.canonical).ok()?;
        self.take(url)
    }

    /// True for a reference to what the site offers. With an account, a button may do something to it, or end its session.
    fn is_target(&self, href: &str) -> bool {
        let url = self.base.as_ref().map(|base| CrawlUrl::join(base, href, Some(self.of_links), &self.rules.canonical));
        url.and_then(Result::ok)
            .and_then(|url| judge(self.rules, url).ok())
            .is_some_and(|found| found.class.is_target())
    }

    /// Takes the magnet within another URL. True if there is one: then the URL leads to it and nowhere else.
    fn magnet_in(&mut self, href: &str) -> bool {
        let magnet = encoded_links::inside(href).and_then(|link| magnet_facts(&link));
        let found = magnet.is_some();
        self.magnets.extend(magnet);
        found
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
        let judged = if self.lists_sitemaps {
            self.sitemaps.take(self.rules, url).ok_or(Declined::Other)
        } else {
            judge(self.rules, url)
        };
        let judged = judged.and_then(|found| match self.acts.sign(&found.url, found.class) {
            Some(sign) if !self.rules.may_act(&found.url) => Err(Declined::Acts(found.url, sign)),
            _ => Ok(found),
        });
        if let Err(declined) = &judged {
            self.note_refusal(declined);
        }
        let found = match judged {
            Ok(found) => found,
            Err(Declined::Acts(url, sign)) => {
                if self.acting.len() < limits::ACTING_LINKS_PER_PAGE_MAX {
                    self.acting.push((url.path().into(), sign));
                }
                return None;
            }
            Err(Declined::Unclassed(unclassed)) if self.unclassed.len() < limits::UNCLASSED_LINKS_PER_PAGE_MAX => {
                self.unclassed.push(unclassed.path().into());
                return None;
            }
            Err(Declined::Elsewhere(url)) if self.unclassed.len() < limits::UNCLASSED_LINKS_PER_PAGE_MAX => {
                self.unclassed.push(url.as_str().into());
                return None;
            }
            Err(Declined::List(url, rule)) if self.job.class.is_listing() => {
                let page = pagination::of(url.path(), None).map_or(0, |page| page.number);
                if page > self.closed_pager.as_ref().map_or(1, |known| known.page) {
                    self.closed_pager = Some(ClosedPager { page, rule, path: url.path().into() });
                }
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

    fn note_refusal(&mut self, declined: &Declined) {
        let (url, by) = match declined {
            Declined::Unclassed(url) => (url, RefusedBy::NoClass),
            Declined::Acts(url, sign) => (url, RefusedBy::Acts(*sign)),
            Declined::Elsewhere(url) => (url, RefusedBy::Host),
            Declined::List(url, rule) => (url, RefusedBy::Rule(*rule)),
            Declined::By(url, by) => (url, *by),
            Declined::Other => return,
        };
        self.refused.add(url, by);
    }
}

pub(crate) fn magnet_facts(link: &str) -> Option<MagnetFacts> {
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
mod tests;

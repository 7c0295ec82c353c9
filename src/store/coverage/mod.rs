//! How much of a site has been harvested (ALGORITHMS §7; BT §3, §5.1).
//!
//! ```text
//! NI ≈ NT = IndexPageNumber × TorrentsPerPage + TorrentsUpdated + TorrentsInvalid
//! CR = CI / NT      HR = TN / P      AV = P / T      ATV = TN / T
//! ```
//!
//! Reads the crawl database. NT comes from the site's own pagination: `estimate` counts what the index pages list,
//! this module adds the outcomes of visits, `table` prints the result. NT is an upper bound of NI, because torrents
//! listed under two links are one after de-duplication by infohash: CI / NT is a lower bound of the coverage, and is
//! shown as such. If pages were not read whole, the torrents that they list beyond are in neither term: then CI / NT is
//! reported as an upper bound, with the pages. Each term states its origin; an unknown term is reported as unknown.
//!
//! It never reads the clock and never writes.

pub mod estimate;
pub mod table;

use std::collections::BTreeSet;

use serde::Serialize;

use crate::crawldb::{CrawlDbError, NotWholeRow, Outcome, Reader, SiteCounts};
use crate::limits;
use estimate::{Estimate, Estimator};
use gleaner_base::url::without_keys;

/// The coverage of one site, with all terms. A ratio is None if its divisor is zero or unknown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SiteCoverage {
    /// Its key in the rule files.
    pub site: String,
    /// Index pages, read or announced by the site's pagination.
    pub index_pages: u64,
    /// Those of them that were read.
    pub index_pages_read: u64,
    /// Average torrents per page; times `index_pages` it is `listed`.
    pub torrents_per_page: Option<f64>,
    /// IndexPageNumber × TorrentsPerPage, counted on pages that were read.
    pub listed: u64,
    /// TorrentsUpdated: torrents that appeared during the crawl, and pushed as many off the pages read.
    pub updated: u64,
    /// TorrentsInvalid: URLs that were gone (404, 410) at their last visit.
    pub invalid: u64,
    /// `listed + updated + invalid`; None if no index page lists a torrent.
    pub nt: Option<u64>,
    /// Distinct torrents in the archive that have a source on this site.
    pub ci: u64,
    /// CI / NT, a lower bound of the coverage. Not capped: above 1 the index pages do not list everything.
    pub cr: Option<f64>,
    /// True if `cr` is an upper bound instead of a lower one: pages were not read whole, and NT lacks what they list beyond.
    pub cr_is_at_most: bool,
    /// Pages that were not read whole.
    pub pages_not_whole: u64,
    /// Those of them that the database lists, at most `limits::NOT_WHOLE_PAGES_MAX`.
    pub not_whole: Vec<NotWhole>,
    /// Harvest rate, TN / P, with TN = CI.
    pub hr: Option<f64>,
    /// Pages (requests of any kind) per second.
    pub av: Option<f64>,
    /// Torrents per second.
    pub atv: Option<f64>,
    /// P: requests sent.
    pub pages: u64,
    /// T: seconds during which the site was being crawled.
    pub seconds: f64,
    /// Visits that returned a known torrent. Not subtracted from NT: it is unknown which listed links they belong to,
    /// and links generated anew at each view would be subtracted repeatedly.
    pub duplicate_visits: u64,
    /// The origin of each term.
    pub terms: Vec<Term>,
    /// The largest series of index pages, at most `limits::COVERAGE_SERIES_LISTED_MAX`.
    pub series: Vec<SeriesCoverage>,
    /// The number of all series, including those beyond `series`.
    pub series_count: u64,
}

/// A page that was not read whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotWhole {
    /// With keys of members masked.
    pub url: String,
    /// A sentence for people.
    pub reason: String,
    /// When it was read (UTC).
    pub at: String,
}

/// The common text for the number of pages of a site that were not read whole.
#[must_use]
pub fn not_whole_told(pages: u64) -> String {
    let were = if pages == 1 { "page was" } else { "pages were" };
    format!("{pages} {were} not read whole: torrents may be missing")
}

/// A term and its origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Term {
    /// Its name in the formula.
    pub term: &'static str,
    /// A sentence for people.
    pub from: String,
}

/// The contribution of one series of index pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeriesCoverage {
    /// The common part of its pages' URLs, usually a path.
    pub series: String,
    /// Pages, read or announced.
    pub pages: u64,
    /// Those of them that were read.
    pub pages_read: u64,
    /// Distinct links to torrents on the pages read.
    pub listed_read: u64,
    /// Those that no larger series lists.
    pub own: u64,
    /// Links on its last page; None if it was not read.
    pub last_page: Option<u64>,
    /// Its contribution to `listed`: `own`, and a proportional amount for its unread pages.
    pub adds: u64,
}

/// The coverage of one site. For a site that is not in the database, terms are zero or unknown.
///
/// # Errors
/// Errors of the database.
pub async fn of_site(db: &dyn Reader, site: &str) -> Result<SiteCoverage, CrawlDbError> {
    let mut estimator = Estimator::default();
    let mut after = None;
    loop {
        let rows = db.listings(site, after, limits::COVERAGE_ROWS_MAX).await?;
        let Some(last) = rows.last() else { break };
        after = Some((last.host, last.listing.series.clone(), last.listing.page));
        for row in rows {
            estimator.add(row);
        }
    }
    let counts = db.site_counts(site).await?;
    let mut found = coverage(site, &estimator.finish(), &counts);
    if counts.pages_not_whole > 0 {
        found.not_whole = db.not_whole(site).await?.into_iter().map(not_whole).collect();
    }
    Ok(found)
}

fn not_whole(row: NotWholeRow) -> NotWhole {
    NotWhole { url: without_keys(&row.url).into_owned(), reason: row.reason.into(), at: row.at.rfc3339() }
}

/// The coverage of every site in the database, by name.
///
/// # Errors
/// Errors of the database.
pub async fn of_all_sites(db: &dyn Reader) -> Result<Vec<SiteCoverage>, CrawlDbError> {
    let mut all = Vec::new();
    for site in sites(db).await? {
        all.push(of_site(db, &site).await?);
    }
    Ok(all)
}

/// The sites in the database, by name.
///
/// # Errors
/// Errors of the database.
pub async fn sites(db: &dyn Reader) -> Result<BTreeSet<String>, CrawlDbError> {
    Ok(db.hosts().await?.into_iter().map(|host| host.site.into()).collect())
}

/// Combines the terms; the caller adds the pages that were not read whole.
#[must_use]
pub fn coverage(site: &str, estimate: &Estimate, counts: &SiteCounts) -> SiteCoverage {
    let visits = |wanted: Outcome| {
        counts.outcomes.iter().filter(|(outcome, _)| *outcome == wanted).map(|(_, visits)| visits).sum::<u64>()
    };
    let pages = counts.outcomes.iter().filter(|(outcome, _)| outcome.was_fetched()).map(|(_, visits)| visits).sum();
    let invalid = counts.urls_gone;
    let listed = estimate.listed;
    let nt = (listed > 0).then(|| listed.saturating_add(estimate.updated).saturating_add(invalid));
    let ci = counts.torrents_seen;
    #[allow(clippy::cast_precision_loss)] // ratios for reading
    let seconds = counts.crawl_ms as f64 / 1_000.0;
    let mut found = SiteCoverage {
        site: site.to_owned(),
        index_pages: estimate.pages,
        index_pages_read: estimate.pages_read,
        torrents_per_page: ratio(listed, estimate.pages),
        listed,
        updated: estimate.updated,
        invalid,
        nt,
        ci,
        cr: nt.and_then(|nt| ratio(ci, nt)),
        cr_is_at_most: nt.is_some() && counts.pages_not_whole > 0,
        pages_not_whole: counts.pages_not_whole,
        not_whole: Vec::new(),
        hr: ratio(ci, pages),
        av: per_second(pages, seconds),
        atv: per_second(ci, seconds),
        pages,
        seconds,
        duplicate_visits: visits(Outcome::TorrentDuplicate),
        terms: Vec::new(),
        series: estimate.series.iter().take(limits::COVERAGE_SERIES_LISTED_MAX).map(series).collect(),
        series_count: estimate.series.len() as u64,
    };
    found.terms = terms(&found, estimate);
    found
}

fn series(of: &estimate::Series) -> SeriesCoverage {
    SeriesCoverage {
        series: of.name.to_string(),
        pages: of.pages,
        pages_read: of.pages_read,
        listed_read: of.listed_read,
        own: of.own,
        last_page: of.last_page,
        adds: of.adds,
    }
}

fn terms(found: &SiteCoverage, estimate: &Estimate) -> Vec<Term> {
    let mut terms = Vec::new();
    let mut term = |term, from: String| terms.push(Term { term, from });
    if found.nt.is_none() {
        let why = match estimate.series.len() {
            0 => "unknown: no index page of this site has been read",
            _ => "unknown: the index pages read list no torrent",
        };
        term("NT", format!("{why}, so the number of its torrents is unknown"));
    } else {
        term("IndexPageNumber", index_pages(estimate));
        term("TorrentsPerPage", torrents_per_page(estimate));
        term("TorrentsUpdated", updated(estimate));
        term(
            "TorrentsInvalid",
            "URLs that were gone at the last visit (404, 410, or a page that says so), each once; one that an \
                                 index page still lists counts there too, which keeps NT an upper bound"
                .to_owned(),
        );
        term("NT", nt(estimate));
    }
    term("CI", ci(found));
    if found.nt.is_some() {
        term("CR", cr(found));
    }
    term("HR", format!("torrents (CI) / requests sent ({})", found.pages));
    term("AV", format!("requests sent / seconds of crawling ({})", found.seconds));
    term("ATV", "torrents (CI) / seconds of crawling".to_owned());
    terms
}

fn index_pages(estimate: &Estimate) -> String {
    let counted = estimate.series.iter().filter(|series| series.adds > 0).count();
    let contained = estimate.series.iter().filter(|series| series.adds == 0 && series.listed_read > 0).count();
    let mut text = format!("{counted} series");
    if let Some(largest) = estimate.series.first() {
        text += &format!(", the largest {}", largest.name);
    }
    match estimate.pages.saturating_sub(estimate.pages_read) {
        0 => text += "; all pages read",
        unread => text += &format!("; {} pages read, {unread} announced by links to them", estimate.pages_read),
    }
    if contained > 0 {
        text += &format!("; {contained} more series list nothing that these do not");
    }
    text
}

fn torrents_per_page(estimate: &Estimate) -> String {
    let own: u64 = estimate.series.iter().map(|series| series.own).sum();
    let mut text = format!("{own} links to torrents counted on the pages read, each once");
    match estimate.listed.saturating_sub(own) {
        0 => {}
        reckoned => text += &format!(", {reckoned} estimated for the pages not read"),
    }
    if let Some(largest) = estimate.series.first().filter(|series| series.pages > 1) {
        text += &match largest.last_page {
            Some(rows) => format!("; {} on a full page of the largest series, {rows} on its last", largest.per_page),
            None => format!("; {} on a full page of the largest series, its last not read", largest.per_page),
        };
    }
    text
}

fn updated(estimate: &Estimate) -> String {
    match estimate.links_updated {
        0 => "no index page had new links at a later visit".to_owned(),
        links => {
            format!("later visits found {links} new links; as many that they pushed off pages not revisited are added")
        }
    }
}

fn nt(estimate: &Estimate) -> String {
    let mut text = "IndexPageNumber × TorrentsPerPage + TorrentsUpdated + TorrentsInvalid: an upper bound, because a torrent listed under two links is one after de-duplication by infohash".to_owned();
    if let Some(main) = estimate.series.first().filter(|main| main.pages_read < main.pages.div_ceil(2)) {
        text += &format!(
            "; the crawl is young: {} of {} pages of the largest series are read, so that most of NT is an estimate, and may be far \
             too high until they are",
            main.pages_read, main.pages
        );
    }
    text
}

fn ci(found: &SiteCoverage) -> String {
    let mut text = "distinct torrents in the archive that have a source on this site".to_owned();
    if found.duplicate_visits > 0 {
        text += &format!(
            "; {} visits brought a torrent already known, which is not subtracted from NT",
            found.duplicate_visits
        );
    }
    text
}

fn cr(found: &SiteCoverage) -> String {
    if found.cr_is_at_most {
        return format!(
            "CI / NT, an upper bound here: {}, and NT lacks them as well",
            not_whole_told(found.pages_not_whole)
        );
    }
    match found.cr {
        Some(cr) if cr > 1.0 => {
            "CI / NT; above 1 because more torrents were found than the index pages list: NT is too low for this site"
        }
        _ => "CI / NT, a lower bound of the coverage",
    }
    .to_owned()
}

#[allow(clippy::cast_precision_loss)] // ratios for reading
fn ratio(of: u64, to: u64) -> Option<f64> {
    (to > 0).then(|| of as f64 / to as f64)
}

#[allow(clippy::cast_precision_loss)] // ratios for reading
fn per_second(count: u64, seconds: f64) -> Option<f64> {
    (seconds > 0.0).then(|| count as f64 / seconds)
}

//! How much of a site has been harvested (ALGORITHMS §7; BT §3, §5.1).
//!
//! ```text
//! NT = IndexPageNumber × TorrentsPerPage + TorrentsUpdated + TorrentsInvalid ≥ NI
//! CR = the listed part of CI / NI      HR = TN / P      AV = P / T      ATV = TN / T
//! ```
//!
//! Reads the crawl database. NT comes from the site's own pagination: `estimate` counts what the index pages list. It is an upper bound,
//! because torrents listed under two links are one after de-duplication by infohash, and a listed thread may have none. `listed` follows
//! the listed links to the torrents that they brought, and `distinct` makes NI of them. `reading` reads, this module adds the outcomes of
//! visits, `terms` tells the origin of each term, `growth` when its torrents came; `table` and `plot` print the result. Where a list was not read, CR is unknown; where a page was
//! not read whole, or may not be read, CR is an upper bound, since what it lists is in neither term.
//!
//! It never reads the clock and never writes.

pub mod distinct;
pub mod estimate;
pub mod growth;
pub mod ids;
pub mod listed;
pub mod plot;
mod reading;
pub mod sample;
pub mod stated;
pub mod table;
mod terms;

pub use reading::{id_shapes, of_all_sites, of_site};

use std::collections::BTreeSet;

use serde::Serialize;

use crate::crawldb::{CrawlDbError, Outcome, Reader, SiteCounts};
use crate::limits;
use distinct::distinct;
use estimate::Estimate;
use growth::GrowthPoint;
use listed::{LabelLinks, Links};
use sample::IdGaps;
use stated::StatedTotals;

/// The coverage of one site, with all terms; as JSON one flat object. A ratio is None if its divisor is zero or unknown.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct SiteCoverage {
    /// Its key in the rule files.
    pub site: String,
    #[serde(flatten)]
    pub nt: NtTerms,
    /// Distinct torrents in the archive that have a source on this site.
    pub ci: u64,
    #[serde(flatten)]
    pub ni: NiTerms,
    /// The coverage: `listed_stored / ni`, never above 1.
    pub cr: Option<f64>,
    /// True if `cr` is an upper bound: pages were not read whole, or lists or downloads are closed to the crawl; what they hold is in
    /// neither term.
    pub cr_is_at_most: bool,
    #[serde(flatten)]
    pub unread: Unread,
    #[serde(flatten)]
    pub rates: Rates,
    /// The origin of each term.
    pub terms: Vec<Term>,
    /// The largest series of index pages, at most `limits::COVERAGE_SERIES_LISTED_MAX`.
    pub series: Vec<SeriesCoverage>,
    /// The number of all series, including those beyond `series`.
    pub series_count: u64,
    #[serde(flatten)]
    pub stated: StatedTotals,
    /// Numbers of torrents between known ones, the densest shapes first, at most `limits::ID_SHAPES_LISTED_MAX`.
    pub ids: Vec<IdGaps>,
    /// The listed links by the site's own word for what they are, the most first; empty if its pages do not say.
    pub by_label: Vec<LabelCoverage>,
    /// How its torrents came; the last point is today's. Empty while no list was read.
    pub over_time: Vec<GrowthPoint>,
}

/// NT as the paper has it, and its terms, from the index pages.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct NtTerms {
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
    /// CI / NT, as the paper has it. Above 1 the index pages do not list everything.
    pub ci_per_nt: Option<f64>,
}

/// NI, and what became of the links that the lists show.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct NiTerms {
    /// NI: the listed torrents, each infohash once; None if no list was read, or not all were.
    pub ni: Option<u64>,
    /// The 95 % interval of NI. The lower end is known whatever was read.
    pub ni_low: Option<u64>,
    /// Its upper end.
    pub ni_high: Option<u64>,
    /// Distinct links to torrents, and to pages and threads of them, that the lists read show.
    pub listed_links: u64,
    /// Those that were visited with an answer.
    pub listed_visited: u64,
    /// The listed part of CI.
    pub listed_stored: u64,
    /// Listed torrents that are known by a magnet only; they are in no other term.
    pub listed_magnets: u64,
    /// The other part of CI: torrents that no list shows.
    pub outside_lists: u64,
}

/// What the crawl knows of and has not read, or must not.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Unread {
    /// Links to torrents, on pages that were read, that wait or failed.
    pub downloads_unanswered: u64,
    /// Links to torrents that robots.txt or the rules refuse; they are in no other term.
    pub downloads_closed: u64,
    /// Known list pages that were not read and do not wait to be: if there are any, `ni` and `cr` are unknown.
    pub lists_unread: u64,
    /// Known list pages that wait to be read; what they list is estimated.
    pub lists_waiting: u64,
    /// Known list pages that robots.txt, the rules or a budget refuse.
    pub lists_closed: u64,
    /// Pages that were not read whole.
    pub pages_not_whole: u64,
    /// Those of them that the database lists, at most `limits::NOT_WHOLE_PAGES_MAX`.
    pub not_whole: Vec<NotWhole>,
}

/// The rates of the crawl, and what they are made of.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Rates {
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
}

/// A page that was not read whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Term {
    /// Its name in the formula.
    pub term: &'static str,
    /// A sentence for people.
    pub from: String,
}

/// The contribution of one series of index pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
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

/// The listed links of one label.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct LabelCoverage {
    /// The site's own word; None for links without one.
    pub label: Option<String>,
    /// Distinct links that lists show.
    pub listed: u64,
    /// Those with an answer, and those that brought a torrent.
    pub visited: u64,
    pub had: u64,
    /// `had` / (`had` + links without an answer at the ratio of the others); None where nothing was answered, or `cr` of the site is unknown.
    pub cr: Option<f64>,
}

impl LabelCoverage {
    /// Of links with their outcomes; `is_known` if all lists were read.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // a reckoning
    pub fn new(label: Option<String>, links: LabelLinks, is_known: bool) -> Self {
        let LabelLinks { listed, visited, had } = links;
        let open = listed.saturating_sub(visited) as f64;
        let all = had as f64 + open * ratio(had, visited).unwrap_or_default();
        let cr = (is_known && visited > 0 && all > 0.0).then(|| had as f64 / all);
        Self { label, listed, visited, had, cr }
    }
}

/// The sites in the database, by name.
///
/// # Errors
/// Errors of the database.
pub async fn sites(db: &dyn Reader) -> Result<BTreeSet<String>, CrawlDbError> {
    Ok(db.hosts().await?.into_iter().map(|host| host.site.into()).collect())
}

/// Combines the terms; the caller adds the pages that were not read whole, the course of time, stated sizes, gaps of ids and labels.
#[must_use]
pub fn coverage(site: &str, estimate: &Estimate, links: &Links, counts: &SiteCounts) -> SiteCoverage {
    let visits = |wanted: Outcome| {
        counts.outcomes.iter().filter(|(outcome, _)| *outcome == wanted).map(|(_, visits)| visits).sum::<u64>()
    };
    let pages = counts.pages();
    let invalid = counts.urls_gone;
    let listed = estimate.listed;
    let nt = (listed > 0).then(|| listed.saturating_add(estimate.updated).saturating_add(invalid));
    let ci = counts.torrents_seen;
    let lists_unread = lists_unread(estimate, links);
    let reckoned = distinct(links, if links.lists_waiting > 0 { estimate.links_unread() } else { 0 });
    let is_known = nt.is_some() && lists_unread == 0;
    let ni = is_known.then_some(reckoned.ni);
    let cr = ni.and_then(|ni| ratio(links.stored(), ni));
    #[allow(clippy::cast_precision_loss)] // ratios for reading
    let seconds = counts.crawl_ms as f64 / 1_000.0;
    let mut found = SiteCoverage {
        site: site.to_owned(),
        nt: NtTerms {
            index_pages: estimate.pages,
            index_pages_read: estimate.pages_read,
            torrents_per_page: ratio(listed, estimate.pages),
            listed,
            updated: estimate.updated,
            invalid,
            nt,
            ci_per_nt: nt.and_then(|nt| ratio(ci, nt)),
        },
        ci,
        ni: NiTerms {
            ni,
            ni_low: nt.map(|_| reckoned.low),
            ni_high: is_known.then_some(reckoned.high),
            listed_links: links.targets,
            listed_visited: links.answered(),
            listed_stored: links.stored(),
            listed_magnets: links.magnets,
            outside_lists: links.outside_lists(),
        },
        cr,
        cr_is_at_most: cr.is_some() && counts.pages_not_whole + links.lists_closed + links.downloads_closed > 0,
        unread: Unread {
            downloads_unanswered: links.downloads_open,
            downloads_closed: links.downloads_closed,
            lists_unread,
            lists_waiting: links.lists_waiting,
            lists_closed: links.lists_closed,
            pages_not_whole: counts.pages_not_whole,
            not_whole: Vec::new(),
        },
        rates: Rates {
            hr: ratio(ci, pages),
            av: per_second(pages, seconds),
            atv: per_second(ci, seconds),
            pages,
            seconds,
            duplicate_visits: visits(Outcome::TorrentDuplicate),
        },
        terms: Vec::new(),
        series: estimate.series.iter().take(limits::COVERAGE_SERIES_LISTED_MAX).map(series).collect(),
        series_count: estimate.series.len() as u64,
        stated: StatedTotals::default(),
        ids: Vec::new(),
        by_label: Vec::new(),
        over_time: Vec::new(),
    };
    found.terms = terms::terms(&found, estimate);
    found
}

/// List pages that were not read and do not wait to be. A pager may announce pages that no link leads to, and one more than there are,
/// which is gone.
fn lists_unread(estimate: &Estimate, links: &Links) -> u64 {
    let gaps =
        || estimate.series.iter().filter(|series| series.adds > 0).map(|series| series.pages - series.pages_read);
    let single = gaps().filter(|gap| *gap == 1).count() as u64;
    let announced = gaps().fold(0, u64::saturating_add).saturating_sub(links.lists_gone.min(single));
    if links.lists_waiting > 0 { links.lists_failed } else { links.lists_failed.max(announced) }
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

#[allow(clippy::cast_precision_loss)] // ratios for reading
fn ratio(of: u64, to: u64) -> Option<f64> {
    (to > 0).then(|| of as f64 / to as f64)
}

#[allow(clippy::cast_precision_loss)] // ratios for reading
fn per_second(count: u64, seconds: f64) -> Option<f64> {
    (seconds > 0.0).then(|| count as f64 / seconds)
}

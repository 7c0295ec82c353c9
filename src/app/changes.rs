//! How a site changes, for `status`: the acquisition delay of its torrents, what is gone, and how its lists are read. From
//! notes; the process that crawls the site serves its current values (`control`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use gleaner_crawl::fresh::arrivals::DELAY_NOTE;
use gleaner_crawl::fresh::boards::{self, BOARDS_NOTE, ChangeBasis};
use gleaner_crawl::fresh::gone::{self, GONE_NOTE};
use gleaner_crawl::freshness::delay::{Delays, Quantile, Report};
use gleaner_store::crawldb::{CrawlDbError, Reader};

/// The acquisition delay of a site's torrents, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DelayStatus {
    /// Archived torrents that appeared since the crawl started.
    pub torrents: u64,
    /// Torrents that existed before.
    pub history: u64,
    /// Torrents whose time on the site contradicts the observed lists.
    pub contradicted: u64,
    /// The figures, from the middle and from the end of the interval in which each torrent appeared.
    pub median_s: Option<f64>,
    pub p90_s: Option<f64>,
    pub p99_s: Option<f64>,
    pub median_most_s: Option<f64>,
    pub p90_most_s: Option<f64>,
    pub p99_most_s: Option<f64>,
}

/// What is gone from a site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GoneStatus {
    /// Gone torrents, by evidence.
    pub by: BTreeMap<String, u64>,
    /// The latest of them, the newest last.
    pub last: Vec<GoneTold>,
}

/// A URL that is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GoneTold {
    pub url: String,
    /// It disappeared between these times (UTC).
    pub from: String,
    pub until: String,
    /// When that was detected.
    pub found: String,
}

/// How a site's lists are read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ListsStatus {
    /// Lists whose rows show times, only reply counts, or neither, so that only unknown URLs are noticed.
    pub by_times: u64,
    pub by_replies: u64,
    pub by_unknown_urls: u64,
    /// Lists without detected rows: all of their links are taken.
    pub without_rows: u64,
    /// One of the lists with neither times nor replies.
    pub untold: Option<String>,
}

/// The delay figures of one site; `None` before a delay was measured.
///
/// # Errors
/// Errors of the database.
pub async fn delays(db: &(impl Reader + ?Sized), site: &str) -> Result<Option<Report>, CrawlDbError> {
    let note = db.note(site, DELAY_NOTE).await?;
    Ok(note.and_then(|note| Delays::from_bytes(&note)).map(|delays| delays.report()))
}

/// The figures in short; `None` if no torrent has arrived yet.
pub(super) async fn delay(db: &dyn Reader, site: &str) -> Result<Option<DelayStatus>, CrawlDbError> {
    let told = |Report { torrents, history, contradicted, median, p90, p99, .. }: Report| {
        let [(median_s, median_most_s), (p90_s, p90_most_s), (p99_s, p99_most_s)] =
            [median, p90, p99].map(|Quantile { middle_s, most_s, .. }| (middle_s, most_s));
        DelayStatus { torrents, history, contradicted, median_s, p90_s, p99_s, median_most_s, p90_most_s, p99_most_s }
    };
    Ok(delays(db, site).await?.filter(|report| report.torrents + report.history > 0).map(told))
}

pub(super) async fn gone(db: &dyn Reader, site: &str) -> Result<Option<GoneStatus>, CrawlDbError> {
    let state = db.note(site, GONE_NOTE).await?.and_then(|note| gone::GonePages::from_bytes(&note));
    Ok(state.filter(|state| !state.counts.is_empty()).map(|state| GoneStatus {
        by: state.counts,
        last: state
            .last
            .into_iter()
            .map(|gone| GoneTold {
                url: gone.url,
                from: gone.gone.since.from.rfc3339(),
                until: gone.gone.since.until.rfc3339(),
                found: gone.at.rfc3339(),
            })
            .collect(),
    }))
}

pub(super) async fn lists(db: &dyn Reader, site: &str) -> Result<Option<ListsStatus>, CrawlDbError> {
    let Some(state) = db.note(site, BOARDS_NOTE).await?.and_then(|note| boards::StoredBoards::from_bytes(&note)) else {
        return Ok(None);
    };
    let mut told = ListsStatus::default();
    for (url, board) in &state.boards {
        match board.grounds {
            Some(ChangeBasis::Times | ChangeBasis::Created) => told.by_times += 1,
            Some(ChangeBasis::Replies) => told.by_replies += 1,
            Some(ChangeBasis::UnknownUrls) => {
                told.by_unknown_urls += 1;
                told.untold.get_or_insert_with(|| url.clone());
            }
            None => told.without_rows += 1,
        }
    }
    Ok((!state.boards.is_empty()).then_some(told))
}

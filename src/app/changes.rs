//! What `status` tells of how a site changes: how late its torrents come, what it has no more, and how its lists are read. Of
//! notes, which the process that crawls the site answers with what it knows at that moment (`control`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use gleaner_crawl::fresh::arrivals::DELAY_NOTE;
use gleaner_crawl::fresh::boards::{self, BOARDS_NOTE, Told};
use gleaner_crawl::fresh::gone::{self, GONE_NOTE};
use gleaner_crawl::freshness::delay::{Delays, Quantile, Report};
use gleaner_store::crawldb::{CrawlDbError, Reader};

/// The acquisition delay of a site's torrents, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DelayStatus {
    /// Torrents that appeared since the crawl began and are here.
    pub torrents: u64,
    /// Torrents that were there before.
    pub history: u64,
    /// Torrents whose time by the site contradicts what looks at its lists showed.
    pub contradicted: u64,
    /// The figures: by the middles of when the torrents may have appeared, and at most.
    pub median_s: Option<f64>,
    pub p90_s: Option<f64>,
    pub p99_s: Option<f64>,
    pub median_most_s: Option<f64>,
    pub p90_most_s: Option<f64>,
    pub p99_most_s: Option<f64>,
}

/// What a site has no more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoneStatus {
    /// Torrents that are gone, by the sign of it.
    pub by: BTreeMap<String, u64>,
    /// The last of them, the newest last.
    pub last: Vec<GoneTold>,
}

/// A URL that is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoneTold {
    pub url: String,
    /// It went between these (UTC).
    pub from: String,
    pub until: String,
    /// When that was found.
    pub found: String,
}

/// How a site's lists are read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListsStatus {
    /// Lists whose rows tell times, only counts of replies, or neither, so that only unknown URLs are seen.
    pub by_times: u64,
    pub by_replies: u64,
    pub by_unknown_urls: u64,
    /// Lists in which no rows were found: their links are taken.
    pub without_rows: u64,
    /// One of those that tell neither times nor replies.
    pub untold: Option<String>,
}

/// The figures of one site's delays; `None` before one was measured.
///
/// # Errors
/// Those of the database.
pub async fn delays(db: &(impl Reader + ?Sized), site: &str) -> Result<Option<Report>, CrawlDbError> {
    let note = db.note(site, DELAY_NOTE).await?;
    Ok(note.and_then(|note| Delays::from_bytes(&note)).map(|delays| delays.report()))
}

/// In short; `None` where no torrent has come yet.
pub(super) async fn delay(db: &dyn Reader, site: &str) -> Result<Option<DelayStatus>, CrawlDbError> {
    let told = |Report { torrents, history, contradicted, median, p90, p99, .. }: Report| {
        let [(median_s, median_most_s), (p90_s, p90_most_s), (p99_s, p99_most_s)] =
            [median, p90, p99].map(|Quantile { middle_s, most_s, .. }| (middle_s, most_s));
        DelayStatus { torrents, history, contradicted, median_s, p90_s, p99_s, median_most_s, p90_most_s, p99_most_s }
    };
    Ok(delays(db, site).await?.filter(|report| report.torrents + report.history > 0).map(told))
}

pub(super) async fn gone(db: &dyn Reader, site: &str) -> Result<Option<GoneStatus>, CrawlDbError> {
    let state = db.note(site, GONE_NOTE).await?.and_then(|note| gone::State::from_bytes(&note));
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
    let Some(state) = db.note(site, BOARDS_NOTE).await?.and_then(|note| boards::State::from_bytes(&note)) else {
        return Ok(None);
    };
    let mut told = ListsStatus::default();
    for (url, board) in &state.boards {
        match board.grounds {
            Some(Told::Times | Told::Created) => told.by_times += 1,
            Some(Told::Replies) => told.by_replies += 1,
            Some(Told::UnknownUrls) => {
                told.by_unknown_urls += 1;
                told.untold.get_or_insert_with(|| url.clone());
            }
            None => told.without_rows += 1,
        }
    }
    Ok((!state.boards.is_empty()).then_some(told))
}

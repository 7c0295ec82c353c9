//! The crawl loop: `visit` processes one URL from request to result, `site_loop` keeps a site's lanes filled, `commit`
//! writes finished visits to disk. The loop names no store, no HTTP library and no clock: they are passed in
//! as `CrawlDb`, `Transport` and `Clock`.

pub mod freshness;
pub mod limits;
pub mod schedule;

pub mod account;
pub mod commit;
mod denial;
pub mod fresh;
mod front;
mod gaps;
pub mod guesses;
mod host_work;
pub mod hosts;
pub mod job;
mod judging;
mod labelled;
pub mod login;
pub mod look;
mod masked;
pub mod measured;
pub mod memory;
mod news;
pub mod not_whole;
pub mod outlinks;
pub mod progress;
pub mod promises;
pub mod read_before;
pub mod refusal;
pub mod refused;
pub mod repeats;
pub mod robots_txt;
pub mod rows;
pub mod scripts;
mod series;
pub mod site;
pub mod site_loop;
pub mod sitemaps;
pub mod tally;
pub mod turn;
pub mod version;
pub mod visit;
pub mod walls;
pub mod watched;
pub mod worth;

use std::time::Duration;

pub use gleaner_frontier as frontier;
pub use hosts::Hosts;

/// Limits of one run, in addition to those of the sites' own files.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Requests of this run, over all its sites.
    pub pages_max: Option<u64>,
    pub time_max: Option<Duration>,
    /// False: a site ends when its history is exhausted. True: it is revisited at its interval until the crawl is
    /// stopped.
    pub keep_looking: bool,
    /// Of each site, unknown numbers between the known ones of its torrents that may be asked for at its end.
    pub enumerate: Option<u64>,
}

/// Why a crawl cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum CrawlError {
    #[error(transparent)]
    Database(#[from] gleaner_store::crawldb::CrawlDbError),
    #[error(transparent)]
    Commit(#[from] commit::CommitError),
    /// The committer has ended before the sites; its own error gives the reason.
    #[error("the committer has ended")]
    CommitterGone,
    /// A bug of gleaner in the site's loop.
    #[error("internal error: {0}")]
    Panicked(String),
}

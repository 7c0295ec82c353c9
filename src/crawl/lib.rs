//! The loop that works: `visit` is one URL straight down, `site_loop` keeps a site's lanes filled, `commit` puts
//! finished visits on the disk. The loop names no store, no HTTP library and no clock of its own: they come in
//! through `CrawlDb`, `Transport` and `Clock`.

pub mod freshness;
pub mod limits;
pub mod schedule;

pub mod account;
pub mod commit;
mod denial;
pub mod fresh;
mod front;
mod host_work;
pub mod hosts;
pub mod job;
mod judging;
pub mod login;
pub mod look;
pub mod memory;
mod news;
pub mod not_whole;
pub mod outlinks;
pub mod progress;
pub mod repeats;
pub mod robots_txt;
pub mod rows;
pub mod scripts;
mod series;
pub mod site;
pub mod site_loop;
pub mod sitemaps;
pub mod turn;
pub mod version;
pub mod visit;
pub mod worth;

use std::time::Duration;

pub use gleaner_frontier as frontier;
pub use hosts::Hosts;

/// What one run may do, beside what the sites' own files allow.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Requests of this run, over all its sites.
    pub pages_max: Option<u64>,
    pub time_max: Option<Duration>,
    /// False: a site ends when its history is exhausted. True: it is looked at again at its interval, until
    /// stopped.
    pub keep_looking: bool,
}

/// Why a crawl cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum CrawlError {
    #[error(transparent)]
    Database(#[from] gleaner_store::crawldb::CrawlDbError),
    #[error(transparent)]
    Commit(#[from] commit::CommitError),
    /// The committer has ended before the sites; its own error tells why.
    #[error("the committer has ended")]
    CommitterGone,
    /// A fault of ours in the site's loop.
    #[error("a fault of gleaner's own: {0}")]
    Panicked(String),
}

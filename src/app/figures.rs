//! Figures that have to be counted: the coverage of each site, and the bytes of the archive. On a thread of their own and only now and then, so that neither
//! the crawl nor whoever asks waits for them.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;

use gleaner_base::clock::{Clock, UnixMillis};
use gleaner_store::coverage::growth::GrowthPoint;
use gleaner_store::coverage::{self, SiteCoverage};
use gleaner_store::crawldb::{CrawlDbError, Reader, Stored};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::niceness::be_nice;
use crate::limits::EXPORT_ROWS_MAX;

/// Between two counts, at least ...
const COUNT_EACH: Duration = Duration::from_secs(10);

/// ... and at least so many times as long as a count takes: two per cent of a processor.
const REST: u32 = 50;

/// What was stored later may not be committed yet, and is counted the next time.
const SETTLED_AFTER_MS: u64 = 10_000;

/// The coverage of a site.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Covered {
    /// CR; None while it is not known.
    pub ratio: Option<f64>,
    /// CR is an upper bound.
    pub is_at_most: bool,
    /// NT; 0 while no list was read.
    pub listed: u64,
    /// How its torrents came.
    pub over_time: Vec<GrowthPoint>,
}

/// What was counted last.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// When the coverage was; None before the first time.
    pub at: Option<UnixMillis>,
    pub sites: BTreeMap<String, Covered>,
    pub archive_bytes: u64,
}

/// The figures, shared with whoever shows them.
#[derive(Clone, Default)]
pub struct Figures(Arc<RwLock<Counted>>);

impl Figures {
    /// What was counted last.
    #[must_use]
    pub fn counted(&self) -> Counted {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, change: impl FnOnce(&mut Counted)) {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner));
    }
}

/// The thread that counts. Dropped, it ends.
pub struct Counting {
    figures: Figures,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Counting {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(db: Arc<dyn Reader>, clock: Arc<dyn Clock>) -> std::io::Result<Self> {
        let (figures, (stop, stopped)) = (Figures::default(), oneshot::channel());
        let shared = figures.clone();
        let run = move || {
            be_nice();
            match tokio::runtime::Builder::new_current_thread().enable_time().build() {
                Ok(runtime) => {
                    runtime.block_on(async {
                        tokio::select! {
                            () = keep_up(&*db, &*clock, &shared) => {}
                            _ = stopped => {}
                        }
                    });
                    // A read that is under way may not hold the end of the process.
                    runtime.shutdown_background();
                }
                Err(error) => tracing::error!(%error, "no runtime to count in: the coverage is not in the metrics"),
            }
        };
        let thread = std::thread::Builder::new().name("figures".to_owned()).spawn(run)?;
        Ok(Self { figures, stop: Some(stop), thread: Some(thread) })
    }

    /// The figures.
    #[must_use]
    pub fn figures(&self) -> Figures {
        self.figures.clone()
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn keep_up(db: &dyn Reader, clock: &dyn Clock, figures: &Figures) {
    let (mut counter, mut told) = (Counter::default(), String::new());
    loop {
        let began = Instant::now();
        if let Err(error) = counter.count(db, clock.now(), figures).await {
            let error = error.to_string();
            if error != told {
                tracing::warn!(error, "the coverage cannot be counted: it is tried again");
                told = error;
            }
        }
        tokio::time::sleep(COUNT_EACH.max(began.elapsed() * REST)).await;
    }
}

/// What earlier counts have seen.
#[derive(Default)]
struct Counter {
    /// Each site with its URLs and visits: where none came, the coverage is as it was.
    seen: Vec<(String, u64, u64)>,
    /// Bytes of the archive up to a place in the order of storing.
    bytes: u64,
    until: Option<Stored>,
}

impl Counter {
    async fn count(&mut self, db: &dyn Reader, now: UnixMillis, figures: &Figures) -> Result<(), CrawlDbError> {
        let mut seen = Vec::new();
        for site in coverage::sites(db).await? {
            let counts = db.site_counts(&site).await?;
            seen.push((site, counts.urls_known, counts.outcomes.iter().map(|(_, visits)| visits).sum()));
        }
        if seen != self.seen {
            let found = coverage::of_all_sites(db).await?;
            let covered = |site: SiteCoverage| {
                let (is_at_most, listed) = (site.cr_is_at_most, site.nt.nt.unwrap_or_default());
                (site.site, Covered { ratio: site.cr, is_at_most, listed, over_time: site.over_time })
            };
            let sites = found.into_iter().map(covered).collect();
            figures.set(|counted| (counted.at, counted.sites) = (Some(now), sites));
            self.seen = seen;
        }
        self.add_archive(db, now).await?;
        figures.set(|counted| counted.archive_bytes = self.bytes);
        Ok(())
    }

    /// Adds the files that were stored since the last call.
    async fn add_archive(&mut self, db: &dyn Reader, now: UnixMillis) -> Result<(), CrawlDbError> {
        let settled = UnixMillis(now.0.saturating_sub(SETTLED_AFTER_MS));
        let (mut before, mut newest, mut bytes) = (Stored { at: settled, key: Vec::new() }, None, 0);
        'all: loop {
            let rows = db.newest(Some(before), 0, EXPORT_ROWS_MAX).await?;
            let Some(last) = rows.last() else { break };
            before = last.place();
            for row in rows {
                if self.until.as_ref().is_some_and(|until| row.place() <= *until) {
                    break 'all;
                }
                bytes += u64::from(row.facts.metainfo_bytes);
                newest.get_or_insert_with(|| row.place());
            }
        }
        self.bytes += bytes;
        self.until = newest.or(self.until.take());
        Ok(())
    }
}

#[cfg(test)]
mod tests;

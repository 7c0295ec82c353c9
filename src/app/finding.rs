//! The search index of a running service: kept up on a thread of its own, so that it costs the crawl no lane.

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;

use super::niceness::be_nice;
use futures_util::FutureExt as _;
use gleaner_search::Search;
use gleaner_search::filing::Filing;
use gleaner_search::follow::{FollowError, Follower, contents_of};
use gleaner_store::crawldb::Reader;
use gleaner_torrent::archive::Archive;
use tokio::time::Instant;

/// Between two looks at what has changed: what is stored is found seconds later.
const LOOK: Duration = Duration::from_secs(2);

/// Between two looks at what rule files say of categories.
const FILING_LOOK: Duration = Duration::from_secs(20);

/// Between two times that torrents are filed again because a site has given known ones other labels.
const REFILING: Duration = Duration::from_secs(24 * 60 * 60);

/// Before the index is tried again after an error.
const RETRY: Duration = Duration::from_secs(30);

/// Between two looks at whether to end.
const STOP_LOOK: Duration = Duration::from_millis(100);

/// The index, once it can be asked.
#[derive(Clone, Default)]
pub struct Finder(Arc<RwLock<Option<Arc<Search>>>>);

impl Finder {
    /// None while the index is made.
    #[must_use]
    pub fn search(&self) -> Option<Arc<Search>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, search: Option<Arc<Search>>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = search;
    }
}

/// The thread that keeps the index up. It ends when this is dropped: what was not committed is taken in at the next start.
pub struct Finding {
    finder: Finder,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Finding {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(data_dir: &Path, db: Arc<dyn Reader>, archive: Arc<Archive>) -> std::io::Result<Self> {
        let (finder, stop) = (Finder::default(), Arc::new(AtomicBool::new(false)));
        let (shared, is_over, data_dir) = (finder.clone(), Arc::clone(&stop), data_dir.to_path_buf());
        let run = move || {
            be_nice();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
            match runtime {
                Ok(runtime) => runtime.block_on(keep_up(&data_dir, &*db, &archive, &shared, &is_over)),
                Err(error) => tracing::error!(%error, "no runtime for the search index: nothing is found"),
            }
        };
        let thread = std::thread::Builder::new().name("search".to_owned()).spawn(run)?;
        Ok(Self { finder, stop, thread: Some(thread) })
    }

    /// The index.
    #[must_use]
    pub fn finder(&self) -> Finder {
        self.finder.clone()
    }
}

impl Drop for Finding {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn keep_up(data_dir: &Path, db: &dyn Reader, archive: &Archive, finder: &Finder, is_over: &AtomicBool) {
    let mut told = String::new();
    while !is_over.load(Ordering::Relaxed) {
        let following = AssertUnwindSafe(follow(data_dir, db, archive, finder, is_over)).catch_unwind();
        let error = match following.await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it stopped at an inconsistency".to_owned(),
        };
        // What was committed can be asked all the same. Once for each error: a full disk may last for days.
        if error != told {
            tracing::warn!(error, "the search index cannot be kept up: it is tried again every {} s", RETRY.as_secs());
            told = error;
        }
        wait(RETRY, is_over).await;
    }
}

/// Follows the database until it is over.
async fn follow(
    data_dir: &Path,
    db: &dyn Reader,
    archive: &Archive,
    finder: &Finder,
    is_over: &AtomicBool,
) -> Result<(), FollowError> {
    let mut follower = Follower::open(data_dir)?;
    let mut is_told = false;
    let (mut filing, mut read) = (Filing::read(db).await?, Instant::now());
    // Now, and then once a day.
    filing.with_relabelled = true;
    let mut relabelled = read;
    finder.set(follower.is_whole().then(|| follower.search()));
    while !is_over.load(Ordering::Relaxed) {
        if read.elapsed() >= FILING_LOOK {
            (filing, read) = (Filing::read(db).await?, Instant::now());
            // A few torrents that a site has filed elsewhere are no reason to read all of them at once.
            filing.with_relabelled = relabelled.elapsed() >= REFILING;
            if filing.with_relabelled {
                relabelled = read;
            }
        }
        let step = follower.step(db, &|row| contents_of(row, archive), &filing).await?;
        if follower.is_whole() && finder.search().is_none() {
            finder.set(Some(follower.search()));
        } else if !follower.is_whole() {
            finder.set(None);
        }
        match step.made {
            Some((_, all)) if !std::mem::replace(&mut is_told, true) => {
                tracing::info!(torrents = all, "the search index is made");
            }
            None if follower.is_whole() && std::mem::take(&mut is_told) => {
                tracing::info!(torrents = follower.search().torrents(), "the search index is whole");
            }
            _ => {}
        }
        if step.is_level {
            wait(LOOK, is_over).await;
        }
    }
    Ok(())
}

pub(super) async fn wait(time: Duration, is_over: &AtomicBool) {
    let mut left = time;
    while !left.is_zero() && !is_over.load(Ordering::Relaxed) {
        let part = left.min(STOP_LOOK);
        tokio::time::sleep(part).await;
        left -= part;
    }
}

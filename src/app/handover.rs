//! The handovers of a running service, on a thread of their own: a client's folder that is slow or full costs the crawl nothing.

use std::collections::{BTreeMap, HashMap};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use futures_util::FutureExt as _;
use gleaner_base::clock::Clock;
use gleaner_handover::memory::{self, Memory};
use gleaner_handover::{Handover, HandoverError, Sources};
use gleaner_rules::config::handover::Handover as Wanted;
use gleaner_store::crawldb::CrawlDb;
use gleaner_torrent::archive::Archive;

use super::App;
use super::finding::{Finder, wait};
use super::niceness::be_nice;
use crate::limits::HANDOVER_STOP_TIME_MAX;

/// Between two looks at what has come.
const LOOK: Duration = Duration::from_secs(2);

/// Looks that a handover leaves out after an error.
const LOOKS_LEFT_OUT: u32 = 14;

/// Between two looks at whether the thread has ended.
const STOP_LOOK: Duration = Duration::from_millis(20);

/// The thread that hands over. Dropped, it ends: what was not handed over is at the next start.
pub struct HandingOver {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// How many torrents each handover has handed over, ever, and when the last one, in milliseconds since 1970.
#[derive(Clone, Default)]
pub struct Handed(Arc<Mutex<Counts>>);

/// By name.
type Counts = BTreeMap<String, (usize, Option<u64>)>;

impl Handed {
    fn note(&self, data_dir: &Path, name: &str, torrents: usize) {
        let last = memory::last_written(data_dir, name).filter(|_| torrents > 0);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), (torrents, last));
    }

    /// By name, in its order.
    #[must_use]
    pub fn all(&self) -> Counts {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What the thread works with.
struct Parts {
    handed: Handed,
    data_dir: PathBuf,
    db: Arc<dyn CrawlDb>,
    archive: Arc<Archive>,
    clock: Arc<dyn Clock>,
    finder: Finder,
    stop: Arc<AtomicBool>,
}

impl HandingOver {
    /// Starts the thread, if there is anything to hand over.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(app: &App, wanted: &[Wanted], finder: Finder) -> std::io::Result<Option<Self>> {
        if wanted.is_empty() {
            return Ok(None);
        }
        let stop = Arc::new(AtomicBool::new(false));
        for wanted in wanted {
            // One that cannot be read is told when it is opened.
            let there = Memory::open(&app.data_dir, &wanted.name).map_or(0, |memory| memory.len());
            app.handed.note(&app.data_dir, &wanted.name, there);
        }
        let parts = Parts {
            handed: app.handed.clone(),
            data_dir: app.data_dir.clone(),
            db: Arc::clone(&app.db),
            archive: Arc::clone(&app.archive),
            clock: Arc::clone(&app.clock),
            finder,
            stop: Arc::clone(&stop),
        };
        let wanted = wanted.to_vec();
        let run = move || {
            be_nice();
            match tokio::runtime::Builder::new_current_thread().enable_time().build() {
                Ok(runtime) => runtime.block_on(parts.serve(wanted)),
                Err(error) => tracing::error!(%error, "no runtime for the handover: nothing is handed over"),
            }
        };
        let thread = std::thread::Builder::new().name("handover".to_owned()).spawn(run)?;
        Ok(Some(Self { stop, thread: Some(thread) }))
    }
}

impl Drop for HandingOver {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let Some(thread) = self.thread.take() else { return };
        let mut left = HANDOVER_STOP_TIME_MAX;
        while !thread.is_finished() && !left.is_zero() {
            std::thread::sleep(STOP_LOOK);
            left = left.saturating_sub(STOP_LOOK);
        }
        if thread.is_finished() {
            let _ = thread.join();
        } else {
            tracing::warn!("a watch folder does not answer: its handover is cut off");
        }
    }
}

/// A handover, once it could be opened, and what was logged of its last error.
struct Served {
    wanted: Wanted,
    open: Option<Handover>,
    told: String,
    /// Looks that it leaves out.
    pause: u32,
}

impl Parts {
    async fn serve(&self, wanted: Vec<Wanted>) {
        let new = |wanted| Served { wanted, open: None, told: String::new(), pause: 0 };
        let mut all: Vec<Served> = wanted.into_iter().map(new).collect();
        while !self.is_over() {
            for served in &mut all {
                if served.pause > 0 {
                    served.pause -= 1;
                    continue;
                }
                let round = AssertUnwindSafe(self.hand_over(served)).catch_unwind().await;
                let error = match round {
                    Ok(Ok(())) => {
                        if !std::mem::take(&mut served.told).is_empty() {
                            tracing::info!(handover = served.wanted.name, "handing over works again");
                        }
                        continue;
                    }
                    Ok(Err(error)) => error.to_string().replace('\n', " · "),
                    Err(_) => "it stopped at an inconsistency".to_owned(),
                };
                served.open = None;
                served.pause = LOOKS_LEFT_OUT;
                // Once for each error: a folder may be away for days.
                if error != served.told {
                    let each = (LOOK * (LOOKS_LEFT_OUT + 1)).as_secs();
                    tracing::error!(
                        handover = served.wanted.name,
                        error,
                        "nothing can be handed over: it is tried again every {each} s, and nothing is lost"
                    );
                    served.told = error;
                }
            }
            wait(LOOK, &self.stop).await;
        }
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Hands over what waits.
    async fn hand_over(&self, served: &mut Served) -> Result<(), HandoverError> {
        // Until the index is made, nothing fits.
        let Some(search) = self.finder.search() else { return Ok(()) };
        let handover = match &mut served.open {
            Some(open) => open,
            none => {
                let open = Handover::open(&self.data_dir, served.wanted.clone())?;
                for doubt in open.doubts().iter().filter(|_| served.told.is_empty()) {
                    tracing::warn!(
                        handover = served.wanted.name,
                        doubt,
                        "this part of its search is no filter: it is looked for as words"
                    );
                }
                none.insert(open)
            }
        };
        let sources = Sources { db: &*self.db, search: &search, archive: &self.archive };
        let (mut torrents, mut left_out) = (0, HashMap::new());
        let ended = loop {
            let round = match handover.round(sources, self.clock.now()).await {
                Ok(round) => round,
                Err(error) => break Err(error),
            };
            torrents += round.handed.len();
            for error in &round.aside {
                let error = error.replace('\n', " · ");
                tracing::warn!(
                    handover = served.wanted.name,
                    error,
                    "a file cannot be written: the others go on, and it is tried again every {} s",
                    gleaner_handover::limits::ASIDE_FOR.as_secs()
                );
            }
            for torrent in &round.left_out {
                left_out.entry(torrent.reason).or_insert_with(|| torrent.infohash.clone());
            }
            // Not level and nothing to do: the index comes up in a moment.
            if round.is_level
                || self.is_over()
                || (round.handed.is_empty() && round.left_out.is_empty() && round.aside.is_empty())
            {
                break Ok(());
            }
        };
        self.handed.note(&self.data_dir, &served.wanted.name, handover.handed());
        if torrents > 0 {
            tracing::info!(handover = served.wanted.name, torrents, "torrents are handed over");
        }
        for (reason, infohash) in left_out {
            tracing::warn!(
                handover = served.wanted.name,
                infohash,
                reason,
                "a torrent cannot be handed over (hint: gleaner verify --repair has it fetched again)"
            );
        }
        ended
    }
}

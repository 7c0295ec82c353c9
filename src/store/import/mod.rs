//! Imports torrents and magnet links: files, folders, archives, what clients keep, and exports with their manifests.
//!
//! ```text
//! reading thread: paths → folders, archives, lists → recognition ──(batches)──► known? → archive → one durable commit
//! ```
//!
//! What a file is, its bytes say, never its name; what a manifest says counts as far as the file and the rules bear it out. The URLs of
//! a manifest count as visited: the crawl does not ask for them again. A batch is on the disk whole or not at all, and what is known is left alone: an
//! import that was interrupted is run again. Nothing is extracted: a path in an archive is only shown.

mod listed;
mod reading;
mod refused;
pub(crate) mod tarball;
mod trackers;
mod unpack;
mod writing;
mod zip;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use tokio::sync::mpsc;

use crate::crawldb::{CrawlDb, CrawlDbError, MagnetFacts, TorrentFacts};
use gleaner_base::clock::UnixMillis;
use gleaner_torrent::archive::{Archive, ArchiveError};
pub use refused::{Group, Groups};

/// What is to be imported.
pub struct Job {
    pub paths: Vec<PathBuf>,
    /// Name of the site of what no manifest gives another one.
    pub source: String,
    pub now: UnixMillis,
    /// Judges the URLs of a manifest: by site and URL.
    pub judge: Arc<Judge>,
    /// A folder with room for the copy of a manifest.
    pub spool: PathBuf,
}

/// See [`Job::judge`].
pub type Judge = dyn Fn(&str, &str) -> Judged + Send + Sync;

/// What a URL of a manifest is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// One of the site's, as the crawl writes it.
    Known {
        origin: String,
        path: String,
        rank: u8,
        /// It is a page about one torrent.
        is_detail: bool,
    },
    /// It lacks the keys of a member.
    Masked,
    /// A list or a thread, which is read again: it may show what is not known yet.
    List,
    /// It is not what the manifest says, for this reason.
    Lie(&'static str),
}

/// Torrents and magnets that are committed together.
#[derive(Debug, Default)]
struct Batch {
    torrents: Vec<Torrent>,
    magnets: Vec<Magnet>,
    /// Of their files.
    bytes: usize,
    /// Torrents that got the trackers of their resume file.
    completed: u64,
}

#[derive(Debug)]
struct Torrent {
    facts: TorrentFacts,
    /// The bytes to archive.
    file: Vec<u8>,
    place: String,
    sources: Vec<SourceAt>,
}

#[derive(Debug)]
struct Magnet {
    facts: MagnetFacts,
    site: String,
    at: UnixMillis,
}

/// Where and when a torrent was found.
#[derive(Debug)]
struct SourceAt {
    site: String,
    /// Origin, path and rank of the URL; None if it is not known.
    url: Option<(String, String, u8)>,
    via: Option<Box<str>>,
    /// The site's own word for what it is.
    label: Option<Box<str>>,
    /// That page, if it is about one torrent: origin, path and rank.
    detail: Option<(String, String, u8)>,
    at: UnixMillis,
}

/// What an import has done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Torrents that are new in the archive.
    pub torrents: u64,
    /// Torrents that it had, or that came twice.
    pub known: u64,
    /// Magnets whose torrents were neither archived nor named.
    pub magnets: u64,
    pub magnets_known: u64,
    /// URLs of sites that count as visited from now on.
    pub urls: u64,
    /// URLs of manifests without the keys of a member: the crawl asks for them again.
    pub urls_masked: u64,
    /// Torrents that got the trackers of their resume file.
    pub completed: u64,
    /// Files that are no torrents and do not claim to be.
    pub other: u64,
    /// What claims to be more than it is.
    pub refused: Groups,
}

/// Why an import ended early. What was committed before stays, and the next run goes on.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error(transparent)]
    Database(#[from] CrawlDbError),
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error("there is no thread to read with: {0}")]
    NoThread(std::io::Error),
}

/// How far an import is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub torrents: u64,
    pub known: u64,
}

/// Imports; without an archive nothing is written. `progress` is called after every batch.
///
/// # Errors
/// Those of the database and of the archive.
pub async fn import(
    db: &dyn CrawlDb,
    archive: Option<Arc<Archive>>,
    job: Job,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, ImportError> {
    let (source, now) = (job.source.clone(), job.now);
    let (sender, mut batches) = mpsc::channel(1);
    let reader = std::thread::Builder::new().name("import".to_owned()).spawn(move || reading::run(&job, sender));
    let reader = reader.map_err(ImportError::NoThread)?;
    let mut writing = writing::Writing {
        db,
        archive,
        source: &source,
        now,
        hosts: HashMap::new(),
        labels: HashMap::new(),
        pages: HashSet::new(),
        seen: HashSet::new(),
        summary: Summary::default(),
    };
    let mut written = Ok(());
    while let Some(batch) = batches.recv().await {
        written = writing.batch(batch).await;
        if written.is_err() {
            break;
        }
        progress(Progress { torrents: writing.summary.torrents, known: writing.summary.known });
    }
    // A reader that waits for room is told to end.
    drop(batches);
    let report = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    written?;
    let mut summary = writing.summary;
    for (reason, group) in report.refused.0 {
        let there = summary.refused.0.entry(reason).or_default();
        there.count += group.count;
        there.first.extend(group.first);
    }
    Ok(Summary { other: report.other, urls_masked: report.masked, ..summary })
}

//! Many visits, one durable commit. Torrent files are on the disk, synced and named, before the rows that speak
//! of them are committed: a crash leaves at worst a file without a row, never a row without its file.
//!
//! Batches are bounded in count, in bytes and in time (`limits::COMMIT_*`); a site that has nothing left to do
//! before the commit asks for it at once.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;

use super::visit::Finished;
use crate::crawldb::{CrawlDb, CrawlDbError, Outcome, Receipt, Visit};
use crate::limits;
use crate::torrent::archive::{Archive, ArchiveError};

/// A message to the committer.
pub enum Message {
    /// To be committed within the window; the receipt goes to `reply`.
    Visit { finished: Box<Finished>, reply: mpsc::UnboundedSender<Committed> },
    /// Commit now what has come so far.
    Flush,
}

/// A visit that is on the disk.
#[derive(Clone, Copy, Debug)]
pub struct Committed {
    pub outcome: Outcome,
    pub receipt: Receipt,
    pub body_bytes: u64,
    /// True when the URL is queued again, for a retry or a revisit.
    pub queued_again: bool,
}

/// Why a commit failed. Nothing of its batch is in the database.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    #[error(transparent)]
    Database(#[from] CrawlDbError),
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}

/// What a failed commit leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFault {
    /// End, with the error: a command that a person runs.
    Stop,
    /// Keep the batch and try again until the cause is gone: the service.
    TryAgain(Duration),
}

/// Commits until all senders are gone and everything is on the disk.
pub async fn run(
    db: Arc<dyn CrawlDb>,
    archive: Arc<Archive>,
    mut messages: mpsc::Receiver<Message>,
    on_fault: OnFault,
    failing: Arc<AtomicBool>,
) -> Result<(), CommitError> {
    while let Some(batch) = gather(&mut messages).await {
        if batch.is_empty() {
            continue;
        }
        loop {
            match commit(&db, &archive, &batch).await {
                Ok(committed) => {
                    failing.store(false, Ordering::Relaxed);
                    for (waiting, committed) in batch.iter().zip(committed) {
                        // A site that has gone needs no receipt.
                        let _ = waiting.reply.send(committed);
                    }
                    break;
                }
                Err(error) => match on_fault {
                    OnFault::Stop => return Err(error),
                    OnFault::TryAgain(pause) => {
                        failing.store(true, Ordering::Relaxed);
                        tracing::error!(%error, visits = batch.len(), "commit failed, will be tried again");
                        tokio::time::sleep(pause).await;
                    }
                },
            }
        }
    }
    Ok(())
}

struct Waiting {
    visit: Visit,
    torrent: Option<Bytes>,
    reply: mpsc::UnboundedSender<Committed>,
}

/// The next batch: from its first visit on, until a flush, a bound, or the end of the window. None at the end.
async fn gather(messages: &mut mpsc::Receiver<Message>) -> Option<Vec<Waiting>> {
    let mut batch = Vec::new();
    let mut torrent_bytes = 0;
    let mut window = None;
    loop {
        let message = match window {
            None => messages.recv().await,
            Some(end) => match tokio::time::timeout_at(end, messages.recv()).await {
                Ok(message) => message,
                Err(_) => return Some(batch),
            },
        };
        match message {
            None => return (!batch.is_empty()).then_some(batch),
            // Flushes of several sites that came together are one.
            Some(Message::Flush) if messages.is_empty() => return Some(batch),
            Some(Message::Flush) => {}
            Some(Message::Visit { finished, reply }) => {
                window.get_or_insert_with(|| tokio::time::Instant::now() + limits::COMMIT_WINDOW);
                torrent_bytes += finished.torrent.as_ref().map_or(0, Bytes::len);
                batch.push(Waiting { visit: finished.visit, torrent: finished.torrent, reply });
                if batch.len() >= limits::COMMIT_VISITS_MAX || torrent_bytes >= limits::COMMIT_TORRENT_BYTES_MAX {
                    return Some(batch);
                }
            }
        }
    }
}

async fn commit(
    db: &Arc<dyn CrawlDb>,
    archive: &Arc<Archive>,
    batch: &[Waiting],
) -> Result<Vec<Committed>, CommitError> {
    let mut visits: Vec<Visit> = batch.iter().map(|waiting| waiting.visit.clone()).collect();
    let new_files = new_torrents(db, &mut visits, batch).await?;
    if !new_files.is_empty() {
        let archive = Arc::clone(archive);
        let stored = tokio::task::spawn_blocking(move || {
            let files: Vec<_> = new_files.iter().map(|(infohashes, bytes)| (*infohashes, &bytes[..])).collect();
            archive.store_batch(&files)
        });
        stored.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))?;
    }
    let ends: Vec<_> = visits.iter().map(|visit| (visit.outcome, visit.body_bytes, visit.next)).collect();
    let receipts = db.record_visits(visits).await?;
    Ok(ends
        .into_iter()
        .zip(receipts)
        .map(|((outcome, body_bytes, next), receipt)| Committed {
            outcome,
            receipt,
            body_bytes,
            queued_again: next != crate::crawldb::Next::Done,
        })
        .collect())
}

/// Tells new torrents from known ones, in the database and within the batch, and marks the visits accordingly.
async fn new_torrents(
    db: &Arc<dyn CrawlDb>,
    visits: &mut [Visit],
    batch: &[Waiting],
) -> Result<Vec<(crate::torrent::Infohashes, Bytes)>, CommitError> {
    let asked: Vec<_> = visits.iter().filter_map(|visit| Some(visit.torrent.as_ref()?.infohashes)).collect();
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let mut known = db.known_torrents(asked).await?.into_iter();
    let (mut named_v1, mut named_v2) = (HashSet::new(), HashSet::new());
    let mut files = Vec::new();
    for (visit, waiting) in visits.iter_mut().zip(batch) {
        let (Some(facts), Some(bytes)) = (&visit.torrent, &waiting.torrent) else {
            continue;
        };
        let hashes = facts.infohashes;
        let in_database = known.next().flatten().is_some();
        let new_v1 = hashes.v1.is_none_or(|hash| named_v1.insert(hash));
        let new_v2 = hashes.v2.is_none_or(|hash| named_v2.insert(hash));
        if in_database || !new_v1 || !new_v2 {
            visit.outcome = Outcome::TorrentDuplicate;
        } else {
            files.push((hashes, bytes.clone()));
        }
    }
    Ok(files)
}

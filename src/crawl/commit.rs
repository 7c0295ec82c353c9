//! Many visits, one durable commit. Torrent files are on disk, synced and renamed, before the rows that refer
//! to them are committed: a crash leaves at worst a file without a row, never a row without its file. Links that the
//! increment follows are in the update crawldb before the page that contains them is recorded, and leave it after their own
//! visit is recorded.
//!
//! Batches are bounded in count, bytes and time (`limits::COMMIT_*`); a site that has nothing left to do
//! before the commit, or soon will, requests it at once.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use crate::job::{Committed, Finished};
use crate::limits;
use crate::progress::Progress;
use gleaner_store::crawldb::update::{UpdateDb, UpdateRow, Visited};
use gleaner_store::crawldb::{CrawlDb, CrawlDbError, Next, Receipt, Visit};
use gleaner_torrent::Infohashes;
use gleaner_torrent::archive::{Archive, ArchiveError};

/// How often a service logs that it cannot store: a full disk stays full for a while.
const TOLD_EVERY: Duration = Duration::from_secs(60);

/// A message to the committer.
pub enum Message {
    /// A visit to be committed within the window; the receipt goes to `reply`.
    /// The permit is for the memory that the visit holds.
    Visit {
        finished: Box<Finished>,
        /// Returned in the receipt.
        mark: u64,
        reply: mpsc::UnboundedSender<Committed>,
        permit: OwnedSemaphorePermit,
        /// When the visit was finished: its window begins here, even while the previous commit is being written.
        at: tokio::time::Instant,
    },
    /// Commit everything received so far now.
    Flush,
}

/// Why a commit failed. Nothing of its batch is in the database.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    #[error(transparent)]
    Database(#[from] CrawlDbError),
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}

/// What happens after a failed commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFault {
    /// End with the error: for a command that a person runs.
    Stop,
    /// Keep the batch and retry until the cause is gone: for the service.
    TryAgain(Duration),
}

/// Commits until all senders are gone and everything is on disk.
pub async fn run(
    db: Arc<dyn CrawlDb>,
    update: Option<Arc<UpdateDb>>,
    archive: Arc<Archive>,
    mut messages: mpsc::Receiver<Message>,
    on_fault: OnFault,
    progress: Progress,
) -> Result<(), CommitError> {
    let mut told: Option<tokio::time::Instant> = None;
    while let Some(batch) = gather(&mut messages).await {
        if batch.visits.is_empty() {
            continue;
        }
        let (mut batch, mut stay) = (batch, 0);
        let visits = Arc::new(std::mem::take(&mut batch.visits));
        let receipts = loop {
            let began = tokio::time::Instant::now();
            match commit(&db, update.as_deref(), &archive, &visits, &batch).await {
                Ok(receipts) => {
                    progress.measure(|measured| measured.commits.add(began.elapsed()));
                    break receipts;
                }
                Err(error) => match on_fault {
                    // With no sender left, the process is shutting down: lost visits are fetched again at its next start.
                    OnFault::TryAgain(pause) if !messages.is_closed() => {
                        // The hints are meant for commands and are of no use to a service.
                        let error = error.to_string().lines().next().unwrap_or_default().to_owned();
                        if told.is_none_or(|at| at.elapsed() >= TOLD_EVERY) {
                            told = Some(tokio::time::Instant::now());
                            tracing::error!(
                                error,
                                visits = visits.len(),
                                "nothing can be stored: retrying until it works"
                            );
                        }
                        progress.tell_store_fault(Some(error));
                        tokio::time::sleep(pause).await;
                    }
                    OnFault::TryAgain(_) | OnFault::Stop => return Err(error),
                },
            }
        };
        if progress.store_fault().is_some() {
            progress.tell_store_fault(None);
            tracing::info!(visits = visits.len(), "storing works again");
        }
        if let Some(update) = &update {
            match update.remove_visited(batch.visited).await {
                Ok(asked_again) => stay = asked_again,
                // History knows them, so the next lease or merge recognises that they are done.
                Err(error) => tracing::error!(%error, "fetched URLs stay in the update database for now"),
            }
        }
        for ((visit, receipt), (reply, mark, brought_news)) in visits.iter().zip(receipts).zip(batch.replies) {
            // A site that has ended needs no receipt.
            let _ = reply.send(Committed { brought_news: brought_news || stay > 0, ..committed(visit, receipt, mark) });
        }
    }
    Ok(())
}

/// Visits that are committed together, and what belongs to each of them.
#[derive(Default)]
struct Batch {
    visits: Vec<Visit>,
    torrents: Vec<Option<Bytes>>,
    replies: Vec<(mpsc::UnboundedSender<Committed>, u64, bool)>,
    /// Rows for the increment to follow.
    news: Vec<UpdateRow>,
    /// Times of these visits: they settle what the increment has found.
    visited: Vec<Visited>,
    permits: Vec<OwnedSemaphorePermit>,
}

/// The next batch: from its first visit until a flush, a bound, or the end of the window. None when all senders are gone.
async fn gather(messages: &mut mpsc::Receiver<Message>) -> Option<Batch> {
    let mut batch = Batch::default();
    let mut held_bytes = 0;
    let (mut window, mut is_flushed) = (None, false);
    loop {
        let message = match window {
            // What was sent up to now is committed together.
            _ if is_flushed => match messages.try_recv() {
                Ok(message) => Some(message),
                Err(_) => return Some(batch),
            },
            None => messages.recv().await,
            Some(end) => match tokio::time::timeout_at(end, messages.recv()).await {
                Ok(message) => message,
                Err(_) => return Some(batch),
            },
        };
        match message {
            None => return (!batch.visits.is_empty()).then_some(batch),
            Some(Message::Flush) => is_flushed = true,
            Some(Message::Visit { finished, mark, reply, permit, at }) => {
                window.get_or_insert(at + limits::COMMIT_WINDOW);
                held_bytes += finished.held_bytes();
                let Visit { key, at, .. } = &finished.visit;
                batch.visited.push(Visited { key: key.clone(), began: finished.timing.began, ended: *at });
                batch.replies.push((reply, mark, !finished.end.news.is_empty()));
                batch.news.extend(finished.end.news);
                batch.visits.push(finished.visit);
                batch.torrents.push(finished.end.torrent);
                batch.permits.push(permit);
                let is_full = batch.visits.len() >= limits::COMMIT_VISITS_MAX;
                // Half, so that one batch is gathered while the other is written.
                if is_full || held_bytes >= limits::COMMIT_BYTES_MAX / 2 {
                    return Some(batch);
                }
            }
        }
    }
}

/// Files first, rows of the increment second, rows of history third.
async fn commit(
    db: &Arc<dyn CrawlDb>,
    update: Option<&UpdateDb>,
    archive: &Arc<Archive>,
    visits: &Arc<Vec<Visit>>,
    batch: &Batch,
) -> Result<Vec<Receipt>, CommitError> {
    let new_files = new_torrents(db, visits, &batch.torrents).await?;
    if !new_files.is_empty() {
        let archive = Arc::clone(archive);
        let stored = tokio::task::spawn_blocking(move || {
            let files: Vec<_> = new_files.iter().map(|(infohashes, bytes)| (*infohashes, &bytes[..])).collect();
            archive.store_batch(&files)
        });
        stored.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))?;
    }
    if let Some(update) = update {
        update.add(batch.news.clone()).await?;
        update.keep_asked_since(&batch.visited).await?;
    }
    Ok(db.record_visits(Arc::clone(visits)).await?)
}

/// The files of torrents that neither the database nor an earlier visit of the batch has.
async fn new_torrents(
    db: &Arc<dyn CrawlDb>,
    visits: &[Visit],
    torrents: &[Option<Bytes>],
) -> Result<Vec<(Infohashes, Bytes)>, CommitError> {
    let found: Vec<(Infohashes, &Bytes)> = visits
        .iter()
        .zip(torrents)
        .filter_map(|(visit, bytes)| Some((visit.torrent.as_ref()?.infohashes, bytes.as_ref()?)))
        .collect();
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let known = db.known_torrents(found.iter().map(|(infohashes, _)| *infohashes).collect()).await?;
    let (mut named_v1, mut named_v2) = (HashSet::new(), HashSet::new());
    let mut files = Vec::new();
    for ((infohashes, bytes), known) in found.into_iter().zip(known) {
        let new_v1 = infohashes.v1.is_none_or(|hash| named_v1.insert(hash));
        let new_v2 = infohashes.v2.is_none_or(|hash| named_v2.insert(hash));
        if known.is_none() && new_v1 && new_v2 {
            files.push((infohashes, bytes.clone()));
        }
    }
    Ok(files)
}

/// The receipt for the site: the database has decided whether a torrent was new.
fn committed(visit: &Visit, receipt: Receipt, mark: u64) -> Committed {
    let queued_again = !matches!(visit.next, Next::Done | Next::Park(_));
    let (outcome, body_bytes) = (receipt.outcome, visit.body_bytes);
    Committed { mark, outcome, receipt, body_bytes, queued_again, brought_news: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::visit::put_aside;
    use gleaner_base::clock::UnixMillis;
    use gleaner_store::crawldb::{HostId, Lease, Outcome, UrlKey};
    use tokio::sync::Semaphore;

    #[tokio::test(start_paused = true)]
    async fn a_flush_commits_what_was_sent_before_it_and_up_to_now() {
        let permits = Arc::new(Semaphore::new(9));
        let visit = |path: &str| {
            let key = UrlKey { host: HostId(0), path: path.into() };
            let deadline = UnixMillis(u64::MAX);
            let (via, memo, found) = (None, None, None);
            let lease = Lease { key, depth: 1, rank: 0, attempts: 0, via, memo, deadline, found, seq: 0 };
            Message::Visit {
                finished: Box::new(put_aside(&lease, Outcome::Page, UnixMillis(1))),
                mark: 0,
                reply: mpsc::unbounded_channel().0,
                permit: Arc::clone(&permits).try_acquire_owned().unwrap(),
                at: tokio::time::Instant::now(),
            }
        };
        let (send, mut receive) = mpsc::channel(9);
        for message in [visit("/1"), Message::Flush, visit("/2")] {
            assert!(send.send(message).await.is_ok());
        }
        let began = tokio::time::Instant::now();
        let batch = gather(&mut receive).await.unwrap();
        assert_eq!((batch.visits.len(), began.elapsed()), (2, Duration::ZERO), "another flush may never come");
        assert!(send.send(visit("/3")).await.is_ok());
        let batch = gather(&mut receive).await.unwrap();
        assert_eq!((batch.visits.len(), began.elapsed()), (1, limits::COMMIT_WINDOW));
    }
}

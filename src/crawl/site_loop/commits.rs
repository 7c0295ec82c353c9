//! Channel of a site's visits to the committer, and of its receipts back.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::{Semaphore, mpsc, watch};

use super::draining::overdue;
use super::hosts::SiteHosts;
use super::{Shared, visits};
use crate::commit::Message;
use crate::frontier::crews::Crew;
use crate::job::{Committed, Finished};
use crate::site::Site;
use crate::{CrawlError, limits, visit};
use gleaner_store::crawldb::{Lease, Next, Outcome, UrlKey};

/// Why a URL is parked, and until when: the owner of the token unparks it.
pub(super) struct Parked {
    pub(super) outcome: Outcome,
    pub(super) token: u64,
    pub(super) why: Option<&'static str>,
}

/// A site's state with the committer.
pub(super) struct Commits {
    messages: mpsc::Sender<Message>,
    /// One permit per KiB of data that waits for a commit.
    kib: Arc<Semaphore>,
    stop: watch::Receiver<bool>,
    pub(super) receipts: mpsc::UnboundedReceiver<Committed>,
    reply: mpsc::UnboundedSender<Committed>,
    outstanding: usize,
    /// A flush was sent that no receipt has answered yet.
    is_flushing: bool,
    /// For visits that brought a torrent and are not committed yet: the URLs that may have been seen on a list.
    arriving: HashMap<u64, Vec<u64>>,
}

impl Commits {
    pub(super) fn new(shared: &Shared) -> Self {
        let (reply, receipts) = mpsc::unbounded_channel();
        Self {
            messages: shared.commits.clone(),
            kib: Arc::clone(&shared.commit_kib),
            stop: shared.stop.clone(),
            receipts,
            reply,
            outstanding: 0,
            is_flushing: false,
            arriving: HashMap::new(),
        }
    }

    /// True when every visit that was sent is on disk.
    pub(super) fn are_all_in(&self) -> bool {
        self.outstanding == 0
    }

    pub(super) async fn send_visit(&mut self, finished: Box<Finished>) -> Result<(), CrawlError> {
        let kib = finished.held_bytes().min(limits::COMMIT_BYTES_MAX) / 1_024;
        let permit = Arc::clone(&self.kib).acquire_many_owned(u32::try_from(kib).unwrap_or(u32::MAX));
        let permit = tokio::select! {
            biased;
            permit = permit => permit.map_err(|_| CrawlError::CommitterGone)?,
            () = overdue(&mut self.stop) => return Err(CrawlError::CommitterGone),
            () = self.messages.closed() => return Err(CrawlError::CommitterGone),
        };
        self.outstanding += 1;
        let (reply, mark) = (self.reply.clone(), visits::mark(&finished.visit.key));
        self.send(Message::Visit { finished, mark, reply, permit, at: tokio::time::Instant::now() }).await
    }

    /// Visits sent to the committer without a receipt yet.
    pub(super) fn outstanding(&self) -> usize {
        self.outstanding
    }

    /// Has what was sent committed now. One flush at a time: what is sent during a commit belongs to the next.
    pub(super) async fn flush(&mut self) -> Result<(), CrawlError> {
        if std::mem::replace(&mut self.is_flushing, true) {
            return Ok(());
        }
        self.send(Message::Flush).await
    }

    /// Sends a message to the committer. A committer that cannot write (a full disk) accepts none: a process that
    /// is shutting down does not wait for it longer than a drain may take.
    pub(super) async fn send(&mut self, message: Message) -> Result<(), CrawlError> {
        tokio::select! {
            biased;
            sent = self.messages.send(message) => sent.map_err(|_| CrawlError::CommitterGone),
            () = overdue(&mut self.stop) => Err(CrawlError::CommitterGone),
        }
    }

    /// Parks a URL until what refused it has changed.
    pub(super) async fn park(
        &mut self,
        site: &Site,
        hosts: &SiteHosts,
        (lease, crew): (&Lease, Crew),
        parked: Parked,
    ) -> Result<(), CrawlError> {
        let Parked { outcome, token, why } = parked;
        if let Some(why) = why {
            let (site, url) = (&site.rules.name, hosts.url(&lease.key));
            let url = url.as_ref().map_or("", |url| url.as_str());
            tracing::debug!(%site, url, outcome = outcome.name(), why, "parked");
        }
        let now = site.clock.now();
        // A list that may not be requested must not delay others.
        if let Some(url) = hosts.url(&lease.key) {
            site.fresh.timetable.refused(url.as_str(), now);
        }
        let mut finished = visit::put_aside(lease, outcome, now);
        finished.visit.next = Next::Park(token);
        finished.job.crew = crew;
        self.send_visit(Box::new(finished)).await
    }

    /// Records that a visit which is not committed yet has brought a torrent.
    pub(super) fn brings_torrent(&mut self, key: &UrlKey, urls: Vec<u64>) {
        self.arriving.insert(visits::mark(key), urls);
    }

    /// Handles a committed visit; if it has brought a new torrent, that has arrived.
    pub(super) fn received(&mut self, site: &Site, committed: &Committed) {
        self.outstanding -= 1;
        self.is_flushing = false;
        let Some(urls) = self.arriving.remove(&committed.mark) else { return };
        if committed.receipt.torrent_stored {
            site.fresh.arrivals.stored(&urls, site.clock.now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_flush_is_under_way_at_a_time() {
        let (messages, mut sent) = mpsc::channel(8);
        let (reply, receipts) = mpsc::unbounded_channel();
        let (_stop, stop) = watch::channel(false);
        let kib = Arc::new(Semaphore::new(1));
        let arriving = HashMap::new();
        let mut commits =
            Commits { messages, kib, stop, receipts, reply, outstanding: 3, is_flushing: false, arriving };
        commits.flush().await.unwrap();
        commits.flush().await.unwrap();
        assert!(matches!(sent.try_recv(), Ok(Message::Flush)) && sent.try_recv().is_err());
    }
}

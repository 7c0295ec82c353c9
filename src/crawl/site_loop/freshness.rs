//! What the loop keeps of how its site changes, and what follows from what visits saw of it.

use super::{SiteLoop, visits};
use crate::crawl::CrawlError;
use crate::crawl::fresh::gone::hash;
use crate::crawl::visit::Finished;
use crate::crawldb::Outcome;
use crate::url::CrawlUrl;

use super::super::commit::Committed;

impl SiteLoop {
    /// Takes up what earlier runs knew.
    pub(super) async fn take_up_fresh(&mut self) -> Result<(), CrawlError> {
        let (name, now) = (&self.site.rules.name, self.site.clock.now());
        Ok(self.site.fresh.take_up(self.site.db.as_ref(), name, now).await?)
    }

    /// Writes down what has changed of it, in one commit.
    pub(super) async fn keep_fresh(&mut self) -> Result<(), CrawlError> {
        self.fresh_kept = self.site.clock.now();
        let notes = self.site.fresh.notes();
        if !notes.is_empty() {
            self.site.db.put_notes(&self.site.rules.name, notes).await?;
        }
        Ok(())
    }

    /// What a visit saw beyond its links: what is to be asked for again, what is gone, and what may arrive.
    pub(super) async fn follow_look(&mut self, finished: &mut Finished) -> Result<(), CrawlError> {
        let visit = &finished.visit;
        let origin = self.hosts.iter().find(|host| host.id == visit.key.host).map(|host| host.origin().to_owned());
        let Some(origin) = origin else { return Ok(()) };
        let url = CrawlUrl::from_parts(&origin, &visit.key.path);
        if let (Outcome::Gone, Some(gone)) = (visit.outcome, finished.gone) {
            self.site.fresh.gone.record(url.as_str(), gone, visit.at);
        }
        if visit.torrent.is_some() {
            self.site.fresh.gone.is_there(hash(url.as_str()));
            let urls = [Some(url.as_str()), visit.via.as_deref()].into_iter().flatten().map(hash).collect();
            self.arriving.insert(visits::mark(&visit.key), urls);
        }
        let due = std::mem::take(&mut finished.seen.due);
        if !due.is_empty() {
            self.site.db.make_due(due, visit.at).await?;
            self.lease_soon();
        }
        Ok(())
    }

    /// A visit is on the disk: a torrent that was not known has arrived.
    pub(super) fn has_arrived(&mut self, committed: &Committed) {
        let Some(urls) = self.arriving.remove(&committed.mark) else { return };
        if committed.receipt.torrent_stored {
            self.site.fresh.arrivals.stored(&urls, self.site.clock.now());
        }
    }
}

//! The end of a site's crawl: work in progress is finished, for as long as that may take, and the rest is left to the next start.

use std::future::Future;
use std::pin::Pin;

use tokio::sync::watch;

use super::{IDLE_TIME, SiteLoop};
use crate::CrawlError;
use crate::commit::Message;
use crate::limits;

impl SiteLoop {
    /// Finishes work in progress; a process that is shutting down aborts what takes longer than `limits::DRAIN_TIME_MAX`, and a login whose
    /// form was sent if it takes longer than `limits::LOGIN_DRAIN_TIME_MAX`: its password must not be sent again for lack of an answer.
    /// What is not finished by then is repeated at the next start.
    pub(super) async fn drain(&mut self) -> Result<(), CrawlError> {
        let mut asked_to_commit = false;
        let mut stop = self.shared.stop.clone();
        // The end of the run's time is a request to stop.
        let is_over = self.budgets.time_is_over(self.site.clock.now());
        let mut too_late: Pin<Box<dyn Future<Output = ()> + Send>> = match is_over {
            true => Box::pin(tokio::time::sleep(limits::DRAIN_TIME_MAX)),
            false => Box::pin(async move { overdue(&mut stop).await }),
        };
        let mut was_put_off = false;
        while !self.under_way.is_empty() || !self.commits.are_all_in() {
            self.tell_alive();
            if self.under_way.is_empty() && !asked_to_commit {
                asked_to_commit = true;
                self.commits.send(Message::Flush).await?;
            }
            tokio::select! {
                biased;
                Some(committed) = self.commits.receipts.recv() => self.committed(&committed),
                Some(ran) = self.under_way.next() => self.ran(ran?).await?,
                () = &mut too_late => {
                    if was_put_off || !self.session.has_form_under_way() {
                        break;
                    }
                    was_put_off = true;
                    let rest = limits::LOGIN_DRAIN_TIME_MAX - limits::DRAIN_TIME_MAX;
                    let (site, seconds) = (&self.site.rules.name, rest.as_secs());
                    tracing::warn!(
                        %site, seconds, "a login form was sent: waiting for its answer (hint: a second signal ends the process at once)"
                    );
                    too_late = Box::pin(tokio::time::sleep(rest));
                }
                () = self.shared.commits.closed() => return Err(CrawlError::CommitterGone),
                () = tokio::time::sleep(IDLE_TIME) => {}
            }
        }
        if let Some(why) = self.session.login_broken_off() {
            tracing::warn!(site = %self.site.rules.name, why, "a login was aborted");
        }
        let mut unvisited = self.under_way.break_off();
        self.release().await?;
        self.session.doubt();
        unvisited.extend(self.session.take_held().into_iter().map(|finished| finished.visit.key));
        for host in self.hosts.iter_mut() {
            unvisited.extend(host.lanes.drain().into_iter().map(|job| job.lease.key));
            unvisited.extend(host.news.drain().into_iter().map(|job| job.lease.key));
        }
        if let Some(update) = &self.shared.update {
            update.release_all(&self.hosts.iter().map(|host| host.id).collect());
        }
        self.site.db.release(self.shared.owner, unvisited).await?;
        Ok(())
    }

    /// After an error: waits for what was sent to the committer. The next crawl of the site would fetch it a second time, and no crawl that has
    /// failed begins anew while nothing can be stored.
    pub(super) async fn await_commits(&mut self) {
        self.under_way.break_off();
        let mut stop = self.shared.stop.clone();
        let mut too_late = std::pin::pin!(overdue(&mut stop));
        while !self.commits.are_all_in() {
            self.tell_alive();
            tokio::select! {
                biased;
                Some(committed) = self.commits.receipts.recv() => self.committed(&committed),
                () = &mut too_late => return,
                () = self.shared.commits.closed() => return,
                () = tokio::time::sleep(IDLE_TIME) => {}
            }
        }
    }
}

/// Ends `limits::DRAIN_TIME_MAX` after the site was asked to stop.
pub(super) async fn overdue(stop: &mut watch::Receiver<bool>) {
    // Without a sender nobody can request the end any more, so it is never overdue.
    if stop.wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
    tokio::time::sleep(limits::DRAIN_TIME_MAX).await;
}

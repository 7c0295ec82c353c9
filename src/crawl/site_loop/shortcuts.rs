//! Queues pages again that were visited by an endpoint which has proved wrong since.

use super::SiteLoop;
use super::leases::Leases;
use crate::scripts::rendered::Rendered;
use crate::{CrawlError, judging};
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;

impl SiteLoop {
    /// The service reads lists again, and checks what endpoints have visited, when its history is done, as a crawl does before it ends, and
    /// again after further history. True if there is something to do.
    pub(super) async fn close_history(&mut self, idle: bool) -> Result<bool, CrawlError> {
        if !self.options.keep_looking {
            return Ok(false);
        }
        if self.close_lists(idle).await? {
            return Ok(true);
        }
        if !self.chores.has_closed {
            self.chores.has_closed = self.history_is_done(idle).await?;
            return Ok(self.chores.has_closed && self.site.scripts.close_shortcuts());
        }
        Ok(idle && self.history_is_done(idle).await? && self.close_walls().await?)
    }

    /// Makes pages of lists due that are to be read again, once history has nothing else. True if there were some.
    pub(super) async fn close_lists(&mut self, idle: bool) -> Result<bool, CrawlError> {
        let has_none = self.lists.is_empty() && self.unstable.is_empty();
        if has_none || !self.history_is_done(idle).await? || !self.commits.are_all_in() {
            return Ok(false);
        }
        let are_due = self.lists.close(&self.site).await? || self.unstable.close(&self.site).await?;
        if are_due {
            self.hosts.lease_soon();
        }
        Ok(are_due)
    }

    async fn history_is_done(&mut self, idle: bool) -> Result<bool, CrawlError> {
        match self.crews.history_is_done() {
            Some(is_done) => Ok(is_done),
            None => Ok(idle && self.only_looks_left().await?),
        }
    }

    /// Queues them; one whose visit is not on disk yet waits until it is, as that would end its place in the queue.
    pub(super) async fn tend_shortcuts(&mut self, now: UnixMillis) -> Result<(), CrawlError> {
        let again = self.site.scripts.shortcuts.again();
        if again.is_empty() {
            return Ok(());
        }
        let (queued, pages) = self.leases.queue_again(again, now).await?;
        if pages > 0 {
            let site = &self.site.rules.name;
            tracing::info!(%site, pages, "pages that an endpoint replaced are visited again");
            self.hosts.lease_soon();
        }
        self.site.scripts.shortcuts.queued(&queued);
        Ok(())
    }
}

impl Leases {
    /// Restores the results of rendering in earlier runs.
    pub(super) async fn take_up_rendered(&self) -> Result<(), CrawlError> {
        let mut rendered = Rendered::take_up(self.site.db.as_ref(), &self.site.rules.name).await?;
        rendered.begin();
        let again = rendered.take_again();
        *self.site.scripts.rendered() = rendered;
        self.queue_again(again, self.site.clock.now()).await?;
        Ok(())
    }

    /// Queues known pages by their addresses, as if they were found now. Returns those that need not be requested again, and how many of
    /// them are queued.
    async fn queue_again(&self, again: Vec<String>, now: UnixMillis) -> Result<(Vec<String>, usize), CrawlError> {
        let (mut rows, mut queued) = (Vec::new(), Vec::new());
        for address in again {
            let url = CrawlUrl::parse(&address, &self.site.rules.canonical).ok();
            let row = match url.and_then(|url| judging::judge(&self.site.rules, url).ok()) {
                Some(found) => self.site.rows.row(&found.url, found.class, 0).await?,
                // The rules do not accept it any more.
                None => None,
            };
            if let Some(mut row) = row {
                if self.has(&row.key) {
                    continue;
                }
                // A URL that was removed meanwhile is not restored.
                if let Some(record) = self.site.db.url_record(&row.key).await? {
                    row.depth = record.depth;
                    row.rank = if row.depth == 0 { 0 } else { row.rank };
                    row.due = now;
                    rows.push(row);
                }
            }
            queued.push(address);
        }
        let pages = rows.len();
        if pages > 0 {
            self.site.db.make_due(rows, now).await?;
        }
        Ok((queued, pages))
    }
}

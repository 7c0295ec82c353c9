//! Pages that were visited by an endpoint which has proved wrong since are queued again.

use super::{SiteLoop, visits};
use crate::{CrawlError, judging};
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;

impl SiteLoop {
    /// The service checks what endpoints have visited when its history is done, as a crawl does before it ends, and again when there
    /// was more of history. True where there is something to check.
    pub(super) async fn close_history(&mut self, idle: bool) -> Result<bool, CrawlError> {
        if !self.options.keep_looking || self.has_closed {
            return Ok(false);
        }
        self.has_closed = match self.crews.history_is_done() {
            Some(is_done) => is_done,
            None => idle && self.only_looks_left().await?,
        };
        Ok(self.has_closed && self.site.scripts.close_shortcuts())
    }

    /// Queues them; one whose visit is not on the disk yet waits until it is, as that would end its place in the queue.
    pub(super) async fn tend_shortcuts(&mut self, now: UnixMillis) -> Result<(), CrawlError> {
        let again = self.site.scripts.shortcuts.again();
        if again.is_empty() {
            return Ok(());
        }
        let (queued, pages) = self.queue_again(again, now).await?;
        if pages > 0 {
            let site = &self.site.rules.name;
            tracing::info!(%site, pages, "pages that an endpoint was asked for are visited again");
            self.lease_soon();
        }
        self.site.scripts.shortcuts.queued(&queued);
        Ok(())
    }

    /// Queues known pages by their addresses, as if they were found now. Gives those that need not be asked for again, and how many of them
    /// are queued.
    pub(super) async fn queue_again(
        &mut self,
        again: Vec<String>,
        now: UnixMillis,
    ) -> Result<(Vec<String>, usize), CrawlError> {
        let (mut rows, mut queued) = (Vec::new(), Vec::new());
        for address in again {
            let url = CrawlUrl::parse(&address, &self.site.rules.canonical).ok();
            let row = match url.and_then(|url| judging::judge(&self.site.rules, url).ok()) {
                Some(found) => self.site.rows.row(&found.url, found.class, 0).await?,
                // The rules do not take it any more.
                None => None,
            };
            if let Some(mut row) = row {
                if self.in_hand.contains(&visits::mark(&row.key)) {
                    continue;
                }
                // What was forgotten meanwhile is not brought back.
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

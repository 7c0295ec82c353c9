//! Events of a site that are logged at INFO: history is done, a list has moved, a known page is gone.

use std::collections::HashSet;

use super::hosts::SiteHosts;
use super::visits;
use crate::CrawlError;
use crate::fresh::gone::why_name;
use crate::freshness::gone::Gone;
use crate::job::Finished;
use crate::limits;
use crate::site::Site;
use gleaner_base::clock::UnixMillis;
use gleaner_login::secret::told_url;
use gleaner_store::crawldb::Outcome;

/// History that starts again with at least this many URLs is reported once more when it is done: a new thread or two do not count.
const HISTORY_TOLD: u64 = 100;

/// Lines of one kind per minute; a site that is taken down would produce more.
const LINES_A_MINUTE: u32 = 20;

/// State of what was logged.
#[derive(Default)]
pub(super) struct LogState {
    /// History had enough left to be reported when it is done; None before the first check.
    history: Option<bool>,
    /// Lists that have moved, by their marks.
    moved: HashSet<u64>,
    minute: u64,
    lines: u32,
    left_out: u64,
}

impl LogState {
    /// True once, when nothing of the former history is left.
    pub(super) fn history_is_done(&mut self, left: u64) -> bool {
        let had_some = self.history.unwrap_or(left > 0) || left >= HISTORY_TOLD;
        self.history = Some(had_some && left > 0);
        had_some && left == 0
    }

    /// Whether there is room for a line, and how many were left out since the last one.
    fn room(&mut self, now: UnixMillis) -> Option<u64> {
        let minute = now.0 / 60_000;
        if std::mem::replace(&mut self.minute, minute) != minute {
            self.lines = 0;
        }
        if self.lines >= LINES_A_MINUTE {
            self.left_out += 1;
            return None;
        }
        self.lines += 1;
        Some(std::mem::take(&mut self.left_out))
    }

    /// Logs what happened to a page that was read before.
    pub(super) async fn changes(
        &mut self,
        site: &Site,
        hosts: &SiteHosts,
        finished: &Finished,
    ) -> Result<(), CrawlError> {
        let visit = &finished.visit;
        let has_moved = finished.job.class.is_listing() && visit.outcome == Outcome::Redirected;
        if !has_moved && finished.end.gone.is_none() {
            return Ok(());
        }
        let record = site.db.url_record(&visit.key).await?;
        let was_there = record.and_then(|record| record.outcome).is_some_and(|outcome| {
            matches!(
                outcome,
                Outcome::Page
                    | Outcome::PageDuplicate
                    | Outcome::NotModified
                    | Outcome::TorrentStored
                    | Outcome::TorrentDuplicate
            )
        });
        let Some(url) = hosts.url(&visit.key).filter(|_| was_there) else { return Ok(()) };
        let told = |url: &str| if site.account.is_some() { told_url(url) } else { url.to_owned() };
        let (site, url) = (&site.rules.name, told(url.as_str()));
        let mark = visits::mark(&visit.key);
        if has_moved {
            if self.moved.len() < limits::WATCHED_COUNTED_MAX
                && self.moved.insert(mark)
                && let Some(left_out) = self.room(visit.at)
            {
                let to = visit.outlinks.first().and_then(|link| hosts.url(&link.key));
                let to = to.map(|to| told(to.as_str())).unwrap_or_default();
                tracing::info!(%site, url, to, left_out, "a list has moved");
            }
        } else if let Some(Gone { why, since }) = finished.end.gone
            && let Some(left_out) = self.room(visit.at)
        {
            let (from, until) = (since.from.rfc3339(), since.until.rfc3339());
            let why = why_name(why);
            tracing::info!(%site, url, why, from, until, left_out, "the site has removed a torrent's page");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_is_told_once_when_it_is_done_and_again_only_after_more_than_a_few() {
        let mut told = LogState::default();
        let mut tells = |left: &[u64]| -> Vec<bool> { left.iter().map(|left| told.history_is_done(*left)).collect() };
        assert_eq!(tells(&[3, 1, 0, 0]), [false, false, true, false]);
        assert_eq!(tells(&[0, 2, 0, 150, 90, 0]), [false, false, false, false, false, true]);
    }

    #[test]
    fn a_minute_has_so_many_lines_and_the_next_one_says_how_many_were_left_out() {
        let mut told = LogState::default();
        let told_of = (0..30).filter(|_| told.room(UnixMillis(60_000)).is_some()).count();
        assert_eq!(told_of, 20);
        assert_eq!((told.room(UnixMillis(120_000)), told.room(UnixMillis(120_000))), (Some(10), Some(0)));
    }
}

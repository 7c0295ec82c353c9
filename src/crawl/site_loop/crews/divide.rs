//! Which links of a page the increment follows, and which are history's.

use super::{Crews, millis};
use crate::CrawlError;
use crate::fresh::gone::hash;
use crate::job::Finished;
use crate::limits;
use crate::site_loop::hosts::SiteHosts;
use crate::site_loop::visits::mark;
use crate::visit;
use gleaner_base::clock::UnixMillis;
use gleaner_page::boards::identity::thread_id;
use gleaner_rules::{Class, Verdict};
use gleaner_store::crawldb::update::{UpdateDb, UpdateRow};
use gleaner_store::crawldb::{Discovered, UrlKey, UrlRecord};

/// New entries of a first page that the increment follows whatever its caps, at a site of few requests a day: the usual number, not that of
/// a burst.
const NEWS_OF_A_FRONT: usize = 5;

impl Crews {
    /// Takes the new links out of a visit's outlinks, for the increment to follow: those that history does not know, and targets that a
    /// recheck has shown to be new within the last two rounds and that history has not fetched. In a young crawl everything was found
    /// recently: that alone does not count as new. Links beyond the depth and the round's caps are history's, and so are later pages of
    /// lists, since rechecks go on to those with new entries, and, if a day has fewer requests than new content and rechecks would use,
    /// targets that no list shows: they may be as old as the site.
    pub(super) async fn divide(
        &mut self,
        update: &UpdateDb,
        hosts: &SiteHosts,
        finished: &mut Finished,
        level: u8,
    ) -> Result<(), CrawlError> {
        if level >= self.site.rules.increment_depth || finished.visit.outlinks.is_empty() {
            return Ok(());
        }
        let (at, own) = (finished.visit.at, finished.visit.key.clone());
        let outlinks = std::mem::take(&mut finished.visit.outlinks);
        let keys: Vec<UrlKey> = outlinks.iter().map(|link| link.key.clone()).collect();
        let waits = update.found_at(keys.clone()).await?;
        let records = self.site.db.url_records(keys).await?;
        let rounds = UnixMillis(at.0.saturating_sub(millis(self.interval * 2)));
        // If rechecks are rare, entries added since the last one of this list were found long ago.
        let since =
            finished.end.seen.last.filter(|_| finished.end.seen.is_front).map_or(rounds, |last| last.min(rounds));
        let is_short = self.wants_more_than_its_share();
        let has_news = self.has_news_of_its_own(hosts, finished);
        let leads_on = is_short && finished.job.class.is_target() && !self.has_its_file(hosts, finished, &outlinks);
        let is_new = |link: &Discovered, record: Option<&UrlRecord>| match record {
            None => link.is_target || !self.is_behind_a_front(hosts, &link.key),
            Some(record) => {
                let waits = link.is_target && record.outcome.is_none() && record.first_seen >= since;
                let awaits =
                    || hosts.url(&link.key).is_some_and(|url| self.site.fresh.arrivals.awaits(hash(url.as_str())));
                // History may have read a thread's page after its reply, and before the recheck that showed it.
                waits && (has_news || awaits())
            }
        };
        let links = outlinks.into_iter().zip(records).zip(waits).map(|((link, record), waits)| {
            let waits = waits.is_some();
            let is_new = !waits
                && link.key != own
                && is_new(&link, record.as_ref())
                && (!is_short || leads_on || self.is_shown_as_new(hosts, &link.key, finished));
            (link, is_new, record.is_some() || waits)
        });
        let links: Vec<(Discovered, bool, bool)> = links.collect();
        let new = links.iter().filter(|(_, is_new, _)| *is_new).count();
        let cap = self.rounds.cap(level + 1, self.interval, self.facts.possible);
        // A burst on one list may use up a round's cap, if a day has few requests for hours: entries of other lists get room all the same.
        let in_any_case = if is_short && finished.end.seen.is_front { new.min(NEWS_OF_A_FRONT) } else { 0 };
        let mut room = self.round.take(level + 1, new, cap).max(in_any_case);
        for (link, is_new, is_known) in links {
            if is_new && room > 0 {
                room -= 1;
                finished.end.news.push(news(link, at, level + 1, false));
            } else if !is_known {
                finished.visit.outlinks.push(link);
            }
        }
        Ok(())
    }

    /// True for the page of a torrent that contains or names its file. Other pages lead to it by a second page, whose address may not
    /// differ in kind from another torrent's page.
    fn has_its_file(&self, hosts: &SiteHosts, finished: &Finished, outlinks: &[Discovered]) -> bool {
        let is_file = |link: &Discovered| {
            let verdict = hosts.url(&link.key).map(|url| self.site.rules.judge(&url));
            matches!(verdict, Some(Verdict::Take { class: Class::Download, .. }))
        };
        finished.visit.torrent.is_some() || outlinks.iter().any(is_file)
    }

    /// True for targets that a list shows as a row, for the file and the further pages of a torrent, and for everything that is no torrent.
    /// Links to other torrents, on the pages of torrents that have their files ("see also") and on start pages that select them at random
    /// ("random picks"), do not count as new before a list has shown them.
    fn is_shown_as_new(&self, hosts: &SiteHosts, link: &UrlKey, finished: &Finished) -> bool {
        let Some(url) = hosts.url(link) else { return true };
        let Verdict::Take { class, .. } = self.site.rules.judge(&url) else { return true };
        if !class.is_target() || class == Class::Download {
            return true;
        }
        let is_drawn = || self.fronts.is_drawn(mark(&finished.visit.key));
        let seen = &finished.end.seen;
        match &seen.list {
            // Rows beyond those that a recheck covers cannot be distinguished from other links.
            Some(_) if seen.rows.contains(&hash(url.as_str())) || seen.rows.len() >= limits::LOOK_ROWS_MAX => true,
            // The newest entries of several sections are not all rows of one list.
            Some(list) => finished.visit.depth == 0 && !self.site.fresh.boards.is_in_order(list) && !is_drawn(),
            None if finished.job.class.is_target() => {
                let own = hosts.url(&finished.visit.key);
                own.is_some_and(|own| thread_id(own.as_str()) == thread_id(url.as_str()))
            }
            None => finished.visit.depth > 0 || !self.has_lists_beside(None) || !is_drawn(),
        }
    }

    /// True if the rows of a start page are no list's: "random picks" differ at each recheck, and other lists show everything
    /// new. On a page of the newest entries, or a feed, most of what its last recheck showed is still there.
    pub(in crate::site_loop) fn shows_picks(&self, finished: &Finished) -> bool {
        let Some(list) = finished.end.seen.list.as_deref().filter(|_| finished.visit.depth == 0) else { return false };
        self.fronts.is_drawn(mark(&finished.visit.key))
            && self.wants_more_than_its_share()
            && !self.site.fresh.boards.is_in_order(list)
            && self.has_lists_beside(Some(list))
    }

    fn has_lists_beside(&self, list: Option<&str>) -> bool {
        self.site.fresh.timetable.has_lists_beside(list)
    }

    fn is_behind_a_front(&self, hosts: &SiteHosts, key: &UrlKey) -> bool {
        let Some(url) = hosts.url(key) else { return false };
        let is_list = matches!(self.site.rules.judge(&url), Verdict::Take { class, .. } if class.is_listing());
        is_list && !visit::is_front(&self.site, &url)
    }
}

/// A row of the update crawldb.
pub(super) fn news(link: Discovered, found: UnixMillis, level: u8, again: bool) -> UpdateRow {
    let Discovered { key, depth, rank, via, is_target, .. } = link;
    UpdateRow { key, found, level, depth, rank, via, is_target, again }
}

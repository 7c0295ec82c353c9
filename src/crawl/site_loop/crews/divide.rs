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

/// News of a front that the increment follows whatever its caps say, at a site of few requests a day: the usual ones, not those of a burst.
const NEWS_OF_A_FRONT: usize = 5;

impl Crews {
    /// Takes the links that are new out of a visit's outlinks, for the increment to follow: those that history has never
    /// heard of, and targets that a look has shown to be new within the last two rounds and history has not fetched. All of a young
    /// crawl was heard of lately: that alone is no news. Beyond the depth and the round's caps they are history's, and so are
    /// pages behind the first of a list, for a look goes on to those that have news, and, where a day has fewer requests than news and looks
    /// would take, what no list shows: it may be as old as the site.
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
        // Where looks are seldom, what came since the last one at this list was heard of long ago.
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
                // History may have read a thread's page behind its reply, and in front of the look that told of it.
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
        // A burst on one list may use a round's cap up, where a day has few requests for hours: what other lists show has room all the same.
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

    /// True for the page of a torrent that has or names its file. One that does not leads to it by a second page, which its address does not
    /// always tell from the page of another torrent.
    fn has_its_file(&self, hosts: &SiteHosts, finished: &Finished, outlinks: &[Discovered]) -> bool {
        let is_file = |link: &Discovered| {
            let verdict = hosts.url(&link.key).map(|url| self.site.rules.judge(&url));
            matches!(verdict, Some(Verdict::Take { class: Class::Download, .. }))
        };
        finished.visit.torrent.is_some() || outlinks.iter().any(is_file)
    }

    /// True for what a list shows as a row, for the file and the further pages of a torrent, and for all that is none. Links to other torrents,
    /// on the pages of torrents that have their files ("see also") and on start pages that draw them anew at each look ("random picks"), are no
    /// news before a list has shown where they lead.
    fn is_shown_as_new(&self, hosts: &SiteHosts, link: &UrlKey, finished: &Finished) -> bool {
        let Some(url) = hosts.url(link) else { return true };
        let Verdict::Take { class, .. } = self.site.rules.judge(&url) else { return true };
        if !class.is_target() || class == Class::Download {
            return true;
        }
        let is_drawn = || self.fronts.is_drawn(mark(&finished.visit.key));
        let seen = &finished.end.seen;
        match &seen.list {
            // Rows beyond those that a look goes over are told from other links by nothing.
            Some(_) if seen.rows.contains(&hash(url.as_str())) || seen.rows.len() >= limits::LOOK_ROWS_MAX => true,
            // The latest in several sections are not all of them the rows of one list.
            Some(list) => finished.visit.depth == 0 && !self.site.fresh.boards.is_in_order(list) && !is_drawn(),
            None if finished.job.class.is_target() => {
                let own = hosts.url(&finished.visit.key);
                own.is_some_and(|own| thread_id(own.as_str()) == thread_id(url.as_str()))
            }
            None => finished.visit.depth > 0 || !self.has_lists_beside(None) || !is_drawn(),
        }
    }

    /// True where the rows of a start page are none of a list's: "random picks" are others at each look, and other lists have all that
    /// is new. Most of what a page of the latest, or a feed, showed at its last look is still there.
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

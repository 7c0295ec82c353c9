//! What the loop stores of how its site changes, and the consequences of what visits saw.

use std::sync::Arc;
use std::time::Duration;

use super::crews::Crews;
use super::hosts::SiteHosts;
use super::{SiteLoop, visits};
use crate::CrawlError;
use crate::fresh::gone::hash;
use crate::fresh::timetable;
use crate::frontier::priority;
use crate::host_work::HostWork;
use crate::job::Finished;
use crate::judging;
use crate::limits;
use crate::visit;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_rules::Verdict;
use gleaner_store::crawldb::{Next, Outcome, UrlKey, UrlRecord, Visit};

/// Minimum share of rechecks in the increment's maximum part of a day's budget, however much they find.
const LOOKS_LEAST: f64 = 0.25;

/// The longest time between two rechecks of a start page that is no list and has shown nothing new for long: it may show a new list.
const QUIET_START_LONGEST: Duration = Duration::from_secs(86_400);

impl SiteLoop {
    /// Restores the state of earlier runs.
    pub(super) async fn take_up_fresh(&mut self) -> Result<(), CrawlError> {
        self.site.fresh.take_up(self.site.db.as_ref(), &self.site.rules.name, self.site.clock.now()).await?;
        // From now on readers get the current state, not the stored one.
        self.shared.progress.crawls(&self.site.rules.name, &self.site.fresh);
        Ok(())
    }

    /// Handles what a visit saw in addition to its links: what is to be requested again, what is gone, and what may arrive.
    pub(super) async fn follow_look(&mut self, finished: &mut Finished) -> Result<(), CrawlError> {
        self.crews.compare(finished);
        if self.crews.shows_picks(finished) {
            (finished.end.seen.posts, finished.end.seen.rows) = Default::default();
        }
        let visit = &finished.visit;
        let Some(url) = self.hosts.url(&visit.key) else { return Ok(()) };
        self.site.fresh.boards.was_under_way(url.as_str(), finished.timing.began, visit.at);
        if let (Outcome::Gone, Some(gone)) = (visit.outcome, finished.end.gone) {
            self.site.fresh.gone.record(url.as_str(), gone, visit.at);
        }
        if visit.torrent.is_some() {
            self.site.fresh.gone.is_there(hash(url.as_str()));
            let urls = [Some(url.as_str()), visit.via.as_deref()].into_iter().flatten().map(hash).collect();
            self.commits.brings_torrent(&visit.key, urls);
        }
        let is_news = self.crews.are_two() && self.crews.follows_news(&self.hosts, finished).is_some();
        let seen = &mut finished.end.seen;
        // Repeated requests of an increment stay with it; see `crews`.
        let due = if is_news { Vec::new() } else { std::mem::take(&mut seen.due) };
        let timetable = &self.site.fresh.timetable;
        match &seen.list {
            Some(list) if seen.is_front => timetable.looked(list, visit.at, &seen.posts),
            Some(list) => timetable.learned(list, visit.at, &seen.posts),
            // An earlier run treated it as a separate list, which it is not.
            None if seen.is_behind => {
                timetable.leaves(url.as_str(), visit.at);
                self.site.fresh.boards.leaves(url.as_str());
                self.site.fresh.lists.forget(url.as_str());
            }
            None => timetable.came(url.as_str(), visit.at, is_away(visit)),
        }
        if seen.list.as_deref().is_some_and(|list| list != url.as_str()) {
            // If it is also a list by itself, and was read as a later page of another one, no other list waits for it any longer.
            timetable.came(url.as_str(), visit.at, false);
        }
        match &seen.list {
            Some(list) if seen.is_front => self.site.fresh.boards.looked(list, visit.at),
            Some(_) => {}
            None if finished.job.class.is_listing() && is_away(visit) => {
                self.site.fresh.boards.is_away(url.as_str());
                self.site.fresh.lists.forget(url.as_str());
            }
            None => {}
        }
        if !due.is_empty() {
            self.site.db.make_due(due, visit.at).await?;
            self.hosts.lease_soon();
        }
        Ok(())
    }

    /// True while rechecks have to wait: the schedule decides when one may be requested, and if requests are counted by the
    /// day, found URLs go before further rechecks, unless these are behind their share.
    fn looks_are_held(&self, now: UnixMillis) -> bool {
        let is_counted = self.crews.look_turns.is_some_and(|turns| !turns.is_looks());
        let has_found_some = |host: &HostWork| host.face().blocked_until <= now && self.crews.has_found_some(host);
        self.budgets.increment_waits(self.crews.demand(), now).is_some()
            || is_counted && self.hosts.iter().any(has_found_some)
    }

    /// Makes those lists due whose turn has come by the schedule.
    pub(super) async fn tend_schedule(&mut self, now: UnixMillis) -> Result<(), CrawlError> {
        if !self.options.keep_looking || self.looks_are_held(now) {
            return Ok(());
        }
        if !self.hosts.is_empty() {
            self.site.fresh.timetable.allows(self.crews.looks_possible(&self.hosts), self.crews.in_another_order, now);
        }
        loop {
            let lists: Vec<String> = std::iter::from_fn(|| self.site.fresh.timetable.due(now)).collect();
            if lists.is_empty() || self.crews.make_looks_due(&mut self.hosts, lists, now).await? {
                return Ok(());
            }
        }
    }

    /// Makes planned lists outside the schedule due now: the last stored state does not contain them, because the process
    /// was killed before it stored them again, and their planned time is only a fallback.
    pub(super) async fn look_at_unscheduled(&mut self, now: UnixMillis) -> Result<(), CrawlError> {
        if !self.options.keep_looking || self.last_crawl.lacks_schedule {
            return Ok(());
        }
        let site = Arc::clone(&self.site);
        let mut unscheduled = Vec::new();
        for host in self.hosts.iter() {
            let planned = site.db.planned(host.id, limits::PLANNED_LISTS_READ).await?;
            let is_lacking = |key: &UrlKey| {
                let url = CrawlUrl::from_parts(host.origin(), &key.path);
                let is_list = matches!(site.rules.judge(&url), Verdict::Take { class, .. } if class.is_listing());
                let is_lacking = is_list && visit::is_front(&site, &url) && site.fresh.timetable.lacks(url.as_str());
                is_lacking.then(|| url.as_str().to_owned())
            };
            let (lists, keys): (Vec<String>, Vec<UrlKey>) =
                planned.into_iter().filter_map(|row| Some((is_lacking(&row.key)?, row.key))).unzip();
            let records = site.db.url_records(keys).await?;
            let is_read = |outcome| matches!(outcome, Outcome::Page | Outcome::PageDuplicate | Outcome::NotModified);
            let was_read = |record: &UrlRecord| record.attempts == 0 && record.outcome.is_some_and(is_read);
            let read = lists.into_iter().zip(records).filter(|(_, record)| record.as_ref().is_some_and(was_read));
            unscheduled.extend(read.map(|(list, _)| list));
        }
        self.crews.make_looks_due(&mut self.hosts, unscheduled, now).await?;
        Ok(())
    }

    /// Makes lists due that a round of the increment rechecks, although their turn by the schedule has not come; not if the day has
    /// too few requests for those whose turn it is.
    pub(super) async fn look_at_overdue(&mut self, since: UnixMillis, now: UnixMillis) -> Result<(), CrawlError> {
        if self.looks_are_held(now) || self.crews.wants_more_than_its_share() {
            return Ok(());
        }
        let lists = self.site.fresh.timetable.overdue(since, now);
        self.crews.make_looks_due(&mut self.hosts, lists, now).await?;
        Ok(())
    }

    /// Makes the start pages and all lists due, whatever the schedule says; the site's rules still say how fast they are read, and when.
    pub(super) async fn look_now(&mut self, now: UnixMillis) -> Result<(), CrawlError> {
        let start = super::start_pages(&self.site);
        let mut lists: Vec<String> = start.iter().map(|found| found.url.as_str().to_owned()).collect();
        for list in self.site.fresh.timetable.urls() {
            if !lists.contains(&list) {
                lists.push(list);
            }
        }
        tracing::info!(site = %self.site.rules.name, lists = lists.len(), "all lists are rechecked now");
        self.crews.make_looks_due(&mut self.hosts, lists, now).await?;
        self.hosts.look_soon();
        self.hosts.lease_soon();
        Ok(())
    }
}

impl Crews {
    /// Stores what a start page, or another rechecked page that is no list, shows, for comparison at its next recheck.
    fn compare(&mut self, finished: &Finished) {
        let is_start = finished.visit.depth == 0 || finished.end.seen.list.is_none();
        if !self.are_two() || !finished.job.is_watched || !is_start {
            return;
        }
        let targets = finished.visit.outlinks.iter().filter(|link| link.is_target);
        let shown = match finished.visit.outcome {
            Outcome::Page | Outcome::PageDuplicate => {
                Some(targets.map(|link| visits::mark(&link.key)).take(limits::LOOK_ROWS_MAX).collect())
            }
            Outcome::NotModified => None,
            // A response of a server in trouble shows nothing.
            _ => return,
        };
        self.fronts.looked(visits::mark(&finished.visit.key), shown);
    }

    fn has_news(&self, finished: &Finished) -> bool {
        self.fronts.has_news(visits::mark(&finished.visit.key))
    }

    /// When a rechecked page is rechecked next: a list by the schedule if the service crawls, everything else at the interval.
    pub(super) fn look_again_at(&self, hosts: &SiteHosts, keep_looking: bool, finished: &Finished) -> UnixMillis {
        let at = finished.visit.at;
        let by_interval = self.next_look(at);
        match &finished.end.seen.list {
            Some(list) if keep_looking && finished.end.seen.is_front => {
                self.site.fresh.timetable.again(list, at).unwrap_or(by_interval)
            }
            // A list that is gone or moved is requested ever more rarely: it may come back. A start page is set by the operator.
            None if finished.job.class.is_listing() && finished.visit.depth > 0 && is_away(&finished.visit) => {
                let url = hosts.url(&finished.visit.key);
                let looks = url.map_or(1, |url| self.site.fresh.boards.away(url.as_str()));
                let wait_s = timetable::away_s(self.site.rules.revisit.as_secs(), looks);
                by_interval.max(at.plus(Duration::from_secs(wait_s)))
            }
            // Start pages that are no lists, and sitemaps, deserve no more rechecks than lists do, except those that show new content.
            _ if self.are_two() && !self.has_news(finished) && self.wants_more_than_its_share() => {
                by_interval.max(at.plus(self.site.fresh.timetable.mean_wait().min(QUIET_START_LONGEST)))
            }
            _ => by_interval,
        }
    }

    /// Number of rechecks that a day has room for: half of the requests that its hosts allow, and of half a budget, which is the maximum
    /// reserve of the increment, what is left after fetching what they find.
    fn looks_possible(&self, hosts: &SiteHosts) -> f64 {
        let of_host = |host: &HostWork| 86_400_000.0 / host.face().policy(&self.site.rules).interval_ms.max(1) as f64;
        let by_rate = hosts.iter().map(of_host).sum::<f64>() / 2.0;
        self.site.rules.quota.requests_per_day.map_or(by_rate, |budget| {
            let half = budget as f64 / 2.0;
            by_rate.min((half - self.news_a_day() as f64).max(half * LOOKS_LEAST))
        })
    }

    /// False if none of them is a list of the site any more: the current rules refuse it. A refused list delays no other, and gets another
    /// turn after the maximum time.
    async fn make_looks_due(
        &self,
        hosts: &mut SiteHosts,
        lists: Vec<String>,
        now: UnixMillis,
    ) -> Result<bool, CrawlError> {
        let mut rows = Vec::with_capacity(lists.len());
        for list in lists {
            let url = CrawlUrl::parse(&list, &self.site.rules.canonical).ok();
            let found =
                url.and_then(|url| judging::judge(&self.site.rules, url).ok()).filter(|found| found.class.is_listing());
            let row = match found {
                Some(found) => self.site.rows.row(&found.url, found.class, 1).await?,
                None => None,
            };
            let Some(mut row) = row else {
                self.site.fresh.timetable.refused(&list, now);
                continue;
            };
            tracing::trace!(site = %self.site.rules.name, list, "a recheck is due");
            if let Some(record) = self.site.db.url_record(&row.key).await? {
                row.depth = record.depth;
            }
            if row.depth == 0 {
                row.rank = 0;
            }
            if self.are_two() {
                row.rank = priority::URGENT;
            }
            row.due = now;
            rows.push(row);
        }
        if rows.is_empty() {
            return Ok(false);
        }
        self.site.db.make_due(rows, now).await?;
        hosts.look_soon();
        hosts.lease_soon();
        Ok(true)
    }
}

/// True for a list that is gone, or whose address redirects elsewhere; not for a response that only sets a cookie.
fn is_away(visit: &Visit) -> bool {
    visit.next == Next::Done && matches!(visit.outcome, Outcome::Gone | Outcome::Redirected)
}

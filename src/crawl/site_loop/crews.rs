//! The increment crew beside history (ALGORITHMS §6): its rounds, what it takes from the update crawldb, and the split of the lanes.
//! `divide` decides which links of a page it follows, `fronts` tracks what start pages show, `note` stores what outlives a restart.
//!
//! A round begins at each interval: due rechecks of start pages and first pages of lists are leased from history, where
//! they come before everything else; what their pages show for the first time goes to the update crawldb, and from there,
//! newest first, through the increment's lanes, down to `increment_depth`. What a round leaves is history's a round
//! later. A one-shot crawl has only one crew, and nothing here does anything.

mod divide;
mod fronts;
mod note;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::SiteLoop;
use super::budget::Demand;
use super::hosts::SiteHosts;
use super::visits::mark;
use crate::CrawlError;
use crate::frontier::crews::{Crew, Facts, Split, interval};
use crate::frontier::increment::{Round, Rounds};
use crate::frontier::priority;
use crate::host_work::HostWork;
use crate::job::{Finished, Job};
use crate::limits;
use crate::news::LookTurns;
use crate::site::Site;
use crate::visit;
use divide::news;
use fronts::Fronts;
use gleaner_base::clock::UnixMillis;
use gleaner_net::politeness::shifted;
use gleaner_rules::Class;
use gleaner_store::crawldb::update::{Merged, UpdateDb, UpdateRow};
use gleaner_store::crawldb::{CrawlDbError, Lease, LeaseOrder, LeaseRequest, Next, UrlKey};
pub use note::{CREWS_NOTE, CrewsKept};

/// Duration of a `requests_per_day` budget.
const DAY: Duration = Duration::from_secs(86_400);

/// The two crews of one site.
pub(super) struct Crews {
    pub(super) site: Arc<Site>,
    /// None: there is one crew.
    update: Option<Arc<UpdateDb>>,
    facts: Facts,
    split: Split,
    interval: Duration,
    round_began: UnixMillis,
    next_round: UnixMillis,
    rounds: Rounds,
    round: Round,
    left_to_history: u64,
    /// Rechecked URLs, by their marks: when queued, they do not count as history. For those of earlier runs only the number
    /// is known.
    watched: HashSet<u64>,
    watched_before: usize,
    reckoned: UnixMillis,
    waiting: u64,
    is_changed: bool,
    /// Whose turn it is, rechecks or what they found; None if requests are not counted by the day.
    pub look_turns: Option<LookTurns>,
    /// The share of the lists that are not ordered by time, as last computed.
    pub in_another_order: f64,
    /// What start pages showed at their last rechecks.
    pub fronts: Fronts,
}

impl Crews {
    /// The crews of a site; only one without an update crawldb, or if the rules want no increment.
    pub(super) fn new(site: &Arc<Site>, update: Option<Arc<UpdateDb>>, now: UnixMillis) -> Self {
        let rules = &site.rules;
        let revisit = rules.revisit;
        let possible = revisit.as_micros() / rules.rate.interval.as_micros().max(1);
        // What a day's budget leaves to a round, whatever the rate allows.
        let of_day = rules
            .quota
            .requests_per_day
            .map_or(u128::MAX, |max| u128::from(max).saturating_mul(revisit.as_secs().into()).div_ceil(86_400));
        let possible = u64::try_from(possible.min(of_day)).unwrap_or(u64::MAX);
        let lanes = rules.lanes;
        let facts = Facts {
            lanes: lanes.count.into(),
            increment_min: lanes.increment_min.into(),
            possible,
            ..Facts::default()
        };
        Self {
            site: Arc::clone(site),
            update: update.filter(|_| rules.increment_depth > 0),
            split: Split::of(&facts),
            facts,
            interval: revisit,
            round_began: now,
            next_round: now.plus(revisit),
            rounds: Rounds::default(),
            round: Round::default(),
            left_to_history: 0,
            watched: HashSet::new(),
            watched_before: 0,
            reckoned: now,
            waiting: 0,
            is_changed: false,
            look_turns: rules.quota.requests_per_day.map(|_| LookTurns::default()),
            in_another_order: 0.0,
            fronts: Fronts::default(),
        }
    }

    pub(super) fn are_two(&self) -> bool {
        self.update.is_some()
    }

    /// Whether history has nothing left, as last computed; None for one crew.
    pub(super) fn history_is_done(&self) -> Option<bool> {
        self.update.is_some().then_some(self.facts.history_left == 0)
    }

    /// How the lanes are split; None for one crew.
    pub(super) fn split(&self) -> Option<Split> {
        self.update.is_some().then_some(self.split)
    }

    /// Requests that the increment would use in a day with the planned rechecks: as measured in rounds, and no less than what is
    /// planned and found, because rounds that were held back use less. A recheck may go on to a second page, and start pages are rechecked
    /// in addition to the lists. None for one crew, and if requests are not counted by the day.
    pub(super) fn demand(&self) -> Option<Demand> {
        self.site.rules.quota.requests_per_day.filter(|_| self.are_two())?;
        let looks = self.site.fresh.timetable.looks_a_day().ceil() as u64;
        let interval_s = self.interval.as_secs().max(1);
        let taken = self.rounds.wanted().saturating_mul(DAY.as_secs()) / interval_s;
        let planned = looks.saturating_mul(2).saturating_add(self.rounds.news_a_day());
        Some(Demand { a_day: taken.max(planned), is_measured: self.rounds.measured > 0 })
    }

    /// True if the increment would use more of a day's budget than the maximum reserve.
    pub(super) fn wants_more_than_its_share(&self) -> bool {
        let max = self.site.rules.quota.requests_per_day;
        self.demand().zip(max).is_some_and(|(demand, max)| demand.exceeds(max))
    }

    /// Requests a day that fetch what rechecks have found.
    pub(super) fn news_a_day(&self) -> u64 {
        self.rounds.news_a_day()
    }

    /// True if something that rechecks have found waits for a request and could have one.
    pub(super) fn has_found_some(&self, host: &HostWork) -> bool {
        let waits_there = || self.update.as_ref().is_some_and(|update| update.waiting(host.id) > 0);
        host.news.found() > 0 || host.news.may_lease && waits_there()
    }

    /// Moves all times after the clock was set by this many milliseconds.
    pub(super) fn shift(&mut self, set_by_ms: i64) {
        for at in [&mut self.round_began, &mut self.next_round, &mut self.reckoned] {
            *at = shifted(*at, set_by_ms);
        }
    }

    fn watch(&mut self, key: &UrlKey) {
        if self.watched.len() < limits::WATCHED_COUNTED_MAX {
            self.watched.insert(mark(key));
        }
    }
    /// Restores the rates of earlier runs.
    async fn take_up(&mut self, has_other_rules: bool) -> Result<(), CrawlError> {
        let kept = CrewsKept::read(self.site.db.as_ref(), &self.site.rules.name).await?;
        // Other rules watch other pages. With the same rules, the earlier number is valid, however long a schedule lets a list rest.
        self.watched_before = if has_other_rules { 0 } else { kept.watched };
        self.rounds = kept.rounds;
        Ok(())
    }

    /// Ends the current round: rows from before its beginning that it has not fetched by now become history's, since they were first in
    /// line for a round and longer. If requests are counted by the day, a round sends few of them, and history waits for midnight: then
    /// this applies to rows that have waited for a day.
    async fn end_round(
        &mut self,
        update: &UpdateDb,
        hosts: &SiteHosts,
        now: UnixMillis,
    ) -> Result<(Round, Merged), CrawlError> {
        let began = self.round_began;
        let before = match self.site.rules.quota.requests_per_day {
            Some(_) => began.min(UnixMillis(now.0.saturating_sub(millis(DAY)))),
            None => began,
        };
        let merged = merge(&self.site, update, hosts, before).await?;
        let round = std::mem::take(&mut self.round);
        self.rounds.observe(&round, now.since(began), waiting(update, hosts));
        self.left_to_history = round.left_out().saturating_add(merged.added);
        Ok((round, merged))
    }

    /// Begins the next round, after the given one.
    fn begin_round(&mut self, round: &Round, merged: Merged, now: UnixMillis) {
        self.interval = interval(self.site.rules.revisit, self.split, &self.facts);
        (self.round_began, self.next_round) = (now, now.plus(self.interval));
        self.is_changed |= *round != Round::default();
        let (site, interval_s, requests) = (&self.site.rules.name, self.interval.as_secs(), round.requests);
        let why = self.split.sentence(&self.facts);
        tracing::debug!(%site, interval_s, requests, merged = merged.added, why, "a round of the increment begins");
    }

    /// Splits the lanes by what is left now.
    async fn reckon(&mut self, update: &UpdateDb, hosts: &SiteHosts) -> Result<(), CrawlError> {
        let counts = self.site.db.site_counts(&self.site.rules.name).await?;
        let before = self.state();
        self.reckoned = self.site.clock.now();
        self.in_another_order = self.site.fresh.boards.in_another_order();
        self.waiting = waiting(update, hosts);
        let watched = self.watched.len().max(self.watched_before) as u64;
        self.facts = Facts {
            history_left: counts.urls_queued.saturating_sub(watched),
            known: counts.urls_known,
            // A burst gets its lanes at once, not a round later.
            wanted: self.rounds.wanted().max(self.round.requests.saturating_add(self.waiting)),
            ..self.facts
        };
        self.split = Split::of(&self.facts);
        // An unchanged state needs no note, which would cost a commit.
        self.is_changed |= self.state() != before;
        Ok(())
    }

    /// When the loop has to act for a round or a planned recheck; never a time that has passed.
    pub(super) fn wake_at(&self, hosts: &SiteHosts) -> Option<UnixMillis> {
        self.update.as_ref()?;
        let now = self.site.clock.now();
        let looks = hosts.iter().filter_map(|host| host.news.next_look(now));
        looks.chain(Some(self.next_round).filter(|at| *at > now)).min()
    }

    /// When a rechecked page is rechecked next: with the next round, so that one round covers all of them.
    pub(super) fn next_look(&self, at: UnixMillis) -> UnixMillis {
        match self.are_two() {
            true if self.next_round > at => self.next_round,
            _ => at.plus(self.site.rules.revisit),
        }
    }

    /// Gives back leases that ended before their turn came.
    pub(super) fn give_back(&self, host: &mut HostWork, keys: &[UrlKey]) {
        if let Some(update) = &self.update {
            update.release(keys);
            host.news.may_lease = true;
            host.news.plan_look(UnixMillis(0));
        }
    }

    /// The level from which the increment follows a visit's links: for its own visits, and for those of history's threads with new posts
    /// that were already in flight when a recheck showed them.
    pub(super) fn follows_news(&self, hosts: &SiteHosts, finished: &Finished) -> Option<u8> {
        match finished.job.crew {
            Crew::Increment { level } => Some(level),
            _ => self.has_news_of_its_own(hosts, finished).then_some(1),
        }
    }

    /// True for a page of a thread that was requested again for its new posts.
    fn has_news_of_its_own(&self, hosts: &SiteHosts, finished: &Finished) -> bool {
        let asked =
            || hosts.url(&finished.visit.key).is_some_and(|url| self.site.fresh.boards.asked_again(url.as_str()));
        finished.job.class == Class::Thread && asked()
    }

    /// Applies a visit to the crews: which of its links the increment follows, and what has priority next time.
    pub(super) async fn mind(&mut self, hosts: &mut SiteHosts, finished: &mut Finished) -> Result<(), CrawlError> {
        let Some(update) = self.update.clone() else { return Ok(()) };
        if let Some(level) = self.follows_news(hosts, finished) {
            if finished.job.crew.is_increment() {
                self.round.requests += u64::from(finished.visit.outcome.was_fetched()) + finished.host.errands;
            }
            // Later pages of this list, threads with new posts: known, and to be read again.
            let at = finished.visit.at;
            let mut due = std::mem::take(&mut finished.end.seen.due);
            let cap = self.rounds.cap(level + 1, self.interval, self.facts.possible);
            let rest = due.split_off(self.round.take_again(due.len(), cap));
            if !rest.is_empty() {
                self.site.db.make_due(rest, at).await?;
                hosts.lease_soon();
            }
            // No earlier than the end of any visit that has ended: a visit of such a page that began earlier settles nothing of it.
            let asked = self.site.clock.now();
            let own = finished.visit.key.clone();
            for link in due.into_iter().filter(|link| link.key != own) {
                let level = if link.is_target { level + 1 } else { level };
                finished.end.news.push(news(link, asked, level, true));
            }
            if let Some(next) = finished.end.seen.unread.take() {
                finished.visit.outlinks.retain(|link| link.key != next.key);
                finished.end.news.push(news(next, at, level + 1, false));
            }
            self.divide(&update, hosts, finished, level).await?;
        }
        let visit = &mut finished.visit;
        let comes_first = match visit.next {
            Next::RevisitAt(_) if finished.job.is_watched => {
                self.watch(&visit.key);
                !priority::is_sitemap(visit.rank)
            }
            Next::RetryAt(_) | Next::RefusedUntil(_) | Next::WaitUntil(_) => finished.job.crew.is_increment(),
            _ => false,
        };
        if comes_first {
            visit.rank = priority::URGENT;
            if let (Some(host), Some(at)) = (hosts.of_mut(&visit.key), visit.next.due()) {
                host.news.plan_look(at);
            }
        }
        Ok(())
    }
}

/// Lets history take the rows that the increment found before the given time.
async fn merge(site: &Site, update: &UpdateDb, hosts: &SiteHosts, before: UnixMillis) -> Result<Merged, CrawlDbError> {
    let (mut all, now) = (Merged::default(), site.clock.now());
    for host in hosts.iter() {
        let merged = update.merge(site.db.as_ref(), host.id, before, now).await?;
        all.added += merged.added;
        all.again += merged.again;
        all.settled += merged.settled;
    }
    Ok(all)
}

/// URLs that wait in the update crawldb.
fn waiting(update: &UpdateDb, hosts: &SiteHosts) -> u64 {
    hosts.iter().map(|host| update.waiting(host.id)).sum()
}

impl SiteLoop {
    /// Restores the state of earlier runs: the rates, and what their increments found. If there is one crew now, that becomes
    /// history's at once.
    pub(super) async fn take_up_crews(&mut self) -> Result<(), CrawlError> {
        let Some(update) = self.shared.update.clone() else { return Ok(()) };
        let now = self.site.clock.now();
        let forgotten = update.pair(self.site.db.as_ref(), now).await?;
        if forgotten > 0 {
            tracing::warn!(forgotten, "update.redb belongs to another crawl.redb: its contents are discarded");
        }
        if update.was_lost_for(&self.site.rules.name) {
            // Lists that were read already show what it contained: they are read completely, and at once.
            let site = &self.site.rules.name;
            tracing::warn!(%site, "update.redb was replaced, or is empty: lists are read again to find what it held");
            self.leases.read_lists_whole();
            for host in self.hosts.iter() {
                self.site.db.bring_forward(host.id).await?;
            }
        }
        if !self.crews.are_two() {
            let merged = merge(&self.site, &update, &self.hosts, UnixMillis(u64::MAX)).await?;
            if merged != Merged::default() {
                let (site, added) = (&self.site.rules.name, merged.added);
                tracing::info!(%site, added, "URLs found by the increment now belong to history");
            }
            return Ok(());
        }
        // The site of an aborted loop is the same, and has it.
        let _ = self.site.rows.update.set(Arc::clone(&update));
        self.crews.take_up(self.last_crawl.has_other_rules).await?;
        self.hosts.news_came();
        self.hosts.look_soon();
        self.reckon_crews(&update).await
    }

    /// Begins a round when its time has come, whether the last one is finished or not, and recomputes the shares.
    pub(super) async fn tend_crews(&mut self, now: UnixMillis) -> Result<(), CrawlError> {
        let Some(update) = self.crews.update.clone() else { return Ok(()) };
        if now >= self.crews.next_round {
            let began = self.crews.round_began;
            let (round, merged) = self.crews.end_round(&update, &self.hosts, now).await?;
            self.reckon_crews(&update).await?;
            self.crews.begin_round(&round, merged, now);
            if merged.added + merged.again > 0 {
                self.hosts.lease_soon();
            }
            self.look_at_overdue(began, now).await?;
            self.hosts.look_soon();
            self.tell_crews();
        } else if now.since(self.crews.reckoned) >= limits::CREWS_RECKONED_EVERY {
            self.reckon_crews(&update).await?;
        }
        Ok(())
    }

    async fn reckon_crews(&mut self, update: &UpdateDb) -> Result<(), CrawlError> {
        self.crews.reckon(update, &self.hosts).await?;
        let (left, known) = (self.crews.facts.history_left, self.crews.facts.known);
        // Visits that are not committed yet may bring more.
        if self.commits.are_all_in() && self.told.history_is_done(left) {
            tracing::info!(site = %self.site.rules.name, known, "history is done: every known URL was requested");
        }
        self.tell_crews();
        Ok(())
    }

    fn tell_crews(&self) {
        let state = self.crews.state();
        self.shared.progress.update(&self.site.rules.name, |progress| progress.crews = Some(state));
    }

    /// Leases the increment's work at a host: due rechecks, and the newest rows of the update crawldb.
    pub(super) async fn fill_news(&mut self, index: usize) -> Result<(), CrawlError> {
        let Some(update) = self.crews.update.clone() else { return Ok(()) };
        let now = self.site.clock.now();
        let late = self.hosts[index].news.take_ended(now.plus(self.site.rules.rate.timeout));
        self.let_go(index, late.into_iter().map(|job| job.lease.key).collect(), now).await?;
        let host = &self.hosts[index];
        let looks_are_due = host.news.looks_are_due(now) && host.news.due() < limits::LEASE_URLS_MAX;
        let has_room = host.news.found() < 2 * limits::INCREMENT_LEASE_URLS_MAX;
        let may_lease = host.news.may_lease && has_room && update.waiting(host.id) > 0;
        if !looks_are_due && !may_lease {
            return Ok(());
        }
        // Leases taken while no request is allowed would expire before one is.
        if let Some(held) = self.budgets.increment_waits(self.crews.demand(), now) {
            self.hosts.hold(index, held);
            return Ok(());
        }
        let host = &self.hosts[index];
        if host.face().robots_in_force(now).is_none() {
            // For rechecks, the code that fills history's lanes requests it.
            if may_lease {
                self.ask_robots(index);
            }
            return Ok(());
        }
        if looks_are_due {
            self.lease_looks(index, now).await?;
        }
        if may_lease {
            self.lease_latest(index, &update, now).await?;
        }
        Ok(())
    }

    /// Leases due rechecks, and retries of the increment.
    async fn lease_looks(&mut self, index: usize, now: UnixMillis) -> Result<(), CrawlError> {
        let (urls_max, deadline) = (limits::LOOKS_LEASED_MAX, now.plus(limits::LEASE_TIME));
        let (host, owner, rank_max) = (self.hosts[index].id, self.shared.owner, priority::URGENT);
        while self.hosts[index].news.due() < limits::LEASE_URLS_MAX {
            let request = LeaseRequest { host, owner, now, deadline, urls_max, rank_max, order: LeaseOrder::ByRank };
            let leases = self.site.db.lease_due(request).await?;
            let came_short = leases.len() < urls_max;
            self.take_urgent(index, now, leases).await?;
            if came_short {
                self.hosts[index].news.looked(now);
                break;
            }
        }
        Ok(())
    }

    /// Assigns urgent leases to the increment, except first visits: those are history's.
    pub(super) async fn take_urgent(
        &mut self,
        index: usize,
        now: UnixMillis,
        leases: Vec<Lease>,
    ) -> Result<(), CrawlError> {
        let records = self.site.db.url_records(leases.iter().map(|lease| lease.key.clone()).collect()).await?;
        let mut first_visits = Vec::new();
        for (lease, record) in leases.into_iter().zip(records) {
            let Some(lease) = self.leases.take_lease(lease) else { continue };
            let Some(mut job) = self.admit(index, lease, Crew::History).await? else { continue };
            if record.is_none_or(|record| record.outcome.is_none()) {
                first_visits.push(job);
                continue;
            }
            let is_look = visit::is_watched(&self.site, &job);
            job.crew = Crew::Increment { level: u8::from(!is_look) };
            let news = &mut self.hosts[index].news;
            if is_look { news.push_look(job) } else { news.push(now, job) }
        }
        self.hosts.queue_by_weight(index, first_visits);
        Ok(())
    }

    /// Leases the newest rows of the update crawldb. Rows that history has visited meanwhile are left to it.
    async fn lease_latest(&mut self, index: usize, update: &UpdateDb, now: UnixMillis) -> Result<(), CrawlError> {
        let host = self.hosts[index].id;
        let rows = update.lease_latest(host, limits::INCREMENT_LEASE_URLS_MAX).await?;
        self.hosts[index].news.may_lease = rows.len() == limits::INCREMENT_LEASE_URLS_MAX;
        let records = self.site.db.url_records(rows.iter().map(|row| row.key.clone()).collect()).await?;
        let deadline = now.plus(limits::LEASE_TIME);
        let (mut settled, mut under_way, mut ahead) = (Vec::new(), Vec::new(), Vec::new());
        for (row, record) in rows.into_iter().zip(records) {
            let is_settled = row.is_settled(record.as_ref(), now);
            let is_in_hand = self.leases.has(&row.key);
            if !is_settled && is_in_hand && takes_from_history(&mut self.hosts[index], &row, now) {
                ahead.extend((row.found > now).then_some(row.key));
                continue;
            }
            if !is_settled && row.again && is_in_hand {
                // The visit in flight began before its new posts were seen: the commit decides what it settles.
                under_way.push(row.key);
                continue;
            }
            if is_settled || !self.leases.take(&row.key) {
                settled.push(row.key);
                continue;
            }
            let UpdateRow { key, found, level, depth, rank, via, .. } = row;
            // Found by a clock that was set back since: a visit now settles it.
            if found > now {
                ahead.push(key.clone());
            }
            let found = found.min(now);
            let attempts = record.map_or(0, |record| record.attempts);
            let lease = Lease { key, depth, rank, attempts, via, memo: None, deadline, found: Some(found), seq: 0 };
            if let Some(job) = self.admit(index, lease, Crew::Increment { level }).await? {
                self.hosts[index].news.push(found, job);
            }
        }
        update.release(&under_way);
        update.bring_back(ahead, now).await?;
        Ok(update.remove(settled).await?)
    }
}

/// Moves a job from history's batch to the increment if it has become new content: its turn there may be minutes away. Pages
/// of lists stay in the order in which history reads them. False if it is in flight, or the increment's already.
fn takes_from_history(host: &mut HostWork, row: &UpdateRow, now: UnixMillis) -> bool {
    let is_it = |job: &Job| job.lease.key == row.key && !job.class.is_listing();
    let Some(mut job) = host.lanes.take(is_it) else { return false };
    let found = row.found.min(now);
    job.crew = Crew::Increment { level: row.level };
    (job.lease.found, job.lease.memo) = (Some(found), None);
    job.lease.via = row.via.clone().or(job.lease.via);
    host.news.push(found, job);
    true
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

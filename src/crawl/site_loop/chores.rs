//! Periodic work of a site's loop besides its visits: storing the time under crawl, the worth of
//! URLs and what is known of the site's changes, and queueing again what was cut.

use std::time::Duration;

use super::clock::{CLOCK_NOTE, PlanClock};
use crate::CrawlError;
use crate::scripts::books::SHORTCUTS_NOTE;
use crate::scripts::rendered::RENDERED_NOTE;
use crate::site::Site;
use crate::worth::Worth;
use gleaner_base::clock::UnixMillis;

/// How often the time under crawl is stored: a kill loses no more of it.
pub(super) const TIME_KEPT_EVERY: Duration = Duration::from_secs(30);

/// The same if nothing is in progress: so that `coverage` is correct for a crawl that has just ended.
pub(super) const TIME_KEPT_IDLE: Duration = Duration::from_secs(1);

/// How often what is known of the site's changes is stored: some MB at worst, and a kill costs some rechecks.
const FRESH_KEPT_EVERY: Duration = Duration::from_secs(300);

/// The first interval of a run, which then doubles each time: a young crawl knows little, but has nothing else.
const FRESH_FIRST_KEPT: Duration = Duration::from_secs(10);

/// How often cut URLs are queued again if a shape has recovered: each time costs a row for each URL.
const CUTS_ASKED_EVERY: Duration = Duration::from_secs(600);

/// The first interval of a run; it doubles each time that some were restored. Lists come before what they list: on a site of many short
/// ones lists are cut before the first torrent shows what they are worth.
const CUTS_FIRST_ASKED: Duration = Duration::from_secs(20);

/// How often a crawl that has nothing else left does the same before it ends.
const CUTS_ASKED_AGAIN: u32 = 5;

/// When each of these was last done.
pub(super) struct Chores {
    /// Time up to which the time under crawl is in the database.
    time_kept: UnixMillis,
    /// When the worth of URLs was last stored.
    worth_kept: UnixMillis,
    /// When what is known of its changes was last stored.
    fresh_kept: UnixMillis,
    fresh_every: Duration,
    /// When cut URLs were last queued again, and how often a crawl that had nothing else left did so.
    cuts_asked: UnixMillis,
    cuts_every: Duration,
    cuts_asked_again: u32,
    /// True if the ends of lists were checked since history last had work.
    pub(super) has_closed: bool,
}

impl Chores {
    pub(super) fn new(now: UnixMillis) -> Self {
        Self {
            time_kept: now,
            worth_kept: now,
            fresh_kept: now,
            fresh_every: FRESH_FIRST_KEPT,
            cuts_asked: now,
            cuts_every: CUTS_FIRST_ASKED,
            cuts_asked_again: 0,
            has_closed: false,
        }
    }

    /// The clock was set: all intervals start over.
    pub(super) fn clock_was_set(&mut self, now: UnixMillis) {
        (self.time_kept, self.worth_kept, self.fresh_kept, self.cuts_asked) = (now, now, now, now);
    }

    /// Adds the time since the last call to the site's time under crawl, once it is `at_least` this long.
    pub(super) async fn keep_time(&mut self, site: &Site, at_least: Duration) -> Result<(), CrawlError> {
        let now = site.clock.now();
        let elapsed = now.since(self.time_kept);
        if elapsed >= at_least && !elapsed.is_zero() {
            self.time_kept = now;
            let crawl_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
            site.db.add_crawl_time(&site.rules.name, crawl_ms).await?;
        }
        Ok(())
    }

    /// Waiting with nothing in progress does not count as crawling.
    pub(super) fn waited(&mut self, time: Duration) {
        self.time_kept = self.time_kept.plus(time);
    }

    pub(super) fn worth_is_due(&self, now: UnixMillis) -> bool {
        now.since(self.worth_kept) >= TIME_KEPT_EVERY
    }

    /// Stores the worth of the site's URLs, the results of rendering and the delays of torrents, in one commit.
    pub(super) async fn keep_worth(&mut self, site: &Site, clock: &PlanClock) -> Result<(), CrawlError> {
        self.worth_kept = site.clock.now();
        let mut notes = site.worth().notes();
        notes.extend(site.scripts.shortcuts.note(&site.rules).map(|note| (SHORTCUTS_NOTE, note)));
        // Results of rendering come with a visit, which has also changed the worth.
        if !notes.is_empty() {
            let rendered = site.scripts.rendered().note().map(|note| (RENDERED_NOTE, note));
            let notes = notes.into_iter().chain([(CLOCK_NOTE, clock.note())]).chain(rendered);
            let notes = notes.map(|(name, note)| (name.to_owned(), note));
            let notes = notes.chain(site.fresh.arrivals.short_notes()).collect();
            site.db.put_notes(&site.rules.name, notes).await?;
        }
        Ok(())
    }

    /// Stores what has changed in the knowledge of the site's changes, in one commit.
    pub(super) async fn keep_fresh(&mut self, site: &Site) -> Result<(), CrawlError> {
        self.fresh_kept = site.clock.now();
        let notes = site.fresh.notes(&site.rules.name);
        if !notes.is_empty() {
            site.db.put_notes(&site.rules.name, notes).await?;
        }
        Ok(())
    }

    /// The same if it is due.
    pub(super) async fn keep_fresh_in_time(&mut self, site: &Site, now: UnixMillis) -> Result<(), CrawlError> {
        if now.since(self.fresh_kept) >= self.fresh_every {
            self.keep_fresh(site).await?;
            self.fresh_every = (self.fresh_every * 2).min(FRESH_KEPT_EVERY);
        }
        Ok(())
    }

    /// True once cut URLs are to be queued again.
    pub(super) fn cuts_are_due(&mut self, now: UnixMillis) -> bool {
        let are_due = now.since(self.cuts_asked) >= self.cuts_every;
        if are_due {
            self.cuts_asked = now;
        }
        are_due
    }

    /// Some were restored: doubles the interval.
    pub(super) fn cuts_came_back(&mut self) {
        self.cuts_every = (self.cuts_every * 2).min(CUTS_ASKED_EVERY);
    }

    /// True if a crawl that has nothing else left may queue them again before it ends.
    pub(super) fn may_ask_for_cuts(&self) -> bool {
        self.cuts_asked_again < CUTS_ASKED_AGAIN
    }

    /// Some were restored: counts it.
    pub(super) fn last_cuts_came_back(&mut self) {
        self.cuts_asked_again += 1;
    }
}

/// Restores the budgets of earlier runs.
pub(super) async fn take_up_worth(site: &Site) -> Result<(), CrawlError> {
    let rules = &site.rules;
    let (taken_up, fault) = Worth::take_up(site.db.as_ref(), rules).await?;
    if let Some(fault) = fault {
        tracing::warn!(site = %rules.name, fault, "the budgets of URL shapes begin anew");
    }
    *site.worth() = taken_up;
    let note = site.db.note(&rules.name, SHORTCUTS_NOTE).await?;
    site.scripts.shortcuts.take_up(rules, note.as_deref());
    Ok(())
}

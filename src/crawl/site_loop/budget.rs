//! The budgets of a site's crawl: requests of the run, of the round and of the day, and the run's time; and the division of a day's budget
//! between the two crews: what history leaves to rechecks and to what they find, and how the increment makes it last.
//!
//! History takes whatever it may, and a site with `requests_per_day` would get no recheck between the moment at which history has used up
//! the day and midnight. So a part of the rest of the day is reserved for the increment; as the day goes on that part shrinks, and history
//! takes what was not needed. The increment uses that part no faster than it shrinks, except for a burst: otherwise rechecks would end
//! early, as history does. Quiet hours are not part of a day, nor is the time before its first counted request.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::watch;

use super::day::{DAY_NOTE, DayNote};
use crate::host_work::{PausedCrews, Why};
use crate::measured::DayUsed;
use crate::scripts::errands;
use crate::site::Site;
use crate::{CrawlError, RunOptions};
use gleaner_base::clock::UnixMillis;
use gleaner_net::politeness::shifted;

/// Minimum and maximum share of a day's requests that is reserved, in per mille: if next to nothing was measured, and if the increment
/// wants more than there is.
const KEPT: std::ops::RangeInclusive<u64> = 100..=500;

/// The part of the reserve that the increment may use ahead of time, and its minimum, in thousandths of a request: a recheck, the
/// next page, what it found there and the file after that.
const AHEAD_PART: u128 = 12;
const AHEAD_MIN: u128 = 4_000;

/// State of a day's budget.
#[derive(Clone, Copy, Debug)]
struct Day {
    requests_max: u64,
    used: u64,
    /// What is reserved of it for the increment from its beginning, in thousandths of a request.
    kept_per_mille: u128,
    /// Its length from its beginning.
    lasts: Duration,
}

impl Day {
    /// The reserve of a day whose increment would use `wanted` requests in all of it; no more than is possible with the time
    /// left, and no less than before: what history has used cannot be given back, and what is not needed after all becomes
    /// history's as the day goes on.
    fn kept_for(&self, wanted: u64, left: Duration) -> u128 {
        let share = wanted.saturating_mul(1_000) / self.requests_max.max(1);
        let kept = u128::from(self.requests_max) * u128::from(share.clamp(*KEPT.start(), *KEPT.end()));
        let room = u128::from(self.requests_max.saturating_sub(self.used)) * 1_000 * self.lasts.as_millis();
        let possible = room.checked_div(left.as_millis()).unwrap_or(kept);
        self.kept_per_mille.max(kept.min(possible))
    }

    /// None if history may go on with this much of the day left; else how much is left of it when it may.
    fn history_waits(&self, left: Duration) -> Option<Duration> {
        self.waits(left, self.kept_per_mille)
    }

    /// The same for the increment, which may be ahead of time, by less and less as the day ends.
    fn increment_waits(&self, left: Duration) -> Option<Duration> {
        let ahead = (self.kept_per_mille / AHEAD_PART).max(AHEAD_MIN);
        self.waits(left, self.kept_per_mille.saturating_sub(ahead))
    }

    /// The same for a crew that leaves this much of a whole day to the rest of it. Its own requests take nothing of that; the last one
    /// comes before the day is over.
    fn waits(&self, left: Duration, kept_per_mille: u128) -> Option<Duration> {
        let room = self.requests_max.saturating_sub(self.used);
        let spare = (u128::from(room) * 1_000).saturating_sub(500) * self.lasts.as_millis();
        if room > 0 && spare >= kept_per_mille * left.min(self.lasts).as_millis() {
            return None;
        }
        let until_ms = spare / kept_per_mille.max(1);
        Some(Duration::from_millis(u64::try_from(until_ms).unwrap_or(u64::MAX)).min(left))
    }
}

/// Until when each crew leaves the rest of the day's budget alone, and why; None if it need not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SharesHeld {
    pub history: Option<(UnixMillis, Why)>,
    pub increment: Option<(UnixMillis, Why)>,
}

impl SharesHeld {
    pub fn held(&self) -> PausedCrews {
        PausedCrews { history: self.history.is_some(), increment: self.increment.is_some() }
    }
}

/// What the increment would use of a day's budget.
#[derive(Clone, Copy, Debug)]
pub(super) struct Demand {
    /// Requests in a whole day.
    pub a_day: u64,
    /// True once a round has measured it.
    pub is_measured: bool,
}

impl Demand {
    /// True if that exceeds the maximum reserve.
    pub fn exceeds(self, requests_per_day: u64) -> bool {
        u128::from(self.a_day) > u128::from(requests_per_day) * u128::from(*KEPT.end()) / 1_000
    }
}

/// What a site's loop has spent of the budgets of its rules and of the run: requests of the round, of the day, of the run, and its time.
pub(super) struct Budgets {
    site: Arc<Site>,
    options: RunOptions,
    /// Requests of the whole run so far.
    run_pages: Arc<AtomicU64>,
    started: UnixMillis,
    /// Requests to this site since the round began.
    round_pages: u64,
    /// A crawl is one round; the service begins a new one at each revisit interval.
    round_began: UnixMillis,
    /// The day that `day_pages` counts, by the site's own clock.
    day: u64,
    /// Requests to this site on that day, including those of earlier runs; counted if the rules have a budget for it.
    day_pages: u64,
    /// Length of the day from its first request on, without quiet hours.
    day_lasts: Duration,
    /// The part of that budget that is reserved for the increment: of the day from then on, in thousandths of a request.
    kept_of_day: u128,
    /// What these leave to the scripts of pages in progress.
    for_scripts: Arc<errands::Budget>,
}

impl Budgets {
    pub(super) fn new(site: &Arc<Site>, options: &RunOptions, run_pages: &Arc<AtomicU64>, now: UnixMillis) -> Self {
        Self {
            site: Arc::clone(site),
            options: options.clone(),
            run_pages: Arc::clone(run_pages),
            started: now,
            round_pages: 0,
            round_began: now,
            day: 0,
            day_pages: 0,
            day_lasts: Duration::ZERO,
            kept_of_day: 0,
            for_scripts: Arc::default(),
        }
    }

    /// Moves all times after the clock was set by this many milliseconds.
    pub(super) fn shift(&mut self, set_by_ms: i64) {
        for at in [&mut self.started, &mut self.round_began] {
            *at = shifted(*at, set_by_ms);
        }
    }

    /// True if the counted day is over. `latest` is no earlier than the time by which plans were made, so that a clock's step
    /// back over a midnight begins no new day.
    pub(super) fn day_is_over(&self, latest: UnixMillis) -> bool {
        self.site.rules.quota.requests_per_day.is_some() && self.site.rules.hours.day(latest) != self.day
    }

    /// Restores the count of the site's day: requests since it began, in whatever process.
    pub(super) async fn begin_day(&mut self, now: UnixMillis, latest: UnixMillis) -> Result<(), CrawlError> {
        if self.site.rules.quota.requests_per_day.is_none() {
            return Ok(());
        }
        self.kept_of_day = 0;
        let name = &self.site.rules.name;
        let pages = self.site.db.site_counts(name).await?.pages();
        self.day = self.site.rules.hours.day(latest);
        let last = self.site.db.note(name, DAY_NOTE).await?.and_then(|note| DayNote::read(&note));
        let note = match last {
            Some(note) if note.day == self.day => note,
            last => {
                let note = DayNote::begin(last, self.day, pages, self.site.rules.hours.open_left(now));
                self.site.db.put_note(name, DAY_NOTE, note.to_bytes()).await?;
                note
            }
        };
        self.day_pages = note.requests_of(self.day, pages).unwrap_or(0);
        self.day_lasts = Duration::from_millis(note.lasts_ms);
        Ok(())
    }

    /// Counts a visit that begins, which costs a request.
    pub(super) fn visit_begins(&mut self) {
        self.run_pages.fetch_add(1, Ordering::Relaxed);
        self.round_pages += 1;
        self.day_pages += 1;
        self.leave_to_scripts();
    }

    /// Counts requests of a login, a proof or a page's scripts, which no visit reports; also adds them to the day's for later
    /// processes.
    pub(super) async fn count(&mut self, requests: u64) -> Result<(), CrawlError> {
        self.round_pages += requests;
        self.day_pages += requests;
        if self.site.rules.quota.requests_per_day.is_none() || requests == 0 {
            return Ok(());
        }
        let name = &self.site.rules.name;
        let kept = self.site.db.note(name, DAY_NOTE).await?.and_then(|note| DayNote::read(&note));
        // `begin_day` has stored it.
        let Some(note) = kept else { return Ok(()) };
        let note = DayNote { no_visits: note.no_visits.saturating_add(requests), ..note };
        Ok(self.site.db.put_note(name, DAY_NOTE, note.to_bytes()).await?)
    }

    /// Counts the requests of a page's scripts.
    pub(super) async fn count_of_scripts(&mut self, requests: u64) -> Result<(), CrawlError> {
        self.count(requests).await?;
        self.for_scripts.booked(requests);
        self.leave_to_scripts();
        Ok(())
    }

    /// Lets scripts in progress spend what is left now.
    pub(super) fn leave_to_scripts(&self) {
        self.for_scripts.leaves(self.requests_left());
    }

    /// Requests that the site's own budgets leave, without those of scripts in progress.
    pub(super) fn requests_left(&self) -> u64 {
        let left = |max: Option<u64>, used: u64| max.map_or(u64::MAX, |max| max.saturating_sub(used));
        left(self.site.rules.quota.requests_per_day, self.day_pages)
            .min(left(self.site.rules.quota.pages_max, self.round_pages))
    }

    /// Requests of the day and how many the rules allow; None if they allow any number.
    pub(super) fn day_used(&self) -> Option<DayUsed> {
        let limit = self.site.rules.quota.requests_per_day?;
        Some(DayUsed { used: self.day_pages.saturating_add(self.for_scripts.unbooked()), limit })
    }

    /// The limits for the requests of a page's scripts.
    pub(super) fn bounds_of_scripts(&self, stop: watch::Receiver<bool>) -> errands::Bounds {
        errands::Bounds {
            pages: Arc::clone(&self.run_pages),
            pages_max: self.options.pages_max,
            budget: Arc::clone(&self.for_scripts),
            stop,
            end: self.ends_at(),
        }
    }

    /// When the run's time is over.
    pub(super) fn ends_at(&self) -> Option<UnixMillis> {
        self.options.time_max.map(|max| self.started.plus(max))
    }

    pub(super) fn time_is_over(&self, now: UnixMillis) -> bool {
        self.options.time_max.is_some_and(|max| now.since(self.started) >= max)
    }

    /// The budget that ends the crawl, if one does. Those of the rules never end the service: it waits for the next round or day.
    pub(super) fn used_up(&mut self, now: UnixMillis) -> Option<String> {
        if let Some(max) = self.options.time_max.filter(|_| self.time_is_over(now)) {
            return Some(format!("--max-time of {} s", max.as_secs()));
        }
        let pages = self.run_pages.load(Ordering::Relaxed);
        if let Some(max) = self.options.pages_max.filter(|max| pages >= *max) {
            return Some(format!("--max-pages of {max}"));
        }
        if self.options.keep_looking {
            if now >= self.round_ends() {
                self.round_began = now;
                self.round_pages = 0;
            }
            return None;
        }
        let unbooked = self.for_scripts.unbooked();
        let max = self.site.rules.quota.pages_max.filter(|max| self.round_pages + unbooked >= *max);
        let per_day = self.site.rules.quota.requests_per_day.filter(|max| self.day_pages + unbooked >= *max);
        max.map(|max| format!("pages_max of {max} in the site's rule file"))
            .or(per_day.map(|max| format!("requests_per_day of {max} in the site's rule file")))
    }

    fn round_ends(&self) -> UnixMillis {
        self.round_began.plus(self.site.rules.revisit)
    }

    /// Until when the site's rules, or the run's budget, allow no request, and why; None if they do.
    pub(super) fn held_until(&self, now: UnixMillis) -> Option<(UnixMillis, Why)> {
        let rules = &self.site.rules;
        if let Some(until) = rules.hours.quiet_until(now) {
            return Some((until, Why::QuietHours));
        }
        let unbooked = self.for_scripts.unbooked();
        if rules.quota.requests_per_day.is_some_and(|max| self.day_pages + unbooked >= max) {
            return Some((rules.hours.next_day(now), Why::DayBudget));
        }
        let is_used_up = |max: Option<u64>, pages: u64| max.is_some_and(|max| pages >= max);
        let run = is_used_up(self.options.pages_max, self.run_pages.load(Ordering::Relaxed));
        (run || is_used_up(rules.quota.pages_max, self.round_pages + unbooked))
            .then(|| (self.round_ends(), Why::RoundBudget))
    }

    /// Until when the increment has to wait: for the rules' hours and budgets, or for its share of the day.
    pub(super) fn increment_waits(&self, demand: Option<Demand>, now: UnixMillis) -> Option<(UnixMillis, Why)> {
        self.held_until(now).or_else(|| self.shares_held(demand, now).increment)
    }

    /// The current state of the day's budget, how much of the day is left, and what the increment would use in a whole day; None for one
    /// crew, and if the rules have no such budget.
    fn budget_of_day(&self, demand: Option<Demand>, now: UnixMillis) -> Option<(Day, Duration, u64)> {
        let hours = &self.site.rules.hours;
        let requests_max = self.site.rules.quota.requests_per_day?;
        let Demand { a_day, is_measured } = demand?;
        let used = self.day_pages.saturating_add(self.for_scripts.unbooked());
        let whole = hours.open_of_day(now);
        let lasts = self.day_lasts.min(whole);
        let wanted = u128::from(a_day) * lasts.as_millis() / whole.as_millis().max(1);
        let wanted = u64::try_from(wanted).unwrap_or(u64::MAX);
        // Before the first measured round the site's rate is unknown: a reserve that is too large becomes history's as the day goes on.
        let wanted = if is_measured { wanted } else { wanted.max(requests_max) };
        let day = Day { requests_max, used, kept_per_mille: self.kept_of_day, lasts };
        Some((day, hours.open_left(now).min(lasts), wanted))
    }

    /// Recomputes the reserve of the day's budget for the increment.
    pub(super) fn reckon_share(&mut self, demand: Option<Demand>, now: UnixMillis) {
        if let Some((day, left, wanted)) = self.budget_of_day(demand, now) {
            self.kept_of_day = day.kept_for(wanted, left);
        }
    }

    /// Which crews wait for their share of the day's budget.
    pub(super) fn shares_held(&self, demand: Option<Demand>, now: UnixMillis) -> SharesHeld {
        let Some((day, left, _)) = self.budget_of_day(demand, now) else { return SharesHeld::default() };
        // No check is repeated within one moment.
        let soon = now.plus(Duration::from_secs(1));
        let until = |left: Duration| self.site.rules.hours.when_open_left(now, left).max(soon);
        SharesHeld {
            history: day.history_waits(left).map(|left| (until(left), Why::DayShare)),
            increment: day.increment_waits(left).map(|left| (until(left), Why::DayPace)),
        }
    }
}

#[cfg(test)]
mod tests;

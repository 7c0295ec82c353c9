//! What a site's loop keeps over restarts beside its visits: the day's requests, the worth of URLs, the time under crawl.

use std::time::Duration;

use super::SiteLoop;
use crate::CrawlError;
use crate::limits;
use crate::scripts::books::SHORTCUTS_NOTE;
use crate::scripts::rendered::{RENDERED_NOTE, Rendered};
use crate::worth::Worth;
use gleaner_base::clock::UnixMillis;

/// The note that keeps the day, the visits before it, and the day's requests that are no visits, for `requests_per_day`; and the day that
/// was counted before.
pub const DAY_NOTE: &str = "day";

/// Reads the note of [`DAY_NOTE`]: requests of this day, at a site of so many visits in all; None where it knows of none.
#[must_use]
pub fn requests_of_day(note: &[u8], day: u64, pages: u64) -> Option<u64> {
    DayNote::read(note)?.requests_of(day, pages)
}

/// The count of a day's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DayNote {
    day: u64,
    /// Visits before it.
    before: u64,
    /// Requests since it began that no visit tells of: those of logins and proofs.
    no_visits: u64,
    /// How much of it was left when its count began, quiet hours apart, in milliseconds.
    lasts_ms: u64,
    /// The day that was counted before it, which may be a later one, and its requests.
    other: (u64, u64),
}

impl DayNote {
    /// Versions before this one knew no other day and not how long one lasts, and the first no third number.
    fn read(note: &[u8]) -> Option<Self> {
        let numbers: Vec<u64> = serde_json::from_slice(note).ok()?;
        let number = |at: usize| numbers.get(at).copied();
        Some(Self {
            day: number(0)?,
            before: number(1)?,
            no_visits: number(2).unwrap_or(0),
            lasts_ms: number(3).unwrap_or(u64::MAX),
            other: (number(4).unwrap_or(0), number(5).unwrap_or(0)),
        })
    }

    fn to_bytes(self) -> Vec<u8> {
        let Self { day, before, no_visits, lasts_ms, other } = self;
        serde_json::to_vec(&[day, before, no_visits, lasts_ms, other.0, other.1]).unwrap_or_default()
    }

    fn requests_of(&self, day: u64, pages: u64) -> Option<u64> {
        if day == self.day {
            return Some(pages.saturating_sub(self.before).saturating_add(self.no_visits));
        }
        (day == self.other.0 && self.other.1 > 0).then_some(self.other.1)
    }

    /// The count goes over to another day. One that a clock goes back to is counted on.
    fn begin(last: Option<Self>, day: u64, pages: u64, lasts: Duration) -> Self {
        let requests = last.and_then(|last| last.requests_of(day, pages)).unwrap_or(0);
        let other = last.map_or((0, 0), |last| (last.day, last.requests_of(last.day, pages).unwrap_or(0)));
        let lasts_ms = match requests {
            0 => u64::try_from(lasts.as_millis()).unwrap_or(u64::MAX),
            _ => u64::MAX,
        };
        Self { day, before: pages, no_visits: requests, lasts_ms, other }
    }
}

/// The note that keeps the time that plans were last made by: a clock that was set back between two runs shows by it.
const CLOCK_NOTE: &str = "clock";

/// The note that keeps which rules the site was last crawled by.
const RULES_NOTE: &str = "rules";

impl SiteLoop {
    /// Learns whether the rules are others than those of the last crawl, and by which time it made its plans; and writes
    /// both down anew, in one commit: a process may begin two hundred sites at once.
    pub(super) async fn meet_rules(&mut self) -> Result<(), CrawlError> {
        let (name, token) = (&self.site.rules.name, self.site.rules_token.to_be_bytes());
        let rules = self.site.db.note(name, RULES_NOTE).await?;
        self.has_other_rules = rules.as_deref().is_some_and(|rules| rules != token);
        let clock = self.site.db.note(name, CLOCK_NOTE).await?;
        let last = clock.and_then(|note| serde_json::from_slice::<UnixMillis>(&note).ok()).unwrap_or_default();
        self.latest = last.max(self.site.clock.now());
        let notes = vec![(RULES_NOTE.to_owned(), token.to_vec()), (CLOCK_NOTE.to_owned(), self.clock_note())];
        Ok(self.site.db.put_notes(&self.site.rules.name, notes).await?)
    }

    /// Takes up the accounts of earlier runs.
    pub(super) async fn take_up_worth(&mut self) -> Result<(), CrawlError> {
        let rules = &self.site.rules;
        let (taken_up, fault) = Worth::take_up(self.site.db.as_ref(), rules).await?;
        if let Some(fault) = fault {
            tracing::warn!(site = %rules.name, fault, "the budgets of URL shapes begin anew");
        }
        *self.site.worth() = taken_up;
        let note = self.site.db.note(&rules.name, SHORTCUTS_NOTE).await?;
        self.site.scripts.shortcuts.take_up(rules, note.as_deref());
        Ok(())
    }

    /// Takes up what rendering has brought in earlier runs.
    pub(super) async fn take_up_rendered(&mut self) -> Result<(), CrawlError> {
        let mut rendered = Rendered::take_up(self.site.db.as_ref(), &self.site.rules.name).await?;
        rendered.begin();
        let again = rendered.take_again();
        *self.site.scripts.rendered() = rendered;
        self.queue_again(again, self.site.clock.now()).await?;
        Ok(())
    }

    /// Writes down what the site's URLs are worth, what rendering has brought and how late torrents came, in one commit.
    pub(super) async fn keep_worth(&mut self) -> Result<(), CrawlError> {
        let now = self.site.clock.now();
        self.worth_kept = now;
        let mut notes = self.site.worth().notes();
        notes.extend(self.site.scripts.shortcuts.note(&self.site.rules).map(|note| (SHORTCUTS_NOTE, note)));
        // Whatever rendering brings, a visit brings, of which the worth has heard.
        if !notes.is_empty() {
            let rendered = self.site.scripts.rendered().note().map(|note| (RENDERED_NOTE, note));
            let notes = notes.into_iter().chain([(CLOCK_NOTE, self.clock_note())]).chain(rendered);
            let notes = notes.map(|(name, note)| (name.to_owned(), note));
            let notes = notes.chain(self.site.fresh.arrivals.short_notes()).collect();
            self.site.db.put_notes(&self.site.rules.name, notes).await?;
        }
        Ok(())
    }

    /// Plans that were made by a clock which has been set back since, in this run or before it, lie as far away as it was
    /// ahead: they are all due now.
    pub(super) async fn forget_plans_of_the_future(&mut self, now: UnixMillis) -> Result<(), CrawlError> {
        if self.latest.since(now) < limits::CLOCK_SET_BACK_MIN {
            self.latest = self.latest.max(now);
            return Ok(());
        }
        let (site, ahead_s) = (&self.site.rules.name, self.latest.since(now).as_secs());
        tracing::warn!(%site, ahead_s, "the clock was set back: what was planned by it is due at once");
        for host in &mut self.hosts {
            self.site.db.bring_forward(host.id).await?;
            host.lease_at = Some(now);
        }
        self.site.fresh.timetable.set_back(self.latest.since(now), now);
        self.look_soon();
        self.latest = now;
        self.keep_clock().await
    }

    /// Writes down the time that plans are made by; also makes what was brought forward survive a crash.
    async fn keep_clock(&mut self) -> Result<(), CrawlError> {
        Ok(self.site.db.put_note(&self.site.rules.name, CLOCK_NOTE, self.clock_note()).await?)
    }

    fn clock_note(&self) -> Vec<u8> {
        serde_json::to_vec(&self.latest).unwrap_or_default()
    }

    /// Takes up the count of the site's day: requests since it began, in whatever process.
    pub(super) async fn begin_day(&mut self, now: UnixMillis) -> Result<(), CrawlError> {
        if self.site.rules.requests_per_day.is_none() {
            return Ok(());
        }
        self.kept_of_day = 0;
        let name = &self.site.rules.name;
        let pages = self.site.db.site_counts(name).await?.pages();
        self.day = self.day_of_budget(now);
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

    /// The day whose budget is used: no earlier one while plans were made by a later time, so that a clock's step back over a midnight
    /// begins none anew.
    pub(super) fn day_of_budget(&self, now: UnixMillis) -> u64 {
        self.site.rules.hours.day(now.max(self.latest))
    }

    /// Counts requests of a login or a proof, which no visit tells of, among those of the day; also for the processes to
    /// come.
    pub(super) async fn count_of_day(&mut self, requests: u64) -> Result<(), CrawlError> {
        self.day_pages += requests;
        if self.site.rules.requests_per_day.is_none() || requests == 0 {
            return Ok(());
        }
        let name = &self.site.rules.name;
        let kept = self.site.db.note(name, DAY_NOTE).await?.and_then(|note| DayNote::read(&note));
        // `begin_day` has written it.
        let Some(note) = kept else { return Ok(()) };
        let note = DayNote { no_visits: note.no_visits.saturating_add(requests), ..note };
        Ok(self.site.db.put_note(name, DAY_NOTE, note.to_bytes()).await?)
    }

    /// Adds the time since it was last added to the site's time under crawl, once it is `at_least` this long.
    pub(super) async fn keep_time(&mut self, at_least: Duration) -> Result<(), CrawlError> {
        let now = self.site.clock.now();
        let elapsed = now.since(self.time_kept);
        if elapsed >= at_least && !elapsed.is_zero() {
            self.time_kept = now;
            let crawl_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
            self.site.db.add_crawl_time(&self.site.rules.name, crawl_ms).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    #[test]
    fn a_clock_that_goes_to_and_fro_over_a_midnight_begins_no_day_anew() {
        let begin = |last: DayNote, day, pages| DayNote::begin(DayNote::read(&last.to_bytes()), day, pages, DAY);
        let today = DayNote::begin(None, 100, 40, DAY);
        assert_eq!((today.requests_of(100, 100), today.requests_of(99, 100)), (Some(60), None));
        let mut note = begin(today, 99, 100);
        assert_eq!(note.requests_of(99, 100), Some(0), "of that day nothing is known");
        for day in [100, 99, 100] {
            note = begin(note, day, 130);
            let told = [99, 100].map(|day| note.requests_of(day, 130));
            assert_eq!(told, [Some(30), Some(60)], "on day {day}");
        }
        let next = begin(note, 101, 130);
        assert_eq!((next.requests_of(101, 130), next.requests_of(100, 130)), (Some(0), Some(60)));
    }

    #[test]
    fn notes_of_before_tell_their_day_alone() {
        let lasts = |note: &[u8]| DayNote::read(note).map(|note| note.lasts_ms);
        assert_eq!(requests_of_day(b"[7,100]", 7, 130), Some(30));
        assert_eq!(requests_of_day(b"[7,100,2]", 7, 130), Some(32));
        assert_eq!((requests_of_day(b"[7,100,2]", 0, 130), lasts(b"[7,100,2]")), (None, Some(u64::MAX)));
        assert_eq!((requests_of_day(b"[7]", 7, 130), requests_of_day(b"x", 7, 130)), (None, None));
    }
}

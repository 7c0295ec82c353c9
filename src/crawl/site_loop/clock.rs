//! The time by which a site's plans are made, and what its last crawl has left: its rules, its schedule.

use std::time::Duration;

use crate::fresh::timetable::SCHEDULE_NOTE;
use crate::job::Found;
use crate::site::Site;
use crate::{CrawlError, limits};
use gleaner_base::clock::UnixMillis;
use gleaner_store::crawldb::{CATEGORIES_NOTE, Outcome};

/// Name of the note that stores the time by which plans were last made: it reveals a clock that was set back between two runs.
pub(super) const CLOCK_NOTE: &str = "clock";

/// Name of the note that stores the rules by which the site was last crawled.
const RULES_NOTE: &str = "rules";

/// The time by which plans are made.
pub(super) struct PlanClock {
    /// The latest one, including earlier runs.
    latest: UnixMillis,
    /// Milliseconds by which the clock was set, as far as the loop has followed it.
    set_by_ms: i64,
}

impl PlanClock {
    /// Milliseconds by which the clock was set since the last call.
    pub(super) fn follow(&mut self, set_by_ms: i64) -> i64 {
        set_by_ms.saturating_sub(std::mem::replace(&mut self.set_by_ms, set_by_ms))
    }

    /// Advances to now; if the clock was set back since plans were made, returns by how much.
    pub(super) fn go_on(&mut self, now: UnixMillis) -> Option<Duration> {
        let ahead = Some(self.latest.since(now)).filter(|ahead| *ahead >= limits::CLOCK_SET_BACK_MIN);
        self.latest = if ahead.is_some() { now } else { self.latest.max(now) };
        ahead
    }

    /// Now, or the later time by which plans were made.
    pub(super) fn no_earlier(&self, now: UnixMillis) -> UnixMillis {
        now.max(self.latest)
    }

    pub(super) fn note(&self) -> Vec<u8> {
        serde_json::to_vec(&self.latest).unwrap_or_default()
    }

    /// Stores the time by which plans are made; this commit also makes rows that were brought forward survive a crash.
    pub(super) async fn keep(&self, site: &Site) -> Result<(), CrawlError> {
        Ok(site.db.put_note(&site.rules.name, CLOCK_NOTE, self.note()).await?)
    }
}

/// What the last crawl of a site has left.
pub(super) struct LastCrawl {
    /// True if it had other rules than this one.
    pub(super) has_other_rules: bool,
    /// True if no earlier run has left its schedule: there was none, or it was killed at once.
    pub(super) lacks_schedule: bool,
}

impl LastCrawl {
    /// Determines whether the rules differ from those of the last crawl, and by which time it made its plans; and stores
    /// both again, in one commit: a process may begin two hundred sites at once.
    pub(super) async fn meet(site: &Site, set_by_ms: i64) -> Result<(Self, PlanClock), CrawlError> {
        let (name, token) = (&site.rules.name, site.rules_token.to_be_bytes());
        let rules = site.db.note(name, RULES_NOTE).await?;
        let has_other_rules = rules.as_deref().is_some_and(|rules| rules != token);
        let clock = site.db.note(name, CLOCK_NOTE).await?;
        let last = clock.and_then(|note| serde_json::from_slice::<UnixMillis>(&note).ok()).unwrap_or_default();
        let clock = PlanClock { latest: last.max(site.clock.now()), set_by_ms };
        let notes = vec![
            (RULES_NOTE.to_owned(), token.to_vec()),
            (CLOCK_NOTE.to_owned(), clock.note()),
            (CATEGORIES_NOTE.to_owned(), site.rules.categories().note()),
        ];
        site.db.put_notes(name, notes).await?;
        let lacks_schedule = site.db.note(name, SCHEDULE_NOTE).await?.is_none();
        Ok((Self { has_other_rules, lacks_schedule }, clock))
    }

    /// Makes what the service watches (start URLs and sitemaps) due again, if the last visit is older than the
    /// site's revisit interval.
    pub(super) async fn look_at(
        &self,
        site: &Site,
        keep_looking: bool,
        found: Vec<Found>,
        depth: u16,
    ) -> Result<(), CrawlError> {
        let now = site.clock.now();
        let mut rows = Vec::new();
        for Found { url, class, .. } in found {
            let Some(mut row) = site.rows.row(&url, class, depth).await? else { continue };
            if depth == 0 {
                row.rank = 0;
            }
            let seen = site.db.url_record(&row.key).await?;
            let looked_at = seen.filter(|record| record.outcome.is_some_and(Outcome::was_answered));
            // A visit that a wrong clock has dated into the future is no reason to wait for that time.
            // What was read by other rules is read again: these may accept links that those did not.
            let looked_at = looked_at.filter(|_| !self.has_other_rules);
            row.due = looked_at.map_or(UnixMillis(0), |record| record.visited.min(now).plus(site.rules.revisit));
            if keep_looking || row.due <= now {
                rows.push(row);
            }
        }
        Ok(site.db.make_due(rows, now).await?)
    }
}

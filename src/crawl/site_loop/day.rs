//! Counting a day's requests over restarts, for `requests_per_day`.

use std::time::Duration;

/// Name of the note that stores the day, the visits before it, and the day's requests that are no visits, for `requests_per_day`; and the
/// previously counted day.
pub const DAY_NOTE: &str = "day";

/// Reads the note of [`DAY_NOTE`]: requests of this day, at a site with this many visits in all; None if it does not contain the day.
#[must_use]
pub fn requests_of_day(note: &[u8], day: u64, pages: u64) -> Option<u64> {
    DayNote::read(note)?.requests_of(day, pages)
}

/// The count of a day's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DayNote {
    pub(super) day: u64,
    /// Visits before it.
    pub(super) before: u64,
    /// Requests since it began that no visit reports: those of logins and proofs.
    pub(super) no_visits: u64,
    /// How much of it was left when its count began, without quiet hours, in milliseconds.
    pub(super) lasts_ms: u64,
    /// The previously counted day, which may be a later one, and its requests.
    pub(super) other: (u64, u64),
}

impl DayNote {
    /// Earlier versions had neither the other day nor the length of one, and the first had no third number.
    pub(super) fn read(note: &[u8]) -> Option<Self> {
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

    pub(super) fn to_bytes(self) -> Vec<u8> {
        let Self { day, before, no_visits, lasts_ms, other } = self;
        serde_json::to_vec(&[day, before, no_visits, lasts_ms, other.0, other.1]).unwrap_or_default()
    }

    pub(super) fn requests_of(&self, day: u64, pages: u64) -> Option<u64> {
        if day == self.day {
            return Some(pages.saturating_sub(self.before).saturating_add(self.no_visits));
        }
        (day == self.other.0 && self.other.1 > 0).then_some(self.other.1)
    }

    /// Switches the count to another day. If a clock goes back to a counted day, its count continues.
    pub(super) fn begin(last: Option<Self>, day: u64, pages: u64, lasts: Duration) -> Self {
        let requests = last.and_then(|last| last.requests_of(day, pages)).unwrap_or(0);
        let other = last.map_or((0, 0), |last| (last.day, last.requests_of(last.day, pages).unwrap_or(0)));
        let lasts_ms = match requests {
            0 => u64::try_from(lasts.as_millis()).unwrap_or(u64::MAX),
            _ => u64::MAX,
        };
        Self { day, before: pages, no_visits: requests, lasts_ms, other }
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

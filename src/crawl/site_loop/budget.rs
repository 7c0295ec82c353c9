//! A day's budget between the two crews: what of it history leaves to looks and to what they find.
//!
//! History takes whatever it may, and a site of `requests_per_day` would have no look between the moment at which history has used up the
//! day and midnight. So a part of what is left of the day is kept for the increment; as the day goes on that part shrinks, and history
//! takes what nobody wanted.

use std::time::Duration;

use super::SiteLoop;
use crate::clock::UnixMillis;
use crate::crawl::host_work::Why;

const DAY: Duration = Duration::from_secs(86_400);

/// Shares of a day's requests that are kept at least and at most, in per mille: where next to nothing was measured, and where the increment
/// wants more than there is.
const KEPT: std::ops::RangeInclusive<u64> = 100..=500;

/// A day's budget as it stands.
#[derive(Clone, Copy, Debug)]
struct Day {
    requests_max: u64,
    used: u64,
    /// What the increment would take in a whole day, as measured.
    wanted: u64,
}

impl Day {
    /// What is kept of a whole day for the increment, in thousandths of a request.
    fn kept_per_mille(&self) -> u128 {
        let share = self.wanted.saturating_mul(1_000) / self.requests_max.max(1);
        u128::from(self.requests_max) * u128::from(share.clamp(*KEPT.start(), *KEPT.end()))
    }

    /// None where history may go on while so much of the day is left; else how much is left of it when it may. A request of its own
    /// takes nothing of what is kept.
    fn history_waits(&self, left: Duration) -> Option<Duration> {
        let room = self.requests_max.saturating_sub(self.used);
        let spare = u128::from(room.saturating_sub(1)) * 1_000 * DAY.as_millis();
        if room > 0 && spare >= self.kept_per_mille() * left.min(DAY).as_millis() {
            return None;
        }
        let until_ms = spare / self.kept_per_mille().max(1);
        Some(Duration::from_millis(u64::try_from(until_ms).unwrap_or(u64::MAX)).min(left))
    }
}

impl SiteLoop {
    /// Until when history leaves what is left of the day's budget to the increment, and why; None where it need not.
    pub(super) fn history_held_until(&self, now: UnixMillis) -> Option<(UnixMillis, Why)> {
        let (requests_max, wanted) = self.site.rules.requests_per_day.zip(self.crews.wanted_a_day())?;
        let used = self.day_pages.saturating_add(self.errands_budget.unbooked());
        let next_day = self.site.rules.hours.next_day(now);
        let left = Day { requests_max, used, wanted }.history_waits(next_day.since(now))?;
        let until = UnixMillis(next_day.0.saturating_sub(u64::try_from(left.as_millis()).unwrap_or(u64::MAX)));
        // Nothing is asked for twice within one moment.
        Some((until.max(now.plus(Duration::from_secs(1))), Why::DayShare))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    #[test]
    fn a_tenth_is_kept_at_least_and_half_at_most_of_what_is_left_of_the_day() {
        for (wanted, history) in [(0, 900), (50, 900), (300, 700), (9_000, 500)] {
            let day = |used| Day { requests_max: 1_000, used, wanted };
            assert_eq!(day(history - 1).history_waits(DAY), None, "{wanted}");
            assert!(day(history).history_waits(DAY).is_some_and(|left| left < DAY), "{wanted}");
            let later = 1_000 - (1_000 - history) / 2;
            assert_eq!(day(later - 1).history_waits(DAY / 2), None, "{wanted}: half of it in half a day");
        }
    }

    #[test]
    fn history_goes_on_at_the_time_that_is_told() {
        for used in 900..1_000 {
            let day = Day { requests_max: 1_000, used, wanted: 0 };
            let Some(left) = day.history_waits(DAY) else { panic!("{used}") };
            assert_eq!(day.history_waits(left), None, "{used} at {left:?}");
            let before = left + Duration::from_secs(1);
            assert!(day.history_waits(before).is_some(), "{used} at {before:?}");
        }
        for (requests_max, used, wanted) in [(0, 0, 0), (9, u64::MAX, u64::MAX), (9, 9, 0)] {
            assert_eq!(Day { requests_max, used, wanted }.history_waits(HOUR), Some(Duration::ZERO));
        }
    }
}

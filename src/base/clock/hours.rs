//! The clock of a site: its quiet hours, and the days over which its budget counts. Plain arithmetic on minutes of
//! the day at a fixed offset from UTC. There are no time zones and no daylight saving, so that an offset in a rule
//! file means the same all year.

use std::time::Duration;

use super::UnixMillis;

const MINUTE_MS: u64 = 60_000;
const DAY_MINUTES: u16 = 24 * 60;
const DAY_MS: u64 = DAY_MINUTES as u64 * MINUTE_MS;

/// Hours of each day in which no request is sent, at a fixed offset from UTC.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hours {
    /// Minutes of the day, from (included) and until (excluded). A window that ends before it begins runs over
    /// midnight.
    pub quiet: Vec<(u16, u16)>,
    /// Minutes east of UTC, between −14 and 14 hours.
    pub offset_minutes: i16,
}

impl Hours {
    /// The end of the quiet hours that contain `now`; None if requests may be sent. Adjacent windows count as one. If
    /// the windows cover the whole day, returns `now` plus a day on each call.
    #[must_use]
    pub fn quiet_until(&self, now: UnixMillis) -> Option<UnixMillis> {
        let day_began = self.day_began(now);
        let from = u16::try_from((now.0 - day_began) / MINUTE_MS).unwrap_or(0);
        let mut minute = from;
        let mut waited: u16 = 0;
        while let Some(length) = self.quiet.iter().find_map(|window| left_of(*window, minute)) {
            waited = waited.saturating_add(length);
            minute = (minute + length) % DAY_MINUTES;
            if waited >= DAY_MINUTES {
                return Some(UnixMillis(now.0.saturating_add(DAY_MS)));
            }
        }
        (waited > 0).then(|| UnixMillis(day_began + u64::from(from + waited) * MINUTE_MS))
    }

    /// True if the windows cover the whole day.
    #[must_use]
    pub fn is_always_quiet(&self) -> bool {
        (0..DAY_MINUTES).all(|minute| self.quiet.iter().any(|window| left_of(*window, minute).is_some()))
    }

    /// The number of the day that contains `now`, counted from 1970-01-01 at the site's offset.
    #[must_use]
    pub fn day(&self, now: UnixMillis) -> u64 {
        self.local_ms(now) / DAY_MS
    }

    /// Start of the next day.
    #[must_use]
    pub fn next_day(&self, now: UnixMillis) -> UnixMillis {
        UnixMillis(self.day_began(now)).plus(Duration::from_millis(DAY_MS))
    }

    /// Time left outside of quiet hours in the day that contains `now`.
    #[must_use]
    pub fn open_left(&self, now: UnixMillis) -> Duration {
        let left = self.next_day(now).since(now);
        if self.quiet.is_empty() {
            return left;
        }
        self.open_spans(now).into_iter().map(|(began, ends)| Duration::from_millis(ends - began)).sum()
    }

    /// Time of the whole day outside of quiet hours.
    #[must_use]
    pub fn open_of_day(&self, now: UnixMillis) -> Duration {
        self.open_left(UnixMillis(self.day_began(now)))
    }

    /// The moment from which at most `left` of the day remains outside of quiet hours; `now` if that is already so.
    #[must_use]
    pub fn when_open_left(&self, now: UnixMillis, left: Duration) -> UnixMillis {
        let mut over = self.open_left(now).saturating_sub(left);
        if self.quiet.is_empty() || over.is_zero() {
            return now.plus(over);
        }
        for (began, ends) in self.open_spans(now) {
            let span = Duration::from_millis(ends - began);
            if over <= span {
                return UnixMillis(began).plus(over);
            }
            over -= span;
        }
        self.next_day(now)
    }

    /// The rest of the day from `now` on, outside of quiet hours: start and end of each span in milliseconds of UTC.
    fn open_spans(&self, now: UnixMillis) -> Vec<(u64, u64)> {
        let mut edges: Vec<u16> = self.quiet.iter().flat_map(|(from, until)| [*from, *until]).collect();
        edges.extend([0, DAY_MINUTES]);
        edges.sort_unstable();
        let is_open = |minute: u16| !self.quiet.iter().any(|window| left_of(*window, minute).is_some());
        let spans = edges.windows(2).filter(|span| is_open(span[0]));
        let at = |minute: u16| (self.day_began(now) + u64::from(minute) * MINUTE_MS).max(now.0);
        spans.map(|span| (at(span[0]), at(span[1]))).collect()
    }

    /// Milliseconds of the site's local clock; never below zero.
    fn local_ms(&self, now: UnixMillis) -> u64 {
        now.0.saturating_add_signed(i64::from(self.offset_minutes) * MINUTE_MS as i64)
    }

    /// Start of the site's day in milliseconds of UTC. A day that started before 1970 starts at 0.
    fn day_began(&self, now: UnixMillis) -> u64 {
        now.0.saturating_sub(self.local_ms(now) % DAY_MS)
    }
}

/// Minutes left of a window at this minute of the day; None outside of the window.
fn left_of((from, until): (u16, u16), minute: u16) -> Option<u16> {
    if from < until {
        (from..until).contains(&minute).then(|| until - minute)
    } else if minute >= from {
        Some(DAY_MINUTES - minute + until)
    } else {
        (minute < until).then(|| until - minute)
    }
}

/// Parses `22:30-06:00`; None for anything else. `24:00` is the end of the day.
#[must_use]
pub fn window(text: &str) -> Option<(u16, u16)> {
    let (from, until) = text.split_once('-')?;
    let (from, until) = (minute_of_day(from.trim())?, minute_of_day(until.trim())?);
    (from < DAY_MINUTES && from != until).then_some((from, until))
}

fn minute_of_day(text: &str) -> Option<u16> {
    let (hours, minutes) = text.split_once(':')?;
    let number = |text: &str| {
        let is_short = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        is_short.then(|| text.parse::<u16>().ok()).flatten()
    };
    let (hours, minutes) = (number(hours)?, number(minutes).filter(|_| minutes.len() == 2)?);
    let minute = hours * 60 + minutes;
    (minutes < 60 && minute <= DAY_MINUTES).then_some(minute)
}

/// Parses `+08:00`, `-03:30` or `Z` to minutes east of UTC. Accepts quarters of an hour only, as in all current time
/// zones.
#[must_use]
pub fn offset(text: &str) -> Option<i16> {
    if text.eq_ignore_ascii_case("z") || text.eq_ignore_ascii_case("utc") {
        return Some(0);
    }
    let (sign, rest) = match text.as_bytes().first()? {
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => return None,
    };
    let minutes = i16::try_from(minute_of_day(rest)?).ok()?;
    (minutes <= 14 * 60 && minutes % 15 == 0).then_some(sign * minutes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-21 at this time, UTC.
    fn at(hour: u64, minute: u64) -> UnixMillis {
        UnixMillis(20_778 * DAY_MS + (hour * 60 + minute) * MINUTE_MS)
    }

    fn hours(windows: &[&str], shift: &str) -> Hours {
        Hours {
            quiet: windows.iter().map(|text| window(text).unwrap()).collect(),
            offset_minutes: offset(shift).unwrap(),
        }
    }

    #[test]
    fn quiet_hours_end_when_their_window_does() {
        let day = hours(&["08:00-20:00"], "Z");
        assert_eq!(day.quiet_until(at(7, 59)), None);
        assert_eq!(day.quiet_until(at(8, 0)), Some(at(20, 0)));
        assert_eq!(day.quiet_until(UnixMillis(at(19, 59).0 + 59_999)), Some(at(20, 0)));
        assert_eq!(day.quiet_until(at(20, 0)), None);
    }

    #[test]
    fn a_window_may_run_over_midnight() {
        let night = hours(&["22:30-06:00"], "Z");
        assert_eq!(night.quiet_until(at(22, 29)), None);
        assert_eq!(night.quiet_until(at(23, 0)), Some(at(30, 0)));
        assert_eq!(night.quiet_until(at(5, 59)), Some(at(6, 0)));
        assert_eq!(night.quiet_until(at(6, 0)), None);
    }

    #[test]
    fn windows_that_touch_or_overlap_are_one() {
        let both = hours(&["08:00-12:00", "11:00-14:00", "14:00-15:00"], "Z");
        assert_eq!(both.quiet_until(at(9, 0)), Some(at(15, 0)));
        let over_midnight = hours(&["20:00-24:00", "00:00-04:00"], "Z");
        assert_eq!(over_midnight.quiet_until(at(21, 0)), Some(at(28, 0)));
    }

    #[test]
    fn a_day_without_an_hour_left_never_ends_and_asking_does() {
        let always = hours(&["00:00-12:00", "12:00-00:00"], "Z");
        assert_eq!(always.quiet_until(at(3, 0)), Some(at(27, 0)));
        assert!(always.is_always_quiet());
        assert!(!hours(&["00:00-12:00", "12:01-00:00"], "Z").is_always_quiet());
    }

    #[test]
    fn the_offset_moves_the_windows_and_the_days() {
        let east = hours(&["00:00-06:00"], "+08:00");
        assert_eq!(east.quiet_until(at(15, 59)), None);
        assert_eq!(east.quiet_until(at(16, 0)), Some(at(22, 0)));
        assert_eq!(east.day(at(16, 0)), east.day(at(15, 59)) + 1);
        assert_eq!(east.next_day(at(15, 0)), at(16, 0));
        let west = hours(&["22:00-23:00"], "-03:30");
        assert_eq!(west.quiet_until(at(1, 30)), Some(at(2, 30)));
    }

    #[test]
    fn what_is_left_of_a_day_leaves_out_its_quiet_hours() {
        let (none, some) = (hours(&[], "Z"), hours(&["22:00-06:00", "12:00-13:00"], "Z"));
        let minutes = |minutes: u64| Duration::from_secs(minutes * 60);
        assert_eq!((none.open_of_day(at(3, 0)), some.open_of_day(at(3, 0))), (minutes(24 * 60), minutes(15 * 60)));
        assert_eq!((none.open_left(at(23, 0)), some.open_left(at(23, 0))), (minutes(60), minutes(0)));
        assert_eq!(some.open_left(UnixMillis(at(11, 30).0 + 20_000)), minutes(9 * 60 + 30) - Duration::from_secs(20));
        for (left, then) in [(9 * 60 + 15, at(11, 45)), (9 * 60, at(12, 0)), (8 * 60, at(14, 0)), (0, at(22, 0))] {
            assert_eq!(some.when_open_left(at(11, 30), minutes(left)), then, "{left} minutes");
        }
        assert_eq!(none.when_open_left(at(11, 30), minutes(60)), at(23, 0));
        assert_eq!(some.when_open_left(at(21, 0), minutes(600)), at(21, 0));
    }

    #[test]
    fn what_is_no_window_or_offset_is_refused() {
        for text in
            ["", "8-20", "08:00", "08:00-08:00", "25:00-26:00", "24:00-06:00", "08:60-09:00", "a:b-c:d", "8:0-9:00"]
        {
            assert_eq!(window(text), None, "{text}");
        }
        assert_eq!(window("8:00 - 24:00"), Some((480, 1_440)));
        for text in ["", "+", "8", "+8", "+25:00", "+14:01", "+01:07", "é8:00", "+1:é"] {
            assert_eq!(offset(text), None, "{text}");
        }
        assert_eq!(offset("-03:30"), Some(-210));
    }
}

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
mod tests;

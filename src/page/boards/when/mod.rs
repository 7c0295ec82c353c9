//! Times as sites write them: `words` has the data, `read` parses a text, `settle` decides for a page what its
//! numbers mean and in which zone they are.

pub mod read;
pub mod settle;
mod tokens;
mod words;

pub(super) use words::is_unspaced;

pub use read::{Reading, TextReading, offset_told, read, read_attribute};
pub use settle::{Against, Conventions, Evidence, How, Order, Precision, Time, Zone, ZoneSource};

use crate::limits::TIME_TEXT_BYTES_MAX;

/// Seconds from 1970-01-01 to a day's midnight, both in one zone; `None` for invalid days.
#[must_use]
pub fn civil_seconds(year: i32, month: u8, day: u8) -> Option<i64> {
    let month = time::Month::try_from(month).ok()?;
    let date = time::Date::from_calendar_date(year, month, day).ok()?;
    Some((i64::from(date.to_julian_day()) - UNIX_JULIAN_DAY) * 86_400)
}

/// The Julian day of 1970-01-01.
const UNIX_JULIAN_DAY: i64 = 2_440_588;

/// Year, month and weekday (0 is Monday) of a local time in seconds since 1970-01-01.
fn civil(local: i64) -> Option<(i32, u8, i64)> {
    let days = local.div_euclid(86_400);
    let date = time::Date::from_julian_day(i32::try_from(days + UNIX_JULIAN_DAY).ok()?).ok()?;
    Some((date.year(), u8::from(date.month()), (days + 3).rem_euclid(7)))
}

/// The server's current time as shown on a page ("It is currently …"), as a day and a time of day.
#[must_use]
pub fn server_time_told(text: &str) -> Option<Reading> {
    let lower = text.to_lowercase();
    words::TIME_NOW.iter().find_map(|phrase| {
        let behind = &lower[lower.find(phrase)? + phrase.len()..];
        let mut end = behind.len().min(TIME_TEXT_BYTES_MAX / 4);
        while !behind.is_char_boundary(end) {
            end -= 1;
        }
        read(&behind[..end])
            .map(|found| found.reading)
            .filter(|reading| matches!(reading, Reading::Local { clock: Some(_), .. }))
    })
}

#[cfg(test)]
mod tests;

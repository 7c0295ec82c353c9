//! Dates and times in controls (HTML §2.3.5): converts texts to numbers and back. Pure.

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// The last year of JavaScript dates.
const LAST_YEAR: i64 = 275_760;

/// Days from 1970-01-01 to a day of the proleptic Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Year, month and day of a number of days.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted_month + 2) / 5 + 1)
}

/// Exactly `count` digits; more are allowed if `or_more`, for years.
fn digits(text: &str, count: usize, or_more: bool) -> Option<i64> {
    let fits = text.len() == count || (or_more && text.len() > count && text.len() <= 6);
    (fits && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

fn year(text: &str) -> Option<i64> {
    digits(text, 4, true).filter(|year| (1..=LAST_YEAR).contains(year))
}

fn month(text: &str) -> Option<(i64, i64)> {
    let (of_year, of_month) = text.rsplit_once('-')?;
    Some((year(of_year)?, digits(of_month, 2, false).filter(|month| (1..=12).contains(month))?))
}

fn date(text: &str) -> Option<i64> {
    let (of_month, day) = text.rsplit_once('-')?;
    let ((year, month), day) = (month(of_month)?, digits(day, 2, false)?);
    let count = days(year, month, day);
    (civil(count) == (year, month, day)).then_some(count)
}

/// The Monday of a week.
fn monday(year: i64, week: i64) -> i64 {
    let fourth = days(year, 1, 4);
    // 1970-01-01 was a Thursday.
    fourth - (fourth + 3).rem_euclid(7) + (week - 1) * 7
}

fn week(text: &str) -> Option<i64> {
    let (of_year, number) = text.split_once("-W")?;
    let (year, number) = (year(of_year)?, digits(number, 2, false)?);
    let weeks = (monday(year + 1, 1) - monday(year, 1)) / 7;
    (1..=weeks).contains(&number).then(|| monday(year, number))
}

/// Milliseconds since midnight.
fn time(text: &str) -> Option<i64> {
    let mut parts = text.split(':');
    let hours = digits(parts.next()?, 2, false).filter(|hours| *hours < 24)?;
    let minutes = digits(parts.next()?, 2, false).filter(|minutes| *minutes < 60)?;
    let seconds = match parts.next() {
        None => 0,
        Some(text) => {
            let (whole, part) = text.split_once('.').map_or((text, None), |(whole, part)| (whole, Some(part)));
            let whole = digits(whole, 2, false).filter(|seconds| *seconds < 60)?;
            let part = match part {
                None => 0,
                Some(part) if (1..=3).contains(&part.len()) => digits(&format!("{part:0<3}"), 3, false)?,
                Some(_) => return None,
            };
            whole * 1_000 + part
        }
    };
    parts.next().is_none().then_some((hours * 60 + minutes) * 60_000 + seconds)
}

/// The number of a control's text: milliseconds since 1970, or months since then for months. `None` for an invalid text, and for types
/// without numbers.
pub fn number(kind: &str, text: &str) -> Option<f64> {
    let value = match kind {
        "date" => date(text)? * DAY,
        "month" => month(text).map(|(year, month)| (year - 1_970) * 12 + month - 1)?,
        "week" => week(text)? * DAY,
        "time" => time(text)?,
        "datetime-local" => {
            let (of_date, of_time) = text.split_once(['T', ' '])?;
            date(of_date)? * DAY + time(of_time)?
        }
        _ => return None,
    };
    Some(value as f64)
}

/// The text of a number; empty if it has none.
pub fn text(kind: &str, value: f64) -> String {
    if !value.is_finite() || value.abs() > 8.64e15 {
        return String::new();
    }
    let value = value.floor() as i64;
    let (day, of_day) = (value.div_euclid(DAY), value.rem_euclid(DAY));
    let (year, month, date) = civil(day);
    if kind != "time" && kind != "month" && year < 1 {
        return String::new();
    }
    match kind {
        "date" => format!("{year:04}-{month:02}-{date:02}"),
        "month" => {
            let year = 1_970 + value.div_euclid(12);
            let fits = (1..=LAST_YEAR).contains(&year);
            if fits { format!("{year:04}-{:02}", value.rem_euclid(12) + 1) } else { String::new() }
        }
        "week" => {
            // A week belongs to the year of its Thursday.
            let thursday = day - (day + 3).rem_euclid(7) + 3;
            let year = civil(thursday).0;
            format!("{year:04}-W{:02}", (thursday - monday(year, 1)) / 7 + 1)
        }
        "time" => of_time(of_day),
        "datetime-local" => format!("{year:04}-{month:02}-{date:02}T{}", of_time(of_day)),
        _ => String::new(),
    }
}

/// The shortest text of a time.
fn of_time(value: i64) -> String {
    let (minutes, rest) = (value / 60_000, value % 60_000);
    let mut text = format!("{:02}:{:02}", minutes / 60, minutes % 60);
    if rest > 0 {
        text.push_str(&format!(":{:02}", rest / 1_000));
    }
    if rest % 1_000 > 0 {
        text.push_str(format!(".{:03}", rest % 1_000).trim_end_matches('0'));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_numbers_and_texts_again() {
        for (kind, written, value) in [
            ("date", "1970-01-02", 86_400_000.0),
            ("date", "2024-02-29", 1_709_164_800_000.0),
            ("month", "1969-12", -1.0),
            ("week", "1970-W01", -259_200_000.0),
            ("week", "2020-W53", 1_609_113_600_000.0),
            ("time", "00:01:00.5", 60_500.0),
            ("datetime-local", "1970-01-01T12:34", 45_240_000.0),
            ("date", "0001-01-01", -62_135_596_800_000.0),
        ] {
            assert_eq!(number(kind, written), Some(value), "{written}");
            assert_eq!(text(kind, value), written);
        }
    }

    #[test]
    fn texts_that_are_no_moments_are_none() {
        for (kind, text) in [
            ("date", "2023-02-29"),
            ("date", "0000-01-01"),
            ("date", "2023-2-01"),
            ("month", "2023-13"),
            ("week", "2021-W53"),
            ("time", "24:00"),
            ("time", "1:00"),
            ("time", "01:00:00.1234"),
            ("datetime-local", "2023-01-01"),
            ("text", "2023-01-01"),
        ] {
            assert_eq!(number(kind, text), None, "{text}");
        }
        assert_eq!(text("date", 1e300), "");
    }
}

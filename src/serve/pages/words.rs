//! Figures, times and names from outside, as the pages write them.

use std::borrow::Cow;

use gleaner_base::clock::UnixMillis;
use gleaner_base::console::escaped;
use gleaner_base::url::{without_keys, without_keys_in};
use maud::{Markup, html};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;

/// A text of others: on one line, with what turns, hides or moves text written out.
#[must_use]
pub fn shown(text: &str) -> String {
    escaped(text).replace(['\n', '\t'], " ")
}

/// A text of others with its lines, without keys.
#[must_use]
pub fn told(text: &str) -> String {
    escaped(&without_keys_in(text)).into_owned()
}

/// A URL of others, without keys.
#[must_use]
pub fn url(text: &str) -> String {
    shown(&without_keys(text))
}

/// `128,412`.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 site`, `2 sites`.
#[must_use]
pub fn many(number: u64, what: &str) -> String {
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}

/// `8.7 MiB`.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let (mut value, mut unit) = (number as f64, 0);
    while value >= 1_000.0 && unit + 1 < UNITS.len() {
        value /= 1_024.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && value < 100.0);
    format!("{value:.digits$} {}", UNITS[unit])
}

/// A duration in its largest unit: `43 s`, `12 min`, `3.1 h`, `2 d`.
#[must_use]
pub fn span(seconds: f64) -> String {
    let (value, unit) = match seconds {
        of if of < 120.0 => (of, "s"),
        of if of < 7_200.0 => (of / 60.0, "min"),
        of if of < 172_800.0 => (of / 3_600.0, "h"),
        of => (of / 86_400.0, "d"),
    };
    let digits = usize::from(value < 10.0 && matches!(unit, "h" | "d") && value.fract() >= 0.05);
    format!("{value:.digits$} {unit}")
}

/// `97.2 %`: never 100 % of what is not all.
#[must_use]
pub fn percent(ratio: f64) -> String {
    let tenths = (ratio * 1_000.0).floor() / 10.0;
    if ratio >= 1.0 { "100 %".to_owned() } else { format!("{tenths:.1} %") }
}

/// The time of an RFC 3339 text.
#[must_use]
pub fn parsed(text: &str) -> Option<UnixMillis> {
    let at = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    u64::try_from(at.unix_timestamp_nanos() / 1_000_000).ok().map(UnixMillis)
}

fn date(at: UnixMillis) -> Option<OffsetDateTime> {
    OffsetDateTime::from_unix_timestamp(i64::try_from(at.0 / 1_000).ok()?).ok()
}

/// `Sat 21:30`, in UTC.
#[must_use]
pub fn day_time(at: UnixMillis) -> String {
    let form = format_description!("[weekday repr:short] [hour]:[minute]");
    date(at).and_then(|at| at.format(form).ok()).unwrap_or_default()
}

/// What a field holds of a text: nothing that turns or hides text, so that what is sent is what is seen.
#[must_use]
pub fn typed(text: &str) -> String {
    let is_plain = |of: &char| matches!(escaped(of.encode_utf8(&mut [0; 4])), Cow::Borrowed(_));
    text.chars().filter(is_plain).collect()
}

/// `21:30:07`, in UTC.
#[must_use]
pub fn clock(at: UnixMillis) -> String {
    let form = format_description!("[hour]:[minute]:[second]");
    date(at).and_then(|at| at.format(form).ok()).unwrap_or_default()
}

/// A line of a file: its tabs stay.
#[must_use]
pub fn line(text: &str) -> String {
    escaped(text).into_owned()
}

/// `28 Nov 21:30`, in UTC.
#[must_use]
pub fn short(at: UnixMillis) -> String {
    let form = format_description!("[day padding:none] [month repr:short] [hour]:[minute]");
    date(at).and_then(|at| at.format(form).ok()).unwrap_or_default()
}

/// `28 Nov`, in UTC.
#[must_use]
pub fn day(at: UnixMillis) -> String {
    let form = format_description!("[day padding:none] [month repr:short]");
    date(at).and_then(|at| at.format(form).ok()).unwrap_or_default()
}

/// The time between then and now: `2 min ago`, `in 3 h`, `now`.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
pub fn from_now(at: UnixMillis, now: UnixMillis) -> String {
    let (past, ahead) = (now.0.saturating_sub(at.0), at.0.saturating_sub(now.0));
    match (past, ahead) {
        (past, 0) if past < 2_000 => "now".to_owned(),
        (past, 0) => format!("{} ago", span(past as f64 / 1_000.0)),
        (_, ahead) => format!("in {}", span(ahead as f64 / 1_000.0)),
    }
}

/// A time: how long ago, and the time itself behind it.
#[must_use]
pub fn when(at: UnixMillis, now: UnixMillis) -> Markup {
    let exact = at.rfc3339();
    html! { time datetime=(exact) title=(exact) { (from_now(at, now)) } }
}

/// The same of a text that the service wrote, which is shown as it is if it is no time.
#[must_use]
pub fn when_text(text: &str, now: UnixMillis) -> Markup {
    match parsed(text) {
        Some(at) => when(at, now),
        None => html! { (shown(text)) },
    }
}

/// The same in milliseconds, as alarms have it.
#[must_use]
pub fn when_ms(at: i64, now: UnixMillis) -> Markup {
    when(UnixMillis(u64::try_from(at).unwrap_or_default()), now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_for_people() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([5, 1_536, 104_857_600, 1 << 40].map(bytes), ["5 B", "1.5 KiB", "100 MiB", "1.0 TiB"]);
        assert_eq!([1.2, 90.0, 600.0, 11_160.0, 172_800.0].map(span), ["1 s", "90 s", "10 min", "3.1 h", "2 d"]);
        assert_eq!([1.0, 0.99999, 0.5].map(percent), ["100 %", "99.9 %", "50.0 %"]);
        assert_eq!((many(1, "site"), many(0, "site")), ("1 site".to_owned(), "0 sites".to_owned()));
        let now = UnixMillis(1_796_083_200_000);
        assert_eq!(from_now(UnixMillis(now.0 - 120_000), now), "2 min ago");
        assert_eq!((from_now(UnixMillis(now.0 + 7_200_000), now), from_now(now, now)), ("in 2 h".into(), "now".into()));
        assert_eq!(parsed(&now.rfc3339()), Some(now));
        assert_eq!((day_time(now), short(now)), ("Tue 00:00".to_owned(), "1 Dec 00:00".to_owned()));
    }

    #[test]
    fn texts_of_others_turn_nothing_and_show_no_key() {
        assert_eq!(shown("a\u{202e}b\u{0}\nc"), "a\\u202eb\\u0000 c");
        assert_eq!(typed("a\u{202e}b\u{0}\n\tc"), "ab\n\tc");
        assert!(
            !url("http://t.example/announce?passkey=0123456789abcdef0123456789abcdef").contains("0123456789abcdef")
        );
    }
}

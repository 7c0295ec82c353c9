//! Escaping of text for HTML and URLs, so that no title breaks a page; and formatting of dates.

use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};

/// Characters that stay unchanged in a slug or in a query value.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Appends `text` with the five characters escaped that matter in text and in attribute values.
pub(super) fn push_escaped(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
}

/// `text` escaped for text and attribute values.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    push_escaped(&mut out, text);
    out
}

/// `bytes` percent-encoded in upper-case hex; letters, digits and `-_.~` stay.
pub(super) fn percent(bytes: &[u8]) -> String {
    percent_encoding::percent_encode(bytes, PLAIN).to_string()
}

/// The part of a detail page's path after its number: the title with everything but letters and digits as `-`.
/// Letters of other scripts stay, as on sites that do not transliterate.
pub(super) fn slug(title: &str) -> String {
    let mut out = String::with_capacity(title.len());
    for character in title.chars() {
        if character.is_alphanumeric() {
            out.extend(character.to_lowercase());
        } else if !out.ends_with('-') && !out.is_empty() {
            out.push('-');
        }
    }
    while out.ends_with('-') {
        out.pop();
    }
    if out.is_empty() { "torrent".to_owned() } else { out }
}

/// `1.44 GB` and the like; decimal units.
pub(super) fn size(bytes: u64) -> String {
    let (divisor, unit) = match bytes {
        0..1_000_000 => (1_000, "kB"),
        1_000_000..1_000_000_000 => (1_000_000, "MB"),
        _ => (1_000_000_000, "GB"),
    };
    let hundredths = bytes / (divisor / 100);
    format!("{}.{:02} {unit}", hundredths / 100, hundredths % 100)
}

/// `2026-11-20 15:12`, UTC.
pub(super) fn push_date(out: &mut String, unix_seconds: i64) {
    if let Ok(at) = time::OffsetDateTime::from_unix_timestamp(unix_seconds) {
        let (month, day) = (u8::from(at.month()), at.day());
        // Writing into a String cannot fail.
        let _ = write!(out, "{:04}-{month:02}-{day:02} {:02}:{:02}", at.year(), at.hour(), at.minute());
    }
}

/// An HTTP date (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
pub(super) fn http_date(unix_seconds: i64) -> String {
    const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let at = time::OffsetDateTime::from_unix_timestamp(unix_seconds).unwrap_or(time::OffsetDateTime::UNIX_EPOCH);
    // Both indices are below the arrays' lengths: a weekday is 0 to 6, a month 1 to 12.
    let day = DAYS[usize::from(at.weekday().number_days_from_monday())];
    let month = MONTHS[usize::from(u8::from(at.month())) - 1];
    format!(
        "{day}, {:02} {month} {:04} {:02}:{:02}:{:02} GMT",
        at.day(),
        at.year(),
        at.hour(),
        at.minute(),
        at.second()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_dates_are_those_of_the_rfc() {
        assert_eq!(http_date(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
    }

    #[test]
    fn markup_in_a_title_becomes_text() {
        assert_eq!(escaped(r#"<b> & "it's""#), "&lt;b&gt; &amp; &quot;it&#39;s&quot;");
    }

    #[test]
    fn a_slug_holds_no_character_that_ends_a_path() {
        assert_eq!(slug("C & C++ <notes>? #1/2"), "c-c-notes-1-2");
        assert_eq!(slug("***"), "torrent");
        assert_eq!(slug("深海纪录片 (4K)"), "深海纪录片-4k");
    }

    #[test]
    fn sizes_have_two_decimals_and_a_unit() {
        assert_eq!(size(1_440_000_000), "1.44 GB");
        assert_eq!(size(12_340), "12.34 kB");
    }
}

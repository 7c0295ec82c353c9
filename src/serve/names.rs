//! Names from outside and times, made fit for where they go: XML, headers, file names.

use gleaner_base::clock::UnixMillis;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use time::OffsetDateTime;
use time::macros::format_description;

/// A time as RFC 1123 has it, with a numeric zone and a day of two digits: some clients refuse whole feeds for others.
pub fn rfc1123(at: UnixMillis) -> String {
    let form = format_description!(
        "[weekday repr:short], [day padding:zero] [month repr:short] [year] [hour]:[minute]:[second] +0000"
    );
    let seconds = i64::try_from(at.0 / 1_000).unwrap_or_default();
    OffsetDateTime::from_unix_timestamp(seconds).ok().and_then(|at| at.format(form).ok()).unwrap_or_default()
}

/// The text without what XML 1.0 cannot hold (control and unpaired characters), on one line.
#[must_use]
pub fn xml_text(text: &str) -> String {
    let fits = |of: char| !of.is_control() && !matches!(of, '\u{fffe}' | '\u{ffff}');
    text.chars().map(|of| if matches!(of, '\n' | '\r' | '\t') { ' ' } else { of }).filter(|of| fits(*of)).collect()
}

/// What RFC 8187 leaves as it is.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Bytes of the name of a download, without its ending.
const NAME_BYTES: usize = 180;

/// `Content-Disposition` of a torrent of this name: an ASCII name for old clients, and the whole one (RFC 6266).
#[must_use]
pub fn disposition(name: &str) -> String {
    let mut name: String = xml_text(name)
        .chars()
        .map(|of| if matches!(of, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|') { '_' } else { of })
        // Marks that turn the direction of text hide what a name ends in.
        .filter(|of| !matches!(of, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
        .collect();
    name.truncate(name.floor_char_boundary(NAME_BYTES));
    let name = name.trim_matches(['.', ' ']);
    let name = if name.is_empty() { "torrent" } else { name };
    let ascii: String = name.chars().map(|of| if of.is_ascii_graphic() || of == ' ' { of } else { '_' }).collect();
    format!("attachment; filename=\"{ascii}.torrent\"; filename*=UTF-8''{}.torrent", utf8_percent_encode(name, PLAIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_numeric_zone_and_two_digits_of_a_day() {
        assert_eq!(rfc1123(UnixMillis(1_796_083_200_999)), "Tue, 01 Dec 2026 00:00:00 +0000");
    }

    #[test]
    fn what_xml_cannot_hold_is_left_out() {
        assert_eq!(xml_text("a\u{0}b\u{1b}[31m\nc\u{ffff}\u{85}d"), "ab[31m cd");
    }

    #[test]
    fn names_of_downloads_break_out_of_nothing() {
        assert_eq!(
            disposition("a\"; x=\"\r\nB: c"),
            "attachment; filename=\"a_; x=_  B_ c.torrent\"; filename*=UTF-8''a_%3B%20x%3D_%20%20B_%20c.torrent"
        );
        assert_eq!(
            disposition("../../etc"),
            "attachment; filename=\"_.._etc.torrent\"; filename*=UTF-8''_.._etc.torrent"
        );
        assert_eq!(disposition("海"), "attachment; filename=\"_.torrent\"; filename*=UTF-8''%E6%B5%B7.torrent");
        assert_eq!(
            disposition("\u{202e}..."),
            "attachment; filename=\"torrent.torrent\"; filename*=UTF-8''torrent.torrent"
        );
        assert!(disposition(&"海".repeat(500)).len() < 1_000);
    }
}

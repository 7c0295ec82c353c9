//! robots.txt and `Retry-After`.

use std::time::Duration;

use gleaner_base::clock::UnixMillis;
use gleaner_net::politeness::backoff;
use gleaner_net::politeness::robots::{Robots, tags_say_nofollow};
use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;

/// The first line is a path, the rest a robots.txt.
pub fn robots(input: &[u8]) {
    let (line, file) = match input.iter().position(|&byte| byte == b'\n') {
        Some(end) => (&input[..end], &input[end + 1..]),
        None => (input, &b""[..]),
    };
    let path = format!("/{}", super::text(line));
    let read = Robots::parse(file, "gleaner");
    assert!(read.sitemaps.len() <= gleaner_net::limits::SITEMAPS_PER_ROBOTS_MAX);
    assert!(read.sitemaps.iter().all(|url| (1..=gleaner_base::limits::URL_BYTES_MAX).contains(&url.len())));
    let tag = super::text(line);
    assert!(tags_say_nofollow(&[&*tag, "gleaner: NONE"], "gleaner"), "one tag that says it is enough");
    let _ = tags_say_nofollow(&[tag], "gleaner");
    let allowed = read.allows(&path);
    assert!(
        read.allows("/robots.txt")
            && read.crawl_delay.is_none_or(|delay| delay <= gleaner_net::limits::CRAWL_DELAY_MAX)
    );

    // Spellings that are equal by RFC 9309 §2.2.2 and RFC 3986 §6.2.2.
    if path != "/robots.txt" {
        for spelt in [spelt(&path, true), spelt(&path, false)] {
            assert_eq!(read.allows(&spelt), allowed, "{path:?} and {spelt:?}");
        }
    }

    // Lines without a record are ignored, and line endings are equivalent.
    let same = [
        [file, b"\n# the end"].concat(),
        [b"\n#begin\n", file].concat(),
        file.split(|&byte| byte == b'\n').collect::<Vec<_>>().join(&b"\r\n"[..]),
    ];
    // (A mark at the very start is removed, one in the second line is not.)
    if !file.starts_with(b"\xEF\xBB\xBF") && file.len() < gleaner_net::limits::ROBOTS_BYTES_MAX / 2 {
        for same in same.iter().chain([&[b"\xEF\xBB\xBF", file].concat()]) {
            assert_eq!(&Robots::parse(same, "gleaner"), &read);
        }
    }

    // A single pattern, compared with an exhaustive matcher.
    let pattern = file.split(|byte| b"\r\n#".contains(byte)).next().unwrap_or_default().trim_ascii();
    if !pattern.is_empty() && pattern.len() <= 64 && path.len() <= 256 && path != "/robots.txt" {
        let alone = Robots::parse(&[b"user-agent: Gleaner/1.0\ndisallow:", pattern].concat(), "gleaner");
        let matches = matches(pattern, path.as_bytes());
        assert_eq!(alone.allows(&path), !matches, "{} on {path:?}", pattern.escape_ascii());
    }
}

/// The path in another equal spelling: bytes beyond ASCII percent-encoded, escapes in lower-case hex, and with `all` each unreserved
/// character percent-encoded as well.
fn spelt(path: &str, all: bool) -> String {
    let bytes = path.as_bytes();
    let mut out = String::new();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        let is_escape =
            byte == b'%' && bytes.get(at + 1..at + 3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit));
        if is_escape {
            out.extend(path[at..at + 3].chars().map(|hex| hex.to_ascii_lowercase()));
            at += 3;
            continue;
        }
        // An unreserved character after a lone `%` would complete an invalid escape.
        let after_percent = bytes[..at].ends_with(b"%") || bytes[..at.saturating_sub(1)].ends_with(b"%");
        let unreserved = (byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)) && !after_percent;
        if !byte.is_ascii() || (all && unreserved) {
            out += &format!("%{byte:02x}");
        } else {
            out.push(char::from(byte));
        }
        at += 1;
    }
    out
}

/// One character of a path or pattern: its value, and whether it is escaped.
type Letter = (u8, bool);

fn letters(text: &[u8]) -> Vec<Letter> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let digits = text.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        let is_hex = |digits: &&str| text[at] == b'%' && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let escape = digits.filter(is_hex).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push((escape.unwrap_or(text[at]), escape.is_some()));
        at += if escape.is_some() { 3 } else { 1 };
    }
    out
}

/// The spelling of a letter for comparison (RFC 9309 §2.2.2): an escape equals the character if that is unreserved, or if
/// escaping a reserved one changes nothing. `as_written`: assumes that it always changes something.
fn spelling((value, escaped): Letter, in_query: bool, as_written: bool) -> Vec<u8> {
    let plain = match value {
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'.' | b'_' | b'~' => true,
        b'%' | b'#' | b'&' | b'+' | b';' | b'=' => !escaped,
        b'*' | b'$' => !(escaped && as_written),
        b':' | b'/' | b'?' | b'[' | b']' | b'@' | b'!' | b'\'' | b'(' | b')' | b',' => {
            !escaped || (in_query && !as_written)
        }
        _ => false,
    };
    if plain { vec![value] } else { format!("%{value:02X}").into_bytes() }
}

/// RFC 9309 §2.2.3: `*` is any number of characters, `$` at the end is the end. Processes the pattern letter by letter:
/// which prefixes of the path it can have matched.
fn matches(pattern: &[u8], path: &[u8]) -> bool {
    let (pattern, to_the_end) = match pattern.strip_suffix(b"$") {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let pattern = letters(pattern);
    let as_written = pattern.contains(&(b'%', false));
    let (mut spelt, mut query_at) = (Vec::new(), usize::MAX);
    for letter in letters(path) {
        spelt.extend(spelling(letter, query_at < usize::MAX, as_written));
        if letter == (b'?', false) {
            query_at = query_at.min(spelt.len());
        }
    }
    let mut reached = vec![false; spelt.len() + 1];
    reached[0] = true;
    for letter in pattern {
        let mut reaches = vec![false; spelt.len() + 1];
        for at in (0..=spelt.len()).filter(|&at| reached[at]) {
            if letter == (b'*', false) {
                reaches[at..].fill(true);
                break;
            }
            let letter = spelling(letter, at >= query_at, as_written);
            if spelt[at..].starts_with(&letter) {
                reaches[at + letter.len()] = true;
            }
        }
        reached = reaches;
    }
    if to_the_end { reached[spelt.len()] } else { reached.contains(&true) }
}

/// `Retry-After`: never beyond the cap, seconds are seconds, and every date format of RFC 9110 §5.6.7 is parsed.
pub fn retry_after(input: &[u8]) {
    const NOW: UnixMillis = UnixMillis(1_800_000_000_000);
    const FORMS: [&[BorrowedFormatItem<'_>]; 2] = [
        format_description!("[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT"),
        format_description!(
            "[weekday repr:short] [month repr:short] [day padding:space] [hour]:[minute]:[second] [year]"
        ),
    ];
    let latest = NOW.plus(gleaner_base::limits::RETRY_AFTER_MAX);
    let text = super::text(input);
    let until = backoff::retry_after(&text, NOW);
    assert!(until.is_none_or(|until| until <= latest));
    if let Ok(seconds) = text.trim().parse::<u32>()
        && !text.contains('+')
    {
        assert_eq!(until, Some(NOW.plus(Duration::from_secs(seconds.into())).min(latest)));
    }

    let Some(seconds) =
        input.first_chunk::<5>().map(|bytes| bytes.iter().fold(0, |sum, byte| sum << 8 | i64::from(*byte)))
    else {
        return;
    };
    // Up to the end of the year 9999, the last that a date can express.
    let seconds = seconds % 253_402_300_800;
    let date = OffsetDateTime::from_unix_timestamp(seconds).expect("a date of four digits");
    let expected = Some(UnixMillis(seconds.unsigned_abs() * 1_000).min(latest));
    for form in FORMS {
        let written = date.format(form).expect("a date can be written");
        assert_eq!(backoff::retry_after(&written, NOW), expected, "{written}");
    }
    if (1970..2070).contains(&date.year()) {
        let form = format_description!(
            "[weekday], [day]-[month repr:short]-[year repr:last_two] [hour]:[minute]:[second] GMT"
        );
        let written = date.format(form).expect("a date can be written");
        assert_eq!(backoff::retry_after(&written, NOW), expected, "{written}");
    }
}

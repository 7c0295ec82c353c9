//! Shapes of URLs: the common form of the URLs of one template (ALGORITHMS §2 and §11, Book 3.4.6).
//!
//! `/thread-123-1-1.html` and `/thread-9-2-1.html` are one shape, `/thread-{n}-{n}-{n}.html`. [`super::budgets`] counts
//! per shape what was fetched and what it yielded; a site has some dozens of shapes, a trap makes its endless URLs of
//! one or few. The shape depends on path and query only, so that the hosts of a site share it.
//!
//! A shape is cheap: one pass over the bytes, no regular expression, one allocation. It is a statistical heuristic and
//! decides nothing by itself; never use it as the identity of a URL.
//!
//! | sign | stands for |
//! | --- | --- |
//! | `{n}` | a run of digits |
//! | `{h}` | eight or more hex digits, letters and digits among them |
//! | `{x}` | a UUID, or letters and digits in an order that no word has |
//! | `{s}` | a title: many words, percent-encoded text, or the words beside an identifier |
//! | `{date}`, `{y}`, `{m}`, `{d}` | a date in one piece, and year, month, day as folders |
//! | `{w}` | any other value of a parameter |
//!
//! Words of the path, its extension, and the names of parameters are kept. Values are kept if the parameter is one that
//! programs route by (`mod=viewthread`).

use std::fmt;

use crate::limits::{SHAPE_BYTES_MAX, SHAPE_PARAMETERS_MAX};

/// The common form of the URLs of one template.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape {
    text: Box<str>,
    path_bytes: u16,
    parameters: u8,
    is_calendar: bool,
}

/// Follows the last sign of a shape that was longer than [`SHAPE_BYTES_MAX`].
const CUT_OFF: char = '…';

impl Shape {
    /// The shape of everything after the origin, as [`gleaner_base::url::CrawlUrl::path`] returns it. Accepts any text.
    #[must_use]
    pub fn of(path_and_query: &str) -> Self {
        let (path, query) = path_and_query.split_once('?').unwrap_or((path_and_query, ""));
        let mut writer = Writer { out: String::with_capacity(64), is_full: false };
        let dated_path = write_path(&mut writer, path);
        let path_bytes = u16::try_from(writer.out.len()).unwrap_or(u16::MAX);
        let (parameters, dated_query) = write_query(&mut writer, query);
        Self { text: writer.out.into(), path_bytes, parameters, is_calendar: dated_path || dated_query }
    }

    /// The whole shape; at most [`SHAPE_BYTES_MAX`] bytes and the sign that it was cut off.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The shape of the path alone: common to all queries of one program.
    #[must_use]
    pub fn template(&self) -> &str {
        self.text.get(..usize::from(self.path_bytes)).unwrap_or(&self.text)
    }

    /// Number of different parameters of the query, at most 255.
    #[must_use]
    pub fn parameters(&self) -> u8 {
        self.parameters
    }

    /// True if the URL itself names a day, a month or a week: the last folder is a date, or a parameter is.
    #[must_use]
    pub fn is_calendar(&self) -> bool {
        self.is_calendar
    }

    /// The template without its words, at most [`SKELETON_SEGMENTS`] segments of it: the common part of the pages of a site
    /// that invents its words.
    #[must_use]
    pub fn skeleton(&self) -> String {
        let mut out = String::with_capacity(48);
        for (index, segment) in self.template().split('/').skip(1).enumerate() {
            if index == SKELETON_SEGMENTS {
                out.push_str("/**");
                break;
            }
            out.push('/');
            if segment.contains('{') || segment.is_empty() {
                out.push_str(segment);
            } else {
                out.push_str("{w}");
                out.push_str(split_extension(segment).1);
            }
        }
        out
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Deeper folders share one skeleton.
const SKELETON_SEGMENTS: usize = 4;

/// Length of the words of one segment beyond which it is a title, whatever they are, in bytes.
const TITLE_BYTES: usize = 20;

/// A shape under construction, which stops at its maximum.
struct Writer {
    out: String,
    is_full: bool,
}

impl Writer {
    fn push(&mut self, text: &str) {
        if self.is_full {
            return;
        }
        if self.out.len() + text.len() > SHAPE_BYTES_MAX {
            self.is_full = true;
            self.out.push(CUT_OFF);
        } else {
            self.out.push_str(text);
        }
    }
}

/// Writes the path; true if its last folder or file is a date.
fn write_path(writer: &mut Writer, path: &str) -> bool {
    let mut segments = path.split('/').peekable();
    // The part before the first `/` is empty: a path begins with it.
    if let Some(front) = segments.next().filter(|front| !front.is_empty()) {
        write_segment(writer, front, false);
    }
    let (mut behind_id, mut ends_dated, mut date_part) = (false, false, 0);
    while let Some(segment) = segments.next() {
        writer.push("/");
        if segment.is_empty() {
            continue;
        }
        let next = segments.peek().copied().unwrap_or_default();
        let part = match date_part {
            0 if is_year(segment) && number(next).is_some_and(|month| (1..=12).contains(&month)) => 1,
            1 => 2,
            2 if number(segment).is_some_and(|day| (1..=31).contains(&day)) => 3,
            _ => 0,
        };
        date_part = part;
        if part > 0 {
            writer.push(["{y}", "{m}", "{d}"][part - 1]);
            (behind_id, ends_dated) = (false, part > 1);
            continue;
        }
        let is_last = segments.peek().is_none_or(|rest| rest.is_empty());
        let kind = write_segment(writer, segment, behind_id && is_last);
        ends_dated = kind == Some(Kind::Date);
        behind_id = matches!(kind, Some(Kind::Number | Kind::Hex | Kind::Random));
    }
    ends_dated
}

/// Writes one segment; `is_title` if an identifier precedes it. Returns its kind if it has one.
fn write_segment(writer: &mut Writer, segment: &str, is_title: bool) -> Option<Kind> {
    let (stem, extension) = split_extension(segment);
    let looks = Looks::of(stem.as_bytes());
    let kind = looks.kind(stem);
    match kind {
        Some(kind) => writer.push(kind.sign()),
        None if is_title && looks.letters > 0 => writer.push("{s}"),
        None => write_words(writer, stem, &looks),
    }
    writer.push(extension);
    kind
}

/// Splits off `.html` and the like: a dot and one to eight letters and digits, including a letter.
fn split_extension(segment: &str) -> (&str, &str) {
    match segment.rfind('.') {
        Some(dot) if dot > 0 => {
            let extension = &segment.as_bytes()[dot + 1..];
            let is_plain =
                (1..=8).contains(&extension.len()) && extension.iter().all(|byte| byte.is_ascii_alphanumeric());
            if is_plain && extension.iter().any(u8::is_ascii_alphabetic) {
                segment.split_at(dot)
            } else {
                (segment, "")
            }
        }
        _ => (segment, ""),
    }
}

/// The kind of a piece of text as a whole.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Hex,
    Random,
    Date,
}

impl Kind {
    fn sign(self) -> &'static str {
        match self {
            Self::Number => "{n}",
            Self::Hex => "{h}",
            Self::Random => "{x}",
            Self::Date => "{date}",
        }
    }
}

/// Counts of one pass over a piece of text.
#[derive(Default)]
struct Looks {
    bytes: usize,
    digits: usize,
    letters: usize,
    upper: usize,
    hex: usize,
    separators: usize,
    percents: usize,
    /// Changes between small letter, capital and digit.
    changes: usize,
}

impl Looks {
    fn of(text: &[u8]) -> Self {
        let mut looks = Self { bytes: text.len(), ..Self::default() };
        let mut before = 0;
        for &byte in text {
            let class = match byte {
                b'0'..=b'9' => 1,
                b'a'..=b'z' => 2,
                b'A'..=b'Z' => 3,
                b'-' | b'_' | b'.' | b'+' | b',' | b'~' | b' ' => 4,
                b'%' => 5,
                _ => 6,
            };
            looks.digits += usize::from(class == 1);
            looks.letters += usize::from(class == 2 || class == 3);
            looks.upper += usize::from(class == 3);
            looks.hex += usize::from(byte.is_ascii_hexdigit());
            looks.separators += usize::from(class == 4);
            looks.percents += usize::from(class == 5);
            looks.changes += usize::from(before != class && (1..=3).contains(&before) && class <= 3);
            before = class;
        }
        looks
    }

    /// The kind of the whole text; None for words.
    fn kind(&self, text: &str) -> Option<Kind> {
        let bytes = text.as_bytes();
        if self.digits == self.bytes {
            return match bytes.len() {
                0 => None,
                8 if is_compact_date(bytes) => Some(Kind::Date),
                _ => Some(Kind::Number),
            };
        }
        if self.letters == 0 && is_date(bytes) {
            return Some(Kind::Date);
        }
        if self.digits > 0 && self.hex == self.bytes && self.bytes >= 8 {
            return Some(Kind::Hex);
        }
        let is_random = is_uuid(bytes) || self.is_random();
        is_random.then_some(Kind::Random)
    }

    /// Letters and digits change places far more often than in words: in base64 at 62 % of the places, in base36 at
    /// 40 %, in `CamelCase2024` at 25 %.
    fn is_random(&self) -> bool {
        if self.digits == 0
            || self.letters + self.digits + self.separators < self.bytes
            || 8 * self.separators > self.bytes
        {
            return false;
        }
        let is_mixed = self.upper > 0 && self.upper < self.letters;
        match (is_mixed, self.bytes) {
            // An infohash in base32.
            (false, 32) if self.upper == self.letters && self.separators == 0 => true,
            (true, 10..) => 5 * self.changes >= 2 * self.bytes,
            (false, 16..) => 4 * self.changes >= self.bytes,
            _ => false,
        }
    }
}

/// Writes words with their numbers taken out, or as a title.
fn write_words(writer: &mut Writer, text: &str, looks: &Looks) {
    let is_title = looks.percents > 0
        || (looks.bytes > 32 && looks.separators != 1)
        || (looks.bytes > TITLE_BYTES && looks.separators >= 2);
    let is_separator = |character: char| matches!(character, '-' | '_' | '.' | '+' | ',' | '~');
    // `12345-some-title`, `some-title.12345`: the identifier stays visible beside its title.
    let front = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let has_front = front > 0 && looks.letters > 0 && text[front..].starts_with(is_separator);
    let back = text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let has_back = back < text.len() && text[..back].ends_with(if is_title { is_separator } else { |c| c == '.' });
    if has_front {
        writer.push("{n}");
        writer.push(&text[front..=front]);
        writer.push("{s}");
    } else if has_back && looks.letters > 0 {
        writer.push("{s}");
        writer.push(&text[back - 1..back]);
        writer.push("{n}");
    } else if is_title {
        writer.push("{s}");
    } else {
        write_runs(writer, text);
    }
}

/// Copies text, each run of digits as `{n}`, and each piece between separators that is an identifier by its sign.
fn write_runs(writer: &mut Writer, text: &str) {
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(['-', '_', '.', ',', '[', ']', '(', ')']).unwrap_or(rest.len());
        let (piece, behind) = rest.split_at(end);
        match Looks::of(piece.as_bytes()).kind(piece) {
            // Eight digits within words are usually no date.
            Some(Kind::Date) => writer.push("{n}"),
            Some(kind) => writer.push(kind.sign()),
            None => write_digit_runs(writer, piece),
        }
        let separator = behind.chars().next().map_or(0, char::len_utf8);
        writer.push(&behind[..separator]);
        rest = &behind[separator..];
    }
}

fn write_digit_runs(writer: &mut Writer, mut rest: &str) {
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        writer.push(&rest[..at]);
        writer.push("{n}");
        rest = rest[at..].trim_start_matches(|c: char| c.is_ascii_digit());
    }
    writer.push(rest);
}

/// Parameters whose value selects the page of a program.
fn is_routing(name: &str) -> bool {
    matches!(
        name,
        "act"
            | "action"
            | "app"
            | "cmd"
            | "do"
            | "func"
            | "m"
            | "mod"
            | "mode"
            | "module"
            | "op"
            | "option"
            | "page"
            | "section"
            | "showtopic"
            | "task"
            | "view"
    )
}

/// Parameters whose number is a day, a week or a month.
fn is_calendar_name(name: &str) -> bool {
    matches!(name, "month" | "day" | "date" | "week" | "calendar" | "cal" | "mon" | "mm")
}

/// Writes the sorted names of the parameters and the kinds of their values. Returns their number, and
/// whether one names a date.
fn write_query(writer: &mut Writer, query: &str) -> (u8, bool) {
    let mut parameters = [("", None); SHAPE_PARAMETERS_MAX];
    let (mut count, mut more) = (0, 0_usize);
    for text in query.split('&').filter(|text| !text.is_empty()) {
        let parameter = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        match parameters.get_mut(count) {
            Some(slot) => {
                *slot = parameter;
                count += 1;
            }
            None => more += 1,
        }
    }
    let parameters = &mut parameters[..count];
    parameters.sort_unstable();
    let (mut different, mut is_dated) = (more, false);
    for (index, &(name, value)) in parameters.iter().enumerate() {
        if index > 0 && parameters[index - 1].0 == name {
            continue;
        }
        different += 1;
        writer.push(if index == 0 { "?" } else { "&" });
        let Some(value) = value else {
            // `?showtopic-12` and `?12`: the name is the value.
            write_segment(writer, name, false);
            continue;
        };
        write_runs(writer, name);
        writer.push("=");
        let kind = Looks::of(value.as_bytes()).kind(value);
        is_dated |= kind == Some(Kind::Date) || (kind == Some(Kind::Number) && is_calendar_name(name));
        let is_word =
            || value.len() <= TITLE_BYTES && value.bytes().all(|b| b.is_ascii_alphabetic() || b"-_.".contains(&b));
        match kind {
            Some(kind) => writer.push(kind.sign()),
            None if value.is_empty() => {}
            None if is_routing(name) && is_word() => writer.push(value),
            None => writer.push("{w}"),
        }
    }
    if more > 0 {
        writer.push("&…");
    }
    (u8::try_from(different).unwrap_or(u8::MAX), is_dated)
}

fn number(text: &str) -> Option<u32> {
    let is_short = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_short { text.parse().ok() } else { None }
}

fn is_year(text: &str) -> bool {
    text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit()) && ("1970".."2200").contains(&text)
}

/// `2024-05-12`, `2024_05`, `2024.5.1`: a year of four digits, a month, perhaps a day, and one separator.
fn is_date(text: &[u8]) -> bool {
    let Some((&separator, rest)) = text.get(4..).and_then(<[u8]>::split_first) else {
        return false;
    };
    if !matches!(separator, b'-' | b'_' | b'.') || !text[..4].iter().all(u8::is_ascii_digit) {
        return false;
    }
    let mut parts = rest.split(|byte| *byte == separator);
    let part = |part: Option<&[u8]>, last: u8| {
        let digits = part.filter(|part| part.len() <= 2 && part.iter().all(u8::is_ascii_digit))?;
        let value = digits.iter().fold(0, |value, digit| value * 10 + (digit - b'0'));
        Some((1..=last).contains(&value))
    };
    let is_month = part(parts.next(), 12) == Some(true);
    let day = parts.next();
    is_month && (day.is_none() || part(day, 31) == Some(true)) && parts.next().is_none()
}

/// `20240512`, limited to the years in which torrents were made: an identifier of eight digits matches once in a thousand.
fn is_compact_date(text: &[u8]) -> bool {
    let two = |at: usize| (text[at] - b'0') * 10 + (text[at + 1] - b'0');
    let is_year = matches!((two(0), two(2)), (19, 90..) | (20, ..40));
    is_year && (1..=12).contains(&two(4)) && (1..=31).contains(&two(6))
}

/// 8-4-4-4-12 hex digits (RFC 9562 §4).
fn is_uuid(text: &[u8]) -> bool {
    text.len() == 36
        && text.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests;

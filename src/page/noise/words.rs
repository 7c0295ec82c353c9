//! Classifies a text: counts, sizes, dates, infohashes, "3 minutes ago". Also computes its shape, the text with its
//! numbers masked, which is the same for two values of a counter.
//!
//! Pure, linear in the text, and never fails: unknown text counts as words.

use std::sync::LazyLock;

use encoding_rs::{Encoding, UTF_8};
use gleaner_base::words::phrases;
use xxhash_rust::xxh3::xxh3_64;

use super::Keys;
use super::walk::mixed;

/// The kind of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// No digits.
    Words,
    /// Numbers of up to seven digits, and punctuation.
    Count,
    /// Such numbers with words.
    Mixed,
    /// A day or a time of day.
    Date,
    /// Bytes: `1.4 GB`.
    Size,
    /// A number of eight digits or more: bytes, an epoch, an identifier.
    Long,
    /// 32 or more hexadecimal or base32 digits: an infohash.
    Hash,
}

/// A text with its numbers masked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Equal for texts that differ in numbers only.
    pub masked: u64,
    /// Equal for texts that differ in counts only: it includes sizes and long numbers unmasked.
    pub counted: u64,
    pub kind: Kind,
}

/// From this many digits on, a number is more than a count.
const LONG_DIGITS: usize = 8;

/// From this length on, a run of mixed letters and digits is a token.
const TOKEN_BYTES: usize = 16;

/// Bytes of a text that may be a relative time.
const RELATIVE_BYTES: usize = 64;

const UNITS: [&str; 16] =
    ["b", "kb", "mb", "gb", "tb", "pb", "kib", "mib", "gib", "tib", "pib", "bytes", "byte", "ko", "mo", "go"];

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Without surrounding spaces, line ends and no-break spaces; empty if there is neither a letter nor a digit.
#[inline]
pub(super) fn trimmed(text: &[u8]) -> &[u8] {
    let mut text = text.trim_ascii();
    while let Some(rest) = text.strip_prefix(b"&nbsp;") {
        text = rest.trim_ascii_start();
    }
    while let Some(rest) = text.strip_suffix(b"&nbsp;") {
        text = rest.trim_ascii_end();
    }
    if text.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80) { text } else { &[] }
}

/// The shape and the kind of a text.
pub(super) fn shape(text: &[u8]) -> Shape {
    let mut reader = WordScanner {
        text,
        at: 0,
        masked: 0x51ed,
        firm: 0,
        has_words: false,
        number: None,
        since: 0,
        found: Found::default(),
    };
    while reader.at < text.len() {
        reader.step();
    }
    let WordScanner { masked, firm, has_words, found, .. } = reader;
    let kind = if found.hash {
        Kind::Hash
    } else if found.date || found.month && found.digits > 0 || found.dashes >= 2 {
        Kind::Date
    } else if found.size {
        Kind::Size
    } else if found.long {
        Kind::Long
    } else if found.digits == 0 {
        Kind::Words
    } else if has_words {
        Kind::Mixed
    } else {
        Kind::Count
    };
    Shape { masked, counted: mixed(masked, firm), kind }
}

/// True if the [`Kind`] of a text is `Count`. Most texts have no digit, or a letter that makes them words: neither a suffix of a
/// number nor one of a no-break space.
pub(super) fn is_count(text: &[u8]) -> bool {
    let is_of_words = |byte: &u8| byte.is_ascii_alphabetic() && !b"kmnbsp".contains(byte);
    // `2026-11-21`, which has no letter.
    let is_plain_date = matches!(
        text,
        [b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b'-', b'0'..=b'9', b'0'..=b'9', b'-', b'0'..=b'9', ..]
    );
    !is_plain_date
        && text.iter().any(u8::is_ascii_digit)
        && !text.iter().any(is_of_words)
        && shape(text).kind == Kind::Count
}

#[derive(Default)]
struct Found {
    digits: usize,
    dashes: usize,
    hash: bool,
    date: bool,
    month: bool,
    size: bool,
    long: bool,
}

/// The last number: its digits, and how many groups its separators form.
#[derive(Clone, Copy)]
struct Number {
    digits: usize,
    groups: usize,
}

struct WordScanner<'t> {
    text: &'t [u8],
    at: usize,
    masked: u64,
    /// Hash of the numbers that are not counts.
    firm: u64,
    has_words: bool,
    number: Option<Number>,
    /// Start of the last number.
    since: usize,
    found: Found,
}

impl WordScanner<'_> {
    fn step(&mut self) {
        let byte = self.text[self.at];
        if byte.is_ascii_alphanumeric() {
            let length = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
            self.run(self.at + length);
        } else if byte == b'&' && self.text[self.at..].starts_with(b"&nbsp;") {
            self.at += 6;
            self.masked = mixed(self.masked, 1);
        } else if byte.is_ascii_whitespace() {
            self.at += 1;
            self.masked = mixed(self.masked, 1);
        } else {
            self.mark(byte);
        }
    }

    /// A byte that is neither letter, digit nor space.
    fn mark(&mut self, byte: u8) {
        let after = &self.text[self.at + 1..];
        self.at += 1;
        let before_digit = after.first().is_some_and(u8::is_ascii_digit);
        if let Some(number) = self.number.filter(|_| before_digit) {
            match byte {
                b'.' | b',' | b'\'' => {
                    // 1,234 and 0.52 are one number each; 22.11.2026 and 10.11.12 are dates.
                    self.number = Some(Number { groups: number.groups + 1, ..number });
                    self.found.date |= byte == b'.' && number.groups >= 2;
                    return;
                }
                b'-' | b'/' => self.found.dashes += 1,
                b':' => self.found.date |= after.get(1).is_some_and(u8::is_ascii_digit),
                _ => {}
            }
        }
        self.number = None;
        if byte >= 0x80 {
            self.has_words = true;
            self.found.date |= self.found.digits > 0 && (self.is_next("年") || self.is_next("月"));
        }
        self.masked = mixed(self.masked, u64::from(byte));
    }

    fn is_next(&self, character: &str) -> bool {
        self.text[self.at - 1..].starts_with(character.as_bytes())
    }

    /// Letters and digits up to `end`.
    fn run(&mut self, end: usize) {
        let run = &self.text[self.at..end];
        let digits = run.iter().filter(|byte| byte.is_ascii_digit()).count();
        self.at = end;
        self.found.digits += digits;
        if is_infohash(run) {
            self.found.hash = true;
        }
        if run.len() >= TOKEN_BYTES && digits > 0 && digits < run.len() {
            self.number = None;
            self.has_words = true;
            self.masked = mixed(self.masked, u64::from(b'#'));
            return;
        }
        let front = run.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let words = &run[front..];
        if front > 0 {
            let joined = self.number.filter(|number| number.groups > 1);
            let begin = end - run.len();
            if joined.is_none() {
                self.masked = mixed(self.masked, u64::from(b'#'));
                self.since = begin;
            }
            let number = joined.unwrap_or(Number { digits: 0, groups: 1 });
            self.number = Some(Number { digits: number.digits + front, ..number });
            if number.digits + front >= LONG_DIGITS {
                self.found.long = true;
                self.keep(begin + front);
                // Numbers joined to it are hashed separately: each byte once.
                self.since = begin + front;
            }
        }
        if !words.is_empty() {
            self.words(words, front > 0);
        }
    }

    /// Marks the last number, up to `end`, as not a count.
    fn keep(&mut self, end: usize) {
        self.firm = mixed(self.firm, xxh3_64(&self.text[self.since.min(end)..end]));
    }

    fn words(&mut self, words: &[u8], is_suffix: bool) {
        let mut small = [0_u8; 8];
        let small = match small.get_mut(..words.len()) {
            Some(small) => {
                small.copy_from_slice(words);
                small.make_ascii_lowercase();
                std::str::from_utf8(small).unwrap_or_default()
            }
            None => "",
        };
        let after_number = is_suffix || self.number.is_some();
        // `1.4G` is a size, `1.4k` a count.
        let is_size_letter = is_suffix && matches!(words, [b'K' | b'M' | b'G' | b'T']);
        if after_number && (UNITS.contains(&small) || is_size_letter) {
            self.found.size = true;
            self.keep(self.at);
        }
        self.found.month |= words.len() >= 3 && MONTHS.iter().any(|month| small.starts_with(month) && words.len() < 10);
        self.number = None;
        if is_suffix && matches!(words, [b'k' | b'm']) {
            return;
        }
        self.has_words = true;
        // Digits within words, as in `x264`, are masked too.
        let mut in_digits = false;
        for byte in words {
            let is_digit = byte.is_ascii_digit();
            if !is_digit || !in_digits {
                self.masked = mixed(self.masked, u64::from(if is_digit { b'#' } else { *byte }));
            }
            in_digits = is_digit;
        }
    }
}

/// True for the 40 or 64 hexadecimal or 32 base32 digits of an infohash; 32 hexadecimal ones, an MD5, count too.
pub(super) fn is_infohash(run: &[u8]) -> bool {
    match run.len() {
        40 | 64 => run.iter().all(u8::is_ascii_hexdigit),
        32 => {
            run.iter().any(u8::is_ascii_digit)
                && (run.iter().all(u8::is_ascii_hexdigit)
                    || run.iter().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'2'..=b'7')))
        }
        _ => false,
    }
}

/// True if the text contains an infohash.
pub(super) fn has_infohash(text: &[u8]) -> bool {
    text.len() >= 32 && text.split(|byte| !byte.is_ascii_alphanumeric()).any(is_infohash)
}

/// A relative time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relative {
    /// `3 minutes ago`: changes at each visit.
    Age,
    /// `Yesterday, 14:03`: the name of the day will change; the time of day, whose digits have this hash, stays.
    Day(u64),
}

/// The relative time, if the whole text is one.
#[inline]
pub(super) fn relative(text: &[u8], encoding: &'static Encoding) -> Option<Relative> {
    if text.len() > RELATIVE_BYTES || !may_be_relative(text) {
        return None;
    }
    if encoding == UTF_8 || text.is_ascii() {
        return relative_utf8(std::str::from_utf8(text).ok()?);
    }
    if text.len() > RELATIVE_BYTES / 2 {
        return None;
    }
    let (decoded, _) = encoding.decode_without_bom_handling(text);
    relative_utf8(&decoded)
}

/// False for most texts: those without a letter, and those whose first word is in none of the tables. Only a first word of ASCII is looked up,
/// and only where no reference (`&nbsp;`) may be read as a word.
fn may_be_relative(text: &[u8]) -> bool {
    let Some(first) = text.iter().position(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii()) else { return false };
    let word = &text[first..];
    let end = word.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(word.len());
    let is_whole = word.get(end).is_none_or(u8::is_ascii);
    end == 0 || !is_whole || text[..first].contains(&b'&') || ascii_word(&word[..end]).is_some()
}

fn relative_utf8(text: &str) -> Option<Relative> {
    let (mut is_age, mut is_day, mut digits) = (false, false, 0_u64);
    let mut at = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        let rest = &text[at..];
        let is_letter = byte.is_ascii_alphabetic() || !byte.is_ascii() && rest.starts_with(char::is_alphabetic);
        at += if byte.is_ascii_digit() {
            digits = mixed(digits, byte.into());
            1
        } else if is_letter {
            let word = letters(rest);
            match word_of(&rest[..word])? {
                Word::Age => is_age = true,
                Word::Day => is_day = true,
                Word::Filler => {}
            }
            word
        } else if rest.starts_with("&nbsp;") {
            6
        } else {
            rest.chars().next().map_or(1, char::len_utf8)
        };
    }
    match (is_age, is_day) {
        (true, _) => Some(Relative::Age),
        (false, true) => Some(Relative::Day(digits)),
        (false, false) => None,
    }
}

/// Bytes of the letters that a text begins with.
fn letters(text: &str) -> usize {
    let ascii = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    match text.as_bytes().get(ascii) {
        Some(byte) if !byte.is_ascii() => text.find(|letter: char| !letter.is_alphabetic()).unwrap_or(text.len()),
        _ => ascii,
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Word {
    Age,
    Day,
    Filler,
}

fn word_of(word: &str) -> Option<Word> {
    let found = ascii_word(word.as_bytes());
    if found.is_some() || word.is_ascii() || word.len() > WORD_BYTES {
        return found;
    }
    WORDS.get(&xxh3_64(word.to_lowercase().as_bytes())).copied()
}

/// The word, of which only ASCII letters may be capitals.
fn ascii_word(word: &[u8]) -> Option<Word> {
    let mut small = [0_u8; WORD_BYTES];
    let small = small.get_mut(..word.len())?;
    small.copy_from_slice(word);
    small.make_ascii_lowercase();
    WORDS.get(&xxh3_64(small)).copied()
}

/// Bytes of the longest word of the tables.
const WORD_BYTES: usize = 24;

/// Ages, days, and words allowed beside them, in the languages of the sites that list torrents; by their hashes.
static WORDS: LazyLock<Keys<Word>> = LazyLock::new(|| {
    // A word of two topics counts as the last.
    let topics = [("noise filler", Word::Filler), ("noise day", Word::Day), ("noise age", Word::Age)];
    let of = |(topic, kind): (&str, Word)| {
        phrases("time", topic).into_iter().map(move |word| (xxh3_64(word.as_bytes()), kind))
    };
    topics.into_iter().flat_map(of).collect()
});

#[cfg(test)]
mod tests;

//! The content of one record: its links, and its visible texts line by line. Each line has a slot that it shares with
//! the same line of the other records.

use super::flat::{Page, hash, is_link};
use super::records::Record;
use super::when::{Reading, read, read_attribute};
use crate::limits::{BOARD_CELLS_MAX, BOARD_TEXT_BYTES_MAX};

/// A link of a record.
pub(super) struct LinkSeen {
    pub element: usize,
    /// Its text, without outer spaces.
    pub text: String,
}

/// A line of a record: text not separated by a block.
pub(super) struct Line<'p> {
    /// The same for the same line of every record: the column of a table, else the tags and classes down to the line.
    pub slot: u64,
    /// The column in a table's row, spans counted.
    pub column: Option<usize>,
    /// The innermost block.
    pub block: usize,
    /// Its texts with their elements, without outer spaces.
    pub runs: Vec<(usize, &'p str)>,
    /// Times from its attributes: machine-readable ones first.
    pub told: Vec<AttributeTime>,
}

/// A time in an attribute.
#[derive(Clone, Copy)]
pub(super) struct AttributeTime {
    pub reading: Reading,
}

/// The content of one record.
pub(super) struct Content<'p> {
    pub links: Vec<LinkSeen>,
    pub lines: Vec<Line<'p>>,
}

/// Attributes that contain times, the most reliable first.
const TIME_ATTRIBUTES: [&str; 16] = [
    "datetime",
    "data-time",
    "data-timestamp",
    "data-unixtime",
    "data-epoch",
    "data-utime",
    "data-ts",
    "data-date",
    "data-datetime",
    "data-created",
    "data-livestamp",
    "timestamp",
    "unixtime",
    "date",
    "title",
    "data-original-title",
];

/// Inline elements, which do not separate lines.
const INLINE: [&str; 24] = [
    "a", "abbr", "acronym", "b", "bdi", "big", "cite", "code", "em", "font", "i", "img", "ins", "label", "mark",
    "nobr", "q", "s", "small", "span", "strong", "time", "tt", "u",
];

impl<'p> Content<'p> {
    pub fn of(page: &Page<'p>, record: &Record) -> Self {
        let mut content = Self { links: Vec::new(), lines: Vec::new() };
        let mut blocks: Vec<(usize, u64, Option<usize>)> = Vec::new();
        let mut text_at = record.texts.start;
        let mut column = 0_usize;
        let mut line_open = false;
        for (number, at) in record.elements(page).enumerate() {
            if number >= BOARD_CELLS_MAX {
                break;
            }
            let flat = &page.elements[at];
            content.take_texts(page, record, &mut text_at, at, &blocks, &mut line_open);
            while blocks.last().is_some_and(|(block, ..)| page.elements[*block].end <= at) {
                blocks.pop();
                line_open = false;
            }
            if is_link(flat.element) && content.links.len() < BOARD_CELLS_MAX {
                content.links.push(LinkSeen { element: at, text: text_of(page, flat.texts.clone()) });
            }
            if !INLINE.contains(&flat.tag()) || record.parts.contains(&at) && flat.tag() != "a" {
                line_open = false;
                if flat.tag() != "br" {
                    let (above, above_column) = blocks.last().map_or((0, None), |(_, slot, column)| (*slot, *column));
                    let (slot, here) = match flat.tag() {
                        "td" | "th" => {
                            let here = column;
                            column += span(flat.attr("colspan"));
                            (hash(&("cell", here)), Some(here))
                        }
                        tag => {
                            if tag == "tr" {
                                column = 0;
                            }
                            (hash(&(above, tag, class_hash(flat.attr("class")))), above_column)
                        }
                    };
                    blocks.push((at, slot, here));
                }
            }
            if let Some(reading) = told(flat.element) {
                content.line(at, &blocks, &mut line_open).told.push(AttributeTime { reading });
            }
        }
        content.take_texts(page, record, &mut text_at, usize::MAX, &blocks, &mut line_open);
        content.number_lines();
        content
    }

    /// Takes the texts before the element `until`.
    fn take_texts(
        &mut self,
        page: &Page<'p>,
        record: &Record,
        text_at: &mut usize,
        until: usize,
        blocks: &[(usize, u64, Option<usize>)],
        line_open: &mut bool,
    ) {
        let limit =
            if until == usize::MAX { record.texts.end } else { page.elements[until].texts.start.min(record.texts.end) };
        while *text_at < limit {
            let text = &page.texts[*text_at];
            *text_at += 1;
            // Text after a closed block starts a new line.
            let within =
                blocks.iter().rposition(|(block, ..)| *block <= text.parent && text.parent < page.elements[*block].end);
            let kept = within.map_or(0, |at| at + 1);
            if kept < blocks.len() {
                *line_open = false;
            }
            let trimmed = text.text.trim();
            let mut end = trimmed.len().min(BOARD_TEXT_BYTES_MAX);
            while !trimmed.is_char_boundary(end) {
                end -= 1;
            }
            self.line(text.parent, &blocks[..kept], line_open).runs.push((text.parent, &trimmed[..end]));
            if kept < blocks.len() {
                *line_open = false;
            }
        }
    }

    /// The current line, or a new one.
    fn line(&mut self, at: usize, blocks: &[(usize, u64, Option<usize>)], line_open: &mut bool) -> &mut Line<'p> {
        if !*line_open || self.lines.is_empty() {
            let (block, slot, column) = blocks.last().copied().unwrap_or((at, 0, None));
            self.lines.push(Line { slot, column, block, runs: Vec::new(), told: Vec::new() });
            *line_open = true;
        }
        let last = self.lines.len() - 1;
        &mut self.lines[last]
    }

    /// Numbers the lines of one slot to distinguish them.
    fn number_lines(&mut self) {
        let mut seen: Vec<(u64, usize)> = Vec::new();
        for line in &mut self.lines {
            let number = match seen.iter_mut().find(|(slot, _)| *slot == line.slot) {
                Some((_, number)) => {
                    *number += 1;
                    *number
                }
                None => {
                    seen.push((line.slot, 0));
                    0
                }
            };
            line.slot = hash(&(line.slot, number));
        }
    }
}

impl Line<'_> {
    /// The line's text, without the element `except` (the title, which may contain any date).
    pub fn text(&self, page: &Page<'_>, except: Option<usize>) -> String {
        let mut text = String::new();
        for (element, run) in &self.runs {
            let is_within = except.is_some_and(|except| except <= *element && *element < page.elements[except].end);
            if !is_within {
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(run);
            }
        }
        text
    }
}

fn span(colspan: Option<&str>) -> usize {
    colspan.and_then(|text| text.trim().parse::<usize>().ok()).unwrap_or(1).clamp(1, 100)
}

/// Classes without their numbers: `row1` and `row2` are equal.
fn class_hash(class: Option<&str>) -> u64 {
    class.map_or(0, |class| {
        let plain: String = class.chars().filter(|character| !character.is_ascii_digit()).collect();
        hash(&plain)
    })
}

/// The time in an element's attributes. A `title` counts only if it contains nothing else.
fn told(element: &scraper::node::Element) -> Option<Reading> {
    let rank = |name: &str| TIME_ATTRIBUTES.iter().position(|known| *known == name);
    let read = |name: &str, value: &str| match name {
        "title" | "data-original-title" | "date" => {
            let found = (value.len() >= 6).then(|| read(value)).flatten()?;
            let is_marked = !matches!(found.reading, Reading::Ago { marked: false, .. });
            (found.whole && is_marked).then_some(found.reading)
        }
        _ => read_attribute(value),
    };
    let ranked = element.attrs().filter_map(|(name, value)| Some((rank(name)?, read(name, value)?)));
    ranked.min_by_key(|(rank, _)| *rank).map(|(_, reading)| reading)
}

/// Texts joined by spaces, with a size limit.
pub(super) fn text_of(page: &Page<'_>, texts: std::ops::Range<usize>) -> String {
    let mut joined = String::new();
    for text in &page.texts[texts] {
        for word in text.text.split_whitespace() {
            if joined.len() + word.len() >= BOARD_TEXT_BYTES_MAX {
                return joined;
            }
            if !joined.is_empty() {
                joined.push(' ');
            }
            joined.push_str(word);
        }
    }
    joined
}

/// A count as usually written: `1,234`, `12.3k`, `1.2万`. `None` if the text contains anything else.
pub(super) fn count(text: &str) -> Option<u64> {
    let text = text.trim().trim_matches(['(', ')', '[', ']', '+']);
    let lower = text.to_lowercase();
    let (digits, factor) =
        [("k", 1_000_u64), ("тыс.", 1_000), ("m", 1_000_000), ("万", 10_000), ("萬", 10_000), ("만", 10_000)]
            .iter()
            .find_map(|(mark, factor)| lower.strip_suffix(mark).map(|digits| (digits.trim(), *factor)))
            .unwrap_or((lower.as_str(), 1));
    if digits.is_empty() || digits.len() > 20 || !digits.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    if factor > 1 {
        let value: f64 = digits.replace(',', ".").parse().ok()?;
        // At most 20 digits times a million: no relevant count is lost.
        return Some((value * factor as f64) as u64);
    }
    let groups: Vec<&str> = digits.split([',', '.', ' ', '\u{a0}', '\u{202f}', '\'', '\u{2019}']).collect();
    let is_grouped = groups.len() == 1 || groups[0].len() <= 3 && groups[1..].iter().all(|group| group.len() == 3);
    let plain: String = groups.concat();
    (is_grouped && plain.bytes().all(|byte| byte.is_ascii_digit())).then(|| plain.parse().ok()).flatten()
}

/// Bytes, as sizes are written: `1.4 GiB`, `700 MB`, `4,3 ГБ`, `384K`. Units count as powers of 1024.
pub(super) fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let split =
        text.find(|character: char| !character.is_ascii_digit() && !matches!(character, '.' | ',' | '\u{a0}'))?;
    let (number, unit) = text.split_at(split);
    let number = number.trim_end_matches('\u{a0}');
    let unit = unit.trim().to_lowercase();
    let power = match unit.as_str() {
        "b" | "bytes" | "byte" | "octets" | "o" | "б" => 0,
        "k" | "kb" | "kib" | "ko" | "кб" => 1,
        "m" | "mb" | "mib" | "mo" | "мб" => 2,
        "g" | "gb" | "gib" | "go" | "гб" => 3,
        "t" | "tb" | "tib" | "to" | "тб" => 4,
        _ => return None,
    };
    // A separator followed by three digits separates thousands.
    let plain = if number.matches([',', '.']).count() == 1
        && number.rsplit([',', '.']).next().is_none_or(|tail| tail.len() != 3)
    {
        number.replace(',', ".")
    } else {
        number.replace([',', '.'], "")
    };
    let value: f64 = plain.parse().ok()?;
    Some((value * 1024_f64.powi(power)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_sizes_are_read_as_people_write_them() {
        for (text, expected) in [
            ("0", Some(0)),
            ("1,234", Some(1_234)),
            ("1.234.567", Some(1_234_567)),
            ("1\u{a0}234", Some(1_234)),
            ("12.3k", Some(12_300)),
            ("1.2万", Some(12_000)),
            ("(12)", Some(12)),
            ("1.23", None),
            ("---", None),
            ("N/A", None),
            ("", None),
            ("2026-11-21", None),
            ("99999999999999999999999", None),
        ] {
            assert_eq!(count(text), expected, "{text}");
        }
        for (text, expected) in [
            ("1.5 GiB", Some(1_610_612_736)),
            ("700MB", Some(734_003_200)),
            ("1,5 GB", Some(1_610_612_736)),
            ("1,024 MB", Some(1 << 30)),
            ("384K", Some(393_216)),
            ("415 B", Some(415)),
            ("415", None),
            ("GB", None),
            ("1 apple", None),
        ] {
            assert_eq!(size(text), expected, "{text}");
        }
    }
}

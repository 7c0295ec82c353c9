//! The words of dates (`models/words/time.tsv`): months, weekdays, relative days, units of time, and the small words
//! around them, in the languages of the crawled sites. Lower case; matched as whole words, or as the longest match in
//! scripts without spaces.

use std::collections::HashMap;
use std::sync::LazyLock;

use gleaner_base::words::{Row, rows};

/// The meanings of a word in a date. One word may have several (`mar`: March, martes); the grammar takes the one that
/// fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// January is 1.
    Month(u8),
    /// Monday is 0.
    Weekday(u8),
    /// Days before today.
    DaysBack(u8),
    Unit(Unit),
    /// The duration before or after it is in the past.
    Ago,
    /// This moment.
    Now,
    Half,
    One,
    /// A few.
    Few,
    Am,
    Pm,
    /// Seconds east of UTC.
    Zone(i32),
    /// An inexact duration: rounded, or "less than".
    About,
    /// After a number: its unit.
    Year,
    MonthMark,
    DayMark,
    HourMark,
    MinuteMark,
    SecondMark,
    /// `st`, `nd`, `rd`, `th`, `er`, `º`.
    Ordinal,
    /// Between a date and its time, or within a date.
    Filler,
}

/// Units of durations, by their seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

impl Unit {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "second" => Self::Second,
            "minute" => Self::Minute,
            "hour" => Self::Hour,
            "day" => Self::Day,
            "week" => Self::Week,
            "month" => Self::Month,
            "year" => Self::Year,
            _ => return None,
        })
    }

    pub(super) fn seconds(self) -> i64 {
        match self {
            Self::Second => 1,
            Self::Minute => 60,
            Self::Hour => 3_600,
            Self::Day => 86_400,
            Self::Week => 7 * 86_400,
            Self::Month => 2_629_746,
            Self::Year => 31_556_952,
        }
    }
}

impl Meaning {
    /// The unit of a topic of the table; None for topics of other modules.
    fn of(topic: &str) -> Option<Self> {
        let (family, value) = topic.split_once(' ').unwrap_or((topic, ""));
        Some(match family {
            "month" => Self::Month(value.parse().ok()?),
            "weekday" => Self::Weekday(value.parse().ok()?),
            "days_back" => Self::DaysBack(value.parse().ok()?),
            "unit" => Self::Unit(Unit::of(value)?),
            "ago" => Self::Ago,
            "now" => Self::Now,
            "half" => Self::Half,
            "one" => Self::One,
            "few" => Self::Few,
            "am" => Self::Am,
            "pm" => Self::Pm,
            "zone" => Self::Zone(value.parse().ok()?),
            "about" => Self::About,
            "year" => Self::Year,
            "month_mark" => Self::MonthMark,
            "day_mark" => Self::DayMark,
            "hour_mark" => Self::HourMark,
            "minute_mark" => Self::MinuteMark,
            "second_mark" => Self::SecondMark,
            "ordinal" => Self::Ordinal,
            "filler" => Self::Filler,
            _ => return None,
        })
    }
}

gleaner_base::topics! { pub(super) time: TIME_NOW; }

/// All meanings of each word, in row order.
static WORDS: LazyLock<HashMap<&'static str, Vec<Meaning>>> = LazyLock::new(|| {
    let of_row = |row: Row| (row.phrase, row.topics().filter_map(Meaning::of).collect::<Vec<_>>());
    rows("time").map(of_row).filter(|(_, meanings)| !meanings.is_empty()).collect()
});

/// Characters of the longest word of a script without spaces.
const LONGEST: usize = 4;

/// The meanings of a word; empty for words that dates do not use.
pub(super) fn meanings(word: &str) -> &'static [Meaning] {
    let bare = word.trim_end_matches('.');
    WORDS.get(word).or_else(|| WORDS.get(bare)).map_or(&[], Vec::as_slice)
}

/// The longest word of a script without spaces at the start of `text`, and its bytes.
pub(super) fn unspaced(text: &str) -> Option<(&'static [Meaning], usize)> {
    let mut ends: Vec<usize> = text.char_indices().map(|(at, _)| at).skip(1).take(LONGEST).collect();
    if ends.len() < LONGEST {
        ends.push(text.len());
    }
    ends.into_iter().rev().find_map(|end| WORDS.get(&text[..end]).map(|found| (found.as_slice(), end)))
}

/// True for characters of scripts without spaces between words, or between a number and its unit.
pub(in crate::boards) fn is_unspaced(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_in_the_form_in_which_they_are_asked_for() {
        for word in WORDS.keys() {
            assert!(!word.is_empty() && *word == word.to_lowercase(), "{word:?}");
            let unspaced_characters = word.chars().filter(|&character| is_unspaced(character)).count();
            assert!(unspaced_characters <= LONGEST, "{word:?}");
        }
        let unknown =
            |topic: &&str| Meaning::of(topic).is_none() && !topic.starts_with("noise ") && !topic.starts_with("wait");
        let unread: Vec<&str> =
            rows("time").flat_map(|row| row.topics()).filter(unknown).filter(|of| *of != "time_now").collect();
        assert_eq!(unread, [""; 0], "topics that nobody reads");
        assert_eq!(unspaced("个月前"), Some((&[Meaning::Unit(Unit::Month)][..], "个月".len())));
        assert_eq!(unspaced("猫"), None);
        assert_eq!(unspaced(""), None);
        assert_eq!(meanings("mar").len(), 2);
        assert_eq!(meanings("févr."), [Meaning::Month(2)]);
    }
}

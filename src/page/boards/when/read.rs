//! Parses times in text, without interpreting them: a relative time ("3 小时前"), an instant (an epoch, a time with its
//! own offset), or a local date and time of day, whose order of day and month may be open.
//!
//! One pass over at most [`TIME_TEXT_BYTES_MAX`] bytes, with the words of `words.rs`; the first date in the text
//! wins. Knows no current time, no zone and no page: `settle.rs` interprets.

use super::tokens::{Token, tokens};
use super::words::{Meaning, Unit, is_unspaced};
use crate::limits::TIME_TEXT_BYTES_MAX;

/// A time of day as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeOfDay {
    /// Seconds since midnight.
    pub second: i64,
    /// True if seconds were written.
    pub has_seconds: bool,
}

/// The day in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Day {
    /// Complete.
    Full { year: i32, month: u8, day: u8 },
    /// Without a year.
    NoYear { month: u8, day: u8 },
    /// Three numbers in unknown order; `last_digits` of the third, `mark` between them.
    Numbers { first: u8, second: u8, third: u16, last_digits: u8, mark: char },
    /// Two numbers in unknown order.
    Pair { first: u8, second: u8, mark: char },
    /// Days ago; 0 is today.
    Back(u8),
    /// The last such weekday; 0 is Monday.
    Weekday(u8),
    /// Only a time of day.
    Unsaid,
}

/// A parsed time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// An instant, in seconds since 1970-01-01 UTC, with its precision in seconds.
    Absolute { at: i64, span: i64, own_offset: bool },
    /// More than `least` and less than `most` seconds ago.
    Ago { least: i64, most: i64, unit: i64, marked: bool },
    /// A day and perhaps a time of day, in the site's zone.
    Local { day: Day, clock: Option<TimeOfDay>, half_day: bool },
}

/// A reading, and whether the text contains nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextReading {
    pub reading: Reading,
    pub whole: bool,
}

/// The first time in `text`.
#[must_use]
pub fn read(text: &str) -> Option<TextReading> {
    let mut end = text.len().min(TIME_TEXT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let lower = text[..end].to_lowercase().replace(['\u{2019}', '\u{ff07}'], "'");
    let tokens = tokens(&lower);
    let grammar = Grammar { tokens: &tokens };
    let (reading, used) = grammar.first()?;
    Some(TextReading { reading, whole: grammar.is_rest_silent(used) })
}

/// Parses an attribute such as `datetime`, `data-time` or `data-timestamp`: an epoch in seconds or milliseconds, else
/// like [`read`].
#[must_use]
pub fn read_attribute(value: &str) -> Option<Reading> {
    let value = value.trim();
    if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_digit()) {
        return read(value).map(|read| read.reading);
    }
    let number: i64 = value.parse().ok()?;
    // 2000-01-01 to 2100-01-01.
    const SENSIBLE: std::ops::Range<i64> = 946_684_800..4_102_444_800;
    let at = if SENSIBLE.contains(&number) { number } else { number / 1_000 };
    (SENSIBLE.contains(&at)).then_some(Reading::Absolute { at, span: 1, own_offset: false })
}

struct Grammar<'t> {
    tokens: &'t [Token<'t>],
}

/// A parsed part, and the position of the token after it.
type Part<T> = Option<(T, usize)>;

impl<'t> Grammar<'t> {
    fn number(&self, at: usize) -> Option<(u64, usize)> {
        match self.tokens.get(at)? {
            Token::Number { value, digits } => Some((*value, *digits)),
            _ => None,
        }
    }

    /// A number of at most two digits within `range`.
    fn small(&self, at: usize, range: std::ops::RangeInclusive<u64>) -> Option<u8> {
        let (value, digits) = self.number(at)?;
        (digits <= 2 && range.contains(&value)).then(|| u8::try_from(value).ok()).flatten()
    }

    fn year(&self, at: usize) -> Option<i32> {
        let (value, digits) = self.number(at)?;
        (digits == 4 && (1970..2100).contains(&value)).then(|| i32::try_from(value).ok()).flatten()
    }

    fn sign(&self, at: usize) -> Option<char> {
        match self.tokens.get(at)? {
            Token::Sign(sign) => Some(*sign),
            _ => None,
        }
    }

    fn find<T>(&self, at: usize, take: impl Fn(Meaning) -> Option<T>) -> Option<T> {
        match self.tokens.get(at)? {
            Token::Word { means, .. } => means.iter().copied().find_map(take),
            _ => None,
        }
    }

    fn says(&self, at: usize, meaning: Meaning) -> bool {
        self.find(at, |found| (found == meaning).then_some(())).is_some()
    }

    fn raw(&self, at: usize) -> &'t str {
        match self.tokens.get(at) {
            Some(Token::Word { raw, .. }) => raw,
            _ => "",
        }
    }

    fn month(&self, at: usize) -> Option<u8> {
        self.find(at, |meaning| if let Meaning::Month(month) = meaning { Some(month) } else { None })
    }

    fn unit(&self, at: usize) -> Option<Unit> {
        self.find(at, |meaning| if let Meaning::Unit(unit) = meaning { Some(unit) } else { None })
    }

    /// The first date; a time of day alone only if the text contains nothing else.
    fn first(&self) -> Option<(Reading, std::ops::Range<usize>)> {
        let mut at = 0;
        let mut before: Option<(TimeOfDay, bool, std::ops::Range<usize>)> = None;
        while at < self.tokens.len() {
            if let Some((reading, end)) = self.ago(at) {
                return Some((reading, at..end));
            }
            if let Some((day, end)) = self.day(at) {
                return self.with_clock(day, at, end, before);
            }
            if let Some(((clock, half_day, zone), end)) = self.clock(at) {
                if zone.is_none() || at == 0 {
                    before = Some((clock, half_day, at..end));
                }
                at = end;
                continue;
            }
            at += 1;
        }
        if let Some((clock, half_day, used)) = before
            && self.is_rest_silent(used.clone())
        {
            return Some((Reading::Local { day: Day::Unsaid, clock: Some(clock), half_day }, used));
        }
        self.now()
    }

    /// A day with the time of day after or before it. Days that words alone do not prove need one, or nothing else
    /// around them.
    fn with_clock(
        &self,
        day: Day,
        at: usize,
        end: usize,
        before: Option<(TimeOfDay, bool, std::ops::Range<usize>)>,
    ) -> Option<(Reading, std::ops::Range<usize>)> {
        let mut end = end;
        let mut day = day;
        let behind = self.clock(self.past_fillers(end));
        if let Some(((clock, half_day, zone), after)) = behind {
            end = after;
            // `Sat Nov 21 14:03:00 2026`.
            if let (Day::NoYear { month, day: of_month }, Some(year)) = (day, self.year(after)) {
                day = Day::Full { year, month, day: of_month };
                end += 1;
            }
            let local = Reading::Local { day, clock: Some(clock), half_day };
            let reading = match (zone, day) {
                (Some(offset), Day::Full { year, month, day }) => instant(year, month, day, clock, offset)?,
                _ => local,
            };
            return Some((reading, at..end));
        }
        let near = before.filter(|(_, _, used)| self.past_fillers(used.end) >= at && used.end <= at);
        let from = near.as_ref().map_or(at, |(_, _, used)| used.start);
        let is_weak = matches!(day, Day::Back(_) | Day::Weekday(_) | Day::Pair { .. });
        if near.is_none() && is_weak && !self.is_rest_silent(at..end) {
            return None;
        }
        let half_day = near.as_ref().is_some_and(|(_, half_day, _)| *half_day);
        let clock = near.map(|(clock, ..)| clock);
        Some((Reading::Local { day, clock, half_day }, from..end))
    }

    /// True if only fillers and punctuation are outside `used`.
    fn is_rest_silent(&self, used: std::ops::Range<usize>) -> bool {
        (0..self.tokens.len()).filter(|at| !used.contains(at)).all(|at| match self.tokens[at] {
            Token::Sign(_) => true,
            Token::Number { .. } => false,
            Token::Word { means, .. } => means.iter().any(|meaning| {
                matches!(
                    meaning,
                    Meaning::Filler | Meaning::Weekday(_) | Meaning::Zone(_) | Meaning::Ordinal | Meaning::About
                )
            }),
        })
    }

    fn past_fillers(&self, at: usize) -> usize {
        let mut at = at;
        while self.says(at, Meaning::Filler)
            || self.raw(at) == "t"
            || self.sign(at).is_some_and(|sign| !matches!(sign, '+'))
            || self.find(at, |meaning| matches!(meaning, Meaning::Weekday(_)).then_some(())).is_some()
        {
            at += 1;
        }
        at
    }

    /// A time of day, whether it is in 12-hour form, and the offset from UTC after it.
    fn clock(&self, at: usize) -> Part<(TimeOfDay, bool, Option<i32>)> {
        let half = |at: usize| match (self.says(at, Meaning::Am), self.says(at, Meaning::Pm)) {
            (true, _) => Some(false),
            (_, true) => Some(true),
            _ => None,
        };
        let before = half(at);
        let at = at + usize::from(before.is_some());
        let hour = self.small(at, 0..=24)?;
        let mut end = at + 1;
        let (mut minute, mut second) = (0, None);
        let is_marked = self.says(end, Meaning::HourMark);
        let is_german = self.sign(end) == Some('.') && matches!(self.raw(end + 2), "uhr");
        if is_marked || is_german || self.sign(end) == Some(':') {
            end += 1;
            match self
                .small(end, 0..=59)
                .filter(|_| self.number(end).is_some_and(|(_, digits)| digits == 2 || is_marked))
            {
                Some(found) => {
                    minute = found;
                    end += 1;
                }
                None if is_marked && is_unspaced(self.raw(end - 1).chars().next()?) => {}
                None => return None,
            }
            let seconds_at = end + 1;
            if self.sign(end) == Some(':') || self.says(end, Meaning::MinuteMark) {
                match self
                    .small(seconds_at, 0..=60)
                    .filter(|_| self.number(seconds_at).is_some_and(|(_, digits)| digits == 2))
                {
                    Some(found) => {
                        second = Some(found);
                        end = seconds_at + 1;
                    }
                    None => end += usize::from(self.says(end, Meaning::MinuteMark)),
                }
                end += usize::from(second.is_some() && self.says(end, Meaning::SecondMark));
            }
            // A fraction of a second.
            if second.is_some() && self.sign(end) == Some('.') && self.number(end + 1).is_some() {
                end += 2;
            }
        } else if before.is_none() && half(end).is_none() {
            return None;
        }
        let behind = half(end);
        end += usize::from(behind.is_some());
        let half = before.or(behind);
        let hour = match half {
            Some(is_pm) if (1..=12).contains(&hour) => hour % 12 + if is_pm { 12 } else { 0 },
            _ => hour,
        };
        let (zone, end) = self.zone(end);
        let second_of_day = i64::from(hour) * 3_600 + i64::from(minute) * 60 + i64::from(second.unwrap_or(0));
        let clock = TimeOfDay { second: second_of_day.min(86_400), has_seconds: second.is_some() };
        Some(((clock, half.is_some(), zone), end))
    }

    /// `Z`, `GMT`, `UTC+8`, `+0100`, `+01:00`.
    fn zone(&self, at: usize) -> (Option<i32>, usize) {
        let at = at + usize::from(self.sign(at) == Some('('));
        let named = self.find(at, |meaning| if let Meaning::Zone(offset) = meaning { Some(offset) } else { None });
        let signed = at + usize::from(named.is_some());
        let direction = match self.sign(signed) {
            Some('+') => 1,
            Some('-' | '\u{2212}') => -1,
            _ => return (named, signed),
        };
        let (Some((value, digits)), next) = (self.number(signed + 1), signed + 2) else {
            return (named, signed);
        };
        let minutes = match digits {
            4 => (value / 100) * 60 + value % 100,
            1 | 2 if self.sign(next) == Some(':') => match self.small(next + 1, 0..=59) {
                Some(minutes) => value * 60 + u64::from(minutes),
                None => return (named, signed),
            },
            1 | 2 if named == Some(0) => value * 60,
            _ => return (named, signed),
        };
        let end = if digits < 3 && self.sign(next) == Some(':') { next + 2 } else { next };
        match i32::try_from(minutes) {
            Ok(minutes) if minutes <= 14 * 60 => (Some(direction * minutes * 60), end),
            _ => (named, signed),
        }
    }

    fn day(&self, at: usize) -> Part<Day> {
        self.numeric_day(at)
            .or_else(|| self.marked_day(at))
            .or_else(|| self.named_month(at))
            .or_else(|| self.day_word(at))
    }

    /// `2026-11-21`, `21.11.2026`, `11/21/26`, `11-21 14:03`.
    fn numeric_day(&self, at: usize) -> Part<Day> {
        let mark = self.sign(at + 1).filter(|sign| matches!(sign, '-' | '/' | '.'))?;
        // A number within a longer one (`1.2.3.4`, `10-20-30-40`) is not a date.
        if at >= 2 && self.sign(at - 1) == Some(mark) && self.number(at - 2).is_some() {
            return None;
        }
        if let Some(year) = self.year(at) {
            let (month, day) = (self.small(at + 2, 1..=12)?, self.small(at + 4, 1..=31)?);
            return (self.sign(at + 3) == Some(mark)).then_some((Day::Full { year, month, day }, at + 5));
        }
        let (first, second) = (self.small(at, 1..=99)?, self.small(at + 2, 1..=31)?);
        if self.sign(at + 3) == Some(mark)
            && let Some((third, digits)) = self.number(at + 4)
        {
            let is_longer = self.sign(at + 5) == Some(mark) && self.number(at + 6).is_some();
            let third_fits = digits == 4 && (1970..2100).contains(&third) || digits == 2;
            let last_digits = u8::try_from(digits).ok()?;
            let day = Day::Numbers { first, second, third: u16::try_from(third).ok()?, last_digits, mark };
            return (third_fits && !is_longer).then_some((day, at + 5));
        }
        let has_clock = self.clock(self.past_fillers(at + 3)).is_some();
        let is_alone = mark != '.' && self.is_rest_silent(at..at + 3) && self.number(at + 2)?.1 == 2;
        // `21.11.` ends with its separator.
        let end = at + 3 + usize::from(mark == '.' && self.sign(at + 3) == Some('.'));
        ((has_clock || is_alone) && first <= 31).then_some((Day::Pair { first, second, mark }, end))
    }

    /// `2026年11月21日`, `11월 21일`.
    fn marked_day(&self, at: usize) -> Part<Day> {
        let year = self.year(at).filter(|_| self.says(at + 1, Meaning::Year));
        let at = at + if year.is_some() { 2 } else { 0 };
        let month = self.small(at, 1..=12).filter(|_| self.says(at + 1, Meaning::MonthMark))?;
        let day = self.small(at + 2, 1..=31).filter(|_| self.says(at + 3, Meaning::DayMark))?;
        let named = match year {
            Some(year) => Day::Full { year, month, day },
            None => Day::NoYear { month, day },
        };
        Some((named, at + 4))
    }

    /// `21-Nov-2026`, `21. November`, `3 de mayo de 2026`, `May 3rd, 2026`, `Nov 21`.
    fn named_month(&self, at: usize) -> Part<Day> {
        if let Some(day) = self.small(at, 1..=31) {
            let mut next = at + 1;
            while next < at + 4 && (self.says(next, Meaning::Ordinal) || self.is_joint(next)) {
                next += 1;
            }
            // `3 mar` may be three seas, `5 may` a verb: a short word needs a year or a time of day after it.
            let month = self.month(next)?;
            let (year, end) = self.year_behind(next + 1, true);
            return Some((day_of(year, month, day), end));
        }
        let month = self.month(at)?;
        let next = at + 1 + usize::from(self.sign(at + 1).is_some_and(|sign| matches!(sign, '.' | '-')));
        let day = self.small(next, 1..=31)?;
        // `Nov 14:03` is a time.
        if self.sign(next + 1) == Some(':') {
            return None;
        }
        let next = next + 1 + usize::from(self.says(next + 1, Meaning::Ordinal));
        let (year, end) = self.year_behind(next, false);
        Some((day_of(year, month, day), end))
    }

    /// The year after day and month: four digits, or two after a dash or an apostrophe.
    fn year_behind(&self, at: usize, is_day_first: bool) -> (Option<i32>, usize) {
        let mut next = at;
        while next < at + 3 && self.is_joint(next) {
            next += 1;
        }
        if let Some(year) = self.year(next) {
            return (Some(year), next + 1);
        }
        let marked = next > at && matches!(self.sign(next - 1), Some('\'' | '-' | '/'));
        let two = self.number(next).filter(|&(_, digits)| digits == 2 && (marked || is_day_first));
        match two {
            Some((value, _)) if self.sign(next + 1) != Some(':') && !self.says(next + 1, Meaning::HourMark) => {
                (i32::try_from(value).ok().map(full_year), next + 1)
            }
            _ => (None, at),
        }
    }

    fn is_joint(&self, at: usize) -> bool {
        self.sign(at).is_some_and(|sign| matches!(sign, ',' | '.' | '-' | '/' | '\''))
            || matches!(self.raw(at), "de" | "of" | "del" | "г")
    }

    fn day_word(&self, at: usize) -> Part<Day> {
        let back = self.find(at, |meaning| if let Meaning::DaysBack(back) = meaning { Some(back) } else { None });
        if let Some(back) = back {
            return Some((Day::Back(back), at + 1));
        }
        let weekday =
            self.find(at, |meaning| if let Meaning::Weekday(number) = meaning { Some(number) } else { None })?;
        let next = at + 1 + usize::from(self.sign(at + 1) == Some(','));
        let next = next + usize::from(self.says(next, Meaning::Filler));
        // A weekday beside a date adds nothing; alone it needs a time of day.
        self.clock(next).map(|_| (Day::Weekday(weekday), at + 1))
    }

    /// `3 hours ago`, `vor 2 Tagen`, `2d 4h`, `半小时前`.
    fn ago(&self, at: usize) -> Part<Reading> {
        let mut next = at;
        let mut marked = false;
        let mut about = false;
        if self.raw(at) == "il" && self.raw(at + 1) == "y" && self.raw(at + 2) == "a" {
            next += 3;
            marked = true;
        } else if self.says(at, Meaning::Ago) && self.raw(at) != "il" {
            next += 1;
            marked = true;
        }
        while next < at + 8
            && (self.says(next, Meaning::About) || next > at && self.says(next, Meaning::Filler))
            && self.quantity(next).is_none()
        {
            about = true;
            next += 1;
        }
        if self.says(next, Meaning::One) && self.says(next + 1, Meaning::Few) {
            next += 1;
        }
        let is_few = self.says(next, Meaning::Few);
        let (mut total, mut smallest) = (0_i64, None::<i64>);
        while let Some((amount, is_half, unit, end)) = self.quantity(next) {
            let unit = unit.seconds() / if is_half { 2 } else { 1 };
            if smallest.is_some_and(|known| known <= unit) {
                break;
            }
            total = total.checked_add(amount.checked_mul(unit)?)?;
            smallest = Some(unit);
            next = end + usize::from(self.sign(end) == Some(','));
        }
        let unit = smallest?;
        if !marked && self.says(next, Meaning::Ago) {
            marked = true;
            next += 1;
        }
        let is_all = at == 0 && next == self.tokens.len();
        if !(marked || is_all) || total > 100 * 31_556_952 {
            return None;
        }
        // Some sites round down, others to the nearest.
        let slack = match (is_few, about) {
            (true, _) => total,
            (_, true) => unit,
            _ => unit / 2,
        };
        let most = total.saturating_add(if is_few { 9 * total } else { unit });
        Some((Reading::Ago { least: (total - slack).max(0), most, unit, marked }, next))
    }

    /// `3 hours`, `an hour`, `半小时`, `3 个月`: the number, whether it is a half, its unit, what follows.
    fn quantity(&self, at: usize) -> Option<(i64, bool, Unit, usize)> {
        let (amount, is_half) = match self.number(at) {
            Some((value, digits)) if digits <= 5 => (i64::try_from(value).ok()?, false),
            Some(_) => return None,
            None if self.says(at, Meaning::Few) => (5, false),
            None if self.says(at, Meaning::Half) => (1, true),
            None if self.says(at, Meaning::One) => (1, false),
            None => return None,
        };
        let mut next = at + 1 + usize::from(matches!(self.raw(at + 1), "个" | "個"));
        next += usize::from(is_half && self.says(next, Meaning::One));
        let unit = self.unit(next)?;
        // `5m:` and `3 h 20` have another meaning.
        Some((amount, is_half, unit, next + 1 + usize::from(self.sign(next + 1) == Some('.'))))
    }

    /// A short text that says "now".
    fn now(&self) -> Option<(Reading, std::ops::Range<usize>)> {
        let is_short = (1..=4).contains(&self.tokens.len());
        let says = (0..self.tokens.len()).any(|at| self.says(at, Meaning::Now));
        let others = self.tokens.iter().all(|token| match token {
            Token::Word { raw, means } => !means.is_empty() || matches!(*raw, "just" | "right" | "что" | "tout"),
            Token::Sign(_) => true,
            Token::Number { .. } => false,
        });
        let now = Reading::Ago { least: 0, most: 120, unit: 60, marked: true };
        (is_short && says && others).then_some((now, 0..self.tokens.len()))
    }
}

/// A year of two digits.
pub(super) fn full_year(two_digits: i32) -> i32 {
    if two_digits < 70 { 2_000 + two_digits } else { 1_900 + two_digits }
}

fn day_of(year: Option<i32>, month: u8, day: u8) -> Day {
    match year {
        Some(year) => Day::Full { year, month, day },
        None => Day::NoYear { month, day },
    }
}

fn instant(year: i32, month: u8, day: u8, clock: TimeOfDay, offset: i32) -> Option<Reading> {
    let at = super::civil_seconds(year, month, day)? + clock.second - i64::from(offset);
    Some(Reading::Absolute { at, span: if clock.has_seconds { 1 } else { 60 }, own_offset: true })
}

/// The offset from UTC that a page states for itself, in seconds ("All times are UTC+02:00", "GMT+8, 2026-11-21
/// 15:12").
#[must_use]
pub fn offset_told(text: &str) -> Option<i32> {
    let lower = text.to_lowercase();
    let tokens = tokens(&lower);
    let grammar = Grammar { tokens: &tokens };
    (0..tokens.len()).filter(|&at| matches!(grammar.raw(at), "utc" | "gmt")).find_map(|at| {
        let (offset, end) = grammar.zone(at);
        // `12:00 GMT` is a time, not a setting; `GMT+8` is one.
        offset.filter(|_| end > at + 1)
    })
}

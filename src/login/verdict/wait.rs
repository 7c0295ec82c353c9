//! How long a site asks us to wait.

use std::time::Duration;

use super::refusal::has;
use crate::limits;
use crate::phrases;
use crate::view::View;

/// The wait that a page with too many login attempts names, if any: at most `limits::RETRY_AFTER_MAX`; longer waits
/// start with that. Reads the sentence about the limit, its text and the two texts after it: a page's footer also has
/// times, of its rendering and its visitors. If no words are about a limit, as after 429, the whole page is read.
#[must_use]
pub fn names_wait(view: &View) -> Option<Duration> {
    if is_limit(&view.said) {
        return names_wait_in(&view.said);
    }
    // Pages mention days for many reasons.
    let comes_back = |text: &&str| has(text, phrases::COMES_BACK);
    let of_days =
        || view.said.lines().flat_map(sentences).filter(comes_back).filter_map(|of| longest_in(of, u64::MAX)).max();
    longest_in(&view.text, limits::RETRY_AFTER_MAX.as_secs()).or_else(of_days)
}

fn is_limit(text: &str) -> bool {
    phrases::RATE_LIMITED.are_in(text)
}

/// The same for a lower-case text whose lines are texts of a page. The longest time counts: a limit may also name the
/// period of the attempts. Days count in the limit's own sentence, and in the next one if there is no other time: “we
/// answer within 2 days” is not a wait.
pub(super) fn names_wait_in(said: &str) -> Option<Duration> {
    let texts: Vec<&str> = said.lines().collect();
    let sentences: Vec<&str> = texts.iter().flat_map(|text| sentences(text)).collect();
    let longest = |of: &[&str], behind: usize, seconds_max: u64| {
        let limits = (0..of.len()).filter(|at| is_limit(of[*at]));
        limits.filter_map(|at| longest_in(of.get(at + behind)?, seconds_max)).max()
    };
    let (days, hours) = (u64::MAX, limits::RETRY_AFTER_MAX.as_secs());
    let beside =
        [(&sentences, 0, days), (&sentences, 1, hours), (&texts, 0, hours), (&texts, 1, hours), (&texts, 2, hours)];
    let beside = beside.into_iter().filter_map(|(of, behind, seconds_max)| longest(of, behind, seconds_max)).max();
    beside.or_else(|| longest(&sentences, 1, days))
}

/// The longest time in a lower-case text, up to a day.
pub(super) fn names_hours(text: &str) -> Option<Duration> {
    longest_in(text, limits::RETRY_AFTER_MAX.as_secs())
}

/// The sentences of a text; a point between digits does not end one.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let is_end = |(at, end): &(usize, char)| {
            "。！？".contains(*end) || ".!?".contains(*end) && rest[at + 1..].starts_with(char::is_whitespace)
        };
        let end = rest.char_indices().find(is_end).map_or(rest.len(), |(at, end)| at + end.len_utf8());
        let (sentence, behind) = rest.split_at(end);
        rest = behind;
        (!sentence.is_empty()).then_some(sentence)
    })
}

/// The longest time in a lower-case text, up to this many seconds.
fn longest_in(text: &str, seconds_max: u64) -> Option<Duration> {
    let longest = times_in(text).into_iter().filter(|seconds| (1..=seconds_max).contains(seconds)).max()?;
    Some(Duration::from_secs(longest).min(limits::RETRY_AFTER_MAX))
}

/// The times in a lower-case text, in order, in seconds.
pub(super) fn times_in(text: &str) -> Vec<u64> {
    // As numbers and the text between them: "15 minutes", and without word separators "请15分钟后再试".
    let text = in_numbers(text);
    let words = text.split(|of: char| of.is_whitespace() || ";!?()，。".contains(of));
    let words = words.map(|word| word.trim_matches(['.', ',', ':'])).filter(|word| !word.is_empty());
    let parts: Vec<(&str, bool)> = words.flat_map(numbers_apart).collect();
    let (mut times, mut at) = (Vec::new(), 0);
    while at < parts.len() {
        // "0h 15m 0s" is one time, and so is "14 minutes and 37 seconds".
        let Some((mut seconds, mut unit)) = time_at(&parts, at) else {
            at += 1;
            continue;
        };
        while let Some((next, (more, smaller))) =
            [at + 2, at + 3].into_iter().find_map(|next| Some((next, time_at(&parts, next)?)))
            && smaller < unit
        {
            (seconds, unit, at) = (seconds.saturating_add(more), smaller, next);
        }
        times.push(seconds);
        at += 2;
    }
    times
}

/// The text with “one hour” as “1 hour”.
pub(super) fn in_numbers(text: &str) -> String {
    IN_WORDS.iter().fold(text.to_owned(), |text, (words, number)| text.replace(words, number))
}

/// The time whose number is at this index, and its unit, both in seconds.
fn time_at(parts: &[(&str, bool)], at: usize) -> Option<(u64, u64)> {
    let &(number, is_behind) = parts.get(at)?;
    let number: u64 = number.parse().ok()?;
    let (unit, is_attached) = *parts.get(at + 1)?;
    // "0.052 seconds" is not a wait of 52, "29:59 min" not one of 59, "GMT+1 hour" none at all, and "Mike12day" is a
    // name.
    let front = parts[..at].last().map_or("", |(front, _)| *front);
    let is_word = front.ends_with(|of: char| of.is_alphabetic() && of < '\u{2e80}');
    let is_of_time = || at >= 2 && seconds_of(front, true).is_some() && parts[at - 2].0.parse::<u64>().is_ok();
    let is_parted = front.ends_with(['.', ',', '+', '[']) || front == ":";
    if is_behind && (is_parted || is_word && !is_of_time()) {
        return None;
    }
    let unit = seconds_of(unit.trim_matches(['.', ',']), is_attached)?;
    Some((number.checked_mul(unit)?, unit))
}

/// True for the name of a unit of time, in lower case.
pub(super) fn is_unit(word: &str) -> bool {
    seconds_of(word, false).is_some()
}

/// The seconds of a unit; `is_attached` if it directly follows its number.
fn seconds_of(unit: &str, is_attached: bool) -> Option<u64> {
    // “5 sections” are not seconds: a short name must be the whole word, or have a known ending.
    let is_it = |name: &str| {
        let Some(rest) = unit.strip_prefix(name) else { return false };
        let is_short = name.is_ascii() && name.len() <= 3 && SHORT_UNITS.iter().any(|(of, _)| *of == name);
        let ends = || SHORT_UNITS.iter().filter(|(of, _)| *of == name).any(|(_, end)| rest.starts_with(end));
        !is_short || !rest.starts_with(char::is_alphabetic) || ends()
    };
    let known = phrases::UNITS_OF_TIME.iter().find(|(name, _)| is_it(name)).map(|(_, seconds)| *seconds);
    let letter = || match unit {
        "h" => Some(3_600),
        "m" => Some(60),
        "s" => Some(1),
        _ => None,
    };
    known.or_else(|| letter().filter(|_| is_attached))
}

/// Known endings of the short unit names.
const SHORT_UNITS: &[(&str, &str)] = &[
    ("min", "s"),
    ("min", "ut"),
    ("sec", "s"),
    ("sec", "on"),
    ("seg", "s"),
    ("seg", "un"),
    ("sek", "un"),
    ("ore", " "),
    ("day", "s"),
    ("tag", "e"),
    ("dag", "e"),
    ("dia", "s"),
    ("dni", "a"),
];

/// Times without a number.
const IN_WORDS: &[(&str, &str)] = &[
    ("half an hour", "30 minutes"),
    ("one hour", "1 hour"),
    (" an hour", " 1 hour"),
    ("one minute", "1 minute"),
    (" a minute", " 1 minute"),
    ("one day", "1 day"),
    ("einer stunde", "1 stunde"),
    ("eine stunde", "1 stunde"),
    ("une heure", "1 heure"),
    ("una hora", "1 hora"),
    ("uma hora", "1 hora"),
];

/// The numbers of a word and the text between them, each with whether it directly follows the previous part.
fn numbers_apart(word: &str) -> impl Iterator<Item = (&str, bool)> {
    let is_digit = |of: char| of.is_ascii_digit();
    let mut rest = word;
    std::iter::from_fn(move || {
        let is_number = rest.chars().next().map(is_digit)?;
        let end = rest.find(|of: char| is_digit(of) != is_number).unwrap_or(rest.len());
        let (part, behind) = rest.split_at(end);
        let is_attached = rest.len() < word.len();
        rest = behind;
        Some((part, is_attached))
    })
}

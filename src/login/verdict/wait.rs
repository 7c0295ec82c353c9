//! How long does a site ask to wait?

use std::time::Duration;

use crate::limits;
use crate::login::phrases;
use crate::login::view::View;

/// How long a page that tells of too many tries asks to wait, where it names a time: no more than `limits::RETRY_AFTER_MAX`, which whoever is
/// to wait for days waits for first. Beside the sentence that tells of it, the text that this stands in and the two behind it are asked: a
/// page's footer tells how long it took, and who was there lately. Where no words tell of it, as behind 429, all of the page is.
#[must_use]
pub fn names_wait(view: &View) -> Option<Duration> {
    if is_limit(&view.said) {
        return names_wait_in(&view.said);
    }
    longest_in(&view.text, limits::RETRY_AFTER_MAX.as_secs())
}

fn is_limit(text: &str) -> bool {
    phrases::RATE_LIMITED.iter().any(|phrase| text.contains(phrase))
}

/// The same of a text in lower case, whose lines are texts of a page. The longest time counts: a limit may tell within which time there
/// were too many tries. Days count in its own sentence, and in the one behind where there is no other time: “we answer within 2 days” is none.
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

/// The longest time that a text in lower case names, of those of a day at most.
pub(super) fn names_hours(text: &str) -> Option<Duration> {
    longest_in(text, limits::RETRY_AFTER_MAX.as_secs())
}

/// The sentences of a text: a point between digits ends none.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
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

/// The longest time that a text in lower case names, of those that have so many seconds at most.
fn longest_in(text: &str, seconds_max: u64) -> Option<Duration> {
    let words = text.split(|of: char| of.is_whitespace() || ";:!?()，。".contains(of));
    let words = words.map(|word| word.trim_matches(['.', ','])).filter(|word| !word.is_empty());
    // "15 minutes", and where nothing parts words, "请15分钟后再试": numbers, and what stands between them.
    let parts: Vec<(&str, bool)> = words.flat_map(numbers_apart).collect();
    // "0.052 seconds" is no wait of 52.
    let is_decimal = |at: usize| parts[at].1 && matches!(parts[at - 1].0, "." | ",");
    let number_at = |at: usize| parts.get(at).filter(|_| !is_decimal(at))?.0.parse::<u64>().ok();
    let time = |at: usize| {
        let number = number_at(at)?;
        let (unit, is_attached) = *parts.get(at + 1)?;
        let unit = unit.trim_matches(['.', ',']);
        let known = phrases::UNITS_OF_TIME.iter().find(|(name, _)| unit.starts_with(name)).map(|(_, seconds)| *seconds);
        let letter = || match unit {
            "h" => Some(3_600),
            "m" => Some(60),
            "s" => Some(1),
            _ => None,
        };
        let unit = known.or_else(|| letter().filter(|_| is_attached))?;
        Some((number.checked_mul(unit)?, unit))
    };
    // "0h 15m 0s" is one time, and so are "14 minutes and 37 seconds".
    let whole = |from: usize| {
        let (mut seconds, mut unit) = time(from)?;
        let mut at = from;
        while let Some((next, (more, smaller))) =
            [at + 2, at + 3].into_iter().find_map(|next| Some((next, time(next)?)))
            && smaller < unit
        {
            (seconds, unit, at) = (seconds.saturating_add(more), smaller, next);
        }
        Some(seconds)
    };
    let longest = (0..parts.len()).filter_map(whole).filter(|seconds| (1..=seconds_max).contains(seconds)).max()?;
    Some(Duration::from_secs(longest).min(limits::RETRY_AFTER_MAX))
}

/// The numbers of a word and what stands between them, each with whether it stands right behind the one in front.
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

//! How long does a site ask to wait?

use std::time::Duration;

use crate::limits;
use crate::login::phrases;
use crate::login::view::View;

/// How long a page that tells of too many tries asks to wait, where it names a time: no more than `limits::RETRY_AFTER_MAX`, which whoever is
/// to wait for days waits for first. The sentence of the limit and the one behind it are asked before the rest of the page, whose footer may
/// tell how long it took and who was there lately.
#[must_use]
pub fn names_wait(view: &View) -> Option<Duration> {
    let lines: Vec<&str> = view.said.lines().collect();
    let is_limit = |line: &str| phrases::RATE_LIMITED.iter().any(|phrase| line.contains(phrase));
    let near = (0..lines.len()).filter(|at| is_limit(lines[*at])).flat_map(|at| [at, at + 1]);
    let of_limit = near.filter_map(|at| time_in(lines.get(at)?)).max();
    // Elsewhere, dates and statistics have days.
    of_limit.or_else(|| longest_in(&view.text, limits::RETRY_AFTER_MAX.as_secs() - 1))
}

/// The time that a text in lower case names, the longest of several.
pub(super) fn time_in(text: &str) -> Option<Duration> {
    longest_in(text, u64::MAX)
}

/// The longest of those that have so many seconds at most.
fn longest_in(text: &str, seconds_max: u64) -> Option<Duration> {
    let is_end = |of: char| of.is_whitespace() || ",;:!?()，。".contains(of);
    let words = text.split(is_end).map(|word| word.trim_end_matches('.'));
    // "0.052 seconds" is no wait.
    let is_decimal = |word: &str| {
        word.as_bytes().windows(3).any(|of| of[0].is_ascii_digit() && of[1] == b'.' && of[2].is_ascii_digit())
    };
    // "15 minutes", and where nothing parts words, "请15分钟后再试": numbers, and what stands between them.
    let words = words.filter(|word| !word.is_empty()).map(|word| if is_decimal(word) { "." } else { word });
    let parts: Vec<(&str, bool)> = words.flat_map(numbers_apart).collect();
    let number_at = |at: usize| {
        let word = parts.get(at)?.0;
        word.parse::<u64>().ok().or_else(|| phrases::ONE.contains(&word).then_some(1))
    };
    let time = |at: usize| {
        let number = number_at(at)?;
        let (unit, is_attached) = *parts.get(at + 1)?;
        let known = phrases::UNITS_OF_TIME.iter().find(|(name, _)| unit.starts_with(name)).map(|(_, seconds)| *seconds);
        let letter = || match unit {
            "d" => Some(86_400),
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

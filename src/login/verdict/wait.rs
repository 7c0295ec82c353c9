//! How long does a site ask to wait?

use std::time::Duration;

use crate::limits;
use crate::login::phrases;
use crate::login::view::View;

/// How long a page that tells of too many tries asks to wait, where it names a time: no more than `limits::RETRY_AFTER_MAX`.
#[must_use]
pub fn names_wait(view: &View) -> Option<Duration> {
    wait_in(&view.text)
}

/// The time that a text in lower case names, the longest of several.
pub(super) fn wait_in(text: &str) -> Option<Duration> {
    let words = text.split(|of: char| of.is_whitespace() || ".,;:!?()，。".contains(of));
    // "15 minutes", and where nothing parts words, "请15分钟后再试": numbers, and what stands between them.
    let parts: Vec<(&str, bool)> = words.filter(|word| !word.is_empty()).flat_map(numbers_apart).collect();
    let time = |at: usize| {
        let number: u64 = parts.get(at)?.0.parse().ok()?;
        let (unit, is_attached) = *parts.get(at + 1)?;
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
    let most = limits::RETRY_AFTER_MAX.as_secs();
    let seconds = (0..parts.len()).filter_map(whole).filter(|seconds| (1..=most).contains(seconds));
    seconds.max().map(Duration::from_secs)
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

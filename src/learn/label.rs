//! What a link of a pager says: a number, a range, or "next".

use crate::limits::{LABEL_WORDS_MAX, PAGE_DIGITS_MAX};

gleaner_base::topics! { control: LINK_NEXT; }

/// The text of a link that may turn a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    Number(u64),
    /// `1 - 50`
    Range,
    Next,
}

impl Label {
    /// Reads a link's text.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim().trim_matches(['[', ']', '(', ')']).trim();
        let number = |text: &str| {
            let is_number =
                !text.is_empty() && text.len() <= PAGE_DIGITS_MAX && text.bytes().all(|of| of.is_ascii_digit());
            is_number.then(|| text.parse().ok()).flatten()
        };
        if let Some(number) = number(text) {
            return Some(Self::Number(number));
        }
        if let Some((from, to)) = text.split_once(['-', '–'])
            && number(from.trim()).is_some()
            && number(to.trim()).is_some()
        {
            return Some(Self::Range);
        }
        let lower = text.to_lowercase();
        let is_next = LINK_NEXT.has(&lower)
            || lower.split_whitespace().count() <= LABEL_WORDS_MAX
                && lower.split_whitespace().next().is_some_and(|first| LINK_NEXT.has(first))
            || LINK_NEXT.has(lower.trim_matches([' ', '»', '›', '>', '→']));
        is_next.then_some(Self::Next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_pagers() {
        for (text, label) in [
            ("12", Some(Label::Number(12))),
            ("[3]", Some(Label::Number(3))),
            ("51 - 100", Some(Label::Range)),
            ("Next »", Some(Label::Next)),
            ("下一页", Some(Label::Next)),
            ("›", Some(Label::Next)),
            ("Debian 12", None),
            ("", None),
        ] {
            assert_eq!(Label::of(text), label, "{text}");
        }
    }
}

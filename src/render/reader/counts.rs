//! Counts and times in rows. They change: when a list is redrawn, the same rows show others.

use xxhash_rust::xxh3::Xxh3;

use super::shown::text_of;
use super::words::COUNT_UNITS;
use crate::dom::{NodeId, Tree};
use crate::limits;

/// A hash of a row's cells without the counts; `None` if no other text is in the row.
pub(super) fn still(tree: &Tree, row: NodeId) -> Option<u64> {
    let (mut hash, mut has_name, mut cells) = (Xxh3::new(), false, 0);
    for cell in tree.children(row).filter(|of| tree.is_element(*of)).take(limits::RENDER_CONTROL_ELEMENTS) {
        let text = text_of(tree, cell, limits::RENDER_ROW_TEXT_CHARS);
        cells += 1;
        if !counts(&text) {
            has_name |= text.contains(char::is_alphabetic);
            hash.update(text.as_bytes());
        }
        hash.update(&[0]);
    }
    (has_name && cells > 1).then(|| hash.digest())
}

/// Whether a text is only numbers, with or without units.
fn counts(text: &str) -> bool {
    let is_number = |word: &str| {
        word.contains(|c: char| c.is_ascii_digit())
            && word
                .chars()
                .all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '/' | ':' | '(' | ')' | '+' | 'k' | 'K'))
    };
    let is_unit = |word: &str| COUNT_UNITS.has(word.to_lowercase().trim_matches(|c: char| !c.is_alphanumeric()));
    let split = |word: &str| {
        // "3min" is two words.
        let at = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
        (at > 0) && is_unit(&word[at..])
    };
    !text.is_empty() && text.split_whitespace().all(|word| is_number(word) || is_unit(word) || split(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_is_known_from_what_names() {
        for (text, expected) in [
            ("37", true),
            ("1,204", true),
            ("5 downloads", true),
            ("3 min ago", true),
            ("3min ago", true),
            ("12/3", true),
            ("Title 0", false),
            ("1 GB", false),
            ("2020-01-01", false),
            ("", false),
        ] {
            assert_eq!(counts(text), expected, "{text}");
        }
    }
}

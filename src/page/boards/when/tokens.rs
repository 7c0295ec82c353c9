//! The numbers, words and signs of a text, as input for `read.rs`.

use super::words::{Meaning, is_unspaced, meanings, unspaced};

/// A piece of a text.
#[derive(Clone, Copy, Debug)]
pub(super) enum Token<'t> {
    Number { value: u64, digits: usize },
    Word { raw: &'t str, means: &'static [Meaning] },
    Sign(char),
}

/// The tokens of a text, in order.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let taken = if first.is_ascii_digit() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let value = rest[..digits].parse().unwrap_or(u64::MAX);
            tokens.push(Token::Number { value, digits });
            digits
        } else if is_unspaced(first) {
            let (means, taken) = unspaced(rest).unwrap_or((&[], first.len_utf8()));
            tokens.push(Token::Word { raw: &rest[..taken], means });
            taken
        } else if first.is_alphabetic() || matches!(first, 'º' | 'ª') {
            let taken = word_end(rest);
            tokens.push(Token::Word { raw: &rest[..taken], means: meanings(&rest[..taken]) });
            taken
        } else {
            if !first.is_whitespace() && !is_invisible(first) {
                tokens.push(Token::Sign(first));
            }
            first.len_utf8()
        };
        rest = &rest[taken..];
    }
    tokens
}

/// Direction marks and joiners, which some sites put around dates.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// End of the word at the start of a text: letters, with an apostrophe or a hyphen if the whole is a known word.
fn word_end(text: &str) -> usize {
    for known in ["a.m.", "p.m.", "a.m", "p.m"] {
        if text.starts_with(known) {
            return known.len();
        }
    }
    let letters = |from: usize| {
        let tail = &text[from..];
        from + tail.find(|letter: char| !letter.is_alphabetic() || is_unspaced(letter)).unwrap_or(tail.len())
    };
    let plain = letters(0).max(text.chars().next().map_or(0, char::len_utf8));
    if text[plain..].starts_with(['\'', '-']) {
        let joined = letters(plain + 1);
        if joined > plain + 1 && !meanings(&text[..joined]).is_empty() {
            return joined;
        }
    }
    plain
}

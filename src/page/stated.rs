//! What a list's page says of the list's own size: "12,345 torrents", "1–50 of 3,700", "page 3 of 75". Pure; the words are data.
//!
//! Texts of links are left out, since they are mostly titles: `The best 1000 torrents`. Only ranges are taken from links, too, as pagers are made
//! of them (`1 - 50 | 51 - 100`). What contradicts itself, is zero, or exceeds [`STATED_TOTAL_MAX`] says nothing.

use std::sync::LazyLock;

use gleaner_base::words::Topic;
use regex::{Captures, Regex};
use serde::{Deserialize, Serialize};

use crate::limits::{STATED_BYTES_MAX, STATED_FOUND_MAX, STATED_PAGES_MAX, STATED_TOTAL_MAX};
use crate::text::visible;

gleaner_base::topics! { stated: ITEMS, THREADS, BESIDE, TO, OF, PAGES; }

/// What was said; several of them may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stated {
    /// The whole of which the page shows a range of rows.
    pub range: Option<u64>,
    /// The largest number beside a word for torrents, results or entries.
    pub count: Option<u64>,
    /// The number of pages.
    pub pages: Option<u64>,
}

impl Stated {
    /// True if nothing was said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What a decoded page of a list says; on a board, threads count as well. Linear in the page, of which `STATED_BYTES_MAX` bytes are read.
#[must_use]
pub fn of_page(html: &str, is_board: bool) -> Stated {
    let text = one_line(&visible(&without_links(html), STATED_BYTES_MAX));
    let whole = one_line(&visible(html, STATED_BYTES_MAX));
    let count = if is_board { &FORMS.board_counts } else { &FORMS.counts };
    // Without its word no form matches.
    let has_count = ITEMS.are_in(&text) || (is_board && THREADS.are_in(&text));
    let counts = count.iter().filter(|_| has_count);
    let has_pages = PAGES.are_in(&text);
    let of_pages = FORMS.pages.iter().filter(|_| has_pages);
    Stated {
        range: largest(&FORMS.range, &text, range).or_else(|| pager_of_ranges(&whole)),
        count: counts.filter_map(|form| largest(form, &text, |found, _| number(found.name("n")?.as_str()))).max(),
        pages: of_pages.filter_map(|form| largest(form, &text, pages)).max(),
    }
}

/// The forms in which sizes are told.
struct Forms {
    range: Regex,
    counts: [Regex; 2],
    board_counts: [Regex; 2],
    pages: [Regex; 3],
    pair: Regex,
}

/// A number with any separator of thousands; which ones are meant, [`number`] tells.
const NUMBER: &str = r"[0-9]+(?:[,.'’ \u{a0}\u{2009}\u{202f}][0-9]{2,3})*";

static FORMS: LazyLock<Forms> = LazyLock::new(|| {
    let (to, of, pages) = (any(&[TO]), any(&[OF]), any(&[PAGES]));
    let counts = |items: &[Topic]| {
        let (items, beside) = (any(items), any(&[BESIDE]));
        [
            regex(&format!(r"(?P<n>{NUMBER})\s*(?:{beside}\s+)?{items}")),
            regex(&format!(r"{items}\s*[:：]\s*(?P<n>{NUMBER})")),
        ]
    };
    Forms {
        range: regex(&format!(r"(?P<a>{NUMBER})\s*{to}\s*(?P<b>{NUMBER})\s*\(?\s*{of}\s*(?P<n>{NUMBER})")),
        counts: counts(&[ITEMS]),
        board_counts: counts(&[ITEMS, THREADS]),
        pages: [
            regex(&format!(r"{pages}\s*:?\s*(?P<a>[0-9]+)\s*(?:{of}|/)\s*(?P<n>{NUMBER})")),
            regex(&format!(r"(?P<a>[0-9]+)\s*/\s*(?P<n>[0-9]+)\s*{pages}")),
            regex(&format!(r"{pages}\s*\(\s*(?P<n>{NUMBER})\s*\)")),
        ],
        pair: regex(r"(?P<a>[0-9]+)\s*[-–—]\s*(?P<n>[0-9]+)"),
    }
});

fn regex(form: &str) -> Regex {
    Regex::new(form).expect("the words are escaped, and the forms are fixed")
}

/// A group that matches any phrase of the topics as whole words.
fn any(topics: &[Topic]) -> String {
    let mut phrases: Vec<&str> = topics.iter().flat_map(|topic| topic.iter().copied()).collect();
    phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.len()));
    let has_border = |letter: Option<char>| letter.is_some_and(|letter| letter.is_lowercase() || letter.is_uppercase());
    let whole = |phrase: &str| {
        let border = |letter| if has_border(letter) { r"\b" } else { "" };
        format!("{}{}{}", border(phrase.chars().next()), regex::escape(phrase), border(phrase.chars().next_back()))
    };
    format!("(?:{})", phrases.into_iter().map(whole).collect::<Vec<_>>().join("|"))
}

/// The largest figure of a form in a text, among the first `STATED_FOUND_MAX`.
fn largest(form: &Regex, text: &str, read: impl Fn(&Captures<'_>, &str) -> Option<u64>) -> Option<u64> {
    let found = form.captures_iter(text).take(STATED_FOUND_MAX);
    found.filter(|found| is_whole(found, text)).filter_map(|found| read(&found, text)).max()
}

/// True if the first and the last number of a match are no part of longer ones, of a decimal fraction, a negative number or a size.
fn is_whole(found: &Captures<'_>, text: &str) -> bool {
    let Some(all) = found.get(0) else { return false };
    let before = text[..all.start()].chars().next_back();
    let is_cut = |letter: char| letter.is_alphanumeric() || "-−.,/:'’+#".contains(letter);
    let begins_with_number = all.as_str().starts_with(|letter: char| letter.is_ascii_digit());
    if begins_with_number && before.is_some_and(is_cut) {
        return false;
    }
    let rest = &text[all.end()..];
    let ends_with_number = all.as_str().ends_with(|letter: char| letter.is_ascii_digit());
    let mut rest_letters = rest.chars();
    let continues = match rest_letters.next() {
        Some('.' | ',' | '\'' | '’') => rest_letters.next().is_some_and(|letter| letter.is_ascii_digit()),
        Some(letter) => letter.is_alphanumeric() && letter.is_ascii() || "%/-".contains(letter),
        None => false,
    };
    let word = rest.trim_start().split(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or_default();
    let is_size =
        matches!(word, "b" | "kb" | "mb" | "gb" | "tb" | "pb" | "kib" | "mib" | "gib" | "tib" | "pib" | "million");
    !ends_with_number || !(continues || is_size)
}

/// A range of rows and the whole.
fn range(found: &Captures<'_>, _: &str) -> Option<u64> {
    let [first, last, all] = ["a", "b", "n"].map(|name| found.name(name).and_then(|of| number(of.as_str())));
    let (first, last, all) = (first?, last?, all?);
    (first <= last && last <= all).then_some(all)
}

/// A number of pages, with the page's own before it.
fn pages(found: &Captures<'_>, _: &str) -> Option<u64> {
    let all = number(found.name("n")?.as_str()).filter(|pages| *pages <= STATED_PAGES_MAX)?;
    let own = found.name("a").map(|own| number(own.as_str()));
    own.is_none_or(|own| own.is_some_and(|own| own <= all)).then_some(all)
}

/// The end of the last one of a pager's ranges, `1 - 50 | 51 - 100 | … | 401 - 451`: two that follow each other, of one length.
fn pager_of_ranges(text: &str) -> Option<u64> {
    let found = FORMS.pair.captures_iter(text).take(STATED_FOUND_MAX);
    let pairs: Vec<(u64, u64)> = found
        .filter(|found| is_whole(found, text))
        .filter_map(|found| Some((number(&found["a"])?, number(&found["n"])?)))
        .filter(|(first, last)| first <= last)
        .collect();
    let (first, last) = *pairs.iter().find(|(first, last)| *first == 1 && *last >= PAGER_ROWS_MIN)?;
    pairs.contains(&(last + 1, last * 2)).then_some(())?;
    let of_pager = pairs.iter().filter(|(from, to)| from % last == first && to - from < last);
    of_pager.map(|(_, to)| *to).max()
}

/// Rows of a page from which two ranges are taken for a pager: 1-2 and 3-4 may be anything.
const PAGER_ROWS_MIN: u64 = 10;

/// A number with groups of three digits, or as in India of two before the last three; None for zero, and for one that is too large.
fn number(text: &str) -> Option<u64> {
    let mut groups = text.split(|letter: char| !letter.is_ascii_digit());
    let first = groups.next()?;
    let rest: Vec<&str> = groups.collect();
    let signs: Vec<char> = text.chars().filter(|letter| !letter.is_ascii_digit()).collect();
    let is_grouped = match rest.split_last() {
        None => true,
        Some((last, between)) => {
            let of_three = between.iter().all(|group| group.len() == 3);
            let of_two = signs[0] == ',' && first.len() < 3 && between.iter().all(|group| group.len() == 2);
            let is_one_sign = signs.iter().all(|sign| *sign == signs[0]);
            last.len() == 3 && first.len() <= 3 && !first.starts_with('0') && is_one_sign && (of_three || of_two)
        }
    };
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let number = digits.parse().ok().filter(|_| is_grouped)?;
    (1..=STATED_TOTAL_MAX).contains(&number).then_some(number)
}

/// In lower case, with single spaces.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_ascii_whitespace() {
        line.extend(word.chars().flat_map(char::to_lowercase));
        line.push(' ');
    }
    line
}

/// Stands for an element that is left out. It is ASCII: in other texts the borders of words are searched for letter by letter.
const SIGN: &str = " | ";

/// A page without the elements `a` and `select`: [`SIGN`] stands for each.
fn without_links(html: &str) -> String {
    let mut kept = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let name = rest[at + 1..].get(..7).unwrap_or(&rest[at + 1..]);
        let is = |tag: &str| {
            let begins = name.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag));
            begins && name.as_bytes().get(tag.len()).is_none_or(|byte| byte.is_ascii_whitespace() || *byte == b'>')
        };
        let close = match () {
            () if is("a") => "</a",
            () if is("select") => "</select",
            () => {
                kept.push_str(&rest[..=at]);
                rest = &rest[at + 1..];
                continue;
            }
        };
        kept.push_str(&rest[..at]);
        kept.push_str(SIGN);
        match end_of(&rest[at..], close) {
            Some(end) => rest = &rest[at + end..],
            None => return kept,
        }
    }
    kept.push_str(rest);
    kept
}

/// Where an end tag begins, in any case.
fn end_of(html: &str, close: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = html[from..].find("</") {
        let end = from + at;
        if html.get(end..end + close.len()).is_some_and(|found| found.eq_ignore_ascii_case(close)) {
            return Some(end);
        }
        from = end + 2;
    }
    None
}

#[cfg(test)]
mod tests;

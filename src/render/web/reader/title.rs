//! Titles that have the words of controls: "Leave No Trace", "Back to the Future", "The Post". What stands in a list of its likes is a row,
//! whatever it is called.

use std::collections::HashMap;

use super::controls::{Control, LIST_MIN, Rank};
use super::labels::Labels;

/// So many words a title has that may say what nobody presses who only looks: menus say it in fewer.
const TITLE_WORDS_MIN: usize = 3;

/// So many likes make a list of titles, where one of them says what nobody presses.
const TITLES_MIN: usize = 5;

/// What a control may be besides what its words say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    None,
    /// A row of this kind, where that has others.
    RowOrControl(String),
    /// One that nobody presses who only looks, otherwise.
    RowOrNothing(String),
}

/// Whether titles stand on such elements. Buttons are called what they do.
pub(super) fn may_be(local: &str, role: &str, has_address: bool) -> bool {
    let is_plain = matches!(
        local,
        "tr" | "td" | "li" | "div" | "span" | "article" | "section" | "p" | "dd" | "dt" | "h2" | "h3" | "h4"
    );
    (is_plain || local == "a" && has_address) && !role.starts_with("menu") && !matches!(role, "button" | "tab")
}

/// Whether a text goes on about something else than the words with which it would begin as a control.
pub(super) fn says_more_than(labels: &Labels, words: &[&str]) -> bool {
    labels.text_words() >= TITLE_WORDS_MIN && !labels.begin_with(words)
}

/// Makes those rows that have likes of whose words nobody doubts, and leaves out what nobody presses otherwise.
pub(super) fn decide(controls: &mut Vec<Control>, is_given_up: impl Fn(&str) -> bool) {
    let mut sure = HashMap::<&str, usize>::new();
    for control in controls.iter().filter(|of| of.rank == Rank::Row && of.doubt == Doubt::None) {
        *sure.entry(&control.kind).or_default() += 1;
    }
    let are_likes = |kind: &str, min: usize| sure.get(kind).is_some_and(|count| *count >= min);
    let is_row: Vec<Option<bool>> = controls
        .iter()
        .map(|control| match &control.doubt {
            Doubt::None => None,
            Doubt::RowOrControl(kind) => Some(are_likes(kind, LIST_MIN)),
            Doubt::RowOrNothing(kind) => {
                let min = if super::words::says(super::words::NEVER, &control.words.to_lowercase(), true) {
                    TITLES_MIN
                } else {
                    LIST_MIN
                };
                Some(are_likes(kind, min))
            }
        })
        .collect();
    let mut is_row = is_row.into_iter();
    controls.retain_mut(|control| {
        let is_row = is_row.next().flatten();
        match (std::mem::replace(&mut control.doubt, Doubt::None), is_row) {
            (Doubt::RowOrControl(kind) | Doubt::RowOrNothing(kind), Some(true)) => {
                (control.rank, control.kind) = (Rank::Row, kind);
                control.view.is_some() || !is_given_up(&control.kind)
            }
            (Doubt::RowOrNothing(_), _) => false,
            (Doubt::RowOrControl(_), _) => {
                control.view = None;
                true
            }
            (Doubt::None, _) => true,
        }
    });
}

//! Titles with the words of controls: "Leave No Trace", "Back to the Future", "The Post". An element in a list of similar ones is a row,
//! whatever its label.

use std::collections::{HashMap, HashSet};

use super::controls::{Control, LIST_MIN, Rank};
use super::labels::Labels;
use super::words::{ACTIONS, NEVER, count, says};

/// A title with a harmful word has at least this many other words; menu entries are shorter.
const OTHER_WORDS_MIN: usize = 4;

/// This many similar elements with different texts make a list of titles, even if one has a label that is never clicked.
const TITLES_MIN: usize = 5;

/// What a control may be besides what its label says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    None,
    /// A row of this kind, if there are others of it.
    RowOrControl(String),
    /// Such a row, or else a control that must not be clicked.
    RowOrNothing(String),
    /// A member of a list with long texts; nothing if it is alone.
    MemberOrNothing(String),
}

/// Whether such an element may carry a title. Buttons and menu entries are labelled by what they do.
pub(super) fn may_be(local: &str, role: &str, class: &str, has_address: bool) -> bool {
    let is_plain = matches!(
        local,
        "tr" | "td" | "li" | "div" | "span" | "article" | "section" | "p" | "dd" | "dt" | "h2" | "h3" | "h4"
    );
    let is_action = says(ACTIONS, &class.replace(['-', '_'], " "), true);
    (is_plain || local == "a" && has_address)
        && !is_action
        && !role.starts_with("menu")
        && !matches!(role, "button" | "tab")
}

/// Whether a text goes on after its harmful words, with which a control's label would begin.
pub(super) fn says_more_than_harm(labels: &Labels) -> bool {
    let harm = count(NEVER, &labels.text.to_lowercase()).max(1);
    labels.text_words() >= harm * (OTHER_WORDS_MIN + 1) && !labels.begin_with(NEVER)
}

/// Turns those with unambiguous similar elements into rows, and drops the others that must not be clicked.
pub(super) fn decide(controls: &mut Vec<Control>, is_given_up: impl Fn(&str) -> bool) {
    // Titles differ, while an action has the same label in each row.
    let (mut sure, mut members) = (HashMap::<&str, HashSet<&str>>::new(), HashMap::<&str, HashSet<&str>>::new());
    for control in controls.iter() {
        match &control.doubt {
            Doubt::None if control.rank == Rank::Row => {
                sure.entry(&control.kind).or_default().insert(&control.text);
                members.entry(&control.kind).or_default().insert(&control.text);
            }
            Doubt::MemberOrNothing(kind) => {
                members.entry(kind).or_default().insert(&control.text);
            }
            _ => {}
        }
    }
    let are = |of: &HashMap<&str, HashSet<&str>>, kind: &str, min: usize| {
        of.get(kind).is_some_and(|texts| texts.len() >= min)
    };
    let is_row: Vec<Option<bool>> = controls
        .iter()
        .map(|control| match &control.doubt {
            Doubt::None => None,
            Doubt::RowOrControl(kind) => Some(are(&sure, kind, LIST_MIN)),
            Doubt::RowOrNothing(kind) => Some(are(&sure, kind, TITLES_MIN)),
            Doubt::MemberOrNothing(kind) => Some(are(&members, kind, LIST_MIN)),
        })
        .collect();
    let mut is_row = is_row.into_iter();
    controls.retain_mut(|control| {
        let is_row = is_row.next().flatten();
        match (std::mem::replace(&mut control.doubt, Doubt::None), is_row) {
            (Doubt::RowOrControl(kind) | Doubt::RowOrNothing(kind), Some(true)) => {
                (control.rank, control.kind, control.traits.again) = (Rank::Row, kind, false);
                control.view.is_some() || !is_given_up(&control.kind)
            }
            (Doubt::RowOrNothing(_) | Doubt::MemberOrNothing(_), is_row) => is_row == Some(true),
            (Doubt::RowOrControl(_), _) => {
                control.view = None;
                true
            }
            (Doubt::None, _) => true,
        }
    });
}

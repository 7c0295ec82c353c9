//! Boxes that stand in the rows of a list, to be ticked before a button gives what was chosen. Boxes of forms that are posted, of consent and
//! of settings are nobody's who only looks.

use std::collections::{HashMap, HashSet};

use html5ever::local_name;

use super::super::load::Window;
use super::super::read;
use super::controls::{Control, LIST_MIN, Rank, has_likes, identity_of, is_posted};
use super::labels::Labels;
use super::shown::text_of;
use super::title::Doubt;
use super::words::{AGE, CONFIRM, ENTER, NEVER_NAMES, SETTINGS, says};
use crate::limits;
use crate::render::dom::{NodeId, Tree};

/// How far above a box its row may be, and what says what the box is for.
const ROW_WITHIN: usize = 4;
const NAMED_WITHIN: usize = 8;

/// Leaves out boxes that are ticked, or no list, and lists by which somebody answers for something.
pub(super) fn drop_other_boxes(window: &mut Window, controls: &mut Vec<Control>) {
    let mut kinds = HashMap::<String, (usize, usize)>::new();
    for control in controls.iter().filter(|control| control.rank == Rank::Tick) {
        let row = control.row.to_lowercase();
        let answers = [AGE, CONFIRM, ENTER].iter().any(|words| says(words, &row, true));
        let (all, of_consent) = kinds.entry(control.kind.clone()).or_default();
        *all += 1;
        *of_consent += usize::from(answers);
    }
    let is_list =
        |kind: &str| kinds.get(kind).is_some_and(|(all, of_consent)| *all >= LIST_MIN && of_consent * 2 < *all);
    let boxes = controls.iter().filter(|control| control.rank == Rank::Tick);
    let boxes: Vec<NodeId> = boxes.filter(|control| is_list(&control.kind)).map(|control| control.id).collect();
    let left = window.engine.look(|context| {
        read(context, |tree| boxes.into_iter().filter(|id| !tree.is_checked(*id)).collect::<HashSet<_>>())
    });
    let left = left.unwrap_or_default();
    controls.retain(|control| control.rank != Rank::Tick || left.contains(&control.id));
}

/// A box of a row, ticked or not.
pub(super) fn box_of(tree: &Tree, id: NodeId) -> Option<Control> {
    let element = tree.element(id).filter(|element| element.is_html(&local_name!("input")))?;
    let is_box = element.attribute(&local_name!("type")).is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox"));
    if !is_box {
        return None;
    }
    if tree.form_owner(id).and_then(|form| tree.element(form)).is_some_and(is_posted) {
        return None;
    }
    let is_for_settings = |id: NodeId| {
        let labels = tree.element(id).map(Labels::names_of);
        labels.is_some_and(|names| names.are_named(SETTINGS, false) || names.are_named(NEVER_NAMES, true))
    };
    if is_for_settings(id) || tree.ancestors(id).take(NAMED_WITHIN).any(is_for_settings) {
        return None;
    }
    let row = tree
        .ancestors(id)
        .take(ROW_WITHIN)
        .find(|above| has_likes(tree, *above) && !text_of(tree, *above, limits::RENDER_ROW_TEXT_CHARS).is_empty())?;
    let around = tree.element(row)?;
    let labels = Labels::of(tree, row, around);
    let class = element.attribute(&local_name!("class")).unwrap_or_default();
    let row_class = around.attribute(&local_name!("class")).unwrap_or_default();
    // How a row looks changes when it is chosen.
    let kind = format!("box {class} in {} {}", around.name().local, row_class.split(' ').next().unwrap_or_default());
    let row = labels.text;
    let identity = identity_of(tree, id, element, &row);
    let words = row.chars().take(60).collect();
    let (rank, text, beside, view, gets) = (Rank::Tick, String::new(), None, None, false);
    let (doubt, again, by_delegate) = (Doubt::None, false, None);
    let now = identity;
    Some(Control { id, kind, identity, now, words, text, row, beside, rank, view, gets, doubt, again, by_delegate })
}

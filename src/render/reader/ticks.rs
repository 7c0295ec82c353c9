//! Boxes in the rows of a list, to be ticked before a button returns the chosen rows. The reader leaves boxes of submitted forms,
//! consent, settings, favourites, polls and filters alone.

use std::collections::{HashMap, HashSet};

use html5ever::local_name;

use super::controls::{Control, LIST_MIN, Rank, Traits, identity_of, is_posted};
use super::labels::Labels;
use super::rows::has_likes;
use super::shown::text_of;
use super::words::{AGE, CONFIRM, ENTER, KEEPS, NEVER, NEVER_NAMES, SETTINGS, says};
use crate::dom::{NodeId, Tree};
use crate::limits;
use crate::web::html::load::Window;
use crate::web::{listens_to, read};

/// How many levels above a box its row may be, and the text that says what it is for.
const ROW_WITHIN: usize = 4;
const NAMED_WITHIN: usize = 8;

/// Drops boxes that are not a list, boxes of forms with a submit listener, and lists whose boxes give consent or save something.
pub(super) fn drop_other_boxes(window: &mut Window, controls: &mut Vec<Control>) {
    if controls.iter().all(|control| control.rank != Rank::Tick) {
        return;
    }
    let boxes: Vec<NodeId> = controls.iter().filter(|of| of.rank == Rank::Tick).map(|of| of.id).collect();
    let looked = window.engine.with(|context| {
        let mut looked = HashMap::new();
        for id in boxes {
            let (around, label) = read(context, |tree| {
                let form = tree.form_owner(id);
                // A form's listener may be anywhere above it.
                let around: Vec<NodeId> =
                    form.into_iter().flat_map(|form| [form].into_iter().chain(tree.ancestors(form))).collect();
                (around, label_of(tree, id))
            });
            let is_sent = around.into_iter().any(|above| listens_to(above, "submit", context));
            looked.insert(id, (is_sent, says(KEEPS, &label, true)));
        }
        looked
    });
    let looked = looked.unwrap_or_default();
    let mut kinds = HashMap::<String, (usize, usize, usize)>::new();
    for control in controls.iter().filter(|control| control.rank == Rank::Tick) {
        let row = control.row.to_lowercase();
        let answers = [AGE, CONFIRM, ENTER].iter().any(|words| says(*words, &row, true));
        let (all, of_consent, kept) = kinds.entry(control.kind.clone()).or_default();
        *all += 1;
        *of_consent += usize::from(answers);
        *kept += usize::from(looked.get(&control.id).is_none_or(|(_, keeps)| *keeps));
    }
    let is_list = |kind: &str| {
        kinds
            .get(kind)
            .is_some_and(|(all, of_consent, kept)| *all >= LIST_MIN && of_consent * 2 < *all && kept * 2 < *all)
    };
    let is_sent = |control: &Control| looked.get(&control.id).is_none_or(|(is_sent, _)| *is_sent);
    controls.retain(|of| of.rank != Rank::Tick || of.traits.ticked || is_list(&of.kind) && !is_sent(of));
}

/// The label of a box in lower case.
fn label_of(tree: &Tree, id: NodeId) -> String {
    let around = tree
        .ancestors(id)
        .take(ROW_WITHIN)
        .find(|above| tree.element(*above).is_some_and(|element| element.is_html(&local_name!("label"))));
    around.map(|label| text_of(tree, label, limits::RENDER_ROW_TEXT_CHARS).to_lowercase()).unwrap_or_default()
}

/// A box of a row, ticked or not.
pub(super) fn box_of(tree: &Tree, id: NodeId) -> Option<Control> {
    let element = tree.element(id).filter(|element| element.is_html(&local_name!("input")))?;
    let is_box = element.attribute(&local_name!("type")).is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox"));
    if !is_box {
        return None;
    }
    let form = tree.form_owner(id).and_then(|form| tree.element(form));
    if form.is_some_and(|form| is_posted(form) || form.attribute(&"onsubmit".into()).is_some()) {
        return None;
    }
    let own = Labels::of(tree, id, element);
    let label = label_of(tree, id);
    let is_short = label.chars().count() <= 40;
    if own.tell_of(NEVER) || own.tell_of(KEEPS) || own.are_named(NEVER, true) || is_short && says(NEVER, &label, true) {
        return None;
    }
    let is_for_other = |id: NodeId| {
        let labels = tree.element(id).map(Labels::names_of);
        labels.is_some_and(|names| {
            names.are_named(SETTINGS, false) || names.are_named(NEVER_NAMES, true) || names.are_named(KEEPS, true)
        })
    };
    if is_for_other(id) || tree.ancestors(id).take(NAMED_WITHIN).any(is_for_other) {
        return None;
    }
    let ticked = tree.is_checked(id);
    let says_something = |of: NodeId| !text_of(tree, of, limits::RENDER_ROW_TEXT_CHARS).is_empty();
    // A chosen row changes its style, and with it the comparison with its neighbours.
    let is_row = |of: &NodeId| {
        let is_like =
            has_likes(tree, *of) || has_siblings(tree, *of, |beside| ticked || is_box_of_list(tree, *of, beside));
        is_like && says_something(*of)
    };
    let row = tree.ancestors(id).take(ROW_WITHIN).find(is_row)?;
    let around = tree.element(row)?;
    let list = tree.parent(row).and_then(|list| tree.element(list));
    let class = element.attribute(&local_name!("class")).unwrap_or_default();
    let list = list.map(|list| {
        let name = |name: &str| list.attribute(&name.into()).unwrap_or_default();
        format!("{} {} {}", list.name().local, name("id"), name("class").split(' ').next().unwrap_or_default())
    });
    let kind = format!("box {class} in {} of {}", around.name().local, list.unwrap_or_default());
    let row = text_of(tree, row, limits::RENDER_ROW_TEXT_CHARS);
    let identity = identity_of(tree, id, element, "", &row);
    let words = row.chars().take(60).collect();
    let traits = Traits { ticked, ..Traits::default() };
    Some(Control { row, traits, ..Control::plain(id, Rank::Tick, (kind, identity), words) })
}

/// Whether an element contains a box.
fn has_box(tree: &Tree, id: NodeId) -> bool {
    let mut inside = tree.descendants(id).take(limits::RENDER_CONTROL_ELEMENTS).filter_map(|of| tree.element(of));
    inside.any(|of| {
        of.is_html(&local_name!("input"))
            && of.attribute(&local_name!("type")).is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox"))
    })
}

/// Whether a row resembles another except for the state of being chosen, which has its own classes.
fn is_box_of_list(tree: &Tree, row: NodeId, beside: NodeId) -> bool {
    let classes = |id: NodeId| -> HashSet<String> {
        let class = tree.element(id).and_then(|element| element.attribute(&local_name!("class")));
        class.unwrap_or_default().split_whitespace().map(str::to_owned).collect()
    };
    let (own, other) = (classes(row), classes(beside));
    (own.is_subset(&other) || other.is_subset(&own)) && has_box(tree, beside)
}

/// Whether an element has siblings of its name that satisfy `is_such`, whatever their style.
fn has_siblings(tree: &Tree, id: NodeId, is_such: impl Fn(NodeId) -> bool) -> bool {
    let local = |id: NodeId| tree.element(id).map(|element| &element.name().local);
    let Some(parent) = tree.parent(id) else { return false };
    let mut beside = tree.children(parent).take(limits::RENDER_CONTROL_ELEMENTS);
    beside.any(|of| of != id && local(of).is_some() && local(of) == local(id) && is_such(of))
}

/// The buttons that are disabled now.
pub(super) fn disabled(window: &mut Window) -> HashSet<NodeId> {
    let found = window.engine.look(|context| {
        let document = crate::web::own_document(context);
        read(context, |tree| {
            let is_shut = |id: &NodeId| {
                tree.is_disabled(*id)
                    || tree
                        .element(*id)
                        .and_then(|of| of.attribute(&"aria-disabled".into()))
                        .is_some_and(|given| given == "true")
            };
            tree.descendants(document).filter(is_shut).collect()
        })
    });
    found.unwrap_or_default()
}

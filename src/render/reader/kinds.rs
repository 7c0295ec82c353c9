//! The kind of a control: its classes without those of the current state; and its position, if it has no classes.

use std::collections::HashMap;

use html5ever::LocalName;

use super::controls::{Control, LIST_MIN, Rank};
use super::words::STATES;
use crate::dom::{NodeId, Tree};
use crate::limits;
use crate::web::html::load::Window;
use crate::web::read;

/// How many levels above an unnamed control the name of its list may be.
const LIST_WITHIN: usize = 4;

/// The classes of an element without those that mark the current one of its kind.
pub(super) fn without_states(class: &str) -> String {
    class.split_whitespace().filter(|name| !STATES.has(name)).collect::<Vec<_>>().join(" ")
}

/// This many siblings with the same content make an element one of several rows.
const LIKES_OF_ROW: usize = 2;

/// The author's name for the list around an element, of names without numbers. A row's name (such as a category) does not count.
pub(super) fn name_of_list(tree: &Tree, id: NodeId) -> String {
    let name = |above: NodeId| {
        let of = |name: &str| tree.element(above).and_then(|of| of.attribute(&name.into())).unwrap_or_default();
        let classes = without_states(&of("class").to_lowercase());
        let names = [of("id"), classes.split(' ').next().unwrap_or_default()];
        let name = names.iter().find(|name| !name.is_empty() && !name.contains(|c: char| c.is_ascii_digit()))?;
        Some(format!(" in {name}"))
    };
    let mut path = vec![id];
    for above in tree.ancestors(id).take(LIST_WITHIN) {
        if let Some(name) = name(above).filter(|_| !is_row(tree, above, &path)) {
            return name;
        }
        path.push(above);
    }
    String::new()
}

/// Whether siblings of an element contain the same at the same position: elements of the same names nested alike (`path`, innermost
/// first).
fn is_row(tree: &Tree, id: NodeId, path: &[NodeId]) -> bool {
    let name = |of: NodeId| tree.element(of).map(|of| &of.name().local);
    if name(id).is_some_and(|name| matches!(&**name, "tr" | "li" | "article")) {
        return true;
    }
    let Some(parent) = tree.parent(id) else { return false };
    let beside = tree.children(parent).filter(|of| *of != id && name(*of) == name(id));
    let likes = beside.take(limits::RENDER_CONTROL_ELEMENTS).filter(|of| holds(tree, *of, path, &name));
    likes.take(LIKES_OF_ROW).count() == LIKES_OF_ROW
}

fn holds<'a>(tree: &'a Tree, id: NodeId, path: &[NodeId], name: &impl Fn(NodeId) -> Option<&'a LocalName>) -> bool {
    let Some((next, inner)) = path.split_last() else { return true };
    let children = tree.children(id).take(limits::RENDER_CONTROL_ELEMENTS);
    children.filter(|of| name(*of) == name(*next)).any(|of| holds(tree, of, inner, name))
}

/// Minimum number of elements that a row needs to be compared with others.
const PARTS_MIN: usize = 2;

/// The structure of a row: its element name, and those inside it. `None` if there is too little, or for a table's head.
fn parts(tree: &Tree, id: NodeId) -> Option<Vec<&LocalName>> {
    let name = |of: NodeId| tree.element(of).map(|of| &of.name().local);
    let own = name(id).filter(|name| matches!(&***name, "tr" | "li" | "article" | "div"))?;
    let inside: Vec<&LocalName> = tree.children(id).filter_map(name).take(limits::RENDER_CONTROL_ELEMENTS).collect();
    let is_head = inside.iter().any(|name| &***name == "th");
    (inside.len() >= PARTS_MIN && !is_head).then(|| [own].into_iter().chain(inside).collect())
}

/// Whether several siblings have the same structure, whatever their classes.
pub(super) fn is_made_as_others(tree: &Tree, id: NodeId) -> bool {
    let (Some(own), Some(parent)) = (parts(tree, id), tree.parent(id)) else { return false };
    let beside = tree.children(parent).filter(|of| *of != id).take(limits::RENDER_CONTROL_ELEMENTS);
    beside.filter(|of| parts(tree, *of).as_ref() == Some(&own)).take(LIST_MIN).count() == LIST_MIN
}

/// Separates overlay links with different labels that recur in each row: "Reseed" says nothing about the "Details" beside it.
pub(super) fn tell_links_apart(controls: &mut [Control]) {
    let mut called = HashMap::<(String, String), usize>::new();
    let is_link = |of: &Control| of.leads.is_some() && !of.text.is_empty();
    for control in controls.iter().filter(|of| is_link(of)) {
        *called.entry((control.kind.clone(), control.text.clone())).or_default() += 1;
    }
    for control in controls.iter_mut().filter(|of| is_link(of)) {
        if called.get(&(control.kind.clone(), control.text.clone())).is_some_and(|count| *count >= LIST_MIN) {
            control.kind = format!("{} called {}", control.kind, control.text);
        }
    }
}

/// How many levels below its row a control may be.
const ROW_WITHIN: usize = 3;

/// The rows that an element may belong to, each with its list and the element's position in it.
fn rows_around(tree: &Tree, id: NodeId) -> Vec<(NodeId, (NodeId, String))> {
    let (mut rows, mut path, mut at) = (Vec::new(), String::new(), id);
    for _ in 0..=ROW_WITHIN {
        let (Some(element), Some(parent)) = (tree.element(at), tree.parent(at)) else { break };
        path.push_str(&element.name().local);
        if parts(tree, at).is_some() {
            rows.push((at, (parent, path.clone())));
        }
        let beside = tree.children(parent).filter(|of| tree.is_element(*of)).take(limits::RENDER_CONTROL_ELEMENTS);
        let Some(nth) = beside.enumerate().find_map(|(nth, of)| (of == at).then_some(nth)) else { break };
        path.push_str(&format!(" {nth} of "));
        at = parent;
    }
    rows
}

/// Joins a control that is alone of its kind to those at the same position in rows of the same structure: "vip" is one row of a list in
/// another colour, or has one coloured button.
pub(super) fn join_rows(window: &mut Window, controls: &mut [Control]) {
    let mut counts = HashMap::<&str, usize>::new();
    for control in controls.iter() {
        *counts.entry(&control.kind).or_default() += 1;
    }
    // One click on a link shows the effect of all of its kind.
    let is_row = |of: &Control| of.rank == Rank::Row && of.view.is_none() && of.leads.is_none();
    let is_list = |of: &Control| counts.get(&*of.kind).is_some_and(|count| *count >= LIST_MIN);
    if controls.iter().all(|of| !is_row(of) || is_list(of)) {
        return;
    }
    let joined = window.engine.with(|context| {
        read(context, |tree| {
            let element = |of: &Control| of.by_delegate.unwrap_or(of.id);
            let mut lists = HashMap::<(NodeId, String), (NodeId, &str)>::new();
            for control in controls.iter().filter(|of| is_row(of) && is_list(of)) {
                for (row, place) in rows_around(tree, element(control)) {
                    lists.entry(place).or_insert((row, &control.kind));
                }
            }
            let mut joined = Vec::new();
            for (nth, control) in controls.iter().enumerate().filter(|(_, of)| is_row(of) && !is_list(of)) {
                let kind = rows_around(tree, element(control)).into_iter().find_map(|(row, place)| {
                    let (one, kind) = lists.get(&place)?;
                    (parts(tree, row) == parts(tree, *one)).then(|| (*kind).to_owned())
                });
                joined.extend(kind.map(|kind| (nth, kind)));
            }
            joined
        })
    });
    for (nth, kind) in joined.unwrap_or_default() {
        if let Some(control) = controls.get_mut(nth) {
            (control.kind, control.traits.joined) = (kind, true);
        }
    }
}

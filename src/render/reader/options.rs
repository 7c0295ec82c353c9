//! Options of `select` lists: page numbers, or what is shown.

use std::collections::HashSet;

use boa_engine::Context;
use html5ever::local_name;
use xxhash_rust::xxh3::Xxh3;

use super::controls::{Control, Rank, is_button, is_posted};
use super::labels::Labels;
use super::shown::text_of;
use super::words::{APPLY, LOOKS, NEVER_NAMES};
use crate::dom::{Element, NodeId, Tree};
use crate::limits;
use crate::web::html::select;
use crate::web::{listens_to, read};

/// The lists whose page reacts to a choice.
pub(super) fn lists(candidates: &[NodeId], context: &mut Context) -> HashSet<NodeId> {
    let all: Vec<NodeId> = read(context, |tree| {
        let of = |id: &&NodeId| tree.element(**id).is_some_and(|element| element.is_html(&local_name!("select")));
        candidates.iter().filter(of).copied().collect()
    });
    let mut lists = HashSet::new();
    for id in all {
        let (around, is_told): (Vec<NodeId>, bool) = read(context, |tree| {
            let has = |name: &str| tree.element(id).is_some_and(|list| list.attribute(&name.into()).is_some());
            (tree.ancestors(id).collect(), has("onchange") || has("oninput"))
        });
        let is_heard = is_told
            || listens_to(id, "change", context)
            || listens_to(id, "input", context)
            || read(context, |tree| stands_by_button(tree, id));
        if is_heard || around.into_iter().any(|above| listens_to(above, "change", context)) {
            lists.insert(id);
        }
    }
    read(context, |tree| {
        lists.retain(|id| {
            let Some(element) = tree.element(*id) else { return false };
            let has = |name: &str| element.attribute(&name.into()).is_some();
            let posts = tree.form_owner(*id).and_then(|form| tree.element(form)).is_some_and(is_posted);
            let labels = Labels::of(tree, *id, element);
            !posts && !has("multiple") && !labels.are_named(LOOKS, false) && !labels.are_named(NEVER_NAMES, true)
        });
    });
    lists
}

/// Whether a button beside a list, outside of any form, applies the choice.
fn stands_by_button(tree: &Tree, id: NodeId) -> bool {
    let shows = |of: NodeId| {
        let is_button = tree.element(of).filter(|element| element.is_html(&local_name!("button")));
        is_button.is_some_and(|element| is_button_of_choices(tree, of, element))
    };
    let is_near = |above: NodeId| tree.descendants(above).take(limits::RENDER_ROW_TEXT_CHARS).any(shows);
    tree.form_owner(id).is_none() && tree.ancestors(id).take(2).any(is_near)
}

fn is_button_of_choices(tree: &Tree, id: NodeId, element: &Element) -> bool {
    Labels::of(tree, id, element).say(APPLY, true) && is_button(tree, id, element, true)
}

/// An option of a list, treated like a page number: one of several things to show.
pub(super) fn option(tree: &Tree, id: NodeId, list: NodeId) -> Option<Control> {
    let element = tree.element(id).filter(|element| element.is_html(&local_name!("option")))?;
    let options = select::options(tree, list);
    let nth = options.iter().position(|of| *of == id)?;
    if select::chosen(tree, list).contains(&id) || options.len() > limits::RENDER_OPTIONS_MAX {
        return None;
    }
    // "Choose one" is what the page showed before any choice.
    let has = |of: NodeId, name: &str| tree.element(of).and_then(|of| of.attribute(&name.into()).map(str::to_owned));
    if nth == 0 && has(id, "value").as_deref() == Some("") && !options.iter().any(|of| has(*of, "selected").is_some()) {
        return None;
    }
    let name = |name: &str| tree.element(list).and_then(|of| of.attribute(&name.into())).unwrap_or_default();
    let kind = format!("select {} {} {}", name("id"), name("name"), name("class"));
    let words = text_of(tree, id, 60);
    let mut hash = Xxh3::new();
    for part in [&*kind, &words, element.attribute(&local_name!("value")).unwrap_or_default(), &nth.to_string()] {
        hash.update(part.as_bytes());
        hash.update(&[0]);
    }
    let text = words.clone();
    // "Page 3" is the third of all pages; any other option has pages of its own.
    let number = words.split(|c: char| !c.is_ascii_digit()).find(|digits| !digits.is_empty());
    let is_page = number.and_then(|digits| digits.parse().ok()) == Some(nth + 1);
    let rank = if is_page { Rank::Number } else { Rank::Tab };
    Some(Control { text, ..Control::plain(id, rank, (kind, hash.digest()), words) })
}

//! Rows whose clicks are heard further up: by their list, the document or its body, as jQuery's `on`, Svelte and Solid have it. That a row
//! reacts cannot be seen on it; what looks like one is tried, and given up with its kind when nothing comes of it.

use std::collections::HashSet;

use boa_engine::property::PropertyKey;
use boa_engine::{Context, js_string};
use html5ever::local_name;

use super::kinds::is_made_as_others;
use super::labels::{Labels, is_pressed};
use super::rows::has_likes;
use super::shown::text_of;
use super::words::{KEEPS, NEVER, OPENERS};
use crate::dom::{Element, NodeId, Tree};
use crate::limits;
use crate::web::webidl::exotic;
use crate::web::{listens_to, of, read};

/// A listener so many elements above a row, or fewer, is its list's; one further up may be for anything.
const NEAR: usize = 4;

/// What says no more than this and has no letters is a sign.
const LABEL_CHARACTERS: usize = 3;

/// Who listens to clicks on others.
pub(super) struct Ears {
    near: HashSet<NodeId>,
    /// The document, its root or its body, or anything that stands far above.
    far: bool,
}

impl Ears {
    /// Those of a document with these elements.
    pub fn of(document: NodeId, elements: &[NodeId], context: &mut Context) -> Self {
        let mut near = HashSet::new();
        let mut far = listens_to(document, "click", context);
        for id in elements {
            if listens_to(*id, "click", context) {
                far = true;
                near.insert(*id);
            }
        }
        read(context, |tree| {
            near.retain(|id| {
                let local = tree.element(*id).map(|element| &element.name().local);
                !matches!(local, Some(&local_name!("html") | &local_name!("body")))
            });
        });
        Self { near, far }
    }

    /// Whether a framework has written its listener down on the element itself, as Svelte and Solid do for one further up.
    pub fn are_called_by(&self, id: NodeId, context: &mut Context) -> bool {
        if !self.far {
            return false;
        }
        let Some(wrapper) = of(context).borrow().wrapper(id) else { return false };
        let object = exotic::target_of(wrapper, context);
        let keys = object.own_property_keys(context).unwrap_or_default();
        keys.into_iter().any(|key| match &key {
            PropertyKey::String(name) => *name == js_string!("$$click") || *name == js_string!("__click"),
            // Svelte 5 keeps all of an element's listeners in one object.
            PropertyKey::Symbol(symbol) if symbol.description() == Some(js_string!("events")) => {
                let listeners = object.get(key, context).ok().and_then(|value| value.as_object());
                listeners.is_some_and(|all| all.has_own_property(js_string!("click"), context).unwrap_or(false))
            }
            _ => false,
        })
    }

    /// Whether an element looks like a row, or the button of a row, that somebody above it listens for.
    pub fn may_hear(&self, tree: &Tree, id: NodeId) -> bool {
        let Some(element) = tree.element(id).filter(|_| self.far) else { return false };
        let local = &*element.name().local;
        let is_row = matches!(local, "tr" | "li" | "article" | "dd" | "dt")
            && (has_likes(tree, id) || is_made_as_others(tree, id));
        let is_near = tree.ancestors(id).take(NEAR).any(|above| self.near.contains(&above));
        let may = is_near && (is_row || is_opener(tree, id, element)) || is_marked(element) && is_plain(local);
        may && !has_link(tree, id)
    }
}

/// Elements that mean nothing by themselves, so that a mark on them is for scripts.
fn is_plain(local: &str) -> bool {
    matches!(
        local,
        "tr" | "td" | "li" | "div" | "span" | "article" | "section" | "p" | "i" | "img" | "a" | "dd" | "dt" | "h3"
    )
}

/// Whether an element is a row's cell that says nothing and is called like what opens it.
pub(super) fn is_opener(tree: &Tree, id: NodeId, element: &Element) -> bool {
    if !element.is_html(&local_name!("td")) || !tree.parent(id).is_some_and(|row| has_likes(tree, row)) {
        return false;
    }
    let text = text_of(tree, id, LABEL_CHARACTERS);
    let says_nothing = text.chars().count() < LABEL_CHARACTERS && !text.contains(char::is_alphanumeric);
    let names = Labels::names_of(element);
    // Where several pictures stand in it, each does something else.
    let inside = tree.descendants(id).filter(|of| tree.is_element(*of)).take(2).count();
    says_nothing && inside < 2 && names.are_named(OPENERS, true) && !names.are_named(KEEPS, true)
}

/// Whether an element carries something for scripts: an id of a record, a place in the order of tabs, a hand for a cursor.
fn is_marked(element: &Element) -> bool {
    element.attributes().iter().any(|attribute| {
        let name = &*attribute.name.local;
        match name {
            "tabindex" => !attribute.value.starts_with('-'),
            "style" => attribute.value.contains("pointer"),
            _ => name.strip_prefix("data-").is_some_and(is_for_scripts),
        }
    })
}

/// Whether a data attribute is one that a page's author wrote, and no mark of a framework's for styles or for finding its elements.
fn is_for_scripts(name: &str) -> bool {
    const FRAMEWORKS: &[&str] =
        &["v-", "react", "svelte", "astro", "hk", "testid", "test", "n-", "radix", "theme", "aos", "bs-"];
    !FRAMEWORKS.iter().any(|framework| name.starts_with(framework))
}

/// Whether a link that leads away is in an element, or around it: then that is where it leads.
pub(super) fn has_link(tree: &Tree, id: NodeId) -> bool {
    let leads = |id: NodeId| {
        let href = tree.element(id).and_then(|element| element.attribute(&local_name!("href")));
        href.is_some_and(|href| !href.starts_with('#') && !href.starts_with("javascript:"))
    };
    tree.descendants(id).take(limits::RENDER_ROW_TEXT_CHARS).any(leads) || tree.ancestors(id).any(leads)
}

/// Whether nearly all that an element says is one link that leads away: a click beside it chooses the row, or goes the same way.
pub(super) fn is_its_link(tree: &Tree, id: NodeId, text: &str) -> bool {
    let leads = |id: &NodeId| {
        let href = tree.element(*id).and_then(|element| element.attribute(&local_name!("href")));
        href.is_some_and(|href| !href.starts_with('#') && !href.starts_with("javascript:"))
    };
    let links: Vec<NodeId> = tree.descendants(id).take(limits::RENDER_ROW_TEXT_CHARS).filter(leads).take(2).collect();
    let [link] = *links else { return false };
    text_of(tree, link, limits::RENDER_ROW_TEXT_CHARS).len() * 5 >= text.len() * 4
}

/// Where a person's hand would touch a row: the longest text in it. Who listens for its cells hears that, and so does who listens for rows.
/// None of what is pressed by itself, or does harm by what it says; the row itself where it says more than any of its parts.
pub(super) fn leaf(tree: &Tree, id: NodeId) -> NodeId {
    let is_other = |id: NodeId| tree.element(id).is_some_and(|of| is_pressed(of) || &*of.name().local == "label");
    let is_within_other = |of: NodeId| tree.ancestors(of).take_while(|above| *above != id).any(is_other);
    let is_harm = |of: NodeId| tree.element(of).is_some_and(|element| Labels::of(tree, of, element).say(NEVER, true));
    let length = |of: NodeId| text_of(tree, of, limits::RENDER_ROW_TEXT_CHARS).len();
    let inside = || tree.descendants(id).take(limits::RENDER_ROW_TEXT_CHARS);
    let leaves = inside().filter(|of| {
        let is_leaf = tree.is_element(*of) && !tree.children(*of).any(|child| tree.is_element(child));
        is_leaf && !is_other(*of) && !is_within_other(*of) && !is_harm(*of)
    });
    let longest = leaves.map(|of| (length(of), of)).max_by_key(|(length, _)| *length);
    let own = tree.children(id).filter_map(|of| tree.is_text(of).then(|| tree.character_data(of))?);
    let own: usize = own.map(|text| text.trim().len()).sum();
    longest.filter(|(length, _)| *length >= own).map_or(id, |(_, of)| of)
}

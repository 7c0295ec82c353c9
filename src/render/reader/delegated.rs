//! Rows with delegated click listeners, on their list, the document or its body, as in jQuery's `on`, Svelte and Solid. The row itself
//! does not show that it reacts. The reader tries what looks like one, and gives up its kind if nothing happens.

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

/// A listener at most this many elements above a row belongs to its list; one further up may be for anything.
const NEAR: usize = 4;

/// A label of at most this many characters without letters is a sign.
const LABEL_CHARACTERS: usize = 3;

/// The elements that listen for clicks on others.
pub(super) struct Ears {
    near: HashSet<NodeId>,
    /// The document, its root or its body, or any far ancestor.
    far: bool,
}

impl Ears {
    /// The listeners around these elements of a document.
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

    /// Whether a framework stores a delegated listener on the element itself, as Svelte and Solid do.
    pub fn are_called_by(&self, id: NodeId, context: &mut Context) -> bool {
        if !self.far {
            return false;
        }
        let Some(wrapper) = of(context).borrow().wrapper(id) else { return false };
        let object = exotic::target_of(wrapper, context);
        let keys = object.own_property_keys(context).unwrap_or_default();
        keys.into_iter().any(|key| match &key {
            PropertyKey::String(name) => *name == js_string!("$$click") || *name == js_string!("__click"),
            // Svelte 5 keeps all listeners of an element in one object.
            PropertyKey::Symbol(symbol) if symbol.description() == Some(js_string!("events")) => {
                let listeners = object.get(key, context).ok().and_then(|value| value.as_object());
                listeners.is_some_and(|all| all.has_own_property(js_string!("click"), context).unwrap_or(false))
            }
            _ => false,
        })
    }

    /// Whether an element looks like a row, or a button of a row, with a delegated listener above it.
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

/// Elements without meaning of their own, so that a marker on them is for scripts.
fn is_plain(local: &str) -> bool {
    matches!(
        local,
        "tr" | "td" | "li" | "div" | "span" | "article" | "section" | "p" | "i" | "img" | "a" | "dd" | "dt" | "h3"
    )
}

/// Whether an element is a row's cell without text whose class names an opener.
pub(super) fn is_opener(tree: &Tree, id: NodeId, element: &Element) -> bool {
    if !element.is_html(&local_name!("td")) || !tree.parent(id).is_some_and(|row| has_likes(tree, row)) {
        return false;
    }
    let text = text_of(tree, id, LABEL_CHARACTERS);
    let says_nothing = text.chars().count() < LABEL_CHARACTERS && !text.contains(char::is_alphanumeric);
    let names = Labels::names_of(element);
    // If it contains several icons, each does something else.
    let inside = tree.descendants(id).filter(|of| tree.is_element(*of)).take(2).count();
    says_nothing && inside < 2 && names.are_named(OPENERS, true) && !names.are_named(KEEPS, true)
}

/// Whether an element has a marker for scripts: a record id, a tab index, a pointer cursor.
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

/// Whether a data attribute is from the page's author, not a framework's marker for styles or element lookup.
fn is_for_scripts(name: &str) -> bool {
    const FRAMEWORKS: &[&str] =
        &["v-", "react", "svelte", "astro", "hk", "testid", "test", "n-", "radix", "theme", "aos", "bs-"];
    !FRAMEWORKS.iter().any(|framework| name.starts_with(framework))
}

/// Whether an element contains a link to another page, or is inside one: then that is its target.
pub(super) fn has_link(tree: &Tree, id: NodeId) -> bool {
    let leads = |id: NodeId| {
        let href = tree.element(id).and_then(|element| element.attribute(&local_name!("href")));
        href.is_some_and(|href| !href.starts_with('#') && !href.starts_with("javascript:"))
    };
    tree.descendants(id).take(limits::RENDER_ROW_TEXT_CHARS).any(leads) || tree.ancestors(id).any(leads)
}

/// Whether nearly all of an element's text is one link to another page: a click beside it selects the row or follows the same link.
pub(super) fn is_its_link(tree: &Tree, id: NodeId, text: &str) -> bool {
    let leads = |id: &NodeId| {
        let href = tree.element(*id).and_then(|element| element.attribute(&local_name!("href")));
        href.is_some_and(|href| !href.starts_with('#') && !href.starts_with("javascript:"))
    };
    let links: Vec<NodeId> = tree.descendants(id).take(limits::RENDER_ROW_TEXT_CHARS).filter(leads).take(2).collect();
    let [link] = *links else { return false };
    text_of(tree, link, limits::RENDER_ROW_TEXT_CHARS).len() * 5 >= text.len() * 4
}

/// Where a person would click a row: the longest text in it, so that listeners for cells and for rows both get it. Not a control of its
/// own or a harmful label; the row itself if it has more text than any of its parts.
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

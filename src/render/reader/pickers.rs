//! Select lists built by scripts: their openers (ARIA's combobox, or a button with a listbox), and the options they show.

use boa_engine::Context;
use html5ever::local_name;
use std::collections::{HashMap, HashSet};

use super::controls::{Control, Rank, is_posted};
use super::kinds::without_states;
use super::labels::Labels;
use super::rows::has_likes;
use super::shown::text_of;
use super::words::{LOOKS, NEVER, NEVER_NAMES, says};
use crate::dom::{Element, NodeId, Tree};
use crate::engine::jobs;
use crate::limits;
use crate::web::cssom::styles;
use crate::web::cssom_view::layout;
use crate::web::html::load::Window;
use crate::web::interact::{click, press_key};
use crate::web::{listens_to, own_document, read};
use crate::wire::Reach;

/// Prefix of the kinds of openers.
const OPENER: &str = "picker ";

/// Maximum length of an option's text.
const OPTION_CHARS: usize = 60;

/// How many levels above an opener its list or its text may be, and how many levels above a list for screen readers its visible part may
/// be.
const NAMED_WITHIN: usize = 3;
const SEEN_WITHIN: usize = 6;

/// A visible option.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub id: NodeId,
    pub text: String,
}

/// What an opener has shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Popup {
    pub offers: Vec<Offer>,
    /// The container of the options.
    pub root: Option<NodeId>,
    /// There are more than were seen.
    pub has_more: bool,
}

/// Whether an element opens a select list.
pub(super) fn is_opener(element: &Element) -> bool {
    let attribute = |name: &str| element.attribute(&name.into()).unwrap_or_default();
    // A calendar is not a list.
    let opens = attribute("aria-haspopup");
    let is_combobox = attribute("role") == "combobox" && !matches!(opens, "dialog" | "grid" | "tree");
    &*element.name().local != "select" && (is_combobox || opens == "listbox")
}

pub(super) fn is_opener_kind(kind: &str) -> bool {
    kind.starts_with(OPENER)
}

/// The control that opens a list. Not one that belongs to a submitted form, to a row, or to the page's appearance settings.
pub(super) fn opener(tree: &Tree, id: NodeId, element: &Element) -> Option<Control> {
    let attribute = |name: &str| element.attribute(&name.into()).unwrap_or_default();
    let labels = Labels::of(tree, id, element);
    let posts = tree.form_owner(id).and_then(|form| tree.element(form)).is_some_and(is_posted);
    let is_other = labels.are_named(LOOKS, false) || labels.are_named(NEVER_NAMES, true) || labels.say(NEVER, true);
    // A text field and the button beside it open the same list.
    let is_field =
        |of: NodeId| of != id && tree.element(of).is_some_and(|of| of.is_html(&local_name!("input")) && is_opener(of));
    let is_second = || {
        let beside = tree.parent(id).into_iter().flat_map(|above| tree.descendants(above));
        &*element.name().local == "button" && beside.take(limits::RENDER_CONTROL_ELEMENTS).any(is_field)
    };
    let is_row = |of: NodeId| {
        let is_one =
            |of: &Element| matches!(&*of.name().local, "tr" | "article") || of.attribute(&"role".into()) == Some("row");
        tree.element(of).is_some_and(is_one) && has_likes(tree, of)
    };
    if posts || is_other || is_second() || tree.ancestors(id).any(is_row) {
        return None;
    }
    let class = without_states(&attribute("class").to_lowercase());
    // Its label may be the chosen option.
    let name = ["id", "name", "aria-labelledby"].map(attribute).into_iter().find(|name| !name.is_empty());
    let kind = format!("{OPENER}{} {class} {}", element.name().local, name.unwrap_or_default());
    let identity = xxhash_rust::xxh3::xxh3_64(kind.as_bytes());
    let words = if labels.words.is_empty() { "a list of choices".to_owned() } else { labels.words };
    Some(Control::plain(id, Rank::Tab, (kind, identity), words.chars().take(OPTION_CHARS).collect()))
}

/// Whether it is a text field, whose list may depend on the typed text.
pub(super) fn is_typed_in(window: &mut Window, id: NodeId) -> bool {
    let found = window.engine.look(|context| {
        read(context, |tree| {
            tree.element(id)
                .is_some_and(|of| of.is_html(&local_name!("input")) && of.attribute(&"readonly".into()).is_none())
        })
    });
    found == Some(true)
}

/// The text of an opener or around it: the chosen option.
pub(super) fn chosen(window: &mut Window, id: NodeId) -> String {
    let found = window.engine.look(|context| {
        read(context, |tree| {
            let around = [id].into_iter().chain(tree.ancestors(id).take(NAMED_WITHIN));
            around.map(|of| text_of(tree, of, OPTION_CHARS)).find(|text| !text.is_empty()).unwrap_or_default()
        })
    });
    found.unwrap_or_default()
}

/// The visible lists of options.
fn lists_shown(context: &mut Context) -> HashSet<NodeId> {
    let document = own_document(context);
    let all: Vec<NodeId> = read(context, |tree| {
        let is_list = |id: &NodeId| has_role(tree, *id, "listbox");
        tree.descendants(document).filter(is_list).take(limits::RENDER_CONTROL_ELEMENTS).collect()
    });
    all.into_iter().filter(|id| styles::is_displayed(*id, context)).collect()
}

fn has_role(tree: &Tree, id: NodeId, role: &str) -> bool {
    tree.element(id).is_some_and(|of| of.attribute(&"role".into()) == Some(role))
}

/// The list that an opener references, or one that was not visible before.
fn list_of(opener: NodeId, before: &HashSet<NodeId>, context: &mut Context) -> Option<NodeId> {
    let document = own_document(context);
    let named: Vec<NodeId> = read(context, |tree| {
        let around = [opener].into_iter().chain(tree.ancestors(opener).take(NAMED_WITHIN));
        let names = around.filter_map(|id| tree.element(id)).flat_map(|of| {
            ["aria-controls", "aria-owns"].into_iter().filter_map(|name| of.attribute(&name.into())).collect::<Vec<_>>()
        });
        let named = names.flat_map(str::split_whitespace).filter_map(|name| tree.element_by_id(document, name));
        // The referenced element may be a wrapper of the list.
        named
            .filter_map(|id| {
                [id].into_iter().chain(tree.descendants(id)).find(|of| has_role(tree, *of, "listbox")).or(Some(id))
            })
            .collect()
    });
    let named = named.into_iter().find(|id| styles::is_displayed(*id, context));
    named.or_else(|| lists_shown(context).into_iter().filter(|id| !before.contains(id)).max())
}

/// The options of a list, and their container.
fn offers(list: NodeId, context: &mut Context) -> (Vec<NodeId>, NodeId) {
    let (by_role, is_for_ears): (Vec<NodeId>, bool) = read(context, |tree| {
        let is_option = |id: &NodeId| has_role(tree, *id, "option") && !is_shut(tree, *id);
        let by_role = tree.descendants(list).filter(is_option).take(limits::RENDER_OPTIONS_MAX + 1).collect();
        (by_role, matches!(layout::declared(tree, list, "height"), Some("0" | "0px")))
    });
    let mut shown =
        |ids: Vec<NodeId>| -> Vec<NodeId> { ids.into_iter().filter(|id| styles::is_displayed(*id, context)).collect() };
    let by_role = shown(by_role);
    if !is_for_ears && !by_role.is_empty() {
        return (by_role, list);
    }
    // Its visible part is beside it, and has the listeners.
    let around: Vec<NodeId> = read(context, |tree| {
        let is_part = |id: &NodeId| tree.element(*id).is_some_and(|of| !matches!(&*of.name().local, "html" | "body"));
        tree.ancestors(list).take(SEEN_WITHIN).take_while(is_part).collect()
    });
    for root in around {
        let inside: Vec<NodeId> = read(context, |tree| {
            let may_be = |id: &NodeId| tree.is_element(*id) && !is_shut(tree, *id);
            tree.descendants(root).filter(may_be).take(limits::RENDER_CONTROLS_MAX).collect()
        });
        let heard: Vec<NodeId> = inside.into_iter().filter(|id| listens_to(*id, "click", context)).collect();
        let mut kinds = HashMap::<String, Vec<NodeId>>::new();
        read(context, |tree| {
            for id in heard {
                let Some(element) = tree.element(id) else { continue };
                let class = element.attribute(&local_name!("class")).unwrap_or_default();
                let first = class.split_whitespace().next().unwrap_or_default();
                kinds.entry(format!("{} {first}", element.name().local)).or_default().push(id);
            }
        });
        if let Some(mut most) = kinds.into_values().max_by_key(Vec::len) {
            most.retain(|id| styles::is_displayed(*id, context));
            return (most, root);
        }
    }
    (by_role, list)
}

fn is_shut(tree: &Tree, id: NodeId) -> bool {
    let Some(element) = tree.element(id) else { return true };
    element.attribute(&"aria-disabled".into()) == Some("true") || tree.is_disabled(id)
}

/// The currently visible list of an opener.
fn popup(opener: NodeId, before: &HashSet<NodeId>, context: &mut Context) -> Popup {
    let Some(list) = list_of(opener, before, context) else { return Popup::default() };
    let (ids, root) = offers(list, context);
    let has_more = ids.len() > limits::RENDER_OPTIONS_MAX;
    let offers = read(context, |tree| {
        let says_what = |id: NodeId| {
            let text = text_of(tree, id, OPTION_CHARS);
            let label = tree.element(id).and_then(|of| of.attribute(&"aria-label".into())).unwrap_or_default();
            let text = if text.is_empty() { label.to_owned() } else { text };
            let is_harm = says(NEVER, &text.to_lowercase(), true);
            (!text.is_empty() && !is_harm).then_some(Offer { id, text })
        };
        ids.into_iter().take(limits::RENDER_OPTIONS_MAX).filter_map(says_what).collect()
    });
    Popup { offers, root: Some(root), has_more }
}

/// Scroll containers in a list that draw options as they come into view.
fn boxes(root: NodeId, context: &mut Context) -> Vec<NodeId> {
    let around: Vec<NodeId> = read(context, |tree| {
        let above = tree.ancestors(root).take(NAMED_WITHIN).filter(|id| tree.is_element(*id));
        [root].into_iter().chain(tree.descendants(root)).chain(above).collect()
    });
    around.into_iter().filter(|id| listens_to(*id, "scroll", context)).take(limits::RENDER_BOXES_MAX).collect()
}

/// Opens a list and reads its options, scrolling through it, until one has the text `wanted`, which is clicked; then closes the list if
/// it is still open. Without `wanted` the list is read to its end.
pub(super) fn open(window: &mut Window, opener: NodeId, wanted: Option<&str>, reach: Reach) -> Popup {
    let before = window.engine.with(lists_shown).unwrap_or_default();
    let is_open = window.engine.look(|context| {
        read(context, |tree| tree.element(opener).and_then(|of| of.attribute(&"aria-expanded".into())) == Some("true"))
    });
    if is_open != Some(true) {
        window.click_node(opener);
        window.engine.run(reach);
    }
    let mut all = Popup::default();
    let (mut known, mut is_at_end) = (HashSet::new(), false);
    for _ in 0..limits::RENDER_OPTIONS_SCROLLS_MAX {
        let none = HashSet::new();
        let before = if is_open == Some(true) { &none } else { &before };
        let now = window.engine.with(|context| popup(opener, before, context)).unwrap_or_default();
        let picked = now.offers.iter().find(|offer| wanted == Some(offer.text.as_str())).map(|offer| offer.id);
        let had = known.len();
        all.offers.extend(now.offers.into_iter().filter(|offer| known.insert(offer.text.clone())));
        all.root = now.root.or(all.root);
        all.has_more |= now.has_more;
        if let Some(picked) = picked {
            window.engine.with(|context| drop(click(picked, context)));
            window.engine.run(reach);
            break;
        }
        let Some(root) = now.root.filter(|_| known.len() > had && !is_at_end) else { break };
        let end = window.engine.with(|context| {
            let boxes = boxes(root, context);
            (!boxes.is_empty()).then(|| jobs::outside(context, |context| layout::scroll_boxes_on(&boxes, context)))
        });
        let Some(Some(is_end)) = end else { break };
        is_at_end = is_end;
        window.engine.run(reach);
    }
    close(window, opener, all.root, reach);
    all
}

/// Closes a list that is still visible: by Escape, or by a second click on its opener.
fn close(window: &mut Window, opener: NodeId, root: Option<NodeId>, reach: Reach) {
    let Some(root) = root else { return };
    let shows = |window: &mut Window| {
        let found = window
            .engine
            .with(|context| read(context, |tree| tree.is_connected(root)) && styles::is_displayed(root, context));
        found == Some(true)
    };
    if shows(window) {
        window.engine.with(|context| press_key("Escape", 27, opener, context));
        window.engine.run(reach);
    }
    if shows(window) {
        window.click_node(opener);
        window.engine.run(reach);
    }
}

//! The controls of a page as the reader sees them: their purpose, their kind, and their identity when a script recreates them.

use std::collections::{HashMap, HashSet};

use boa_engine::Context;
use html5ever::local_name;
use url::Url;
use xxhash_rust::xxh3::Xxh3;

use super::candidate::control;
use super::delegated::{Ears, has_link, is_opener, leaf};
use super::entries;
use super::folders::Crumb;
use super::kinds;
use super::options;
use super::places::AncestorPath;
use super::rows::has_likes;
use super::ticks;
use super::title::{self, Doubt};
use crate::dom::{Element, NodeId, Tree};
use crate::engine::realm;
use crate::limits;
use crate::web::dom::document;
use crate::web::html::load::Window;
use crate::web::interact::{HOVERS, roots};
use crate::web::{listens_to, own_document, read};

/// The purpose of a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Rank {
    /// "Enter", "I am over 18": a gate before the page.
    Enter,
    /// A box in a row, to be ticked before its list is turned.
    Tick,
    /// "Next", "load more": clicked repeatedly.
    Turn,
    /// The number of a page.
    Number,
    Tab,
    /// A row, a title, a button of a row, a menu: anything else that reacts.
    Row,
    /// "Back", "previous".
    Back,
    /// "Close": only useful for something a click has opened. In a row, "×" may mean anything.
    Close,
}

/// Something that reacts to clicks.
#[derive(Clone, Debug)]
pub(super) struct Control {
    pub id: NodeId,
    /// Shared by controls of its kind: element, classes, role, the shape of a `#` URL.
    pub kind: String,
    /// Identifies it among controls of its kind by its label and target. Another node may have the same identity.
    pub identity: u64,
    /// The same hash for the page as it is now, whatever it was before; controls with equal labels share it.
    pub now: u64,
    /// A description for people.
    pub words: String,
    /// Its text and the text of its row; empty if there is none.
    pub text: String,
    pub row: String,
    /// For a control in a row: a hash of the rest of the row's text.
    pub beside: Option<u64>,
    /// For a control in a row: a hash of the row's text without its counts and times, which change.
    pub still: Option<u64>,
    /// Its position, or that of the row with the delegated listener.
    pub place: AncestorPath,
    pub rank: Rank,
    /// The view of the page that its URL names.
    pub view: Option<Url>,
    /// Target of a link whose click opens something on this page.
    pub leads: Option<Url>,
    /// Its label is about what the reader looks for: a download.
    pub gets: bool,
    pub doubt: Doubt,
    /// For a way back: the kind of breadcrumb it is.
    pub crumb: Option<Crumb>,
    /// It has no text and its icon is unknown, or it is a link: no POST is allowed for it.
    pub unsure: bool,
    /// The row that seems to have a delegated listener, if it has none itself.
    pub by_delegate: Option<NodeId>,
    /// The option that it chooses, if it stands for one of a picker.
    pub option: Option<Choice>,
    pub traits: Traits,
}

/// An option, and the identity of the control that opens its list.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub text: String,
    pub opener: u64,
}

/// Further facts about a control.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traits {
    /// It offers to retry a failed request.
    pub again: bool,
    /// It leads to the first or the last page of a list.
    pub to_an_end: bool,
    /// For a row: it is labelled like a turn, and may load more of what its row shows.
    pub more: bool,
    /// For a box: it is ticked, so it can only be unticked.
    pub ticked: bool,
    /// Its kind comes only from its position, not from its classes.
    pub joined: bool,
    /// It is in the head of a table, which only sorts or hides what is already there.
    pub head: bool,
    /// It has no label and is in an open branch of a tree, which it would close.
    pub closes: bool,
}

impl Control {
    /// A control that only has a label, for ranks other than rows.
    pub fn plain(id: NodeId, rank: Rank, (kind, identity): (String, u64), words: String) -> Self {
        Self {
            id,
            kind,
            identity,
            now: identity,
            words,
            text: String::new(),
            row: String::new(),
            beside: None,
            still: None,
            place: AncestorPath::default(),
            rank,
            view: None,
            leads: None,
            gets: false,
            doubt: Doubt::None,
            crumb: None,
            unsure: false,
            by_delegate: None,
            option: None,
            traits: Traits::default(),
        }
    }

    /// The name of the element that it is.
    pub fn local(&self) -> &str {
        self.kind.split(' ').next().unwrap_or_default()
    }
}

/// Minimum number of one kind that makes a list.
pub(super) const LIST_MIN: usize = 3;

/// The controls of the current page in document order, without rows of abandoned kinds; and whether there are more rows than the limit. A
/// guessed row counts as one of `lists_of_guesses` once there was a list of its kind.
pub(super) fn controls(
    window: &mut Window,
    is_given_up: impl Fn(&str) -> bool,
    lists_of_guesses: &mut HashSet<String>,
) -> (Vec<Control>, bool) {
    let (mut controls, rows) = found(window, &is_given_up);
    title::decide(&mut controls, &is_given_up);
    // A link named "Accept" is no gate.
    controls.retain(|of| of.leads.is_none() || matches!(of.rank, Rank::Row | Rank::Turn));
    kinds::tell_links_apart(&mut controls);
    entries::keep_innermost(window, &mut controls);
    kinds::join_rows(window, &mut controls);
    // Turning page by page reaches both ends; a jump to an end would skip the pages between.
    let is_turned =
        |of: &Control| !of.traits.to_an_end && of.crumb.is_none() && matches!(of.rank, Rank::Turn | Rank::Back);
    if controls.iter().any(is_turned) {
        controls.retain(|of| !of.traits.to_an_end || of.rank == Rank::Row && !of.row.is_empty());
    }
    let (mut of_kind, mut same) = (HashMap::<String, usize>::new(), HashMap::<u64, u64>::new());
    for control in &controls {
        *of_kind.entry(control.kind.clone()).or_default() += 1;
    }
    let of_rows = entries::of_rows(window, &mut controls);
    for control in &mut controls {
        // Rows with equal labels are told apart by their order.
        control.now = control.identity;
        let nth = same.entry(control.now).or_default();
        control.identity = control.now.wrapping_add(*nth);
        *nth += 1;
    }
    ticks::drop_other_boxes(window, &mut controls);
    keep_guesses(&mut controls, &of_kind, lists_of_guesses);
    drop_same_clicks(window, &mut controls);
    for control in controls.iter_mut().filter(|control| of_rows.contains(&control.id)) {
        control.rank = Rank::Row;
    }
    (controls, rows > limits::RENDER_CONTROLS_MAX)
}

/// Everything that reacts, up to the limit of rows; and the number of rows.
fn found(window: &mut Window, is_given_up: impl Fn(&str) -> bool) -> (Vec<Control>, usize) {
    let mut rows = 0;
    let found = window.engine.with(|context| {
        let document = own_document(context);
        let base = document::base_url(document, context);
        let here = realm::address(context);
        let candidates: Vec<NodeId> = read(context, |tree| {
            let roots = roots(tree, document).into_iter();
            let all = roots.flat_map(|root| tree.descendants(root)).collect::<Vec<_>>();
            all.into_iter().filter(|id| tree.is_element(*id) && !is_shut(tree, *id)).collect()
        });
        let ears = Ears::of(document, &candidates, context);
        let lists = options::lists(&candidates, context);
        let mut controls = Vec::new();
        for id in candidates {
            let listens =
                listens_to(id, "click", context) || ears.are_called_by(id, context) || shows_by_hovering(id, context);
            let control = read(context, |tree| {
                if lists.contains(&id) {
                    return None;
                }
                if let Some(list) = tree.ancestors(id).take(2).find(|above| lists.contains(above)) {
                    return options::option(tree, id, list).filter(|control| !is_given_up(&control.kind));
                }
                let own = ticks::box_of(tree, id).or_else(|| control(tree, id, listens, (&base, &here), &is_given_up));
                own.or_else(|| {
                    let may_hear = !listens && ears.may_hear(tree, id);
                    let control = may_hear.then(|| control(tree, id, true, (&base, &here), &is_given_up))??;
                    Some(Control { id: leaf(tree, id), by_delegate: Some(id), ..control })
                })
            });
            // A list's "next" may be below all of its rows.
            rows += usize::from(control.as_ref().is_some_and(|control| control.rank == Rank::Row));
            controls.extend(control.filter(|control| control.rank != Rank::Row || rows <= limits::RENDER_CONTROLS_MAX));
        }
        controls
    });
    (found.unwrap_or_default(), rows)
}

/// Keeps a guessed row only if it is one of a list and of the first kinds, or next to a row that leads up.
fn keep_guesses(controls: &mut Vec<Control>, of_kind: &HashMap<String, usize>, lists_of_guesses: &mut HashSet<String>) {
    let is_guess = |of: &Control| of.by_delegate.is_some() && matches!(of.rank, Rank::Row | Rank::Back);
    let leads_up = |of: &&Control| is_guess(of) && of.rank == Rank::Back && of.crumb.is_some();
    let ups: Vec<(String, AncestorPath)> =
        controls.iter().filter(leads_up).map(|of| (of.local().to_owned(), of.place.clone())).collect();
    let mut guessed = Vec::<String>::new();
    controls.retain(|control| {
        if !is_guess(control) {
            return true;
        }
        if !guessed.contains(&control.kind) && guessed.len() < limits::RENDER_GUESSED_KINDS_MAX {
            guessed.push(control.kind.clone());
        }
        if of_kind.get(&control.kind).is_some_and(|count| *count >= LIST_MIN) {
            lists_of_guesses.insert(control.kind.clone());
        }
        let is_beside = |(local, place): &(String, AncestorPath)| local == control.local() && place.is(&control.place);
        guessed.contains(&control.kind) && (lists_of_guesses.contains(&control.kind) || ups.iter().any(is_beside))
    });
}

/// Drops guesses whose click is also that of another control: the second click would close what the first opened.
fn drop_same_clicks(window: &mut Window, controls: &mut Vec<Control>) {
    let own: HashSet<NodeId> = controls.iter().filter(|of| of.by_delegate.is_none()).map(|of| of.id).collect();
    let guesses: Vec<(NodeId, NodeId)> =
        controls.iter().filter_map(|of| of.by_delegate.map(|row| (of.id, row))).collect();
    if guesses.is_empty() {
        return;
    }
    let heard = window.engine.with(|context| {
        let is_heard = |tree: &Tree, leaf: NodeId, row: NodeId| {
            leaf != row
                && (own.contains(&leaf)
                    || tree.ancestors(leaf).take_while(|above| *above != row).any(|above| own.contains(&above)))
        };
        let heard =
            |tree: &Tree| guesses.iter().filter(|(leaf, row)| is_heard(tree, *leaf, *row)).map(|of| of.0).collect();
        read::<HashSet<NodeId>>(context, heard)
    });
    let mut taken = heard.unwrap_or_default();
    // A click on the cell that opens a row also reaches a listener on the row.
    let opened = window.engine.with(|context| {
        let is_cell = |tree: &Tree, id: NodeId| tree.element(id).is_some_and(|element| is_opener(tree, id, element));
        read(context, |tree| {
            let cells = guesses.iter().map(|of| of.1).filter(|cell| is_cell(tree, *cell));
            cells.filter_map(|cell| tree.parent(cell)).collect::<HashSet<NodeId>>()
        })
    });
    let opened = opened.unwrap_or_default();
    controls.retain(|control| control.by_delegate.is_none_or(|row| !opened.contains(&row) && taken.insert(control.id)));
}

/// Whether a row reacts to hovering, which precedes every click. A row that has its link reacts only for that.
fn shows_by_hovering(id: NodeId, context: &mut Context) -> bool {
    let may = read(context, |tree| has_likes(tree, id) && !has_link(tree, id));
    let says = |element: &Element, kind: &str| element.attribute(&format!("on{kind}").as_str().into()).is_some();
    may && HOVERS.iter().any(|kind| {
        read(context, |tree| tree.element(id).is_some_and(|element| says(element, kind)))
            || listens_to(id, kind, context)
    })
}

/// Whether an element is unusable: disabled, or inside something closed.
fn is_shut(tree: &Tree, id: NodeId) -> bool {
    let Some(element) = tree.element(id) else { return true };
    let says = |name: &str, value: &str| element.attribute(&name.into()).is_some_and(|given| given == value);
    let is_closed = |id: NodeId| {
        tree.element(id).is_some_and(|of| {
            let has = |name: &str| of.attribute(&name.into()).is_some();
            has("hidden") || has("inert") || &*of.name().local == "dialog" && !has("open")
        })
    };
    tree.is_disabled(id) || says("aria-disabled", "true") || is_closed(id) || tree.ancestors(id).any(is_closed)
}

/// Whether a button acts by itself: not one that submits a form. In a form with POST only buttons with a listener count.
pub(super) fn is_button(tree: &Tree, id: NodeId, element: &Element, reacts: bool) -> bool {
    let attribute = |name: &str| element.attribute(&name.into()).unwrap_or_default();
    let is_button = attribute("type").eq_ignore_ascii_case("button");
    if !is_button && !element.is_html(&local_name!("button")) {
        return false;
    }
    let is_reset = attribute("type").eq_ignore_ascii_case("reset");
    match tree.form_owner(id).and_then(|form| tree.element(form)) {
        None => reacts || is_button || !is_reset && !attribute("type").eq_ignore_ascii_case("submit"),
        Some(form) => {
            let posts = is_posted(form);
            // A button submits its form by default.
            reacts && (is_button || !posts && !is_reset) || is_button && !posts
        }
    }
}

pub(super) fn is_posted(form: &Element) -> bool {
    form.attribute(&local_name!("method")).is_some_and(|method| method.eq_ignore_ascii_case("post"))
}

/// Identifies a control among others of its kind, even after a script recreates it: by its attributes and those inside it, its text, and
/// the text of its row.
pub(super) fn identity(tree: &Tree, id: NodeId, element: &Element, (text, row): (&str, Option<&str>)) -> u64 {
    let mut hash = Xxh3::new();
    let mut add = |element: &Element| {
        for attribute in element.attributes() {
            let name = &*attribute.name.local;
            // Clicks of the reader change a control's style and whether it is the current one.
            let is_look = matches!(name, "class" | "tabindex" | "disabled" | "checked") || name.starts_with("aria-");
            if !is_look && (name != "style" || attribute.value.contains("url(")) {
                hash.update(name.as_bytes());
                hash.update(attribute.value.as_bytes());
                hash.update(&[0]);
            }
        }
    };
    add(element);
    tree.descendants(id).filter_map(|id| tree.element(id)).take(limits::RENDER_CONTROL_ELEMENTS).for_each(&mut add);
    // A row and its box may have the same attributes and text.
    for part in [&*element.name().local, text, row.unwrap_or_default()] {
        hash.update(part.as_bytes());
        hash.update(&[0]);
    }
    hash.digest()
}

/// The same hash for an element with this text in a row with that text.
pub(super) fn identity_of(tree: &Tree, id: NodeId, element: &Element, text: &str, row: &str) -> u64 {
    identity(tree, id, element, (text, Some(row)))
}

//! The controls of a page as a reader sees them: what they are for, which of them are of one kind, and which is which when a script makes
//! them anew.

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
use super::places::Place;
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

/// What a control is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Rank {
    /// "Enter", "I am over 18": what stands before the page.
    Enter,
    /// A box in a row, which is ticked before its list is turned.
    Tick,
    /// "Next", "load more": pressed again and again.
    Turn,
    /// The number of a page.
    Number,
    Tab,
    /// A row, a title, a button of a row, a menu: whatever else reacts.
    Row,
    /// "Back", "previous".
    Back,
    /// "Close": of use only for what a click has opened. On a row, "×" may be anything.
    Close,
}

/// Something that reacts to clicks.
#[derive(Clone, Debug)]
pub(super) struct Control {
    pub id: NodeId,
    /// What controls of its kind share: element, classes, role, the shape of an address behind `#`.
    pub kind: String,
    /// Which one of its kind it is, as a reader tells them apart: by what it says and where it leads. Another node may be the same one.
    pub identity: u64,
    /// The same, as the page has it now, whatever it was before, and of others that say the same.
    pub now: u64,
    /// As a person names it.
    pub words: String,
    /// Its text, and that of the row that it stands in; empty where there is none.
    pub text: String,
    pub row: String,
    /// Of what stands in a row: a hash of what else the row says.
    pub beside: Option<u64>,
    /// Of what stands in a row: a hash of what that says but for counts and times, which live.
    pub still: Option<u64>,
    /// Where it stands, itself or the row that somebody above listens for.
    pub place: Place,
    pub rank: Rank,
    /// The view of the page that its address names.
    pub view: Option<Url>,
    /// Where it leads, of a link whose click is said to open something here.
    pub leads: Option<Url>,
    /// Its words are about what the page is there for.
    pub gets: bool,
    pub doubt: Doubt,
    /// Of a way back: it is one of those to what is around the place that the page shows.
    pub crumb: Option<Crumb>,
    /// It has no words, and nobody knows what its picture stands for, or it is a link: nothing is posted for it.
    pub unsure: bool,
    /// The row that looks as if somebody around it listened, where nobody listens to it itself.
    pub by_delegate: Option<NodeId>,
    /// What it chooses of a list that it opens.
    pub option: Option<Choice>,
    pub traits: Traits,
}

/// An option, and the identity of what opens its list.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub text: String,
    pub opener: u64,
}

/// What else is known of a control.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traits {
    /// It offers to ask once more what was not answered.
    pub again: bool,
    /// It leads to the first or the last page of a list.
    pub to_an_end: bool,
    /// Of a row: it is called like a turn, and may be one of what its row shows.
    pub more: bool,
    /// Of a box: it is ticked, so that it is there to be unticked and nothing else.
    pub ticked: bool,
    /// It is of its kind for where it stands alone, whatever its classes.
    pub joined: bool,
    /// It stands in the head of a table: what that sorts or hides is there without it.
    pub head: bool,
    /// It says nothing and stands in an open branch of a tree, which it would close.
    pub closes: bool,
}

impl Control {
    /// One that is nothing but what it says, for other ranks than rows.
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
            place: Place::default(),
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

/// So many of one kind are a list.
pub(super) const LIST_MIN: usize = 3;

/// The controls of the page as it is, in the order of the document, without rows of kinds that are given up; and whether there are more
/// rows than are taken. What only looks like rows is one of `lists_of_guesses` from when there was a list of its kind.
pub(super) fn controls(
    window: &mut Window,
    is_given_up: impl Fn(&str) -> bool,
    lists_of_guesses: &mut HashSet<String>,
) -> (Vec<Control>, bool) {
    let (mut controls, rows) = found(window, &is_given_up);
    title::decide(&mut controls, &is_given_up);
    // "Accept", of a link, is no gate.
    controls.retain(|of| of.leads.is_none() || matches!(of.rank, Rank::Row | Rank::Turn));
    kinds::tell_links_apart(&mut controls);
    entries::keep_innermost(window, &mut controls);
    kinds::join_rows(window, &mut controls);
    // Who turns page by page comes to both ends, and misses what lies between where he jumps there.
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
        // Rows that say the same are told apart by their order.
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

/// Whatever reacts, as far as rows are taken, and how many rows there are.
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
            // A list's "next" may stand below all of its rows.
            rows += usize::from(control.as_ref().is_some_and(|control| control.rank == Rank::Row));
            controls.extend(control.filter(|control| control.rank != Rank::Row || rows <= limits::RENDER_CONTROLS_MAX));
        }
        controls
    });
    (found.unwrap_or_default(), rows)
}

/// What only looks like a row has to be one of a list, and of its first kinds; or beside one that leads up, as that itself.
fn keep_guesses(controls: &mut Vec<Control>, of_kind: &HashMap<String, usize>, lists_of_guesses: &mut HashSet<String>) {
    let is_guess = |of: &Control| of.by_delegate.is_some() && matches!(of.rank, Rank::Row | Rank::Back);
    let leads_up = |of: &&Control| is_guess(of) && of.rank == Rank::Back && of.crumb.is_some();
    let ups: Vec<(String, Place)> =
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
        let is_beside = |(local, place): &(String, Place)| local == control.local() && place.is(&control.place);
        guessed.contains(&control.kind) && (lists_of_guesses.contains(&control.kind) || ups.iter().any(is_beside))
    });
}

/// Leaves out guesses whose click is that of another control as well: the second one would close what the first has opened.
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
    // A click on the cell that opens a row is heard by who listens for the row as well.
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

/// Whether a row reacts to a mouse that comes over it, as every click's does. One that has its link is there for that.
fn shows_by_hovering(id: NodeId, context: &mut Context) -> bool {
    let may = read(context, |tree| has_likes(tree, id) && !has_link(tree, id));
    let says = |element: &Element, kind: &str| element.attribute(&format!("on{kind}").as_str().into()).is_some();
    may && HOVERS.iter().any(|kind| {
        read(context, |tree| tree.element(id).is_some_and(|element| says(element, kind)))
            || listens_to(id, kind, context)
    })
}

/// Whether an element is out of use: disabled, or in something that is closed.
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

/// Whether a button does something by itself: none that sends a form, and none at all of a form that is posted but those that react.
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
            // A button that does not say otherwise sends its form.
            reacts && (is_button || !posts && !is_reset) || is_button && !posts
        }
    }
}

pub(super) fn is_posted(form: &Element) -> bool {
    form.attribute(&local_name!("method")).is_some_and(|method| method.eq_ignore_ascii_case("post"))
}

/// What tells a control from others of its kind, whoever made it when: its attributes and those of what is in it, its text, and what its
/// row says.
pub(super) fn identity(tree: &Tree, id: NodeId, element: &Element, (text, row): (&str, Option<&str>)) -> u64 {
    let mut hash = Xxh3::new();
    let mut add = |element: &Element| {
        for attribute in element.attributes() {
            let name = &*attribute.name.local;
            // How a control looks, and whether it is the current one, changes under a reader's hand.
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
    // A row and the box in it may have the same attributes, and say the same.
    for part in [&*element.name().local, text, row.unwrap_or_default()] {
        hash.update(part.as_bytes());
        hash.update(&[0]);
    }
    hash.digest()
}

/// The same of what says this itself, and stands in a row that says that.
pub(super) fn identity_of(tree: &Tree, id: NodeId, element: &Element, text: &str, row: &str) -> u64 {
    identity(tree, id, element, (text, Some(row)))
}

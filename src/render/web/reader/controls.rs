//! The controls of a page as a reader sees them: what they are for, which of them are of one kind, and which is which when a script makes
//! them anew.

use std::collections::HashMap;

use html5ever::local_name;
use url::Url;
use xxhash_rust::xxh3::Xxh3;

use super::super::load::Window;
use super::super::{document, listens_to_clicks, own_document, read};
use super::delegated::{Ears, leaf};
use super::shown::text_of;
use super::words::{BACK, GET, MORE, NEVER, says};
use crate::limits;
use crate::render::dom::{Element, NodeId, Tree};
use crate::render::engine::realm;

/// What a control is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Rank {
    /// "Next", "load more": pressed again and again.
    Turn,
    /// The number of a page.
    Number,
    Tab,
    /// A row, a title, a button of a row, a menu: whatever else reacts.
    Row,
    /// "Back", "previous", "close".
    Back,
}

/// Something that reacts to clicks.
#[derive(Clone, Debug)]
pub(super) struct Control {
    pub id: NodeId,
    /// What controls of its kind share: element, classes, role, the shape of an address behind `#`.
    pub kind: String,
    /// Which one of its kind it is, as a reader tells them apart: by what it says and where it leads. Another node may be the same one.
    pub identity: u64,
    /// As a person names it.
    pub words: String,
    pub rank: Rank,
    /// The view of the page that its address names.
    pub view: Option<Url>,
    /// Its words are about what the page is there for.
    pub gets: bool,
    /// Nothing listens to it but what stands around it.
    by_delegate: bool,
}

/// From so many of one kind on, "more" is what each row has, and no turn of the list.
const ROWS_MIN: usize = 4;

/// So many of one kind are a list.
pub(super) const LIST_MIN: usize = 3;

/// The controls of the page as it is, in the order of the document.
pub(super) fn controls(window: &mut Window) -> Vec<Control> {
    let found = window.engine.with(|context| {
        let document = own_document(context);
        let base = document::base_url(document, context);
        let here = realm::address(context);
        let candidates: Vec<NodeId> = read(context, |tree| {
            tree.descendants(document).filter(|id| tree.is_element(*id) && !is_shut(tree, *id)).collect()
        });
        let ears = Ears::of(document, &candidates, context);
        let mut controls = Vec::new();
        for id in candidates {
            let listens = listens_to_clicks(id, context) || ears.are_called_by(id, context);
            controls.extend(read(context, |tree| {
                let own = control(tree, id, listens, (&base, &here));
                own.or_else(|| {
                    let control = ears.may_hear(tree, id).then(|| control(tree, id, true, (&base, &here)))??;
                    Some(Control { id: leaf(tree, id), by_delegate: true, ..control })
                })
            }));
            if controls.len() == limits::RENDER_CONTROLS_MAX {
                break;
            }
        }
        controls
    });
    let mut controls = found.unwrap_or_default();
    let (mut of_kind, mut same) = (HashMap::<String, usize>::new(), HashMap::<u64, u64>::new());
    for control in &mut controls {
        *of_kind.entry(control.kind.clone()).or_default() += 1;
        // Rows that say the same are told apart by their order.
        let nth = same.entry(control.identity).or_default();
        control.identity = control.identity.wrapping_add(*nth);
        *nth += 1;
    }
    // What only looks like a row has to be one of a list, and of its first kinds.
    let mut guessed = Vec::<String>::new();
    controls.retain(|control| {
        let is_guess = control.by_delegate && matches!(control.rank, Rank::Row | Rank::Back);
        if is_guess && !guessed.contains(&control.kind) && guessed.len() < limits::RENDER_GUESSED_KINDS_MAX {
            guessed.push(control.kind.clone());
        }
        !is_guess
            || guessed.contains(&control.kind) && of_kind.get(&control.kind).is_some_and(|count| *count >= LIST_MIN)
    });
    for control in controls.iter_mut().filter(|control| control.rank == Rank::Turn) {
        if of_kind.get(&control.kind).is_some_and(|count| *count >= ROWS_MIN) {
            control.rank = Rank::Row;
        }
    }
    controls
}

/// Whether an element is out of use: disabled, hidden, or part of a form that is sent.
fn is_shut(tree: &Tree, id: NodeId) -> bool {
    let Some(element) = tree.element(id) else { return true };
    let says = |name: &str, value: &str| element.attribute(&name.into()).is_some_and(|given| given == value);
    tree.is_disabled(id) || element.attribute(&local_name!("hidden")).is_some() || says("aria-disabled", "true")
}

fn control(tree: &Tree, id: NodeId, listens: bool, (base, here): (&Url, &Url)) -> Option<Control> {
    let element = tree.element(id)?;
    let attribute = |name: &str| element.attribute(&name.into()).unwrap_or_default();
    let local = &*element.name().local;
    let href = element.attribute(&local_name!("href"));
    let within = href.filter(|href| href.contains('#')).and_then(|href| {
        let url = base.join(href).ok()?;
        (bare(&url) == bare(here)).then_some(url)
    });
    let goes_nowhere =
        within.is_some() || href.is_some_and(|href| href.starts_with(['#']) || href.starts_with("javascript:"));
    let reacts = listens || element.attribute(&local_name!("onclick")).is_some();
    let in_form = tree.ancestors(id).any(|above| {
        tree.element(above).is_some_and(|form| {
            form.is_html(&local_name!("form"))
                && form.attribute(&local_name!("method")).is_some_and(|method| method.eq_ignore_ascii_case("post"))
        })
    });
    let role = attribute("role");
    let is_control = match local {
        // An address of its own is a link like any other, whatever else a click does.
        "a" if href.is_some() && !goes_nowhere => false,
        "a" => goes_nowhere || reacts,
        "button" => !in_form && (reacts || !matches!(attribute("type"), "submit" | "reset")),
        "input" => attribute("type") == "button" && !in_form,
        "summary" => true,
        "tr" | "td" | "li" | "div" | "span" | "article" | "section" | "h2" | "h3" | "h4" | "p" | "img" | "label" => {
            reacts || matches!(role, "button" | "tab" | "link")
        }
        _ => reacts && element.name().ns == html5ever::ns!(html) && !matches!(local, "html" | "body" | "form"),
    };
    if !is_control {
        return None;
    }
    let text = text_of(tree, id, limits::RENDER_ROW_TEXT_CHARS);
    let mut words = String::new();
    for part in [attribute("aria-label"), attribute("title"), attribute("value"), &text] {
        words.extend([part, " "]);
        if words.len() > 200 {
            break;
        }
    }
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let low = words.to_lowercase();
    let class = attribute("class").to_lowercase();
    let names = format!("{class} {} {}", attribute("id"), attribute("rel")).to_lowercase();
    // Long texts are content: a row is not "next" because a title says so.
    let is_short = low.chars().count() <= 40;
    let is_row = matches!(local, "tr" | "li" | "article") && low.split(' ').count() > 3;
    if is_short && !is_row && says(NEVER, &low, true) {
        return None;
    }
    let view = within.filter(|url| is_route(tree, tree.document_of(id), url));
    let is_number = !low.is_empty() && low.chars().count() <= 4 && low.chars().all(|c| c.is_ascii_digit());
    let is_turn = says(MORE, &low, false) || says(&["next", "more", "load"], &names, false);
    let rank = if is_short && !is_row && is_turn {
        Rank::Turn
    } else if is_short && !is_row && (says(BACK, &low, true) || says(&["prev", "previous"], &names, true)) {
        Rank::Back
    } else if (is_number && !is_of_detail(view.as_ref())) || says(&["pag", "pagination"], &class, false) {
        Rank::Number
    } else if role == "tab" || says(&["tab", "tabs"], &class, true) || local == "summary" {
        Rank::Tab
    } else {
        Rank::Row
    };
    let view = view.filter(|_| rank == Rank::Row);
    let shape = view.as_ref().map(|url| shape(url.fragment().unwrap_or_default())).unwrap_or_default();
    let kind = format!("{local} {class} {role} {rank:?} {shape}");
    let identity = identity(tree, id, element, (&text, rank));
    let gets = is_short && says(GET, &format!("{low} {class}"), false);
    let words = words.chars().take(60).collect();
    Some(Control { id, kind, identity, words, rank, view, gets, by_delegate: false })
}

fn bare(url: &Url) -> &str {
    url.as_str().split('#').next().unwrap_or_default()
}

/// Whether the fragment is the page's own kind of address, and no place in its text.
fn is_route(tree: &Tree, document: NodeId, url: &Url) -> bool {
    let fragment = url.fragment().unwrap_or_default();
    let says_so = fragment.starts_with(['/', '!']) || fragment.contains(['/', '=']);
    says_so && fragment.len() > 1 && tree.element_by_id(document, fragment).is_none()
}

/// Whether a number names an address of its own, as ids do, and no page.
fn is_of_detail(view: Option<&Url>) -> bool {
    view.and_then(Url::fragment).is_some_and(|fragment| fragment.starts_with(['/', '!']) && !fragment.contains("page"))
}

/// What addresses behind `#` share that lead to views of one sort: their first part, and how many follow.
fn shape(fragment: &str) -> String {
    let mut shape = String::new();
    for (nth, part) in fragment.trim_start_matches(['!', '/']).split(['/', '&', '?']).enumerate() {
        let name = part.split('=').next().unwrap_or_default();
        let is_named = nth == 0 && !name.contains(|c: char| c.is_ascii_digit()) || part.contains('=');
        shape.push('/');
        shape.push_str(if is_named { name } else { "*" });
    }
    shape
}

/// What tells a control from others of its kind, whoever made it when: its attributes and those of what is in it, its text, and for what
/// stands in a row that row's text, which is not the text of the list around rows: that grows.
fn identity(tree: &Tree, id: NodeId, element: &Element, (text, rank): (&str, Rank)) -> u64 {
    let mut hash = Xxh3::new();
    let mut add = |element: &Element| {
        for attribute in element.attributes() {
            let name = &*attribute.name.local;
            // How a control looks, and whether it is the current one, changes under a reader's hand.
            let is_look = matches!(name, "class" | "tabindex" | "disabled") || name.starts_with("aria-");
            if !is_look && (name != "style" || attribute.value.contains("url(")) {
                hash.update(name.as_bytes());
                hash.update(attribute.value.as_bytes());
                hash.update(&[0]);
            }
        }
    };
    add(element);
    tree.descendants(id).filter_map(|id| tree.element(id)).take(limits::RENDER_CONTROL_ELEMENTS).for_each(&mut add);
    hash.update(text.as_bytes());
    let is_part = matches!(&*element.name().local, "a" | "button" | "input" | "span" | "img" | "td" | "label");
    if rank == Rank::Row
        && (is_part || !has_likes(tree, id))
        && let Some(row) =
            tree.ancestors(id).take(4).find(|above| has_likes(tree, *above) && says_more(tree, *above, text))
    {
        hash.update(text_of(tree, row, limits::RENDER_ROW_TEXT_CHARS).as_bytes());
    }
    hash.digest()
}

/// Whether an element stands beside others of its kind, as rows do.
pub(super) fn has_likes(tree: &Tree, id: NodeId) -> bool {
    let kind = |id: NodeId| {
        let element = tree.element(id)?;
        Some((&element.name().local, element.attribute(&local_name!("class"))))
    };
    let (Some(own), Some(parent)) = (kind(id), tree.parent(id)) else { return false };
    let mut beside = tree.children(parent).filter(|of| tree.is_element(*of)).take(limits::RENDER_CONTROL_ELEMENTS);
    beside.any(|of| of != id && kind(of) == Some(own))
}

fn says_more(tree: &Tree, id: NodeId, text: &str) -> bool {
    text_of(tree, id, limits::RENDER_ROW_TEXT_CHARS).len() > text.len()
}

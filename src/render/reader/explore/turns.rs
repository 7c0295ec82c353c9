//! Reads members' pages, where lists are turned and nothing else is clicked: any other click may act in the member's name. A control that
//! turns a list must have a label that says so and nothing more: "Next page", "Load 20 more", "›" in a pager.

use std::collections::{HashMap, HashSet};

use html5ever::local_name;

use super::super::controls::{Control, Rank};
use super::super::rows::has_likes;
use super::super::shown::News;
use super::super::words::{ABOUT_TURNS, PAGERS, TURN_PHRASES, TURN_SIGNS, TURN_WORDS, TURN_WORDS_OF_MORE};
use super::Explorer;
use super::choices::is_choice;
use super::pick::is_opener;
use crate::dom::{NodeId, Tree};
use crate::web::read;
use crate::wire::Navigation;

/// How many levels above a control its pager may be. Elsewhere a number may be anything, such as a rating.
const PAGER_WITHIN: usize = 4;

/// Words beside a page number.
const TURN_GOES: &[&str] = &["go", "to"];

/// Minimum number of links of a list with turns below it; a row has fewer.
const LINKS_OF_LIST: usize = 5;

/// A list has turns above and below it; a control that occurs more often belongs to rows.
const ENDS: usize = 2;

/// Maximum number of words in the label of a turn.
const WORDS: usize = 5;

/// The results of turns.
#[derive(Default)]
pub(super) struct Turns {
    /// Only turns are clicked, and only GETs are sent.
    pub only: bool,
    /// A control was skipped only because this is a member's page.
    pub has_left_alone: bool,
    /// A turn tried to POST.
    pub has_unsent: bool,
    /// The last turn changed the page's text.
    pub has_turned: bool,
    /// The page number of the last turn.
    pub last_number: u32,
    /// Turns that showed nothing, after which a way back shows known pages.
    pub vain: u32,
    /// The last act turned back, to something new.
    pub heads_back: bool,
    /// The first state had a way back: the page is not the first of its list.
    pub starts_inside: bool,
}

impl Explorer<'_> {
    /// Keeps only turns, unless the list's pages have URLs: those are links.
    pub(super) fn keep_turns(&mut self, controls: &mut Vec<Control>) {
        let mut alike = HashMap::<String, usize>::new();
        for of in controls.iter() {
            *alike.entry(words_of(label(of)).join(" ")).or_default() += 1;
        }
        let kept = self.window.engine.look(|context| {
            read(context, |tree| {
                let turns = |of: &&Control| {
                    let times = alike.get(&words_of(label(of)).join(" ")).copied().unwrap_or_default();
                    turns(tree, of, times)
                };
                controls.iter().filter(turns).map(|of| of.id).collect::<HashSet<NodeId>>()
            })
        });
        let kept = kept.unwrap_or_default();
        // Other controls may sort, or show less of the same.
        let is_left = |of: &Control| {
            let is_tab = of.rank == Rank::Tab && of.local() != "summary" && !is_choice(of) && !is_opener(of);
            is_tab || of.view.is_some()
        };
        self.turns.has_left_alone |= controls.iter().any(|of| is_left(of) && !kept.contains(&of.id));
        controls.retain(|of| kept.contains(&of.id));
        // A control that looks like the buttons of rows is taken for one of them elsewhere.
        for of in controls.iter_mut().filter(|of| of.rank == Rank::Row) {
            of.rank = if names_page(&of.text) { Rank::Number } else { Rank::Turn };
        }
    }

    /// Records that a turn tried to POST: by a request (`unsent` counts those blocked before it), or by a form (`navigations` counts
    /// those before it). Once turns `have_paid`, a blocked request does not belong to the list.
    pub(super) fn notice_unsent(&mut self, news: News, (unsent, navigations): (u64, usize), have_paid: bool) {
        let is_unsent = news == News::None && !have_paid && self.window.engine.page().borrow().unsent > unsent;
        let is_form = |one: &Navigation| one.method != "GET";
        self.turns.has_unsent |= is_unsent || self.window.navigations_since(navigations).iter().any(is_form);
    }
}

fn turns(tree: &Tree, control: &Control, times: usize) -> bool {
    let (id, pager) = (control.id, pager(tree, control.id));
    if control.leads.is_some() || control.option.is_some() || pages_have_addresses(tree, id, pager) {
        return false;
    }
    if control.rank == Rank::Number || names_page(&control.text) {
        return pager.is_some();
    }
    let is_own = matches!(control.local(), "a" | "button" | "input");
    let is_of_rows =
        times > ENDS && !ends_a_list(tree, id) || times == ENDS && control.local() != "a" && stands_in_likes(tree, id);
    matches!(control.rank, Rank::Turn | Rank::Row)
        && says_turn(label(control), pager.is_some())
        && (pager.is_some() || !is_of_rows && (is_own || !has_likes(tree, id)))
}

/// The label of a control, or its name if it has no label.
fn label(control: &Control) -> &str {
    if control.text.contains(char::is_alphabetic) { &control.text } else { &control.words }
}

/// Whether a label names a turn and nothing else. Numbers and signs are ignored; some words count only in a pager.
fn says_turn(text: &str, is_in_pager: bool) -> bool {
    let words = words_of(text);
    if words.is_empty() {
        let is_sign = TURN_SIGNS.iter().any(|(next, _)| text.trim() == *next);
        return is_in_pager || is_sign && !text.contains(|c: char| c.is_ascii_digit());
    }
    if TURN_PHRASES.has(&words.concat()) {
        return true;
    }
    let is_known = |word: &String| TURN_WORDS.has(word) || TURN_WORDS_OF_MORE.has(word) || ABOUT_TURNS.has(word);
    let is_whole = words.len() <= WORDS && words.iter().all(is_known);
    let is_sure = words.iter().any(|word| TURN_WORDS.has(word));
    let is_likely = words.iter().any(|word| TURN_WORDS_OF_MORE.has(word)) && (words.len() > 1 || is_in_pager);
    is_whole && (is_sure || is_likely)
}

/// "Page 2".
fn names_page(text: &str) -> bool {
    let words = words_of(text);
    let is_about = |word: &String| ABOUT_TURNS.has(word) || TURN_GOES.contains(&&**word);
    !words.is_empty()
        && words.len() <= WORDS
        && words.iter().all(is_about)
        && text.contains(|c: char| c.is_ascii_digit())
}

/// The words of a label in lower case, without numbers and signs.
fn words_of(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// The pager that contains an element.
fn pager(tree: &Tree, id: NodeId) -> Option<NodeId> {
    let is_page = |id: &NodeId| {
        tree.element(*id).is_none_or(|of| of.is_html(&local_name!("body")) || of.is_html(&local_name!("html")))
    };
    let is_pager = |id: &NodeId| {
        let attribute = |name: &str| tree.element(*id)?.attribute(&name.into());
        let names = ["class", "id", "aria-label"].into_iter().filter_map(attribute);
        let label = attribute("aria-label").unwrap_or_default().to_lowercase();
        label.contains("page navigation")
            || names.flat_map(str::split_whitespace).any(|name| names_pager(&parts_of(name)))
            || tree.element(*id).is_some_and(|of| of.is_html(&local_name!("nav"))) && goes_on(tree, *id)
    };
    let around = [id].into_iter().chain(tree.ancestors(id).take(PAGER_WITHIN));
    around.take_while(|id| !is_page(id)).find(is_pager)
}

/// Whether these parts of a name mark a pager: `ant-pagination`, `page-item`, `pages`.
fn names_pager(parts: &[String]) -> bool {
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    let is_page = |parts: &[&str]| {
        matches!(parts, ["pages"] | ["page", "number" | "numbers" | "link" | "links" | "item" | "nav", ..])
    };
    is_page(&parts) || parts.iter().any(|part| PAGERS.has(part))
}

/// Whether a navigation has page numbers with a labelled turn beside them.
fn goes_on(tree: &Tree, id: NodeId) -> bool {
    let says = |of: NodeId| {
        let text = tree.character_data(of).filter(|_| tree.is_text(of)).unwrap_or_default();
        !words_of(text).is_empty() && says_turn(text, false)
    };
    has_numbers(tree, id) && tree.descendants(id).take(crate::limits::RENDER_CONTROLS_MAX).any(says)
}

/// The parts of names: `MuiPagination-ul`, `v-pagination__list`.
fn parts_of(names: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_lower = false;
    for c in names.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && was_lower {
            parts.push(String::new());
        }
        if c.is_alphanumeric() {
            parts.last_mut().into_iter().for_each(|part| part.extend(c.to_lowercase()));
        }
        was_lower = c.is_lowercase();
    }
    parts
}

/// Whether a neighbour leads to a page of the list by its URL: then each page has one.
fn pages_have_addresses(tree: &Tree, id: NodeId, pager: Option<NodeId>) -> bool {
    let Some(around) = pager.or_else(|| tree.parent(id)) else { return false };
    tree.descendants(around).take(crate::limits::RENDER_CONTROL_ELEMENTS).any(|of| {
        let href = tree.element(of).and_then(|element| element.attribute(&local_name!("href"))).unwrap_or_default();
        let leads = !href.is_empty() && !href.starts_with('#') && !href.starts_with("javascript:");
        let text = super::super::shown::text_of(tree, of, 8);
        leads && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Whether it contains only numbers, at least two.
fn has_numbers(tree: &Tree, id: NodeId) -> bool {
    let texts = tree.descendants(id).take(crate::limits::RENDER_CONTROLS_MAX).filter(|of| tree.is_text(*of));
    let is_number = |of: &NodeId| {
        let text = tree.character_data(*of).unwrap_or_default().trim();
        !text.is_empty() && text.len() <= 5 && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    texts.filter(is_number).take(2).count() == 2
}

/// Whether a list of links is beside it: several sections may each have their own "Load more".
fn ends_a_list(tree: &Tree, id: NodeId) -> bool {
    let is_link = |of: &NodeId| {
        let href = tree.element(*of).and_then(|of| of.attribute(&local_name!("href"))).unwrap_or_default();
        !href.is_empty() && !href.starts_with('#')
    };
    let has_list = |above: NodeId| tree.descendants(above).filter(is_link).take(LINKS_OF_LIST).count() == LINKS_OF_LIST;
    tree.ancestors(id).take(2).filter(|above| tree.is_element(*above)).any(has_list)
}

fn stands_in_likes(tree: &Tree, id: NodeId) -> bool {
    tree.ancestors(id).take(PAGER_WITHIN).any(|above| has_likes(tree, above))
}

#[cfg(test)]
mod tests;

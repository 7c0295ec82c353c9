//! What the states of a page have shown: links, magnets and navigations, each reported once, and anything else that counts as new.

use std::collections::HashSet;

use boa_engine::Context;
use html5ever::local_name;
use url::Url;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::dom::{NodeId, Tree};
use crate::engine::{page, realm};
use crate::limits;
use crate::web::dom::document;
use crate::web::html::load::Window;
use crate::web::html::navigation;
use crate::web::interact::{link, roots};
use crate::web::{clipboard, own_document, read};
use crate::wire::{Link, PageState};
use gleaner_page::encoded_links;

/// What is new in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum News {
    None,
    /// Other rows, or other data on them.
    Rows,
    /// Links, magnets, or targets of scripts' navigations.
    Links,
}

/// The table of the links of all states.
#[derive(Default)]
pub(super) struct LinkTable {
    known: HashSet<String>,
    magnets: HashSet<String>,
    navigations: usize,
    torrents: usize,
    /// Links of states that are reported in full.
    whole: usize,
    pub states: Vec<PageState>,
    /// Hashes of what was shown: URLs as written, texts of rows, data attributes.
    shown: HashSet<u64>,
    /// The tree's generation and the page's URL at the last scan.
    looked_at: Option<(u64, String)>,
}

/// The result of one walk over the page.
#[derive(Default)]
struct PageScan {
    links: usize,
    new_links: Vec<Link>,
    has_new_rows: bool,
    magnets: Vec<String>,
}

impl LinkTable {
    /// Records the current state if it has something new.
    pub fn enter(&mut self, by: &str, window: &mut Window) -> News {
        let is_first = self.states.is_empty();
        let look = window.engine.look(|context| self.look(context)).flatten();
        let navigations = window.engine.look(navigation::count).unwrap_or_default();
        let mut look = look.unwrap_or_default();
        self.copied(window, &mut look);
        let mut new = std::mem::take(&mut look.new_links);
        new.retain(|link| !self.is_full() && self.known.insert(link.url.clone()));
        let has_gone = navigations > self.navigations;
        self.navigations = navigations;
        // A button's script may fetch a torrent to save it, without a link anywhere.
        let torrents = window.engine.look(|context| page::of(context).borrow().torrents()).unwrap_or_default();
        let has_fetched = torrents > self.torrents;
        self.torrents = torrents;
        // A link to nowhere only has a click handler.
        let leads = |link: &Link| !link.url.ends_with('#');
        let has_links = new.iter().any(leads) || !look.magnets.is_empty() || has_gone || has_fetched;
        if is_first || has_links || !new.is_empty() {
            self.states.push(PageState { by: by.to_owned(), links: new, count: look.links, found: look.magnets });
        }
        match has_links {
            true => News::Links,
            false if look.has_new_rows => News::Rows,
            false => News::None,
        }
    }

    /// Records the state after a requested act in full, new or not.
    pub fn enter_whole(&mut self, by: &str, window: &mut Window) {
        let mut links = window.links();
        let count = links.len();
        let mut look = window.engine.look(|context| self.look(context)).flatten().unwrap_or_default();
        self.copied(window, &mut look);
        self.navigations = window.navigations().len();
        let room = limits::RENDER_LINKS_MAX.saturating_sub(self.whole);
        links.truncate(room);
        self.whole += links.len();
        self.known.extend(links.iter().map(|link| link.url.clone()));
        self.states.push(PageState { by: by.to_owned(), links, count, found: look.magnets });
    }

    /// Records inferred links that no state has shown, and their source.
    pub fn infer(&mut self, by: &str, links: Vec<String>) {
        let mut state = PageState { by: by.to_owned(), ..PageState::default() };
        for url in links {
            if self.is_full() {
                break;
            } else if url.starts_with("magnet:") {
                state.found.extend(self.magnets.insert(url.clone()).then_some(url));
            } else if self.known.insert(url.clone()) {
                state.links.push(Link { url, text: String::new() });
            }
        }
        state.count = state.links.len();
        if state.count + state.found.len() > 0 {
            self.states.push(state);
        }
    }

    /// The limit of links is reached.
    pub fn is_full(&self) -> bool {
        self.known.len() + self.magnets.len() >= limits::RENDER_LINKS_MAX
    }

    /// Scans the page; `None` if it is unchanged.
    fn look(&mut self, context: &Context) -> Option<PageScan> {
        let address = realm::address(context).to_string();
        let generation = read(context, Tree::generation);
        if self.looked_at.as_ref().is_some_and(|at| *at == (generation, address.clone())) {
            return None;
        }
        let document = own_document(context);
        // The same URL text leads elsewhere from another base.
        let base = document::base_url(document, context);
        self.looked_at = Some((generation, address));
        Some(read(context, |tree| self.walk(tree, document, &base)))
    }

    fn walk(&mut self, tree: &Tree, document: NodeId, base: &Url) -> PageScan {
        let mut look = PageScan::default();
        let seed = xxh3_64_with_seed(base.as_str().as_bytes(), 0);
        for root in roots(tree, document) {
            for id in tree.descendants(root) {
                if let Some(text) = tree.character_data(id) {
                    // The text of a script is not content, and may have half a link.
                    let parent = tree.parent(id).and_then(|parent| tree.element(parent));
                    if parent.is_none_or(|parent| !matches!(&*parent.name().local, "script" | "style")) {
                        self.magnets_in(text, &mut look);
                    }
                    continue;
                }
                let Some(element) = tree.element(id) else { continue };
                // A value set by a script is in no attribute and no text.
                if let Some(value) = &element.state.value {
                    self.magnets_in(value, &mut look);
                }
                for attribute in element.attributes() {
                    self.magnets_in(&attribute.value, &mut look);
                    if attribute.name.local.starts_with("data-") {
                        look.has_new_rows |= self.is_new(&attribute.value, 1);
                    }
                }
                match &*element.name().local {
                    "a" => {
                        if let Some(href) = element.attribute(&local_name!("href")) {
                            look.links += 1;
                            if self.is_new(href, seed) {
                                look.new_links.extend(link(tree, id, base));
                            }
                        }
                    }
                    "tr" | "li" | "article" => {
                        let text = text_of(tree, id, limits::RENDER_ROW_TEXT_CHARS);
                        look.has_new_rows |= !text.is_empty() && self.is_new(&text, 2);
                    }
                    _ => {}
                }
            }
        }
        look
    }

    /// Records what the page copied to the clipboard, which is in no element.
    fn copied(&mut self, window: &mut Window, look: &mut PageScan) {
        for text in window.engine.with(|context| clipboard::take(context)).unwrap_or_default() {
            self.magnets_in(&text, look);
        }
    }

    fn is_new(&mut self, text: &str, seed: u64) -> bool {
        // Forgetting entries for lack of space only makes them new again, which costs some acts.
        if self.shown.len() >= limits::RENDER_SHOWN_MAX {
            self.shown.clear();
        }
        self.shown.insert(xxh3_64_with_seed(text.as_bytes(), seed))
    }

    fn magnets_in(&mut self, text: &str, look: &mut PageScan) {
        if !text.contains("magnet:?") && !text.contains("://") {
            return;
        }
        for found in encoded_links::find(text.as_bytes(), encoding_rs::UTF_8) {
            let link = found.link;
            if !self.is_full() && self.magnets.insert(link.clone()) {
                look.magnets.push(link);
            }
        }
    }
}

/// The beginning of an element's text, with whitespace collapsed.
pub(super) fn text_of(tree: &Tree, id: NodeId, chars_max: usize) -> String {
    let mut text = String::new();
    for node in tree.descendants(id).filter(|node| tree.is_text(*node)) {
        for word in tree.character_data(node).unwrap_or_default().split_whitespace() {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(word);
            // A character has at most four bytes.
            if text.len() >= chars_max * 4 {
                return text.chars().take(chars_max).collect();
            }
        }
    }
    text.chars().take(chars_max).collect()
}

//! Infers the links of rows from responses to the page's scripts, so that not every row is clicked. It learns from the first rows of a
//! kind ([`gleaner_page::shortcut::rows`]) and verifies with a click now and then. The first row that leads elsewhere ends it, and all
//! remaining rows are clicked.

use std::collections::{HashMap, HashSet};

use super::super::controls::{Control, Rank};
use super::super::note;
use super::super::shown::News;
use super::{Explorer, said};
use crate::limits;
use crate::web::dom::document;
use crate::web::own_document;
use gleaner_page::shortcut::Exchange;
use gleaner_page::shortcut::rows::{self, Clicked, Item, Like, Mapping, Mark, ROWS_LEAST};
use url::Url;

/// Rows of another kind that must agree with a mapping before it is trusted for that kind.
const AGREEING_LEAST: u32 = 3;

#[derive(Default)]
pub(super) struct Infers {
    /// Responses to learn from.
    answers: Vec<Exchange>,
    bytes: usize,
    /// Keys of all links shown, and the numbers of states, navigations and torrents that they cover.
    keys: HashSet<String>,
    noted: (usize, usize, usize),
    kinds: HashMap<String, Kind>,
    mappings: Vec<Learned>,
    /// Rows clicked although their links are inferred.
    left: HashSet<u64>,
    /// Rows whose links no mapping gives, in the form last checked; rechecked when a mapping has learned something.
    unknown: HashSet<(u64, u64)>,
    /// Unclicked rows of an ended mapping that were gone by then.
    passed: HashMap<u64, (usize, usize)>,
    /// Rows left out, with their kinds, mappings and records.
    skipped: HashMap<u64, (String, usize, usize)>,
}

/// What is known about one kind of rows.
#[derive(Default)]
struct Kind {
    clicked: Vec<Clicked>,
    with_links: usize,
    /// Number of rows with links at which to try learning again.
    next_try: usize,
    /// Mappings that are valid for it.
    by: Vec<usize>,
    /// Rows that agreed with a mapping of another kind, by mapping.
    agreeing: HashMap<usize, u32>,
    vain: u32,
    is_over: bool,
}

struct Learned {
    mapping: Mapping,
    items: Vec<InferredItem>,
    by_mark: HashMap<String, Vec<usize>>,
    keys: HashSet<String>,
    /// Rows matched to its records.
    rows: usize,
    is_over: bool,
}

struct InferredItem {
    item: Item,
    /// Its row was left out.
    is_skipped: bool,
}

impl Learned {
    fn add(&mut self, page: &Url, items: Vec<Item>) -> usize {
        let before = self.items.len();
        for item in items {
            let Some(key) = item.links.first().and_then(|link| rows::key(page, link)) else { continue };
            if self.items.len() < limits::RENDER_LINKS_MAX && self.keys.insert(key) {
                self.by_mark.entry(item.mark.clone()).or_default().push(self.items.len());
                self.items.push(InferredItem { item, is_skipped: false });
            }
        }
        self.items.len() - before
    }

    /// The record that a row's text names. `None` if it names several: it is a section head, or two records have the same text.
    fn find(&self, marks: &[Mark]) -> Option<usize> {
        let own = marks.iter().filter(|mark| self.mapping.is_of(mark));
        let mut found = own.filter_map(|mark| self.by_mark.get(&mark.text)).flatten().copied();
        let first = found.next()?;
        found.all(|other| other == first).then_some(first)
    }
}

/// What a click shows about the known mappings.
enum Compared {
    /// None covers its row.
    Unknown,
    Done,
    /// Rows can be left out by one.
    Skips,
    /// The row led elsewhere than this mapping says.
    Over(usize),
}

impl Infers {
    /// Compares the result of a click on a row with what is known about the row.
    fn compare(&mut self, page: &Url, control: &Control, clicked: &Clicked) -> Compared {
        if let Some((by, nth)) = self.passed.remove(&control.identity)
            && let Some(known) = self.mappings.get_mut(by).and_then(|learned| learned.items.get_mut(nth))
        {
            known.is_skipped = false;
        }
        if self.kinds.len() >= limits::RENDER_CONTROLS_MAX {
            return Compared::Done;
        }
        let kind = self.kinds.entry(control.kind.clone()).or_default();
        if kind.is_over {
            return Compared::Done;
        }
        for (by, learned) in self.mappings.iter_mut().enumerate().filter(|(_, of)| !of.is_over) {
            let Some(known) = learned.find(&clicked.marks).and_then(|nth| learned.items.get(nth)) else { continue };
            let own: HashSet<String> = known.item.links.iter().filter_map(|link| rows::key(page, link)).collect();
            let agrees = clicked.links.iter().all(|link| rows::key(page, link).is_some_and(|key| own.contains(&key)));
            let first = known.item.links.first().and_then(|link| rows::key(page, link));
            let has_come = first.is_some_and(|key| self.keys.contains(&key));
            let leads_elsewhere = !agrees || !clicked.links.is_empty() && !has_come;
            if kind.by.contains(&by) {
                // The first row of its sort teaches the mapping for the others.
                let has_taught = match learned.mapping.compare(&known.item, &clicked.look) {
                    Like::Clicked => false,
                    Like::None => true,
                    Like::Elsewhere => has_come && !leads_elsewhere,
                };
                if has_taught {
                    self.unknown.clear();
                }
                let is_over = if has_come && !leads_elsewhere {
                    !learned.mapping.confirm(&known.item, &clicked.look)
                } else if learned.mapping.refuse(&known.item, &clicked.look, leads_elsewhere) {
                    // It is of another sort, which may have its own links.
                    continue;
                } else {
                    kind.vain += u32::from(!leads_elsewhere);
                    leads_elsewhere || kind.vain >= limits::RENDER_INFERRED_VAIN_MAX
                };
                return if is_over { Compared::Over(by) } else { Compared::Skips };
            }
            if leads_elsewhere {
                kind.agreeing.remove(&by);
            } else if has_come && !clicked.links.is_empty() {
                // A click that brings nothing proves nothing about other rows.
                let agreeing = kind.agreeing.entry(by).or_default();
                *agreeing += 1;
                if *agreeing < AGREEING_LEAST {
                    return Compared::Done;
                }
                kind.by.push(by);
                self.unknown.clear();
                return Compared::Skips;
            }
        }
        Compared::Unknown
    }

    /// Stores a click on a row of a kind, and learns from all of them once there are enough. Returns a description of what it learned.
    fn learn(&mut self, page: &Url, kind: &str, clicked: Clicked) -> Option<String> {
        let kind = self.kinds.get_mut(kind)?;
        if kind.clicked.len() >= limits::RENDER_CLICKED_ROWS_MAX {
            return None;
        }
        kind.with_links += usize::from(!clicked.links.is_empty());
        kind.clicked.push(clicked);
        if kind.with_links < kind.next_try.max(ROWS_LEAST) || self.mappings.len() >= limits::RENDER_MAPPINGS_MAX {
            return None;
        }
        kind.next_try = kind.with_links + kind.with_links.div_ceil(3);
        let is_known = |key: &str| self.keys.contains(key);
        let (mapping, _) = rows::learn(page, &self.answers, &kind.clicked, &is_known)?;
        let mut learned = Learned {
            mapping,
            items: Vec::new(),
            by_mark: HashMap::new(),
            keys: HashSet::new(),
            rows: 0,
            is_over: false,
        };
        for exchange in &self.answers {
            let items = learned.mapping.read(page, exchange);
            learned.add(page, items);
        }
        // From here on, clicks are collected only for rows that this does not explain.
        (kind.clicked, kind.with_links, kind.next_try) = (Vec::new(), 0, 0);
        kind.by.push(self.mappings.len());
        self.unknown.clear();
        let told = format!("learned from {ROWS_LEAST} rows or more: {}", learned.mapping);
        self.mappings.push(learned);
        Some(told)
    }
}

/// Whether the nth row with an inferred link is clicked for verification: early ones more often.
fn is_checked(nth: usize) -> bool {
    matches!(nth, 0 | 2 | 6 | 14) || nth > 14 && (nth - 14).is_multiple_of(11)
}

impl Explorer<'_> {
    /// Clicks a control; for a row, records the result.
    pub(super) fn press_and_learn(&mut self, control: &Control) -> News {
        if self.rank(control) != Rank::Row {
            return self.press(control);
        }
        let said = said::by(self.window, control);
        self.note_links();
        let posted = self.window.engine.page().borrow().posted;
        let news = self.press(control);
        let mut links = self.note_links();
        // A link that needed a POST cannot be inferred.
        if self.window.engine.page().borrow().posted > posted {
            links.push(rows::NO_LINK.to_owned());
        }
        self.learn_from(control, Clicked { marks: said.marks, look: said.look, links });
        news
    }

    /// Takes the new responses to the page's scripts, and reads the records that known mappings find in them.
    pub(super) fn hear(&mut self) {
        let heard = self.window.engine.page().borrow_mut().heard.take();
        if heard.is_empty() {
            return;
        }
        let Some(page) = self.base() else { return };
        let mut news = 0;
        for learned in self.infers.mappings.iter_mut().filter(|of| !of.is_over) {
            for exchange in &heard {
                let items = learned.mapping.read(&page, exchange);
                news += learned.add(&page, items);
            }
        }
        if news > 0 {
            self.infers.unknown.clear();
            self.budget.idle = 0;
            self.earn();
        }
        for exchange in heard {
            let bytes = exchange.bytes();
            if self.infers.bytes + bytes <= limits::RENDER_HEARD_BYTES_MAX
                && self.infers.answers.len() < limits::SHORTCUT_EXCHANGES_MAX
            {
                self.infers.bytes += bytes;
                self.infers.answers.push(exchange);
            }
        }
    }

    /// Leaves out rows of the current state whose links are inferred, except those to verify.
    pub(super) fn skip_inferred(&mut self) {
        if self.infers.mappings.iter().all(|of| of.is_over) {
            return;
        }
        let infers = &self.infers;
        let may_be = |of: &&Control| {
            let is_known = infers.kinds.get(&of.kind).is_some_and(|kind| !kind.is_over && !kind.by.is_empty());
            is_known
                && of.rank == Rank::Row
                && !self.tried.clicked.contains(&of.identity)
                && !infers.left.contains(&of.identity)
                && !infers.unknown.contains(&(of.identity, of.now))
        };
        let open: Vec<Control> = self.sight.controls.iter().filter(may_be).cloned().collect();
        for control in open {
            let said = said::by(self.window, &control);
            let infers = &mut self.infers;
            let Some(kind) = infers.kinds.get(&control.kind) else { continue };
            let mut is_told = false;
            for by in &kind.by {
                let Some(learned) = infers.mappings.get_mut(*by).filter(|of| !of.is_over) else { continue };
                let Some(nth) = learned.find(&said.marks) else { continue };
                let Some(known) = learned.items.get_mut(nth) else { continue };
                match learned.mapping.compare(&known.item, &said.look) {
                    // Others of its sort may have taught a mapping.
                    Like::Elsewhere => continue,
                    // One row of its sort is clicked first; then the others are rechecked.
                    Like::None => break,
                    Like::Clicked => is_told = true,
                }
                if is_checked(learned.rows) {
                    infers.left.insert(control.identity);
                } else {
                    known.is_skipped = true;
                    infers.skipped.insert(control.identity, (control.kind.clone(), *by, nth));
                    self.tried.clicked.insert(control.identity);
                }
                learned.rows += 1;
                break;
            }
            if !is_told && infers.unknown.len() < limits::RENDER_LINKS_MAX {
                infers.unknown.insert((control.identity, control.now));
            }
        }
    }

    /// Whether a row was not clicked because its links are inferred.
    pub(super) fn is_inferred(&self, control: &Control) -> bool {
        self.infers.skipped.contains_key(&control.identity)
    }

    /// Records the inferred links.
    pub(super) fn tell_inferred(&mut self) {
        let Some(page) = self.base() else { return };
        self.note_links();
        let Infers { mappings, keys, .. } = &mut self.infers;
        for learned in mappings {
            // A record that no row showed may be hidden for a reason: pending, deleted, or the result of another query.
            let known = learned.items.iter().filter(|known| known.is_skipped);
            let links = known.flat_map(|known| &known.item.links);
            let is_new = |link: &&String| rows::key(&page, link).is_some_and(|key| keys.insert(key));
            let links: Vec<String> = links.filter(is_new).cloned().collect();
            self.book.infer(&format!("inferred from {}", learned.mapping), links);
        }
    }

    /// Records the result of a click on a row, and uses it to learn or to verify.
    fn learn_from(&mut self, control: &Control, clicked: Clicked) {
        let Some(page) = self.base() else { return };
        match self.infers.compare(&page, control, &clicked) {
            Compared::Done => {}
            Compared::Skips => self.skip_inferred(),
            Compared::Over(by) => self.give_up_inferring(by),
            Compared::Unknown => {
                if let Some(told) = self.infers.learn(&page, &control.kind, clicked) {
                    note(self.window, &told);
                    self.earn();
                    self.skip_inferred();
                }
            }
        }
    }

    /// A row led elsewhere than inferred: visible rows are clicked, the others are revisited, and no row is left out any more.
    fn give_up_inferring(&mut self, by: usize) {
        let infers = &mut self.infers;
        let Some(learned) = infers.mappings.get_mut(by) else { return };
        learned.is_over = true;
        let told = format!("no more inferred, since a row has led elsewhere: {}", learned.mapping);
        let mut kinds = HashSet::new();
        for (name, kind) in infers.kinds.iter_mut().filter(|(_, kind)| kind.by.contains(&by)) {
            kind.is_over = true;
            kinds.insert(name.clone());
        }
        let standing: HashSet<u64> = self.sight.controls.iter().map(|of| of.identity).collect();
        for (identity, (_, by, nth)) in infers.skipped.extract_if(|_, (kind, ..)| kinds.contains(kind)) {
            self.tried.clicked.remove(&identity);
            let known = infers.mappings.get_mut(by).and_then(|learned| learned.items.get_mut(nth));
            if !standing.contains(&identity) {
                infers.passed.insert(identity, (by, nth));
            } else if let Some(known) = known {
                known.is_skipped = false;
            }
        }
        note(self.window, &told);
    }

    /// The links that have appeared since the last call.
    fn note_links(&mut self) -> Vec<String> {
        let Some(page) = self.base() else { return Vec::new() };
        let (states, gone, torrents) = self.infers.noted;
        let navigations = self.window.navigations_since(gone);
        let mut links: Vec<String> = Vec::new();
        for state in self.book.states.iter().skip(states) {
            links.extend(state.links.iter().map(|link| link.url.clone()).chain(state.found.iter().cloned()));
        }
        for one in &navigations {
            links.push(if one.method == "GET" { one.url.clone() } else { rows::NO_LINK.to_owned() });
        }
        let fetched = self.window.engine.page().borrow().torrents_since(torrents);
        self.infers.noted = (self.book.states.len(), gone + navigations.len(), torrents + fetched.len());
        links.extend(fetched);
        // `javascript:`, `blob:` and in-page links do not count.
        links.retain(|link| link == rows::NO_LINK || rows::key(&page, link).is_some());
        let mut own = HashSet::new();
        links.retain(|link| own.insert(rows::key(&page, link).unwrap_or_default()));
        self.infers.keys.extend(own);
        links
    }

    fn base(&mut self) -> Option<Url> {
        self.window.engine.look(|context| document::base_url(own_document(context), context))
    }
}

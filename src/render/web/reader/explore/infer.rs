//! Rows that need no click, since what the page's scripts were answered says where one leads: learned from the first rows of a kind
//! ([`crate::shortcut::rows`]), and tried on one now and then. The first that leads elsewhere ends it, and all rows are clicked that stand.

use std::collections::{HashMap, HashSet};

use super::super::super::load::Window;
use super::super::super::{document, own_document, read};
use super::super::controls::{Control, Rank};
use super::super::note;
use super::super::shown::{News, text_of};
use super::Reader;
use crate::limits;
use crate::render::dom::{NodeId, Tree};
use crate::shortcut::Exchange;
use crate::shortcut::rows::{self, Clicked, Item, Mapping, Mark, ROWS_LEAST};
use url::Url;

/// Rows of another control in rows that are known, behind which it is believed to bring what is known.
const AGREEING_LEAST: u32 = 3;

/// How far above a control its row may be, and how many elements and texts of that are looked at.
const ROW_WITHIN: usize = 6;
const ROW_NODES: usize = 300;

#[derive(Default)]
pub(super) struct Infers {
    /// What was answered, to learn from.
    answers: Vec<Exchange>,
    bytes: usize,
    /// Keys of all links that were shown, and how many states, navigations and torrents they are of.
    keys: HashSet<String>,
    noted: (usize, usize, usize),
    kinds: HashMap<String, Kind>,
    mappings: Vec<Learned>,
    /// Rows that are clicked although they are known.
    left: HashSet<u64>,
    /// Rows that are not, with their kinds, and by which mapping they are which record's.
    skipped: HashMap<u64, (String, usize, usize)>,
}

/// What is known of one kind of rows.
#[derive(Default)]
struct Kind {
    clicked: Vec<Clicked>,
    with_links: usize,
    /// How many have to have brought links until the next try to learn.
    next_try: usize,
    /// Mappings that hold for it.
    by: Vec<usize>,
    /// By mappings of other kinds: how many rows have agreed with them.
    agreeing: HashMap<usize, u32>,
    vain: u32,
    is_over: bool,
}

struct Learned {
    mapping: Mapping,
    items: Vec<Known>,
    by_mark: HashMap<String, Vec<usize>>,
    keys: HashSet<String>,
    /// Rows that were found to be of its records.
    rows: usize,
    is_over: bool,
}

struct Known {
    item: Item,
    /// A row of it was left out.
    is_skipped: bool,
}

impl Learned {
    fn add(&mut self, page: &Url, items: Vec<Item>) -> usize {
        let before = self.items.len();
        for item in items {
            let Some(key) = item.links.first().and_then(|link| rows::key(page, link)) else { continue };
            if self.items.len() < limits::RENDER_LINKS_MAX && self.keys.insert(key) {
                self.by_mark.entry(item.mark.clone()).or_default().push(self.items.len());
                self.items.push(Known { item, is_skipped: false });
            }
        }
        self.items.len() - before
    }

    /// The record of a row, by what the row says: of one that names several none, since it is a section's head, or two records say the same.
    fn find(&self, marks: &[Mark]) -> Option<usize> {
        let own = marks.iter().filter(|mark| self.mapping.is_of(mark));
        let mut found = own.filter_map(|mark| self.by_mark.get(&mark.text)).flatten().copied();
        let first = found.next()?;
        found.all(|other| other == first).then_some(first)
    }
}

/// Whether the so-manieth row that is known is clicked all the same: the first ones more often.
fn is_checked(nth: usize) -> bool {
    matches!(nth, 0 | 2 | 6 | 14) || nth > 14 && (nth - 14).is_multiple_of(11)
}

impl Reader<'_> {
    /// Presses a control; of a row, remembers what that has brought.
    pub(super) fn press_and_learn(&mut self, control: &Control) -> News {
        if self.rank(control) != Rank::Row {
            return self.press(control);
        }
        let marks = self.marks_of(control);
        self.note_links();
        let posted = self.window.engine.page().borrow().posted;
        let news = self.press(control);
        let mut links = self.note_links();
        // What is not only looked up is no link that anybody may know beforehand.
        if self.window.engine.page().borrow().posted > posted {
            links.push(rows::NO_LINK.to_owned());
        }
        self.learn_from(control, Clicked { marks, links });
        news
    }

    /// Takes what the page's scripts were answered, and what that says of rows whose mapping is known.
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
            self.idle = 0;
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

    /// Leaves out the rows of the state at hand whose links are known, but for some.
    pub(super) fn skip_inferred(&mut self) {
        if self.infers.mappings.iter().all(|of| of.is_over) {
            return;
        }
        let infers = &self.infers;
        let may_be = |of: &&Control| {
            let is_known = infers.kinds.get(&of.kind).is_some_and(|kind| !kind.is_over && !kind.by.is_empty());
            is_known
                && of.rank == Rank::Row
                && !self.clicked.contains(&of.identity)
                && !infers.left.contains(&of.identity)
        };
        let open: Vec<Control> = self.controls.iter().filter(may_be).cloned().collect();
        for control in open {
            let marks = self.marks_of(&control);
            let infers = &mut self.infers;
            let Some(kind) = infers.kinds.get(&control.kind) else { continue };
            let found = kind.by.iter().find_map(|by| {
                let learned = infers.mappings.get(*by).filter(|of| !of.is_over)?;
                Some((*by, learned.find(&marks)?))
            });
            let Some((by, nth)) = found else { continue };
            let Some(learned) = infers.mappings.get_mut(by) else { continue };
            let Some(known) = learned.items.get_mut(nth) else { continue };
            let is_like = learned.mapping.is_like_clicked(&known.item);
            if !is_like || is_checked(learned.rows) {
                infers.left.insert(control.identity);
            } else {
                known.is_skipped = true;
                infers.skipped.insert(control.identity, (control.kind.clone(), by, nth));
                self.clicked.insert(control.identity);
            }
            learned.rows += usize::from(is_like);
        }
    }

    /// Writes down the links that nobody has clicked for.
    pub(super) fn tell_inferred(&mut self) {
        let Some(page) = self.base() else { return };
        self.note_links();
        let Infers { mappings, keys, .. } = &mut self.infers;
        for learned in mappings {
            // What no row showed may be hidden for a reason: pending, deleted, answered to another question.
            let known = learned.items.iter().filter(|known| known.is_skipped);
            let links = known.flat_map(|known| &known.item.links);
            let is_new = |link: &&String| rows::key(&page, link).is_some_and(|key| keys.insert(key));
            let links: Vec<String> = links.filter(is_new).cloned().collect();
            self.book.infer(&format!("inferred from {}", learned.mapping), links);
        }
    }

    /// Remembers what a click on a row has brought; learns from it, or tries by it what was learned.
    fn learn_from(&mut self, control: &Control, clicked: Clicked) {
        let Some(page) = self.base() else { return };
        let infers = &mut self.infers;
        if infers.kinds.len() >= limits::RENDER_CONTROLS_MAX {
            return;
        }
        let kind = infers.kinds.entry(control.kind.clone()).or_default();
        if kind.is_over {
            return;
        }
        for (by, learned) in infers.mappings.iter_mut().enumerate().filter(|(_, of)| !of.is_over) {
            let Some(known) = learned.find(&clicked.marks).and_then(|nth| learned.items.get(nth)) else { continue };
            let own: HashSet<String> = known.item.links.iter().filter_map(|link| rows::key(&page, link)).collect();
            let agrees = clicked.links.iter().all(|link| rows::key(&page, link).is_some_and(|key| own.contains(&key)));
            let first = known.item.links.first().and_then(|link| rows::key(&page, link));
            let has_come = first.is_some_and(|key| infers.keys.contains(&key));
            if kind.by.contains(&by) {
                kind.vain += u32::from(clicked.links.is_empty() && !has_come);
                let is_wrong =
                    !agrees || !clicked.links.is_empty() && !has_come || kind.vain >= limits::RENDER_INFERRED_VAIN_MAX;
                if is_wrong {
                    self.give_up_inferring(by);
                } else if has_come {
                    learned.mapping.confirm(&known.item);
                }
                return;
            }
            // A click that brings nothing says nothing of where others lead.
            if agrees && has_come && !clicked.links.is_empty() {
                let agreeing = kind.agreeing.entry(by).or_default();
                *agreeing += 1;
                if *agreeing >= AGREEING_LEAST {
                    kind.by.push(by);
                    self.skip_inferred();
                }
                return;
            }
        }
        if kind.clicked.len() >= limits::RENDER_CLICKED_ROWS_MAX {
            return;
        }
        kind.with_links += usize::from(!clicked.links.is_empty());
        kind.clicked.push(clicked);
        if kind.with_links < kind.next_try.max(ROWS_LEAST) || infers.mappings.len() >= limits::RENDER_MAPPINGS_MAX {
            return;
        }
        kind.next_try = kind.with_links + kind.with_links.div_ceil(3);
        let is_known = |key: &str| infers.keys.contains(key);
        let Some((mapping, _)) = rows::learn(&page, &infers.answers, &kind.clicked, &is_known) else { return };
        let mut learned = Learned {
            mapping,
            items: Vec::new(),
            by_mark: HashMap::new(),
            keys: HashSet::new(),
            rows: 0,
            is_over: false,
        };
        for exchange in &infers.answers {
            let items = learned.mapping.read(&page, exchange);
            learned.add(&page, items);
        }
        // What is clicked from here on is of rows that this does not explain.
        (kind.clicked, kind.with_links, kind.next_try) = (Vec::new(), 0, 0);
        kind.by.push(infers.mappings.len());
        let told = format!("learned from {ROWS_LEAST} rows or more: {}", learned.mapping);
        infers.mappings.push(learned);
        note(self.window, &told);
        self.earn();
        self.skip_inferred();
    }

    /// A row led elsewhere than was inferred: those that stand are clicked, and none is left out any more.
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
        let standing: HashSet<u64> = self.controls.iter().map(|of| of.identity).collect();
        for (identity, (_, by, nth)) in infers.skipped.extract_if(|_, (kind, ..)| kinds.contains(kind)) {
            self.clicked.remove(&identity);
            let known = infers.mappings.get_mut(by).and_then(|learned| learned.items.get_mut(nth));
            if let Some(known) = known.filter(|_| standing.contains(&identity)) {
                known.is_skipped = false;
            }
        }
        note(self.window, &told);
    }

    /// The links that have come since this was asked last.
    fn note_links(&mut self) -> Vec<String> {
        let Some(page) = self.base() else { return Vec::new() };
        let navigations = self.window.navigations();
        let (states, gone, torrents) = self.infers.noted;
        let mut links: Vec<String> = Vec::new();
        for state in self.book.states.iter().skip(states) {
            links.extend(state.links.iter().map(|link| link.url.clone()).chain(state.found.iter().cloned()));
        }
        for one in navigations.iter().skip(gone) {
            links.push(if one.method == "GET" { one.url.clone() } else { rows::NO_LINK.to_owned() });
        }
        let fetched = self.window.engine.page().borrow().torrents_since(torrents);
        self.infers.noted = (self.book.states.len(), navigations.len(), torrents + fetched.len());
        links.extend(fetched);
        // What leads to a script, a file in memory or a place in the page is no link.
        links.retain(|link| link == rows::NO_LINK || rows::key(&page, link).is_some());
        let mut own = HashSet::new();
        links.retain(|link| own.insert(rows::key(&page, link).unwrap_or_default()));
        self.infers.keys.extend(own);
        links
    }

    fn base(&mut self) -> Option<Url> {
        self.window.engine.look(|context| document::base_url(own_document(context), context))
    }

    /// What the row says that a control stands in.
    fn marks_of(&mut self, control: &Control) -> Vec<Mark> {
        marks_of(self.window, control).unwrap_or_default()
    }
}

fn marks_of(window: &mut Window, control: &Control) -> Option<Vec<Mark>> {
    let id = control.by_delegate.unwrap_or(control.id);
    window.engine.look(|context| {
        read(context, |tree| {
            // What opens is nobody's row: what it opens has its own.
            if tree.element(id).is_some_and(|of| of.attribute(&"aria-expanded".into()).is_some()) {
                return Vec::new();
            }
            let is_row = |of: &NodeId| {
                !control.row.is_empty() && text_of(tree, *of, limits::RENDER_ROW_TEXT_CHARS) == control.row
            };
            let row = [id].into_iter().chain(tree.ancestors(id)).take(ROW_WITHIN).find(is_row);
            marks(tree, row.unwrap_or(id))
        })
    })
}

fn marks(tree: &Tree, row: NodeId) -> Vec<Mark> {
    const NAMES: &[&str] = &["id", "title", "alt", "value", "name", "aria-label", "key"];
    let mut marks = Vec::new();
    for id in [row].into_iter().chain(tree.descendants(row)).take(ROW_NODES) {
        if let Some(text) = tree.character_data(id).filter(|_| tree.is_text(id)) {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            if !text.is_empty() && text.len() <= limits::URL_BYTES_MAX {
                marks.push(Mark { attribute: None, text });
            }
        }
        for attribute in tree.element(id).into_iter().flat_map(|element| element.attributes()) {
            let name = &*attribute.name.local;
            let is_short = !attribute.value.is_empty() && attribute.value.len() <= limits::URL_BYTES_MAX;
            if is_short && (name.starts_with("data-") || NAMES.contains(&name)) {
                marks.push(Mark { attribute: Some(name.to_owned()), text: attribute.value.trim().to_owned() });
            }
        }
    }
    marks
}

//! The reader's frontier: rows that were shown but disappeared before they were clicked, such as those of another tab, section or choice.
//! Each is stored with the tabs and turns that led to its state. When the current state has nothing left, the reader returns to such a
//! state; rows that it cannot reach again are reported.

use std::collections::{HashMap, HashSet};

use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::super::controls::{Control, LIST_MIN, Rank};
use super::super::same;
use super::super::shown::News;
use super::choices::is_choice;
use super::{Explorer, leads_on};
use crate::dom::NodeId;
use crate::limits;

/// A repeatable act that led from one state to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub identity: u64,
    pub kind: String,
    /// It selected a list and turned no page of it.
    pub is_tab: bool,
}

/// A state that showed pending rows.
struct PendingState {
    path: Vec<Step>,
    address: Option<Url>,
    /// Controls that changed nothing there, such as the tab that was already open.
    stays: Vec<u64>,
    visits: u32,
}

struct Waiting {
    place: usize,
    kind: String,
    id: NodeId,
    now: u64,
    text: String,
    row: String,
}

#[derive(Default)]
pub(super) struct Frontier {
    places: Vec<PendingState>,
    /// The index of the current place.
    here: usize,
    /// Pending rows by identity: not clicked when they were first seen.
    waiting: HashMap<u64, Waiting>,
    /// Texts that several rows had at once, and texts that were clicked. A text that only one row has identifies it, even after a redraw.
    common: HashSet<u64>,
    pressed: HashSet<u64>,
    /// Clicked rows by their whole text.
    pressed_rows: HashSet<u64>,
    /// Texts that were clicked, whatever their kind; and rows that disappeared with their list when one of them was clicked.
    opened: HashSet<u64>,
    lost: HashSet<u64>,
    /// The tree's generation at the last scan.
    looked_at: Option<u64>,
    /// Controls that replaced nothing: section heads, which a second click would close.
    openers: HashSet<u64>,
    /// Groups of adjacent tabs, the outer ones first: each inner tab is explored for each outer one.
    nested: Vec<String>,
}

impl Frontier {
    fn enter(&mut self, path: &[Step], address: Option<&Url>) {
        let is_here = |place: &PendingState| place.path == path && place.address.as_ref() == address;
        if self.places.get(self.here).is_some_and(is_here) {
            return;
        }
        self.here = self.places.iter().position(is_here).unwrap_or(self.places.len());
        if self.here == self.places.len() {
            if self.here >= limits::RENDER_PLACES_MAX {
                self.here = self.here.saturating_sub(1);
                return;
            }
            self.places.push(PendingState {
                path: path.to_vec(),
                address: address.cloned(),
                stays: Vec::new(),
                visits: 0,
            });
        }
    }

    /// Whether several controls have this text at once.
    pub fn is_common(&self, says: u64) -> bool {
        self.common.contains(&says)
    }

    /// These rows disappeared when one of them was clicked, and nothing led back to them.
    pub fn loses(&mut self, rows: impl IntoIterator<Item = u64>) {
        self.lost.extend(rows);
    }

    /// Whether there are such rows with a text that was never clicked.
    pub fn has_lost_rows(&self) -> bool {
        self.lost.iter().any(|says| !self.opened.contains(says))
    }

    /// An act changed nothing in the current state.
    pub fn stays(&mut self, control: &Control) {
        if let Some(place) = self.places.get_mut(self.here)
            && place.stays.len() < limits::RENDER_CONTROL_ELEMENTS
        {
            place.stays.push(control.identity);
        }
    }

    /// The nesting depth of a group of tabs.
    pub fn depth_of_tabs(&self, kind: &str) -> Option<usize> {
        self.nested.iter().position(|of| of == kind)
    }
}

impl Explorer<'_> {
    /// Stores the unclicked rows of the current state, and the path to it.
    pub(super) fn remember(&mut self) {
        self.look_around();
        // Inside folders, `Trail` keeps the way back.
        if self.frontier.looked_at == Some(self.sight.seen.0) || !self.trail.levels.is_empty() {
            return;
        }
        self.frontier.looked_at = Some(self.sight.seen.0);
        self.frontier.enter(&self.trail.path, self.sight.seen.1.as_ref());
        let here = self.frontier.here;
        let mut says = HashSet::new();
        for control in self.sight.controls.iter() {
            if !says.insert(says_of(&control.kind, &control.text)) {
                self.frontier.common.insert(says_of(&control.kind, &control.text));
            }
            let is_row =
                control.rank == Rank::Row && (control.view.is_none() || self.tried.by_click.contains(&control.kind));
            let may_wait = is_row && control.crumb.is_none() && !self.is_harmful(control) && !control.traits.again;
            // An inferred link may turn out to be wrong when other rows are shown.
            if may_wait
                && (!self.tried.clicked.contains(&control.identity) || self.is_inferred(control))
                && self.frontier.waiting.len() < limits::RENDER_WAITING_MAX
            {
                let (kind, text, row) = (control.kind.clone(), control.text.clone(), control.row.clone());
                let row = || Waiting { place: here, kind, id: control.id, now: control.now, text, row };
                self.frontier.waiting.entry(control.identity).or_insert_with(row);
            }
        }
    }

    /// Records a click on a control.
    pub(super) fn presses(&mut self, control: &Control) {
        self.frontier.pressed.insert(says_of(&control.kind, &control.text));
        self.frontier.pressed_rows.insert(says_of(&control.kind, &format!("{}\0{}", control.text, control.row)));
        self.frontier.opened.insert(says_of(&control.text, &control.row));
        *self.tried.presses.entry(control.kind.clone()).or_default() += 1;
    }

    /// A tab was opened, or a list was turned; `before` has the controls before that.
    pub(super) fn went(&mut self, control: &Control, rank: Rank, before: &[Control], links: &HashSet<String>) {
        let (identity, kind, is_tab) = (control.identity, control.kind.clone(), rank == Rank::Tab);
        if is_tab {
            match self.trail.path.iter().position(|step| step.kind == kind) {
                Some(at) => self.trail.path.truncate(at),
                None => self
                    .trail
                    .path
                    .truncate(self.trail.path.iter().rposition(|step| step.is_tab).map_or(0, |at| at + 1)),
            }
        }
        self.trail.path.push(Step { identity, kind, is_tab });
        let (has_replaced, has_added) =
            if rank == Rank::Turn { (true, false) } else { self.has_changed(control, before, links) };
        if has_added && !has_replaced && !is_choice(control) {
            self.frontier.openers.insert(identity);
        }
        if !is_tab {
            self.turned(before);
            return;
        }
        // The page numbers of another list are pages of its own.
        self.tried.failed.retain(|_, (of, _)| *of != Rank::Number);
        let openers = &self.frontier.openers;
        let is_page = |of: &&Control| of.rank == Rank::Number && !openers.contains(&of.identity);
        for number in self.sight.controls.iter().filter(is_page) {
            self.tried.clicked.remove(&number.identity);
        }
        if has_replaced && !control.kind.starts_with("summary ") {
            self.multiply(&control.kind);
        }
        if has_replaced && is_choice(control) {
            for identity in self.lists.stood(before, &self.sight.controls) {
                self.tried.clicked.remove(&identity);
            }
        }
    }

    /// Whether a click replaced something, and whether it added something.
    fn has_changed(&mut self, pressed: &Control, before: &[Control], links: &HashSet<String>) -> (bool, bool) {
        let now = self.links();
        let rows = |of: &[Control]| of.iter().filter(|of| of.rank == Rank::Row).count();
        let has_replaced = !links.is_subset(&now) || self.has_taken_rows(pressed, before);
        (has_replaced, now.len() > links.len() || rows(&self.sight.controls) > rows(before))
    }

    /// Explores two adjacent groups of tabs as their product: each inner tab for each outer one.
    fn multiply(&mut self, kind: &str) {
        let nested = &mut self.frontier.nested;
        let (nth, is_new) = match nested.iter().position(|of| of == kind) {
            Some(nth) => (nth, false),
            None => (nested.len(), nested.len() < limits::RENDER_TAB_GROUPS_MAX),
        };
        if is_new {
            nested.push(kind.to_owned());
        }
        let (outer, inner) = nested.split_at(nth.min(nested.len()));
        let inner: HashSet<&str> = inner.iter().skip(1).map(String::as_str).collect();
        let outer: HashSet<&str> = if is_new { outer.iter().map(String::as_str).collect() } else { HashSet::new() };
        let chosen: HashSet<u64> = self.trail.path.iter().map(|step| step.identity).collect();
        let of = |kinds: &HashSet<&str>| {
            let all =
                self.sight.controls.iter().filter(|of| kinds.contains(&*of.kind) && !chosen.contains(&of.identity));
            all.map(|of| of.identity).collect::<Vec<u64>>()
        };
        let (mut inner, outer) = (of(&inner), of(&outer));
        inner.retain(|identity| !self.frontier.openers.contains(identity));
        for identity in inner.iter().chain(&outer) {
            self.tried.clicked.remove(identity);
        }
        // A tab reopened for the sake of another is not judged by its own result.
        self.lists.press_again(outer);
    }

    /// Whether a click replaced unread rows of another kind while all of the clicked one's kind stayed: then it is a tab.
    pub(super) fn replaces_unread(&self, pressed: &Control, before: &[Control]) -> bool {
        let now: HashSet<u64> = self.sight.controls.iter().map(|of| of.identity).collect();
        let stands = before.iter().filter(|of| of.kind == pressed.kind).all(|of| now.contains(&of.identity));
        let is_unread = |of: &&Control| {
            of.rank == Rank::Row
                && of.kind != pressed.kind
                && !now.contains(&of.identity)
                && !self.tried.clicked.contains(&of.identity)
                && !self.is_given_up(&of.kind, of.rank)
        };
        let mut gone = HashMap::<&str, usize>::new();
        for row in before.iter().filter(is_unread) {
            *gone.entry(&row.kind).or_default() += 1;
        }
        gone.retain(|_, count| *count >= LIST_MIN);
        let had: HashSet<u64> = before.iter().map(|of| of.identity).collect();
        stands && self.sight.controls.iter().any(|of| gone.contains_key(&*of.kind) && !had.contains(&of.identity))
    }

    /// Pending rows by place, of kinds that brought links or were not tried yet, without those that are in the page now.
    fn left(&self) -> HashMap<usize, Vec<u64>> {
        let now: HashSet<u64> = self.sight.controls.iter().map(|of| of.identity).collect();
        // An element with the same text is the same row, whatever changed around it.
        let nodes: HashMap<NodeId, &Control> = self.sight.controls.iter().map(|of| (of.id, of)).collect();
        let mut alike = HashMap::<(&str, &str), usize>::new();
        for control in self.sight.controls.iter() {
            *alike.entry((&control.kind, &control.text)).or_default() += 1;
        }
        let is_same = |row: &Waiting, of: &Control| {
            let is_only = alike.get(&(&*of.kind, &*of.text)) == Some(&1);
            of.text == row.text && (is_only || same::has_grown(&row.row, &of.row))
        };
        let mut left = HashMap::<usize, Vec<u64>>::new();
        for (identity, row) in &self.frontier.waiting {
            let is_worth = self.tried.paid.contains(&row.kind)
                && !self.is_given_up(&row.kind, Rank::Row)
                && !self.tried.is_called_in_vain(&row.kind, &row.text)
                && !self.tried.is_vain_copy(&row.kind, row.now);
            let is_here = now.contains(identity) || nodes.get(&row.id).is_some_and(|of| is_same(row, of));
            let says = says_of(&row.kind, &row.text);
            let is_done = self.tried.clicked.contains(identity)
                || self.frontier.pressed.contains(&says) && !self.frontier.common.contains(&says);
            if is_worth && !is_done && !is_here {
                left.entry(row.place).or_default().push(*identity);
            }
        }
        left
    }

    /// Number of rows shown but not opened, of kinds that have brought links. A row with the same whole text as an opened one does not
    /// count.
    pub(super) fn unopened(&self) -> u32 {
        let left: Vec<u64> = self.left().into_values().flatten().collect();
        let rows = left.iter().filter_map(|identity| self.frontier.waiting.get(identity));
        let says = |row: &Waiting| says_of(&row.kind, &format!("{}\0{}", row.text, row.row));
        u32::try_from(rows.filter(|row| !self.frontier.pressed_rows.contains(&says(row))).count()).unwrap_or(u32::MAX)
    }

    /// Returns to a place with pending rows; false if there is none.
    pub(super) fn go_where_rows_wait(&mut self) -> bool {
        self.look_around();
        loop {
            let mut left = self.left();
            let places = &self.frontier.places;
            left.retain(|place, _| places.get(*place).is_some_and(|of| of.visits < limits::RENDER_PLACE_VISITS_MAX));
            // The place left last is the nearest.
            let Some((place, rows)) = left.into_iter().max_by_key(|(place, _)| *place) else { return false };
            if let Some(of) = self.frontier.places.get_mut(place) {
                of.visits += 1;
            }
            // Rows that the current state no longer has are nowhere else.
            if place != self.frontier.here && self.go_to(place, &rows) {
                return true;
            }
            if self.bound().is_some() {
                return false;
            }
        }
    }

    /// Repeats the acts that led to a place, from the current state.
    fn go_to(&mut self, place: usize, rows: &[u64]) -> bool {
        let Some(of) = self.frontier.places.get(place) else { return false };
        let (path, address, mut others) = (of.path.clone(), of.address.clone(), of.stays.clone());
        let wanted: HashSet<u64> = rows.iter().copied().collect();
        if self.address() != address
            && let Some(address) = address
        {
            self.act("goto the list", |window| window.go_to(address.as_str()));
            if self.has_come_to(&wanted) {
                return self.is_in(place, path);
            }
        }
        let from = self.trail.path.clone();
        let tabs = path.iter().filter(|step| step.is_tab && !from.contains(step));
        // A later turn of the path may be visible at once.
        let turns: Vec<&Step> = path.iter().filter(|step| !step.is_tab).collect();
        let all = tabs.chain(turns.last().copied()).chain(turns.iter().copied());
        let steps: Vec<u64> = all.map(|step| step.identity).collect();
        if self.press_steps(&steps, &wanted) {
            return self.is_in(place, path);
        }
        // The first page of a list is one of those whose numbers have led nowhere else.
        if turns.is_empty() {
            let numbers: HashSet<&str> = from.iter().filter(|step| !step.is_tab).map(|step| &*step.kind).collect();
            let is_first = |of: &&Control| {
                of.rank == Rank::Number
                    && numbers.contains(&*of.kind)
                    && !from.iter().any(|step| step.identity == of.identity)
            };
            let firsts = self.sight.controls.iter().filter(is_first).map(|of| of.identity);
            let firsts: Vec<u64> = firsts.take(limits::RENDER_PLACE_TABS_MAX).collect();
            if self.press_steps(&firsts, &wanted) {
                return self.is_in(place, path);
            }
        }
        // The tab that was open before any click, then any other of the groups clicked since.
        let gone: HashSet<&str> = from.iter().filter(|step| !path.contains(step)).map(|step| &*step.kind).collect();
        let beside = self.sight.controls.iter().filter(|of| gone.contains(&*of.kind) && !leads_on(of));
        others.retain(|of| beside.clone().any(|one| one.identity == *of));
        others.extend(beside.map(|of| of.identity));
        let mut tried = HashSet::new();
        others.retain(|of| tried.insert(*of));
        others.truncate(limits::RENDER_PLACE_TABS_MAX);
        if self.press_steps(&others, &wanted) {
            return self.is_in(place, path);
        }
        // Turns back page by page.
        let turned = from.iter().filter(|step| !step.is_tab).count();
        for _ in 0..turned {
            let back = |of: &&Control| of.rank == Rank::Back && of.crumb.is_none();
            let Some(back) = self.sight.controls.iter().find(back).cloned() else { break };
            if !self.may_replay() || !self.is_shown(back.id) || self.click(&back) == News::None {
                break;
            }
            if self.has_come_to(&wanted) {
                return self.is_in(place, path);
            }
        }
        self.frontier.looked_at = None;
        false
    }

    fn press_steps(&mut self, steps: &[u64], wanted: &HashSet<u64>) -> bool {
        for step in steps {
            self.look_around();
            let Some(control) = self.sight.controls.iter().find(|of| of.identity == *step).cloned() else { continue };
            if !self.is_shown(control.id) {
                continue;
            }
            if !self.may_replay() {
                return false;
            }
            self.tried.clicked.insert(control.identity);
            self.tried.pressed = Some(control.clone()).filter(|of| matches!(of.rank, Rank::Row | Rank::Tab));
            self.click(&control);
            self.look_around();
            self.tried.pressed = None;
            if self.has_come_to(wanted) {
                return true;
            }
        }
        false
    }

    fn may_replay(&mut self) -> bool {
        self.trail.replays += 1;
        self.trail.replays <= limits::RENDER_REPLAYS_MAX && self.bound().is_none()
    }

    fn has_come_to(&mut self, wanted: &HashSet<u64>) -> bool {
        self.look_around();
        let there = self.sight.controls.iter().filter(|of| wanted.contains(&of.identity)).map(|of| of.id);
        let there: Vec<_> = there.take(limits::RENDER_CONTROL_ELEMENTS).collect();
        there.into_iter().any(|id| self.is_shown(id))
    }

    /// The page is back at the place; its list has its own further pages.
    fn is_in(&mut self, place: usize, path: Vec<Step>) -> bool {
        self.trail.path = path;
        self.frontier.here = place;
        self.frontier.looked_at = None;
        self.tried.failed.retain(|_, (of, _)| !matches!(of, Rank::Turn | Rank::Number));
        true
    }
}

/// A hash of a row's text within its kind.
pub(super) fn says_of(kind: &str, text: &str) -> u64 {
    xxh3_64(format!("{kind}\0{text}").as_bytes())
}

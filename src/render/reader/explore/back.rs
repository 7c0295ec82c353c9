//! Ways back to a list that a click on one of its rows has replaced. Also folders, whose rows show lists of the same kind: each is read
//! before the reader returns to its parent.

use std::collections::{HashMap, HashSet};

use url::Url;
use xxhash_rust::xxh3::Xxh3;

use super::super::controls::{Control, Rank};
use super::super::folders::Crumb;
use super::super::shown::News;
use super::frontier::{Step, says_of};
use super::{Choice, Explorer};
use crate::dom::NodeId;
use crate::limits;
use crate::web::html::load::Window;

/// The page's place in the site's lists, and the path to it.
#[derive(Default)]
pub(super) struct Trail {
    /// The turns from the first state of the page, or of a view, to the current one.
    pub path: Vec<Step>,
    /// The parent lists of the current one; and the folders entered so far, by the rows that led there.
    pub levels: Vec<Level>,
    entered: HashSet<u64>,
    /// Elements whose clicks showed lists of the same kind.
    folders: HashSet<String>,
    pub replays: u32,
    /// How often rows of a kind replaced their list for good; and kinds given up for that.
    pub lost: HashMap<String, u32>,
    pub given_up: HashSet<String>,
}

/// A list that is not shown, and how to recognise it.
pub(super) struct Level {
    address: Option<Url>,
    /// Its rows, of one kind, and the texts of those that were there.
    rows: HashSet<u64>,
    kind: String,
    says: Vec<(u64, u64)>,
    /// The ways back that it already had.
    exits: HashSet<u64>,
    /// The labels of its controls.
    words: HashSet<String>,
    /// The row that led into it, and its turns.
    entry: u64,
    path: Vec<Step>,
}

impl Level {
    /// The list with these rows among these controls, at a URL.
    pub fn of(address: Option<Url>, kind: &str, rows: HashSet<u64>, controls: &[Control]) -> Self {
        let own = controls.iter().filter(|of| rows.contains(&of.identity));
        let says = own.map(|of| (of.identity, says_of(&of.text, &of.row))).collect();
        let exits = controls.iter().filter(|of| of.rank >= Rank::Back).map(|of| of.identity).collect();
        let words = controls.iter().map(|of| of.words.clone()).collect();
        Self { address, rows, kind: kind.to_owned(), says, exits, words, entry: 0, path: Vec::new() }
    }
}

impl Explorer<'_> {
    /// Returns to a list after a click on one of its rows.
    pub(super) fn come_back(&mut self, list: &Level) {
        // After the last row of a list nothing is missing.
        if self.finds_back(list) || list.rows.iter().all(|row| self.tried.clicked.contains(row)) {
            return;
        }
        let left: Vec<u64> =
            list.says.iter().filter(|(row, _)| !self.tried.clicked.contains(row)).map(|of| of.1).collect();
        self.frontier.loses(left);
        *self.trail.lost.entry(list.kind.clone()).or_default() += 1;
    }

    pub(super) fn finds_back(&mut self, list: &Level) -> bool {
        if self.address() != list.address {
            self.act("back", Window::back);
            if self.shows(&list.rows) {
                return true;
            }
        }
        let leads_back = |control: &&Control| match control.rank {
            Rank::Back => control.crumb.is_none(),
            Rank::Close => !list.exits.contains(&control.identity),
            _ => false,
        };
        if let Some(back) = self.sight.controls.iter().find(leads_back).cloned() {
            self.click(&back);
            if self.shows(&list.rows) {
                return true;
            }
        }
        let mut tried = Vec::new();
        if self.goes_up(list, &mut tried, false) {
            return true;
        }
        if let Some(address) = list.address.as_ref().filter(|list| list.fragment().is_some()) {
            self.act("goto the list", |window| window.go_to(address.as_str()));
            if self.shows(&list.rows) {
                return true;
            }
        }
        // The list may be at its first page again.
        for Step { identity, kind, .. } in self.trail.path.clone() {
            self.trail.replays += 1;
            let same = |control: &&Control| control.identity == identity;
            let like = |control: &&Control| control.kind == kind;
            let turn = self.sight.controls.iter().find(same).or_else(|| self.sight.controls.iter().find(like)).cloned();
            let (Some(turn), true) = (turn, self.trail.replays <= limits::RENDER_REPLAYS_MAX) else { break };
            self.click(&turn);
            if self.shows(&list.rows) {
                return true;
            }
        }
        self.goes_up(list, &mut tried, true)
    }

    /// Clicks breadcrumbs until one leads back to the list. With `any`, those known only by separators count too; otherwise only if a
    /// list has shown their label.
    fn goes_up(&mut self, list: &Level, tried: &mut Vec<String>, any: bool) -> bool {
        while let Some(up) = self.way_up(list, tried, any) {
            self.click(&Control { unsure: up.unsure || any, ..up.clone() });
            if self.shows(&list.rows) {
                return true;
            }
            tried.push(up.words);
        }
        false
    }

    /// Gives up kinds of rows that repeatedly lose their list, such as those of a pane that each show another in its place. True if no
    /// row is left of a kind that has brought links.
    pub(super) fn is_lost(&mut self) -> bool {
        let is_bad = |(kind, lost): (&String, &u32)| (*lost >= limits::RENDER_LOST_MAX).then(|| kind.clone());
        let bad: Vec<String> =
            self.trail.lost.iter().filter_map(is_bad).filter(|kind| !self.trail.given_up.contains(kind)).collect();
        if bad.is_empty() {
            return false;
        }
        self.trail.given_up.extend(bad);
        let is_left = |of: &Control| {
            of.rank == Rank::Row
                && self.tried.paid.contains(&of.kind)
                && !self.tried.clicked.contains(&of.identity)
                && !self.is_given_up(&of.kind, of.rank)
        };
        !self.sight.controls.iter().any(is_left)
    }

    /// The nearest untried breadcrumb. A crumb without a name has to match a label seen in a parent list.
    fn way_up(&mut self, list: &Level, tried: &[String], any: bool) -> Option<Control> {
        if tried.len() >= limits::RENDER_VIEW_CLICKS_MAX {
            return None;
        }
        let is_known = |of: &Control| {
            list.words.contains(&of.words) || self.trail.levels.iter().any(|level| level.words.contains(&of.words))
        };
        let is_new = |of: &&Control| match of.crumb {
            None => false,
            Some(Crumb::Named) => !tried.contains(&of.words),
            Some(Crumb::Signs) => !tried.contains(&of.words) && (any || is_known(of)),
        };
        let mut ways: Vec<Control> = self.sight.controls.iter().rev().filter(is_new).cloned().collect();
        ways.sort_by_key(|way| way.rank != Rank::Back);
        ways.into_iter().find(|way| self.is_shown(way.id))
    }

    /// The rows without those that turned out to be breadcrumbs.
    pub(super) fn without_crumbs(&self, rows: HashSet<u64>, before: &[Control]) -> HashSet<u64> {
        let crumbs = before.iter().chain(self.sight.controls.iter()).filter(|of| of.crumb.is_some());
        let crumbs: HashSet<u64> = crumbs.map(|of| of.identity).collect();
        let left: HashSet<u64> = rows.difference(&crumbs).copied().collect();
        if left.is_empty() { rows } else { left }
    }

    /// Whether a click opened a folder, of an element known to be one.
    pub(super) fn is_folder(&mut self, control: &Control, siblings: &HashSet<u64>) -> bool {
        matches!(control.rank, Rank::Row | Rank::Number)
            && self.trail.folders.contains(element_of(control))
            && !self.shows(siblings)
    }

    /// Stays if a click on a row replaced its list by other rows; otherwise returns the list.
    pub(super) fn go_into(&mut self, row: &Control, before: &[Control], mut list: Level, news: News) -> Option<Level> {
        // Numbers are page numbers, unless they are years.
        if self.trail.levels.len() >= limits::RENDER_FOLDERS_DEEP_MAX || row.rank == Rank::Number && !is_year(row) {
            return Some(list);
        }
        let element = element_of(row);
        // A button may show anything, but one that changes the page's URL leads to another place.
        let is_button = element.starts_with("button ") || element.starts_with("input ");
        if is_button && self.address() == list.address {
            return Some(list);
        }
        let had: HashSet<(NodeId, &str)> = before.iter().map(|old| (old.id, old.text.as_str())).collect();
        let is_row = |of: &Control| {
            matches!(of.rank, Rank::Row | Rank::Number)
                && of.crumb.is_none()
                && !had.contains(&(of.id, of.text.as_str()))
        };
        let stands = |of: &Control| of.local() == row.local() && of.place.is(&row.place);
        let is_known = self.trail.folders.contains(element) || self.leads_up();
        // A torrent's row shows its content. A folder among such rows is recognised by the same rows at the same position, or by a way
        // up.
        let may_be_here = news != News::Links || is_known || row.by_delegate.is_none();
        let is_alike = |of: &Control| news != News::Links || is_known || of.kind == row.kind;
        // A page with a way back shows one torrent, unless its rows are where the list's were.
        let is_exit = |of: &Control| of.rank == Rank::Back && of.crumb.is_none() && !list.exits.contains(&of.identity);
        let has_exit = self.sight.controls.iter().any(is_exit);
        let is_paid = news == News::Links || self.tried.paid.contains(&row.kind);
        let may_be_elsewhere = !has_exit && (!is_paid || is_known);
        let is_inside = |of: &&Control| {
            is_row(of) && (may_be_here && is_alike(of) && stands(of) || may_be_elsewhere && element_of(of) == element)
        };
        let inside: Vec<u64> = self.sight.controls.iter().filter(is_inside).map(|of| of.identity).collect();
        let mut place = Xxh3::new();
        for entry in self.trail.levels.iter().map(|level| level.entry).chain([row.identity]) {
            place.update(&entry.to_ne_bytes());
        }
        if inside.is_empty() || !self.trail.entered.insert(place.digest()) {
            return Some(list);
        }
        // Subfolders may have the same names in other folders; rows beside a torrent are the ones from before.
        for identity in inside.iter().filter(|_| news != News::Links || is_known) {
            self.tried.clicked.remove(identity);
        }
        self.trail.folders.insert(element.to_owned());
        list.entry = row.identity;
        list.path = std::mem::take(&mut self.trail.path);
        self.trail.levels.push(list);
        None
    }

    /// Whether the page has a labelled way to the parent of the current place. Breadcrumbs alone also appear above torrents.
    fn leads_up(&self) -> bool {
        self.sight.controls.iter().any(|of| of.crumb.is_some() && of.rank == Rank::Back)
    }

    /// What to try next in a folder before leaving it.
    pub(super) fn choose_in_level(&mut self) -> Option<Choice> {
        let leads_back = |choice: &Choice| matches!(choice, Choice::Control(of) if of.rank >= Rank::Back);
        self.choose().filter(|choice| self.trail.levels.is_empty() || !leads_back(choice))
    }

    /// Returns to the parent of a finished list; false if there is none.
    pub(super) fn leave_level(&mut self) -> bool {
        let Some(mut level) = self.trail.levels.pop() else { return false };
        self.trail.path = std::mem::take(&mut level.path);
        if !self.shows(&level.rows) {
            self.come_back(&level);
        }
        true
    }
}

/// Whether a number is a year and not a page number.
pub(super) fn is_year(control: &Control) -> bool {
    control.rank == Rank::Number && control.words.parse().is_ok_and(|year: u32| (1950..2100).contains(&year))
}

/// The element of a control, whatever its purpose.
fn element_of(control: &Control) -> &str {
    let rank = format!(" {:?} ", control.rank);
    control.kind.split(&*rank).next().unwrap_or_default()
}

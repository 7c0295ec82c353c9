//! Tells tabs from rows: a click on either replaces something. Rows change when their list is turned; tabs stay while the list below them
//! is turned, and each tab has further pages of its own.
//!
//! An unknown kind is taken for rows, which are clicked before their list is turned. If a turn shows that they were tabs, or nothing is
//! left but what was below them, they are clicked again.

use std::collections::{HashMap, HashSet};

use super::controls::{Control, Rank};
use crate::limits;

#[derive(Default)]
pub(super) struct Lists {
    /// Kinds not yet known to be rows or tabs.
    suspects: HashMap<String, Suspect>,
    rows: HashSet<String>,
    tabs: HashSet<String>,
    /// Tabs clicked again for what they lead to; their own content is known.
    again: HashSet<u64>,
}

#[derive(Default)]
struct Suspect {
    clicks: u32,
    /// A click removed something elsewhere.
    replaces: bool,
    last: u64,
    /// Those that had a list with further pages below them.
    leads_on: Vec<u64>,
}

impl Lists {
    pub fn are_tabs(&self, kind: &str) -> bool {
        self.tabs.contains(kind)
    }

    /// Whether a click only repeated known content, for what it leads to.
    pub fn is_again(&self, identity: u64) -> bool {
        self.again.contains(&identity)
    }

    /// Whether to check what a click on this kind removes.
    pub fn are_watched(&self, kind: &str) -> bool {
        let is_open = |suspect: &Suspect| !suspect.replaces && suspect.clicks < limits::RENDER_WATCHED_MAX;
        !self.rows.contains(kind) && !self.tabs.contains(kind) && self.suspects.get(kind).is_none_or(is_open)
    }

    /// A click on one of a kind was useful, and the others are still there.
    pub fn clicked(&mut self, control: &Control, has_replaced: bool, leads_on: bool) {
        if self.rows.contains(&control.kind) || self.tabs.contains(&control.kind) {
            return;
        }
        let suspect = self.suspects.entry(control.kind.clone()).or_default();
        suspect.clicks += 1;
        suspect.replaces |= has_replaced;
        suspect.last = control.identity;
        if leads_on {
            suspect.leads_on.push(control.identity);
        }
    }

    /// A click has shown that these are tabs; `others` were clicked before.
    pub fn are_tabs_now(&mut self, control: &Control, others: Vec<u64>) {
        self.suspects.remove(&control.kind);
        self.rows.remove(&control.kind);
        self.tabs.insert(control.kind.clone());
        self.again.extend(others);
    }

    /// These are clicked again, for what they lead to.
    pub fn press_again(&mut self, these: impl IntoIterator<Item = u64>) {
        self.again.extend(these);
    }

    /// The list was turned, or has grown. Returns the controls to click again, since they were taken for rows.
    pub fn turned(&mut self, before: &[Control], now: &[Control]) -> Vec<u64> {
        let (before, now) = (by_kind(before), by_kind(now));
        let mut anew = Vec::new();
        // Kinds that came with the turn are rows.
        self.rows.extend(now.keys().filter(|kind| !before.contains_key(*kind)).map(|kind| (*kind).to_owned()));
        for (kind, rows) in before {
            let of_now = now.get(kind).map(Vec::as_slice).unwrap_or_default();
            if self.tabs.contains(kind) || self.rows.contains(kind) {
                continue;
            }
            if !stand(&rows, of_now) {
                self.rows.insert(kind.to_owned());
                self.suspects.remove(kind);
            } else if self.suspects.get(kind).is_some_and(|suspect| suspect.replaces) {
                let last = self.suspects.remove(kind).map(|suspect| suspect.last);
                self.tabs.insert(kind.to_owned());
                anew.extend(rows.iter().map(|row| row.identity).filter(|identity| Some(*identity) != last));
            }
        }
        self.again.extend(&anew);
        anew
    }

    /// A choice elsewhere replaced rows that these had brought. A few controls that stayed are tabs beside it; returns all but the last,
    /// to click again for the choice.
    pub fn stood(&mut self, before: &[Control], now: &[Control]) -> Vec<u64> {
        let (before, now) = (by_kind(before), by_kind(now));
        let mut anew = Vec::new();
        for (kind, few) in before {
            let of_now = now.get(kind).map(Vec::as_slice).unwrap_or_default();
            let replaces = self.suspects.get(kind).is_some_and(|suspect| suspect.replaces);
            let are_few = u32::try_from(few.len()).is_ok_and(|count| count <= limits::RENDER_WATCHED_MAX);
            if !replaces || !are_few || !stand(&few, of_now) {
                continue;
            }
            let last = self.suspects.remove(kind).map(|suspect| suspect.last);
            self.tabs.insert(kind.to_owned());
            anew.extend(few.iter().map(|of| of.identity).filter(|identity| Some(*identity) != last));
        }
        self.again.extend(&anew);
        anew
    }

    /// Nothing is left to do: returns the controls to click again, since a list with further pages was below them.
    pub fn left(&mut self, now: &[Control]) -> Vec<u64> {
        let shown: HashSet<u64> = now.iter().map(|control| control.identity).collect();
        let mut anew = Vec::new();
        let tabs = &mut self.tabs;
        self.suspects.retain(|kind, suspect| {
            let leads_on: Vec<u64> = suspect.leads_on.iter().filter(|of| shown.contains(of)).copied().collect();
            let are_tabs = suspect.replaces && !leads_on.is_empty();
            if are_tabs {
                tabs.insert(kind.clone());
                anew.extend(leads_on);
            }
            !are_tabs
        });
        self.again.extend(&anew);
        anew
    }
}

fn by_kind(controls: &[Control]) -> HashMap<&str, Vec<&Control>> {
    let mut kinds = HashMap::<&str, Vec<&Control>>::new();
    for control in controls.iter().filter(|control| control.rank == Rank::Row) {
        kinds.entry(&control.kind).or_default().push(control);
    }
    kinds
}

/// Whether all of one kind are still there, and no others have appeared.
fn stand(before: &[&Control], now: &[&Control]) -> bool {
    let identities: HashSet<u64> = now.iter().map(|control| control.identity).collect();
    let texts: HashSet<&str> = before.iter().map(|control| control.text.as_str()).collect();
    // An element with a text unique in its kind is the same one, whatever is beside it now.
    let nodes: HashMap<_, &str> = now.iter().map(|control| (control.id, control.text.as_str())).collect();
    let is_told_by_text = texts.len() == before.len();
    let stays = |of: &&Control| {
        identities.contains(&of.identity) || is_told_by_text && nodes.get(&of.id) == Some(&of.text.as_str())
    };
    before.len() == now.len() && before.iter().all(stays)
}

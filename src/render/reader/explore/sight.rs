//! The current state of the page: the controls of the last scan, and when each row was first seen.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use url::Url;

use super::super::controls::{Control, Rank, controls};
use super::super::same;
use super::{Explorer, back, choices};
use crate::dom::{NodeId, Tree};
use crate::engine::realm;
use crate::web::read;

/// The last scan of the page.
#[derive(Default)]
pub(super) struct Sight {
    /// The tree generation and the URL of the scan.
    pub seen: (u64, Option<Url>),
    pub controls: Rc<Vec<Control>>,
    /// Controls that are not visible in the current state.
    pub hidden: HashSet<NodeId>,
    /// A state had more rows than the limit.
    pub has_more: bool,
    /// Kinds without a known listener that were lists.
    lists_of_guesses: HashSet<String>,
    /// Rows shown so far, with the act that first showed them.
    pub rows: HashMap<u64, u32>,
    /// Choices offered so far, with the act that first showed them.
    pub since: HashMap<u64, u32>,
    states: u32,
}

impl Sight {
    pub fn counts_of_kinds(&self) -> HashMap<String, usize> {
        let mut counts = HashMap::<String, usize>::new();
        for control in self.controls.iter() {
            *counts.entry(control.kind.clone()).or_default() += 1;
        }
        counts
    }
}

impl Explorer<'_> {
    /// Scans the page for controls; true if there are new rows or views.
    pub(super) fn look_around(&mut self) -> bool {
        let now = self.window.engine.with(|context| (read(context, Tree::generation), Some(realm::address(context))));
        let Some(now) = now else { return false };
        if now == self.sight.seen {
            return false;
        }
        self.sight.seen = now;
        self.sight.controls = Rc::new(self.find_controls());
        self.sight.hidden.clear();
        let has_new = self.take_in();
        self.skip_inferred();
        self.hear_of_rows();
        has_new
    }

    fn find_controls(&mut self) -> Vec<Control> {
        let kinds = self.tried.failed.keys().chain(&self.trail.given_up);
        let given_up: HashSet<String> = kinds.filter(|kind| self.is_given_up(kind, Rank::Row)).cloned().collect();
        let (mut controls, has_more) =
            controls(self.window, |kind| given_up.contains(kind), &mut self.sight.lists_of_guesses);
        self.sight.has_more |= has_more;
        let (tab, row) = self.tried.pressed.as_ref().map_or((None, None), |of| match self.rank(of) {
            Rank::Tab => (Some(of), None),
            _ => (None, Some(of)),
        });
        same::keep(&self.sight.controls, (row, tab), &mut controls);
        self.offer_options(&mut controls);
        if self.turns.only {
            self.keep_turns(&mut controls);
        }
        controls
    }

    /// Records the rows, choices and views of the current state; true if a row is new.
    fn take_in(&mut self) -> bool {
        let mut has_new = false;
        let first = self.sight.states == 0;
        self.sight.states += 1;
        let act = self.budget.acts;
        for control in self.sight.controls.iter() {
            self.turns.starts_inside |= first && control.rank == Rank::Back && control.crumb.is_none();
            if choices::is_choice(control) {
                self.sight.since.entry(control.identity).or_insert(act);
            }
            let is_branch = control.rank == Rank::Tab && control.kind.starts_with("summary ");
            let is_row = control.rank == Rank::Row && !self.tried.by_click.contains(&control.kind);
            if is_branch || is_row || back::is_year(control) {
                has_new |= !self.sight.rows.contains_key(&control.identity);
                self.sight.rows.entry(control.identity).or_insert(act);
            }
            if let Some(view) = &control.view {
                self.views.add(view, &control.kind);
            }
        }
        has_new
    }

    /// Whether one of these is in the page.
    pub(super) fn shows(&mut self, identities: &HashSet<u64>) -> bool {
        self.look_around();
        self.sight.controls.iter().any(|control| identities.contains(&control.identity))
    }
}

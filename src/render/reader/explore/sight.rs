//! What stands in the page: its controls as they were found last, and when its rows were seen first.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use url::Url;

use super::super::controls::{Control, Rank, controls};
use super::super::same;
use super::{Reader, back, choices};
use crate::dom::{NodeId, Tree};
use crate::engine::realm;
use crate::web::read;

/// The page as it was looked at last.
#[derive(Default)]
pub(super) struct Sight {
    /// The tree's generation and the address of which `controls` are.
    pub seen: (u64, Option<Url>),
    pub controls: Rc<Vec<Control>>,
    /// Controls that do not show in the state at hand.
    pub hidden: HashSet<NodeId>,
    /// A state had more rows than are taken of one.
    pub has_more: bool,
    /// Kinds of which nobody is known to listen to them, that were lists.
    lists_of_guesses: HashSet<String>,
    /// Rows that some state has shown, by the act that did first.
    pub rows: HashMap<u64, u32>,
    /// Choices of lists that some state has offered, by the act that did first.
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

impl Reader<'_> {
    /// Finds the controls of the page as it is; true where there are rows among them, or views, that no state before had.
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

    /// Remembers the rows, choices and views of the state at hand; true where one of the rows is new.
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

    /// Whether one of these stands in the page.
    pub(super) fn shows(&mut self, identities: &HashSet<u64>) -> bool {
        self.look_around();
        self.sight.controls.iter().any(|control| identities.contains(&control.identity))
    }
}

//! Picks the next act: the most promising control of the current state.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::super::controls::{Control, LIST_MIN, Rank};
use super::super::overlays;
use super::bounds::PATIENCE;
use super::choices;
use super::{Choice, Explorer};
use crate::dom::NodeId;
use crate::limits;
use crate::web::cssom::styles;
use crate::web::{own_document, read};

impl Explorer<'_> {
    /// Whether a person would see it.
    pub(super) fn is_shown(&mut self, id: NodeId) -> bool {
        self.window.engine.with(|context| styles::is_displayed(id, context)) == Some(true)
    }

    /// Number of visible dialogs and menus.
    pub(super) fn overlays_shown(&mut self) -> usize {
        let found = self.window.engine.with(|context| {
            let document = own_document(context);
            let all: Vec<NodeId> = read(context, |tree| {
                let is_one = |id: &NodeId| tree.element(*id).is_some_and(overlays::is_one);
                tree.descendants(document).filter(is_one).take(limits::RENDER_CONTROL_ELEMENTS).collect()
            });
            all.into_iter().filter(|id| styles::is_displayed(*id, context)).count()
        });
        found.unwrap_or_default()
    }

    /// Whether visible tabs were not opened and may still be useful.
    pub(super) fn has_tabs_left(&mut self) -> bool {
        let is_left = |of: &&Control| {
            self.rank(of) == Rank::Tab
                && !self.tried.clicked.contains(&of.identity)
                && !self.is_given_up(&of.kind, Rank::Tab)
        };
        let left: Vec<NodeId> = self.sight.controls.iter().filter(is_left).map(|of| of.id).collect();
        // An engine that has ended answers nothing.
        let may_show = |id| self.window.engine.with(|context| styles::is_displayed(id, context)) != Some(false);
        left.into_iter().take(LIST_MIN).any(may_show)
    }

    /// The next visible thing to try, if any.
    pub(super) fn choose(&mut self) -> Option<Choice> {
        loop {
            self.look_around();
            let choice = self.likeliest()?;
            let Choice::Control(control) = &choice else { return Some(choice) };
            let id = control.id;
            if self.has_nothing_beside(control) && self.tried.clicked.insert(control.identity) {
                continue;
            }
            if self.is_shown(id) {
                return Some(choice);
            }
            self.sight.hidden.insert(id);
        }
    }

    /// How far a page number leads on from the last one; numbers that lead back come last. A pager may show only the neighbours.
    fn pages_on(&self, control: &Control) -> u64 {
        if control.rank != Rank::Number {
            return 0;
        }
        // A sign among page numbers leads where they do.
        let Ok(number) = control.text.trim().parse::<u32>() else { return u64::MAX };
        let (number, last) = (u64::from(number), u64::from(self.turns.last_number));
        if number > last { number - last } else { u64::from(u32::MAX) + number }
    }

    /// The most promising visible control; a view if no control is promising.
    pub(super) fn likeliest(&mut self) -> Option<Choice> {
        let offered = self.offered();
        if let Some(control) = self.likeliest_of(&offered) {
            return Some(Choice::Control(control.clone()));
        }
        let rest = offered.iter().min_by_key(|control| control.rank).map(|control| (*control).clone());
        while let Some((url, kind)) = self.views.waiting.pop_front() {
            if !self.is_given_up(&kind, Rank::Row) {
                return Some(Choice::View(url, kind));
            }
        }
        rest.map(Choice::Control)
    }

    /// The controls that may be clicked in the current state.
    fn offered(&self) -> Vec<&Control> {
        let mut same = HashMap::<u64, usize>::new();
        for control in self.sight.controls.iter() {
            *same.entry(control.now).or_default() += 1;
        }
        let is_vain_copy = |of: &Control| {
            self.tried.is_vain_copy(&of.kind, of.now) && same.get(&of.now).is_some_and(|same| *same <= 2)
        };
        let is_offered = |control: &&Control| {
            // A "next" that stays in place is clicked repeatedly; anything else once.
            let is_new =
                matches!(control.rank, Rank::Turn | Rank::Back) || !self.tried.clicked.contains(&control.identity);
            let is_view = control.view.is_some() && !self.tried.by_click.contains(&control.kind);
            let is_for_later = is_view || control.rank == Rank::Close;
            let is_vain_row = || {
                control.rank == Rank::Row
                    && (self.tried.is_called_in_vain(&control.kind, &control.text) || is_vain_copy(control))
            };
            is_new
                && !is_for_later
                && (control.crumb.is_none() || self.trail.levels.is_empty())
                && !control.traits.ticked
                && !control.traits.closes
                && !self.is_harmful(control)
                && !self.agains.has_come_with_fault(control)
                && !self.sight.hidden.contains(&control.id)
                && !self.is_given_up(&control.kind, control.rank)
                && !is_vain_row()
        };
        self.sight.controls.iter().filter(is_offered).collect()
    }

    /// Everything tried before views: a gate, a row with more to load, a row, a retry, a way back, a turn or a tab.
    fn likeliest_of<'c>(&'c self, offered: &[&'c Control]) -> Option<&'c Control> {
        let of_kind = self.sight.counts_of_kinds();
        let is_of_list = |control: &Control| {
            let is_list = of_kind.get(&control.kind).is_some_and(|count| *count >= LIST_MIN);
            is_list || self.tried.paid.contains(&control.kind)
        };
        let gate = || offered.iter().copied().find(|of| of.rank == Rank::Enter && !is_of_list(of));
        // A row may be labelled like a gate: "Enter the Dragon".
        let is_row = |of: &&Control| {
            matches!(of.rank, Rank::Row | Rank::Enter) && is_of_list(of) && !self.lists.are_tabs(&of.kind)
        };
        let row = || offered.iter().copied().filter(is_row).min_by_key(|of| self.age_of_row(of));
        // Acts that met a server error are retried before their list is turned.
        let is_again =
            |of: &&Control| self.agains.unanswered.contains(&of.identity) && !self.sight.hidden.contains(&of.id);
        let again = || self.sight.controls.iter().find(is_again);
        // Once the reader turns back, it continues to the beginning: the pages ahead are known.
        let back = || offered.iter().copied().find(|of| self.turns.heads_back && of.rank == Rank::Back);
        gate()
            .or_else(|| self.row_that_goes_on(offered))
            .or_else(row)
            .or_else(again)
            .or_else(back)
            .or_else(|| self.next_turn(offered))
    }

    /// Rows of the latest act are read first as long as their kind is useful; among them, kinds that brought links come first.
    fn age_of_row(&self, control: &Control) -> (bool, Reverse<u32>, bool, bool) {
        let is_paid = self.tried.paid.contains(&control.kind);
        let is_tried = self.tried.presses.get(&control.kind).is_some_and(|presses| *presses > PATIENCE);
        let since = self.sight.rows.get(&control.identity).filter(|_| is_paid || !is_tried);
        // A head among rows opens nothing and does not describe them; a table's head sorts what is there.
        (control.traits.head, Reverse(since.copied().unwrap_or_default()), !is_paid, control.traits.joined)
    }

    fn next_turn<'c>(&self, offered: &[&'c Control]) -> Option<&'c Control> {
        // A choice that appeared after another is valid for that one only.
        let since = |of: &Control| self.sight.since.get(&of.identity).copied().filter(|_| choices::is_choice(of));
        let likes = offered.iter().copied().filter(|of| self.rank(of) < Rank::Row);
        // The inner one of two groups of tabs is explored for each tab of the outer one.
        likes.min_by_key(|of| {
            (self.rank(of), Reverse(self.frontier.depth_of_tabs(&of.kind)), Reverse(since(of)), self.pages_on(of))
        })
    }

    /// A row's "load more" is clicked once all rows of its kind have had their first click.
    fn row_that_goes_on<'c>(&'c self, offered: &[&'c Control]) -> Option<&'c Control> {
        let of = |identity: &u64| self.sight.controls.iter().find(|of| of.identity == *identity);
        let waits = |of: &Control| {
            self.sight.hidden.contains(&of.id)
                || self.is_given_up(&of.kind, of.rank)
                || offered.iter().any(|other| other.kind == of.kind)
        };
        self.companions.more_later.iter().filter_map(of).find(|of| !waits(of))
    }
}

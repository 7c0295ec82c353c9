//! What is tried next: of what the page offers in the state at hand, the likeliest.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::super::controls::{Control, LIST_MIN, Rank};
use super::super::overlays;
use super::bounds::PATIENCE;
use super::choices;
use super::{Choice, Reader};
use crate::dom::NodeId;
use crate::limits;
use crate::web::cssom::styles;
use crate::web::{own_document, read};

impl Reader<'_> {
    /// Whether a person would see it.
    pub(super) fn is_shown(&mut self, id: NodeId) -> bool {
        self.window.engine.with(|context| styles::is_displayed(id, context)) == Some(true)
    }

    /// How many dialogs and menus a person would see.
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

    /// Whether tabs show that were not opened, and may still be good for something.
    pub(super) fn has_tabs_left(&mut self) -> bool {
        let is_left = |of: &&Control| {
            self.rank(of) == Rank::Tab
                && !self.tried.clicked.contains(&of.identity)
                && !self.is_given_up(&of.kind, Rank::Tab)
        };
        let left: Vec<NodeId> = self.sight.controls.iter().filter(is_left).map(|of| of.id).collect();
        // An engine that has ended tells of nothing.
        let may_show = |id| self.window.engine.with(|context| styles::is_displayed(id, context)) != Some(false);
        left.into_iter().take(LIST_MIN).any(may_show)
    }

    /// What is tried next, if anything: of what shows.
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

    /// How far a number leads on from the page that was turned to last; what leads back comes last. A pager may show but those around it.
    fn pages_on(&self, control: &Control) -> u64 {
        if control.rank != Rank::Number {
            return 0;
        }
        // A sign among numbers leads where they do.
        let Ok(number) = control.text.trim().parse::<u32>() else { return u64::MAX };
        let (number, last) = (u64::from(number), u64::from(self.turns.last_number));
        if number > last { number - last } else { u64::from(u32::MAX) + number }
    }

    pub(super) fn likeliest(&mut self) -> Option<Choice> {
        let mut same = HashMap::<u64, usize>::new();
        for control in self.sight.controls.iter() {
            *same.entry(control.now).or_default() += 1;
        }
        let offered = |control: &&Control| {
            // A "next" that stays where it is is pressed again and again; anything else once.
            let is_new =
                matches!(control.rank, Rank::Turn | Rank::Back) || !self.tried.clicked.contains(&control.identity);
            let is_view = control.view.is_some() && !self.tried.by_click.contains(&control.kind);
            let is_for_later = is_view || control.rank == Rank::Close;
            is_new
                && !is_for_later
                && (control.crumb.is_none() || self.trail.levels.is_empty())
                && !control.ticked
                && !control.closes
                && !self.is_harmful(control)
                && !self.has_come_with_fault(control)
                && !self.sight.hidden.contains(&control.id)
                && !self.is_given_up(&control.kind, control.rank)
                && !(control.rank == Rank::Row
                    && (self.tried.is_called_in_vain(&control.kind, &control.text)
                        || self.tried.is_vain_copy(&control.kind, control.now)
                            && same.get(&control.now).is_some_and(|same| *same <= 2)))
        };
        let offered: Vec<&Control> = self.sight.controls.iter().filter(offered).collect();
        let mut of_kind = HashMap::<&str, usize>::new();
        for control in self.sight.controls.iter() {
            *of_kind.entry(&control.kind).or_default() += 1;
        }
        let is_of_list = |control: &Control| {
            let is_list = of_kind.get(&*control.kind).is_some_and(|count| *count >= LIST_MIN);
            is_list || self.tried.paid.contains(&control.kind)
        };
        // A row may be called like a gate: "Enter the Dragon".
        let is_row = |control: &&&Control| {
            matches!(control.rank, Rank::Row | Rank::Enter)
                && is_of_list(control)
                && !self.lists.are_tabs(&control.kind)
        };
        let gate = offered.iter().find(|of| of.rank == Rank::Enter && !is_of_list(of));
        // What an act has brought is read before what was there, as long as its kind is good for something; first what has brought links.
        let newest = |control: &&&Control| {
            let is_paid = self.tried.paid.contains(&control.kind);
            let is_tried = self.tried.presses.get(&control.kind).is_some_and(|presses| *presses > PATIENCE);
            let since = self.sight.rows.get(&control.identity).filter(|_| is_paid || !is_tried);
            // A head among rows opens nothing, and says nothing of them; that of a table sorts what is there.
            (control.head, Reverse(since.copied().unwrap_or_default()), !is_paid, control.joined)
        };
        let row = offered.iter().filter(is_row).min_by_key(newest);
        // A choice that another has brought stands for that one alone.
        let turn = || {
            let since = |of: &Control| self.sight.since.get(&of.identity).copied().filter(|_| choices::is_choice(of));
            let likes = offered.iter().filter(|of| self.rank(of) < Rank::Row);
            // The inner ones of two groups of tabs are there for each of the outer ones.
            likes.min_by_key(|of| {
                (self.rank(of), Reverse(self.frontier.depth_of_tabs(&of.kind)), Reverse(since(of)), self.pages_on(of))
            })
        };
        // Who went back goes on so to the beginning: what lies ahead is known.
        let back = || offered.iter().find(|of| self.turns.heads_back && of.rank == Rank::Back);
        // What a fault has met is done again before its list is turned.
        let again = || {
            self.sight
                .controls
                .iter()
                .find(|of| self.agains.unanswered.contains(&of.identity) && !self.sight.hidden.contains(&of.id))
        };
        // What goes on below a row goes on when all rows of its kind have begun.
        let more = || {
            let of = |identity: &u64| self.sight.controls.iter().find(|of| of.identity == *identity);
            let waits = |of: &&Control| {
                self.sight.hidden.contains(&of.id)
                    || self.is_given_up(&of.kind, of.rank)
                    || offered.iter().any(|other| other.kind == of.kind)
            };
            self.companions.more_later.iter().filter_map(of).find(|of| !waits(of))
        };
        if let Some(control) = gate
            .copied()
            .or_else(more)
            .or(row.copied())
            .or_else(again)
            .or_else(|| back().copied())
            .or_else(|| turn().copied())
        {
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
}

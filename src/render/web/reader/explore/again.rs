//! What a reader does once more: what a fault of the server has met, and the page's own "try again". And boxes that are ticked together,
//! since one button is for all of them.

use std::collections::HashSet;
use std::rc::Rc;

use super::super::controls::{Control, Rank};
use super::super::shown::News;
use super::{PATIENCE_WITH_PAID, Reader};
use crate::limits;

impl Reader<'_> {
    /// How often a server had no answer for the page's scripts.
    pub(super) fn faults(&self) -> u64 {
        self.window.engine.page().borrow().faults.count()
    }

    /// Whether what has been asked in vain is still without an answer.
    pub(super) fn has_faults_left(&self) -> bool {
        self.window.engine.page().borrow().faults.are_left()
    }

    pub(super) fn may_try_again(&self) -> bool {
        self.agains < limits::RENDER_RETRIES_MAX && self.agains_all < limits::RENDER_TRIES
    }

    /// Whether an act is to be done again that a fault has met.
    pub(super) fn has_met_fault(&mut self, faults_before: u64, news: News) -> bool {
        if news != News::None {
            self.agains = 0;
            return false;
        }
        let is_again = self.faults() > faults_before && self.may_try_again();
        self.agains += u32::from(is_again);
        self.agains_all += u32::from(is_again);
        is_again
    }

    /// The page's own way to try again, where one shows.
    pub(super) fn offer_again(&mut self) -> Option<Control> {
        if !self.window.engine.page().borrow().faults.are_open() || !self.may_try_again() {
            return None;
        }
        let offers: Vec<Control> = self.controls.iter().filter(|control| control.again).cloned().collect();
        offers.into_iter().find(|control| self.is_shown(control.id))
    }

    /// Presses it. What it brings is what the act before it was for.
    pub(super) fn try_again(&mut self, control: &Control) -> News {
        self.clicked.insert(control.identity);
        let news = self.act(&format!("click {}", control.words), |window| window.click_node(control.id));
        self.agains = if news == News::None { self.agains + 1 } else { 0 };
        self.agains_all += 1;
        if news != News::None {
            // The list that had failed has further pages, perhaps.
            self.failed.retain(|_, (of, _)| *of != Rank::Turn);
        }
        news
    }

    /// Ticks the boxes of a list, then presses what is there for those that are ticked. A box that takes rows away, as filters do, is left
    /// as it was.
    pub(super) fn tick(&mut self, first: &Control) -> News {
        let before = Rc::clone(&self.controls);
        let shown = self.links();
        let mut best = self.tick_all(std::slice::from_ref(first));
        let now: HashSet<u64> = self.controls.iter().map(|of| of.identity).collect();
        let is_kept = |of: &Control| of.identity == first.identity || now.contains(&of.identity);
        let is_row = |of: &&Control| matches!(of.rank, Rank::Row | Rank::Tick);
        let links = self.links();
        let is_there = |link: &String| links.contains(link) || self.chosen.contains(link);
        if !before.iter().filter(is_row).all(is_kept) || !shown.iter().all(is_there) {
            self.act(&format!("untick {}", first.words), |window| {
                window.set_box(first.id, false);
            });
            self.failed.insert(first.kind.clone(), (Rank::Tick, PATIENCE_WITH_PAID));
            return News::None;
        }
        for _ in 0..limits::RENDER_TICKS_MAX {
            let is_next = |of: &&Control| of.kind == first.kind && !self.clicked.contains(&of.identity);
            let next: Vec<Control> = self.controls.iter().filter(is_next).cloned().collect();
            if next.is_empty() || self.bound().is_some() {
                break;
            }
            best = best.max(self.tick_all(&next));
        }
        let known = before.iter().map(|of| of.identity).collect();
        best = best.max(self.press_companions(first, &known));
        self.judge(first, Rank::Tick, best, false);
        // What is chosen next takes its place.
        let links = self.links();
        self.chosen.extend(links.into_iter().filter(|link| !shown.contains(link)));
        best
    }

    /// Ticks boxes as far as they stand: a list may be drawn anew at each.
    fn tick_all(&mut self, boxes: &[Control]) -> News {
        let mut ticked = Vec::new();
        let words = boxes.first().map(|one| one.words.as_str()).unwrap_or_default();
        self.pressed = boxes.first().cloned();
        let news = self.act(&format!("tick {words}"), |window| {
            ticked.extend(boxes.iter().filter(|one| window.set_box(one.id, true)).map(|one| one.identity));
        });
        self.look_around();
        self.pressed = None;
        self.clicked.extend(ticked);
        // One that cannot be ticked is not tried for ever.
        self.clicked.extend(boxes.first().map(|one| one.identity));
        news
    }
}

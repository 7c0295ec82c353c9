//! What a reader does once more: what a fault of the server has met, and the page's own "try again". And boxes that are ticked together,
//! since one button is for all of them.

use std::collections::HashSet;
use std::rc::Rc;

use xxhash_rust::xxh3::xxh3_64;

use super::super::controls::{Control, LIST_MIN, Rank};
use super::super::shown::News;
use super::super::ticks;
use super::super::words::{COPY, says};
use super::back::Level;
use super::bounds::PATIENCE_WITH_PAID;
use super::{Choice, Reader};
use crate::dom::NodeId;
use crate::limits;

/// What a page showed before boxes were ticked.
struct Shown {
    controls: Rc<Vec<Control>>,
    links: HashSet<String>,
    disabled: HashSet<NodeId>,
    unsent: u64,
    posts: usize,
}

impl Reader<'_> {
    /// How often a server had no answer for the page's scripts.
    pub(super) fn faults(&self) -> u64 {
        self.window.engine.page().borrow().faults.count()
    }

    /// Whether what has been asked in vain is still without an answer.
    pub(super) fn has_faults_left(&self) -> bool {
        self.window.engine.page().borrow().faults.are_left()
    }

    /// A server that wants to be left alone is: the page's next visit is for what it has not answered.
    fn may_try_again(&self) -> bool {
        let has_paused = self.window.engine.page().borrow().faults.has_paused();
        !has_paused && self.may_be_patient()
    }

    /// Nothing is tried for ever.
    fn may_be_patient(&self) -> bool {
        self.agains < limits::RENDER_RETRIES_MAX && self.agains_all < limits::RENDER_TRIES
    }

    /// Whether an act, by the hash of what it was on, is to be done again that a fault has met: once, and later.
    pub(super) fn has_met_fault(&mut self, on: u64, faults_before: u64, news: News) -> bool {
        if news != News::None {
            self.agains = 0;
            return false;
        }
        if self.faults() == faults_before || !self.may_try_again() || !self.done_again.insert(on) {
            return false;
        }
        self.agains += 1;
        self.agains_all += 1;
        true
    }

    /// Remembers which ways to try again are there by themselves, and which have come with a fault.
    pub(super) fn tell_agains(&mut self, has_met_fault: bool) {
        for control in self.controls.iter().filter(|control| control.again) {
            let name = name_of(control);
            if !has_met_fault {
                self.agains_there.insert(name);
            } else if !self.agains_there.contains(&name) {
                self.agains_come.insert(name);
                self.agains_nodes.insert(control.id, control.words.clone());
            }
        }
    }

    /// Whether a control has come with a fault, to try again.
    pub(super) fn has_come_with_fault(&self, control: &Control) -> bool {
        // What stands around it may have come to look like a row.
        self.agains_nodes.get(&control.id) == Some(&control.words)
            || control.again && self.agains_come.contains(&name_of(control))
    }

    /// When nothing else is left: the page's own way to try again, or the turn that was not answered; or all tabs once more, behind one of which
    /// that way stands.
    pub(super) fn once_more(&mut self) -> Option<Choice> {
        if !self.may_come_back_to_faults() {
            return None;
        }
        self.look_around();
        if let Some(offer) = self.offer() {
            self.rounds += 1;
            return Some(Choice::Again(offer));
        }
        let unanswered = std::mem::take(&mut self.unanswered_turns);
        if !unanswered.is_empty() {
            self.failed.retain(|kind, _| !unanswered.contains(kind));
            if let Some(choice) = self.choose() {
                self.rounds += 1;
                return Some(choice);
            }
        }
        // Once, and again where that has brought links.
        let states = self.book.states.len();
        if self.revisits == Some(states) || self.agains_come.is_empty() || !self.has_faults_left() {
            return None;
        }
        self.revisits = Some(states);
        let tabs: Vec<Control> = self.controls.iter().filter(|of| self.rank(of) == Rank::Tab).cloned().collect();
        for tab in tabs {
            self.clicked.remove(&tab.identity);
            self.failed.remove(&tab.kind);
        }
        self.choose()
    }

    /// The way to try again that one of the tabs shows which are opened once more.
    pub(super) fn offer_of_tab(&mut self) -> Option<Choice> {
        let offer =
            if self.revisits.is_some() && self.may_come_back_to_faults() { self.offer()? } else { return None };
        self.rounds += 1;
        Some(Choice::Again(offer))
    }

    /// Whether what was not answered may be asked for once more; by the end one that was busy for a moment has answered again.
    fn may_come_back_to_faults(&self) -> bool {
        let is_paused = self.window.engine.page().borrow().faults.is_paused();
        !is_paused && self.may_be_patient() && self.rounds < limits::RENDER_RETRY_ROUNDS_MAX
    }

    /// A way to try again that came with a fault, and shows.
    fn offer(&mut self) -> Option<Control> {
        let offers: Vec<Control> = self.controls.iter().filter(|of| self.has_come_with_fault(of)).cloned().collect();
        offers.into_iter().find(|control| self.is_shown(control.id))
    }

    /// Presses it. What it brings is what the act before it was for.
    pub(super) fn try_again(&mut self, control: &Control) -> News {
        self.clicked.insert(control.identity);
        let news = self.click(control);
        self.agains_all += 1;
        if news != News::None {
            // The list that had failed has further pages, perhaps.
            self.failed.retain(|_, (of, _)| *of != Rank::Turn);
        }
        news
    }

    /// Ticks a box of a list, and where that alone brings nothing and something is there for those that are ticked, all of them, and presses
    /// that. Where a tick takes rows or links away, as filters do, or wants something to be posted, the boxes are left as they were.
    pub(super) fn tick(&mut self, first: &Control) -> News {
        let shown = self.shown_before_ticks();
        let mut best = self.tick_all(std::slice::from_ref(first));
        if self.has_done_harm(first, &shown) || best != News::Links && !self.waits_for_more(first, &shown) {
            self.untick(first, &shown);
            return News::None;
        }
        if best != News::Links {
            for _ in 0..limits::RENDER_TICKS_MAX {
                let is_next =
                    |of: &&Control| of.kind == first.kind && !of.ticked && !self.clicked.contains(&of.identity);
                let next: Vec<Control> = self.controls.iter().filter(is_next).cloned().collect();
                if next.is_empty() || self.bound().is_some() {
                    break;
                }
                best = best.max(self.tick_all(&next));
                if self.has_done_harm(first, &shown) {
                    self.untick(first, &shown);
                    return News::None;
                }
            }
            let known = shown.controls.iter().map(|of| of.identity).collect();
            best = best.max(self.press_companions(first, &known, best));
        }
        self.judge(first, Rank::Tick, best, false);
        // What is chosen next takes its place.
        let links = self.links();
        self.chosen.extend(links.into_iter().filter(|link| !shown.links.contains(link)));
        best
    }

    fn shown_before_ticks(&mut self) -> Shown {
        let unsent = self.window.engine.page().borrow().unsent;
        let (links, disabled, posts) = (self.links(), ticks::disabled(self.window), self.posts());
        Shown { controls: Rc::clone(&self.controls), links, disabled, unsent, posts }
    }

    /// How many forms scripts wanted to post.
    fn posts(&mut self) -> usize {
        self.window.navigations().iter().filter(|gone| gone.method != "GET").count()
    }

    /// Whether rows or links went, or a script wanted something to be posted, since boxes were ticked.
    fn has_done_harm(&mut self, first: &Control, shown: &Shown) -> bool {
        let is_unsent = self.window.engine.page().borrow().unsent > shown.unsent;
        is_unsent || self.posts() > shown.posts || !self.is_all_there(first, shown)
    }

    /// Whether all rows and links are there that were.
    fn is_all_there(&mut self, first: &Control, shown: &Shown) -> bool {
        self.look_around();
        let now: HashSet<u64> = self.controls.iter().map(|of| of.identity).collect();
        let links = self.links();
        let is_list = |kind: &str| shown.controls.iter().filter(|of| of.kind == kind).count() >= LIST_MIN;
        // Kinds that are given up are not among what is found any more.
        let is_found = |of: &Control| is_list(&of.kind) && !self.is_given_up(&of.kind, Rank::Row);
        let is_row = |of: &&Control| of.rank == Rank::Tick || of.rank == Rank::Row && is_found(of);
        let stays = |of: &Control| now.contains(&of.identity) || of.identity == first.identity;
        shown.controls.iter().filter(is_row).all(stays)
            && shown.links.iter().all(|link| links.contains(link) || self.chosen.contains(link))
    }

    /// Whether something outside the rows is there for what is ticked: by its words, or because it was out of use before.
    fn waits_for_more(&mut self, first: &Control, shown: &Shown) -> bool {
        let likes = |kind: &str| self.controls.iter().filter(|of| of.kind == kind).count();
        let waits = |of: &&Control| {
            let has_words = of.gets || says(COPY, &of.words.to_lowercase(), true);
            let is_outside =
                of.row.is_empty() && of.view.is_none() && likes(&of.kind) < LIST_MIN && of.kind != first.kind;
            is_outside
                && of.rank != Rank::Tick
                && (has_words || of.rank == Rank::Row && shown.disabled.contains(&of.id))
        };
        let waiting: Vec<NodeId> = self.controls.iter().filter(waits).map(|of| of.id).collect();
        waiting.into_iter().any(|id| self.is_shown(id))
    }

    /// Gives up a kind of boxes, and leaves the page as it was before the first of them was ticked.
    fn untick(&mut self, first: &Control, shown: &Shown) {
        self.failed.insert(first.kind.clone(), (Rank::Tick, PATIENCE_WITH_PAID));
        self.tries = self.tries.saturating_sub(1);
        let was_ticked: HashSet<u64> = shown.controls.iter().filter(|of| of.ticked).map(|of| of.identity).collect();
        for _ in 0..limits::RENDER_TICKS_MAX {
            self.look_around();
            let is_ours = |of: &&Control| of.ticked && of.rank == Rank::Tick && !was_ticked.contains(&of.identity);
            let mut ours: Vec<Control> = self.controls.iter().filter(is_ours).cloned().collect();
            ours.retain(|of| shown.controls.iter().any(|old| old.identity == of.identity));
            if ours.is_empty() || !self.set_boxes(&ours, false).0 {
                break;
            }
        }
        let is_left =
            self.controls.iter().any(|of| of.ticked && of.rank == Rank::Tick && !was_ticked.contains(&of.identity));
        if !is_left && self.is_all_there(first, shown) {
            return;
        }
        let lists = |of: &&Control| matches!(of.rank, Rank::Row | Rank::Tick);
        let siblings: HashSet<u64> = shown.controls.iter().filter(lists).map(|of| of.identity).collect();
        let address = self.address();
        self.finds_back(&Level::of(address, &first.kind, siblings, &shown.controls));
        if !self.is_all_there(first, shown) {
            // Of links that went nobody knows what rows they stood in.
            self.loses([0]);
            *self.lost.entry(first.kind.clone()).or_default() += 1;
        }
    }

    /// Ticks boxes as far as they stand: a list may be drawn anew at each.
    fn tick_all(&mut self, boxes: &[Control]) -> News {
        self.set_boxes(boxes, true).1
    }

    /// Sets boxes, while nothing is posted; whether one of them was otherwise, and what has come of it.
    fn set_boxes(&mut self, boxes: &[Control], ticked: bool) -> (bool, News) {
        let mut set = Vec::new();
        let words = boxes.first().map(|one| one.words.as_str()).unwrap_or_default();
        self.pressed = boxes.first().cloned();
        self.window.engine.page().borrow_mut().sends_gets_only = true;
        let news = self.act(&format!("{} {words}", if ticked { "tick" } else { "untick" }), |window| {
            set.extend(boxes.iter().filter(|one| window.set_box(one.id, ticked)).map(|one| one.identity));
        });
        self.window.engine.page().borrow_mut().sends_gets_only = self.turns_only;
        self.look_around();
        self.pressed = None;
        let is_set = !set.is_empty();
        self.clicked.extend(set);
        // One that cannot be ticked is not tried for ever.
        self.clicked.extend(boxes.first().map(|one| one.identity));
        (is_set, news)
    }
}

/// What a way to try again is called, whatever else of its kind says.
fn name_of(control: &Control) -> u64 {
    xxh3_64(format!("{} {}", control.kind, control.words).as_bytes())
}

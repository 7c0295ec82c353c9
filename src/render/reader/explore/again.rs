//! Retries: acts that failed with a server error, and the page's own "try again". Also boxes that are ticked together, since one button
//! is for all of them.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use xxhash_rust::xxh3::xxh3_64;

use super::super::controls::{Control, LIST_MIN, Rank};
use super::super::shown::News;
use super::super::ticks;
use super::super::words::{COPY, says};
use super::back::Level;
use super::bounds::PATIENCE_WITH_PAID;
use super::{Choice, Explorer};
use crate::dom::NodeId;
use crate::limits;

/// Acts that met a server error, and their retries.
#[derive(Default)]
pub(super) struct Agains {
    /// Retries: consecutive ones, all of them, and rounds in which nothing else was left.
    in_a_row: u32,
    all: u32,
    pub rounds: u32,
    /// Number of states when all tabs were reopened for their failed requests.
    revisits: Option<usize>,
    /// Acts that are not retried again; rows and kinds of turns still to be retried.
    done: HashSet<u64>,
    pub unanswered: HashSet<u64>,
    pub unanswered_turns: HashSet<String>,
    /// The page's retry buttons, by name: those that are always there, and those that came with an error.
    there: HashSet<u64>,
    come: HashSet<u64>,
    nodes: HashMap<NodeId, String>,
}

impl Agains {
    /// Caps the retries.
    fn may_be_patient(&self) -> bool {
        self.in_a_row < limits::RENDER_RETRIES_MAX && self.all < limits::RENDER_TRIES
    }

    /// Records which retry buttons are always there and which came with an error.
    pub fn look(&mut self, controls: &[Control], has_met_fault: bool) {
        for control in controls.iter().filter(|control| control.traits.again) {
            let name = name_of(control);
            if !has_met_fault {
                self.there.insert(name);
            } else if !self.there.contains(&name) {
                self.come.insert(name);
                self.nodes.insert(control.id, control.words.clone());
            }
        }
    }

    /// Whether a control came with an error, to retry.
    pub fn has_come_with_fault(&self, control: &Control) -> bool {
        // The text around it may since look like a row.
        self.nodes.get(&control.id) == Some(&control.words)
            || control.traits.again && self.come.contains(&name_of(control))
    }
}

/// What a page showed before boxes were ticked.
struct PageBeforeTicks {
    controls: Rc<Vec<Control>>,
    links: HashSet<String>,
    disabled: HashSet<NodeId>,
    unsent: u64,
    posts: usize,
}

impl Explorer<'_> {
    /// How many requests of the page's scripts the server failed to answer.
    pub(super) fn faults(&self) -> u64 {
        self.window.engine.page().borrow().faults.count()
    }

    /// Whether failed requests are still unanswered.
    pub(super) fn has_faults_left(&self) -> bool {
        self.window.engine.page().borrow().faults.are_left()
    }

    /// A server that asks to be left alone is: the page's next visit fetches what it has not answered.
    fn may_try_again(&self) -> bool {
        let has_paused = self.window.engine.page().borrow().faults.has_paused();
        !has_paused && self.agains.may_be_patient()
    }

    /// Whether an act that met a server error is to be retried (`on` is the hash of its target): once now, and again later.
    pub(super) fn has_met_fault(&mut self, on: u64, faults_before: u64, news: News) -> bool {
        if news != News::None {
            self.agains.in_a_row = 0;
            return false;
        }
        if self.faults() == faults_before || !self.may_try_again() || !self.agains.done.insert(on) {
            return false;
        }
        self.agains.in_a_row += 1;
        self.agains.all += 1;
        true
    }

    /// When nothing else is left: the page's own retry button, the turn that failed, or all tabs once more, one of which may have such a
    /// button.
    pub(super) fn once_more(&mut self) -> Option<Choice> {
        if !self.may_come_back_to_faults() {
            return None;
        }
        self.look_around();
        if let Some(offer) = self.offer() {
            self.agains.rounds += 1;
            return Some(Choice::Again(offer));
        }
        let unanswered = std::mem::take(&mut self.agains.unanswered_turns);
        if !unanswered.is_empty() {
            self.tried.failed.retain(|kind, _| !unanswered.contains(kind));
            if let Some(choice) = self.choose() {
                self.agains.rounds += 1;
                return Some(choice);
            }
        }
        // Once, and again if that brought links.
        let states = self.book.states.len();
        if self.agains.revisits == Some(states) || self.agains.come.is_empty() || !self.has_faults_left() {
            return None;
        }
        self.agains.revisits = Some(states);
        let tabs: Vec<Control> = self.sight.controls.iter().filter(|of| self.rank(of) == Rank::Tab).cloned().collect();
        for tab in tabs {
            self.tried.clicked.remove(&tab.identity);
            self.tried.failed.remove(&tab.kind);
        }
        self.choose()
    }

    /// A retry button in one of the reopened tabs.
    pub(super) fn offer_of_tab(&mut self) -> Option<Choice> {
        let offer =
            if self.agains.revisits.is_some() && self.may_come_back_to_faults() { self.offer()? } else { return None };
        self.agains.rounds += 1;
        Some(Choice::Again(offer))
    }

    /// Whether failed requests may be retried: by the end, a server that was briefly busy answers again.
    fn may_come_back_to_faults(&self) -> bool {
        let is_paused = self.window.engine.page().borrow().faults.is_paused();
        !is_paused && self.agains.may_be_patient() && self.agains.rounds < limits::RENDER_RETRY_ROUNDS_MAX
    }

    /// A visible retry button that came with an error.
    fn offer(&mut self) -> Option<Control> {
        let offers: Vec<Control> =
            self.sight.controls.iter().filter(|of| self.agains.has_come_with_fault(of)).cloned().collect();
        offers.into_iter().find(|control| self.is_shown(control.id))
    }

    /// Clicks it. The result counts for the act that failed.
    pub(super) fn try_again(&mut self, control: &Control) -> News {
        self.tried.clicked.insert(control.identity);
        let news = self.click(control);
        self.agains.all += 1;
        if news != News::None {
            // The list that failed may have further pages.
            self.tried.failed.retain(|_, (of, _)| *of != Rank::Turn);
        }
        news
    }

    /// Ticks a box of a list. If that alone brings nothing and a button for ticked rows appears, ticks all of them and clicks that. If a
    /// tick removes rows or links, as filters do, or tries to POST, the boxes are reset.
    pub(super) fn tick(&mut self, first: &Control) -> News {
        let shown = self.shown_before_ticks();
        let mut best = self.tick_all(std::slice::from_ref(first));
        if self.has_done_harm(first, &shown) || best != News::Links && !self.waits_for_more(first, &shown) {
            self.untick(first, &shown);
            return News::None;
        }
        if best != News::Links {
            for _ in 0..limits::RENDER_TICKS_MAX {
                let is_next = |of: &&Control| {
                    of.kind == first.kind && !of.traits.ticked && !self.tried.clicked.contains(&of.identity)
                };
                let next: Vec<Control> = self.sight.controls.iter().filter(is_next).cloned().collect();
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
        // The next selection replaces this one.
        let links = self.links();
        self.choices.chosen.extend(links.into_iter().filter(|link| !shown.links.contains(link)));
        best
    }

    fn shown_before_ticks(&mut self) -> PageBeforeTicks {
        let unsent = self.window.engine.page().borrow().unsent;
        let (links, disabled, posts) = (self.links(), ticks::disabled(self.window), self.posts());
        PageBeforeTicks { controls: Rc::clone(&self.sight.controls), links, disabled, unsent, posts }
    }

    /// How many forms scripts tried to POST.
    fn posts(&mut self) -> usize {
        self.window.navigations().iter().filter(|gone| gone.method != "GET").count()
    }

    /// Whether rows or links disappeared, or a script tried to POST, since boxes were ticked.
    fn has_done_harm(&mut self, first: &Control, shown: &PageBeforeTicks) -> bool {
        let is_unsent = self.window.engine.page().borrow().unsent > shown.unsent;
        is_unsent || self.posts() > shown.posts || !self.is_all_there(first, shown)
    }

    /// Whether all former rows and links are still there.
    fn is_all_there(&mut self, first: &Control, shown: &PageBeforeTicks) -> bool {
        self.look_around();
        let now: HashSet<u64> = self.sight.controls.iter().map(|of| of.identity).collect();
        let links = self.links();
        let is_list = |kind: &str| shown.controls.iter().filter(|of| of.kind == kind).count() >= LIST_MIN;
        // Abandoned kinds are no longer among the controls found.
        let is_found = |of: &Control| is_list(&of.kind) && !self.is_given_up(&of.kind, Rank::Row);
        let is_row = |of: &&Control| of.rank == Rank::Tick || of.rank == Rank::Row && is_found(of);
        let stays = |of: &Control| now.contains(&of.identity) || of.identity == first.identity;
        shown.controls.iter().filter(is_row).all(stays)
            && shown.links.iter().all(|link| links.contains(link) || self.choices.chosen.contains(link))
    }

    /// Whether something outside the rows acts on ticked rows: by its label, or because it was disabled before.
    fn waits_for_more(&mut self, first: &Control, shown: &PageBeforeTicks) -> bool {
        let likes = |kind: &str| self.sight.controls.iter().filter(|of| of.kind == kind).count();
        let waits = |of: &&Control| {
            let has_words = of.gets || says(COPY, &of.words.to_lowercase(), true);
            let is_outside =
                of.row.is_empty() && of.view.is_none() && likes(&of.kind) < LIST_MIN && of.kind != first.kind;
            is_outside
                && of.rank != Rank::Tick
                && (has_words || of.rank == Rank::Row && shown.disabled.contains(&of.id))
        };
        let waiting: Vec<NodeId> = self.sight.controls.iter().filter(waits).map(|of| of.id).collect();
        waiting.into_iter().any(|id| self.is_shown(id))
    }

    /// Gives up a kind of boxes, and restores the page to the state before the first was ticked.
    fn untick(&mut self, first: &Control, shown: &PageBeforeTicks) {
        self.tried.failed.insert(first.kind.clone(), (Rank::Tick, PATIENCE_WITH_PAID));
        self.budget.tries = self.budget.tries.saturating_sub(1);
        let was_ticked: HashSet<u64> =
            shown.controls.iter().filter(|of| of.traits.ticked).map(|of| of.identity).collect();
        for _ in 0..limits::RENDER_TICKS_MAX {
            self.look_around();
            let is_ours =
                |of: &&Control| of.traits.ticked && of.rank == Rank::Tick && !was_ticked.contains(&of.identity);
            let mut ours: Vec<Control> = self.sight.controls.iter().filter(is_ours).cloned().collect();
            ours.retain(|of| shown.controls.iter().any(|old| old.identity == of.identity));
            if ours.is_empty() || !self.set_boxes(&ours, false).0 {
                break;
            }
        }
        let is_left = self
            .sight
            .controls
            .iter()
            .any(|of| of.traits.ticked && of.rank == Rank::Tick && !was_ticked.contains(&of.identity));
        if !is_left && self.is_all_there(first, shown) {
            return;
        }
        let lists = |of: &&Control| matches!(of.rank, Rank::Row | Rank::Tick);
        let siblings: HashSet<u64> = shown.controls.iter().filter(lists).map(|of| of.identity).collect();
        let address = self.address();
        self.finds_back(&Level::of(address, &first.kind, siblings, &shown.controls));
        if !self.is_all_there(first, shown) {
            // It is unknown which rows the lost links were in.
            self.frontier.loses([0]);
            *self.trail.lost.entry(first.kind.clone()).or_default() += 1;
        }
    }

    /// Ticks the boxes that are still there: a list may be redrawn at each tick.
    fn tick_all(&mut self, boxes: &[Control]) -> News {
        self.set_boxes(boxes, true).1
    }

    /// Sets boxes as long as nothing is posted. Returns whether one of them changed, and the result.
    fn set_boxes(&mut self, boxes: &[Control], ticked: bool) -> (bool, News) {
        let mut set = Vec::new();
        let words = boxes.first().map(|one| one.words.as_str()).unwrap_or_default();
        self.tried.pressed = boxes.first().cloned();
        self.window.engine.page().borrow_mut().sends_gets_only = true;
        let news = self.act(&format!("{} {words}", if ticked { "tick" } else { "untick" }), |window| {
            set.extend(boxes.iter().filter(|one| window.set_box(one.id, ticked)).map(|one| one.identity));
        });
        self.window.engine.page().borrow_mut().sends_gets_only = self.turns.only;
        self.look_around();
        self.tried.pressed = None;
        let is_set = !set.is_empty();
        self.tried.clicked.extend(set);
        // A box that cannot be ticked is not tried again.
        self.tried.clicked.extend(boxes.first().map(|one| one.identity));
        (is_set, news)
    }
}

/// The name of a retry button, independent of the rest of its kind.
fn name_of(control: &Control) -> u64 {
    xxh3_64(format!("{} {}", control.kind, control.words).as_bytes())
}

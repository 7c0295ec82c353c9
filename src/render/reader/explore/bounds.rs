//! When the reader stops, what budget it gains for what it finds, and which kinds of controls it gives up.

use std::collections::{HashMap, HashSet};

use super::super::controls::{Control, Rank};
use super::super::shown::News;
use super::Explorer;
use super::frontier::says_of;
use crate::cost::{self, Of};
use crate::engine::jobs;
use crate::wire::{Bound, Spent};
use crate::{confine, limits};

/// How many consecutive failures a useful kind may have, and one that never was.
pub(super) const PATIENCE_WITH_PAID: u32 = 8;
pub(super) const PATIENCE: u32 = 2;

/// How many consecutive pages may show something else but nothing new.
const PATIENCE_WITH_TURNS: u32 = 3;

/// How many labels that recur in each row may be tried per kind before the kind is judged like any other.
const LABELS_OF_KIND: u32 = 8;

/// The remaining budget of the page.
pub(super) struct Budget {
    /// Futile acts left.
    pub tries: u32,
    pub acts: u32,
    /// CPU time at which no further act starts.
    until_us: u64,
    /// Acts since the last one that brought links.
    pub idle: u32,
}

impl Budget {
    pub fn of(tries: u32) -> Self {
        Self { tries, acts: 0, until_us: limits::RENDER_EXPLORE_CPU_US, idle: 0 }
    }

    /// An act was futile.
    pub fn lose_try(&mut self) {
        self.tries = self.tries.saturating_sub(1);
    }
}

/// What was clicked, and which kinds were useful.
#[derive(Default)]
pub(super) struct Tried {
    pub clicked: HashSet<u64>,
    /// Clicks by kind.
    pub presses: HashMap<String, u32>,
    /// The control being clicked, if it is a row or a tab.
    pub pressed: Option<Control>,
    /// By kind: consecutive failures, and its purpose.
    pub failed: HashMap<String, (Rank, u32)>,
    pub paid: HashSet<String>,
    /// Kinds whose URLs lead nowhere, so that only a click may work.
    pub by_click: HashSet<String>,
    /// Kinds of controls without text for which scripts tried to POST.
    pub harmful: HashSet<String>,
    called: Called,
}

impl Tried {
    /// Whether this label has failed too often, whatever its kind.
    pub fn is_called_in_vain(&self, kind: &str, text: &str) -> bool {
        let says = says_of(kind, text);
        let patience = match self.called.paid.contains(&says) {
            true => PATIENCE_WITH_PAID,
            false if self.paid.contains(kind) => 2 * PATIENCE,
            false => PATIENCE,
        };
        self.called.vain.get(&says).is_some_and(|vain| *vain >= patience)
    }

    /// Whether it is a copy of a clicked control ("recently viewed"), of a kind whose copies bring nothing.
    pub fn is_vain_copy(&self, kind: &str, now: u64) -> bool {
        let is_vain = |copies: &Option<u32>| copies.is_some_and(|vain| vain >= PATIENCE);
        self.called.copies.get(kind).is_some_and(is_vain) && self.called.pressed.contains(&now)
    }

    /// Allows these to be clicked again.
    pub fn forget(&mut self, identities: &[u64]) {
        for identity in identities {
            self.clicked.remove(identity);
        }
    }
}

/// Labels that recur in each row, such as menu entries: each is judged by itself.
#[derive(Default)]
pub(super) struct Called {
    vain: HashMap<u64, u32>,
    paid: HashSet<u64>,
    of_kinds: HashMap<String, u32>,
    /// Clicked controls by their current hash, and futile clicks on copies by kind; `None` if one was useful.
    pressed: HashSet<u64>,
    copies: HashMap<String, Option<u32>>,
}

impl Explorer<'_> {
    fn judge_copy(&mut self, control: &Control, news: News) {
        // A label that many controls have does not mark a copy.
        let same = self.sight.controls.iter().filter(|of| of.now == control.now).take(3).count();
        if self.tried.called.pressed.insert(control.now) || same > 2 {
            return;
        }
        let copies = self.tried.called.copies.entry(control.kind.clone()).or_insert(Some(0));
        *copies = copies.filter(|_| news != News::Links).map(|vain| vain + u32::from(news == News::None));
    }

    /// Records the result for a label that recurs in each row; true if it does not count for the kind.
    fn judge_called(&mut self, control: &Control, news: News) -> bool {
        let says = says_of(&control.kind, &control.text);
        if control.text.is_empty() || !self.frontier.is_common(says) {
            return false;
        }
        match news {
            News::None => {
                let vain = self.tried.called.vain.entry(says).or_default();
                *vain += 1;
                let many = self.tried.called.of_kinds.entry(control.kind.clone()).or_default();
                *many += u32::from(*vain == 1);
                *many <= LABELS_OF_KIND
            }
            News::Rows => {
                if let Some(vain) = self.tried.called.vain.get_mut(&says) {
                    *vain = vain.saturating_sub(1);
                }
                false
            }
            News::Links => {
                self.tried.called.vain.remove(&says);
                self.tried.called.paid.insert(says);
                false
            }
        }
    }

    /// The limit that is reached, if any.
    pub(super) fn bound(&mut self) -> Option<Bound> {
        match self.window.engine.spent() {
            None => {}
            Some(Spent::Panicked) => return Some(Bound::Broken),
            Some(_) => return Some(Bound::Engine),
        }
        if self.book.is_full() {
            return Some(Bound::Links);
        }
        if self.budget.idle >= limits::RENDER_ACTS_MAX {
            return Some(Bound::Acts);
        }
        if self.window.engine.with(|context| jobs::has_asked_too_often(context)) == Some(true) {
            return Some(Bound::Requests);
        }
        cost::cpu_us(Of::Thread).is_ok_and(|used| used >= self.budget.until_us).then_some(Bound::Cpu)
    }

    /// After new links the search may go on: refills instructions and CPU time, up to the maximum of a page.
    pub(super) fn earn(&mut self) {
        self.window.engine.with(|context| jobs::allow_requests(context));
        let Ok(used) = cost::cpu_us(Of::Thread) else { return };
        let until = (used + limits::RENDER_EXPLORE_GAIN_US).min(limits::RENDER_EXPLORE_CPU_MAX_US);
        // After its last act a page still needs time to send its outcome.
        let room = limits::RENDER_CPU_SECONDS_MAX.saturating_sub(limits::RENDER_EXPLORE_CPU_US / 1_000_000);
        let seconds = until.saturating_sub(used).div_ceil(1_000_000) + room;
        if until > used && (until <= self.budget.until_us || confine::extend_cpu_time(seconds)) {
            self.budget.until_us = self.budget.until_us.max(until);
            self.window.engine.refill();
        }
    }

    /// Whether this kind has failed too often to be tried again.
    pub(super) fn is_given_up(&self, kind: &str, rank: Rank) -> bool {
        let patience = match rank {
            // If the first state is in the middle of a list, the pages before it are reached only after turning back through all others.
            Rank::Back if self.turns.starts_inside => {
                let turned = u32::try_from(self.trail.path.len()).unwrap_or(u32::MAX);
                turned.saturating_add(self.turns.vain).saturating_add(1)
            }
            Rank::Turn => PATIENCE_WITH_TURNS,
            Rank::Back | Rank::Close => 1,
            _ if self.tried.paid.contains(kind) || self.frontier.depth_of_tabs(kind).is_some() => PATIENCE_WITH_PAID,
            _ => PATIENCE,
        };
        rank == Rank::Row && self.trail.given_up.contains(kind)
            || self.tried.failed.get(kind).is_some_and(|(_, failed)| *failed >= patience)
    }

    /// Records whether a control's kind is useful. A control clicked `again` is useful for what it leads to.
    pub(super) fn judge(&mut self, control: &Control, rank: Rank, news: News, again: bool) {
        let news = if again { news.max(News::Rows) } else { news };
        if rank == Rank::Row {
            self.judge_copy(control, news);
        }
        if rank == Rank::Row && self.judge_called(control, news) {
            self.budget.lose_try();
            return;
        }
        self.judge_kind(&control.kind, rank, news);
    }

    pub(super) fn judge_kind(&mut self, kind: &str, rank: Rank, news: News) {
        match news {
            News::None => {
                self.budget.lose_try();
                // A page or a day in the middle may be empty, or repeat others. If nothing has changed, that was the end.
                let by = if rank == Rank::Turn && !self.turns.has_turned { PATIENCE_WITH_TURNS } else { 1 };
                self.tried.failed.entry(kind.to_owned()).or_insert((rank, 0)).1 += by;
            }
            // The current page's number and the open tab bring nothing, but others of their kind do.
            News::Rows if matches!(rank, Rank::Number | Rank::Tab) => {
                self.tried.failed.remove(kind);
            }
            // Showing other rows is useful, though not always.
            News::Rows => {
                if let Some((_, failed)) = self.tried.failed.get_mut(kind).filter(|_| rank == Rank::Row) {
                    *failed = failed.saturating_sub(1);
                }
            }
            News::Links => {
                self.tried.failed.remove(kind);
                self.tried.paid.insert(kind.to_owned());
            }
        }
        // The result of a tab, a page number or a view may have a "next" of its own.
        if (news != News::None || self.lists.are_tabs(kind)) && rank != Rank::Turn {
            self.tried.failed.retain(|_, (of, _)| *of != Rank::Turn);
        }
    }
}

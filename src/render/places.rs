//! Decides whose page runs next: a fixed number of pages at a time over all sites, few of them of one site. A site with no running page
//! goes before one that has some.
//!
//! A page at a slow host spends most of its time waiting for responses, and would make the pages of all other sites wait too. This module
//! starts nothing and knows no process.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// The slots, shared by all sites of a process.
pub(super) struct Places {
    all: usize,
    per_site: usize,
    state: Mutex<SlotTable>,
}

#[derive(Default)]
struct SlotTable {
    /// Slots taken by each site; sites without any are not in the map.
    taken: HashMap<Box<str>, usize>,
    /// In the order of their requests.
    waiting: VecDeque<(Box<str>, oneshot::Sender<Slot>)>,
}

/// One slot, held until it is dropped.
pub(super) struct Slot {
    places: Arc<Places>,
    site: Box<str>,
}

impl Places {
    /// `all` slots, of which one site gets at most `per_site`. It gets a second one only while as many slots as it cannot have itself
    /// stay free for others.
    pub(super) fn new(all: usize, per_site: usize) -> Self {
        Self { all: all.max(1), per_site: per_site.max(1), state: Mutex::default() }
    }

    /// Waits for a slot.
    pub(super) async fn take(self: &Arc<Self>, site: &str) -> Option<Slot> {
        let (sender, receiver) = oneshot::channel();
        self.state().waiting.push_back((site.into(), sender));
        self.give();
        // The sender stays in the queue until it has sent.
        receiver.await.ok()
    }

    /// Slots taken.
    pub(super) fn taken(&self) -> usize {
        self.state().taken()
    }

    /// Gives free slots to those who wait.
    fn give(self: &Arc<Self>) {
        loop {
            let Some((site, sender)) = self.state().next(self.all, self.per_site) else { return };
            // If the receiver is gone, the slot is dropped, which passes it to the next one.
            drop(sender.send(Slot { places: Arc::clone(self), site }));
        }
    }

    fn state(&self) -> MutexGuard<'_, SlotTable> {
        // Counts stay usable after a panic elsewhere.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SlotTable {
    fn taken(&self) -> usize {
        self.taken.values().sum()
    }

    /// Who gets the next slot, which then counts as taken: the first in the queue among the eligible sites with the fewest slots.
    fn next(&mut self, all: usize, per_site: usize) -> Option<(Box<str>, oneshot::Sender<Slot>)> {
        self.waiting.retain(|(_, sender)| !sender.is_closed());
        let free = all.saturating_sub(self.taken());
        let of = |site: &str| self.taken.get(site).copied().unwrap_or_default();
        let may = |site: &str| match of(site) {
            0 => free > 0,
            own => own < per_site && free > all.saturating_sub(per_site),
        };
        let there = self.waiting.iter().enumerate().filter(|(_, (site, _))| may(site));
        // The first among equals.
        let (first, _) = there.min_by_key(|(_, (site, _))| of(site))?;
        let (site, sender) = self.waiting.remove(first)?;
        *self.taken.entry(site.clone()).or_default() += 1;
        Some((site, sender))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        {
            let mut state = self.places.state();
            let own = state.taken.get_mut(&self.site).map_or(0, |own| {
                *own = own.saturating_sub(1);
                *own
            });
            if own == 0 {
                state.taken.remove(&self.site);
            }
        }
        self.places.give();
    }
}

#[cfg(test)]
mod tests;

//! What is known of one class of a site's pages: renders that nothing was learned from yet, endpoints with how often they were borne out,
//! and when a render is due again that checks them.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use url::Url;

use super::endpoint::Difference;
use super::written::Written;
use super::{Endpoint, Observation};
use crate::limits;

/// Visits by an endpoint before the first render that checks it.
const CHECKED_OF_FIRST: u32 = 10;

/// An endpoint in use.
#[derive(Clone, Debug)]
struct InUse {
    endpoint: Arc<Endpoint>,
    /// It stands in the rule file, and is never forgotten.
    is_pinned: bool,
    /// A pinned one that differs waits until a render bears it out again.
    is_out: bool,
    /// Pages in a row whose data were gone.
    gone: u32,
    count: Counts,
}

/// What an endpoint has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Renders that bore it out, those that it was learned from among them.
    pub proven: u32,
    /// Pages that were visited by it.
    pub used: u64,
    /// One in so many visits is a render.
    pub every: u32,
    /// Visits until then.
    pub left: u32,
    /// Of the last render that was compared, in milliseconds since 1970.
    pub checked_ms: u64,
}

/// An endpoint as it is kept over restarts and shown to people.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptEndpoint {
    pub endpoint: Written,
    pub is_pinned: bool,
    pub is_out: bool,
    #[serde(flatten)]
    pub count: Counts,
}

/// What is kept of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptBook {
    pub endpoints: Vec<KeptEndpoint>,
    /// When and why one was given up last.
    pub difference: Option<(u64, String)>,
}

/// What a render has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Learned,
    Proven,
    /// The endpoint was given up.
    Differs(Difference),
}

/// What is known of one class.
#[derive(Debug, Default)]
pub struct Book {
    observations: VecDeque<Arc<Observation>>,
    endpoints: Vec<InUse>,
    difference: Option<(u64, String)>,
    /// Renders until learning is tried again, and how many the next wait will have.
    wait: u32,
    next_wait: u32,
    is_changed: bool,
}

impl Book {
    /// The endpoint to visit this page by; `None` where there is none, or where a render is due that checks it.
    /// Only one that needs the page's own markup, or only one that does not.
    pub fn plan(&mut self, page: &Url, needs_page: bool, may_render: bool) -> Option<Arc<Endpoint>> {
        let found = self.endpoints.iter_mut().find(|one| one.endpoint.covers(page))?;
        if found.is_out && !may_render && found.endpoint.needs_page() == needs_page {
            // No render will ever bear it out: it is tried again itself.
            found.count.left = found.count.left.saturating_sub(1);
            found.is_out = found.count.left > 0;
        }
        if found.is_out || found.endpoint.needs_page() != needs_page || (may_render && found.count.left == 0) {
            return None;
        }
        found.count.left = found.count.left.saturating_sub(1);
        found.count.used = found.count.used.saturating_add(1);
        self.is_changed = true;
        Some(Arc::clone(&found.endpoint))
    }

    /// A visit by the endpoint has ended: `is_gone` where the data were not there, as those of a page that was taken away are not. True
    /// where that was so too often in a row to be believed.
    pub fn ended(&mut self, page: &Url, is_gone: bool) -> bool {
        let Some(found) = self.endpoints.iter_mut().find(|one| one.endpoint.covers(page)) else { return false };
        found.gone = if is_gone { found.gone + 1 } else { 0 };
        found.gone >= limits::SHORTCUT_GONE_MAX
    }

    /// The endpoint that a render of this page is compared with.
    #[must_use]
    pub fn to_check(&self, page: &Url) -> Option<Arc<Endpoint>> {
        self.endpoints.iter().find(|one| one.endpoint.covers(page)).map(|one| Arc::clone(&one.endpoint))
    }

    /// Whether a render of this page is worth observing.
    #[must_use]
    pub fn wants(&self, page: &Url) -> bool {
        let has_room = self.endpoints.len() < limits::SHORTCUTS_PER_CLASS_MAX;
        self.to_check(page).is_some() || (has_room && self.wait as usize <= limits::SHORTCUT_OBSERVATIONS_MAX)
    }

    /// A render that is not observed has gone by.
    pub fn passes_by(&mut self) {
        self.wait = self.wait.saturating_sub(1);
    }

    /// A render was compared with the endpoint of its page.
    pub fn checked(
        &mut self,
        observation: Arc<Observation>,
        result: Result<(), Difference>,
        now_ms: u64,
    ) -> Option<Event> {
        let at = self.endpoints.iter().position(|one| one.endpoint.covers(&observation.page))?;
        match result {
            Ok(()) => {
                let found = self.endpoints.get_mut(at)?;
                Arc::make_mut(&mut found.endpoint).absorb(&observation);
                let every = found.count.every.max(CHECKED_OF_FIRST);
                // Only a check that was due makes the next one later.
                let every =
                    if found.count.left == 0 { (every * 2).min(limits::SHORTCUT_CHECKED_OF_MAX) } else { every };
                found.count = Counts {
                    proven: found.count.proven.saturating_add(1),
                    every,
                    left: every,
                    checked_ms: now_ms,
                    ..found.count
                };
                found.is_out = false;
                self.is_changed = true;
                Some(Event::Proven)
            }
            Err(difference) => {
                let event = self.differs(&observation.page.clone(), difference, now_ms);
                self.keep(observation);
                event
            }
        }
    }

    /// The endpoint of this page does not hold: it is forgotten, or waits where it is pinned.
    pub fn differs(&mut self, page: &Url, difference: Difference, now_ms: u64) -> Option<Event> {
        let at = self.endpoints.iter().position(|one| one.endpoint.covers(page))?;
        let found = self.endpoints.get_mut(at)?;
        found.count.checked_ms = now_ms;
        (found.count.every, found.count.left, found.gone) = (CHECKED_OF_FIRST, CHECKED_OF_FIRST, 0);
        if found.is_pinned {
            found.is_out = true;
        } else {
            self.endpoints.remove(at);
        }
        self.difference = Some((now_ms, difference.to_string()));
        // What it was learned from is of another shape.
        self.observations.clear();
        self.next_wait = (self.next_wait * 2).clamp(1, limits::SHORTCUT_RELEARN_MAX);
        self.wait = self.next_wait;
        self.is_changed = true;
        Some(Event::Differs(difference))
    }

    /// Takes up a render that no endpoint covers. Gives the sets of renders that something may be learned from, the largest first; none
    /// where it is too early.
    pub fn add(&mut self, observation: Arc<Observation>) -> Vec<Vec<Arc<Observation>>> {
        let newest = observation.page.clone();
        self.keep(observation);
        self.passes_by();
        if self.wait > 0 {
            return Vec::new();
        }
        let of = |fits: &dyn Fn(&Url) -> bool| -> Vec<Arc<Observation>> {
            self.observations.iter().filter(|one| fits(&one.page)).cloned().collect()
        };
        let mut sets = vec![
            of(&|_| true),
            of(&|page| page.path_segments().map(Iterator::count) == newest.path_segments().map(Iterator::count)),
            of(&|page| skeleton(page) == skeleton(&newest)),
            of(&|page| *page == newest),
        ];
        sets.dedup_by_key(|set| set.len());
        sets
    }

    /// What came of it.
    pub fn learned(&mut self, endpoint: Option<Endpoint>, now_ms: u64) -> Option<Event> {
        let Some(endpoint) = endpoint else {
            if self.observations.len() >= limits::SHORTCUT_OBSERVATIONS_MAX {
                self.next_wait = (self.next_wait * 2).clamp(1, limits::SHORTCUT_RELEARN_MAX);
                self.wait = self.next_wait;
            }
            return None;
        };
        // Another render has taught the same meanwhile.
        if self.endpoints.iter().any(|one| *one.endpoint == endpoint) {
            return None;
        }
        let before = self.observations.len();
        self.observations.retain(|one| !endpoint.covers(&one.page));
        let proven = u32::try_from(before - self.observations.len()).unwrap_or(u32::MAX);
        // One that holds for more pages takes the place of those that it was learned beside.
        let count = Counts { proven, every: CHECKED_OF_FIRST, left: CHECKED_OF_FIRST, checked_ms: now_ms, used: 0 };
        self.endpoints.push(InUse { endpoint: Arc::new(endpoint), is_pinned: false, is_out: false, gone: 0, count });
        self.endpoints.truncate(limits::SHORTCUTS_PER_CLASS_MAX);
        self.is_changed = true;
        Some(Event::Learned)
    }

    fn keep(&mut self, observation: Arc<Observation>) {
        self.observations.push_back(observation);
        let bytes = |all: &VecDeque<Arc<Observation>>| all.iter().map(|one| one.bytes()).sum::<usize>();
        while self.observations.len() > limits::SHORTCUT_OBSERVATIONS_MAX
            || bytes(&self.observations) > limits::SHORTCUT_OBSERVED_BYTES_MAX
        {
            self.observations.pop_front();
        }
    }

    /// The endpoint of the rule file goes before what is learned.
    pub fn pin(&mut self, endpoint: &Endpoint) {
        self.endpoints.retain(|one| !one.is_pinned);
        let count = Counts { every: CHECKED_OF_FIRST, left: CHECKED_OF_FIRST, ..Counts::default() };
        self.endpoints
            .insert(0, InUse { endpoint: Arc::new(endpoint.clone()), is_pinned: true, is_out: false, gone: 0, count });
    }

    /// Takes up what was kept; what cannot be read is learned anew.
    pub fn take_up(&mut self, kept: KeptBook) {
        self.difference = kept.difference;
        for KeptEndpoint { endpoint, is_pinned, is_out, count } in
            kept.endpoints.into_iter().take(limits::SHORTCUTS_PER_CLASS_MAX)
        {
            let Ok(endpoint) = endpoint.endpoint() else { continue };
            let pin = self.endpoints.iter_mut().find(|one| one.is_pinned && *one.endpoint == endpoint);
            match pin {
                Some(pin) => (pin.count, pin.is_out) = (count, is_out),
                None if !is_pinned => {
                    self.endpoints.push(InUse { endpoint: Arc::new(endpoint), is_pinned, is_out, gone: 0, count })
                }
                None => {}
            }
        }
    }

    /// What is to be kept.
    #[must_use]
    pub fn to_keep(&self) -> KeptBook {
        let endpoints = self.endpoints.iter().map(|one| KeptEndpoint {
            endpoint: Written::of(&one.endpoint),
            is_pinned: one.is_pinned,
            is_out: one.is_out,
            count: one.count,
        });
        KeptBook { endpoints: endpoints.collect(), difference: self.difference.clone() }
    }

    /// Whether something changed since this was last asked.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.is_changed)
    }
}

/// A path with its digits taken out.
fn skeleton(page: &Url) -> String {
    page.path().chars().filter(|c| !c.is_ascii_digit()).collect()
}

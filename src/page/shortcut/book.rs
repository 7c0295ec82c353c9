//! The shortcut state of one class of a site's pages: renders from which nothing was learned yet, endpoints with how
//! often they were confirmed, and when a render is due that checks them.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use url::Url;

use super::endpoint::Difference;
pub use super::kept::{Counts, KeptBook, KeptEndpoint};
use super::rests::{Rest, Rests};
use super::visits::Visits;
use super::written::Written;
use super::{Endpoint, Exchange, Observation};
use crate::limits;

/// Visits with an endpoint before the first render that checks it.
const CHECKED_OF_FIRST: u32 = 10;

/// An endpoint in use.
#[derive(Clone, Debug)]
struct InUse {
    endpoint: Arc<Endpoint>,
    /// It is defined in the rule file, and is never removed.
    is_pinned: bool,
    /// A pinned endpoint that differs is suspended until a render confirms it again, or for some visits.
    is_out: bool,
    /// Consecutive pages whose data were gone; for a pinned endpoint, for which it failed.
    failed: u32,
    /// Pages whose data were gone. This is doubtful if the endpoint fails for others, too.
    doubted: Vec<String>,
    /// For a pinned endpoint: pages for which it failed or that were visited while it was suspended. They are
    /// revisited once it works.
    missed: Visits,
    /// Hashes of pages for which it failed: none is revisited twice.
    blamed: HashSet<u64>,
    /// The end of a crawl has already retried a suspended endpoint.
    is_tried: bool,
    count: Counts,
    visits: Visits,
    /// Pages for which the end of a crawl requested a render that checks it.
    closing: Vec<String>,
    /// A render requested by the end of a crawl had nothing to compare it with.
    is_closed: bool,
}

impl InUse {
    fn of(endpoint: Endpoint, is_pinned: bool) -> Self {
        Self {
            endpoint: Arc::new(endpoint),
            is_pinned,
            is_out: false,
            failed: 0,
            doubted: Vec::new(),
            missed: Visits::default(),
            blamed: HashSet::new(),
            is_tried: false,
            count: Counts::default(),
            visits: Visits::default(),
            closing: Vec::new(),
            is_closed: false,
        }
    }

    /// Puts it back into use; one more failure suspends it again.
    fn try_again(&mut self) {
        self.is_out = false;
        self.failed = limits::SHORTCUT_GONE_MAX.saturating_sub(1);
    }

    /// Records a failure for this page, which is revisited once.
    fn blame(&mut self, page: &str, now_ms: u64) {
        let has_room = self.blamed.len() < limits::SHORTCUT_AGAIN_MAX;
        if has_room && self.blamed.insert(xxhash_rust::xxh3::xxh3_64(page.as_bytes())) {
            self.missed.add(page, false, now_ms);
        }
    }

    /// Records that it works. Returns the pages that it missed, except this one.
    fn works(&mut self, page: &Url) -> Vec<String> {
        self.missed.forget(page.as_str());
        (self.is_out, self.is_tried, self.failed) = (false, false, 0);
        self.doubted.clear();
        self.missed.take(false)
    }

    /// Whether a checking render of this page is due.
    fn is_due(&self, page: &Url) -> bool {
        self.count.left == 0 || self.closing.iter().any(|asked| *asked == *page.as_str())
    }
}

/// The effect of a render.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Learned,
    Proven,
    /// The endpoint was dropped; a pinned one was suspended.
    Differs(Difference),
    /// A pinned one failed for one page, which is revisited.
    Failed(Difference),
}

/// The shortcut state of one class.
#[derive(Debug, Default)]
pub struct ClassShortcuts {
    /// Only pinned endpoints are used.
    is_closed: bool,
    observations: VecDeque<Arc<Observation>>,
    endpoints: Vec<InUse>,
    difference: Option<(u64, String)>,
    /// Pages for which an endpoint was wrong, or may have been.
    again: Vec<String>,
    rests: Rests,
    /// Hashes of pages that a render left with more to show, and that were queued again for their endpoint: each once
    /// per crawl.
    cut: HashSet<u64>,
    /// How often the end of a crawl requested renders.
    closings: u32,
    /// Renders until learning is tried again, and the length of the next wait.
    wait: u32,
    next_wait: u32,
    is_changed: bool,
}

impl ClassShortcuts {
    /// A state that learns nothing.
    #[must_use]
    pub fn closed() -> Self {
        Self { is_closed: true, ..Self::default() }
    }

    /// The endpoint for visiting this page; `None` if there is none, or if a checking render is due. `needs_page`
    /// selects endpoints that do, or do not, need the page's own markup.
    pub fn plan(&mut self, page: &Url, needs_page: bool, may_render: bool, now_ms: u64) -> Option<Arc<Endpoint>> {
        let found = self.endpoints.iter_mut().find(|one| one.endpoint.covers(page))?;
        if found.endpoint.needs_page() != needs_page {
            return None;
        }
        self.is_changed = true;
        if found.is_out {
            // Perhaps no render will ever confirm it: after a while it is retried directly.
            found.count.left = found.count.left.saturating_sub(1);
            if found.count.left > 0 {
                found.missed.add(page.as_str(), false, now_ms);
                return None;
            }
            found.try_again();
        }
        if may_render && found.is_due(page) {
            return None;
        }
        found.count.left = found.count.left.saturating_sub(1);
        found.count.used = found.count.used.saturating_add(1);
        Some(Arc::clone(&found.endpoint))
    }

    /// Whether a render of this page that checks its endpoint is due.
    #[must_use]
    pub fn is_due(&self, page: &Url) -> bool {
        let found = self.endpoints.iter().find(|one| one.endpoint.covers(page));
        found.is_some_and(|found| !found.is_out && found.is_due(page))
    }

    /// True if there is no endpoint, neither learned nor pinned.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.endpoints.is_empty()
    }

    /// No render of this page had anything to compare with the endpoint: a due check is postponed by as many visits.
    pub fn defer(&mut self, page: &Url) {
        let Some(found) = self.endpoints.iter_mut().find(|one| one.endpoint.covers(page)) else { return };
        if found.is_due(page) {
            let every = found.count.every.max(CHECKED_OF_FIRST);
            // The author of a pin knows of pages that no render shows.
            let every = if found.is_pinned { (every * 2).min(limits::SHORTCUT_CHECKED_OF_MAX) } else { every };
            (found.count.every, found.count.left) = (every, every);
            let asked = found.closing.len();
            found.closing.retain(|asked| *asked != *page.as_str());
            found.is_closed |= found.closing.len() < asked;
            self.is_changed = true;
        }
    }

    /// The endpoint for this page in the same visit after [`Self::defer`]; `None` if it has just failed for it.
    pub fn in_place_of_render(&mut self, page: &Url) -> Option<Arc<Endpoint>> {
        let found = self.endpoints.iter_mut().find(|one| one.endpoint.covers(page))?;
        let has_failed = found.missed.has(page.as_str()) || found.doubted.iter().any(|known| *known == *page.as_str());
        if found.is_out || has_failed {
            return None;
        }
        found.count.used = found.count.used.saturating_add(1);
        self.is_changed = true;
        Some(Arc::clone(&found.endpoint))
    }

    /// Records that the data of a page were missing, as for a removed page. True if this happened too often in a row
    /// to be plausible.
    pub fn gone(&mut self, page: &Url) -> bool {
        let Some(found) = self.endpoints.iter_mut().find(|one| one.endpoint.covers(page)) else { return false };
        found.failed += 1;
        if !found.doubted.iter().any(|known| *known == *page.as_str()) {
            found.doubted.push(page.to_string());
        }
        found.failed >= limits::SHORTCUT_GONE_MAX
    }

    /// Records a visit with the endpoint, started at this time; `is_end` if the page is the last of its list.
    pub fn worked(&mut self, page: &Url, is_end: bool, at_ms: u64) {
        if let Some(found) = self.endpoints.iter_mut().find(|one| one.endpoint.covers(page)) {
            let missed = found.works(page);
            found.visits.add(page.as_str(), is_end, at_ms);
            self.is_changed = true;
            self.ask_again(missed, Some(page));
        }
    }

    /// Whether enough renders have confirmed that lists end where this page's endpoint ends them.
    #[must_use]
    pub fn knows_ends(&self, page: &Url) -> bool {
        let found = self.endpoints.iter().find(|one| one.endpoint.covers(page));
        found.is_some_and(|found| found.count.ends >= limits::SHORTCUT_ENDS_PROVEN)
    }

    /// Pages to revisit: see [`Self::queued`].
    #[must_use]
    pub fn again(&self) -> &[String] {
        &self.again
    }

    /// Records that these are in the queue now.
    pub fn queued(&mut self, pages: &[String]) {
        self.again.retain(|page| !pages.contains(page));
        self.is_changed = true;
    }

    /// Called when nothing else is left to visit. For each endpoint with some pages of a host since its last
    /// confirmation there, the last of these is rendered, once, if rendering is allowed. Pages for which a pinned
    /// endpoint failed are revisited. True if there are any.
    pub fn close(&mut self, may_render: bool) -> bool {
        let mut last = Vec::new();
        if self.closings >= limits::SHORTCUT_CLOSINGS_MAX {
            return false;
        }
        for one in &mut self.endpoints {
            match one.is_out {
                false => last.extend(one.missed.take(false)),
                // One page is enough to see whether it works again; the others follow then.
                true => {
                    let page = one.missed.unproven(1).first().map(|page| (*page).to_owned());
                    let Some(page) = page.filter(|_| !one.is_tried) else { continue };
                    one.missed.forget(&page);
                    last.push(page);
                    one.is_tried = true;
                    one.try_again();
                }
            }
        }
        let may_check = |one: &&mut InUse| may_render && !one.is_out && !one.is_closed && one.closing.is_empty();
        for one in self.endpoints.iter_mut().filter(may_check) {
            one.closing = one.visits.unproven(limits::SHORTCUT_CLOSING_MIN).into_iter().map(str::to_owned).collect();
            last.extend(one.closing.iter().cloned());
        }
        let has_any = !last.is_empty();
        self.closings += u32::from(has_any);
        self.ask_again(last, None);
        has_any
    }

    /// Records that a render left a page with more to show than its limits allowed. True if an endpoint that can
    /// paginate the page's list continues in another visit.
    pub fn goes_on(&mut self, page: &Url) -> bool {
        let turns = |one: &InUse| one.endpoint.covers(page) && !one.is_out && one.endpoint.turning.is_some();
        let hash = xxhash_rust::xxh3::xxh3_64(page.as_str().as_bytes());
        let is_new = self.cut.len() < limits::SHORTCUT_AGAIN_MAX && !self.cut.contains(&hash);
        is_new
            && self.endpoints.iter().any(turns)
            && self.ask_again(vec![page.to_string()], None)
            && self.cut.insert(hash)
    }

    /// Records that a visit with an endpoint ended before its page's data did. Another visit continues, from the
    /// start if the endpoint was dropped meanwhile. False if too many are waiting.
    pub fn leave(&mut self, page: &Url, rest: Rest) -> bool {
        let is_in_use = self.endpoints.iter().any(|one| one.endpoint.asks_as(&rest.by));
        let has_room = !is_in_use || self.rests.has_room(page.as_str(), &rest);
        if !has_room || !self.ask_again(vec![page.to_string()], None) {
            return false;
        }
        if is_in_use {
            self.rests.keep(page.as_str(), rest);
        }
        true
    }

    /// The visit that should have continued got nothing: the next one continues.
    pub fn put_back(&mut self, page: &Url, rest: Rest) {
        self.rests.keep(page.as_str(), rest);
    }

    /// Where the previous visit left this page, for its current endpoint.
    pub fn take_rest(&mut self, page: &Url, by: &Endpoint) -> Option<Rest> {
        self.rests.take(page.as_str(), by)
    }

    /// True if all of them are queued now.
    fn ask_again(&mut self, pages: Vec<String>, but: Option<&Url>) -> bool {
        let mut do_wait = true;
        for page in pages {
            let is_new = but.is_none_or(|but| *but.as_str() != *page) && !self.again.contains(&page);
            if is_new && self.again.len() >= limits::SHORTCUT_AGAIN_MAX {
                do_wait = false;
            } else if is_new {
                self.again.push(page);
                self.is_changed = true;
            }
        }
        do_wait
    }

    /// Whether renders got JSON from an address like this, ignoring its digits and its query.
    #[must_use]
    pub fn has_data_at(&self, address: &Url) -> bool {
        let is_like = |one: &Exchange| {
            let is_json = one.status == 200 && one.answer.trim_start().starts_with(['{', '[']);
            is_json
                && Url::parse(&one.url)
                    .is_ok_and(|url| url.origin() == address.origin() && skeleton(&url) == skeleton(address))
        };
        self.observations.iter().flat_map(|one| &one.exchanges).any(is_like)
    }

    /// The endpoint to compare a render of this page with.
    #[must_use]
    pub fn to_check(&self, page: &Url) -> Option<Arc<Endpoint>> {
        self.endpoints.iter().find(|one| one.endpoint.covers(page)).map(|one| Arc::clone(&one.endpoint))
    }

    /// Whether a render of this page should be observed.
    #[must_use]
    pub fn wants(&self, page: &Url) -> bool {
        let learned = self.endpoints.iter().filter(|one| !one.is_pinned).count();
        let has_room = !self.is_closed && learned < limits::SHORTCUTS_PER_CLASS_MAX;
        self.to_check(page).is_some() || (has_room && self.wait as usize <= limits::SHORTCUT_OBSERVATIONS_MAX)
    }

    /// Counts a render that is not observed.
    pub fn passes_by(&mut self) {
        self.wait = self.wait.saturating_sub(1);
    }

    /// Records the comparison of a render with the endpoint of its page.
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
                let is_end = Arc::make_mut(&mut found.endpoint).absorb(&observation);
                let is_due = found.is_due(&observation.page);
                found.visits.proven(observation.page.as_str(), u64::try_from(observation.now_ms).unwrap_or_default());
                let every = found.count.every.max(CHECKED_OF_FIRST);
                // Only a check that was due delays the next one.
                let every = if is_due { (every * 2).min(limits::SHORTCUT_CHECKED_OF_MAX) } else { every };
                found.count = Counts {
                    proven: found.count.proven.saturating_add(1),
                    every,
                    left: every,
                    checked_ms: now_ms,
                    ends: found.count.ends.saturating_add(u32::from(is_end)),
                    ..found.count
                };
                let missed = found.works(&observation.page);
                found.is_closed = false;
                let was_closing = found.closing.len();
                found.closing.retain(|asked| *asked != *observation.page.as_str());
                if found.closing.len() < was_closing {
                    // A service closes its history again after it found more of it.
                    self.closings = 0;
                }
                self.is_changed = true;
                self.ask_again(missed, Some(&observation.page));
                Some(Event::Proven)
            }
            Err(difference) => {
                // The render shows everything about this page.
                self.endpoints.get_mut(at)?.missed.forget(observation.page.as_str());
                let event = self.give_up(at, &observation.page, difference, true, now_ms);
                self.keep(observation);
                self.let_go(0);
                event
            }
        }
    }

    /// The endpoint of this page is wrong and is removed. A pinned one may have failed for this page alone, and is
    /// suspended if it fails too often in a row.
    pub fn differs(&mut self, page: &Url, difference: Difference, may_render: bool, now_ms: u64) -> Option<Event> {
        let at = self.endpoints.iter().position(|one| one.endpoint.covers(page))?;
        let found = self.endpoints.get_mut(at).filter(|found| found.is_pinned);
        // Unlike a render, this says nothing about earlier pages.
        let wrong_before = may_render && found.is_none();
        if let Some(found) = found {
            found.blame(page.as_str(), now_ms);
            found.failed += 1;
            self.is_changed = true;
            if found.failed < limits::SHORTCUT_GONE_MAX {
                return Some(Event::Failed(difference));
            }
        }
        self.give_up(at, page, difference, wrong_before, now_ms)
    }

    /// Removes an endpoint, or suspends a pinned one. If it was wrong before, pages visited since its last
    /// confirmation are revisited.
    fn give_up(
        &mut self,
        at: usize,
        page: &Url,
        difference: Difference,
        wrong_before: bool,
        now_ms: u64,
    ) -> Option<Event> {
        let found = self.endpoints.get_mut(at)?;
        found.count.checked_ms = now_ms;
        found.closing.clear();
        (found.count.every, found.count.left, found.count.ends, found.failed) =
            (CHECKED_OF_FIRST, CHECKED_OF_FIRST, 0, 0);
        let wrong = match wrong_before {
            true => found.visits.take(matches!(difference, Difference::EndsEarly(_))),
            false => Vec::new(),
        };
        if found.is_pinned {
            found.is_out = true;
            std::mem::take(&mut found.doubted).iter().for_each(|doubted| found.blame(doubted, now_ms));
        } else {
            self.endpoints.remove(at);
            self.rests.retain(self.endpoints.iter().map(|one| &one.endpoint));
        }
        self.ask_again(wrong, Some(page));
        self.difference = Some((now_ms, difference.to_string()));
        // They have another shape than the current pages.
        self.observations.clear();
        self.next_wait = (self.next_wait * 2).clamp(1, limits::SHORTCUT_RELEARN_MAX);
        self.wait = self.next_wait;
        self.is_changed = true;
        Some(Event::Differs(difference))
    }

    /// Adds a render that no endpoint covers. Returns the sets of renders to learn from, the largest first; empty if
    /// it is too early.
    pub fn add(&mut self, observation: Arc<Observation>) -> Vec<Vec<Arc<Observation>>> {
        let newest = observation.page.clone();
        self.keep(observation);
        self.passes_by();
        if self.wait > 0 || self.is_closed {
            self.let_go(0);
            return Vec::new();
        }
        let of = |fits: &dyn Fn(&Url) -> bool| -> Vec<Arc<Observation>> {
            self.observations.iter().filter(|one| fits(&one.page)).cloned().collect()
        };
        // Each is a subset of the one before it: equal lengths mean equal sets.
        let of_host = |page: &Url| page.origin() == newest.origin();
        let segments = |page: &Url| page.path_segments().map(Iterator::count);
        let mut sets = vec![
            of(&|_| true),
            of(&of_host),
            of(&|page| of_host(page) && segments(page) == segments(&newest)),
            of(&|page| of_host(page) && skeleton(page) == skeleton(&newest)),
            of(&|page| *page == newest),
        ];
        sets.dedup_by_key(|set| set.len());
        sets
    }

    /// Records the result of learning.
    pub fn learned(&mut self, endpoint: Option<Endpoint>, now_ms: u64) -> Option<Event> {
        let Some(endpoint) = endpoint else {
            let is_full = self.observations.len() >= limits::SHORTCUT_OBSERVATIONS_MAX;
            // A render above the size limit is tried once.
            if is_full || self.let_go(0) {
                self.next_wait = (self.next_wait * 2).clamp(1, limits::SHORTCUT_RELEARN_MAX);
                self.wait = self.next_wait;
            }
            return None;
        };
        // Another render led to the same endpoint meanwhile.
        if self.endpoints.iter().any(|one| *one.endpoint == endpoint) {
            return None;
        }
        let before = self.observations.len();
        self.observations.retain(|one| !endpoint.covers(&one.page));
        let proven = u32::try_from(before - self.observations.len()).unwrap_or(u32::MAX);
        // An endpoint that covers more pages replaces those that it was learned beside.
        let count =
            Counts { proven, every: CHECKED_OF_FIRST, left: CHECKED_OF_FIRST, checked_ms: now_ms, ..Counts::default() };
        self.endpoints.push(InUse { count, ..InUse::of(endpoint, false) });
        let pins = self.endpoints.iter().take_while(|one| one.is_pinned).count();
        let has_room = self.endpoints.len() <= pins + limits::SHORTCUTS_PER_CLASS_MAX;
        self.endpoints.truncate(pins + limits::SHORTCUTS_PER_CLASS_MAX);
        self.rests.retain(self.endpoints.iter().map(|one| &one.endpoint));
        self.is_changed = true;
        has_room.then_some(Event::Learned)
    }

    fn keep(&mut self, observation: Arc<Observation>) {
        self.observations.push_back(observation);
        self.let_go(1);
    }

    /// Drops the oldest renders until the limits are met, but keeps `least`. True if any were dropped.
    fn let_go(&mut self, least: usize) -> bool {
        let bytes = |all: &VecDeque<Arc<Observation>>| all.iter().map(|one| one.bytes()).sum::<usize>();
        let before = self.observations.len();
        while self.observations.len() > least
            && (self.observations.len() > limits::SHORTCUT_OBSERVATIONS_MAX
                || bytes(&self.observations) > limits::SHORTCUT_OBSERVED_BYTES_MAX)
        {
            self.observations.pop_front();
        }
        self.observations.len() < before
    }

    /// Adds an endpoint of the rule file. Pins come in file order, before learned ones.
    pub fn pin(&mut self, endpoint: &Endpoint) {
        let at = self.endpoints.iter().take_while(|one| one.is_pinned).count();
        let count = Counts { every: CHECKED_OF_FIRST, left: CHECKED_OF_FIRST, ..Counts::default() };
        self.endpoints.insert(at, InUse { count, ..InUse::of(endpoint.clone(), true) });
    }

    /// Restores the stored state; unreadable endpoints are learned again. Pages visited with a pin that the rule file
    /// has since corrected or removed are revisited.
    pub fn take_up(&mut self, kept: KeptBook) {
        self.difference = kept.difference;
        self.again = kept.again;
        self.again.truncate(limits::SHORTCUT_AGAIN_MAX);
        let room = limits::SHORTCUTS_PER_CLASS_MAX + limits::SHORTCUT_PINS_MAX;
        for KeptEndpoint { endpoint, is_pinned, is_out, count, mut visits, mut missed } in
            kept.endpoints.into_iter().take(room)
        {
            let Ok(endpoint) = endpoint.endpoint() else { continue };
            if let Some(pin) = self.endpoints.iter_mut().find(|one| one.is_pinned && *one.endpoint == endpoint) {
                if is_pinned {
                    (pin.count, pin.is_out) = (count, is_out);
                }
                // An endpoint that was learned and is pinned now is the same.
                (pin.visits, pin.missed) = (visits, missed);
                continue;
            }
            let is_kept = !is_pinned && !self.is_closed;
            if !is_kept || self.is_shadowed(&visits) {
                self.ask_again(visits.take(true), None);
                self.ask_again(missed.take(false), None);
            }
            if is_kept {
                self.endpoints.push(InUse { is_out, count, visits, ..InUse::of(endpoint, false) });
            }
        }
    }

    /// Whether some of its pages now belong to a pin.
    fn is_shadowed(&self, visits: &Visits) -> bool {
        let pins = self.endpoints.iter().filter(|one| one.is_pinned);
        let pages: Vec<Url> = visits.clone().take(true).iter().filter_map(|page| Url::parse(page).ok()).collect();
        pins.clone().any(|pin| pages.iter().any(|page| pin.endpoint.covers(page)))
    }

    /// The state to store.
    #[must_use]
    pub fn to_keep(&self) -> KeptBook {
        let endpoints = self.endpoints.iter().map(|one| KeptEndpoint {
            endpoint: Written::of(&one.endpoint),
            is_pinned: one.is_pinned,
            is_out: one.is_out,
            count: one.count,
            visits: one.visits.clone(),
            missed: one.missed.clone(),
        });
        KeptBook { endpoints: endpoints.collect(), difference: self.difference.clone(), again: self.again.clone() }
    }

    /// Whether something changed since the last call.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.is_changed)
    }
}

/// A path without its digits.
fn skeleton(page: &Url) -> String {
    page.path().chars().filter(|c| !c.is_ascii_digit()).collect()
}

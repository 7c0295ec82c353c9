//! What is known of one class of a site's pages: renders that nothing was learned from yet, endpoints with how often they were borne out,
//! and when a render is due again that checks them.

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

/// Visits by an endpoint before the first render that checks it.
const CHECKED_OF_FIRST: u32 = 10;

/// An endpoint in use.
#[derive(Clone, Debug)]
struct InUse {
    endpoint: Arc<Endpoint>,
    /// It stands in the rule file, and is never forgotten.
    is_pinned: bool,
    /// A pinned one that differs waits until a render bears it out again, or for some visits.
    is_out: bool,
    /// Pages in a row whose data were gone; of a pinned one, that it failed for.
    failed: u32,
    /// Those whose data were gone: they may not have been, where it fails for others, too.
    doubted: Vec<String>,
    /// Of a pinned one, pages that it has failed for or that were visited while it was out: to be visited again once it works.
    missed: Visits,
    /// Those that it has failed for, by their hashes: none is visited again twice.
    blamed: HashSet<u64>,
    /// The end of a crawl has tried whether one that is out works again.
    is_tried: bool,
    count: Counts,
    visits: Visits,
    /// Pages that the end of a crawl has asked for, for a render that checks it.
    closing: Vec<String>,
    /// A render that the end of a crawl has asked for has shown nothing to compare it with.
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

    /// It is in use again; one failure more puts it out.
    fn try_again(&mut self) {
        self.is_out = false;
        self.failed = limits::SHORTCUT_GONE_MAX.saturating_sub(1);
    }

    /// It has failed for this page, which is visited again once.
    fn blame(&mut self, page: &str, now_ms: u64) {
        let has_room = self.blamed.len() < limits::SHORTCUT_AGAIN_MAX;
        if has_room && self.blamed.insert(xxhash_rust::xxh3::xxh3_64(page.as_bytes())) {
            self.missed.add(page, false, now_ms);
        }
    }

    /// It works: what it has missed, but for this page.
    fn works(&mut self, page: &Url) -> Vec<String> {
        self.missed.forget(page.as_str());
        (self.is_out, self.is_tried, self.failed) = (false, false, 0);
        self.doubted.clear();
        self.missed.take(false)
    }

    /// Whether a render of this page is due.
    fn is_due(&self, page: &Url) -> bool {
        self.count.left == 0 || self.closing.iter().any(|asked| *asked == *page.as_str())
    }
}

/// What a render has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Learned,
    Proven,
    /// The endpoint was given up; a pinned one for a while.
    Differs(Difference),
    /// A pinned one has failed for one page, which is visited again.
    Failed(Difference),
}

/// What is known of one class.
#[derive(Debug, Default)]
pub struct Book {
    /// Only what the rule file pins is used.
    is_closed: bool,
    observations: VecDeque<Arc<Observation>>,
    endpoints: Vec<InUse>,
    difference: Option<(u64, String)>,
    /// Pages that an endpoint was wrong about, or may have been.
    again: Vec<String>,
    rests: Rests,
    /// Hashes of pages that were left with more to show, and asked for again by their endpoint: each once in a crawl.
    cut: HashSet<u64>,
    /// How often the end of a crawl has asked for renders.
    closings: u32,
    /// Renders until learning is tried again, and how many the next wait will have.
    wait: u32,
    next_wait: u32,
    is_changed: bool,
}

impl Book {
    /// One that learns nothing.
    #[must_use]
    pub fn closed() -> Self {
        Self { is_closed: true, ..Self::default() }
    }

    /// The endpoint to visit this page by; `None` where there is none, or where a render is due that checks it.
    /// Only one that needs the page's own markup, or only one that does not.
    pub fn plan(&mut self, page: &Url, needs_page: bool, may_render: bool, now_ms: u64) -> Option<Arc<Endpoint>> {
        let found = self.endpoints.iter_mut().find(|one| one.endpoint.covers(page))?;
        if found.endpoint.needs_page() != needs_page {
            return None;
        }
        self.is_changed = true;
        if found.is_out {
            // Perhaps no render will ever bear it out: after a while it is tried again itself.
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

    /// Whether a render of this page is due that checks its endpoint.
    #[must_use]
    pub fn is_due(&self, page: &Url) -> bool {
        let found = self.endpoints.iter().find(|one| one.endpoint.covers(page));
        found.is_some_and(|found| !found.is_out && found.is_due(page))
    }

    /// No render of this page has shown anything that the endpoint could be compared with: one that was due is so again after as many
    /// visits.
    pub fn defer(&mut self, page: &Url) {
        let Some(found) = self.endpoints.iter_mut().find(|one| one.endpoint.covers(page)) else { return };
        if found.is_due(page) {
            let every = found.count.every.max(CHECKED_OF_FIRST);
            // Who pins knows of pages that no render shows.
            let every = if found.is_pinned { (every * 2).min(limits::SHORTCUT_CHECKED_OF_MAX) } else { every };
            (found.count.every, found.count.left) = (every, every);
            let asked = found.closing.len();
            found.closing.retain(|asked| *asked != *page.as_str());
            found.is_closed |= found.closing.len() < asked;
            self.is_changed = true;
        }
    }

    /// The endpoint to visit this page by in the same visit, where [`Self::defer`] was called; `None` where it has failed for it just now.
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

    /// The data of a page were not there, as those of a page that was taken away are not. True where that was so too often in a row to be
    /// believed.
    pub fn gone(&mut self, page: &Url) -> bool {
        let Some(found) = self.endpoints.iter_mut().find(|one| one.endpoint.covers(page)) else { return false };
        found.failed += 1;
        if !found.doubted.iter().any(|known| *known == *page.as_str()) {
            found.doubted.push(page.to_string());
        }
        found.failed >= limits::SHORTCUT_GONE_MAX
    }

    /// A page was visited by the endpoint, from this time on; `is_end` where it is the last of its list.
    pub fn worked(&mut self, page: &Url, is_end: bool, at_ms: u64) {
        if let Some(found) = self.endpoints.iter_mut().find(|one| one.endpoint.covers(page)) {
            let missed = found.works(page);
            found.visits.add(page.as_str(), is_end, at_ms);
            self.is_changed = true;
            self.ask_again(missed, Some(page));
        }
    }

    /// Whether enough renders have shown that lists end where the endpoint of this page ends them.
    #[must_use]
    pub fn knows_ends(&self, page: &Url) -> bool {
        let found = self.endpoints.iter().find(|one| one.endpoint.covers(page));
        found.is_some_and(|found| found.count.ends >= limits::SHORTCUT_ENDS_PROVEN)
    }

    /// Pages that are to be visited again: see [`Self::queued`].
    #[must_use]
    pub fn again(&self) -> &[String] {
        &self.again
    }

    /// These wait in the queue now.
    pub fn queued(&mut self, pages: &[String]) {
        self.again.retain(|page| !pages.contains(page));
        self.is_changed = true;
    }

    /// Nothing else is left to visit: of each endpoint that has visited some pages of a host since it was last borne out there, the last
    /// of these is to be rendered, once, where pages may be; and pages that a pinned one has failed for are visited again. True where
    /// there is any.
    pub fn close(&mut self, may_render: bool) -> bool {
        let mut last = Vec::new();
        if self.closings >= limits::SHORTCUT_CLOSINGS_MAX {
            return false;
        }
        for one in &mut self.endpoints {
            match one.is_out {
                false => last.extend(one.missed.take(false)),
                // One page says whether it works again; the others come then.
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

    /// A render has left a page with more to show than its bounds let through. True where an endpoint that turns the page's list goes on in
    /// another visit.
    pub fn goes_on(&mut self, page: &Url) -> bool {
        let turns = |one: &InUse| one.endpoint.covers(page) && !one.is_out && one.endpoint.turning.is_some();
        let hash = xxhash_rust::xxh3::xxh3_64(page.as_str().as_bytes());
        let is_new = self.cut.len() < limits::SHORTCUT_AGAIN_MAX && !self.cut.contains(&hash);
        is_new
            && self.endpoints.iter().any(turns)
            && self.ask_again(vec![page.to_string()], None)
            && self.cut.insert(hash)
    }

    /// A visit by an endpoint has ended before its page's data did: another goes on, from the beginning where the endpoint was given up
    /// meanwhile. False where too many wait.
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

    /// The visit that was to go on there has got nothing: the next one is to.
    pub fn put_back(&mut self, page: &Url, rest: Rest) {
        self.rests.keep(page.as_str(), rest);
    }

    /// Where the visit before has left this page, for the endpoint that it is visited by now.
    pub fn take_rest(&mut self, page: &Url, by: &Endpoint) -> Option<Rest> {
        self.rests.take(page.as_str(), by)
    }

    /// True where all of them wait now.
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

    /// Whether renders were answered with JSON at an address like this, but for its digits and its query.
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

    /// The endpoint that a render of this page is compared with.
    #[must_use]
    pub fn to_check(&self, page: &Url) -> Option<Arc<Endpoint>> {
        self.endpoints.iter().find(|one| one.endpoint.covers(page)).map(|one| Arc::clone(&one.endpoint))
    }

    /// Whether a render of this page is worth observing.
    #[must_use]
    pub fn wants(&self, page: &Url) -> bool {
        let learned = self.endpoints.iter().filter(|one| !one.is_pinned).count();
        let has_room = !self.is_closed && learned < limits::SHORTCUTS_PER_CLASS_MAX;
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
                let is_end = Arc::make_mut(&mut found.endpoint).absorb(&observation);
                let is_due = found.is_due(&observation.page);
                found.visits.proven(observation.page.as_str(), u64::try_from(observation.now_ms).unwrap_or_default());
                let every = found.count.every.max(CHECKED_OF_FIRST);
                // Only a check that was due makes the next one later.
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
                    // A service closes its history again when there was more of it.
                    self.closings = 0;
                }
                self.is_changed = true;
                self.ask_again(missed, Some(&observation.page));
                Some(Event::Proven)
            }
            Err(difference) => {
                // The render shows what there is to this page.
                self.endpoints.get_mut(at)?.missed.forget(observation.page.as_str());
                let event = self.give_up(at, &observation.page, difference, true, now_ms);
                self.keep(observation);
                self.let_go(0);
                event
            }
        }
    }

    /// The endpoint of this page does not hold: it is forgotten. A pinned one may have failed for this page alone, and is out for a while
    /// where it fails too often in a row.
    pub fn differs(&mut self, page: &Url, difference: Difference, may_render: bool, now_ms: u64) -> Option<Event> {
        let at = self.endpoints.iter().position(|one| one.endpoint.covers(page))?;
        let found = self.endpoints.get_mut(at).filter(|found| found.is_pinned);
        // It says nothing of the pages before, as a render would.
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

    /// Forgets an endpoint, or puts it out where it is pinned. What it has visited since it was last borne out is to be visited again,
    /// where it was wrong before.
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
        if self.wait > 0 || self.is_closed {
            self.let_go(0);
            return Vec::new();
        }
        let of = |fits: &dyn Fn(&Url) -> bool| -> Vec<Arc<Observation>> {
            self.observations.iter().filter(|one| fits(&one.page)).cloned().collect()
        };
        // Each is a part of the one before it: equal lengths are equal sets.
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

    /// What came of it.
    pub fn learned(&mut self, endpoint: Option<Endpoint>, now_ms: u64) -> Option<Event> {
        let Some(endpoint) = endpoint else {
            let is_full = self.observations.len() >= limits::SHORTCUT_OBSERVATIONS_MAX;
            // One that is larger than all may be is looked at once.
            if is_full || self.let_go(0) {
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
        let count =
            Counts { proven, every: CHECKED_OF_FIRST, left: CHECKED_OF_FIRST, checked_ms: now_ms, ..Counts::default() };
        self.endpoints.push(InUse { count, ..InUse::of(endpoint, false) });
        let pins = self.endpoints.iter().take_while(|one| one.is_pinned).count();
        self.endpoints.truncate(pins + limits::SHORTCUTS_PER_CLASS_MAX);
        self.rests.retain(self.endpoints.iter().map(|one| &one.endpoint));
        self.is_changed = true;
        Some(Event::Learned)
    }

    fn keep(&mut self, observation: Arc<Observation>) {
        self.observations.push_back(observation);
        self.let_go(1);
    }

    /// Forgets the oldest renders until their bounds are met, but for so many. True where there was one to forget.
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

    /// An endpoint of the rule file: these stand in the file's order, before what is learned.
    pub fn pin(&mut self, endpoint: &Endpoint) {
        let at = self.endpoints.iter().take_while(|one| one.is_pinned).count();
        let count = Counts { every: CHECKED_OF_FIRST, left: CHECKED_OF_FIRST, ..Counts::default() };
        self.endpoints.insert(at, InUse { count, ..InUse::of(endpoint.clone(), true) });
    }

    /// Takes up what was kept; what cannot be read is learned anew. What was visited by an endpoint that the rule file has corrected or
    /// dropped since is to be visited again.
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
                // What was learned and is pinned now is none other.
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

    /// Whether pages of it belong to a pin now.
    fn is_shadowed(&self, visits: &Visits) -> bool {
        let pins = self.endpoints.iter().filter(|one| one.is_pinned);
        let pages: Vec<Url> = visits.clone().take(true).iter().filter_map(|page| Url::parse(page).ok()).collect();
        pins.clone().any(|pin| pages.iter().any(|page| pin.endpoint.covers(page)))
    }

    /// What is to be kept.
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

    /// Whether something changed since this was last asked.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.is_changed)
    }
}

/// A path with its digits taken out.
fn skeleton(page: &Url) -> String {
    page.path().chars().filter(|c| !c.is_ascii_digit()).collect()
}

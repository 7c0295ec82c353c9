//! The crawl database in memory: the reference model for the contract suite, also used by dry runs and simulations.
//! It keeps plain maps, scans them in full where that is simplest, and persists nothing.

mod harvest;
mod reader;

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use super::labels::Labels;
use super::merge::{self, Found, Looks, MemoChange, NotWholeChange};
use super::outcome::{Outcome, token_kind};
use super::record::*;
use super::{CrawlDb, CrawlDbError, HostDue, LeaseRequest, Owner, check_notes};
use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_torrent::Infohashes;

/// See the module.
#[derive(Default)]
pub struct MemoryStore {
    state: Mutex<MemoryTables>,
}

#[derive(Default)]
struct MemoryTables {
    hosts: Vec<HostRow>,
    urls: BTreeMap<UrlKey, Url>,
    torrents: BTreeMap<Vec<u8>, Torrent>,
    /// Archive keys; the first is change 1.
    changes: Vec<Vec<u8>>,
    magnets: BTreeMap<Vec<u8>, Magnet>,
    listings: BTreeMap<(HostId, Box<str>, u64), Looks>,
    bodies: BTreeMap<(HostId, u64), Box<str>>,
    counts: BTreeMap<Box<str>, SiteCounts>,
    labels: Labels,
    url_labels: BTreeMap<UrlKey, u32>,
    relabelled: u64,
    notes: BTreeMap<(Box<str>, Box<str>), Vec<u8>>,
    /// Reasons and times of pages not read whole; pages beyond the cap have none.
    not_whole: BTreeMap<UrlKey, (Box<str>, UnixMillis)>,
    next_seq: u64,
}

struct Url {
    record: UrlRecord,
    rank: u8,
    queued: Option<Queued>,
    /// The token that it is parked under; None while it is queued.
    parked: Option<Parked>,
    memo: Option<Box<str>>,
    is_not_whole: bool,
}

struct Parked {
    token: u64,
    via: Option<Box<str>>,
}

struct Queued {
    seq: u64,
    due: UnixMillis,
    /// Due at once, or marked due by a lease.
    ready: bool,
    via: Option<Box<str>>,
    lease: Option<(Owner, UnixMillis)>,
}

struct Torrent {
    facts: TorrentFacts,
    first_host: Option<HostId>,
    stored: UnixMillis,
    seen_count: u32,
    sources: Vec<Found>,
}

struct Magnet {
    facts: MagnetFacts,
    page: UrlKey,
    first_seen: UnixMillis,
}

impl MemoryStore {
    /// An empty database.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, MemoryTables> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryTables {
    fn host(&self, host: HostId) -> Result<&HostRow, CrawlDbError> {
        self.hosts.get(host.0 as usize).ok_or(CrawlDbError::UnknownHost { host })
    }

    fn check_hosts<'k>(&self, keys: impl Iterator<Item = &'k UrlKey>) -> Result<(), CrawlDbError> {
        keys.into_iter().try_for_each(|key| self.host(key.host).map(|_| ()))
    }

    fn site(&self, host: HostId) -> Box<str> {
        self.hosts[host.0 as usize].site.clone()
    }

    fn counts(&mut self, host: HostId) -> &mut SiteCounts {
        self.counts.entry(self.site(host)).or_default()
    }

    fn url_text(&self, host: HostId, path: &str) -> Box<str> {
        format!("{}{path}", self.hosts[host.0 as usize].origin).into()
    }

    /// Queues a URL whose record exists; its lease, if any, stays.
    fn enqueue(&mut self, key: &UrlKey, rank: u8, due: UnixMillis, via: Option<Box<str>>) {
        let seq = self.next_seq;
        self.next_seq += 1;
        let Some(url) = self.urls.get_mut(key) else { return };
        let before = url.queued.take();
        let lease = before.as_ref().and_then(|queued| queued.lease);
        url.rank = rank;
        url.queued = Some(Queued { seq, due, ready: due.0 == 0, via, lease });
        url.parked = None;
        if before.is_none() {
            self.counts(key.host).urls_queued += 1;
        }
    }

    /// Removes a URL from the queue and ends its lease.
    fn dequeue(&mut self, key: &UrlKey) {
        if self.urls.get_mut(key).and_then(|url| url.queued.take()).is_some() {
            self.counts(key.host).urls_queued -= 1;
        }
    }

    /// Inserts an absent URL without queueing it; true if it was absent.
    fn insert(&mut self, key: &UrlKey, depth: u16, rank: u8, first_seen: UnixMillis) -> bool {
        if self.urls.contains_key(key) {
            return false;
        }
        let record = UrlRecord { depth, attempts: 0, outcome: None, first_seen, visited: UnixMillis(0) };
        self.urls
            .insert(key.clone(), Url { record, rank, queued: None, parked: None, memo: None, is_not_whole: false });
        self.counts(key.host).urls_known += 1;
        true
    }

    fn discover(&mut self, found: Discovered, now: UnixMillis) -> bool {
        let first_seen = merge::first_seen(None, found.found, now);
        let added = merge::is_keepable(&found.key) && self.insert(&found.key, found.depth, found.rank, first_seen);
        if added {
            self.enqueue(&found.key, found.rank, found.due, found.via);
        }
        added
    }

    fn make_due(&mut self, found: Discovered, now: UnixMillis) {
        let Some(url) = self.urls.get_mut(&found.key) else {
            self.discover(found, now);
            return;
        };
        if url.queued.as_ref().is_some_and(|queued| queued.due <= found.due) {
            return;
        }
        url.record.attempts = 0;
        url.record.depth = found.depth;
        self.enqueue(&found.key, found.rank, found.due, found.via);
    }

    fn unpark(&mut self, host: HostId, token: u64, now: UnixMillis) -> u64 {
        let urls = self.urls.iter().filter(|(key, _)| key.host == host);
        let mut parked: Vec<_> = urls
            .filter_map(|(key, url)| url.parked.as_ref().map(|parked| (parked.token, key.clone(), url.rank)))
            .filter(|(under, _, _)| *under != token && token_kind(token).contains(under))
            .collect();
        parked.sort();
        for (_, key, rank) in &parked {
            let parked = self.urls.get_mut(key).and_then(|url| url.parked.take());
            self.enqueue(key, *rank, now, parked.and_then(|parked| parked.via));
            if let Some(queued) = self.urls.get_mut(key).and_then(|url| url.queued.as_mut()) {
                queued.ready = true;
            }
        }
        parked.len() as u64
    }

    /// Queued URLs of one host, in the order of [`CrawlDb::queued`].
    fn queue(&self, host: HostId) -> Vec<(&UrlKey, &Url, &Queued)> {
        let mut rows: Vec<_> = self
            .urls
            .iter()
            .filter(|(key, _)| key.host == host)
            .filter_map(|(key, url)| url.queued.as_ref().map(|queued| (key, url, queued)))
            .collect();
        rows.sort_by_key(|(_, url, queued)| {
            if queued.ready { (false, u64::from(url.rank), queued.seq) } else { (true, queued.due.0, queued.seq) }
        });
        rows
    }

    /// The receipt of a visit, and whether the visit was new.
    fn record_visit(&mut self, visit: &Visit) -> (Receipt, bool) {
        let mut receipt = Receipt::empty(visit.outcome);
        if !merge::is_keepable(&visit.key) {
            return (receipt, false);
        }
        if let Some(url) = self.urls.get_mut(&visit.key)
            && merge::is_repeat(url.record.visited, url.record.outcome, visit)
        {
            if let Some(queued) = &mut url.queued {
                queued.lease = None;
            }
            receipt.outcome = url.record.outcome.unwrap_or(visit.outcome);
            return (receipt, false);
        }
        self.take_labels(visit);
        let torrent = visit.torrent.as_ref().filter(|facts| !facts.infohashes.key().is_empty());
        if let Some(facts) = torrent {
            receipt.torrent_stored = self.take_torrent(facts, visit);
            receipt.outcome = merge::torrent_outcome(receipt.outcome, receipt.torrent_stored);
        }
        for magnet in &visit.magnets {
            if !magnet.infohashes.key().is_empty() && magnet.link.len() <= limits::URL_BYTES_MAX {
                receipt.magnets_added += u32::from(self.take_magnet(magnet, visit));
            }
        }
        if let Some(listing) = visit.listing.as_ref().filter(|listing| listing.series.len() <= limits::URL_BYTES_MAX) {
            self.listings
                .entry((visit.key.host, listing.series.clone(), listing.page))
                .and_modify(|looks| looks.again(listing, visit.at))
                .or_insert_with(|| Looks::first(listing, visit.at));
        }
        if let Some(hash) = visit.body_hash {
            let owner = self.bodies.entry((visit.key.host, hash)).or_insert_with(|| visit.key.path.clone());
            receipt.outcome = merge::page_outcome(receipt.outcome, *owner == visit.key.path);
        }
        self.settle_url(visit, receipt.outcome);
        (receipt, true)
    }

    fn settle_url(&mut self, visit: &Visit, outcome: Outcome) {
        self.insert(&visit.key, visit.depth, visit.rank, visit.at);
        self.dequeue(&visit.key);
        let mut gone_change = 0;
        if let Some(url) = self.urls.get_mut(&visit.key) {
            gone_change = merge::gone_change(url.record.outcome, outcome);
            url.rank = visit.rank;
            url.record.depth = visit.depth;
            url.record.first_seen = merge::first_seen(Some(url.record.first_seen), visit.found, visit.at);
            url.record.attempts = visit.next.attempts_after(visit.attempts);
            url.record.outcome = Some(outcome);
            url.record.visited = visit.at;
            match merge::memo_change(visit) {
                MemoChange::Stays => {}
                MemoChange::Goes => url.memo = None,
                MemoChange::Becomes(memo) => url.memo = Some(memo.into()),
            }
            url.parked = visit.next.token().map(|token| Parked { token, via: visit.via.clone() });
        }
        if let Some(due) = visit.next.due() {
            self.enqueue(&visit.key, visit.rank, due, visit.via.clone());
        }
        self.settle_not_whole(visit);
        let counts = self.counts(visit.key.host);
        counts.urls_gone = counts.urls_gone.wrapping_add_signed(gone_change);
        counts.body_bytes += visit.body_bytes;
        match counts.outcomes.binary_search_by_key(&outcome, |&(known, _)| known) {
            Ok(at) => counts.outcomes[at].1 += 1,
            Err(at) => counts.outcomes.insert(at, (outcome, 1)),
        }
    }
}

impl MemoryTables {
    fn settle_not_whole(&mut self, visit: &Visit) {
        let change = merge::not_whole_change(visit);
        if change == NotWholeChange::Stays {
            return;
        }
        let is_now = change != NotWholeChange::Goes;
        let was = self.urls.get_mut(&visit.key).is_some_and(|url| std::mem::replace(&mut url.is_not_whole, is_now));
        let counts = self.counts(visit.key.host);
        counts.pages_not_whole = counts.pages_not_whole + u64::from(is_now) - u64::from(was);
        let NotWholeChange::Becomes(reason) = change else {
            self.not_whole.remove(&visit.key);
            return;
        };
        let site = self.site(visit.key.host);
        let listed = self.not_whole.keys().filter(|key| self.site(key.host) == site).count();
        if listed < limits::NOT_WHOLE_PAGES_MAX || self.not_whole.contains_key(&visit.key) {
            self.not_whole.insert(visit.key.clone(), (reason.into(), visit.at));
        }
    }
}

fn discovered((key, url, queued): (&UrlKey, &Url, &Queued)) -> Discovered {
    Discovered {
        key: key.clone(),
        depth: url.record.depth,
        rank: url.rank,
        due: queued.due,
        via: queued.via.clone(),
        is_target: false,
        found: None,
    }
}

#[async_trait]
impl CrawlDb for MemoryStore {
    async fn host_id(&self, site: &str, origin: &str) -> Result<HostId, CrawlDbError> {
        let mut state = self.state();
        if let Some(known) = state.hosts.iter().find(|host| &*host.site == site && &*host.origin == origin) {
            return Ok(known.id);
        }
        let id = HostId(u32::try_from(state.hosts.len()).unwrap_or(u32::MAX));
        state.hosts.push(HostRow {
            id,
            site: site.into(),
            origin: origin.into(),
            blocked_until: UnixMillis(0),
            blocked_reason: "".into(),
            complaints: 0,
        });
        Ok(id)
    }

    async fn add_discovered(&self, batch: Vec<Discovered>, now: UnixMillis) -> Result<u64, CrawlDbError> {
        let mut state = self.state();
        state.check_hosts(batch.iter().map(|found| &found.key))?;
        Ok(batch.into_iter().map(|found| u64::from(state.discover(found, now))).sum())
    }

    async fn make_due(&self, batch: Vec<Discovered>, now: UnixMillis) -> Result<(), CrawlDbError> {
        let mut state = self.state();
        state.check_hosts(batch.iter().map(|found| &found.key))?;
        batch.into_iter().for_each(|found| state.make_due(found, now));
        Ok(())
    }

    async fn unpark(&self, host: HostId, token: u64, now: UnixMillis) -> Result<u64, CrawlDbError> {
        let mut state = self.state();
        state.host(host)?;
        Ok(state.unpark(host, token, now))
    }

    async fn bring_forward(&self, host: HostId) -> Result<(), CrawlDbError> {
        let mut state = self.state();
        state.host(host)?;
        let urls = state.urls.iter_mut().filter(|(key, _)| key.host == host);
        urls.filter_map(|(_, url)| url.queued.as_mut()).for_each(|queued| queued.ready = true);
        Ok(())
    }

    async fn lease_due(&self, request: LeaseRequest) -> Result<Vec<Lease>, CrawlDbError> {
        let mut state = self.state();
        state.host(request.host)?;
        if request.urls_max == 0 {
            return Ok(Vec::new());
        }
        let mut due = Vec::new();
        for (key, url) in state.urls.iter_mut().filter(|(key, _)| key.host == request.host) {
            let Some(queued) = &mut url.queued else { continue };
            // Expired leases end, and URLs become due.
            queued.ready |= queued.due <= request.now;
            queued.lease = queued.lease.filter(|&(_, deadline)| deadline > request.now);
            let place = request.order.place(url.rank).filter(|_| url.rank <= request.rank_max);
            if let Some(place) = place.filter(|_| queued.ready && queued.lease.is_none()) {
                due.push((place, queued.seq, key, url));
            }
        }
        // Only what is leased is sorted.
        if due.len() > request.urls_max {
            due.select_nth_unstable_by_key(request.urls_max, |(rank, seq, ..)| (*rank, *seq));
            due.truncate(request.urls_max);
        }
        due.sort_unstable_by_key(|(rank, seq, ..)| (*rank, *seq));
        let mut leases = Vec::with_capacity(due.len());
        for (_, _, key, url) in due {
            let Some(queued) = &mut url.queued else { continue };
            queued.lease = Some((request.owner, request.deadline));
            leases.push(Lease {
                key: key.clone(),
                depth: url.record.depth,
                rank: url.rank,
                attempts: url.record.attempts,
                via: queued.via.clone(),
                memo: url.memo.clone(),
                deadline: request.deadline,
                found: None,
                seq: queued.seq,
            });
        }
        Ok(leases)
    }

    async fn host_due(&self, host: HostId, now: UnixMillis) -> Result<HostDue, CrawlDbError> {
        let state = self.state();
        state.host(host)?;
        let (mut later, mut expiry) = (None::<UnixMillis>, None::<UnixMillis>);
        let urls = state.urls.iter().filter(|(key, _)| key.host == host);
        for queued in urls.filter_map(|(_, url)| url.queued.as_ref()) {
            match queued.lease.filter(|&(_, deadline)| deadline > now) {
                Some((_, deadline)) => expiry = Some(expiry.map_or(deadline, |first| first.min(deadline))),
                None if queued.ready || queued.due <= now => return Ok(HostDue::Now),
                None => later = Some(later.map_or(queued.due, |first| first.min(queued.due))),
            }
        }
        Ok(match (later, expiry) {
            (Some(due), expiry) => HostDue::At(expiry.map_or(due, |deadline| deadline.min(due))),
            (None, Some(_)) => HostDue::Leased,
            (None, None) => HostDue::Exhausted,
        })
    }

    async fn release(&self, owner: Owner, keys: Vec<UrlKey>) -> Result<(), CrawlDbError> {
        let mut state = self.state();
        for key in keys {
            if let Some(queued) = state.urls.get_mut(&key).and_then(|url| url.queued.as_mut()) {
                queued.lease = queued.lease.filter(|&(holder, _)| holder != owner);
            }
        }
        Ok(())
    }

    async fn release_all(&self, owner: Owner, hosts: &HashSet<HostId>) -> Result<(), CrawlDbError> {
        let mut state = self.state();
        let urls = state.urls.iter_mut().filter(|(key, _)| hosts.contains(&key.host));
        for queued in urls.filter_map(|(_, url)| url.queued.as_mut()) {
            queued.lease = queued.lease.filter(|&(holder, _)| holder != owner);
        }
        Ok(())
    }

    async fn record_visits(&self, visits: Arc<Vec<Visit>>) -> Result<Vec<Receipt>, CrawlDbError> {
        let mut state = self.state();
        for visit in visits.iter() {
            let labelled = visit.labels.iter().map(|label| &label.key);
            let linked = visit.outlinks.iter().map(|link| &link.key);
            state.check_hosts(std::iter::once(&visit.key).chain(linked).chain(labelled))?;
        }
        let settled: Vec<_> = visits.iter().map(|visit| state.record_visit(visit)).collect();
        let mut receipts = Vec::with_capacity(visits.len());
        for (visit, (mut receipt, is_new)) in visits.iter().zip(settled) {
            if is_new {
                for link in &visit.outlinks {
                    let added = state.discover(link.clone(), visit.at);
                    receipt.urls_added += u32::from(added);
                    receipt.targets_added += u32::from(added && link.is_target);
                }
            }
            receipts.push(receipt);
        }
        Ok(receipts)
    }

    async fn known_torrents(&self, infohashes: Vec<Infohashes>) -> Result<Vec<Option<Infohashes>>, CrawlDbError> {
        let state = self.state();
        let known = |hashes: &Infohashes| state.torrent_key(hashes).map(|key| state.torrents[&key].facts.infohashes);
        Ok(infohashes.iter().map(known).collect())
    }

    async fn block_host_until(
        &self,
        host: HostId,
        until: UnixMillis,
        reason: &str,
        complaints: u32,
    ) -> Result<(), CrawlDbError> {
        let mut state = self.state();
        let row = state.hosts.get_mut(host.0 as usize).ok_or(CrawlDbError::UnknownHost { host })?;
        row.blocked_until = until;
        row.blocked_reason = reason.into();
        row.complaints = complaints;
        Ok(())
    }

    async fn forgive_host(&self, host: HostId) -> Result<(), CrawlDbError> {
        let mut state = self.state();
        let row = state.hosts.get_mut(host.0 as usize).ok_or(CrawlDbError::UnknownHost { host })?;
        (row.complaints, row.blocked_until) = (0, UnixMillis(0));
        Ok(())
    }

    async fn put_notes(&self, site: &str, notes: Vec<(String, Vec<u8>)>) -> Result<(), CrawlDbError> {
        check_notes(site, &notes)?;
        let mut state = self.state();
        for (name, note) in notes {
            let key = (site.into(), name.into());
            if note.is_empty() {
                state.notes.remove(&key);
            } else {
                state.notes.insert(key, note);
            }
        }
        Ok(())
    }

    async fn add_crawl_time(&self, site: &str, crawl_ms: u64) -> Result<(), CrawlDbError> {
        self.state().counts.entry(site.into()).or_default().crawl_ms += crawl_ms;
        Ok(())
    }

    async fn url_record(&self, key: &UrlKey) -> Result<Option<UrlRecord>, CrawlDbError> {
        Ok(self.state().urls.get(key).map(|url| url.record))
    }

    async fn url_records(&self, keys: Vec<UrlKey>) -> Result<Vec<Option<UrlRecord>>, CrawlDbError> {
        let state = self.state();
        Ok(keys.iter().map(|key| state.urls.get(key).map(|url| url.record)).collect())
    }

    async fn queued(&self, host: HostId, rows_max: usize) -> Result<Vec<Discovered>, CrawlDbError> {
        Ok(self.state().queue(host).into_iter().take(rows_max).map(discovered).collect())
    }

    async fn planned(&self, host: HostId, rows_max: usize) -> Result<Vec<Discovered>, CrawlDbError> {
        let state = self.state();
        let planned = state.queue(host).into_iter().filter(|(_, _, queued)| !queued.ready);
        Ok(planned.take(rows_max).map(discovered).collect())
    }

    async fn forget_torrent(&self, infohashes: Infohashes, now: UnixMillis) -> Result<(), CrawlDbError> {
        let mut state = self.state();
        let Some((key, torrent)) = state.torrent_key(&infohashes).and_then(|key| state.torrents.remove_entry(&key))
        else {
            return Ok(());
        };
        let (by_v1, by_v2) = state.magnet_keys(&torrent.facts.infohashes);
        let by_v2 = by_v2.filter(|magnet| by_v1.as_ref() != Some(magnet));
        let magnets = [by_v1, by_v2].into_iter().flatten().filter(|magnet| *magnet != key);
        state.changes.push(key.clone());
        state.changes.extend(magnets);
        if let Some(host) = torrent.first_host {
            state.counts(host).torrents -= 1;
        }
        state.count_magnets(&torrent.facts.infohashes, 1);
        let sites: std::collections::BTreeSet<_> = torrent.sources.iter().map(|found| state.site(found.host)).collect();
        for site in sites {
            state.counts.entry(site).or_default().torrents_seen -= 1;
        }
        let mut sources = torrent.sources;
        sources.sort_by(|a, b| (a.host, &a.path).cmp(&(b.host, &b.path)));
        for found in sources {
            let key = UrlKey { host: found.host, path: found.path };
            let (mut depth, mut rank) = (0, 0);
            if let Some(url) = state.urls.get_mut(&key) {
                url.memo = None;
                (depth, rank) = (url.record.depth, url.rank);
            }
            state.make_due(
                Discovered { key, depth, rank, due: now, via: found.via, is_target: false, found: None },
                now,
            );
        }
        Ok(())
    }

    async fn adopt_torrent(&self, facts: TorrentFacts, now: UnixMillis) -> Result<(), CrawlDbError> {
        let mut state = self.state();
        if facts.infohashes.key().is_empty() || state.torrent_key(&facts.infohashes).is_some() {
            return Ok(());
        }
        let (key, infohashes) = (facts.infohashes.key().to_vec(), facts.infohashes);
        state.count_magnets(&infohashes, -1);
        let torrent = Torrent { facts, first_host: None, stored: now, seen_count: 0, sources: Vec::new() };
        state.torrents.insert(key.clone(), torrent);
        state.add_magnet_pages(&key, &infohashes);
        state.changes.push(key);
        Ok(())
    }
}

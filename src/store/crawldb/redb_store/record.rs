//! Recording visits: one batch, one transaction.

use std::collections::HashMap;

use redb::WriteTransaction;

use super::codec::{self, UrlRow};
use super::harvest::Harvest;
use super::labels;
use super::open::Fault;
use super::urls::UrlWrites;
use crate::crawldb::merge;
use crate::crawldb::outcome::Outcome;
use crate::crawldb::record::{Receipt, UrlKey, Visit};
use crate::limits;
use gleaner_base::clock::UnixMillis;

/// The visits of one URL within a batch, with its previous record.
struct Group {
    before: Option<UrlRow>,
    /// Indices in the batch, in its order.
    visits: Vec<u32>,
    repeats: Vec<(u32, Recorded)>,
}

/// The position of the visit that another one repeats.
#[derive(Clone, Copy)]
enum Recorded {
    Before(Outcome),
    InBatch(u32),
}

/// The receipts of a batch whose commit failed. If only the last sync failed, the batch is in the file nevertheless, and
/// a retry finds its visits recorded: it gets the receipts of the first attempt. Visits missing from the file are
/// recorded as if there had been no first attempt.
#[derive(Default)]
pub(super) struct InDoubt(HashMap<(UrlKey, UnixMillis), Receipt>);

impl InDoubt {
    /// The commit of these visits failed. Those of a batch that failed earlier are dropped.
    pub(super) fn failed(&mut self, visits: &[Visit], receipts: &[Receipt]) {
        self.0.clear();
        for (visit, receipt) in visits.iter().zip(receipts) {
            self.0.entry((visit.key.clone(), visit.at)).or_insert(*receipt);
        }
    }

    /// These visits are recorded, now or by the attempt that seemed to have failed.
    pub(super) fn recorded(&mut self, visits: &[Visit]) {
        for visit in visits {
            if self.0.is_empty() {
                return;
            }
            self.0.remove(&(visit.key.clone(), visit.at));
        }
    }

    fn receipt(&self, visit: &Visit) -> Option<Receipt> {
        if self.0.is_empty() { None } else { self.0.get(&(visit.key.clone(), visit.at)).copied() }
    }
}

/// Writes a batch, except the counts. The receipts are in the order of the visits.
pub(super) fn record(
    txn: &WriteTransaction,
    writes: &mut UrlWrites<'_>,
    visits: &[Visit],
    in_doubt: &InDoubt,
) -> Result<Vec<Receipt>, Fault> {
    let mut receipts: Vec<Receipt> = visits.iter().map(|visit| Receipt::empty(visit.outcome)).collect();
    let groups = groups(writes, visits)?;
    let mut fresh: Vec<u32> = groups.iter().flat_map(|group| group.visits.iter().copied()).collect();
    fresh.sort_unstable();
    labels::take(txn, writes, fresh.iter().map(|&at| &visits[at as usize]))?;
    harvest(txn, writes, visits, &fresh, &mut receipts)?;
    let base = writes.changes.next_seq;
    writes.changes.next_seq += visits.len() as u64;
    for group in &groups {
        let settled = group.visits.iter().map(|&at| {
            let at = at as usize;
            (base + at as u64, &visits[at], receipts[at].outcome)
        });
        writes.settle(group.before, settled)?;
        // Visits recorded before the batch are one visit, and come before those that repeat one of the batch.
        let mut doubted = group.repeats.first().and_then(|&(at, _)| in_doubt.receipt(&visits[at as usize]));
        for &(at, recorded) in &group.repeats {
            let key = &visits[at as usize].key;
            writes.changes.queue.end_lease(key.host, &key.path);
            receipts[at as usize] = match recorded {
                Recorded::Before(outcome) => doubted.take().unwrap_or(Receipt::empty(outcome)),
                Recorded::InBatch(first) => Receipt::empty(receipts[first as usize].outcome),
            };
        }
    }
    let mut links = Vec::new();
    let mut link_visits = Vec::new();
    for at in fresh {
        let visit = &visits[at as usize];
        links.extend(visit.outlinks.iter().map(|link| (link, visit.at)));
        link_visits.resize(links.len(), at);
    }
    writes.insert_absent(&links, |link| {
        let receipt = &mut receipts[link_visits[link] as usize];
        receipt.urls_added += 1;
        receipt.targets_added += u32::from(links[link].0.is_target);
    })?;
    Ok(receipts)
}

/// The visits in URL order; those already recorded are separated.
fn groups(writes: &mut UrlWrites<'_>, visits: &[Visit]) -> Result<Vec<Group>, Fault> {
    let mut order: Vec<u32> =
        (0_u32..).zip(visits).filter(|(_, visit)| merge::is_keepable(&visit.key)).map(|(at, _)| at).collect();
    order.sort_by(|&a, &b| visits[a as usize].key.cmp(&visits[b as usize].key));
    let mut groups = Vec::with_capacity(order.len());
    for same in order.chunk_by(|&a, &b| visits[a as usize].key == visits[b as usize].key) {
        let before = writes.row(&visits[same[0] as usize].key)?;
        let mut group = Group { before, visits: Vec::with_capacity(1), repeats: Vec::new() };
        let mut last =
            before.and_then(|row| row.outcome.map(|outcome| (row.visited, outcome, Recorded::Before(outcome))));
        for &at in same {
            let visit = &visits[at as usize];
            match last {
                Some((visited, outcome, recorded)) if merge::is_repeat(visited, Some(outcome), visit) => {
                    group.repeats.push((at, recorded));
                }
                _ => {
                    last = Some((visit.at, visit.outcome, Recorded::InBatch(at)));
                    group.visits.push(at);
                }
            }
        }
        groups.push(group);
    }
    Ok(groups)
}

/// Stores the results of the visits at these indices, in batch order, and determines their outcomes.
fn harvest(
    txn: &WriteTransaction,
    writes: &mut UrlWrites<'_>,
    visits: &[Visit],
    fresh: &[u32],
    receipts: &mut [Receipt],
) -> Result<(), Fault> {
    let mut harvest = Harvest::open(txn, writes.known())?;
    let mut bodies = Vec::new();
    for &at in fresh {
        let at = at as usize;
        let visit = &visits[at];
        let receipt = &mut receipts[at];
        if let Some(facts) = visit.torrent.as_ref().filter(|facts| !facts.infohashes.key().is_empty()) {
            receipt.torrent_stored = harvest.take_torrent(facts, visit, &mut writes.changes.tally)?;
            receipt.outcome = merge::torrent_outcome(receipt.outcome, receipt.torrent_stored);
        }
        for magnet in &visit.magnets {
            if !magnet.infohashes.key().is_empty() && magnet.link.len() <= limits::URL_BYTES_MAX {
                receipt.magnets_added += u32::from(harvest.take_magnet(magnet, visit, &mut writes.changes.tally)?);
            }
        }
        if let Some(listing) = &visit.listing {
            harvest.take_listing(listing, visit)?;
        }
        if let Some(hash) = visit.body_hash {
            bodies.push((codec::body_key(visit.key.host, hash), &visit.key, at));
        }
    }
    harvest.take_bodies(bodies, |at, is_owner| {
        receipts[at].outcome = merge::page_outcome(receipts[at].outcome, is_owner);
    })
}

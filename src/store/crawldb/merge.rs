//! Merge rules for known URLs, torrents and pages: pure functions on plain data, shared by every implementation, so
//! that the stores differ only in how they keep rows. No I/O.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::outcome::Outcome;
use super::record::{HostId, Listing, UrlKey, Visit};
use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_torrent::Infohashes;

/// A stored source: the host identifies site and origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub host: HostId,
    pub path: Box<str>,
    pub via: Option<Box<str>>,
    pub first_seen: UnixMillis,
    pub last_seen: UnixMillis,
}

/// True for a URL that the database accepts.
pub(super) fn is_keepable(key: &UrlKey) -> bool {
    key.path.len() <= limits::URL_BYTES_MAX
}

/// The outcome to count for a visit that returned a torrent, depending on whether the database knew it.
pub(super) fn torrent_outcome(claimed: Outcome, is_new: bool) -> Outcome {
    match claimed {
        Outcome::TorrentStored | Outcome::TorrentDuplicate if is_new => Outcome::TorrentStored,
        Outcome::TorrentStored | Outcome::TorrentDuplicate => Outcome::TorrentDuplicate,
        claimed => claimed,
    }
}

/// The outcome to count for a visit with a page body, which this URL or another one owns.
pub(super) fn page_outcome(claimed: Outcome, is_owner: bool) -> Outcome {
    match claimed {
        Outcome::Page | Outcome::PageDuplicate if is_owner => Outcome::Page,
        Outcome::Page | Outcome::PageDuplicate => Outcome::PageDuplicate,
        claimed => claimed,
    }
}

/// The change of the number of gone URLs when a URL's last outcome changes.
pub(super) fn gone_change(before: Option<Outcome>, after: Outcome) -> i64 {
    i64::from(after == Outcome::Gone) - i64::from(before == Some(Outcome::Gone))
}

/// When a URL was first known: `known` from the database (none for one first seen `now`), `found` from the increment.
pub(super) fn first_seen(known: Option<UnixMillis>, found: Option<UnixMillis>, now: UnixMillis) -> UnixMillis {
    let known = known.unwrap_or(now);
    found.map_or(known, |found| found.min(known))
}

/// True if `visit` is the one that left this time and outcome.
pub(super) fn is_repeat(visited: UnixMillis, outcome: Option<Outcome>, visit: &Visit) -> bool {
    let class = |outcome| match outcome {
        Outcome::TorrentDuplicate => Outcome::TorrentStored,
        Outcome::PageDuplicate => Outcome::Page,
        other => other,
    };
    visited == visit.at && outcome.map(class) == Some(class(visit.outcome))
}

/// Adds a source to those of a torrent, at most [`limits::SOURCES_PER_TORRENT_MAX`]. Returns true if its
/// site had none before.
///
/// A site that generates a new URL for each view would fill the list alone and displace every other site. So when
/// the list is full, a URL of a listed site is ignored, and one of a new site replaces the last URL of the site with
/// the most, as long as that site keeps one.
pub(super) fn add_source<'s>(sources: &mut Vec<Found>, found: Found, site_of: impl Fn(HostId) -> &'s str) -> bool {
    if let Some(known) = sources.iter_mut().find(|known| known.host == found.host && known.path == found.path) {
        known.first_seen = known.first_seen.min(found.first_seen);
        known.last_seen = known.last_seen.max(found.last_seen);
        known.via = known.via.take().or(found.via);
        return false;
    }
    let site = site_of(found.host);
    let site_known = sources.iter().any(|known| site_of(known.host) == site);
    if sources.len() < limits::SOURCES_PER_TORRENT_MAX {
        sources.push(found);
        return !site_known;
    }
    if site_known {
        return false;
    }
    let mut counts = BTreeMap::new();
    for known in sources.iter() {
        *counts.entry(site_of(known.host)).or_insert(0_usize) += 1;
    }
    let fullest =
        counts.into_iter().filter(|&(_, count)| count > 1).max_by_key(|&(site, count)| (count, Reverse(site)));
    let Some((fullest, _)) = fullest else { return false };
    let last = sources
        .iter_mut()
        .filter(|known| site_of(known.host) == fullest)
        .max_by(|a, b| (a.host, &a.path).cmp(&(b.host, &b.path)));
    match last {
        Some(last) => {
            *last = found;
            true
        }
        None => false,
    }
}

/// What a visit does with the memo of its URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemoChange<'v> {
    Stays,
    Goes,
    Becomes(&'v str),
}

/// The change of its URL's memo by a visit.
pub(super) fn memo_change(visit: &Visit) -> MemoChange<'_> {
    match visit.memo.as_deref().filter(|memo| memo.len() <= limits::MEMO_BYTES_MAX) {
        Some(memo) => MemoChange::Becomes(memo),
        None if visit.outcome == Outcome::NotModified => MemoChange::Stays,
        None => MemoChange::Goes,
    }
}

/// The change by a visit of the flag that its page was not read whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotWholeChange<'v> {
    /// The visit did not read the page.
    Stays,
    /// It read the whole page, or the page does not exist.
    Goes,
    /// It read a part, for this reason.
    Becomes(&'v str),
}

/// The change of the not-whole flag by a visit, from its outcome.
pub(super) fn not_whole_change(visit: &Visit) -> NotWholeChange<'_> {
    let end = |reason: &str| reason.floor_char_boundary(limits::NOT_WHOLE_REASON_BYTES_MAX);
    match (visit.outcome, visit.not_whole.as_deref()) {
        // The response was not the page.
        (outcome, _) if !outcome.is_an_end() => NotWholeChange::Stays,
        (_, Some(reason)) => NotWholeChange::Becomes(&reason[..end(reason)]),
        (
            Outcome::TorrentStored
            | Outcome::TorrentDuplicate
            | Outcome::Page
            | Outcome::PageDuplicate
            | Outcome::HtmlPosingAsTorrent
            | Outcome::MalformedTorrent
            | Outcome::NotForUs
            | Outcome::Redirected
            | Outcome::RedirectRefused
            | Outcome::Gone
            | Outcome::RulesRefused,
            None,
        ) => NotWholeChange::Goes,
        _ => NotWholeChange::Stays,
    }
}

/// A stored listing over several visits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Looks {
    pub page_max: u64,
    pub at: UnixMillis,
    /// Targets of the first visit, sorted.
    pub first: Vec<u64>,
    /// Targets of all later visits that the first did not have, sorted.
    pub later: Vec<u64>,
    /// Targets of the latest visit, sorted; equal to `first` after one visit.
    pub latest: Vec<u64>,
}

impl Looks {
    /// The first visit.
    pub fn first(listing: &Listing, at: UnixMillis) -> Self {
        let targets = sorted_targets(listing);
        Self { page_max: listing.page_max, at, first: targets.clone(), later: Vec::new(), latest: targets }
    }

    /// A later visit.
    pub fn again(&mut self, listing: &Listing, at: UnixMillis) {
        self.latest = sorted_targets(listing);
        self.page_max = listing.page_max;
        self.at = self.at.max(at);
        let room = limits::LISTING_UPDATES_MAX.saturating_sub(self.later.len());
        let unseen =
            |target: &u64| self.first.binary_search(target).is_err() && self.later.binary_search(target).is_err();
        let new: Vec<u64> = self.latest.iter().copied().filter(unseen).take(room).collect();
        if !new.is_empty() {
            self.later.extend(new);
            self.later.sort_unstable();
        }
    }

    /// The number of targets that later visits found and the first did not.
    pub fn updated(&self) -> u32 {
        u32::try_from(self.later.len()).unwrap_or(u32::MAX)
    }

    /// Targets of earlier visits that the latest did not find, sorted.
    pub fn earlier(&self) -> Vec<u64> {
        let is_gone = |target: &&u64| self.latest.binary_search(target).is_err();
        let mut earlier: Vec<u64> = self.first.iter().chain(&self.later).filter(is_gone).copied().collect();
        earlier.sort_unstable();
        earlier
    }
}

fn sorted_targets(listing: &Listing) -> Vec<u64> {
    let mut targets: Vec<u64> = listing.targets.iter().copied().take(limits::LINKS_PER_PAGE_MAX).collect();
    targets.sort_unstable();
    targets.dedup();
    targets
}

/// The hashes of two magnets of one torrent, merged if they are compatible: each fills in what the other lacks.
/// A contradicting hash is dropped.
pub(super) fn filled(known: Infohashes, new: Infohashes) -> Infohashes {
    Infohashes { v1: known.v1.or(new.v1), v2: known.v2.or(new.v2) }
}

#[cfg(test)]
mod tests;

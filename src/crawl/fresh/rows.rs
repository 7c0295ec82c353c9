//! First pages of a site's lists, followed from recheck to recheck: which rows have vanished while their neighbours stayed.
//!
//! The decision is in `freshness::rows`; this module stores the lists by URL and the targets of their rows, within a limit for the whole
//! site: lists beyond it are read but not followed.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::gone::hash;
use crate::freshness::gone::Gone;
use crate::freshness::rows::{List, Listed};
use crate::limits::{LIST_FORGOTTEN_TIME, LISTS_BYTES_MAX, LISTS_FOLLOWED_MAX, LISTS_ROW_BYTES, LISTS_ROWS_MAX};
use gleaner_base::clock::UnixMillis;

/// Name of the note that stores the lists.
pub const ROWS_NOTE: &str = "rows";

const VERSION: u32 = 1;

/// The lists of one site.
#[derive(Default)]
pub struct Lists {
    kept: Mutex<LoadedRows>,
}

#[derive(Default)]
struct LoadedRows {
    state: FollowedLists,
    is_changed: bool,
}

#[derive(Default, Serialize, Deserialize)]
struct FollowedLists {
    version: u32,
    lists: BTreeMap<String, Followed>,
}

/// One list.
#[derive(Default, Serialize, Deserialize)]
struct Followed {
    list: List,
    /// Rows of the last recheck, in order.
    shown: Vec<u64>,
    /// Targets of present or missing rows, by their hashes.
    urls: BTreeMap<u64, String>,
    #[serde(default)]
    looked: UnixMillis,
    /// Those among them that are threads which had a torrent: what remains of such a page may be discussion.
    #[serde(default)]
    held: BTreeSet<u64>,
    /// The row whose page is requested next in rotation: an index in `shown`.
    #[serde(default)]
    turn: u64,
}

/// Result of a recheck.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Vanished {
    /// URLs whose rows are gone, and since when.
    pub gone: Vec<(String, Gone)>,
    /// URLs whose rows are back.
    pub back: Vec<String>,
}

impl Lists {
    /// Loads the note of earlier runs; logs a warning if it is unusable.
    pub fn take_up(&self, site: &str, note: Option<&[u8]>) {
        let Some(note) = note else { return };
        match serde_json::from_slice::<FollowedLists>(note).ok().filter(|state| state.version == VERSION) {
            Some(state) => self.kept().state = state,
            None => {
                tracing::warn!(%site, "the stored rows of lists cannot be read: lists are followed from now on")
            }
        }
    }

    /// The note, if something has changed.
    pub fn note(&self) -> Option<(String, Vec<u8>)> {
        let mut kept = self.kept();
        if !std::mem::take(&mut kept.is_changed) {
            return None;
        }
        kept.state.version = VERSION;
        Some((ROWS_NOTE.to_owned(), serde_json::to_vec(&kept.state).unwrap_or_default()))
    }

    fn kept(&self) -> MutexGuard<'_, LoadedRows> {
        // A map of lists is consistent at any time.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Processes a recheck of a list's first page that was read completely: the targets of its rows, in order, without pinned ones, and
    /// hashes of all that the page links to.
    pub fn look(&self, list: &str, urls: &[&str], linked: &HashSet<u64>, at: UnixMillis) -> Vanished {
        let mut kept = self.kept();
        kept.make_room(urls.len(), list, at);
        let lists = &kept.state.lists;
        let others = || lists.iter().filter(|(name, _)| *name != list).map(|(_, other)| other);
        let rows = others().map(|other| other.urls.len()).sum::<usize>() + urls.len();
        let missed = lists.get(list).map_or(0, |followed| followed.missed_bytes(urls));
        let bytes = others().map(Followed::bytes).sum::<usize>() + missed + bytes_of(urls.iter().copied());
        let is_new = !lists.contains_key(list);
        if rows > LISTS_ROWS_MAX || bytes > LISTS_BYTES_MAX || (is_new && lists.len() >= LISTS_FOLLOWED_MAX) {
            // A later recheck would report its old rows as vanished, since this one is not followed.
            kept.is_changed |= kept.state.lists.remove(list).is_some();
            return Vanished::default();
        }
        kept.is_changed = true;
        let followed = kept.state.lists.entry(list.to_owned()).or_default();
        (followed.shown, followed.looked) = (urls.iter().map(|url| hash(url)).collect(), at);
        for url in urls {
            followed.urls.entry(hash(url)).or_insert_with(|| (*url).to_owned());
        }
        let vanished = followed.look(linked, at);
        followed.forget();
        vanished
    }

    /// The same recheck once more: the page has not changed.
    pub fn again(&self, list: &str, at: UnixMillis) -> Vanished {
        let mut kept = self.kept();
        let Some(followed) = kept.state.lists.get_mut(list) else { return Vanished::default() };
        followed.looked = at;
        let (vanished, is_waiting) = (followed.look(&HashSet::new(), at), followed.urls.len() > followed.shown.len());
        // An unchanged page needs no note of megabytes.
        kept.is_changed |= is_waiting || vanished != Vanished::default();
        vanished
    }

    /// The next rows of a list in rotation, at most `rows_max`: their targets.
    pub fn in_turn(&self, list: &str, rows_max: usize) -> Vec<String> {
        let kept = self.kept();
        let Some(Followed { shown, urls, turn, .. }) = kept.state.lists.get(list) else { return Vec::new() };
        let count = shown.len().max(1);
        let places = (0..shown.len().min(rows_max)).map(|n| (*turn as usize + n) % count);
        places.filter_map(|at| urls.get(shown.get(at)?).cloned()).collect()
    }

    /// Moves the rotation past this number of rows.
    pub fn had_turn(&self, list: &str, rows: usize) {
        let mut kept = self.kept();
        if let Some(followed) = kept.state.lists.get_mut(list) {
            followed.turn = (followed.turn + rows as u64) % followed.shown.len().max(1) as u64;
        }
    }

    /// Records that a thread has a torrent on its first page.
    pub fn holds(&self, url: u64) {
        let mut kept = self.kept();
        let of_url = kept.state.lists.values_mut().filter(|list| list.urls.contains_key(&url));
        let is_new = of_url.map(|list| list.held.insert(url)).fold(false, |any, is_new| any | is_new);
        kept.is_changed |= is_new;
    }

    /// True for a thread that had one, if its list is followed.
    pub fn held(&self, url: u64) -> bool {
        self.kept().state.lists.values().any(|list| list.held.contains(&url))
    }

    /// Removes a list that is gone, or has moved.
    pub fn forget(&self, list: &str) {
        let mut kept = self.kept();
        kept.is_changed |= kept.state.lists.remove(list).is_some();
    }
}

impl LoadedRows {
    /// Drops lists that are no longer rechecked for one with this number of rows, if there is no room.
    fn make_room(&mut self, rows: usize, list: &str, at: UnixMillis) {
        let lists = &self.state.lists;
        let is_full = lists.len() >= LISTS_FOLLOWED_MAX
            || lists.values().map(|list| list.urls.len()).sum::<usize>() + rows > LISTS_ROWS_MAX;
        if is_full && !lists.contains_key(list) {
            let before = lists.len();
            self.state.lists.retain(|_, list| at.since(list.looked) <= LIST_FORGOTTEN_TIME);
            self.is_changed |= self.state.lists.len() < before;
        }
    }
}

/// Bytes that rows take in the note, by their targets.
fn bytes_of<'u>(urls: impl Iterator<Item = &'u str>) -> usize {
    urls.map(|url| url.len() + LISTS_ROW_BYTES).sum()
}

impl Followed {
    fn bytes(&self) -> usize {
        bytes_of(self.urls.values().map(String::as_str))
    }

    /// Bytes of missing rows, which stay in addition to those shown.
    fn missed_bytes(&self, shown: &[&str]) -> usize {
        let shown: HashSet<&str> = shown.iter().copied().collect();
        bytes_of(self.urls.values().map(String::as_str).filter(|url| !shown.contains(url)))
    }

    fn look(&mut self, linked: &HashSet<u64>, at: UnixMillis) -> Vanished {
        let found = self.list.look(&Listed { rows: &self.shown, linked, is_whole: true, at });
        let url = |row: &u64| self.urls.get(row).cloned();
        Vanished {
            gone: found.gone.iter().filter_map(|(row, gone)| Some((url(row)?, *gone))).collect(),
            back: found.back.iter().filter_map(url).collect(),
        }
    }

    /// Removes the targets of rows that are no longer followed.
    fn forget(&mut self) {
        let Self { list, urls, held, .. } = self;
        urls.retain(|row, _| list.follows(*row));
        held.retain(|row| urls.contains_key(row));
    }
}

#[cfg(test)]
mod tests;

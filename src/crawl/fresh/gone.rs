//! What the site has no more: answers that say so, rows that vanished from its lists, and since when (ALGORITHMS §7).
//!
//! 404 and 410 are believed at once. A page that says that its torrent is gone, or that is the one which the site sends for what
//! it does not have, is looked at once more, three hours later, before it is. A row that vanished from a list while its neighbours
//! stayed has its page asked for: what that has no torrent any more, or leads home, is gone.
//!
//! What is gone ends as `Outcome::Gone`, which coverage counts; nothing is taken out of the archive. What a site sends for what it
//! does not have is learned from pages of torrents without one that are alike under different URLs, where most others have one: no
//! address is made up for it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::freshness::gone::{Answer, Gone, NotFound, Why};
use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_page::fingerprint::Sketch;

/// The name of the note that keeps what is gone.
pub const GONE_NOTE: &str = "gone";

/// Pages of torrents with one that must have been seen before one without is believed to be what the site sends for what it has not.
const WITH_MIN: u32 = 3;

/// Pages without one that are looked at again before so many were seen.
const EARLY: u32 = 20;

/// What a site has no more.
#[derive(Default)]
pub struct Missing {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    state: State,
    is_changed: bool,
}

/// As it is written down.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct State {
    version: u32,
    /// Torrents that are gone, by why.
    pub counts: BTreeMap<String, u64>,
    /// The last of them.
    pub last: VecDeque<GoneUrl>,
    /// Rows that vanished from their lists and whose pages are asked for, by the hashes of their URLs.
    unlisted: BTreeMap<u64, Gone>,
    /// Pages of torrents that had one, and those that had none.
    with: u32,
    without: u32,
    /// The last of those without, by their URLs.
    strangers: VecDeque<(u64, Sketch)>,
    /// What the site sends for what it does not have.
    not_found: Option<Sketch>,
}

/// A URL that is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoneUrl {
    pub url: String,
    pub gone: Gone,
    /// When that was found.
    pub at: UnixMillis,
}

const VERSION: u32 = 1;

impl State {
    /// Reads a note; `None` where it is broken or of another version.
    #[must_use]
    pub fn from_bytes(note: &[u8]) -> Option<Self> {
        serde_json::from_slice::<Self>(note).ok().filter(|state| state.version == VERSION)
    }
}

/// The number that stands for a URL.
#[must_use]
pub fn hash(url: &str) -> u64 {
    xxh3_64(url.as_bytes())
}

/// The sign in words, as `status` counts it.
#[must_use]
pub fn why_name(why: Why) -> String {
    match why {
        Why::Status(status) => format!("status {status}"),
        Why::NotFoundPage => "the page for what is not there".to_owned(),
        Why::Said => "said to be gone".to_owned(),
        Why::Redirected => "leads home".to_owned(),
        Why::Unlisted => "off its list, without a torrent".to_owned(),
    }
}

impl Missing {
    /// Takes up the note of earlier runs; says so where it is of no use.
    pub fn take_up(&self, site: &str, note: Option<&[u8]>) {
        let Some(note) = note else { return };
        match State::from_bytes(note) {
            Some(state) => self.kept().state = state,
            None => tracing::warn!(%site, "the note of what is gone cannot be read: it is counted anew"),
        }
    }

    /// The note, where something has changed.
    pub fn note(&self) -> Option<(String, Vec<u8>)> {
        let mut kept = self.kept();
        if !std::mem::take(&mut kept.is_changed) {
            return None;
        }
        drop(kept);
        Some((GONE_NOTE.to_owned(), self.note_now()))
    }

    pub(super) fn note_now(&self) -> Vec<u8> {
        let mut kept = self.kept();
        kept.state.version = VERSION;
        serde_json::to_vec(&kept.state).unwrap_or_default()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Counts stay usable after a panic elsewhere.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A row vanished for good from its list: its page is to be asked for.
    pub fn unlisted(&self, url: u64, gone: Gone) {
        let mut kept = self.kept();
        if kept.state.unlisted.len() < limits::GONE_UNLISTED_MAX {
            kept.state.unlisted.insert(url, gone);
            kept.is_changed = true;
        }
    }

    pub(super) fn is_unlisted(&self, url: u64) -> Option<Gone> {
        self.kept().state.unlisted.get(&url).copied()
    }

    /// The page of a row that vanished was asked for, and is there.
    pub fn is_there(&self, url: u64) {
        let mut kept = self.kept();
        let was_unlisted = kept.state.unlisted.remove(&url).is_some();
        kept.is_changed |= was_unlisted;
    }

    /// A page of a torrent has one.
    pub(super) fn has_one(&self) {
        let mut kept = self.kept();
        kept.state.with = kept.state.with.saturating_add(1);
        kept.is_changed = true;
    }

    /// Counts a torrent that is gone.
    pub fn record(&self, url: &str, gone: Gone, at: UnixMillis) {
        let mut kept = self.kept();
        kept.is_changed = true;
        kept.state.unlisted.remove(&hash(url));
        if kept.state.last.iter().any(|known| known.url == url) {
            return;
        }
        *kept.state.counts.entry(why_name(gone.why)).or_default() += 1;
        kept.state.last.push_back(GoneUrl { url: url.to_owned(), gone, at });
        while kept.state.last.len() > limits::GONE_TOLD_MAX {
            kept.state.last.pop_front();
        }
    }

    /// Takes in a page of a torrent without one, and tells what the site sends for what it does not have, as far as it is known.
    /// Before enough pages with a torrent were seen, two alike are taken for it to be looked at again; `is_second` asks for a verdict.
    pub(super) fn stranger(&self, url: u64, sketch: &Sketch, is_second: bool) -> NotFound {
        let mut kept = self.kept();
        kept.is_changed = true;
        let state = &mut kept.state;
        state.without = state.without.saturating_add(1);
        let answer = |sketch| Answer {
            status: 200,
            landing: None,
            text: "",
            sketch: Some(sketch),
            has_torrent: false,
            is_of_guest: false,
            is_whole: true,
        };
        let others = state.strangers.iter().filter(|(other, _)| *other != url);
        let mut learned = others.map(|(_, other)| NotFound::learn(&[answer(other), answer(sketch)]));
        if let Some(page) = learned.find_map(|not_found| not_found.page().cloned()) {
            state.not_found = Some(page);
        }
        if !state.strangers.iter().any(|(other, _)| *other == url) {
            state.strangers.push_back((url, sketch.clone()));
        }
        while state.strangers.len() > limits::GONE_STRANGERS_MAX {
            state.strangers.pop_front();
        }
        let is_usual = state.with >= WITH_MIN && state.without <= state.with;
        let is_early = !is_second && state.without <= EARLY;
        let believed = state.not_found.clone().filter(|_| is_usual || is_early);
        believed.map(NotFound::of_page).unwrap_or_default()
    }
}

//! Content that the site no longer has: responses that show it, rows that vanished from its lists, and since when (ALGORITHMS §7).
//!
//! 404 and 410 are accepted at once. A page that says that its torrent is gone, or that equals the site's page for missing
//! content, is rechecked once, three hours later, before it is accepted. If a row vanished from a list while its neighbours
//! stayed, its page is requested: if that has no torrent any more, or redirects to the start page, it is gone.
//!
//! Gone URLs end as `Outcome::Gone`, which coverage counts; nothing is removed from the archive. The site's page for missing
//! content is learned from torrents' pages without a torrent that are alike under different URLs, where most others have one: no
//! address is made up for it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::freshness::gone::{Answer, Gone, NotFound, Why};
use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_page::fingerprint::Sketch;

/// Name of the note that stores what is gone.
pub const GONE_NOTE: &str = "gone";

/// Torrents' pages with a torrent that must have been seen before one without may count as the site's page for missing content.
const WITH_MIN: u32 = 3;

/// Pages without a torrent that are rechecked before that many were seen.
const EARLY: u32 = 20;

/// Content that a site no longer has.
#[derive(Default)]
pub struct Missing {
    kept: Mutex<LoadedGonePages>,
}

#[derive(Default)]
struct LoadedGonePages {
    state: GonePages,
    is_changed: bool,
}

/// The stored form.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct GonePages {
    version: u32,
    /// Number of gone torrents, by reason.
    pub counts: BTreeMap<String, u64>,
    /// The latest of them.
    pub last: VecDeque<GoneUrl>,
    /// Rows that vanished from their lists and whose pages are requested, by the hashes of their URLs.
    unlisted: BTreeMap<u64, Gone>,
    /// Number of torrents' pages with a torrent, and without.
    with: u32,
    without: u32,
    /// The latest of those without, by their URLs.
    strangers: VecDeque<(u64, Sketch)>,
    /// The site's page for missing content.
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

impl GonePages {
    /// Parses a note; `None` if it is broken or of another version.
    #[must_use]
    pub fn from_bytes(note: &[u8]) -> Option<Self> {
        serde_json::from_slice::<Self>(note).ok().filter(|state| state.version == VERSION)
    }
}

/// The hash that represents a URL.
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
    /// Loads the note of earlier runs; logs a warning if it is unusable.
    pub fn take_up(&self, site: &str, note: Option<&[u8]>) {
        let Some(note) = note else { return };
        match GonePages::from_bytes(note) {
            Some(state) => self.kept().state = state,
            None => tracing::warn!(%site, "the stored record of removed URLs cannot be read: counting starts anew"),
        }
    }

    /// The note, if something has changed.
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

    fn kept(&self) -> MutexGuard<'_, LoadedGonePages> {
        // Counts stay usable after a panic elsewhere.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A row vanished for good from its list: its page is to be requested.
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

    /// The page of a vanished row was requested, and exists.
    pub fn is_there(&self, url: u64) {
        let mut kept = self.kept();
        let was_unlisted = kept.state.unlisted.remove(&url).is_some();
        kept.is_changed |= was_unlisted;
    }

    /// Counts a torrent's page that has a torrent.
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

    /// Adds a torrent's page without a torrent; returns the site's page for missing content, if known.
    /// Before enough pages with a torrent were seen, two alike count as such for a recheck; `is_second` asks for a verdict.
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

//! Acquisition delays of torrents (ALGORITHMS §0, §6): rows that rechecks of lists showed for the first time are awaited, and measured when
//! their torrent is in the archive.
//!
//! A torrent is identified by the URL that its row links: its own, or that of the page that contains its link.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::freshness::delay::{Arrival, Delays, SiteTime};
use crate::freshness::histogram::Histogram;
use crate::limits::{ARRIVAL_AWAITED_TIME, ARRIVALS_AWAITED_MAX, ARRIVALS_NOTED_OFTEN_MAX};
use gleaner_base::clock::UnixMillis;

/// Names of the notes that store the delays, and the awaited rows.
pub const DELAY_NOTE: &str = "delay";
/// See [`DELAY_NOTE`].
pub const AWAITED_NOTE: &str = "awaited";

const VERSION: u32 = 1;

/// A new row that a recheck of a list showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sighting {
    /// The time that the site shows for it, and its precision in milliseconds.
    pub shown: Option<(UnixMillis, u64)>,
    /// The previous recheck, at which it was absent.
    pub last_absent: Option<UnixMillis>,
    pub first_seen: UnixMillis,
}

/// The awaited arrivals of one site.
#[derive(Default)]
pub struct Arrivals {
    kept: Mutex<LoadedArrivals>,
}

#[derive(Default)]
struct LoadedArrivals {
    delays: Delays,
    state: StoredArrivals,
    is_changed: bool,
}

#[derive(Default, Serialize, Deserialize)]
struct StoredArrivals {
    version: u32,
    /// When the site was first crawled.
    since: UnixMillis,
    /// By the hash of the URL that the row links.
    awaited: BTreeMap<u64, Sighting>,
}

impl Arrivals {
    /// Loads the notes of earlier runs; logs a warning if one is unusable.
    pub fn take_up(&self, site: &str, delays: Option<&[u8]>, awaited: Option<&[u8]>, now: UnixMillis) {
        let mut kept = self.kept();
        if let Some(note) = delays {
            match Delays::from_bytes(note) {
                Some(delays) => kept.delays = delays,
                None => tracing::warn!(%site, "the stored delays cannot be read: they are measured anew"),
            }
        }
        if let Some(note) = awaited {
            match serde_json::from_slice::<StoredArrivals>(note).ok().filter(|state| state.version == VERSION) {
                Some(state) => kept.state = state,
                None => tracing::warn!(%site, "the stored record of expected torrents cannot be read: it starts anew"),
            }
        }
        if kept.state.since == UnixMillis(0) {
            kept.state.since = now;
            kept.is_changed = true;
        }
    }

    /// The notes, if something has changed.
    pub fn notes(&self) -> Vec<(String, Vec<u8>)> {
        let mut kept = self.kept();
        if !std::mem::take(&mut kept.is_changed) {
            return Vec::new();
        }
        kept.state.version = VERSION;
        let awaited = serde_json::to_vec(&kept.state).unwrap_or_default();
        vec![(DELAY_NOTE.to_owned(), kept.delays.to_bytes()), (AWAITED_NOTE.to_owned(), awaited)]
    }

    /// The same while they are short. Unlike other recheck state, a measurement that a kill loses cannot be repeated, so these notes
    /// are written more often.
    pub fn short_notes(&self) -> Vec<(String, Vec<u8>)> {
        let is_short = self.kept().state.awaited.len() <= ARRIVALS_NOTED_OFTEN_MAX;
        if is_short { self.notes() } else { Vec::new() }
    }

    /// The note with the delays.
    pub(super) fn delays_now(&self) -> Vec<u8> {
        self.kept().delays.to_bytes()
    }

    /// The delays, from the middles of their intervals.
    pub fn measured(&self) -> Histogram {
        self.kept().delays.middle().clone()
    }

    fn kept(&self) -> MutexGuard<'_, LoadedArrivals> {
        // Counts stay usable after a panic elsewhere.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a new row of a recheck. Rows present at the first visit of their list are history, unless the site shows a
    /// time for them after the crawl began.
    pub fn sighted(&self, url: u64, sighting: Sighting) {
        let mut kept = self.kept();
        let is_late = sighting.shown.is_some_and(|(at, _)| at >= kept.state.since);
        if sighting.last_absent.is_none() && !is_late {
            return;
        }
        kept.is_changed = true;
        kept.state.awaited.entry(url).or_insert(sighting);
        if kept.state.awaited.len() > ARRIVALS_AWAITED_MAX {
            let oldest = kept.state.awaited.iter().min_by_key(|(_, sighting)| sighting.first_seen).map(|(url, _)| *url);
            oldest.and_then(|url| kept.state.awaited.remove(&url));
        }
    }

    /// Adds a known thread with new posts, which is read from this page on.
    pub fn sighted_anew(&self, url: u64, sighting: Sighting) {
        self.kept().state.awaited.remove(&url);
        self.sighted(url, sighting);
    }

    /// Another page of the thread is searched for the new posts, too.
    pub fn passes_on(&self, from: u64, to: u64) {
        let sighting = self.kept().state.awaited.get(&from).copied();
        if let Some(sighting) = sighting {
            self.sighted_anew(to, sighting);
        }
    }

    /// True for a row that a recheck has shown for the first time and that was not fetched since.
    #[must_use]
    pub fn awaits(&self, url: u64) -> bool {
        self.kept().state.awaited.contains_key(&url)
    }

    /// A new torrent is in the archive; `urls` are its own and that of the page that contains its link.
    pub fn stored(&self, urls: &[u64], acquired: UnixMillis) {
        let mut kept = self.kept();
        kept.is_changed = true;
        kept.state.awaited.retain(|_, sighting| acquired.since(sighting.first_seen) < ARRIVAL_AWAITED_TIME);
        let sighting = urls.iter().find_map(|url| kept.state.awaited.get(url)).copied();
        let arrival = Arrival {
            shown: sighting.and_then(|sighting| sighting.shown).map(|(at, precision_ms)| SiteTime { at, precision_ms }),
            last_absent: sighting.and_then(|sighting| sighting.last_absent),
            first_seen: sighting.map_or(acquired, |sighting| sighting.first_seen),
            acquired,
            site_since: kept.state.since,
        };
        kept.delays.add(&arrival);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600_000;

    #[test]
    fn delays_are_measured_from_looks_and_kept_with_what_is_waited_for() {
        let at = |hours: u64| UnixMillis(1_790_000_000_000 + hours * HOUR);
        let arrivals = Arrivals::default();
        arrivals.take_up("s", None, None, at(0));
        arrivals.sighted(1, Sighting { shown: None, last_absent: None, first_seen: at(0) });
        arrivals.sighted(2, Sighting { shown: None, last_absent: Some(at(4)), first_seen: at(6) });
        arrivals.stored(&[7, 1], at(1));
        assert!(arrivals.awaits(2) && !arrivals.awaits(1), "what was there at the first look is history");
        let notes = arrivals.notes();
        assert!(arrivals.notes().is_empty());
        let again = Arrivals::default();
        again.take_up("s", Some(&notes[0].1), Some(&notes[1].1), at(6));
        again.stored(&[9, 2], at(7));
        let report = again.kept().delays.report();
        assert_eq!((report.torrents, report.history, report.looks), (1, 1, 1));
        let middle = report.median.middle_s.unwrap();
        assert!((middle / 3_600.0 - 2.0).abs() < 0.1, "{middle} s from the middle of the looks");
        Arrivals::default().take_up("s", Some(b"x"), Some(b"y"), at(0));
    }

    #[test]
    fn what_is_waited_for_stays_bounded() {
        let arrivals = Arrivals::default();
        for url in 0..ARRIVALS_AWAITED_MAX as u64 + 10 {
            arrivals.sighted(
                url,
                Sighting { shown: None, last_absent: Some(UnixMillis(1)), first_seen: UnixMillis(url + 2) },
            );
        }
        let kept = arrivals.kept();
        assert_eq!(kept.state.awaited.len(), ARRIVALS_AWAITED_MAX);
        assert!(!kept.state.awaited.contains_key(&0), "the oldest is forgotten first");
    }
}

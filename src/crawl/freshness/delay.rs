//! Acquisition delay: the time from a torrent's appearance on its site to its arrival in the archive (ALGORITHMS §0, §6; BT §4, Fig. 7).
//!
//! The appearance of a torrent is never known exactly. The site may show a time, to the minute or to the day, by a clock that
//! may be wrong; and the crawler has checked a list that did not contain it yet, and later one that did. Both are
//! intervals: if they overlap, their intersection is used; if they contradict each other, the checks are trusted and the
//! contradiction is counted (the site's clock or time zone is wrong). So each delay is an interval too, and every figure has
//! a minimum, a middle and a maximum.
//!
//! Torrents present at the first check of a list are history and have no delay.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Between;
use super::histogram::Histogram;
use crate::limits::DELAY_BINS_MAX;
use gleaner_base::clock::UnixMillis;

/// A time that a site shows: the moment lies between `at` and `precision_ms` later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteTime {
    pub at: UnixMillis,
    /// Uncertainty of the displayed time, in milliseconds: a minute for `14:03`, a day for a date, the unit for
    /// `3 hours ago`.
    pub precision_ms: u64,
}

/// What is known of one torrent's arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The site's own time.
    pub shown: Option<SiteTime>,
    /// The last check of a list that should have shown it and did not; None if there was no earlier check.
    pub last_absent: Option<UnixMillis>,
    /// The first check that showed it.
    pub first_seen: UnixMillis,
    /// When its file was stored in the archive.
    pub acquired: UnixMillis,
    /// When the site was first crawled: what a site shows as older is history.
    pub site_since: UnixMillis,
}

/// How the appearance of a torrent is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Appearance {
    /// By the site's time, within the interval of the checks.
    Shown(Between),
    /// By the checks alone.
    Looks(Between),
    /// By the checks: the site's time contradicts them.
    Contradicted(Between),
    /// It existed before the crawl began.
    History,
}

impl Arrival {
    /// When it appeared.
    #[must_use]
    pub fn appeared(&self) -> Appearance {
        let shown = self
            .shown
            .map(|shown| Between { from: shown.at, until: UnixMillis(shown.at.0.saturating_add(shown.precision_ms)) });
        let Some(absent) = self.last_absent.filter(|absent| *absent <= self.first_seen) else {
            // Without an earlier check, only a time after the crawl began distinguishes it from what always existed.
            let ahead_ms = |shown: Between| shown.from.0.saturating_sub(self.first_seen.0);
            let from = |shown: Between| match ahead_ms(shown) {
                0..=CLOCKS_DIFFER_MS => shown.from.min(self.first_seen),
                _ => shown.from,
            };
            return match shown.map(|shown| Between { from: from(shown), until: shown.until.min(self.first_seen) }) {
                Some(shown) if shown.from >= self.site_since && shown.from <= shown.until => Appearance::Shown(shown),
                _ => Appearance::History,
            };
        };
        let looks = Between { from: absent, until: self.first_seen };
        match shown {
            None => Appearance::Looks(looks),
            Some(shown) => match shown.and(looks) {
                Some(both) => Appearance::Shown(both),
                None if shown.widened(CLOCKS_DIFFER_MS).and(looks).is_some() => Appearance::Looks(looks),
                None => Appearance::Contradicted(looks),
            },
        }
    }
}

/// The delays of one site, or of several that were merged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delays {
    version: u32,
    /// The minimum, middle and maximum of each delay.
    least: Histogram,
    middle: Histogram,
    most: Histogram,
    /// Torrents that existed before the crawl.
    history: u64,
    /// Number of delays by source.
    shown: u64,
    looks: u64,
    contradicted: u64,
    /// Length of a bin of `bins`, in hours: a power of two.
    bin_hours: u64,
    /// Delays by the middle of the torrents' times of appearance: bin number since 1970 → delays.
    bins: BTreeMap<u64, Histogram>,
}

/// Version of the stored form.
const VERSION: u32 = 1;

/// Difference of two clocks that both count as right, in milliseconds.
const CLOCKS_DIFFER_MS: u64 = 60_000;

const HOUR_MS: u64 = 3_600_000;

/// The longest bin: a thousand years need only few of them, whatever times a note or a site's clock contains.
const BIN_HOURS_LONGEST: u64 = 1 << 17;

impl Default for Delays {
    fn default() -> Self {
        Self {
            version: VERSION,
            least: Histogram::default(),
            middle: Histogram::default(),
            most: Histogram::default(),
            history: 0,
            shown: 0,
            looks: 0,
            contradicted: 0,
            bin_hours: 1,
            bins: BTreeMap::new(),
        }
    }
}

/// A quantile of the delay in seconds: its minimum, middle and maximum. None if nothing was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "DelayQuantile")]
pub struct Quantile {
    pub least_s: Option<f64>,
    pub middle_s: Option<f64>,
    pub most_s: Option<f64>,
}

/// The figures of a site.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "DelayReport")]
pub struct Report {
    /// Torrents with a delay.
    pub torrents: u64,
    /// Torrents that existed before the crawl; not in the figures.
    pub history: u64,
    /// Delays known by the site's times, by checks alone, and by checks that the site's times contradict.
    pub shown: u64,
    pub looks: u64,
    pub contradicted: u64,
    pub median: Quantile,
    pub p90: Quantile,
    pub p99: Quantile,
    /// The largest relative error of the figures in addition to their bounds.
    pub error: f64,
    /// Delay over time, by when the torrents appeared.
    pub over_time: Vec<Point>,
}

/// The delays of the torrents that appeared in one bin of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "DelayPoint")]
pub struct Point {
    pub from: UnixMillis,
    pub until: UnixMillis,
    pub torrents: u64,
    /// Of the middle values.
    pub median_s: f64,
    pub p90_s: f64,
    pub p99_s: f64,
}

impl Delays {
    /// Counts an arrival.
    pub fn add(&mut self, arrival: &Arrival) {
        let between = match arrival.appeared() {
            Appearance::History => {
                self.history = self.history.saturating_add(1);
                return;
            }
            Appearance::Shown(between) => {
                self.shown = self.shown.saturating_add(1);
                between
            }
            Appearance::Looks(between) => {
                self.looks = self.looks.saturating_add(1);
                between
            }
            Appearance::Contradicted(between) => {
                self.contradicted = self.contradicted.saturating_add(1);
                between
            }
        };
        let since = |from: UnixMillis| arrival.acquired.since(from).as_secs_f64();
        self.least.add(since(between.until));
        self.most.add(since(between.from));
        let middle = since(between.middle());
        self.middle.add(middle);
        self.bins.entry(between.middle().0 / HOUR_MS / self.bin_hours).or_default().add(middle);
        self.widen(self.bin_hours);
    }

    /// Adds the delays of another site or of an earlier time.
    pub fn merge(&mut self, other: &Self) {
        self.least.merge(&other.least);
        self.middle.merge(&other.middle);
        self.most.merge(&other.most);
        self.history = self.history.saturating_add(other.history);
        self.shown = self.shown.saturating_add(other.shown);
        self.looks = self.looks.saturating_add(other.looks);
        self.contradicted = self.contradicted.saturating_add(other.contradicted);
        let mut other = other.clone();
        let hours = self.bin_hours.max(other.bin_hours);
        self.widen(hours);
        other.widen(hours);
        for (bin, histogram) in &other.bins {
            self.bins.entry(*bin).or_default().merge(histogram);
        }
        self.widen(hours);
    }

    /// Widens the bins to this length, and further while there are too many.
    fn widen(&mut self, hours: u64) {
        while self.bin_hours < hours || (self.bins.len() > DELAY_BINS_MAX && self.bin_hours < BIN_HOURS_LONGEST) {
            self.bin_hours *= 2;
            for (bin, histogram) in std::mem::take(&mut self.bins) {
                self.bins.entry(bin / 2).or_default().merge(&histogram);
            }
        }
        // Times of many thousand years are invalid.
        while self.bins.len() > DELAY_BINS_MAX {
            self.bins.pop_last();
        }
    }

    /// The figures.
    #[must_use]
    pub fn report(&self) -> Report {
        let quantile = |share| Quantile {
            least_s: self.least.quantile(share),
            middle_s: self.middle.quantile(share),
            most_s: self.most.quantile(share),
        };
        let length_ms = self.bin_hours.saturating_mul(HOUR_MS);
        let point = |(bin, delays): (&u64, &Histogram)| {
            let from = bin.saturating_mul(length_ms);
            Some(Point {
                from: UnixMillis(from),
                until: UnixMillis(from.saturating_add(length_ms)),
                torrents: delays.count(),
                median_s: delays.quantile(0.5)?,
                p90_s: delays.quantile(0.9)?,
                p99_s: delays.quantile(0.99)?,
            })
        };
        Report {
            torrents: self.middle.count(),
            history: self.history,
            shown: self.shown,
            looks: self.looks,
            contradicted: self.contradicted,
            median: quantile(0.5),
            p90: quantile(0.9),
            p99: quantile(0.99),
            error: super::histogram::ERROR,
            over_time: self.bins.iter().filter_map(point).collect(),
        }
    }

    /// The middle of each delay's interval.
    #[must_use]
    pub fn middle(&self) -> &Histogram {
        &self.middle
    }

    /// Serialises it as a note for the crawl database.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        // Numbers and maps with numbers for keys: serde_json cannot fail on them.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Parses a note; None if it is broken or of another version: the measurement starts over.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut read: Self = serde_json::from_slice(bytes).ok()?;
        let is_whole = read.version == VERSION
            && read.bin_hours.is_power_of_two()
            && read.bin_hours <= BIN_HOURS_LONGEST
            && [&read.least, &read.most].into_iter().all(|other| other.count() == read.middle.count());
        read.widen(read.bin_hours);
        is_whole.then_some(read)
    }
}

#[cfg(test)]
mod tests;

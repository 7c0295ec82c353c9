//! Coverage over time: when the torrents came that are in the archive now, against what the site lists now. Pure.
//!
//! What a site listed at an earlier time is not kept: each time's coverage is the share of **today's** listed torrents that was there by then, so that the last
//! one is CR.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::limits::COVERAGE_BINS_MAX;
use gleaner_base::clock::UnixMillis;

const HOUR_MS: u64 = 3_600_000;

/// Torrents of a site by the time at which they came from it, in bins of a power of two of hours.
#[derive(Clone, Debug)]
pub struct Growth {
    bin_hours: u64,
    bins: BTreeMap<u64, Came>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Came {
    torrents: u64,
    listed: u64,
}

impl Default for Growth {
    fn default() -> Self {
        Self { bin_hours: 1, bins: BTreeMap::new() }
    }
}

/// The state of a site at the end of a bin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct GrowthPoint {
    /// The end of the bin (UTC).
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String")]
    pub until: UnixMillis,
    /// CI by then.
    pub ci: u64,
    /// Its listed part.
    pub listed_stored: u64,
    /// That, as a share of today's NI; None where NI is not known.
    pub cr: Option<f64>,
}

fn as_text<S: Serializer>(at: &UnixMillis, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.rfc3339())
}

impl Growth {
    /// Adds a torrent that came then.
    pub fn add(&mut self, at: UnixMillis, is_listed: bool) {
        let came = self.bins.entry(at.0 / HOUR_MS / self.bin_hours).or_default();
        came.torrents += 1;
        came.listed += u64::from(is_listed);
        while self.bins.len() > COVERAGE_BINS_MAX {
            self.bin_hours *= 2;
            for (bin, came) in std::mem::take(&mut self.bins) {
                let wider = self.bins.entry(bin / 2).or_default();
                wider.torrents += came.torrents;
                wider.listed += came.listed;
            }
        }
    }

    /// The sums up to the end of each bin in which a torrent came, of a site with this NI and as many listed torrents in the archive.
    #[must_use]
    pub fn points(&self, ni: Option<u64>, listed_stored: u64) -> Vec<GrowthPoint> {
        let mut sum = Came::default();
        let point = |(bin, came): (&u64, &Came)| {
            sum.torrents += came.torrents;
            // Of torrents behind redirects some are listed, and it is not known which.
            sum.listed = (sum.listed + came.listed).min(listed_stored);
            GrowthPoint {
                until: UnixMillis(bin.saturating_add(1).saturating_mul(self.bin_hours).saturating_mul(HOUR_MS)),
                ci: sum.torrents,
                listed_stored: sum.listed,
                cr: ni.and_then(|ni| super::ratio(sum.listed, ni)),
            }
        };
        self.bins.iter().map(point).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_point_is_the_coverage_of_today() {
        let mut growth = Growth::default();
        for hour in [5, 5, 7, 30] {
            growth.add(UnixMillis(hour * HOUR_MS + 1), hour != 7);
        }
        let points = growth.points(Some(4), 3);
        let told: Vec<_> = points.iter().map(|of| (of.until.0 / HOUR_MS, of.ci, of.listed_stored, of.cr)).collect();
        assert_eq!(told, [(6, 2, 2, Some(0.5)), (8, 3, 2, Some(0.5)), (31, 4, 3, Some(0.75))]);
        assert_eq!(growth.points(None, 3)[2].cr, None);
        assert_eq!(growth.points(Some(4), 2)[2].listed_stored, 2, "no more than are listed");
        assert_eq!(Growth::default().points(Some(4), 3), []);
    }

    #[test]
    fn many_years_and_nonsense_take_few_bins() {
        let mut growth = Growth::default();
        for day in 0..20_000_u64 {
            growth.add(UnixMillis(day * 24 * HOUR_MS), true);
        }
        growth.add(UnixMillis(u64::MAX), false);
        let points = growth.points(Some(20_000), 20_000);
        assert!(points.len() <= COVERAGE_BINS_MAX && points.is_sorted_by_key(|of| of.until), "{}", points.len());
        assert_eq!(points.last().map(|of| (of.ci, of.cr)), Some((20_001, Some(1.0))));
    }
}

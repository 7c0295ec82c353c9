//! The contents of the demo site, for tests and for the demo's summary: which torrents a correct crawl stores
//! and which it cannot or must not. The crawler never sees it.

use std::collections::HashMap;

use super::delivery::{Area, Delivery, Link};
use super::torrents::{Blueprint, Version};
use gleaner_torrent::Infohashes;

/// Outcome for a torrent in a crawl that obeys the demo's rule file and robots.txt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fate {
    /// A correct crawl stores it.
    Reachable,
    /// Named by a magnet link and nothing else.
    MagnetOnly,
    /// Listed under `/private/`, which robots.txt disallows: it exists and must not be fetched.
    ClosedByRobots,
    /// Listed, but its detail page is 404 or redirects to another host, and its download is 404.
    Gone,
    /// Its download answers 200 and `application/x-bittorrent` with an HTML page.
    PosesAsHtml,
    /// Its download begins like a torrent but continues as something else.
    Malformed,
}

/// One torrent of the site.
#[derive(Clone, Debug)]
pub struct TruthTorrent {
    pub infohashes: Infohashes,
    /// `name` of its info dictionary.
    pub name: String,
    pub version: Version,
    pub area: Area,
    pub link: Link,
    pub delivery: Delivery,
    pub fate: Fate,
    /// Detail pages that show it; 2 for a torrent listed twice.
    pub listings: u16,
    /// Its detail page has a magnet link (always for [`Fate::MagnetOnly`]).
    pub magnet: bool,
}

impl TruthTorrent {
    /// A torrent of a list that shows each once, by a link that only this site can generate.
    pub(super) fn behind_token(infohashes: Infohashes, blueprint: &Blueprint) -> Self {
        Self {
            infohashes,
            name: blueprint.name.clone(),
            version: blueprint.version,
            area: Area::Main,
            link: Link::Token,
            delivery: Delivery::of(0),
            fate: Fate::Reachable,
            listings: 1,
            magnet: false,
        }
    }

    /// True when a correct crawl stores it.
    #[must_use]
    pub fn reachable(&self) -> bool {
        self.fate == Fate::Reachable
    }
}

/// Comparison of a harvest with the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Reachable torrents on the site.
    pub reachable: usize,
    /// Reachable torrents in the harvest, each counted once.
    pub found: usize,
    /// Entries of the harvest that are no reachable torrent of the site.
    pub foreign: usize,
    /// `found / reachable`; 1 for a site without torrents.
    pub coverage: f64,
}

/// All torrents of the site, in unspecified order.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    pub torrents: Vec<TruthTorrent>,
}

impl Truth {
    /// Torrents that a correct crawl stores.
    pub fn reachable(&self) -> impl Iterator<Item = &TruthTorrent> {
        self.with_fate(Fate::Reachable)
    }

    /// Torrents known by magnet only.
    pub fn magnets(&self) -> impl Iterator<Item = &TruthTorrent> {
        self.with_fate(Fate::MagnetOnly)
    }

    /// Torrents with this fate.
    pub fn with_fate(&self, fate: Fate) -> impl Iterator<Item = &TruthTorrent> {
        self.torrents.iter().filter(move |torrent| torrent.fate == fate)
    }

    /// Compares a harvest with the site. An entry with only one hash of a hybrid is that torrent.
    pub fn score(&self, stored: impl IntoIterator<Item = Infohashes>) -> Score {
        let mut by_v1 = HashMap::new();
        let mut by_v2 = HashMap::new();
        let mut reachable = 0;
        for (index, torrent) in self.torrents.iter().enumerate().filter(|(_, torrent)| torrent.reachable()) {
            reachable += 1;
            by_v1.extend(torrent.infohashes.v1.map(|hash| (hash, index)));
            by_v2.extend(torrent.infohashes.v2.map(|hash| (hash, index)));
        }
        let mut found = vec![false; self.torrents.len()];
        let mut foreign = 0;
        for hashes in stored {
            let v1 = hashes.v1.and_then(|hash| by_v1.get(&hash));
            match v1.or_else(|| hashes.v2.and_then(|hash| by_v2.get(&hash))) {
                Some(&index) => found[index] = true,
                None => foreign += 1,
            }
        }
        let found = found.into_iter().filter(|&is_found| is_found).count();
        let coverage = if reachable == 0 { 1.0 } else { found as f64 / reachable as f64 };
        Score { reachable, found, foreign, coverage }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn torrent(number: u8, fate: Fate) -> TruthTorrent {
        TruthTorrent {
            infohashes: Infohashes { v1: Some([number; 20]), v2: Some([number; 32]) },
            name: String::new(),
            version: Version::Hybrid,
            area: Area::Main,
            link: Link::Token,
            delivery: Delivery::of(0),
            fate,
            listings: 1,
            magnet: false,
        }
    }

    #[test]
    fn either_hash_of_a_hybrid_counts_once_and_a_closed_torrent_counts_as_foreign() {
        let truth = Truth {
            torrents: vec![torrent(1, Fate::Reachable), torrent(2, Fate::Reachable), torrent(3, Fate::ClosedByRobots)],
        };
        let v1 = |number| Infohashes { v1: Some([number; 20]), v2: None };
        let v2 = |number| Infohashes { v1: None, v2: Some([number; 32]) };
        let score = truth.score([v1(1), v2(1), v1(3)]);
        assert_eq!(score, Score { reachable: 2, found: 1, foreign: 1, coverage: 0.5 });
    }

    #[test]
    fn an_empty_site_is_covered() {
        assert!((Truth::default().score([]).coverage - 1.0).abs() < f64::EPSILON);
    }
}

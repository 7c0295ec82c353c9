//! A cache of URLs that are certainly known: most links of a page are, and looking them up in the tree would cost more
//! than everything else. A direct-mapped table of fingerprints: recent URLs are found, others are looked up, memory is
//! fixed.
//!
//! Slot and fingerprint are different bits of a 128-bit hash with a per-process seed, so about 84 bits have to
//! match for one URL to be mistaken for another: less than once in 10¹² years of crawling at full speed, and no site
//! can compute such a pair.

use std::hash::{BuildHasher, RandomState};

use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::crawldb::record::HostId;

/// Number of fingerprints: 8 MiB at most, of which only touched pages are resident.
const SLOTS: usize = 1 << 20;

pub(super) struct UrlFingerprints {
    slots: Vec<u64>,
    seed: u64,
}

/// The hash of a URL in this process.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    slot: usize,
    fingerprint: u64,
}

impl UrlFingerprints {
    pub(super) fn new() -> Self {
        Self { slots: vec![0; SLOTS], seed: RandomState::new().hash_one("urls") }
    }

    pub(super) fn mark(&self, host: HostId, path: &str) -> Mark {
        let seed = self.seed ^ u64::from(host.0).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let hash = xxh3_128_with_seed(path.as_bytes(), seed);
        let low = hash as u64; // the low half is what is wanted
        Mark { slot: low as usize & (SLOTS - 1), fingerprint: ((hash >> 64) as u64).max(1) }
    }

    pub(super) fn contains(&self, mark: Mark) -> bool {
        self.slots[mark.slot] == mark.fingerprint
    }

    /// Call it only for a URL that is committed.
    pub(super) fn insert(&mut self, mark: Mark) {
        self.slots[mark.slot] = mark.fingerprint;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_seen_on_its_own_host_only() {
        let mut seen = UrlFingerprints::new();
        seen.insert(seen.mark(HostId(1), "/a"));
        assert!(seen.contains(seen.mark(HostId(1), "/a")));
        assert!(!seen.contains(seen.mark(HostId(2), "/a")));
        assert!(!seen.contains(seen.mark(HostId(1), "/b")));
    }
}

//! Pseudo-random numbers from a seed (SplitMix64; Steele, Lea and Flood 2014): the same seed, the same world.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// An independent seed for each (seed, index) pair.
pub fn mix(seed: u64, index: u64) -> u64 {
    let mut z = seed ^ index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A stream of numbers.
pub struct Random {
    seed: u64,
    drawn: u64,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Self { seed, drawn: 0 }
    }

    /// A stream from a seed and a text, independent of the order of the texts.
    pub fn of(seed: u64, text: &str) -> Self {
        Self::new(xxh3_64_with_seed(text.as_bytes(), seed))
    }

    pub fn number(&mut self) -> u64 {
        self.drawn += 1;
        mix(self.seed, self.drawn)
    }

    /// A number below `bound`; 0 for a bound of 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.number().checked_rem(bound).unwrap_or(0)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True with this percentage.
    pub fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }

    /// One of `items`, which must not be empty.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }
}

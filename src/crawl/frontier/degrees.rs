//! In-degree and mirror degree of a site's pages, estimated in bounded memory (Book 3.4.3).
//!
//! A site has millions of URLs and the frontier needs no exact counts. [`InDegrees`] is a count-min sketch (Cormode and Muthukrishnan 2005)
//! with conservative update: it never underestimates (except through aging), and overestimates by more than 2.72/[`COLUMNS_MOST`] of all
//! links in one case of 55; it begins small and grows with the links. [`Mirrors`] remembers on which hosts a path was seen; of two paths in
//! one slot only the later one; [`ParentDegrees`] the first page of each path likewise. All are deterministic, and together about 1 MB a site.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Counters of one row, at first and at most.
const COLUMNS_FIRST: usize = 1 << 8;
const COLUMNS_MOST: usize = 1 << 15;

/// Counters of a row per link before the row doubles: with fewer links than that, two paths share less than one link.
const COLUMNS_A_LINK: usize = 4;

/// Rows: one in e⁴ = 55 estimates exceeds the bound.
const ROWS: usize = 4;

/// Links after which all counts are halved, so that old links fade: twice as many as the counters of
/// a row distinguish well.
const AGING_LINKS: u32 = 1 << 20;

/// Number of links to a URL. 2 kB from the first link on, 256 kB from the 8,192nd.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InDegrees {
    /// The rows' counters, column by column.
    counts: Vec<[u16; ROWS]>,
    links: u32,
}

impl InDegrees {
    /// Counts a link to a path and returns the new estimate.
    pub fn add(&mut self, path: &str) -> u32 {
        if self.counts.is_empty() {
            self.counts = vec![[0; ROWS]; COLUMNS_FIRST];
        }
        if self.counts.len() < COLUMNS_MOST && self.links as usize * COLUMNS_A_LINK >= self.counts.len() {
            // A path keeps its column or moves by the old length: its old count is copied to both.
            self.counts.extend_from_within(..);
        }
        let columns = columns(path, self.counts.len());
        let count = self.estimate(&columns).saturating_add(1);
        for (row, column) in columns.into_iter().enumerate() {
            // Conservative update: only counters that are too small grow.
            let counter = &mut self.counts[column][row];
            *counter = (*counter).max(count);
        }
        self.links += 1;
        if self.links >= AGING_LINKS {
            self.links /= 2;
            self.counts.iter_mut().flatten().for_each(|count| *count /= 2);
        }
        u32::from(count)
    }

    /// The estimate for a path.
    #[must_use]
    pub fn of(&self, path: &str) -> u32 {
        if self.counts.is_empty() { 0 } else { u32::from(self.estimate(&columns(path, self.counts.len()))) }
    }

    fn estimate(&self, columns: &[usize; ROWS]) -> u16 {
        columns.iter().enumerate().map(|(row, column)| self.counts[*column][row]).min().unwrap_or(0)
    }
}

/// One column in each row, from one hash of 64 bits: 16 bits for each row. `of` is a power of two, so that rows that
/// double keep each path's column or move it by their old length.
fn columns(path: &str, of: usize) -> [usize; ROWS] {
    let hash = xxh3_64(path.as_bytes());
    std::array::from_fn(|row| (hash >> (16 * row)) as usize % of)
}

/// Paths that are remembered with their hosts.
const PATHS: usize = 1 << 15;

/// The number of a site's hosts on which the same path was seen. 512 kB from the first path on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mirrors {
    /// The rest of the path's hash, and one bit for each host.
    slots: Vec<(u32, u64)>,
}

impl Mirrors {
    /// Records that the path was seen on the site's host with this number, and returns the mirror degree. Hosts from
    /// the 64th on share their bits.
    pub fn add(&mut self, path: &str, host: usize) -> u32 {
        if self.slots.is_empty() {
            self.slots = vec![(0, 0); PATHS];
        }
        let (place, rest) = place_of(path);
        let (tag, hosts) = &mut self.slots[place];
        if *tag != rest {
            (*tag, *hosts) = (rest, 0);
        }
        *hosts |= 1 << (host % 64);
        hosts.count_ones()
    }

    /// The mirror degree of a path; 0 if it was not seen, or was overwritten.
    #[must_use]
    pub fn of(&self, path: &str) -> u32 {
        let (place, rest) = place_of(path);
        let (tag, hosts) = self.slots.get(place).copied().unwrap_or_default();
        if tag == rest { hosts.count_ones() } else { 0 }
    }
}

/// Paths that are remembered with the degree of the page that linked to them first. A process has hundreds of sites.
const PARENTED: usize = 1 << 12;

/// The in-degree of the page that linked to a URL first; of two paths in one slot only the later one. 32 kB from the first link on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParentDegrees {
    /// The rest of the path's hash, and the degree.
    slots: Vec<(u32, u32)>,
}

impl ParentDegrees {
    /// Records a link to a path, on a page with this in-degree.
    pub fn add(&mut self, path: &str, degree: u32) {
        if self.slots.is_empty() {
            self.slots = vec![(0, 0); PARENTED];
        }
        let (place, rest) = place_of(path);
        let (tag, known) = &mut self.slots[place % PARENTED];
        if *tag != rest {
            (*tag, *known) = (rest, degree);
        }
    }

    /// The degree recorded for a path; 0 if there is none, or it was overwritten.
    #[must_use]
    pub fn of(&self, path: &str) -> u32 {
        let (place, rest) = place_of(path);
        let (tag, degree) = self.slots.get(place % PARENTED).copied().unwrap_or_default();
        if tag == rest { degree } else { 0 }
    }
}

fn place_of(path: &str) -> (usize, u32) {
    let hash = xxh3_64_with_seed(path.as_bytes(), 1);
    let rest = u32::try_from(hash >> 32).unwrap_or(0);
    (hash as usize % PATHS, rest)
}

#[cfg(test)]
mod tests;

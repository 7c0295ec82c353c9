//! The kinds of a site's URLs: which rank a URL is queued under.

use std::borrow::Cow;
use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::frontier::priority;
use crate::frontier::shares::Shares;
use crate::limits;
use gleaner_page::pagination;
use gleaner_rules::Class;

/// The kinds of a site's URLs, with the ranks of those that were met last: a URL is met at each link to it, and at its fetch.
#[derive(Default)]
pub(super) struct Arms {
    pub shares: Shares,
    /// By the hash of path and rule.
    ranks: HashMap<u64, u8>,
}

impl Arms {
    /// The rank of a URL, by its path and query.
    pub(super) fn rank(&mut self, class: Class, rule: usize, path: &str) -> u8 {
        let key = xxh3_64_with_seed(path.as_bytes(), (rule as u64) << 8 | u64::from(priority::of_class(class)));
        if let Some(rank) = self.ranks.get(&key) {
            return *rank;
        }
        let rank = self.shares.rank(class, rule, &arm_path(class, path));
        if self.ranks.len() >= limits::RANKS_REMEMBERED_MAX {
            self.ranks.clear();
        }
        self.ranks.insert(key, rank);
        rank
    }
}

/// What the kind of a URL is told by: for a list the form that all of its pages share, so that they are read in their order.
fn arm_path(class: Class, path: &str) -> Cow<'_, str> {
    match class {
        Class::Index | Class::Board => {
            Cow::Owned(pagination::of(path, None).map_or_else(|| pagination::series_of_first(path), |page| page.series))
        }
        _ => Cow::Borrowed(path),
    }
}

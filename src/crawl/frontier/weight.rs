//! The weight of a page: f(in-degree, parent's in-degree, mirror degree, directory depth) of Book 3.4.3, and in addition
//! the measured yield of the rule that accepted the link.
//!
//! The kind of a URL goes first ([`super::shares`]): a weight orders the URLs of one kind, when a batch of them is sorted. At the first link
//! only the depth and the rule's yield are known; the other terms grow while the crawl goes on.
//!
//! Each term lies between 0 and 1 and saturates logarithmically, because degrees follow power laws: the tenth link
//! to a page says more than the thousandth. The weight is their sum by the shares of [`SHARES`], and keeps its terms,
//! so that `rules explain` can show how it was computed.

use std::fmt;

/// What is known of a URL when it is weighed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Facts {
    /// Links to it, as [`super::degrees::InDegrees`] estimates them.
    pub in_degree: u32,
    /// Links to the page that linked to it first.
    pub parent_in_degree: u32,
    /// Hosts of the site on which the same path was seen, itself included.
    pub mirrors: u32,
    /// Folders of its path: 0 for `/` and `/page`.
    pub folder_depth: u32,
    /// Yield of the rule that accepted the link.
    pub rule: RuleYield,
}

/// Yield of the URLs that one rule accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleYield {
    /// URLs fetched.
    pub fetched: u64,
    /// New torrents and magnets reached through them.
    pub torrents: u64,
}

impl RuleYield {
    /// Torrents per URL, with a prior of one in twenty URLs: an untried rule is
    /// between one that yields and one that does not.
    #[must_use]
    pub fn rate(self) -> f64 {
        (count(self.torrents) + 1.0) / (count(self.fetched) + 20.0)
    }
}

/// Exact up to 2⁵³, which no count reaches.
#[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
fn count(value: u64) -> f64 {
    value as f64
}

/// The terms in order, and the share of each. Yield is measured and so has the largest.
pub const SHARES: [(&str, f64); 5] = [
    ("yield of the rule", 0.40),
    ("in-degree", 0.20),
    ("in-degree of the parent", 0.15),
    ("mirror degree", 0.10),
    ("directory depth", 0.15),
];

/// Degrees at which a term reaches its maximum.
const IN_DEGREE_FULL: f64 = 1_000.0;
const MIRRORS_FULL: f64 = 8.0;

/// Depth at which the term of depth is half.
const DEPTH_HALF: f64 = 4.0;

/// A weight between 0 and 1, with its terms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weight {
    facts: Facts,
    /// Between 0 and 1 each, in the order of [`SHARES`].
    terms: [f64; 5],
}

impl Weight {
    /// Weighs a URL.
    #[must_use]
    pub fn of(facts: &Facts) -> Self {
        let degree = |links: u32, full: f64| (f64::from(links).ln_1p() / full.ln_1p()).min(1.0);
        let terms = [
            // A rule whose every URL leads to a torrent gets the maximum; the root distinguishes rates of 1 % from none.
            facts.rule.rate().sqrt().min(1.0),
            degree(facts.in_degree, IN_DEGREE_FULL),
            degree(facts.parent_in_degree, IN_DEGREE_FULL),
            degree(facts.mirrors.saturating_sub(1), MIRRORS_FULL - 1.0),
            DEPTH_HALF / (DEPTH_HALF + f64::from(facts.folder_depth)),
        ];
        Self { facts: *facts, terms }
    }

    /// The whole weight, between 0 and 1.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.terms.iter().zip(SHARES).map(|(term, (_, share))| term * share).sum()
    }

    /// Name, term (0 to 1) and its contribution to the weight.
    pub fn terms(&self) -> impl Iterator<Item = (&'static str, f64, f64)> + '_ {
        self.terms.iter().zip(SHARES).map(|(term, (name, share))| (name, *term, term * share))
    }
}

impl fmt::Display for Weight {
    /// A small table: what was observed, the term, and its contribution.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let facts = &self.facts;
        let seen = [
            format!("{} of {} URLs", facts.rule.torrents, facts.rule.fetched),
            facts.in_degree.to_string(),
            facts.parent_in_degree.to_string(),
            facts.mirrors.to_string(),
            facts.folder_depth.to_string(),
        ];
        for ((name, term, adds), seen) in self.terms().zip(seen) {
            writeln!(f, "{name:<24} {seen:>20} {term:>6.3} {adds:>7.3}")?;
        }
        write!(f, "{:<24} {:>20} {:>6} {:>7.3}", "weight", "", "", self.value())
    }
}

/// Folders of a path: `/a/b/page?q=/x/` has two.
#[must_use]
pub fn folder_depth(path_and_query: &str) -> u32 {
    let path = path_and_query.split_once('?').map_or(path_and_query, |(path, _)| path);
    let slashes = memchr::memchr_iter(b'/', path.as_bytes()).count();
    u32::try_from(slashes.saturating_sub(1)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;

//! The caps of the increment: how deep, how much a round, how often.

use std::time::Duration;

/// Links that the increment follows from a page that it looks at, where a rule file says nothing (ALGORITHMS §6.1: 3 to 5).
pub const INCREMENT_DEPTH: u8 = 4;

/// The most that a rule file may ask for: what lies deeper than this is no news of the page that was looked at.
pub const INCREMENT_DEPTH_MAX: u8 = 8;

/// Pages of one level and round that are always allowed: before a rate is measured, a board of a few pages must come through.
pub const INCREMENT_PAGES_MIN: u64 = 200;

/// Pages of one level and round at most, whatever rate was measured: 500 B each in the update crawldb. More is history's.
pub const INCREMENT_PAGES_MAX: u64 = 10_000;

/// URLs that the increment takes from the update crawldb at once for one host: few, so that what is found next goes before them.
pub const INCREMENT_LEASE_URLS_MAX: usize = 32;

/// Looks that are leased at once.
pub const LOOKS_LEASED_MAX: usize = 64;

/// Start pages, and others that are looked at and are no lists, whose last looks are kept to compare with: up to 40 kB each.
pub const FRONTS_COMPARED_MAX: usize = 1_000;

/// Times of planned looks that are kept for a host, 8 bytes each; later ones are found by the round after them.
pub const LOOK_TIMES_MAX: usize = 4_096;

/// Watched pages that are counted: 8 bytes each. Of a site with more, some looks count as history that is left.
pub const WATCHED_COUNTED_MAX: usize = 1 << 20;

/// URLs that one step of a merge moves: one commit of some milliseconds, between which visits are committed.
pub const MERGED_URLS_MAX: usize = 1_000;

/// How often the crews' shares are reckoned anew: a count in memory, asked for on another thread.
pub const CREWS_RECKONED_EVERY: Duration = Duration::from_secs(5);

/// Pages of one site's lists that wait to be read again: some 150 bytes each, written anew with each of them. Pages are read in their
/// order as far as a site's own links allow; those that are not are few.
pub const LIST_PAGES_AGAIN_MAX: usize = 2_000;

/// Pages of lists of which one run knows that they were read before their visits are on the disk: 8 bytes each. The database knows of
/// the others.
pub const LIST_PAGES_MARKED_MAX: usize = 1 << 20;

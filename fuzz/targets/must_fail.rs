//! The planted fault. It lies behind branches of the library that random bytes do not pass, so that a fuzzer reaches it
//! in seconds if it sees them, and not in years if the instrumentation is missing.

use gleaner_page::pagination;

/// Panics for every URL of a page beyond the 999th, as `/x?p=1000`.
pub fn must_fail(input: &[u8]) {
    let page = pagination::of(&super::text(input), None);
    assert!(page.is_none_or(|page| page.number < 1_000), "the planted fault was found, as it must be");
}

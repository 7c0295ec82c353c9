//! The planted fault. It is behind branches of the library that random bytes do not pass: a fuzzer reaches it in seconds
//! if it sees them, and would take years without the instrumentation.

use gleaner_page::pagination;

/// Panics for every URL of a page beyond the 999th, such as `/x?p=1000`.
pub fn must_fail(input: &[u8]) {
    let page = pagination::of(&super::text(input), None);
    assert!(page.is_none_or(|page| page.number < 1_000), "the planted fault was found, as it must be");
}

//! Searches for a byte that is near: markup has a `<`, a `>` or a quote every few bytes.
//!
//! `memchr::memchr` chooses the widest vectors of the machine at run time, behind a call through a pointer; that costs more than a search
//! of twenty bytes. These are compiled into their callers, with the vectors that every machine of the target has.

/// As [`memchr::memchr`].
#[inline]
pub(crate) fn near(needle: u8, text: &[u8]) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if let Some(one) = memchr::arch::x86_64::sse2::memchr::One::new(needle) {
        return one.find(text);
    }
    memchr::memchr(needle, text)
}

/// As [`memchr::memchr_iter`].
#[inline]
pub(crate) fn near_all(needle: u8, text: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + near(needle, &text[from..])?;
        from = at + 1;
        Some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn a_byte_is_found_where_memchr_finds_it(text in "[<a>é]{0,70}", from in 0..70_usize) {
            let text = &text.as_bytes()[from.min(text.len())..];
            proptest::prop_assert_eq!(near(b'<', text), memchr::memchr(b'<', text));
            let all: Vec<usize> = near_all(b'<', text).collect();
            proptest::prop_assert_eq!(all, memchr::memchr_iter(b'<', text).collect::<Vec<_>>());
        }
    }
}

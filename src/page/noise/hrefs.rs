//! Splits a reference into parts: the segments of its path and the values of its query. Parts that change at every
//! view (a session ID, a token) can then be ignored when links are compared.
//!
//! Works on the reference as written, without resolving it: a page always writes the same link in the same way.

use xxhash_rust::xxh3::xxh3_64;

use super::walk::mixed;

/// A segment or a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The parameter's name, or the index of the segment, with the shape of the path.
    pub key: u64,
    pub value: u64,
    /// Long and of mixed characters: generated, and not a counter.
    pub is_token: bool,
}

/// Maximum parts of one reference; the rest belongs to the last one.
const PARTS: usize = 24;

/// Minimum bytes of a token.
const TOKEN_BYTES: usize = 8;

/// Everything before the fragment.
pub(super) fn without_fragment(href: &[u8]) -> &[u8] {
    let href = href.trim_ascii();
    // `&#47;` is a character, not a fragment.
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'#', &href[at..]) {
        at += found;
        if at == 0 || href[at - 1] != b'&' {
            return &href[..at];
        }
        at += 1;
    }
    href
}

/// True for references without a target: fragments of the same page, and scripts.
pub(super) fn is_blank(href: &[u8]) -> bool {
    without_fragment(href).is_empty()
        || href.trim_ascii().get(..11).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"javascript:"))
}

/// The parts of a reference, in order.
pub(super) fn parts(href: &[u8], mut each: impl FnMut(Part)) {
    let mut shape = None;
    split(href, |path, name, value| {
        let path_shape = *shape.get_or_insert_with(|| shape_of_path(path));
        each(Part { key: name.key(path_shape), value: xxh3_64(value), is_token: is_token(value) });
    });
}

/// The value by which a link is compared: everything before the fragment, without the parts that are noise.
/// `is_noise` is only called for tokens: nothing else becomes noise.
pub(super) fn value(href: &[u8], is_noise: impl Fn(u64) -> bool) -> u64 {
    let (mut shape, mut left_out) = (None, 0_u32);
    let mut place = 0;
    split(href, |path, name, value| {
        if is_token(value) {
            let path_shape = *shape.get_or_insert_with(|| shape_of_path(path));
            left_out |= u32::from(is_noise(name.key(path_shape))) << place;
        }
        place += 1;
    });
    if left_out == 0 {
        return plain_value(href);
    }
    let (mut hash, mut place) = (0x1e71, 0);
    split(href, |_, name, value| {
        if left_out & 1 << place == 0 {
            hash = mixed(mixed(hash, name.key(0)), xxh3_64(value));
        }
        place += 1;
    });
    hash
}

/// The same if nothing is noise.
#[inline]
pub(super) fn plain_value(href: &[u8]) -> u64 {
    xxh3_64(without_fragment(href))
}

/// The position of a part in a reference.
#[derive(Clone, Copy)]
enum Name<'h> {
    Segment(u64),
    Parameter(&'h [u8]),
}

impl Name<'_> {
    fn key(self, path_shape: u64) -> u64 {
        match self {
            Self::Segment(place) => mixed(path_shape, place),
            Self::Parameter(name) => mixed(path_shape, xxh3_64(name)),
        }
    }
}

/// Passes on the path, and name and value of each part; at most [`PARTS`] of them.
#[inline]
fn split<'h>(href: &'h [u8], mut each: impl FnMut(&'h [u8], Name<'h>, &'h [u8])) {
    let href = without_fragment(href);
    let (path, query) = match memchr::memchr(b'?', href) {
        Some(mark) => (&href[..mark], &href[mark + 1..]),
        None => (href, &[][..]),
    };
    let mut count = 0;
    for segment in path.splitn(PARTS, |byte| *byte == b'/') {
        each(path, Name::Segment(count), segment);
        count += 1;
    }
    let mut rest = query;
    while !rest.is_empty() && count < PARTS as u64 {
        let (pair, after) = match memchr::memchr2(b'&', b';', rest) {
            Some(mark) if count + 1 < PARTS as u64 => (&rest[..mark], &rest[mark + 1..]),
            _ => (rest, &[][..]),
        };
        rest = after;
        // `&amp;` leaves its name before the semicolon.
        if pair.is_empty() || pair == b"amp" {
            continue;
        }
        let (name, value) = match memchr::memchr(b'=', pair) {
            Some(mark) => (&pair[..mark], &pair[mark + 1..]),
            None => (&pair[..0], pair),
        };
        each(path, Name::Parameter(name), value);
        count += 1;
    }
}

/// The path with its numbers and tokens masked: the links of one list have the same shape.
fn shape_of_path(path: &[u8]) -> u64 {
    path.split(|byte| *byte == b'/').fold(0x9a71, |hash, segment| {
        let masked = if is_token(segment) || segment.iter().any(u8::is_ascii_digit) { 1 } else { xxh3_64(segment) };
        mixed(hash, masked)
    })
}

/// Long, with letters and digits mixed, or with many digits: a sequential identifier is shorter, and a title has
/// words.
fn is_token(value: &[u8]) -> bool {
    if value.len() < TOKEN_BYTES {
        return false;
    }
    let (mut digits, mut letters, mut capitals, mut words) = (0_usize, 0_usize, 0_usize, 0_usize);
    for byte in value {
        match byte {
            b'0'..=b'9' => digits += 1,
            b'a'..=b'z' => letters += 1,
            b'A'..=b'Z' => capitals += 1,
            b'%' | b'=' => {}
            _ => words += 1,
        }
    }
    let is_mixed = digits > 0 && letters + capitals > 0 || letters > 2 && capitals > 2;
    // Words with separators are a title: `debian-12-amd64`.
    words * TOKEN_BYTES <= value.len() && (is_mixed || digits >= TOKEN_BYTES)
}

#[cfg(test)]
mod tests;

//! Near-duplicate pages: w-shingles and a bottom-k sketch (ALGORITHMS §3, Book 3.4.5; Broder 1997).
//!
//! A shingle is four consecutive visible words. Over the sets S of shingle hashes, resemblance is
//! r(A,B) = |S(A)∩S(B)| / |S(A)∪S(B)| and containment is c(A,B) = |S(A)∩S(B)| / |S(A)|. A sketch keeps the
//! [`SKETCH_HASHES`] smallest hashes, below 512 bytes, and estimates both: the smallest hashes of the union are a
//! random sample of it. The standard error of r is √(r(1−r)/120), 0.046 at worst.
//!
//! Winnowing, the other method of the book, finds *where* two texts share a passage. Whether they are the same page
//! needs only the sketch, with a bounded size. Markup, scripts, styles, and words of digits alone (counters, clocks)
//! are left out. In scripts without spaces each character is a word.
//!
//! A sketch hashes every visible word, which costs more per byte than the link scan. So it is used only for pages of
//! suspicious shapes: for the reduced rate of a starved shape, and for calendars and facets. Pure; linear in the
//! page.

use memchr::memchr;
use serde::{Deserialize, Serialize};

/// Words of one shingle.
const SHINGLE_WORDS: usize = 4;

/// Hashes that a sketch keeps.
pub const SKETCH_HASHES: usize = 120;

/// The smallest shingle hashes of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sketch {
    /// Sorted and unique; all hashes of the page if it has no more.
    hashes: Vec<u32>,
}

impl Sketch {
    /// The sketch of a page's bytes, in any encoding that has ASCII below 0x80.
    #[must_use]
    pub fn of(page: &[u8]) -> Self {
        let mut smallest = Smallest::default();
        let mut window = [0_u64; SHINGLE_WORDS];
        let mut words = 0;
        each_word(page, |word| {
            window[words % SHINGLE_WORDS] = word;
            words += 1;
            if words >= SHINGLE_WORDS {
                smallest.add(shingle(&window, words));
            }
        });
        if (1..SHINGLE_WORDS).contains(&words) {
            // A page with fewer words is one shingle.
            smallest.add(shingle(&window, 0));
        }
        Self { hashes: smallest.finish() }
    }

    /// True if nothing visible was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Equal for equal sketches.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        self.hashes.iter().for_each(|hash| hasher.update(&hash.to_le_bytes()));
        hasher.digest()
    }

    /// Number of different shingles of the page, estimated if there are more than [`SKETCH_HASHES`].
    #[must_use]
    pub fn shingles(&self) -> f64 {
        match (self.hashes.len(), self.hashes.last()) {
            (SKETCH_HASHES, Some(largest)) => {
                // The k-th smallest of n hashes is at k / n of their range (Bar-Yossef et al. 2002).
                (f64::from(SKETCH_U32) - 1.0) * 4_294_967_296.0 / (f64::from(*largest) + 1.0)
            }
            (count, _) => f64::from(u32::try_from(count).unwrap_or(SKETCH_U32)),
        }
    }
}

const SKETCH_U32: u32 = 120;

/// The estimated resemblance, between 0 and 1; exact where both pages have no more than [`SKETCH_HASHES`] shingles
/// together, and 1 for two empty pages.
#[must_use]
pub fn resemblance(a: &Sketch, b: &Sketch) -> f64 {
    if a.is_empty() && b.is_empty() {
        return 1.0;
    }
    let (mut at_a, mut at_b) = (0, 0);
    let (mut seen, mut shared) = (0_u32, 0_u32);
    // The sample is the smallest hashes of the union, as many as a sketch holds.
    while seen < SKETCH_U32 {
        let (left, right) = (a.hashes.get(at_a), b.hashes.get(at_b));
        match (left, right) {
            (None, None) => break,
            (Some(left), Some(right)) if left == right => {
                (at_a, at_b) = (at_a + 1, at_b + 1);
                shared += 1;
            }
            (Some(left), Some(right)) if left < right => at_a += 1,
            (Some(_), None) => at_a += 1,
            _ => at_b += 1,
        }
        seen += 1;
    }
    f64::from(shared) / f64::from(seen)
}

/// The estimated part of `a` contained in `b`, between 0 and 1; 1 for an empty `a`. Computed from resemblance and the
/// sizes: |A∩B| = r(|A| + |B|) / (1 + r).
#[must_use]
pub fn containment(a: &Sketch, b: &Sketch) -> f64 {
    if a.is_empty() {
        return 1.0;
    }
    let r = resemblance(a, b);
    (r * (a.shingles() + b.shingles()) / (1.0 + r) / a.shingles()).clamp(0.0, 1.0)
}

/// The hash of the last words, the oldest first.
fn shingle(window: &[u64; SHINGLE_WORDS], words: usize) -> u32 {
    let hash = (0..SHINGLE_WORDS).fold(0_u64, |hash, at| mixed(hash ^ window[(words + at) % SHINGLE_WORDS]));
    u32::try_from(hash >> 32).unwrap_or(0)
}

/// The finaliser of MurmurHash3: each bit of the result depends on each bit of the value.
fn mixed(mut value: u64) -> u64 {
    value ^= value >> 33;
    value = value.wrapping_mul(0xff51_afd7_ed55_8ccd);
    value ^= value >> 33;
    value = value.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    value ^ value >> 33
}

/// Keeps the smallest of many hashes: one comparison rejects most.
#[derive(Default)]
struct Smallest {
    kept: Vec<u32>,
    /// Larger ones are rejected.
    bound: Option<u32>,
}

impl Smallest {
    fn add(&mut self, hash: u32) {
        if self.bound.is_some_and(|bound| hash >= bound) {
            return;
        }
        self.kept.push(hash);
        if self.kept.len() >= 8 * SKETCH_HASHES {
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        self.kept.sort_unstable();
        self.kept.dedup();
        self.kept.truncate(SKETCH_HASHES);
        if self.kept.len() == SKETCH_HASHES {
            self.bound = self.kept.last().copied();
        }
    }

    fn finish(mut self) -> Vec<u32> {
        self.shrink();
        self.kept.shrink_to_fit();
        self.kept
    }
}

/// Calls `give` with the hash of each visible word, in lower case.
fn each_word(page: &[u8], mut give: impl FnMut(u64)) {
    let mut at = 0;
    while at < page.len() {
        let byte = page[at];
        if byte == b'<' {
            at = after_markup(page, at);
        } else if byte == b'&' {
            // An entity is not a word; `&nbsp;` counts as a space.
            let name = page[at + 1..].iter().take(10).take_while(|b| b.is_ascii_alphanumeric() || **b == b'#').count();
            at += 1 + if page.get(at + 1 + name) == Some(&b';') { name + 1 } else { 0 };
        } else if byte >= 0x80 {
            let end = (at + character_bytes(&page[at..])).min(page.len());
            give(page[at..end].iter().fold(1, |hash, byte| mixed(hash ^ u64::from(*byte))));
            at = end;
        } else if byte.is_ascii_alphanumeric() {
            let length = page[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
            let word = &page[at..at + length];
            if !word.iter().all(u8::is_ascii_digit) {
                give(word_hash(word));
            }
            at += length;
        } else {
            at += 1;
        }
    }
}

/// FNV-1a over lower-case letters.
fn word_hash(word: &[u8]) -> u64 {
    word.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Bytes of the character at this position: of UTF-8 if valid, else two, as in GBK, Big5 and similar.
fn character_bytes(text: &[u8]) -> usize {
    let length = match text.first() {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        _ => return 2,
    };
    let is_utf8 = text.get(1..length).is_some_and(|rest| rest.iter().all(|byte| (0x80..0xc0).contains(byte)));
    if is_utf8 { length } else { 2 }
}

/// The position after a tag or a comment, and after all of a script or a style sheet.
fn after_markup(page: &[u8], at: usize) -> usize {
    let rest = &page[at..];
    if rest.starts_with(b"<!--") {
        return memchr::memmem::find(rest, b"-->").map_or(page.len(), |end| at + end + 3);
    }
    let is_tag = rest.get(1).is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'/' | b'!' | b'?'));
    if !is_tag {
        return at + 1;
    }
    let Some(end) = memchr(b'>', rest).map(|end| at + end + 1) else {
        return page.len();
    };
    for (front, close) in [(&b"<script"[..], &b"</script"[..]), (b"<style", b"</style")] {
        let is_name = rest.get(..front.len()).is_some_and(|name| name.eq_ignore_ascii_case(front))
            && rest.get(front.len()).is_some_and(|byte| !byte.is_ascii_alphanumeric());
        if is_name {
            return closing(page, end, close);
        }
    }
    end
}

fn closing(page: &[u8], from: usize, close: &[u8]) -> usize {
    let mut at = from;
    while let Some(next) = memchr(b'<', &page[at..]).map(|next| at + next) {
        if page[next..].get(..close.len()).is_some_and(|text| text.eq_ignore_ascii_case(close)) {
            return next;
        }
        at = next + 1;
    }
    page.len()
}

#[cfg(test)]
mod tests;

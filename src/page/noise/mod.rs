//! Detects whether a page has changed, by a fingerprint without its noise (ALGORITHMS §8; Denoise).
//!
//! ```text
//! page ── walk ──→ atoms in their slots ─┬─ observe:     fuse (template), pairs of visits (volatile) ─→ model
//!                                        ├─ fingerprint: everything that is not noise, hashed ─→ same as last time?
//!                                        └─ explain:     blocks with their kinds, for people
//! ```
//!
//! One model per class of a site. Noise is everything that says nothing about torrents. **Template** is shared by all
//! pages of the class (the paper's fusion of DOM trees, by slots and values instead of a walk over two trees, so that
//! any number of pages fuse in one pass each). **Volatile** is what changed between two visits of the same URL
//! although no record did. A record is the target of a link of a class that matters; the caller decides which links
//! those are. The links, titles, infohashes, sizes and dates of records are content and never become noise. Counts
//! are noise, including seeders: a harvest searches for new items, and a list with counts would change at every
//! visit.
//!
//! Comes between `classify` (this is a page) and `links`: an unchanged page needs neither its links nor a tree. It
//! knows no site, no rules and no database; it neither fetches nor reads the time. One pass over the bytes, no tree.

mod explain;
mod fuse;
mod hrefs;
mod learn;
mod note;
mod said;
mod walk;
mod words;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use encoding_rs::{Encoding, UTF_8};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

pub use explain::{Block, BlockKind, Explained};
pub use learn::Observed;
pub use learn::longest_rising;
pub use note::NoteError;
pub use said::{ListTextHash, said};

use super::encoded_links::is_encoded;
use super::entities::decode_attribute;
use super::links::strip_url;
use crate::limits::PAGE_BYTES_MAX;
use fuse::Template;
use learn::{Evidence, Sample};
use walk::{Atom, What, mixed};
use words::{Kind, Relative};

/// A page as received.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// A hash of the normalised URL: visits of the same URL are compared.
    pub url: u64,
    pub body: &'a [u8],
    pub encoding: &'static Encoding,
}

/// Whether a reference, as written, leads to a target of the crawl: a detail page, a thread, a download. Links that
/// name a torrent themselves (magnet and the like) always matter.
pub type Matters<'m> = &'m dyn Fn(&str) -> bool;

/// The input of a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The content without the known noise.
    Content,
    /// All bytes: almost nothing is left without the noise (a very short page, an empty list), so the noise may be
    /// the content.
    NoiseIsContent,
    /// All bytes: there is no markup to separate blocks.
    NoMarkup,
    /// All bytes: the page is longer than [`PAGE_BYTES_MAX`].
    TooLong,
}

/// The fingerprint of a page's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Fingerprint {
    pub hash: u64,
    /// The model state that it was computed with: other states cannot be compared.
    pub epoch: u64,
    pub basis: Basis,
}

/// The result of comparing two fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Unchanged,
    Changed,
    /// The model has learned since: the page must be processed once more.
    Unknown,
}

impl Fingerprint {
    /// Compares this visit with the last one.
    #[must_use]
    pub fn since(&self, last: &Self) -> Verdict {
        let is_plain = self.basis != Basis::Content;
        if self.hash == last.hash && self.basis == last.basis && (is_plain || self.epoch == last.epoch) {
            // Equal bytes are equal under any noise.
            Verdict::Unchanged
        } else if self.epoch == last.epoch {
            Verdict::Changed
        } else {
            Verdict::Unknown
        }
    }
}

/// Keys that are hashes themselves need no second hash.
#[derive(Clone, Copy, Default)]
pub(super) struct Same(u64);

impl Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64(bytes);
    }
    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
    fn write_u32(&mut self, key: u32) {
        // Hash tables use the low bits for the position and the high ones for the tag.
        self.0 = u64::from(key) << 32 | u64::from(key);
    }
}

type Keys<V> = HashMap<u64, V, BuildHasherDefault<Same>>;
type KeySet = HashSet<u64, BuildHasherDefault<Same>>;

/// The purpose of a class's pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// Rows that lead to records, as on index and board pages: changes beside the rows soon count as noise.
    List,
    /// A record, as on detail and thread pages: its words may be anywhere, so noise needs more evidence.
    #[default]
    Record,
}

/// The known noise of the pages of one class of a site.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    holds: Holds,
    /// Incremented whenever something becomes noise or stops being noise.
    epoch: u64,
    /// How often the site's template was relearned.
    relearned: u32,
    template: Template,
    /// Slots, shapes of texts in a slot, and parts of links that are noise, by their keys.
    noise: KeySet,
    /// Slots in which some shapes are noise: only their texts are masked.
    shaped: KeySet,
    /// Some parts of links are noise: otherwise links are not split.
    has_parts: bool,
    /// Slots that contain records: they never become noise.
    records: Keys<Records>,
    evidence: Keys<Evidence>,
    samples: Vec<Sample>,
    /// Repeated visits of URLs.
    looks: u32,
    /// Pages observed, and those of them with a record.
    pages: u32,
    with_records: u32,
    /// Consecutive pages without most of the template.
    strangers: u8,
}

/// The relation of a slot to records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Records {
    /// It contains links of records, texts of such links, or the page's heading: it is never noise as a whole.
    kept: bool,
    /// It contains titles: the first text of a record's links.
    titles: bool,
    /// It repeats for each record: a column.
    rows: bool,
}

/// Why an atom is not content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noise {
    /// Its slot changes at every visit.
    Slot,
    /// Its numbers change.
    Shape,
    /// A relative time.
    Age,
    /// All pages of the class have it.
    Template,
    /// The page already had this link.
    Again,
    /// A link without a target.
    Blank,
}

/// Links of most pages.
const LINKS: usize = 256;

/// With fewer content atoms, a page without its noise is almost empty.
const CONTENT_ATOMS_MIN: u32 = 4;

/// Distinguishes the keys of possible noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Slot,
    Shape(Kind),
    Part,
}

fn slot_key(atom: &Atom<'_>) -> u64 {
    // The links and scripts of a slot may be noise even if its texts are not.
    mixed(atom.slot, atom.what as u64)
}

fn shape_key(slot: u64, masked: u64) -> u64 {
    mixed(mixed(slot, masked), 11)
}

/// The key of a shape's counts, if it also contains other numbers.
fn count_key(slot: u64, masked: u64) -> u64 {
    mixed(mixed(slot, masked), 17)
}

fn part_key(key: u64) -> u64 {
    mixed(key, 13)
}

/// A page's bytes in an ASCII-compatible encoding.
fn bytes<'a>(page: &Page<'a>) -> (Cow<'a, [u8]>, &'static Encoding) {
    if page.encoding.is_ascii_compatible() {
        return (Cow::Borrowed(page.body), page.encoding);
    }
    let (text, _) = page.encoding.decode_with_bom_removal(page.body);
    (Cow::Owned(text.into_owned().into_bytes()), UTF_8)
}

fn is_of_record(href: &[u8], encoding: &'static Encoding, matters: Matters<'_>) -> bool {
    if hrefs::is_blank(href) {
        return false;
    }
    // The form for the rules: decoded, entities resolved, spaces trimmed.
    let (text, _) = encoding.decode_without_bom_handling(href);
    let text = decode_attribute(&text);
    let reference = strip_url(&text);
    is_encoded(&reference) || matters(&reference)
}

/// Passes one page's atoms through the model.
struct Judge<'m> {
    model: &'m Model,
    encoding: &'static Encoding,
    matters: Matters<'m>,
    /// How often the page has contained each piece of the template so far.
    shown: Keys<u16>,
    links: KeySet,
}

impl<'m> Judge<'m> {
    fn new(model: &'m Model, encoding: &'static Encoding, matters: Matters<'m>) -> Self {
        Self {
            model,
            encoding,
            matters,
            shown: Keys::default(),
            links: KeySet::with_capacity_and_hasher(LINKS, Default::default()),
        }
    }

    /// The value of a content atom; otherwise why it is not content.
    fn judge(&mut self, atom: &Atom<'_>) -> Result<u64, Noise> {
        let model = self.model;
        match atom.what {
            What::Link => self.link(atom),
            What::Script if model.noise.contains(&slot_key(atom)) => Err(Noise::Slot),
            What::Script => self.fresh(atom.slot, xxh3_64(atom.bytes)),
            What::Text => {
                match words::relative(atom.bytes, self.encoding) {
                    Some(Relative::Age) => return Err(Noise::Age),
                    Some(Relative::Day(time)) => return self.fresh(atom.slot, time),
                    None => {}
                }
                if !model.noise.is_empty() {
                    if model.noise.contains(&slot_key(atom)) && !words::has_infohash(atom.bytes) {
                        return Err(Noise::Slot);
                    }
                    if model.shaped.contains(&atom.slot) {
                        let shape = words::shape(atom.bytes);
                        if model.noise.contains(&shape_key(atom.slot, shape.masked)) {
                            return Err(Noise::Shape);
                        }
                        if model.noise.contains(&count_key(atom.slot, shape.masked)) {
                            return self.fresh(atom.slot, shape.counted);
                        }
                    }
                }
                self.fresh(atom.slot, xxh3_64(atom.bytes))
            }
        }
    }

    fn link(&mut self, atom: &Atom<'_>) -> Result<u64, Noise> {
        if hrefs::is_blank(atom.bytes) {
            return Err(Noise::Blank);
        }
        let model = self.model;
        let is_noise = model.noise.contains(&slot_key(atom));
        if is_noise && !is_of_record(atom.bytes, self.encoding, self.matters) {
            return Err(Noise::Slot);
        }
        let value = model.link_value(atom.bytes);
        let fresh = self.fresh(atom.slot, value)?;
        if self.links.insert(value) { Ok(fresh) } else { Err(Noise::Again) }
    }

    /// Content, unless all pages of the class have it as often in the same slot.
    fn fresh(&mut self, slot: u64, value: u64) -> Result<u64, Noise> {
        let key = mixed(slot, value);
        if let Some(times) = self.model.template.times(key) {
            let shown = self.shown.entry(key).or_default();
            if *shown < times {
                *shown += 1;
                return Err(Noise::Template);
            }
        }
        Ok(value)
    }
}

impl Model {
    /// A model without knowledge: everything but relative times is content.
    #[must_use]
    pub fn new(holds: Holds) -> Self {
        Self { holds, ..Self::default() }
    }

    /// The number of this learning state; fingerprints of other states cannot be compared.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// How often the class had a new template.
    #[must_use]
    pub fn relearned(&self) -> u32 {
        self.relearned
    }

    /// True if any noise is known.
    #[must_use]
    pub fn has_learned(&self) -> bool {
        self.template.is_known() || !self.noise.is_empty()
    }

    /// True if parts of links are noise: two fingerprints may then be equal although links differ in such a part.
    #[must_use]
    pub fn leaves_parts_out(&self) -> bool {
        self.has_parts
    }

    /// The fingerprint of a page: equal for pages with equal content, texts and links in order. Linear in the page;
    /// never fails. [`Basis`] shows whether it had to use all bytes.
    #[must_use]
    pub fn fingerprint(&self, page: &Page<'_>, matters: Matters<'_>) -> Fingerprint {
        let plain = |basis| Fingerprint { hash: xxh3_64(page.body), epoch: self.epoch, basis };
        if page.body.len() > PAGE_BYTES_MAX {
            return plain(Basis::TooLong);
        }
        let (body, encoding) = bytes(page);
        let mut judge = Judge::new(self, encoding, matters);
        let (mut hash, mut content, mut noise) = (0x6c65_616e, 0_u32, 0_u32);
        let tags = walk::walk(&body, |atom, _| match judge.judge(atom) {
            Ok(value) => {
                hash = mixed(hash, value);
                content += 1;
            }
            Err(Noise::Slot | Noise::Shape | Noise::Age) => noise += 1,
            Err(_) => {}
        });
        if tags == 0 {
            plain(Basis::NoMarkup)
        } else if content < CONTENT_ATOMS_MIN && noise > 0 {
            plain(Basis::NoiseIsContent)
        } else {
            Fingerprint { hash, epoch: self.epoch, basis: Basis::Content }
        }
    }

    /// The value by which a link is compared.
    fn link_value(&self, href: &[u8]) -> u64 {
        if self.has_parts {
            hrefs::value(href, |key| self.noise.contains(&part_key(key)))
        } else {
            hrefs::plain_value(href)
        }
    }
}

#[cfg(test)]
mod tests;

//! Has this page changed? A fingerprint of a page without its noise (ALGORITHMS §8; Denoise).
//!
//! ```text
//! page ── walk ──→ atoms in their slots ─┬─ observe:     fuse (template), pairs of looks (volatile) ─→ model
//!                                        ├─ fingerprint: what the model does not call noise, hashed ─→ same as last time?
//!                                        └─ explain:     blocks with their kinds, for people
//! ```
//!
//! One model for each class of a site. Noise is what says nothing about torrents: **template**, which all pages of the class
//! share (the paper's fusion of DOM trees, by slots and values instead of a walk over two trees, so that any number
//! of pages fuse in one pass each), and what is **volatile**: it changed between two looks at the same URL though no
//! record did. A record is what a link of a class that matters leads to; the caller says which links those are. Their links,
//! titles, infohashes, sizes and dates are content and never become noise. Counts are noise, those of seeders included: a
//! harvest is after what is new, and a list with counts would change at every look.
//!
//! Stands between `classify` (this is a page) and `links`: an unchanged page needs neither its links nor a tree. It knows
//! no site, no rules and no database; it neither fetches nor reads the time. One pass over the bytes, no tree.

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
pub use said::{Said, said};

use super::encoded_links::is_encoded;
use super::entities::decode_attribute;
use super::links::strip_url;
use crate::limits::PAGE_BYTES_MAX;
use fuse::Template;
use learn::{Evidence, Sample};
use walk::{Atom, What, mixed};
use words::{Kind, Relative};

/// A page as it came.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// A hash of the normalised URL: looks at the same URL are compared.
    pub url: u64,
    pub body: &'a [u8],
    pub encoding: &'static Encoding,
}

/// Whether a reference, as written, leads to what the crawl is after: a detail page, a thread, a download. Links that name a
/// torrent themselves (magnet and its kin) matter unasked.
pub type Matters<'m> = &'m dyn Fn(&str) -> bool;

/// What a fingerprint was taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The content, without what the model knows as noise.
    Content,
    /// All bytes: next to nothing is left without the noise (a very short page, an empty list), so that the
    /// noise may be the content.
    NoiseIsContent,
    /// All bytes: there is no markup to tell blocks by.
    NoMarkup,
    /// All bytes: the page is longer than [`PAGE_BYTES_MAX`].
    TooLong,
}

/// What a page says, in one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Fingerprint {
    pub hash: u64,
    /// Which state of the model it was taken with: others do not compare.
    pub epoch: u64,
    pub basis: Basis,
}

/// What two fingerprints say about a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Unchanged,
    Changed,
    /// The model has learned since: the page is to be processed once more.
    Unknown,
}

impl Fingerprint {
    /// What this look says beside the last one.
    #[must_use]
    pub fn since(&self, last: &Self) -> Verdict {
        let is_plain = self.basis != Basis::Content;
        if self.hash == last.hash && self.basis == last.basis && (is_plain || self.epoch == last.epoch) {
            // All bytes are the same whatever is noise in them.
            Verdict::Unchanged
        } else if self.epoch == last.epoch {
            Verdict::Changed
        } else {
            Verdict::Unknown
        }
    }
}

/// Hashes that are keys themselves need no second hash.
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
        // Tables take their place from the low bits and their tag from the high ones.
        self.0 = u64::from(key) << 32 | u64::from(key);
    }
}

type Keys<V> = HashMap<u64, V, BuildHasherDefault<Same>>;
type KeySet = HashSet<u64, BuildHasherDefault<Same>>;

/// What the pages of a class are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// Rows that lead to records, as index and board pages: what changes beside the rows is soon noise.
    List,
    /// A record, as detail and thread pages: its words may stand anywhere, so that more must speak for noise.
    #[default]
    Record,
}

/// What is noise on the pages of one class of a site.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    holds: Holds,
    /// Raised whenever something becomes noise or stops to be.
    epoch: u64,
    /// Times that the site's template was learned anew.
    relearned: u32,
    template: Template,
    /// Slots, shapes of texts in a slot, and parts of links that are noise, by their keys.
    noise: KeySet,
    /// Slots in which some shapes are noise: only their texts are masked.
    shaped: KeySet,
    /// Some parts of links are noise: only then links are taken apart.
    has_parts: bool,
    /// Slots that hold records: they never become noise.
    records: Keys<Records>,
    evidence: Keys<Evidence>,
    samples: Vec<Sample>,
    /// Looks at a URL that was looked at before.
    looks: u32,
    /// Pages observed, and those of them that named a record.
    pages: u32,
    with_records: u32,
    /// Pages in a row on which most of the template was missing.
    strangers: u8,
}

/// What a slot has to do with records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Records {
    /// Links of records, texts of such links, or what names the page stand in it: as a whole it is never noise.
    kept: bool,
    /// Titles do: the first text of a record's links.
    titles: bool,
    /// It repeats from record to record: a column.
    rows: bool,
}

/// Why an atom is no content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noise {
    /// Its slot changes from look to look.
    Slot,
    /// Its numbers do.
    Shape,
    /// A time told from now.
    Age,
    /// All pages of the class have it.
    Template,
    /// The page has had this link before.
    Again,
    /// Leads nowhere.
    Blank,
}

/// Links of most pages.
const LINKS: usize = 256;

/// Atoms of content below which a page from which noise was taken says next to nothing.
const CONTENT_ATOMS_MIN: u32 = 4;

/// Distinguishes the keys of what may be noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Slot,
    Shape(Kind),
    Part,
}

fn slot_key(atom: &Atom<'_>) -> u64 {
    // The links and the scripts of a slot may be noise where its texts are none.
    mixed(atom.slot, atom.what as u64)
}

fn shape_key(slot: u64, masked: u64) -> u64 {
    mixed(mixed(slot, masked), 11)
}

/// Of a shape's counts, where other numbers stand beside them.
fn count_key(slot: u64, masked: u64) -> u64 {
    mixed(mixed(slot, masked), 17)
}

fn part_key(key: u64) -> u64 {
    mixed(key, 13)
}

/// A page's bytes in an encoding whose ASCII is ASCII.
fn bytes<'a>(page: &Page<'a>) -> (Cow<'a, [u8]>, &'static Encoding) {
    if page.encoding.is_ascii_compatible() {
        return (Cow::Borrowed(page.body), page.encoding);
    }
    let (text, _) = page.encoding.decode_with_bom_removal(page.body);
    (Cow::Owned(text.into_owned().into_bytes()), UTF_8)
}

/// A reference as the rules read it: decoded, entities resolved, spaces off.
fn reference(href: &[u8], encoding: &'static Encoding) -> String {
    let (text, _) = encoding.decode_without_bom_handling(href);
    strip_url(&decode_attribute(&text)).into_owned()
}

fn is_of_record(href: &[u8], encoding: &'static Encoding, matters: Matters<'_>) -> bool {
    if hrefs::is_blank(href) {
        return false;
    }
    let reference = reference(href, encoding);
    is_encoded(&reference) || matters(&reference)
}

/// One page's atoms on their way through the model.
struct Judge<'m> {
    model: &'m Model,
    encoding: &'static Encoding,
    matters: Matters<'m>,
    /// How often the page has shown each piece of the template.
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

    /// The value of an atom that is content; otherwise why it is none.
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
    /// Nothing is known: everything but relative times is content.
    #[must_use]
    pub fn new(holds: Holds) -> Self {
        Self { holds, ..Self::default() }
    }

    /// Which state of learning this is; fingerprints of other states do not compare.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Times that the class had a new template.
    #[must_use]
    pub fn relearned(&self) -> u32 {
        self.relearned
    }

    /// True once something is known to be noise.
    #[must_use]
    pub fn has_learned(&self) -> bool {
        self.template.is_known() || !self.noise.is_empty()
    }

    /// True where parts of links are noise: two fingerprints may then be equal over links that differ in such a part.
    #[must_use]
    pub fn leaves_parts_out(&self) -> bool {
        self.has_parts
    }

    /// The fingerprint of a page: equal for pages whose content, texts and links in their order, is equal. Linear in the
    /// page; never fails, and says with [`Basis`] where it had to take all bytes.
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

    /// What a link is compared by.
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

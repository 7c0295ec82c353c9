//! Learns what is volatile by comparing two visits of the same URL.
//!
//! Atoms that occur once in both visits, in the same order, are anchors; between two anchors is a gap. A gap in which
//! a record appeared or disappeared is all content, and nothing is learned from it. In any other gap, atoms of the
//! same slot are paired: texts that differ only in numbers are evidence against the shape in its slot, links that
//! differ only in a token against that part of such links, and any other replacement against the slot.
//!
//! Noise needs evidence from several visits, and more of it if a mistake would hide content: see
//! [`Evidence::speaks`].

use super::fuse::{self, Piece};
use super::walk::{self, Atom, What};
use super::words::{self, Kind, Relative};
use super::{
    Holds, Key, KeySet, Keys, Matters, Model, Page, bytes, count_key, hrefs, is_of_record, mixed, part_key, shape_key,
    slot_key,
};
use crate::limits::{NOISE_ATOMS_MAX, NOISE_KEYS_MAX, NOISE_PARTS_MAX, NOISE_SAMPLES_MAX, PAGE_BYTES_MAX};
use xxhash_rust::xxh3::xxh3_64;

mod pair;

pub(super) use pair::Change;
pub use pair::longest_rising;

/// The result of one observation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// There was an earlier visit of this URL to compare with.
    pub is_paired: bool,
    /// Something became noise or stopped being noise: earlier fingerprints cannot be compared.
    pub has_learned: bool,
    /// The site has a new template; everything known was discarded.
    pub is_relearned: bool,
}

/// The evidence that one key is noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Evidence {
    pub key: Key,
    /// The slot of the text's element, to which facts about records belong.
    pub slot: u64,
    /// The number of visits when the first change was seen.
    pub born: u32,
    /// Visits at which it had changed.
    pub changes: u32,
    /// Atoms that had changed, and atoms compared.
    pub changed: u32,
    pub compared: u32,
    /// Changed atoms whose new value is also in the same slot of another page, and so does not belong to the record.
    pub shared: u32,
}

impl Evidence {
    /// Whether the evidence is sufficient. `titles` and `rows` are the slot's relation to records.
    fn speaks(&self, looks: u32, holds: Holds, titles: bool, rows: bool) -> bool {
        let share = f64::from(self.changes) / (f64::from(looks.saturating_sub(self.born)) + 1.0);
        let atoms = f64::from(self.changed) / f64::from(self.compared.max(1));
        let often = |changes, least| self.changes >= changes && share >= least;
        match self.key {
            // An edited identifier changes in one row and at one visit, a token in all rows and at all visits.
            Key::Part => atoms >= 0.8 && (often(3, 0.6) || self.changed >= self.changes.saturating_mul(10)),
            Key::Shape(_) if titles => false,
            Key::Shape(Kind::Hash) => false,
            // The time of a row is its last activity; sizes and long numbers are edited seldom and in few rows.
            Key::Shape(Kind::Date) if rows => false,
            Key::Shape(Kind::Size | Kind::Long) if rows => often(3, 0.5) && atoms >= 0.2,
            // Many rows at once, or repeatedly: a bare number may be a size in bytes, which is edited in one row.
            Key::Shape(Kind::Count) if rows => (self.changed >= 3 && atoms >= 0.2) || often(8, 0.2),
            Key::Shape(_) if rows => self.changes >= 2 && atoms >= 0.1,
            Key::Slot if rows => often(4, 0.6) && atoms >= 0.5,
            // Nothing beside the rows of a list is about a record.
            Key::Shape(_) | Key::Slot if holds == Holds::List => often(2, 0.05),
            Key::Shape(Kind::Size) => often(3, 0.5),
            Key::Shape(_) => often(2, 0.05),
            // Text that other pages of the class show too, such as news and latest comments, is not about this
            // record.
            Key::Slot if self.shared >= self.changed.div_ceil(2) => often(2, 0.05),
            Key::Slot => often(4, 0.25),
        }
    }
}

/// An atom as stored between visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredAtom {
    /// The lower halves of the slot's key, of the value, and of the shape's key; 0 for no shape.
    pub slot: u32,
    pub value: u32,
    pub shape: u32,
    /// For a text with a size or a long number: a hash that ignores its counts; else 0.
    pub counted: u32,
    pub flags: u8,
    /// Number of parts of a link; they are in the sample's list in the order of its links.
    pub parts: u8,
}

impl StoredAtom {
    pub(super) const LINK: u8 = 1;
    /// The link of a record, or a text within one.
    pub(super) const RECORD: u8 = 2;
    /// A text with an infohash, or a script too long for an advertisement.
    pub(super) const FIRM: u8 = 4;
    pub(super) const SCRIPT: u8 = 8;

    fn of(value: u64, flags: u8) -> Self {
        Self { slot: 0, value: half(value), shape: 0, counted: 0, flags, parts: 0 }
    }

    /// Slot and value combined.
    fn in_slot(&self) -> u64 {
        u64::from(self.slot) << 32 | u64::from(self.value)
    }

    pub(super) fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// A part of a link as stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredPart {
    pub key: u32,
    /// The lowest bit is set for a token.
    pub value: u32,
}

/// The last visit of a URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sample {
    pub url: u64,
    /// Number of observed pages at that time.
    pub at: u32,
    /// Number of visits compared with it.
    pub hits: u32,
    pub atoms: Vec<StoredAtom>,
    pub parts: Vec<StoredPart>,
}

/// A page in the form for learning.
#[derive(Default)]
pub(super) struct PageAtoms {
    pub atoms: Vec<StoredAtom>,
    pub parts: Vec<StoredPart>,
    /// For each atom: the full keys of its slot and its shape, the kind, and the slot itself.
    pub full: Vec<Full>,
    /// For each part: its full key.
    pub part_keys: Vec<u64>,
    pieces: Keys<Piece>,
    columns: Keys<Column>,
    /// Records found, by the value of their links.
    records: KeySet,
    /// The record whose title has not been found yet.
    untitled: Option<u64>,
    /// The last link: the address of its bytes, its value, and whether it matters.
    last_link: Option<(usize, u64, bool)>,
    has_infohash: bool,
}

#[derive(Clone, Copy)]
pub(super) struct Full {
    pub slot_key: u64,
    pub shape_key: u64,
    pub count_key: u64,
    pub kind: Kind,
    pub slot: u64,
}

impl Full {
    /// For an atom without a shape.
    fn of(atom: &Atom<'_>) -> Self {
        Self { slot_key: slot_key(atom), shape_key: 0, count_key: 0, kind: Kind::Words, slot: atom.slot }
    }
}

/// Statistics of a slot on one page.
#[derive(Clone, Copy, Default)]
struct Column {
    /// The index of the record after which it last occurred.
    record: usize,
    /// Number of records after which it occurred.
    times: u32,
    kept: bool,
    titles: bool,
}

/// Records after which a slot must occur to be a column of their rows.
const ROWS: u32 = 3;

/// From this size on, an inline script contains data rather than a call: it never becomes noise.
const SCRIPT_BYTES: usize = 4_096;

/// Observations after which the visit of a URL that did not come again is dropped.
const SAMPLE_AGE: u32 = 1_000;

#[allow(clippy::cast_possible_truncation)] // the half is what is kept
pub(super) fn half(key: u64) -> u32 {
    key as u32
}

impl Model {
    /// Learns from a page: from what it shares with other pages of the class, and from what changed since an earlier
    /// visit of the same URL. Must not be called with pages of other classes, errors or logins.
    pub fn observe(&mut self, page: &Page<'_>, matters: Matters<'_>) -> Observed {
        let mut observed = Observed::default();
        if page.body.len() > PAGE_BYTES_MAX {
            return observed;
        }
        let Some(mut look) = self.look(page, matters) else { return observed };
        if self.is_strange(&look.pieces) {
            let Self { holds, epoch, relearned, .. } = *self;
            *self = Self { holds, epoch, relearned: relearned.saturating_add(1), ..Self::default() };
            (observed.is_relearned, observed.has_learned) = (true, true);
        }
        self.pages = self.pages.saturating_add(1);
        self.with_records = self.with_records.saturating_add(u32::from(look.has_infohash || !look.records.is_empty()));
        observed.has_learned |= self.learn_records(&look.columns);
        let pieces = std::mem::take(&mut look.pieces);
        observed.has_learned |= self.fuse(page.url, self.without_records(pieces));
        if let Some(place) = self.samples.iter().position(|sample| sample.url == page.url) {
            observed.is_paired = true;
            let earlier = std::mem::take(&mut self.samples[place]);
            self.looks = self.looks.saturating_add(1);
            observed.has_learned |= self.learn_changes(&earlier, &look);
            let hits = earlier.hits.saturating_add(1);
            self.samples[place] = Sample { url: page.url, at: self.pages, hits, atoms: look.atoms, parts: look.parts };
        } else {
            self.keep(Sample { url: page.url, at: self.pages, hits: 0, atoms: look.atoms, parts: look.parts });
        }
        self.epoch = self.epoch.saturating_add(u64::from(observed.has_learned));
        observed
    }

    /// Records a visit of this URL without a change: something that changes at one of many visits is not noise.
    pub fn unchanged(&mut self, url: u64) {
        if self.samples.iter().any(|sample| sample.url == url) {
            self.looks = self.looks.saturating_add(1);
        }
    }

    fn keep(&mut self, sample: Sample) {
        if self.samples.len() < NOISE_SAMPLES_MAX {
            self.samples.push(sample);
            return;
        }
        let pages = self.pages;
        let is_old = |old: &&mut Sample| pages.saturating_sub(old.at) > SAMPLE_AGE;
        if let Some(oldest) = self.samples.iter_mut().filter(is_old).min_by_key(|old| old.at) {
            *oldest = sample;
        }
    }

    /// The page in the form of the model; None if it has no markup.
    fn look(&self, page: &Page<'_>, matters: Matters<'_>) -> Option<PageAtoms> {
        let (body, encoding) = bytes(page);
        let mut look = PageAtoms::default();
        let tags = walk::walk(&body, |atom, _| match atom.what {
            What::Link => {
                if !hrefs::is_blank(atom.bytes) {
                    let matters = is_of_record(atom.bytes, encoding, matters);
                    look.link(self, atom, matters);
                }
            }
            What::Text => {
                let value = match words::relative(atom.bytes, encoding) {
                    Some(Relative::Age) => return,
                    Some(Relative::Day(time)) => time,
                    None => xxh3_64(atom.bytes),
                };
                look.text(atom, value);
            }
            What::Script => {
                let value = xxh3_64(atom.bytes);
                let flags = StoredAtom::SCRIPT | if atom.bytes.len() > SCRIPT_BYTES { StoredAtom::FIRM } else { 0 };
                fuse::add(&mut look.pieces, atom.slot, value);
                look.push(Full::of(atom), StoredAtom::of(value, flags));
            }
        });
        (tags > 0).then_some(look)
    }

    /// Learns which slots contain records; true if that removes some noise.
    fn learn_records(&mut self, columns: &Keys<Column>) -> bool {
        let mut is_less = false;
        for (slot, column) in columns {
            let rows = column.times >= ROWS;
            if !(column.kept || column.titles || rows) {
                continue;
            }
            let before = self.records.get(slot).copied().unwrap_or_default();
            let mut known = before;
            known.kept |= column.kept;
            known.titles |= column.titles;
            known.rows |= rows;
            if known == before || (self.records.len() >= NOISE_KEYS_MAX && before == Default::default()) {
                continue;
            }
            self.records.insert(*slot, known);
            is_less |= self.untemplate(*slot);
            let (noise, looks, holds) = (&mut self.noise, self.looks, self.holds);
            for (key, evidence) in self.evidence.iter().filter(|(_, evidence)| evidence.slot == *slot) {
                let is_of_records = known.kept && evidence.key == Key::Slot;
                if is_of_records
                    || !evidence.speaks(looks, holds, known.titles, known.rows) && evidence.key != Key::Part
                {
                    is_less |= noise.remove(key);
                }
            }
        }
        is_less
    }

    /// Records and the cells of their rows are not template, even if many pages have them.
    fn without_records(&self, mut pieces: Keys<Piece>) -> Keys<Piece> {
        pieces.retain(|_, piece| !self.records.contains_key(&piece.slot));
        pieces
    }

    /// Evaluates the changes between two visits; true if something became noise or stopped being noise.
    fn learn_changes(&mut self, earlier: &Sample, look: &PageAtoms) -> bool {
        let noise: KeySet = self.noise.iter().map(|key| u64::from(half(*key))).collect();
        let others = self.samples.iter().filter(|sample| sample.url != earlier.url).flat_map(|sample| &sample.atoms);
        let others: KeySet = others.map(StoredAtom::in_slot).collect();
        let changes = pair::changes(earlier, look, |key| noise.contains(&u64::from(key)), &others);
        let mut has_learned = false;
        for (key, change) in changes {
            has_learned |= self.weigh(key, &change);
        }
        has_learned
    }

    fn weigh(&mut self, key: u64, change: &Change) -> bool {
        let changed = change.changed + change.removed.min(change.inserted);
        let compared = change.compared + change.removed.max(change.inserted);
        let mut is_less = false;
        if !self.evidence.contains_key(&key) {
            if changed == 0 {
                return false;
            }
            is_less = self.make_room();
        }
        let looks = self.looks;
        let fresh = Evidence {
            key: change.key,
            slot: change.slot,
            born: looks,
            changes: 0,
            changed: 0,
            compared: 0,
            shared: 0,
        };
        let evidence = self.evidence.entry(key).or_insert(fresh);
        evidence.changes = evidence.changes.saturating_add(u32::from(changed > 0));
        evidence.changed = evidence.changed.saturating_add(changed);
        evidence.compared = evidence.compared.saturating_add(compared);
        evidence.shared = evidence.shared.saturating_add(change.shared.min(changed));
        let evidence = *evidence;
        if changed == 0 || self.noise.contains(&key) {
            return is_less;
        }
        let records = self.records.get(&evidence.slot).copied().unwrap_or_default();
        // If pages name no record, the list cannot be separated from its frame: only numbers are ignored.
        let knows_records = u64::from(self.with_records) * 2 >= u64::from(self.pages);
        if evidence.key == Key::Slot && (records.kept || !knows_records) {
            return is_less;
        }
        if !evidence.speaks(looks, self.holds, records.titles, records.rows) {
            return is_less;
        }
        match evidence.key {
            Key::Shape(_) => {
                self.shaped.insert(evidence.slot);
            }
            Key::Part => self.has_parts = true,
            Key::Slot => {}
        }
        self.noise.insert(key) || is_less
    }

    /// Drops the weakest evidence, half of what is undecided, if there is too much; true if noise had to be dropped.
    fn make_room(&mut self) -> bool {
        if self.evidence.len() < NOISE_KEYS_MAX {
            return false;
        }
        let mut undecided: Vec<(u32, u64)> = self
            .evidence
            .iter()
            .filter(|(key, _)| !self.noise.contains(key))
            .map(|(key, evidence)| (evidence.changes, *key))
            .collect();
        undecided.sort_unstable();
        for (_, key) in undecided.iter().take(undecided.len() / 2 + 1) {
            self.evidence.remove(key);
        }
        if undecided.is_empty() {
            // The class is nothing but noise: start again.
            self.evidence.clear();
            self.noise.clear();
            self.shaped.clear();
            self.has_parts = false;
        }
        undecided.is_empty()
    }
}

impl PageAtoms {
    fn link(&mut self, model: &Model, atom: &Atom<'_>, matters: bool) {
        let value = model.link_value(atom.bytes);
        self.last_link = Some((atom.bytes.as_ptr() as usize, value, matters));
        // A link into a page, such as to its comments, does not identify the page.
        let is_whole = hrefs::without_fragment(atom.bytes).len() == atom.bytes.trim_ascii().len();
        if matters && self.records.insert(value) && is_whole {
            self.untitled = Some(value);
        }
        let column = self.column(atom.slot);
        column.kept |= matters;
        if !matters {
            fuse::add(&mut self.pieces, atom.slot, value);
        }
        let mut count = 0;
        if self.parts.len() < NOISE_PARTS_MAX && self.atoms.len() < NOISE_ATOMS_MAX {
            hrefs::parts(atom.bytes, |part| {
                let key = part_key(part.key);
                self.part_keys.push(key);
                let value = half(part.value) & !1 | u32::from(part.is_token);
                self.parts.push(StoredPart { key: half(key), value });
                count += 1;
            });
        }
        let flags = StoredAtom::LINK | if matters { StoredAtom::RECORD } else { 0 };
        self.push(Full::of(atom), StoredAtom { parts: count, ..StoredAtom::of(value, flags) });
    }

    fn text(&mut self, atom: &Atom<'_>, value: u64) {
        let shape = words::shape(atom.bytes);
        // The link around a text is the last one, unless the text is outside of it.
        let of = atom.link.map(|link| link.as_ptr() as usize);
        let link = self.last_link.filter(|(at, ..)| Some(*at) == of);
        let is_of_record = link.is_some_and(|(_, _, matters)| matters);
        let is_title = link.is_some_and(|(_, value, matters)| matters && self.untitled == Some(value));
        if is_title {
            self.untitled = None;
        }
        let column = self.column(atom.slot);
        column.kept |= is_of_record || atom.is_heading;
        column.titles |= is_title;
        let is_common = matches!(shape.kind, Kind::Words | Kind::Count | Kind::Mixed);
        if !is_of_record && is_common {
            fuse::add(&mut self.pieces, atom.slot, value);
        }
        let is_hash = shape.kind == Kind::Hash;
        self.has_infohash |= is_hash;
        let flags = if is_of_record { StoredAtom::RECORD } else { 0 } | if is_hash { StoredAtom::FIRM } else { 0 };
        let has_shape = shape.kind != Kind::Words;
        let is_firm = matches!(shape.kind, Kind::Size | Kind::Long);
        let full = Full {
            slot_key: slot_key(atom),
            shape_key: if has_shape { shape_key(atom.slot, shape.masked) } else { 0 },
            count_key: count_key(atom.slot, shape.masked),
            kind: shape.kind,
            slot: atom.slot,
        };
        let counted = if is_firm { half(shape.counted) } else { 0 };
        self.push(full, StoredAtom { counted, ..StoredAtom::of(value, flags) });
    }

    fn column(&mut self, slot: u64) -> &mut Column {
        let record = self.records.len();
        let column = self.columns.entry(slot).or_default();
        if record > 0 && column.record < record {
            column.record = record;
            column.times += 1;
        }
        column
    }

    fn push(&mut self, full: Full, kept: StoredAtom) {
        if self.atoms.len() < NOISE_ATOMS_MAX {
            self.atoms.push(StoredAtom { slot: half(full.slot_key), shape: half(full.shape_key), ..kept });
            self.full.push(full);
        }
    }
}

/// The value by which a link is compared, from its stored parts.
pub(super) fn kept_link_value(parts: &[StoredPart], is_noise: impl Fn(u32) -> bool) -> u32 {
    let parts = parts.iter().filter(|part| !is_noise(part.key));
    half(parts.fold(0x1e71, |hash, part| mixed(hash, u64::from(part.value))))
}

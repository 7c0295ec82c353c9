//! Learning what is volatile: two looks at the same URL, held against each other.
//!
//! Atoms that stand once in both looks, in the same order, are anchors; what lies between two anchors is a gap. In a gap of
//! which a record came or went, everything is content and nothing is learned. In any other, atoms of the same slot
//! are paired: texts that differ in numbers only speak against the shape in its slot, links that differ in a token
//! only against that part of such links, and all else that was replaced against the slot.
//!
//! What is called noise needs evidence from several looks, more of it where a mistake would hide content: see [`Evidence::speaks`].

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

/// What one observation taught.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// There was an earlier look at this URL to compare with.
    pub is_paired: bool,
    /// Something became noise or stopped to be: fingerprints taken before do not compare.
    pub has_learned: bool,
    /// The site has a new template; all that was known was forgotten.
    pub is_relearned: bool,
}

/// What speaks for one key being noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Evidence {
    pub key: Key,
    /// Of the text's element, to which facts about records belong.
    pub slot: u64,
    /// The count of looks when it was first seen to change.
    pub born: u32,
    /// Looks at which it had changed.
    pub changes: u32,
    /// Atoms that had changed, of those compared.
    pub changed: u32,
    pub compared: u32,
    /// Of those changed, the ones whose new value stands in the same slot of another page, too: it is none of the record's own.
    pub shared: u32,
}

impl Evidence {
    /// Whether it is noise by now. `titles` and `rows` are what its slot has to do with records.
    fn speaks(&self, looks: u32, holds: Holds, titles: bool, rows: bool) -> bool {
        let share = f64::from(self.changes) / (f64::from(looks.saturating_sub(self.born)) + 1.0);
        let atoms = f64::from(self.changed) / f64::from(self.compared.max(1));
        let often = |changes, least| self.changes >= changes && share >= least;
        match self.key {
            // An identifier that was edited changes in one row and at one look, a token in all rows and at all looks.
            Key::Part => atoms >= 0.8 && (often(3, 0.6) || self.changed >= self.changes.saturating_mul(10)),
            Key::Shape(_) if titles => false,
            Key::Shape(Kind::Hash) => false,
            // The time of a row is its last activity; sizes and long numbers are edited seldom and in few rows.
            Key::Shape(Kind::Date) if rows => false,
            Key::Shape(Kind::Size | Kind::Long) if rows => often(3, 0.5) && atoms >= 0.2,
            // Many rows at once, or again and again: a bare number may be a size in bytes, which is edited in one row.
            Key::Shape(Kind::Count) if rows => (self.changed >= 3 && atoms >= 0.2) || often(8, 0.2),
            Key::Shape(_) if rows => self.changes >= 2 && atoms >= 0.1,
            Key::Slot if rows => often(4, 0.6) && atoms >= 0.5,
            // Beside the rows of a list nothing says anything about a record.
            Key::Shape(_) | Key::Slot if holds == Holds::List => often(2, 0.05),
            Key::Shape(Kind::Size) => often(3, 0.5),
            Key::Shape(_) => often(2, 0.05),
            // What other pages of the class show as well, as news and latest comments, is no word about this record.
            Key::Slot if self.shared >= self.changed.div_ceil(2) => often(2, 0.05),
            Key::Slot => often(4, 0.25),
        }
    }
}

/// An atom as it is kept from look to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    /// The lower halves of the slot's key, of the value, and of the shape's key; 0 for no shape.
    pub slot: u32,
    pub value: u32,
    pub shape: u32,
    /// Of a text with a size or a long number: what its counts do not change; else 0.
    pub counted: u32,
    pub flags: u8,
    /// Parts of a link, which stand in the sample's list in the order of its links.
    pub parts: u8,
}

impl Kept {
    pub(super) const LINK: u8 = 1;
    /// The link of a record, or a text within one.
    pub(super) const RECORD: u8 = 2;
    /// A text with an infohash, or a script too long to be an advert's.
    pub(super) const FIRM: u8 = 4;
    pub(super) const SCRIPT: u8 = 8;

    fn of(value: u64, flags: u8) -> Self {
        Self { slot: 0, value: half(value), shape: 0, counted: 0, flags, parts: 0 }
    }

    /// Slot and value in one.
    fn in_slot(&self) -> u64 {
        u64::from(self.slot) << 32 | u64::from(self.value)
    }

    pub(super) fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// A part of a link as it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeptPart {
    pub key: u32,
    /// The lowest bit is set for a token.
    pub value: u32,
}

/// The last look at a URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sample {
    pub url: u64,
    /// Pages observed until then.
    pub at: u32,
    /// Looks that were compared with it.
    pub hits: u32,
    pub atoms: Vec<Kept>,
    pub parts: Vec<KeptPart>,
}

/// A page as learning sees it.
#[derive(Default)]
pub(super) struct Look {
    pub atoms: Vec<Kept>,
    pub parts: Vec<KeptPart>,
    /// Of each atom: the whole keys of its slot and its shape, the kind, and the slot itself.
    pub full: Vec<Full>,
    /// Of each part: its whole key.
    pub part_keys: Vec<u64>,
    pieces: Keys<Piece>,
    columns: Keys<Column>,
    /// Records met, by the value of their links.
    records: KeySet,
    /// The record whose title is still to come.
    untitled: Option<u64>,
    /// The last link: where its bytes are, its value, and whether it matters.
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
    /// Of an atom without a shape.
    fn of(atom: &Atom<'_>) -> Self {
        Self { slot_key: slot_key(atom), shape_key: 0, count_key: 0, kind: Kind::Words, slot: atom.slot }
    }
}

/// What a slot has shown on one page.
#[derive(Clone, Copy, Default)]
struct Column {
    /// The record after which it last stood, by its place.
    record: usize,
    /// Records after which it stood.
    times: u32,
    kept: bool,
    titles: bool,
}

/// Records after which a slot must stand to be a column of their rows.
const ROWS: u32 = 3;

/// Bytes from which an inline script holds data rather than a call: it never becomes noise.
const SCRIPT_BYTES: usize = 4_096;

/// Observations for which the look at a URL that did not come again is kept.
const SAMPLE_AGE: u32 = 1_000;

#[allow(clippy::cast_possible_truncation)] // the half is what is kept
pub(super) fn half(key: u64) -> u32 {
    key as u32
}

impl Model {
    /// Learns from a page that was read: from what it shares with other pages of the class, and from what changed since an
    /// earlier look at the same URL. Pages of other classes, errors and logins must not be shown to it.
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

    /// Tells of a look at this URL that showed no change: what changes at one look in many is no noise.
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

    /// The page in the terms of the model; None where it has no markup.
    fn look(&self, page: &Page<'_>, matters: Matters<'_>) -> Option<Look> {
        let (body, encoding) = bytes(page);
        let mut look = Look::default();
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
                let flags = Kept::SCRIPT | if atom.bytes.len() > SCRIPT_BYTES { Kept::FIRM } else { 0 };
                fuse::add(&mut look.pieces, atom.slot, value);
                look.push(Full::of(atom), Kept::of(value, flags));
            }
        });
        (tags > 0).then_some(look)
    }

    /// Takes in which slots hold records; true where that takes something off the noise.
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

    /// Records and the cells of their rows are no template, however many pages show them.
    fn without_records(&self, mut pieces: Keys<Piece>) -> Keys<Piece> {
        pieces.retain(|_, piece| !self.records.contains_key(&piece.slot));
        pieces
    }

    /// Weighs what changed between two looks; true where something became noise or stopped to be.
    fn learn_changes(&mut self, earlier: &Sample, look: &Look) -> bool {
        let noise: KeySet = self.noise.iter().map(|key| u64::from(half(*key))).collect();
        let others = self.samples.iter().filter(|sample| sample.url != earlier.url).flat_map(|sample| &sample.atoms);
        let others: KeySet = others.map(Kept::in_slot).collect();
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
        // Where pages name no record, nothing tells the list from its frame: only numbers are taken off.
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

    /// Drops the evidence that is nearest to nothing, half of what is not decided, once there is too much; true where noise
    /// had to go.
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
            // A class that is nothing but noise: begin again.
            self.evidence.clear();
            self.noise.clear();
            self.shaped.clear();
            self.has_parts = false;
        }
        undecided.is_empty()
    }
}

impl Look {
    fn link(&mut self, model: &Model, atom: &Atom<'_>, matters: bool) {
        let value = model.link_value(atom.bytes);
        self.last_link = Some((atom.bytes.as_ptr() as usize, value, matters));
        // A link into a page, as to its comments, is none by which the page is called.
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
                self.parts.push(KeptPart { key: half(key), value });
                count += 1;
            });
        }
        let flags = Kept::LINK | if matters { Kept::RECORD } else { 0 };
        self.push(Full::of(atom), Kept { parts: count, ..Kept::of(value, flags) });
    }

    fn text(&mut self, atom: &Atom<'_>, value: u64) {
        let shape = words::shape(atom.bytes);
        // The link around a text is the last one but where the text after it stands outside.
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
        let flags = if is_of_record { Kept::RECORD } else { 0 } | if is_hash { Kept::FIRM } else { 0 };
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
        self.push(full, Kept { counted, ..Kept::of(value, flags) });
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

    fn push(&mut self, full: Full, kept: Kept) {
        if self.atoms.len() < NOISE_ATOMS_MAX {
            self.atoms.push(Kept { slot: half(full.slot_key), shape: half(full.shape_key), ..kept });
            self.full.push(full);
        }
    }
}

/// What a link is compared by, from its kept parts.
pub(super) fn kept_link_value(parts: &[KeptPart], is_noise: impl Fn(u32) -> bool) -> u32 {
    let parts = parts.iter().filter(|part| !is_noise(part.key));
    half(parts.fold(0x1e71, |hash, part| mixed(hash, u64::from(part.value))))
}

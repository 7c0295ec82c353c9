//! Aligns two visits of one URL.

use std::collections::HashMap;
use std::ops::Range;

use super::super::words::Kind;
use super::super::{Key, KeySet, Keys};
use super::{PageAtoms, Sample, StoredAtom, StoredPart, kept_link_value};
use crate::limits::NOISE_ALIGNED_MAX;

/// The changes of one key between two visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Change {
    pub key: Key,
    pub slot: u64,
    pub changed: u32,
    pub compared: u32,
    /// Atoms of the slot that appeared or disappeared without a partner.
    pub removed: u32,
    pub inserted: u32,
    /// New values that other pages of the class have in this slot.
    pub shared: u32,
}

/// Cells of one gap's table; nothing is learned from larger gaps.
const GAP_CELLS: usize = 1 << 14;

/// One of the two visits, with its links in their current comparison form.
struct Side<'a> {
    atoms: &'a [StoredAtom],
    parts: &'a [StoredPart],
    /// The index of each atom's parts.
    parts_at: Vec<usize>,
    values: Vec<u32>,
}

impl<'a> Side<'a> {
    fn new(atoms: &'a [StoredAtom], parts: &'a [StoredPart], is_noise: impl Fn(u32) -> bool) -> Self {
        let (mut parts_at, mut values, mut at) = (Vec::with_capacity(atoms.len()), Vec::with_capacity(atoms.len()), 0);
        for atom in atoms {
            parts_at.push(at);
            let end = (at + usize::from(atom.parts)).min(parts.len());
            let has_parts = end > at;
            values.push(if has_parts { kept_link_value(&parts[at..end], &is_noise) } else { atom.value });
            at = end;
        }
        Self { atoms, parts, parts_at, values }
    }

    fn id(&self, at: usize) -> u64 {
        u64::from(self.atoms[at].slot) << 32 | u64::from(self.values[at])
    }

    fn parts(&self, at: usize) -> Range<usize> {
        let from = self.parts_at[at];
        from..(from + usize::from(self.atoms[at].parts)).min(self.parts.len())
    }

    /// The records named by its links.
    fn records(&self) -> KeySet {
        let is_record = |at: &usize| self.atoms[*at].is(StoredAtom::LINK) && self.atoms[*at].is(StoredAtom::RECORD);
        (0..self.atoms.len()).filter(is_record).map(|at| u64::from(self.values[at])).collect()
    }
}

/// The changes from the earlier visit to this one, by key.
///
/// `others` contains what other pages of the class have shown, by slot and value.
pub(super) fn changes(
    earlier: &Sample,
    look: &PageAtoms,
    is_noise: impl Fn(u32) -> bool,
    others: &KeySet,
) -> Keys<Change> {
    let a = Side::new(&earlier.atoms, &earlier.parts, &is_noise);
    let b = Side::new(&look.atoms, &look.parts, &is_noise);
    let (records_a, records_b) = (a.records(), b.records());
    let moved: KeySet = records_a.symmetric_difference(&records_b).copied().collect();
    let slots = b.atoms.iter().enumerate().map(|(at, atom)| (atom.slot, at)).collect();
    let titles = look.atoms.iter().filter(|atom| atom.is(StoredAtom::RECORD) && !atom.is(StoredAtom::LINK)).count();
    let mut pairing = Pairing {
        a: &a,
        b: &b,
        look,
        moved,
        slots,
        changes: Keys::default(),
        cells: NOISE_ALIGNED_MAX,
        has_titles: records_b.len() < 3 || titles * 2 >= records_b.len(),
        is_same_record: false,
        is_noise: &is_noise,
        others,
    };
    let (mut from_a, mut from_b) = (0, 0);
    for (at_a, at_b) in anchors(&a, &b) {
        pairing.gap(from_a..at_a, from_b..at_b);
        pairing.pair(at_a, at_b, false);
        (from_a, from_b) = (at_a + 1, at_b + 1);
    }
    pairing.gap(from_a..a.atoms.len(), from_b..b.atoms.len());
    pairing.changes
}

/// Pairs of atoms that occur once in each visit, in the same order: the longest such sequence (patience diff).
fn anchors(a: &Side<'_>, b: &Side<'_>) -> Vec<(usize, usize)> {
    #[derive(Default)]
    struct Occurrences {
        a: (u32, usize),
        b: (u32, usize),
    }
    let mut seen: HashMap<u64, Occurrences> = HashMap::with_capacity(a.atoms.len() + b.atoms.len());
    for at in 0..a.atoms.len() {
        let entry = seen.entry(a.id(at)).or_default();
        entry.a = (entry.a.0 + 1, at);
    }
    for at in 0..b.atoms.len() {
        let entry = seen.entry(b.id(at)).or_default();
        entry.b = (entry.b.0 + 1, at);
    }
    let mut pairs: Vec<(usize, usize)> =
        seen.values().filter(|seen| seen.a.0 == 1 && seen.b.0 == 1).map(|seen| (seen.a.1, seen.b.1)).collect();
    pairs.sort_unstable();
    longest_rising(&pairs)
}

/// The longest subsequence of `pairs` in which the second numbers rise.
pub fn longest_rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, the pair with the lowest end of such a sequence; and the predecessor of each pair.
    let mut ends: Vec<usize> = Vec::new();
    let mut before = vec![usize::MAX; pairs.len()];
    for (at, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].1 < pair.1);
        if length > 0 {
            before[at] = ends[length - 1];
        }
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut found = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied();
    while let Some(place) = at {
        found.push(pairs[place]);
        at = Some(before[place]).filter(|&place| place != usize::MAX);
    }
    found.reverse();
    found
}

struct Pairing<'a> {
    a: &'a Side<'a>,
    b: &'a Side<'a>,
    look: &'a PageAtoms,
    /// Records that appeared or disappeared.
    moved: KeySet,
    /// An atom of this visit in each slot.
    slots: HashMap<u32, usize>,
    changes: Keys<Change>,
    /// Remaining budget of table cells.
    cells: usize,
    /// The records of the page have titles, which identify them if their links change.
    has_titles: bool,
    /// Only links, counts and noise differ in the gap: links of records that differ in a token are the same.
    is_same_record: bool,
    /// Known noise, by the halves of the keys.
    is_noise: &'a dyn Fn(u32) -> bool,
    others: &'a KeySet,
}

impl Pairing<'_> {
    fn gap(&mut self, mut a: Range<usize>, mut b: Range<usize>) {
        if a.is_empty() && b.is_empty() {
            return;
        }
        let is_content = self.has_moved(self.a, a.clone()) || self.has_moved(self.b, b.clone());
        while !a.is_empty() && !b.is_empty() && self.a.id(a.start) == self.b.id(b.start) {
            self.pair(a.start, b.start, is_content);
            (a.start, b.start) = (a.start + 1, b.start + 1);
        }
        while !a.is_empty() && !b.is_empty() && self.a.id(a.end - 1) == self.b.id(b.end - 1) {
            (a.end, b.end) = (a.end - 1, b.end - 1);
            self.pair(a.end, b.end, is_content);
        }
        let cells = (a.len() + 1) * (b.len() + 1);
        if cells > GAP_CELLS.min(self.cells) {
            return;
        }
        self.cells -= cells;
        self.align(a, b, is_content);
    }

    fn has_moved(&self, side: &Side<'_>, range: Range<usize>) -> bool {
        range.into_iter().any(|at| {
            side.atoms[at].is(StoredAtom::LINK)
                && side.atoms[at].is(StoredAtom::RECORD)
                && self.moved.contains(&u64::from(side.values[at]))
        })
    }

    /// Pairs the atoms of a gap by their slots, equal ones first: the heaviest common subsequence.
    fn align(&mut self, a: Range<usize>, b: Range<usize>, is_content: bool) {
        let weight = |at_a: usize, at_b: usize| {
            if self.a.id(at_a) == self.b.id(at_b) {
                3_u16
            } else {
                2 * u16::from(self.a.atoms[at_a].slot == self.b.atoms[at_b].slot)
            }
        };
        let width = b.len() + 1;
        let mut best = vec![0_u16; (a.len() + 1) * width];
        for (row, at_a) in a.clone().enumerate().rev() {
            for (column, at_b) in b.clone().enumerate().rev() {
                let skip = best[(row + 1) * width + column].max(best[row * width + column + 1]);
                let weight = weight(at_a, at_b);
                let both = if weight > 0 { best[(row + 1) * width + column + 1].saturating_add(weight) } else { 0 };
                best[row * width + column] = skip.max(both);
            }
        }
        let (mut row, mut column) = (0, 0);
        let mut pairs = Vec::with_capacity(a.len().min(b.len()));
        let (mut only_a, mut only_b) = (Vec::new(), Vec::new());
        while row < a.len() || column < b.len() {
            let (at_a, at_b) = (a.start + row, b.start + column);
            let here = best[row * width + column];
            if row < a.len() && column < b.len() {
                let weight = weight(at_a, at_b);
                if weight > 0 && here == best[(row + 1) * width + column + 1].saturating_add(weight) {
                    pairs.push((at_a, at_b));
                    (row, column) = (row + 1, column + 1);
                    continue;
                }
            }
            if row < a.len() && (column == b.len() || here == best[(row + 1) * width + column]) {
                only_a.push(at_a);
                row += 1;
            } else {
                only_b.push(at_b);
                column += 1;
            }
        }
        // A replaced record also has links that differ in a token, but its title differs as well.
        self.is_same_record = self.has_titles
            && !only_a.iter().any(|at| self.is_telling(self.a.atoms[*at]))
            && !only_b.iter().any(|at| self.is_telling(self.b.atoms[*at]))
            && !pairs.iter().any(|&(at_a, at_b)| self.says_another(at_a, at_b));
        for (at_a, at_b) in pairs {
            self.pair(at_a, at_b, is_content);
        }
        only_a.into_iter().for_each(|at_a| self.alone_in_a(at_a, is_content));
        only_b.into_iter().for_each(|at_b| self.alone_in_b(at_b, is_content));
    }

    /// True for two texts that differ, and not only in a number beside a record.
    fn says_another(&self, at_a: usize, at_b: usize) -> bool {
        let (a, b) = (self.a.atoms[at_a], self.b.atoms[at_b]);
        let is_count = b.shape != 0 && a.shape == b.shape && !b.is(StoredAtom::RECORD) && !b.is(StoredAtom::FIRM);
        self.is_telling(b) && a.value != b.value && !is_count
    }

    /// True for a text that may distinguish records.
    fn is_telling(&self, atom: StoredAtom) -> bool {
        !atom.is(StoredAtom::LINK) && !atom.is(StoredAtom::SCRIPT) && !(self.is_noise)(atom.slot)
    }

    fn change(&mut self, id: u64, key: Key, slot: u64) -> &mut Change {
        self.changes.entry(id).or_insert(Change {
            key,
            slot,
            changed: 0,
            compared: 0,
            removed: 0,
            inserted: 0,
            shared: 0,
        })
    }

    fn of_slot(&mut self, at_b: usize) -> &mut Change {
        let full = self.look.full[at_b];
        self.change(full.slot_key, Key::Slot, full.slot)
    }

    fn alone_in_a(&mut self, at_a: usize, is_content: bool) {
        let atom = self.a.atoms[at_a];
        if is_content || atom.is(StoredAtom::RECORD) || atom.is(StoredAtom::FIRM) {
            return;
        }
        // A slot that is gone from the page has no key to learn for.
        if let Some(twin) = self.slots.get(&atom.slot).copied() {
            self.of_slot(twin).removed += 1;
        }
    }

    fn alone_in_b(&mut self, at_b: usize, is_content: bool) {
        let atom = self.b.atoms[at_b];
        if !is_content && !atom.is(StoredAtom::RECORD) && !atom.is(StoredAtom::FIRM) {
            let is_shared = self.others.contains(&atom.in_slot());
            let slot = self.of_slot(at_b);
            slot.inserted += 1;
            slot.shared += u32::from(is_shared);
        }
    }

    /// Pairs two atoms of one slot.
    fn pair(&mut self, at_a: usize, at_b: usize, is_content: bool) {
        let (a, b) = (self.a.atoms[at_a], self.b.atoms[at_b]);
        if b.is(StoredAtom::LINK) {
            self.pair_links(at_a, at_b, is_content);
            return;
        }
        if is_content || a.is(StoredAtom::FIRM) || b.is(StoredAtom::FIRM) {
            return;
        }
        let full = self.look.full[at_b];
        let is_equal = a.value == b.value;
        if b.shape != 0 && a.shape == b.shape {
            let is_count = b.counted != 0 && a.counted == b.counted && !is_equal;
            let (key, kind) = if is_count { (full.count_key, Kind::Mixed) } else { (full.shape_key, full.kind) };
            let shape = self.change(key, Key::Shape(kind), full.slot);
            shape.compared += 1;
            shape.changed += u32::from(!is_equal);
            self.of_slot(at_b).compared += 1;
            return;
        }
        let is_shared = !is_equal && self.others.contains(&b.in_slot());
        let slot = self.of_slot(at_b);
        slot.compared += 1;
        slot.changed += u32::from(!is_equal);
        slot.shared += u32::from(is_shared);
    }

    fn pair_links(&mut self, at_a: usize, at_b: usize, is_content: bool) {
        let (parts_a, parts_b) = (self.a.parts(at_a), self.b.parts(at_b));
        let is_equal = self.a.values[at_a] == self.b.values[at_b];
        let differing = differing(&self.a.parts[parts_a], &self.b.parts[parts_b.clone()]);
        if !is_equal && differing.is_some() && self.b.atoms[at_b].is(StoredAtom::RECORD) && !self.is_same_record {
            return;
        }
        let slot = self.look.full[at_b].slot;
        match differing {
            Some(differing) => {
                for (place, part) in parts_b.enumerate() {
                    if self.b.parts[part].value & 1 == 1 {
                        let key = self.look.part_keys[part];
                        let change = self.change(key, Key::Part, slot);
                        change.compared += 1;
                        change.changed += u32::from(differing & 1 << place != 0);
                    }
                }
            }
            None if !is_equal && !is_content && !self.b.atoms[at_b].is(StoredAtom::RECORD) => {
                let is_shared = self.others.contains(&self.b.atoms[at_b].in_slot());
                let slot = self.of_slot(at_b);
                slot.changed += 1;
                slot.compared += 1;
                slot.shared += u32::from(is_shared);
            }
            None => {}
        }
        if is_equal && !is_content {
            self.of_slot(at_b).compared += 1;
        }
    }
}

/// The parts of `b`, as bits, that differ from those of `a` if only tokens differ; None if the links are different. A
/// token that only one of them has, such as a session ID, differs too.
fn differing(a: &[StoredPart], b: &[StoredPart]) -> Option<u32> {
    let is_token = |part: &StoredPart| part.value & 1 == 1;
    if a.len() == b.len() {
        let mut bits = 0;
        for (place, (one, other)) in a.iter().zip(b).enumerate() {
            if one == other {
                continue;
            }
            if one.key != other.key || !is_token(one) || !is_token(other) {
                return None;
            }
            bits |= 1_u32.checked_shl(u32::try_from(place).ok()?)?;
        }
        return Some(bits);
    }
    let (long, short) = if a.len() > b.len() { (a, b) } else { (b, a) };
    if long.len() != short.len() + 1 {
        return None;
    }
    let extra = long.iter().zip(short).position(|(one, other)| one != other).unwrap_or(short.len());
    if !is_token(&long[extra]) || long[extra + 1..] != short[extra..] {
        return None;
    }
    // Only parts of the current visit can be learned.
    if b.len() > a.len() { 1_u32.checked_shl(u32::try_from(extra).ok()?) } else { Some(0) }
}

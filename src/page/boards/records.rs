//! Repeated-record mining (ALGORITHMS §10.1; MDR, Liu 2003; DEPTA, Zhai 2005): finds the runs of sibling subtrees
//! that are the records of a list.
//!
//! The children of an element are grouped by the similarity of their subtrees. MDR compares tag strings by edit
//! distance; sets of tag paths compare in time linear in the page. A group whose members contain links starts
//! records. What comes between two of them belongs to the first if it recurs (the `dd` after a `dt`, the second `tr`
//! of a row, the text after a link of a `pre`), and is an advertisement if it does not. `rows` decides which list is
//! the right one.

use std::ops::Range;

use super::flat::{Page, Sketch, likeness};
use crate::limits::{BOARD_LISTS_MAX, BOARD_ROWS_MAX};

/// One record: sibling elements in order, and its texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub parts: Vec<usize>,
    pub texts: Range<usize>,
}

impl Record {
    /// The elements of the record, in tag order.
    pub fn elements<'r>(&'r self, page: &'r Page<'_>) -> impl Iterator<Item = usize> + 'r {
        self.parts.iter().flat_map(|&part| part..page.elements[part].end)
    }

    pub fn first(&self) -> usize {
        self.parts.first().copied().unwrap_or_default()
    }
}

/// A run of records below one element.
#[derive(Clone, Debug)]
pub(super) struct Region {
    pub parent: usize,
    pub records: Vec<Record>,
    pub sketch: Sketch,
}

/// Maximum groups of children below one element.
const GROUPS: usize = 12;

/// Similarity from which two subtrees are of one kind.
const ALIKE: f64 = 0.45;

struct Group {
    tag: u64,
    sketch: Sketch,
    members: Vec<usize>,
    with_links: usize,
}

/// All lists of a page with at least two records, the longest first, at most [`BOARD_LISTS_MAX`].
pub(super) fn regions(page: &Page<'_>) -> Vec<Region> {
    let mut found = Vec::new();
    for parent in 0..page.elements.len() {
        let flat = &page.elements[parent];
        // A single child with links is no list, and neither is text.
        if flat.links >= 2 && flat.end - parent > 2 && !matches!(flat.tag(), "html" | "a" | "p" | "tr") {
            below(page, parent, &mut found);
        }
        if found.len() > 8 * BOARD_LISTS_MAX {
            keep_longest(&mut found, 4 * BOARD_LISTS_MAX);
        }
    }
    keep_longest(&mut found, BOARD_LISTS_MAX);
    found
}

/// Sorts by the content of the records; ties by position.
fn keep_longest(found: &mut Vec<Region>, count: usize) {
    let held =
        |region: &Region| region.records.iter().map(|record| record.texts.len()).sum::<usize>() + region.records.len();
    found.sort_by_cached_key(|region| std::cmp::Reverse(held(region)));
    found.truncate(count);
}

fn below(page: &Page<'_>, parent: usize, found: &mut Vec<Region>) {
    let children: Vec<usize> = page.children(parent).take(2 * BOARD_ROWS_MAX).collect();
    if children.len() < 2 {
        return;
    }
    let (groups, labels) = group(page, &children);
    let mut taken: Vec<usize> = Vec::new();
    // The largest group starts records first; of equal ones (`dt`, `dd`) the one that comes first.
    let mut by_size: Vec<usize> = (0..groups.len()).collect();
    by_size.sort_by_key(|&label| std::cmp::Reverse(groups[label].members.len()));
    for label in by_size {
        let group = &groups[label];
        let is_start = group.members.len() >= 2 && group.with_links * 10 >= group.members.len() * 6;
        if !is_start || taken.contains(&label) {
            continue;
        }
        let follows = followers(&labels, label, &groups);
        taken.extend((0..groups.len()).filter(|other| follows[*other]));
        let records = spans(page, parent, &children, &labels, label, &follows);
        found.push(Region { parent, records, sketch: group.sketch.clone() });
    }
}

/// Groups the children by similarity. Returns the groups, and for each child its group (or None, if there are too
/// many kinds).
fn group(page: &Page<'_>, children: &[usize]) -> (Vec<Group>, Vec<Option<usize>>) {
    let mut groups: Vec<Group> = Vec::new();
    let mut labels = Vec::with_capacity(children.len());
    for &child in children {
        let flat = &page.elements[child];
        let tag = super::flat::hash(&flat.tag());
        let sketch = page.sketch(child);
        let best = groups
            .iter()
            .enumerate()
            .filter(|(_, group)| group.tag == tag)
            .map(|(label, group)| (label, likeness(&group.sketch, &sketch)))
            .filter(|(_, alike)| *alike >= ALIKE)
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let label = match best {
            Some((label, _)) => Some(label),
            None if groups.len() < GROUPS => {
                groups.push(Group { tag, sketch, members: Vec::new(), with_links: 0 });
                Some(groups.len() - 1)
            }
            None => None,
        };
        if let Some(group) = label.map(|label| &mut groups[label]) {
            group.members.push(child);
            group.with_links += usize::from(flat.links > 0);
        }
        labels.push(label);
    }
    (groups, labels)
}

/// The groups that recur once each between one start and the next.
fn followers(labels: &[Option<usize>], start: usize, groups: &[Group]) -> Vec<bool> {
    let mut seen = vec![0_usize; groups.len()];
    let mut last = vec![usize::MAX; groups.len()];
    let mut record = None::<usize>;
    for label in labels {
        match *label {
            Some(label) if label == start => record = Some(record.map_or(0, |record| record + 1)),
            Some(label) => {
                if let Some(record) = record
                    && last[label] != record
                {
                    last[label] = record;
                    seen[label] += 1;
                }
            }
            None => {}
        }
    }
    let starts = groups[start].members.len();
    let keeps_coming = |label: usize| {
        // A group that comes several times after one start, or seldom, is not part of it.
        seen[label] * 2 >= starts && groups[label].members.len() * 4 <= seen[label] * 5 && seen[label] > 1
    };
    (0..groups.len()).map(|label| label != start && keeps_coming(label)).collect()
}

fn spans(
    page: &Page<'_>,
    parent: usize,
    children: &[usize],
    labels: &[Option<usize>],
    start: usize,
    follows: &[bool],
) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    for (&child, label) in children.iter().zip(labels) {
        let texts = page.elements[child].texts.clone();
        match (label, records.last_mut()) {
            (Some(label), _) if *label == start => {
                if records.len() == BOARD_ROWS_MAX {
                    break;
                }
                records.push(Record { parts: vec![child], texts });
            }
            (Some(label), Some(record)) if follows[*label] => {
                record.parts.push(child);
                record.texts.end = texts.end;
            }
            _ => {}
        }
    }
    take_loose_texts(page, parent, &mut records);
    join_spanned_rows(page, records)
}

/// Texts after a record without an element of their own (`pre`, lists separated by `br`) belong to it.
fn take_loose_texts(page: &Page<'_>, parent: usize, records: &mut [Record]) {
    let ends: Vec<usize> =
        records.iter().skip(1).map(|record| record.texts.start).chain([page.elements[parent].texts.end]).collect();
    for (record, end) in records.iter_mut().zip(ends) {
        let is_loose = |at: &usize| page.texts[*at].parent == parent;
        let loose = (record.texts.end..end).take_while(is_loose).count();
        record.texts.end += loose;
    }
}

/// A row whose first cell spans two rows continues in the next.
fn join_spanned_rows(page: &Page<'_>, records: Vec<Record>) -> Vec<Record> {
    let spanned = |record: &Record| -> usize {
        if page.elements[record.first()].tag() != "tr" {
            return 0;
        }
        let spans = page.children(record.first()).filter_map(|cell| page.elements[cell].attr("rowspan")?.parse().ok());
        spans.max().unwrap_or(1_usize).min(4).saturating_sub(1)
    };
    let mut joined: Vec<Record> = Vec::with_capacity(records.len());
    let mut open = 0;
    for record in records {
        match joined.last_mut() {
            Some(last) if open > 0 => {
                open -= 1;
                last.parts.extend(record.parts);
                last.texts.end = record.texts.end;
            }
            _ => {
                open = spanned(&record);
                joined.push(record);
            }
        }
    }
    joined
}

/// Records of the same kind below other parents: pinned threads in a separate list, boards in categories. `like`
/// checks more than the form of a subtree.
pub(super) fn extend(page: &Page<'_>, region: &Region, like: impl Fn(&Record) -> bool) -> Vec<Record> {
    let Some(first) = region.records.first() else {
        return Vec::new();
    };
    let model = &page.elements[first.first()];
    if region.records.iter().any(|record| record.parts.len() > 1) {
        return region.records.clone();
    }
    let mut records = Vec::with_capacity(region.records.len());
    let mut known = region.records.iter().peekable();
    let mut at = 0;
    while at < page.elements.len() && records.len() < BOARD_ROWS_MAX {
        let flat = &page.elements[at];
        if known.peek().is_some_and(|record| record.first() == at) {
            records.extend(known.next().cloned());
            at = flat.end;
            continue;
        }
        // A row beside its own kind may look different; its link target distinguishes it from an advertisement.
        let is_like = flat.path == model.path && flat.links > 0;
        if is_like && (flat.parent == region.parent || likeness(&page.sketch(at), &region.sketch) >= ALIKE) {
            let record = Record { parts: vec![at], texts: flat.texts.clone() };
            if like(&record) {
                records.push(record);
                at = flat.end;
                continue;
            }
        }
        at += 1;
    }
    records
}

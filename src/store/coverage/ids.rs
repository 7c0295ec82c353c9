//! The numbers by which a site names its torrents (`/torrent/4711`): which of them lie between known ones, and how many of these may be torrents. Pure.
//!
//! The numbers of a path that many URLs share but for it are ids, of one shape. What is between two known ids of a shape is unknown: a torrent that no list
//! shows, one that was deleted or is not approved yet, or a comment or news item, if the site numbers them together. So the estimate is anything from none
//! to all of them until a sample was asked for ([`super::sample`]). Dates are no ids, nor are numbers that lie too far apart, such as times and hashes.
//!
//! Memory: 8 bytes for each number in the URL of a torrent or its page, at most three of a URL.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::crawldb::HostId;
use crate::limits::{ID_SHAPES_MAX, IDS_MAX};

/// Digits up to which a number is an id; more are a time or a hash.
const ID_DIGITS: usize = 10;

/// Distinct ids of a shape from which they count.
const KNOWN_MIN: usize = 20;

/// The share of known ids, as its inverse, below which numbers are not given one after the other.
const SPARSE: u64 = 1_000;

/// The share of ids at either end, as its inverse, that may be strays: they are left out if the rest then lies this many times closer together.
const STRAYS: usize = 200;
const STRAY_TIMES: u64 = 10;

/// The text around an id: the path of a URL before and after it. Other numbers are `#`, and what may be a title is `*`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Form {
    pub host: HostId,
    pub head: Box<str>,
    pub tail: Box<str>,
}

impl Form {
    /// The path of an id; None if the form leaves anything else open.
    #[must_use]
    pub fn path(&self, id: u64) -> Option<String> {
        let is_open = |text: &str| text.contains(['#', '*']);
        (!is_open(&self.head) && !is_open(&self.tail)).then(|| format!("{}{id}{}", self.head, self.tail))
    }

    /// For people, with the id as `{id}`.
    #[must_use]
    pub fn told(&self) -> String {
        format!("{}{{id}}{}", self.head, self.tail)
    }
}

/// The known ids of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdShape {
    pub form: Form,
    /// Ascending, each once; not empty.
    ids: Vec<u64>,
}

impl IdShape {
    #[must_use]
    pub fn known(&self) -> u64 {
        self.ids.len() as u64
    }

    #[must_use]
    pub fn first(&self) -> u64 {
        self.ids.first().copied().unwrap_or_default()
    }

    #[must_use]
    pub fn last(&self) -> u64 {
        self.ids.last().copied().unwrap_or_default()
    }

    fn span(&self) -> u64 {
        self.last() - self.first() + 1
    }

    /// Numbers between the first and the last id that are not known.
    #[must_use]
    pub fn unknown(&self) -> u64 {
        self.span() - self.known()
    }

    /// Adds ids that are not to be asked for again; those outside its range are left out.
    #[must_use]
    pub fn without(&self, others: &[u64]) -> Self {
        let mut ids = self.ids.clone();
        ids.extend(others.iter().filter(|id| (self.first()..=self.last()).contains(id)));
        ids.sort_unstable();
        ids.dedup();
        Self { form: self.form.clone(), ids }
    }

    /// The unknown id with this place among the unknown ones, from 0.
    #[must_use]
    pub fn unknown_at(&self, place: u64) -> Option<u64> {
        if place >= self.unknown() {
            return None;
        }
        // Of the known ids, those before which no more unknown ones lie are smaller than it.
        let (mut behind, mut end) = (0, self.ids.len());
        while behind < end {
            let middle = behind.midpoint(end);
            let unknown_before = self.ids[middle] - self.first() - middle as u64;
            (behind, end) = if unknown_before <= place { (middle + 1, end) } else { (behind, middle) };
        }
        Some(self.first() + place + behind as u64)
    }
}

/// Collects the ids of a site's URLs.
#[derive(Debug, Default)]
pub struct Ids {
    forms: HashMap<Form, Known>,
    held: usize,
    is_over: bool,
}

#[derive(Debug, Default)]
struct Known {
    ids: Vec<u64>,
    sort_at: usize,
}

impl Known {
    fn sort(&mut self) {
        self.ids.sort_unstable();
        self.ids.dedup();
        self.sort_at = (2 * self.ids.len()).max(1_024);
    }
}

impl Ids {
    /// Adds the path of a torrent's URL, or of its page's.
    pub fn add(&mut self, host: HostId, path: &str) {
        if self.is_over {
            return;
        }
        for (start, end, id) in numbers(path) {
            let form = Form { host, head: masked(&path[..start]).into(), tail: masked(&path[end..]).into() };
            let known = self.forms.entry(form).or_default();
            known.ids.push(id);
            self.held += 1;
            if known.ids.len() > known.sort_at.max(1_024) {
                let before = known.ids.len();
                known.sort();
                self.held -= before - known.ids.len();
            }
        }
        if self.forms.len() > 4 * ID_SHAPES_MAX {
            self.drop_small();
        }
        if self.held > IDS_MAX {
            *self = Self { is_over: true, ..Self::default() };
        }
    }

    /// Keeps the forms with the most ids.
    fn drop_small(&mut self) {
        let mut counts: Vec<usize> = self.forms.values().map(|known| known.ids.len()).collect();
        counts.sort_unstable();
        let least = counts[counts.len() - ID_SHAPES_MAX];
        // Of too many with as few ids none is kept.
        let are_few = least > 1 && counts.iter().filter(|count| **count >= least).count() <= 2 * ID_SHAPES_MAX;
        self.forms.retain(|_, known| known.ids.len() > least || are_few && known.ids.len() == least);
        self.held = self.forms.values().map(|known| known.ids.len()).sum();
    }

    /// The shapes whose numbers are ids, the densest first; None if there were too many numbers.
    #[must_use]
    pub fn finish(self) -> Option<Vec<IdShape>> {
        if self.is_over {
            return None;
        }
        let mut of_urls: HashMap<(HostId, String), IdShape> = HashMap::new();
        for (form, mut known) in self.forms {
            known.sort();
            if known.ids.len() < KNOWN_MIN {
                continue;
            }
            // Of several numbers of the same URLs the one that tells most of them apart.
            let whole = (form.host, format!("{}#{}", form.head, form.tail));
            let shape = IdShape { form, ids: known.ids };
            match of_urls.get(&whole) {
                Some(other) if (other.known(), &other.form) >= (shape.known(), &shape.form) => {}
                _ => drop(of_urls.insert(whole, shape)),
            }
        }
        let of_urls: Vec<IdShape> = of_urls.into_values().collect();
        let is_behind_id = |shape: &IdShape| of_urls.iter().any(|other| is_number_behind(shape, other));
        let shapes = of_urls.iter().filter(|shape| !are_dates(&shape.ids) && !is_behind_id(shape));
        let shapes = shapes.cloned().map(without_strays);
        let mut shapes: Vec<IdShape> = shapes.filter(|shape| shape.span() / SPARSE <= shape.known()).collect();
        let density = |shape: &IdShape| u128::from(shape.known()) * 1_000_000 / u128::from(shape.span());
        shapes.sort_by(|a, b| {
            density(b).cmp(&density(a)).then(b.known().cmp(&a.known())).then_with(|| a.form.cmp(&b.form))
        });
        Some(shapes)
    }
}

/// True if the URLs of a shape have a number before, of the other shape, that tells as many of them apart: theirs is part of a title.
fn is_number_behind(shape: &IdShape, other: &IdShape) -> bool {
    let before = shape.form.head.split_once('#').map(|(before, _)| before);
    before == Some(&*other.form.head) && other.form.host == shape.form.host && other.known() >= shape.known()
}

/// A shape without the few ids at its ends that lie far from the others.
fn without_strays(shape: IdShape) -> IdShape {
    let strays = shape.ids.len().div_ceil(STRAYS);
    let rest = &shape.ids[strays..shape.ids.len() - strays];
    let span = rest.first().zip(rest.last()).map_or(u64::MAX, |(first, last)| last - first + 1);
    if shape.span() / STRAY_TIMES <= span { shape } else { IdShape { ids: rest.to_vec(), ..shape } }
}

/// True for numbers that are days, such as 20261128.
fn are_dates(ids: &[u64]) -> bool {
    let is_day = |id: &&u64| {
        let (year, month, day) = (**id / 10_000, **id / 100 % 100, **id % 100);
        (1_980..=2_100).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day)
    };
    ids.iter().filter(is_day).count() * 20 >= ids.len() * 19
}

/// Up to three numbers of a path that stand alone: where they are, and their value. The first two and the last.
fn numbers(path: &str) -> Vec<(usize, usize, u64)> {
    let bytes = path.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && bytes[at].is_ascii_digit() {
            at += 1;
        }
        let is_alone =
            !bytes[..start].last().is_some_and(|before| before.is_ascii_alphanumeric() || b"%#*".contains(before))
                && !bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
        if is_alone
            && at - start <= ID_DIGITS
            && bytes[start] != b'0'
            && let Ok(id) = path[start..at].parse()
        {
            if found.len() == 3 {
                found.pop();
            }
            found.push((start, at, id));
        }
    }
    found
}

/// A part of a path with its numbers as `#`, and with pieces that may be titles as `*`. A sign of its own never stays.
fn masked(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(['/', '?', '&', ';', '=']).unwrap_or(rest.len());
        let piece = &rest[..end];
        if is_title(piece) {
            masked.push('*');
        } else {
            mask_numbers(piece, &mut masked);
        }
        let sign = rest[end..].chars().next();
        masked.extend(sign);
        rest = &rest[end + sign.map_or(0, char::len_utf8)..];
    }
    masked
}

fn mask_numbers(piece: &str, masked: &mut String) {
    let mut is_in_number = false;
    for letter in piece.chars() {
        match letter {
            '0'..='9' if is_in_number => {}
            '0'..='9' => masked.push('#'),
            // Neither may be taken for a mark of this function.
            '#' | '*' => drop(write!(masked, "%{:02X}", u32::from(letter))),
            letter => masked.push(letter),
        }
        is_in_number = letter.is_ascii_digit();
    }
}

/// True for a piece of a path that is longer than the names of scripts, folders and parameters are, with words or signs of titles in it.
fn is_title(piece: &str) -> bool {
    let is_name = |stem: &str| stem.len() <= 24 && stem.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let stem = piece.rsplit_once('.').filter(|(_, extension)| extension.len() <= 8).map_or(piece, |(stem, _)| stem);
    let has_letters = piece.chars().any(char::is_alphabetic);
    let has_signs = piece.contains(['-', '+', '%', '.', '_', ' ']);
    has_letters && !is_name(stem) && (piece.len() > 24 || piece.len() > 12 && has_signs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(paths: impl IntoIterator<Item = String>) -> Vec<IdShape> {
        let mut ids = Ids::default();
        paths.into_iter().for_each(|path| ids.add(HostId(0), &path));
        ids.finish().unwrap()
    }

    fn told(shapes: &[IdShape]) -> Vec<(String, u64, u64, u64)> {
        shapes.iter().map(|shape| (shape.form.told(), shape.first(), shape.last(), shape.known())).collect()
    }

    #[test]
    fn the_numbers_that_tell_urls_apart_are_ids() {
        let one = |form: &str, first, last, known| vec![(form.to_owned(), first, last, known)];
        let even = || (1..=50_u64).map(|id| id * 2);
        assert_eq!(told(&of(even().map(|id| format!("/torrent/{id}")))), one("/torrent/{id}", 2, 100, 50));
        assert_eq!(
            told(&of(even().map(|id| format!("/download/{id}.torrent")))),
            one("/download/{id}.torrent", 2, 100, 50)
        );
        let threads = even().map(|id| format!("/viewtopic.php?f={}&t={id}", id % 5));
        assert_eq!(told(&of(threads)), one("/viewtopic.php?f=#&t={id}", 2, 100, 50));
        let titles = even().map(|id| format!("/torrent/{id}/Debian-{}-netinst-amd64", id * 7));
        let found = of(titles);
        assert_eq!(told(&found), one("/torrent/{id}/*", 2, 100, 50));
        assert_eq!(found[0].form.path(5), None, "nobody knows its title");
        let found = of(even().map(|id| format!("/attachment.php?aid={id}")));
        assert_eq!(found[0].form.path(5).as_deref(), Some("/attachment.php?aid=5"));
    }

    #[test]
    fn dates_hashes_and_numbers_far_apart_are_none() {
        let days = (1..=12).flat_map(|month| (1..=28).map(move |day| format!("/t/2026{month:02}{day:02}")));
        assert_eq!(of(days), []);
        let folders = (1..=12).flat_map(|month| (1..=28).map(move |day| format!("/2026/{month}/{day}/x")));
        assert_eq!(of(folders.clone()).iter().filter(|shape| shape.known() > 28).count(), 0);
        assert_eq!(of((0..50).map(|number| format!("/t/{number:040x}"))), []);
        assert_eq!(of((1..50).map(|number| format!("/t/{number}{}", "7".repeat(24)))), [], "ids of 25 digits");
        assert_eq!(of((1..50_u64).map(|number| format!("/t/{}", number * 100_000_000))), []);
        assert_eq!(of((1..19).map(|number| format!("/t/{number}"))), [], "too few");
        assert_eq!(of([String::new(), "/".to_owned(), "/t/99999999999999999999999999".to_owned()]), []);
        let strays = (1..=300).chain([9_999_999_999_u64]).map(|id| format!("/t/{id}"));
        assert_eq!(told(&of(strays))[0].2, 299, "one of the ends, and the stray");
    }

    #[test]
    fn unknown_ids_are_counted_in_their_order() {
        let shape = &of([3, 4, 8].into_iter().chain(10..30).map(|id| format!("/t/{id}")))[0];
        assert_eq!((shape.unknown(), shape.known()), (4, 23));
        let unknown: Vec<u64> = (0..9).map_while(|place| shape.unknown_at(place)).collect();
        assert_eq!(unknown, [5, 6, 7, 9]);
        let rest = shape.without(&[6, 7, 500, 1]);
        assert_eq!(
            (rest.unknown(), rest.unknown_at(0), rest.unknown_at(1), rest.unknown_at(2)),
            (2, Some(5), Some(9), None)
        );
    }

    #[test]
    fn memory_is_bounded_whatever_the_urls_are() {
        let mut ids = Ids::default();
        for number in 0..20_000_u64 {
            ids.add(HostId(0), &format!("/x{}y/{number}/z", "a".repeat((number % 400) as usize)));
            assert!(ids.forms.len() <= 4 * ID_SHAPES_MAX + 3);
        }
        use proptest::prelude::*;
        proptest!(|(paths in proptest::collection::vec("/([0-9]{1,25}|[a-z-]{1,30}|[#*%&=?/;]|\\PC){0,8}", 0..60))| {
            for shape in of(paths) {
                prop_assert!(shape.known() + shape.unknown() == shape.span());
            }
        });
    }
}

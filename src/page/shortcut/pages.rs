//! Links to the other pages of a list: the page's own address with another number, as far as the response shows that
//! there are pages.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value as Json;
use url::Url;

use super::place::{JsonPath, Step, outside_lists};
use super::template::{Scope, Source, numbers};
use super::{Answer, Observation};
use crate::limits;

/// Minimum records per page for numbers that are all multiples of it to count records (`start=50`), not pages.
const OFFSET_STEP_MIN: i64 = 5;

/// Maximum pages before and after a page that are linked, beside the first and the last: the others are reached from
/// these.
pub const NEAR: i64 = 10;

/// Possible positions of the number in an address.
const PLACES: usize = 8;

/// What shows the number of pages in a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Last {
    /// The number of the last page.
    Number(JsonPath),
    /// The total number of records, and the records per page.
    Total(JsonPath, i64),
    /// Whether there is one more page.
    More(JsonPath),
    /// A page with this many records is followed by another.
    Full(i64),
}

/// How the addresses of a list's pages are formed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pager {
    /// The position of the number in the page's address: a parameter, or a number in a segment.
    pub at: Source,
    /// The number of the first page; also of a page whose address has no number.
    pub first: i64,
    /// The step from a page's number to the next: 1, or the page size if the number counts records. At least 1.
    pub step: i64,
    /// How many pages before and after a page are linked, from 1 to [`NEAR`].
    pub near: i64,
    /// The first and the last page are linked from each page.
    pub ends: bool,
    pub last: Last,
}

impl Pager {
    /// The number of a page.
    #[must_use]
    pub fn own(&self, page: &Url) -> i64 {
        number(&self.at, page).unwrap_or(self.first)
    }

    /// The number of the last page, from the response for `page`.
    #[must_use]
    pub fn last(&self, answer: &Answer, records: usize, page: &Url) -> i64 {
        let own = self.own(page);
        let json = answer.json();
        let number = |place: &JsonPath| -> Option<i64> { place.text(json?)?.parse().ok() };
        let records = i64::try_from(records).unwrap_or(i64::MAX);
        match &self.last {
            Last::Number(place) => number(place).unwrap_or(own),
            Last::Total(place, size) => number(place).map_or(own, |total| {
                let pages = total.max(0).saturating_add(size - 1) / (*size).max(1);
                pages.saturating_sub(1).max(0).saturating_mul(self.step).saturating_add(self.first)
            }),
            Last::More(place) => {
                let more = json.and_then(|json| place.get(json)).is_some_and(|more| *more == Json::Bool(true));
                own.saturating_add(i64::from(more) * self.step)
            }
            Last::Full(size) => own.saturating_add(i64::from(records >= *size) * self.step),
        }
    }

    /// Addresses of the pages around a page, and of the first and the last.
    #[must_use]
    pub fn links(&self, answer: &Answer, records: usize, page: &Url) -> Vec<String> {
        let (own, last) = (self.own(page), self.last(answer, records, page));
        let near = (-self.near..=self.near).map(|pages| own.saturating_add(pages.saturating_mul(self.step)));
        let numbers: BTreeSet<i64> = near
            .chain([self.first, last].into_iter().filter(|_| self.ends))
            .filter(|number| *number != own && *number >= self.first && *number <= last)
            .collect();
        numbers.into_iter().filter_map(|number| with_number(&self.at, page, number)).collect()
    }

    /// The address of the following page, whether it exists or not.
    #[must_use]
    pub fn behind(&self, page: &Url) -> Option<Url> {
        Url::parse(&with_number(&self.at, page, self.own(page).saturating_add(self.step))?).ok()
    }

    /// The address of the following page, if there is one.
    #[must_use]
    pub fn next_page(&self, page: &Url, last: i64) -> Option<String> {
        let next = self.own(page).saturating_add(self.step);
        (next <= last).then(|| with_number(&self.at, page, next)).flatten()
    }

    /// The number in an address that otherwise equals `page`'s.
    #[must_use]
    pub fn number_of(&self, address: &str, page: &Url) -> Option<i64> {
        let address = Url::parse(address).ok()?;
        let found = same_but_number(page, &address)?;
        (found.0 == self.at).then_some(found.1)
    }

    /// Whether an address is one of the list's pages.
    #[must_use]
    pub fn is_one_of(&self, address: &str, page: &Url, last: i64) -> bool {
        match self.number_of(address, page) {
            Some(number) => {
                (self.first..=last.max(self.own(page))).contains(&number) && (number - self.first) % self.step == 0
            }
            None => Url::parse(address).is_ok_and(|address| is_numberless(&self.at, page, &address)),
        }
    }
}

/// A render: its page, its first response, and the number of records in it.
pub type Paged<'a> = (&'a Observation, &'a Answer, usize);

/// Learns the pages' links from the links of each render that no record explains. `records` are the places of the
/// response's records.
pub fn learn(renders: &[Paged<'_>], left: &[HashSet<String>], records: &[&JsonPath]) -> Option<Pager> {
    let samples = renders.iter().zip(left).flat_map(|((observation, ..), left)| {
        left.iter().filter_map(|key| same_but_number(&observation.page, &Url::parse(key).ok()?))
    });
    let mut sources: Vec<Source> = Vec::new();
    for (source, _) in samples {
        if sources.len() < PLACES && !sources.contains(&source) {
            sources.push(source);
        }
    }
    sources.into_iter().find_map(|at| learn_at(&at, renders, left, records))
}

fn learn_at(at: &Source, renders: &[Paged<'_>], left: &[HashSet<String>], records: &[&JsonPath]) -> Option<Pager> {
    let numbers: Vec<BTreeSet<i64>> = renders
        .iter()
        .zip(left)
        .map(|((observation, ..), left)| {
            let of = |key: &String| {
                same_but_number(&observation.page, &Url::parse(key).ok()?).filter(|found| found.0 == *at)
            };
            left.iter().filter_map(of).map(|(_, number)| number).collect()
        })
        .collect();
    let owns = renders.iter().filter_map(|(observation, ..)| number(at, &observation.page));
    let least = numbers.iter().flatten().copied().chain(owns.clone()).min()?;
    if least < 0 {
        return None;
    }
    let size = i64::try_from(renders.iter().map(|(.., records)| *records).max().unwrap_or(0)).ok()?;
    let all = numbers.iter().flatten().copied().chain(owns);
    let (first, step) = counting(&all.collect(), size);
    let mut pager = Pager { at: at.clone(), first, step, near: 1, ends: false, last: Last::Full(i64::MAX) };
    let mut places: Vec<(JsonPath, bool)> = Vec::new();
    let (_, answer, _) = renders.first()?;
    outside_lists(answer.json().unwrap_or(&Json::Null), &JsonPath::default(), &mut |place, value| {
        if (value.is_number() || value.is_boolean()) && places.len() < limits::SHORTCUT_PLACES_MAX {
            places.push((place.clone(), value.is_boolean()));
        }
    });
    let tries = places.iter().flat_map(|(place, is_switch)| match is_switch {
        true => vec![Last::More(place.clone())],
        // If numbers count records, the total is not a page number, even if it is one step more.
        false if step > 1 => vec![Last::Total(place.clone(), size), Last::Number(place.clone())],
        false => vec![Last::Number(place.clone()), Last::Total(place.clone(), size)],
    });
    let tries = tries.chain([Last::Full(size)]).filter(|last| size > 0 || matches!(last, Last::Number(_)));
    // A number that only says that there is one page fits everything.
    let is_told = numbers.iter().any(|numbers| !numbers.is_empty());
    let ranked = tries.filter(|_| is_told).filter_map(|last| {
        pager.last = last;
        let fits = renders.iter().zip(&numbers).all(|(render, numbers)| pager.fits(render, numbers));
        let rank = if fits { pager.rank(renders, &numbers, records) } else { None };
        rank.map(|rank| (rank, pager.as_linked(renders, &numbers)))
    });
    ranked.min_by_key(|(rank, _)| *rank).map(|(_, pager)| pager)
}

/// Reliability of the sign for the end, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// Each render linked the very page that it indicates as the last, far ahead; and its name fits.
    LinkedAndNamed,
    Linked,
    /// A switch that was on before other pages and off at the end.
    Switched,
    /// A number whose name fits and which is constant on all pages of a list.
    Named,
    /// Only the number of records.
    Counted,
    /// Any constant number.
    Steady,
    /// A switch that was never off, or a number equal to the record count.
    Vague,
    /// A number that changes with the records.
    Moving,
    /// A member of a record.
    OfRecord,
}

/// Member names of totals.
const NAMES: [&str; 6] = ["total", "count", "page", "last", "found", "hits"];

/// Similar names that mean a page size.
const OTHER_NAMES: [&str; 3] = ["size", "per", "limit"];

impl Pager {
    /// Whether it is consistent with this render's pages.
    fn fits(&self, (observation, answer, records): &Paged<'_>, numbers: &BTreeSet<i64>) -> bool {
        let (own, last) = (self.own(&observation.page), self.last(answer, *records, &observation.page));
        let most = numbers.iter().copied().max().unwrap_or(own).max(own);
        // There must be no unlinked page after the last, and no link beyond it; those in between are reached from
        // their neighbours. A list may end with a full page.
        let is_guess = matches!(self.last, Last::Full(_));
        let next_is_linked = is_guess || own >= last || numbers.iter().any(|number| *number > own);
        most <= last.max(own) && next_is_linked && (most == last || !matches!(self.last, Last::Number(_)) || most > own)
    }

    /// Its reliability; `None` if it cannot be used.
    fn rank(&self, renders: &[Paged<'_>], numbers: &[BTreeSet<i64>], lists: &[&JsonPath]) -> Option<Rank> {
        let place = match &self.last {
            Last::Full(_) => return Some(Rank::Counted),
            Last::Number(place) | Last::Total(place, _) | Last::More(place) => place,
        };
        let value = |answer: &Answer| -> Option<Json> { place.get(answer.json()?).cloned() };
        let of_record = lists.iter().any(|records| place.is_within(records));
        if matches!(self.last, Last::More(_)) {
            let has = |wanted: bool| renders.iter().any(|(_, answer, _)| value(answer) == Some(Json::Bool(wanted)));
            return (!of_record).then(|| if has(true) && has(false) { Rank::Switched } else { Rank::Vague });
        }
        let values: Vec<i64> = renders.iter().map(|(_, answer, _)| value(answer)?.as_i64()).collect::<Option<_>>()?;
        let ends = renders.iter().zip(numbers).map(|((observation, answer, records), numbers)| {
            let (own, last) = (self.own(&observation.page), self.last(answer, *records, &observation.page));
            (own, last, numbers.iter().copied().max().unwrap_or(own).max(own))
        });
        let is_linked = ends.clone().all(|(_, last, most)| last == most)
            && ends.clone().any(|(own, _, most)| most > own.saturating_add(self.step));
        let is_another = values.iter().any(|value| values.first() != Some(value));
        if of_record {
            // Possible by chance once, but not with a different value in each render.
            return (is_linked && is_another).then_some(Rank::OfRecord);
        }
        let name = match place.0.last() {
            Some(Step::Key(name)) => name.to_ascii_lowercase(),
            _ => String::new(),
        };
        let has = |names: &[&str]| names.iter().any(|known| name.contains(known));
        // `total_pages` is the last page's number, `total` the number of records.
        let is_of_pages = has(&["page", "last"]) == matches!(self.last, Last::Number(_));
        let is_named = has(&NAMES) && !has(&OTHER_NAMES) && is_of_pages;
        // Torrents are added while a list is read: slightly different numbers count as equal.
        let size = renders.iter().map(|(.., records)| *records as u64).max().unwrap_or(0);
        let lists = renders.iter().map(|(observation, ..)| with_number(&self.at, &observation.page, self.first));
        let told: Vec<(Option<String>, i64)> = lists.zip(values.iter().copied()).collect();
        let is_steady = told.iter().all(|(list, value)| {
            let same = told.iter().filter(|(other, _)| other == list);
            same.map(|(_, other)| value.abs_diff(*other)).all(|apart| apart < size.max(1))
        });
        let is_of_page =
            matches!(self.last, Last::Number(_)) && values.iter().all(|value| u64::try_from(*value) == Ok(size));
        Some(match (is_linked, is_named) {
            (true, true) => Rank::LinkedAndNamed,
            (true, false) => Rank::Linked,
            _ if !is_steady => Rank::Moving,
            _ if is_of_page => Rank::Vague,
            (false, true) => Rank::Named,
            (false, false) => Rank::Steady,
        })
    }

    /// Limits the pager to the pages that these renders linked, because the last number may be a guess.
    fn as_linked(&self, renders: &[Paged<'_>], numbers: &[BTreeSet<i64>]) -> Self {
        let (mut near, mut ends) = (1, true);
        for ((observation, answer, records), numbers) in renders.iter().zip(numbers) {
            let (own, last) = (self.own(&observation.page), self.last(answer, *records, &observation.page));
            let behind = numbers.iter().filter(|number| **number > own && **number != last);
            near = behind.map(|number| (number - own) / self.step).chain([near]).max().unwrap_or(near);
            ends &= own >= last || numbers.contains(&last);
        }
        Self { near: near.min(NEAR), ends, ..self.clone() }
    }
}

/// The first page's number and the step to the next, for this page size: numbers that are all multiples of it count
/// records, from 0 or from 1.
fn counting(numbers: &BTreeSet<i64>, size: i64) -> (i64, i64) {
    let counts_from = |first: i64| {
        size >= OFFSET_STEP_MIN
            && numbers.iter().any(|number| *number > first)
            && numbers.iter().all(|number| *number >= first && (number - first) % size == 0)
    };
    match [0, 1].into_iter().find(|first| counts_from(*first)) {
        Some(first) => (first, size),
        None => (numbers.first().copied().unwrap_or(1).min(1), 1),
    }
}

/// Whether an address may be another page of the same list.
#[must_use]
pub fn is_another(page: &Url, address: &str) -> bool {
    Url::parse(address).is_ok_and(|address| same_but_number(page, &address).is_some())
}

/// The position and value of the number, if two addresses differ by nothing else.
fn same_but_number(page: &Url, address: &Url) -> Option<(Source, i64)> {
    if page.origin() != address.origin() {
        return None;
    }
    let segments =
        |url: &Url| -> Vec<String> { url.path_segments().into_iter().flatten().map(str::to_owned).collect() };
    let pairs = |url: &Url| -> Vec<(String, String)> { url.query_pairs().into_owned().collect() };
    let (own, other) = (segments(page), segments(address));
    let (mut own_pairs, mut other_pairs) = (pairs(page), pairs(address));
    own_pairs.sort();
    other_pairs.sort();
    if own == other {
        let mut differing = other_pairs.iter().filter(|pair| !own_pairs.contains(pair));
        let ((name, value), None) = (differing.next()?, differing.next()) else { return None };
        let rest = |pairs: &[(String, String)]| -> Vec<(String, String)> {
            pairs.iter().filter(|pair| pair.0 != *name).cloned().collect()
        };
        return (rest(&own_pairs) == rest(&other_pairs))
            .then(|| Some((Source::Query(name.clone()), value.parse().ok()?)))?;
    }
    if own.len() != other.len() || own_pairs != other_pairs {
        return None;
    }
    let mut differing = own.iter().zip(&other).enumerate().filter(|(_, (own, other))| own != other);
    let ((at, (own, other)), None) = (differing.next()?, differing.next()) else { return None };
    let (own_runs, runs): (Vec<&str>, Vec<&str>) = (numbers(own).collect(), numbers(other).collect());
    let run = runs.iter().zip(&own_runs).position(|(run, own)| run != own)?;
    let at = Source::Number(at, run);
    let number = runs.get(run)?.parse().ok()?;
    (with_number(&at, page, number).as_deref() == Some(address.as_str())).then_some((at, number))
}

/// Whether an address is the page's without its number, which is the first page of many lists.
fn is_numberless(at: &Source, page: &Url, address: &Url) -> bool {
    let Source::Query(name) = at else { return false };
    let rest = |url: &Url| -> Vec<(String, String)> {
        let mut pairs: Vec<_> = url.query_pairs().into_owned().filter(|pair| pair.0 != *name).collect();
        pairs.sort();
        pairs
    };
    let has_none = !address.query_pairs().any(|pair| pair.0 == *name);
    has_none && page.origin() == address.origin() && page.path() == address.path() && rest(page) == rest(address)
}

fn number(at: &Source, page: &Url) -> Option<i64> {
    at.read(&Scope::of(page, "", &[], 0))?.parse().ok()
}

/// The page's address with another number.
fn with_number(at: &Source, page: &Url, number: i64) -> Option<String> {
    let mut url = page.clone();
    match at {
        Source::Query(name) => {
            let has_it = page.query_pairs().any(|(key, _)| key == *name);
            let pairs: Vec<(String, String)> = page.query_pairs().into_owned().collect();
            let number = number.to_string();
            if has_it {
                let mut query = url.query_pairs_mut();
                query.clear();
                for (key, value) in &pairs {
                    query.append_pair(key, if key == name { &number } else { value });
                }
            } else {
                url.query_pairs_mut().append_pair(name, &number);
            }
        }
        Source::Number(at, run) => {
            let segments: Vec<&str> = page.path_segments()?.collect();
            let segment = segments.get(*at)?;
            let found = numbers(segment).nth(*run)?;
            let start = found.as_ptr() as usize - segment.as_ptr() as usize;
            let changed = format!("{}{number}{}", &segment[..start], &segment[start + found.len()..]);
            let path: Vec<&str> = segments
                .iter()
                .enumerate()
                .map(|(place, own)| if place == *at { changed.as_str() } else { own })
                .collect();
            url.set_path(&path.join("/"));
        }
        _ => return None,
    }
    Some(url.into())
}

#[cfg(test)]
mod tests;

//! Pagination of a list's data: the next request is the previous one with a larger number, with a value of the
//! response, or at an address in it.

use std::borrow::Cow;

use serde_json::Value as Json;
use url::Url;

use super::Answer;
use super::call::{self, Slots};
use super::leaves;
use super::place::{JsonPath, outside_lists};
use crate::limits;

/// The change from one request to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// A slot grows by `step`; `first` is its value if the first request lacks it.
    Step { slot: String, step: i64, first: i64 },
    /// A slot gets a value of the response.
    Cursor { slot: String, at: JsonPath },
    /// The response contains the whole address.
    Next(JsonPath),
}

/// How a list is paginated, and when it ends: if the response has no record, or if it says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turning {
    pub turn: Turn,
    /// A switch that is true while there are more pages.
    pub more: Option<JsonPath>,
    /// The total number of records.
    pub total: Option<JsonPath>,
}

/// Parameters that count, whatever values the response contains.
const COUNTERS: [&str; 10] = ["page", "p", "pg", "offset", "start", "skip", "from", "begin", "pageno", "page_no"];

impl Turning {
    /// The request after an answered one; `None` at the end. `seen` counts all records so far.
    #[must_use]
    pub fn next(&self, asked: &Slots, answer: &Answer, records: usize, seen: usize) -> Option<Slots> {
        let json = answer.json();
        let says_end =
            |place: &JsonPath| json.and_then(|json| place.get(json)).is_none_or(|more| *more != Json::Bool(true));
        let is_all = |place: &JsonPath| {
            let total = json.and_then(|json| place.text(json)).and_then(|total| total.parse::<usize>().ok());
            total.is_none_or(|total| seen >= total)
        };
        if records == 0 || self.more.as_ref().is_some_and(says_end) || self.total.as_ref().is_some_and(is_all) {
            return None;
        }
        self.behind(asked, answer)
    }

    /// The same, ignoring any end in the response.
    #[must_use]
    pub fn behind(&self, asked: &Slots, answer: &Answer) -> Option<Slots> {
        let json = answer.json();
        match &self.turn {
            Turn::Step { slot, step, first } => {
                let now = call::value(asked, slot).filter(|value| *value != "null");
                let now = now.map_or(Some(*first), |value| value.parse().ok())?;
                let mut next = asked.clone();
                call::set(&mut next, slot, &now.checked_add(*step)?.into());
                Some(next)
            }
            Turn::Cursor { slot, at } => {
                let json = json?;
                let cursor = at.text(json)?;
                let mut next = asked.clone();
                call::set(&mut next, slot, at.get(json)?);
                (call::value(asked, slot) != Some(cursor)).then_some(next)
            }
            Turn::Next(at) => {
                let base = Url::parse(&call::asked(asked).url).ok()?;
                let next = base.join(&at.text(json?)?).ok()?;
                followed(asked, &base, &next)
            }
        }
    }
}

/// A request left by an earlier visit, with its volatile slots (`names`) set as in this visit's `first`. The
/// pagination slot stays, and so does an address from a response.
#[must_use]
pub fn renewed(turn: Option<&Turn>, mut asks: Slots, first: &Slots, names: &[&str]) -> Slots {
    let turned = match turn {
        Some(Turn::Step { slot, .. } | Turn::Cursor { slot, .. }) => slot.as_str(),
        Some(Turn::Next(_)) | None => "",
    };
    let is_named = matches!(turn, Some(Turn::Next(_)));
    for name in names {
        let is_address = *name == "origin" || name.starts_with("path.") || name.starts_with("query.");
        if *name == turned || call::retyped(name).as_deref() == Some(turned) || (is_named && is_address) {
            continue;
        }
        let place = turned.strip_prefix(name).and_then(|rest| rest.strip_prefix('#'));
        let now = call::slot(first, name);
        if let (Some(now), Some((_, value))) = (now, asks.iter_mut().find(|(own, _)| own == name)) {
            let kept = place.and_then(|place| leaves::put(now, place, &leaves::json(value, place)?));
            *value = kept.unwrap_or_else(|| now.to_owned());
        }
    }
    asks
}

/// The request at an address in a response: never from https to http, and to another origin without headers and body,
/// because what was learned for the first origin is not meant for it.
fn followed(asked: &Slots, own: &Url, next: &Url) -> Option<Slots> {
    if own.scheme() == "https" && next.scheme() != "https" {
        return None;
    }
    let mut moved = call::moved_to(asked, next);
    if own.origin() != next.origin() {
        if call::slot(&moved, "method") != Some("GET") {
            return None;
        }
        let is_address = |name: &str| name.starts_with("path.") || name.starts_with("query.");
        moved.retain(|(name, _)| matches!(name.as_str(), "method" | "origin") || is_address(name));
    }
    Some(moved)
}

/// Requests of one render in order, with their responses and the number of records in each.
pub type Sequence = Vec<(Slots, Answer, usize)>;

/// Learns the pagination that all sequences of two and more requests show; `fleeting` slots are ignored. A member of
/// the list's `records` never shows its end.
pub fn learn(sequences: &[Sequence], fleeting: &[&str], records: &[&JsonPath]) -> Option<Turning> {
    let turned: Vec<&Sequence> = sequences.iter().filter(|sequence| sequence.len() > 1).collect();
    let turn = next_address(&turned, fleeting).or_else(|| changed_slot(&turned, fleeting))?;
    let bare = Turning { turn, more: None, total: None };
    let json = turned.first()?.first()?.1.json()?;
    let (mut switches, mut counts) = (Vec::new(), Vec::new());
    outside_lists(json, &JsonPath::default(), &mut |place, value| match value {
        _ if switches.len() + counts.len() >= limits::SHORTCUT_PLACES_MAX => {}
        _ if records.iter().any(|records| place.is_within(records)) => {}
        Json::Bool(true) => switches.push(place.clone()),
        Json::Number(_) => counts.push(place.clone()),
        _ => {}
    });
    let ends = switches
        .into_iter()
        .map(|place| Turning { more: Some(place), ..bare.clone() })
        .chain(counts.into_iter().map(|place| Turning { total: Some(place), ..bare.clone() }));
    // A sign must show the end at an end, and never before; a count must also be constant on the way.
    let mut ends =
        ends.filter(|turning| turning.total.as_ref().is_none_or(|total| stays(total, sequences))).filter(|turning| {
            let told = sequences.iter().filter_map(|sequence| ends_with_its_sequence(turning, sequence));
            let told: Vec<bool> = told.collect();
            told.len() == sequences.len() && told.contains(&true)
        });
    Some(ends.next().unwrap_or(bare))
}

/// Whether a member of the responses is constant within each sequence.
fn stays(place: &JsonPath, sequences: &[Sequence]) -> bool {
    let told =
        |(_, answer, _): &(Slots, Answer, usize)| answer.json().and_then(|json| place.text(json).map(Cow::into_owned));
    sequences.iter().all(|sequence| sequence.windows(2).all(|two| told(&two[0]) == told(&two[1])))
}

/// Whether a sequence ends where the pagination does: true, or false if it was cut off before. `None` if the
/// pagination ends too early.
fn ends_with_its_sequence(turning: &Turning, sequence: &Sequence) -> Option<bool> {
    let mut seen = 0;
    for (number, (slots, answer, records)) in sequence.iter().enumerate() {
        seen += records;
        let is_end = turning.next(slots, answer, *records, seen).is_none();
        if number + 1 == sequence.len() {
            return Some(is_end);
        }
        if is_end {
            return None;
        }
    }
    None
}

/// Pairs of a request with its response and the following request.
fn pairs<'a>(turned: &[&'a Sequence]) -> impl Iterator<Item = (&'a Slots, &'a Json, &'a Slots)> {
    let pairs: Vec<_> = turned
        .iter()
        .flat_map(|sequence| sequence.windows(2).map(|two| (&two[0].0, two[0].1.json(), &two[1].0)))
        .collect();
    pairs.into_iter().map(|(slots, json, next)| (slots, json.unwrap_or(&Json::Null), next))
}

fn next_address(turned: &[&Sequence], fleeting: &[&str]) -> Option<Turn> {
    let leads = |place: &JsonPath, slots: &Slots, json: &Json, next: &Slots| {
        let base = Url::parse(&call::asked(slots).url).ok()?;
        let address = base.join(&place.text(json)?).ok()?;
        // A bare value is also a valid relative address; a real next address has a path or a query.
        let is_address = place.text(json)?.contains(['/', '?']);
        (is_address && call::are_same(&call::moved_to(slots, &address), next, fleeting)).then_some(())
    };
    let (_, json, _) = pairs(turned).next()?;
    let mut places = Vec::new();
    outside_lists(json, &JsonPath::default(), &mut |place, value| {
        if value.is_string() && places.len() < limits::SHORTCUT_PLACES_MAX {
            places.push(place.clone());
        }
    });
    let place = places
        .into_iter()
        .find(|place| pairs(turned).all(|(slots, json, next)| leads(place, slots, json, next).is_some()))?;
    Some(Turn::Next(place))
}

fn changed_slot(turned: &[&Sequence], fleeting: &[&str]) -> Option<Turn> {
    let mut names: Vec<&str> = Vec::new();
    for (slots, _, next) in pairs(turned) {
        let all = slots.iter().chain(next.iter()).map(|(name, _)| name.as_str());
        for name in all.filter(|name| !fleeting.contains(name)) {
            // Null first, then a string: JSON slots of different types have different names.
            let is_known =
                names.contains(&name) || call::retyped(name).is_some_and(|other| names.contains(&other.as_str()));
            if call::slot(slots, name) != call::slot(next, name) && !is_known {
                names.push(name);
            }
        }
    }
    let [slot] = names.as_slice() else { return None };
    let inner = inner(slot, turned);
    let slot = &inner.as_deref().unwrap_or(slot);
    let cursor = || {
        let (_, json, _) = pairs(turned).next()?;
        let mut places = Vec::new();
        outside_lists(json, &JsonPath::default(), &mut |place, _| places.push(place.clone()));
        let leads = |place: &JsonPath| {
            pairs(turned)
                .all(|(_, json, next)| place.text(json).is_some_and(|text| call::value(next, slot) == Some(text)))
        };
        places.into_iter().find(leads).map(|at| Turn::Cursor { slot: (*slot).to_owned(), at })
    };
    let is_counter =
        COUNTERS.contains(&slot.rsplit(['.', '#']).next().unwrap_or_default().to_ascii_lowercase().as_str());
    if is_counter { step(slot, turned).or_else(cursor) } else { cursor().or_else(|| step(slot, turned)) }
}

/// The only value within a slot that changes with each request.
fn inner(slot: &str, turned: &[&Sequence]) -> Option<String> {
    let mut places =
        pairs(turned).map(|(slots, _, next)| leaves::changed(call::slot(slots, slot)?, call::slot(next, slot)?));
    let first = places.next()??;
    places.all(|place| place.as_ref() == Some(&first)).then(|| format!("{slot}#{first}"))
}

fn step(slot: &str, turned: &[&Sequence]) -> Option<Turn> {
    let values = |sequence: &Sequence| -> Vec<Option<i64>> {
        sequence.iter().map(|(slots, ..)| call::value(slots, slot).and_then(|value| value.parse().ok())).collect()
    };
    let all: Vec<Vec<Option<i64>>> = turned.iter().map(|sequence| values(sequence)).collect();
    let known = all.iter().flat_map(|values| values.windows(2)).find_map(|two| two[1]?.checked_sub(two[0]?));
    // If the first of two requests has no number, the second is page 2, or starts after the records of the first.
    let step = known.or_else(|| {
        let second = all.first()?.get(1).copied()??;
        let records = i64::try_from(turned.first()?.first()?.2).ok()?;
        Some(if second == records { second } else { 1 })
    })?;
    let first = all.iter().find_map(|values| values.get(1).copied()??.checked_sub(step)).unwrap_or(0);
    let fits = all.iter().all(|values| {
        values.windows(2).all(|two| match (two[0], two[1]) {
            (before, Some(next)) => before.unwrap_or(first).checked_add(step) == Some(next),
            (_, None) => false,
        })
    });
    (fits && step > 0).then(|| Turn::Step { slot: slot.to_owned(), step, first })
}

#[cfg(test)]
mod tests;

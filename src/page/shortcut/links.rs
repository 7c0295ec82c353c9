//! Finds how records become links, by matching the values of records with the links of the page.
//!
//! A template counts only if every record with its members gives a link that the page shows, and at least three
//! different ones: a value that is in one link by chance gives links that are missing, or always the same.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};

use percent_encoding::utf8_percent_encode;
use serde_json::Value as Json;

use super::endpoint::Rule;
use super::place::{Element, JsonPath, Step, is_list, is_plain, lists, scalar};
use super::template::{COMPONENT, Encoding, Piece, Scope, Source, Template, Value};
use super::{Answer, Normal, Observation};
use crate::limits;
use crate::{encoded_links, links};

/// Links that are tried before the list is given up: others are of the same kinds.
const SAMPLES: usize = 40;

/// Maximum positions in one link that match a value of a record.
const OCCURRENCES: usize = 24;

/// Minimum number of different links per template.
const LINKS_LEAST: usize = 3;

/// One render: its responses, in page order, and the keys of links to explain.
pub struct Render<'a> {
    pub observation: &'a Observation,
    pub answers: Vec<&'a Answer>,
    pub wanted: HashSet<&'a str>,
}

/// A record with its enclosing records, and the index of its render.
type Record<'a> = (usize, Vec<Element<'a>>);

/// The links of a piece of markup, as written.
#[must_use]
pub fn of_markup(markup: &str) -> Vec<String> {
    let found = links::scan(markup.as_bytes(), encoding_rs::UTF_8);
    let hidden = encoded_links::find(markup.as_bytes(), encoding_rs::UTF_8).into_iter().map(|found| found.link);
    found.links.into_iter().map(|link| link.href.into_owned()).chain(hidden).collect()
}

/// Learns rules for as many of the wanted links as records explain, and removes those from the wanted links.
pub fn learn(renders: &mut [Render<'_>], normal: Normal<'_>) -> Vec<Rule> {
    let mut rules = markup_rules(renders, normal);
    let places = places(renders);
    let learner = Learner::new(renders, normal, &places);
    let mut wanted: Vec<HashSet<&str>> = renders.iter().map(|render| render.wanted.clone()).collect();
    let common: HashSet<&str> = match wanted.as_slice() {
        [first, others @ ..] => {
            first.iter().copied().filter(|key| others.iter().all(|other| other.contains(key))).collect()
        }
        [] => HashSet::new(),
    };
    let mut fruitless = HashSet::new();
    while rules.len() < limits::SHORTCUT_RULES_MAX && fruitless.len() < SAMPLES {
        // One link of each render in turn, so that the kinds of a single page do not use up the tries. Links on all
        // pages come last, because they are probably a menu. The order is pseudo-random, so that a long menu does not
        // come before the list.
        let order = |key: &&str| (common.contains(key), xxhash_rust::xxh3::xxh3_64(key.as_bytes()));
        let mut samples: Vec<(usize, &str)> = Vec::new();
        for (number, wanted) in wanted.iter().enumerate() {
            let least = wanted.iter().copied().filter(|key| !fruitless.contains(key)).min_by_key(order);
            samples.extend(least.map(|key| (number, key)));
        }
        samples.sort_by_key(|(_, key)| order(key));
        let Some((number, key)) = samples.first().copied() else { break };
        match learner.best(number, key) {
            Some((rule, given)) => {
                for (number, key) in &given {
                    if let Some(wanted) = wanted.get_mut(*number) {
                        wanted.remove(key.as_str());
                    }
                }
                rules.push(rule);
            }
            None => {
                fruitless.insert(key);
            }
        }
    }
    for (render, wanted) in renders.iter_mut().zip(wanted) {
        render.wanted = wanted;
    }
    rules
}

/// Markup as a whole response, or in its strings; the explained links are removed from the wanted ones.
fn markup_rules(renders: &mut [Render<'_>], normal: Normal<'_>) -> Vec<Rule> {
    let mut places: Vec<Option<JsonPath>> = Vec::new();
    match renders.first().and_then(|render| render.answers.first()) {
        Some(Answer::Html(_)) => places.push(None),
        Some(Answer::Json(json)) => {
            strings(json, &JsonPath::default(), &mut |place, text| {
                let is_new = !places.iter().flatten().any(|known| *known == place);
                if is_new && text.contains('<') && text.contains("href") && places.len() < limits::SHORTCUT_RULES_MAX {
                    places.push(Some(place));
                }
            });
        }
        _ => {}
    }
    let mut rules = Vec::new();
    for place in places {
        let given: Option<Vec<HashSet<String>>> =
            renders.iter().map(|render| given_by_markup(render, place.as_ref(), normal)).collect();
        let Some(given) = given else { continue };
        let explained: usize = renders
            .iter()
            .zip(&given)
            .map(|(render, given)| given.iter().filter(|key| render.wanted.contains(key.as_str())).count())
            .sum();
        if explained > 0 {
            for (render, given) in renders.iter_mut().zip(&given) {
                render.wanted.retain(|key| !given.contains(*key));
            }
            rules.push(Rule::Html(place));
        }
    }
    rules
}

/// The keys of a render's markup; `None` if one of them is not on the page.
fn given_by_markup(render: &Render<'_>, place: Option<&JsonPath>, normal: Normal<'_>) -> Option<HashSet<String>> {
    let shown = render.observation.keys();
    let mut keys = HashSet::new();
    for answer in &render.answers {
        let texts: Vec<String> = match (answer, place) {
            (Answer::Html(text), None) => vec![text.clone()],
            (Answer::Json(json), Some(place)) => {
                let chains = place.chains(json, limits::SHORTCUT_RECORDS_MAX);
                chains
                    .iter()
                    .filter_map(|chain| scalar(chain.last()?.value))
                    .map(std::borrow::Cow::into_owned)
                    .collect()
            }
            _ => return None,
        };
        for link in texts.iter().flat_map(|text| of_markup(text)) {
            if let Some(key) = normal(&render.observation.page, &link) {
                shown.contains_key(key.as_str()).then_some(())?;
                keys.insert(key);
            }
        }
    }
    Some(keys)
}

fn strings(json: &Json, place: &JsonPath, visit: &mut impl FnMut(JsonPath, &str)) {
    match json {
        Json::String(text) => visit(place.clone(), text),
        Json::Object(members) if is_list(members) => {
            members.values().take(2).for_each(|element| strings(element, &place.with(Step::Member), visit));
        }
        Json::Object(members) => {
            for (key, inner) in members.iter().filter(|(key, _)| is_plain(key)) {
                strings(inner, &place.with(Step::Key(key.clone())), visit);
            }
        }
        Json::Array(elements) => {
            elements.iter().take(2).for_each(|element| strings(element, &place.with(Step::Each), visit));
        }
        _ => {}
    }
}

/// Places of records: lists, and the whole response.
fn places(renders: &[Render<'_>]) -> Vec<JsonPath> {
    let mut places = Vec::new();
    for json in renders.iter().flat_map(|render| &render.answers).filter_map(|answer| answer.json()) {
        lists(json, &JsonPath::default(), &mut |place| {
            if !places.contains(&place) && places.len() < 64 {
                places.push(place);
            }
        });
    }
    places.push(JsonPath::default());
    places
}

struct Learner<'a> {
    renders: Vec<&'a Observation>,
    shown: Vec<HashMap<&'a str, &'a str>>,
    records: Vec<(&'a JsonPath, Vec<Record<'a>>)>,
    guesser: Guesser<'a>,
}

/// Matches records with links, within a work budget.
pub(super) struct Guesser<'a> {
    normal: Normal<'a>,
    /// Remaining comparisons.
    work: Cell<u64>,
}

impl<'a> Learner<'a> {
    fn new(renders: &[Render<'a>], normal: Normal<'a>, places: &'a [JsonPath]) -> Self {
        let of_place = |place: &'a JsonPath| {
            let mut records: Vec<Record<'a>> = Vec::new();
            for (number, render) in renders.iter().enumerate() {
                for json in render.answers.iter().filter_map(|answer| answer.json()) {
                    let room = limits::SHORTCUT_RECORDS_MAX.saturating_sub(records.len());
                    records.extend(place.chains(json, room).into_iter().map(|chain| (number, chain)));
                }
            }
            (place, records)
        };
        Self {
            renders: renders.iter().map(|render| render.observation).collect(),
            shown: renders.iter().map(|render| render.observation.keys()).collect(),
            records: places.iter().map(of_place).collect(),
            guesser: Guesser::new(normal, limits::SHORTCUT_WORK_MAX),
        }
    }

    /// The rule that explains this link and the most others.
    fn best(&self, number: usize, key: &str) -> Option<(Rule, HashSet<(usize, String)>)> {
        let text = self.shown.get(number)?.get(key)?;
        let page = &self.renders.get(number)?.page;
        let mut best: Option<(Rule, HashSet<(usize, String)>)> = None;
        // A magnet's name and trackers may not come from the record; its first parameter identifies it.
        let bare = text.strip_prefix("magnet:").and_then(|_| text.split('&').next());
        for (goal, is_exact) in [(Some(*text), true), (bare, false)] {
            let Some(goal) = goal.filter(|_| best.is_none()) else { continue };
            let own = page.origin().ascii_serialization();
            let goal = goal.strip_prefix(own.as_str()).filter(|path| path.starts_with('/')).unwrap_or(goal);
            for (place, records) in &self.records {
                let mut tried = HashSet::new();
                for (_, chain) in records.iter().filter(|(of, _)| *of == number) {
                    for link in self.guesser.candidates(goal, key, page, chain) {
                        if !tried.insert(link.to_string()) {
                            continue;
                        }
                        let Some(given) = self.given(place, records, &link, is_exact && bare.is_some()) else {
                            continue;
                        };
                        let is_better = best.as_ref().is_none_or(|(_, other)| given.len() > other.len());
                        if is_better && given.contains(&(number, key.to_owned())) {
                            best = Some((Rule::Link { items: (*place).clone(), link }, given));
                        }
                    }
                }
            }
        }
        best
    }

    /// The links of a template; `None` if one is not on its page, or if there are too few.
    fn given(
        &self,
        place: &JsonPath,
        records: &[Record<'_>],
        link: &Template,
        is_exact: bool,
    ) -> Option<HashSet<(usize, String)>> {
        let mut given = HashSet::new();
        let mut having = 0_usize;
        for (number, chain) in records {
            self.guesser.works(1)?;
            let (observation, shown) = (self.renders.get(*number)?, self.shown.get(*number)?);
            let scope = Scope { record: chain, ..Scope::of(&observation.page, "", &[], 0) };
            let Some(text) = link.fill(&scope) else { continue };
            let key = (self.guesser.normal)(&observation.page, &text)?;
            let on_page = shown.get(key.as_str())?;
            if is_exact && *on_page != text {
                return None;
            }
            having += 1;
            given.insert((*number, key));
        }
        let distinct: HashSet<&str> = given.iter().map(|(_, key)| key.as_str()).collect();
        // One link per record; the whole response is one record of each render.
        let is_own = distinct.len() * 2 > having || place.0.is_empty();
        (distinct.len() >= LINKS_LEAST && is_own).then_some(given)
    }
}

impl<'a> Guesser<'a> {
    pub(super) fn new(normal: Normal<'a>, work: u64) -> Self {
        Self { normal, work: Cell::new(work) }
    }

    /// Deducts from the work budget; `None` if it is used up.
    pub(super) fn works(&self, much: usize) -> Option<()> {
        let left = self.work.get().checked_sub(much as u64);
        self.work.set(left.unwrap_or(0));
        left.map(|_| ())
    }

    /// Templates that give a link with a known key from a record.
    pub(super) fn candidates(&self, goal: &str, key: &str, page: &url::Url, chain: &[Element<'_>]) -> Vec<Template> {
        let mut templates = Vec::new();
        let mut spots: Vec<(usize, usize, Value)> = Vec::new();
        let values = values(page, chain);
        if self.works(values.len()).is_none() {
            return templates;
        }
        for (source, text) in &values {
            let is_whole = (text.contains('/') || text.starts_with("magnet:") || text.contains('.'))
                && matches!(source, Source::Field(..) | Source::Name(_))
                && (self.normal)(page, text).as_deref() == Some(key);
            if is_whole {
                templates.push(Template::hole(Value::of(source.clone())));
            }
            for (encoding, written) in written(text) {
                for at in goal.match_indices(written.as_str()).map(|(at, _)| at).take(4) {
                    if is_apart(goal, at, at + written.len()) {
                        spots.push((at, at + written.len(), Value { encoding, ..Value::of(source.clone()) }));
                    }
                }
            }
        }
        // A magnet's hash is written in upper or lower case.
        if goal.starts_with("magnet:") {
            let low = goal.to_ascii_lowercase();
            for (source, text) in values.into_iter().filter(|(_, text)| matches!(text.len(), 32 | 40 | 64)) {
                if let Some(at) = low.find(&text.to_ascii_lowercase()) {
                    spots.push((at, at + text.len(), Value::of(source)));
                }
            }
        }
        spots.sort_by_key(|(start, end, _)| std::cmp::Reverse(end - start));
        spots.truncate(OCCURRENCES);
        for (number, first) in spots.iter().enumerate() {
            templates.push(with_holes(goal, &[first]));
            let apart =
                |one: &(usize, usize, Value), other: &(usize, usize, Value)| one.1 <= other.0 || other.1 <= one.0;
            for (more, second) in spots.iter().enumerate().skip(number + 1).filter(|(_, second)| apart(first, second)) {
                templates.push(with_holes(goal, &[first, second]));
                for third in
                    spots.iter().skip(more + 1).take(6).filter(|third| apart(first, third) && apart(second, third))
                {
                    templates.push(with_holes(goal, &[first, second, third]));
                }
            }
        }
        // Without a member of the record all records would give the same link.
        templates.retain(|template| {
            template.sources().any(|source| matches!(source, Source::Field(0, _) | Source::Name(0)) || chain.len() == 1)
        });
        templates
    }
}

/// Possible values in a link: of the record, of its enclosing records, and of the page's address.
fn values(page: &url::Url, chain: &[Element<'_>]) -> Vec<(Source, String)> {
    let mut values = Vec::new();
    for (up, record) in chain.iter().rev().enumerate() {
        members(record.value, &JsonPath::default(), &mut |place, text| {
            if values.len() < limits::SHORTCUT_FIELDS_MAX * (up + 1) && text.len() <= limits::URL_BYTES_MAX {
                values.push((Source::Field(up, place.clone()), text.to_owned()));
            }
        });
        let name = record.name.filter(|name| !name.is_empty() && name.len() <= limits::URL_BYTES_MAX);
        values.extend(name.map(|name| (Source::Name(up), name.to_owned())));
    }
    values.extend(of_address(page));
    values
}

/// The values in a page's address.
pub fn of_address(page: &url::Url) -> Vec<(Source, String)> {
    let mut values: Vec<(Source, String)> = Vec::new();
    for (name, value) in page.query_pairs().filter(|(name, value)| super::template::is_name(name) && !value.is_empty())
    {
        values.push((Source::Query(name.into_owned()), value.into_owned()));
    }
    for (at, segment) in page.path_segments().into_iter().flatten().enumerate() {
        let whole = percent_encoding::percent_decode_str(segment).decode_utf8_lossy().into_owned();
        let runs: Vec<&str> = super::template::numbers(segment).collect();
        if !segment.is_empty() {
            values.push((Source::Segment(at), whole.clone()));
        }
        for (run, number) in runs.iter().enumerate().filter(|(_, number)| **number != whole) {
            values.push((Source::Number(at, run), (*number).to_owned()));
        }
    }
    values
}

/// Scalars of a record, without those of lists within it.
pub(super) fn members(json: &Json, place: &JsonPath, visit: &mut impl FnMut(&JsonPath, &str)) {
    match json {
        Json::Object(object) => {
            for (key, inner) in object.iter().filter(|(key, _)| is_plain(key)) {
                members(inner, &place.with(Step::Key(key.clone())), visit);
            }
        }
        Json::Array(elements) if place.0.is_empty() || elements.len() <= 8 => {
            // Rows of a table are lists themselves.
            for (at, inner) in
                elements.iter().enumerate().take(limits::SHORTCUT_FIELDS_MAX).filter(|(_, inner)| !inner.is_object())
            {
                members(inner, &place.with(Step::At(at)), visit);
            }
        }
        other => {
            if let Some(text) = scalar(other) {
                visit(place, &text);
            }
        }
    }
}

/// The possible encodings of a value in a link.
fn written(text: &str) -> Vec<(Encoding, String)> {
    let mut written: BTreeMap<String, Encoding> = BTreeMap::new();
    written.insert(url::form_urlencoded::byte_serialize(text.as_bytes()).collect(), Encoding::Form);
    written.insert(utf8_percent_encode(text, COMPONENT).to_string(), Encoding::Percent);
    written.insert(text.to_owned(), Encoding::Plain);
    written.into_iter().map(|(text, encoding)| (encoding, text)).collect()
}

/// Whether a piece of a link is separate: not part of a longer number or word.
fn is_apart(text: &str, start: usize, end: usize) -> bool {
    let bytes = text.as_bytes();
    let same_kind = |one: u8, other: u8| {
        (one.is_ascii_digit() && other.is_ascii_digit()) || (one.is_ascii_alphabetic() && other.is_ascii_alphabetic())
    };
    let (Some(first), Some(last)) = (bytes.get(start), bytes.get(end.wrapping_sub(1))) else { return false };
    let before = start.checked_sub(1).and_then(|at| bytes.get(at));
    !before.is_some_and(|before| same_kind(*before, *first))
        && !bytes.get(end).is_some_and(|after| same_kind(*last, *after))
}

fn with_holes(goal: &str, spots: &[&(usize, usize, Value)]) -> Template {
    let mut spots = spots.to_vec();
    spots.sort_by_key(|(start, ..)| *start);
    let (mut pieces, mut at) = (Vec::new(), 0);
    for (start, end, value) in spots {
        if let Some(text) = goal.get(at..*start).filter(|text| !text.is_empty()) {
            pieces.push(Piece::Text(text.to_owned()));
        }
        pieces.push(Piece::Hole(value.clone()));
        at = *end;
    }
    if let Some(text) = goal.get(at..).filter(|text| !text.is_empty()) {
        pieces.push(Piece::Text(text.to_owned()));
    }
    Template(pieces)
}

//! Learns an endpoint from renders: which family of requests gets the data, how its slots are filled, its pagination,
//! and the links in its responses.
//!
//! Each step is a guess that may be wrong: the result is replayed on every render it was learned from, and is
//! discarded unless it explains them all.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value as Json;
use url::Url;

use super::call::{self, Call, Slots};
use super::endpoint::{ABSENT, Endpoint, RECORDS, Rule, SWITCHED};
use super::filled::{ValueSources, call_of};
use super::links::{self, Render, of_address};
use super::pattern::Pattern;
use super::place::{JsonPath, Step, outside_lists};
use super::template::{Piece, Source};
use super::tokens::{is_token, secrets};
use super::{Answer, Exchange, Normal, Observation, pages, turns};
use crate::limits;

/// Minimum number of renders, or of pages within one.
const RENDERS_LEAST: usize = 3;

/// Number of request families that are tried, those with the longest responses first.
const FAMILIES_TRIED: usize = 6;

/// Texts that are searched for in all responses; beyond that each counts as found.
const TEXTS_TRIED: usize = 64;

/// Parameters that name the action, not its object.
pub(super) const ACTIONS: [&str; 13] =
    ["action", "act", "do", "op", "method", "route", "r", "module", "func", "cmd", "task", "endpoint", "operationname"];

/// Learns an endpoint that explains all of these renders; `None` if there is none, or if there are too few renders.
pub fn learn(observations: &[&Observation], normal: Normal<'_>) -> Option<Endpoint> {
    let families = families(observations);
    let heard = Heard::default();
    for with_page in [false, true] {
        for family in families.iter().take(FAMILIES_TRIED) {
            let is_enough = observations.len() >= RENDERS_LEAST
                || family.members.iter().any(|members| members.len() >= RENDERS_LEAST);
            if !is_enough {
                continue;
            }
            let Some(endpoint) =
                Learner { observations, normal, families: &families, heard: &heard }.endpoint(family, with_page)
            else {
                continue;
            };
            if observations.iter().all(|observation| endpoint.explains(observation, normal).is_ok()) {
                return Some(endpoint);
            }
        }
    }
    None
}

/// Requests of one kind: for each render its requests in order, without repeats.
struct Family<'a> {
    members: Vec<Vec<Member<'a>>>,
    bytes: usize,
}

struct Member<'a> {
    slots: Slots,
    exchange: &'a Exchange,
    answer: Answer,
    /// Index among all requests of the render.
    at: usize,
}

fn families<'a>(observations: &[&'a Observation]) -> Vec<Family<'a>> {
    let mut all: BTreeMap<String, Family<'a>> = BTreeMap::new();
    for (number, observation) in observations.iter().enumerate() {
        let parts = parts(&observation.page);
        for (at, exchange) in observation.exchanges.iter().enumerate().filter(|(_, exchange)| exchange.status == 200) {
            let Some(slots) = call::slots(&exchange.method, &exchange.url, &exchange.headers, &exchange.body) else {
                continue;
            };
            let answer = Answer::of(&exchange.answer);
            if matches!(answer, Answer::Empty | Answer::Other) {
                continue;
            }
            let family = all.entry(kind(&slots, &parts)).or_insert_with(|| Family { members: Vec::new(), bytes: 0 });
            family.members.resize_with(number + 1, Vec::new);
            family.bytes += exchange.answer.len();
            if let Some(members) = family.members.last_mut()
                && !members.iter().any(|member| member.slots == slots)
            {
                members.push(Member { slots, exchange, answer, at });
            }
        }
    }
    let is_whole = |family: &Family<'_>| {
        family.members.len() == observations.len() && family.members.iter().all(|members| !members.is_empty())
    };
    let mut families: Vec<Family<'a>> = all.into_values().filter(is_whole).collect();
    families.sort_by_key(|family| std::cmp::Reverse(family.bytes));
    families
}

/// The kind of a page's request; `None` if it has too many parts.
#[must_use]
pub fn kind_of(page: &Url, exchange: &Exchange) -> Option<String> {
    let slots = call::slots(&exchange.method, &exchange.url, &exchange.headers, &exchange.body)?;
    Some(kind(&slots, &parts(page)))
}

/// Values of a page's address.
pub(super) fn parts(page: &Url) -> HashSet<String> {
    of_address(page).into_iter().map(|(_, value)| value).collect()
}

/// The common part of requests of one kind: everything but numbers, hashes, and values from the page's address.
pub(super) fn kind(slots: &Slots, parts: &HashSet<String>) -> String {
    let mut kind: Vec<String> = Vec::new();
    for (name, value) in slots {
        let own = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
        let is_fixed = match name.split('.').next().unwrap_or_default() {
            "method" | "origin" => true,
            "path" => !value.chars().all(|c| c.is_ascii_hexdigit() || c == '-') && !parts.contains(value),
            "query" | "form" | "json" => ACTIONS.contains(&own.as_str()),
            _ => false,
        };
        if name.starts_with("path.") || is_fixed {
            kind.push(format!("{name}={}\n", if is_fixed { value } else { "*" }));
        }
    }
    // Independent of the order of a request's parts.
    kind.sort();
    kind.concat()
}

struct Learner<'l, 'a> {
    observations: &'l [&'a Observation],
    normal: Normal<'l>,
    families: &'l [Family<'a>],
    heard: &'l Heard,
}

/// Cache: the first response of each render that contains a text.
#[derive(Default)]
struct Heard(RefCell<HashMap<String, Vec<Option<usize>>>>);

impl Heard {
    fn first(&self, text: &str, observations: &[&Observation]) -> Vec<Option<usize>> {
        let mut known = self.0.borrow_mut();
        if let Some(first) = known.get(text) {
            return first.clone();
        }
        if known.len() >= TEXTS_TRIED {
            return vec![Some(0); observations.len()];
        }
        let escaped = text.replace('/', "\\/");
        let has = |answer: &str| answer.contains(text) || (escaped != text && answer.contains(&escaped));
        let first: Vec<Option<usize>> =
            observations.iter().map(|one| one.exchanges.iter().position(|one| has(&one.answer))).collect();
        known.insert(text.to_owned(), first.clone());
        first
    }
}

/// A part of a request that looks constant, but came from an earlier response or a cookie.
struct Brought {
    /// It may grant access for one session, so it is never a constant.
    is_secret: bool,
}

impl<'a> Learner<'_, 'a> {
    fn endpoint(&self, family: &Family<'a>, with_page: bool) -> Option<Endpoint> {
        let (call, before) = self.call(family)?;
        let mut renders = self.renders(family, with_page);
        let rules = links::learn(&mut renders, self.normal);
        if rules.is_empty() {
            return None;
        }
        let mut left: Vec<HashSet<&str>> = renders.into_iter().map(|render| render.wanted).collect();
        // Links of responses that were not stored need no explanation, but those of the shell and the list's other pages do.
        for (left, observation) in left.iter_mut().zip(self.observations).filter(|(_, one)| !one.unread.is_empty()) {
            let is_own = |key: &str| observation.shell.iter().any(|link| link.key == key);
            left.retain(|key| is_own(key) || pages::is_another(&observation.page, key));
        }
        let mut endpoint = Endpoint {
            on: Pattern::of(&self.observations.iter().map(|observation| &observation.page).collect::<Vec<_>>()),
            before,
            call,
            rules,
            pages: None,
            constants: Vec::new(),
            with_page,
            turning: None,
            expect: BTreeMap::new(),
        };
        endpoint.on.as_ref()?;
        // Counted before pagination and pages are known, in the same way as later.
        let sequences: Vec<turns::Sequence> =
            family.members.iter().map(|members| counted(&endpoint, members)).collect();
        let fleeting: Vec<String> = endpoint.call.fleeting().into_iter().map(str::to_owned).collect();
        let fleeting: Vec<&str> = fleeting.iter().map(String::as_str).collect();
        let records: Vec<JsonPath> = endpoint.rules.iter().filter_map(|rule| rule.records().cloned()).collect();
        let records: Vec<&JsonPath> = records.iter().collect();
        endpoint.turning = turns::learn(&sequences, &fleeting, &records);
        let constants = constants(&left);
        let variable: Vec<HashSet<String>> = left
            .iter()
            .map(|left| left.iter().filter(|key| !constants.contains(*key)).map(|key| (*key).to_owned()).collect())
            .collect();
        let everything: Vec<HashSet<String>> =
            left.iter().map(|left| left.iter().map(|key| (*key).to_owned()).collect()).collect();
        let of_pages: Vec<(&Observation, &Answer, usize)> = self
            .observations
            .iter()
            .zip(&sequences)
            .filter_map(|(observation, sequence)| {
                sequence.first().map(|(_, answer, records)| (*observation, answer, *records))
            })
            .collect();
        endpoint.pages = pages::learn(&of_pages, &everything, &records);
        if endpoint.pages.is_none() && variable.iter().any(|left| !left.is_empty()) {
            return None;
        }
        endpoint.constants = self.links_of_all(&endpoint, &constants)?;
        if endpoint.turning.is_none() {
            endpoint.expect = switches(family, &sequences);
        }
        Some(endpoint)
    }

    /// Each render with the links that its responses must explain.
    fn renders<'r>(&'r self, family: &'r Family<'a>, with_page: bool) -> Vec<Render<'r>> {
        let render = |(observation, members): (&&'r Observation, &'r Vec<Member<'a>>)| {
            let shell: HashSet<&str> = observation.shell.iter().map(|link| link.key.as_str()).collect();
            let keys = observation.links.iter().map(|link| link.key.as_str());
            let wanted = keys.filter(|key| !with_page || !shell.contains(key)).collect();
            let answers = members.iter().map(|member| &member.answer).collect();
            Render { observation, answers, wanted }
        };
        self.observations.iter().zip(&family.members).map(render).collect()
    }

    /// Links on every page, as written, except other pages of the list; None if there are too many.
    fn links_of_all(&self, endpoint: &Endpoint, constants: &HashSet<&str>) -> Option<Vec<String>> {
        let is_page = |key: &str| {
            let number = |observation: &&Observation| endpoint.pages.as_ref()?.number_of(key, &observation.page);
            self.observations.iter().any(|observation| number(observation).is_some())
        };
        let first = self.observations.first()?.keys();
        let own = constants.iter().filter(|key| !is_page(key));
        let mut links: Vec<String> = own.filter_map(|key| first.get(*key).map(|text| (*text).to_owned())).collect();
        links.sort();
        let bytes: usize = links.iter().map(String::len).sum();
        let has_room = links.len() <= limits::SHORTCUT_CONSTANTS_MAX && bytes <= limits::SHORTCUT_CONSTANTS_BYTES_MAX;
        has_room.then_some(links)
    }

    /// The template of each render's first request, and of the request before it.
    fn call(&self, family: &Family<'a>) -> Option<(Call, Option<Call>)> {
        let firsts: Vec<&Member<'a>> = family.members.iter().filter_map(|members| members.first()).collect();
        let comes_before = |other: &&Family<'a>| {
            let heads = other.members.iter().zip(&firsts);
            heads.clone().count() == firsts.len()
                && heads.clone().all(|(members, first)| {
                    members.first().is_some_and(|member| member.at < first.at && member.answer.json().is_some())
                })
        };
        let plain = self.call_after(None, &firsts).map(|(call, _)| call);
        let brought: Vec<Brought> = plain.as_ref().map(|call| self.brought(call, &firsts)).unwrap_or_default();
        if plain.is_some() && brought.is_empty() {
            return plain.map(|call| (call, None));
        }
        let is_open = |call: &Call, firsts: &[&Member<'a>]| !self.brought(call, firsts).iter().any(|one| one.is_secret);
        let mut befores = self.families.iter().filter(comes_before).take(FAMILIES_TRIED);
        let found = befores.find_map(|before| {
            let (call, own) = self.call_after(Some(before), &firsts)?;
            let own_firsts: Vec<&Member<'a>> = before.members.iter().filter_map(|members| members.first()).collect();
            let holds = is_open(&call, &firsts) && own.as_ref().is_none_or(|own| is_open(own, &own_firsts));
            holds.then_some((call, own))
        });
        // Data access for one session is never a constant.
        found.or_else(|| plain.filter(|_| !brought.iter().any(|one| one.is_secret)).map(|call| (call, None)))
    }

    /// The same if it may use the response of another request, and does.
    fn call_after(&self, before: Option<&Family<'a>>, firsts: &[&Member<'a>]) -> Option<(Call, Option<Call>)> {
        let known: Vec<ValueSources<'_>> = self
            .observations
            .iter()
            .enumerate()
            .map(|(number, observation)| {
                let answer = before.and_then(|family| family.members.get(number)?.first()?.answer.json());
                ValueSources::of(
                    observation,
                    firsts.get(number).map_or("", |member| member.exchange.answer.as_str()),
                    answer,
                )
            })
            .collect();
        let call = call_of(&slots_of(firsts), &known)?;
        let Some(family) = before else { return Some((call, None)) };
        let is_before = |source: &Source| matches!(source, Source::Before(_));
        if !call.0.iter().any(|(_, template)| template.sources().any(is_before)) {
            return None;
        }
        let firsts: Vec<&Member<'a>> = family.members.iter().filter_map(|members| members.first()).collect();
        let known: Vec<ValueSources<'_>> =
            self.observations.iter().map(|observation| ValueSources::of(observation, "", None)).collect();
        Some((call, Some(call_of(&slots_of(&firsts), &known)?)))
    }

    /// Parts of a request that look constant, but came from an earlier response to the same page or from a cookie. A
    /// token may be the same in all of these renders and is still not a constant of the site.
    fn brought(&self, call: &Call, firsts: &[&Member<'_>]) -> Vec<Brought> {
        let is_brought = |text: &str| {
            let heard = self.heard.first(text, self.observations);
            let mut renders = self.observations.iter().zip(firsts).zip(heard);
            renders.any(|((observation, first), heard)| {
                let is_in_cookie = || observation.cookies.iter().any(|(_, value)| value.contains(text));
                // Values on the page or in its address belong to the site.
                let is_own = || {
                    observation.html.contains(text) || of_address(&observation.page).iter().any(|(_, own)| own == text)
                };
                (heard.is_some_and(|at| at < first.at) || is_in_cookie()) && !is_own()
            })
        };
        let is_place = |name: &str| matches!(name.split('.').next(), Some("method" | "origin" | "path"));
        let mut brought = Vec::new();
        for (name, template) in call.0.iter().filter(|(name, _)| !is_place(name)) {
            let is_constant = template.constant().is_some();
            for piece in &template.0 {
                let Piece::Text(text) = piece else { continue };
                let secrets = secrets(name, text);
                let core = text.rsplit(' ').next().filter(|core| is_constant && is_token(core));
                if secrets.iter().any(|text| is_brought(text)) {
                    brought.push(Brought { is_secret: true });
                } else if core.is_some_and(|core| !secrets.contains(&core) && is_brought(core)) {
                    brought.push(Brought { is_secret: false });
                }
            }
        }
        brought
    }
}

fn slots_of<'m>(members: &[&'m Member<'_>]) -> Vec<&'m Slots> {
    members.iter().map(|member| &member.slots).collect()
}

/// The requests of one render with the records of their responses.
fn counted(endpoint: &Endpoint, members: &[Member<'_>]) -> turns::Sequence {
    let count = |answer: &Answer| {
        let lists = endpoint.rules.iter().map(|rule| match (rule, answer) {
            (Rule::Link { items, .. }, Answer::Json(json)) => items.chains(json, limits::LINKS_PER_PAGE_MAX).len(),
            (Rule::Html(None), Answer::Html(text)) => links::of_markup(text).len(),
            (Rule::Html(Some(place)), Answer::Json(json)) => {
                let chains = place.chains(json, limits::LINKS_PER_PAGE_MAX);
                let texts = chains.iter().filter_map(|chain| super::place::scalar(chain.last()?.value));
                texts.map(|text| links::of_markup(&text).len()).sum()
            }
            _ => 0,
        });
        lists.max().unwrap_or(0)
    };
    members.iter().map(|member| (member.slots.clone(), member.answer.clone(), count(&member.answer))).collect()
}

/// Unexplained links that are on each of several pages.
fn constants<'k>(left: &[HashSet<&'k str>]) -> HashSet<&'k str> {
    match left {
        [first, others @ ..] if !others.is_empty() => {
            first.iter().copied().filter(|key| others.iter().all(|other| other.contains(key))).collect()
        }
        _ => HashSet::new(),
    }
}

/// The values of switches outside the responses' lists, and numbers that only give the count of records.
fn switches(family: &Family<'_>, sequences: &[turns::Sequence]) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let answers: Vec<&Json> = family.members.iter().flatten().filter_map(|member| member.answer.json()).collect();
    for json in &answers {
        outside_lists(json, &JsonPath::default(), &mut |place, value| {
            let is_outside = !place.0.contains(&Step::Last) && found.len() < limits::SHORTCUT_PLACES_MAX;
            if is_outside && (value.is_boolean() || value.is_null()) {
                found.entry(place.to_string()).or_default();
            }
        });
    }
    found.retain(|place, values| {
        let Ok(place) = JsonPath::parse(place) else { return false };
        for json in &answers {
            let value = place.get(json).map_or_else(|| ABSENT.to_owned(), Json::to_string);
            // A value that is sometimes a text and sometimes nothing is not a switch.
            if !SWITCHED.contains(&value.as_str()) {
                return false;
            }
            if !values.contains(&value) {
                values.push(value);
            }
        }
        true
    });
    let counted = sequences.iter().flatten().filter_map(|(_, answer, records)| Some((answer.json()?, *records)));
    let counted: Vec<(&Json, usize)> = counted.collect();
    if let Some((json, _)) = counted.first().filter(|_| counted.iter().any(|(_, records)| *records > 0)) {
        outside_lists(json, &JsonPath::default(), &mut |place, _| {
            let counts =
                |(json, records): &(&Json, usize)| place.text(json).is_some_and(|text| text == records.to_string());
            if found.len() < limits::SHORTCUT_PLACES_MAX && counted.iter().all(counts) {
                found.insert(place.to_string(), vec![RECORDS.to_owned()]);
            }
        });
    }
    found
}

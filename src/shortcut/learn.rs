//! From renders to an endpoint: which family of requests brings the data, how its slots are filled, how it turns, what its answers bear.
//!
//! A guess at each step, and no step has to be right: what comes out is replayed on every render it was learned from, and is nothing
//! unless it explains them all.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value as Json;
use url::Url;

use super::call::{self, Call, Slots};
use super::endpoint::{ABSENT, Endpoint, RECORDS, Rule, SWITCHED};
use super::leaves::Leaf;
use super::links::{self, Render, of_address};
use super::pattern::Pattern;
use super::place::{Place, Step, outside_lists};
use super::template::{Encoding, Piece, Source, Template, Value};
use super::{Answer, Exchange, Normal, Observation, callback, facts, leaves, pages, turns};
use crate::limits;

/// Renders that are enough; or turns of one.
const RENDERS_LEAST: usize = 3;

/// Families of requests that are tried, those with the longest answers first.
const FAMILIES_TRIED: usize = 6;

/// Bytes from which a value that stands on the page is taken for a token, whether or not it is always the same.
const TOKEN_BYTES: usize = 8;

/// Bytes of a token that may be letters alone.
const LONG_TOKEN_BYTES: usize = 20;

/// How far a time in a request may lie from the page's clock.
const CLOCK_MS: i64 = 86_400_000;

/// Parameters that name what is done, not to what.
const ACTIONS: [&str; 13] =
    ["action", "act", "do", "op", "method", "route", "r", "module", "func", "cmd", "task", "endpoint", "operationname"];

/// Learns an endpoint that explains all of these renders; `None` where there is none, or where they are too few to know.
pub fn learn(observations: &[&Observation], normal: Normal<'_>) -> Option<Endpoint> {
    let families = families(observations);
    for with_page in [false, true] {
        for family in families.iter().take(FAMILIES_TRIED) {
            let is_enough = observations.len() >= RENDERS_LEAST
                || family.members.iter().any(|members| members.len() >= RENDERS_LEAST);
            if !is_enough {
                continue;
            }
            let Some(endpoint) = Learner { observations, normal, families: &families }.endpoint(family, with_page)
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

/// Requests of one kind: of each render those that it made, in their order, none twice.
struct Family<'a> {
    members: Vec<Vec<Member<'a>>>,
    bytes: usize,
}

struct Member<'a> {
    slots: Slots,
    exchange: &'a Exchange,
    answer: Answer,
    /// Its place among all requests of the render.
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

/// The kind of a page's request; `None` where it has too many parts.
#[must_use]
pub fn kind_of(page: &Url, exchange: &Exchange) -> Option<String> {
    let slots = call::slots(&exchange.method, &exchange.url, &exchange.headers, &exchange.body)?;
    Some(kind(&slots, &parts(page)))
}

/// Values of a page's address.
pub(super) fn parts(page: &Url) -> HashSet<String> {
    of_address(page).into_iter().map(|(_, value)| value).collect()
}

/// What requests of one kind have in common: all but numbers, hashes, and what the page's address says.
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
    // Whatever the order of a request's parts.
    kind.sort();
    kind.concat()
}

struct Learner<'l, 'a> {
    observations: &'l [&'a Observation],
    normal: Normal<'l>,
    families: &'l [Family<'a>],
}

/// Of one render, what values of a request may come from.
struct Known<'a> {
    observation: &'a Observation,
    address: Vec<(Source, String)>,
    tokens: Vec<(Source, String)>,
    answer: &'a str,
}

impl<'a> Learner<'_, 'a> {
    fn endpoint(&self, family: &Family<'a>, with_page: bool) -> Option<Endpoint> {
        let (call, before) = self.call(family)?;
        let mut renders: Vec<Render<'_>> = self
            .observations
            .iter()
            .zip(&family.members)
            .map(|(observation, members)| {
                let shell: HashSet<&str> = observation.shell.iter().map(|link| link.key.as_str()).collect();
                let keys = observation.links.iter().map(|link| link.key.as_str());
                let wanted = keys.filter(|key| !with_page || !shell.contains(key)).collect();
                let answers = members.iter().map(|member| &member.answer).collect();
                Render { observation, answers, wanted }
            })
            .collect();
        let rules = links::learn(&mut renders, self.normal);
        if rules.is_empty() {
            return None;
        }
        let mut left: Vec<HashSet<&str>> = renders.into_iter().map(|render| render.wanted).collect();
        // What an answer bears that is not remembered is not looked for in others.
        for (left, observation) in left.iter_mut().zip(self.observations).filter(|(_, one)| !one.unread.is_empty()) {
            left.retain(|key| observation.shell.iter().any(|link| link.key == *key));
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
        // Counted before turns and pages are known, as they will be.
        let sequences: Vec<turns::Sequence> =
            family.members.iter().map(|members| counted(&endpoint, members)).collect();
        let fleeting: Vec<String> = endpoint.call.fleeting().into_iter().map(str::to_owned).collect();
        let fleeting: Vec<&str> = fleeting.iter().map(String::as_str).collect();
        let records: Vec<Place> = endpoint.rules.iter().filter_map(|rule| rule.records().cloned()).collect();
        let records: Vec<&Place> = records.iter().collect();
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
        let own_pages: HashSet<&str> = constants
            .iter()
            .copied()
            .filter(|key| {
                let number = |observation: &&Observation| endpoint.pages.as_ref()?.number_of(key, &observation.page);
                self.observations.iter().any(|observation| number(observation).is_some())
            })
            .collect();
        let text = |key: &&str| {
            self.observations.first().and_then(|first| first.keys().get(*key).map(|text| (*text).to_owned()))
        };
        endpoint.constants = constants.iter().filter(|key| !own_pages.contains(*key)).filter_map(text).collect();
        endpoint.constants.sort();
        let bytes: usize = endpoint.constants.iter().map(String::len).sum();
        if endpoint.constants.len() > limits::SHORTCUT_CONSTANTS_MAX || bytes > limits::SHORTCUT_CONSTANTS_BYTES_MAX {
            return None;
        }
        if endpoint.turning.is_none() {
            endpoint.expect = switches(family, &sequences);
        }
        Some(endpoint)
    }

    /// How the first request of each render is made, and what is asked before it.
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
        let brought: Vec<String> = plain.as_ref().map(|call| self.brought(call, &firsts)).unwrap_or_default();
        if plain.is_some() && brought.is_empty() {
            return plain.map(|call| (call, None));
        }
        let mut befores = self.families.iter().filter(comes_before).take(FAMILIES_TRIED);
        let found = befores.find_map(|before| self.call_after(Some(before), &firsts));
        // What opens the data for one session is no constant.
        found.or_else(|| plain.filter(|_| !brought.iter().any(|name| is_of_access(name))).map(|call| (call, None)))
    }

    /// The same where it may use what another request has brought, and does.
    fn call_after(&self, before: Option<&Family<'a>>, firsts: &[&Member<'a>]) -> Option<(Call, Option<Call>)> {
        let known: Vec<Known<'_>> = self
            .observations
            .iter()
            .enumerate()
            .map(|(number, observation)| {
                let answer = before.and_then(|family| family.members.get(number)?.first()?.answer.json());
                Known::of(observation, firsts.get(number).map_or("", |member| member.exchange.answer.as_str()), answer)
            })
            .collect();
        let call = call_of(firsts, &known)?;
        let Some(family) = before else { return Some((call, None)) };
        let is_before = |source: &Source| matches!(source, Source::Before(_));
        if !call.0.iter().any(|(_, template)| template.sources().any(is_before)) {
            return None;
        }
        let firsts: Vec<&Member<'a>> = family.members.iter().filter_map(|members| members.first()).collect();
        let known: Vec<Known<'_>> =
            self.observations.iter().map(|observation| Known::of(observation, "", None)).collect();
        Some((call, Some(call_of(&firsts, &known)?)))
    }

    /// Parts of a request that look like constants, and are what an earlier answer to the same page has brought: a token may be the same in
    /// all of these renders, and is still none of the site's own.
    fn brought(&self, call: &Call, firsts: &[&Member<'_>]) -> Vec<String> {
        let is_brought = |text: &str| {
            let core = text.rsplit(' ').next().unwrap_or_default();
            let quoted = format!("\"{core}\"");
            let escaped = quoted.replace('/', "\\/");
            let has = |answer: &str| answer.contains(&quoted) || answer.contains(&escaped);
            is_token(core)
                && self.observations.iter().zip(firsts).any(|(observation, first)| {
                    let mut earlier = observation.exchanges.iter().take(first.at);
                    !observation.html.contains(core) && earlier.any(|one| has(&one.answer))
                })
        };
        let is_place = |name: &str| matches!(name.split('.').next(), Some("method" | "origin" | "path"));
        let constants = call.0.iter().filter(|(name, _)| !is_place(name));
        let brought = constants.filter(|(_, template)| template.constant().is_some_and(|text| is_brought(&text)));
        brought.map(|(name, _)| name.clone()).collect()
    }
}

/// Whether a part of a request is called like what grants access.
#[must_use]
pub fn is_of_access(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["authorization", "token", "key", "secret", "session"].iter().any(|word| name.contains(word))
}

/// Whether a value that is always the same may be a token all the same: no word, no date, no type of a content.
fn is_token(value: &str) -> bool {
    let has = |what: fn(&u8) -> bool| value.as_bytes().iter().any(|byte| what(byte));
    let is_mixed = value.len() >= TOKEN_BYTES && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (is_mixed && !value.contains("://")) || (value.len() >= LONG_TOKEN_BYTES && value.chars().all(is_plain))
}

impl<'a> Known<'a> {
    fn of(observation: &'a Observation, answer: &'a str, before: Option<&Json>) -> Self {
        let mut tokens: Vec<(Source, String)> = Vec::new();
        for (name, value) in observation.cookies.iter().filter(|(name, _)| super::template::is_name(name)) {
            let value = percent_encoding::percent_decode_str(value).decode_utf8_lossy().into_owned();
            tokens.push((Source::Cookie(name.clone()), value));
        }
        tokens.extend(facts::all(&observation.html));
        // What the page has itself costs no request.
        if let Some(json) = before {
            outside_lists(json, &Place::default(), &mut |place, value| {
                if let Some(text) = super::place::scalar(value) {
                    tokens.push((Source::Before(place.clone()), text.into_owned()));
                }
            });
        }
        Self { observation, address: of_address(&observation.page), tokens, answer }
    }

    fn has(&self, source: &Source, value: Option<&str>) -> bool {
        let all = self.address.iter().chain(&self.tokens);
        all.clone().find(|(known, _)| known == source).map(|(_, known)| known.as_str()) == value
    }

    fn number(&self, source: &Source) -> Option<i64> {
        self.address.iter().find(|(known, _)| known == source).and_then(|(_, value)| value.parse().ok())
    }
}

fn call_of(firsts: &[&Member<'_>], known: &[Known<'_>]) -> Option<Call> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in firsts.iter().flat_map(|member| &member.slots) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let mut call = Call::default();
    for name in names {
        let values: Vec<Option<&str>> = firsts.iter().map(|member| call::slot(&member.slots, name)).collect();
        let is_own_origin = name == "origin"
            && known
                .iter()
                .zip(&values)
                .all(|(known, value)| *value == Some(known.observation.page.origin().ascii_serialization().as_str()));
        if !is_own_origin {
            call.0.push((name.to_owned(), filled(name, &values, known)?));
        }
    }
    Some(call)
}

/// The template that gives these values in these renders.
fn filled(name: &str, values: &[Option<&str>], known: &[Known<'_>]) -> Option<Template> {
    let is_place = matches!(name.split('.').next(), Some("method" | "origin" | "path"));
    let hole = |source: Source| Template::hole(Value::of(source));
    let constant = values.first().copied().flatten().filter(|first| values.iter().all(|value| *value == Some(*first)));
    if !is_place {
        let is_callback = known
            .iter()
            .zip(values)
            .all(|(known, value)| value.is_some() && callback(known.answer.trim()).map(|(name, _)| name) == *value);
        if is_callback {
            return Some(hole(Source::Callback));
        }
        for (source, unit) in [(Source::NowMs, 1), (Source::Now, 1_000)] {
            let is_now = known.iter().zip(values).all(|(known, value)| {
                let value = value.and_then(|value| value.parse::<i64>().ok());
                value
                    .and_then(|value| value.checked_mul(unit))
                    .is_some_and(|ms| (ms - known.observation.now_ms).abs() < CLOCK_MS)
            });
            if is_now {
                return Some(hole(source));
            }
        }
        if let Some(template) = token(values, known, TOKEN_BYTES) {
            return Some(template);
        }
    }
    if let Some(text) = constant {
        return Some(Template::text(text));
    }
    let same = |source: &&Source| known.iter().zip(values).all(|(known, value)| known.has(source, *value));
    let addresses: Vec<&Source> =
        known.iter().flat_map(|known| known.address.iter().map(|(source, _)| source)).collect();
    if let Some(source) = addresses.iter().copied().find(same) {
        return Some(hole(source.clone()));
    }
    if let Some(template) = token(values, known, 1) {
        return Some(template);
    }
    if let Some(value) = addresses.iter().copied().find_map(|source| reckoned(source, values, known)) {
        return Some(Template::hole(value));
    }
    if let Some(template) = within(name, values, known) {
        return Some(template);
    }
    around(values, |inner| {
        addresses
            .iter()
            .copied()
            .find(|source| known.iter().zip(inner).all(|(known, value)| known.has(source, Some(value))))
            .cloned()
    })
}

/// A value of the page itself, a cookie, or the answer before; behind a word as `Bearer`.
fn token(values: &[Option<&str>], known: &[Known<'_>], least: usize) -> Option<Template> {
    let first = (*values.first()?)?;
    let (front, core) = first.rsplit_once(' ').map_or(("", first), |(front, core)| (&first[..=front.len()], core));
    let looks_so = core.len() >= least && (least == 1 || core.bytes().any(|byte| byte.is_ascii_digit()));
    let is_constant = values.iter().all(|value| *value == Some(first));
    let may_be_before =
        !is_constant || (is_token(core) && !known.iter().any(|known| known.observation.html.contains(core)));
    if !looks_so && !may_be_before {
        return None;
    }
    let fits = |source: &&Source| {
        let is_before = matches!(source, Source::Before(_));
        let may_be = if is_before { may_be_before && (looks_so || is_constant) } else { looks_so };
        may_be
            && known.iter().zip(values).all(|(known, value)| {
                value.and_then(|value| value.strip_prefix(front)).is_some_and(|core| known.has(source, Some(core)))
            })
    };
    let mut sources = known.first()?.tokens.iter().filter(|(_, value)| value == core).map(|(source, _)| source);
    let source = sources.find(fits)?;
    let front = (!front.is_empty()).then(|| Piece::Text(front.to_owned()));
    Some(Template(front.into_iter().chain([Piece::Hole(Value::of(source.clone()))]).collect()))
}

/// A number of the page's address, times something and more: the page's number as an offset.
fn reckoned(source: &Source, values: &[Option<&str>], known: &[Known<'_>]) -> Option<Value> {
    let numbers: Vec<i64> =
        values.iter().map(|value| value.and_then(|value| value.parse().ok())).collect::<Option<_>>()?;
    let points: Vec<(Option<i64>, i64)> = known.iter().map(|known| known.number(source)).zip(numbers).collect();
    let (mut there, mut lacking) =
        (points.iter().filter_map(|(x, y)| Some(((*x)?, *y))), points.iter().filter(|(x, _)| x.is_none()));
    let (x, y) = there.next()?;
    // A list's first page has the number 1 where its address has none.
    let other = there
        .find(|(other, _)| *other != x)
        .or_else(|| lacking.next().map(|(_, y)| (1, *y)).filter(|(other, _)| *other != x))?;
    let (run, rise) = (other.0.checked_sub(x)?, other.1.checked_sub(y)?);
    let times = rise.checked_div(run)?;
    let plus = y.checked_sub(times.checked_mul(x)?)?;
    let at = |x: i64| times.checked_mul(x).and_then(|product| product.checked_add(plus));
    let absent = points.iter().find(|(x, _)| x.is_none());
    let default = match absent {
        Some((_, y)) => Some(y.checked_sub(plus)?.checked_div(times)?),
        None => None,
    };
    let fits = times != 0 && points.iter().all(|(x, y)| x.or(default).and_then(at) == Some(*y));
    fits.then(|| Value { default, times, plus, ..Value::of(source.clone()) })
}

/// A text of JSON whose values are each filled by themselves, and that is the same but for them.
fn within(name: &str, values: &[Option<&str>], known: &[Known<'_>]) -> Option<Template> {
    let texts: Vec<&str> = values.iter().copied().collect::<Option<_>>()?;
    let all: Vec<Vec<Leaf>> = texts.iter().map(|text| leaves::leaves(text)).collect::<Option<_>>()?;
    let (text, first) = (texts.first()?, all.first()?);
    let around = leaves::around(text, first);
    let mut others = texts.iter().zip(&all);
    if first.is_empty() || !others.all(|(text, leaves)| leaves::around(text, leaves) == around) {
        return None;
    }
    let mut pieces = Vec::new();
    for (at, front) in around.iter().enumerate() {
        pieces.push(Piece::Text((*front).to_owned()));
        let Some(leaf) = first.get(at) else { continue };
        let own: Vec<(&str, &Leaf)> =
            texts.iter().zip(&all).map(|(text, leaves)| Some((*text, leaves.get(at)?))).collect::<Option<_>>()?;
        if own.iter().all(|(other, its)| its.raw(other) == leaf.raw(text)) {
            pieces.push(Piece::Text(leaf.raw(text).to_owned()));
            continue;
        }
        let values: Vec<_> = own.iter().map(|(text, leaf)| leaf.value(text)).collect();
        let values: Vec<Option<&str>> = values.iter().map(|value| Some(&**value)).collect();
        let filled = filled(name, &values, known)?.0;
        pieces.extend(filled.into_iter().map(|piece| if leaf.is_text(text) { quoted(piece) } else { piece }));
    }
    // As it is read when it was written down.
    let mut merged: Vec<Piece> = Vec::new();
    for piece in pieces {
        match (merged.last_mut(), piece) {
            (Some(Piece::Text(front)), Piece::Text(more)) => front.push_str(&more),
            (_, Piece::Text(text)) if text.is_empty() => {}
            (_, piece) => merged.push(piece),
        }
    }
    Some(Template(merged))
}

/// A piece of a value as it stands in a string of JSON.
fn quoted(piece: Piece) -> Piece {
    match piece {
        Piece::Text(text) => Piece::Text(leaves::escaped(&text)),
        Piece::Hole(value) => Piece::Hole(Value { encoding: Encoding::Json, ..value }),
    }
}

/// A value between texts that are always the same.
fn around(values: &[Option<&str>], source: impl Fn(&[&str]) -> Option<Source>) -> Option<Template> {
    let values: Vec<&str> = values.iter().copied().collect::<Option<_>>()?;
    let first = *values.first()?;
    let is_word = |c: char| c.is_alphanumeric();
    let common = |of: &dyn Fn(&str, usize) -> Option<char>| {
        (0..first.chars().count()).take_while(|at| values.iter().all(|value| of(value, *at) == of(first, *at))).count()
    };
    let mut front = common(&|value, at| value.chars().nth(at));
    let mut back = common(&|value, at| value.chars().rev().nth(at));
    let letters: Vec<char> = first.chars().collect();
    // A word that begins alike is not cut.
    while front > 0 && letters.get(front - 1).copied().is_some_and(is_word) {
        front -= 1;
    }
    while back > 0 && letters.get(letters.len() - back).copied().is_some_and(is_word) {
        back -= 1;
    }
    let cut = |value: &'_ str| -> Option<(usize, usize)> {
        let count = value.chars().count();
        (count > front + back).then_some(())?;
        let start = value.char_indices().nth(front).map_or(value.len(), |(at, _)| at);
        let end = value.char_indices().nth(count - back).map_or(value.len(), |(at, _)| at);
        Some((start, end))
    };
    if front + back == 0 {
        return None;
    }
    let inner: Vec<&str> =
        values.iter().map(|value| cut(value).and_then(|(start, end)| value.get(start..end))).collect::<Option<_>>()?;
    let (start, end) = cut(first)?;
    let pieces = [
        Piece::Text(first.get(..start)?.to_owned()),
        Piece::Hole(Value::of(source(&inner)?)),
        Piece::Text(first.get(end..)?.to_owned()),
    ];
    Some(Template(pieces.into_iter().filter(|piece| *piece != Piece::Text(String::new())).collect()))
}

/// The requests of one render with the records of their answers.
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

/// Links that are left on each of several pages.
fn constants<'k>(left: &[HashSet<&'k str>]) -> HashSet<&'k str> {
    match left {
        [first, others @ ..] if !others.is_empty() => {
            first.iter().copied().filter(|key| others.iter().all(|other| other.contains(key))).collect()
        }
        _ => HashSet::new(),
    }
}

/// The values of switches outside the answers' lists, and what says nothing but how many records there are.
fn switches(family: &Family<'_>, sequences: &[turns::Sequence]) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let answers: Vec<&Json> = family.members.iter().flatten().filter_map(|member| member.answer.json()).collect();
    for json in &answers {
        outside_lists(json, &Place::default(), &mut |place, value| {
            let is_outside = !place.0.contains(&Step::Last) && found.len() < limits::SHORTCUT_PLACES_MAX;
            if is_outside && (value.is_boolean() || value.is_null()) {
                found.entry(place.to_string()).or_default();
            }
        });
    }
    found.retain(|place, values| {
        let Ok(place) = Place::parse(place) else { return false };
        for json in &answers {
            let value = place.get(json).map_or_else(|| ABSENT.to_owned(), Json::to_string);
            // What is now a text and now nothing is no switch.
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
        outside_lists(json, &Place::default(), &mut |place, _| {
            let counts =
                |(json, records): &(&Json, usize)| place.text(json).is_some_and(|text| text == records.to_string());
            if found.len() < limits::SHORTCUT_PLACES_MAX && counted.iter().all(counts) {
                found.insert(place.to_string(), vec![RECORDS.to_owned()]);
            }
        });
    }
    found
}

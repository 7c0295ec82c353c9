//! Finds the templates of a request's parts: the one that reproduces the value in each render, from the page's
//! address, from the page's content, or from an earlier response.

use serde_json::Value as Json;

use super::call::{self, Call, Slots};
use super::leaves::{self, Leaf};
use super::links::of_address;
use super::place::{JsonPath, Step, outside_lists};
use super::template::{Encoding, Piece, Source, Template, Value};
use super::tokens::{TOKEN_BYTES, is_token};
use super::{Observation, callback, facts};
use crate::limits;

/// Maximum distance of a time in a request from the page's clock.
const CLOCK_MS: i64 = 86_400_000;

/// Possible sources of request values in one render.
pub(super) struct ValueSources<'a> {
    observation: &'a Observation,
    address: Vec<(Source, String)>,
    tokens: Vec<(Source, String)>,
    answer: &'a str,
}

impl<'a> ValueSources<'a> {
    pub(super) fn of(observation: &'a Observation, answer: &'a str, before: Option<&Json>) -> Self {
        let mut tokens: Vec<(Source, String)> = Vec::new();
        for (name, value) in observation.cookies.iter().filter(|(name, _)| super::template::is_name(name)) {
            let value = percent_encoding::percent_decode_str(value).decode_utf8_lossy().into_owned();
            tokens.push((Source::Cookie(name.clone()), value));
        }
        tokens.extend(facts::all(&observation.html));
        // Values of the page itself cost no request.
        if let Some(json) = before {
            outside_lists(json, &JsonPath::default(), &mut |place, value| {
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

/// The request template for these requests in these renders.
pub(super) fn call_of(firsts: &[&Slots], known: &[ValueSources<'_>]) -> Option<Call> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in firsts.iter().copied().flatten() {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let mut call = Call::default();
    for name in names {
        let values: Vec<Option<&str>> = firsts.iter().map(|slots| call::slot(slots, name)).collect();
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

/// The template for these values in these renders.
fn filled(name: &str, values: &[Option<&str>], known: &[ValueSources<'_>]) -> Option<Template> {
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

/// A value of the page itself, a cookie, or the earlier response; possibly after a word such as `Bearer`.
fn token(values: &[Option<&str>], known: &[ValueSources<'_>], least: usize) -> Option<Template> {
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
        let may_be = match source {
            // The last element of a list changes when the list grows.
            Source::Before(place) if is_constant => may_be_before && !place.0.contains(&Step::Last),
            _ => looks_so,
        };
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

/// A number of the page's address, multiplied and shifted: the page's number as an offset.
fn reckoned(source: &Source, values: &[Option<&str>], known: &[ValueSources<'_>]) -> Option<Value> {
    let numbers: Vec<i64> =
        values.iter().map(|value| value.and_then(|value| value.parse().ok())).collect::<Option<_>>()?;
    let points: Vec<(Option<i64>, i64)> = known.iter().map(|known| known.number(source)).zip(numbers).collect();
    let (mut there, mut lacking) =
        (points.iter().filter_map(|(x, y)| Some(((*x)?, *y))), points.iter().filter(|(x, _)| x.is_none()));
    let (x, y) = there.next()?;
    // A list's first page has the number 1 if its address has none.
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

/// A JSON text whose values are filled one by one, and that is otherwise constant.
fn within(name: &str, values: &[Option<&str>], known: &[ValueSources<'_>]) -> Option<Template> {
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
    // Merged as it will be when parsed from its written form.
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

/// A piece of a value within a JSON string.
fn quoted(piece: Piece) -> Piece {
    match piece {
        Piece::Text(text) => Piece::Text(leaves::escaped(&text)),
        Piece::Hole(value) => Piece::Hole(Value { encoding: Encoding::Json, ..value }),
    }
}

/// A value between constant texts; None if these are longer than a written template may be. Time is linear in the
/// values' length.
fn around(values: &[Option<&str>], source: impl Fn(&[&str]) -> Option<Source>) -> Option<Template> {
    let values: Vec<&str> = values.iter().copied().collect::<Option<_>>()?;
    let first = *values.first()?;
    if values.iter().any(|value| value.len() > limits::SHORTCUT_TEMPLATE_BYTES_MAX) {
        return None;
    }
    let is_word = |c: char| c.is_alphanumeric();
    let common = |value: &str| -> usize {
        let both = first.chars().zip(value.chars());
        both.take_while(|(own, its)| own == its).map(|(own, _)| own.len_utf8()).sum()
    };
    let common_back = |value: &str| -> usize {
        let both = first.chars().rev().zip(value.chars().rev());
        both.take_while(|(own, its)| own == its).map(|(own, _)| own.len_utf8()).sum()
    };
    let front = values.iter().map(|value| common(value)).min()?;
    let back = values.iter().map(|value| common_back(value)).min()?;
    // Words with a common start or end are not cut.
    let front = first.get(..front)?.trim_end_matches(is_word);
    let back = first.get(first.len() - back..)?.trim_start_matches(is_word);
    if front.is_empty() && back.is_empty() {
        return None;
    }
    let inner = |value: &'_ &'_ str| -> Option<(usize, usize)> {
        let (start, end) = (front.len(), value.len().checked_sub(back.len())?);
        (start < end).then_some((start, end))
    };
    let inner: Vec<&str> = values
        .iter()
        .map(|value| inner(value).and_then(|(start, end)| value.get(start..end)))
        .collect::<Option<_>>()?;
    let pieces = [Piece::Text(front.to_owned()), Piece::Hole(Value::of(source(&inner)?)), Piece::Text(back.to_owned())];
    Some(Template(pieces.into_iter().filter(|piece| *piece != Piece::Text(String::new())).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page_in(values: &[String]) -> Option<String> {
        let values: Vec<Option<&str>> = values.iter().map(|value| Some(value.as_str())).collect();
        let number = |inner: &[&str]| (inner == ["1", "20", "3"]).then(|| Source::Query("page".to_owned()));
        around(&values, number).map(|template| template.to_string())
    }

    #[test]
    fn a_value_between_texts_is_found_whole_words_and_all_and_none_is_looked_for_in_long_texts() {
        let around = |front: &str, back: &str| -> Vec<String> {
            ["1", "20", "3"].iter().map(|page| format!("{front}{page}{back}")).collect()
        };
        for (front, back) in [("p ", ""), ("", " é"), ("é-", "-é-1"), ("a b/", "/30 ")] {
            assert_eq!(page_in(&around(front, back)), Some(format!("{front}{{@query.page}}{back}")));
        }
        for (front, back) in [("", ""), ("p", "p"), ("", "0é")] {
            assert_eq!(page_in(&around(front, back)), None, "{front} {back}");
        }
        let at_most = "x".repeat(limits::SHORTCUT_TEMPLATE_BYTES_MAX - 3) + " ";
        assert!(page_in(&around(&at_most, "")).is_some());
        for bytes in [limits::SHORTCUT_TEMPLATE_BYTES_MAX, limits::SHORTCUT_ANSWER_BYTES_MAX] {
            let long = "x".repeat(bytes) + " ";
            assert!(page_in(&around(&long, "")).is_none() && page_in(&around("", &format!(" {long}"))).is_none());
        }
    }
}

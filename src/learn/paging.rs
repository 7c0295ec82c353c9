//! Which field of a shape numbers the pages of a list (LEARNING §14.5).

use crate::limits::LONE_NEXT_MAX;
use std::collections::{BTreeSet, HashMap};

use crate::label::Label;
use crate::map::{Map, Page, ShapeId, UrlId};
use crate::shape::{Place, Shape};

gleaner_base::topics! { address: NUMBERS; }

/// The field of a shape that numbers pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageField {
    pub place: Place,
    /// 1 for page numbers, items per page for offsets.
    pub step: u64,
    /// Pages have a lone "next", which does not tell how many there are.
    pub is_open: bool,
    /// The greatest value seen.
    pub last: u64,
    /// Some page has the number 0.
    pub from_zero: bool,
}

impl PageField {
    /// Pages up to this value of the field.
    #[must_use]
    pub fn pages_to(&self, value: u64) -> u64 {
        value / self.step.max(1) + u64::from(self.step > 1 || self.from_zero)
    }
}

/// What pages say of a field.
#[derive(Default)]
struct Votes {
    count: usize,
    last: u64,
    /// Votes for each step: a lone "next" tells none.
    steps: HashMap<u64, usize>,
}

/// The page fields of all shapes that have one: each page votes once for a shape, and most votes win.
#[must_use]
pub fn page_fields(map: &Map) -> HashMap<ShapeId, PageField> {
    let mut votes: HashMap<(ShapeId, Place), Votes> = HashMap::new();
    for (id, page) in map.pages().filter(|(_, page)| page.is_page()) {
        for (shape, place, step, last) in of_page(map, id, page) {
            let vote = votes.entry((shape, place)).or_default();
            vote.count += 1;
            vote.last = vote.last.max(last);
            if let Some(step) = step {
                *vote.steps.entry(step).or_default() += 1;
            }
        }
    }
    let mut fields: HashMap<ShapeId, (usize, PageField)> = HashMap::new();
    for ((shape, place), Votes { count, last, steps }) in votes {
        let form = map.shape(shape);
        let number = |id: &UrlId| form.field(map.path(*id), &place).and_then(|field| field.number());
        let values: BTreeSet<u64> = map.urls_of(shape).iter().filter_map(number).collect();
        let told = steps.into_iter().max_by_key(|(step, votes)| (*votes, *step)).map(|(step, _)| step);
        let step = told.unwrap_or_else(|| walked(&values));
        let from_zero = values.contains(&0);
        let field = PageField { place, step, is_open: told.is_none(), last, from_zero };
        let is_better = fields.get(&shape).is_none_or(|(votes, known)| (count, &field.place) > (*votes, &known.place));
        if is_better {
            fields.insert(shape, (count, field));
        }
    }
    fields.into_iter().map(|(shape, (_, field))| (shape, field)).collect()
}

/// The step of values that a lone "next" has led through: the first page's leads to 1 or 2 where pages are numbered, and to the rows of a
/// page where rows are.
fn walked(values: &BTreeSet<u64>) -> u64 {
    const ROWS_MIN: u64 = 3;
    let values = values.range(1..);
    let first = values.clone().next().copied().unwrap_or(1);
    if first >= ROWS_MIN && values.clone().all(|value| value % first == 0) { first } else { 1 }
}

/// What one page's pagers say: shape, field, step and greatest value.
fn of_page(map: &Map, own: UrlId, page: &Page) -> Vec<(ShapeId, Place, Option<u64>, u64)> {
    let mut by_shape: HashMap<ShapeId, Vec<(Label, UrlId)>> = HashMap::new();
    for link in &page.links {
        if let Some(label) = link.label {
            by_shape.entry(map.shape_of(link.url)).or_default().push((label, link.url));
        }
    }
    let found = by_shape.into_iter().filter_map(|(shape, links)| {
        let has_next = links.iter().any(|(label, _)| *label == Label::Next);
        let mut urls: Vec<UrlId> = links.iter().map(|(_, url)| *url).collect();
        urls.sort_unstable();
        urls.dedup();
        let form = map.shape(shape);
        // A list of two pages links to the other one alone.
        let is_named = form.keys().any(|key| NUMBERS.has(&key.to_ascii_lowercase()));
        if urls.len() < 2 && !has_next && !is_named {
            return None;
        }
        let mut good = numeric_places(form).into_iter().filter_map(|place| {
            let (step, last) = fits(map, own, form, &place, &links)?;
            Some((place, step, last))
        });
        let (place, step, last) = good.next()?;
        // Two that fit are no vote.
        good.next().is_none().then_some((shape, place, step, last))
    });
    found.collect()
}

/// Places of a shape with numbers.
#[must_use]
pub fn numeric_places(shape: &Shape) -> Vec<Place> {
    let mut places = Vec::new();
    let signs = |form: &str| -> Vec<bool> { form.split('{').skip(1).map(|sign| sign.starts_with("n}")).collect() };
    for (nth, is_number) in signs(&shape.path).into_iter().enumerate() {
        if is_number {
            places.push(Place::Path(nth));
        }
    }
    for (key, form) in &shape.query {
        for (nth, is_number) in signs(form).into_iter().enumerate() {
            if is_number {
                places.push(Place::Query(key.clone(), nth));
            }
        }
    }
    places
}

/// Whether the links of a page number its list by this field: step and greatest value.
fn fits(map: &Map, own: UrlId, form: &Shape, place: &Place, links: &[(Label, UrlId)]) -> Option<(Option<u64>, u64)> {
    let fields: Vec<_> = links.iter().map(|(_, url)| form.fields(map.path(*url))).collect();
    let value = |fields: &Vec<crate::shape::Field<'_>>| fields.iter().find(|field| field.place == *place)?.number();
    let values: Vec<u64> = fields.iter().map(value).collect::<Option<_>>()?;
    // Nothing else differs between them.
    let others = |fields: &[crate::shape::Field<'_>]| -> Vec<(Place, String)> {
        fields.iter().filter(|of| of.place != *place).map(|of| (of.place.clone(), of.value.to_owned())).collect()
    };
    let first = others(fields.first()?);
    if fields.iter().any(|fields| others(fields) != first) {
        return None;
    }
    let is_same_shape = map.shape(map.shape_of(own)) == form;
    if is_same_shape {
        // Of another list than its own, a page has no pager.
        let mine = form.fields(map.path(own));
        if others(&mine) != first {
            return None;
        }
    } else if let Place::Query(key, _) = place {
        // `?t=5` on `/topic?t=5`: the page's own identifier, which all its links carry.
        let parts = crate::parts::Parts::of(map.path(own));
        if parts.value(key).is_some_and(|mine| values.iter().any(|value| value.to_string() == mine)) {
            return None;
        }
    }
    let (least, last) = (*values.iter().min()?, *values.iter().max()?);
    let has_next = links.iter().any(|(label, _)| *label == Label::Next);
    let is_named = matches!(place, Place::Query(key, _) if NUMBERS.has(&key.to_ascii_lowercase()));
    let is_next = has_next && last <= LONE_NEXT_MAX && matches!(place, Place::Query(..));
    let is_other = is_named && links.iter().any(|(label, _)| matches!(label, Label::Number(text) if *text == last));
    if least == last && !is_next && !is_other {
        return None;
    }
    let numbers = links.iter().zip(&values).filter_map(|((label, _), value)| match label {
        Label::Number(number) => Some((*number, *value)),
        _ => None,
    });
    let numbers: Vec<(u64, u64)> = numbers.collect();
    if let [] | [_] = numbers[..] {
        let turns = has_next || is_other || links.iter().any(|(label, _)| *label == Label::Range);
        return turns.then_some((numbers.first().and_then(|(text, value)| step_of(*text, *value)), last));
    }
    // The value is affine in the text.
    let (text, first) = numbers[0];
    let (other, second) = *numbers.iter().find(|(of, _)| *of != text)?;
    let (rise, run) = (i128::from(second) - i128::from(first), i128::from(other) - i128::from(text));
    let step = rise / run;
    let is_affine = |(of, value): &(u64, u64)| {
        i128::from(*value) - i128::from(first) == step * (i128::from(*of) - i128::from(text))
    };
    if rise % run != 0 || step <= 0 || !numbers.iter().all(is_affine) {
        return None;
    }
    Some((Some(u64::try_from(step).ok()?), last))
}

/// The step by one number and its value, where the first page has 0 or 1.
fn step_of(text: u64, value: u64) -> Option<u64> {
    let behind = text.checked_sub(1).filter(|behind| *behind > 0)?;
    match value {
        _ if value == text || value == behind => Some(1),
        _ if value.is_multiple_of(behind) => Some(value / behind),
        _ => None,
    }
}

/// A list without its page number: pages of one list have the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Family(pub String);

/// The family of a shape: the shape without its page field.
#[must_use]
pub fn family(shape: &Shape, field: Option<&PageField>) -> Family {
    let Some(field) = field else { return Family(shape.to_string()) };
    let mut shape = shape.clone();
    match &field.place {
        Place::Query(key, nth) => {
            let form = shape.form_of(key).unwrap_or_default().to_owned();
            if form == "{n}" {
                shape.query.retain(|(own, _)| own != key);
            } else {
                let marked = with_sign(&form, *nth, "{page}");
                shape.query.iter_mut().filter(|(own, _)| own == key).for_each(|(_, of)| of.clone_from(&marked));
            }
        }
        Place::Path(nth) => shape.path = path_of_family(&shape.path, *nth),
    }
    Family(shape.to_string())
}

/// The nth sign replaced.
fn with_sign(form: &str, nth: usize, sign: &str) -> String {
    let Some((at, _)) = form.match_indices('{').nth(nth) else { return form.to_owned() };
    let end = form[at..].find('}').map_or(form.len(), |end| at + end + 1);
    format!("{}{sign}{}", &form[..at], &form[end..])
}

/// `/x/page/{n}/` is a page of `/x/`, `/x/{n}` one of `/x`; `/forum-{n}-{n}.html` numbers within a segment.
fn path_of_family(path: &str, nth: usize) -> String {
    let marked = with_sign(path, nth, "{page}");
    let segments: Vec<&str> = marked.split('/').collect();
    let Some(at) = segments.iter().position(|segment| *segment == "{page}") else { return marked };
    let is_word = at > 1 && matches!(segments[at - 1], "page" | "p" | "seite" | "pages");
    let kept: Vec<&str> = segments
        .iter()
        .enumerate()
        .filter(|(index, _)| *index != at && !(is_word && *index + 1 == at))
        .map(|(_, segment)| *segment)
        .collect();
    let joined = kept.join("/");
    if joined.is_empty() { "/".to_owned() } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shaper;

    #[test]
    fn a_lone_next_that_leads_to_more_than_the_second_page_tells_the_step() {
        for (values, step) in [
            (&[0, 20, 40, 60][..], 20),
            (&[20], 20),
            (&[1, 2, 3], 1),
            (&[2, 4, 8], 1),
            (&[20, 40, 50], 1),
            (&[0], 1),
            (&[], 1),
            (&[u64::MAX - 1, u64::MAX], 1),
        ] {
            assert_eq!(walked(&values.iter().copied().collect()), step, "{values:?}");
        }
    }

    #[test]
    fn families_have_no_page_number() {
        let mut shaper = Shaper::default();
        for (path, place, expected) in [
            ("/l.php?f=1&start=25", Place::Query("start".into(), 0), "/l.php?f={n}"),
            ("/i.php?board=1.20", Place::Query("board".into(), 1), "/i.php?board={n}.{page}"),
            ("/news/page/2/", Place::Path(0), "/news/"),
            ("/page/2/", Place::Path(0), "/"),
            ("/forum-2-1.html", Place::Path(1), "/forum-{n}-{page}.html"),
        ] {
            let field = PageField { place, step: 1, is_open: false, last: 9, from_zero: false };
            assert_eq!(family(&shaper.shape(path), Some(&field)).0, expected);
        }
    }
}

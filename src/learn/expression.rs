//! From shapes to regular expressions that a person would write (LEARNING §14.10).

use std::collections::BTreeSet;

use crate::choose::Choice;
use crate::map::{Map, ShapeId};
use crate::paging::PageField;
use crate::parts::{Parts, SIGNS};
use crate::shape::Place;
use gleaner_base::url::without_keys;
use gleaner_rules::Class;

gleaner_base::topics! { address: NUMBERS; }

/// An expression in parts, so that expressions of one form can be joined.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Expression {
    /// Of each segment of the path, from the first.
    pub segments: Vec<String>,
    /// Of each parameter.
    pub query: Vec<String>,
    /// The last parameter numbers the pages and may be missing.
    pub has_optional_page: bool,
    /// The last segments number the pages and may be missing.
    pub optional_segments: Option<String>,
    pub by_semicolons: bool,
}

impl Expression {
    /// The whole expression.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = "^".to_owned();
        for segment in &self.segments {
            out.extend(["/", segment]);
        }
        if let Some(more) = &self.optional_segments {
            out.extend(["(?:", more, ")?"]);
        }
        let separator = if self.by_semicolons { ";" } else { "&" };
        let (fixed, page) = match self.query.split_last() {
            Some((page, fixed)) if self.has_optional_page => (fixed, Some(page)),
            _ => (&self.query[..], None),
        };
        if !fixed.is_empty() {
            out.extend([r"\?", &fixed.join(separator)]);
        }
        if let Some(page) = page {
            let begins = if fixed.is_empty() { r"\?" } else { separator };
            out.extend(["(?:", begins, page, ")?"]);
        }
        out.push('$');
        out
    }

    /// True for the expression of a numbered page.
    #[must_use]
    pub fn is_page(&self) -> bool {
        self.query.iter().chain(&self.segments).any(|part| part.contains("(?<page>"))
    }
}

/// The expression of a shape, from all its URLs. `field` numbers its pages, if it is a list; parameters that were dropped are
/// left out; `sorts` puts the others in order.
#[must_use]
pub fn expression(map: &Map, shape: ShapeId, field: Option<&PageField>, choice: &Choice, sorts: bool) -> Expression {
    let dropped = &choice.dropped;
    let form = map.shape(shape);
    let urls: Vec<Parts<'_>> = map.urls_of(shape).iter().map(|url| Parts::of(map.path(*url))).collect();
    let page_of_path = match field.map(|field| &field.place) {
        Some(Place::Path(nth)) => Some(*nth),
        _ => None,
    };
    let mut segments = Vec::new();
    let mut signs = 0;
    for (index, segment) in form.path.split('/').skip(1).enumerate() {
        let raw: Vec<(&str, &str)> = urls.iter().filter_map(|url| url.segments.get(index).copied()).collect();
        let extension = raw.first().map_or("", |(_, extension)| *extension);
        let stem = segment.strip_suffix(extension).unwrap_or(segment);
        let stems: Vec<&str> = raw.iter().map(|(stem, _)| *stem).collect();
        let own = stem.matches('{').count();
        let page = page_of_path.filter(|nth| (signs..signs + own).contains(nth)).map(|nth| nth - signs);
        signs += own;
        segments.push(part(stem, &stems, page, false) + &regex::escape(extension));
    }
    let mut query = Vec::new();
    let mut parameters: Vec<&(String, String)> = form.query.iter().filter(|(key, _)| !dropped.contains(key)).collect();
    if sorts {
        parameters.sort();
    }
    for (key, form) in parameters {
        let name = if key.is_empty() { String::new() } else { regex::escape(key) + "=" };
        let raw: Vec<&str> = urls.iter().filter_map(|url| url.value(key)).collect();
        let page = match field.map(|field| &field.place) {
            Some(Place::Query(own, nth)) if own == key => Some(*nth),
            _ => None,
        };
        if is_secret(key) {
            query.push(name + "[^&;]+");
            continue;
        }
        if let Some(value) = choice.orders.get(key).filter(|_| choice.classes.get(&shape) == Some(&Class::Index)) {
            query.push(name + &regex::escape(value));
            continue;
        }
        let value = flag(map, shape, key, form, &raw).filter(|_| page.is_none());
        query.push(name + &value.unwrap_or_else(|| part(form, &raw, page, true)));
    }
    Expression {
        segments,
        query,
        has_optional_page: false,
        optional_segments: None,
        by_semicolons: form.by_semicolons && form.query.len() > 1,
    }
}

/// True for a parameter that carries a key of the account or a token of its session.
#[must_use]
pub fn is_secret(key: &str) -> bool {
    let url = format!("https://example.org/?{key}=0123456789abcdef0123456789abcdef");
    gleaner_rules::names_token(key) || *without_keys(&url) != url
}

/// URLs from which on one value all over is a flag.
const FLAG_URLS_MIN: usize = 4;

/// A parameter that is 0 or 1 in all URLs is written as it is.
fn flag(map: &Map, shape: ShapeId, key: &str, form: &str, values: &[&str]) -> Option<String> {
    let is_name = key.len() == 1 || key.to_ascii_lowercase().ends_with("id") || NUMBERS.has(&key.to_ascii_lowercase());
    let value = *values.first()?;
    if form != "{n}" || is_name || !matches!(value, "0" | "1") || values.len() < FLAG_URLS_MIN {
        return None;
    }
    let path = &map.shape(shape).path;
    let others = map.shapes().filter(|(_, other)| other.path == *path).flat_map(|(id, _)| map.urls_of(id));
    let mut values = others.filter_map(|url| Parts::of(map.path(*url)).value(key));
    let is_all_over = values.all(|other| other == value);
    is_all_over.then(|| value.to_owned())
}

/// Texts of one place from which on their common beginning is written.
const PREFIX_TEXTS_MIN: usize = 4;
const PREFIX_BYTES_MIN: usize = 4;

/// The expression of one place: of its form, and what stood there.
fn part(form: &str, texts: &[&str], page: Option<usize>, in_query: bool) -> String {
    match form {
        "{n}" if page.is_none() && !in_query => return digits(texts),
        "{x}" => return r"[\w%=+/-]+".to_owned(),
        // A word of many, but the only one here.
        "{w}" if texts.len() > 1 && texts.iter().all(|text| *text == texts[0]) => return regex::escape(texts[0]),
        "{s}" | "{w}" | "{h}" => return class_of(texts, in_query),
        "{date}" => return r"\d{4}-\d\d?(?:-\d\d?)?".to_owned(),
        _ => {}
    }
    let mut out = String::new();
    let mut rest = form;
    let mut nth = 0;
    while let Some(at) = rest.find('{') {
        let Some(sign) = SIGNS.into_iter().find(|sign| rest[at..].starts_with(sign)) else { break };
        out.push_str(&regex::escape(&rest[..at]).replace(r"\-", "-"));
        out.push_str(match sign {
            "{n}" if page == Some(nth) => r"(?<page>\d+)",
            "{n}" => r"\d+",
            "{h}" => "[0-9a-f]+",
            "{x}" => r"[\w-]+",
            _ if in_query => "[^&;]+",
            _ => "[^/?]+",
        });
        nth += 1;
        rest = &rest[at + sign.len()..];
    }
    out.push_str(&regex::escape(rest).replace(r"\-", "-"));
    out
}

/// Years and months have a fixed number of digits.
fn digits(texts: &[&str]) -> String {
    let length = texts.first().map_or(0, |text| text.len());
    let is_fixed = texts.len() >= PREFIX_TEXTS_MIN && texts.iter().all(|text| text.len() == length);
    let is_year = || length == 4 && texts.iter().all(|text| text.starts_with("19") || text.starts_with("20"));
    if is_fixed && (length == 2 || is_year()) { format!(r"\d{{{length}}}") } else { r"\d+".to_owned() }
}

/// The smallest class of characters that holds all texts, behind their common beginning.
#[must_use]
pub fn class_of(texts: &[&str], in_query: bool) -> String {
    let texts: BTreeSet<&str> = texts.iter().copied().filter(|text| !text.is_empty()).collect();
    let all = |is: &dyn Fn(u8) -> bool| texts.iter().all(|text| text.bytes().all(is));
    let any = if in_query { "[^&;]+" } else { "[^/?]+" };
    if texts.is_empty() {
        return any.replace('+', "*");
    }
    if all(&|of| of.is_ascii_digit()) {
        return r"\d+".to_owned();
    }
    if all(&|of| of.is_ascii_digit() || (b'a'..=b'f').contains(&of)) {
        let lengths: BTreeSet<usize> = texts.iter().map(|text| text.len()).collect();
        return match lengths.iter().collect::<Vec<_>>()[..] {
            [length @ (16 | 32 | 40 | 64)] => format!("[0-9a-f]{{{length}}}"),
            _ => "[0-9a-f]+".to_owned(),
        };
    }
    let prefix = common_beginning(&texts);
    if prefix.len() >= PREFIX_BYTES_MIN
        && texts.len() >= PREFIX_TEXTS_MIN
        && texts.iter().all(|text| text.len() > prefix.len())
    {
        let rest: Vec<&str> = texts.iter().map(|text| &text[prefix.len()..]).collect();
        return regex::escape(&prefix).replace(r"\-", "-") + &class_of(&rest, in_query);
    }
    let is_word = |of: u8| of.is_ascii_alphanumeric() || of == b'_';
    match () {
        () if all(&|of| of.is_ascii_lowercase()) => "[a-z]+",
        () if all(&|of| of.is_ascii_lowercase() || of.is_ascii_digit() || of == b'-') => "[a-z0-9-]+",
        () if all(&|of| is_word(of) || of == b'-') => r"[\w-]+",
        () if all(&|of| is_word(of) || matches!(of, b'-' | b'.')) => r"[\w.-]+",
        () => any,
    }
    .to_owned()
}

/// What all texts begin with, up to a separator.
fn common_beginning(texts: &BTreeSet<&str>) -> String {
    let (Some(first), Some(last)) = (texts.first(), texts.last()) else { return String::new() };
    let common = first.bytes().zip(last.bytes()).take_while(|(a, b)| a == b).count();
    let common = first.get(..common).unwrap_or_default();
    common.rfind(['-', '_']).map_or_else(String::new, |at| common[..=at].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_as_small_as_their_texts() {
        for (texts, expected) in [
            (&["linux", "bsd"][..], "[a-z]+"),
            (&["a-1", "b-2"], "[a-z0-9-]+"),
            (&["A_1", "b-2"], r"[\w-]+"),
            (&["a.b", "c"], r"[\w.-]+"),
            (&["a%20b"], "[^/?]+"),
            (&["12", "7"], r"\d+"),
            (&["debian-11-x", "debian-12-y", "debian-10-z", "debian-9-q"], "debian-[a-z0-9-]+"),
            (&["0123456789abcdef0123456789abcdef01234567"], "[0-9a-f]{40}"),
        ] {
            assert_eq!(class_of(texts, false), expected, "{texts:?}");
        }
    }
}

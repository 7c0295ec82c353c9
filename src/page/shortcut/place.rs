//! Places in a JSON response, such as `data.items[*].id`: `[*]` is each element of a list, `[-1]` its last, `{*}`
//! each member of an object with one per record, `.` the value itself.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Map, Value as Json};

/// Minimum hexadecimal digits of a name that is a hash.
const HASH_LENGTH_MIN: usize = 16;

/// Minimum members for a comparison of their shapes, if their names are inconclusive.
const MEMBERS_LEAST: usize = 3;

/// One step into a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    Key(String),
    At(usize),
    Last,
    Each,
    /// Each member of an object, by its name.
    Member,
}

/// A record of a response, or an enclosing list's element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element<'a> {
    pub value: &'a Json,
    /// The name, if it is a member of an object.
    pub name: Option<&'a str>,
}

impl<'a> From<&'a Json> for Element<'a> {
    fn from(value: &'a Json) -> Self {
        Self { value, name: None }
    }
}

impl Step {
    /// The elements of a value for this step; `None` if it is not a list. PHP writes a list with gaps as an object
    /// with numeric names, and an empty object as a list, so each is accepted as the other.
    #[must_use]
    pub fn elements<'a>(&self, value: &'a Json) -> Option<Vec<Element<'a>>> {
        let named = |(name, value): (&'a String, &'a Json)| Element { value, name: Some(name) };
        match (self, value) {
            (Self::Each | Self::Member, Json::Array(elements)) => Some(elements.iter().map(Element::from).collect()),
            (Self::Member, Json::Object(members)) => Some(members.iter().map(named).collect()),
            (Self::Each, Json::Object(members))
                if !members.is_empty() && members.keys().all(|name| is_number(name)) =>
            {
                Some(members.iter().map(named).collect())
            }
            _ => None,
        }
    }

    /// Whether it names all elements of a list.
    #[must_use]
    pub fn is_all(&self) -> bool {
        matches!(self, Self::Each | Self::Member)
    }
}

/// A path into a JSON value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JsonPath(pub Vec<Step>);

impl JsonPath {
    /// Parses a path as written by a person.
    ///
    /// # Errors
    /// A description of the error.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut steps = Vec::new();
        if text == "." {
            return Ok(Self(steps));
        }
        for part in text.split('.') {
            let (key, brackets) = part.find(['[', '{']).map_or((part, ""), |at| part.split_at(at));
            match key {
                "" if steps.is_empty() && !brackets.is_empty() => {}
                key if is_plain(key) => steps.push(Step::Key(key.to_owned())),
                _ => return Err(format!("`{text}` is not a place in an answer")),
            }
            let mut rest = brackets;
            while !rest.is_empty() {
                if let Some(behind) = rest.strip_prefix("{*}") {
                    steps.push(Step::Member);
                    rest = behind;
                    continue;
                }
                let inner = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
                let Some((inner, behind)) = inner else {
                    return Err(format!("`{text}` has brackets that are neither [*], [-1], [0] nor {{*}}"));
                };
                rest = behind;
                steps.push(match inner {
                    "*" => Step::Each,
                    "-1" => Step::Last,
                    number => {
                        Step::At(number.parse().map_err(|_| format!("`[{number}]` is neither a number, * nor -1"))?)
                    }
                });
            }
        }
        Ok(Self(steps))
    }

    /// The value at this place; the first one for `[*]` and `{*}`.
    #[must_use]
    pub fn get<'a>(&self, value: &'a Json) -> Option<&'a Json> {
        self.0.iter().try_fold(value, |value, step| match step {
            Step::Key(key) => value.get(key.as_str()),
            Step::At(at) => value.get(*at),
            Step::Last => value.as_array()?.last(),
            step @ (Step::Each | Step::Member) => step.elements(value)?.first().map(|element| element.value),
        })
    }

    /// The scalar at this place as text.
    #[must_use]
    pub fn text<'a>(&self, value: &'a Json) -> Option<Cow<'a, str>> {
        scalar(self.get(value)?)
    }

    /// Each value at this place, with its enclosing list elements, outer ones first; the value itself is the last.
    #[must_use]
    pub fn chains<'a>(&self, value: &'a Json, most: usize) -> Vec<Vec<Element<'a>>> {
        let mut chains = Vec::new();
        descend(&self.0, value, &mut Vec::new(), &mut chains, most);
        chains
    }

    /// Whether it is in a list whose elements another place names, as `rows[-1].id` is in `rows[*]`.
    #[must_use]
    pub fn is_within(&self, records: &Self) -> bool {
        let lists = records.0.iter().enumerate().filter(|(_, step)| step.is_all()).map(|(at, _)| at);
        lists.into_iter().any(|at| {
            let same = |(own, other): (&Step, &Step)| {
                own == other || *other == Step::Member || (*other == Step::Each && !matches!(own, Step::Key(_)))
            };
            self.0.len() > at && self.0.iter().zip(&records.0).take(at + 1).all(same)
        })
    }

    /// The place with one more step.
    #[must_use]
    pub fn with(&self, step: Step) -> Self {
        Self(self.0.iter().cloned().chain([step]).collect())
    }
}

fn descend<'a>(
    steps: &[Step],
    value: &'a Json,
    around: &mut Vec<Element<'a>>,
    chains: &mut Vec<Vec<Element<'a>>>,
    most: usize,
) {
    if chains.len() >= most {
        return;
    }
    let Some((step, rest)) = steps.split_first() else {
        if around.last().is_none_or(|last| !std::ptr::eq(last.value, value)) {
            around.push(value.into());
            chains.push(around.clone());
            around.pop();
        } else {
            chains.push(around.clone());
        }
        return;
    };
    match step {
        step if step.is_all() => {
            for element in step.elements(value).into_iter().flatten() {
                around.push(element);
                descend(rest, element.value, around, chains, most);
                around.pop();
            }
        }
        step => {
            if let Some(inner) = JsonPath(vec![step.clone()]).get(value) {
                descend(rest, inner, around, chains, most);
            }
        }
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str(".");
        }
        for (number, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if number == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::At(at) => write!(f, "[{at}]")?,
                Step::Last => f.write_str("[-1]")?,
                Step::Each => f.write_str("[*]")?,
                Step::Member => f.write_str("{*}")?,
            }
        }
        Ok(())
    }
}

/// Whether a member's name can be written in a place.
#[must_use]
pub fn is_plain(key: &str) -> bool {
    let is_mark = |c: char| c.is_whitespace() || c.is_control() || ".[]{}|'\"".contains(c);
    !key.is_empty() && !key.starts_with(['@', '^']) && !key.contains(is_mark)
}

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether an object looks like a list of records: its names are numbers or hashes, or its members have similar
/// shapes.
#[must_use]
pub fn is_list(members: &Map<String, Json>) -> bool {
    let is_hash = |name: &str| name.len() >= HASH_LENGTH_MIN && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    if members.is_empty() || members.keys().all(|name| is_number(name) || is_hash(name)) {
        return !members.is_empty();
    }
    let mut objects = members.values().map(Json::as_object);
    let Some(Some(first)) = objects.next() else { return false };
    // Two may have something in common by chance.
    members.len() >= MEMBERS_LEAST
        && objects.all(|other| {
            other.is_some_and(|other| {
                let common = other.keys().filter(|name| first.contains_key(*name)).count();
                common > 0 && 2 * common >= first.len().max(other.len())
            })
        })
}

/// A string or a number as text; nothing else, and nothing empty.
#[must_use]
pub fn scalar(value: &Json) -> Option<Cow<'_, str>> {
    match value {
        Json::String(text) if !text.is_empty() => Some(Cow::Borrowed(text)),
        Json::Number(number) => Some(Cow::Owned(number.to_string())),
        _ => None,
    }
}

/// Visits each value of a response outside its lists, including the last elements of lists, with its place. The
/// members of an object have no order, so none is the last.
pub fn outside_lists<'a>(value: &'a Json, place: &JsonPath, visit: &mut impl FnMut(&JsonPath, &'a Json)) {
    match value {
        Json::Object(members) if is_list(members) => {}
        Json::Object(members) => {
            for (key, inner) in members.iter().filter(|(key, _)| is_plain(key)) {
                outside_lists(inner, &place.with(Step::Key(key.clone())), visit);
            }
        }
        Json::Array(elements) => {
            if let Some(last) = elements.last() {
                outside_lists(last, &place.with(Step::Last), visit);
            }
        }
        _ => visit(place, value),
    }
}

/// Visits each list of a response, by the place of its elements, including nested lists.
pub fn lists(value: &Json, place: &JsonPath, visit: &mut impl FnMut(JsonPath)) {
    match value {
        Json::Object(members) if is_list(members) => {
            let each = place.with(Step::Member);
            visit(each.clone());
            for element in members.values().take(3) {
                lists(element, &each, visit);
            }
        }
        Json::Object(members) => {
            for (key, inner) in members.iter().filter(|(key, _)| is_plain(key)) {
                lists(inner, &place.with(Step::Key(key.clone())), visit);
            }
        }
        Json::Array(elements) => {
            let each = place.with(Step::Each);
            visit(each.clone());
            for element in elements.iter().take(3) {
                lists(element, &each, visit);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;

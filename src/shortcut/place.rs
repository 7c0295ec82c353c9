//! Places in a JSON answer, as `data.items[*].id`: `[*]` is each element of a list, `[-1]` its last, `.` the value itself.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value as Json;

/// One step down.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    Key(String),
    At(usize),
    Last,
    Each,
}

/// A place, from the value that it is read in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place(pub Vec<Step>);

impl Place {
    /// Reads a place as a person writes it.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut steps = Vec::new();
        if text == "." {
            return Ok(Self(steps));
        }
        for part in text.split('.') {
            let (key, brackets) = part.find('[').map_or((part, ""), |at| part.split_at(at));
            match key {
                "" if steps.is_empty() && !brackets.is_empty() => {}
                key if is_plain(key) => steps.push(Step::Key(key.to_owned())),
                _ => return Err(format!("`{text}` is no place in an answer")),
            }
            let mut rest = brackets;
            while !rest.is_empty() {
                let inner = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
                let Some((inner, behind)) = inner else { return Err(format!("`{text}` has brackets that do not end")) };
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

    /// The value at this place; of `[*]` the first.
    #[must_use]
    pub fn get<'a>(&self, value: &'a Json) -> Option<&'a Json> {
        self.0.iter().try_fold(value, |value, step| match step {
            Step::Key(key) => value.get(key.as_str()),
            Step::At(at) => value.get(*at),
            Step::Last => value.as_array()?.last(),
            Step::Each => value.as_array()?.first(),
        })
    }

    /// The scalar at this place as text.
    #[must_use]
    pub fn text<'a>(&self, value: &'a Json) -> Option<Cow<'a, str>> {
        scalar(self.get(value)?)
    }

    /// Each value at this place, with the elements of lists that it stands in, outer ones first; the value itself is the last.
    #[must_use]
    pub fn chains<'a>(&self, value: &'a Json, most: usize) -> Vec<Vec<&'a Json>> {
        let mut chains = Vec::new();
        descend(&self.0, value, &mut Vec::new(), &mut chains, most);
        chains
    }

    /// Whether it lies in the list, or in one of the lists, that another place names the elements of, as `rows[-1].id` in `rows[*]`.
    #[must_use]
    pub fn is_within(&self, records: &Self) -> bool {
        let lists = records.0.iter().enumerate().filter(|(_, step)| **step == Step::Each).map(|(at, _)| at);
        lists.into_iter().any(|at| {
            let same =
                |(own, other): (&Step, &Step)| own == other || (*other == Step::Each && !matches!(own, Step::Key(_)));
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
    around: &mut Vec<&'a Json>,
    chains: &mut Vec<Vec<&'a Json>>,
    most: usize,
) {
    if chains.len() >= most {
        return;
    }
    let Some((step, rest)) = steps.split_first() else {
        if around.last().is_none_or(|last| !std::ptr::eq(*last, value)) {
            around.push(value);
            chains.push(around.clone());
            around.pop();
        } else {
            chains.push(around.clone());
        }
        return;
    };
    match step {
        Step::Each => {
            for element in value.as_array().into_iter().flatten() {
                around.push(element);
                descend(rest, element, around, chains, most);
                around.pop();
            }
        }
        step => {
            if let Some(inner) = Place(vec![step.clone()]).get(value) {
                descend(rest, inner, around, chains, most);
            }
        }
    }
}

impl fmt::Display for Place {
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

/// A string or a number as text; nothing else, and nothing empty.
#[must_use]
pub fn scalar(value: &Json) -> Option<Cow<'_, str>> {
    match value {
        Json::String(text) if !text.is_empty() => Some(Cow::Borrowed(text)),
        Json::Number(number) => Some(Cow::Owned(number.to_string())),
        _ => None,
    }
}

/// Visits each value of an answer that lies outside its lists, the last elements of lists included, and gives its place.
pub fn outside_lists<'a>(value: &'a Json, place: &Place, visit: &mut impl FnMut(&Place, &'a Json)) {
    match value {
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

/// Visits each list of an answer, by the place of its elements; lists within lists too.
pub fn lists(value: &Json, place: &Place, visit: &mut impl FnMut(Place)) {
    match value {
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
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_is_written() {
        for text in ["data.items[*].id", ".", "[*]", "a[0].b[-1]", "rows[*][1]"] {
            assert_eq!(Place::parse(text).unwrap().to_string(), text);
        }
        for bad in ["", "a..b", "a[", "a[x]", "a b", "@meta"] {
            assert!(Place::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_lies_in_a_list_of_records_is_known() {
        for (place, records, is_within) in [
            ("rows[-1].id", "rows[*]", true),
            ("rows[-1]", "rows[*].cell", true),
            ("groups[-1].key", "groups[*].files[*]", true),
            ("groups[-1].files[-1].n", "groups[*].files[*]", true),
            ("[-1].id", "[*]", true),
            ("total", "rows[*]", false),
            ("rows", "rows[*]", false),
            ("top[-1].id", "rows[*]", false),
            ("rows.total", "rows[*]", false),
            ("total", ".", false),
        ] {
            let (place, records) = (Place::parse(place).unwrap(), Place::parse(records).unwrap());
            assert_eq!(place.is_within(&records), is_within, "{place} {records}");
        }
    }

    #[test]
    fn elements_come_with_the_lists_they_stand_in() {
        let value =
            serde_json::json!({ "g": [{ "n": 1, "t": [{ "id": 5 }, { "id": 6 }] }, { "n": 2, "t": [{ "id": 7 }] }] });
        let chains = Place::parse("g[*].t[*]").unwrap().chains(&value, 100);
        let told: Vec<(i64, i64)> =
            chains.iter().map(|chain| (chain[0]["n"].as_i64().unwrap(), chain[1]["id"].as_i64().unwrap())).collect();
        assert_eq!(told, [(1, 5), (1, 6), (2, 7)]);
        assert_eq!(Place::parse("g[*].t[*]").unwrap().chains(&value, 2).len(), 2);
        assert_eq!(Place::default().chains(&value, 9).len(), 1);
        assert_eq!(Place::parse("g[-1].n").unwrap().text(&value).as_deref(), Some("2"));
    }
}

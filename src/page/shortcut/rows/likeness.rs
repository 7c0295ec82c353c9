//! Decides which rows are like those whose links a click has confirmed: by the types of their records' values, by
//! their states, and by the rows' look. A row unlike all of them must be clicked; if that leads elsewhere, the same
//! is assumed for all rows that share its unique traits.

use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;
use xxhash_rust::xxh3::xxh3_64;

use crate::limits;
use crate::shortcut::place::{JsonPath, Step, is_list, is_plain, scalar};

/// A member with at most this many different values contains states.
const STATES: u8 = 6;

/// The same for a member with the name of a category.
const KINDS: u8 = 24;

/// Maximum characters of a state value, and elements of a list that are checked.
const STATE_CHARS: usize = 40;
const ELEMENTS: usize = 8;

/// Usual member names for kinds of records.
const NAMES_OF_KINDS: &[&str] = &[
    "access",
    "cat",
    "catid",
    "category",
    "class",
    "format",
    "host",
    "kind",
    "origin",
    "provider",
    "section",
    "service",
    "source",
    "state",
    "status",
    "sub",
    "subcategory",
    "type",
    "visibility",
];

/// Usual texts for a missing value.
const NOTHING: &[&str] = &["0", "false", "n/a", "na", "nil", "none", "null", "undefined", "unknown"];

/// Lengths of hashes in hexadecimal digits.
const HASHES: &[usize] = &[32, 40, 64];

/// One property by which rows are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Trait {
    member: u64,
    value: u64,
    /// Ignored for members with more different values than this; 0: never.
    room: u8,
}

impl Trait {
    /// A trait of a row's look: the aspect and its value.
    #[must_use]
    pub fn of_look(respect: &str, look: &str) -> Self {
        Self { member: hash("look ", respect), value: hash("", look), room: STATES }
    }
}

/// How a row compares with the clicked ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Like {
    Clicked,
    /// It has a trait that none of them had.
    None,
    /// It has a trait with which a row led elsewhere.
    Elsewhere,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Likeness {
    /// Traits of rows with confirmed links.
    seen: HashSet<(u64, u64)>,
    /// Values of members with few of them.
    values: HashMap<u64, HashSet<u64>>,
    /// Members with too many values.
    dull: HashSet<u64>,
    refused: Vec<Refused>,
}

/// The unique traits of a row that led elsewhere.
#[derive(Clone, Debug)]
struct Refused {
    traits: HashSet<(u64, u64)>,
    /// Its click had an effect.
    leads_elsewhere: bool,
}

impl Likeness {
    /// Collects the members of these records whose values are states.
    pub fn of<'a>(records: impl Iterator<Item = &'a Json>) -> Self {
        let mut this = Self::default();
        let mut many = HashMap::<(u64, u8), usize>::new();
        for record in records {
            let traits = of_record(record);
            this.look_at(traits.iter());
            for of in traits.iter().filter(|of| of.room > 0) {
                *many.entry((of.member, of.room)).or_default() += 1;
            }
        }
        for ((member, room), many) in many {
            let different = this.values.get(&member).map_or(0, HashSet::len);
            // A value that is unique to each record is not a state.
            let is_few = if room > STATES { 3 * many >= 4 * different } else { many >= 2 * different };
            if !is_few {
                this.values.remove(&member);
                this.dull.insert(member);
            }
        }
        this
    }

    fn look_at<'a>(&mut self, traits: impl Iterator<Item = &'a Trait>) {
        for of in traits.filter(|of| of.room > 0) {
            if self.dull.contains(&of.member) {
                continue;
            }
            let values = self.values.entry(of.member).or_default();
            values.insert(of.value);
            if values.len() > usize::from(of.room) {
                self.values.remove(&of.member);
                self.dull.insert(of.member);
            }
        }
    }

    /// Whether the trait distinguishes rows.
    pub fn tells(&self, of: &Trait) -> bool {
        of.room == 0 || !self.dull.contains(&of.member)
    }

    fn is_new(&self, of: &Trait) -> bool {
        self.tells(of) && !self.seen.contains(&(of.member, of.value))
    }

    pub fn compare<'a>(&mut self, traits: impl Iterator<Item = &'a Trait> + Clone) -> Like {
        self.look_at(traits.clone());
        let has = |refused: &Refused| traits.clone().any(|of| refused.traits.contains(&(of.member, of.value)));
        if self.refused.iter().any(has) {
            Like::Elsewhere
        } else if traits.clone().any(|of| self.is_new(of)) {
            Like::None
        } else {
            Like::Clicked
        }
    }

    pub fn confirm<'a>(&mut self, traits: impl Iterator<Item = &'a Trait>) -> bool {
        for of in traits {
            self.seen.insert((of.member, of.value));
            for refused in &mut self.refused {
                refused.traits.remove(&(of.member, of.value));
            }
        }
        let is_explained = self.refused.iter().all(|of| !of.traits.is_empty() || !of.leads_elsewhere);
        self.refused.retain(|of| !of.traits.is_empty());
        is_explained
    }

    pub fn refuse<'a>(&mut self, traits: impl Iterator<Item = &'a Trait> + Clone, leads_elsewhere: bool) -> bool {
        self.look_at(traits.clone());
        let new: HashSet<_> = traits.filter(|of| self.is_new(of)).map(|of| (of.member, of.value)).collect();
        if new.is_empty() {
            return false;
        }
        if self.refused.iter().any(|of| !of.traits.is_disjoint(&new)) {
            return true;
        }
        self.refused.push(Refused { traits: new, leads_elsewhere });
        true
    }
}

/// The traits of a record.
pub(super) fn of_record(record: &Json) -> Vec<Trait> {
    let mut all = Vec::new();
    visit(record, &JsonPath::default(), &mut |place, json| {
        if all.len() >= limits::SHORTCUT_FIELDS_MAX * 2 {
            return;
        }
        let name = place.to_string();
        let sort = match json {
            Json::Null => "null".to_owned(),
            Json::Bool(is) => is.to_string(),
            Json::Number(number) => number.as_f64().map_or("number", sort_of_number).to_owned(),
            Json::String(text) => sort_of_text(text),
            Json::Array(list) => format!("{} elements", list.len().min(2)),
            Json::Object(object) => {
                let mut names: Vec<&str> = object.keys().map(String::as_str).collect();
                names.sort_unstable();
                // Objects that are lists have unique names.
                if is_list(object) && !place.0.is_empty() { "list".to_owned() } else { names.join("\n") }
            }
        };
        all.push(Trait { member: hash("", &name), value: hash("", &sort), room: 0 });
        let elements = if let Json::Array(list) = json { list.as_slice() } else { std::slice::from_ref(json) };
        let texts = elements.iter().take(ELEMENTS).filter_map(scalar);
        all.extend(texts.filter(|text| text.chars().count() <= STATE_CHARS).map(|text| Trait {
            member: hash("state ", &name),
            value: hash("", &text),
            room: if is_name_of_kinds(place) { KINDS } else { STATES },
        }));
    });
    all
}

/// Visits the values of a record and its objects, without the content of its lists.
fn visit(json: &Json, place: &JsonPath, look: &mut impl FnMut(&JsonPath, &Json)) {
    look(place, json);
    match json {
        Json::Object(object) if !is_list(object) || place.0.is_empty() => {
            for (key, inner) in object.iter().filter(|(key, _)| is_plain(key)) {
                visit(inner, &place.with(Step::Key(key.clone())), look);
            }
        }
        // Rows of a table are lists themselves.
        Json::Array(elements) if place.0.is_empty() => {
            for (at, inner) in elements.iter().enumerate().take(limits::SHORTCUT_FIELDS_MAX) {
                visit(inner, &place.with(Step::At(at)), look);
            }
        }
        _ => {}
    }
}

fn is_name_of_kinds(place: &JsonPath) -> bool {
    let Some(Step::Key(name)) = place.0.last() else { return false };
    let name = name.to_lowercase().replace(['_', '-'], "");
    NAMES_OF_KINDS.iter().any(|of| name == *of || name.strip_suffix("id").or(name.strip_suffix("name")) == Some(*of))
}

fn sort_of_number(number: f64) -> &'static str {
    match number {
        _ if number < 0.0 => "below nothing",
        _ if number > 0.0 => "number",
        _ => "nothing",
    }
}

fn sort_of_text(text: &str) -> String {
    let text = text.trim().to_lowercase();
    let is_all = |of: fn(&u8) -> bool| !text.is_empty() && text.as_bytes().iter().all(of);
    let sort = if text.is_empty() {
        "empty"
    } else if NOTHING.contains(&&*text) || !text.contains(char::is_alphanumeric) {
        "no value"
    } else if text.starts_with("magnet:") {
        "magnet"
    } else if text.contains("://") || text.starts_with("//") {
        "address"
    } else if text.starts_with('/') {
        "path"
    } else if is_all(u8::is_ascii_hexdigit) && HASHES.contains(&text.len()) {
        return format!("hash of {}", text.len());
    } else if is_all(u8::is_ascii_digit) {
        "digits"
    } else {
        "text"
    };
    sort.to_owned()
}

fn hash(of: &str, text: &str) -> u64 {
    xxh3_64(format!("{of}{text}").as_bytes())
}

//! Which rows are like those whose links a click has shown: by what sorts of values their records have, by the states that these are in, and
//! by how the rows look. A row that is like none of them is for somebody to click; where that leads elsewhere, so may all that share with it
//! what it had alone.

use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;
use xxhash_rust::xxh3::xxh3_64;

use crate::limits;
use crate::shortcut::place::{Place, Step, is_list, is_plain, scalar};

/// So many different values of a member, and no more, are states that its records may be in.
const STATES: u8 = 6;

/// The same of a member that is called like one whose values are kinds.
const KINDS: u8 = 24;

/// Characters of a value that is a state, and elements of a list that are looked at.
const STATE_CHARS: usize = 40;
const ELEMENTS: usize = 8;

/// What authors call members that tell sorts of records apart.
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

/// What authors write where there is no value.
const NOTHING: &[&str] = &["0", "false", "n/a", "na", "nil", "none", "null", "undefined", "unknown"];

/// Lengths of hashes in hexadecimal digits.
const HASHES: &[usize] = &[32, 40, 64];

/// One thing by which rows are alike or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Trait {
    member: u64,
    value: u64,
    /// Where more values than this tell nothing; 0: however many.
    room: u8,
}

impl Trait {
    /// Of how a row looks: in which respect, and how.
    #[must_use]
    pub fn of_look(respect: &str, look: &str) -> Self {
        Self { member: hash("look ", respect), value: hash("", look), room: STATES }
    }
}

/// How a row is to those that were clicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Like {
    Clicked,
    /// It has something that none of them had.
    None,
    /// It has something with which a row has led elsewhere.
    Elsewhere,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Likeness {
    /// Of rows whose links have come.
    seen: HashSet<(u64, u64)>,
    /// Values of members that have few.
    values: HashMap<u64, HashSet<u64>>,
    /// Members that have too many.
    dull: HashSet<u64>,
    refused: Vec<Refused>,
}

/// What a row had alone that led elsewhere.
#[derive(Clone, Debug)]
struct Refused {
    traits: HashSet<(u64, u64)>,
    /// Its click has brought something.
    leads_elsewhere: bool,
}

impl Likeness {
    /// With the members of these records whose values are states.
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
            // What each record has of its own is no state.
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

    /// Whether it tells rows apart.
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

/// What a record has by which it may be unlike others.
pub(super) fn of_record(record: &Json) -> Vec<Trait> {
    let mut all = Vec::new();
    visit(record, &Place::default(), &mut |place, json| {
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
                // Objects that are lists have names of their own.
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

/// Visits the values of a record and the objects in it, not what is in its lists.
fn visit(json: &Json, place: &Place, look: &mut impl FnMut(&Place, &Json)) {
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

fn is_name_of_kinds(place: &Place) -> bool {
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

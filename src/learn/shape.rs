//! Shapes: the URLs of one template. Words that are many at one place are one (LEARNING §14.3).

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::rc::Rc;

use crate::limits::{TOP_WORDS_MAX, WORDS_MAX};
use crate::parts::{Parts, form, has_letters, is_program, values};
use gleaner_rules::is_router;

/// The common form of the URLs of one template.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape {
    /// Path with signs: `/thread-{n}-{n}.html`.
    pub path: String,
    /// Parameters with signs, in the order seen; one without `=` has no name.
    pub query: Vec<(String, String)>,
    /// `;` separates the parameters.
    pub by_semicolons: bool,
}

/// A place within a shape at which its URLs differ.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// The nth sign of the path.
    Path(usize),
    /// The nth sign of a parameter's value.
    Query(String, usize),
}

/// What a URL has at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    pub place: Place,
    /// One of [`crate::parts::SIGNS`].
    pub sign: String,
    pub value: &'a str,
}

impl Field<'_> {
    /// The value as a number.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        if self.sign == "{n}" { self.value.parse().ok() } else { None }
    }
}

impl Shape {
    /// What a URL of this shape has at each place.
    #[must_use]
    pub fn fields<'a>(&self, path_and_query: &'a str) -> Vec<Field<'a>> {
        let parts = Parts::of(path_and_query);
        let mut fields = Vec::new();
        for (form, (stem, _)) in self.path.split('/').skip(1).zip(&parts.segments) {
            for (sign, value) in values(form, stem) {
                fields.push(Field { place: Place::Path(fields.len()), sign: sign.to_owned(), value });
            }
        }
        for (key, form) in &self.query {
            let Some(value) = parts.value(key) else { continue };
            for (nth, (sign, value)) in values(form, value).into_iter().enumerate() {
                fields.push(Field { place: Place::Query(key.clone(), nth), sign: sign.to_owned(), value });
            }
        }
        fields
    }

    /// The URLs' value at one place.
    #[must_use]
    pub fn field<'a>(&self, path_and_query: &'a str, place: &Place) -> Option<Field<'a>> {
        self.fields(path_and_query).into_iter().find(|field| field.place == *place)
    }

    /// Names of the parameters.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.query.iter().map(|(key, _)| key.as_str())
    }

    /// The form of a parameter's value.
    #[must_use]
    pub fn form_of(&self, key: &str) -> Option<&str> {
        self.query.iter().find(|(own, _)| own == key).map(|(_, form)| form.as_str())
    }

    /// Number of places.
    #[must_use]
    pub fn places(&self) -> usize {
        let count = |form: &str| form.matches('{').count();
        count(&self.path) + self.query.iter().map(|(_, form)| count(form)).sum::<usize>()
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        for (index, (key, form)) in self.query.iter().enumerate() {
            let separator = if index == 0 {
                "?"
            } else if self.by_semicolons {
                ";"
            } else {
                "&"
            };
            let equals = if key.is_empty() { "" } else { "=" };
            write!(f, "{separator}{key}{equals}{form}")?;
        }
        Ok(())
    }
}

/// Where a word stands: the shape in front of it, and what is the same behind it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum WordPlace {
    Segment { front: String, index: usize, segments: usize, extension: String },
    Value { path: String, key: String },
}

impl WordPlace {
    /// More different words than this are one.
    fn words_max(&self) -> usize {
        match self {
            Self::Segment { index: 0, .. } => TOP_WORDS_MAX,
            _ => WORDS_MAX,
        }
    }

    /// Programs are told apart by these values.
    fn is_fixed(&self) -> bool {
        matches!(self, Self::Value { key, .. } if is_router(key))
    }
}

/// Makes shapes, and finds out which places have many words.
#[derive(Debug, Default)]
pub struct Shaper {
    words: HashMap<WordPlace, HashSet<String>>,
    merged: HashSet<WordPlace>,
}

impl Shaper {
    /// The shape of a URL. Its words are counted.
    pub fn shape(&mut self, path_and_query: &str) -> Rc<Shape> {
        let parts = Parts::of(path_and_query);
        let segments = parts.segments.len();
        let mut path = String::new();
        for (index, (stem, extension)) in parts.segments.iter().enumerate() {
            let mut form = form(stem);
            if has_letters(&form) && !is_program(extension) {
                let place =
                    WordPlace::Segment { front: path.clone(), index, segments, extension: (*extension).to_owned() };
                form = self.word(place, form);
            }
            path.extend(["/", &form, extension]);
        }
        let mut query = Vec::with_capacity(parts.pairs.len());
        for (key, value) in &parts.pairs {
            let mut form = form(value);
            if has_letters(&form) {
                form = self.word(WordPlace::Value { path: path.clone(), key: (*key).to_owned() }, form);
            }
            query.push(((*key).to_owned(), form));
        }
        Rc::new(Shape { path, query, by_semicolons: parts.by_semicolons })
    }

    fn word(&mut self, place: WordPlace, form: String) -> String {
        if self.merged.contains(&place) {
            return "{w}".to_owned();
        }
        self.words.entry(place).or_default().insert(form.clone());
        form
    }

    /// Merges the words of places that have too many. True if there were any: all shapes are to be made again.
    pub fn merge(&mut self) -> bool {
        let many: Vec<WordPlace> = self
            .words
            .iter()
            .filter(|(place, words)| !place.is_fixed() && words.len() > place.words_max())
            .map(|(place, _)| place.clone())
            .collect();
        let has_merged = !many.is_empty();
        if has_merged {
            self.merged.extend(many);
            self.words.clear();
        }
        has_merged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_words_at_one_place_are_one_but_actions_are_not() {
        let mut shaper = Shaper::default();
        let names = "ana bea cleo dora eva fay gina hedi ida joy kim lea mia".split(' ');
        for name in names.clone() {
            shaper.shape(&format!("/list/user/{name}"));
            shaper.shape(&format!("/index.php?action={name}"));
        }
        assert!(shaper.merge());
        assert_eq!(shaper.shape("/list/user/zoe").to_string(), "/list/user/{w}");
        assert_eq!(shaper.shape("/index.php?action=zoe").to_string(), "/index.php?action=zoe");
        assert!(!shaper.merge());
    }

    #[test]
    fn fields_are_named_by_their_places() {
        let mut shaper = Shaper::default();
        let shape = shaper.shape("/index.php?board=1.20&x=ab12cd34ef");
        let fields = shape.fields("/index.php?board=3.40&x=ff12cd34ef");
        let told: Vec<_> = fields.iter().map(|field| (field.place.clone(), field.value)).collect();
        assert_eq!(
            told,
            [
                (Place::Query("board".into(), 0), "3"),
                (Place::Query("board".into(), 1), "40"),
                (Place::Query("x".into(), 0), "ff12cd34ef"),
            ]
        );
    }
}

//! Word lists as data: tables under `models/words/`, one row per phrase. A table is parsed once, and each topic is searched with one
//! automaton.
//!
//! A row is `topic[, topic] ⇥ language[, language] ⇥ phrase ⇥ source`. Languages are BCP 47 codes, `und` for symbols and names. Spaces
//! around a phrase belong to it. Lines that start with `#` are comments; `#: topic ⇥ text` describes a topic.

use std::collections::{HashMap, HashSet};
use std::ops::Deref;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// A table: its name and its text.
struct Table {
    name: &'static str,
    text: &'static str,
    /// The phrases of each topic, in row order.
    topics: OnceLock<HashMap<&'static str, Vec<&'static str>>>,
}

macro_rules! tables {
    ($($name:literal),+) => {
        [$(Table {
            name: $name,
            text: include_str!(concat!("../../models/words/", $name, ".tsv")),
            topics: OnceLock::new(),
        }),+]
    };
}

static TABLES: [Table; 11] =
    tables!["board", "control", "form", "gone", "login", "name", "price", "time", "address", "source", "stated"];

/// A row of a table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    topics: &'static str,
    languages: &'static str,
    pub phrase: &'static str,
}

impl Row {
    fn read(line: &'static str) -> Option<Self> {
        let mut columns = line.split('\t');
        let row = Self { topics: columns.next()?, languages: columns.next()?, phrase: columns.next()? };
        (!line.starts_with('#')).then_some(row)
    }

    /// The topics of the phrase, in the order of the row.
    pub fn topics(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.topics.split(", ")
    }

    pub fn languages(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.languages.split(", ")
    }
}

/// The rows of a table, in order; none if there is no such table.
pub fn rows(table: &str) -> impl Iterator<Item = Row> + use<> {
    named(table).into_iter().flat_map(|of| of.text.lines()).filter_map(Row::read)
}

/// The phrases of a topic, in row order; none if there is no such topic.
#[must_use]
pub fn phrases(table: &str, topic: &str) -> Vec<&'static str> {
    named(table).map(|of| of.phrases(topic)).unwrap_or_default()
}

fn named(table: &str) -> Option<&'static Table> {
    TABLES.iter().find(|of| of.name == table)
}

impl Table {
    fn phrases(&self, topic: &str) -> Vec<&'static str> {
        let topics = self.topics.get_or_init(|| {
            let mut topics: HashMap<&str, Vec<&str>> = HashMap::new();
            for row in rows(self.name) {
                row.topics().for_each(|topic| topics.entry(topic).or_default().push(row.phrase));
            }
            topics
        });
        topics.get(topic).cloned().unwrap_or_default()
    }
}

/// The phrases of a topic and the automaton that finds them.
pub struct Words {
    phrases: Vec<&'static str>,
    /// Length of the longest phrase in bytes.
    longest: usize,
    whole: OnceLock<HashSet<&'static str>>,
    search: OnceLock<AhoCorasick>,
}

impl Words {
    /// The phrases of a topic; the case of the topic's name is ignored. Empty if it has no rows, which the test of
    /// [`topics!`](crate::topics) detects.
    #[must_use]
    pub fn of(table: &str, topic: &str) -> Self {
        let phrases = phrases(table, &topic.to_ascii_lowercase());
        let longest = phrases.iter().map(|phrase| phrase.len()).max().unwrap_or_default();
        Self { phrases, longest, whole: OnceLock::new(), search: OnceLock::new() }
    }

    fn search(&self) -> &AhoCorasick {
        // An NFA is half as large as a DFA and ten times as fast to build. A search is refused from 2³¹ states on.
        let build = || AhoCorasick::builder().kind(Some(AhoCorasickKind::ContiguousNFA)).build(&self.phrases);
        self.search.get_or_init(|| build().expect("a topic has few words"))
    }
}

/// A topic of a table: its phrases in order, and searches for them. Made by [`topics!`](crate::topics).
#[derive(Clone, Copy)]
pub struct Topic(fn() -> &'static Words);

impl Deref for Topic {
    type Target = [&'static str];

    fn deref(&self) -> &Self::Target {
        &(self.0)().phrases
    }
}

impl Topic {
    #[must_use]
    pub const fn new(words: fn() -> &'static Words) -> Self {
        Self(words)
    }

    /// True if the whole text is one of the phrases.
    #[must_use]
    pub fn has(&self, text: &str) -> bool {
        let words = (self.0)();
        text.len() <= words.longest
            && words.whole.get_or_init(|| words.phrases.iter().copied().collect()).contains(text)
    }

    /// True if the text contains one of the phrases.
    #[must_use]
    pub fn are_in(&self, text: &str) -> bool {
        (self.0)().search().is_match(text)
    }

    /// The first phrase, in row order, that the text contains.
    #[must_use]
    pub fn first_in(&self, text: &str) -> Option<&'static str> {
        let found = (self.0)().search().find_overlapping_iter(text).map(|found| found.pattern().as_usize());
        found.min().map(|first| self[first])
    }

    /// True if a word of the label starts with one of the phrases, or, with `whole`, is one. Phrases in scripts
    /// without letter case match anywhere.
    #[must_use]
    pub fn are_said_in(&self, label: &str, whole: bool) -> bool {
        let has_cases = |c: char| c.is_alphanumeric() && (c.is_ascii() || c.is_lowercase() || c.is_uppercase());
        (self.0)().search().find_overlapping_iter(label).any(|found| {
            let word = self[found.pattern().as_usize()];
            let begins = !word.starts_with(has_cases) || !label[..found.start()].ends_with(has_cases);
            // A number must match whole: 21 is no part of 2104.
            let is_whole = whole || word.ends_with(|c: char| c.is_ascii_digit());
            let ends = !is_whole || !word.ends_with(has_cases) || !label[found.end()..].starts_with(has_cases);
            begins && ends
        })
    }
}

/// Something to search for in a text: a topic, or a few words from the code.
pub trait Phrases {
    fn are_in(&self, text: &str) -> bool;
}

impl Phrases for Topic {
    fn are_in(&self, text: &str) -> bool {
        Self::are_in(self, text)
    }
}

impl Phrases for &[&str] {
    fn are_in(&self, text: &str) -> bool {
        self.iter().any(|phrase| text.contains(phrase))
    }
}

/// Declares topics of the tables as constants under the same names: `topics! { pub login: WRONG, LOCKED; }`. A test
/// finds topics without rows.
#[macro_export]
macro_rules! topics {
    ($($vis:vis $table:ident: $($name:ident),+ ;)+) => {
        $($($vis const $name: $crate::words::Topic = $crate::words::Topic::new({
            fn words() -> &'static $crate::words::Words {
                static WORDS: std::sync::LazyLock<$crate::words::Words> =
                    std::sync::LazyLock::new(|| $crate::words::Words::of(stringify!($table), stringify!($name)));
                &WORDS
            }
            words
        });)+)+

        #[cfg(test)]
        #[test]
        fn every_topic_has_rows() {
            $($(assert!(!$name.is_empty(), "models/words/{}.tsv: no topic {}", stringify!($table), stringify!($name));)+)+
        }
    };
}

#[cfg(test)]
mod tests;

//! Endpoint shortcuts: which request brings what a page's scripts show, how its answer maps to the page's links, how it pages
//! (ALGORITHMS §5). Learned from renders, then used in place of them.
//!
//! ```text
//! renders ─ Observation ─ learn (families of requests → slots → templates; links → templates of records; turns) ─ Endpoint
//! Endpoint ─ Call::fill → [crawl asks] → Endpoint::read → links, next request … ;  Endpoint::explains: replayed on a render
//! ```
//!
//! An endpoint is exact or it is none: it is kept only if, replayed on what each observed render asked and was answered, it asks the same
//! and gives the same links. `book` keeps what is learned of each class and says when a render is due that checks it. Pure: fetches
//! nothing, waits for nothing, and the time is an argument.

pub mod book;
pub mod call;
pub mod endpoint;
mod facts;
mod filled;
mod kept;
mod learn;
mod leaves;
mod links;
mod pages;
pub mod pattern;
pub mod place;
pub mod rests;
pub mod rows;
pub mod template;
mod tokens;
mod turns;
mod unread;
pub mod visits;
pub mod written;

use std::collections::{BTreeMap, HashMap};

use serde_json::Value as Json;
use url::Url;

pub use book::{Book, Event};
pub use endpoint::Endpoint;
pub use learn::{kind_of, learn};
pub use tokens::{is_of_access, secrets};

use crate::limits;

/// What a link on a page is to the crawl: its key, or `None` where the rules do not take it. Equal links have equal keys.
pub type Normal<'a> = &'a dyn Fn(&Url, &str) -> Option<String>;

/// A link that the crawl takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub key: String,
    /// As it stands: of a magnet with its names.
    pub text: String,
}

/// A request of a page's scripts, and its answer.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub method: String,
    pub url: String,
    /// Those that the script has set.
    pub headers: Vec<(String, String)>,
    pub body: String,
    pub status: u16,
    pub answer: String,
}

impl Exchange {
    /// Memory that it takes, in bytes, roughly.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let headers: usize = self.headers.iter().map(|(name, value)| name.len() + value.len() + 48).sum();
        self.method.len() + self.url.len() + headers + self.body.len() + self.answer.len() + size_of::<Self>()
    }
}

/// What one render has shown.
#[derive(Clone, Debug)]
pub struct Observation {
    pub page: Url,
    /// The page's own markup.
    pub html: String,
    /// Cookies that scripts may see.
    pub cookies: Vec<(String, String)>,
    /// When the page's clock began, in milliseconds since 1970.
    pub now_ms: i64,
    /// In their order.
    pub exchanges: Vec<Exchange>,
    /// Answers beyond what is remembered, by the kind of their requests: links that no other bears may be theirs.
    pub unread: BTreeMap<String, usize>,
    /// Links of the page without its scripts, and with them.
    pub shell: Vec<Link>,
    pub links: Vec<Link>,
}

impl Observation {
    /// Memory that it takes, in bytes, roughly.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let exchanges = self.exchanges.iter().map(Exchange::bytes);
        let links = self.shell.iter().chain(&self.links).map(|link| link.key.len() + link.text.len() + 48);
        self.html.len() + exchanges.sum::<usize>() + links.sum::<usize>()
    }

    /// Keys and texts of the page's links.
    fn keys(&self) -> HashMap<&str, &str> {
        self.links.iter().map(|link| (link.key.as_str(), link.text.as_str())).collect()
    }
}

/// An answer, as far as links can be read from it.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Json(Json),
    Html(String),
    /// Nothing at all, which is how a list without a record is written where each stands on a line.
    Empty,
    Other,
}

impl Answer {
    /// Reads an answer: JSON, JSON within a call of a function (JSONP) or behind a guard against being run as a script, or markup.
    #[must_use]
    pub fn of(text: &str) -> Self {
        const GUARDS: [&str; 5] = [")]}',", ")]}'", "for(;;);", "while(1);", "{}&&"];
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            return Self::Empty;
        }
        if text.starts_with('<') {
            return Self::Html(text.to_owned());
        }
        let bare = GUARDS.iter().find_map(|guard| text.strip_prefix(guard)).unwrap_or(text);
        let json = serde_json::from_str(bare).ok().or_else(|| serde_json::from_str(callback(bare)?.1).ok());
        let json = json.or_else(|| lines(bare));
        json.filter(|json: &Json| json.is_object() || json.is_array()).map_or(Self::Other, Self::Json)
    }

    fn json(&self) -> Option<&Json> {
        match self {
            Self::Json(json) => Some(json),
            _ => None,
        }
    }
}

/// The list that a text of several lines is which are JSON each (NDJSON).
fn lines(text: &str) -> Option<Json> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<Json> = lines.map(|line| serde_json::from_str(line).ok()).collect::<Option<_>>()?;
    (lines.len() > 1).then_some(Json::Array(lines))
}

/// The name and the argument of `name({…});`, with a comment in front as some servers put it.
fn callback(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix("/**/").unwrap_or(text).trim_start();
    let text = text.strip_prefix("typeof").and_then(|rest| rest.split_once("&&")).map_or(text, |(_, rest)| rest.trim());
    let (name, rest) = text.split_once('(')?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '[' | ']' | '"' | '\'');
    let argument = rest.trim_end().trim_end_matches(';').trim_end().strip_suffix(')')?;
    (!name.is_empty() && name.len() <= 200 && name.trim().chars().all(is_name)).then(|| (name.trim(), argument))
}

/// Whether an answer to a script tag is data rather than a script: what is worth observing.
#[must_use]
pub fn is_data(text: &str) -> bool {
    text.len() <= limits::SHORTCUT_ANSWER_BYTES_MAX && matches!(Answer::of(text), Answer::Json(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_in_every_dress() {
        let json = Answer::Json(serde_json::json!({ "a": [1] }));
        for text in [
            "{\"a\":[1]}",
            "\u{feff} {\"a\":[1]}\n",
            ")]}',\n{\"a\":[1]}",
            "for(;;);{\"a\":[1]}",
            "jQuery37_123({\"a\":[1]});",
            "/**/ typeof cb === 'function' && cb({\"a\":[1]});",
            "window.cb['x']({\"a\":[1]})",
        ] {
            assert_eq!(Answer::of(text), json, "{text}");
        }
        let rows = Answer::Json(serde_json::json!([{ "a": 1 }, { "a": 2 }]));
        assert_eq!(Answer::of("{\"a\":1}\r\n{\"a\":2}\n\n"), rows);
        assert_eq!(Answer::of(" <li>"), Answer::Html("<li>".into()));
        for text in ["7", "{\"a\":1}\nend", "{\n}\n{\n}", "var a = 1;", "(function(){})()", "f({)"] {
            assert_eq!(Answer::of(text), Answer::Other, "{text}");
        }
        assert_eq!(Answer::of("\u{feff}\n"), Answer::Empty);
        assert!(is_data("cb([])") && !is_data("let x = f(1);"));
    }
}

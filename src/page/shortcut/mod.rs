//! Endpoint shortcuts: the request that gets what a page's scripts show, the mapping of its response to the page's
//! links, and its pagination (ALGORITHMS §5). Learned from renders, then used instead of them.
//!
//! ```text
//! renders ─ Observation ─ learn (families of requests → slots → templates; links → templates of records; turns) ─ Endpoint
//! Endpoint ─ Call::fill → [crawl asks] → Endpoint::read → links, next request … ;  Endpoint::explains: replayed on a render
//! ```
//!
//! An endpoint must be exact: it is kept only if a replay on the requests and responses of each observed render makes
//! the same requests and gives the same links. `book` stores what is learned of each class and decides when a
//! checking render is due. Pure: fetches nothing, waits for nothing, and the time is an argument.

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

pub use book::{ClassShortcuts, Event};
pub use endpoint::Endpoint;
pub use learn::{kind_of, learn};
pub use tokens::{is_of_access, secrets};

use crate::limits;

/// The key of a link on a page, or `None` if the rules reject it. Equal links have equal keys.
pub type Normal<'a> = &'a dyn Fn(&Url, &str) -> Option<String>;

/// A link that the rules accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub key: String,
    /// As written: for a magnet with its names.
    pub text: String,
}

/// A request of a page's scripts, and its response.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub method: String,
    pub url: String,
    /// Headers set by the script.
    pub headers: Vec<(String, String)>,
    pub body: String,
    pub status: u16,
    pub answer: String,
}

impl Exchange {
    /// Approximate memory in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let headers: usize = self.headers.iter().map(|(name, value)| name.len() + value.len() + 48).sum();
        self.method.len() + self.url.len() + headers + self.body.len() + self.answer.len() + size_of::<Self>()
    }
}

/// The data of one render.
#[derive(Clone, Debug)]
pub struct Observation {
    pub page: Url,
    /// The page's own markup.
    pub html: String,
    /// Cookies that scripts may see.
    pub cookies: Vec<(String, String)>,
    /// When the page's clock started, in milliseconds since 1970.
    pub now_ms: i64,
    /// In order.
    pub exchanges: Vec<Exchange>,
    /// Number of responses beyond the storage limit, by the kind of their requests: links without another source may
    /// be theirs.
    pub unread: BTreeMap<String, usize>,
    /// Links of the page without its scripts, and with them.
    pub shell: Vec<Link>,
    pub links: Vec<Link>,
}

impl Observation {
    /// Approximate memory in bytes.
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

/// A response, parsed for links.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Json(Json),
    Html(String),
    /// Empty, which is how a list without records looks if each is on its own line.
    Empty,
    Other,
}

impl Answer {
    /// Parses a response: JSON, JSON within a function call (JSONP) or after a guard against execution as a script,
    /// or markup.
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

/// The list in a text of several lines that are JSON each (NDJSON).
fn lines(text: &str) -> Option<Json> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<Json> = lines.map(|line| serde_json::from_str(line).ok()).collect::<Option<_>>()?;
    (lines.len() > 1).then_some(Json::Array(lines))
}

/// The name and the argument of `name({…});`, with an optional leading comment as sent by some servers.
fn callback(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix("/**/").unwrap_or(text).trim_start();
    let text = text.strip_prefix("typeof").and_then(|rest| rest.split_once("&&")).map_or(text, |(_, rest)| rest.trim());
    let (name, rest) = text.split_once('(')?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '[' | ']' | '"' | '\'');
    let argument = rest.trim_end().trim_end_matches(';').trim_end().strip_suffix(')')?;
    (!name.is_empty() && name.len() <= 200 && name.trim().chars().all(is_name)).then(|| (name.trim(), argument))
}

/// Whether the response to a script tag is data rather than a script, and so worth observing.
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

//! Texts with holes: they form a request from a page's address, and a link from a record of a response.
//!
//! ```text
//! /torrent/{id}                    a member of the record, unchanged; {^.id} of the enclosing record, {.} the record itself
//! {@name}  {^.@name}               the record's name in the object that contains it
//! {title %}  {title +}  {title \}  percent-encoded as a URL component; as a form field; escaped as in a JSON string
//! {@query.page|1 * 50 - 50}        a parameter of the page's address, default 1; times fifty, minus fifty
//! {@path.1}  {@path.1#0}           a segment of its path, from 0; the first number in it
//! {@meta.csrf-token}  {@attribute.data-token}  {@script.apiKey}  {@cookie.XSRF-TOKEN}     tokens of the page
//! {@before.data.token}             a place in the response to the request before
//! {@now}  {@now_ms}  {@callback}   seconds, milliseconds since 1970; the name of the JSONP function
//! {{  }}                           braces
//! ```

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value as Json;
use url::Url;

use super::facts;
use super::leaves;
use super::place::{Element, JsonPath, scalar};
use crate::limits;

/// Characters that `encodeURIComponent` keeps.
pub(super) const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A member of the record this many lists further out.
    Field(usize, JsonPath),
    /// The name of that record in its object.
    Name(usize),
    Query(String),
    Segment(usize),
    /// The n-th run of digits in a segment.
    Number(usize, usize),
    Meta(String),
    Attribute(String),
    Script(String),
    Cookie(String),
    Before(JsonPath),
    Now,
    NowMs,
    Callback,
}

/// The encoding of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    #[default]
    Plain,
    Percent,
    Form,
    /// As within a JSON string.
    Json,
}

/// A hole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    pub source: Source,
    pub encoding: Encoding,
    /// The value if the source is missing.
    pub default: Option<i64>,
    pub times: i64,
    pub plus: i64,
}

impl Value {
    /// The unchanged value.
    #[must_use]
    pub fn of(source: Source) -> Self {
        Self { source, encoding: Encoding::Plain, default: None, times: 1, plus: 0 }
    }
}

/// A text or a hole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    Hole(Value),
}

/// A text with holes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template(pub Vec<Piece>);

/// The sources for the holes.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    pub page: &'a Url,
    /// The page's own markup; empty if it was not requested.
    pub html: &'a str,
    pub cookies: &'a [(String, String)],
    pub now_ms: i64,
    pub before: Option<&'a Json>,
    /// The record, after its enclosing records.
    pub record: &'a [Element<'a>],
}

impl<'a> Scope<'a> {
    /// What is known about a page before any request.
    #[must_use]
    pub fn of(page: &'a Url, html: &'a str, cookies: &'a [(String, String)], now_ms: i64) -> Self {
        Self { page, html, cookies, now_ms, before: None, record: &[] }
    }
}

impl Template {
    /// A text without holes.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self(vec![Piece::Text(text.to_owned())])
    }

    /// A single hole.
    #[must_use]
    pub fn hole(value: Value) -> Self {
        Self(vec![Piece::Hole(value)])
    }

    /// The text, if it has no holes.
    #[must_use]
    pub fn constant(&self) -> Option<String> {
        let texts = self.0.iter().map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            Piece::Hole(_) => None,
        });
        texts.collect()
    }

    /// The sources of its holes.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Hole(value) => Some(&value.source),
            Piece::Text(_) => None,
        })
    }

    /// Whether it differs each time, so that two values are not compared.
    #[must_use]
    pub fn is_fleeting(&self) -> bool {
        self.sources().any(|source| matches!(source, Source::Now | Source::NowMs | Source::Callback))
    }

    /// The text with its holes filled; `None` if a value is missing.
    #[must_use]
    pub fn fill(&self, scope: &Scope<'_>) -> Option<String> {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Hole(value) => text.push_str(&value.fill(scope)?),
            }
            if text.len() > 4 * limits::URL_BYTES_MAX {
                return None;
            }
        }
        Some(text)
    }

    /// Parses a template as written by a person.
    ///
    /// # Errors
    /// A description of the error.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > limits::SHORTCUT_TEMPLATE_BYTES_MAX {
            return Err(format!("longer than {} bytes", limits::SHORTCUT_TEMPLATE_BYTES_MAX));
        }
        let (mut pieces, mut literal, mut rest) = (Vec::new(), String::new(), text);
        while let Some(at) = rest.find(['{', '}']) {
            literal.push_str(&rest[..at]);
            let (brace, behind) = rest[at..].split_at(1);
            if let Some(behind) = behind.strip_prefix(brace) {
                literal.push_str(brace);
                rest = behind;
                continue;
            }
            let hole = (brace == "{").then(|| behind.split_once('}')).flatten();
            let Some((inner, behind)) = hole else {
                return Err(format!("`{text}` has a brace alone; write {brace}{brace} where a brace is meant"));
            };
            if !literal.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut literal)));
            }
            pieces.push(Piece::Hole(Value::parse(inner)?));
            rest = behind;
        }
        literal.push_str(rest);
        if !literal.is_empty() || pieces.is_empty() {
            pieces.push(Piece::Text(literal));
        }
        Ok(Self(pieces))
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => f.write_str(&text.replace('{', "{{").replace('}', "}}"))?,
                Piece::Hole(value) => write!(f, "{{{value}}}")?,
            }
        }
        Ok(())
    }
}

impl Value {
    fn fill(&self, scope: &Scope<'_>) -> Option<String> {
        let raw = match self.source.read(scope) {
            Some(raw) => raw,
            None => return self.default.and_then(|number| self.reckon(number)).map(|number| number.to_string()),
        };
        let text = if (self.times, self.plus) == (1, 0) { raw } else { self.reckon(raw.parse().ok()?)?.to_string() };
        Some(match self.encoding {
            Encoding::Plain => text,
            Encoding::Percent => utf8_percent_encode(&text, COMPONENT).to_string(),
            Encoding::Form => url::form_urlencoded::byte_serialize(text.as_bytes()).collect(),
            Encoding::Json => leaves::escaped(&text),
        })
    }

    fn reckon(&self, number: i64) -> Option<i64> {
        number.checked_mul(self.times)?.checked_add(self.plus)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let first = words.next().ok_or("a hole is empty: name a value in it")?;
        let (name, default) = match first.rsplit_once('|') {
            Some((name, number)) => {
                let number = number.parse().map_err(|_| format!("`{number}` after | is not a whole number"))?;
                (name, Some(number))
            }
            None => (first, None),
        };
        let mut value = Self { default, ..Self::of(Source::parse(name)?) };
        while let Some(word) = words.next() {
            let mut number = || {
                let word = words.next().unwrap_or_default();
                word.parse::<i64>().map_err(|_| format!("`{text}` lacks a whole number after its sign"))
            };
            match word {
                "%" => value.encoding = Encoding::Percent,
                "\\" => value.encoding = Encoding::Json,
                "*" => value.times = number()?,
                "-" => value.plus = number()?.checked_neg().ok_or("the number is too large")?,
                "+" => match number() {
                    Ok(plus) => value.plus = plus,
                    // At the end it is an encoding.
                    Err(_) => value.encoding = Encoding::Form,
                },
                other => return Err(format!("`{other}` in `{{{text}}}` is none of * + - % \\")),
            }
        }
        Ok(value)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.source)?;
        if let Some(default) = self.default {
            write!(f, "|{default}")?;
        }
        if self.times != 1 {
            write!(f, " * {}", self.times)?;
        }
        match self.plus {
            0 => {}
            plus if plus < 0 => write!(f, " - {}", plus.unsigned_abs())?,
            plus => write!(f, " + {plus}")?,
        }
        f.write_str(match self.encoding {
            Encoding::Plain => "",
            Encoding::Percent => " %",
            Encoding::Form => " +",
            Encoding::Json => " \\",
        })
    }
}

impl Source {
    /// The current value; `None` if there is none.
    #[must_use]
    pub fn read(&self, scope: &Scope<'_>) -> Option<String> {
        match self {
            Self::Field(up, place) => {
                let at = scope.record.len().checked_sub(up + 1)?;
                scalar(place.get(scope.record.get(at)?.value)?).map(std::borrow::Cow::into_owned)
            }
            Self::Name(up) => {
                let at = scope.record.len().checked_sub(up + 1)?;
                scope.record.get(at)?.name.filter(|name| !name.is_empty()).map(str::to_owned)
            }
            Self::Query(name) => {
                let mut pairs = scope.page.query_pairs();
                pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
            }
            Self::Segment(at) => {
                let segment = scope.page.path_segments()?.nth(*at)?;
                Some(percent_decode_str(segment).decode_utf8_lossy().into_owned())
            }
            Self::Number(at, number) => {
                let segment = scope.page.path_segments()?.nth(*at)?;
                numbers(segment).nth(*number).map(str::to_owned)
            }
            Self::Meta(_) | Self::Attribute(_) | Self::Script(_) => facts::of(scope.html, self),
            Self::Cookie(name) => {
                let found = scope.cookies.iter().find(|(key, _)| key == name);
                found.map(|(_, value)| percent_decode_str(value).decode_utf8_lossy().into_owned())
            }
            Self::Before(place) => scalar(place.get(scope.before?)?).map(std::borrow::Cow::into_owned),
            Self::Now => Some((scope.now_ms / 1_000).to_string()),
            Self::NowMs => Some(scope.now_ms.to_string()),
            Self::Callback => Some("gleaner".to_owned()),
        }
    }

    /// Whether it is on the page itself, which must then be requested.
    #[must_use]
    pub fn needs_page(&self) -> bool {
        matches!(self, Self::Meta(_) | Self::Attribute(_) | Self::Script(_))
    }

    /// Whether it may differ with each visit: a token, or the time.
    #[must_use]
    pub fn is_of_visit(&self) -> bool {
        self.needs_page()
            || matches!(self, Self::Cookie(_) | Self::Before(_) | Self::Now | Self::NowMs | Self::Callback)
    }

    fn parse(text: &str) -> Result<Self, String> {
        const HINT: &str =
            "@name, @query, @path, @meta, @attribute, @script, @cookie, @before, @now, @now_ms, @callback";
        let Some(special) = text.strip_prefix('@') else {
            let inner = text.trim_start_matches('^');
            let up = text.len() - inner.len();
            let inner = if up > 0 { inner.strip_prefix('.').unwrap_or(inner) } else { inner };
            if up > 0 && inner == "@name" {
                return Ok(Self::Name(up));
            }
            return Ok(Self::Field(up, JsonPath::parse(inner)?));
        };
        let (kind, name) = special.split_once('.').unwrap_or((special, ""));
        let named = || if name.is_empty() { Err(format!("`@{kind}` lacks a name")) } else { Ok(name.to_owned()) };
        let number = |text: &str| text.parse().map_err(|_| format!("`{text}` in `@{special}` is not a number from 0"));
        Ok(match kind {
            "query" => Self::Query(named()?),
            "path" => match name.split_once('#') {
                Some((at, run)) => Self::Number(number(at)?, number(run)?),
                None => Self::Segment(number(name)?),
            },
            "meta" => Self::Meta(named()?),
            "attribute" => Self::Attribute(named()?),
            "script" => Self::Script(named()?),
            "cookie" => Self::Cookie(named()?),
            "before" => Self::Before(JsonPath::parse(&named()?)?),
            "name" => Self::Name(0),
            "now" => Self::Now,
            "now_ms" => Self::NowMs,
            "callback" => Self::Callback,
            _ => return Err(format!("`@{kind}` is none of {HINT}")),
        })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(0, place) => write!(f, "{place}"),
            Self::Field(up, place) => write!(f, "{}.{place}", "^".repeat(*up)),
            Self::Name(0) => f.write_str("@name"),
            Self::Name(up) => write!(f, "{}.@name", "^".repeat(*up)),
            Self::Query(name) => write!(f, "@query.{name}"),
            Self::Segment(at) => write!(f, "@path.{at}"),
            Self::Number(at, run) => write!(f, "@path.{at}#{run}"),
            Self::Meta(name) => write!(f, "@meta.{name}"),
            Self::Attribute(name) => write!(f, "@attribute.{name}"),
            Self::Script(name) => write!(f, "@script.{name}"),
            Self::Cookie(name) => write!(f, "@cookie.{name}"),
            Self::Before(place) => write!(f, "@before.{place}"),
            Self::Now => f.write_str("@now"),
            Self::NowMs => f.write_str("@now_ms"),
            Self::Callback => f.write_str("@callback"),
        }
    }
}

/// The runs of digits in a segment of a path.
pub(super) fn numbers(segment: &str) -> impl Iterator<Item = &str> {
    segment.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty() && run.len() <= 18)
}

/// Whether a name can be written in a hole.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control() || "{}|#".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_read_as_it_is_written_and_filled() {
        let page = Url::parse("https://h.example/list/page-3?cat=a%20b&page=4").unwrap();
        let record =
            serde_json::json!({ "id": 7, "quoted": "a \"b\"\n", "title": "a b&c", "links": { "download": "/d/7" } });
        let around = serde_json::json!({ "id": 1 });
        let cookies = [("t".to_owned(), "x%3D".to_owned())];
        let chain = [Element { value: &around, name: Some("g x") }, Element { value: &record, name: Some("17") }];
        let scope = Scope { record: &chain, ..Scope::of(&page, "<meta name=csrf content='tok'>", &cookies, 5_000) };
        for (text, filled) in [
            ("/t/{id}/{title %}", "/t/7/a%20b%26c"),
            ("{links.download}?{title +}", "/d/7?a+b%26c"),
            ("{^.id}-{id}", "1-7"),
            ("{@name}/{^.@name %}", "17/g%20x"),
            ("{@query.page|1 * 50 - 50}", "150"),
            ("{@query.none|1 * 50 - 50}", "0"),
            ("{@path.1#0}{@path.0}{@query.cat}", "3lista b"),
            ("{@meta.csrf}{@cookie.t}{@now}", "tokx=5"),
            ("{{{id}}}", "{7}"),
            ("{^.@name}{quoted \\}", "g xa \\\"b\\\"\\n"),
        ] {
            let template = Template::parse(text).unwrap();
            assert_eq!(template.to_string(), text);
            assert_eq!(template.fill(&scope).as_deref(), Some(filled), "{text}");
        }
        assert_eq!(Template::parse("{missing}").unwrap().fill(&scope), None);
        for bad in ["{", "}", "{}", "{@nothing.x}", "{id ^}", "{id *}", "{@path.x}", "{a|b}", "{@query}"] {
            assert!(Template::parse(bad).is_err(), "{bad}");
        }
    }
}

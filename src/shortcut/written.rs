//! An endpoint as a person writes and reads it: the table `[shortcut.index]` of a site's rule file, what `gleaner rules explain --pin`
//! prints, and what the crawl keeps over restarts.

use std::collections::BTreeMap;

use percent_encoding::{percent_decode_str, utf8_percent_encode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use super::call::{self, Call};
use super::endpoint::{Endpoint, Rule};
use super::pages::{Last, NEAR, Pager};
use super::pattern::Pattern;
use super::place::Place;
use super::template::{COMPONENT, Piece, Source, Template};
use super::turns::{Turn, Turning};
use crate::limits::{SHORTCUT_CONSTANTS_MAX, SHORTCUT_RULES_MAX};

/// Which request brings the data of a class's pages, and how its answer maps to links (docs/render.md).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["url"]))]
pub struct Written {
    /// The pages that it holds for, as `/browse?cat=7&page=*`; `name?=*` may lack. Default: all of the class.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// Address of the data, absolute or from `/` on, with values of the page's address in braces: `/api/list?page={@query.page|1}`.
    #[schemars(length(min = 1))]
    pub url: String,
    /// Default: GET, or POST where `form` or `json` is given.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Request headers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Fields of a form that is posted.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub form: BTreeMap<String, String>,
    /// JSON that is posted, as text; a string `"#{…}"` in it is a number.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<String>,
    /// Where the list of records stands in the answer, as `data.items`. Default: the answer is one record.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<String>,
    /// The links of each record, as `/torrent/{id}`.
    #[schemars(length(max = SHORTCUT_RULES_MAX))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub link: Vec<WrittenLink>,
    /// Places of markup in the answer, as `html` or `rows[*].cell`; `.` where the whole answer is markup.
    #[schemars(length(max = SHORTCUT_RULES_MAX))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub html: Vec<String>,
    /// Links that each page has.
    #[schemars(length(max = SHORTCUT_CONSTANTS_MAX))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constant: Vec<String>,
    /// Whether links of the page's own markup are taken, too; it is then asked for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub with_page: bool,
    /// What is asked before, for a token in its answer that `{@before.PLACE}` names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<WrittenCall>,
    /// How the next page of data is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<WrittenTurn>,
    /// Links to the list's other pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<WrittenPages>,
    /// Values of switches in the answer that are known; with another the page is rendered.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub expect: BTreeMap<String, Vec<String>>,
}

/// A link of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum WrittenLink {
    /// Of the records of `items`.
    Of(String),
    /// Of other records.
    From(WrittenFrom),
}

/// A link of records that stand elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["items", "link"]))]
pub struct WrittenFrom {
    /// Where their list stands; `.` for the whole answer.
    #[schemars(length(min = 1))]
    pub items: String,
    /// The link.
    #[schemars(length(min = 1))]
    pub link: String,
}

/// A request that is made before the one for the data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["url"]))]
pub struct WrittenCall {
    /// Its address.
    #[schemars(length(min = 1))]
    pub url: String,
    /// Default: GET, or POST where `form` or `json` is given.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Request headers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Fields of a form that is posted.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub form: BTreeMap<String, String>,
    /// JSON that is posted, as text.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<String>,
}

/// How a list is turned: a parameter that grows by `step` or takes a `cursor`, or a `next` address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WrittenTurn {
    /// A parameter of the address, as `offset`; `form.offset`, `json.after`, `bare.page` (a number) in what is posted.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// How much it grows.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    /// What it is where the first request lacks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<i64>,
    /// Where the answer says what it becomes.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Where the answer names the whole next address.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Where the answer says `true` while there is more.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<String>,
    /// Where the answer says how many records there are in all.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<String>,
}

/// Links to the other pages of a list, made from a page's own address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["number"]))]
pub struct WrittenPages {
    /// Where the number stands: `@query.page`, or `@path.1#0` for the first number in the second segment.
    #[schemars(length(min = 1))]
    pub number: String,
    /// Number of the first page. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<i64>,
    /// From a page's number to the next, where the number counts records. Default: 1.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    /// How many pages before and behind a page it links to. Default: 10.
    #[schemars(range(min = 1, max = 10))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<i64>,
    /// Whether it links to the first and the last as well. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends: Option<bool>,
    /// Where the answer says the number of the last.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
    /// Where the answer says how many records there are in all; with `size`.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<String>,
    /// Records of a full page: behind a full page there is another.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
    /// Where the answer says whether there is one more.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<String>,
}

/// A fault of a table: its key, what is wrong, what to do.
pub type Fault = (String, String, String);

impl Written {
    /// The endpoint that the table describes.
    ///
    /// # Errors
    /// Every fault of it.
    pub fn endpoint(&self) -> Result<Endpoint, Vec<Fault>> {
        let mut faults: Vec<Fault> = Vec::new();
        let mut fault =
            |key: &str, message: String, hint: &str| faults.push((key.to_owned(), message, hint.to_owned()));
        let on = self.on.as_deref().and_then(|text| match Pattern::parse(text) {
            Some(pattern) => Some(pattern),
            None => {
                fault(
                    "on",
                    format!("`{text}` is no address of a page"),
                    "write it as /browse?cat=7&page=*, with * for what changes",
                );
                None
            }
        });
        let own = WrittenCall {
            url: self.url.clone(),
            method: self.method.clone(),
            headers: self.headers.clone(),
            form: self.form.clone(),
            json: self.json.clone(),
        };
        let call = own.call("", &mut fault);
        let before = self.before.as_ref().map(|before| before.call("before.", &mut fault));
        let items = match &self.items {
            None => Place::default(),
            Some(text) => list(text).unwrap_or_else(|why| {
                fault("items", why, "write it as data.items");
                Place::default()
            }),
        };
        let mut rules = Vec::new();
        for (number, link) in self.link.iter().enumerate() {
            let (key, of) = (format!("link[{number}]"), link);
            let (from, text) = match of {
                WrittenLink::Of(text) => (Ok(items.clone()), text),
                WrittenLink::From(from) => (list(&from.items), &from.link),
            };
            match (from, Template::parse(text)) {
                (Ok(items), Ok(link)) => rules.push(Rule::Link { items, link }),
                (Err(why), _) | (_, Err(why)) => {
                    fault(&key, why, "write it as /torrent/{id}, with a member of the record in braces")
                }
            }
        }
        for (number, text) in self.html.iter().enumerate() {
            match text.as_str() {
                "." => rules.push(Rule::Html(None)),
                text => match Place::parse(text) {
                    Ok(place) => rules.push(Rule::Html(Some(place))),
                    Err(why) => fault(&format!("html[{number}]"), why, "write it as data.html"),
                },
            }
        }
        if rules.is_empty() {
            fault(
                "url",
                "no links are made of the answer".to_owned(),
                "add link = [\"/torrent/{id}\"], or html = [\".\"] where it is markup",
            );
        }
        let turning = self.page.as_ref().and_then(|turn| turn.turning(&mut fault));
        let pages = self.pages.as_ref().and_then(|pages| pages.pager(&mut fault));
        for place in self.expect.keys() {
            if let Err(why) = Place::parse(place) {
                fault("expect", why, "write it as data.more");
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Endpoint {
            on,
            before,
            call,
            rules,
            pages,
            constants: self.constant.clone(),
            with_page: self.with_page,
            turning,
            expect: self.expect.clone(),
        })
    }

    /// The table of an endpoint.
    #[must_use]
    pub fn of(endpoint: &Endpoint) -> Self {
        let own = WrittenCall::of(&endpoint.call);
        let items = endpoint.rules.iter().find_map(|rule| match rule {
            Rule::Link { items, .. } => Some(items),
            Rule::Html(_) => None,
        });
        let link = endpoint.rules.iter().filter_map(|rule| match rule {
            Rule::Link { items: from, link } if Some(from) == items => Some(WrittenLink::Of(link.to_string())),
            Rule::Link { items: from, link } => {
                Some(WrittenLink::From(WrittenFrom { items: list_text(from), link: link.to_string() }))
            }
            Rule::Html(_) => None,
        });
        let html = endpoint.rules.iter().filter_map(|rule| match rule {
            Rule::Html(place) => Some(place.as_ref().map_or_else(|| ".".to_owned(), Place::to_string)),
            Rule::Link { .. } => None,
        });
        Self {
            on: endpoint.on.as_ref().map(Pattern::to_string),
            url: own.url,
            method: own.method,
            headers: own.headers,
            form: own.form,
            json: own.json,
            items: items.filter(|items| !items.0.is_empty()).map(list_text),
            link: link.collect(),
            html: html.collect(),
            constant: endpoint.constants.clone(),
            with_page: endpoint.with_page,
            before: endpoint.before.as_ref().map(WrittenCall::of),
            page: endpoint.turning.as_ref().map(WrittenTurn::of),
            pages: endpoint.pages.as_ref().map(WrittenPages::of),
            expect: endpoint.expect.clone(),
        }
    }
}

/// `data.items` is the list, `data.items[*]` each of its records; so is `groups[*].torrents`.
fn list(text: &str) -> Result<Place, String> {
    let place = Place::parse(text)?;
    Ok(if text == "." || text.ends_with("[*]") { place } else { place.with(super::place::Step::Each) })
}

fn list_text(place: &Place) -> String {
    let text = place.to_string();
    match text.strip_suffix("[*]") {
        Some(list) if !list.is_empty() => list.to_owned(),
        _ => text,
    }
}

impl WrittenCall {
    fn call(&self, table: &str, fault: &mut impl FnMut(&str, String, &str)) -> Call {
        let posts = !self.form.is_empty() || self.json.is_some();
        let method = self.method.clone().unwrap_or_else(|| if posts { "POST" } else { "GET" }.to_owned());
        if !matches!(method.as_str(), "GET" | "POST") {
            fault(
                &format!("{table}method"),
                format!("`{method}` is not sent: a crawl changes nothing"),
                "write GET or POST",
            );
        } else if posts && method == "GET" {
            fault(
                &format!("{table}method"),
                "a GET has neither form nor json".to_owned(),
                "write POST, or take the key out",
            );
        }
        let mut call = Call(vec![("method".to_owned(), Template::text(&method))]);
        match address(&self.url) {
            Ok(slots) => call.0.extend(slots),
            Err(why) => fault(
                &format!("{table}url"),
                why,
                "write it as /api/list?page={@query.page|1}, or with https:// and its host",
            ),
        }
        let type_ = if self.json.is_some() { "application/json" } else { "application/x-www-form-urlencoded" };
        let usual = posts.then(|| ("content-type".to_owned(), Template::text(type_)));
        let mut headers: BTreeMap<String, Template> = usual.into_iter().collect();
        for (name, value) in &self.headers {
            let (key, low) = (format!("{table}headers.{name}"), name.to_ascii_lowercase());
            match Template::parse(value) {
                Ok(template) if matches!(low.as_str(), "authorization" | "cookie") && template.constant().is_some() => {
                    let hint = "take it out: secrets never stand in rule files";
                    fault(&key, format!("the header `{name}` holds a secret"), hint);
                }
                Ok(template) => {
                    headers.insert(low, template);
                }
                Err(why) => fault(&key, why, "write braces as {{ and }}"),
            }
        }
        call.0.extend(headers.into_iter().map(|(name, template)| (format!("header.{name}"), template)));
        for (name, value) in &self.form {
            match Template::parse(value) {
                Ok(template) => call.0.push((format!("form.{name}"), template)),
                Err(why) => fault(&format!("{table}form.{name}"), why, "write braces as {{ and }}"),
            }
        }
        if let Some(text) = &self.json {
            let key = format!("{table}json");
            let slots = call::slots("POST", "http://shortcut.invalid/", &[], text).unwrap_or_default();
            let body: Vec<_> =
                slots.iter().filter(|(name, _)| name.starts_with("json.") || name.starts_with("bare.")).collect();
            if body.is_empty() {
                fault(&key, "this is no JSON object".to_owned(), "write it as '{\"page\": \"#{@query.page|1}\"}'");
            }
            for (name, value) in body {
                let number = value.strip_prefix('#').filter(|rest| rest.starts_with('{') && !rest.starts_with("{{"));
                let (name, read) = match (name.strip_prefix("json."), number) {
                    (Some(place), Some(number)) => (format!("bare.{place}"), Template::parse(number)),
                    (Some(_), None) => (name.clone(), Template::parse(value)),
                    (None, _) => (name.clone(), Ok(Template::text(value))),
                };
                match read {
                    Ok(template) => call.0.push((name, template)),
                    Err(why) => fault(&key, why, "write braces as {{ and }}"),
                }
            }
        }
        call
    }

    fn of(call: &Call) -> Self {
        let mut written = Self::default();
        let (mut origin, mut path, mut query) = (String::new(), String::new(), String::new());
        let mut body = call::Slots::new();
        for (slot, template) in &call.0 {
            let (kind, name) = slot.split_once('.').unwrap_or((slot, ""));
            let own =
                name.rsplit_once('~').filter(|(_, more)| more.parse::<u32>().is_ok()).map_or(name, |(own, _)| own);
            match kind {
                "method" => written.method = template.constant(),
                "origin" => origin = template.to_string(),
                "path" => path.extend(["/", &encoded(template)]),
                "query" => {
                    query.extend([
                        if query.is_empty() { "?" } else { "&" },
                        &utf8_percent_encode(own, COMPONENT).to_string(),
                        "=",
                        &encoded(template),
                    ]);
                }
                "header" => {
                    written.headers.insert(name.to_owned(), template.to_string());
                }
                "form" => {
                    written.form.insert(name.to_owned(), template.to_string());
                }
                "json" => body.push((slot.clone(), template.to_string())),
                "bare" => match template.constant() {
                    Some(text) => body.push((slot.clone(), text)),
                    None => body.push((format!("json.{name}"), format!("#{template}"))),
                },
                _ => {}
            }
        }
        written.json = (!body.is_empty()).then(|| call::asked(&body).body);
        written.url = format!("{origin}{path}{query}");
        let usual = if written.form.is_empty() && written.json.is_none() { "GET" } else { "POST" };
        written.method = written.method.filter(|method| method != usual);
        written
    }
}

/// A template as it stands in an address: its texts percent-encoded.
fn encoded(template: &Template) -> String {
    let pieces = template.0.iter().map(|piece| match piece {
        Piece::Text(text) => utf8_percent_encode(text, COMPONENT).to_string(),
        Piece::Hole(value) => format!("{{{value}}}"),
    });
    pieces.collect()
}

/// The slots of an address as it is written.
fn address(text: &str) -> Result<Vec<(String, Template)>, String> {
    let scheme = ["https://", "http://"].iter().find(|scheme| text.starts_with(**scheme));
    let (origin, rest) = match scheme {
        Some(scheme) => {
            let end = text[scheme.len()..].find(['/', '?']).map_or(text.len(), |at| at + scheme.len());
            let (origin, rest) = text.split_at(end);
            let url = Url::parse(origin).map_err(|error| format!("`{origin}` is no origin: {error}"))?;
            if !url.username().is_empty() || url.password().is_some() {
                return Err("a user name or password stands in the address".to_owned());
            }
            (Some(url.origin().ascii_serialization()), rest)
        }
        None => (None, text),
    };
    if !rest.starts_with('/') {
        return Err(format!("`{text}` is neither a whole address nor a path from / on"));
    }
    let mut slots = Vec::new();
    slots.extend(origin.map(|origin| ("origin".to_owned(), Template::text(&origin))));
    let mut halves = outside_holes(rest, '?').into_iter();
    let path = halves.next().unwrap_or_default();
    for (number, segment) in outside_holes(path.trim_start_matches('/'), '/').into_iter().enumerate() {
        slots.push((format!("path.{number}"), decoded(segment)?));
    }
    let query = rest.get(path.len() + 1..).unwrap_or_default();
    for pair in outside_holes(query, '&').into_iter().filter(|pair| !pair.is_empty()) {
        let name = outside_holes(pair, '=').into_iter().next().unwrap_or_default();
        let value = decoded(pair.get(name.len() + 1..).unwrap_or_default())?;
        let name = percent_decode_str(name).decode_utf8_lossy();
        let same = slots.iter().filter(|(slot, _)| slot.strip_prefix("query.").is_some_and(|own| own == name)).count();
        let more = if same > 0 { format!("~{same}") } else { String::new() };
        slots.push((format!("query.{name}{more}"), value));
    }
    Ok(slots)
}

fn decoded(text: &str) -> Result<Template, String> {
    let Template(pieces) = Template::parse(text)?;
    let decode = |piece| match piece {
        Piece::Text(text) => Piece::Text(percent_decode_str(&text).decode_utf8_lossy().into_owned()),
        hole => hole,
    };
    Ok(Template(pieces.into_iter().map(decode).collect()))
}

/// Splits where the mark stands outside of braces.
fn outside_holes(text: &str, mark: char) -> Vec<&str> {
    let (mut parts, mut start, mut is_inside) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '{' => is_inside = true,
            '}' => is_inside = false,
            c if c == mark && !is_inside => {
                parts.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

impl WrittenTurn {
    fn turning(&self, fault: &mut impl FnMut(&str, String, &str)) -> Option<Turning> {
        let mut place = |key: &str, text: &Option<String>| {
            let read = Place::parse(text.as_deref()?);
            read.map_err(|why| fault(&format!("page.{key}"), why, "write it as data.next")).ok()
        };
        let (more, total) = (place("more", &self.more), place("total", &self.total));
        let (cursor, next) = (place("cursor", &self.cursor), place("next", &self.next));
        let slot = self.parameter.as_deref().map(|name| match name.split('.').next() {
            Some("form" | "json" | "bare" | "query" | "header") if name.contains('.') => name.to_owned(),
            _ => format!("query.{name}"),
        });
        let turn = match (slot, self.step, cursor, next) {
            (None, None, None, Some(next)) => Turn::Next(next),
            (Some(slot), None, Some(at), None) => Turn::Cursor { slot, at },
            (Some(slot), step, None, None) if self.cursor.is_none() && self.next.is_none() => {
                Turn::Step { slot, step: step.unwrap_or(1), first: self.first.unwrap_or(1) }
            }
            // What was misspelt is told already.
            _ if self.cursor.is_some() && place("cursor", &self.cursor).is_none() => return None,
            _ => {
                let hint = "write { parameter = \"page\", step = 1 }, { parameter = \"after\", cursor = \"data.next\" } or { next = \"links.next\" }";
                fault("page", "it does not say how the list is turned".to_owned(), hint);
                return None;
            }
        };
        Some(Turning { turn, more, total })
    }

    fn of(turning: &Turning) -> Self {
        let name = |slot: &String| {
            Some(slot.strip_prefix("query.").filter(|name| !name.contains('.')).unwrap_or(slot).to_owned())
        };
        let ends = Self {
            more: turning.more.as_ref().map(Place::to_string),
            total: turning.total.as_ref().map(Place::to_string),
            ..Self::default()
        };
        match &turning.turn {
            Turn::Step { slot, step, first } => {
                Self { parameter: name(slot), step: Some(*step), first: Some(*first), ..ends }
            }
            Turn::Cursor { slot, at } => Self { parameter: name(slot), cursor: Some(at.to_string()), ..ends },
            Turn::Next(at) => Self { next: Some(at.to_string()), ..ends },
        }
    }
}

impl WrittenPages {
    fn pager(&self, fault: &mut impl FnMut(&str, String, &str)) -> Option<Pager> {
        let template = Template::parse(&format!("{{{}}}", self.number)).ok();
        let at = template.as_ref().and_then(|template| template.sources().next().cloned());
        let at = at.filter(|at| matches!(at, Source::Query(_) | Source::Number(..)));
        if at.is_none() {
            fault(
                "pages.number",
                format!("`{}` is no number in a page's address", self.number),
                "write it as @query.page or @path.1#0",
            );
        }
        let mut place = |key: &str, text: &Option<String>| {
            let read = Place::parse(text.as_deref()?);
            read.map_err(|why| fault(&format!("pages.{key}"), why, "write it as data.total")).ok()
        };
        let (last, total, more) = (place("last", &self.last), place("total", &self.total), place("more", &self.more));
        let last = match (last, total, more, self.size) {
            (Some(last), None, None, None) => Last::Number(last),
            (None, Some(total), None, Some(size)) => Last::Total(total, size),
            (None, None, Some(more), None) => Last::More(more),
            (None, None, None, Some(size)) => Last::Full(size),
            _ => {
                fault(
                    "pages",
                    "it does not say how many pages there are".to_owned(),
                    "give one of last, total with size, more, and size alone",
                );
                return None;
            }
        };
        // The schema allows none below 1 in a rule file; a note may be anybody's.
        let (first, step) = (self.first.unwrap_or(1), self.step.unwrap_or(1).max(1));
        let (near, ends) = (self.near.unwrap_or(NEAR).clamp(1, NEAR), self.ends.unwrap_or(true));
        Some(Pager { at: at?, first, step, near, ends, last })
    }

    fn of(pager: &Pager) -> Self {
        let bare = Self { number: pager.at.to_string(), first: Some(pager.first), ..Self::default() };
        let bare = Self {
            step: (pager.step > 1).then_some(pager.step),
            near: (pager.near < NEAR).then_some(pager.near),
            ends: (!pager.ends).then_some(false),
            ..bare
        };
        match &pager.last {
            Last::Number(place) => Self { last: Some(place.to_string()), ..bare },
            Last::Total(place, size) => Self { total: Some(place.to_string()), size: Some(*size), ..bare },
            Last::More(place) => Self { more: Some(place.to_string()), ..bare },
            Last::Full(size) => Self { size: Some(*size), ..bare },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_as_it_is_written() {
        let text = r#"
            on = "/browse/*?cat=7&page?=*"
            url = "https://api.h.example/v1/list%20x/{@path.1#0}?page={@query.page|1 * 50 - 50}&tag=a&tag=b"
            items = "data.groups[*].torrents"
            link = ["/torrent/{id}", { items = "top", link = "/x/{id}" }]
            html = ["data.html"]
            constant = ["https://h.example/about"]
            with_page = true
            json = '{"page":"\#{@query.page|1}","q":"{@query.q}","n":5}'
            expect = { more = ["false", "null"] }
            [headers]
            x-token = "{@before.token}"
            [before]
            url = "/token"
            [page]
            parameter = "json.after"
            cursor = "data.next"
            more = "data.more"
            [pages]
            number = "@query.page"
            first = 1
            total = "total"
            size = 50
        "#
        .replace("\\#", "#");
        let written: Written = toml::from_str(&text).unwrap();
        let endpoint = written.endpoint().unwrap();
        let again = Written::of(&endpoint);
        assert_eq!(again.endpoint().unwrap(), endpoint);
        assert_eq!((again.on, again.url, again.items), (written.on, written.url, written.items));
        assert_eq!((again.link, again.page, again.pages), (written.link, written.page, written.pages));
        assert!(toml::to_string(&Written::of(&endpoint)).unwrap().contains("url = "));
    }

    #[test]
    fn every_fault_of_a_table_is_told_with_its_key() {
        let text = r#"
            on = "browse"
            url = "api/list"
            method = "DELETE"
            link = ["/t/{"]
            headers = { Authorization = "Bearer x" }
            page = { parameter = "p", next = "x" }
            pages = { number = "page" }
        "#;
        let written: Written = toml::from_str(text).unwrap();
        let faults = written.endpoint().unwrap_err();
        let keys: Vec<&str> = faults.iter().map(|(key, ..)| key.as_str()).collect();
        for key in ["on", "url", "method", "link[0]", "headers.Authorization", "page", "pages.number", "pages"] {
            assert!(keys.contains(&key), "{key}: {faults:?}");
        }
    }
}

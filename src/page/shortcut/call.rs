//! A request as named slots, each with a template, so that two requests can be compared part by part.
//!
//! ```text
//! method · origin · path.0, path.1 … · query.NAME · header.name · form.NAME, or json.PLACE (strings) and bare.PLACE (other values)
//! ```
//!
//! Repeated names get `~1`, `~2` as suffix.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, percent_decode_str, utf8_percent_encode};
use serde_json::Value as Json;
use url::Url;

use super::leaves;
use super::place::{JsonPath, Step, is_plain, scalar};
use super::template::{COMPONENT, Piece, Scope, Template};
use crate::limits;

/// Characters that a path segment may contain unencoded.
const SEGMENT: &AsciiSet =
    &COMPONENT.remove(b',').remove(b':').remove(b';').remove(b'@').remove(b'=').remove(b'$').remove(b'+').remove(b'&');

/// The parts of a request in order, by name.
pub type Slots = Vec<(String, String)>;

/// A request ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedRequest {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

/// A request template: one template per slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call(pub Vec<(String, Template)>);

/// The slots of a request; `None` if its address is invalid, or if it has too many.
#[must_use]
pub fn slots(method: &str, url: &str, headers: &[(String, String)], body: &str) -> Option<Slots> {
    let url = Url::parse(url).ok()?;
    let mut slots = Slots::new();
    add(&mut slots, "method", method);
    add(&mut slots, "origin", &url.origin().ascii_serialization());
    add_address(&mut slots, &url);
    for (name, value) in headers {
        add(&mut slots, &format!("header.{}", name.to_ascii_lowercase()), value);
    }
    add_body(&mut slots, body);
    (slots.len() < limits::SHORTCUT_SLOTS_MAX).then_some(slots)
}

fn add_address(slots: &mut Slots, url: &Url) {
    for (number, segment) in url.path_segments().into_iter().flatten().enumerate() {
        add(slots, &format!("path.{number}"), &percent_decode_str(segment).decode_utf8_lossy());
    }
    for (name, value) in url.query_pairs() {
        add(slots, &format!("query.{name}"), &value);
    }
}

fn add_body(slots: &mut Slots, body: &str) {
    if body.is_empty() {
        return;
    }
    let parsed = serde_json::from_str::<Json>(body).ok().filter(|json| json.is_object() || json.is_array());
    match parsed {
        Some(json) => add_json(slots, &json, &JsonPath::default()),
        None => {
            for (name, value) in url::form_urlencoded::parse(body.as_bytes()) {
                add(slots, &format!("form.{name}"), &value);
            }
        }
    }
}

fn add_json(slots: &mut Slots, json: &Json, place: &JsonPath) {
    match json {
        Json::Object(members) if !members.is_empty() && members.keys().all(|key| is_plain(key)) => {
            members.iter().for_each(|(key, inner)| add_json(slots, inner, &place.with(Step::Key(key.clone()))));
        }
        Json::Array(elements) if !elements.is_empty() => {
            elements.iter().enumerate().for_each(|(at, inner)| add_json(slots, inner, &place.with(Step::At(at))));
        }
        Json::String(text) => add(slots, &format!("json.{place}"), text),
        other => add(slots, &format!("bare.{place}"), &other.to_string()),
    }
}

/// Adds a slot; ignored beyond the limit.
fn add(slots: &mut Slots, name: &str, value: &str) {
    if slots.len() >= limits::SHORTCUT_SLOTS_MAX {
        return;
    }
    let mut own = name.to_owned();
    let mut more = 0;
    while slots.iter().any(|(known, _)| *known == own) {
        more += 1;
        own = format!("{name}~{more}");
    }
    slots.push((own, value.to_owned()));
}

/// The value of a slot.
#[must_use]
pub fn slot<'a>(slots: &'a Slots, name: &str) -> Option<&'a str> {
    slots.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// The value of a slot, or one within it ([`leaves`]); for JSON of any type.
#[must_use]
pub fn value<'a>(slots: &'a Slots, name: &str) -> Option<Cow<'a, str>> {
    let within = || name.split_once('#').and_then(|(name, place)| leaves::get(slot(slots, name)?, place));
    let own = slot(slots, name).or_else(|| slot(slots, &retyped(name)?)).map(Cow::Borrowed);
    own.or_else(within)
}

/// The name of a JSON slot if its value has the other type: string or non-string.
#[must_use]
pub fn retyped(name: &str) -> Option<String> {
    let other = |from: &str, to: &str| name.strip_prefix(from).map(|place| format!("{to}{place}"));
    other("json.", "bare.").or_else(|| other("bare.", "json."))
}

/// Sets a slot, adds it, or sets a value within it. The previous JSON value determines the type, else the new value's
/// own type does.
pub fn set(slots: &mut Slots, name: &str, value: &Json) {
    let Some(text) = scalar(value) else { return };
    let other = retyped(name);
    if let Some((own, known)) = slots.iter_mut().find(|(own, _)| own == name || other.as_deref() == Some(own)) {
        let stays_bare = !value.is_string() || (leaves::is_number(known) && leaves::is_number(&text));
        if let Some(place) = own.strip_prefix("bare.").filter(|_| !stays_bare) {
            *own = format!("json.{place}");
        }
        *known = text.into_owned();
        return;
    }
    if let Some((outer, place)) = name.split_once('#')
        && let Some((_, known)) = slots.iter_mut().find(|(known, _)| known == outer)
    {
        if let Some(changed) = leaves::put(known, place, value) {
            *known = changed;
        }
        return;
    }
    slots.push((name.to_owned(), text.into_owned()));
}

/// The slots with another address.
#[must_use]
pub fn moved_to(slots: &Slots, url: &Url) -> Slots {
    let is_address = |name: &str| name == "origin" || name.starts_with("path.") || name.starts_with("query.");
    let mut moved: Slots = slots.iter().filter(|(name, _)| !is_address(name)).cloned().collect();
    add(&mut moved, "origin", &url.origin().ascii_serialization());
    add_address(&mut moved, url);
    moved
}

/// Whether two requests are equal, ignoring volatile slots.
#[must_use]
pub fn are_same(one: &Slots, other: &Slots, fleeting: &[&str]) -> bool {
    identity(one, fleeting) == identity(other, fleeting)
}

/// The identity of a request: its slots without the volatile ones.
#[must_use]
pub fn identity<'a>(slots: &'a Slots, fleeting: &[&str]) -> Vec<(&'a str, &'a str)> {
    let all = slots.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let mut all: Vec<(&str, &str)> = all.filter(|(name, _)| !fleeting.contains(name)).collect();
    all.sort_unstable();
    all
}

/// The request for these slots.
#[must_use]
pub fn asked(slots: &Slots) -> PreparedRequest {
    let mut url = slot(slots, "origin").unwrap_or_default().to_owned();
    let (mut query, mut form) = (String::new(), String::new());
    let (mut headers, mut json) = (Vec::new(), None::<Json>);
    for (name, value) in slots {
        let (kind, name) = name.split_once('.').unwrap_or((name, ""));
        let own = name.rsplit_once('~').filter(|(_, more)| more.parse::<u32>().is_ok()).map_or(name, |(own, _)| own);
        let encode = |text: &str| utf8_percent_encode(text, COMPONENT).to_string();
        let pair = |text: &mut String| {
            if !text.is_empty() {
                text.push('&');
            }
            text.extend([encode(own), "=".to_owned(), encode(value)]);
        };
        match kind {
            "path" => url.extend(["/".to_owned(), utf8_percent_encode(value, SEGMENT).to_string()]),
            "query" => pair(&mut query),
            "form" => pair(&mut form),
            "header" => headers.push((own.to_owned(), value.clone())),
            "json" | "bare" => {
                if let Ok(place) = JsonPath::parse(name) {
                    let leaf = match kind {
                        "json" => Json::String(value.clone()),
                        _ => serde_json::from_str(value).unwrap_or_else(|_| Json::String(value.clone())),
                    };
                    put(json.get_or_insert(Json::Null), &place.0, leaf);
                }
            }
            _ => {}
        }
    }
    if !query.is_empty() {
        url.extend(["?", &query]);
    }
    let body = json.map_or(form, |json| json.to_string());
    PreparedRequest { method: slot(slots, "method").unwrap_or("GET").to_owned(), url, headers, body }
}

/// Sets a leaf at its place; missing containers are created.
fn put(json: &mut Json, steps: &[Step], leaf: Json) {
    let Some((step, rest)) = steps.split_first() else {
        *json = leaf;
        return;
    };
    match step {
        Step::Key(key) => {
            if !json.is_object() {
                *json = Json::Object(serde_json::Map::new());
            }
            put(&mut json[key.as_str()], rest, leaf);
        }
        Step::At(at) => {
            if !json.is_array() {
                *json = Json::Array(Vec::new());
            }
            if let Some(elements) = json.as_array_mut() {
                // Leaves come in order: one more at a time.
                if *at >= elements.len() {
                    elements.push(Json::Null);
                }
                let last = elements.len() - 1;
                put(&mut elements[(*at).min(last)], rest, leaf);
            }
        }
        Step::Last | Step::Each | Step::Member => {}
    }
}

impl Call {
    /// The request for a page; `None` if a required value is missing.
    #[must_use]
    pub fn fill(&self, scope: &Scope<'_>) -> Option<Slots> {
        let mut slots = Slots::new();
        for (name, template) in &self.0 {
            match template.fill(scope) {
                Some(value) => slots.push((name.clone(), value)),
                // A parameter that is also missing in the page's address.
                None if is_optional(name) && matches!(template.0.as_slice(), [Piece::Hole(_)]) => {}
                None => return None,
            }
        }
        if slot(&slots, "origin").is_none() {
            slots.push(("origin".to_owned(), scope.page.origin().ascii_serialization()));
        }
        Some(slots)
    }

    /// Names of the volatile slots, which differ in each request.
    #[must_use]
    pub fn fleeting(&self) -> Vec<&str> {
        self.0.iter().filter(|(_, template)| template.is_fleeting()).map(|(name, _)| name.as_str()).collect()
    }

    /// Whether it contains a token of the page itself.
    #[must_use]
    pub fn needs_page(&self) -> bool {
        self.0.iter().any(|(_, template)| template.sources().any(super::template::Source::needs_page))
    }

    /// Whether it is a GET, which changes nothing.
    #[must_use]
    pub fn is_get(&self) -> bool {
        self.0.iter().any(|(name, method)| name == "method" && method.constant().as_deref() == Some("GET"))
    }
}

/// Whether this slot is optional.
fn is_optional(name: &str) -> bool {
    ["query.", "form.", "header."].iter().any(|kind| name.starts_with(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_taken_apart_and_put_together() {
        let headers = [("X-Token".to_owned(), "a".to_owned())];
        for (method, url, body) in [
            ("GET", "https://h.example/api/v1/list?page=2&cat=a%20b&cat=c", ""),
            ("POST", "https://h.example/api", "{\"a\":{\"b\":[1,\"x\",{}]},\"n\":null}"),
            ("POST", "https://h.example/api/", "action=list&start=20"),
        ] {
            let slots = slots(method, url, &headers, body).unwrap();
            let asked = asked(&slots);
            assert_eq!((asked.method.as_str(), asked.url.as_str()), (method, url));
            let same = serde_json::from_str::<Json>(&asked.body).ok() == serde_json::from_str::<Json>(body).ok();
            assert!(same && (asked.body == body || body.starts_with('{')), "{}", asked.body);
            assert_eq!(asked.headers, [("x-token".to_owned(), "a".to_owned())]);
        }
    }

    #[test]
    fn a_parameter_that_the_page_does_not_have_is_left_out() {
        let template = |text: &str| Template::parse(text).unwrap();
        let call = Call(vec![
            ("method".into(), template("GET")),
            ("path.0".into(), template("api")),
            ("query.cat".into(), template("{@query.cat}")),
            ("query.page".into(), template("{@query.page|1}")),
        ]);
        let url = |page: &str| {
            let page = Url::parse(page).unwrap();
            call.fill(&Scope::of(&page, "", &[], 0)).map(|slots| asked(&slots).url)
        };
        assert_eq!(url("https://h.example/x").as_deref(), Some("https://h.example/api?page=1"));
        assert_eq!(url("https://h.example/x?cat=3&page=9").as_deref(), Some("https://h.example/api?cat=3&page=9"));
    }
}

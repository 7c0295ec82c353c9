//! Requests in written form: an address with values in braces, headers, and a body.

use std::collections::BTreeMap;

use percent_encoding::{percent_decode_str, utf8_percent_encode};
use url::Url;

use super::WrittenCall;
use crate::shortcut::call::{self, Call};
use crate::shortcut::template::{COMPONENT, Piece, Template};

impl WrittenCall {
    pub(super) fn call(&self, table: &str, fault: &mut impl FnMut(&str, String, &str)) -> Call {
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
                    let hint = "take it out: secrets do not belong in rule files";
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
                fault(&key, "this is not a JSON object".to_owned(), "write it as '{\"page\": \"#{@query.page|1}\"}'");
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

    pub(super) fn of(call: &Call) -> Self {
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

/// A template within an address: its texts percent-encoded.
fn encoded(template: &Template) -> String {
    let pieces = template.0.iter().map(|piece| match piece {
        Piece::Text(text) => utf8_percent_encode(text, COMPONENT).to_string(),
        Piece::Hole(value) => format!("{{{value}}}"),
    });
    pieces.collect()
}

/// The slots of a written address.
fn address(text: &str) -> Result<Vec<(String, Template)>, String> {
    let scheme = ["https://", "http://"].iter().find(|scheme| text.starts_with(**scheme));
    let (origin, rest) = match scheme {
        Some(scheme) => {
            let end = text[scheme.len()..].find(['/', '?']).map_or(text.len(), |at| at + scheme.len());
            let (origin, rest) = text.split_at(end);
            let url = Url::parse(origin).map_err(|error| format!("`{origin}` is not an origin: {error}"))?;
            if !url.username().is_empty() || url.password().is_some() {
                return Err("the address contains a user name or password".to_owned());
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

/// Splits at the mark outside of braces.
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

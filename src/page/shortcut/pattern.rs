//! The addresses that an endpoint covers, such as `https://example.org/browse/*?cat=7&page=*`; at any host if it
//! starts with `/`.

use std::collections::BTreeMap;
use std::fmt;

use percent_encoding::{percent_decode_str, utf8_percent_encode};
use url::Url;

use super::template::COMPONENT;

/// The addresses that an endpoint covers: everything that was equal on all pages that it was learned from must be
/// equal again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// As in `https://example.org`, with the port if it is not the default. `None`: any.
    pub origin: Option<String>,
    /// `None`: any.
    pub segments: Vec<Option<String>>,
    pub query: Vec<Parameter>,
}

/// A parameter of such an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    /// `None`: any.
    pub value: Option<String>,
    pub may_lack: bool,
}

impl Pattern {
    /// Parses `/browse/*?cat=7&page=*&q?=*`, with or without an origin before it; `None` if it is not such an
    /// address.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (origin, text) = match text.split_once("://") {
            Some((scheme @ ("http" | "https"), rest)) => {
                let (host, _) = rest.split_once('/')?;
                let (own, path) = text.split_at(scheme.len() + 3 + host.len());
                let url = Url::parse(own).ok()?;
                let is_bare = url.username().is_empty() && url.password().is_none() && !host.contains(['?', '#']);
                (Some(is_bare.then(|| url.origin().ascii_serialization())?), path)
            }
            _ => (None, text),
        };
        let path = text.strip_prefix('/')?;
        // A question mark before `=` marks an optional parameter.
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let any = |text: &str| (text != "*").then(|| decoded(text));
        let query = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=')?;
            let may_lack = name.ends_with('?');
            Some(Parameter { name: decoded(name.trim_end_matches('?')), value: any(value), may_lack })
        });
        Some(Self { origin, segments: path.split('/').map(any).collect(), query: query.collect::<Option<_>>()? })
    }

    /// The common pattern of pages.
    #[must_use]
    pub fn of(pages: &[&Url]) -> Option<Self> {
        let segments =
            |page: &Url| -> Vec<String> { page.path_segments().into_iter().flatten().map(decoded).collect() };
        let first = segments(pages.first()?);
        let all: Vec<Vec<String>> = pages.iter().map(|page| segments(page)).collect();
        if all.iter().any(|other| other.len() != first.len()) {
            return None;
        }
        let segments = first
            .iter()
            .enumerate()
            .map(|(at, segment)| all.iter().all(|other| other[at] == *segment).then(|| segment.clone()))
            .collect();
        let pairs: Vec<BTreeMap<String, String>> = pages.iter().map(|page| pairs(page)).collect();
        let mut names: Vec<&String> = pairs.iter().flat_map(BTreeMap::keys).collect();
        names.sort();
        names.dedup();
        let query = names.into_iter().map(|name| {
            let values: Vec<Option<&String>> = pairs.iter().map(|pairs| pairs.get(name)).collect();
            let mut there = values.iter().flatten();
            let one = there.next().filter(|one| there.all(|other| other == *one));
            let may_lack = values.contains(&None);
            // A value and a missing one count as two different values.
            let value = one.filter(|_| !may_lack || pages.len() == 1).map(|one| (*one).clone());
            Parameter { name: name.clone(), value, may_lack }
        });
        let origin = pages.first()?.origin();
        let is_one = pages.iter().all(|page| page.origin() == origin);
        Some(Self { origin: is_one.then(|| origin.ascii_serialization()), segments, query: query.collect() })
    }

    /// Whether an address matches.
    #[must_use]
    pub fn fits(&self, page: &Url) -> bool {
        let segments: Vec<String> = page.path_segments().into_iter().flatten().map(decoded).collect();
        let pairs = pairs(page);
        self.origin.as_ref().is_none_or(|origin| *origin == page.origin().ascii_serialization())
            && segments.len() == self.segments.len()
            && segments
                .iter()
                .zip(&self.segments)
                .all(|(own, wanted)| wanted.as_ref().is_none_or(|wanted| wanted == own))
            && pairs.keys().all(|name| self.query.iter().any(|parameter| parameter.name == *name))
            && self.query.iter().all(|parameter| match pairs.get(&parameter.name) {
                Some(value) => parameter.value.as_ref().is_none_or(|wanted| wanted == value),
                None => parameter.may_lack,
            })
    }
}

fn decoded(segment: &str) -> String {
    percent_decode_str(segment).decode_utf8_lossy().into_owned()
}

fn pairs(page: &Url) -> BTreeMap<String, String> {
    page.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A literal star is encoded.
        let encoded = |text: &str| utf8_percent_encode(text, COMPONENT).to_string().replace('*', "%2A");
        let any = |text: &Option<String>| text.as_deref().map_or_else(|| "*".to_owned(), encoded);
        f.write_str(self.origin.as_deref().unwrap_or_default())?;
        for segment in &self.segments {
            write!(f, "/{}", any(segment))?;
        }
        for (number, parameter) in self.query.iter().enumerate() {
            let mark = if number == 0 { "?" } else { "&" };
            let lack = if parameter.may_lack { "?" } else { "" };
            write!(f, "{mark}{}{lack}={}", encoded(&parameter.name), any(&parameter.value))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

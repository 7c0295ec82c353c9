//! An endpoint in its written form: the table `[shortcut.index]` of a site's rule file, the output of
//! `gleaner rules explain --pin`, and the form stored between restarts.

mod calls;
mod turning;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::endpoint::{Endpoint, Rule};
use super::pattern::Pattern;
use super::place::JsonPath;
use super::template::Template;
use crate::limits::{SHORTCUT_CONSTANTS_MAX, SHORTCUT_RULES_MAX};

/// The request that gets the data of a class's pages, and how its response maps to links (docs/design/shortcuts.md).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["url"]))]
pub struct Written {
    /// The pages that it covers, such as `/browse?cat=7&page=*` at any host, or with an origin before it; `name?=*`
    /// is optional. Default: all of the class.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// Address of the data, absolute or starting with `/`, with values of the page's address in braces:
    /// `/api/list?page={@query.page|1}`.
    #[schemars(length(min = 1))]
    pub url: String,
    /// Default: GET, or POST if `form` or `json` is given.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Request headers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Form fields of a POST.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub form: BTreeMap<String, String>,
    /// JSON body of a POST, as text; a string `"#{…}"` in it is a number.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<String>,
    /// Place of the list of records in the response, such as `data.items`; `data.items{*}` for an object with a
    /// member per record. Default: the response is one record.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<String>,
    /// The links of each record, such as `/torrent/{id}`.
    #[schemars(length(max = SHORTCUT_RULES_MAX))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub link: Vec<WrittenLink>,
    /// Places of markup in the response, such as `html` or `rows[*].cell`; `.` if the whole response is markup.
    #[schemars(length(max = SHORTCUT_RULES_MAX))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub html: Vec<String>,
    /// Links that are on every page.
    #[schemars(length(max = SHORTCUT_CONSTANTS_MAX))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constant: Vec<String>,
    /// Whether links of the page's own markup are included, too; the page is then requested.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub with_page: bool,
    /// A request before it, for a token in its response, used as `{@before.PLACE}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<WrittenCall>,
    /// Pagination of the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<WrittenTurn>,
    /// Links to the list's other pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<WrittenPages>,
    /// Known values of switches in the response; with any other value the page is rendered.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub expect: BTreeMap<String, Vec<String>>,
}

/// A link of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum WrittenLink {
    /// For the records of `items`.
    Of(String),
    /// For other records.
    From(WrittenFrom),
}

/// A link of records at another place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["items", "link"]))]
pub struct WrittenFrom {
    /// Place of their list; `.` for the whole response.
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
    /// Default: GET, or POST if `form` or `json` is given.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Request headers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Form fields of a POST.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub form: BTreeMap<String, String>,
    /// JSON body of a POST, as text.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<String>,
}

/// Pagination of a list: a parameter that grows by `step` or takes a `cursor`, or a `next` address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WrittenTurn {
    /// A parameter of the address, such as `offset`; `form.offset`, `json.after`, `bare.page` (a number) in the body;
    /// `variables#after` for a value within a JSON parameter.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// The increment per page.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    /// Its value if the first request lacks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<i64>,
    /// Place of its next value in the response.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Place of the whole next address in the response.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Place in the response that is `true` while there are more pages.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<String>,
    /// Place of the total number of records in the response.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<String>,
}

/// Links to the other pages of a list, made from a page's own address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["number"]))]
pub struct WrittenPages {
    /// Position of the number: `@query.page`, or `@path.1#0` for the first number in the second segment.
    #[schemars(length(min = 1))]
    pub number: String,
    /// Number of the first page. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<i64>,
    /// Step from a page's number to the next, if the number counts records. Default: 1.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    /// How many pages before and after a page are linked. Default: 10.
    #[schemars(range(min = 1, max = 10))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<i64>,
    /// Whether the first and the last page are linked as well. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends: Option<bool>,
    /// Place of the last page's number in the response.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
    /// Place of the total number of records in the response; requires `size`.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<String>,
    /// Records of a full page: a full page is followed by another.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
    /// Place in the response that shows whether there is one more page.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<String>,
}

/// An error in a table: its key, the problem, the fix.
pub type Fault = (String, String, String);

impl Written {
    /// The endpoint that the table describes.
    ///
    /// # Errors
    /// All errors in it.
    pub fn endpoint(&self) -> Result<Endpoint, Vec<Fault>> {
        let mut faults: Vec<Fault> = Vec::new();
        let mut fault =
            |key: &str, message: String, hint: &str| faults.push((key.to_owned(), message, hint.to_owned()));
        let on = self.on.as_deref().and_then(|text| match Pattern::parse(text) {
            Some(pattern) => Some(pattern),
            None => {
                fault(
                    "on",
                    format!("`{text}` is not a page's address"),
                    "write it as /browse?cat=7&page=*, or with https:// and its host, with * for what changes",
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
        let rules = self.rules(&mut fault);
        let turning = self.page.as_ref().and_then(|turn| turn.turning(&mut fault));
        let pages = self.pages.as_ref().and_then(|pages| pages.pager(&mut fault));
        for place in self.expect.keys() {
            if let Err(why) = JsonPath::parse(place) {
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

    /// The link rules of the response.
    fn rules(&self, fault: &mut impl FnMut(&str, String, &str)) -> Vec<Rule> {
        let items = match &self.items {
            None => JsonPath::default(),
            Some(text) => list(text).unwrap_or_else(|why| {
                fault("items", why, "write it as data.items");
                JsonPath::default()
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
                text => match JsonPath::parse(text) {
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
        rules
    }

    /// The written form of an endpoint.
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
            Rule::Html(place) => Some(place.as_ref().map_or_else(|| ".".to_owned(), JsonPath::to_string)),
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

/// `data.items` is the list, `data.items[*]` each of its records; also `groups[*].torrents`; `data.items{*}` is each
/// member of an object.
fn list(text: &str) -> Result<JsonPath, String> {
    let place = JsonPath::parse(text)?;
    Ok(if text == "." || place.0.last().is_some_and(super::place::Step::is_all) {
        place
    } else {
        place.with(super::place::Step::Each)
    })
}

fn list_text(place: &JsonPath) -> String {
    let text = place.to_string();
    match text.strip_suffix("[*]") {
        Some(list) if !list.is_empty() => list.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests;

//! `[[search]]`: queries with a name, which feeds and Torznab offer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fault::Faults;
use crate::limits::{SEARCH_NAME_BYTES_MAX, SEARCHES_MAX};
use crate::schema::Spans;

/// `[[search]]`, as written and as validated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SavedSearch {
    /// Name in URLs: letters, digits, `-`, `_` and `.`.
    #[schemars(length(min = 1))]
    pub name: String,
    /// What is looked for, as `gleaner search` takes it: `cat:4020 -beta`.
    #[schemars(length(min = 1))]
    pub query: String,
}

/// What looks like a filter in a query and is none. The search room, which knows, is above this one.
pub type Doubts = fn(&str) -> Vec<String>;

/// Reports what cannot be.
pub(super) fn check(searches: &[SavedSearch], doubts: Option<Doubts>, spans: &Spans, faults: &mut Faults) {
    if searches.len() > SEARCHES_MAX {
        let message = format!("{} searches, at most {SEARCHES_MAX} are allowed", searches.len());
        faults.add(spans.value("search"), "search", message, None);
    }
    let is_plain = |of: u8| of.is_ascii_alphanumeric() || b"-_.".contains(&of);
    for (nth, search) in searches.iter().enumerate() {
        let (own, name, query) =
            (format!("search[{nth}]"), format!("search[{nth}].name"), format!("search[{nth}].query"));
        let mut fault = |key: &str, message: String, hint: &str| {
            let at = if spans.has(key) { spans.value(key) } else { spans.value(&own) };
            faults.add(at, key, message, Some(hint.to_owned()));
        };
        let is_missing = |key: &str, text: &str| text.is_empty() && !spans.has(key);
        if is_missing(&name, &search.name) || is_missing(&query, &search.query) {
            let message = format!("`name` or `query` is missing in `{own}`");
            fault(&own, message, "write both: name = \"linux\", query = \"cat:4020 -beta\"");
            continue;
        }
        let is_name = search.name.len() <= SEARCH_NAME_BYTES_MAX && search.name.bytes().all(is_plain);
        if !is_name || search.name.is_empty() || search.name.starts_with('.') {
            let hint = "write 1 to 64 letters, digits, - _ . that begin with no dot: the name stands in URLs";
            fault(&name, format!("`{}` cannot be the name of a search", search.name), hint);
        }
        if searches[..nth].iter().any(|other| other.name == search.name) {
            fault(&name, format!("two searches are called `{}`", search.name), "give each a name of its own");
        }
        if search.query.trim().is_empty() {
            fault(
                &query,
                "this query finds everything".to_owned(),
                "feeds/all.rss has everything: write what is looked for",
            );
        }
        for doubt in doubts.map(|doubts| doubts(&search.query)).unwrap_or_default() {
            let hint = "gleaner search --help lists the filters; in quotes it is looked for as words";
            fault(&query, format!("`{doubt}` is no filter"), hint);
        }
    }
}

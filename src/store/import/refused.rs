//! What was not imported, grouped by its reason, with the first places of each.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::limits::IMPORT_PLACES_LISTED_MAX;

/// Everything of one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Group {
    pub count: u64,
    /// The first places, with what is particular about each: `archive.zip!/a/b.torrent: not bencoded: …`.
    pub first: Vec<String>,
}

/// By reason. Reasons are sentences of the program, so that there are few.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Groups(pub BTreeMap<&'static str, Group>);

impl Groups {
    /// Adds one. `detail` may be empty.
    pub fn push(&mut self, reason: &'static str, place: &str, detail: &str) {
        let group = self.0.entry(reason).or_default();
        group.count += 1;
        if group.first.len() < IMPORT_PLACES_LISTED_MAX {
            group.first.push(if detail.is_empty() { place.to_owned() } else { format!("{place}: {detail}") });
        }
    }

    /// All of them.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.values().map(|group| group.count).sum()
    }
}

//! Pages visited with an endpoint that may have to be revisited: those since the last confirming render, and those
//! where it ended a list. Bounded in number and bytes; the oldest are dropped first.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::limits;

/// The visits of one endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Visits {
    /// Addresses with the time of their request, in milliseconds since 1970; no duplicates.
    unproven: VecDeque<(u64, String)>,
    /// Addresses of pages that were the last of their list; no duplicates.
    ends: VecDeque<String>,
}

impl Visits {
    /// Records a visit at this time.
    pub fn add(&mut self, page: &str, is_end: bool, at_ms: u64) {
        self.unproven.retain(|(_, known)| known != page);
        self.unproven.push_back((at_ms, page.to_owned()));
        bound(&mut self.unproven, |(_, page)| page.len());
        self.ends.retain(|known| known != page);
        if is_end {
            self.ends.push_back(page.to_owned());
            bound(&mut self.ends, String::len);
        }
    }

    /// Another visit has shown everything about this page.
    pub fn forget(&mut self, page: &str) {
        self.unproven.retain(|(_, known)| known != page);
    }

    /// Whether this page is among those since the last proof.
    #[must_use]
    pub fn has(&self, page: &str) -> bool {
        self.unproven.iter().any(|(_, known)| known == page)
    }

    /// A render at this time confirms earlier visits at this page's host. Pages that ended a list are kept: another
    /// render may still contradict them.
    pub fn proven(&mut self, page: &str, at_ms: u64) {
        self.unproven.retain(|(visited, other)| *visited >= at_ms || host(other) != host(page));
    }

    /// For each host with at least this many pages since the last proof, the last of them.
    #[must_use]
    pub fn unproven(&self, least: usize) -> Vec<&str> {
        let mut last: Vec<(&str, usize)> = Vec::new();
        for (_, page) in self.unproven.iter().rev() {
            match last.iter_mut().find(|(known, _)| host(known) == host(page)) {
                Some((_, pages)) => *pages += 1,
                None => last.push((page, 1)),
            }
        }
        last.into_iter().filter(|(_, pages)| *pages >= least).map(|(page, _)| page).collect()
    }

    /// Removes and returns those since the last proof; with `with_ends` also all that ended a list, if ends are no
    /// longer trusted.
    pub fn take(&mut self, with_ends: bool) -> Vec<String> {
        let mut pages: Vec<String> = std::mem::take(&mut self.unproven).into_iter().map(|(_, page)| page).collect();
        for page in std::mem::take(&mut self.ends) {
            if with_ends && !pages.contains(&page) {
                pages.push(page);
            }
        }
        pages
    }
}

/// The origin of an address.
fn host(page: &str) -> &str {
    let path = page.find("://").map_or(0, |at| at + 3);
    let end = page.get(path..).and_then(|rest| rest.find('/')).map_or(page.len(), |at| path + at);
    page.get(..end).unwrap_or_default()
}

/// Drops the oldest until the limits are met.
fn bound<T>(all: &mut VecDeque<T>, bytes: impl Fn(&T) -> usize) {
    let mut held: usize = all.iter().map(&bytes).sum();
    while all.len() > limits::SHORTCUT_VISITS_MAX || held > limits::SHORTCUT_VISITS_BYTES_MAX {
        held -= all.pop_front().as_ref().map_or(held, &bytes);
    }
}

#[cfg(test)]
mod tests;

//! What is kept of a class's endpoints over restarts, and shown to people.

use serde::{Deserialize, Serialize};

use super::visits::Visits;
use super::written::Written;

/// What an endpoint has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Renders that bore it out, those that it was learned from among them.
    pub proven: u32,
    /// Pages that were visited by it.
    pub used: u64,
    /// One in so many visits is a render.
    pub every: u32,
    /// Visits until then.
    pub left: u32,
    /// Of the last render that was compared, in milliseconds since 1970.
    pub checked_ms: u64,
    /// Renders among those that bore it out whose page was the last of its list.
    pub ends: u32,
}

/// An endpoint as it is kept over restarts and shown to people.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptEndpoint {
    pub endpoint: Written,
    pub is_pinned: bool,
    pub is_out: bool,
    #[serde(flatten)]
    pub count: Counts,
    pub visits: Visits,
    /// Of a pinned one, pages to visit again once it works.
    pub missed: Visits,
}

/// What is kept of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptBook {
    pub endpoints: Vec<KeptEndpoint>,
    /// When and why one was given up last.
    pub difference: Option<(u64, String)>,
    /// Addresses of pages that are to be visited again.
    pub again: Vec<String>,
}

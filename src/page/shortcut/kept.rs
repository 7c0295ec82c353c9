//! The stored state of a class's endpoints, which survives restarts and is shown to people.

use serde::{Deserialize, Serialize};

use super::visits::Visits;
use super::written::Written;

/// Statistics of an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Renders that confirmed it, including those it was learned from.
    pub proven: u32,
    /// Pages visited with it.
    pub used: u64,
    /// One in this many visits is a render.
    pub every: u32,
    /// Visits left until then.
    pub left: u32,
    /// Time of the last compared render, in milliseconds since 1970.
    pub checked_ms: u64,
    /// Confirming renders whose page was the last of its list.
    pub ends: u32,
}

/// A stored endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptEndpoint {
    pub endpoint: Written,
    pub is_pinned: bool,
    pub is_out: bool,
    #[serde(flatten)]
    pub count: Counts,
    pub visits: Visits,
    /// For a pinned endpoint: pages to revisit once it works.
    pub missed: Visits,
}

/// The stored state of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptBook {
    pub endpoints: Vec<KeptEndpoint>,
    /// When and why an endpoint was last dropped.
    pub difference: Option<(u64, String)>,
    /// Addresses of pages to revisit.
    pub again: Vec<String>,
}

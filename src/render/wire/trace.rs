//! What happened on a page, in the order and the virtual time in which it did.

use serde::{Deserialize, Serialize};

use super::{Asker, RequestId, ScriptError};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Microseconds of the page's time since it began.
    pub at_us: u64,
    #[serde(flatten)]
    pub what: What,
}

/// What happened. Texts are cut to `limits::TRACE_TEXT_BYTES_MAX` bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum What {
    /// A classic script, a module or the text of a timer was read, to be run next or when its imports are there.
    Script { source: String, bytes: usize },
    /// A timer ran.
    Timer { after_ms: u64, again: bool },
    /// So many callbacks of an animation frame ran.
    Frame { callbacks: usize },
    /// A request left.
    Request {
        id: RequestId,
        asker: Asker,
        method: String,
        url: String,
        /// The script and its place (`source:line:column`) that asked; empty where the markup did.
        by: String,
    },
    /// Its answer came.
    Answer { id: RequestId, status: u16, bytes: usize },
    /// It has none, for this reason.
    Refused { id: RequestId, why: String },
    /// A script failed.
    Error(ScriptError),
    /// The page came a step further: `interactive`, `DOMContentLoaded`, `complete`.
    Stage { stage: String },
    /// The page or its reader wanted to go somewhere else.
    Navigation { how: String, method: String, url: String },
    /// A reader did something.
    Act { act: String },
}

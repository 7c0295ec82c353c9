//! The trace of a page: what happened, in order and in virtual time.

use serde::{Deserialize, Serialize};

use super::{Asker, RequestId, ScriptError};

/// One event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Microseconds of virtual time since the page started.
    pub at_us: u64,
    #[serde(flatten)]
    pub what: What,
}

/// What happened. Texts are cut to `limits::TRACE_TEXT_BYTES_MAX` bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum What {
    /// A classic script, a module or the text of a timer was parsed; it runs next or when its imports have loaded.
    Script { source: String, bytes: usize },
    /// A timer ran.
    Timer { after_ms: u64, again: bool },
    /// An animation frame ran this many callbacks.
    Frame { callbacks: usize },
    /// A request was sent.
    Request {
        id: RequestId,
        asker: Asker,
        method: String,
        url: String,
        /// The script and position (`source:line:column`) that made it; empty if the markup did.
        by: String,
    },
    /// Its response arrived.
    Answer { id: RequestId, status: u16, bytes: usize },
    /// It got no response, for this reason.
    Refused { id: RequestId, why: String },
    /// A script failed.
    Error(ScriptError),
    /// The page reached a stage: `interactive`, `DOMContentLoaded`, `complete`.
    Stage { stage: String },
    /// The page or its reader tried to navigate.
    Navigation { how: String, method: String, url: String },
    /// The reader acted.
    Act { act: String },
}

//! What happened on a page, in the order and the virtual time in which it did, for people who ask why it came out as it did.
//!
//! Kept only where somebody asks. Never holds more than its cap, nor what an answer said.

use boa_engine::Context;
use serde::{Deserialize, Serialize};

use super::net::{Answer, Asker, RequestId};
use super::page::{ScriptError, cut};
use super::report;
use crate::limits;

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

/// The events of one page.
#[derive(Debug, Default)]
pub struct Trace {
    pub events: Vec<Event>,
    /// Events beyond the caps.
    pub untold: u64,
}

impl Trace {
    /// Writes an event down. Timers and frames, of which some pages have thousands, leave room for what they bring about.
    pub(super) fn note(&mut self, at_us: u64, what: What) {
        let most = match what {
            What::Timer { .. } | What::Frame { .. } => limits::TRACE_EVENTS_MAX / 2,
            _ => limits::TRACE_EVENTS_MAX,
        };
        if self.events.len() < most {
            self.events.push(Event { at_us, what });
        } else {
            self.untold += 1;
        }
    }
}

/// A text as events hold it.
pub fn told(text: &str) -> String {
    cut(text, limits::TRACE_TEXT_BYTES_MAX).to_owned()
}

/// What became of a request.
pub(super) fn of_answer(id: RequestId, answer: &Answer) -> What {
    match answer {
        Ok(response) => What::Answer { id, status: response.status, bytes: response.body.len() },
        Err(why) => What::Refused { id, why: told(why) },
    }
}

/// The innermost script under way and its place; empty where none is.
pub(super) fn place(context: &Context) -> String {
    told(&report::under_way(context).unwrap_or_default())
}

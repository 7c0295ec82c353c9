//! What happened on a page, in the order and the virtual time in which it did, for people who ask why it came out as it did.
//!
//! Kept only where somebody asks. Never holds more than its cap, nor what an answer said.

use boa_engine::Context;

use super::page::cut;
use super::report;
use crate::limits;
use crate::wire::trace::{Event, What};
use crate::wire::{Answer, RequestId};

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

//! The trace of a page: what happened, in order and in virtual time, for people who want to know how its outcome came about.
//!
//! Recorded only on request. It never exceeds its cap, and never contains response bodies.

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
    /// Records an event. Timers and frames, of which some pages have thousands, leave room for the events that they cause.
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

/// A text as stored in events.
pub fn told(text: &str) -> String {
    cut(text, limits::TRACE_TEXT_BYTES_MAX).to_owned()
}

/// The outcome of a request.
pub(super) fn of_answer(id: RequestId, answer: &Answer) -> What {
    match answer {
        Ok(response) => What::Answer { id, status: response.status, bytes: response.body.len() },
        Err(why) => What::Refused { id, why: told(why) },
    }
}

/// The innermost running script and its position; empty if there is none.
pub(super) fn place(context: &Context) -> String {
    told(&report::under_way(context).unwrap_or_default())
}

//! What a login's requests wait for: the pace of the crawl, where it runs beside one, and what the last answer asked.

use std::time::Duration;

use super::pace::Pace;
use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_net::politeness::{Answered, backoff};

/// The patience of a site that is logged in to.
pub(super) struct Patience<'a> {
    /// None where nothing else is asked beside it.
    pub(super) pace: Option<&'a mut Pace>,
    /// True before the first request.
    pub(super) is_first: bool,
    /// Until when the last answer asks us to wait, where it does.
    pub(super) retry_at: Option<UnixMillis>,
    /// True where it asks for more than anybody waits.
    pub(super) is_retry_capped: bool,
}

impl<'a> Patience<'a> {
    pub(super) fn new(pace: Option<&'a mut Pace>) -> Self {
        Self { pace, is_first: true, retry_at: None, is_retry_capped: false }
    }

    /// Takes in what an answer of this status says of the server alone, and how long it asks to wait.
    pub(super) fn answered(&mut self, status: u16, retry_after: Option<&str>, now: UnixMillis) {
        self.retry_at = retry_after.and_then(|value| backoff::retry_after(value, now));
        self.is_retry_capped = retry_after.is_some_and(|value| backoff::is_capped(value, now));
        self.in_trouble(self.trouble_of(status).unwrap_or(Answered::Reached));
    }

    /// How a request has ended, for the crawl's pace.
    pub(super) fn in_trouble(&mut self, answered: Answered) {
        if let Some(pace) = &mut self.pace {
            pace.answered(answered);
        }
    }

    /// What an answer of this status says of the server alone.
    pub(super) fn trouble_of(&self, status: u16) -> Option<Answered> {
        match status {
            429 | 503 => Some(Answered::Throttled(self.retry_at)),
            500.. => Some(Answered::Faulty),
            _ => None,
        }
    }

    /// What the last answer asks to wait for, where that is no longer than anybody waits at a terminal.
    pub(super) fn asked_wait(&mut self, now: UnixMillis) -> Option<Duration> {
        let wait = self.retry_at.take()?.since(now);
        (!wait.is_zero() && wait <= limits::SESSION_PATIENCE).then_some(wait)
    }

    /// Between two requests a login holds nothing.
    pub(super) fn rest(&mut self) {
        if let Some(pace) = &mut self.pace {
            pace.rest();
        }
    }
}

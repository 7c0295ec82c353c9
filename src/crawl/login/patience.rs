//! Waiting times of a login's requests: the pace of the crawl, if it runs alongside one, and what the last response asked for.

use std::time::Duration;

use super::pace::Pace;
use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_net::politeness::{Answered, backoff};

/// Waiting state of a site during its login.
pub(super) struct Patience<'a> {
    /// None if no other requests are made alongside.
    pub(super) pace: Option<&'a mut Pace>,
    /// True before the first request.
    pub(super) is_first: bool,
    /// The time until which the last response asks us to wait, if any.
    pub(super) retry_at: Option<UnixMillis>,
    /// True if it asks for more than the maximum wait.
    pub(super) is_retry_capped: bool,
}

impl<'a> Patience<'a> {
    pub(super) fn new(pace: Option<&'a mut Pace>) -> Self {
        Self { pace, is_first: true, retry_at: None, is_retry_capped: false }
    }

    /// Records what a response of this status says of the server itself, and how long it asks to wait.
    pub(super) fn answered(&mut self, status: u16, retry_after: Option<&str>, now: UnixMillis) {
        self.retry_at = retry_after.and_then(|value| backoff::retry_after(value, now));
        self.is_retry_capped = retry_after.is_some_and(|value| backoff::is_capped(value, now));
        self.in_trouble(self.trouble_of(status).unwrap_or(Answered::Reached));
    }

    /// Reports the result of a request to the crawl's pace.
    pub(super) fn in_trouble(&mut self, answered: Answered) {
        if let Some(pace) = &mut self.pace {
            pace.answered(answered);
        }
    }

    /// What a response of this status says of the server itself.
    pub(super) fn trouble_of(&self, status: u16) -> Option<Answered> {
        match status {
            429 | 503 => Some(Answered::Throttled(self.retry_at)),
            500.. => Some(Answered::Faulty),
            _ => None,
        }
    }

    /// The wait that the last response asks for, if it is no longer than a user at a terminal would wait.
    pub(super) fn asked_wait(&mut self, now: UnixMillis) -> Option<Duration> {
        let wait = self.retry_at.take()?.since(now);
        (!wait.is_zero() && wait <= limits::SESSION_PATIENCE).then_some(wait)
    }

    /// Between two requests a login holds no slot.
    pub(super) fn rest(&mut self) {
        if let Some(pace) = &mut self.pace {
            pace.rest();
        }
    }
}

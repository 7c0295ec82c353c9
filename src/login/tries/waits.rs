//! The outcome of the last logins, and the times before which there is no other.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::limits::{
    CLOCK_MENDED_MAX, LOGIN_BROKEN_OFF_WAIT, LOGIN_WAIT_MAX, LOGINS_UNCLEAR_MAX, OPERATOR_POLL, SITE_TROUBLE_WAIT_MAX,
};
use crate::verdict::Verdict;
use gleaner_base::clock::UnixMillis;

/// How the last logins ended, with any password.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Outcome {
    /// Blocks logins until the operator logs in, or sets another password.
    pub(super) held: Option<(Verdict, u32)>,
    /// Consecutive logins without a clear end.
    pub(super) unclear: u32,
    pub(super) not_before: UnixMillis,
    /// The verdict of the last login, if it failed.
    pub(super) last: Option<Verdict>,
    /// True if the site did not respond, or was in trouble.
    pub(super) was_in_trouble: bool,
}

impl Outcome {
    /// The verdict that blocks these.
    pub(super) fn held_with(&self, marks: [u32; 2]) -> Option<Verdict> {
        self.held.filter(|(_, of)| marks.contains(of)).map(|(verdict, _)| verdict)
    }

    /// True if too many consecutive logins ended without a clear response.
    pub(super) fn is_unclear(&self) -> bool {
        self.unclear >= LOGINS_UNCLEAR_MAX
    }
}

/// Other reasons to wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Waits {
    /// Until when no crawl logs in, because the last sessions were short.
    pub(super) resting: UnixMillis,
    /// Mark of the only credentials that `Outcome::not_before` applies to; None if it applies to the site.
    #[serde(rename = "waits")]
    pub(super) only_for: Option<u32>,
    /// Until when the site itself asked us to wait; logins by hand wait, too.
    pub(super) asked_until: UnixMillis,
    /// Until when we wait because of a rate limit without a time: our guess.
    pub(super) guessed_until: UnixMillis,
    /// Consecutive logins that a site in trouble stopped before a form was sent.
    pub(super) stalled: u32,
}

impl Waits {
    pub(super) fn asked_until(&self, now: UnixMillis) -> Option<UnixMillis> {
        is_ahead(self.asked_until, now)
    }

    pub(super) fn guessed_until(&self, now: UnixMillis) -> Option<UnixMillis> {
        is_ahead(self.guessed_until, now)
    }

    /// Records the wait that the last login's response asks for; returns the total with our own wait.
    pub(super) fn ask(&mut self, until: UnixMillis, outcome: &Outcome, now: UnixMillis) -> UnixMillis {
        let minute = now.plus(LOGIN_BROKEN_OFF_WAIT);
        let (until, least) = match outcome.last {
            Some(Verdict::RateLimited) => (until.max(minute), minute),
            // The time it named before was too short.
            Some(Verdict::LimitedAgain) if outcome.unclear > 1 => (until.max(minute), outcome.not_before),
            Some(Verdict::LimitedAgain) => (until.max(minute), minute),
            _ => (until, outcome.not_before),
        };
        // Our own wait is not the site's request.
        (self.asked_until, self.guessed_until) = (until, UnixMillis(0));
        until.max(least)
    }
}

/// A time to wait for, if valid. No wait was ever longer than the longest one: a later time means that the clock was
/// ahead when it was stored, unless the clock was only corrected by a small amount.
pub(super) fn is_ahead(until: UnixMillis, now: UnixMillis) -> Option<UnixMillis> {
    Some(until).filter(|until| *until > now && *until <= now.plus(LOGIN_WAIT_MAX + CLOCK_MENDED_MAX))
}

/// Wait after the `nth` consecutive trouble of a site, from 1.
#[must_use]
pub fn wait_in_trouble(nth: u32) -> Duration {
    let doubled = OPERATOR_POLL.saturating_mul(2_u32.saturating_pow(nth.saturating_sub(1)));
    doubled.min(SITE_TROUBLE_WAIT_MAX)
}

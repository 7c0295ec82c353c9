//! What the last logins have brought about, and the times before which there is no other.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::limits::{
    CLOCK_MENDED_MAX, LOGIN_BROKEN_OFF_WAIT, LOGIN_WAIT_MAX, LOGINS_UNCLEAR_MAX, OPERATOR_POLL, SITE_TROUBLE_WAIT_MAX,
};
use crate::verdict::Verdict;
use gleaner_base::clock::UnixMillis;

/// How the last logins ended, whichever password they had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Outcome {
    /// Keeps us away until the operator logs in, or gives another password.
    pub(super) held: Option<(Verdict, u32)>,
    /// Logins without a clear end in a row.
    pub(super) unclear: u32,
    pub(super) not_before: UnixMillis,
    /// How the last login ended that was not let in.
    pub(super) last: Option<Verdict>,
    /// True where that was a site which did not answer, or was in trouble.
    pub(super) was_in_trouble: bool,
}

impl Outcome {
    /// How these are held.
    pub(super) fn held_with(&self, marks: [u32; 2]) -> Option<Verdict> {
        self.held.filter(|(_, of)| marks.contains(of)).map(|(verdict, _)| verdict)
    }

    /// True where the last logins have ended without a clear answer more often than is borne.
    pub(super) fn is_unclear(&self) -> bool {
        self.unclear >= LOGINS_UNCLEAR_MAX
    }
}

/// For what is waited beside that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Waits {
    /// Until when no crawl logs in, because the last sessions were short.
    pub(super) resting: UnixMillis,
    /// Marks the user and the password alone that `Outcome::not_before` is for; None where it is for the site.
    #[serde(rename = "waits")]
    pub(super) only_for: Option<u32>,
    /// Until when the site itself has asked to be left alone, which whoever logs in by hand waits for, too.
    pub(super) asked_until: UnixMillis,
    /// Until when it is left alone because it has asked for that without a time: a guess of ours.
    pub(super) guessed_until: UnixMillis,
    /// Logins in a row that a site in trouble has kept from sending a form.
    pub(super) stalled: u32,
}

impl Waits {
    pub(super) fn asked_until(&self, now: UnixMillis) -> Option<UnixMillis> {
        is_ahead(self.asked_until, now)
    }

    pub(super) fn guessed_until(&self, now: UnixMillis) -> Option<UnixMillis> {
        is_ahead(self.guessed_until, now)
    }

    /// Takes in how long the answer that ended the last login asks to wait; gives how long that is with a wait of our own.
    pub(super) fn ask(&mut self, until: UnixMillis, outcome: &Outcome, now: UnixMillis) -> UnixMillis {
        let minute = now.plus(LOGIN_BROKEN_OFF_WAIT);
        let (until, least) = match outcome.last {
            Some(Verdict::RateLimited) => (until.max(minute), minute),
            // What it named before was too short.
            Some(Verdict::LimitedAgain) if outcome.unclear > 1 => (until.max(minute), outcome.not_before),
            Some(Verdict::LimitedAgain) => (until.max(minute), minute),
            _ => (until, outcome.not_before),
        };
        // Our own wait is no word of the site's.
        (self.asked_until, self.guessed_until) = (until, UnixMillis(0));
        until.max(least)
    }
}

/// A time to wait for. None was ever further away than the longest wait: the clock was ahead when it was written, unless it has been set
/// by less than clocks are mended by.
pub(super) fn is_ahead(until: UnixMillis, now: UnixMillis) -> Option<UnixMillis> {
    Some(until).filter(|until| *until > now && *until <= now.plus(LOGIN_WAIT_MAX + CLOCK_MENDED_MAX))
}

/// Wait behind the `nth` time in a row, from 1, that a site was in trouble.
#[must_use]
pub fn wait_in_trouble(nth: u32) -> Duration {
    let doubled = OPERATOR_POLL.saturating_mul(2_u32.saturating_pow(nth.saturating_sub(1)));
    doubled.min(SITE_TROUBLE_WAIT_MAX)
}

//! The credentials that the site accepted last, and the retries granted to them.

use serde::{Deserialize, Serialize};

use super::LOGIN_HOUR;
use crate::limits::{LOGIN_BARE_MAX, LOGIN_FURTHER_MAX, LOGIN_FURTHER_WAITS, LOGINS_PER_HOUR_MAX};
use gleaner_base::clock::UnixMillis;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Accepted {
    pub(super) further: Further,
    /// Mark of these if they are blocked only because many responses in a row did not accept them.
    pub(super) worn_out: Option<u32>,
    /// Mark of the credentials.
    pub(super) proven: Option<u32>,
    /// When they were accepted.
    pub(super) proven_at: UnixMillis,
    /// The owner of that login's session.
    pub(super) member: Option<Box<str>>,
    /// Times of the last successful logins.
    pub(super) let_in: Vec<UnixMillis>,
}

impl Accepted {
    pub(super) fn is_of(&self, marks: [u32; 2]) -> bool {
        self.proven.is_some_and(|of| marks.contains(&of))
    }

    pub(super) fn is_worn_out(&self, marks: [u32; 2]) -> bool {
        self.worn_out.is_some_and(|of| marks.contains(&of))
    }

    /// Records that these were accepted.
    pub(super) fn let_in(&mut self, mark: u32, now: UnixMillis) {
        (self.proven, self.proven_at, self.further, self.worn_out) = (Some(mark), now, Further::default(), None);
        self.let_in.retain(|at| *at <= now && now.since(*at) < LOGIN_HOUR);
        self.let_in.push(now);
    }

    /// Records that these were accepted with another rule file of the account.
    pub(super) fn learn(&mut self, mark: u32, other: &Self) {
        (self.proven, self.proven_at, self.further) = (Some(mark), other.proven_at, other.further);
        self.member = self.member.take().or_else(|| other.member.clone());
    }

    /// When another login is allowed, after `limits::LOGINS_PER_HOUR_MAX` within an hour.
    pub(super) fn full_until(&self, now: UnixMillis) -> Option<UnixMillis> {
        let of_last_hour = self.let_in.iter().filter(|at| **at <= now && now.since(**at) < LOGIN_HOUR);
        let is_full = of_last_hour.clone().count() >= LOGINS_PER_HOUR_MAX;
        is_full.then(|| of_last_hour.min().map_or(now, |first| first.plus(LOGIN_HOUR)))
    }
}

/// Retries of the last accepted credentials, since they were accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Further {
    sent: u32,
    /// Inconclusive failed responses to them: neither a rejection nor site trouble.
    bare: u32,
    /// All failed responses to them, except those within `limits::LOGIN_FURTHER_WAITS[0]` of one that counted.
    answers: u32,
    /// When the last counted response came.
    answered_at: UnixMillis,
    /// Time of the next retry.
    pub(super) not_before: UnixMillis,
}

impl Further {
    /// Resets the waits, but not the counts.
    pub(super) fn begins_anew(&mut self) {
        (self.sent, self.not_before) = Default::default();
    }

    /// Counts an inconclusive response; true if another retry is allowed.
    pub(super) fn bears_bare(&mut self) -> bool {
        self.bare = self.bare.saturating_add(1);
        self.bare <= LOGIN_BARE_MAX
    }

    /// Counts any failed response; true if another retry is allowed. One evening's trouble counts once, however often
    /// the operator checks whether it is over.
    pub(super) fn bears(&mut self, now: UnixMillis) -> bool {
        if self.answers == 0 || now < self.answered_at || now.since(self.answered_at) >= LOGIN_FURTHER_WAITS[0] {
            (self.answers, self.answered_at) = (self.answers.saturating_add(1), now);
        }
        self.answers < LOGIN_FURTHER_MAX
    }

    /// The operator logged in by other means, so the site works.
    pub(super) fn forgets_answers(self) -> Self {
        Self { answers: 0, ..self }
    }

    /// Records that a retry is sent.
    pub(super) fn leaves(&mut self, now: UnixMillis) {
        let nth = LOGIN_FURTHER_WAITS.len().min(1 + self.sent as usize) - 1;
        (self.sent, self.not_before) = (self.sent.saturating_add(1), now.plus(LOGIN_FURTHER_WAITS[nth]));
    }
}

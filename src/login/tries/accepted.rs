//! The user and the password that the site has accepted last, and what they are granted for that.

use serde::{Deserialize, Serialize};

use super::LOGIN_HOUR;
use crate::limits::{LOGIN_BARE_MAX, LOGIN_FURTHER_MAX, LOGIN_FURTHER_WAITS, LOGINS_PER_HOUR_MAX};
use gleaner_base::clock::UnixMillis;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Accepted {
    pub(super) further: Further,
    /// Marks those of them that are held for no other reason than that no answer of many let them in.
    pub(super) worn_out: Option<u32>,
    /// Marks the user and the password.
    pub(super) proven: Option<u32>,
    /// When they were accepted.
    pub(super) proven_at: UnixMillis,
    /// Whose session that login has begun.
    pub(super) member: Option<Box<str>>,
    /// The last logins that were let in.
    pub(super) let_in: Vec<UnixMillis>,
}

impl Accepted {
    pub(super) fn is_of(&self, marks: [u32; 2]) -> bool {
        self.proven.is_some_and(|of| marks.contains(&of))
    }

    pub(super) fn is_worn_out(&self, marks: [u32; 2]) -> bool {
        self.worn_out.is_some_and(|of| marks.contains(&of))
    }

    /// Takes in that these were let in.
    pub(super) fn let_in(&mut self, mark: u32, now: UnixMillis) {
        (self.proven, self.proven_at, self.further, self.worn_out) = (Some(mark), now, Further::default(), None);
        self.let_in.retain(|at| *at <= now && now.since(*at) < LOGIN_HOUR);
        self.let_in.push(now);
    }

    /// Takes in that these were let in by another rule file of the account.
    pub(super) fn learn(&mut self, mark: u32, other: &Self) {
        (self.proven, self.proven_at, self.further) = (Some(mark), other.proven_at, other.further);
        self.member = self.member.take().or_else(|| other.member.clone());
    }

    /// Before when there is no other login, as there were `limits::LOGINS_PER_HOUR_MAX` within an hour.
    pub(super) fn full_until(&self, now: UnixMillis) -> Option<UnixMillis> {
        let of_last_hour = self.let_in.iter().filter(|at| **at <= now && now.since(**at) < LOGIN_HOUR);
        let is_full = of_last_hour.clone().count() >= LOGINS_PER_HOUR_MAX;
        is_full.then(|| of_last_hour.min().map_or(now, |first| first.plus(LOGIN_HOUR)))
    }
}

/// Further tries of the user and password that were let in last, since they were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Further {
    sent: u32,
    /// Answers to them that let nobody in, and tell neither of a refusal nor of trouble.
    bare: u32,
    /// All answers to them that let nobody in, but for those within `limits::LOGIN_FURTHER_WAITS[0]` of one that counted.
    answers: u32,
    /// When the last of those came.
    answered_at: UnixMillis,
    /// Before when there is no other.
    pub(super) not_before: UnixMillis,
}

impl Further {
    /// The waits begin anew, and not what was borne.
    pub(super) fn begins_anew(&mut self) {
        (self.sent, self.not_before) = Default::default();
    }

    /// Takes in that one was answered so; true where there is another.
    pub(super) fn bears_bare(&mut self) -> bool {
        self.bare = self.bare.saturating_add(1);
        self.bare <= LOGIN_BARE_MAX
    }

    /// Takes in that one was answered at all, and let nobody in; true where there is another. Trouble of one evening counts once, however
    /// often its operator looks whether it is over.
    pub(super) fn bears(&mut self, now: UnixMillis) -> bool {
        if self.answers == 0 || now < self.answered_at || now.since(self.answered_at) >= LOGIN_FURTHER_WAITS[0] {
            (self.answers, self.answered_at) = (self.answers.saturating_add(1), now);
        }
        self.answers < LOGIN_FURTHER_MAX
    }

    /// The operator has logged in by other means: the site is well.
    pub(super) fn forgets_answers(self) -> Self {
        Self { answers: 0, ..self }
    }

    /// Takes in that one leaves.
    pub(super) fn leaves(&mut self, now: UnixMillis) {
        let nth = LOGIN_FURTHER_WAITS.len().min(1 + self.sent as usize) - 1;
        (self.sent, self.not_before) = (self.sent.saturating_add(1), now.plus(LOGIN_FURTHER_WAITS[nth]));
    }
}

//! The site's responses to each user and password, by their marks.

use std::hash::{BuildHasher as _, RandomState};

use serde::{Deserialize, Serialize};

use super::again::again;
use crate::limits::{LOGIN_WAYS_MAX, LOGINS_REFUSED_MAX};
use crate::secret::Secret;
use crate::verdict::Verdict;
use gleaner_base::clock::UnixMillis;

/// In each list the latest comes last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Answers {
    /// Salt of this file's marks, so that no precomputed table can reverse them. It is stored beside them: a salt in
    /// a separate file could be lost, and rejected credentials would be tried again. None before the first mark, and
    /// in older files, whose marks use the common salt.
    pub(super) salt: Option<[u64; 2]>,
    /// Marks of credentials that the site rejected.
    pub(super) refused: Vec<u32>,
    /// Marks of credentials for which the form came back with unknown words.
    pub(super) probably_refused: Vec<u32>,
    /// Marks of credentials for which the account was locked: a success with another password does not unlock it.
    pub(super) locked: Vec<u32>,
    /// Marks of credentials whose form came back with a CAPTCHA: results of others say nothing about them.
    pub(super) captcha: Vec<u32>,
    /// Marks of all credentials that were sent without a proven session, with the verdict; false if the server
    /// reported trouble.
    pub(super) sent: Vec<(u32, Verdict, bool)>,
    /// Marks of credentials whose one retry (`again`) was sent: until they are accepted, or the operator passes
    /// `--again`.
    pub(super) once_more: Vec<u32>,
    /// Marks of credentials that met a rate limit, once for each time since they were accepted.
    pub(super) limited: Vec<u32>,
    /// When a form with each credentials was last sent.
    pub(super) sent_at: Vec<(u32, UnixMillis)>,
    /// The variants of the rule file by which each credentials were sent. Another variant never removes an entry.
    pub(super) ways: Vec<(u32, u32)>,
    /// When the locks on credentials end, by the site's own words. This only tells the operator when to check; no
    /// login starts because of it.
    pub(super) lock_ends: Vec<(u32, UnixMillis)>,
}

/// Identifies the password of a user; too short to reverse.
fn mark(salt: Option<[u64; 2]>, user: &str, password: &Secret) -> u32 {
    let mut bytes = format!("gleaner tries\0{user}\0").into_bytes();
    bytes.extend(salt.into_iter().flatten().flat_map(u64::to_be_bytes));
    password.mark(&bytes)
}

/// Two unpredictable numbers: the standard library seeds its hash maps with them.
fn fresh_salt() -> [u64; 2] {
    [0_u64, 1].map(|number| RandomState::new().hash_one(number))
}

/// Adds a mark and drops the oldest beyond `limits::LOGINS_REFUSED_MAX`.
pub(super) fn push<T>(list: &mut Vec<T>, mark: T) {
    list.push(mark);
    let too_many = list.len().saturating_sub(LOGINS_REFUSED_MAX);
    list.drain(..too_many);
}

pub(super) fn forget(list: &mut Vec<u32>, marks: [u32; 2]) {
    list.retain(|of| !marks.contains(of));
}

fn is_in(list: &[u32], marks: [u32; 2]) -> bool {
    list.iter().any(|of| marks.contains(of))
}

impl Answers {
    /// The possible marks of this password here: its own, and the unsalted one of older files.
    pub(super) fn marks(&self, user: &str, password: &Secret) -> [u32; 2] {
        [mark(self.salt, user, password), mark(None, user, password)]
    }

    /// The same with a new salt if needed; replaces the unsalted mark everywhere.
    pub(super) fn new_marks(&mut self, user: &str, password: &Secret) -> [u32; 2] {
        self.salt.get_or_insert_with(fresh_salt);
        let [new, old] = self.marks(user, password);
        let lists = [&mut self.refused, &mut self.probably_refused, &mut self.locked, &mut self.captcha];
        let lists = lists.into_iter().chain([&mut self.once_more, &mut self.limited]).flatten();
        let timed = self.sent_at.iter_mut().chain(&mut self.lock_ends).map(|(of, _)| of);
        let sent = self.sent.iter_mut().map(|(of, _, _)| of);
        lists.chain(sent).chain(timed).filter(|of| **of == old).for_each(|of| *of = new);
        [new, old]
    }

    /// Whether the site rejected these, certainly or probably.
    pub(super) fn refusal(&self, marks: [u32; 2]) -> Option<Verdict> {
        let probable = || is_in(&self.probably_refused, marks).then_some(Verdict::ProbablyRefused);
        is_in(&self.refused, marks).then_some(Verdict::WrongPassword).or_else(probable)
    }

    pub(super) fn is_locked(&self, marks: [u32; 2]) -> bool {
        is_in(&self.locked, marks)
    }

    pub(super) fn met_captcha(&self, marks: [u32; 2]) -> bool {
        is_in(&self.captcha, marks)
    }

    /// True if their one retry was sent.
    pub(super) fn is_spent(&self, marks: [u32; 2]) -> bool {
        is_in(&self.once_more, marks)
    }

    /// How the last login with these ended, if it was sent and not accepted.
    pub(super) fn sent_with(&self, marks: [u32; 2]) -> Option<(Verdict, bool)> {
        let found = self.sent.iter().rev().find(|(of, _, _)| marks.contains(of));
        found.map(|(_, verdict, was_answered)| (*verdict, *was_answered))
    }

    /// When a form with these was last sent, if recorded.
    pub(super) fn sent_at(&self, marks: [u32; 2]) -> Option<UnixMillis> {
        self.sent_at.iter().rev().find(|(of, _)| marks.contains(of)).map(|(_, at)| *at)
    }

    /// True if the list is full and does not contain these.
    pub(super) fn is_full_for(&self, marks: [u32; 2]) -> bool {
        self.sent.len() >= LOGINS_REFUSED_MAX && self.sent_with(marks).is_none()
    }

    pub(super) fn lock_ends(&self, marks: [u32; 2]) -> Option<UnixMillis> {
        self.lock_ends.iter().find(|(of, _)| marks.contains(of)).map(|(_, ends)| *ends)
    }

    pub(super) fn meet_lock(&mut self, mark: u32, ends: UnixMillis) {
        self.lock_ends.retain(|(of, _)| *of != mark);
        push(&mut self.lock_ends, (mark, ends));
    }

    /// Records the verdict for these; a less restrictive verdict never replaces a more restrictive one.
    pub(super) fn note_sent(&mut self, mark: u32, marks: [u32; 2], (verdict, was_answered): (Verdict, bool)) {
        let freedom = |(verdict, was_answered): (Verdict, bool)| again(verdict, was_answered).by_hand;
        let (new, before) = (freedom((verdict, was_answered)), self.sent_with(marks));
        // Among verdicts without a check of the password, the one without the site's own reason counts.
        let is_more = |before: (Verdict, bool)| {
            freedom(before) > new || freedom(before) == new && before.0 == Verdict::NotLookedAt
        };
        if before.is_some_and(is_more) {
            return;
        }
        self.sent.retain(|(of, _, _)| !marks.contains(of));
        push(&mut self.sent, (mark, verdict, was_answered));
    }

    /// Records that these were rejected, certainly or probably.
    pub(super) fn refuse(&mut self, verdict: Verdict, mark: u32, marks: [u32; 2]) {
        let is_sure = verdict == Verdict::WrongPassword;
        let list = if is_sure { &mut self.refused } else { &mut self.probably_refused };
        forget(list, marks);
        push(list, mark);
    }

    /// Records the variant by which they are sent.
    pub(super) fn note_way(&mut self, mark: u32, way: Option<u32>) {
        let Some(way) = way.filter(|way| !self.ways.contains(&(mark, *way))) else { return };
        if self.ways.iter().filter(|(of, _)| *of == mark).count() < LOGIN_WAYS_MAX {
            self.ways.push((mark, way));
        }
        // Credentials without recorded variants are not freed by another variant.
        if let Some((oldest, _)) = self.ways.first().copied().filter(|_| self.ways.len() > LOGINS_REFUSED_MAX) {
            self.ways.retain(|(of, _)| *of != oldest);
        }
    }

    /// True if the rule file names a variant by which these were not yet sent, and no earlier response was a clear
    /// rejection: a login by hand may send them once by that variant.
    pub(super) fn is_freed(&self, marks: [u32; 2], way: Option<u32>) -> bool {
        use Verdict::{NotLookedAt, ProbablyRefused, SiteTrouble, Unknown};
        let is_vague =
            matches!(self.sent_with(marks), Some((ProbablyRefused | Unknown | NotLookedAt, true) | (SiteTrouble, _)));
        let ways = || self.ways.iter().filter(|(of, _)| marks.contains(of)).map(|(_, way)| *way);
        let is_other = |way: u32| (1..LOGIN_WAYS_MAX).contains(&ways().count()) && ways().all(|of| of != way);
        is_vague && way.is_some_and(is_other)
    }

    /// Imports the lists of another file, in which these have the marks `theirs`.
    pub(super) fn learn(&mut self, other: &Self, theirs: [u32; 2], marks: [u32; 2], sent: (Verdict, bool)) {
        let lists = [(&mut self.refused, &other.refused), (&mut self.probably_refused, &other.probably_refused)];
        for (ours, of) in lists.into_iter().chain([(&mut self.once_more, &other.once_more)]) {
            if is_in(of, theirs) && !ours.contains(&marks[0]) {
                ours.push(marks[0]);
            }
        }
        self.note_sent(marks[0], marks, sent);
        for (_, way) in other.ways.iter().filter(|(of, _)| theirs.contains(of)) {
            if !self.ways.contains(&(marks[0], *way)) {
                self.ways.push((marks[0], *way));
            }
        }
    }

    /// A response came: earlier locks and CAPTCHAs are over.
    pub(super) fn answer_came(&mut self, marks: [u32; 2]) {
        forget(&mut self.locked, marks);
        forget(&mut self.captcha, marks);
        self.lock_ends.retain(|(of, _)| !marks.contains(of));
    }

    /// The site accepted these.
    pub(super) fn forget_refusals(&mut self, marks: [u32; 2]) {
        self.sent.retain(|(of, _, _)| !marks.contains(of));
        self.ways.retain(|(of, _)| !marks.contains(of));
        for list in [&mut self.limited, &mut self.refused, &mut self.probably_refused] {
            forget(list, marks);
        }
    }
}

//! What the site has answered to each user and password, by their marks.

use std::hash::{BuildHasher as _, RandomState};

use serde::{Deserialize, Serialize};

use super::again::again;
use crate::limits::{LOGIN_WAYS_MAX, LOGINS_REFUSED_MAX};
use crate::secret::Secret;
use crate::verdict::Verdict;
use gleaner_base::clock::UnixMillis;

/// Each list has the latest last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Answers {
    /// Of the marks of this file alone, so that no table made beforehand finds out what they stand for. It is kept beside
    /// them: a salt in a file of its own could be lost, and what was refused would be tried again. None until the first
    /// mark, and in files of before there was one, whose marks have the salt of all.
    pub(super) salt: Option<[u64; 2]>,
    /// Marks the users and passwords that the site has refused.
    pub(super) refused: Vec<u32>,
    /// Likewise those with which the form came back in words that are not known.
    pub(super) probably_refused: Vec<u32>,
    /// Marks the users and passwords at which the account was locked: what another password brings does not unlock it.
    pub(super) locked: Vec<u32>,
    /// Likewise those whose form came back with a CAPTCHA: what another one brings says nothing of them.
    pub(super) captcha: Vec<u32>,
    /// Marks all users and passwords that were sent and did not bring a session that was proven, with how that ended; false where a server in
    /// trouble said so.
    pub(super) sent: Vec<(u32, Verdict, bool)>,
    /// Marks those whose one more try that the table grants was sent (`again`): until they are accepted, or their operator says `--again`.
    pub(super) once_more: Vec<u32>,
    /// Marks those whose try was answered by asking for patience, once for each, since they were accepted.
    pub(super) limited: Vec<u32>,
    /// When a form with each user and password has left last.
    pub(super) sent_at: Vec<(u32, UnixMillis)>,
    /// By which ways of the rule file each user and password were sent. Nothing is taken away for another way: what was answered by one stays
    /// so.
    pub(super) ways: Vec<(u32, u32)>,
    /// When the locks end that users and passwords have met, by the site's own words: that tells their operator when to look, and lets no login
    /// begin by itself.
    pub(super) lock_ends: Vec<(u32, UnixMillis)>,
}

/// Tells one password of one user from another; too short to find out which.
fn mark(salt: Option<[u64; 2]>, user: &str, password: &Secret) -> u32 {
    let mut bytes = format!("gleaner tries\0{user}\0").into_bytes();
    bytes.extend(salt.into_iter().flatten().flat_map(u64::to_be_bytes));
    password.mark(&bytes)
}

/// Two numbers that nobody knows beforehand: the standard library keys its hash maps by them.
fn fresh_salt() -> [u64; 2] {
    [0_u64, 1].map(|number| RandomState::new().hash_one(number))
}

/// Takes in one more mark, in place of the oldest where there are `limits::LOGINS_REFUSED_MAX`.
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
    /// The marks that this password has or may have here: its own, and that of files without a salt.
    pub(super) fn marks(&self, user: &str, password: &Secret) -> [u32; 2] {
        [mark(self.salt, user, password), mark(None, user, password)]
    }

    /// The same with a salt of its own, in place of the mark without one wherever that stands.
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

    /// Whether the site has refused these, for sure or probably.
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

    /// True where their one more try was sent.
    pub(super) fn is_spent(&self, marks: [u32; 2]) -> bool {
        is_in(&self.once_more, marks)
    }

    /// How the last login with these ended, where it was sent and not let in.
    pub(super) fn sent_with(&self, marks: [u32; 2]) -> Option<(Verdict, bool)> {
        let found = self.sent.iter().rev().find(|(of, _, _)| marks.contains(of));
        found.map(|(_, verdict, was_answered)| (*verdict, *was_answered))
    }

    /// When a form with these has left last, where that was written down.
    pub(super) fn sent_at(&self, marks: [u32; 2]) -> Option<UnixMillis> {
        self.sent_at.iter().rev().find(|(of, _)| marks.contains(of)).map(|(_, at)| *at)
    }

    /// True where no more can be remembered, and these are not known.
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

    /// Writes down how a form with these ended: nothing that says less of them takes the place of what says more.
    pub(super) fn note_sent(&mut self, mark: u32, marks: [u32; 2], (verdict, was_answered): (Verdict, bool)) {
        let freedom = |(verdict, was_answered): (Verdict, bool)| again(verdict, was_answered).by_hand;
        let (new, before) = (freedom((verdict, was_answered)), self.sent_with(marks));
        // Of those that did not look at it, what came without a reason of the site's counts.
        let is_more = |before: (Verdict, bool)| {
            freedom(before) > new || freedom(before) == new && before.0 == Verdict::NotLookedAt
        };
        if before.is_some_and(is_more) {
            return;
        }
        self.sent.retain(|(of, _, _)| !marks.contains(of));
        push(&mut self.sent, (mark, verdict, was_answered));
    }

    /// Writes down that these are refused, for sure or probably.
    pub(super) fn refuse(&mut self, verdict: Verdict, mark: u32, marks: [u32; 2]) {
        let is_sure = verdict == Verdict::WrongPassword;
        let list = if is_sure { &mut self.refused } else { &mut self.probably_refused };
        forget(list, marks);
        push(list, mark);
    }

    /// Writes down by which way they are sent.
    pub(super) fn note_way(&mut self, mark: u32, way: Option<u32>) {
        let Some(way) = way.filter(|way| !self.ways.contains(&(mark, *way))) else { return };
        if self.ways.iter().filter(|(of, _)| *of == mark).count() < LOGIN_WAYS_MAX {
            self.ways.push((mark, way));
        }
        // One of which nothing is known is not freed by another way.
        if let Some((oldest, _)) = self.ways.first().copied().filter(|_| self.ways.len() > LOGINS_REFUSED_MAX) {
            self.ways.retain(|(of, _)| *of != oldest);
        }
    }

    /// True where the rule file names another way than those by which these were sent, and what they were answered by them is no sure
    /// refusal: whoever logs in by hand has them sent by that one, once.
    pub(super) fn is_freed(&self, marks: [u32; 2], way: Option<u32>) -> bool {
        use Verdict::{NotLookedAt, ProbablyRefused, SiteTrouble, Unknown};
        let is_vague =
            matches!(self.sent_with(marks), Some((ProbablyRefused | Unknown | NotLookedAt, true) | (SiteTrouble, _)));
        let ways = || self.ways.iter().filter(|(of, _)| marks.contains(of)).map(|(_, way)| *way);
        let is_other = |way: u32| (1..LOGIN_WAYS_MAX).contains(&ways().count()) && ways().all(|of| of != way);
        is_vague && way.is_some_and(is_other)
    }

    /// Takes in the lists of another file, where these have the marks `theirs`.
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

    /// An answer has come: locks and CAPTCHAs of before are over.
    pub(super) fn answer_came(&mut self, marks: [u32; 2]) {
        forget(&mut self.locked, marks);
        forget(&mut self.captcha, marks);
        self.lock_ends.retain(|(of, _)| !marks.contains(of));
    }

    /// The site has accepted these.
    pub(super) fn forget_refusals(&mut self, marks: [u32; 2]) {
        self.sent.retain(|(of, _, _)| !marks.contains(of));
        self.ways.retain(|(of, _)| !marks.contains(of));
        for list in [&mut self.limited, &mut self.refused, &mut self.probably_refused] {
            forget(list, marks);
        }
    }
}

//! The state changes of a login, from its start to its end: marks of what was sent, waits, and their resets.

use std::time::Duration;

use super::accepted::Further;
use super::again::{Again, OfHand, again};
use super::answers::{Answers, forget, push};
use super::waits::wait_in_trouble;
use super::{Accepted, Attempt, Ended, LOGIN_HOUR, Tries};
use crate::limits::{LOGIN_BROKEN_OFF_WAIT, LOGIN_LIMITED_MAX, LOGIN_WAIT_MAX, UNPROVEN_SESSION_TIME};
use crate::secret::Secret;
use crate::verdict::Verdict;
use gleaner_base::clock::UnixMillis;

/// Wait after the first login without a clear end; each further one quadruples it.
pub(super) const FIRST_WAIT: Duration = Duration::from_secs(5 * 60);

impl Tries {
    /// Records that a login starts. Must be stored before anything is sent, so that a process killed in the middle
    /// counts as an attempt.
    pub fn begin(&mut self, user: &str, password: &Secret) {
        let marks = self.marks(user, password);
        if self.attempt.begun.is_some_and(|of| !marks.contains(&of)) {
            self.note_begun();
        }
        let [mark, _] = self.new_marks(user, password);
        self.attempt = Attempt { begun: Some(mark), ..Attempt::default() };
    }

    /// The same for a login with `--again`: it counts as a first attempt.
    pub fn begin_again(&mut self, user: &str, password: &Secret) {
        self.begin(user, password);
        let marks = self.marks(user, password);
        self.forget_further(marks);
        self.attempt.is_told_again = true;
    }

    /// Resets the retries.
    fn forget_further(&mut self, marks: [u32; 2]) {
        forget(&mut self.answers.once_more, marks);
        if self.accepted.is_of(marks) {
            self.accepted.further = Further::default();
        }
    }

    /// Records the verdict of a login that started and whose end will never be known: its form may have been sent.
    fn note_begun(&mut self) {
        let unless = self.attempt.unproven.take().map_or((Verdict::NoAnswer, false), |(unless, _)| (unless, true));
        if let Some(mark) = self.attempt.begun.take() {
            self.answers.note_sent(mark, [mark, mark], unless);
        }
    }

    /// Records that a form of the current login is sent: the previous response is settled, and if the table grants a
    /// retry, this is it.
    pub fn form_leaves(&mut self, now: UnixMillis) {
        let is_read_again = std::mem::take(&mut self.attempt.reads_again);
        self.attempt.unproven = None;
        let Some(mark) = self.attempt.begun else { return };
        self.answers.note_way(mark, self.origin.way);
        self.answers.sent_at.retain(|(of, _)| *of != mark);
        push(&mut self.answers.sent_at, (mark, now));
        let marks = [mark, mark];
        let more = self.answers.sent_with(marks).filter(|_| !self.attempt.is_told_again);
        let more = more.map(|(verdict, was_answered)| again(verdict, was_answered));
        if (is_read_again || more.is_some_and(Again::is_once)) && !self.answers.is_spent(marks) {
            push(&mut self.answers.once_more, mark);
        }
        // A login of two pages has two forms, but is one attempt.
        if more.is_some_and(Again::is_for_let_in) && self.accepted.is_of(marks) && !self.attempt.form_left {
            self.accepted.further.leaves(now);
        }
        self.attempt.form_left = true;
    }

    /// True if the current login may send its form again with another CAPTCHA text: the next form that is sent is
    /// then the one retry, whatever the previous response was.
    #[must_use]
    pub fn may_read_again(&mut self) -> bool {
        self.attempt.reads_again = self.attempt.begun.is_some_and(|mark| !self.answers.is_spent([mark, mark]));
        self.attempt.reads_again
    }

    /// Records that the site accepted the current login's form and its proof is pending; `unless` is the verdict if
    /// the proof fails.
    pub fn await_proof(&mut self, unless: Verdict, now: UnixMillis) {
        self.attempt.unproven = Some((unless, now));
    }

    /// Records that its cookies are gone, so that it can no longer be proved: the operator removed them. True if
    /// there was such a login.
    pub fn forget_unproven(&mut self) -> bool {
        let was_unproven = self.attempt.unproven.is_some();
        if was_unproven {
            self.note_begun();
        }
        was_unproven
    }

    /// Records the result of that proof; returns the verdict. None if it failed but the session may have expired
    /// meanwhile: then the login counts as broken off.
    pub fn proof_came(&mut self, holds: bool, user: &str, password: &Secret, now: UnixMillis) -> Option<Verdict> {
        let is_young = |at: UnixMillis| at <= now && now.since(at) < UNPROVEN_SESSION_TIME;
        // A form that came back was no session that could have expired.
        let stands = |(unless, at): &(Verdict, UnixMillis)| *unless == Verdict::ProbablyRefused || is_young(*at);
        let refused = self.attempt.unproven.filter(stands).map(|(unless, _)| unless);
        let verdict = match (holds, refused) {
            (true, _) => Verdict::LoggedIn,
            // It seemed to have worked, and the site may have dropped its sessions since.
            (false, Some(Verdict::Unknown)) => Verdict::SessionLost,
            // As for an immediate proof: accepted credentials get retries unless the rejection is clear.
            (false, Some(Verdict::ProbablyRefused)) if self.was_let_in(user, password) && self.bears_bare() => {
                Verdict::SiteTrouble
            }
            (false, Some(refused)) => refused,
            (false, None) => {
                self.broke_off(user, password, now);
                return None;
            }
        };
        Some(self.ended(Ended { verdict, was_sent: true, was_answered: true }, user, password, now))
    }

    /// Records that the last login may have broken off. True if it did: it may have been rejected, so the next one
    /// waits, and it counts as one without a clear verdict.
    pub fn broke_off(&mut self, user: &str, password: &Secret, now: UnixMillis) -> bool {
        let marks = self.marks(user, password);
        let has = self.attempt.begun.is_some_and(|begun| marks.contains(&begun));
        if !has {
            // The end of another one will never be known either.
            self.note_begun();
        }
        (self.attempt.begun, self.attempt.unproven) = (None, None);
        if has {
            // Its form may have been sent: that is not due to the table.
            self.is_of_table = false;
            self.outcome.unclear = self.outcome.unclear.saturating_add(1);
            // If the site asked for a longer wait, that counts.
            let wait = now.plus(LOGIN_BROKEN_OFF_WAIT);
            self.outcome.not_before = self.not_before(now).map_or(wait, |until| until.max(wait));
            let [mark, _] = self.new_marks(user, password);
            self.waits.only_for = Some(mark);
            self.answers.note_sent(mark, marks, (Verdict::NoAnswer, false));
            if self.outcome.is_unclear() {
                self.outcome.held = Some((Verdict::NoAnswer, mark));
            }
            if self.accepted.is_of(marks) && !self.accepted.further.bears(now) {
                self.accepted.worn_out = Some(mark);
                self.answers.refuse(Verdict::ProbablyRefused, mark, marks);
            }
        }
        has
    }

    /// Records that the current login was stopped before anything was sent: it is no attempt, and the caller sets the
    /// wait.
    pub fn came_to_nothing(&mut self) {
        (self.attempt.begun, self.attempt.unproven) = (None, None);
    }

    /// Records that before anything was sent, the site did not respond or was in trouble. It is no attempt; the next
    /// check of the site waits, twice as long each time, also across processes.
    pub fn met_trouble(&mut self, now: UnixMillis) {
        self.came_to_nothing();
        (self.outcome.last, self.outcome.was_in_trouble, self.is_of_table) = (Some(Verdict::Unknown), true, false);
        self.waits.stalled = self.waits.stalled.saturating_add(1);
        (self.waits.only_for, self.outcome.not_before) = (None, now.plus(wait_in_trouble(self.waits.stalled)));
    }

    /// Records that the operator logged in as this user by other means; passwords that were sent without success stay
    /// blocked.
    pub fn operator_has_logged_in(&mut self, user: &str) {
        self.note_begun();
        let Self { answers, accepted, origin, .. } = std::mem::take(self);
        let answers = Answers { locked: Vec::new(), captcha: Vec::new(), lock_ends: Vec::new(), ..answers };
        let further = accepted.further.forgets_answers();
        let accepted = Accepted { further, member: Some(user.into()), ..accepted };
        *self = Self { answers, accepted, origin, ..Self::default() };
    }

    /// Records the end of a login; returns the effective verdict, which earlier attempts may change.
    pub fn ended(&mut self, ended: Ended, user: &str, password: &Secret, now: UnixMillis) -> Verdict {
        let marks = self.new_marks(user, password);
        let ended = Ended { verdict: self.counts_as(ended, marks, now), ..ended };
        self.close(ended, marks);
        if ended.was_sent {
            self.note_answer(ended, marks);
        }
        self.waits.only_for = None;
        self.bring_about(ended, user, marks, now);
        ended.verdict
    }

    /// The effective verdict of a response, given those before it.
    fn counts_as(&mut self, ended: Ended, marks: [u32; 2], now: UnixMillis) -> Verdict {
        let Ended { mut verdict, was_sent, was_answered } = ended;
        if !was_sent {
            return verdict;
        }
        // An inconclusive response may be a rejection. After a second one to the same credentials there is no third
        // attempt, unless they were accepted before: those are retried less and less often.
        let was_unknown = matches!(self.answers.sent_with(marks), Some((before, true)) if tells_nothing(before));
        let is_let_in = self.accepted.is_of(marks);
        if tells_nothing(verdict) && was_answered && (was_unknown || self.is_of_trouble(marks)) {
            verdict = if is_let_in { Verdict::SiteTrouble } else { Verdict::ProbablyRefused };
            self.outcome.held = None;
        }
        if verdict == Verdict::RateLimited {
            push(&mut self.answers.limited, marks[0]);
            let times = self.answers.limited.iter().filter(|of| marks.contains(of)).count();
            if times >= if is_let_in { LOGIN_LIMITED_MAX - 1 } else { LOGIN_LIMITED_MAX } {
                verdict = Verdict::LimitedAgain;
            }
        }
        // It may be how the site says that the account no longer exists.
        let may_go_on = || again(verdict, was_answered).is_for_crawls(true) && verdict != Verdict::LoggedIn;
        if is_let_in && may_go_on() && !self.accepted.further.bears(now) {
            (verdict, self.accepted.worn_out) = (Verdict::ProbablyRefused, Some(marks[0]));
        }
        verdict
    }

    /// Ends the current login, and clears what only the previous one had caused.
    fn close(&mut self, ended: Ended, marks: [u32; 2]) {
        let Ended { verdict, was_sent, was_answered } = ended;
        if was_sent && was_answered {
            self.answers.answer_came(marks);
        }
        let held = self.outcome.held;
        self.outcome.held = held.filter(|(held, of)| !was_sent || *held != Verdict::Captcha || marks.contains(of));
        self.keep_by_forms(was_sent);
        (self.attempt.begun, self.attempt.unproven, self.loops_at) = (None, None, None);
        (self.waits.asked_until, self.waits.guessed_until) = Default::default();
        // A site that did not respond before anything was sent has said nothing about the account.
        let is_silence = verdict == Verdict::Unknown && !was_sent;
        self.outcome.last = (verdict != Verdict::LoggedIn && !is_silence).then_some(verdict);
        self.outcome.was_in_trouble = verdict == Verdict::Unknown && !was_answered;
        (self.is_of_table, self.waits.stalled) = (!was_sent, 0);
    }

    /// Records the response to a sent form.
    fn note_answer(&mut self, ended: Ended, marks: [u32; 2]) {
        let Ended { verdict, was_answered, .. } = ended;
        let is_let_in = self.accepted.is_of(marks);
        let is_trouble = verdict == Verdict::Unknown && !was_answered;
        if is_trouble && !is_let_in && self.answers.sent_with(marks) == Some((verdict, was_answered)) {
            // After two reports of trouble the password may have been checked, even if a login succeeds before the
            // third.
            self.answers.note_sent(marks[0], marks, (Verdict::SiteTrouble, was_answered));
        }
        let is_sure_trouble = again(verdict, was_answered).by_hand == OfHand::Yes;
        if self.accepted.is_worn_out(marks) && self.attempt.is_told_again && is_sure_trouble {
            // Nor does it use up an `--again`, if only responses like it were against these credentials.
            self.accepted.worn_out = None;
            forget(&mut self.answers.probably_refused, marks);
            self.answers.sent.retain(|(of, before, _)| *before != Verdict::ProbablyRefused || !marks.contains(of));
        }
        if verdict != Verdict::LoggedIn {
            self.answers.note_way(marks[0], self.origin.way);
            self.answers.note_sent(marks[0], marks, (verdict, was_answered));
        }
        // A response without a check of the password uses up no retry.
        if is_sure_trouble {
            forget(&mut self.answers.once_more, marks);
            if is_let_in {
                self.accepted.further.begins_anew();
            }
        }
    }

    /// The consequences of the verdict for the next login.
    fn bring_about(&mut self, ended: Ended, user: &str, marks: [u32; 2], now: UnixMillis) {
        let Ended { verdict, was_sent, .. } = ended;
        match verdict {
            Verdict::LoggedIn => {
                self.accepted.let_in(marks[0], now);
                self.answers.forget_refusals(marks);
                self.operator_has_logged_in(user);
            }
            Verdict::WrongPassword | Verdict::ProbablyRefused => self.answers.refuse(verdict, marks[0], marks),
            // A missing form may be back tomorrow.
            Verdict::RateLimited
            | Verdict::Unknown
            | Verdict::NotLookedAt
            | Verdict::NoAnswer
            | Verdict::SiteTrouble
            | Verdict::SessionLost
            | Verdict::LimitedAgain
            | Verdict::NoForm
            | Verdict::RedirectLoop => self.wait_longer(ended, marks, now),
            Verdict::Locked => {
                self.outcome.held = Some((verdict, marks[0]));
                push(&mut self.answers.locked, marks[0]);
            }
            Verdict::Captcha
            | Verdict::SecondFactor
            | Verdict::ConfirmEmail
            | Verdict::PasswordExpired
            | Verdict::OtherSite
            | Verdict::SentByGet
            | Verdict::Script => {
                self.outcome.held = Some((verdict, marks[0]));
                if verdict == Verdict::Captcha && was_sent {
                    forget(&mut self.answers.captcha, marks);
                    push(&mut self.answers.captcha, marks[0]);
                }
            }
        }
    }

    /// Delays the next login, longer each time, and finally blocks it for the operator.
    fn wait_longer(&mut self, ended: Ended, marks: [u32; 2], now: UnixMillis) {
        let Ended { verdict, was_sent, was_answered } = ended;
        let is_known = matches!(verdict, Verdict::NoForm | Verdict::RedirectLoop);
        let unclear = self.outcome.unclear.saturating_add(u32::from(was_sent || is_known));
        let is_limit = matches!(verdict, Verdict::RateLimited | Verdict::LimitedAgain);
        let first = if is_limit { LOGIN_HOUR } else { FIRST_WAIT };
        let wait = first.saturating_mul(4_u32.saturating_pow(unclear.saturating_sub(1)));
        (self.outcome.unclear, self.outcome.not_before) = (unclear, now.plus(wait.min(LOGIN_WAIT_MAX)));
        if is_limit {
            // `wait_as_asked` may set a better time.
            self.wait_as_guessed();
        }
        // A site that responds and does not log in may have rejected the password in unknown words.
        let may_be_refused = tells_nothing(verdict) && was_answered;
        if was_sent && (may_be_refused || self.outcome.is_unclear()) {
            self.outcome.held = Some((verdict, marks[0]));
        }
        if was_sent && may_be_refused {
            self.waits.only_for = Some(marks[0]);
        }
    }
}

/// True for an inconclusive response: it may be a rejection.
fn tells_nothing(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Unknown | Verdict::NotLookedAt)
}

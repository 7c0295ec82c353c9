//! What a login brings about, from its beginning to its end: marks of what was sent, waits, and what leads out of them.

use std::time::Duration;

use super::again::{Again, Further, OfHand, again};
use super::{Ended, LOGIN_HOUR, Tries, wait_in_trouble};
use crate::limits::{
    LOGIN_BROKEN_OFF_WAIT, LOGIN_LIMITED_MAX, LOGIN_WAIT_MAX, LOGINS_REFUSED_MAX, LOGINS_UNCLEAR_MAX,
    UNPROVEN_SESSION_TIME,
};
use crate::secret::Secret;
use crate::verdict::Verdict;
use gleaner_base::clock::UnixMillis;

/// Wait after the first login that did not end clearly; each further one quadruples it.
pub(super) const FIRST_WAIT: Duration = Duration::from_secs(5 * 60);

impl Tries {
    /// Takes in that a login begins; to be written down before anything is sent, so that a process that is killed in the
    /// middle has tried.
    pub fn begin(&mut self, user: &str, password: &Secret) {
        (self.is_told_again, self.reads_again, self.form_left) = (false, false, false);
        let marks = self.marks(user, password);
        if self.begun.is_some_and(|of| !marks.contains(&of)) {
            self.note_begun();
        }
        (self.begun, self.unproven) = (Some(self.new_mark(user, password)), None);
    }

    /// The same of one that its operator has told `--again`: it is a first try.
    pub fn begin_again(&mut self, user: &str, password: &Secret) {
        self.begin(user, password);
        let marks = self.marks(user, password);
        self.forget_further(marks);
        self.is_told_again = true;
    }

    /// The tries behind the first begin anew.
    fn forget_further(&mut self, marks: [u32; 2]) {
        self.once_more.retain(|of| !marks.contains(of));
        if self.is_let_in(marks) {
            self.further = Further::default();
        }
    }

    /// Notes how a login ended that began and whose own end nobody will see: its form may have left.
    fn note_begun(&mut self) {
        let unless = self.unproven.take().map_or((Verdict::NoAnswer, false), |(unless, _)| (unless, true));
        if let Some(mark) = self.begun.take() {
            self.note_sent(mark, [mark, mark], unless);
        }
    }

    /// Takes in that a form of the login which has begun leaves: how the one before it was answered is over, and where the table grants
    /// a further try this is it.
    pub fn form_leaves(&mut self, now: UnixMillis) {
        let is_read_again = std::mem::take(&mut self.reads_again);
        self.unproven = None;
        let Some(mark) = self.begun else { return };
        self.note_way(mark);
        self.sent_at.retain(|(of, _)| *of != mark);
        push(&mut self.sent_at, (mark, now));
        let marks = [mark, mark];
        let more = self.sent_with(marks).filter(|_| !self.is_told_again).map(|(verdict, of)| again(verdict, of));
        if (is_read_again || more.is_some_and(Again::is_once)) && !self.is_spent(marks) {
            push(&mut self.once_more, mark);
        }
        // A login of two pages has two forms, and is one try.
        if more.is_some_and(Again::is_for_let_in) && self.is_let_in(marks) && !self.form_left {
            self.further.leaves(now);
        }
        self.form_left = true;
    }

    /// True where the login that has begun may send its form again with another text of a CAPTCHA: the next form that leaves is the one more
    /// try, whatever the one before was answered.
    #[must_use]
    pub fn may_read_again(&mut self) -> bool {
        self.reads_again = self.begun.is_some_and(|mark| !self.is_spent([mark, mark]));
        self.reads_again
    }

    /// Takes in that the site took the form of the login which has begun, and that its proof is still to come; how it ends
    /// where that says no.
    pub fn await_proof(&mut self, unless: Verdict, now: UnixMillis) {
        self.unproven = Some((unless, now));
    }

    /// Takes in that its cookies are gone, so that nobody can prove it any more: its operator said so. True where there was such
    /// a login.
    pub fn forget_unproven(&mut self) -> bool {
        let was_unproven = self.unproven.is_some();
        if was_unproven {
            self.note_begun();
        }
        was_unproven
    }

    /// Takes in what that proof says; gives how the login ended. None where it says no and its session may have ended of
    /// itself meanwhile: the login has broken off then.
    pub fn proof_came(&mut self, holds: bool, user: &str, password: &Secret, now: UnixMillis) -> Option<Verdict> {
        let is_young = |at: UnixMillis| at <= now && now.since(at) < UNPROVEN_SESSION_TIME;
        // A form that came back is no session that could have ended.
        let stands = |(unless, at): &(Verdict, UnixMillis)| *unless == Verdict::ProbablyRefused || is_young(*at);
        let refused = self.unproven.filter(stands).map(|(unless, _)| unless);
        let verdict = match (holds, refused) {
            (true, _) => Verdict::LoggedIn,
            // It seemed to have worked, and the site may have forgotten its sessions in between.
            (false, Some(Verdict::Unknown)) => Verdict::SessionLost,
            // As where the proof came at once: what was let in before has further tries for what is no clear refusal.
            (false, Some(Verdict::ProbablyRefused)) if self.was_let_in(user, password) && self.further.bears_bare() => {
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

    /// Takes in that the last login may have broken off. True where it has: it may have been refused, so that the next one
    /// waits, and it counts among those that ended without a clear verdict.
    pub fn broke_off(&mut self, user: &str, password: &Secret, now: UnixMillis) -> bool {
        let marks = self.marks(user, password);
        let has = self.begun.is_some_and(|begun| marks.contains(&begun));
        if !has {
            // Of another one's end nobody will see anything either.
            self.note_begun();
        }
        (self.begun, self.unproven) = (None, None);
        if has {
            // Its form may have left: that is no table's doing.
            self.is_of_table = false;
            self.unclear = self.unclear.saturating_add(1);
            // A site that has asked for more gets it.
            let wait = now.plus(LOGIN_BROKEN_OFF_WAIT);
            self.not_before = self.not_before(now).map_or(wait, |until| until.max(wait));
            let mark = self.new_mark(user, password);
            self.waits = Some(mark);
            self.note_sent(mark, marks, (Verdict::NoAnswer, false));
            if self.unclear >= LOGINS_UNCLEAR_MAX {
                self.held = Some((Verdict::NoAnswer, mark));
            }
            if self.is_let_in(marks) && !self.further.bears(now) {
                self.worn_out = Some(mark);
                self.probably_refused.retain(|of| !marks.contains(of));
                push(&mut self.probably_refused, mark);
            }
        }
        has
    }

    /// Takes in that the login which began was kept back before anything was sent: nothing was tried, and how long to wait
    /// is for whoever kept it back to say.
    pub fn came_to_nothing(&mut self) {
        (self.begun, self.unproven) = (None, None);
    }

    /// Takes in that the login which began has met a site that did not answer, or only that it is in trouble, before
    /// anything was sent. Nothing was tried; the next look at the site waits, each time twice as long, also in the next
    /// process.
    pub fn met_trouble(&mut self, now: UnixMillis) {
        self.came_to_nothing();
        (self.last, self.was_in_trouble, self.is_of_table) = (Some(Verdict::Unknown), true, false);
        self.stalled = self.stalled.saturating_add(1);
        (self.waits, self.not_before) = (None, now.plus(wait_in_trouble(self.stalled)));
    }

    /// Takes in that the operator has logged in as this user by other means: a password that was sent and brought nothing is held as before.
    pub fn operator_has_logged_in(&mut self, user: &str) {
        self.note_begun();
        let before = std::mem::take(self);
        let Self { salt, refused, probably_refused, sent, once_more, proven, proven_at, .. } = before;
        let further = before.further.forgets_answers();
        let kept =
            Self { salt, refused, probably_refused, sent, once_more, further, proven, proven_at, ..Self::default() };
        let Self { limited, ways, sent_at, way, host, table, let_in, worn_out, .. } = before;
        *self = Self { worn_out, limited, ways, sent_at, way, host, table, let_in, member: Some(user.into()), ..kept };
    }

    /// Takes in how a login ended; gives that as it counts, which what was sent before may change.
    pub fn ended(&mut self, ended: Ended, user: &str, password: &Secret, now: UnixMillis) -> Verdict {
        let Ended { mut verdict, was_sent, was_answered } = ended;
        let (mark, marks) = (self.new_mark(user, password), self.marks(user, password));
        // An answer that tells nothing may be a refusal; a second one to the same is not followed by a third, but where the same was let in
        // before: that one is tried less and less.
        let tells_nothing = |verdict: Verdict| matches!(verdict, Verdict::Unknown | Verdict::NotLookedAt);
        let was_unknown = matches!(self.sent_with(marks), Some((before, true)) if tells_nothing(before));
        let is_let_in = self.is_let_in(marks);
        if tells_nothing(verdict) && was_sent && was_answered && (was_unknown || self.is_of_trouble(marks)) {
            verdict = if is_let_in { Verdict::SiteTrouble } else { Verdict::ProbablyRefused };
            self.held = None;
        }
        if was_sent && verdict == Verdict::RateLimited {
            push(&mut self.limited, mark);
            let times = self.limited.iter().filter(|of| marks.contains(of)).count();
            if times >= if is_let_in { LOGIN_LIMITED_MAX - 1 } else { LOGIN_LIMITED_MAX } {
                verdict = Verdict::LimitedAgain;
            }
        }
        // It may be how the site says that there is no such account any more.
        let may_go_on = || again(verdict, was_answered).is_for_crawls(true) && verdict != Verdict::LoggedIn;
        if was_sent && is_let_in && may_go_on() && !self.further.bears(now) {
            (verdict, self.worn_out) = (Verdict::ProbablyRefused, Some(mark));
        }
        if was_sent && was_answered {
            self.locked.retain(|locked| !marks.contains(locked));
            self.captcha.retain(|met| !marks.contains(met));
            self.lock_ends.retain(|(of, _)| !marks.contains(of));
        }
        self.held = self.held.filter(|(held, of)| !was_sent || *held != Verdict::Captcha || marks.contains(of));
        self.keep_by_forms(was_sent);
        (self.begun, self.unproven, self.loops_at) = (None, None, None);
        (self.asked_until, self.guessed_until) = Default::default();
        // A site that did not answer before anything was sent has said nothing of the account.
        let is_silence = verdict == Verdict::Unknown && !was_sent;
        self.last = (verdict != Verdict::LoggedIn && !is_silence).then_some(verdict);
        self.was_in_trouble = verdict == Verdict::Unknown && !was_answered;
        (self.is_of_table, self.stalled) = (!was_sent, 0);
        let is_trouble = was_sent && verdict == Verdict::Unknown && !was_answered;
        if is_trouble && !is_let_in && self.sent_with(marks) == Some((verdict, was_answered)) {
            // Two that told of nothing but trouble may have been looked at, whoever logs in between and the third.
            self.note_sent(mark, marks, (Verdict::SiteTrouble, was_answered));
        }
        let is_sure_trouble = again(verdict, was_answered).by_hand == OfHand::Yes;
        let is_worn_out = self.worn_out.is_some_and(|of| marks.contains(&of));
        if is_worn_out && self.is_told_again && was_sent && is_sure_trouble {
            // Nor has it taken anything of an `--again`, where nothing but answers like it was against them.
            self.worn_out = None;
            self.probably_refused.retain(|of| !marks.contains(of));
            self.sent.retain(|(of, before, _)| *before != Verdict::ProbablyRefused || !marks.contains(of));
        }
        if was_sent && verdict != Verdict::LoggedIn {
            self.note_way(mark);
            self.note_sent(mark, marks, (verdict, was_answered));
        }
        // What says that it did not look at the password has taken nothing of its further tries.
        if was_sent && is_sure_trouble {
            self.once_more.retain(|of| !marks.contains(of));
            if is_let_in {
                self.further.begins_anew();
            }
        }
        self.waits = None;
        match verdict {
            Verdict::LoggedIn => {
                (self.proven, self.proven_at, self.further, self.worn_out) =
                    (Some(mark), now, Further::default(), None);
                self.sent.retain(|(of, _, _)| !marks.contains(of));
                self.ways.retain(|(of, _)| !marks.contains(of));
                self.limited.retain(|of| !marks.contains(of));
                self.operator_has_logged_in(user);
                self.refused.retain(|refused| !marks.contains(refused));
                self.probably_refused.retain(|refused| !marks.contains(refused));
                self.let_in.retain(|at| *at <= now && now.since(*at) < LOGIN_HOUR);
                self.let_in.push(now);
            }
            Verdict::WrongPassword | Verdict::ProbablyRefused => {
                let is_sure = verdict == Verdict::WrongPassword;
                let list = if is_sure { &mut self.refused } else { &mut self.probably_refused };
                list.retain(|refused| !marks.contains(refused));
                push(list, mark);
            }
            // A form that is not there may be back tomorrow.
            Verdict::RateLimited
            | Verdict::Unknown
            | Verdict::NotLookedAt
            | Verdict::NoAnswer
            | Verdict::SiteTrouble
            | Verdict::SessionLost
            | Verdict::LimitedAgain
            | Verdict::NoForm
            | Verdict::RedirectLoop => {
                let is_known = matches!(verdict, Verdict::NoForm | Verdict::RedirectLoop);
                self.unclear = self.unclear.saturating_add(u32::from(was_sent || is_known));
                let is_limit = matches!(verdict, Verdict::RateLimited | Verdict::LimitedAgain);
                let first = if is_limit { LOGIN_HOUR } else { FIRST_WAIT };
                let wait = first.saturating_mul(4_u32.saturating_pow(self.unclear.saturating_sub(1)));
                self.not_before = now.plus(wait.min(LOGIN_WAIT_MAX));
                if is_limit {
                    // For how long, it may tell better: `wait_as_asked`.
                    self.wait_as_guessed();
                }
                // A site that answers and lets nobody in may have refused the password in words that are not known.
                let may_be_refused = tells_nothing(verdict) && was_answered;
                if was_sent && (may_be_refused || self.unclear >= LOGINS_UNCLEAR_MAX) {
                    self.held = Some((verdict, mark));
                }
                if was_sent && may_be_refused {
                    self.waits = Some(mark);
                }
            }
            Verdict::Locked => {
                self.held = Some((verdict, mark));
                push(&mut self.locked, mark);
            }
            Verdict::Captcha if was_sent => {
                self.held = Some((verdict, mark));
                self.captcha.retain(|met| !marks.contains(met));
                push(&mut self.captcha, mark);
            }
            Verdict::Captcha
            | Verdict::SecondFactor
            | Verdict::ConfirmEmail
            | Verdict::PasswordExpired
            | Verdict::OtherSite
            | Verdict::SentByGet
            | Verdict::Script => self.held = Some((verdict, mark)),
        }
        verdict
    }
}

/// Takes in one more mark, in place of the oldest where there are `limits::LOGINS_REFUSED_MAX`.
pub(super) fn push<T>(list: &mut Vec<T>, mark: T) {
    list.push(mark);
    let too_many = list.len().saturating_sub(LOGINS_REFUSED_MAX);
    list.drain(..too_many);
}

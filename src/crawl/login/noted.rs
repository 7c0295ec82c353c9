//! How a login counts among its account's tries, and what it writes down in the middle, for whoever logs in next should its process end
//! there: that a form leaves, how long its answer asks to wait, and the cookies of a form that was answered and whose proof is still to
//! come.

use std::sync::{Mutex, PoisonError};

use super::{Notes, Report, Run, asked_until, sentence};
use crate::clock::{Clock, UnixMillis};
use crate::crawl::account::{Keeper, in_one_line};
use crate::fetch::session::Jar;
use crate::login::secret::Secret;
use crate::login::tries::{Ended, Tries};
use crate::login::verdict::Verdict;
use crate::politeness::Answered;

/// What is written down of one login, in a crawl or by hand.
pub struct Noted<'a> {
    site: &'a str,
    clock: &'a dyn Clock,
    keeper: &'a dyn Keeper,
    jar: &'a Jar,
    tries: Mutex<Tries>,
}

impl<'a> Noted<'a> {
    /// Of a login that has begun as these tries tell.
    #[must_use]
    pub fn new(site: &'a str, clock: &'a dyn Clock, keeper: &'a dyn Keeper, jar: &'a Jar, begun: Tries) -> Self {
        Self { site, clock, keeper, jar, tries: Mutex::new(begun) }
    }

    /// As far as the login has come.
    #[must_use]
    pub fn tries(&self) -> Tries {
        self.tries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The login goes on where it cannot be written: its end is.
    fn note(&self, change: impl FnOnce(&mut Tries) -> Result<(), String>) {
        // Whole at any time.
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = change(&mut tries).and_then(|()| self.keeper.keep_tries(&tries)) {
            let (site, error) = (self.site, in_one_line(&error));
            tracing::error!(site, error, "what came of the form cannot be written down");
        }
    }
}

impl Notes for Noted<'_> {
    fn begins(&self) -> Result<(), String> {
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        // What a form before this one was answered is not what this one will be.
        self.keeper.forget_unproven()?;
        tries.form_leaves();
        self.keeper.keep_tries(&tries)
    }

    fn may_read_again(&self) -> bool {
        // It is written down when it leaves.
        self.tries.lock().unwrap_or_else(PoisonError::into_inner).may_read_again()
    }

    fn asks_to_wait(&self, until: UnixMillis) {
        self.note(|tries| {
            tries.asked_to_wait(until);
            Ok(())
        });
    }

    fn awaits_proof(&self, unless: Verdict) {
        self.note(|tries| {
            tries.await_proof(unless, self.clock.now());
            self.keeper.keep_unproven(self.jar)
        });
    }
}

impl Report {
    /// The verdict for people, or what the site was in trouble with.
    #[must_use]
    pub fn sentence(&self) -> &'static str {
        sentence(self.judged.verdict, self.trouble, self.pinned)
    }

    /// What the account's tries are told, where the site `was_let_in` by the same before: what does not speak of them then is no refusal.
    #[must_use]
    pub fn ended(&self, was_let_in: bool) -> Ended {
        // What broke off behind a form that had left is another thing than a server that says what is wrong with it.
        let broke_off = self.was_sent && matches!(self.trouble, Some(Answered::Unreachable | Answered::Faulty));
        let verdict = match self.judged.verdict {
            Verdict::Unknown if broke_off && !self.was_told => Verdict::NoAnswer,
            Verdict::ProbablyRefused if was_let_in && !self.speaks_of_account => Verdict::SiteTrouble,
            // It may be the field that the password was put into.
            Verdict::WrongPassword if self.refuses_somehow => Verdict::ProbablyRefused,
            verdict => verdict,
        };
        Ended { verdict, was_sent: self.was_sent, was_answered: self.was_answered }
    }

    /// Writes down how the login has ended, and tells what came of that where it counts as something else than its answer alone; gives why.
    pub fn end(&mut self, tries: &mut Tries, user: &str, password: &Secret, now: UnixMillis) -> Option<&'static str> {
        let ended = self.ended(tries.was_let_in(user, password));
        let counts = tries.ended(ended, user, password, now);
        let why = match (self.judged.verdict, counts) {
            (Verdict::ProbablyRefused, Verdict::SiteTrouble) => {
                "the site has let this user and password in before, and says nothing of them"
            }
            (Verdict::Unknown | Verdict::NotLookedAt, Verdict::ProbablyRefused) => {
                "the second answer to the same that tells nothing"
            }
            _ => return None,
        };
        self.judged.verdict = counts;
        self.judged.evidence.push(why.to_owned());
        Some(why)
    }

    /// Until when the site asks to be left alone (`Retry-After`), where it does.
    #[must_use]
    pub fn asks_to_wait(&self) -> Option<UnixMillis> {
        asked_until(self.trouble)
    }

    /// True where nothing was learned: the form never left because the site was in trouble or was not to be asked, or it
    /// was taken, and then no page could be asked whether it let us in.
    #[must_use]
    pub fn came_to_nothing(&self) -> bool {
        self.trouble.is_some() && (!self.was_sent || self.is_unproven())
    }

    /// True where the site took the form with the password, and then no page could be asked whether it let us in.
    #[must_use]
    pub fn is_unproven(&self) -> bool {
        self.judged.verdict == Verdict::Unknown && self.was_sent && self.was_answered && self.trouble.is_some()
    }

    /// Tells the account's tries how long the site wants to be left alone behind a login that has ended: as long as it says, or as
    /// long as we guess where its answer to the form asks for patience without a time; and where the way to the form is a loop.
    pub fn tell(&self, tries: &mut Tries, now: UnixMillis) {
        match self.trouble {
            Some(Answered::Throttled(Some(until))) if until > now => tries.wait_as_asked(until, now),
            // `Retry-After: 0` names no time to wait.
            Some(Answered::Throttled(_)) if self.was_sent && !self.is_unproven() => tries.wait_as_guessed(),
            _ => {}
        }
        if self.judged.verdict == Verdict::RedirectLoop {
            tries.meet_loop(&self.judged.evidence.join("; ").replacen("redirect loop: ", "", 1));
        }
    }

    /// True where the site asks for patience behind the form, and names no time: until when it is left alone is a guess.
    #[must_use]
    pub fn has_guessed_wait(&self) -> bool {
        let asks = self.judged.verdict == Verdict::RateLimited || self.trouble == Some(Answered::Throttled(None));
        asks && self.was_sent && self.asks_to_wait().is_none()
    }
}

impl Run<'_> {
    /// A form with the password leaves: nothing is known of its answer.
    pub(super) fn leaves(&mut self) {
        (self.was_sent, self.was_answered, self.was_told) = (true, false, false);
        (self.unless, self.noted) = (Verdict::Unknown, None);
        if let Some(pace) = &self.pace {
            pace.form_leaves();
        }
    }

    /// The form was answered with what only a person can go on with, who may never do.
    pub(super) fn note_before_person(&mut self, verdict: Verdict) {
        self.unless = verdict;
        self.note_before_proof();
    }

    /// The form was answered, and what its answer has set is here: neither is lost where the process ends before the proof, be it
    /// while a redirect behind the form is followed.
    pub(super) fn note_before_proof(&mut self) {
        let now = (self.means.jar.changes(), self.unless);
        if let Some(notes) = self.begins.filter(|_| self.was_sent && self.was_answered)
            && self.noted.replace(now) != Some(now)
        {
            notes.awaits_proof(self.unless);
        }
    }
}

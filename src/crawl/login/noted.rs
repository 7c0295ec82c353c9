//! What a login writes down in the middle, for whoever logs in next should its process end there: that a form leaves, how long its
//! answer asks to wait, and the cookies of a form that was answered and whose proof is still to come.

use std::sync::{Mutex, PoisonError};

use super::{Notes, Run};
use crate::account::{Keeper, in_one_line};
use gleaner_base::clock::{Clock, UnixMillis};
use gleaner_login::tries::Tries;
use gleaner_login::verdict::Verdict;
use gleaner_net::fetch::session::Jar;

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
        tries.form_leaves(self.clock.now());
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

/// How far a try to log in has come.
#[derive(Default)]
pub(super) struct Attempt {
    /// True once a form is on its way that is a try to log in.
    pub(super) is_try: bool,
    /// True once a person has read a CAPTCHA for the form.
    pub(super) has_read_captcha: bool,
    /// True once a one-time code has left behind that.
    pub(super) is_code_sent: bool,
    /// What words that refuse mean where one has.
    pub(super) behind_code: Option<Verdict>,
    /// Changes of the cookies when that was last written down, and what.
    noted: Option<(u64, Verdict)>,
}

impl Run<'_> {
    /// A form with the password leaves: nothing is known of its answer.
    pub(super) fn leaves(&mut self) {
        (self.report.was_sent, self.report.was_answered, self.report.was_told) = (true, false, false);
        self.report.says_refused = false;
        (self.report.unless, self.attempt.noted) = (Verdict::Unknown, None);
        if let Some(pace) = &self.patience.pace {
            pace.form_leaves();
        }
    }

    /// The form was answered with what only a person can go on with, who may never do.
    pub(super) fn note_before_person(&mut self, verdict: Verdict) {
        self.report.unless = verdict;
        self.note_before_proof();
    }

    /// The form was answered, and what its answer has set is here: neither is lost where the process ends before the proof, be it
    /// while a redirect behind the form is followed.
    pub(super) fn note_before_proof(&mut self) {
        let now = (self.means.jar.changes(), self.report.unless);
        if let Some(notes) = self.begins.filter(|_| self.report.was_sent && self.report.was_answered)
            && self.attempt.noted.replace(now) != Some(now)
        {
            notes.awaits_proof(self.report.unless);
        }
    }
}

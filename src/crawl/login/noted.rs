//! Records the state of a login while it runs, for the next login if the process ends there: that a form was sent, how long its
//! response asks to wait, and the cookies of a form that was answered but is not proven yet.

use std::sync::{Mutex, PoisonError};

use super::{Notes, Run};
use crate::account::{Keeper, in_one_line};
use gleaner_base::clock::{Clock, UnixMillis};
use gleaner_login::tries::Tries;
use gleaner_login::verdict::Verdict;
use gleaner_net::fetch::session::Jar;

/// The recorder of one login, in a crawl or by hand.
pub struct Noted<'a> {
    site: &'a str,
    clock: &'a dyn Clock,
    keeper: &'a dyn Keeper,
    jar: &'a Jar,
    tries: Mutex<Tries>,
}

impl<'a> Noted<'a> {
    /// Creates the recorder of a login that began with these attempts recorded.
    #[must_use]
    pub fn new(site: &'a str, clock: &'a dyn Clock, keeper: &'a dyn Keeper, jar: &'a Jar, begun: Tries) -> Self {
        Self { site, clock, keeper, jar, tries: Mutex::new(begun) }
    }

    /// The attempts as recorded up to now.
    #[must_use]
    pub fn tries(&self) -> Tries {
        self.tries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records a change. If writing fails, the login continues: its end is recorded, too.
    fn note(&self, change: impl FnOnce(&mut Tries) -> Result<(), String>) {
        // Consistent at any time.
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = change(&mut tries).and_then(|()| self.keeper.keep_tries(&tries)) {
            let (site, error) = (self.site, in_one_line(&error));
            tracing::error!(site, error, "the result of the login cannot be stored");
        }
    }
}

impl Notes for Noted<'_> {
    fn begins(&self) -> Result<(), String> {
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        // The response to an earlier form says nothing about this one.
        self.keeper.forget_unproven()?;
        tries.form_leaves(self.clock.now());
        self.keeper.keep_tries(&tries)
    }

    fn may_read_again(&self) -> bool {
        // The repetition is recorded when the form is sent.
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

/// Progress of a login attempt.
#[derive(Default)]
pub(super) struct Attempt {
    /// True once a form that counts as a login attempt is being sent.
    pub(super) is_try: bool,
    /// True once a person has read a CAPTCHA for the form.
    pub(super) has_read_captcha: bool,
    /// True once a one-time code was sent after that.
    pub(super) is_code_sent: bool,
    /// The meaning of refusing words after a one-time code was sent.
    pub(super) behind_code: Option<Verdict>,
    /// Number of cookie changes at the last record, and its verdict.
    noted: Option<(u64, Verdict)>,
}

impl Run<'_> {
    /// A form with the password is being sent: its response is unknown.
    pub(super) fn leaves(&mut self) {
        (self.report.was_sent, self.report.was_answered, self.report.was_told) = (true, false, false);
        self.report.says_refused = false;
        (self.report.unless, self.attempt.noted) = (Verdict::Unknown, None);
        if let Some(pace) = &self.patience.pace {
            pace.form_leaves();
        }
    }

    /// The form was answered with a question that only a person can answer, and perhaps never will.
    pub(super) fn note_before_person(&mut self, verdict: Verdict) {
        self.report.unless = verdict;
        self.note_before_proof();
    }

    /// Records that the form was answered, and the cookies of the response: neither is lost if the process ends before the proof, or
    /// while a redirect after the form is followed.
    pub(super) fn note_before_proof(&mut self) {
        let now = (self.means.jar.changes(), self.report.unless);
        if let Some(notes) = self.begins.filter(|_| self.report.was_sent && self.report.was_answered)
            && self.attempt.noted.replace(now) != Some(now)
        {
            notes.awaits_proof(self.report.unless);
        }
    }
}

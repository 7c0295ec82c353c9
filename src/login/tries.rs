//! What the history of an account's logins forbids: never the same wrong password twice, no attempt on a locked
//! account until the operator says so, and patience when the site is rate-limiting or unclear. Pure: the time is an
//! argument, and the caller stores the file.

mod accepted;
mod again;
mod answers;
mod ending;
mod holds;
mod waits;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use self::accepted::Accepted;
pub use self::again::{Again, ByCrawl, OfHand, again};
use self::answers::Answers;
pub use self::waits::wait_in_trouble;
use self::waits::{Outcome, Waits, is_ahead};
use super::secret::Secret;
use super::verdict::{IN_TROUBLE, ONE_PAGE, Verdict};
use gleaner_base::clock::UnixMillis;

const LOGIN_HOUR: Duration = Duration::from_secs(3_600);

/// The history of a site's logins, in parts that each own their state. The JSON has the fields of all parts side by
/// side, for compatibility with older files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tries {
    #[serde(flatten)]
    answers: Answers,
    #[serde(flatten)]
    accepted: Accepted,
    #[serde(flatten)]
    attempt: Attempt,
    #[serde(flatten)]
    outcome: Outcome,
    #[serde(flatten)]
    waits: Waits,
    #[serde(flatten)]
    origin: Origin,
    /// The address of a redirect loop on the way to the form, or the page that the site returns for every request, if
    /// the last login met either.
    loops_at: Option<Box<str>>,
    /// True if that form was never sent: the outcome is due to the rule file's table, and ends with it.
    is_of_table: bool,
    /// The outcome of earlier sent forms, which does not end with the table.
    by_forms: Outcome,
}

/// A login that has started and whose end is unknown: its process may have been killed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Attempt {
    /// Mark of its user and password.
    begun: Option<u32>,
    /// The verdict if its proof fails, and when its form was answered: the site accepted the form, but no page has
    /// yet proved the session.
    unproven: Option<(Verdict, UnixMillis)>,
    /// True if it was started with `--again`.
    #[serde(skip)]
    is_told_again: bool,
    /// True after one of its forms was sent.
    #[serde(skip)]
    form_left: bool,
    /// True while a person is about to read another CAPTCHA text for it.
    #[serde(skip)]
    reads_again: bool,
}

/// The host of the account, and the part of the rule file in use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Origin {
    /// The site's first host. Another rule file for the same account finds the history of its passwords by it.
    host: Option<Box<str>>,
    /// Mark of the rule file's table used by the last login.
    table: u32,
    /// Mark of the form and proof settings in the rule file for the next login: its variant.
    way: Option<u32>,
}

/// The end of a login, as needed for the next one.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    pub verdict: Verdict,
    /// False if the form was never sent: that is not an attempt.
    pub was_sent: bool,
    /// False if there was no response, or only from a server in trouble.
    pub was_answered: bool,
}

/// Why no login is allowed now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Not before this time.
    Until(UnixMillis, String),
    /// Not until the operator has acted.
    Operator(String),
}

/// What blocks a login by hand, unless `--again` is given. Other blocks of a crawl are our own guesses, or ask for
/// this very login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByHand {
    /// The site rejected these credentials, certainly or probably.
    Refused(Verdict),
    /// The account was locked at its last attempt.
    Locked,
    /// The last logins ended without a clear response, and may have been rejected.
    NoEnd,
    /// The form with this password came back with a CAPTCHA: without a person to read it, sending it again is
    /// useless.
    Captcha,
    /// The same, but another password was tried since: it may have been rejected beside the CAPTCHA, which nobody can
    /// check any more.
    CaptchaBefore,
    /// The same, after the one retry for it.
    CaptchaTwice,
    /// The form with this password was sent and ended so: the site may have counted it as wrong.
    Sent(Verdict),
    /// The same for accepted credentials: the next retry is allowed from this time on.
    SentUntil(Verdict, UnixMillis),
    /// The same, and a person must provide what the site asked for.
    SecondFactor,
    /// The same, after the one retry for it.
    SecondFactorTwice,
    /// So many passwords were rejected that another one is only sent on request.
    TooMany,
    /// The site asked us to wait until then.
    AskedToWait(UnixMillis),
    /// The site is rate-limiting without a time: this time is our guess.
    GuessedToWait(UnixMillis),
}

impl Tries {
    /// Keys of older files that are no longer read.
    pub const RETIRED: [&str; 4] = ["probe", "probes", "form", "forms"];

    /// Whether the site rejected this password, certainly or probably: even the operator must confirm sending it
    /// again.
    #[must_use]
    pub fn refusal(&self, user: &str, password: &Secret) -> Option<Verdict> {
        self.answers.refusal(self.marks(user, password))
    }

    /// True if a login with this password has started and its end is unknown.
    #[must_use]
    pub fn has_begun(&self, user: &str, password: &Secret) -> bool {
        self.attempt.begun.is_some_and(|begun| self.marks(user, password).contains(&begun))
    }

    fn marks(&self, user: &str, password: &Secret) -> [u32; 2] {
        self.answers.marks(user, password)
    }

    /// The marks under which these credentials are stored, replacing unsalted ones: the first is the one to write.
    fn new_marks(&mut self, user: &str, password: &Secret) -> [u32; 2] {
        let [new, old] = self.answers.new_marks(user, password);
        let held = [&mut self.outcome.held, &mut self.by_forms.held].into_iter().flatten().map(|(_, of)| of);
        let alone =
            [&mut self.accepted.proven, &mut self.attempt.begun, &mut self.waits.only_for].into_iter().flatten();
        held.chain(alone).filter(|of| **of == old).for_each(|of| *of = new);
        [new, old]
    }

    /// How the last login ended if it failed, for display while the site is not being crawled.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        let last = self.outcome.last?;
        let sentence = if self.outcome.was_in_trouble { IN_TROUBLE } else { last.sentence() };
        let at = self.loops_at.as_ref().filter(|_| matches!(last, Verdict::RedirectLoop | Verdict::NoForm));
        let is_one_page = at.is_some() && last == Verdict::NoForm;
        let sentence = if is_one_page { ONE_PAGE } else { sentence };
        Some(at.map_or_else(|| sentence.to_owned(), |at| sentence.replacen(" (hint: ", &format!(": {at} (hint: "), 1)))
    }

    /// The same, with the next step for these credentials if they were accepted before and are retried automatically.
    #[must_use]
    pub fn trouble_of(&self, user: &str, password: &Secret, now: UnixMillis) -> Option<String> {
        let told = self.trouble()?;
        if self.outcome.last == Some(Verdict::Locked) {
            return Some(self.locked(user, password));
        }
        let hint = match self.hold_by_hand(user, password, now) {
            _ if !self.is_of_trouble(self.marks(user, password)) => return Some(told),
            None => "a crawl retries by itself, and `gleaner login` at once".to_owned(),
            Some(ByHand::SentUntil(_, until)) => format!(
                "a crawl retries at {} or later, and so does `gleaner login`; `gleaner login --again` does not wait",
                until.rfc3339()
            ),
            Some(_) => return Some(told),
        };
        let said = told.split(" (hint: ").next().unwrap_or_default();
        Some(format!("{said} (hint: {hint})"))
    }

    /// Records when the lock on these credentials ends, as the site says.
    pub fn meet_lock(&mut self, user: &str, password: &Secret, ends: UnixMillis) {
        let [mark, _] = self.new_marks(user, password);
        self.answers.meet_lock(mark, ends);
    }

    /// When the lock ends.
    #[must_use]
    pub fn lock_ends(&self, user: &str, password: &Secret) -> Option<UnixMillis> {
        self.answers.lock_ends(self.marks(user, password))
    }

    /// The message for an account that was locked when these were last tried.
    fn locked(&self, user: &str, password: &Secret) -> String {
        let sentence = Verdict::Locked.sentence();
        let until = |ends: UnixMillis| format!(", until {} according to the site (hint: ", ends.rfc3339());
        self.lock_ends(user, password)
            .map_or_else(|| sentence.to_owned(), |ends| sentence.replacen(" (hint: ", &until(ends), 1))
    }

    /// Records the address of a redirect loop on the way to the last login's form, or what the site returns instead
    /// of it, without secrets.
    pub fn meet_page(&mut self, at: &str) {
        self.loops_at = Some(at.into());
    }

    /// The owner of the session of the last successful login; None if unknown.
    #[must_use]
    pub fn member(&self) -> Option<&str> {
        self.accepted.member.as_deref()
    }

    /// Records the rule file's table for the next login. Outcomes of another table without a sent form are dropped:
    /// the page that it did not find may be set now.
    pub fn meet_table(&mut self, table: u32) {
        if std::mem::replace(&mut self.origin.table, table) != table && std::mem::take(&mut self.is_of_table) {
            self.outcome = std::mem::take(&mut self.by_forms);
        }
    }

    /// Records the variant of the rule file for the next login: the form's page, place and fields, and the proof
    /// page. What another variant sent may have had the password in the wrong field, or lacked a required one.
    pub fn meet_way(&mut self, way: u32) {
        self.origin.way = Some(way);
    }

    /// Records the host of the account.
    pub fn meet_host(&mut self, host: &str) {
        if self.origin.host.as_deref() != Some(host) {
            self.origin.host = Some(host.into());
        }
    }

    /// Imports the history of another name (another rule file, or this one before it was renamed) for the same
    /// credentials at the same host. If they were accepted here, only later rejections count; an uncertain one counts
    /// only if that file's rules have had them accepted as well, because its rules may be wrong.
    pub fn learn(&mut self, other: &Self, user: &str, password: &Secret) {
        if self.origin.host.is_none() || other.origin.host != self.origin.host {
            return;
        }
        let theirs = other.marks(user, password);
        let was_let_in = self.was_let_in(user, password);
        if self.accepted.proven.is_none() && other.accepted.is_of(theirs) {
            let [mark, _] = self.new_marks(user, password);
            self.accepted.learn(mark, &other.accepted);
        }
        let has_begun = other.has_begun(user, password).then_some((Verdict::NoAnswer, false));
        let Some(sent) = other.answers.sent_with(theirs).or(has_begun) else { return };
        if was_let_in {
            let is_later = other.answers.sent_at(theirs).is_some_and(|at| at > self.accepted.proven_at);
            let is_refusal = again(sent.0, sent.1).by_hand == OfHand::No;
            let is_sure = matches!(sent.0, Verdict::WrongPassword | Verdict::Locked) || other.accepted.is_of(theirs);
            if !(is_later && is_refusal && is_sure) {
                return;
            }
        }
        let marks = self.new_marks(user, password);
        self.answers.learn(&other.answers, theirs, marks, sent);
    }

    /// Keeps the outcome of sent forms before a login without a sent form changes it.
    fn keep_by_forms(&mut self, was_sent: bool) {
        if was_sent {
            self.by_forms = Outcome::default();
        } else if !self.is_of_table {
            self.by_forms = self.outcome;
        }
    }

    /// True if these were the last accepted credentials.
    #[must_use]
    pub fn was_let_in(&self, user: &str, password: &Secret) -> bool {
        self.accepted.is_of(self.marks(user, password))
    }

    /// Records an inconclusive response to the accepted credentials (neither success, nor a clear rejection, nor
    /// clear trouble); true if they may be retried.
    pub fn bears_bare(&mut self) -> bool {
        self.accepted.further.bears_bare()
    }

    /// Records that the last sessions ended soon: no crawl logs in before then, in any process.
    pub fn rest(&mut self, until: UnixMillis) {
        self.waits.resting = until;
    }

    /// True if the site accepted these before and has been in trouble since, which says nothing about them.
    fn is_of_trouble(&self, marks: [u32; 2]) -> bool {
        let is_of_trouble = |(verdict, _)| again(verdict, true).is_for_let_in();
        self.accepted.is_of(marks) && self.answers.sent_with(marks).is_some_and(is_of_trouble)
    }

    /// When these accepted credentials may be retried.
    fn further_at(&self, marks: [u32; 2], now: UnixMillis) -> Option<UnixMillis> {
        is_ahead(self.accepted.further.not_before, now).filter(|_| self.is_of_trouble(marks))
    }

    fn is_locked(&self, marks: [u32; 2]) -> bool {
        self.outcome.held_with(marks) == Some(Verdict::Locked) || self.answers.is_locked(marks)
    }

    /// Until when we wait by our own guess, because the site is rate-limiting without a time.
    #[must_use]
    pub fn guessed_until(&self, now: UnixMillis) -> Option<UnixMillis> {
        self.waits.guessed_until(now)
    }

    /// Until when the site asked us to wait, if in the future.
    #[must_use]
    pub fn asked_until(&self, now: UnixMillis) -> Option<UnixMillis> {
        self.waits.asked_until(now)
    }

    /// When the next login is allowed, if in the future.
    #[must_use]
    pub fn not_before(&self, now: UnixMillis) -> Option<UnixMillis> {
        is_ahead(self.outcome.not_before.max(self.asked_until(now).unwrap_or_default()), now)
    }

    /// Records the wait that the last login's response asks for (`Retry-After`, at most `limits::RETRY_AFTER_MAX`).
    /// It replaces our own guess if the site is rate-limiting; if it is in trouble, the longer wait counts.
    pub fn wait_as_asked(&mut self, until: UnixMillis, now: UnixMillis) {
        self.outcome.not_before = self.waits.ask(until, &self.outcome, now);
    }

    /// Records that the response to the last login's form is rate-limiting without a time (429, 503, words of too
    /// many attempts): the wait follows from the number of unclear logins.
    pub fn wait_as_guessed(&mut self) {
        self.waits.guessed_until = self.outcome.not_before;
    }

    /// Records that a response in the middle of a login asks us to wait until then.
    pub fn asked_to_wait(&mut self, until: UnixMillis) {
        self.waits.asked_until = until;
    }

    /// The verdict of the login whose proof is pending, if the proof fails.
    #[must_use]
    pub fn unless(&self) -> Option<Verdict> {
        self.attempt.unproven.map(|(unless, _)| unless)
    }
}

#[cfg(test)]
mod tests;

//! What earlier logins of an account forbid: never the same wrong password twice, no touch of a locked account until its
//! operator says so, and patience where the site asks for it or does not tell. Pure: the time is an argument, the file is
//! another's business.

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

/// What is remembered of a site's logins, in parts that own their state each. Its JSON has the fields of all parts side by side, as files of
/// before the parts have them.
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
    /// Where the way to the form of the last login is a redirect loop, or which page the site answers whatever is asked, if either is so.
    loops_at: Option<Box<str>>,
    /// True where that form never left: the outcome is the table's doing, and ends with it.
    is_of_table: bool,
    /// What forms had brought about before that, which does not end with it.
    by_forms: Outcome,
}

/// A login that has begun and of whose end nothing is known: its process may have been killed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Attempt {
    /// Marks its user and password.
    begun: Option<u32>,
    /// How it ends where its proof says no, and when its form was answered: the site took it, and no page has told since
    /// whether it let us in.
    unproven: Option<(Verdict, UnixMillis)>,
    /// True where it was told `--again`.
    #[serde(skip)]
    is_told_again: bool,
    /// True once a form of it has left.
    #[serde(skip)]
    form_left: bool,
    /// True where a person is about to read another text of a CAPTCHA for it.
    #[serde(skip)]
    reads_again: bool,
}

/// Where the account is, and by which part of its rule file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Origin {
    /// The site's first host, by which another rule file of the same account finds what its passwords were answered.
    host: Option<Box<str>>,
    /// Marks the rule file's table by which the last login was tried.
    table: u32,
    /// Marks what the rule file itself says of the form and the proof by which the next login goes: its way.
    way: Option<u32>,
}

/// How a login ended, as far as the next one is concerned.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    pub verdict: Verdict,
    /// False where the form never left: that is no try.
    pub was_sent: bool,
    /// False where nothing, or a server in trouble, answered it.
    pub was_answered: bool,
}

/// Why there may be no login now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Not before this time.
    Until(UnixMillis, String),
    /// Not until the operator has done something.
    Operator(String),
}

/// What keeps back a login that its operator begins by hand, unless told to go on all the same. What else keeps a crawl's back
/// is a guess of our own, or asks for the very login that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByHand {
    /// The site has refused this user and password, for sure or probably.
    Refused(Verdict),
    /// The account was locked when it was last tried.
    Locked,
    /// The last logins have ended without a clear answer, and may have been refused.
    NoEnd,
    /// The form with this password came back with a CAPTCHA: without a person who reads it, the same is no use.
    Captcha,
    /// The same of one since which another was tried: it may have been refused beside the CAPTCHA, and nobody looks at that any more.
    CaptchaBefore,
    /// The same of one that was sent once more for it.
    CaptchaTwice,
    /// The form with this password was sent, and ended so: the site may have counted it as a wrong one.
    Sent(Verdict),
    /// The same of one that the site has let in before: there is a further try from then on.
    SentUntil(Verdict, UnixMillis),
    /// The same, and a person is to answer what the site has asked for.
    SecondFactor,
    /// The same of one that was sent once more for it.
    SecondFactorTwice,
    /// So many passwords were refused that another one is not sent unawares.
    TooMany,
    /// The site has asked to be left alone until then.
    AskedToWait(UnixMillis),
    /// It has asked for patience, and has not told for how long: until then is a guess of ours.
    GuessedToWait(UnixMillis),
}

impl Tries {
    /// Keys that files of before had, and nobody reads any more.
    pub const RETIRED: [&str; 4] = ["probe", "probes", "form", "forms"];

    /// Whether the site has refused this password, for sure or probably: not even the operator sends it again unawares.
    #[must_use]
    pub fn refusal(&self, user: &str, password: &Secret) -> Option<Verdict> {
        self.answers.refusal(self.marks(user, password))
    }

    /// True where a login with this password has begun whose end is not known.
    #[must_use]
    pub fn has_begun(&self, user: &str, password: &Secret) -> bool {
        self.attempt.begun.is_some_and(|begun| self.marks(user, password).contains(&begun))
    }

    fn marks(&self, user: &str, password: &Secret) -> [u32; 2] {
        self.answers.marks(user, password)
    }

    /// The marks under which it is written down, in place of the one without a salt wherever that stands: the first is the one to write.
    fn new_marks(&mut self, user: &str, password: &Secret) -> [u32; 2] {
        let [new, old] = self.answers.new_marks(user, password);
        let held = [&mut self.outcome.held, &mut self.by_forms.held].into_iter().flatten().map(|(_, of)| of);
        let alone =
            [&mut self.accepted.proven, &mut self.attempt.begun, &mut self.waits.only_for].into_iter().flatten();
        held.chain(alone).filter(|of| **of == old).for_each(|of| *of = new);
        [new, old]
    }

    /// How the last login ended, where it was not let in: for people, of a site that nobody crawls right now.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        let last = self.outcome.last?;
        let sentence = if self.outcome.was_in_trouble { IN_TROUBLE } else { last.sentence() };
        let at = self.loops_at.as_ref().filter(|_| matches!(last, Verdict::RedirectLoop | Verdict::NoForm));
        let is_one_page = at.is_some() && last == Verdict::NoForm;
        let sentence = if is_one_page { ONE_PAGE } else { sentence };
        Some(at.map_or_else(|| sentence.to_owned(), |at| sentence.replacen(" (hint: ", &format!(": {at} (hint: "), 1)))
    }

    /// The same with what is to be done about this user and password, where the site has let them in before and they are tried again by
    /// themselves.
    #[must_use]
    pub fn trouble_of(&self, user: &str, password: &Secret, now: UnixMillis) -> Option<String> {
        let told = self.trouble()?;
        if self.outcome.last == Some(Verdict::Locked) {
            return Some(self.locked(user, password));
        }
        let hint = match self.hold_by_hand(user, password, now) {
            _ if !self.is_of_trouble(self.marks(user, password)) => return Some(told),
            None => "a crawl tries the same again by itself, and `gleaner login` at once".to_owned(),
            Some(ByHand::SentUntil(_, until)) => format!(
                "a crawl tries the same again at {} or later, and so does `gleaner login`; `gleaner login --again` does not wait",
                until.rfc3339()
            ),
            Some(_) => return Some(told),
        };
        let said = told.split(" (hint: ").next().unwrap_or_default();
        Some(format!("{said} (hint: {hint})"))
    }

    /// Takes in when the lock that these have met ends, as the site says.
    pub fn meet_lock(&mut self, user: &str, password: &Secret, ends: UnixMillis) {
        let [mark, _] = self.new_marks(user, password);
        self.answers.meet_lock(mark, ends);
    }

    /// When that is.
    #[must_use]
    pub fn lock_ends(&self, user: &str, password: &Secret) -> Option<UnixMillis> {
        self.answers.lock_ends(self.marks(user, password))
    }

    /// Told of an account that was locked when these were last tried.
    fn locked(&self, user: &str, password: &Secret) -> String {
        let sentence = Verdict::Locked.sentence();
        let until = |ends: UnixMillis| format!(", until {} by the site's words (hint: ", ends.rfc3339());
        self.lock_ends(user, password)
            .map_or_else(|| sentence.to_owned(), |ends| sentence.replacen(" (hint: ", &until(ends), 1))
    }

    /// Takes in where the way to the form of the last login is a redirect loop, or what the site answers in place of it, in words without
    /// secrets.
    pub fn meet_page(&mut self, at: &str) {
        self.loops_at = Some(at.into());
    }

    /// Whose session the last login that was let in has begun; None where that is not known.
    #[must_use]
    pub fn member(&self) -> Option<&str> {
        self.accepted.member.as_deref()
    }

    /// Takes in by which table of the rule file the next login is tried. What another one has brought about, and no form
    /// had a part in, is over: the page that it did not find may be the one that is named now.
    pub fn meet_table(&mut self, table: u32) {
        if std::mem::replace(&mut self.origin.table, table) != table && std::mem::take(&mut self.is_of_table) {
            self.outcome = std::mem::take(&mut self.by_forms);
        }
    }

    /// Takes in by which way of the rule file the next login goes: the page, the place and the fields of its form, and the page that proves
    /// it. What was sent by another one may have held the password in the wrong field, or nothing where the site wants something.
    pub fn meet_way(&mut self, way: u32) {
        self.origin.way = Some(way);
    }

    /// Takes in which host the account is at.
    pub fn meet_host(&mut self, host: &str) {
        if self.origin.host.as_deref() != Some(host) {
            self.origin.host = Some(host.into());
        }
    }

    /// Takes in what the tries of another name (another rule file, or this one before it was renamed) tell of the same user and password at
    /// the same host. Where these were let in here, that is a refusal alone, and one that came later; an unsure one is told of by a file whose
    /// rules have let them in as well: the others' may be what is wrong.
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

    /// Keeps what forms have brought about, where a login that never sent one is to change it.
    fn keep_by_forms(&mut self, was_sent: bool) {
        if was_sent {
            self.by_forms = Outcome::default();
        } else if !self.is_of_table {
            self.by_forms = self.outcome;
        }
    }

    /// True where the last user and password that were let in are these.
    #[must_use]
    pub fn was_let_in(&self, user: &str, password: &Secret) -> bool {
        self.accepted.is_of(self.marks(user, password))
    }

    /// Takes in that the user and the password that were let in last were answered by what is neither a yes nor a sure refusal nor sure
    /// trouble; true where they have a further try for that.
    pub fn bears_bare(&mut self) -> bool {
        self.accepted.further.bears_bare()
    }

    /// Takes in that the last sessions ended soon: no crawl logs in before then, be it another process.
    pub fn rest(&mut self, until: UnixMillis) {
        self.waits.resting = until;
    }

    /// True where the site has let these in before, and has been in trouble since: that says nothing of them.
    fn is_of_trouble(&self, marks: [u32; 2]) -> bool {
        let is_of_trouble = |(verdict, _)| again(verdict, true).is_for_let_in();
        self.accepted.is_of(marks) && self.answers.sent_with(marks).is_some_and(is_of_trouble)
    }

    /// Before when there is no further try of these, which the site has let in before.
    fn further_at(&self, marks: [u32; 2], now: UnixMillis) -> Option<UnixMillis> {
        is_ahead(self.accepted.further.not_before, now).filter(|_| self.is_of_trouble(marks))
    }

    fn is_locked(&self, marks: [u32; 2]) -> bool {
        self.outcome.held_with(marks) == Some(Verdict::Locked) || self.answers.is_locked(marks)
    }

    /// Until when the site is left alone by our own guess, because it has asked for that without a time.
    #[must_use]
    pub fn guessed_until(&self, now: UnixMillis) -> Option<UnixMillis> {
        self.waits.guessed_until(now)
    }

    /// Until when the site has asked to be left alone, where that is not over.
    #[must_use]
    pub fn asked_until(&self, now: UnixMillis) -> Option<UnixMillis> {
        self.waits.asked_until(now)
    }

    /// Before when the site is to be left alone, where that is not over.
    #[must_use]
    pub fn not_before(&self, now: UnixMillis) -> Option<UnixMillis> {
        is_ahead(self.outcome.not_before.max(self.asked_until(now).unwrap_or_default()), now)
    }

    /// Takes in how long the answer that ended the last login asks to wait (`Retry-After`, no more than
    /// `limits::RETRY_AFTER_MAX`). The wait of our own is a guess where the site has told its limit; where it is in trouble
    /// the longer one counts.
    pub fn wait_as_asked(&mut self, until: UnixMillis, now: UnixMillis) {
        self.outcome.not_before = self.waits.ask(until, &self.outcome, now);
    }

    /// Takes in that the answer to the form of the last login asks for patience without a time (429, 503, words of too many tries): how
    /// long that is follows from how often it came to no clear end.
    pub fn wait_as_guessed(&mut self) {
        self.waits.guessed_until = self.outcome.not_before;
    }

    /// Takes in that an answer in the middle of a login asks to be left alone until then.
    pub fn asked_to_wait(&mut self, until: UnixMillis) {
        self.waits.asked_until = until;
    }

    /// How the login whose proof is still to come ends where that says no.
    #[must_use]
    pub fn unless(&self) -> Option<Verdict> {
        self.attempt.unproven.map(|(unless, _)| unless)
    }
}

#[cfg(test)]
mod tests;

//! What earlier logins of an account forbid: never the same wrong password twice, no touch of a locked account until its
//! operator says so, and patience where the site asks for it or does not tell. Pure: the time is an argument, the file is
//! another's business.

mod again;
mod ending;
mod holds;

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use self::again::Further;
pub use self::again::{Again, ByCrawl, OfHand, again};
use super::secret::Secret;
use super::verdict::{IN_TROUBLE, ONE_PAGE, Verdict};
use crate::limits::{
    CLOCK_MENDED_MAX, LOGIN_BROKEN_OFF_WAIT, LOGIN_WAIT_MAX, LOGIN_WAYS_MAX, LOGINS_REFUSED_MAX, OPERATOR_POLL,
    SITE_TROUBLE_WAIT_MAX,
};
use gleaner_base::clock::UnixMillis;

const LOGIN_HOUR: Duration = Duration::from_secs(3_600);

/// What is remembered of a site's logins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tries {
    /// Of the marks of this file alone, so that no table made beforehand finds out what they stand for. It is kept beside
    /// them: a salt in a file of its own could be lost, and what was refused would be tried again. None until the first
    /// mark, and in files of before there was one, whose marks have the salt of all.
    salt: Option<[u64; 2]>,
    /// Marks the users and passwords that the site has refused, the latest last.
    refused: Vec<u32>,
    /// Likewise those with which the form came back in words that are not known.
    probably_refused: Vec<u32>,
    /// Keeps us away until the operator logs in, or gives another password.
    held: Option<(Verdict, u32)>,
    /// Marks the users and passwords at which the account was locked, the latest last: what another password brings does not
    /// unlock it.
    locked: Vec<u32>,
    /// Likewise those whose form came back with a CAPTCHA: what another one brings says nothing of them.
    captcha: Vec<u32>,
    /// Marks all users and passwords that were sent and did not bring a session that was proven, with how that ended, the latest last;
    /// false where a server in trouble said so.
    sent: Vec<(u32, Verdict, bool)>,
    /// Marks those whose one more try that the table grants was sent (`again`), the latest last: until they are let in, or their operator
    /// says `--again`.
    once_more: Vec<u32>,
    /// Marks those whose try was answered by asking for patience, once for each, since they were let in.
    limited: Vec<u32>,
    /// Of the user and the password that were let in last.
    further: Further,
    /// Marks those of them that are held for no other reason than that no answer of many let them in.
    worn_out: Option<u32>,
    /// True where the login that has begun was told `--again`.
    #[serde(skip)]
    is_told_again: bool,
    /// True once a form of the login that has begun has left.
    #[serde(skip)]
    form_left: bool,
    /// Marks the user and the password that were let in last.
    proven: Option<u32>,
    /// When that was.
    proven_at: UnixMillis,
    /// When a form with each user and password has left last, the latest last.
    sent_at: Vec<(u32, UnixMillis)>,
    /// By which ways of the rule file each user and password were sent, the latest last. Nothing is taken away for another way: what was
    /// answered by one stays so.
    ways: Vec<(u32, u32)>,
    /// Until when no crawl logs in, because the last sessions were short.
    resting: UnixMillis,
    /// A login that has begun and of whose end nothing is known: its process may have been killed.
    begun: Option<u32>,
    /// How it ends where its proof says no, and when its form was answered: the site took it, and no page has told since
    /// whether it let us in.
    unproven: Option<(Verdict, UnixMillis)>,
    /// Logins without a clear end in a row.
    unclear: u32,
    not_before: UnixMillis,
    /// Marks the user and the password alone that this wait is for; None where it is for the site.
    waits: Option<u32>,
    /// Until when the site itself has asked to be left alone, which whoever logs in by hand waits for, too.
    asked_until: UnixMillis,
    /// Until when it is left alone because it has asked for that without a time: a guess of ours.
    guessed_until: UnixMillis,
    /// When the locks end that users and passwords have met, by the site's own words, the latest last: that tells their operator when to look,
    /// and lets no login begin by itself.
    lock_ends: Vec<(u32, UnixMillis)>,
    /// How the last login ended that was not let in.
    last: Option<Verdict>,
    /// Where the way to its form is a redirect loop, or which page the site answers whatever is asked, if either is so.
    loops_at: Option<Box<str>>,
    /// True where that was a site which did not answer, or was in trouble.
    was_in_trouble: bool,
    /// Logins in a row that a site in trouble has kept from sending a form.
    stalled: u32,
    /// The site's first host, by which another rule file of the same account finds what its passwords were answered.
    host: Option<Box<str>>,
    /// Marks the rule file's table by which the last login was tried.
    table: u32,
    /// Marks what the rule file itself says of the form and the proof by which the next login goes: its way.
    way: Option<u32>,
    /// True where a person is about to read another text of a CAPTCHA for the login that has begun.
    #[serde(skip)]
    reads_again: bool,
    /// True where its form never left: what it brought about is the table's doing, and ends with it.
    is_of_table: bool,
    /// What forms had brought about before that, which does not end with it.
    by_forms: ByForms,
    /// Whose session the last login that was let in has begun.
    member: Option<Box<str>>,
    /// The last logins that were let in.
    let_in: Vec<UnixMillis>,
}

/// What answers to forms have brought about, kept beside what logins have that never sent one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct ByForms {
    held: Option<(Verdict, u32)>,
    unclear: u32,
    not_before: UnixMillis,
    last: Option<Verdict>,
    was_in_trouble: bool,
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

impl Tries {
    /// Keys that files of before had, and nobody reads any more.
    pub const RETIRED: [&str; 4] = ["probe", "probes", "form", "forms"];

    /// Whether the site has refused this password, for sure or probably: not even the operator sends it again unawares.
    #[must_use]
    pub fn refusal(&self, user: &str, password: &Secret) -> Option<Verdict> {
        let marks = self.marks(user, password);
        let is_in = |list: &[u32]| list.iter().any(|refused| marks.contains(refused));
        match (is_in(&self.refused), is_in(&self.probably_refused)) {
            (true, _) => Some(Verdict::WrongPassword),
            (false, true) => Some(Verdict::ProbablyRefused),
            (false, false) => None,
        }
    }

    /// True where a login with this password has begun whose end is not known.
    #[must_use]
    pub fn has_begun(&self, user: &str, password: &Secret) -> bool {
        self.begun.is_some_and(|begun| self.marks(user, password).contains(&begun))
    }

    /// The marks that this password has or may have here: its own, and that of files without a salt.
    fn marks(&self, user: &str, password: &Secret) -> [u32; 2] {
        [mark(self.salt, user, password), mark(None, user, password)]
    }

    /// The mark under which it is written down, in place of the one without a salt wherever that stands.
    fn new_mark(&mut self, user: &str, password: &Secret) -> u32 {
        let (new, old) =
            (mark(Some(*self.salt.get_or_insert_with(fresh_salt)), user, password), mark(None, user, password));
        let lists = [&mut self.refused, &mut self.probably_refused, &mut self.locked, &mut self.captcha];
        let lists = lists.into_iter().chain([&mut self.once_more, &mut self.limited]).flatten();
        let timed = self.sent_at.iter_mut().chain(&mut self.lock_ends).map(|(of, _)| of);
        let sent = self.sent.iter_mut().map(|(of, _, _)| of).chain(timed);
        let held = [&mut self.held, &mut self.by_forms.held].into_iter().flatten().map(|(_, of)| of);
        let alone = [&mut self.proven, &mut self.begun, &mut self.waits].into_iter().flatten();
        lists.chain(sent).chain(held).chain(alone).filter(|of| **of == old).for_each(|of| *of = new);
        new
    }

    /// How the last login ended, where it was not let in: for people, of a site that nobody crawls right now.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        let sentence = self.last.map(|last| if self.was_in_trouble { IN_TROUBLE } else { last.sentence() })?;
        let is_of_page = matches!(self.last, Some(Verdict::RedirectLoop | Verdict::NoForm));
        let at = self.loops_at.as_ref().filter(|_| is_of_page);
        let is_one_page = at.is_some() && self.last == Some(Verdict::NoForm);
        let sentence = if is_one_page { ONE_PAGE } else { sentence };
        Some(at.map_or_else(|| sentence.to_owned(), |at| sentence.replacen(" (hint: ", &format!(": {at} (hint: "), 1)))
    }

    /// The same with what is to be done about this user and password, where the site has let them in before and they are tried again by
    /// themselves.
    #[must_use]
    pub fn trouble_of(&self, user: &str, password: &Secret, now: UnixMillis) -> Option<String> {
        let told = self.trouble()?;
        if self.last == Some(Verdict::Locked) {
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
        let mark = self.new_mark(user, password);
        self.lock_ends.retain(|(of, _)| *of != mark);
        ending::push(&mut self.lock_ends, (mark, ends));
    }

    /// When that is.
    #[must_use]
    pub fn lock_ends(&self, user: &str, password: &Secret) -> Option<UnixMillis> {
        let marks = self.marks(user, password);
        self.lock_ends.iter().find(|(of, _)| marks.contains(of)).map(|(_, ends)| *ends)
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
        self.member.as_deref()
    }

    /// Takes in by which table of the rule file the next login is tried. What another one has brought about, and no form
    /// had a part in, is over: the page that it did not find may be the one that is named now.
    pub fn meet_table(&mut self, table: u32) {
        if std::mem::replace(&mut self.table, table) != table && std::mem::take(&mut self.is_of_table) {
            let ByForms { held, unclear, not_before, last, was_in_trouble } = std::mem::take(&mut self.by_forms);
            (self.held, self.unclear, self.not_before) = (held, unclear, not_before);
            (self.last, self.was_in_trouble) = (last, was_in_trouble);
        }
    }

    /// Takes in by which way of the rule file the next login goes: the page, the place and the fields of its form, and the page that proves
    /// it. What was sent by another one may have held the password in the wrong field, or nothing where the site wants something.
    pub fn meet_way(&mut self, way: u32) {
        self.way = Some(way);
    }

    /// Takes in which host the account is at.
    pub fn meet_host(&mut self, host: &str) {
        if self.host.as_deref() != Some(host) {
            self.host = Some(host.into());
        }
    }

    /// Takes in what the tries of another name (another rule file, or this one before it was renamed) tell of the same user and password at
    /// the same host. Where these were let in here, that is a refusal alone, and one that came later; an unsure one is told of by a file whose
    /// rules have let them in as well: the others' may be what is wrong.
    pub fn learn(&mut self, other: &Self, user: &str, password: &Secret) {
        if self.host.is_none() || other.host != self.host {
            return;
        }
        let theirs = other.marks(user, password);
        let was_let_in = self.was_let_in(user, password);
        if self.proven.is_none() && other.is_let_in(theirs) {
            (self.proven, self.proven_at) = (Some(self.new_mark(user, password)), other.proven_at);
            (self.further, self.member) = (other.further, self.member.take().or_else(|| other.member.clone()));
        }
        let has_begun = other.has_begun(user, password).then_some((Verdict::NoAnswer, false));
        let Some(sent) = other.sent_with(theirs).or(has_begun) else { return };
        if was_let_in {
            let is_later = other.sent_at(theirs).is_some_and(|at| at > self.proven_at);
            let is_refusal = again(sent.0, sent.1).by_hand == OfHand::No;
            let is_sure = matches!(sent.0, Verdict::WrongPassword | Verdict::Locked) || other.is_let_in(theirs);
            if !(is_later && is_refusal && is_sure) {
                return;
            }
        }
        let (mark, marks) = (self.new_mark(user, password), self.marks(user, password));
        let lists = [(&mut self.refused, &other.refused), (&mut self.probably_refused, &other.probably_refused)];
        for (ours, of) in lists.into_iter().chain([(&mut self.once_more, &other.once_more)]) {
            if of.iter().any(|of| theirs.contains(of)) && !ours.contains(&mark) {
                ours.push(mark);
            }
        }
        self.note_sent(mark, marks, sent);
        for (_, way) in other.ways.iter().filter(|(of, _)| theirs.contains(of)) {
            if !self.ways.contains(&(mark, *way)) {
                self.ways.push((mark, *way));
            }
        }
    }

    /// Writes down by which way this password is sent.
    fn note_way(&mut self, mark: u32) {
        let Some(way) = self.way.filter(|way| !self.ways.contains(&(mark, *way))) else { return };
        if self.ways.iter().filter(|(of, _)| *of == mark).count() < LOGIN_WAYS_MAX {
            self.ways.push((mark, way));
        }
        // One of which nothing is known is not freed by another way.
        if let Some((oldest, _)) = self.ways.first().copied().filter(|_| self.ways.len() > LOGINS_REFUSED_MAX) {
            self.ways.retain(|(of, _)| *of != oldest);
        }
    }

    /// True where the rule file names another way than those by which this password was sent, and what it was answered by them is no sure
    /// refusal: whoever logs in by hand has it sent by that one, once.
    fn is_freed(&self, marks: [u32; 2]) -> bool {
        use Verdict::{NotLookedAt, ProbablyRefused, SiteTrouble, Unknown};
        let is_vague =
            matches!(self.sent_with(marks), Some((ProbablyRefused | Unknown | NotLookedAt, true) | (SiteTrouble, _)));
        let ways = || self.ways.iter().filter(|(of, _)| marks.contains(of)).map(|(_, way)| *way);
        let is_other = |way: u32| (1..LOGIN_WAYS_MAX).contains(&ways().count()) && ways().all(|of| of != way);
        is_vague && self.way.is_some_and(is_other)
    }

    /// Keeps what forms have brought about, where a login that never sent one is to change it.
    fn keep_by_forms(&mut self, was_sent: bool) {
        if was_sent {
            self.by_forms = ByForms::default();
        } else if !self.is_of_table {
            let (held, unclear, not_before) = (self.held, self.unclear, self.not_before);
            let (last, was_in_trouble) = (self.last, self.was_in_trouble);
            self.by_forms = ByForms { held, unclear, not_before, last, was_in_trouble };
        }
    }

    /// How the last login with this password ended, where it was sent and not let in.
    fn sent_with(&self, marks: [u32; 2]) -> Option<(Verdict, bool)> {
        let found = self.sent.iter().rev().find(|(of, _, _)| marks.contains(of));
        found.map(|(_, verdict, was_answered)| (*verdict, *was_answered))
    }

    /// When a form with this password has left last, where that was written down.
    fn sent_at(&self, marks: [u32; 2]) -> Option<UnixMillis> {
        self.sent_at.iter().rev().find(|(of, _)| marks.contains(of)).map(|(_, at)| *at)
    }

    /// True where no more can be remembered, and this one is not known.
    fn is_full(&self, marks: [u32; 2]) -> bool {
        self.sent.len() >= LOGINS_REFUSED_MAX && !self.is_let_in(marks) && self.sent_with(marks).is_none()
    }

    /// Writes down how a form with this password ended: nothing that says less of it takes the place of what says more.
    fn note_sent(&mut self, mark: u32, marks: [u32; 2], (verdict, was_answered): (Verdict, bool)) {
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
        self.sent.push((mark, verdict, was_answered));
        let too_many = self.sent.len().saturating_sub(LOGINS_REFUSED_MAX);
        self.sent.drain(..too_many);
    }

    /// True where the last user and password that were let in are these.
    #[must_use]
    pub fn was_let_in(&self, user: &str, password: &Secret) -> bool {
        self.is_let_in(self.marks(user, password))
    }

    /// Takes in that the user and the password that were let in last were answered by what is neither a yes nor a sure refusal nor sure
    /// trouble; true where they have a further try for that.
    pub fn bears_bare(&mut self) -> bool {
        self.further.bears_bare()
    }

    /// Takes in that the last sessions ended soon: no crawl logs in before then, be it another process.
    pub fn rest(&mut self, until: UnixMillis) {
        self.resting = until;
    }

    /// True where the one more try of this password was sent.
    fn is_spent(&self, marks: [u32; 2]) -> bool {
        self.once_more.iter().any(|of| marks.contains(of))
    }

    /// True where the site has let these in before, and has been in trouble since: that says nothing of them.
    fn is_of_trouble(&self, marks: [u32; 2]) -> bool {
        let is_of_trouble = |(verdict, _)| again(verdict, true).is_for_let_in();
        self.is_let_in(marks) && self.sent_with(marks).is_some_and(is_of_trouble)
    }

    /// True where these were let in last.
    fn is_let_in(&self, marks: [u32; 2]) -> bool {
        self.proven.is_some_and(|of| marks.contains(&of))
    }

    /// Before when there is no further try of these, which the site has let in before.
    fn further_at(&self, marks: [u32; 2], now: UnixMillis) -> Option<UnixMillis> {
        is_ahead(self.further.not_before, now).filter(|_| self.is_of_trouble(marks))
    }

    fn is_locked(&self, marks: [u32; 2]) -> bool {
        let held = self.held.filter(|(verdict, _)| *verdict == Verdict::Locked).map(|(_, of)| of);
        held.iter().chain(&self.locked).any(|of| marks.contains(of))
    }

    fn met_captcha(&self, marks: [u32; 2]) -> bool {
        self.captcha.iter().any(|of| marks.contains(of))
    }

    /// Until when the site is left alone by our own guess, because it has asked for that without a time.
    #[must_use]
    pub fn guessed_until(&self, now: UnixMillis) -> Option<UnixMillis> {
        is_ahead(self.guessed_until, now)
    }

    /// Until when the site has asked to be left alone, where that is not over.
    #[must_use]
    pub fn asked_until(&self, now: UnixMillis) -> Option<UnixMillis> {
        is_ahead(self.asked_until, now)
    }

    /// Before when the site is to be left alone, where that is not over.
    #[must_use]
    pub fn not_before(&self, now: UnixMillis) -> Option<UnixMillis> {
        is_ahead(self.not_before.max(self.asked_until(now).unwrap_or_default()), now)
    }

    /// Takes in how long the answer that ended the last login asks to wait (`Retry-After`, no more than
    /// `limits::RETRY_AFTER_MAX`). The wait of our own is a guess where the site has told its limit; where it is in trouble
    /// the longer one counts.
    pub fn wait_as_asked(&mut self, until: UnixMillis, now: UnixMillis) {
        let minute = now.plus(LOGIN_BROKEN_OFF_WAIT);
        let (until, least) = match self.last {
            Some(Verdict::RateLimited) => (until.max(minute), minute),
            // What it named before was too short.
            Some(Verdict::LimitedAgain) if self.unclear > 1 => (until.max(minute), self.not_before),
            Some(Verdict::LimitedAgain) => (until.max(minute), minute),
            _ => (until, self.not_before),
        };
        self.not_before = until.max(least);
        // Our own wait is no word of the site's.
        (self.asked_until, self.guessed_until) = (until, UnixMillis(0));
    }

    /// Takes in that the answer to the form of the last login asks for patience without a time (429, 503, words of too many tries): how
    /// long that is follows from how often it came to no clear end.
    pub fn wait_as_guessed(&mut self) {
        self.guessed_until = self.not_before;
    }

    /// Takes in that an answer in the middle of a login asks to be left alone until then.
    pub fn asked_to_wait(&mut self, until: UnixMillis) {
        self.asked_until = until;
    }

    /// How the login whose proof is still to come ends where that says no.
    #[must_use]
    pub fn unless(&self) -> Option<Verdict> {
        self.unproven.map(|(unless, _)| unless)
    }
}

/// A time to wait for. None was ever further away than the longest wait: the clock was ahead when it was written, unless it has been set
/// by less than clocks are mended by.
fn is_ahead(until: UnixMillis, now: UnixMillis) -> Option<UnixMillis> {
    Some(until).filter(|until| *until > now && *until <= now.plus(LOGIN_WAIT_MAX + CLOCK_MENDED_MAX))
}

/// Wait behind the `nth` time in a row, from 1, that a site was in trouble.
#[must_use]
pub fn wait_in_trouble(nth: u32) -> Duration {
    let doubled = OPERATOR_POLL.saturating_mul(2_u32.saturating_pow(nth.saturating_sub(1)));
    doubled.min(SITE_TROUBLE_WAIT_MAX)
}

#[cfg(test)]
mod tests;

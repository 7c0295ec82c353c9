//! What earlier logins of an account forbid: never the same wrong password twice, no touch of a locked account until its
//! operator says so, and patience where the site asks for it or does not tell. Pure: the time is an argument, the file is
//! another's business.

mod again;

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::again::{Again, ByCrawl, OfHand, again};
use super::secret::Secret;
use super::verdict::{IN_TROUBLE, Verdict};
use crate::clock::UnixMillis;
use crate::limits::{
    LOGIN_BROKEN_OFF_WAIT, LOGIN_WAIT_MAX, LOGINS_PER_HOUR_MAX, LOGINS_REFUSED_MAX, LOGINS_UNCLEAR_MAX, OPERATOR_POLL,
    PROBES_MET_MAX, SITE_TROUBLE_WAIT_MAX, UNPROVEN_SESSION_TIME,
};

/// Wait after the first login that did not end clearly; each further one quadruples it.
const FIRST_WAIT: Duration = Duration::from_secs(5 * 60);

/// Told where logins were killed, or answered by a server in trouble, one after the other.
const NO_END: &str = "the last logins did not get to a clear end, and may have been refused (hint: see that the account is \
                      not locked, then run `gleaner login --again`)";

/// Told of a password that was refused before another one was tried.
const REFUSED_BEFORE: &str = "the site has refused this user and password before, and the same are not tried again (hint: \
                              correct the password, or `user` in [login]; where both are surely right, run `gleaner login \
                              --again`)";

/// Told of a password whose form came back with a CAPTCHA before another one was tried.
const CAPTCHA_BEFORE: &str = "the site has answered this user and password with a CAPTCHA before another one was tried, and may have \
                              refused them: they are not tried again (hint: where they are right, run \
                              `gleaner login --interactive --again`)";

/// Told where so many passwords were refused that no more are remembered.
const TOO_MANY: &str = "the site has refused as many passwords of this account as are remembered (hint: run `gleaner login --again` with \
                        the right one)";

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
    /// Marks the user and the password that were let in last.
    proven: Option<u32>,
    /// Pages that a probable refusal was proven by.
    probes: Vec<u32>,
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
    /// Until when the site itself has asked to be left alone, which whoever logs in by hand waits for, too.
    asked_until: UnixMillis,
    /// Until when it is left alone because it has asked for that without a time: a guess of ours.
    guessed_until: UnixMillis,
    /// How the last login ended that was not let in.
    last: Option<Verdict>,
    /// Where the way to its form is a redirect loop, if it is.
    loops_at: Option<Box<str>>,
    /// True where that was a site which did not answer, or was in trouble.
    was_in_trouble: bool,
    /// Logins in a row that a site in trouble has kept from sending a form.
    stalled: u32,
    /// Marks the rule file's table by which the last login was tried.
    table: u32,
    /// Marks the page that proved the last login, or did not.
    probe: Option<u32>,
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
    /// The form with this password was sent, and ended so: the site may have counted it as a wrong one.
    Sent(Verdict),
    /// The same, and a person is to answer what the site has asked for.
    SecondFactor,
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

    /// The mark under which it is written down.
    fn new_mark(&mut self, user: &str, password: &Secret) -> u32 {
        mark(Some(*self.salt.get_or_insert_with(fresh_salt)), user, password)
    }

    /// How the last login ended, where it was not let in: for people, of a site that nobody crawls right now.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        let sentence = self.last.map(|last| if self.was_in_trouble { IN_TROUBLE } else { last.sentence() })?;
        let at = self.loops_at.as_ref().filter(|_| self.last == Some(Verdict::RedirectLoop));
        Some(at.map_or_else(|| sentence.to_owned(), |at| sentence.replacen(" (hint: ", &format!(": {at} (hint: "), 1)))
    }

    /// Takes in where the way to the form of the last login is a redirect loop, in words without secrets.
    pub fn meet_loop(&mut self, at: &str) {
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

    /// Takes in by which page the next login is proven. A form that came back is a refusal only where such a page agrees, so
    /// that another one has the login tried once more.
    pub fn meet_probe(&mut self, probe: u32) {
        let is_other = self.probe.replace(probe).is_some_and(|before| before != probe);
        // One that had its turn has said what it has to say.
        if self.probes.contains(&probe) || self.probes.len() >= PROBES_MET_MAX {
            return;
        }
        self.probes.push(probe);
        if is_other {
            self.probably_refused.clear();
            let is_of_proof = |verdict: Verdict| matches!(verdict, Verdict::ProbablyRefused | Verdict::Unknown);
            self.sent.retain(|(_, verdict, was_answered)| !(is_of_proof(*verdict) && *was_answered));
            self.last = self.last.filter(|last| *last != Verdict::ProbablyRefused);
        }
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

    /// Why there may be no login with this password now; None where there may.
    #[must_use]
    pub fn hold(&self, user: &str, password: &Secret, now: UnixMillis) -> Option<Hold> {
        if let Some(verdict) = self.refusal(user, password) {
            // Where another one was tried since, how that ended is no reason here.
            let why = if self.last == Some(verdict) { verdict.sentence() } else { REFUSED_BEFORE };
            return Some(Hold::Operator(why.to_owned()));
        }
        let marks = self.marks(user, password);
        if self.is_locked(marks) {
            return Some(Hold::Operator(Verdict::Locked.sentence().to_owned()));
        }
        let is_last = self.held.is_some_and(|(_, held)| marks.contains(&held));
        if !is_last && self.met_captcha(marks) {
            return Some(Hold::Operator(CAPTCHA_BEFORE.to_owned()));
        }
        let sent =
            self.sent_with(marks).filter(|(verdict, was_answered)| match again(*verdict, *was_answered).by_crawl {
                ByCrawl::Never => true,
                ByCrawl::Later => false,
                ByCrawl::IfLetInBefore => !self.proven.is_some_and(|of| marks.contains(&of)),
            });
        if let Some((verdict, _)) = self.held.filter(|(_, held)| marks.contains(held)) {
            let why = match verdict {
                Verdict::Unknown | Verdict::NoAnswer if self.unclear >= LOGINS_UNCLEAR_MAX => NO_END.to_owned(),
                Verdict::RateLimited => self.limited_again(now),
                verdict => sent.map_or_else(|| verdict.sentence().to_owned(), |(verdict, _)| sentence_of_sent(verdict)),
            };
            return Some(Hold::Operator(why));
        }
        if let Some((verdict, _)) = sent {
            return Some(Hold::Operator(sentence_of_sent(verdict)));
        }
        if self.is_full(marks) {
            return Some(Hold::Operator(TOO_MANY.to_owned()));
        }
        if let Some(until) = is_ahead(self.resting, now) {
            return Some(Hold::Until(until, "each of the last sessions ended soon after its login".to_owned()));
        }
        let of_last_hour = self.let_in.iter().filter(|at| **at <= now && now.since(**at) < LOGIN_HOUR);
        if of_last_hour.clone().count() >= LOGINS_PER_HOUR_MAX {
            let until = of_last_hour.min().map_or(now, |first| first.plus(LOGIN_HOUR));
            return Some(Hold::Until(until, format!("{LOGINS_PER_HOUR_MAX} logins within an hour")));
        }
        self.not_before(now).map(|until| {
            let last = self.trouble().unwrap_or_else(|| "the last login did not get to its end".to_owned());
            let by_hand = match (self.asked_until(now), self.guessed_until(now)) {
                (Some(asked), _) if asked >= until => {
                    "as the site asks; `gleaner login --again` does not wait".to_owned()
                }
                // Our own wait is longer.
                (Some(asked), _) => {
                    format!("the site asks for {}; `gleaner login --again` does not wait", asked.rfc3339())
                }
                (None, Some(_)) => {
                    "a guess of ours: the site asks to wait, and tells no time; `gleaner login --again` does not wait"
                        .to_owned()
                }
                (None, None) => "a guess of ours, for which `gleaner login` does not wait".to_owned(),
            };
            Hold::Until(until, format!("{last} (no new try before {}; {by_hand})", until.rfc3339()))
        })
    }

    /// Why there may be no login by hand with this password now; None where there may.
    #[must_use]
    pub fn hold_by_hand(&self, user: &str, password: &Secret, now: UnixMillis) -> Option<ByHand> {
        let marks = self.marks(user, password);
        let held = self.held.filter(|(_, of)| marks.contains(of)).map(|(verdict, _)| verdict);
        let refused = self.refusal(user, password).map(ByHand::Refused);
        let locked = || self.is_locked(marks).then_some(ByHand::Locked);
        let guessed = || self.guessed_until(now).map(ByHand::GuessedToWait);
        let asked = || self.asked_until(now).map(ByHand::AskedToWait).or_else(guessed);
        let before = || (held.is_none() && self.met_captcha(marks)).then_some(ByHand::CaptchaBefore);
        let last = || match held? {
            Verdict::Unknown if self.unclear >= LOGINS_UNCLEAR_MAX => Some(ByHand::NoEnd),
            // What asks for one before anything was sent may be asked again.
            Verdict::Captcha if !self.is_of_table => Some(ByHand::Captcha),
            _ => None,
        };
        let sent = || {
            let (verdict, was_answered) = self.sent_with(marks)?;
            match again(verdict, was_answered).by_hand {
                OfHand::No => Some(ByHand::Sent(verdict)),
                OfHand::Interactive if verdict == Verdict::SecondFactor => Some(ByHand::SecondFactor),
                OfHand::Interactive => Some(ByHand::Captcha),
                OfHand::Yes => None,
            }
        };
        let full = || self.is_full(marks).then_some(ByHand::TooMany);
        refused.or_else(locked).or_else(asked).or_else(last).or_else(before).or_else(sent).or_else(full)
    }

    /// How the last login with this password ended, where it was sent and not let in.
    fn sent_with(&self, marks: [u32; 2]) -> Option<(Verdict, bool)> {
        let found = self.sent.iter().rev().find(|(of, _, _)| marks.contains(of));
        found.map(|(_, verdict, was_answered)| (*verdict, *was_answered))
    }

    /// True where no more can be remembered, and this one is not known.
    fn is_full(&self, marks: [u32; 2]) -> bool {
        let is_let_in = self.proven.is_some_and(|of| marks.contains(&of));
        self.sent.len() >= LOGINS_REFUSED_MAX && !is_let_in && self.sent_with(marks).is_none()
    }

    /// Writes down how a form with this password ended: nothing that says less of it takes the place of what says more.
    fn note_sent(&mut self, mark: u32, marks: [u32; 2], (verdict, was_answered): (Verdict, bool)) {
        let is_strict = |(verdict, was_answered): (Verdict, bool)| again(verdict, was_answered).by_hand == OfHand::No;
        if self.sent_with(marks).is_some_and(is_strict) && !is_strict((verdict, was_answered)) {
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
        self.proven.is_some_and(|of| self.marks(user, password).contains(&of))
    }

    /// Takes in that the last sessions ended soon: no crawl logs in before then, be it another process.
    pub fn rest(&mut self, until: UnixMillis) {
        self.resting = until;
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

    /// Told where the site asks for patience time and again: the operator may know why, and not before when.
    fn limited_again(&self, now: UnixMillis) -> String {
        let when = match self.not_before(now) {
            Some(until) => format!("at {} or later", until.rfc3339()),
            None => "now".to_owned(),
        };
        format!(
            "the site asks to wait before another try, and has asked before (hint: see that the account is not locked, then \
             run `gleaner login` {when})"
        )
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
        let is_limit = self.last == Some(Verdict::RateLimited);
        let least = if is_limit { now.plus(LOGIN_BROKEN_OFF_WAIT) } else { self.not_before };
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

    /// Takes in that a login begins; to be written down before anything is sent, so that a process that is killed in the
    /// middle has tried.
    pub fn begin(&mut self, user: &str, password: &Secret) {
        let marks = self.marks(user, password);
        if self.begun.is_some_and(|of| !marks.contains(&of)) {
            self.note_begun();
        }
        (self.begun, self.unproven) = (Some(self.new_mark(user, password)), None);
    }

    /// Notes how a login ended that began and whose own end nobody will see: its form may have left.
    fn note_begun(&mut self) {
        let unless = self.unproven.take().map_or((Verdict::NoAnswer, false), |(unless, _)| (unless, true));
        if let Some(mark) = self.begun.take() {
            self.note_sent(mark, [mark, mark], unless);
        }
    }

    /// Takes in that a form of the login which has begun leaves anew: how the one before it was answered is over.
    pub fn sends_anew(&mut self) {
        self.unproven = None;
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
    /// itself meanwhile: the login has broken off then, as the next one will find.
    pub fn proof_came(&mut self, holds: bool, user: &str, password: &Secret, now: UnixMillis) -> Option<Verdict> {
        let is_young = |at: UnixMillis| at <= now && now.since(at) < UNPROVEN_SESSION_TIME;
        // A form that came back is no session that could have ended.
        let stands = |(unless, at): &(Verdict, UnixMillis)| *unless == Verdict::ProbablyRefused || is_young(*at);
        let refused = self.unproven.filter(stands).map(|(unless, _)| unless);
        let verdict = if holds { Verdict::LoggedIn } else { refused? };
        self.ended(Ended { verdict, was_sent: true, was_answered: true }, user, password, now);
        // As it counts: a second answer that tells nothing is one that refuses.
        Some(if self.refusal(user, password).is_some() { self.last.unwrap_or(verdict) } else { verdict })
    }

    /// Takes in that the last login may have broken off. True where it has: it may have been refused, so that the next one
    /// waits, and it counts among those that ended without a clear verdict.
    pub fn broke_off(&mut self, user: &str, password: &Secret, now: UnixMillis) -> bool {
        let marks = self.marks(user, password);
        self.unproven = None;
        let has = self.begun.take().is_some_and(|begun| marks.contains(&begun));
        if has {
            // Its form may have left: that is no table's doing.
            self.is_of_table = false;
            self.unclear = self.unclear.saturating_add(1);
            // A site that has asked for more gets it.
            let wait = now.plus(LOGIN_BROKEN_OFF_WAIT);
            self.not_before = self.not_before(now).map_or(wait, |until| until.max(wait));
            let mark = self.new_mark(user, password);
            self.note_sent(mark, marks, (Verdict::NoAnswer, false));
            if self.unclear >= LOGINS_UNCLEAR_MAX {
                self.held = Some((Verdict::NoAnswer, mark));
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
        self.not_before = now.plus(wait_in_trouble(self.stalled));
    }

    /// Takes in that the operator has logged in as this user by other means: a password that was sent and brought nothing is held as before,
    /// but where the site has asked for a person or a browser.
    pub fn operator_has_logged_in(&mut self, user: &str) {
        self.note_begun();
        let (refused, let_in) = (std::mem::take(&mut self.refused), std::mem::take(&mut self.let_in));
        let (probably_refused, member) = (std::mem::take(&mut self.probably_refused), Some(user.into()));
        let (salt, table, probe, proven) = (self.salt, self.table, self.probe, self.proven);
        let (mut sent, probes) = (std::mem::take(&mut self.sent), std::mem::take(&mut self.probes));
        let is_of_a_browser = |verdict| {
            use Verdict::{Captcha, NoForm, OtherSite, RedirectLoop, Script, SecondFactor, SentByGet};
            matches!(verdict, Captcha | SecondFactor | OtherSite | NoForm | SentByGet | RedirectLoop | Script)
        };
        sent.retain(|(_, verdict, _)| !is_of_a_browser(*verdict));
        let kept = Self { salt, table, probe, refused, probably_refused, let_in, member, ..Self::default() };
        *self = Self { proven, sent, probes, ..kept };
    }

    /// Takes in how a login ended.
    pub fn ended(&mut self, ended: Ended, user: &str, password: &Secret, now: UnixMillis) {
        let Ended { mut verdict, was_sent, was_answered } = ended;
        let (mark, marks) = (self.new_mark(user, password), self.marks(user, password));
        // An answer that tells nothing may be a refusal; a second one to the same is not followed by a third.
        let tells_nothing = |verdict: Verdict| matches!(verdict, Verdict::Unknown | Verdict::NotLookedAt);
        let is_held = self.held.is_some_and(|(held, of)| tells_nothing(held) && marks.contains(&of));
        let was_unknown = is_held && self.last.is_some_and(tells_nothing) && !self.was_in_trouble;
        if tells_nothing(verdict) && was_sent && was_answered && was_unknown {
            (verdict, self.held) = (Verdict::ProbablyRefused, None);
        }
        if was_sent && was_answered {
            self.locked.retain(|locked| !marks.contains(locked));
            self.captcha.retain(|met| !marks.contains(met));
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
        if was_sent && verdict != Verdict::LoggedIn {
            self.note_sent(mark, marks, (verdict, was_answered));
        }
        match verdict {
            Verdict::LoggedIn => {
                self.proven = Some(mark);
                self.sent.retain(|(of, _, _)| !marks.contains(of));
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
            | Verdict::NoForm
            | Verdict::RedirectLoop => {
                let is_known = matches!(verdict, Verdict::NoForm | Verdict::RedirectLoop);
                self.unclear = self.unclear.saturating_add(u32::from(was_sent || is_known));
                let first = if verdict == Verdict::RateLimited { LOGIN_HOUR } else { FIRST_WAIT };
                let wait = first.saturating_mul(4_u32.saturating_pow(self.unclear.saturating_sub(1)));
                self.not_before = now.plus(wait.min(LOGIN_WAIT_MAX));
                if verdict == Verdict::RateLimited {
                    // For how long, it may tell better: `wait_as_asked`.
                    self.wait_as_guessed();
                }
                // A site that answers and lets nobody in may have refused the password in words that are not known.
                let may_be_refused = tells_nothing(verdict) && was_answered;
                if was_sent && (may_be_refused || self.unclear >= LOGINS_UNCLEAR_MAX) {
                    self.held = Some((verdict, mark));
                }
            }
            Verdict::Locked => {
                self.held = Some((verdict, mark));
                push(&mut self.locked, mark);
            }
            Verdict::Captcha if was_sent => {
                self.held = Some((verdict, mark));
                push(&mut self.captcha, mark);
            }
            Verdict::Captcha
            | Verdict::SecondFactor
            | Verdict::ConfirmEmail
            | Verdict::OtherSite
            | Verdict::SentByGet
            | Verdict::Script => self.held = Some((verdict, mark)),
        }
    }
}

/// Why what was sent so is not sent again, and what to do.
fn sentence_of_sent(verdict: Verdict) -> String {
    let (sentence, hint) = verdict.sentence().split_once(" (hint: ").unwrap_or((verdict.sentence(), ""));
    match again(verdict, true).by_hand {
        OfHand::No if hint.contains("--again") || hint.contains("--cookies") => verdict.sentence().to_owned(),
        OfHand::No if verdict == Verdict::ConfirmEmail => {
            format!("{sentence} (hint: follow the link in the site's mail, then run `gleaner login --again`)")
        }
        OfHand::No => format!(
            "{sentence}, and the same is not sent again (hint: see with a browser that the user and the password are right, then name a \
             page that only members see as `probe` in [login], or run `gleaner login --again`)"
        ),
        OfHand::Interactive | OfHand::Yes => verdict.sentence().to_owned(),
    }
}

/// Takes in one more mark, in place of the oldest where there are `limits::LOGINS_REFUSED_MAX`.
fn push(list: &mut Vec<u32>, mark: u32) {
    list.push(mark);
    let too_many = list.len().saturating_sub(LOGINS_REFUSED_MAX);
    list.drain(..too_many);
}

/// A time to wait for. None was ever as far away as the longest wait: the clock was ahead when it was written.
fn is_ahead(until: UnixMillis, now: UnixMillis) -> Option<UnixMillis> {
    Some(until).filter(|until| *until > now && *until <= now.plus(LOGIN_WAIT_MAX))
}

/// Wait behind the `nth` time in a row, from 1, that a site was in trouble.
#[must_use]
pub fn wait_in_trouble(nth: u32) -> Duration {
    let doubled = OPERATOR_POLL.saturating_mul(2_u32.saturating_pow(nth.saturating_sub(1)));
    doubled.min(SITE_TROUBLE_WAIT_MAX)
}

#[cfg(test)]
mod tests;

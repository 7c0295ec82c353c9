//! What earlier logins of an account forbid: never the same wrong password twice, no touch of a locked account until its
//! operator says so, and patience where the site asks for it or does not tell. Pure: the time is an argument, the file is
//! another's business.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::secret::Secret;
use super::verdict::{IN_TROUBLE, Verdict};
use crate::clock::UnixMillis;
use crate::limits::{
    LOGIN_BROKEN_OFF_WAIT, LOGIN_WAIT_MAX, LOGINS_PER_HOUR_MAX, LOGINS_REFUSED_MAX, LOGINS_UNCLEAR_MAX, OPERATOR_POLL,
    SITE_TROUBLE_WAIT_MAX,
};

/// Wait after the first login that did not end clearly; each further one quadruples it.
const FIRST_WAIT: Duration = Duration::from_secs(5 * 60);

/// Told where logins were killed, or answered by a server in trouble, one after the other.
const NO_END: &str = "the last logins did not get to a clear end, and may have been refused (hint: see that the account is \
                      not locked, then run `gleaner login`)";

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
    /// Keeps us away until the operator logs in, or gives another password.
    held: Option<(Verdict, u32)>,
    /// A login that has begun and of whose end nothing is known: its process may have been killed.
    begun: Option<u32>,
    /// Logins without a clear end in a row.
    unclear: u32,
    not_before: UnixMillis,
    /// How the last login ended that was not let in.
    last: Option<Verdict>,
    /// True where that was a site which did not answer, or was in trouble.
    was_in_trouble: bool,
    /// Logins in a row that a site in trouble has kept from sending a form.
    stalled: u32,
    /// Marks the rule file's table by which the last login was tried.
    table: u32,
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
    /// True where the site has refused this password: not even the operator sends it again unawares.
    #[must_use]
    pub fn has_refused(&self, user: &str, password: &Secret) -> bool {
        let marks = self.marks(user, password);
        self.refused.iter().any(|refused| marks.contains(refused))
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
    pub fn trouble(&self) -> Option<&'static str> {
        self.last.map(|last| if self.was_in_trouble { IN_TROUBLE } else { last.sentence() })
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
        if self.has_refused(user, password) {
            let why = "the site has refused this user and password; the same are not tried again (hint: correct them)";
            return Some(Hold::Operator(why.to_owned()));
        }
        let marks = self.marks(user, password);
        if let Some((verdict, _)) = self.held.filter(|(_, held)| marks.contains(held)) {
            let why = match verdict {
                Verdict::Unknown if self.unclear >= LOGINS_UNCLEAR_MAX => NO_END,
                verdict => verdict.sentence(),
            };
            return Some(Hold::Operator(why.to_owned()));
        }
        let of_last_hour = self.let_in.iter().filter(|at| **at <= now && now.since(**at) < LOGIN_HOUR);
        if of_last_hour.clone().count() >= LOGINS_PER_HOUR_MAX {
            let until = of_last_hour.min().map_or(now, |first| first.plus(LOGIN_HOUR));
            return Some(Hold::Until(until, format!("{LOGINS_PER_HOUR_MAX} logins within an hour")));
        }
        let until = self.not_before;
        // None was ever as far away: the clock was ahead when it was written.
        (until > now && until <= now.plus(LOGIN_WAIT_MAX)).then(|| {
            let last = self.trouble().unwrap_or("the last login did not get to its end");
            Hold::Until(until, format!("{last} (no new try before {}; `gleaner login` does not wait)", until.rfc3339()))
        })
    }

    /// Takes in that a login begins; to be written down before anything is sent, so that a process that is killed in the
    /// middle has tried.
    pub fn begin(&mut self, user: &str, password: &Secret) {
        self.begun = Some(self.new_mark(user, password));
    }

    /// Takes in that the last login may have broken off. True where it has: it may have been refused, so that the next one
    /// waits, and it counts among those that ended without a clear verdict.
    pub fn broke_off(&mut self, user: &str, password: &Secret, now: UnixMillis) -> bool {
        let marks = self.marks(user, password);
        let has = self.begun.take().is_some_and(|begun| marks.contains(&begun));
        if has {
            // Its form may have left: that is no table's doing.
            self.is_of_table = false;
            self.unclear = self.unclear.saturating_add(1);
            self.not_before = now.plus(LOGIN_BROKEN_OFF_WAIT);
            if self.unclear >= LOGINS_UNCLEAR_MAX {
                self.held = Some((Verdict::Unknown, self.new_mark(user, password)));
            }
        }
        has
    }

    /// Takes in that the login which began was kept back before anything was sent: nothing was tried, and how long to wait
    /// is for whoever kept it back to say.
    pub fn came_to_nothing(&mut self) {
        self.begun = None;
    }

    /// Takes in that the login which began has met a site that did not answer, or only that it is in trouble, before
    /// anything was sent. Nothing was tried; the next look at the site waits, each time twice as long, also in the next
    /// process.
    pub fn met_trouble(&mut self, now: UnixMillis) {
        (self.begun, self.last, self.was_in_trouble, self.is_of_table) = (None, Some(Verdict::Unknown), true, false);
        self.stalled = self.stalled.saturating_add(1);
        self.not_before = now.plus(wait_in_trouble(self.stalled));
    }

    /// Takes in that the operator has logged in as this user by other means: a refused password stays refused.
    pub fn operator_has_logged_in(&mut self, user: &str) {
        let (refused, let_in) = (std::mem::take(&mut self.refused), std::mem::take(&mut self.let_in));
        let member = Some(user.into());
        *self = Self { salt: self.salt, table: self.table, refused, let_in, member, ..Self::default() };
    }

    /// Takes in how a login ended.
    pub fn ended(&mut self, ended: Ended, user: &str, password: &Secret, now: UnixMillis) {
        let Ended { verdict, was_sent, was_answered } = ended;
        let (mark, marks) = (self.new_mark(user, password), self.marks(user, password));
        self.keep_by_forms(was_sent);
        self.begun = None;
        // A site that did not answer before anything was sent has said nothing of the account.
        let is_silence = verdict == Verdict::Unknown && !was_sent;
        self.last = (verdict != Verdict::LoggedIn && !is_silence).then_some(verdict);
        self.was_in_trouble = verdict == Verdict::Unknown && !was_answered;
        (self.is_of_table, self.stalled) = (!was_sent, 0);
        match verdict {
            Verdict::LoggedIn => {
                self.operator_has_logged_in(user);
                self.refused.retain(|refused| !marks.contains(refused));
                self.let_in.retain(|at| *at <= now && now.since(*at) < LOGIN_HOUR);
                self.let_in.push(now);
            }
            Verdict::WrongPassword => {
                self.refused.retain(|refused| !marks.contains(refused));
                self.refused.push(mark);
                let too_many = self.refused.len().saturating_sub(LOGINS_REFUSED_MAX);
                self.refused.drain(..too_many);
            }
            // A form that is not there may be back tomorrow.
            Verdict::RateLimited | Verdict::Unknown | Verdict::NoForm => {
                self.unclear = self.unclear.saturating_add(u32::from(was_sent || verdict == Verdict::NoForm));
                let first = if verdict == Verdict::RateLimited { LOGIN_HOUR } else { FIRST_WAIT };
                let wait = first.saturating_mul(4_u32.saturating_pow(self.unclear.saturating_sub(1)));
                self.not_before = now.plus(wait.min(LOGIN_WAIT_MAX));
                // A site that answers and lets nobody in may have refused the password in words that are not known.
                let may_be_refused = verdict == Verdict::Unknown && was_answered;
                if was_sent && (may_be_refused || self.unclear >= LOGINS_UNCLEAR_MAX) {
                    self.held = Some((verdict, mark));
                }
            }
            Verdict::Locked
            | Verdict::Captcha
            | Verdict::SecondFactor
            | Verdict::ConfirmEmail
            | Verdict::OtherSite
            | Verdict::Script => self.held = Some((verdict, mark)),
        }
    }
}

/// Wait behind the `nth` time in a row, from 1, that a site was in trouble.
#[must_use]
pub fn wait_in_trouble(nth: u32) -> Duration {
    let doubled = OPERATOR_POLL.saturating_mul(2_u32.saturating_pow(nth.saturating_sub(1)));
    doubled.min(SITE_TROUBLE_WAIT_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixMillis = UnixMillis(1_000_000_000);

    fn after(verdicts: &[(Verdict, bool)]) -> Tries {
        let mut tries = Tries::default();
        for (verdict, was_sent) in verdicts {
            let ended = Ended { verdict: *verdict, was_sent: *was_sent, was_answered: false };
            tries.ended(ended, "anna", &Secret::new("one"), NOW);
        }
        tries
    }

    #[test]
    fn a_wrong_password_is_never_tried_again_and_another_one_is() {
        let tries = after(&[(Verdict::WrongPassword, true)]);
        let hold =
            |user: &str, password: &str| tries.hold(user, &Secret::new(password), NOW.plus(LOGIN_WAIT_MAX * 900));
        assert!(matches!(hold("anna", "one"), Some(Hold::Operator(_))));
        assert_eq!((hold("anna", "two"), hold("anne", "one")), (None, None));
    }

    #[test]
    fn each_file_has_a_salt_of_its_own_and_keeps_it() {
        let refused = || after(&[(Verdict::WrongPassword, true)]);
        let (one, mut other) = (refused(), refused());
        assert_ne!((one.salt, one.refused.clone()), (other.salt, other.refused.clone()));
        assert!(one.refused.iter().all(|mark| !one.marks("anna", &Secret::new("one"))[1..].contains(mark)));
        other.operator_has_logged_in("anna");
        let again: Tries = serde_json::from_slice(&serde_json::to_vec(&other).unwrap()).unwrap();
        assert_eq!(again, other);
        assert!(again.has_refused("anna", &Secret::new("one")) && !again.has_refused("anna", &Secret::new("two")));
    }

    #[test]
    fn what_was_written_down_before_there_were_salts_still_holds() {
        let (password, later) = (Secret::new("one"), NOW.plus(LOGIN_WAIT_MAX * 900));
        // As the version before wrote it.
        let old = password.mark(b"gleaner tries\0anna\0");
        let read = |text: String| serde_json::from_str::<Tries>(&text).unwrap();
        let mut refused = read(format!(r#"{{"refused":[7,{old}],"unclear":0,"not_before":0}}"#));
        assert!(refused.has_refused("anna", &password) && !refused.has_refused("anna", &Secret::new("two")));
        // Nor does what is learned since make it forgotten.
        let wrong = Ended { verdict: Verdict::WrongPassword, was_sent: true, was_answered: true };
        refused.ended(wrong, "anna", &Secret::new("two"), NOW);
        assert!(refused.has_refused("anna", &password) && refused.has_refused("anna", &Secret::new("two")));
        let held = read(format!(r#"{{"held":["locked",{old}]}}"#));
        assert!(matches!(held.hold("anna", &password, later), Some(Hold::Operator(_))));
        let mut begun = read(format!(r#"{{"begun":{old}}}"#));
        assert!(begun.broke_off("anna", &password, NOW) && begun.hold("anna", &password, NOW).is_some());
        let right = Ended { verdict: Verdict::LoggedIn, was_sent: true, was_answered: true };
        refused.ended(right, "anna", &password, NOW);
        assert!(!refused.has_refused("anna", &password), "the operator has made it right");
    }

    #[test]
    fn an_answer_in_unknown_words_may_be_a_refusal_and_is_not_tried_again() {
        let (mut tries, password) = (Tries::default(), Secret::new("one"));
        tries.ended(Ended { verdict: Verdict::Unknown, was_sent: true, was_answered: true }, "anna", &password, NOW);
        assert!(matches!(tries.hold("anna", &password, NOW.plus(LOGIN_WAIT_MAX)), Some(Hold::Operator(_))));
    }

    #[test]
    fn many_passwords_may_be_refused_and_no_session_of_a_browser_makes_them_right() {
        let mut tries = Tries::default();
        let refused = Ended { verdict: Verdict::WrongPassword, was_sent: true, was_answered: true };
        for password in ["one", "two"] {
            tries.ended(refused, "anna", &Secret::new(password), NOW);
        }
        tries.operator_has_logged_in("anna");
        assert!(["one", "two"].iter().all(|password| tries.has_refused("anna", &Secret::new(password))));
        assert!(!tries.has_refused("anna", &Secret::new("three")));
    }

    #[test]
    fn no_more_logins_an_hour_than_a_person_would_need() {
        let (mut tries, password) = (Tries::default(), Secret::new("one"));
        let let_in = Ended { verdict: Verdict::LoggedIn, was_sent: true, was_answered: true };
        let times = (0..LOGINS_PER_HOUR_MAX).map(|minute| NOW.plus(Duration::from_secs(60 * minute as u64)));
        for now in times {
            assert_eq!(tries.hold("anna", &password, now), None);
            tries.ended(let_in, "anna", &password, now);
        }
        let now = NOW.plus(Duration::from_secs(1_800));
        let until = NOW.plus(LOGIN_HOUR);
        assert!(matches!(tries.hold("anna", &password, now), Some(Hold::Until(at, _)) if at == until));
        assert_eq!(tries.hold("anna", &password, until), None);
        assert_eq!(tries.hold("anna", &password, UnixMillis(5)), None, "nor does a clock that was ahead count");
    }

    #[test]
    fn a_login_that_was_killed_in_the_middle_counts_and_two_of_them_are_enough() {
        let (mut tries, password) = (Tries::default(), Secret::new("one"));
        for nth in 1..=LOGINS_UNCLEAR_MAX {
            tries.begin("anna", &password);
            // What a process that was killed has written down.
            tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
            assert!(tries.broke_off("anna", &password, NOW) && !tries.broke_off("anna", &password, NOW));
            let hold = tries.hold("anna", &password, NOW);
            assert_eq!(matches!(hold, Some(Hold::Until(..))), nth < LOGINS_UNCLEAR_MAX, "{hold:?}");
        }
        assert!(matches!(tries.hold("anna", &password, NOW.plus(LOGIN_WAIT_MAX)), Some(Hold::Operator(_))));
        tries.begin("anna", &password);
        tries.ended(Ended { verdict: Verdict::LoggedIn, was_sent: true, was_answered: true }, "anna", &password, NOW);
        assert_eq!(tries.hold("anna", &password, NOW), None);
    }

    #[test]
    fn a_site_that_did_not_answer_has_not_been_tried() {
        let (mut tries, password) = (after(&[(Verdict::WrongPassword, true)]), Secret::new("two"));
        let before = tries.clone();
        tries.begin("anna", &password);
        tries.came_to_nothing();
        assert_eq!(tries, before);
        assert_eq!(tries.hold("anna", &password, NOW), None);
    }

    #[test]
    fn a_site_in_trouble_is_looked_at_less_and_less_also_by_the_next_process() {
        let (mut tries, password, mut now) = (Tries::default(), Secret::new("one"), NOW);
        let mut waits = Vec::new();
        for _ in 0..9 {
            tries.begin("anna", &password);
            tries.met_trouble(now);
            tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
            let Some(Hold::Until(until, why)) = tries.hold("anna", &password, now) else { panic!("{tries:?}") };
            assert!(why.starts_with(IN_TROUBLE), "{why}");
            waits.push(until.since(now).as_secs());
            now = until;
            assert_eq!(tries.hold("anna", &password, now), None, "and nothing was tried");
        }
        assert_eq!(waits, [60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600]);
        tries.ended(Ended { verdict: Verdict::LoggedIn, was_sent: true, was_answered: true }, "anna", &password, now);
        tries.met_trouble(now);
        assert!(
            matches!(tries.hold("anna", &password, now), Some(Hold::Until(at, _)) if at.since(now).as_secs() == 60)
        );
    }

    #[test]
    fn what_a_table_did_not_find_ends_with_it_and_what_a_form_was_answered_does_not() {
        let password = Secret::new("one");
        for (verdict, was_sent, ends) in [
            (Verdict::NoForm, false, true),
            (Verdict::OtherSite, false, true),
            (Verdict::NoForm, true, false),
            (Verdict::RateLimited, true, false),
            (Verdict::Locked, true, false),
            (Verdict::WrongPassword, true, false),
        ] {
            let mut tries = Tries::default();
            tries.meet_table(1);
            tries.ended(Ended { verdict, was_sent, was_answered: was_sent }, "anna", &password, NOW);
            for table in [1, 1, 2] {
                tries.meet_table(table);
                let is_held = tries.hold("anna", &password, NOW).is_some();
                assert_eq!(is_held, table == 1 || !ends, "{verdict:?}, {was_sent}, table {table}");
            }
        }
    }

    #[test]
    fn what_a_form_was_answered_outlasts_a_table_that_found_none_behind_it() {
        let password = Secret::new("one");
        for unsent in [Verdict::NoForm, Verdict::OtherSite, Verdict::Script, Verdict::Unknown] {
            let mut tries = Tries::default();
            tries.meet_table(1);
            tries.ended(Ended { verdict: Verdict::Locked, was_sent: true, was_answered: true }, "anna", &password, NOW);
            let locked = tries.hold("anna", &password, NOW);
            // The second changes nothing of what the first has kept.
            for _ in 0..2 {
                let ended = Ended { verdict: unsent, was_sent: false, was_answered: false };
                tries.ended(ended, "anna", &password, NOW);
                tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
            }
            tries.meet_table(2);
            assert!(matches!(locked, Some(Hold::Operator(_))), "{locked:?}");
            assert_eq!(tries.hold("anna", &password, NOW), locked, "{unsent:?}");
        }
    }

    #[test]
    fn a_form_that_a_server_in_trouble_answered_is_told_as_such() {
        let tries = after(&[(Verdict::Unknown, true)]);
        assert_eq!(tries.trouble(), Some(IN_TROUBLE));
        let why = tries.hold("anna", &Secret::new("one"), NOW);
        assert!(matches!(why, Some(Hold::Until(_, why)) if why.starts_with(IN_TROUBLE)));
        assert_eq!(after(&[(Verdict::LoggedIn, true)]).member(), Some("anna"));
    }

    #[test]
    fn a_locked_account_waits_for_its_operator() {
        for verdict in [Verdict::Locked, Verdict::Captcha, Verdict::SecondFactor, Verdict::OtherSite] {
            let tries = after(&[(verdict, true)]);
            let later = NOW.plus(LOGIN_WAIT_MAX * 900);
            assert!(matches!(tries.hold("anna", &Secret::new("one"), later), Some(Hold::Operator(_))), "{verdict:?}");
        }
        let let_in = after(&[(Verdict::Locked, true), (Verdict::LoggedIn, true)]);
        assert_eq!(let_in.hold("anna", &Secret::new("one"), NOW), None);
    }

    #[test]
    fn what_did_not_end_clearly_waits_longer_each_time_and_then_for_the_operator() {
        let wait = |verdicts: &[(Verdict, bool)]| match after(verdicts).hold("anna", &Secret::new("one"), NOW) {
            Some(Hold::Until(until, _)) => until.since(NOW).as_secs(),
            Some(Hold::Operator(_)) => u64::MAX,
            None => 0,
        };
        let unclear = (Verdict::Unknown, true);
        assert_eq!([wait(&[unclear]), wait(&[unclear, unclear])], [300, u64::MAX]);
        assert_eq!(wait(&[(Verdict::Unknown, false); 9]), 300, "nothing was sent: the site was away");
        let limited = [(Verdict::RateLimited, true); 9];
        assert_eq!([wait(&limited[..1]), wait(&limited[..2])], [3_600, u64::MAX]);
        assert_eq!(wait(&[(Verdict::NoForm, false); 9]), 86_400, "a form that is gone is looked for each day");
    }
}

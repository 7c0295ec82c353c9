//! What earlier logins of an account forbid: never the same wrong password twice, no touch of a locked account until its
//! operator says so, and patience where the site asks for it or does not tell. Pure: the time is an argument, the file is
//! another's business.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::secret::Secret;
use super::verdict::Verdict;
use crate::clock::UnixMillis;
use crate::limits::{
    LOGIN_BROKEN_OFF_WAIT, LOGIN_WAIT_MAX, LOGINS_PER_HOUR_MAX, LOGINS_REFUSED_MAX, LOGINS_UNCLEAR_MAX,
};

/// Wait after the first login that did not end clearly; each further one quadruples it.
const FIRST_WAIT: Duration = Duration::from_secs(5 * 60);

const LOGIN_HOUR: Duration = Duration::from_secs(3_600);

/// What is remembered of a site's logins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tries {
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
    /// The last logins that were let in.
    let_in: Vec<UnixMillis>,
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
fn mark(user: &str, password: &Secret) -> u32 {
    password.mark(format!("gleaner tries\0{user}\0").as_bytes())
}

impl Tries {
    /// True where the site has refused this password: not even the operator sends it again unawares.
    #[must_use]
    pub fn has_refused(&self, user: &str, password: &Secret) -> bool {
        self.refused.contains(&mark(user, password))
    }

    /// How the last login ended, where it was not let in: for people, of a site that nobody crawls right now.
    #[must_use]
    pub fn trouble(&self) -> Option<&'static str> {
        self.last.map(Verdict::sentence)
    }

    /// Why there may be no login with this password now; None where there may.
    #[must_use]
    pub fn hold(&self, user: &str, password: &Secret, now: UnixMillis) -> Option<Hold> {
        let mark = mark(user, password);
        if self.has_refused(user, password) {
            let why = "the site has refused this user and password; the same are not tried again (hint: correct them)";
            return Some(Hold::Operator(why.to_owned()));
        }
        if let Some((verdict, _)) = self.held.filter(|(_, held)| *held == mark) {
            return Some(Hold::Operator(verdict.sentence().to_owned()));
        }
        let of_last_hour = self.let_in.iter().filter(|at| **at <= now && now.since(**at) < LOGIN_HOUR);
        if of_last_hour.clone().count() >= LOGINS_PER_HOUR_MAX {
            let until = of_last_hour.min().map_or(now, |first| first.plus(LOGIN_HOUR));
            return Some(Hold::Until(until, format!("{LOGINS_PER_HOUR_MAX} logins within an hour")));
        }
        let until = self.not_before;
        // None was ever as far away: the clock was ahead when it was written.
        (until > now && until <= now.plus(LOGIN_WAIT_MAX)).then(|| {
            let last = self.last.map_or("the last login was broken off", Verdict::sentence);
            Hold::Until(until, format!("{last} (no new try before {}; `gleaner login` does not wait)", until.rfc3339()))
        })
    }

    /// Takes in that a login begins; to be written down before anything is sent, so that a process that is killed in the
    /// middle has tried.
    pub fn begin(&mut self, user: &str, password: &Secret) {
        self.begun = Some(mark(user, password));
    }

    /// Takes in that the last login may have broken off. True where it has: it may have been refused, so that the next one
    /// waits, and it counts among those that ended without a clear verdict.
    pub fn broke_off(&mut self, user: &str, password: &Secret, now: UnixMillis) -> bool {
        let has = self.begun.take() == Some(mark(user, password));
        if has {
            self.unclear = self.unclear.saturating_add(1);
            self.not_before = now.plus(LOGIN_BROKEN_OFF_WAIT);
            if self.unclear >= LOGINS_UNCLEAR_MAX {
                self.held = Some((Verdict::Unknown, mark(user, password)));
            }
        }
        has
    }

    /// Takes in that the login ended before anything was sent, for trouble of the site's own: that was no try.
    pub fn called_off(&mut self) {
        self.begun = None;
    }

    /// Takes in that the operator has logged in by other means: a refused password stays refused.
    pub fn operator_has_logged_in(&mut self) {
        let (refused, let_in) = (std::mem::take(&mut self.refused), std::mem::take(&mut self.let_in));
        *self = Self { refused, let_in, ..Self::default() };
    }

    /// Takes in how a login ended.
    pub fn ended(&mut self, ended: Ended, user: &str, password: &Secret, now: UnixMillis) {
        let Ended { verdict, was_sent, was_answered } = ended;
        let mark = mark(user, password);
        self.begun = None;
        self.last = (verdict != Verdict::LoggedIn).then_some(verdict);
        match verdict {
            Verdict::LoggedIn => {
                self.operator_has_logged_in();
                self.refused.retain(|refused| *refused != mark);
                self.let_in.retain(|at| *at <= now && now.since(*at) < LOGIN_HOUR);
                self.let_in.push(now);
            }
            Verdict::WrongPassword => {
                self.refused.retain(|refused| *refused != mark);
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
        tries.operator_has_logged_in();
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
        assert_eq!([wait(&[unclear]), wait(&[unclear, unclear]), wait(&[unclear; 3])], [300, 1_200, u64::MAX]);
        assert_eq!(wait(&[(Verdict::Unknown, false); 9]), 300, "nothing was sent: the site was away");
        let limited = [(Verdict::RateLimited, true); 9];
        assert_eq!([wait(&limited[..1]), wait(&limited[..2]), wait(&limited)], [3_600, 14_400, u64::MAX]);
        assert_eq!(wait(&[(Verdict::NoForm, false); 9]), 86_400, "a form that is gone is looked for each day");
    }
}

//! What earlier logins of an account forbid: never the same wrong password twice, no touch of a locked account until its
//! operator says so, and patience where the site asks for it or does not tell. Pure: the time is an argument, the file is
//! another's business.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::secret::Secret;
use super::verdict::Verdict;
use crate::clock::UnixMillis;
use crate::limits::{LOGIN_BROKEN_OFF_WAIT, LOGIN_WAIT_MAX, LOGINS_UNCLEAR_MAX};

/// Wait after the first login that did not end clearly; each further one quadruples it.
const FIRST_WAIT: Duration = Duration::from_secs(5 * 60);

/// What is remembered of a site's logins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tries {
    /// Marks the user and the password that the site has refused.
    refused: Option<u32>,
    /// Keeps us away until the operator logs in, or gives another password.
    held: Option<(Verdict, u32)>,
    /// A login that has begun and of whose end nothing is known: its process may have been killed.
    begun: Option<u32>,
    /// Logins without a clear end in a row.
    unclear: u32,
    not_before: UnixMillis,
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
        self.refused == Some(mark(user, password))
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
        (self.not_before > now)
            .then(|| Hold::Until(self.not_before, "patience after a login that the site did not take".to_owned()))
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

    /// Takes in how a login ended. `was_sent` is false where the form never left: that is no try.
    pub fn ended(&mut self, verdict: Verdict, was_sent: bool, user: &str, password: &Secret, now: UnixMillis) {
        let mark = mark(user, password);
        self.begun = None;
        match verdict {
            Verdict::LoggedIn => *self = Self::default(),
            Verdict::WrongPassword => *self = Self { refused: Some(mark), ..Self::default() },
            // A form that is not there may be back tomorrow.
            Verdict::RateLimited | Verdict::Unknown | Verdict::NoForm => {
                self.unclear = self.unclear.saturating_add(u32::from(was_sent || verdict == Verdict::NoForm));
                let wait = FIRST_WAIT.saturating_mul(4_u32.saturating_pow(self.unclear.saturating_sub(1)));
                self.not_before = now.plus(wait.min(LOGIN_WAIT_MAX));
                if verdict == Verdict::Unknown && self.unclear >= LOGINS_UNCLEAR_MAX {
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
            tries.ended(*verdict, *was_sent, "anna", &Secret::new("one"), NOW);
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
    fn a_login_that_was_killed_in_the_middle_counts_and_three_of_them_are_enough() {
        let (mut tries, password) = (Tries::default(), Secret::new("one"));
        for nth in 1..=3 {
            tries.begin("anna", &password);
            // What a process that was killed has written down.
            tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
            assert!(tries.broke_off("anna", &password, NOW) && !tries.broke_off("anna", &password, NOW));
            let hold = tries.hold("anna", &password, NOW);
            assert_eq!(matches!(hold, Some(Hold::Until(..))), nth < 3, "{hold:?}");
        }
        assert!(matches!(tries.hold("anna", &password, NOW.plus(LOGIN_WAIT_MAX)), Some(Hold::Operator(_))));
        tries.begin("anna", &password);
        tries.ended(Verdict::LoggedIn, true, "anna", &password, NOW);
        assert_eq!(tries, Tries::default());
    }

    #[test]
    fn a_locked_account_waits_for_its_operator() {
        for verdict in [Verdict::Locked, Verdict::Captcha, Verdict::SecondFactor, Verdict::OtherSite] {
            let tries = after(&[(verdict, true)]);
            let later = NOW.plus(LOGIN_WAIT_MAX * 900);
            assert!(matches!(tries.hold("anna", &Secret::new("one"), later), Some(Hold::Operator(_))), "{verdict:?}");
        }
        assert_eq!(after(&[(Verdict::Locked, true), (Verdict::LoggedIn, true)]), Tries::default());
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
        assert_eq!([wait(&limited[..1]), wait(&limited[..3]), wait(&limited)], [300, 4_800, 86_400]);
    }
}

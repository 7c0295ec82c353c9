//! The retry policy: who may send the same credentials again after a form with them was sent and gave no session. This table alone decides.
//!
//! Whatever the site responds, it may have counted a wrong password. So the same credentials are blocked until the operator passes
//! `--again` or changes something. Exceptions:
//! - The site said that it did not check the password: they may be sent again.
//! - The login broke off, or met a site in trouble: this says nothing about credentials that were accepted before. Whoever comes first, a
//!   crawl or a person, retries them after waits that grow to a day (`accepted::Further`), so that a week of trouble locks nobody out and
//!   no account is tried more often than its site allows. After ten responses hours apart (`limits::LOGIN_FURTHER_MAX`) this ends: if a
//!   site's pages work and only its form always returns trouble, it may mean the account.
//! - Any other inconclusive response to accepted credentials (the bare form, a page without one, unknown words, `Report::end`) may mean
//!   that the password has changed. They get the same retries, but only three (`limits::LOGIN_BARE_MAX`), and are then blocked.
//! - After a CAPTCHA or a request for a code there is one retry, with a person who provides it.
//! - A rate limit means that the password was not checked, but a site that always rate-limits may also be rejecting. The third such
//!   response in a row blocks credentials that were never accepted; from the second on, accepted ones only get the retries above.
//! - If no response was a clear rejection, a person may also try each other variant of the rule file once (`Tries::meet_way`).
//!
//! Each retry is recorded when it is sent. The counts start again once the site accepts the credentials or says that it did not check them,
//! or the operator passes `--again`.

use crate::verdict::Verdict;

/// Whether a crawl retries by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByCrawl {
    Never,
    /// If these credentials were accepted before: after waits that grow to a day.
    IfLetIn,
    /// After a wait, up to `limits::LOGINS_UNCLEAR_MAX` such ends in a row. If the credentials were accepted before,
    /// only the wait grows.
    Later,
}

/// Whether `gleaner login` works without `--again`; ordered from the most to the least permissive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OfHand {
    /// Once the wait that the site asked for is over.
    Yes,
    /// One retry with a person, who provides what the site asked for: another CAPTCHA text, a code.
    OnceInteractive,
    /// If these credentials were accepted before: once at once, then after the same waits as crawls.
    IfLetIn,
    No,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Again {
    pub by_crawl: ByCrawl,
    pub by_hand: OfHand,
}

const fn row(by_crawl: ByCrawl, by_hand: OfHand) -> Again {
    Again { by_crawl, by_hand }
}

/// By the verdict of the login; `Unknown` is for actual responses.
const TABLE: [(Verdict, Again); 20] = [
    (Verdict::LoggedIn, row(ByCrawl::Later, OfHand::Yes)),
    (Verdict::WrongPassword, row(ByCrawl::Never, OfHand::No)),
    (Verdict::ProbablyRefused, row(ByCrawl::Never, OfHand::No)),
    (Verdict::Locked, row(ByCrawl::Never, OfHand::No)),
    (Verdict::Captcha, row(ByCrawl::Never, OfHand::OnceInteractive)),
    (Verdict::SecondFactor, row(ByCrawl::Never, OfHand::OnceInteractive)),
    (Verdict::ConfirmEmail, row(ByCrawl::Never, OfHand::No)),
    (Verdict::PasswordExpired, row(ByCrawl::Never, OfHand::No)),
    (Verdict::OtherSite, row(ByCrawl::Never, OfHand::No)),
    (Verdict::NoForm, row(ByCrawl::Never, OfHand::No)),
    (Verdict::SentByGet, row(ByCrawl::Never, OfHand::No)),
    (Verdict::RedirectLoop, row(ByCrawl::Never, OfHand::No)),
    (Verdict::Script, row(ByCrawl::Never, OfHand::No)),
    (Verdict::Unknown, row(ByCrawl::IfLetIn, OfHand::IfLetIn)),
    // Here the password was not checked.
    (Verdict::NotLookedAt, row(ByCrawl::IfLetIn, OfHand::Yes)),
    (Verdict::RateLimited, row(ByCrawl::Later, OfHand::Yes)),
    // Here it may have been checked: nothing is known.
    (Verdict::NoAnswer, row(ByCrawl::IfLetIn, OfHand::IfLetIn)),
    (Verdict::SiteTrouble, row(ByCrawl::IfLetIn, OfHand::IfLetIn)),
    (Verdict::SessionLost, row(ByCrawl::IfLetIn, OfHand::IfLetIn)),
    (Verdict::LimitedAgain, row(ByCrawl::IfLetIn, OfHand::IfLetIn)),
];

/// A server in trouble that says so (5xx), without the form, has not checked the password.
const IN_TROUBLE: Again = row(ByCrawl::Later, OfHand::Yes);

/// The retry policy after a sent form, by its verdict; `was_answered` is false if the server reported trouble.
#[must_use]
pub fn again(verdict: Verdict, was_answered: bool) -> Again {
    if verdict == Verdict::Unknown && !was_answered {
        return IN_TROUBLE;
    }
    let found = TABLE.iter().find(|(of, _)| *of == verdict);
    // A test checks that each verdict has its row; one without a row is blocked.
    found.map_or(row(ByCrawl::Never, OfHand::No), |(_, again)| *again)
}

impl Again {
    /// True if only one retry is allowed, with a person.
    #[must_use]
    pub fn is_once(self) -> bool {
        self.by_hand == OfHand::OnceInteractive
    }

    /// True if accepted credentials are retried after growing waits.
    #[must_use]
    pub fn is_for_let_in(self) -> bool {
        self.by_crawl == ByCrawl::IfLetIn
    }

    /// Whether a crawl may retry after its wait, if the credentials were accepted before (`was_let_in`).
    #[must_use]
    pub fn is_for_crawls(self, was_let_in: bool) -> bool {
        match self.by_crawl {
            ByCrawl::Never => false,
            ByCrawl::IfLetIn => was_let_in,
            ByCrawl::Later => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verdict_has_its_row_and_no_other() {
        assert_eq!(TABLE.map(|(verdict, _)| verdict), Verdict::ALL);
    }
}

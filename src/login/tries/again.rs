//! Who may send the same user and password again once a form with them has left and no session came of it: one table, and nothing else
//! decides it.
//!
//! Whatever the site has said, it may have counted a wrong password. So the same is held until its operator says `--again` or changes
//! something, but where the site has told that it did not look at it.

use crate::login::verdict::Verdict;

/// Whether a crawl sends the same again by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByCrawl {
    Never,
    /// After a wait, as long as no more than `limits::LOGINS_UNCLEAR_MAX` ended so in a row.
    Later,
    /// The same, where the site has let this user and password in before.
    IfLetInBefore,
}

/// Whether `gleaner login` does without `--again`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfHand {
    No,
    /// With a person at hand, who answers what the site has asked for.
    Interactive,
    /// Once the wait is over that the site has asked for.
    Yes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Again {
    pub by_crawl: ByCrawl,
    pub by_hand: OfHand,
}

const fn row(by_crawl: ByCrawl, by_hand: OfHand) -> Again {
    Again { by_crawl, by_hand }
}

/// By how the login ended; `Unknown` is that of an answer.
const TABLE: [(Verdict, Again); 16] = [
    (Verdict::LoggedIn, row(ByCrawl::Later, OfHand::Yes)),
    (Verdict::WrongPassword, row(ByCrawl::Never, OfHand::No)),
    (Verdict::ProbablyRefused, row(ByCrawl::Never, OfHand::No)),
    (Verdict::Locked, row(ByCrawl::Never, OfHand::No)),
    (Verdict::Captcha, row(ByCrawl::Never, OfHand::Interactive)),
    (Verdict::SecondFactor, row(ByCrawl::Never, OfHand::Interactive)),
    (Verdict::ConfirmEmail, row(ByCrawl::Never, OfHand::No)),
    (Verdict::OtherSite, row(ByCrawl::Never, OfHand::No)),
    (Verdict::NoForm, row(ByCrawl::Never, OfHand::No)),
    (Verdict::SentByGet, row(ByCrawl::Never, OfHand::No)),
    (Verdict::RedirectLoop, row(ByCrawl::Never, OfHand::No)),
    (Verdict::Script, row(ByCrawl::Never, OfHand::No)),
    (Verdict::Unknown, row(ByCrawl::Never, OfHand::No)),
    // These say that the password was not looked at.
    (Verdict::NotLookedAt, row(ByCrawl::Never, OfHand::Yes)),
    (Verdict::RateLimited, row(ByCrawl::Later, OfHand::Yes)),
    // It may have been: nothing is known of it.
    (Verdict::NoAnswer, row(ByCrawl::IfLetInBefore, OfHand::No)),
];

/// A server in trouble that says so (5xx) has not looked at it.
const IN_TROUBLE: Again = row(ByCrawl::Later, OfHand::Yes);

/// Who may send the same again behind a form that was sent, by how that ended; `was_answered` is false where a server in trouble said so.
#[must_use]
pub fn again(verdict: Verdict, was_answered: bool) -> Again {
    if verdict == Verdict::Unknown && !was_answered {
        return IN_TROUBLE;
    }
    let found = TABLE.iter().find(|(of, _)| *of == verdict);
    // A test holds that each verdict has its row; one without would be held.
    found.map_or(row(ByCrawl::Never, OfHand::No), |(_, again)| *again)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verdict_has_its_row_and_no_other() {
        assert_eq!(TABLE.map(|(verdict, _)| verdict), Verdict::ALL);
    }
}

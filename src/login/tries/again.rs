//! Who may send the same user and password again once a form with them has left and no session came of it: one table, and nothing else
//! decides it.
//!
//! Whatever the site has said, it may have counted a wrong password. So the same is held until its operator says `--again` or changes
//! something, but where the site has told that it did not look at it. What broke off, or met a site in trouble, says nothing of a password
//! that the site has let in before: that one is sent
//! again, whoever comes first, a crawl or a person, after waits that grow to a day (`accepted::Further`), so that trouble of a week locks nobody out, and
//! no account is tried more often than its site bears; ten answers hours apart in all (`limits::LOGIN_FURTHER_MAX`), as a site whose pages are well and whose
//! form alone is always answered by trouble may mean the account. Any other answer to it that is neither a yes nor a sure refusal (the bare form, a page
//! without one, words that nobody knows, `Report::end`) may be how the site says that the password is another by now: it has the same
//! further tries, but three in all (`limits::LOGIN_BARE_MAX`), and is held behind them. One that met a CAPTCHA or was asked for a code has one more try, with a person who
//! answers. What asks for patience was not looked at either, but whoever asks for it each time may refuse beside it: the third such answer in
//! a row holds what was never let in, and from the second on what was let in has further tries alone. Where no answer was a sure refusal, a person has another way of the rule file tried as well, once each (`Tries::meet_way`). Each
//! further try is written down when it is sent, and they begin anew once the site lets this user and password in, says that it did not look
//! at them, or their operator says `--again`.

use crate::verdict::Verdict;

/// Whether a crawl sends the same again by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByCrawl {
    Never,
    /// Where the site has let this user and password in before: after waits that grow to a day.
    IfLetIn,
    /// After a wait, as long as no more than `limits::LOGINS_UNCLEAR_MAX` ended so in a row; where the site has let them in before, the
    /// wait alone grows.
    Later,
}

/// Whether `gleaner login` does without `--again`; the less it may, the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OfHand {
    /// Once the wait is over that the site has asked for.
    Yes,
    /// Once more, with a person at hand, who answers what the site has asked for: another text of a CAPTCHA, a code.
    OnceInteractive,
    /// Where the site has let this user and password in before: once at once, then after the waits that crawls keep.
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

/// By how the login ended; `Unknown` is that of an answer.
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
    // These say that the password was not looked at.
    (Verdict::NotLookedAt, row(ByCrawl::IfLetIn, OfHand::Yes)),
    (Verdict::RateLimited, row(ByCrawl::Later, OfHand::Yes)),
    // It may have been: nothing is known of it.
    (Verdict::NoAnswer, row(ByCrawl::IfLetIn, OfHand::IfLetIn)),
    (Verdict::SiteTrouble, row(ByCrawl::IfLetIn, OfHand::IfLetIn)),
    (Verdict::SessionLost, row(ByCrawl::IfLetIn, OfHand::IfLetIn)),
    (Verdict::LimitedAgain, row(ByCrawl::IfLetIn, OfHand::IfLetIn)),
];

/// A server in trouble that says so (5xx), without the form, has not looked at it.
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

impl Again {
    /// True where one more try, with a person at hand, is all there is.
    #[must_use]
    pub fn is_once(self) -> bool {
        self.by_hand == OfHand::OnceInteractive
    }

    /// True where what the site has let in before is sent again after waits that grow.
    #[must_use]
    pub fn is_for_let_in(self) -> bool {
        self.by_crawl == ByCrawl::IfLetIn
    }

    /// Whether a crawl may send the same, once its wait is over, where the site `was_let_in` by them before.
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

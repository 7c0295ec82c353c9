//! The text for people of each end of a login, with the next step.

use super::Verdict;

/// Without site names: the caller adds them. Commands are written as `` `gleaner login --interactive` ``, and
/// `cli::hints` inserts the name.
pub(super) const SENTENCES: [(Verdict, &str); 20] = [
    (Verdict::LoggedIn, "logged in"),
    (
        Verdict::WrongPassword,
        "the user name or the password is wrong (hint: correct the password, or `user` in [login], then run `gleaner login`; the same \
         credentials are not sent again)",
    ),
    (
        Verdict::ProbablyRefused,
        "the login gave no session: the site has probably refused the user name or the password, and the same credentials are not \
         sent again (hint: check the password, in `secrets` of the data folder or wherever it comes from, and `user` in [login], then \
         run `gleaner login`; if both are right, name a page that only members see as `probe` in [login], or correct `json.token` if \
         it is set, and run `gleaner login`, or run `gleaner login --again`)",
    ),
    (
        Verdict::Locked,
        "the account or the address is locked (hint: unlock it in a browser, then run `gleaner login --again`)",
    ),
    (
        Verdict::Captcha,
        "the site asks for a CAPTCHA (hint: `gleaner login --interactive`, or `gleaner login --cookies cookies.txt`)",
    ),
    (
        Verdict::SecondFactor,
        "the site asks for a second factor (hint: `gleaner login --interactive`, or `gleaner login --cookies cookies.txt`)",
    ),
    (
        Verdict::ConfirmEmail,
        "the account's e-mail address is not confirmed (hint: follow the link in the site's mail, then run `gleaner login`)",
    ),
    (
        Verdict::PasswordExpired,
        "the site wants a new password: the one that was sent has expired (hint: change it with a browser, correct the password, then \
         run `gleaner login`; if it is still valid, run `gleaner login --again`)",
    ),
    (
        Verdict::OtherSite,
        "the login belongs to another site (hint: if that host is this site's own, set `start` to it or add it to `hosts` in the rule \
         file; else log in with a browser, then `gleaner login --cookies cookies.txt`)",
    ),
    (
        Verdict::NoForm,
        "no login form was found (hint: name its page in `login.page`, or correct what [login] names, then run `gleaner login`)",
    ),
    (
        Verdict::SentByGet,
        "the login form is sent by GET, which would put the password into a URL: nothing was sent (hint: log in with a browser, then \
         `gleaner login --cookies cookies.txt`)",
    ),
    (
        Verdict::RedirectLoop,
        "the path to the login form is a redirect loop (hint: check in a browser where it leads; correct `start`, or name the page of \
         the form as `page` in [login], then run `gleaner login`)",
    ),
    (
        Verdict::Script,
        "the form is sent by scripts, which did not send it here (hint: log in with a browser, then `gleaner login --cookies \
         cookies.txt`)",
    ),
    // Naming a table is no new attempt: the response to the form outlives it.
    (
        Verdict::Unknown,
        "the site does not show whether the login worked (hint: name a members' page in `login.probe`, then run `gleaner login`)",
    ),
    (
        Verdict::NotLookedAt,
        "the form came back for another reason than its password, which was not checked (hint: run `gleaner login`)",
    ),
    // The caller reports the time of the next attempt.
    (Verdict::RateLimited, "the site asks to wait before another try"),
    (
        Verdict::NoAnswer,
        "the form was sent, but no complete answer came back (hint: check in a browser that the account is not locked, then run \
         `gleaner login --again`)",
    ),
    (
        Verdict::SiteTrouble,
        "the site had an error when the form was sent, or something in front of it blocked the form, or it did not say clearly that \
         the user or the password is wrong: it may not have checked them (hint: check in a browser that the site works, that the \
         password is still right and that the account is not locked, then run `gleaner login --again`)",
    ),
    (
        Verdict::SessionLost,
        "the site accepted the form, but the session ended before it could be proven (hint: check in a browser that the user and the \
         password are right, then run `gleaner login --again`)",
    ),
    (
        Verdict::LimitedAgain,
        "the site asks to wait, and may also have refused the user and the password (hint: check in a browser that the account is not \
         locked, then run `gleaner login --again`)",
    ),
];

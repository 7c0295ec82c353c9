//! What people read of each end of a login, and what to do.

use super::Verdict;

/// Which site it is about is for the caller to say: commands stand without its name, as `` `gleaner login --interactive` ``, and `cli::hints`
/// puts it in.
pub(super) const SENTENCES: [(Verdict, &str); 20] = [
    (Verdict::LoggedIn, "logged in"),
    (
        Verdict::WrongPassword,
        "the user name or the password is wrong (hint: correct the password, or `user` in [login], then run `gleaner login`; the \
         same is not tried again)",
    ),
    (
        Verdict::ProbablyRefused,
        "no session came of the login: the site has probably refused the user name or the password, and the same are not sent \
         again (hint: check the password, in `secrets` of the data folder or wherever it comes from, and `user` in [login], then \
         run `gleaner login`; where both are surely right, name a page that only members see as `probe` in [login], or correct \
         `json.token` where it has one, and run `gleaner login`, or run `gleaner login --again`)",
    ),
    (
        Verdict::Locked,
        "the account or the address is locked (hint: see to it with a browser, then run `gleaner login --again`)",
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
        "the site wants a new password: the one that was sent has expired (hint: change it with a browser, correct the password, \
         then run `gleaner login`; where it is right after all, run `gleaner login --again`)",
    ),
    (
        Verdict::OtherSite,
        "another site is to log in (hint: where that host is this site's own, set `start` to it or add it to `hosts` in the rule \
         file; else log in with a browser, then `gleaner login --cookies cookies.txt`)",
    ),
    (
        Verdict::NoForm,
        "no login form was found (hint: name its page in `login.page`, or correct what [login] names, then run `gleaner login`)",
    ),
    (
        Verdict::SentByGet,
        "the login form is sent by GET, and the password would stand in an address: nothing was sent (hint: log in with a \
         browser, then `gleaner login --cookies cookies.txt`)",
    ),
    (
        Verdict::RedirectLoop,
        "the way to the login form is a redirect loop (hint: see with a browser where it leads; correct `start`, or name the page \
         of the form as `page` in [login], then run `gleaner login`)",
    ),
    (
        Verdict::Script,
        "the form is sent by scripts, which did not send it here (hint: log in with a browser, then `gleaner login --cookies \
         cookies.txt`)",
    ),
    // A table that names one is no new try: what the form was answered outlives it.
    (
        Verdict::Unknown,
        "the site does not tell whether it worked (hint: name a members' page in `login.probe`, then run `gleaner login`)",
    ),
    (
        Verdict::NotLookedAt,
        "the form came back for another reason than its password, which was not looked at (hint: run `gleaner login`)",
    ),
    // When the next try may be is told by whoever knows it.
    (Verdict::RateLimited, "the site asks to wait before another try"),
    (
        Verdict::NoAnswer,
        "the form has left, and no whole answer came to it (hint: see with a browser that the account is not locked, then run \
         `gleaner login --again`)",
    ),
    (
        Verdict::SiteTrouble,
        "the site was in trouble when the form was sent, or something in front of it kept it back, or it did not say clearly that \
         the user or the password is wrong, and may not have looked at them (hint: see with a browser that the site works, that \
         the password is still right and that the account is not locked, then run `gleaner login --again`)",
    ),
    (
        Verdict::SessionLost,
        "the site took the form, and could not be asked for its proof until there was no session any more (hint: see with a \
         browser that the user and the password are right, then run `gleaner login --again`)",
    ),
    (
        Verdict::LimitedAgain,
        "the site asks to wait, and may have refused the user and the password beside it (hint: see with a browser that the \
         account is not locked, then run `gleaner login --again`)",
    ),
];

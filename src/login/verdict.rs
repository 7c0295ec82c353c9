//! Judges whether a login worked (ALGORITHMS §4.3).
//!
//! The response to the form is searched for signs, each with its evidence, and the strongest decides. A success here
//! is preliminary: the proof is a page that needs the session (`crawl` requests one).

mod captcha;
mod locked;
mod numbers;
mod refusal;
mod rules;
mod sentences;
mod wait;

use self::captcha::names_captcha;
pub use self::locked::locked_for;
pub use self::numbers::said_in_numbers;
pub use self::refusal::{counts_tries, is_limited, refuses, says_refused};
use self::sentences::SENTENCES;
pub use self::wait::names_wait;
use super::form::{Control, Kind};
use super::phrases;
use super::view::View;
use gleaner_base::words::Topic;

/// How a login ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    LoggedIn,
    /// The name or the password is wrong: the same are not tried again.
    WrongPassword,
    /// The form came back, or the response had no form, with unknown words: the password was probably rejected, and
    /// is not sent again without confirmation.
    ProbablyRefused,
    /// The account or the address is locked or banned: nothing is tried until the operator says so.
    Locked,
    Captcha,
    SecondFactor,
    ConfirmEmail,
    /// The password was right, but the site requires a new one first.
    PasswordExpired,
    RateLimited,
    /// The login is at another site (single sign-on).
    OtherSite,
    /// No login form was found.
    NoForm,
    /// The login form is sent by GET: the password would be in an address.
    SentByGet,
    /// A page on the way to the form redirects in a loop.
    RedirectLoop,
    /// The form is sent by scripts that were not run, or did not send it.
    Script,
    Unknown,
    /// The form came back because it had expired, came without a cookie, or was sent too soon, as the site itself
    /// says.
    NotLookedAt,
    /// The form was sent, and no complete response came, or none before the process ended. Only used in the history.
    NoAnswer,
    /// The response was about the site's own trouble (its database, maintenance, a server error around the form), or
    /// came from a gate in front of it: whether the password was checked is unknown.
    SiteTrouble,
    /// The form was accepted, but when a proof page could finally be requested, the session was gone. Only used in
    /// the history.
    SessionLost,
    /// The site was rate-limiting at each of the last attempts, after any wait. Only used in the history.
    LimitedAgain,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Self; 20] = [
        Self::LoggedIn,
        Self::WrongPassword,
        Self::ProbablyRefused,
        Self::Locked,
        Self::Captcha,
        Self::SecondFactor,
        Self::ConfirmEmail,
        Self::PasswordExpired,
        Self::OtherSite,
        Self::NoForm,
        Self::SentByGet,
        Self::RedirectLoop,
        Self::Script,
        Self::Unknown,
        Self::NotLookedAt,
        Self::RateLimited,
        Self::NoAnswer,
        Self::SiteTrouble,
        Self::SessionLost,
        Self::LimitedAgain,
    ];

    /// The verdict for people, with the next step.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        // A test checks that each verdict has its row.
        SENTENCES.iter().find(|(verdict, _)| *verdict == self).map_or("", |(_, sentence)| *sentence)
    }
}

/// For a login without a response, or with one from a server in trouble.
pub const IN_TROUBLE: &str = "the site did not answer, or only with an error";

/// For a site that returns the same page for every request, without a login: a ban, an error, nothing.
pub const ONE_PAGE: &str = "the site shows no page to log in at (hint: check in a browser what it answers; if its address has \
                            changed, correct `start`, then run `gleaner login`)";

/// A verdict with its evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    pub verdict: Verdict,
    /// Descriptions, the strongest first.
    pub evidence: Vec<String>,
}

/// The response after the form was sent.
#[derive(Clone, Copy, Debug)]
pub struct After<'a> {
    /// Status of the last response.
    pub status: u16,
    pub view: &'a View,
    /// Index of the login form, if it is on the page again.
    pub login_form: Option<usize>,
    /// Cookies were added or changed.
    pub cookies_changed: bool,
    /// The page from which the form was sent: its texts are not part of the response.
    pub before: Option<&'a View>,
    /// A person read the form's CAPTCHA, so that a CAPTCHA on the page is no reason why the form came back.
    pub has_read_captcha: bool,
}

impl Verdict {
    /// True if a members' page must decide: for apparent successes, inconclusive responses, and a form that came
    /// back, which some sites show to members too. If that page shows a guest, the last two are rejections.
    #[must_use]
    pub fn needs_proof(self) -> bool {
        use Verdict::{LoggedIn, NotLookedAt, PasswordExpired, ProbablyRefused, SiteTrouble, Unknown};
        // A member's page may mention expiring passwords.
        matches!(self, LoggedIn | Unknown | NotLookedAt | ProbablyRefused | SiteTrouble | PasswordExpired)
    }
}

/// Judges the response by the first of `rules::RULES` that applies.
#[must_use]
pub fn judge(after: &After<'_>) -> Judged {
    let (rule, evidence) = rules::decide(after);
    Judged { verdict: rule.verdict, evidence }
}

impl<'a> After<'a> {
    /// A response as in tests: 200, without new cookies, and without a CAPTCHA read.
    #[cfg(test)]
    fn answered(view: &'a View, login_form: Option<usize>, before: Option<&'a View>) -> Self {
        Self { status: 200, view, login_form, cookies_changed: false, before, has_read_captcha: false }
    }

    /// A log-out link that was not on the page before.
    fn log_out(&self) -> Option<&'a str> {
        let was_there = |link: &&str| self.before.is_some_and(|before| shows_log_out(before, link));
        self.view.log_outs().find(|link| !was_there(link))
    }

    /// The page's message beside the form, in lower case, if the form is back.
    fn said_beside_form(&self) -> Option<String> {
        Some(self.view.message_at(self.login_form?, self.before)?.to_lowercase())
    }
}

/// True if a page has this log-out link, ignoring its query, which may contain a token.
#[must_use]
pub fn shows_log_out(view: &View, link: &str) -> bool {
    let bare = |address: &str| address.split('?').next().unwrap_or_default().to_owned();
    view.log_outs().any(|known| bare(known) == bare(link))
}

/// True if the words of rejection only say that the login failed, without a reason.
#[must_use]
pub fn refuses_somehow(after: &After<'_>) -> bool {
    let is_in = |phrase: &&&str| after.view.said.contains(**phrase);
    let mut said = phrases::WRONG.iter().filter(is_in).peekable();
    said.peek().is_some() && said.all(|phrase| phrases::WRONG_SOMEHOW.contains(phrase))
}

/// How words of rejection count after a one-time code. About the user or the password alone they are certain;
/// together with the code they are not; about anything else they concern the code.
#[must_use]
pub fn refuses_behind_code(after: &After<'_>) -> Option<Verdict> {
    let text = after.said_beside_form().unwrap_or_else(|| after.view.text.clone());
    let text = phrases::ONE_TIME_PASSWORDS.iter().fold(text, |text, of| text.replace(of, "code"));
    let has = |words: Topic| words.are_in(&text);
    let is_telling = |phrase: &&&str| !phrases::WRONG_SOMEHOW.contains(*phrase);
    let is_wrong = phrases::WRONG.iter().filter(is_telling).any(|phrase| text.contains(phrase));
    match (is_wrong, names_captcha(&text).is_some()) {
        (true, false) => Some(Verdict::WrongPassword),
        (true, true) => Some(Verdict::ProbablyRefused),
        // “Login failed” may mean either.
        (false, _) => has(phrases::CREDENTIALS).then_some(Verdict::ProbablyRefused),
    }
}

/// The words of site trouble on a page that is only a message.
#[must_use]
pub fn says_trouble(view: &View) -> Option<&'static str> {
    view.says(phrases::TROUBLE).filter(|_| view.text.len() < SHORT_TEXT_BYTES && view.log_out().is_none())
}

/// The words of a gate in front of the site, which blocks all logins.
#[must_use]
pub fn says_gate(view: &View) -> Option<&'static str> {
    let is_said = |phrase: &&str| !phrases::NAMED_BY_SITES.contains(phrase) && view.text.contains(*phrase);
    phrases::FIREWALLS.iter().copied().find(is_said)
}

/// The words with which a page asks for consent.
#[must_use]
pub fn asks_for_consent(view: &View) -> Option<&'static str> {
    view.says(phrases::CONSENT)
}

/// Maximum text of a page that is only a message.
const SHORT_TEXT_BYTES: usize = 2_000;

/// The field for a one-time code, in a form without a password: indexes of the form and of the field in it.
#[must_use]
pub fn one_time_field(view: &View) -> Option<(usize, usize)> {
    let is_asked = view.says(phrases::SECOND_FACTOR).is_some();
    let asks = |control: &Control| {
        let is_named = |text: &str| {
            let text = text.to_ascii_lowercase();
            phrases::ONE_TIME_CODE.are_in(&text) || (is_asked && text.contains("code"))
        };
        control.kind.is_line() && (is_named(&control.autocomplete) || is_named(&control.name) || is_named(&control.id))
    };
    view.forms.iter().enumerate().find_map(|(at, form)| {
        let has_password = form.controls.iter().any(|control| control.kind == Kind::Password && !asks(control));
        form.controls.iter().position(asks).filter(|_| !has_password).map(|field| (at, field))
    })
}

/// The words of too many login attempts, anywhere on the page.
#[must_use]
pub fn says_rate_limited(view: &View) -> Option<&'static str> {
    view.says(phrases::RATE_LIMITED)
}

/// The words that tell guests to log in, anywhere on the page.
#[must_use]
pub fn asks_to_log_in(view: &View) -> Option<&'static str> {
    view.says(phrases::LOGGED_OUT)
}

/// Whether a members' page shows that nobody is logged in. Returns the sign.
#[must_use]
pub fn logged_out(view: &View, login_form: Option<usize>) -> Option<String> {
    if view.log_out().is_some() {
        return None;
    }
    let phrase = view.says(phrases::LOGGED_OUT);
    let is_short = view.text.len() < SHORT_TEXT_BYTES;
    match (login_form, phrase) {
        (Some(_), Some(phrase)) => Some(format!("a login form, and the words “{phrase}”")),
        (Some(_), None) => Some("a login form and no link to log out".to_owned()),
        (None, Some(phrase)) if is_short => Some(format!("the words “{phrase}”")),
        _ => None,
    }
}

#[cfg(test)]
mod tests;

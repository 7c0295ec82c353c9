//! Did it work? (ALGORITHMS §4.3)
//!
//! What came after the form was sent is read for signs, each with its words, and the strongest decides. "Yes" from here is
//! a first word only: the proof is a page that needs the session (`crawl` asks for one).

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
    /// The name or the password is wrong: the same is not tried again.
    WrongPassword,
    /// The form came back, or was answered without one, in words that are not known: it has probably been refused, and is not
    /// sent again unawares.
    ProbablyRefused,
    /// The account or the address is locked or banned: nothing is tried until the operator says so.
    Locked,
    Captcha,
    SecondFactor,
    ConfirmEmail,
    /// The password was right, and the site wants another one before it lets anybody in.
    PasswordExpired,
    RateLimited,
    /// Another site is to log in (single sign-on).
    OtherSite,
    /// No login form was found.
    NoForm,
    /// The login form is sent by GET: the password would stand in an address.
    SentByGet,
    /// A page on the way to the form redirects in a loop.
    RedirectLoop,
    /// The form is sent by scripts that were not run, or did not send it.
    Script,
    Unknown,
    /// The form came back because it had expired, no cookie came with it, or it was sent too soon, as the site itself says.
    NotLookedAt,
    /// The form left, and no whole answer came, or none that its process has lived to see: only tries are told so.
    NoAnswer,
    /// The form was answered by what speaks of the site's own trouble (its database, its upkeep, a server's error around the form), or of
    /// a gate in front of it: whether the password was looked at is not known.
    SiteTrouble,
    /// The form was taken, and when a page could be asked at last whether it let us in, there was no session any more: only tries are
    /// told so.
    SessionLost,
    /// The site has asked for patience at each of the last tries, whatever was waited: only tries are told so.
    LimitedAgain,
}

impl Verdict {
    /// Every one.
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

    /// For people, and what to do.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        // A test holds that each verdict has its row.
        SENTENCES.iter().find(|(verdict, _)| *verdict == self).map_or("", |(_, sentence)| *sentence)
    }
}

/// Told of a login that nothing, or a server in trouble, has answered.
pub const IN_TROUBLE: &str = "the site did not answer, or only that it is in trouble";

/// Told of a site that answers whatever is asked by one page, at which nobody logs in: a ban, an error, nothing.
pub const ONE_PAGE: &str = "the site shows no page at which one could log in (hint: see with a browser what it answers; where it has another \
                            address by now, correct `start`, then run `gleaner login`)";

/// A verdict with what speaks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    pub verdict: Verdict,
    /// In words, the strongest first.
    pub evidence: Vec<String>,
}

/// What came after the form was sent.
#[derive(Clone, Copy, Debug)]
pub struct After<'a> {
    /// Of the last answer.
    pub status: u16,
    pub view: &'a View,
    /// The login form is on the page again, by its place among the forms.
    pub login_form: Option<usize>,
    /// Cookies were set that were not there before, or changed.
    pub cookies_changed: bool,
    /// The page that the form was sent from: what it said already is no answer.
    pub before: Option<&'a View>,
    /// A person has read the form's CAPTCHA, so that one on the page again is no reason why it came back.
    pub has_read_captcha: bool,
}

impl Verdict {
    /// True where a page that members see has the last word: what seems to have worked, what tells nothing, and a form
    /// that came back, which some sites show to members as well. Where it shows a guest, the two last are refusals.
    #[must_use]
    pub fn needs_proof(self) -> bool {
        use Verdict::{LoggedIn, NotLookedAt, PasswordExpired, ProbablyRefused, SiteTrouble, Unknown};
        // A page of a member's may speak of passwords that expire.
        matches!(self, LoggedIn | Unknown | NotLookedAt | ProbablyRefused | SiteTrouble | PasswordExpired)
    }
}

/// Judges what came after the form was sent, by the first of `rules::RULES` that applies.
#[must_use]
pub fn judge(after: &After<'_>) -> Judged {
    let (rule, evidence) = rules::decide(after);
    Judged { verdict: rule.verdict, evidence }
}

impl<'a> After<'a> {
    /// An answer as tests have it: 200, without new cookies, and nobody has read a CAPTCHA.
    #[cfg(test)]
    fn answered(view: &'a View, login_form: Option<usize>, before: Option<&'a View>) -> Self {
        Self { status: 200, view, login_form, cookies_changed: false, before, has_read_captcha: false }
    }

    /// A link that ends the session, and was not shown before there was one.
    fn log_out(&self) -> Option<&'a str> {
        let was_there = |link: &&str| self.before.is_some_and(|before| shows_log_out(before, link));
        self.view.log_outs().find(|link| !was_there(link))
    }

    /// What the page says to this login, in lower case, where the form is back.
    fn said_beside_form(&self) -> Option<String> {
        Some(self.view.message_at(self.login_form?, self.before)?.to_lowercase())
    }
}

/// True where a page has this link that ends the session, but for its query, which may hold a token of the moment.
#[must_use]
pub fn shows_log_out(view: &View, link: &str) -> bool {
    let bare = |address: &str| address.split('?').next().unwrap_or_default().to_owned();
    view.log_outs().any(|known| bare(known) == bare(link))
}

/// True where words that refuse say no more than that the login failed: why, nobody knows.
#[must_use]
pub fn refuses_somehow(after: &After<'_>) -> bool {
    let is_in = |phrase: &&&str| after.view.said.contains(**phrase);
    let mut said = phrases::WRONG.iter().filter(is_in).peekable();
    said.peek().is_some() && said.all(|phrase| phrases::WRONG_SOMEHOW.contains(phrase))
}

/// How words that refuse behind a one-time code count: of the user or the password alone they are sure, beside the code they are not, and
/// of anything else they are the code's.
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
        // “Login failed” is of both.
        (false, _) => has(phrases::CREDENTIALS).then_some(Verdict::ProbablyRefused),
    }
}

/// The words in which a page that is nothing but a message says that the site is in trouble.
#[must_use]
pub fn says_trouble(view: &View) -> Option<&'static str> {
    view.says(phrases::TROUBLE).filter(|_| view.text.len() < SHORT_TEXT_BYTES && view.log_out().is_none())
}

/// The words in which a page says that it comes from something in front of the site, which lets nobody in.
#[must_use]
pub fn says_gate(view: &View) -> Option<&'static str> {
    let is_said = |phrase: &&str| !phrases::NAMED_BY_SITES.contains(phrase) && view.text.contains(*phrase);
    phrases::FIREWALLS.iter().copied().find(is_said)
}

/// The words in which a page asks whoever comes for consent.
#[must_use]
pub fn asks_for_consent(view: &View) -> Option<&'static str> {
    view.says(phrases::CONSENT)
}

/// Text of a page that is nothing but a message.
const SHORT_TEXT_BYTES: usize = 2_000;

/// The field that asks for a one-time code, in a form that asks for no password: the places of the form and of the field in
/// it.
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

/// The words with which a page tells that there were too many tries to log in, if it has them anywhere.
#[must_use]
pub fn says_rate_limited(view: &View) -> Option<&'static str> {
    view.says(phrases::RATE_LIMITED)
}

/// The words with which a page tells guests to log in, if it has them anywhere.
#[must_use]
pub fn asks_to_log_in(view: &View) -> Option<&'static str> {
    view.says(phrases::LOGGED_OUT)
}

/// Does a page, fetched where members see something else, say that nobody is logged in? Gives the sign.
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

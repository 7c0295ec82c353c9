//! Did it work? (ALGORITHMS §4.3)
//!
//! What came after the form was sent is read for signs, each with its words, and the strongest decides. "Yes" from here is
//! a first word only: the proof is a page that needs the session (`crawl` asks for one).

mod captcha;
mod locked;
mod numbers;
mod refusal;
mod wait;

use self::captcha::{Said, names_captcha, said_of_captcha};
pub use self::locked::locked_for;
pub use self::numbers::said_in_numbers;
use self::refusal::has;
pub use self::refusal::{counts_tries, is_limited, refuses, says_refused};
pub use self::wait::names_wait;
use super::form::{Control, Kind};
use super::phrases::{self, DONE, WARNINGS};
use super::secret::told_url;
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

    /// For people, and what to do. Which site it is about is the teller's to say: commands stand without its name, as
    /// `` `gleaner login --interactive` ``, and `cli::hints` puts it in.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::LoggedIn => "logged in",
            Self::WrongPassword => {
                "the user name or the password is wrong (hint: correct the password, or `user` in [login], then run \
                 `gleaner login`; the same is not tried again)"
            }
            Self::ProbablyRefused => {
                "no session came of the login: the site has probably refused the user name or the password, and the same are \
                 not sent again (hint: check the password, in `secrets` of the data folder or wherever it comes from, and \
                 `user` in [login], then run `gleaner login`; where both are surely right, name a page that only members see \
                 as `probe` in [login], or correct `json.token` where it has one, and run `gleaner login`, or run `gleaner login \
                 --again`)"
            }
            Self::Locked => {
                "the account or the address is locked (hint: see to it with a browser, then run `gleaner login --again`)"
            }
            Self::Captcha => {
                "the site asks for a CAPTCHA (hint: `gleaner login --interactive`, or `gleaner login --cookies cookies.txt`)"
            }
            Self::SecondFactor => {
                "the site asks for a second factor (hint: `gleaner login --interactive`, or `gleaner login --cookies cookies.txt`)"
            }
            Self::ConfirmEmail => {
                "the account's e-mail address is not confirmed (hint: follow the link in the site's mail, then run \
                 `gleaner login`)"
            }
            Self::PasswordExpired => {
                "the site wants a new password: the one that was sent has expired (hint: change it with a browser, correct the password, \
                 then run `gleaner login`; where it is right after all, run `gleaner login --again`)"
            }
            // When the next try may be is told by whoever knows it.
            Self::RateLimited => "the site asks to wait before another try",
            Self::OtherSite => {
                "another site is to log in (hint: where that host is this site's own, set `start` to it or add it to `hosts` in the rule file; \
                 else log in with a browser, then `gleaner login --cookies cookies.txt`)"
            }
            Self::Script => {
                "the form is sent by scripts, which did not send it here (hint: log in with a browser, then `gleaner login --cookies \
                 cookies.txt`)"
            }
            Self::NoForm => {
                "no login form was found (hint: name its page in `login.page`, or correct what [login] names, then run \
                 `gleaner login`)"
            }
            Self::SentByGet => {
                "the login form is sent by GET, and the password would stand in an address: nothing was sent (hint: log in \
                 with a browser, then `gleaner login --cookies cookies.txt`)"
            }
            Self::RedirectLoop => {
                "the way to the login form is a redirect loop (hint: see with a browser where it leads; correct `start`, or \
                 name the page of the form as `page` in [login], then run \
                 `gleaner login`)"
            }
            // A table that names one is no new try: what the form was answered outlives it.
            Self::Unknown => {
                "the site does not tell whether it worked (hint: name a members' page in `login.probe`, then run `gleaner \
                 login`)"
            }
            Self::NotLookedAt => {
                "the form came back for another reason than its password, which was not looked at (hint: run `gleaner login`)"
            }
            Self::NoAnswer => {
                "the form has left, and no whole answer came to it (hint: see with a \
                 browser that the account is not locked, then run `gleaner login --again`)"
            }
            Self::SiteTrouble => {
                "the site was in trouble when the form was sent, or something in front of it kept it back, or it did not say clearly that the \
                 user or the password is wrong, and may not have looked at them (hint: see with a browser that the site works, that the password is still \
                 right and that the account is not locked, then run `gleaner login --again`)"
            }
            Self::LimitedAgain => {
                "the site asks to wait, and may have refused the user and the password beside it (hint: see \
                 with a browser that the account is not locked, then run `gleaner login --again`)"
            }
            Self::SessionLost => {
                "the site took the form, and could not be asked for its proof until there was no session any more (hint: see with a \
                 browser that the user and the password are right, then run `gleaner login --again`)"
            }
        }
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

/// Judges what came after the form was sent. A message counts where the login form is back, or the page is short: a forum's
/// front page may speak of bans and wrong passwords in its titles.
#[must_use]
pub fn judge(after: &After<'_>) -> Judged {
    let view = after.view;
    let mut evidence = Vec::new();
    let is_message = after.login_form.is_some() || view.text.len() < SHORT_TEXT_BYTES;
    let log_out = after.log_out();
    if log_out.is_none() || is_message && after.login_form.is_some() {
        // A server in trouble that shows no form may have any word of logins in its page: one that refuses says so in a clause.
        let is_heard = |verdict: Verdict| {
            verdict != Verdict::WrongPassword
                || after.status < 500
                || after.login_form.is_some()
                || view.said.lines().any(refuses)
        };
        if let Some(clause) = locked::says_locked(after) {
            return Judged { verdict: Verdict::Locked, evidence: vec![format!("the page says “{clause}”")] };
        }
        for (verdict, phrases) in MESSAGES.iter().filter(|(verdict, _)| is_heard(*verdict)) {
            let is_told =
                |phrase: &str| is_message && (*verdict != Verdict::Locked || !locked::is_another(view, phrase));
            if let Some(phrase) = says_anew_where(after, phrases, is_told) {
                evidence.push(format!("the page says “{phrase}”"));
                let vague = [phrases::WRONG_SOMEHOW, phrases::LATER, phrases::LOCKED_SOMEHOW];
                let is_vague = vague.iter().any(|phrases| phrases.contains(&phrase));
                if let Some(trouble) = says_anew(after, &phrases::TROUBLE).filter(|_| is_vague) {
                    evidence.insert(0, format!("the page says “{trouble}”"));
                    return Judged { verdict: Verdict::SiteTrouble, evidence };
                }
                if *verdict == Verdict::WrongPassword
                    && phrases::WRONG_SOMEHOW.contains(&phrase)
                    && (view.has_captcha || after.has_read_captcha)
                    && let Some(word) = after.message().and_then(|message| names_captcha(&message))
                {
                    // It may be for the CAPTCHA, and it may be for the password.
                    evidence.push(format!("the page says “{word}”"));
                    return Judged { verdict: Verdict::ProbablyRefused, evidence };
                }
                if *verdict == Verdict::Captcha && matches!(said_of_captcha(after), Said::More) {
                    return Judged { verdict: Verdict::ProbablyRefused, evidence };
                }
                // A refusal that warns of what comes of more is one: it is told apart by a clause of its own.
                let by_rule = || *verdict == Verdict::RateLimited && refusal::refuses_without(after, *phrases);
                if let Some(refusal) = refuses_beside(after, *verdict, *phrases) {
                    evidence.insert(0, format!("the page says “{refusal}”"));
                    return Judged { verdict: Verdict::WrongPassword, evidence };
                }
                // A clause of no list of ours may have the password within it, and is not quoted.
                if by_rule() {
                    evidence.insert(0, "a clause of the page says that the user or the password is wrong".to_owned());
                    return Judged { verdict: Verdict::WrongPassword, evidence };
                }
                if *verdict == Verdict::RateLimited && locked::is_locked_for_good(after) {
                    evidence.insert(0, "a clause of the page says that the account is locked".to_owned());
                    return Judged { verdict: Verdict::Locked, evidence };
                }
                // phpBB asks for one behind too many tries: whoever reads it is heard at once.
                let is_for_reader = after.login_form.is_some() && view.has_captcha && names_wait(view).is_none();
                if *verdict == Verdict::RateLimited
                    && is_for_reader
                    && let Some(word) = after.message().and_then(|message| names_captcha(&message))
                {
                    evidence.push(format!("the page says “{word}”"));
                    return Judged { verdict: Verdict::Captcha, evidence };
                }
                return Judged { verdict: *verdict, evidence };
            }
        }
    }
    if after.status == 429 {
        evidence.push("status 429".to_owned());
        return Judged { verdict: Verdict::RateLimited, evidence };
    }
    if let Some(link) = log_out.filter(|_| after.login_form.is_none()) {
        evidence.push(format!("a link to log out: {}", told_url(link)));
        evidence.extend(view.says(phrases::WELCOME).map(|phrase| format!("the page says “{phrase}”")));
        return Judged { verdict: Verdict::LoggedIn, evidence };
    }
    if let Some((form, field)) = one_time_field(view) {
        evidence.push(format!("a field for a one-time code: {}", view.forms[form].controls[field].name));
        return Judged { verdict: Verdict::SecondFactor, evidence };
    }
    if let Some(phrase) = says_anew(after, &phrases::EXPIRED_PASSWORD).filter(|of| is_message && is_of_this(view, of)) {
        evidence.push(format!("the page says “{phrase}”"));
        return Judged { verdict: Verdict::PasswordExpired, evidence };
    }
    if after.login_form.is_some() {
        evidence.push("the login form is back".to_owned());
        let said = said_of_captcha(after);
        let is_of_captcha = match said {
            Said::Captcha(_) => after.has_read_captcha || view.has_captcha,
            Said::Nothing => !after.has_read_captcha && view.has_captcha,
            Said::More => false,
        };
        if is_of_captcha {
            evidence.insert(0, "the form has a CAPTCHA".to_owned());
            if let Said::Captcha(word) = said {
                evidence.push(format!("the page says “{word}”"));
            }
            return Judged { verdict: Verdict::Captcha, evidence };
        }
        if after.status == 401 {
            evidence.push(format!("status {}", after.status));
            return Judged { verdict: Verdict::WrongPassword, evidence };
        }
        if let Some(phrase) = not_looked_at(after) {
            evidence.push(format!("the page says “{phrase}”"));
            return Judged { verdict: Verdict::NotLookedAt, evidence };
        }
        if after.status >= 500 {
            // Whoever shows the form again may have looked at what was in it.
            evidence.push(format!("status {}", after.status));
            return Judged { verdict: Verdict::SiteTrouble, evidence };
        }
        let message = after.message().unwrap_or_default();
        if let Some(phrase) = phrases::TROUBLE.iter().find(|phrase| message.contains(**phrase)) {
            evidence.push(format!("the page says “{phrase}”"));
            return Judged { verdict: Verdict::SiteTrouble, evidence };
        }
        return Judged { verdict: Verdict::ProbablyRefused, evidence };
    }
    if let Some(phrase) = view.says(phrases::WELCOME) {
        evidence.push(format!("the page says “{phrase}”"));
        return Judged { verdict: Verdict::LoggedIn, evidence };
    }
    if matches!(after.status, 400 | 401 | 403 | 419 | 422) {
        evidence.push(format!("status {}", after.status));
        let phrase = phrases::NOT_LOOKED_AT.iter().find(|phrase| is_message && view.text.contains(**phrase));
        if let Some(phrase) = phrase {
            evidence.push(format!("the page says “{phrase}”"));
            return Judged { verdict: Verdict::NotLookedAt, evidence };
        }
        // What stands in front of a site looks at no password.
        let blocked = view.says(phrases::FIREWALLS).or_else(|| says_trouble(view));
        evidence.extend(blocked.map(|phrase| format!("the page says “{phrase}”")));
        let verdict = match after.status {
            _ if blocked.is_some() => Verdict::SiteTrouble,
            401 => Verdict::WrongPassword,
            // So does software that a request was not good enough for, whatever was in it, and what stands in front of a site.
            _ => Verdict::ProbablyRefused,
        };
        return Judged { verdict, evidence };
    }
    if after.status < 500
        && let Some(phrase) = says_trouble(view)
    {
        evidence.push(format!("the page says “{phrase}”"));
        return Judged { verdict: Verdict::SiteTrouble, evidence };
    }
    if (200..300).contains(&after.status) && after.cookies_changed {
        evidence.push("the login form is gone, and cookies were set".to_owned());
        return Judged { verdict: Verdict::LoggedIn, evidence };
    }
    evidence.push(format!("status {}, no login form, no link to log out, no new cookie", after.status));
    Judged { verdict: untold(after.status), evidence }
}

/// An answer in which nothing tells how it went: whoever let us in would have told. A server in trouble tells nothing at all.
fn untold(status: u16) -> Verdict {
    if status < 500 { Verdict::ProbablyRefused } else { Verdict::Unknown }
}

/// The first of these phrases that the page says, and where the form is back on it, more often than the page in front of it
/// did: a form in the head of each page stands beside titles that speak of failed logins.
fn says_anew(after: &After<'_>, phrases: &[&'static str]) -> Option<&'static str> {
    says_anew_where(after, phrases, |_| true)
}

/// The same of those of which something else holds as well.
fn says_anew_where(after: &After<'_>, phrases: &[&'static str], holds: impl Fn(&str) -> bool) -> Option<&'static str> {
    let before = after.before.filter(|_| after.login_form.is_some());
    let count = |view: &View, phrase: &str| view.said.matches(phrase).count();
    let is_new = |phrase: &str| before.is_none_or(|before| count(after.view, phrase) > count(before, phrase));
    phrases.iter().copied().find(|phrase| after.view.said.contains(phrase) && is_new(phrase) && holds(phrase))
}

/// True where the page says this of a password that was sent, and not of codes, or of anybody's.
fn is_of_this(view: &View, phrase: &str) -> bool {
    let others = phrases::ONE_TIME_PASSWORDS.iter().chain(phrases::ANY_PASSWORD.iter());
    others.fold(view.text.clone(), |text, of| text.replace(of, "")).contains(phrase)
}

/// The words in which the page says that it came back for another reason than its password. What it says to this login is
/// read alone: notices that cookies are needed stand on many a form, and topics speak of tokens.
fn not_looked_at(after: &After<'_>) -> Option<&'static str> {
    let message = after.message()?;
    phrases::NOT_LOOKED_AT.first_in(&message)
}

/// The words in which a clause of the page says that the password is wrong, where those of another verdict beside it say no more than what
/// comes of more: an account that is locked by now is, whatever stands beside it. Who is told to wait as well has been looked at all the
/// same: the same is not sent again when the time is over.
fn refuses_beside(after: &After<'_>, verdict: Verdict, others: Topic) -> Option<&'static str> {
    if !matches!(verdict, Verdict::RateLimited | Verdict::Locked | Verdict::ConfirmEmail) {
        return None;
    }
    let clauses = || after.view.said.split(|of: char| ".,:;!?()\n。，：；！？（）".contains(of));
    let refuses = |wrong: &[&str]| clauses().any(|clause| has(clause, wrong) && !has(clause, others));
    let wrong: Vec<&'static str> =
        phrases::WRONG.iter().copied().filter(|of| !phrases::WRONG_SOMEHOW.contains(of)).collect();
    if verdict == Verdict::RateLimited
        && let Some(refusal) = says_anew(after, &wrong).filter(|_| refuses(&wrong))
    {
        return Some(refusal);
    }
    // Nobody is logged in to an account that is locked, or not confirmed, either.
    let wrong = if verdict == Verdict::RateLimited { phrases::WRONG.to_vec() } else { wrong };
    let refusal = says_anew(after, &wrong)?;
    // What is asked for beside a refusal is for those whose password is right.
    let is_warning = |clause: &str| verdict == Verdict::ConfirmEmail || (has(clause, WARNINGS) && !has(clause, DONE));
    let is_other = clauses().any(|clause| has(clause, others) && !is_warning(clause));
    (refuses(&wrong) && !is_other).then_some(refusal)
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
    fn message(&self) -> Option<String> {
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
    let text = after.message().unwrap_or_else(|| after.view.text.clone());
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

/// In the order in which they count: a page that locks an account often says why.
const MESSAGES: &[(Verdict, Topic)] = &[
    (Verdict::Locked, phrases::LOCKED),
    (Verdict::RateLimited, phrases::RATE_LIMITED),
    (Verdict::ConfirmEmail, phrases::CONFIRM),
    (Verdict::Captcha, phrases::WRONG_CAPTCHA),
    (Verdict::WrongPassword, phrases::WRONG),
];

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

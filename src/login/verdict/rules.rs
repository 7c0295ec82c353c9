//! The meaning of the response to a login form: rules, tried from the top. The first one whose signs the response
//! shows decides.
//!
//! The order matters: a page that locks an account often says why, a rejection warns of a coming lock, and words
//! outrank the status. Each rule has its rows in `fixtures/login/verdicts.tsv`, under its name.

use super::captcha::{AboutCaptcha, names_captcha, said_of_captcha};
use super::refusal::{has, refuses, refuses_without};
use super::{After, SHORT_TEXT_BYTES, Verdict, locked, names_wait, one_time_field, says_trouble};
use crate::phrases::{self, DONE, WARNINGS};
use crate::secret::told_url;
use crate::view::View;
use gleaner_base::words::Topic;

/// Descriptions of the evidence, the strongest first; None if the rule does not apply.
type Signs = Option<Vec<String>>;

pub(super) struct Rule {
    #[cfg_attr(not(test), expect(dead_code, reason = "the rows of its fixture name it"))]
    pub(super) name: &'static str,
    pub(super) verdict: Verdict,
    signs: fn(&Answer<'_>) -> Signs,
}

const fn rule(name: &'static str, verdict: Verdict, signs: fn(&Answer<'_>) -> Signs) -> Rule {
    Rule { name, verdict, signs }
}

pub(super) const RULES: &[Rule] = &[
    // Explicit words of the page, and what comes with them.
    rule("locked_in_a_clause", Verdict::Locked, locked_in_a_clause),
    rule("vague_words_in_trouble", Verdict::SiteTrouble, vague_words_in_trouble),
    rule("failed_beside_captcha", Verdict::ProbablyRefused, failed_beside_captcha),
    rule("captcha_and_more", Verdict::ProbablyRefused, captcha_and_more),
    rule("refused_beside_words", Verdict::WrongPassword, refused_beside_words),
    rule("refused_beside_limit", Verdict::WrongPassword, refused_beside_limit),
    rule("locked_beside_limit", Verdict::Locked, locked_beside_limit),
    rule("captcha_behind_limit", Verdict::Captcha, captcha_behind_limit),
    rule("says_locked", Verdict::Locked, |of| of.says(Verdict::Locked)),
    rule("says_limited", Verdict::RateLimited, |of| of.says(Verdict::RateLimited)),
    rule("says_confirm", Verdict::ConfirmEmail, |of| of.says(Verdict::ConfirmEmail)),
    rule("says_wrong_captcha", Verdict::Captcha, |of| of.says(Verdict::Captcha)),
    rule("says_wrong", Verdict::WrongPassword, |of| of.says(Verdict::WrongPassword)),
    // Other signs of the page.
    rule("status_429", Verdict::RateLimited, |of| (of.status == 429).then(|| vec![of.status()])),
    rule("log_out_link", Verdict::LoggedIn, log_out_link),
    rule("code_field", Verdict::SecondFactor, code_field),
    rule("password_expired", Verdict::PasswordExpired, password_expired),
    // The login form is back.
    rule("form_with_captcha", Verdict::Captcha, form_with_captcha),
    rule("form_with_401", Verdict::WrongPassword, |of| of.form_if(of.status == 401, || of.status())),
    rule("form_not_looked_at", Verdict::NotLookedAt, form_not_looked_at),
    // A site that shows the form again may have checked the password.
    rule("form_with_5xx", Verdict::SiteTrouble, |of| of.form_if(of.status >= 500, || of.status())),
    rule("form_in_trouble", Verdict::SiteTrouble, form_in_trouble),
    rule("form_is_back", Verdict::ProbablyRefused, |of| of.login_form.map(|_| vec![FORM_IS_BACK.to_owned()])),
    // There is no form.
    rule("says_welcome", Verdict::LoggedIn, |of| of.view.says(phrases::WELCOME).map(|phrase| vec![says(phrase)])),
    rule("denied_not_looked_at", Verdict::NotLookedAt, denied_not_looked_at),
    // A gate in front of a site checks no password.
    rule("denied_by_gate", Verdict::SiteTrouble, denied_by_gate),
    rule("status_401", Verdict::WrongPassword, |of| (of.status == 401).then(|| vec![of.status()])),
    // Software responds like this to an invalid request, whatever its content, and so does a gate in front of a site.
    rule("denied", Verdict::ProbablyRefused, |of| of.is_denied().then(|| vec![of.status()])),
    rule("says_trouble", Verdict::SiteTrouble, trouble),
    rule("new_cookies", Verdict::LoggedIn, new_cookies),
    // A successful login would show a sign.
    rule("no_sign", Verdict::ProbablyRefused, |of| (of.status < 500).then(|| of.nothing())),
    // A server in trouble says nothing at all.
    rule("no_sign_in_trouble", Verdict::Unknown, |of| Some(of.nothing())),
];

/// The deciding rule and its evidence.
pub(super) fn decide(after: &After<'_>) -> (&'static Rule, Vec<String>) {
    let answer = Answer::of(after);
    let decided = RULES.iter().find_map(|rule| Some((rule, (rule.signs)(&answer)?)));
    // The last rule always applies.
    decided.unwrap_or_else(|| (&RULES[RULES.len() - 1], Vec::new()))
}

/// A response, with facts used by several rules.
struct Answer<'a> {
    after: &'a After<'a>,
    /// Its words count: the form is back, or the page is short. A forum's front page may mention bans and wrong
    /// passwords in titles.
    is_message: bool,
    log_out: Option<&'a str>,
    known: Option<KnownWords>,
}

/// The known words of a response for a verdict.
struct KnownWords {
    verdict: Verdict,
    phrase: &'static str,
    /// All phrases for this verdict.
    phrases: Topic,
}

/// In order of precedence.
const MESSAGES: &[(Verdict, Topic)] = &[
    (Verdict::Locked, phrases::LOCKED),
    (Verdict::RateLimited, phrases::RATE_LIMITED),
    (Verdict::ConfirmEmail, phrases::CONFIRM),
    (Verdict::Captcha, phrases::WRONG_CAPTCHA),
    (Verdict::WrongPassword, phrases::WRONG),
];

impl<'a> std::ops::Deref for Answer<'a> {
    type Target = After<'a>;

    fn deref(&self) -> &After<'a> {
        self.after
    }
}

impl<'a> Answer<'a> {
    fn of(after: &'a After<'a>) -> Self {
        let is_message = after.login_form.is_some() || after.view.text.len() < SHORT_TEXT_BYTES;
        let mut answer = Self { after, is_message, log_out: after.log_out(), known: None };
        answer.known = answer.find_known();
        answer
    }

    /// Its words count, unless it is a member's page without the form.
    fn is_read(&self) -> bool {
        self.log_out.is_none() || self.login_form.is_some()
    }

    fn find_known(&self) -> Option<KnownWords> {
        // A server in trouble that shows no form may have any login word in its page; a real rejection has a clause.
        let is_heard = |verdict: Verdict| {
            verdict != Verdict::WrongPassword
                || self.status < 500
                || self.login_form.is_some()
                || self.view.said.lines().any(refuses)
        };
        let is_told = |verdict: Verdict, phrase: &str| {
            self.is_message && (verdict != Verdict::Locked || !locked::is_another(self.view, phrase))
        };
        let mut heard = MESSAGES.iter().copied().filter(|(verdict, _)| self.is_read() && is_heard(*verdict));
        heard.find_map(|(verdict, phrases)| {
            let phrase = says_anew_where(self, &phrases, |phrase| is_told(verdict, phrase))?;
            Some(KnownWords { verdict, phrase, phrases })
        })
    }

    fn known_of(&self, verdict: Verdict) -> Option<&KnownWords> {
        self.known.as_ref().filter(|known| known.verdict == verdict)
    }

    fn says(&self, verdict: Verdict) -> Signs {
        self.known_of(verdict).map(|known| vec![says(known.phrase)])
    }

    fn status(&self) -> String {
        format!("status {}", self.status)
    }

    fn is_denied(&self) -> bool {
        matches!(self.status, 400 | 401 | 403 | 419 | 422)
    }

    /// The form is back, and `holds` is true.
    fn form_if(&self, holds: bool, sign: impl FnOnce() -> String) -> Signs {
        (self.login_form.is_some() && holds).then(|| vec![FORM_IS_BACK.to_owned(), sign()])
    }

    fn nothing(&self) -> Vec<String> {
        vec![format!("status {}, no login form, no link to log out, no new cookie", self.status)]
    }
}

const FORM_IS_BACK: &str = "the login form is back";

fn says(phrase: &str) -> String {
    format!("the page says “{phrase}”")
}

fn locked_in_a_clause(of: &Answer<'_>) -> Signs {
    let clause = locked::says_locked(of).filter(|_| of.is_read())?;
    Some(vec![says(&clause)])
}

/// Words that also occur on sites in trouble.
fn vague_words_in_trouble(of: &Answer<'_>) -> Signs {
    let phrase = of.known.as_ref()?.phrase;
    let vague = [phrases::WRONG_SOMEHOW, phrases::LATER, phrases::LOCKED_SOMEHOW];
    let is_vague = vague.iter().any(|phrases| phrases.contains(&phrase));
    let trouble = says_anew(of, &phrases::TROUBLE).filter(|_| is_vague)?;
    Some(vec![says(trouble), says(phrase)])
}

/// It may be because of the CAPTCHA or of the password.
fn failed_beside_captcha(of: &Answer<'_>) -> Signs {
    let phrase = of.known_of(Verdict::WrongPassword)?.phrase;
    let has_captcha = of.view.has_captcha || of.has_read_captcha;
    let message = of.said_beside_form().filter(|_| has_captcha && phrases::WRONG_SOMEHOW.contains(&phrase))?;
    Some(vec![says(phrase), says(names_captcha(&message)?)])
}

fn captcha_and_more(of: &Answer<'_>) -> Signs {
    of.says(Verdict::Captcha).filter(|_| matches!(said_of_captcha(of), AboutCaptcha::More))
}

/// A rejection that warns of consequences is still a rejection: it has a clause of its own.
fn refused_beside_words(of: &Answer<'_>) -> Signs {
    let known = of.known.as_ref()?;
    Some(vec![says(refuses_beside(of, known)?), says(known.phrase)])
}

/// A clause from none of our lists may contain the password, and is not quoted.
fn refused_beside_limit(of: &Answer<'_>) -> Signs {
    let limit = of.known_of(Verdict::RateLimited).filter(|limit| refuses_without(of, limit.phrases))?;
    Some(vec!["a clause of the page says that the user or the password is wrong".to_owned(), says(limit.phrase)])
}

fn locked_beside_limit(of: &Answer<'_>) -> Signs {
    let limit = of.known_of(Verdict::RateLimited).filter(|_| locked::is_locked_for_good(of))?;
    Some(vec!["a clause of the page says that the account is locked".to_owned(), says(limit.phrase)])
}

/// phpBB requires one after too many attempts: a person who reads it is served at once.
fn captcha_behind_limit(of: &Answer<'_>) -> Signs {
    let limit = of.known_of(Verdict::RateLimited)?;
    let message = of.said_beside_form().filter(|_| of.view.has_captcha && names_wait(of.view).is_none())?;
    Some(vec![says(limit.phrase), says(names_captcha(&message)?)])
}

fn log_out_link(of: &Answer<'_>) -> Signs {
    let link = of.log_out.filter(|_| of.login_form.is_none())?;
    let link = format!("a link to log out: {}", told_url(link));
    Some(std::iter::once(link).chain(of.view.says(phrases::WELCOME).map(says)).collect())
}

fn code_field(of: &Answer<'_>) -> Signs {
    let (form, field) = one_time_field(of.view)?;
    Some(vec![format!("a field for a one-time code: {}", of.view.forms[form].controls[field].name)])
}

/// It must be about the password that was sent, and not about codes or other passwords.
fn password_expired(of: &Answer<'_>) -> Signs {
    let others = || phrases::ONE_TIME_PASSWORDS.iter().chain(phrases::ANY_PASSWORD.iter());
    let is_of_this =
        |phrase: &&str| others().fold(of.view.text.clone(), |text, of| text.replace(of, "")).contains(*phrase);
    let phrase = says_anew(of, &phrases::EXPIRED_PASSWORD).filter(|_| of.is_message).filter(is_of_this)?;
    Some(vec![says(phrase)])
}

fn form_with_captcha(of: &Answer<'_>) -> Signs {
    of.login_form?;
    let word = match said_of_captcha(of) {
        AboutCaptcha::Captcha(word) if of.has_read_captcha || of.view.has_captcha => Some(says(word)),
        AboutCaptcha::Nothing if of.view.has_captcha && !of.has_read_captcha => None,
        _ => return None,
    };
    Some(["the form has a CAPTCHA", FORM_IS_BACK].map(str::to_owned).into_iter().chain(word).collect())
}

/// Only texts for this login count: many forms have notices about cookies, and topics mention tokens.
fn form_not_looked_at(of: &Answer<'_>) -> Signs {
    let message = of.said_beside_form()?;
    let phrase = phrases::NOT_LOOKED_AT.first_in(&message)?;
    Some(vec![FORM_IS_BACK.to_owned(), says(phrase)])
}

fn form_in_trouble(of: &Answer<'_>) -> Signs {
    let message = of.said_beside_form()?;
    let phrase = phrases::TROUBLE.first_in(&message)?;
    Some(vec![FORM_IS_BACK.to_owned(), says(phrase)])
}

fn denied_not_looked_at(of: &Answer<'_>) -> Signs {
    let is_read = of.is_denied() && of.is_message;
    let phrase = of.view.says(phrases::NOT_LOOKED_AT).filter(|_| is_read)?;
    Some(vec![of.status(), says(phrase)])
}

fn denied_by_gate(of: &Answer<'_>) -> Signs {
    let blocked = of.view.says(phrases::FIREWALLS).or_else(|| says_trouble(of.view));
    Some(vec![of.status(), says(blocked.filter(|_| of.is_denied())?)])
}

fn trouble(of: &Answer<'_>) -> Signs {
    let phrase = says_trouble(of.view).filter(|_| of.status < 500)?;
    Some(vec![says(phrase)])
}

fn new_cookies(of: &Answer<'_>) -> Signs {
    let is_whole = (200..300).contains(&of.status) && of.cookies_changed;
    is_whole.then(|| vec!["the login form is gone, and cookies were set".to_owned()])
}

/// The first of these phrases on the page. If the form is back, it must occur more often than on the page before: a
/// form in the header of each page has titles of topics beside it that mention failed logins.
fn says_anew(after: &After<'_>, phrases: &[&'static str]) -> Option<&'static str> {
    says_anew_where(after, phrases, |_| true)
}

/// The same for phrases that also meet a condition.
fn says_anew_where(after: &After<'_>, phrases: &[&'static str], holds: impl Fn(&str) -> bool) -> Option<&'static str> {
    let before = after.before.filter(|_| after.login_form.is_some());
    let count = |view: &View, phrase: &str| view.said.matches(phrase).count();
    let is_new = |phrase: &str| before.is_none_or(|before| count(after.view, phrase) > count(before, phrase));
    phrases.iter().copied().find(|phrase| after.view.said.contains(phrase) && is_new(phrase) && holds(phrase))
}

/// The words of a clause that says that the password is wrong, if the words of another verdict beside it only warn of
/// consequences. An account that is already locked counts as locked, whatever else is said. If the user must also
/// wait, the password was still checked: the same is not sent again after the wait.
fn refuses_beside(after: &After<'_>, known: &KnownWords) -> Option<&'static str> {
    let (verdict, others) = (known.verdict, known.phrases);
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
    // A login to a locked or unconfirmed account fails too.
    let wrong = if verdict == Verdict::RateLimited { phrases::WRONG.to_vec() } else { wrong };
    let refusal = says_anew(after, &wrong)?;
    // A request beside a rejection is meant for users with the right password.
    let is_warning = |clause: &str| verdict == Verdict::ConfirmEmail || (has(clause, WARNINGS) && !has(clause, DONE));
    let is_other = clauses().any(|clause| has(clause, others) && !is_warning(clause));
    (refuses(&wrong) && !is_other).then_some(refusal)
}

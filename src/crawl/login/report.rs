//! The result of a login, for reports, and how it counts among its account's attempts.

use std::time::Duration;

use gleaner_base::clock::UnixMillis;
use gleaner_login::secret::Secret;
use gleaner_login::tries::{Ended, Tries};
use gleaner_login::verdict::{IN_TROUBLE, Judged, ONE_PAGE, Verdict};
use gleaner_net::politeness::Answered;

/// Evidence that a one-time code was entered and rejected.
pub const CODE_REFUSED: &str = "the one-time code was not accepted";

/// The result of a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What was done and seen, in order.
    pub steps: Vec<String>,
    pub judged: Judged,
    /// False if the form was never sent.
    pub was_sent: bool,
    /// False if it got no response, or that of a server in trouble.
    pub was_answered: bool,
    /// True if the form got a complete response, even that of a server in trouble.
    pub was_told: bool,
    /// True if a clause of the response, or the address it redirects to, certainly refuses the user or the password.
    pub says_refused: bool,
    /// True if it counts the remaining attempts: a certain refusal, whatever else it says.
    pub counts_tries: bool,
    /// True if it asks for patience, whatever else it says.
    pub is_limited: bool,
    /// True if it has set cookies that were kept.
    pub sets_cookies: bool,
    /// True if it refuses without saying what.
    pub refuses_somehow: bool,
    /// How the site failed to answer a request properly, if it did.
    pub trouble: Option<Answered>,
    /// The login's verdict if its proof fails, according to the response to the form.
    pub unless: Verdict,
    /// How long the account stays locked, if the response says so.
    pub locked_for: Option<Duration>,
    /// The page with the form, and what was filled in, up to where the login got.
    pub chosen: Vec<String>,
    /// The key of `[login]` that names something missing.
    pub pinned: Option<Pin>,
}

/// A key of `[login]` that names what a search would otherwise have to find, or has found to be unusable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pin {
    /// None: the site answers every request with one page, which has no login.
    Site,
    Page,
    Form,
    /// A page asks for the account in a header, by a scheme that is not supported.
    Scheme,
    /// The form that was found goes to an address that no browser can parse; another form may not.
    Address,
    UserField,
    PasswordField,
}

impl Pin {
    /// Its name in the rule file.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Site => "start",
            Self::Page | Self::Scheme => "page",
            Self::Form | Self::Address => "form",
            Self::UserField => "user_field",
            Self::PasswordField => "password_field",
        }
    }

    /// A sentence for people, with what to do.
    fn sentence(self) -> &'static str {
        match self {
            Self::Site => ONE_PAGE,
            Self::Page => "the page that [login] names has no login form (hint: correct `page` in [login])",
            Self::Form => "the form that [login] names is not a login form (hint: correct `form` in [login])",
            Self::Scheme => {
                "the site asks for a kind of HTTP authentication that is not supported: only Basic is (hint: name a page with a \
                 login form as `page` in [login], if the site has one)"
            }
            Self::Address => {
                "the form's address cannot be read (hint: name another `form` in [login] if its page has one, or log in with a \
                 browser, then `gleaner login --cookies cookies.txt`)"
            }
            Self::UserField => "the form has no such field (hint: correct `user_field` in [login])",
            Self::PasswordField => "the form has no such field (hint: correct `password_field` in [login])",
        }
    }
}

impl Report {
    /// The report of a login that has not begun.
    pub(super) fn new() -> Self {
        Self {
            steps: Vec::new(),
            judged: Judged { verdict: Verdict::Unknown, evidence: Vec::new() },
            was_sent: false,
            was_answered: false,
            was_told: false,
            says_refused: false,
            counts_tries: false,
            is_limited: false,
            sets_cookies: false,
            refuses_somehow: false,
            trouble: None,
            unless: Verdict::Unknown,
            locked_for: None,
            chosen: Vec::new(),
            pinned: None,
        }
    }

    /// The verdict for people, or the site's trouble.
    #[must_use]
    pub fn sentence(&self) -> &'static str {
        sentence(self.judged.verdict, self.trouble, self.pinned)
    }

    /// The result as it counts among the account's attempts. If the site has accepted the same credentials before (`was_let_in`), a
    /// response that does not mention them is no refusal.
    #[must_use]
    pub fn ended(&self, was_let_in: bool) -> Ended {
        // A connection that broke after the form was sent differs from a server that reports what is wrong with it.
        let broke_off = self.was_sent && matches!(self.trouble, Some(Answered::Unreachable | Answered::Faulty));
        let verdict = match self.judged.verdict {
            Verdict::Unknown if broke_off && !self.was_told => Verdict::NoAnswer,
            Verdict::ProbablyRefused | Verdict::WrongPassword
                if self.counts_tries && !was_let_in && !self.is_limited =>
            {
                Verdict::WrongPassword
            }
            // Correct credentials get the same response.
            Verdict::ProbablyRefused | Verdict::WrongPassword if was_let_in && self.is_limited => Verdict::LimitedAgain,
            Verdict::ProbablyRefused | Verdict::WrongPassword if was_let_in && !self.says_refused => {
                Verdict::SiteTrouble
            }
            // A hoster's page for a suspended site, or any other barrier, has not checked the password.
            Verdict::OtherSite if was_let_in && self.was_sent && !self.says_refused => Verdict::SiteTrouble,
            // The password may have been put into the wrong field.
            Verdict::WrongPassword if self.refuses_somehow => Verdict::ProbablyRefused,
            verdict => verdict,
        };
        Ended { verdict, was_sent: self.was_sent, was_answered: self.was_answered }
    }

    /// Records how the login has ended; updates the verdict if it counts as something else than its response alone suggests, and returns
    /// why.
    pub fn end(&mut self, tries: &mut Tries, user: &str, password: &Secret, now: UnixMillis) -> Option<&'static str> {
        let was_let_in = tries.was_let_in(user, password);
        let mut ended = self.ended(was_let_in);
        // The site may have another password by now without saying so.
        let is_borne = !(was_let_in && self.is_unsure(ended.verdict)) || tries.bears_bare();
        if !is_borne {
            ended.verdict = Verdict::ProbablyRefused;
        }
        let counts = tries.ended(ended, user, password, now);
        if let Some(wait) = self.locked_for.filter(|_| counts == Verdict::Locked) {
            tries.meet_lock(user, password, now.plus(wait));
        }
        let why = match (self.judged.verdict, counts) {
            _ if !is_borne => {
                "the site accepted this user and password before, but its answers since neither accept nor clearly refuse them: they \
                 are not tried again"
            }
            (_, Verdict::ProbablyRefused) if was_let_in && ended.verdict != Verdict::ProbablyRefused => {
                "the site accepted this user and password before, but in none of its last answers: they are not tried again"
            }
            (
                Verdict::ProbablyRefused
                | Verdict::WrongPassword
                | Verdict::OtherSite
                | Verdict::Unknown
                | Verdict::NotLookedAt,
                Verdict::SiteTrouble,
            ) => "the site accepted this user and password before, and does not clearly refuse them now",
            (Verdict::ProbablyRefused, Verdict::WrongPassword) => "it says how many tries are left",
            (Verdict::ProbablyRefused | Verdict::WrongPassword, Verdict::LimitedAgain) => {
                "it also asks to wait, which it may do even if they are right"
            }
            (Verdict::RateLimited, Verdict::LimitedAgain) => "it asked to wait at each of the last tries",
            (Verdict::Unknown | Verdict::NotLookedAt, Verdict::ProbablyRefused) => {
                "the second unclear answer to the same credentials"
            }
            _ => return None,
        };
        self.judged.verdict = counts;
        self.judged.evidence.push(why.to_owned());
        Some(why)
    }

    /// True if a response to accepted credentials is neither a success, nor a certain refusal, nor certain trouble.
    fn is_unsure(&self, ends: Verdict) -> bool {
        let is_vague = match self.judged.verdict {
            Verdict::ProbablyRefused | Verdict::WrongPassword => {
                matches!(ends, Verdict::SiteTrouble | Verdict::LimitedAgain)
            }
            Verdict::Unknown => ends == Verdict::Unknown,
            verdict => verdict == Verdict::NotLookedAt,
        };
        self.was_sent && self.was_answered && is_vague
    }

    /// The time until which the site asks to be left alone (`Retry-After`), if any.
    #[must_use]
    pub fn asks_to_wait(&self) -> Option<UnixMillis> {
        asked_until(self.trouble)
    }

    /// True if nothing was learned: the form was never sent because the site was in trouble or requests were not allowed, or it
    /// was accepted, and then no page could be requested to prove the session.
    #[must_use]
    pub fn came_to_nothing(&self) -> bool {
        self.trouble.is_some() && (!self.was_sent || self.is_unproven())
    }

    /// True if the site accepted the form with the password, and then no page could be requested to prove the session.
    #[must_use]
    pub fn is_unproven(&self) -> bool {
        self.judged.verdict == Verdict::Unknown && self.was_sent && self.was_answered && self.trouble.is_some()
    }

    /// Records among the account's attempts how long the site wants to be left alone after a login: as long as it says, or as long as we
    /// guess if its response to the form asks for patience without a time; and if the way to the form is a loop, or the page that the site
    /// serves in place of it.
    pub fn tell(&self, tries: &mut Tries, now: UnixMillis) {
        match self.trouble {
            Some(Answered::Throttled(Some(until))) if until > now => tries.wait_as_asked(until, now),
            // `Retry-After: 0` names no time to wait.
            Some(Answered::Throttled(_)) if self.was_sent && !self.is_unproven() => tries.wait_as_guessed(),
            _ => {}
        }
        if self.judged.verdict == Verdict::NoForm && self.pinned == Some(Pin::Site) {
            tries.meet_page(&self.judged.evidence.join("; "));
        }
        if self.judged.verdict == Verdict::RedirectLoop {
            tries.meet_page(&self.judged.evidence.join("; ").replacen("redirect loop: ", "", 1));
        }
    }

    /// True if the site asks for patience after the form without naming a time: the length of the pause is a guess.
    #[must_use]
    pub fn has_guessed_wait(&self) -> bool {
        let is_limit = matches!(self.judged.verdict, Verdict::RateLimited | Verdict::LimitedAgain);
        let asks = is_limit || self.trouble == Some(Answered::Throttled(None));
        asks && self.was_sent && self.asks_to_wait().is_none()
    }
}

pub(super) fn asked_until(trouble: Option<Answered>) -> Option<UnixMillis> {
    match trouble {
        Some(Answered::Throttled(until)) => until,
        _ => None,
    }
}

pub(super) fn sentence(verdict: Verdict, trouble: Option<Answered>, pinned: Option<Pin>) -> &'static str {
    match (verdict, trouble, pinned) {
        (Verdict::Unknown, Some(_), _) => IN_TROUBLE,
        (Verdict::NoForm, _, Some(pin)) => pin.sentence(),
        _ => verdict.sentence(),
    }
}

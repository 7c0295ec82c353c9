//! How a login went, for those who tell of it, and how that counts among its account's tries.

use std::time::Duration;

use gleaner_base::clock::UnixMillis;
use gleaner_login::secret::Secret;
use gleaner_login::tries::{Ended, Tries};
use gleaner_login::verdict::{IN_TROUBLE, Judged, ONE_PAGE, Verdict};
use gleaner_net::politeness::Answered;

/// Evidence of a code that was typed, and let nobody in.
pub const CODE_REFUSED: &str = "the one-time code was not taken";

/// How a login went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What was done and seen, in order.
    pub steps: Vec<String>,
    pub judged: Judged,
    /// False where the form never left.
    pub was_sent: bool,
    /// False where it was not answered, or by a server in trouble.
    pub was_answered: bool,
    /// True where the form was answered, be it by a server in trouble, to the end of the answer.
    pub was_told: bool,
    /// True where a clause of the answer, or the address that it leads to, surely refuses the user or the password.
    pub says_refused: bool,
    /// True where it counts the tries that are left: a sure refusal, whatever else it says.
    pub counts_tries: bool,
    /// True where it asks for patience, whatever it says beside that.
    pub is_limited: bool,
    /// True where it has set cookies that were kept.
    pub sets_cookies: bool,
    /// True where it refuses, and does not say what.
    pub refuses_somehow: bool,
    /// How the site ended a request that it had no good answer for, if it did.
    pub trouble: Option<Answered>,
    /// How the login ends where its proof says no, as the answer to the form tells it.
    pub unless: Verdict,
    /// How long the account stays locked, where it says so.
    pub locked_for: Option<Duration>,
    /// The page with the form, and what was filled in, as far as it came.
    pub chosen: Vec<String>,
    /// The key of `[login]` that names something which is not there.
    pub pinned: Option<Pin>,
}

/// A key of `[login]` that names what a search would have to find otherwise, or has found to be of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pin {
    /// None: the site answers whatever is asked by one page that is none to log in at.
    Site,
    Page,
    Form,
    /// The form that was found goes to an address that no browser can read; another one may not.
    Address,
    UserField,
    PasswordField,
}

impl Pin {
    /// As the rule file has it.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Site => "start",
            Self::Page => "page",
            Self::Form | Self::Address => "form",
            Self::UserField => "user_field",
            Self::PasswordField => "password_field",
        }
    }

    /// For people, and what to do.
    fn sentence(self) -> &'static str {
        match self {
            Self::Site => ONE_PAGE,
            Self::Page => "the page that [login] names has no login form (hint: correct `page` in [login])",
            Self::Form => "the form that [login] names is none to log in by (hint: correct `form` in [login])",
            Self::Address => {
                "the form's address cannot be read (hint: name another `form` in [login] where its page has one, or log in with a browser, \
                 then `gleaner login --cookies cookies.txt`)"
            }
            Self::UserField => "the form has no such field (hint: correct `user_field` in [login])",
            Self::PasswordField => "the form has no such field (hint: correct `password_field` in [login])",
        }
    }
}

impl Report {
    /// Of a login that has not begun.
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

    /// The verdict for people, or what the site was in trouble with.
    #[must_use]
    pub fn sentence(&self) -> &'static str {
        sentence(self.judged.verdict, self.trouble, self.pinned)
    }

    /// What the account's tries are told, where the site `was_let_in` by the same before: what does not speak of them then is no refusal.
    #[must_use]
    pub fn ended(&self, was_let_in: bool) -> Ended {
        // What broke off behind a form that had left is another thing than a server that says what is wrong with it.
        let broke_off = self.was_sent && matches!(self.trouble, Some(Answered::Unreachable | Answered::Faulty));
        let verdict = match self.judged.verdict {
            Verdict::Unknown if broke_off && !self.was_told => Verdict::NoAnswer,
            Verdict::ProbablyRefused | Verdict::WrongPassword
                if self.counts_tries && !was_let_in && !self.is_limited =>
            {
                Verdict::WrongPassword
            }
            // The right one is answered so as well.
            Verdict::ProbablyRefused | Verdict::WrongPassword if was_let_in && self.is_limited => Verdict::LimitedAgain,
            Verdict::ProbablyRefused | Verdict::WrongPassword if was_let_in && !self.says_refused => {
                Verdict::SiteTrouble
            }
            // A hoster's page of a site that is suspended, or whatever stands between, has not looked at it.
            Verdict::OtherSite if was_let_in && self.was_sent && !self.says_refused => Verdict::SiteTrouble,
            // It may be the field that the password was put into.
            Verdict::WrongPassword if self.refuses_somehow => Verdict::ProbablyRefused,
            verdict => verdict,
        };
        Ended { verdict, was_sent: self.was_sent, was_answered: self.was_answered }
    }

    /// Writes down how the login has ended, and tells what came of that where it counts as something else than its answer alone; gives why.
    pub fn end(&mut self, tries: &mut Tries, user: &str, password: &Secret, now: UnixMillis) -> Option<&'static str> {
        let was_let_in = tries.was_let_in(user, password);
        let mut ended = self.ended(was_let_in);
        // It may have another password by now, and not say so.
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
                "the site has let this user and password in before, and its answers since are neither a yes nor a clear refusal: there is no \
                 further try"
            }
            (_, Verdict::ProbablyRefused) if was_let_in && ended.verdict != Verdict::ProbablyRefused => {
                "the site has let this user and password in before, and in none of its last answers: there is no further try"
            }
            (
                Verdict::ProbablyRefused
                | Verdict::WrongPassword
                | Verdict::OtherSite
                | Verdict::Unknown
                | Verdict::NotLookedAt,
                Verdict::SiteTrouble,
            ) => "the site has let this user and password in before, and does not clearly refuse them",
            (Verdict::ProbablyRefused, Verdict::WrongPassword) => "it counts the tries that are left",
            (Verdict::ProbablyRefused | Verdict::WrongPassword, Verdict::LimitedAgain) => {
                "it asks to wait beside that, as it may where they are right"
            }
            (Verdict::RateLimited, Verdict::LimitedAgain) => "it has asked for patience at each of the last tries",
            (Verdict::Unknown | Verdict::NotLookedAt, Verdict::ProbablyRefused) => {
                "the second answer to the same that tells nothing"
            }
            _ => return None,
        };
        self.judged.verdict = counts;
        self.judged.evidence.push(why.to_owned());
        Some(why)
    }

    /// True where an answer to what was let in before is no yes, no sure refusal and no sure trouble: which of them it is, nobody knows.
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

    /// Until when the site asks to be left alone (`Retry-After`), where it does.
    #[must_use]
    pub fn asks_to_wait(&self) -> Option<UnixMillis> {
        asked_until(self.trouble)
    }

    /// True where nothing was learned: the form never left because the site was in trouble or was not to be asked, or it
    /// was taken, and then no page could be asked whether it let us in.
    #[must_use]
    pub fn came_to_nothing(&self) -> bool {
        self.trouble.is_some() && (!self.was_sent || self.is_unproven())
    }

    /// True where the site took the form with the password, and then no page could be asked whether it let us in.
    #[must_use]
    pub fn is_unproven(&self) -> bool {
        self.judged.verdict == Verdict::Unknown && self.was_sent && self.was_answered && self.trouble.is_some()
    }

    /// Tells the account's tries how long the site wants to be left alone behind a login that has ended: as long as it says, or as
    /// long as we guess where its answer to the form asks for patience without a time; and where the way to the form is a loop, or what
    /// the site answers in place of it.
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

    /// True where the site asks for patience behind the form, and names no time: until when it is left alone is a guess.
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

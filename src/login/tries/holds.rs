//! Why no login is allowed now, by a crawl or by hand.

use super::again::{OfHand, again};
use super::{ByHand, Hold, Tries, is_ahead};
use crate::limits::LOGINS_PER_HOUR_MAX;
use crate::secret::Secret;
use crate::verdict::Verdict;
use gleaner_base::clock::UnixMillis;

/// After consecutive logins that were killed, or answered by a server in trouble.
pub(super) const NO_END: &str = "the last logins ended without a clear result, and may have been refused (hint: see that the account \
                      is not locked, then run `gleaner login --again`)";

/// For a password that was rejected before another one was tried.
pub(super) const REFUSED_BEFORE: &str = "the site has refused this user and password before, and the same credentials are not sent \
                              again (hint: correct the password, or `user` in [login]; if both are right, run `gleaner login --again`)";

/// For a password whose form came back with a CAPTCHA before another one was tried.
const CAPTCHA_BEFORE: &str = "the site has answered this user and password with a CAPTCHA before another one was tried, and may have \
                              refused them: they are not sent again (hint: if they are right, run `gleaner login --interactive \
                              --again`)";

/// For a password that was retried with another CAPTCHA text.
const CAPTCHA_TWICE: &str = "the site has answered this user and password with a CAPTCHA twice, and may also have refused them: they \
                             are not sent again (hint: if they are right, run `gleaner login --interactive --again`)";

/// For a password that was retried with a code.
const SECOND_FACTOR_TWICE: &str = "the site has asked for a second factor twice, and may also have refused this user and password: \
                                   they are not sent again (hint: if they are right, run `gleaner login --interactive --again`)";

/// For an account with more rejected passwords than are remembered.
pub(super) const TOO_MANY: &str = "the site has refused so many passwords of this account that no more are recorded (hint: run \
                        `gleaner login --again` with the right one)";

impl Tries {
    /// Why no login with this password is allowed now; None if it is.
    #[must_use]
    pub fn hold(&self, user: &str, password: &Secret, now: UnixMillis) -> Option<Hold> {
        let for_operator = self.held_for_operator(user, password, now).map(Hold::Operator);
        for_operator.or_else(|| self.held_for_rest(now)).or_else(|| self.held_for_wait(user, password, now))
    }

    /// Why these are not sent until the operator has acted.
    fn held_for_operator(&self, user: &str, password: &Secret, now: UnixMillis) -> Option<String> {
        let marks = self.marks(user, password);
        if let Some(verdict) = self.answers.refusal(marks) {
            // If another password was tried since, its verdict is no reason here.
            let is_last = self.outcome.last == Some(verdict);
            return Some(if is_last { verdict.sentence() } else { REFUSED_BEFORE }.to_owned());
        }
        if self.is_locked(marks) {
            return Some(self.locked(user, password));
        }
        let held = self.outcome.held_with(marks);
        if held.is_none() && self.answers.met_captcha(marks) {
            return Some(CAPTCHA_BEFORE.to_owned());
        }
        let was_let_in = self.accepted.is_of(marks);
        let is_for_crawls = |(verdict, was_answered)| again(verdict, was_answered).is_for_crawls(was_let_in);
        let sent = self.answers.sent_with(marks).filter(|sent| !is_for_crawls(*sent)).map(|(verdict, _)| verdict);
        let is_of_trouble = |verdict: Verdict| again(verdict, true).is_for_let_in() && self.is_of_trouble(marks);
        let held = held.filter(|verdict| !is_of_trouble(*verdict));
        let twice = |verdict: Verdict| match verdict {
            Verdict::Captcha => Some(CAPTCHA_TWICE),
            Verdict::SecondFactor => Some(SECOND_FACTOR_TWICE),
            _ => None,
        };
        let twice = |verdict| twice(verdict).filter(|_| self.answers.is_spent(marks)).map(str::to_owned);
        match (held, sent) {
            (Some(Verdict::Unknown | Verdict::NoAnswer), _) if self.outcome.is_unclear() => Some(NO_END.to_owned()),
            (Some(Verdict::RateLimited), _) => Some(self.limited_again(now)),
            (Some(held), sent) => {
                let sentence = || sent.map_or_else(|| held.sentence().to_owned(), sentence_of_sent);
                Some(twice(held).unwrap_or_else(sentence))
            }
            (None, Some(sent)) => Some(twice(sent).unwrap_or_else(|| sentence_of_sent(sent))),
            (None, None) => self.is_full(marks).then(|| TOO_MANY.to_owned()),
        }
    }

    /// True if the list is full and does not contain these.
    fn is_full(&self, marks: [u32; 2]) -> bool {
        !self.accepted.is_of(marks) && self.answers.is_full_for(marks)
    }

    /// The site had its maximum number of logins for now.
    fn held_for_rest(&self, now: UnixMillis) -> Option<Hold> {
        let resting = is_ahead(self.waits.resting, now);
        let resting = resting.map(|until| (until, "each of the last sessions ended soon after its login".to_owned()));
        let many = || Some((self.accepted.full_until(now)?, format!("{LOGINS_PER_HOUR_MAX} logins within an hour")));
        resting.or_else(many).map(|(until, why)| Hold::Until(until, why))
    }

    /// Until when a crawl waits, and which logins do not wait.
    fn held_for_wait(&self, user: &str, password: &Secret, now: UnixMillis) -> Option<Hold> {
        let marks = self.marks(user, password);
        self.waits_until(marks, now).map(|until| {
            // Long waits come from the response to these credentials, whatever was tried since.
            let further = self.further_at(marks, now).and(self.answers.sent_with(marks));
            let further = further.map(|(of, _)| of.sentence().to_owned());
            let has_hint_of_held =
                further.is_some() || self.outcome.last.is_none_or(|of| again(of, true).is_for_let_in());
            let last = further.or_else(|| self.trouble());
            let mut last = last.unwrap_or_else(|| "the last login was interrupted".to_owned());
            if let Some(at) = last.find(" (hint: ").filter(|_| has_hint_of_held) {
                last.truncate(at);
            }
            if self.asked_until(now).is_some() && self.outcome.was_in_trouble {
                Verdict::RateLimited.sentence().clone_into(&mut last);
            }
            // As displayed, to the second.
            let is_until = |asked: UnixMillis| asked >= until || asked.rfc3339() == until.rfc3339();
            let by_hand = match (self.asked_until(now), self.guessed_until(now)) {
                (Some(asked), _) if is_until(asked) => {
                    "as the site asks; `gleaner login --again` does not wait".to_owned()
                }
                // Our own wait is longer.
                (Some(asked), _) => {
                    format!("the site asks for {}; `gleaner login --again` does not wait", asked.rfc3339())
                }
                (None, Some(_)) => {
                    "an estimate: the site asks to wait, and gives no time; `gleaner login --again` does not wait"
                        .to_owned()
                }
                (None, None) if self.hold_by_hand(user, password, now).is_some() => {
                    "an estimate; `gleaner login --again` does not wait".to_owned()
                }
                (None, None) => "an estimate; `gleaner login` does not wait".to_owned(),
            };
            Hold::Until(until, format!("{last} (no new try before {}; {by_hand})", until.rfc3339()))
        })
    }

    /// When a crawl may send a form with these.
    fn waits_until(&self, marks: [u32; 2], now: UnixMillis) -> Option<UnixMillis> {
        let until = match self.waits.only_for {
            // The response to another password delays this one only if the site asked for a wait.
            Some(of) if !marks.contains(&of) => self.asked_until(now).max(self.guessed_until(now)),
            _ => self.not_before(now),
        };
        until.max(self.further_at(marks, now))
    }

    /// Why no login by hand with this password is allowed now; None if it is.
    #[must_use]
    pub fn hold_by_hand(&self, user: &str, password: &Secret, now: UnixMillis) -> Option<ByHand> {
        let marks = self.marks(user, password);
        let held = self.outcome.held_with(marks);
        let is_freed = self.answers.is_freed(marks, self.origin.way);
        let refusal = self.answers.refusal(marks);
        let refused = refusal.filter(|of| *of == Verdict::WrongPassword || !is_freed).map(ByHand::Refused);
        let locked = || self.is_locked(marks).then_some(ByHand::Locked);
        let guessed = || self.guessed_until(now).map(ByHand::GuessedToWait);
        let asked = || self.asked_until(now).map(ByHand::AskedToWait).or_else(guessed);
        let before = || (held.is_none() && self.answers.met_captcha(marks)).then_some(ByHand::CaptchaBefore);
        let (was_let_in, is_spent) = (self.accepted.is_of(marks), self.answers.is_spent(marks));
        let captcha = || Some(if is_spent { ByHand::CaptchaTwice } else { ByHand::Captcha });
        let last = || match held? {
            Verdict::Unknown if self.outcome.is_unclear() && !self.is_of_trouble(marks) && !is_freed => {
                Some(ByHand::NoEnd)
            }
            // A CAPTCHA before anything was sent may be requested again.
            Verdict::Captcha if !self.is_of_table => captcha(),
            _ => None,
        };
        let sent = || {
            // In older files without a list of what was sent, only this records it.
            let of_form = if self.is_of_table { &self.by_forms } else { &self.outcome };
            let of_form = of_form.held_with(marks).map(|verdict| (verdict, !self.outcome.was_in_trouble));
            let (verdict, was_answered) = self.answers.sent_with(marks).or(of_form).filter(|_| !is_freed)?;
            match again(verdict, was_answered).by_hand {
                OfHand::No => Some(ByHand::Sent(verdict)),
                OfHand::IfLetIn if was_let_in => {
                    // Repeated rate limits wait as long as crawls do.
                    let limited = self.waits_until(marks, now).filter(|_| verdict == Verdict::LimitedAgain);
                    let until = self.further_at(marks, now).max(limited);
                    until.map(|until| ByHand::SentUntil(verdict, until))
                }
                OfHand::IfLetIn => Some(ByHand::Sent(verdict)),
                OfHand::OnceInteractive if verdict == Verdict::Captcha => captcha(),
                OfHand::OnceInteractive if is_spent => Some(ByHand::SecondFactorTwice),
                OfHand::OnceInteractive => Some(ByHand::SecondFactor),
                OfHand::Yes => None,
            }
        };
        let full = || self.is_full(marks).then_some(ByHand::TooMany);
        // Waiting once more does not help there.
        let limited = || sent().filter(|of| *of == ByHand::Sent(Verdict::LimitedAgain));
        // The longer of the two, as for a crawl.
        let asked = || match (asked()?, sent()) {
            (ByHand::AskedToWait(until) | ByHand::GuessedToWait(until), Some(ByHand::SentUntil(verdict, further)))
                if further > until =>
            {
                Some(ByHand::SentUntil(verdict, further))
            }
            (asked, _) => Some(asked),
        };
        refused
            .or_else(locked)
            .or_else(limited)
            .or_else(asked)
            .or_else(last)
            .or_else(before)
            .or_else(sent)
            .or_else(full)
    }

    /// For repeated rate limits: the operator may know why, and when to retry is unknown.
    fn limited_again(&self, now: UnixMillis) -> String {
        let when = match self.not_before(now) {
            Some(until) => format!("at {} or later", until.rfc3339()),
            None => "now".to_owned(),
        };
        format!(
            "the site asks to wait before another try, and has asked before (hint: see that the account is not locked, then \
             run `gleaner login` {when})"
        )
    }
}

/// Why something with this verdict is not sent again, and the fix.
fn sentence_of_sent(verdict: Verdict) -> String {
    let (sentence, hint) = verdict.sentence().split_once(" (hint: ").unwrap_or((verdict.sentence(), ""));
    match again(verdict, true).by_hand {
        OfHand::No if verdict == Verdict::PasswordExpired || hint.contains("--again") || hint.contains("--cookies") => {
            verdict.sentence().to_owned()
        }
        OfHand::No if verdict == Verdict::ConfirmEmail => {
            format!("{sentence} (hint: follow the link in the site's mail, then run `gleaner login --again`)")
        }
        OfHand::IfLetIn if verdict == Verdict::Unknown => told_of_page(sentence),
        OfHand::No => told_of_page(sentence),
        // If it is blocked all the same, it was never accepted, or its one retry is used up.
        OfHand::IfLetIn | OfHand::OnceInteractive | OfHand::Yes => verdict.sentence().to_owned(),
    }
}

/// For a possible rejection in unknown words.
fn told_of_page(sentence: &str) -> String {
    format!(
        "{sentence}, and the same credentials are not sent again (hint: check in a browser that the user and the password are right, \
         then name a page that only members see as `probe` in [login] and run `gleaner login`, or run `gleaner login --again`)"
    )
}

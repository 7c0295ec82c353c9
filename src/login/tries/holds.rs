//! Why there may be no login now: by a crawl, and by hand.

use super::again::{OfHand, again};
use super::{ByHand, Hold, Tries, is_ahead};
use crate::limits::LOGINS_PER_HOUR_MAX;
use crate::secret::Secret;
use crate::verdict::Verdict;
use gleaner_base::clock::UnixMillis;

/// Told where logins were killed, or answered by a server in trouble, one after the other.
pub(super) const NO_END: &str = "the last logins did not get to a clear end, and may have been refused (hint: see that the account is \
                      not locked, then run `gleaner login --again`)";

/// Told of a password that was refused before another one was tried.
pub(super) const REFUSED_BEFORE: &str = "the site has refused this user and password before, and the same are not tried again (hint: \
                              correct the password, or `user` in [login]; where both are surely right, run `gleaner login \
                              --again`)";

/// Told of a password whose form came back with a CAPTCHA before another one was tried.
const CAPTCHA_BEFORE: &str = "the site has answered this user and password with a CAPTCHA before another one was tried, and may have \
                              refused them: they are not tried again (hint: where they are right, run \
                              `gleaner login --interactive --again`)";

/// Told of a password that was sent once more with another text of a CAPTCHA.
const CAPTCHA_TWICE: &str = "the site has answered this user and password with a CAPTCHA twice, and may have refused them beside it: they \
                             are not tried again (hint: where they are right, run `gleaner login --interactive --again`)";

/// Told of a password that was sent once more with a code.
const SECOND_FACTOR_TWICE: &str = "the site has asked for a second factor twice, and may have refused this user and password beside it: they \
                                   are not sent again (hint: where they are right, run `gleaner login --interactive --again`)";

/// Told where so many passwords were refused that no more are remembered.
pub(super) const TOO_MANY: &str = "the site has refused as many passwords of this account as are remembered (hint: run `gleaner login --again` with \
                        the right one)";

impl Tries {
    /// Why there may be no login with this password now; None where there may.
    #[must_use]
    pub fn hold(&self, user: &str, password: &Secret, now: UnixMillis) -> Option<Hold> {
        let for_operator = self.held_for_operator(user, password, now).map(Hold::Operator);
        for_operator.or_else(|| self.held_for_rest(now)).or_else(|| self.held_for_wait(user, password, now))
    }

    /// Why these are not sent until their operator has done something.
    fn held_for_operator(&self, user: &str, password: &Secret, now: UnixMillis) -> Option<String> {
        let marks = self.marks(user, password);
        if let Some(verdict) = self.answers.refusal(marks) {
            // Where another one was tried since, how that ended is no reason here.
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

    /// True where no more can be remembered, and these are not known.
    fn is_full(&self, marks: [u32; 2]) -> bool {
        !self.accepted.is_of(marks) && self.answers.is_full_for(marks)
    }

    /// The site has had as many logins as it gets for now.
    fn held_for_rest(&self, now: UnixMillis) -> Option<Hold> {
        let resting = is_ahead(self.waits.resting, now);
        let resting = resting.map(|until| (until, "each of the last sessions ended soon after its login".to_owned()));
        let many = || Some((self.accepted.full_until(now)?, format!("{LOGINS_PER_HOUR_MAX} logins within an hour")));
        resting.or_else(many).map(|(until, why)| Hold::Until(until, why))
    }

    /// Until when a crawl waits, and who does not.
    fn held_for_wait(&self, user: &str, password: &Secret, now: UnixMillis) -> Option<Hold> {
        let marks = self.marks(user, password);
        self.waits_until(marks, now).map(|until| {
            // What makes it wait for hours is how it was answered, whatever was tried since.
            let further = self.further_at(marks, now).and(self.answers.sent_with(marks));
            let further = further.map(|(of, _)| of.sentence().to_owned());
            let has_hint_of_held =
                further.is_some() || self.outcome.last.is_none_or(|of| again(of, true).is_for_let_in());
            let last = further.or_else(|| self.trouble());
            let mut last = last.unwrap_or_else(|| "the last login did not get to its end".to_owned());
            if let Some(at) = last.find(" (hint: ").filter(|_| has_hint_of_held) {
                last.truncate(at);
            }
            if self.asked_until(now).is_some() && self.outcome.was_in_trouble {
                Verdict::RateLimited.sentence().clone_into(&mut last);
            }
            // As it is told, to the second.
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
                    "a guess of ours: the site asks to wait, and tells no time; `gleaner login --again` does not wait"
                        .to_owned()
                }
                (None, None) if self.hold_by_hand(user, password, now).is_some() => {
                    "a guess of ours, for which `gleaner login --again` does not wait".to_owned()
                }
                (None, None) => "a guess of ours, for which `gleaner login` does not wait".to_owned(),
            };
            Hold::Until(until, format!("{last} (no new try before {}; {by_hand})", until.rfc3339()))
        })
    }

    /// Before when a crawl sends no form with these.
    fn waits_until(&self, marks: [u32; 2], now: UnixMillis) -> Option<UnixMillis> {
        let until = match self.waits.only_for {
            // What was answered to another password makes this one wait where the site has asked for it.
            Some(of) if !marks.contains(&of) => self.asked_until(now).max(self.guessed_until(now)),
            _ => self.not_before(now),
        };
        until.max(self.further_at(marks, now))
    }

    /// Why there may be no login by hand with this password now; None where there may.
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
            // What asks for one before anything was sent may be asked again.
            Verdict::Captcha if !self.is_of_table => captcha(),
            _ => None,
        };
        let sent = || {
            // Files of before what was sent was remembered hold it alone.
            let of_form = if self.is_of_table { &self.by_forms } else { &self.outcome };
            let of_form = of_form.held_with(marks).map(|verdict| (verdict, !self.outcome.was_in_trouble));
            let (verdict, was_answered) = self.answers.sent_with(marks).or(of_form).filter(|_| !is_freed)?;
            match again(verdict, was_answered).by_hand {
                OfHand::No => Some(ByHand::Sent(verdict)),
                OfHand::IfLetIn if was_let_in => {
                    // What asks for patience again is waited for as long as crawls wait.
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
        // To wait once more is no way out of it.
        let limited = || sent().filter(|of| *of == ByHand::Sent(Verdict::LimitedAgain));
        // Whichever is longer is what a crawl waits for as well.
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

    /// Told where the site asks for patience time and again: the operator may know why, and not before when.
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

/// Why what was sent so is not sent again, and what to do.
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
        // What is held all the same was never let in, or has had its one more try.
        OfHand::IfLetIn | OfHand::OnceInteractive | OfHand::Yes => verdict.sentence().to_owned(),
    }
}

/// Of what may have been refused in words that are not known.
fn told_of_page(sentence: &str) -> String {
    format!(
        "{sentence}, and the same is not sent again (hint: see with a browser that the user and the password are right, then name a \
         page that only members see as `probe` in [login] and run `gleaner login`, or run `gleaner login --again`)"
    )
}

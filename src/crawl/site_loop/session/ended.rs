//! Consequences of a finished proof or login: visits begin, the next login is due, or the site is
//! left alone.

use super::{OF_LOGIN, Pause, Session, SessionPhase, SiteLoop};
use crate::CrawlError;
use crate::account::in_one_line;
use crate::limits;
use crate::login::pace::Pace;
use crate::login::{Proof, Report};
use crate::site_loop::asking::{SessionOutcome, Unproven};
use gleaner_base::clock::UnixMillis;
use gleaner_login::tries::Hold;
use gleaner_login::verdict::Verdict;

impl SiteLoop {
    pub(in crate::site_loop) async fn session_asked(
        &mut self,
        index: usize,
        mut pace: Pace,
        asked: SessionOutcome,
    ) -> Result<(), CrawlError> {
        self.budgets.count(pace.sent()).await?;
        if let Some((slot, answered)) = pace.end(self.hosts[index].faces()[0].name()) {
            self.hosts.answered(index, 0, slot, answered, OF_LOGIN).await?;
        }
        for (name, block) in pace.take_pauses() {
            if let Some(index) = self.hosts.named(&name) {
                self.hosts.pauses(index, 0, block, OF_LOGIN).await?;
            }
        }
        let now = self.site.clock.now();
        // The rules, the run or the end of the crawl hold every request back, and report for how long.
        let is_held_back = *self.shared.stop.borrow() || self.budgets.held_until(now).is_some();
        let is_in = |report: &Report| report.judged.verdict == Verdict::LoggedIn;
        match asked {
            SessionOutcome::Proof(Proof { holds: Some(true), .. }) => self.session_holds(now).await,
            SessionOutcome::Proof(Proof { holds: Some(false), .. }) => self.session_has_ended(now).await,
            SessionOutcome::Proof(Proof { holds: None, .. }) if is_held_back => {
                self.session.enter(SessionPhase::Doubted { log_in: false });
                Ok(())
            }
            SessionOutcome::Proof(Proof { holds: None, .. }) => self.proof_is_missing(index, now).await,
            SessionOutcome::Login(Ok(report)) if report.came_to_nothing() && (is_held_back || !is_in(&report)) => {
                self.session.unproven = if report.was_sent { Unproven::Sent } else { Unproven::None };
                if is_held_back {
                    self.session.enter(SessionPhase::Doubted { log_in: !report.was_sent });
                    return Ok(());
                }
                // A single time is reported: no request to the host before it.
                let host_until = self.hosts.blocked_until(index, now);
                self.pause(self.session.login_came_to_nothing(&report, host_until, now)).await
            }
            SessionOutcome::Login(Ok(report)) if is_in(&report) => {
                self.session.logged_in(&report, now);
                self.session.keep_proof(now).await
            }
            SessionOutcome::Login(Ok(report)) => self.pause(self.session.not_logged_in(&report, now)).await,
            SessionOutcome::Login(Err(Hold::Until(until, why))) => {
                // An earlier crawl stored more about it than the account's attempts contain.
                let why = self.session.why_until_then(until).await?.unwrap_or(why);
                self.pause(Pause::until(until, why)).await
            }
            SessionOutcome::Login(Err(Hold::Operator(why))) => self.pause(Pause::for_operator(now, why)).await,
        }
    }

    /// A page has proven the session: visits that were denied are final, except those of the previous session.
    async fn session_holds(&mut self, now: UnixMillis) -> Result<(), CrawlError> {
        let was_unproven = self.session.holds(now);
        for finished in self.session.take_held() {
            self.session.outlived(&finished.visit.key);
            match finished.host.session < self.session.generation {
                true => self.ask_again(Box::new(finished)).await?,
                false => self.go_on(Box::new(finished)).await?,
            }
        }
        self.session.keep_proof(now).await?;
        if was_unproven {
            // Only after the session is stored: if the process is killed here, nothing is lost.
            self.session.login_turned_out(true, now);
        } else if self.session.unproven == Unproven::Unasked {
            // A process that was killed there has left it.
            self.session.unproven = Unproven::None;
            self.session.nothing_is_to_be_proven();
        }
        Ok(())
    }

    /// A page has shown that there is no session: a login is due.
    async fn session_has_ended(&mut self, now: UnixMillis) -> Result<(), CrawlError> {
        if let Some(pause) = self.session.has_not_begun(now) {
            return self.pause(pause).await;
        }
        let evidence = self.session.held.first().and_then(|finished| finished.end.denied.clone());
        tracing::info!(site = %self.site.rules.name, evidence, "the session has ended");
        self.bury().await?;
        match self.session.rest_after_short_ones(now) {
            Some(pause) => self.pause(pause).await,
            None => {
                self.session.enter(SessionPhase::Doubted { log_in: true });
                Ok(())
            }
        }
    }

    /// It is unknown whether the session holds.
    async fn proof_is_missing(&mut self, index: usize, now: UnixMillis) -> Result<(), CrawlError> {
        // While its host pauses, the delay grows by itself.
        let host_until = self.hosts.blocked_until(index, now);
        self.session.proofs_missed += u32::from(host_until <= now);
        let (why, until) = self.session.proof_missed(now);
        // A mirror would be used for other requests: the first host's pause is a better reason than the page.
        if host_until > until && self.hosts[index].faces().len() > 1 {
            return self.wait_for_first_host(index).await;
        }
        self.pause(Pause::until(until.max(host_until), why)).await
    }
}

impl Session {
    /// A page has proven it. True if that shows how the last login has ended.
    fn holds(&mut self, now: UnixMillis) -> bool {
        let was_unproven = self.awaits_proof();
        self.proofs_missed = 0;
        if was_unproven {
            self.unproven = Unproven::None;
            self.begins(now);
        }
        tracing::debug!(site = %self.site.rules.name, denied = self.held.len(), "the session holds");
        (self.proven, self.has_ended) = (now, false);
        self.enter(SessionPhase::Good);
        was_unproven
    }

    fn logged_in(&mut self, report: &Report, now: UnixMillis) {
        let (chosen, evidence) = (report.chosen.join("; "), report.judged.evidence.join("; "));
        tracing::info!(site = %self.site.rules.name, chosen, evidence, "logged in");
        self.begins(now);
        (self.proven, self.has_ended) = (now, false);
        self.enter(SessionPhase::Good);
    }

    /// Counts a session that begins now.
    fn begins(&mut self, now: UnixMillis) {
        self.generation += 1;
        (self.answers, self.began) = (0, now);
    }

    /// There is no session; returns the resulting pause if that shows how the last login has ended.
    fn has_not_begun(&mut self, now: UnixMillis) -> Option<Pause> {
        let was_unproven = self.awaits_proof();
        (self.proofs_missed, self.has_ended) = (0, true);
        if !was_unproven {
            return None;
        }
        self.unproven = Unproven::None;
        let why = self.login_turned_out(false, now)?;
        Some(match self.hold_of_tries(now) {
            // Accepted credentials get one more attempt.
            Some(Hold::Until(until, why)) => Pause::until(until, why),
            _ => Pause::for_operator(now, why),
        })
    }

    /// The pause after several sessions in a row that ended soon.
    fn rest_after_short_ones(&mut self, now: UnixMillis) -> Option<Pause> {
        if self.short_ones < limits::SHORT_SESSIONS_MAX {
            return None;
        }
        self.short_ones = 0;
        let answers = limits::SESSION_ANSWERS_MIN;
        let until = now.plus(limits::SHORT_SESSION_WAIT);
        self.keep_rest(until);
        Some(Pause::until(until, format!("each of the last sessions ended within {answers} answers of its login")))
    }

    /// The pause after a login that was held back, or not answered; no shorter than its host's.
    fn login_came_to_nothing(&self, report: &Report, host_until: UnixMillis, now: UnixMillis) -> Pause {
        let until = match self.hold_of_tries(now) {
            Some(Hold::Until(until, _)) if !report.was_sent => until,
            _ => now.plus(limits::OPERATOR_POLL),
        };
        Pause::until(until.max(host_until), report.judged.evidence.join("; "))
    }

    /// The pause after a failed login. The account's attempts decide whether and when it may be repeated; they also supply the
    /// instructions, unless it was the first that ended this way.
    fn not_logged_in(&self, report: &Report, now: UnixMillis) -> Pause {
        let (chosen, evidence) = (report.chosen.join("; "), report.judged.evidence.join("; "));
        let verdict = report.judged.verdict;
        tracing::info!(site = %self.site.rules.name, chosen, ?verdict, "not logged in");
        let why = format!("{} ({evidence})", report.sentence());
        let is_counted = matches!(
            verdict,
            Verdict::RateLimited | Verdict::LimitedAgain | Verdict::Unknown | Verdict::SiteTrouble | Verdict::Locked
        );
        let is_told_by_tries = matches!(verdict, Verdict::SiteTrouble | Verdict::NotLookedAt | Verdict::LimitedAgain)
            || verdict == Verdict::Unknown && report.was_answered;
        match self.hold_of_tries(now) {
            Some(Hold::Until(until, told)) if is_told_by_tries => Pause::until(until, format!("{told} ({evidence})")),
            Some(Hold::Until(until, _)) if report.has_guessed_wait() => Pause::until(
                until,
                format!(
                    "{why} (no new try before {}; an estimate: the site asks to wait, and gives no time)",
                    until.rfc3339()
                ),
            ),
            Some(Hold::Until(until, _)) => Pause::until(until, why),
            Some(Hold::Operator(told)) if is_counted => Pause::for_operator(now, format!("{told} ({evidence})")),
            _ => Pause::for_operator(now, why),
        }
    }

    /// Stores the pause after short sessions for the next process.
    fn keep_rest(&self, until: UnixMillis) {
        let Some(account) = &self.site.account else { return };
        let kept = account.keeper.tries().and_then(|mut tries| {
            tries.rest(until);
            account.keeper.keep_tries(&tries)
        });
        if let Err(error) = kept {
            let error = in_one_line(&error);
            tracing::warn!(site = %self.site.rules.name, error, "the wait that the site asks for cannot be stored");
        }
    }

    /// A stored session is a member's: the result of an earlier process's login no longer matters.
    fn nothing_is_to_be_proven(&self) {
        let Some(account) = &self.site.account else { return };
        let keeper = &account.keeper;
        let written = keeper.tries().and_then(|mut tries| match tries.forget_unproven() {
            true => keeper.keep_tries(&tries).and_then(|()| keeper.forget_unproven()),
            false => Ok(()),
        });
        if let Err(error) = written {
            let error = in_one_line(&error);
            tracing::warn!(site = %self.site.rules.name, error, "an unproven login cannot be discarded");
        }
    }

    /// Records how a login ended that could not be proven at once; returns why there is no session if its operator
    /// has to act. A form whose result was unknown for so long that its session may have expired counts as an aborted attempt,
    /// as the next login will find.
    fn login_turned_out(&self, holds: bool, now: UnixMillis) -> Option<String> {
        let (account, rules) = (self.site.account.as_ref()?, self.site.rules.login.as_ref()?);
        let keeper = &account.keeper;
        let written = keeper.password().and_then(|password| {
            let mut tries = keeper.tries()?;
            let verdict = tries.proof_came(holds, &rules.user, &password, now);
            keeper.keep_tries(&tries)?;
            // The stored session has replaced it.
            keeper.forget_unproven()?;
            Ok(verdict)
        });
        let verdict = written.unwrap_or_else(|error| {
            let error = in_one_line(&error);
            tracing::error!(site = %self.site.rules.name, error, "the result of the login cannot be stored");
            (!holds).then_some(Verdict::Unknown)
        });
        verdict.filter(|verdict| *verdict != Verdict::LoggedIn).map(|verdict| verdict.sentence().to_owned())
    }
}

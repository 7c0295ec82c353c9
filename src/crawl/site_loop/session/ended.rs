//! What follows from a proof of the session, or a login, that has ended: visits begin, the next login is due, or the site is
//! left alone.

use super::{OF_LOGIN, Pause, Session, SiteLoop, State};
use crate::CrawlError;
use crate::account::in_one_line;
use crate::limits;
use crate::login::pace::Pace;
use crate::login::{Proof, Report};
use crate::site_loop::asking::{Asked, Unproven};
use gleaner_base::clock::UnixMillis;
use gleaner_login::tries::Hold;
use gleaner_login::verdict::Verdict;

impl SiteLoop {
    pub(in crate::site_loop) async fn session_asked(
        &mut self,
        index: usize,
        mut pace: Pace,
        asked: Asked,
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
        // What the rules, the run or the end of the crawl say keeps every request back: they tell for how long.
        let is_held_back = *self.shared.stop.borrow() || self.budgets.held_until(now).is_some();
        let is_in = |report: &Report| report.judged.verdict == Verdict::LoggedIn;
        match asked {
            Asked::Proof(Proof { holds: Some(true), .. }) => self.session_holds(now).await,
            Asked::Proof(Proof { holds: Some(false), .. }) => self.session_has_ended(now).await,
            Asked::Proof(Proof { holds: None, .. }) if is_held_back => {
                self.session.enter(State::Doubted { log_in: false });
                Ok(())
            }
            Asked::Proof(Proof { holds: None, .. }) => self.proof_is_missing(index, now).await,
            Asked::Login(Ok(report)) if report.came_to_nothing() && (is_held_back || !is_in(&report)) => {
                self.session.unproven = if report.was_sent { Unproven::Sent } else { Unproven::None };
                if is_held_back {
                    self.session.enter(State::Doubted { log_in: !report.was_sent });
                    return Ok(());
                }
                // One time is told: nothing is asked of the host before it.
                let host_until = self.hosts.blocked_until(index, now);
                self.pause(self.session.login_came_to_nothing(&report, host_until, now)).await
            }
            Asked::Login(Ok(report)) if is_in(&report) => {
                self.session.logged_in(&report, now);
                self.session.keep_proof(now).await
            }
            Asked::Login(Ok(report)) => self.pause(self.session.not_logged_in(&report, now)).await,
            Asked::Login(Err(Hold::Until(until, why))) => {
                // An earlier crawl knew more of it than the account's tries keep.
                let why = self.session.why_until_then(until).await?.unwrap_or(why);
                self.pause(Pause::until(until, why)).await
            }
            Asked::Login(Err(Hold::Operator(why))) => self.pause(Pause::for_operator(now, why)).await,
        }
    }

    /// A page has proven the session: visits that were denied meant what they said, but for those of the session before.
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
            // Once the session is kept: a process that is killed here has lost nothing.
            self.session.login_turned_out(true, now);
        } else if self.session.unproven == Unproven::Unasked {
            // A process that was killed there has left it.
            self.session.unproven = Unproven::None;
            self.session.nothing_is_to_be_proven();
        }
        Ok(())
    }

    /// A page has said that there is no session: a login is due.
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
                self.session.enter(State::Doubted { log_in: true });
                Ok(())
            }
        }
    }

    /// Nobody has said whether the session holds.
    async fn proof_is_missing(&mut self, index: usize, now: UnixMillis) -> Result<(), CrawlError> {
        // Where its host pauses, that grows by itself.
        let host_until = self.hosts.blocked_until(index, now);
        self.session.proofs_missed += u32::from(host_until <= now);
        let (why, until) = self.session.proof_missed(now);
        // A mirror that stands in would be asked otherwise: why it is not is worth more than the page.
        if host_until > until && self.hosts[index].faces().len() > 1 {
            return self.wait_for_first_host(index).await;
        }
        self.pause(Pause::until(until.max(host_until), why)).await
    }
}

impl Session {
    /// A page has proven it. True where that tells how the last login has ended.
    fn holds(&mut self, now: UnixMillis) -> bool {
        let was_unproven = self.awaits_proof();
        self.proofs_missed = 0;
        if was_unproven {
            self.unproven = Unproven::None;
            self.begins(now);
        }
        tracing::debug!(site = %self.site.rules.name, denied = self.held.len(), "the session holds");
        (self.proven, self.has_ended) = (now, false);
        self.enter(State::Good);
        was_unproven
    }

    fn logged_in(&mut self, report: &Report, now: UnixMillis) {
        let (chosen, evidence) = (report.chosen.join("; "), report.judged.evidence.join("; "));
        tracing::info!(site = %self.site.rules.name, chosen, evidence, "logged in");
        self.begins(now);
        (self.proven, self.has_ended) = (now, false);
        self.enter(State::Good);
    }

    /// Counts a session that begins now.
    fn begins(&mut self, now: UnixMillis) {
        self.generation += 1;
        (self.answers, self.began) = (0, now);
    }

    /// There is no session; the pause that follows where that tells how the last login has ended.
    fn has_not_begun(&mut self, now: UnixMillis) -> Option<Pause> {
        let was_unproven = self.awaits_proof();
        (self.proofs_missed, self.has_ended) = (0, true);
        if !was_unproven {
            return None;
        }
        self.unproven = Unproven::None;
        let why = self.login_turned_out(false, now)?;
        Some(match self.hold_of_tries(now) {
            // One more try is left to what was let in before.
            Some(Hold::Until(until, why)) => Pause::until(until, why),
            _ => Pause::for_operator(now, why),
        })
    }

    /// The rest that a site is left behind several sessions in a row that ended soon.
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

    /// The pause behind a login that was kept back, or not answered; no shorter than its host's.
    fn login_came_to_nothing(&self, report: &Report, host_until: UnixMillis, now: UnixMillis) -> Pause {
        let until = match self.hold_of_tries(now) {
            Some(Hold::Until(until, _)) if !report.was_sent => until,
            _ => now.plus(limits::OPERATOR_POLL),
        };
        Pause::until(until.max(host_until), report.judged.evidence.join("; "))
    }

    /// The pause behind a login that has failed. Whether it may be tried again, and when, the account's tries tell; what there is to do as
    /// well, where it was not the first that ended so.
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

    /// The rest behind short sessions is one for the next process, too.
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

    /// A session that is kept is a member's: whether an earlier process's login has let us in is no question any more.
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

    /// Writes down how a login ended that could not be proven at once; gives back why there is no session, where its operator
    /// is to do something. A form of which nothing is known for so long that its session may have ended is a try that has broken
    /// off, as the next login will find.
    fn login_turned_out(&self, holds: bool, now: UnixMillis) -> Option<String> {
        let (account, rules) = (self.site.account.as_ref()?, self.site.rules.login.as_ref()?);
        let keeper = &account.keeper;
        let written = keeper.password().and_then(|password| {
            let mut tries = keeper.tries()?;
            let verdict = tries.proof_came(holds, &rules.user, &password, now);
            keeper.keep_tries(&tries)?;
            // A session that is kept has taken its place.
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

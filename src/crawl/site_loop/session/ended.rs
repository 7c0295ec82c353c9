//! What follows from a proof of the session, or a login, that has ended: visits begin, the next login is due, or the site is
//! left alone.

use super::{OF_LOGIN, SiteLoop, State};
use crate::CrawlError;
use crate::account::in_one_line;
use crate::limits;
use crate::login::Proof;
use crate::login::pace::Pace;
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
        let site = self.site.rules.name.clone();
        self.round_pages += pace.sent();
        self.count_of_day(pace.sent()).await?;
        if let Some((slot, answered)) = pace.end(self.hosts[index].faces()[0].name()) {
            self.answered(index, 0, slot, answered, OF_LOGIN).await?;
        }
        for (name, block) in pace.take_pauses() {
            if let Some(index) = self.hosts.iter().position(|host| *host.faces()[0].name() == *name) {
                self.pauses(index, 0, block, OF_LOGIN).await?;
            }
        }
        let now = self.site.clock.now();
        let was_unproven = matches!(self.session.unproven, Unproven::Sent | Unproven::TakenUp);
        match asked {
            Asked::Proof(Proof { holds: Some(true), .. }) => {
                self.session.proofs_missed = 0;
                if was_unproven {
                    self.session.unproven = Unproven::None;
                    self.session.generation += 1;
                    (self.session.answers, self.session.began) = (0, now);
                }
                tracing::debug!(%site, denied = self.session.held.len(), "the session holds");
                (self.session.proven, self.session.has_ended) = (now, false);
                self.enter(State::Good);
                for finished in self.session.take_held() {
                    self.outlived(&finished.visit.key);
                    match finished.host.session < self.session.generation {
                        true => self.ask_again(Box::new(finished)).await?,
                        false => self.go_on(Box::new(finished)).await?,
                    }
                }
                self.keep_proof(now).await?;
                if was_unproven {
                    // Once the session is kept: a process that is killed here has lost nothing.
                    self.login_turned_out(true, now);
                } else if self.session.unproven == Unproven::Unasked {
                    // A process that was killed there has left it.
                    self.session.unproven = Unproven::None;
                    self.nothing_is_to_be_proven();
                }
                Ok(())
            }
            Asked::Proof(Proof { holds: Some(false), .. }) => {
                (self.session.proofs_missed, self.session.has_ended) = (0, true);
                if was_unproven {
                    self.session.unproven = Unproven::None;
                    if let Some(why) = self.login_turned_out(false, now) {
                        return match self.hold_of_tries(now) {
                            // One more try is left to what was let in before.
                            Some(Hold::Until(until, why)) => self.pause_until(until, why, false).await,
                            _ => self.pause_until(now, why, true).await,
                        };
                    }
                }
                let evidence = self.session.held.first().and_then(|finished| finished.end.denied.clone());
                tracing::info!(%site, evidence, "the session has ended");
                self.bury().await?;
                if self.session.short_ones >= limits::SHORT_SESSIONS_MAX {
                    self.session.short_ones = 0;
                    let answers = limits::SESSION_ANSWERS_MIN;
                    let why = format!("each of the last sessions ended within {answers} answers of its login");
                    let until = now.plus(limits::SHORT_SESSION_WAIT);
                    self.keep_rest(until);
                    return self.pause_until(until, why, false).await;
                }
                self.enter(State::Doubted { log_in: true });
                Ok(())
            }
            // Nothing was learned, and the rules, the run or the end of the crawl keep it back: they tell for how long.
            Asked::Proof(Proof { holds: None, .. }) if self.is_held_back(now) => {
                self.enter(State::Doubted { log_in: false });
                Ok(())
            }
            Asked::Login(Ok(report)) if report.came_to_nothing() && self.is_held_back(now) => {
                self.session.unproven = if report.was_sent { Unproven::Sent } else { Unproven::None };
                self.enter(State::Doubted { log_in: !report.was_sent });
                Ok(())
            }
            Asked::Proof(Proof { holds: None, .. }) => {
                // Where its host pauses, that grows by itself.
                let host_until = self.shared.hosts.blocked_until(self.hosts[index].faces()[0].name(), now);
                self.session.proofs_missed += u32::from(host_until <= now);
                let (why, until) = self.proof_missed(now);
                // A mirror that stands in would be asked otherwise: why it is not is worth more than the page.
                if host_until > until && self.hosts[index].faces().len() > 1 {
                    return self.wait_for_first_host(index).await;
                }
                self.pause_until(until.max(host_until), why, false).await
            }
            Asked::Login(Ok(report)) if report.judged.verdict == Verdict::LoggedIn => {
                let (chosen, evidence) = (report.chosen.join("; "), report.judged.evidence.join("; "));
                tracing::info!(%site, chosen, evidence, "logged in");
                self.session.generation += 1;
                (self.session.answers, self.session.began) = (0, now);
                (self.session.proven, self.session.has_ended) = (now, false);
                self.enter(State::Good);
                self.keep_proof(now).await
            }
            Asked::Login(Ok(report)) if report.came_to_nothing() => {
                self.session.unproven = if report.was_sent { Unproven::Sent } else { Unproven::None };
                let why = report.judged.evidence.join("; ");
                let until = match self.hold_of_tries(now) {
                    Some(Hold::Until(until, _)) if !report.was_sent => until,
                    _ => now.plus(limits::OPERATOR_POLL),
                };
                // One time is told: nothing is asked of the host before it.
                let host_until = self.shared.hosts.blocked_until(self.hosts[index].faces()[0].name(), now);
                self.pause_until(until.max(host_until), why, false).await
            }
            Asked::Login(Ok(report)) => {
                let (chosen, evidence) = (report.chosen.join("; "), report.judged.evidence.join("; "));
                tracing::info!(%site, chosen, verdict = ?report.judged.verdict, "not logged in");
                let why = format!("{} ({evidence})", report.sentence());
                // Whether it may be tried again, and when, the account's tries tell; what there is to do as well, where it
                // was not the first that ended so.
                let verdict = report.judged.verdict;
                let is_counted = matches!(
                    verdict,
                    Verdict::RateLimited
                        | Verdict::LimitedAgain
                        | Verdict::Unknown
                        | Verdict::SiteTrouble
                        | Verdict::Locked
                );
                match self.hold_of_tries(now) {
                    Some(Hold::Until(until, told))
                        if matches!(verdict, Verdict::SiteTrouble | Verdict::NotLookedAt | Verdict::LimitedAgain)
                            || verdict == Verdict::Unknown && report.was_answered =>
                    {
                        self.pause_until(until, format!("{told} ({evidence})"), false).await
                    }
                    Some(Hold::Until(until, _)) => {
                        let why = match report.has_guessed_wait() {
                            true => format!(
                                "{why} (no new try before {}; a guess of ours: the site asks to wait, and tells no time)",
                                until.rfc3339()
                            ),
                            false => why,
                        };
                        self.pause_until(until, why, false).await
                    }
                    Some(Hold::Operator(told)) if is_counted => {
                        self.pause_until(now, format!("{told} ({evidence})"), true).await
                    }
                    _ => self.pause_until(now, why, true).await,
                }
            }
            Asked::Login(Err(Hold::Until(until, why))) => {
                // An earlier crawl knew more of it than the account's tries keep.
                let why = self.why_until_then(until).await?.unwrap_or(why);
                self.pause_until(until, why, false).await
            }
            Asked::Login(Err(Hold::Operator(why))) => self.pause_until(now, why, true).await,
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
            tracing::warn!(site = %self.site.rules.name, error, "how long the site is left alone cannot be written down");
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
            tracing::warn!(site = %self.site.rules.name, error, "a login that was to be proven cannot be forgotten");
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
            tracing::error!(site = %self.site.rules.name, error, "how the login ended cannot be written down");
            (!holds).then_some(Verdict::Unknown)
        });
        verdict.filter(|verdict| *verdict != Verdict::LoggedIn).map(|verdict| verdict.sentence().to_owned())
    }
}

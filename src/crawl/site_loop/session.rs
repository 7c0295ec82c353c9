//! The session of the operator's account while its site is crawled: proven before the first visit, doubted when an answer
//! looks like one to a guest, renewed by one login for all who wait, and written down while it is good.
//!
//! A visit knows the generation of the session that it was sent with. A denied one waits here until a page has proven the
//! session or not: if it holds, the site meant what it said; if not, or if the visit was sent before the last login, the
//! URL is asked for again and loses no attempt. While the session is in doubt no visit begins, and the proof is asked for
//! once those under way have ended, so that a login never runs beside them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Ran, SiteLoop, visits};
use crate::clock::UnixMillis;
use crate::crawl::CrawlError;
use crate::crawl::account::Account;
use crate::crawl::host_work::HostWork;
use crate::crawl::login::pace::Pace;
use crate::crawl::login::{self, Means, Proof, Report};
use crate::crawl::site::Site;
use crate::crawl::visit::Finished;
use crate::crawldb::{Next, Outcome};
use crate::limits;
use crate::login::secret::Secret;
use crate::login::tries::{self, Hold};
use crate::login::verdict::Verdict;
use crate::politeness::{Answered, shifted};

/// What is known of a site's session.
pub(super) struct Session {
    state: State,
    /// Counts the logins of this process.
    generation: u64,
    /// When the session was last proven.
    proven: UnixMillis,
    /// When it began, if in this process.
    began: UnixMillis,
    /// Visits that were denied, until the session is proven or renewed.
    held: Vec<Finished>,
    /// Answers to a member since the last login.
    answers: u64,
    /// Sessions in a row that ended soon.
    short_ones: u32,
    /// URLs whose answer has ended, or may have ended, a session that was a short one.
    died_with: HashMap<u64, u8>,
    /// Changes of the cookies when they were last written down.
    kept_changes: u64,
    /// A form was taken, and no page could be asked since whether it let us in: the next proof tells how that login ended.
    unproven: bool,
    /// What the operator has done, as far as the cookies in hand follow it.
    stamp: u64,
    /// When it was last looked whether the operator has done something since.
    looked: UnixMillis,
}

enum State {
    /// Visits may begin.
    Good,
    /// Visits end, none begins; a proof is asked for next, or a login where that failed.
    Doubted { log_in: bool },
    /// One of the two is under way.
    Asking,
    /// The site is left alone until then, or until the operator has done something; nothing else ends it where
    /// `needs_operator`.
    Paused { until: UnixMillis, why: String, needs_operator: bool },
}

/// How a proof or a login ended.
pub(super) enum Asked {
    Proof(Proof),
    /// Also when nothing was sent, because earlier logins forbid it.
    Login(Result<Box<Report>, Hold>),
}

impl Session {
    pub(super) fn new(account: Option<&Account>) -> Self {
        // What was kept may have ended meanwhile; without a cookie there is nothing to prove.
        let state = match account {
            None => State::Good,
            Some(account) => State::Doubted { log_in: account.jar.is_empty() },
        };
        Self {
            state,
            generation: 0,
            proven: UnixMillis(0),
            began: UnixMillis(0),
            held: Vec::new(),
            answers: 0,
            short_ones: 0,
            died_with: HashMap::new(),
            kept_changes: account.map_or(0, |account| account.jar.changes()),
            unproven: false,
            stamp: account.map_or(0, |account| account.keeper.stamp()),
            looked: UnixMillis(0),
        }
    }

    /// The number of the session that a visit is sent with.
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    /// True where visits may begin.
    pub(super) fn is_good(&self) -> bool {
        matches!(self.state, State::Good)
    }

    /// Until when the site is left alone, why, and whether the operator has to do something.
    pub(super) fn pause(&self) -> Option<(UnixMillis, &str, bool)> {
        match &self.state {
            State::Paused { until, why, needs_operator } => Some((*until, why, *needs_operator)),
            _ => None,
        }
    }

    /// When something has to be done if nothing happens.
    pub(super) fn wake_at(&self) -> Option<UnixMillis> {
        match &self.state {
            State::Paused { until, needs_operator, .. } => {
                let look = self.looked.plus(limits::OPERATOR_POLL);
                Some(if *needs_operator { look } else { look.min(*until) })
            }
            State::Good if !self.held.is_empty() => Some(self.proven.plus(limits::SESSION_TRUST_TIME)),
            _ => None,
        }
    }

    /// What it keeps of times moves with a clock that was set.
    pub(super) fn shift(&mut self, by_ms: i64) {
        let until = match &mut self.state {
            State::Paused { until, .. } => Some(until),
            _ => None,
        };
        for time in [&mut self.proven, &mut self.began, &mut self.looked].into_iter().chain(until) {
            *time = shifted(*time, by_ms);
        }
    }

    /// What was held will not be proven any more: the cookies may be a guest's by now.
    pub(super) fn doubt(&mut self) {
        if !self.held.is_empty() {
            self.state = State::Doubted { log_in: false };
        }
    }

    /// Visits that wait for a proof.
    pub(super) fn take_held(&mut self) -> Vec<Finished> {
        std::mem::take(&mut self.held)
    }
}

impl SiteLoop {
    /// Looks after the session: asks for a proof or logs in where it is in doubt, and looks whether the operator has done
    /// something where it waits for that. `is_idle` where nothing else is left to do.
    pub(super) async fn tend_session(&mut self, now: UnixMillis) -> Result<(), CrawlError> {
        let Some(account) = self.site.account.clone() else { return Ok(()) };
        match &self.session.state {
            State::Good => {
                let trusted_until = self.session.proven.plus(limits::SESSION_TRUST_TIME);
                let held = self.session.held.len();
                let has_work = |host: &HostWork| !host.lanes.is_empty() || host.lease_at.is_some_and(|at| at <= now);
                let is_idle = self.running_keys.is_empty() && !self.hosts.iter().any(has_work);
                if held >= limits::DENIALS_HELD_MAX || held > 0 && (is_idle || now >= trusted_until) {
                    self.session.state = State::Doubted { log_in: false };
                }
            }
            State::Paused { until, needs_operator, .. } => {
                let is_over = !needs_operator && now >= *until;
                let was_looked_at = now.since(self.session.looked) < limits::OPERATOR_POLL;
                if !is_over && was_looked_at {
                    return Ok(());
                }
                self.session.looked = now;
                if !is_over && account.keeper.stamp() == self.session.stamp {
                    return Ok(());
                }
                self.session.state = State::Doubted { log_in: account.jar.is_empty() };
            }
            State::Doubted { .. } | State::Asking => {}
        }
        // A robots.txt that is under way may bring cookies, too.
        let is_alone = self.running_keys.is_empty() && !self.hosts.iter().any(HostWork::asks_for_robots);
        if let (State::Doubted { log_in }, true) = (&self.session.state, is_alone) {
            let mut log_in = *log_in;
            let stamp = account.keeper.stamp();
            if stamp != self.session.stamp {
                // The operator's session, or another password: what there is now is proven first.
                self.session.stamp = stamp;
                self.session.unproven = false;
                // What was denied to the one before says nothing of this one.
                self.session.generation += 1;
                account.jar.clear();
                if let Err(error) = account.keeper.take_up(&account.jar) {
                    return self.pause_until(now, error, true).await;
                }
                log_in = account.jar.is_empty();
                self.session.state = State::Doubted { log_in };
            }
            self.ask_for_session(account, now, log_in).await?;
        }
        Ok(())
    }

    /// Why a crawl that is to end does not wait for a session any longer.
    pub(super) fn session_is_out_of_reach(&self, now: UnixMillis) -> Option<String> {
        let (until, why, needs_operator) = self.session.pause().filter(|_| !self.options.keep_looking)?;
        (needs_operator || until.since(now) > limits::SESSION_PATIENCE).then(|| why.to_owned())
    }

    /// Begins a proof or a login, through the gate of the site's first host, once its robots.txt has told its delay.
    async fn ask_for_session(&mut self, account: Account, now: UnixMillis, log_in: bool) -> Result<(), CrawlError> {
        let primary = self.site.rules.primary();
        let Some(index) = self.hosts.iter().position(|host| host.origin() == primary) else { return Ok(()) };
        if let Some(held) = self.held_until(now) {
            self.hold(index, held);
            return Ok(());
        }
        self.choose_face(index).await?;
        if self.hosts[index].active() != 0 {
            return self.wait_for_first_host(index).await;
        }
        if self.hosts[index].face().robots_in_force(now).is_none() {
            self.ask_robots(index, now);
            return Ok(());
        }
        let keys = Arc::clone(&self.hosts[index].face().keys);
        let Some((slot, permit)) = self.through_gate(index, &keys) else { return Ok(()) };
        let known = self.hosts.iter().map(|host| &host.faces()[0]);
        let known = known.map(|face| (Arc::clone(&face.keys), face.policy(&self.site.rules))).collect();
        let policy = self.hosts[index].face().policy(&self.site.rules);
        let (hosts, requests) = (self.shared.hosts.clone(), Arc::clone(&self.shared.requests));
        let clock = Arc::clone(&self.site.clock);
        let mut pace = Box::new(Pace::new(hosts, requests, clock, known, (keys, policy, slot, permit)));
        self.session.state = State::Asking;
        let site = Arc::clone(&self.site);
        self.running.push(Box::pin(async move {
            let asked = match log_in {
                true => log_in_once(&site, &account, now, &mut pace).await,
                false => prove(&site, &account, &mut pace).await,
            };
            Ok(Ran::Session { host: index, pace, asked })
        }));
        Ok(())
    }

    /// A session is the first host's, and the password goes to no mirror, which may be anybody's: while one stands in,
    /// nothing proves the session or renews it.
    async fn wait_for_first_host(&mut self, index: usize) -> Result<(), CrawlError> {
        let now = self.site.clock.now();
        let first = &self.hosts[index].faces()[0];
        let until = self.shared.hosts.blocked_until(first.name(), now);
        let reason = first.block.as_ref().map_or("it asked for this pause earlier", |(_, reason)| reason);
        let why = format!(
            "{} pauses ({reason}), and its session is its own: no mirror is sent the password or the cookies",
            first.name()
        );
        self.pause_until(until, why, false).await
    }

    pub(super) async fn session_asked(&mut self, index: usize, pace: Pace, asked: Asked) -> Result<(), CrawlError> {
        let site = self.site.rules.name.clone();
        let (answered, requests) = match &asked {
            Asked::Proof(proof) => (proof.trouble.filter(|_| proof.holds.is_none()), proof.requests),
            Asked::Login(Ok(report)) => (report.trouble, report.requests),
            Asked::Login(Err(_)) => (None, 0),
        };
        self.shared.pages.fetch_add(requests, Ordering::Relaxed);
        self.round_pages += requests;
        self.day_pages += requests;
        let answered = answered.unwrap_or(Answered::Reached);
        if let Some(slot) = pace.end(self.hosts[index].faces()[0].name(), answered) {
            self.answered(index, 0, slot, answered, "the site's login").await?;
        }
        let now = self.site.clock.now();
        if let Asked::Proof(Proof { holds: Some(holds), .. }) = &asked
            && std::mem::take(&mut self.session.unproven)
        {
            let verdict = if *holds { Verdict::LoggedIn } else { Verdict::Unknown };
            if let Some(why) = self.login_turned_out(verdict, now) {
                return self.pause_until(now, why, true).await;
            }
            self.session.generation += 1;
            (self.session.answers, self.session.began) = (0, now);
        }
        match asked {
            Asked::Proof(Proof { holds: Some(true), .. }) => {
                tracing::debug!(%site, denied = self.session.held.len(), "the session holds");
                self.session.state = State::Good;
                self.session.proven = now;
                self.tell_pause();
                for finished in self.session.take_held() {
                    match finished.session < self.session.generation {
                        true => self.ask_again(Box::new(finished)).await?,
                        false => self.go_on(Box::new(finished)).await?,
                    }
                }
                Ok(())
            }
            Asked::Proof(Proof { holds: Some(false), .. }) => {
                let evidence = self.session.held.first().and_then(|finished| finished.denied.clone());
                tracing::info!(%site, evidence, "the session has ended");
                self.bury().await?;
                if self.session.short_ones >= limits::SHORT_SESSIONS_MAX {
                    self.session.short_ones = 0;
                    let answers = limits::SESSION_ANSWERS_MIN;
                    let why = format!("each of the last sessions ended within {answers} answers of its login");
                    return self.pause_until(now.plus(limits::SHORT_SESSION_WAIT), why, false).await;
                }
                self.session.state = State::Doubted { log_in: true };
                Ok(())
            }
            Asked::Proof(Proof { holds: None, .. }) => {
                let why = "the page that proves the session did not come".to_owned();
                self.pause_until(now.plus(limits::OPERATOR_POLL), why, false).await
            }
            Asked::Login(Ok(report)) if report.judged.verdict == Verdict::LoggedIn => {
                tracing::info!(%site, evidence = report.judged.evidence.join("; "), "logged in");
                self.session.generation += 1;
                (self.session.answers, self.session.began) = (0, now);
                self.session.state = State::Good;
                self.session.proven = now;
                self.tell_pause();
                self.keep_session().await
            }
            Asked::Login(Ok(report)) if report.trouble.is_some() && (!report.was_sent || report.is_unproven()) => {
                self.session.unproven = report.was_sent;
                let why = report.judged.evidence.join("; ");
                self.pause_until(now.plus(limits::OPERATOR_POLL), why, false).await
            }
            Asked::Login(Ok(report)) => {
                for step in &report.steps {
                    tracing::info!(%site, step, "login");
                }
                let evidence = report.judged.evidence.join("; ");
                let why = format!("{} ({evidence})", report.sentence());
                // Whether it may be tried again, and when, the account's tries tell at the next look.
                match self.hold_of_tries(now) {
                    Some(Hold::Until(until, _)) => self.pause_until(until, why, false).await,
                    _ => self.pause_until(now, why, true).await,
                }
            }
            Asked::Login(Err(Hold::Until(until, why))) => self.pause_until(until, why, false).await,
            Asked::Login(Err(Hold::Operator(why))) => self.pause_until(now, why, true).await,
        }
    }

    /// Writes down how a login ended that could not be proven at once; gives back why there is no session.
    fn login_turned_out(&self, verdict: Verdict, now: UnixMillis) -> Option<String> {
        let (account, rules) = (self.site.account.as_ref()?, self.site.rules.login.as_ref()?);
        let keeper = &account.keeper;
        let written = keeper.password().and_then(|password| {
            let mut tries = keeper.tries()?;
            let ended = tries::Ended { verdict, was_sent: true, was_answered: true };
            tries.ended(ended, &rules.user, &password, now);
            keeper.keep_tries(&tries)
        });
        if let Err(error) = written {
            tracing::error!(site = %self.site.rules.name, error, "how the login ended cannot be written down");
        }
        (verdict != Verdict::LoggedIn).then(|| verdict.sentence().to_owned())
    }

    fn hold_of_tries(&self, now: UnixMillis) -> Option<Hold> {
        let (account, rules) = (self.site.account.as_ref()?, self.site.rules.login.as_ref()?);
        let password = account.keeper.password().ok()?;
        account.keeper.tries().ok()?.hold(&rules.user, &password, now)
    }

    /// A visit that was answered like a guest's is held, or asked for again; gives back what is to go on. What a mirror
    /// says is no word of the site's own: the site waits for its first host, which knows the member. What a mirror lacks
    /// is asked for again in any case.
    pub(super) async fn mind_session(
        &mut self,
        index: usize,
        face: usize,
        finished: Box<Finished>,
    ) -> Result<Option<Box<Finished>>, CrawlError> {
        if self.site.account.is_none() {
            return Ok(Some(finished));
        }
        let is_lacking = face != 0 && matches!(finished.visit.outcome, Outcome::Gone | Outcome::ClientError);
        if finished.denied.is_none() || is_lacking {
            let is_good = finished.answered == Answered::Well && finished.visit.outcome.was_fetched();
            let is_members = face == 0 && finished.session == self.session.generation;
            self.session.answers += u64::from(is_good && is_members);
            return Ok(Some(finished));
        }
        if face != 0 {
            self.ask_again(finished).await?;
            self.choose_face(index).await?;
            if self.session.is_good() && self.hosts[index].active() != 0 {
                self.wait_for_first_host(index).await?;
            }
            return Ok(None);
        }
        if finished.session < self.session.generation {
            self.ask_again(finished).await?;
            return Ok(None);
        }
        self.session.held.push(*finished);
        Ok(None)
    }

    /// The session has ended: what it was denied for is asked for again, but for a URL that ended several sessions at once.
    async fn bury(&mut self) -> Result<(), CrawlError> {
        let (now, session) = (self.site.clock.now(), &mut self.session);
        let is_young = now.since(session.began) < limits::SHORT_SESSION_TIME;
        let is_short = is_young && session.answers < limits::SESSION_ANSWERS_MIN && session.generation > 0;
        session.short_ones = if is_short { session.short_ones + 1 } else { 0 };
        if !is_short || session.died_with.len() > limits::DENIALS_HELD_MAX {
            session.died_with.clear();
        }
        // Who among several has ended it, nobody knows.
        let is_alone = session.held.len() == 1;
        for mut finished in self.session.take_held() {
            let deaths = self.session.died_with.entry(visits::mark(&finished.visit.key)).or_default();
            *deaths = deaths.saturating_add(u8::from(is_short && is_alone));
            if *deaths >= 2 {
                finished.detail = Some("no session outlives it".to_owned());
                self.go_on(Box::new(finished)).await?;
            } else {
                self.ask_again(Box::new(finished)).await?;
            }
        }
        Ok(())
    }

    /// A guest's answer says nothing: its URL keeps its place and its attempts.
    async fn ask_again(&mut self, mut finished: Box<Finished>) -> Result<(), CrawlError> {
        let visit = &mut finished.visit;
        visit.outcome = Outcome::LoggedOut;
        visit.next = Next::WaitUntil(visit.at);
        (visit.torrent, visit.listing, visit.body_hash, visit.memo) = (None, None, None, None);
        visit.outlinks.clear();
        visit.magnets.clear();
        finished.torrent = None;
        finished.detail = finished.denied.take();
        self.lease_soon();
        self.send_visit(finished).await
    }

    /// Leaves the site alone until then, or until its operator has done something.
    async fn pause_until(&mut self, until: UnixMillis, why: String, needs_operator: bool) -> Result<(), CrawlError> {
        let site = &self.site.rules.name;
        tracing::warn!(%site, until = until.rfc3339(), needs_operator, why, "the site is left alone: no session");
        self.session.state = State::Paused { until, why, needs_operator };
        self.session.looked = self.site.clock.now();
        self.tell_pause();
        for finished in self.session.take_held() {
            self.ask_again(Box::new(finished)).await?;
        }
        Ok(())
    }

    fn tell_pause(&self) {
        let pause = self.session.pause();
        self.shared.progress.update(&self.site.rules.name, |progress| {
            progress.no_session = pause.map(|(until, why, needs_operator)| {
                let until = (!needs_operator).then_some(until);
                (until, why.to_owned())
            });
        });
    }

    /// Writes the session down where it has changed and nothing speaks against it.
    pub(super) async fn keep_session(&mut self) -> Result<(), CrawlError> {
        let Some(account) = &self.site.account else { return Ok(()) };
        let changes = account.jar.changes();
        if changes == self.session.kept_changes || !self.session.is_good() || !self.session.held.is_empty() {
            return Ok(());
        }
        let account = account.clone();
        if account.keeper.stamp() != self.session.stamp {
            // The operator's is the newer one: it is taken up before the next visit.
            self.session.state = State::Doubted { log_in: false };
            return Ok(());
        }
        let keeping = tokio::task::spawn_blocking(move || {
            let kept = account.keeper.keep(&account.jar);
            kept.map(|()| account.keeper.stamp())
        });
        let kept = keeping.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
        match kept {
            Ok(stamp) => (self.session.kept_changes, self.session.stamp) = (changes, stamp),
            Err(error) => {
                let site = &self.site.rules.name;
                tracing::error!(%site, error, "the session cannot be written down: the next start has to log in again");
            }
        }
        Ok(())
    }
}

async fn prove(site: &Site, account: &Account, pace: &mut Pace) -> Asked {
    let Some(rules) = &site.rules.login else { return NOTHING_TO_PROVE };
    let nothing = Secret::new("");
    let means = Means { rules, password: &nothing, jar: &account.jar };
    Asked::Proof(login::prove(site, means, Some(pace)).await)
}

/// A site whose rules have no login, which has no account either.
const NOTHING_TO_PROVE: Asked = Asked::Proof(Proof { holds: Some(true), trouble: None, requests: 0 });

/// One login, where earlier ones do not forbid it. The cookies of the session before are put back where it fails: what is
/// written down stays as it was.
async fn log_in_once(site: &Site, account: &Account, now: UnixMillis, pace: &mut Pace) -> Asked {
    let Some(rules) = &site.rules.login else { return NOTHING_TO_PROVE };
    let keeper = &account.keeper;
    let operator = |why: String| Asked::Login(Err(Hold::Operator(why)));
    // A file that cannot be read or written may be mended by anything: it is tried again before long.
    let faulty = |why: String| Asked::Login(Err(Hold::Until(now.plus(limits::KEEPER_RETRY), why)));
    let _turn = match keeper.turn() {
        Ok(Some(turn)) => turn,
        Ok(None) => {
            let why = "another process logs in to the site".to_owned();
            return Asked::Login(Err(Hold::Until(now.plus(limits::OPERATOR_POLL), why)));
        }
        Err(error) => return faulty(error),
    };
    let (password, mut tries) = match (keeper.password(), keeper.tries()) {
        (Ok(password), Ok(tries)) => (password, tries),
        (Err(error), _) => return operator(error),
        (_, Err(error)) => return faulty(error),
    };
    let broke_off = tries.broke_off(&rules.user, &password, now);
    let hold = tries.hold(&rules.user, &password, now);
    if hold.is_none() {
        tries.begin(&rules.user, &password);
    }
    // What cannot be written down may be forgotten, and then be tried once too often.
    if (broke_off || hold.is_none())
        && let Err(error) = keeper.keep_tries(&tries)
    {
        return faulty(error);
    }
    if let Some(hold) = hold {
        return Asked::Login(Err(hold));
    }
    let before = account.jar.to_bytes();
    account.jar.clear();
    let means = Means { rules, password: &password, jar: &account.jar };
    let report = login::log_in_paced(site, means, pace).await;
    if report.is_unproven() {
        // It has begun, and stays so until a page tells how it ended; it is not sent again for that.
        return Asked::Login(Ok(Box::new(report)));
    }
    let verdict = report.judged.verdict;
    if verdict != Verdict::LoggedIn {
        account.jar.clear();
        // It was a jar's own list a moment ago.
        let _ = account.jar.take_up(&before);
    }
    match report.trouble {
        Some(_) if !report.was_sent && verdict == Verdict::Unknown => tries.came_to_nothing(),
        _ => tries.ended(report.ended(), &rules.user, &password, site.clock.now()),
    }
    // That it began is written down: without its end the next start takes it for one that was killed.
    if let Err(error) = keeper.keep_tries(&tries) {
        tracing::error!(site = %site.rules.name, error, "how the login ended cannot be written down");
    }
    Asked::Login(Ok(Box::new(report)))
}

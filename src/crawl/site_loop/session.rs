//! The session of the operator's account while its site is crawled: proven before the first visit, doubted when a response
//! looks like a guest's, renewed by one login for all waiting visits, and stored while it is good.
//!
//! A visit knows the generation of the session that it was sent with. A denied one waits here until a page has proven the
//! session or not: if it holds, the denial is final; if not, or if the visit was sent before the last login, the
//! URL is requested again and loses no attempt. While the session is in doubt no visit begins, and the proof is requested
//! once those in flight have ended, so that a login never runs alongside them.

mod ended;
mod endings;
mod missing;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use self::endings::Endings;
pub use self::missing::{MissingSession, SESSION_NOTE};
use super::SiteLoop;
use super::asking::{Unproven, log_in_once, prove, take_up_unproven};
use super::under_way::Ran;
use crate::CrawlError;
use crate::account::{Account, in_one_line};
use crate::host_work::HostWork;
use crate::job::Finished;
use crate::limits;
use crate::login::pace::{Bounds, Pace};
use crate::progress::{Progress, SessionState};
use crate::site::Site;
use gleaner_base::clock::UnixMillis;
use gleaner_login::names::of_site;
use gleaner_login::tries::Hold;
use gleaner_net::fetch::session::Jar;
use gleaner_net::politeness::{Answered, shifted};
use gleaner_store::crawldb::{Next, Outcome};

/// What a host's pause was imposed for, if it was no visit.
const OF_LOGIN: &str = "the site's login";

/// How often a session that is proven repeatedly is stored without a change: a proof may come with each 16
/// responses.
const PROOF_KEPT_EVERY: Duration = Duration::from_secs(60);

/// State of a site's session.
pub(super) struct Session {
    site: Arc<Site>,
    progress: Progress,
    state: SessionPhase,
    /// Number of logins of this process.
    generation: u64,
    /// When the session was last proven.
    proven: UnixMillis,
    /// When it began, if in this process.
    began: UnixMillis,
    /// Visits that were denied, until the session is proven or renewed.
    held: Vec<Finished>,
    /// Responses to a member since the last login.
    answers: u64,
    /// Number of sessions in a row that ended soon.
    short_ones: u32,
    /// URLs whose response has ended, or may have ended, a session.
    endings: Endings,
    /// Number of cookie changes at the last storing, and when that was.
    kept_changes: u64,
    kept: UnixMillis,
    /// A form was accepted, and no page could be requested since to prove the login: the next proof shows how it ended.
    unproven: Unproven,
    /// Number of proofs in a row that a site in trouble did not answer.
    proofs_missed: u32,
    /// The operator's last change that the cookies in use reflect.
    stamp: u64,
    /// Time of the last check for a later change by the operator.
    looked: UnixMillis,
    /// True once the form of the current login was sent.
    form_left: Arc<AtomicBool>,
    /// True if there was no session to begin with, or the last one has ended without a successor.
    has_ended: bool,
}

enum SessionPhase {
    /// Visits may begin.
    Good,
    /// Visits end, none begins; a proof is requested next, or a login if that failed.
    Doubted { log_in: bool },
    /// One of the two is in progress.
    Asking { log_in: bool },
    /// The site is left alone.
    Paused(Pause),
}

/// The site is left alone until then, or until the operator has acted; only the latter ends it if `needs_operator`.
pub(super) struct Pause {
    pub(super) until: UnixMillis,
    pub(super) why: String,
    pub(super) needs_operator: bool,
}

impl Pause {
    pub(super) fn until(until: UnixMillis, why: impl Into<String>) -> Self {
        Self { until, why: why.into(), needs_operator: false }
    }

    pub(super) fn for_operator(now: UnixMillis, why: impl Into<String>) -> Self {
        Self { until: now, why: why.into(), needs_operator: true }
    }
}

/// The next step for a session in doubt.
enum Due {
    Proof,
    Login,
    Pause(Pause),
}

/// Decision on an answered visit.
enum Minded {
    GoesOn(Box<Finished>),
    Held,
    AskedAgain(Box<Finished>),
}

impl Session {
    pub(super) fn new(site: &Arc<Site>, progress: &Progress) -> Self {
        let account = site.account.as_ref();
        // The stored session may have expired meanwhile; without a cookie there is nothing to prove.
        let state = match account {
            None => SessionPhase::Good,
            Some(account) => SessionPhase::Doubted { log_in: account.jar.is_empty() },
        };
        Self {
            site: Arc::clone(site),
            progress: progress.clone(),
            state,
            generation: 0,
            proven: UnixMillis(0),
            began: UnixMillis(0),
            held: Vec::new(),
            answers: 0,
            short_ones: 0,
            endings: Endings::default(),
            kept_changes: account.map_or(0, |account| account.jar.changes()),
            kept: UnixMillis(0),
            unproven: Unproven::default(),
            proofs_missed: 0,
            stamp: account.map_or(0, |account| account.keeper.stamp()),
            looked: UnixMillis(0),
            form_left: Arc::default(),
            has_ended: account.is_none_or(|account| account.jar.is_empty()),
        }
    }

    /// The number of the session that a visit is sent with.
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    /// True while the form of a login, or its proof, is in flight.
    pub(super) fn has_form_under_way(&self) -> bool {
        matches!(self.state, SessionPhase::Asking { log_in: true }) && self.form_left.load(Ordering::Relaxed)
    }

    /// True if visits may begin.
    pub(super) fn is_good(&self) -> bool {
        matches!(self.state, SessionPhase::Good)
    }

    pub(super) fn paused(&self) -> Option<&Pause> {
        match &self.state {
            SessionPhase::Paused(pause) => Some(pause),
            _ => None,
        }
    }

    /// Its state for reports.
    fn told(&self) -> SessionState {
        match &self.state {
            SessionPhase::Good => SessionState::Good { proven: self.proven },
            SessionPhase::Doubted { .. } => SessionState::Due,
            SessionPhase::Asking { log_in: false } => SessionState::Proving,
            SessionPhase::Asking { log_in: true } => SessionState::LoggingIn,
            SessionPhase::Paused(Pause { until, why, needs_operator }) => {
                let until = (!needs_operator).then_some(*until);
                let next_look = Some(self.looked.plus(limits::OPERATOR_POLL));
                SessionState::Missing { until, why: why.clone(), next_look }
            }
        }
    }

    /// When something has to be done if no event occurs.
    pub(super) fn wake_at(&self) -> Option<UnixMillis> {
        match &self.state {
            SessionPhase::Paused(Pause { until, needs_operator, .. }) => {
                let look = self.looked.plus(limits::OPERATOR_POLL);
                Some(if *needs_operator { look } else { look.min(*until) })
            }
            SessionPhase::Good if !self.held.is_empty() => Some(self.proven.plus(limits::SESSION_TRUST_TIME)),
            _ => None,
        }
    }

    /// Moves all times after the clock was set.
    pub(super) fn shift(&mut self, by_ms: i64) {
        let until = match &mut self.state {
            SessionPhase::Paused(pause) => Some(&mut pause.until),
            _ => None,
        };
        let times = [&mut self.proven, &mut self.began, &mut self.looked, &mut self.kept];
        for time in times.into_iter().chain(until) {
            *time = shifted(*time, by_ms);
        }
    }

    /// Held visits will not be proven any more: the cookies may be a guest's by now.
    pub(super) fn doubt(&mut self) {
        if !self.held.is_empty() {
            self.state = SessionPhase::Doubted { log_in: false };
        }
    }

    /// Visits that wait for a proof.
    pub(super) fn take_held(&mut self) -> Vec<Finished> {
        std::mem::take(&mut self.held)
    }
    fn enter(&mut self, state: SessionPhase) {
        self.state = state;
        self.tell();
    }

    pub(super) fn tell(&self) {
        let told = self.site.account.is_some().then(|| self.told());
        self.progress.update(&self.site.rules.name, |progress| progress.session = told);
    }

    /// True if the next proof shows how a login has ended.
    fn awaits_proof(&self) -> bool {
        matches!(self.unproven, Unproven::Sent | Unproven::TakenUp)
    }

    /// Doubts a session for which visits were denied, and ends a pause that is over, or during which the operator has acted.
    /// `is_idle` if no visit is in flight or waiting.
    fn reconsider(&mut self, account: &Account, now: UnixMillis, is_idle: bool) {
        match &self.state {
            SessionPhase::Good => {
                let trusted_until = self.proven.plus(limits::SESSION_TRUST_TIME);
                let held = self.held.len();
                let is_time = is_idle || self.goes_alone() || now >= trusted_until;
                if held >= limits::DENIALS_HELD_MAX || held > 0 && is_time {
                    self.enter(SessionPhase::Doubted { log_in: false });
                }
            }
            SessionPhase::Paused(Pause { until, needs_operator, .. }) => {
                let is_over = !needs_operator && now >= *until;
                let was_looked_at = now.since(self.looked) < limits::OPERATOR_POLL;
                if !is_over && was_looked_at {
                    return;
                }
                // A login by hand without a proof yet also counts as an action of the operator.
                let has_login = || account.keeper.take_up_unproven(&Jar::default()).unwrap_or(false);
                let has_acted = account.keeper.stamp() != self.stamp || *needs_operator && has_login();
                self.looked = now;
                if !is_over && !has_acted {
                    return self.tell();
                }
                if !self.awaits_proof() {
                    // `gleaner login` may have left one meanwhile.
                    self.unproven = Unproven::Unasked;
                }
                self.enter(SessionPhase::Doubted { log_in: account.jar.is_empty() && !self.awaits_proof() });
            }
            SessionPhase::Doubted { .. } | SessionPhase::Asking { .. } => {}
        }
    }

    /// The next step for a session in doubt; None for one that is not.
    fn due(&mut self, account: &Account, now: UnixMillis) -> Option<Due> {
        let SessionPhase::Doubted { mut log_in } = self.state else { return None };
        let stamp = account.keeper.stamp();
        if stamp != self.stamp {
            // The operator's session, or another password: the current session is proven first.
            (self.stamp, self.unproven) = (stamp, Unproven::Unasked);
            // Denials of the previous session say nothing of this one.
            self.generation += 1;
            account.jar.clear();
            if let Err(error) = account.keeper.take_up(&account.jar) {
                return Some(Due::Pause(Pause::for_operator(now, error)));
            }
            log_in = account.jar.is_empty();
            self.has_ended = log_in;
            self.enter(SessionPhase::Doubted { log_in });
        }
        // The stored session was proven once, so it comes first; before a form is sent again, the last one's proof.
        if log_in && self.unproven == Unproven::Unasked {
            let is_taken_up = take_up_unproven(&self.site, account);
            self.unproven = if is_taken_up { Unproven::TakenUp } else { Unproven::None };
            log_in = !is_taken_up;
            self.enter(SessionPhase::Doubted { log_in });
        }
        if let Some((until, why)) = self.not_before(account, now) {
            // If no form could be sent then either, that is the reason.
            return Some(Due::Pause(match self.hold_of_tries(now).filter(|_| log_in) {
                Some(Hold::Operator(why)) => Pause::for_operator(now, why),
                _ => Pause::until(until, why),
            }));
        }
        Some(if log_in { Due::Login } else { Due::Proof })
    }

    /// Earliest time at which the site accepts the proof of a login that an earlier process has sent, or any request, if it
    /// has asked a login by hand to wait, which its host's pauses do not contain.
    fn not_before(&self, account: &Account, now: UnixMillis) -> Option<(UnixMillis, String)> {
        let tries = account.keeper.tries().ok()?;
        let proof = (self.unproven == Unproven::TakenUp).then(|| tries.not_before(now)).flatten();
        let (until, why) = match (proof, tries.asked_until(now)) {
            (Some(until), _) => (until, "the site asked to wait before the last login is proven"),
            (None, asked) => (asked?, "the site asked at the last login to wait"),
        };
        Some((until, format!("{why}, until {}", until.rfc3339())))
    }

    fn hold_of_tries(&self, now: UnixMillis) -> Option<Hold> {
        let (account, rules) = (self.site.account.as_ref()?, self.site.rules.login.as_ref()?);
        let password = account.keeper.password().ok()?;
        account.keeper.tries().ok()?.hold(&rules.user, &password, now)
    }

    /// A visit with a guest's response is held, or requested again. A mirror's response is no statement of the site. What a
    /// mirror lacks is requested again in any case.
    fn mind(&mut self, face: usize, finished: Box<Finished>) -> Minded {
        if self.site.account.is_none() {
            return Minded::GoesOn(finished);
        }
        let is_lacking = face != 0 && matches!(finished.visit.outcome, Outcome::Gone | Outcome::ClientError);
        if finished.end.denied.is_none() || is_lacking {
            let is_good = finished.host.answered == Answered::Well && finished.visit.outcome.was_fetched();
            let is_members = face == 0 && finished.host.session == self.generation;
            self.answers += u64::from(is_good && is_members);
            if is_members {
                self.outlived(&finished.visit.key);
            }
            return Minded::GoesOn(finished);
        }
        if face != 0 || finished.host.session < self.generation {
            return Minded::AskedAgain(finished);
        }
        self.held.push(*finished);
        Minded::Held
    }

    /// Leaves the site alone; returns the visits that were held.
    async fn pause(&mut self, pause: Pause) -> Result<Vec<Finished>, CrawlError> {
        let Pause { until, why, needs_operator } = pause;
        let site = self.site.rules.name.clone();
        let why = of_site(&why, &site);
        self.looked = self.site.clock.now();
        let told = self.site.account.as_ref().map_or_else(|| why.clone(), |account| account.keeper.told(&why));
        let (said, next_look) = (in_one_line(&told), self.looked.plus(limits::OPERATOR_POLL).rfc3339());
        match needs_operator {
            true => tracing::warn!(%site, why = said, next_look, "no session: the site waits for its operator"),
            false => {
                let next_try = until.rfc3339();
                tracing::warn!(%site, next_try, why = said, next_look, "no session: the site waits for the next try")
            }
        }
        // The next session is stored at once, so that the report of this pause does not outlive it.
        self.kept = UnixMillis(0);
        self.enter(SessionPhase::Paused(Pause { until, why, needs_operator }));
        self.keep_pause().await?;
        Ok(self.take_held())
    }

    /// The session was proven just now: it is stored, so that its file contains the time.
    async fn keep_proof(&mut self, now: UnixMillis) -> Result<(), CrawlError> {
        if now.since(self.kept) >= PROOF_KEPT_EVERY {
            // As if it had changed.
            self.kept_changes = u64::MAX;
        }
        self.keep().await
    }

    /// Stores the session if it has changed and is not in doubt.
    pub(super) async fn keep(&mut self) -> Result<(), CrawlError> {
        let Some(account) = &self.site.account else { return Ok(()) };
        let changes = account.jar.changes();
        if changes == self.kept_changes || !self.is_good() || !self.held.is_empty() {
            return Ok(());
        }
        let account = account.clone();
        if account.keeper.stamp() != self.stamp {
            // The operator's session is newer: it is loaded before the next visit.
            self.enter(SessionPhase::Doubted { log_in: false });
            return Ok(());
        }
        let keeping = tokio::task::spawn_blocking(move || {
            let kept = account.keeper.keep(&account.jar);
            kept.map(|()| account.keeper.stamp())
        });
        let kept = keeping.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
        match kept {
            Ok(stamp) => {
                (self.kept_changes, self.stamp) = (changes, stamp);
                self.kept = self.site.clock.now();
            }
            Err(error) => {
                let (site, error) = (&self.site.rules.name, in_one_line(&error));
                tracing::error!(%site, error, "the session cannot be stored: the next start has to log in again");
            }
        }
        Ok(())
    }
}

impl SiteLoop {
    /// Maintains the session: requests a proof or logs in if it is in doubt, and checks whether the operator has
    /// acted if it waits for that.
    pub(super) async fn tend_session(&mut self, now: UnixMillis) -> Result<(), CrawlError> {
        let Some(account) = self.site.account.clone() else { return Ok(()) };
        let has_no_visit = self.under_way.visits() == 0;
        let has_work = |host: &HostWork| !host.lanes.is_empty() || host.lease_at.is_some_and(|at| at <= now);
        self.session.reconsider(&account, now, has_no_visit && !self.hosts.iter().any(has_work));
        // A robots.txt in flight may set cookies, too.
        if !has_no_visit || self.hosts.iter().any(HostWork::asks_for_robots) {
            return Ok(());
        }
        match self.session.due(&account, now) {
            None => Ok(()),
            Some(Due::Pause(pause)) => self.pause(pause).await,
            Some(Due::Proof) => self.ask_for_session(account, now, false).await,
            Some(Due::Login) => self.ask_for_session(account, now, true).await,
        }
    }

    /// Begins a proof or a login, through the gate of the site's first host, once its robots.txt has set its delay.
    async fn ask_for_session(&mut self, account: Account, now: UnixMillis, log_in: bool) -> Result<(), CrawlError> {
        let primary = self.site.rules.primary();
        let Some(index) = self.hosts.iter().position(|host| host.origin() == primary) else { return Ok(()) };
        if let Some(held) = self.budgets.held_until(now) {
            self.hosts.hold(index, held);
            return Ok(());
        }
        self.hosts.choose_face(index).await?;
        if self.hosts[index].active() != 0 {
            return self.wait_for_first_host(index).await;
        }
        if self.hosts[index].face().robots_in_force(now).is_none() {
            self.ask_robots(index);
            return Ok(());
        }
        let keys = Arc::clone(&self.hosts[index].face().keys);
        let gate = self.hosts.through_gate(index, &keys, &mut self.under_way);
        let Some((slot, permit)) = gate else { return Ok(()) };
        let known = self.hosts.iter().map(|host| &host.faces()[0]);
        let known = known.map(|face| (Arc::clone(&face.keys), face.policy(&self.site.rules))).collect();
        let policy = self.hosts[index].face().policy(&self.site.rules);
        let (hosts, requests) = (self.shared.hosts.clone(), Arc::clone(&self.shared.requests));
        let clock = Arc::clone(&self.site.clock);
        self.session.form_left = Arc::default();
        let bounds = Bounds {
            rules: Arc::clone(&self.site.rules),
            left: self.budgets.requests_left(),
            pages: Arc::clone(&self.shared.pages),
            pages_max: self.options.pages_max,
            stop: self.shared.stop.clone(),
            form_left: Arc::clone(&self.session.form_left),
        };
        let mut pace = Box::new(Pace::new(hosts, requests, clock, bounds, known, (keys, policy, slot, permit)));
        self.session.enter(SessionPhase::Asking { log_in });
        let site = Arc::clone(&self.site);
        let is_of_last_login = self.session.awaits_proof();
        self.under_way.push(Box::pin(async move {
            let asked = match log_in {
                true => log_in_once(&site, &account, now, &mut pace).await,
                false => prove(&site, &account, is_of_last_login, &mut pace).await,
            };
            Ok(Ran::Session { host: index, pace, asked })
        }));
        Ok(())
    }

    /// The session belongs to the first host, and the password is not sent to mirrors, which may belong to anybody: while one is in use,
    /// the session is neither proven nor renewed.
    async fn wait_for_first_host(&mut self, index: usize) -> Result<(), CrawlError> {
        let until = self.hosts.blocked_until(index, self.site.clock.now());
        let first = &self.hosts[index].faces()[0];
        let reason = first.block.as_ref().map_or("the pause of an earlier crawl is not over", |(_, reason)| reason);
        let why = format!("{} pauses ({reason}); its mirrors are never sent the password or the cookies", first.name());
        self.pause(Pause::until(until, why)).await
    }

    /// Returns a visit that is to be processed, and has others requested again. If a mirror has denied it, the site waits for its first
    /// host, which knows the member.
    pub(super) async fn mind_session(
        &mut self,
        index: usize,
        face: usize,
        finished: Box<Finished>,
    ) -> Result<Option<Box<Finished>>, CrawlError> {
        match self.session.mind(face, finished) {
            Minded::GoesOn(finished) => return Ok(Some(finished)),
            Minded::Held => return Ok(None),
            Minded::AskedAgain(finished) => self.ask_again(finished).await?,
        }
        if face != 0 {
            self.hosts.choose_face(index).await?;
            if self.session.is_good() && self.hosts[index].active() != 0 {
                self.wait_for_first_host(index).await?;
            }
        }
        Ok(None)
    }

    /// A guest's response is no result: its URL keeps its place and its attempts.
    async fn ask_again(&mut self, mut finished: Box<Finished>) -> Result<(), CrawlError> {
        let visit = &mut finished.visit;
        visit.outcome = Outcome::LoggedOut;
        visit.next = Next::WaitUntil(visit.at);
        (visit.torrent, visit.listing, visit.body_hash, visit.memo) = (None, None, None, None);
        visit.outlinks.clear();
        visit.magnets.clear();
        finished.end.torrent = None;
        (finished.end.gone, finished.end.seen) = Default::default();
        finished.detail = finished.end.denied.take();
        self.hosts.lease_soon();
        self.commits.send_visit(finished).await
    }

    /// Leaves the site alone; visits that were held for its session are requested again.
    async fn pause(&mut self, pause: Pause) -> Result<(), CrawlError> {
        for finished in self.session.pause(pause).await? {
            self.ask_again(Box::new(finished)).await?;
        }
        Ok(())
    }
}

//! From the lanes to requests and back: what lets a visit start, and what becomes of its end.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::OwnedSemaphorePermit;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{CONNECTION_POLL, Ran, SiteLoop};
use crate::CrawlError;
use crate::frontier::priority;
use crate::host_work::{Location, RobotsState, Why};
use crate::hosts::{Ending, HostKeys, Slot};
use crate::job::Finished;
use crate::job::Tiding;
use crate::judging;
use crate::limits;
use crate::robots_txt::{self, Place, RobotsAnswer, RobotsFault};
use crate::scripts::errands::{self, Errands, Known};
use crate::visit;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::{CrawlUrl, without_keys};
use gleaner_net::fetch::{FetchFailure, Resolution};
use gleaner_net::politeness::robots::Robots;
use gleaner_net::politeness::{Answered, Block, Gate};
use gleaner_store::crawldb::{Next, Outcome, ROBOTS_TOKENS, UrlKey, faults, refusals};

impl SiteLoop {
    /// Starts whatever the lanes, the rules of robots.txt and the host's patience allow.
    pub(super) async fn start(&mut self, index: usize) -> Result<(), CrawlError> {
        let now = self.site.clock.now();
        if !self.hosts[index].has_jobs() {
            return Ok(());
        }
        let Some(robots) = self.hosts[index].face().robots_in_force(now).map(Arc::clone) else {
            self.ask_robots(index, now);
            return Ok(());
        };
        let (mut denied, mut late) = (Vec::new(), Vec::new());
        loop {
            if let Some(held) = self.held_until(now) {
                self.hold(index, held);
                break;
            }
            if self.is_to_wait_for_others() {
                break;
            }
            let split = self.crews.split();
            let shares = self.shares_held(now);
            let turns = self.crews.look_turns;
            let Some((lane, job)) = self.hosts[index].next_job(split, shares.held(), turns) else {
                let history = shares.history.filter(|_| self.hosts[index].lanes.has_ready());
                let increment = shares.increment.filter(|_| !self.hosts[index].news.is_empty());
                if let Some(held) = history.into_iter().chain(increment).min_by_key(|(until, _)| *until) {
                    self.hold(index, held);
                }
                break;
            };
            // A lease must outlast its visit, or the URL would be leased and fetched a second time.
            if job.lease.deadline <= now.plus(self.site.rules.rate.timeout) {
                self.hosts[index].leave(lane, split);
                late.push(job.lease.key);
                continue;
            }
            if !robots.allows(job.url.path()) {
                self.hosts[index].leave(lane, split);
                denied.push((job.lease, job.crew));
                continue;
            }
            let keys = Arc::clone(&self.hosts[index].face().keys);
            let Some((slot, permit)) = self.through_gate(index, &keys) else {
                self.hosts[index].put_back(lane, job, split);
                break;
            };
            self.shared.pages.fetch_add(1, Ordering::Relaxed);
            self.round_pages += 1;
            self.day_pages += 1;
            if let (Some(turns), Some(is_look)) = (&mut self.crews.look_turns, self.hosts[index].is_look(lane)) {
                turns.asked(is_look);
            }
            self.errands_budget.leaves(self.requests_left());
            self.running_keys.insert((index, lane), job.lease.key.clone());
            let (session, began) = (self.session.generation(), now);
            let site = Arc::clone(&self.site);
            let face = self.hosts[index].active();
            let mirror = (face > 0).then(|| CrawlUrl::from_parts(&self.hosts[index].face().origin, job.url.path()));
            // What a mirror sends may be anybody's: it does not run with the site's cookies.
            if mirror.is_some() || !site.scripts.runs_errands(job.class) {
                self.running.push(Box::pin(async move {
                    let mut finished = Box::new(visit::guarded(&site, job, mirror, None).await?);
                    (finished.timing.began, finished.host.session) = (began, session);
                    drop(permit);
                    Ok(Ran::Visit { host: index, face, lane, slot: Some(slot), finished })
                }));
                continue;
            }
            let errands = self.errands(index, slot, permit);
            self.running.push(Box::pin(async move {
                let mut finished = Box::new(visit::guarded(&site, job, mirror, Some(&errands)).await?);
                (finished.timing.began, finished.host.session) = (began, session);
                (finished.host.errands, finished.host.tidings) =
                    (errands.sent.load(Ordering::Relaxed), errands.take_tidings());
                Ok(Ran::Visit { host: index, face, lane, slot: errands.take_own(), finished })
            }));
        }
        for (lease, crew) in denied {
            self.park(&lease, crew, Outcome::RobotsDenied, robots_token(&robots), None).await?;
        }
        self.let_go(index, late, now).await
    }

    /// The gate for what the scripts of a visit's page ask.
    fn errands(&self, index: usize, slot: Slot, permit: OwnedSemaphorePermit) -> Errands {
        let now = self.site.clock.now();
        let known = self.hosts.iter().map(|host| {
            let face = host.face();
            Known {
                origin: face.origin.as_str().into(),
                keys: Arc::clone(&face.keys),
                policy: face.policy(&self.site.rules),
                robots: face.robots_in_force(now).map(Arc::clone),
            }
        });
        let bounds = errands::Bounds {
            pages: Arc::clone(&self.shared.pages),
            pages_max: self.options.pages_max,
            budget: Arc::clone(&self.errands_budget),
            stop: self.shared.stop.clone(),
            end: self.options.time_max.map(|max| self.started.plus(max)),
        };
        let own_policy = self.hosts[index].face().policy(&self.site.rules);
        let (hosts, requests) = (self.shared.hosts.clone(), Arc::clone(&self.shared.requests));
        Errands::new(hosts, requests, known.collect(), own_policy, bounds, Some((slot, permit)))
    }

    /// What waits for the rules' own hours waits for the service; a crawl that has used up its budget ends instead.
    pub(super) fn hold(&mut self, index: usize, (until, why): (UnixMillis, Why)) {
        if self.options.keep_looking || why == Why::QuietHours {
            self.hosts[index].gate = Some((until, why));
        }
    }

    /// A connection of the host and a place among the process's requests. Where another site holds them, nobody
    /// wakes us: the loop looks again soon. Where the host is has to be known: its address has a rate, too.
    pub(super) fn through_gate(&mut self, index: usize, keys: &Arc<HostKeys>) -> Option<(Slot, OwnedSemaphorePermit)> {
        let now = self.site.clock.now();
        match self.hosts[index].face().location {
            Location::Unknown => {
                self.locate(index);
                return None;
            }
            // What was known before is used on while it is looked up anew.
            Location::Known { until } if until <= now => self.locate(index),
            Location::Asked if !self.hosts[index].face().was_located => return None,
            _ => {}
        }
        let policy = self.hosts[index].face().policy(&self.site.rules);
        let host = &mut self.hosts[index];
        let Ok(permit) = Arc::clone(&self.shared.requests).try_acquire_owned() else {
            host.gate = Some((now.plus(CONNECTION_POLL), Why::Connection));
            return None;
        };
        match self.shared.hosts.ask(keys, policy, now) {
            Ok(slot) => return Some((slot, permit)),
            Err(Gate::WaitUntil(at)) => host.gate = Some((at, Why::Patience)),
            Err(_) => host.gate = Some((now.plus(CONNECTION_POLL), Why::Connection)),
        }
        None
    }

    /// Looks up where the host is, in the background.
    pub(super) fn locate(&mut self, index: usize) {
        let face = self.hosts[index].active();
        let asked = self.hosts[index].face_mut(face);
        asked.location = Location::Asked;
        let url = CrawlUrl::from_parts(&asked.origin, "/");
        let site = Arc::clone(&self.site);
        self.running.push(Box::pin(async move {
            let result = site.transport.resolve(&url).await;
            Ok(Ran::Located { host: index, face, result })
        }));
    }

    fn located(&mut self, index: usize, face: usize, result: Result<Resolution, FetchFailure>) {
        let now = self.site.clock.now();
        let face = self.hosts[index].face_mut(face);
        match result {
            Ok(Resolution { addresses, ttl }) => face.located(&addresses, now.plus(ttl.max(limits::LOCATED_FOR_MIN))),
            Err(failure) => {
                // Its requests will tell the same, and get it its pause.
                tracing::debug!(host = face.name(), error = %failure, "host is nowhere to be found");
                face.located(&[], now.plus(limits::LOCATED_FOR_MIN));
            }
        }
    }

    /// Takes the place that answers for a host: its own while it does, else a mirror.
    pub(super) async fn choose_face(&mut self, index: usize) -> Result<(), CrawlError> {
        let now = self.site.clock.now();
        let host = &mut self.hosts[index];
        if !host.choose_face(&self.shared.hosts, now) {
            return Ok(());
        }
        let (site, id, face) = (&self.site.rules.name, host.id, host.face());
        let waits_until = host.faces()[0].blocked_until.rfc3339();
        tracing::warn!(%site, host = host.origin(), now_at = %face.origin, waits_until, "another place of the site is asked");
        // What the other's robots.txt closed may be open here.
        if let Some(token) = face.robots_in_force(now).map(|robots| robots_token(robots)) {
            self.site.db.unpark(id, token, now).await?;
        }
        host.lease_at = Some(now);
        Ok(())
    }

    pub(super) fn ask_robots(&mut self, index: usize, now: UnixMillis) {
        if matches!(self.hosts[index].face().robots, RobotsState::Asked) {
            return;
        }
        if let Some(held) = self.held_until(now) {
            return self.hold(index, held);
        }
        let face = self.hosts[index].face();
        let place = match &face.robots {
            RobotsState::Moved(place) => Place::clone(place),
            _ => Place::of(&face.origin, Arc::clone(&face.keys)),
        };
        let Some((slot, permit)) = self.through_gate(index, &place.keys) else { return };
        let face = self.hosts[index].active();
        self.hosts[index].face_mut(face).robots = RobotsState::Asked;
        let site = Arc::clone(&self.site);
        self.running.push(Box::pin(async move {
            let result = site.scripts.ask_robots(&place).await;
            drop(permit);
            Ok(Ran::Robots { host: index, face, slot, result })
        }));
    }

    pub(super) async fn ran(&mut self, ran: Ran) -> Result<(), CrawlError> {
        match ran {
            Ran::Visit { host, face, lane, slot, finished } => {
                self.running_keys.remove(&(host, lane));
                self.hosts[host].done(lane);
                self.finished(host, face, slot, finished).await
            }
            Ran::Session { host, pace, asked } => self.session_asked(host, *pace, asked).await,
            Ran::Robots { host, face, slot, result } => self.robots_answered(host, face, slot, result).await,
            Ran::Located { host, face, result } => {
                self.located(host, face, result);
                Ok(())
            }
        }
    }

    async fn robots_answered(
        &mut self,
        index: usize,
        face: usize,
        slot: Slot,
        result: Result<RobotsAnswer, RobotsFault>,
    ) -> Result<(), CrawlError> {
        let now = self.site.clock.now();
        match result {
            Ok(RobotsAnswer::Moved(place)) => {
                self.hosts[index].face_mut(face).robots = RobotsState::Moved(place);
                self.answered(index, face, slot, Answered::Reached, "robots.txt").await?;
            }
            Ok(RobotsAnswer::Rules(robots)) => {
                self.site.db.unpark(self.hosts[index].id, robots_token(&robots), now).await?;
                self.look_at_sitemaps(index, face, &robots).await?;
                self.hosts[index].face_mut(face).obeys(robots, now.plus(robots_txt::KEPT_FOR));
                self.hosts[index].lease_at = Some(now);
                self.answered(index, face, slot, Answered::Reached, "robots.txt").await?;
            }
            Err(fault) => {
                self.hosts[index].face_mut(face).robots = RobotsState::Unknown;
                self.answered(index, face, slot, fault.answered, &fault.detail).await?;
            }
        }
        Ok(())
    }

    /// Sitemaps that robots.txt names are fetched like start pages, whatever the rules say of their own URLs.
    async fn look_at_sitemaps(&mut self, index: usize, face: usize, robots: &Robots) -> Result<(), CrawlError> {
        if !self.site.rules.sitemaps || robots.sitemaps.is_empty() {
            return Ok(());
        }
        self.site.rows.sitemaps.forget();
        let base = CrawlUrl::from_parts(&self.hosts[index].faces()[face].origin, "/robots.txt");
        let urls = robots.sitemaps.iter().filter_map(|url| judging::resolve(&self.site.rules, &base, url));
        let found = urls.filter_map(|url| self.site.rows.sitemaps.take(&self.site.rules, url)).collect();
        self.look_at(found, 1).await?;
        self.lease_soon();
        Ok(())
    }

    /// Notes how the host took a request; a pause that it imposed is kept in the database.
    pub(super) async fn answered(
        &mut self,
        index: usize,
        face: usize,
        slot: Slot,
        answered: Answered,
        detail: &str,
    ) -> Result<(), CrawlError> {
        let policy = self.hosts[index].faces()[face].policy(&self.site.rules);
        let ending = slot.finish(answered, policy, self.site.clock.now());
        self.takes_note(index, face, answered, ending, detail).await
    }

    /// Keeps what the end of a request means for its host.
    async fn takes_note(
        &mut self,
        index: usize,
        face: usize,
        answered: Answered,
        ending: Ending,
        detail: &str,
    ) -> Result<(), CrawlError> {
        let Ending { block, pauses, forgiven } = ending;
        let host = self.hosts[index].face_mut(face);
        if forgiven || (answered == Answered::Well && !pauses) {
            host.forgive();
        }
        if forgiven {
            self.site.db.forgive_host(host.id).await?;
        }
        match block {
            Some(block) => self.pauses(index, face, block, detail).await,
            None => Ok(()),
        }
    }

    /// A host has imposed a pause, which is kept in the database.
    pub(super) async fn pauses(
        &mut self,
        index: usize,
        face: usize,
        block: Block,
        detail: &str,
    ) -> Result<(), CrawlError> {
        let host = self.hosts[index].face_mut(face);
        let (site, until) = (&self.site.rules.name, block.until.rfc3339());
        let reason = format!("{}: {detail}", block.reason);
        tracing::warn!(%site, host = host.name(), until, reason, "host pauses");
        self.site.db.block_host_until(host.id, block.until, &reason, block.complaints).await?;
        host.blocked_until = block.until;
        host.block = Some((block, reason));
        Ok(())
    }

    async fn finished(
        &mut self,
        index: usize,
        face: usize,
        slot: Option<Slot>,
        finished: Box<Finished>,
    ) -> Result<(), CrawlError> {
        let mut finished = finished;
        // What a page's scripts asked counts like any other request.
        if finished.host.errands > 0 {
            self.round_pages += finished.host.errands;
            self.count_of_day(finished.host.errands).await?;
            self.errands_budget.booked(finished.host.errands);
            self.errands_budget.leaves(self.requests_left());
            self.site.scripts.rendered().asked(finished.host.errands);
            self.shared.progress.update(&self.site.rules.name, |progress| {
                progress.counts.script_requests += finished.host.errands;
            });
        }
        for Tiding { host, answered, ending } in std::mem::take(&mut finished.host.tidings) {
            if let Some(index) = self.hosts.iter().position(|known| *known.faces()[0].name() == *host) {
                self.takes_note(index, 0, answered, ending, "a request of a page's script").await?;
            }
        }
        let visit = &finished.visit;
        let detail = finished.detail.as_deref().unwrap_or_else(|| visit.outcome.name());
        if let Some(slot) = slot {
            self.answered(index, face, slot, finished.host.answered, detail).await?;
        }
        tracing::debug!(
            site = %self.site.rules.name,
            host = self.hosts[index].faces()[face].name(),
            url = %without_keys(&visit.key.path),
            outcome = visit.outcome.name(),
            attempt = faults(visit.attempts) + refusals(visit.attempts) + 1,
            detail = finished.detail.as_deref().unwrap_or_default(),
            "visited"
        );
        match self.mind_session(index, face, finished).await? {
            Some(finished) => self.go_on(finished).await,
            None => Ok(()),
        }
    }

    /// What follows from a visit that was answered as it was meant.
    pub(super) async fn go_on(&mut self, mut finished: Box<Finished>) -> Result<(), CrawlError> {
        self.follow_look(&mut finished).await?;
        self.mind_lists(&mut finished).await?;
        self.tell_changes(&finished).await?;
        let visit = &finished.visit;
        self.has_closed &= finished.job.crew.is_increment() || finished.job.is_watched || !visit.outcome.was_fetched();
        // A start page that redirects is looked at where it now is, whether that is known or not.
        if visit.depth == 0 && visit.outcome == Outcome::Redirected {
            // Two start pages that lead to each other are looked at once each.
            let mut targets = visit.outlinks.clone();
            targets.retain(|target| !self.is_start(&target.key));
            if self.crews.are_two() {
                targets.iter_mut().for_each(|target| target.rank = priority::URGENT);
                self.look_soon();
            }
            self.site.db.make_due(targets, visit.at).await?;
            self.lease_soon();
        }
        if visit.next == Next::Done {
            finished.visit.next = match visit.outcome {
                _ if finished.job.is_watched => Next::RevisitAt(self.look_again_at(&finished)),
                // Other rules may take links of it that these do not.
                Outcome::Page | Outcome::NotModified if finished.end.may_hold_more => Next::Park(self.site.rules_token),
                _ => Next::Done,
            };
        }
        self.site.worth().answered(&mut finished, &self.site.rules);
        self.mind_crews(&mut finished).await?;
        if let Some(at) = finished.visit.next.due() {
            for host in self.hosts.iter_mut().filter(|host| host.id == finished.visit.key.host) {
                host.lease_at = Some(host.lease_at.map_or(at, |earlier| earlier.min(at)));
            }
        }
        self.send_visit(finished).await
    }

    fn is_start(&self, key: &UrlKey) -> bool {
        let host = self.hosts.iter().find(|host| host.id == key.host);
        host.is_some_and(|host| {
            self.site.rules.start.iter().any(|start| start.origin() == host.origin() && start.path() == &*key.path)
        })
    }
}

/// Stands for a URL among those in hand. Two of a site's that share one by chance would be visited one after the other.
pub(super) fn mark(key: &UrlKey) -> u64 {
    xxh3_64_with_seed(key.path.as_bytes(), key.host.0.into())
}

/// Marks what a robots.txt has closed.
fn robots_token(robots: &Robots) -> u64 {
    robots.fingerprint() | ROBOTS_TOKENS
}

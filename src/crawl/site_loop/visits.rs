//! From the lanes to requests and back: conditions for starting a visit, and handling of its end.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::OwnedSemaphorePermit;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::SiteLoop;
use super::commits::Parked;
use super::hosts::robots_token;
use super::under_way::Ran;
use crate::CrawlError;
use crate::frontier::priority;
use crate::hosts::Slot;
use crate::job::{Finished, Job, Tiding};
use crate::masked::masked_path;
use crate::scripts::errands::{Errands, KnownHost};
use crate::visit::{self, is_front};
use crate::watched;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_store::crawldb::{Next, Outcome, UrlKey, faults, refusals};

impl SiteLoop {
    /// Starts whatever the lanes, the rules of robots.txt and the host's pauses allow.
    pub(super) async fn start(&mut self, index: usize) -> Result<(), CrawlError> {
        let now = self.site.clock.now();
        if !self.hosts[index].has_jobs() {
            return Ok(());
        }
        let Some(robots) = self.hosts[index].face().robots_in_force(now).map(Arc::clone) else {
            self.ask_robots(index);
            return Ok(());
        };
        let (mut denied, mut walled, mut late, mut needless) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        while let Some((lane, job)) = self.next_job(index, now) {
            let split = self.crews.split();
            // A lease must outlast its visit, or the URL would be leased and fetched a second time.
            if job.lease.deadline <= now.plus(self.site.rules.rate.timeout) {
                self.hosts[index].leave(lane, split);
                late.push(job.lease.key);
            } else if job.is_guess && self.is_closed_to_guess(&robots, &job) {
                self.hosts[index].leave(lane, split);
                self.drop_guess(&job);
            } else if !robots.allows(job.url.path()) {
                self.tally.parked(&self.site.rules, job.class, Outcome::RobotsDenied, &job.url);
                self.hosts[index].leave(lane, split);
                denied.push((job.lease, job.crew));
            } else if self.walls.stops(job.rule, &job.lease.key) {
                self.tally.parked(&self.site.rules, job.class, Outcome::Walled, &job.url);
                self.hosts[index].leave(lane, split);
                self.walls.waits(job.rule, &job.lease);
                walled.push((job.lease, job.crew));
            } else if !self.walls.is_probe(job.rule, &job.lease.key) && self.leases.is_needless(&job).await? {
                self.hosts[index].leave(lane, split);
                needless.push((job.lease, job.crew));
            } else if job.was_read {
                self.begin_read(index, lane, job, now);
            } else if !self.begin(index, lane, job, now) {
                break;
            }
        }
        for (lease, crew) in denied {
            let parked = Parked { outcome: Outcome::RobotsDenied, token: robots_token(&robots), why: None };
            self.commits.park(&self.site, &self.hosts, (&lease, crew), parked).await?;
        }
        for (lease, crew) in needless {
            let parked = Parked { outcome: Outcome::LeftOut, token: self.site.worth().token(), why: None };
            self.commits.park(&self.site, &self.hosts, (&lease, crew), parked).await?;
        }
        for (lease, crew) in walled {
            let parked = Parked { outcome: Outcome::Walled, token: self.walls.token(), why: None };
            self.commits.park(&self.site, &self.hosts, (&lease, crew), parked).await?;
        }
        self.let_go(index, late, now).await
    }

    /// The next request to a host, with its lane; None if none is allowed, or nothing is left.
    fn next_job(&mut self, index: usize, now: UnixMillis) -> Option<(usize, Job)> {
        if let Some(held) = self.budgets.held_until(now) {
            self.hosts.hold(index, held);
            return None;
        }
        // So that it is known which of them ends a session.
        if self.session.goes_alone() && self.under_way.visits() > 0 {
            return None;
        }
        let shares = self.budgets.shares_held(self.crews.demand(), now);
        let next = self.hosts[index].next_job(self.crews.split(), shares.held(), self.crews.look_turns);
        if next.is_none() {
            let history = shares.history.filter(|_| self.hosts[index].lanes.has_ready());
            let increment = shares.increment.filter(|_| !self.hosts[index].news.is_empty());
            if let Some(held) = history.into_iter().chain(increment).min_by_key(|(until, _)| *until) {
                self.hosts.hold(index, held);
            }
        }
        next
    }

    /// Begins a visit. False if the host's gate is closed: the visit keeps its place.
    fn begin(&mut self, index: usize, lane: usize, job: Job, now: UnixMillis) -> bool {
        let keys = Arc::clone(&self.hosts[index].face().keys);
        let Some((slot, permit)) = self.hosts.through_gate(index, &keys, &mut self.under_way) else {
            self.hosts[index].put_back(lane, job, self.crews.split());
            return false;
        };
        if let (Some(turns), Some(is_look)) = (&mut self.crews.look_turns, self.hosts[index].is_look(lane)) {
            turns.asked(is_look);
        }
        self.budgets.visit_begins();
        if lane < self.hosts[index].lanes.count() {
            self.hosts[index].floor.asked();
        }
        let key = job.lease.key.clone();
        let (session, began) = (self.session.generation(), now);
        let site = Arc::clone(&self.site);
        let face = self.hosts[index].active();
        let mirror = (face > 0).then(|| CrawlUrl::from_parts(&self.hosts[index].face().origin, job.url.path()));
        // A mirror's content may come from anybody: its scripts do not run with the site's cookies.
        if mirror.is_some() || !site.scripts.runs_errands(job.class) {
            let visit = async move {
                let mut finished = Box::new(visit::guarded(&site, job, mirror, None).await?);
                (finished.timing.began, finished.host.session) = (began, session);
                drop(permit);
                Ok(Ran::Visit { host: index, face, lane, slot: Some(slot), finished })
            };
            self.under_way.push_visit(index, lane, key, Box::pin(visit));
            return true;
        }
        let errands = self.errands(index, Some((slot, permit)));
        let visit = async move {
            let mut finished = Box::new(visit::guarded(&site, job, mirror, Some(&errands)).await?);
            (finished.timing.began, finished.host.session) = (began, session);
            (finished.host.errands, finished.host.tidings) =
                (errands.sent.load(Ordering::Relaxed), errands.take_tidings());
            Ok(Ran::Visit { host: index, face, lane, slot: errands.take_own(), finished })
        };
        self.under_way.push_visit(index, lane, key, Box::pin(visit));
        true
    }

    /// Begins the visit of a page whose answer is at hand: no gate, no budget. Requests of its scripts pass the gate.
    fn begin_read(&mut self, index: usize, lane: usize, job: Job, now: UnixMillis) {
        let key = job.lease.key.clone();
        let (session, site) = (self.session.generation(), Arc::clone(&self.site));
        let errands = site.scripts.runs_errands(job.class).then(|| self.errands(index, None));
        let visit = async move {
            let mut finished = Box::new(visit::guarded(&site, job, None, errands.as_ref()).await?);
            (finished.timing.began, finished.host.session, finished.host.was_read) = (now, session, true);
            if let Some(errands) = &errands {
                (finished.host.errands, finished.host.tidings) =
                    (errands.sent.load(Ordering::Relaxed), errands.take_tidings());
            }
            let slot = errands.and_then(|errands| errands.take_own());
            Ok(Ran::Visit { host: index, face: 0, lane, slot, finished })
        };
        self.under_way.push_visit(index, lane, key, Box::pin(visit));
    }

    /// The gate for the requests of scripts on a visit's page, with its own connection if it has one.
    fn errands(&self, index: usize, own: Option<(Slot, OwnedSemaphorePermit)>) -> Errands {
        let now = self.site.clock.now();
        let known = self.hosts.iter().map(|host| {
            let face = host.face();
            KnownHost {
                origin: face.origin.as_str().into(),
                keys: Arc::clone(&face.keys),
                policy: face.policy(&self.site.rules),
                robots: face.robots_in_force(now).map(Arc::clone),
            }
        });
        let bounds = self.budgets.bounds_of_scripts(self.shared.stop.clone());
        let own_policy = self.hosts[index].face().policy(&self.site.rules);
        let (hosts, requests) = (self.shared.hosts.clone(), Arc::clone(&self.shared.requests));
        Errands::new(hosts, requests, known.collect(), own_policy, bounds, own)
    }

    /// Requests a host's robots.txt, if its gate and the budgets allow that.
    pub(super) fn ask_robots(&mut self, index: usize) {
        let held = self.budgets.held_until(self.site.clock.now());
        self.hosts.ask_robots(index, held, &mut self.under_way);
    }

    pub(super) async fn ran(&mut self, ran: Ran) -> Result<(), CrawlError> {
        match ran {
            Ran::Visit { host, face, lane, slot, finished } => {
                self.under_way.visited(host, lane);
                self.hosts[host].done(lane);
                self.finished(host, face, slot, finished).await
            }
            Ran::Session { host, pace, asked } => self.session_asked(host, *pace, asked).await,
            Ran::Robots { host, face, slot, result } => {
                self.hosts.robots_answered(&self.last_crawl, host, face, slot, result).await
            }
            Ran::Located { host, face, result } => {
                self.hosts.located(host, face, result);
                Ok(())
            }
        }
    }

    async fn finished(
        &mut self,
        index: usize,
        face: usize,
        slot: Option<Slot>,
        finished: Box<Finished>,
    ) -> Result<(), CrawlError> {
        let mut finished = finished;
        // Requests of a page's scripts count like any other.
        if finished.host.errands > 0 {
            self.budgets.count_of_scripts(finished.host.errands).await?;
            self.site.scripts.rendered().asked(finished.host.errands);
            self.shared.progress.update(&self.site.rules.name, |progress| {
                progress.counts.script_requests += finished.host.errands;
            });
        }
        for Tiding { host, answered, ending } in std::mem::take(&mut finished.host.tidings) {
            if let Some(index) = self.hosts.named(&host) {
                self.hosts.takes_note(index, 0, answered, ending, "a request of a page's script").await?;
            }
        }
        if finished.host.was_read {
            self.shared.progress.update(&self.site.rules.name, |progress| progress.counts.read_before += 1);
        }
        let visit = &finished.visit;
        let detail = finished.detail.as_deref().unwrap_or_else(|| visit.outcome.name());
        if let Some(slot) = slot {
            let detail = match visit.outcome {
                Outcome::TlsFailed => &*format!("TLS failed: {detail}"),
                _ => detail,
            };
            self.hosts.answered(index, face, slot, finished.host.answered, detail).await?;
        }
        tracing::debug!(
            site = %self.site.rules.name,
            host = self.hosts[index].faces()[face].name(),
            url = masked_path(&CrawlUrl::from_parts(self.hosts[index].origin(), &visit.key.path)),
            outcome = received(visit.outcome),
            attempt = faults(visit.attempts) + refusals(visit.attempts) + 1,
            detail = finished.detail.as_deref().unwrap_or_default(),
            "visited"
        );
        match self.mind_session(index, face, finished).await? {
            Some(finished) => self.go_on(finished).await,
            None => Ok(()),
        }
    }

    /// Processes a visit whose response is final.
    pub(super) async fn go_on(&mut self, mut finished: Box<Finished>) -> Result<(), CrawlError> {
        if finished.job.is_guess && !self.mind_guess(&finished).await? {
            return Ok(());
        }
        if let (Some(stated), Some(listing)) = (finished.end.stated, &finished.visit.listing) {
            let visit = &finished.visit;
            self.stated.take((visit.key.host, &listing.series), listing.targets.len() as u64, stated, visit.at);
        }
        self.follow_look(&mut finished).await?;
        let behind = finished.end.turn.as_ref().and_then(|turn| turn.behind.as_ref());
        let is_under_way = behind.is_some_and(|behind| self.under_way.is_visited(&behind.row.key));
        self.unstable.mind(&self.site, &finished).await?;
        self.lists.mind(&self.site, &mut finished, is_under_way).await?;
        self.told.changes(&self.site, &self.hosts, &finished).await?;
        let visit = &finished.visit;
        self.chores.has_closed &=
            finished.job.crew.is_increment() || finished.job.is_watched || !visit.outcome.was_fetched();
        // The target of a redirected start page is rechecked, whether it is known or not.
        if visit.depth == 0 && visit.outcome == Outcome::Redirected {
            // Two start pages that redirect to each other are visited once each.
            let mut targets = visit.outlinks.clone();
            targets.retain(|target| !self.hosts.is_start(&target.key));
            if self.crews.are_two() {
                targets.iter_mut().for_each(|target| target.rank = priority::URGENT);
                self.hosts.look_soon();
            }
            self.site.db.make_due(targets, visit.at).await?;
            self.hosts.lease_soon();
        }
        self.shared.progress.update(&self.site.rules.name, |progress| progress.measured.visited(&finished));
        let url = self.hosts.url(&finished.visit.key);
        if let Some(url) = &url {
            self.tally.count(&self.site.rules, url, &finished);
            self.show_list(url, &mut finished);
            self.show_refused(url, &finished);
        }
        self.mind_walls(&mut finished);
        if url.is_some_and(|url| self.mind_promises(&url, &finished)) {
            self.keep_tally().await?;
        }
        self.pass_gate(&finished).await?;
        let visit = &finished.visit;
        if visit.next == Next::Done {
            finished.visit.next = match visit.outcome {
                _ if finished.job.is_watched => {
                    Next::RevisitAt(self.crews.look_again_at(&self.hosts, self.options.keep_looking, &finished))
                }
                // Other rules may accept links of it that these do not.
                Outcome::Page | Outcome::NotModified if finished.end.may_hold_more => Next::Park(self.site.rules_token),
                // What a guest is refused, a member may get: once the rule file has a login, it is asked for again.
                Outcome::RedirectRefused | Outcome::Denied | Outcome::HtmlPosingAsTorrent
                    if self.site.rules.login.is_none() =>
                {
                    Next::Park(self.site.rules_token)
                }
                _ => Next::Done,
            };
        }
        self.site.worth().answered(&mut finished, &self.site.rules);
        self.crews.mind(&mut self.hosts, &mut finished).await?;
        if let Some(at) = finished.visit.next.due()
            && let Some(host) = self.hosts.of_mut(&finished.visit.key)
        {
            host.lease_at = Some(host.lease_at.map_or(at, |earlier| earlier.min(at)));
        }
        self.commits.send_visit(finished).await
    }
}

impl SiteLoop {
    /// Shows a look at the first page of a list to those who look after the site.
    fn show_list(&self, url: &CrawlUrl, finished: &mut Finished) {
        let poor_page = finished.end.poor_page.take();
        if !finished.job.class.is_listing() || !is_front(&self.site, url) {
            return;
        }
        let Some(look) = watched::look(finished, url) else { return };
        self.shared.progress.watch(&self.site.rules.name, |watched| {
            watched.looked(look);
            watched.poor_page = poor_page.or(watched.poor_page.take());
        });
    }

    fn show_refused(&self, url: &CrawlUrl, finished: &Finished) {
        let (rules, refused) = (&self.site.rules, &finished.end.refused);
        if !refused.is_empty() {
            let at = finished.visit.at;
            self.shared.progress.watch(&rules.name, |watched| watched.refused.add(rules, url, refused, at));
        }
    }
}

/// Represents a leased URL. Two of a site's that share one by chance would be visited one after the other.
pub(super) fn mark(key: &UrlKey) -> u64 {
    xxh3_64_with_seed(key.path.as_bytes(), key.host.0.into())
}

/// The outcome of a visit that is not committed yet: whether its torrent is new, and stored, is known then.
fn received(outcome: Outcome) -> &'static str {
    if outcome == Outcome::TorrentStored { "torrent" } else { outcome.name() }
}

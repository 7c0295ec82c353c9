//! From leases to requests and back: what fills the lanes, what lets a visit start, and what becomes of its end.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::OwnedSemaphorePermit;

use super::{CONNECTION_POLL, Ran, SiteLoop};
use crate::clock::UnixMillis;
use crate::crawl::CrawlError;
use crate::crawl::host_work::RobotsState;
use crate::crawl::hosts::Slot;
use crate::crawl::robots_txt::{self, RobotsFault};
use crate::crawl::visit::{self, Finished, Job};
use crate::crawldb::{HostDue, Lease, LeaseRequest, Next, Outcome, ROBOTS_TOKENS};
use crate::limits;
use crate::politeness::robots::Robots;
use crate::politeness::{Answered, Gate};
use crate::rules::{Class, Verdict};
use crate::url::CrawlUrl;

impl SiteLoop {
    /// Leases for a host whose lanes run low, once its robots.txt is known.
    pub(super) async fn fill(&mut self, index: usize) -> Result<(), CrawlError> {
        let now = self.site.clock.now();
        let host = &self.hosts[index];
        let policy = host.policy(&self.site.rules);
        let urls_max = host.lease_size(policy);
        if host.lease_at.is_none_or(|at| at > now) || !host.runs_low(urls_max) {
            return Ok(());
        }
        if matches!(host.robots, RobotsState::Asked) {
            return Ok(());
        }
        if host.robots_in_force(now).is_none() {
            match self.site.db.host_due(host.id, now).await? {
                HostDue::Now => self.ask_robots(index, now),
                due => self.hosts[index].lease_at = next_due(due, now),
            }
            return Ok(());
        }
        let deadline = now.plus(limits::LEASE_TIME);
        let request = LeaseRequest { host: host.id, owner: self.shared.owner, now, deadline, urls_max };
        let leases = self.site.db.lease_due(request).await?;
        let came_short = leases.len() < urls_max;
        for lease in leases {
            self.admit(index, lease).await?;
        }
        if came_short {
            let due = self.site.db.host_due(self.hosts[index].id, now).await?;
            self.hosts[index].lease_at = next_due(due, now);
        }
        Ok(())
    }

    /// Rules may have changed since the URL was found: they are asked again.
    async fn admit(&mut self, index: usize, lease: Lease) -> Result<(), CrawlError> {
        let url = CrawlUrl::from_parts(&self.hosts[index].origin, &lease.key.path);
        let class = match self.site.rules.judge(&url) {
            Verdict::Take { class, .. } if class != Class::Login => class,
            _ => return self.park(&lease, Outcome::RulesRefused, self.site.rules_token).await,
        };
        if lease.depth > self.site.rules.depth_max {
            return self.park(&lease, Outcome::OverBudget, self.site.rules_token).await;
        }
        self.hosts[index].queue(Job { lease, url, class }, &self.site.rules);
        Ok(())
    }

    /// Starts whatever the lanes, the rules of robots.txt and the host's patience allow.
    pub(super) async fn start(&mut self, index: usize) -> Result<(), CrawlError> {
        let now = self.site.clock.now();
        if self.hosts[index].lanes.is_empty() {
            return Ok(());
        }
        let Some(robots) = self.hosts[index].robots_in_force(now).map(Arc::clone) else {
            if !matches!(self.hosts[index].robots, RobotsState::Asked) {
                self.ask_robots(index, now);
            }
            return Ok(());
        };
        if !self.may_request() {
            self.hosts[index].gate_at = self.options.keep_looking.then(|| self.round_ends());
            return Ok(());
        }
        let (mut denied, mut late) = (Vec::new(), Vec::new());
        while self.may_request() {
            let Some((lane, job)) = self.hosts[index].lanes.pop() else { break };
            // A lease must outlast its visit, or the URL would be leased and fetched a second time.
            if job.lease.deadline <= now.plus(limits::REQUEST_TIME_MAX) {
                self.hosts[index].lanes.done(lane);
                late.push(job.lease.key);
                continue;
            }
            if !robots.allows(job.url.path()) {
                self.hosts[index].lanes.done(lane);
                denied.push(job.lease);
                continue;
            }
            let Some((slot, permit)) = self.through_gate(index, now) else {
                self.hosts[index].lanes.put_back(lane, job);
                break;
            };
            self.shared.pages.fetch_add(1, Ordering::Relaxed);
            self.round_pages += 1;
            self.running_keys.insert((index, lane), job.lease.key.clone());
            let site = Arc::clone(&self.site);
            self.running.push(Box::pin(async move {
                let finished = Box::new(visit::visit(&site, job).await?);
                drop(permit);
                Ok(Ran::Visit { host: index, lane, slot, finished })
            }));
        }
        for lease in denied {
            self.park(&lease, Outcome::RobotsDenied, robots_token(&robots)).await?;
        }
        if !late.is_empty() {
            self.site.db.release(self.shared.owner, late).await?;
            self.hosts[index].lease_at = Some(now);
        }
        Ok(())
    }

    /// A connection of the host and a place among the process's requests. Where another site holds them, nobody
    /// wakes us: the loop looks again soon.
    fn through_gate(&mut self, index: usize, now: UnixMillis) -> Option<(Slot, OwnedSemaphorePermit)> {
        let policy = self.hosts[index].policy(&self.site.rules);
        let host = &mut self.hosts[index];
        let Ok(permit) = Arc::clone(&self.shared.requests).try_acquire_owned() else {
            host.gate_at = Some(now.plus(CONNECTION_POLL));
            return None;
        };
        match self.shared.hosts.ask(&host.name, policy, now) {
            Ok(slot) => return Some((slot, permit)),
            Err(Gate::WaitUntil(at)) => host.gate_at = Some(at),
            Err(_) => host.gate_at = Some(now.plus(CONNECTION_POLL)),
        }
        None
    }

    fn ask_robots(&mut self, index: usize, now: UnixMillis) {
        let Some((slot, permit)) = self.through_gate(index, now) else { return };
        self.hosts[index].robots = RobotsState::Asked;
        let (site, origin) = (Arc::clone(&self.site), self.hosts[index].origin.clone());
        self.running.push(Box::pin(async move {
            let result = robots_txt::fetch(&site, &origin).await;
            drop(permit);
            Ok(Ran::Robots { host: index, slot, result })
        }));
    }

    pub(super) async fn ran(&mut self, ran: Ran) -> Result<(), CrawlError> {
        match ran {
            Ran::Visit { host, lane, slot, finished } => {
                self.running_keys.remove(&(host, lane));
                self.hosts[host].lanes.done(lane);
                self.finished(host, slot, finished).await
            }
            Ran::Robots { host, slot, result } => self.robots_answered(host, slot, result).await,
        }
    }

    async fn robots_answered(
        &mut self,
        index: usize,
        slot: Slot,
        result: Result<Robots, RobotsFault>,
    ) -> Result<(), CrawlError> {
        let now = self.site.clock.now();
        match result {
            Ok(robots) => {
                self.answered(index, slot, Answered::Well, "robots.txt").await?;
                self.site.db.unpark(self.hosts[index].id, robots_token(&robots), now).await?;
                let until = now.plus(robots_txt::KEPT_FOR);
                self.hosts[index].robots = RobotsState::Known { robots: Arc::new(robots), until };
                self.hosts[index].lease_at = Some(now);
            }
            Err(fault) => {
                self.hosts[index].robots = RobotsState::Unknown;
                self.answered(index, slot, fault.answered, &fault.detail).await?;
            }
        }
        Ok(())
    }

    /// Notes how the host took a request; a pause that it imposed is kept in the database.
    async fn answered(&mut self, index: usize, slot: Slot, answered: Answered, detail: &str) -> Result<(), CrawlError> {
        let block = slot.finish(answered, self.site.clock.now());
        let host = &mut self.hosts[index];
        if answered == Answered::Well {
            host.block = None;
        }
        if let Some(block) = block {
            let (site, until) = (&self.site.rules.name, block.until.rfc3339());
            let reason = format!("{}: {detail}", block.reason);
            tracing::warn!(%site, host = %host.name, until, reason, "host pauses");
            self.site.db.block_host_until(host.id, block.until, &reason, block.complaints).await?;
            host.blocked_until = block.until;
            host.block = Some((block, reason));
        }
        Ok(())
    }

    async fn finished(&mut self, index: usize, slot: Slot, mut finished: Box<Finished>) -> Result<(), CrawlError> {
        let visit = &finished.visit;
        let detail = finished.detail.as_deref().unwrap_or_else(|| visit.outcome.name());
        self.answered(index, slot, finished.answered, detail).await?;
        tracing::debug!(
            site = %self.site.rules.name,
            host = %self.hosts[index].name,
            url = %visit.key.path,
            outcome = visit.outcome.name(),
            attempt = visit.attempts + 1,
            detail = finished.detail.as_deref().unwrap_or_default(),
            "visited"
        );
        // A start page that redirects is looked at where it now is, whether that is known or not.
        if visit.depth == 0 && visit.outcome == Outcome::Redirected {
            self.site.db.make_due(visit.outlinks.clone(), visit.at).await?;
            self.lease_soon();
        }
        if self.options.keep_looking && visit.next == Next::Done && finished.is_watched() {
            finished.visit.next = Next::RevisitAt(finished.visit.at.plus(self.site.rules.revisit));
        }
        if let Next::RetryAt(at) | Next::RevisitAt(at) | Next::WaitUntil(at) = finished.visit.next {
            let host = &mut self.hosts[index];
            host.lease_at = Some(host.lease_at.map_or(at, |earlier| earlier.min(at)));
        }
        self.send_visit(finished).await
    }

    /// Puts a URL aside until what refused it has changed.
    async fn park(&mut self, lease: &Lease, outcome: Outcome, token: u64) -> Result<(), CrawlError> {
        let mut visit = visit::unvisited(lease, outcome, self.site.clock.now());
        visit.next = Next::Park(token);
        let finished = Finished { visit, torrent: None, answered: Answered::Well, detail: None };
        self.send_visit(Box::new(finished)).await
    }
}

/// When leasing may bring something again; None: only after a commit.
fn next_due(due: HostDue, now: UnixMillis) -> Option<UnixMillis> {
    match due {
        HostDue::Now => Some(now),
        HostDue::At(at) => Some(at),
        HostDue::Leased | HostDue::Exhausted => None,
    }
}

/// Marks what a robots.txt has closed.
fn robots_token(robots: &Robots) -> u64 {
    robots.fingerprint() | ROBOTS_TOKENS
}

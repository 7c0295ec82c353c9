//! One host's share of a site's crawl: its lanes, its robots.txt, and when it is worth asking again.
//!
//! Plain state, changed by the site loop; no I/O here.

use std::sync::Arc;
use std::time::Duration;

use super::visit::Job;
use crate::clock::UnixMillis;
use crate::crawldb::{HostId, HostRow};
use crate::frontier::lanes::{Lanes, lane_of};
use crate::limits;
use crate::politeness::robots::Robots;
use crate::politeness::{Block, HostPolicy};
use crate::rules::{self, SiteRules};
use crate::url::CrawlUrl;

/// What is known of an origin's robots.txt.
pub enum RobotsState {
    /// Nothing, or no more than the last day's.
    Unknown,
    /// A request for it is under way.
    Asked,
    /// In force until the given time.
    Known { robots: Arc<Robots>, until: UnixMillis },
}

/// One host of a site.
pub struct HostWork {
    pub id: HostId,
    pub origin: String,
    /// Host name: what politeness binds.
    pub name: Arc<str>,
    pub lanes: Lanes<Job>,
    pub robots: RobotsState,
    /// Leasing may bring something from this time on; None: only after a commit.
    pub lease_at: Option<UnixMillis>,
    /// Something waits for the host's patience, or for a connection, until this time.
    pub gate_at: Option<UnixMillis>,
    /// Until when the host has paused us, in this process or before.
    pub blocked_until: UnixMillis,
    /// The last pause in a row of pauses without a good answer, with all that is known of its cause.
    pub block: Option<(Block, String)>,
}

impl HostWork {
    #[must_use]
    pub fn new(row: HostRow, site: &SiteRules) -> Self {
        let robots = match &site.robots {
            rules::Robots::Obey => RobotsState::Unknown,
            rules::Robots::Ignore { .. } => {
                RobotsState::Known { robots: Arc::new(Robots::allow_all()), until: UnixMillis(u64::MAX) }
            }
        };
        Self {
            id: row.id,
            name: CrawlUrl::from_parts(&row.origin, "/").host().into(),
            origin: row.origin.into(),
            lanes: Lanes::new(site.lanes.count.into()),
            robots,
            lease_at: Some(UnixMillis(0)),
            gate_at: None,
            blocked_until: row.blocked_until,
            block: None,
        }
    }

    /// The rules in force now; None when robots.txt has to be asked for.
    #[must_use]
    pub fn robots_in_force(&self, now: UnixMillis) -> Option<&Arc<Robots>> {
        match &self.robots {
            RobotsState::Known { robots, until } if *until > now => Some(robots),
            _ => None,
        }
    }

    /// What the site's rules and the host's own `Crawl-delay` allow.
    #[must_use]
    pub fn policy(&self, site: &SiteRules) -> HostPolicy {
        let asked = match &self.robots {
            RobotsState::Known { robots, .. } => robots.crawl_delay.unwrap_or_default(),
            _ => Duration::ZERO,
        };
        let interval = site.rate.interval.max(asked);
        HostPolicy {
            interval_ms: u64::try_from(interval.as_millis()).unwrap_or(u64::MAX),
            connections_max: site.rate.connections.into(),
        }
    }

    /// URLs to lease at once: no more than a slow host can do before the leases end.
    #[must_use]
    pub fn lease_size(&self, policy: HostPolicy) -> usize {
        let lease_ms = u64::try_from(limits::LEASE_TIME.as_millis()).unwrap_or(u64::MAX);
        let in_time = lease_ms / 4 / policy.interval_ms.max(1);
        usize::try_from(in_time).unwrap_or(usize::MAX).clamp(1, limits::LEASE_URLS_MAX)
    }

    /// True when the lanes should be filled before some of them run dry.
    #[must_use]
    pub fn runs_low(&self, lease_size: usize) -> bool {
        self.lanes.len() < lease_size / 4 + self.lanes.count()
    }

    /// Queues a job in its lane.
    pub fn queue(&mut self, job: Job, site: &SiteRules) {
        let lane = lane_of(site.lanes.key, &self.name, job.url.as_str(), site.lanes.count.into());
        self.lanes.push(lane, job);
    }

    /// True when the host has paused us so often in a row that a crawl which is to end leaves it alone.
    #[must_use]
    pub fn is_given_up(&self) -> bool {
        self.block.as_ref().is_some_and(|(block, _)| block.complaints >= limits::HOST_COMPLAINTS_MAX)
    }

    /// When the loop has to look at this host again if nothing happens; None: only after an event.
    #[must_use]
    pub fn wake_at(&self) -> Option<UnixMillis> {
        if self.gate_at.is_some() || matches!(self.robots, RobotsState::Asked) {
            return self.gate_at;
        }
        self.lease_at.filter(|_| self.lanes.len() < self.lanes.count())
    }

    /// True when all that is left is a look that the service has planned: further away than any retry, and not
    /// because the host paused us.
    #[must_use]
    pub fn only_revisits_left(&self, now: UnixMillis) -> bool {
        let patient_until = self.blocked_until.max(now).plus(limits::RETRY_TIME_MAX);
        self.gate_at.is_none() && self.lanes.is_empty() && self.lease_at.is_some_and(|at| at > patient_until)
    }
}

//! The gate in front of each request of a login in a crawl: rate, rest and `Crawl-delay` of the host that is asked, its
//! pauses, and the process's bound of requests under way, as for any visit.
//!
//! A login has one request under way and up to a dozen in all, to any of the site's hosts. Between two of them it holds
//! nothing, so that other sites go on. A login by hand has no pace: a person waits for it, and nothing else is asked.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::clock::{Clock, UnixMillis};
use crate::crawl::hosts::{HostKeys, Hosts, Slot};
use crate::crawl::site_loop::CONNECTION_POLL;
use crate::politeness::{Answered, Gate, HostPolicy};
use crate::url::CrawlUrl;

/// The pace of one login, or of one proof.
pub struct Pace {
    hosts: Hosts,
    /// One permit a request under way, over all sites.
    requests: Arc<Semaphore>,
    clock: Arc<dyn Clock>,
    /// What is known of the site's hosts.
    known: Vec<(Arc<HostKeys>, HostPolicy)>,
    /// For a host that nothing is known of.
    usual: HostPolicy,
    turn: Option<Turn>,
}

/// A request that may be sent, or is under way.
struct Turn {
    slot: Slot,
    keys: Arc<HostKeys>,
    policy: HostPolicy,
    _permit: OwnedSemaphorePermit,
    is_used: bool,
}

impl Pace {
    /// A pace that begins with a request which the gate has let through already, to the host of these keys.
    #[must_use]
    pub fn new(
        hosts: Hosts,
        requests: Arc<Semaphore>,
        clock: Arc<dyn Clock>,
        known: Vec<(Arc<HostKeys>, HostPolicy)>,
        (keys, policy, slot, permit): (Arc<HostKeys>, HostPolicy, Slot, OwnedSemaphorePermit),
    ) -> Self {
        let turn = Some(Turn { slot, keys, policy, _permit: permit, is_used: false });
        let usual = HostPolicy { rest_ms_min: 0, ..policy };
        Self { hosts, requests, clock, known, usual, turn }
    }

    /// The last request has been answered, without a complaint.
    pub(super) fn rest(&mut self) {
        if let Some(turn) = self.turn.take_if(|turn| turn.is_used) {
            let _ = turn.slot.finish(Answered::Reached, turn.policy, self.clock.now());
        }
    }

    /// Waits until a request for this URL may be sent.
    ///
    /// # Errors
    /// Where the host pauses and `waits_out` is false: until when. No form outlives such a pause.
    pub(super) async fn pass(&mut self, url: &CrawlUrl, waits_out: bool) -> Result<(), UnixMillis> {
        if let Some(turn) = self.turn.as_mut().filter(|turn| !turn.is_used && *turn.keys.name == *url.host()) {
            turn.is_used = true;
            return Ok(());
        }
        self.rest();
        // One that was never sent has asked nothing of its host.
        self.turn = None;
        let known = self.known.iter().find(|(keys, _)| *keys.name == *url.host()).cloned();
        let (keys, policy) = known.unwrap_or_else(|| (HostKeys::new(url.host(), &[]), self.usual));
        loop {
            let permit = Arc::clone(&self.requests).acquire_owned().await;
            let now = self.clock.now();
            let gate = match self.hosts.ask(&keys, policy, now) {
                Ok(slot) => {
                    // The semaphore is never closed; were it, one request more is no harm.
                    if let Ok(permit) = permit {
                        self.turn = Some(Turn { slot, keys, policy, _permit: permit, is_used: true });
                    }
                    return Ok(());
                }
                Err(gate) => gate,
            };
            drop(permit);
            let paused_until = self.hosts.blocked_until(&keys.name, now);
            if paused_until > now && !waits_out {
                return Err(paused_until);
            }
            let wait = match gate {
                Gate::WaitUntil(at) => at.since(now),
                _ => CONNECTION_POLL,
            };
            tokio::time::sleep(wait).await;
        }
    }

    /// What is left of the last request, for whoever notes how its host took it; None where that was another host than
    /// `name`, which has been told itself.
    #[must_use]
    pub fn end(self, name: &str, answered: Answered) -> Option<Slot> {
        let turn = self.turn?;
        if *turn.keys.name == *name {
            return Some(turn.slot);
        }
        let _ = turn.slot.finish(answered, turn.policy, self.clock.now());
        None
    }
}

//! The gate that each request of a crawl's login passes: limits of the rule file and the run (`quiet_hours`,
//! `requests_per_day`, budgets), rate, rest and `Crawl-delay` of the requested host, its pauses, and the process's
//! limit of concurrent requests, as for any visit.
//!
//! A login has one request in flight and up to a dozen in all, to any of the site's hosts. Between two of them it holds
//! no slot, so that other sites go on. A login by hand has no pace: a person waits for it, and no other requests are made.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::hosts::{HostKeys, Hosts, Slot};
use crate::limits;
use crate::limits::CONNECTION_POLL;
use gleaner_base::clock::{Clock, UnixMillis};
use gleaner_base::url::CrawlUrl;
use gleaner_net::politeness::{Answered, Block, Gate, HostPolicy};
use gleaner_rules::SiteRules;

/// Limits set by a login's site and its run.
pub struct Bounds {
    /// The site's rules, for its quiet hours.
    pub rules: Arc<SiteRules>,
    /// Requests that the site's own budgets leave; meanwhile no other request goes to the site.
    pub left: u64,
    /// Requests of the whole run so far, and their maximum.
    pub pages: Arc<AtomicU64>,
    pub pages_max: Option<u64>,
    /// True once the site's crawl is to end.
    pub stop: watch::Receiver<bool>,
    /// Becomes true once a form with the password is being sent.
    pub form_left: Arc<AtomicBool>,
}

/// Why a request of a login is not sent.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error("{host} pauses until {}", .until.rfc3339())]
    Pauses { host: Box<str>, until: UnixMillis },
    #[error("quiet_hours of the rule file last until {}", .0.rfc3339())]
    QuietHours(UnixMillis),
    #[error("requests_per_day, pages_max or --max-pages is used up")]
    Budget,
    #[error("the crawl of the site is stopping")]
    Stopped,
}

/// The pace of one login, or of one proof.
pub struct Pace {
    hosts: Hosts,
    /// One permit per request in flight, over all sites.
    requests: Arc<Semaphore>,
    clock: Arc<dyn Clock>,
    bounds: Bounds,
    /// Keys and policies of the site's known hosts.
    known: Vec<(Arc<HostKeys>, HostPolicy)>,
    /// The policy for an unknown host.
    usual: HostPolicy,
    turn: Option<Turn>,
    /// How the host answered the last request.
    answered: Answered,
    /// Requests so far.
    sent: u64,
    /// Pauses that were imposed during the login, by host name.
    pauses: Vec<(Box<str>, Block)>,
}

/// A request that may be sent, or is in flight.
struct Turn {
    slot: Slot,
    keys: Arc<HostKeys>,
    policy: HostPolicy,
    _permit: OwnedSemaphorePermit,
    is_used: bool,
}

impl Pace {
    /// A pace that starts with a request that has already passed the gate, to the host of these keys.
    #[must_use]
    pub fn new(
        hosts: Hosts,
        requests: Arc<Semaphore>,
        clock: Arc<dyn Clock>,
        bounds: Bounds,
        known: Vec<(Arc<HostKeys>, HostPolicy)>,
        (keys, policy, slot, permit): (Arc<HostKeys>, HostPolicy, Slot, OwnedSemaphorePermit),
    ) -> Self {
        let turn = Some(Turn { slot, keys, policy, _permit: permit, is_used: false });
        let usual = HostPolicy { rest_ms_min: 0, ..policy };
        let (answered, sent, pauses) = (Answered::Reached, 0, Vec::new());
        Self { hosts, requests, clock, bounds, known, usual, turn, answered, sent, pauses }
    }

    /// Result of the request in flight; its host state is updated at the next request, or at the end.
    pub(super) fn answered(&mut self, answered: Answered) {
        self.answered = answered;
    }

    /// A form with the password is being sent.
    pub(super) fn form_leaves(&self) {
        self.bounds.form_left.store(true, Ordering::Relaxed);
    }

    /// The last request has ended.
    pub(super) fn rest(&mut self) {
        if let Some(turn) = self.turn.take_if(|turn| turn.is_used) {
            self.finish(turn);
        }
    }

    fn finish(&mut self, turn: Turn) {
        let answered = std::mem::replace(&mut self.answered, Answered::Reached);
        if let Some(block) = turn.slot.finish(answered, turn.policy, self.clock.now()).block {
            self.pauses.push((turn.keys.name.clone(), block));
        }
    }

    /// Waits as long as a person would need to type.
    ///
    /// # Errors
    /// If the site's crawl is to end before the form was sent.
    pub(super) async fn type_in(&mut self, was_sent: bool) -> Result<(), Refusal> {
        self.sleep(limits::LOGIN_PAUSE, was_sent).await
    }

    /// Waits until a request for this URL may be sent, and counts it.
    ///
    /// # Errors
    /// Why the request is refused instead of delayed: a pause of the host before the form was sent (no form outlives one),
    /// one that takes longer than `limits::SESSION_PATIENCE` after it; quiet hours and budgets; the end of the site's crawl
    /// before the form was sent.
    pub(super) async fn pass(&mut self, url: &CrawlUrl, was_sent: bool) -> Result<(), Refusal> {
        let is_ready = |turn: &Turn| !turn.is_used && *turn.keys.name == *url.host();
        if !self.turn.as_ref().is_some_and(is_ready) {
            self.rest();
            // An unused slot has cost its host no request.
            self.turn = None;
        }
        let known = self.known.iter().find(|(keys, _)| *keys.name == *url.host()).cloned();
        let (keys, policy) = known.unwrap_or_else(|| (HostKeys::new(url.host(), &[]), self.usual));
        loop {
            let now = self.clock.now();
            self.is_allowed(now, was_sent)?;
            if let Some(turn) = &mut self.turn {
                turn.is_used = true;
                self.sent += 1;
                self.bounds.pages.fetch_add(1, Ordering::Relaxed);
                return Ok(());
            }
            let permit = Arc::clone(&self.requests).acquire_owned().await;
            let now = self.clock.now();
            let gate = match (self.hosts.ask(&keys, policy, now), permit) {
                (Ok(slot), Ok(permit)) => {
                    let keys = Arc::clone(&keys);
                    self.turn = Some(Turn { slot, keys, policy, _permit: permit, is_used: false });
                    continue;
                }
                // The semaphore is never closed; if it were, the process would be ending.
                (Ok(_), Err(_)) => return Err(Refusal::Stopped),
                (Err(gate), _) => gate,
            };
            let until = self.hosts.blocked_until(&keys.name, now);
            let patience = if was_sent { limits::SESSION_PATIENCE } else { Duration::ZERO };
            if until.since(now) > patience {
                return Err(Refusal::Pauses { host: url.host().into(), until });
            }
            let wait = match gate {
                Gate::WaitUntil(at) => at.since(now),
                _ => CONNECTION_POLL,
            };
            self.sleep(wait, was_sent).await?;
        }
    }

    /// Checks the limits of the site's rules and the run for a request now.
    fn is_allowed(&self, now: UnixMillis, was_sent: bool) -> Result<(), Refusal> {
        let Bounds { rules, left, pages, pages_max, stop, form_left: _ } = &self.bounds;
        if *stop.borrow() && !was_sent {
            return Err(Refusal::Stopped);
        }
        if let Some(until) = rules.hours.quiet_until(now) {
            return Err(Refusal::QuietHours(until));
        }
        let run_is_over = pages_max.is_some_and(|max| pages.load(Ordering::Relaxed) >= max);
        if self.sent >= *left || run_is_over { Err(Refusal::Budget) } else { Ok(()) }
    }

    /// Sleeps, unless the site's crawl is to end before the form was sent: then it must not be sent any more.
    async fn sleep(&mut self, time: Duration, was_sent: bool) -> Result<(), Refusal> {
        let stop = &mut self.bounds.stop;
        let told_to_stop = async {
            // Without a sender nobody can request the end any more.
            if was_sent || stop.wait_for(|stop| *stop).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            biased;
            () = told_to_stop => Err(Refusal::Stopped),
            () = tokio::time::sleep(time) => Ok(()),
        }
    }

    /// Requests that were sent.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Pauses that hosts have imposed during the login, to be recorded.
    pub fn take_pauses(&mut self) -> Vec<(Box<str>, Block)> {
        std::mem::take(&mut self.pauses)
    }

    /// The slot of the last request and its result, for the caller to record; None if it went to another host
    /// than `name`, whose state is updated already, or if nothing was sent.
    #[must_use]
    pub fn end(&mut self, name: &str) -> Option<(Slot, Answered)> {
        let turn = self.turn.take_if(|turn| turn.is_used)?;
        if *turn.keys.name == *name {
            return Some((turn.slot, self.answered));
        }
        self.finish(turn);
        None
    }
}

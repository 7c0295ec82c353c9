//! Host states shared by all sites of the process: two sites on one host share its pauses, and all host names of one
//! registrable domain, or at one address, share its rate and its connections.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_net::politeness::{self, Answered, Block, Gate, HostPolicy, Load, Patience};
pub use gleaner_net::politeness::{is_asked_for, is_time_named};
use gleaner_store::crawldb::{HostId, HostRow};

/// Key by which the rate and the connections of a host are counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum LoadKey {
    Domain(Box<str>),
    Address(IpAddr),
}

/// The keys of a host in politeness.
#[derive(Debug)]
pub struct HostKeys {
    /// Host name, without the port.
    pub name: Box<str>,
    loads: Vec<LoadKey>,
}

impl HostKeys {
    /// A host by its name and addresses; none if they are unknown.
    #[must_use]
    pub fn new(name: &str, addresses: &[IpAddr]) -> Arc<Self> {
        let domain = LoadKey::Domain(politeness::domain_of(name).into());
        let mut addresses: Vec<IpAddr> = addresses.to_vec();
        addresses.sort_unstable();
        addresses.dedup();
        let loads = std::iter::once(domain).chain(addresses.into_iter().map(LoadKey::Address)).collect();
        Arc::new(Self { name: name.into(), loads })
    }
}

/// All hosts of the process.
#[derive(Clone, Debug, Default)]
pub struct Hosts(Arc<Mutex<HostStates>>);

#[derive(Debug, Default)]
struct HostStates {
    patience: HashMap<Box<str>, Patience>,
    loads: HashMap<LoadKey, Load>,
    taken_up: HashSet<HostId>,
    /// The crawl's clock and the machine's monotonic one, read together.
    clocks: Option<(UnixMillis, Instant)>,
    set_by_ms: i64,
}

impl Hosts {
    fn known(&self) -> MutexGuard<'_, HostStates> {
        // A state is a few numbers, consistent at any time.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The states, with their times moved if the clock was set. `now` must have been read just now.
    fn known_at(&self, now: UnixMillis) -> MutexGuard<'_, HostStates> {
        let mut known = self.known();
        known.follow_clock(now);
        known
    }

    /// Total of milliseconds by which the clock was set since this process began.
    #[must_use]
    pub fn clock_set_by(&self, now: UnixMillis) -> i64 {
        self.known_at(now).set_by_ms
    }

    /// Restores the pause recorded in a row: one of this host name, imposed before this process began. Later pauses
    /// are known here, and move with the clock as a row does not: each row is restored once.
    pub fn take_up(&self, row: &HostRow, name: &str, now: UnixMillis) {
        let mut known = self.known_at(now);
        if known.taken_up.insert(row.id) && (row.blocked_until > now || row.complaints > 0) {
            // A pause that a wrong clock has put further away than any pause can be is cut.
            let until = row.blocked_until.min(now.plus(limits::RETRY_AFTER_MAX));
            known.patience.entry(name.into()).or_default().block(until, row.complaints);
        }
    }

    /// Whether the pauses of this host allow a request now.
    #[must_use]
    pub fn patience(&self, name: &str, now: UnixMillis) -> Gate {
        self.known_at(now).patience.get(name).map_or(Gate::Go, |patience| patience.ask(now))
    }

    /// Until when this host pauses; zero if it does not.
    #[must_use]
    pub fn blocked_until(&self, name: &str, now: UnixMillis) -> UnixMillis {
        match self.patience(name, now) {
            Gate::WaitUntil(until) => until,
            _ => UnixMillis(0),
        }
    }

    /// Requests a slot now. `Err` is never [`Gate::Go`].
    pub fn ask(&self, keys: &Arc<HostKeys>, policy: HostPolicy, now: UnixMillis) -> Result<Slot, Gate> {
        let mut known = self.known_at(now);
        let HostStates { patience, loads, .. } = &mut *known;
        let mut gate = patience.get(&keys.name).map_or(Gate::Go, |patience| patience.ask(now));
        for key in &keys.loads {
            if let Some(load) = loads.get_mut(key) {
                gate = gate.and(load.ask(policy, now));
            }
        }
        if gate != Gate::Go {
            return Err(gate);
        }
        if loads.len() >= limits::LOADS_MAX {
            loads.retain(|_, load| !load.is_idle(now));
        }
        for key in &keys.loads {
            match loads.get_mut(key) {
                Some(load) => load.started(policy, now),
                None => loads.entry(key.clone()).or_default().started(policy, now),
            }
        }
        Ok(Slot { hosts: self.clone(), keys: Arc::clone(keys), policy, began: Instant::now(), is_open: true })
    }
}

impl HostStates {
    /// Ends a request; its connection rests until the given time.
    fn end(&mut self, keys: &HostKeys, rests_until: UnixMillis) {
        for key in &keys.loads {
            if let Some(load) = self.loads.get_mut(key) {
                load.ended(rests_until);
            }
        }
    }

    /// Moves all times when the clock was set (an appliance without a battery boots in the past). A clock set back must not stop a
    /// host for hours, and a clock set forward must not end a pause early.
    fn follow_clock(&mut self, now: UnixMillis) {
        let steady = Instant::now();
        let Some((then, steady_then)) = self.clocks.replace((now, steady)) else { return };
        let expected = then.plus(steady - steady_then);
        let set_by = i64::try_from(i128::from(now.0) - i128::from(expected.0)).unwrap_or(0);
        if set_by.unsigned_abs() < limits::CLOCK_SET_MS_MIN {
            return;
        }
        tracing::warn!(set_by_ms = set_by, "the clock was changed: the pauses of hosts are shifted with it");
        self.set_by_ms = self.set_by_ms.saturating_add(set_by);
        self.patience.values_mut().for_each(|patience| patience.shift(set_by));
        self.loads.values_mut().for_each(|load| load.shift(set_by));
    }
}

/// A request in flight. If it is dropped without [`Self::finish`] (the visit was cancelled), it gives its connection back, which
/// rests as after a response.
#[derive(Debug)]
pub struct Slot {
    hosts: Hosts,
    keys: Arc<HostKeys>,
    /// The policy when it began.
    policy: HostPolicy,
    began: Instant,
    is_open: bool,
}

impl Slot {
    /// Ends the request; returns the pause that the host gets for it, if any, and whether earlier ones were forgiven.
    /// `policy` is the current one: a robots.txt may just have set its delay.
    #[must_use]
    pub fn finish(mut self, answered: Answered, policy: HostPolicy, now: UnixMillis) -> Ending {
        self.is_open = false;
        let rests_until = now.plus(policy.rest(self.began.elapsed()));
        let mut known = self.hosts.known_at(now);
        known.end(&self.keys, rests_until);
        let patience = known.patience.entry(self.keys.name.clone()).or_default();
        let complaints = patience.complaints();
        let block = patience.ended(answered, now);
        let pauses = patience.ask(now) != Gate::Go;
        Ending { block, pauses, forgiven: complaints > 0 && patience.complaints() == 0 }
    }
}

/// Consequence of a finished request for its host.
#[derive(Debug)]
pub struct Ending {
    pub block: Option<Block>,
    /// True while the host pauses, because of this answer or an earlier one.
    pub pauses: bool,
    /// True when this answer ended a row of complaints.
    pub forgiven: bool,
}

impl Drop for Slot {
    fn drop(&mut self) {
        if self.is_open {
            let mut known = self.hosts.known();
            // The last reading of the crawl's clock plus the time since: a drop has no clock.
            let now = known.clocks.map_or(UnixMillis(0), |(then, steady)| then.plus(steady.elapsed()));
            let rests_until = now.plus(self.policy.rest(self.began.elapsed()));
            known.end(&self.keys, rests_until);
        }
    }
}

#[cfg(test)]
mod tests;

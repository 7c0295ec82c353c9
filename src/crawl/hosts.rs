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
pub struct Hosts(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    patience: HashMap<Box<str>, Patience>,
    loads: HashMap<LoadKey, Load>,
    taken_up: HashSet<HostId>,
    /// The crawl's clock and the machine's monotonic one, read together.
    clocks: Option<(UnixMillis, Instant)>,
    set_by_ms: i64,
}

impl Hosts {
    fn known(&self) -> MutexGuard<'_, Known> {
        // A state is a few numbers, consistent at any time.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The states, with their times moved if the clock was set. `now` must have been read just now.
    fn known_at(&self, now: UnixMillis) -> MutexGuard<'_, Known> {
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
        let Known { patience, loads, .. } = &mut *known;
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

impl Known {
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
mod tests {
    use std::time::Duration;

    use super::*;

    const POLICY: HostPolicy = HostPolicy { interval_ms: 1_000, connections_max: 1, rest_factor: 0.0, rest_ms_min: 0 };

    fn at(ms: u64) -> UnixMillis {
        UnixMillis(1_000_000_000 + ms)
    }

    fn wait(answer: Result<Slot, Gate>) -> Gate {
        answer.err().unwrap_or(Gate::Go)
    }

    #[tokio::test(start_paused = true)]
    async fn two_names_of_one_domain_share_its_rate() {
        let hosts = Hosts::default();
        let (www, dl) = (HostKeys::new("www.example.org", &[]), HostKeys::new("dl.example.org", &[]));
        let slot = hosts.ask(&www, POLICY, at(0)).expect("go");
        assert_eq!(wait(hosts.ask(&dl, POLICY, at(0))), Gate::WaitForConnection);
        let _ = slot.finish(Answered::Well, POLICY, at(0));
        assert_eq!(wait(hosts.ask(&dl, POLICY, at(0))), Gate::WaitUntil(at(1_000)));
        let other = HostKeys::new("www.example.net", &[]);
        assert_eq!(wait(hosts.ask(&other, POLICY, at(0))), Gate::Go);
    }

    #[tokio::test(start_paused = true)]
    async fn two_domains_at_one_address_share_its_rate() {
        let hosts = Hosts::default();
        let (one, two) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        let first = HostKeys::new("a.example", &[one]);
        let both = HostKeys::new("b.example", &[two, one, two]);
        let _slot = hosts.ask(&first, POLICY, at(0)).expect("go");
        assert_eq!(wait(hosts.ask(&both, POLICY, at(0))), Gate::WaitForConnection);
        assert_eq!(wait(hosts.ask(&HostKeys::new("c.example", &[two]), POLICY, at(0))), Gate::Go);
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_by_one_key_takes_nothing_from_the_others() {
        let hosts = Hosts::default();
        let (one, two) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        let _slot = hosts.ask(&HostKeys::new("a.example", &[one]), POLICY, at(0)).expect("go");
        let both = HostKeys::new("b.example", &[one, two]);
        for _ in 0..3 {
            assert_eq!(wait(hosts.ask(&both, POLICY, at(0))), Gate::WaitForConnection);
        }
        assert_eq!(wait(hosts.ask(&HostKeys::new("b.example", &[two]), POLICY, at(0))), Gate::Go);
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_binds_the_host_name_alone() {
        let hosts = Hosts::default();
        let (www, dl) = (HostKeys::new("www.example.org", &[]), HostKeys::new("dl.example.org", &[]));
        let slot = hosts.ask(&www, POLICY, at(0)).expect("go");
        let block = slot.finish(Answered::Throttled(Some(at(60_000))), POLICY, at(0)).block.expect("a pause");
        assert_eq!(block.until, at(60_000));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(wait(hosts.ask(&www, POLICY, at(1_000))), Gate::WaitUntil(at(60_000)));
        assert_eq!(hosts.patience("www.example.org", at(1_000)), Gate::WaitUntil(at(60_000)));
        assert_eq!(wait(hosts.ask(&dl, POLICY, at(1_000))), Gate::Go);
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_is_set_moves_the_pauses_with_it() {
        for set_by in [-3_600_000_i64, 3_600_000] {
            let hosts = Hosts::default();
            assert_eq!(hosts.clock_set_by(at(0)), 0);
            let keys = HostKeys::new("a.example", &[]);
            let slot = hosts.ask(&keys, POLICY, at(0)).expect("go");
            let _ = slot.finish(Answered::Throttled(Some(at(60_000))), POLICY, at(0));
            tokio::time::advance(Duration::from_secs(20)).await;
            let now = UnixMillis(at(20_000).0.saturating_add_signed(set_by));
            let until = UnixMillis(at(60_000).0.saturating_add_signed(set_by));
            assert_eq!(hosts.clock_set_by(now), set_by);
            assert_eq!(wait(hosts.ask(&keys, POLICY, now)), Gate::WaitUntil(until), "set by {set_by} ms");
            tokio::time::advance(Duration::from_secs(40)).await;
            assert_eq!(hosts.clock_set_by(until), set_by);
            assert_eq!(wait(hosts.ask(&keys, POLICY, until)), Gate::Go, "set by {set_by} ms");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_row_is_taken_up_once() {
        let hosts = Hosts::default();
        let row = HostRow {
            id: HostId(3),
            site: "s".into(),
            origin: "http://a.example".into(),
            blocked_until: at(60_000),
            blocked_reason: "429".into(),
            complaints: 1,
        };
        hosts.take_up(&row, "a.example", at(0));
        assert_eq!(hosts.blocked_until("a.example", at(0)), at(60_000));
        tokio::time::advance(Duration::from_secs(20)).await;
        // The row's time was taken by a clock that was an hour ahead.
        let now = UnixMillis(at(20_000).0 - 3_600_000);
        hosts.take_up(&row, "a.example", now);
        assert_eq!(hosts.blocked_until("a.example", now), now.plus(Duration::from_secs(40)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_was_broken_off_gives_its_connection_back_once_it_has_rested() {
        let hosts = Hosts::default();
        let keys = HostKeys::new("a.example", &[]);
        let policy = HostPolicy { interval_ms: 0, rest_factor: 2.0, ..POLICY };
        let slot = hosts.ask(&keys, policy, at(0)).expect("go");
        tokio::time::advance(Duration::from_millis(300)).await;
        drop(slot);
        assert_eq!(wait(hosts.ask(&keys, policy, at(300))), Gate::WaitUntil(at(900)));
        tokio::time::advance(Duration::from_millis(600)).await;
        assert_eq!(wait(hosts.ask(&keys, policy, at(900))), Gate::Go);
    }
}

//! DNS: one cache of names for the whole process, in front of the system's name servers. It honours TTLs, merges
//! concurrent lookups of one name, and serves stale answers while the servers fail.
//!
//! The client looks names up at each new connection (through the address guard of [`super::resolve`]). The crawl
//! looks them up to count a rate by address and to know the hosts of links before it visits them. Never connects,
//! never judges an address, and keeps no name longer than its caps allow.

mod cache;
#[cfg(test)]
pub(super) mod name_server;
mod servers;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, WeakShared};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use self::cache::Cache;
use self::servers::{Found, Servers};
use crate::limits;

/// The known addresses of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// At least one; IPv4 addresses come first.
    pub addresses: Arc<[IpAddr]>,
    /// How long the addresses are valid.
    pub ttl: Duration,
}

/// Why a name has no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DnsError {
    #[error("no such host: `{0}`")]
    NoSuchName(Box<str>),
    #[error("`{0}` has no addresses")]
    NoAddress(Box<str>),
    /// No server answered: the name may well exist.
    #[error(
        "no name server answered for `{name}`: {why}\nhint: check the network and the name servers in /etc/resolv.conf"
    )]
    NoAnswer { name: Box<str>, why: Box<str> },
}

/// The process's resolver. Clones share one cache.
#[derive(Clone)]
pub struct Dns(Arc<Inner>);

struct Inner {
    servers: Servers,
    state: Mutex<Lookups>,
    /// Limits concurrent lookups.
    lookups: Arc<Semaphore>,
}

type Answer = Result<Located, DnsError>;
type Flight = BoxFuture<'static, Answer>;

struct Lookups {
    cache: Cache,
    /// Lookups in progress. The callers that wait for them drive them. They end with the last caller, unless those
    /// callers were served a stale answer.
    flights: HashMap<Box<str>, WeakShared<Flight>>,
}

impl Default for Dns {
    /// The system's name servers and hosts file, read at the first lookup.
    fn default() -> Self {
        Self::new(Servers::system())
    }
}

impl Dns {
    fn new(servers: Servers) -> Self {
        let state = Lookups { cache: Cache::new(limits::DNS_NAMES_MAX), flights: HashMap::new() };
        let lookups = Arc::new(Semaphore::new(limits::DNS_LOOKUPS_MAX));
        Self(Arc::new(Inner { servers, state: Mutex::new(state), lookups }))
    }

    /// The addresses of a name; from the cache while they are valid. Concurrent callers for one name share one
    /// lookup. Takes at most [`limits::DNS_TIME_MAX`] after it left the queue, and [`limits::DNS_STALE_PATIENCE`] in
    /// all if a stale answer exists.
    ///
    /// # Errors
    /// Reports whether the name does not exist or no server answered.
    pub async fn lookup(&self, name: &str) -> Answer {
        let flight = {
            let mut state = self.0.state();
            if let Some(known) = state.cache.get(name, Instant::now()) {
                return known;
            }
            state.flights.get(name).and_then(WeakShared::upgrade).unwrap_or_else(|| {
                let flight = fly(Landing { dns: Arc::clone(&self.0), name: name.into() }).boxed().shared();
                state.flights.extend(flight.downgrade().map(|weak| (name.into(), weak)));
                flight
            })
        };
        flight.await
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, Lookups> {
        // The state is consistent between any two statements that could panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A lookup in progress; removes itself from the list on every exit.
struct Landing {
    dns: Arc<Inner>,
    name: Box<str>,
}

impl Drop for Landing {
    fn drop(&mut self) {
        self.dns.state().flights.remove(&self.name);
    }
}

/// Runs a lookup, from the queue to its answer.
async fn fly(landing: Landing) -> Answer {
    let (dns, name) = (Arc::clone(&landing.dns), landing.name.clone());
    // The semaphore is never closed; without a permit the lookup would continue anyway.
    let turn = Arc::clone(&dns.lookups).acquire_owned();
    if !dns.state().cache.has_stale(&name, Instant::now()) {
        return ask(landing, turn.await.ok()).await;
    }
    // The callers get the stale answer, but the lookup continues (RFC 8767 §5): if the servers are merely slow, the
    // next caller gets the new answer.
    let late = async { tokio::spawn(ask(landing, turn.await.ok())).await };
    match tokio::time::timeout(limits::DNS_STALE_PATIENCE, late).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) | Err(_) => {
            dns.state().cache.put(&name, no_answer(&name, limits::DNS_STALE_PATIENCE), Instant::now())
        }
    }
}

/// Queries the servers while it holds a permit, and caches the answer.
async fn ask(landing: Landing, _turn: Option<OwnedSemaphorePermit>) -> Answer {
    let Landing { dns, name } = &landing;
    let asked = tokio::time::timeout(limits::DNS_TIME_MAX, dns.servers.ask(name)).await;
    let found = asked.unwrap_or_else(|_| no_answer(name, limits::DNS_TIME_MAX));
    dns.state().cache.put(name, found, Instant::now())
}

fn no_answer(name: &str, after: Duration) -> Found {
    let why = format!("time-out after {:.1} s", after.as_secs_f64()).into();
    Found { addresses: Err(DnsError::NoAnswer { name: name.into(), why }), ttl: Duration::ZERO }
}

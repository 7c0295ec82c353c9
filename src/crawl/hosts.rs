//! Host states by host name, shared by all sites of the process: two sites on one host share its patience.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::clock::UnixMillis;
use crate::politeness::{Answered, Block, Gate, HostPolicy, HostState};

/// All hosts of the process.
#[derive(Clone, Default)]
pub struct Hosts(Arc<Mutex<HashMap<String, HostState>>>);

impl Hosts {
    fn states(&self) -> MutexGuard<'_, HashMap<String, HostState>> {
        // A state is a few numbers, whole at any time.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, host: &str, change: impl FnOnce(&mut HostState) -> T) -> T {
        let mut states = self.states();
        match states.get_mut(host) {
            Some(state) => change(state),
            None => change(states.entry(host.to_owned()).or_default()),
        }
    }

    /// A pause that was imposed before this process began.
    pub fn block(&self, host: &str, until: UnixMillis) {
        self.with(host, |state| state.block(until));
    }

    /// Asks for a request now. `Err` is never [`Gate::Go`].
    pub fn ask(&self, host: &Arc<str>, policy: HostPolicy, now: UnixMillis) -> Result<Slot, Gate> {
        match self.with(host, |state| state.ask(policy, now)) {
            Gate::Go => Ok(Slot { hosts: self.clone(), host: Arc::clone(host), is_open: true }),
            wait => Err(wait),
        }
    }
}

/// A request under way. Dropped without [`Self::finish`] (the visit was broken off), it gives its connection back.
pub struct Slot {
    hosts: Hosts,
    host: Arc<str>,
    is_open: bool,
}

impl Slot {
    /// The request ended; returns the pause that the host gets for it, if any.
    #[must_use]
    pub fn finish(mut self, answered: Answered, now: UnixMillis) -> Option<Block> {
        self.is_open = false;
        self.hosts.with(&self.host, |state| state.finished(answered, now))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if self.is_open {
            self.hosts.with(&self.host, HostState::broken_off);
        }
    }
}

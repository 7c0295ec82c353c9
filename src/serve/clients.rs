//! How often each client asks: whoever asks too often waits.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use gleaner_base::clock::UnixMillis;

use crate::limits::{BURST_SECONDS, CLIENTS_MAX};

/// Requests that a client may send now.
struct Allowance {
    left: f64,
    at: UnixMillis,
}

/// Requests of each address; those over a Unix socket have none, and count together.
pub struct Clients {
    per_second: f64,
    known: Mutex<HashMap<Option<IpAddr>, Allowance>>,
}

impl Clients {
    #[must_use]
    pub fn new(per_second: u32) -> Self {
        Self { per_second: per_second.into(), known: Mutex::default() }
    }

    /// Counts a request.
    ///
    /// # Errors
    /// The seconds to wait, if it is one too many.
    pub fn ask(&self, client: Option<IpAddr>, now: UnixMillis) -> Result<(), u64> {
        let at_once = self.per_second * BURST_SECONDS;
        let mut clients = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if clients.len() >= CLIENTS_MAX && !clients.contains_key(&client) {
            let silent = clients.iter().min_by_key(|(_, allowance)| allowance.at).map(|(client, _)| *client);
            silent.map(|client| clients.remove(&client));
        }
        let allowance = clients.entry(client).or_insert(Allowance { left: at_once, at: now });
        let earned = now.since(allowance.at).as_secs_f64() * self.per_second;
        (allowance.left, allowance.at) = ((allowance.left + earned).min(at_once), now);
        if allowance.left < 1.0 {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive and small")]
            return Err(((1.0 - allowance.left) / self.per_second).ceil().max(1.0) as u64);
        }
        allowance.left -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_thousand_requests_a_minute_are_too_many_and_a_pause_is_enough() {
        let clients = Clients::new(25);
        let client = Some(IpAddr::from([10, 0, 0, 1]));
        let refused = (0..2_000_u64).filter(|nth| clients.ask(client, UnixMillis(nth * 30)).is_err()).count();
        assert!((150..300).contains(&refused), "{refused}");
        assert_eq!(clients.ask(client, UnixMillis(100_000)), Ok(()));
        assert_eq!(clients.ask(Some(IpAddr::from([10, 0, 0, 2])), UnixMillis(60_000)), Ok(()));
    }

    #[test]
    fn strangers_are_forgotten() {
        let clients = Clients::new(25);
        for nth in 0..3_000_u32 {
            let _ = clients.ask(Some(IpAddr::from(nth.to_be_bytes())), UnixMillis(nth.into()));
        }
        assert!(clients.known.lock().unwrap().len() <= CLIENTS_MAX);
    }
}

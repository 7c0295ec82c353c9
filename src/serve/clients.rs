//! How often each client asks: whoever asks too often waits.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use gleaner_base::clock::UnixMillis;

use crate::limits::{CLIENTS_MAX, REQUESTS_AT_ONCE, REQUESTS_PER_SECOND};

/// Requests that a client may send now.
struct Allowance {
    left: f64,
    at: UnixMillis,
}

/// Requests of each address; those over a Unix socket have none, and count together.
#[derive(Default)]
pub struct Clients(Mutex<HashMap<Option<IpAddr>, Allowance>>);

impl Clients {
    /// Counts a request.
    ///
    /// # Errors
    /// The seconds to wait, if it is one too many.
    pub fn ask(&self, client: Option<IpAddr>, now: UnixMillis) -> Result<(), u64> {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if clients.len() >= CLIENTS_MAX && !clients.contains_key(&client) {
            let silent = clients.iter().min_by_key(|(_, allowance)| allowance.at).map(|(client, _)| *client);
            silent.map(|client| clients.remove(&client));
        }
        let allowance = clients.entry(client).or_insert(Allowance { left: REQUESTS_AT_ONCE, at: now });
        let earned = now.since(allowance.at).as_secs_f64() * REQUESTS_PER_SECOND;
        (allowance.left, allowance.at) = ((allowance.left + earned).min(REQUESTS_AT_ONCE), now);
        if allowance.left < 1.0 {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive and small")]
            return Err(((1.0 - allowance.left) / REQUESTS_PER_SECOND).ceil().max(1.0) as u64);
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
        let clients = Clients::default();
        let client = Some(IpAddr::from([10, 0, 0, 1]));
        let refused = (0..2_000_u64).filter(|nth| clients.ask(client, UnixMillis(nth * 30)).is_err()).count();
        assert!((150..300).contains(&refused), "{refused}");
        assert_eq!(clients.ask(client, UnixMillis(100_000)), Ok(()));
        assert_eq!(clients.ask(Some(IpAddr::from([10, 0, 0, 2])), UnixMillis(60_000)), Ok(()));
    }

    #[test]
    fn strangers_are_forgotten() {
        let clients = Clients::default();
        for nth in 0..3_000_u32 {
            let _ = clients.ask(Some(IpAddr::from(nth.to_be_bytes())), UnixMillis(nth.into()));
        }
        assert!(clients.0.lock().unwrap().len() <= CLIENTS_MAX);
    }
}

//! Limits for the memory that large bodies use, shared by the sites of the process.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits;
use gleaner_net::fetch::body::Allowance;

/// Limits for the memory that large bodies use while they are read and parsed. Clones share the same limits; what is found in the
/// bodies is counted by the commit.
#[derive(Clone, Debug)]
pub struct Memory {
    pub bodies: Allowance,
    parses: Arc<Semaphore>,
}

impl Default for Memory {
    /// The `limits` of one process.
    fn default() -> Self {
        Self { bodies: Allowance::default(), parses: Arc::new(Semaphore::new(limits::PARSES_MAX)) }
    }
}

impl Memory {
    /// Waits for a permit to parse a large body, which is returned when it is dropped.
    pub async fn parse(&self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed, so a permit is always returned.
        Arc::clone(&self.parses).acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn large_bodies_are_parsed_one_at_a_time_over_all_sites() {
        let memory = Memory::default();
        let first = memory.parse().await;
        assert!(first.is_some());
        let of_another_site = memory.clone();
        let second = tokio::spawn(async move { of_another_site.parse().await.is_some() });
        tokio::task::yield_now().await;
        assert!(!second.is_finished(), "the first is still being parsed");
        drop(first);
        assert!(second.await.unwrap());
    }
}

//! What large bodies may take of the process's memory, shared by its sites.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits;
use gleaner_net::fetch::body::Allowance;

/// What large bodies may take of the process's memory, while they are read and while they are parsed. Clones share the
/// same; what is found in them is the commit's to count.
#[derive(Clone, Debug)]
pub struct Memory {
    pub bodies: Allowance,
    parses: Arc<Semaphore>,
}

impl Default for Memory {
    /// As much as `limits` allow one process.
    fn default() -> Self {
        Self { bodies: Allowance::default(), parses: Arc::new(Semaphore::new(limits::PARSES_MAX)) }
    }
}

impl Memory {
    /// Waits for a turn to parse a large body, which ends when it is dropped.
    pub async fn parse(&self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed, so that there always is one.
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

//! A stream of events that a page listens to (HTML §9.2): its server may never end it, so it is read for a while only, and what has come by
//! then is its response.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use gleaner_net::fetch::{Body, FetchFailure};
use tokio::time::{Instant, timeout_at};

use crate::limits;

/// A body that ends in time.
pub(super) struct Brief {
    body: Box<dyn Body>,
    ends: Instant,
    is_cut: Arc<AtomicBool>,
}

impl Brief {
    /// The body, and whether it was cut once it has ended.
    pub fn new(body: Box<dyn Body>) -> (Self, Arc<AtomicBool>) {
        let is_cut = Arc::<AtomicBool>::default();
        let ends = Instant::now() + limits::RENDER_EVENTS_TIME;
        (Self { body, ends, is_cut: Arc::clone(&is_cut) }, is_cut)
    }
}

#[async_trait::async_trait]
impl Body for Brief {
    async fn chunk(&mut self) -> Result<Option<Bytes>, FetchFailure> {
        let until = self.ends.min(Instant::now() + limits::RENDER_EVENTS_SILENCE_TIME);
        match timeout_at(until, self.body.chunk()).await {
            Ok(piece) => piece,
            // The body is not read again, so it does not matter that a piece may be lost half-way.
            Err(_) => {
                self.is_cut.store(true, Ordering::Relaxed);
                Ok(None)
            }
        }
    }
}

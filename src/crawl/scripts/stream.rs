//! Requests that a page can do without: how long they may take, and streams of events (HTML §9.2), whose server may never end them. What has
//! come of a stream by then is its response.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use gleaner_net::fetch::{Body, FetchFailure};
use gleaner_render::wire::Asker;
use tokio::time::{Instant, timeout_at};

use crate::limits;

/// A request with those that its redirects lead to.
pub(super) struct Errand {
    /// Its hash.
    pub what: u64,
    pub asker: Asker,
    ends: OnceLock<Instant>,
}

impl Errand {
    pub fn new(what: u64, asker: Asker) -> Self {
        Self { what, asker, ends: OnceLock::new() }
    }

    /// What a failure is recorded under; `None` if the page is whole without it.
    pub fn blamed(&self) -> Option<u64> {
        (!self.asker.is_decoration()).then_some(self.what)
    }

    /// When it is over, sending and reading together, counted from the first call; `None` if only the transport bounds it.
    pub fn ends(&self) -> Option<Instant> {
        let time = match self.asker {
            Asker::Events => limits::RENDER_EVENTS_TIME,
            asker if asker.is_decoration() => limits::RENDER_DECORATION_TIME,
            _ => return None,
        };
        Some(*self.ends.get_or_init(|| Instant::now() + time))
    }
}

/// The result of a future, or `None` if it is not done in time.
pub(super) async fn by<T>(ends: Option<Instant>, what: impl Future<Output = T>) -> Option<T> {
    match ends {
        Some(ends) => timeout_at(ends, what).await.ok(),
        None => Some(what.await),
    }
}

/// A stream that ends in time. One that breaks off is cut as well: its page would connect again.
pub(super) struct Brief {
    body: Box<dyn Body>,
    ends: Instant,
    /// The last bytes, until the first line of data has come.
    before_event: Option<Vec<u8>>,
    is_cut: Arc<AtomicBool>,
}

impl Brief {
    /// The body, and whether it was cut once it has ended.
    pub fn new(body: Box<dyn Body>, ends: Instant) -> (Self, Arc<AtomicBool>) {
        let is_cut = Arc::<AtomicBool>::default();
        (Self { body, ends, before_event: Some(b"\n".to_vec()), is_cut: Arc::clone(&is_cut) }, is_cut)
    }

    fn look(&mut self, piece: &[u8]) {
        let Some(before) = &mut self.before_event else { return };
        before.extend_from_slice(piece);
        if before.windows(5).any(|five| matches!(five[0], b'\n' | b'\r') && five[1..] == *b"data") {
            self.before_event = None;
        } else {
            before.drain(..before.len().saturating_sub(4));
        }
    }
}

#[async_trait::async_trait]
impl Body for Brief {
    async fn chunk(&mut self) -> Result<Option<Bytes>, FetchFailure> {
        let silence = self.before_event.is_none().then(|| Instant::now() + limits::RENDER_EVENTS_SILENCE_TIME);
        let until = silence.map_or(self.ends, |silence| silence.min(self.ends));
        // The body is not read again, so it does not matter that a piece may be lost half-way.
        if let Ok(Ok(piece)) = timeout_at(until, self.body.chunk()).await {
            self.look(piece.as_deref().unwrap_or_default());
            return Ok(piece);
        }
        self.is_cut.store(true, Ordering::Relaxed);
        Ok(None)
    }
}

//! Reads a body as it arrives: after every piece the reader decides whether it wants more, and no body grows beyond
//! its cap. The cap counts decoded bytes, so that a compressed bomb ends like any other large body.
//!
//! All bodies of the process together stay within their [`Allowance`]. A body that passes
//! [`limits::SMALL_BODY_BYTES_MAX`] waits for a share of it: once, for all bytes that its reader may want, so that
//! two bodies cannot deadlock. While it waits nothing is read, and the transport applies back-pressure to the sender.
//! The share lives as long as the bytes and is released when the last of them is dropped. While others wait, a body
//! with a share must keep a minimum pace and end in time; otherwise it may be as slow as the transport allows.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::{Body, FailureKind, FetchFailure};
use crate::limits;

/// The reader's decision after each piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Go on, up to this many bytes in all.
    UpTo(usize),
    /// Stop here.
    Stop,
}

/// How reading ended, with the bytes received until then.
#[derive(Debug)]
pub enum Read {
    Whole(Bytes),
    /// The reader stopped, or the body exceeded its cap (`over_cap`).
    Stopped {
        bytes: Bytes,
        over_cap: bool,
    },
    Failed {
        bytes: Bytes,
        failure: FetchFailure,
    },
}

/// The memory shared by large bodies. Clones share the same allowance.
#[derive(Clone, Debug)]
pub struct Allowance {
    /// One permit per KiB.
    kib: Arc<Semaphore>,
    kib_max: u32,
    /// Bodies that wait for a share.
    waiting: Arc<AtomicUsize>,
}

impl Default for Allowance {
    /// An allowance of [`limits::BODIES_BYTES_MAX`].
    fn default() -> Self {
        Self::new(limits::BODIES_BYTES_MAX)
    }
}

impl Allowance {
    /// An allowance of this many bytes, at least 1 KiB.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let kib_max = kib(bytes).max(1);
        Self { kib: Arc::new(Semaphore::new(kib_max as usize)), kib_max, waiting: Arc::default() }
    }

    /// Waits for a share, first come, first served. A request larger than the allowance gets all of it, alone.
    async fn share(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let wanted = kib(bytes).min(self.kib_max);
        // While others wait, nothing is free: released permits go to the first in the queue.
        if let Ok(permit) = Arc::clone(&self.kib).try_acquire_many_owned(wanted) {
            return Some(permit);
        }
        let _waiting = Waiting::join(&self.waiting);
        // The semaphore is never closed, so this always succeeds.
        Arc::clone(&self.kib).acquire_many_owned(wanted).await.ok()
    }

    fn is_waited_for(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }
}

/// Counts one waiting body until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn join(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whole KiB, rounded up.
fn kib(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(1 << 10)).unwrap_or(u32::MAX)
}

/// Reads a body. `announced` is its length by the headers. `ask` receives all bytes so far and whether they are
/// complete; it is called at least once.
///
/// A body with a share ends at the cap that was wanted when it got the share, or at its announced length: a share
/// never grows. While others wait for a share, a body that falls behind [`limits::BODY_PACE_BYTES_MIN`], or is not
/// complete within [`limits::BODY_SHARE_TIME`], fails with [`FailureKind::TimedOut`].
pub async fn read(
    mut body: Box<dyn Body>,
    announced: Option<u64>,
    allowance: &Allowance,
    mut ask: impl FnMut(&[u8], bool) -> Want,
) -> Read {
    let announced = announced.and_then(|length| usize::try_from(length).ok());
    let mut so_far = SoFar::default();
    let mut share: Option<Share> = None;
    loop {
        let next = match &mut share {
            None => body.chunk().await,
            Some(share) => share.pace.keep(&mut *body, allowance).await,
        };
        let piece = match next {
            Ok(Some(piece)) => piece,
            Ok(None) => {
                let want = ask(so_far.bytes(), true);
                let bytes = so_far.whole(share);
                return match want {
                    Want::UpTo(_) => Read::Whole(bytes),
                    Want::Stop => Read::Stopped { bytes, over_cap: false },
                };
            }
            Err(failure) => return Read::Failed { bytes: so_far.whole(share), failure },
        };
        // Reserved memory that is never written is free; a buffer that grows in steps is copied and fragments the
        // heap.
        let small = announced.filter(|length| *length <= limits::SMALL_BODY_BYTES_MAX);
        so_far.push(piece, share.as_ref().map(|share| share.bytes_max).or(small));
        let length = so_far.bytes().len();
        let cap = match ask(so_far.bytes(), false) {
            Want::UpTo(cap) => cap.min(share.as_ref().map_or(cap, |share| share.bytes_max)),
            Want::Stop => return Read::Stopped { bytes: so_far.whole(share), over_cap: false },
        };
        if length > cap {
            return Read::Stopped { bytes: so_far.whole(share), over_cap: true };
        }
        if length > limits::SMALL_BODY_BYTES_MAX && share.is_none() {
            // If the body is already longer than announced, the announced length is wrong and is ignored.
            let bytes_max = announced.filter(|announced| *announced >= length).map_or(cap, |length| length.min(cap));
            let permit = allowance.share(bytes_max).await;
            share = Some(Share { permit, bytes_max, pace: Pace::from(Instant::now()) });
        }
    }
}

/// A large body's share of the allowance while it is read.
struct Share {
    permit: Option<OwnedSemaphorePermit>,
    /// Maximum bytes of the whole body.
    bytes_max: usize,
    pace: Pace,
}

/// How fast a body arrives, measured over consecutive intervals.
struct Pace {
    stretch_ends: Instant,
    /// Bytes received in this interval.
    bytes: usize,
    /// Consecutive intervals that ended while others waited.
    waited_for: u64,
}

impl Pace {
    /// Bytes that must arrive in an interval.
    const LEAST: usize = limits::BODY_PACE_BYTES_MIN * limits::BODY_PACE_TIME.as_secs() as usize;

    /// Maximum intervals while others wait.
    const WAITED_FOR: u64 = limits::BODY_SHARE_TIME.as_secs() / limits::BODY_PACE_TIME.as_secs();

    /// How late a polled body may notice the end of an interval: timers are exact to milliseconds.
    const LATE: Duration = Duration::from_secs(1);

    fn from(now: Instant) -> Self {
        Self { stretch_ends: now + limits::BODY_PACE_TIME, bytes: 0, waited_for: 0 }
    }

    /// The next piece, unless the body is too slow while others wait.
    async fn keep(&mut self, body: &mut dyn Body, allowance: &Allowance) -> Result<Option<Bytes>, FetchFailure> {
        // One call for each piece, however long it takes: cancelling a body's future half-way may lose data.
        let mut next = body.chunk();
        loop {
            match tokio::time::timeout_at(self.stretch_ends, &mut next).await {
                Ok(piece) => {
                    self.bytes += piece.as_ref().map_or(0, |piece| piece.as_ref().map_or(0, Bytes::len));
                    return piece;
                }
                Err(_) => self.end_stretch(Instant::now(), allowance.is_waited_for())?,
            }
        }
    }

    /// The interval ended while a piece was awaited. A body whose pieces are always ready is fast enough.
    fn end_stretch(&mut self, now: Instant, is_waited_for: bool) -> Result<(), FetchFailure> {
        // A site that waits for a commit does not poll its bodies meanwhile; this must not count as slowness.
        let was_looked_after = now < self.stretch_ends + Self::LATE;
        let waited_for = if is_waited_for { self.waited_for + u64::from(was_looked_after) } else { 0 };
        let too_slow = |detail| Err(FetchFailure { kind: FailureKind::TimedOut, detail });
        if is_waited_for && was_looked_after && self.bytes < Self::LEAST {
            let (bytes, time) = (self.bytes, limits::BODY_PACE_TIME);
            return too_slow(format!("a large body came too slowly, and others wait: {bytes} bytes in {time:?}"));
        }
        if waited_for >= Self::WAITED_FOR {
            let time = limits::BODY_SHARE_TIME;
            return too_slow(format!("other bodies waited {time:?} for a large body to end"));
        }
        *self = Self { waited_for, ..Self::from(now) };
        Ok(())
    }
}

/// The bytes of a body so far.
#[derive(Default)]
struct SoFar {
    /// Most bodies arrive in one piece, which is kept without a copy.
    first: Bytes,
    joined: Vec<u8>,
}

impl SoFar {
    fn bytes(&self) -> &[u8] {
        if self.joined.is_empty() { &self.first } else { &self.joined }
    }

    /// Appends a piece. `expected` is the final length of the body, if it is known and memory for it may be reserved.
    fn push(&mut self, piece: Bytes, expected: Option<usize>) {
        if self.bytes().is_empty() {
            self.first = piece;
            return;
        }
        let first = std::mem::take(&mut self.first);
        let length = self.joined.len() + first.len() + piece.len();
        if length > self.joined.capacity() {
            // Growing by a quarter copies each byte only a few times, and only small bodies grow like this.
            let target = expected.filter(|expected| *expected >= length).unwrap_or(length + length / 4);
            self.joined.reserve_exact(target - self.joined.len());
        }
        self.joined.extend_from_slice(&first);
        self.joined.extend_from_slice(&piece);
    }

    /// The bytes with their share of the allowance; the unused part of the share is released.
    fn whole(self, share: Option<Share>) -> Bytes {
        let held_bytes = self.bytes().len();
        let bytes = if self.joined.is_empty() { self.first } else { Bytes::from(self.joined) };
        let Some(mut permit) = share.and_then(|share| share.permit) else { return bytes };
        let surplus = permit.num_permits().saturating_sub(kib(held_bytes) as usize);
        drop(permit.split(surplus));
        Bytes::from_owner(Shared { bytes, _permit: permit })
    }
}

/// Bytes that release their share when they are dropped.
struct Shared {
    bytes: Bytes,
    _permit: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests;

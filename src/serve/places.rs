//! Places for connections: a bounded number. When all are taken, the connection leaves that has waited longest for a request, so that whoever opens thousands and says
//! nothing keeps nobody out.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::limits::CONNECTIONS_MAX;

/// See the module.
pub struct Places {
    free: Arc<Semaphore>,
    /// Connections without a request, those that wait longest first.
    resting: Mutex<BTreeMap<u64, Arc<Notify>>>,
    next: AtomicU64,
}

impl Default for Places {
    fn default() -> Self {
        Self::of(CONNECTIONS_MAX)
    }
}

impl Places {
    fn of(count: usize) -> Self {
        let free = Arc::new(Semaphore::new(count));
        Self { free, resting: Mutex::default(), next: AtomicU64::new(0) }
    }

    fn resting(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Notify>>> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place, once there is one. While all connections are at work, the next ones wait.
    pub async fn seat(self: &Arc<Self>) -> Seat {
        let free = Arc::clone(&self.free);
        let permit = match Arc::clone(&free).try_acquire_owned() {
            Ok(permit) => Some(permit),
            Err(_) => {
                if let Some((_, longest)) = self.resting().pop_first() {
                    longest.notify_one();
                }
                // It is never closed.
                free.acquire_owned().await.ok()
            }
        };
        let seat = Seat { places: Arc::clone(self), leave: Arc::default(), at: Mutex::default(), _permit: permit };
        seat.rests();
        seat
    }
}

/// The place of one connection.
pub struct Seat {
    places: Arc<Places>,
    /// Tells the connection to leave.
    pub leave: Arc<Notify>,
    /// Its number among the resting ones.
    at: Mutex<Option<u64>>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Seat {
    fn rests(&self) {
        let number = self.places.next.fetch_add(1, Ordering::Relaxed);
        self.places.resting().insert(number, Arc::clone(&self.leave));
        *self.at.lock().unwrap_or_else(PoisonError::into_inner) = Some(number);
    }

    fn rises(&self) {
        if let Some(number) = self.at.lock().unwrap_or_else(PoisonError::into_inner).take() {
            self.places.resting().remove(&number);
        }
    }

    /// At work until what this returns is dropped.
    #[must_use]
    pub fn works(seat: &Arc<Self>) -> Work {
        seat.rises();
        Work(Arc::clone(seat))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.rises();
    }
}

/// A request that is being answered.
pub struct Work(Arc<Seat>);

impl Drop for Work {
    fn drop(&mut self) {
        self.0.rests();
    }
}

/// A body whose connection is at work until it is taken.
pub struct WithWork {
    pub body: Body,
    pub _work: Work,
}

impl HttpBody for WithWork {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<hyper::body::Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_one_that_waits_longest_leaves_and_none_that_works() {
        let places = Arc::new(Places::of(2));
        let [one, two] = [Arc::new(places.seat().await), Arc::new(places.seat().await)];
        let work = Seat::works(&one);
        let third = {
            let places = Arc::clone(&places);
            tokio::spawn(async move { places.seat().await })
        };
        two.leave.notified().await;
        drop(two);
        let third = third.await.unwrap();
        // What has worked rests as the last of all.
        drop(work);
        let fourth = {
            let places = Arc::clone(&places);
            tokio::spawn(async move { places.seat().await })
        };
        third.leave.notified().await;
        drop(third);
        let _fourth = fourth.await.unwrap();
        assert_eq!(places.resting().len(), 2);
        drop(one);
        assert_eq!((places.resting().len(), places.free.available_permits()), (1, 1));
    }
}

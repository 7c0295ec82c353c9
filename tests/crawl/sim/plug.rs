//! Stops the runtime's one blocking thread while a task is polled: otherwise real time would decide whether its work is done when it is
//! awaited. With the plug set it never is, and once the plug is pulled it always is.

use std::cell::RefCell;
use std::sync::mpsc::{Sender, channel};

thread_local! {
    static PULLED: RefCell<Option<Sender<()>>> = const { RefCell::new(None) };
}

/// While this lives, work for the blocking thread waits; it is done once this has been dropped.
pub struct Plug;

impl Plug {
    pub fn set() -> Self {
        let (pulled, plug) = channel();
        // It ends when its other end is dropped.
        tokio::task::spawn_blocking(move || plug.recv());
        PULLED.set(Some(pulled));
        Self
    }

    /// Pulls the plug for a while, if one is set.
    pub fn pulled_while<T>(work: impl FnOnce() -> T) -> T {
        let was_set = PULLED.take().is_some();
        let done = work();
        if was_set {
            std::mem::forget(Self::set());
        }
        done
    }
}

impl Drop for Plug {
    fn drop(&mut self) {
        let (done, waits) = channel();
        tokio::task::spawn_blocking(move || done.send(()));
        drop(PULLED.take());
        let _ = waits.recv();
    }
}

//! Signals that stop a process, and the closing of its terminal, which has the same meaning.

use std::fs::{self, File};
use std::io;

use rustix::io::Errno;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM, SIGINT and SIGHUP, as they arrive.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// None if the process was started to outlive its terminal (`nohup`).
    hang_up: Option<Signal>,
}

impl Signals {
    /// Starts to listen, within a runtime; from then on none of them ends the process by itself.
    ///
    /// # Errors
    /// If the system cannot install the handlers.
    pub fn listen() -> io::Result<Self> {
        let hang_up = if ignores_hang_up() { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())?, hang_up })
    }

    /// The next signal.
    pub async fn next(&mut self) -> SignalKind {
        let hang_up = async {
            match &mut self.hang_up {
                Some(hang_up) => hang_up.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => SignalKind::terminate(),
            _ = self.interrupt.recv() => SignalKind::interrupt(),
            _ = hang_up => SignalKind::hangup(),
        }
    }
}

/// The terminal in which a process was started. A service reloads its rule files on SIGHUP, but has to stop if SIGHUP came from the closed
/// terminal.
pub struct Terminal {
    is_there: bool,
    /// It was gone at the last check.
    was_gone: bool,
}

impl Terminal {
    /// The state before any SIGHUP is handled.
    #[must_use]
    pub fn new() -> Self {
        Self { is_there: !ignores_hang_up() && is_open(), was_gone: false }
    }

    /// Checks whether it still exists; call it at intervals. A terminal that went earlier without a SIGHUP (`disown`) no longer
    /// belongs to the process, and a later SIGHUP comes from the operator. True once that is so.
    pub fn look(&mut self) -> bool {
        let is_gone = self.is_closed();
        let is_left = is_gone && self.was_gone;
        self.is_there &= !is_left;
        self.was_gone = is_gone;
        is_left
    }

    /// True if there was one and it is closed now.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.is_there && !is_open()
    }
}

impl Default for Terminal {
    fn default() -> Self {
        Self::new()
    }
}

/// The device of this name is the controlling terminal of the process, and cannot be opened without one.
fn is_open() -> bool {
    let opened = File::open("/dev/tty");
    // Other errors on opening, such as too many open files, do not mean that it is closed.
    !opened
        .is_err_and(|error| [Errno::NXIO, Errno::IO].map(|of| Some(of.raw_os_error())).contains(&error.raw_os_error()))
}

/// True if SIGHUP is ignored: the first bit of the ignored signals.
fn ignores_hang_up() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    ignored.is_some_and(|signals| signals & 1 == 1)
}

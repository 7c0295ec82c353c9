//! Signals that tell a process to end, and the closing of its terminal, which tells the same.

use std::fs::{self, File};
use std::io;

use rustix::io::Errno;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM, SIGINT and SIGHUP, as they come.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// None where whoever has begun the process has it outlive its terminal (`nohup`).
    hang_up: Option<Signal>,
}

impl Signals {
    /// Hears them from now on, within a runtime; none of them ends the process by itself any more.
    ///
    /// # Errors
    /// Where the system gives no place for that.
    pub fn listen() -> io::Result<Self> {
        let hang_up = if ignores_hang_up() { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())?, hang_up })
    }

    /// The next one.
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

/// The terminal that a process was begun in. A service reads its rule files again on SIGHUP; where that comes because the terminal was
/// closed, it is to end.
pub struct Terminal {
    is_there: bool,
    /// It was gone when it was looked at last.
    was_gone: bool,
}

impl Terminal {
    /// As it is now, before anybody hears of SIGHUP.
    #[must_use]
    pub fn new() -> Self {
        Self { is_there: !ignores_hang_up() && is_open(), was_gone: false }
    }

    /// Looks whether it is there, now and then: one that went a while ago, and nobody told the process (`disown`), is none of its own any more,
    /// and a SIGHUP that comes later is its operator's. True once that is so.
    pub fn look(&mut self) -> bool {
        let is_gone = self.is_closed();
        let is_left = is_gone && self.was_gone;
        self.is_there &= !is_left;
        self.was_gone = is_gone;
        is_left
    }

    /// True where there was one and is none any more.
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

/// The device of this name is whichever terminal the process has, and cannot be opened where it has none.
fn is_open() -> bool {
    let opened = File::open("/dev/tty");
    // Whatever else keeps it from being opened, open files that are too many among it, does not close it.
    !opened
        .is_err_and(|error| [Errno::NXIO, Errno::IO].map(|of| Some(of.raw_os_error())).contains(&error.raw_os_error()))
}

/// True where SIGHUP is ignored: the first bit of the signals that are.
fn ignores_hang_up() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    ignored.is_some_and(|signals| signals & 1 == 1)
}

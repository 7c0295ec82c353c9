//! Why a child has died, as text for the user: by a limit that the kernel enforces, or by one that its parent was started with.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use super::confine;
use crate::limits;

/// How a child ended, and what that means.
pub(super) fn of(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("signal {signal}{}", cause(signal)),
        (None, code) => format!("exit code {}{}", code.unwrap_or_default(), inherited(true).unwrap_or_default()),
    }
}

/// Which of a child's limits a signal means; empty if it means none.
fn cause(signal: i32) -> String {
    const MIB: u64 = 1 << 20;
    let inherited = match signal {
        libc::SIGABRT => inherited(true),
        libc::SIGKILL | libc::SIGXCPU => inherited(false),
        _ => None,
    };
    inherited.unwrap_or_else(|| match signal {
        libc::SIGABRT => format!(
            ": its scripts exceeded the memory limit of {} MB per page, or nested deeper than the stack",
            limits::RENDER_MEMORY_BYTES_MAX / MIB
        ),
        libc::SIGSEGV | libc::SIGBUS => {
            ": its scripts nested deeper than the stack, or hit a bug of the engine".to_owned()
        }
        libc::SIGXCPU => {
            format!(": its scripts exceeded the CPU limit of {} s per page", limits::RENDER_CPU_SECONDS_MAX)
        }
        libc::SIGKILL => ": it was killed, as by a system that is out of memory".to_owned(),
        libc::SIGSYS => ": it made a forbidden system call".to_owned(),
        _ => String::new(),
    })
}

/// The limits of this process on memory, or else on CPU time, that leave a child less than scripts may need; None if there are none.
fn inherited(of_memory: bool) -> Option<String> {
    let told = |(option, key): (&str, &str)| format!("`ulimit {option}`, or `{key}` of the unit");
    let told: Vec<String> = confine::stricter(of_memory).into_iter().map(told).collect();
    (!told.is_empty()).then(|| {
        format!(": most likely of a limit that this process was started with (hint: raise {})", told.join("; "))
    })
}

//! CPU time used by this process, the calling thread, or a child: the cost of a page's scripts.

use std::time::Duration;
use std::{fs, io};

/// Whose CPU time is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    Process,
    Thread,
}

/// User and system time since it began, in microseconds.
///
/// # Errors
/// When the kernel refuses, which it has no reason to do.
pub fn cpu_us(of: Of) -> io::Result<u64> {
    let who = match of {
        Of::Process => libc::RUSAGE_SELF,
        Of::Thread => libc::RUSAGE_THREAD,
    };
    // SAFETY: `rusage` is plain numbers, for which zeros are a value; the call writes it.
    let used = unsafe {
        let mut used: libc::rusage = std::mem::zeroed();
        if libc::getrusage(who, &raw mut used) != 0 {
            return Err(io::Error::last_os_error());
        }
        used
    };
    let us = |time: libc::timeval| time.tv_sec.saturating_mul(1_000_000).saturating_add(time.tv_usec);
    Ok(u64::try_from(us(used.ru_utime).saturating_add(us(used.ru_stime))).unwrap_or(0))
}

/// CPU time of another process in kernel ticks of a hundredth of a second; `None` if it is gone.
#[must_use]
pub fn cpu_of(process: u32) -> Option<Duration> {
    // `utime` and `stime`, the 14th and 15th field (proc(5)); the second is a name in brackets, which may hold anything.
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(2);
    let ticks = fields.map(|field| field.parse::<u64>().ok()).sum::<Option<u64>>()?;
    Some(Duration::from_millis(ticks.saturating_mul(10)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_counted_for_its_thread_and_its_process() {
        let before = (cpu_us(Of::Thread).unwrap(), cpu_us(Of::Process).unwrap());
        let used = || (cpu_us(Of::Thread).unwrap() - before.0, cpu_us(Of::Process).unwrap() - before.1);
        let mut number = 1_u64;
        // The kernel sums the process's time by ticks, so on a busy machine it lags somewhat behind the thread's.
        while used().0 < 5_000 || used().1 < 5_000 && used().0 < 5_000_000 {
            number = std::hint::black_box(number.wrapping_mul(31));
        }
        assert!(used().1 >= 5_000, "{:?}", used());
        let idle = std::thread::spawn(|| cpu_us(Of::Thread).unwrap()).join().unwrap();
        assert!(idle < 5_000, "a thread that has done nothing has used {idle} µs");
    }

    #[test]
    fn a_process_is_told_its_time_by_its_number() {
        let own = || cpu_of(std::process::id()).unwrap();
        let (before, began) = (own(), cpu_us(Of::Process).unwrap());
        let mut number = 1_u64;
        while own() < before + Duration::from_millis(30) {
            number = std::hint::black_box(number.wrapping_mul(31));
            assert!(cpu_us(Of::Process).unwrap() - began < 5_000_000, "5 s of work, and {:?} told", own() - before);
        }
        assert_eq!(cpu_of(u32::MAX), None);
    }
}

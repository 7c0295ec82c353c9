//! How much less of the processor a thread gets than the crawl, as of nice(1). Threads that it starts inherit that.

/// What is to be done soon, beside the crawl.
const BESIDE: i32 = 10;

/// What readers of the HTTP server wait for: the crawl gets what it needs first, where both want all of a processor.
const READERS: i32 = 19;

/// For what is to be done soon, beside the crawl.
pub(super) fn be_nice() {
    be_at_least(BESIDE);
}

/// For what readers wait for.
pub(super) fn be_nice_to_all() {
    be_at_least(READERS);
}

/// A thread that is nicer already stays so: only root may take that back.
fn be_at_least(niceness: i32) {
    // SAFETY: plain system calls on numbers. Of Linux, a thread has a priority of its own. An error of the first is -1: less than any here.
    let result = unsafe {
        let thread = libc::gettid().cast_unsigned();
        if libc::getpriority(libc::PRIO_PROCESS, thread) >= niceness {
            return;
        }
        libc::setpriority(libc::PRIO_PROCESS, thread, niceness)
    };
    if result != 0 {
        tracing::debug!("this thread has the priority of the crawl");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_is_nicer_already_stays_so() {
        let niceness = std::thread::spawn(|| {
            be_nice();
            be_nice_to_all();
            be_nice();
            // SAFETY: a plain system call on numbers.
            unsafe { libc::getpriority(libc::PRIO_PROCESS, libc::gettid().cast_unsigned()) }
        });
        assert_eq!(niceness.join().unwrap(), READERS);
    }
}

//! Whether the kernel confines the processes that run scripts of pages.

use super::{Finding, Patient};

pub(super) fn check(of: &Patient) -> Vec<Finding> {
    let mut found = Vec::new();
    if of.config.require_confinement && !has_filters() {
        let fix = "use a kernel with seccomp filters (CONFIG_SECCOMP_FILTER); or set require_confinement = false in [render] of gleaner.toml, \
                   which runs scripts with limits of memory and time alone";
        found.push(Finding::new("unconfined", "kernel", "it cannot confine scripts, so none is run", fix));
    }
    found
}

/// Asks for a filter at an address that cannot be read: a kernel with filters fails with EFAULT, and changes nothing.
fn has_filters() -> bool {
    // SAFETY: a system call on numbers, which fails in any case.
    let result =
        unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, std::ptr::null::<libc::sock_fprog>()) };
    result == 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT)
}

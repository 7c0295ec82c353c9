//! What the kernel denies a render child: memory and time beyond its limits (`setrlimit`), and all system calls but the few that a thread
//! with a heap and two pipes needs (`seccomp`).
//!
//! A denied call fails with a permission error; the engine makes none of them. If the kernel has no seccomp, the child runs without it
//! and reports that. All of this also binds code that has taken over the child: it can signal and limit only its own process, whose CPU
//! time ends at the hard limit.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::cost;
use crate::limits;

/// Bounds memory, open files and CPU time for the life of the process, and drops the capabilities that would let root exceed them.
///
/// # Errors
/// When the kernel refuses, which it has no reason to do.
pub(super) fn bound_resources() -> io::Result<()> {
    give_up_capabilities();
    // Written memory counts, not reserved memory: the page's stack is reserved whole and written in part.
    let memory = limits::RENDER_MEMORY_BYTES_MAX + limits::RENDER_STACK_BYTES as u64;
    limit(libc::RLIMIT_DATA, memory, memory)?;
    // The allocator reserves address space ahead, a gigabyte at a time.
    let space = memory + limits::RENDER_ADDRESS_SPACE_BYTES;
    limit(libc::RLIMIT_AS, space, space)?;
    limit(libc::RLIMIT_CORE, 0, 0)?;
    limit(libc::RLIMIT_FSIZE, 0, 0)?;
    limit(libc::RLIMIT_CPU, limits::RENDER_CHILD_CPU_SECONDS_MAX, limits::RENDER_CHILD_CPU_SECONDS_MAX)
}

/// Grants this much CPU time for one more page, within the limit of the process's life. The kernel ends the process when it is used up.
///
/// # Errors
/// When the kernel refuses, which it has no reason to do.
pub(super) fn grant_cpu_time(seconds: u64) -> io::Result<()> {
    let used = cost::cpu_us(cost::Of::Process)?;
    // The kernel counts whole seconds: a page gets a part of one more, not less.
    let until = used.div_ceil(1_000_000) + seconds;
    // A process can ignore the signal of the soft limit; the hard limit kills it.
    limit(libc::RLIMIT_CPU, until.min(limits::RENDER_CHILD_CPU_SECONDS_MAX), limits::RENDER_CHILD_CPU_SECONDS_MAX)
}

/// Raises the CPU time left to the running page to at least this much. False if the limit of the process's life does not allow it.
pub(super) fn extend_cpu_time(seconds: u64) -> bool {
    let Ok(used) = cost::cpu_us(cost::Of::Process) else { return false };
    let until = used.div_ceil(1_000_000) + seconds;
    let mut bound = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: writes the structure and nothing else.
    if unsafe { libc::getrlimit(libc::RLIMIT_CPU, &raw mut bound) } != 0 {
        return false;
    }
    // No limit reads as infinity.
    bound.rlim_cur >= until || until <= bound.rlim_max && limit(libc::RLIMIT_CPU, until, bound.rlim_max).is_ok()
}

/// Whether enough CPU time is left for another page to use its maximum.
///
/// # Errors
/// When the kernel refuses, which it has no reason to do.
pub(super) fn has_cpu_time() -> io::Result<bool> {
    let used = cost::cpu_us(cost::Of::Process)?.div_ceil(1_000_000);
    Ok(used + limits::RENDER_CPU_SECONDS_MAX <= limits::RENDER_CHILD_CPU_SECONDS_MAX)
}

/// Drops the capabilities of this thread and of all threads it starts: one of them lets root raise its own limits.
fn give_up_capabilities() {
    // capset(2): a header of version and thread (0: this one), and effective, permitted and inheritable bits in two halves.
    const VERSION_3: u32 = 0x2008_0522;
    let (header, none) = ([VERSION_3, 0], [0_u32; 6]);
    // Fails if a service's unit forbids the call; such a unit has no capabilities to drop.
    // SAFETY: reads both arrays, which have the sizes of its structures, and nothing else.
    unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()) };
}

/// Whether the limits leave the process this much memory to write: the allocator may keep a page's memory for long.
pub(super) fn has_room(bytes: usize) -> bool {
    // SAFETY: memory of the kernel's choosing that nobody else knows of, given back untouched.
    unsafe {
        let (rights, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let room = libc::mmap(std::ptr::null_mut(), bytes, rights, kind | libc::MAP_NORESERVE, -1, 0);
        room != libc::MAP_FAILED && libc::munmap(room, bytes) == 0
    }
}

#[cfg(target_env = "gnu")]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(target_env = "gnu"))]
type Resource = libc::c_int;

/// Sets a limit; a stricter one that this process was started with (`ulimit`) stays, as no process may raise it.
fn limit(resource: Resource, soft: u64, hard: u64) -> io::Result<()> {
    let most = hard_limit(resource);
    let bound = libc::rlimit { rlim_cur: soft.min(most), rlim_max: hard.min(most) };
    // SAFETY: reads the structure and nothing else.
    match unsafe { libc::setrlimit(resource, &raw const bound) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn hard_limit(resource: Resource) -> u64 {
    let mut bound = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: writes the structure and nothing else.
    match unsafe { libc::getrlimit(resource, &raw mut bound) } {
        0 => bound.rlim_max,
        _ => libc::RLIM_INFINITY,
    }
}

/// The limits on memory, or else on CPU time, of this process that are stricter than those of a child, which inherits them: the option of
/// `ulimit`, and the key of a unit.
pub(super) fn stricter(of_memory: bool) -> Vec<(&'static str, &'static str)> {
    let memory = limits::RENDER_MEMORY_BYTES_MAX + limits::RENDER_STACK_BYTES as u64;
    let all = [
        (true, libc::RLIMIT_AS, memory + limits::RENDER_ADDRESS_SPACE_BYTES, "-v", "LimitAS="),
        (true, libc::RLIMIT_DATA, memory, "-d", "LimitDATA="),
        (false, libc::RLIMIT_CPU, limits::RENDER_CPU_SECONDS_MAX, "-t", "LimitCPU="),
    ];
    let is_it = |(is_memory, resource, ours, ..): &(bool, Resource, u64, _, _)| {
        *is_memory == of_memory && hard_limit(*resource) < *ours
    };
    all.into_iter().filter(is_it).map(|(.., option, key)| (option, key)).collect()
}

/// Drops all system calls but those of [`ALLOWED`] and a few with certain arguments, for this thread and all it starts. False if the
/// kernel cannot enforce it.
pub(super) fn give_up_system_calls() -> bool {
    let Ok(programs) = filters() else { return false };
    // Not by `seccompiler::apply_filter`: that is seccomp(2), which the unit's `@system-service` lacks in systemd 252.
    // SAFETY: a call of numbers.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return false;
    }
    programs.iter().all(|program| {
        let Ok(len) = u16::try_from(program.len()) else { return false };
        let program = libc::sock_fprog { len, filter: program.as_ptr().cast::<libc::sock_filter>().cast_mut() };
        // SAFETY: both types are the kernel's `struct sock_filter`; the program lives until the call has copied it, and no other
        // memory is touched.
        unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0 }
    })
}

/// linux/prctl.h.
const PR_SET_VMA: u64 = 0x5356_4d41;

/// What threads, the heap, the pipes and an abort need.
const ALLOWED: [libc::c_long; 30] = [
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_close,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_getrandom,
    libc::SYS_clock_gettime,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_getrusage,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_restart_syscall,
    libc::SYS_membarrier,
    libc::SYS_getcpu,
];

/// The BPF filters in the order of their installation: each call passes all of them, and the strictest verdict counts.
///
/// # Errors
/// For processors whose system call numbers are unknown.
fn filters() -> Result<[BpfProgram; 2], BackendError> {
    let processor = TargetArch::try_from(std::env::consts::ARCH)?;
    let filter = |rules: BTreeMap<_, _>, otherwise, matching| -> Result<BpfProgram, BackendError> {
        SeccompFilter::new(rules, otherwise, matching, processor)?.try_into()
    };
    let refuse = |error: libc::c_int| SeccompAction::Errno(error.unsigned_abs());
    // The C library tries `clone3` first and falls back to `clone`, whose flags a filter can read: threads are allowed, processes are
    // not.
    let no_clone3 = BTreeMap::from([(libc::SYS_clone3, vec![])]);
    let no_clone3 = filter(no_clone3, SeccompAction::Allow, refuse(libc::ENOSYS))?;
    let first = |operator, value| -> Result<SeccompRule, BackendError> {
        // The low half of the argument: both processors are little endian.
        SeccompRule::new(vec![SeccompCondition::new(0, SeccompCmpArgLen::Dword, operator, value)?])
    };
    let (own, thread) = (u64::from(std::process::id()), libc::CLONE_THREAD.unsigned_abs().into());
    let mut rules: BTreeMap<_, _> = ALLOWED.map(|call| (call, vec![])).into();
    rules.extend([
        (libc::SYS_clone3, vec![]),
        (libc::SYS_clone, vec![first(SeccompCmpOp::MaskedEq(thread), thread)?]),
        // An abort signals its own thread, and granting CPU time sets a limit of its own process: neither touches another process.
        (libc::SYS_tgkill, vec![first(SeccompCmpOp::Eq, own)?]),
        (libc::SYS_prlimit64, vec![first(SeccompCmpOp::Eq, 0)?, first(SeccompCmpOp::Eq, own)?]),
        // Names a thread's memory, which the allocator and the C library do where they can.
        (libc::SYS_prctl, vec![first(SeccompCmpOp::Eq, PR_SET_VMA)?]),
    ]);
    Ok([no_clone3, filter(rules, refuse(libc::EPERM), SeccompAction::Allow)?])
}

#[cfg(test)]
mod tests;

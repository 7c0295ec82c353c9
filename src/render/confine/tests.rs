//! Unit tests of `confine`.

use super::*;

/// The filter binds only the thread that installs it, so a test can use it.
#[test]
fn a_confined_thread_opens_no_file_no_socket_and_no_process_but_threads_and_memory() {
    if filters().is_err() || !std::path::Path::new("/proc/sys/kernel/seccomp").exists() {
        return;
    }
    let told = std::thread::spawn(|| {
        assert!(give_up_system_calls());
        let refused = |result: io::Result<()>| result.unwrap_err().kind() == io::ErrorKind::PermissionDenied;
        let thread = std::thread::spawn(|| vec![1_u8; 1 << 24].len()).join().unwrap();
        (
            refused(std::fs::File::open("/etc/hostname").map(|_| ())),
            refused(std::net::TcpListener::bind("127.0.0.1:0").map(|_| ())),
            refused(std::process::Command::new("/bin/true").spawn().map(|_| ())),
            thread,
        )
    });
    assert_eq!(told.join().unwrap(), (true, true, true, 1 << 24));
    assert!(std::fs::File::open("/proc/self/stat").is_ok(), "other threads keep what they have");
}

#[test]
fn a_confined_thread_is_answered_that_there_is_no_clone3_and_may_not_install_a_filter() {
    if filters().is_err() || !std::path::Path::new("/proc/sys/kernel/seccomp").exists() {
        return;
    }
    let told = std::thread::spawn(|| {
        assert!(give_up_system_calls());
        let error = |call: libc::c_long, first: libc::c_int| {
            // SAFETY: the kernel refuses each of the calls before it reads an argument.
            let result = unsafe { libc::syscall(call, first, 0, 0, 0, 0) };
            (result == -1).then(|| io::Error::last_os_error().raw_os_error().unwrap_or_default())
        };
        (
            error(libc::SYS_clone3, 0),
            error(libc::SYS_clone, libc::SIGCHLD),
            error(libc::SYS_prctl, libc::PR_SET_SECCOMP),
            error(libc::SYS_seccomp, 0),
        )
    });
    let refused = Some(libc::EPERM);
    assert_eq!(told.join().unwrap(), (Some(libc::ENOSYS), refused, refused, refused));
}

#[test]
fn a_confined_thread_signals_and_bounds_its_own_process_and_no_other() {
    if filters().is_err() || !std::path::Path::new("/proc/sys/kernel/seccomp").exists() {
        return;
    }
    let mut victim = std::process::Command::new("/bin/sleep").arg("60").spawn().unwrap();
    let other = libc::pid_t::try_from(victim.id()).unwrap();
    let told = std::thread::spawn(move || {
        assert!(give_up_system_calls());
        // SAFETY: calls of numbers, and one that writes a structure of its own.
        unsafe {
            let (own, thread) = (libc::getpid(), libc::syscall(libc::SYS_gettid));
            let tgkill = |process: libc::pid_t, thread: libc::c_long, signal: libc::c_int| match libc::syscall(
                libc::SYS_tgkill,
                process,
                thread,
                signal,
            ) {
                0 => 0,
                _ => io::Error::last_os_error().raw_os_error().unwrap_or_default(),
            };
            let prlimit = |process: libc::pid_t| {
                let mut now = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
                match libc::prlimit(process, libc::RLIMIT_FSIZE, std::ptr::null(), &raw mut now) {
                    0 => 0,
                    _ => io::Error::last_os_error().raw_os_error().unwrap_or_default(),
                }
            };
            let kill = tgkill(other, other.into(), libc::SIGKILL);
            (tgkill(own, thread, 0), kill, prlimit(0), prlimit(own), prlimit(other))
        }
    });
    assert_eq!(told.join().unwrap(), (0, libc::EPERM, 0, 0, libc::EPERM));
    assert!(victim.try_wait().unwrap().is_none(), "the other process lives");
    victim.kill().unwrap();
    victim.wait().unwrap();
}

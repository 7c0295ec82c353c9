//! The `gleaner` binary; everything is in the library, so that tests reach it.

/// The crawl allocates and frees small pieces on several threads; this allocator costs a tenth less CPU in all than glibc's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Options of mimalloc by their place in `mi_option_t`, which the bindings name in part only.
const ARENA_EAGER_COMMIT: libmimalloc_sys::mi_option_t = 4;
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

fn main() -> std::process::ExitCode {
    // A service that met a few large bodies gives their memory back at once: half of its peak. What it costs is within
    // the noise of a crawl's CPU.
    // A render child builds a heap for each page and frees it whole: what it gives back it would ask for again at once, and
    // be given page by page, each cleared by the kernel.
    let delay_ms = if std::env::args_os().nth(1).is_some_and(|word| word == "__render") { 100 } else { 1 };
    // SAFETY: sets two numbers of the allocator, before a second thread runs; any value is allowed.
    unsafe {
        libmimalloc_sys::mi_option_set(ARENA_EAGER_COMMIT, 0);
        libmimalloc_sys::mi_option_set(PURGE_DELAY, delay_ms);
    }
    // SAFETY: no second thread runs yet.
    unsafe { gleaner::app::secrets::guard_process() };
    gleaner::cli::main()
}

//! The whole crawler in virtual time: the real loop, committer, hosts, rules, page reading and stores over a simulated
//! web full of faults, everything from one number. `docs/design/simulation.md` says what is simulated and what is checked.

mod account;
mod broken;
mod day;
mod harvest;
mod manners;
pub mod plan;
mod plug;
mod random;
pub mod store;
mod web;
pub mod wire;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::number;
use plan::Plan;
use world::History;

/// Real-time limit of one world; the slowest takes a twentieth of it.
const WORLD_TIME_MAX: Duration = Duration::from_secs(120);

/// Faults reported per seed.
const FAULTS_TOLD: usize = 5;

/// Seeds that failed once, each for a different reason, with what was wrong then; the last four run in scripts/test-long alone.
const LESSONS: [(u64, &str); 14] = [
    (57, "a host that had nothing to lease woke the loop at once, again and again, while a visit was under way"),
    (205, "a URL that was refused for longer than any retry takes was left in the queue"),
    (1_092, "a URL that waits for its host was taken for a planned look by a clock that was set back a little"),
    (2_026, "a URL whose request was broken off at a mirror is due, whatever its next look is planned for"),
    (2_381, "a clock set back lets a pause that is over seem to lie ahead: the next crawl is one more"),
    (2_555, "what a clock that was ahead has found due stays due"),
    (4_609, "the order of two visits was that of the threads"),
    (5_091, "a retry planned by a clock that was ahead was taken for a planned look"),
    (9_089, "a clock that was set back to the time of an earlier visit makes the later one the same"),
    (9_451, "a clock that was set back was forgotten with the process that saw it"),
    (1_055, "a request that was broken off let its connection have no rest"),
    (3_948, "a crawl whose committer had ended waited for it for ever"),
    (5_378, "a refusal within a pause that was forgiven counted for nothing"),
    (7_758, "a pause that is over when a process begins is over for it"),
];

/// The lesson that two runs of a seed show.
const SHOWN_BY_TWO: u64 = 4_609;

/// All faults that the checkers find.
fn check(history: &History) -> Vec<String> {
    let mut faults = manners::check(history);
    faults.extend(account::check(history));
    faults.extend(harvest::check(history));
    faults
}

/// Runs one seed and returns the faults found; if it runs `twice`, both runs must give the same result.
fn try_seed(seed: u64, twice: bool) -> (History, Vec<String>) {
    let history = world::run(Plan::of(seed));
    let mut faults = check(&history);
    if twice {
        let again = world::run(Plan::of(seed));
        let lines = |history: &History| -> Vec<String> {
            history.log.iter().map(wire::Entry::line).chain(history.dump.iter().cloned()).collect()
        };
        let (first, second) = (lines(&history), lines(&again));
        if let Some(at) = (0..first.len().max(second.len())).find(|at| first.get(*at) != second.get(*at)) {
            faults.push(format!("not the same twice:\n    {:?}\n    {:?}", first.get(at), second.get(at)));
        }
    }
    (history, faults)
}

/// If a world does not end, stops the process and prints the command that replays it.
fn watched<T>(seed: u64, work: impl FnOnce() -> T) -> T {
    let (done, waits) = channel::<()>();
    let watch = std::thread::spawn(move || {
        if let Err(RecvTimeoutError::Timeout) = waits.recv_timeout(WORLD_TIME_MAX) {
            eprintln!("seed {seed} hangs; {}", replay(seed));
            std::process::abort();
        }
    });
    let result = work();
    drop(done);
    let _ = watch.join();
    result
}

fn replay(seed: u64) -> String {
    format!("replay it: GLEANER_SIM_SEED={seed} cargo test --test crawl sim -- one_seed --nocapture")
}

/// Every seventh seed runs twice.
fn runs_twice(seed: u64) -> bool {
    seed % 7 == 3
}

/// `GLEANER_SIM_SEEDS` of them from `GLEANER_SIM_FIRST` on, over `GLEANER_SIM_THREADS` threads. The first four have a calm world, one whose
/// rows are in redb, and one that runs twice.
#[test]
fn every_seed_keeps_its_manners_and_its_harvest() {
    let (count, first) = (number("GLEANER_SIM_SEEDS", 4), number("GLEANER_SIM_FIRST", 0));
    let next = AtomicU64::new(first);
    let failed = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..number("GLEANER_SIM_THREADS", 1) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + count {
                        break;
                    }
                    let faults =
                        watched(seed, || catch_unwind(AssertUnwindSafe(|| try_seed(seed, runs_twice(seed)).1)));
                    let faults = faults.unwrap_or_else(|panic| {
                        let text = panic.downcast_ref::<String>().cloned();
                        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                        vec![format!("panic: {}", text.unwrap_or_default())]
                    });
                    if !faults.is_empty() {
                        let told: Vec<_> = faults.iter().take(FAULTS_TOLD).map(String::as_str).collect();
                        let (replay, all) = (replay(seed), faults.len());
                        let text = format!("seed {seed}, {all} faults; {replay}\n  {}", told.join("\n  "));
                        eprintln!("{text}");
                        failed.lock().unwrap().push(seed);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} of {count} seeds failed: {failed:?}", failed.len());
}

/// The first `GLEANER_SIM_LESSONS` of them.
#[test]
fn what_was_learned_holds() {
    for (seed, lesson) in LESSONS.into_iter().take(number("GLEANER_SIM_LESSONS", 10) as usize) {
        let faults = watched(seed, || try_seed(seed, seed == SHOWN_BY_TWO).1);
        assert!(faults.is_empty(), "{lesson}; {}\n  {}", replay(seed), faults.join("\n  "));
    }
}

#[test]
fn one_seed() {
    let seed = number("GLEANER_SIM_SEED", 1);
    let (history, faults) = watched(seed, || try_seed(seed, runs_twice(seed)));
    println!("{:#?}", history.plan);
    for entry in &history.log {
        println!("{}", entry.line());
    }
    for lived in &history.lives {
        println!("{:?} from {} to {}, healed: {}, {:?}", lived.life, lived.from, lived.until, lived.healed, lived.ends);
    }
    for told in &history.told {
        println!("{:>9} ms life {} {:?}", told.at, told.life, told.event);
    }
    for line in &history.dump {
        println!("{line}");
    }
    assert!(faults.is_empty(), "seed {seed}:\n{}", faults.join("\n"));
}

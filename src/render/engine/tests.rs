//! Facts about what scripts see, each as a line of script that must be true.

use super::net::NoNet;
use super::*;

/// An engine at a usual address.
pub(super) fn engine() -> Engine {
    let start =
        Start { now_ms: 1_700_000_000_000, ..Start::at(Url::parse("https://example.org/dir/page.html?q#f").unwrap()) };
    Engine::new(&start, Box::new(NoNet::new())).unwrap()
}

/// Each line must evaluate to true in an engine of its own.
#[track_caller]
pub(super) fn assert_js(facts: &[&str]) {
    let mut faults = Vec::new();
    for fact in facts {
        let mut engine = engine();
        let value = engine.evaluate(fact, "fact");
        let value = value.map_or_else(|| "nothing".to_owned(), |value| value.display().to_string());
        if value != "true" {
            faults.push(format!("{fact}\n    gave {value}; {:?}", engine.page().borrow().errors));
        }
    }
    assert!(faults.is_empty(), "{} of {} facts fail\n{}", faults.len(), facts.len(), faults.join("\n"));
}

/// Runs a script to the end of its loop and gives what its variable `log` holds, joined by blanks.
pub(super) fn log_of(script: &str) -> String {
    let mut engine = engine();
    engine.evaluate(&format!("var log = [];\n{script}"), "test");
    engine.run(Reach::default());
    let log = engine.evaluate("log.join(' ')", "log");
    let told = format!("{:?}", engine.page().borrow().errors);
    log.and_then(|log| log.as_string()).map_or(told, |log| log.to_std_string_lossy())
}

mod events;
mod jobs;

//! Tests on data that cannot be part of this repository: pages that real programs and sites sent, real post times, complete third-party
//! test suites. `scripts/test-corpora DIR` runs them; plain `cargo test` does not.

mod boards;
mod change_detection;
mod links;
mod pagination;
mod recognition;
mod schedule;
mod trees;
mod wpt;

use std::path::{Path, PathBuf};

/// A file or folder of the corpora; the test fails if it is missing.
fn corpus(name: &str) -> PathBuf {
    let beside = || Path::new(env!("GLEANER_ROOT")).join("../shared/data");
    let path = std::env::var_os("GLEANER_CORPORA").map_or_else(beside, PathBuf::from).join(name);
    assert!(path.exists(), "{} is not there; scripts/test-corpora DIR says what DIR has to hold", path.display());
    path
}

//! The demo learned from its URL alone, and crawled by the learned rules: every torrent is stored, and nothing is requested that the
//! site closes.

use std::path::Path;
use std::process::Command;

use gleaner_demo::ajax::{self, AjaxOptions, Section};
use gleaner_demo::{DemoOptions, Kind};

/// Learns the site at this URL and crawls it; returns how many torrents are stored, and the rule file.
fn stored(origin: &str) -> (u64, String) {
    let here = tempfile::tempdir().unwrap();
    let rules = here.path().join("rules");
    std::fs::create_dir(&rules).unwrap();
    let learn = ["rules", "learn", origin, "--rate", "1000", "--no-family", "--json"];
    let learned = gleaner(&learn, &rules, here.path());
    assert_eq!(learned["learned"], true, "{learned}");
    let summary = gleaner(&["crawl", "--json", "--max-time", "300"], &rules, here.path());
    let file = std::fs::read_dir(&rules).unwrap().next().unwrap().unwrap().path();
    (summary["stored"].as_u64().unwrap(), std::fs::read_to_string(file).unwrap())
}

fn gleaner(arguments: &[&str], rules: &Path, here: &Path) -> serde_json::Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gleaner"));
    command.args(arguments).arg("--rules").arg(rules).arg("--data").arg(here.join("data"));
    let output = command.output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// Two ways of writing one page's URL, old addresses as the only ones of some pages, a section in another charset, and traps.
#[test]
fn the_demo_is_learned_and_harvested_whole() {
    let runtime = runtime();
    let site = runtime.block_on(gleaner_demo::start(DemoOptions::default())).unwrap();
    let (stored, rules) = stored(site.origin());
    assert_eq!(stored, 500, "{rules}");
    assert_eq!(site.log().count(Kind::ClosedByRobots), 0, "{:?}", site.log().counts);
}

/// Lists of many pages, one with details, and one that shows its first rows at the first scroll.
#[test]
fn lists_that_scripts_build_are_learned_and_harvested_whole() {
    let runtime = runtime();
    let options = AjaxOptions {
        sections: vec![Section::Xhr, Section::Spa, Section::Scroll],
        pages: 9,
        per_page: 6,
        ..AjaxOptions::default()
    };
    let site = runtime.block_on(ajax::start(options)).unwrap();
    let (stored, rules) = stored(site.origin());
    assert_eq!(stored, 54, "{rules}");
    assert_eq!(site.log().refused, 0);
}

//! Web platform tests that need no document, run by the engine itself: URLs, headers, events, signals. Each failing subtest
//! is expected by its file, with a reason; an expectation that no longer holds fails as well. `GLEANER_WPT=url/` prints
//! each failure in files with such names.

use std::collections::HashMap;

use gleaner_render::wire::Reach;
use gleaner_render::{Engine, Start};
use url::Url;

use super::files;
use crate::wpt::archive::Archive;

/// Files that do not run, and why.
const NOT_RUN: &[(&str, &str)] = &[
    ("idlharness", "needs the IDL files and their parser, which are not in the archive"),
    ("crashtests", "no subtests"),
];

/// Failing subtests: part of the file's path, how many, why.
pub type Expected = &'static [(&'static str, usize, &'static str)];

/// Runs one file and returns its subtests: name, whether it passed, its message.
fn run(name: &str) -> Vec<(String, bool, String)> {
    let address = Url::parse(&format!("https://web-platform.test/{name}")).unwrap();
    let net = Archive::new("https://web-platform.test/", |path, _| (files().get(path).cloned(), "text/plain"));
    let start = Start { instructions: usize::MAX, ..Start::at(address.clone()) };
    let mut engine = Engine::new(&start, Box::new(net)).unwrap();
    let text = |path: &str| files().get(path).map(|body| String::from_utf8_lossy(body).into_owned());
    engine.evaluate(&text("resources/testharness.js").unwrap(), "testharness.js");
    // What the tests' server inserts before each of them.
    engine.evaluate(&format!("var location = new URL('{address}')"), "harness");
    engine.evaluate(
        "var GLOBAL = { isWindow: () => false, isWorker: () => false, isShadowRealm: () => false }",
        "harness",
    );
    engine.evaluate("var told = []; add_completion_callback(tests => { told = tests.map(t => [t.name, t.status === 0, String(t.message)]) })", "harness");
    let script = text(name).unwrap();
    for line in script.lines().filter_map(|line| line.strip_prefix("// META: script=")) {
        let included = address.join(line.trim()).unwrap().path().trim_start_matches('/').to_owned();
        match text(&included) {
            Some(text) => drop(engine.evaluate(&text, &included)),
            None => {
                return vec![(line.to_owned(), false, "a script that it includes is not in the archive".to_owned())];
            }
        }
    }
    engine.evaluate(&script, name);
    engine.evaluate("done()", "harness");
    engine.run(Reach { virtual_ms: 60_000, tasks: 1_000_000 });
    let told = engine.evaluate("JSON.stringify(told)", "harness").and_then(|told| engine.text_of(&told));
    let told: Vec<(String, bool, String)> = serde_json::from_str(&told.unwrap_or_default()).unwrap_or_default();
    if told.is_empty() {
        return vec![(String::new(), false, format!("{:?}", engine.page().borrow().errors))];
    }
    told
}

/// Runs the `.any.js` tests of these folders.
pub fn assert_engine(folders: &'static [&'static str], expected: Expected) {
    let thread = std::thread::Builder::new().stack_size(64 << 20);
    thread.spawn(move || run_all(folders, expected)).unwrap().join().unwrap();
}

fn run_all(folders: &[&'static str], expected: Expected) {
    let is_wanted = |name: &&String| name.ends_with(".any.js") && folders.iter().any(|folder| name.starts_with(folder));
    let mut names: Vec<_> = files().keys().filter(is_wanted).cloned().collect();
    names.retain(|name| !NOT_RUN.iter().any(|(part, _)| name.contains(part)));
    names.sort();
    assert!(names.len() >= 25, "{names:?}");
    let (mut passed, mut all) = (HashMap::<&str, usize>::new(), HashMap::<&str, usize>::new());
    let mut faults = Vec::new();
    for name in &names {
        let folder = folders.iter().find(|folder| name.starts_with(**folder)).unwrap();
        let subtests = run(name);
        let failed: Vec<_> = subtests.iter().filter(|(_, passed, _)| !passed).collect();
        *passed.entry(folder).or_default() += subtests.len() - failed.len();
        *all.entry(folder).or_default() += subtests.len();
        let expected = expected.iter().find(|(part, ..)| name.contains(part)).map_or(0, |(_, count, _)| *count);
        if failed.len() != expected
            || std::env::var_os("GLEANER_WPT").is_some_and(|asked| name.contains(&*asked.to_string_lossy()))
        {
            let told: Vec<_> = failed.iter().map(|(name, _, why)| format!("        {name}: {why}")).collect();
            faults.push(format!("    {name}: {} fail, {expected} expected\n{}", failed.len(), told.join("\n")));
        }
    }
    for folder in folders {
        println!("{folder}: {} of {} subtests", passed.get(folder).unwrap_or(&0), all.get(folder).unwrap_or(&0));
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

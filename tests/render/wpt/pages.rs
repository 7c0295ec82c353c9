//! Web platform tests of documents, run in whole pages. Failures are listed in a file of `tests/render/wpt` with their reasons; an
//! unexpected failure fails the suite, and so does an expected one that passes.
//!
//! The parent module defines the files, and the folder of the lists of expected failures: `files` and `EXPECTED`.
//!
//! `GLEANER_WPT=dom/nodes/Node` prints the result of every subtest in files whose names begin like this. `GLEANER_BLESS=1` rewrites the
//! lists, keeping their reasons.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use gleaner_render::wire::Reach;
use gleaner_render::{Start, Window, text_of};
use url::Url;

use super::{EXPECTED, files};
use crate::wpt::archive::Archive;

/// Files that are no tests by themselves, or that a page without a user, a screen or a second window cannot pass.
const NO_TESTS: &[&str] = &[
    "/resources/",
    "/support/",
    "-manual.",
    "/crashtests/",
    "-ref.",
    "/reftests/",
    "idlharness",
    "/tools/",
    ".worker.",
    "serviceworker",
    // Loops of ten million iterations, which measure a compiler that the engine does not have.
    "NodeList-static-length-getter-tampered",
    // Waits for a clock that stands still while a script runs.
    "Event-timestamp-safe-resolution",
    // Scrolling on a screen.
    "dom/events/scrolling/",
];

/// Stores the page's results for the caller. Nobody sees the page, so the harness need not write its report into it.
const REPORT: &str = "setup({ output: false }); add_completion_callback((tests, status) => { window.told = tests.map(t => [t.name, t.status === 0, \
                      String(t.message)]); window.harness = [status.status, String(status.message)] });";

/// Support files that the archive lacks.
const CSS_SUPPORT: &str = include_str!("css-support.js");

/// What the tests' server generates from its scripts, as far as tests of documents need it.
fn served(path: &str, query: &str) -> (Option<Vec<u8>>, &'static str) {
    let value = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    match path {
        "dom/nodes/encoding.py" => {
            let label = value("label").unwrap_or_default();
            (Some(format!("<!doctype html><meta charset=\"{label}\">").into_bytes()), "text/html")
        }
        path if path.ends_with("/contenttype_setter.py") => match value("subtype") {
            Some("xml") => (Some(b"<head></head>".to_vec()), "text/xml"),
            _ => (Some(b"<head></head>".to_vec()), "text/html"),
        },
        _ => (None, "text/plain"),
    }
}

fn kind_of(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("js") => "text/javascript",
        Some("html" | "htm") => "text/html",
        Some("xml") => "application/xml",
        Some("xhtml") => "application/xhtml+xml",
        Some("json") => "application/json",
        Some("css") => "text/css",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("gif") => "image/gif",
        Some("jpg") => "image/jpeg",
        Some("bmp") => "image/bmp",
        _ => "text/plain",
    }
}

/// Substitutions of the tests' server in files with `.sub.` in their names, for a single host.
const SUBSTITUTES: &[(&str, &str)] = &[
    // Port 80 is the scheme's default, so that URLs do not show it.
    ("{{host}}:{{ports[http][0]}}", "web-platform.test"),
    ("{{host}}", "web-platform.test"),
    ("{{ports[http][0]}}", "80"),
    ("{{domains[www]}}", "www.web-platform.test"),
];

/// A file as sent by the tests' server.
fn file(path: &str) -> Option<Vec<u8>> {
    let body = files().get(path)?;
    if !path.contains(".sub.") {
        return Some(body.clone());
    }
    let text = String::from_utf8_lossy(body).into_owned();
    let text = SUBSTITUTES.iter().fold(text, |text, (name, value)| text.replace(name, value));
    Some(text.into_bytes())
}

fn serve(path: &str, query: &str) -> (Option<Vec<u8>>, &'static str) {
    match path {
        "resources/testharnessreport.js" => (Some(REPORT.as_bytes().to_vec()), "text/javascript"),
        "css/support/parsing-testcommon.js" | "css/support/query-testcommon.js" => {
            (Some(CSS_SUPPORT.as_bytes().to_vec()), "text/javascript")
        }
        path if path.ends_with(".py") => served(path, query),
        path => (file(path), kind_of(path)),
    }
}

/// A page for a test that is a script.
fn page_of(name: &str, text: &str) -> String {
    if !name.ends_with(".js") {
        return text.to_owned();
    }
    let mut page = "<!doctype html><meta charset=utf-8><script src=/resources/testharness.js></script>\n\
                    <script src=/resources/testharnessreport.js></script>\n<script>self.GLOBAL = { isWindow: () => true, \
                    isWorker: () => false, isShadowRealm: () => false }</script>\n"
        .to_owned();
    for script in text.lines().filter_map(|line| line.strip_prefix("// META: script=")) {
        writeln!(page, "<script src={}></script>", script.trim()).unwrap();
    }
    writeln!(page, "<div id=log></div><script src=/{name}></script>").unwrap();
    page
}

/// One subtest: its name, whether it passed, its message.
type Told = (String, bool, String);

/// Runs a file.
fn run(name: &str) -> Vec<Told> {
    let address = Url::parse(&format!("http://web-platform.test/{}", name.replace(".any.js", ".any.html"))).unwrap();
    let start = Start { now_ms: 1_700_000_000_000, instructions: 300_000_000, ..Start::at(address) };
    let mut window = Window::open(&start, Box::new(Archive::new("http://web-platform.test/", serve))).unwrap();
    let page = page_of(name, &String::from_utf8_lossy(&file(name).unwrap()));
    window.load(&page, Reach { virtual_ms: 12_000, tasks: 200_000 });
    let told = text_of(&mut window, "JSON.stringify(window.told || [])").unwrap_or_default();
    let mut told: Vec<Told> = serde_json::from_str(&told).unwrap_or_default();
    let harness = text_of(&mut window, "JSON.stringify(window.harness || [9, 'no end'])").unwrap_or_default();
    let (status, message): (i32, String) = serde_json::from_str(&harness).unwrap_or((9, "no end".to_owned()));
    if told.is_empty() || status != 0 {
        let state = window.engine.page().borrow();
        told.push(("(harness)".to_owned(), false, format!("{message}; {:?} {:?}", state.spent(), state.errors)));
    }
    told
}

/// The files of a folder.
fn tests_of(folder: &str) -> Vec<String> {
    let is_test = |name: &&String| {
        let by_name = [".html", ".htm", ".any.js", ".window.js"].iter().any(|end| name.ends_with(end));
        by_name && name.starts_with(folder) && !NO_TESTS.iter().any(|part| name.contains(part))
    };
    let has_harness = |name: &&String| {
        let text = String::from_utf8_lossy(&files()[*name]);
        // A driver outside the page would have to move a pointer, type, or query what a reader with a screen sees.
        (name.ends_with(".js") || text.contains("testharness.js")) && !text.contains("testdriver.js")
    };
    let mut names: Vec<String> = files().keys().filter(is_test).filter(has_harness).cloned().collect();
    names.sort();
    names
}

/// Runs files on two threads, each file with its own stack.
fn run_all(names: Vec<String>) -> BTreeMap<String, Vec<Told>> {
    let queue = Arc::new(Mutex::new(names));
    let results = Arc::new(Mutex::new(BTreeMap::new()));
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let (queue, results) = (Arc::clone(&queue), Arc::clone(&results));
            std::thread::spawn(move || {
                loop {
                    let Some(name) = queue.lock().unwrap().pop() else { return };
                    let file = name.clone();
                    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(move || run(&file)).unwrap();
                    let told = thread.join().unwrap_or_else(|_| vec![("(panic)".to_owned(), false, String::new())]);
                    results.lock().unwrap().insert(name, told);
                }
            })
        })
        .collect();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    Arc::into_inner(results).unwrap().into_inner().unwrap()
}

/// Expected failures: file → how many, reason.
type Expected = BTreeMap<String, (usize, String)>;

fn expected_path(folder: &str) -> PathBuf {
    let name = folder.trim_end_matches('/').replace('/', "-");
    Path::new(env!("GLEANER_ROOT")).join(format!("tests/render/wpt/{EXPECTED}/{name}.txt"))
}

fn expected(folder: &str) -> Expected {
    let text = std::fs::read_to_string(expected_path(folder)).unwrap_or_default();
    let rows = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(|line| {
        let (file, rest) = line.split_once(": ").unwrap_or_else(|| panic!("no expectation: {line}"));
        let (count, reason) = rest.split_once(' ').unwrap_or_else(|| panic!("no reason: {line}"));
        (file.to_owned(), (count.parse().unwrap(), reason.to_owned()))
    });
    rows.collect()
}

/// Runs a folder's tests: at least `at_least` percent of the subtests pass, and all failures are expected.
#[track_caller]
pub fn assert_suite(folder: &str, at_least: f64) {
    let asked = std::env::var("GLEANER_WPT").ok();
    let mut names = tests_of(folder);
    if let Some(asked) = &asked {
        names.retain(|name| name.starts_with(asked));
    }
    let results = run_all(names);
    let (mut passed, mut all, mut report) = (0, 0, String::new());
    let mut found: Expected = BTreeMap::new();
    let known = expected(folder);
    for (file, told) in &results {
        let failed = told.iter().filter(|(_, passed, _)| !passed).count();
        (passed, all) = (passed + told.len() - failed, all + told.len());
        let (count, reason) = known.get(file).cloned().unwrap_or((0, "not looked at yet".to_owned()));
        if failed > 0 {
            found.insert(file.clone(), (failed, reason));
        }
        if failed != count || asked.is_some() {
            writeln!(report, "{file}: {failed} of {} fail, {count} are expected", told.len()).unwrap();
            for (name, _, message) in
                told.iter().filter(|(_, passed, _)| !passed).take(if asked.is_some() { 500 } else { 4 })
            {
                let message: String = message.chars().take(300).collect();
                writeln!(report, "    {name}: {message}").unwrap();
            }
        }
    }
    let rate = 100.0 * f64::from(u32::try_from(passed).unwrap()) / f64::from(u32::try_from(all.max(1)).unwrap());
    println!("{folder}: {passed} of {all} subtests pass, {rate:.2} %, {} files", results.len());
    if asked.is_some() {
        println!("{report}");
        return;
    }
    if std::env::var_os("GLEANER_BLESS").is_some() {
        let rows: String = found.iter().map(|(file, (count, reason))| format!("{file}: {count} {reason}\n")).collect();
        let head =
            "# Failures of web platform tests: file, how many subtests, why. Written by tests/render/wpt/pages.rs.\n";
        std::fs::write(expected_path(folder), format!("{head}{rows}")).unwrap();
        return;
    }
    let gone: Vec<&String> = known.keys().filter(|file| !results.contains_key(*file)).collect();
    assert!(gone.is_empty(), "expected to fail, and not there: {gone:?}");
    assert!(report.is_empty(), "{folder}\n{report}");
    assert!(rate >= at_least, "{folder}: {rate:.2} % pass, not {at_least} %");
}

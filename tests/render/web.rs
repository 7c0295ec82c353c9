//! Web platform tests of documents, run in whole pages: those that Node.js runs, from Debian's source package, and our own in
//! `fixtures/web`, one file for each part of the DOM. The full set runs in `tests/corpora`.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

#[path = "wpt/pages.rs"]
mod pages;

use pages::assert_suite;

/// Folder of the lists of expected failures of Node.js's files.
const EXPECTED: &str = "node";

/// Those of Node.js, and ours below `own/`.
fn files() -> &'static HashMap<String, Vec<u8>> {
    static FILES: OnceLock<HashMap<String, Vec<u8>>> = OnceLock::new();
    FILES.get_or_init(|| {
        let mut files = crate::wpt::node::files();
        for entry in fs::read_dir(Path::new(env!("GLEANER_ROOT")).join("fixtures/web")).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("own/{}", path.file_name().unwrap().to_string_lossy());
            files.insert(name, fs::read(&path).unwrap());
        }
        files
    })
}

#[test]
fn dom_events() {
    assert_suite("dom/events/", 95.0);
}

#[test]
fn dom_abort() {
    assert_suite("dom/abort/", 95.0);
}

#[test]
fn url() {
    // A twelfth of them open windows with bad URLs and check beacons (wpt/node/url.txt).
    assert_suite("url/", 92.0);
}

#[test]
fn html_webappapis() {
    assert_suite("html/webappapis/", 80.0);
}

#[test]
fn our_own() {
    assert_suite("own/", 100.0);
}

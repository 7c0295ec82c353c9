//! Web platform tests that need no document, run by the engine itself: those that Node.js runs, from Debian's source package. The full
//! set runs in `tests/corpora`.

use std::collections::HashMap;
use std::sync::OnceLock;

#[path = "wpt/engine.rs"]
mod engine;

use engine::{Expected, assert_engine};

fn files() -> &'static HashMap<String, Vec<u8>> {
    static FILES: OnceLock<HashMap<String, Vec<u8>>> = OnceLock::new();
    FILES.get_or_init(crate::wpt::node::files)
}

/// Folders whose `.any.js` tests run.
const FOLDERS: &[&str] = &["url/", "dom/abort/", "dom/events/"];

/// Failing subtests: part of the file's path, how many, why.
const EXPECTED: Expected = &[
    ("url/historical.any", 1, "the test's own location is a URL here, which has searchParams"),
    ("url/url-constructor.any", 2, "the url crate escapes ^ in paths"),
    ("url/url-setters.any", 16, "the url crate: paths of schemes that are not special"),
    ("dom/abort/timeout-shadowrealm", 1, "the engine has no ShadowRealm; the harness takes the window for one"),
    (
        "dom/events/Event-isTrusted",
        1,
        "isTrusted stands on the prototype: an own accessor for each event would cost all of them",
    ),
    ("headers/headers-no-cors", 26, "requests are not narrowed by their mode, which the crawl's gate does not know"),
];

#[test]
fn what_needs_no_document_behaves_as_in_browsers() {
    assert_engine(FOLDERS, EXPECTED);
}

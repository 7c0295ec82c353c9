//! The web platform tests that need no document.

use super::engine_of_files::{Expected, assert_engine};

/// Folders whose `.any.js` tests run.
const FOLDERS: &[&str] = &["url/", "dom/abort/", "dom/events/", "fetch/api/headers/"];

/// Failing subtests: part of the file's path, how many, why.
const EXPECTED: Expected = &[
    ("url/historical.any", 1, "the test's own location is a URL here, which has searchParams"),
    ("url/url-setters.any", 7, "the url crate: paths of schemes that are not special"),
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

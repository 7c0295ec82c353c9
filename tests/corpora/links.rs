//! Compares the link scanner with html5ever's tree: on pages of real programs and sites, the 3,500 pages of the web platform tests, and
//! the 1,700 documents of the html5lib tests among them.

use gleaner_net::fetch::charset;

use super::wpt;
use crate::corpus;

#[path = "../page/links/compare.rs"]
mod compare;

use compare::{assert_equal_to_tree, compare_documents, compare_folder};

#[test]
fn scanner_equals_tree_on_the_pages_of_real_programs() {
    compare_folder(&corpus("pages"), 20);
}

#[test]
fn scanner_equals_tree_on_the_pages_of_real_sites() {
    compare_folder(&corpus("pagination"), 100);
}

#[test]
fn scanner_equals_tree_on_every_page_of_the_web_platform_tests() {
    let pages = wpt::files().iter().filter(|(name, _)| name.ends_with(".html") || name.ends_with(".htm"));
    let mut compared = 0;
    for (name, body) in pages {
        assert_equal_to_tree(body, charset::detect(None, body, None), name);
        compared += 1;
    }
    assert!(compared > 3_000, "{compared} pages");
}

/// The documents in a file of the html5lib tests: `async_test('…'), "percent-encoded document", "tree"`.
fn html5lib_documents(page: &str) -> Vec<String> {
    let documents = page.split("async_test('").skip(1).filter_map(|test| {
        let document = test.split_once("'), \"")?.1.split('"').next()?;
        Some(percent_encoding::percent_decode_str(document).decode_utf8_lossy().into_owned())
    });
    documents.collect()
}

#[test]
fn scanner_equals_tree_on_the_html5lib_documents() {
    let files = wpt::files().iter().filter(|(name, _)| name.contains("html5lib_") && name.ends_with(".html"));
    let documents = files.flat_map(|(_, body)| html5lib_documents(&String::from_utf8_lossy(body)));
    compare_documents(documents, 1_700);
}

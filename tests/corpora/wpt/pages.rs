//! The web platform tests of documents.

use super::pages_of_files::assert_suite;

#[test]
fn dom_nodes() {
    assert_suite("dom/nodes/", 98.0);
}

#[test]
fn dom_events() {
    assert_suite("dom/events/", 96.0);
}

#[test]
fn dom_traversal() {
    assert_suite("dom/traversal/", 99.9);
}

#[test]
fn dom_ranges() {
    assert_suite("dom/ranges/", 99.9);
}

#[test]
fn dom_collections() {
    assert_suite("dom/collections/", 100.0);
}

#[test]
fn dom_lists() {
    assert_suite("dom/lists/", 100.0);
}

#[test]
fn domparsing() {
    assert_suite("domparsing/", 98.0);
}

#[test]
fn css_selectors() {
    assert_suite("css/selectors/", 98.0);
}

#[test]
fn html_dom() {
    assert_suite("html/dom/", 99.0);
}

#[test]
fn custom_elements() {
    assert_suite("custom-elements/", 89.0);
}

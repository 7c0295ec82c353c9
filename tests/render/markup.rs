//! Markup without scripts: html5lib's documents with their expected trees, and selector matching. An expected failure is
//! listed with its reason, and an unexpected pass fails too. The web platform tests of both are in `tests/corpora`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use gleaner_render::Selectors;
use serde_json::Value;

#[path = "wpt/domino.rs"]
mod domino;
#[path = "wpt/markup.rs"]
mod trees;

use trees::{assert_failures, lines, parse, parse_within};

/// html5lib's prefix of names in a namespace.
fn word_of(namespace: &Value) -> &'static str {
    match namespace.as_str().and_then(|namespace| namespace.rsplit('/').next()) {
        Some("svg") => "svg ",
        Some("MathML") => "math ",
        Some("xlink") => "xlink ",
        Some("namespace") => "xml ",
        Some("xmlns") => "xmlns ",
        _ => "",
    }
}

/// A tree from domino's tests in html5lib's format.
fn expected_lines(nodes: &Value, indent: usize, to: &mut Vec<String>) {
    let space = " ".repeat(indent);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    for node in nodes.as_array().into_iter().flatten() {
        if let Some(words) = node["text"].as_str() {
            to.push(format!("|{space}\"{words}\""));
        } else if node["comment"].is_string() {
            to.push(format!("|{space}<!-- {} -->", text(&node["comment"])));
        } else if node["doctype"].is_string() {
            to.push(format!("|{space}<!DOCTYPE {}>", text(&node["doctype"])));
        } else if node["content"].is_boolean() {
            to.push(format!("|{space}content"));
        } else {
            to.push(format!("|{space}<{}{}>", word_of(&node["ns"]), text(&node["tag"])));
            let attributes: BTreeSet<String> = node["attrs"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|attribute| {
                    let word = word_of(&attribute["ns"]);
                    format!("|{space}  {word}{}=\"{}\"", text(&attribute["name"]), text(&attribute["value"]))
                })
                .collect();
            to.extend(attributes);
        }
        expected_lines(&node["children"], indent + 2, to);
    }
}

/// Documents whose trees differ from domino's tests, by file and number.
const PARSED_OTHERWISE: &[(&str, &str)] = &[
    ("foreign-fragment.dat 0:", FRAGMENT),
    ("foreign-fragment.dat 1:", FRAGMENT),
    ("foreign-fragment.dat 38:", FRAGMENT),
    ("foreign-fragment.dat 40:", FRAGMENT),
    ("foreign-fragment.dat 47:", FRAGMENT),
    ("foreign-fragment.dat 48:", FRAGMENT),
    ("menuitem-element.dat 3:", MENU),
    ("menuitem-element.dat 4:", MENU),
    ("menuitem-element.dat 5:", MENU),
    ("menuitem-element.dat 13:", SELECT),
    ("tests1.dat 29:", SELECT),
    ("tests1.dat 101:", SELECT),
    ("tests10.dat 3:", SELECT),
    ("tests10.dat 4:", SELECT),
    ("tests10.dat 16:", SELECT),
    ("tests10.dat 17:", SELECT),
    ("tests7.dat 30:", SELECT),
    ("tests9.dat 4:", SELECT),
    ("tests9.dat 5:", SELECT),
    ("tests9.dat 17:", SELECT),
    ("tests9.dat 18:", SELECT),
    ("tests_innerHTML_1.dat 79:", SELECT),
    ("tests_innerHTML_1.dat 80:", SELECT),
    ("tests_innerHTML_1.dat 81:", SELECT),
    ("webkit02.dat 17:", SELECT),
];

const FRAGMENT: &str =
    "domino's tests are of 2020: an HTML element in a fragment of foreign content now ends that content";
const SELECT: &str = "a select may have any content since 2024";
const MENU: &str = "menuitem is no element of its own any more";

#[test]
fn html5lib_documents_make_the_trees_that_they_must() {
    let (mut all, mut failed) = (0, BTreeMap::new());
    for (file, documents) in domino::documents() {
        for (number, document) in documents.iter().enumerate() {
            all += 1;
            let markup = document["data"].as_str().unwrap();
            let scripting = document["script"] != "off";
            let (tree, root) = match document["fragment"]["name"].as_str() {
                Some(name) => {
                    let context = format!("{}{name}", word_of(&document["fragment"]["ns"]));
                    parse_within(&context, markup, scripting)
                }
                None => parse(markup, scripting),
            };
            let mut expected = vec!["#document".to_owned()];
            expected_lines(&document["document"]["tree"], 1, &mut expected);
            let (got, expected) = (lines(&tree, root), expected.join("\n"));
            if got != expected {
                failed.insert(format!("{file} {number}:"), format!("{markup:?}\n{got}\nnot\n{expected}\n"));
            }
        }
    }
    assert_failures(&failed, PARSED_OTHERWISE, all, 1_500);
}

/// The lines of a file of `fixtures/selectors`, split at tabs.
fn rows(name: &str) -> Vec<(String, String)> {
    let text = fs::read_to_string(Path::new(env!("GLEANER_ROOT")).join("fixtures/selectors").join(name)).unwrap();
    let rows = text.lines().filter(|line| !line.is_empty() && !line.starts_with("//")).map(|line| {
        let (one, other) = line.split_once('\t').unwrap_or_else(|| panic!("{name}: no tab in {line:?}"));
        (one.to_owned(), other.trim().to_owned())
    });
    rows.collect()
}

#[test]
fn selectors_find_what_stands_beside_them() {
    let page = fs::read_to_string(Path::new(env!("GLEANER_ROOT")).join("fixtures/selectors/page.html")).unwrap();
    let (mut tree, document) = parse(&page, true);
    tree.target = tree.element_by_id(document, "target");
    let (rows, mut failed) = (rows("found.tsv"), BTreeMap::new());
    for (text, expected) in &rows {
        let Ok(selectors) = Selectors::parse(text) else {
            failed.insert(text.clone(), "is a selector".to_owned());
            continue;
        };
        let found = tree.query_selector_all(document, &selectors);
        let found: Vec<&str> = found.iter().map(|id| tree.id(*id).unwrap_or_default()).collect();
        if found.join(" ") != *expected {
            failed.insert(text.clone(), format!("found {found:?}, not {expected:?}"));
        }
    }
    assert_failures(&failed, &[], rows.len(), 80);
}

#[test]
fn selectors_are_read_and_refused() {
    let (rows, mut failed) = (rows("read.tsv"), BTreeMap::new());
    for (wanted, text) in &rows {
        if Selectors::parse(text).is_ok() != (wanted == "valid") {
            failed.insert(text.clone(), format!("is {wanted}"));
        }
    }
    assert_failures(&failed, &[], rows.len(), 60);
}

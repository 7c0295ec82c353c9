//! Trees in the format of html5lib's tests, and checks of a table of expected failures.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use gleaner_render::{NodeData, NodeId, Parser, Step, Tree};
use html5ever::{LocalName, Namespace, QualName, ns};

/// Checks that exactly the expected tests failed. An expectation is a part of the test's name.
pub fn assert_failures(failed: &BTreeMap<String, String>, expected: &[(&str, &str)], all: usize, at_least: usize) {
    assert!(all >= at_least, "{all} tests were found, not {at_least}");
    let mut report = String::new();
    for (test, what) in failed.iter().filter(|(test, _)| !expected.iter().any(|(part, _)| test.contains(part))) {
        writeln!(report, "{test}: {what}").unwrap();
    }
    for (part, reason) in expected.iter().filter(|(part, _)| !failed.keys().any(|test| test.contains(part))) {
        writeln!(report, "{part}: passes, though it is listed as failing: {reason}").unwrap();
    }
    assert!(report.is_empty(), "of {all} tests:\n{report}");
}

/// html5lib's names of namespaces.
fn namespace_word(namespace: &Namespace) -> &'static str {
    match *namespace {
        ns!(mathml) => "math ",
        ns!(svg) => "svg ",
        ns!(xlink) => "xlink ",
        ns!(xml) => "xml ",
        ns!(xmlns) => "xmlns ",
        _ => "",
    }
}

/// The tree in the format of html5lib's tests.
pub fn lines(tree: &Tree, root: NodeId) -> String {
    let mut lines = vec!["#document".to_owned()];
    let mut work: Vec<(Result<NodeId, &str>, usize)> = tree.children(root).rev().map(|id| (Ok(id), 1)).collect();
    while let Some((next, indent)) = work.pop() {
        let space = " ".repeat(indent);
        let id = match next {
            Ok(id) => id,
            Err(word) => {
                lines.push(format!("|{space}{word}"));
                continue;
            }
        };
        match tree.data(id) {
            NodeData::DocumentType(doctype) => {
                let ids = match (doctype.public_id.as_str(), doctype.system_id.as_str()) {
                    ("", "") => String::new(),
                    (public, system) => format!(" \"{public}\" \"{system}\""),
                };
                lines.push(format!("|{space}<!DOCTYPE {}{ids}>", doctype.name));
            }
            NodeData::Comment(text) => lines.push(format!("|{space}<!-- {text} -->")),
            NodeData::Text(text) => lines.push(format!("|{space}\"{text}\"")),
            NodeData::Element(element) => {
                lines.push(format!("|{space}<{}{}>", namespace_word(&element.name().ns), &*element.name().local));
                let attributes: BTreeSet<String> = element
                    .attributes()
                    .iter()
                    .map(|attribute| {
                        let name = &attribute.name;
                        format!("|{space}  {}{}=\"{}\"", namespace_word(&name.ns), &*name.local, attribute.value)
                    })
                    .collect();
                lines.extend(attributes);
                work.extend(tree.children(id).rev().map(|child| (Ok(child), indent + 2)));
                if let Some(contents) = element.template_contents() {
                    work.extend(tree.children(contents).rev().map(|child| (Ok(child), indent + 4)));
                    work.push((Err("content"), indent + 2));
                }
            }
            _ => {}
        }
    }
    lines.join("\n")
}

/// A document as a browser parses it; with `scripting`, as if its scripts would run.
pub fn parse(markup: &str, scripting: bool) -> (Tree, NodeId) {
    let mut tree = Tree::new();
    let document = tree.create_document(true).unwrap();
    tree.document_data_mut(document).unwrap().scripting = scripting;
    let mut parser = Parser::new(&mut tree, document);
    let mut step = parser.feed(&mut tree, markup);
    while let Ok(Step::Script(_)) = step {
        step = parser.feed(&mut tree, "");
    }
    parser.finish(&mut tree).unwrap();
    (tree, document)
}

/// A fragment in the context of an element: `td`, `svg path`, `math mi`.
pub fn parse_within(context: &str, markup: &str, scripting: bool) -> (Tree, NodeId) {
    let mut tree = Tree::new();
    let document = tree.create_document(true).unwrap();
    tree.document_data_mut(document).unwrap().scripting = scripting;
    let (namespace, local) = match context.split_once(' ') {
        Some(("svg", local)) => (ns!(svg), local),
        Some((_, local)) => (ns!(mathml), local),
        None => (ns!(html), context),
    };
    let context = QualName::new(None, namespace, LocalName::from(local));
    let context = tree.create_element(document, context, Vec::new()).unwrap();
    let fragment = tree.parse_fragment(context, markup).unwrap();
    (tree, fragment)
}

//! The arena's tree is the one that scraper builds, on every page we have and on the demo's.

use std::collections::HashSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;

use scraper::{Html, Node as Scraped};

use gleaner_demo::{self as demo, DemoOptions};
use gleaner_render::{NodeData, NodeId, Parser, Selectors, Step, Tree};

/// A tree as lines, so that a difference shows where it is.
fn lines(tree: &Tree, document: NodeId) -> Vec<String> {
    let mut lines = Vec::new();
    let mut work: Vec<(NodeId, usize)> = vec![(document, 0)];
    while let Some((id, depth)) = work.pop() {
        let line = match tree.data(id) {
            NodeData::Element(element) => {
                let mut attributes: Vec<String> = element
                    .attributes()
                    .iter()
                    .map(|attribute| {
                        format!("{}|{}={:?}", &*attribute.name.ns, &*attribute.name.local, attribute.value)
                    })
                    .collect();
                attributes.sort();
                let name = element.name();
                format!("<{}|{} {}", &*name.ns, &*name.local, attributes.join(" "))
            }
            NodeData::Text(text) | NodeData::CData(text) => format!("{text:?}"),
            NodeData::Comment(text) => format!("<!--{text:?}"),
            NodeData::DocumentType(doctype) => {
                format!("<!{} {} {}", doctype.name, doctype.public_id, doctype.system_id)
            }
            NodeData::Fragment(_) => "fragment".into(),
            NodeData::Document(_) => "document".into(),
            NodeData::Instruction(_) | NodeData::Attr(_) | NodeData::Vacant => "other".into(),
        };
        lines.push(format!("{depth} {line}"));
        work.extend(tree.children(id).rev().map(|child| (child, depth + 1)));
        if let Some(contents) = tree.element(id).and_then(|element| element.template_contents()) {
            work.push((contents, depth + 1));
        }
    }
    lines
}

fn scraped_lines(html: &Html) -> Vec<String> {
    let mut lines = Vec::new();
    let mut work = vec![(html.tree.root(), 0_usize)];
    while let Some((node, depth)) = work.pop() {
        let line = match node.value() {
            Scraped::Element(element) => {
                let mut attributes: Vec<String> = element
                    .attrs
                    .iter()
                    .map(|(name, value)| format!("{}|{}={:?}", &*name.ns, &*name.local, &**value))
                    .collect();
                attributes.sort();
                format!("<{}|{} {}", &*element.name.ns, &*element.name.local, attributes.join(" "))
            }
            Scraped::Text(text) => format!("{:?}", &*text.text),
            Scraped::Comment(text) => format!("<!--{:?}", &*text.comment),
            Scraped::Doctype(doctype) => {
                format!("<!{} {} {}", doctype.name(), doctype.public_id(), doctype.system_id())
            }
            Scraped::Fragment => "fragment".into(),
            Scraped::Document => "document".into(),
            Scraped::ProcessingInstruction(_) => "other".into(),
        };
        lines.push(format!("{depth} {line}"));
        let children: Vec<_> = node.children().collect();
        work.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
    }
    lines
}

fn compare(markup: &str, of: &str) {
    let mut tree = Tree::new();
    let document = tree.create_document(true).unwrap();
    tree.document_data_mut(document).unwrap().scripting = true;
    let mut parser = Parser::new(&mut tree, document);
    let mut step = parser.feed(&mut tree, markup);
    while let Ok(Step::Script(_)) = step {
        step = parser.feed(&mut tree, "");
    }
    parser.finish(&mut tree).unwrap();
    let (ours, theirs) = (lines(&tree, document), scraped_lines(&Html::parse_document(markup)));
    if let Some(place) = (0..ours.len().max(theirs.len())).find(|place| ours.get(*place) != theirs.get(*place)) {
        panic!("{of}: node {place} is {:?}, scraper's {:?}", ours.get(place), theirs.get(place));
    }
}

#[test]
fn hard_markup_makes_the_tree_that_scraper_makes() {
    for markup in [
        "",
        "<p>a<table><td>b<b>c<tr>d</table>e",
        "<a href=1>x<a href=2>y<div>z</a>w",
        "<b><i><p>1</b>2</i>3",
        "<table><form><input><tr><select><td><option>x</table>",
        "<svg><foreignObject><p>x</svg><math><mi>y<annotation-xml encoding='text/html'><div>z",
        "<frameset><frame></frameset><noframes>x",
        "<!DOCTYPE html PUBLIC 'a' 'b'><!--c--><html a=1><html b=2 a=3><body c><body d>",
        "<template><td>x<template>y</template></template>z",
        "<title>a&lt;b</title><textarea>\n\nx</textarea><pre>\nx</pre><xmp><b></xmp>",
        "</p></br><image src=x><isindex>",
        "<ul><li>a<ul><li>b</ul><li>c</ul><dl><dt>a<dd>b</dl><ruby>a<rt>b<rp>c",
    ] {
        compare(markup, markup);
    }
}

#[test]
fn stored_pages_make_the_tree_that_scraper_makes() {
    for (folder, at_least) in [("fixtures/pages", 6), ("../shared/data/pages", 20)] {
        let pages = compare_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
        assert!(pages >= at_least, "{folder} holds {pages} pages, not {at_least}");
    }
}

fn compare_folder(folder: &Path) -> usize {
    let mut pages = 0;
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages += compare_folder(&path);
        } else if path.extension().is_some_and(|extension| extension == "html") {
            compare(&String::from_utf8_lossy(&fs::read(&path).unwrap()), &path.display().to_string());
            pages += 1;
        }
    }
    pages
}

/// Pages of the demo site that are looked at.
const DEMO_PAGES: usize = 60;

#[test]
fn pages_of_the_demo_make_the_tree_that_scraper_makes() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let site = runtime.block_on(demo::start(DemoOptions { torrents: 300, ..DemoOptions::default() })).unwrap();
    let links = Selectors::parse("a[href^='/']").unwrap();
    let (mut waiting, mut known, mut pages) = (vec!["/".to_owned()], HashSet::new(), 0);
    while let Some(path) = waiting.pop() {
        let Some(page) = get(site.origin(), &path) else {
            continue;
        };
        compare(&page, &path);
        pages += 1;
        if pages == DEMO_PAGES {
            break;
        }
        let mut tree = Tree::new();
        let document = tree.parse_document(&page).unwrap();
        for link in tree.query_selector_all(document, &links) {
            let href = tree.attribute_by_name(link, "href").unwrap().value.clone();
            if known.insert(href.clone()) {
                waiting.insert(0, href);
            }
        }
    }
    runtime.block_on(site.stop());
    assert_eq!(pages, DEMO_PAGES);
}

/// A page of the site; None for what is no HTML.
fn get(origin: &str, path: &str) -> Option<String> {
    let address = origin.strip_prefix("http://").unwrap();
    let mut connection = TcpStream::connect(address).unwrap();
    write!(connection, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n")?;
    head.to_ascii_lowercase().contains("content-type: text/html").then(|| body.to_owned())
}

//! Compares the arena's tree with scraper's, on every page we have and on the demo's. The pages of real programs are in
//! `tests/corpora`.

use std::collections::HashSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;

use gleaner_demo::{self as demo, DemoOptions};
use gleaner_render::{Selectors, Tree};

#[path = "trees/compare.rs"]
mod compare;

use compare::{compare, compare_folder};

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
    let pages = compare_folder(&Path::new(env!("GLEANER_ROOT")).join("fixtures"));
    assert!(pages >= 6, "{pages} pages");
}

/// Number of demo pages to compare.
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

/// A page of the site; None if it is not HTML.
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

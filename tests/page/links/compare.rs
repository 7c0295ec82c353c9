//! Compares the scanner's links with those of html5ever's tree.
//!
//! The tree copies formatting elements that are still open (`<p><a href=x><p>` has two `a`), so both sides are
//! compared by the first position of each (kind, href).

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use encoding_rs::{Encoding, UTF_8};
use gleaner_net::fetch::charset;
use gleaner_page::links::{LinkKind, PageLinks, scan};
use gleaner_page::tree;

/// A page's deduplicated links, its base and its robots directives.
type Summary = (Vec<(LinkKind, String)>, Option<String>, bool, bool);

fn summary(page: &PageLinks<'_>) -> Summary {
    let mut seen = HashSet::new();
    let links = page.links.iter().map(|link| (link.kind, link.href.to_string()));
    let links = links.filter(|link| seen.insert(link.clone())).collect();
    (links, page.base.as_ref().map(ToString::to_string), page.robots_nofollow, page.robots_noindex)
}

pub fn assert_equal_to_tree(body: &[u8], encoding: &'static Encoding, what: &str) {
    let (html, _) = encoding.decode_with_bom_removal(body);
    let expected = summary(&tree::links(&html).unwrap());
    let found = summary(&scan(body, encoding));
    assert_eq!(found, expected, "{what} ({})", encoding.name());
}

/// Files under `folder` with this extension, in a fixed order.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

pub fn compare_folder(folder: &Path, pages_min: usize) {
    let pages = files(folder, "html");
    assert!(pages.len() >= pages_min, "{} holds {} pages, not {pages_min}", folder.display(), pages.len());
    let mut links = 0;
    for path in pages {
        let body = fs::read(&path).unwrap();
        let encoding = charset::detect(None, &body, None);
        assert_equal_to_tree(&body, encoding, &path.display().to_string());
        links += scan(&body, encoding).links.len();
    }
    assert!(links > pages_min, "pages without links prove nothing");
}

/// The one case where scanner and tree differ: a `template` whose first child is a `col` is parsed as a column group,
/// in which the tree ignores every other tag. The scanner returns the links in it.
fn ignores_tags(document: &str) -> bool {
    document.contains("<template><col>")
}

/// Compares html5lib's documents, which contain every kind of malformed HTML. As few of them have links, links and raw
/// text are inserted after and between their tags.
pub fn compare_documents(documents: impl IntoIterator<Item = String>, at_least: usize) {
    let (mut compared, mut excepted, mut differing) = (0, 0, Vec::new());
    for document in documents {
        if ignores_tags(&document) {
            excepted += 1;
            continue;
        }
        compared += 1;
        let behind = format!("{document}<a href=1>x</a><style><a href=2></style><title><a href=3></title><a href=4>");
        let between = document.replace('>', "><a href=5>");
        for page in [&document, &behind, &between] {
            let found = summary(&scan(page.as_bytes(), UTF_8));
            let expected = summary(&tree::links(page).unwrap());
            if found != expected {
                differing.push(format!("{page:?}\n  scanner {found:?}\n  tree    {expected:?}"));
            }
        }
    }
    assert!(compared >= at_least && excepted < 20, "{compared} documents, {excepted} excepted");
    assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
}

//! The link scanner against html5ever's tree on the web platform tests: pages made to break parsers.
//!
//! Those on which the two differ are listed with the reason; a page that stops differing must leave the list.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use gleaner::fetch::charset;
use gleaner::page::links::{LinkKind, PageLinks, scan};
use gleaner::page::tree;

/// Pages on which scanner and tree differ by design.
const DIFFERENT: [(&str, &str); 0] = [];

fn distinct(page: &PageLinks<'_>) -> (Vec<(LinkKind, String)>, Option<String>) {
    let mut seen = HashSet::new();
    let links = page.links.iter().map(|link| (link.kind, link.href.to_string()));
    (links.filter(|link| seen.insert(link.clone())).collect(), page.base.as_ref().map(ToString::to_string))
}

#[test]
fn scanner_differs_from_tree_only_where_listed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/wpt.tar.zst");
    let file = File::open(&path).unwrap_or_else(|error| panic!("the shared data are not there: {}: {error}", path.display()));
    let mut archive = tar::Archive::new(zstd::Decoder::new(file).unwrap());
    let (mut pages, mut links, mut differing) = (0, 0, Vec::new());
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".html") && !name.ends_with(".htm") {
            continue;
        }
        let mut body = Vec::new();
        entry.read_to_end(&mut body).unwrap();
        let encoding = charset::detect(None, &body, None);
        let Ok(expected) = tree::links(&encoding.decode_with_bom_removal(&body).0) else {
            differing.push(format!("{name}: no tree"));
            continue;
        };
        let (found, expected) = (distinct(&scan(&body, encoding)), distinct(&expected));
        pages += 1;
        links += found.0.len();
        let listed = DIFFERENT.iter().any(|(listed, _)| name.ends_with(listed));
        if (found != expected) != listed {
            differing.push(format!("{name}\n  scanner {found:?}\n  tree    {expected:?}"));
        }
    }
    println!("{pages} pages, {links} links, {} of them listed as different", DIFFERENT.len());
    assert!(pages > 1_000, "only {pages} pages in the archive");
    assert!(differing.is_empty(), "{} pages:\n{}", differing.len(), differing.join("\n"));
}

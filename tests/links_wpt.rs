//! The link scanner against html5ever's tree on the web platform tests: 3,500 pages, and the 1,700 documents of the
//! html5lib tests, which were written to go wrong in every way that HTML can. As few of those hold links, links and
//! raw text are put behind and between their tags.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use gleaner_net::fetch::charset;
use gleaner_page::links::{LinkKind, PageLinks, scan};
use gleaner_page::tree;

/// The links of a page, each once, and its base.
type Summary = (Vec<(LinkKind, String)>, Option<String>);

fn summary(page: &PageLinks<'_>) -> Summary {
    let mut seen = HashSet::new();
    let links = page.links.iter().map(|link| (link.kind, link.href.to_string()));
    (links.filter(|link| seen.insert(link.clone())).collect(), page.base.as_ref().map(ToString::to_string))
}

/// (scanner, tree) where they differ.
fn difference(html: &str) -> Option<(Summary, Summary)> {
    let found = summary(&scan(html.as_bytes(), encoding_rs::UTF_8));
    let expected = summary(&tree::links(html).unwrap());
    (found != expected).then_some((found, expected))
}

/// Every `.html` and `.htm` of the archive.
fn each_page(mut visit: impl FnMut(&str, &[u8])) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/wpt.tar.zst");
    let file = File::open(&path).unwrap_or_else(|error| panic!("no shared data: {}: {error}", path.display()));
    let mut archive = tar::Archive::new(zstd::Decoder::new(file).unwrap());
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().to_string_lossy().into_owned();
        if name.ends_with(".html") || name.ends_with(".htm") {
            let mut body = Vec::new();
            entry.read_to_end(&mut body).unwrap();
            visit(&name, &body);
        }
    }
}

#[test]
fn scanner_equals_tree_on_every_page() {
    let (mut pages, mut links) = (0, 0);
    each_page(|name, body| {
        let encoding = charset::detect(None, body, None);
        let expected = summary(&tree::links(&encoding.decode_with_bom_removal(body).0).unwrap());
        assert_eq!(summary(&scan(body, encoding)), expected, "{name}");
        pages += 1;
        links += expected.0.len();
    });
    assert!(pages > 3_000 && links > 300, "{pages} pages, {links} links");
}

/// The one class where scanner and tree differ: a `template` whose first child is a `col` is parsed as a column group,
/// in which the tree ignores every other tag. The scanner takes the links that stand there.
fn ignores_tags(document: &str) -> bool {
    document.contains("<template><col>")
}

/// The documents in a file of the html5lib tests: `async_test('…'), "percent-encoded document", "tree"`.
fn html5lib_documents(page: &str) -> impl Iterator<Item = String> {
    page.split("async_test('").skip(1).filter_map(|test| {
        let document = test.split_once("'), \"")?.1.split('"').next()?;
        Some(percent_encoding::percent_decode_str(document).decode_utf8_lossy().into_owned())
    })
}

#[test]
fn scanner_equals_tree_on_the_html5lib_documents() {
    let (mut documents, mut excepted, mut differing) = (0, 0, Vec::new());
    each_page(|name, body| {
        if !name.contains("html5lib_") {
            return;
        }
        for document in html5lib_documents(&String::from_utf8_lossy(body)) {
            if ignores_tags(&document) {
                excepted += 1;
                continue;
            }
            documents += 1;
            let behind =
                format!("{document}<a href=1>x</a><style><a href=2></style><title><a href=3></title><a href=4>");
            let between = document.replace('>', "><a href=5>");
            for page in [&document, &behind, &between] {
                if let Some((found, expected)) = difference(page) {
                    differing.push(format!("{page:?}\n  scanner {found:?}\n  tree    {expected:?}"));
                }
            }
        }
    });
    assert!(documents > 1_700 && excepted < 20, "{documents} documents, {excepted} excepted");
    assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
}

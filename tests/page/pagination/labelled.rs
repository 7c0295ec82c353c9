//! Page numbers parsed from URLs, compared with links that are labelled as pagination.
//!
//! Only the URLs count here, not what a link *looks* like (its text, its position). Recall: a labelled link has a page
//! number, or is the first page of a series in which another labelled link has one. Precision: links with a page number
//! that belong to the series of their page, and are labelled.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use encoding_rs::Encoding;
use gleaner_page::links::scan;
use gleaner_page::{pagination, tree};
use scraper::{Html, Selector};
use url::Url;

/// One labelled page.
struct Labelled {
    url: Url,
    body: Vec<u8>,
    encoding: &'static Encoding,
    /// CSS selectors of prev, page, next, first and last links.
    selectors: Vec<String>,
}

fn labelled_pages(folder: &Path) -> Vec<Labelled> {
    let labels = fs::read_to_string(folder.join("labels.jsonl")).unwrap();
    let read = |line: &str| {
        let label: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| label[key].as_str().unwrap().to_owned();
        Labelled {
            url: Url::parse(&text("url")).unwrap(),
            body: fs::read(folder.join(text("file"))).unwrap(),
            encoding: Encoding::for_label(text("encoding").as_bytes()).unwrap_or(encoding_rs::WINDOWS_1252),
            selectors: ["prev", "page", "next", "first", "last"].map(text).to_vec(),
        }
    };
    labels.lines().map(read).collect()
}

/// Path and query of another page of the same host; the page itself and other sites are no pagination.
fn target(page: &Url, base: &Url, href: &str) -> Option<String> {
    let mut url = base.join(href).ok()?;
    url.set_fragment(None);
    let is_here = url.path() == page.path() && url.query() == page.query();
    (url.host() == page.host() && !is_here).then(|| path_and_query(&url))
}

fn path_and_query(url: &Url) -> String {
    url[url::Position::BeforePath..url::Position::AfterQuery].to_owned()
}

fn labelled_targets(page: &Labelled, html: &Html, base: &Url) -> BTreeSet<String> {
    let mut targets = BTreeSet::new();
    for selector in page.selectors.iter().filter(|selector| !selector.is_empty()) {
        let selector = Selector::parse(selector).unwrap();
        // Some labels are on an element inside the link.
        for element in html.select(&selector) {
            let own = std::iter::once(element).chain(element.ancestors().filter_map(scraper::ElementRef::wrap));
            let href = own.take(3).find_map(|element| element.value().attr("href"));
            targets.extend(href.and_then(|href| target(&page.url, base, href)));
        }
    }
    targets
}

fn series(path_and_query: &str) -> String {
    pagination::of(path_and_query, None)
        .map_or_else(|| pagination::series_of_first(path_and_query), |number| number.series)
}

/// Precision and recall on the pages of a folder: `labels.jsonl`, and the files that it lists.
pub fn measure(folder: &Path) -> (f64, f64) {
    let (mut hit, mut missed, mut wrong) = (0, Vec::new(), Vec::new());
    for page in labelled_pages(folder) {
        let html = tree::parse(&page.encoding.decode(&page.body).0).unwrap();
        let links = scan(&page.body, page.encoding);
        let base = links.base.as_ref().and_then(|base| page.url.join(base).ok()).unwrap_or_else(|| page.url.clone());
        let labelled = labelled_targets(&page, &html, &base);
        let here = series(&path_and_query(&page.url));
        let found: BTreeSet<String> = links
            .links
            .iter()
            .filter_map(|link| target(&page.url, &base, &link.href))
            .filter(|target| pagination::of(target, None).is_some() && series(target) == here)
            .collect();
        // Labels include the pagination of threads listed on a board, which belong to other series. A link to a first
        // page usually has no number: its series identifies it.
        let numbered: BTreeSet<String> =
            labelled.iter().filter_map(|target| pagination::of(target, None)).map(|page| page.series).collect();
        let is_told = |target: &&String| numbered.contains(&series(target)) || series(target) == here;
        hit += labelled.iter().filter(is_told).count();
        missed.extend(labelled.iter().filter(|target| !is_told(target)).map(|target| format!("{} {target}", page.url)));
        if !labelled.is_empty() {
            wrong.extend(found.difference(&labelled).map(|target| format!("{} {target}", page.url)));
        }
    }
    let precision = hit as f64 / (hit + wrong.len()) as f64;
    let recall = hit as f64 / (hit + missed.len()) as f64;
    println!("missed:\n{}\n\nwrong:\n{}", missed.join("\n"), wrong.join("\n"));
    println!("hit {hit}, missed {}, wrong {}: precision {precision:.3}, recall {recall:.3}", missed.len(), wrong.len());
    (precision, recall)
}

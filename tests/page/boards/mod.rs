//! Boards as the crawl reads them: a simulated forum in the markup of many programs, walked by BIC and by the paper's EIC;
//! hand-written pages that follow the public conventions of forums and trackers; and malicious pages. Pages that real programs
//! sent are in `tests/corpora`.

mod directories;
mod families;
mod forum;
mod harm;
mod simulation;
mod themes;

use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_page::boards::when::Conventions;
use gleaner_page::boards::{Ask, BoardPage, Layout, RowSelectors, read_page};
use gleaner_page::tree;

/// 2026-11-22 10:00:00 UTC, a Sunday.
const NOW: i64 = 1_795_341_600;

fn url(text: &str) -> CrawlUrl {
    CrawlUrl::parse(text, &Canonical::default()).unwrap()
}

/// A page read at [`NOW`] by a crawler without knowledge of the site.
fn read(html: &str, at: &str) -> BoardPage {
    read_with(html, at, NOW, None, None, &mut Conventions::default())
}

fn read_with(
    html: &str,
    at: &str,
    now: i64,
    layout: Option<&Layout>,
    selectors: Option<&RowSelectors>,
    conventions: &mut Conventions,
) -> BoardPage {
    let tree = tree::parse(html).unwrap();
    let (url, canonical) = (url(at), Canonical::default());
    read_page(&tree, &Ask { url: &url, canonical: &canonical, selectors, layout, now }, conventions)
}

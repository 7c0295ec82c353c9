//! What a page says that its torrents are: by a link in the row of each, by its own address, or of itself.

use encoding_rs::Encoding;
use scraper::Html;
use url::Url;

use crate::job::{Found, Job, PageLabel};
use gleaner_base::url::CrawlUrl;
use gleaner_page::labels;
use gleaner_page::links::PageLinks;
use gleaner_rules::SiteRules;

/// A page in its charset, and that of the addresses on it.
pub(super) struct Read<'p> {
    pub body: &'p [u8],
    pub encoding: &'static Encoding,
    pub page: &'p PageLinks<'p>,
    /// None if no link can be resolved.
    pub base: Option<&'p Url>,
    pub of_links: &'static Encoding,
}

/// The labels that a page gives to targets among what was found on it, or to itself.
pub(super) fn of_page(rules: &SiteRules, job: &Job, read: &Read<'_>, found: &[Found]) -> Vec<PageLabel> {
    let categories = rules.categories();
    let resolved = |href: &str| CrawlUrl::join(read.base?, href, Some(read.of_links), &rules.canonical).ok();
    let label = |href: &str| resolved(href).and_then(|url| categories.of_link(url.path()).map(str::to_owned));
    if job.class.is_target() {
        let named: Vec<String> = match categories.reads_links() {
            true => read.page.links.iter().filter_map(|link| label(&link.href)).collect(),
            false => Vec::new(),
        };
        let own = labels::of_page(named.iter().map(String::as_str));
        return own
            .map(|text| PageLabel { url: job.url.clone(), text: text.into(), is_own: true })
            .into_iter()
            .collect();
    }
    if !job.class.is_listing() {
        return Vec::new();
    }
    let is_target = |url: &CrawlUrl| found.iter().any(|found| found.class.is_target() && found.url == *url);
    let mut labelled: Vec<PageLabel> = Vec::new();
    if categories.reads_links() && found.iter().any(|found| found.class.is_target()) {
        let html = Html::parse_document(&read.encoding.decode(read.body).0);
        let of_rows = labels::of_links(&html, label, |href| resolved(href).is_some_and(|url| is_target(&url)));
        for (href, text) in of_rows {
            let url = resolved(&href).filter(|url| labelled.iter().all(|known| known.url != *url));
            labelled.extend(url.map(|url| PageLabel { url, text: text.into(), is_own: false }));
        }
    }
    if let Some(text) = categories.of_list(job.url.path()) {
        let others = found.iter().filter(|found| found.class.is_target());
        let others = others.filter(|found| labelled.iter().all(|known| known.url != found.url));
        let others: Vec<PageLabel> =
            others.map(|found| PageLabel { url: found.url.clone(), text: text.into(), is_own: false }).collect();
        labelled.extend(others);
    }
    labelled
}

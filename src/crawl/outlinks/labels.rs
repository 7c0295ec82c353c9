//! What a page says that its torrents are: by a link in the row of each, by its own address, or of itself.

use std::collections::{HashMap, HashSet};

use encoding_rs::Encoding;
use scraper::Html;
use url::Url;

use crate::job::{Found, Job, PageLabel};
use gleaner_base::url::CrawlUrl;
use gleaner_page::labels;
use gleaner_page::links::PageLinks;
use gleaner_rules::SiteRules;
use gleaner_store::limits::LABEL_BYTES_MAX;

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
    let label = |href: &str| {
        resolved(href)
            .and_then(|url| categories.of_link(url.path()).map(str::to_owned))
            .filter(|label| label.len() <= LABEL_BYTES_MAX)
    };
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
    // The tree and the set are dear: first whether anything names a label at all.
    let has_labels = categories.reads_links() && read.page.links.iter().any(|link| label(&link.href).is_some());
    let of_list = categories.of_list(job.url.path()).filter(|text| text.len() <= LABEL_BYTES_MAX);
    if !has_labels && of_list.is_none() {
        return Vec::new();
    }
    let targets: HashSet<&CrawlUrl> =
        found.iter().filter(|found| found.class.is_target()).map(|found| &found.url).collect();
    let mut labelled: HashMap<CrawlUrl, Box<str>> = HashMap::new();
    if has_labels && !targets.is_empty() {
        let html = Html::parse_document(&read.encoding.decode(read.body).0);
        for (href, text) in
            labels::of_links(&html, label, |href| resolved(href).is_some_and(|url| targets.contains(&url)))
        {
            if let Some(url) = resolved(&href) {
                labelled.entry(url).or_insert_with(|| text.into());
            }
        }
    }
    if let Some(text) = of_list {
        for url in targets {
            labelled.entry(url.clone()).or_insert_with(|| text.into());
        }
    }
    let told = labelled.into_iter().map(|(url, text)| PageLabel { url, text, is_own: false });
    told.collect()
}

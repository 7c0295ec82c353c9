//! The pages of a list, by their URLs: a page's list, its number there, and the pages that follow it. Pure.

use std::collections::HashSet;

use crate::job::{Found, Job};
use gleaner_base::url::CrawlUrl;
use gleaner_page::pagination;
use gleaner_rules::{SiteRules, Verdict};

/// Bytes of the page number within a URL's path, if the matching rule captures one.
fn captured(rules: &SiteRules, url: &CrawlUrl) -> Option<(usize, usize)> {
    match rules.judge(url) {
        Verdict::Take { page_capture, .. } => page_capture,
        Verdict::Refuse { .. } => None,
    }
}

/// The number of an index page in its series; 0 if its URL contains none.
#[must_use]
pub fn page_number(rules: &SiteRules, url: &CrawlUrl) -> u64 {
    pagination::of(url.path(), captured(rules, url)).map_or(0, |own| own.number)
}

/// The series of a page of a list, and its number in it; None for pages that are no lists.
#[must_use]
pub fn place(rules: &SiteRules, job: &Job) -> Option<(String, u64)> {
    if !job.class.is_listing() {
        return None;
    }
    Some(match pagination::of(job.url.path(), captured(rules, &job.url)) {
        Some(own) => (own.series, own.number),
        None => (pagination::series_of_first(job.url.path()), 0),
    })
}

/// The next page of the list, among this page's links, if the rules capture the page number.
#[must_use]
pub fn next_by_rules(rules: &SiteRules, job: &Job, found: &[Found]) -> Option<CrawlUrl> {
    let (series, page) = place(rules, job)?;
    let number = |found: &Found| {
        let captured = found.page_capture.filter(|_| found.class == job.class)?;
        let other = pagination::of(found.url.path(), Some(captured))?;
        (other.series == series && other.number > page.max(1)).then_some(other.number)
    };
    let of_host = found.iter().filter(|found| found.url.origin() == job.url.origin());
    of_host
        .filter_map(|found| Some((number(found)?, &found.url)))
        .min_by_key(|(number, _)| *number)
        .map(|(_, url)| url.clone())
}

/// The links of a page of a list to pages of the same list that are farther away than the adjacent ones: if requested at
/// once, they would be read before the pages between.
#[must_use]
pub fn leaps(rules: &SiteRules, job: &Job, found: &[Found]) -> HashSet<Box<str>> {
    let Some((_, own)) = place(rules, job) else { return HashSet::new() };
    let behind = pages_behind(rules, job, found);
    let numbers = || std::iter::once(own).chain(behind.iter().map(|(page, _)| *page));
    // The step from page to page: 1, or the items of a page if the number is an offset.
    let Some(step) = numbers().zip(numbers().skip(1)).map(|(one, next)| next - one).min() else {
        return HashSet::new();
    };
    let beside = numbers().zip(numbers().skip(1)).skip(1).take_while(|(one, next)| next - one <= step).count();
    behind.iter().skip(beside + 1).map(|(_, found)| found.url.as_str().into()).collect()
}

/// The links of a page of a list to later pages of the same list, each once, in their order.
#[must_use]
pub fn pages_behind<'a>(rules: &SiteRules, job: &Job, found: &'a [Found]) -> Vec<(u64, &'a Found)> {
    let Some((series, own)) = place(rules, job) else { return Vec::new() };
    let of_list = found.iter().filter(|found| found.class == job.class && found.url.origin() == job.url.origin());
    let mut pages: Vec<(u64, &Found)> = of_list
        .filter_map(|found| Some((pagination::of(found.url.path(), found.page_capture)?, found)))
        .filter(|(page, _)| *page.series == *series && page.number > own)
        .map(|(page, found)| (page.number, found))
        .collect();
    pages.sort_by_key(|(page, _)| *page);
    pages.dedup_by_key(|(page, _)| *page);
    pages
}

//! Finds the link to the next page of a board.

use std::collections::{BTreeMap, HashMap, HashSet};

use scraper::Html;

use super::flat::Page;
use super::identity::shape;
use super::lines::text_of;
use super::lists::links;
use super::rows::Ask;
use super::words;
use crate::pagination::{self, PageNumber};
use gleaner_base::url::CrawlUrl;

/// The next page: the page's `rel=next`, else the next number of its series, else a link of the same form with a
/// "next" text.
pub(super) fn page(html: &Html, page: &Page<'_>, base: &url::Url, ask: &Ask<'_>) -> Option<CrawlUrl> {
    let resolve = |href: &str| CrawlUrl::join(base, href, None, ask.canonical).ok().filter(|url| url != ask.url);
    let is_next = |rel: Option<&str>| {
        rel.is_some_and(|rel| rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("next")))
    };
    let by_rel = html
        .tree
        .nodes()
        .filter_map(|node| node.value().as_element())
        .filter(|element| matches!(element.name(), "link" | "a") && is_next(element.attr("rel")))
        .find_map(|element| resolve(element.attr("href")?));
    if by_rel.is_some() {
        return by_rel;
    }
    let own = pagination::of(ask.url.path(), None);
    let series = own.as_ref().map_or_else(|| pagination::series_of_first(ask.url.path()), |own| own.series.clone());
    let mut numbered: Vec<(u64, CrawlUrl)> = Vec::new();
    let mut wider: Vec<(String, u64, CrawlUrl)> = Vec::new();
    let (mut said, mut said_elsewhere): (Option<CrawlUrl>, Option<CrawlUrl>) = (None, None);
    let own_shape = shape(ask.url.as_str(), false);
    for (at, href) in links(page) {
        let Some(url) = resolve(href).filter(|url| url.origin() == ask.url.origin()) else { continue };
        let numbered_in = pagination::of(url.path(), None);
        if let Some(PageNumber { series: its, number }) = &numbered_in
            && (*its == series || is_board_series(its, ask.url.path()))
        {
            numbered.push((*number, url));
        } else if let Some(PageNumber { series: its, number }) = numbered_in
            && is_wider(&its, &series)
        {
            wider.push((its, number, url));
        } else if said.is_none() && words::says_next(&text_of(page, page.elements[at].texts.clone())) {
            let slot = if shape(url.as_str(), false) == own_shape { &mut said } else { &mut said_elsewhere };
            slot.get_or_insert(url);
        }
    }
    let own = own.map(|own| own.number);
    // A first page may have an address of another form than the later ones (`/` and `/list/2`).
    let said_elsewhere =
        said_elsewhere.filter(|_| !ask.url.path().contains(|character: char| character.is_ascii_digit()));
    successor(own, numbered).or_else(|| successor(own, most_linked(wider))).or(said).or(said_elsewhere)
}

/// Address forms whose numbers the page links by names ("Films", not "2" or "next"), each with one of the links: a
/// named link is a separate list and not a page of this one. If the page itself has the form, its neighbours and last
/// page may be linked by any word; then the names must differ.
pub(super) fn named(page: &Page<'_>, base: &url::Url, ask: &Ask<'_>) -> Vec<(String, CrawlUrl)> {
    let own: HashMap<String, u64> = numbers_of(ask.url.as_str()).into_iter().collect();
    let mut forms: BTreeMap<String, (HashSet<u64>, HashSet<String>, CrawlUrl)> = BTreeMap::new();
    for (at, href) in links(page) {
        let name = words::name(&text_of(page, page.elements[at].texts.clone()));
        if name.is_empty() {
            continue;
        }
        let Ok(url) = CrawlUrl::join(base, href, None, ask.canonical) else { continue };
        for (form, number) in numbers_of(url.as_str()) {
            let is_neighbour = own.get(&form).is_some_and(|own| own.abs_diff(number) <= 1);
            if number > 1 && !is_neighbour {
                let (numbers, names, _) =
                    forms.entry(form).or_insert_with(|| (HashSet::new(), HashSet::new(), url.clone()));
                numbers.insert(number);
                names.insert(name.clone());
            }
        }
    }
    let is_named = |form: &String, numbers: &HashSet<u64>, names: &HashSet<String>| {
        numbers.len() > 1 && (names.len() > 1 || !own.contains_key(form))
    };
    forms.retain(|form, (numbers, names, _)| is_named(form, numbers, names));
    forms.into_iter().map(|(form, (_, _, url))| (form, url)).collect()
}

/// The address form of a list whose page number is in the address, derived from a page and its next link: they differ
/// in one growing number. The number is replaced by `{page}`; the second value is the page's own number.
#[must_use]
pub fn numbered_form(own: &str, next: &str) -> Option<(String, u64)> {
    numbers_of(own).into_iter().find_map(|(form, number)| {
        let next = numbers_of(next).into_iter().find(|(other, _)| *other == form)?.1;
        (next > number).then_some((form, number))
    })
}

/// Each number of an address, with the address that has `{page}` in its place. Long numbers are identifiers.
#[must_use]
pub fn numbers_of(address: &str) -> Vec<(String, u64)> {
    let path = address.find("://").and_then(|scheme| Some(scheme + 3 + address[scheme + 3..].find('/')?));
    let mut found = Vec::new();
    let mut rest = path.unwrap_or(0);
    while let Some(start) = address[rest..].find(|character: char| character.is_ascii_digit()).map(|at| rest + at) {
        let digits = address[start..].find(|character: char| !character.is_ascii_digit());
        let end = digits.map_or(address.len(), |length| start + length);
        if let Some(number) = (end - start <= 9).then(|| address[start..end].parse().ok()).flatten() {
            found.push((format!("{}{{page}}{}", &address[..start], &address[end..]), number));
        }
        rest = end;
    }
    found
}

/// True for an address that only spells out the site's own order: `/browse?page=torrents&order=3` is
/// `/browse?page=torrents`.
fn is_wider(its: &str, own: &str) -> bool {
    let (path, parameters) = its.split_once('?').unwrap_or((its, ""));
    let (own_path, own_parameters) = own.split_once('?').unwrap_or((own, ""));
    path == own_path
        && own_parameters
            .split('&')
            .all(|wanted| wanted.is_empty() || parameters.split('&').any(|found| found == wanted))
}

/// The links of the series with the most links, if it has more than one.
fn most_linked(wider: Vec<(String, u64, CrawlUrl)>) -> Vec<(u64, CrawlUrl)> {
    let mut counts: BTreeMap<String, Vec<(u64, CrawlUrl)>> = BTreeMap::new();
    for (series, number, url) in wider {
        counts.entry(series).or_default().push((number, url));
    }
    counts.into_values().max_by_key(Vec::len).filter(|links| links.len() > 1).unwrap_or_default()
}

/// `/forum-12-{page}.html` for a page reached without its number (`/forum-12.html`).
fn is_board_series(series: &str, path: &str) -> bool {
    series.split_once("{page}").is_some_and(|(before, behind)| {
        path.strip_prefix(before.trim_end_matches(['-', '_'])).is_some_and(|rest| rest == behind)
    })
}

/// The smallest number above the page's own. A first page has no number: the series then starts with 0, 1 or an
/// offset.
fn successor(own: Option<u64>, mut numbered: Vec<(u64, CrawlUrl)>) -> Option<CrawlUrl> {
    numbered.sort_by_key(|(number, _)| *number);
    let has = |wanted: u64| numbered.iter().any(|(number, _)| *number == wanted);
    let own = own.unwrap_or_else(|| u64::from(!has(0) && (has(2) || !has(1))));
    numbered.into_iter().find(|(number, _)| *number > own).map(|(_, url)| url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_that_grows_from_a_page_to_its_next_one_is_the_page() {
        let list = Some(("http://a.example:81/list/{page}".to_owned(), 2));
        assert_eq!(numbered_form("http://a.example:81/list/2", "http://a.example:81/list/3"), list);
        assert_eq!(numbered_form("http://a.example/7/50", "http://a.example/7/100").unwrap().1, 50);
        for (own, next) in [("/list/3", "/list/2"), ("/list/2", "/other/3"), ("/", "/list/2"), ("/1/1", "/2/2")] {
            let url = |path| format!("http://a.example{path}");
            assert_eq!(numbered_form(&url(own), &url(next)), None, "{own} {next}");
        }
    }
}

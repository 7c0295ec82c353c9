//! The torrent beside a detail: which download of a list belongs to the row of which detail.
//!
//! Rows are not parsed: in the order of the page, a download stands behind its detail and before the next one, or the other way round, and
//! both have the same number or hash in their addresses.

use std::collections::{HashMap, HashSet};

use crate::job::Found;
use gleaner_rules::Class;

/// Marks the details of a list with the download beside them; those of rows without one stay unmarked, and those of which nothing shows
/// that the two belong together.
pub(super) fn mark(found: &mut [Found]) {
    let rows: Vec<usize> = (0..found.len()).filter(|at| found[*at].class.is_target()).collect();
    let is_file = |at: usize| found[at].class == Class::Download;
    if !rows.iter().any(|at| is_file(*at)) {
        return;
    }
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for at in &rows {
        let of_url: HashSet<&str> = tokens(found[*at].url.path()).collect();
        of_url.into_iter().for_each(|token| *uses.entry(token).or_default() += 1);
    }
    // What stands in many rows names none of them.
    let names = |token: &str| uses.get(token).is_some_and(|count| *count <= SHARED_BY);
    let belong = |(detail, file): &(usize, usize)| {
        let mut of_file = tokens(found[*file].url.path()).filter(|token| names(token));
        !is_file(*detail)
            && is_file(*file)
            && of_file.any(|token| tokens(found[*detail].url.path()).any(|own| own == token))
    };
    let behind: Vec<(usize, usize)> = rows.windows(2).map(|two| (two[0], two[1])).filter(belong).collect();
    let before: Vec<(usize, usize)> = rows.windows(2).map(|two| (two[1], two[0])).filter(belong).collect();
    for (detail, file) in if before.len() > behind.len() { before } else { behind } {
        found[detail].beside = Some(found[file].url.as_str().into());
    }
}

/// Targets of a page that may share an identifier: a detail, its download, and another form of either.
const SHARED_BY: usize = 4;

/// The parts of a URL between signs that have a digit: numbers, hashes.
fn tokens(path: &str) -> impl Iterator<Item = &str> {
    path.split(|of: char| !of.is_ascii_alphanumeric()).filter(|token| token.bytes().any(|of| of.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_base::url::{Canonical, CrawlUrl};

    fn told(paths: &[&str]) -> Vec<Option<String>> {
        let found = |path: &&str| Found {
            url: CrawlUrl::parse(&format!("http://s.example{path}"), &Canonical::default()).unwrap(),
            class: match path.get(..3) {
                Some("/dl") => Class::Download,
                Some("/to") => Class::Detail,
                _ => Class::Page,
            },
            rule: 0,
            page_capture: None,
            beside: None,
        };
        let mut all: Vec<Found> = paths.iter().map(found).collect();
        mark(&mut all);
        let beside = |of: Found| of.beside.map(|url| url["http://s.example".len()..].to_owned());
        all.into_iter().map(beside).collect()
    }

    #[test]
    fn a_detail_has_the_download_of_its_row() {
        let some = |path: &str| Some(path.to_owned());
        let row = ["/to/1/a", "/user/7", "/dl/1", "/to/2/b", "/user/8", "/dl/2", "/to/3/c", "/to/4/d", "/dl/4"];
        assert_eq!(
            told(&row),
            [some("/dl/1"), None, None, some("/dl/2"), None, None, None, some("/dl/4"), None],
            "the third has none"
        );
        let icons = ["/dl/1", "/to/1/a", "/dl/2", "/to/2/b"];
        assert_eq!(told(&icons), [None, some("/dl/1"), None, some("/dl/2")]);
        // A download elsewhere on the page does not shift the rows.
        let shifted = ["/dl/99", "/to/1/a", "/dl/1", "/to/2/b", "/dl/2"];
        assert_eq!(told(&shifted), [None, some("/dl/1"), None, some("/dl/2"), None]);
        let hash = "006732e913e6e7a878987fb856708f03d944bf96";
        let hashes = [format!("/to/{hash}"), format!("/dl?id={hash}&f=a%20b"), "/to/77".to_owned()];
        assert_eq!(told(&hashes.each_ref().map(String::as_str)), [some(&hashes[1]), None, None]);
        // Nothing shows that they belong together: a number of all rows does not.
        assert_eq!(told(&["/to/x", "/dl/p", "/to/y", "/dl/q"]), [None, None, None, None]);
        assert_eq!(told(&["/to/v2/x", "/dl/v2/p", "/to/v2/y", "/dl/v2/q", "/to/v2/z"]), [None, None, None, None, None]);
        assert_eq!(told(&["/to/1", "/to/2", "/user/1"]), [None, None, None]);
        assert!(told(&[]).is_empty());
    }
}

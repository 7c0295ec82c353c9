//! The torrent beside a detail: which download of a list belongs to the row of which detail.
//!
//! Rows are not parsed: in the order of the page, a download stands behind its detail and before the next one, or the other way round. The
//! way in which more pairs share a number is the page's.

use crate::job::Found;
use gleaner_rules::Class;

/// Marks the details of a list with the download beside them; those of rows without one stay unmarked.
pub(super) fn mark(found: &mut [Found]) {
    let rows: Vec<usize> = (0..found.len()).filter(|at| found[*at].class.is_target()).collect();
    let is_file = |at: usize| found[at].class == Class::Download;
    let is_pair = |(detail, file): &(usize, usize)| !is_file(*detail) && is_file(*file);
    let behind: Vec<(usize, usize)> = rows.windows(2).map(|two| (two[0], two[1])).filter(is_pair).collect();
    let before: Vec<(usize, usize)> = rows.windows(2).map(|two| (two[1], two[0])).filter(is_pair).collect();
    let shared = |pairs: &[(usize, usize)]| {
        pairs.iter().filter(|(detail, file)| have_number(found[*detail].url.path(), found[*file].url.path())).count()
    };
    let begins_with_file = rows.first().is_some_and(|at| is_file(*at));
    let is_before = match shared(&before).cmp(&shared(&behind)) {
        std::cmp::Ordering::Equal => begins_with_file,
        more => more.is_gt(),
    };
    for (detail, file) in if is_before { before } else { behind } {
        found[detail].beside = Some(found[file].url.as_str().into());
    }
}

/// True if both have the same number in them.
fn have_number(one: &str, other: &str) -> bool {
    numbers(one).any(|number| numbers(other).any(|other| number == other))
}

fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|of: char| !of.is_ascii_digit()).filter(|run| !run.is_empty())
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
        let names = ["/to/x", "/dl/p", "/to/y", "/dl/q"];
        assert_eq!(told(&names), [some("/dl/p"), None, some("/dl/q"), None], "without numbers, as the page begins");
        assert_eq!(told(&["/to/1", "/to/2", "/user/1"]), [None, None, None]);
        assert!(told(&[]).is_empty());
    }
}

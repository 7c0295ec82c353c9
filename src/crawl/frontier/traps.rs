//! Forms of URLs that occur only in traps (Book 3.4.6): detected from the URL alone, before it is fetched.
//!
//! Traps without these forms are starved by [`super::budgets`]. A form is so narrow that no honest
//! site was found to have it; each has a name for counts and a sentence for the report. Decides, and stores nothing.

use serde::{Deserialize, Serialize};

use crate::limits::{PATH_SEGMENTS_MAX, QUERY_PARAMETERS_MAX};

/// A form that occurs only in traps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrapForm {
    /// `/news/today/news/today/news/today`: the same folders three times in a row; or `/a////b`.
    RepeatedFolders,
    /// `/a/x/a/y/a/z/a/x/a`: one folder five times, others between.
    RecurringFolder,
    /// `/a.html/b.html/c.html`: a page used as a folder twice.
    PageAsFolder,
    /// More than [`PATH_SEGMENTS_MAX`] folders.
    DeepPath,
    /// More than [`QUERY_PARAMETERS_MAX`] parameters.
    ManyParameters,
    /// The same parameter with the same value three times, or one name twelve times.
    RepeatedParameter,
}

impl TrapForm {
    /// The name for counts and logs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::RepeatedFolders => "repeated_folders",
            Self::RecurringFolder => "recurring_folder",
            Self::PageAsFolder => "page_as_folder",
            Self::DeepPath => "deep_path",
            Self::ManyParameters => "many_parameters",
            Self::RepeatedParameter => "repeated_parameter",
        }
    }

    /// A sentence for people.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::RepeatedFolders => "the same folders follow each other three times, as broken relative links cause",
            Self::RecurringFolder => "one folder occurs five times, as relative links between two pages cause",
            Self::PageAsFolder => "a page occurs twice as a folder, as relative links below a page cause",
            Self::DeepPath => "the path has more folders than any honest one",
            Self::ManyParameters => "the query has more parameters than any honest one",
            Self::RepeatedParameter => "the query repeats a parameter, as links that append to themselves cause",
        }
    }
}

/// How often a sequence of folders is repeated in a trap; two are honest (`/files/files/`).
const REPEATS: usize = 3;

/// How often one folder occurs in a trap, whatever is between.
const RECURRENCES: usize = 5;

/// How often one name occurs in a trap's query. Forms send `cat=1&cat=2…` for each box that is ticked.
const SAME_NAMES: usize = 12;

/// The trap form of a path and query, as [`gleaner_base::url::CrawlUrl::path`] returns it; None for the forms of honest
/// sites. At worst 32² comparisons of segments.
#[must_use]
pub fn trap_form(path_and_query: &str) -> Option<TrapForm> {
    let (path, query) = path_and_query.split_once('?').unwrap_or((path_and_query, ""));
    path_form(path).or_else(|| query_form(query))
}

fn path_form(path: &str) -> Option<TrapForm> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    let mut segments = [""; PATH_SEGMENTS_MAX];
    let mut count = 0;
    for segment in path.split('/') {
        let Some(slot) = segments.get_mut(count) else {
            return Some(TrapForm::DeepPath);
        };
        *slot = segment;
        count += 1;
    }
    let segments = &segments[..count];
    if repeats(segments) {
        return Some(TrapForm::RepeatedFolders);
    }
    let recurs = |at: usize| {
        let segment = segments[at];
        is_name(segment) && segments[at..].iter().filter(|other| **other == segment).count() >= RECURRENCES
    };
    if (0..count.saturating_sub(RECURRENCES - 1)).any(recurs) {
        return Some(TrapForm::RecurringFolder);
    }
    let folders = segments.split_last().map_or(segments, |(_, folders)| folders);
    // `/index.php/topic/1` uses one page as a folder, which is honest.
    (folders.iter().filter(|folder| is_page(folder)).count() >= 2).then_some(TrapForm::PageAsFolder)
}

/// True if a sequence of one to `len / 3` folders occurs three times in a row. Sequences of numbers are dates, and those of one letter
/// shards (`/torrents/a/a/a/`); a sequence without any name is a trap.
fn repeats(segments: &[&str]) -> bool {
    let is_nameless = segments.windows(REPEATS).any(|row| row.iter().all(|segment| segment.is_empty()));
    let stand_thrice = (1..=segments.len() / REPEATS).any(|period| {
        // `run` counts how long each segment has been equal to the one a period before it.
        let (mut run, mut has_name) = (0, false);
        segments[period..].iter().zip(segments).any(|(segment, before)| {
            if segment != before {
                (run, has_name) = (0, false);
                return false;
            }
            run += 1;
            has_name |= is_name(segment);
            run >= period * (REPEATS - 1) && has_name
        })
    });
    is_nameless || stand_thrice
}

/// A folder of one letter or number is usually a shard or a date, not a name.
fn is_name(segment: &str) -> bool {
    segment.len() > 1 && !is_number(segment)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_page(segment: &str) -> bool {
    let extension = segment.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["html", "htm", "shtml", "xhtml", "php", "asp", "aspx", "jsp", "cgi"]
        .iter()
        .any(|known| extension.eq_ignore_ascii_case(known))
}

fn query_form(query: &str) -> Option<TrapForm> {
    let mut parameters = [""; QUERY_PARAMETERS_MAX];
    let mut count = 0;
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        let Some(slot) = parameters.get_mut(count) else {
            return Some(TrapForm::ManyParameters);
        };
        *slot = parameter;
        count += 1;
    }
    let parameters = &mut parameters[..count];
    parameters.sort_unstable();
    let is_same = parameters.windows(REPEATS).any(|window| window.iter().all(|parameter| parameter == &window[0]));
    let name = |parameter: &&str| parameter.split_once('=').map_or(*parameter, |(name, _)| name).len();
    let is_list = |name: &str| name.ends_with(']') || name.ends_with("%5D");
    let many = parameters.windows(SAME_NAMES).any(|window| {
        let first = &window[0][..name(&window[0])];
        !is_list(first) && window.iter().all(|parameter| &parameter[..name(parameter)] == first)
    });
    (is_same || many).then_some(TrapForm::RepeatedParameter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_that_only_traps_have_are_told() {
        use TrapForm::*;
        let deep: String = (0..40).map(|n| format!("/d{n}")).collect();
        let many: String = (0..70).map(|n| format!("p{n}=1&")).collect();
        let same_name: String = (0..12).map(|n| format!("a={n}&")).collect();
        let table = [
            ("/aa/b/aa/b/aa/b".to_owned(), RepeatedFolders),
            ("/a/bb/a/bb/a/bb/".into(), RepeatedFolders),
            ("/xx/xx/xx".into(), RepeatedFolders),
            ("/pub/news/news/news/y.html".into(), RepeatedFolders),
            ("/2024/aa/2024/aa/2024/aa".into(), RepeatedFolders),
            ("/q/a/bb/c/a/bb/c/a/bb/c/d?x=1".into(), RepeatedFolders),
            ("/a////b".into(), RepeatedFolders),
            ("/aa/b/aa/c/aa/d/aa/e/aa".into(), RecurringFolder),
            ("/index.html/about.html/news.html".into(), PageAsFolder),
            ("/a/view.php/list.php/3".into(), PageAsFolder),
            (deep, DeepPath),
            (format!("/?{many}"), ManyParameters),
            ("/?a=1&b=2&a=1&a=1".into(), RepeatedParameter),
            (format!("/?{same_name}"), RepeatedParameter),
        ];
        for (path, form) in table {
            assert_eq!(trap_form(&path), Some(form), "{path}");
            assert!(!form.name().is_empty() && !form.sentence().is_empty());
        }
    }

    #[test]
    fn honest_paths_pass() {
        let deep: String = (0..31).map(|n| format!("/d{n}")).collect();
        let boxes: String = (0..30).map(|n| format!("cat[]={n}&")).collect();
        for path in [
            "/",
            "",
            "/1/1/1",
            "/1/1/1/1/1/1/x",
            "/torrents/a/a/a/x.torrent",
            "/torrents/a/b/a/b/a/b/x.torrent",
            "/a//b//c",
            "/2011/11/11/11",
            "/files/files/x",
            "/a/b/a/b/",
            "/pub/linux/linux/x86_64",
            "/index.php/topic/12/page/2",
            "/redirect.php/http://example.org/a.html",
            "/a/b/a/c/a/d/a/e/a",
            "/browse?cat=1&cat=2&cat=3",
            "/browse?a&b&a",
            &deep,
            &format!("/?{boxes}"),
        ] {
            assert_eq!(trap_form(path), None, "{path}");
        }
    }

    #[test]
    fn a_link_relative_to_nowhere_is_told_within_a_few_steps() {
        // Each page links to `news/today/` without a leading `/`.
        let mut path = "/".to_owned();
        let steps = (1..).find(|_| {
            path.push_str("news/today/");
            trap_form(&path).is_some()
        });
        assert_eq!(steps, Some(3));
        // Pages that link to one of four such folders, in an order that never repeats.
        let (mut path, mut state) = ("/".to_owned(), 1_u32);
        let steps = (1..).find(|_| {
            state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            path.push_str(["about/", "news/", "help/", "shop/"][(state >> 16) as usize % 4]);
            trap_form(&path).is_some()
        });
        assert!(steps.is_some_and(|steps| steps <= 17), "{steps:?}: five of one of four come within 17");
    }
}

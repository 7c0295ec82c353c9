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
mod tests;

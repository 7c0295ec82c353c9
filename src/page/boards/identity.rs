//! Facts about a thread from its URL alone: which thread it is, the form of its address, and which page of the thread
//! it shows. Text in, text out; the same URL always gives the same result.

use super::words;
use crate::pagination;

/// Query parameters that identify a thread or a torrent, the most reliable first.
const ID_PARAMETERS: [&str; 18] = [
    "tid",
    "threadid",
    "thread_id",
    "showtopic",
    "topicid",
    "topic_id",
    "topic",
    "thread",
    "torrentid",
    "torrent_id",
    "torrent",
    "t",
    "showforum",
    "fid",
    "f",
    "board",
    "id",
    "info_hash",
];

/// Query parameters whose words describe the kind of page.
const KIND_PARAMETERS: [&str; 10] = ["mod", "page", "act", "action", "do", "module", "app", "view", "p", "route"];

/// Words of segments whose first number is the thread: `thread-77-1-1.html`, `topic_12_2.html`.
const ID_WORDS: [&str; 14] = [
    "thread",
    "topic",
    "t",
    "tid",
    "forum",
    "board",
    "f",
    "torrent",
    "detail",
    "details",
    "view",
    "viewthread",
    "htm_data",
    "read",
];

/// The identity of a URL's thread: the same for its pages, for a renamed slug and for links with other parameters.
/// Without an identifying number, the URL without its page.
#[must_use]
pub fn thread_id(url: &str) -> String {
    let (origin, rest) = split_origin(url);
    let rest = rest.split('#').next().unwrap_or_default();
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let parameters = || query.split(['&', ';']).filter_map(|pair| pair.split_once('='));
    let named = ID_PARAMETERS
        .iter()
        .find_map(|name| parameters().find(|(found, value)| found.eq_ignore_ascii_case(name) && is_id(value)));
    if let Some((name, value)) = named {
        let mut id = format!("{origin}{path}?");
        for (kind, word) in parameters().filter(|(kind, word)| KIND_PARAMETERS.contains(kind) && is_word(word)) {
            id.push_str(kind);
            id.push('=');
            id.push_str(word);
            id.push('&');
        }
        // SMF writes `topic=123.25`: the thread and the position in it.
        let value = if name.eq_ignore_ascii_case("topic") || name.eq_ignore_ascii_case("board") {
            value.split('.').next().unwrap_or(value)
        } else {
            value
        };
        id.push_str(name);
        id.push('=');
        id.push_str(value);
        return id;
    }
    if let Some(short) = short_path(path) {
        return format!("{origin}{short}");
    }
    let series = pagination::of(rest, None).map_or_else(|| pagination::series_of_first(rest), |page| page.series);
    format!("{origin}{series}")
}

/// A path cut after the thread's number, which starts one of its segments.
fn short_path(path: &str) -> Option<String> {
    let mut start = 0;
    for segment in path.split_inclusive('/') {
        let name = segment.trim_end_matches('/');
        if let Some(kept) = id_segment(name) {
            return Some(format!("{}{kept}", &path[..start]));
        }
        start += segment.len();
    }
    None
}

/// The identifying number in one segment of a path, with its word.
fn id_segment(segment: &str) -> Option<String> {
    let name = segment.strip_suffix(".html").or_else(|| segment.strip_suffix(".htm")).unwrap_or(segment);
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    // XenForo: `name.405700`.
    if let Some((slug, number)) = name.rsplit_once('.')
        && !slug.is_empty()
        && (1..=10).contains(&number.len())
        && digits(number) == number.len()
        && slug.bytes().any(|byte| byte.is_ascii_alphabetic())
        && segment == name
    {
        return Some(format!(".{number}"));
    }
    // `1234-slug`; a leading year is part of the slug.
    let leading = digits(name);
    if leading > 0 && name[leading..].starts_with('-') && !name.contains('.') {
        let is_slug = name[leading + 1..].starts_with(|first: char| !first.is_ascii_digit());
        let is_year = leading == 4 && (name.starts_with("19") || name.starts_with("20"));
        return (is_slug && !is_year).then(|| name[..leading].to_owned());
    }
    // `thread-77-1-1`.
    let mark = name.find(['-', '_'])?;
    let (word, rest) = (&name[..mark], &name[mark + 1..]);
    let number = digits(rest);
    let ends = rest[number..].is_empty() || rest[number..].starts_with(['-', '_']);
    (number > 0 && ends && ID_WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)))
        .then(|| format!("{word}-{}", &rest[..number]))
}

fn is_id(value: &str) -> bool {
    let first = value.split('.').next().unwrap_or(value);
    let is_number = !first.is_empty() && first.len() <= 12 && first.bytes().all(|byte| byte.is_ascii_digit());
    is_number || matches!(value.len(), 32 | 40 | 64) && value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_word(value: &str) -> bool {
    !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_'))
}

fn split_origin(url: &str) -> (&str, &str) {
    let behind_scheme = url.find("://").map_or(0, |at| at + 3);
    let path = url[behind_scheme..].find(['/', '?', '#']).map_or(url.len(), |at| behind_scheme + at);
    url.split_at(path)
}

/// The form of an address: what the rows of one list have in common. `coarse` also drops the last segment, for lists
/// whose addresses are names.
#[must_use]
pub fn shape(url: &str, coarse: bool) -> String {
    let (origin, rest) = split_origin(url);
    let rest = rest.split('#').next().unwrap_or_default();
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let mut shape = String::with_capacity(rest.len());
    shape.push_str(origin);
    let segments = path.split('/').filter(|segment| !segment.is_empty()).count();
    for (at, segment) in path.split('/').filter(|segment| !segment.is_empty()).enumerate() {
        shape.push('/');
        let has_digit = segment.bytes().any(|byte| byte.is_ascii_digit());
        let is_last = at + 1 == segments;
        let is_slug = segment.len() > 24 || segment.matches(['-', '_', '+']).count() >= 2 || segment.contains('%');
        let is_folder = is_last && path.ends_with('/');
        // `thread-77-1-1.html` and `forum-12-2.html` have different forms.
        let word = segment.split(['-', '_']).next().filter(|word| has_digit && ID_WORDS.contains(word));
        match has_digit || is_slug || coarse && is_last {
            true if word.is_some() => {
                shape.push_str(word.unwrap_or_default());
                shape.push_str("-#");
            }
            true => shape.push_str(if is_folder && coarse { "#/" } else { "#" }),
            false => shape.push_str(segment),
        }
    }
    let mut names: Vec<&str> = Vec::new();
    for pair in query.split(['&', ';']).filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        names.push(if KIND_PARAMETERS.contains(&name) && is_word(value) { pair } else { name });
    }
    // Where the link came from, and other parameters that only some links have.
    names.retain(|name| !matches!(*name, "extra" | "from" | "ref" | "highlight" | "page" | "start" | "sid"));
    names.sort_unstable();
    for (at, name) in names.into_iter().enumerate() {
        shape.push(if at == 0 { '?' } else { '&' });
        shape.push_str(name);
    }
    shape
}

/// The kind of an address's target, by its words and by the address of the page that contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leads {
    ToPeople,
    Aside,
    ToBoard,
    ToThread,
    Unsaid,
}

pub(super) fn leads(shape: &str, page_shape: &str) -> Leads {
    let (_, rest) = split_origin(shape);
    if words::says_people(rest) {
        Leads::ToPeople
    } else if words::says_aside(rest) {
        Leads::Aside
    } else if words::says_thread(rest) && shape != page_shape {
        Leads::ToThread
    } else if (shape == page_shape && shape.contains(['#', '?'])) || words::says_board(rest) || shape.ends_with("#/") {
        Leads::ToBoard
    } else {
        Leads::Unsaid
    }
}

/// The page of a thread that a URL shows, if it is not the first, for addresses with a number.
#[must_use]
pub fn page_of_thread(url: &str) -> Option<u64> {
    let (_, rest) = split_origin(url);
    let smf = rest.split(['?', '&', ';']).find_map(|pair| pair.strip_prefix("topic=")?.split_once('.')?.1.parse().ok());
    smf.or_else(|| pagination::of(rest, None).map(|page| page.number))
}

#[cfg(test)]
mod tests;

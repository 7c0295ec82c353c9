//! The series and page number of a URL: for coverage (ALGORITHMS §7, NT counts index pages) and for increments.
//!
//! A site's rule may mark the number (its regex's capture `page`); otherwise the usual forms are tried. A single URL
//! does not show whether `start=50` is the third page or the fiftieth; [`page_count`] decides from all numbers seen.
//! Works on text, resolves and fetches nothing.
//!
//! **Series text.** First pages mostly have no number, so the series is the URL *without* its page: `/browse` and
//! `/browse?page=2` are both `/browse`, `/x`, `/x/`, `/x/page/3/` and `/x/index_3.html` are all `/x`. If the number
//! cannot be removed, because a first page has one too (`/forum-12-3.html`) or because only the rule knows the form,
//! it is replaced by `{page}`.

use std::ops::Range;

use percent_encoding::percent_decode_str;

/// Digits of a page number or offset: more are an identifier.
const DIGITS_MAX: usize = 9;

/// Digits of a number without a "page" word beside it (`latest-12.html`): more are an identifier.
const BARE_DIGITS_MAX: usize = 4;

/// Digits of `p` alone on the root of a site: more identify an article.
const POST_DIGITS_MAX: usize = 2;

/// A URL's place in a paginated series.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PageNumber {
    /// The same for all pages of the series; see the module documentation.
    pub series: String,
    /// The number in the URL: a page number from 0 or 1, or an offset in items.
    pub number: u64,
}

/// The page number in a URL's path and query (`/browse?page=2`); `None` if there is none. `captured` is the byte
/// range that the rule's regex captured as the page; it is used if it contains a number.
#[must_use]
pub fn of(path_and_query: &str, captured: Option<(usize, usize)>) -> Option<PageNumber> {
    let url = Url::split(path_and_query);
    let found = match captured {
        None => url.in_query(None).or_else(|| url.in_path(None)),
        Some((start, end)) => {
            number(path_and_query.get(start..end)?, DIGITS_MAX)?;
            let range = Some(start..end);
            url.in_query(range.clone()).or_else(|| url.in_path(range)).or_else(|| {
                let series = format!("{}{{page}}{}", &path_and_query[..start], &path_and_query[end..]);
                Some(Found { digits: start..end, series })
            })
        }
    }?;
    let number = number(&path_and_query[found.digits], DIGITS_MAX)?;
    Some(PageNumber { series: found.series, number })
}

/// The series of a URL without a page number, the first page of many series: `/x/` gives `/x`.
#[must_use]
pub fn series_of_first(path_and_query: &str) -> String {
    let url = Url::split(path_and_query);
    normal_form(url.path, url.parameters().map(|(_, text)| text))
}

/// The number of pages of a series, from the numbers in its links: `[2, 3, 4, 75]` are 75 pages, `[50, 100, 350]`
/// offsets of 8 pages, `[0, 1, 2]` 3 pages. The step between numbers distinguishes offsets (at least five items per
/// page) from page numbers; a single number is assumed to be a page number. At least 1: the current page.
#[must_use]
pub fn page_count(numbers: &[u64]) -> u64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let (Some(&first), Some(&last)) = (sorted.first(), sorted.last()) else {
        return 1;
    };
    let step = sorted.windows(2).map(|pair| pair[1] - pair[0]).fold(0, greatest_common_divisor);
    if step >= OFFSET_STEP_MIN {
        // Offsets count from 0, or from 1, which two numbers do not prove (`1 … 75` is a usual link to the last
        // page).
        match first % step {
            0 => return last / step + 1,
            1 if sorted.len() > 2 => return last / step + 1,
            _ => {}
        }
    }
    if first == 0 { last.saturating_add(1) } else { last }
}

/// The smallest step that counts as items per page.
const OFFSET_STEP_MIN: u64 = 5;

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// `text` as a number of at most `digits_max` digits.
fn number(text: &str, digits_max: usize) -> Option<u64> {
    let is_number = !text.is_empty() && text.len() <= digits_max && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// Names of query parameters that contain a page, the most reliable first. Compared in lower case without `-` and
/// `_`; for `list[page]`, the inner name.
const PAGE_PARAMETERS: [&str; 37] = [
    "page",
    "pages",
    "paged",
    "pagenum",
    "pagenumber",
    "pageno",
    "pagenr",
    "pageindex",
    "currentpage",
    "curpage",
    "pagination",
    "pagen",
    "pagina",
    "seite",
    "strona",
    "pg",
    "pn",
    "p",
    "npage",
    "cpage",
    "pgno",
    "startpage",
    "topage",
    "gotopage",
    "offset",
    "start",
    "st",
    "startat",
    "startfrom",
    "startindex",
    "startrow",
    "firstresult",
    "skip",
    "from",
    "begin",
    "limitstart",
    "o",
];

/// Words for "page" before a number in a path.
const PAGE_WORDS: [&str; 10] = ["page", "pages", "pag", "pagina", "seite", "strona", "pg", "p", "offset", "start"];

/// [`PAGE_WORDS`] at the end of a name.
const PAGE_SUFFIXES: [&str; 6] = ["-page", "_page", "-p", "_p", "-seite", "-pg"];

/// Names before `-N.html` whose number is an identifier.
const ID_WORDS: [&str; 26] = [
    "thread",
    "topic",
    "torrent",
    "torrents",
    "detail",
    "details",
    "view",
    "show",
    "article",
    "post",
    "id",
    "uid",
    "user",
    "space",
    "blog",
    "news",
    "item",
    "file",
    "download",
    "attachment",
    "t",
    "f",
    "v",
    "fid",
    "tid",
    "product",
];

/// Boards and lists of common software: `forum-12-3.html` (Discuz!), `list_5_2.html` (DedeCMS): container, then page.
const LIST_WORDS: [&str; 8] = ["forum", "list", "board", "category", "thread", "group", "tag", "sort"];

/// Names of a folder's first page.
const INDEX_NAMES: [&str; 3] = ["index", "default", "list"];

struct Url<'a> {
    path: &'a str,
    query: Option<&'a str>,
}

struct Found {
    digits: Range<usize>,
    series: String,
}

impl<'a> Url<'a> {
    fn split(whole: &'a str) -> Self {
        let text = whole.split('#').next().unwrap_or(whole);
        match text.split_once('?') {
            Some((path, query)) => Self { path, query: Some(query) },
            None => Self { path: text, query: None },
        }
    }

    /// The query's parameters with the offset of each in the whole.
    fn parameters(&self) -> impl Iterator<Item = (usize, &'a str)> {
        let mut offset = self.path.len() + 1;
        self.query.into_iter().flat_map(|query| query.split(['&', ';'])).map(move |text| {
            let at = offset;
            offset += text.len() + 1;
            (at, text)
        })
    }

    /// A parameter that contains the page: the captured one, else the one with the most reliable name.
    fn in_query(&self, captured: Option<Range<usize>>) -> Option<Found> {
        let (_, at, digits) = self
            .parameters()
            .filter_map(|(at, text)| {
                let (name, value) = text.split_once('=')?;
                let digits = at + name.len() + 1..at + text.len();
                let rank = match &captured {
                    Some(captured) => (*captured == digits).then_some(0),
                    None => parameter_rank(name),
                }?;
                let is_post = captured.is_none() && self.names_a_post(name);
                number(value, if is_post { POST_DIGITS_MAX } else { DIGITS_MAX }).map(|_| (rank, at, digits))
            })
            .min_by_key(|&(rank, at, _)| (rank, at))?;
        let others = self.parameters().filter(|&(other, _)| other != at).map(|(_, text)| text);
        Some(Found { digits, series: normal_form(self.path, others) })
    }

    /// WordPress names an article `/?p=1462`.
    fn names_a_post(&self, name: &str) -> bool {
        name == "p" && self.path == "/" && self.parameters().count() == 1
    }

    /// A path segment that contains the page, the last such one.
    fn in_path(&self, captured: Option<Range<usize>>) -> Option<Found> {
        let mut end = self.path.len();
        let mut following = false;
        while let Some(slash) = self.path[..end].rfind('/') {
            let segment = slash + 1..end;
            let found = self.in_segment(segment, following).filter(|found| match &captured {
                Some(captured) => *captured == found.digits,
                None => true,
            });
            if found.is_some() {
                return found;
            }
            following |= slash + 1 < end;
            end = slash;
        }
        None
    }

    fn in_segment(&self, segment: Range<usize>, following: bool) -> Option<Found> {
        let text = &self.path[segment.clone()];
        let (name, extension) = split_extension(text);
        let word = name.trim_end_matches(|character: char| character.is_ascii_digit());
        let digits = segment.start + word.len()..segment.start + name.len();
        number(&self.path[digits.clone()], DIGITS_MAX)?;
        let lower = word.to_ascii_lowercase();
        let bare = lower.trim_end_matches(['-', '_', '=', '.', ',']);
        let without = |cut: Range<usize>, put: &str| {
            let path = format!("{}{put}{}", &self.path[..cut.start], &self.path[cut.end..]);
            normal_form(&path, self.parameters().map(|(_, text)| text))
        };
        let before = self.path[..segment.start - 1].rfind('/').map_or(0, |slash| slash + 1);
        let parent = &self.path[before..segment.start - 1];
        let is_page_word = |word: &str| PAGE_WORDS.iter().any(|known| word.eq_ignore_ascii_case(known));
        // `/page/3/`: remove both segments.
        if lower.is_empty() && extension.is_none() && is_page_word(parent) {
            return Some(Found { series: without(before..segment.end, ""), digits });
        }
        // `/page-3/`, `/p3`, `/page3.html`: remove the segment.
        let is_short = digits.len() <= BARE_DIGITS_MAX;
        if is_page_word(bare) && (is_short || bare.len() > 2) {
            return Some(Found { series: without(segment, ""), digits });
        }
        if following {
            return None;
        }
        // `/name-p3/`, `/name-page-3.html`: remove the suffix.
        if let Some(suffix) = PAGE_SUFFIXES.iter().find(|&&suffix| is_short && bare.ends_with(suffix)) {
            return Some(Found { series: without(segment.start + bare.len() - suffix.len()..digits.end, ""), digits });
        }
        if extension.is_some() && INDEX_NAMES.contains(&bare) && is_short {
            return Some(Found { series: without(segment, ""), digits });
        }
        if let Some(digits) = list_page(name) {
            let digits = segment.start + digits.start..segment.start + digits.end;
            return Some(Found { series: without(digits.clone(), "{page}"), digits });
        }
        // `latest-3.html`, whose first page is `latest.html`.
        let is_id = ID_WORDS.contains(&bare) || bare.is_empty() || bare.len() == lower.len();
        if extension.is_some() && is_short && !is_id {
            return Some(Found { series: without(segment.start + bare.len()..digits.end, ""), digits });
        }
        None
    }
}

fn parameter_rank(name: &str) -> Option<usize> {
    let decoded = percent_decode_str(name).decode_utf8_lossy();
    let inner = decoded.trim_end_matches(']').rsplit('[').next().unwrap_or_default();
    let plain: String = inner.chars().filter(|character| !matches!(character, '-' | '_')).collect();
    // Bitrix numbers the lists of a page: `PAGEN_1`.
    let plain = plain.trim_end_matches(|character: char| character.is_ascii_digit());
    PAGE_PARAMETERS.iter().position(|known| plain.eq_ignore_ascii_case(known))
}

/// The position of the page in `forum-12-3`, `list_5_2` and `thread-77-3-1`.
fn list_page(name: &str) -> Option<Range<usize>> {
    let word_end = name.find(['-', '_'])?;
    let separator = char::from(name.as_bytes()[word_end]);
    if !LIST_WORDS.iter().any(|word| name[..word_end].eq_ignore_ascii_case(word)) {
        return None;
    }
    let id_end = word_end + 1 + name[word_end + 1..].find(separator)?;
    let page = name[id_end + 1..].split(separator).next()?;
    number(page, DIGITS_MAX).map(|_| id_end + 1..id_end + 1 + page.len())
}

/// Splits `latest-3.html` into `latest-3` and `.html`; only extensions of pages are split off.
fn split_extension(segment: &str) -> (&str, Option<&str>) {
    match segment.rfind('.') {
        Some(dot)
            if ["html", "htm", "shtml", "php", "asp", "aspx", "jsp"]
                .iter()
                .any(|known| segment[dot + 1..].eq_ignore_ascii_case(known)) =>
        {
            (&segment[..dot], Some(&segment[dot..]))
        }
        _ => (segment, None),
    }
}

/// The path without trailing slashes and index file, with the remaining parameters.
fn normal_form<'p>(path: &str, parameters: impl Iterator<Item = &'p str>) -> String {
    let folder_end = path.rfind('/').map_or(0, |slash| slash + 1);
    let is_index = matches!(split_extension(&path[folder_end..]), ("index" | "default", Some(_)));
    let path = if is_index { &path[..folder_end] } else { path };
    let mut series = path.trim_end_matches('/').to_owned();
    if series.is_empty() {
        series.push('/');
    }
    let mut separator = '?';
    for parameter in parameters.filter(|parameter| !parameter.is_empty()) {
        series.push(separator);
        series.push_str(parameter);
        separator = '&';
    }
    series
}

#[cfg(test)]
mod tests;

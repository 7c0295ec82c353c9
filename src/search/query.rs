//! What is asked for: words, phrases and filters. Any text is a query; what is no filter is words.

use gleaner_torrent::magnet;
use time::{Date, Month};

use crate::category::{CATEGORIES, Category, full_name};
use crate::limits::{CLAUSES_MAX, DOUBTS_MAX, FILTER_VALUES_MAX, QUERY_BYTES_MAX, WORDS_MAX};
use crate::words::{is_paired, words_of_query};

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// All of them, at most `limits::CLAUSES_MAX`.
    pub clauses: Vec<Clause>,
    pub filters: Filters,
    /// Only what this one finds, too.
    pub within: Option<Box<Self>>,
    /// Parts that look like filters and are none: they are looked for as words. At most `limits::DOUBTS_MAX`.
    pub doubts: Vec<String>,
}

/// Words that stand together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// Never empty.
    pub words: Vec<String>,
    /// The last word is the beginning of one.
    pub is_prefix: bool,
    /// What has them is left out.
    pub is_excluded: bool,
}

/// Empty and None filter nothing. Of several values of one filter, one must fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    pub sites: Vec<String>,
    /// Numbers; a parent stands for its children.
    pub categories: Vec<u32>,
    /// What sites call torrents, in lower case: `label` or `site: label`. One of these or of the categories must fit.
    pub labels: Vec<String>,
    /// In lower case, without the dot.
    pub extensions: Vec<String>,
    /// 20 or 32 bytes each.
    pub infohashes: Vec<Vec<u8>>,
    /// Bytes of the payload, both ends included.
    pub size: Range,
    /// Time of storing, in milliseconds, both ends included.
    pub stored: Range,
    pub year: Range,
    pub season: Option<u32>,
    pub episode: Option<u32>,
    pub is_private: Option<bool>,
    /// Hosts of trackers, in lower case; a domain stands for all hosts below it.
    pub trackers: Vec<String>,
    /// Only what is known by a magnet link alone; false: only torrents.
    pub is_magnet: Option<bool>,
    /// It has an infohash of version 1, as a hybrid has both.
    pub has_v1: Option<bool>,
    pub has_v2: Option<bool>,
}

/// Least and greatest; None is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    pub least: Option<u64>,
    pub most: Option<u64>,
}

impl Range {
    /// True if nothing is left out.
    #[must_use]
    pub fn is_open(self) -> bool {
        self == Self::default()
    }

    fn narrowed(&mut self, by: Self) {
        self.least = self.least.max(by.least);
        self.most = [self.most, by.most].into_iter().flatten().min();
    }
}

impl Query {
    /// Reads what a person has typed: `words "a phrase" -without beginn*` and `site: cat: ext: tracker: size:>1G after: before: year: private: v1: v2:
    /// has:magnet`;
    /// an infohash in hex or base32, or a magnet link.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut query = Self::default();
        let mut rest = &text[..text.floor_char_boundary(QUERY_BYTES_MAX)];
        loop {
            rest = rest.trim_start();
            if rest.is_empty() {
                return query;
            }
            let (is_excluded, from) = match rest.strip_prefix('-') {
                Some(behind) if behind.starts_with(|of: char| of == '"' || of.is_alphanumeric()) => (true, behind),
                _ => (false, rest),
            };
            let (part, is_quoted, behind) = next_part(from);
            rest = behind;
            if is_quoted || is_excluded || !query.filters.take(part) {
                let looks_like_one = !is_quoted && is_filter_like(part);
                if looks_like_one && query.doubts.len() < DOUBTS_MAX {
                    query.doubts.push(part.to_owned());
                }
                query.add(part, is_excluded);
            }
        }
    }

    /// Adds words that stand together, as a person types them.
    pub fn add(&mut self, text: &str, is_excluded: bool) {
        let text = &text[..text.floor_char_boundary(QUERY_BYTES_MAX)];
        let asked: usize = self.clauses.iter().map(|clause| clause.words.len()).sum();
        let found = words_of_query(text).into_iter().map(|word| word.text);
        let clause_words: Vec<String> = found.take(WORDS_MAX.saturating_sub(asked)).collect();
        if clause_words.is_empty() || self.clauses.len() >= CLAUSES_MAX {
            return;
        }
        let mut last = clause_words.last().into_iter().flat_map(|word| word.chars());
        let is_prefix = match (last.next(), last.next()) {
            // A single letter begins too many words to mean one; a single character of paired script begins its pairs.
            (Some(only), None) => is_paired(only) && clause_words.len() == 1,
            _ => text.ends_with('*'),
        };
        self.clauses.push(Clause { words: clause_words, is_prefix, is_excluded });
    }

    /// True if it asks for what is known by a magnet link alone; any other asks for torrents.
    #[must_use]
    pub fn wants_magnets(&self) -> bool {
        self.filters.is_magnet == Some(true) || self.within.as_ref().is_some_and(|within| within.wants_magnets())
    }

    /// True if it asks for everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The filters by their keys.
const KEYS: [&str; 12] =
    ["site", "cat", "ext", "tracker", "size", "after", "before", "year", "private", "v1", "v2", "has"];

/// What is said of one of [`Query::doubts`].
#[must_use]
pub fn doubt_told(doubt: &str) -> String {
    match doubt.split_once(':').filter(|(key, _)| KEYS.contains(key)) {
        Some((_, value)) if value.trim_matches('"').is_empty() => format!("the filter `{doubt}` has no value"),
        Some((key, _)) => format!("`{doubt}` is no value that the filter `{key}:` takes"),
        None => format!("`{doubt}` is no filter"),
    }
}

/// `size:big`, and not a URL or a time.
fn is_filter_like(part: &str) -> bool {
    part.split_once(':').is_some_and(|(key, value)| {
        key.len() > 1
            && key.bytes().all(|of| of.is_ascii_lowercase() || of.is_ascii_digit())
            && !value.starts_with("//")
    })
}

/// The next word or phrase, whether it was quoted, and what is behind it. A phrase that is not closed ends with the text.
fn next_part(text: &str) -> (&str, bool, &str) {
    if let Some(inside) = text.strip_prefix('"') {
        return match inside.split_once('"') {
            Some((phrase, behind)) => {
                let end = if behind.starts_with('*') { phrase.len() + 2 } else { phrase.len() };
                // `"a phrase"*`: the star belongs to it.
                if end > phrase.len() { (&inside[..end], true, &behind[1..]) } else { (phrase, true, behind) }
            }
            None => (inside, true, ""),
        };
    }
    // `name:"with spaces"`.
    if let Some(colon) = text.find(":\"").filter(|at| !text[..*at].contains(char::is_whitespace))
        && let Some(length) = text[colon + 2..].find('"')
    {
        let end = colon + 2 + length + 1;
        return (&text[..end], false, &text[end..]);
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (&text[..end], false, &text[end..])
}

impl Filters {
    /// True if the part of a query was a filter, or an infohash.
    fn take(&mut self, part: &str) -> bool {
        if let Some(hashes) = infohashes(part) {
            self.infohashes.extend(hashes);
            self.infohashes.truncate(FILTER_VALUES_MAX);
            return true;
        }
        let Some((key, value)) = part.split_once(':') else { return false };
        let value = value.trim_matches('"');
        if value.is_empty() {
            return false;
        }
        let day_ms = 24 * 60 * 60 * 1_000;
        match key.to_ascii_lowercase().as_str() {
            "site" => self.sites.extend(value.split(',').map(str::to_owned)),
            "ext" => {
                let one = |of: &str| of.trim_start_matches('.').to_ascii_lowercase();
                self.extensions.extend(value.split(',').map(one));
            }
            "tracker" => self.trackers.extend(value.split(',').map(str::to_ascii_lowercase)),
            "has" if value.eq_ignore_ascii_case("magnet") => self.is_magnet = Some(true),
            "has" if value.eq_ignore_ascii_case("torrent") => self.is_magnet = Some(false),
            "cat" => {
                for one in value.split(',').map(str::trim).filter(|one| !one.is_empty()) {
                    match category(one) {
                        Some(number) => self.categories.push(number),
                        None => self.labels.push(one.to_lowercase()),
                    }
                }
            }
            "size" => return range(value, bytes).is_some_and(|range| narrowed(&mut self.size, range)),
            "year" => {
                return range(value, |text| text.parse().ok()).is_some_and(|range| narrowed(&mut self.year, range));
            }
            "after" => {
                let least = day(value);
                return least.is_some() && narrowed(&mut self.stored, Range { least, most: None });
            }
            "before" => {
                let most = day(value).and_then(|day| day.checked_sub(1));
                return most.is_some() && narrowed(&mut self.stored, Range { least: None, most });
            }
            "on" => {
                let Some(least) = day(value) else { return false };
                return narrowed(&mut self.stored, Range { least: Some(least), most: Some(least + day_ms - 1) });
            }
            name @ ("private" | "v1" | "v2") => {
                let Some(yes) = yes(value) else { return false };
                let filter = match name {
                    "v1" => &mut self.has_v1,
                    "v2" => &mut self.has_v2,
                    _ => &mut self.is_private,
                };
                *filter = Some(yes);
            }
            _ => return false,
        }
        for values in [&mut self.sites, &mut self.labels, &mut self.extensions, &mut self.trackers] {
            values.truncate(FILTER_VALUES_MAX);
        }
        self.categories.truncate(FILTER_VALUES_MAX);
        true
    }
}

/// A category's number, or its name: `4020`, `PC/ISO`.
fn category(text: &str) -> Option<u32> {
    let named = |of: &&Category| full_name(of.number).is_some_and(|name| name.eq_ignore_ascii_case(text));
    text.parse().ok().or_else(|| CATEGORIES.iter().find(named).map(|of| of.number))
}

fn narrowed(range: &mut Range, by: Range) -> bool {
    range.narrowed(by);
    true
}

fn yes(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "yes" | "true" | "1" => Some(true),
        "no" | "false" | "0" => Some(false),
        _ => None,
    }
}

/// `>1G`, `>=1G`, `<1G`, `<=1G`, `1G..2G`, `1G`.
fn range(text: &str, value: impl Fn(&str) -> Option<u64>) -> Option<Range> {
    if let Some((least, most)) = text.split_once("..") {
        let of = |text: &str| if text.is_empty() { Some(None) } else { value(text).map(Some) };
        return Some(Range { least: of(least)?, most: of(most)? });
    }
    let behind = text.trim_start_matches(['>', '<', '=']);
    let number = value(behind)?;
    Some(match &text[..text.len() - behind.len()] {
        ">" => Range { least: number.checked_add(1), most: None },
        ">=" => Range { least: Some(number), most: None },
        "<" => Range { least: None, most: Some(number.checked_sub(1)?) },
        "<=" => Range { least: None, most: Some(number) },
        "" | "=" => Range { least: Some(number), most: Some(number) },
        _ => return None,
    })
}

/// `1.5G`, `700MB`, `4KiB`: powers of 1,024.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|of: char| of.is_ascii_alphabetic());
    let factor = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" | "kib" => 1024_f64,
        "m" | "mb" | "mib" => 1024_f64.powi(2),
        "g" | "gb" | "gib" => 1024_f64.powi(3),
        "t" | "tb" | "tib" => 1024_f64.powi(4),
        _ => return None,
    };
    let number: f64 = digits.parse().ok()?;
    let bytes = number * factor;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
    (bytes.is_finite() && (0.0..1e18).contains(&bytes)).then_some(bytes as u64)
}

/// The first millisecond of a day in UTC, written `2026-11-26`, `2026-11` or `2026`.
fn day(text: &str) -> Option<u64> {
    let mut numbers = text.split('-').map(str::parse::<u16>);
    let year = numbers.next()?.ok().filter(|year| (1970..=9999).contains(year))?;
    let month = numbers.next().unwrap_or(Ok(1)).ok()?;
    let day = numbers.next().unwrap_or(Ok(1)).ok()?;
    if numbers.next().is_some() {
        return None;
    }
    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    let date = Date::from_calendar_date(year.into(), month, u8::try_from(day).ok()?).ok()?;
    u64::try_from(date.midnight().assume_utc().unix_timestamp()).ok().map(|seconds| seconds * 1_000)
}

/// The infohashes that a text is: 40 or 64 characters of hex, 32 of base32, or a magnet link with one or two.
#[must_use]
pub fn infohashes(text: &str) -> Option<Vec<Vec<u8>>> {
    let text = text.trim();
    if text.len() > 6 && text.is_char_boundary(7) && text[..7].eq_ignore_ascii_case("magnet:") {
        let link = magnet::parse(text).ok()?;
        let (v1, v2) = (link.infohashes.v1.map(|v1| v1.to_vec()), link.infohashes.v2.map(|v2| v2.to_vec()));
        return Some([v1, v2].into_iter().flatten().collect());
    }
    match text.len() {
        40 | 64 => data_encoding::HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok().map(|hash| vec![hash]),
        32 => {
            // 32 letters may be a word, in a language with long ones; base32 in one case and with a digit is none.
            let has_digit = text.bytes().any(|of| of.is_ascii_digit());
            let upper = text.to_ascii_uppercase();
            data_encoding::BASE32.decode(upper.as_bytes()).ok().filter(|_| has_digit).map(|hash| vec![hash])
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clauses(text: &str) -> Vec<(String, bool, bool)> {
        let clauses = Query::parse(text).clauses.into_iter();
        clauses.map(|clause| (clause.words.join(" "), clause.is_prefix, clause.is_excluded)).collect()
    }

    fn clause(words: &str, is_prefix: bool, is_excluded: bool) -> (String, bool, bool) {
        (words.to_owned(), is_prefix, is_excluded)
    }

    #[test]
    fn words_phrases_prefixes_and_exclusions_are_told_apart() {
        let wanted = [
            clause("debian", false, false),
            clause("arm64 netinst", false, false),
            clause("beta", false, true),
            clause("ubu", true, false),
        ];
        assert_eq!(clauses("Debian \"ARM64 netinst\" -beta ubu*"), wanted);
        assert_eq!(
            clauses("24.04 a* -\"x y\""),
            [clause("24 04", false, false), clause("a", false, false), clause("x y", false, true)]
        );
        assert_eq!(
            clauses("海 深海纪 -深海"),
            [clause("海", true, false), clause("深海 海纪", false, false), clause("深海", false, true)]
        );
        let words: usize = Query::parse(&format!("\"{}\"", "a ".repeat(2_000))).clauses[0].words.len();
        assert_eq!(words, WORDS_MAX);
        assert_eq!(clauses("\"not closed -really"), [clause("not closed really", false, false)]);
        assert_eq!(clauses("- -- * \"\" :"), []);
    }

    #[test]
    fn filters_are_read_and_what_is_none_is_words() {
        let filters = Query::parse(
            "site:a,b cat:4020,5000 ext:.ISO size:>1G size:<=2.5gb year:1999..2001 private:no v1:no v2:yes",
        )
        .filters;
        assert_eq!(
            (filters.sites, filters.categories, filters.extensions),
            (vec!["a".into(), "b".into()], vec![4020, 5000], vec!["iso".into()])
        );
        assert_eq!(filters.size, Range { least: Some((1 << 30) + 1), most: Some(5 << 29) });
        assert_eq!(filters.year, Range { least: Some(1999), most: Some(2001) });
        assert_eq!((filters.is_private, filters.has_v1, filters.has_v2), (Some(false), Some(false), Some(true)));
        let filters = Query::parse("after:2026-11-26 before:2026-12").filters;
        assert_eq!(filters.stored, Range { least: Some(1_795_651_200_000), most: Some(1_796_083_199_999) });
        for words in ["size:abc", "after:yesterday", "foo:bar", "private:maybe", "site:", "http://a/b", "has:time"] {
            let query = Query::parse(words);
            assert!(query.filters == Filters::default() && !query.clauses.is_empty(), "{words}: {query:?}");
            assert_eq!(query.doubts.is_empty(), words.starts_with("http"), "{words}");
        }
        let told = ["tracker:", "site:\"\"", "size:abc", "foo:bar"].map(doubt_told);
        assert!(told[0].contains("`tracker:` has no value") && told[1].contains("has no value"), "{told:?}");
        assert!(told[2].contains("`size:` takes") && told[3] == "`foo:bar` is no filter", "{told:?}");
        let more = Query::parse("tracker:Tracker.Example,b has:Magnet").filters;
        assert_eq!((more.trackers, more.is_magnet), (vec!["tracker.example".into(), "b".into()], Some(true)));
        assert!(!Query::parse("has:torrent").wants_magnets() && Query::parse("has:magnet").wants_magnets());
        let named = Query::parse("cat:\"Anime: 1_2\" cat:5000,Raw").filters;
        assert_eq!((named.labels, named.categories), (vec!["anime: 1_2".into(), "raw".into()], vec![5000]));
        assert_eq!(Query::parse("cat:pc/iso,5000").filters.categories, [4020, 5000]);
        assert_eq!(Query::parse("site:\"two words\" x").filters.sites, ["two words"]);
    }

    #[test]
    fn infohashes_are_read_in_every_form() {
        let hex = "0123456789abcdef0123456789ABCDEF01234567";
        let bytes = data_encoding::HEXLOWER_PERMISSIVE.decode(hex.as_bytes()).unwrap();
        let base32 = data_encoding::BASE32.encode(&bytes);
        for text in [hex.to_owned(), base32.to_ascii_lowercase(), base32, format!("magnet:?xt=urn:btih:{hex}&dn=a%20b")]
        {
            assert_eq!(Query::parse(&text).filters.infohashes, std::slice::from_ref(&bytes), "{text}");
        }
        assert_eq!(Query::parse(&"ab".repeat(32)).filters.infohashes, [vec![0xab; 32]]);
        assert!(Query::parse(&"x".repeat(40)).filters.infohashes.is_empty());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_query(text in ".{0,300}") {
            let query = Query::parse(&text);
            proptest::prop_assert!(query.clauses.iter().map(|clause| clause.words.len()).sum::<usize>() <= WORDS_MAX);
            proptest::prop_assert!(query.clauses.len() <= CLAUSES_MAX && query.clauses.iter().all(|clause| !clause.words.is_empty()));
        }
    }
}

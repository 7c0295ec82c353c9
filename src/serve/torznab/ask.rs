//! A Torznab request: its parameters, as clients send them, and what is looked for.

use std::collections::BTreeMap;

use gleaner_base::clock::UnixMillis;
use gleaner_search::Query;
use gleaner_search::category::{CATEGORIES, OF_SITES};
use gleaner_search::query::Range;

use super::Fault;
use crate::limits::{HEAD_BYTES_MAX, OFFSET_MAX, PAGE, PAGE_MAX};

/// Where it was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// One site alone.
    site: Option<String>,
    /// A saved search alone: by name.
    saved: Option<String>,
    /// Jackett's paths: no function means search, and books are 8000, too.
    is_jackett: bool,
}

impl Place {
    /// The place of a path: `all` is every site, `search:NAME` a saved search.
    pub fn named(name: &str, is_jackett: bool) -> Self {
        match name.strip_prefix("search:") {
            Some(saved) => Self { site: None, saved: Some(saved.to_owned()), is_jackett },
            None => Self { site: (name != "all").then(|| name.to_owned()), saved: None, is_jackett },
        }
    }

    /// The saved search, if it is one.
    pub fn saved(&self) -> Option<&str> {
        self.saved.as_deref()
    }

    /// The one site, if it is one.
    pub fn site(&self) -> Option<&str> {
        self.site.as_deref()
    }
}

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    Caps,
    Indexers,
    Search,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub function: Function,
    /// Its name in the protocol; clients have several for one.
    pub name: &'static str,
    pub query: Query,
    /// Only things were named that are not known here: nothing fits, rather than everything.
    pub is_nothing: bool,
    pub offset: usize,
    pub limit: usize,
}

/// Names of works in other databases, none of which is known here.
const FOREIGN_IDS: [&str; 8] = ["imdbid", "tvdbid", "tmdbid", "rid", "tvmazeid", "traktid", "doubanid", "genre"];

/// Parameters whose words are looked for in names.
const WORDS: [&str; 9] = ["artist", "album", "label", "track", "author", "title", "publisher", "year", "booktitle"];

/// Parameters by name, without empty ones: the first of each.
struct Parameters<'q> {
    all: BTreeMap<String, std::borrow::Cow<'q, str>>,
    categories: Vec<String>,
}

impl<'q> Parameters<'q> {
    fn read(query: &'q str) -> Self {
        let (mut all, mut categories) = (BTreeMap::new(), Vec::new());
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            let name = name.to_ascii_lowercase();
            if value.trim().is_empty() {
                continue;
            }
            if name == "cat" {
                categories.extend(value.split(',').map(|one| one.trim().to_owned()));
            } else {
                all.entry(name).or_insert(value);
            }
        }
        Self { all, categories }
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.all.get(name).map(|value| value.trim())
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }
}

impl Asked {
    /// Reads a query string.
    ///
    /// # Errors
    /// An unknown function, or a parameter that cannot be one.
    pub fn read(query: &str, place: &Place, now: UnixMillis) -> Result<Self, Fault> {
        let parameters = Parameters::read(&query[..query.floor_char_boundary(HEAD_BYTES_MAX)]);
        let (function, name) = match parameters.get("t") {
            None if place.is_jackett => (Function::Search, "search"),
            None => return Err(Fault::MissingFunction),
            Some(name) => match name.to_ascii_lowercase().as_str() {
                "caps" => (Function::Caps, "caps"),
                "indexers" if place.site.is_none() && place.saved.is_none() => (Function::Indexers, "indexers"),
                "indexers" => return Err(Fault::NotHere("indexers")),
                "search" => (Function::Search, "search"),
                "tvsearch" | "tv-search" => (Function::Search, "tvsearch"),
                "movie" | "movie-search" => (Function::Search, "movie"),
                "music" | "audio" | "music-search" | "audio-search" => (Function::Search, "music"),
                "book" | "book-search" => (Function::Search, "book"),
                _ => return Err(Fault::NoFunction(name.chars().take(64).collect())),
            },
        };
        let mut asked = Self {
            function,
            name,
            query: Query::default(),
            is_nothing: false,
            offset: parameters
                .number::<u64>("offset")
                .map_or(0, |offset| usize::try_from(offset).unwrap_or(usize::MAX)),
            limit: parameters
                .number::<u64>("limit")
                .filter(|limit| *limit > 0)
                .map_or(PAGE, |limit| limit.min(PAGE_MAX as u64) as usize),
        };
        asked.is_nothing = asked.offset > OFFSET_MAX;
        asked.take_words(&parameters)?;
        asked.take_categories(&parameters.categories, place);
        if let Some(site) = &place.site {
            // No query widens it.
            asked.query.filters.sites = vec![site.clone()];
        }
        if let Some(days) = parameters.number::<u64>("maxage").filter(|days| *days > 0) {
            let least = now.0.saturating_sub(days.saturating_mul(24 * 60 * 60 * 1_000));
            asked.query.filters.stored = Range { least: Some(least).filter(|least| *least > 0), most: None };
        }
        Ok(asked)
    }

    fn take_words(&mut self, parameters: &Parameters<'_>) -> Result<(), Fault> {
        if let Some(id) = parameters.get("imdbid") {
            let digits = id.strip_prefix("tt").unwrap_or(id);
            if digits.is_empty() || !digits.bytes().all(|of| of.is_ascii_digit()) || digits.bytes().all(|of| of == b'0')
            {
                return Err(Fault::Parameter("imdbid"));
            }
        }
        let has_id = FOREIGN_IDS.iter().any(|name| parameters.get(name).is_some());
        // Prowlarr's page writes `{ImdbId:tt…}` into the words.
        let words = without_braces(parameters.get("q").unwrap_or_default());
        self.query = Query::parse(&words);
        for name in WORDS {
            for word in parameters.get(name).unwrap_or_default().split_whitespace() {
                self.query.add(word, false);
            }
        }
        self.is_nothing |= has_id && self.query.clauses.is_empty();
        self.take_episode(parameters.get("season"), parameters.get("ep"));
        Ok(())
    }

    /// Season and episode: numbers, a day (`season=2026&ep=11/26`), or something else, which is a word.
    fn take_episode(&mut self, season: Option<&str>, episode: Option<&str>) {
        let trimmed = |text: &str| text.trim_start_matches(['S', 's', 'E', 'e']).to_owned();
        let number = |text: Option<&str>| text.and_then(|text| trimmed(text).parse::<u32>().ok());
        match (season, episode) {
            (Some(year), Some(day)) if day.contains('/') => {
                self.query.add(&format!("{year} {}", day.replace('/', " ")), false)
            }
            (Some(season), None) => match number(Some(season)) {
                Some(season) => self.query.filters.season = Some(season),
                None => self.query.add(season, false),
            },
            (Some(season), Some(episode)) => match (number(Some(season)), number(Some(episode))) {
                (Some(season), Some(episode)) => {
                    (self.query.filters.season, self.query.filters.episode) = (Some(season), Some(episode));
                }
                (Some(season), None) => self.query.add(&format!("S{season:02}E{}", trimmed(episode)), false),
                _ => self.query.add(&format!("{season} {episode}"), false),
            },
            (None, Some(episode)) => self.query.add(episode, false),
            (None, None) => {}
        }
    }

    /// Unknown numbers are left out; if none is left, nothing fits.
    fn take_categories(&mut self, wanted: &[String], place: &Place) {
        let numbers = wanted.iter().filter_map(|number| number.parse::<u32>().ok());
        let mut known: Vec<u32> =
            numbers.filter(|number| *number >= OF_SITES || CATEGORIES.iter().any(|of| of.number == *number)).collect();
        if place.is_jackett && known.contains(&8000) {
            known.push(7000);
        }
        known.sort_unstable();
        known.dedup();
        self.is_nothing |= !wanted.is_empty() && known.is_empty();
        // Those of the words stay where no parameter says any.
        if !wanted.is_empty() {
            self.query.filters.categories = known;
        }
    }
}

fn without_braces(text: &str) -> String {
    let mut kept = String::new();
    let mut depth = 0_u32;
    for of in text.chars() {
        match of {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(of),
            _ => {}
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixMillis = UnixMillis(1_795_651_200_000);

    fn asked(query: &str) -> Asked {
        Asked::read(query, &Place::default(), NOW).unwrap()
    }

    fn fault(query: &str) -> Fault {
        Asked::read(query, &Place::default(), NOW).unwrap_err()
    }

    fn words(query: &str) -> Vec<String> {
        asked(query).query.clauses.into_iter().map(|clause| clause.words.join(" ")).collect()
    }

    #[test]
    fn empty_parameters_are_absent_ones_and_unknown_ones_are_passed_over() {
        let nothing = asked(
            "t=search&q=&cat=&season=&ep=&imdbid=&minage=&maxage=&minsize=5&maxsize=7&extended=1&x=y&limit=&offset=",
        );
        assert_eq!(nothing, asked("t=search"));
        assert!(nothing.query.is_empty() && !nothing.is_nothing && nothing.limit == PAGE);
        assert_eq!(asked("t=search&q=one&q=two"), asked("t=search&q=one"));
        for name in ["q", "author", "title"] {
            let many = asked(&format!("t=book&{name}={}", "a.".repeat(8_000))).query.clauses;
            assert!(many.iter().map(|clause| clause.words.len()).sum::<usize>() <= 64, "{name}");
        }
        assert_eq!(words("T=search&q=big+buck%20bunny"), ["big", "buck", "bunny"]);
    }

    #[test]
    fn categories_that_are_unknown_bring_nothing_and_never_everything() {
        assert_eq!(asked("t=search&cat=5000,5040&cat=2000").query.filters.categories, [2000, 5000, 5040]);
        assert_eq!(asked("t=search&cat=5000,99999,x").query.filters.categories, [5000]);
        for nonsense in ["cat=99999", "cat=x", "cat=-1", "cat=5000000000000", "cat=,1"] {
            assert!(asked(&format!("t=search&{nonsense}")).is_nothing, "{nonsense}");
        }
        let jackett = Asked::read("cat=8000&q=x", &Place::named("all", true), NOW).unwrap();
        assert_eq!(jackett.query.filters.categories, [7000, 8000]);
    }

    #[test]
    fn ids_alone_bring_nothing_and_words_beside_them_count() {
        assert!(asked("t=tvsearch&tvdbid=123").is_nothing && asked("t=movie&imdbid=tt0133093").is_nothing);
        assert!(asked("t=movie&imdbid=0133093").is_nothing);
        let with_words = asked("t=movie&imdbid=tt0133093&q=matrix");
        assert!(!with_words.is_nothing && with_words.query.clauses.len() == 1);
        for wrong in ["ttabc", "0", "tt", "tt0000000"] {
            assert_eq!(fault(&format!("t=movie&imdbid={wrong}")), Fault::Parameter("imdbid"), "{wrong}");
        }
        assert!(asked("t=search&q=%7BImdbId:tt0133093%7D%7BSeason:1%7D").query.is_empty());
    }

    #[test]
    fn seasons_and_episodes_are_numbers_zeros_days_or_words() {
        let filters = |query: &str| {
            let filters = asked(query).query.filters;
            (filters.season, filters.episode)
        };
        assert_eq!(filters("t=tvsearch&season=1&ep=2"), (Some(1), Some(2)));
        assert_eq!(filters("t=tvsearch&season=00"), (Some(0), None));
        assert_eq!(filters("t=tvsearch&season=S03&ep=E04"), (Some(3), Some(4)));
        assert_eq!(words("t=tvsearch&season=2026&ep=11/26"), ["2026 11 26"]);
        assert_eq!(words("t=tvsearch&season=1&ep=01A"), ["s01e01a"]);
        assert_eq!(words("t=music&artist=Some+Band&album=First&year=1999"), ["some", "band", "first", "1999"]);
    }

    #[test]
    fn pages_are_bounded_and_absurd_numbers_are_none() {
        let page = |query: &str| {
            let asked = asked(&format!("t=search&{query}"));
            (asked.limit, asked.offset)
        };
        assert_eq!(page("limit=50&offset=100"), (50, 100));
        assert_eq!(page("limit=100000"), (PAGE_MAX, 0));
        assert_eq!(page("limit=0&offset=-5"), (PAGE, 0));
        assert_eq!(page("limit=-1&offset=x"), (PAGE, 0));
        assert_eq!(page("limit=99999999999999999999999"), (PAGE, 0));
        assert!(asked("t=search&offset=1000000000000").is_nothing);
    }

    #[test]
    fn functions_are_told_apart() {
        assert_eq!(fault(""), Fault::MissingFunction);
        assert_eq!(fault("t=get"), Fault::NoFunction("get".to_owned()));
        assert_eq!(asked("t=caps").function, Function::Caps);
        assert_eq!(asked("t=indexers&configured=true").function, Function::Indexers);
        let site = Place::named("demo", true);
        assert_eq!(Asked::read("t=indexers", &site, NOW), Err(Fault::NotHere("indexers")));
        assert_eq!(Asked::read("", &site, NOW).unwrap().query.filters.sites, ["demo"]);
        assert_eq!(
            asked("t=search&maxage=5000").query.filters.stored,
            Range { least: Some(NOW.0 - 5_000 * 86_400_000), most: None }
        );
        assert_eq!(asked("t=search&maxage=5000000").query.filters.stored, Range::default());
    }
}

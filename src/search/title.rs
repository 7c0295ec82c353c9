//! What the name of a film or an episode says: season, episodes, date, year, resolution. Names decide nothing else: a payload's own files
//! say what it is ([`super::category`]).

use std::sync::LazyLock;

use regex::Regex;

use crate::limits::EPISODES_MAX;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Title {
    pub season: Option<u32>,
    /// First and last; equal for one.
    pub episodes: Option<(u32, u32)>,
    /// A daily programme's: year, month, day.
    pub date: Option<(u32, u32, u32)>,
    pub year: Option<u32>,
    /// Lines: 2160, 1080, 720, 576, 480.
    pub resolution: Option<u32>,
}

static EPISODE: LazyLock<Regex> = LazyLock::new(|| {
    expression(r"(?i)(?:^|[^a-z0-9])s(\d{1,4})[ ._-]*e(\d{1,4})(?:(?:[ ._]*-?[ ._]*e|-)(\d{1,4}))*(?:[^a-z0-9]|v\d|$)")
});
static CROSSED: LazyLock<Regex> =
    LazyLock::new(|| expression(r"(?i)(?:^|[^a-z0-9])(\d{1,2})x(\d{2,3})(?:-(?:\d{1,2}x)?(\d{2,3}))?(?:[^a-z0-9]|$)"));
static SEASON: LazyLock<Regex> = LazyLock::new(|| {
    expression(
        r"(?i)(?:^|[^a-z0-9])(?:s|season[ ._-]*|staffel[ ._-]*|saison[ ._-]*|temporada[ ._-]*)(\d{1,2})(?:[^a-z0-9]|$)",
    )
});
static DATE: LazyLock<Regex> =
    LazyLock::new(|| expression(r"(?:^|\D)((?:19|20)\d{2})[ ._-](0[1-9]|1[0-2])[ ._-](0[1-9]|[12]\d|3[01])(?:\D|$)"));
/// Day first: `26.11.2026`, `26 Nov 2026`.
static DAY_FIRST: LazyLock<Regex> = LazyLock::new(|| {
    expression(
        r"(?i)(?:^|[^a-z0-9])(0?[1-9]|[12]\d|3[01])[ ._-](0[1-9]|1[0-2]|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)[ ._-]((?:19|20)\d{2})(?:[^a-z0-9]|$)",
    )
});
/// As recorders write it: `20261126_220000`.
static STAMP: LazyLock<Regex> =
    LazyLock::new(|| expression(r"(?:^|[^0-9])((?:19|20)\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])[_T]\d{6}(?:\D|$)"));
static YEAR: LazyLock<Regex> = LazyLock::new(|| expression(r"(?:^|[^A-Za-z0-9])((?:19|20)\d{2})(?:[^A-Za-z0-9]|$)"));
static LINES: LazyLock<Regex> = LazyLock::new(|| {
    expression(
        r"(?i)(?:^|[^a-z0-9])(?:f?hd)?(?:(2160|1080|720|576|480)[pi]|(?:3840|1920|1280|720)x(2160|1080|720|576|480))(?:[^a-z0-9]|$)",
    )
});
static NAMED_LINES: LazyLock<Regex> = LazyLock::new(|| {
    expression(r"(?i)(?:^|[^a-z0-9])(4k|uhd|hd|sd|dvdrip|xvid|divx|sdtv|dvdscr|vhsrip)(?:[^a-z0-9]|$)")
});

#[expect(clippy::expect_used, reason = "written here, and tested")]
fn expression(text: &str) -> Regex {
    Regex::new(text).expect("an expression of this file")
}

impl Title {
    /// Reads a name.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let number = |text: Option<regex::Match<'_>>| text.and_then(|text| text.as_str().parse::<u32>().ok());
        let mut title = Self::default();
        if let Some(found) = EPISODE.captures(name) {
            title.season = number(found.get(1));
            title.episodes = episodes(number(found.get(2)), number(found.get(3)));
        } else if let Some(found) = CROSSED.captures(name) {
            title.season = number(found.get(1));
            title.episodes = episodes(number(found.get(2)), number(found.get(3)));
        } else if let Some(date) = date(name) {
            title.date = Some(date);
        } else {
            title.season = SEASON.captures(name).and_then(|found| number(found.get(1)));
        }
        // The last one: a title may be a year, too.
        title.year = years(name).last().copied();
        title.resolution = LINES.captures(name).and_then(|found| number(found.get(1).or_else(|| found.get(2))));
        if title.resolution.is_none() {
            let named = NAMED_LINES.captures(name).and_then(|found| found.get(1));
            title.resolution = named.map(|word| match word.as_str().to_ascii_lowercase().as_str() {
                "4k" | "uhd" => 2160,
                "hd" => 720,
                _ => 480,
            });
        }
        title
    }

    /// True for an episode, a season, or a day of a programme.
    #[must_use]
    pub fn is_of_a_series(&self) -> bool {
        self.season.is_some() || self.date.is_some()
    }

    /// Numbers that stand for season and episode together in the index, one for each episode.
    pub fn episode_numbers(&self) -> impl Iterator<Item = u64> {
        let season = self.season;
        let (first, last) = self.episodes.filter(|_| season.is_some()).unwrap_or((1, 0));
        (first..=last).map(move |episode| episode_number(season.unwrap_or_default(), episode))
    }
}

/// The day that a name says: year, month, day.
fn date(name: &str) -> Option<(u32, u32, u32)> {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    if let Some(found) = DATE.captures(name).or_else(|| STAMP.captures(name)) {
        return Some((found[1].parse().ok()?, found[2].parse().ok()?, found[3].parse().ok()?));
    }
    let found = DAY_FIRST.captures(name)?;
    let month = found[2].to_ascii_lowercase();
    let named = MONTHS.iter().zip(1..).find(|(name, _)| month.starts_with(**name)).map(|(_, month)| month);
    Some((found[3].parse().ok()?, month.parse().ok().or(named)?, found[1].parse().ok()?))
}

/// Season and episode as one number.
#[must_use]
pub fn episode_number(season: u32, episode: u32) -> u64 {
    u64::from(season) * 10_000 + u64::from(episode)
}

/// Years, also those that one separator parts.
fn years(name: &str) -> Vec<u32> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(year) = YEAR.captures_at(name, from).and_then(|found| found.get(1)) {
        found.extend(year.as_str().parse::<u32>());
        from = year.end();
    }
    found
}

fn episodes(first: Option<u32>, last: Option<u32>) -> Option<(u32, u32)> {
    let first = first?;
    let last = last.filter(|last| (first..first.saturating_add(EPISODES_MAX)).contains(last)).unwrap_or(first);
    Some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(
        name: &str,
        season: Option<u32>,
        episodes: Option<(u32, u32)>,
        year: Option<u32>,
        resolution: Option<u32>,
    ) {
        let title = Title::of(name);
        assert_eq!(
            (title.season, title.episodes, title.year, title.resolution),
            (season, episodes, year, resolution),
            "{name}"
        );
    }

    #[test]
    fn seasons_and_episodes_are_read_in_the_forms_that_names_have() {
        reads("Show.S01E02.1080p.WEB", Some(1), Some((2, 2)), None, Some(1080));
        reads("show s1e2", Some(1), Some((2, 2)), None, None);
        reads("Show.2019.S02E03E04.720p", Some(2), Some((3, 4)), Some(2019), Some(720));
        reads("Show.S02E03-05", Some(2), Some((3, 5)), None, None);
        reads("Show.S02E03-E05.x264", Some(2), Some((3, 5)), None, None);
        reads("Show - 1x02 - Name", Some(1), Some((2, 2)), None, None);
        reads("Show.S00E01.Special", Some(0), Some((1, 1)), None, None);
        reads("Show.S03.COMPLETE.2160p", Some(3), None, None, Some(2160));
        reads("Show Season 4 [DVDRip]", Some(4), None, None, Some(480));
        reads("A.Film.1968.1080p.BluRay", None, None, Some(1968), Some(1080));
        reads("2001.A.Space.Film.1968", None, None, Some(1968), None);
        reads("Film 1999 2000 4K", None, None, Some(2000), Some(2160));
        reads("debian-12.5.0-amd64-netinst.iso", None, None, None, None);
        reads("linux 1920x1080 wallpapers", None, None, None, Some(1080));
        reads("Mars2020", None, None, None, None);
    }

    #[test]
    fn days_of_a_programme_are_dates() {
        assert_eq!(Title::of("News.2026.11.26.1080p").date, Some((2026, 11, 26)));
        assert_eq!(Title::of("News 26.11.2026").date, Some((2026, 11, 26)));
        assert_eq!(Title::of("News - 6 Nov 2026").date, Some((2026, 11, 6)));
        assert_eq!(Title::of("NEWS_20261126_220000_Evening").date, Some((2026, 11, 26)));
        assert_eq!(Title::of("News 2026-13-26").date, None);
    }

    #[test]
    fn episodes_have_numbers_of_their_own_and_absurd_ranges_are_one() {
        let numbers = |name: &str| Title::of(name).episode_numbers().collect::<Vec<_>>();
        assert_eq!(numbers("a.S01E02-E04"), [10_002, 10_003, 10_004]);
        assert_eq!(numbers("a.S01E02-E9999"), [10_002]);
        assert!(numbers("a.S01").is_empty());
    }
}

//! NI, the listed torrents after de-duplication by infohash, with its interval. Pure.
//!
//! ```text
//! NI = torrents seen + links without an answer × torrents per answered link
//! ```
//!
//! Torrents seen are in the archive and exact. Two kinds of links have no answer yet: listed ones, at the torrents that an answered
//! listed link brought, and links to torrents on pages that were read, at the share of answered ones that brought a torrent of their
//! own. The interval is that of these two ratios, at 95 %: Wilson's up to 1, and above it, where a thread brings several, the normal
//! one of a Poisson count.

use super::listed::Links;

/// The normal quantile of a 95 % interval.
const Z: f64 = 1.96;

/// A figure with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distinct {
    pub ni: u64,
    pub low: u64,
    pub high: u64,
}

/// A ratio with its interval.
#[derive(Clone, Copy, Debug)]
struct Ratio {
    is: f64,
    low: f64,
    high: f64,
}

/// NI of a site whose unread list pages list as many more links as `unread_links`.
#[must_use]
#[allow(clippy::cast_precision_loss)] // a reckoning: 2⁵³ links are exact
pub fn distinct(links: &Links, unread_links: u64) -> Distinct {
    let stored = links.stored() as f64;
    let all = stored + links.outside_lists() as f64;
    let per_download = ratio(all.min(links.downloads as f64), links.downloads as f64);
    // Links without an answer are outside the lists as often as torrents are.
    let open = links.downloads_open as f64 * share(stored, all);
    let of_targets = share(links.from_targets() as f64, stored);
    let answered = links.answered();
    let to_come = links.targets.saturating_sub(answered).saturating_add(unread_links) as f64;
    let per_target = ratio(links.from_targets() as f64 + open * per_download.is * of_targets, answered as f64);
    let sum = |download: f64, target: f64| stored + open * download + to_come * target;
    Distinct {
        ni: whole(sum(per_download.is, per_target.is).ceil()),
        low: whole(sum(per_download.low, per_target.low).floor()).max(links.stored()),
        high: whole(sum(per_download.high, per_target.high).ceil()),
    }
}

/// `part / all`; 1 if nothing is known.
fn share(part: f64, all: f64) -> f64 {
    if all > 0.0 { part / all } else { 1.0 }
}

/// `of / to`; with nothing known it is 1, the most that a link counts in NT, and may be anything below.
fn ratio(of: f64, to: f64) -> Ratio {
    if to <= 0.0 {
        return Ratio { is: 1.0, low: 0.0, high: 1.0 };
    }
    let is = of / to;
    if is > 1.0 {
        let half = Z * of.sqrt() / to;
        return Ratio { is, low: (is - half).max(0.0), high: is + half };
    }
    let square = Z * Z;
    let centre = is + square / (2.0 * to);
    let half = Z * (is * (1.0 - is) / to + square / (4.0 * to * to)).sqrt();
    let by = 1.0 + square / to;
    Ratio { is, low: ((centre - half) / by).clamp(0.0, is), high: ((centre + half) / by).clamp(is, 1.0) }
}

/// The share of `of` in `to`, at most 1, between the ends of its 95 % interval by Wilson; with nothing known it may be anything.
#[must_use]
#[allow(clippy::cast_precision_loss)] // a reckoning: 2⁵³ are exact
pub fn wilson(of: u64, to: u64) -> [f64; 3] {
    let Ratio { is, low, high } = ratio(of.min(to) as f64, to as f64);
    [low, is, high]
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
fn whole(figure: f64) -> u64 {
    figure as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(links: Links, unread_links: u64) -> (u64, u64, u64) {
        let Distinct { ni, low, high } = distinct(&links, unread_links);
        (ni, low, high)
    }

    #[test]
    fn a_site_that_was_visited_whole_is_counted_and_not_reckoned() {
        let links = Links { targets: 341, visited: 341, by_targets: 340, downloads: 340, ..Links::default() };
        assert_eq!(of(links, 0), (340, 340, 340));
        let nothing = Links { targets: 5, visited: 5, ..Links::default() };
        assert_eq!(of(nothing, 0), (0, 0, 0));
    }

    #[test]
    fn links_not_visited_count_at_the_ratio_of_those_that_were() {
        // Half of a site: a quarter of the links visited are second links to the same torrents.
        let links = Links { targets: 2_000, visited: 1_000, by_targets: 750, downloads: 750, ..Links::default() };
        assert_eq!(of(links, 0), (1_500, 1_472, 1_526));
        assert_eq!(of(links, 1_000).0, 2_250);
        // Threads of three.
        let links = Links { targets: 200, visited: 100, by_targets: 300, downloads: 300, ..Links::default() };
        assert_eq!(of(links, 0), (600, 566, 634));
        // None is visited: each may be one, or nothing.
        assert_eq!(of(Links { targets: 50, ..Links::default() }, 0), (50, 0, 50));
    }

    #[test]
    fn a_download_that_is_denied_is_a_torrent_that_is_missing() {
        let links = Links { targets: 100, visited: 100, downloads_open: 100, ..Links::default() };
        assert_eq!(of(links, 0), (100, 0, 100), "no download was answered");
        let links = Links { by_targets: 50, downloads: 50, downloads_open: 50, ..links };
        let (ni, low, high) = of(links, 0);
        assert!(ni == 100 && low < 100 && high == 100, "{low} {high}");
        // Half of what was answered is no torrent, such as an image.
        let links = Links { downloads: 100, ..links };
        assert_eq!(of(links, 0).0, 75);
        // Half of the torrents are of pages that no list shows, and so are half of the links.
        let links = Links { downloads: 100, outside: 50, ..links };
        assert_eq!(of(links, 0).0, 75);
        // A link on a thread that is still to be visited counts with its thread.
        let links =
            Links { targets: 200, visited: 100, by_targets: 50, downloads: 50, downloads_open: 50, ..Links::default() };
        assert_eq!(of(links, 0).0, 200);
    }

    #[test]
    fn it_is_never_below_what_is_stored_whatever_the_counts() {
        use proptest::prelude::*;
        let count = || 0_u64..1_000;
        proptest!(|(counts in proptest::array::uniform10(count()), unread in count())| {
            let [targets, visited, redirected, by_targets, by_lists, by_other_details, open, outside, downloads, downloads_open] = counts;
            let (visited, redirected) = (visited.min(targets), redirected.min(visited).min(targets));
            let links = Links {
                targets, visited, redirected, by_targets, by_lists, by_other_details, other_details_open: open, outside,
                downloads, downloads_open, ..Links::default()
            };
            let found = distinct(&links, unread);
            prop_assert!(links.stored() <= found.low && found.low <= found.ni && found.ni <= found.high, "{found:?}");
        });
    }
}

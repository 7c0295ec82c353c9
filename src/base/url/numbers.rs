//! The number by which a URL identifies its item: `/torrent/4711`, `viewtopic.php?f=2&t=4711`.

use std::num::NonZeroU64;

use super::CrawlUrl;

/// Maximum digits of such a number; longer ones are hashes or times.
const DIGITS: usize = 12;

impl CrawlUrl {
    /// The largest number that is a whole path segment (ignoring `.html`, `.torrent` and the like). Otherwise the
    /// largest at the start of a query value, because the numbers of boards and pages are smaller than those of
    /// threads. Otherwise the largest between dots and dashes (`/threads/title.4711/`, `/thread-4711-1-1.html`). None
    /// if there is no number.
    #[must_use]
    pub fn number(&self) -> Option<NonZeroU64> {
        let path = self.path();
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let whole = path.split('/').map(|segment| segment.split_once('.').map_or(segment, |(name, _)| name));
        // `topic=4711.0`, `showthread.php?4711-title`.
        let values = query.split('&').map(|one| one.split_once('=').map_or(one, |(_, value)| value));
        let values = values.map(|value| value.split(['.', '-']).next().unwrap_or_default());
        largest(whole).or_else(|| largest(values)).or_else(|| largest(path.split(['/', '.', '-'])))
    }
}

fn largest<'t>(texts: impl Iterator<Item = &'t str>) -> Option<NonZeroU64> {
    let is_number = |text: &&str| text.len() <= DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
    texts.filter(is_number).filter_map(|text| text.parse().ok()).max()
}

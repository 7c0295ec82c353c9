//! The tour over a list's deep pages: each recheck reads some pages after the front, from where the last one stopped,
//! so that anything inserted anywhere in the list is found within some rechecks. For a list in the order of time,
//! where only late insertions appear there, it is one page now and then.
//!
//! The number of pages per recheck follows from the time since the last one: few at once, all pages in a quarter of a
//! day, and never more than the site's request budget. Pure; `now` is an argument.

use serde::{Deserialize, Serialize};

use super::rows::BoardPage;
use gleaner_base::url::CrawlUrl;

/// Seconds per page that a recheck reads: four pages for a recheck every two minutes.
const PAGE_EVERY_S: i64 = 30;

/// Pages that any recheck may read, and the fraction of a longer list: about four rechecks make a round if a recheck
/// takes longer than its pages.
const FEW: i64 = 4;

/// Seconds in which each page is read once, however seldom the list is rechecked; and the same if nothing has shown
/// that new rows appear anywhere but on top.
const ROUND_S: i64 = 6 * 3_600;
const UNPROVEN_ROUND_S: i64 = 86_400;

/// Seconds between pages in a list that is in the order of time: a round takes a week, but the interval per page
/// stays within these bounds.
const ORDERED_ROUND_S: i64 = 7 * 86_400;
const ORDERED_PAGE_S: std::ops::RangeInclusive<i64> = 3_600..=4 * 3_600;

/// Seconds for which unused requests accumulate if there is less than one page a day.
const SAVED_S: i64 = 30 * 86_400;

/// Assumed pages of a list before the first complete round. Beyond that, twice the pages read so far are assumed.
const PAGES_AT_FIRST: i64 = 16;

/// Rechecks that request the same missing page before the round skips it, and skipped pages in a row before the round
/// starts again.
const ASKED: u32 = 3;
const PASSED_BY: u32 = 3;

/// Where new rows appear on a list, as far as known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// On top: anything further down was inserted late.
    Time,
    Unproven,
    /// Anywhere.
    Another,
}

/// The state of the tour over a list's pages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tour {
    /// The second page, empty if there is none; None before a recheck has read the front.
    second: Option<String>,
    /// The page to read next; `None` for the second.
    next: Option<String>,
    /// The offset of the page number in its address, and its increment from the page before.
    #[serde(default)]
    number: Option<(usize, u64)>,
    /// Rechecks that requested this page since the last one was received, and pages skipped since then.
    asked: u32,
    #[serde(default)]
    passed_by: u32,
    /// Pages of this round so far, and of the last complete one.
    read: u32,
    pages: u32,
    /// When a recheck was last granted pages, in seconds since 1970-01-01 UTC; 0 for never.
    at: i64,
    /// Hash of the rows of the last page.
    rows: u64,
}

impl Tour {
    /// True if it is known which page comes after the front, or that there is none.
    #[must_use]
    pub fn is_told(&self) -> bool {
        self.second.is_some()
    }

    /// True if there are pages after the front.
    #[must_use]
    pub fn has_pages(&self) -> bool {
        self.second.as_deref().is_some_and(|second| !second.is_empty())
    }

    /// Records that the front was read.
    pub fn starts(&mut self, second: Option<&CrawlUrl>) {
        self.second = Some(second.map_or_else(String::new, |second| second.as_str().to_owned()));
    }

    /// Assumed number of pages after the front.
    fn pages(&self) -> i64 {
        i64::from(self.pages).max(2 * i64::from(self.read)).max(PAGES_AT_FIRST)
    }

    /// Requests a day that the tour needs, without a budget limit.
    #[must_use]
    pub fn wants_per_day(&self, order: Order) -> f64 {
        let round_s = match order {
            _ if !self.has_pages() => return 0.0,
            Order::Time => self.ordered_page_s() * self.pages(),
            Order::Unproven => UNPROVEN_ROUND_S,
            Order::Another => ROUND_S,
        };
        (self.pages() * 86_400) as f64 / round_s as f64
    }

    fn ordered_page_s(&self) -> i64 {
        (ORDERED_ROUND_S / self.pages()).clamp(*ORDERED_PAGE_S.start(), *ORDERED_PAGE_S.end())
    }

    /// Pages that a recheck at `now` may read, with this request budget per day. What is granted is used up.
    pub(super) fn grants(&mut self, now: i64, order: Order, room_per_day: f64) -> usize {
        if self.at == 0 || self.at > now {
            // Start now. A time in the future came from a wrong clock.
            self.at = now;
            return 0;
        }
        let passed = (now - self.at).min(UNPROVEN_ROUND_S);
        let pages = self.pages();
        let wanted = match order {
            Order::Another => (passed / PAGE_EVERY_S).min(FEW.max(pages / FEW)).max(pages * passed / ROUND_S),
            Order::Unproven => (pages * passed / UNPROVEN_ROUND_S).max(1),
            Order::Time => (passed / self.ordered_page_s()).min(1),
        };
        let saved = (now - self.at).min(SAVED_S);
        let room = (room_per_day * saved as f64 / 86_400.0) as i64;
        let granted = wanted.min(room);
        if granted > 0 {
            self.at = now;
        }
        usize::try_from(granted).unwrap_or(0)
    }

    /// The next page to request.
    pub(super) fn asks(&mut self) -> Option<CrawlUrl> {
        if !self.has_pages() {
            return None;
        }
        if self.asked >= ASKED && !self.passes_by() {
            self.turns_back();
        }
        self.asked += 1;
        self.awaited().and_then(stored)
    }

    fn awaited(&self) -> Option<&str> {
        self.next.as_deref().or(self.second.as_deref())
    }

    /// Records that a page after the front was read: if it was the requested one, the tour moves to its next page.
    /// The last page, or a repeated page in place of a later one, ends the round.
    pub(super) fn reads(&mut self, url: &CrawlUrl, page: &BoardPage, repeats: bool) {
        if self.awaited() != Some(url.as_str()) {
            return;
        }
        let rows =
            page.rows.iter().fold(0, |sum: u64, row| sum.wrapping_add(xxhash_rust::xxh3::xxh3_64(row.id.as_bytes())));
        let is_another = !page.rows.is_empty() && !repeats && rows != self.rows;
        (self.asked, self.passed_by, self.rows) = (0, 0, rows);
        self.read += u32::from(is_another);
        match page.next.as_ref().filter(|_| is_another) {
            Some(next) => {
                self.number = number_of(url.as_str(), next.as_str());
                self.next = Some(next.as_str().to_owned());
            }
            None => {
                self.pages = self.read;
                self.turns_back();
            }
        }
    }

    /// Skips a missing page by incrementing its number. False if the addresses do not allow that.
    fn passes_by(&mut self) -> bool {
        let (Some((start, step)), Some(next)) = (self.number, &self.next) else { return false };
        let Some(behind) = behind(next, start, step).filter(|_| self.passed_by < PASSED_BY) else { return false };
        self.next = Some(behind);
        (self.asked, self.passed_by) = (0, self.passed_by + 1);
        true
    }

    /// Restarts the round at the second page.
    pub(super) fn turns_back(&mut self) {
        (self.next, self.number) = (None, None);
        (self.asked, self.passed_by, self.read, self.rows) = (0, 0, 0, 0);
    }
}

/// The offset of the only number by which two addresses differ, and its increment from the first to the second; None
/// if they differ by anything else.
fn number_of(before: &str, next: &str) -> Option<(usize, u64)> {
    let same = before.bytes().zip(next.bytes()).take_while(|(one, other)| one == other).count();
    let start = next.as_bytes()[..same].iter().rposition(|byte| !byte.is_ascii_digit())? + 1;
    let ((before, rest_before), (next, rest)) = (number_at(before, start)?, number_at(next, start)?);
    let step = next.checked_sub(before).filter(|step| *step > 0 && rest == rest_before)?;
    Some((start, step))
}

/// The number at this offset of an address, and the rest after it.
fn number_at(address: &str, start: usize) -> Option<(u64, &str)> {
    let text = address.get(start..)?;
    let rest = text.trim_start_matches(|character: char| character.is_ascii_digit());
    Some((text[..text.len() - rest.len()].parse().ok()?, rest))
}

/// The address with the number at this offset incremented by a step.
fn behind(address: &str, start: usize, step: u64) -> Option<String> {
    let (number, rest) = number_at(address, start)?;
    Some(format!("{}{}{rest}", address.get(..start)?, number.checked_add(step)?))
}

/// A stored address.
fn stored(text: &str) -> Option<CrawlUrl> {
    let host = text.find("://")? + 3;
    let path = host + text[host..].find('/')?;
    Some(CrawlUrl::from_parts(&text[..path], &text[path..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_behind_two_has_the_next_number() {
        let told = |before, next| number_of(before, next).and_then(|(start, step)| behind(next, start, step));
        let pages = [
            ("http://x/l?page=8", "http://x/l?page=9", Some("http://x/l?page=10")),
            ("http://x/l?page=11&o=1", "http://x/l?page=12&o=1", Some("http://x/l?page=13&o=1")),
            ("http://x/f-7-90.html", "http://x/f-7-100.html", Some("http://x/f-7-110.html")),
            ("http://x/l?page=9", "http://x/l?page=8", None),
            ("http://x/l/8/a", "http://x/l/9/b", None),
            ("http://x/l?p=ä", "http://x/l?p=ö", None),
            ("http://x/l", "http://x/l?page=2", None),
            ("http://x/l?page=1", "http://x/l?page=18446744073709551615", None),
        ];
        for (before, next, expected) in pages {
            assert_eq!(told(before, next).as_deref(), expected, "{before} {next}");
        }
    }
}

//! The pages of a list in turn: each look reads some of those behind its front, where the last one stopped, so that what is put anywhere
//! in the list is found within some looks. Of a list in the order of time, where only what is put in late stands there, it is a page now
//! and then.
//!
//! How many a look may read is what the time since the last such look allows: few at once, a round of all of them in a
//! quarter of a day, and never more than the site's requests leave. Pure; `now` is an argument.

use serde::{Deserialize, Serialize};

use super::rows::BoardPage;
use gleaner_base::url::CrawlUrl;

/// Seconds for each page that a look reads: what a look each two minutes takes is four.
const PAGE_EVERY_S: i64 = 30;

/// Pages that any look may read, and the part of a longer list: four looks or so are a round wherever a look costs more time than its
/// pages do.
const FEW: i64 = 4;

/// Seconds in which each page is read once however seldom the list is looked at; and where nothing has shown that news stand anywhere
/// but on top.
const ROUND_S: i64 = 6 * 3_600;
const UNPROVEN_ROUND_S: i64 = 86_400;

/// Seconds from one page to the next in a list that is in the order of time: a round is a week, but no page comes sooner or later than these
/// allow.
const ORDERED_ROUND_S: i64 = 7 * 86_400;
const ORDERED_PAGE_S: std::ops::RangeInclusive<i64> = 3_600..=4 * 3_600;

/// Seconds for which requests are saved up where they do not make a page a day.
const SAVED_S: i64 = 30 * 86_400;

/// Pages that a list is taken to have before a round has told: half as many again at each look as were read.
const PAGES_AT_FIRST: i64 = 16;

/// Looks that wait for the same page before the round goes on behind it; and pages in a row that it so passes by before it begins anew.
const ASKED: u32 = 3;
const PASSED_BY: u32 = 3;

/// Where news stand on a list, as far as they have shown it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// On top: what stands behind that was put in late.
    Time,
    Unproven,
    /// Anywhere.
    Another,
}

/// Where the turn of a list's pages is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tour {
    /// The second page, empty where there is none; not told as long as no look has read the front for it.
    second: Option<String>,
    /// The page whose turn it is; `None` for the second.
    next: Option<String>,
    /// Where in its address the page's number begins, and by how much that grew from the page before it.
    #[serde(default)]
    number: Option<(usize, u64)>,
    /// Looks that have asked for that page since another one came, and pages that did not come since then.
    asked: u32,
    #[serde(default)]
    passed_by: u32,
    /// Pages of this round so far, and of the last one that ended.
    read: u32,
    pages: u32,
    /// When a look last had pages of it to read, in seconds since 1970-01-01 UTC; 0 for never.
    at: i64,
    /// What the last page listed.
    rows: u64,
}

impl Tour {
    /// True where it is known which page comes behind the front, or that none does.
    #[must_use]
    pub fn is_told(&self) -> bool {
        self.second.is_some()
    }

    /// True where there are pages behind the front.
    #[must_use]
    pub fn has_pages(&self) -> bool {
        self.second.as_deref().is_some_and(|second| !second.is_empty())
    }

    /// The front was read.
    pub fn starts(&mut self, second: Option<&CrawlUrl>) {
        self.second = Some(second.map_or_else(String::new, |second| second.as_str().to_owned()));
    }

    /// Pages that a list is taken to have behind its front.
    fn pages(&self) -> i64 {
        i64::from(self.pages).max(2 * i64::from(self.read)).max(PAGES_AT_FIRST)
    }

    /// Requests a day that the turn of its pages takes where there are enough.
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

    /// Pages that a look at `now` may read, at a site that has so many requests a day for it. What is granted is used up.
    pub(super) fn grants(&mut self, now: i64, order: Order, room_per_day: f64) -> usize {
        if self.at == 0 || self.at > now {
            // From now on; a time to come was a clock's that was wrong.
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

    /// The page whose turn it is, to be asked for.
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

    /// A page behind the front was read: where it was its turn, it is that of the page behind it. The last page, or what is sent in place
    /// of one behind it, ends the round.
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

    /// The page that does not come is left out: the one behind it has its number. False where the addresses do not tell that one.
    fn passes_by(&mut self) -> bool {
        let (Some((start, step)), Some(next)) = (self.number, &self.next) else { return false };
        let Some(behind) = behind(next, start, step).filter(|_| self.passed_by < PASSED_BY) else { return false };
        self.next = Some(behind);
        (self.asked, self.passed_by) = (0, self.passed_by + 1);
        true
    }

    /// The next page is the second one again.
    pub(super) fn turns_back(&mut self) {
        (self.next, self.number) = (None, None);
        (self.asked, self.passed_by, self.read, self.rows) = (0, 0, 0, 0);
    }
}

/// Where the number begins by which alone two addresses differ, and by how much it grows from the first to the second; None where they
/// differ by anything else.
fn number_of(before: &str, next: &str) -> Option<(usize, u64)> {
    let same = before.bytes().zip(next.bytes()).take_while(|(one, other)| one == other).count();
    let start = next.as_bytes()[..same].iter().rposition(|byte| !byte.is_ascii_digit())? + 1;
    let ((before, rest_before), (next, rest)) = (number_at(before, start)?, number_at(next, start)?);
    let step = next.checked_sub(before).filter(|step| *step > 0 && rest == rest_before)?;
    Some((start, step))
}

/// The number that begins there in an address, and what follows it.
fn number_at(address: &str, start: usize) -> Option<(u64, &str)> {
    let text = address.get(start..)?;
    let rest = text.trim_start_matches(|character: char| character.is_ascii_digit());
    Some((text[..text.len() - rest.len()].parse().ok()?, rest))
}

/// The address with the number that begins there a step greater.
fn behind(address: &str, start: usize, step: u64) -> Option<String> {
    let (number, rest) = number_at(address, start)?;
    Some(format!("{}{}{rest}", address.get(..start)?, number.checked_add(step)?))
}

/// An address as it was taken from one.
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

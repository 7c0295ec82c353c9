//! Decides whether a torrent has vanished from its site (ALGORITHMS §7 TorrentsInvalid, §11 vanished pages).
//!
//! One check yields a sign or none: 404 and 410; a page like the site's response to an address that cannot exist; a page that
//! says that the torrent was deleted; a redirect to the start page. A sign is not a verdict: sites have bad minutes. Two
//! agreeing checks some time apart are one. A response to a guest, or a truncated one, is no evidence at all.
//!
//! Nothing is deleted from the archive because of it: the result is a note with its time.

use serde::{Deserialize, Serialize};

use super::Between;
use crate::limits::{GONE_CONFIRM_TIME, GONE_TEXT_BYTES_MAX};
use gleaner_base::clock::UnixMillis;
use gleaner_page::fingerprint::{Sketch, resemblance};

/// The target of a redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landing {
    /// The site's start page.
    Start,
    /// A list.
    List,
    /// A login page: the response was for a guest.
    Login,
    /// Another torrent's page, or anything else.
    Elsewhere,
}

/// The response to one check of a torrent's page or link.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    pub status: u16,
    /// Target, if it is a redirect.
    pub landing: Option<Landing>,
    /// The visible text of a page, in UTF-8; its first `GONE_TEXT_BYTES_MAX` bytes are read.
    pub text: &'a str,
    pub sketch: Option<&'a Sketch>,
    /// It still contains what is wanted: a link to the torrent, a magnet, an infohash.
    pub has_torrent: bool,
    /// It was, or may have been, a response to a guest where a member was expected.
    pub is_of_guest: bool,
    /// It is complete.
    pub is_whole: bool,
}

/// Why something counts as gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// 404 or 410.
    Status(u16),
    /// The page is the one that the site sends for missing content.
    NotFoundPage,
    /// The page says so.
    Said,
    /// A redirect to the start page or to a list.
    Redirected,
    /// Its row vanished from a list while its neighbours stayed.
    Unlisted,
}

/// The result of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It exists.
    Present,
    Absent(Why),
    /// The response is no evidence.
    Nothing,
}

/// A site's response to requests for content that cannot exist: learned from two random addresses.
#[derive(Clone, Debug, Default)]
pub struct NotFound {
    page: Option<Sketch>,
    redirects: bool,
}

/// Resemblance from which a page is the not-found page: two standard errors of the sketch below 1.
const ALIKE: f64 = 0.95;

impl NotFound {
    /// Learns from the responses to two addresses that cannot exist. Pages that do not resemble each other, as on a site
    /// that treats any address as a search, teach nothing.
    #[must_use]
    pub fn learn(probes: &[Answer<'_>; 2]) -> Self {
        if probes.iter().any(|probe| probe.is_of_guest || !probe.is_whole || probe.has_torrent) {
            return Self::default();
        }
        let leads_home = |probe: &Answer<'_>| matches!(probe.landing, Some(Landing::Start | Landing::List));
        let pages =
            probes.each_ref().map(|probe| probe.sketch.filter(|sketch| probe.status == 200 && !sketch.is_empty()));
        let page = match pages {
            [Some(one), Some(other)] if resemblance(one, other) >= ALIKE => Some(one.clone()),
            _ => None,
        };
        Self { page, redirects: probes.iter().all(leads_home) }
    }

    /// Creates it from the page for missing content that was learned before.
    #[must_use]
    pub fn of_page(page: Sketch) -> Self {
        Self { page: Some(page), redirects: false }
    }

    /// That page, if it is known.
    #[must_use]
    pub fn page(&self) -> Option<&Sketch> {
        self.page.as_ref()
    }

    /// True if a page is the site's response for missing content. `before` is the page at the last check at which it
    /// existed: small pages resemble everything on their site.
    fn is_like(&self, page: &Sketch, before: Option<&Sketch>) -> bool {
        let Some(not_found) = &self.page else { return false };
        let alike = resemblance(page, not_found);
        alike >= ALIKE && before.is_none_or(|before| resemblance(page, before) < alike)
    }
}

/// What a response says about its torrent. `before` is its page at the last check at which the torrent existed.
#[must_use]
pub fn sign(answer: &Answer<'_>, not_found: &NotFound, before: Option<&Sketch>) -> Sign {
    if answer.is_of_guest || !answer.is_whole {
        return Sign::Nothing;
    }
    match answer.status {
        404 | 410 => Sign::Absent(Why::Status(answer.status)),
        304 => Sign::Present,
        300..=399 => match answer.landing {
            // Some sites redirect guests to the start page, and do so under load, too. It only counts if the site is
            // known to respond this way for missing content.
            Some(Landing::Start | Landing::List) if not_found.redirects => Sign::Absent(Why::Redirected),
            _ => Sign::Nothing,
        },
        200..=299 if answer.has_torrent => Sign::Present,
        200..=299 => {
            if answer.sketch.is_some_and(|sketch| not_found.is_like(sketch, before)) {
                Sign::Absent(Why::NotFoundPage)
            } else if says_gone(answer.text) {
                Sign::Absent(Why::Said)
            } else {
                // A page without its torrent and without a phrase about it: a notice, a maintenance page, or a redesign.
                Sign::Nothing
            }
        }
        _ => Sign::Nothing,
    }
}

gleaner_base::topics! { gone: GONE; }

/// True if a text says that the torrent no longer exists.
fn says_gone(text: &str) -> bool {
    let mut end = text.len().min(GONE_TEXT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut small = String::with_capacity(end);
    for word in text[..end].split_whitespace() {
        small.extend(word.chars().flat_map(char::to_lowercase));
        small.push(' ');
    }
    GONE.are_in(&small)
}

/// A verdict, as it is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gone {
    /// It vanished between the last check at which it existed and the first at which it did not.
    pub since: Between,
    pub why: Why,
}

/// State of one torrent's presence, from check to check: 40 bytes, to be stored with its row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Presence {
    /// The last check at which it existed.
    seen: Option<UnixMillis>,
    /// The first later check at which it did not, with the sign.
    missed: Option<(UnixMillis, Why)>,
    /// The verdict is final.
    is_gone: bool,
}

/// What a check changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Nothing.
    None,
    /// It is gone: to be recorded.
    Gone(Gone),
    /// It was gone and is back: the record must be closed.
    Back,
}

impl Presence {
    /// Processes the sign of a check. The torrent is gone when two signs are `GONE_CONFIRM_TIME` apart or more and no check in between
    /// showed it; the first of them dates it. Checks must come in the order of their times; one from before the last is ignored.
    pub fn look(&mut self, sign: Sign, now: UnixMillis) -> Turn {
        let last = self.missed.map(|(missed, _)| missed).max(self.seen);
        if last.is_some_and(|last| now < last) {
            return Turn::None;
        }
        match (sign, self.missed) {
            (Sign::Nothing, _) => Turn::None,
            (Sign::Present, _) => {
                let was_gone = self.is_gone;
                *self = Self { seen: Some(now), missed: None, is_gone: false };
                if was_gone { Turn::Back } else { Turn::None }
            }
            (Sign::Absent(why), None) => {
                self.missed = Some((now, why));
                Turn::None
            }
            (Sign::Absent(_), Some((missed, why))) if !self.is_gone && now.since(missed) >= GONE_CONFIRM_TIME => {
                self.is_gone = true;
                Turn::Gone(Gone { since: Between { from: self.seen.unwrap_or(missed), until: missed }, why })
            }
            (Sign::Absent(_), Some(_)) => Turn::None,
        }
    }

    /// When the next check can turn a sign into a verdict; None while there is none to confirm.
    #[must_use]
    pub fn confirm_at(&self) -> Option<UnixMillis> {
        self.missed.filter(|_| !self.is_gone).map(|(missed, _)| missed.plus(GONE_CONFIRM_TIME))
    }

    /// True once it counts as gone.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.is_gone
    }
}

#[cfg(test)]
mod tests;

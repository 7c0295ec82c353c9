//! Gone: has this torrent vanished from its site? (ALGORITHMS §7 TorrentsInvalid, §11 vanished pages)
//!
//! One look gives a sign or none: 404 and 410; a page like the one that the site sends for an address which cannot exist; a page that
//! says that the torrent was deleted; a redirect to where the site begins. A sign is no verdict: sites have bad minutes. Two
//! looks apart that agree are one. An answer to a guest, or one that broke off, says nothing at all.
//!
//! Nothing is deleted from the archive for it: what is decided here is a note with its time.

use serde::{Deserialize, Serialize};

use super::Between;
use crate::limits::{GONE_CONFIRM_TIME, GONE_TEXT_BYTES_MAX};
use gleaner_base::clock::UnixMillis;
use gleaner_page::fingerprint::{Sketch, resemblance};

/// Where a redirect leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landing {
    /// The site's start page.
    Start,
    /// A list.
    List,
    /// A page to log in: the answer was one to a guest.
    Login,
    /// Another page of a torrent, or anything else.
    Elsewhere,
}

/// One answer to a look at a torrent's page or link.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    pub status: u16,
    /// Of a redirect.
    pub landing: Option<Landing>,
    /// What a reader sees of a page, in UTF-8; its first `GONE_TEXT_BYTES_MAX` bytes are read.
    pub text: &'a str,
    pub sketch: Option<&'a Sketch>,
    /// It still has what is wanted: a link to the torrent, a magnet, an infohash.
    pub has_torrent: bool,
    /// It was, or may have been, an answer to a guest where a member's was due.
    pub is_of_guest: bool,
    /// It came to its end.
    pub is_whole: bool,
}

/// Why something counts as gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// 404 or 410.
    Status(u16),
    /// The page is the one that the site sends for what it does not have.
    NotFoundPage,
    /// The page says so.
    Said,
    /// A redirect to the start page or to a list.
    Redirected,
    /// Its row vanished from a list while its neighbours stayed.
    Unlisted,
}

/// What one look says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It is there.
    Present,
    Absent(Why),
    /// The answer says nothing about it.
    Nothing,
}

/// What a site answers when it is asked for what it cannot have: learned from two addresses made up at random.
#[derive(Clone, Debug, Default)]
pub struct NotFound {
    page: Option<Sketch>,
    redirects: bool,
}

/// Resemblance from which a page is the not-found page: two standard errors of the sketch below 1.
const ALIKE: f64 = 0.95;

impl NotFound {
    /// Learns from the answers to two addresses that cannot exist. Pages that do not resemble each other, as of a site
    /// that takes any address for a search, teach nothing.
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

    /// The page that the site sends for what it does not have, as it was learned before.
    #[must_use]
    pub fn of_page(page: Sketch) -> Self {
        Self { page: Some(page), redirects: false }
    }

    /// That page, where it is known.
    #[must_use]
    pub fn page(&self) -> Option<&Sketch> {
        self.page.as_ref()
    }

    /// True where a page is the site's answer to what it does not have. `before` is the page at the last look at which it
    /// was there: small pages resemble everything of their site.
    fn is_like(&self, page: &Sketch, before: Option<&Sketch>) -> bool {
        let Some(not_found) = &self.page else { return false };
        let alike = resemblance(page, not_found);
        alike >= ALIKE && before.is_none_or(|before| resemblance(page, before) < alike)
    }
}

/// What an answer says about the torrent that it was to be of. `before` is its page at the last look at which it was there.
#[must_use]
pub fn sign(answer: &Answer<'_>, not_found: &NotFound, before: Option<&Sketch>) -> Sign {
    if answer.is_of_guest || !answer.is_whole {
        return Sign::Nothing;
    }
    match answer.status {
        404 | 410 => Sign::Absent(Why::Status(answer.status)),
        304 => Sign::Present,
        300..=399 => match answer.landing {
            // A redirect home is what some sites do with guests and under load, too, and so is believed where the site is
            // known to answer so for what it does not have.
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
                // A page without its torrent and without a word about it: a notice, a maintenance page, or a change.
                Sign::Nothing
            }
        }
        _ => Sign::Nothing,
    }
}

gleaner_base::topics! { gone: GONE; }

/// True where a text says that the torrent is no more.
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
    /// It vanished between the last look at which it was there and the first at which it was not.
    pub since: Between,
    pub why: Why,
}

/// What is known of one torrent's presence, from look to look: 40 bytes, to be kept beside its row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Presence {
    /// The last look at which it was there.
    seen: Option<UnixMillis>,
    /// The first of the looks since then at which it was not, with the sign.
    missed: Option<(UnixMillis, Why)>,
    /// The verdict stands.
    is_gone: bool,
}

/// What a look changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Nothing.
    None,
    /// It is gone: to be recorded.
    Gone(Gone),
    /// It was gone and is back: the record is to be closed.
    Back,
}

impl Presence {
    /// Takes a look's sign. It is gone when two signs stand `GONE_CONFIRM_TIME` apart or more and nothing in between showed
    /// it; the first of them dates it. Looks must come in the order of their times; one from before the last is ignored.
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

    /// When to look again so that a sign becomes a verdict; None while there is none to confirm.
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

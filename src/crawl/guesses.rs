//! Guessed URLs: numbers between known ones, asked for to see how many of them are torrents that no list shows. Pure.
//!
//! A guess that comes to nothing leaves no trace but in its sample: it is no URL of the site, so that it is neither gone nor a broken promise.

use std::collections::HashSet;

use crate::job::Finished;
use gleaner_store::crawldb::Outcome;

/// What an answer says of a guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// A torrent, its page, or a redirect to one of these.
    Torrent,
    /// The same, and known by another URL: no list lacks it.
    Known,
    /// Nothing is there, or something else.
    Nothing,
    /// Nobody knows: there was no answer, or a refusal.
    Unanswered,
}

/// What the site shows of torrents where none can be: beside its words for a missing one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    offers: HashSet<String>,
    /// Answers that were added.
    controls: u32,
    /// The least and the most that one of them had.
    least: usize,
    most: usize,
    /// True if they had others each time: torrents drawn at random, or the latest of a busy site.
    varies: bool,
    /// True if one of them was a torrent itself.
    is_torrent: bool,
}

impl Shown {
    /// Adds the answer for a number that is far from all known ones.
    pub fn add(&mut self, finished: &Finished, id: u64) {
        let offers = offers(finished);
        self.varies |= self.controls > 0 && offers.iter().any(|offer| self.lacks(offer, id));
        self.least = if self.controls == 0 { offers.len() } else { self.least.min(offers.len()) };
        self.most = self.most.max(offers.len());
        self.is_torrent |= finished.visit.torrent.is_some();
        self.controls += 1;
        self.offers.extend(offers.iter().map(|offer| without_id(offer, id)));
        self.offers.extend(offers);
    }

    /// True once one was added, and once enough of them were to tell what stays from what changes.
    #[must_use]
    pub fn is_some(&self) -> bool {
        self.controls > 0
    }

    /// See [`is_some`](Self::is_some).
    #[must_use]
    pub fn is_enough(&self) -> bool {
        self.controls >= CONTROLS
    }

    /// True if a torrent or link of an answer is of the answer for this number alone.
    fn lacks(&self, offer: &str, id: u64) -> bool {
        !self.offers.contains(offer) && !self.offers.contains(&without_id(offer, id))
    }

    /// What a torrent says of its number: nothing where others are sent at random for missing ones.
    fn of_torrent(&self, finished: &Finished, id: u64) -> Guess {
        let is_own = offers(finished).iter().any(|offer| self.lacks(offer, id));
        if is_own && !(self.varies && self.is_torrent) { Guess::Torrent } else { Guess::Nothing }
    }

    /// What a page says of its number. Where what stands beside changes each time, a link has to name the number, or there are more links than there
    /// ever were; with fewer than ever nobody knows.
    fn of_page(&self, finished: &Finished, id: u64) -> Guess {
        let offers = offers(finished);
        let mut own = offers.iter().filter(|offer| self.lacks(offer, id)).peekable();
        if own.peek().is_none() {
            return Guess::Nothing;
        }
        let is_named =
            own.any(|offer| offer.split(|of: char| !of.is_ascii_alphanumeric()).any(|of| of.parse() == Ok(id)));
        match offers.len() {
            count if is_named || !self.varies || count > self.most => Guess::Torrent,
            count if count < self.least => Guess::Unanswered,
            _ => Guess::Nothing,
        }
    }
}

/// Numbers where no torrent can be that are asked for before the others.
const CONTROLS: u32 = 2;

/// Guesses after which one more is asked for: what stands beside may change in hours only.
pub const GUESSES_PER_CONTROL: u64 = 20;

/// The torrents of an answer: the one that it is, or the links to them.
fn offers(finished: &Finished) -> Vec<String> {
    let own = finished.visit.torrent.as_ref().map(|facts| facts.infohashes.key_hex());
    own.into_iter().chain(finished.end.offers.iter().cloned()).collect()
}

/// Pages for what is missing may repeat the number that was asked for.
fn without_id(offer: &str, id: u64) -> String {
    offer.replace(&id.to_string(), "{id}")
}

fn names(path: &str, id: u64) -> bool {
    path.split(|of: char| !of.is_ascii_digit()).any(|digits| digits.parse() == Ok(id))
}

/// True if the site has said what is at a number, or that nothing is.
#[must_use]
pub fn is_answered(finished: &Finished) -> bool {
    match finished.visit.outcome {
        // What was cut off may have had one.
        Outcome::Page | Outcome::PageDuplicate => finished.visit.not_whole.is_none(),
        Outcome::TorrentStored
        | Outcome::TorrentDuplicate
        | Outcome::Redirected
        | Outcome::RedirectRefused
        | Outcome::Gone
        | Outcome::ClientError
        | Outcome::HtmlPosingAsTorrent
        | Outcome::NotForUs => true,
        _ => false,
    }
}

/// What a visit of the guess with this number came to.
#[must_use]
pub fn answer(finished: &Finished, id: u64, shown: &Shown) -> Guess {
    let end = &finished.end;
    // What is missing is often sent to the front page, or to another torrent.
    let leads_to_own = || {
        end.shows.leads_to.is_some_and(gleaner_rules::Class::is_target)
            && finished.visit.outlinks.iter().any(|target| names(&target.key.path, id))
    };
    match finished.visit.outcome {
        Outcome::TorrentStored | Outcome::TorrentDuplicate => shown.of_torrent(finished, id),
        Outcome::Page | Outcome::PageDuplicate => match shown.of_page(finished, id) {
            Guess::Torrent if end.may_hold_more && is_answered(finished) => Guess::Nothing,
            Guess::Torrent if end.may_hold_more => Guess::Unanswered,
            Guess::Nothing if !is_answered(finished) => Guess::Unanswered,
            guess => guess,
        },
        Outcome::Redirected if leads_to_own() => Guess::Torrent,
        _ if is_answered(finished) => Guess::Nothing,
        _ => Guess::Unanswered,
    }
}

/// What the guesses of a run came to, for its summary.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct GuessCounts {
    /// Origin and path, with the number as `{id}`; None if nothing was asked for.
    pub shape: Option<String>,
    /// Numbers that were to be asked for, and those that were.
    pub drawn: u64,
    pub asked: u64,
    /// Of these, torrents and their pages, those that are known by another URL, what was nothing, and what had no answer.
    pub torrents: u64,
    pub known: u64,
    pub nothing: u64,
    pub unanswered: u64,
    /// Why fewer were asked for than the operator allowed, if none or not all were.
    pub why: Option<String>,
}

impl GuessCounts {
    /// Counts an answer.
    pub fn count(&mut self, guess: Guess) {
        self.asked += 1;
        *match guess {
            Guess::Torrent => &mut self.torrents,
            Guess::Known => &mut self.known,
            Guess::Nothing => &mut self.nothing,
            Guess::Unanswered => &mut self.unanswered,
        } += 1;
    }

    /// In a line for people.
    #[must_use]
    pub fn told(&self) -> String {
        let Self { drawn, asked, torrents, known, nothing, unanswered, .. } = self;
        let mut line = match &self.shape {
            Some(shape) => format!(
                "{asked} of {drawn} numbers asked for, {shape}: {torrents} torrents, {known} known under another address, {nothing} without one, {unanswered} without an answer"
            ),
            None => "no numbers were asked for".to_owned(),
        };
        if let Some(why) = &self.why {
            line += &format!(": {why}");
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::visit::put_aside;
    use gleaner_base::clock::UnixMillis;
    use gleaner_rules::Class;
    use gleaner_store::crawldb::{Discovered, HostId, Lease, UrlKey};

    #[test]
    fn only_what_leads_to_a_torrent_is_one_and_refusals_say_nothing() {
        let key = UrlKey { host: HostId(0), path: "/t/5".into() };
        let (via, memo, found) = (None, None, None);
        let lease = Lease { key, depth: 1, rank: 47, attempts: 0, via, memo, deadline: UnixMillis(9), found, seq: 0 };
        let shown = Shown::default();
        let of = |outcome, may_hold_more, leads_to: Option<Class>| {
            let mut finished = put_aside(&lease, outcome, UnixMillis(1));
            finished.end.may_hold_more = may_hold_more;
            finished.end.shows.leads_to = leads_to;
            finished.end.offers = vec!["http://h/dl/5".to_owned()];
            finished.visit.outlinks = leads_to.map(|_| target("/torrent/5-a-title")).into_iter().collect();
            answer(&finished, 5, &shown)
        };
        assert_eq!(of(Outcome::Page, false, None), Guess::Torrent);
        assert_eq!(of(Outcome::Page, true, None), Guess::Nothing);
        assert_eq!(of(Outcome::Redirected, true, Some(Class::Detail)), Guess::Torrent);
        assert_eq!(of(Outcome::Redirected, true, Some(Class::Index)), Guess::Nothing);
        assert_eq!(of(Outcome::Gone, true, None), Guess::Nothing);
        for outcome in [Outcome::Denied, Outcome::Throttled, Outcome::ServerError, Outcome::TimedOut, Outcome::TooLarge]
        {
            assert_eq!(of(outcome, true, None), Guess::Unanswered, "{outcome:?}");
        }
    }

    fn target(path: &str) -> Discovered {
        let key = UrlKey { host: HostId(0), path: path.into() };
        Discovered { key, rank: 47, depth: 2, due: UnixMillis(0), via: None, is_target: true, found: None }
    }

    #[test]
    fn what_the_site_shows_beside_a_missing_torrent_is_no_torrent() {
        let key = UrlKey { host: HostId(0), path: "/t/5".into() };
        let (via, memo, found) = (None, None, None);
        let lease = Lease { key, depth: 1, rank: 47, attempts: 0, via, memo, deadline: UnixMillis(9), found, seq: 0 };
        let page = |offers: &[&str]| {
            let mut finished = put_aside(&lease, Outcome::Page, UnixMillis(1));
            finished.end.offers = offers.iter().map(|of| (*of).to_owned()).collect();
            finished
        };
        let mut shown = Shown::default();
        // "No such torrent", the latest ones beside it, and a button that repeats the number.
        shown.add(&page(&["http://h/dl/7", "http://h/dl/8", "http://h/get?id=999"]), 999);
        let of = |offers: &[&str]| answer(&page(offers), 5, &shown);
        assert_eq!(of(&["http://h/dl/8", "http://h/dl/7"]), Guess::Nothing, "a soft 404");
        assert_eq!(of(&["http://h/dl/8", "http://h/get?id=5"]), Guess::Nothing);
        assert_eq!(of(&["http://h/dl/8", "http://h/dl/5"]), Guess::Torrent);
        shown.add(&page(&["http://h/dl/7", "http://h/dl/8", "http://h/get?id=1000"]), 1_000);
        assert_eq!(answer(&page(&["http://h/dl/5"]), 5, &shown), Guess::Torrent, "nothing changes beside it");
        let sent = |to: &str| {
            let mut finished = put_aside(&lease, Outcome::Redirected, UnixMillis(1));
            finished.end.shows.leads_to = Some(Class::Detail);
            finished.visit.outlinks = vec![target(to)];
            answer(&finished, 5, &shown)
        };
        assert_eq!(
            [sent("/torrent/5-a"), sent("/torrent/15"), sent("/random/7")],
            [Guess::Torrent, Guess::Nothing, Guess::Nothing]
        );
    }

    #[test]
    fn torrents_drawn_at_random_beside_a_missing_one_are_none_of_its_own() {
        let key = UrlKey { host: HostId(0), path: "/t/5".into() };
        let (via, memo, found) = (None, None, None);
        let lease = Lease { key, depth: 1, rank: 47, attempts: 0, via, memo, deadline: UnixMillis(9), found, seq: 0 };
        let page = |offers: std::ops::Range<u32>| {
            let mut finished = put_aside(&lease, Outcome::Page, UnixMillis(1));
            finished.end.offers = offers.map(|of| format!("http://h/dl/{of}")).collect();
            finished
        };
        let mut shown = Shown::default();
        shown.add(&page(10..13), 900);
        assert!(!shown.is_enough());
        shown.add(&page(20..23), 901);
        assert!(shown.is_enough());
        assert_eq!(answer(&page(30..33), 5, &shown), Guess::Nothing);
        assert_eq!(answer(&page(40..44), 5, &shown), Guess::Torrent, "its own stands beside them");
        assert_eq!(answer(&page(5..8), 5, &shown), Guess::Torrent, "it is named");
        assert_eq!(answer(&page(40..41), 5, &shown), Guess::Unanswered, "no page for what is missing has so few");
        let mut torrent = page(40..40);
        torrent.visit.outcome = Outcome::TorrentStored;
        torrent.end.offers = vec!["a hash".to_owned()];
        assert_eq!(answer(&torrent, 5, &shown), Guess::Torrent, "whatever stands on pages");
    }
}

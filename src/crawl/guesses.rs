//! Guessed URLs: numbers between known ones, asked for to see how many of them are torrents that no list shows. Pure.
//!
//! A guess that comes to nothing leaves no trace but in its sample: it is no URL of the site, so that it is neither gone nor a broken promise.

use crate::job::Finished;
use gleaner_store::crawldb::Outcome;

/// What an answer says of a guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// A torrent, its page, or a redirect to one of these.
    Torrent,
    /// Nothing is there, or something else.
    Nothing,
    /// Nobody knows: there was no answer, or a refusal.
    Unanswered,
}

/// What a visit of a guess came to.
#[must_use]
pub fn answer(finished: &Finished) -> Guess {
    let end = &finished.end;
    match finished.visit.outcome {
        Outcome::TorrentStored | Outcome::TorrentDuplicate => Guess::Torrent,
        Outcome::Page | Outcome::PageDuplicate if !end.may_hold_more => Guess::Torrent,
        // What was cut off may have had one.
        Outcome::Page | Outcome::PageDuplicate if finished.visit.not_whole.is_some() => Guess::Unanswered,
        Outcome::Redirected if end.shows.leads_to.is_some_and(gleaner_rules::Class::is_target) => Guess::Torrent,
        Outcome::Page
        | Outcome::PageDuplicate
        | Outcome::Redirected
        | Outcome::RedirectRefused
        | Outcome::Gone
        | Outcome::ClientError
        | Outcome::HtmlPosingAsTorrent
        | Outcome::NotForUs => Guess::Nothing,
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
    /// Of these, torrents and their pages, what was nothing, and what had no answer.
    pub torrents: u64,
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
            Guess::Nothing => &mut self.nothing,
            Guess::Unanswered => &mut self.unanswered,
        } += 1;
    }

    /// In a line for people.
    #[must_use]
    pub fn told(&self) -> String {
        let Self { drawn, asked, torrents, nothing, unanswered, .. } = self;
        let mut line = match &self.shape {
            Some(shape) => format!(
                "{asked} of {drawn} numbers asked for, {shape}: {torrents} torrents, {nothing} without one, {unanswered} without an answer"
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
    use gleaner_store::crawldb::{HostId, Lease, UrlKey};

    #[test]
    fn only_what_leads_to_a_torrent_is_one_and_refusals_say_nothing() {
        let key = UrlKey { host: HostId(0), path: "/t/5".into() };
        let (via, memo, found) = (None, None, None);
        let lease = Lease { key, depth: 1, rank: 47, attempts: 0, via, memo, deadline: UnixMillis(9), found, seq: 0 };
        let of = |outcome, may_hold_more, leads_to| {
            let mut finished = put_aside(&lease, outcome, UnixMillis(1));
            finished.end.may_hold_more = may_hold_more;
            finished.end.shows.leads_to = leads_to;
            answer(&finished)
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
}

//! What a visit says of its rule's promise: a download is a torrent, a torrent's page or a thread links to one, a list has rows, any
//! other page links to one of these. Pure.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::freshness::gone::Why;
use crate::job::Finished;
use gleaner_rules::Class;
use gleaner_store::crawldb::{Next, Outcome, WALL_TOKENS};

/// How a promise was broken.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Breach {
    /// 404 or 410.
    Gone,
    /// Any other answer that is neither a torrent nor a page of the site.
    NotAnswered,
    /// A page in place of a torrent.
    NoTorrent,
    /// A page or thread without a link to a torrent.
    NoTarget,
    /// A list without rows.
    NoRows,
    /// A later page of a list with the rows of another one.
    SameRows,
    /// A page without a link that a rule takes.
    NoLink,
    /// A redirect to what is not of its kind, or to another host.
    LedOff,
}

/// What a visit says of its rule's promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Kept,
    Broken(Breach),
    /// The page is as it was: so is what it says.
    Same,
    /// Nothing: there was no answer, or a refusal for the load, or a session or a wall explains it, or the page was not read whole.
    None,
}

impl Breach {
    /// True if the page lacks links that rules of this class take: a new one of them may take what the site has in their place.
    #[must_use]
    pub fn lacks(&self, class: Class) -> bool {
        let is_row = matches!(class, Class::Detail | Class::Thread | Class::Download);
        match self {
            Self::NoTarget => class == Class::Download,
            Self::NoRows => is_row,
            Self::NoLink => is_row || matches!(class, Class::Index | Class::Board),
            _ => false,
        }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gone => "not there (404)",
            Self::NotAnswered => "refused or of another kind",
            Self::NoTorrent => "a page in place of a torrent",
            Self::NoTarget => "without a link to a torrent",
            Self::NoRows => "without rows",
            Self::SameRows => "with the rows of another page",
            Self::NoLink => "without a link that a rule takes",
            Self::LedOff => "redirected elsewhere",
        })
    }
}

/// Whether a visit kept its rule's promise.
#[must_use]
pub fn verdict(finished: &Finished, has_other_rows: bool) -> Verdict {
    let (visit, class, end) = (&finished.visit, finished.job.class, &finished.end);
    let is_parked = matches!(visit.next, Next::Park(token) if token >= WALL_TOKENS);
    let is_final = matches!(visit.next, Next::Done | Next::RevisitAt(_) | Next::Park(_)) && !is_parked;
    if !is_final || end.denied.is_some() {
        return Verdict::None;
    }
    match visit.outcome {
        Outcome::TorrentStored | Outcome::TorrentDuplicate => Verdict::Kept,
        Outcome::NotModified => Verdict::Same,
        Outcome::Page | Outcome::PageDuplicate => of_page(finished, has_other_rows),
        Outcome::HtmlPosingAsTorrent | Outcome::MalformedTorrent if end.leads_on => Verdict::None,
        Outcome::HtmlPosingAsTorrent | Outcome::MalformedTorrent => Verdict::Broken(Breach::NoTorrent),
        // The target takes its place, and is judged itself.
        Outcome::Redirected if end.shows.leads_to.is_some_and(|to| is_of_kind(class, to)) => Verdict::None,
        Outcome::Redirected | Outcome::RedirectRefused | Outcome::RedirectLoop | Outcome::BadRedirect => {
            Verdict::Broken(Breach::LedOff)
        }
        // Its page was read twice, and the first time it was without a torrent.
        Outcome::Gone if end.gone.as_ref().is_some_and(|gone| !matches!(gone.why, Why::Status(_))) => Verdict::None,
        Outcome::Gone => Verdict::Broken(Breach::Gone),
        Outcome::ClientError | Outcome::NotForUs => Verdict::Broken(Breach::NotAnswered),
        _ => Verdict::None,
    }
}

/// A redirect within a class, or towards the torrent.
fn is_of_kind(class: Class, to: Class) -> bool {
    match class {
        Class::Download => to == Class::Download,
        Class::Detail | Class::Thread => to.is_target(),
        Class::Index | Class::Board => to.is_listing(),
        _ => true,
    }
}

fn of_page(finished: &Finished, has_other_rows: bool) -> Verdict {
    let (visit, end) = (&finished.visit, &finished.end);
    let breach = match finished.job.class {
        Class::Download => Breach::NoTorrent,
        Class::Detail | Class::Thread => Breach::NoTarget,
        Class::Index | Class::Board if has_other_rows => return Verdict::Broken(Breach::SameRows),
        Class::Index | Class::Board => Breach::NoRows,
        Class::Page | Class::Login | Class::Sitemap => Breach::NoLink,
    };
    let is_kept = match finished.job.class {
        Class::Detail | Class::Thread | Class::Download => !end.may_hold_more,
        Class::Index | Class::Board => end.shows.targets > 0 || !visit.magnets.is_empty(),
        Class::Page | Class::Login | Class::Sitemap => end.shows.links > 0,
    };
    match is_kept {
        true => Verdict::Kept,
        false if visit.not_whole.is_some() => Verdict::None,
        false => Verdict::Broken(breach),
    }
}

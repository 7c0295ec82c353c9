//! The data that the crawl hands from hand to hand: a job, what its page gave, how its visit ended, what the disk made of it.
//!
//! Plain values. Nothing here asks, judges or keeps.

use std::collections::HashSet;

use bytes::Bytes;

use crate::freshness::gone::Gone;
use crate::frontier::budgets::LinkTally;
use crate::frontier::crews::Crew;
use crate::hosts::Ending;
use crate::schedule::Post;
use crate::version::Print;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_net::politeness::Answered;
use gleaner_rules::Class;
use gleaner_store::crawldb::update::UpdateRow;
use gleaner_store::crawldb::{Discovered, Lease, Listing, MagnetFacts, Outcome, Receipt, Visit};

/// A URL that the rules take.
#[derive(Clone, Debug)]
pub struct Found {
    pub url: CrawlUrl,
    pub class: Class,
    /// The place of the rule that takes it, among the site's.
    pub rule: usize,
    /// Bytes of the page number within the path, where the rule's regex captures one.
    pub page_capture: Option<(usize, usize)>,
}

/// A leased URL that the rules still take.
#[derive(Clone, Debug)]
pub struct Job {
    pub lease: Lease,
    pub url: CrawlUrl,
    pub class: Class,
    /// The place of the rule that takes it, among the site's.
    pub rule: usize,
    pub crew: Crew,
}

/// What a page gave.
pub struct PageFindings {
    pub found: Vec<Found>,
    pub magnets: Vec<MagnetFacts>,
    pub listing: Option<Listing>,
    /// A hash of what a list's rows say, whatever their links are called; None where that does not tell them apart.
    pub said: Option<u64>,
    /// Hash of the body and of the URLs found in it: equal ones are one page under two URLs.
    pub fingerprint: u64,
    /// Links to the site's own hosts that no class takes: path and query.
    pub unclassed: Vec<Box<str>>,
    /// Where the site's account is due: a sign that this is a guest's page.
    pub denied: Option<String>,
    /// The page had more links than `limits` allow; the rest was left.
    pub truncated: bool,
    /// The page asks robots not to follow its links, and the site's rules obey: none was taken.
    pub nofollow: bool,
}

impl PageFindings {
    /// Adds what another reading of the page has found and this one has not.
    pub fn add(&mut self, other: &Self) {
        let known: HashSet<String> = self.found.iter().map(|found| found.url.as_str().to_owned()).collect();
        self.found.extend(other.found.iter().filter(|found| !known.contains(found.url.as_str())).cloned());
        let named: HashSet<_> = self.magnets.iter().map(|magnet| magnet.infohashes).collect();
        self.magnets.extend(other.magnets.iter().filter(|magnet| !named.contains(&magnet.infohashes)).cloned());
    }
}

/// A page of a list that was read.
#[derive(Debug)]
pub struct Turn {
    pub series: Box<str>,
    /// When it was read last; None at its first reading.
    pub last_read: Option<UnixMillis>,
    /// It has other rows than when it was read last, or nothing by which that could be told.
    pub has_changed: bool,
    /// It is the first of its list, which was read before by another name: with a number, or without.
    pub is_front_again: bool,
    /// The page that comes next, as far as this one's links tell.
    pub behind: Option<Behind>,
}

/// The page behind another one.
#[derive(Debug)]
pub struct Behind {
    pub row: Discovered,
    pub page: u64,
    /// When it was read last, as far as the database knows.
    pub last_read: Option<UnixMillis>,
}

/// What a look showed.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// URLs to be asked for now although they are known.
    pub due: Vec<Discovered>,
    /// The page of the list that comes next, where nobody has read it and an increment is to.
    pub unread: Option<Discovered>,
    /// What was new, for the schedule.
    pub posts: Vec<Post>,
    /// Where its rows lead, by the hashes of their URLs.
    pub rows: HashSet<u64>,
    /// At which list, by the URL of its first page; none where no list was looked at.
    pub list: Option<String>,
    /// The page was that first page.
    pub is_front: bool,
    /// It is a page behind a first one, though its address alone does not tell.
    pub is_behind: bool,
    /// The look at this list before.
    pub last: Option<UnixMillis>,
}

/// How a request of a page's scripts, or the page's own, has left its host.
#[derive(Debug)]
pub struct Tiding {
    /// Name of the host.
    pub host: Box<str>,
    pub answered: Answered,
    pub ending: Ending,
}

/// A visit with what the crawl needs beside it.
#[derive(Debug)]
pub struct Finished {
    pub job: JobKind,
    pub visit: Visit,
    pub timing: Timing,
    pub host: HostReport,
    /// What a log line says beyond the outcome's name.
    pub detail: Option<String>,
    pub end: End,
}

/// What was visited.
#[derive(Clone, Copy, Debug)]
pub struct JobKind {
    pub class: Class,
    /// The place of the rule that took the URL, among the site's.
    pub rule: usize,
    pub crew: Crew,
    /// True for what is rechecked at the site's interval, whatever came of it: start pages, sitemaps, and the first page of every list.
    pub is_watched: bool,
}

/// When a visit was under way.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// When its request began; `visit.at` is when it ended.
    pub began: UnixMillis,
}

/// What the hosts of a visit showed.
#[derive(Debug)]
pub struct HostReport {
    /// For the politeness of the visit's own host.
    pub answered: Answered,
    /// The session that it was sent with, by its number.
    pub session: u64,
    /// Requests that the page's scripts made, and what hosts had to say of them.
    pub errands: u64,
    pub tidings: Vec<Tiding>,
}

/// What a visit brought.
#[derive(Debug, Default)]
pub struct End {
    /// The torrent's file as it goes into the archive.
    pub torrent: Option<Bytes>,
    /// First links of a page, for the budget of its shape.
    pub links: LinkTally,
    /// Where the site's account is due: a sign that this was an answer to a guest.
    pub denied: Option<String>,
    /// True for a page on which other rules may find what these did not: a list, or a page of a torrent without one.
    pub may_hold_more: bool,
    /// The page's scripts were run.
    pub is_rendered: bool,
    /// Of the page's links, those that the increment crew follows; the others are `visit.outlinks`.
    pub news: Vec<UpdateRow>,
    /// What the page said, for its next recheck.
    pub print: Option<Print>,
    /// What a look at a list showed.
    pub seen: Seen,
    /// Since when the site has it no more, of a torrent's URL that ended so.
    pub gone: Option<Gone>,
    /// The place in its list of a page that was read.
    pub turn: Option<Turn>,
}

impl Finished {
    /// Memory that the visit holds until it is committed, in bytes.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        let link =
            |link: &Discovered| link.key.path.len() + link.via.as_deref().map_or(0, str::len) + size_of_val(link);
        let of_news = |row: &UpdateRow| row.key.path.len() + row.via.as_deref().map_or(0, str::len) + size_of_val(row);
        let links =
            self.visit.outlinks.iter().map(link).sum::<usize>() + self.end.news.iter().map(of_news).sum::<usize>();
        self.end.torrent.as_ref().map_or(0, Bytes::len) + links
    }
}

/// A visit that is on the disk.
#[derive(Clone, Copy, Debug)]
pub struct Committed {
    /// Of the message that it answers.
    pub mark: u64,
    pub outcome: Outcome,
    pub receipt: Receipt,
    pub body_bytes: u64,
    /// True when the URL is queued again, for a retry or a revisit.
    pub queued_again: bool,
    /// True when the increment has links of it to follow.
    pub brought_news: bool,
}

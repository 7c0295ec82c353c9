//! The data passed between the stages of a crawl: a job, what its page contained, how its visit ended, what was committed.
//!
//! Plain values. Nothing here sends requests, makes decisions or stores anything.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::freshness::gone::Gone;
use crate::frontier::budgets::LinkTally;
use crate::frontier::crews::Crew;
use crate::frontier::offsite::OffsiteLink;
use crate::hosts::Ending;
use crate::refused::OfPage;
use crate::schedule::Post;
use crate::version::Print;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_net::politeness::Answered;
use gleaner_page::stated::Stated;
use gleaner_rules::{ActSign, Class};
use gleaner_store::crawldb::update::UpdateRow;
use gleaner_store::crawldb::{Discovered, Lease, Listing, MagnetFacts, Outcome, Receipt, Visit};

/// A URL that the rules accept.
#[derive(Clone, Debug)]
pub struct Found {
    pub url: CrawlUrl,
    pub class: Class,
    /// Index of the rule that accepts it, among the site's rules.
    pub rule: usize,
    /// Bytes of the page number within the path, where the rule's regex captures one.
    pub page_capture: Option<(usize, usize)>,
    /// Of a detail: the torrent that its list links beside it.
    pub beside: Option<Box<str>>,
}

/// A leased URL that the rules still accept.
#[derive(Clone, Debug)]
pub struct Job {
    pub lease: Lease,
    pub url: CrawlUrl,
    pub class: Class,
    /// Index of the rule that accepts it, among the site's rules.
    pub rule: usize,
    pub crew: Crew,
    /// Its answer is at hand: see [`crate::read_before`].
    pub was_read: bool,
    /// No page led to it: its number lies between known ones ([`crate::guesses`]).
    pub is_guess: bool,
}

/// A link to a later page of a list, which a rule of `deny` closes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosedPager {
    /// From 2.
    pub page: u64,
    /// Index in [`gleaner_rules::SiteRules::rules`].
    pub rule: usize,
    pub path: Box<str>,
}

/// What a page says that is behind a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageLabel {
    pub url: CrawlUrl,
    /// The site's own word.
    pub text: Box<str>,
    /// The page says it of itself.
    pub is_own: bool,
}

/// What was found on a page.
pub struct PageFindings {
    pub found: Vec<Found>,
    pub labels: Vec<PageLabel>,
    pub magnets: Vec<MagnetFacts>,
    pub listing: Option<Listing>,
    /// What the first page of a list says of the list's size.
    pub stated: Option<Stated>,
    /// A hash of the content of a list's rows, independent of their links; None where the content does not distinguish the rows.
    pub said: Option<u64>,
    /// Hash of the body and of the URLs found in it: equal ones are one page under two URLs.
    pub fingerprint: u64,
    /// Links to the site's own hosts that match no class: path and query.
    pub unclassed: Vec<Box<str>>,
    /// Links to hosts that are not the site's; None for a feed or sitemap, and for a page that asks not to follow its links.
    pub offsite: Option<Vec<OffsiteLink>>,
    /// On a site with an account: links that would act in its name, as path and query, and the signs of it. They are not in `found`.
    pub acting: Vec<(Box<str>, ActSign)>,
    /// Links that the rules refuse, a sample.
    pub refused: OfPage,
    /// What closes the later pages of this list, if all links to them are denied.
    pub closed_pager: Option<ClosedPager>,
    /// On a site with an account: a sign that this page was served to a guest.
    pub denied: Option<String>,
    /// The page had more links than `limits` allow; the rest was dropped.
    pub truncated: bool,
    /// The page asks robots not to follow its links, and the site's rules obey: no link was taken.
    pub nofollow: bool,
}

impl PageFindings {
    /// Adds what another reading of the page has found and this one has not.
    pub fn add(&mut self, other: &Self) {
        let known: HashSet<String> = self.found.iter().map(|found| found.url.as_str().to_owned()).collect();
        self.found.extend(other.found.iter().filter(|found| !known.contains(found.url.as_str())).cloned());
        let labelled: HashSet<String> = self.labels.iter().map(|label| label.url.as_str().to_owned()).collect();
        self.labels.extend(other.labels.iter().filter(|label| !labelled.contains(label.url.as_str())).cloned());
        let named: HashSet<_> = self.magnets.iter().map(|magnet| magnet.infohashes).collect();
        self.magnets.extend(other.magnets.iter().filter(|magnet| !named.contains(&magnet.infohashes)).cloned());
    }
}

/// A page of a list, after it was read.
#[derive(Debug)]
pub struct Turn {
    pub series: Box<str>,
    /// When it was last read; None at its first reading.
    pub last_read: Option<UnixMillis>,
    /// Its rows differ from those of the last reading, or there is nothing to compare them by.
    pub has_changed: bool,
    /// It is the first page of its list, which was read before under another URL: with a page number, or without.
    pub is_front_again: bool,
    /// The next page of the list, if this page links to it.
    pub behind: Option<Behind>,
}

/// The page that follows another one in a list.
#[derive(Debug)]
pub struct Behind {
    pub row: Discovered,
    pub page: u64,
    /// When it was last read, if the database knows.
    pub last_read: Option<UnixMillis>,
}

/// Result of a recheck.
#[derive(Clone, Debug, Default)]
pub struct RecheckResult {
    /// URLs to be requested now although they are known.
    pub due: Vec<Discovered>,
    /// The next page of the list, if it is unread and the increment is to read it.
    pub unread: Option<Discovered>,
    /// New entries, for the schedule.
    pub posts: Vec<Post>,
    /// Targets of its rows, as hashes of their URLs.
    pub rows: HashSet<u64>,
    /// URL of the first page of the list; None if no list was rechecked.
    pub list: Option<String>,
    /// The page was that first page.
    pub is_front: bool,
    /// It is a later page of a list, though its URL alone does not show it.
    pub is_behind: bool,
    /// The previous recheck of this list.
    pub last: Option<UnixMillis>,
}

/// How a host answered a request of a page's scripts, or the request for the page itself.
#[derive(Debug)]
pub struct Tiding {
    /// Name of the host.
    pub host: Box<str>,
    pub answered: Answered,
    pub ending: Ending,
}

/// A visit and what the crawl needs in addition.
#[derive(Debug)]
pub struct Finished {
    pub job: JobKind,
    pub visit: Visit,
    pub timing: Timing,
    pub host: HostReport,
    /// What a log line contains in addition to the outcome's name.
    pub detail: Option<String>,
    pub end: End,
}

/// What was visited.
#[derive(Clone, Copy, Debug)]
pub struct JobKind {
    pub class: Class,
    /// Index of the rule that accepted the URL, among the site's rules.
    pub rule: usize,
    pub crew: Crew,
    /// True for what is rechecked at the site's interval, whatever its outcome: start pages, sitemaps, and the first page of every list.
    pub is_watched: bool,
    /// [`Job::is_guess`].
    pub is_guess: bool,
}

/// Times of a visit.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// When its request began; `visit.at` is when it ended.
    pub began: UnixMillis,
    /// From its request to the end of its response, redirects and scripts apart; None if none was sent.
    pub fetch: Option<Duration>,
}

/// What a visit shows about its hosts.
#[derive(Debug)]
pub struct HostReport {
    /// Answer class of the visit's own host, for politeness.
    pub answered: Answered,
    /// Number of the session that it was sent with.
    pub session: u64,
    /// No request was sent: the answer was at hand.
    pub was_read: bool,
    /// Requests that the page's scripts made, and how their hosts answered.
    pub errands: u64,
    pub tidings: Vec<Tiding>,
}

/// What a page shows of what its rule is for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shows {
    /// Links that a list lists: to torrents, their pages, threads.
    pub targets: usize,
    /// Links to other URLs that the rules accept.
    pub links: usize,
    /// The class of what it redirects to.
    pub leads_to: Option<Class>,
}

/// A list page that shows too little, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoorPage {
    pub at: UnixMillis,
    /// Its URL, keys masked.
    pub url: Box<str>,
    /// At most [`crate::limits::WATCHED_PAGE_BYTES_MAX`] bytes of it.
    pub text: Box<str>,
}

/// Results of a visit.
#[derive(Debug, Default)]
pub struct End {
    pub shows: Shows,
    /// The torrent's file as it goes into the archive.
    pub torrent: Option<Bytes>,
    /// First links of a page, for the budget of its shape.
    pub links: LinkTally,
    /// On a site with an account: a sign that this response was served to a guest.
    pub denied: Option<String>,
    /// True for a page on which other rules may find more: a list, or a torrent's page without a torrent.
    pub may_hold_more: bool,
    /// Of a guess: the torrents that it links or names.
    pub offers: Vec<String>,
    /// In place of a torrent: a page or a redirect that names another way to one.
    pub leads_on: bool,
    /// The page's scripts were run.
    pub is_rendered: bool,
    /// Of a detail with its torrent beside it in a list, if it was read whole: whether it shows anything that was not known.
    pub shows_more: Option<bool>,
    /// Of the page's links, those that the increment crew follows; the others are `visit.outlinks`.
    pub news: Vec<UpdateRow>,
    /// Fingerprint of the page, for its next recheck.
    pub print: Option<Print>,
    /// Result of rechecking a list.
    pub seen: RecheckResult,
    /// For a torrent's URL that ended as gone: since when the site no longer has it.
    pub gone: Option<Gone>,
    /// The position in its list of a page that was read.
    pub turn: Option<Turn>,
    /// What a list's page says of the list's size.
    pub stated: Option<Stated>,
    /// Of the first page of a list that shows too little: the page.
    pub poor_page: Option<Arc<PoorPage>>,
    /// Links that the rules refuse, a sample.
    pub refused: OfPage,
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

/// A visit that has been committed to disk.
#[derive(Clone, Copy, Debug)]
pub struct Committed {
    /// Mark of the message that it answers.
    pub mark: u64,
    pub outcome: Outcome,
    pub receipt: Receipt,
    pub body_bytes: u64,
    /// True when the URL is queued again, for a retry or a revisit.
    pub queued_again: bool,
    /// True when the increment has links of it to follow.
    pub brought_news: bool,
}

//! What became of the links that a site's lists show: which were visited, and which torrents they brought. Pure.
//!
//! A torrent is listed if a listed link returned it, if the page behind a listed link links to it or names its magnet, or if a list
//! does so itself. What is neither was found outside the lists. A link to a torrent keeps the page that showed it first.
//!
//! The class of a URL is its rank's: see [`kind`]. Memory: 9 bytes per listed link, 13 if links have labels, 8 for each list, for each link to a torrent
//! that has not been answered yet, and for each page of a torrent that no list shows.

use std::collections::{BTreeMap, HashSet};

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::growth::Growth;
use crate::crawldb::{HostId, ListingRow, MagnetRow, Outcome, TorrentRow, UrlLook};
use crate::limits::COVERAGE_LINKS_SORTED_MIN;
use gleaner_page::pagination;

/// What a URL is expected to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A torrent.
    Download,
    /// A page of a list.
    List,
    /// A page that describes a torrent, or a thread.
    Detail,
    /// Anything else, or not known: a start page, or a URL that was requested before all others.
    Other,
}

/// The kind of a URL by its rank: the crawl gives each class sixteen ranks, and far pages of lists the last ones.
#[must_use]
pub fn kind(rank: u8) -> Kind {
    match (rank, rank >> 4) {
        (1.., 0) => Kind::Download,
        (_, 1 | 5) => Kind::List,
        (_, 2) => Kind::Detail,
        _ => Kind::Other,
    }
}

/// What a visit says of what a URL holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// It was read, or holds nothing.
    Settled,
    /// It leads elsewhere.
    Leads,
    /// It was refused before a request.
    Closed,
    /// Not visited, or without an answer that says what it holds.
    Open,
}

fn answer(outcome: Option<Outcome>) -> Answer {
    match outcome {
        Some(Outcome::Redirected) => Answer::Leads,
        Some(
            Outcome::TorrentStored
            | Outcome::TorrentDuplicate
            | Outcome::Page
            | Outcome::PageDuplicate
            | Outcome::NotModified
            | Outcome::LeftOut
            | Outcome::NotForUs
            | Outcome::HtmlPosingAsTorrent
            | Outcome::MalformedTorrent
            | Outcome::Gone
            | Outcome::RedirectLoop
            | Outcome::BadRedirect
            | Outcome::RedirectRefused,
        ) => Answer::Settled,
        // The next crawl asks for it.
        Some(Outcome::Walled) => Answer::Open,
        Some(outcome) if !outcome.was_fetched() => Answer::Closed,
        _ => Answer::Open,
    }
}

/// True for an outcome of a list page that was read.
fn is_read(outcome: Option<Outcome>) -> bool {
    matches!(outcome, Some(Outcome::Page | Outcome::PageDuplicate | Outcome::NotModified))
}

/// The counts of [`Listed`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// Distinct links that the lists read show.
    pub targets: u64,
    /// Those that were visited with an answer, or brought a torrent.
    pub visited: u64,
    /// Of the visited, those that redirect.
    pub redirected: u64,
    /// Distinct torrents that the listed links brought.
    pub by_targets: u64,
    /// Other torrents that lists link to themselves.
    pub by_lists: u64,
    /// Torrents that other pages of torrents brought, on a site whose listed links redirect: they may be the targets.
    pub by_other_details: u64,
    /// Such pages that wait or failed.
    pub other_details_open: u64,
    /// Torrents that have a source on this site and none of the above.
    pub outside: u64,
    /// Links to torrents, themselves not listed, that were answered, and those that were not.
    pub downloads: u64,
    pub downloads_open: u64,
    /// Links to torrents that robots.txt or the rules refuse, or whose shape yields nothing: nobody knows which of them lead to a torrent
    /// that came from elsewhere.
    pub downloads_closed: u64,
    /// Listed torrents that are known by a magnet only.
    pub magnets: u64,
    /// List pages that wait for their request.
    pub lists_waiting: u64,
    /// List pages that were given up without having been read.
    pub lists_failed: u64,
    /// List pages that robots.txt, the rules or a budget refuse.
    pub lists_closed: u64,
    /// List pages that are none: gone, or elsewhere.
    pub lists_gone: u64,
}

impl Links {
    /// Redirecting listed links whose torrent is here.
    fn behind_redirects(&self) -> u64 {
        self.redirected.min(self.by_other_details)
    }

    /// Distinct listed torrents in the archive that came from listed links.
    #[must_use]
    pub fn from_targets(&self) -> u64 {
        self.by_targets + self.behind_redirects()
    }

    /// Distinct listed torrents in the archive.
    #[must_use]
    pub fn stored(&self) -> u64 {
        self.from_targets() + self.by_lists
    }

    /// Distinct torrents in the archive that no list shows.
    #[must_use]
    pub fn outside_lists(&self) -> u64 {
        self.outside + self.by_other_details - self.behind_redirects()
    }

    /// Listed links that were visited: a redirect is, once its target is.
    #[must_use]
    pub fn answered(&self) -> u64 {
        let open = (self.redirected - self.behind_redirects()).min(self.other_details_open);
        self.visited.saturating_sub(open)
    }
}

/// Listed links of one label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabelLinks {
    pub listed: u64,
    /// Those with an answer.
    pub visited: u64,
    /// Those that brought a torrent.
    pub had: u64,
}

/// A set of hashes, with a mark for each.
#[derive(Debug, Default)]
struct Marked {
    hashes: Vec<u64>,
    marks: Vec<u8>,
    /// The length after which it is sorted again.
    sort_at: usize,
}

impl Marked {
    fn add(&mut self, hashes: &[u64]) {
        self.hashes.extend_from_slice(hashes);
        if self.hashes.len() > self.sort_at.max(COVERAGE_LINKS_SORTED_MIN) {
            self.sort();
            self.sort_at = self.hashes.len().saturating_mul(2);
        }
    }

    fn sort(&mut self) {
        self.hashes.sort_unstable();
        self.hashes.dedup();
    }

    /// Call it after the last `add`.
    fn close(&mut self) {
        self.sort();
        self.hashes.shrink_to_fit();
        self.marks = vec![0; self.hashes.len()];
    }

    fn place(&self, hash: u64) -> Option<usize> {
        self.hashes.binary_search(&hash).ok()
    }

    fn mark(&mut self, hash: u64) -> Option<&mut u8> {
        let place = self.place(hash)?;
        self.marks.get_mut(place)
    }

    fn contains(&self, hash: u64) -> bool {
        self.hashes.binary_search(&hash).is_ok()
    }

    fn count(&self, of: u8) -> u64 {
        self.marks.iter().filter(|mark| *mark & of == of).count() as u64
    }
}

/// It was visited and answered.
const VISITED: u8 = 1;
/// It redirects.
const LEADS: u8 = 2;
/// It brought a torrent.
const BROUGHT: u8 = 4;

/// Collects the links of one site: first all listings, then all URLs, then all torrents and magnets.
#[derive(Debug, Default)]
pub struct Listed {
    targets: Marked,
    /// Hashes of the series of lists that were read.
    series: HashSet<u64>,
    lists: Marked,
    /// Links to torrents without an answer.
    downloads_open: Marked,
    other_details: Marked,
    /// The labels of `targets`, 0 for none; empty while none has one.
    labels: Vec<u32>,
    links: Links,
    growth: Growth,
}

impl Listed {
    /// Adds a listing.
    pub fn list(&mut self, row: &ListingRow) {
        self.targets.add(&row.listing.targets);
        self.targets.add(&row.earlier);
        self.series.insert(series_hash(row.host, &row.listing.series));
    }

    /// Ends the listings; returns the number of distinct links.
    pub fn listed(&mut self) -> usize {
        self.targets.close();
        self.links.targets = self.targets.hashes.len() as u64;
        self.targets.hashes.len()
    }

    /// Adds a URL of the site.
    pub fn url(&mut self, url: &UrlLook) {
        let answer = answer(url.outcome);
        if let Some((label, place)) = url.label.zip(self.targets.place(url.hash)) {
            self.labels.resize(self.targets.hashes.len(), 0);
            self.labels[place] = label;
        }
        if let Some(mark) = self.targets.mark(url.hash) {
            *mark |= match answer {
                Answer::Settled => VISITED,
                Answer::Leads => VISITED | LEADS,
                Answer::Closed | Answer::Open => 0,
            };
            return;
        }
        match kind(url.rank) {
            Kind::List => self.list_page(url, answer),
            Kind::Download => self.download(url, answer),
            Kind::Detail => {
                self.other_details.add(&[url.hash]);
                self.links.other_details_open += u64::from(answer == Answer::Open);
            }
            // A start page that was not read may be a list.
            Kind::Other
                if url.rank == 0
                    && (self.is_list(url) || url.depth == 0 && matches!(answer, Answer::Closed | Answer::Open)) =>
            {
                self.list_page(url, answer);
            }
            Kind::Other => {}
        }
    }

    fn download(&mut self, url: &UrlLook, answer: Answer) {
        match answer {
            Answer::Settled => self.links.downloads += 1,
            Answer::Leads => {}
            // A larger budget would fetch it.
            Answer::Closed if url.outcome != Some(Outcome::OverBudget) => self.links.downloads_closed += 1,
            Answer::Closed | Answer::Open => self.downloads_open.add(&[url.hash]),
        }
    }

    fn list_page(&mut self, url: &UrlLook, answer: Answer) {
        self.lists.add(&[url.hash]);
        let links = &mut self.links;
        let count = match answer {
            _ if is_read(url.outcome) => return,
            Answer::Settled | Answer::Leads => &mut links.lists_gone,
            Answer::Closed => &mut links.lists_closed,
            Answer::Open if url.is_queued => &mut links.lists_waiting,
            Answer::Open => &mut links.lists_failed,
        };
        *count += 1;
    }

    /// True for a URL of a list that was read.
    fn is_list(&self, url: &UrlLook) -> bool {
        let Some((host, path)) = &url.path else { return false };
        let series = pagination::of(path, None).map(|page| page.series);
        let first = pagination::series_of_first(path);
        let is_known = |series: &str| self.series.contains(&series_hash(*host, series));
        is_known(&first) || series.is_some_and(|series| is_known(&series))
    }

    /// Ends the URLs.
    pub fn visited(&mut self) {
        self.lists.close();
        self.downloads_open.close();
        self.links.redirected = self.targets.count(LEADS);
        if self.links.redirected == 0 {
            self.other_details = Marked::default();
            self.links.other_details_open = 0;
        }
        self.other_details.close();
    }

    /// Adds a torrent that has a source on this site.
    pub fn torrent(&mut self, site: &str, row: &TorrentRow) {
        let own = || row.sources.iter().filter(|source| &*source.site == site);
        let Some(came) = own().map(|source| source.first_seen).min() else { return };
        let (mut by_target, mut by_list, mut by_other) = (false, false, false);
        for source in own() {
            for url in [Some(&source.url), source.via.as_ref()].into_iter().flatten() {
                let hash = xxh3_64(url.as_bytes());
                if let Some(mark) = self.downloads_open.mark(hash) {
                    *mark |= BROUGHT;
                }
                if let Some(target) = self.target_of(url, hash) {
                    if let Some(mark) = self.targets.mark(target) {
                        *mark |= BROUGHT;
                    }
                    by_target = true;
                }
                by_list |= self.lists.contains(hash);
                by_other |= self.other_details.contains(hash);
            }
        }
        let links = &mut self.links;
        let count = match () {
            () if by_target => &mut links.by_targets,
            () if by_list => &mut links.by_lists,
            () if by_other => &mut links.by_other_details,
            () => &mut links.outside,
        };
        *count += 1;
        self.growth.add(came, by_target || by_list || by_other && links.redirected > 0);
    }

    /// Adds a magnet of this site.
    pub fn magnet(&mut self, row: &MagnetRow) {
        if row.stored {
            return;
        }
        let page = xxh3_64(row.page.as_bytes());
        self.links.magnets += u64::from(self.target_of(&row.page, page).is_some() || self.lists.contains(page));
    }

    /// The listed link that a URL is, or whose later page it is: lists link to the first page of a thread.
    fn target_of(&self, url: &str, hash: u64) -> Option<u64> {
        if self.targets.contains(hash) {
            return Some(hash);
        }
        first_pages(url).map(|first| xxh3_64(first.as_bytes())).find(|first| self.targets.contains(*first))
    }

    /// The listed links by the number of their label, None for those without; nothing if no link has one.
    #[must_use]
    pub fn labels(&self) -> Vec<(Option<u32>, LabelLinks)> {
        let mut of_labels: BTreeMap<u32, LabelLinks> = BTreeMap::new();
        for (label, mark) in self.labels.iter().zip(&self.targets.marks) {
            let links = of_labels.entry(*label).or_default();
            links.listed += 1;
            links.visited += u64::from(mark & (VISITED | BROUGHT) != 0);
            links.had += u64::from(mark & BROUGHT != 0);
        }
        of_labels.into_iter().map(|(label, links)| ((label > 0).then_some(label), links)).collect()
    }

    /// The counts, and when the torrents came.
    #[must_use]
    pub fn finish(self) -> (Links, Growth) {
        let mut links = self.links;
        links.visited = self.targets.marks.iter().filter(|mark| **mark & (VISITED | BROUGHT) != 0).count() as u64;
        // A link that was answered once and fails now was answered.
        let brought = self.downloads_open.count(BROUGHT);
        links.downloads += brought;
        links.downloads_open = (self.downloads_open.hashes.len() as u64).saturating_sub(brought);
        (links, self.growth)
    }
}

/// The likely URLs of the first page, if a URL is a later page of something.
fn first_pages(url: &str) -> impl Iterator<Item = String> {
    let path_at = url.find("://").and_then(|at| url[at + 3..].find('/').map(|slash| at + 3 + slash));
    let (origin, path) = url.split_at(path_at.unwrap_or(url.len()));
    let series = pagination::of(path, None).map(|page| page.series).unwrap_or_default();
    let forms = match series.as_str() {
        "" => [None, None],
        series if series.contains("{page}") => {
            [Some(series.replace("{page}", "1")), Some(series.replace("{page}", "0"))]
        }
        series => [Some(series.to_owned()), Some(format!("{series}/"))],
    };
    forms.into_iter().flatten().map(move |path| format!("{origin}{path}"))
}

fn series_hash(host: HostId, series: &str) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(&host.0.to_be_bytes());
    hasher.update(series.as_bytes());
    hasher.digest()
}

#[cfg(test)]
mod tests;

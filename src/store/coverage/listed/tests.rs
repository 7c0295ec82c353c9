//! Unit tests of `coverage::listed`.

use super::*;
use crate::crawldb::{Listing, MagnetFacts, Source, TorrentFacts};
use gleaner_base::clock::UnixMillis;
use gleaner_torrent::Infohashes;

const SITE: &str = "s";
const LIST: u8 = 1 << 4;
const DETAIL: u8 = 2 << 4;
const DOWNLOAD: u8 = 1;

fn url_of(path: &str) -> String {
    format!("https://s.example{path}")
}

fn hash(path: &str) -> u64 {
    xxh3_64(url_of(path).as_bytes())
}

fn infohashes(number: u8) -> Infohashes {
    Infohashes { v1: Some([number; 20]), v2: None }
}

/// A site as its crawl left it.
#[derive(Default)]
struct Site {
    urls: Vec<UrlLook>,
    torrents: Vec<TorrentRow>,
    magnets: Vec<MagnetRow>,
    listed: Vec<String>,
}

impl Site {
    /// A site with a list of these paths.
    fn listing(paths: &[&str]) -> Self {
        let site = Self { listed: paths.iter().map(ToString::to_string).collect(), ..Self::default() };
        site.url("/list", LIST, Some(Outcome::Page))
    }

    fn look(mut self, path: &str, look: UrlLook) -> Self {
        let is_first = look.rank == 0;
        self.urls.push(UrlLook {
            hash: hash(path),
            path: is_first.then(|| (HostId(0), path.into())),
            is_queued: look.is_queued || look.outcome.is_none(),
            ..look
        });
        self
    }

    fn url(self, path: &str, rank: u8, outcome: Option<Outcome>) -> Self {
        self.look(path, UrlLook { hash: 0, rank, depth: 1, outcome, is_queued: false, path: None, label: None })
    }

    /// A torrent that a URL returned.
    fn brings(mut self, path: &str, via: &str, number: u8) -> Self {
        let source = Source {
            label: None,
            site: SITE.into(),
            url: url_of(path).into(),
            via: (!via.is_empty()).then(|| url_of(via).into()),
            first_seen: UnixMillis(0),
            last_seen: UnixMillis(0),
        };
        match self.torrents.iter_mut().find(|row| row.facts.infohashes == infohashes(number)) {
            Some(row) => row.sources.push(source),
            None => self.torrents.push(TorrentRow {
                facts: TorrentFacts {
                    infohashes: infohashes(number),
                    name: "".into(),
                    payload_bytes: 0,
                    file_count: 1,
                    metainfo_bytes: 1,
                    sha256: [0; 32],
                    created_unix: None,
                    private: false,
                },
                site: SITE.into(),
                stored: UnixMillis(0),
                seen_count: 1,
                sources: vec![source],
            }),
        }
        self
    }

    fn download(self, path: &str, via: &str, number: u8) -> Self {
        self.url(path, DOWNLOAD, Some(Outcome::TorrentStored)).brings(path, via, number)
    }

    fn named(mut self, page: &str, number: u8, stored: bool) -> Self {
        let facts = MagnetFacts { infohashes: infohashes(number), name: None, link: "magnet:".into() };
        self.magnets.push(MagnetRow {
            facts,
            site: SITE.into(),
            page: url_of(page).into(),
            first_seen: UnixMillis(0),
            label: None,
            stored,
        });
        self
    }

    fn links(self) -> Links {
        let mut listed = Listed::default();
        let mut targets: Vec<u64> = self.listed.iter().map(|path| hash(path)).collect();
        targets.sort_unstable();
        let listing = Listing { series: "/list".into(), page: 0, page_max: 0, targets };
        listed.list(&ListingRow { host: HostId(0), listing, at: UnixMillis(0), updated: 0, earlier: Vec::new() });
        listed.listed();
        self.urls.iter().for_each(|url| listed.url(url));
        listed.visited();
        self.torrents.iter().for_each(|row| listed.torrent(SITE, row));
        self.magnets.iter().for_each(|row| listed.magnet(row));
        listed.finish().0
    }
}

const READ: Option<Outcome> = Some(Outcome::Page);

#[test]
fn a_thread_may_bring_none_or_three_and_two_threads_the_same() {
    let links = Site::listing(&["/t/1", "/t/2", "/t/3", "/t/4", "/t/5"])
        .url("/t/1", DETAIL, READ)
        .url("/t/2", DETAIL, READ)
        .url("/t/3", DETAIL, READ)
        .url("/t/4", DETAIL, Some(Outcome::Gone))
        .download("/dl/1", "/t/1", 1)
        .download("/dl/2", "/t/1", 2)
        .download("/dl/3", "/t/1", 3)
        .brings("/mirror/3", "/t/2", 3)
        .links();
    assert_eq!((links.targets, links.answered(), links.stored(), links.outside_lists()), (5, 4, 3, 0));
    assert_eq!((links.downloads, links.downloads_open), (3, 0));
}

#[test]
fn lists_of_downloads_and_lists_that_show_pages_and_downloads_are_told_apart() {
    let links = Site::listing(&["/dl/1", "/dl/2"]).download("/dl/1", "/list", 1).links();
    assert_eq!((links.from_targets(), links.by_lists, links.answered(), links.downloads_open), (1, 0, 1, 0));
    let links = Site::listing(&["/t/1", "/t/2"])
        .url("/t/1", DETAIL, READ)
        .download("/dl/1", "/list", 1)
        .url("/dl/2", DOWNLOAD, None)
        .links();
    assert_eq!((links.from_targets(), links.by_lists, links.answered(), links.downloads_open), (0, 1, 1, 1));
}

#[test]
fn a_later_page_of_a_listed_thread_is_the_thread() {
    for (thread, later) in [
        ("/threads/a.1/", "/threads/a.1/page-2"),
        ("/viewtopic.php?t=1", "/viewtopic.php?t=1&start=15"),
        ("/thread-1-1-1.html", "/thread-1-2-1.html"),
    ] {
        let site = Site::listing(&[thread]).url(thread, DETAIL, READ).url(later, DETAIL, READ);
        let links = site.download("/dl/1", later, 1).named(later, 2, false).links();
        assert_eq!((links.stored(), links.outside_lists(), links.magnets), (1, 0, 1), "{later}");
    }
    assert_eq!(first_pages("nonsense").count() + first_pages("https://é/").count(), 0);
}

#[test]
fn what_no_list_shows_is_counted_apart() {
    let links = Site::listing(&["/t/1"])
        .url("/t/1", DETAIL, READ)
        .download("/dl/1", "/t/1", 1)
        .download("/dl/2", "/user/7", 2)
        .url("/t/9", DETAIL, READ)
        .download("/dl/9", "/t/9", 9)
        .links();
    assert_eq!((links.stored(), links.outside_lists()), (1, 2));
}

#[test]
fn a_listed_link_that_redirects_is_visited_once_its_target_is() {
    let listed = Site::listing(&["/t/1", "/t/2"]).url("/t/1", DETAIL, Some(Outcome::Redirected)).url(
        "/t/2",
        DETAIL,
        Some(Outcome::Redirected),
    );
    let one = listed.url("/t/1-title", DETAIL, READ).download("/dl/1", "/t/1-title", 1).url("/t/2-title", DETAIL, None);
    let links = one.links();
    assert_eq!((links.stored(), links.outside_lists(), links.answered()), (1, 0, 1));
}

#[test]
fn a_link_without_an_answer_is_open_unless_it_had_one_before() {
    for outcome in [Outcome::Denied, Outcome::TimedOut, Outcome::OverBudget, Outcome::TooLarge, Outcome::LoggedOut] {
        let links = Site::listing(&["/t/1", "/t/2"])
            .url("/t/1", DETAIL, READ)
            .url("/t/2", DETAIL, Some(outcome))
            .url("/dl/1", DOWNLOAD, Some(outcome))
            .url("/dl/2", DOWNLOAD, Some(outcome))
            .brings("/dl/2", "/t/2", 2)
            .links();
        assert_eq!((links.answered(), links.downloads, links.downloads_open), (2, 1, 1), "{outcome:?}");
    }
    for outcome in [Outcome::NotForUs, Outcome::MalformedTorrent, Outcome::HtmlPosingAsTorrent, Outcome::Gone] {
        let links = Site::listing(&["/dl/1"]).url("/dl/1", DOWNLOAD, Some(outcome)).links();
        assert_eq!((links.answered(), links.stored()), (1, 0), "{outcome:?}");
    }
}

#[test]
fn a_download_that_robots_txt_closes_may_be_another_address_and_is_told_apart() {
    for outcome in [Outcome::RobotsDenied, Outcome::RulesRefused, Outcome::Trapped] {
        let links = Site::listing(&["/t/1", "/t/2"])
            .url("/t/1", DETAIL, READ)
            .url("/t/2", DETAIL, Some(outcome))
            .url("/print/1", DOWNLOAD, Some(outcome))
            .links();
        assert_eq!((links.answered(), links.downloads_open, links.downloads_closed), (1, 0, 1), "{outcome:?}");
    }
}

#[test]
fn what_waits_in_front_of_a_wall_is_not_answered_yet() {
    let links = Site::listing(&["/t/1"])
        .url("/t/1", DETAIL, READ)
        .url("/dl/1", DOWNLOAD, Some(Outcome::Walled))
        .url("/board/2", LIST, Some(Outcome::Walled))
        .links();
    assert_eq!((links.downloads_open, links.downloads_closed, links.lists_failed, links.lists_closed), (1, 0, 1, 0));
}

#[test]
fn lists_that_were_not_read_are_told_by_what_became_of_them() {
    let links = Site::listing(&["/t/1"])
        .url("/list?page=2", LIST, None)
        .url("/list?page=99", 5 << 4, None)
        .url("/board/3", LIST, Some(Outcome::Denied))
        .url("/board/4", LIST + 15, Some(Outcome::RobotsDenied))
        .url("/board/5", LIST, Some(Outcome::Trapped))
        .url("/board/6", LIST, Some(Outcome::Gone))
        .url("/board/7", LIST, Some(Outcome::NotModified))
        .links();
    let told = (links.lists_waiting, links.lists_failed, links.lists_closed, links.lists_gone);
    assert_eq!(told, (2, 1, 2, 1));
}

#[test]
fn a_start_page_is_a_list_if_it_listed_or_was_not_read() {
    let start = |outcome| UrlLook { hash: 0, rank: 0, depth: 0, outcome, is_queued: false, path: None, label: None };
    let links = Site::listing(&["/t/1"])
        .look("/list/", start(READ))
        .look("/news", start(READ))
        .look("/other", start(Some(Outcome::Denied)))
        .download("/dl/1", "/list/", 1)
        .download("/dl/2", "/news", 2)
        .links();
    assert_eq!((links.by_lists, links.outside_lists(), links.lists_failed), (1, 1, 1));
}

#[test]
fn a_listed_torrent_that_only_a_magnet_names_is_told_apart() {
    let links = Site::listing(&["/t/1", "/t/2"])
        .url("/t/1", DETAIL, READ)
        .named("/t/1", 1, false)
        .named("/t/2", 2, true)
        .named("/list", 3, false)
        .named("/user/7", 4, false)
        .brings("/t/2", "", 2)
        .links();
    assert_eq!((links.magnets, links.stored(), links.answered()), (2, 1, 2));
}

#[test]
fn links_listed_again_and_again_are_kept_once() {
    let mut marked = Marked::default();
    let links: Vec<u64> = (0..1_000).collect();
    for _ in 0..COVERAGE_LINKS_SORTED_MIN / 250 {
        marked.add(&links);
        assert!(marked.hashes.len() <= COVERAGE_LINKS_SORTED_MIN + links.len());
    }
    marked.close();
    assert_eq!((marked.hashes.len(), marked.marks.len()), (1_000, 1_000));
    assert!(marked.contains(999) && !marked.contains(1_000));
}

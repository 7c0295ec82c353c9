//! Boards on pages that real programs sent; only figures about them are stored here.

use std::fs;

use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_page::boards::when::{Conventions, Zone, ZoneSource};
use gleaner_page::boards::{Ask, BoardPage, Times, read_page};
use gleaner_page::tree;

use crate::corpus;

/// A stored page in its charset, parsed as of the `Date` header that it was sent with.
fn stored(name: &str, url: &str, conventions: &mut Conventions) -> BoardPage {
    let path = corpus("pages").join(name);
    let body = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let html = if name.starts_with("discuzgbk") {
        encoding_rs::GBK.decode(&body).0.into_owned()
    } else {
        String::from_utf8_lossy(&body).into_owned()
    };
    let head = ["html.hdr", "hdr"].iter().find_map(|extension| fs::read_to_string(path.with_extension(extension)).ok());
    let date =
        head.as_deref().and_then(|head| head.lines().find_map(|line| line.strip_prefix("Date: ")).map(str::to_owned));
    let now = date.map_or(1_795_246_800, |date| {
        time::OffsetDateTime::parse(date.trim(), &time::format_description::well_known::Rfc2822)
            .unwrap()
            .unix_timestamp()
    });
    let (tree, canonical) = (tree::parse(&html).unwrap(), Canonical::default());
    let url = CrawlUrl::parse(url, &canonical).unwrap();
    read_page(&tree, &Ask { url: &url, canonical: &canonical, selectors: None, layout: None, now }, conventions)
}

#[test]
fn real_boards_are_read_in_full() {
    for (name, url, rows, times, offset) in [
        ("mybb/forumdisplay.html", "http://127.0.0.1:8102/forumdisplay.php?fid=2", 20, Times::Last, Some(0)),
        ("mybb/forumdisplay_p2.html", "http://127.0.0.1:8102/forumdisplay.php?fid=2&page=2", 20, Times::Last, Some(0)),
        (
            "discuzgbk/forumdisplay.html",
            "http://127.0.0.1:8101/forum.php?mod=forumdisplay&fid=2",
            20,
            Times::Last,
            Some(8 * 3_600),
        ),
        (
            "discuzgbk/forumdisplay_p2.html",
            "http://127.0.0.1:8101/forum.php?mod=forumdisplay&fid=2&page=2",
            20,
            Times::Last,
            Some(8 * 3_600),
        ),
        ("xbtit/torrents.html", "http://127.0.0.1:8103/index.php?page=torrents", 15, Times::Created, None),
        ("xbtit/torrents_p2.html", "http://127.0.0.1:8103/index.php?page=torrents&pages=2", 15, Times::Created, None),
    ] {
        let mut conventions = Conventions::default();
        let page = stored(name, url, &mut conventions);
        assert_eq!((page.rows.len(), page.times), (rows, times), "{name}");
        assert!(page.rows.iter().all(|row| row.last.is_some() && !row.title.is_empty()), "{name}");
        assert!(page.next.is_some(), "{name}");
        match offset {
            Some(offset) => {
                assert_eq!(conventions.zone, Zone::fixed(offset, ZoneSource::Page), "{name}");
                assert!(
                    page.rows.iter().all(|row| row.replies.is_some() && row.views.is_some() && row.author.is_some()),
                    "{name}"
                );
            }
            None => assert!(page.rows.iter().all(|row| row.seeders.is_some() && row.leechers.is_some()), "{name}"),
        }
    }
}

#[test]
fn two_pages_of_a_real_board_share_no_thread() {
    let mut conventions = Conventions::default();
    let first = stored("mybb/forumdisplay.html", "http://127.0.0.1:8102/forumdisplay.php?fid=2", &mut conventions);
    let second =
        stored("mybb/forumdisplay_p2.html", "http://127.0.0.1:8102/forumdisplay.php?fid=2&page=2", &mut conventions);
    assert_eq!(first.next.unwrap().as_str(), "http://127.0.0.1:8102/forumdisplay.php?fid=2&page=2");
    assert!(first.rows.iter().all(|row| second.rows.iter().all(|other| other.id != row.id)));
    assert_eq!(first.layout, second.layout);
}

#[test]
fn real_directories_are_lists_of_files() {
    for (name, timed) in [
        ("autoindex/8108.html", true),
        ("autoindex/8121.html", true),
        ("autoindex/8122.html", true),
        ("autoindex/8123.html", false),
        ("h5ai/linux.html", true),
        ("h5ai/linux.rendered.html", true),
    ] {
        let page = stored(name, "http://127.0.0.1:8100/pub/linux/", &mut Conventions::default());
        assert_eq!((page.rows.len(), page.sub_boards.len()), (225, 0), "{name}");
        assert_eq!(page.rows.iter().all(|row| row.last.is_some()), timed, "{name}");
        assert_eq!(page.times == Times::None, !timed, "{name}");
    }
}

#[test]
fn pages_that_are_no_board_give_no_rows() {
    for (name, url) in [
        ("mybb/login.html", "http://127.0.0.1:8102/member.php?action=login"),
        ("mybb/register.html", "http://127.0.0.1:8102/member.php?action=register"),
        ("mybb/index.html", "http://127.0.0.1:8102/index.php"),
        ("xbtit/login.html", "http://127.0.0.1:8103/index.php?page=login"),
        ("xbtit/home_guest.html", "http://127.0.0.1:8103/index.php"),
        ("discuzgbk/login.html", "http://127.0.0.1:8101/member.php?mod=logging&action=login"),
        ("discuzgbk/home.html", "http://127.0.0.1:8101/forum.php"),
    ] {
        let page = stored(name, url, &mut Conventions::default());
        let titles: Vec<&str> = page.rows.iter().map(|row| row.title.as_str()).collect();
        assert!(page.rows.is_empty(), "{name}: {titles:?}");
    }
}

//! Unit tests of `pagination`.

use super::*;

fn read(url: &str) -> Option<(String, u64)> {
    of(url, None).map(|page| (page.series, page.number))
}

#[test]
fn numbers_are_read_in_every_usual_form() {
    for (url, series, number) in [
        ("/browse?page=2", "/browse", 2),
        ("/browse?cat=5&page=2&sort=x", "/browse?cat=5&sort=x", 2),
        ("/viewforum.php?f=12&start=50", "/viewforum.php?f=12", 50),
        ("/index.php?page=torrents&pages=3", "/?page=torrents", 3),
        ("/?paged=2", "/", 2),
        ("/?p=2", "/", 2),
        ("/?p=1462&s=x", "/?s=x", 1_462),
        ("/list?tx[page]=4", "/list", 4),
        ("/list?tx%5Bpage%5D=4", "/list", 4),
        ("/x?start=20&page=3", "/x?start=20", 3),
        ("/x;y?a=1;page=3", "/x;y?a=1", 3),
        ("/x/page/3/", "/x", 3),
        ("/page/3", "/", 3),
        ("/x/page/3?s=a", "/x?s=a", 3),
        ("/threads/name.405700/page-5", "/threads/name.405700", 5),
        ("/x/p3", "/x", 3),
        ("/x/page3.html", "/x", 3),
        ("/blog/index.php?PAGEN_1=9", "/blog", 9),
        ("/x/name-p2/", "/x/name", 2),
        ("/x/name-page-2.html", "/x/name.html", 2),
        ("/x/index3.html", "/x", 3),
        ("/x/index_3.html", "/x", 3),
        ("/latest-3.html", "/latest.html", 3),
        ("/forum-12-3.html", "/forum-12-{page}.html", 3),
        ("/thread-7712-3-1.html", "/thread-7712-{page}-1.html", 3),
        ("/html/list_5_2.html", "/html/list_5_{page}.html", 2),
    ] {
        assert_eq!(read(url), Some((series.to_owned(), number)), "{url}");
    }
}

#[test]
fn identifiers_are_not_page_numbers() {
    for url in [
        "/details?id=2",
        "/viewtopic.php?t=2&f=3",
        "/forum.php?fid=2&tid=3",
        "/browse?cat=2&c=1",
        "/x?page=",
        "/x?page=two",
        "/x?page=1234567890",
        "/torrent-12.html",
        "/thread-12.html",
        "/article-12345.html",
        "/2026/11/21/name",
        "/x/12",
        "/browse",
        "/",
        "",
        "/p/name",
        "/x-3/name",
        "?C=N;O=D",
        "/mp3",
        "/1.html",
        "/?p=1462",
    ] {
        assert_eq!(read(url), None, "{url}");
    }
}

#[test]
fn a_first_page_is_of_the_series_of_the_second() {
    for (first, second) in [
        ("/browse", "/browse?page=2"),
        ("/browse?cat=1", "/browse?page=2&cat=1"),
        ("/", "/?page=2"),
        ("/index.php", "/index.php?page=2"),
        ("/x/", "/x/page/2/"),
        ("/x", "/x/page/2/"),
        ("/x/index.html", "/x/index_2.html"),
        ("/latest.html", "/latest_2.html"),
    ] {
        assert_eq!(Some(series_of_first(first)), read(second).map(|page| page.0), "{first} {second}");
    }
}

#[test]
fn a_rules_capture_is_believed() {
    let at = |url: &str, part: &str| url.find(part).map(|start| (start, start + part.len()));
    for (url, part, series) in [
        ("/browse/200/7/3", "7", "/browse/200/{page}/3"),
        ("/x?c=7&id=1", "7", "/x?id=1"),
        ("/x/page/7/", "7", "/x"),
        ("/x?page=3&at=7", "7", "/x?page=3"),
    ] {
        let page = of(url, at(url, part)).unwrap();
        assert_eq!((page.series.as_str(), page.number), (series, 7), "{url}");
    }
    for captured in [(0, 99), (3, 2), (0, 1), (0, 0)] {
        assert_eq!(of("/é?page=3", Some(captured)), None);
    }
}

#[test]
fn the_step_tells_offsets_from_page_numbers() {
    for (numbers, pages) in [
        (&[][..], 1),
        (&[2], 2),
        (&[2, 3, 4, 75], 75),
        (&[0, 1, 2], 3),
        (&[75, 74, 1], 75),
        (&[50, 100, 350], 8),
        (&[0, 50], 2),
        (&[26, 51, 101], 5),
        (&[1, 75], 75),
        (&[2, 1_000], 1_000),
        (&[1, 26, 51], 3),
        (&[u64::MAX, 0], 2),
        (&[u64::MAX, u64::MAX - 1, 0], u64::MAX),
    ] {
        assert_eq!(page_count(numbers), pages, "{numbers:?}");
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_without_panic(
        url in "[/?&=a-zé%\\[\\];#._0-9-]{0,40}",
        start in 0..45_usize,
        end in 0..45_usize,
        numbers in proptest::collection::vec(proptest::prelude::any::<u64>(), 0..9),
    ) {
        let _ = (of(&url, None), of(&url, Some((start, end))), series_of_first(&url), page_count(&numbers));
    }

    #[test]
    fn all_pages_of_a_series_share_it(name in "[a-z]{1,8}", a in 0..9_999_u64, b in 0..9_999_u64) {
        for form in [format!("/{name}?page=#"), format!("/{name}/page/#"), format!("/{name}?x=1&start=#")] {
            let page = |number: u64| of(&form.replace('#', &number.to_string()), None).unwrap();
            proptest::prop_assert_eq!(page(a).series, page(b).series);
            proptest::prop_assert_eq!(page(a).number, a);
        }
    }
}

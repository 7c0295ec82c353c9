//! Unit tests of `boards::identity`.

use super::*;

#[test]
fn a_thread_is_one_whatever_its_address_carries() {
    for (same, others) in [
        (
            "http://x/viewtopic.php?f=2&t=17",
            &["http://x/viewtopic.php?t=17&start=25", "http://x/viewtopic.php?f=9&t=17#p9"][..],
        ),
        (
            "http://x/forum.php?mod=viewthread&tid=453&extra=page%3D1",
            &["http://x/forum.php?mod=viewthread&tid=453&page=2"],
        ),
        ("http://x/thread-77-1-1.html", &["http://x/thread-77-2-1.html", "http://x/thread-77-1-3.html"]),
        (
            "http://x/threads/some-name.405700/",
            &["http://x/threads/other-name.405700/page-5", "http://x/threads/some-name.405700/latest"],
        ),
        ("http://x/showthread.php?tid=346", &["http://x/showthread.php?tid=346&page=3"]),
        ("http://x/topic/1234-old-slug/", &["http://x/topic/1234-new-slug/?page=2"]),
        ("http://x/index.php?topic=12.0", &["http://x/index.php?topic=12.25", "http://x/index.php?topic=12.msg99#new"]),
        ("http://x/view/1234", &["http://x/view/1234#comments"]),
    ] {
        for other in others {
            assert_eq!(thread_id(same), thread_id(other), "{same} {other}");
        }
    }
}

#[test]
fn different_threads_stay_different() {
    let urls = [
        "http://x/viewtopic.php?f=2&t=17",
        "http://x/viewtopic.php?f=2&t=18",
        "http://x/view/1234",
        "http://x/view/1235",
        "http://x/thread-77-1-1.html",
        "http://x/thread-78-1-1.html",
        "http://x/forum-77-1.html",
        "http://x/2026-review-of-things/",
        "http://x/2026-other-things/",
        "http://x/fedora-40/",
        "http://x/ubuntu-40/",
        "http://x/pub/0000_torf.torrent",
        "http://x/pub/0001_torf.torrent",
        "http://x/pub/v1.2.torrent",
        "http://x/index.php?page=torrent-details&id=12",
        "http://x/index.php?page=userdetails&id=12",
    ];
    let ids: std::collections::BTreeSet<String> = urls.iter().map(|url| thread_id(url)).collect();
    assert_eq!(ids.len(), urls.len(), "{ids:#?}");
}

#[test]
fn shapes_are_those_of_a_list() {
    let page = shape("http://x/forum.php?mod=forumdisplay&fid=2", false);
    let row = shape("http://x/forum.php?mod=viewthread&tid=453&extra=page%3D1", false);
    assert_eq!(leads(&row, &page), Leads::ToThread);
    assert_eq!(leads(&shape("http://x/forum.php?mod=forumdisplay&fid=3", false), &page), Leads::ToBoard);
    assert_eq!(leads(&shape("http://x/home.php?mod=space&uid=1", false), &page), Leads::ToPeople);
    assert_ne!(shape("http://x/thread-77-1-1.html", false), shape("http://x/forum-2-1.html", false));
    assert_eq!(shape("http://x/view/12", false), shape("http://x/view/99", false));
    assert_eq!(shape("http://x/pub/ubuntu.torrent", true), shape("http://x/pub/debian.torrent", true));
    assert_ne!(shape("http://x/pub/sub/", true), shape("http://x/pub/debian.torrent", true));
}

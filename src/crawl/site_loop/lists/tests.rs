//! Unit tests of `site_loop::lists`.

use super::*;

fn lists(pages: &[(u64, u64)]) -> Lists {
    let mut lists = Lists::default();
    let list = lists.waits.entry((HostId(1), "/board".into())).or_default();
    for (page, read_at) in pages {
        let path = format!("/board?page={page}").into();
        list.pages.insert(*page, Page { path, depth: 1, read_at: UnixMillis(*read_at), state: RevisitState::Waits });
    }
    lists
}

fn next(lists: &mut Lists) -> Vec<String> {
    lists.next().into_iter().map(|(key, _)| key.path.into()).collect()
}

fn shown(last_read: u64, has_changed: bool) -> Option<VisitResult> {
    Some(VisitResult { last_read: Some(UnixMillis(last_read)), has_changed })
}

fn key(page: u64) -> UrlKey {
    UrlKey { host: HostId(1), path: format!("/board?page={page}").into() }
}

#[test]
fn one_page_that_is_as_it_was_settles_its_list() {
    let mut lists = lists(&[(4, 90), (7, 50), (9, 60)]);
    assert_eq!(next(&mut lists), ["/board?page=7"], "the one that was read the longest time ago");
    assert_eq!(next(&mut lists), [""; 0], "one at a time");
    assert!(!lists.visited(&key(4), shown(90, false)), "it was not made due");
    assert!(lists.visited(&key(7), shown(50, false)));
    assert!(lists.forget_settled() && lists.note().is_empty());
    assert_eq!(lists.len(), 0);
}

#[test]
fn of_a_list_that_has_moved_all_is_read_again_in_ascending_order() {
    // It has changed; it was read since, which hides earlier changes; or it shows no list any more.
    for seen in [shown(50, true), shown(51, false), None] {
        let mut lists = Lists::from_note(&lists(&[(4, 90), (7, 50), (9, 60)]).note());
        assert_eq!(next(&mut lists), ["/board?page=7"]);
        assert!(lists.visited(&key(7), seen));
        lists.forget_settled();
        assert_eq!(next(&mut lists), ["/board?page=4"]);
        assert!(lists.visited(&key(4), shown(90, false)));
        lists.forget_settled();
        assert_eq!(next(&mut lists), ["/board?page=9"], "a page that did not change settles no other by now");
    }
}

#[test]
fn a_note_of_before_settles_nothing_by_one_page() {
    let note = br#"[{"host":1,"series":"/board","page":7,"path":"/board?page=7","depth":2},
            {"host":1,"series":"/board","page":9,"path":"/board?page=9","depth":2}]"#;
    let mut lists = Lists::from_note(note);
    assert_eq!(next(&mut lists), ["/board?page=7"]);
    assert!(lists.visited(&key(7), shown(50, false)));
    assert!(lists.forget_settled() && lists.len() == 1);
    assert_eq!(Lists::from_note(b"[").len(), 0);
}

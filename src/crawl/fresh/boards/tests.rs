//! Unit tests of `fresh::boards`.

use super::*;

#[test]
fn of_a_hundred_thousand_boards_no_more_is_kept_than_the_bounds_allow() {
    let boards = Boards::new(&BoardRules::default());
    for n in 0..100_000 {
        let page = |page: u32| format!("http://a.example/{n}/list/{page}");
        boards.leads_to(&page(1), &page(2));
        let mut kept = boards.kept();
        let _ = kept.board(&page(1), UnixMillis(0));
        kept.is_changed = true;
    }
    let count = |kept: &LoadedBoards| (kept.state.boards.len(), kept.state.paged.len());
    assert_eq!(count(&boards.kept()), (limits::BOARDS_KEPT_MAX, limits::BOARDS_KEPT_MAX));
    let (_, note) = boards.note("a").unwrap();
    assert!(note.len() <= limits::NOTE_BYTES_MAX);
    assert!(boards.is_behind_a_front("http://a.example/7/list/2"));
    assert!(!boards.is_behind_a_front("http://a.example/7/list/1"));
    assert!(!boards.is_behind_a_front("http://a.example/99999/list/2"), "beyond the bound its address decides");
    assert!(boards.kept().board("http://a.example/99999/list/1", UnixMillis(0)).is_none());
    // Another process continues with it.
    let again = Boards::new(&BoardRules::default());
    again.take_up("a", Some(&note));
    assert!(again.is_behind_a_front("http://a.example/7/list/3"));
}

#[test]
fn of_lists_with_long_addresses_as_much_is_written_down_as_a_note_holds() {
    for (length, lists_kept) in [(300, limits::BOARDS_KEPT_MAX), (3_000, 700)] {
        let boards = Boards::new(&BoardRules::default());
        let list = |n: usize| format!("http://a.example/{}/{n}", "%E5".repeat(length / 3));
        for n in 0..limits::BOARDS_KEPT_MAX {
            let mut kept = boards.kept();
            let at = UnixMillis(1 + n as u64);
            let memory = &mut kept.board(&list(n), at).unwrap().memory;
            memory.tour.starts(Some(&CrawlUrl::from_parts("http://a.example", &format!("/{}?page=2", list(n)))));
            memory.is_sorted = true;
            kept.is_changed = true;
        }
        let (_, note) = boards.note("a").unwrap();
        assert!(note.len() <= limits::NOTE_BYTES_MAX);
        let again = Boards::new(&BoardRules::default());
        again.take_up("a", Some(&note));
        let kept = again.kept();
        assert!(kept.state.boards.len() >= lists_kept, "{} of {length} bytes", kept.state.boards.len());
        let last = list(limits::BOARDS_KEPT_MAX - 1);
        assert!(kept.state.boards[&last].memory.is_sorted, "the ones that were looked at last");
    }
}

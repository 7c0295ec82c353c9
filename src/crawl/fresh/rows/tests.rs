//! Unit tests of `fresh::rows`.

use super::*;
use crate::limits::{GONE_CONFIRM_TIME, GONE_ROWS_MAX};

#[test]
fn a_row_that_vanished_is_told_with_its_url_also_by_looks_at_an_unchanged_page() {
    let lists = Lists::default();
    let at = |look: u32| UnixMillis(1_790_000_000_000).plus(GONE_CONFIRM_TIME * look);
    let urls: Vec<String> = (0..9).map(|n| format!("http://a.example/{n}")).collect();
    let all: Vec<&str> = urls.iter().map(String::as_str).collect();
    let fewer: Vec<&str> = all.iter().copied().filter(|url| !url.ends_with("/4")).collect();
    assert_eq!(lists.look("l", &all, &HashSet::new(), at(0)), Vanished::default());
    assert_eq!(lists.look("l", &fewer, &HashSet::new(), at(1)), Vanished::default());
    // Another process continues.
    let (_, note) = lists.note().unwrap();
    assert!(lists.note().is_none());
    let lists = Lists::default();
    lists.take_up("s", Some(&note));
    let vanished = lists.again("l", at(2));
    assert_eq!(vanished.gone.iter().map(|(url, _)| url.as_str()).collect::<Vec<_>>(), ["http://a.example/4"]);
    assert_eq!(lists.look("l", &all, &HashSet::new(), at(3)).back, ["http://a.example/4"]);
    assert_eq!(lists.again("unknown", at(3)), Vanished::default());
    Lists::default().take_up("s", Some(b"{"));
}

#[test]
fn long_addresses_never_make_a_note_that_is_too_long() {
    let lists = Lists::default();
    let mut followed = 0;
    for list in 0..40 {
        let urls: Vec<String> =
            (0..360).map(|n| format!("http://a.example/{list}/{n}/{}", "%E4%B8%AD".repeat(60))).collect();
        let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
        lists.look(&format!("{list}"), &urls, &HashSet::new(), UnixMillis(1));
        followed += usize::from(lists.kept().state.lists.contains_key(&format!("{list}")));
    }
    let (_, note) = lists.note().unwrap();
    assert!(note.len() <= crate::limits::NOTE_BYTES_MAX, "{} bytes", note.len());
    assert!(followed > 10 && followed < 40, "{followed}");
}

#[test]
fn lists_beyond_the_bound_are_not_followed() {
    let lists = Lists::default();
    let many: Vec<String> = (0..GONE_ROWS_MAX).map(|n| format!("/{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let lists_max = LISTS_ROWS_MAX / GONE_ROWS_MAX;
    for list in 0..lists_max {
        lists.look(&format!("big {list}"), &many, &HashSet::new(), UnixMillis(1));
    }
    lists.look("small", &["/a"], &HashSet::new(), UnixMillis(1));
    assert_eq!(lists.kept().state.lists.len(), lists_max);
}

#[test]
fn lists_that_nobody_looks_at_any_more_make_room_and_rows_have_their_turn() {
    let lists = Lists::default();
    let at = |days: u32| UnixMillis(1_790_000_000_000).plus(std::time::Duration::from_secs(86_400) * days);
    for list in 0..LISTS_FOLLOWED_MAX as u32 {
        lists.look(&format!("{list}"), &["/a", "/b", "/c"], &HashSet::new(), at(u32::from(list > 0)));
    }
    lists.look("new", &["/a"], &HashSet::new(), at(60));
    assert!(!lists.kept().state.lists.contains_key("new"));
    lists.look("new", &["/a"], &HashSet::new(), at(61));
    let kept = |list: &str| lists.kept().state.lists.contains_key(list);
    assert!(kept("new") && !kept("0") && kept("1"));
    let turn = |rows: usize| {
        let urls = lists.in_turn("1", 2);
        lists.had_turn("1", rows);
        urls
    };
    assert_eq!([turn(1), turn(2), turn(0)], [["/a", "/b"], ["/b", "/c"], ["/a", "/b"]]);
    lists.forget("1");
    assert!(!kept("1") && lists.in_turn("1", 2).is_empty());
}

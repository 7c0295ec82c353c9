//! Unit tests of `freshness::rows`.

use proptest::prelude::*;

use super::super::Between;
use super::*;
use crate::limits::GONE_CONFIRM_TIME;

/// Hours apart, which suffices for a verdict.
fn at(look: u32) -> UnixMillis {
    UnixMillis(1_790_000_000_000).plus(GONE_CONFIRM_TIME * look)
}

fn look(list: &mut List, rows: &[u64], number: u32) -> Vanished {
    list.look(&Listed { rows, linked: &HashSet::new(), is_whole: true, at: at(number) })
}

fn from(first: u64, last: u64) -> Vec<u64> {
    (last..=first).rev().collect()
}

fn without(rows: &[u64], gone: u64) -> Vec<u64> {
    rows.iter().copied().filter(|row| *row != gone).collect()
}

#[test]
fn a_row_between_neighbours_that_stay_is_gone_at_the_second_look() {
    let mut list = List::default();
    let rows = from(20, 1);
    assert_eq!(look(&mut list, &rows, 0), Vanished::default());
    let fewer = without(&rows, 10);
    assert_eq!(look(&mut list, &fewer, 1), Vanished { missed: 1, ..Vanished::default() });
    let gone = Gone { since: Between { from: at(0), until: at(1) }, why: Why::Unlisted };
    assert_eq!(look(&mut list, &fewer, 2).gone, [(10, gone)]);
    assert_eq!(look(&mut list, &fewer, 3), Vanished::default(), "told once");
    assert_eq!(look(&mut list, &rows, 4).back, [10]);
}

#[test]
fn the_first_row_of_a_list_is_gone_like_any_other_and_a_head_that_changes_as_a_whole_is_not() {
    let mut list = List::default();
    let rows = from(30, 1);
    look(&mut list, &rows, 0);
    // Others are added before it and after it.
    assert_eq!(look(&mut list, &from(29, 1), 1), Vanished { missed: 1, ..Vanished::default() });
    let mut newer = from(29, 1);
    newer.splice(0..0, [33, 32]);
    assert_eq!(look(&mut list, &newer, 2).gone.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [30]);
    newer.insert(2, 30);
    assert_eq!(look(&mut list, &newer, 3).back, [30]);
    let mut list = List::default();
    for number in 0..6_u32 {
        let best = (0..10).map(|n| 1_000 + u64::from(number) * 10 + n);
        let shown: Vec<u64> = best.chain(from(30, 1)).collect();
        assert_eq!(look(&mut list, &shown, number), Vanished::default());
    }
}

#[test]
fn a_row_that_is_a_plain_link_now_is_not_gone() {
    let mut list = List::default();
    let rows = from(20, 1);
    look(&mut list, &rows, 0);
    let (fewer, linked) = (without(&rows, 10), HashSet::from([10]));
    for number in 1..4 {
        let listed = Listed { rows: &fewer, linked: &linked, is_whole: true, at: at(number) };
        assert_eq!(list.look(&listed), Vanished::default());
    }
    assert_eq!(look(&mut list, &rows, 4), Vanished::default());
    look(&mut list, &fewer, 5);
    assert_eq!(look(&mut list, &fewer, 6).gone.len(), 1, "its link has left the page");
}

#[test]
fn rows_pushed_off_the_page_are_not_gone() {
    let mut list = List::default();
    for number in 0..30 {
        let top = 100 + u64::from(number) * 3;
        assert_eq!(look(&mut list, &from(top, top - 24), number), Vanished::default(), "look {number}");
    }
    // All of it was pushed off at once.
    assert_eq!(look(&mut list, &from(900, 876), 40), Vanished::default());
}

#[test]
fn rows_that_came_to_the_top_are_not_gone_and_hide_no_other() {
    let mut list = List::default();
    look(&mut list, &from(30, 1), 0);
    let mut bumped = without(&from(30, 1), 5);
    bumped.insert(0, 5);
    assert_eq!(look(&mut list, &bumped, 1), Vanished::default());
    let mut fewer = without(&without(&bumped, 17), 3);
    fewer.insert(0, 3);
    assert_eq!(look(&mut list, &fewer, 2), Vanished { missed: 1, ..Vanished::default() });
    assert_eq!(look(&mut list, &fewer, 3).gone.len(), 1);
}

#[test]
fn lists_sorted_by_what_changes_miss_nothing() {
    let mut list = List::default();
    for number in 0..20_u32 {
        let rows: Vec<u64> = (0..25).map(|n| (n * 7 + u64::from(number) * 13) % 40).collect();
        assert_eq!(look(&mut list, &rows, number).gone, [], "look {number}");
    }
}

#[test]
fn broken_and_empty_answers_say_nothing() {
    let mut list = List::default();
    let rows = from(20, 1);
    look(&mut list, &rows, 0);
    let before = list.clone();
    let half = Listed { rows: &rows[..10], linked: &HashSet::new(), is_whole: false, at: at(1) };
    assert_eq!(list.look(&half), Vanished::default());
    assert_eq!(look(&mut list, &[], 2), Vanished::default());
    assert_eq!(list, before);
}

#[test]
fn a_row_that_was_missing_once_is_not_gone() {
    let mut list = List::default();
    let rows = from(20, 1);
    for number in 0..20 {
        let shown = if number % 2 == 1 { without(&rows, 7) } else { rows.clone() };
        let found = look(&mut list, &shown, number);
        assert_eq!((found.gone, found.back), (vec![], vec![]));
    }
}

proptest! {
    #[test]
    fn what_is_kept_stays_bounded_whatever_is_shown(
        looks in proptest::collection::vec(proptest::collection::vec(0_u64..40, 0..30), 0..30),
    ) {
        let mut list = List::default();
        for (number, rows) in looks.iter().enumerate() {
            let found = look(&mut list, rows, u32::try_from(number).unwrap_or(0));
            for (target, _) in &found.gone {
                prop_assert!(!rows.contains(target));
            }
            prop_assert!(list.rows.len() <= 40);
            let distinct: HashSet<u64> = list.rows.iter().map(|row| row.target).collect();
            prop_assert_eq!(distinct.len(), list.rows.len());
        }
    }
}

//! Unit tests of `shortcut::visits`.

use super::*;

#[test]
fn what_was_visited_before_a_proof_is_proven_and_ends_stay_in_doubt() {
    let mut visits = Visits::default();
    visits.add("/1", false, 10);
    visits.add("/2", true, 20);
    visits.add("/3", false, 30);
    visits.add("/1", false, 40);
    visits.proven("/9", 30);
    assert_eq!(visits.clone().take(false), ["/3", "/1"]);
    assert_eq!(visits.take(true), ["/3", "/1", "/2"]);
    assert_eq!(visits, Visits::default());
}

#[test]
fn a_proof_at_one_host_says_nothing_of_another() {
    let mut visits = Visits::default();
    for (at, page) in ["http://a/1", "http://b/1", "http://a/2", "http://b:1/1", "http://b/2"].iter().enumerate() {
        visits.add(page, false, at as u64);
    }
    assert_eq!(visits.unproven(2), ["http://b/2", "http://a/2"]);
    visits.proven("http://a/7", 9);
    assert_eq!(visits.unproven(1), ["http://b/2", "http://b:1/1"]);
    assert_eq!(visits.take(false), ["http://b/1", "http://b:1/1", "http://b/2"]);
}

#[test]
fn a_page_that_ends_no_list_any_more_is_no_end() {
    let mut visits = Visits::default();
    visits.add("/2", true, 1);
    visits.add("/2", false, 2);
    visits.proven("/2", 3);
    assert!(visits.take(true).is_empty());
}

#[test]
fn the_oldest_are_forgotten_where_there_are_too_many_or_too_long_ones() {
    let mut visits = Visits::default();
    (0..2 * limits::SHORTCUT_VISITS_MAX).for_each(|page| visits.add(&format!("/{page}"), true, 1));
    let left = visits.take(true);
    assert_eq!(left.len(), limits::SHORTCUT_VISITS_MAX);
    assert_eq!(left.first(), Some(&format!("/{}", limits::SHORTCUT_VISITS_MAX)));
    let long = "x".repeat(limits::SHORTCUT_VISITS_BYTES_MAX - 1);
    visits.add(&long, false, 1);
    visits.add("/short", false, 2);
    assert_eq!(visits.take(false), ["/short"]);
}

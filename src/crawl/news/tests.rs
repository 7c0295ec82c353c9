//! Unit tests of `news`.

use super::*;
use crate::frontier::crews::Crew;
use gleaner_base::url::CrawlUrl;
use gleaner_rules::Class;
use gleaner_store::crawldb::{HostId, Lease, UrlKey};

fn job(path: &str) -> Job {
    let (via, memo, deadline) = (None, None, UnixMillis(0));
    let key = UrlKey { host: HostId(0), path: path.into() };
    let lease = Lease { key, depth: 1, rank: 1, attempts: 0, via, memo, deadline, found: None, seq: 0 };
    let url = CrawlUrl::from_parts("http://h.example", path);
    Job {
        lease,
        url,
        class: Class::Detail,
        rule: 0,
        crew: Crew::Increment { level: 1 },
        was_read: false,
        is_guess: false,
    }
}

#[test]
fn the_latest_goes_first_and_rows_of_one_page_in_their_order() {
    let mut news = News::default();
    for (found, path) in [(5, "/old"), (9, "/a"), (9, "/b"), (7, "/middle")] {
        news.push(UnixMillis(found), job(path));
    }
    let (slot, first) = news.pop(None).unwrap();
    assert_eq!((slot, &*first.lease.key.path), (0, "/a"));
    news.put_back(slot, first);
    assert_eq!((news.running(), news.found()), (0, 4));
    let order: Vec<Box<str>> = std::iter::from_fn(|| news.pop(None)).map(|(_, job)| job.lease.key.path).collect();
    assert_eq!(order.iter().map(|path| &**path).collect::<Vec<_>>(), ["/a", "/b", "/middle", "/old"]);
    assert_eq!(news.running(), 4);
    news.done(1);
    news.push(UnixMillis(1), job("/later"));
    assert_eq!(news.pop(None).unwrap().0, 1, "a slot that is free is used again");
}

#[test]
fn looks_take_every_other_turn_while_what_they_found_waits() {
    let mut news = News::default();
    ["/look 1", "/look 2", "/look 3"].into_iter().for_each(|path| news.push_look(job(path)));
    [(5, "/old"), (9, "/new")].into_iter().for_each(|(found, path)| news.push(UnixMillis(found), job(path)));
    let (slot, first) = news.pop(None).unwrap();
    assert_eq!(&*first.lease.key.path, "/look 1");
    news.put_back(slot, first);
    assert_eq!((news.due(), news.found()), (3, 2));
    let order: Vec<Box<str>> = std::iter::from_fn(|| news.pop(None)).map(|(_, job)| job.lease.key.path).collect();
    let order: Vec<&str> = order.iter().map(|path| &**path).collect();
    assert_eq!(order, ["/look 1", "/new", "/look 2", "/old", "/look 3"]);
    assert!(news.is_empty() && news.running() == 5);
}

#[test]
fn where_each_request_counts_what_was_found_goes_first_and_looks_have_their_part_all_the_same() {
    let (mut news, mut turns) = (News::default(), LookTurns::default());
    (1..=3).for_each(|number| news.push_look(job(&format!("/look {number}"))));
    (1..=30).rev().for_each(|found| news.push(UnixMillis(found), job("/found")));
    let mut order = String::new();
    while let Some((slot, _)) = news.pop(Some(turns)) {
        turns.asked(news.is_look(slot));
        order.push(if news.is_look(slot) { 'L' } else { '.' });
    }
    assert_eq!(order, "......L......L......L............", "a burst of thirty, of which each request counts");
    // Rechecks made while nothing waited count, but as no more than one.
    (0..50).for_each(|_| turns.asked(true));
    let found = std::iter::from_fn(|| (!turns.is_looks()).then(|| turns.asked(false))).count();
    assert_eq!(found, 12);
}

#[test]
fn where_looks_are_ahead_they_wait_for_what_was_found() {
    let (mut news, turns) = (News::default(), LookTurns::default());
    ["/look 1", "/look 2"].into_iter().for_each(|path| news.push_look(job(path)));
    [(5, "/old"), (9, "/new")].into_iter().for_each(|(found, path)| news.push(UnixMillis(found), job(path)));
    let order: Vec<Box<str>> =
        std::iter::from_fn(|| news.pop(Some(turns))).map(|(_, job)| job.lease.key.path).collect();
    assert_eq!(order.iter().map(|path| &**path).collect::<Vec<_>>(), ["/new", "/old", "/look 1", "/look 2"]);
}

#[test]
fn a_lease_that_ends_while_it_waits_costs_nobody_a_turn() {
    let ends_at = |path: &str, end: u64| {
        let mut job = job(path);
        job.lease.deadline = UnixMillis(end);
        job
    };
    let mut news = News::default();
    [("/look 1", 90), ("/look 2", 50)].into_iter().for_each(|(path, end)| news.push_look(ends_at(path, end)));
    news.push(UnixMillis(9), ends_at("/new", 50));
    let (slot, first) = news.pop(None).unwrap();
    assert_eq!(&*first.lease.key.path, "/look 1");
    news.done(slot);
    assert!(news.take_ended(UnixMillis(49)).is_empty());
    let ended: Vec<Box<str>> = news.take_ended(UnixMillis(50)).into_iter().map(|job| job.lease.key.path).collect();
    assert_eq!(ended.iter().map(|path| &**path).collect::<Vec<_>>(), ["/look 2", "/new"]);
    assert!(news.is_empty());
    // Both are leased again: it is still the turn of the found URL.
    news.push_look(ends_at("/look 2", 150));
    news.push(UnixMillis(9), ends_at("/new", 150));
    assert_eq!(&*news.pop(None).unwrap().1.lease.key.path, "/new");
}

#[test]
fn a_look_that_is_due_is_told_once() {
    let mut news = News::default();
    [30, 10, 20].into_iter().for_each(|at| news.plan_look(UnixMillis(at)));
    assert!(!news.looks_are_due(UnixMillis(9)) && news.looks_are_due(UnixMillis(25)));
    assert_eq!(news.next_look(UnixMillis(10)), Some(UnixMillis(20)));
    news.looked(UnixMillis(25));
    assert_eq!((news.looks_are_due(UnixMillis(25)), news.next_look(UnixMillis(25))), (false, Some(UnixMillis(30))));
}

#[test]
fn no_more_times_are_kept_than_the_cap() {
    let mut news = News::default();
    (0..limits::LOOK_TIMES_MAX as u64 + 9).for_each(|at| news.plan_look(UnixMillis(at)));
    assert_eq!(news.looks.len(), limits::LOOK_TIMES_MAX);
    assert!(news.looks_are_due(UnixMillis(0)), "the first ones stay");
}

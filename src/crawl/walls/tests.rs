//! Tests of `walls`.

use super::*;
use gleaner_store::crawldb::HostId;

const RULE: usize = 3;

fn met(path: &str, began: u64) -> Met {
    let key = UrlKey { host: HostId(1), path: path.into() };
    let row = Discovered { key, depth: 1, rank: 0, due: UnixMillis(0), via: None, is_target: false, found: None };
    Met { row, began: UnixMillis(began) }
}

fn refused() -> Said {
    Said::Refused { sign: 7, told: "status 403".to_owned() }
}

/// URLs `/first` to `/last`, refused alike one after the other, a second each. Returns the last one's fate.
fn refuse(walls: &mut Walls, urls: std::ops::RangeInclusive<u64>) -> Fate {
    urls.map(|at| walls.mind(RULE, refused(), met(&format!("/{at}"), at * 1_000), UnixMillis(at * 1_000)))
        .last()
        .unwrap()
}

fn answer(walls: &mut Walls, path: &str, at: u64) -> Fate {
    walls.mind(RULE, Said::Answered, met(path, at * 1_000), UnixMillis(at * 1_000))
}

fn paths(rows: &[Discovered]) -> Vec<&str> {
    rows.iter().map(|row| &*row.key.path).collect()
}

fn probe(walls: &mut Walls, at: u64) -> Vec<String> {
    walls.probes(UnixMillis(at * 1_000), false).iter().map(|row| row.key.path.to_string()).collect()
}

#[test]
fn a_run_of_refusals_is_a_wall_once_an_answered_url_is_refused_too() {
    let mut walls = Walls::default();
    assert_eq!(answer(&mut walls, "/good", 1), Fate::Own);
    assert_eq!(refuse(&mut walls, 2..=5), Fate::Own);
    let next = met("/9", 9_000).row.key;
    assert!(!walls.stops(RULE, &next));
    assert_eq!(refuse(&mut walls, 6..=6), Fate::Own, "supposed only: the answered URL is asked first");
    assert!(walls.stops(RULE, &next) && !walls.stops(RULE + 1, &next) && walls.standing().next().is_none());
    assert_eq!(probe(&mut walls, 6), ["/good"]);
    assert!(!walls.stops(RULE, &met("/good", 0).row.key));
    let Fate::Raised(earlier) = walls.mind(RULE, refused(), met("/good", 7_000), UnixMillis(7_000)) else { panic!() };
    assert_eq!(paths(&earlier), ["/2", "/3", "/4", "/5", "/6"]);
    let told: Vec<_> = walls.standing().map(|wall| (wall.rule, wall.told.to_owned(), wall.refused)).collect();
    assert_eq!(told, [(RULE, "status 403".to_owned(), 5)]);

    // The next probe comes ten seconds later, and lets all others through.
    assert_eq!(walls.wake_at(false), Some(UnixMillis(17_000)));
    assert!(probe(&mut walls, 16).is_empty());
    assert_eq!(probe(&mut walls, 17), ["/good"]);
    assert_eq!(answer(&mut walls, "/good", 18), Fate::Fallen);
    assert!(!walls.stops(RULE, &next) && walls.standing().next().is_none());

    // The same refusal is known now: one is enough.
    assert_eq!(refuse(&mut walls, 20..=20), Fate::Own);
    assert_eq!(probe(&mut walls, 20), ["/good"]);
}

#[test]
fn refusals_beside_an_answered_url_are_the_urls_own() {
    let mut walls = Walls::default();
    answer(&mut walls, "/good", 1);
    refuse(&mut walls, 2..=6);
    assert_eq!(probe(&mut walls, 6), ["/good"]);
    assert_eq!(answer(&mut walls, "/good", 7), Fate::Fallen, "what was stopped meanwhile goes on");
    // The next question needs a run of twice the length.
    refuse(&mut walls, 8..=16);
    assert!(probe(&mut walls, 16).is_empty());
    refuse(&mut walls, 17..=17);
    assert_eq!(probe(&mut walls, 17), ["/good"]);
}

#[test]
fn a_rule_that_was_never_answered_needs_a_longer_run_and_is_not_probed_by_a_one_shot_crawl() {
    let mut walls = Walls::default();
    assert_eq!(refuse(&mut walls, 1..=19), Fate::Own);
    let Fate::Raised(earlier) = refuse(&mut walls, 20..=20) else { panic!() };
    assert_eq!(earlier.len(), 20);
    assert_eq!(walls.wake_at(false), None);
    assert_eq!(walls.wake_at(true), Some(UnixMillis(30_000)));
    assert_eq!(paths(&walls.probes(UnixMillis(30_000), true)), ["/1"]);
    assert_eq!(refuse(&mut walls, 1..=1), Fate::Parked);
    assert_eq!(paths(&walls.probes(UnixMillis(60_000), true)), ["/2"], "the probes take turns");
}

#[test]
fn a_short_run_at_the_end_is_looked_at() {
    let mut walls = Walls::default();
    answer(&mut walls, "/good", 1);
    refuse(&mut walls, 2..=3);
    assert_eq!(walls.close(UnixMillis(4_000)), (Vec::new(), true));
    assert_eq!(probe(&mut walls, 4), ["/good"]);

    let mut never = Walls::default();
    refuse(&mut never, 1..=4);
    assert_eq!(never.close(UnixMillis(4_000)), (Vec::new(), false), "too few to be more than their own");
    refuse(&mut never, 5..=5);
    let (parked, more) = never.close(UnixMillis(5_000));
    assert!(more);
    assert_eq!(paths(&parked), ["/1", "/2", "/3", "/4", "/5"]);
    assert_eq!(never.close(UnixMillis(6_000)), (Vec::new(), false));
    assert_eq!(never.standing().count(), 1);
}

#[test]
fn an_answer_to_an_earlier_request_does_not_end_a_run() {
    let mut walls = Walls::default();
    answer(&mut walls, "/good", 1);
    refuse(&mut walls, 2..=5);
    answer(&mut walls, "/late", 1);
    refuse(&mut walls, 6..=6);
    assert_eq!(probe(&mut walls, 6), ["/late"]);
    // A later one does.
    let mut walls = Walls::default();
    answer(&mut walls, "/first", 1);
    refuse(&mut walls, 2..=5);
    answer(&mut walls, "/good", 6);
    refuse(&mut walls, 7..=10);
    assert!(probe(&mut walls, 10).is_empty());
}

#[test]
fn what_was_refused_before_the_first_answer_is_asked_again_once() {
    let mut walls = Walls::default();
    refuse(&mut walls, 1..=4);
    let Fate::Again(rows) = answer(&mut walls, "/good", 5) else { panic!() };
    assert_eq!(paths(&rows), ["/1", "/2", "/3", "/4"]);
    refuse(&mut walls, 6..=9);
    assert_eq!(answer(&mut walls, "/good", 10), Fate::Own);
}

#[test]
fn downloads_that_are_redirected_to_one_page_are_looked_at_in_the_end() {
    let mut walls = Walls::default();
    let led_off = || Said::LedOff { sign: 9, told: "a redirect to http://h.example/notice".to_owned() };
    for at in 1..=300 {
        let fate = walls.mind(RULE, led_off(), met(&format!("/{at}"), at * 1_000), UnixMillis(at * 1_000));
        assert_eq!(fate, Fate::Own, "the notice may lead on");
    }
    let (parked, more) = walls.close(UnixMillis(301_000));
    assert_eq!((parked.len(), more, walls.standing().count()), (300, true, 1));
    // Where the page led on to the torrents, nothing stands.
    let mut walls = Walls::default();
    let redirect = |walls: &mut Walls, at: u64| {
        walls.mind(RULE, led_off(), met(&format!("/{at}"), at * 1_000), UnixMillis(at * 1_000))
    };
    redirect(&mut walls, 1);
    assert!(walls.have_led_off());
    walls.lead_on(9);
    assert!(!walls.have_led_off());
    assert_eq!(redirect(&mut walls, 2), Fate::Own);
    assert_eq!(answer(&mut walls, "/1?anyway", 3), Fate::Own);
    assert_eq!(walls.close(UnixMillis(4_000)), (Vec::new(), false));
    // What was redirected before the first answer is asked for again; after it, a redirect is a refusal.
    let mut walls = Walls::default();
    redirect(&mut walls, 1);
    let Fate::Again(rows) = answer(&mut walls, "/good", 2) else { panic!() };
    assert_eq!(paths(&rows), ["/1"]);
    (3..=7).for_each(|at| drop(redirect(&mut walls, at)));
    assert_eq!(probe(&mut walls, 7), ["/good"]);
}

#[test]
fn a_wall_that_was_never_passed_is_probed_with_urls_that_wait_too() {
    let mut walls = Walls::default();
    refuse(&mut walls, 1..=20);
    walls.waits(RULE, met("/new", 0).row);
    let asked = |walls: &mut Walls, at: u64| paths(&walls.probes(UnixMillis(at * 1_000), true)).concat();
    assert_eq!(asked(&mut walls, 100), "/1");
    refuse(&mut walls, 1..=1);
    assert_eq!(asked(&mut walls, 1_000), "/new");
    assert_eq!(answer(&mut walls, "/new", 1_001), Fate::Fallen);
}

#[test]
fn refusals_that_were_not_looked_at_are_left_to_the_next_crawl() {
    let mut walls = Walls::default();
    refuse(&mut walls, 1..=3);
    let left = walls.leave(UnixMillis(9_000));
    assert_eq!(paths(&left), ["/1", "/2", "/3"]);
    assert!(left.iter().all(|row| row.due == UnixMillis(9_000)), "after what was not asked for at all");
    assert!(walls.leave(UnixMillis(9_000)).is_empty());
}

#[test]
fn a_probe_that_is_gone_leaves_the_wall_to_the_others() {
    let mut walls = Walls::default();
    answer(&mut walls, "/good", 1);
    refuse(&mut walls, 2..=6);
    assert_eq!(probe(&mut walls, 6), ["/good"]);
    let Fate::Raised(run) = walls.mind(RULE, Said::Nothing, met("/good", 7_000), UnixMillis(7_000)) else { panic!() };
    assert_eq!(run.len(), 5);
    assert_eq!(walls.standing().count(), 1);
    assert_eq!(paths(&walls.probes(UnixMillis(17_000), true)), ["/3"], "not the one that is gone");
}

#[test]
fn a_one_shot_crawl_gives_up_after_some_probes_and_the_times_follow_the_clock() {
    let mut walls = Walls::default();
    answer(&mut walls, "/good", 1);
    refuse(&mut walls, 2..=6);
    let mut now = 6;
    for _ in 0..limits::WALL_PROBES {
        assert_eq!(probe(&mut walls, now), ["/good"]);
        walls.mind(RULE, refused(), met("/good", now * 1_000), UnixMillis(now * 1_000));
        now += 100;
    }
    assert_eq!((walls.wake_at(false), probe(&mut walls, now).len()), (None, 0));
    let at = walls.wake_at(true).unwrap();
    walls.shift(5_000);
    assert_eq!(walls.wake_at(true), Some(UnixMillis(at.0 + 5_000)));
}

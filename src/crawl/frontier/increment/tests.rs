//! Unit tests of `frontier::increment`.

use super::*;

const HOUR: Duration = Duration::from_secs(3_600);

fn round(pages: usize) -> Round {
    let mut round = Round { requests: 1, ..Round::default() };
    round.take(1, pages, limits::INCREMENT_PAGES_MAX);
    round
}

#[test]
fn caps_follow_the_measured_rate_and_the_interval() {
    let mut rounds = Rounds::default();
    assert_eq!(rounds.cap(1, HOUR, 0), limits::INCREMENT_PAGES_MIN, "nothing is measured yet");
    rounds.observe(&Round::default(), HOUR, 0);
    assert_eq!(rounds.measured, 0, "nor by a round without a look");
    rounds.observe(&round(2_000), HOUR, 0);
    assert_eq!(rounds.cap(1, HOUR, 0), 4_000);
    assert_eq!(rounds.cap(1, HOUR / 4, 0), 1_000);
    assert_eq!(rounds.cap(2, HOUR, 0), limits::INCREMENT_PAGES_MIN);
    for _ in 0..50 {
        rounds.observe(&round(0), HOUR, 0);
    }
    assert_eq!(rounds.cap(1, HOUR, 0), limits::INCREMENT_PAGES_MIN, "the site went quiet");
    rounds.observe(&round(usize::MAX), HOUR, 0);
    assert_eq!(rounds.cap(1, HOUR, 0), limits::INCREMENT_PAGES_MAX);
}

#[test]
fn a_round_that_measured_too_little_leaves_room_for_what_the_sites_rate_allows() {
    let mut rounds = Rounds::default();
    for _ in 0..2 {
        assert_eq!([1, 2, 3, 4].map(|level| rounds.cap(level, HOUR, 8_000)), [4_000, 2_000, 1_000, 500]);
        rounds.observe(&round(3), HOUR, 0);
    }
    assert_eq!(rounds.cap(1, HOUR, 80_000), limits::INCREMENT_PAGES_MAX);
    assert_eq!(rounds.cap(u8::MAX, HOUR, 80_000), limits::INCREMENT_PAGES_MIN);
}

#[test]
fn a_burst_is_taken_up_to_the_cap_and_counted_whole() {
    let mut round = Round { requests: 1, ..Round::default() };
    assert_eq!([round.take(1, 150, 200), round.take(1, 150, 200), round.take(1, 1, 200)], [150, 50, 0]);
    assert_eq!(round.take(2, 1, 200), 1, "each level has its own");
    assert_eq!(round.take(u8::MAX, 1, 200), 0);
    assert_eq!(round.left_out(), 101);
    let mut rounds = Rounds::default();
    rounds.observe(&round, HOUR, 0);
    assert_eq!(rounds.cap(1, HOUR, 0), 602, "twice 301: the next round has room for such a burst");
    rounds.observe(&self::round(0), HOUR, 0);
    rounds.observe(&round, HOUR, 0);
    assert_eq!(rounds.cap(1, HOUR, 0), 602, "also after quiet ones");
}

#[test]
fn pages_that_are_read_again_have_a_cap_of_their_own() {
    let mut round = Round::default();
    assert_eq!([round.take_again(150, 200), round.take_again(150, 200), round.take_again(1, 200)], [150, 50, 0]);
    assert_eq!((round.take(1, 1, 200), round.left_out()), (1, 0), "they are no news");
}

#[test]
fn what_a_round_takes_counts_what_it_left_waiting() {
    let mut rounds = Rounds::default();
    rounds.observe(&Round { requests: 100, ..Round::default() }, HOUR, 60);
    assert_eq!(rounds.wanted(), 160);
}

#[test]
fn a_broken_note_and_a_round_without_length_do_no_harm() {
    let mut rounds = Rounds { rates: vec![f64::NAN, f64::INFINITY], newest: Vec::new(), wanted: f64::NAN, measured: 3 };
    assert_eq!((rounds.cap(1, HOUR, 0), rounds.wanted()), (limits::INCREMENT_PAGES_MIN, 0));
    rounds.observe(&round(9), Duration::ZERO, 0);
    rounds.observe(&round(400), HOUR, 0);
    assert_eq!((rounds.cap(1, HOUR, 0), rounds.measured), (800, 4));
    assert!((rounds.per_hour() - 400.0).abs() < 1e-9);
}

//! Unit tests of `frontier::crews`.

use super::*;

const HOUR: Duration = Duration::from_secs(3_600);

fn facts(lanes: u32, history_left: u64) -> Facts {
    Facts { lanes, increment_min: 1, history_left, known: 50_000, wanted: 0, possible: 1_000 }
}

fn increment(facts: &Facts) -> u32 {
    Split::of(facts).increment
}

#[test]
fn lanes_move_to_the_increment_as_history_is_fetched_and_back_as_it_grows() {
    let shares = [50_000, 40_000, 30_000, 20_000, 10_000, 120, 1, 0].map(|left| increment(&facts(4, left)));
    assert_eq!(shares, [1, 1, 1, 2, 3, 3, 3, 4]);
    let halved = [50_000, 20_000, 120, 0].map(|left| increment(&Facts { increment_min: 2, ..facts(4, left) }));
    assert_eq!(halved, [2, 2, 3, 4], "the least number is kept");
    // A new board was found.
    let grown = Facts { known: 90_000, ..facts(4, 40_120) };
    assert_eq!(increment(&grown), 2);
    for lanes in 2..50 {
        let shares: Vec<u32> = (0..=50).map(|part| increment(&facts(lanes, part * 1_000))).collect();
        assert!(shares.is_sorted_by(|a, b| a >= b), "{lanes}: {shares:?}");
        assert!(shares[1..].iter().all(|share| (1..lanes).contains(share)), "{lanes}: {shares:?}");
    }
}

#[test]
fn news_that_take_more_than_their_share_get_it_and_history_keeps_a_lane() {
    let busy = Facts { wanted: 120, ..facts(4, 50_000) };
    assert_eq!(Split::of(&busy), Split { lanes: 4, increment: 2, cause: Cause::NewsNeedsMore });
    assert_eq!(increment(&Facts { wanted: 90_000, ..busy }), 3);
    assert_eq!(increment(&Facts { wanted: 90_000, possible: 0, ..busy }), 1, "nothing is known of the rate");
    assert_eq!(increment(&Facts { wanted: u64::MAX, possible: u64::MAX, lanes: u32::MAX, ..busy }), u32::MAX - 1);
}

#[test]
fn the_reason_is_told() {
    let told = |facts: &Facts| Split::of(facts).sentence(facts);
    assert_eq!(told(&facts(4, 120)), "increment 3 of 4 lanes: 120 of 50000 pages of history left");
    assert_eq!(told(&facts(4, 0)), "increment 4 of 4 lanes: nothing of history left");
    assert!(told(&facts(1, 9)).starts_with("increment and history take turns at 1 lane: 9 of 50000"));
    assert!(told(&Facts { wanted: 370, ..facts(4, 50_000) }).contains("takes 370 of the 1000 requests"));
}

#[test]
fn the_interval_shortens_with_history_and_is_never_below_the_rule_files() {
    let long = |facts: &Facts| interval(HOUR, Split::of(facts), facts);
    assert_eq!(long(&facts(4, 50_000)), HOUR * 7 / 4);
    assert_eq!(long(&facts(4, 10_000)), HOUR * 5 / 4);
    assert_eq!(long(&facts(1, 10_000)), HOUR * 3 / 2);
    assert_eq!(long(&facts(4, 1_000)), HOUR, "history is done within a round");
    assert_eq!(long(&facts(4, 0)), HOUR);
    assert_eq!(interval(HOUR, Split::default(), &facts(4, 50_000)), HOUR);
}

/// Requests of the increment among so many, one at a time, if both crews always have something to do.
fn turns(split: Split, requests: u32) -> u32 {
    let mut turns = Turns::default();
    let hands = Hands { running: 0, has_work: true };
    (0..requests).filter(|_| turns.next(split, hands, hands).unwrap()).count().try_into().unwrap()
}

#[test]
fn requests_that_go_one_at_a_time_are_shared_as_the_lanes_are() {
    for (left, of_increment) in [(50_000, 100), (20_000, 200), (120, 300)] {
        assert_eq!(turns(Split::of(&facts(4, left)), 400), of_increment, "{left}");
    }
    assert_eq!(turns(Split::of(&facts(1, 9)), 400), 200);
}

#[test]
fn an_idle_crew_leaves_its_lanes_and_gathers_no_claim() {
    let split = Split::of(&facts(4, 50_000));
    let (idle, busy) = (Hands::default(), Hands { running: 0, has_work: true });
    let mut turns = Turns::default();
    for _ in 0..1_000 {
        assert_eq!(turns.next(split, busy, idle), Some(false));
    }
    assert_eq!(turns.next(split, idle, idle), None);
    let next: Vec<bool> = (0..8).filter_map(|_| turns.next(split, busy, busy)).collect();
    assert_eq!(next.iter().filter(|increments| **increments).count(), 2, "{next:?}");
}

#[test]
fn a_crew_has_no_more_requests_under_way_than_lanes_while_the_other_waits() {
    let split = Split::of(&facts(4, 50_000));
    let mut turns = Turns::default();
    let hands = |running| Hands { running, has_work: true };
    for _ in 0..100 {
        assert_eq!(turns.next(split, hands(3), hands(0)), Some(true));
        assert_eq!(turns.next(split, hands(2), hands(1)), Some(false));
        assert_eq!(turns.next(split, hands(3), hands(1)), None);
    }
}

#[test]
fn a_turn_that_was_given_back_costs_nothing() {
    let split = Split::of(&facts(4, 50_000));
    let mut turns = Turns::default();
    let hands = Hands { running: 0, has_work: true };
    let mut taken = 0;
    for request in 0..800 {
        let is_increments = turns.next(split, hands, hands).unwrap();
        match request % 2 {
            0 => turns.give_back(split, is_increments),
            _ => taken += u32::from(is_increments),
        }
    }
    assert_eq!(taken, 100);
}

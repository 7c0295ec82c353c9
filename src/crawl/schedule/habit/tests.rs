//! Unit tests of `schedule::habit`.

use super::*;

/// A Monday.
const START: u64 = 1_699_833_600;

/// Pseudo-random numbers from 0 to 1.
fn draws(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn habits(mut posts: Vec<u64>, days: u64) -> Habits {
    posts.sort_unstable();
    let mut habits = Habits::default();
    habits.take(posts.into_iter(), START as f64, (START + days * DAY_S) as f64);
    habits
}

/// One a day at `second` of the day, give or take `away` seconds.
fn nightly(days: std::ops::Range<u64>, second: f64, away: f64, seed: u64) -> Vec<u64> {
    let mut draw = draws(seed);
    // Twelve draws approximate a Gaussian.
    days.map(|day| {
        let gauss = (0..12).map(|_| draw()).sum::<f64>() - 6.0;
        (START as f64 + day as f64 * DAY + second + away * gauss) as u64
    })
    .collect()
}

#[test]
fn a_nightly_build_is_known_to_minutes_within_ten_days_and_its_post_is_expected_once_a_day() {
    for (second, away) in [(11_400.0, 90.0), (20.0, 90.0), (86_390.0, 20.0), (50_000.0, 300.0)] {
        let habits = habits(nightly(0..10, second, away, 7), 10);
        let [peak] = habits.peaks[..] else { panic!("{second} {away}: {habits:?}") };
        assert!(around(peak.middle - second).abs() < away, "{peak:?}");
        assert!((0.3 * away..1.3 * away).contains(&peak.spread) && (0.85..1.1).contains(&habits.per_day()), "{peak:?}");
        // From half a day after it on.
        let known = START as f64 + 10.0 * DAY + second + DAY / 2.0;
        let coming = habits.coming(known);
        let (posts, _) = coming[0].between(known, known + DAY);
        assert!((0.85..1.1).contains(&posts), "{second}: {posts} {peak:?}");
        let (posts, rate) = coming[0].between(known, known + DAY / 4.0);
        assert!(posts < 0.01 && rate < 1e-6, "{posts}");
        let step = coming[0].step_s(known);
        assert!((DAY / 4.0..DAY / 2.0).contains(&step), "{step}");
    }
}

#[test]
fn what_has_come_today_is_expected_no_more_and_what_is_late_ever_less() {
    let mut posts = nightly(0..10, 11_400.0, 90.0, 3);
    let due = (START + 10 * DAY_S + 11_400) as f64;
    let left = |posts: &[u64], known: f64| {
        let mut habits = Habits::default();
        habits.take(posts.iter().copied(), START as f64, known);
        habits.coming(known)[0].between(known, known + 3_600.0).0
    };
    assert!(left(&posts, due - 1_000.0) > 0.8);
    let late: Vec<f64> = [0.0, 100.0, 200.0].map(|late| left(&posts, due + late)).to_vec();
    assert!(late[0] > late[1] && late[1] > late[2], "{late:?}");
    posts.push(due as u64 - 30);
    assert!(left(&posts, due) < 0.1);
}

#[test]
fn builds_of_weekdays_are_not_waited_for_at_weekends_and_several_times_of_a_day_are_several_habits() {
    let of_weekdays = |posts: Vec<u64>| posts.into_iter().filter(|at| !is_weekend(*at)).collect::<Vec<u64>>();
    let habits = habits(of_weekdays(nightly(0..14, 40_000.0, 60.0, 5)), 14);
    let [peak] = habits.peaks[..] else { panic!("{habits:?}") };
    assert!(peak.mass[0] > 0.9 && peak.mass[1] < 0.3, "{peak:?}");
    let three = [10_000.0, 40_000.0, 70_000.0].map(|second| nightly(0..14, second, 120.0, second as u64)).concat();
    assert_eq!(super::tests::habits(three, 14).peaks.len(), 3);
}

#[test]
fn boards_of_people_have_no_habits() {
    for seed in 1..200 {
        let mut draw = draws(seed);
        // Ten a day, four fifths of them between eight and twenty.
        let posts = (0..140).map(|_| {
            let hour = if draw() < 0.8 { 8.0 + 12.0 * draw() } else { 24.0 * draw() };
            START + (draw() * 14.0) as u64 * DAY_S + (hour * 3_600.0) as u64
        });
        let habits = habits(posts.collect(), 14);
        assert!(habits.peaks.is_empty(), "{seed}: {habits:?}");
    }
}

#[test]
fn a_habit_that_ends_is_forgotten_and_what_is_kept_stays_bounded() {
    let mut habits = habits(nightly(0..14, 11_400.0, 90.0, 7), 14);
    assert_eq!(habits.peaks.len(), 1);
    for day in 15..25 {
        habits.take(std::iter::empty(), START as f64, (START + day * DAY_S) as f64);
    }
    assert!(habits.peaks.is_empty(), "{habits:?}");
    habits.take((0..100_000).map(|n| START + 30 * DAY_S + n * 61), START as f64, (START + 101 * DAY_S) as f64);
    assert!(habits.recent.len() == HABIT_POSTS_MAX && habits.peaks.is_empty());
    // Times that run backwards do no harm.
    habits.take([0, u64::MAX, 5].into_iter(), START as f64, 0.0);
    assert!(habits.per_day().is_finite() && habits.coming(0.0).is_empty());
}

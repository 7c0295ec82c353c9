//! Unit tests of `schedule::profile`.

use super::*;

/// Four weeks from a Monday, posts at the hours given of each weekday.
fn four_weeks(hours: &[u64]) -> Counts {
    let mut counts = Counts::default();
    let monday = 4 * DAY_S;
    for day in 0..28 {
        for hour in hours {
            let at = monday + day * DAY_S + hour * HOUR_S + 30;
            if !is_weekend(at) {
                assert!(counts.post(at));
                assert!(!counts.post(at + 1), "an hour counts once");
            }
        }
    }
    counts.watch(monday, monday + 28 * DAY_S);
    counts
}

#[test]
fn a_profile_has_a_mean_of_one_and_knows_nights_and_weekends() {
    let profile = Profile::of_board(&four_weeks(&[9, 10, 11, 14, 15]), &Profile::default());
    let week: f64 = (0..168).map(|hour| profile.at((hour * HOUR_S) as f64)).sum::<f64>() / 168.0;
    assert!((week - 1.0).abs() < 1e-4, "{week}");
    let monday = (4 * DAY_S) as f64;
    assert!(profile.at(monday + 10.5 * 3600.0) > 8.0 * profile.at(monday + 2.5 * 3600.0));
    assert!(profile.at(monday + 10.5 * 3600.0) > 2.0 * profile.at(monday + 5.0 * 86_400.0 + 10.5 * 3600.0));
}

#[test]
fn a_board_without_posts_has_the_profile_of_its_site() {
    let site = Profile::of_site(&four_weeks(&[9, 10, 11]));
    let mut counts = Counts::default();
    assert_eq!(Profile::of_board(&counts, &Profile::default()), Profile::default());
    counts.watch(0, 20 * DAY_S);
    let board = Profile::of_board(&counts, &site);
    for hour in 0..HOURS {
        assert!((board.of_day()[hour] - site.of_day()[hour]).abs() < 0.05, "{hour}");
    }
}

#[test]
fn time_watched_is_told_by_class() {
    let mut counts = Counts::default();
    counts.watch(DAY_S / 2, 15 * DAY_S);
    assert_eq!(counts.watched, [10.5, 4.0]);
    counts.watch(u64::MAX, 0);
    assert_eq!(counts.watched, [10.5, 4.0]);
}

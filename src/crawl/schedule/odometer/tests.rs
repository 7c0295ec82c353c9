//! Unit tests of `schedule::odometer`.

use super::*;
use crate::schedule::forecast::Forecast;

/// An odometer that has seen a post every hour for five days, two numbers apart, of boards that are all known.
fn watched() -> Odometer {
    let mut odometer = Odometer::default();
    (0..120).for_each(|n| odometer.take(100 + 2 * n, n * HOUR_S));
    odometer.count_others(0.0, 119.0 * HOUR_S as f64);
    odometer
}

fn waiting(odometer: &Odometer, at: u64) -> f64 {
    let mut forecast = Forecast::new(0.0);
    let posts = (0..24).map(|n| (n as f64 * 5.0 * HOUR_S as f64, 1.0));
    forecast.take(posts, (at * HOUR_S) as f64, 0.0, &Profile::default(), &mut Shares::default());
    let ahead = forecast.ahead(0.0, &Profile::default(), &Shares::default());
    let mut boards = [ahead.clone(), ahead];
    odometer.carry(&mut boards, &[Some(1.0); 2], &[Profile::default(), Profile::default()], &Shares::default());
    boards.iter().map(|ahead| ahead.posts).sum()
}

#[test]
fn what_is_of_no_board_is_counted_and_the_rest_waits() {
    let mut odometer = watched();
    assert!(odometer.counts());
    assert!((odometer.of_others(1e6) * HOUR_S as f64 - 1.0).abs() < 0.05);
    let before = odometer.clone();
    // Four hours later, by when four of the others came: 4 numbers, or 24.
    let last = 100 + 2 * 119;
    odometer.take(last + 5, 123 * HOUR_S);
    let mut more = before.clone();
    more.take(last + 25, 123 * HOUR_S);
    let (few, many) = (waiting(&odometer, 119), waiting(&more, 119));
    assert!(few < 3.0 && many > 8.0 && many < 24.0, "{few}, {many}");
}

#[test]
fn numbers_out_of_order_are_not_believed() {
    let mut own = Odometer::default();
    for n in 0..200 {
        own.take(10_000 * (n % 3) + n, n * HOUR_S);
    }
    own.count_others(0.0, 200.0 * HOUR_S as f64);
    assert!(!own.counts());
    // A wrong one at the beginning is recovered from.
    let mut odometer = Odometer::default();
    odometer.take(u64::MAX, 0);
    (0..120).for_each(|n| odometer.take(100 + 2 * n, (n + 1) * HOUR_S));
    odometer.count_others(0.0, 130.0 * HOUR_S as f64);
    assert!(odometer.counts());
}

#[test]
fn what_is_wrong_among_many_is_taken_out() {
    let mut odometer = Odometer::default();
    for n in 0..400 {
        odometer.take(1_000 + 2 * n, n * HOUR_S);
        if n % 100 == 50 {
            odometer.take(90_210 + n, n * HOUR_S);
        }
    }
    odometer.count_others(0.0, 400.0 * HOUR_S as f64);
    assert!(odometer.counts(), "{} fit, {} do not", odometer.fits, odometer.misfits);
    // A number that counts days is the same for many posts.
    let mut of_days = Odometer::default();
    (0..2_000).for_each(|n| of_days.take(20_240_000 + n / 50, n * 1_700));
    of_days.count_others(0.0, 2_000.0 * 1_700.0);
    assert!(!of_days.counts());
}

#[test]
fn what_is_kept_is_bounded_and_any_clock_does() {
    let mut odometer = Odometer::default();
    (0..20_000).for_each(|n| odometer.take(n, n));
    odometer.forget();
    assert!(odometer.seen.len() <= limits::NUMBERS_SEEN_MAX);
    odometer.set_back(u64::MAX);
    odometer.take(7, u64::MAX);
    odometer.take(u64::MAX, 0);
    odometer.count_others(f64::NEG_INFINITY, f64::INFINITY);
    assert!(odometer.of_others(0.0).is_finite());
}

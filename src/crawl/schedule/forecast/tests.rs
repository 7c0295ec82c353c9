//! Unit tests of `schedule::forecast`.

use super::*;

fn take(forecast: &mut Forecast, posts: &[f64], until: f64) {
    let posts = posts.iter().map(|at| (*at, 1.0));
    forecast.take(posts, until, 0.0, &Profile::default(), &mut Shares::default());
}

fn posts_every(seconds: f64, days: f64) -> Forecast {
    let mut forecast = Forecast::new(0.0);
    let posts: Vec<f64> = (0..(days * DAY / seconds) as u32).map(|post| f64::from(post) * seconds).collect();
    take(&mut forecast, &posts, days * DAY);
    forecast
}

fn rate(forecast: &Forecast) -> f64 {
    forecast.ahead(0.0, &Profile::default(), &Shares::default()).rate
}

#[test]
fn a_steady_board_is_expected_to_go_on() {
    let forecast = posts_every(2.0 * HOUR, 30.0);
    let mut ahead = forecast.ahead(0.0, &Profile::default(), &Shares::default());
    ahead.go_to(31.0 * DAY, &Profile::default(), &Shares::default());
    assert!((10.0..15.0).contains(&ahead.posts), "{}", ahead.posts);
    let level = forecast.level(0.0, &Shares::default()) * DAY;
    assert!((11.0..14.0).contains(&level), "{level}");
}

#[test]
fn a_burst_raises_the_rate_and_silence_lets_it_fall() {
    let mut forecast = posts_every(2.0 * HOUR, 30.0);
    let before = rate(&forecast);
    let burst: Vec<f64> = (0..10).map(|post| 30.0 * DAY + f64::from(post) * 120.0).collect();
    take(&mut forecast, &burst, 30.0 * DAY + 1_200.0);
    assert!(rate(&forecast) > 5.0 * before);
    take(&mut forecast, &[], 40.0 * DAY);
    assert!(rate(&forecast) < 0.5 * before);
    take(&mut forecast, &[], 40_000.0 * DAY);
    assert!((rate(&forecast) / ASLEEP - 1.0).abs() < 0.01);
}

#[test]
fn a_flood_in_one_second_is_one_event() {
    let (mut flood, mut one) = (posts_every(HOUR, 2.0), posts_every(HOUR, 2.0));
    take(&mut flood, &[2.0 * DAY; 1_000], 2.0 * DAY);
    take(&mut one, &[2.0 * DAY], 2.0 * DAY);
    assert_eq!(flood, one);
}

#[test]
fn a_board_just_met_is_taken_for_an_average_one() {
    let level = |forecast: &Forecast| forecast.level(3.0 / DAY, &Shares::default()) * DAY;
    assert!((2.9..3.3).contains(&level(&Forecast::new(5.0 * DAY))));
    let mut silent = Forecast::new(0.0);
    take(&mut silent, &[], 20.0 * DAY);
    assert!(level(&silent) < 0.4);
}

#[test]
fn a_site_without_bursts_unlearns_them_and_one_of_bursts_does_not() {
    let shares_of = |burst: u32| {
        let (mut shares, mut forecast) = (Shares::default(), Forecast::new(0.0));
        let mut posts = Vec::new();
        // Some ten a day, at times that repeat no pattern.
        for event in 0..(1_500 / burst) {
            let at = f64::from(event * burst) * 0.1 * DAY + f64::from(event * 7_919 % 9_001);
            posts.extend((0..burst).map(|post| (at + f64::from(post) * 300.0, 1.0)));
        }
        posts.sort_by(|a, b| a.0.total_cmp(&b.0));
        // Recheck by recheck, as in a crawl.
        for day in 0..150 {
            let (from, to) = (f64::from(day) * DAY, f64::from(day + 1) * DAY);
            let of_day = posts.iter().copied().filter(|(at, _)| (from..to).contains(at));
            forecast.take(of_day, to, 10.0 / DAY, &Profile::default(), &mut shares);
        }
        shares.shares
    };
    assert!(shares_of(1)[0] < 0.1, "{:?}", shares_of(1));
    assert!(shares_of(10)[0] > 0.2, "{:?}", shares_of(10));
}

#[test]
fn times_that_run_backwards_do_no_harm() {
    let mut forecast = Forecast::new(DAY);
    take(&mut forecast, &[], 3.0 * DAY);
    take(&mut forecast, &[0.0, 1e12], DAY);
    assert_eq!(forecast.known_until(), 3.0 * DAY);
    assert!(rate(&forecast).is_finite());
}

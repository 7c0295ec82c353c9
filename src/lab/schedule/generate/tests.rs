//! Unit tests of `schedule::generate`.

use super::*;

#[test]
fn the_same_seed_gives_the_same_trace_and_another_one_another() {
    let forum = Forum { boards: 5, days: 10, ..Forum::default() };
    assert_eq!(forum.trace().unwrap(), forum.trace().unwrap());
    assert_ne!(forum.trace().unwrap(), Forum { seed: 2, ..forum }.trace().unwrap());
}

#[test]
fn the_forum_has_the_rates_that_were_asked_for() {
    let forum = Forum { boards: 20, days: 200, turning: 0.0, ..Forum::default() };
    let trace = forum.trace().unwrap();
    let posts: Vec<&Post> = trace.boards.iter().flat_map(|board| &board.posts).collect();
    let per_day = posts.len() as f64 / (20.0 * 200.0);
    assert!((7.2..8.8).contains(&per_day), "{per_day}");
    let at_weekends = posts.iter().filter(|post| is_weekend(post.at)).count() as f64 / posts.len() as f64;
    assert!((at_weekends - 1.0 / 6.0).abs() < 0.02, "{at_weekends}");
    let (busiest, quietest) = (trace.boards[0].posts.len() as f64, trace.boards[19].posts.len() as f64);
    assert!((15.0..60.0).contains(&(busiest / quietest)), "{busiest} {quietest}");
}

#[test]
fn boards_die_and_wake() {
    let trace = Forum { boards: 30, turning: 1.0, posts_per_day: 50.0, ..Forum::default() }.trace().unwrap();
    let (start, end) = (1_609_459_200, 1_609_459_200 + 60 * DAY_S);
    let wake = |board: &&Board| board.posts.first().is_none_or(|post| post.at > start + 3 * DAY_S);
    let die = |board: &&Board| board.posts.last().is_none_or(|post| post.at < end - 3 * DAY_S);
    assert!(trace.boards.iter().filter(wake).count() >= 8);
    assert!(trace.boards.iter().filter(die).count() >= 8);
}

#[test]
fn nonsense_is_refused() {
    let of = Forum::default;
    for forum in [
        Forum { boards: 0, ..of() },
        Forum { boards: usize::MAX, ..of() },
        Forum { days: 0, ..of() },
        Forum { days: u64::MAX, ..of() },
        Forum { posts_per_day: f64::NAN, ..of() },
        Forum { posts_per_day: 1e18, ..of() },
        Forum { hours: [0.0; HOURS], ..of() },
        Forum { burst: 0.0, ..of() },
        Forum { spread: f64::INFINITY, ..of() },
        Forum { turning: 2.0, ..of() },
    ] {
        assert!(forum.trace().is_err(), "{forum:?}");
    }
}

//! Unit tests of `freshness::plot`.

use super::super::delay::{Arrival, Delays};
use super::*;
use gleaner_base::clock::UnixMillis;

fn report(delays_s: &[u64]) -> Report {
    let mut delays = Delays::default();
    for (hour, delay_s) in delays_s.iter().enumerate() {
        let seen = UnixMillis(1_790_000_000_000 + hour as u64 * 3_600_000);
        delays.add(&Arrival {
            shown: None,
            last_absent: Some(seen),
            first_seen: seen,
            acquired: UnixMillis(seen.0 + delay_s * 1_000),
            site_since: UnixMillis(0),
        });
    }
    delays.report()
}

#[test]
fn a_delay_that_falls_is_drawn_falling() {
    let falling: Vec<u64> = (0..40).map(|hour| 40_000 / (hour + 1)).collect();
    let text = plot(&report(&falling), 60);
    let columns: Vec<Option<usize>> = (0..48)
        .map(|column| text.lines().take(LINES).position(|line| line.chars().nth(11 + column) == Some('•')))
        .collect();
    let drawn: Vec<usize> = columns.into_iter().flatten().collect();
    assert!(drawn.len() >= 30 && drawn.is_sorted(), "{text}");
    assert!(text.contains("11 h") && text.contains("2026-"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 66), "{text}");
}

#[test]
fn nothing_one_and_strange_widths_are_drawn() {
    assert!(plot(&report(&[]), 80).contains("no torrent"));
    for width in [0, 1, 80, usize::MAX] {
        assert!(plot(&report(&[0]), width).contains('•'));
    }
}

#[test]
fn durations_have_the_unit_that_fits() {
    let told: Vec<String> = [5.0, 600.0, 7_200.0, 864_000.0].map(duration).into();
    assert_eq!(told, ["5 s", "10 min", "2.0 h", "10 d"]);
}

//! Unit tests of `clock::hours`.

use super::*;

/// 2026-11-21 at this time, UTC.
fn at(hour: u64, minute: u64) -> UnixMillis {
    UnixMillis(20_778 * DAY_MS + (hour * 60 + minute) * MINUTE_MS)
}

fn hours(windows: &[&str], shift: &str) -> Hours {
    Hours { quiet: windows.iter().map(|text| window(text).unwrap()).collect(), offset_minutes: offset(shift).unwrap() }
}

#[test]
fn quiet_hours_end_when_their_window_does() {
    let day = hours(&["08:00-20:00"], "Z");
    assert_eq!(day.quiet_until(at(7, 59)), None);
    assert_eq!(day.quiet_until(at(8, 0)), Some(at(20, 0)));
    assert_eq!(day.quiet_until(UnixMillis(at(19, 59).0 + 59_999)), Some(at(20, 0)));
    assert_eq!(day.quiet_until(at(20, 0)), None);
}

#[test]
fn a_window_may_run_over_midnight() {
    let night = hours(&["22:30-06:00"], "Z");
    assert_eq!(night.quiet_until(at(22, 29)), None);
    assert_eq!(night.quiet_until(at(23, 0)), Some(at(30, 0)));
    assert_eq!(night.quiet_until(at(5, 59)), Some(at(6, 0)));
    assert_eq!(night.quiet_until(at(6, 0)), None);
}

#[test]
fn windows_that_touch_or_overlap_are_one() {
    let both = hours(&["08:00-12:00", "11:00-14:00", "14:00-15:00"], "Z");
    assert_eq!(both.quiet_until(at(9, 0)), Some(at(15, 0)));
    let over_midnight = hours(&["20:00-24:00", "00:00-04:00"], "Z");
    assert_eq!(over_midnight.quiet_until(at(21, 0)), Some(at(28, 0)));
}

#[test]
fn a_day_without_an_hour_left_never_ends_and_asking_does() {
    let always = hours(&["00:00-12:00", "12:00-00:00"], "Z");
    assert_eq!(always.quiet_until(at(3, 0)), Some(at(27, 0)));
    assert!(always.is_always_quiet());
    assert!(!hours(&["00:00-12:00", "12:01-00:00"], "Z").is_always_quiet());
}

#[test]
fn the_offset_moves_the_windows_and_the_days() {
    let east = hours(&["00:00-06:00"], "+08:00");
    assert_eq!(east.quiet_until(at(15, 59)), None);
    assert_eq!(east.quiet_until(at(16, 0)), Some(at(22, 0)));
    assert_eq!(east.day(at(16, 0)), east.day(at(15, 59)) + 1);
    assert_eq!(east.next_day(at(15, 0)), at(16, 0));
    let west = hours(&["22:00-23:00"], "-03:30");
    assert_eq!(west.quiet_until(at(1, 30)), Some(at(2, 30)));
}

#[test]
fn what_is_left_of_a_day_leaves_out_its_quiet_hours() {
    let (none, some) = (hours(&[], "Z"), hours(&["22:00-06:00", "12:00-13:00"], "Z"));
    let minutes = |minutes: u64| Duration::from_secs(minutes * 60);
    assert_eq!((none.open_of_day(at(3, 0)), some.open_of_day(at(3, 0))), (minutes(24 * 60), minutes(15 * 60)));
    assert_eq!((none.open_left(at(23, 0)), some.open_left(at(23, 0))), (minutes(60), minutes(0)));
    assert_eq!(some.open_left(UnixMillis(at(11, 30).0 + 20_000)), minutes(9 * 60 + 30) - Duration::from_secs(20));
    for (left, then) in [(9 * 60 + 15, at(11, 45)), (9 * 60, at(12, 0)), (8 * 60, at(14, 0)), (0, at(22, 0))] {
        assert_eq!(some.when_open_left(at(11, 30), minutes(left)), then, "{left} minutes");
    }
    assert_eq!(none.when_open_left(at(11, 30), minutes(60)), at(23, 0));
    assert_eq!(some.when_open_left(at(21, 0), minutes(600)), at(21, 0));
}

#[test]
fn what_is_no_window_or_offset_is_refused() {
    for text in ["", "8-20", "08:00", "08:00-08:00", "25:00-26:00", "24:00-06:00", "08:60-09:00", "a:b-c:d", "8:0-9:00"]
    {
        assert_eq!(window(text), None, "{text}");
    }
    assert_eq!(window("8:00 - 24:00"), Some((480, 1_440)));
    for text in ["", "+", "8", "+8", "+25:00", "+14:01", "+01:07", "é8:00", "+1:é"] {
        assert_eq!(offset(text), None, "{text}");
    }
    assert_eq!(offset("-03:30"), Some(-210));
}

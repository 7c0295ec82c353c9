//! Unit tests of `site_loop::budget`.

use super::*;

const DAY: Duration = Duration::from_secs(86_400);
const HOUR: Duration = Duration::from_secs(3_600);

/// A day of which this was used, with the reserve for this demand from its beginning.
fn day(requests_max: u64, used: u64, wanted: u64) -> Day {
    let day = Day { requests_max, used: 0, kept_per_mille: 0, lasts: DAY };
    Day { kept_per_mille: day.kept_for(wanted, DAY), used, ..day }
}

#[test]
fn a_tenth_is_kept_at_least_and_half_at_most_of_what_is_left_of_the_day() {
    for (wanted, history) in [(0, 900), (50, 900), (300, 700), (9_000, 500)] {
        let day = |used| day(1_000, used, wanted);
        assert_eq!(day(history - 1).history_waits(DAY), None, "{wanted}");
        assert!(day(history).history_waits(DAY).is_some_and(|left| left < DAY), "{wanted}");
        let later = 1_000 - (1_000 - history) / 2;
        assert_eq!(day(later - 1).history_waits(DAY / 2), None, "{wanted}: half of it in half a day");
    }
}

#[test]
fn of_a_day_that_was_begun_minutes_before_its_end_a_tenth_is_kept_too() {
    let lasts = Duration::from_secs(660);
    let day = |used| {
        let day = Day { requests_max: 600, used: 0, kept_per_mille: 0, lasts };
        Day { kept_per_mille: day.kept_for(0, lasts), used, ..day }
    };
    assert_eq!((day(539).history_waits(lasts), day(0).increment_waits(lasts)), (None, None));
    assert!(day(540).history_waits(lasts).is_some());
    assert_eq!(day(598).history_waits(Duration::from_secs(5)), None, "and in the end all of it is used");
}

#[test]
fn no_more_is_kept_than_there_is_and_no_less_than_before() {
    let kept = |day: Day, wanted, left| day.kept_for(wanted, left) / 1_000;
    let (fresh, spent) = (day(1_000, 0, 0), day(1_000, 900, 0));
    assert_eq!([0, 300, 900].map(|wanted| kept(fresh, wanted, DAY)), [100, 300, 500]);
    assert_eq!([0, 300, 900].map(|wanted| kept(spent, wanted, DAY)), [100, 100, 100], "history has had the rest");
    assert_eq!([0, 300, 900].map(|wanted| kept(spent, wanted, DAY / 4)), [100, 300, 400]);
    assert_eq!(kept(day(1_000, 0, 400), 0, DAY), 400);
    assert_eq!(kept(day(1_000, 1_000, 0), 400, Duration::ZERO), 400);
}

#[test]
fn the_increment_takes_what_is_kept_over_the_whole_day_and_history_what_is_left_of_it() {
    for (wanted, lasts) in [(300, DAY), (900, DAY), (300, 4 * HOUR)] {
        let minutes = u32::try_from(lasts.as_secs() / 60).unwrap();
        for takes_all in [true, false] {
            let mut day = Day { lasts, ..day(1_000, 0, wanted) };
            let (mut last, mut gap, mut of_history) = (0, 0, 0);
            for minute in 0..=minutes {
                let left = lasts * (minutes - minute) / minutes;
                while day.history_waits(left).is_none() {
                    (day.used, of_history) = (day.used + 1, of_history + 1);
                }
                while takes_all && day.increment_waits(left).is_none() {
                    day.used += 1;
                    (gap, last) = (gap.max(minute - last), minute);
                }
            }
            assert_eq!(day.used, 1_000, "all of the day is used");
            let kept = wanted.min(500);
            if takes_all {
                assert!(gap <= minutes / 40 && last >= minutes - minutes / 40, "{gap} and {last} of {minutes} minutes");
                // The last ones of the day may be either crew's.
                assert!(of_history <= 1_000 - kept + kept / 30, "{of_history} beside {kept}");
            } else {
                assert_eq!(of_history, 1_000, "what nobody wants is history's");
            }
        }
    }
}

#[test]
fn history_goes_on_at_the_time_that_is_told() {
    for used in 900..1_000 {
        let day = day(1_000, used, 0);
        let Some(left) = day.history_waits(DAY) else { panic!("{used}") };
        assert_eq!(day.history_waits(left), None, "{used} at {left:?}");
        let before = left + Duration::from_secs(1);
        assert!(day.history_waits(before).is_some(), "{used} at {before:?}");
    }
    for (requests_max, used, wanted) in [(0, 0, 0), (9, u64::MAX, u64::MAX), (9, 9, 0)] {
        assert_eq!(day(requests_max, used, wanted).history_waits(HOUR), Some(Duration::ZERO));
    }
    // Quiet hours may leave nothing of a day.
    assert_eq!(Day { lasts: Duration::ZERO, ..day(9, 0, 0) }.history_waits(Duration::ZERO), None);
}

//! Unit tests of `freshness::delay`.

use proptest::prelude::*;

use super::*;

const MINUTE: u64 = 60_000;
const DAY: u64 = 24 * HOUR_MS;
const START: u64 = 20_000 * DAY;

fn at(ms: u64) -> UnixMillis {
    UnixMillis(START + ms)
}

fn arrival(shown: Option<(u64, u64)>, absent: Option<u64>, seen: u64, acquired: u64) -> Arrival {
    Arrival {
        shown: shown.map(|(ms, precision_ms)| SiteTime { at: at(ms), precision_ms }),
        last_absent: absent.map(at),
        first_seen: at(seen),
        acquired: at(acquired),
        site_since: at(0),
    }
}

fn between(from: u64, until: u64) -> Between {
    Between { from: at(from), until: at(until) }
}

#[test]
fn the_sites_time_and_the_looks_narrow_each_other() {
    let known = |shown, absent| arrival(shown, absent, 60 * MINUTE, 61 * MINUTE).appeared();
    assert_eq!(known(None, Some(30 * MINUTE)), Appearance::Looks(between(30 * MINUTE, 60 * MINUTE)));
    assert_eq!(
        known(Some((40 * MINUTE, MINUTE)), Some(30 * MINUTE)),
        Appearance::Shown(between(40 * MINUTE, 41 * MINUTE))
    );
    assert_eq!(
        known(Some((29 * MINUTE + 50_000, 1_000)), Some(30 * MINUTE)),
        Appearance::Looks(between(30 * MINUTE, 60 * MINUTE)),
        "two clocks that are right"
    );
    assert_eq!(
        known(Some((60 * MINUTE + 5_000, 1_000)), None),
        Appearance::Shown(between(60 * MINUTE, 60 * MINUTE)),
        "and two without an earlier look"
    );
    assert_eq!(
        known(Some((0, DAY)), Some(30 * MINUTE)),
        Appearance::Shown(between(30 * MINUTE, 60 * MINUTE)),
        "a date"
    );
    assert_eq!(
        known(Some((200 * MINUTE, MINUTE)), Some(30 * MINUTE)),
        Appearance::Contradicted(between(30 * MINUTE, 60 * MINUTE)),
        "a clock that is ahead"
    );
    assert_eq!(
        known(Some((10 * MINUTE, MINUTE)), Some(30 * MINUTE)),
        Appearance::Contradicted(between(30 * MINUTE, 60 * MINUTE))
    );
}

#[test]
fn what_was_there_at_the_first_look_is_history() {
    assert_eq!(arrival(None, None, 0, MINUTE).appeared(), Appearance::History);
    let before = Arrival { site_since: at(DAY), ..arrival(Some((0, MINUTE)), None, DAY, DAY) };
    assert_eq!(before.appeared(), Appearance::History);
    let later = arrival(Some((5 * MINUTE, MINUTE)), None, 60 * MINUTE, 61 * MINUTE);
    assert_eq!(
        later.appeared(),
        Appearance::Shown(between(5 * MINUTE, 6 * MINUTE)),
        "of a list looked at for the first time"
    );
    let ahead = arrival(Some((90 * MINUTE, MINUTE)), None, 60 * MINUTE, 61 * MINUTE);
    assert_eq!(ahead.appeared(), Appearance::History, "a time in the future proves nothing");
}

#[test]
fn figures_have_a_least_a_middle_and_a_most() {
    let mut delays = Delays::default();
    for n in 0..100 {
        // Checks are 10 minutes apart; acquired 5 minutes after the check that showed it.
        let seen = (n + 1) * HOUR_MS;
        delays.add(&arrival(None, Some(seen - 10 * MINUTE), seen, seen + 5 * MINUTE));
    }
    delays.add(&arrival(None, None, 0, 0));
    let report = delays.report();
    assert_eq!((report.torrents, report.history, report.looks), (100, 1, 100));
    for (found, expected) in
        [(report.median.least_s, 300.0), (report.median.middle_s, 600.0), (report.median.most_s, 900.0)]
    {
        let found = found.expect("a figure");
        assert!((found / expected - 1.0).abs() <= 0.03, "{found} for {expected}");
    }
    assert_eq!(report.over_time.len(), 100);
    assert!(Delays::default().report().median.middle_s.is_none());
}

#[test]
fn bins_grow_longer_instead_of_more() {
    let mut delays = Delays::default();
    for n in 0..5_000 {
        let seen = n * 7 * HOUR_MS;
        delays.add(&arrival(None, Some(seen), seen, seen + MINUTE));
    }
    let report = delays.report();
    assert!(report.over_time.len() <= DELAY_BINS_MAX);
    assert_eq!(report.over_time.iter().map(|point| point.torrents).sum::<u64>(), 5_000);
    assert!(report.over_time.is_sorted_by(|one, next| one.until <= next.from));
}

#[test]
fn notes_give_the_delays_back_and_broken_ones_are_refused() {
    let mut delays = Delays::default();
    delays.add(&arrival(None, Some(0), 10, 20));
    let bytes = delays.to_bytes();
    assert_eq!(Delays::from_bytes(&bytes), Some(delays));
    let text = String::from_utf8(bytes).expect("JSON");
    for bad in [
        "".to_owned(),
        "{}".to_owned(),
        text.replace("\"version\":1", "\"version\":2"),
        text.replace("\"bin_hours\":1", "\"bin_hours\":0"),
        text.replace("\"bin_hours\":1", "\"bin_hours\":3"),
        text[..text.len() / 2].to_owned(),
    ] {
        assert_eq!(Delays::from_bytes(bad.as_bytes()), None, "{bad}");
    }
    // The largest numbers that a note can contain.
    let huge = text.replace("\"looks\":1", &format!("\"looks\":{}", u64::MAX)).replace("\"1\":1", "\"65535\":1");
    assert_ne!(huge, text);
    let mut delays = Delays::from_bytes(huge.as_bytes()).expect("a note");
    delays.add(&arrival(None, Some(0), 10, 20));
    delays.merge(&delays.clone());
    assert!(delays.report().p99.most_s.is_some_and(f64::is_finite));
}

proptest! {
    #[test]
    fn any_times_in_any_order_add_up(
        times in proptest::collection::vec((any::<u64>(), any::<u64>(), proptest::option::of(any::<u64>()), any::<u64>()), 0..40),
        cut in 0_usize..40,
    ) {
        let arrival = |&(shown, precision_ms, absent, seen): &(u64, u64, Option<u64>, u64)| Arrival {
            shown: (shown % 3 > 0).then_some(SiteTime { at: UnixMillis(shown), precision_ms }),
            last_absent: absent.map(UnixMillis),
            first_seen: UnixMillis(seen),
            acquired: UnixMillis(seen ^ precision_ms),
            site_since: UnixMillis(precision_ms / 2),
        };
        let (mut whole, mut one, mut other) = (Delays::default(), Delays::default(), Delays::default());
        for (place, times) in times.iter().enumerate() {
            whole.add(&arrival(times));
            if place < cut { one.add(&arrival(times)) } else { other.add(&arrival(times)) }
        }
        one.merge(&other);
        let (whole, merged) = (whole.report(), one.report());
        prop_assert_eq!((whole.torrents, whole.history, whole.median), (merged.torrents, merged.history, merged.median));
        prop_assert!(merged.over_time.len() <= DELAY_BINS_MAX);
    }
}

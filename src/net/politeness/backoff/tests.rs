//! Unit tests of `politeness::backoff`.

use super::*;

const NOW: UnixMillis = UnixMillis(784_111_000_000); // 1994-11-06T08:36:40Z

#[test]
fn retry_after_takes_seconds_and_all_three_forms_of_date() {
    assert_eq!(retry_after("120", NOW), Some(NOW.plus(Duration::from_secs(120))));
    assert_eq!(retry_after(" 0 ", NOW), Some(NOW));
    for date in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
        assert_eq!(retry_after(date, NOW), Some(UnixMillis(784_111_777_000)), "{date}");
    }
}

#[test]
fn a_year_of_four_digits_between_dashes_is_that_year_and_of_five_none() {
    assert_eq!(retry_after("Sun, 06-Nov-1994 08:49:37 GMT", NOW), Some(UnixMillis(784_111_777_000)));
    assert_eq!(retry_after("Sunday, 06-Nov-65000 08:49:37 GMT", NOW), None);
}

#[test]
fn retry_after_that_says_nothing_usable_is_none() {
    for value in ["", "soon", "-5", "1.5", "Sun, 06 Nov", "Sun, 99 Nov 1994 08:49:37 GMT", ", - -"] {
        assert_eq!(retry_after(value, NOW), None, "{value}");
    }
}

#[test]
fn retry_after_is_capped() {
    let latest = NOW.plus(limits::RETRY_AFTER_MAX);
    for value in ["99999999", "99999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"] {
        assert_eq!(retry_after(value, NOW), Some(latest), "{value}");
        assert!(is_capped(value, NOW), "{value}");
    }
    assert!(!is_capped("86400", NOW) && !is_capped("soon", NOW));
}

#[test]
fn a_url_is_given_up_after_its_last_attempt() {
    let waits: Vec<_> =
        (1..=limits::ATTEMPTS_MAX).map(|n| retry_at(n, NOW).map(|at| at.since(NOW).as_secs())).collect();
    assert_eq!(waits, [Some(1), Some(4), Some(16), None]);
}

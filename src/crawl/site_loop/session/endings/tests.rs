//! Unit tests of `site_loop::session::endings`.

use super::*;

#[test]
fn whoever_ends_a_session_alone_and_again_has_ended_it() {
    let mut endings = Endings::default();
    assert_eq!(endings.end(&[1, 2, 3], 4), None);
    assert!(endings.go_alone(0) && !endings.go_alone(limits::SUSPECTS_ANSWERS_MAX));
    endings.clear(1);
    assert_eq!(endings.end(&[2], 4), None, "a site may end each session at once");
    assert_eq!(endings.end(&[2], 0), Some(2));
    assert!(!endings.go_alone(0));
    let mut endings = Endings::default();
    for (marks, expected) in [(&[1, 2][..], None), (&[2, 3], None), (&[2], None), (&[2], Some(2))] {
        assert_eq!(endings.end(marks, 0), expected, "alone for the second time");
    }
}

#[test]
fn sessions_that_end_after_as_many_answers_have_asked_nobody_in_particular() {
    let mut endings = Endings::default();
    for answers in [60, 60, 59, 60, 60, 61] {
        assert_eq!(endings.end(&[7], answers), None);
    }
    assert_eq!(endings.end(&[7], 12), Some(7), "the first of them may have been its own");
}

#[test]
fn sessions_that_last_suspect_only_who_was_asked_at_two_of_their_ends() {
    let mut endings = Endings::default();
    // Each lasts for another number of responses.
    let mut long = (1..).map(|nth| nth * limits::SESSION_ANSWERS_MIN);
    let mut long = || long.next().unwrap();
    assert_eq!(endings.end(&[1, 2, 3], long()), None);
    assert!(!endings.go_alone(0));
    [1, 2].into_iter().for_each(|mark| endings.clear(mark));
    assert_eq!(endings.end(&[3, 4], long()), None);
    assert!(endings.go_alone(0));
    assert_eq!(endings.end(&[5], long()), None, "another one");
    assert_eq!(endings.end(&[3], long()), None, "the third, alone, and not of all");
    assert_eq!(endings.end(&[3], long()), None);
    assert_eq!(endings.end(&[3], long()), Some(3), "the fifth");
    assert_eq!(
        (endings.end(&[3, 4], long()), endings.end(&[3], long()), endings.end(&[3], long())),
        (None, None, Some(3))
    );
    // A URL left at the end of a crawl may be in flight at two ends by chance, once alone.
    let mut endings = Endings::default();
    for (marks, expected) in [(&[1, 2][..], None), (&[2], None), (&[2], Some(2))] {
        assert_eq!(endings.end(marks, long()), expected);
        assert_eq!(endings.go_alone(0), marks.len() == 1 && expected.is_none(), "a second end makes it a suspect");
    }
}

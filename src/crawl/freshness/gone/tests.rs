//! Signs in responses, and verdicts from separate checks.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

fn at(minutes: u64) -> UnixMillis {
    UnixMillis(1_790_000_000_000 + minutes * 60_000)
}

fn page(text: &str) -> Answer<'_> {
    Answer { status: 200, landing: None, text, sketch: None, has_torrent: false, is_of_guest: false, is_whole: true }
}

fn status(status: u16) -> Answer<'static> {
    Answer { status, ..page("") }
}

fn words(seed: u64, count: u64) -> String {
    (0..count).map(|n| format!("w{}x ", (seed * 1_000 + n) * 7_919 % 100_003)).collect()
}

#[test]
fn statuses_pages_and_words_are_signs() {
    let none = NotFound::default();
    assert_eq!(sign(&status(404), &none, None), Sign::Absent(Why::Status(404)));
    assert_eq!(sign(&status(410), &none, None), Sign::Absent(Why::Status(410)));
    assert_eq!(sign(&status(304), &none, None), Sign::Present);
    for other in [301, 403, 429, 500, 503, 0] {
        assert_eq!(sign(&status(other), &none, None), Sign::Nothing, "{other}");
    }
    for said in [
        "Sorry, this\n Torrent has been DELETED.",
        "抱歉，指定的主题不存在或已被删除或正在被审核",
        "Раздача удалена модератором",
    ] {
        assert_eq!(sign(&page(said), &none, None), Sign::Absent(Why::Said), "{said}");
        let there = Answer { has_torrent: true, ..page(said) };
        assert_eq!(sign(&there, &none, None), Sign::Present, "a comment may say so: {said}");
    }
    assert_eq!(sign(&page("Down for maintenance"), &none, None), Sign::Nothing);
    assert_eq!(sign(&page("Your search: nothing found"), &none, None), Sign::Nothing);
}

#[test]
fn answers_to_guests_and_broken_ones_say_nothing() {
    let none = NotFound::default();
    for answer in [status(404), page("torrent not found")] {
        assert_eq!(sign(&Answer { is_of_guest: true, ..answer }, &none, None), Sign::Nothing);
        assert_eq!(sign(&Answer { is_whole: false, ..answer }, &none, None), Sign::Nothing);
    }
}

#[test]
fn a_soft_404_is_known_by_the_page_for_what_cannot_exist() {
    let frame = words(1, 400);
    let sketch = |text: &str| Sketch::of(format!("<p>{frame}{text}</p>").as_bytes());
    let (one, other) = (sketch("nothing here a"), sketch("nothing here b"));
    let probe = |sketch| Answer { sketch: Some(sketch), ..page("") };
    let learned = NotFound::learn(&[probe(&one), probe(&other)]);
    let now = sketch("nothing here c");
    assert_eq!(sign(&probe(&now), &learned, None), Sign::Absent(Why::NotFoundPage));
    let detail = sketch(&words(2, 300));
    assert_eq!(sign(&probe(&detail), &learned, None), Sign::Nothing);
    assert_eq!(sign(&Answer { has_torrent: true, ..probe(&now) }, &learned, None), Sign::Present);
    assert_eq!(sign(&probe(&now), &learned, Some(&now)), Sign::Nothing, "it always looked like this");
    assert_eq!(sign(&probe(&now), &learned, Some(&detail)), Sign::Absent(Why::NotFoundPage));
    // A site that generates a page for any address.
    let any = NotFound::learn(&[probe(&one), probe(&detail)]);
    assert_eq!(sign(&probe(&now), &any, None), Sign::Nothing);
    // A site that is down when it is probed.
    let down = NotFound::learn(&[Answer { is_whole: false, ..probe(&one) }, probe(&other)]);
    assert_eq!(sign(&probe(&now), &down, None), Sign::Nothing);
}

#[test]
fn a_redirect_home_is_a_sign_where_the_site_answers_so_for_what_cannot_exist() {
    let home = Answer { landing: Some(Landing::Start), ..status(302) };
    let login = Answer { landing: Some(Landing::Login), ..status(302) };
    let known = NotFound::learn(&[home, Answer { landing: Some(Landing::List), ..status(301) }]);
    assert_eq!(sign(&home, &known, None), Sign::Absent(Why::Redirected));
    assert_eq!(sign(&login, &known, None), Sign::Nothing);
    assert_eq!(sign(&home, &NotFound::learn(&[home, status(404)]), None), Sign::Nothing);
}

#[test]
fn two_looks_apart_make_a_verdict_and_one_does_not() {
    let absent = Sign::Absent(Why::Status(404));
    let mut presence = Presence::default();
    assert_eq!(presence.look(Sign::Present, at(0)), Turn::None);
    assert_eq!(presence.look(absent, at(10)), Turn::None);
    assert_eq!(presence.confirm_at(), Some(at(10).plus(GONE_CONFIRM_TIME)));
    assert_eq!(presence.look(absent, at(11)), Turn::None, "too soon");
    assert_eq!(presence.look(Sign::Nothing, at(12)), Turn::None);
    let later = at(10).plus(GONE_CONFIRM_TIME);
    let gone = Gone { since: Between { from: at(0), until: at(10) }, why: Why::Status(404) };
    assert_eq!(presence.look(Sign::Absent(Why::Said), later), Turn::Gone(gone));
    assert!(presence.is_gone() && presence.confirm_at().is_none());
    assert_eq!(presence.look(absent, later.plus(Duration::from_secs(9_999))), Turn::None, "told once");
    assert_eq!(presence.look(Sign::Present, later.plus(Duration::from_secs(99_999))), Turn::Back);
    assert!(!presence.is_gone());
}

#[test]
fn a_look_that_shows_it_begins_the_count_anew() {
    let absent = Sign::Absent(Why::Redirected);
    let mut presence = Presence::default();
    for hour in 0..50 {
        let sign = if hour % 2 == 0 { absent } else { Sign::Present };
        assert_eq!(presence.look(sign, at(hour * 600)), Turn::None);
    }
}

#[test]
fn long_texts_are_read_to_their_cap_only() {
    let filler = "é".repeat(GONE_TEXT_BYTES_MAX);
    assert_eq!(sign(&page(&format!("{filler} torrent not found")), &NotFound::default(), None), Sign::Nothing);
    assert_eq!(
        sign(&page(&format!("torrent not found {filler}")), &NotFound::default(), None),
        Sign::Absent(Why::Said)
    );
}

#[test]
fn phrases_are_as_texts_are_compared() {
    for phrase in GONE.iter() {
        let small: Vec<String> = phrase.split_whitespace().map(str::to_lowercase).collect();
        assert_eq!(small.join(" "), *phrase);
        assert_eq!(sign(&page(phrase), &NotFound::default(), None), Sign::Absent(Why::Said));
    }
}

proptest! {
    #[test]
    fn no_order_of_looks_makes_a_verdict_of_less_than_two(looks in proptest::collection::vec((0_u8..4, 0_u64..10_000), 0..60)) {
        let mut presence = Presence::default();
        let (mut absent_since, mut is_gone, mut last) = (None::<u64>, false, 0);
        for (kind, minute) in looks {
            let sign = match kind {
                0 => Sign::Present,
                1 => Sign::Nothing,
                2 => Sign::Absent(Why::Said),
                _ => Sign::Absent(Why::Unlisted),
            };
            let turn = presence.look(sign, at(minute));
            if minute < last {
                prop_assert_eq!(turn, Turn::None);
                continue;
            }
            match sign {
                Sign::Nothing => prop_assert_eq!(turn, Turn::None),
                Sign::Present => {
                    prop_assert_eq!(turn, if is_gone { Turn::Back } else { Turn::None });
                    (absent_since, is_gone, last) = (None, false, minute);
                }
                Sign::Absent(_) => {
                    let due = absent_since.is_some_and(|since| at(minute).since(at(since)) >= GONE_CONFIRM_TIME);
                    prop_assert_eq!(matches!(turn, Turn::Gone(_)), due && !is_gone);
                    is_gone |= due;
                    if absent_since.is_none() {
                        (absent_since, last) = (Some(minute), minute);
                    }
                }
            }
        }
    }
}

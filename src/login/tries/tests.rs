//! The consequences of logins, and how they are resolved.

mod holds;
mod limits;

use super::ending::FIRST_WAIT;
use super::holds::*;
use super::*;
use crate::limits::{LOGIN_WAIT_MAX, LOGINS_PER_HOUR_MAX, LOGINS_REFUSED_MAX, OPERATOR_POLL, UNPROVEN_SESSION_TIME};

const NOW: UnixMillis = UnixMillis(1_000_000_000);

fn after(verdicts: &[(Verdict, bool)]) -> Tries {
    let mut tries = Tries::default();
    for (verdict, was_sent) in verdicts {
        let ended = Ended { verdict: *verdict, was_sent: *was_sent, was_answered: false };
        tries.ended(ended, "anna", &Secret::new("one"), NOW);
    }
    tries
}

#[test]
fn a_wrong_password_is_never_tried_again_and_another_one_is() {
    let tries = after(&[(Verdict::WrongPassword, true)]);
    let hold = |user: &str, password: &str| tries.hold(user, &Secret::new(password), NOW.plus(LOGIN_WAIT_MAX * 900));
    assert!(matches!(hold("anna", "one"), Some(Hold::Operator(_))));
    assert_eq!((hold("anna", "two"), hold("anne", "one")), (None, None));
}

#[test]
fn each_file_has_a_salt_of_its_own_and_keeps_it() {
    let refused = || after(&[(Verdict::WrongPassword, true)]);
    let (one, mut other) = (refused(), refused());
    let salted = |of: &Tries| (of.answers.salt, of.answers.refused.clone());
    assert_ne!(salted(&one), salted(&other));
    assert!(one.answers.refused.iter().all(|mark| !one.marks("anna", &Secret::new("one"))[1..].contains(mark)));
    other.operator_has_logged_in("anna");
    let again: Tries = serde_json::from_slice(&serde_json::to_vec(&other).unwrap()).unwrap();
    assert_eq!(again, other);
    assert!(
        again.refusal("anna", &Secret::new("one")).is_some() && again.refusal("anna", &Secret::new("two")).is_none()
    );
}

/// A file from before the history had parts, with a different value in each field.
#[test]
fn a_file_of_before_is_read_and_written_with_the_same_fields() {
    let stored = include_str!("../../../fixtures/login/tries.json");
    let tries: Tries = serde_json::from_str(stored).unwrap();
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let written = serde_json::to_string(&tries).unwrap();
    assert_eq!(value(&written), value(stored));
    assert_eq!(serde_json::from_str::<Tries>(&written).unwrap(), tries);
    let fields = |of: &serde_json::Value| of.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let new = serde_json::to_value(Tries::default()).unwrap();
    assert_eq!(fields(&new), fields(&value(stored)));
    for (field, of_new) in new.as_object().unwrap() {
        assert_ne!(*of_new, value(stored)[field], "{field}: it would be read as nothing");
    }
}

#[test]
fn what_was_written_down_before_there_were_salts_still_holds() {
    let (password, later) = (Secret::new("one"), NOW.plus(LOGIN_WAIT_MAX * 900));
    // As written by the previous version.
    let old = password.mark(b"gleaner tries\0anna\0");
    let read = |text: String| serde_json::from_str::<Tries>(&text).unwrap();
    let mut refused = read(format!(r#"{{"refused":[7,{old}],"unclear":0,"not_before":0}}"#));
    assert!(refused.refusal("anna", &password).is_some() && refused.refusal("anna", &Secret::new("two")).is_none());
    // What is learned since does not remove it.
    let wrong = Ended { verdict: Verdict::WrongPassword, was_sent: true, was_answered: true };
    refused.ended(wrong, "anna", &Secret::new("two"), NOW);
    assert!(refused.refusal("anna", &password).is_some() && refused.refusal("anna", &Secret::new("two")).is_some());
    let held = read(format!(r#"{{"held":["locked",{old}]}}"#));
    assert!(matches!(held.hold("anna", &password, later), Some(Hold::Operator(_))));
    let mut begun = read(format!(r#"{{"proven":{old},"begun":{old}}}"#));
    assert!(begun.broke_off("anna", &password, NOW) && begun.hold("anna", &password, NOW).is_some());
    let right = Ended { verdict: Verdict::LoggedIn, was_sent: true, was_answered: true };
    refused.ended(right, "anna", &password, NOW);
    assert!(refused.refusal("anna", &password).is_none(), "the operator has made it right");
}

#[test]
fn an_answer_in_unknown_words_may_be_a_refusal_and_is_not_tried_again() {
    let (mut tries, password) = (Tries::default(), Secret::new("one"));
    tries.ended(Ended { verdict: Verdict::Unknown, was_sent: true, was_answered: true }, "anna", &password, NOW);
    assert!(matches!(tries.hold("anna", &password, NOW.plus(LOGIN_WAIT_MAX)), Some(Hold::Operator(_))));
}

#[test]
fn many_passwords_may_be_refused_and_no_session_of_a_browser_makes_them_right() {
    let mut tries = Tries::default();
    let refused = Ended { verdict: Verdict::WrongPassword, was_sent: true, was_answered: true };
    for password in ["one", "two"] {
        tries.ended(refused, "anna", &Secret::new(password), NOW);
    }
    tries.operator_has_logged_in("anna");
    assert!(["one", "two"].iter().all(|password| tries.refusal("anna", &Secret::new(password)).is_some()));
    assert!(tries.refusal("anna", &Secret::new("three")).is_none());
}

#[test]
fn a_login_that_works_makes_no_other_password_right() {
    let by_hand = |tries: &Tries, password| tries.hold_by_hand("anna", &Secret::new(password), NOW);
    for verdict in [Verdict::Unknown, Verdict::Locked, Verdict::WrongPassword, Verdict::ConfirmEmail] {
        let of = |verdict| Ended { verdict, was_sent: true, was_answered: true };
        let mut tries = Tries::default();
        tries.ended(of(verdict), "anna", &Secret::new("wrong"), NOW);
        tries.ended(of(Verdict::LoggedIn), "anna", &Secret::new("right"), NOW);
        assert!(by_hand(&tries, "wrong").is_some() && by_hand(&tries, "right").is_none(), "{verdict:?}");
        tries.operator_has_logged_in("anna");
        assert!(by_hand(&tries, "wrong").is_some() && by_hand(&tries, "right").is_none(), "{verdict:?}");
    }
}

#[test]
fn of_logins_that_broke_off_each_is_remembered() {
    let by_hand = |tries: &Tries, password| tries.hold_by_hand("anna", &Secret::new(password), NOW);
    let mut tries = Tries::default();
    tries.begin("anna", &Secret::new("one"));
    tries.begin("anna", &Secret::new("two"));
    assert!(by_hand(&tries, "one").is_some(), "another one began since");
    tries.await_proof(Verdict::ProbablyRefused, NOW);
    assert!(tries.forget_unproven());
    assert!(by_hand(&tries, "two").is_some() && by_hand(&tries, "three").is_none(), "its session was thrown away");
    tries.begin("anna", &Secret::new("three"));
    tries.operator_has_logged_in("anna");
    assert!(by_hand(&tries, "three").is_some(), "a browser's session tells nothing of it");
}

#[test]
fn no_more_logins_an_hour_than_a_person_would_need() {
    let (mut tries, password) = (Tries::default(), Secret::new("one"));
    let let_in = Ended { verdict: Verdict::LoggedIn, was_sent: true, was_answered: true };
    let times = (0..LOGINS_PER_HOUR_MAX).map(|minute| NOW.plus(Duration::from_secs(60 * minute as u64)));
    for now in times {
        assert_eq!(tries.hold("anna", &password, now), None);
        tries.ended(let_in, "anna", &password, now);
    }
    let now = NOW.plus(Duration::from_secs(1_800));
    let until = NOW.plus(LOGIN_HOUR);
    assert!(matches!(tries.hold("anna", &password, now), Some(Hold::Until(at, _)) if at == until));
    assert_eq!(tries.hold("anna", &password, until), None);
    assert_eq!(tries.hold("anna", &password, UnixMillis(5)), None, "nor does a clock that was ahead count");
}

#[test]
fn logins_that_are_killed_in_the_middle_count_and_of_what_was_let_in_the_next_one_waits_longer_each_time() {
    let (mut tries, password, mut now) = (after(&[(Verdict::LoggedIn, true)]), Secret::new("one"), NOW);
    let mut waits = Vec::new();
    for _ in 0..4 {
        tries.begin("anna", &password);
        tries.form_leaves(now);
        // The state stored by a process that was killed.
        tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
        assert!(tries.broke_off("anna", &password, now) && !tries.broke_off("anna", &password, now));
        let Some(Hold::Until(until, _)) = tries.hold("anna", &password, now) else { panic!("{tries:?}") };
        waits.push(until.since(now).as_secs());
        now = until;
    }
    assert_eq!(waits, [60, 6 * 3_600, 24 * 3_600, 24 * 3_600]);
    tries.begin("anna", &password);
    tries.ended(Ended { verdict: Verdict::LoggedIn, was_sent: true, was_answered: true }, "anna", &password, now);
    assert_eq!(tries.hold("anna", &password, now), None);
    // Credentials that were never accepted wait for the operator.
    let mut tries = Tries::default();
    tries.begin("anna", &password);
    tries.form_leaves(NOW);
    assert!(tries.broke_off("anna", &password, NOW));
    assert!(matches!(tries.hold("anna", &password, NOW.plus(LOGIN_WAIT_MAX)), Some(Hold::Operator(_))));
}

#[test]
fn a_site_that_did_not_answer_has_not_been_tried() {
    let (mut tries, password) = (after(&[(Verdict::WrongPassword, true)]), Secret::new("two"));
    let before = tries.clone();
    tries.begin("anna", &password);
    tries.came_to_nothing();
    assert_eq!(tries, before);
    assert_eq!(tries.hold("anna", &password, NOW), None);
}

#[test]
fn a_site_in_trouble_is_looked_at_less_and_less_also_by_the_next_process() {
    let (mut tries, password, mut now) = (Tries::default(), Secret::new("one"), NOW);
    let mut waits = Vec::new();
    for _ in 0..9 {
        tries.begin("anna", &password);
        tries.met_trouble(now);
        tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
        let Some(Hold::Until(until, why)) = tries.hold("anna", &password, now) else { panic!("{tries:?}") };
        assert!(why.starts_with(IN_TROUBLE), "{why}");
        waits.push(until.since(now).as_secs());
        now = until;
        assert_eq!(tries.hold("anna", &password, now), None, "and nothing was tried");
    }
    assert_eq!(waits, [60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600]);
    tries.ended(Ended { verdict: Verdict::LoggedIn, was_sent: true, was_answered: true }, "anna", &password, now);
    tries.met_trouble(now);
    assert!(matches!(tries.hold("anna", &password, now), Some(Hold::Until(at, _)) if at.since(now).as_secs() == 60));
}

#[test]
fn what_a_table_did_not_find_ends_with_it_and_what_a_form_was_answered_does_not() {
    let password = Secret::new("one");
    for (verdict, was_sent, ends) in [
        (Verdict::NoForm, false, true),
        (Verdict::OtherSite, false, true),
        (Verdict::NoForm, true, false),
        (Verdict::RateLimited, true, false),
        (Verdict::Locked, true, false),
        (Verdict::WrongPassword, true, false),
    ] {
        let mut tries = Tries::default();
        tries.meet_table(1);
        tries.ended(Ended { verdict, was_sent, was_answered: was_sent }, "anna", &password, NOW);
        for table in [1, 1, 2] {
            tries.meet_table(table);
            let is_held = tries.hold("anna", &password, NOW).is_some();
            assert_eq!(is_held, table == 1 || !ends, "{verdict:?}, {was_sent}, table {table}");
        }
    }
}

#[test]
fn what_a_form_was_answered_outlasts_a_table_that_found_none_behind_it() {
    let password = Secret::new("one");
    for unsent in [Verdict::NoForm, Verdict::OtherSite, Verdict::Script, Verdict::Unknown] {
        let mut tries = Tries::default();
        tries.meet_table(1);
        tries.ended(Ended { verdict: Verdict::Locked, was_sent: true, was_answered: true }, "anna", &password, NOW);
        let locked = tries.hold("anna", &password, NOW);
        // The second pass changes nothing.
        for _ in 0..2 {
            let ended = Ended { verdict: unsent, was_sent: false, was_answered: false };
            tries.ended(ended, "anna", &password, NOW);
            tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
        }
        tries.meet_table(2);
        assert!(matches!(locked, Some(Hold::Operator(_))), "{locked:?}");
        assert_eq!(tries.hold("anna", &password, NOW), locked, "{unsent:?}");
    }
}

#[test]
fn a_form_that_a_server_in_trouble_answered_is_told_as_such() {
    let tries = after(&[(Verdict::Unknown, true)]);
    assert_eq!(tries.trouble().as_deref(), Some(IN_TROUBLE));
    let why = tries.hold("anna", &Secret::new("one"), NOW);
    assert!(matches!(why, Some(Hold::Until(_, why)) if why.starts_with(IN_TROUBLE)));
    assert_eq!(after(&[(Verdict::LoggedIn, true)]).member(), Some("anna"));
}

#[test]
fn a_locked_account_waits_for_its_operator() {
    for verdict in [Verdict::Locked, Verdict::Captcha, Verdict::SecondFactor, Verdict::OtherSite] {
        let tries = after(&[(verdict, true)]);
        let later = NOW.plus(LOGIN_WAIT_MAX * 900);
        assert!(matches!(tries.hold("anna", &Secret::new("one"), later), Some(Hold::Operator(_))), "{verdict:?}");
    }
    let let_in = after(&[(Verdict::Locked, true), (Verdict::LoggedIn, true)]);
    assert_eq!(let_in.hold("anna", &Secret::new("one"), NOW), None);
}

#[test]
fn what_did_not_end_clearly_waits_longer_each_time_and_then_for_the_operator() {
    let wait = |verdicts: &[(Verdict, bool)]| match after(verdicts).hold("anna", &Secret::new("one"), NOW) {
        Some(Hold::Until(until, _)) => until.since(NOW).as_secs(),
        Some(Hold::Operator(_)) => u64::MAX,
        None => 0,
    };
    let unclear = (Verdict::Unknown, true);
    assert_eq!([wait(&[unclear]), wait(&[unclear, unclear])], [300, u64::MAX]);
    assert_eq!(wait(&[(Verdict::Unknown, false); 9]), 300, "nothing was sent: the site was away");
    let limited = [(Verdict::RateLimited, true); 9];
    assert_eq!([wait(&limited[..1]), wait(&limited[..2])], [3_600, u64::MAX]);
    assert_eq!(wait(&[(Verdict::NoForm, false); 9]), 86_400, "a form that is gone is looked for each day");
}

#[test]
fn a_form_that_came_back_keeps_its_password_and_no_other_until_it_is_let_in() {
    let (mut tries, password) = (Tries::default(), Secret::new("one"));
    let ended = |verdict| Ended { verdict, was_sent: true, was_answered: true };
    tries.ended(ended(Verdict::ProbablyRefused), "anna", &password, NOW);
    tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
    assert_eq!(tries.refusal("anna", &password), Some(Verdict::ProbablyRefused));
    let hold = tries.hold("anna", &password, NOW.plus(LOGIN_WAIT_MAX * 900));
    assert!(matches!(&hold, Some(Hold::Operator(why)) if why.contains("--again")), "{hold:?}");
    assert_eq!(tries.hold("anna", &Secret::new("two"), NOW), None);
    // Another password's verdict is no reason for this one.
    tries.ended(ended(Verdict::Captcha), "anna", &Secret::new("two"), NOW);
    assert_eq!(tries.hold("anna", &password, NOW), Some(Hold::Operator(REFUSED_BEFORE.to_owned())));
    tries.operator_has_logged_in("anna");
    assert_eq!(tries.refusal("anna", &password), Some(Verdict::ProbablyRefused), "a browser's session proves nothing");
    // `--again` overrides more.
    tries.ended(ended(Verdict::WrongPassword), "anna", &password, NOW);
    assert_eq!(tries.refusal("anna", &password), Some(Verdict::WrongPassword));
    tries.ended(ended(Verdict::LoggedIn), "anna", &password, NOW);
    assert_eq!((tries.refusal("anna", &password), tries.hold("anna", &password, NOW)), (None, None));
}

#[test]
fn what_a_site_asks_to_wait_is_what_is_waited_also_by_the_next_process() {
    let (mut tries, password) = (Tries::default(), Secret::new("one"));
    let asked = NOW.plus(Duration::from_secs(7_200));
    let limited = Ended { verdict: Verdict::RateLimited, was_sent: true, was_answered: true };
    for nth in 1..=2 {
        tries.ended(limited, "anna", &password, NOW);
        tries.wait_as_asked(asked, NOW);
        tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
        assert_eq!(tries.not_before(NOW), Some(asked));
        let hold = tries.hold("anna", &password, NOW).unwrap();
        let (Hold::Until(_, why) | Hold::Operator(why)) = &hold;
        assert!(why.contains(&asked.rfc3339()), "{why}");
        assert_eq!(matches!(hold, Hold::Until(until, _) if until == asked), nth == 1);
    }
    let mut troubled = Tries::default();
    troubled.met_trouble(NOW);
    troubled.wait_as_asked(NOW.plus(Duration::from_secs(1)), NOW);
    assert_eq!(troubled.not_before(NOW), Some(NOW.plus(OPERATOR_POLL)), "our own patience is the least");
    troubled.wait_as_asked(asked, NOW);
    assert_eq!(troubled.not_before(NOW), Some(asked));
}

#[test]
fn a_login_that_is_to_be_proven_ends_by_its_proof_and_by_what_its_form_was_answered() {
    let password = Secret::new("one");
    let begun = |unless: Verdict| {
        let mut tries = Tries::default();
        tries.begin("anna", &password);
        tries.await_proof(unless, NOW);
        serde_json::from_slice::<Tries>(&serde_json::to_vec(&tries).unwrap()).unwrap()
    };
    let soon = NOW.plus(UNPROVEN_SESSION_TIME / 2);
    for verdict in [Verdict::ProbablyRefused, Verdict::Unknown, Verdict::SecondFactor] {
        let ends = if verdict == Verdict::Unknown { Verdict::SessionLost } else { verdict };
        let mut tries = begun(verdict);
        assert_eq!(tries.refusal("anna", &password), None, "nothing is refused before");
        assert_eq!(tries.clone().proof_came(true, "anna", &password, soon), Some(Verdict::LoggedIn));
        let mut late = tries.clone();
        let came = late.proof_came(false, "anna", &password, NOW.plus(UNPROVEN_SESSION_TIME));
        // A form that came back was no session that could have expired.
        assert_eq!(came, (verdict == Verdict::ProbablyRefused).then_some(verdict));
        assert!(!late.has_begun("anna", &password), "nothing is known of the others, which have broken off by that");
        assert!(
            late.hold_by_hand("anna", &password, NOW.plus(LOGIN_WAIT_MAX)).is_some()
                && late.hold("anna", &password, NOW).is_some()
        );
        assert_eq!(tries.proof_came(false, "anna", &password, soon), Some(ends));
        assert!(matches!(tries.hold("anna", &password, soon), Some(Hold::Operator(_))));
        assert!(!tries.has_begun("anna", &password) && !tries.forget_unproven());
    }
    let mut forgotten = begun(Verdict::Unknown);
    assert!(forgotten.forget_unproven() && !forgotten.has_begun("anna", &password));
}

#[test]
fn a_second_answer_to_the_same_password_that_tells_nothing_is_a_probable_refusal() {
    let (mut tries, password) = (Tries::default(), Secret::new("one"));
    let ended = |was_answered| Ended { verdict: Verdict::Unknown, was_sent: true, was_answered };
    tries.ended(ended(true), "anna", &password, NOW);
    tries.ended(ended(true), "anna", &Secret::new("two"), NOW);
    assert_eq!(tries.refusal("anna", &Secret::new("two")), None, "each one has its own");
    tries.ended(ended(true), "anna", &Secret::new("two"), NOW);
    assert_eq!(tries.refusal("anna", &Secret::new("two")), Some(Verdict::ProbablyRefused));
    let mut troubled = Tries::default();
    for _ in 0..3 {
        troubled.ended(ended(false), "anna", &password, NOW);
    }
    assert_eq!(troubled.refusal("anna", &password), None, "a server in trouble refuses nothing");
}

#[test]
fn a_probable_refusal_is_freed_by_hand_by_another_way_and_a_sure_one_is_not() {
    let password = Secret::new("one");
    for (verdict, is_kept) in [(Verdict::ProbablyRefused, false), (Verdict::WrongPassword, true)] {
        let mut tries = Tries::default();
        tries.meet_way(1);
        tries.ended(Ended { verdict, was_sent: true, was_answered: true }, "anna", &password, NOW);
        tries.meet_way(1);
        assert!(tries.hold_by_hand("anna", &password, NOW).is_some());
        tries.meet_way(2);
        assert_eq!(tries.hold_by_hand("anna", &password, NOW).is_some(), is_kept, "{verdict:?}");
        assert!(tries.hold("anna", &password, NOW).is_some(), "{verdict:?}: no crawl sends it for that");
        // Without recorded variants, no variant counts as another one.
        tries.answers.ways.clear();
        assert!(tries.hold_by_hand("anna", &password, NOW).is_some(), "{verdict:?}");
    }
}

#[test]
fn a_login_that_broke_off_shortens_no_wait_that_the_site_has_asked_for() {
    let (mut tries, password) = (after(&[(Verdict::LoggedIn, true)]), Secret::new("one"));
    let asked = NOW.plus(Duration::from_secs(7_200));
    tries.begin("anna", &password);
    tries.wait_as_asked(asked, NOW);
    assert!(tries.broke_off("anna", &password, NOW));
    assert_eq!(tries.not_before(NOW), Some(asked));
}

//! Repeated rate limits, and what counts as one attempt whatever changed around it.

use super::holds::Who;
use super::*;

#[test]
fn no_more_than_three_tries_in_a_row_are_answered_by_asking_for_patience() {
    let (password, limited) =
        (Secret::new("one"), Ended { verdict: Verdict::RateLimited, was_sent: true, was_answered: true });
    for (whos, names_second) in [(&[Who::Hand][..], true), (&[Who::Hand, Who::Crawl], true), (&[Who::Hand], false)] {
        let (mut tries, mut sent) = (Tries::default(), Vec::new());
        for minute in 0..5 * 1_440 {
            let now = NOW.plus(Duration::from_secs(60 * minute));
            if !whos.iter().any(|who| who.may(&tries, &password, now)) {
                continue;
            }
            sent.push(minute);
            tries.begin("anna", &password);
            tries.form_leaves(now);
            tries.ended(limited, "anna", &password, now);
            if names_second {
                tries.wait_as_asked(now.plus(Duration::from_secs(1)), now);
            }
            tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
        }
        // A named second counts as a minute.
        assert_eq!(sent, if names_second { [0, 1, 2] } else { [0, 60, 300] }, "{whos:?}");
        let held = tries.hold_by_hand("anna", &password, NOW.plus(LOGIN_WAIT_MAX * 9));
        assert_eq!(held, Some(ByHand::Sent(Verdict::LimitedAgain)));
        let Some(Hold::Operator(why)) = tries.hold("anna", &password, NOW.plus(LOGIN_WAIT_MAX * 9)) else {
            panic!("a crawl sends it")
        };
        assert!(why.contains("`gleaner login --again`"), "{why}");
        tries.begin_again("anna", &password);
        tries.form_leaves(NOW);
        tries.ended(limited, "anna", &password, NOW);
        assert!(!Who::Hand.may(&tries, &password, NOW.plus(LOGIN_HOUR * 300)), "`--again` is for one");
        tries.ended(Ended { verdict: Verdict::LoggedIn, ..limited }, "anna", &password, NOW);
        tries.ended(limited, "anna", &password, NOW);
        assert!(Who::Hand.may(&tries, &password, NOW.plus(LOGIN_HOUR * 300)), "let in, it begins anew");
    }
}

#[test]
fn what_was_let_in_before_and_is_asked_for_patience_for_days_is_tried_once_a_day() {
    let (password, limited) =
        (Secret::new("one"), Ended { verdict: Verdict::RateLimited, was_sent: true, was_answered: true });
    for who in [Who::Crawl, Who::Hand] {
        let (mut tries, mut sent) = (after(&[(Verdict::LoggedIn, true)]), Vec::new());
        for minute in 0..5 * 1_440 {
            let now = NOW.plus(Duration::from_secs(60 * minute));
            if who.may(&tries, &password, now) {
                sent.push(minute);
                tries.begin("anna", &password);
                tries.form_leaves(now);
                tries.ended(limited, "anna", &password, now);
                tries.wait_as_asked(now.plus(Duration::from_secs(90)), now);
            }
        }
        let days: Vec<u64> = sent.iter().map(|minute| minute / 60).collect();
        assert!((5..=8).contains(&days.len()), "{who:?}: {days:?}");
        assert!(days.windows(2).skip(3).all(|pair| pair[1] - pair[0] == 24), "{who:?}: {days:?}");
    }
}

#[test]
fn a_crawl_and_a_login_by_hand_tell_the_same_time_beside_a_quota() {
    let (password, mut tries, mut now) = (Secret::new("one"), after(&[(Verdict::LoggedIn, true)]), NOW);
    let mut told = Vec::new();
    for _ in 0..4 {
        tries.begin("anna", &password);
        tries.form_leaves(now);
        tries.ended(
            Ended { verdict: Verdict::LimitedAgain, was_sent: true, was_answered: true },
            "anna",
            &password,
            now,
        );
        tries.wait_as_asked(now.plus(Duration::from_secs(900)), now);
        let Some(Hold::Until(until, _)) = tries.hold("anna", &password, now) else { panic!("a crawl does not wait") };
        let by_hand = tries.hold_by_hand("anna", &password, now);
        let (ByHand::SentUntil(_, at) | ByHand::AskedToWait(at)) = by_hand.unwrap() else { panic!("{by_hand:?}") };
        assert_eq!(at, until, "{by_hand:?}");
        told.push(until.since(now).as_secs() / 60);
        now = until;
    }
    assert!(told[0] == 15 && told[3] > 300, "{told:?}");
}

#[test]
fn what_was_let_in_before_is_held_behind_ten_answers_of_whatever_kind() {
    use Verdict::{LimitedAgain, NoAnswer, SessionLost, SiteTrouble, Unknown};
    let password = Secret::new("one");
    for (verdict, was_answered) in
        [(SiteTrouble, true), (NoAnswer, false), (SessionLost, true), (LimitedAgain, true), (Unknown, false)]
    {
        let ended = Ended { verdict, was_sent: true, was_answered };
        let (mut tries, mut sent) = (after(&[(Verdict::LoggedIn, true)]), Vec::new());
        for hour in 0..24 * 60 {
            let now = NOW.plus(LOGIN_HOUR * hour);
            if Who::Crawl.may(&tries, &password, now) {
                sent.push(hour);
                tries.begin("anna", &password);
                tries.form_leaves(now);
                tries.ended(ended, "anna", &password, now);
                tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
            }
        }
        // The first waits for a site in trouble are minutes, and count once.
        assert!((10..=14).contains(&sent.len()) && *sent.last().unwrap() > 6 * 24, "{verdict:?}: {sent:?}");
        let later = NOW.plus(LOGIN_HOUR * 24 * 60);
        assert_eq!(tries.hold_by_hand("anna", &password, later), Some(ByHand::Refused(Verdict::ProbablyRefused)));
        // An accepted login resets them.
        tries.begin_again("anna", &password);
        tries.form_leaves(later);
        tries.ended(Ended { verdict: Verdict::LoggedIn, ..ended }, "anna", &password, later);
        tries.ended(ended, "anna", &password, later);
        assert!(Who::Crawl.may(&tries, &password, later.plus(LOGIN_WAIT_MAX)), "{verdict:?}");
    }
}

#[test]
fn an_evening_of_trouble_is_one_answer_and_again_frees_what_trouble_has_held() {
    let password = Secret::new("one");
    let trouble = Ended { verdict: Verdict::Unknown, was_sent: true, was_answered: false };
    let send = |tries: &mut Tries, is_again: bool, now: UnixMillis| {
        match is_again {
            true => tries.begin_again("anna", &password),
            false => tries.begin("anna", &password),
        }
        tries.form_leaves(now);
        tries.ended(trouble, "anna", &password, now);
    };
    let mut tries = after(&[(Verdict::LoggedIn, true)]);
    for minute in 0..30 {
        send(&mut tries, false, NOW.plus(Duration::from_secs(60 * minute)));
    }
    assert!(Who::Crawl.may(&tries, &password, NOW.plus(LOGIN_WAIT_MAX * 2)));
    for day in 2..12 {
        send(&mut tries, false, NOW.plus(LOGIN_WAIT_MAX * day));
    }
    assert!(!Who::Crawl.may(&tries, &password, NOW.plus(LOGIN_WAIT_MAX * 13)));
    send(&mut tries, true, NOW.plus(LOGIN_WAIT_MAX * 13));
    assert!(Who::Crawl.may(&tries, &password, NOW.plus(LOGIN_WAIT_MAX * 15)));
}

#[test]
fn a_login_of_two_pages_is_one_further_try() {
    let (mut tries, password) = (after(&[(Verdict::LoggedIn, true)]), Secret::new("one"));
    tries.ended(Ended { verdict: Verdict::SiteTrouble, was_sent: true, was_answered: true }, "anna", &password, NOW);
    tries.begin("anna", &password);
    tries.form_leaves(NOW);
    tries.form_leaves(NOW);
    tries.ended(Ended { verdict: Verdict::SiteTrouble, was_sent: true, was_answered: true }, "anna", &password, NOW);
    let until = NOW.plus(crate::limits::LOGIN_FURTHER_WAITS[0]);
    assert!(
        matches!(tries.hold_by_hand("anna", &password, NOW), Some(ByHand::SentUntil(_, at)) if at == until),
        "{tries:?}"
    );
}

#[test]
fn a_clock_that_is_set_back_by_some_minutes_loses_no_wait_of_a_day() {
    let (mut tries, password) = (Tries::default(), Secret::new("one"));
    tries.ended(Ended { verdict: Verdict::RateLimited, was_sent: true, was_answered: true }, "anna", &password, NOW);
    tries.wait_as_asked(NOW.plus(LOGIN_WAIT_MAX), NOW);
    let back = UnixMillis(NOW.0 - 1_800_000);
    assert!(!Who::Hand.may(&tries, &password, back) && !Who::Crawl.may(&tries, &password, back));
    assert!(Who::Hand.may(&tries, &password, UnixMillis(5)), "one that was far ahead counts for nothing");
}

#[test]
fn an_account_whose_rule_file_has_another_name_by_now_was_let_in_all_the_same() {
    let password = Secret::new("one");
    let (mut before, mut renamed) = (after(&[(Verdict::LoggedIn, true)]), Tries::default());
    before.meet_host("h");
    renamed.meet_host("h");
    renamed.learn(&before, "anna", &password);
    assert!(renamed.was_let_in("anna", &password));
    let trouble = Ended { verdict: Verdict::SiteTrouble, was_sent: true, was_answered: true };
    renamed.ended(trouble, "anna", &password, NOW);
    assert!(Who::Crawl.may(&renamed, &password, NOW.plus(LOGIN_WAIT_MAX)));
    let mut other = Tries::default();
    other.meet_host("g");
    other.learn(&before, "anna", &password);
    assert!(!other.was_let_in("anna", &password), "another host's");
}

#[test]
fn what_broke_off_behind_the_form_counts_among_the_ten() {
    let password = Secret::new("one");
    // A killed process; and an accepted form whose proof fails when its session may have expired.
    for is_killed in [true, false] {
        let (mut tries, mut sent) = (after(&[(Verdict::LoggedIn, true)]), 0);
        for hour in 0..24 * 90 {
            let now = NOW.plus(LOGIN_HOUR * hour);
            tries.broke_off("anna", &password, now);
            if Who::Crawl.may(&tries, &password, now) {
                sent += 1;
                tries.begin("anna", &password);
                tries.form_leaves(now);
                if !is_killed {
                    tries.await_proof(Verdict::Unknown, now);
                    tries.proof_came(false, "anna", &password, now.plus(LOGIN_HOUR * 2));
                }
                tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
            }
        }
        assert!((8..=14).contains(&sent), "{sent}");
    }
}

#[test]
fn again_that_meets_trouble_frees_nothing_that_the_bare_form_has_held() {
    let password = Secret::new("one");
    let bare = |tries: &mut Tries, now: UnixMillis| {
        tries.begin("anna", &password);
        tries.form_leaves(now);
        // As `Report::end` does with a form that is back without a message.
        let verdict = if tries.bears_bare() { Verdict::SiteTrouble } else { Verdict::ProbablyRefused };
        tries.ended(Ended { verdict, was_sent: true, was_answered: true }, "anna", &password, now);
    };
    for (verdict, was_answered) in
        [(Verdict::RateLimited, true), (Verdict::Unknown, false), (Verdict::NotLookedAt, true)]
    {
        let (mut tries, mut now) = (after(&[(Verdict::LoggedIn, true)]), NOW);
        let by_crawl = |tries: &mut Tries, now: &mut UnixMillis| {
            let mut sent = 0;
            for _ in 0..24 * 30 {
                *now = now.plus(LOGIN_HOUR);
                if Who::Crawl.may(tries, &password, *now) {
                    sent += 1;
                    bare(tries, *now);
                }
            }
            sent
        };
        assert_eq!(by_crawl(&mut tries, &mut now), 4, "three further tries, then held");
        tries.begin_again("anna", &password);
        tries.form_leaves(now);
        tries.ended(Ended { verdict, was_sent: true, was_answered }, "anna", &password, now);
        assert_eq!(by_crawl(&mut tries, &mut now), 0, "{verdict:?}");
    }
}

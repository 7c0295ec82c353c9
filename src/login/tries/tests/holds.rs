//! What holds logins back, by a crawl and by hand, and what leads out of it.

use super::*;

/// What a hint says to do, done.
fn follow(hint: &str, tries: &mut Tries, user: &str, password: &mut Secret, now: UnixMillis) -> bool {
    let ended = Ended { verdict: Verdict::LoggedIn, was_sent: true, was_answered: true };
    // `gleaner login` sends nothing that was refused, and touches no locked account, unless it is told to.
    let is_kept_back = matches!(
        tries.hold_by_hand(user, password, now),
        Some(ByHand::Refused(_) | ByHand::Locked | ByHand::NoEnd | ByHand::Sent(_))
    );
    let is_sent = !is_kept_back || hint.contains("login --again`");
    match hint {
        hint if hint.contains("`gleaner login") && is_sent => tries.ended(ended, user, password, now),
        hint if hint.contains("--cookies") => tries.operator_has_logged_in(user),
        hint if hint.contains("correct the password") => *password = Secret::new("another"),
        hint if hint.contains("in [login]") || hint.contains("`login.page`") => tries.meet_table(9),
        _ => return false,
    }
    true
}

#[test]
fn what_each_hint_says_to_do_ends_the_state_that_it_is_told_of() {
    for verdict in Verdict::ALL.into_iter().filter(|verdict| *verdict != Verdict::LoggedIn) {
        for (was_sent, was_answered, times) in
            [(true, true, 1), (true, true, 2), (true, false, 1), (true, false, 2), (false, false, 1)]
        {
            let mut tries = Tries::default();
            tries.meet_table(1);
            let (user, mut password) = ("anna", Secret::new("one"));
            for _ in 0..times {
                tries.ended(Ended { verdict, was_sent, was_answered }, user, &password, NOW);
            }
            let state = (verdict, was_sent, was_answered, times);
            let Some(hold) = tries.hold(user, &password, NOW) else { panic!("{state:?}: nothing is forbidden") };
            let why = match hold {
                // It leads out by itself.
                Hold::Until(until, why) => {
                    assert_eq!(tries.hold(user, &password, until), None, "{state:?}: {why}");
                    assert!(why.contains(&until.rfc3339()), "{state:?}: {why}");
                    continue;
                }
                Hold::Operator(why) => why,
            };
            let hint = why.split_once("(hint: ").unwrap_or_else(|| panic!("{state:?}: no hint in {why}")).1;
            assert!(follow(hint, &mut tries, user, &mut password, NOW), "{state:?}: {why}");
            assert_eq!(tries.hold(user, &password, NOW), None, "{state:?}: {why}");
        }
    }
}

#[test]
fn by_hand_what_the_site_has_said_holds_and_what_is_guessed_does_not() {
    let (password, later) = (Secret::new("one"), NOW.plus(Duration::from_secs(60)));
    let after = |verdict, was_answered| {
        let mut tries = Tries::default();
        tries.ended(Ended { verdict, was_sent: true, was_answered }, "anna", &password, NOW);
        tries
    };
    for (verdict, expected) in [
        (Verdict::WrongPassword, Some(ByHand::Refused(Verdict::WrongPassword))),
        (Verdict::ProbablyRefused, Some(ByHand::Refused(Verdict::ProbablyRefused))),
        (Verdict::Locked, Some(ByHand::Locked)),
        (Verdict::RateLimited, Some(ByHand::GuessedToWait(NOW.plus(LOGIN_HOUR)))),
        (Verdict::Captcha, Some(ByHand::Captcha)),
        (Verdict::SecondFactor, Some(ByHand::SecondFactor)),
        (Verdict::Unknown, Some(ByHand::Sent(Verdict::Unknown))),
        (Verdict::ConfirmEmail, Some(ByHand::Sent(Verdict::ConfirmEmail))),
        (Verdict::NoForm, Some(ByHand::Sent(Verdict::NoForm))),
        (Verdict::NotLookedAt, None),
    ] {
        let tries = after(verdict, true);
        assert_eq!(tries.hold_by_hand("anna", &password, later), expected, "{verdict:?}");
        let read: Tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
        assert_eq!(read.hold_by_hand("anna", &password, later), expected, "{verdict:?}: in the next process");
        let is_of_account = !matches!(expected, Some(ByHand::GuessedToWait(_)));
        let other = tries.hold_by_hand("anna", &Secret::new("two"), later);
        assert_eq!(other, expected.filter(|_| !is_of_account), "{verdict:?}: another password");
    }
    // One that asks for patience and names no time is guessed at, and told so.
    let mut tries = after(Verdict::Unknown, false);
    tries.wait_as_guessed();
    assert_eq!(tries.hold_by_hand("anna", &password, later), Some(ByHand::GuessedToWait(NOW.plus(FIRST_WAIT))));
    let Some(Hold::Until(_, why)) = tries.hold("anna", &password, later) else { panic!("a crawl waits") };
    assert!(why.contains("a guess of ours: the site asks to wait, and tells no time"), "{why}");
    tries.ended(Ended { verdict: Verdict::RateLimited, was_sent: true, was_answered: true }, "anna", &password, NOW);
    tries.wait_as_asked(NOW.plus(Duration::from_secs(90)), NOW);
    assert_eq!(tries.guessed_until(later), None, "what the site says is no guess");
    // A server in trouble is guessed at, unless it has named a time; that is over when it is, and no clock makes it longer.
    let mut tries = after(Verdict::Unknown, false);
    assert_eq!(tries.hold_by_hand("anna", &password, later), None);
    let asked = NOW.plus(Duration::from_secs(7_200));
    tries.wait_as_asked(asked, NOW);
    assert_eq!(tries.hold_by_hand("anna", &password, later), Some(ByHand::AskedToWait(asked)));
    assert_eq!(tries.hold_by_hand("anna", &password, asked), None);
    assert_eq!(tries.hold_by_hand("anna", &password, UnixMillis(5)), None, "the clock was ahead");
    // What the site says later is what it says.
    tries.ended(Ended { verdict: Verdict::SecondFactor, was_sent: true, was_answered: true }, "anna", &password, later);
    assert_eq!(tries.hold_by_hand("anna", &password, later), Some(ByHand::SecondFactor));
}

#[test]
fn a_redirect_loop_is_told_with_its_address_until_another_end() {
    let (mut tries, password) = (Tries::default(), Secret::new("one"));
    let ended = |verdict| Ended { verdict, was_sent: false, was_answered: true };
    tries.ended(ended(Verdict::RedirectLoop), "anna", &password, NOW);
    tries.meet_loop("http://h/ redirects after 20 others");
    let told = tries.trouble().unwrap();
    assert!(
        told.contains("is a redirect loop: http://h/ redirects after 20 others (hint: see with a browser"),
        "{told}"
    );
    tries.ended(ended(Verdict::NoForm), "anna", &password, NOW);
    assert_eq!(tries.trouble().as_deref(), Some(Verdict::NoForm.sentence()));
}

#[test]
fn a_password_that_met_a_captcha_is_not_sent_again_once_another_was_tried() {
    let (mut tries, one, two) = (Tries::default(), Secret::new("one"), Secret::new("two"));
    let ended = |verdict| Ended { verdict, was_sent: true, was_answered: true };
    tries.ended(ended(Verdict::Captcha), "anna", &one, NOW);
    assert_eq!(tries.hold_by_hand("anna", &one, NOW), Some(ByHand::Captcha));
    for verdict in [Verdict::Captcha, Verdict::WrongPassword, Verdict::SecondFactor] {
        let mut tries = tries.clone();
        tries.ended(ended(verdict), "anna", &two, NOW);
        let tries: Tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
        assert_eq!(tries.hold_by_hand("anna", &one, NOW), Some(ByHand::CaptchaBefore), "{verdict:?}");
        let Some(Hold::Operator(why)) = tries.hold("anna", &one, NOW) else { panic!("{verdict:?}: a crawl sends it") };
        assert!(why.contains("`gleaner login --interactive --again`"), "{why}");
    }
    // Let in, nothing stands against it; one that was never sent has met none.
    tries.ended(ended(Verdict::LoggedIn), "anna", &two, NOW);
    assert_eq!(tries.hold_by_hand("anna", &one, NOW), None);
    tries.ended(Ended { was_sent: false, ..ended(Verdict::Captcha) }, "anna", &one, NOW);
    tries.ended(ended(Verdict::SecondFactor), "anna", &two, NOW);
    assert_eq!((tries.hold_by_hand("anna", &one, NOW), tries.hold("anna", &one, NOW)), (None, None));
}

#[test]
fn a_locked_account_stays_locked_for_a_password_whatever_another_one_brings() {
    let (mut tries, one, two) = (Tries::default(), Secret::new("one"), Secret::new("two"));
    let ended = |verdict| Ended { verdict, was_sent: true, was_answered: true };
    tries.ended(ended(Verdict::Locked), "anna", &one, NOW);
    tries.ended(ended(Verdict::Captcha), "anna", &two, NOW);
    tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
    let locked = Hold::Operator(Verdict::Locked.sentence().to_owned());
    assert_eq!(tries.hold("anna", &one, NOW.plus(LOGIN_WAIT_MAX)), Some(locked));
    assert_eq!(tries.hold_by_hand("anna", &one, NOW), Some(ByHand::Locked));
    assert_eq!(tries.hold_by_hand("anna", &two, NOW), Some(ByHand::Captcha));
    tries.ended(ended(Verdict::LoggedIn), "anna", &one, NOW);
    assert_eq!(tries.hold("anna", &one, NOW), None);
}

#[test]
fn what_a_form_was_answered_is_known_to_the_next_process_before_the_proof_has_come() {
    let (mut tries, password) = (Tries::default(), Secret::new("one"));
    tries.begin("anna", &password);
    let asked = NOW.plus(Duration::from_secs(90));
    tries.asked_to_wait(asked);
    tries.await_proof(Verdict::ProbablyRefused, NOW);
    let mut next: Tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
    assert_eq!(next.hold_by_hand("anna", &password, NOW), Some(ByHand::AskedToWait(asked)));
    assert_eq!((next.unless(), next.has_begun("anna", &password)), (Some(Verdict::ProbablyRefused), true));
    assert_eq!(next.proof_came(false, "anna", &password, asked), Some(Verdict::ProbablyRefused));
    assert!(next.refusal("anna", &password).is_some());
}

#[test]
fn what_is_told_as_the_sites_word_is_its_own_and_no_wait_of_ours() {
    let (mut tries, password) = (Tries::default(), Secret::new("one"));
    let ended = |was_answered| Ended { verdict: Verdict::Unknown, was_sent: true, was_answered };
    tries.ended(ended(false), "anna", &password, NOW);
    let asked = NOW.plus(Duration::from_secs(90));
    tries.wait_as_asked(asked, NOW);
    assert_eq!(tries.hold_by_hand("anna", &password, NOW), Some(ByHand::AskedToWait(asked)));
    assert!(tries.not_before(NOW) > Some(asked), "a crawl waits longer");
    assert_eq!(tries.hold_by_hand("anna", &password, asked), None);
    // Twice without an answer: by hand, too, it is sent again only where that is asked for.
    tries.ended(ended(false), "anna", &password, asked);
    assert_eq!(tries.hold_by_hand("anna", &password, asked), Some(ByHand::NoEnd));
}

#[test]
fn whatever_a_form_was_answered_the_same_is_sent_again_by_whom_the_table_says_and_nobody_else() {
    let (password, later) = (Secret::new("one"), NOW.plus(LOGIN_WAIT_MAX * 900));
    for was_let_in in [false, true] {
        for verdict in Verdict::ALL.into_iter().filter(|verdict| *verdict != Verdict::LoggedIn) {
            for was_answered in [true, false] {
                let mut tries = if was_let_in { after(&[(Verdict::LoggedIn, true)]) } else { Tries::default() };
                let state = (verdict, was_answered, was_let_in);
                let Again { by_crawl, by_hand } = again(verdict, was_answered);
                tries.ended(Ended { verdict, was_sent: true, was_answered }, "anna", &password, NOW);
                // Another one that was tried since changes nothing, nor does the file; nor does a browser's session where it is refused.
                for others in 0..3 {
                    let crawls = tries.hold("anna", &password, later).is_none();
                    let may = by_crawl == ByCrawl::Later || (by_crawl == ByCrawl::IfLetInBefore && was_let_in);
                    assert_eq!(crawls, may, "{state:?}, {others}");
                    let held = tries.hold_by_hand("anna", &password, later);
                    let expected = match by_hand {
                        OfHand::Yes => held.is_none(),
                        OfHand::Interactive => {
                            matches!(held, Some(ByHand::Captcha | ByHand::CaptchaBefore | ByHand::SecondFactor))
                        }
                        OfHand::No => matches!(held, Some(ByHand::Refused(_) | ByHand::Locked | ByHand::Sent(_))),
                    };
                    assert!(expected, "{state:?}, {others}: {held:?}");
                    let ended = Ended { verdict: Verdict::WrongPassword, was_sent: true, was_answered: true };
                    tries.ended(ended, "anna", &Secret::new("other"), NOW);
                    tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
                }
                // What says less does not take the place of what says more.
                let busy = Ended { verdict: Verdict::Unknown, was_sent: true, was_answered: false };
                tries.ended(busy, "anna", &password, NOW);
                let is_held = tries.hold_by_hand("anna", &password, later).is_some();
                assert!(is_held || by_hand != OfHand::No, "{state:?}");
                tries.ended(Ended { verdict: Verdict::LoggedIn, ..busy }, "anna", &password, NOW);
                assert_eq!(tries.hold_by_hand("anna", &password, later), None, "{state:?}");
                assert_eq!(tries.hold("anna", &password, later), None, "{state:?}");
            }
        }
    }
}

#[test]
fn a_thousand_passwords_are_remembered_and_then_none_is_sent_unawares() {
    let mut tries = Tries::default();
    let refused = Ended { verdict: Verdict::WrongPassword, was_sent: true, was_answered: true };
    let password = |nth: usize| Secret::new(&format!("password {nth}"));
    for nth in 0..LOGINS_REFUSED_MAX {
        assert_eq!(tries.hold_by_hand("anna", &password(nth), NOW), None, "{nth}");
        tries.ended(refused, "anna", &password(nth), NOW);
    }
    let sure = Some(ByHand::Refused(Verdict::WrongPassword));
    assert!((0..LOGINS_REFUSED_MAX).step_by(97).all(|nth| tries.hold_by_hand("anna", &password(nth), NOW) == sure));
    let new = password(LOGINS_REFUSED_MAX);
    assert_eq!(tries.hold_by_hand("anna", &new, NOW), Some(ByHand::TooMany));
    assert!(matches!(tries.hold("anna", &new, NOW), Some(Hold::Operator(why)) if why == TOO_MANY));
}

#[test]
fn another_page_that_proves_has_a_login_tried_once_and_to_and_fro_brings_no_more() {
    let (mut tries, password, mut sent) = (Tries::default(), Secret::new("one"), 0);
    for verdict in [Verdict::ProbablyRefused, Verdict::Unknown] {
        for probe in [1, 2, 1, 2, 1] {
            tries.meet_probe(probe);
            if tries.hold_by_hand("anna", &password, NOW).is_none() {
                sent += 1;
                tries.ended(Ended { verdict, was_sent: true, was_answered: true }, "anna", &password, NOW);
            }
        }
    }
    assert_eq!(sent, 2);
}

#[test]
fn the_rest_behind_short_sessions_is_kept_and_ends_with_a_login_by_hand() {
    let (mut tries, password) = (after(&[(Verdict::LoggedIn, true)]), Secret::new("one"));
    let until = NOW.plus(LOGIN_HOUR);
    tries.rest(until);
    let mut tries: Tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
    assert!(matches!(tries.hold("anna", &password, NOW), Some(Hold::Until(at, _)) if at == until));
    assert_eq!((tries.hold("anna", &password, until), tries.hold_by_hand("anna", &password, NOW)), (None, None));
    tries.ended(Ended { verdict: Verdict::LoggedIn, was_sent: true, was_answered: true }, "anna", &password, NOW);
    assert_eq!(tries.hold("anna", &password, NOW), None);
}

//! What blocks logins, by a crawl and by hand, and how it is resolved.

use super::*;

/// Does what a hint says.
fn follow(hint: &str, tries: &mut Tries, user: &str, password: &mut Secret, now: UnixMillis) -> bool {
    let ended = Ended { verdict: Verdict::LoggedIn, was_sent: true, was_answered: true };
    // `gleaner login` sends nothing that was rejected, and tries no locked account, without `--again`.
    let is_kept_back = matches!(
        tries.hold_by_hand(user, password, now),
        Some(ByHand::Refused(_) | ByHand::Locked | ByHand::NoEnd | ByHand::Sent(_))
    );
    let is_sent = !is_kept_back || hint.contains("login --again`");
    match hint {
        hint if hint.contains("`gleaner login") && is_sent => {
            tries.ended(ended, user, password, now);
        }
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
                // It resolves itself.
                Hold::Until(until, why) => {
                    assert_eq!(tries.hold(user, &password, until), None, "{state:?}: {why}");
                    assert!(why.contains(&until.rfc3339()), "{state:?}: {why}");
                    continue;
                }
                Hold::Operator(why) => why,
            };
            let hint = why.split_once("(hint: ").unwrap_or_else(|| panic!("{state:?}: no hint in {why}")).1;
            assert!(follow(hint, &mut tries, user, &mut password, NOW), "{state:?}: {why}");
            if was_sent && !hint.contains("`gleaner login --interactive`") && hint.contains("--cookies") {
                // The imported session is used to crawl the site; the sent credentials are not sent again for it.
                assert!(tries.hold(user, &password, NOW).is_some(), "{state:?}: {why}");
                continue;
            }
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
    // A rate limit without a time is guessed, and reported as a guess.
    let mut tries = after(Verdict::Unknown, false);
    tries.wait_as_guessed();
    assert_eq!(tries.hold_by_hand("anna", &password, later), Some(ByHand::GuessedToWait(NOW.plus(FIRST_WAIT))));
    let Some(Hold::Until(_, why)) = tries.hold("anna", &password, later) else { panic!("a crawl waits") };
    assert!(why.contains("an estimate: the site asks to wait, and gives no time"), "{why}");
    tries.ended(Ended { verdict: Verdict::RateLimited, was_sent: true, was_answered: true }, "anna", &password, NOW);
    tries.wait_as_asked(NOW.plus(Duration::from_secs(90)), NOW);
    assert_eq!(tries.guessed_until(later), None, "what the site says is no guess");
    // Trouble of a server is guessed, unless it named a time. That ends on time, and no clock makes it longer.
    let mut tries = after(Verdict::Unknown, false);
    assert_eq!(tries.hold_by_hand("anna", &password, later), None);
    let asked = NOW.plus(Duration::from_secs(7_200));
    tries.wait_as_asked(asked, NOW);
    assert_eq!(tries.hold_by_hand("anna", &password, later), Some(ByHand::AskedToWait(asked)));
    assert_eq!(tries.hold_by_hand("anna", &password, asked), None);
    assert_eq!(tries.hold_by_hand("anna", &password, UnixMillis(5)), None, "the clock was ahead");
    // A later request of the site replaces the earlier one.
    tries.ended(Ended { verdict: Verdict::SecondFactor, was_sent: true, was_answered: true }, "anna", &password, later);
    assert_eq!(tries.hold_by_hand("anna", &password, later), Some(ByHand::SecondFactor));
}

#[test]
fn a_redirect_loop_is_told_with_its_address_until_another_end() {
    let (mut tries, password) = (Tries::default(), Secret::new("one"));
    let ended = |verdict| Ended { verdict, was_sent: false, was_answered: true };
    tries.ended(ended(Verdict::RedirectLoop), "anna", &password, NOW);
    tries.meet_page("http://h/ redirects after 20 others");
    let told = tries.trouble().unwrap();
    assert!(
        told.contains("is a redirect loop: http://h/ redirects after 20 others (hint: check in a browser"),
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
    // A success of another one says nothing about it; one that was never sent met no lock.
    tries.ended(ended(Verdict::LoggedIn), "anna", &two, NOW);
    assert_eq!(tries.hold_by_hand("anna", &one, NOW), Some(ByHand::Captcha));
    let mut tries = Tries::default();
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
    // After two silent failures, even a login by hand needs an explicit request.
    tries.ended(ended(false), "anna", &password, asked);
    assert_eq!(tries.hold_by_hand("anna", &password, asked), Some(ByHand::NoEnd));
}

/// Who retries: a crawl, a command, or a command with a person at the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Crawl,
    Hand,
    Person,
}

impl Who {
    pub(super) fn may(self, tries: &Tries, password: &Secret, now: UnixMillis) -> bool {
        match self {
            Self::Crawl => tries.hold("anna", password, now).is_none(),
            Self::Hand => tries.hold_by_hand("anna", password, now).is_none(),
            Self::Person => {
                let hold = tries.hold_by_hand("anna", password, now);
                matches!(hold, None | Some(ByHand::Captcha | ByHand::SecondFactor))
            }
        }
    }
}

/// How often the same credentials are sent if each attempt ends so, by these in turn, with any wait; at most nine are
/// tried.
fn sent_by(whos: &[Who], tries: &mut Tries, verdict: Verdict, was_answered: bool) -> u32 {
    let (password, mut now, mut sent) = (Secret::new("one"), NOW, 0);
    for who in whos.iter().cycle().take(9) {
        now = now.plus(LOGIN_WAIT_MAX * 2);
        if who.may(tries, &password, now) {
            sent += 1;
            tries.begin("anna", &password);
            tries.form_leaves(NOW);
            tries.ended(Ended { verdict, was_sent: true, was_answered }, "anna", &password, now);
        }
        *tries = serde_json::from_slice(&serde_json::to_vec(tries).unwrap()).unwrap();
    }
    sent
}

#[test]
fn each_row_of_the_table_is_what_is_sent_by_crawls_and_by_hand() {
    use Who::{Crawl, Hand, Person};
    // By a crawl, by hand and by a person: for credentials that were never accepted, then for accepted ones.
    for (verdict, was_answered, never, before) in [
        (Verdict::WrongPassword, true, [1, 1, 1], [1, 1, 1]),
        (Verdict::ProbablyRefused, true, [1, 1, 1], [1, 1, 1]),
        (Verdict::Locked, true, [1, 1, 1], [1, 1, 1]),
        (Verdict::Captcha, true, [1, 1, 2], [1, 1, 2]),
        (Verdict::SecondFactor, true, [1, 1, 2], [1, 1, 2]),
        (Verdict::ConfirmEmail, true, [1, 1, 1], [1, 1, 1]),
        (Verdict::PasswordExpired, true, [1, 1, 1], [1, 1, 1]),
        (Verdict::OtherSite, true, [1, 1, 1], [1, 1, 1]),
        (Verdict::NoForm, true, [1, 1, 1], [1, 1, 1]),
        (Verdict::SentByGet, true, [1, 1, 1], [1, 1, 1]),
        (Verdict::RedirectLoop, true, [1, 1, 1], [1, 1, 1]),
        (Verdict::Script, true, [1, 1, 1], [1, 1, 1]),
        (Verdict::Unknown, true, [1, 1, 1], [9, 9, 9]),
        (Verdict::Unknown, false, [2, 2, 2], [9, 9, 9]),
        (Verdict::NotLookedAt, true, [1, 2, 2], [9, 9, 9]),
        (Verdict::RateLimited, true, [2, 3, 3], [9, 9, 9]),
        (Verdict::LimitedAgain, true, [1, 1, 1], [9, 9, 9]),
        (Verdict::NoAnswer, true, [1, 1, 1], [9, 9, 9]),
        (Verdict::NoAnswer, false, [1, 1, 1], [9, 9, 9]),
        (Verdict::SiteTrouble, true, [1, 1, 1], [9, 9, 9]),
        (Verdict::SiteTrouble, false, [1, 1, 1], [9, 9, 9]),
        (Verdict::SessionLost, true, [1, 1, 1], [9, 9, 9]),
    ] {
        for (was_let_in, expected) in [(false, never), (true, before)] {
            let tries = || if was_let_in { after(&[(Verdict::LoggedIn, true)]) } else { Tries::default() };
            let sent = [Crawl, Hand, Person].map(|who| sent_by(&[who], &mut tries(), verdict, was_answered));
            assert_eq!(sent, expected, "{verdict:?}, {was_answered}, let in {was_let_in}");
            let [_, _, most] = expected;
            let in_turn = sent_by(&[Crawl, Person, Hand], &mut tries(), verdict, was_answered);
            assert!(in_turn <= most, "{verdict:?}, {was_answered}, let in {was_let_in}: {in_turn} in turn");
        }
    }
}

#[test]
fn what_was_let_in_is_tried_again_after_waits_that_grow_to_a_day_whoever_tries_it() {
    use Who::{Crawl, Hand};
    let (password, minutes) = (Secret::new("one"), |of: u64| Duration::from_secs(60 * of));
    for verdict in
        [Verdict::NoAnswer, Verdict::SiteTrouble, Verdict::SessionLost, Verdict::Unknown, Verdict::NotLookedAt]
    {
        for (whos, expected) in [
            (&[Crawl][..], [5, 365, 365 + 1_440, 365 + 2 * 1_440]),
            (&[Hand], [0, 360, 360 + 1_440, 360 + 2 * 1_440]),
            (&[Hand, Crawl], [0, 360, 360 + 1_440, 360 + 2 * 1_440]),
        ] {
            if verdict == Verdict::NotLookedAt && whos != [Crawl] {
                // By hand, the first one blocks nothing.
                continue;
            }
            let mut tries = after(&[(Verdict::LoggedIn, true)]);
            tries.ended(Ended { verdict, was_sent: true, was_answered: true }, "anna", &password, NOW);
            let mut sent = Vec::new();
            for minute in 0..3 * 1_440 + 240 {
                let now = NOW.plus(minutes(minute));
                if !whos.iter().any(|who| who.may(&tries, &password, now)) {
                    continue;
                }
                sent.push(minute);
                tries.begin("anna", &password);
                tries.form_leaves(now);
                tries.ended(Ended { verdict, was_sent: true, was_answered: true }, "anna", &password, now);
                tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
            }
            assert_eq!(sent, expected, "{verdict:?} by {whos:?}");
        }
        // A clear rejection ends them.
        let mut tries = after(&[(Verdict::LoggedIn, true)]);
        for verdict in [verdict, Verdict::WrongPassword] {
            tries.ended(Ended { verdict, was_sent: true, was_answered: true }, "anna", &password, NOW);
        }
        assert!(!Crawl.may(&tries, &password, NOW.plus(LOGIN_WAIT_MAX * 9)), "{verdict:?}");
    }
}

#[test]
fn further_tries_begin_anew_with_what_says_that_the_password_was_not_looked_at() {
    let (password, soon) = (Secret::new("one"), NOW.plus(LOGIN_WAIT_MAX / 8));
    for verdict in [Verdict::NoAnswer, Verdict::SiteTrouble, Verdict::SessionLost] {
        let ended = |verdict, was_answered| Ended { verdict, was_sent: true, was_answered };
        let may = |tries: &Tries| (Who::Crawl.may(tries, &password, soon), Who::Hand.may(tries, &password, soon));
        let mut tries = after(&[(Verdict::LoggedIn, true)]);
        tries.ended(ended(verdict, true), "anna", &password, NOW);
        assert_eq!(may(&tries), (true, true), "{verdict:?}");
        tries.begin("anna", &password);
        // A form that was not sent uses up nothing.
        let mut unsent = tries.clone();
        unsent.came_to_nothing();
        assert_eq!(may(&unsent), (true, true), "{verdict:?}");
        tries.form_leaves(NOW);
        let mut killed: Tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
        assert!(killed.broke_off("anna", &password, NOW));
        assert_eq!(may(&killed), (false, false), "{verdict:?}: no process that is killed has a third so soon");
        let held = killed.hold_by_hand("anna", &password, soon);
        let until = NOW.plus(crate::limits::LOGIN_FURTHER_WAITS[0]);
        assert!(matches!(held, Some(ByHand::SentUntil(_, at)) if at == until), "{verdict:?}: {held:?}");
        assert!(matches!(killed.hold("anna", &password, soon), Some(Hold::Until(at, _)) if at == until));
        let mut busy = tries.clone();
        busy.ended(ended(Verdict::Unknown, false), "anna", &password, NOW);
        assert_eq!(may(&busy), (true, true), "{verdict:?}: a server in trouble did not look at it");
        let mut told = killed.clone();
        told.begin_again("anna", &password);
        told.came_to_nothing();
        assert_eq!(may(&told), (true, true), "{verdict:?}: its operator has said so");
        tries.ended(ended(Verdict::LoggedIn, true), "anna", &password, NOW);
        tries.ended(ended(verdict, true), "anna", &password, NOW);
        assert_eq!(may(&tries), (true, true), "{verdict:?}: let in, it has another");
        tries.ended(ended(Verdict::WrongPassword, true), "anna", &Secret::new("other"), NOW);
        tries.ended(ended(Verdict::LoggedIn, true), "anna", &Secret::new("third"), NOW);
        assert_eq!(may(&tries), (false, false), "{verdict:?}: another one is let in since");
    }
}

#[test]
fn a_captcha_is_read_once_more_and_by_again_anew() {
    let password = Secret::new("one");
    let captcha = Ended { verdict: Verdict::Captcha, was_sent: true, was_answered: true };
    let mut tries = Tries::default();
    tries.begin("anna", &password);
    tries.form_leaves(NOW);
    assert!(tries.may_read_again());
    // The form came back with a CAPTCHA, and a person is about to read it, whatever the status.
    tries.form_leaves(NOW);
    assert!(!tries.may_read_again());
    let mut killed: Tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
    assert!(killed.broke_off("anna", &password, NOW) && !Who::Person.may(&killed, &password, NOW));
    tries.ended(captcha, "anna", &password, NOW);
    assert_eq!(tries.hold_by_hand("anna", &password, NOW), Some(ByHand::CaptchaTwice));
    let Some(Hold::Operator(why)) = tries.hold("anna", &password, NOW) else { panic!("a crawl sends it") };
    assert!(why.contains("`gleaner login --interactive --again`"), "{why}");
    for password in ["two", "three"] {
        // Neither another login nor a browser's session resets it.
        tries.ended(Ended { verdict: Verdict::LoggedIn, ..captcha }, "anna", &Secret::new(password), NOW);
        tries.operator_has_logged_in("anna");
        assert!(!Who::Person.may(&tries, &Secret::new("one"), NOW), "{password}");
    }
    tries.begin_again("anna", &password);
    tries.form_leaves(NOW);
    assert!(tries.may_read_again(), "the operator has said so");
}

#[test]
fn another_way_of_the_rule_file_has_a_login_sent_once_by_hand_and_to_and_fro_brings_no_more() {
    let password = Secret::new("one");
    for (verdict, by_hand) in [
        (Verdict::WrongPassword, 1),
        (Verdict::ProbablyRefused, 3),
        (Verdict::Unknown, 3),
        (Verdict::SessionLost, 1),
        (Verdict::SiteTrouble, 3),
        // A lock concerns the account, whatever form was used.
        (Verdict::Locked, 1),
    ] {
        for (who, expected) in [(Who::Crawl, 1), (Who::Hand, by_hand)] {
            let (mut tries, mut sent) = (Tries::default(), 0);
            for (way, is_sent) in [
                (1, true),
                (1, true),
                (2, false),
                (1, true),
                (2, true),
                (1, true),
                (2, true),
                (3, true),
                (1, true),
                (3, true),
            ] {
                tries.meet_way(way);
                // A missing form says nothing about the previous one, wherever the file points.
                if who.may(&tries, &password, NOW) {
                    tries.begin("anna", &password);
                    if is_sent {
                        sent += 1;
                        tries.form_leaves(NOW);
                    }
                    let verdict = if is_sent { verdict } else { Verdict::NoForm };
                    tries.ended(Ended { verdict, was_sent: is_sent, was_answered: true }, "anna", &password, NOW);
                }
                tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
            }
            assert_eq!(sent, expected, "{verdict:?}, {who:?}");
        }
    }
    // The number of variants is bounded.
    let (mut tries, mut sent) = (Tries::default(), 0);
    for way in 0..100 {
        tries.meet_way(way);
        sent += usize::from(Who::Hand.may(&tries, &password, NOW));
        let refused = Ended { verdict: Verdict::ProbablyRefused, was_sent: true, was_answered: true };
        tries.ended(refused, "anna", &password, NOW);
    }
    assert_eq!(sent, crate::limits::LOGIN_WAYS_MAX);
}

#[test]
fn what_another_password_was_answered_makes_no_crawl_wait_unless_the_site_has_asked_for_it() {
    let ended = |verdict| Ended { verdict, was_sent: true, was_answered: true };
    for (verdict, waits) in [(Verdict::Unknown, false), (Verdict::RateLimited, true)] {
        let mut tries = Tries::default();
        tries.ended(ended(verdict), "anna", &Secret::new("one"), NOW);
        assert_eq!(tries.hold("anna", &Secret::new("two"), NOW).is_some(), waits, "{verdict:?}");
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
fn a_second_answer_that_did_not_look_at_it_is_one_whatever_came_between() {
    let password = Secret::new("one");
    let ended = |verdict, was_sent| Ended { verdict, was_sent, was_answered: was_sent };
    for between in [(Verdict::NoForm, false), (Verdict::RateLimited, true), (Verdict::Unknown, false)] {
        let mut tries = Tries::default();
        for of in [(Verdict::NotLookedAt, true), between] {
            assert!(tries.hold_by_hand("anna", &password, NOW).is_none(), "{between:?}");
            tries.ended(ended(of.0, of.1), "anna", &password, NOW);
        }
        let told = tries.ended(ended(Verdict::NotLookedAt, true), "anna", &password, NOW);
        assert_eq!(told, Verdict::ProbablyRefused, "{between:?}");
        assert!(tries.hold_by_hand("anna", &password, NOW).is_some(), "{between:?}");
    }
}

#[test]
fn a_form_that_is_taken_and_whose_proof_comes_too_late_has_broken_off_and_is_not_sent_again() {
    let (mut tries, password) = (Tries::default(), Secret::new("one"));
    for unless in [Verdict::Unknown, Verdict::SecondFactor, Verdict::Captcha, Verdict::SiteTrouble] {
        tries.begin("anna", &password);
        tries.form_leaves(NOW);
        tries.await_proof(unless, NOW);
        tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
        let late = NOW.plus(UNPROVEN_SESSION_TIME + LOGIN_WAIT_MAX);
        assert_eq!(tries.proof_came(false, "anna", &password, late), None);
        for who in [Who::Crawl, Who::Hand, Who::Person] {
            assert!(!who.may(&tries, &password, late.plus(LOGIN_WAIT_MAX)), "{unless:?}, {who:?}");
        }
        tries = Tries::default();
    }
}

#[test]
fn what_broke_off_and_what_met_trouble_twice_is_remembered_whatever_is_tried_in_between() {
    let [one, two] = ["one", "two"].map(Secret::new);
    let mut sent = 0;
    let mut tries = Tries::default();
    for password in [&one, &two, &one, &two, &one] {
        // As each next process does before it starts.
        tries.broke_off("anna", password, NOW);
        if Who::Hand.may(&tries, password, NOW) {
            sent += 1;
            tries.begin("anna", password);
            tries.form_leaves(NOW);
        }
        tries = serde_json::from_slice(&serde_json::to_vec(&tries).unwrap()).unwrap();
    }
    assert_eq!(sent, 2, "each one once");
    let (mut tries, mut sent) = (Tries::default(), 0);
    for _ in 0..5 {
        for _ in 0..2 {
            if Who::Hand.may(&tries, &one, NOW) {
                sent += 1;
                let trouble = Ended { verdict: Verdict::Unknown, was_sent: true, was_answered: false };
                tries.ended(trouble, "anna", &one, NOW);
            }
        }
        let right = Ended { verdict: Verdict::LoggedIn, was_sent: true, was_answered: true };
        tries.ended(right, "anna", &two, NOW);
    }
    assert_eq!(sent, 2);
}

#[test]
fn a_browsers_session_frees_no_password_that_met_a_captcha_or_a_second_factor() {
    for verdict in [Verdict::Captcha, Verdict::SecondFactor] {
        let (mut tries, password, mut sent) = (Tries::default(), Secret::new("one"), 0);
        for _ in 0..4 {
            for who in [Who::Crawl, Who::Person] {
                if who.may(&tries, &password, NOW) {
                    sent += 1;
                    tries.begin("anna", &password);
                    tries.form_leaves(NOW);
                    tries.ended(Ended { verdict, was_sent: true, was_answered: true }, "anna", &password, NOW);
                }
                tries.operator_has_logged_in("anna");
                assert!(!Who::Crawl.may(&tries, &password, NOW));
            }
        }
        assert_eq!(sent, 2, "one, and one more by a person");
    }
}

#[test]
fn what_was_held_before_answers_were_remembered_is_held_by_hand_too() {
    let password = Secret::new("one");
    let old = password.mark(b"gleaner tries\0anna\0");
    for verdict in ["unknown", "confirm_email", "other_site"] {
        let read = |more: &str| {
            serde_json::from_str::<Tries>(&format!(r#"{{"refused":[],"held":["{verdict}",{old}]{more}}}"#)).unwrap()
        };
        for who in [Who::Crawl, Who::Person] {
            assert!(!who.may(&read(""), &password, NOW), "{verdict}, {who:?}");
        }
        assert!(Who::Hand.may(&read(r#","is_of_table":true"#), &password, NOW), "{verdict}: no form has left");
    }
    // The one retry of one recorded so is recorded as well.
    let mut tries: Tries =
        serde_json::from_str(&format!(r#"{{"proven":{old},"sent":[[{old},"no_answer",false]]}}"#)).unwrap();
    tries.begin("anna", &password);
    tries.form_leaves(NOW);
    let broken = Ended { verdict: Verdict::NoAnswer, was_sent: true, was_answered: false };
    tries.ended(broken, "anna", &password, NOW);
    assert!(!Who::Hand.may(&tries, &password, NOW), "{tries:?}");
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

#[test]
fn a_site_that_asks_to_wait_before_any_form_is_told_so_and_with_one_time() {
    let (mut tries, password) = (Tries::default(), Secret::new("one"));
    tries.begin("anna", &password);
    // Our own wait starts some milliseconds later.
    tries.met_trouble(NOW.plus(Duration::from_millis(5)));
    let asked = NOW.plus(OPERATOR_POLL);
    tries.wait_as_asked(asked, NOW);
    let Some(Hold::Until(_, why)) = tries.hold("anna", &password, NOW) else { panic!("{tries:?}") };
    assert!(why.starts_with(Verdict::RateLimited.sentence()) && why.contains("; as the site asks; "), "{why}");
}

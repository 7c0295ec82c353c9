//! Credentials that the site has accepted before.

use std::fs;
use std::sync::atomic::Ordering;

use super::forum::Forum;

#[test]
fn a_refusal_holds_for_each_rule_file_of_the_account_that_was_let_in_before() {
    for is_known in [true, false] {
        let forum = Forum::start();
        let (rules, secrets) = (forum.path().join("rules"), forum.path().join("data/secrets"));
        for folder in [rules.join("forum.toml"), rules.join("twin.toml")] {
            fs::write(folder, fs::read(rules.join("forum.toml")).unwrap()).unwrap();
        }
        fs::copy(secrets.join("forum"), secrets.join("twin")).unwrap();
        if is_known {
            forum.login(&[]).ended(0);
        }
        forum.run(&["login", "twin"]).ended(0);
        let before = forum.posts();
        // Meanwhile the site has another password.
        forum.seen.forgets.store(true, Ordering::SeqCst);
        forum.seen.changed.store(true, Ordering::SeqCst);
        forum.login(&[]).ended(1).says(&["the password is wrong"]);
        for words in [&["login", "twin"][..], &["crawl", "twin"]] {
            forum.run(words).ended(1).says(&["refused this user and password before"]);
        }
        assert_eq!(forum.posts(), before + 1, "{is_known}");
        // It is right again.
        forum.seen.changed.store(false, Ordering::SeqCst);
        forum.run(&["login", "twin", "--again"]).ended(0);
        forum.run(&["crawl", "twin"]).ended(0);
    }
}

#[test]
fn what_was_let_in_before_and_is_refused_by_the_address_behind_the_form_is_not_sent_again() {
    let forum = Forum::start();
    forum.login(&[]).ended(0);
    forum.rules("page = '/to/told'");
    forum.seen.forgets.store(true, Ordering::SeqCst);
    forum.login(&[]).ended(1);
    forum.login(&[]).ended(1).says(&["has probably refused this user and password before", "--again"]);
    assert_eq!(forum.posts(), 2);
}

#[test]
fn what_was_let_in_before_and_has_the_bare_form_back_is_held_behind_three_further_tries() {
    let forum = Forum::start();
    forum.login(&[]).ended(0);
    let before = forum.posts();
    forum.rules("page = '/to/mute'");
    forum.seen.forgets.store(true, Ordering::SeqCst);
    let tries = forum.path().join("data/sessions/tries/forum.json");
    for nth in 1..=4 {
        forum.login(&[]).ended(1);
        assert_eq!(forum.posts(), before + nth);
        // The wait after it is over.
        let mut of: serde_json::Value = serde_json::from_slice(&fs::read(&tries).unwrap()).unwrap();
        of["further"]["not_before"] = 0.into();
        of["not_before"] = 0.into();
        fs::write(&tries, of.to_string()).unwrap();
    }
    forum.login(&[]).ended(1).says(&["has probably refused this user and password before", "--again"]);
    forum.run(&["crawl", "forum"]).ended(1).says(&["probably refused", "--again"]);
    assert_eq!(forum.posts(), before + 4);
    forum.rules("");
    forum.login(&["--again"]).ended(0);
}

#[test]
fn what_a_gate_says_in_front_of_the_site_holds_no_password_that_was_let_in_before() {
    let forum = Forum::start();
    forum.rules("page = '/to/gated'");
    forum.login(&[]).ended(0);
    forum.login(&["--logout"]).ended(0);
    forum.seen.trouble.store(1, Ordering::SeqCst);
    forum.run(&["crawl", "forum"]).ended(1).says(&["may not have checked them", "hint: crawl again at "]);
    forum.login(&[]).ended(0);
    assert_eq!(forum.posts(), 3);
    // Credentials that were never accepted have probably been rejected.
    let forum = Forum::start();
    forum.rules("page = '/to/gated'");
    forum.seen.trouble.store(9, Ordering::SeqCst);
    for _ in 0..2 {
        forum.login(&[]).ended(1).says(&["probably refused"]);
        forum.run(&["crawl", "forum"]).ended(1).says(&["probably refused"]);
    }
    assert_eq!(forum.posts(), 1);
}

#[test]
fn a_site_in_trouble_holds_no_password_that_it_has_let_in_before() {
    let forum = Forum::start();
    forum.rules("page = '/to/moody'");
    forum.login(&[]).ended(0);
    forum.login(&["--logout"]).ended(0);
    forum.seen.trouble.store(1, Ordering::SeqCst);
    let told = forum.run(&["crawl", "forum"]).ended(1);
    told.says(&["the site had an error when the form was sent", "“database error”", "hint: crawl again at "]);
    let status = forum.run(&["status"]).ended(0);
    assert!(!status.out.contains("--again"), "{}", status.out);
    forum.login(&[]).ended(0);
    assert_eq!(forum.posts(), 3);
    // Once more, but not repeatedly; reported as what it is.
    forum.login(&["--logout"]).ended(0);
    forum.seen.trouble.store(9, Ordering::SeqCst);
    forum.login(&[]).ended(1).says(&["then run: gleaner login forum --data data --rules rules; a crawl retries"]);
    forum.login(&[]).ended(1).says(&["run: gleaner login forum --again --data data --rules rules"]);
    forum.login(&[]).ended(1).says(&["the site had an error", "--again"]);
    forum.run(&["crawl", "forum"]).ended(1).says(&["the site had an error", "--again"]);
    assert_eq!(forum.posts(), 5);
    // Credentials that were never accepted are held.
    for page in ["/to/moody", "/to/failing"] {
        let forum = Forum::start();
        forum.rules(&format!("page = '{page}'"));
        forum.seen.trouble.store(9, Ordering::SeqCst);
        for words in [&["login", "forum"], &["login", "forum"], &["crawl", "forum"]] {
            forum.run(words).ended(1).says(&["the site had an error", "--again"]);
        }
        assert_eq!(forum.posts(), 1, "{page}");
    }
}

#[test]
fn a_session_that_the_site_lost_before_its_proof_holds_no_password_that_it_has_let_in_before() {
    for was_let_in in [true, false] {
        let forum = Forum::start();
        forum.rules("probe = '/flaky'");
        if was_let_in {
            forum.login(&[]).ended(0);
            forum.login(&["--logout"]).ended(0);
        }
        let before = forum.posts();
        forum.seen.trouble.store(2, Ordering::SeqCst);
        forum.login(&[]).ended(1);
        let status = forum.run(&["status"]).ended(0).says(&["is not proven yet"]);
        assert!(!status.out.contains("sends the password again"), "{}", status.out);
        forum.seen.forgets.store(true, Ordering::SeqCst);
        let again = forum.login(&[]);
        if was_let_in {
            again.ended(0);
        } else {
            again.ended(1).says(&["the session ended before it could be proven", "--again"]);
            forum.run(&["crawl", "forum"]).ended(1).says(&["the session ended before it could be proven", "--again"]);
        }
        assert_eq!(forum.posts() - before, if was_let_in { 2 } else { 1 }, "{was_let_in}");
    }
}

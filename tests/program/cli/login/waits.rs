//! What a login by hand waits for: a pause that the site asked for, and a pending proof.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::Ordering;
use std::time::Duration;

use gleaner_base::clock::{Clock as _, SystemClock};

use super::forum::{FOLDERS, Forum};
use crate::cli::harness::{Service, run, wait_for};

/// A pause that a site asked for has the same end in all places.
#[test]
fn a_site_that_asks_to_wait_is_told_with_the_same_time_everywhere() {
    let forum = Forum::start();
    forum.rules("page = '/to/limited/7200'");
    for nth in 1..=2 {
        let before = SystemClock.now();
        let told = forum.login(&["--again"]).ended(1).says(&["the site asks to wait before another try"]);
        let (_, hint) = told.err.split_once("hint: wait until ").unwrap_or_else(|| panic!("{}", told.err));
        let time = hint.split_once(", then run: gleaner login forum").unwrap().0.to_owned();
        let [least, most] = [before, SystemClock.now()].map(|at| at.plus(Duration::from_secs(7_200)).rfc3339());
        assert!((least..=most).contains(&time), "{nth}: {time}");
        for command in ["crawl", "status", "crawl"] {
            let words: &[&str] = if command == "crawl" { &["crawl", "forum"] } else { &["status"] };
            let ran = run(forum.path(), &[words, &FOLDERS[..]].concat()).ended(i32::from(command == "crawl"));
            let said = format!("{}{}", ran.out, ran.err);
            assert!(said.contains(&time), "{nth}, {command}: {time} is missing in {said}");
        }
        assert_eq!(forum.posts(), nth, "no crawl has sent it");
    }
    let forum = Forum::start();
    forum.rules("page = '/to/limited/99999999'");
    forum.login(&[]).ended(1).says(&["longer than the 24 h that gleaner waits at most", "hint: wait until "]);
}

#[test]
fn a_login_that_could_not_be_proven_is_proven_by_the_next_one_and_not_sent_again() {
    let forum = Forum::start();
    forum.rules("probe = '/flaky'");
    forum.seen.trouble.store(2, Ordering::SeqCst);
    forum.login(&[]).ended(1).says(&["then run (this proves the session first): gleaner login forum"]);
    let kept = forum.path().join("data/sessions/tries/forum.unproven");
    assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    run(forum.path(), &[&["status"], &FOLDERS[..]].concat()).ended(0).says(&["is not proven yet"]);
    forum.seen.trouble.store(2, Ordering::SeqCst);
    forum.login(&[]).ended(1).says(&[
        "cannot be proven now: nothing was sent",
        "once the site answers again, run: ",
        "`probe` in [login]",
        "--cookies",
        "--logout",
        "login forum --again",
    ]);
    forum.seen.trouble.store(0, Ordering::SeqCst);
    forum.login(&[]).ended(0).says(&["its session is proven first"]);
    assert_eq!((forum.posts(), forum.begun()), (1, serde_json::Value::Null));
    assert!(!kept.exists() && forum.path().join("data/sessions/forum.json").exists());
}

#[test]
fn a_login_whose_proof_never_comes_is_sent_again_or_forgotten_where_its_operator_says_so() {
    let forum = Forum::start();
    forum.rules("probe = '/flaky'");
    forum.seen.trouble.store(100, Ordering::SeqCst);
    forum.login(&[]).ended(1);
    forum.login(&["--again"]).ended(1).says(&["its form is sent again"]);
    assert_eq!(forum.posts(), 2);
    assert_ne!(forum.begun(), serde_json::Value::Null);
    forum.login(&["--logout"]).ended(0);
    assert_eq!(forum.begun(), serde_json::Value::Null, "there is nothing left to prove");
}

#[test]
fn a_proof_that_says_no_long_after_its_form_was_taken_has_nothing_sent_again() {
    for words in [&["login", "forum"], &["crawl", "forum"]] {
        let forum = Forum::start();
        forum.rules("probe = '/flaky'");
        forum.seen.trouble.store(2, Ordering::SeqCst);
        forum.login(&[]).ended(1).says(&["this proves the session first"]);
        let file = forum.path().join("data/sessions/tries/forum.json");
        let mut tries: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        tries["unproven"][1] = (tries["unproven"][1].as_u64().unwrap() - 4_000_000).into();
        fs::write(&file, tries.to_string()).unwrap();
        forum.seen.forgets.store(true, Ordering::SeqCst);
        forum.seen.trouble.store(0, Ordering::SeqCst);
        for words in [words, &["login", "forum"], &["crawl", "forum"]] {
            forum.run(words).ended(1).says(&["no complete answer came", "--again"]);
        }
        assert_eq!(forum.posts(), 1, "{words:?}");
    }
}

#[test]
fn a_form_that_came_back_is_refused_by_its_proof_alone() {
    let forum = Forum::start();
    // With one page that members see and one that shows the form to everybody, the first is not returned at once.
    forum.rules("page = '/shown'\nprobe = '/flaky'");
    forum.seen.trouble.store(2, Ordering::SeqCst);
    forum.login(&[]).ended(1).says(&["this proves the session first"]);
    forum.login(&[]).ended(0);
    assert_eq!(forum.posts(), 1);
    // The same with a wrong password: the late proof fails, and nobody sends it again.
    forum.password("wrong");
    forum.rules("page = '/to/back'\nprobe = '/flaky'");
    forum.seen.trouble.store(2, Ordering::SeqCst);
    forum.login(&[]).ended(1).says(&["this proves the session first"]);
    let told = forum.login(&[]).ended(1).says(&["its session is proven first", "check the password in data/secrets"]);
    assert!(told.out.contains("verdict: ") && told.out.contains("probably refused"), "{}", told.out);
    forum.login(&[]).ended(1).says(&["has probably refused this user and password before"]);
    assert_eq!(forum.posts(), 2);
}

#[test]
fn a_proof_that_asks_for_patience_gets_it_and_everybody_tells_until_when() {
    let forum = Forum::start();
    forum.rules("probe = '/patience'");
    let before = SystemClock.now();
    let told = forum.login(&[]).ended(1);
    let (_, hint) = told.err.split_once("hint: wait until ").unwrap_or_else(|| panic!("{}", told.err));
    let time = hint.split_once(", then run: ").unwrap().0.to_owned();
    assert!(time >= before.plus(Duration::from_secs(7_200)).rfc3339(), "{time}");
    run(forum.path(), &[&["status"], &FOLDERS[..]].concat()).ended(0).says(&["is not proven yet", &*time]);
    let crawled = run(forum.path(), &[&["crawl", "forum"], &FOLDERS[..]].concat()).ended(1);
    assert!(format!("{}{}", crawled.out, crawled.err).contains(&time), "{time}: {}{}", crawled.out, crawled.err);
    let asked = forum.seen.at.lock().unwrap().iter().filter(|(what, _)| what == "GET /patience").count();
    assert_eq!((asked, forum.posts()), (1, 1));
}

/// The time until which a refusal says that nothing is sent.
fn told_until(text: &str) -> String {
    let (before, _) = text.split_once(": nothing was sent\nhint: ").unwrap_or_else(|| panic!("{text}"));
    before.rsplit_once(" until ").unwrap_or_else(|| panic!("{text}")).1.to_owned()
}

#[test]
fn a_login_by_hand_asks_nothing_of_a_site_that_has_asked_to_wait() {
    // Before the form and after it, with either status.
    for (login, posts) in [("page = '/to/limited/7200'", 1), ("page = '/busy'", 0), ("page = '/patience'", 0)] {
        let forum = Forum::start();
        forum.rules(login);
        let before = SystemClock.now();
        forum.login(&[]).ended(1);
        let asked = forum.asked();
        for more in [&[][..], &["-v"], &["--cookies", "cookies.txt"]] {
            fs::write(forum.path().join("cookies.txt"), "127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tabc\n").unwrap();
            let told = forum
                .login(more)
                .ended(1)
                .says(&["the site asked at", "--again --data data --rules rules` does not wait"]);
            let until = told_until(&told.err);
            let [least, most] = [before, SystemClock.now()].map(|at| at.plus(Duration::from_secs(7_200)).rfc3339());
            assert!((least..=most).contains(&until), "{login}: {until}");
        }
        let told = forum.login(&["--json"]).ended(1).json();
        assert!(told["verdict"].is_null() && told["hint"].as_str().unwrap().contains("--again"), "{told}");
        assert_eq!((forum.posts(), forum.asked()), (posts, asked), "{login}: nothing was asked");
        forum.run(&["status"]).ended(0).says(&["`gleaner login forum --data data --rules rules --again`"]);
        forum.login(&["--again"]).ended(1);
        assert!(forum.asked() > asked, "{login}");
    }
}

#[test]
fn what_a_site_has_asked_of_a_login_by_hand_holds_for_a_crawl_with_the_session_before() {
    let forum = Forum::start();
    forum.login(&[]).ended(0);
    forum.rules("page = '/to/limited/7200'");
    forum.login(&[]).ended(1);
    let asked = forum.asked();
    let crawled = forum.run(&["crawl", "forum"]).ended(1);
    assert!(format!("{}{}", crawled.out, crawled.err).contains("asked"), "{}{}", crawled.out, crawled.err);
    assert_eq!((forum.asked(), forum.posts()), (asked, 2));
}

/// A site that asks to wait without a time: the pause is a guess, and is shown as one everywhere.
#[test]
fn a_wait_that_the_site_has_named_no_time_for_is_told_as_a_guess_and_passed_by_again() {
    for first in [&["login", "forum"][..], &["crawl", "forum"]] {
        let forum = Forum::start();
        forum.rules("page = '/to/limited'");
        let told = forum.run(first).ended(1);
        if first[0] == "crawl" {
            told.says(&["an estimate: the site asks to wait, and gives no time"]);
        } else {
            told.says(&["(an estimate, as the site gave no time)", "to try sooner, run: gleaner login forum --again"]);
        }
        let again = "--again --data data --rules rules` does not wait";
        forum.login(&[]).ended(1).says(&["gave no time; the estimate is to wait until", again]);
        // Nor does a crawl lack time.
        let crawled = forum.run(&["crawl", "forum", "--max-time", "1"]).ended(1).says(&["hint: crawl again at "]);
        assert!(!crawled.out.contains("more time"), "{}", crawled.out);
        assert_eq!(forum.posts(), 1);
        forum.login(&["--again"]).ended(1);
        assert_eq!(forum.posts(), 2);
    }
}

#[test]
fn a_pause_of_a_crawl_that_is_a_guess_is_told_as_one() {
    let forum = Forum::start();
    forum.seen.trouble.store(100, Ordering::SeqCst);
    forum.rules("page = '/flaky'");
    forum.run(&["crawl", "forum", "--max-time", "3"]).ended(1);
    fs::remove_dir_all(forum.path().join("data/sessions")).unwrap();
    forum.login(&[]).ended(1).says(&["gave no time (the server refused the rate", "the estimate is to wait until"]);
    assert_eq!(forum.posts(), 0);
}

#[test]
fn a_pause_that_a_crawl_was_told_holds_for_a_login_by_hand_too() {
    let forum = Forum::start();
    forum.rules("page = '/busy'");
    forum.run(&["crawl", "forum"]).ended(1);
    // It does not need the files of the crawl's own login.
    fs::remove_dir_all(forum.path().join("data/sessions")).unwrap();
    let host = format!("http://127.0.0.1:{} asked a crawl to wait (the server asked for it (Retry-After)", forum.port);
    let asked = forum.asked();
    let first = told_until(&forum.login(&[]).ended(1).says(&[&host]).err);
    // The process that holds the folder reports the same.
    let service = Service::start(forum.path());
    wait_for("the service is up", || service.logged("service is up").pop());
    fs::remove_dir_all(forum.path().join("data/sessions")).unwrap_or_default();
    assert_eq!(told_until(&forum.login(&[]).ended(1).says(&[&host]).err), first);
    assert_eq!(forum.asked(), asked, "nothing was asked");
    forum.login(&["--again"]).ended(1);
    assert!(forum.asked() > asked);
    assert_eq!(service.stop().code(), Some(0));
}

/// As left by a process that was killed after it stored the session, and before it deleted the pending one.
#[test]
fn a_kill_between_saving_a_session_and_dropping_the_one_to_be_proven_loses_and_sends_nothing() {
    for by_crawl in [false, true] {
        let forum = Forum::start();
        forum.rules("probe = '/flaky'");
        forum.seen.trouble.store(2, Ordering::SeqCst);
        forum.login(&[]).ended(1).says(&["this proves the session first"]);
        let tries = forum.path().join("data/sessions/tries");
        let kept = ["forum.json", "forum.unproven"].map(|name| (tries.join(name), fs::read(tries.join(name)).unwrap()));
        forum.login(&[]).ended(0).says(&["its session is proven first"]);
        for (path, bytes) in &kept {
            fs::write(path, bytes).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        assert_ne!(forum.begun(), serde_json::Value::Null);
        match by_crawl {
            true => drop(forum.run(&["crawl", "forum"]).ended(0)),
            false => drop(forum.login(&[]).ended(0).says(&["its session is proven first"])),
        }
        assert!(!kept[1].0.exists() && forum.path().join("data/sessions/forum.json").exists());
        assert_eq!((forum.posts(), forum.begun()), (1, serde_json::Value::Null), "by a crawl: {by_crawl}");
    }
}

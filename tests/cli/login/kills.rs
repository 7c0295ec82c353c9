//! What a process leaves that ends in the middle of a login, and what the next one makes of it: no password leaves twice for it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::atomic::Ordering;

use rustix::process::{Pid, Signal, kill_process};

use super::forum::Forum;
use crate::harness::wait_for;

const CRAWL: &[&str] = &["crawl", "forum"];
const LOGIN: &[&str] = &["login", "forum"];

fn begin(forum: &Forum, words: &[&str]) -> Child {
    forum.command_of(words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

fn end(mut child: Child, signal: Signal) {
    kill_process(Pid::from_child(&child), signal).unwrap();
    child.wait().unwrap();
}

/// Begins a command whose login hangs at /hanging, and kills it there.
fn killed_at_hanging(forum: &Forum, words: &[&str]) {
    forum.seen.hangs.store(true, Ordering::SeqCst);
    let child = begin(forum, words);
    forum.wait_for("GET /hanging");
    end(child, Signal::KILL);
    assert_eq!(forum.posts(), 1);
    forum.seen.hangs.store(false, Ordering::SeqCst);
}

#[test]
fn a_kill_while_a_redirect_behind_the_form_hangs_costs_no_second_login() {
    for (first, second) in [(CRAWL, CRAWL), (LOGIN, CRAWL), (CRAWL, LOGIN)] {
        let forum = Forum::start();
        forum.rules("page = '/to/hang'");
        killed_at_hanging(&forum, first);
        let kept = forum.path().join("data/sessions/tries/forum.unproven");
        assert!(kept.exists());
        forum.run(&["status"]).ended(0).says(&["is still to be proven"]);
        forum.run(second).ended(0);
        assert_eq!((forum.posts(), forum.begun()), (1, serde_json::Value::Null), "{first:?}, {second:?}");
        assert!(!kept.exists() && forum.path().join("data/sessions/forum.json").exists());
    }
}

#[test]
fn a_kill_between_the_answer_to_the_form_and_its_proof_costs_no_second_login() {
    for words in [CRAWL, LOGIN] {
        let forum = Forum::start();
        forum.rules("probe = '/hanging'");
        killed_at_hanging(&forum, words);
        forum.run(words).ended(0);
        assert_eq!((forum.posts(), forum.begun()), (1, serde_json::Value::Null), "{words:?}");
        assert!(forum.path().join("data/sessions/forum.json").exists());
        // A form that came back is a refusal once the proof says no, whoever asks for that.
        let forum = Forum::start();
        forum.rules("page = '/to/back'\nprobe = '/hanging'");
        killed_at_hanging(&forum, words);
        for _ in 0..2 {
            forum.run(words).ended(1).says(&["probably refused"]);
        }
        assert_eq!(forum.posts(), 1, "{words:?}");
    }
}

#[test]
fn a_kill_before_the_form_is_answered_has_the_same_sent_again_by_again_alone() {
    for words in [CRAWL, LOGIN] {
        let forum = Forum::start();
        forum.rules("page = '/to/stuck'");
        forum.seen.hangs.store(true, Ordering::SeqCst);
        let child = begin(&forum, words);
        forum.wait_for("POST /stuck");
        end(child, Signal::KILL);
        forum.seen.hangs.store(false, Ordering::SeqCst);
        forum.run(&["status"]).ended(0).says(&["no whole answer came", "--again"]);
        for words in [LOGIN, CRAWL, LOGIN] {
            forum.run(words).ended(1).says(&["no whole answer came", "--again"]);
        }
        assert_eq!(forum.posts(), 1, "{words:?}");
        forum.login(&["--again"]).ended(1).says(&["the password is wrong"]);
        assert_eq!(forum.posts(), 2, "{words:?}");
    }
}

#[test]
fn nobody_logs_in_while_a_browsers_session_is_proven() {
    let forum = Forum::start();
    forum.rules("probe = '/hanging'");
    forum.seen.hangs.store(true, Ordering::SeqCst);
    std::fs::write(forum.path().join("cookies.txt"), "127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tabc\n").unwrap();
    let mut child = begin(&forum, &["login", "forum", "--cookies", "cookies.txt"]);
    forum.wait_for("GET /hanging");
    forum.login(&[]).ended(1).says(&["another process logs in to forum"]);
    forum.seen.hangs.store(false, Ordering::SeqCst);
    assert!(child.wait().unwrap().success());
    assert_eq!(forum.posts(), 0);
}

#[test]
fn a_refusal_behind_a_redirect_leaves_nothing_to_prove() {
    for words in [CRAWL, LOGIN] {
        let forum = Forum::start();
        forum.rules("page = '/to/refused'");
        forum.run(words).ended(1).says(&["the user name or the password is wrong"]);
        assert!(!forum.path().join("data/sessions/tries/forum.unproven").exists());
        forum.run(words).ended(1);
        assert_eq!((forum.posts(), forum.begun()), (1, serde_json::Value::Null), "{words:?}");
    }
}

#[test]
fn a_person_who_leaves_at_a_captcha_behind_the_form_leaves_no_second_try() {
    for words in [CRAWL, LOGIN] {
        let forum = Forum::start();
        forum.rules("page = '/to/step'");
        let picture = forum.interrupted_at_picture();
        assert_eq!((forum.posts(), picture.exists()), (1, false));
        for _ in 0..2 {
            forum.run(words).ended(1).says(&["CAPTCHA", "--interactive"]);
        }
        assert_eq!(forum.posts(), 1, "{words:?}");
        forum.interactive("XK42\n").ended(0);
    }
}

#[test]
fn what_an_answer_asks_to_wait_outlasts_the_process_that_waits_for_it() {
    let asked_until = |forum: &Forum| {
        let tries = std::fs::read(forum.path().join("data/sessions/tries/forum.json")).ok()?;
        let tries: serde_json::Value = serde_json::from_slice(&tries).ok()?;
        tries["asked_until"].as_u64().filter(|until| *until > 0)
    };
    for (words, signal) in [(CRAWL, Signal::KILL), (LOGIN, Signal::INT)] {
        let forum = Forum::start();
        forum.rules("page = '/to/patient'");
        let mut child = begin(&forum, words);
        if words == LOGIN {
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            assert!(
                lines.map_while(Result::ok).any(|line| line.ends_with("s before the next request, as the site asks"))
            );
        }
        wait_for("the wait is written down", || asked_until(&forum));
        end(child, signal);
        forum.run(&["crawl", "forum", "--max-time", "1"]).ended(1).says(&["hint: crawl again at "]);
        forum.login(&[]).ended(1).says(&["the site has asked at the last login", "to be left alone until", "--again"]);
        assert_eq!(forum.posts(), 1, "{words:?}, {signal:?}");
    }
}

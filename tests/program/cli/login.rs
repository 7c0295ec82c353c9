//! `gleaner login` from its operator's view: steps as they happen, hints that can be copied, and a session that a running
//! service holds.

mod ends;
mod files;
mod forum;
mod hints;
mod kills;
mod let_in;
mod waits;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use gleaner::app::sessions;
use rustix::process::{Pid, Signal, kill_process};

use self::forum::{FOLDERS, Forum, PASSWORD};
use crate::cli::harness::{BINARY, Ran, Service, gleaner, run, wait_for};

#[test]
fn steps_are_shown_while_they_happen_and_what_decides_alone() {
    let forum = Forum::start();
    let mut child = forum.command(&[]).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    out.read_line(&mut first).unwrap();
    // A login waits two seconds before it sends.
    assert_eq!(forum.posts(), 0, "{first}");
    assert!(first.starts_with("page of the form: "), "{first}");
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert!(child.wait().unwrap().success(), "{rest}");
    assert_eq!((rest.matches("asked ").count(), rest.matches("trees asked").count()), (1, 1), "{rest}");
    let at = |wanted: &str| rest.find(wanted).unwrap_or_else(|| panic!("`{wanted}` is missing in {rest}"));
    assert!(at("waiting 2 s before sending, as a person would\n") < at("sent to http://"), "{rest}");
    assert_eq!(rest.matches("sent to ").count(), 1, "{rest}");
    assert!(rest.contains("proof: ") && !rest.contains("evidence: ") && rest.contains("verdict: logged in"), "{rest}");

    let told = forum.login(&["--json"]).ended(0).json();
    assert_eq!((&told["logged_in"], &told["verdict"]), (&true.into(), &"logged_in".into()), "{told}");
    assert!(told["session"].as_str().unwrap().ends_with("sessions/forum.json"), "{told}");
    let steps = told["steps"].as_array().unwrap();
    assert!(steps.iter().filter(|step| step.as_str().unwrap().contains("asked ")).count() > 2, "{told}");
    let all = forum.login(&["-v"]).ended(0).out;
    assert!(all.matches("; asked ").count() > 2 && !all.contains("asked 1 times"), "{all}");
}

#[test]
fn a_form_is_told_as_sent_only_once_it_is_and_no_try_is_one_before() {
    let forum = Forum::start();
    let mut child = forum.command(&[]).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut told = String::new();
    while !told.contains("waiting ") {
        assert!(out.read_line(&mut told).unwrap() > 0, "{told}");
    }
    assert!(!told.contains("sent to ") && forum.posts() == 0, "{told}");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    child.wait().unwrap();
    assert_eq!((forum.posts(), forum.begun()), (0, serde_json::Value::Null), "nothing was sent: nothing was tried");
}

#[test]
fn a_crawl_that_is_killed_in_front_of_its_form_has_tried_nothing() {
    let forum = Forum::start();
    let mut crawl = Command::new(BINARY);
    crawl.current_dir(forum.path()).args(["crawl", "forum"]).args(FOLDERS).env_remove("CREDENTIALS_DIRECTORY");
    let mut crawl = crawl.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // It waits two seconds before it submits the form, which is on the start page.
    wait_for("the form is there", || {
        forum.seen.at.lock().unwrap().iter().any(|(what, _)| what == "GET /").then_some(())
    });
    kill_process(Pid::from_child(&crawl), Signal::KILL).unwrap();
    crawl.wait().unwrap();
    assert_eq!((forum.posts(), forum.begun()), (0, serde_json::Value::Null), "nothing was sent: nothing was tried");
    let status = run(forum.path(), &[&["status"], &FOLDERS[..]].concat()).ended(0);
    assert!(!status.out.contains("was interrupted"), "{}", status.out);
    // So that nothing has to wait.
    run(forum.path(), &[&["crawl", "forum"], &FOLDERS[..]].concat()).ended(0);
    assert_eq!(forum.posts(), 1);
}

#[test]
fn a_login_by_hand_keeps_the_delay_that_robots_txt_asks_for() {
    let forum = Forum::start();
    "User-agent: *\nDisallow: /\nCrawl-delay: 3\n".clone_into(&mut forum.seen.robots.lock().unwrap());
    let told = forum.login(&[]).ended(0);
    assert!(told.out.contains(" asks for 3 s between two requests (Crawl-delay)\n"), "{}", told.out);
    let asked = forum.seen.at.lock().unwrap();
    assert_eq!(asked[0].0, "GET /robots.txt");
    assert!(asked.iter().filter(|(what, _)| what == "GET /robots.txt").count() == 1 && asked.len() > 3, "{asked:?}");
    for pair in asked.windows(2) {
        let apart = pair[1].1 - pair[0].1;
        assert!(apart >= Duration::from_secs(3), "{apart:?}: {asked:?}");
    }
}

/// `--json` always prints exactly one object.
#[test]
fn json_tells_the_reason_of_whatever_was_refused_before_it_began() {
    let forum = Forum::start();
    let json = |arguments: &[&str], code: i32, sentence: &str, hint: &str| {
        let mut command = gleaner(forum.path(), &[arguments, &FOLDERS, &["--json"]].concat());
        let ran = Ran::of(&command.env_remove("CREDENTIALS_DIRECTORY").output().unwrap()).ended(code);
        let told = ran.json();
        assert_eq!((&told["site"], &told["logged_in"]), (&arguments[1].into(), &false.into()), "{told}");
        assert!(told["verdict"].is_null() && told["session"].is_null(), "{told}");
        assert!(told["sentence"].as_str().unwrap().contains(sentence), "{sentence}: {told}");
        assert!(told["hint"].as_str().unwrap_or_default().contains(hint), "{hint}: {told}");
        assert!(!ran.out.contains(PASSWORD), "{told}");
    };
    let login = &["login", "forum"];
    json(&["login", "forun"], 1, "no usable rule file for site `forun`", "did you mean `forum`?");
    fs::remove_file(forum.path().join("data/secrets/forum")).unwrap();
    json(login, 1, "no password for the site forum", "write it into data/secrets/forum");
    forum.password("");
    json(login, 1, "the password is empty", "write the password into it, on one line");
    forum.password("s3cret");
    json(&["login", "forum", "--cookies", "none.txt"], 1, "none.txt: No such file", "");
    json(&["login", "forum", "--interactive"], 1, "not a terminal", "gleaner login forum --cookies cookies.txt");
    json(&["login", "forum", "--logout"], 0, "there was no session", "");
    {
        let _held = sessions::turn(&forum.path().join("data"), "forum").unwrap().unwrap();
        json(login, 1, "another process is logging in to forum", "gleaner status --data data --rules rules");
        json(&["login", "forum", "--logout"], 1, "the session is not deleted", "wait until it has");
    }
    forum.password("wrong");
    let told = forum.login(&["--json"]).ended(1).json();
    assert_eq!((&told["verdict"], &told["logged_in"]), (&"wrong_password".into(), &false.into()), "{told}");
    assert_eq!(told["sentence"], "the user name or the password is wrong", "{told}");
    json(login, 1, "has refused this user and password before", "correct the password in data/secrets/forum");
    forum.rules("pasword = 's3cret'");
    json(login, 1, "no usable rule file for site `forum`", "gleaner rules check rules/forum.toml");
    assert_eq!(forum.posts(), 1);
}

#[test]
fn a_session_that_a_running_service_holds_is_not_forgotten_behind_its_back() {
    let forum = Forum::start();
    let session = forum.path().join("data/sessions/forum.json");
    let service = Service::start(forum.path());
    wait_for("the service has logged in", || session.exists().then_some(()));
    let refused = forum.login(&["--logout"]).ended(1);
    refused.says(&["a running process crawls forum with it", "hint: end that process, or write `enabled = false`"]);
    assert!(session.exists());
    let text = fs::read_to_string(forum.path().join("rules/forum.toml")).unwrap();
    fs::write(forum.path().join("rules/forum.toml"), text.replace("enabled = true", "enabled = false")).unwrap();
    wait_for("the service has left the site", || service.logged("site is no longer enabled").pop());
    wait_for("the session is deleted", || (forum.login(&["--logout"]).code == Some(0)).then_some(()));
    assert!(!session.exists());
    assert_eq!(service.stop().code(), Some(0));
    assert!(!session.exists(), "nothing has brought it back");
    forum.login(&["--logout"]).ended(0).says(&["there was no session"]);
}

#[test]
fn no_session_is_no_session_beside_a_running_service_too() {
    let forum = Forum::start();
    forum.password("wrong");
    let service = Service::start(forum.path());
    wait_for("the service was refused", || (forum.posts() > 0).then_some(()));
    wait_for("the login is over", || {
        let ran = forum.login(&["--logout", "--json"]);
        let told = ran.json();
        // While it logs in, that is reported.
        let is_over = !told["sentence"].as_str().unwrap().contains("another process is logging in");
        is_over.then(|| {
            assert_eq!(ran.code, Some(0), "{told}");
            let sentence = "there was no session; the running process that crawls forum may still log in";
            assert_eq!(told["sentence"], sentence, "{told}");
        })
    });
    assert_eq!(service.stop().code(), Some(0));
}

#[test]
fn the_picture_goes_with_the_process_when_it_is_interrupted() {
    let forum = Forum::start();
    forum.rules("page = '/captcha/'");
    let picture = forum.interrupted_at_picture();
    assert!(!picture.exists());
    assert_eq!((forum.posts(), forum.begun()), (0, serde_json::Value::Null), "nothing was sent: nothing was tried");
}

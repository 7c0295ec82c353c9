//! The service: it answers, follows its rule files, and ends when it is stopped.

use std::fs;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::cli::harness::{BINARY, Service, Site, archived, folder, run, truth, wait_for};

#[test]
fn the_service_answers_keeps_its_last_good_rules_and_reloads() {
    const BAD: &str = "rule file has faults; its last valid version, if any, stays in force";
    let here = folder();
    let _site = Site::start(here.path(), 300, 50);
    let mut service = Service::start(here.path());
    wait_for("the service crawls", || service.site().filter(|site| site["pages"].as_u64() > Some(0)));
    run(here.path(), &["crawl", "--data", "data", "--rules", "rules"]).ended(1).says(&[
        "another gleaner process holds the database",
        "hint: ",
        "data/crawl.redb",
    ]);

    let rules = here.path().join("rules/demo.toml");
    let good = fs::read_to_string(&rules).unwrap();
    let line = 1 + good.lines().position(|line| line.starts_with("start")).unwrap();
    fs::write(&rules, good.replace("\nstart", "\nstrat")).unwrap();
    let told = wait_for("the bad file is told", || service.logged(BAD).pop());
    let place = format!("rules/demo.toml:{line}:1");
    assert!(told["error"].as_str().unwrap().contains(&place), "{told} does not name {place}");

    let before = (service.logged(BAD).len(), service.logged("SIGHUP: reloading rule files").len());
    assert_eq!(before.1, 0);
    service.signal(Signal::HUP);
    wait_for("SIGHUP reads the rules again", || {
        let reloaded = service.logged("SIGHUP: reloading rule files").len() == 1;
        (reloaded && service.logged(BAD).len() > before.0).then_some(())
    });
    let all = truth(here.path()).len() as u64;
    wait_for("the last good rules harvest everything", || {
        service.site().filter(|site| site["torrents_seen"].as_u64() == Some(all))
    });

    fs::write(&rules, format!("enabled = false\n{good}")).unwrap();
    wait_for("a disabled site is stopped", || service.logged("site is no longer enabled").pop());
    assert_eq!(service.stop().code(), Some(0));
    run(here.path(), &["verify", "--data", "data"]).ended(0).says(&["archive and database agree"]);
}

#[test]
fn sigterm_in_the_middle_of_a_crawl_ends_the_service_in_time_and_loses_nothing() {
    let here = folder();
    let _site = Site::start(here.path(), 100, 200);
    let mut service = Service::start(here.path());
    let seen = wait_for("there are torrents", || {
        service.site().and_then(|site| site["torrents_seen"].as_u64()).filter(|torrents| *torrents > 0)
    });
    assert_eq!(service.stop().code(), Some(0));
    assert!(archived(&here.path().join("data")).len() as u64 >= seen);
    run(here.path(), &["verify", "--data", "data"]).ended(0).says(&["archive and database agree"]);
    let all = truth(here.path());
    let mut service = Service::start(here.path());
    wait_for("the next service harvests the rest", || {
        service.site().filter(|site| site["torrents_seen"].as_u64() == Some(all.len() as u64))
    });
    assert_eq!(service.stop().code(), Some(0));
    assert_eq!(archived(&here.path().join("data")), all);
}

#[test]
fn a_service_whose_terminal_is_closed_ends_as_it_is_told_to() {
    let here = folder();
    fs::create_dir(here.path().join("rules")).unwrap();
    let command = format!("exec '{BINARY}' run --data data --rules rules --log-format json 2>log");
    // `script` provides a terminal, which closes with it.
    let mut terminal = Command::new("script")
        .args(["-qefc", &command, "/dev/null"])
        .current_dir(here.path())
        .env_remove("GLEANER_LOG")
        .env_remove("GLEANER_CONFIG")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let says = |what: &str| fs::read_to_string(here.path().join("log")).is_ok_and(|log| log.contains(what));
    wait_for("the service is up", || says("service is up").then_some(()));
    terminal.kill().unwrap();
    terminal.wait().unwrap();
    wait_for("it ends", || says("stopping: finishing what is under way").then_some(()));
    assert!(!says("SIGHUP: reloading rule files"));
    // Its lock is free.
    wait_for("it has ended", || {
        let status = run(here.path(), &["status", "--json", "--data", "data"]);
        (status.code == Some(0) && status.json()["crawling"] == false).then_some(())
    });
}

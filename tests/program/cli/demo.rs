//! The demos: one that is kept running, and one with a members-only site.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use crate::cli::harness::{BINARY, folder, run, with_default_signals};

#[test]
fn a_demo_that_is_kept_open_tells_its_address_what_to_run_and_how_to_end_it() {
    let here = folder();
    let mut demo = with_default_signals(BINARY)
        .current_dir(here.path())
        .args(["demo", "--torrents", "5", "--data", "my demo", "--keep-serving", "--json"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut err = BufReader::new(demo.stderr.take().unwrap());
    let mut told = String::new();
    while !told.ends_with('\n') || !told.contains("Ctrl-C") {
        assert!(err.read_line(&mut told).unwrap() > 0, "{told}");
    }
    assert!(told.contains("the demo site is served at http://127.0.0.1:"), "{told}");
    let command = told.trim_end().rsplit_once("gleaner ").unwrap().1;
    assert_eq!(command, "crawl demo --data 'my demo' --rules 'my demo'/rules");
    run(here.path(), &["crawl", "demo", "--data", "my demo", "--rules", "my demo/rules"]).ended(0);
    kill_process(Pid::from_child(&demo), Signal::INT).unwrap();
    assert_eq!(demo.wait().unwrap().code(), Some(0));
}

#[test]
fn a_demo_is_served_on_the_port_that_is_asked_for_and_stays_there() {
    let here = folder();
    let demo = |port: &str| run(here.path(), &["demo", "--data", "d", "--torrents", "5", "--json", "--port", port]);
    let held = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = held.local_addr().unwrap().port().to_string();
    demo(&port).ended(1).says(&[&format!("port {port} is in use; the demo in d needs it\nhint: ")]);
    drop(held);
    let told = demo(&port).ended(0).json();
    assert_eq!(told["site"], format!("http://127.0.0.1:{port}"), "{told}");
    demo("1").ended(1).says(&[&format!("d holds a demo on port {port}, not 1\nhint: leave --port out")]);
}

#[test]
fn a_members_demo_resumes_and_tells_why_where_it_cannot() {
    let here = folder();
    let demo = |more: &[&str]| run(here.path(), &[&["demo", "--data", "d", "--json"], more].concat());
    for _ in 0..2 {
        let told = demo(&["--members", "nyaa"]).ended(0).json();
        assert_eq!((told["coverage"].as_f64(), told["logins_wrong"].as_u64()), (Some(1.0), Some(0)), "{told}");
    }
    demo(&["--members", "mybb"]).ended(1).says(&["d holds a demo of nyaa, not of mybb\nhint: write --members nyaa"]);
    demo(&["--members", "nyaa", "--torrents", "3"]).ended(1).says(&[" torrents, not 3\nhint: leave --torrents out"]);
    let note: serde_json::Value =
        serde_json::from_slice(&fs::read(here.path().join("d/demo-members.json")).unwrap()).unwrap();
    let port = u16::try_from(note["port"].as_u64().unwrap()).unwrap();
    let held = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
    demo(&["--members", "nyaa"]).ended(1).says(&[&format!("port {port} is in use; the demo in d needs it\nhint: ")]);
    drop(held);
}

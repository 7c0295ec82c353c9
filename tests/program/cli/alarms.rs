//! Alarms of a running service: fired, called, answered, known after a kill, and shown without a service.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use crate::cli::api::Listener;
use crate::cli::harness::{Service, folder, run, wait_for};
use crate::cli::press::{JSON, post};
use crate::cli::web::{get, port_of};

const BAD: &str = "start = ['http://127.0.0.1:9/']\nnonsense = 1\n";

fn list(here: &std::path::Path) -> Vec<Value> {
    run(here, &["alarms", "--json", "--data", "data"]).ended(0).json()["alarms"].as_array().unwrap().clone()
}

#[test]
fn an_alarm_is_told_once_over_kills_and_answered() {
    let dir = folder();
    let here = dir.path();
    fs::create_dir_all(here.join("rules")).unwrap();
    fs::write(here.join("rules/one.toml"), BAD).unwrap();
    let called = here.join("called");
    let config = format!(
        "[alarms]\nafter = {{ rule-file = 0 }}\n[[alarm_channel]]\nname = 'own'\ncommand = ['/usr/bin/tee', '-a', '{}']\n\
         [[alarm_channel]]\nname = 'lost'\nurl = 'http://127.0.0.1:9/s3cret'\n",
        called.display()
    );
    fs::write(here.join("gleaner.toml"), config).unwrap();
    let calls = || fs::read_to_string(&called).unwrap_or_default().lines().count();
    let service = Service::start(here);
    wait_for("somebody is called", || (calls() == 1).then_some(()));
    let told: Value = serde_json::from_str(fs::read_to_string(&called).unwrap().lines().next().unwrap()).unwrap();
    assert_eq!((&told["event"], &told["alarm"]["kind"]), (&"fired".into(), &"rule-file".into()));
    assert!(told["alarm"]["rule"].as_str().unwrap().contains("one.toml:"), "{told}");
    let open = list(here);
    let id = open[0]["id"].as_str().unwrap().to_owned();
    assert_eq!((open.len(), &*id), (1, "rule-file-1"));
    run(here, &["alarms", "--data", "data"]).ended(0).says(&["1 open", &id, "one: ", "to do: ", "rules check"]);
    run(here, &["status", "--data", "data"]).says(&["1 alarm is open"]);
    run(here, &["alarms", "note", &id, "mine", "--data", "data"]).ended(0);
    run(here, &["alarms", "silence", &id, "--minutes", "60", "--data", "data"]).ended(0).says(&["for 60 minutes"]);
    run(here, &["alarms", "--data", "data"]).ended(0).says(&["silenced until 2"]);
    run(here, &["alarms", "unsilence", &id, "--data", "data"]).ended(0).says(&["is not silenced"]);
    assert_eq!(list(here)[0]["silenced_until_ms"], Value::Null);
    run(here, &["alarms", "unsilence", "nothing-9", "--data", "data"])
        .ended(1)
        .says(&["no alarm has the id nothing-9"]);
    run(here, &["alarms", "silence", "nothing-9", "--data", "data"]).ended(1).says(&["no alarm has the id nothing-9"]);
    run(here, &["alarms", "test", "own", "--data", "data"]).ended(0).says(&["the test was delivered: own"]);
    run(here, &["alarms", "test", "none", "--data", "data"]).ended(1).says(&["no channel is called none", "hint: "]);
    let failed = run(here, &["alarms", "test", "--data", "data"])
        .ended(1)
        .says(&["lost: it cannot be reached", "delivered: own"]);
    assert!(!failed.err.contains("s3cret"), "{}", failed.err);
    let before = calls();
    assert_eq!(before, 3, "the alarm and two tests");
    let port = port_of(&service);
    let shown = get(port, "/api/v1/alarms").json();
    assert_eq!((&shown["alarms"][0]["note"], shown["alarms"].as_array().unwrap().len()), (&"mine".into(), 1));
    let silenced = post(port, &format!("/api/v1/alarms/{id}/silence"), &[JSON], "{}").json();
    assert_eq!(silenced["alarm"]["silenced_until_ms"], 253_402_300_799_000_i64);
    // Who listens hears what is open, and what becomes of it.
    let mut listener = Listener::start(port, "?kinds=alarm", "");
    let (kind, _, heard) = listener.event();
    assert_eq!((&*kind, &heard["id"], &heard["away_since_ms"]), ("alarm", &id.clone().into(), &Value::Null));
    let again = post(port, &format!("/api/v1/alarms/{id}/unsilence"), &[JSON], "{}").json();
    assert_eq!(again["alarm"]["silenced_until_ms"], Value::Null);
    assert_eq!(listener.event().2["silenced_until_ms"], Value::Null);
    let noted = post(port, &format!("/api/v1/alarms/{id}/note"), &[JSON], r#"{"text":"<b>ours\u202e"}"#).json();
    assert_eq!(noted["alarm"]["note"], "<b>ours");
    for (path, body, status) in [
        ("nothing-9/note", r#"{"text":"x"}"#, 404),
        ("nothing-9/silence", "{}", 404),
        ("nothing-9/unsilence", "{}", 404),
        ("rule-file-1/silence", r#"{"minutes":0}"#, 400),
        ("rule-file-1/silence", r#"{"until":1}"#, 400),
        ("rule-file-1/note", "{}", 400),
        ("test", r#"{"channel":"none"}"#, 409),
    ] {
        assert_eq!(post(port, &format!("/api/v1/alarms/{path}"), &[JSON], body).status, status, "{path} {body}");
    }
    let tested = post(port, "/api/v1/alarms/test", &[JSON], r#"{"channel":"own"}"#);
    assert_eq!((tested.status, tested.json()["delivered"].clone()), (200, serde_json::json!(["own"])));
    let foreign = post(port, "/api/v1/alarms/test", &[JSON, ("Origin", "http://evil.example")], "{}");
    assert_eq!((foreign.status, get(port, "/api/v1/alarms/rule-file-1/page").status), (403, 404));
    let before = before + 1;
    let answer = get(port, "/metrics");
    let metrics = answer.text();
    for line in [
        "gleaner_alarms{kind=\"rule-file\",site=\"one\"} 1",
        "gleaner_alarms{kind=\"disk-full\",site=\"\"}",
        "gleaner_alarms_fired_total{kind=\"rule-file\"} 1",
        "gleaner_notifications_failed_total{channel=\"own\"} 0",
    ] {
        assert!(metrics.contains(line), "{line} is missing in\n{metrics}");
    }
    let log = serde_json::to_string(&service.log()).unwrap();
    assert!(log.contains("\"alarm\":\"rule-file-1\"") && !log.contains("s3cret"), "{log}");
    service.signal(Signal::KILL);
    drop(service);

    // Another one fires: the first is not told again.
    fs::write(here.join("rules/two.toml"), BAD).unwrap();
    let service = Service::start(here);
    wait_for("the second is told", || (calls() > before).then_some(()));
    assert_eq!((calls(), list(here).len()), (before + 1, 2));
    assert_eq!(list(here).iter().find(|alarm| alarm["id"] == *id).unwrap()["note"], "<b>ours");
    service.signal(Signal::KILL);
    drop(service);
    // Without a service, from what it has left.
    assert_eq!(list(here).len(), 2);
    run(here, &["alarms", "two", "--data", "data"]).ended(0).says(&["1 open", "two: "]);
    run(here, &["alarms", "note", &id, "x", "--data", "data"]).ended(1).says(&["no service runs"]);
}

#[test]
fn where_nothing_can_be_known_nothing_is_told_to_be_well() {
    let dir = folder();
    let here = dir.path();
    run(here, &["alarms", "--data", "nope"]).ended(1).says(&["there is no such folder"]);
    fs::create_dir(here.join("empty")).unwrap();
    run(here, &["alarms", "--json", "--data", "empty"]).ended(1).says(&["no crawl was started in this folder"]);
}

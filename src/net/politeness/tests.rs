//! Unit tests of `politeness`.

use super::*;

const POLICY: HostPolicy = HostPolicy { interval_ms: 500, connections_max: 2, rest_factor: 0.0, rest_ms_min: 0 };

fn at(ms: u64) -> UnixMillis {
    UnixMillis(ms)
}

fn unspaced(connections_max: u32) -> HostPolicy {
    HostPolicy { interval_ms: 0, connections_max, ..POLICY }
}

#[test]
fn starts_are_spaced_by_the_interval() {
    let mut load = Load::default();
    assert_eq!(load.ask(POLICY, at(1_000)), Gate::Go);
    load.started(POLICY, at(1_000));
    assert_eq!(load.ask(POLICY, at(1_100)), Gate::WaitUntil(at(1_500)));
    assert_eq!(load.ask(POLICY, at(1_500)), Gate::Go);
}

#[test]
fn no_more_connections_than_allowed() {
    let mut load = Load::default();
    let policy = unspaced(2);
    for _ in 0..2 {
        assert_eq!(load.ask(policy, at(1)), Gate::Go);
        load.started(policy, at(1));
    }
    assert_eq!(load.ask(policy, at(1)), Gate::WaitForConnection);
    load.ended(at(2));
    assert_eq!(load.ask(policy, at(2)), Gate::Go);
}

#[test]
fn a_connection_rests_as_long_as_the_answer_took_from_its_end_on() {
    let policy = HostPolicy { rest_factor: 2.0, ..unspaced(1) };
    let mut load = Load::default();
    load.started(policy, at(0));
    let ended = at(300);
    load.ended(ended.plus(policy.rest(Duration::from_millis(300))));
    assert_eq!(load.ask(policy, at(899)), Gate::WaitUntil(at(900)));
    assert_eq!(load.ask(policy, at(900)), Gate::Go);
}

#[test]
fn one_of_two_connections_rests_while_the_other_works() {
    let policy = unspaced(2);
    let mut load = Load::default();
    load.started(policy, at(0));
    load.started(policy, at(0));
    load.ended(at(700));
    assert_eq!(load.ask(policy, at(100)), Gate::WaitUntil(at(700)));
    load.ended(at(150));
    assert_eq!(load.ask(policy, at(200)), Gate::Go);
    assert!(!load.is_idle(at(200)));
    assert!(load.is_idle(at(700)));
}

#[test]
fn a_rest_is_bounded_and_a_crawl_delay_is_its_least() {
    let policy = HostPolicy { rest_factor: 10.0, rest_ms_min: 2_000, ..POLICY };
    assert_eq!(policy.rest(Duration::from_millis(10)), Duration::from_secs(2));
    assert_eq!(policy.rest(Duration::from_secs(300)), limits::REST_MAX);
    assert_eq!(HostPolicy { rest_factor: f32::NAN, ..POLICY }.rest(Duration::from_secs(1)), Duration::ZERO);
    assert_eq!(HostPolicy { rest_factor: f32::MAX, ..POLICY }.rest(Duration::from_secs(1)), limits::REST_MAX);
}

#[test]
fn retry_after_is_kept_even_when_other_answers_are_well() {
    let mut host = Patience::default();
    let block = host.ended(Answered::Throttled(Some(at(60_000))), at(10)).expect("a pause");
    assert_eq!(block.until, at(60_000));
    assert_eq!(host.ended(Answered::Well, at(20)), None);
    assert_eq!(host.ask(at(59_999)), Gate::WaitUntil(at(60_000)));
    assert_eq!(host.ask(at(60_000)), Gate::Go);
}

#[test]
fn an_answer_that_was_under_way_when_the_pause_began_forgives_nothing() {
    for late in [Answered::Well, Answered::Reached] {
        let mut host = Patience::default();
        let first = host.ended(Answered::Unreachable, at(10)).expect("a pause");
        assert_eq!(host.ended(late, at(20)), None);
        let second = host.ended(Answered::Unreachable, first.until).expect("a pause");
        assert_eq!(second.complaints, 2, "{late:?}");
    }
}

#[test]
fn complaints_escalate_and_an_answer_forgives() {
    let mut host = Patience::default();
    let mut now = at(0);
    let mut pauses = Vec::new();
    for _ in 0..3 {
        let block = host.ended(Answered::Throttled(None), now).expect("a pause");
        pauses.push(block.until.since(now).as_millis());
        now = block.until;
    }
    assert!(pauses[0] < pauses[1] && pauses[1] < pauses[2], "{pauses:?}");
    assert_eq!(host.ended(Answered::Well, now), None);
    let block = host.ended(Answered::Throttled(None), now).expect("a pause");
    assert_eq!(block.until.since(now).as_millis(), pauses[0]);
}

#[test]
fn a_robots_txt_forgives_silence_and_no_refusal() {
    for (answered, forgiven) in [(Answered::Unreachable, true), (Answered::Throttled(None), false)] {
        let mut host = Patience::default();
        host.ended(answered, at(0)).expect("a pause");
        assert_eq!(host.ended(Answered::Reached, at(600_000)), None);
        assert_eq!(host.complaints() == 0, forgiven, "{answered:?}");
    }
}

#[test]
fn complaints_escalate_over_a_restart() {
    let mut before = Patience::default();
    let first = before.ended(Answered::Throttled(None), at(0)).expect("a pause");
    let second = before.ended(Answered::Throttled(None), first.until).expect("a pause");
    let mut after = Patience::default();
    after.block(second.until, second.complaints);
    let third = after.ended(Answered::Throttled(None), second.until).expect("a pause");
    assert_eq!(third.complaints, 3);
    assert!(third.until.since(second.until) > second.until.since(first.until));
}

#[test]
fn answers_that_were_under_way_together_are_one_complaint() {
    let mut host = Patience::default();
    let first = host.ended(Answered::Throttled(None), at(5)).expect("a pause");
    for _ in 0..7 {
        host.ended(Answered::Throttled(None), at(5));
    }
    assert_eq!(host.ask(at(6)), Gate::WaitUntil(first.until));
}

#[test]
fn a_complaint_within_a_pause_that_was_forgiven_counts() {
    let mut host = Patience::default();
    host.ended(Answered::Unreachable, at(0)).expect("a pause");
    assert_eq!(host.ended(Answered::Well, at(10)), None);
    let first = host.ended(Answered::Throttled(None), at(20)).expect("a longer pause");
    assert_eq!(first.complaints, 1);
    let second = host.ended(Answered::Throttled(None), first.until).expect("a pause");
    assert!(second.until.since(first.until) > first.until.since(at(20)), "{first:?} {second:?}");
}

#[test]
fn faults_in_a_row_pause_the_host_and_a_single_one_does_not() {
    let mut host = Patience::default();
    for fault in 1..=limits::HOST_FAULTS_MAX {
        assert_eq!(host.ask(at(0)), Gate::Go, "fault {fault}");
        let block = host.ended(Answered::Faulty, at(0));
        assert_eq!(block.is_some(), fault == limits::HOST_FAULTS_MAX, "fault {fault}");
    }
    assert!(matches!(host.ask(at(0)), Gate::WaitUntil(_)));
}

#[test]
fn hosts_of_one_registrable_domain_are_one() {
    let cases = [
        ("www.example.org", "example.org"),
        ("dl.cdn.example.org", "example.org"),
        ("a.example.co.uk", "example.co.uk"),
        ("someone.github.io", "someone.github.io"),
        ("localhost", "localhost"),
        ("nas.local", "nas.local"),
        ("co.uk", "co.uk"),
        ("192.0.2.7", "192.0.2.7"),
        ("[2001:db8::1]", "[2001:db8::1]"),
    ];
    for (host, domain) in cases {
        assert_eq!(domain_of(host), domain, "{host}");
    }
}

//! Unit tests of `hosts`.

use std::time::Duration;

use super::*;

const POLICY: HostPolicy = HostPolicy { interval_ms: 1_000, connections_max: 1, rest_factor: 0.0, rest_ms_min: 0 };

fn at(ms: u64) -> UnixMillis {
    UnixMillis(1_000_000_000 + ms)
}

fn wait(answer: Result<Slot, Gate>) -> Gate {
    answer.err().unwrap_or(Gate::Go)
}

#[tokio::test(start_paused = true)]
async fn two_names_of_one_domain_share_its_rate() {
    let hosts = Hosts::default();
    let (www, dl) = (HostKeys::new("www.example.org", &[]), HostKeys::new("dl.example.org", &[]));
    let slot = hosts.ask(&www, POLICY, at(0)).expect("go");
    assert_eq!(wait(hosts.ask(&dl, POLICY, at(0))), Gate::WaitForConnection);
    let _ = slot.finish(Answered::Well, POLICY, at(0));
    assert_eq!(wait(hosts.ask(&dl, POLICY, at(0))), Gate::WaitUntil(at(1_000)));
    let other = HostKeys::new("www.example.net", &[]);
    assert_eq!(wait(hosts.ask(&other, POLICY, at(0))), Gate::Go);
}

#[tokio::test(start_paused = true)]
async fn two_domains_at_one_address_share_its_rate() {
    let hosts = Hosts::default();
    let (one, two) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
    let first = HostKeys::new("a.example", &[one]);
    let both = HostKeys::new("b.example", &[two, one, two]);
    let _slot = hosts.ask(&first, POLICY, at(0)).expect("go");
    assert_eq!(wait(hosts.ask(&both, POLICY, at(0))), Gate::WaitForConnection);
    assert_eq!(wait(hosts.ask(&HostKeys::new("c.example", &[two]), POLICY, at(0))), Gate::Go);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_by_one_key_takes_nothing_from_the_others() {
    let hosts = Hosts::default();
    let (one, two) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
    let _slot = hosts.ask(&HostKeys::new("a.example", &[one]), POLICY, at(0)).expect("go");
    let both = HostKeys::new("b.example", &[one, two]);
    for _ in 0..3 {
        assert_eq!(wait(hosts.ask(&both, POLICY, at(0))), Gate::WaitForConnection);
    }
    assert_eq!(wait(hosts.ask(&HostKeys::new("b.example", &[two]), POLICY, at(0))), Gate::Go);
}

#[tokio::test(start_paused = true)]
async fn a_pause_binds_the_host_name_alone() {
    let hosts = Hosts::default();
    let (www, dl) = (HostKeys::new("www.example.org", &[]), HostKeys::new("dl.example.org", &[]));
    let slot = hosts.ask(&www, POLICY, at(0)).expect("go");
    let block = slot.finish(Answered::Throttled(Some(at(60_000))), POLICY, at(0)).block.expect("a pause");
    assert_eq!(block.until, at(60_000));
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(wait(hosts.ask(&www, POLICY, at(1_000))), Gate::WaitUntil(at(60_000)));
    assert_eq!(hosts.patience("www.example.org", at(1_000)), Gate::WaitUntil(at(60_000)));
    assert_eq!(wait(hosts.ask(&dl, POLICY, at(1_000))), Gate::Go);
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_moves_the_pauses_with_it() {
    for set_by in [-3_600_000_i64, 3_600_000] {
        let hosts = Hosts::default();
        assert_eq!(hosts.clock_set_by(at(0)), 0);
        let keys = HostKeys::new("a.example", &[]);
        let slot = hosts.ask(&keys, POLICY, at(0)).expect("go");
        let _ = slot.finish(Answered::Throttled(Some(at(60_000))), POLICY, at(0));
        tokio::time::advance(Duration::from_secs(20)).await;
        let now = UnixMillis(at(20_000).0.saturating_add_signed(set_by));
        let until = UnixMillis(at(60_000).0.saturating_add_signed(set_by));
        assert_eq!(hosts.clock_set_by(now), set_by);
        assert_eq!(wait(hosts.ask(&keys, POLICY, now)), Gate::WaitUntil(until), "set by {set_by} ms");
        tokio::time::advance(Duration::from_secs(40)).await;
        assert_eq!(hosts.clock_set_by(until), set_by);
        assert_eq!(wait(hosts.ask(&keys, POLICY, until)), Gate::Go, "set by {set_by} ms");
    }
}

#[tokio::test(start_paused = true)]
async fn a_row_is_taken_up_once() {
    let hosts = Hosts::default();
    let row = HostRow {
        id: HostId(3),
        site: "s".into(),
        origin: "http://a.example".into(),
        blocked_until: at(60_000),
        blocked_reason: "429".into(),
        complaints: 1,
    };
    hosts.take_up(&row, "a.example", at(0));
    assert_eq!(hosts.blocked_until("a.example", at(0)), at(60_000));
    tokio::time::advance(Duration::from_secs(20)).await;
    // The row's time was taken by a clock that was an hour ahead.
    let now = UnixMillis(at(20_000).0 - 3_600_000);
    hosts.take_up(&row, "a.example", now);
    assert_eq!(hosts.blocked_until("a.example", now), now.plus(Duration::from_secs(40)));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_was_broken_off_gives_its_connection_back_once_it_has_rested() {
    let hosts = Hosts::default();
    let keys = HostKeys::new("a.example", &[]);
    let policy = HostPolicy { interval_ms: 0, rest_factor: 2.0, ..POLICY };
    let slot = hosts.ask(&keys, policy, at(0)).expect("go");
    tokio::time::advance(Duration::from_millis(300)).await;
    drop(slot);
    assert_eq!(wait(hosts.ask(&keys, policy, at(300))), Gate::WaitUntil(at(900)));
    tokio::time::advance(Duration::from_millis(600)).await;
    assert_eq!(wait(hosts.ask(&keys, policy, at(900))), Gate::Go);
}

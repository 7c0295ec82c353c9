//! The resolver against a name server with scripted answers.

use std::net::Ipv4Addr;

use super::name_server::{Says, dns, name_server, pass, patient_dns};
use super::*;

const ONE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const TWO: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);

async fn at(dns: &Dns, name: &str) -> Vec<IpAddr> {
    dns.lookup(name).await.unwrap().addresses.to_vec()
}

#[tokio::test]
async fn an_answer_holds_for_its_ttl_and_no_longer() {
    let server = name_server(|_, before| Says::At(if before == 0 { ONE } else { TWO }, 60)).await;
    let dns = dns(&server, "");
    let located = dns.lookup("a.example").await.unwrap();
    assert_eq!((&located.addresses[..], server.asked()), (&[IpAddr::from(ONE)][..], 1));
    assert!(located.ttl > Duration::from_secs(58) && located.ttl <= Duration::from_secs(60), "{:?}", located.ttl);
    pass(Duration::from_secs(50)).await;
    assert_eq!((at(&dns, "a.example").await, server.asked()), (vec![ONE.into()], 1));
    assert!(dns.lookup("a.example").await.unwrap().ttl <= Duration::from_secs(10));
    pass(Duration::from_secs(11)).await;
    assert_eq!((at(&dns, "a.example").await, server.asked()), (vec![TWO.into()], 2));
}

#[tokio::test]
async fn a_ttl_has_a_floor_and_a_ceiling_and_an_alias_its_own() {
    let server = name_server(|name, _| match name {
        "zero.example" => Says::At(ONE, 0),
        "week.example" => Says::At(ONE, 604_800),
        _ => Says::Alias(30, ONE, 3_000),
    })
    .await;
    let dns = dns(&server, "");
    for (name, least, most) in [
        ("zero.example", Duration::ZERO, limits::DNS_TTL_LEAST),
        ("week.example", limits::DNS_TTL_MAX - Duration::from_secs(2), limits::DNS_TTL_MAX),
        ("alias.example", Duration::from_secs(28), Duration::from_secs(30)),
    ] {
        let located = dns.lookup(name).await.unwrap();
        assert_eq!(located.addresses[..], [IpAddr::from(ONE)], "{name}");
        assert!(located.ttl > least && located.ttl <= most, "{name}: {:?}", located.ttl);
    }
}

#[tokio::test]
async fn a_missing_name_is_remembered_shortly() {
    let server = name_server(|name, before| match (name, before) {
        ("new.example", 1..) => Says::At(ONE, 60),
        ("bare.example", _) => Says::NoAddress,
        _ => Says::NoSuchName,
    })
    .await;
    let dns = dns(&server, "");
    for _ in 0..3 {
        assert_eq!(dns.lookup("new.example").await, Err(DnsError::NoSuchName("new.example".into())));
    }
    assert_eq!(server.asked(), 1);
    pass(Duration::from_secs(61)).await;
    assert_eq!(at(&dns, "new.example").await, [IpAddr::from(ONE)]);
    assert_eq!(dns.lookup("bare.example").await, Err(DnsError::NoAddress("bare.example".into())));
}

#[tokio::test]
async fn servers_that_fail_are_no_proof_that_a_name_is_missing() {
    for says in [Says::Fails, Says::Nothing, Says::Garbage] {
        let said = says.clone();
        let server = name_server(move |_, _| said.clone()).await;
        let dns = dns(&server, "");
        let error = dns.lookup("a.example").await.unwrap_err();
        assert!(matches!(error, DnsError::NoAnswer { .. }), "{says:?}: {error}");
        assert!(error.to_string().contains("hint: "), "{error}");
        let asked = server.asked();
        assert_eq!(dns.lookup("a.example").await, Err(error), "{says:?}");
        assert_eq!(server.asked(), asked, "{says:?}: not asked again at once");
    }
}

#[tokio::test]
async fn a_flapping_server_is_bridged_by_what_was_known() {
    let server = name_server(|_, before| match before {
        0 => Says::At(ONE, 60),
        1..4 => Says::Fails,
        _ => Says::At(TWO, 60),
    })
    .await;
    let dns = dns(&server, "");
    assert_eq!(at(&dns, "a.example").await, [IpAddr::from(ONE)]);
    pass(Duration::from_secs(61)).await;
    let bridged = dns.lookup("a.example").await.unwrap();
    assert_eq!(bridged.addresses[..], [IpAddr::from(ONE)]);
    assert!(bridged.ttl <= limits::DNS_FAILURE_TIME, "{:?}", bridged.ttl);
    for _ in 0..4 {
        pass(limits::DNS_FAILURE_TIME).await;
        let _ = dns.lookup("a.example").await;
    }
    assert_eq!(at(&dns, "a.example").await, [IpAddr::from(TWO)]);
}

#[tokio::test]
async fn what_was_known_serves_no_longer_than_its_cap_and_never_against_the_servers_word() {
    let server = name_server(|name, before| match (name, before) {
        (_, 0) => Says::At(ONE, 60),
        ("gone.example", _) => Says::NoSuchName,
        _ => Says::Fails,
    })
    .await;
    let resolver = dns(&server, "");
    assert_eq!(at(&resolver, "gone.example").await, [IpAddr::from(ONE)]);
    pass(Duration::from_secs(61)).await;
    assert!(matches!(resolver.lookup("gone.example").await, Err(DnsError::NoSuchName(_))));
    let server = name_server(|_, before| if before == 0 { Says::At(ONE, 60) } else { Says::Fails }).await;
    let resolver = dns(&server, "");
    assert_eq!(at(&resolver, "old.example").await, [IpAddr::from(ONE)]);
    pass(limits::DNS_STALE_TIME_MAX + Duration::from_secs(61)).await;
    assert!(matches!(resolver.lookup("old.example").await, Err(DnsError::NoAnswer { .. })));
}

#[tokio::test]
async fn a_slow_server_is_bridged_and_heard_to_the_end() {
    const LATE: Duration = Duration::from_millis(2_500);
    let server = name_server(|_, before| match before {
        0 => Says::At(ONE, 60),
        _ => Says::Late(LATE, TWO, 60),
    })
    .await;
    let dns = patient_dns(&server, "", 2 * LATE);
    assert_eq!(at(&dns, "a.example").await, [IpAddr::from(ONE)]);
    pass(Duration::from_secs(61)).await;
    // Whoever waited for the server would have its answer.
    assert_eq!(at(&dns, "a.example").await, [IpAddr::from(ONE)]);
    let heard = async {
        while at(&dns, "a.example").await != [IpAddr::from(TWO)] {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    // Sooner than any retry.
    tokio::time::timeout(limits::DNS_FAILURE_TIME / 2, heard)
        .await
        .expect("the answer that came too late serves the next");
    assert!(dns.0.state().flights.is_empty());
    assert_eq!(dns.0.lookups.available_permits(), limits::DNS_LOOKUPS_MAX);
}

#[tokio::test]
async fn what_was_known_serves_in_time_while_no_lookup_has_its_turn() {
    let server = name_server(|_, _| Says::At(ONE, 60)).await;
    let dns = dns(&server, "");
    assert_eq!(at(&dns, "a.example").await, [IpAddr::from(ONE)]);
    pass(Duration::from_secs(61)).await;
    let _turns = dns.0.lookups.acquire_many(limits::DNS_LOOKUPS_MAX as u32).await.unwrap();
    let began = Instant::now();
    assert_eq!(at(&dns, "a.example").await, [IpAddr::from(ONE)]);
    assert!(began.elapsed() < limits::DNS_TIME_MAX, "{:?}", began.elapsed());
    assert_eq!(server.asked(), 1);
    assert!(dns.0.state().flights.is_empty());
}

#[tokio::test]
async fn many_askers_share_one_lookup_and_one_that_leaves_does_not_end_it() {
    let server = name_server(|_, _| Says::At(ONE, 60)).await;
    let dns = dns(&server, "");
    {
        let mut gone = Box::pin(dns.lookup("a.example"));
        assert!(futures_util::poll!(&mut gone).is_pending());
        let others = futures_util::future::join_all((0..50).map(|_| dns.lookup("a.example")));
        let left = async {
            tokio::task::yield_now().await;
            drop(gone);
        };
        let (others, ()) = tokio::join!(others, left);
        assert!(others.iter().all(Result::is_ok));
    }
    assert_eq!(server.asked(), 1);
    drop(Box::pin(dns.lookup("b.example")));
    let mut abandoned = Box::pin(dns.lookup("b.example"));
    assert!(futures_util::poll!(&mut abandoned).is_pending());
    drop(abandoned);
    assert_eq!(at(&dns, "b.example").await, [IpAddr::from(ONE)]);
    assert!(dns.0.state().flights.is_empty(), "nothing is left of lookups that ended or were given up");
}

#[tokio::test]
async fn ten_thousand_names_stay_within_the_cap() {
    let server = name_server(|_, _| Says::At(ONE, 60)).await;
    let dns = dns(&server, "");
    for block in 0..40 {
        let names: Vec<String> = (0..250).map(|n| format!("n{}.example", block * 250 + n)).collect();
        let found = futures_util::future::join_all(names.iter().map(|name| dns.lookup(name))).await;
        assert!(found.iter().all(Result::is_ok), "{:?}", found.iter().find(|found| found.is_err()));
        assert!(dns.0.state().cache.len() <= limits::DNS_NAMES_MAX);
    }
    assert!(dns.0.state().cache.len() > limits::DNS_NAMES_MAX / 2);
    let asked = server.asked();
    assert_eq!(at(&dns, "n9999.example").await, [IpAddr::from(ONE)]);
    assert_eq!(server.asked(), asked, "the latest are kept");
}

#[tokio::test]
async fn the_hosts_file_is_the_last_word_on_its_names() {
    let server = name_server(|_, _| Says::At(ONE, 60)).await;
    let dns =
        dns(&server, "10.0.0.5 pinned.example box # a comment\nfd00::5 box\n# 10.0.0.6 off.example\nnonsense x\n");
    assert_eq!(at(&dns, "pinned.example").await, [IpAddr::from([10, 0, 0, 5])]);
    assert_eq!(at(&dns, "box").await, ["10.0.0.5".parse::<IpAddr>().unwrap(), "fd00::5".parse().unwrap()]);
    assert_eq!(server.asked(), 0);
    assert_eq!(at(&dns, "off.example").await, [IpAddr::from(ONE)]);
    assert!(at(&dns, "localhost").await.iter().all(IpAddr::is_loopback));
    assert!(at(&dns, "x.localhost").await.iter().all(IpAddr::is_loopback));
    assert_eq!(server.asked(), 1, "localhost is nobody's to tell");
}

#[tokio::test]
async fn the_search_list_is_for_names_without_a_dot() {
    let server = name_server(|name, _| match name {
        "box.search.example" | "dead.example.search.example" => Says::At(ONE, 60),
        _ => Says::NoSuchName,
    })
    .await;
    let dns = dns(&server, "");
    assert_eq!(at(&dns, "box").await, [IpAddr::from(ONE)]);
    assert!(matches!(dns.lookup("dead.example").await, Err(DnsError::NoSuchName(_))));
    for name in ["", "a..b", &"x".repeat(64), &"x.".repeat(200)] {
        assert!(dns.lookup(name).await.is_err(), "{name}");
    }
}

#[tokio::test]
async fn files_that_change_are_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let (resolv_conf, hosts) = (folder.path().join("resolv.conf"), folder.path().join("hosts"));
    let dns = Dns::new(Servers::of(&resolv_conf, &hosts));
    assert!(dns.lookup("later.invalid").await.is_err(), "no file yet");
    std::fs::write(&hosts, "10.0.0.7 later.invalid\n").unwrap();
    pass(limits::DNS_FILES_TIME.max(limits::DNS_TTL_LEAST)).await;
    assert_eq!(at(&dns, "later.invalid").await, [IpAddr::from([10, 0, 0, 7])]);
}

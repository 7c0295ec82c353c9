//! Unit tests of `fetch::resolve`.

use super::*;

const PUBLIC: &[&str] = &[
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.1",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "203.0.112.255",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2001:4860:4860::8888",
    "2a00:1450:4001:800::200e",
    "::ffff:8.8.8.8",
    "::8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
];

const NOT_PUBLIC: &[&str] = &[
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.0",
    "10.255.255.255",
    "100.64.0.0",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.0.1",
    "169.254.169.254",
    "172.16.0.0",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.0",
    "192.168.255.255",
    "198.18.0.0",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.7",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:a9fe:a9fe",
    "::ffff:0:10.0.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::8.8.8.8",
    "2002:7f00:1::1",
    "2002:c0a8:101::",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:db8::1",
    "3fff::1",
    "100::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
];

#[test]
fn an_address_is_public_or_not_in_every_spelling() {
    for (list, wanted) in [(PUBLIC, true), (NOT_PUBLIC, false)] {
        for text in list {
            assert_eq!(is_public(text.parse().unwrap()), wanted, "{text}");
        }
    }
}

#[test]
fn a_host_written_as_an_address_is_seen_in_every_spelling() {
    for host in [
        "127.0.0.1",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "017700000001",
        "127.1",
        "0",
        "127.0.0.1.",
        "１２７.0.0.1",
        "[::1]",
        "[::ffff:7f00:1]",
        "169.254.169.254",
    ] {
        let url = url::Url::parse(&format!("http://{host}:8080/x")).unwrap();
        let refused = AddressPolicy::Public.check_literal(&url).unwrap_err().to_string();
        assert!(refused.contains("`private_addresses = true`"), "{host}: {refused}");
    }
    for host in ["8.8.8.8", "134744072", "[2606:4700::1]", "example.org", "127.0.0.1.example.org"] {
        let url = url::Url::parse(&format!("http://{host}/")).unwrap();
        assert_eq!(AddressPolicy::Public.check_literal(&url), Ok(()), "{host}");
    }
}

#[test]
fn one_public_address_is_enough_and_the_others_are_left_out() {
    let all = |list: &[&str]| {
        let list: Vec<IpAddr> = list.iter().map(|text| text.parse().unwrap()).collect();
        AddressPolicy::Public.allowed("mixed.example", &list)
    };
    let found = all(&["10.0.0.1", "1.1.1.1", "::1"]).unwrap();
    assert_eq!(found, [IpAddr::from([1, 1, 1, 1])]);
    assert_eq!(all(&["10.0.0.1", "::1"]).unwrap_err().address, IpAddr::from([10, 0, 0, 1]));
    assert_eq!(all(&[]), Ok(Vec::new()));
}

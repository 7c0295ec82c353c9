//! Unit tests of `keys::members`.

use super::super::{MASK, without_keys, without_keys_in};
use super::*;

const HEX: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";

/// Thirty places where sites put the key of a member.
fn shapes() -> Vec<String> {
    let hex40 = format!("{HEX}01234567");
    let hex64 = format!("{HEX}{HEX}");
    let base64 = "Zm9vYmFyMTIzNDU2Nzg5MGFi";
    let mut urls = Vec::new();
    for name in [
        "passkey",
        "torrent_pass",
        "authkey",
        "token",
        "key",
        "pid",
        "pk",
        "hash",
        "secret",
        "jwt",
        "auth",
        "sign",
        "api_token",
        "apikey",
        "a[passkey]",
        "user%5Brsskey%5D",
    ] {
        urls.push(format!("/download.php?id=17&{name}={HEX}"));
    }
    for of in [&*hex40, &hex64, base64, "eyJhbGciOiJIUzI1NiJ9.eyJ1aWQiOjd9abcdefgh.c2lnbmF0dXJlMTIz"] {
        urls.push(format!("/download.php?id=17&u={of}"));
    }
    urls.extend([
        format!("/download/17;passkey={HEX}"),
        format!("/download.php?id=17;passkey={HEX}"),
        format!("/torrent/download/17.{HEX}"),
        format!("/{HEX}/17/name.torrent"),
        format!("/rss/{HEX}/17.torrent"),
        format!("/get/17/{base64}/name.torrent"),
        format!("/get/{hex40}"),
        format!("/dl/17/{hex64}.torrent"),
        format!("/download.php/17/{HEX}/name.torrent?x=1"),
        format!("/feed?uid=7&{HEX}"),
    ]);
    urls
}

#[test]
fn thirty_shapes_of_a_members_key_are_masked_and_the_torrent_stays_named() {
    MembersKeys::watch(Arc::new(MembersKeys::new(["tracker.example"])));
    assert_eq!(shapes().len(), 30);
    for shape in shapes() {
        let url = format!("https://tracker.example{shape}");
        for told in [without_keys(&url), without_keys_in(&format!("visited url={url} outcome=torrent"))] {
            for secret in [HEX, "Zm9vYmFy", "eyJhbGci", "eyJ1aWQi", "c2lnbmF0"] {
                assert!(!told.contains(secret), "{url}: {told}");
            }
            assert!(
                told.contains(MASK) && (told.contains("17") || told.contains("/get/") || told.contains("uid=7")),
                "{told}"
            );
        }
        let elsewhere = format!("https://public.example{}", shape.replace(HEX, "debian-12.9.0-amd64-netinst"));
        assert!(without_keys_in(&format!("see {elsewhere}, please")).contains("public.example"));
    }
}

#[test]
fn what_varies_on_one_page_names_things_and_is_told() {
    let keys = Arc::new(MembersKeys::new(["varied.example"]));
    MembersKeys::watch(Arc::clone(&keys));
    let link = |torrent: &str| format!("https://varied.example/dl/{torrent}.torrent?u={HEX}");
    let torrents = ["1a2b3c4d5e6f708192a3b4c5d6e7f80912345678", "0123456789abcdef0123456789abcdef01234567"];
    assert!(!without_keys(&link(torrents[0])).contains(torrents[0]), "until more is known");
    assert!(!keys.learn([&*link(torrents[0]), &link(torrents[0])].into_iter()));
    assert!(!keys.learn([&*link(torrents[0]), &link(torrents[1])].into_iter()), "one may be another member's");
    let third = "fedcba9876543210fedcba9876543210fedcba98";
    // Our own link, again with another number, and what others have posted.
    let rss = |key: &str, of: u32| format!("https://varied.example/rss/{key}/{of}.torrent");
    keys.learn([&*rss(HEX, 1), &rss(HEX, 2), &rss(torrents[0], 3), &rss(torrents[1], 4)].into_iter());
    assert!(!without_keys(&rss(HEX, 1)).contains(HEX));
    assert!(keys.learn([&*link(torrents[0]), &link(torrents[1]), &link(third)].into_iter()));
    assert_eq!(without_keys(&link(torrents[1])), format!("https://varied.example/dl/{}.torrent?u={MASK}", torrents[1]));
    let short = |key: &str| format!("https://varied.example/get?id=17&key={key}&n=7");
    assert_eq!(without_keys(&short("7")), short(MASK));
    let plain = "https://varied.example/browse?design=dark&passage=2&author=ann&page=3";
    assert_eq!(without_keys(plain), plain);
    // A parameter that is a secret by its name stays one.
    let signed = |sign: &str| format!("https://varied.example/get?id=7&sign={sign}");
    keys.learn([&*signed(torrents[0]), &signed(torrents[1]), &signed(third)].into_iter());
    assert_eq!(without_keys(&signed(torrents[0])), format!("https://varied.example/get?id=7&sign={MASK}"));

    let read = MembersKeys::read(&keys.note()).unwrap();
    assert!(read.names_things("dl/2/1.0.0") && MembersKeys::read(b"x").is_none());
}

#[test]
fn hosts_are_those_of_the_rule_file() {
    let keys = Arc::new(MembersKeys::new(["*.below.example", "own.example:8080"]));
    MembersKeys::watch(Arc::clone(&keys));
    for url in [
        "https://dl.below.example/rss/KEY/1.torrent",
        "http://own.example:8080/get/1/KEY",
        "magnet:?xt=1&tr=https%3A%2F%2Ft.example%2FKEY%2Fannounce",
    ] {
        let line = format!("[{}], x=\u{1b}[2m{}\u{1b}[0m.", url.replace("KEY", HEX), url.replace("KEY", HEX));
        let told = without_keys_in(&line);
        assert!(!told.contains(HEX) && told.starts_with('[') && told.ends_with("\u{1b}[0m."), "{told}");
    }
    for other in ["https://below.example.org/rss/KEY/1.torrent", "/var/lib/gleaner/torrents/0f/KEY.torrent: no room"] {
        let line = other.replace("KEY", HEX);
        assert_eq!(without_keys_in(&line), line);
    }
    assert!(keys.take_up(&keys.note()) && !keys.take_up(&MembersKeys::new(["other.example"]).note()));
}

#[test]
fn names_that_people_wrote_are_no_keys() {
    for name in [
        "debian-12.9.0-amd64-netinst",
        "Some_Show_S01E02_1080p_WEB_x264-GRP",
        "ubuntu-24.04.1-desktop",
        "1234567890123456",
        "international-conference",
        "TheLordOfTheRings",
        "BigBuckBunny2008",
    ] {
        assert!(!looks_like_key(name), "{name}");
    }
    for key in [HEX, "Zm9vYmFyMTIzNDU2Nzg5MGFi", "aBcD3FgHiJkL9NoPqRsT", "550e8400-e29b-41d4-a716-446655440000"] {
        assert!(looks_like_key(key), "{key}");
    }
}

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
        for told in
            [without_keys(&url), without_keys(&shape), without_keys_in(&format!("visited url={url} outcome=torrent"))]
        {
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
    let torrents = ["aaaabbbbccccddddeeeeffff0000111122223333", "0123456789abcdef0123456789abcdef01234567"];
    assert!(!without_keys(&link(torrents[0])).contains(torrents[0]), "until more is known");
    assert!(!keys.learn([&*link(torrents[0]), &link(torrents[0])].into_iter()));
    assert!(keys.learn([&*link(torrents[0]), &link(torrents[1])].into_iter()));
    assert_eq!(without_keys(&link(torrents[1])), format!("https://varied.example/dl/{}.torrent?u={MASK}", torrents[1]));
    assert_eq!(without_keys("/get?id=17&key=7&n=7"), format!("/get?id=17&key={MASK}&n=7"));
    // A parameter that is a secret by its name stays one.
    let signed = |sign: &str| format!("https://varied.example/get?id=7&sign={sign}");
    keys.learn([&*signed(torrents[0]), &signed(torrents[1])].into_iter());
    assert_eq!(without_keys(&signed(torrents[0])), format!("https://varied.example/get?id=7&sign={MASK}"));

    let read = MembersKeys::read(&keys.note()).unwrap();
    assert!(read.names_things("dl/2/1.0.0") && MembersKeys::read(b"x").is_none());
}

#[test]
fn names_that_people_wrote_are_no_keys() {
    for name in [
        "debian-12.9.0-amd64-netinst",
        "Some_Show_S01E02_1080p_WEB_x264-GRP",
        "ubuntu-24.04.1-desktop",
        "1234567890123456",
        "international-conference",
    ] {
        assert!(!looks_like_key(name), "{name}");
    }
    for key in [HEX, "Zm9vYmFyMTIzNDU2Nzg5MGFi", "aBcDeFgHiJkLmNoPqRsT", "550e8400-e29b-41d4-a716-446655440000"] {
        assert!(looks_like_key(key), "{key}");
    }
}

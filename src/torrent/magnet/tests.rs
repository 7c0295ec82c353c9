//! Unit tests of `magnet`.

use proptest::prelude::*;

use super::*;

const HEX: &str = "c0fda1edafdbdbb96443424e0b3899af7159d10e";
const V2: &str = "108ac2c3718ce722e6896edc56c4afa98f1d711ecaace7aad74fca418ebd03de";

fn v1() -> Option<[u8; 20]> {
    data_encoding::HEXLOWER.decode(HEX.as_bytes()).unwrap().try_into().ok()
}

fn v2() -> Option<[u8; 32]> {
    data_encoding::HEXLOWER.decode(V2.as_bytes()).unwrap().try_into().ok()
}

#[test]
fn hex_and_base32_name_the_same_torrent() {
    let base32 = data_encoding::BASE32.encode(&v1().unwrap());
    for hash in [HEX.to_owned(), HEX.to_uppercase(), base32.clone(), base32.to_lowercase()] {
        let magnet = parse(&format!("magnet:?xt=urn:btih:{hash}")).unwrap();
        assert_eq!(magnet.infohashes, Infohashes { v1: v1(), v2: None }, "{hash}");
    }
}

#[test]
fn hybrids_carry_both_hashes_in_numbered_or_repeated_topics() {
    let both = Infohashes { v1: v1(), v2: v2() };
    let links = [
        format!("magnet:?xt=urn:btih:{HEX}&xt=urn:btmh:1220{V2}"),
        format!("magnet:?xt.1=urn:btmh:1220{V2}&xt.2=urn:btih:{HEX}&xt.3=urn:ed2k:31D6CFE0D16AE931B73C59D7E0C089C0"),
        format!("MAGNET:?dn=x&XT=URN:BTIH:{HEX}&xt=urn%3Abtmh%3A1220{V2}"),
    ];
    for link in links {
        assert_eq!(parse(&link).unwrap().infohashes, both, "{link}");
    }
    assert_eq!(parse(&format!("magnet:?xt=urn:btmh:1220{V2}")).unwrap().infohashes.key_hex(), V2);
}

#[test]
fn names_and_trackers_are_decoded_and_html_leftovers_tolerated() {
    let link = format!(
        " magnet:?xt=urn:btih:{HEX}&amp;dn=A+b%20%26%20c&amp;amp;tr=http%3A%2F%2Ft.example%2Fannounce&#38;tr=udp://u.example:1&tr=udp://u.example:1#top\n"
    );
    let magnet = parse(&link).unwrap();
    assert_eq!(magnet.name.as_deref(), Some("A b & c"));
    assert_eq!(magnet.trackers, ["http://t.example/announce", "udp://u.example:1"]);
    let gbk = parse(&format!("magnet:?xt=urn:btih:{HEX}&dn=%D6%D6%D7%D3")).unwrap();
    assert_eq!(gbk.name.as_deref(), Some("种子"));
}

#[test]
fn what_names_no_torrent_is_refused_with_the_reason() {
    let cases = [
        ("", MagnetError::NotMagnet),
        ("http://example.com/?xt=urn:btih:", MagnetError::NotMagnet),
        ("magnet:xt=urn:btih:", MagnetError::NotMagnet),
        ("magnet:?", MagnetError::NoTopic),
        ("magnet:?dn=only+a+name", MagnetError::NoTopic),
        ("magnet:?xt=urn:ed2k:31D6CFE0D16AE931B73C59D7E0C089C0", MagnetError::NoTopic),
        ("magnet:?xt=urn:btih:abc", MagnetError::BadTopic),
        ("magnet:?xt=urn:btih:zzfda1edafdbdbb96443424e0b3899af7159d10e", MagnetError::BadTopic),
        ("magnet:?xt=urn:btih:11111111111111111111111111111111", MagnetError::BadTopic),
        ("magnet:?xt=urn:btmh:1114c0fda1edafdbdbb96443424e0b3899af7159d10e", MagnetError::BadTopic),
    ];
    for (link, error) in cases {
        assert_eq!(parse(link), Err(error), "{link}");
    }
    let two = format!("magnet:?xt=urn:btih:{HEX}&xt=urn:btih:{}", "a".repeat(40));
    assert_eq!(parse(&two), Err(MagnetError::SeveralTorrents));
    assert_eq!(parse(&format!("magnet:?xt=urn:btih:{}", "a".repeat(5_000))), Err(MagnetError::TooLong));
}

proptest! {
    #[test]
    fn no_text_panics(text in "(magnet:\\?)?\\PC{0,80}", tail in "(&?(xt|dn|tr)(\\.[0-9])?=(urn:bt[im]h:)?[0-9a-f%+é]{0,50}){0,4}") {
        let _ = parse(&text);
        let _ = parse(&format!("magnet:?{text}{tail}"));
    }
}

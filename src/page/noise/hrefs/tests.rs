//! Unit tests of `noise::hrefs`.

use super::*;

fn list(href: &str) -> Vec<Part> {
    let mut found = Vec::new();
    parts(href.as_bytes(), |part| found.push(part));
    found
}

#[test]
fn a_parameter_keeps_its_key_whatever_its_value() {
    let (a, b) = (list("/dl?t=OTAwMDAzfDAw&amp;x=1#c"), list("/dl?t=MTJ8YWJ8MTc%3D&amp;x=1"));
    assert_eq!(a.len(), b.len());
    let differ: Vec<_> = a.iter().zip(&b).filter(|(a, b)| a.value != b.value).collect();
    assert_eq!(differ.len(), 1);
    assert!(differ[0].0.is_token && differ[0].1.is_token && differ[0].0.key == differ[0].1.key);
}

#[test]
fn tokens_are_what_machines_make_and_titles_and_numbers_are_not() {
    for token in ["00112233445566778899aabbccddeeff", "OTAwMDAzfDAw", "1795246103", "MTJ8YWJ8MTc%3D"] {
        assert!(is_token(token.as_bytes()), "{token}");
    }
    for other in ["346", "torrents", "debian-12-amd64", "2026-11", "a", "", "arch_linux_x86_64", "torrent-details"] {
        assert!(!is_token(other.as_bytes()), "{other}");
    }
}

#[test]
fn what_is_noise_is_left_out_and_nothing_else() {
    let (one, other) = ("/dl?t=OTAwMDAzfDAw&x=1", "/dl?t=MTJ8YWJ8MTc%3D&x=1");
    let key = list(one).iter().find(|part| part.is_token).expect("a token").key;
    let of = |href: &str| value(href.as_bytes(), |other| other == key);
    assert_eq!(of(one), of(other));
    assert_ne!(of(one), of("/dl?t=OTAwMDAzfDAw&x=2"));
    assert_eq!(of("/a?b=1#c"), plain_value(b"/a?b=1"), "links without it keep their value");
    assert_ne!(value(one.as_bytes(), |_| false), value(other.as_bytes(), |_| false));
}

#[test]
fn fragments_are_off_and_entities_are_none() {
    assert_eq!(without_fragment(b"/a#b"), b"/a");
    assert_eq!(without_fragment(b"&#47;a#b"), b"&#47;a");
    assert!(is_blank(b"#top") && is_blank(b" JavaScript:void(0)") && !is_blank(b"/"));
}

#[test]
fn endless_references_have_few_parts() {
    for href in ["/".repeat(100_000), "?a=1&".repeat(100_000), "&#".repeat(50_000)] {
        assert!(list(&href).len() <= PARTS);
    }
}

//! Unit tests of `export::file_name`.

use proptest::prelude::*;

use super::*;

fn v1(byte: u8, last: u8) -> Infohashes {
    let mut hash = [byte; 20];
    hash[19] = last;
    Infohashes { v1: Some(hash), v2: None }
}

#[test]
fn hostile_names_stay_one_harmless_component() {
    for (name, expected) in [
        ("../../etc/passwd", "_._.._etc_passwd"),
        ("..", "unnamed"),
        ("/", "_"),
        ("", "unnamed"),
        ("a\0b", "a_b"),
        ("CON", "_CON"),
        ("con.iso", "_con.iso"),
        ("aux .iso", "_aux .iso"),
        ("LPT¹", "_LPT¹"),
        ("COM10", "COM10"),
        ("name...  ", "name"),
        (".hidden", "_hidden"),
        ("-rf", "_rf"),
        ("C:\\Windows", "C__Windows"),
        ("a\r\n\tb", "a b"),
        ("photo\u{202e}gpj.exe", "photogpj.exe"),
        ("Debian 12 (amd64)", "Debian 12 (amd64)"),
        ("Ünïcödé 中文", "Ünïcödé 中文"),
    ] {
        assert_eq!(component(name, 240), expected, "{name:?}");
    }
}

#[test]
fn a_long_name_is_cut_between_characters_and_fits_the_file_system() {
    let name = Names::default().next(&"中".repeat(500), &v1(0xab, 1));
    assert!(name.len() <= 239 && name.len() > 234, "{}: room for a client's suffix", name.len());
    assert!(name.ends_with("中 [abababab].torrent"));
}

#[test]
fn torrents_with_one_name_and_one_short_hash_get_different_file_names() {
    let mut names = Names::default();
    let (first, second, third) =
        (names.next("x", &v1(0xab, 1)), names.next("x", &v1(0xab, 2)), names.next("x", &v1(0xac, 2)));
    assert_eq!(first, "x [abababab].torrent");
    assert_eq!(second, format!("x [{}02].torrent", "ab".repeat(19)));
    assert_eq!(third, "x [acacacac].torrent");
}

#[test]
fn a_site_cannot_take_the_name_of_the_manifest() {
    assert_eq!(folder("manifest.jsonl"), "manifest.jsonl_");
    assert_eq!(folder("Magnets.JSONL"), "Magnets.JSONL_");
    assert_eq!(folder("debian.org"), "debian.org");
}

#[test]
fn paths_that_an_export_never_writes_are_not_ours() {
    for path in [
        "../x [abababab].torrent",
        "/x [abababab].torrent",
        "a/b/x [abababab].torrent",
        "x.torrent",
        "x",
        "a/../x [abababab].torrent",
        "./x [abababab].torrent",
        "x [abababab].torrent/",
        "x [ABABABAB].torrent",
    ] {
        assert!(!is_ours(path), "{path}");
    }
    assert!(is_ours("x [abababab].torrent") && is_ours("2026-11-21/x [abababab].torrent"));
}

proptest! {
    #[test]
    fn every_name_becomes_a_safe_component(name in any::<String>(), bytes_max in 8_usize..255) {
        let safe = component(&name, bytes_max);
        prop_assert!(!safe.is_empty() && safe.len() <= bytes_max);
        prop_assert!(!safe.contains(['/', '\\', '\0', ':', '*', '?', '"', '<', '>', '|']));
        prop_assert!(!safe.chars().any(|c| c.is_control()));
        prop_assert!(!safe.ends_with([' ', '.']) && !safe.starts_with([' ', '.', '-', '~']));
        prop_assert!(!is_device(&safe));
        prop_assert_eq!(component(&safe, bytes_max), safe);
    }

    #[test]
    fn hostile_alphabets_become_safe_components(
        name in proptest::collection::vec(
            proptest::sample::select(vec!["CON", "nul", "com1", ".", " ", "-", "~", "/", "\\", "\0", "é", "中", "[", "]", "\u{202e}"]),
            0..60,
        ),
    ) {
        let safe = component(&name.concat(), 64);
        prop_assert!(!safe.is_empty() && safe.len() <= 64 && !is_device(&safe));
        prop_assert!(!safe.ends_with([' ', '.']) && !safe.starts_with([' ', '.', '-', '~']));
        prop_assert_eq!(component(&safe, 64), safe);
    }

    #[test]
    fn every_file_name_given_is_known_as_ours(name in any::<String>(), byte in any::<u8>(), last in any::<u8>()) {
        let mut names = Names::default();
        let first = names.next(&name, &v1(byte, last));
        let second = names.next(&name, &v1(byte, last.wrapping_add(1)));
        prop_assert!(is_ours(&first) && is_ours(&second), "{:?} {:?}", first, second);
        prop_assert!(first.len() <= 239 && second.len() <= 239);
        prop_assert_ne!(first.to_lowercase(), second.to_lowercase());
    }
}

//! Names of exported files: one harmless path component for any torrent name.

use gleaner_store::export::file_name::{Names, component, folder, is_ours};
use gleaner_store::limits::FILE_NAME_BYTES_MAX;
use gleaner_torrent::Infohashes;

/// Two bytes for an infohash and a length, then the name.
pub fn file_names(input: &[u8]) {
    let mut rest = input;
    let (hash, length) = (super::choice(&mut rest), usize::from(super::choice(&mut rest)));
    let name = super::text(rest);

    for bytes_max in [length.max(8), FILE_NAME_BYTES_MAX] {
        let safe = component(&name, bytes_max);
        assert_harmless(&safe, bytes_max);
        assert_eq!(component(&safe, bytes_max), safe, "made of {name:?}");
    }
    let site = folder(&name);
    assert_harmless(&site, FILE_NAME_BYTES_MAX);
    assert_eq!(folder(&site), site, "made of {name:?}");
    assert!(!site.to_lowercase().ends_with(".jsonl"), "{site:?} is the name of a manifest");

    let mut names = Names::default();
    let torrent =
        |last: u8| Infohashes { v1: Some(std::array::from_fn(|at| if at == 19 { last } else { hash })), v2: None };
    let first = names.next(&name, &torrent(1));
    let second = names.next(&name, &torrent(2));
    let v2 = names.next(&name, &Infohashes { v1: None, v2: Some([hash ^ 1; 32]) });
    for file in [&first, &second, &v2] {
        assert_harmless(file, FILE_NAME_BYTES_MAX);
        assert!(is_ours(file) && is_ours(&format!("{site}/{file}")), "{site:?} {file:?}");
        assert!(!is_ours(&format!("../{file}")) && !is_ours(&format!("/{file}")), "{file:?}");
    }
    assert_ne!(first.to_lowercase(), second.to_lowercase());

    // It is harmless to take a foreign name for ours.
    if is_ours(&name) {
        assert!(name.split('/').count() <= 2);
        name.split('/').for_each(|part| assert_harmless(part, usize::MAX));
    }
}

fn assert_harmless(name: &str, bytes_max: usize) {
    assert!(!name.is_empty() && name.len() <= bytes_max, "{name:?} has {} bytes of {bytes_max}", name.len());
    assert!(!name.contains(['/', '\\', '\0', ':', '*', '?', '"', '<', '>', '|']), "{name:?}");
    assert!(!name.chars().any(char::is_control), "{name:?}");
    assert!(!name.ends_with([' ', '.']) && !name.starts_with([' ', '.', '-', '~']), "{name:?}");
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    assert!(!["CON", "PRN", "AUX", "NUL", "COM1", "LPT9", "COM²"].contains(&stem.as_str()), "{name:?}");
}

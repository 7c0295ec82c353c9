//! Unit tests of `ajax::shelf`.

use std::collections::HashSet;

use super::*;

#[test]
fn pages_are_shared_out_and_every_torrent_stands_on_one_of_them() {
    let shelf = AjaxCatalogue::new(1, &Section::ALL, 7, 3);
    let pages: Vec<usize> = Section::ALL.into_iter().map(|section| shelf.pages(section)).collect();
    assert_eq!(pages, [2, 2, 1, 1, 1]);
    let mut listed = HashSet::new();
    for section in Section::ALL {
        for page in 0..shelf.pages(section) {
            listed.extend(shelf.rows(section, page * 3).expect("a page"));
        }
        assert!(shelf.rows(section, shelf.pages(section) * 3).is_none());
    }
    assert_eq!((listed.len(), shelf.truth.torrents.len()), (21, 21));
    let hashes: HashSet<_> = shelf.truth.torrents.iter().map(|torrent| torrent.infohashes).collect();
    assert_eq!(hashes.len(), 21);
}

#[test]
fn a_section_alone_has_all_pages_and_the_others_none() {
    let shelf = AjaxCatalogue::new(1, &[Section::Spa, Section::Spa], 4, 5);
    assert_eq!((shelf.pages(Section::Spa), shelf.pages(Section::Xhr)), (4, 0));
    assert_eq!((shelf.rows(Section::Spa, 15), shelf.rows(Section::Xhr, 0)), (Some(15..20), None));
}

#[test]
fn a_download_is_named_anew_at_each_view_and_read_back() {
    let shelf = AjaxCatalogue::new(1, &Section::ALL, 5, 2);
    let (first, second) = (shelf.download(3, 1), shelf.download(3, 2));
    assert_ne!(first, second);
    for link in [first, second] {
        let token: Vec<u8> = percent_encoding::percent_decode_str(&link["/dl?t=".len()..]).collect();
        assert_eq!(shelf.of_token(&token), Some(3));
    }
    assert_eq!(shelf.of_token(b"MTI="), None);
}

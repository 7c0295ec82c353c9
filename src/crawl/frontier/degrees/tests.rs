//! Unit tests of `frontier::degrees`.

use super::*;

#[test]
fn in_degrees_are_never_too_small_and_seldom_too_large() {
    let mut degrees = InDegrees::default();
    // 50,000 pages, the n-th of them linked to about 50,000 / n times (Zipf), as real pages are.
    let mut links = 0;
    let degree = |page: u32| (50_000 / (page + 1)).clamp(1, 2_000);
    for page in 0..50_000 {
        for _ in 0..degree(page) {
            degrees.add(&format!("/page/{page}"));
            links += 1;
        }
    }
    assert!(links < AGING_LINKS);
    let bound = f64::from(links) * std::f64::consts::E / 32_768.0;
    let mut beyond = 0;
    for page in 0..50_000 {
        let estimate = degrees.of(&format!("/page/{page}"));
        assert!(estimate >= degree(page), "page {page}");
        beyond += u32::from(f64::from(estimate - degree(page)) > bound);
    }
    assert!(beyond < 50_000 / 55, "{beyond} of 50,000 beyond {bound:.1}");
    assert!(degrees.of("/never") <= 2 * bound as u32);
}

#[test]
fn old_links_fade() {
    let mut degrees = InDegrees::default();
    for _ in 0..1_000 {
        degrees.add("/old");
    }
    for n in 0..AGING_LINKS {
        degrees.add(["/a", "/b", "/c"][n as usize % 3]);
    }
    assert_eq!(degrees.of("/old"), 500);
    assert!(degrees.of("/a") >= u32::from(u16::MAX) / 2, "counters saturate, they do not wrap");
}

#[test]
fn mirrors_are_counted_by_host() {
    let mut mirrors = Mirrors::default();
    assert_eq!((mirrors.of("/iso/a.torrent"), mirrors.add("/iso/a.torrent", 0)), (0, 1));
    assert_eq!((mirrors.add("/iso/a.torrent", 0), mirrors.add("/iso/a.torrent", 7)), (1, 2));
    assert_eq!((mirrors.add("/iso/b.torrent", 3), mirrors.of("/iso/a.torrent")), (1, 2));
    for host in 0..1_000 {
        mirrors.add("/many", host);
    }
    assert_eq!(mirrors.of("/many"), 64);
}

#[test]
fn both_stay_below_one_megabyte_and_a_small_site_far_below() {
    let (mut degrees, mut mirrors) = (InDegrees::default(), Mirrors::default());
    let mut link = |n: u32| {
        degrees.add(&format!("/{n}"));
        mirrors.add(&format!("/{n}"), 0);
        (size_of_val(&*degrees.counts), size_of_val(&*mirrors.slots))
    };
    assert_eq!(link(0).0, 2 << 10);
    let (degrees, mirrors) = (1..100_000).map(link).last().unwrap();
    assert_eq!(degrees, 256 << 10);
    assert!(degrees + mirrors <= 1 << 20, "{degrees} + {mirrors}");
}

#[test]
fn the_first_page_of_a_path_is_remembered_and_an_unknown_path_has_none() {
    let mut parents = ParentDegrees::default();
    assert_eq!(parents.of("/a"), 0);
    parents.add("/a", 7);
    parents.add("/a", 9);
    parents.add("/b", 1);
    assert_eq!((parents.of("/a"), parents.of("/b"), parents.of("/c")), (7, 1, 0));
}

//! Unit tests of `crawldb::merge`.

use super::*;

fn found(host: u32, path: &str) -> Found {
    let at = UnixMillis(1);
    Found { host: HostId(host), path: path.into(), via: None, first_seen: at, last_seen: at }
}

fn site(host: HostId) -> &'static str {
    ["a", "b", "c"][host.0 as usize % 3]
}

#[test]
fn a_site_with_a_url_per_view_cannot_keep_other_sites_out() {
    let mut sources = Vec::new();
    for view in 0..200 {
        add_source(&mut sources, found(0, &format!("/d/{view:03}")), site);
    }
    assert_eq!(sources.len(), limits::SOURCES_PER_TORRENT_MAX);
    assert!(add_source(&mut sources, found(1, "/t/1"), site));
    assert!(!add_source(&mut sources, found(1, "/t/2"), site));
    assert_eq!(sources.len(), limits::SOURCES_PER_TORRENT_MAX);
    assert!(sources.iter().any(|known| &*known.path == "/t/1"));
}

#[test]
fn a_source_met_again_keeps_its_first_time_and_gets_the_last() {
    let mut sources = vec![found(0, "/x")];
    let again = Found { last_seen: UnixMillis(9), via: Some("/v".into()), ..found(0, "/x") };
    assert!(!add_source(&mut sources, again, site));
    assert_eq!((sources[0].first_seen, sources[0].last_seen), (UnixMillis(1), UnixMillis(9)));
    assert_eq!(sources[0].via.as_deref(), Some("/v"));
}

#[test]
fn later_looks_count_each_new_target_once() {
    let listing =
        |targets: &[u64]| Listing { series: "/?p={page}".into(), page: 1, page_max: 9, targets: targets.to_vec() };
    let mut looks = Looks::first(&listing(&[1, 2, 3]), UnixMillis(1));
    looks.again(&listing(&[4, 1, 2]), UnixMillis(2));
    looks.again(&listing(&[5, 4, 3]), UnixMillis(3));
    looks.again(&listing(&[5, 4, 1]), UnixMillis(4));
    assert_eq!(looks.updated(), 2);
    assert_eq!(looks.latest, [1, 4, 5]);
    assert_eq!(looks.earlier(), [2, 3]);
}

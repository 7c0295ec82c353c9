//! Unit tests of `catalogue`.

use std::collections::HashSet;

use super::*;

#[test]
fn the_same_seed_gives_the_same_site_and_another_seed_another() {
    let names = |seed| -> Vec<Infohashes> { Catalogue::new(seed, 50).items.iter().map(|i| i.infohashes).collect() };
    assert_eq!(names(1), names(1));
    assert_ne!(names(1), names(2));
}

#[test]
fn every_site_has_exactly_as_many_reachable_torrents_as_asked_for() {
    for torrents in [0, 1, 7, 500] {
        let truth = Catalogue::new(3, torrents).truth();
        let hashes: HashSet<_> = truth.reachable().map(|torrent| torrent.infohashes).collect();
        assert_eq!(hashes.len(), torrents);
        for fate in [Fate::MagnetOnly, Fate::ClosedByRobots, Fate::Gone, Fate::PosesAsHtml, Fate::Malformed] {
            assert!(truth.with_fate(fate).count() > 0, "{fate:?}");
        }
    }
}

#[test]
fn what_is_published_stands_on_top_and_is_in_the_truth() {
    let mut catalogue = Catalogue::new(3, 120);
    let last = catalogue.listings.last().map(|listing| listing.at);
    let published = catalogue.publish(250);
    assert_eq!(published.len(), 250);
    assert_eq!(catalogue.truth().reachable().count(), 370);
    assert!(catalogue.listings.last().map(|listing| listing.at) > last);
    let newest = catalogue.main.last().and_then(|&id| catalogue.listing(id)).map(|(_, item)| item.infohashes);
    assert!(newest.is_some_and(|hashes| published.contains(&hashes)));
    assert_eq!(catalogue.archive.len(), 4, "the archive is closed");
}

#[test]
fn dates_grow_with_the_numbers_and_end_at_the_newest() {
    let catalogue = Catalogue::new(9, 40);
    assert!(catalogue.listings.is_sorted_by_key(|listing| listing.at));
    assert!(catalogue.listings.last().is_some_and(|listing| listing.at <= NEWEST_UNIX));
}

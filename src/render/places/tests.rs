//! Unit tests of `places`.

use futures_util::FutureExt as _;

use super::*;

/// The sites that get a slot at once if they ask in this order.
fn at_once(places: &Arc<Places>, sites: &[&str]) -> Vec<Slot> {
    sites.iter().filter_map(|site| places.take(site).now_or_never().flatten()).collect()
}

fn names(places: &[Slot]) -> Vec<&str> {
    places.iter().map(|place| &*place.site).collect()
}

#[test]
fn one_site_has_its_share_and_leaves_the_rest_to_others() {
    let places = Arc::new(Places::new(4, 2));
    let of_one = at_once(&places, &["a", "a", "a"]);
    assert_eq!(names(&of_one), ["a", "a"], "alone it has two, and never three");
    let of_others = at_once(&places, &["b", "b", "c", "d"]);
    assert_eq!(
        names(&of_others),
        ["b", "c"],
        "a second one of b's would be the last that is free for a site without any"
    );
    drop((of_one, of_others));
    assert_eq!(places.taken(), 0);
    let places = Arc::new(Places::new(2, 2));
    assert_eq!(names(&at_once(&places, &["a", "a", "a"])), ["a", "a"]);
}

#[test]
fn a_site_that_has_none_is_before_one_that_has() {
    let places = Arc::new(Places::new(3, 3));
    let mut held = at_once(&places, &["a", "b", "c"]);
    let mut waiting: Vec<_> = ["a", "d"].into_iter().map(|site| Box::pin(places.take(site))).collect();
    let mut turn = || -> Vec<Slot> { waiting.iter_mut().filter_map(|one| one.now_or_never().flatten()).collect() };
    assert!(turn().is_empty());
    held.truncate(2);
    assert_eq!(names(&turn()), ["d"], "who asked last, and has nothing");
}

#[test]
fn who_gives_up_waiting_holds_nothing() {
    let places = Arc::new(Places::new(1, 1));
    let held = at_once(&places, &["a"]);
    let mut gone = Box::pin(places.take("b"));
    assert!(gone.as_mut().now_or_never().is_none());
    let mut given = Box::pin(places.take("c"));
    assert!(given.as_mut().now_or_never().is_none());
    drop(gone);
    drop(held);
    assert_eq!(names(&given.now_or_never().flatten().into_iter().collect::<Vec<_>>()), ["c"]);
    assert_eq!(places.taken(), 0);
}

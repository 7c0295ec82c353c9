//! Has this page changed? The labelled set of ALGORITHMS §8: real pages and the demo site's with made-up changes, of which it is known
//! whether they are noise or content; the model of `page::noise` on it, and plain hashes beside it.
//!
//! `GLEANER_LOOKS` is the number of looks at each URL (default 150); `GLEANER_SEED` makes another set.

mod demo;
mod mutate;
mod sites;
mod trial;

use trial::{Tally, number, trial};

#[test]
fn noise_is_no_change_and_every_change_of_content_is_one() {
    let (looks, seed) = (number("GLEANER_LOOKS", 150), number("GLEANER_SEED", 1));
    let mut sites = sites::all();
    sites.extend(demo::sites());
    let mut all = Tally::default();
    println!("{}", Tally::HEAD);
    for site in &sites {
        let tally = trial(site, looks, seed);
        println!("{:22} {tally}", site.name);
        tally.told.iter().for_each(|told| println!("  {told}"));
        all.add(&tally);
    }
    println!("{:22} {all}", "all");
    assert!(all.contents >= 300 && all.noises >= 1_000, "a set too small proves nothing: {all}");
    assert!(all.false_share() <= 0.01, "false changes: {all}");
    assert!(all.missed_share() <= 0.001, "missed changes: {all}");
    assert!(all.sha1_false == all.noises, "noise that a plain hash does not see is none: {all}");
}

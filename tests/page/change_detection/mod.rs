//! Has this page changed? The labelled set of ALGORITHMS §8: the demo site's pages, and others made here, with made-up changes, of which
//! it is known whether they are noise or content; the model of `page::noise` on it, and plain hashes beside it. The pages of real
//! programs are in `tests/corpora`.

mod demo;
mod made;
mod mutate;
mod trial;

#[test]
fn noise_is_no_change_and_every_change_of_content_is_one() {
    let mut sites = demo::sites();
    sites.extend(made::sites());
    trial::assert_told_apart(&sites);
}

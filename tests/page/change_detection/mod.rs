//! Change detection on the labelled set of ALGORITHMS §8: the demo site's pages, and synthetic ones, with synthetic changes that are
//! labelled as noise or content; the model of `page::noise` on it, compared with plain hashes. The pages of real programs are in
//! `tests/corpora`.

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

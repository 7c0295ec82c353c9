//! Compares the arena's tree with scraper's, on the pages of real programs.

use crate::corpus;

#[path = "../render/trees/compare.rs"]
mod compare;

use compare::compare_folder;

#[test]
fn pages_of_real_programs_make_the_tree_that_scraper_makes() {
    let pages = compare_folder(&corpus("pages"));
    assert!(pages >= 20, "{pages} pages");
}

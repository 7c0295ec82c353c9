//! Page numbers parsed from the URLs of real sites, compared with links that people labelled as pagination (autopager).

use crate::corpus;

#[path = "../page/pagination/labelled.rs"]
mod labelled;

#[test]
fn page_numbers_of_real_sites_are_read() {
    let (precision, recall) = labelled::measure(&corpus("pagination"));
    assert!(precision > 0.5 && recall > 0.5, "precision {precision:.3}, recall {recall:.3}");
}

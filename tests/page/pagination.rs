//! Page numbers parsed from the URLs of synthetic pages that follow the conventions of forums, trackers, shops and blogs, compared with
//! their pagination links. The pages of real sites are in `tests/corpora`.

use std::path::Path;

#[path = "pagination/labelled.rs"]
mod labelled;

#[test]
fn page_numbers_of_common_programs_are_read() {
    let (precision, recall) = labelled::measure(&Path::new(env!("GLEANER_ROOT")).join("fixtures/pagination"));
    assert!(precision > 0.95 && recall > 0.95, "precision {precision:.3}, recall {recall:.3}");
}

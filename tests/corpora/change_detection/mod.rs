//! Change detection on pages of real programs with synthetic changes (tests/change_detection).

#[path = "../../page/change_detection/mutate.rs"]
mod mutate;
mod sites;
#[path = "../../page/change_detection/trial.rs"]
mod trial;

#[test]
fn noise_is_no_change_and_every_change_of_content_is_one() {
    trial::assert_told_apart(&sites::all());
}

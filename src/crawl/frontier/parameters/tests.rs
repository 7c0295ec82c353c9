//! Unit tests of `frontier::parameters`.

use super::*;

fn names(learned: &Parameters) -> Vec<String> {
    learned.proposals().into_iter().map(|proposal| proposal.parameter).collect()
}

#[test]
fn a_parameter_that_changes_nothing_is_proposed_after_twenty_pages_and_not_before() {
    let mut learned = Parameters::default();
    for id in 0..20_u64 {
        assert_eq!(names(&learned), Vec::<String>::new(), "after {id}");
        learned.observe(Class::Detail, &format!("/details.php?id={id}&hit=1"), id + 1_000);
        learned.observe(Class::Detail, &format!("/details.php?hit=2&id={id}"), id + 1_000);
    }
    let proposals = learned.proposals();
    assert_eq!(proposals.len(), 1);
    assert_eq!((proposals[0].parameter.as_str(), proposals[0].evidence), ("hit", 20));
    assert_eq!(proposals[0].line(), "drop = [\"hit\"]");
    assert_eq!(proposals[0].example_a, "/details.php?id=0&hit=1");
    assert_eq!(proposals[0].example_b, "/details.php?hit=2&id=0");
}

#[test]
fn having_it_at_all_is_a_pair_as_well() {
    let mut learned = Parameters::default();
    for id in 0..40_u64 {
        learned.observe(Class::Thread, &format!("/t.php?id={id}&ref=home"), id);
        learned.observe(Class::Thread, &format!("/t.php?id={id}"), id);
    }
    assert_eq!(names(&learned), ["ref"]);
}

#[test]
fn one_page_that_changes_speaks_against_it() {
    let mut learned = Parameters::default();
    for id in 0..100_u64 {
        learned.observe(Class::Index, &format!("/list?cat={id}&sort=a"), id);
        learned.observe(Class::Index, &format!("/list?cat={id}&sort=b"), if id == 60 { 7_777 } else { id });
    }
    assert_eq!(names(&learned), Vec::<String>::new());
}

#[test]
fn the_same_error_page_everywhere_proposes_nothing() {
    let mut learned = Parameters::default();
    for id in 0..500_u64 {
        learned.observe(Class::Detail, &format!("/details.php?id={id}"), 404);
        learned.observe(Class::Detail, &format!("/details.php?id={id}&x=1"), 404);
    }
    assert_eq!(names(&learned), Vec::<String>::new());
}

#[test]
fn the_same_url_twice_and_other_classes_are_no_pairs() {
    let mut learned = Parameters::default();
    for id in 0..100_u64 {
        learned.observe(Class::Detail, &format!("/d?id={id}&x=1"), id);
        learned.observe(Class::Detail, &format!("/d?x=1&id={id}"), id);
        learned.observe(Class::Thread, &format!("/d?id={id}&x=2"), id);
    }
    assert_eq!(names(&learned), Vec::<String>::new());
}

#[test]
fn a_parameter_that_matters_for_one_page_in_five_is_seldom_proposed() {
    let mut proposed = 0;
    for seed in 0..400_u64 {
        let mut learned = Parameters::default();
        for id in 0..20_u64 {
            let content = xxh3_64_with_seed(&id.to_le_bytes(), seed);
            let matters = content.is_multiple_of(5);
            learned.observe(Class::Detail, &format!("/d?id={id}&x=1"), content);
            learned.observe(Class::Detail, &format!("/d?id={id}&x=2"), content ^ u64::from(matters));
        }
        proposed += learned.proposals().len();
    }
    assert!(proposed <= 16, "{proposed} of 400; 0.8^20 makes 4.6 of them");
}

#[test]
fn names_without_end_take_bounded_room() {
    let mut learned = Parameters::default();
    for n in 0..5_000_u64 {
        learned.observe(Class::Page, &format!("/p?a{n}=1&b{n}=2"), n);
    }
    assert_eq!((learned.evidence.len(), learned.slots.len()), (LEARNED_PARAMETERS_MAX, SLOTS));
}

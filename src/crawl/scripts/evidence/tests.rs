//! Unit tests of `scripts::evidence`.

use std::collections::HashSet;

use super::*;

fn shown(scripts: bool, empty_root: bool, targets: usize) -> StaticContent {
    let signs = Signs { scripts, empty_root, ..Signs::default() };
    StaticContent { class: Class::Index, rule: 0, signs, targets, links: targets }
}

#[test]
fn pages_without_scripts_are_never_rendered_unless_the_rules_say_so() {
    let mut brought = Brought::default();
    assert!(!brought.decide(RenderWhen::Auto, shown(false, true, 0), limits::RENDER_TRIALS));
    assert!(!brought.decide(RenderWhen::Never, shown(true, true, 0), limits::RENDER_TRIALS));
    assert!(brought.decide(RenderWhen::Always, shown(false, false, 9), limits::RENDER_TRIALS));
}

#[test]
fn a_page_keeps_waiting_while_what_it_promised_is_not_there() {
    let page =
        |empty_root: bool, targets: usize, links: usize| StaticContent { links, ..shown(true, empty_root, targets) };
    // Navigation that scripts draw is not the list.
    assert!(page(true, 0, 0).keeps_waiting(page(true, 0, 9), false));
    assert!(page(false, 0, 3).keeps_waiting(page(false, 0, 9), true), "it states how much there is");
    assert!(page(false, 0, 0).keeps_waiting(page(false, 0, 0), false));
    assert!(!page(false, 0, 3).keeps_waiting(page(false, 0, 3), false), "it promised nothing");
    assert!(!page(true, 0, 0).keeps_waiting(page(false, 0, 9), false), "its root was filled");
    assert!(
        !page(true, 0, 0).keeps_waiting(page(true, 5, 9), true)
            && !page(true, 2, 9).keeps_waiting(page(true, 0, 9), true)
    );
}

#[test]
fn a_class_that_gains_nothing_is_tried_a_few_times_and_then_ever_more_seldom() {
    let mut brought = Brought::default();
    let rendered: Vec<u32> = (0..20_000)
        .filter(|_| {
            let wanted = brought.decide(RenderWhen::Auto, shown(true, false, 20), limits::RENDER_TRIALS);
            if wanted {
                brought.rendered(false);
            }
            wanted
        })
        .collect();
    assert_eq!(rendered, [0, 1, 2, 102, 302, 702, 1_502, 3_102, 6_302, 9_502, 12_702, 15_902, 19_102]);
    let share = brought.share_of_full(limits::RENDER_TRIALS);
    brought.rendered(true);
    assert!(brought.share_of_full(limits::RENDER_TRIALS) < share, "what gained once is looked at more often");
}

#[test]
fn pages_that_show_nothing_are_tried_more_often_and_ever_more_seldom_in_vain() {
    let mut brought = Brought::default();
    let rendered: Vec<u32> = (0..1_000)
        .filter(|_| {
            let wanted = brought.decide(RenderWhen::Auto, shown(true, false, 0), limits::RENDER_TRIALS);
            if wanted {
                brought.rendered(false);
            }
            wanted
        })
        .collect();
    assert!(rendered[3] < 20 && rendered.len() < 20, "{rendered:?}");
    let mut brought = Brought { rendered: 20, gained: 2, ..Brought::default() };
    assert!(
        brought.decide(RenderWhen::Auto, shown(true, false, 0), limits::RENDER_TRIALS),
        "some such pages had links"
    );
}

#[test]
fn pages_of_a_class_that_wait_for_their_scripts_are_told_from_those_that_do_not() {
    let full = shown(true, false, 9);
    let bare = shown(true, false, 0);
    let waiting = StaticContent { signs: Signs { waits: true, ..bare.signs }, ..bare };
    let hollow = StaticContent { signs: Signs { hollow: 7, ..bare.signs }, ..bare };
    let shapes = [full, bare, waiting, hollow, StaticContent { rule: 1, ..bare }].map(|shown| shown.shape());
    assert_eq!(shapes.iter().collect::<HashSet<_>>().len(), 5, "{shapes:?}");
    assert_eq!(shown(true, false, 30).shape(), full.shape());
}

#[test]
fn a_page_that_shows_nothing_is_tried_again_as_its_likes_and_its_answers_say() {
    let gains = Brought { rendered: 4, gained: 4, ..Brought::default() };
    assert!(gains.deserves_another(false, 0) && !gains.deserves_another(false, 1), "an empty list may be just that");
    assert!(gains.deserves_another(true, 2), "as any fault, which has its own bound");
    let barren = Brought { rendered: 1, ..Brought::default() };
    assert!(!barren.deserves_another(false, 0));
    assert!(barren.deserves_another(true, 1) && !barren.deserves_another(true, limits::RENDER_REFUSED_TRIALS));
    let tried = Brought { rendered: limits::RENDER_TRIALS, ..Brought::default() };
    assert!(!tried.deserves_another(true, 0), "the site refuses that to everybody");
}

#[test]
fn a_class_that_gains_is_rendered_page_by_page() {
    let mut brought = Brought::default();
    for _ in 0..500 {
        assert!(brought.decide(RenderWhen::Auto, shown(true, false, 0), limits::RENDER_TRIALS));
        brought.rendered(true);
    }
}

#[test]
fn an_empty_root_is_rendered_even_where_nothing_was_gained_so_far() {
    let mut brought = Brought { rendered: 10, ..Brought::default() };
    assert!(brought.decide(RenderWhen::Auto, shown(true, true, 0), limits::RENDER_TRIALS));
    assert!(!brought.decide(RenderWhen::Auto, shown(true, true, 5), limits::RENDER_TRIALS), "it shows what it has");
    assert!(
        !brought.decide(RenderWhen::Auto, shown(true, false, 0), limits::RENDER_TRIALS),
        "an empty list may be just that"
    );
}

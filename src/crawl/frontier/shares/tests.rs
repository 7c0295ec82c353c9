//! Unit tests of `frontier::shares`.

use super::*;

const LISTS: usize = 0;
const THINGS: usize = 1;
const FILES: usize = 2;
const ABOUT: usize = 3;

/// A site of lists, things, their files and pages about it; returns their ranks.
fn site(shares: &mut Shares) -> [u8; 4] {
    [
        shares.rank(Class::Index, LISTS, "/list?page=3"),
        shares.rank(Class::Detail, THINGS, "/thing/3"),
        shares.rank(Class::Download, FILES, "/get/3.torrent"),
        shares.rank(Class::Page, ABOUT, "/user?id=3"),
    ]
}

fn place(shares: &mut Shares, rank: u8) -> usize {
    shares.order().iter().position(|of| *of == rank).unwrap()
}

#[test]
fn a_url_has_the_rank_of_its_rule_and_shape() {
    let mut shares = Shares::default();
    let [list, thing, file, about] = site(&mut shares);
    assert_eq!((list >> 4, thing >> 4, file >> 4, about >> 4), (1, 2, 0, 3), "the class stays legible");
    assert_eq!(shares.rank(Class::Detail, THINGS, "/thing/99"), thing);
    assert_ne!(shares.rank(Class::Detail, THINGS, "/thing/99?view=print"), thing);
    assert_ne!(shares.rank(Class::Detail, THINGS + 7, "/thing/99"), thing, "of another rule");
    assert!(priority::is_sitemap(shares.rank(Class::Sitemap, usize::MAX, "/sitemap.xml")));
}

#[test]
fn ranks_are_bounded_and_never_shared_by_two_classes() {
    let mut shares = Shares::default();
    let mut of_class: BTreeMap<u8, u8> = BTreeMap::new();
    for class in Class::ALL {
        for shape in 0..400 {
            let rank = shares.rank(class, 0, &format!("/x?{}={shape}", "k".repeat(shape + 1)));
            let of = of_class.entry(rank).or_insert(priority::rank(class));
            assert_eq!(*of, priority::rank(class), "{rank}");
            assert!(rank != URGENT && !(FAR_PAGE..FAR_PAGE + 16).contains(&rank));
        }
    }
    assert!(shares.arms.len() <= SHARE_ARMS_MAX + CLASSES.len());
    let order = shares.order().to_vec();
    assert!(of_class.keys().all(|rank| order.contains(rank)), "each rank is leased");
    assert!((1..FAR_PAGE).all(|rank| order.contains(&rank)), "and each that an earlier version gave");
    assert!(!order.contains(&FAR_PAGE));
}

#[test]
fn folders_that_differ_in_their_words_are_one_arm_after_six() {
    let mut shares = Shares::default();
    let word = |at: u8| char::from(b'a' + at).to_string().repeat(4);
    let ranks: Vec<u8> = (0..20).map(|at| shares.rank(Class::Page, 0, &format!("/tag/{}/", word(at)))).collect();
    assert_eq!(ranks.iter().collect::<std::collections::HashSet<_>>().len(), 7, "{ranks:?}");
    let programs: Vec<u8> = (0..20).map(|at| shares.rank(Class::Page, 0, &format!("/{}.php?id=1", word(at)))).collect();
    assert_eq!(programs.iter().collect::<std::collections::HashSet<_>>().len(), 20, "{programs:?}");
}

#[test]
fn before_anything_is_known_the_classes_decide() {
    let mut shares = Shares::default();
    let [list, thing, file, about] = site(&mut shares);
    let places = [file, list, thing, about].map(|rank| place(&mut shares, rank));
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(shares.order()[0], URGENT);
}

/// A list shows `new` things, each of which has a file.
fn fetch_list(shares: &mut Shares, ranks: [u8; 4], new: u32) {
    let [list, thing, file, _] = ranks;
    shares.fetched(list, 0, &[(thing, new)]);
    for _ in 0..new {
        shares.fetched(thing, 0, &[(file, 1)]);
        shares.fetched(file, 1, &[]);
    }
}

#[test]
fn lists_go_before_what_they_list_until_they_are_exhausted() {
    let mut shares = Shares::default();
    let ranks = site(&mut shares);
    let [list, thing, file, about] = ranks;
    for _ in 0..10 {
        fetch_list(&mut shares, ranks, 10);
        shares.fetched(about, 0, &[(about, 3)]);
    }
    let places = [file, list, thing, about].map(|rank| place(&mut shares, rank));
    assert!(places.is_sorted(), "{places:?}");
    // They show nothing new any more: nothing but their own fetches changes.
    for _ in 0..40 {
        shares.fetched(list, 0, &[]);
    }
    let places = [file, thing, list].map(|rank| place(&mut shares, rank));
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn what_brings_known_torrents_under_new_addresses_falls_behind() {
    let mut shares = Shares::default();
    let [_, thing, file, _] = site(&mut shares);
    let print = shares.rank(Class::Detail, THINGS, "/thing/3?view=print");
    for _ in 0..60 {
        shares.fetched(thing, 0, &[(file, 1)]);
        shares.fetched(file, 1, &[]);
        shares.fetched(print, 0, &[(file, 1)]);
        shares.fetched(file, 0, &[]);
        shares.was_known(print, file);
    }
    let index = shares.indices();
    let of = |rank: u8| index[shares.arms.iter().position(|arm| arm.rank == rank).unwrap()];
    assert!(of(thing) > 4.0 * of(print), "{index:?}");
}

#[test]
fn an_arm_that_was_never_fetched_is_tried_in_time() {
    let mut shares = Shares::default();
    let ranks = site(&mut shares);
    let [list, thing, _, about] = ranks;
    assert!(place(&mut shares, about) > place(&mut shares, thing));
    // Threads without a file in half of the cases.
    for _ in 0..400 {
        shares.fetched(list, 0, &[(thing, 2)]);
        shares.fetched(thing, 0, &[]);
    }
    assert!(place(&mut shares, about) < place(&mut shares, list), "{:?}", shares.order());
}

#[test]
fn shares_survive_a_restart() {
    let rules: Vec<String> = ["index /list", "detail /thing", "download /get", "page /user"].map(str::to_owned).into();
    let mut shares = Shares::default();
    let ranks = site(&mut shares);
    for _ in 0..30 {
        fetch_list(&mut shares, ranks, 4);
    }
    shares.fetched(ranks[3], 0, &[]);
    let mut again = Shares::from_bytes(&shares.to_bytes(&rules), &rules);
    assert_eq!(again.order(), shares.order());
    assert_eq!(again.by_rule(), shares.by_rule());
    assert_eq!(site(&mut again), ranks);
    // Another order of the rules, and one rule less.
    let fewer: Vec<String> = [2, 0, 1].map(|at: usize| rules[at].clone()).into();
    let mut fewer = Shares::from_bytes(&shares.to_bytes(&rules), &fewer);
    assert_eq!(fewer.rank(Class::Download, 0, "/get/3.torrent"), ranks[2]);
    assert_eq!(fewer.by_rule().0.len(), 3);
}

/// The pattern of the details' rule is another one, and their rank is given again: the window's links to the old ones stay counted.
#[test]
fn a_rule_that_changes_leaves_the_list_its_worth() {
    let rules: Vec<String> = ["index /list", "detail /thing", "download /get", "page /user"].map(str::to_owned).into();
    let mut shares = Shares::default();
    let ranks = site(&mut shares);
    (0..50).for_each(|_| fetch_list(&mut shares, ranks, 20));
    let changed: Vec<String> =
        ["index /list", "detail /things", "download /get", "page /user"].map(str::to_owned).into();
    let mut again = Shares::from_bytes(&shares.to_bytes(&rules), &changed);
    let ranks = site(&mut again);
    for _ in 0..45 {
        fetch_list(&mut again, ranks, 2);
    }
    let list = again.by_rule().0.into_iter().find(|rule| rule.rule == Some(0)).expect("the list");
    assert!((0.3..0.5).contains(&list.index), "{list:?}");
    assert!(!is_useless(&list), "{list:?}");
}

#[test]
fn no_shape_takes_more_than_one_arm_however_many_are_known() {
    let mut shares = Shares::default();
    for user in 0..2 * SHARE_SHAPES_MAX {
        let name: String = user.to_string().bytes().map(|digit| char::from(b'a' + digit - b'0')).collect();
        shares.rank(Class::Page, 0, &format!("/user/{name}"));
    }
    let before = shares.arms.len();
    let ranks: Vec<u8> = (0..40).map(|n| shares.rank(Class::Page, 0, &format!("/x.php?never={n}"))).collect();
    assert_eq!(shares.arms.len(), before + 1, "{ranks:?}");
    assert!(
        shares.has(ranks[0], Class::Page)
            && !shares.has(ranks[0], Class::Index)
            && ranks.iter().all(|rank| *rank == ranks[0])
    );
}

#[test]
fn notes_that_nobody_wrote_are_none() {
    let rules = ["index /".to_owned()];
    let arm = |rank: u32, torrents: &str| {
        format!(
            r#"{{"arms":[{{"rank":{rank},"class":"index","rule":"index /","shape":"/","prior":0.3,"fetched":5,"torrents":1,"window":[[{torrents},[[18,2]]]],"links":[[250,1]]}}],"recent":[17,99]}}"#
        )
    };
    assert_eq!(Shares::from_bytes(arm(17, "1").as_bytes(), &rules).by_rule().0.len(), 1);
    for bad in [arm(17, "-1"), arm(0, "1"), arm(80, "1"), arm(33, "1"), arm(300, "1"), "]".into(), "".into()] {
        assert_eq!(Shares::from_bytes(bad.as_bytes(), &rules).by_rule(), (Vec::new(), 0), "{bad}");
    }
}

#[test]
fn a_rule_that_leads_to_nothing_is_named_and_one_that_leads_far_is_not() {
    let mut shares = Shares::default();
    let ranks = site(&mut shares);
    let [list, .., about] = ranks;
    let hub = shares.rank(Class::Page, ABOUT + 1, "/hub?x=1");
    for at in 0..500 {
        shares.fetched(about, 0, &[]);
        // One in fifty shows a list.
        shares.fetched(hub, 0, &[(list, u32::from(at % 50 == 0))]);
        if at % 50 == 0 {
            fetch_list(&mut shares, ranks, 20);
        }
    }
    let (told, of_last) = shares.by_rule();
    let useless: Vec<_> = told.iter().filter(|share| is_useless(share)).map(|share| share.rule).collect();
    assert_eq!(useless, [Some(ABOUT)], "{told:?}");
    assert_eq!((of_last, told.iter().map(|share| share.of_last).sum::<usize>()), (200, 200));
    let files = told.iter().find(|share| share.rule == Some(FILES)).unwrap();
    assert_eq!((files.fetched, files.torrents), (200, 200));
    assert!((files.index_of_all - 1.0).abs() < 1e-9);
}

#[test]
fn the_url_at_each_place_of_the_line_is_asked_within_twenty_times_its_place() {
    let (mut floor, mut line) = (Floor::default(), VecDeque::from_iter(0..50_u32));
    for request in 1..=20 * 50 {
        // All other requests go to URLs that came later.
        if floor.is_due() {
            floor.given();
            let place = line.pop_front().unwrap_or(u32::MAX);
            assert!(request <= FLOOR.saturating_mul(place.saturating_add(1)), "{place} at {request}");
        }
        floor.asked();
    }
    assert!(line.is_empty());
}

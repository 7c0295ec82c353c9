//! Unit tests of `shortcut::pages`.

use super::*;

#[test]
fn numbers_that_count_records_step_by_what_a_page_holds() {
    for (numbers, size, told) in [
        (&[0, 20, 40, 140][..], 20, (0, 20)),
        (&[20], 20, (0, 20)),
        (&[1, 51, 101], 50, (1, 50)),
        (&[1, 2, 3, 75], 20, (1, 1)),
        (&[0, 1, 2], 20, (0, 1)),
        (&[2, 4], 2, (1, 1)),
        (&[1], 20, (1, 1)),
        (&[20, 30], 20, (1, 1)),
    ] {
        assert_eq!(counting(&numbers.iter().copied().collect(), size), told, "{numbers:?}");
    }
    let at = Source::Query("start".into());
    let pager = Pager { at, first: 0, step: 20, near: NEAR, ends: true, last: Last::Full(20) };
    let page = Url::parse("https://h.example/list?start=40").unwrap();
    let links = pager.links(&Answer::Other, 20, &page);
    assert_eq!(links, ["0", "20", "60"].map(|start| format!("https://h.example/list?start={start}")));
    assert!(pager.is_one_of("https://h.example/list?start=60", &page, 60));
    assert!(!pager.is_one_of("https://h.example/list?start=51", &page, 60));
}

#[test]
fn the_number_of_a_page_is_found_and_changed() {
    let page = Url::parse("https://h.example/list/page-3-x7.html?cat=a&p=2").unwrap();
    for (address, at, number) in [
        ("https://h.example/list/page-4-x7.html?cat=a&p=2", Source::Number(1, 0), 4),
        ("https://h.example/list/page-3-x7.html?cat=a&p=12", Source::Query("p".into()), 12),
    ] {
        let url = Url::parse(address).unwrap();
        assert_eq!(same_but_number(&page, &url), Some((at.clone(), number)));
        assert_eq!(with_number(&at, &page, number).as_deref(), Some(address));
    }
    for other in ["https://h.example/list/page-4-x8.html?cat=a&p=2", "https://h.example/list/page-3-x7.html?cat=b&p=3"]
    {
        assert_eq!(same_but_number(&page, &Url::parse(other).unwrap()), None, "{other}");
    }
    let first = Url::parse("https://h.example/list").unwrap();
    assert_eq!(with_number(&Source::Query("p".into()), &first, 2).as_deref(), Some("https://h.example/list?p=2"));
}

//! Sizes as real lists tell them, and what hostile pages make of it.

use super::*;

fn read(html: &str) -> (Option<u64>, Option<u64>, Option<u64>) {
    let Stated { range, count, pages } = of_page(html, false);
    (range, count, pages)
}

#[test]
fn sizes_are_read_in_the_forms_of_real_sites() {
    let cases = [
        ("Displaying results 1-75 out of 300 results.<br>Please refine", (Some(300), Some(300), None)),
        ("<b>Showing 1 to 50 of 3,700 entries</b>", (Some(3_700), Some(3_700), None)),
        ("1–50 of 3&nbsp;700", (Some(3_700), None, None)),
        ("51 - 100 von 12.345", (Some(12_345), None, None)),
        ("<td>12'345 torrents</td>", (None, Some(12_345), None)),
        ("12,34,567 results", (None, Some(1_234_567), None)),
        ("Torrents: <b>450</b>, Total size: 49 MB", (None, Some(450), None)),
        ("1\u{202f}234 активных раздач", (None, Some(1_234), None)),
        ("共 <b>300</b> 个种子", (None, Some(300), None)),
        ("Page <b>3</b> of <b>75</b>", (None, None, Some(75))),
        ("<label><input><span> / 18 页</span></label> 2 / 18 页", (None, None, Some(18))),
        ("<span class=pages>Pages (18):</span>", (None, None, Some(18))),
        ("Страница 2 из 40", (None, None, Some(40))),
        ("<a href=?p=0>1 - 50</a> | <a href=?p=1>51 - 100</a> | … <a href=?p=9>451 - 451</a>", (Some(451), None, None)),
        ("Search found 331 matches • Page 1 of 14", (None, Some(331), Some(14))),
    ];
    for (html, expected) in cases {
        assert_eq!(read(html), expected, "{html}");
    }
    assert_eq!(of_page("336 Topics", true).count, Some(336));
    assert_eq!(of_page("336 Topics", false).count, None, "threads are counted on boards");
}

#[test]
fn what_contradicts_itself_or_is_no_size_says_nothing() {
    let nothing = [
        "1000000000000000000000000000000 torrents",
        "99999999999999 torrents",
        "-5 torrents",
        "−5 torrents",
        "0 torrents",
        "0 of 0",
        "0 - 0 of 0",
        "1-50 of 0 results of",
        "50-1 of 3700",
        "1-50 of 20",
        "page 999999999 of 3",
        "page 3 of 99999999999999999999",
        "page 0 of 0",
        "12.34 torrents",
        "1.234,567 torrents",
        "1,2345 torrents",
        "3.5 results",
        "12,345.5 torrents",
        "v1.5.200 torrents",
        "torrents: 12 GB",
        "torrents: 12.5",
        "torrents: 50%",
        "1 torrent",
        "abc12 torrents",
        "<a href=/t/1>The best 1000 torrents</a>",
        "<A HREF=/t/1 title='>'>1000 torrents</A >",
        "<select><option>1000 results</select>",
        "<script>var x = '1000 torrents'</script>",
        "<!-- 1000 torrents -->",
        "2026-11-26 torrentsx",
        "1-2 | 3-4",
        "S01E01-12 of 2",
        "",
        "<a",
        "<a>5 torrents",
    ];
    for html in nothing {
        assert!(of_page(html, true).is_empty(), "{html}: {:?}", of_page(html, true));
    }
}

#[test]
fn reading_is_total_and_linear() {
    use proptest::prelude::*;
    proptest!(|(html in "([0-9]{1,30}|[-,./ ]| of | torrents|<a>|</a>|page |\\PC){0,60}", is_board: bool)| {
        let stated = of_page(&html, is_board);
        for figure in [stated.range, stated.count, stated.pages].into_iter().flatten() {
            prop_assert!((1..=STATED_TOTAL_MAX).contains(&figure));
        }
    });
    let long = "1,".repeat(1 << 20) + &"1 - ".repeat(1 << 20) + &"<a>".repeat(1 << 18);
    assert!(of_page(&long, true).is_empty());
}

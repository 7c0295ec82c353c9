//! Unit tests of `noise::said`.

use encoding_rs::UTF_8;

use super::*;

fn list(page: &str) -> Option<ListTextHash> {
    said(&Page { url: 0, body: page.as_bytes(), encoding: UTF_8 }, &|href| href.starts_with("/t/"))
}

fn hash(page: &str) -> u64 {
    list(page).unwrap_or_else(|| panic!("no row: {page}")).hash
}

const ROWS: &str = "<h1>All</h1>at 14:03<table><tr><td><a href=/t/1>One</a><td>12 MB<td>7</tr>\
    <tr><td><a href='/t/2?a&amp;b' title='Second &lt;'>Two</a></table>Online: Anna";

#[test]
fn texts_from_the_first_rows_link_to_the_last_ones() {
    // "One", "12 MB", "Second &lt;", "Two": 7 is a count, and what is around the list does not belong to it.
    assert_eq!(list(ROWS).map(|said| said.texts), Some(4));
    assert_eq!(list("<a href=/else>One</a>"), None);
    let same = [
        ROWS.replace("Anna", "Bert").replace("14:03", "14:05").replace("All", "Everything"),
        ROWS.replace("/t/1", "/t/81").replace("/t/2?a&amp;b", "/t/82?c"),
        ROWS.replace("<td>7", "<td>1,208"),
        ROWS.replace("<td>7", "<td>3 minutes ago"),
        ROWS.replace("<tr>", "<tr class=odd><!-- <b>no</b> --><script>now(1)</script><style>a{}</style>"),
        ROWS.replace("<td>7", "<td><select><option>no</select>"),
        ROWS.replace("<td>7", "<td><select><option>no"),
        ROWS.replace("Two</a></table>", "Two</table>"),
    ];
    let other = [
        ROWS.replace("One", "New"),
        ROWS.replace("Two", "New"),
        ROWS.replace("12 MB", "13 MB"),
        ROWS.replace("Second", "2nd"),
        ROWS.replace("<td>7", "<td><time datetime=2026-11-29>then</time>"),
        ROWS.replace("<table>", "<table><tr><td><a href=/t/0>Zero</a></tr>"),
    ];
    let all = same.iter().map(|page| (page, true)).chain(other.iter().map(|page| (page, false)));
    for (page, is_same) in all {
        assert_eq!(hash(page) == hash(ROWS), is_same, "{page}");
    }
}

#[test]
fn a_day_of_a_relative_time_counts_by_its_time_of_day() {
    let at = |day: &str| hash(&ROWS.replace("<td>7", &format!("<td>{day}")));
    assert_eq!(at("Today, 14:03"), at("Yesterday, 14:03"));
    assert_ne!(at("Today, 14:03"), at("Today, 14:04"));
}

#[test]
fn a_page_that_ends_within_its_markup_says_what_came_before() {
    let whole = list(ROWS);
    assert_eq!(list(&(ROWS.to_owned() + "<a href='/t/3")), whole);
    for cut in 0..ROWS.len() {
        list(&ROWS[..cut]);
    }
}

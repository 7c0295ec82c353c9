//! Unit tests of `noise::walk`.

use super::*;

fn atoms(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    walk(page.as_bytes(), |atom, stack| {
        let text = String::from_utf8_lossy(atom.bytes);
        found.push(format!("{} {:?} {text}", stack.path(), atom.what));
    });
    found
}

fn slots(page: &str) -> Vec<u64> {
    let mut found = Vec::new();
    walk(page.as_bytes(), |atom, _| found.push(atom.slot));
    found
}

#[test]
fn texts_links_and_scripts_come_in_order_with_their_paths() {
    let page = "<html><title>T</title><div id=a class='b c'>x<a href=/1 title=full>one</a><!-- no --><br> y \
                    <select><option>no</select><textarea>no</textarea><script>s()</script>\
                    <i onclick=\"go('magnet:?xt=urn:btih:0123456789')\">m</i></div> z < 3";
    assert_eq!(
        atoms(page),
        [
            "html > title Text T",
            "html > div#a.b.c Text x",
            "html > div#a.b.c > a Link /1",
            "html > div#a.b.c > a Text full",
            "html > div#a.b.c > a Text one",
            "html > div#a.b.c Text y",
            "html > div#a.b.c > script Script s()",
            "html > div#a.b.c > i Link magnet:?xt=urn:btih:0123456789",
            "html > div#a.b.c > i Text m",
            "html Text z < 3",
        ]
    );
}

#[test]
fn rows_share_their_slots_and_columns_do_not() {
    let found = slots("<table><tr class=row1><td>a<td>b<tr class=row2><td>c<td>d</table>");
    assert_eq!(found[0], found[2]);
    assert_eq!(found[1], found[3]);
    assert_ne!(found[0], found[1]);
    let found = slots("<ul><li id=t1>a<li id=t2>b</ul><ol><li>c</ol>");
    assert!(found[0] == found[1] && found[1] != found[2]);
}

#[test]
fn forgotten_end_tags_end_with_their_cell() {
    let found = atoms("<table><tr><td><b>a</table>x<p>b<div>c</div>");
    assert_eq!(
        found,
        ["table > tr > td > b Text a", "Text x", "p Text b", "div Text c"]
            .map(|line| { if line.starts_with("Text") { format!(" {line}") } else { line.to_owned() } })
    );
}

#[test]
fn deep_and_broken_pages_end() {
    for page in ["<div>".repeat(100_000), "<a href=x>".repeat(50_000), "</p>".repeat(50_000), "<".repeat(50_000)] {
        walk(page.as_bytes(), |_, stack| assert!(stack.frames.len() <= NOISE_DEPTH_MAX));
    }
    for page in ["", "<", "<a", "<a href", "<!--", "<script>x", "<title>", "<a href='x", "</", "<plaintext>a<b>"] {
        atoms(page);
    }
}

#[test]
fn void_elements_are_those_of_the_standard() {
    let is = |name: &str| is_void(key(name.to_ascii_lowercase().as_bytes()));
    assert!(["br", "IMG", "input", "hr", "wbr"].into_iter().all(is));
    assert!(!["p", "a", "td", "brr"].into_iter().any(is));
}

//! Unit tests of `scripted`.

use super::*;

#[test]
fn scripts_that_run_are_told_from_blocks_of_data() {
    for (page, expected) in [
        ("<p>text", false),
        ("<script src=a.js></script>", true),
        ("<SCRIPT>x</SCRIPT>", true),
        ("<script type='application/ld+json'>{}</script>", false),
        ("<script type=text/template><a href=x></script>", false),
        ("<script type=\"module\">x</script>", true),
        ("<scripted>", false),
    ] {
        assert_eq!(signs(page.as_bytes()).scripts, expected, "{page}");
    }
}

#[test]
fn roots_that_wait_for_their_content_are_seen_and_full_ones_are_not() {
    for (page, expected) in [
        ("<div id=\"root\"></div>", true),
        ("<div class=x id=app>\n <!-- here --> </div>", true),
        ("<app-root>Loading…</app-root>", true),
        ("<tbody id=rows></tbody>", true),
        ("<noscript>You need to enable JavaScript to run this app.</noscript>", true),
        ("<div id=root><a href=x>x</a></div>", false),
        ("<div id=rooted></div>", false),
        ("<ul id=list><li>a</ul>", false),
    ] {
        let page = format!("<script src=a.js></script>{page}");
        assert_eq!(signs(page.as_bytes()).empty_root, expected, "{page}");
    }
    assert_eq!(signs(b"<div id=root></div>"), Signs::default(), "without a script nobody fills it");
}

#[test]
fn what_is_being_loaded_says_so_and_what_tells_of_loading_does_not() {
    for (page, expected) in [
        ("<tr><td>Loading…</td></tr>", true),
        ("<p> Please wait, the list comes </p>", true),
        ("<td>加载中…</td>", true),
        ("<p>Loading docks of the north, in forty pictures and a map</p>", false),
        ("<p>Reloading</p>", false),
    ] {
        assert_eq!(signs(format!("<script>1</script>{page}").as_bytes()).waits, expected, "{page}");
    }
}

#[test]
fn phrases_that_are_no_ascii_may_begin_with_ascii() {
    assert!(WAITS.iter().all(|phrase| !phrase.is_ascii()), "they are searched for from the first byte on that is none");
    for (page, expected) in
        [("now on: 加载中", true), ("n: 加载中", false), ("on: 加载中", true), ("on: é on: 加载", false)]
    {
        assert_eq!(are_written(page.as_bytes(), &["on: 加载中"]), expected, "{page}");
    }
}

#[test]
fn pages_of_one_make_leave_the_same_elements_empty() {
    let of = |page: &str| signs(format!("<script>1</script>{page}").as_bytes()).hollow;
    assert_eq!(
        of("<div id=t12></div><p class='a b'> <!-- here --> </p>"),
        of("<p class='a b'></p><h1>X</h1><div id=t7></div>")
    );
    assert_ne!(of("<div id=links></div>"), of("<div id=clear></div>"));
    assert_eq!(of("<div id=links>x</div><div></div><div data-id=x></div>"), 0);
}

#[test]
fn attributes_of_frameworks_are_seen() {
    for (page, expected) in [
        ("<tr ng-repeat='t in torrents'>", true),
        ("<div hx-get=/more hx-trigger=load>", true),
        ("<div x-data='{}'>", true),
        ("<p title='hx-get'>", false),
    ] {
        assert_eq!(signs(format!("<script>1</script>{page}").as_bytes()).framework, expected, "{page}");
    }
}

//! Unit tests of `frontier::traps`.

use super::*;

#[test]
fn forms_that_only_traps_have_are_told() {
    use TrapForm::*;
    let deep: String = (0..40).map(|n| format!("/d{n}")).collect();
    let many: String = (0..70).map(|n| format!("p{n}=1&")).collect();
    let same_name: String = (0..12).map(|n| format!("a={n}&")).collect();
    let table = [
        ("/aa/b/aa/b/aa/b".to_owned(), RepeatedFolders),
        ("/a/bb/a/bb/a/bb/".into(), RepeatedFolders),
        ("/xx/xx/xx".into(), RepeatedFolders),
        ("/pub/news/news/news/y.html".into(), RepeatedFolders),
        ("/2024/aa/2024/aa/2024/aa".into(), RepeatedFolders),
        ("/q/a/bb/c/a/bb/c/a/bb/c/d?x=1".into(), RepeatedFolders),
        ("/a////b".into(), RepeatedFolders),
        ("/aa/b/aa/c/aa/d/aa/e/aa".into(), RecurringFolder),
        ("/index.html/about.html/news.html".into(), PageAsFolder),
        ("/a/view.php/list.php/3".into(), PageAsFolder),
        (deep, DeepPath),
        (format!("/?{many}"), ManyParameters),
        ("/?a=1&b=2&a=1&a=1".into(), RepeatedParameter),
        (format!("/?{same_name}"), RepeatedParameter),
    ];
    for (path, form) in table {
        assert_eq!(trap_form(&path), Some(form), "{path}");
        assert!(!form.name().is_empty() && !form.sentence().is_empty());
    }
}

#[test]
fn honest_paths_pass() {
    let deep: String = (0..31).map(|n| format!("/d{n}")).collect();
    let boxes: String = (0..30).map(|n| format!("cat[]={n}&")).collect();
    for path in [
        "/",
        "",
        "/1/1/1",
        "/1/1/1/1/1/1/x",
        "/torrents/a/a/a/x.torrent",
        "/torrents/a/b/a/b/a/b/x.torrent",
        "/a//b//c",
        "/2011/11/11/11",
        "/files/files/x",
        "/a/b/a/b/",
        "/pub/linux/linux/x86_64",
        "/index.php/topic/12/page/2",
        "/redirect.php/http://example.org/a.html",
        "/a/b/a/c/a/d/a/e/a",
        "/browse?cat=1&cat=2&cat=3",
        "/browse?a&b&a",
        &deep,
        &format!("/?{boxes}"),
    ] {
        assert_eq!(trap_form(path), None, "{path}");
    }
}

#[test]
fn a_link_relative_to_nowhere_is_told_within_a_few_steps() {
    // Each page links to `news/today/` without a leading `/`.
    let mut path = "/".to_owned();
    let steps = (1..).find(|_| {
        path.push_str("news/today/");
        trap_form(&path).is_some()
    });
    assert_eq!(steps, Some(3));
    // Pages that link to one of four such folders, in an order that never repeats.
    let (mut path, mut state) = ("/".to_owned(), 1_u32);
    let steps = (1..).find(|_| {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        path.push_str(["about/", "news/", "help/", "shop/"][(state >> 16) as usize % 4]);
        trap_form(&path).is_some()
    });
    assert!(steps.is_some_and(|steps| steps <= 17), "{steps:?}: five of one of four come within 17");
}

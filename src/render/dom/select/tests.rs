//! Selectors against small documents, as tables: matches and syntax errors.

use super::super::{Error, NodeId, Tree};
use super::*;

const PAGE: &str = "<!DOCTYPE html><html lang=en-US><head><title>t</title></head><body id=body class='a b'>\
    <div id=one class='Row odd' data-x='Hello world' lang=de><a id=l1 href=/x>one</a><a id=n1 name=y>two</a>\
    <span id=s1></span><em id=e1><!-- c --></em></div>\
    <div id=two class='row even' data-x=hello-there><p id=p1>1</p><p id=p2 class=x>2</p><b id=b1>3</b><p id=p3>4</p></div>\
    <form id=f><fieldset id=fs disabled><legend id=lg><input id=i0></legend><input id=i1></fieldset>\
    <input id=c1 type=checkbox checked><input id=c2 type=CheckBox><input id=r1 type=radio name=g><input id=t1 required placeholder=p>\
    <select id=sel><option id=o1>a</option><option id=o2>b</option></select><button id=bt>go</button>\
    <textarea id=ta readonly></textarea></form>\
    <svg id=svg><a id=sa xlink:href=#x><text id=st></text></a><foreignObject id=fo></foreignObject></svg>\
    <x-a id=xa dir=rtl><i id=xi></i></x-a></body></html>";

fn ids_of(tree: &Tree, root: NodeId, text: &str) -> String {
    let selectors = Selectors::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let found = tree.query_selector_all(root, &selectors);
    assert_eq!(tree.query_selector(root, &selectors), found.first().copied(), "{text}: the first of all");
    let names = found.iter().map(|id| tree.id(*id).map_or_else(|| tree.tag_name(*id).unwrap(), str::to_owned));
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn selectors_find_what_the_standard_says() {
    let mut tree = Tree::new();
    let document = tree.parse_document(PAGE).unwrap();
    tree.target = tree.element_by_id(document, "p2");
    tree.focus = tree.element_by_id(document, "t1");
    for (selectors, expected) in [
        ("#one", "one"),
        ("div#one.Row", "one"),
        ("#one #two", ""),
        (".row", "two"),
        (".a.b", "body"),
        ("DIV", "one two"),
        ("body > div", "one two"),
        ("div p", "p1 p2 p3"),
        ("p + p", "p2"),
        ("p ~ p", "p2 p3"),
        ("#two > :not(p)", "b1"),
        ("#two > :not(p, b)", ""),
        ("[data-x]", "one two"),
        ("[DATA-X]", "one two"),
        ("[data-x='hello world' i]", "one"),
        ("[data-x='Hello world' s]", "one"),
        ("[data-x~=world]", "one"),
        ("[data-x|=hello]", "two"),
        ("[data-x^=Hel]", "one"),
        ("[data-x$=there]", "two"),
        ("[data-x*='']", ""),
        ("[data-x*=o]", "one two"),
        ("input[type=checkbox]", "c1 c2"),
        ("input[type=checkbox s]", "c1"),
        ("p:first-child", "p1"),
        ("p:last-of-type", "p3"),
        ("p:nth-child(2n)", "p2 p3"),
        ("p:nth-child(odd)", "p1"),
        ("p:nth-of-type(3)", "p3"),
        ("p:nth-last-child(1)", "p3"),
        ("#two > :nth-child(2 of p)", "p2"),
        ("#two > :nth-last-child(1 of .x)", "p2"),
        ("b:only-of-type", "b1"),
        ("div:has(> b)", "two"),
        ("div:has(p.x, em)", "one two"),
        ("p:has(+ b)", "p2"),
        (":is(#p1, #p2, :bogus)", "p1 p2"),
        (":where(.x)", "p2"),
        (":-webkit-any(.x)", "p2"),
        (":root", "HTML"),
        (":scope > body", "body"),
        ("#one > :empty", "s1 e1"),
        ("#body :any-link", "l1 sa"),
        ("a:link", "l1 sa"),
        (":visited", ""),
        (":target", "p2"),
        ("input:focus", "t1"),
        ("form:focus-within", "f"),
        (":hover", ""),
        (":checked", "c1 o1"),
        (":disabled", "fs i1"),
        ("input:enabled", "i0 c1 c2 r1 t1"),
        (":required", "t1"),
        ("input:optional", "i0 i1 c1 c2 r1"),
        (":placeholder-shown", "t1"),
        (":indeterminate", "r1"),
        (":default", "c1 bt"),
        ("textarea:read-only", "ta"),
        ("input:read-write", "i0 t1"),
        ("body :not(:defined)", "xa"),
        ("div:lang(de)", "one"),
        ("div:lang(en)", "two"),
        ("div:lang('*-US')", "two"),
        ("x-a:dir(rtl), i:dir(rtl)", "xa xi"),
        ("foreignObject", "fo"),
        ("foreignobject", ""),
        ("*|a[*|href]", "l1 sa"),
        ("|a", ""),
        ("p::before", ""),
        ("p:first-line", ""),
        ("::slotted(p)", ""),
        (":host", ""),
        ("#\\31 ", ""),
        ("#p1, #one, #p1", "one p1"),
    ] {
        assert_eq!(ids_of(&tree, document, selectors), expected, "{selectors}");
    }
}

#[test]
fn what_is_no_selector_is_refused() {
    for text in [
        "",
        " ",
        ",",
        "p,",
        ">p",
        "p >",
        "p > > p",
        "#",
        "#1",
        ".",
        ".1",
        "[",
        "[]",
        "[a=",
        "[a=b c]",
        "[a!=b]",
        "p:",
        ":bogus",
        "::bogus",
        ":nth-child()",
        ":nth-child(x)",
        ":not()",
        ":not(:bogus)",
        ":has()",
        ":has(:has(a))",
        "ns|p",
        "p{}",
        "p::before::before",
        "p::before a",
        ":lang()",
        "a b:",
        "<p>",
        "!",
        "..x",
    ] {
        assert_eq!(Selectors::parse(text).err(), Some(Error::Syntax), "{text}");
    }
}

#[test]
fn selectors_of_hostile_length_and_depth_are_refused_or_end() {
    let deep = format!("{}p{}", ":not(:is(".repeat(5_000), "))".repeat(5_000));
    assert_eq!(Selectors::parse(&deep).err(), Some(Error::Syntax));
    assert_eq!(Selectors::parse(&"a ".repeat(100_000)).err(), Some(Error::Syntax));
    let mut tree = Tree::new();
    let document = tree.parse_document(&"<i>".repeat(400)).unwrap();
    for text in [format!("{}b", "i ".repeat(300)), format!("{}b", "i:has(i) ".repeat(50)), "i ".repeat(390)] {
        tree.query_selector_all(document, &Selectors::parse(&text).unwrap());
    }
}

#[test]
fn quirks_mode_forgets_the_case_of_classes_and_ids() {
    for (doctype, expected) in [("<!DOCTYPE html>", ""), ("", "A")] {
        let mut tree = Tree::new();
        let document = tree.parse_document(&format!("{doctype}<p id=A class=B>")).unwrap();
        assert_eq!(ids_of(&tree, document, "#a"), expected);
        assert_eq!(ids_of(&tree, document, ".b"), expected);
    }
}

#[test]
fn the_scope_is_what_was_asked() {
    let mut tree = Tree::new();
    let document = tree.parse_document("<div id=o><div id=m><p id=p></p></div></div>").unwrap();
    let by_id = |id| tree.element_by_id(document, id).unwrap();
    let (outer, middle, p) = (by_id("o"), by_id("m"), by_id("p"));
    let parse = |text| Selectors::parse(text).unwrap();
    assert_eq!(tree.query_selector_all(outer, &parse(":scope > div")), [middle]);
    assert_eq!(tree.query_selector_all(outer, &parse(":scope > p")), []);
    assert_eq!(tree.query_selector_all(middle, &parse("div div p")), [p], "ancestors outside count");
    assert_eq!(tree.query_selector(outer, &parse("#o")), None, "the root itself is not found");
    assert!(tree.matches(p, &parse("div > :scope")));
    assert!(!tree.matches(document, &parse("*")));
    assert_eq!(tree.closest(p, &parse("div:not(:has(> :scope))")), Some(outer));
    assert_eq!(tree.closest(p, &parse("p")), Some(p));
    assert_eq!(tree.closest(p, &parse("table")), None);
}

#[test]
fn fragments_and_shadow_roots_are_searched_for_themselves() {
    let mut tree = Tree::new();
    let markup = "<div id=h><template shadowrootmode=open><p id=i><b id=j></b></p></template><p id=l></p></div>\
        <template id=t><p id=c><i id=d></i></p></template>";
    let document = tree.parse_document(markup).unwrap();
    assert_eq!(ids_of(&tree, document, "p"), "l", "shadow trees and templates are not searched");
    let host = tree.element_by_id(document, "h").unwrap();
    let root = tree.element(host).unwrap().shadow_root().unwrap();
    assert_eq!(ids_of(&tree, root, "p, b"), "i j");
    assert_eq!(ids_of(&tree, root, "#h p"), "", "the host is outside");
    assert_eq!(ids_of(&tree, root, ":host > p"), "i");
    assert_eq!(ids_of(&tree, root, ":host(#h) b"), "j");
    assert_eq!(ids_of(&tree, root, ":scope > *"), "i");
    let template = tree.query_selector(document, &Selectors::parse("#t").unwrap()).unwrap();
    let contents = tree.element(template).unwrap().template_contents().unwrap();
    assert_eq!(ids_of(&tree, contents, "#d"), "d");
    assert_eq!(ids_of(&tree, contents, ":scope > p > i"), "d");
    assert_eq!(ids_of(&tree, contents, "* > p"), "", "a fragment is no element");
}

#[test]
fn attributes_are_read_as_they_are_and_not_as_they_were() {
    let mut tree = Tree::new();
    let document = tree.parse_document("<p id=a class=x>").unwrap();
    let p = tree.element_by_id(document, "a").unwrap();
    let find = |tree: &Tree, text| tree.query_selector(document, &Selectors::parse(text).unwrap());
    tree.set_attribute(p, "ID", "b").unwrap();
    tree.set_attribute(p, "class", "y z").unwrap();
    assert_eq!(
        (find(&tree, "#a"), find(&tree, "#b"), find(&tree, ".x"), find(&tree, ".z")),
        (None, Some(p), None, Some(p))
    );
    tree.remove_attribute(p, "id");
    assert_eq!((find(&tree, "#b"), tree.element_by_id(document, "b")), (None, None));
}

#[test]
fn the_cache_gives_what_a_parse_gives_and_stays_small() {
    let mut cache = SelectorCache::default();
    for number in 0..limits::SELECTORS_CACHED_MAX * 3 {
        assert!(cache.get(&format!(".c{number}")).is_ok());
        assert!(cache.get("p").is_ok());
        assert_eq!(cache.get("p >").err(), Some(Error::Syntax));
        assert!(cache.parsed.len() <= limits::SELECTORS_CACHED_MAX);
    }
}

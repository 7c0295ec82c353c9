//! Sheets against small documents, as tables: which declaration wins, and how rules serialise.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use super::cascade::{Cascade, Index};
use super::declaration::{parse, text_of};
use super::sheet::Sheet;
use super::value::colour;
use crate::dom::select::Selectors;
use crate::dom::{Error, Tree};
use crate::limits;

fn value_of(tree: &Tree, css: &str, id: &str, property: &str, inherits: bool) -> Option<String> {
    let document = tree.root(tree.element_by_id_anywhere(id));
    let sheets = [Rc::new(Sheet::parse(css))];
    let holds = |name: &str, condition: &str| name == "media" && condition == "screen";
    let indexes = HashMap::from([(document, Index::of(&sheets, &holds))]);
    let cascade = Cascade { tree, indexes: &indexes, tries: &Cell::new(0) };
    cascade.specified(tree.element_by_id_anywhere(id), property, inherits, None)
}

impl Tree {
    /// The element of an id that only one has.
    fn element_by_id_anywhere(&self, id: &str) -> crate::dom::NodeId {
        self.ids(id)[0]
    }
}

#[test]
fn the_declaration_wins_that_the_standard_says() {
    let mut tree = Tree::new();
    tree.parse_document("<main id=m class=x><p id=p class='a b' style='top: 1px'><i id=i></i></p></main>").unwrap();
    for (css, property, expected) in [
        ("p { color: red } p { color: blue }", "color", Some("blue")),
        (".a { color: red } p { color: blue }", "color", Some("red")),
        (".a { color: red } p { color: blue !important }", "color", Some("blue")),
        ("p { top: 2px }", "top", Some("1px")),
        ("p { top: 2px !important }", "top", Some("2px")),
        ("main { color: red } p { color: inherit }", "color", Some("red")),
        ("p { left: 1px; left: initial }", "left", None),
        ("p { color: red } p { color: nonsense }", "color", Some("red")),
        ("p { background: url(a;b) no-repeat green }", "background-color", Some("green")),
        ("p { margin: 1px 2px }", "margin-left", Some("2px")),
        ("p { outline: 2px solid red }", "outline-color", Some("red")),
        ("@media screen { p { color: red } } @media print { p { color: blue } }", "color", Some("red")),
        ("@layer one, two; @layer two { p { color: red } } @layer one { p { color: blue } }", "color", Some("red")),
        ("p { color: red } @layer one { .a.b { color: blue } }", "color", Some("red")),
        ("main { p { color: red } }", "color", Some("red")),
        ("main { &.x > .a { color: red } @media screen { color: blue } }", "color", Some("red")),
        ("p { &:not(.a) { color: red } }", "color", None),
        ("p { a:hover { color: red } color: blue }", "color", Some("blue")),
        ("main { --c: red } p { color: var(--c) }", "color", Some("red")),
        ("p { color: var(--d, blue) }", "color", Some("blue")),
        ("main { --e: var(--e) } p { color: var(--e) }", "color", None),
        ("main { --f: var(--g) } p { --g: var(--f, red); color: var(--g) }", "color", Some("red")),
        ("main { --h: red } p { --h: var(--i); color: var(--h) }", "color", Some("red")),
        ("p::before { color: red }", "color", None),
        ("p:has(> i) { color: red }", "color", Some("red")),
        ("nonsense{ p {", "color", None),
        ("p { color: red } } p { color: blue }", "color", Some("red")),
        ("@font-face { font-family: x } p { color: red", "color", Some("red")),
    ] {
        assert_eq!(value_of(&tree, css, "p", property, false).as_deref(), expected, "{css}");
    }
    assert_eq!(value_of(&tree, "main { color: red }", "i", "color", true).as_deref(), Some("red"));
}

#[test]
fn what_a_selector_needs_hides_no_rule_that_matches() {
    const BODY: &str = "<main id=M class='X y'><svg id=s class=deep><linearGradient id=g></linearGradient></svg><p id=p class='a b a'><i id=i></i></p></main>";
    const SELECTORS: &[&str] = &[
        "*",
        "p",
        "P",
        "#p",
        "#P",
        ".a",
        ".A",
        "p.b",
        "i",
        ".X",
        ".x",
        "main.X",
        "lineargradient",
        "linearGradient",
        "svg *",
        "svg.deep",
        ".c, .b",
        ".c, p",
        ".c, *",
        ":is(.a)",
        ":not(.c)",
        ".a:not(.b)",
        ".y > .a",
        "#m .b",
        ":where(#p).a",
        ":where(.A, main .b)",
        ":is(:where(i, #S), .c)",
        ":is(.c, *)",
        ":is(.b, :not(i)):where(p)",
        "p:is()",
        ".a\\ b",
        ".\\61",
        "[class~=a]",
        ":root .a i",
        ".c.a",
        "main .a, main .a.b",
        ".a:has(i)",
        "p:first-child",
        ":nth-child(2 of .a)",
    ];
    for doctype in ["<!DOCTYPE html>", ""] {
        let mut tree = Tree::new();
        tree.parse_document(&format!("{doctype}{BODY}")).unwrap();
        for (selector, id) in SELECTORS.iter().flat_map(|one| ["M", "s", "g", "p", "i"].map(|id| (one, id))) {
            let value = value_of(&tree, &format!("{selector} {{ top: 3px }}"), id, "top", false);
            let matches = tree.matches(tree.element_by_id_anywhere(id), &Selectors::parse(selector).unwrap());
            assert_eq!(value.is_some(), matches, "{selector} #{id} {doctype}");
        }
    }
}

#[test]
fn only_rules_that_an_element_can_meet_are_tried() {
    let mut tree = Tree::new();
    tree.parse_document("<p id=p class='a b'></p>").unwrap();
    let mut css: String =
        (0..1_000).map(|n| format!(".c{n}, .d{n} i.e, #f{n}, :where(.g{n}, :is(.b .h{n})) {{ top: 1px }}")).collect();
    css.push_str(".d .b { top: 2px } .b { top: 3px } .b::before { top: 4px } .z::before { top: 5px }");
    let document = tree.root(tree.element_by_id_anywhere("p"));
    let indexes = HashMap::from([(document, Index::of(&[Rc::new(Sheet::parse(&css))], &|_, _| true))]);
    let tries = Cell::new(0);
    let cascade = Cascade { tree: &tree, indexes: &indexes, tries: &tries };
    let id = tree.element_by_id_anywhere("p");
    assert_eq!(cascade.declared(id, "top", None).as_deref(), Some("3px"));
    assert_eq!(tries.get(), 3);
    assert_eq!(cascade.declared(id, "top", Some("before")).as_deref(), Some("4px"));
}

#[test]
fn rules_say_what_they_are() {
    for (css, expected) in [
        ("a,b>c{color:red}", "a, b > c { color: red; }"),
        ("a { }", "a { }"),
        ("@media screen{a{b:c}}", "@media screen {\n  a { b: c; }\n}"),
        ("@namespace x url(y); x|a {}", "@namespace x url(y);|x|a { }"),
        ("a { &:hover { b: c } }", "a {\n  &:hover { b: c; }\n}"),
        ("@font-face { font-family: x; }", "@font-face { font-family: x; }"),
        ("y|a {} b {}", "b { }"),
        ("a { b: c } d:nonsense { e: f }", "a { b: c; }"),
        ("@charset 'x'; a {}", "a { }"),
    ] {
        let sheet = Sheet::parse(css);
        let texts: Vec<String> = sheet.rules().borrow().iter().map(|rule| rule.text()).collect();
        assert_eq!(texts.join("|"), expected, "{css}");
    }
}

#[test]
fn rules_come_and_go_within_the_list_and_the_caps() {
    let sheet = Sheet::parse("a {}");
    assert_eq!(sheet.insert("b {} c {}", 0), Err(Error::Syntax));
    assert_eq!(sheet.insert("b {}", 2), Err(Error::IndexSize));
    sheet.insert("b {}", 0).unwrap();
    assert_eq!(sheet.delete(2), Err(Error::IndexSize));
    let before = sheet.changes();
    sheet.rules().borrow()[0].set_selector_text("d > e");
    assert_eq!(sheet.rules().borrow()[0].selector_text(), "d > e");
    sheet.rules().borrow()[0].set_selector_text("d >");
    assert_eq!(sheet.rules().borrow()[0].selector_text(), "d > e");
    assert!(sheet.changes() > before);
    let many = "a{}".repeat(limits::STYLE_RULES_MAX + 10);
    let sheet = Sheet::parse(&many);
    assert_eq!(sheet.rules().borrow().len(), limits::STYLE_RULES_MAX);
    assert_eq!(sheet.insert("b {}", 0), Err(Error::Full));
}

#[test]
fn rules_within_rules_end_at_the_cap() {
    let deep = "a { ".repeat(10_000);
    let sheet = Sheet::parse(&deep);
    let mut rule = sheet.rules().borrow().first().cloned();
    let mut depth = 0;
    while let Some(one) = rule {
        depth += 1;
        let inserted = one.insert("b { c { d {} } }", 0);
        assert!(inserted.is_ok() || depth + 3 > u32::from(limits::SELECTOR_NESTING_MAX), "{depth}: {inserted:?}");
        rule = one.rules().borrow().first().cloned();
        assert!(depth <= u32::from(limits::SELECTOR_NESTING_MAX) + 2, "rules nest without end");
    }
    assert!(depth > 5);
    assert!(sheet.rules().borrow()[0].text().len() < 1_000_000);
}

#[test]
fn declarations_keep_what_quotes_and_brackets_hold() {
    let list = parse("color: red; background: url(a;b.png) ; content: 'x;\\'y' !important; ; bad; color:blue");
    assert_eq!(text_of(&list), "color: blue; background: url(a;b.png); content: 'x;\\'y' !important;");
}

#[test]
fn colours_are_computed() {
    for (text, expected) in [
        ("red", Some("rgb(255, 0, 0)")),
        ("#0f0", Some("rgb(0, 255, 0)")),
        ("#00ff0080", Some("rgba(0, 255, 0, 0.502)")),
        ("rgb(1 2 3 / 50%)", Some("rgba(1, 2, 3, 0.5)")),
        ("RGBA(1, 2, 300, .5)", Some("rgba(1, 2, 255, 0.5)")),
        ("transparent", Some("rgba(0, 0, 0, 0)")),
        ("currentColor", Some("currentcolor")),
        ("hsl(1 2% 3%)", Some("hsl(1 2% 3%)")),
        ("1px", None),
        ("", None),
    ] {
        assert_eq!(colour(text).as_deref(), expected, "{text}");
    }
}

#[test]
fn a_length_has_a_unit_a_size_is_not_negative_and_keywords_are_known() {
    use super::value::takes;
    for (name, value) in [
        ("width", "10px"),
        ("width", "0"),
        ("width", "1e2px"),
        ("width", "auto"),
        ("width", "calc(1px + 2)"),
        ("margin", "-1em 0 auto 5%"),
        ("left", "-.5rem"),
        ("font-size", "x-large"),
        ("width", "inherit"),
        ("border-left-width", "thin"),
        ("border-image-width", "1"),
        ("line-height", "3"),
        ("opacity", "0.5"),
        ("height", "-webkit-fill-available"),
        ("position", "Absolute"),
        ("visibility", "inherit"),
    ] {
        assert!(takes(name, value), "{name}: {value}");
    }
    for (name, value) in [
        ("width", "10"),
        ("width", "-1px"),
        ("width", "NaNpx"),
        ("width", "10pxx"),
        ("margin", "1px 2"),
        ("top", "5"),
        ("padding-left", "-2px"),
        ("font-size", "12"),
        ("width", "undefined"),
        ("position", "fake value"),
        ("float", "middle"),
    ] {
        assert!(!takes(name, value), "{name}: {value}");
    }
}

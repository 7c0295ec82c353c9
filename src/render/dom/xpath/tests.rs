//! XPath 1.0 on small documents: results and errors.

use super::*;
use crate::dom::Tree;

const PAGE: &str = "<html><body><div id=a class='x y'><p>one</p><p>two <b>three</b></p></div>\
                    <ul><li>1</li><li>2</li><li>30</li></ul><a href=/t/1>t</a><!--c--></body></html>";

fn ask(text: &str) -> String {
    let mut tree = Tree::new();
    let document = tree.parse_document(PAGE).unwrap();
    let xpath = match XPath::parse(text) {
        Ok(xpath) => xpath,
        Err(error) => return error.to_string(),
    };
    match tree.evaluate(&xpath, &Item::of(document), &Prefixes::new()) {
        Ok(Value::Nodes(nodes)) => {
            let texts = nodes.iter().map(|item| Value::Nodes(vec![item.clone()]).to_text(&tree));
            texts.collect::<Vec<_>>().join("|")
        }
        Ok(value) => value.to_text(&tree),
        Err(error) => error.to_string(),
    }
}

#[test]
fn expressions_find_what_the_standard_says() {
    for (text, expected) in [
        ("//p", "one|two three"),
        ("//P", "one|two three"),
        ("/html/body/div/p[2]/b", "three"),
        ("//p[last()]", "two three"),
        ("(//li)[position() > 1]", "2|30"),
        ("//li[. > 1]", "2|30"),
        ("count(//li)", "3"),
        ("sum(//li) div 11", "3"),
        ("//a/@href", "/t/1"),
        ("//*[@id='a']/p[contains(., 'two')]", "two three"),
        ("//div[contains(concat(' ', normalize-space(@class), ' '), ' y ')]/p[1]", "one"),
        ("//b/ancestor::div/@id", "a"),
        ("//b/preceding::p", "one"),
        ("//li[2]/preceding-sibling::li | //li[3]", "1|30"),
        ("//li[1]/following-sibling::*[1]", "2"),
        ("//comment()", "c"),
        ("string(//p)", "one"),
        ("substring('12345', 1.5, 2.6)", "234"),
        ("substring-after('a=b', '=')", "b"),
        ("translate('bar', 'abc', 'AB')", "BAr"),
        ("1 + 2 * 3 - -4", "11"),
        ("7 mod 3", "1"),
        ("1 div 0", "Infinity"),
        ("'a' = 'a' and not(1 > 2)", "true"),
        ("//nothing = 1", "false"),
        ("id('a')/p[1]", "one"),
        ("name(//*[@class])", "div"),
        ("round(2.5)", "3"),
        ("number('x')", "NaN"),
        ("boolean(//li)", "true"),
        ("//p/text()[1]", "one|two "),
        ("descendant::p[1]", "one"),
    ] {
        assert_eq!(ask(text), expected, "{text}");
    }
}

#[test]
fn what_is_no_expression_is_refused() {
    for text in ["", "//", "p[", "foo()", "count()", "$x", "1 +", "a:", "@", "x y", "'open"] {
        assert_eq!(ask(text), XPathError::Syntax.to_string(), "{text}");
    }
    assert_eq!(ask("//x:y"), XPathError::Namespace.to_string());
    assert_eq!(ask(&"(".repeat(10_000)), XPathError::Syntax.to_string());
    assert_eq!(ask(&"1+".repeat(10_000)), XPathError::Syntax.to_string());
}

#[test]
fn work_is_bounded() {
    let mut tree = Tree::new();
    let document = tree.parse_document(&"<i></i>".repeat(3_000)).unwrap();
    let xpath = XPath::parse("//*[count(//*[count(//*) > 1]) > 1]").unwrap();
    let answer = tree.evaluate(&xpath, &Item::of(document), &Prefixes::new());
    assert_eq!(answer, Err(XPathError::Work));
}

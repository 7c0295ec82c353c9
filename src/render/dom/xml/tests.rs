//! XML parsing: well-formed documents, errors, bounded entities.

use super::super::NodeKind;
use super::*;

fn parse(text: &str) -> (Tree, NodeId, bool) {
    let mut tree = Tree::new();
    let document = tree.parse_xml_document(text, "text/xml").unwrap();
    let root = tree.document_element(document).and_then(|root| tree.element(root)).unwrap();
    let is_whole = &*root.name().local != "parsererror";
    (tree, document, is_whole)
}

#[test]
fn what_is_well_formed_comes_back_as_it_was() {
    for text in [
        "<a/>",
        "<!DOCTYPE a PUBLIC \"p\" \"s\"><a b=\"c\">t<b>u</b><!--x--><?p q?></a>",
        "<a xmlns=\"urn:a\" xmlns:b=\"urn:b\"><b:c b:d=\"e\"/><f xmlns=\"\"/></a>",
        "<a><![CDATA[<x>]]></a>",
    ] {
        let (tree, document, is_whole) = parse(text);
        assert!(is_whole, "{text}");
        assert_eq!(tree.to_xml(document), text);
    }
}

#[test]
fn what_is_not_well_formed_becomes_a_parser_error() {
    for text in [
        "",
        "x",
        "<a>",
        "<a></b>",
        "<a/><b/>",
        "<a/>x",
        "<a b=c/>",
        "<a b='1' b='2'/>",
        "<a b='<'/>",
        "<a>&nope;</a>",
        "<a>&</a>",
        "<p:a/>",
        "<a p:b=''/>",
        "<a xmlns:p=''/>",
        "<a xmlns:p='u' xmlns:q='u' p:x='' q:x=''/>",
        "<a>]]></a>",
        "<1/>",
        "<a:b:c/>",
        "<a>\u{1}</a>",
        "<a>&#1;</a>",
        "<a/><?xml version='1.0'?>",
        "<!DOCTYPE><a/>",
        "<a><!-- -- --></a>",
        "</a>",
    ] {
        assert!(!parse(text).2, "{text}");
    }
}

#[test]
fn references_become_text_and_never_more_than_the_document_may_hold() {
    let (tree, document, is_whole) =
        parse("<!DOCTYPE a [<!ENTITY e \"tree\"><!ENTITY n \"&e;\">]>\n<a b='&e;&#10;&lt;'>1&e;&amp;&#x41;2</a>");
    assert!(is_whole);
    let root = tree.document_element(document).unwrap();
    assert_eq!(tree.text_content(root).as_deref(), Some("1tree&A2"));
    assert_eq!(tree.attribute_by_name(root, "b").unwrap().value, "tree\n<");
    assert_eq!(tree.children(root).count(), 1);
    assert!(!parse("<!DOCTYPE a [<!ENTITY e \"tree\"><!ENTITY n \"&e;\">]><a>&n;</a>").2);
    let long = "x".repeat(1 << 16);
    let bomb = format!("<!DOCTYPE a [<!ENTITY e \"{long}\">]><a>{}</a>", "&e;".repeat(2_000));
    assert_eq!(Tree::new().parse_xml_document(&bomb, "text/xml"), Err(Error::Full));
}

#[test]
fn templates_hold_their_contents_aside() {
    let (tree, document, _) = parse("<template xmlns='http://www.w3.org/1999/xhtml'><p/></template>");
    let template = tree.document_element(document).unwrap();
    assert_eq!(tree.first_child(template), None);
    let contents = tree.element(template).unwrap().template_contents().unwrap();
    assert_eq!(tree.kind(tree.first_child(contents).unwrap()), NodeKind::Element);
}

fn round(text: &str) -> String {
    let mut tree = Tree::new();
    let document = tree.parse_xml_document(text, "application/xml").unwrap();
    tree.to_xml(document)
}

#[test]
fn names_and_references_come_back_as_they_were() {
    for text in [
        "<a/>",
        "<a b=\"c\">d<e/>f</a>",
        "<!--x--><a xmlns=\"urn:a\" xmlns:p=\"urn:p\"><p:b p:c=\"d\"/></a>",
        "<a><![CDATA[<b>]]></a>",
        "<?go on?><a/>",
        "<!DOCTYPE a PUBLIC \"p\" \"s\"><a/>",
    ] {
        assert_eq!(round(text), text);
    }
    assert_eq!(
        round("<!DOCTYPE a [<!ENTITY e 'x&#65;'>]><a b='&e;'>&e;&amp;</a>"),
        "<!DOCTYPE a><a b=\"xA\">xA&amp;</a>"
    );
}

#[test]
fn what_is_not_well_formed_is_told_in_a_document_of_its_own() {
    for text in [
        "",
        "a",
        "<a>",
        "<a></b>",
        "<a/><b/>",
        "<a b='1' b='2'/>",
        "<p:a/>",
        "<a>&x;</a>",
        "<a b=c/>",
        "<a><b></a></b>",
        "<a>]]></a>",
        "<1/>",
        "</a>",
        "<a/>x",
        "<a\0/>",
        "<!DOCTYPE a><!DOCTYPE a><a/>",
        "<a b='<'/>",
    ] {
        assert!(round(text).starts_with("<parsererror"), "{text}");
    }
}

#[test]
fn a_fragment_knows_the_namespaces_around_it() {
    let mut tree = Tree::new();
    let document = tree.parse_xml_document("<a xmlns='urn:a' xmlns:p='urn:p'/>", "text/xml").unwrap();
    let root = tree.document_element(document).unwrap();
    let fragment = tree.parse_xml_fragment(root, "x<p:b/><c/>").unwrap();
    let names: Vec<String> =
        tree.child_elements(fragment).map(|id| tree.element(id).unwrap().name().ns.to_string()).collect();
    assert_eq!(names, ["urn:p", "urn:a"]);
    assert_eq!(tree.parse_xml_fragment(root, "<b>").unwrap_err(), Error::Syntax);
}

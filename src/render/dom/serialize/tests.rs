//! Markup in, markup out, as tables.

use html5ever::{LocalName, QualName, ns};

use super::super::{HtmlOptions, NodeId, Tree, validate_and_extract};

fn fragment_of(markup: &str) -> (Tree, NodeId) {
    let mut tree = Tree::new();
    let document = tree.create_document(true).unwrap();
    let name = QualName::new(None, ns!(html), LocalName::from("div"));
    let context = tree.create_element(document, name, Vec::new()).unwrap();
    let fragment = tree.parse_fragment(context, markup).unwrap();
    (tree, fragment)
}

#[test]
fn fragments_come_back_as_the_standard_writes_them() {
    for (markup, expected) in [
        ("<p>a<br>b", "<p>a<br>b</p>"),
        ("<a HREF='x&amp;y' title='\"<>&nbsp;'>t</a>", "<a href=\"x&amp;y\" title=\"&quot;&lt;&gt;&nbsp;\">t</a>"),
        ("a &lt; b &amp;&amp; c > d \"q\"\u{A0}", "a &lt; b &amp;&amp; c &gt; d \"q\"&nbsp;"),
        ("<script>a < b && c</script>", "<script>a < b && c</script>"),
        ("<style>a > b</style>", "<style>a > b</style>"),
        ("<textarea>a < b</textarea>", "<textarea>a &lt; b</textarea>"),
        ("<template><p>x</template>y", "<template><p>x</p></template>y"),
        ("<pre>\n\nx</pre>", "<pre>\nx</pre>"),
        ("<!-- c --><?php x ?>", "<!-- c --><!--?php x ?-->"),
        (
            "<svg viewbox=1 xlink:href=#a><circle/></svg>",
            "<svg viewBox=\"1\" xlink:href=\"#a\"><circle></circle></svg>",
        ),
        ("<noscript><p>x</noscript>", "<noscript><p>x</p></noscript>"),
        ("<b><p>x</b>y</p>", "<b></b><p><b>x</b>y</p>"),
        ("<table><a href=1>x</a><tr><td>y", "<a href=\"1\">x</a><table><tbody><tr><td>y</td></tr></tbody></table>"),
    ] {
        let (tree, fragment) = fragment_of(markup);
        assert_eq!(tree.inner_html(fragment), expected, "{markup}");
    }
}

#[test]
fn void_elements_hide_the_children_that_scripts_gave_them() {
    let (mut tree, fragment) = fragment_of("<br>");
    let br = tree.first_child(fragment).unwrap();
    let text = tree.create_text(tree.document_of(br), "x".into()).unwrap();
    tree.append(br, text).unwrap();
    assert_eq!(tree.outer_html(br), "<br>");
    assert_eq!(tree.inner_html(br), "");
}

#[test]
fn shadow_roots_are_written_only_when_asked_for() {
    let mut tree = Tree::new();
    let markup = "<div><template shadowrootmode=open shadowrootserializable><p>s</p></template>light</div>";
    let document = tree.parse_document(&format!("<body>{markup}")).unwrap();
    let body = tree.last_child(tree.document_element(document).unwrap()).unwrap();
    assert_eq!(tree.inner_html(body), "<div>light</div>");
    let options = HtmlOptions { serializable_shadow_roots: true, ..HtmlOptions::default() };
    let expected = "<div><template shadowrootmode=\"open\" shadowrootserializable=\"\"><p>s</p></template>light</div>";
    assert_eq!(tree.html_with(body, &options), expected);
}

#[test]
fn deep_trees_of_scripts_are_written_without_recursion() {
    let (mut tree, fragment) = fragment_of("<i></i>");
    let mut at = tree.first_child(fragment).unwrap();
    for _ in 0..100_000 {
        let name = tree.element(at).unwrap().name().clone();
        let child = tree.create_element(tree.document_of(at), name, Vec::new()).unwrap();
        // The validity check walks up to the root; this test measures only the way down.
        tree.insert(at, child, None);
        at = child;
    }
    assert_eq!(tree.inner_html(fragment).len(), 100_001 * "<i></i>".len());
    let copy = tree.clone_node(fragment, None, true).unwrap();
    assert!(tree.is_equal(fragment, copy));
    assert_eq!(tree.sweep([]), tree.places());
}

#[test]
fn xml_declares_the_namespaces_that_names_need() {
    for (markup, expected) in [
        ("<p>a<br>b</p>", "<p xmlns=\"http://www.w3.org/1999/xhtml\">a<br />b</p>"),
        ("<p></p>", "<p xmlns=\"http://www.w3.org/1999/xhtml\"></p>"),
        (
            "<svg xlink:href='#a'><g/></svg>",
            "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" xlink:href=\"#a\"><g/></svg>",
        ),
        (
            "<p title='a\"\n<'>&amp;</p>",
            "<p xmlns=\"http://www.w3.org/1999/xhtml\" title=\"a&quot;&#10;&lt;\">&amp;</p>",
        ),
    ] {
        let (tree, fragment) = fragment_of(markup);
        assert_eq!(tree.to_xml(fragment), expected, "{markup}");
    }
    let mut tree = Tree::new();
    let document = tree.create_document(false).unwrap();
    let root = validate_and_extract(None, "root", false).unwrap();
    let root = tree.create_element(document, root, Vec::new()).unwrap();
    let child =
        tree.create_element(document, validate_and_extract(Some("urn:a"), "p:x", false).unwrap(), vec![]).unwrap();
    tree.append(root, child).unwrap();
    tree.set_attribute_ns(child, validate_and_extract(Some("urn:b"), "y", true).unwrap(), "1").unwrap();
    assert_eq!(tree.to_xml(root), "<root><p:x xmlns:p=\"urn:a\" xmlns:ns1=\"urn:b\" ns1:y=\"1\"/></root>");
}

//! Documents in pieces, with scripts in between, and nested too deep.

use html5ever::interface::QuirksMode;
use html5ever::{LocalName, QualName, ns};

use super::*;

fn parse(markup: &str) -> (Tree, NodeId) {
    let mut tree = Tree::new();
    let document = tree.parse_document(markup).unwrap();
    (tree, document)
}

fn html_element(tree: &mut Tree, document: NodeId, local: &str) -> NodeId {
    tree.create_element(document, QualName::new(None, ns!(html), LocalName::from(local)), Vec::new()).unwrap()
}

fn scripted(tree: &mut Tree) -> (NodeId, Parser) {
    let document = tree.create_document(true).unwrap();
    tree.document_data_mut(document).unwrap().scripting = true;
    let parser = Parser::new(tree, document);
    (document, parser)
}

fn script_text(tree: &Tree, step: Result<Step, Error>) -> String {
    match step {
        Ok(Step::Script(script)) => tree.child_text(script),
        other => panic!("no script: {other:?}"),
    }
}

#[test]
fn the_doctype_decides_the_quirks_mode() {
    for (markup, expected) in [
        ("<!DOCTYPE html><p>", QuirksMode::NoQuirks),
        ("<p>", QuirksMode::Quirks),
        ("<!DOCTYPE HTML PUBLIC '-//W3C//DTD HTML 4.01 Transitional//EN' 'x'><p>", QuirksMode::LimitedQuirks),
    ] {
        let (tree, document) = parse(markup);
        assert_eq!(tree.document_data(document).unwrap().quirks, expected, "{markup}");
    }
}

#[test]
fn fragments_are_read_as_their_context_says() {
    for (context, markup, expected) in [
        ("div", "<tr><td>x", "x"),
        ("table", "<tr><td>x", "<tbody><tr><td>x</td></tr></tbody>"),
        ("tbody", "<tr><td>x", "<tr><td>x</td></tr>"),
        ("tr", "<td>x<td>y", "<td>x</td><td>y</td>"),
        ("select", "<option>a<option>b", "<option>a</option><option>b</option>"),
        ("title", "<b>x", "&lt;b&gt;x"),
        ("textarea", "<b>x", "&lt;b&gt;x"),
        ("script", "<b>x", "<b>x"),
        ("template", "<td>x", "<td>x</td>"),
        ("html", "<body><p>x", "<head></head><body><p>x</p></body>"),
        ("body", "\u{FEFF}x", "\u{FEFF}x"),
        ("colgroup", "<col><p>", "<col>"),
    ] {
        let mut tree = Tree::new();
        let document = tree.create_document(true).unwrap();
        let context_element = html_element(&mut tree, document, context);
        let fragment = tree.parse_fragment(context_element, markup).unwrap();
        let target = html_element(&mut tree, document, context);
        let target = tree.element(target).unwrap().template_contents().unwrap_or(target);
        tree.append(target, fragment).unwrap();
        let host = tree.fragment(target).and_then(|fragment| fragment.host()).unwrap_or(target);
        assert_eq!(tree.inner_html(host), expected, "{context}: {markup}");
    }
}

#[test]
fn scripts_of_fragments_never_start() {
    let mut tree = Tree::new();
    let document = tree.create_document(true).unwrap();
    let div = html_element(&mut tree, document, "div");
    let fragment = tree.parse_fragment(div, "<script>1</script>").unwrap();
    let script = tree.first_child(fragment).unwrap();
    let state = &tree.element(script).unwrap().state;
    assert!(state.already_started && !state.parser_inserted);
    assert_eq!(tree.document_of(script), document);
}

#[test]
fn a_fragment_leaves_nothing_behind() {
    let mut tree = Tree::new();
    let document = tree.create_document(true).unwrap();
    let div = html_element(&mut tree, document, "div");
    tree.parse_fragment(div, "").unwrap();
    assert_eq!(tree.len(), 3, "the document, the context, the empty fragment");
}

#[test]
fn the_parser_stops_at_each_script_and_goes_on() {
    let mut tree = Tree::new();
    let (document, mut parser) = scripted(&mut tree);
    let step = parser.feed(&mut tree, "<p>a<script>1</script><p>b<script>2</scr");
    assert_eq!(script_text(&tree, step), "1");
    let body = tree.last_child(tree.document_element(document).unwrap()).unwrap();
    assert_eq!(tree.inner_html(body), "<p>a<script>1</script></p>");
    assert_eq!(parser.feed(&mut tree, ""), Ok(Step::Done));
    let step = parser.feed(&mut tree, "ipt>c");
    assert_eq!(script_text(&tree, step), "2");
    assert_eq!(parser.feed(&mut tree, ""), Ok(Step::Done));
    parser.finish(&mut tree).unwrap();
    assert!(parser.is_finished());
    assert_eq!(tree.inner_html(body), "<p>a<script>1</script></p><p>b<script>2</script>c</p>");
}

#[test]
fn what_a_script_writes_is_read_at_once_and_before_the_rest() {
    let mut tree = Tree::new();
    let (document, mut parser) = scripted(&mut tree);
    let step = parser.feed(&mut tree, "<body><script>1</script><i>rest</i>");
    assert_eq!(script_text(&tree, step), "1");
    let body = tree.last_child(tree.document_element(document).unwrap()).unwrap();
    // An incomplete tag is held until the next write completes it.
    assert_eq!(parser.write(&mut tree, "<b>w</b><u tit"), Ok(Step::Done));
    let step = parser.write(&mut tree, "le=x>v<script>2</script>after");
    assert_eq!(script_text(&tree, step), "2");
    // The written script itself calls `write`: its text comes before what follows it.
    assert_eq!(parser.write(&mut tree, "inner"), Ok(Step::Done));
    assert_eq!(parser.resume_write(&mut tree), Ok(Step::Done));
    let before = "<script>1</script><b>w</b><u title=\"x\">v<script>2</script>innerafter";
    assert_eq!(tree.inner_html(body), format!("{before}</u>"));
    assert_eq!(parser.feed(&mut tree, ""), Ok(Step::Done));
    parser.finish(&mut tree).unwrap();
    assert_eq!(tree.inner_html(body), format!("{before}<i>rest</i></u>"));
}

#[test]
fn a_write_that_is_left_is_read_before_the_rest() {
    let mut tree = Tree::new();
    let (document, mut parser) = scripted(&mut tree);
    let step = parser.feed(&mut tree, "<body><script>1</script>rest");
    assert_eq!(script_text(&tree, step), "1");
    let step = parser.write(&mut tree, "<script src=a></script>after");
    assert_eq!(script_text(&tree, step), "");
    assert_eq!(parser.feed(&mut tree, ""), Ok(Step::Done));
    parser.finish(&mut tree).unwrap();
    let body = tree.last_child(tree.document_element(document).unwrap()).unwrap();
    assert_eq!(tree.inner_html(body), "<script>1</script><script src=\"a\"></script>afterrest");
}

#[test]
fn a_script_may_take_the_tree_apart_under_the_parser() {
    let mut tree = Tree::new();
    let (document, mut parser) = scripted(&mut tree);
    let step = parser.feed(&mut tree, "<body><table><tr><td><b><script>1</script>x</b>y<a href=z>z</a>");
    assert_eq!(script_text(&tree, step), "1");
    let html = tree.document_element(document).unwrap();
    tree.replace_all(document, None);
    let swept = tree.sweep(parser.roots());
    assert_eq!(swept, 0, "the parser holds the document, and by its open elements the rest");
    assert_eq!(parser.feed(&mut tree, "<p>more</table>end"), Ok(Step::Done));
    parser.finish(&mut tree).unwrap();
    assert!(tree.outer_html(html).contains("<a href=\"z\">z</a>"));
    assert_eq!(tree.inner_html(document), "");
}

#[test]
fn noscript_holds_text_where_scripts_run() {
    let mut tree = Tree::new();
    let (document, mut parser) = scripted(&mut tree);
    parser.feed(&mut tree, "<body><noscript><a href=x>y</a></noscript>").unwrap();
    parser.finish(&mut tree).unwrap();
    assert!(tree.descendants(document).all(|id| tree.tag_name(id).as_deref() != Some("A")));
    let (tree, document) = parse("<body><noscript><a href=x>y</a></noscript>");
    assert!(tree.descendants(document).any(|id| tree.tag_name(id).as_deref() == Some("A")));
}

#[test]
fn template_contents_belong_to_a_document_of_their_own() {
    let (tree, document) = parse("<template><p>x</p><template>y</template></template>");
    let head = tree.first_child(tree.document_element(document).unwrap()).unwrap();
    let template = tree.first_child(head).unwrap();
    let contents = tree.element(template).unwrap().template_contents().unwrap();
    assert_eq!(tree.first_child(template), None);
    let inert = tree.document_of(contents);
    assert_ne!(inert, document);
    assert!(tree.descendants(contents).all(|id| tree.document_of(id) == inert));
    assert!(!tree.is_connected(tree.first_child(contents).unwrap()));
    assert_eq!(tree.fragment(contents).unwrap().host(), Some(template));
}

#[test]
fn a_form_owns_the_controls_that_the_parser_saw_in_it() {
    let (tree, document) = parse("<table><form id=f><tr><td><input id=i></table><input id=j>");
    let by_id = |id| tree.element_by_id(document, id);
    assert_eq!(tree.form_owner(by_id("i").unwrap()), by_id("f"), "the form is not above it in the tree");
    assert_eq!(tree.form_owner(by_id("j").unwrap()), by_id("f"), "the form was never closed");
}

fn depth(tree: &Tree, root: NodeId) -> usize {
    let mut deepest = 0;
    let (mut at, mut now) = (root, 0_usize);
    loop {
        if let Some(child) = tree.first_child(at) {
            (at, now) = (child, now + 1);
            deepest = deepest.max(now);
            continue;
        }
        while at != root && tree.next_sibling(at).is_none() {
            at = tree.parent(at).unwrap();
            now -= 1;
        }
        if at == root {
            return deepest;
        }
        at = tree.next_sibling(at).unwrap();
    }
}

/// The builder's own count of its work.
fn steps(markup: &str) -> (u64, Tree, NodeId) {
    let mut tree = Tree::new();
    let document = tree.create_document(true).unwrap();
    let mut parser = Parser::new(&mut tree, document);
    let mut step = parser.feed(&mut tree, markup).unwrap();
    while let Step::Script(_) = step {
        step = parser.feed(&mut tree, "").unwrap();
    }
    parser.finish(&mut tree).unwrap();
    (parser.sink().steps(), tree, document)
}

#[test]
fn nesting_costs_no_more_than_its_length_and_stops_at_the_cap() {
    for tag in [
        "<div>",
        "<b>",
        "<a href=x>",
        "<i><p>",
        "<svg><g>",
        "<svg><input>",
        "<svg><title>",
        "<table><tr><td>",
        "<table>",
        "<ul><li>",
        "<font size=1><font size=2>",
        "<button>",
        "<form>",
        "<select>",
        "<template>",
        "<x-y>",
        "<p><b><div>",
        "<object><param>",
        "<math><mi>",
        "<tr>",
        "</p>",
        "<nobr>",
        "<svg><script>",
        "<h1>",
        "<div></p>",
        "<dl><dd>",
        "<applet>",
        "<ruby><rt>",
    ] {
        let work = |tags: usize| {
            let (steps, tree, document) = steps(&tag.repeat(tags));
            let limit = 2 * limits_depth() + 8;
            assert!(depth(&tree, document) <= limit, "{tag}: {}", depth(&tree, document));
            steps
        };
        let (once, twice) = (work(1_500), work(3_000));
        assert!(twice <= once * 3 + 100_000, "{tag}: {once} then {twice} steps");
    }
}

fn limits_depth() -> usize {
    crate::limits::DOM_PARSED_DEPTH_MAX
}

#[test]
fn long_nesting_is_read_in_steps_that_its_length_bounds() {
    let (steps, tree, document) = steps(&"<div>".repeat(20_000));
    assert!(tree.len() > 20_000);
    assert!(depth(&tree, document) <= limits_depth() + 2);
    assert!(steps < 20_000 * 4_000, "{steps}");
}

#[test]
fn beyond_the_cap_links_keep_their_texts_and_what_follows_keeps_its_place() {
    let open = "<div>".repeat(600);
    let close = "</div>".repeat(600);
    let (tree, document) = parse(&format!("<body>{open}<a href=x>one</a>|<a href=y>two</a>{close}<p id=after>z"));
    let links: Vec<String> = tree
        .descendants(document)
        .filter(|id| tree.tag_name(*id).as_deref() == Some("A"))
        .filter_map(|id| tree.text_content(id))
        .collect();
    assert_eq!(links, ["one", "two"]);
    let after = tree.element_by_id(document, "after").unwrap();
    assert_eq!(tree.tag_name(tree.parent(after).unwrap()).as_deref(), Some("BODY"));
}

#[test]
fn a_full_document_ends_the_parse() {
    let markup = "<i></i>".repeat(crate::limits::DOM_NODES_MAX + 100_000);
    let mut tree = Tree::new();
    assert_eq!(tree.parse_document(&markup), Err(Error::Full));
    assert!(tree.len() <= crate::limits::DOM_NODES_MAX + 2);
    tree.sweep([]);
    assert!(tree.is_empty());
}

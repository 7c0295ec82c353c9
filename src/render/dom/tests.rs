//! Mutations as tables, and random ones against a naive model.

mod model;

use html5ever::{LocalName, QualName, ns};

use super::*;

fn name(local: &str) -> QualName {
    QualName::new(None, ns!(html), LocalName::from(local))
}

fn element(tree: &mut Tree, document: NodeId, local: &str) -> NodeId {
    tree.create_element(document, name(local), Vec::new()).unwrap()
}

fn text(tree: &mut Tree, document: NodeId, data: &str) -> NodeId {
    tree.create_text(document, data.into()).unwrap()
}

fn children(tree: &Tree, parent: NodeId) -> Vec<NodeId> {
    let forward: Vec<NodeId> = tree.children(parent).collect();
    let mut backward: Vec<NodeId> = tree.children(parent).rev().collect();
    backward.reverse();
    assert_eq!(forward, backward);
    forward
}

#[test]
fn what_cannot_stand_there_is_refused_with_the_standards_reason() {
    let mut tree = Tree::new();
    let document = tree.create_document(true).unwrap();
    let other = tree.create_document(true).unwrap();
    let (html, div, p) =
        (element(&mut tree, document, "html"), element(&mut tree, document, "div"), element(&mut tree, document, "p"));
    let hello = text(&mut tree, document, "x");
    let comment = tree.create_comment(document, "c".into()).unwrap();
    let doctype = tree.create_doctype(document, "html", "", "").unwrap();
    let second = tree.create_doctype(document, "html", "", "").unwrap();
    let (two, one, texts) = (
        tree.create_fragment(document).unwrap(),
        tree.create_fragment(document).unwrap(),
        tree.create_fragment(document).unwrap(),
    );
    for (fragment, local) in [(two, "a"), (two, "b"), (one, "a")] {
        let child = element(&mut tree, document, local);
        tree.append(fragment, child).unwrap();
    }
    let in_fragment = text(&mut tree, document, "x");
    tree.append(texts, in_fragment).unwrap();
    tree.append(document, comment).unwrap();
    tree.append(document, html).unwrap();
    tree.append(html, div).unwrap();
    tree.append(div, p).unwrap();

    use Error::{HierarchyRequest, NotFound};
    for (parent, node, child, expected) in [
        (hello, p, None, HierarchyRequest),
        (doctype, p, None, HierarchyRequest),
        (p, div, None, HierarchyRequest),
        (p, p, None, HierarchyRequest),
        (p, html, Some(comment), HierarchyRequest),
        (div, hello, Some(html), NotFound),
        (div, hello, Some(hello), NotFound),
        (div, doctype, None, HierarchyRequest),
        (div, other, None, HierarchyRequest),
        (document, hello, None, HierarchyRequest),
        (document, p, None, HierarchyRequest),
        (document, two, None, HierarchyRequest),
        (document, one, None, HierarchyRequest),
        (document, texts, None, HierarchyRequest),
        (document, doctype, None, HierarchyRequest),
    ] {
        assert_eq!(tree.insert_before(parent, node, child), Err(expected), "{parent:?} {node:?} {child:?}");
    }
    tree.insert_before(document, doctype, Some(comment)).unwrap();
    assert_eq!(tree.insert_before(document, second, Some(comment)), Err(HierarchyRequest), "one doctype");
    assert_eq!(tree.replace(document, second, doctype), Ok(doctype), "in place of the other it can stand");
    assert_eq!(tree.replace(document, doctype, html), Err(HierarchyRequest));
    assert_eq!(tree.replace(document, two, html), Err(HierarchyRequest));
    assert_eq!(tree.replace(document, texts, html), Err(HierarchyRequest));
    assert_eq!(tree.replace(document, div, p), Err(NotFound));
    tree.replace(document, one, html).unwrap();
    assert_eq!(children(&tree, document).len(), 3);
    tree.remove(children(&tree, document)[2]);
    let p = element(&mut tree, document, "p");
    assert_eq!(tree.insert_before(document, p, Some(second)), Err(HierarchyRequest), "a doctype follows");
    assert_eq!(tree.insert_before(document, p, Some(comment)), Ok(p));
    assert_eq!(tree.remove_child(div, comment), Err(NotFound));
    assert_eq!(tree.adopt(document, other), Err(Error::NotSupported));
}

#[test]
fn a_host_cannot_go_into_its_own_contents() {
    let mut tree = Tree::new();
    let document = tree.create_document(true).unwrap();
    let template = element(&mut tree, document, "template");
    let contents = tree.element(template).unwrap().template_contents().unwrap();
    let host = element(&mut tree, document, "div");
    let root = tree.attach_shadow(host, ShadowRoot::default()).unwrap();
    assert_eq!(tree.append(contents, template), Err(Error::HierarchyRequest));
    assert_eq!(tree.append(root, host), Err(Error::HierarchyRequest));
    assert_eq!(tree.attach_shadow(host, ShadowRoot::default()), Err(Error::NotSupported));
    let (a, x) = (element(&mut tree, document, "a"), element(&mut tree, document, "x-a"));
    assert_eq!(tree.attach_shadow(a, ShadowRoot::default()), Err(Error::NotSupported));
    assert!(tree.attach_shadow(x, ShadowRoot::default()).is_ok());
    assert_eq!(tree.adopt(root, document), Err(Error::HierarchyRequest));
    assert_eq!(tree.clone_node(root, None, true), Err(Error::NotSupported));
    tree.append(document, host).unwrap();
    assert!(tree.is_connected(root) && tree.is_connected(host));
    assert_eq!((tree.root(root), tree.shadow_including_root(root)), (root, document));
}

#[test]
fn each_mutation_writes_the_record_that_observers_expect() {
    let mut tree = Tree::new();
    let document = tree.create_document(true).unwrap();
    let parent = element(&mut tree, document, "div");
    let (a, b, c) = (text(&mut tree, document, "a"), text(&mut tree, document, "b"), text(&mut tree, document, "c"));
    tree.append(parent, a).unwrap();
    tree.append(parent, b).unwrap();
    let before = tree.generation();
    assert_eq!(tree.take_log(), [], "nobody asked for the log yet");
    tree.keep_log(true);
    let record = |added: &[NodeId], removed: &[NodeId], previous, next| Mutation::Children {
        target: parent,
        added: added.to_vec(),
        removed: removed.to_vec(),
        previous,
        next,
    };

    tree.insert_before(parent, c, Some(b)).unwrap();
    assert_eq!(tree.take_log(), [record(&[c], &[], Some(a), Some(b))]);
    tree.append(parent, a).unwrap();
    assert_eq!(tree.take_log(), [record(&[], &[a], None, Some(c)), record(&[a], &[], Some(b), None)]);
    tree.insert_before(parent, b, Some(b)).unwrap();
    assert_eq!(tree.take_log(), [record(&[], &[b], Some(c), Some(a)), record(&[b], &[], Some(c), Some(a))]);
    tree.remove_child(parent, b).unwrap();
    assert_eq!(tree.take_log(), [record(&[], &[b], Some(c), Some(a))]);
    tree.replace(parent, b, c).unwrap();
    assert_eq!(tree.take_log(), [record(&[b], &[c], None, Some(a))]);
    tree.set_text_content(parent, "").unwrap();
    assert_eq!(tree.take_log(), [record(&[], &[b, a], None, None)]);
    tree.set_text_content(parent, "").unwrap();
    assert_eq!(tree.take_log(), [], "nothing was there and nothing came");

    let fragment = tree.create_fragment(document).unwrap();
    for node in [a, b] {
        tree.append(fragment, node).unwrap();
    }
    tree.take_log();
    tree.append(parent, fragment).unwrap();
    let emptied =
        Mutation::Children { target: fragment, added: vec![], removed: vec![a, b], previous: None, next: None };
    assert_eq!(tree.take_log(), [emptied, record(&[a, b], &[], None, None)]);
    assert_eq!(children(&tree, fragment), []);

    tree.replace_data(a, 1, 9, "é").unwrap();
    assert_eq!(tree.take_log(), [Mutation::Text { target: a, old: "a".into(), offset: 1, removed: 0, added: 1 }]);
    tree.set_attribute(parent, "Title", "x").unwrap();
    tree.set_attribute(parent, "title", "y").unwrap();
    tree.remove_attribute(parent, "TITLE");
    tree.remove_attribute(parent, "title");
    let values: Vec<_> = tree
        .take_log()
        .into_iter()
        .map(|record| match record {
            Mutation::Attribute { target, local, old, new, .. } if target == parent && &*local == "title" => (old, new),
            other => panic!("{other:?}"),
        })
        .collect();
    let own = |value: &str| Some(value.to_owned());
    assert_eq!(values, [(None, own("x")), (own("x"), own("y")), (own("y"), None)]);
    assert!(tree.generation() > before);
}

#[test]
fn adopting_moves_the_whole_subtree_with_its_shadows_and_templates() {
    let mut tree = Tree::new();
    let (from, to) = (tree.create_document(true).unwrap(), tree.create_document(true).unwrap());
    let host = element(&mut tree, from, "div");
    let root = tree.attach_shadow(host, ShadowRoot::default()).unwrap();
    let template = element(&mut tree, from, "template");
    let contents = tree.element(template).unwrap().template_contents().unwrap();
    let inner = element(&mut tree, from, "p");
    tree.append(contents, inner).unwrap();
    tree.append(root, template).unwrap();
    assert_ne!(tree.document_of(inner), from);
    tree.keep_log(true);
    tree.append(to, host).unwrap();
    assert!([host, root, template].into_iter().all(|id| tree.document_of(id) == to));
    assert!(![from, to].contains(&tree.document_of(inner)));
    assert_eq!(tree.document_of(inner), tree.document_of(contents));
    let adopted = Mutation::Adopted { node: host, from: Some(from), to };
    assert!(tree.take_log().contains(&adopted));
}

#[test]
fn copies_equal_their_originals_and_share_nothing_with_them() {
    let mut tree = Tree::new();
    let markup = "<!DOCTYPE html><body class=a><div id=h><template shadowrootmode=open shadowrootclonable><i>s</i></template></div>\
        <template><b>t</b></template><!-- c --><svg><g/></svg><input checked><p>x<b>y</b>z";
    let document = tree.parse_document(markup).unwrap();
    let copy = tree.clone_node(document, None, true).unwrap();
    assert!(tree.is_equal(document, copy));
    assert_eq!(tree.outer_html(document), tree.outer_html(copy));
    let nodes = |root| tree.descendants(root).collect::<Vec<_>>();
    assert!(nodes(copy).iter().all(|id| tree.document_of(*id) == copy));
    assert!(nodes(copy).iter().all(|id| !nodes(document).contains(id)));
    let host = tree.query_selector(copy, &Selectors::parse("#h").unwrap()).unwrap();
    let shadow = tree.element(host).unwrap().shadow_root().unwrap();
    assert_eq!(tree.inner_html(shadow), "<i>s</i>");
    let body = tree.last_child(tree.document_element(copy).unwrap()).unwrap();
    let shallow = tree.clone_node(body, None, false).unwrap();
    assert_eq!(tree.outer_html(shallow), "<body class=\"a\"></body>");
    assert!(!tree.is_equal(body, shallow));
    let p = tree.query_selector(copy, &Selectors::parse("p").unwrap()).unwrap();
    tree.set_text_content(p, "other").unwrap();
    assert!(!tree.is_equal(document, copy));
    assert_eq!(tree.clone_node(document, Some(copy), true), Err(Error::NotSupported));
}

#[test]
fn equality_sees_the_shape_and_not_only_the_order() {
    let mut tree = Tree::new();
    let document = tree.create_document(true).unwrap();
    let context = element(&mut tree, document, "div");
    let mut parse = |markup| tree.parse_fragment(context, markup).unwrap();
    let (nested, flat) = (parse("<i><b></b></i><u></u>"), parse("<i><b></b><u></u></i>"));
    let (one, same) = (parse("<i a=1 b=2>x</i>"), parse("<i b=2 a=1>x</i>"));
    assert!(!tree.is_equal(nested, flat) && !tree.is_equal(flat, nested));
    assert!(tree.is_equal(one, same) && tree.is_equal(nested, nested));
}

#[test]
fn offsets_are_utf16_units() {
    let mut tree = Tree::new();
    let document = tree.create_document(true).unwrap();
    let node = text(&mut tree, document, "aé😀z");
    for (offset, count, expected) in [
        (0, 1, Ok("a")),
        (1, 1, Ok("é")),
        (2, 2, Ok("😀")),
        (2, 1, Ok("\u{FFFD}")),
        (3, 9, Ok("\u{FFFD}z")),
        (5, 1, Ok("")),
        (6, 0, Err(Error::IndexSize)),
        (0, usize::MAX, Ok("aé😀z")),
    ] {
        assert_eq!(tree.substring_data(node, offset, count), expected.map(str::to_owned), "{offset} {count}");
    }
    for (data, offset, count, new, expected) in [
        ("aé😀z", 4, 1, "!", "aé😀!"),
        ("aé😀z", 0, 0, "😀", "😀aé😀z"),
        ("aé😀z", 2, 1, "", "aé\u{FFFD}z"),
        ("abc", 1, 1, "", "ac"),
        ("abc", 3, 7, "d", "abcd"),
    ] {
        tree.set_data(node, data).unwrap();
        tree.replace_data(node, offset, count, new).unwrap();
        assert_eq!(tree.character_data(node), Some(expected));
    }
    assert_eq!(tree.replace_data(node, 99, 0, ""), Err(Error::IndexSize));
    assert_eq!(tree.replace_data(document, 0, 0, ""), Err(Error::NotSupported));
    assert_eq!((utf16_len("aé😀z"), byte_of_unit("aé😀z", 4), byte_of_unit("aé😀z", 3)), (5, Some(7), None));
}

#[test]
fn texts_are_split_and_joined() {
    let mut tree = Tree::new();
    let document = tree.create_document(true).unwrap();
    let p = element(&mut tree, document, "p");
    let hello = text(&mut tree, document, "hello");
    tree.append(p, hello).unwrap();
    let rest = tree.split_text(hello, 2).unwrap();
    assert_eq!(children(&tree, p), [hello, rest]);
    assert_eq!(tree.split_text(hello, 3), Err(Error::IndexSize));
    let empty = text(&mut tree, document, "");
    tree.insert_before(p, empty, Some(hello)).unwrap();
    let b = element(&mut tree, document, "b");
    tree.append(p, b).unwrap();
    for data in ["", "x", "", "y"] {
        let node = text(&mut tree, document, data);
        tree.append(b, node).unwrap();
    }
    tree.normalize(p).unwrap();
    assert_eq!(children(&tree, p), [hello, b]);
    assert_eq!(tree.character_data(hello), Some("hello"));
    assert_eq!(tree.inner_html(p), "hello<b>xy</b>");
    assert_eq!(tree.children(b).count(), 1);
    assert_eq!(tree.text_content(p).as_deref(), Some("helloxy"));
    assert_eq!(tree.text_content(document), None);
}

#[test]
fn attributes_keep_their_order_and_their_names() {
    let mut tree = Tree::new();
    let (html, xml) = (tree.create_document(true).unwrap(), tree.create_document(false).unwrap());
    let div = element(&mut tree, html, "div");
    tree.set_attribute(div, "B", "1").unwrap();
    tree.set_attribute(div, "a", "2").unwrap();
    tree.set_attribute(div, "b", "3").unwrap();
    assert_eq!(tree.outer_html(div), "<div b=\"3\" a=\"2\"></div>");
    let exact = element(&mut tree, xml, "div");
    tree.set_attribute(exact, "B", "1").unwrap();
    assert!(tree.attribute_by_name(exact, "b").is_none() && tree.attribute_by_name(exact, "B").is_some());
    assert_eq!((tree.tag_name(div).as_deref(), tree.tag_name(exact).as_deref()), (Some("DIV"), Some("div")));
    let xlink = validate_and_extract(Some("http://www.w3.org/1999/xlink"), "xlink:href", true).unwrap();
    tree.set_attribute_ns(div, xlink, "#x").unwrap();
    assert_eq!(tree.attribute_by_name(div, "XLINK:HREF").unwrap().value, "#x");
    assert_eq!(tree.attribute_ns(div, "http://www.w3.org/1999/xlink", "href").unwrap().value, "#x");
    assert!(tree.attribute_ns(div, "", "href").is_none());
    tree.set_attribute(div, "xlink:href", "#y").unwrap();
    assert_eq!(tree.element(div).unwrap().attributes().len(), 3, "the qualified name is that attribute's");
    assert_eq!(tree.set_attribute(div, "a b", ""), Err(Error::InvalidCharacter));
    assert_eq!(tree.set_attribute(div, "", ""), Err(Error::InvalidCharacter));
}

#[test]
fn the_first_of_equal_ids_is_found_wherever_it_was_put() {
    for count in [2, 40] {
        let mut tree = Tree::new();
        let document = tree.create_document(true).unwrap();
        let root = element(&mut tree, document, "p");
        tree.append(document, root).unwrap();
        let mut first = None;
        for _ in 0..count {
            let node = element(&mut tree, document, "i");
            tree.set_attribute(node, "id", "x").unwrap();
            assert_eq!(tree.element_by_id(document, "x"), first, "not yet in the document");
            tree.insert_before(root, node, tree.first_child(root)).unwrap();
            first = Some(node);
        }
        assert_eq!(tree.element_by_id(document, "x"), first);
        assert_eq!(tree.element_by_id(document, ""), None);
        tree.remove(root);
        assert_eq!(tree.element_by_id(document, "x"), None);
        assert_eq!(tree.element_by_id(root, "x"), first);
    }
}

#[test]
fn caps_refuse_and_leave_the_tree_as_it_was() {
    let mut tree = Tree::new();
    let document = tree.create_document(true).unwrap();
    let node = text(&mut tree, document, "x");
    let p = element(&mut tree, document, "p");
    let half = "y".repeat(crate::limits::DOM_TEXT_BYTES_MAX / 2 + 1);
    tree.set_data(node, &half).unwrap();
    let bytes = tree.text_bytes();
    assert_eq!(tree.replace_data(node, 0, 0, &half), Err(Error::Full));
    assert_eq!(tree.set_attribute(p, "a", &half), Err(Error::Full));
    assert_eq!(tree.create_text(document, half.clone()), Err(Error::Full));
    assert_eq!(tree.set_text_content(p, &half), Err(Error::Full));
    assert_eq!(tree.clone_node(node, None, true), Err(Error::Full));
    assert_eq!(tree.text_bytes(), bytes);
    tree.set_data(node, &half).unwrap();
    tree.set_data(node, "").unwrap();
    assert_eq!(tree.text_bytes(), 0);
}

#[test]
fn the_sweep_keeps_what_any_way_leads_to() {
    let mut tree = Tree::new();
    let markup = "<div id=h><template shadowrootmode=open><i></i></template></div><template><b></b></template>";
    let document = tree.parse_document(markup).unwrap();
    assert_eq!(tree.sweep([document]), 2, "the template that was read as the shadow root, and its empty contents");
    let all = tree.len();
    let host = tree.element_by_id(document, "h").unwrap();
    let shadow = tree.element(host).unwrap().shadow_root().unwrap();
    let in_shadow = tree.first_child(shadow).unwrap();
    assert_eq!((tree.sweep([in_shadow]), tree.len()), (0, all), "up from the shadow to the document");
    tree.remove(host);
    assert_eq!(tree.sweep([in_shadow]), 0, "its owner document is still reached");
    let detached = element(&mut tree, document, "p");
    tree.set_attribute(detached, "id", "gone").unwrap();
    tree.keep_log(true);
    tree.append(host, detached).unwrap();
    tree.remove(detached);
    assert_eq!(tree.sweep([document]), 0, "the log still names it");
    tree.take_log();
    assert_eq!(tree.sweep([document]), 4, "the paragraph, the host, its shadow root and what is in it");
    assert_eq!(tree.element_by_id(detached, "gone"), None);
    assert_eq!(tree.kind(detached), NodeKind::Vacant);
    assert_eq!(tree.append(document, detached), Err(Error::HierarchyRequest), "a place without a node is no node");
    let places = tree.places();
    element(&mut tree, document, "q");
    assert_eq!(tree.places(), places, "places are taken again");
    let alive = tree.len();
    assert_eq!((tree.sweep([]), tree.is_empty(), tree.text_bytes()), (alive, true, 0));
}

#[test]
fn a_text_that_arrives_in_pieces_is_copied_once() {
    let mut tree = Tree::new();
    let document = tree.create_document(true).unwrap();
    let text = tree.create_text(document, "a".to_owned()).unwrap();
    tree.keep_log(true);
    for piece in ["é<", "b", "😀"] {
        tree.extend_data(text, piece);
    }
    let log = tree.take_log();
    assert!(
        matches!(log.as_slice(), [Mutation::Text { old, offset: 1, removed: 0, added: 5, .. }] if old == "a"),
        "{log:?}"
    );
    tree.extend_data(text, "c");
    tree.set_data(text, "d").unwrap();
    tree.extend_data(text, "e");
    let log = tree.take_log();
    let olds: Vec<&str> = log
        .iter()
        .map(|mutation| match mutation {
            Mutation::Text { old, .. } => old.as_str(),
            _ => "",
        })
        .collect();
    assert_eq!(olds, ["aé<b😀", "aé<b😀c", "d"]);
    assert_eq!(tree.character_data(text), Some("de"));
}

//! Unit tests of `dom::attr`.

use html5ever::{LocalName, QualName, ns};

use super::super::{Error, Mutation, NodeId, Position, Tree};

fn name(local: &str) -> QualName {
    QualName::new(None, ns!(), LocalName::from(local))
}

fn tree() -> (Tree, NodeId, NodeId) {
    let mut tree = Tree::new();
    let document = tree.create_document(true).unwrap();
    let html = QualName::new(None, ns!(html), LocalName::from("p"));
    let element = tree.create_element(document, html, Vec::new()).unwrap();
    (tree, document, element)
}

#[test]
fn a_node_follows_its_attribute_and_keeps_the_last_value() {
    let (mut tree, _, element) = tree();
    tree.set_attribute(element, "title", "one").unwrap();
    let node = tree.attr_node(element, "", "title").unwrap().unwrap();
    assert_eq!(tree.attr_node(element, "", "title").unwrap(), Some(node));
    assert_eq!(tree.attr_value(node), Some("one"));
    tree.set_attribute(element, "title", "two").unwrap();
    assert_eq!(tree.attr_value(node), Some("two"));
    tree.set_attr_value(node, "three").unwrap();
    assert_eq!(tree.attribute(element, &LocalName::from("title")), Some("three"));
    tree.remove_attribute(element, "title");
    assert_eq!((tree.attr_value(node), tree.attr(node).unwrap().owner()), (Some("three"), None));
    tree.set_attribute(element, "title", "four").unwrap();
    assert_eq!(tree.attr_value(node), Some("three"));
    assert_ne!(tree.attr_node(element, "", "title").unwrap(), Some(node));
}

#[test]
fn an_attribute_has_one_element_and_takes_the_place_of_its_namesake() {
    let (mut tree, document, element) = tree();
    tree.set_attribute(element, "a", "1").unwrap();
    tree.set_attribute(element, "b", "2").unwrap();
    let new = tree.create_attr(document, name("a"), "3".to_owned()).unwrap();
    let bytes = tree.text_bytes();
    let old = tree.set_attr_node(element, new).unwrap().unwrap();
    // The replaced value lives on in its node.
    assert_eq!(tree.text_bytes(), bytes);
    assert_eq!(tree.attr_value(old), Some("1"));
    let values: Vec<&str> = tree.element(element).unwrap().attributes().iter().map(|one| one.value.as_str()).collect();
    assert_eq!(values, ["3", "2"]);
    assert_eq!(tree.set_attr_node(element, new), Ok(Some(new)));
    let other = tree.clone_node(element, None, false).unwrap();
    assert_eq!(tree.set_attr_node(other, new), Err(Error::InUse));
    assert_eq!(tree.remove_attr_node(other, new), Err(Error::NotFound));
    assert_eq!(tree.remove_attr_node(element, new), Ok(()));
    assert_eq!(tree.attribute_by_name(element, "a"), None);
}

#[test]
fn attributes_stand_within_their_element_and_are_swept_with_it() {
    let (mut tree, document, element) = tree();
    let child = tree.clone_node(element, None, false).unwrap();
    tree.append(element, child).unwrap();
    for attribute in ["a", "b"] {
        tree.set_attribute(element, attribute, "").unwrap();
    }
    let a = tree.attr_node(element, "", "a").unwrap().unwrap();
    let b = tree.attr_node(element, "", "b").unwrap().unwrap();
    for (node, other, expected) in [
        (element, a, 0x10 | 0x04),
        (a, element, 0x08 | 0x02),
        (a, b, 0x20 | 0x04),
        (b, a, 0x20 | 0x02),
        (a, child, 0x04),
        (child, a, 0x02),
    ] {
        assert_eq!(tree.compare_position(node, other), Position(expected));
    }
    assert_eq!(tree.append(element, a), Err(Error::HierarchyRequest));
    assert_eq!(tree.sweep([a]), 0);
    assert_eq!(tree.sweep([document]), 4);
    assert_eq!(tree.text_bytes(), 0);
}

#[test]
fn a_move_stays_within_its_tree_and_is_told_as_two_changes() {
    let (mut tree, document, element) = tree();
    let (first, second) =
        (tree.clone_node(element, None, false).unwrap(), tree.clone_node(element, None, false).unwrap());
    assert_eq!(tree.move_before(element, first, None), Err(Error::HierarchyRequest));
    tree.append(element, first).unwrap();
    tree.append(element, second).unwrap();
    tree.keep_log(true);
    tree.move_before(element, second, Some(first)).unwrap();
    assert_eq!(tree.children(element).collect::<Vec<_>>(), [second, first]);
    assert!(matches!(tree.take_log().as_slice(), [Mutation::Children { .. }, Mutation::Children { .. }]));
    assert_eq!(tree.move_before(first, element, None), Err(Error::HierarchyRequest));
    assert_eq!(tree.move_before(first, second, Some(document)), Err(Error::NotFound));
}

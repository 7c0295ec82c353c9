//! Random mutations of the arena and of a model built from vectors.

use proptest::prelude::*;

use super::super::{Error, NodeId, NodeKind, Position, Tree};
use super::{element, text};

/// Nodes numbered in order of creation.
#[derive(Clone, Debug, Default)]
struct Model {
    kinds: Vec<NodeKind>,
    parents: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
}

impl Model {
    fn add(&mut self, kind: NodeKind) {
        self.kinds.push(kind);
        self.parents.push(None);
        self.children.push(Vec::new());
    }

    fn ancestors(&self, node: usize) -> Vec<usize> {
        std::iter::successors(Some(node), |node| self.parents[*node]).collect()
    }

    fn check(&self, parent: usize, node: usize, child: Option<usize>) -> Result<(), Error> {
        let can_hold = matches!(self.kinds[parent], NodeKind::Element | NodeKind::Fragment);
        if !can_hold || self.ancestors(parent).contains(&node) {
            return Err(Error::HierarchyRequest);
        }
        if child.is_some_and(|child| self.parents[child] != Some(parent)) {
            return Err(Error::NotFound);
        }
        Ok(())
    }

    fn detach(&mut self, node: usize) {
        if let Some(parent) = self.parents[node].take() {
            self.children[parent].retain(|child| *child != node);
        }
    }

    fn insert(&mut self, parent: usize, node: usize, child: Option<usize>) {
        let nodes = match self.kinds[node] {
            NodeKind::Fragment => self.children[node].clone(),
            _ => vec![node],
        };
        let after = child.and_then(|child| {
            let place = self.children[parent].iter().position(|other| *other == child)?;
            self.children[parent][place..].iter().copied().find(|other| !nodes.contains(other))
        });
        for node in nodes {
            self.detach(node);
            let place = after.and_then(|after| self.children[parent].iter().position(|other| *other == after));
            let place = place.unwrap_or(self.children[parent].len());
            self.children[parent].insert(place, node);
            self.parents[node] = Some(parent);
        }
    }

    fn order(&self, root: usize) -> Vec<usize> {
        let below = self.children[root].iter().flat_map(|child| self.order(*child));
        std::iter::once(root).chain(below).collect()
    }

    fn position(&self, node: usize, other: usize) -> u16 {
        let (ours, theirs) = (self.ancestors(node), self.ancestors(other));
        if node == other {
            0
        } else if ours.last() != theirs.last() {
            Position::DISCONNECTED.0
        } else if ours.contains(&other) {
            Position::CONTAINS.0 | Position::PRECEDING.0
        } else if theirs.contains(&node) {
            Position::CONTAINED_BY.0 | Position::FOLLOWING.0
        } else {
            let order = self.order(ours[ours.len() - 1]);
            let place = |node| order.iter().position(|other| *other == node);
            if place(node) < place(other) { Position::FOLLOWING.0 } else { Position::PRECEDING.0 }
        }
    }
}

#[derive(Clone, Debug)]
enum Act {
    Insert(usize, usize, Option<usize>),
    Replace(usize, usize, usize),
    Remove(usize),
    ReplaceAll(usize, Option<usize>),
    Sweep(Vec<usize>),
}

const NODES: usize = 14;

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let node = 0..NODES;
    let act = prop_oneof![
        8 => (node.clone(), node.clone(), proptest::option::of(node.clone()))
            .prop_map(|(parent, node, child)| Act::Insert(parent, node, child)),
        2 => (node.clone(), node.clone(), node.clone())
            .prop_map(|(parent, node, child)| Act::Replace(parent, node, child)),
        2 => node.clone().prop_map(Act::Remove),
        1 => (node.clone(), proptest::option::of(node.clone()))
            .prop_map(|(parent, node)| Act::ReplaceAll(parent, node)),
        1 => proptest::collection::vec(node, 0..4).prop_map(Act::Sweep),
    ];
    proptest::collection::vec(act, 1..60)
}

fn setup() -> (Tree, Vec<NodeId>, Model) {
    let mut tree = Tree::new();
    let document = tree.create_document(true).unwrap();
    let mut model = Model::default();
    let mut nodes = Vec::new();
    for number in 0..NODES {
        let (node, kind) = match number {
            0..2 => (tree.create_fragment(document).unwrap(), NodeKind::Fragment),
            2..5 => (text(&mut tree, document, "t"), NodeKind::Text),
            _ => (element(&mut tree, document, "i"), NodeKind::Element),
        };
        nodes.push(node);
        model.add(kind);
    }
    (tree, nodes, model)
}

/// Every query of the tree agrees with the model.
fn agrees(tree: &Tree, nodes: &[NodeId], model: &Model) {
    for (number, id) in nodes.iter().enumerate() {
        let ids = |numbers: &[usize]| numbers.iter().map(|number| nodes[*number]).collect::<Vec<_>>();
        assert_eq!(super::children(tree, *id), ids(&model.children[number]));
        assert_eq!(tree.parent(*id), model.parents[number].map(|parent| nodes[parent]));
        let order = model.order(number);
        assert_eq!(tree.descendants(*id).collect::<Vec<_>>(), ids(&order[1..]));
        let last = nodes[order[order.len() - 1]];
        let mut backward: Vec<NodeId> =
            std::iter::successors(Some(last), |node| tree.previous_in_order(*node, *id)).collect();
        backward.reverse();
        assert_eq!(backward, ids(&order));
        for (other, other_id) in nodes.iter().enumerate() {
            let expected = model.position(number, other);
            let got = tree.compare_position(*id, *other_id).0;
            if expected == Position::DISCONNECTED.0 {
                let mirrored = tree.compare_position(*other_id, *id).0;
                assert_eq!(got & 0x21, 0x21);
                assert_eq!((got ^ mirrored) & 0x6, 0x6, "the order of two trees is the same from both sides");
            } else {
                assert_eq!(got, expected, "{number} {other}");
            }
            assert_eq!(tree.contains(*id, *other_id), order.contains(&other));
        }
    }
}

proptest! {
    #[test]
    fn the_arena_does_what_vectors_would(acts in acts()) {
        let (mut tree, nodes, mut model) = setup();
        for act in acts {
            match act {
                Act::Insert(parent, node, child) => {
                    let checked = model.check(parent, node, child);
                    let got = tree.insert_before(nodes[parent], nodes[node], child.map(|child| nodes[child]));
                    prop_assert_eq!(got.map(|_| ()), checked);
                    if checked.is_ok() {
                        model.insert(parent, node, child);
                    }
                }
                Act::Replace(parent, node, child) => {
                    let checked = model.check(parent, node, Some(child));
                    let got = tree.replace(nodes[parent], nodes[node], nodes[child]);
                    prop_assert_eq!(got.map(|_| ()), checked);
                    if checked.is_ok() && node != child {
                        model.insert(parent, node, Some(child));
                        model.detach(child);
                    }
                }
                Act::Remove(node) => {
                    tree.remove(nodes[node]);
                    model.detach(node);
                }
                Act::ReplaceAll(parent, node) => {
                    let checked = match node {
                        Some(node) => model.check(parent, node, None),
                        None => Ok(()),
                    };
                    let got = tree.replace_children(nodes[parent], node.map(|node| nodes[node]));
                    prop_assert_eq!(got, checked);
                    if checked.is_ok() {
                        for child in model.children[parent].clone() {
                            model.detach(child);
                        }
                        if let Some(node) = node {
                            model.insert(parent, node, None);
                        }
                    }
                }
                // All nodes are roots, so a sweep must free none, whatever other roots there are.
                Act::Sweep(more) => {
                    let roots = nodes.iter().copied().chain(more.into_iter().map(|node| nodes[node]));
                    prop_assert_eq!(tree.sweep(roots), 0);
                }
            }
            agrees(&tree, &nodes, &model);
        }
    }

    #[test]
    fn the_sweep_frees_the_unreachable_and_nothing_else(acts in acts(), roots in proptest::collection::vec(0..NODES, 0..4)) {
        let (mut tree, nodes, mut model) = setup();
        for act in acts {
            if let Act::Insert(parent, node, child) = act
                && model.check(parent, node, child).is_ok()
            {
                tree.insert_before(nodes[parent], nodes[node], child.map(|child| nodes[child])).unwrap();
                model.insert(parent, node, child);
            }
        }
        let top = |node: usize| model.ancestors(node).last().copied();
        let kept: Vec<bool> = (0..NODES).map(|node| roots.iter().any(|root| top(*root) == top(node))).collect();
        let lost = kept.iter().filter(|kept| !**kept).count();
        let document = usize::from(roots.is_empty());
        prop_assert_eq!(tree.sweep(roots.iter().map(|root| nodes[*root])), lost + document);
        for (node, kept) in kept.iter().enumerate() {
            let kind = if *kept { model.kinds[node] } else { NodeKind::Vacant };
            prop_assert_eq!(tree.kind(nodes[node]), kind);
            if *kept {
                let expected: Vec<NodeId> = model.children[node].iter().map(|child| nodes[*child]).collect();
                prop_assert_eq!(super::children(&tree, nodes[node]), expected);
            }
        }
    }

    #[test]
    fn any_markup_makes_a_tree_that_its_own_markup_makes_again(markup in "(<(/?(a|b|p|div|table|tr|td|select|option|template|svg|form|title|li))( x=1)?>|x|&lt;|<!--c-->){0,40}") {
        let mut tree = Tree::new();
        let document = tree.create_document(true).unwrap();
        let context = element(&mut tree, document, "div");
        let fragment = tree.parse_fragment(context, &markup).unwrap();
        let html = tree.inner_html(fragment);
        prop_assert_eq!(tree.sweep([fragment, context]), 0, "the scaffold is gone");
        let again = tree.parse_fragment(context, &html).unwrap();
        // Some trees cannot be serialised (HTML §13.3's warning); those that can parse back equal.
        if is_equal_within_templates(&tree, fragment, again) {
            prop_assert_eq!(tree.inner_html(again), html);
        } else {
            let third = tree.parse_fragment(context, &tree.inner_html(again)).unwrap();
            prop_assert!(tree.len() > 2 && tree.sweep([third, context]) > 0);
        }
    }
}

/// Whether two nodes are equal including the contents of templates, which are not children (DOM §4.4 "equals").
fn is_equal_within_templates(tree: &Tree, one: NodeId, other: NodeId) -> bool {
    let contents = |root: NodeId| -> Vec<NodeId> {
        tree.descendants(root).filter_map(|id| tree.element(id)?.template_contents()).collect()
    };
    let (own, its) = (contents(one), contents(other));
    let mut both = own.iter().zip(&its);
    tree.is_equal(one, other)
        && own.len() == its.len()
        && both.all(|(one, other)| is_equal_within_templates(tree, *one, *other))
}

#[test]
fn a_select_before_a_table_in_a_select_cannot_be_written_down_in_a_template_either() {
    // A table bounds the scope in which another select would close the first (HTML §13.2.4.2); content not allowed in the table is moved
    // before it.
    let mut tree = Tree::new();
    let document = tree.create_document(true).unwrap();
    let context = element(&mut tree, document, "div");
    let inner = "<select><select></select><table></table></select>";
    for (markup, html) in [
        ("<select><table><select>", inner.to_owned()),
        ("<template><select><table><select>", format!("<template>{inner}</template>")),
    ] {
        let fragment = tree.parse_fragment(context, markup).unwrap();
        assert_eq!(tree.inner_html(fragment), html);
        let again = tree.parse_fragment(context, &html).unwrap();
        assert!(!is_equal_within_templates(&tree, fragment, again), "{markup}");
        // `isEqualNode` compares only children, and template contents are not children.
        assert_eq!(tree.is_equal(fragment, again), markup.starts_with("<template>"));
    }
}

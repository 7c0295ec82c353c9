//! Relations between nodes: tree order, roots, containment (DOM §4.2, §4.4).

use std::cmp::Ordering;

use super::node::{Attr, NodeData, NodeId};
use super::tree::Tree;

/// Up to this number of elements with the same `id` their positions are compared; with more, walking the tree finds the first one faster.
const COMPARED_IDS: usize = 4;

/// The result of `compareDocumentPosition` (DOM §4.4), describing the other node.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Position(pub u16);

impl Position {
    pub const SAME: Self = Self(0);
    pub const DISCONNECTED: Self = Self(0x01);
    pub const PRECEDING: Self = Self(0x02);
    pub const FOLLOWING: Self = Self(0x04);
    pub const CONTAINS: Self = Self(0x08);
    pub const CONTAINED_BY: Self = Self(0x10);
    pub const IMPLEMENTATION_SPECIFIC: Self = Self(0x20);

    fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Tree {
    /// The next node in tree order within `root`.
    pub fn next_in_order(&self, id: NodeId, root: NodeId) -> Option<NodeId> {
        self.first_child(id).or_else(|| self.next_after_subtree(id, root))
    }

    /// The next node in tree order within `root` that is not below `id`.
    pub fn next_after_subtree(&self, id: NodeId, root: NodeId) -> Option<NodeId> {
        self.inclusive_ancestors(id).take_while(|node| *node != root).find_map(|node| self.next_sibling(node))
    }

    /// The node before in tree order within `root`; `root` itself is the first.
    pub fn previous_in_order(&self, id: NodeId, root: NodeId) -> Option<NodeId> {
        if id == root {
            return None;
        }
        match self.previous_sibling(id) {
            Some(previous) => Some(self.last_inclusive_descendant(previous)),
            None => self.parent(id),
        }
    }

    pub fn last_inclusive_descendant(&self, id: NodeId) -> NodeId {
        std::iter::successors(Some(id), |id| self.last_child(*id)).last().unwrap_or(id)
    }

    /// The topmost inclusive ancestor.
    pub fn root(&self, id: NodeId) -> NodeId {
        self.inclusive_ancestors(id).last().unwrap_or(id)
    }

    /// The root, continued from a shadow root to the root of its host (DOM §4.8).
    pub fn shadow_including_root(&self, id: NodeId) -> NodeId {
        let mut root = self.root(id);
        while let Some(host) = self.shadow_host(root) {
            root = self.root(host);
        }
        root
    }

    /// The host, if the node is a shadow root.
    pub fn shadow_host(&self, id: NodeId) -> Option<NodeId> {
        self.fragment(id).filter(|fragment| fragment.shadow.is_some()).and_then(|fragment| fragment.host)
    }

    /// The shadow root that contains the node.
    pub fn containing_shadow_root(&self, id: NodeId) -> Option<NodeId> {
        Some(self.root(id)).filter(|root| self.shadow_host(*root).is_some())
    }

    /// `isConnected`: the shadow-including root is a document.
    pub fn is_connected(&self, id: NodeId) -> bool {
        matches!(self.data(self.shadow_including_root(id)), NodeData::Document(_))
    }

    /// `node.contains(other)`: whether `other` is `node` or below it.
    pub fn contains(&self, node: NodeId, other: NodeId) -> bool {
        self.inclusive_ancestors(other).any(|ancestor| ancestor == node)
    }

    /// Containment that continues from shadow roots and template contents to their hosts (DOM §4.2.1).
    pub fn host_contains(&self, node: NodeId, other: NodeId) -> bool {
        let mut below = other;
        loop {
            if below == node {
                return true;
            }
            let host = || self.fragment(below).and_then(|fragment| fragment.host);
            match self.parent(below).or_else(host) {
                Some(above) => below = above,
                None => return false,
            }
        }
    }

    /// The number of siblings before the node.
    pub fn index(&self, id: NodeId) -> usize {
        std::iter::successors(self.previous_sibling(id), |id| self.previous_sibling(*id)).count()
    }

    /// The position of `other` relative to `node`.
    pub fn compare_position(&self, node: NodeId, other: NodeId) -> Position {
        if node == other {
            return Position::SAME;
        }
        let owner = |id| self.attr(id).and_then(Attr::owner);
        let (our_owner, their_owner) = (owner(node), owner(other));
        if our_owner.is_some() || their_owner.is_some() {
            let (our_element, their_element) = (our_owner.unwrap_or(node), their_owner.unwrap_or(other));
            if our_element == their_element {
                return match (our_owner, their_owner) {
                    (Some(element), Some(_)) => self.compare_attrs(element, node, other),
                    (Some(_), None) => Position::CONTAINS.and(Position::PRECEDING),
                    _ => Position::CONTAINED_BY.and(Position::FOLLOWING),
                };
            }
            let position = self.compare_position(our_element, their_element);
            // An attribute contains nothing.
            let is_lost = (our_owner.is_some() && position.0 & Position::CONTAINED_BY.0 != 0)
                || (their_owner.is_some() && position.0 & Position::CONTAINS.0 != 0);
            return if is_lost {
                Position(position.0 & (Position::PRECEDING.0 | Position::FOLLOWING.0))
            } else {
                position
            };
        }
        let (ours, theirs) = (self.path(node), self.path(other));
        if ours.first() != theirs.first() {
            // Any order, as long as it is always the same.
            let side = if other < node { Position::PRECEDING } else { Position::FOLLOWING };
            return Position::DISCONNECTED.and(Position::IMPLEMENTATION_SPECIFIC).and(side);
        }
        let fork = ours.iter().zip(&theirs).take_while(|(ours, theirs)| ours == theirs).count();
        match (ours.get(fork), theirs.get(fork)) {
            (None, _) => Position::CONTAINED_BY.and(Position::FOLLOWING),
            (_, None) => Position::CONTAINS.and(Position::PRECEDING),
            (Some(our), Some(their)) if self.is_later_sibling(*our, *their) => Position::FOLLOWING,
            _ => Position::PRECEDING,
        }
    }

    /// The order of two attributes of one element.
    fn compare_attrs(&self, element: NodeId, one: NodeId, other: NodeId) -> Position {
        let place = |id| {
            let name = self.attr(id)?.name();
            let attributes = self.element(element)?.attributes();
            attributes.iter().position(|at| at.name.ns == name.ns && at.name.local == name.local)
        };
        let side = if place(other) < place(one) { Position::PRECEDING } else { Position::FOLLOWING };
        Position::IMPLEMENTATION_SPECIFIC.and(side)
    }

    /// Tree order of two nodes; for nodes of different trees, an arbitrary but constant order.
    pub fn compare_order(&self, a: NodeId, b: NodeId) -> Ordering {
        let position = self.compare_position(a, b);
        match position {
            Position::SAME => Ordering::Equal,
            Position(bits) if bits & Position::FOLLOWING.0 != 0 => Ordering::Less,
            _ => Ordering::Greater,
        }
    }

    /// The path from the root down to the node.
    fn path(&self, id: NodeId) -> Vec<NodeId> {
        let mut path: Vec<NodeId> = self.inclusive_ancestors(id).collect();
        path.reverse();
        path
    }

    /// Whether `other` comes after `node` among the children of one parent. Searches both directions in turn, so that the cost is their
    /// distance.
    fn is_later_sibling(&self, node: NodeId, other: NodeId) -> bool {
        let (mut after, mut before) = (self.next_sibling(node), self.previous_sibling(node));
        loop {
            match (after, before) {
                (Some(id), _) if id == other => return true,
                (_, Some(id)) if id == other => return false,
                (None, _) => return false,
                (_, None) => return true,
                (Some(a), Some(b)) => (after, before) = (self.next_sibling(a), self.previous_sibling(b)),
            }
        }
    }

    /// The first element in tree order below `root` with that `id` (DOM §4.2.4).
    pub fn element_by_id(&self, root: NodeId, id: &str) -> Option<NodeId> {
        let candidates = self.ids(id);
        let is_below = |node: &NodeId| *node != root && self.contains(root, *node);
        if candidates.len() <= COMPARED_IDS {
            let below = candidates.iter().copied().filter(is_below);
            return below.min_by(|a, b| self.compare_order(*a, *b));
        }
        self.descendants(root).find(|node| self.id(*node) == Some(id))
    }

    /// The elements below `root` with that `id`, in no order.
    pub fn elements_by_id(&self, root: NodeId, id: &str) -> Vec<NodeId> {
        self.ids(id).iter().copied().filter(|node| *node != root && self.contains(root, *node)).collect()
    }

    /// The document element.
    pub fn document_element(&self, document: NodeId) -> Option<NodeId> {
        self.child_elements(document).next()
    }
}

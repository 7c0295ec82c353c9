//! Objects that follow changes of the tree: range boundaries (DOM §5.5) and positions of node iterators (DOM §6.1).
//!
//! The tree holds them weakly: a dropped object costs nothing from then on. Pages without ranges pay one check.

use std::cell::Cell;
use std::rc::{Rc, Weak};

use super::node::NodeId;
use super::tree::Tree;

/// A boundary point: a node and an offset in its data (UTF-16 units) or among its children.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Boundary {
    pub node: NodeId,
    pub offset: usize,
}

/// The span between two boundaries; the start is never after the end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Span {
    pub start: Boundary,
    pub end: Boundary,
}

impl Span {
    /// An empty span at a place.
    pub fn at(node: NodeId, offset: usize) -> Self {
        let boundary = Boundary { node, offset };
        Self { start: boundary, end: boundary }
    }

    pub fn is_collapsed(&self) -> bool {
        self.start == self.end
    }
}

/// A range's boundaries, which the tree moves.
pub type LiveSpan = Rc<Cell<Span>>;

/// The position of a node iterator.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Cursor {
    pub root: NodeId,
    pub reference: NodeId,
    pub is_before: bool,
}

/// The position of a node iterator, which the tree moves.
pub type LiveCursor = Rc<Cell<Cursor>>;

/// All objects that follow a tree.
#[derive(Debug, Default)]
pub(super) struct Followers {
    spans: Vec<Weak<Cell<Span>>>,
    cursors: Vec<Weak<Cell<Cursor>>>,
    /// Number of objects at which dropped ones are removed.
    patience: usize,
}

impl Followers {
    fn forget_gone(&mut self) {
        if self.spans.len() + self.cursors.len() < self.patience {
            return;
        }
        self.spans.retain(|span| span.strong_count() > 0);
        self.cursors.retain(|cursor| cursor.strong_count() > 0);
        self.patience = 2 * (self.spans.len() + self.cursors.len()) + 16;
    }

    fn is_empty(&self) -> bool {
        self.spans.is_empty() && self.cursors.is_empty()
    }

    /// Moves each boundary by a rule.
    fn move_all(&self, rule: impl Fn(Boundary) -> Boundary) {
        for span in self.spans.iter().filter_map(Weak::upgrade) {
            let old = span.get();
            span.set(Span { start: rule(old.start), end: rule(old.end) });
        }
    }
}

impl Tree {
    /// Boundaries that move with the tree while they are held.
    pub fn follow_span(&mut self, span: Span) -> LiveSpan {
        self.followers.forget_gone();
        let live = Rc::new(Cell::new(span));
        self.followers.spans.push(Rc::downgrade(&live));
        live
    }

    /// The position of an iterator that moves with the tree while it is held.
    pub fn follow_cursor(&mut self, cursor: Cursor) -> LiveCursor {
        self.followers.forget_gone();
        let live = Rc::new(Cell::new(cursor));
        self.followers.cursors.push(Rc::downgrade(&live));
        live
    }

    /// Call before `count` nodes are inserted before `child` (DOM §4.2.3 "insert" step 6).
    pub(super) fn before_insertion(&self, parent: NodeId, child: Option<NodeId>, count: usize) {
        if self.followers.spans.is_empty() {
            return;
        }
        let Some(child) = child else { return };
        let index = self.index(child);
        self.followers.move_all(|boundary| {
            if boundary.node == parent && boundary.offset > index {
                Boundary { offset: boundary.offset + count, ..boundary }
            } else {
                boundary
            }
        });
    }

    /// Call before a node leaves its parent (DOM §4.2.3 "remove" steps 3 to 8).
    pub(super) fn before_removal(&self, node: NodeId) {
        if self.followers.is_empty() {
            return;
        }
        let Some(parent) = self.parent(node) else { return };
        let index = self.index(node);
        self.followers.move_all(|boundary| {
            if self.contains(node, boundary.node) {
                Boundary { node: parent, offset: index }
            } else if boundary.node == parent && boundary.offset > index {
                Boundary { offset: boundary.offset - 1, ..boundary }
            } else {
                boundary
            }
        });
        for cursor in self.followers.cursors.iter().filter_map(Weak::upgrade) {
            cursor.set(self.cursor_without(cursor.get(), node));
        }
    }

    /// "`NodeIterator` pre-remove steps" (DOM §6.1).
    fn cursor_without(&self, cursor: Cursor, node: NodeId) -> Cursor {
        if self.contains(node, cursor.root) || !self.contains(node, cursor.reference) {
            return cursor;
        }
        if cursor.is_before
            && let Some(next) = self.next_after_subtree(node, cursor.root)
        {
            return Cursor { reference: next, ..cursor };
        }
        let before = match self.previous_sibling(node) {
            Some(previous) => Some(self.last_inclusive_descendant(previous)),
            None => self.parent(node),
        };
        Cursor { reference: before.unwrap_or(cursor.reference), is_before: false, ..cursor }
    }

    /// Character data changed (DOM §4.10 "replace data" steps 8 to 11).
    pub(super) fn data_replaced(&self, node: NodeId, offset: usize, removed: usize, added: usize) {
        if self.followers.spans.is_empty() {
            return;
        }
        self.followers.move_all(|boundary| {
            if boundary.node != node || boundary.offset <= offset {
                boundary
            } else if boundary.offset <= offset + removed {
                Boundary { node, offset }
            } else {
                Boundary { node, offset: boundary.offset + added - removed }
            }
        });
    }

    /// A text was split, and its second half follows it (DOM §4.11 "split" step 7).
    pub(super) fn text_split(&self, node: NodeId, new: NodeId, offset: usize) {
        if self.followers.spans.is_empty() {
            return;
        }
        let (parent, behind) = (self.parent(node), self.index(node) + 1);
        self.followers.move_all(|boundary| {
            if boundary.node == node && boundary.offset > offset {
                Boundary { node: new, offset: boundary.offset - offset }
            } else if Some(boundary.node) == parent && boundary.offset == behind {
                Boundary { offset: behind + 1, ..boundary }
            } else {
                boundary
            }
        });
    }

    /// A text's data, `length` units, was appended to another, and the text is about to be removed (DOM §4.4 "normalize" step 6).
    pub(super) fn text_joined(&self, into: NodeId, from: NodeId, length: usize) {
        if self.followers.spans.is_empty() {
            return;
        }
        let (parent, index) = (self.parent(from), self.index(from));
        self.followers.move_all(|boundary| {
            if boundary.node == from {
                Boundary { node: into, offset: boundary.offset + length }
            } else if Some(boundary.node) == parent && boundary.offset == index {
                Boundary { node: into, offset: length }
            } else {
                boundary
            }
        });
    }
}

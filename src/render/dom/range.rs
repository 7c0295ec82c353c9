//! Range operations on the tree (DOM §5.5): comparing, extracting, inserting, reading as text.

use std::cmp::Ordering;

use super::Error;
use super::live::{Boundary, LiveSpan, Span};
use super::node::{NodeId, NodeKind};
use super::text::utf16_len;
use super::tree::Tree;

/// What to do with the contents of a range.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cut {
    /// `deleteContents`.
    Delete,
    /// `extractContents`.
    Extract,
    /// `cloneContents`.
    Copy,
}

impl Tree {
    /// "Length" of a node (DOM §4.2).
    pub fn node_length(&self, id: NodeId) -> usize {
        match self.kind(id) {
            NodeKind::DocumentType => 0,
            _ => self.character_data(id).map_or_else(|| self.children(id).count(), utf16_len),
        }
    }

    /// The position of `a` relative to `b`, in one tree (DOM §5.2 "position").
    pub fn compare_boundaries(&self, a: Boundary, b: Boundary) -> Ordering {
        if a.node == b.node {
            return a.offset.cmp(&b.offset);
        }
        if self.compare_order(a.node, b.node) == Ordering::Greater {
            return self.compare_boundaries_forward(b, a).reverse();
        }
        self.compare_boundaries_forward(a, b)
    }

    /// [`Tree::compare_boundaries`] for an `a` whose node comes first in tree order.
    fn compare_boundaries_forward(&self, a: Boundary, b: Boundary) -> Ordering {
        match self.child_towards(a.node, b.node) {
            Some(child) if self.index(child) < a.offset => Ordering::Greater,
            _ => Ordering::Less,
        }
    }

    /// The child of `above` that is or contains `below`.
    fn child_towards(&self, above: NodeId, below: NodeId) -> Option<NodeId> {
        self.inclusive_ancestors(below).find(|id| self.parent(*id) == Some(above))
    }

    /// The lowest node that contains both ends.
    pub fn common_ancestor(&self, span: Span) -> NodeId {
        let holds_end = |id: &NodeId| self.contains(*id, span.end.node);
        self.inclusive_ancestors(span.start.node).find(holds_end).unwrap_or(span.start.node)
    }

    /// "Contained": wholly within.
    pub fn span_contains(&self, span: Span, node: NodeId) -> bool {
        let before = Boundary { node, offset: 0 };
        let after = Boundary { node, offset: self.node_length(node) };
        self.root(node) == self.root(span.start.node)
            && self.compare_boundaries(before, span.start) == Ordering::Greater
            && self.compare_boundaries(after, span.end) == Ordering::Less
    }

    /// The children of the common ancestor that are contained.
    fn contained_children(&self, span: Span, common: NodeId) -> Vec<NodeId> {
        let first = match self.child_towards(common, span.start.node) {
            Some(child) => self.next_sibling(child),
            None => self.children(common).nth(span.start.offset),
        };
        let stop = match self.child_towards(common, span.end.node) {
            Some(child) => Some(child),
            None => self.children(common).nth(span.end.offset),
        };
        if first.is_none() || (span.start.node == common && span.end.node == common && span.is_collapsed()) {
            return Vec::new();
        }
        std::iter::successors(first, |id| self.next_sibling(*id)).take_while(|id| Some(*id) != stop).collect()
    }

    /// Cuts or copies the contents of a range. Returns the fragment, and the position of the range afterwards (DOM §5.5 "extract", "clone
    /// the contents", `deleteContents`).
    ///
    /// # Errors
    /// [`Error::HierarchyRequest`] if it contains a document type, [`Error::Full`].
    pub fn cut(&mut self, span: Span, how: Cut) -> Result<(NodeId, Option<Boundary>), Error> {
        let document = self.document_of(span.start.node);
        let fragment = self.create_fragment(document)?;
        if span.is_collapsed() {
            return Ok((fragment, None));
        }
        let (start, end) = (span.start, span.end);
        if start.node == end.node && self.character_data(start.node).is_some() {
            self.cut_data(start.node, start.offset, end.offset - start.offset, Some(fragment), how)?;
            return Ok((fragment, Some(start)));
        }
        let common = self.common_ancestor(span);
        let middle = self.contained_children(span, common);
        if how != Cut::Delete && middle.iter().any(|id| self.kind(*id) == NodeKind::DocumentType) {
            return Err(Error::HierarchyRequest);
        }
        let place = if self.contains(start.node, end.node) {
            start
        } else {
            let child = self.child_towards(common, start.node).unwrap_or(start.node);
            Boundary { node: common, offset: self.index(child) + 1 }
        };
        if start.node != common {
            self.cut_side(start, common, fragment, true, how)?;
        }
        for id in middle {
            self.cut_node(id, fragment, how)?;
        }
        if end.node != common {
            self.cut_side(end, common, fragment, false, how)?;
        }
        Ok((fragment, Some(place)))
    }

    /// Cuts what comes after (or before) a boundary, up to the child of the common ancestor, copying the nodes on the way up.
    fn cut_side(
        &mut self,
        at: Boundary,
        common: NodeId,
        fragment: NodeId,
        behind: bool,
        how: Cut,
    ) -> Result<(), Error> {
        let holder = if how == Cut::Delete { None } else { Some(self.create_fragment(self.document_of(at.node))?) };
        if self.character_data(at.node).is_some() {
            let (offset, count) =
                if behind { (at.offset, self.node_length(at.node) - at.offset) } else { (0, at.offset) };
            self.cut_data(at.node, offset, count, holder, how)?;
        } else {
            let children: Vec<NodeId> = if behind {
                self.children(at.node).skip(at.offset).collect()
            } else {
                self.children(at.node).take(at.offset).collect()
            };
            let copy = self.copy_into(at.node, holder, how)?;
            for child in children {
                self.cut_node(child, copy.unwrap_or(fragment), how)?;
            }
        }
        let mut node = at.node;
        while let Some(parent) = self.parent(node).filter(|parent| *parent != common) {
            let step = |tree: &Self, id: NodeId| if behind { tree.next_sibling(id) } else { tree.previous_sibling(id) };
            let mut siblings: Vec<NodeId> = std::iter::successors(step(self, node), |id| step(self, *id)).collect();
            let inner: Vec<NodeId> = holder.map(|holder| self.children(holder).collect()).unwrap_or_default();
            let copy = self.copy_into(parent, holder, how)?;
            let target = copy.unwrap_or(fragment);
            if behind {
                self.move_all_into(&inner, copy)?;
            } else {
                siblings.reverse();
            }
            for sibling in siblings {
                self.cut_node(sibling, target, how)?;
            }
            if !behind {
                self.move_all_into(&inner, copy)?;
            }
            node = parent;
        }
        if let Some(holder) = holder {
            self.append(fragment, holder)?;
        }
        Ok(())
    }

    fn move_all_into(&mut self, nodes: &[NodeId], parent: Option<NodeId>) -> Result<(), Error> {
        let Some(parent) = parent else { return Ok(()) };
        nodes.iter().try_for_each(|node| self.append(parent, *node).map(drop))
    }

    /// A shallow copy of a node, in `holder`.
    fn copy_into(&mut self, node: NodeId, holder: Option<NodeId>, how: Cut) -> Result<Option<NodeId>, Error> {
        let Some(holder) = holder.filter(|_| how != Cut::Delete) else { return Ok(None) };
        let copy = self.clone_node(node, None, false)?;
        self.append(holder, copy).map(Some)
    }

    fn cut_node(&mut self, id: NodeId, into: NodeId, how: Cut) -> Result<(), Error> {
        match how {
            Cut::Delete => self.remove(id),
            Cut::Extract => drop(self.append(into, id)?),
            Cut::Copy => {
                let copy = self.clone_node(id, None, true)?;
                self.append(into, copy)?;
            }
        }
        Ok(())
    }

    /// Cuts a part of character data; a copy of the node in the fragment takes it.
    fn cut_data(
        &mut self,
        id: NodeId,
        offset: usize,
        count: usize,
        into: Option<NodeId>,
        how: Cut,
    ) -> Result<(), Error> {
        if let Some(into) = into.filter(|_| how != Cut::Delete) {
            let part = self.substring_data(id, offset, count)?;
            let copy = self.clone_node(id, None, false)?;
            self.set_data(copy, &part)?;
            self.append(into, copy)?;
        }
        if how != Cut::Copy {
            self.replace_data(id, offset, count, "")?;
        }
        Ok(())
    }

    /// `range.insertNode(node)` (DOM §5.5 "insert").
    ///
    /// # Errors
    /// [`Error::HierarchyRequest`] if nothing can be inserted there, and the errors of an insertion.
    pub fn insert_into_span(&mut self, live: &LiveSpan, node: NodeId) -> Result<(), Error> {
        let start = live.get().start;
        let is_text = self.is_text(start.node);
        let cannot = matches!(self.kind(start.node), NodeKind::Instruction | NodeKind::Comment)
            || (is_text && self.parent(start.node).is_none())
            || start.node == node;
        if cannot {
            return Err(Error::HierarchyRequest);
        }
        let mut reference = if is_text { Some(start.node) } else { self.children(start.node).nth(start.offset) };
        let parent = if is_text { self.parent(start.node).unwrap_or(start.node) } else { start.node };
        self.ensure_insertion(parent, node, reference)?;
        if is_text {
            reference = Some(self.split_text(start.node, start.offset)?);
        }
        if reference == Some(node) {
            reference = self.next_sibling(node);
        }
        self.remove(node);
        let place = reference.map_or_else(|| self.node_length(parent), |id| self.index(id));
        let count = if self.kind(node) == NodeKind::Fragment { self.node_length(node) } else { 1 };
        self.insert_before(parent, node, reference)?;
        let span = live.get();
        if span.is_collapsed() {
            live.set(Span { end: Boundary { node: parent, offset: place + count }, ..span });
        }
        Ok(())
    }

    /// `range.toString()`: the text in it.
    pub fn span_text(&self, span: Span) -> String {
        let (start, end) = (span.start, span.end);
        let part = |id: NodeId, from: usize, to: usize| {
            self.substring_data(id, from, to.saturating_sub(from)).unwrap_or_default()
        };
        if start.node == end.node && self.is_text(start.node) {
            return part(start.node, start.offset, end.offset);
        }
        let mut text = String::new();
        if self.is_text(start.node) {
            text.push_str(&part(start.node, start.offset, usize::MAX));
        }
        let root = self.root(start.node);
        let first = if self.character_data(start.node).is_some() {
            self.next_after_subtree(start.node, root)
        } else {
            match self.children(start.node).nth(start.offset) {
                Some(child) => Some(child),
                None => self.next_after_subtree(start.node, root),
            }
        };
        let stop = if self.character_data(end.node).is_some() {
            Some(end.node)
        } else {
            match self.children(end.node).nth(end.offset) {
                Some(child) => Some(child),
                None => self.next_after_subtree(end.node, root),
            }
        };
        let within = std::iter::successors(first, |id| self.next_in_order(*id, root))
            .take_while(|id| Some(*id) != stop)
            .filter(|id| self.is_text(*id));
        text.extend(within.filter_map(|id| self.character_data(id)));
        if self.is_text(end.node) {
            text.push_str(&part(end.node, 0, end.offset));
        }
        text
    }
}

//! Mutations of the tree (DOM §4.2.3), each with its validity checks, its record and the standard's order of steps.

use super::Error;
use super::node::{NodeData, NodeId, NodeKind};
use super::record::Mutation;
use super::tree::Tree;

/// Checked mutations, for scripts.
impl Tree {
    /// `parent.insertBefore(node, child)` (DOM "pre-insert"). A fragment is replaced by its children.
    ///
    /// # Errors
    /// [`Error::HierarchyRequest`], [`Error::NotFound`], by the standard's "ensure pre-insertion validity".
    pub fn insert_before(&mut self, parent: NodeId, node: NodeId, child: Option<NodeId>) -> Result<NodeId, Error> {
        self.ensure_insertion(parent, node, child)?;
        let reference = if child == Some(node) { self.next_sibling(node) } else { child };
        self.insert(parent, node, reference);
        Ok(node)
    }

    /// `parent.appendChild(node)`.
    pub fn append(&mut self, parent: NodeId, node: NodeId) -> Result<NodeId, Error> {
        self.insert_before(parent, node, None)
    }

    /// `parent.replaceChild(node, child)`; returns `child`.
    pub fn replace(&mut self, parent: NodeId, node: NodeId, child: NodeId) -> Result<NodeId, Error> {
        self.ensure_replacement(parent, node, child)?;
        let next = self.next_sibling(child);
        let reference = if next == Some(node) { self.next_sibling(node) } else { next };
        let previous = self.previous_sibling(child);
        // The node leaves its old place first, which may be beside the child or inside it.
        let added = self.take_for_insertion(node);
        let mut removed = Vec::new();
        if self.parent(child).is_some() {
            removed.push(child);
            self.remove_quietly(child);
        }
        self.link_all(parent, &added, reference);
        self.record(|| Mutation::Children { target: parent, added, removed, previous, next: reference });
        Ok(child)
    }

    /// `parent.moveBefore(node, child)` (DOM "move"): within one tree, for elements and character data.
    ///
    /// # Errors
    /// [`Error::HierarchyRequest`], [`Error::NotFound`].
    pub fn move_before(&mut self, parent: NodeId, node: NodeId, child: Option<NodeId>) -> Result<(), Error> {
        let is_elsewhere = self.shadow_including_root(parent) != self.shadow_including_root(node);
        let is_fixed = !self.is_element(node) && self.character_data(node).is_none();
        if is_elsewhere || self.host_contains(node, parent) {
            return Err(Error::HierarchyRequest);
        }
        if child.is_some_and(|child| self.parent(child) != Some(parent)) {
            return Err(Error::NotFound);
        }
        let in_document = self.kind(parent) == NodeKind::Document;
        let doctype_follows = || child.is_some_and(|child| self.has_from(child, NodeKind::DocumentType));
        let is_second = || self.is_element(node) && (self.document_element(parent).is_some() || doctype_follows());
        if is_fixed || (in_document && (self.is_text(node) || is_second())) {
            return Err(Error::HierarchyRequest);
        }
        let reference = if child == Some(node) { self.next_sibling(node) } else { child };
        // A move keeps the focus.
        let focus = self.focus;
        self.insert(parent, node, reference);
        self.focus = focus;
        Ok(())
    }

    /// `parent.removeChild(child)`.
    ///
    /// # Errors
    /// [`Error::NotFound`] if it is not a child of `parent`.
    pub fn remove_child(&mut self, parent: NodeId, child: NodeId) -> Result<NodeId, Error> {
        if self.parent(child) != Some(parent) {
            return Err(Error::NotFound);
        }
        self.remove(child);
        Ok(child)
    }

    /// `parent.replaceChildren(node)`.
    pub fn replace_children(&mut self, parent: NodeId, node: Option<NodeId>) -> Result<(), Error> {
        if let Some(node) = node {
            self.ensure_insertion(parent, node, None)?;
        }
        self.replace_all(parent, node);
        Ok(())
    }

    /// `document.adoptNode(node)`.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for documents, [`Error::HierarchyRequest`] for shadow roots.
    pub fn adopt(&mut self, node: NodeId, document: NodeId) -> Result<NodeId, Error> {
        match self.data(node) {
            NodeData::Document(_) | NodeData::Vacant => Err(Error::NotSupported),
            NodeData::Fragment(fragment) if fragment.shadow.is_some() => Err(Error::HierarchyRequest),
            // A template's contents keep their document.
            NodeData::Fragment(fragment) if fragment.host.is_some() => Ok(node),
            _ => {
                self.adopt_into(node, document);
                Ok(node)
            }
        }
    }

    /// The place that `position` names in `element.insertAdjacentElement` and similar calls, as parent and next sibling.
    ///
    /// # Errors
    /// [`Error::Syntax`] for an unknown position; `Ok(None)` if there is no parent to insert into.
    pub fn adjacent_place(&self, node: NodeId, position: &str) -> Result<Option<(NodeId, Option<NodeId>)>, Error> {
        let place = match position.to_ascii_lowercase().as_str() {
            "beforebegin" => self.parent(node).map(|parent| (parent, Some(node))),
            "afterbegin" => Some((node, self.first_child(node))),
            "beforeend" => Some((node, None)),
            "afterend" => self.parent(node).map(|parent| (parent, self.next_sibling(node))),
            _ => return Err(Error::Syntax),
        };
        Ok(place)
    }

    /// Steps 1 to 6 of "ensure pre-insertion validity".
    pub fn ensure_insertion(&self, parent: NodeId, node: NodeId, child: Option<NodeId>) -> Result<(), Error> {
        self.ensure_family(parent, node, child)?;
        if self.kind(parent) != NodeKind::Document {
            return Ok(());
        }
        let doctype_follows = || child.is_some_and(|child| self.has_from(child, NodeKind::DocumentType));
        let element_is_allowed = || self.document_element(parent).is_none() && !doctype_follows();
        let is_allowed = match self.kind(node) {
            NodeKind::Fragment => self.fragment_fits_document(node, element_is_allowed)?,
            NodeKind::Element => element_is_allowed(),
            NodeKind::DocumentType => {
                let has_doctype = self.children(parent).any(|id| self.kind(id) == NodeKind::DocumentType);
                let element_precedes = match child {
                    Some(child) => self.has_before(child, NodeKind::Element),
                    None => self.document_element(parent).is_some(),
                };
                !has_doctype && !element_precedes
            }
            _ => true,
        };
        if is_allowed { Ok(()) } else { Err(Error::HierarchyRequest) }
    }

    /// Steps 1 to 6 of "replace".
    fn ensure_replacement(&self, parent: NodeId, node: NodeId, child: NodeId) -> Result<(), Error> {
        self.ensure_family(parent, node, Some(child))?;
        if self.kind(parent) != NodeKind::Document {
            return Ok(());
        }
        let doctype_follows =
            || self.next_sibling(child).is_some_and(|next| self.has_from(next, NodeKind::DocumentType));
        let element_is_allowed =
            || self.document_element(parent).is_none_or(|element| element == child) && !doctype_follows();
        let is_allowed = match self.kind(node) {
            NodeKind::Fragment => self.fragment_fits_document(node, element_is_allowed)?,
            NodeKind::Element => element_is_allowed(),
            NodeKind::DocumentType => {
                let is_other = |id: NodeId| self.kind(id) == NodeKind::DocumentType && id != child;
                !self.children(parent).any(is_other) && !self.has_before(child, NodeKind::Element)
            }
            _ => true,
        };
        if is_allowed { Ok(()) } else { Err(Error::HierarchyRequest) }
    }

    /// Steps 1 to 5, shared by insertion and replacement.
    fn ensure_family(&self, parent: NodeId, node: NodeId, child: Option<NodeId>) -> Result<(), Error> {
        use NodeKind::{CData, Comment, Document, DocumentType, Element, Fragment, Instruction, Text};
        if !matches!(self.kind(parent), Document | Fragment | Element) || self.host_contains(node, parent) {
            return Err(Error::HierarchyRequest);
        }
        if child.is_some_and(|child| self.parent(child) != Some(parent)) {
            return Err(Error::NotFound);
        }
        let in_document = self.kind(parent) == Document;
        match self.kind(node) {
            Text | CData if in_document => Err(Error::HierarchyRequest),
            DocumentType if !in_document => Err(Error::HierarchyRequest),
            Fragment | DocumentType | Element | Text | CData | Comment | Instruction => Ok(()),
            _ => Err(Error::HierarchyRequest),
        }
    }

    fn fragment_fits_document(&self, fragment: NodeId, element_fits: impl Fn() -> bool) -> Result<bool, Error> {
        let elements = self.child_elements(fragment).take(2).count();
        if elements > 1 || self.children(fragment).any(|id| self.is_text(id)) {
            return Err(Error::HierarchyRequest);
        }
        Ok(elements == 0 || element_fits())
    }

    /// Whether the node or a later sibling is of a kind.
    fn has_from(&self, node: NodeId, kind: NodeKind) -> bool {
        std::iter::successors(Some(node), |id| self.next_sibling(*id)).any(|id| self.kind(id) == kind)
    }

    /// Whether an earlier sibling is of a kind.
    fn has_before(&self, node: NodeId, kind: NodeKind) -> bool {
        std::iter::successors(self.previous_sibling(node), |id| self.previous_sibling(*id))
            .any(|id| self.kind(id) == kind)
    }
}

/// Unchecked mutations, for the algorithms and the parser.
impl Tree {
    /// DOM "insert". The caller has checked that the node is allowed there.
    pub(super) fn insert(&mut self, parent: NodeId, node: NodeId, child: Option<NodeId>) {
        let added = self.take_for_insertion(node);
        if added.is_empty() {
            return;
        }
        // Read after the nodes have left their old places, one of which may have been here.
        let previous = match child {
            Some(child) => self.previous_sibling(child),
            None => self.last_child(parent),
        };
        self.link_all(parent, &added, child);
        self.record(|| Mutation::Children { target: parent, added, removed: Vec::new(), previous, next: child });
    }

    /// DOM "remove".
    pub fn remove(&mut self, node: NodeId) {
        let Some(target) = self.parent(node) else {
            return;
        };
        let (previous, next) = (self.previous_sibling(node), self.next_sibling(node));
        self.before_removal(node);
        self.lose_focus(node);
        self.unlink(node);
        self.record(|| Mutation::Children { target, added: Vec::new(), removed: vec![node], previous, next });
    }

    /// DOM "replace all".
    pub fn replace_all(&mut self, parent: NodeId, node: Option<NodeId>) {
        let removed: Vec<NodeId> = self.children(parent).collect();
        for child in &removed {
            self.remove_quietly(*child);
        }
        let added = node.map(|node| self.take_for_insertion(node)).unwrap_or_default();
        self.link_all(parent, &added, None);
        if !added.is_empty() || !removed.is_empty() {
            self.record(|| Mutation::Children { target: parent, added, removed, previous: None, next: None });
        }
    }

    /// The nodes that an insertion inserts: the node itself, removed from its old place, or a fragment's children.
    fn take_for_insertion(&mut self, node: NodeId) -> Vec<NodeId> {
        if self.kind(node) != NodeKind::Fragment {
            self.remove(node);
            return vec![node];
        }
        let children: Vec<NodeId> = self.children(node).collect();
        for child in &children {
            self.remove_quietly(*child);
        }
        if !children.is_empty() {
            let removed = children.clone();
            self.record(|| Mutation::Children { target: node, added: Vec::new(), removed, previous: None, next: None });
        }
        children
    }

    fn link_all(&mut self, parent: NodeId, nodes: &[NodeId], child: Option<NodeId>) {
        let document = self.document_of(parent);
        self.before_insertion(parent, child, nodes.len());
        for node in nodes {
            self.adopt_into(*node, document);
            self.link(parent, *node, child);
        }
    }

    fn remove_quietly(&mut self, node: NodeId) {
        self.before_removal(node);
        self.lose_focus(node);
        self.unlink(node);
        self.changed();
    }

    /// DOM "adopt", with the adopting steps of templates (HTML §4.12.3).
    pub(super) fn adopt_into(&mut self, node: NodeId, document: NodeId) {
        self.remove(node);
        let from = self.node(node).document;
        if from == Some(document) {
            return;
        }
        self.structure_changed();
        // Pairs of a node and its new document.
        let mut work = vec![(node, document)];
        while let Some((top, document)) = work.pop() {
            let mut at = Some(top);
            while let Some(id) = at {
                if let Some(node) = self.node_mut(id) {
                    node.document = Some(document);
                }
                if !self.attr_nodes.is_empty() {
                    for attr in self.attr_nodes(id).to_vec() {
                        if let Some(node) = self.node_mut(attr) {
                            node.document = Some(document);
                        }
                    }
                }
                let below = self.element(id).map(|element| (element.shadow, element.template));
                if let Some((shadow, template)) = below {
                    work.extend(shadow.map(|shadow| (shadow, document)));
                    if let Some(template) = template {
                        let inert = self.inert_document(document);
                        work.push((template, inert));
                    }
                }
                at = self.next_in_order(id, top);
            }
        }
        self.record(|| Mutation::Adopted { node, from, to: document });
    }

    /// Links a parentless node among the children of `parent`.
    pub(super) fn link(&mut self, parent: NodeId, node: NodeId, child: Option<NodeId>) {
        self.structure_changed();
        let previous = match child {
            Some(child) => self.previous_sibling(child),
            None => self.last_child(parent),
        };
        if let Some(place) = self.node_mut(node) {
            (place.parent, place.previous, place.next) = (Some(parent), previous, child);
        }
        match previous.and_then(|previous| self.node_mut(previous)) {
            Some(previous) => previous.next = Some(node),
            None => self.set_first_child(parent, Some(node)),
        }
        match child.and_then(|child| self.node_mut(child)) {
            Some(child) => child.previous = Some(node),
            None => self.set_last_child(parent, Some(node)),
        }
    }

    /// A removed node loses the focus (HTML §6.6.4 "focus fixup").
    fn lose_focus(&mut self, node: NodeId) {
        if self.focus.is_some_and(|focus| self.contains(node, focus)) {
            self.focus = None;
        }
    }

    pub(super) fn unlink(&mut self, node: NodeId) {
        let (parent, previous, next) = (self.parent(node), self.previous_sibling(node), self.next_sibling(node));
        let Some(parent) = parent else {
            return;
        };
        self.structure_changed();
        match previous.and_then(|previous| self.node_mut(previous)) {
            Some(previous) => previous.next = next,
            None => self.set_first_child(parent, next),
        }
        match next.and_then(|next| self.node_mut(next)) {
            Some(next) => next.previous = previous,
            None => self.set_last_child(parent, previous),
        }
        if let Some(place) = self.node_mut(node) {
            (place.parent, place.previous, place.next) = (None, None, None);
        }
    }

    fn set_first_child(&mut self, parent: NodeId, child: Option<NodeId>) {
        if let Some(parent) = self.node_mut(parent) {
            parent.first_child = child;
        }
    }

    fn set_last_child(&mut self, parent: NodeId, child: Option<NodeId>) {
        if let Some(parent) = self.node_mut(parent) {
            parent.last_child = child;
        }
    }
}

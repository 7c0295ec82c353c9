//! `Attr` nodes (DOM §4.9.2): attributes that a script holds as objects.
//!
//! An element keeps its attributes as values; an attribute node is created only when a script requests it. While the node has an element,
//! it reads the element's value; once the attribute is removed, the node keeps its last value.

use html5ever::QualName;

use super::Error;
use super::node::{Attr, Attribute, NodeData, NodeId};
use super::tree::Tree;

impl Tree {
    /// An attribute without an element, empty.
    ///
    /// # Errors
    /// [`Error::Full`].
    pub fn create_attr(&mut self, document: NodeId, name: QualName, value: String) -> Result<NodeId, Error> {
        self.create(NodeData::Attr(Box::new(Attr { name, value, owner: None })), Some(document))
    }

    pub fn attr(&self, id: NodeId) -> Option<&Attr> {
        match self.data(id) {
            NodeData::Attr(attr) => Some(attr),
            _ => None,
        }
    }

    fn attr_mut(&mut self, id: NodeId) -> Option<&mut Attr> {
        match self.data_mut(id) {
            Some(NodeData::Attr(attr)) => Some(attr),
            _ => None,
        }
    }

    /// The value of an attribute's node.
    pub fn attr_value(&self, id: NodeId) -> Option<&str> {
        let attr = self.attr(id)?;
        let owned = attr
            .owner
            .and_then(|owner| self.attribute_ns(owner, &attr.name.ns, &attr.name.local))
            .map(|one| &one.value);
        Some(owned.unwrap_or(&attr.value))
    }

    /// `attr.value = …` (DOM §4.9.2 "set an existing attribute value").
    ///
    /// # Errors
    /// [`Error::Full`]; [`Error::NotSupported`] for another node.
    pub fn set_attr_value(&mut self, id: NodeId, value: &str) -> Result<(), Error> {
        let attr = self.attr(id).ok_or(Error::NotSupported)?;
        if let Some(owner) = attr.owner {
            let name = attr.name.clone();
            return self.set_attribute_ns(owner, name, value);
        }
        let old = attr.value.len();
        self.check_room(0, value.len().saturating_sub(old))?;
        self.count_text(old, value.len());
        if let Some(attr) = self.attr_mut(id) {
            value.clone_into(&mut attr.value);
        }
        Ok(())
    }

    /// The node of an element's attribute, created on first access; `None` if the element has no such attribute.
    ///
    /// # Errors
    /// [`Error::Full`].
    pub fn attr_node(&mut self, element: NodeId, namespace: &str, local: &str) -> Result<Option<NodeId>, Error> {
        let Some(name) = self.attribute_ns(element, namespace, local).map(|one| one.name.clone()) else {
            return Ok(None);
        };
        if let Some(known) = self.known_attr(element, namespace, local) {
            return Ok(Some(known));
        }
        let node = self.create_attr(self.document_of(element), name, String::new())?;
        self.own_attr(element, node);
        Ok(Some(node))
    }

    /// `element.setAttributeNode(attr)`; returns the node of the attribute that it replaced.
    ///
    /// # Errors
    /// [`Error::InUse`] for the attribute of another element, [`Error::Full`].
    pub fn set_attr_node(&mut self, element: NodeId, node: NodeId) -> Result<Option<NodeId>, Error> {
        let attr = self.attr(node).ok_or(Error::NotSupported)?;
        if attr.owner.is_some_and(|owner| owner != element) {
            return Err(Error::InUse);
        }
        if attr.owner.is_some() {
            return Ok(Some(node));
        }
        let new = Attribute { name: attr.name.clone(), value: attr.value.clone() };
        let old = self.attr_node(element, &new.name.ns, &new.name.local)?;
        self.check_room(0, new.value.len())?;
        if let Some(old) = old {
            self.release_attr(old);
        }
        // The node's own copy of the value no longer counts; the element's does from here on.
        let freed = self.attr_mut(node).map_or(0, |attr| std::mem::take(&mut attr.value).len());
        self.count_text(freed, 0);
        self.own_attr(element, node);
        let document = self.document_of(element);
        if let Some(place) = self.node_mut(node) {
            place.document = Some(document);
        }
        self.replace_attribute(element, new)?;
        Ok(old)
    }

    /// `element.removeAttributeNode(attr)`.
    ///
    /// # Errors
    /// [`Error::NotFound`] for an attribute that is not the element's.
    pub fn remove_attr_node(&mut self, element: NodeId, node: NodeId) -> Result<(), Error> {
        let attr = self.attr(node).filter(|attr| attr.owner == Some(element)).ok_or(Error::NotFound)?;
        let name = attr.name.clone();
        self.remove_attribute_ns(element, &name.ns, &name.local);
        Ok(())
    }

    /// The existing nodes of an element's attributes.
    pub(super) fn attr_nodes(&self, element: NodeId) -> &[NodeId] {
        self.attr_nodes.get(&element).map_or(&[], Vec::as_slice)
    }

    fn known_attr(&self, element: NodeId, namespace: &str, local: &str) -> Option<NodeId> {
        let is_it = |id: &&NodeId| {
            self.attr(**id).is_some_and(|attr| &*attr.name.ns == namespace && &*attr.name.local == local)
        };
        self.attr_nodes(element).iter().find(is_it).copied()
    }

    fn own_attr(&mut self, element: NodeId, node: NodeId) {
        if let Some(attr) = self.attr_mut(node) {
            attr.owner = Some(element);
            self.attr_nodes.entry(element).or_default().push(node);
        }
    }

    /// Detaches a node from its element; it keeps the attribute's value.
    fn release_attr(&mut self, node: NodeId) {
        let value = self.attr_value(node).unwrap_or_default().to_owned();
        let Some(owner) = self.attr_mut(node).and_then(|attr| attr.owner.take()) else { return };
        self.count_text(0, value.len());
        if let Some(attr) = self.attr_mut(node) {
            attr.value = value;
        }
        if let Some(nodes) = self.attr_nodes.get_mut(&owner) {
            nodes.retain(|other| *other != node);
            if nodes.is_empty() {
                self.attr_nodes.remove(&owner);
            }
        }
    }

    /// Call before removing an element's attribute: detaches its node, if there is one.
    pub(super) fn release_attr_of(&mut self, element: NodeId, namespace: &str, local: &str) {
        if self.attr_nodes.is_empty() {
            return;
        }
        if let Some(node) = self.known_attr(element, namespace, local) {
            self.release_attr(node);
        }
    }
}

#[cfg(test)]
mod tests;

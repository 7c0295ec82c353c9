//! Copies (DOM §4.4 "clone a node") and equality. They use loops instead of recursion, since scripts can nest nodes as deep as memory
//! allows.

use super::Error;
use super::node::{Attribute, CustomState, ElementState, Instruction, NodeData, NodeId};
use super::record::Mutation;
use super::tree::Tree;

/// Nodes still to copy: source, target, document.
type Work = Vec<(NodeId, NodeId, NodeId)>;

impl Tree {
    /// `node.cloneNode(deep)`, or `document.importNode(node, deep)` with the document given.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for shadow roots, and for documents if `document` is given; [`Error::Full`], which leaves the partial copy
    /// to the next sweep.
    pub fn clone_node(&mut self, node: NodeId, document: Option<NodeId>, deep: bool) -> Result<NodeId, Error> {
        let is_document = matches!(self.data(node), NodeData::Document(_));
        if self.shadow_host(node).is_some() || (is_document && document.is_some()) {
            return Err(Error::NotSupported);
        }
        let document = document.unwrap_or_else(|| self.document_of(node));
        let mut work = Work::new();
        let copy = self.copy_one(node, document, deep, &mut work)?;
        if deep {
            work.push((node, copy, if is_document { copy } else { document }));
        }
        while let Some((source, target, document)) = work.pop() {
            self.copy_children(source, target, document, deep, &mut work)?;
        }
        self.changed();
        Ok(copy)
    }

    fn copy_children(
        &mut self,
        source: NodeId,
        target: NodeId,
        document: NodeId,
        deep: bool,
        work: &mut Work,
    ) -> Result<(), Error> {
        // The copies of the nodes from `source` down to the parent of what is copied next.
        let mut parents = vec![target];
        let mut next = self.first_child(source);
        while let Some(id) = next {
            let copy = self.copy_one(id, document, deep, work)?;
            if let Some(parent) = parents.last() {
                self.link(*parent, copy, None);
            }
            if let Some(child) = self.first_child(id) {
                parents.push(copy);
                next = Some(child);
                continue;
            }
            let mut at = id;
            next = loop {
                if let Some(sibling) = self.next_sibling(at) {
                    break Some(sibling);
                }
                match self.parent(at) {
                    Some(parent) if parent != source => at = parent,
                    _ => break None,
                }
                parents.pop();
            };
        }
        Ok(())
    }

    fn copy_one(&mut self, id: NodeId, document: NodeId, deep: bool, work: &mut Work) -> Result<NodeId, Error> {
        match self.data(id) {
            NodeData::Element(_) => self.copy_element(id, document, deep, work),
            NodeData::Text(data) => self.create_text(document, data.clone()),
            NodeData::Comment(data) => self.create_comment(document, data.clone()),
            NodeData::CData(data) => {
                let data = data.clone();
                self.check_room(1, data.len())?;
                Ok(self.place(NodeData::CData(data), Some(document)))
            }
            NodeData::Instruction(instruction) => {
                let Instruction { target, data } = (**instruction).clone();
                self.check_room(1, data.len())?;
                Ok(self.place(NodeData::Instruction(Box::new(Instruction { target, data })), Some(document)))
            }
            NodeData::DocumentType(doctype) => {
                let doctype = doctype.clone();
                self.create_doctype(document, &doctype.name, &doctype.public_id, &doctype.system_id)
            }
            NodeData::Document(data) => {
                let mut data = data.clone();
                data.inert = None;
                self.check_room(1, 0)?;
                Ok(self.place(NodeData::Document(data), None))
            }
            NodeData::Attr(attr) => {
                let (name, value) = (attr.name.clone(), self.attr_value(id).unwrap_or_default().to_owned());
                self.create_attr(document, name, value)
            }
            NodeData::Fragment(_) | NodeData::Vacant => self.create_fragment(document),
        }
    }

    fn copy_element(&mut self, id: NodeId, document: NodeId, deep: bool, work: &mut Work) -> Result<NodeId, Error> {
        let Some(element) = self.element(id) else {
            return Err(Error::NotSupported);
        };
        let (name, is, attributes) = (element.name.clone(), element.is.clone(), element.attributes.clone());
        // The cloning steps of inputs and scripts (HTML §4.10.5, §4.12.1) copy these, and only these.
        let old = &element.state;
        let (checked, indeterminate, value) = (old.checked, old.indeterminate, old.value.clone());
        let already_started = old.already_started;
        let (template, shadow) = (element.template, element.shadow);
        let copy = self.create_customized(document, name, attributes, is)?;
        if let Some(new) = self.element_mut(copy) {
            let custom = new.state.custom;
            new.state =
                ElementState { custom, checked, indeterminate, value, already_started, ..ElementState::default() };
            if custom == CustomState::Undefined {
                self.record(|| Mutation::Made { node: copy });
            }
        }
        let contents = self.element(copy).and_then(|element| element.template);
        if let (true, Some(from), Some(to)) = (deep, template, contents) {
            work.push((from, to, self.document_of(to)));
        }
        if let Some((shadow, settings)) = shadow.and_then(|root| Some((root, *self.fragment(root)?.shadow()?)))
            && settings.clonable
        {
            let root = self.attach_shadow(copy, settings)?;
            work.push((shadow, root, document));
        }
        Ok(copy)
    }

    /// `node.isEqualNode(other)` (DOM §4.4 "equals"): the same tree, attributes in any order.
    pub fn is_equal(&self, node: NodeId, other: NodeId) -> bool {
        let (mut a, mut b) = (node, other);
        loop {
            if !self.is_equal_alone(a, b) {
                return false;
            }
            let children = (self.first_child(a), self.first_child(b));
            let (next_a, next_b) = match children {
                (None, None) => (self.next_after_subtree(a, node), self.next_after_subtree(b, other)),
                children => children,
            };
            match (next_a, next_b) {
                (None, None) => return true,
                // Both are equally deep as long as each pair had as many children.
                (Some(next_a), Some(next_b)) if self.same_depth(a, b, next_a, next_b) => (a, b) = (next_a, next_b),
                _ => return false,
            }
        }
    }

    /// Whether both steps went up equally far.
    fn same_depth(&self, a: NodeId, b: NodeId, next_a: NodeId, next_b: NodeId) -> bool {
        let climbed = |from: NodeId, to: NodeId| {
            self.inclusive_ancestors(from).take_while(|id| Some(*id) != self.parent(to)).count()
        };
        climbed(a, next_a) == climbed(b, next_b)
    }

    fn is_equal_alone(&self, a: NodeId, b: NodeId) -> bool {
        match (self.data(a), self.data(b)) {
            (NodeData::Attr(one), NodeData::Attr(other)) => {
                (&one.name.ns, &one.name.local) == (&other.name.ns, &other.name.local)
                    && self.attr_value(a) == self.attr_value(b)
            }
            (NodeData::Element(a), NodeData::Element(b)) => {
                let has = |attributes: &[Attribute], one: &Attribute| {
                    attributes.iter().any(|other| {
                        other.name.ns == one.name.ns && other.name.local == one.name.local && other.value == one.value
                    })
                };
                a.name == b.name
                    && a.attributes.len() == b.attributes.len()
                    && a.attributes.iter().all(|attribute| has(&b.attributes, attribute))
            }
            (NodeData::Text(a), NodeData::Text(b))
            | (NodeData::CData(a), NodeData::CData(b))
            | (NodeData::Comment(a), NodeData::Comment(b)) => a == b,
            (NodeData::Instruction(a), NodeData::Instruction(b)) => a.target == b.target && a.data == b.data,
            (NodeData::DocumentType(a), NodeData::DocumentType(b)) => {
                a.name == b.name && a.public_id == b.public_id && a.system_id == b.system_id
            }
            (NodeData::Document(_), NodeData::Document(_)) | (NodeData::Fragment(_), NodeData::Fragment(_)) => true,
            _ => false,
        }
    }
}

//! Shadow trees: slot assignment, slot contents (DOM §4.2.2), and walks into shadow roots.

use html5ever::local_name;

use super::node::{NodeData, NodeId, NodeKind};
use super::tree::Tree;

impl Tree {
    /// "Shadow-including inclusive descendants" that are elements, in tree order, a shadow root's before the host's own.
    pub fn composed_elements(&self, root: NodeId) -> Vec<NodeId> {
        let mut found = Vec::new();
        let mut work = vec![root];
        while let Some(id) = work.pop() {
            if let Some(element) = self.element(id) {
                found.push(id);
                work.extend(self.children(id).rev());
                work.extend(element.shadow);
            } else if matches!(self.kind(id), NodeKind::Fragment | NodeKind::Document) {
                work.extend(self.children(id).rev());
            }
        }
        found
    }

    /// The name of the slot that a slottable asks for; `None` for a node that cannot be slotted.
    pub fn slot_name_of(&self, id: NodeId) -> Option<&str> {
        match self.kind(id) {
            NodeKind::Element => Some(self.attribute(id, &local_name!("slot")).unwrap_or_default()),
            NodeKind::Text | NodeKind::CData => Some(""),
            _ => None,
        }
    }

    fn is_slot(&self, id: NodeId) -> bool {
        self.element(id).is_some_and(|element| element.is_html(&local_name!("slot")))
    }

    /// A shadow tree's first slot with this name (DOM §4.2.2.3).
    pub fn slot_named(&self, root: NodeId, name: &str) -> Option<NodeId> {
        self.descendants(root)
            .filter(|id| self.is_slot(*id))
            .find(|id| self.attribute(*id, &local_name!("name")).unwrap_or_default() == name)
    }

    /// "Find a slot": the slot of a node. With `open`, nodes of closed roots have none.
    pub fn find_slot(&self, id: NodeId, open: bool) -> Option<NodeId> {
        let host = self.parent(id)?;
        let root = self.element(host)?.shadow?;
        let settings = self.fragment(root)?.shadow?;
        if open && !settings.is_open {
            return None;
        }
        let name = self.slot_name_of(id)?;
        if settings.manual_slots {
            let holds = |slot: &NodeId| self.element(*slot).is_some_and(|slot| slot.state.assigned.contains(&id));
            return self.descendants(root).filter(|slot| self.is_slot(*slot)).find(holds);
        }
        self.slot_named(root, name)
    }

    /// "Find slottables": the nodes assigned to a slot, in the order of the host's children, or of `assign()`.
    pub fn assigned_nodes(&self, slot: NodeId) -> Vec<NodeId> {
        let root = self.root(slot);
        let (Some(host), true) = (self.shadow_host(root), self.is_slot(slot)) else {
            return Vec::new();
        };
        if self.fragment(root).and_then(|root| root.shadow).is_some_and(|settings| settings.manual_slots) {
            let assigned = self.element(slot).map(|element| element.state.assigned.as_slice()).unwrap_or_default();
            return assigned.iter().copied().filter(|id| self.find_slot(*id, false) == Some(slot)).collect();
        }
        let name = self.attribute(slot, &local_name!("name")).unwrap_or_default();
        if self.slot_named(root, name) != Some(slot) {
            return Vec::new();
        }
        self.children(host).filter(|id| self.slot_name_of(*id) == Some(name)).collect()
    }

    /// "Find flattened slottables": the nodes rendered in a slot, with nested slots replaced by their contents.
    pub fn flattened_nodes(&self, slot: NodeId) -> Vec<NodeId> {
        let is_shown = |id: NodeId| self.is_slot(id) && self.shadow_host(self.root(id)).is_some();
        let mut found = Vec::new();
        let mut work = if is_shown(slot) { vec![slot] } else { Vec::new() };
        while let Some(id) = work.pop() {
            if !is_shown(id) {
                found.push(id);
                continue;
            }
            let assigned = self.assigned_nodes(id);
            if assigned.is_empty() {
                work.extend(self.children(id).rev().filter(|child| self.slot_name_of(*child).is_some()));
            } else {
                work.extend(assigned.into_iter().rev());
            }
        }
        found
    }

    /// A declarative root, emptied for a script that attaches its own (DOM §4.9 "attach a shadow root" step 4); `None` if there is none
    /// or its mode differs.
    pub fn take_declarative_root(&mut self, host: NodeId, is_open: bool) -> Option<NodeId> {
        let root = self.element(host)?.shadow?;
        let NodeData::Fragment(fragment) = self.data_mut(root)? else { return None };
        let settings =
            fragment.shadow.as_mut().filter(|settings| settings.declarative && settings.is_open == is_open)?;
        settings.declarative = false;
        self.replace_all(root, None);
        Some(root)
    }

    /// `slot.assign(…)`: in a tree with manual slots, the nodes leave the other slots.
    pub fn assign_to_slot(&mut self, slot: NodeId, nodes: Vec<NodeId>) {
        let others: Vec<NodeId> = self
            .descendants(self.root(slot))
            .filter(|id| self.element(*id).is_some_and(|element| !element.state.assigned.is_empty()))
            .collect();
        for other in others {
            if let Some(state) = self.state_mut(other) {
                state.assigned.retain(|id| !nodes.contains(id));
            }
        }
        if let Some(state) = self.state_mut(slot) {
            state.assigned = nodes;
        }
    }
}

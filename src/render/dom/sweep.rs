//! Garbage collection: frees nodes that neither the page nor a script's wrapper can reach.

use super::node::{NodeData, NodeId};
use super::record::Mutation;
use super::tree::Tree;

impl Tree {
    /// Frees every node that no root reaches, and returns their number. A node keeps its whole tree, its document, template contents,
    /// shadow roots, and hosts alive. Nodes named in the log count as roots; an active parser reports its own through
    /// [`super::Parser::roots`].
    ///
    /// Time and memory are linear in the size of the arena.
    pub fn sweep(&mut self, roots: impl IntoIterator<Item = NodeId>) -> usize {
        let mut reached = vec![false; self.places()];
        let mut work: Vec<NodeId> = roots.into_iter().collect();
        work.extend(self.log().iter().flat_map(Mutation::nodes));
        while let Some(id) = work.pop() {
            match reached.get_mut(id.index()) {
                Some(mark) if !*mark => *mark = true,
                _ => continue,
            }
            let node = self.node(id);
            let links = [node.document, node.parent, node.first_child, node.previous, node.next];
            work.extend(links.into_iter().flatten());
            match &node.data {
                NodeData::Element(element) => {
                    work.extend([element.template, element.shadow, element.state.parser_form].into_iter().flatten());
                    work.extend(self.attr_nodes(id));
                }
                NodeData::Attr(attr) => work.extend(attr.owner),
                NodeData::Fragment(fragment) => work.extend(fragment.host),
                NodeData::Document(document) => work.extend(document.inert),
                _ => {}
            }
        }
        let lost: Vec<NodeId> = (0..self.places())
            .filter(|index| !reached[*index])
            .filter_map(NodeId::from_index)
            .filter(|id| !matches!(self.data(*id), NodeData::Vacant))
            .collect();
        for id in &lost {
            self.vacate(*id);
        }
        if !lost.is_empty() {
            self.forget_vacated_ids();
            self.forget_styles(|id| reached.get(id.index()).copied().unwrap_or(false));
        }
        lost.len()
    }
}

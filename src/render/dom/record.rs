//! Records of mutations, for `MutationObserver` and custom-element reactions.

use html5ever::{LocalName, Namespace};

use super::node::NodeId;

/// One change, in order of occurrence (DOM §4.3.2 "queue a mutation record"). The reader of the log decides which observers see it.
#[derive(Clone, Debug, PartialEq)]
pub enum Mutation {
    Children {
        target: NodeId,
        added: Vec<NodeId>,
        removed: Vec<NodeId>,
        previous: Option<NodeId>,
        next: Option<NodeId>,
    },
    Attribute {
        target: NodeId,
        namespace: Namespace,
        local: LocalName,
        old: Option<String>,
        /// `None` if it was removed. For `attributeChangedCallback`.
        new: Option<String>,
    },
    Text {
        target: NodeId,
        old: String,
        /// In UTF-16 units: where the data changed, how many units were removed and how many added; live ranges move by them.
        offset: usize,
        removed: usize,
        added: usize,
    },
    /// The node and its descendants moved to another document. For `adoptedCallback`; no observer sees it.
    Adopted { node: NodeId, from: Option<NodeId>, to: NodeId },
    /// A copy of a potential custom element: it is upgraded at once if its name is defined. No observer sees it.
    Made { node: NodeId },
}

impl Mutation {
    /// Every node that the record names.
    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeId> {
        let (first, lists, edges): (NodeId, [&[NodeId]; 2], [Option<NodeId>; 2]) = match self {
            Self::Children { target, added, removed, previous, next } => {
                (*target, [added, removed], [*previous, *next])
            }
            Self::Attribute { target, .. } | Self::Text { target, .. } => (*target, [&[], &[]], [None, None]),
            Self::Adopted { node, from, to } => (*node, [&[], &[]], [*from, Some(*to)]),
            Self::Made { node } => (*node, [&[], &[]], [None, None]),
        };
        std::iter::once(first).chain(lists.into_iter().flatten().copied()).chain(edges.into_iter().flatten())
    }
}

//! Where a control is in its page, so that a replacement of a list is recognised even after a script has recreated its table.

use super::rows::has_likes;
use crate::dom::{NodeId, Tree};
use crate::limits;

/// This many ancestors define a control's position: a row, its body, its table and the container of that.
const WITHIN: usize = 4;

/// The ancestors of a control, innermost first, each with its index among its siblings; no index for one among similar siblings, such as
/// rows.
#[derive(Clone, Debug, Default)]
pub(super) struct AncestorPath(Vec<(NodeId, Option<usize>)>);

impl AncestorPath {
    pub fn of(tree: &Tree, id: NodeId) -> Self {
        let nth = |of: NodeId| {
            let beside = tree.children(tree.parent(of)?).filter(|beside| tree.is_element(*beside));
            beside.take(limits::RENDER_CONTROL_ELEMENTS).position(|beside| beside == of)
        };
        let around = tree.ancestors(id).take(WITHIN).filter(|of| tree.is_element(*of));
        Self(around.map(|of| (of, if has_likes(tree, of) { None } else { nth(of) })).collect())
    }

    /// Whether both are at the same position in the same element.
    pub fn is(&self, other: &Self) -> bool {
        for ((own, nth), (of, other_nth)) in self.0.iter().zip(&other.0) {
            if own == of {
                return true;
            }
            if nth.zip(*other_nth).is_some_and(|(nth, other)| nth != other) {
                return false;
            }
        }
        false
    }
}

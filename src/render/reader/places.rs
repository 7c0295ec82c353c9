//! Where a control stands in its page, so that what is shown in the place of a list is known as that, though a script has made its table anew.

use super::rows::has_likes;
use crate::dom::{NodeId, Tree};
use crate::limits;

/// So many elements around a control say where it stands: a table's row in its body, its table and what holds that.
const WITHIN: usize = 4;

/// The elements around a control, the innermost first, each with its number among those beside it; none of one that stands among its likes, as
/// rows do.
#[derive(Clone, Debug, Default)]
pub(super) struct Place(Vec<(NodeId, Option<usize>)>);

impl Place {
    pub fn of(tree: &Tree, id: NodeId) -> Self {
        let nth = |of: NodeId| {
            let beside = tree.children(tree.parent(of)?).filter(|beside| tree.is_element(*beside));
            beside.take(limits::RENDER_CONTROL_ELEMENTS).position(|beside| beside == of)
        };
        let around = tree.ancestors(id).take(WITHIN).filter(|of| tree.is_element(*of));
        Self(around.map(|of| (of, if has_likes(tree, of) { None } else { nth(of) })).collect())
    }

    /// Whether both are within the same element, and in the same way.
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

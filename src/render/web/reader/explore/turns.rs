//! Lists that are turned and nothing else, as members' pages are read: any other click may do something in the member's name.

use std::collections::HashSet;

use super::super::super::read;
use super::super::controls::{Control, Rank};
use super::Reader;
use crate::render::dom::{NodeId, Tree};

/// What pagers are called, and how far above a number its pager may be: a number may be anything elsewhere, a rating for one.
const PAGERS: &[&str] = &["pagin", "paging", "pager", "page navigation"];
const PAGER_WITHIN: usize = 4;

impl Reader<'_> {
    /// Leaves "next", "load more" and the numbers of pagers, outside of rows.
    pub(super) fn keep_turns(&mut self, controls: &mut Vec<Control>) {
        let numbers: Vec<NodeId> = controls.iter().filter(|of| of.rank == Rank::Number).map(|of| of.id).collect();
        let of_pagers = self.window.engine.look(|context| {
            read(context, |tree| numbers.into_iter().filter(|id| is_in_pager(tree, *id)).collect::<HashSet<NodeId>>())
        });
        let of_pagers = of_pagers.unwrap_or_default();
        controls.retain(|of| {
            let turns = of.rank == Rank::Turn || of.rank == Rank::Number && of_pagers.contains(&of.id);
            turns && of.row.is_empty() && of.leads.is_none() && of.option.is_none()
        });
    }
}

fn is_in_pager(tree: &Tree, id: NodeId) -> bool {
    let is_pager = |id: NodeId| {
        let names = ["class", "id", "aria-label"].map(|name| tree.element(id)?.attribute(&name.into()));
        names.into_iter().flatten().any(|name| PAGERS.iter().any(|pager| name.to_ascii_lowercase().contains(pager)))
    };
    [id].into_iter().chain(tree.ancestors(id).take(PAGER_WITHIN)).any(is_pager)
}

//! Whether a click replaced or hid something.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::Xxh3;

use super::super::controls::{Control, Rank};
use super::super::same;
use super::{Explorer, leads_on};
use crate::dom::NodeId;
use crate::web::interact::roots;
use crate::web::{own_document, read};

impl Explorer<'_> {
    /// A hash of all text of the page.
    pub(super) fn says(&mut self) -> u64 {
        let said = self.window.engine.with(|context| {
            let document = own_document(context);
            read(context, |tree| {
                let mut hash = Xxh3::new();
                for root in roots(tree, document) {
                    let texts = tree.descendants(root).filter(|id| tree.is_text(*id));
                    texts.filter_map(|id| tree.character_data(id)).for_each(|text| hash.update(text.as_bytes()));
                }
                hash.digest()
            })
        });
        said.unwrap_or_default()
    }

    /// Whether visible links disappeared, or rows of another kind, or the turns of another section.
    pub(super) fn has_replaced(
        &mut self,
        pressed: &Control,
        (links, turns): &(HashSet<String>, HashSet<NodeId>),
        before: &[Control],
    ) -> bool {
        self.has_taken_rows(pressed, before) || !links.is_subset(&self.links()) || self.has_hidden(turns)
    }

    /// Whether rows of another kind that were there before a click are gone.
    pub(super) fn has_taken_rows(&self, pressed: &Control, before: &[Control]) -> bool {
        let now: HashSet<u64> = self.sight.controls.iter().map(|of| of.identity).collect();
        // The leaf that represents a row may change when the row gets more text.
        let node = |of: &Control| of.by_delegate.unwrap_or(of.id);
        let mut texts = HashMap::<NodeId, Vec<&str>>::new();
        for of in self.sight.controls.iter() {
            texts.entry(node(of)).or_default().push(&of.text);
        }
        let has_grown = |of: &Control| {
            texts.get(&node(of)).is_some_and(|texts| texts.iter().any(|text| same::has_grown(&of.text, text)))
        };
        let is_other = |of: &&Control| of.rank == Rank::Row && of.kind != pressed.kind;
        before.iter().filter(is_other).any(|of| !now.contains(&of.identity) && !has_grown(of))
    }

    /// The visible turns and numbers.
    pub(super) fn shown_turns(&mut self) -> HashSet<NodeId> {
        let turns: Vec<NodeId> = self.sight.controls.iter().filter(|of| leads_on(of)).map(|of| of.id).collect();
        turns.into_iter().filter(|id| self.is_shown(*id)).collect()
    }

    /// Whether all of these turns are still in place and none of them is visible.
    fn has_hidden(&mut self, turns: &HashSet<NodeId>) -> bool {
        let ids: Vec<NodeId> = turns.iter().copied().collect();
        let are_there =
            self.window.engine.look(|context| read(context, |tree| ids.iter().all(|id| tree.is_connected(*id))));
        !turns.is_empty() && are_there == Some(true) && turns.is_disjoint(&self.shown_turns())
    }
}

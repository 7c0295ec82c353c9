//! Whether a click has put something in the place of what was there, or has hidden it.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::Xxh3;

use super::super::controls::{Control, Rank};
use super::super::same;
use super::{Reader, leads_on};
use crate::dom::NodeId;
use crate::web::interact::roots;
use crate::web::{own_document, read};

impl Reader<'_> {
    /// A hash of all that the page says.
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

    /// Whether links are gone that were shown, or rows of another kind, or turns of what another section has.
    pub(super) fn has_replaced(
        &mut self,
        pressed: &Control,
        (links, turns): &(HashSet<String>, HashSet<NodeId>),
        before: &[Control],
    ) -> bool {
        self.has_taken_rows(pressed, before) || !links.is_subset(&self.links()) || self.has_hidden(turns)
    }

    /// Whether rows of another kind are gone that were there before a click.
    pub(super) fn has_taken_rows(&self, pressed: &Control, before: &[Control]) -> bool {
        let now: HashSet<u64> = self.sight.controls.iter().map(|of| of.identity).collect();
        // The leaf that stands for a row may be another one when the row has more.
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

    /// The turns and numbers that show.
    pub(super) fn shown_turns(&mut self) -> HashSet<NodeId> {
        let turns: Vec<NodeId> = self.sight.controls.iter().filter(|of| leads_on(of)).map(|of| of.id).collect();
        turns.into_iter().filter(|id| self.is_shown(*id)).collect()
    }

    /// Whether all of these turns stand in the page as they did, and none of them shows.
    fn has_hidden(&mut self, turns: &HashSet<NodeId>) -> bool {
        let ids: Vec<NodeId> = turns.iter().copied().collect();
        let are_there =
            self.window.engine.look(|context| read(context, |tree| ids.iter().all(|id| tree.is_connected(*id))));
        !turns.is_empty() && are_there == Some(true) && turns.is_disjoint(&self.shown_turns())
    }
}

//! How many rows a grid says that it has (WAI-ARIA 1.2 §6.6, `aria-rowcount`), and which it has shown (`aria-rowindex`): one that draws only the
//! rows in view may have more than anybody has seen.

use std::collections::{HashMap, HashSet};

use html5ever::LocalName;

use super::super::super::{own_document, read};
use super::super::kinds::without_states;
use super::Reader;
use crate::limits;
use crate::render::dom::{NodeId, Tree};

/// Rows that need not show: heads, feet, sums.
const SLACK: usize = 3;

/// Grids by what they are called: one that is drawn anew is the same.
#[derive(Default)]
pub(super) struct Stated(HashMap<String, Grid>);

#[derive(Default)]
struct Grid {
    /// The most that it has said to have.
    rows: usize,
    shown: HashSet<usize>,
}

impl Stated {
    fn look(&mut self, tree: &Tree, document: NodeId) {
        let (count, index) = (LocalName::from("aria-rowcount"), LocalName::from("aria-rowindex"));
        let number = |id: NodeId, name: &LocalName| -> Option<usize> {
            tree.element(id)?.attribute(name)?.trim().parse().ok().filter(|number| *number > 0)
        };
        for (id, rows) in tree.descendants(document).filter_map(|id| Some((id, number(id, &count)?))) {
            let shown = tree.descendants(id).filter_map(|row| number(row, &index)).take(limits::RENDER_CONTROLS_MAX);
            let shown: HashSet<usize> = shown.collect();
            if !shown.is_empty() {
                let grid = self.0.entry(called(tree, id)).or_default();
                grid.rows = grid.rows.max(rows);
                grid.shown.extend(shown);
            }
        }
    }

    fn has_unseen(&self) -> bool {
        self.0.values().any(|grid| grid.shown.len() + SLACK < grid.rows)
    }
}

fn called(tree: &Tree, id: NodeId) -> String {
    let attribute = |name: &str| tree.element(id).and_then(|of| of.attribute(&name.into())).unwrap_or_default();
    format!("{} {}", attribute("aria-label"), without_states(&attribute("class").to_lowercase()))
}

impl Reader<'_> {
    pub(super) fn hear_of_rows(&mut self) {
        let stated = &mut self.stated;
        self.window.engine.look(|context| {
            let document = own_document(context);
            read(context, |tree| stated.look(tree, document));
        });
    }

    /// Whether a grid says that it has more rows than it has shown in all.
    pub(super) fn has_unseen_rows(&self) -> bool {
        self.stated.has_unseen()
    }
}

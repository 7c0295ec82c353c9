//! The number of rows that a grid declares (WAI-ARIA 1.2 §6.6, `aria-rowcount`), and those it has shown (`aria-rowindex`): a grid that
//! draws only the rows in view may have more than it has shown. In a table with pages the other rows are on other pages.

use std::collections::{HashMap, HashSet};

use boa_engine::Context;
use html5ever::LocalName;

use super::Explorer;
use crate::dom::{NodeId, Tree};
use crate::limits;
use crate::web::html::load::Window;
use crate::web::interact::roots;
use crate::web::{listens_to, own_document, read};

/// Rows that need not be visible: heads, feet, sums.
const SLACK: usize = 3;

/// How many levels above a grid its scroll container may be.
const SCROLLS_WITHIN: usize = 4;

/// How many elements of a grid are checked as its scroll container.
const WITHIN_GRID: usize = 300;

/// Grids by their index in the page and their name: a redrawn grid is the same.
#[derive(Default)]
pub(super) struct Stated(HashMap<(usize, String), Grid>);

#[derive(Default)]
struct Grid {
    /// The largest row count that it has declared.
    rows: usize,
    shown: HashSet<usize>,
}

/// The current state of a grid.
struct Drawn {
    id: NodeId,
    name: String,
    rows: usize,
    shown: HashSet<usize>,
}

/// The number of rows that a grid of the page as it is declares, and how many it shows: of the one that lacks most.
pub(in crate::reader) fn unseen_rows(window: &mut Window) -> Option<(u32, u32)> {
    let mut stated = Stated::default();
    window.engine.with(|context| stated.look(context));
    let count = |rows: usize| u32::try_from(rows).unwrap_or(u32::MAX);
    let unseen = stated.0.into_values().filter(Grid::has_unseen);
    unseen.max_by_key(|grid| grid.rows - grid.shown.len()).map(|grid| (count(grid.rows), count(grid.shown.len())))
}

impl Grid {
    fn has_unseen(&self) -> bool {
        self.shown.len() + SLACK < self.rows
    }
}

impl Stated {
    fn look(&mut self, context: &mut Context) {
        let document = own_document(context);
        let grids = read(context, |tree| drawn(tree, document));
        for (nth, grid) in grids.into_iter().enumerate() {
            if scrolls(grid.id, context) {
                let known = self.0.entry((nth, grid.name)).or_default();
                known.rows = known.rows.max(grid.rows);
                known.shown.extend(grid.shown);
            }
        }
    }

    fn has_unseen(&self) -> bool {
        self.0.values().any(Grid::has_unseen)
    }
}

/// The grids that declare a row count and number the rows they draw.
fn drawn(tree: &Tree, document: NodeId) -> Vec<Drawn> {
    let (count, index) = (LocalName::from("aria-rowcount"), LocalName::from("aria-rowindex"));
    let number = |id: NodeId, name: &LocalName| -> Option<usize> {
        tree.element(id)?.attribute(name)?.trim().parse().ok().filter(|number| *number > 0)
    };
    let mut grids = Vec::new();
    for id in roots(tree, document).into_iter().flat_map(|root| tree.descendants(root)) {
        let Some(rows) = number(id, &count) else { continue };
        let shown = tree.descendants(id).filter_map(|row| number(row, &index)).take(limits::RENDER_CONTROLS_MAX);
        let shown: HashSet<usize> = shown.collect();
        let name = tree.element(id).and_then(|of| of.attribute(&"aria-label".into())).unwrap_or_default().to_owned();
        if !shown.is_empty() && shown.len() < limits::RENDER_CONTROLS_MAX {
            grids.push(Drawn { id, name, rows, shown });
        }
        if grids.len() >= limits::RENDER_BOXES_MAX {
            break;
        }
    }
    grids
}

/// Whether a scroll listener is on a grid, above it, or inside it.
fn scrolls(id: NodeId, context: &mut Context) -> bool {
    let around: Vec<NodeId> = read(context, |tree| {
        let inside = tree.descendants(id).filter(|of| tree.is_element(*of)).take(WITHIN_GRID);
        [id].into_iter().chain(tree.ancestors(id).take(SCROLLS_WITHIN)).chain(inside).collect()
    });
    around.into_iter().any(|of| listens_to(of, "scroll", context))
}

impl Explorer<'_> {
    pub(super) fn hear_of_rows(&mut self) {
        let stated = &mut self.stated;
        self.window.engine.with(|context| stated.look(context));
    }

    /// Whether a grid declares more rows than it has shown in all.
    pub(super) fn has_unseen_rows(&self) -> bool {
        self.stated.has_unseen()
    }
}

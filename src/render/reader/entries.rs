//! Entries of a pager: several nested elements for one number or word, of which one is clicked. Also a "more" in each row, which does not
//! turn the list.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_64;

use super::controls::{Control, Rank, identity_of};
use super::rows::row_of;
use crate::dom::NodeId;
use crate::limits;
use crate::web::cssom::styles;
use crate::web::html::load::Window;
use crate::web::read;

/// How many levels above a link or a button its entry may be: `<li><span><a>`.
const ENTRY_WITHIN: usize = 3;

/// Minimum number of one kind for which "more" belongs to each row and is not a turn of the list.
const ROWS_MIN: usize = 4;

/// Drops elements around a link or a button of a pager with the same text: a click on the inner one reaches both, and a delegated
/// listener may test for the inner one alone.
pub(super) fn keep_innermost(window: &mut Window, controls: &mut Vec<Control>) {
    let is_entry = |of: &&Control| matches!(of.rank, Rank::Number | Rank::Turn | Rank::Back) && !of.text.is_empty();
    let element = |of: &Control| of.by_delegate.unwrap_or(of.id);
    let entries: HashMap<NodeId, &str> =
        controls.iter().filter(is_entry).map(|of| (element(of), of.text.as_str())).collect();
    if entries.len() < 2 {
        return;
    }
    let around = window.engine.with(|context| {
        read(context, |tree| {
            let is_inner = |id: &NodeId| {
                tree.element(*id).is_some_and(|element| matches!(&*element.name().local, "a" | "button" | "input"))
            };
            let mut around = HashSet::new();
            for (inner, text) in entries.iter().filter(|(id, _)| is_inner(id)) {
                let above = tree.ancestors(*inner).take(ENTRY_WITHIN);
                around.extend(above.filter(|above| entries.get(above) == Some(text)));
            }
            around
        })
    });
    let around = around.unwrap_or_default();
    controls.retain(|of| !around.contains(&element(of)));
}

/// Finds controls labelled like a turn or a gate that belong to rows, and gives each an identity from its row's text. If all of a kind
/// but one begin with the same word ("Show all 12", "Show all 9", "Earlier days"), that one belongs to no row.
pub(super) fn of_rows(window: &mut Window, controls: &mut [Control]) -> HashSet<NodeId> {
    let mut kinds = HashMap::<&str, HashMap<String, usize>>::new();
    let may_be = |of: &&Control| matches!(of.rank, Rank::Enter | Rank::Turn);
    for control in controls.iter().filter(may_be) {
        *kinds.entry(&control.kind).or_default().entry(first_word(control)).or_default() += 1;
    }
    let mut found = HashMap::<&str, Vec<NodeId>>::new();
    for control in controls.iter().filter(may_be) {
        let Some(words) = kinds.get(&*control.kind) else { continue };
        let all: usize = words.values().sum();
        let is_other = words.len() == 2 && all > ROWS_MIN && words.get(&first_word(control)) == Some(&1);
        if all >= ROWS_MIN && !is_other {
            found.entry(&control.kind).or_default().push(control.id);
        }
    }
    if found.is_empty() {
        return HashSet::new();
    }
    let rows = window.engine.with(|context| {
        // Collapsed sections each have their own turn, of which one is visible.
        let mut is_list = |ids: &Vec<NodeId>| {
            let looked = ids.iter().take(limits::RENDER_CONTROL_ELEMENTS);
            let shown = looked.filter(|id| styles::is_displayed(**id, context)).take(ROWS_MIN).count();
            shown >= ROWS_MIN || ids.len() > limits::RENDER_CONTROL_ELEMENTS
        };
        found.retain(|_, ids| is_list(ids));
        let by_node: HashMap<NodeId, &Control> = controls.iter().map(|of| (of.id, of)).collect();
        read(context, |tree| {
            let row = |id: &NodeId| {
                let (element, control) = (tree.element(*id)?, by_node.get(id)?);
                let row = row_of(tree, *id, element, (control.text.as_str(), Rank::Row))?;
                Some((*id, (identity_of(tree, *id, element, &control.text, &row), row)))
            };
            found.values().flatten().filter_map(row).collect::<HashMap<_, _>>()
        })
    });
    let mut rows = rows.unwrap_or_default();
    let found: HashSet<NodeId> = found.into_values().flatten().collect();
    for control in controls.iter_mut() {
        if let Some((identity, row)) = rows.remove(&control.id) {
            control.beside = Some(xxh3_64(row.replacen(&control.text, "", 1).as_bytes()));
            (control.identity, control.row, control.traits.more) = (identity, row, true);
        }
    }
    found
}

fn first_word(control: &Control) -> String {
    control.words.split_whitespace().next().unwrap_or_default().to_lowercase()
}

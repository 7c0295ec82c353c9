//! The row of a control: its text distinguishes controls that have the same label in each row.

use html5ever::local_name;

use super::controls::Rank;
use super::kinds;
use super::shown::text_of;
use crate::dom::{Element, NodeId, Tree};
use crate::limits;

/// How many levels above a menu entry its row may be.
const MENU_WITHIN: usize = 5;

/// How many levels above an element the head of its table may be.
const HEAD_WITHIN: usize = 8;

/// Whether an element is part of a table's head, or the head itself.
pub(super) fn stands_in_head(tree: &Tree, id: NodeId) -> bool {
    [id].into_iter()
        .chain(tree.ancestors(id))
        .take(HEAD_WITHIN)
        .filter_map(|of| tree.element(of))
        .any(|of| of.is_html(&local_name!("thead")) || of.attribute(&"role".into()) == Some("columnheader"))
}

/// The text of a control's row, not of the list around the rows, since that grows.
pub(super) fn row_of(tree: &Tree, id: NodeId, element: &Element, says: (&str, Rank)) -> Option<String> {
    Some(text_of(tree, row_element(tree, id, element, says)?, limits::RENDER_ROW_TEXT_CHARS))
}

pub(super) fn row_element(tree: &Tree, id: NodeId, element: &Element, (text, rank): (&str, Rank)) -> Option<NodeId> {
    let is_part = matches!(&*element.name().local, "a" | "button" | "input" | "span" | "img" | "td" | "label");
    let may_stand_in_one = rank == Rank::Row && (is_part || !has_likes(tree, id));
    let is_one = |of: NodeId| {
        let local = tree.element(of).map(|of| &*of.name().local);
        has_likes(tree, of) || matches!(local, Some("tr" | "li" | "article")) && kinds::is_made_as_others(tree, of)
    };
    let is_row = |above: &NodeId| is_one(*above) && !is_part_of_page(tree, *above) && says_more(tree, *above, text);
    // A cell of only controls does not name any of them.
    let is_row =
        |above: &NodeId| is_row(above) && !is_cell_of_controls(tree, *above) && !is_cell_as_in_others(tree, *above);
    if !may_stand_in_one {
        // An entry of the menu of a table's row.
        let is_of_table = |above: &NodeId| {
            let local = tree.element(*above).map(|of| &*of.name().local);
            matches!(local, Some("tr" | "article")) && kinds::is_made_as_others(tree, *above)
        };
        return tree.ancestors(id).skip(1).take(MENU_WITHIN).find(|above| rank == Rank::Row && is_of_table(above));
    }
    tree.ancestors(id).take(4).find(is_row)
}

/// Whether a cell has the same text as that of another row, such as a menu: it names neither.
fn is_cell_as_in_others(tree: &Tree, id: NodeId) -> bool {
    let is = |of: NodeId, name: &str| tree.element(of).is_some_and(|of| &*of.name().local == name);
    let Some(row) = tree.parent(id).filter(|row| is(id, "td") && is(*row, "tr")) else { return false };
    let cells = |row: NodeId| tree.children(row).filter(|of| is(*of, "td")).take(limits::RENDER_CONTROL_ELEMENTS);
    let (Some(nth), Some(list)) = (cells(row).position(|of| of == id), tree.parent(row)) else { return false };
    let text = |of: NodeId| text_of(tree, of, limits::RENDER_ROW_TEXT_CHARS);
    let own = text(id);
    let others = tree.children(list).filter(|of| *of != row && is(*of, "tr")).filter_map(|row| cells(row).nth(nth));
    others.take(2).any(|other| text(other) == own)
}

fn is_cell_of_controls(tree: &Tree, id: NodeId) -> bool {
    let is = |id: NodeId, names: &[&str]| tree.element(id).is_some_and(|of| names.contains(&&*of.name().local));
    is(id, &["td"])
        && tree.descendants(id).take(limits::RENDER_CONTROL_ELEMENTS).all(|of| {
            let is_blank = tree.character_data(of).is_none_or(|text| text.trim().is_empty());
            let mut above = tree.ancestors(of).take_while(|above| *above != id);
            is_blank || above.any(|above| is(above, &["button", "a", "option"]))
        })
}

/// Whether an element has siblings of its kind, as rows do.
pub(super) fn has_likes(tree: &Tree, id: NodeId) -> bool {
    let kind = |id: NodeId| {
        let element = tree.element(id)?;
        Some((&element.name().local, element.attribute(&local_name!("class"))))
    };
    let (Some(own), Some(parent)) = (kind(id), tree.parent(id)) else { return false };
    let mut beside = tree.children(parent).filter(|of| tree.is_element(*of)).take(limits::RENDER_CONTROL_ELEMENTS);
    beside.any(|of| of != id && kind(of) == Some(own))
}

/// Whether an element has a name without a number: it is part of its page and not a row, whatever is beside it.
fn is_part_of_page(tree: &Tree, id: NodeId) -> bool {
    let name = tree.element(id).and_then(|element| element.attribute(&local_name!("id")));
    name.is_some_and(|name| !name.is_empty() && !name.contains(|c: char| c.is_ascii_digit()))
}

fn says_more(tree: &Tree, id: NodeId, text: &str) -> bool {
    text_of(tree, id, limits::RENDER_ROW_TEXT_CHARS).len() > text.len()
}

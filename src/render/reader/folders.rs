//! Places within places: the crumbs above a folder's list, and the branches that a branch of a tree is in.

use super::rows::has_likes;
use super::shown::text_of;
use super::words::UPS;
use crate::dom::{Element, NodeId, Tree};
use crate::limits;

/// How far above what stands in a tree its branch is.
const BRANCH_WITHIN: usize = 8;

/// Whether the nearest branch of a tree that an element stands in is open.
pub(super) fn is_of_open_branch(tree: &Tree, id: NodeId) -> bool {
    let around = [id].into_iter().chain(tree.ancestors(id)).take(BRANCH_WITHIN).filter_map(|of| tree.element(of));
    let mut branches = around.filter(|of| of.attribute(&"role".into()) == Some("treeitem"));
    branches.next().is_some_and(|of| of.attribute(&"aria-expanded".into()) == Some("true"))
}

/// Whether the first cell of a row says that it leads up, whatever the others say.
pub(super) fn leads_up(tree: &Tree, row: NodeId) -> bool {
    let first = tree.children(row).find(|of| tree.is_element(*of));
    first.is_some_and(|cell| UPS.has(text_of(tree, cell, limits::RENDER_ROW_TEXT_CHARS).to_lowercase().trim()))
}

/// Whether authors call so the row of ways from a place to what is around it: "breadcrumb", "Breadcrumbs", "crumbs".
fn is_name(name: &str) -> bool {
    name.contains("crumb") || name.contains("Crumb")
}

/// How far above a crumb what holds all of them may be: `<ol><li><a>`.
const CRUMBS_WITHIN: usize = 2;

/// What stands between crumbs.
const SEPARATORS: &[char] = &['/', '›', '»', '>', '→', '\\'];

/// What makes a control one of the crumbs above a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Crumb {
    /// It says nothing else, or its author calls it so.
    Named,
    /// There are signs between it and others, which may be there for anything.
    Signs,
}

pub(super) fn crumb(tree: &Tree, id: NodeId) -> Option<Crumb> {
    let is_named = |above: NodeId| {
        let names =
            |of: &Element| ["class", "id", "aria-label"].map(|name| of.attribute(&name.into()).is_some_and(is_name));
        tree.element(above).is_some_and(|of| names(of).contains(&true))
    };
    let has_signs = |above: NodeId| {
        let mut inside = tree.children(above).take(limits::RENDER_CONTROL_ELEMENTS);
        inside.any(|of| tree.character_data(of).is_some_and(|text| text.trim_start().starts_with(SEPARATORS)))
            && !has_likes(tree, above)
    };
    if tree.ancestors(id).take(CRUMBS_WITHIN).any(is_named) {
        return Some(Crumb::Named);
    }
    tree.parent(id).is_some_and(has_signs).then_some(Crumb::Signs)
}

/// What the branches around a `summary` are called, the innermost first: each may have branches of the same names.
pub(super) fn branches_above(tree: &Tree, id: NodeId) -> String {
    let is = |id: NodeId, name: &str| tree.element(id).is_some_and(|element| &*element.name().local == name);
    let branches = tree.ancestors(id).filter(|above| is(*above, "details")).skip(1);
    let mut names = String::new();
    for branch in branches.take(limits::RENDER_FOLDERS_DEEP_MAX) {
        if let Some(summary) =
            tree.children(branch).take(limits::RENDER_CONTROL_ELEMENTS).find(|child| is(*child, "summary"))
        {
            names.push('/');
            names.push_str(&text_of(tree, summary, limits::RENDER_ROW_TEXT_CHARS));
        }
    }
    names
}

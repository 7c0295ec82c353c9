//! Nested places: the breadcrumbs above a folder's list, and the parent branches in a tree.

use super::rows::has_likes;
use super::shown::text_of;
use super::words::UPS;
use crate::dom::{Element, NodeId, Tree};
use crate::limits;

/// How many levels above an element of a tree its branch may be.
const BRANCH_WITHIN: usize = 8;

/// Whether the nearest branch around an element of a tree is open.
pub(super) fn is_of_open_branch(tree: &Tree, id: NodeId) -> bool {
    let around = [id].into_iter().chain(tree.ancestors(id)).take(BRANCH_WITHIN).filter_map(|of| tree.element(of));
    let mut branches = around.filter(|of| of.attribute(&"role".into()) == Some("treeitem"));
    branches.next().is_some_and(|of| of.attribute(&"aria-expanded".into()) == Some("true"))
}

/// Whether the first cell of a row is labelled as leading up, whatever the others contain.
pub(super) fn leads_up(tree: &Tree, row: NodeId) -> bool {
    let first = tree.children(row).find(|of| tree.is_element(*of));
    first.is_some_and(|cell| UPS.has(text_of(tree, cell, limits::RENDER_ROW_TEXT_CHARS).to_lowercase().trim()))
}

/// Whether this name marks a row of breadcrumbs: "breadcrumb", "Breadcrumbs", "crumbs".
fn is_name(name: &str) -> bool {
    name.contains("crumb") || name.contains("Crumb")
}

/// How many levels above a crumb the container of all may be: `<ol><li><a>`.
const CRUMBS_WITHIN: usize = 2;

/// Separators between crumbs.
const SEPARATORS: &[char] = &['/', '›', '»', '>', '→', '\\'];

/// Why a control counts as a breadcrumb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Crumb {
    /// Its label is exactly that, or its class names it.
    Named,
    /// Separators are between it and others, which may be there for anything.
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

/// The names of the branches around a `summary`, innermost first: different branches may have children of the same names.
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

//! What makes controls of one kind: their classes, but for those of the one that is chosen; and where they stand, if they have none.

use crate::render::dom::{NodeId, Tree};

/// How far above what has no name of its own the name of its list may be.
const LIST_WITHIN: usize = 4;

/// What authors call the one of several that is chosen, or open, or at an end of them: it is of the same kind as the others.
pub(super) const STATES: &[&str] = &[
    "active",
    "is-active",
    "mui-selected",
    "selected",
    "is-selected",
    "current",
    "is-current",
    "collapsed",
    "expanded",
    "is-expanded",
    "open",
    "opened",
    "is-open",
    "show",
    "odd",
    "even",
    "first",
    "last",
];

/// The classes of an element, but for those that say which one of its kind is the current one.
pub(super) fn without_states(class: &str) -> String {
    class.split_whitespace().filter(|name| !STATES.contains(name)).collect::<Vec<_>>().join(" ")
}

/// What authors call the list that something stands in, of names without numbers.
pub(super) fn name_of_list(tree: &Tree, id: NodeId) -> String {
    let name = |above: NodeId| {
        let of = |name: &str| tree.element(above).and_then(|of| of.attribute(&name.into())).unwrap_or_default();
        let classes = without_states(&of("class").to_lowercase());
        let names = [of("id"), classes.split(' ').next().unwrap_or_default()];
        let name = names.iter().find(|name| !name.is_empty() && !name.contains(|c: char| c.is_ascii_digit()))?;
        Some(format!(" in {name}"))
    };
    tree.ancestors(id).take(LIST_WITHIN).find_map(name).unwrap_or_default()
}

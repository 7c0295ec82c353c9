//! What makes controls of one kind: their classes, but for those of the one that is chosen; and where they stand, if they have none.

use html5ever::LocalName;

use crate::limits;
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

/// So many beside an element that hold the same as it does make it one of several rows.
const LIKES_OF_ROW: usize = 2;

/// What authors call the list that something stands in, of names without numbers; what they call its row (a category) says nothing of it.
pub(super) fn name_of_list(tree: &Tree, id: NodeId) -> String {
    let name = |above: NodeId| {
        let of = |name: &str| tree.element(above).and_then(|of| of.attribute(&name.into())).unwrap_or_default();
        let classes = without_states(&of("class").to_lowercase());
        let names = [of("id"), classes.split(' ').next().unwrap_or_default()];
        let name = names.iter().find(|name| !name.is_empty() && !name.contains(|c: char| c.is_ascii_digit()))?;
        Some(format!(" in {name}"))
    };
    let mut path = vec![id];
    for above in tree.ancestors(id).take(LIST_WITHIN) {
        if let Some(name) = name(above).filter(|_| !is_row(tree, above, &path)) {
            return name;
        }
        path.push(above);
    }
    String::new()
}

/// Whether others beside an element hold what it holds, in the same place: elements of the same names within each other (`path`, the
/// innermost first).
fn is_row(tree: &Tree, id: NodeId, path: &[NodeId]) -> bool {
    let name = |of: NodeId| tree.element(of).map(|of| &of.name().local);
    if name(id).is_some_and(|name| matches!(&**name, "tr" | "li" | "article")) {
        return true;
    }
    let Some(parent) = tree.parent(id) else { return false };
    let beside = tree.children(parent).filter(|of| *of != id && name(*of) == name(id));
    let likes = beside.take(limits::RENDER_CONTROL_ELEMENTS).filter(|of| holds(tree, *of, path, &name));
    likes.take(LIKES_OF_ROW).count() == LIKES_OF_ROW
}

fn holds<'a>(tree: &'a Tree, id: NodeId, path: &[NodeId], name: &impl Fn(NodeId) -> Option<&'a LocalName>) -> bool {
    let Some((next, inner)) = path.split_last() else { return true };
    let children = tree.children(id).take(limits::RENDER_CONTROL_ELEMENTS);
    children.filter(|of| name(*of) == name(*next)).any(|of| holds(tree, of, inner, name))
}

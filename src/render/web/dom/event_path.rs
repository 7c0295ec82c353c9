//! The path of an event through the tree, with retargeting at shadow trees (DOM §2.9 steps 5 and 6, §4.8 "get the parent").

use boa_engine::{Context, JsObject};

use crate::dom::{NodeId, Tree};
use crate::engine::events::Event;
use crate::engine::realm;
use crate::engine::target::Step;
use crate::limits;
use crate::web::html::{frames, windows};
use crate::web::webidl::exotic;
use crate::web::{NodeObject, node_of, of, read, wrap};

/// One node of the path, before its object is created.
struct PathEntry {
    /// `None`: the window.
    node: Option<NodeId>,
    /// Set if the event's target is this node.
    is_target: bool,
    related: Option<NodeId>,
    closed_slot: bool,
}

/// The whole path from a node; `None` if retargeting of the related target hides the event.
pub(crate) fn way(target: &JsObject, event: &JsObject<Event>, context: &mut Context) -> Option<Vec<Step>> {
    let target = node_of(&target.clone().into(), context)?;
    let (is_load, is_composed, related) = {
        let event = event.borrow();
        let event = event.data();
        (event.is("load"), event.is_composed(), event.related())
    };
    // A related target that is not a node stays as it is.
    let other = related.as_ref().filter(|object| !is_node(object, context)).cloned();
    let related = related.and_then(|object| node_of(&object.into(), context));
    // Only the document of a window has one.
    let document = read(context, |tree| tree.document_of(target));
    let is_shown = of(context).borrow().document == document || frames::frame_of(document, context).is_some();
    let window = is_shown.then(|| windows::within(target, context, |context| realm::window(context)));
    let last = window.as_ref().map(|_| document);
    let places = read(context, |tree| places(tree, target, related, is_load, is_composed, last))?;
    places
        .into_iter()
        .map(|place| {
            let object = match place.node {
                Some(node) => wrap(node, context).ok()?,
                None => window.clone()?,
            };
            let (in_shadow, closed_root) = place.node.map_or((false, false), |node| {
                read(context, |tree| {
                    let is_closed = |root: NodeId| tree.fragment(root)?.shadow().map(|settings| !settings.is_open);
                    (tree.containing_shadow_root(node).is_some(), is_closed(node).unwrap_or(false))
                })
            });
            let related = match place.related {
                Some(related) => wrap(related, context).ok(),
                None => other.clone(),
            };
            let target = place.is_target.then(|| object.clone());
            Some(Step { object, target, related, in_shadow, closed_root, closed_slot: place.closed_slot })
        })
        .collect()
}

/// Whether an object is a document, a document's root or its body.
pub(crate) fn is_outermost(object: &JsObject, context: &mut Context) -> bool {
    let Some(node) = node_of(&object.clone().into(), context) else { return false };
    read(context, |tree| {
        let document = tree.document_of(node);
        node == document
            || tree.document_element(document) == Some(node)
            || super::document::body(tree, document) == Some(node)
    })
}

fn is_node(object: &JsObject, context: &mut Context) -> bool {
    exotic::target_of(object.clone(), context).is::<NodeObject>()
}

fn places(
    tree: &Tree,
    target: NodeId,
    related: Option<NodeId>,
    is_load: bool,
    is_composed: bool,
    document: Option<NodeId>,
) -> Option<Vec<PathEntry>> {
    let related_here = |at: NodeId| related.map(|related| retarget(tree, related, at));
    let first_related = related_here(target);
    if first_related == Some(target) && related != Some(target) {
        return None;
    }
    let mut found = vec![PathEntry { node: Some(target), is_target: true, related: first_related, closed_slot: false }];
    // The node that ancestors see as the event's target.
    let mut seen_as = target;
    let first_root = tree.root(target);
    let mut at = target;
    while found.len() < limits::EVENT_PATH_MAX {
        let slot = tree.find_slot(at, false);
        let parent = match slot {
            Some(slot) => Some(slot),
            None => match tree.shadow_host(at) {
                Some(_) if !is_composed && at == first_root => None,
                Some(host) => Some(host),
                None => tree.parent(at),
            },
        };
        let Some(parent) = parent else {
            if Some(at) == document && !is_load {
                let related = related.map(|related| retarget(tree, related, at));
                found.push(PathEntry { node: None, is_target: false, related, closed_slot: false });
            }
            break;
        };
        let is_closed =
            |root: NodeId| tree.fragment(root).and_then(|root| root.shadow()).is_some_and(|settings| !settings.is_open);
        let closed_slot = slot.is_some_and(|slot| is_closed(tree.root(slot)));
        let related = related_here(parent);
        if shadow_includes(tree, tree.root(seen_as), parent) {
            found.push(PathEntry { node: Some(parent), is_target: false, related, closed_slot });
        } else if related == Some(parent) {
            break;
        } else {
            seen_as = parent;
            found.push(PathEntry { node: Some(parent), is_target: true, related, closed_slot });
        }
        at = parent;
    }
    Some(found)
}

/// "Retarget" (DOM §4.8): `node` as seen from `from`.
pub(crate) fn retarget(tree: &Tree, node: NodeId, from: NodeId) -> NodeId {
    let mut seen = node;
    loop {
        let root = tree.root(seen);
        match tree.shadow_host(root) {
            Some(host) if !shadow_includes(tree, root, from) => seen = host,
            _ => return seen,
        }
    }
}

/// Whether a root is a shadow-including inclusive ancestor of `node`.
fn shadow_includes(tree: &Tree, root: NodeId, node: NodeId) -> bool {
    let mut at = tree.root(node);
    loop {
        if at == root {
            return true;
        }
        match tree.shadow_host(at) {
            Some(host) => at = tree.root(host),
            None => return false,
        }
    }
}

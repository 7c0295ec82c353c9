//! Attributes that reference other elements (HTML §2.6.1 "reflected IDL attributes of type Element"): by the ids in them, or by elements
//! that a script set, which are valid until the attribute is set.

use boa_engine::object::IntegrityLevel;
use boa_engine::{Context, JsObject, JsResult, JsValue};

use super::{reflect, state};
use crate::dom::{NodeId, Tree};
use crate::engine::bind;
use crate::limits;
use crate::web::{node_of, read, wrap, wrap_or_null};

/// The references that a script set or read in one attribute.
#[derive(Default)]
pub struct Reference {
    /// "Explicitly set attr-element(s)".
    explicit: Option<Vec<NodeId>>,
    /// The array returned last, and its contents: unless they change, a script gets the same array again.
    seen: Option<(Vec<NodeId>, JsObject)>,
}

/// An explicitly set element must be in scope: in the same tree, or in one around its host.
fn is_in_scope(tree: &Tree, id: NodeId, other: NodeId) -> bool {
    let scope = tree.root(other);
    let mut at = id;
    loop {
        let root = tree.root(at);
        if root == scope {
            return true;
        }
        let Some(host) = tree.shadow_host(root) else { return false };
        at = host;
    }
}

fn by_ids(tree: &Tree, id: NodeId, content: &str) -> Vec<NodeId> {
    let root = tree.root(id);
    let names = reflect::text(tree, id, content).unwrap_or_default().split_ascii_whitespace();
    names.filter_map(|name| tree.element_by_id(root, name)).take(limits::PAIRS_MAX).collect()
}

pub(super) fn one(id: NodeId, content: &'static str, context: &mut Context) -> JsResult<JsValue> {
    let found = one_id(id, content, context);
    wrap_or_null(found, context)
}

/// The element that an attribute references.
pub fn one_id(id: NodeId, content: &'static str, context: &Context) -> Option<NodeId> {
    let explicit = state(context).borrow().references.get(&(id, content)).and_then(|known| known.explicit.clone());
    read(context, |tree| match explicit.as_deref() {
        Some([other]) => Some(*other).filter(|other| is_in_scope(tree, id, *other)),
        Some(_) => None,
        None => {
            let name = reflect::text(tree, id, content).filter(|name| !name.is_empty())?;
            tree.element_by_id(tree.root(id), name)
        }
    })
}

pub(super) fn all(id: NodeId, content: &'static str, context: &mut Context) -> JsResult<JsValue> {
    let explicit = state(context).borrow().references.get(&(id, content)).and_then(|known| known.explicit.clone());
    let found = read(context, |tree| match explicit {
        Some(others) => Some(others.into_iter().filter(|other| is_in_scope(tree, id, *other)).collect()),
        None => reflect::has(tree, id, content).then(|| by_ids(tree, id, content)),
    });
    let Some(found): Option<Vec<NodeId>> = found else { return Ok(JsValue::null()) };
    if let Some(known) = state(context).borrow().references.get(&(id, content))
        && let Some((elements, array)) = &known.seen
        && *elements == found
    {
        return Ok(array.clone().into());
    }
    let objects: Vec<JsValue> =
        found.iter().map(|id| wrap(*id, context).map(JsValue::from)).collect::<JsResult<_>>()?;
    let array = bind::array(objects, context);
    if let Some(object) = array.as_object() {
        object.set_integrity_level(IntegrityLevel::Frozen, context)?;
        state(context).borrow_mut().references.entry((id, content)).or_default().seen = Some((found, object.clone()));
    }
    Ok(array)
}

pub(super) fn set_one(id: NodeId, content: &'static str, given: &JsValue, context: &mut Context) -> JsResult<JsValue> {
    let other = if given.is_null_or_undefined() { None } else { Some(vec![element(given, context)?]) };
    write(id, content, other, context)
}

pub(super) fn set_all(id: NodeId, content: &'static str, given: &JsValue, context: &mut Context) -> JsResult<JsValue> {
    if given.is_null_or_undefined() {
        return write(id, content, None, context);
    }
    let refusal = || bind::type_error("The provided value cannot be converted to a sequence.");
    let list = given.as_object().ok_or_else(refusal)?;
    let values = bind::values(&list, limits::PAIRS_MAX, context)?;
    let others: Vec<NodeId> = values.iter().map(|value| element(value, context)).collect::<JsResult<_>>()?;
    write(id, content, Some(others), context)
}

fn element(value: &JsValue, context: &mut Context) -> JsResult<NodeId> {
    let node = node_of(value, context).filter(|id| read(context, |tree| tree.is_element(*id)));
    node.ok_or_else(|| bind::type_error("The provided value is not of type 'Element'."))
}

fn write(id: NodeId, content: &'static str, others: Option<Vec<NodeId>>, context: &mut Context) -> JsResult<JsValue> {
    reflect::set_flag(id, content, others.is_some(), context)?;
    let shared = state(context);
    let references = &mut shared.borrow_mut().references;
    match others {
        // Setting the attribute has cleared an earlier reference, so set the new one afterwards.
        Some(others) => references.entry((id, content)).or_default().explicit = Some(others),
        None => drop(references.remove(&(id, content))),
    }
    Ok(JsValue::undefined())
}

/// The attribute was set: clears what a script had set.
pub(super) fn attribute_written(id: NodeId, local: &str, context: &Context) {
    let shared = state(context);
    let references = &mut shared.borrow_mut().references;
    if references.is_empty() {
        return;
    }
    references.iter_mut().filter(|((node, content), _)| *node == id && *content == local).for_each(|(_, known)| {
        known.explicit = None;
    });
}

//! Mixins of several kinds of nodes: `ParentNode` (DOM §4.2.6), `ChildNode` (§4.2.8), `NonDocumentTypeChildNode` (§4.2.7).

use boa_engine::property::PropertyDescriptor;
use boa_engine::{Context, JsObject, JsResult, JsSymbol, JsValue, js_string};

use crate::dom::{NodeId, Selectors, Tree};
use crate::engine::bind;
use crate::web::{change, node_argument, node_argument_or_null, node_of, of, read, this_node, thrown, wrap_or_null};

const PARENT_METHODS: &[bind::Method] = &[
    ("append", 0, |this, args, context| {
        let id = this_node(this, context)?;
        let Some(node) = into_node(id, args, context)? else { return Ok(JsValue::undefined()) };
        change(context, |tree| tree.append(id, node)).map(|_| JsValue::undefined())
    }),
    ("prepend", 0, |this, args, context| {
        let id = this_node(this, context)?;
        let Some(node) = into_node(id, args, context)? else { return Ok(JsValue::undefined()) };
        change(context, |tree| {
            let first = tree.first_child(id);
            tree.insert_before(id, node, first)
        })
        .map(|_| JsValue::undefined())
    }),
    ("moveBefore", 2, |this, args, context| {
        let id = this_node(this, context)?;
        bind::want(args, 2, "moveBefore' on 'Element")?;
        let node = node_argument(args, 0, "moveBefore' on 'Element", context)?;
        let child = node_argument_or_null(args, 1, "moveBefore' on 'Element", context)?;
        change(context, |tree| tree.move_before(id, node, child)).map(|()| JsValue::undefined())
    }),
    ("replaceChildren", 0, |this, args, context| {
        let id = this_node(this, context)?;
        let node = into_node(id, args, context)?;
        change(context, |tree| tree.replace_children(id, node)).map(|()| JsValue::undefined())
    }),
    ("querySelector", 1, |this, args, context| {
        let id = this_node(this, context)?;
        bind::want(args, 1, "querySelector' on 'Element")?;
        let selectors = selectors(args, context)?;
        let found = read(context, |tree| tree.query_selector(id, &selectors));
        wrap_or_null(found, context)
    }),
];

const PARENT_ATTRIBUTES: &[bind::Attribute] = &[
    (
        "firstElementChild",
        |this, _, context| {
            let id = this_node(this, context)?;
            let found = read(context, |tree| tree.child_elements(id).next());
            wrap_or_null(found, context)
        },
        None,
    ),
    (
        "lastElementChild",
        |this, _, context| {
            let id = this_node(this, context)?;
            let found = read(context, |tree| tree.child_elements(id).next_back());
            wrap_or_null(found, context)
        },
        None,
    ),
    (
        "childElementCount",
        |this, _, context| {
            let id = this_node(this, context)?;
            Ok(u32::try_from(read(context, |tree| tree.child_elements(id).count())).unwrap_or(u32::MAX).into())
        },
        None,
    ),
];

const CHILD_METHODS: &[bind::Method] = &[
    ("remove", 0, |this, _, context| {
        let id = this_node(this, context)?;
        change(context, |tree| {
            tree.remove(id);
            Ok(JsValue::undefined())
        })
    }),
    ("before", 0, |this, args, context| {
        let id = this_node(this, context)?;
        let Some(parent) = read(context, |tree| tree.parent(id)) else { return Ok(JsValue::undefined()) };
        let given = given_nodes(args, context);
        let previous = read(context, |tree| sibling_not_in(tree, id, &given, Tree::previous_sibling));
        let Some(node) = into_node(id, args, context)? else { return Ok(JsValue::undefined()) };
        change(context, |tree| {
            let place = previous.map_or_else(|| tree.first_child(parent), |previous| tree.next_sibling(previous));
            tree.insert_before(parent, node, place)
        })
        .map(|_| JsValue::undefined())
    }),
    ("after", 0, |this, args, context| {
        let id = this_node(this, context)?;
        let Some(parent) = read(context, |tree| tree.parent(id)) else { return Ok(JsValue::undefined()) };
        let given = given_nodes(args, context);
        let next = read(context, |tree| sibling_not_in(tree, id, &given, Tree::next_sibling));
        let Some(node) = into_node(id, args, context)? else { return Ok(JsValue::undefined()) };
        change(context, |tree| tree.insert_before(parent, node, next)).map(|_| JsValue::undefined())
    }),
    ("replaceWith", 0, |this, args, context| {
        let id = this_node(this, context)?;
        let Some(parent) = read(context, |tree| tree.parent(id)) else { return Ok(JsValue::undefined()) };
        let given = given_nodes(args, context);
        let next = read(context, |tree| sibling_not_in(tree, id, &given, Tree::next_sibling));
        let node = into_node(id, args, context)?;
        change(context, |tree| match node {
            Some(node) if tree.parent(id) == Some(parent) => tree.replace(parent, node, id).map(drop),
            Some(node) => tree.insert_before(parent, node, next).map(drop),
            None => {
                tree.remove(id);
                Ok(())
            }
        })
        .map(|()| JsValue::undefined())
    }),
];

const SIBLING_ATTRIBUTES: &[bind::Attribute] = &[
    (
        "previousElementSibling",
        |this, _, context| {
            let id = this_node(this, context)?;
            let found = read(context, |tree| {
                std::iter::successors(tree.previous_sibling(id), |id| tree.previous_sibling(*id))
                    .find(|id| tree.is_element(*id))
            });
            wrap_or_null(found, context)
        },
        None,
    ),
    (
        "nextElementSibling",
        |this, _, context| {
            let id = this_node(this, context)?;
            let found = read(context, |tree| {
                std::iter::successors(tree.next_sibling(id), |id| tree.next_sibling(*id))
                    .find(|id| tree.is_element(*id))
            });
            wrap_or_null(found, context)
        },
        None,
    ),
];

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    for name in ["Element", "Document", "DocumentFragment"] {
        let prototype = bind::prototype(name, context)?;
        bind::methods(&prototype, PARENT_METHODS, context)?;
        bind::attributes(&prototype, PARENT_ATTRIBUTES, context)?;
    }
    for name in ["Element", "CharacterData", "DocumentType"] {
        let prototype = bind::prototype(name, context)?;
        bind::methods(&prototype, CHILD_METHODS, context)?;
    }
    for name in ["Element", "CharacterData"] {
        let prototype = bind::prototype(name, context)?;
        bind::attributes(&prototype, SIBLING_ATTRIBUTES, context)?;
    }
    for (name, hidden) in [
        ("Element", &["after", "append", "before", "prepend", "remove", "replaceChildren", "replaceWith", "slot"][..]),
        ("Document", &["append", "prepend", "replaceChildren"]),
        ("DocumentFragment", &["append", "prepend", "replaceChildren"]),
        ("CharacterData", &["after", "before", "remove", "replaceWith"]),
        ("DocumentType", &["after", "before", "remove", "replaceWith"]),
    ] {
        // `[Unscopable]`: inline handlers, whose scope chain contains their element, do not see these as variables.
        let unscopables = JsObject::with_null_proto();
        for member in hidden {
            unscopables.create_data_property_or_throw(js_string!(*member), true, context)?;
        }
        let property =
            PropertyDescriptor::builder().value(unscopables).writable(false).enumerable(false).configurable(true);
        bind::prototype(name, context)?.define_property_or_throw(JsSymbol::unscopables(), property, context)?;
    }
    Ok(())
}

/// The first argument as selectors.
///
/// # Errors
/// A `SyntaxError` for selectors that a browser rejects.
pub fn selectors(args: &[JsValue], context: &mut Context) -> JsResult<Selectors> {
    let text = bind::text(args, 0, context)?;
    let parsed = of(context).borrow_mut().selectors.get(&text);
    parsed.map_err(|error| thrown(error, context))
}

/// "Convert nodes into a node" (DOM §4.2.6): one node, or a fragment of several; `None` without arguments.
///
/// # Errors
/// When the document is full, or a conversion throws.
pub fn into_node(of_node: NodeId, args: &[JsValue], context: &mut Context) -> JsResult<Option<NodeId>> {
    let document = read(context, |tree| tree.document_of(of_node));
    let mut nodes = Vec::with_capacity(args.len());
    for (place, value) in args.iter().enumerate() {
        let node = match node_of(value, context) {
            Some(node) => node,
            None => {
                let text = bind::text(args, place, context)?;
                change(context, |tree| tree.create_text(document, text))?
            }
        };
        nodes.push(node);
    }
    match nodes.as_slice() {
        [] => Ok(None),
        [node] => Ok(Some(*node)),
        nodes => {
            let fragment = change(context, |tree| tree.create_fragment(document))?;
            for node in nodes {
                change(context, |tree| tree.append(fragment, *node))?;
            }
            Ok(Some(fragment))
        }
    }
}

fn given_nodes(args: &[JsValue], context: &mut Context) -> Vec<NodeId> {
    args.iter().filter_map(|value| node_of(value, context)).collect()
}

/// "Viable previous (next) sibling" (DOM §4.2.8).
fn sibling_not_in(
    tree: &Tree,
    id: NodeId,
    given: &[NodeId],
    step: fn(&Tree, NodeId) -> Option<NodeId>,
) -> Option<NodeId> {
    std::iter::successors(step(tree, id), |id| step(tree, *id)).find(|id| !given.contains(id))
}

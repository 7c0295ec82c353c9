//! `Node` (DOM §4.4), and node interfaces that add little to it.

use boa_engine::{Context, JsArgs, JsResult, JsValue};
use html5ever::Namespace;

use crate::dom::{Error, NodeData, NodeId, NodeKind, Tree};
use crate::engine::bind;
use crate::web::{change, node_argument, node_argument_or_null, read, this_node, thrown, wrap, wrap_or_null};

/// An attribute that returns another node.
macro_rules! neighbour {
    ($name:literal, $of:expr) => {
        (
            $name,
            |this: &JsValue, _: &[JsValue], context: &mut Context| {
                let id = this_node(this, context)?;
                let found = read(context, |tree| {
                    let of: fn(&Tree, NodeId) -> Option<NodeId> = $of;
                    of(tree, id)
                });
                wrap_or_null(found, context)
            },
            None,
        )
    };
}

const NODE: bind::Interface = bind::Interface {
    name: "Node",
    parent: Some("EventTarget"),
    methods: &[
        ("appendChild", 1, |this, args, context| {
            let id = this_node(this, context)?;
            let child = node_argument(args, 0, "appendChild' on 'Node", context)?;
            change(context, |tree| tree.append(id, child))?;
            wrap(child, context).map(JsValue::from)
        }),
        ("insertBefore", 2, |this, args, context| {
            let id = this_node(this, context)?;
            bind::want(args, 2, "insertBefore' on 'Node")?;
            let child = node_argument(args, 0, "insertBefore' on 'Node", context)?;
            let before = node_argument_or_null(args, 1, "insertBefore' on 'Node", context)?;
            change(context, |tree| tree.insert_before(id, child, before))?;
            wrap(child, context).map(JsValue::from)
        }),
        ("replaceChild", 2, |this, args, context| {
            let id = this_node(this, context)?;
            let new = node_argument(args, 0, "replaceChild' on 'Node", context)?;
            let old = node_argument(args, 1, "replaceChild' on 'Node", context)?;
            change(context, |tree| tree.replace(id, new, old))?;
            wrap(old, context).map(JsValue::from)
        }),
        ("removeChild", 1, |this, args, context| {
            let id = this_node(this, context)?;
            let child = node_argument(args, 0, "removeChild' on 'Node", context)?;
            change(context, |tree| tree.remove_child(id, child))?;
            wrap(child, context).map(JsValue::from)
        }),
        ("hasChildNodes", 0, |this, _, context| {
            let id = this_node(this, context)?;
            Ok(read(context, |tree| tree.first_child(id).is_some()).into())
        }),
        ("normalize", 0, |this, _, context| {
            let id = this_node(this, context)?;
            change(context, |tree| tree.normalize(id)).map(|()| JsValue::undefined())
        }),
        ("cloneNode", 0, |this, args, context| {
            let id = this_node(this, context)?;
            let deep = args.get_or_undefined(0).to_boolean();
            if read(context, |tree| tree.fragment(id).is_some_and(|fragment| fragment.shadow().is_some())) {
                return Err(thrown(Error::NotSupported, context));
            }
            let clone = change(context, |tree| tree.clone_node(id, None, deep))?;
            wrap(clone, context).map(JsValue::from)
        }),
        ("isEqualNode", 1, |this, args, context| {
            let id = this_node(this, context)?;
            let other = node_argument_or_null(args, 0, "isEqualNode' on 'Node", context)?;
            Ok(other.is_some_and(|other| read(context, |tree| tree.is_equal(id, other))).into())
        }),
        ("isSameNode", 1, |this, args, context| {
            let id = this_node(this, context)?;
            let other = node_argument_or_null(args, 0, "isSameNode' on 'Node", context)?;
            Ok((other == Some(id)).into())
        }),
        ("contains", 1, |this, args, context| {
            let id = this_node(this, context)?;
            bind::want(args, 1, "contains' on 'Node")?;
            let other = node_argument_or_null(args, 0, "contains' on 'Node", context)?;
            Ok(other.is_some_and(|other| read(context, |tree| tree.contains(id, other))).into())
        }),
        ("compareDocumentPosition", 1, |this, args, context| {
            let id = this_node(this, context)?;
            let other = node_argument(args, 0, "compareDocumentPosition' on 'Node", context)?;
            let position = read(context, |tree| tree.compare_position(id, other));
            Ok(i32::from(position.0).into())
        }),
        ("getRootNode", 0, |this, args, context| {
            let id = this_node(this, context)?;
            let composed = bind::flag(args.get_or_undefined(0), "composed", context)?;
            let root = read(context, |tree| if composed { tree.shadow_including_root(id) } else { tree.root(id) });
            wrap(root, context).map(JsValue::from)
        }),
        ("lookupPrefix", 1, |this, args, context| {
            let id = this_node(this, context)?;
            let namespace = nullable_text(args, 0, context)?.filter(|text| !text.is_empty());
            let found = namespace.and_then(|namespace| read(context, |tree| lookup_prefix(tree, id, &namespace)));
            Ok(found.map_or_else(JsValue::null, |prefix| bind::js(&prefix)))
        }),
        ("lookupNamespaceURI", 1, |this, args, context| {
            let id = this_node(this, context)?;
            let prefix = nullable_text(args, 0, context)?.filter(|text| !text.is_empty());
            let found = read(context, |tree| lookup_namespace(tree, id, prefix.as_deref()));
            Ok(found.map_or_else(JsValue::null, |namespace| bind::js(&namespace)))
        }),
        ("isDefaultNamespace", 1, |this, args, context| {
            let id = this_node(this, context)?;
            let namespace = nullable_text(args, 0, context)?.filter(|text| !text.is_empty());
            let found = read(context, |tree| lookup_namespace(tree, id, None));
            Ok((found.as_deref() == namespace.as_deref()).into())
        }),
    ],
    attributes: &[
        (
            "nodeType",
            |this, _, context| {
                let id = this_node(this, context)?;
                Ok(i32::from(read(context, |tree| tree.kind(id)) as u8).into())
            },
            None,
        ),
        (
            "nodeName",
            |this, _, context| {
                let id = this_node(this, context)?;
                Ok(bind::js(&read(context, |tree| node_name(tree, id))))
            },
            None,
        ),
        (
            "baseURI",
            |this, _, context| {
                let id = this_node(this, context)?;
                Ok(bind::js(super::document::base_url(id, context).as_str()))
            },
            None,
        ),
        (
            "isConnected",
            |this, _, context| {
                let id = this_node(this, context)?;
                Ok(read(context, |tree| tree.is_connected(id)).into())
            },
            None,
        ),
        neighbour!("ownerDocument", |tree, id| { (tree.kind(id) != NodeKind::Document).then(|| tree.document_of(id)) }),
        neighbour!("parentNode", Tree::parent),
        neighbour!("parentElement", Tree::parent_element),
        neighbour!("firstChild", Tree::first_child),
        neighbour!("lastChild", Tree::last_child),
        neighbour!("previousSibling", Tree::previous_sibling),
        neighbour!("nextSibling", Tree::next_sibling),
        (
            "nodeValue",
            |this, _, context| {
                let id = this_node(this, context)?;
                let value = read(context, |tree| node_value(tree, id).map(bind::js));
                Ok(value.unwrap_or_else(JsValue::null))
            },
            Some(|this, args, context| {
                let id = this_node(this, context)?;
                let text = nullable_text(args, 0, context)?.unwrap_or_default();
                if read(context, |tree| node_value(tree, id).is_some()) {
                    change(context, |tree| tree.set_text_content(id, &text))?;
                }
                Ok(JsValue::undefined())
            }),
        ),
        (
            "textContent",
            |this, _, context| {
                let id = this_node(this, context)?;
                let text = read(context, |tree| tree.text_content(id).map(|text| bind::js(&text)));
                Ok(text.unwrap_or_else(JsValue::null))
            },
            Some(|this, args, context| {
                let id = this_node(this, context)?;
                let text = nullable_text(args, 0, context)?.unwrap_or_default();
                change(context, |tree| tree.set_text_content(id, &text))?;
                Ok(JsValue::undefined())
            }),
        ),
    ],
    constants: &[
        ("ELEMENT_NODE", 1),
        ("ATTRIBUTE_NODE", 2),
        ("TEXT_NODE", 3),
        ("CDATA_SECTION_NODE", 4),
        ("ENTITY_REFERENCE_NODE", 5),
        ("ENTITY_NODE", 6),
        ("PROCESSING_INSTRUCTION_NODE", 7),
        ("COMMENT_NODE", 8),
        ("DOCUMENT_NODE", 9),
        ("DOCUMENT_TYPE_NODE", 10),
        ("DOCUMENT_FRAGMENT_NODE", 11),
        ("NOTATION_NODE", 12),
        ("DOCUMENT_POSITION_DISCONNECTED", 1),
        ("DOCUMENT_POSITION_PRECEDING", 2),
        ("DOCUMENT_POSITION_FOLLOWING", 4),
        ("DOCUMENT_POSITION_CONTAINS", 8),
        ("DOCUMENT_POSITION_CONTAINED_BY", 16),
        ("DOCUMENT_POSITION_IMPLEMENTATION_SPECIFIC", 32),
    ],
    ..bind::Interface::EMPTY
};

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    bind::define(&NODE, context).map(|_| ())
}

/// A nullable `DOMString` argument; missing counts as `null`.
///
/// # Errors
/// What the value's own conversion throws.
pub fn nullable_text(args: &[JsValue], index: usize, context: &mut Context) -> JsResult<Option<String>> {
    if args.get_or_undefined(index).is_null_or_undefined() {
        return Ok(None);
    }
    bind::text(args, index, context).map(Some)
}

/// DOM §4.4 "nodeName".
fn node_name(tree: &Tree, id: NodeId) -> String {
    match tree.data(id) {
        NodeData::Element(_) => tree.tag_name(id).unwrap_or_default(),
        NodeData::Text(_) => "#text".to_owned(),
        NodeData::CData(_) => "#cdata-section".to_owned(),
        NodeData::Comment(_) => "#comment".to_owned(),
        NodeData::Document(_) => "#document".to_owned(),
        NodeData::Fragment(_) => "#document-fragment".to_owned(),
        NodeData::DocumentType(doctype) => doctype.name.clone(),
        NodeData::Instruction(instruction) => instruction.target.clone(),
        NodeData::Attr(attr) => super::element::qualified(attr.name()),
        NodeData::Vacant => String::new(),
    }
}

/// DOM §4.4 "nodeValue".
fn node_value(tree: &Tree, id: NodeId) -> Option<&str> {
    tree.character_data(id).or_else(|| tree.attr_value(id))
}

/// The element whose namespace declarations apply to a node (DOM §4.4 "locate a namespace").
fn declaring_element(tree: &Tree, id: NodeId) -> Option<NodeId> {
    match tree.kind(id) {
        NodeKind::Element => Some(id),
        NodeKind::Document => tree.document_element(id),
        NodeKind::DocumentType | NodeKind::Fragment => None,
        NodeKind::Attribute => tree.attr(id).and_then(|attr| attr.owner()),
        _ => tree.parent_element(id),
    }
}

fn lookup_prefix(tree: &Tree, id: NodeId, namespace: &str) -> Option<String> {
    let from = declaring_element(tree, id)?;
    tree.inclusive_ancestors(from).find_map(|id| {
        let element = tree.element(id)?;
        if &*element.name().ns == namespace
            && let Some(prefix) = &element.name().prefix
        {
            return Some(prefix.to_string());
        }
        let declares = |name: &html5ever::QualName| name.prefix.as_ref().is_some_and(|prefix| &**prefix == "xmlns");
        let declared = element.attributes().iter().find(|one| declares(&one.name) && one.value == namespace);
        declared.map(|attribute| attribute.name.local.to_string())
    })
}

fn lookup_namespace(tree: &Tree, id: NodeId, prefix: Option<&str>) -> Option<String> {
    let from = declaring_element(tree, id)?;
    match prefix {
        Some("xml") => return Some("http://www.w3.org/XML/1998/namespace".to_owned()),
        Some("xmlns") => return Some("http://www.w3.org/2000/xmlns/".to_owned()),
        _ => {}
    }
    let xmlns = Namespace::from("http://www.w3.org/2000/xmlns/");
    let mut found = None;
    for id in tree.inclusive_ancestors(from) {
        let Some(element) = tree.element(id) else { break };
        let name = element.name();
        if !name.ns.is_empty() && name.prefix.as_deref() == prefix {
            return Some(name.ns.to_string());
        }
        found = element.attributes().iter().find(|one| {
            one.name.ns == xmlns
                && match prefix {
                    Some(prefix) => one.name.prefix.as_deref() == Some("xmlns") && &*one.name.local == prefix,
                    None => one.name.prefix.is_none() && &*one.name.local == "xmlns",
                }
        });
        if found.is_some() {
            break;
        }
    }
    found.map(|attribute| attribute.value.clone()).filter(|value| !value.is_empty())
}

//! Attributes as objects: `Attr` (DOM §4.9.2), `NamedNodeMap` (§4.9.1), and the related members of elements and documents.

use boa_engine::{
    Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsString, JsSymbol, JsValue, Trace, js_string,
};
use html5ever::{LocalName, Namespace, QualName};

use super::element::qualified;
use super::node::nullable_text;
use crate::dom::{Error, NodeId, NodeKind, Tree, is_attribute_name, validate_and_extract};
use crate::engine::bind;
use crate::web::webidl::exotic::{self, Computed, Kind, computed};
use crate::web::{change, node_of, read, slot, this_document, this_element, this_of, thrown, wrap, wrap_or_null};

/// `element.attributes`: it only refers to the element.
#[derive(Trace, Finalize, JsData)]
struct Map {
    #[unsafe_ignore_trace]
    element: NodeId,
}

static MAP: Kind = computed!(Computed { length, item, named, names, ..Computed::EMPTY });

/// A read-only attribute of `Attr`.
macro_rules! told {
    ($name:literal, $of:expr) => {
        (
            $name,
            |this: &JsValue, _: &[JsValue], context: &mut Context| {
                let id = this_attr(this, context)?;
                Ok(read(context, |tree| {
                    let of: fn(&QualName) -> Option<JsValue> = $of;
                    tree.attr(id).and_then(|attr| of(attr.name())).unwrap_or_else(JsValue::null)
                }))
            },
            None,
        )
    };
}

const ATTR: bind::Interface = bind::Interface {
    name: "Attr",
    parent: Some("Node"),
    attributes: &[
        told!("namespaceURI", |name| Some(&name.ns).filter(|ns| !ns.is_empty()).map(|ns| bind::js(ns))),
        told!("prefix", |name| name.prefix.as_ref().map(|prefix| bind::js(prefix))),
        told!("localName", |name| Some(bind::js(&name.local))),
        told!("name", |name| Some(bind::js(&qualified(name)))),
        told!("specified", |_| Some(true.into())),
        (
            "value",
            |this, _, context| {
                let id = this_attr(this, context)?;
                Ok(read(context, |tree| bind::js(tree.attr_value(id).unwrap_or_default())))
            },
            Some(|this, args, context| {
                let id = this_attr(this, context)?;
                let value = bind::text(args, 0, context)?;
                change(context, |tree| tree.set_attr_value(id, &value)).map(|()| JsValue::undefined())
            }),
        ),
        (
            "ownerElement",
            |this, _, context| {
                let id = this_attr(this, context)?;
                let owner = read(context, |tree| tree.attr(id).and_then(|attr| attr.owner()));
                wrap_or_null(owner, context)
            },
            None,
        ),
    ],
    ..bind::Interface::EMPTY
};

const NAMED_NODE_MAP: bind::Interface = bind::Interface {
    name: "NamedNodeMap",
    methods: &[
        ("item", 1, |this, args, context| {
            let element = this_map(this, context)?;
            bind::want(args, 1, "item' on 'NamedNodeMap")?;
            let index = args[0].to_u32(context)?;
            let found = node_at(element, index, context)?;
            wrap_or_null(found, context)
        }),
        ("getNamedItem", 1, |this, args, context| {
            let element = this_map(this, context)?;
            bind::want(args, 1, "getNamedItem' on 'NamedNodeMap")?;
            get(element, args, context)
        }),
        ("getNamedItemNS", 2, |this, args, context| {
            let element = this_map(this, context)?;
            bind::want(args, 2, "getNamedItemNS' on 'NamedNodeMap")?;
            get_ns(element, args, context)
        }),
        ("setNamedItem", 1, |this, args, context| {
            let element = this_map(this, context)?;
            set(element, args, "setNamedItem' on 'NamedNodeMap", context)
        }),
        ("setNamedItemNS", 1, |this, args, context| {
            let element = this_map(this, context)?;
            set(element, args, "setNamedItemNS' on 'NamedNodeMap", context)
        }),
        ("removeNamedItem", 1, |this, args, context| {
            let element = this_map(this, context)?;
            bind::want(args, 1, "removeNamedItem' on 'NamedNodeMap")?;
            let name = bind::text(args, 0, context)?;
            let known = read(context, |tree| tree.attribute_by_name(element, &name).map(|one| one.name.clone()));
            remove(element, known, context)
        }),
        ("removeNamedItemNS", 2, |this, args, context| {
            let element = this_map(this, context)?;
            bind::want(args, 2, "removeNamedItemNS' on 'NamedNodeMap")?;
            let (namespace, local) =
                (nullable_text(args, 0, context)?.unwrap_or_default(), bind::text(args, 1, context)?);
            let known =
                read(context, |tree| tree.attribute_ns(element, &namespace, &local).map(|one| one.name.clone()));
            remove(element, known, context)
        }),
    ],
    attributes: &[(
        "length",
        |this, _, context| {
            let element = this_map(this, context)?;
            Ok(read(context, |tree| count(tree, element)).into())
        },
        None,
    )],
    ..bind::Interface::EMPTY
};

const ELEMENT_METHODS: &[bind::Method] = &[
    ("getAttributeNode", 1, |this, args, context| {
        let element = this_element(this, context)?;
        bind::want(args, 1, "getAttributeNode' on 'Element")?;
        get(element, args, context)
    }),
    ("getAttributeNodeNS", 2, |this, args, context| {
        let element = this_element(this, context)?;
        bind::want(args, 2, "getAttributeNodeNS' on 'Element")?;
        get_ns(element, args, context)
    }),
    ("setAttributeNode", 1, |this, args, context| {
        let element = this_element(this, context)?;
        set(element, args, "setAttributeNode' on 'Element", context)
    }),
    ("setAttributeNodeNS", 1, |this, args, context| {
        let element = this_element(this, context)?;
        set(element, args, "setAttributeNodeNS' on 'Element", context)
    }),
    ("removeAttributeNode", 1, |this, args, context| {
        let element = this_element(this, context)?;
        let attr = attr_argument(args, "removeAttributeNode' on 'Element", context)?;
        change(context, |tree| tree.remove_attr_node(element, attr))?;
        wrap(attr, context).map(JsValue::from)
    }),
];

const DOCUMENT_METHODS: &[bind::Method] = &[
    ("createAttribute", 1, |this, args, context| {
        let document = this_document(this, context)?;
        bind::want(args, 1, "createAttribute' on 'Document")?;
        let name = bind::text(args, 0, context)?;
        let attr = change(context, |tree| {
            if !is_attribute_name(&name) {
                return Err(Error::InvalidCharacter);
            }
            let is_html = tree.is_html_document(document);
            let local = if is_html { LocalName::from(name.to_ascii_lowercase()) } else { LocalName::from(name) };
            tree.create_attr(document, QualName::new(None, Namespace::default(), local), String::new())
        })?;
        wrap(attr, context).map(JsValue::from)
    }),
    ("createAttributeNS", 2, |this, args, context| {
        let document = this_document(this, context)?;
        bind::want(args, 2, "createAttributeNS' on 'Document")?;
        let (namespace, name) = (nullable_text(args, 0, context)?, bind::text(args, 1, context)?);
        let attr = change(context, |tree| {
            let name = validate_and_extract(namespace.as_deref(), &name, true)?;
            tree.create_attr(document, name, String::new())
        })?;
        wrap(attr, context).map(JsValue::from)
    }),
];

const ATTRIBUTES: bind::Attribute = (
    "attributes",
    |this, _, context| {
        let element = this_element(this, context)?;
        let make = |context: &mut Context| exotic::object("NamedNodeMap", Map { element }, &MAP, context);
        slot(element, "attributes", context, make).map(JsValue::from)
    },
    None,
);

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    bind::define(&ATTR, context)?;
    let map = bind::define(&NAMED_NODE_MAP, context)?;
    let values = context.intrinsics().objects().array_prototype_values();
    bind::hidden(&map, JsSymbol::iterator(), values.into(), true, context)?;
    let element = bind::prototype("Element", context)?;
    bind::methods(&element, ELEMENT_METHODS, context)?;
    bind::attributes(&element, &[ATTRIBUTES], context)?;
    let document = bind::prototype("Document", context)?;
    bind::methods(&document, DOCUMENT_METHODS, context)
}

fn this_attr(this: &JsValue, context: &mut Context) -> JsResult<NodeId> {
    this_of(this, &[NodeKind::Attribute], context)
}

fn this_map(this: &JsValue, context: &mut Context) -> JsResult<NodeId> {
    Ok(exotic::this::<Map>(this, context)?.borrow().data().element)
}

fn attr_argument(args: &[JsValue], what: &str, context: &mut Context) -> JsResult<NodeId> {
    bind::want(args, 1, what)?;
    let node = node_of(args.get_or_undefined(0), context);
    node.filter(|id| read(context, |tree| tree.attr(*id).is_some()))
        .ok_or_else(|| bind::type_error(format!("Failed to execute '{what}': parameter 1 is not of type 'Attr'.")))
}

fn get(element: NodeId, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let name = bind::text(args, 0, context)?;
    let found = change(context, |tree| {
        let Some(name) = tree.attribute_by_name(element, &name).map(|one| one.name.clone()) else { return Ok(None) };
        tree.attr_node(element, &name.ns, &name.local)
    })?;
    wrap_or_null(found, context)
}

fn get_ns(element: NodeId, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (namespace, local) = (nullable_text(args, 0, context)?.unwrap_or_default(), bind::text(args, 1, context)?);
    let found = change(context, |tree| tree.attr_node(element, &namespace, &local))?;
    wrap_or_null(found, context)
}

fn set(element: NodeId, args: &[JsValue], what: &str, context: &mut Context) -> JsResult<JsValue> {
    let attr = attr_argument(args, what, context)?;
    let old = change(context, |tree| tree.set_attr_node(element, attr))?;
    wrap_or_null(old, context)
}

fn remove(element: NodeId, name: Option<QualName>, context: &mut Context) -> JsResult<JsValue> {
    let Some(name) = name else { return Err(thrown(Error::NotFound, context)) };
    let attr = change(context, |tree| {
        let attr = tree.attr_node(element, &name.ns, &name.local)?.ok_or(Error::NotFound)?;
        tree.remove_attr_node(element, attr)?;
        Ok(attr)
    })?;
    wrap(attr, context).map(JsValue::from)
}

fn count(tree: &Tree, element: NodeId) -> u32 {
    tree.element(element).map_or(0, |element| u32::try_from(element.attributes().len()).unwrap_or(u32::MAX))
}

fn element_of(map: &JsObject) -> Option<NodeId> {
    map.downcast_ref::<Map>().map(|map| map.element)
}

fn node_at(element: NodeId, index: u32, context: &mut Context) -> JsResult<Option<NodeId>> {
    change(context, |tree| {
        let attributes = tree.element(element).map(|element| element.attributes()).unwrap_or_default();
        let Some(name) = attributes.get(index as usize).map(|one| one.name.clone()) else { return Ok(None) };
        tree.attr_node(element, &name.ns, &name.local)
    })
}

fn length(map: &JsObject, context: &mut Context) -> JsResult<u32> {
    Ok(element_of(map).map_or(0, |element| read(context, |tree| count(tree, element))))
}

fn item(map: &JsObject, index: u32, context: &mut Context) -> JsResult<JsValue> {
    let Some(element) = element_of(map) else { return Ok(JsValue::undefined()) };
    let found = node_at(element, index, context)?;
    wrap_or_null(found, context)
}

fn named(map: &JsObject, name: &JsString, context: &mut Context) -> JsResult<Option<JsValue>> {
    let Some(element) = element_of(map) else { return Ok(None) };
    let name = name.to_std_string_lossy();
    // HTML elements only expose lower-case names (DOM §4.9.1 "supported property names").
    let found = change(context, |tree| {
        if name.bytes().any(|byte| byte.is_ascii_uppercase()) && tree.is_html_in_html(element) {
            return Ok(None);
        }
        let Some(name) = tree.attribute_by_name(element, &name).map(|one| one.name.clone()) else { return Ok(None) };
        tree.attr_node(element, &name.ns, &name.local)
    })?;
    found.map(|id| wrap(id, context).map(JsValue::from)).transpose()
}

fn names(map: &JsObject, context: &mut Context) -> JsResult<Vec<JsString>> {
    let Some(element) = element_of(map) else { return Ok(Vec::new()) };
    Ok(read(context, |tree| {
        let lower_only = tree.is_html_in_html(element);
        let attributes = tree.element(element).map(|element| element.attributes()).unwrap_or_default();
        let names = attributes.iter().map(|one| qualified(&one.name));
        let names = names.filter(|name| !lower_only || !name.bytes().any(|byte| byte.is_ascii_uppercase()));
        names.map(|name| js_string!(name)).collect()
    }))
}

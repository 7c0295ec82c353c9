//! `Document` (DOM §4.5, HTML §3.1): its parts, its factories, its URL.

use boa_engine::property::PropertyDescriptor;
use boa_engine::{Context, JsArgs, JsObject, JsResult, JsValue, NativeFunction, js_string};
use html5ever::interface::QuirksMode;
use html5ever::{LocalName, QualName, local_name, ns};
use url::Url;

use super::collection::{self, Filter};
use super::implementation;
use super::node::nullable_text;
use crate::dom::{Document, Error, NodeId, NodeKind, Tree, is_element_name, validate_and_extract};
use crate::engine::{bind, realm};
use crate::web::html::{custom, frames, windows};
use crate::web::{
    change, node_argument, of, own_document, read, slot, this_document, this_of, thrown, wrap, wrap_or_null,
};

const METHODS: &[bind::Method] = &[
    ("createElement", 1, |this, args, context| {
        let document = this_document(this, context)?;
        bind::want(args, 1, "createElement' on 'Document")?;
        let name = bind::text(args, 0, context)?;
        let is = custom::is_option(args.get_or_undefined(1), context)?;
        if let Some(made) = custom::create_by_name(document, &name, is.as_deref(), context)? {
            return Ok(made.into());
        }
        let element = change(context, |tree| create_element(tree, document, &name))?;
        wrap(element, context).map(JsValue::from)
    }),
    ("createElementNS", 2, |this, args, context| {
        let document = this_document(this, context)?;
        bind::want(args, 2, "createElementNS' on 'Document")?;
        let (namespace, name) = (nullable_text(args, 0, context)?, bind::text(args, 1, context)?);
        let is = custom::is_option(args.get_or_undefined(2), context)?;
        let name = validate_and_extract(namespace.as_deref(), &name, false).map_err(|error| thrown(error, context))?;
        if name.ns == ns!(html)
            && let Some(made) = custom::create_element(document, &name, is.as_deref(), context)?
        {
            return Ok(made.into());
        }
        let element = change(context, |tree| tree.create_element(document, name, Vec::new()))?;
        wrap(element, context).map(JsValue::from)
    }),
    ("createTextNode", 1, |this, args, context| {
        let document = this_document(this, context)?;
        bind::want(args, 1, "createTextNode' on 'Document")?;
        let text = bind::text(args, 0, context)?;
        let node = change(context, |tree| tree.create_text(document, text))?;
        wrap(node, context).map(JsValue::from)
    }),
    ("createComment", 1, |this, args, context| {
        let document = this_document(this, context)?;
        bind::want(args, 1, "createComment' on 'Document")?;
        let text = bind::text(args, 0, context)?;
        let node = change(context, |tree| tree.create_comment(document, text))?;
        wrap(node, context).map(JsValue::from)
    }),
    ("createDocumentFragment", 0, |this, _, context| {
        let document = this_document(this, context)?;
        let node = change(context, |tree| tree.create_fragment(document))?;
        wrap(node, context).map(JsValue::from)
    }),
    ("importNode", 1, |this, args, context| {
        let document = this_document(this, context)?;
        let node = node_argument(args, 0, "importNode' on 'Document", context)?;
        let deep = args.get_or_undefined(1).to_boolean();
        let copy = change(context, |tree| tree.clone_node(node, Some(document), deep))?;
        wrap(copy, context).map(JsValue::from)
    }),
    ("adoptNode", 1, |this, args, context| {
        let document = this_document(this, context)?;
        let node = node_argument(args, 0, "adoptNode' on 'Document", context)?;
        change(context, |tree| tree.adopt(node, document))?;
        wrap(node, context).map(JsValue::from)
    }),
];

/// An attribute with the document's URL.
const ADDRESS: bind::Attribute = (
    "URL",
    |this, _, context| {
        let document = this_document(this, context)?;
        Ok(bind::js(address(document, context).as_str()))
    },
    None,
);

/// An attribute read from the document's data.
macro_rules! told {
    ($name:literal, $of:expr) => {
        (
            $name,
            |this: &JsValue, _: &[JsValue], context: &mut Context| {
                let document = this_document(this, context)?;
                let of: fn(&Document) -> &'static str = $of;
                Ok(bind::js(read(context, |tree| tree.document_data(document).map_or("", of))))
            },
            None,
        )
    };
}

const ATTRIBUTES: &[bind::Attribute] = &[
    ADDRESS,
    ("documentURI", ADDRESS.1, None),
    told!("characterSet", |data| data.encoding),
    told!("charset", |data| data.encoding),
    told!("inputEncoding", |data| data.encoding),
    told!("contentType", |data| data.content_type),
    told!("compatMode", |data| if data.quirks == QuirksMode::Quirks { "BackCompat" } else { "CSS1Compat" }),
    (
        "doctype",
        |this, _, context| {
            let document = this_document(this, context)?;
            let found =
                read(context, |tree| tree.children(document).find(|id| tree.kind(*id) == NodeKind::DocumentType));
            wrap_or_null(found, context)
        },
        None,
    ),
    (
        "documentElement",
        |this, _, context| {
            let document = this_document(this, context)?;
            let found = read(context, |tree| tree.document_element(document));
            wrap_or_null(found, context)
        },
        None,
    ),
    (
        "head",
        |this, _, context| {
            let document = this_document(this, context)?;
            let found = read(context, |tree| child_of_html(tree, document, &[local_name!("head")]));
            wrap_or_null(found, context)
        },
        None,
    ),
    (
        "body",
        |this, _, context| {
            let document = this_document(this, context)?;
            let found = read(context, |tree| body(tree, document));
            wrap_or_null(found, context)
        },
        Some(set_body),
    ),
    (
        "title",
        |this, _, context| {
            let document = this_document(this, context)?;
            let text = read(context, |tree| title(tree, document).map(|id| tree.child_text(id)).unwrap_or_default());
            Ok(bind::js(&text.split_ascii_whitespace().collect::<Vec<_>>().join(" ")))
        },
        Some(|this, args, context| {
            let document = this_document(this, context)?;
            let text = bind::text(args, 0, context)?;
            change(context, |tree| {
                let title = match title(tree, document) {
                    Some(title) => title,
                    None => {
                        let Some(head) = child_of_html(tree, document, &[local_name!("head")]) else {
                            return Ok(JsValue::undefined());
                        };
                        let title = create_element(tree, document, "title")?;
                        tree.append(head, title)?
                    }
                };
                tree.set_text_content(title, &text).map(|()| JsValue::undefined())
            })
        }),
    ),
];

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    let interface = |name, parent, constructor| bind::Interface {
        name,
        parent: Some(parent),
        constructor,
        ..bind::Interface::EMPTY
    };
    for interface in [
        interface("Document", "Node", Some(implementation::new_document)),
        interface("XMLDocument", "Document", None),
        interface("HTMLDocument", "Document", None),
        interface("DocumentFragment", "Node", Some(implementation::new_fragment)),
        interface("ShadowRoot", "DocumentFragment", None),
    ] {
        bind::define(&interface, context)?;
    }
    let fragment = bind::prototype("DocumentFragment", context)?;
    bind::methods(&fragment, &[BY_ID], context)?;
    let prototype = bind::prototype("Document", context)?;
    bind::methods(&prototype, METHODS, context)?;
    bind::methods(&prototype, &[BY_ID], context)?;
    bind::attributes(&prototype, ATTRIBUTES, context)?;
    for list in LISTS {
        define_list(&prototype, list, context)?;
    }
    let window_attribute: bind::Attribute = (
        "document",
        |_, _, context| {
            let document = own_document(context);
            wrap(document, context).map(JsValue::from)
        },
        None,
    );
    let global = context.global_object();
    bind::attributes(&global, &[window_attribute], context)
}

/// Creates an element by the name given to `createElement` (DOM §4.5).
///
/// # Errors
/// [`Error::InvalidCharacter`] for an invalid name, [`Error::Full`].
pub fn create_element(tree: &mut Tree, document: NodeId, name: &str) -> Result<NodeId, Error> {
    if !is_element_name(name) {
        return Err(Error::InvalidCharacter);
    }
    let is_html = tree.is_html_document(document);
    let local = if is_html { LocalName::from(name.to_ascii_lowercase()) } else { LocalName::from(name) };
    let is_xhtml = tree.document_data(document).is_some_and(|data| data.content_type == "application/xhtml+xml");
    let namespace = if is_html || is_xhtml { ns!(html) } else { ns!() };
    tree.create_element(document, QualName::new(None, namespace, local), Vec::new())
}

/// `getElementById`, of documents and fragments.
const BY_ID: bind::Method = ("getElementById", 1, |this, args, context| {
    let id = this_of(this, &[NodeKind::Document, NodeKind::Fragment], context)?;
    bind::want(args, 1, "getElementById' on 'Document")?;
    let wanted = bind::text(args, 0, context)?;
    let found = read(context, |tree| tree.element_by_id(id, &wanted));
    wrap_or_null(found, context)
});

/// Lists of a document (HTML §3.1.5): the name, and the predicate for its elements.
type List = (&'static str, fn(&Tree, NodeId) -> bool);

const LISTS: &[List] = &[
    ("images", |tree, id| is_html(tree, id, &[local_name!("img")])),
    ("embeds", |tree, id| is_html(tree, id, &[local_name!("embed")])),
    ("plugins", |tree, id| is_html(tree, id, &[local_name!("embed")])),
    ("links", |tree, id| {
        is_html(tree, id, &[local_name!("a"), local_name!("area")])
            && tree.attribute(id, &local_name!("href")).is_some()
    }),
    ("forms", |tree, id| is_html(tree, id, &[local_name!("form")])),
    ("scripts", |tree, id| is_html(tree, id, &[local_name!("script")])),
    ("anchors", |tree, id| {
        is_html(tree, id, &[local_name!("a")]) && tree.attribute(id, &local_name!("name")).is_some()
    }),
    ("applets", |_, _| false),
];

fn is_html(tree: &Tree, id: NodeId, names: &[LocalName]) -> bool {
    tree.element(id).is_some_and(|element| names.iter().any(|name| element.is_html(name)))
}

fn define_list(prototype: &JsObject, list: &'static List, context: &mut Context) -> JsResult<()> {
    let get = NativeFunction::from_copy_closure(move |this, _, context| {
        let document = this_document(this, context)?;
        let make = |context: &mut Context| collection::live("HTMLCollection", document, Filter::Of(list.1), context);
        // `plugins` and `embeds` are the same list.
        let name = if list.0 == "plugins" { "embeds" } else { list.0 };
        slot(document, name, context, make).map(JsValue::from)
    });
    let get = get.to_js_function(context.realm());
    let property = PropertyDescriptor::builder().get(get).enumerable(true).configurable(true);
    prototype.define_property_or_throw(js_string!(list.0), property, context).map(|_| ())
}

/// The URL of a document: the page's, a frame's, or `about:blank` for those that scripts created.
pub fn address(document: NodeId, context: &Context) -> Url {
    let made = || {
        let known = of(context).borrow().addresses.get(&document).cloned();
        known.or_else(|| Url::parse("about:blank").ok())
    };
    windows::address_of(document, context).or_else(made).unwrap_or_else(|| realm::address(context))
}

/// The base URL of a node's document (HTML §2.4.3).
pub fn base_url(id: NodeId, context: &Context) -> Url {
    let document = read(context, |tree| tree.document_of(id));
    let mut around = address(document, context);
    if around.scheme() == "about"
        && let Some(frame) = frames::frame_of(document, context)
    {
        around = base_url(frame, context);
    }
    let href = read(context, |tree| {
        if !tree.has_base() {
            return None;
        }
        let mut bases = tree.descendants(document).filter(|id| is_html(tree, *id, &[local_name!("base")]));
        bases.find_map(|id| tree.attribute(id, &local_name!("href"))).map(str::to_owned)
    });
    href.and_then(|href| around.join(&href).ok()).unwrap_or(around)
}

fn child_of_html(tree: &Tree, document: NodeId, names: &[LocalName]) -> Option<NodeId> {
    let html = tree.document_element(document)?;
    if !tree.element(html)?.is_html(&local_name!("html")) {
        return None;
    }
    tree.child_elements(html)
        .find(|id| tree.element(*id).is_some_and(|element| names.iter().any(|name| element.is_html(name))))
}

/// HTML §3.1.3 "the body element".
pub fn body(tree: &Tree, document: NodeId) -> Option<NodeId> {
    child_of_html(tree, document, &[local_name!("body"), local_name!("frameset")])
}

fn title(tree: &Tree, document: NodeId) -> Option<NodeId> {
    let is_title = |id: &NodeId| tree.element(*id).is_some_and(|element| element.is_html(&local_name!("title")));
    tree.descendants(document).find(is_title)
}

fn set_body(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let document = this_document(this, context)?;
    let new = node_argument(args, 0, "body' on 'Document", context)?;
    let fits = read(context, |tree| {
        tree.element(new).is_some_and(|one| one.is_html(&local_name!("body")) || one.is_html(&local_name!("frameset")))
    });
    if !fits {
        return Err(thrown(Error::HierarchyRequest, context));
    }
    change(context, |tree| {
        let html = tree.document_element(document).ok_or(Error::HierarchyRequest)?;
        match body(tree, document) {
            Some(old) if old == new => {}
            Some(old) => drop(tree.replace(html, new, old)?),
            None => drop(tree.append(html, new)?),
        }
        Ok(JsValue::undefined())
    })
}

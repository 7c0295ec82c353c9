//! `DOMParser` and `XMLSerializer` (HTML §8.5).

use boa_engine::property::PropertyDescriptor;
use boa_engine::{Context, Finalize, JsData, JsObject, JsResult, JsValue, Trace, js_string};
use html5ever::{QualName, local_name, ns};

use super::windows;
use crate::dom::{Error, NodeId, Tree};
use crate::engine::bind;
use crate::engine::target::Listeners;
use crate::web::dom::document;
use crate::web::{NodeObject, change, node_argument, of, own_document, read, wrap};

/// A parser, with the document of the window in which it was created.
#[derive(Trace, Finalize, JsData)]
struct DomParser {
    #[unsafe_ignore_trace]
    around: NodeId,
}

#[derive(Default, Trace, Finalize, JsData)]
struct XmlSerializer;

/// XML types that `parseFromString` accepts; besides these it accepts only HTML.
const XML: &[&str] = &["text/xml", "application/xml", "application/xhtml+xml", "image/svg+xml"];

const PARSER: bind::Interface = bind::Interface {
    name: "DOMParser",
    constructor: Some(|new_target, _, context| {
        bind::construct(new_target, "DOMParser", DomParser { around: own_document(context) }, context)
    }),
    methods: &[("parseFromString", 2, |this, args, context| {
        let around = bind::this::<DomParser>(this)?.borrow().data().around;
        bind::want(args, 2, "parseFromString' on 'DOMParser")?;
        let (text, kind) = (bind::text(args, 0, context)?, bind::text(args, 1, context)?);
        if kind == "text/html" {
            let document = change(context, |tree| tree.parse_document_with(&text, false))?;
            locate(document, around, context);
            return wrap(document, context).map(JsValue::from);
        }
        let kind = XML.iter().find(|known| **known == kind).ok_or_else(|| {
            bind::type_error(format!("The provided value '{kind}' is not a valid enum value of type SupportedType."))
        })?;
        let document = xml_document(&text, kind, context)?;
        locate(document, around, context);
        // Not `XMLDocument`, which only `createDocument` creates.
        let prototype = windows::within(document, context, |context| bind::prototype("Document", context))?;
        let object = NodeObject { id: document, listeners: Listeners::default(), slots: Vec::new() };
        let object = JsObject::from_proto_and_data(prototype, object);
        of(context).borrow_mut().keep(document, object.clone());
        Ok(object.into())
    })],
    ..bind::Interface::EMPTY
};

const SERIALIZER: bind::Interface = bind::Interface {
    name: "XMLSerializer",
    constructor: Some(|new_target, _, context| bind::construct(new_target, "XMLSerializer", XmlSerializer, context)),
    methods: &[("serializeToString", 1, |this, args, context| {
        bind::this::<XmlSerializer>(this)?;
        let node = node_argument(args, 0, "serializeToString' on 'XMLSerializer", context)?;
        Ok(bind::js(&read(context, |tree| tree.to_xml(node))))
    })],
    ..bind::Interface::EMPTY
};

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    bind::define(&PARSER, context)?;
    bind::define(&SERIALIZER, context)?;
    let unsafe_parse = bind::function(
        "parseHTMLUnsafe",
        1,
        |_, args, context| {
            bind::want(args, 1, "parseHTMLUnsafe' on 'Document")?;
            let text = bind::text(args, 0, context)?;
            let document = change(context, |tree| tree.parse_document(&text))?;
            wrap(document, context).map(JsValue::from)
        },
        context,
    );
    let document = bind::prototype("Document", context)?;
    let constructor = document.get(js_string!("constructor"), context)?;
    if let Some(constructor) = constructor.as_object() {
        let method =
            PropertyDescriptor::builder().value(unsafe_parse).writable(true).enumerable(true).configurable(true);
        constructor.define_property_or_throw(js_string!("parseHTMLUnsafe"), method, context)?;
    }
    Ok(())
}

/// A document created by `DOMParser` has the URL and the window of the parser's document (HTML §8.5.1).
fn locate(document: NodeId, around: NodeId, context: &mut Context) {
    let address = document::address(around, context);
    of(context).borrow_mut().addresses.insert(document, address);
    windows::within(around, context, |context| windows::take_in(document, context));
}

/// A document from XML text; an error document if it is not well-formed.
///
/// # Errors
/// When the page's trees are full.
pub fn xml_document(text: &str, kind: &'static str, context: &mut Context) -> JsResult<NodeId> {
    change(context, |tree| tree.parse_xml_document(text, kind))
}

/// A fragment of markup in the context of `around` (HTML §8.5.5 "fragment parsing algorithm steps"): XML if the document is XML.
///
/// # Errors
/// [`Error::Syntax`] for XML that is not well-formed, [`Error::Full`].
pub fn fragment(tree: &mut Tree, around: Option<NodeId>, node: NodeId, text: &str) -> Result<NodeId, Error> {
    let document = tree.document_of(node);
    if !tree.is_html_document(document) {
        return tree.parse_xml_fragment(around.unwrap_or(node), text);
    }
    let is_html = |id: &NodeId| tree.element(*id).is_some_and(|element| element.is_html(&local_name!("html")));
    let around = match around.filter(|id| !is_html(id)) {
        Some(around) => around,
        None => tree.create_element(document, QualName::new(None, ns!(html), local_name!("body")), Vec::new())?,
    };
    tree.parse_fragment(around, text)
}

/// A fragment of markup within an element, parsed as by `innerHTML`.
///
/// # Errors
/// As [`fragment`].
pub fn fragment_in(tree: &mut Tree, id: NodeId, text: &str) -> Result<NodeId, Error> {
    if tree.is_html_document(tree.document_of(id)) {
        tree.parse_fragment(id, text)
    } else {
        tree.parse_xml_fragment(id, text)
    }
}

/// `innerHTML`: HTML or XML, like the document.
pub fn inner(tree: &Tree, id: NodeId) -> String {
    if tree.is_html_document(tree.document_of(id)) {
        return tree.inner_html(id);
    }
    let holder = tree.element(id).and_then(|element| element.template_contents()).unwrap_or(id);
    tree.children(holder).map(|child| tree.to_xml(child)).collect()
}

/// `outerHTML`: HTML or XML, like the document.
pub fn outer(tree: &Tree, id: NodeId) -> String {
    if tree.is_html_document(tree.document_of(id)) { tree.outer_html(id) } else { tree.to_xml(id) }
}

//! Documents created by scripts: `DOMImplementation` (DOM §4.5.1), `new Document()`, `new DocumentFragment()`.

use boa_engine::{Context, Finalize, JsArgs, JsData, JsResult, JsValue, Trace};
use html5ever::{QualName, local_name, ns};

use super::node::nullable_text;
use crate::dom::{Error, NodeId, NodeKind, Tree, validate_and_extract};
use crate::engine::bind;
use crate::web::html::windows;
use crate::web::{change, construct, node_of, own_document, read, slot, this_document, thrown, wrap};

/// `document.implementation`.
#[derive(Trace, Finalize, JsData)]
struct Implementation {
    #[unsafe_ignore_trace]
    document: NodeId,
}

const INTERFACE: bind::Interface = bind::Interface {
    name: "DOMImplementation",
    methods: &[
        ("createDocumentType", 3, |this, args, context| {
            let document = bind::this::<Implementation>(this)?.borrow().data().document;
            bind::want(args, 3, "createDocumentType' on 'DOMImplementation")?;
            let (name, public_id) = (bind::text(args, 0, context)?, bind::text(args, 1, context)?);
            let system_id = bind::text(args, 2, context)?;
            if name.contains(['\t', '\n', '\x0C', '\r', ' ', '\0', '>']) {
                return Err(thrown(Error::InvalidCharacter, context));
            }
            let doctype = change(context, |tree| tree.create_doctype(document, &name, &public_id, &system_id))?;
            wrap(doctype, context).map(JsValue::from)
        }),
        ("createDocument", 2, |this, args, context| {
            let around = bind::this::<Implementation>(this)?.borrow().data().document;
            bind::want(args, 2, "createDocument' on 'DOMImplementation")?;
            let namespace = nullable_text(args, 0, context)?;
            // `[LegacyNullToEmptyString]`.
            let name = if args[1].is_null() { String::new() } else { bind::text(args, 1, context)? };
            let doctype = args.get_or_undefined(2);
            let doctype = match node_of(doctype, context) {
                Some(id) if read(context, |tree| tree.kind(id) == NodeKind::DocumentType) => Some(id),
                None if doctype.is_null_or_undefined() => None,
                _ => {
                    let message = "Failed to execute 'createDocument' on 'DOMImplementation': parameter 3 is not of type 'DocumentType'.";
                    return Err(bind::type_error(message));
                }
            };
            let document = change(context, |tree| xml_document(tree, namespace.as_deref(), &name, doctype))?;
            windows::within(around, context, |context| windows::take_in(document, context));
            wrap(document, context).map(JsValue::from)
        }),
        ("createHTMLDocument", 0, |this, args, context| {
            let around = bind::this::<Implementation>(this)?.borrow().data().document;
            let title = bind::text_if_given(args, 0, context)?;
            let document = change(context, |tree| html_document(tree, title))?;
            windows::within(around, context, |context| windows::take_in(document, context));
            wrap(document, context).map(JsValue::from)
        }),
        ("hasFeature", 0, |this, _, _| bind::this::<Implementation>(this).map(|_| true.into())),
    ],
    ..bind::Interface::EMPTY
};

const ATTRIBUTE: bind::Attribute = (
    "implementation",
    |this, _, context| {
        let document = this_document(this, context)?;
        let make = |context: &mut Context| bind::object("DOMImplementation", Implementation { document }, context);
        slot(document, "implementation", context, make).map(JsValue::from)
    },
    None,
);

/// `new Document()`: XML without an element.
pub(crate) fn new_document(new_target: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let made = construct(new_target, "Document", |tree| tree.create_document(false), context)?;
    if let Some(document) = node_of(&made, context) {
        windows::take_in(document, context);
    }
    Ok(made)
}

/// `new DocumentFragment()`, of the window's document.
pub(crate) fn new_fragment(new_target: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let document = own_document(context);
    construct(new_target, "DocumentFragment", |tree| tree.create_fragment(document), context)
}

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    bind::define(&INTERFACE, context)?;
    let document = bind::prototype("Document", context)?;
    bind::attributes(&document, &[ATTRIBUTE], context)
}

/// `createDocument` (DOM §4.5.1).
fn xml_document(
    tree: &mut Tree,
    namespace: Option<&str>,
    name: &str,
    doctype: Option<NodeId>,
) -> Result<NodeId, Error> {
    let name = if name.is_empty() { None } else { Some(validate_and_extract(namespace, name, false)?) };
    let document = tree.create_document(false)?;
    let content_type = match namespace {
        Some("http://www.w3.org/1999/xhtml") => "application/xhtml+xml",
        Some("http://www.w3.org/2000/svg") => "image/svg+xml",
        _ => "application/xml",
    };
    if let Some(data) = tree.document_data_mut(document) {
        data.content_type = content_type;
    }
    if let Some(doctype) = doctype {
        tree.append(document, doctype)?;
    }
    if let Some(name) = name {
        let element = tree.create_element(document, name, Vec::new())?;
        tree.append(document, element)?;
    }
    Ok(document)
}

/// `createHTMLDocument` (DOM §4.5.1).
///
/// # Errors
/// [`Error::Full`].
pub fn html_document(tree: &mut Tree, title: Option<String>) -> Result<NodeId, Error> {
    let document = tree.create_document(true)?;
    let doctype = tree.create_doctype(document, "html", "", "")?;
    tree.append(document, doctype)?;
    let mut put = |parent, name| {
        let element = tree.create_element(document, QualName::new(None, ns!(html), name), Vec::new())?;
        tree.append(parent, element)
    };
    let html = put(document, local_name!("html"))?;
    let head = put(html, local_name!("head"))?;
    let title_element = title.is_some().then(|| put(head, local_name!("title"))).transpose()?;
    put(html, local_name!("body"))?;
    if let (Some(element), Some(title)) = (title_element, title) {
        let text = tree.create_text(document, title)?;
        tree.append(element, text)?;
    }
    Ok(document)
}

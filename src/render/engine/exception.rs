//! `DOMException` (WebIDL §4.3): the platform's errors, with the names and codes that pages compare.

use boa_engine::property::PropertyDescriptor;
use boa_engine::{Context, Finalize, JsData, JsError, JsNativeError, JsObject, JsResult, JsValue, Trace, js_string};

use super::bind;

#[derive(Trace, Finalize, JsData)]
struct DomException {
    #[unsafe_ignore_trace]
    name: String,
    #[unsafe_ignore_trace]
    message: String,
}

/// The constants, including historical ones.
const CODES: &[(&str, u32)] = &[
    ("INDEX_SIZE_ERR", 1),
    ("DOMSTRING_SIZE_ERR", 2),
    ("HIERARCHY_REQUEST_ERR", 3),
    ("WRONG_DOCUMENT_ERR", 4),
    ("INVALID_CHARACTER_ERR", 5),
    ("NO_DATA_ALLOWED_ERR", 6),
    ("NO_MODIFICATION_ALLOWED_ERR", 7),
    ("NOT_FOUND_ERR", 8),
    ("NOT_SUPPORTED_ERR", 9),
    ("INUSE_ATTRIBUTE_ERR", 10),
    ("INVALID_STATE_ERR", 11),
    ("SYNTAX_ERR", 12),
    ("INVALID_MODIFICATION_ERR", 13),
    ("NAMESPACE_ERR", 14),
    ("INVALID_ACCESS_ERR", 15),
    ("VALIDATION_ERR", 16),
    ("TYPE_MISMATCH_ERR", 17),
    ("SECURITY_ERR", 18),
    ("NETWORK_ERR", 19),
    ("ABORT_ERR", 20),
    ("URL_MISMATCH_ERR", 21),
    ("QUOTA_EXCEEDED_ERR", 22),
    ("TIMEOUT_ERR", 23),
    ("INVALID_NODE_TYPE_ERR", 24),
    ("DATA_CLONE_ERR", 25),
];

/// Names that have a code.
const NAMES: &[(&str, u32)] = &[
    ("IndexSizeError", 1),
    ("HierarchyRequestError", 3),
    ("WrongDocumentError", 4),
    ("InvalidCharacterError", 5),
    ("NoModificationAllowedError", 7),
    ("NotFoundError", 8),
    ("NotSupportedError", 9),
    ("InUseAttributeError", 10),
    ("InvalidStateError", 11),
    ("SyntaxError", 12),
    ("InvalidModificationError", 13),
    ("NamespaceError", 14),
    ("InvalidAccessError", 15),
    ("TypeMismatchError", 17),
    ("SecurityError", 18),
    ("NetworkError", 19),
    ("AbortError", 20),
    ("URLMismatchError", 21),
    ("QuotaExceededError", 22),
    ("TimeoutError", 23),
    ("InvalidNodeTypeError", 24),
    ("DataCloneError", 25),
];

const INTERFACE: bind::Interface = bind::Interface {
    name: "DOMException",
    constructor: Some(|new_target, args, context| {
        let message = bind::text_if_given(args, 0, context)?.unwrap_or_default();
        let name = bind::text_if_given(args, 1, context)?.unwrap_or_else(|| "Error".to_owned());
        let made = bind::construct(new_target, "DOMException", DomException { name, message }, context)?;
        with_stack(made.as_object().as_ref(), context)?;
        Ok(made)
    }),
    attributes: &[
        ("name", |this, _, _| Ok(bind::js(&bind::this::<DomException>(this)?.borrow().data().name)), None),
        ("message", |this, _, _| Ok(bind::js(&bind::this::<DomException>(this)?.borrow().data().message)), None),
        (
            "code",
            |this, _, _| {
                let this = bind::this::<DomException>(this)?;
                let code = NAMES.iter().find(|(name, _)| *name == this.borrow().data().name);
                Ok(code.map_or(0, |(_, code)| *code).into())
            },
            None,
        ),
    ],
    constants: CODES,
    ..bind::Interface::EMPTY
};

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let prototype = bind::define(&INTERFACE, context)?;
    let error = context.intrinsics().constructors().error().prototype();
    prototype.set_prototype(Some(error));
    Ok(())
}

/// Pages and tools expect a `stack` on exceptions.
fn with_stack(object: Option<&JsObject>, context: &mut Context) -> JsResult<()> {
    let Some(object) = object else { return Ok(()) };
    let property =
        PropertyDescriptor::builder().value(js_string!()).writable(true).enumerable(false).configurable(true);
    object.define_property_or_throw(js_string!("stack"), property, context).map(|_| ())
}

/// A `DOMException` as a value.
///
/// # Errors
/// When the interface was not defined.
pub fn value(name: &str, message: &str, context: &mut Context) -> JsResult<JsValue> {
    let data = DomException { name: name.to_owned(), message: message.to_owned() };
    let object = bind::object("DOMException", data, context)?;
    with_stack(Some(&object), context)?;
    Ok(object.into())
}

/// A `DOMException` to throw.
pub fn error(name: &str, message: &str, context: &mut Context) -> JsError {
    match value(name, message, context) {
        Ok(value) => JsError::from_opaque(value),
        Err(_) => JsNativeError::error().with_message(format!("{name}: {message}")).into(),
    }
}

/// Whether an object is a `DOMException`.
pub fn is(object: &JsObject) -> bool {
    object.is::<DomException>()
}

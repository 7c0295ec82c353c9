//! What a page copies: `navigator.clipboard` (Clipboard API) and `execCommand('copy')`, with `DataTransfer` for its event. Nobody pastes
//! here; a text that is copied is read as one that is shown, since "copy" is how many pages give a magnet away.

use std::cell::RefCell;

use boa_engine::object::FunctionObjectBuilder;
use boa_engine::object::builtins::{JsFunction, JsPromise};
use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsString, JsValue, NativeFunction, Trace};

use super::dom::document;
use super::html::window::Quiet;
use super::{html, own_document, read, selection, wrap};
use crate::engine::{bind, blob, events, exception, realm, target};
use crate::limits;

/// Texts that were copied since somebody looked, and the last one of all.
#[derive(Default)]
struct Copied(RefCell<(Vec<String>, String)>);

/// The window's `Clipboard`.
struct Own(JsObject);

/// Representations of one thing by their types.
#[derive(Trace, Finalize, JsData)]
struct Item {
    list: Vec<(JsString, JsValue)>,
}

/// Texts by their types.
#[derive(Default, Trace, Finalize, JsData)]
struct Transfer {
    #[unsafe_ignore_trace]
    list: Vec<(String, String)>,
}

const CLIPBOARD: bind::Interface = bind::Interface {
    name: "Clipboard",
    parent: Some("EventTarget"),
    methods: &[
        ("writeText", 1, |_, args, context| {
            bind::want(args, 1, "writeText' on 'Clipboard")?;
            let text = bind::text(args, 0, context)?;
            keep(text, context);
            JsPromise::resolve(JsValue::undefined(), context).map(JsValue::from)
        }),
        ("readText", 0, |_, _, context| {
            let last = context.get_data::<Copied>().map(|copied| copied.0.borrow().1.clone()).unwrap_or_default();
            JsPromise::resolve(bind::js(&last), context).map(JsValue::from)
        }),
        ("write", 1, write),
        ("read", 0, |_, _, context| {
            let error = exception::error("NotAllowedError", "Read permission denied.", context);
            JsPromise::reject(error, context).map(JsValue::from)
        }),
    ],
    ..bind::Interface::EMPTY
};

const ITEM: bind::Interface = bind::Interface {
    name: "ClipboardItem",
    length: 1,
    constructor: Some(|new_target, args, context| {
        let refusal = || bind::type_error("Failed to construct 'ClipboardItem': parameter 1 is not of type 'object'.");
        let given = args.get_or_undefined(0).as_object().ok_or_else(refusal)?;
        let mut list = Vec::new();
        for key in given.own_property_keys(context)?.into_iter().take(limits::PAIRS_MAX) {
            let kind = JsValue::from(key.clone()).to_string(context)?;
            list.push((kind, given.get(key, context)?));
        }
        bind::construct(new_target, "ClipboardItem", Item { list }, context)
    }),
    methods: &[("getType", 1, |this, args, context| {
        let kind = bind::text(args, 0, context)?;
        let item = bind::this::<Item>(this)?;
        let found =
            item.borrow().data().list.iter().find(|(key, _)| *key == kind.as_str()).map(|(_, value)| value.clone());
        match found {
            Some(value) => JsPromise::resolve(value, context).map(JsValue::from),
            None => {
                let error = exception::error("NotFoundError", "The type was not found", context);
                JsPromise::reject(error, context).map(JsValue::from)
            }
        }
    })],
    attributes: &[(
        "types",
        |this, _, context| {
            let kinds: Vec<JsValue> = {
                let item = bind::this::<Item>(this)?;
                let item = item.borrow();
                item.data().list.iter().map(|(kind, _)| kind.clone().into()).collect()
            };
            Ok(bind::array(kinds, context))
        },
        None,
    )],
    statics: &[("supports", 1, |_, args, context| {
        let kind = bind::text(args, 0, context)?;
        Ok(matches!(kind.as_str(), "text/plain" | "text/html" | "image/png").into())
    })],
    ..bind::Interface::EMPTY
};

const TRANSFER: bind::Interface = bind::Interface {
    name: "DataTransfer",
    constructor: Some(|new_target, _, context| {
        bind::construct(new_target, "DataTransfer", Transfer::default(), context)
    }),
    methods: &[
        ("setData", 2, |this, args, context| {
            let transfer = bind::this::<Transfer>(this)?;
            let (kind, text) = (kind_of(args, context)?, bind::text(args, 1, context)?);
            let mut transfer = transfer.borrow_mut();
            let list = &mut transfer.data_mut().list;
            list.retain(|(other, _)| *other != kind);
            if list.len() < limits::PAIRS_MAX {
                list.push((kind, text));
            }
            Ok(JsValue::undefined())
        }),
        ("getData", 1, |this, args, context| {
            let kind = kind_of(args, context)?;
            let transfer = bind::this::<Transfer>(this)?;
            let transfer = transfer.borrow();
            let found = transfer.data().list.iter().find(|(other, _)| *other == kind);
            Ok(bind::js(found.map_or("", |(_, text)| text)))
        }),
        ("clearData", 0, |this, args, context| {
            let transfer = bind::this::<Transfer>(this)?;
            let kind = if args.is_empty() { None } else { Some(kind_of(args, context)?) };
            transfer.borrow_mut().data_mut().list.retain(|(other, _)| kind.as_ref().is_some_and(|kind| kind != other));
            Ok(JsValue::undefined())
        }),
    ],
    attributes: &[
        (
            "types",
            |this, _, context| {
                let kinds: Vec<JsValue> = {
                    let transfer = bind::this::<Transfer>(this)?;
                    let transfer = transfer.borrow();
                    transfer.data().list.iter().map(|(kind, _)| bind::js(kind)).collect()
                };
                Ok(bind::array(kinds, context))
            },
            None,
        ),
        ("files", |_, _, context| Ok(bind::array([], context)), None),
        ("items", |_, _, context| Ok(bind::array([], context)), None),
    ],
    ..bind::Interface::EMPTY
};

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    if !context.has_data::<Copied>() {
        context.insert_data(Copied::default());
    }
    make(context)?;
    let navigator = bind::prototype("Navigator", context)?;
    let attribute: bind::Attribute = (
        "clipboard",
        |_, _, context| Ok(realm::own::<Own>(context).map_or_else(JsValue::undefined, |own| own.0.clone().into())),
        None,
    );
    bind::attributes(&navigator, &[attribute], context)?;
    let document = bind::prototype("Document", context)?;
    bind::methods(&document, COMMANDS, context)
}

fn make(context: &mut Context) -> JsResult<()> {
    for interface in [&CLIPBOARD, &ITEM, &TRANSFER] {
        bind::define(interface, context)?;
    }
    let own = Own(bind::object("Clipboard", Quiet::default(), context)?);
    realm::keep(own, context);
    Ok(())
}

/// Commands of editors, of which only copying does anything here.
const COMMANDS: &[bind::Method] = &[
    (
        "execCommand",
        1,
        |_, args, context| {
            if is_copy(args, context)? { copy(context).map(JsValue::from) } else { Ok(false.into()) }
        },
    ),
    ("queryCommandSupported", 1, |_, args, context| is_copy(args, context).map(JsValue::from)),
    ("queryCommandEnabled", 1, |_, args, context| is_copy(args, context).map(JsValue::from)),
];

fn is_copy(args: &[JsValue], context: &mut Context) -> JsResult<bool> {
    let name = bind::text(args, 0, context)?;
    Ok(name.eq_ignore_ascii_case("copy") || name.eq_ignore_ascii_case("cut"))
}

/// The short names of types that `DataTransfer` has had from the first browsers.
fn kind_of(args: &[JsValue], context: &mut Context) -> JsResult<String> {
    let kind = bind::text(args, 0, context)?.to_ascii_lowercase();
    Ok(match kind.as_str() {
        "text" => "text/plain".to_owned(),
        "url" => "text/uri-list".to_owned(),
        _ => kind,
    })
}

/// Keeps a text for who reads the page, as far as there is room.
fn keep(text: String, context: &Context) {
    let Some(copied) = context.get_data::<Copied>() else { return };
    let mut copied = copied.0.borrow_mut();
    let held: usize = copied.0.iter().map(String::len).sum();
    if held + text.len() <= limits::RENDER_COPIED_BYTES_MAX {
        copied.1.clone_from(&text);
        copied.0.push(text);
    }
}

/// What the page has copied since this was asked last.
pub(super) fn take(context: &Context) -> Vec<String> {
    context.get_data::<Copied>().map(|copied| std::mem::take(&mut copied.0.borrow_mut().0)).unwrap_or_default()
}

/// `write(items)`: their texts, each once it is there.
fn write(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let items = args.get_or_undefined(0).as_object();
    let items = items.ok_or_else(|| bind::type_error("The provided value cannot be converted to a sequence."))?;
    for item in bind::values(&items, limits::PAIRS_MAX, context)? {
        let list = bind::this::<Item>(&item)?.borrow().data().list.clone();
        for (_, value) in list.into_iter().filter(|(kind, _)| kind.to_std_string_lossy().starts_with("text/")) {
            let read = NativeFunction::from_fn_ptr(|_, args, context| {
                let (bytes, _) = blob::extract(args.get_or_undefined(0), context)?;
                keep(String::from_utf8_lossy(&bytes).into_owned(), context);
                Ok(JsValue::undefined())
            });
            let read: JsFunction = FunctionObjectBuilder::new(context.realm(), read).build();
            JsPromise::resolve(value, context)?.then(Some(read), None, context)?;
        }
    }
    JsPromise::resolve(JsValue::undefined(), context).map(JsValue::from)
}

/// Copies what is selected, a control's text before the document's; a listener may put another text in its place (Clipboard API §8.1).
fn copy(context: &mut Context) -> JsResult<bool> {
    let (text, at) = match html::selected_text(context) {
        Some((text, control)) => (text, Some(control)),
        None => (selection::text(context).unwrap_or_default(), None),
    };
    let document = own_document(context);
    let at = at.or_else(|| {
        read(context, |tree| {
            tree.focus.or_else(|| document::body(tree, document)).or_else(|| tree.document_element(document))
        })
    });
    let Some(at) = at else { return Ok(false) };
    let transfer = bind::object("DataTransfer", Transfer::default(), context)?;
    let data = [("clipboardData", transfer.clone().into())];
    let event = events::create("ClipboardEvent", "copy", (true, true), &data, context)?;
    let object = wrap(at, context)?;
    let goes_on = target::dispatch(&object, &event, context)?;
    let given = transfer.downcast_ref::<Transfer>().map(|transfer| transfer.list.clone()).unwrap_or_default();
    if !goes_on {
        let has_given = !given.is_empty();
        given.into_iter().for_each(|(_, text)| keep(text, context));
        return Ok(has_given);
    }
    let has_text = !text.is_empty();
    keep(text, context);
    Ok(has_text)
}

//! Copying: `navigator.clipboard` (Clipboard API) and `execCommand('copy')`, with `DataTransfer` for its event. There is no pasting.
//! Copied text counts as shown text, since "copy" is how many pages offer a magnet link.

use std::cell::RefCell;

use boa_engine::object::builtins::JsPromise;
use boa_engine::{Context, Finalize, JsData, JsObject, JsResult, JsValue, Trace};

use super::dom::document;
use super::html::window::Quiet;
use super::{html, own_document, read, selection, wrap};
use crate::engine::{bind, events, realm, target};
use crate::limits;

/// Texts copied since the last read, and the last one of all.
#[derive(Default)]
struct Copied(RefCell<(Vec<String>, String)>);

/// The window's `Clipboard`.
struct WindowClipboard(JsObject);

/// Texts by type.
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
    ],
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
        |_, _, context| {
            Ok(realm::own::<WindowClipboard>(context).map_or_else(JsValue::undefined, |own| own.0.clone().into()))
        },
        None,
    );
    bind::attributes(&navigator, &[attribute], context)?;
    let document = bind::prototype("Document", context)?;
    bind::methods(&document, COMMANDS, context)
}

fn make(context: &mut Context) -> JsResult<()> {
    for interface in [&CLIPBOARD, &TRANSFER] {
        bind::define(interface, context)?;
    }
    let own = WindowClipboard(bind::object("Clipboard", Quiet::default(), context)?);
    realm::keep(own, context);
    Ok(())
}

/// Editing commands; only `copy` does anything here.
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

/// Legacy short names of types in `DataTransfer`.
fn kind_of(args: &[JsValue], context: &mut Context) -> JsResult<String> {
    let kind = bind::text(args, 0, context)?.to_ascii_lowercase();
    Ok(match kind.as_str() {
        "text" => "text/plain".to_owned(),
        "url" => "text/uri-list".to_owned(),
        _ => kind,
    })
}

/// Stores a text for the reader while there is room.
fn keep(text: String, context: &Context) {
    let Some(copied) = context.get_data::<Copied>() else { return };
    let mut copied = copied.0.borrow_mut();
    let held: usize = copied.0.iter().map(String::len).sum();
    if held + text.len() <= limits::RENDER_COPIED_BYTES_MAX {
        copied.1.clone_from(&text);
        copied.0.push(text);
    }
}

/// The texts copied since the last call.
pub(crate) fn take(context: &Context) -> Vec<String> {
    context.get_data::<Copied>().map(|copied| std::mem::take(&mut copied.0.borrow_mut().0)).unwrap_or_default()
}

/// Copies the selection, preferring a control's over the document's; a listener may replace the text (Clipboard API §8.1).
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

#[cfg(test)]
mod tests;

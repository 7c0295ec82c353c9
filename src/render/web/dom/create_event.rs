//! `document.createEvent` (DOM §4.5), which old pages use to create events.

use boa_engine::{Context, JsResult, JsValue};

use crate::dom::Error;
use crate::engine::{bind, events};
use crate::web::{this_document, thrown};

/// The accepted names in lower case, and their interfaces.
const NAMES: &[(&str, &str)] = &[
    ("beforeunloadevent", "BeforeUnloadEvent"),
    ("compositionevent", "CompositionEvent"),
    ("customevent", "CustomEvent"),
    ("devicemotionevent", "DeviceMotionEvent"),
    ("deviceorientationevent", "DeviceOrientationEvent"),
    ("dragevent", "DragEvent"),
    ("event", "Event"),
    ("events", "Event"),
    ("focusevent", "FocusEvent"),
    ("hashchangeevent", "HashChangeEvent"),
    ("htmlevents", "Event"),
    ("keyboardevent", "KeyboardEvent"),
    ("messageevent", "MessageEvent"),
    ("mouseevent", "MouseEvent"),
    ("mouseevents", "MouseEvent"),
    ("storageevent", "StorageEvent"),
    ("svgevents", "Event"),
    ("textevent", "TextEvent"),
    ("uievent", "UIEvent"),
    ("uievents", "UIEvent"),
];

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    let document = bind::prototype("Document", context)?;
    bind::methods(&document, &[("createEvent", 1, create)], context)
}

fn create(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    this_document(this, context)?;
    bind::want(args, 1, "createEvent' on 'Document")?;
    let asked = bind::text(args, 0, context)?.to_ascii_lowercase();
    match NAMES.iter().find(|(name, _)| *name == asked) {
        Some((_, interface)) => events::create_unready(interface, context).map(JsValue::from),
        None => Err(thrown(Error::NotSupported, context)),
    }
}

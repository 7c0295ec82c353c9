//! Event handlers of elements, documents and windows (HTML §8.1.8): `on…` attributes in scripts and in markup. Handler text is compiled
//! on first use, with the document, the form and the element as its scopes.

use std::path::Path;
use std::rc::Rc;

use boa_engine::parser::source::Beginning;
use boa_engine::{Context, JsArgs, JsObject, JsResult, JsValue, NativeFunction, Source, js_string};

use html5ever::LocalName;

use super::element::is_called;
use super::load::loading;
use super::{source, windows};
use crate::dom::{Mutation, NodeId, Tree};
use crate::engine::target::{self, Listeners};
use crate::engine::{bind, realm, report};
use crate::limits;
use crate::web::dom::document;
use crate::web::{node_of, of, own_document, read, wrap};

/// `GlobalEventHandlers` (§8.1.8.2): types of events with a handler on elements, documents and windows. Those of touch are missing, as on
/// any desktop (Touch Events §5.7): by them pages decide whether to listen to touches in place of clicks.
const GLOBAL: &[&str] = &[
    "abort",
    "animationcancel",
    "animationend",
    "animationiteration",
    "animationstart",
    "auxclick",
    "beforeinput",
    "beforematch",
    "beforetoggle",
    "blur",
    "cancel",
    "canplay",
    "canplaythrough",
    "change",
    "click",
    "close",
    "contextlost",
    "contextmenu",
    "contextrestored",
    "copy",
    "cuechange",
    "cut",
    "dblclick",
    "drag",
    "dragend",
    "dragenter",
    "dragleave",
    "dragover",
    "dragstart",
    "drop",
    "durationchange",
    "emptied",
    "ended",
    "error",
    "focus",
    "formdata",
    "gotpointercapture",
    "input",
    "invalid",
    "keydown",
    "keypress",
    "keyup",
    "load",
    "loadeddata",
    "loadedmetadata",
    "loadstart",
    "lostpointercapture",
    "mousedown",
    "mouseenter",
    "mouseleave",
    "mousemove",
    "mouseout",
    "mouseover",
    "mouseup",
    "mousewheel",
    "paste",
    "pause",
    "play",
    "playing",
    "pointercancel",
    "pointerdown",
    "pointerenter",
    "pointerleave",
    "pointermove",
    "pointerout",
    "pointerover",
    "pointerup",
    "progress",
    "ratechange",
    "reset",
    "resize",
    "scroll",
    "scrollend",
    "securitypolicyviolation",
    "seeked",
    "seeking",
    "select",
    "selectionchange",
    "selectstart",
    "slotchange",
    "stalled",
    "submit",
    "suspend",
    "timeupdate",
    "toggle",
    "transitioncancel",
    "transitionend",
    "transitionrun",
    "transitionstart",
    "volumechange",
    "waiting",
    "webkitanimationend",
    "webkitanimationiteration",
    "webkitanimationstart",
    "webkittransitionend",
    "wheel",
];

/// `WindowEventHandlers`, which a body forwards to its window.
const WINDOW: &[&str] = &[
    "afterprint",
    "beforeprint",
    "beforeunload",
    "hashchange",
    "languagechange",
    "message",
    "messageerror",
    "offline",
    "online",
    "pagehide",
    "pageshow",
    "popstate",
    "rejectionhandled",
    "storage",
    "unhandledrejection",
    "unload",
];

/// Element handlers that a body also forwards to its window.
const REFLECTED: &[&str] = &["blur", "error", "focus", "load", "resize", "scroll"];

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let element = bind::prototype("HTMLElement", context)?;
    target::handlers(&element, GLOBAL, context)?;
    let global = context.global_object();
    // All interfaces share these functions: each takes the listeners of its `this`.
    for kind in GLOBAL {
        let name = js_string!(format!("on{kind}"));
        let Some(descriptor) = element.borrow().properties().get(&name.clone().into()) else { continue };
        for interface in ["SVGElement", "MathMLElement", "Document"] {
            let prototype = bind::prototype(interface, context)?;
            prototype.define_property_or_throw(name.clone(), descriptor.clone(), context)?;
        }
        global.define_property_or_throw(name, descriptor, context)?;
    }
    target::handlers(&global, WINDOW, context)?;
    for interface in ["HTMLBodyElement", "HTMLFrameSetElement"] {
        let prototype = bind::prototype(interface, context)?;
        for kind in REFLECTED.iter().chain(WINDOW).copied() {
            let get = NativeFunction::from_copy_closure(move |_, _, context| {
                realm::window(context).get(js_string!(format!("on{kind}")), context)
            });
            let set = NativeFunction::from_copy_closure(move |_, args, context| {
                let handler = args.get_or_undefined(0).as_object();
                target::set_handler(&realm::window(context), js_string!(kind), handler, context)?;
                Ok(JsValue::undefined())
            });
            bind::accessor(&prototype, &format!("on{kind}"), get, Some(set), context)?;
        }
    }
    Ok(())
}

/// The event type that a content attribute handles.
fn kind_of(attribute: &str) -> Option<&'static str> {
    let kind = attribute.strip_prefix("on")?;
    let known = GLOBAL.binary_search(&kind).ok().map(|place| GLOBAL[place]);
    known.or_else(|| WINDOW.binary_search(&kind).ok().map(|place| WINDOW[place]))
}

fn is_of_window(kind: &str) -> bool {
    REFLECTED.contains(&kind) || WINDOW.binary_search(&kind).is_ok()
}

fn is_body(tree: &Tree, id: NodeId) -> bool {
    is_called(tree, id, &["body", "frameset"])
}

/// Adds the handlers in an element's markup to its new object.
pub fn adopt(tree: &Tree, id: NodeId, listeners: &mut Listeners) {
    let Some(element) = tree.element(id) else { return };
    for attribute in element.attributes().iter().filter(|one| one.name.local.starts_with("on")) {
        let Some(kind) = kind_of(&attribute.name.local).filter(|_| attribute.name.ns.is_empty()) else { continue };
        let is_windows = WINDOW.binary_search(&kind).is_ok() || (is_body(tree, id) && is_of_window(kind));
        if !is_windows {
            listeners.set_text(kind, Some(Rc::from(attribute.value.as_str())));
        }
    }
}

/// An attribute was set: its text is the handler now.
pub(super) fn attribute_changed(id: NodeId, attribute: &str, new: Option<&str>, context: &Context) {
    let Some(kind) = kind_of(attribute) else { return };
    let text = new.map(Rc::from);
    let web = of(context);
    let document = own_document(context);
    let (is_body, wrapper) = {
        let web = web.borrow();
        (is_body(&web.tree, id) && web.tree.document_of(id) == document, web.wrapper(id))
    };
    let at = if is_body && is_of_window(kind) { Some(realm::window(context)) } else { wrapper };
    if let Some(at) = at {
        // An element is an event target.
        let _ = target::set_handler_text(&at, kind, text, context);
    }
}

/// The window's document got a body: its handlers become the window's.
pub(super) fn body_came_in(log: &[Mutation], context: &Context) {
    let document = own_document(context);
    let added = log.iter().filter_map(|one| match one {
        Mutation::Children { added, .. } => Some(added),
        _ => None,
    });
    let found: Vec<(&'static str, Rc<str>)> = read(context, |tree| {
        let tops = added.flatten().copied();
        let bodies = tops.flat_map(|top| {
            let below = is_called(tree, top, &["html"]).then(|| tree.child_elements(top)).into_iter().flatten();
            let is_ours = |id: &NodeId| is_body(tree, *id) && tree.document_of(*id) == document;
            std::iter::once(top).chain(below).filter(is_ours)
        });
        let attributes = bodies.filter_map(|id| tree.element(id)).flat_map(|element| element.attributes());
        attributes
            .filter_map(|one| {
                let kind = kind_of(&one.name.local).filter(|kind| is_of_window(kind))?;
                Some((kind, Rc::from(one.value.as_str())))
            })
            .collect()
    });
    let window = realm::window(context);
    for (kind, text) in found {
        let _ = target::set_handler_text(&window, kind, Some(text), context);
    }
}

/// "Get the current value of the event handler" (§8.1.8.1): compiles the text as a function whose scopes are the document, the form
/// owner, and the element.
pub(super) fn compile(target: &JsObject, kind: &str, text: &str, context: &mut Context) -> Option<JsObject> {
    let node = node_of(&target.clone().into(), context);
    let parameters = if node.is_none() && kind == "error" { "event,source,lineno,colno,error" } else { "event" };
    // The text is on its own lines, so that a comment at its end does not swallow what follows.
    let function = format!("function on{kind}({parameters}){{\n{text}\n}}");
    let Some(id) = node else {
        // A window's inline handlers are attributes of its body.
        let body = read(context, |tree| document::body(tree, own_document(context)));
        let start = body.and_then(|body| place(body, kind, text, context));
        return evaluate(&format!("({function})"), start, context)?.as_object();
    };
    windows::within(id, context, |context| {
        let start = place(id, kind, text, context);
        compile_of_element(id, target, &function, start, context)
    })
}

/// The position of a handler's text in the page's markup, for an element that comes from there. The search is slow, so pages that use the
/// handlers of thousands of elements get no positions for them.
fn place(id: NodeId, kind: &str, text: &str, context: &Context) -> Option<Beginning> {
    let state = loading(context);
    let mut state = state.borrow_mut();
    if state.handlers_sought >= limits::RENDER_HANDLERS_SOUGHT_MAX {
        return None;
    }
    state.handlers_sought += 1;
    let name = LocalName::from(format!("on{kind}"));
    let nth = read(context, |tree| {
        let document = tree.document_of(id);
        let same = |other: &NodeId| tree.attribute(*other, &name) == Some(text);
        let mut elements = tree.descendants(document).filter(same);
        elements.position(|other| other == id)
    })?;
    let position = source::handler(&state.markup, kind, text, nth)?;
    // The text begins on the second line of the compiled source.
    Some(Beginning { line: 2, position })
}

fn compile_of_element(
    id: NodeId,
    target: &JsObject,
    function: &str,
    start: Option<Beginning>,
    context: &mut Context,
) -> Option<JsObject> {
    let outer = format!("(function(){{with(arguments[0])with(arguments[1])with(arguments[2])return {function}}})");
    let outer = evaluate(&outer, start, context)?.as_callable()?;
    let (document, form) = read(context, |tree| (tree.document_of(id), tree.form_owner(id)));
    let document = wrap(document, context).ok()?;
    let form = match form.filter(|form| *form != id) {
        Some(form) => wrap(form, context).ok()?,
        None => JsObject::with_null_proto(),
    };
    let scopes = [document.into(), form.into(), target.clone().into()];
    outer.call(&JsValue::undefined(), &scopes, context).ok()?.as_object()
}

fn evaluate(text: &str, start: Option<Beginning>, context: &mut Context) -> Option<JsValue> {
    let by = if start.is_some() { None } else { report::evaluated("a handler", context) };
    let name = by.unwrap_or_else(|| realm::address(context).to_string());
    let source = Source::from_bytes(text).with_path(Path::new(&name)).beginning_at(start);
    context.eval(source).map_err(|error| report::exception(error, context)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_handlers_are_in_order() {
        assert!(GLOBAL.is_sorted() && WINDOW.is_sorted());
        assert_eq!(kind_of("onclick"), Some("click"));
        assert_eq!(kind_of("onfoo"), None);
    }
}

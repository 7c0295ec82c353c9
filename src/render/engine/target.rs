//! `EventTarget`: listeners, event handler attributes and dispatch (DOM §2.7–2.9, HTML §8.1.8).
//!
//! Any native kind can be an event target: it holds `Listeners` and returns its parent in an event's path, which `dispatch` follows. The
//! document's tree adds its own kind. This module does not know nodes.

mod dispatch;

use std::any::TypeId;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use boa_engine::object::NativeObject;
use boa_engine::property::PropertyDescriptor;
use boa_engine::{
    Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsString, JsValue, NativeFunction, Trace, js_string,
};

pub use self::dispatch::dispatch;
use super::events::{self, Event};
use super::{abort, bind, realm};
use crate::limits;

/// The listeners of one target, in order of registration.
#[derive(Default, Trace, Finalize)]
pub struct Listeners {
    list: Vec<Listener>,
    #[unsafe_ignore_trace]
    last: u64,
}

#[derive(Clone, Trace, Finalize)]
struct Listener {
    #[unsafe_ignore_trace]
    id: u64,
    kind: JsString,
    /// A function, an object with `handleEvent`, or the value of an event handler attribute. `None`: the handler is markup text that is
    /// not compiled yet.
    callback: Option<JsObject>,
    #[unsafe_ignore_trace]
    text: Option<Rc<str>>,
    /// Set by an `on…` attribute.
    handler: bool,
    capture: bool,
    once: bool,
    passive: bool,
}

impl Listeners {
    fn add(&mut self, mut listener: Listener) {
        let known = |other: &Listener| {
            !listener.handler
                && !other.handler
                && other.kind == listener.kind
                && other.capture == listener.capture
                && same(&other.callback, &listener.callback)
        };
        if self.list.len() < limits::LISTENERS_MAX && !self.list.iter().any(known) {
            self.last += 1;
            listener.id = self.last;
            self.list.push(listener);
        }
    }

    fn handler(&self, kind: &JsString) -> Option<usize> {
        self.list.iter().position(|listener| listener.handler && listener.kind == *kind)
    }

    /// Whether there is a listener for events of this type.
    pub fn has_kind(&self, kind: &str) -> bool {
        self.list.iter().any(|listener| listener.kind == js_string!(kind))
    }

    fn has(&self, id: u64) -> bool {
        self.list.iter().any(|listener| listener.id == id)
    }

    /// Sets an event handler to markup text, which is compiled on first use; `None` removes the handler. It keeps the position of its
    /// first registration (HTML §8.1.8.1).
    pub fn set_text(&mut self, kind: &str, text: Option<Rc<str>>) {
        self.set_handler(js_string!(handled(kind)), None, text);
    }

    fn set_handler(&mut self, kind: JsString, callback: Option<JsObject>, text: Option<Rc<str>>) {
        let empty = callback.is_none() && text.is_none();
        match self.handler(&kind) {
            Some(place) if empty => drop(self.list.remove(place)),
            Some(place) => (self.list[place].callback, self.list[place].text) = (callback, text),
            None if empty => {}
            None => self.add(Listener {
                id: 0,
                kind,
                callback,
                text,
                handler: true,
                capture: false,
                once: false,
                passive: false,
            }),
        }
    }
}

fn same(one: &Option<JsObject>, other: &Option<JsObject>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if JsObject::equals(one, other))
}

/// A native kind that can be an event target.
pub trait Target: NativeObject {
    fn listeners(&mut self) -> &mut Listeners;
}

/// A callback with borrowed listeners of a target.
type Take<'a> = dyn FnMut(&mut Listeners) + 'a;

/// "Get the parent" (DOM §2.7).
type Parent = fn(&JsObject, &JsObject<Event>, &mut Context) -> Option<JsObject>;

/// Computes the whole path of an event; `None` if the event is not dispatched at all.
type Way = fn(&JsObject, &JsObject<Event>, &mut Context) -> Option<Vec<Step>>;

/// One object of an event's path (DOM §2.9 "event path").
#[derive(Clone, Trace, Finalize)]
pub struct Step {
    pub object: JsObject,
    /// The event's `target` from here on, if it changes here: at the target, and at each host of a shadow tree around it.
    pub target: Option<JsObject>,
    /// `relatedTarget` as seen from here.
    pub related: Option<JsObject>,
    /// The object is in a shadow tree: `window.event` hides the event.
    pub in_shadow: bool,
    /// It is the root of a closed shadow tree, or a slot in one.
    pub closed_root: bool,
    pub closed_slot: bool,
}

impl Step {
    fn plain(object: JsObject, target: Option<JsObject>) -> Self {
        Self { object, target, related: None, in_shadow: false, closed_root: false, closed_slot: false }
    }
}

#[derive(Clone, Copy)]
enum Path {
    Parents(Parent),
    Way(Way),
}

/// What dispatch needs to know about a kind of target.
#[derive(Clone, Copy)]
pub struct TargetKind {
    of: TypeId,
    /// Borrows the listeners of an object of this kind; false for objects of other kinds.
    lend: fn(&JsObject, &mut Take<'_>) -> bool,
    path: Path,
}

impl TargetKind {
    /// A kind that stores its own listeners and finds its parent with `parent`.
    pub fn of<T: Target>(parent: Parent) -> Self {
        Self::with::<T>(Path::Parents(parent))
    }

    /// A kind that computes the whole path of an event.
    pub fn with_way<T: Target>(way: Way) -> Self {
        Self::with::<T>(Path::Way(way))
    }

    fn with<T: Target>(path: Path) -> Self {
        let lend = |object: &JsObject, take: &mut Take<'_>| match object.downcast_mut::<T>() {
            Some(mut target) => {
                take(target.listeners());
                true
            }
            None => false,
        };
        Self { of: TypeId::of::<T>(), lend, path }
    }
}

/// Compiles the text of an event handler: the target, the type of the event, the text. `None` if it is not a function body.
pub type Compile = fn(&JsObject, &str, &str, &mut Context) -> Option<JsObject>;

/// Runs after a click was dispatched; the argument is true if a listener cancelled it.
pub type AfterClick = Box<dyn FnOnce(bool, &mut Context)>;

/// Finds the activation behavior on a click's path, and starts it (DOM §2.9 "activation behavior"). The path begins at the target.
pub type Activate = fn(&[JsObject], &JsObject<Event>, &mut Context) -> Option<AfterClick>;

#[derive(Default)]
struct Kinds {
    list: Vec<TargetKind>,
    /// Maps proxies to targets: pages hold the proxy, the target has the listeners.
    targets: HashMap<JsObject, JsObject>,
    compile: Option<Compile>,
    activate: Option<Activate>,
}

/// The event being dispatched, for the legacy `window.event`.
#[derive(Default)]
struct Current(RefCell<Option<JsObject>>);

/// Registers a kind of target, once for all windows.
pub fn register(kind: TargetKind, context: &mut Context) {
    let data = context.host_defined_mut();
    if !data.has::<Kinds>() {
        data.insert(Kinds::default());
    }
    if let Some(kinds) = data.get_mut::<Kinds>()
        && !kinds.list.iter().any(|known| known.of == kind.of)
    {
        kinds.list.push(kind);
    }
}

/// Sets how documents of this context compile handlers and activate clicks.
pub fn set_document_hooks(compile: Compile, activate: Activate, context: &mut Context) {
    if let Some(kinds) = context.host_defined_mut().get_mut::<Kinds>() {
        (kinds.compile, kinds.activate) = (Some(compile), Some(activate));
    }
}

/// Makes a proxy a target: operations on it go to the object behind it.
pub fn stands_for(proxy: JsObject, object: JsObject, context: &mut Context) {
    if let Some(kinds) = context.host_defined_mut().get_mut::<Kinds>() {
        kinds.targets.insert(proxy, object);
    }
}

/// The global object's own data.
#[derive(Default, Trace, Finalize, JsData)]
pub struct Window {
    listeners: Listeners,
}

impl Target for Window {
    fn listeners(&mut self) -> &mut Listeners {
        &mut self.listeners
    }
}

/// An `EventTarget` created by a page.
#[derive(Default, Trace, Finalize, JsData)]
struct Plain {
    listeners: Listeners,
}

impl Target for Plain {
    fn listeners(&mut self) -> &mut Listeners {
        &mut self.listeners
    }
}

const EVENT_TARGET: bind::Interface = bind::Interface {
    name: "EventTarget",
    constructor: Some(|new_target, _, context| bind::construct(new_target, "EventTarget", Plain::default(), context)),
    methods: &[
        ("addEventListener", 2, add_event_listener),
        ("removeEventListener", 2, remove_event_listener),
        ("dispatchEvent", 1, dispatch_event),
    ],
    ..bind::Interface::EMPTY
};

const WINDOW: bind::Interface =
    bind::Interface { name: "Window", parent: Some("EventTarget"), ..bind::Interface::EMPTY };

/// Event handler attributes of the window that do not need a document.
const WINDOW_HANDLERS: &[&str] = &[
    "error",
    "unhandledrejection",
    "rejectionhandled",
    "message",
    "load",
    "beforeunload",
    "unload",
    "pagehide",
    "pageshow",
    "hashchange",
    "popstate",
    "online",
    "offline",
    "storage",
    "resize",
    "scroll",
];

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    realm::keep(Current::default(), context);
    bind::define(&EVENT_TARGET, context)?;
    register(TargetKind::of::<Plain>(|_, _, _| None), context);
    register(TargetKind::of::<Window>(|_, _, _| None), context);
    let window = bind::define(&WINDOW, context)?;
    let global = context.global_object();
    global.set_prototype(Some(window));
    handlers(&global, WINDOW_HANDLERS, context)?;
    let current: bind::Attribute = (
        "event",
        |_, _, context| {
            let current = realm::own::<Current>(context).and_then(|current| current.0.borrow().clone());
            Ok(current.map_or_else(JsValue::undefined, JsValue::from))
        },
        // A page may replace it with its own value (WebIDL [Replaceable]).
        Some(|_, args, context| {
            let value = args.get_or_undefined(0).clone();
            let own = PropertyDescriptor::builder().value(value).writable(true).enumerable(true).configurable(true);
            context.global_object().define_property_or_throw(js_string!("event"), own, context)?;
            Ok(JsValue::undefined())
        }),
    );
    bind::attributes(&global, &[current], context)
}

/// Event types with legacy WebKit names.
const LEGACY: &[(&str, &str)] = &[
    ("animationend", "webkitAnimationEnd"),
    ("animationiteration", "webkitAnimationIteration"),
    ("animationstart", "webkitAnimationStart"),
    ("transitionend", "webkitTransitionEnd"),
];

/// The event type of a handler: its name without `on`, except for legacy WebKit names (HTML §8.1.8.2).
fn handled(kind: &str) -> &str {
    LEGACY.iter().find(|(_, old)| old.eq_ignore_ascii_case(kind)).map_or(kind, |(_, old)| old)
}

/// Defines `on…` attributes for these types of events on an object, usually a prototype.
///
/// # Errors
/// When the object takes no new properties.
pub fn handlers(object: &JsObject, kinds: &[&'static str], context: &mut Context) -> JsResult<()> {
    for kind in kinds.iter().copied() {
        let get = NativeFunction::from_copy_closure(move |this, _, context| {
            let (target, kind) = (target(this, context)?, js_string!(handled(kind)));
            let mut found = None;
            lend(&target, context, &mut |listeners| {
                found = listeners.handler(&kind).map(|place| listeners.list[place].clone());
            })?;
            let found = found.and_then(|listener| callback_of(&target, &listener, context));
            Ok(found.map_or_else(JsValue::null, JsValue::from))
        });
        let set = NativeFunction::from_copy_closure(move |this, args, context| {
            let (target, kind) = (target(this, context)?, js_string!(handled(kind)));
            set_handler(&target, kind, args.get_or_undefined(0).as_object(), context)?;
            Ok(JsValue::undefined())
        });
        let (get, set) = (get.to_js_function(context.realm()), set.to_js_function(context.realm()));
        let attribute = PropertyDescriptor::builder().get(get).set(set).enumerable(true).configurable(true);
        object.define_property_or_throw(js_string!(format!("on{kind}")), attribute, context)?;
    }
    Ok(())
}

/// Removes all listeners and handlers of a target ("erase all event listeners", HTML §7.3.2).
pub fn erase(target: &JsObject, context: &Context) {
    let mut gone = Vec::new();
    // Drop them only after the target is free again.
    let _ = kind_of(target, context, &mut |listeners| gone.append(&mut listeners.list));
}

/// The event handler of a target for a type of events, if one is set.
pub fn handler(target: &JsObject, kind: &str, context: &Context) -> Option<JsObject> {
    let (kind, mut found) = (js_string!(kind), None);
    kind_of(target, context, &mut |listeners| {
        found = listeners.handler(&kind).and_then(|place| listeners.list[place].callback.clone());
    })?;
    found
}

/// Sets an event handler; it keeps the position of its first registration (HTML §8.1.8.1).
///
/// # Errors
/// When the object is not an event target.
pub fn set_handler(target: &JsObject, kind: JsString, handler: Option<JsObject>, context: &Context) -> JsResult<()> {
    lend(target, context, &mut |listeners| listeners.set_handler(kind.clone(), handler.clone(), None))
}

/// Sets an event handler to markup text.
///
/// # Errors
/// When the object is not an event target.
pub fn set_handler_text(target: &JsObject, kind: &str, text: Option<Rc<str>>, context: &Context) -> JsResult<()> {
    lend(target, context, &mut |listeners| listeners.set_text(kind, text.clone()))
}

/// The callback of a listener; a text is compiled now, and yields `None` if it is not a function body.
fn callback_of(target: &JsObject, listener: &Listener, context: &mut Context) -> Option<JsObject> {
    if let (None, Some(text)) = (&listener.callback, &listener.text) {
        let compile = context.get_data::<Kinds>()?.compile?;
        let read = compile(target, &listener.kind.to_std_string_lossy(), text, context);
        kind_of(target, context, &mut |listeners| {
            if let Some(one) = listeners.list.iter_mut().find(|one| one.id == listener.id) {
                (one.callback, one.text) = (read.clone(), None);
            }
        });
        return read;
    }
    listener.callback.clone()
}

/// The event target that `this` is; a bare call means the window.
fn target(this: &JsValue, context: &Context) -> JsResult<JsObject> {
    if this.is_null_or_undefined() {
        return Ok(realm::window(context));
    }
    this.as_object().ok_or_else(|| bind::type_error("Illegal invocation"))
}

/// Whether an object is a window, or its stand-in.
fn is_window(object: &JsObject, context: &Context) -> bool {
    let stands_for = || context.get_data::<Kinds>()?.targets.get(object);
    object.is::<Window>() || stands_for().is_some_and(JsObject::is::<Window>)
}

fn lend(target: &JsObject, context: &Context, take: &mut Take<'_>) -> JsResult<()> {
    match kind_of(target, context, take) {
        Some(_) => Ok(()),
        None => Err(bind::type_error("Illegal invocation")),
    }
}

/// The kind of a target; calls `take` with its listeners.
fn kind_of(target: &JsObject, context: &Context, take: &mut Take<'_>) -> Option<TargetKind> {
    let kinds = context.get_data::<Kinds>()?;
    let mut known = |target: &JsObject| kinds.list.iter().find(|kind| (kind.lend)(target, take)).copied();
    known(target).or_else(|| known(kinds.targets.get(target)?))
}

/// DOM §2.7 "flatten more": capture, once, passive, signal.
fn options(value: &JsValue, context: &mut Context) -> JsResult<(bool, bool, Option<bool>, Option<JsObject>)> {
    if value.as_object().is_none() {
        return Ok((value.to_boolean(), false, None, None));
    }
    let (capture, once) = (bind::flag(value, "capture", context)?, bind::flag(value, "once", context)?);
    let passive = bind::member(value, "passive", context)?.map(|value| value.to_boolean());
    let signal = match bind::member(value, "signal", context)? {
        None => None,
        Some(signal) => Some(abort::signal(&signal)?),
    };
    Ok((capture, once, passive, signal))
}

fn add_event_listener(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 2, "addEventListener' on 'EventTarget")?;
    let target = target(this, context)?;
    let kind = args[0].to_string(context)?;
    let (capture, once, passive, signal) = options(args.get_or_undefined(2), context)?;
    let Some(callback) = args[1].as_object() else {
        if args[1].is_null_or_undefined() {
            return lend(&target, context, &mut |_| {}).map(|()| JsValue::undefined());
        }
        return Err(bind::type_error(
            "Failed to execute 'addEventListener' on 'EventTarget': parameter 2 is not of type 'Object'.",
        ));
    };
    if let Some(signal) = &signal {
        if abort::is_aborted(signal) {
            return Ok(JsValue::undefined());
        }
        abort::on_abort(signal, abort::Action::Listener(target.clone(), kind.clone(), callback.clone(), capture));
    }
    let passive = passive.unwrap_or_else(|| events::is_passive_by_default(&target, &kind, context));
    let callback = Some(callback);
    let listener = Listener { id: 0, kind, callback, text: None, handler: false, capture, once, passive };
    lend(&target, context, &mut |listeners| listeners.add(listener.clone()))?;
    Ok(JsValue::undefined())
}

fn remove_event_listener(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 2, "removeEventListener' on 'EventTarget")?;
    let target = target(this, context)?;
    let kind = args[0].to_string(context)?;
    let given = args.get_or_undefined(2);
    let capture = if given.is_object() { bind::flag(given, "capture", context)? } else { given.to_boolean() };
    match args[1].as_object() {
        Some(callback) => remove(&target, &kind, &callback, capture, context)?,
        None => lend(&target, context, &mut |_| {})?,
    }
    Ok(JsValue::undefined())
}

pub(super) fn remove(
    target: &JsObject,
    kind: &JsString,
    callback: &JsObject,
    capture: bool,
    context: &Context,
) -> JsResult<()> {
    lend(target, context, &mut |listeners| {
        listeners.list.retain(|other| {
            other.handler
                || other.kind != *kind
                || other.capture != capture
                || !other.callback.as_ref().is_some_and(|other| JsObject::equals(other, callback))
        });
    })
}

fn dispatch_event(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 1, "dispatchEvent' on 'EventTarget")?;
    let target = target(this, context)?;
    lend(&target, context, &mut |_| {})?;
    let not_event =
        || bind::type_error("Failed to execute 'dispatchEvent' on 'EventTarget': parameter 1 is not of type 'Event'.");
    let event = args[0].as_object().and_then(|object| object.downcast::<Event>().ok()).ok_or_else(not_event)?;
    {
        let mut event = event.borrow_mut();
        let event = event.data_mut();
        if event.dispatching || !event.initialized {
            let message = "Failed to execute 'dispatchEvent' on 'EventTarget': The event is already being dispatched.";
            return Err(super::exception::error("InvalidStateError", message, context));
        }
        event.trusted = false;
    }
    dispatch(&target, &event, context).map(JsValue::from)
}

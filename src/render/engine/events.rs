//! `Event` and its derived interfaces (DOM §2.2, UI Events, HTML) as one native kind: a row of a table lists the members of each
//! interface.

use boa_engine::property::PropertyDescriptor;
use boa_engine::{
    Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsString, JsValue, NativeFunction, Trace, js_string,
};

use super::target::Step;
use super::{bind, jobs, realm, target};
use crate::wire::ScriptError;

pub(super) const CAPTURING: u8 = 1;
pub(super) const AT_TARGET: u8 = 2;
pub(super) const BUBBLING: u8 = 3;

/// An event of any interface.
#[derive(Default, Trace, Finalize, JsData)]
#[boa_gc(unsafe_no_drop)]
pub struct Event {
    pub(super) kind: JsString,
    pub(super) bubbles: bool,
    cancelable: bool,
    composed: bool,
    pub(super) target: Option<JsObject>,
    pub(super) current_target: Option<JsObject>,
    pub(super) path: Vec<Step>,
    pub(super) phase: u8,
    pub(super) stop: bool,
    pub(super) stop_now: bool,
    pub(super) canceled: bool,
    pub(super) passive: bool,
    pub(super) dispatching: bool,
    pub(super) initialized: bool,
    pub(super) trusted: bool,
    time_ms: f64,
    /// The members of the event's own interface and its ancestors, in table order.
    members: Vec<(JsString, JsValue)>,
}

impl Event {
    /// DOM §2.2 "set the canceled flag".
    pub(super) fn cancel(&mut self) {
        if self.cancelable && !self.passive {
            self.canceled = true;
        }
    }

    /// Whether it is a click of a mouse, a finger or a key: a `MouseEvent`, which has a button.
    pub fn is_click(&self) -> bool {
        self.is("click") && self.members.iter().any(|(key, _)| *key == js_string!("button"))
    }

    /// Marks the event as created by a script, not by a user.
    pub fn of_script(&mut self) {
        self.trusted = false;
    }

    /// Whether it is of this type.
    pub fn is(&self, kind: &str) -> bool {
        self.kind == js_string!(kind)
    }

    /// Whether it crosses shadow boundaries.
    pub fn is_composed(&self) -> bool {
        self.composed
    }

    /// `relatedTarget`, if the event's interface has one that is set.
    pub fn related(&self) -> Option<JsObject> {
        self.member(&js_string!("relatedTarget")).as_object()
    }

    /// Changes `relatedTarget`; an event without one stays without.
    pub(super) fn set_related(&mut self, object: Option<JsObject>) {
        let name = js_string!("relatedTarget");
        if let Some((_, value)) = self.members.iter_mut().find(|(key, value)| *key == name && value.is_object()) {
            *value = object.map_or_else(JsValue::null, JsValue::from);
        }
    }

    fn member(&self, name: &JsString) -> JsValue {
        self.members.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone()).unwrap_or_default()
    }

    /// The five arguments of `window.onerror`, for an `ErrorEvent` (HTML §8.1.8.1).
    pub(super) fn error_arguments(&self) -> Option<Vec<JsValue>> {
        let names = ["message", "filename", "lineno", "colno", "error"];
        (self.kind == js_string!("error") && self.members.iter().any(|(key, _)| *key == js_string!("lineno")))
            .then(|| names.iter().map(|name| self.member(&js_string!(*name))).collect())
    }
}

/// The default value of a member, which also determines its type.
#[derive(Clone, Copy)]
pub enum Usual {
    Null,
    Undefined,
    False,
    Zero,
    Empty,
}

/// An event interface: its name, its parent's name, the members that it adds.
type Kind = (&'static str, &'static str, &'static [(&'static str, Usual)]);

use Usual::{Empty, False, Null, Undefined, Zero};

const KINDS: &[Kind] = &[
    ("CustomEvent", "Event", &[("detail", Null)]),
    (
        "ErrorEvent",
        "Event",
        &[("message", Empty), ("filename", Empty), ("lineno", Zero), ("colno", Zero), ("error", Undefined)],
    ),
    ("PromiseRejectionEvent", "Event", &[("promise", Undefined), ("reason", Undefined)]),
    (
        "MessageEvent",
        "Event",
        &[("data", Null), ("origin", Empty), ("lastEventId", Empty), ("source", Null), ("ports", Null)],
    ),
    ("ProgressEvent", "Event", &[("lengthComputable", False), ("loaded", Zero), ("total", Zero)]),
    ("CloseEvent", "Event", &[("wasClean", False), ("code", Zero), ("reason", Empty)]),
    ("HashChangeEvent", "Event", &[("oldURL", Empty), ("newURL", Empty)]),
    ("PopStateEvent", "Event", &[("state", Null), ("hasUAVisualTransition", False)]),
    ("PageTransitionEvent", "Event", &[("persisted", False)]),
    (
        "StorageEvent",
        "Event",
        &[("key", Null), ("oldValue", Null), ("newValue", Null), ("url", Empty), ("storageArea", Null)],
    ),
    ("ToggleEvent", "Event", &[("oldState", Empty), ("newState", Empty), ("source", Null)]),
    ("SubmitEvent", "Event", &[("submitter", Null)]),
    ("ClipboardEvent", "Event", &[("clipboardData", Null)]),
    ("FormDataEvent", "Event", &[("formData", Null)]),
    ("TransitionEvent", "Event", &[("propertyName", Empty), ("elapsedTime", Zero), ("pseudoElement", Empty)]),
    ("AnimationEvent", "Event", &[("animationName", Empty), ("elapsedTime", Zero), ("pseudoElement", Empty)]),
    ("UIEvent", "Event", &[("view", Null), ("detail", Zero), ("which", Zero)]),
    ("TextEvent", "UIEvent", &[("data", Empty)]),
    (
        "TouchEvent",
        "UIEvent",
        &[
            ("touches", Null),
            ("targetTouches", Null),
            ("changedTouches", Null),
            ("ctrlKey", False),
            ("shiftKey", False),
            ("altKey", False),
            ("metaKey", False),
        ],
    ),
    ("BeforeUnloadEvent", "Event", &[]),
    (
        "DeviceMotionEvent",
        "Event",
        &[("acceleration", Null), ("accelerationIncludingGravity", Null), ("rotationRate", Null), ("interval", Zero)],
    ),
    ("DeviceOrientationEvent", "Event", &[("alpha", Null), ("beta", Null), ("gamma", Null), ("absolute", False)]),
    ("FocusEvent", "UIEvent", &[("relatedTarget", Null)]),
    ("CompositionEvent", "UIEvent", &[("data", Empty)]),
    ("InputEvent", "UIEvent", &[("data", Null), ("isComposing", False), ("inputType", Empty)]),
    (
        "KeyboardEvent",
        "UIEvent",
        &[
            ("key", Empty),
            ("code", Empty),
            ("location", Zero),
            ("repeat", False),
            ("isComposing", False),
            ("ctrlKey", False),
            ("shiftKey", False),
            ("altKey", False),
            ("metaKey", False),
            ("charCode", Zero),
            ("keyCode", Zero),
        ],
    ),
    (
        "MouseEvent",
        "UIEvent",
        &[
            ("screenX", Zero),
            ("screenY", Zero),
            ("clientX", Zero),
            ("clientY", Zero),
            ("pageX", Zero),
            ("pageY", Zero),
            ("offsetX", Zero),
            ("offsetY", Zero),
            ("movementX", Zero),
            ("movementY", Zero),
            ("ctrlKey", False),
            ("shiftKey", False),
            ("altKey", False),
            ("metaKey", False),
            ("button", Zero),
            ("buttons", Zero),
            ("relatedTarget", Null),
        ],
    ),
    ("WheelEvent", "MouseEvent", &[("deltaX", Zero), ("deltaY", Zero), ("deltaZ", Zero), ("deltaMode", Zero)]),
    ("DragEvent", "MouseEvent", &[("dataTransfer", Null)]),
    (
        "PointerEvent",
        "MouseEvent",
        &[
            ("pointerId", Zero),
            ("width", Zero),
            ("height", Zero),
            ("pressure", Zero),
            ("pointerType", Empty),
            ("isPrimary", False),
        ],
    ),
];

/// Legacy methods that reinitialise an event: interface, name, the parameters after type, bubbles and cancelable.
const INITS: &[(&str, &str, &[&str])] = &[
    ("CustomEvent", "initCustomEvent", &["detail"]),
    ("UIEvent", "initUIEvent", &["view", "detail"]),
    (
        "MouseEvent",
        "initMouseEvent",
        &[
            "view",
            "detail",
            "screenX",
            "screenY",
            "clientX",
            "clientY",
            "ctrlKey",
            "altKey",
            "shiftKey",
            "metaKey",
            "button",
            "relatedTarget",
        ],
    ),
    ("KeyboardEvent", "initKeyboardEvent", &["view", "key", "location", "ctrlKey", "altKey", "shiftKey", "metaKey"]),
    ("CompositionEvent", "initCompositionEvent", &["view", "data"]),
    ("TextEvent", "initTextEvent", &["view", "data"]),
    ("MessageEvent", "initMessageEvent", &["data", "origin", "lastEventId", "source", "ports"]),
    ("StorageEvent", "initStorageEvent", &["key", "oldValue", "newValue", "url", "storageArea"]),
];

const EVENT: bind::Interface = bind::Interface {
    name: "Event",
    constructor: Some(|new_target, args, context| construct(new_target, "Event", args, context)),
    length: 1,
    methods: &[
        ("composedPath", 0, |this, _, context| {
            let event = bind::this::<Event>(this)?;
            let path = composed_path(event.borrow().data());
            Ok(bind::array(path.into_iter().map(JsValue::from), context))
        }),
        ("stopPropagation", 0, |this, _, _| change(this, |event| event.stop = true)),
        ("stopImmediatePropagation", 0, |this, _, _| change(this, |event| (event.stop, event.stop_now) = (true, true))),
        ("preventDefault", 0, |this, _, _| change(this, Event::cancel)),
        ("initEvent", 1, init_event),
    ],
    attributes: &[
        ("type", |this, _, _| read(this, |event| event.kind.clone().into()), None),
        ("target", |this, _, _| read(this, |event| or_null(&event.target)), None),
        ("srcElement", |this, _, _| read(this, |event| or_null(&event.target)), None),
        ("currentTarget", |this, _, _| read(this, |event| or_null(&event.current_target)), None),
        ("eventPhase", |this, _, _| read(this, |event| event.phase.into()), None),
        ("bubbles", |this, _, _| read(this, |event| event.bubbles.into()), None),
        ("cancelable", |this, _, _| read(this, |event| event.cancelable.into()), None),
        ("composed", |this, _, _| read(this, |event| event.composed.into()), None),
        ("defaultPrevented", |this, _, _| read(this, |event| event.canceled.into()), None),
        ("isTrusted", |this, _, _| read(this, |event| event.trusted.into()), None),
        ("timeStamp", |this, _, _| read(this, |event| event.time_ms.into()), None),
        (
            "cancelBubble",
            |this, _, _| read(this, |event| event.stop.into()),
            Some(|this, args, _| {
                let stop = args.get_or_undefined(0).to_boolean();
                change(this, |event| event.stop |= stop)
            }),
        ),
        (
            "returnValue",
            |this, _, _| read(this, |event| (!event.canceled).into()),
            Some(|this, args, _| {
                let keep = args.get_or_undefined(0).to_boolean();
                change(this, |event| {
                    if !keep {
                        event.cancel()
                    }
                })
            }),
        ),
    ],
    constants: &[("NONE", 0), ("CAPTURING_PHASE", 1), ("AT_TARGET", 2), ("BUBBLING_PHASE", 3)],
    ..bind::Interface::EMPTY
};

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    bind::define(&EVENT, context)?;
    for (name, parent, members) in KINDS.iter().copied() {
        let interface = bind::Interface { name, parent: Some(parent), length: 1, ..bind::Interface::EMPTY };
        let body = NativeFunction::from_copy_closure(move |new_target, args, context| {
            construct(new_target, name, args, context)
        });
        let prototype = bind::define_with(&interface, body, context)?;
        for (member, _) in members.iter().copied() {
            let get = NativeFunction::from_copy_closure(move |this, _, _| {
                read(this, |event| event.member(&js_string!(member)))
            });
            let get = get.to_js_function(context.realm());
            let attribute = PropertyDescriptor::builder().get(get).enumerable(true).configurable(true);
            prototype.define_property_or_throw(js_string!(member), attribute, context)?;
        }
    }
    for (interface, name, members) in INITS.iter().copied() {
        let prototype = bind::prototype(interface, context)?;
        let body = NativeFunction::from_copy_closure(move |this, args, context| {
            init_members(this, args, (interface, members), context)
        });
        let method = boa_engine::object::FunctionObjectBuilder::new(context.realm(), body)
            .name(js_string!(name))
            .length(1)
            .build();
        let property = PropertyDescriptor::builder().value(method).writable(true).enumerable(true).configurable(true);
        prototype.define_property_or_throw(js_string!(name), property, context)?;
    }
    Ok(())
}

/// `composedPath()` (DOM §2.2): objects in closed shadow trees are only visible from inside them.
fn composed_path(event: &Event) -> Vec<JsObject> {
    let Some(current) = &event.current_target else { return Vec::new() };
    let path = &event.path;
    let mut level = 0;
    let mut at = 0;
    for (place, step) in path.iter().enumerate().rev() {
        level += i32::from(step.closed_root);
        if JsObject::equals(&step.object, current) {
            at = place;
            break;
        }
        level -= i32::from(step.closed_slot);
    }
    let mut inner = Vec::new();
    let (mut depth, mut most) = (level, level);
    for step in path[..at].iter().rev() {
        depth += i32::from(step.closed_root);
        if depth <= most {
            inner.push(step.object.clone());
        }
        depth -= i32::from(step.closed_slot);
        most = most.min(depth);
    }
    inner.reverse();
    inner.push(current.clone());
    (depth, most) = (level, level);
    for step in path.iter().skip(at + 1) {
        depth += i32::from(step.closed_slot);
        if depth <= most {
            inner.push(step.object.clone());
        }
        depth -= i32::from(step.closed_root);
        most = most.min(depth);
    }
    inner
}

fn read(this: &JsValue, what: impl FnOnce(&Event) -> JsValue) -> JsResult<JsValue> {
    Ok(what(bind::this::<Event>(this)?.borrow().data()))
}

fn change(this: &JsValue, what: impl FnOnce(&mut Event)) -> JsResult<JsValue> {
    what(bind::this::<Event>(this)?.borrow_mut().data_mut());
    Ok(JsValue::undefined())
}

fn or_null(object: &Option<JsObject>) -> JsValue {
    object.clone().map_or_else(JsValue::null, JsValue::from)
}

fn construct(new_target: &JsValue, name: &'static str, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 1, name)?;
    let kind = args[0].to_string(context)?;
    let init = args.get_or_undefined(1);
    let mut flag = |name| bind::flag(init, name, context);
    let (bubbles, cancelable, composed) = (flag("bubbles")?, flag("cancelable")?, flag("composed")?);
    let members = members(name, init, context)?;
    let event = Event { bubbles, cancelable, composed, members, ..born(kind, context) };
    bind::construct(new_target, name, event, context)
}

fn born(kind: JsString, context: &Context) -> Event {
    let time_ms = jobs::of(context).clock.now_us() as f64 / 1_000.0;
    Event { kind, initialized: true, time_ms, ..Event::default() }
}

/// The default value of a member of an interface or its ancestors.
fn usual_of(interface: &str, name: &str) -> Usual {
    let mut next = interface;
    while let Some((_, parent, members)) = KINDS.iter().find(|(kind, ..)| *kind == next) {
        if let Some((_, usual)) = members.iter().find(|(member, _)| *member == name) {
            return *usual;
        }
        next = parent;
    }
    Null
}

/// A member's value, converted to its type; `undefined` counts as omitted.
fn value_of(usual: Usual, given: Option<JsValue>, context: &mut Context) -> JsResult<JsValue> {
    Ok(match (usual, given.filter(|value| !value.is_undefined())) {
        (Null, None) => JsValue::null(),
        (Undefined, None) => JsValue::undefined(),
        (False, given) => given.is_some_and(|value| value.to_boolean()).into(),
        (Zero, None) => 0.into(),
        (Zero, Some(value)) => value.to_number(context)?.into(),
        (Empty, None) => js_string!().into(),
        (Empty, Some(value)) => value.to_string(context)?.into(),
        (Null | Undefined, Some(value)) => value,
    })
}

/// The members of an interface and its ancestors, from a dictionary.
fn members(name: &str, init: &JsValue, context: &mut Context) -> JsResult<Vec<(JsString, JsValue)>> {
    let mut found = Vec::new();
    let mut next = name;
    while let Some((_, parent, members)) = KINDS.iter().find(|(kind, ..)| *kind == next) {
        for (member, usual) in *members {
            let given = bind::member(init, member, context)?;
            found.push((js_string!(*member), value_of(*usual, given, context)?));
        }
        next = parent;
    }
    Ok(found)
}

fn init_event(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 1, "initEvent' on 'Event")?;
    let kind = args[0].to_string(context)?;
    let (bubbles, cancelable) = (args.get_or_undefined(1).to_boolean(), args.get_or_undefined(2).to_boolean());
    change(this, |event| {
        if !event.dispatching {
            (event.stop, event.stop_now, event.canceled, event.trusted) = (false, false, false, false);
            (event.target, event.kind, event.initialized) = (None, kind, true);
            (event.bubbles, event.cancelable) = (bubbles, cancelable);
        }
    })
}

/// `initCustomEvent` and similar methods: the members follow type, bubbles and cancelable. They have no effect during dispatch.
fn init_members(
    this: &JsValue,
    args: &[JsValue],
    (interface, names): (&str, &[&str]),
    context: &mut Context,
) -> JsResult<JsValue> {
    let mut given = Vec::with_capacity(names.len());
    for (place, name) in names.iter().enumerate() {
        let value = value_of(usual_of(interface, name), args.get(place + 3).cloned(), context)?;
        given.push((js_string!(*name), value));
    }
    init_event(this, args, context)?;
    change(this, |event| {
        if !event.dispatching {
            event.members.retain(|(name, _)| !given.iter().any(|(other, _)| other == name));
            event.members.extend(given);
        }
    })
}

/// Whether an interface is the other one or inherits from it.
fn is_of_interface(name: &str, ancestor: &str) -> bool {
    let parent = |name: &str| KINDS.iter().find(|(kind, ..)| *kind == name).map(|(_, parent, _)| *parent);
    std::iter::successors(Some(name), |name| parent(name)).any(|name| name == ancestor)
}

/// A trusted event of an interface, as fired by the engine itself. `members` are the interface's own; all others have default values.
///
/// # Errors
/// When the interface is unknown.
pub fn create(
    interface: &'static str,
    kind: &str,
    (bubbles, cancelable): (bool, bool),
    given: &[(&'static str, JsValue)],
    context: &mut Context,
) -> JsResult<JsObject<Event>> {
    let mut members = members(interface, &JsValue::undefined(), context)?;
    for (name, value) in given {
        if let Some(member) = members.iter_mut().find(|(key, _)| *key == js_string!(*name)) {
            member.1 = value.clone();
        }
    }
    // User input events are composed (UI Events §3.2).
    let composed = is_of_interface(interface, "UIEvent");
    let event = Event { bubbles, cancelable, composed, trusted: true, members, ..born(js_string!(kind), context) };
    let object = bind::object(interface, event, context)?;
    object.downcast::<Event>().map_err(|_| bind::type_error("Illegal invocation"))
}

/// An uninitialised event, as from `document.createEvent`; it needs `initEvent`.
///
/// # Errors
/// When the interface is unknown.
pub fn create_unready(interface: &'static str, context: &mut Context) -> JsResult<JsObject> {
    let members = members(interface, &JsValue::undefined(), context)?;
    let event = Event { initialized: false, members, ..born(js_string!(), context) };
    bind::object(interface, event, context)
}

/// Creates and dispatches an event; false if it was cancelled. An object that is no event target gets none.
pub fn fire(
    at: &JsObject,
    interface: &'static str,
    kind: &str,
    flags: (bool, bool),
    members: &[(&'static str, JsValue)],
    context: &mut Context,
) -> bool {
    create(interface, kind, flags, members, context)
        .and_then(|event| target::dispatch(at, &event, context))
        .unwrap_or(true)
}

/// Fires an `error` event at the window; true if a handler handled it (HTML §8.1.4.6).
pub(super) fn fire_error(error: &ScriptError, value: JsValue, context: &mut Context) -> bool {
    let members = [
        ("message", bind::js(&format!("Uncaught {}", error.message))),
        ("filename", bind::js(&error.source)),
        ("lineno", error.line.into()),
        ("colno", error.column.into()),
        ("error", value),
    ];
    let window = realm::window(context);
    !fire(&window, "ErrorEvent", "error", (false, true), &members, context)
}

/// Fires an `unhandledrejection` event at the window; true if a handler handled it (HTML §8.1.4.7).
pub(super) fn fire_rejection(promise: JsValue, reason: JsValue, context: &mut Context) -> bool {
    let window = realm::window(context);
    let members = [("promise", promise), ("reason", reason)];
    !fire(&window, "PromiseRejectionEvent", "unhandledrejection", (false, true), &members, context)
}

/// Reports whether a target is a document, its root or its body: the engine itself knows no nodes.
pub struct Outermost(pub fn(&JsObject, &mut Context) -> bool);

/// "Default passive value" (DOM §2.7): scrolling of a whole page does not wait for listeners.
pub(super) fn is_passive_by_default(target: &JsObject, kind: &JsString, context: &mut Context) -> bool {
    if !["touchstart", "touchmove", "wheel", "mousewheel"].iter().any(|known| *kind == **known) {
        return false;
    }
    let hook = context.get_data::<Outermost>().map(|hook| hook.0);
    JsObject::equals(target, &realm::window(context)) || hook.is_some_and(|is_outermost| is_outermost(target, context))
}

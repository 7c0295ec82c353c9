//! Messages within a page (HTML §9.3, §9.4): `postMessage` of the window to itself, message channels and ports, broadcast channels.

use std::cell::RefCell;

use boa_engine::realm::Realm;
use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsValue, Trace};

use crate::engine::target::{self, Listeners, Target, TargetKind};
use crate::engine::{bind, clone, events, exception, jobs, realm};
use crate::limits;

/// One end of a channel.
#[derive(Default, Trace, Finalize, JsData)]
struct Port {
    listeners: Listeners,
    other: Option<JsObject>,
    /// Whether messages are delivered; until then they are queued.
    #[unsafe_ignore_trace]
    started: bool,
    waiting: Vec<JsValue>,
    /// Where its holder lives, if that is not where it was created: messages for it are created there.
    home: Option<Realm>,
}

impl Target for Port {
    fn listeners(&mut self) -> &mut Listeners {
        &mut self.listeners
    }
}

#[derive(Trace, Finalize, JsData)]
struct Channel {
    first: JsObject,
    second: JsObject,
}

/// A broadcast channel.
#[derive(Trace, Finalize, JsData)]
struct Broadcast {
    listeners: Listeners,
    #[unsafe_ignore_trace]
    name: String,
}

impl Target for Broadcast {
    fn listeners(&mut self) -> &mut Listeners {
        &mut self.listeners
    }
}

/// The open broadcast channels of a page.
#[derive(Default)]
struct Broadcasts(RefCell<Vec<JsObject<Broadcast>>>);

const PORT: bind::Interface = bind::Interface {
    name: "MessagePort",
    parent: Some("EventTarget"),
    methods: &[
        ("postMessage", 1, |this, args, context| {
            let port = bind::this::<Port>(this)?;
            bind::want(args, 1, "postMessage' on 'MessagePort")?;
            let other = port.borrow().data().other.clone();
            if let Some(other) = other.and_then(|other| other.downcast::<Port>().ok()) {
                let home = other.borrow().data().home.clone().unwrap_or_else(|| context.realm().clone());
                let (message, _) = copy(&args[0], args.get_or_undefined(1), &home, context)?;
                realm::within(&home, context, |context| deliver(&other, message, context));
            }
            Ok(JsValue::undefined())
        }),
        ("start", 0, |this, _, context| {
            start(&bind::this::<Port>(this)?, context);
            Ok(JsValue::undefined())
        }),
        ("close", 0, |this, _, _| {
            let port = bind::this::<Port>(this)?;
            port.borrow_mut().data_mut().other = None;
            Ok(JsValue::undefined())
        }),
    ],
    attributes: &[(
        "onmessage",
        |this, _, context| {
            let port = bind::this::<Port>(this)?.upcast();
            Ok(target::handler(&port, "message", context).map_or_else(JsValue::null, JsValue::from))
        },
        // Setting it starts the port (HTML §9.4.4).
        Some(|this, args, context| {
            let port = bind::this::<Port>(this)?;
            let handler = args.get_or_undefined(0).as_object();
            target::set_handler(&port.clone().upcast(), boa_engine::js_string!("message"), handler, context)?;
            start(&port, context);
            Ok(JsValue::undefined())
        }),
    )],
    ..bind::Interface::EMPTY
};

const CHANNEL: bind::Interface = bind::Interface {
    name: "MessageChannel",
    constructor: Some(|new_target, _, context| {
        let first = bind::object("MessagePort", Port::default(), context)?;
        let second = bind::object("MessagePort", Port::default(), context)?;
        for (one, other) in [(&first, &second), (&second, &first)] {
            if let Some(mut port) = one.downcast_mut::<Port>() {
                port.other = Some(other.clone());
            }
        }
        bind::construct(new_target, "MessageChannel", Channel { first, second }, context)
    }),
    attributes: &[
        ("port1", |this, _, _| Ok(bind::this::<Channel>(this)?.borrow().data().first.clone().into()), None),
        ("port2", |this, _, _| Ok(bind::this::<Channel>(this)?.borrow().data().second.clone().into()), None),
    ],
    ..bind::Interface::EMPTY
};

const BROADCAST: bind::Interface = bind::Interface {
    name: "BroadcastChannel",
    parent: Some("EventTarget"),
    constructor: Some(|new_target, args, context| {
        bind::want(args, 1, "BroadcastChannel")?;
        let data = Broadcast { listeners: Listeners::default(), name: bind::text(args, 0, context)? };
        let made = bind::construct(new_target, "BroadcastChannel", data, context)?;
        let channel = bind::this::<Broadcast>(&made)?;
        if let Some(all) = context.get_data::<Broadcasts>() {
            let mut all = all.0.borrow_mut();
            if all.len() < limits::LISTENERS_MAX {
                all.push(channel);
            }
        }
        Ok(made)
    }),
    length: 1,
    methods: &[
        ("postMessage", 1, |this, args, context| {
            let channel = bind::this::<Broadcast>(this)?;
            bind::want(args, 1, "postMessage' on 'BroadcastChannel")?;
            let message = clone::structured(&args[0], context)?;
            let name = channel.borrow().data().name.clone();
            let all = context.get_data::<Broadcasts>().map(|all| all.0.borrow().clone()).unwrap_or_default();
            for other in all {
                if !JsObject::equals(&other, &channel) && other.borrow().data().name == name {
                    post(other.upcast(), message.clone(), JsValue::null(), context);
                }
            }
            Ok(JsValue::undefined())
        }),
        ("close", 0, |this, _, context| {
            let channel = bind::this::<Broadcast>(this)?;
            if let Some(all) = context.get_data::<Broadcasts>() {
                all.0.borrow_mut().retain(|other| !JsObject::equals(other, &channel));
            }
            Ok(JsValue::undefined())
        }),
    ],
    attributes: &[("name", |this, _, _| Ok(bind::js(&bind::this::<Broadcast>(this)?.borrow().data().name)), None)],
    ..bind::Interface::EMPTY
};

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    realm::share(Broadcasts::default, context);
    target::register(TargetKind::of::<Port>(|_, _, _| None), context);
    target::register(TargetKind::of::<Broadcast>(|_, _, _| None), context);
    install_channels(context)?;
    let global = context.global_object();
    bind::methods(&global, &[("postMessage", 1, post_message)], context)
}

/// Channels, for windows and workers.
pub(crate) fn install_channels(context: &mut Context) -> JsResult<()> {
    bind::define(&PORT, context)?;
    bind::define(&CHANNEL, context)?;
    let broadcast = bind::define(&BROADCAST, context)?;
    target::handlers(&broadcast, &["message", "messageerror"], context)?;
    let port = bind::prototype("MessagePort", context)?;
    target::handlers(&port, &["messageerror", "close"], context)
}

/// A copy of a message for another realm, with the ports of its transfer list, which go there as they are.
///
/// # Errors
/// `DataCloneError` for what cannot be copied.
pub(crate) fn copy(
    message: &JsValue,
    transfer: &JsValue,
    to: &Realm,
    context: &mut Context,
) -> JsResult<(JsValue, Vec<JsValue>)> {
    let list = match transfer.as_object() {
        Some(list) if list.is_array() => Some(list),
        Some(_) => bind::member(transfer, "transfer", context)?.and_then(|list| list.as_object()),
        None => None,
    };
    let list = list.map(|list| bind::values(&list, limits::LISTENERS_MAX, context)).transpose()?.unwrap_or_default();
    let ports: Vec<JsObject> = list.iter().filter_map(JsValue::as_object).filter(JsObject::is::<Port>).collect();
    let copied = realm::within(to, context, |context| clone::with_shared(message, &ports, context));
    let Ok(copied) = copied else {
        // Thrown again by the window that calls.
        return clone::with_shared(message, &ports, context).map(|copied| (copied, Vec::new()));
    };
    for port in &ports {
        if let Some(mut port) = port.downcast_mut::<Port>() {
            port.home = Some(to.clone());
        }
    }
    Ok((copied, ports.into_iter().map(JsValue::from).collect()))
}

fn deliver(port: &JsObject<Port>, message: JsValue, context: &mut Context) {
    {
        let mut port = port.borrow_mut();
        let port = port.data_mut();
        if !port.started {
            if port.waiting.len() < limits::TIMERS_MAX {
                port.waiting.push(message);
            }
            return;
        }
    }
    post(port.clone().upcast(), message, JsValue::null(), context);
}

fn start(port: &JsObject<Port>, context: &mut Context) {
    let waiting = {
        let mut port = port.borrow_mut();
        let port = port.data_mut();
        port.started = true;
        std::mem::take(&mut port.waiting)
    };
    for message in waiting {
        post(port.clone().upcast(), message, JsValue::null(), context);
    }
}

/// Fires `message` at a target, as a task.
fn post(target: JsObject, message: JsValue, source: JsValue, context: &mut Context) {
    post_with(target, (message, Vec::new()), source, context);
}

/// Fires `message` with ports at a target, as a task.
pub(crate) fn post_with(
    target: JsObject,
    (message, ports): (JsValue, Vec<JsValue>),
    source: JsValue,
    context: &mut Context,
) {
    let caller = realm::of_caller(context);
    let origin = realm::within(&caller, context, |context| realm::base(context).origin().ascii_serialization());
    jobs::post(context, 0, move |context| {
        let ports = bind::array(ports, context);
        let members = [("data", message), ("origin", bind::js(&origin)), ("source", source), ("ports", ports)];
        jobs::outside(context, |context| {
            events::fire(&target, "MessageEvent", "message", (false, false), &members, context);
        });
        Ok(())
    });
}

/// `window.postMessage` (HTML §9.3.3), to the window that owns the function; the source is the window of the calling script.
fn post_message(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 1, "postMessage' on 'Window")?;
    let wanted = match args.get_or_undefined(1) {
        options if options.is_object() => bind::member(options, "targetOrigin", context)?,
        value => Some(value.clone()).filter(|value| !value.is_undefined()),
    };
    let wanted = match wanted {
        Some(value) => value.to_string(context)?.to_std_string_lossy(),
        None => "/".to_owned(),
    };
    let own = realm::base(context).origin();
    let fits = match wanted.as_str() {
        "*" => true,
        "/" => {
            let caller = realm::of_caller(context);
            realm::within(&caller, context, |context| realm::base(context).origin()) == own
        }
        other => match url::Url::parse(other) {
            Ok(url) => url.origin() == own,
            Err(_) => return Err(exception::error("SyntaxError", "Invalid target origin.", context)),
        },
    };
    let transfer = if args.get_or_undefined(1).is_object() { &args[1] } else { args.get_or_undefined(2) };
    let here = context.realm().clone();
    let message = copy(&args[0], transfer, &here, context)?;
    if fits {
        let caller = realm::of_caller(context);
        let source = realm::within(&caller, context, |context| realm::window(context));
        post_with(realm::window(context), message, source.into(), context);
    }
    Ok(JsValue::undefined())
}

//! `WebSocket` exists but never connects: it fails as at a closed port, so that a page with a fallback uses it.

use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsValue, Trace};

use crate::engine::target::{self, Listeners, Target, TargetKind};
use crate::engine::{bind, events, exception, jobs};
use crate::web::html::windows;
use crate::web::missing;

/// A connection that always fails.
#[derive(Trace, Finalize, JsData)]
struct Connection {
    listeners: Listeners,
    #[unsafe_ignore_trace]
    url: String,
    #[unsafe_ignore_trace]
    state: u8,
}

impl Target for Connection {
    fn listeners(&mut self) -> &mut Listeners {
        &mut self.listeners
    }
}

const CONNECTING: u8 = 0;
const CLOSING: u8 = 2;
const CLOSED: u8 = 3;

const SOCKET: bind::Interface = bind::Interface {
    name: "WebSocket",
    parent: Some("EventTarget"),
    length: 1,
    constructor: Some(construct),
    methods: &[
        ("send", 1, |this, _, context| {
            let state = bind::this::<Connection>(this)?.borrow().data().state;
            if state == CONNECTING {
                return Err(exception::error("InvalidStateError", "Still in CONNECTING state.", context));
            }
            Ok(JsValue::undefined())
        }),
        ("close", 0, |this, _, _| {
            let socket = bind::this::<Connection>(this)?;
            let mut socket = socket.borrow_mut();
            let socket = socket.data_mut();
            socket.state = socket.state.max(CLOSING);
            Ok(JsValue::undefined())
        }),
    ],
    attributes: &[
        ("url", url_of, None),
        ("readyState", state_of, None),
        ("bufferedAmount", |_, _, _| Ok(0.into()), None),
        ("extensions", |_, _, _| Ok(bind::js("")), None),
        ("protocol", |_, _, _| Ok(bind::js("")), None),
    ],
    constants: &[("CONNECTING", 0), ("OPEN", 1), ("CLOSING", 2), ("CLOSED", 3)],
    ..bind::Interface::EMPTY
};

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    target::register(TargetKind::of::<Connection>(|_, _, _| None), context);
    let prototype = bind::define(&SOCKET, context)?;
    target::handlers(&prototype, &["open", "message", "error", "close"], context)
}

fn url_of(this: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(bind::js(&bind::this::<Connection>(this)?.borrow().data().url))
}

fn state_of(this: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(bind::this::<Connection>(this)?.borrow().data().state.into())
}

fn construct(new_target: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 1, "WebSocket")?;
    let text = args.get_or_undefined(0).to_string(context)?.to_std_string_lossy();
    let Ok(mut url) = windows::base(context).join(&text) else {
        return Err(exception::error("SyntaxError", &format!("The URL '{text}' is invalid."), context));
    };
    // `http` URLs map to the corresponding socket scheme (WebSockets §3).
    let scheme = match url.scheme() {
        "http" => "ws",
        "https" => "wss",
        other => other,
    };
    let scheme = scheme.to_owned();
    if !matches!(scheme.as_str(), "ws" | "wss") || url.set_scheme(&scheme).is_err() && url.scheme() != scheme {
        return Err(exception::error("SyntaxError", "The URL's scheme must be 'ws' or 'wss'.", context));
    }
    missing::touched("WebSocket", context);
    let data = Connection { listeners: Listeners::default(), url: url.to_string(), state: CONNECTING };
    let made = bind::construct(new_target, "WebSocket", data, context)?;
    let object = bind::this::<Connection>(&made)?;
    jobs::post(context, 0, move |context| {
        jobs::outside(context, |context| fail(&object, context));
        Ok(())
    });
    Ok(made)
}

/// Fires the events of a failed attempt.
fn fail(connection: &JsObject<Connection>, context: &mut Context) {
    connection.borrow_mut().data_mut().state = CLOSED;
    let target = connection.clone().upcast();
    events::fire(&target, "Event", "error", (false, false), &[], context);
    let members = [("wasClean", false.into()), ("code", 1006.into())];
    events::fire(&target, "CloseEvent", "close", (false, false), &members, context);
}

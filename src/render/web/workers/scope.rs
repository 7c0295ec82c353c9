//! What a worker's scripts see as their global object (HTML §10.2.1): the globals of a window that need no document, messages to the
//! creator, and more scripts.

use std::cell::{Cell, RefCell};
use std::path::Path;

use boa_engine::realm::Realm;
use boa_engine::{Context, JsArgs, JsObject, JsResult, JsValue, Source, js_string};
use url::{Position, Url};

use super::{Worker, script_of};
use crate::engine::{self, bind, events, exception, jobs, realm, target};
use crate::limits;
use crate::web::html::{closed, event_source, messages, scripts, window};
use crate::web::webidl::exotic;
use crate::web::{file_api, missing};
use crate::wire::Asker;

/// The state of a worker in its own realm.
struct Scope {
    worker: JsObject<Worker>,
    outer: Realm,
    /// Its script has run: messages are delivered.
    is_open: Cell<bool>,
    waiting: RefCell<Vec<Message>>,
}

/// A message and its ports.
type Message = (JsValue, Vec<JsValue>);

const METHODS: &[bind::Method] = &[
    ("postMessage", 1, |_, args, context| {
        bind::want(args, 1, "postMessage' on 'DedicatedWorkerGlobalScope")?;
        let Some(own) = realm::own::<Scope>(context) else { return Ok(JsValue::undefined()) };
        let message = messages::copy(&args[0], args.get_or_undefined(1), &own.outer, context)?;
        // One that has been terminated says nothing more.
        if own.worker.borrow().data().realm.is_some() {
            let target = own.worker.clone().upcast();
            realm::within(&own.outer, context, |context| {
                messages::post_with(target, message, JsValue::null(), context);
            });
        }
        Ok(JsValue::undefined())
    }),
    ("close", 0, |_, _, context| {
        realm::close(&context.realm().clone(), context);
        Ok(JsValue::undefined())
    }),
    ("importScripts", 0, import_scripts),
    window::REPORT_ERROR,
];

/// `WorkerLocation`.
const LOCATION: bind::Interface = bind::Interface {
    name: "WorkerLocation",
    methods: &[("toString", 0, |_, _, context| Ok(bind::js(realm::address(context).as_str())))],
    attributes: &[
        ("href", |_, _, context| Ok(bind::js(realm::address(context).as_str())), None),
        ("origin", |_, _, context| Ok(bind::js(&origin(context))), None),
        ("protocol", |_, _, context| Ok(part(context, Position::BeforeScheme, Position::AfterScheme, ":")), None),
        ("host", |_, _, context| Ok(part(context, Position::BeforeHost, Position::AfterPort, "")), None),
        ("hostname", |_, _, context| Ok(part(context, Position::BeforeHost, Position::AfterHost, "")), None),
        ("port", |_, _, context| Ok(part(context, Position::BeforePort, Position::AfterPort, "")), None),
        ("pathname", |_, _, context| Ok(part(context, Position::BeforePath, Position::AfterPath, "")), None),
        ("search", |_, _, context| Ok(part(context, Position::AfterPath, Position::AfterQuery, "")), None),
        ("hash", |_, _, context| Ok(part(context, Position::AfterQuery, Position::AfterFragment, "")), None),
    ],
    ..bind::Interface::EMPTY
};

/// The realm of a worker, at its own URL and that of its creator.
///
/// # Errors
/// When the page has reached its limit of realms.
pub(super) fn create(
    worker: &JsObject<Worker>,
    name: &str,
    (address, around): (Url, Url),
    context: &mut Context,
) -> JsResult<Realm> {
    let outer = context.realm().clone();
    let realm = realm::create(address, around, None, context)?;
    realm::within(&realm, context, |context| {
        let scope = Scope { worker: worker.clone(), outer, is_open: Cell::new(false), waiting: RefCell::default() };
        realm::keep(scope, context);
        install(name, context)
    })?;
    Ok(realm)
}

fn install(name: &str, context: &mut Context) -> JsResult<()> {
    let global = context.global_object();
    for of_window in ["window", "frames", "Window", "event"] {
        global.delete_property_or_throw(js_string!(of_window), context)?;
    }
    let base = bind::Interface { name: "WorkerGlobalScope", parent: Some("EventTarget"), ..bind::Interface::EMPTY };
    let base = bind::define(&base, context)?;
    // What its scripts ask for in vain is told, as on the window.
    let asked = JsObject::from_proto_and_data(base.prototype(), ());
    base.set_prototype(Some(exotic::wrap_target(asked, &missing::ASKED, context)?));
    let own = bind::Interface {
        name: "DedicatedWorkerGlobalScope",
        parent: Some("WorkerGlobalScope"),
        ..bind::Interface::EMPTY
    };
    let prototype = bind::define(&own, context)?;
    global.set_prototype(Some(prototype));
    messages::install_channels(context)?;
    event_source::install(context)?;
    closed::install(context)?;
    file_api::install(context)?;
    super::install(context)?;
    bind::methods(&global, METHODS, context)?;
    target::handlers(&global, &["message", "messageerror", "languagechange"], context)?;
    bind::define(&LOCATION, context)?;
    let navigator = bind::Interface { name: "WorkerNavigator", methods: &[], ..window::NAVIGATOR };
    bind::define(&navigator, context)?;
    for (key, value) in [
        ("location", bind::object("WorkerLocation", (), context)?.into()),
        ("navigator", bind::object("WorkerNavigator", (), context)?.into()),
        ("name", bind::js(name)),
        ("origin", bind::js(&origin(context))),
        ("isSecureContext", true.into()),
        ("crossOriginIsolated", false.into()),
    ] {
        global.create_data_property_or_throw(js_string!(key), value, context)?;
    }
    // Before any listener of its scripts: what they do with the event is seen in a task.
    let listen = global.get(js_string!("addEventListener"), context)?;
    let failed = bind::function("", 1, failed, context);
    if let Some(listen) = listen.as_callable() {
        listen.call(&global.into(), &[bind::js("error"), failed.into()], context)?;
    }
    Ok(())
}

fn origin(context: &Context) -> String {
    realm::base(context).origin().ascii_serialization()
}

/// A part of the worker's URL; one that is only a delimiter is empty.
fn part(context: &Context, from: Position, to: Position, end: &str) -> JsValue {
    let address = realm::address(context);
    let text = &address[from..to];
    bind::js(&if matches!(text, "?" | "#") { String::new() } else { format!("{text}{end}") })
}

/// The realm of the current worker's creator.
pub(super) fn outer(context: &Context) -> Option<Realm> {
    realm::own::<Scope>(context).map(|own| own.outer.clone())
}

/// A message has come to the current worker.
pub(super) fn take(message: Message, context: &mut Context) {
    let Some(own) = realm::own::<Scope>(context) else { return };
    if own.is_open.get() {
        messages::post_with(context.global_object(), message, JsValue::null(), context);
    } else if own.waiting.borrow().len() < limits::TIMERS_MAX {
        own.waiting.borrow_mut().push(message);
    }
}

/// The script of the current worker has run.
pub(super) fn open(context: &mut Context) {
    let Some(own) = realm::own::<Scope>(context) else { return };
    own.is_open.set(true);
    for message in own.waiting.take() {
        messages::post_with(context.global_object(), message, JsValue::null(), context);
    }
}

/// An error that the worker's scripts do not handle is its creator's (HTML §10.2.5).
fn failed(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let event = args.get_or_undefined(0).as_object();
    let (Some(event), Some(own)) = (event, realm::own::<Scope>(context)) else { return Ok(JsValue::undefined()) };
    let Some(lines) = Some(event.get(js_string!("lineno"), context)?).filter(|lines| !lines.is_undefined()) else {
        return Ok(JsValue::undefined());
    };
    let mut members = vec![("lineno", lines)];
    for name in ["message", "filename", "colno"] {
        members.push((name, event.get(js_string!(name), context)?));
    }
    let worker = own.worker.clone();
    // A task of the creator: the worker may close itself meanwhile.
    let own_realm = own.outer.clone();
    realm::within(&own_realm, context, |context| {
        jobs::post(context, 0, move |context| {
            if event.get(js_string!("defaultPrevented"), context)?.to_boolean() {
                return Ok(());
            }
            let target = worker.upcast();
            jobs::outside(context, |context| {
                events::fire(&target, "ErrorEvent", "error", (false, true), &members, context);
            });
            Ok(())
        });
    });
    Ok(JsValue::undefined())
}

/// `importScripts(urls…)` (HTML §10.3.1): each is requested and run before the next.
fn import_scripts(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let mut addresses = Vec::new();
    for place in 0..args.len() {
        let text = bind::text(args, place, context)?;
        let address = realm::base(context).join(&text);
        let bad = |_| exception::error("SyntaxError", &format!("The URL '{text}' is invalid."), context);
        addresses.push(address.map_err(bad)?);
    }
    for address in addresses {
        let request = scripts::request(Asker::Script, &address);
        let Some((text, name)) = script_of(engine::request_and_wait(request, context)) else {
            let message = format!("The script at '{address}' failed to load.");
            return Err(exception::error("NetworkError", &message, context));
        };
        context.eval(Source::from_bytes(&text).with_path(Path::new(&name)))?;
    }
    Ok(JsValue::undefined())
}

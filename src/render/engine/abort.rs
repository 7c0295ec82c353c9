//! `AbortController` and `AbortSignal` (DOM §3).

use boa_engine::{Context, Finalize, JsArgs, JsData, JsError, JsObject, JsResult, JsString, JsValue, Trace};

use super::target::{Listeners, Target, TargetKind};
use super::{bind, events, exception, jobs, target};
use crate::limits;
use crate::wire::RequestId;

#[derive(Default, Trace, Finalize, JsData)]
pub(super) struct Signal {
    listeners: Listeners,
    /// The abort reason; `None` if it is not aborted.
    reason: Option<JsValue>,
    actions: Vec<Action>,
}

impl Target for Signal {
    fn listeners(&mut self) -> &mut Listeners {
        &mut self.listeners
    }
}

/// An action that runs when a signal is aborted, before its event.
#[derive(Trace, Finalize)]
#[boa_gc(unsafe_no_drop)]
pub(super) enum Action {
    /// Removes a listener: target, type, callback, capture.
    Listener(JsObject, JsString, JsObject, bool),
    /// Cancels a request and rejects its promise with this function.
    Request(#[unsafe_ignore_trace] RequestId, JsObject),
    /// Aborts a signal that depends on this one.
    Signal(JsObject),
}

#[derive(Trace, Finalize, JsData)]
struct Controller {
    signal: JsObject,
}

const SIGNAL: bind::Interface = bind::Interface {
    name: "AbortSignal",
    parent: Some("EventTarget"),
    methods: &[("throwIfAborted", 0, |this, _, _| match &bind::this::<Signal>(this)?.borrow().data().reason {
        Some(reason) => Err(JsError::from_opaque(reason.clone())),
        None => Ok(JsValue::undefined()),
    })],
    attributes: &[
        ("aborted", |this, _, _| Ok(bind::this::<Signal>(this)?.borrow().data().reason.is_some().into()), None),
        (
            "reason",
            |this, _, _| Ok(bind::this::<Signal>(this)?.borrow().data().reason.clone().unwrap_or_default()),
            None,
        ),
    ],
    statics: &[
        ("abort", 0, |_, args, context| {
            let signal = bind::object("AbortSignal", Signal::default(), context)?;
            abort(&signal, args.get_or_undefined(0), context)?;
            Ok(signal.into())
        }),
        ("timeout", 1, |_, args, context| {
            bind::want(args, 1, "timeout' on 'AbortSignal")?;
            let wait_ms = args[0].to_number(context)?.clamp(0.0, 1e12);
            let signal = bind::object("AbortSignal", Signal::default(), context)?;
            let aborted = signal.clone();
            jobs::post(context, (wait_ms * 1_000.0) as u64, move |context| {
                let reason = exception::value("TimeoutError", "signal timed out", context)?;
                abort(&aborted, &reason, context)
            });
            Ok(signal.into())
        }),
        ("any", 1, any),
    ],
    ..bind::Interface::EMPTY
};

const CONTROLLER: bind::Interface = bind::Interface {
    name: "AbortController",
    constructor: Some(|new_target, _, context| {
        let signal = bind::object("AbortSignal", Signal::default(), context)?;
        bind::construct(new_target, "AbortController", Controller { signal }, context)
    }),
    methods: &[("abort", 0, |this, args, context| {
        let signal = bind::this::<Controller>(this)?.borrow().data().signal.clone();
        abort(&signal, args.get_or_undefined(0), context)?;
        Ok(JsValue::undefined())
    })],
    attributes: &[(
        "signal",
        |this, _, _| Ok(bind::this::<Controller>(this)?.borrow().data().signal.clone().into()),
        None,
    )],
    ..bind::Interface::EMPTY
};

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let prototype = bind::define(&SIGNAL, context)?;
    target::register(TargetKind::of::<Signal>(|_, _, _| None), context);
    target::handlers(&prototype, &["abort"], context)?;
    bind::define(&CONTROLLER, context).map(|_| ())
}

/// A value as a signal.
pub(super) fn signal(value: &JsValue) -> JsResult<JsObject> {
    let object = value.as_object().filter(JsObject::is::<Signal>);
    object.ok_or_else(|| bind::type_error("member signal is not of type AbortSignal."))
}

pub(super) fn is_aborted(signal: &JsObject) -> bool {
    reason(signal).is_some()
}

/// Why a signal was aborted.
pub(super) fn reason(signal: &JsObject) -> Option<JsValue> {
    signal.downcast_ref::<Signal>().and_then(|signal| signal.reason.clone())
}

pub(super) fn on_abort(signal: &JsObject, action: Action) {
    if let Some(mut signal) = signal.downcast_mut::<Signal>()
        && signal.actions.len() < limits::LISTENERS_MAX
    {
        signal.actions.push(action);
    }
}

/// DOM §3.2 "signal abort".
fn abort(signal: &JsObject, reason: &JsValue, context: &mut Context) -> JsResult<()> {
    if is_aborted(signal) {
        return Ok(());
    }
    let reason = if reason.is_undefined() {
        exception::value("AbortError", "signal is aborted without reason", context)?
    } else {
        reason.clone()
    };
    let mut actions = Vec::new();
    if let Some(mut data) = signal.downcast_mut::<Signal>() {
        data.reason = Some(reason.clone());
        actions = std::mem::take(&mut data.actions);
    }
    for action in actions {
        match action {
            Action::Listener(target, kind, callback, capture) => {
                target::remove(&target, &kind, &callback, capture, context)?;
            }
            Action::Request(id, reject) => {
                jobs::give_up(context, id);
                reject.call(&JsValue::undefined(), std::slice::from_ref(&reason), context)?;
            }
            Action::Signal(dependent) => abort(&dependent, &reason, context)?,
        }
    }
    events::fire(signal, "Event", "abort", (false, false), &[], context);
    Ok(())
}

fn any(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 1, "any' on 'AbortSignal")?;
    let sources =
        args[0].as_object().ok_or_else(|| bind::type_error("The provided value cannot be converted to a sequence."))?;
    let sources: Vec<_> =
        bind::values(&sources, limits::LISTENERS_MAX, context)?.iter().map(signal).collect::<JsResult<_>>()?;
    let made = bind::object("AbortSignal", Signal::default(), context)?;
    match sources.iter().find_map(reason) {
        Some(reason) => abort(&made, &reason, context)?,
        None => sources.iter().for_each(|source| on_abort(source, Action::Signal(made.clone()))),
    }
    Ok(made.into())
}

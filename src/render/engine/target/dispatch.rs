//! Event dispatch: the path from the root to the target and back, and the calls of its listeners (DOM §2.9).

use boa_engine::{Context, JsObject, JsResult, JsString, JsValue, js_string};

use super::{Current, Kinds, LEGACY, Path, Step, callback_of, is_window, kind_of};
use crate::engine::events::{self, Event};
use crate::engine::{bind, jobs, realm};
use crate::limits;

/// Dispatches an event (DOM §2.9): capturing from the root, at the target, bubbling back. False if a listener cancelled it. Exceptions of
/// listeners are reported and stop nothing.
///
/// # Errors
/// When the object is not an event target.
pub fn dispatch(target: &JsObject, event: &JsObject<Event>, context: &mut Context) -> JsResult<bool> {
    let Some(path) = path_of(target, event, context)? else {
        end(event, false);
        return Ok(!event.borrow().data().canceled);
    };
    let (kind, bubbles) = {
        let mut event = event.borrow_mut();
        let event = event.data_mut();
        (event.dispatching, event.target, event.path) = (true, Some(target.clone()), path.clone());
        (event.kind.clone(), event.bubbles)
    };
    let activate = context.get_data::<Kinds>().and_then(|kinds| kinds.activate);
    let activate = activate.filter(|_| event.borrow().data().is_click());
    let after = activate.and_then(|activate| {
        let way: Vec<JsObject> = path.iter().map(|step| step.object.clone()).collect();
        activate(if bubbles { &way } else { &way[..1] }, event, context)
    });
    for place in (0..path.len()).rev() {
        let phase = if path[place].target.is_some() { events::AT_TARGET } else { events::CAPTURING };
        invoke(&path, place, event, &kind, phase, true, context);
    }
    for place in 0..path.len() {
        let at_target = path[place].target.is_some();
        if at_target || bubbles {
            let phase = if at_target { events::AT_TARGET } else { events::BUBBLING };
            invoke(&path, place, event, &kind, phase, false, context);
        }
    }
    // Targets in a shadow tree stay hidden from the outside, even after dispatch.
    let clear = path.iter().rev().find(|step| step.target.is_some()).is_some_and(|step| step.in_shadow);
    end(event, clear);
    let canceled = event.borrow().data().canceled;
    if let Some(after) = after {
        after(canceled, context);
    }
    Ok(!canceled)
}

/// The last steps of dispatch (DOM §2.9 steps 7 to 10).
fn end(event: &JsObject<Event>, clear_targets: bool) {
    let mut event = event.borrow_mut();
    let event = event.data_mut();
    (event.phase, event.current_target, event.dispatching) = (0, None, false);
    (event.stop, event.stop_now) = (false, false);
    event.path.clear();
    if clear_targets {
        event.target = None;
        event.set_related(None);
    }
}

/// The event's path; its first step is the target.
fn path_of(target: &JsObject, event: &JsObject<Event>, context: &mut Context) -> JsResult<Option<Vec<Step>>> {
    let mut path: Vec<Step> = Vec::new();
    let mut next = Some(target.clone());
    while let Some(object) = next.take() {
        let kind = kind_of(&object, context, &mut |_| {}).ok_or_else(|| bind::type_error("Illegal invocation"))?;
        match kind.path {
            Path::Way(way) => {
                let Some(steps) = way(&object, event, context) else { return Ok(None) };
                path.extend(steps);
            }
            Path::Parents(parent) => {
                path.push(Step::plain(object.clone(), path.is_empty().then(|| target.clone())));
                if path.len() < limits::EVENT_PATH_MAX {
                    next = parent(&object, event, context);
                }
            }
        }
    }
    Ok(Some(path))
}

/// Calls the listeners of one object for one phase (DOM §2.9 "invoke").
fn invoke(
    path: &[Step],
    place: usize,
    event: &JsObject<Event>,
    kind: &JsString,
    phase: u8,
    capture: bool,
    context: &mut Context,
) {
    if event.borrow().data().stop {
        return;
    }
    let step = &path[place];
    if !has_listener(&step.object, kind, capture, context) {
        // The legacy WebKit name is used only if there is no listener for the standard name.
        let old = legacy_name(kind).filter(|_| event.borrow().data().trusted);
        let Some(old) = old.filter(|old| has_listener(&step.object, old, capture, context)) else { return };
        event.borrow_mut().data_mut().kind = old.clone();
        inner_invoke(path, place, event, &old, phase, capture, context);
        event.borrow_mut().data_mut().kind = kind.clone();
        return;
    }
    inner_invoke(path, place, event, kind, phase, capture, context);
}

fn has_listener(object: &JsObject, kind: &JsString, capture: bool, context: &Context) -> bool {
    let mut has = false;
    kind_of(object, context, &mut |all| has = all.list.iter().any(|one| one.kind == *kind && one.capture == capture));
    has
}

/// Legacy event types (DOM §2.9 "invoke" step 9).
fn legacy_name(kind: &JsString) -> Option<JsString> {
    LEGACY.iter().find(|(name, _)| *kind == js_string!(*name)).map(|(_, old)| js_string!(*old))
}

/// DOM §2.9 "inner invoke".
fn inner_invoke(
    path: &[Step],
    place: usize,
    event: &JsObject<Event>,
    kind: &JsString,
    phase: u8,
    capture: bool,
    context: &mut Context,
) {
    let step = &path[place];
    let object = &step.object;
    let mut listeners = Vec::new();
    kind_of(object, context, &mut |all| {
        listeners = all.list.iter().filter(|one| one.kind == *kind && one.capture == capture).cloned().collect();
    });
    {
        let mut event = event.borrow_mut();
        let event = event.data_mut();
        (event.phase, event.current_target) = (phase, Some(object.clone()));
        event.target = path[..=place].iter().rev().find_map(|step| step.target.clone());
        event.set_related(step.related.clone());
    }
    for listener in listeners {
        let mut there = false;
        kind_of(object, context, &mut |all| {
            there = all.has(listener.id);
            if there && listener.once {
                all.list.retain(|other| other.id != listener.id);
            }
        });
        if !there {
            continue;
        }
        let Some(callback) = callback_of(object, &listener, context) else { continue };
        event.borrow_mut().data_mut().passive = listener.passive;
        let told = (!step.in_shadow).then(|| event.clone().upcast());
        let realm = realm::of_object(&callback, context);
        realm::within(&realm, context, |context| {
            let before = swap_current(context, told);
            if listener.handler {
                call_handler(object, event, &callback, context);
            } else {
                call_listener(object, event, &callback, context);
            }
            swap_current(context, before);
        });
        let mut event = event.borrow_mut();
        event.data_mut().passive = false;
        if event.data().stop_now {
            return;
        }
    }
}

fn swap_current(context: &Context, event: Option<JsObject>) -> Option<JsObject> {
    realm::own::<Current>(context).and_then(|current| current.0.replace(event))
}

fn call_listener(object: &JsObject, event: &JsObject<Event>, callback: &JsObject, context: &mut Context) {
    let event: JsValue = event.clone().upcast().into();
    if callback.is_callable() {
        jobs::call(callback, &object.clone().into(), &[event], context);
        return;
    }
    jobs::enter(context, |context| {
        let method = callback.get(js_string!("handleEvent"), context)?;
        let method = method.as_callable().ok_or_else(|| bind::type_error("handleEvent is not a function"))?;
        method.call(&callback.clone().into(), &[event], context)
    });
}

/// The event handler processing algorithm (HTML §8.1.8.1): the return value of a handler may cancel the event.
fn call_handler(object: &JsObject, event: &JsObject<Event>, callback: &JsObject, context: &mut Context) {
    if !callback.is_callable() {
        return;
    }
    let this: JsValue = object.clone().into();
    let error_args = is_window(object, context).then(|| event.borrow().data().error_arguments()).flatten();
    let of_error = error_args.is_some();
    let args = error_args.unwrap_or_else(|| vec![event.clone().upcast().into()]);
    let returned = jobs::call(callback, &this, &args, context);
    if returned.and_then(|value| value.as_boolean()) == Some(of_error) {
        event.borrow_mut().data_mut().cancel();
    }
}

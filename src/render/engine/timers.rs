//! Timers, animation frames and idle callbacks in virtual time (HTML §8.6, §8.11; requestIdleCallback).
//!
//! Timers due at the same time run in the order of their creation. `setTimeout` and `setInterval` share the numbers of timers, as in the
//! standard.

use std::collections::HashMap;

use boa_engine::realm::Realm;
use boa_engine::{Context, JsArgs, JsObject, JsResult, JsString, JsValue, js_string};

use super::{bind, jobs, page, realm, report};
use crate::limits;
use crate::wire::trace::What;

/// Nesting level from which timers wait at least four milliseconds (HTML §8.6 step 10 of "timer initialization steps").
const DEEP: u32 = 5;
const DEEP_WAIT_US: u64 = 4_000;

/// Time between two animation frames, in microseconds.
const FRAME_US: u64 = 16_667;

/// The timers that are set, and the current nesting level.
#[derive(Default)]
pub(super) struct Timers {
    last: u32,
    places: HashMap<u32, (u64, u64)>,
    nesting: u32,
    /// Callbacks of the next animation frame, with their handles.
    frame: Vec<(u32, Realm, JsObject)>,
}

impl Timers {
    /// Drops a window's pending animation frames.
    pub(super) fn forget(&mut self, realm: &Realm) {
        self.frame.retain(|(_, of, _)| of != realm);
    }
}

/// The handler of a timer.
#[derive(Clone)]
enum Handler {
    Function(JsObject, Vec<JsValue>),
    /// Source text, as old pages use it, and its name, which shows who set it.
    Text(JsString, String),
}

pub(super) const GLOBALS: &[bind::Method] = &[
    ("setTimeout", 1, set_timeout),
    ("setInterval", 1, set_interval),
    ("clearTimeout", 0, clear),
    ("clearInterval", 0, clear),
    ("requestAnimationFrame", 1, request_frame),
    ("cancelAnimationFrame", 1, cancel_frame),
    ("requestIdleCallback", 1, request_idle),
    ("cancelIdleCallback", 1, clear),
    ("queueMicrotask", 1, queue_microtask),
];

fn set_timeout(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    set(args, false, "setTimeout", context)
}

fn set_interval(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    set(args, true, "setInterval", context)
}

fn set(args: &[JsValue], again: bool, what: &str, context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 1, what)?;
    let handler = match args[0].as_callable() {
        Some(function) => Handler::Function(function, args.get(2..).unwrap_or_default().to_vec()),
        None => {
            let text = args[0].to_string(context)?;
            let name = report::evaluated(what, context).unwrap_or_else(|| realm::address(context).to_string());
            Handler::Text(text, name)
        }
    };
    // A WebIDL `long`: it wraps around, and a negative value means now.
    let wait_us = u64::try_from(args.get_or_undefined(1).to_i32(context)?).unwrap_or(0) * 1_000;
    let id = next_id(context);
    schedule(id, handler, wait_us, again, context);
    Ok(id.into())
}

fn next_id(context: &Context) -> u32 {
    let jobs = jobs::of(context);
    let mut timers = jobs.timers.borrow_mut();
    timers.last = timers.last.wrapping_add(1).max(1);
    timers.last
}

fn schedule(id: u32, handler: Handler, wait_us: u64, again: bool, context: &Context) {
    let jobs = jobs::of(context);
    let nesting = jobs.timers.borrow().nesting;
    let wait = if nesting > DEEP || again && wait_us == 0 { wait_us.max(DEEP_WAIT_US) } else { wait_us };
    let place = jobs::post(context, wait, move |context| {
        let jobs = jobs::of(context);
        jobs.timers.borrow_mut().nesting = nesting + 1;
        page::of(context).borrow_mut().note(|| What::Timer { after_ms: wait_us / 1_000, again });
        fire(&handler, context);
        // A timer that cleared itself is not scheduled again.
        let set = jobs.timers.borrow().places.contains_key(&id);
        if again && set {
            schedule(id, handler, wait_us, true, context);
        } else {
            jobs.timers.borrow_mut().places.remove(&id);
        }
        jobs.timers.borrow_mut().nesting = 0;
        Ok(())
    });
    if let Some(place) = place {
        jobs.timers.borrow_mut().places.insert(id, place);
    }
}

/// Runs a timer; exceptions are reported here, so that an interval continues.
fn fire(handler: &Handler, context: &mut Context) {
    let result = match handler {
        Handler::Function(function, args) => {
            let window = realm::window(context).into();
            function.call(&window, args, context).map(|_| ())
        }
        Handler::Text(text, name) => super::script(&text.to_std_string_lossy(), name.as_str().into(), context)
            .and_then(|script| script.evaluate(context))
            .map(|_| ()),
    };
    if let Err(error) = result {
        report::exception(error, context);
    }
}

fn clear(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let id = args.get_or_undefined(0).to_u32(context)?;
    let jobs = jobs::of(context);
    let place = jobs.timers.borrow_mut().places.remove(&id);
    if let Some(place) = place {
        jobs.take(place);
    }
    Ok(JsValue::undefined())
}

fn callback(args: &[JsValue], what: &str) -> JsResult<JsObject> {
    bind::want(args, 1, what)?;
    let refusal = || bind::type_error(format!("Failed to execute '{what}': parameter 1 is not of type 'Function'."));
    args[0].as_callable().ok_or_else(refusal)
}

fn request_frame(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let function = callback(args, "requestAnimationFrame")?;
    let id = next_id(context);
    let jobs = jobs::of(context);
    let mut timers = jobs.timers.borrow_mut();
    if timers.frame.is_empty() {
        put_frame(&jobs, context);
    }
    if timers.frame.len() < limits::TIMERS_MAX {
        timers.frame.push((id, context.realm().clone(), function));
    }
    Ok(id.into())
}

/// Frames belong to the page: one runs the callbacks of all windows.
fn put_frame(jobs: &jobs::Jobs, context: &Context) {
    let due_us = (jobs.clock.now_us() / FRAME_US + 1) * FRAME_US;
    jobs.put(due_us, realm::of_page(context), Box::new(run_frame));
}

/// All callbacks of a frame get the same time; callbacks requested meanwhile run in the next one (HTML §8.11).
fn run_frame(context: &mut Context) -> JsResult<()> {
    let jobs = jobs::of(context);
    let callbacks: Vec<_> = jobs.timers.borrow().frame.clone();
    let until = callbacks.last().map_or(0, |(id, ..)| *id);
    page::of(context).borrow_mut().note(|| What::Frame { callbacks: callbacks.len() });
    let now = jobs.clock.now_us() as f64 / 1_000.0;
    for (id, realm, function) in callbacks {
        let there = jobs.timers.borrow().frame.iter().any(|(other, ..)| *other == id);
        realm::within(&realm, context, |context| {
            if there && let Err(error) = function.call(&JsValue::undefined(), &[now.into()], context) {
                report::exception(error, context);
            }
        });
    }
    let mut timers = jobs.timers.borrow_mut();
    timers.frame.retain(|(id, ..)| *id > until);
    if !timers.frame.is_empty() {
        put_frame(&jobs, context);
    }
    Ok(())
}

fn cancel_frame(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let id = args.get_or_undefined(0).to_u32(context)?;
    jobs::of(context).timers.borrow_mut().frame.retain(|(other, ..)| *other != id);
    Ok(JsValue::undefined())
}

/// The page is idle once its other tasks of the current time are done.
fn request_idle(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let function = callback(args, "requestIdleCallback")?;
    let id = next_id(context);
    let place = jobs::post(context, 1_000, move |context| {
        jobs::of(context).timers.borrow_mut().places.remove(&id);
        let deadline = JsObject::with_object_proto(context.intrinsics());
        deadline.set(js_string!("didTimeout"), false, false, context)?;
        bind::methods(&deadline, &[("timeRemaining", 0, |_, _, _| Ok(50.into()))], context)?;
        function.call(&JsValue::undefined(), &[deadline.into()], context).map(|_| ())
    });
    if let Some(place) = place {
        jobs::of(context).timers.borrow_mut().places.insert(id, place);
    }
    Ok(id.into())
}

/// HTML §8.7: an exception is reported, not thrown.
fn queue_microtask(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let function = callback(args, "queueMicrotask")?;
    let job = boa_engine::job::PromiseJob::with_realm(
        move |context| {
            if let Err(error) = function.call(&JsValue::undefined(), &[], context) {
                report::exception(error, context);
            }
            Ok(JsValue::undefined())
        },
        context.realm().clone(),
    );
    context.enqueue_job(job.into());
    Ok(JsValue::undefined())
}

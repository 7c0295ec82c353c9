//! `performance` (High Resolution Time, User Timing, Navigation Timing): virtual time, the marks of scripts, and a navigation that took
//! no time.

use std::cell::RefCell;

use boa_engine::{Context, JsArgs, JsObject, JsResult, JsValue, js_string};

use super::{bind, clone, exception, jobs, realm};
use crate::limits;

/// The marks and measures of a page, in order.
#[derive(Default)]
struct Entries(RefCell<Vec<Entry>>);

#[derive(Clone)]
struct Entry {
    name: String,
    kind: &'static str,
    start_ms: f64,
    duration_ms: f64,
    object: JsObject,
}

const PERFORMANCE: bind::Interface = bind::Interface {
    name: "Performance",
    methods: &[
        ("now", 0, |_, _, context| Ok(now_ms(context).into())),
        ("mark", 1, mark),
        ("measure", 1, measure),
        ("clearMarks", 0, |_, args, context| clear("mark", args, context)),
        ("clearMeasures", 0, |_, args, context| clear("measure", args, context)),
        ("clearResourceTimings", 0, |_, _, _| Ok(JsValue::undefined())),
        ("setResourceTimingBufferSize", 1, |_, _, _| Ok(JsValue::undefined())),
        ("getEntries", 0, |_, _, context| entries(None, None, context)),
        ("getEntriesByType", 1, |_, args, context| {
            let kind = bind::text(args, 0, context)?;
            entries(None, Some(&kind), context)
        }),
        ("getEntriesByName", 1, |_, args, context| {
            let (name, kind) = (bind::text(args, 0, context)?, bind::text_if_given(args, 1, context)?);
            entries(Some(&name), kind.as_deref(), context)
        }),
        ("toJSON", 0, |this, _, context| {
            let object = JsObject::with_object_proto(context.intrinsics());
            let this = this.as_object().ok_or_else(|| bind::type_error("Illegal invocation"))?;
            for name in ["timeOrigin", "timing", "navigation"] {
                let value = this.get(js_string!(name), context)?;
                object.create_data_property_or_throw(js_string!(name), value, context)?;
            }
            Ok(object.into())
        }),
    ],
    attributes: &[("timeOrigin", |_, _, context| Ok(jobs::of(context).origin_ms().into()), None)],
    ..bind::Interface::EMPTY
};

/// Attributes of `performance.timing`: all of them are the page's start.
const MOMENTS: &[&str] = &[
    "navigationStart",
    "fetchStart",
    "domainLookupStart",
    "domainLookupEnd",
    "connectStart",
    "connectEnd",
    "requestStart",
    "responseStart",
    "responseEnd",
    "domLoading",
    "domInteractive",
    "domContentLoadedEventStart",
    "domContentLoadedEventEnd",
    "domComplete",
    "loadEventStart",
    "loadEventEnd",
];

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    bind::define(&PERFORMANCE, context)?;
    for (name, parent) in [
        ("PerformanceEntry", None),
        ("PerformanceMark", Some("PerformanceEntry")),
        ("PerformanceMeasure", Some("PerformanceEntry")),
        ("PerformanceNavigationTiming", Some("PerformanceEntry")),
    ] {
        bind::define(&bind::Interface { name, parent, ..bind::Interface::EMPTY }, context)?;
    }
    let performance = bind::object("Performance", (), context)?;
    let origin = jobs::of(context).origin_ms();
    let timing = JsObject::with_object_proto(context.intrinsics());
    for moment in MOMENTS {
        timing.create_data_property_or_throw(js_string!(*moment), origin, context)?;
    }
    let navigation = JsObject::with_object_proto(context.intrinsics());
    for name in ["type", "redirectCount"] {
        navigation.create_data_property_or_throw(js_string!(name), 0, context)?;
    }
    bind::hidden(&performance, js_string!("timing"), timing.into(), true, context)?;
    bind::hidden(&performance, js_string!("navigation"), navigation.into(), true, context)?;
    realm::keep(Entries::default(), context);
    let address = realm::address(context).to_string();
    let more: Vec<(&'static str, JsValue)> =
        MOMENTS.iter().map(|moment| (*moment, 0.into())).chain([("type", bind::js("navigate"))]).collect();
    add("PerformanceNavigationTiming", "navigation", &address, (0.0, 0.0), more, context)?;
    let global = context.global_object();
    bind::hidden(&global, js_string!("performance"), performance.into(), true, context)
}

fn now_ms(context: &Context) -> f64 {
    jobs::of(context).clock.look_us() as f64 / 1_000.0
}

/// Creates an entry and stores it while there is room.
fn add(
    interface: &str,
    kind: &'static str,
    name: &str,
    (start_ms, duration_ms): (f64, f64),
    more: Vec<(&'static str, JsValue)>,
    context: &mut Context,
) -> JsResult<JsValue> {
    let object = bind::object(interface, (), context)?;
    let usual = [
        ("name", bind::js(name)),
        ("entryType", bind::js(kind)),
        ("startTime", start_ms.into()),
        ("duration", duration_ms.into()),
    ];
    for (key, value) in usual.into_iter().chain(more) {
        object.create_data_property_or_throw(js_string!(key), value, context)?;
    }
    if let Some(entries) = realm::own::<Entries>(context) {
        let mut entries = entries.0.borrow_mut();
        if entries.len() < limits::TIMERS_MAX {
            entries.push(Entry { name: name.to_owned(), kind, start_ms, duration_ms, object: object.clone() });
        }
    }
    Ok(object.into())
}

fn detail(options: &JsValue, context: &mut Context) -> JsResult<JsValue> {
    if !options.is_object() {
        return Ok(JsValue::null());
    }
    match bind::member(options, "detail", context)? {
        Some(detail) => clone::structured(&detail, context),
        None => Ok(JsValue::null()),
    }
}

fn mark(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 1, "mark' on 'Performance")?;
    let name = bind::text(args, 0, context)?;
    let options = args.get_or_undefined(1);
    let start_ms = match bind::member(options, "startTime", context)? {
        Some(value) => value.to_number(context)?,
        None => now_ms(context),
    };
    let detail = detail(options, context)?;
    add("PerformanceMark", "mark", &name, (start_ms, 0.0), vec![("detail", detail)], context)
}

/// `measure(name, start, end)` or `measure(name, { start, end, duration, detail })`, of times or names of marks.
fn measure(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 1, "measure' on 'Performance")?;
    let name = bind::text(args, 0, context)?;
    let options = args.get_or_undefined(1);
    let (start, end, duration) = if options.is_object() {
        let mut member = |name| bind::member(options, name, context);
        (member("start")?, member("end")?, member("duration")?)
    } else {
        let given = |value: &JsValue| Some(value.clone()).filter(|value| !value.is_undefined());
        (given(options), given(args.get_or_undefined(2)), None)
    };
    let detail = detail(options, context)?;
    let mut moment = |value: Option<JsValue>| value.map(|value| moment(&value, context)).transpose();
    let (start, end) = (moment(start)?, moment(end)?);
    let duration = duration.map(|value| value.to_number(context)).transpose()?;
    let end = end.or_else(|| Some(start? + duration?)).unwrap_or_else(|| now_ms(context));
    let start = start.or_else(|| Some(end - duration?)).unwrap_or(0.0);
    add("PerformanceMeasure", "measure", &name, (start, end - start), vec![("detail", detail)], context)
}

/// A time, or that of the last mark with this name.
fn moment(value: &JsValue, context: &mut Context) -> JsResult<f64> {
    if value.is_number() {
        return value.to_number(context);
    }
    let name = value.to_string(context)?.to_std_string_lossy();
    let found = realm::own::<Entries>(context).and_then(|entries| {
        let entries = entries.0.borrow();
        entries.iter().rev().find(|entry| entry.kind == "mark" && entry.name == name).map(|entry| entry.start_ms)
    });
    match found {
        Some(time) => Ok(time),
        None if MOMENTS.contains(&name.as_str()) => Ok(0.0),
        None => Err(exception::error("SyntaxError", &format!("The mark '{name}' does not exist."), context)),
    }
}

fn clear(kind: &str, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let name = bind::text_if_given(args, 0, context)?;
    if let Some(entries) = realm::own::<Entries>(context) {
        let fits = |entry: &Entry| entry.kind == kind && name.as_ref().is_none_or(|name| entry.name == *name);
        entries.0.borrow_mut().retain(|entry| !fits(entry));
    }
    Ok(JsValue::undefined())
}

/// Entries by name and kind, in order of their start times.
fn entries(name: Option<&str>, kind: Option<&str>, context: &mut Context) -> JsResult<JsValue> {
    let mut found = realm::own::<Entries>(context).map(|entries| entries.0.borrow().clone()).unwrap_or_default();
    found.retain(|entry| name.is_none_or(|name| entry.name == name) && kind.is_none_or(|kind| entry.kind == kind));
    found.sort_by(|a, b| a.start_ms.total_cmp(&b.start_ms).then(a.duration_ms.total_cmp(&b.duration_ms).reverse()));
    Ok(bind::array(found.into_iter().map(|entry| entry.object.into()), context))
}

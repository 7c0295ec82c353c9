//! `IntersectionObserver`, `ResizeObserver` and `PerformanceObserver`: they check the rough layout once a frame, and only after a change.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use boa_engine::property::PropertyKey;
use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsValue, Trace, js_string};

use super::cssom::sizes;
use super::cssom_view::layout::{self, ElementBox};
use super::cssom_view::unshown;
use super::html::window::viewport;
use super::{node_argument, node_argument_or_null, wrap, wrap_or_null};
use crate::dom::{Mutation, NodeId};
use crate::engine::{bind, jobs, realm};
use crate::limits;

/// The kind of an observer.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Intersection,
    Resize,
}

/// An observer and its targets.
#[derive(Trace, Finalize, JsData)]
struct Observer {
    callback: JsObject,
    #[unsafe_ignore_trace]
    kind: Kind,
    #[unsafe_ignore_trace]
    targets: Vec<(NodeId, Option<ReportedState>)>,
    /// The root element for intersections; `None` for the viewport.
    #[unsafe_ignore_trace]
    root: Option<NodeId>,
    #[unsafe_ignore_trace]
    root_margin: String,
    #[unsafe_ignore_trace]
    thresholds: Vec<f64>,
    /// Entries that are not delivered yet.
    entries: Vec<JsValue>,
    /// Sizes reported after the first ones.
    resizes: usize,
}

/// The last reported state of a target.
#[derive(Clone, Copy, PartialEq)]
enum ReportedState {
    Share(f64, bool),
    Size(f64, f64),
}

/// The page's observers that have targets.
#[derive(Default)]
struct Observers {
    all: RefCell<Vec<JsObject<Observer>>>,
    /// A check is due.
    due: Cell<bool>,
}

/// Time between two checks, in microseconds: a frame.
const FRAME_US: u64 = 16_667;

const INTERSECTION: bind::Interface = bind::Interface {
    name: "IntersectionObserver",
    constructor: Some(|new_target, args, context| construct(new_target, args, Kind::Intersection, context)),
    length: 1,
    methods: &[
        ("observe", 1, observe),
        ("unobserve", 1, unobserve),
        ("disconnect", 0, disconnect),
        ("takeRecords", 0, take),
    ],
    attributes: &[
        (
            "root",
            |this, _, context| {
                let root = bind::this::<Observer>(this)?.borrow().data().root;
                wrap_or_null(root, context)
            },
            None,
        ),
        ("rootMargin", |this, _, _| Ok(bind::js(&bind::this::<Observer>(this)?.borrow().data().root_margin)), None),
        (
            "thresholds",
            |this, _, context| {
                let thresholds = bind::this::<Observer>(this)?.borrow().data().thresholds.clone();
                Ok(bind::array(thresholds.into_iter().map(JsValue::from), context))
            },
            None,
        ),
    ],
    ..bind::Interface::EMPTY
};

const RESIZE: bind::Interface = bind::Interface {
    name: "ResizeObserver",
    constructor: Some(|new_target, args, context| construct(new_target, args, Kind::Resize, context)),
    length: 1,
    methods: &[("observe", 1, observe), ("unobserve", 1, unobserve), ("disconnect", 0, disconnect)],
    ..bind::Interface::EMPTY
};

/// Performance is never measured, so it reports nothing.
const PERFORMANCE: bind::Interface = bind::Interface {
    name: "PerformanceObserver",
    constructor: Some(|new_target, args, context| {
        callback(args, "PerformanceObserver")?;
        bind::construct(new_target, "PerformanceObserver", (), context)
    }),
    length: 1,
    methods: &[
        ("observe", 0, |_, _, _| Ok(JsValue::undefined())),
        ("disconnect", 0, |_, _, _| Ok(JsValue::undefined())),
        ("takeRecords", 0, |_, _, context| Ok(bind::array([], context))),
    ],
    ..bind::Interface::EMPTY
};

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    realm::share(|| Rc::new(Observers::default()), context);
    for interface in [&INTERSECTION, &RESIZE] {
        bind::define(interface, context)?;
    }
    for name in ["IntersectionObserverEntry", "ResizeObserverEntry"] {
        bind::define(&bind::Interface { name, ..bind::Interface::EMPTY }, context)?;
    }
    // Libraries check for the member before they use the observer.
    let entry = bind::prototype("IntersectionObserverEntry", context)?;
    let absent: &[bind::Attribute] = &[
        ("isIntersecting", |_, _, _| Ok(JsValue::undefined()), None),
        ("intersectionRatio", |_, _, _| Ok(JsValue::undefined()), None),
    ];
    bind::attributes(&entry, absent, context)?;
    let performance = bind::define(&PERFORMANCE, context)?;
    let constructor = performance.get(js_string!("constructor"), context)?;
    if let Some(constructor) = constructor.as_object() {
        let types = bind::array([], context);
        constructor.create_data_property_or_throw(js_string!("supportedEntryTypes"), types, context)?;
    }
    Ok(())
}

fn shared(context: &Context) -> Rc<Observers> {
    context.get_data::<Rc<Observers>>().map(Rc::clone).unwrap_or_default()
}

fn callback(args: &[JsValue], name: &str) -> JsResult<JsObject> {
    let refusal = || bind::type_error(format!("Failed to construct '{name}': parameter 1 is not of type 'Function'."));
    args.get_or_undefined(0).as_callable().ok_or_else(refusal)
}

fn construct(new_target: &JsValue, args: &[JsValue], kind: Kind, context: &mut Context) -> JsResult<JsValue> {
    let name = if kind == Kind::Intersection { "IntersectionObserver" } else { "ResizeObserver" };
    let callback = callback(args, name)?;
    let (mut root, mut root_margin, mut thresholds) = (None, "0px 0px 0px 0px".to_owned(), vec![0.0]);
    if kind == Kind::Intersection {
        let options = args.get_or_undefined(1);
        if let Some(given) = bind::member(options, "root", context)? {
            root = node_argument_or_null(&[given], 0, "IntersectionObserver", context)?;
        }
        if let Some(given) = bind::member(options, "rootMargin", context)? {
            root_margin = given.to_string(context)?.to_std_string_lossy();
        }
        if let Some(given) = bind::member(options, "threshold", context)? {
            thresholds = match given.as_object() {
                Some(list) => {
                    let values = bind::values(&list, 1_000, context)?;
                    values.iter().map(|value| value.to_number(context)).collect::<JsResult<_>>()?
                }
                None => vec![given.to_number(context)?],
            };
            thresholds.sort_by(f64::total_cmp);
        }
    }
    let (targets, entries) = (Vec::new(), Vec::new());
    let data = Observer { callback, kind, targets, root, root_margin, thresholds, entries, resizes: 0 };
    bind::construct(new_target, name, data, context)
}

fn observe(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let observer = bind::this::<Observer>(this)?;
    let target = node_argument(args, 0, "observe' on 'Observer", context)?;
    let known = {
        let mut data = observer.borrow_mut();
        let data = data.data_mut();
        let again = data.targets.iter().position(|(id, _)| *id == target);
        match again {
            // Observing a target again reports its size again.
            Some(place) if data.kind == Kind::Resize => data.targets[place].1 = None,
            Some(_) => {}
            None if data.targets.len() < limits::LISTENERS_MAX => data.targets.push((target, None)),
            None => {}
        }
        again.is_some()
    };
    if !known {
        let shared = shared(context);
        let mut all = shared.all.borrow_mut();
        let there = all.iter().any(|other| JsObject::equals(other, &observer));
        if !there && all.len() < limits::LISTENERS_MAX {
            all.push(observer);
        }
    }
    look_again(context);
    Ok(JsValue::undefined())
}

fn unobserve(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let observer = bind::this::<Observer>(this)?;
    let target = node_argument(args, 0, "unobserve' on 'Observer", context)?;
    observer.borrow_mut().data_mut().targets.retain(|(id, _)| *id != target);
    forget_idle(context);
    Ok(JsValue::undefined())
}

fn disconnect(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let observer = bind::this::<Observer>(this)?;
    observer.borrow_mut().data_mut().targets.clear();
    forget_idle(context);
    Ok(JsValue::undefined())
}

fn take(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let entries = std::mem::take(&mut bind::this::<Observer>(this)?.borrow_mut().data_mut().entries);
    Ok(bind::array(entries, context))
}

fn forget_idle(context: &Context) {
    shared(context).all.borrow_mut().retain(|one| !one.borrow().data().targets.is_empty());
}

/// A change of the tree may have moved observed targets.
pub(crate) fn tree_changed(log: &[Mutation], context: &mut Context) {
    if !log.is_empty() && !shared(context).all.borrow().is_empty() {
        look_again(context);
    }
}

/// Schedules a check of the observers in the next frame.
pub(crate) fn look_again(context: &mut Context) {
    let shared = shared(context);
    if shared.all.borrow().is_empty() || shared.due.replace(true) {
        return;
    }
    let now = jobs::of(context).now_us();
    let wait = FRAME_US - now % FRAME_US;
    if jobs::post(context, wait, |context| jobs::outside(context, look)).is_none() {
        shared.due.set(false);
    }
}

fn look(context: &mut Context) -> JsResult<()> {
    shared(context).due.set(false);
    look_at(true, context)
}

/// Moves everything out of view for a moment, as when a user scrolls up and down again: the next check reports it again. A list that
/// waits for its end to come into view continues, although the window is as high as its whole content.
pub(crate) fn look_away(context: &mut Context) -> JsResult<()> {
    look_at(false, context)?;
    look_again(context);
    Ok(())
}

fn look_at(there: bool, context: &mut Context) -> JsResult<()> {
    let all: Vec<_> = shared(context).all.borrow().clone();
    for observer in all {
        let targets = observer.borrow().data().targets.clone();
        let kind = observer.borrow().data().kind;
        if kind == Kind::Resize && !there {
            continue;
        }
        let ids: Vec<_> = targets.iter().map(|(id, _)| *id).collect();
        let places = match kind {
            Kind::Resize => sizes::places(&ids, context),
            Kind::Intersection => ids.iter().map(|id| layout::place(*id, context)).collect(),
        };
        for ((id, before), place) in targets.into_iter().zip(places) {
            let now = match kind {
                Kind::Intersection if !there && before.is_none() => continue,
                Kind::Intersection if !there => ReportedState::Share(0.0, false),
                Kind::Resize => {
                    unshown::measured(id, place, context);
                    let place = place.unwrap_or_default();
                    ReportedState::Size(place.width, place.height)
                }
                Kind::Intersection => share_of(&observer, place, context),
            };
            if !is_news(before, now, &observer) {
                continue;
            }
            let entry = match now {
                ReportedState::Size(..) => size_entry(id, place.unwrap_or_default(), context)?,
                ReportedState::Share(ratio, is) => share_entry(id, place.unwrap_or_default(), ratio, is, context)?,
            };
            let mut data = observer.borrow_mut();
            let data = data.data_mut();
            data.resizes += usize::from(matches!(before, Some(ReportedState::Size(..))));
            if let Some(target) = data.targets.iter_mut().find(|(other, _)| *other == id) {
                target.1 = Some(now);
            }
            data.entries.push(entry);
        }
        let entries = std::mem::take(&mut observer.borrow_mut().data_mut().entries);
        if !entries.is_empty() {
            let callback = observer.borrow().data().callback.clone();
            let this: JsValue = observer.upcast().into();
            let entries = bind::array(entries, context);
            jobs::call(&callback, &this.clone(), &[entries, this], context);
        }
    }
    Ok(())
}

/// Whether an observer reports the change: a size while it has not reported too many, a ratio when it crosses a threshold.
fn is_news(before: Option<ReportedState>, now: ReportedState, observer: &JsObject<Observer>) -> bool {
    match (before, now) {
        (None, _) => true,
        (Some(ReportedState::Share(before, was)), ReportedState::Share(now, is)) => {
            let thresholds = observer.borrow().data().thresholds.clone();
            let step = |share: f64| thresholds.iter().filter(|threshold| **threshold <= share).count();
            was != is || is && step(before) != step(now)
        }
        (Some(before), now) => {
            let data = observer.borrow();
            let most = limits::RENDER_RESIZES_MAX.saturating_mul(data.data().targets.len());
            before != now && data.data().resizes < most
        }
    }
}

/// The visible ratio of a target (Intersection Observer §3.2.7).
fn share_of(observer: &JsObject<Observer>, place: Option<ElementBox>, context: &Context) -> ReportedState {
    let Some(place) = place else { return ReportedState::Share(0.0, false) };
    let margin = margin_of(&observer.borrow().data().root_margin);
    let (view, (_, y)) = (viewport(context), layout::scroll(context));
    let (top, bottom) = (y - margin.0, y + view.height + margin.1);
    let seen = (place.top + place.height).min(bottom) - place.top.max(top);
    if seen < 0.0 {
        ReportedState::Share(0.0, false)
    } else {
        ReportedState::Share(if place.height > 0.0 { (seen / place.height).clamp(0.0, 1.0) } else { 1.0 }, true)
    }
}

/// The vertical margins in pixels; percentages are of a default viewport.
fn margin_of(text: &str) -> (f64, f64) {
    let number = |word: &str| match word.strip_suffix('%') {
        Some(share) => share.parse::<f64>().unwrap_or(0.0) * 8.0,
        None => word.trim_end_matches("px").parse().unwrap_or(0.0),
    };
    let words: Vec<f64> = text.split_ascii_whitespace().map(number).collect();
    match words.as_slice() {
        [] => (0.0, 0.0),
        [all] => (*all, *all),
        [vertical, _] => (*vertical, *vertical),
        [top, _, bottom, ..] => (*top, *bottom),
    }
}

/// A rectangle relative to the viewport, as a script value.
pub(crate) fn rectangle(place: ElementBox, context: &mut Context) -> JsResult<JsValue> {
    let (x, y) = layout::scroll(context);
    super::cssom_view::metrics::rectangle(place.left - x, place.top - y, place.width, place.height, context)
}

fn entry(interface: &str, members: Vec<(&'static str, JsValue)>, context: &mut Context) -> JsResult<JsValue> {
    let object = bind::object(interface, (), context)?;
    for (name, value) in members {
        object.create_data_property_or_throw(PropertyKey::from(js_string!(name)), value, context)?;
    }
    Ok(object.into())
}

fn share_entry(id: NodeId, place: ElementBox, ratio: f64, is: bool, context: &mut Context) -> JsResult<JsValue> {
    let (view, scroll) = (viewport(context), layout::scroll(context));
    let root = ElementBox { left: scroll.0, top: scroll.1, width: view.width, height: view.height };
    let seen = ElementBox { height: place.height * ratio, ..if is { place } else { ElementBox::default() } };
    let members = vec![
        ("target", wrap(id, context)?.into()),
        ("isIntersecting", is.into()),
        ("isVisible", is.into()),
        ("intersectionRatio", ratio.into()),
        ("time", (jobs::of(context).now_us() as f64 / 1_000.0).into()),
        ("boundingClientRect", rectangle(place, context)?),
        ("intersectionRect", rectangle(seen, context)?),
        ("rootBounds", rectangle(root, context)?),
    ];
    entry("IntersectionObserverEntry", members, context)
}

fn size_entry(id: NodeId, place: ElementBox, context: &mut Context) -> JsResult<JsValue> {
    let content = super::cssom_view::metrics::rectangle(0.0, 0.0, place.width, place.height, context)?;
    let size = JsObject::with_object_proto(context.intrinsics());
    size.create_data_property_or_throw(js_string!("inlineSize"), place.width, context)?;
    size.create_data_property_or_throw(js_string!("blockSize"), place.height, context)?;
    let sizes = bind::array([size.into()], context);
    let members = vec![
        ("target", wrap(id, context)?.into()),
        ("contentRect", content),
        ("contentBoxSize", sizes.clone()),
        ("borderBoxSize", sizes.clone()),
        ("devicePixelContentBoxSize", sizes),
    ];
    entry("ResizeObserverEntry", members, context)
}

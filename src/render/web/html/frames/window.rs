//! The window of a frame for scripts (HTML §7.2.3 `WindowProxy`): one object for the life of the frame, which forwards to the window of
//! its current document. For another origin it exposes only what the standard allows.
//!
//! The window behind it is created on first access: scripts never access most frames.

use boa_engine::object::builtins::JsProxyBuilder;
use boa_engine::property::{PropertyDescriptor, PropertyKey};
use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsValue, Trace, js_string};

use super::{named_target, navigate, open_window};
use crate::dom::NodeId;
use crate::engine::{bind, realm, target};
use crate::web::dom::document;
use crate::web::html::windows;
use crate::web::webidl::exotic;
use crate::web::{of, own_document};

/// The target of a frame's window proxy.
#[derive(Trace, Finalize, JsData)]
struct FrameWindow {
    #[unsafe_ignore_trace]
    frame: NodeId,
    /// The global object of the frame's current or last document.
    global: Option<JsObject>,
    /// What others see of it while it shows another origin.
    closed: JsObject,
}

static WINDOW: exotic::Kind = exotic::Kind {
    build: |builder: JsProxyBuilder| {
        builder
            .get(get)
            .set(set)
            .has(has)
            .delete_property(delete)
            .own_keys(own_keys)
            .get_own_property_descriptor(own_descriptor)
            .define_property(define)
            .get_prototype_of(prototype)
            .set_prototype_of(|_, _, _| Ok(false.into()))
            .prevent_extensions(|_, _, _| Ok(false.into()))
    },
};

/// The window proxy of a frame.
///
/// # Errors
/// None that a page could cause.
pub(in crate::web) fn proxy_of(frame: NodeId, context: &mut Context) -> JsResult<JsObject> {
    if let Some((known, _)) = of(context).borrow().frames.proxies.get(&frame) {
        return Ok(known.clone());
    }
    realm::in_page(context, |context| {
        let closed = closed(frame, context)?;
        let target = JsObject::from_proto_and_data(None, FrameWindow { frame, global: None, closed });
        let proxy = exotic::wrap_target(target.clone(), &WINDOW, context)?;
        of(context).borrow_mut().frames.proxies.insert(frame, (proxy.clone(), target));
        Ok(proxy)
    })
}

/// Makes the frame's proxy forward to the current realm's global object.
pub(in crate::web) fn pass_on_to_here(frame: NodeId, context: &mut Context) {
    let global = context.global_object();
    let known = of(context).borrow().frames.proxies.get(&frame).cloned();
    let Some((proxy, target)) = known else { return };
    if let Some(mut data) = target.downcast_mut::<FrameWindow>() {
        data.global = Some(global.clone());
    }
    target::stands_for(proxy, global, context);
}

/// The visible part of a cross-origin window (HTML §7.2.1.3 "CrossOriginProperties").
fn closed(frame: NodeId, context: &mut Context) -> JsResult<JsObject> {
    let object = JsObject::with_object_proto(context.intrinsics());
    let methods: &[bind::Method] =
        &[("postMessage", 1, nothing), ("focus", 0, nothing), ("blur", 0, nothing), ("close", 0, nothing)];
    bind::methods(&object, methods, context)?;
    let go = boa_engine::NativeFunction::from_copy_closure(move |_, args, context| go(frame, args, context));
    let location = JsObject::with_object_proto(context.intrinsics());
    let nowhere = boa_engine::NativeFunction::from_copy_closure(|_, _, _| Ok(JsValue::undefined()));
    bind::accessor(&location, "href", nowhere.clone(), Some(go.clone()), context)?;
    for name in ["assign", "replace"] {
        let method = go.clone().to_js_function(context.realm());
        bind::hidden(&location, js_string!(name), method.into(), true, context)?;
    }
    let get = boa_engine::NativeFunction::from_copy_closure_with_captures(
        |_, _, location: &JsObject, _| Ok(location.clone().into()),
        location,
    );
    bind::accessor(&object, "location", get, Some(go), context)?;
    let own = move |context: &mut Context| proxy_of(frame, context).map(JsValue::from);
    for name in ["window", "self", "frames"] {
        let get = boa_engine::NativeFunction::from_copy_closure(move |_, _, context| own(context));
        bind::accessor(&object, name, get, None, context)?;
    }
    let parent = boa_engine::NativeFunction::from_copy_closure(move |_, _, context| parent_of(frame, context));
    bind::accessor(&object, "parent", parent, None, context)?;
    for (name, value) in [
        ("top", JsValue::from(context.global_object())),
        ("length", 0.into()),
        ("closed", false.into()),
        ("document", JsValue::null()),
        ("opener", JsValue::null()),
    ] {
        let property = PropertyDescriptor::builder().value(value).enumerable(true).configurable(true);
        object.define_property_or_throw(js_string!(name), property, context)?;
    }
    Ok(object)
}

fn nothing(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(JsValue::undefined())
}

fn go(frame: NodeId, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let address = args.get_or_undefined(0).to_string(context)?.to_std_string_lossy();
    let caller = realm::of_caller(context);
    let base = realm::within(&caller, context, |context| document::base_url(own_document(context), context));
    if let Ok(url) = base.join(address.trim()) {
        navigate(frame, url, context);
    }
    Ok(JsValue::undefined())
}

/// The window of the document that contains a frame; `null` once the frame is gone.
///
/// # Errors
/// None that a page could cause.
pub(in crate::web) fn parent_of(frame: NodeId, context: &mut Context) -> JsResult<JsValue> {
    let around = {
        let web = of(context);
        let web = web.borrow();
        if !web.frames.documents.contains_key(&frame) {
            return Ok(JsValue::null());
        }
        web.tree.document_of(frame)
    };
    match super::frame_of(around, context) {
        Some(outer) => proxy_of(outer, context).map(JsValue::from),
        None => Ok(realm::in_page(context, |context| realm::window(context)).into()),
    }
}

/// The object to which a trap forwards, from its first argument.
fn through(args: &[JsValue], context: &mut Context) -> JsResult<JsObject> {
    let target = args.get_or_undefined(0).as_object().and_then(|object| object.downcast::<FrameWindow>().ok());
    let target = target.ok_or_else(|| bind::type_error("Illegal invocation"))?;
    let frame = target.borrow().data().frame;
    let (is_there, is_shown) = {
        let web = of(context);
        let web = web.borrow();
        let shown = web.frames.documents.get(&frame);
        (shown.is_some(), shown.is_some_and(|shown| shown.same_origin))
    };
    if is_shown {
        open_window(frame, context);
    }
    let target = target.borrow();
    let data = target.data();
    let is_open = is_shown || !is_there;
    Ok(data.global.clone().filter(|_| is_open).unwrap_or_else(|| data.closed.clone()))
}

fn key(args: &[JsValue], context: &mut Context) -> JsResult<PropertyKey> {
    args.get_or_undefined(1).to_property_key(context)
}

fn get(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (through, key) = (through(args, context)?, key(args, context)?);
    exotic::reflect_get(through, key, args.get_or_undefined(2).clone(), context)
}

fn set(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (through, key) = (through(args, context)?, key(args, context)?);
    through.set(key, args.get_or_undefined(2).clone(), false, context).map(JsValue::from)
}

fn has(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (through, key) = (through(args, context)?, key(args, context)?);
    through.has_property(key, context).map(JsValue::from)
}

fn delete(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (through, key) = (through(args, context)?, key(args, context)?);
    Ok(through.delete_property_or_throw(key, context).unwrap_or(false).into())
}

fn own_keys(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let keys = through(args, context)?.own_property_keys(context)?;
    Ok(bind::array(keys.into_iter().map(JsValue::from), context))
}

/// A non-configurable property is reported as configurable: a proxy may report otherwise only for properties of its own target.
fn own_descriptor(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (through, key) = (through(args, context)?, key(args, context)?);
    let told = exotic::own_descriptor_of(&through, &key, context)?;
    if let Some(descriptor) = told.as_object() {
        descriptor.set(js_string!("configurable"), true, false, context)?;
    }
    Ok(told)
}

fn define(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (through, key) = (through(args, context)?, key(args, context)?);
    let descriptor = args.get_or_undefined(2).as_object().ok_or_else(|| bind::type_error("no descriptor"))?;
    let descriptor = descriptor.to_property_descriptor(context)?;
    Ok(through.define_property_or_throw(key, descriptor, context).unwrap_or(false).into())
}

fn prototype(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    Ok(through(args, context)?.prototype().map_or_else(JsValue::null, JsValue::from))
}

/// The frame that a link's or form's target names, from the current window (HTML §7.3.1.2).
pub(in crate::web) enum Target {
    /// The window itself.
    Own,
    Frame(NodeId),
    /// The page, from one of its frames.
    Page,
    /// A new window.
    New,
}

/// Resolves a target name in the current window.
pub(in crate::web) fn chosen(name: &str, context: &Context) -> Target {
    let is = |word: &str| name.eq_ignore_ascii_case(word);
    let own = windows::own_frame(context);
    if name.is_empty() || is("_self") || own.is_none() && (is("_top") || is("_parent")) {
        return Target::Own;
    }
    if is("_top") {
        return Target::Page;
    }
    if is("_parent") {
        let around = own.map(|frame| super::read(context, |tree| tree.document_of(frame)));
        return around.and_then(|document| super::frame_of(document, context)).map_or(Target::Page, Target::Frame);
    }
    named_target(name, context).map_or(Target::New, Target::Frame)
}

//! Images and media (HTML §4.8) as empty elements. Nothing is fetched or played: an image is complete without a size, and media never
//! start.

use boa_engine::object::builtins::JsPromise;
use boa_engine::{Context, Finalize, JsArgs, JsData, JsResult, JsValue, Trace, js_string};
use html5ever::{LocalName, QualName, ns};

use super::element::is_called;
use super::reflect::{self, set_flag, set_text};
use super::{link, select, state};
use crate::dom::{Error, NodeId, Tree};
use crate::engine::{bind, exception};
use crate::web::{canvas, change, own_document, read, slot, this_element, wrap, wrap_or_null};

/// Time ranges of media; always empty.
#[derive(Trace, Finalize, JsData)]
struct TimeRanges;

const IMAGE: &[bind::Attribute] = &[
    ("complete", |this, _, context| this_element(this, context).map(|_| true.into()), None),
    ("naturalWidth", nothing, None),
    ("naturalHeight", nothing, None),
    (
        "currentSrc",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(bind::js(&reflect::url(id, "src", false, context)))
        },
        None,
    ),
    ("x", nothing, None),
    ("y", nothing, None),
];

const MEDIA_METHODS: &[bind::Method] = &[
    ("load", 0, |this, _, context| this_element(this, context).map(|_| JsValue::undefined())),
    ("pause", 0, |this, _, context| this_element(this, context).map(|_| JsValue::undefined())),
    ("canPlayType", 1, |this, args, context| {
        this_element(this, context)?;
        bind::want(args, 1, "canPlayType' on 'HTMLMediaElement")?;
        Ok(bind::js(""))
    }),
    ("play", 0, |this, _, context| {
        this_element(this, context)?;
        // As in a page that the user has not interacted with yet.
        let message = "play() failed because the user didn't interact with the document first.";
        let refusal = exception::error("NotAllowedError", message, context);
        Ok(JsPromise::reject(refusal, context)?.into())
    }),
    ("fastSeek", 1, |this, _, context| this_element(this, context).map(|_| JsValue::undefined())),
];

const MEDIA: &[bind::Attribute] = &[
    ("error", |_, _, _| Ok(JsValue::null()), None),
    (
        "currentSrc",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(bind::js(&reflect::url(id, "src", false, context)))
        },
        None,
    ),
    ("networkState", nothing, None),
    ("readyState", nothing, None),
    ("seeking", |_, _, _| Ok(false.into()), None),
    ("currentTime", nothing, Some(|_, _, _| Ok(JsValue::undefined()))),
    ("duration", |_, _, _| Ok(f64::NAN.into()), None),
    ("paused", |_, _, _| Ok(true.into()), None),
    ("ended", |_, _, _| Ok(false.into()), None),
    ("buffered", ranges, None),
    ("played", ranges, None),
    ("seekable", ranges, None),
    ("volume", |_, _, _| Ok(1.into()), Some(|_, _, _| Ok(JsValue::undefined()))),
    ("playbackRate", |_, _, _| Ok(1.into()), Some(|_, _, _| Ok(JsValue::undefined()))),
    ("defaultPlaybackRate", |_, _, _| Ok(1.into()), Some(|_, _, _| Ok(JsValue::undefined()))),
    (
        "muted",
        |this, _, context| {
            let id = this_element(this, context)?;
            let own = state(context).borrow().muted.get(&id).copied();
            Ok(own.unwrap_or_else(|| read(context, |tree| reflect::has(tree, id, "muted"))).into())
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let on = args.get_or_undefined(0).to_boolean();
            state(context).borrow_mut().muted.insert(id, on);
            Ok(JsValue::undefined())
        }),
    ),
];

const OUTPUT: &[bind::Attribute] = &[
    ("type", |_, _, _| Ok(bind::js("output")), None),
    (
        "value",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(bind::js(&read(context, |tree| tree.text_content(id).unwrap_or_default())))
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let value = bind::text(args, 0, context)?;
            let before = read(context, |tree| tree.text_content(id).unwrap_or_default());
            state(context).borrow_mut().outputs.entry(id).or_insert(before);
            change(context, |tree| tree.set_text_content(id, &value)).map(|()| JsValue::undefined())
        }),
    ),
    (
        "defaultValue",
        |this, _, context| {
            let id = this_element(this, context)?;
            if let Some(own) = state(context).borrow().outputs.get(&id) {
                return Ok(bind::js(own));
            }
            Ok(bind::js(&read(context, |tree| tree.text_content(id).unwrap_or_default())))
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let value = bind::text(args, 0, context)?;
            let shared = state(context);
            if let Some(own) = shared.borrow_mut().outputs.get_mut(&id) {
                *own = value;
                return Ok(JsValue::undefined());
            }
            change(context, |tree| tree.set_text_content(id, &value)).map(|()| JsValue::undefined())
        }),
    ),
];

const SCRIPT: &[bind::Attribute] = &[(
    "text",
    |this, _, context| {
        let id = this_element(this, context)?;
        Ok(bind::js(&read(context, |tree| tree.child_text(id))))
    },
    link::TEXT.2,
)];

const TEMPLATE: bind::Attribute = (
    "content",
    |this, _, context| {
        let id = this_element(this, context)?;
        let contents = read(context, |tree| tree.element(id).and_then(|element| element.template_contents()));
        wrap_or_null(contents, context)
    },
    None,
);

/// `disabled` of links and styles: the attribute of a link, the sheet's state of a style.
const LINK_DISABLED: bind::Attribute = (
    "disabled",
    |this, _, context| {
        let id = this_element(this, context)?;
        Ok(read(context, |tree| is_called(tree, id, &["link"]) && reflect::has(tree, id, "disabled")).into())
    },
    Some(|this, args, context| {
        let id = this_element(this, context)?;
        let on = args.get_or_undefined(0).to_boolean();
        if read(context, |tree| is_called(tree, id, &["link"])) {
            set_flag(id, "disabled", on, context)?;
        }
        Ok(JsValue::undefined())
    }),
);

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let ranges = bind::Interface {
        name: "TimeRanges",
        attributes: &[("length", nothing, None)],
        methods: &[("start", 1, out_of_range), ("end", 1, out_of_range)],
        ..bind::Interface::EMPTY
    };
    bind::define(&ranges, context)?;
    let rows: [(&str, &[bind::Method], &[bind::Attribute]); 11] = [
        ("HTMLImageElement", &[("decode", 0, decode)], IMAGE),
        ("HTMLMediaElement", MEDIA_METHODS, MEDIA),
        ("HTMLVideoElement", &[], &[("videoWidth", nothing, None), ("videoHeight", nothing, None)]),
        ("HTMLCanvasElement", canvas::CANVAS, &[]),
        ("HTMLOutputElement", &[], OUTPUT),
        ("HTMLScriptElement", &[], SCRIPT),
        ("HTMLTitleElement", &[], SCRIPT),
        ("HTMLTemplateElement", &[], &[TEMPLATE]),
        ("HTMLLinkElement", &[], &[LINK_DISABLED]),
        ("HTMLStyleElement", &[], &[LINK_DISABLED]),
        (
            "HTMLMapElement",
            &[],
            &[super::tables::list!("areas", |tree, id| {
                tree.descendants(id).filter(|one| is_called(tree, *one, &["area"])).collect()
            })],
        ),
    ];
    for (name, methods, attributes) in rows {
        let prototype = bind::prototype(name, context)?;
        bind::methods(&prototype, methods, context)?;
        bind::attributes(&prototype, attributes, context)?;
    }
    let constants = [
        ("NETWORK_EMPTY", 0),
        ("NETWORK_IDLE", 1),
        ("NETWORK_LOADING", 2),
        ("NETWORK_NO_SOURCE", 3),
        ("HAVE_NOTHING", 0),
        ("HAVE_METADATA", 1),
        ("HAVE_CURRENT_DATA", 2),
        ("HAVE_FUTURE_DATA", 3),
        ("HAVE_ENOUGH_DATA", 4),
    ];
    bind::constants("HTMLMediaElement", &constants, context)?;
    constructor("Image", "HTMLImageElement", 0, image, context)?;
    constructor("Option", "HTMLOptionElement", 0, |_, args, context| select::construct(args, context), context)?;
    constructor("Audio", "HTMLAudioElement", 0, audio, context)
}

/// A legacy factory function with the prototype of its interface (WebIDL "legacy factory function").
fn constructor(
    name: &'static str,
    interface: &'static str,
    length: usize,
    body: boa_engine::native_function::NativeFunctionPointer,
    context: &mut Context,
) -> JsResult<()> {
    use boa_engine::object::FunctionObjectBuilder;
    let prototype = bind::prototype(interface, context)?;
    let function: boa_engine::JsObject =
        FunctionObjectBuilder::new(context.realm(), boa_engine::NativeFunction::from_fn_ptr(body))
            .name(js_string!(name))
            .length(length)
            .constructor(true)
            .build()
            .into();
    let fixed = boa_engine::property::PropertyDescriptor::builder()
        .value(prototype)
        .writable(false)
        .enumerable(false)
        .configurable(false);
    function.define_property_or_throw(js_string!("prototype"), fixed, context)?;
    let global = context.global_object();
    let hidden = boa_engine::property::PropertyDescriptor::builder()
        .value(function)
        .writable(true)
        .enumerable(false)
        .configurable(true);
    global.define_property_or_throw(js_string!(name), hidden, context).map(drop)
}

fn make(local: &'static str, context: &mut Context) -> JsResult<NodeId> {
    let document = own_document(context);
    change(context, |tree: &mut Tree| -> Result<NodeId, Error> {
        tree.create_element(document, QualName::new(None, ns!(html), LocalName::from(local)), Vec::new())
    })
}

fn new_only(new_target: &JsValue, name: &str) -> JsResult<()> {
    if new_target.is_undefined() {
        return Err(bind::type_error(format!("Failed to construct '{name}': Please use the 'new' operator")));
    }
    Ok(())
}

/// `new Image(width, height)`.
fn image(new_target: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    new_only(new_target, "Image")?;
    let mut sizes = Vec::new();
    for (place, name) in ["width", "height"].into_iter().enumerate() {
        if !args.get_or_undefined(place).is_undefined() {
            sizes.push((name, args[place].to_u32(context)?.to_string()));
        }
    }
    let id = make("img", context)?;
    for (name, value) in sizes {
        set_text(id, name, &value, context)?;
    }
    wrap(id, context).map(JsValue::from)
}

/// `new Audio(src)`.
fn audio(new_target: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    new_only(new_target, "Audio")?;
    let source = bind::text_if_given(args, 0, context)?;
    let id = make("audio", context)?;
    set_text(id, "preload", "auto", context)?;
    if let Some(source) = source {
        set_text(id, "src", &source, context)?;
    }
    wrap(id, context).map(JsValue::from)
}

fn nothing(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(0.into())
}

fn out_of_range(_: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    Err(crate::web::thrown(Error::IndexSize, context))
}

fn ranges(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let id = this_element(this, context)?;
    slot(id, "ranges", context, |context| bind::object("TimeRanges", TimeRanges, context)).map(JsValue::from)
}

fn decode(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    this_element(this, context)?;
    Ok(JsPromise::resolve(JsValue::undefined(), context)?.into())
}

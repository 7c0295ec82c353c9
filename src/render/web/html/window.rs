//! Members of `window` besides its document: its size and scroll position, dialogs that return at once, media queries, the navigator and
//! the screen (HTML §7.2, CSSOM View §4).

use std::cell::RefCell;

use boa_engine::property::PropertyDescriptor;
use boa_engine::{Context, Finalize, JsArgs, JsData, JsError, JsObject, JsResult, JsValue, Trace, js_string};

use super::{frames, navigation, windows};
use crate::engine::target::{self, Listeners, Target, TargetKind};
use crate::engine::{bind, realm, report};
use crate::web::cssom_view::{layout, media};
use crate::web::missing;
use crate::web::webidl::exotic::{self, Computed, Kind, computed};
use crate::wire::Viewport;

/// The natives' handle of the viewport.
pub(crate) struct View(pub RefCell<Viewport>);

/// The viewport of a context.
pub fn viewport(context: &Context) -> Viewport {
    context.get_data::<View>().map(|view| *view.0.borrow()).unwrap_or_default()
}

const METHODS: &[bind::Method] = &[
    ("alert", 0, |_, args, context| words(args, context).map(|()| JsValue::undefined())),
    // There is no user to confirm.
    ("confirm", 0, |_, args, context| words(args, context).map(|()| false.into())),
    ("prompt", 0, |_, args, context| words(args, context).map(|()| JsValue::null())),
    ("print", 0, nothing),
    ("stop", 0, nothing),
    ("focus", 0, nothing),
    ("blur", 0, nothing),
    ("close", 0, nothing),
    ("captureEvents", 0, nothing),
    ("releaseEvents", 0, nothing),
    ("moveTo", 0, nothing),
    ("moveBy", 0, nothing),
    ("resizeTo", 0, nothing),
    ("resizeBy", 0, nothing),
    ("open", 0, navigation::open),
    ("scroll", 0, |_, args, context| scroll(args, false, context)),
    ("scrollTo", 0, |_, args, context| scroll(args, false, context)),
    ("scrollBy", 0, |_, args, context| scroll(args, true, context)),
    ("matchMedia", 1, media::match_media),
    REPORT_ERROR,
];

/// `reportError` (HTML §8.1.4.6): like an exception that nobody catches.
pub(crate) const REPORT_ERROR: bind::Method = ("reportError", 1, |_, args, context| {
    bind::want(args, 1, "reportError' on 'Window")?;
    report::exception(JsError::from_opaque(args[0].clone()), context);
    Ok(JsValue::undefined())
});

/// A number that depends on the viewport.
macro_rules! measure {
    ($name:literal, $of:expr) => {
        (
            $name,
            |_, _, context| {
                let of: fn(Viewport) -> f64 = $of;
                Ok(of(viewport(context)).into())
            },
            None,
        )
    };
}

/// A constant number.
macro_rules! constant {
    ($name:literal, $value:expr) => {
        ($name, |_, _, _| Ok($value.into()), None)
    };
}

/// Attributes that a page may replace with its own value (WebIDL [Replaceable]).
const REPLACEABLE: &[bind::Attribute] = &[
    measure!("innerWidth", |view| view.width),
    measure!("innerHeight", |view| view.height),
    measure!("outerWidth", |view| view.width),
    measure!("outerHeight", |view| view.height + 80.0),
    constant!("screenX", 0),
    constant!("screenY", 0),
    constant!("screenLeft", 0),
    constant!("screenTop", 0),
    constant!("devicePixelRatio", 1),
    ("scrollX", |_, _, context| Ok(layout::scroll(context).0.into()), None),
    ("scrollY", |_, _, context| Ok(layout::scroll(context).1.into()), None),
    ("pageXOffset", |_, _, context| Ok(layout::scroll(context).0.into()), None),
    ("pageYOffset", |_, _, context| Ok(layout::scroll(context).1.into()), None),
    ("parent", parent, None),
    ("length", |_, _, context| Ok(frames::count(context).into()), None),
    ("origin", |_, _, context| Ok(bind::js(&realm::base(context).origin().ascii_serialization())), None),
];

const ATTRIBUTES: &[bind::Attribute] = &[
    ("closed", |_, _, context| Ok((!realm::is_open(context)).into()), None),
    constant!("isSecureContext", true),
    constant!("crossOriginIsolated", false),
    (
        "frameElement",
        |_, _, context| {
            let frame = windows::own_frame(context).filter(|_| realm::is_open(context));
            crate::web::wrap_or_null(frame, context)
        },
        None,
    ),
    ("navigator", |_, _, context| singleton(context, |own| &own.navigator), None),
    ("clientInformation", |_, _, context| singleton(context, |own| &own.navigator), None),
    ("screen", |_, _, context| singleton(context, |own| &own.screen), None),
    ("visualViewport", |_, _, context| singleton(context, |own| &own.visual), None),
];

/// A plain writable property.
const PLAIN: &[(&str, &str)] = &[("name", ""), ("status", ""), ("defaultStatus", "")];

pub(crate) const NAVIGATOR: bind::Interface = bind::Interface {
    name: "Navigator",
    methods: &[
        ("javaEnabled", 0, |_, _, _| Ok(false.into())),
        ("sendBeacon", 1, |_, _, _| Ok(true.into())),
        ("vibrate", 1, |_, _, _| Ok(true.into())),
        ("taintEnabled", 0, |_, _, _| Ok(false.into())),
    ],
    attributes: &[
        ("userAgent", |_, _, _| Ok(bind::js(USER_AGENT)), None),
        ("appVersion", |_, _, _| Ok(bind::js(&USER_AGENT["Mozilla/".len()..])), None),
        ("appName", |_, _, _| Ok(bind::js("Netscape")), None),
        ("appCodeName", |_, _, _| Ok(bind::js("Mozilla")), None),
        ("product", |_, _, _| Ok(bind::js("Gecko")), None),
        ("productSub", |_, _, _| Ok(bind::js("20030107")), None),
        ("vendor", |_, _, _| Ok(bind::js("Google Inc.")), None),
        ("vendorSub", |_, _, _| Ok(bind::js("")), None),
        ("platform", |_, _, _| Ok(bind::js("Linux x86_64")), None),
        ("language", |_, _, _| Ok(bind::js(LANGUAGES[0])), None),
        ("languages", |_, _, context| Ok(bind::array(LANGUAGES.iter().map(|one| bind::js(one)), context)), None),
        ("onLine", |_, _, _| Ok(true.into()), None),
        ("cookieEnabled", |_, _, _| Ok(true.into()), None),
        ("webdriver", |_, _, _| Ok(false.into()), None),
        ("pdfViewerEnabled", |_, _, _| Ok(false.into()), None),
        ("doNotTrack", |_, _, _| Ok(JsValue::null()), None),
        ("hardwareConcurrency", |_, _, _| Ok(4.into()), None),
        ("deviceMemory", |_, _, _| Ok(8.into()), None),
        ("maxTouchPoints", |_, _, _| Ok(0.into()), None),
        ("plugins", |_, _, context| Ok(bind::array([], context)), None),
        ("mimeTypes", |_, _, context| Ok(bind::array([], context)), None),
    ],
    ..bind::Interface::EMPTY
};

/// It has no service workers: a page whose content comes from one lacks it.
static SERVICE_WORKERS: Kind = computed!(Computed {
    named: |_, name, context| {
        if *name == js_string!("serviceWorker") {
            missing::touched("serviceWorker", context);
        }
        Ok(None)
    },
    ..Computed::EMPTY
});

/// Pages that check for a browser find the one that our links are compared with. The user agent sent to servers is unrelated.
const USER_AGENT: &str =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";

const LANGUAGES: [&str; 2] = ["en-US", "en"];

const SCREEN: bind::Interface = bind::Interface {
    name: "Screen",
    attributes: &[
        constant!("width", 1280),
        constant!("height", 800),
        constant!("availWidth", 1280),
        constant!("availHeight", 800),
        constant!("availLeft", 0),
        constant!("availTop", 0),
        constant!("colorDepth", 24),
        constant!("pixelDepth", 24),
    ],
    ..bind::Interface::EMPTY
};

const VISUAL_VIEWPORT: bind::Interface = bind::Interface {
    name: "VisualViewport",
    parent: Some("EventTarget"),
    attributes: &[
        measure!("width", |view| view.width),
        measure!("height", |view| view.height),
        constant!("offsetLeft", 0),
        constant!("offsetTop", 0),
        ("pageLeft", |_, _, context| Ok(layout::scroll(context).0.into()), None),
        ("pageTop", |_, _, context| Ok(layout::scroll(context).1.into()), None),
        constant!("scale", 1),
    ],
    ..bind::Interface::EMPTY
};

/// A window's object that is an event target without other state.
#[derive(Default, Trace, Finalize, JsData)]
pub(crate) struct Quiet {
    listeners: Listeners,
}

impl Target for Quiet {
    fn listeners(&mut self) -> &mut Listeners {
        &mut self.listeners
    }
}

/// Objects that exist once per window.
struct WindowObjects {
    navigator: JsObject,
    screen: JsObject,
    visual: JsObject,
}

pub(crate) fn install(view: Viewport, context: &mut Context) -> JsResult<()> {
    target::register(TargetKind::of::<Quiet>(|_, _, _| None), context);
    for interface in [&NAVIGATOR, &SCREEN, &VISUAL_VIEWPORT] {
        bind::define(interface, context)?;
    }
    let own = WindowObjects {
        navigator: exotic::object("Navigator", (), &SERVICE_WORKERS, context)?,
        screen: bind::object("Screen", (), context)?,
        visual: bind::object("VisualViewport", Quiet::default(), context)?,
    };
    realm::keep(own, context);
    realm::share(|| View(RefCell::new(view)), context);
    let global = context.global_object();
    bind::methods(&global, METHODS, context)?;
    bind::attributes(&global, ATTRIBUTES, context)?;
    for (name, get, _) in REPLACEABLE {
        let set = move |value: JsValue, context: &mut Context| {
            let property =
                PropertyDescriptor::builder().value(value).writable(true).enumerable(true).configurable(true);
            context.global_object().define_property_or_throw(js_string!(*name), property, context)
        };
        let set = boa_engine::NativeFunction::from_copy_closure(move |_, args, context| {
            set(args.get_or_undefined(0).clone(), context).map(|_| JsValue::undefined())
        });
        let property = PropertyDescriptor::builder()
            .get(bind::function(name, 0, *get, context))
            .set(set.to_js_function(context.realm()))
            .enumerable(true)
            .configurable(true);
        global.define_property_or_throw(js_string!(*name), property, context)?;
    }
    // `top` is always the page's window; `opener` is null.
    let top = realm::in_page(context, |context| realm::window(context));
    let property = PropertyDescriptor::builder().value(top).writable(false).enumerable(true);
    global.define_property_or_throw(js_string!("top"), property.configurable(false), context)?;
    global.create_data_property_or_throw(js_string!("opener"), JsValue::null(), context)?;
    for (name, value) in PLAIN {
        global.create_data_property_or_throw(js_string!(*name), js_string!(*value), context)?;
    }
    for bar in ["locationbar", "menubar", "personalbar", "scrollbars", "statusbar", "toolbar"] {
        let object = JsObject::with_object_proto(context.intrinsics());
        object.create_data_property_or_throw(js_string!("visible"), true, context)?;
        global.create_data_property_or_throw(js_string!(bar), object, context)?;
    }
    Ok(())
}

fn nothing(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(JsValue::undefined())
}

fn parent(_: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    match windows::own_frame(context) {
        Some(frame) => frames::window::parent_of(frame, context),
        None => Ok(realm::window(context).into()),
    }
}

fn singleton(context: &Context, which: fn(&WindowObjects) -> &JsObject) -> JsResult<JsValue> {
    Ok(realm::own::<WindowObjects>(context).map_or_else(JsValue::null, |own| which(&own).clone().into()))
}

/// The text of a dialog is shown to nobody, but still converted.
fn words(args: &[JsValue], context: &mut Context) -> JsResult<()> {
    bind::text_if_given(args, 0, context).map(drop)
}

/// The target of `scrollTo` or `scrollBy`: two numbers, or a dictionary (CSSOM View §4 "normalize non-finite values").
pub(crate) fn wanted(args: &[JsValue], (x, y): (f64, f64), by: bool, context: &mut Context) -> JsResult<(f64, f64)> {
    let finite = |number: f64| if number.is_finite() { number } else { 0.0 };
    let (left, top) = if args.len() >= 2 {
        (Some(args[0].to_number(context)?), Some(args[1].to_number(context)?))
    } else {
        let options = args.get_or_undefined(0);
        let mut number = |name| match bind::member(options, name, context)? {
            Some(value) => value.to_number(context).map(Some),
            None => Ok(None),
        };
        (number("left")?, number("top")?)
    };
    let along = |given: Option<f64>, now: f64| match given.map(finite) {
        Some(number) if by => now + number,
        Some(number) => number,
        None => now,
    };
    Ok((along(left, x), along(top, y)))
}

fn scroll(args: &[JsValue], by: bool, context: &mut Context) -> JsResult<JsValue> {
    let (x, y) = wanted(args, layout::scroll(context), by, context)?;
    layout::scroll_to(x, y, context);
    Ok(JsValue::undefined())
}

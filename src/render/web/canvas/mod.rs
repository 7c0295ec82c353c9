//! The 2D context of a canvas (HTML §4.12.5.1), which draws nothing: it takes all calls, keeps what is set, measures text by its length,
//! and every pixel of it stays transparent.

use std::cell::Cell;
use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use boa_engine::object::builtins::{JsArrayBuffer, JsUint8ClampedArray};
use boa_engine::{
    Context, Finalize, JsArgs, JsData, JsNativeError, JsObject, JsResult, JsValue, NativeFunction, Trace, js_string,
};

use crate::dom::NodeId;
use crate::engine::{bind, blob, exception, jobs, realm};
use crate::limits;
use crate::web::html::reflect::unsigned;
use crate::web::{read, slot, this_element, wrap};

/// What a script has set, and what `save` has put aside.
#[derive(Trace, Finalize, JsData)]
struct Drawing {
    #[unsafe_ignore_trace]
    canvas: NodeId,
    set: HashMap<&'static str, JsValue>,
    saved: Vec<HashMap<&'static str, JsValue>>,
    dashes: Vec<JsValue>,
}

/// A path, a gradient or a pattern: a script can only hand it on.
#[derive(Trace, Finalize, JsData)]
struct Stroke;

#[derive(Trace, Finalize, JsData)]
struct ImageData {
    #[unsafe_ignore_trace]
    width: u32,
    #[unsafe_ignore_trace]
    height: u32,
    data: JsObject,
}

/// Attributes, and their values before a script sets them.
enum Initial {
    Text(&'static str),
    Number(f64),
    True,
}

use Initial::{Number, Text, True};

const STATE: &[(&str, Initial)] = &[
    ("direction", Text("ltr")),
    ("fillStyle", Text("#000000")),
    ("filter", Text("none")),
    ("font", Text("10px sans-serif")),
    ("fontKerning", Text("auto")),
    ("fontStretch", Text("normal")),
    ("fontVariantCaps", Text("normal")),
    ("globalAlpha", Number(1.0)),
    ("globalCompositeOperation", Text("source-over")),
    ("imageSmoothingEnabled", True),
    ("imageSmoothingQuality", Text("low")),
    ("letterSpacing", Text("0px")),
    ("lineCap", Text("butt")),
    ("lineDashOffset", Number(0.0)),
    ("lineJoin", Text("miter")),
    ("lineWidth", Number(1.0)),
    ("miterLimit", Number(10.0)),
    ("shadowBlur", Number(0.0)),
    ("shadowColor", Text("rgba(0, 0, 0, 0)")),
    ("shadowOffsetX", Number(0.0)),
    ("shadowOffsetY", Number(0.0)),
    ("strokeStyle", Text("#000000")),
    ("textAlign", Text("start")),
    ("textBaseline", Text("alphabetic")),
    ("textRendering", Text("auto")),
    ("wordSpacing", Text("0px")),
];

/// Calls without an effect that a script could see.
const QUIET: &[bind::Method] = &[
    ("beginPath", 0, nothing),
    ("clearRect", 4, nothing),
    ("clip", 0, nothing),
    ("drawFocusIfNeeded", 1, nothing),
    ("drawImage", 3, nothing),
    ("fill", 0, nothing),
    ("fillRect", 4, nothing),
    ("fillText", 3, nothing),
    ("putImageData", 3, nothing),
    ("resetTransform", 0, nothing),
    ("rotate", 1, nothing),
    ("scale", 2, nothing),
    ("setTransform", 0, nothing),
    ("stroke", 0, nothing),
    ("strokeRect", 4, nothing),
    ("strokeText", 3, nothing),
    ("transform", 6, nothing),
    ("translate", 2, nothing),
];

/// `CanvasPath` and `addPath`, which `Path2D` has.
const PATH: &[bind::Method] = &[
    ("addPath", 1, nothing),
    ("arc", 5, nothing),
    ("arcTo", 5, nothing),
    ("bezierCurveTo", 6, nothing),
    ("closePath", 0, nothing),
    ("ellipse", 7, nothing),
    ("lineTo", 2, nothing),
    ("moveTo", 2, nothing),
    ("quadraticCurveTo", 4, nothing),
    ("rect", 4, nothing),
    ("roundRect", 4, nothing),
];

const METHODS: &[bind::Method] = &[
    ("save", 0, |this, _, _| {
        let drawing = bind::this::<Drawing>(this)?;
        let mut drawing = drawing.borrow_mut();
        let drawing = drawing.data_mut();
        if drawing.saved.len() < limits::CANVAS_STATES_MAX {
            drawing.saved.push(drawing.set.clone());
        }
        Ok(JsValue::undefined())
    }),
    ("restore", 0, |this, _, _| {
        let drawing = bind::this::<Drawing>(this)?;
        let mut drawing = drawing.borrow_mut();
        let drawing = drawing.data_mut();
        if let Some(saved) = drawing.saved.pop() {
            drawing.set = saved;
        }
        Ok(JsValue::undefined())
    }),
    ("reset", 0, |this, _, _| {
        let drawing = bind::this::<Drawing>(this)?;
        let mut drawing = drawing.borrow_mut();
        let drawing = drawing.data_mut();
        (drawing.set, drawing.saved, drawing.dashes) = (HashMap::new(), Vec::new(), Vec::new());
        Ok(JsValue::undefined())
    }),
    ("isContextLost", 0, |_, _, _| Ok(false.into())),
    ("isPointInPath", 2, |_, _, _| Ok(false.into())),
    ("isPointInStroke", 2, |_, _, _| Ok(false.into())),
    ("createLinearGradient", 4, |_, _, context| stroke("CanvasGradient", context)),
    ("createRadialGradient", 6, |_, _, context| stroke("CanvasGradient", context)),
    ("createConicGradient", 3, |_, _, context| stroke("CanvasGradient", context)),
    ("createPattern", 2, |_, _, context| stroke("CanvasPattern", context)),
    ("getContextAttributes", 0, |_, _, context| {
        let told = JsObject::with_object_proto(context.intrinsics());
        for (name, value) in [("alpha", true), ("desynchronized", false), ("willReadFrequently", false)] {
            told.create_data_property_or_throw(js_string!(name), value, context)?;
        }
        told.create_data_property_or_throw(js_string!("colorSpace"), js_string!("srgb"), context)?;
        Ok(told.into())
    }),
    ("getLineDash", 0, |this, _, context| {
        let dashes = bind::this::<Drawing>(this)?.borrow().data().dashes.clone();
        Ok(bind::array(dashes, context))
    }),
    ("setLineDash", 1, |this, args, context| {
        let drawing = bind::this::<Drawing>(this)?;
        let list = args.get_or_undefined(0).as_object();
        let list = list.ok_or_else(|| bind::type_error("The provided value cannot be converted to a sequence."))?;
        let dashes = bind::values(&list, limits::PAIRS_MAX, context)?;
        drawing.borrow_mut().data_mut().dashes = dashes;
        Ok(JsValue::undefined())
    }),
    ("measureText", 1, measure_text),
    ("getImageData", 4, |_, args, context| {
        let (width, height) = (args.get_or_undefined(2).to_i32(context)?, args.get_or_undefined(3).to_i32(context)?);
        image_data(width.unsigned_abs(), height.unsigned_abs(), None, context)
    }),
    ("createImageData", 1, |_, args, context| {
        let given = args.get_or_undefined(0).as_object();
        let size = given.and_then(|one| one.downcast_ref::<ImageData>().map(|data| (data.width, data.height)));
        let (width, height) = match size {
            Some(size) => size,
            None => {
                let mut size = |place| args.get_or_undefined(place).to_i32(context).map(i32::unsigned_abs);
                (size(0)?, size(1)?)
            }
        };
        image_data(width, height, None, context)
    }),
];

const ATTRIBUTES: &[bind::Attribute] = &[(
    "canvas",
    |this, _, context| {
        let canvas = bind::this::<Drawing>(this)?.borrow().data().canvas;
        wrap(canvas, context).map(JsValue::from)
    },
    None,
)];

const IMAGE_DATA: bind::Interface = bind::Interface {
    name: "ImageData",
    length: 2,
    constructor: Some(|new_target, args, context| {
        if new_target.is_undefined() {
            return Err(bind::type_error("Failed to construct 'ImageData': Please use the 'new' operator."));
        }
        let given = args.get_or_undefined(0).as_object();
        let own = given.filter(|one| JsUint8ClampedArray::from_object(one.clone()).is_ok());
        let mut size = |place| args.get_or_undefined(place).to_u32(context);
        match own {
            None => image_data(size(0)?, size(1)?, None, context),
            Some(own) => {
                let width = size(1)?;
                let bytes = u32::try_from(JsUint8ClampedArray::from_object(own.clone())?.length(context)?);
                let height = bytes.unwrap_or(u32::MAX) / width.max(1) / 4;
                image_data(width, height, Some(own), context)
            }
        }
    }),
    attributes: &[
        ("width", |this, _, _| Ok(bind::this::<ImageData>(this)?.borrow().data().width.into()), None),
        ("height", |this, _, _| Ok(bind::this::<ImageData>(this)?.borrow().data().height.into()), None),
        ("data", |this, _, _| Ok(bind::this::<ImageData>(this)?.borrow().data().data.clone().into()), None),
        ("colorSpace", |_, _, _| Ok(bind::js("srgb")), None),
    ],
    ..bind::Interface::EMPTY
};

const GRADIENT: bind::Interface =
    bind::Interface { name: "CanvasGradient", methods: &[("addColorStop", 2, nothing)], ..bind::Interface::EMPTY };

const PATTERN: bind::Interface =
    bind::Interface { name: "CanvasPattern", methods: &[("setTransform", 0, nothing)], ..bind::Interface::EMPTY };

const PATH_2D: bind::Interface = bind::Interface {
    name: "Path2D",
    constructor: Some(|new_target, _, context| bind::construct(new_target, "Path2D", Stroke, context)),
    methods: PATH,
    ..bind::Interface::EMPTY
};

/// What a canvas without a drawing is as an image: one transparent pixel.
const IMAGE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR4nGNgAAIAAAUAAXpeqz8AAAAASUVORK5CYII=";

pub(crate) const CANVAS: &[bind::Method] = &[
    ("getContext", 1, |this, args, context| {
        let id = this_element(this, context)?;
        bind::want(args, 1, "getContext' on 'HTMLCanvasElement")?;
        // There is no other context: pages fall back as where there is no graphics card.
        if bind::text(args, 0, context)? != "2d" {
            return Ok(JsValue::null());
        }
        complete(context)?;
        let make = |context: &mut Context| {
            let drawing = Drawing { canvas: id, set: HashMap::new(), saved: Vec::new(), dashes: Vec::new() };
            bind::object("CanvasRenderingContext2D", drawing, context)
        };
        slot(id, "context", context, make).map(JsValue::from)
    }),
    ("toDataURL", 0, |this, _, context| {
        let id = this_element(this, context)?;
        let (width, height) = size(id, context);
        if width == 0 || height == 0 {
            return Ok(bind::js("data:,"));
        }
        Ok(bind::js(&format!("data:image/png;base64,{IMAGE}")))
    }),
    ("toBlob", 1, |this, args, context| {
        this_element(this, context)?;
        if let Some(callback) = args.get_or_undefined(0).as_callable() {
            let image = STANDARD.decode(IMAGE).unwrap_or_default();
            let image = blob::object(&image, "image/png", context)?;
            jobs::post(context, 0, move |context| {
                callback.call(&JsValue::undefined(), &[image.into()], context).map(drop)
            });
        }
        Ok(JsValue::undefined())
    }),
];

/// Defines the interfaces. The members of the context wait for the first one: few pages draw.
pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    realm::keep(IsComplete::default(), context);
    for name in ["CanvasRenderingContext2D", "TextMetrics"] {
        bind::define(&bind::Interface { name, ..bind::Interface::EMPTY }, context)?;
    }
    for interface in [&GRADIENT, &PATTERN, &PATH_2D, &IMAGE_DATA] {
        bind::define(interface, context)?;
    }
    Ok(())
}

/// Whether the window's context has its members.
#[derive(Default)]
struct IsComplete(Cell<bool>);

fn complete(context: &mut Context) -> JsResult<()> {
    if realm::own::<IsComplete>(context).is_none_or(|done| done.0.replace(true)) {
        return Ok(());
    }
    let prototype = bind::prototype("CanvasRenderingContext2D", context)?;
    for methods in [METHODS, QUIET, PATH] {
        bind::methods(&prototype, methods, context)?;
    }
    bind::attributes(&prototype, ATTRIBUTES, context)?;
    for (name, initial) in STATE {
        let get = NativeFunction::from_copy_closure(move |this, _, _| {
            let drawing = bind::this::<Drawing>(this)?;
            let set = drawing.borrow().data().set.get(name).cloned();
            Ok(set.unwrap_or_else(|| match initial {
                Text(text) => bind::js(text),
                Number(number) => (*number).into(),
                True => true.into(),
            }))
        });
        let set = NativeFunction::from_copy_closure(move |this, args, context| {
            let drawing = bind::this::<Drawing>(this)?;
            let given = args.get_or_undefined(0);
            let value = match initial {
                // A gradient or a pattern stays what it is.
                Text(_) if given.is_object() => Some(given.clone()),
                Text(_) => Some(given.to_string(context)?.into()),
                Number(_) => Some(given.to_number(context)?).filter(|number| number.is_finite()).map(JsValue::from),
                True => Some(given.to_boolean().into()),
            };
            if let Some(value) = value {
                drawing.borrow_mut().data_mut().set.insert(name, value);
            }
            Ok(JsValue::undefined())
        });
        bind::accessor(&prototype, name, get, Some(set), context)?;
    }
    Ok(())
}

fn nothing(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(JsValue::undefined())
}

fn stroke(name: &'static str, context: &mut Context) -> JsResult<JsValue> {
    bind::object(name, Stroke, context).map(JsValue::from)
}

fn size(canvas: NodeId, context: &Context) -> (u32, u32) {
    read(context, |tree| {
        (unsigned(tree, canvas, "width").unwrap_or(300), unsigned(tree, canvas, "height").unwrap_or(150))
    })
}

/// Half the font's size for each character: wide enough to lay out by, and the same for each font.
fn measure_text(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let drawing = bind::this::<Drawing>(this)?;
    bind::want(args, 1, "measureText' on 'CanvasRenderingContext2D")?;
    let text = bind::text(args, 0, context)?;
    let font = drawing.borrow().data().set.get("font").cloned();
    let font = font.and_then(|font| font.as_string()).map(|font| font.to_std_string_lossy());
    let of_word = |word: &str| word.split('/').next()?.strip_suffix("px")?.parse::<f64>().ok();
    let size = font.as_deref().and_then(|font| font.split_ascii_whitespace().find_map(of_word)).unwrap_or(10.0);
    let metrics = bind::object("TextMetrics", (), context)?;
    let width = text.chars().count() as f64 * size / 2.0;
    for (name, value) in [
        ("width", width),
        ("actualBoundingBoxLeft", 0.0),
        ("actualBoundingBoxRight", width),
        ("actualBoundingBoxAscent", size * 0.75),
        ("actualBoundingBoxDescent", size * 0.25),
        ("fontBoundingBoxAscent", size),
        ("fontBoundingBoxDescent", size * 0.25),
        ("emHeightAscent", size * 0.75),
        ("emHeightDescent", size * 0.25),
        ("alphabeticBaseline", 0.0),
        ("hangingBaseline", size * 0.75),
        ("ideographicBaseline", -size * 0.25),
    ] {
        metrics.create_data_property_or_throw(js_string!(name), value, context)?;
    }
    Ok(metrics.into())
}

/// Transparent pixels, within the limit of one buffer.
fn image_data(width: u32, height: u32, data: Option<JsObject>, context: &mut Context) -> JsResult<JsValue> {
    let data = match data {
        Some(data) => data,
        None if width == 0 || height == 0 => {
            return Err(exception::error("IndexSizeError", "The source width or height is 0.", context));
        }
        None => {
            let bytes = u64::from(width).saturating_mul(u64::from(height)).saturating_mul(4);
            let bytes = usize::try_from(bytes).ok().filter(|bytes| *bytes as u64 <= limits::ARRAY_BUFFER_BYTES_MAX);
            let bytes =
                bytes.ok_or_else(|| JsNativeError::range().with_message("Out of memory at ImageData creation"))?;
            let buffer = JsArrayBuffer::new(bytes, context)?;
            JsUint8ClampedArray::from_array_buffer(buffer, context)?.into()
        }
    };
    bind::object("ImageData", ImageData { width, height, data }, context).map(JsValue::from)
}

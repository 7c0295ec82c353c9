//! Positions and sizes of elements (CSSOM View §6–7), from the rough layout: boxes, offsets, scrolling.

use boa_engine::{Context, Finalize, JsArgs, JsData, JsResult, JsValue, Trace, js_string};
use html5ever::local_name;

use super::layout::{self, ElementBox};
use super::unshown;
use crate::dom::NodeId;
use crate::engine::bind;
use crate::web::cssom::{sizes, styles};
use crate::web::dom::document;
use crate::web::html::window::{self, viewport};
use crate::web::{own_document, read, this_element, wrap_or_null};

/// A `DOMRect`.
#[derive(Clone, Trace, Finalize, JsData)]
struct Rect {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// A numeric attribute of a rectangle.
macro_rules! side {
    ($name:literal, $of:expr) => {
        (
            $name,
            |this, _, _| {
                let of: fn(&Rect) -> f64 = $of;
                Ok(of(bind::this::<Rect>(this)?.borrow().data()).into())
            },
            None,
        )
    };
}

const DOM_RECT_READ_ONLY: bind::Interface = bind::Interface {
    name: "DOMRectReadOnly",
    constructor: Some(|new_target, args, context| construct(new_target, "DOMRectReadOnly", args, context)),
    methods: &[("toJSON", 0, |this, _, context| {
        let rect = bind::this::<Rect>(this)?.borrow().data().clone();
        let object = boa_engine::JsObject::with_object_proto(context.intrinsics());
        let sides = [
            ("x", rect.x),
            ("y", rect.y),
            ("width", rect.width),
            ("height", rect.height),
            ("top", rect.y),
            ("right", rect.x + rect.width),
            ("bottom", rect.y + rect.height),
            ("left", rect.x),
        ];
        for (name, value) in sides {
            object.create_data_property_or_throw(js_string!(name), value, context)?;
        }
        Ok(object.into())
    })],
    attributes: &[
        side!("x", |rect| rect.x),
        side!("y", |rect| rect.y),
        side!("width", |rect| rect.width),
        side!("height", |rect| rect.height),
        side!("top", |rect| rect.y.min(rect.y + rect.height)),
        side!("right", |rect| rect.x.max(rect.x + rect.width)),
        side!("bottom", |rect| rect.y.max(rect.y + rect.height)),
        side!("left", |rect| rect.x.min(rect.x + rect.width)),
    ],
    ..bind::Interface::EMPTY
};

/// A writable numeric attribute of a rectangle.
macro_rules! edge {
    ($name:literal, $field:ident) => {
        (
            $name,
            |this, _, _| Ok(bind::this::<Rect>(this)?.borrow().data().$field.into()),
            Some(|this, args, context| {
                let number = args.get_or_undefined(0).to_number(context)?;
                bind::this::<Rect>(this)?.borrow_mut().data_mut().$field = number;
                Ok(JsValue::undefined())
            }),
        )
    };
}

const DOM_RECT: bind::Interface = bind::Interface {
    name: "DOMRect",
    parent: Some("DOMRectReadOnly"),
    constructor: Some(|new_target, args, context| construct(new_target, "DOMRect", args, context)),
    attributes: &[edge!("x", x), edge!("y", y), edge!("width", width), edge!("height", height)],
    ..bind::Interface::EMPTY
};

fn construct(new_target: &JsValue, name: &str, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let mut numbers = [0.0; 4];
    for (place, number) in numbers.iter_mut().enumerate() {
        if let Some(given) = args.get(place).filter(|value| !value.is_undefined()) {
            *number = given.to_number(context)?;
        }
    }
    let [x, y, width, height] = numbers;
    bind::construct(new_target, name, Rect { x, y, width, height }, context)
}

/// A `DOMRect`.
///
/// # Errors
/// When the interface is missing, which is a bug.
pub(crate) fn rectangle(x: f64, y: f64, width: f64, height: f64, context: &mut Context) -> JsResult<JsValue> {
    bind::object("DOMRect", Rect { x, y, width, height }, context).map(JsValue::from)
}

/// The position of an element that a script measures.
fn measured(id: NodeId, context: &mut Context) -> Option<ElementBox> {
    // An empty element with a class has its size from style sheets alone.
    let is_styled = read(context, |tree| {
        let is_box = |name: &str| !layout::is_replaced(name) && !matches!(name, "html" | "body");
        tree.first_child(id).is_none()
            && tree.attribute(id, &local_name!("class")).is_some_and(|class| !class.is_empty())
            && tree.is_connected(id)
            && tree.element(id).is_some_and(|element| is_box(&element.name().local))
    });
    if is_styled {
        styles::load_linked(id, context);
    }
    let place = sizes::place(id, context);
    unshown::measured(id, place, context);
    place
}

const METHODS: &[bind::Method] = &[
    ("getBoundingClientRect", 0, |this, _, context| {
        let id = this_element(this, context)?;
        match measured(id, context) {
            Some(place) => crate::web::intersection_observer::rectangle(place, context),
            None => rectangle(0.0, 0.0, 0.0, 0.0, context),
        }
    }),
    ("getClientRects", 0, |this, _, context| {
        let id = this_element(this, context)?;
        let rectangles = match sizes::place(id, context) {
            Some(place) => vec![crate::web::intersection_observer::rectangle(place, context)?],
            None => Vec::new(),
        };
        let list = bind::array(rectangles, context);
        if let Some(list) = list.as_object() {
            let item: bind::Method = ("item", 1, |this, args, context| {
                let index = args.get_or_undefined(0).to_u32(context)?;
                let list = this.as_object().ok_or_else(|| bind::type_error("Illegal invocation"))?;
                let found = list.get(index, context)?;
                Ok(if found.is_undefined() { JsValue::null() } else { found })
            });
            let (name, length, body) = item;
            let item = bind::function(name, length, body, context);
            bind::hidden(&list, js_string!(name), item.into(), true, context)?;
        }
        Ok(list)
    }),
    ("checkVisibility", 0, |this, _, context| {
        let id = this_element(this, context)?;
        Ok(sizes::place(id, context).is_some().into())
    }),
    // There is one pointer, and nothing is dragged with it.
    ("setPointerCapture", 1, |this, _, context| this_element(this, context).map(|_| JsValue::undefined())),
    ("releasePointerCapture", 1, |this, _, context| this_element(this, context).map(|_| JsValue::undefined())),
    ("hasPointerCapture", 1, |this, _, context| this_element(this, context).map(|_| false.into())),
    ("scrollIntoView", 0, scroll_into_view),
    ("scrollIntoViewIfNeeded", 0, scroll_into_view),
    ("scroll", 0, |this, args, context| scroll(this, args, false, context)),
    ("scrollTo", 0, |this, args, context| scroll(this, args, false, context)),
    ("scrollBy", 0, |this, args, context| scroll(this, args, true, context)),
];

/// A number from an element's position; zero if it is not displayed.
macro_rules! measure {
    ($name:literal, $of:expr) => {
        (
            $name,
            |this, _, context| {
                let id = this_element(this, context)?;
                let of: fn(NodeId, ElementBox, &mut Context) -> f64 = $of;
                let place = measured(id, context);
                Ok(place.map_or(0.0, |place| of(id, place, context)).round().into())
            },
            None,
        )
    };
}

const ELEMENT: &[bind::Attribute] = &[
    measure!("clientTop", |_, _, _| 0.0),
    measure!("clientLeft", |_, _, _| 0.0),
    measure!("clientWidth", |_, place, _| place.width),
    // The root element's is the window's (CSSOM View §6).
    measure!("clientHeight", |id, place, context| if is_root(id, context) {
        viewport(context).height
    } else {
        place.height
    }),
    measure!("scrollWidth", |_, place, _| place.width),
    measure!("scrollHeight", |id, place, context| if is_root(id, context) {
        layout::document_height(context)
    } else {
        layout::content_height(id, context).max(place.height)
    }),
    (
        "scrollTop",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(scrolled(id, context).1.into())
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let y = args.get_or_undefined(0).to_number(context)?;
            let (x, _) = scrolled(id, context);
            scroll_to(id, x, if y.is_finite() { y } else { 0.0 }, context);
            Ok(JsValue::undefined())
        }),
    ),
    (
        "scrollLeft",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(scrolled(id, context).0.into())
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let x = args.get_or_undefined(0).to_number(context)?;
            let (_, y) = scrolled(id, context);
            scroll_to(id, if x.is_finite() { x } else { 0.0 }, y, context);
            Ok(JsValue::undefined())
        }),
    ),
];

const HTML_ELEMENT: &[bind::Attribute] = &[
    (
        "offsetParent",
        |this, _, context| {
            let id = this_element(this, context)?;
            let shown = sizes::place(id, context).is_some();
            let body = read(context, |tree| {
                let body = document::body(tree, tree.document_of(id));
                body.filter(|body| shown && *body != id && tree.contains(*body, id))
            });
            wrap_or_null(body, context)
        },
        None,
    ),
    measure!("offsetTop", |_, place, _| place.top),
    measure!("offsetLeft", |_, place, _| place.left),
    measure!("offsetWidth", |_, place, _| place.width),
    measure!("offsetHeight", |_, place, _| place.height),
];

const DOCUMENT_METHODS: &[bind::Method] = &[
    ("elementFromPoint", 2, |_, args, context| {
        let (x, y) = (args.get_or_undefined(0).to_number(context)?, args.get_or_undefined(1).to_number(context)?);
        let found = layout::element_at(x, y, context);
        wrap_or_null(found, context)
    }),
    ("elementsFromPoint", 2, |_, args, context| {
        let (x, y) = (args.get_or_undefined(0).to_number(context)?, args.get_or_undefined(1).to_number(context)?);
        let found = layout::element_at(x, y, context);
        let path: Vec<NodeId> = found.map_or_else(Vec::new, |found| {
            read(context, |tree| tree.inclusive_ancestors(found).filter(|id| tree.is_element(*id)).collect())
        });
        let elements = path.into_iter().map(|id| crate::web::wrap(id, context).map(JsValue::from));
        let elements = elements.collect::<JsResult<Vec<_>>>()?;
        Ok(bind::array(elements, context))
    }),
];

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    bind::define(&DOM_RECT_READ_ONLY, context)?;
    bind::define(&DOM_RECT, context)?;
    let element = bind::prototype("Element", context)?;
    bind::methods(&element, METHODS, context)?;
    bind::attributes(&element, ELEMENT, context)?;
    let html = bind::prototype("HTMLElement", context)?;
    bind::attributes(&html, HTML_ELEMENT, context)?;
    let document = bind::prototype("Document", context)?;
    bind::methods(&document, DOCUMENT_METHODS, context)
}

/// Whether scrolling the element scrolls the window: true for the root and the body.
fn is_root(id: NodeId, context: &Context) -> bool {
    let document = own_document(context);
    read(context, |tree| {
        tree.element(id)
            .is_some_and(|element| element.is_html(&local_name!("html")) || element.is_html(&local_name!("body")))
            && tree.document_of(id) == document
    })
}

fn scrolled(id: NodeId, context: &Context) -> (f64, f64) {
    if is_root(id, context) { layout::scroll(context) } else { layout::inner_scroll(id, context) }
}

fn scroll_to(id: NodeId, x: f64, y: f64, context: &mut Context) {
    if is_root(id, context) {
        layout::scroll_to(x, y, context);
    } else {
        layout::scroll_inner_to(id, x, y, context);
    }
}

fn scroll(this: &JsValue, args: &[JsValue], by: bool, context: &mut Context) -> JsResult<JsValue> {
    let id = this_element(this, context)?;
    let (x, y) = window::wanted(args, scrolled(id, context), by, context)?;
    scroll_to(id, x, y, context);
    Ok(JsValue::undefined())
}

fn scroll_into_view(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let id = this_element(this, context)?;
    if let Some(place) = sizes::place(id, context) {
        layout::scroll_to(0.0, place.top, context);
    }
    Ok(JsValue::undefined())
}

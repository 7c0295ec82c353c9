//! Document state besides the tree (HTML §3.1): the referrer, visibility, focus and the focused element, editing commands that do
//! nothing, fonts.

use std::cell::RefCell;

use boa_engine::object::builtins::JsPromise;
use boa_engine::{Context, Finalize, JsData, JsObject, JsResult, JsValue, Trace, js_string};

use super::frames;
use crate::engine::target::{self, Listeners, Target, TargetKind};
use crate::engine::{bind, jobs, realm};
use crate::web::cssom::style;
use crate::web::dom::document;
use crate::web::{own_document, read, this_document, wrap_or_null};

/// State of the page's document besides its tree.
struct DocumentState {
    referrer: String,
    fonts: JsObject,
    design_mode: RefCell<String>,
}

/// `document.fonts`: all fonts always count as loaded.
#[derive(Default, Trace, Finalize, JsData)]
struct Fonts {
    listeners: Listeners,
}

impl Target for Fonts {
    fn listeners(&mut self) -> &mut Listeners {
        &mut self.listeners
    }
}

const FONTS: bind::Interface = bind::Interface {
    name: "FontFaceSet",
    parent: Some("EventTarget"),
    methods: &[
        ("load", 1, |_, _, context| {
            let none = bind::array([], context);
            JsPromise::resolve(none, context).map(JsValue::from)
        }),
        ("check", 1, |_, _, _| Ok(true.into())),
        ("add", 1, |this, _, _| Ok(this.clone())),
        ("delete", 1, |_, _, _| Ok(false.into())),
        ("clear", 0, |_, _, _| Ok(JsValue::undefined())),
        ("forEach", 1, |_, _, _| Ok(JsValue::undefined())),
    ],
    attributes: &[
        ("ready", |this, _, context| JsPromise::resolve(this.clone(), context).map(JsValue::from), None),
        ("status", |_, _, _| Ok(bind::js("loaded")), None),
        ("size", |_, _, _| Ok(0.into()), None),
    ],
    ..bind::Interface::EMPTY
};

/// A constant text attribute.
macro_rules! word {
    ($name:literal, $value:literal) => {
        ($name, |_, _, _| Ok(bind::js($value)), None)
    };
}

const ATTRIBUTES: &[bind::Attribute] = &[
    word!("visibilityState", "visible"),
    word!("webkitVisibilityState", "visible"),
    ("hidden", |_, _, _| Ok(false.into()), None),
    ("webkitHidden", |_, _, _| Ok(false.into()), None),
    ("fullscreenEnabled", |_, _, _| Ok(false.into()), None),
    ("fullscreenElement", |_, _, _| Ok(JsValue::null()), None),
    ("pointerLockElement", |_, _, _| Ok(JsValue::null()), None),
    ("pictureInPictureEnabled", |_, _, _| Ok(false.into()), None),
    ("prerendering", |_, _, _| Ok(false.into()), None),
    ("scrollingElement", style::scrolling_element, None),
    (
        "referrer",
        |_, _, context| {
            Ok(bind::js(&realm::own::<DocumentState>(context).map_or(String::new(), |state| state.referrer.clone())))
        },
        None,
    ),
    (
        "domain",
        |this, _, context| {
            let document = this_document(this, context)?;
            let url = document::address(document, context);
            Ok(bind::js(url.host_str().unwrap_or_default()))
        },
        Some(|_, _, _| Ok(JsValue::undefined())),
    ),
    (
        "lastModified",
        |_, _, context| {
            let ms = jobs::of(context).wall_ms();
            let moment = time::OffsetDateTime::from_unix_timestamp((ms / 1_000.0) as i64);
            let moment = moment.unwrap_or(time::OffsetDateTime::UNIX_EPOCH);
            let (date, time) = (moment.date(), moment.time());
            let text = format!(
                "{:02}/{:02}/{} {:02}:{:02}:{:02}",
                u8::from(date.month()),
                date.day(),
                date.year(),
                time.hour(),
                time.minute(),
                time.second()
            );
            Ok(bind::js(&text))
        },
        None,
    ),
    (
        "defaultView",
        |this, _, context| {
            let document = this_document(this, context)?;
            let own = own_document(context) == document;
            if own {
                return Ok(realm::window(context).into());
            }
            frames::frame_of(document, context)
                .map_or_else(|| Ok(JsValue::null()), |frame| frames::window_of(frame, context))
        },
        None,
    ),
    (
        "activeElement",
        |this, _, context| {
            let document = this_document(this, context)?;
            let active = read(context, |tree| {
                let focused = tree.focus.filter(|id| tree.is_connected(*id) && tree.root(*id) == document);
                focused.or_else(|| document::body(tree, document)).or_else(|| tree.document_element(document))
            });
            wrap_or_null(active, context)
        },
        None,
    ),
    (
        "designMode",
        |_, _, context| {
            let state = realm::own::<DocumentState>(context);
            Ok(bind::js(&state.map(|state| state.design_mode.borrow().clone()).unwrap_or_default()))
        },
        Some(|_, args, context| {
            let word = bind::text(args, 0, context)?.to_ascii_lowercase();
            if let (Some(state), "on" | "off") = (realm::own::<DocumentState>(context), word.as_str()) {
                *state.design_mode.borrow_mut() = word;
            }
            Ok(JsValue::undefined())
        }),
    ),
    (
        "fonts",
        |_, _, context| {
            let state = realm::own::<DocumentState>(context);
            Ok(state.map_or_else(JsValue::null, |state| state.fonts.clone().into()))
        },
        None,
    ),
];

const METHODS: &[bind::Method] = &[
    ("hasFocus", 0, |_, _, _| Ok(true.into())),
    ("queryCommandState", 1, |_, _, _| Ok(false.into())),
    ("queryCommandIndeterm", 1, |_, _, _| Ok(false.into())),
    ("queryCommandValue", 1, |_, _, _| Ok(bind::js(""))),
    ("exitFullscreen", 0, |_, _, context| JsPromise::resolve(JsValue::undefined(), context).map(JsValue::from)),
    ("hasStorageAccess", 0, |_, _, context| JsPromise::resolve(true, context).map(JsValue::from)),
];

pub(crate) fn install(referrer: &str, context: &mut Context) -> JsResult<()> {
    target::register(TargetKind::of::<Fonts>(|_, _, _| None), context);
    bind::define(&FONTS, context)?;
    let fonts = bind::object("FontFaceSet", Fonts::default(), context)?;
    let state = DocumentState { referrer: referrer.to_owned(), fonts, design_mode: RefCell::new("off".to_owned()) };
    realm::keep(state, context);
    let face = bind::Interface {
        name: "FontFace",
        constructor: Some(|new_target, args, context| {
            let family = bind::text(args, 0, context)?;
            let made = bind::construct(new_target, "FontFace", (), context)?;
            if let Some(object) = made.as_object() {
                object.create_data_property_or_throw(js_string!("family"), js_string!(family.as_str()), context)?;
                object.create_data_property_or_throw(js_string!("status"), js_string!("loaded"), context)?;
            }
            Ok(made)
        }),
        length: 2,
        methods: &[("load", 0, |this, _, context| JsPromise::resolve(this.clone(), context).map(JsValue::from))],
        ..bind::Interface::EMPTY
    };
    bind::define(&face, context)?;
    let document = bind::prototype("Document", context)?;
    bind::methods(&document, METHODS, context)?;
    bind::attributes(&document, ATTRIBUTES, context)?;
    target::handlers(&document, &["visibilitychange", "selectionchange", "fullscreenchange"], context)
}

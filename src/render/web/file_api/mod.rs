//! `FileReader` (File API §6.2): reads a blob, which is in memory, in two tasks: the first fires `loadstart`, the second the rest.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsValue, Trace};
use encoding_rs::Encoding;

use crate::engine::target::{self, Listeners, Target, TargetKind};
use crate::engine::{bind, blob, events, exception, jobs};

const LOADING: u8 = 1;
const DONE: u8 = 2;

#[derive(Default, Trace, Finalize, JsData)]
struct Reader {
    listeners: Listeners,
    #[unsafe_ignore_trace]
    state: u8,
    /// Counts reads: tasks of an aborted one do nothing.
    #[unsafe_ignore_trace]
    round: u32,
    result: Option<JsValue>,
}

impl Target for Reader {
    fn listeners(&mut self) -> &mut Listeners {
        &mut self.listeners
    }
}

/// The form of the result.
#[derive(Clone)]
enum Form {
    Buffer,
    Binary,
    /// In the named encoding, if any.
    Text(Option<String>),
    DataUrl,
}

const READER: bind::Interface = bind::Interface {
    name: "FileReader",
    parent: Some("EventTarget"),
    constructor: Some(|new_target, _, context| bind::construct(new_target, "FileReader", Reader::default(), context)),
    methods: &[
        ("readAsArrayBuffer", 1, |this, args, context| read(this, args, Form::Buffer, context)),
        ("readAsBinaryString", 1, |this, args, context| read(this, args, Form::Binary, context)),
        ("readAsText", 1, |this, args, context| {
            let label = bind::text_if_given(args, 1, context)?;
            read(this, args, Form::Text(label), context)
        }),
        ("readAsDataURL", 1, |this, args, context| read(this, args, Form::DataUrl, context)),
        ("abort", 0, |this, _, context| {
            let reader = bind::this::<Reader>(this)?;
            let was_loading = {
                let mut reader = reader.borrow_mut();
                let reader = reader.data_mut();
                reader.result = None;
                reader.round += 1;
                let was_loading = reader.state == LOADING;
                if was_loading {
                    reader.state = DONE;
                }
                was_loading
            };
            if was_loading {
                tell(&reader, &["abort", "loadend"], (0, 0), context);
            }
            Ok(JsValue::undefined())
        }),
    ],
    attributes: &[
        ("readyState", |this, _, _| Ok(bind::this::<Reader>(this)?.borrow().data().state.into()), None),
        (
            "result",
            |this, _, _| {
                let reader = bind::this::<Reader>(this)?;
                let result = reader.borrow().data().result.clone();
                Ok(result.unwrap_or_else(JsValue::null))
            },
            None,
        ),
        ("error", |this, _, _| bind::this::<Reader>(this).map(|_| JsValue::null()), None),
    ],
    constants: &[("EMPTY", 0), ("LOADING", 1), ("DONE", 2)],
    ..bind::Interface::EMPTY
};

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    target::register(TargetKind::of::<Reader>(|_, _, _| None), context);
    let prototype = bind::define(&READER, context)?;
    target::handlers(&prototype, &["loadstart", "progress", "load", "abort", "error", "loadend"], context)
}

/// "Read operation" (File API §6.2.4.2).
fn read(this: &JsValue, args: &[JsValue], form: Form, context: &mut Context) -> JsResult<JsValue> {
    let reader = bind::this::<Reader>(this)?;
    let Some((bytes, kind)) = blob::content(args.get_or_undefined(0)) else {
        return Err(bind::type_error("Failed to read with 'FileReader': parameter 1 is not of type 'Blob'."));
    };
    let round = {
        let mut reader = reader.borrow_mut();
        let reader = reader.data_mut();
        if reader.state == LOADING {
            let message = "The object is already busy reading Blobs.";
            return Err(exception::error("InvalidStateError", message, context));
        }
        (reader.state, reader.result) = (LOADING, None);
        reader.round += 1;
        reader.round
    };
    let is_current = move |reader: &JsObject<Reader>| reader.borrow().data().round == round;
    let total = bytes.len();
    let starting = reader.clone();
    jobs::post(context, 0, move |context| {
        if is_current(&starting) {
            tell(&starting, &["loadstart"], (0, total), context);
        }
        Ok(())
    });
    jobs::post(context, 0, move |context| {
        if !is_current(&reader) {
            return Ok(());
        }
        let result = result_of(&bytes, &kind, form, context)?;
        tell(&reader, &["progress"], (total, total), context);
        if !is_current(&reader) {
            return Ok(());
        }
        (reader.borrow_mut().data_mut().state, reader.borrow_mut().data_mut().result) = (DONE, Some(result));
        tell(&reader, &["load"], (total, total), context);
        // A listener may have begun another read.
        if is_current(&reader) {
            tell(&reader, &["loadend"], (total, total), context);
        }
        Ok(())
    });
    Ok(JsValue::undefined())
}

/// "Package data" (File API §6.3).
fn result_of(bytes: &[u8], kind: &str, form: Form, context: &mut Context) -> JsResult<JsValue> {
    Ok(match form {
        Form::Buffer => bind::buffer(bytes, context)?.into(),
        Form::Binary => bind::js(&bytes.iter().map(|byte| char::from(*byte)).collect::<String>()),
        Form::Text(label) => {
            let of_label = |label: &str| Encoding::for_label(label.trim().as_bytes());
            let of_kind = || kind.split_once("charset=").and_then(|(_, label)| of_label(label.trim_matches('"')));
            let encoding = label.as_deref().and_then(of_label).or_else(of_kind).unwrap_or(encoding_rs::UTF_8);
            bind::js(&encoding.decode(bytes).0)
        }
        Form::DataUrl => {
            let kind = if kind.is_empty() { "application/octet-stream" } else { kind };
            bind::js(&format!("data:{kind};base64,{}", STANDARD.encode(bytes)))
        }
    })
}

fn tell(reader: &JsObject<Reader>, kinds: &[&str], (loaded, total): (usize, usize), context: &mut Context) {
    let target = reader.clone().upcast();
    let members =
        [("lengthComputable", true.into()), ("loaded", (loaded as f64).into()), ("total", (total as f64).into())];
    for kind in kinds {
        jobs::outside(context, |context| {
            events::fire(&target, "ProgressEvent", kind, (false, false), &members, context);
        });
    }
}

//! `WritableStream`, `TransformStream` and the streams built from them (Streams §5, §6; Encoding §8.4; Compression §4), and piping
//! (`pipeTo`, `pipeThrough`). A write is done when its chunk is taken: there is no backpressure.

mod pump;

use std::io::Read as _;

use boa_engine::object::FunctionObjectBuilder;
use boa_engine::object::builtins::{JsArrayBuffer, JsFunction, JsPromise, JsUint8Array};
use boa_engine::{
    Context, Finalize, JsArgs, JsData, JsError, JsNativeError, JsObject, JsResult, JsString, JsValue, NativeFunction,
    Trace, js_string,
};
use encoding_rs::{Decoder, DecoderResult, Encoding};
use flate2::Compression;
use flate2::read::{DeflateDecoder, DeflateEncoder, GzDecoder, GzEncoder, ZlibDecoder, ZlibEncoder};

use self::pump::pipe;
use super::{Controller, Stream, close, controlled, enqueue, fail};
use crate::engine::bind;
use crate::limits;

/// A writable end, with the readable end that its output goes to, if there is one.
#[derive(Trace, Finalize, JsData)]
struct Writable {
    sink: Sink,
    readable: Option<JsObject>,
    #[unsafe_ignore_trace]
    is_locked: bool,
    #[unsafe_ignore_trace]
    is_closed: bool,
    error: Option<JsValue>,
}

/// The handler of chunks.
#[derive(Trace, Finalize)]
enum Sink {
    /// A script's object with its controller, and the names of its methods for a chunk and for the end.
    Script(JsObject, JsObject, #[unsafe_ignore_trace] [&'static str; 2]),
    Native(#[unsafe_ignore_trace] Native),
}

/// A native handler of chunks.
enum Native {
    Decode(Box<Decoder>, bool),
    Encode,
    /// Bytes that are compressed or decompressed once they are complete.
    Packed(Coding, Vec<u8>),
    /// Bytes that are needed as a whole.
    Whole(Vec<u8>),
}

/// A compression format (Compression §3), and whether to decompress.
#[derive(Clone, Copy)]
struct Coding {
    format: Format,
    unpack: bool,
}

#[derive(Clone, Copy)]
enum Format {
    Gzip,
    Zlib,
    Raw,
}

/// Methods of a `WritableStream`'s sink, and of a `TransformStream`'s transformer.
const SINK: [&str; 2] = ["write", "close"];
const TRANSFORMER: [&str; 2] = ["transform", "flush"];

/// The writer's end of a stream; `None` once released.
#[derive(Trace, Finalize, JsData)]
struct Writer {
    stream: Option<JsObject>,
}

/// An object with a readable and a writable end.
#[derive(Trace, Finalize, JsData)]
struct Pair {
    readable: JsObject,
    writable: JsObject,
}

const WRITABLE: bind::Interface = bind::Interface {
    name: "WritableStream",
    constructor: Some(|new_target, args, context| {
        let sink = own(args, context);
        let controller = JsObject::with_object_proto(context.intrinsics());
        let writable = Writable::of(Sink::Script(sink.clone(), controller.clone(), SINK), None);
        let made = bind::construct(new_target, "WritableStream", writable, context)?;
        call(&sink, "start", &[controller.into()], context)?;
        Ok(made)
    }),
    methods: &[
        ("getWriter", 0, |this, _, context| {
            let stream = bind::this::<Writable>(this)?;
            if std::mem::replace(&mut stream.borrow_mut().data_mut().is_locked, true) {
                return Err(bind::type_error("Failed to execute 'getWriter' on 'WritableStream': it is locked."));
            }
            let writer = Writer { stream: Some(stream.upcast()) };
            bind::object("WritableStreamDefaultWriter", writer, context).map(JsValue::from)
        }),
        ("close", 0, |this, _, context| {
            let stream = bind::this::<Writable>(this)?;
            let closed = finish(&stream, context);
            promised(closed, context)
        }),
        ("abort", 0, |this, args, context| {
            let stream = bind::this::<Writable>(this)?;
            let aborted = abort(&stream, args.get_or_undefined(0), context);
            promised(aborted, context)
        }),
    ],
    attributes: &[("locked", |this, _, _| Ok(bind::this::<Writable>(this)?.borrow().data().is_locked.into()), None)],
    ..bind::Interface::EMPTY
};

const WRITER: bind::Interface = bind::Interface {
    name: "WritableStreamDefaultWriter",
    methods: &[
        ("write", 0, |this, args, context| {
            let written = writable_of(this).and_then(|stream| write(&stream, args.get_or_undefined(0), context));
            promised(written, context)
        }),
        ("close", 0, |this, _, context| {
            let closed = writable_of(this).and_then(|stream| finish(&stream, context));
            promised(closed, context)
        }),
        ("abort", 0, |this, args, context| {
            let aborted = writable_of(this).and_then(|stream| abort(&stream, args.get_or_undefined(0), context));
            promised(aborted, context)
        }),
        ("releaseLock", 0, |this, _, _| {
            if let Ok(stream) = writable_of(this) {
                stream.borrow_mut().data_mut().is_locked = false;
            }
            bind::this::<Writer>(this)?.borrow_mut().data_mut().stream = None;
            Ok(JsValue::undefined())
        }),
    ],
    attributes: &[
        ("ready", |_, _, context| promised(Ok(JsValue::undefined()), context), None),
        ("closed", |_, _, context| promised(Ok(JsValue::undefined()), context), None),
        ("desiredSize", |_, _, _| Ok(1.into()), None),
    ],
    ..bind::Interface::EMPTY
};

const TRANSFORM_CONTROLLER: bind::Interface = bind::Interface {
    name: "TransformStreamDefaultController",
    methods: &[
        ("enqueue", 0, |this, args, context| enqueue(&controlled(this)?, args.get_or_undefined(0).clone(), context)),
        ("terminate", 0, |this, _, context| close(&controlled(this)?, context)),
        ("error", 0, |this, args, context| fail(&controlled(this)?, args.get_or_undefined(0), context)),
    ],
    attributes: &[("desiredSize", |_, _, _| Ok(1.into()), None)],
    ..bind::Interface::EMPTY
};

/// The two ends of each kind of pair.
const ENDS: &[bind::Attribute] = &[
    ("readable", |this, _, _| Ok(bind::this::<Pair>(this)?.borrow().data().readable.clone().into()), None),
    ("writable", |this, _, _| Ok(bind::this::<Pair>(this)?.borrow().data().writable.clone().into()), None),
];

const PAIRS: &[bind::Interface] = &[
    bind::Interface {
        name: "TransformStream",
        constructor: Some(|new_target, args, context| {
            let transformer = own(args, context);
            let readable = bind::object("ReadableStream", Stream::empty(), context)?;
            let controller = Controller { stream: readable.clone() };
            let controller = bind::object("TransformStreamDefaultController", controller, context)?;
            let sink = Sink::Script(transformer.clone(), controller.clone(), TRANSFORMER);
            let made = pair(new_target, "TransformStream", sink, readable, context)?;
            call(&transformer, "start", &[controller.into()], context)?;
            Ok(made)
        }),
        attributes: ENDS,
        ..bind::Interface::EMPTY
    },
    bind::Interface {
        name: "TextDecoderStream",
        constructor: Some(|new_target, args, context| {
            let label = bind::text_if_given(args, 0, context)?.unwrap_or_else(|| "utf-8".to_owned());
            let options = args.get_or_undefined(1);
            let fatal = bind::flag(options, "fatal", context)?;
            let keep_mark = bind::flag(options, "ignoreBOM", context)?;
            let encoding = Encoding::for_label_no_replacement(label.as_bytes()).ok_or_else(|| {
                JsNativeError::range().with_message(format!("The encoding label provided ('{label}') is invalid."))
            })?;
            let decoder = match keep_mark {
                true => encoding.new_decoder_without_bom_handling(),
                false => encoding.new_decoder_with_bom_removal(),
            };
            native(new_target, "TextDecoderStream", Native::Decode(Box::new(decoder), fatal), context)
        }),
        attributes: ENDS,
        ..bind::Interface::EMPTY
    },
    bind::Interface {
        name: "TextEncoderStream",
        constructor: Some(|new_target, _, context| native(new_target, "TextEncoderStream", Native::Encode, context)),
        attributes: ENDS,
        ..bind::Interface::EMPTY
    },
    bind::Interface {
        name: "DecompressionStream",
        length: 1,
        constructor: Some(|new_target, args, context| {
            let packed = packed(args, true, context)?;
            native(new_target, "DecompressionStream", packed, context)
        }),
        attributes: ENDS,
        ..bind::Interface::EMPTY
    },
    bind::Interface {
        name: "CompressionStream",
        length: 1,
        constructor: Some(|new_target, args, context| {
            let packed = packed(args, false, context)?;
            native(new_target, "CompressionStream", packed, context)
        }),
        attributes: ENDS,
        ..bind::Interface::EMPTY
    },
];

impl Writable {
    fn of(sink: Sink, readable: Option<JsObject>) -> Self {
        Self { sink, readable, is_locked: false, is_closed: false, error: None }
    }

    /// The script's object, its controller and the name of one of its two methods, for a script's sink.
    fn script(&self, which: usize) -> Option<(JsObject, JsObject, &'static str)> {
        match &self.sink {
            Sink::Script(object, controller, names) => Some((object.clone(), controller.clone(), names[which])),
            Sink::Native(_) => None,
        }
    }
}

pub(super) fn install(readable: &JsObject, context: &mut Context) -> JsResult<()> {
    bind::methods(readable, &[("pipeTo", 1, pipe_to), ("pipeThrough", 1, pipe_through)], context)?;
    make(context)
}

fn make(context: &mut Context) -> JsResult<()> {
    for interface in [&WRITABLE, &WRITER, &TRANSFORM_CONTROLLER].into_iter().chain(PAIRS) {
        bind::define(interface, context)?;
    }
    Ok(())
}

/// The script's object that a stream is created with; an empty one by default.
fn own(args: &[JsValue], context: &Context) -> JsObject {
    args.get_or_undefined(0).as_object().unwrap_or_else(|| JsObject::with_object_proto(context.intrinsics()))
}

fn native(new_target: &JsValue, name: &str, sink: Native, context: &mut Context) -> JsResult<JsValue> {
    let readable = bind::object("ReadableStream", Stream::empty(), context)?;
    pair(new_target, name, Sink::Native(sink), readable, context)
}

fn pair(new_target: &JsValue, name: &str, sink: Sink, readable: JsObject, context: &mut Context) -> JsResult<JsValue> {
    let writable = bind::object("WritableStream", Writable::of(sink, Some(readable.clone())), context)?;
    bind::construct(new_target, name, Pair { readable, writable }, context)
}

fn packed(args: &[JsValue], unpack: bool, context: &mut Context) -> JsResult<Native> {
    let format = match bind::text(args, 0, context)?.as_str() {
        "gzip" => Format::Gzip,
        "deflate" => Format::Zlib,
        "deflate-raw" => Format::Raw,
        other => return Err(bind::type_error(format!("Unsupported compression format: '{other}'"))),
    };
    Ok(Native::Packed(Coding { format, unpack }, Vec::new()))
}

fn writable_of(this: &JsValue) -> JsResult<JsObject<Writable>> {
    let stream = bind::this::<Writer>(this)?.borrow().data().stream.clone();
    let stream = stream.and_then(|stream| stream.downcast::<Writable>().ok());
    stream.ok_or_else(|| bind::type_error("This writable stream writer has been released"))
}

fn readable_of(stream: &JsObject<Writable>) -> Option<JsObject<Stream>> {
    let readable = stream.borrow().data().readable.clone();
    readable.and_then(|readable| readable.downcast::<Stream>().ok())
}

/// Calls an optional method of a script's object.
fn call(object: &JsObject, name: &str, args: &[JsValue], context: &mut Context) -> JsResult<Option<JsValue>> {
    match object.get(js_string!(name), context)?.as_callable() {
        Some(method) => method.call(&object.clone().into(), args, context).map(Some),
        None => Ok(None),
    }
}

/// The result of a step as a promise. The engine's own termination is passed on.
fn promised(result: JsResult<JsValue>, context: &mut Context) -> JsResult<JsValue> {
    match result {
        Ok(value) => Ok(JsPromise::resolve(value, context)?.into()),
        Err(error) if error.as_engine().is_some() => Err(error),
        Err(error) => Ok(JsPromise::reject(error, context)?.into()),
    }
}

/// Writes a chunk. Returns what to wait for before the next.
fn write(stream: &JsObject<Writable>, chunk: &JsValue, context: &mut Context) -> JsResult<JsValue> {
    let (script, error, is_closed) = {
        let stream = stream.borrow();
        (stream.data().script(0), stream.data().error.clone(), stream.data().is_closed)
    };
    if let Some(error) = error {
        return Err(JsError::from_opaque(error));
    }
    if is_closed {
        return Err(bind::type_error("Cannot write to a closed stream"));
    }
    let written = match script {
        None => write_native(stream, chunk, context),
        Some((object, controller, method)) => {
            match call(&object, method, &[chunk.clone(), controller.into()], context) {
                Err(error) => Err(error),
                Ok(Some(written)) => Ok(written),
                // A transformer without `transform` passes chunks on.
                Ok(None) => readable_of(stream)
                    .map_or(Ok(JsValue::undefined()), |readable| enqueue(&readable, chunk.clone(), context)),
            }
        }
    };
    written.map_err(|error| told(stream, error, context))
}

/// Errors the stream with this error, so that its other end gets it.
fn told(stream: &JsObject<Writable>, error: JsError, context: &mut Context) -> JsError {
    if error.as_engine().is_some() {
        return error;
    }
    let Ok(reason) = error.into_opaque(context) else { return bind::type_error("The stream has failed.") };
    match abort(stream, &reason, context) {
        Err(error) if error.as_engine().is_some() => error,
        _ => JsError::from_opaque(reason),
    }
}

fn write_native(stream: &JsObject<Writable>, chunk: &JsValue, context: &mut Context) -> JsResult<JsValue> {
    let takes_text = matches!(stream.borrow().data().sink, Sink::Native(Native::Encode));
    if takes_text {
        let text = chunk.to_string(context)?.to_std_string_lossy();
        return put_bytes(stream, text.as_bytes(), context);
    }
    let refusal = || bind::type_error("The chunk is not of type 'BufferSource'.");
    let bytes = bind::bytes(chunk, context)?.ok_or_else(refusal)?;
    let text = match &mut stream.borrow_mut().data_mut().sink {
        Sink::Native(Native::Decode(decoder, fatal)) => decoded(decoder, *fatal, &bytes, false)?,
        Sink::Native(Native::Packed(_, held) | Native::Whole(held)) => {
            if held.len() + bytes.len() > limits::RENDER_BODY_BYTES_MAX {
                return Err(bind::type_error("The stream is too long."));
            }
            held.extend_from_slice(&bytes);
            String::new()
        }
        Sink::Native(Native::Encode) | Sink::Script(..) => String::new(),
    };
    put(stream, (!text.is_empty()).then(|| bind::js(&text)), context)
}

/// Passes on the output of a sink.
fn put(stream: &JsObject<Writable>, chunk: Option<JsValue>, context: &mut Context) -> JsResult<JsValue> {
    match (readable_of(stream), chunk) {
        (Some(readable), Some(chunk)) => enqueue(&readable, chunk, context),
        _ => Ok(JsValue::undefined()),
    }
}

fn put_bytes(stream: &JsObject<Writable>, bytes: &[u8], context: &mut Context) -> JsResult<JsValue> {
    if bytes.is_empty() {
        return Ok(JsValue::undefined());
    }
    let buffer = JsArrayBuffer::from_object(bind::buffer(bytes, context)?)?;
    let chunk = JsUint8Array::from_array_buffer(buffer, context)?;
    put(stream, Some(chunk.into()), context)
}

fn decoded(decoder: &mut Decoder, fatal: bool, bytes: &[u8], last: bool) -> JsResult<String> {
    let room = decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(bytes.len());
    let mut text = String::with_capacity(room);
    if !fatal {
        let _ = decoder.decode_to_string(bytes, &mut text, last);
        return Ok(text);
    }
    match decoder.decode_to_string_without_replacement(bytes, &mut text, last).0 {
        DecoderResult::InputEmpty => Ok(text),
        _ => Err(bind::type_error("The encoded data was not valid.")),
    }
}

/// Compresses or decompresses bytes. Output beyond the limit of a body is rejected.
fn coded(coding: Coding, bytes: &[u8]) -> JsResult<Vec<u8>> {
    let mut made = Vec::new();
    let most = limits::RENDER_BODY_BYTES_MAX as u64 + 1;
    let read = match (coding.format, coding.unpack) {
        (Format::Gzip, true) => GzDecoder::new(bytes).take(most).read_to_end(&mut made),
        (Format::Zlib, true) => ZlibDecoder::new(bytes).take(most).read_to_end(&mut made),
        (Format::Raw, true) => DeflateDecoder::new(bytes).take(most).read_to_end(&mut made),
        (Format::Gzip, false) => GzEncoder::new(bytes, Compression::default()).read_to_end(&mut made),
        (Format::Zlib, false) => ZlibEncoder::new(bytes, Compression::default()).read_to_end(&mut made),
        (Format::Raw, false) => DeflateEncoder::new(bytes, Compression::default()).read_to_end(&mut made),
    };
    if read.is_err() {
        return Err(bind::type_error("The compressed data was not valid."));
    }
    if made.len() > limits::RENDER_BODY_BYTES_MAX {
        return Err(bind::type_error("The stream is too long."));
    }
    Ok(made)
}

/// Closes a stream: pending output is flushed, then its other end closes.
fn finish(stream: &JsObject<Writable>, context: &mut Context) -> JsResult<JsValue> {
    let script = {
        let mut stream = stream.borrow_mut();
        let stream = stream.data_mut();
        if let Some(error) = &stream.error {
            return Err(JsError::from_opaque(error.clone()));
        }
        if std::mem::replace(&mut stream.is_closed, true) {
            return Err(bind::type_error("Cannot close a stream that is closed"));
        }
        stream.script(1)
    };
    let flushed = match script {
        None => flush(stream, context).map(Some),
        // A sink's controller is not needed for closing.
        Some((object, controller, method)) => call(&object, method, &[controller.into()], context),
    };
    let flushed = flushed.map_err(|error| told(stream, error, context))?.unwrap_or_default();
    let Some(readable) = readable_of(stream) else { return Ok(flushed) };
    if !flushed.is_object() {
        return close(&readable, context);
    }
    // Waits for an asynchronous flush.
    let close = NativeFunction::from_copy_closure_with_captures(
        |_, _, readable: &JsObject<Stream>, context| close(readable, context),
        readable,
    );
    let close: JsFunction = FunctionObjectBuilder::new(context.realm(), close).build();
    JsPromise::resolve(flushed, context)?.then(Some(close), None, context).map(JsValue::from)
}

/// Flushes a native sink.
fn flush(stream: &JsObject<Writable>, context: &mut Context) -> JsResult<JsValue> {
    let (text, bytes) = match &mut stream.borrow_mut().data_mut().sink {
        Sink::Native(Native::Decode(decoder, fatal)) => (decoded(decoder, *fatal, &[], true)?, Vec::new()),
        Sink::Native(Native::Packed(coding, bytes)) => (String::new(), coded(*coding, &std::mem::take(bytes))?),
        _ => Default::default(),
    };
    put(stream, (!text.is_empty()).then(|| bind::js(&text)), context)?;
    put_bytes(stream, &bytes, context)
}

fn abort(stream: &JsObject<Writable>, reason: &JsValue, context: &mut Context) -> JsResult<JsValue> {
    let script = {
        let mut stream = stream.borrow_mut();
        stream.data_mut().error = Some(reason.clone());
        stream.data().script(0)
    };
    if let Some(readable) = readable_of(stream) {
        return fail(&readable, reason, context);
    }
    match script {
        Some((sink, ..)) => Ok(call(&sink, "abort", std::slice::from_ref(reason), context)?.unwrap_or_default()),
        None => Ok(JsValue::undefined()),
    }
}

fn pipe_to(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let from = bind::this::<Stream>(this)?;
    let to = bind::this::<Writable>(args.get_or_undefined(0))?;
    let keep_open = bind::flag(args.get_or_undefined(1), "preventClose", context)?;
    pipe(from, to, keep_open, context)
}

fn pipe_through(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let from = bind::this::<Stream>(this)?;
    let ends = args.get_or_undefined(0).as_object();
    let ends = ends.ok_or_else(|| bind::type_error("parameter 1 is not of type 'ReadableWritablePair'."))?;
    let to = bind::this::<Writable>(&ends.get(js_string!("writable"), context)?)?;
    let readable = ends.get(js_string!("readable"), context)?;
    let keep_open = bind::flag(args.get_or_undefined(1), "preventClose", context)?;
    let piped = pipe(from, to, keep_open, context)?;
    // A failure is reported at the other end; here no promise is rejected.
    let nothing = NativeFunction::from_fn_ptr(|_, _, _| Ok(JsValue::undefined()));
    let nothing: JsFunction = FunctionObjectBuilder::new(context.realm(), nothing).build();
    JsPromise::resolve(piped, context)?.then(None, Some(nothing), context)?;
    Ok(readable)
}

/// Converts all bytes of a stream, with the content type stored with them.
pub(in crate::engine) type Drained = fn(&[u8], &str, &mut Context) -> JsResult<JsValue>;

/// Reads a stream of bytes to its end: a promise of the result of `what`. `None` if the object is not a stream.
///
/// # Errors
/// The engine's own.
pub(in crate::engine) fn drain(
    stream: &JsObject,
    word: &str,
    what: Drained,
    context: &mut Context,
) -> JsResult<Option<JsValue>> {
    let Ok(from) = stream.clone().downcast::<Stream>() else { return Ok(None) };
    let whole = Writable::of(Sink::Native(Native::Whole(Vec::new())), None);
    let to = bind::object("WritableStream", whole, context)?;
    let to = to.downcast::<Writable>().map_err(|_| bind::type_error("Illegal invocation"))?;
    let piped = pipe(from, to.clone(), false, context)?;
    let then = NativeFunction::from_copy_closure_with_captures(
        move |_, _, (to, word): &(JsObject<Writable>, JsString), context| {
            let bytes = match &mut to.borrow_mut().data_mut().sink {
                Sink::Native(Native::Whole(bytes)) => std::mem::take(bytes),
                _ => Vec::new(),
            };
            what(&bytes, &word.to_std_string_lossy(), context)
        },
        (to, js_string!(word)),
    );
    let then: JsFunction = FunctionObjectBuilder::new(context.realm(), then).build();
    JsPromise::resolve(piped, context)?.then(Some(then), None, context).map(|promise| Some(promise.into()))
}

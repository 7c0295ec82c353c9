//! `ReadableStream` (Streams §4): chunks pass from a source to one reader, in order. Bodies of responses are streams of one chunk, since
//! a response is complete when a script gets it. Chunk sizes are ignored: a source is pulled when a reader waits. `pipe` has the writing
//! side: writable and transform streams.

mod pipe;

use std::collections::VecDeque;

use boa_engine::builtins::promise::ResolvingFunctions;
use boa_engine::object::FunctionObjectBuilder;
use boa_engine::object::builtins::{JsArrayBuffer, JsFunction, JsPromise, JsUint8Array};
use boa_engine::{
    Context, Finalize, JsArgs, JsData, JsError, JsObject, JsResult, JsSymbol, JsValue, NativeFunction, Trace, js_string,
};

use super::bind;
use crate::limits;

/// Marks the owner of a stream as read.
type Disturb = fn(&JsObject);

#[derive(Trace, Finalize, JsData)]
struct Stream {
    queue: VecDeque<JsValue>,
    state: StreamState,
    waiting: VecDeque<ResolvingFunctions>,
    /// Its source, with the controller.
    source: Option<(JsObject, JsObject)>,
    #[unsafe_ignore_trace]
    is_pulling: bool,
    #[unsafe_ignore_trace]
    is_locked: bool,
    /// The object whose body it is.
    owner: Option<JsObject>,
    #[unsafe_ignore_trace]
    disturb: Option<Disturb>,
}

#[derive(Clone, Trace, Finalize)]
enum StreamState {
    Readable,
    Closed,
    Errored(JsValue),
}

/// The source's end of a stream.
#[derive(Trace, Finalize, JsData)]
struct Controller {
    stream: JsObject,
}

/// The reader's end of a stream; `None` once released.
#[derive(Trace, Finalize, JsData)]
struct StreamReader {
    stream: Option<JsObject>,
}

const STREAM: bind::Interface = bind::Interface {
    name: "ReadableStream",
    constructor: Some(construct),
    methods: &[
        ("getReader", 0, |this, _, context| {
            let stream = bind::this::<Stream>(this)?;
            if std::mem::replace(&mut stream.borrow_mut().data_mut().is_locked, true) {
                return Err(bind::type_error("Failed to execute 'getReader' on 'ReadableStream': it is locked."));
            }
            let reader = StreamReader { stream: Some(stream.upcast()) };
            bind::object("ReadableStreamDefaultReader", reader, context).map(JsValue::from)
        }),
        ("cancel", 0, |this, _, context| {
            let stream = bind::this::<Stream>(this)?;
            if stream.borrow().data().is_locked {
                let error = bind::type_error("Cannot cancel a locked stream");
                return Ok(JsPromise::reject(error, context)?.into());
            }
            cancel(&stream, context)
        }),
        ("tee", 0, |this, _, context| {
            let stream = bind::this::<Stream>(this)?;
            let (queue, state) = {
                let mut stream = stream.borrow_mut();
                let stream = stream.data_mut();
                stream.is_locked = true;
                (stream.queue.clone(), stream.state.clone())
            };
            let mut halves = Vec::new();
            for _ in 0..2 {
                let mut half = Stream::empty();
                (half.queue, half.state) = (queue.clone(), state.clone());
                halves.push(bind::object("ReadableStream", half, context)?.into());
            }
            Ok(bind::array(halves, context))
        }),
        ("values", 0, iterator),
    ],
    attributes: &[("locked", |this, _, _| Ok(bind::this::<Stream>(this)?.borrow().data().is_locked.into()), None)],
    ..bind::Interface::EMPTY
};

const READER: bind::Interface = bind::Interface {
    name: "ReadableStreamDefaultReader",
    methods: &[
        ("read", 0, |this, _, context| match stream_of(this)? {
            Some(stream) => read(&stream, context),
            None => {
                let error = bind::type_error("This readable stream reader has been released");
                Ok(JsPromise::reject(error, context)?.into())
            }
        }),
        ("cancel", 0, |this, _, context| match stream_of(this)? {
            Some(stream) => cancel(&stream, context),
            None => Ok(JsPromise::resolve(JsValue::undefined(), context)?.into()),
        }),
        ("releaseLock", 0, |this, _, _| {
            let stream = stream_of(this)?;
            bind::this::<StreamReader>(this)?.borrow_mut().data_mut().stream = None;
            if let Some(stream) = stream {
                stream.borrow_mut().data_mut().is_locked = false;
            }
            Ok(JsValue::undefined())
        }),
    ],
    attributes: &[(
        "closed",
        |this, _, context| {
            stream_of(this)?;
            JsPromise::resolve(JsValue::undefined(), context).map(JsValue::from)
        },
        None,
    )],
    ..bind::Interface::EMPTY
};

const CONTROLLER: bind::Interface = bind::Interface {
    name: "ReadableStreamDefaultController",
    methods: &[
        ("enqueue", 0, |this, args, context| enqueue(&controlled(this)?, args.get_or_undefined(0).clone(), context)),
        ("close", 0, |this, _, context| close(&controlled(this)?, context)),
        ("error", 0, |this, args, context| fail(&controlled(this)?, args.get_or_undefined(0), context)),
    ],
    attributes: &[(
        "desiredSize",
        |this, _, _| {
            let stream = controlled(this)?;
            let stream = stream.borrow();
            Ok(match &stream.data().state {
                StreamState::Readable => (1 - i32::try_from(stream.data().queue.len()).unwrap_or(i32::MAX)).into(),
                StreamState::Closed => 0.into(),
                StreamState::Errored(_) => JsValue::null(),
            })
        },
        None,
    )],
    ..bind::Interface::EMPTY
};

impl Stream {
    fn empty() -> Self {
        Self {
            queue: VecDeque::new(),
            state: StreamState::Readable,
            waiting: VecDeque::new(),
            source: None,
            is_pulling: false,
            is_locked: false,
            owner: None,
            disturb: None,
        }
    }
}

/// Enqueues a chunk: it goes to the reader that has waited longest, or is stored.
fn enqueue(stream: &JsObject<Stream>, chunk: JsValue, context: &mut Context) -> JsResult<JsValue> {
    let waiting = stream.borrow_mut().data_mut().waiting.pop_front();
    match waiting {
        Some(waiting) => settle(&waiting, chunk, false, context)?,
        None => {
            let mut stream = stream.borrow_mut();
            let stream = stream.data_mut();
            if !matches!(stream.state, StreamState::Readable) || stream.queue.len() >= limits::PAIRS_MAX {
                return Err(bind::type_error("The stream takes no more chunks."));
            }
            stream.queue.push_back(chunk);
        }
    }
    Ok(JsValue::undefined())
}

/// Closes the stream.
fn close(stream: &JsObject<Stream>, context: &mut Context) -> JsResult<JsValue> {
    stream.borrow_mut().data_mut().state = StreamState::Closed;
    let waiting = std::mem::take(&mut stream.borrow_mut().data_mut().waiting);
    for one in waiting {
        settle(&one, JsValue::undefined(), true, context)?;
    }
    Ok(JsValue::undefined())
}

/// Errors the stream: readers are rejected.
fn fail(stream: &JsObject<Stream>, reason: &JsValue, context: &mut Context) -> JsResult<JsValue> {
    stream.borrow_mut().data_mut().state = StreamState::Errored(reason.clone());
    let waiting = std::mem::take(&mut stream.borrow_mut().data_mut().waiting);
    for one in waiting {
        one.reject.call(&JsValue::undefined(), std::slice::from_ref(reason), context)?;
    }
    Ok(JsValue::undefined())
}

pub(super) use pipe::{Drained, drain};

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let stream = bind::define(&STREAM, context)?;
    pipe::install(&stream, context)?;
    bind::define(&READER, context)?;
    bind::define(&CONTROLLER, context)?;
    let iterate = bind::function("values", 0, iterator, context);
    bind::hidden(&stream, JsSymbol::async_iterator(), iterate.into(), true, context)
}

/// Whether an object is a readable stream.
pub(super) fn is_stream(object: &JsObject) -> bool {
    object.is::<Stream>()
}

/// A stream of these bytes, which belong to `owner`.
///
/// # Errors
/// When it exceeds the page's limit for one buffer.
pub(super) fn of_bytes(bytes: &[u8], owner: JsObject, disturb: Disturb, context: &mut Context) -> JsResult<JsObject> {
    let mut stream = Stream::empty();
    if !bytes.is_empty() {
        let buffer = JsArrayBuffer::from_object(bind::buffer(bytes, context)?)?;
        let chunk: JsObject = JsUint8Array::from_array_buffer(buffer, context)?.into();
        stream.queue.push_back(chunk.into());
    }
    (stream.state, stream.owner, stream.disturb) = (StreamState::Closed, Some(owner), Some(disturb));
    bind::object("ReadableStream", stream, context)
}

fn construct(new_target: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let source = args.get_or_undefined(0).as_object();
    let made = bind::construct(new_target, "ReadableStream", Stream::empty(), context)?;
    let stream = bind::this::<Stream>(&made)?;
    let Some(source) = source else { return Ok(made) };
    let controller = Controller { stream: stream.clone().upcast() };
    let controller = bind::object("ReadableStreamDefaultController", controller, context)?;
    stream.borrow_mut().data_mut().source = Some((source.clone(), controller.clone()));
    if let Some(start) = source.get(js_string!("start"), context)?.as_callable() {
        start.call(&source.into(), &[controller.into()], context)?;
    }
    Ok(made)
}

fn stream_of(this: &JsValue) -> JsResult<Option<JsObject<Stream>>> {
    let reader = bind::this::<StreamReader>(this)?;
    let stream = reader.borrow().data().stream.clone();
    Ok(stream.and_then(|stream| stream.downcast::<Stream>().ok()))
}

fn controlled(this: &JsValue) -> JsResult<JsObject<Stream>> {
    let stream = bind::this::<Controller>(this)?.borrow().data().stream.clone();
    stream.downcast::<Stream>().map_err(|_| bind::type_error("Illegal invocation"))
}

/// Resolves a pending read.
fn settle(waiting: &ResolvingFunctions, value: JsValue, done: bool, context: &mut Context) -> JsResult<()> {
    let result = result_of(value, done, context)?;
    waiting.resolve.call(&JsValue::undefined(), &[result], context).map(drop)
}

fn result_of(value: JsValue, done: bool, context: &mut Context) -> JsResult<JsValue> {
    let result = JsObject::with_object_proto(context.intrinsics());
    result.create_data_property_or_throw(js_string!("value"), value, context)?;
    result.create_data_property_or_throw(js_string!("done"), done, context)?;
    Ok(result.into())
}

fn read(stream: &JsObject<Stream>, context: &mut Context) -> JsResult<JsValue> {
    let (chunk, state, owner, disturb) = {
        let mut stream = stream.borrow_mut();
        let stream = stream.data_mut();
        (stream.queue.pop_front(), stream.state.clone(), stream.owner.clone(), stream.disturb)
    };
    if let (Some(owner), Some(disturb)) = (owner, disturb) {
        disturb(&owner);
    }
    if let Some(chunk) = chunk {
        let result = result_of(chunk, false, context)?;
        return Ok(JsPromise::resolve(result, context)?.into());
    }
    match &state {
        StreamState::Closed => {
            let result = result_of(JsValue::undefined(), true, context)?;
            Ok(JsPromise::resolve(result, context)?.into())
        }
        StreamState::Errored(reason) => Ok(JsPromise::reject(JsError::from_opaque(reason.clone()), context)?.into()),
        StreamState::Readable => {
            let (promise, functions) = JsPromise::new_pending(context);
            if stream.borrow().data().waiting.len() < limits::PAIRS_MAX {
                stream.borrow_mut().data_mut().waiting.push_back(functions);
            }
            pull(stream, context)?;
            Ok(promise.into())
        }
    }
}

/// Pulls from the source while a reader waits.
fn pull(stream: &JsObject<Stream>, context: &mut Context) -> JsResult<()> {
    let source = {
        let mut stream = stream.borrow_mut();
        let stream = stream.data_mut();
        if stream.is_pulling || stream.waiting.is_empty() || !matches!(stream.state, StreamState::Readable) {
            return Ok(());
        }
        stream.source.clone()
    };
    let Some((source, controller)) = source else { return Ok(()) };
    let Some(method) = source.get(js_string!("pull"), context)?.as_callable() else { return Ok(()) };
    stream.borrow_mut().data_mut().is_pulling = true;
    let pulled = method.call(&source.into(), &[controller.into()], context)?;
    let again = NativeFunction::from_copy_closure_with_captures(
        |_, _, stream: &JsObject<Stream>, context| {
            stream.borrow_mut().data_mut().is_pulling = false;
            pull(stream, context).map(|()| JsValue::undefined())
        },
        stream.clone(),
    );
    let again: JsFunction = FunctionObjectBuilder::new(context.realm(), again).build();
    JsPromise::resolve(pulled, context)?.then(Some(again), None, context).map(drop)
}

fn cancel(stream: &JsObject<Stream>, context: &mut Context) -> JsResult<JsValue> {
    let waiting = {
        let mut stream = stream.borrow_mut();
        let stream = stream.data_mut();
        stream.queue.clear();
        stream.state = StreamState::Closed;
        std::mem::take(&mut stream.waiting)
    };
    for one in waiting {
        settle(&one, JsValue::undefined(), true, context)?;
    }
    Ok(JsPromise::resolve(JsValue::undefined(), context)?.into())
}

/// `for await` over a stream: its reader is the iterator, whose `next` reads.
fn iterator(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let stream = bind::this::<Stream>(this)?;
    stream.borrow_mut().data_mut().is_locked = true;
    let reader = bind::object("ReadableStreamDefaultReader", StreamReader { stream: Some(stream.upcast()) }, context)?;
    let read = reader.get(js_string!("read"), context)?;
    bind::hidden(&reader, js_string!("next"), read, true, context)?;
    Ok(reader.into())
}

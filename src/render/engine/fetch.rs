//! `fetch`, `Request` and `Response` (Fetch §5), whose requests go through the crawl (`net`). Bodies are complete; streams of them have
//! one chunk.
//!
//! The crawl decides whether a cross-origin response may be read: it refuses requests, not responses.

use boa_engine::builtins::promise::ResolvingFunctions;
use boa_engine::object::builtins::{JsArrayBuffer, JsPromise, JsUint8Array};
use boa_engine::{
    Context, Finalize, JsArgs, JsData, JsError, JsNativeError, JsObject, JsResult, JsValue, Trace, js_string,
};

use super::headers::Headers;
use super::{abort, bind, blob, headers, jobs, json, stream, url};
use crate::wire::{Answer, Asker, Request as NetRequest, Response as NetResponse};

/// A body, and whether it was consumed.
#[derive(Clone, Default, Trace, Finalize)]
#[boa_gc(unsafe_no_drop)]
struct Body {
    #[unsafe_ignore_trace]
    bytes: Option<std::rc::Rc<[u8]>>,
    used: bool,
    /// The stream that `body` returned.
    stream: Option<JsObject>,
}

#[derive(Clone, Trace, Finalize, JsData)]
#[boa_gc(unsafe_no_drop)]
struct Request {
    #[unsafe_ignore_trace]
    method: String,
    #[unsafe_ignore_trace]
    url: ::url::Url,
    headers: JsObject,
    body: Body,
    signal: Option<JsObject>,
    /// `mode`, `credentials`, `cache`, `redirect`, `referrer`, `integrity` as given.
    #[unsafe_ignore_trace]
    words: [String; 6],
}

/// The options of a request, with their defaults.
const WORDS: [(&str, &str); 6] = [
    ("mode", "cors"),
    ("credentials", "same-origin"),
    ("cache", "default"),
    ("redirect", "follow"),
    ("referrer", "about:client"),
    ("integrity", ""),
];

#[derive(Clone, Trace, Finalize, JsData)]
#[boa_gc(unsafe_no_drop)]
struct Response {
    #[unsafe_ignore_trace]
    url: String,
    redirected: bool,
    status: u16,
    #[unsafe_ignore_trace]
    status_text: String,
    #[unsafe_ignore_trace]
    kind: &'static str,
    headers: JsObject,
    body: Body,
}

/// Shared by `Request` and `Response`.
trait WithBody: boa_engine::object::NativeObject {
    fn body(&mut self) -> &mut Body;
    fn headers(&self) -> &JsObject;
}

impl WithBody for Request {
    fn body(&mut self) -> &mut Body {
        &mut self.body
    }

    fn headers(&self) -> &JsObject {
        &self.headers
    }
}

impl WithBody for Response {
    fn body(&mut self) -> &mut Body {
        &mut self.body
    }

    fn headers(&self) -> &JsObject {
        &self.headers
    }
}

const REQUEST: bind::Interface = bind::Interface {
    name: "Request",
    length: 1,
    constructor: Some(|new_target, args, context| {
        bind::want(args, 1, "Request")?;
        let request = request_of(&args[0], args.get_or_undefined(1), context)?;
        bind::construct(new_target, "Request", request, context)
    }),
    methods: &[("clone", 0, |this, _, context| {
        let mut copy = bind::this::<Request>(this)?.borrow().data().clone();
        copy.headers = copy_headers(&copy.headers, context)?;
        copy.body.stream = None;
        Ok(bind::object("Request", copy, context)?.into())
    })],
    attributes: &[
        ("method", |this, _, _| Ok(bind::js(&bind::this::<Request>(this)?.borrow().data().method)), None),
        ("url", |this, _, _| Ok(bind::js(bind::this::<Request>(this)?.borrow().data().url.as_str())), None),
        ("headers", |this, _, _| Ok(bind::this::<Request>(this)?.borrow().data().headers.clone().into()), None),
        ("mode", |this, _, _| word(this, 0), None),
        ("credentials", |this, _, _| word(this, 1), None),
        ("cache", |this, _, _| word(this, 2), None),
        ("redirect", |this, _, _| word(this, 3), None),
        ("referrer", |this, _, _| word(this, 4), None),
        ("integrity", |this, _, _| word(this, 5), None),
        ("destination", |_, _, _| Ok(bind::js("")), None),
        ("keepalive", |_, _, _| Ok(false.into()), None),
        (
            "signal",
            |this, _, _| {
                let signal = bind::this::<Request>(this)?.borrow().data().signal.clone();
                Ok(signal.map_or_else(JsValue::null, JsValue::from))
            },
            None,
        ),
    ],
    ..bind::Interface::EMPTY
};

const RESPONSE: bind::Interface = bind::Interface {
    name: "Response",
    constructor: Some(|new_target, args, context| {
        let response = response_of(args.get_or_undefined(0), args.get_or_undefined(1), context)?;
        bind::construct(new_target, "Response", response, context)
    }),
    methods: &[("clone", 0, |this, _, context| {
        let mut copy = bind::this::<Response>(this)?.borrow().data().clone();
        if copy.body.used {
            return Err(bind::type_error("Failed to execute 'clone' on 'Response': Response body is already used"));
        }
        copy.headers = copy_headers(&copy.headers, context)?;
        copy.body.stream = None;
        Ok(bind::object("Response", copy, context)?.into())
    })],
    attributes: &[
        ("url", |this, _, _| Ok(bind::js(&bind::this::<Response>(this)?.borrow().data().url)), None),
        ("redirected", |this, _, _| Ok(bind::this::<Response>(this)?.borrow().data().redirected.into()), None),
        ("status", |this, _, _| Ok(bind::this::<Response>(this)?.borrow().data().status.into()), None),
        (
            "ok",
            |this, _, _| Ok((200..300).contains(&bind::this::<Response>(this)?.borrow().data().status).into()),
            None,
        ),
        ("statusText", |this, _, _| Ok(bind::js(&bind::this::<Response>(this)?.borrow().data().status_text)), None),
        ("type", |this, _, _| Ok(bind::js(bind::this::<Response>(this)?.borrow().data().kind)), None),
        ("headers", |this, _, _| Ok(bind::this::<Response>(this)?.borrow().data().headers.clone().into()), None),
    ],
    statics: &[
        ("error", 0, |_, _, context| {
            let headers = headers::object(Headers::default(), context)?;
            let response = Response { kind: "error", status: 0, ..blank(headers) };
            Ok(bind::object("Response", response, context)?.into())
        }),
        ("json", 1, |_, args, context| {
            let text = stringify(args.get_or_undefined(0), context)?;
            let mut response = response_of(&text, args.get_or_undefined(1), context)?;
            if let Some(mut headers) = response.headers.downcast_mut::<Headers>()
                && headers.get("content-type").is_none_or(|kind| kind == "text/plain;charset=UTF-8")
            {
                headers.set("content-type", "application/json".to_owned());
            }
            response.body.used = false;
            Ok(bind::object("Response", response, context)?.into())
        }),
        ("redirect", 1, |_, args, context| {
            let to = url::resolve(&bind::text(args, 0, context)?, context)?;
            let status = args.get_or_undefined(1);
            let status = if status.is_undefined() { 302 } else { status.to_number(context)? as u16 };
            if ![301, 302, 303, 307, 308].contains(&status) {
                return Err(JsNativeError::range().with_message("Invalid status code").into());
            }
            let list = vec![("location".to_owned(), to.to_string())];
            let headers = headers::object(Headers { list, of_request: false }, context)?;
            Ok(bind::object("Response", Response { status, ..blank(headers) }, context)?.into())
        }),
    ],
    ..bind::Interface::EMPTY
};

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let request = bind::define(&REQUEST, context)?;
    with_body::<Request>(&request, context)?;
    let response = bind::define(&RESPONSE, context)?;
    with_body::<Response>(&response, context)?;
    let global = context.global_object();
    bind::methods(&global, &[("fetch", 1, fetch)], context)
}

fn with_body<T: WithBody>(prototype: &JsObject, context: &mut Context) -> JsResult<()> {
    let methods: &[bind::Method] = &[
        ("text", 0, |this, _, context| consume::<T>(this, |bytes, _, _| Ok(bind::js(&text_of(bytes))), context)),
        ("json", 0, |this, _, context| {
            consume::<T>(this, |bytes, _, context| json::parse(&text_of(bytes), context), context)
        }),
        ("arrayBuffer", 0, |this, _, context| {
            consume::<T>(this, |bytes, _, context| Ok(bind::buffer(bytes, context)?.into()), context)
        }),
        ("bytes", 0, |this, _, context| {
            let array = |bytes: &[u8], _: &str, context: &mut Context| {
                let buffer = JsArrayBuffer::from_object(bind::buffer(bytes, context)?)?;
                Ok(JsUint8Array::from_array_buffer(buffer, context)?.into())
            };
            consume::<T>(this, array, context)
        }),
        ("blob", 0, |this, _, context| {
            let make = |bytes: &[u8], kind: &str, context: &mut Context| {
                let blob = blob::Blob { bytes: bytes.into(), kind: kind.to_owned(), ..blob::Blob::default() };
                Ok(bind::object("Blob", blob, context)?.into())
            };
            consume::<T>(this, make, context)
        }),
        ("formData", 0, |this, _, context| consume::<T>(this, blob::form_of, context)),
    ];
    bind::methods(prototype, methods, context)?;
    let attributes: &[bind::Attribute] = &[
        ("bodyUsed", |this, _, _| Ok(bind::this::<T>(this)?.borrow_mut().data_mut().body().used.into()), None),
        ("body", stream_of::<T>, None),
    ];
    bind::attributes(prototype, attributes, context)
}

/// The body as a stream; the same object each time.
fn stream_of<T: WithBody>(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let object = bind::this::<T>(this)?;
    let (bytes, known) = {
        let mut data = object.borrow_mut();
        let body = data.data_mut().body();
        (body.bytes.clone(), body.stream.clone())
    };
    if let Some(known) = known {
        return Ok(known.into());
    }
    let Some(bytes) = bytes else { return Ok(JsValue::null()) };
    let disturb = |owner: &JsObject| {
        if let Some(mut owner) = owner.downcast_mut::<T>() {
            owner.body().used = true;
        }
    };
    let stream = stream::of_bytes(&bytes, object.clone().upcast(), disturb, context)?;
    object.borrow_mut().data_mut().body().stream = Some(stream.clone());
    Ok(stream.into())
}

/// Decodes UTF-8 without its byte order mark (Encoding §6 "UTF-8 decode").
fn text_of(bytes: &[u8]) -> String {
    encoding_rs::UTF_8.decode_with_bom_removal(bytes).0.into_owned()
}

/// Consumes a body (Fetch §5.3 "consume body").
fn consume<T: WithBody>(this: &JsValue, what: stream::Drained, context: &mut Context) -> JsResult<JsValue> {
    let object = bind::this::<T>(this)?;
    let (bytes, stream, headers) = {
        let mut data = object.borrow_mut();
        let headers = data.data().headers().clone();
        let body = data.data_mut().body();
        if body.used {
            let error = bind::type_error("Failed to read the body: body stream already read");
            return Ok(JsPromise::reject(error, context)?.into());
        }
        body.used = body.bytes.is_some() || body.stream.is_some();
        let stream = body.stream.clone().filter(|_| body.bytes.is_none());
        (body.bytes.clone().unwrap_or_default(), stream, headers)
    };
    let kind = headers.downcast_ref::<Headers>().and_then(|headers| headers.get("content-type")).unwrap_or_default();
    // A body that a script created from a stream is read to its end first.
    let drained = stream.map(|stream| stream::drain(&stream, &kind, what, context)).transpose()?.flatten();
    if let Some(drained) = drained {
        return Ok(drained);
    }
    match what(&bytes, &kind, context) {
        Ok(value) => Ok(JsPromise::resolve(value, context)?.into()),
        Err(error) if error.as_engine().is_some() => Err(error),
        Err(error) => Ok(JsPromise::reject(error, context)?.into()),
    }
}

fn word(this: &JsValue, index: usize) -> JsResult<JsValue> {
    Ok(bind::js(&bind::this::<Request>(this)?.borrow().data().words[index]))
}

fn copy_headers(headers: &JsObject, context: &Context) -> JsResult<JsObject> {
    let copy = headers.downcast_ref::<Headers>().map(|headers| headers.clone()).unwrap_or_default();
    headers::object(copy, context)
}

fn stringify(value: &JsValue, context: &mut Context) -> JsResult<JsValue> {
    let json = context.global_object().get(js_string!("JSON"), context)?;
    let json = json.as_object().ok_or_else(|| bind::type_error("JSON is not there"))?;
    let function = json.get(js_string!("stringify"), context)?;
    let function = function.as_callable().ok_or_else(|| bind::type_error("JSON.stringify is not a function"))?;
    let text = function.call(&json.into(), std::slice::from_ref(value), context)?;
    if text.is_string() { Ok(text) } else { Err(bind::type_error("The data is not JSON serializable")) }
}

/// The constructor of `Request` (Fetch §5.4), in the parts that pages use.
fn request_of(input: &JsValue, init: &JsValue, context: &mut Context) -> JsResult<Request> {
    let other = input.as_object().and_then(|object| object.downcast_ref::<Request>().map(|request| request.clone()));
    let mut request = match other {
        Some(mut other) => {
            if other.body.used {
                return Err(bind::type_error("Failed to construct 'Request': the body was already used."));
            }
            other.headers = copy_headers(&other.headers, context)?;
            other
        }
        None => {
            let text = input.to_string(context)?.to_std_string_lossy();
            let url = url::resolve(&text, context)?;
            if !url.username().is_empty() || url.password().is_some() {
                return Err(bind::type_error("Request cannot be constructed from a URL that includes credentials"));
            }
            let headers = headers::object(Headers { of_request: true, ..Headers::default() }, context)?;
            let words = WORDS.map(|(_, usual)| usual.to_owned());
            Request { method: "GET".to_owned(), url, headers, body: Body::default(), signal: None, words }
        }
    };
    if let Some(method) = bind::member(init, "method", context)? {
        request.method = method_of(&method.to_string(context)?.to_std_string_lossy())?;
    }
    for (place, (name, _)) in WORDS.iter().enumerate() {
        if let Some(word) = bind::member(init, name, context)? {
            request.words[place] = word.to_string(context)?.to_std_string_lossy();
        }
    }
    if let Some(signal) = bind::member(init, "signal", context)? {
        request.signal = if signal.is_null() { None } else { Some(abort::signal(&signal)?) };
    }
    if let Some(given) = bind::member(init, "headers", context)? {
        let mut headers = Headers { of_request: true, ..Headers::default() };
        headers::fill(&mut headers, &given, context)?;
        request.headers = headers::object(headers, context)?;
    }
    if let Some(body) = bind::member(init, "body", context)?.filter(|body| !body.is_null()) {
        if matches!(request.method.as_str(), "GET" | "HEAD") {
            return Err(bind::type_error("Request with GET/HEAD method cannot have body."));
        }
        let (bytes, kind) = blob::extract(&body, context)?;
        request.body = Body { bytes: Some(bytes.into()), used: false, stream: None };
        usual_type(&request.headers, kind);
    }
    Ok(request)
}

/// The content type of a body applies if the page set none.
fn usual_type(headers: &JsObject, kind: Option<String>) {
    if let Some(mut headers) = headers.downcast_mut::<Headers>()
        && let Some(kind) = kind
        && headers.get("content-type").is_none()
    {
        headers.push("content-type".to_owned(), kind);
    }
}

/// Normalises a method name (Fetch §2.2.1 "normalize").
pub(super) fn method_of(name: &str) -> JsResult<String> {
    let upper = name.to_ascii_uppercase();
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty()
        || name.len() > 50
        || !name.bytes().all(token)
        || matches!(upper.as_str(), "CONNECT" | "TRACE" | "TRACK")
    {
        return Err(bind::type_error(format!("'{}' is not a valid HTTP method.", super::page::cut(name, 50))));
    }
    let usual = ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"].contains(&upper.as_str());
    Ok(if usual { upper } else { name.to_owned() })
}

fn blank(headers: JsObject) -> Response {
    Response {
        url: String::new(),
        redirected: false,
        status: 200,
        status_text: String::new(),
        kind: "default",
        headers,
        body: Body::default(),
    }
}

fn response_of(body: &JsValue, init: &JsValue, context: &mut Context) -> JsResult<Response> {
    let status = match bind::member(init, "status", context)? {
        None => 200,
        Some(status) => status.to_number(context)? as u16,
    };
    if !(200..600).contains(&status) {
        return Err(JsNativeError::range().with_message("The status provided is outside the range [200, 599].").into());
    }
    let status_text = match bind::member(init, "statusText", context)? {
        None => String::new(),
        Some(text) => text.to_string(context)?.to_std_string_lossy(),
    };
    let mut headers = Headers::default();
    if let Some(given) = bind::member(init, "headers", context)? {
        headers::fill(&mut headers, &given, context)?;
    }
    let headers = headers::object(headers, context)?;
    let mut response = Response { status, status_text, ..blank(headers) };
    if !body.is_null_or_undefined() {
        if matches!(status, 204 | 205 | 304) {
            return Err(bind::type_error("Response with null body status cannot have body"));
        }
        if let Some(stream) = body.as_object().filter(stream::is_stream) {
            response.body.stream = Some(stream);
            return Ok(response);
        }
        let (bytes, kind) = blob::extract(body, context)?;
        response.body.bytes = Some(bytes.into());
        usual_type(&response.headers, kind);
    }
    Ok(response)
}

fn fetch(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (promise, resolvers) = JsPromise::new_pending(context);
    let started = bind::want(args, 1, "fetch' on 'Window")
        .and_then(|()| request_of(&args[0], args.get_or_undefined(1), context))
        .and_then(|request| send(&request, &resolvers, context));
    if let Err(error) = started {
        let reason = error.into_opaque(context)?;
        resolvers.reject.call(&JsValue::undefined(), &[reason], context)?;
    }
    Ok(promise.into())
}

fn send(request: &Request, resolvers: &ResolvingFunctions, context: &mut Context) -> JsResult<()> {
    if let Some(reason) = request.signal.as_ref().and_then(abort::reason) {
        return Err(JsError::from_opaque(reason));
    }
    let headers = request.headers.downcast_ref::<Headers>().map(|headers| headers.list.clone()).unwrap_or_default();
    let what = NetRequest {
        asker: Asker::Fetch,
        method: request.method.clone(),
        url: request.url.to_string(),
        headers,
        credentials: request.words[1] != "omit",
        body: request.body.bytes.as_deref().unwrap_or_default().to_vec(),
    };
    let (done, signal) = (resolvers.clone(), request.signal.clone());
    let id = start(what, context, move |answer, context| {
        if signal.as_ref().is_some_and(abort::is_aborted) {
            return Ok(());
        }
        match answer {
            Ok(answer) => {
                let response = answered(answer, context)?;
                done.resolve.call(&JsValue::undefined(), &[response], context)?;
            }
            Err(_) => {
                let reason = bind::type_error("Failed to fetch").into_opaque(context)?;
                done.reject.call(&JsValue::undefined(), &[reason], context)?;
            }
        }
        Ok(())
    });
    if let Some(signal) = &request.signal {
        abort::on_abort(signal, abort::Action::Request(id, resolvers.reject.clone().into()));
    }
    Ok(())
}

/// Sends a request by its scheme: `data:` and `blob:` URLs contain their responses, others go to the crawl.
pub(super) fn start(
    mut request: NetRequest,
    context: &mut Context,
    done: impl FnOnce(Answer, &mut Context) -> JsResult<()> + 'static,
) -> u32 {
    match local(&request.url, context) {
        Some(answer) => {
            jobs::post(context, 0, move |context| done(answer, context));
            0
        }
        None => {
            if let Some(hash) = request.url.find('#') {
                request.url.truncate(hash);
            }
            jobs::request(context, request, done)
        }
    }
}

/// The response of a URL that needs no network; `None` for others.
pub(super) fn local(address: &str, context: &Context) -> Option<Answer> {
    let (scheme, rest) = address.split_once(':')?;
    let respond = |kind: String, body: Vec<u8>| {
        let headers = vec![("content-type".to_owned(), kind), ("content-length".to_owned(), body.len().to_string())];
        Ok(NetResponse {
            url: address.to_owned(),
            status: 200,
            status_text: "OK".to_owned(),
            headers,
            body,
            ..NetResponse::default()
        })
    };
    match scheme {
        "http" | "https" => None,
        "data" => {
            Some(data(rest).map_or_else(|| Err("not a data address".to_owned()), |(kind, body)| respond(kind, body)))
        }
        "blob" => {
            let blob = blob::at(address.split('#').next().unwrap_or(address), context);
            Some(blob.map_or_else(|| Err("no such blob".to_owned()), |blob| respond(blob.kind, blob.bytes.to_vec())))
        }
        other => Some(Err(format!("scheme {other} is not fetched"))),
    }
}

/// Type and bytes of a `data:` URL without its scheme (Fetch §6 "data: URL processor").
fn data(rest: &str) -> Option<(String, Vec<u8>)> {
    use base64::Engine as _;
    let rest = rest.split('#').next()?;
    let (kind, body) = rest.split_once(',')?;
    let bytes: Vec<u8> = percent_encoding::percent_decode_str(body).collect();
    let kind = kind.trim();
    let bare = kind.strip_suffix("base64").map(str::trim_end).and_then(|kind| kind.strip_suffix(';'));
    let (kind, bytes) = match bare {
        Some(bare) => {
            let packed: Vec<u8> =
                bytes.into_iter().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=').collect();
            (bare, base64::engine::general_purpose::STANDARD_NO_PAD.decode(packed).ok()?)
        }
        None => (kind, bytes),
    };
    let kind = match kind {
        "" => "text/plain;charset=US-ASCII".to_owned(),
        kind if kind.starts_with(';') => format!("text/plain{kind}"),
        kind => kind.to_owned(),
    };
    Some((kind, bytes))
}

fn answered(answer: NetResponse, context: &mut Context) -> JsResult<JsValue> {
    let list = answer.headers.into_iter().filter(|(name, _)| name != "set-cookie").collect();
    let headers = headers::object(Headers { list, of_request: false }, context)?;
    let response = Response {
        url: answer.url,
        redirected: answer.redirected,
        status: answer.status,
        status_text: answer.status_text,
        kind: "basic",
        headers,
        body: Body { bytes: Some(answer.body.into()), used: false, stream: None },
    };
    Ok(bind::object("Response", response, context)?.into())
}

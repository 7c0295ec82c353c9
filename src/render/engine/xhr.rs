//! `XMLHttpRequest` (XHR §3), asynchronous and synchronous, through the crawl's network.

use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsValue, Trace};
use encoding_rs::{Encoding, UTF_8};

use super::headers::{self, Headers};
use super::target::{Listeners, Target, TargetKind};
use super::{bind, blob, events, exception, fetch, jobs, json, target, url};
use crate::wire::{Answer, Asker, Request, RequestId, Response};

const UNSENT: u8 = 0;
const OPENED: u8 = 1;
const HEADERS_RECEIVED: u8 = 2;
const LOADING: u8 = 3;
const DONE: u8 = 4;

#[derive(Default, Trace, Finalize, JsData)]
#[boa_gc(unsafe_no_drop)]
struct Xhr {
    listeners: Listeners,
    upload: Option<JsObject>,
    state: u8,
    asynchronous: bool,
    sent: bool,
    credentials: bool,
    timeout_ms: u32,
    #[unsafe_ignore_trace]
    method: String,
    #[unsafe_ignore_trace]
    url: String,
    #[unsafe_ignore_trace]
    headers: Headers,
    #[unsafe_ignore_trace]
    kind: Kind,
    #[unsafe_ignore_trace]
    mime: Option<String>,
    #[unsafe_ignore_trace]
    response: Option<Response>,
    /// The cached value of `response`.
    made: Option<JsValue>,
    #[unsafe_ignore_trace]
    request: Option<RequestId>,
    /// Counts calls of `open`: results for an earlier one are ignored.
    #[unsafe_ignore_trace]
    round: u32,
}

/// The type of `response`.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Usual,
    Text,
    Json,
    Buffer,
    Blob,
    Document,
}

const KINDS: [(&str, Kind); 6] = [
    ("", Kind::Usual),
    ("text", Kind::Text),
    ("json", Kind::Json),
    ("arraybuffer", Kind::Buffer),
    ("blob", Kind::Blob),
    ("document", Kind::Document),
];

impl Target for Xhr {
    fn listeners(&mut self) -> &mut Listeners {
        &mut self.listeners
    }
}

#[derive(Default, Trace, Finalize, JsData)]
struct Upload {
    listeners: Listeners,
}

impl Target for Upload {
    fn listeners(&mut self) -> &mut Listeners {
        &mut self.listeners
    }
}

const HANDLERS: &[&str] = &["loadstart", "progress", "abort", "error", "load", "timeout", "loadend"];

const STATES: &[(&str, u32)] = &[("UNSENT", 0), ("OPENED", 1), ("HEADERS_RECEIVED", 2), ("LOADING", 3), ("DONE", 4)];

const XHR: bind::Interface = bind::Interface {
    name: "XMLHttpRequest",
    parent: Some("XMLHttpRequestEventTarget"),
    constructor: Some(|new_target, _, context| {
        let upload = bind::object("XMLHttpRequestUpload", Upload::default(), context)?;
        let xhr = Xhr { upload: Some(upload), ..Xhr::default() };
        bind::construct(new_target, "XMLHttpRequest", xhr, context)
    }),
    methods: &[
        ("open", 2, open),
        ("setRequestHeader", 2, set_request_header),
        ("send", 0, send),
        ("abort", 0, abort),
        ("getResponseHeader", 1, |this, args, context| {
            let name = bind::text(args, 0, context)?.to_ascii_lowercase();
            let this = bind::this::<Xhr>(this)?;
            let value = answer_headers(this.borrow().data()).get(&name);
            Ok(value.map_or_else(JsValue::null, |value| bind::js(&value)))
        }),
        ("getAllResponseHeaders", 0, |this, _, _| {
            let this = bind::this::<Xhr>(this)?;
            let mut list = answer_headers(this.borrow().data()).list;
            list.sort_by(|a, b| a.0.cmp(&b.0));
            Ok(bind::js(&list.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect::<String>()))
        }),
        ("overrideMimeType", 1, |this, args, context| {
            let mime = bind::text(args, 0, context)?;
            bind::this::<Xhr>(this)?.borrow_mut().data_mut().mime = Some(mime);
            Ok(JsValue::undefined())
        }),
    ],
    attributes: &[
        ("readyState", |this, _, _| Ok(bind::this::<Xhr>(this)?.borrow().data().state.into()), None),
        (
            "status",
            |this, _, _| Ok(bind::this::<Xhr>(this)?.borrow().data().response.as_ref().map_or(0, |r| r.status).into()),
            None,
        ),
        (
            "statusText",
            |this, _, _| {
                let this = bind::this::<Xhr>(this)?;
                let this = this.borrow();
                Ok(bind::js(this.data().response.as_ref().map_or("", |response| &response.status_text)))
            },
            None,
        ),
        (
            "responseURL",
            |this, _, _| {
                let this = bind::this::<Xhr>(this)?;
                let this = this.borrow();
                Ok(bind::js(this.data().response.as_ref().map_or("", |response| &response.url)))
            },
            None,
        ),
        ("responseText", response_text, None),
        ("response", response, None),
        ("responseXML", response_document, None),
        (
            "responseType",
            |this, _, _| {
                let kind = bind::this::<Xhr>(this)?.borrow().data().kind;
                Ok(bind::js(KINDS.iter().find(|(_, other)| *other == kind).map_or("", |(name, _)| name)))
            },
            Some(set_response_type),
        ),
        (
            "timeout",
            |this, _, _| Ok(bind::this::<Xhr>(this)?.borrow().data().timeout_ms.into()),
            Some(|this, args, context| {
                let time = args.get_or_undefined(0).to_u32(context)?;
                bind::this::<Xhr>(this)?.borrow_mut().data_mut().timeout_ms = time;
                Ok(JsValue::undefined())
            }),
        ),
        (
            "withCredentials",
            |this, _, _| Ok(bind::this::<Xhr>(this)?.borrow().data().credentials.into()),
            Some(|this, args, _| {
                let with = args.get_or_undefined(0).to_boolean();
                bind::this::<Xhr>(this)?.borrow_mut().data_mut().credentials = with;
                Ok(JsValue::undefined())
            }),
        ),
        (
            "upload",
            |this, _, _| {
                let upload = bind::this::<Xhr>(this)?.borrow().data().upload.clone();
                Ok(upload.map_or_else(JsValue::null, JsValue::from))
            },
            None,
        ),
    ],
    constants: STATES,
    ..bind::Interface::EMPTY
};

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let base =
        bind::Interface { name: "XMLHttpRequestEventTarget", parent: Some("EventTarget"), ..bind::Interface::EMPTY };
    let prototype = bind::define(&base, context)?;
    target::handlers(&prototype, HANDLERS, context)?;
    let upload = bind::Interface {
        name: "XMLHttpRequestUpload",
        parent: Some("XMLHttpRequestEventTarget"),
        ..bind::Interface::EMPTY
    };
    bind::define(&upload, context)?;
    let prototype = bind::define(&XHR, context)?;
    target::handlers(&prototype, &["readystatechange"], context)?;
    target::register(TargetKind::of::<Xhr>(|_, _, _| None), context);
    target::register(TargetKind::of::<Upload>(|_, _, _| None), context);
    Ok(())
}

fn answer_headers(xhr: &Xhr) -> Headers {
    let list = xhr.response.as_ref().map(|response| response.headers.clone()).unwrap_or_default();
    Headers { list: list.into_iter().filter(|(name, _)| name != "set-cookie").collect(), of_request: false }
}

fn open(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 2, "open' on 'XMLHttpRequest")?;
    let xhr = bind::this::<Xhr>(this)?;
    let method = bind::text(args, 0, context)?;
    let method =
        fetch::method_of(&method).map_err(|_| exception::error("SyntaxError", "not a valid HTTP method", context))?;
    let address = bind::text(args, 1, context)?;
    let url = url::resolve(&address, context);
    let url = url.map_err(|_| exception::error("SyntaxError", "Failed to execute 'open': Invalid URL", context))?;
    let asynchronous = args.get(2).is_none_or(JsValue::to_boolean);
    let old = {
        let mut data = xhr.borrow_mut();
        let data = data.data_mut();
        (data.method, data.url, data.asynchronous) = (method, url.to_string(), asynchronous);
        (data.sent, data.response, data.made) = (false, None, None);
        data.headers = Headers { of_request: true, ..Headers::default() };
        data.round += 1;
        data.request.take()
    };
    if let Some(request) = old {
        jobs::give_up(context, request);
    }
    let opened = xhr.borrow().data().state == OPENED;
    if !opened {
        enter_state(&xhr, OPENED, context);
    }
    Ok(JsValue::undefined())
}

fn set_request_header(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 2, "setRequestHeader' on 'XMLHttpRequest")?;
    let xhr = bind::this::<Xhr>(this)?;
    ready(&xhr, context)?;
    let bad = |context: &mut Context| exception::error("SyntaxError", "not a valid HTTP header field", context);
    let name = headers::name(&args[0], context).map_err(|_| bad(context))?;
    let value = headers::value(&args[1], context).map_err(|_| bad(context))?;
    let mut data = xhr.borrow_mut();
    let headers = &mut data.data_mut().headers;
    match headers.get(&name) {
        Some(before) => headers.set(&name, format!("{before}, {value}")),
        None => headers.push(name, value),
    }
    Ok(JsValue::undefined())
}

/// Throws unless it is opened and not sent yet.
fn ready(xhr: &JsObject<Xhr>, context: &mut Context) -> JsResult<()> {
    let well = {
        let data = xhr.borrow();
        data.data().state == OPENED && !data.data().sent
    };
    if well {
        return Ok(());
    }
    Err(exception::error("InvalidStateError", "The object's state must be OPENED.", context))
}

fn send(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let xhr = bind::this::<Xhr>(this)?;
    ready(&xhr, context)?;
    let body = args.get_or_undefined(0);
    let (bytes, kind) = if body.is_null_or_undefined() { (Vec::new(), None) } else { blob::extract(body, context)? };
    let (request, asynchronous, round, timeout_ms) = {
        let mut data = xhr.borrow_mut();
        let data = data.data_mut();
        let bare = matches!(data.method.as_str(), "GET" | "HEAD");
        if let Some(kind) = kind.filter(|_| !bare && data.headers.get("content-type").is_none()) {
            data.headers.push("content-type".to_owned(), kind);
        }
        data.sent = true;
        let request = Request {
            asker: Asker::Xhr,
            method: data.method.clone(),
            url: data.url.clone(),
            headers: data.headers.list.clone(),
            credentials: true,
            body: if bare { Vec::new() } else { bytes },
        };
        (request, data.asynchronous, data.round, data.timeout_ms)
    };
    if !asynchronous {
        let answer = fetch::local(&request.url, context).unwrap_or_else(|| jobs::request_and_wait(context, request));
        return match answer {
            Ok(response) => {
                receive(&xhr, response);
                enter_state(&xhr, DONE, context);
                progress(&xhr, &["load", "loadend"], context);
                Ok(JsValue::undefined())
            }
            Err(_) => {
                xhr.borrow_mut().data_mut().state = DONE;
                Err(exception::error(
                    "NetworkError",
                    "Failed to execute 'send' on 'XMLHttpRequest': Failed to load",
                    context,
                ))
            }
        };
    }
    progress(&xhr, &["loadstart"], context);
    let waiting = xhr.clone();
    let id = fetch::start(request, context, move |answer, context| {
        let current = {
            let data = waiting.borrow();
            data.data().round == round && data.data().sent
        };
        if current {
            answered(&waiting, answer, context);
        }
        Ok(())
    });
    xhr.borrow_mut().data_mut().request = Some(id);
    if timeout_ms > 0 {
        let waiting = xhr.clone();
        jobs::post(context, u64::from(timeout_ms) * 1_000, move |context| {
            let late = {
                let data = waiting.borrow();
                data.data().round == round && data.data().sent && data.data().state != DONE
            };
            if late {
                fail(&waiting, "timeout", context);
            }
            Ok(())
        });
    }
    Ok(JsValue::undefined())
}

fn receive(xhr: &JsObject<Xhr>, response: Response) {
    let mut data = xhr.borrow_mut();
    let data = data.data_mut();
    (data.response, data.request) = (Some(response), None);
}

fn answered(xhr: &JsObject<Xhr>, answer: Answer, context: &mut Context) {
    let Ok(response) = answer else { return fail(xhr, "error", context) };
    let round = xhr.borrow().data().round;
    let empty = response.body.is_empty();
    receive(xhr, response);
    // A listener may call `open` again, after which the remaining steps do not apply.
    let current = |xhr: &JsObject<Xhr>| xhr.borrow().data().round == round && xhr.borrow().data().sent;
    for state in [HEADERS_RECEIVED, LOADING, DONE] {
        if state == LOADING && empty {
            continue;
        }
        enter_state(xhr, state, context);
        if !current(xhr) {
            return;
        }
        if state == LOADING {
            progress(xhr, &["progress"], context);
        }
    }
    xhr.borrow_mut().data_mut().sent = false;
    progress(xhr, &["load", "loadend"], context);
}

/// XHR §3.5.6 "request error steps".
fn fail(xhr: &JsObject<Xhr>, event: &'static str, context: &mut Context) {
    let request = {
        let mut data = xhr.borrow_mut();
        let data = data.data_mut();
        (data.sent, data.response, data.made) = (false, None, None);
        data.request.take()
    };
    if let Some(request) = request {
        jobs::give_up(context, request);
    }
    enter_state(xhr, DONE, context);
    progress(xhr, &[event, "loadend"], context);
}

fn abort(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let xhr = bind::this::<Xhr>(this)?;
    let (state, sent) = {
        let data = xhr.borrow();
        (data.data().state, data.data().sent)
    };
    if sent && state >= OPENED && state != DONE {
        fail(&xhr, "abort", context);
    }
    let mut data = xhr.borrow_mut();
    if data.data().state == DONE {
        (data.data_mut().state, data.data_mut().response) = (UNSENT, None);
    }
    Ok(JsValue::undefined())
}

fn enter_state(xhr: &JsObject<Xhr>, state: u8, context: &mut Context) {
    xhr.borrow_mut().data_mut().state = state;
    events::fire(&xhr.clone().upcast(), "Event", "readystatechange", (false, false), &[], context);
}

fn progress(xhr: &JsObject<Xhr>, kinds: &[&'static str], context: &mut Context) {
    let (loaded, total) = {
        let data = xhr.borrow();
        let response = data.data().response.as_ref();
        let total = response.and_then(|response| response.header("content-length")).and_then(|text| text.parse().ok());
        (response.map_or(0.0, |response| response.body.len() as f64), total.unwrap_or(0.0))
    };
    for kind in kinds {
        let members = [("lengthComputable", (total > 0.0).into()), ("loaded", loaded.into()), ("total", total.into())];
        events::fire(&xhr.clone().upcast(), "ProgressEvent", kind, (false, false), &members, context);
    }
}

fn set_response_type(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let xhr = bind::this::<Xhr>(this)?;
    let name = bind::text(args, 0, context)?;
    if xhr.borrow().data().state >= LOADING {
        return Err(exception::error("InvalidStateError", "The response type cannot be set now.", context));
    }
    // An invalid enumeration value is ignored (WebIDL §3.3.15).
    if let Some((_, kind)) = KINDS.iter().find(|(other, _)| *other == name) {
        xhr.borrow_mut().data_mut().kind = *kind;
    }
    Ok(JsValue::undefined())
}

/// Parses a response into a document, of the type in its `content-type`.
pub type ReadDocument = fn(&Response, &mut Context) -> JsResult<JsValue>;

struct Documents(ReadDocument);

/// Sets the document reader: this module knows no documents.
pub fn set_document_reader(read: ReadDocument, context: &mut Context) {
    context.insert_data(Documents(read));
}

/// The response as a document (XMLHttpRequest §3.6.6 "document response"): XML, or HTML if the page requested a document.
fn response_document(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let xhr = bind::this::<Xhr>(this)?;
    let (kind, state, made, response, mime) = {
        let data = xhr.borrow();
        let data = data.data();
        (data.kind, data.state, data.made.clone(), data.response.clone(), data.mime.clone())
    };
    if !matches!(kind, Kind::Usual | Kind::Document) {
        return Err(exception::error(
            "InvalidStateError",
            "The value is only accessible if the object's 'responseType' is '' or 'document'.",
            context,
        ));
    }
    let (DONE, Some(mut response)) = (state, response) else { return Ok(JsValue::null()) };
    if let Some(made) = made {
        return Ok(made);
    }
    let mime =
        mime.or_else(|| response.header("content-type").map(str::to_owned)).unwrap_or_else(|| "text/xml".to_owned());
    let essence = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_xml = essence.ends_with("/xml") || essence.ends_with("+xml");
    let is_html = essence == "text/html" && kind == Kind::Document;
    let read = context.get_data::<Documents>().map(|documents| documents.0);
    let (true, Some(read)) = (is_xml || is_html, read) else { return Ok(JsValue::null()) };
    response.headers.retain(|(name, _)| name != "content-type");
    let known = ["text/html", "text/xml", "application/xml", "application/xhtml+xml", "image/svg+xml"];
    let told = if known.contains(&essence.as_str()) { mime } else { "application/xml".to_owned() };
    response.headers.push(("content-type".to_owned(), told));
    let value = read(&response, context)?;
    xhr.borrow_mut().data_mut().made = Some(value.clone());
    Ok(value)
}

/// The charset of the type, or the page's override.
fn charset(kind: &str) -> Option<&'static Encoding> {
    let (_, label) = kind.to_ascii_lowercase().split_once("charset=").map(|(a, b)| (a.len(), b.to_owned()))?;
    Encoding::for_label(label.split(';').next()?.trim().trim_matches('"').as_bytes())
}

fn text_of(xhr: &Xhr) -> String {
    let Some(response) = &xhr.response else { return String::new() };
    let kind = xhr.mime.as_deref().or_else(|| response.header("content-type")).unwrap_or_default();
    charset(kind).unwrap_or(UTF_8).decode(&response.body).0.into_owned()
}

fn response_text(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let xhr = bind::this::<Xhr>(this)?;
    let data = xhr.borrow();
    if !matches!(data.data().kind, Kind::Usual | Kind::Text) {
        drop(data);
        return Err(exception::error(
            "InvalidStateError",
            "The value is only accessible if the object's 'responseType' is '' or 'text'.",
            context,
        ));
    }
    if data.data().state < LOADING {
        return Ok(bind::js(""));
    }
    Ok(bind::js(&text_of(data.data())))
}

fn response(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let xhr = bind::this::<Xhr>(this)?;
    let (kind, state, made, body, mime) = {
        let data = xhr.borrow();
        let data = data.data();
        let body = data.response.as_ref().map(|response| response.body.clone());
        let mime = data.mime.clone().or_else(|| data.response.as_ref()?.header("content-type").map(str::to_owned));
        (data.kind, data.state, data.made.clone(), body, mime.unwrap_or_default())
    };
    if matches!(kind, Kind::Usual | Kind::Text) {
        return response_text(this, args, context);
    }
    let (DONE, Some(body)) = (state, body) else { return Ok(JsValue::null()) };
    if let Some(made) = made {
        return Ok(made);
    }
    let value = match kind {
        Kind::Json => json::parse(&UTF_8.decode_with_bom_removal(&body).0, context).unwrap_or_else(|_| JsValue::null()),
        Kind::Buffer => bind::buffer(&body, context)?.into(),
        Kind::Blob => {
            let blob = blob::Blob { bytes: body.into(), kind: mime, ..blob::Blob::default() };
            bind::object("Blob", blob, context)?.into()
        }
        Kind::Document => return response_document(this, args, context),
        Kind::Usual | Kind::Text => JsValue::null(),
    };
    xhr.borrow_mut().data_mut().made = Some(value.clone());
    Ok(value)
}

//! `EventSource` (HTML §9.2): one request for each, and the events that have arrived by its response. A stream that never ends is cut by
//! the crawl after a while, and stays open: no more comes from it. One that ends is not requested again.

use std::cell::Cell;

use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsValue, Trace, js_string};

use super::windows;
use crate::engine::target::{self, Listeners, Target, TargetKind};
use crate::engine::{bind, events, exception, jobs, realm};
use crate::limits;
use crate::web::missing;
use crate::wire::{Answer, Asker, Request, RequestId};

/// What a page lacks whose stream was cut before its first event.
const SILENT: &str = "events of EventSource, which did not come in time";

const CONNECTING: u8 = 0;
const OPEN: u8 = 1;
const CLOSED: u8 = 2;

#[derive(Trace, Finalize, JsData)]
struct Source {
    listeners: Listeners,
    #[unsafe_ignore_trace]
    url: String,
    #[unsafe_ignore_trace]
    state: u8,
    #[unsafe_ignore_trace]
    with_credentials: bool,
    /// Its request, while it is under way.
    #[unsafe_ignore_trace]
    request: Option<RequestId>,
}

impl Target for Source {
    fn listeners(&mut self) -> &mut Listeners {
        &mut self.listeners
    }
}

/// Streams that the page has asked for.
#[derive(Default)]
struct Asked(Cell<u32>);

const SOURCE: bind::Interface = bind::Interface {
    name: "EventSource",
    parent: Some("EventTarget"),
    length: 1,
    constructor: Some(construct),
    methods: &[("close", 0, |this, _, context| {
        let source = bind::this::<Source>(this)?;
        source.borrow_mut().data_mut().state = CLOSED;
        let request = source.borrow_mut().data_mut().request.take();
        if let Some(request) = request {
            jobs::give_up(context, request);
        }
        Ok(JsValue::undefined())
    })],
    attributes: &[
        ("url", |this, _, _| Ok(bind::js(&bind::this::<Source>(this)?.borrow().data().url)), None),
        ("readyState", |this, _, _| Ok(bind::this::<Source>(this)?.borrow().data().state.into()), None),
        ("withCredentials", |this, _, _| Ok(bind::this::<Source>(this)?.borrow().data().with_credentials.into()), None),
    ],
    constants: &[("CONNECTING", 0), ("OPEN", 1), ("CLOSED", 2)],
    ..bind::Interface::EMPTY
};

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    realm::share(Asked::default, context);
    target::register(TargetKind::of::<Source>(|_, _, _| None), context);
    let prototype = bind::define(&SOURCE, context)?;
    target::handlers(&prototype, &["open", "message", "error"], context)
}

fn construct(new_target: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 1, "EventSource")?;
    let text = args[0].to_string(context)?.to_std_string_lossy();
    let Ok(mut url) = windows::base(context).join(&text) else {
        return Err(exception::error("SyntaxError", &format!("The URL '{text}' is invalid."), context));
    };
    let with_credentials = bind::flag(args.get_or_undefined(1), "withCredentials", context)?;
    let (listeners, text) = (Listeners::default(), url.to_string());
    let data = Source { listeners, url: text, state: CONNECTING, with_credentials, request: None };
    let made = bind::construct(new_target, "EventSource", data, context)?;
    let source = bind::this::<Source>(&made)?;
    let asked = context.get_data::<Asked>().map_or(0, |asked| asked.0.replace(asked.0.get().saturating_add(1)));
    if asked >= limits::EVENT_SOURCES_MAX {
        jobs::post(context, 0, move |context| {
            end(&source, CLOSED, context);
            Ok(())
        });
        return Ok(made);
    }
    url.set_fragment(None);
    let headers = [("accept", "text/event-stream"), ("cache-control", "no-cache")];
    let request = Request {
        asker: Asker::Events,
        method: "GET".to_owned(),
        url: url.to_string(),
        headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        credentials: true,
        body: Vec::new(),
    };
    let listener = source.clone();
    let id = jobs::request(context, request, move |answer, context| {
        listener.borrow_mut().data_mut().request = None;
        answered(&listener, answer, context);
        Ok(())
    });
    source.borrow_mut().data_mut().request = Some(id);
    Ok(made)
}

fn answered(source: &JsObject<Source>, answer: Answer, context: &mut Context) {
    let state = || source.borrow().data().state;
    if state() == CLOSED {
        return;
    }
    let is_stream =
        |kind: &str| kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/event-stream");
    let response = match answer {
        // It is still connecting.
        Ok(response) if response.ongoing && response.status == 0 => return missing::touched(SILENT, context),
        Ok(response) if response.status == 200 && response.header("content-type").is_some_and(is_stream) => response,
        _ => return end(source, CLOSED, context),
    };
    source.borrow_mut().data_mut().state = OPEN;
    fire(source, "Event", "open", &[], context);
    let origin = url::Url::parse(&response.url).map(|url| url.origin().ascii_serialization()).unwrap_or_default();
    let mut is_silent = response.ongoing;
    for event in events_of(&encoding_rs::UTF_8.decode_with_bom_removal(&response.body).0) {
        is_silent = false;
        if state() == CLOSED {
            return;
        }
        let members = [
            ("data", js_string!(event.data.as_str()).into()),
            ("origin", bind::js(&origin)),
            ("lastEventId", bind::js(&event.id)),
            ("ports", bind::array([], context)),
        ];
        fire(source, "MessageEvent", &event.kind, &members, context);
    }
    if is_silent {
        missing::touched(SILENT, context);
    }
    if !response.ongoing && state() != CLOSED {
        // The connection has ended; a browser would begin another one in some seconds.
        end(source, CONNECTING, context);
    }
}

fn end(source: &JsObject<Source>, state: u8, context: &mut Context) {
    source.borrow_mut().data_mut().state = state;
    fire(source, "Event", "error", &[], context);
}

fn fire(
    source: &JsObject<Source>,
    interface: &'static str,
    kind: &str,
    members: &[(&'static str, JsValue)],
    context: &mut Context,
) {
    let target = source.clone().upcast();
    jobs::outside(context, |context| events::fire(&target, interface, kind, (false, false), members, context));
}

/// One event of a stream.
#[derive(Debug, PartialEq, Eq)]
struct StreamEvent {
    kind: String,
    data: String,
    /// The last `id` so far.
    id: String,
}

/// The complete events of a stream (HTML §9.2.6 "interpreting an event stream").
fn events_of(text: &str) -> impl Iterator<Item = StreamEvent> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    // What follows the last line break is not a complete line.
    let end = text.rfind('\n').map_or(0, |end| end + 1);
    let (mut kind, mut data, mut id) = (String::new(), String::new(), String::new());
    let mut found = Vec::new();
    for line in text[..end].split_terminator('\n') {
        if line.is_empty() {
            let (kind, mut data) = (std::mem::take(&mut kind), std::mem::take(&mut data));
            if data.pop().is_some() {
                let kind = if kind.is_empty() { "message".to_owned() } else { kind };
                found.push(StreamEvent { kind, data, id: id.clone() });
            }
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut kind),
            "data" => {
                data.push_str(value);
                data.push('\n');
            }
            "id" if !value.contains('\0') => value.clone_into(&mut id),
            _ => {}
        }
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_has_the_events_that_are_complete() {
        let told: Vec<_> = events_of(
            ":comment\n\nid: 1\nevent: add\ndata: a\ndata:b\n\ndata\r\n\r\nevent: none\n\nid\ndata:  c\n\nretry: 5\ndata: cut",
        )
        .map(|event| (event.kind, event.data, event.id))
        .collect();
        let wanted = [("add", "a\nb", "1"), ("message", "", "1"), ("message", " c", "")];
        assert_eq!(told, wanted.map(|(kind, data, id)| (kind.to_owned(), data.to_owned(), id.to_owned())));
    }
}

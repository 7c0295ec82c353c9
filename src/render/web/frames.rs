//! Frames (HTML §4.8.5): documents within the document, as far as the page's scripts can look into them.
//!
//! A frame of the page's own origin is fetched and read, without scripts of its own; what of another origin a script could not see is not
//! fetched. Either way the element's `load` comes. All documents stand in one tree, all windows share the page's globals: a frame's window
//! is an object that inherits from the page's.

use std::collections::HashMap;

use boa_engine::property::PropertyDescriptor;
use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsValue, Trace, js_string};
use encoding_rs::Encoding;
use html5ever::{local_name, ns};
use url::Url;

use super::{change, document, load, of, read, settle, slot, this_element, wrap};
use crate::limits;
use crate::render::dom::{Mutation, NodeId, Parser, Step, Tree};
use crate::render::engine::net::{Answer, Asker, Request, Response};
use crate::render::engine::target::{self, Listeners, Target, TargetKind};
use crate::render::engine::{bind, events, jobs, page, xhr};

/// The frames that have a document, by their elements.
#[derive(Default)]
pub struct Frames {
    documents: HashMap<NodeId, Shown>,
}

/// What a frame shows.
struct Shown {
    document: NodeId,
    /// Whether scripts of the page may see it.
    same_origin: bool,
    /// Navigations of the frame so far: the answer to an old one is dropped.
    navigations: u32,
}

/// The window of a frame.
#[derive(Trace, Finalize, JsData)]
struct FrameWindow {
    #[unsafe_ignore_trace]
    frame: NodeId,
    listeners: Listeners,
}

impl Target for FrameWindow {
    fn listeners(&mut self) -> &mut Listeners {
        &mut self.listeners
    }
}

const ATTRIBUTES: &[bind::Attribute] = &[
    (
        "contentDocument",
        |this, _, context| {
            let frame = this_element(this, context)?;
            let document = document_of(frame, context);
            super::wrap_or_null(document, context)
        },
        None,
    ),
    (
        "contentWindow",
        |this, _, context| {
            let frame = this_element(this, context)?;
            window_of(frame, context)
        },
        None,
    ),
];

const METHODS: &[bind::Method] = &[("getSVGDocument", 0, |this, _, context| {
    let frame = this_element(this, context)?;
    let document = document_of(frame, context);
    let is_svg = |id: &NodeId| {
        read(context, |tree| tree.document_data(*id).is_some_and(|data| data.content_type == "image/svg+xml"))
    };
    let document = document.filter(is_svg);
    super::wrap_or_null(document, context)
})];

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    target::register(TargetKind::of::<FrameWindow>(|_, _, _| None), context);
    let read: xhr::ReadDocument = |response, context| {
        let document = document_from(response, context)?;
        wrap(document, context).map(JsValue::from)
    };
    xhr::set_document_reader(read, context);
    for interface in ["HTMLIFrameElement", "HTMLFrameElement", "HTMLObjectElement"] {
        let prototype = bind::prototype(interface, context)?;
        bind::attributes(&prototype, ATTRIBUTES, context)?;
        bind::methods(&prototype, METHODS, context)?;
    }
    Ok(())
}

/// Whether the element is a frame.
pub fn is_frame(tree: &Tree, id: NodeId) -> bool {
    tree.element(id).is_some_and(|element| {
        element.name().ns == ns!(html) && matches!(element.name().local, local_name!("iframe") | local_name!("frame"))
    })
}

/// The document of a frame that scripts of the page may see.
pub fn document_of(frame: NodeId, context: &Context) -> Option<NodeId> {
    let web = of(context);
    let web = web.borrow();
    web.frames.documents.get(&frame).filter(|shown| shown.same_origin).map(|shown| shown.document)
}

/// The frame that shows a document.
pub fn frame_of(document: NodeId, context: &Context) -> Option<NodeId> {
    let web = of(context);
    let web = web.borrow();
    web.frames.documents.iter().find(|(_, shown)| shown.document == document).map(|(frame, _)| *frame)
}

/// The frames of the window's document, in tree order.
fn frames(context: &Context) -> Vec<NodeId> {
    let web = of(context);
    let web = web.borrow();
    let tree = &web.tree;
    let mut frames: Vec<NodeId> =
        web.frames.documents.keys().copied().filter(|id| tree.contains(web.document, *id)).collect();
    frames.sort_by(|a, b| tree.compare_order(*a, *b));
    frames
}

/// The frame of a name, which links and forms go to (HTML §7.3.1.2).
pub fn named(name: &str, context: &Context) -> Option<NodeId> {
    let is_it = |id: &NodeId| read(context, |tree| tree.attribute(*id, &local_name!("name")) == Some(name));
    frames(context).into_iter().find(is_it)
}

/// `window.length`.
pub fn count(context: &Context) -> u32 {
    u32::try_from(frames(context).len()).unwrap_or(u32::MAX)
}

/// `window[index]`.
///
/// # Errors
/// None that a page could cause.
pub fn window_at(index: u32, context: &mut Context) -> JsResult<JsValue> {
    match frames(context).get(index as usize) {
        Some(frame) => window_of(*frame, context),
        None => Ok(JsValue::undefined()),
    }
}

/// The window of a frame, `null` where it has none.
///
/// # Errors
/// None that a page could cause.
pub fn window_of(frame: NodeId, context: &mut Context) -> JsResult<JsValue> {
    if !of(context).borrow().frames.documents.contains_key(&frame) {
        return Ok(JsValue::null());
    }
    slot(frame, "contentWindow", context, |context| make_window(frame, context)).map(JsValue::from)
}

fn make_window(frame: NodeId, context: &mut Context) -> JsResult<JsObject> {
    let global = context.global_object();
    let data = FrameWindow { frame, listeners: Listeners::default() };
    let window = JsObject::from_proto_and_data(global.clone(), data);
    let attributes: &[bind::Attribute] = &[
        (
            "document",
            |this, _, context| {
                let frame = this_window(this)?;
                let document = document_of(frame, context);
                super::wrap_or_null(document, context)
            },
            None,
        ),
        ("frameElement", |this, _, context| wrap(this_window(this)?, context).map(JsValue::from), None),
        (
            "location",
            |this, _, context| {
                let frame = this_window(this)?;
                location(frame, context)
            },
            Some(|this, args, context| {
                let frame = this_window(this)?;
                go(frame, args, context)
            }),
        ),
    ];
    bind::attributes(&window, attributes, context)?;
    target::handlers(&window, &["load", "unload", "message", "hashchange"], context)?;
    let parser = super::parsing::parser_of(frame, context)?;
    bind::hidden(&window, js_string!("DOMParser"), parser.into(), true, context)?;
    let me: JsValue = window.clone().into();
    let above: JsValue = global.into();
    for (name, value) in [
        ("window", me.clone()),
        ("self", me.clone()),
        ("frames", me),
        ("parent", above.clone()),
        ("top", above),
        ("length", 0.into()),
        ("closed", false.into()),
        ("onerror", JsValue::null()),
        ("name", js_string!().into()),
    ] {
        let property = PropertyDescriptor::builder().value(value).writable(true).enumerable(true).configurable(true);
        window.define_property_or_throw(js_string!(name), property, context)?;
    }
    Ok(window)
}

fn this_window(this: &JsValue) -> JsResult<NodeId> {
    Ok(bind::this::<FrameWindow>(this)?.borrow().data().frame)
}

/// The address that a frame shows, with the ways to another.
fn location(frame: NodeId, context: &mut Context) -> JsResult<JsValue> {
    let shown = document_of(frame, context).map(|document| document::address(document, context).to_string());
    let make = context.global_object().get(js_string!("URL"), context)?;
    let make = make.as_object().ok_or_else(|| bind::type_error("URL is gone"))?;
    let location = make.construct(&[bind::js(&shown.unwrap_or_else(|| "about:blank".to_owned()))], None, context)?;
    for name in ["assign", "replace"] {
        let window = window_of(frame, context)?.as_object();
        let body = boa_engine::NativeFunction::from_copy_closure_with_captures(
            |_, args, window: &Option<JsObject>, context| match window {
                Some(window) => go(this_window(&window.clone().into())?, args, context),
                None => Ok(JsValue::undefined()),
            },
            window,
        );
        let function = body.to_js_function(context.realm());
        location.create_data_property_or_throw(js_string!(name), function, context)?;
    }
    Ok(location.into())
}

fn go(frame: NodeId, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let address = args.get_or_undefined(0).to_string(context)?.to_std_string_lossy();
    let document = of(context).borrow().document;
    if let Ok(url) = document::base_url(document, context).join(address.trim()) {
        navigate(frame, url, context);
    }
    Ok(JsValue::undefined())
}

/// Opens frames that came into a document that is shown, and closes those that left one.
pub(super) fn watch(log: &[Mutation], context: &mut Context) {
    let (mut came, mut turned, mut some_left) = (Vec::new(), Vec::new(), false);
    {
        let web = of(context);
        let web = web.borrow();
        let tree = &web.tree;
        for mutation in log {
            match mutation {
                Mutation::Children { added, removed, .. } => {
                    some_left |= !removed.is_empty();
                    for top in added {
                        let below = std::iter::once(*top).chain(tree.descendants(*top));
                        came.extend(below.filter(|id| is_frame(tree, *id)));
                    }
                }
                Mutation::Attribute { target, local, .. }
                    if matches!(*local, local_name!("src") | local_name!("srcdoc")) && is_frame(tree, *target) =>
                {
                    turned.push(*target);
                }
                _ => {}
            }
        }
        some_left &= !web.frames.documents.is_empty();
    }
    if some_left {
        leave_lost(context);
    }
    open_all(came, context);
    for frame in turned {
        if of(context).borrow().frames.documents.contains_key(&frame) {
            follow_attributes(frame, context);
        }
    }
}

/// Whether the element stands in the window's document or in that of a frame.
fn is_shown(frame: NodeId, context: &Context) -> bool {
    let web = of(context);
    let web = web.borrow();
    let root = web.tree.shadow_including_root(frame);
    root == web.document || web.frames.documents.values().any(|shown| shown.document == root)
}

/// Closes the frames whose elements stand in no shown document any more.
fn leave_lost(context: &mut Context) {
    loop {
        let lost: Vec<NodeId> = {
            let web = of(context);
            let frames: Vec<NodeId> = web.borrow().frames.documents.keys().copied().collect();
            frames.into_iter().filter(|frame| !is_shown(*frame, context)).collect()
        };
        if lost.is_empty() {
            return;
        }
        for frame in lost {
            of(context).borrow_mut().frames.documents.remove(&frame);
        }
    }
}

/// Gives a frame its first document, which is empty.
fn open(frame: NodeId, context: &mut Context) -> JsResult<()> {
    let shown = of(context).borrow().frames.documents.len();
    if shown >= limits::RENDER_FRAMES_MAX {
        return Err(bind::type_error("too many frames"));
    }
    let document = fill("", "text/html", "UTF-8", context)?;
    let web = of(context);
    let mut web = web.borrow_mut();
    web.frames.documents.insert(frame, Shown { document, same_origin: true, navigations: 0 });
    Ok(())
}

/// "Process the iframe attributes" (HTML §4.8.5).
fn follow_attributes(frame: NodeId, context: &mut Context) {
    let (markup, src) = read(context, |tree| {
        let attribute = |name| tree.attribute(frame, &name).map(str::to_owned);
        (attribute(local_name!("srcdoc")), attribute(local_name!("src")))
    });
    if let Some(markup) = markup {
        let address = Url::parse("about:srcdoc").ok();
        let base = document::base_url(frame, context);
        let navigation = next_navigation(frame, context);
        task(frame, navigation, context, move |context| {
            if let Ok(document) = fill(&markup, "text/html", "UTF-8", context) {
                show(frame, document, address.unwrap_or(base), context);
            }
        });
        return;
    }
    let address = src.map(|src| src.trim().to_owned()).filter(|src| !src.is_empty());
    match address.and_then(|src| document::base_url(frame, context).join(&src).ok()) {
        Some(address) => navigate(frame, address, context),
        None => {
            let navigation = next_navigation(frame, context);
            task(frame, navigation, context, |_| {});
        }
    }
}

fn next_navigation(frame: NodeId, context: &Context) -> u32 {
    let web = of(context);
    let mut web = web.borrow_mut();
    web.frames.documents.get_mut(&frame).map_or(0, |shown| {
        shown.navigations += 1;
        shown.navigations
    })
}

/// Does something as a task, if nothing else has come into the frame until then, and says that the frame has loaded.
fn task(frame: NodeId, navigation: u32, context: &mut Context, what: impl FnOnce(&mut Context) + 'static) {
    load::delay(context);
    let posted = jobs::post(context, 0, move |context| {
        let done = jobs::outside(context, |context| {
            if navigations(frame, context) == Some(navigation) {
                what(context);
                loaded(frame, context)?;
            }
            Ok(())
        });
        load::undelay(context);
        done
    });
    if posted.is_none() {
        load::undelay(context);
    }
}

/// Navigations of a frame so far, `None` once it is closed.
fn navigations(frame: NodeId, context: &Context) -> Option<u32> {
    of(context).borrow().frames.documents.get(&frame).map(|shown| shown.navigations)
}

/// Shows another address in a frame.
pub fn navigate(frame: NodeId, address: Url, context: &mut Context) {
    let navigation = next_navigation(frame, context);
    let page = page::of(context).borrow().url.clone();
    let is_fetched = matches!(address.scheme(), "http" | "https") && address.origin() == page.origin();
    if !is_fetched || is_ancestor(frame, &address, context) {
        let is_blank = matches!(address.scheme(), "about" | "javascript");
        task(frame, navigation, context, move |context| {
            if let Some(shown) = of(context).borrow_mut().frames.documents.get_mut(&frame) {
                shown.same_origin = is_blank;
            }
        });
        return;
    }
    let mut bare = address.clone();
    bare.set_fragment(None);
    let request = Request {
        asker: Asker::Script,
        method: "GET".to_owned(),
        url: bare.to_string(),
        headers: Vec::new(),
        credentials: true,
        body: Vec::new(),
    };
    load::delay(context);
    jobs::request(context, request, move |answer, context| {
        let done = jobs::outside(context, |context| {
            if navigations(frame, context) == Some(navigation) {
                arrive(frame, &address, &page, answer, context)?;
                loaded(frame, context)?;
            }
            Ok(())
        });
        load::undelay(context);
        done
    });
}

/// Whether the address is that of a document around the frame: it would never end.
fn is_ancestor(frame: NodeId, address: &Url, context: &Context) -> bool {
    let mut at = Some(frame);
    while let Some(frame) = at {
        let document = read(context, |tree| tree.document_of(frame));
        let mut around = document::address(document, context);
        around.set_fragment(address.fragment());
        if around == *address {
            return true;
        }
        at = frame_of(document, context);
    }
    false
}

fn arrive(frame: NodeId, asked: &Url, page: &Url, answer: Answer, context: &mut Context) -> JsResult<()> {
    let got = answer.ok().and_then(|response| Some((Url::parse(&response.url).ok()?, response)));
    let Some((mut address, response)) = got.filter(|(address, _)| address.origin() == page.origin()) else {
        if let Some(shown) = of(context).borrow_mut().frames.documents.get_mut(&frame) {
            shown.same_origin = false;
        }
        return Ok(());
    };
    if address.fragment().is_none() {
        address.set_fragment(asked.fragment());
    }
    let document = document_from(&response, context)?;
    show(frame, document, address, context);
    Ok(())
}

fn show(frame: NodeId, document: NodeId, address: Url, context: &mut Context) {
    super::navigation::indicate(document, &address, context);
    let within: Vec<NodeId> = {
        let web = of(context);
        let mut web = web.borrow_mut();
        web.addresses.insert(document, address);
        let Some(shown) = web.frames.documents.get_mut(&frame) else { return };
        (shown.document, shown.same_origin) = (document, true);
        let tree = &web.tree;
        tree.descendants(document).filter(|id| is_frame(tree, *id)).collect()
    };
    leave_lost(context);
    open_all(within, context);
}

/// Opens those of the frames that stand in a document that is shown.
fn open_all(frames: Vec<NodeId>, context: &mut Context) {
    for frame in frames {
        let known = of(context).borrow().frames.documents.contains_key(&frame);
        if !known && is_shown(frame, context) && open(frame, context).is_ok() {
            follow_attributes(frame, context);
        }
    }
}

/// Types of documents that `contentType` can tell of; a frame with another one shows text.
const TYPES: &[&str] = &[
    "text/html",
    "text/plain",
    "text/css",
    "text/javascript",
    "application/json",
    "text/xml",
    "application/xml",
    "application/xhtml+xml",
    "image/svg+xml",
    "image/png",
    "image/gif",
    "image/jpeg",
    "image/bmp",
    "image/webp",
];

/// The document of an answer (HTML §7.5).
fn document_from(response: &Response, context: &mut Context) -> JsResult<NodeId> {
    let header = response.header("content-type").unwrap_or("text/html");
    let (kind, parameters) = header.split_once(';').unwrap_or((header, ""));
    let kind = kind.trim().to_ascii_lowercase();
    let kind = TYPES.iter().copied().find(|known| *known == kind).unwrap_or("text/plain");
    let label = parameters.split(';').find_map(|one| one.trim().strip_prefix("charset="));
    let declared = label.and_then(|label| Encoding::for_label(label.trim_matches(['"', ' ']).as_bytes()));
    let told = Encoding::for_bom(&response.body).map(|(encoding, _)| encoding).or(declared);
    let encoding = told.unwrap_or(encoding_rs::UTF_8);
    let (text, ..) = encoding.decode(&response.body);
    if kind.starts_with("image/") && !kind.ends_with("xml") {
        return fill("<img>", kind, "UTF-8", context);
    }
    if kind != "text/html" {
        return if kind.ends_with("xml") {
            fill_xml(&text, kind, encoding.name(), context)
        } else {
            fill(&plain(&text), kind, encoding.name(), context)
        };
    }
    let document = fill(&text, kind, encoding.name(), context)?;
    // "Changing the encoding while parsing" (HTML §13.2.3.5): the markup names another, and is read again.
    let named = read(context, |tree| encoding_in(tree, document));
    match named.filter(|named| told.is_none() && *named != encoding) {
        Some(named) => {
            let (text, ..) = named.decode(&response.body);
            fill(&text, kind, named.name(), context)
        }
        None => Ok(document),
    }
}

/// What is no markup as a document.
fn plain(text: &str) -> String {
    format!("<pre>{}</pre>", text.replace('&', "&amp;").replace('<', "&lt;"))
}

/// The encoding that a document's `meta` names.
fn encoding_in(tree: &Tree, document: NodeId) -> Option<&'static Encoding> {
    tree.descendants(document).find_map(|id| {
        let element = tree.element(id).filter(|element| element.is_html(&local_name!("meta")))?;
        let label = match element.attribute(&local_name!("charset")) {
            Some(label) => label,
            None => {
                let is_type = element.attribute(&local_name!("http-equiv"))?.eq_ignore_ascii_case("content-type");
                element.attribute(&local_name!("content")).filter(|_| is_type)?.split_once("charset=")?.1
            }
        };
        let encoding = Encoding::for_label(label.trim().as_bytes())?;
        // UTF-16 could not have been read so far, and `x-user-defined` is none of the web's.
        let is_wide = encoding == encoding_rs::UTF_16LE || encoding == encoding_rs::UTF_16BE;
        Some(if is_wide {
            encoding_rs::UTF_8
        } else if encoding == encoding_rs::X_USER_DEFINED {
            encoding_rs::WINDOWS_1252
        } else {
            encoding
        })
    })
}

/// A document of markup, whose scripts do not run.
fn fill(markup: &str, kind: &'static str, encoding: &'static str, context: &mut Context) -> JsResult<NodeId> {
    let document = change(context, |tree| {
        let document = tree.create_document(true)?;
        if let Some(data) = tree.document_data_mut(document) {
            (data.content_type, data.encoding) = (kind, encoding);
        }
        let mut parser = Parser::new(tree, document);
        let mut text = markup;
        while let Step::Script(_) = parser.feed(tree, text)? {
            text = "";
        }
        parser.finish(tree)?;
        Ok(document)
    })?;
    settle(context);
    Ok(document)
}

/// A document of XML, which tells the fault where it is not well-formed.
fn fill_xml(text: &str, kind: &'static str, encoding: &'static str, context: &mut Context) -> JsResult<NodeId> {
    change(context, |tree| {
        let document = tree.parse_xml_document(text, kind)?;
        if let Some(data) = tree.document_data_mut(document) {
            data.encoding = encoding;
        }
        Ok(document)
    })
}

/// Says that a frame has loaded, to its window and to its element.
pub(super) fn loaded(frame: NodeId, context: &mut Context) -> JsResult<()> {
    if let Some(window) = super::slot_if_made(frame, "contentWindow", context) {
        events::fire(&window, "Event", "load", (false, false), &[], context);
    }
    let element = wrap(frame, context)?;
    events::fire(&element, "Event", "load", (false, false), &[], context);
    Ok(())
}

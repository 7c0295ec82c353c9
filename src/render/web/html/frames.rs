//! Frames (HTML §4.8.5): documents within the document.
//!
//! ```text
//! an element is inserted → an empty document → its URL is requested → markup: with scripts in its own window, else static → load
//! ```
//!
//! A frame of the page's own origin is fetched and parsed, and runs its scripts; a frame of another origin, which scripts could not see,
//! is not fetched. Both get their `load` event. A frame has a window only if its scripts run or somebody accesses it (`windows`).

mod answer;
pub mod window;

use std::collections::HashMap;

use boa_engine::realm::Realm;
use boa_engine::{Context, JsObject, JsResult, JsValue};
use html5ever::{local_name, ns};
use url::Url;

use self::answer::{document_from, fill, has_scripts, with_scripts};
use super::load;
use super::windows::{self, own_document};
use crate::dom::{Mutation, NodeId, Tree};
use crate::engine::{self, bind, events, jobs, realm, xhr};
use crate::limits;
use crate::web::dom::document;
use crate::web::{change, of, read, this_element, wrap};
use crate::wire::{Answer, Asker, Request};

/// Frames that have a document, by element.
#[derive(Default)]
pub struct Frames {
    documents: HashMap<NodeId, FrameContent>,
    /// Proxies of frame windows that scripts requested, and their targets.
    proxies: HashMap<NodeId, (JsObject, JsObject)>,
}

/// The content of a frame.
struct FrameContent {
    document: NodeId,
    /// Whether scripts of the page may access it.
    same_origin: bool,
    /// It is the initial empty document: the next one of the page's origin reuses its window.
    is_first: bool,
    /// Navigations of the frame so far: the response to an old one is dropped.
    navigations: u32,
    /// The window whose `load` event waits for the frame.
    awaited_by: Option<Realm>,
}

const ATTRIBUTES: &[bind::Attribute] = &[
    (
        "contentDocument",
        |this, _, context| {
            let frame = this_element(this, context)?;
            open_window(frame, context);
            crate::web::wrap_or_null(document_of(frame, context), context)
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
    let is_svg = |id: &NodeId| {
        read(context, |tree| tree.document_data(*id).is_some_and(|data| data.content_type == "image/svg+xml"))
    };
    let document = document_of(frame, context).filter(is_svg);
    if document.is_some() {
        open_window(frame, context);
    }
    crate::web::wrap_or_null(document, context)
})];

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    let read: xhr::ReadDocument = |response, context| {
        let document = document_from(response, context)?;
        windows::take_in(document, context);
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

/// Whether an element is a frame.
pub fn is_frame(tree: &Tree, id: NodeId) -> bool {
    tree.element(id).is_some_and(|element| {
        element.name().ns == ns!(html) && matches!(element.name().local, local_name!("iframe") | local_name!("frame"))
    })
}

/// The document of a frame that scripts of the page may access.
pub fn document_of(frame: NodeId, context: &Context) -> Option<NodeId> {
    let web = of(context);
    let web = web.borrow();
    web.frames.documents.get(&frame).filter(|shown| shown.same_origin).map(|shown| shown.document)
}

/// The window of a frame's document, created on first use; `None` if it is of another origin, or beyond the limit.
fn open_window(frame: NodeId, context: &mut Context) -> Option<Realm> {
    let document = document_of(frame, context)?;
    let known = of(context).borrow().realms.get(&document).cloned();
    known.or_else(|| {
        let may_run = allowed(frame, context).1;
        windows::make(frame, document, may_run, context)
    })
}

/// The frame that shows a document.
pub fn frame_of(document: NodeId, context: &Context) -> Option<NodeId> {
    let web = of(context);
    let web = web.borrow();
    web.frames.documents.iter().find(|(_, shown)| shown.document == document).map(|(frame, _)| *frame)
}

/// The frames of the window's document, in tree order.
fn frames(context: &Context) -> Vec<NodeId> {
    let document = own_document(context);
    let web = of(context);
    let web = web.borrow();
    let tree = &web.tree;
    let mut frames: Vec<NodeId> =
        web.frames.documents.keys().copied().filter(|id| tree.contains(document, *id)).collect();
    frames.sort_by(|a, b| tree.compare_order(*a, *b));
    frames
}

/// The frame with this name: in the current window, or else in any other of the page's.
fn named_target(name: &str, context: &Context) -> Option<NodeId> {
    let is_it = |id: &NodeId| read(context, |tree| tree.attribute(*id, &local_name!("name")) == Some(name));
    let elsewhere = || {
        let mut all: Vec<NodeId> = of(context).borrow().frames.documents.keys().copied().collect();
        all.sort();
        all.into_iter().find(is_it)
    };
    frames(context).into_iter().find(is_it).or_else(elsewhere)
}

/// `window.length`.
pub fn count(context: &Context) -> u32 {
    if of(context).borrow().frames.documents.is_empty() {
        return 0;
    }
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

/// The window of a frame; `null` if it has none.
///
/// # Errors
/// None that a page could cause.
pub fn window_of(frame: NodeId, context: &mut Context) -> JsResult<JsValue> {
    if !of(context).borrow().frames.documents.contains_key(&frame) {
        return Ok(JsValue::null());
    }
    window::proxy_of(frame, context).map(JsValue::from)
}

/// Opens frames inserted into a shown document, and closes removed ones.
pub(crate) fn watch(log: &[Mutation], context: &mut Context) {
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

/// Whether the element is in the window's document or in that of a frame.
fn is_shown(frame: NodeId, context: &Context) -> bool {
    let web = of(context);
    let web = web.borrow();
    let root = web.tree.shadow_including_root(frame);
    root == web.document || web.frames.documents.values().any(|shown| shown.document == root)
}

/// Closes frames whose elements are no longer in a shown document.
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
            let Some(shown) = ({
                let web = of(context);
                let mut web = web.borrow_mut();
                web.frames.proxies.remove(&frame);
                web.frames.documents.remove(&frame)
            }) else {
                continue;
            };
            close_window(shown.document, context);
            if let Some(awaits) = shown.awaited_by {
                // A script may be running; the window continues after it.
                realm::within(&awaits, context, |context| {
                    jobs::post(context, 0, |context| {
                        load::undelay(context);
                        Ok(())
                    })
                });
            }
        }
    }
}

/// Closes the window of a document that is no longer shown.
fn close_window(document: NodeId, context: &Context) {
    let known = of(context).borrow().realms.get(&document).cloned();
    if let Some(realm) = known {
        realm::close(&realm, context);
    }
}

/// Whether a frame may have the page's origin, and whether its scripts may run: `sandbox` forbids what it does not list (HTML §7.1.5).
fn allowed(frame: NodeId, context: &Context) -> (bool, bool) {
    read(context, |tree| match tree.attribute(frame, &local_name!("sandbox")) {
        None => (true, true),
        Some(words) => {
            let has = |word: &str| words.split_ascii_whitespace().any(|one| one.eq_ignore_ascii_case(word));
            (has("allow-same-origin"), has("allow-scripts"))
        }
    })
}

/// Gives a frame its initial empty document.
fn open(frame: NodeId, context: &mut Context) -> JsResult<()> {
    let shown = of(context).borrow().frames.documents.len();
    if shown >= limits::RENDER_FRAMES_MAX {
        return Err(bind::type_error("too many frames"));
    }
    let document = fill("", "text/html", "UTF-8", context)?;
    let same_origin = allowed(frame, context).0;
    let shown = FrameContent { document, same_origin, is_first: true, navigations: 0, awaited_by: None };
    of(context).borrow_mut().frames.documents.insert(frame, shown);
    Ok(())
}

/// "Process the iframe attributes" (HTML §4.8.5).
fn follow_attributes(frame: NodeId, context: &mut Context) {
    let (markup, src) = read(context, |tree| {
        let attribute = |name| tree.attribute(frame, &name).map(str::to_owned);
        (attribute(local_name!("srcdoc")), attribute(local_name!("src")))
    });
    let (may_show, may_run) = allowed(frame, context);
    if let Some(markup) = markup.filter(|_| may_show) {
        let Ok(address) = Url::parse("about:srcdoc") else { return };
        task(frame, context, move |context| {
            if may_run && has_scripts(&markup) {
                return show_running(frame, &markup, "UTF-8", address, context);
            }
            let document = fill(&markup, "text/html", "UTF-8", context)?;
            show(frame, document, address, context);
            loaded(frame, context)
        });
        return;
    }
    let address = src.map(|src| src.trim().to_owned()).filter(|src| !src.is_empty());
    match address.and_then(|src| document::base_url(frame, context).join(&src).ok()) {
        Some(address) => navigate(frame, address, context),
        None => task(frame, context, move |context| loaded(frame, context)),
    }
}

/// Starts a navigation of a frame, which delays the window around it, and returns its number.
fn begin(frame: NodeId, context: &mut Context) -> u32 {
    let (number, is_awaited) = {
        let web = of(context);
        let mut web = web.borrow_mut();
        let Some(shown) = web.frames.documents.get_mut(&frame) else { return 0 };
        shown.navigations += 1;
        (shown.navigations, shown.awaited_by.is_some())
    };
    if !is_awaited {
        let around = window_around(frame, context);
        realm::within(&around, context, |context| load::delay(context));
        if let Some(shown) = of(context).borrow_mut().frames.documents.get_mut(&frame) {
            shown.awaited_by = Some(around);
        }
    }
    number
}

/// The window around a frame. A document without scripts in between has none and waits for nothing.
fn window_around(frame: NodeId, context: &Context) -> Realm {
    let mut at = frame;
    loop {
        let document = read(context, |tree| tree.document_of(at));
        if let Some(realm) = of(context).borrow().realms.get(&document) {
            return realm.clone();
        }
        match frame_of(document, context) {
            Some(outer) => at = outer,
            None => return realm::of_page(context),
        }
    }
}

/// Lets the window around a frame continue. For tasks, while no script runs.
fn release(frame: NodeId, context: &mut Context) {
    let awaits = of(context).borrow_mut().frames.documents.get_mut(&frame).and_then(|shown| shown.awaited_by.take());
    if let Some(awaits) = awaits {
        realm::within(&awaits, context, load::undelay);
    }
}

/// Runs `what` as a task of the page, unless the frame is navigated before.
fn task(frame: NodeId, context: &mut Context, what: impl FnOnce(&mut Context) -> JsResult<()> + 'static) {
    let navigation = begin(frame, context);
    let run = move |context: &mut Context| {
        jobs::outside(context, |context| match navigations(frame, context) == Some(navigation) {
            true => what(context),
            false => Ok(()),
        })
    };
    let posted = realm::in_page(context, |context| jobs::post(context, 0, run));
    if posted.is_none() {
        release(frame, context);
    }
}

/// Navigations of a frame so far; `None` once it is closed.
fn navigations(frame: NodeId, context: &Context) -> Option<u32> {
    of(context).borrow().frames.documents.get(&frame).map(|shown| shown.navigations)
}

/// Navigates a frame to a URL.
pub fn navigate(frame: NodeId, address: Url, context: &mut Context) {
    let page = realm::in_page(context, |context| realm::address(context));
    let (may_show, may_run) = allowed(frame, context);
    let is_fetched =
        may_show && matches!(address.scheme(), "http" | "https" | "blob") && address.origin() == page.origin();
    if address.scheme() == "javascript" && may_show && may_run {
        return task(frame, context, move |context| {
            if let Some(realm) = open_window(frame, context) {
                realm::within(&realm, context, |context| super::navigation::run_address(&address, context));
            }
            loaded(frame, context)
        });
    }
    if !is_fetched || is_ancestor(frame, &address, context) {
        let is_blank = address.scheme() == "about" && may_show;
        task(frame, context, move |context| {
            if is_blank {
                show_blank(frame, address, context)?;
            } else {
                show_nothing(frame, context);
            }
            loaded(frame, context)
        });
        return;
    }
    let navigation = begin(frame, context);
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
    realm::in_page(context, |context| {
        engine::request(request, context, move |answer, context| {
            jobs::outside(context, |context| match navigations(frame, context) == Some(navigation) {
                true => arrive(frame, &address, &page, answer, context),
                false => Ok(()),
            })
        });
    });
}

/// A form is posted into a frame. Its response is not fetched here: the frame stays as it is, and the `load` event of an earlier
/// navigation, such as that of its initial document, is no answer to the form.
pub fn leave(frame: NodeId, context: &mut Context) {
    task(frame, context, move |context| {
        release(frame, context);
        Ok(())
    });
}

/// Marks the frame's content as cross-origin.
fn show_nothing(frame: NodeId, context: &mut Context) {
    let old = {
        let web = of(context);
        let mut web = web.borrow_mut();
        let Some(shown) = web.frames.documents.get_mut(&frame) else { return };
        (shown.same_origin, shown.is_first) = (false, false);
        shown.document
    };
    close_window(old, context);
}

/// Shows an empty document, unless the initial one is still shown.
fn show_blank(frame: NodeId, address: Url, context: &mut Context) -> JsResult<()> {
    let is_first = of(context).borrow().frames.documents.get(&frame).is_some_and(|shown| shown.is_first);
    if !is_first {
        let document = fill("", "text/html", "UTF-8", context)?;
        show(frame, document, address, context);
    }
    Ok(())
}

/// Whether the URL is that of an ancestor document, which would recurse without end.
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
        show_nothing(frame, context);
        return loaded(frame, context);
    };
    if address.fragment().is_none() {
        address.set_fragment(asked.fragment());
    }
    if allowed(frame, context).1
        && let Some((markup, encoding)) = with_scripts(&response, context)?
    {
        return show_running(frame, &markup, encoding, address, context);
    }
    let document = document_from(&response, context)?;
    show(frame, document, address, context);
    loaded(frame, context)
}

/// Shows a document whose scripts run while it is parsed; the frame has loaded after its own `load` event.
fn show_running(
    frame: NodeId,
    markup: &str,
    encoding: &'static str,
    address: Url,
    context: &mut Context,
) -> JsResult<()> {
    let document = change(context, |tree| {
        let document = tree.create_document(true)?;
        if let Some(data) = tree.document_data_mut(document) {
            data.encoding = encoding;
        }
        Ok(document)
    })?;
    show(frame, document, address.clone(), context);
    let Some(realm) = open_window(frame, context) else {
        // The limit of windows is reached: the frame is shown without its scripts.
        let document = fill(markup, "text/html", encoding, context)?;
        show(frame, document, address, context);
        return loaded(frame, context);
    };
    realm::within(&realm, context, |context| load::begin(markup, context));
    Ok(())
}

fn show(frame: NodeId, document: NodeId, address: Url, context: &mut Context) {
    super::navigation::indicate(document, &address, context);
    let (old, was_first) = {
        let web = of(context);
        let mut web = web.borrow_mut();
        web.addresses.insert(document, address.clone());
        let Some(shown) = web.frames.documents.get_mut(&frame) else { return };
        let old = (shown.document, shown.is_first);
        (shown.document, shown.same_origin, shown.is_first) = (document, true, false);
        old
    };
    let window = of(context).borrow().realms.get(&old).cloned();
    match window {
        Some(realm) if was_first => windows::turn_to(document, address, &realm, context),
        Some(_) => close_window(old, context),
        None => {}
    }
    let within: Vec<NodeId> =
        read(context, |tree| tree.descendants(document).filter(|id| is_frame(tree, *id)).collect());
    leave_lost(context);
    open_all(within, context);
}

/// Opens those frames that are in a shown document.
fn open_all(frames: Vec<NodeId>, context: &mut Context) {
    for frame in frames {
        let known = of(context).borrow().frames.documents.contains_key(&frame);
        if !known && is_shown(frame, context) && open(frame, context).is_ok() {
            follow_attributes(frame, context);
        }
    }
}

/// Fires `load` for a frame, on its window if it has one and on its element. For tasks, while no script runs.
pub(crate) fn loaded(frame: NodeId, context: &mut Context) -> JsResult<()> {
    let document = document_of(frame, context);
    let realm = document.and_then(|document| of(context).borrow().realms.get(&document).cloned());
    if let Some(realm) = realm {
        realm::within(&realm, context, |context| {
            let window = realm::window(context);
            events::fire(&window, "Event", "load", (false, false), &[], context);
        });
    }
    tell_element(frame, context)
}

/// Fires `load` on a frame's element, and lets the window around it continue. For tasks, while no script runs.
pub(crate) fn tell_element(frame: NodeId, context: &mut Context) -> JsResult<()> {
    windows::within(frame, context, |context| {
        let element = wrap(frame, context)?;
        events::fire(&element, "Event", "load", (false, false), &[], context);
        JsResult::Ok(())
    })?;
    release(frame, context);
    Ok(())
}

/// A script reopens the frame's document, so it is no longer the initial one.
pub(crate) fn is_written(frame: NodeId, context: &Context) {
    if let Some(shown) = of(context).borrow_mut().frames.documents.get_mut(&frame) {
        shown.is_first = false;
    }
}

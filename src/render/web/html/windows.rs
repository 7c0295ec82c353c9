//! The window of a node: the page's, or a frame's. All documents are in one tree; each window has its own engine realm, and nodes get the
//! interfaces of the window in whose document they were first wrapped.

use std::cell::Cell;
use std::collections::HashMap;

use boa_engine::realm::Realm;
use boa_engine::{Context, JsResult, JsString, js_string};
use html5ever::local_name;
use url::Url;

use super::load::{self, Setting};
use super::{frames, named};
use crate::dom::{Mutation, NodeId};
use crate::engine::realm;
use crate::web::dom::document;
use crate::web::{install_window, of, read};

/// The realms of documents other than the page's: those of current and former frames, and those created by scripts of frames.
pub(crate) type Realms = HashMap<NodeId, Realm>;

/// What a window shows.
pub(crate) struct Shows {
    pub document: Cell<NodeId>,
    /// The frame of the window; `None` for the page's window.
    pub frame: Option<NodeId>,
}

/// The document of the current window.
pub fn own_document(context: &Context) -> NodeId {
    realm::own::<Shows>(context).map_or_else(|| of(context).borrow().document, |shows| shows.document.get())
}

/// The base of the current window's URLs: that of its document, or a worker's own URL.
pub(crate) fn base(context: &Context) -> Url {
    if realm::own::<Shows>(context).is_some() {
        document::base_url(own_document(context), context)
    } else {
        realm::base(context)
    }
}

/// The frame of the current window; `None` for the page's.
pub(crate) fn own_frame(context: &Context) -> Option<NodeId> {
    realm::own::<Shows>(context).and_then(|shows| shows.frame)
}

/// The realm of a document: of the window that shows or has shown it, or of the script that created it.
pub(crate) fn realm_of(document: NodeId, context: &Context) -> Realm {
    let known = of(context).borrow().realms.get(&document).cloned();
    known.unwrap_or_else(|| realm::of_page(context))
}

/// Runs `what` in a node's window.
pub(crate) fn within<T>(node: NodeId, context: &mut Context, what: impl FnOnce(&mut Context) -> T) -> T {
    if realm::is_single(context) {
        return what(context);
    }
    let document = read(context, |tree| tree.document_of(node));
    let realm = realm_of(document, context);
    realm::within(&realm, context, what)
}

/// Assigns a document created by a script to its window.
pub(crate) fn take_in(document: NodeId, context: &Context) {
    if !realm::is_single(context) && *context.realm() != realm::of_page(context) {
        of(context).borrow_mut().realms.insert(document, context.realm().clone());
    }
}

/// The URL of a document that its window shows, or showed last before it closed.
pub(crate) fn address_of(document: NodeId, context: &Context) -> Option<Url> {
    let realm = {
        let web = of(context);
        let web = web.borrow();
        if web.document == document { None } else { Some(web.realms.get(&document).cloned()?) }
    };
    let realm = realm.unwrap_or_else(|| realm::of_page(context));
    let shows = realm::of::<Shows>(&realm)?;
    if shows.document.get() == document { realm::address_of(&realm) } else { None }
}

/// Splits a log into parts, each with the changes in documents of one window.
pub(crate) fn parts(log: Vec<Mutation>, context: &Context) -> Vec<(Realm, Vec<Mutation>)> {
    let mut parts: Vec<(Realm, Vec<Mutation>)> = Vec::new();
    for one in log {
        let node = match &one {
            Mutation::Children { target, .. } | Mutation::Attribute { target, .. } | Mutation::Text { target, .. } => {
                *target
            }
            Mutation::Adopted { node, .. } | Mutation::Made { node } => *node,
        };
        let document = read(context, |tree| tree.document_of(node));
        let realm = realm_of(document, context);
        match parts.last_mut() {
            Some((last, part)) if *last == realm => part.push(one),
            _ => parts.push((realm, vec![one])),
        }
    }
    parts
}

/// The initial state of frame windows, same as the page's.
struct Given(Setting);

/// Stores the initial state of the page's window.
pub(crate) fn remember(setting: &Setting, document: NodeId, context: &mut Context) {
    context.insert_data(Given(setting.clone()));
    realm::keep(Shows { document: Cell::new(document), frame: None }, context);
}

/// Creates a window for a frame's document; `None` if the page has too many.
pub(crate) fn make(frame: NodeId, shown: NodeId, may_run: bool, context: &mut Context) -> Option<Realm> {
    let proxy = frames::window::proxy_of(frame, context).ok()?;
    let around = document::base_url(frame, context);
    let address = document::address(shown, context);
    let realm = realm::create(address, around.clone(), Some(proxy), context).ok()?;
    of(context).borrow_mut().realms.insert(shown, realm.clone());
    if let Some(data) = of(context).borrow_mut().tree.document_data_mut(shown) {
        data.scripting = may_run;
    }
    let name = read(context, |tree| tree.attribute(frame, &local_name!("name")).map(JsString::from));
    let given = context.get_data::<Given>().map(|given| given.0.clone()).unwrap_or_default();
    let setting = Setting { referrer: around.to_string(), ..given };
    let made: JsResult<()> = realm::within(&realm, context, |context| {
        realm::keep(Shows { document: Cell::new(shown), frame: Some(frame) }, context);
        frames::window::pass_on_to_here(frame, context);
        install_window(&setting, context)?;
        load::is_complete(context);
        named::look_at_all(context);
        let global = context.global_object();
        global.create_data_property_or_throw(js_string!("name"), name.unwrap_or_default(), context)?;
        Ok(())
    });
    made.ok().map(|()| realm)
}

/// Reuses the window of a frame's initial empty document for the one that follows (HTML §7.5.1 step 4).
pub(crate) fn turn_to(shown: NodeId, address: Url, realm: &Realm, context: &mut Context) {
    of(context).borrow_mut().realms.insert(shown, realm.clone());
    realm::within(realm, context, |context| {
        if let Some(shows) = realm::own::<Shows>(context) {
            let before = shows.document.replace(shown);
            let web = of(context);
            let tree = &mut web.borrow_mut().tree;
            let may_run = tree.document_data(before).is_some_and(|data| data.scripting);
            if let Some(data) = tree.document_data_mut(shown) {
                data.scripting = may_run;
            }
        }
        super::history::begin(address, context);
        super::custom::begin(context);
        load::is_complete(context);
        named::look_at_all(context);
    });
}

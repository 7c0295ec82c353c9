//! The windows of a page. Each has an engine realm with its own globals and interfaces, and its own state besides them.
//!
//! The page's window has the engine's first realm; a frame gets one when its scripts run or somebody accesses its window. A native runs
//! in the realm in which its function was created: state of one window is found through [`own`], and state shared by all windows of a
//! page is in the context's own data.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use ::url::Url;
use boa_engine::builtins::function::OrdinaryFunction;
use boa_engine::object::JsData;
use boa_engine::realm::Realm;
use boa_engine::vm::ActiveRunnable;
use boa_engine::{Context, Finalize, JsError, JsObject, JsResult, Trace};

use super::{bind, jobs};
use crate::limits;

/// State of a realm.
struct RealmState<T: 'static>(Rc<T>);

impl<T: 'static> Finalize for RealmState<T> {}

// SAFETY: what it holds lies outside of the engine's heap, and counts as a root until the engine is dropped, which takes it out first.
unsafe impl<T: 'static> Trace for RealmState<T> {
    boa_gc::empty_trace!();
}

impl<T: 'static> JsData for RealmState<T> {}

/// Stores state in the current realm, replacing that of the same type.
pub fn keep<T: 'static>(value: T, context: &Context) {
    context.realm().host_defined_mut().insert(RealmState(Rc::new(value)));
}

/// The current realm's state of a type.
pub fn own<T: 'static>(context: &Context) -> Option<Rc<T>> {
    of(context.realm())
}

/// A realm's state of a type.
pub fn of<T: 'static>(realm: &Realm) -> Option<Rc<T>> {
    realm.host_defined().get::<RealmState<T>>().map(|held| Rc::clone(&held.0))
}

/// Creates state shared by all windows of the page, unless it exists.
pub fn share<T: 'static>(make: impl FnOnce() -> T, context: &mut Context) {
    if !context.has_data::<T>() {
        context.insert_data(make());
    }
}

/// What natives need to know about their window.
pub struct Here {
    /// The page's own window is the first.
    number: usize,
    /// The URL of its document.
    pub address: RefCell<Url>,
    /// The base if the document's URL cannot be one: the URL of the frame's creator.
    around: Url,
    /// The window as scripts see it: the global object, or its stand-in in the frame.
    window: JsObject,
    /// False once its frame is gone or shows another document: its tasks run no more.
    is_open: Cell<bool>,
}

/// The realms of a page.
pub(super) struct Realms {
    page: Realm,
    frames: RefCell<Vec<Realm>>,
    hooks: Rc<jobs::Hooks>,
}

/// Makes the context's first realm the page's.
pub(super) fn install(address: Url, hooks: Rc<jobs::Hooks>, context: &mut Context) {
    let page = context.realm().clone();
    context.insert_data(Realms { page, frames: RefCell::default(), hooks });
    settle(address.clone(), address, context.global_object(), context);
}

fn settle(address: Url, around: Url, window: JsObject, context: &Context) {
    let number = context.get_data::<Realms>().map_or(0, |realms| realms.frames.borrow().len());
    keep(Here { number, address: RefCell::new(address), around, window, is_open: Cell::new(true) }, context);
}

/// Creates a realm for a frame or a worker, with all globals that need no document. `window` is what scripts see as their window: the
/// global object itself if there is no other.
///
/// # Errors
/// When the page has reached its limit of realms, or the engine's own set-up fails.
pub fn create(address: Url, around: Url, window: Option<JsObject>, context: &mut Context) -> JsResult<Realm> {
    let hooks = match context.get_data::<Realms>() {
        Some(realms) if realms.frames.borrow().len() < limits::RENDER_REALMS_MAX => Rc::clone(&realms.hooks),
        _ => return Err(bind::type_error("the page has too many windows")),
    };
    hooks.next_window.replace(window.clone());
    let realm = context.create_realm()?;
    if let Some(realms) = context.get_data::<Realms>() {
        realms.frames.borrow_mut().push(realm.clone());
    }
    within(&realm, context, |context| {
        let window = window.unwrap_or_else(|| context.global_object());
        settle(address, around, window, context);
        super::install(context)
    })?;
    Ok(realm)
}

/// The realm of the page's own window.
///
/// # Panics
/// On a context that `Engine::new` did not make.
pub fn of_page(context: &Context) -> Realm {
    context.get_data::<Realms>().expect("Engine::new gives each context its realms").page.clone()
}

/// Whether the current window is the page's own.
pub(super) fn is_of_page(context: &Context) -> bool {
    context.get_data::<Realms>().is_some_and(|realms| realms.page == *context.realm())
}

/// Whether the page has only its own window, so that there is nothing to choose from.
pub fn is_single(context: &Context) -> bool {
    context.get_data::<Realms>().is_none_or(|realms| realms.frames.borrow().is_empty())
}

/// Runs `what` in a realm.
pub fn within<T>(realm: &Realm, context: &mut Context, what: impl FnOnce(&mut Context) -> T) -> T {
    if context.realm() == realm {
        return what(context);
    }
    let before = context.enter_realm(realm.clone());
    let result = what(context);
    context.enter_realm(before);
    result
}

/// An error of a native as thrown by the current window, for reporting elsewhere.
pub fn thrown_here(error: JsError, context: &mut Context) -> JsError {
    if error.as_engine().is_some() {
        return error;
    }
    error.clone().into_opaque(context).map_or(error, JsError::from_opaque)
}

/// Runs `what` in the page's own window.
pub fn in_page<T>(context: &mut Context, what: impl FnOnce(&mut Context) -> T) -> T {
    let page = of_page(context);
    within(&page, context, what)
}

/// The realm of the script that called the running native (HTML §8.1.3.3.3 "incumbent"); the current one if there is none.
pub fn of_caller(context: &Context) -> Realm {
    match context.get_active_script_or_module() {
        Some(ActiveRunnable::Script(script)) => script.realm().clone(),
        Some(ActiveRunnable::Module(module)) => module.realm().clone(),
        None => context.realm().clone(),
    }
}

/// The realm in which a function or another object was created; the current one if unknown. Only script functions know theirs; any other
/// object is found by the end of its prototype chain, which belongs to its realm.
pub fn of_object(object: &JsObject, context: &Context) -> Realm {
    if let Some(function) = object.downcast_ref::<OrdinaryFunction>() {
        return function.realm().clone();
    }
    let by_prototypes = || {
        if is_single(context) {
            return None;
        }
        let next = |object: &JsObject| object.prototype();
        let last = std::iter::successors(Some(object.clone()), next).take(limits::EVENT_PATH_MAX).last()?;
        with_prototype(&last, context)
    };
    by_prototypes().unwrap_or_else(|| context.realm().clone())
}

/// "GetFunctionRealm" (ECMA-262 §7.3.25) of a constructor or a proxy of one: determined by what the engine would construct.
///
/// # Errors
/// What a trap of the constructor throws.
pub fn of_constructor(constructor: &JsObject, context: &mut Context) -> JsResult<Realm> {
    if is_single(context) || constructor.is::<OrdinaryFunction>() {
        return Ok(of_object(constructor, context));
    }
    let object = context.intrinsics().constructors().object().constructor();
    let made = object.construct(&[], Some(constructor), context)?;
    let found = made.prototype().and_then(|prototype| with_prototype(&prototype, context));
    Ok(found.unwrap_or_else(|| context.realm().clone()))
}

/// The realm with this `Object.prototype`.
fn with_prototype(prototype: &JsObject, context: &Context) -> Option<Realm> {
    let realms = context.get_data::<Realms>()?;
    let frames = realms.frames.borrow();
    let mut all = std::iter::once(&realms.page).chain(frames.iter());
    let is_it = |realm: &&Realm| JsObject::equals(&realm.intrinsics().constructors().object().prototype(), prototype);
    all.find(is_it).cloned()
}

/// The window of the current realm as scripts see it.
pub fn window(context: &Context) -> JsObject {
    own::<Here>(context).map_or_else(|| context.global_object(), |here| here.window.clone())
}

/// The URL of the window's document.
///
/// # Panics
/// As [`of_page`].
pub fn address(context: &Context) -> Url {
    here(context).address.borrow().clone()
}

/// The URL of a window's document.
pub fn address_of(realm: &Realm) -> Option<Url> {
    of::<Here>(realm).map(|here| here.address.borrow().clone())
}

/// The base of the window's scripts: its own URL or, if that cannot be a base, its creator's.
///
/// # Panics
/// As [`of_page`].
pub fn base(context: &Context) -> Url {
    let here = here(context);
    let address = here.address.borrow();
    if address.cannot_be_a_base() { here.around.clone() } else { address.clone() }
}

/// Changes the window's URL; returns the previous one.
///
/// # Panics
/// As [`of_page`].
pub fn move_to(address: Url, context: &Context) -> Url {
    here(context).address.replace(address)
}

fn here(context: &Context) -> Rc<Here> {
    let of_page = || of::<Here>(&of_page(context));
    own(context).or_else(of_page).expect("`install` gives the page's realm its address")
}

/// The number of the current window among those of the page.
pub(super) fn number(context: &Context) -> usize {
    own::<Here>(context).map_or(0, |here| here.number)
}

/// Whether the current window is still shown.
pub fn is_open(context: &Context) -> bool {
    own::<Here>(context).is_none_or(|here| here.is_open.get())
}

/// The window is gone, or shows another document: drops everything that it waits for.
pub fn close(realm: &Realm, context: &Context) {
    if let Some(here) = of::<Here>(realm) {
        here.is_open.set(false);
    }
    jobs::of(context).forget(realm);
}

/// Removes the realms' state, so that the engine's heap can be freed.
pub(super) fn clear(context: &mut Context) {
    let Some(realms) = context.remove_data::<Realms>() else { return };
    for realm in realms.frames.take().iter().chain([&realms.page]) {
        // A destructor may look for state that was dropped before it, and finds none.
        let held = std::mem::take(&mut *realm.host_defined_mut());
        drop(held);
    }
}

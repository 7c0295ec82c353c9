//! `caches` (Service Workers §5.4) and `navigator.locks` (Web Locks API) of one page: what it has put into a cache it finds there until it
//! ends, and its locks wait for each other, since nobody else holds any.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use boa_engine::object::FunctionObjectBuilder;
use boa_engine::object::builtins::{JsFunction, JsPromise};
use boa_engine::{
    Context, Finalize, JsArgs, JsData, JsNativeError, JsObject, JsResult, JsString, JsValue, NativeFunction, Trace,
    js_string,
};

use crate::engine::{bind, realm};
use crate::limits;

/// Answers by their addresses, in the order in which they came.
type Answers = Vec<(String, JsObject)>;

/// What the page's windows of one origin have put away, by the names of the caches.
#[derive(Default)]
struct Stored(RefCell<BTreeMap<(String, String), Answers>>);

/// The end of the last request for each lock.
#[derive(Default)]
struct Held(RefCell<HashMap<(String, String), JsObject>>);

/// The window's `LockManager`.
struct Own(JsObject);

#[derive(Clone, Trace, Finalize, JsData)]
struct Cache {
    #[unsafe_ignore_trace]
    name: (String, String),
}

const CACHES: bind::Interface = bind::Interface {
    name: "CacheStorage",
    methods: &[
        ("open", 1, |_, args, context| {
            let name = name_of(args, context)?;
            let has_room = stored(context, |stored| {
                let has_room = stored.contains_key(&name) || stored.len() < limits::DATABASE_STORES_MAX;
                if has_room {
                    stored.entry(name.clone()).or_default();
                }
                has_room
            });
            if has_room != Some(true) {
                return promised(Err(bind::type_error("The page has too many caches.")), context);
            }
            let cache = bind::object("Cache", Cache { name }, context)?;
            promised(Ok(cache.into()), context)
        }),
        ("has", 1, |_, args, context| {
            let name = name_of(args, context)?;
            let is_known = stored(context, |stored| stored.contains_key(&name)).unwrap_or_default();
            promised(Ok(is_known.into()), context)
        }),
        ("delete", 1, |_, args, context| {
            let name = name_of(args, context)?;
            let was_known = stored(context, |stored| stored.remove(&name).is_some()).unwrap_or_default();
            promised(Ok(was_known.into()), context)
        }),
        ("keys", 0, |_, _, context| {
            let here = origin(context);
            let names: Vec<String> = stored(context, |stored| {
                stored.keys().filter(|(origin, _)| *origin == here).map(|(_, name)| name.clone()).collect()
            })
            .unwrap_or_default();
            let names = bind::array(names.iter().map(|name| bind::js(name)), context);
            promised(Ok(names), context)
        }),
        ("match", 1, |_, args, context| {
            let (here, found) = (origin(context), found(args, context)?);
            let names: Vec<(String, String)> =
                stored(context, |stored| stored.keys().filter(|(origin, _)| *origin == here).cloned().collect())
                    .unwrap_or_default();
            let answer = names.iter().find_map(|name| matching(name, &found, context).into_iter().next());
            copied(answer, context)
        }),
    ],
    ..bind::Interface::EMPTY
};

const CACHE: bind::Interface = bind::Interface {
    name: "Cache",
    methods: &[
        ("match", 1, |this, args, context| {
            let name = bind::this::<Cache>(this)?.borrow().data().name.clone();
            let found = found(args, context)?;
            let answer = matching(&name, &found, context).into_iter().next();
            copied(answer, context)
        }),
        ("matchAll", 0, |this, args, context| {
            let name = bind::this::<Cache>(this)?.borrow().data().name.clone();
            let found = if args.is_empty() { Found::All } else { found(args, context)? };
            let mut answers = Vec::new();
            for (_, answer) in matching(&name, &found, context) {
                answers.push(copy(&answer, context)?);
            }
            let answers = bind::array(answers, context);
            promised(Ok(answers), context)
        }),
        ("put", 2, |this, args, context| {
            let name = bind::this::<Cache>(this)?.borrow().data().name.clone();
            let address = address_of(args.get_or_undefined(0), context)?;
            let put = put(name, address, args.get_or_undefined(1), context);
            promised(put, context)
        }),
        ("add", 1, |this, args, context| add(this, args.get_or_undefined(0), context)),
        ("addAll", 1, |this, args, context| {
            let list = args.get_or_undefined(0).as_object();
            let list = list.ok_or_else(|| bind::type_error("The provided value cannot be converted to a sequence."))?;
            let mut all = Vec::new();
            for one in bind::values(&list, limits::PAIRS_MAX, context)? {
                if let Ok(promise) = JsPromise::from_object(add(this, &one, context)?.to_object(context)?) {
                    all.push(promise);
                }
            }
            JsPromise::all(all, context).map(JsValue::from)
        }),
        ("delete", 1, |this, args, context| {
            let name = bind::this::<Cache>(this)?.borrow().data().name.clone();
            let found = found(args, context)?;
            let gone = stored(context, |stored| {
                let answers = stored.get_mut(&name)?;
                let before = answers.len();
                answers.retain(|(address, _)| !found.is(address));
                Some(answers.len() < before)
            });
            promised(Ok(gone.flatten().unwrap_or_default().into()), context)
        }),
        ("keys", 0, |this, _, context| {
            let name = bind::this::<Cache>(this)?.borrow().data().name.clone();
            let request = bind::constructor("Request", context)?;
            let mut keys = Vec::new();
            for (address, _) in matching(&name, &Found::All, context) {
                keys.push(request.construct(&[bind::js(&address)], None, context)?.into());
            }
            let keys = bind::array(keys, context);
            promised(Ok(keys), context)
        }),
    ],
    ..bind::Interface::EMPTY
};

const LOCKS: bind::Interface = bind::Interface {
    name: "LockManager",
    methods: &[
        ("request", 2, request),
        ("query", 0, |_, _, context| {
            let told = JsObject::with_object_proto(context.intrinsics());
            for name in ["held", "pending"] {
                let none = bind::array([], context);
                told.create_data_property_or_throw(js_string!(name), none, context)?;
            }
            promised(Ok(told.into()), context)
        }),
    ],
    ..bind::Interface::EMPTY
};

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    if !context.has_data::<Stored>() {
        context.insert_data(Stored::default());
        context.insert_data(Held::default());
    }
    let global = context.global_object();
    make(&global, context)?;
    let navigator = bind::prototype("Navigator", context)?;
    bind::attributes(
        &navigator,
        &[(
            "locks",
            |_, _, context| Ok(realm::own::<Own>(context).map_or_else(JsValue::undefined, |own| own.0.clone().into())),
            None,
        )],
        context,
    )
}

fn make(global: &JsObject, context: &mut Context) -> JsResult<()> {
    for interface in [&CACHES, &CACHE, &LOCKS] {
        bind::define(interface, context)?;
    }
    let caches = bind::object("CacheStorage", (), context)?;
    bind::hidden(global, js_string!("caches"), caches.into(), true, context)?;
    let own = Own(bind::object("LockManager", (), context)?);
    realm::keep(own, context);
    Ok(())
}

fn origin(context: &Context) -> String {
    realm::base(context).origin().ascii_serialization()
}

fn name_of(args: &[JsValue], context: &mut Context) -> JsResult<(String, String)> {
    Ok((origin(context), bind::text(args, 0, context)?))
}

fn stored<T>(context: &Context, what: impl FnOnce(&mut BTreeMap<(String, String), Answers>) -> T) -> Option<T> {
    context.get_data::<Stored>().map(|stored| what(&mut stored.0.borrow_mut()))
}

/// What came of a step, as a promise. The engine's own ends are passed on.
fn promised(result: JsResult<JsValue>, context: &mut Context) -> JsResult<JsValue> {
    match result {
        Ok(value) => JsPromise::resolve(value, context).map(JsValue::from),
        Err(error) if error.as_engine().is_some() => Err(error),
        Err(error) => JsPromise::reject(error, context).map(JsValue::from),
    }
}

/// The address of a request: a text, or an object that tells it.
fn address_of(value: &JsValue, context: &mut Context) -> JsResult<String> {
    let value = match value.as_object() {
        Some(object) if object.has_property(js_string!("url"), context)? => object.get(js_string!("url"), context)?,
        _ => value.clone(),
    };
    let text = value.to_string(context)?.to_std_string_lossy();
    let mut url = realm::base(context).join(&text).map_err(|_| bind::type_error("Failed to parse URL"))?;
    url.set_fragment(None);
    Ok(url.into())
}

/// Which answers are asked for.
enum Found {
    All,
    At(String),
    /// Whatever stands behind the `?`.
    Before(String),
}

impl Found {
    fn is(&self, address: &str) -> bool {
        match self {
            Self::All => true,
            Self::At(wanted) => address == wanted,
            Self::Before(wanted) => address.split('?').next() == wanted.split('?').next(),
        }
    }
}

fn found(args: &[JsValue], context: &mut Context) -> JsResult<Found> {
    let address = address_of(args.get_or_undefined(0), context)?;
    let any = bind::flag(args.get_or_undefined(1), "ignoreSearch", context)?;
    Ok(if any { Found::Before(address) } else { Found::At(address) })
}

fn matching(name: &(String, String), found: &Found, context: &Context) -> Answers {
    let answers = stored(context, |stored| {
        let answers = stored.get(name)?;
        Some(answers.iter().filter(|(address, _)| found.is(address)).cloned().collect())
    });
    answers.flatten().unwrap_or_default()
}

/// A copy of an answer, whose body nobody has read.
fn copy(answer: &JsObject, context: &mut Context) -> JsResult<JsValue> {
    let method = answer.get(js_string!("clone"), context)?.as_callable();
    let method = method.ok_or_else(|| bind::type_error("The answer cannot be copied."))?;
    method.call(&answer.clone().into(), &[], context)
}

fn copied(answer: Option<(String, JsObject)>, context: &mut Context) -> JsResult<JsValue> {
    let copied = answer.map_or_else(|| Ok(JsValue::undefined()), |(_, answer)| copy(&answer, context));
    promised(copied, context)
}

fn put(name: (String, String), address: String, answer: &JsValue, context: &mut Context) -> JsResult<JsValue> {
    let is_answer = bind::prototype("Response", context)?;
    let answer = answer
        .as_object()
        .filter(|answer| answer.prototype().is_some_and(|prototype| JsObject::equals(&prototype, &is_answer)));
    let answer = answer.ok_or_else(|| bind::type_error("parameter 2 is not of type 'Response'."))?;
    let has_room = stored(context, |stored| {
        let answers = stored.entry(name).or_default();
        answers.retain(|(other, _)| *other != address);
        let has_room = answers.len() < limits::DATABASE_RECORDS_MAX;
        if has_room {
            answers.push((address, answer));
        }
        has_room
    });
    if has_room == Some(true) { Ok(JsValue::undefined()) } else { Err(bind::type_error("The cache is full.")) }
}

/// Fetches an answer and puts it away, if it is a good one.
fn add(this: &JsValue, request: &JsValue, context: &mut Context) -> JsResult<JsValue> {
    let name = bind::this::<Cache>(this)?.borrow().data().name.clone();
    let address = address_of(request, context)?;
    let fetch = context.global_object().get(js_string!("fetch"), context)?.as_callable();
    let fetch = fetch.ok_or_else(|| bind::type_error("fetch is not a function"))?;
    let answer = fetch.call(&JsValue::undefined(), std::slice::from_ref(request), context)?;
    let keep = NativeFunction::from_copy_closure_with_captures(
        |_, args, (origin, name, address): &(JsString, JsString, JsString), context| {
            let answer = args.get_or_undefined(0);
            if !bind::flag(answer, "ok", context)? {
                return Err(bind::type_error("Failed to execute 'add' on 'Cache': Request failed"));
            }
            let name = (origin.to_std_string_lossy(), name.to_std_string_lossy());
            put(name, address.to_std_string_lossy(), answer, context)
        },
        (js_string!(name.0), js_string!(name.1), js_string!(address)),
    );
    let keep: JsFunction = FunctionObjectBuilder::new(context.realm(), keep).build();
    JsPromise::resolve(answer, context)?.then(Some(keep), None, context).map(JsValue::from)
}

/// `request(name, options, callback)`: runs the callback once those before it have let go of the lock.
fn request(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let name = name_of(args, context)?;
    let callback = args.last().and_then(JsValue::as_callable);
    let callback = callback.ok_or_else(|| bind::type_error("The callback is not a function."))?;
    let options = if args.len() > 2 { args[1].clone() } else { JsValue::undefined() };
    let mode = bind::member(&options, "mode", context)?;
    let mode = mode.map_or_else(|| Ok(js_string!("exclusive")), |mode| mode.to_string(context))?;
    let lock = JsObject::with_object_proto(context.intrinsics());
    lock.create_data_property_or_throw(js_string!("name"), js_string!(name.1.as_str()), context)?;
    lock.create_data_property_or_throw(js_string!("mode"), mode, context)?;
    let held = context.get_data::<Held>();
    let before = held.and_then(|held| held.0.borrow().get(&name).cloned());
    let has_room = held.is_some_and(|held| held.0.borrow().len() < limits::DATABASE_RECORDS_MAX);
    if before.is_none() && !has_room {
        return Err(JsNativeError::range().with_message("The page has too many locks.").into());
    }
    let before = before.map_or_else(JsValue::undefined, JsValue::from);
    let run = NativeFunction::from_copy_closure_with_captures(
        |_, _, (callback, lock): &(JsObject, JsObject), context| {
            callback.call(&JsValue::undefined(), &[lock.clone().into()], context)
        },
        (callback, lock),
    );
    let run: JsFunction = FunctionObjectBuilder::new(context.realm(), run).build();
    let result = JsPromise::resolve(before, context)?.then(Some(run), None, context)?;
    // Whether the callback failed is nothing to who waits for the lock.
    let nothing = NativeFunction::from_fn_ptr(|_, _, _| Ok(JsValue::undefined()));
    let nothing: JsFunction = FunctionObjectBuilder::new(context.realm(), nothing).build();
    let end = result.then(Some(nothing.clone()), Some(nothing), context)?;
    if let Some(held) = context.get_data::<Held>() {
        held.0.borrow_mut().insert(name, end.into());
    }
    Ok(result.into())
}

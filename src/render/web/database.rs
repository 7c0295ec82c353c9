//! `indexedDB` (Indexed Database API 3.0): databases that end with the page, as a visitor's that comes for the first time. Pages keep what
//! they have fetched in one and show what they read back.
//!
//! A request is done at once, and told in a task of its own; a transaction ends once none of its requests waits. Transactions are not kept
//! apart from each other, as all of a page's run on one thread and in the order of its calls: one that is aborted puts back what the
//! database held before its own first write.

mod key;
mod store;
#[cfg(test)]
mod tests;
mod transaction;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use boa_engine::object::builtins::JsPromise;
use boa_engine::{Context, Finalize, JsArgs, JsData, JsError, JsObject, JsResult, JsValue, Trace, js_string};

use self::key::{Key, Path, data_error};
use self::transaction::{Transaction, begin};
use crate::engine::target::{self, Listeners, Target, TargetKind};
use crate::engine::{bind, events, exception, jobs, realm};
use crate::limits;

/// All databases of a page, by origin and name.
#[derive(Default)]
struct Databases(RefCell<HashMap<(String, String), Shared>>);

type Shared = Rc<RefCell<Content>>;

/// What a database holds. Values are held from outside of the engine's heap, which keeps them.
#[derive(Clone, Default)]
struct Content {
    version: f64,
    stores: BTreeMap<String, Store>,
}

#[derive(Clone, Default)]
struct Store {
    path: Path,
    numbers: bool,
    /// The number that the next value without a key is given.
    next: f64,
    records: BTreeMap<Key, JsValue>,
    indexes: BTreeMap<String, Index>,
}

#[derive(Clone, Default)]
struct Index {
    path: Path,
    unique: bool,
    multi: bool,
    /// The index's keys, each with the key of the record.
    entries: BTreeSet<(Key, Key)>,
}

#[derive(Trace, Finalize, JsData)]
struct Database {
    listeners: Listeners,
    #[unsafe_ignore_trace]
    name: String,
    #[unsafe_ignore_trace]
    content: Shared,
    /// The transaction that may change what stores there are.
    upgrade: Option<JsObject>,
    closed: bool,
}

#[derive(Trace, Finalize, JsData)]
struct Request {
    listeners: Listeners,
    /// `None`: not done yet.
    result: Option<JsValue>,
    error: JsValue,
    source: JsValue,
    transaction: Option<JsObject>,
}

macro_rules! target {
    ($($kind:ty),*) => { $(impl Target for $kind {
        fn listeners(&mut self) -> &mut Listeners {
            &mut self.listeners
        }
    })* };
}

target!(Database, Request);

const FACTORY: bind::Interface = bind::Interface {
    name: "IDBFactory",
    methods: &[
        ("open", 1, open),
        ("deleteDatabase", 1, |_, args, context| {
            let name = bind::text(args, 0, context)?;
            let request = request("IDBOpenDBRequest", JsValue::null(), None, context)?;
            let done = request.clone();
            jobs::post(context, 0, move |context| {
                let key = (origin(context), name);
                if let Some(databases) = context.get_data::<Databases>() {
                    databases.0.borrow_mut().remove(&key);
                }
                answer(&done, Ok(JsValue::undefined()), context);
                Ok(())
            });
            Ok(request.into())
        }),
        ("databases", 0, |_, _, context| {
            let here = origin(context);
            let mut known: Vec<(String, f64)> = Vec::new();
            if let Some(databases) = context.get_data::<Databases>() {
                let databases = databases.0.borrow();
                let own = databases.iter().filter(|((origin, _), _)| *origin == here);
                known.extend(own.map(|((_, name), content)| (name.clone(), content.borrow().version)));
            }
            known.sort_by(|one, two| one.0.cmp(&two.0));
            let mut list = Vec::new();
            for (name, version) in known {
                let told = JsObject::with_object_proto(context.intrinsics());
                told.create_data_property_or_throw(js_string!("name"), js_string!(name.as_str()), context)?;
                told.create_data_property_or_throw(js_string!("version"), version, context)?;
                list.push(told.into());
            }
            let list = bind::array(list, context);
            JsPromise::resolve(list, context).map(JsValue::from)
        }),
        ("cmp", 2, |_, args, context| {
            let one = Key::must(args.get_or_undefined(0), context)?;
            let two = Key::must(args.get_or_undefined(1), context)?;
            Ok((one.cmp(&two) as i32).into())
        }),
    ],
    ..bind::Interface::EMPTY
};

const DATABASE: bind::Interface = bind::Interface {
    name: "IDBDatabase",
    parent: Some("EventTarget"),
    methods: &[
        ("createObjectStore", 1, |this, args, context| {
            let database = bind::this::<Database>(this)?;
            let (name, options) = (bind::text(args, 0, context)?, args.get_or_undefined(1));
            let path = bind::member(options, "keyPath", context)?.unwrap_or_default();
            let path = Path::of(&path, context)?;
            let numbers = bind::flag(options, "autoIncrement", context)?;
            let transaction = upgrade_of(&database, context)?;
            let made = {
                let content = database.borrow().data().content.clone();
                let mut content = content.borrow_mut();
                let room = content.stores.len() < limits::DATABASE_STORES_MAX;
                let is_new = room && !content.stores.contains_key(&name);
                if is_new {
                    content.stores.insert(name.clone(), Store { path, numbers, next: 1.0, ..Store::default() });
                }
                is_new
            };
            if !made {
                return Err(exception::error("ConstraintError", "The object store exists already.", context));
            }
            store::object(&transaction, name, context)
        }),
        ("deleteObjectStore", 1, |this, args, context| {
            let database = bind::this::<Database>(this)?;
            let name = bind::text(args, 0, context)?;
            upgrade_of(&database, context)?;
            let content = database.borrow().data().content.clone();
            let gone = content.borrow_mut().stores.remove(&name);
            match gone {
                Some(_) => Ok(JsValue::undefined()),
                None => Err(exception::error("NotFoundError", "The object store was not found.", context)),
            }
        }),
        ("transaction", 1, transaction),
        ("close", 0, |this, _, _| {
            bind::this::<Database>(this)?.borrow_mut().data_mut().closed = true;
            Ok(JsValue::undefined())
        }),
    ],
    attributes: &[
        ("name", |this, _, _| Ok(bind::js(&bind::this::<Database>(this)?.borrow().data().name)), None),
        (
            "version",
            |this, _, _| Ok(bind::this::<Database>(this)?.borrow().data().content.borrow().version.into()),
            None,
        ),
        (
            "objectStoreNames",
            |this, _, context| {
                let content = bind::this::<Database>(this)?.borrow().data().content.clone();
                let names: Vec<String> = content.borrow().stores.keys().cloned().collect();
                name_list(&names, context)
            },
            None,
        ),
    ],
    ..bind::Interface::EMPTY
};

const REQUEST: bind::Interface = bind::Interface {
    name: "IDBRequest",
    parent: Some("EventTarget"),
    attributes: &[
        (
            "result",
            |this, _, context| {
                let result = bind::this::<Request>(this)?.borrow().data().result.clone();
                result.ok_or_else(|| exception::error("InvalidStateError", "The request has not finished.", context))
            },
            None,
        ),
        ("error", |this, _, _| Ok(bind::this::<Request>(this)?.borrow().data().error.clone()), None),
        ("source", |this, _, _| Ok(bind::this::<Request>(this)?.borrow().data().source.clone()), None),
        (
            "transaction",
            |this, _, _| {
                let transaction = bind::this::<Request>(this)?.borrow().data().transaction.clone();
                Ok(transaction.map_or_else(JsValue::null, JsValue::from))
            },
            None,
        ),
        (
            "readyState",
            |this, _, _| {
                let is_done = bind::this::<Request>(this)?.borrow().data().result.is_some();
                Ok(bind::js(if is_done { "done" } else { "pending" }))
            },
            None,
        ),
    ],
    ..bind::Interface::EMPTY
};

const OPEN_REQUEST: bind::Interface =
    bind::Interface { name: "IDBOpenDBRequest", parent: Some("IDBRequest"), ..bind::Interface::EMPTY };

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    if !context.has_data::<Databases>() {
        context.insert_data(Databases::default());
    }
    let global = context.global_object();
    make(&global, context)
}

fn make(global: &JsObject, context: &mut Context) -> JsResult<()> {
    target::register(TargetKind::of::<Database>(|_, _, _| None), context);
    target::register(
        TargetKind::of::<Transaction>(|transaction, _, _| {
            transaction.downcast_ref::<Transaction>().map(|transaction| transaction.database.clone())
        }),
        context,
    );
    target::register(
        TargetKind::of::<Request>(|request, _, _| {
            request.downcast_ref::<Request>().and_then(|request| request.transaction.clone())
        }),
        context,
    );
    for (interface, kinds) in [
        (&FACTORY, &[][..]),
        (&DATABASE, &["abort", "close", "error", "versionchange"]),
        (&transaction::TRANSACTION, &["abort", "complete", "error"]),
        (&REQUEST, &["success", "error"]),
        (&OPEN_REQUEST, &["blocked", "upgradeneeded"]),
        (&key::RANGE, &[]),
    ] {
        let prototype = bind::define(interface, context)?;
        target::handlers(&prototype, kinds, context)?;
    }
    store::install(context)?;
    let factory = bind::object("IDBFactory", (), context)?;
    bind::hidden(global, js_string!("indexedDB"), factory.into(), true, context)
}

fn origin(context: &Context) -> String {
    realm::base(context).origin().ascii_serialization()
}

/// A `DOMStringList`: an array that knows what it contains.
fn name_list(names: &[String], context: &mut Context) -> JsResult<JsValue> {
    let list = bind::array(names.iter().map(|name| bind::js(name)), context);
    if let Some(object) = list.as_object() {
        for (name, method) in [("contains", "includes"), ("item", "at")] {
            let method = object.get(js_string!(method), context)?;
            bind::hidden(&object, js_string!(name), method, true, context)?;
        }
    }
    Ok(list)
}

fn request(
    interface: &str,
    source: JsValue,
    transaction: Option<JsObject>,
    context: &mut Context,
) -> JsResult<JsObject> {
    let listeners = Listeners::default();
    bind::object(interface, Request { listeners, result: None, error: JsValue::null(), source, transaction }, context)
}

/// Gives a request its outcome and tells it; false where it failed and nobody took the error.
fn answer(request: &JsObject, outcome: Result<JsValue, JsValue>, context: &mut Context) -> bool {
    let has_failed = outcome.is_err();
    if let Some(mut request) = request.downcast_mut::<Request>() {
        (request.result, request.error) = match outcome {
            Ok(result) => (Some(result), JsValue::null()),
            Err(error) => (Some(JsValue::undefined()), error),
        };
    }
    if has_failed {
        return !events::fire(request, "Event", "error", (true, true), &[], context);
    }
    events::fire(request, "Event", "success", (false, false), &[], context);
    true
}

fn open(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 1, "open' on 'IDBFactory")?;
    let name = bind::text(args, 0, context)?;
    let version = match args.get_or_undefined(1) {
        none if none.is_undefined() => None,
        given => Some(given.to_number(context)?.trunc()),
    };
    if version.is_some_and(|version| version.is_nan() || version < 1.0) {
        return Err(bind::type_error("Failed to execute 'open' on 'IDBFactory': the version is out of range."));
    }
    let request = request("IDBOpenDBRequest", JsValue::null(), None, context)?;
    let opened = request.clone();
    jobs::post(context, 0, move |context| open_now(&opened, name, version, context));
    Ok(request.into())
}

fn open_now(request: &JsObject, name: String, version: Option<f64>, context: &mut Context) -> JsResult<()> {
    let key = (origin(context), name.clone());
    let content = context.get_data::<Databases>().and_then(|databases| {
        let mut databases = databases.0.borrow_mut();
        let has_room = databases.len() < limits::DATABASE_STORES_MAX || databases.contains_key(&key);
        has_room.then(|| Rc::clone(databases.entry(key).or_default()))
    });
    let Some(content) = content else {
        let error = exception::value("QuotaExceededError", "The page has too many databases.", context)?;
        answer(request, Err(error), context);
        return Ok(());
    };
    let before = content.borrow().version;
    let version = version.unwrap_or(before.max(1.0));
    if version < before {
        let error = exception::value("VersionError", "The requested version is less than the existing one.", context)?;
        answer(request, Err(error), context);
        return Ok(());
    }
    let database =
        Database { listeners: Listeners::default(), name, content: Rc::clone(&content), upgrade: None, closed: false };
    let database = bind::object("IDBDatabase", database, context)?;
    if version == before {
        answer(request, Ok(database.into()), context);
        return Ok(());
    }
    let held = content.borrow().clone();
    content.borrow_mut().version = version;
    let scope = held.stores.keys().cloned().collect();
    let upgrade = begin(&database, scope, "versionchange", context)?;
    {
        let mut upgrade = upgrade.borrow_mut();
        let upgrade = upgrade.data_mut();
        (upgrade.before, upgrade.opening) = (Some(held), Some(request.clone()));
    }
    let upgrade = upgrade.upcast();
    if let Some(mut database) = database.downcast_mut::<Database>() {
        database.upgrade = Some(upgrade.clone());
    }
    if let Some(mut request) = request.downcast_mut::<Request>() {
        (request.result, request.transaction) = (Some(database.into()), Some(upgrade));
    }
    let versions = [("oldVersion", before.into()), ("newVersion", version.into())];
    events::fire(request, "IDBVersionChangeEvent", "upgradeneeded", (false, false), &versions, context);
    Ok(())
}

/// The transaction in which stores may be made and dropped.
fn upgrade_of(database: &JsObject<Database>, context: &mut Context) -> JsResult<JsObject<Transaction>> {
    let upgrade = database.borrow().data().upgrade.clone();
    let upgrade = upgrade.and_then(|upgrade| upgrade.downcast::<Transaction>().ok());
    upgrade.ok_or_else(|| {
        exception::error("InvalidStateError", "The database is not running a version change transaction.", context)
    })
}

fn transaction(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let database = bind::this::<Database>(this)?;
    let names = args.get_or_undefined(0);
    let scope: Vec<String> = match names.as_object() {
        Some(list) => {
            let names = bind::values(&list, limits::DATABASE_STORES_MAX, context)?;
            names.iter().map(|name| Ok(name.to_string(context)?.to_std_string_lossy())).collect::<JsResult<_>>()?
        }
        None => vec![names.to_string(context)?.to_std_string_lossy()],
    };
    let mode = match bind::text_if_given(args, 1, context)?.as_deref() {
        None | Some("readonly") => "readonly",
        Some("readwrite" | "readwriteflush") => "readwrite",
        Some(other) => return Err(bind::type_error(format!("'{other}' is not a valid IDBTransactionMode."))),
    };
    let (content, closed) = {
        let database = database.borrow();
        (Rc::clone(&database.data().content), database.data().closed)
    };
    if closed {
        return Err(exception::error("InvalidStateError", "The database connection is closing.", context));
    }
    let all_known = scope.iter().all(|name| content.borrow().stores.contains_key(name));
    if !all_known {
        let message = "One of the specified object stores was not found.";
        return Err(exception::error("NotFoundError", message, context));
    }
    if scope.is_empty() {
        return Err(exception::error("InvalidAccessError", "The storeNames parameter was empty.", context));
    }
    begin(&database.upcast(), scope, mode, context).map(JsValue::from)
}

fn constraint(context: &mut Context) -> JsError {
    exception::error("ConstraintError", "Key already exists in the object store.", context)
}

fn gone(context: &mut Context) -> JsError {
    data_error("The object store or index is gone.", context)
}
